"""Whether judges defend their own wrong answers, and whether hiding the authorship helps: experiment 3."""

from helpers.biases.self_preference.asked import CONTROL, NEEDS, STAGES, answers, caution, check, trials, unfit
from helpers.biases.self_preference.findings import (
    accuracy_rows,
    card,
    effect_words,
    few,
    gap_words,
    headline,
    paper_tables,
    planted,
    recognition_words,
)
from helpers.biases.self_preference.items import funnel_of, lost_by_pick, outcomes
from helpers.biases.self_preference.measured import (
    confirmatory,
    corrected,
    finding,
    measure,
    published_frame,
    smallest_detectable,
)
from helpers.biases.self_preference.published import from_published, published_finding
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
