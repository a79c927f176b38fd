"""Whether a longer or more polished wording of the same content wins: experiment 6."""

from helpers.biases.verbosity.asked import NEEDS, STAGES, answers, caution, check, trials, unfit
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
    exploratory,
    measure,
    pairs,
    planted,
    published_frame,
    smallest_detectable,
    tidy,
)
from helpers.biases.verbosity.published import from_published, published_finding

__all__ = [
    "NEEDS",
    "STAGES",
    "answers",
    "card",
    "caution",
    "check",
    "confirmatory",
    "content_rows",
    "content_words",
    "corrected",
    "effect_rows",
    "exploratory",
    "finding",
    "from_published",
    "headline",
    "length_words",
    "level_rows",
    "measure",
    "noise_words",
    "pairs",
    "paper_tables",
    "planted",
    "published_finding",
    "published_frame",
    "smallest_detectable",
    "tidy",
    "trials",
    "unfit",
]
