"""Whether a longer or more polished wording of the same content wins: experiment 6."""

from .asked import INTERLEAVED, NEEDS, caution, check, trials
from .findings import (
    card,
    content_rows,
    content_words,
    effect_rows,
    finding,
    from_published,
    headline,
    length_words,
    level_rows,
    noise_words,
    published_finding,
    released_finding,
)
from .measured import measure, pairs, planted, published_frame, tidy
