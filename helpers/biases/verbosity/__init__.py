"""Whether a longer or more polished wording of the same content wins: experiment 6."""

from helpers.biases.verbosity.asked import INTERLEAVED, NEEDS, caution, check, trials
from helpers.biases.verbosity.findings import (
    card,
    content_rows,
    content_words,
    effect_rows,
    finding,
    headline,
    length_words,
    level_rows,
    noise_words,
    paper_tables,
)
from helpers.biases.verbosity.measured import (
    confirmatory,
    corrected,
    measure,
    pairs,
    planted,
    published_frame,
    tidy,
)
from helpers.biases.verbosity.published import from_published, published_finding
