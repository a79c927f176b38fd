"""Whether judges defend their own wrong answers, and whether hiding the authorship helps: experiment 3."""

from helpers.biases.self_preference.arms import CONTROL, caution, check
from helpers.biases.self_preference.asking import NEEDS, STAGES, trials
from helpers.biases.self_preference.card import card, headline
from helpers.biases.self_preference.concluding import confirmatory, corrected, finding, smallest_detectable
from helpers.biases.self_preference.funnel import funnel_of, outcomes
from helpers.biases.self_preference.items import lost_by_pick
from helpers.biases.self_preference.measure import measure, published_frame
from helpers.biases.self_preference.pairs import answers, unfit
from helpers.biases.self_preference.planted import planted
from helpers.biases.self_preference.published import from_published
from helpers.biases.self_preference.published_words import published_finding
from helpers.biases.self_preference.saying import (
    accuracy_rows,
    effect_words,
    few,
    gap_words,
    paper_tables,
    recognition_words,
)
from helpers.frames import pairwise as tidy

__all__ = [
    "CONTROL",
    "NEEDS",
    "STAGES",
    "accuracy_rows",
    "answers",
    "card",
    "caution",
    "check",
    "confirmatory",
    "corrected",
    "effect_words",
    "few",
    "finding",
    "from_published",
    "funnel_of",
    "gap_words",
    "headline",
    "lost_by_pick",
    "measure",
    "outcomes",
    "paper_tables",
    "planted",
    "published_finding",
    "published_frame",
    "recognition_words",
    "smallest_detectable",
    "tidy",
    "trials",
    "unfit",
]
