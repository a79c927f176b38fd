"""Whether judges defend their own wrong answers, and whether hiding the authorship helps: experiment 3."""

from helpers.biases.self_preference.asked import CONTROL, NEEDS, STAGES, answers, caution, check, trials
from helpers.biases.self_preference.findings import (
    accuracy_rows,
    card,
    effect_words,
    few,
    finding,
    gap_words,
    headline,
    paper_tables,
    planted,
    recognition_words,
)
from helpers.biases.self_preference.items import funnel_of, lost_by_pick, outcomes
from helpers.biases.self_preference.measured import confirmatory, measure
from helpers.biases.self_preference.published import from_published, published_finding
from helpers.frames import pairwise as tidy
