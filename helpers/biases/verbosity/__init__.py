"""Whether a longer or more polished wording of the same content wins: experiment 6."""

from helpers.biases.verbosity.asking import STAGES, answers, trials, unfit
from helpers.biases.verbosity.card import card, headline
from helpers.biases.verbosity.concluding import finding
from helpers.biases.verbosity.design import NEEDS, caution, check
from helpers.biases.verbosity.families import confirmatory, corrected, exploratory, smallest_detectable
from helpers.biases.verbosity.measure import measure
from helpers.biases.verbosity.planted import planted
from helpers.biases.verbosity.published import from_published, published_finding
from helpers.biases.verbosity.saying import (
    content_rows,
    content_words,
    effect_rows,
    length_words,
    level_rows,
    noise_words,
    paper_tables,
)
from helpers.biases.verbosity.tidying import pairs, published_frame, tidy

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
