"""Whether judges defend their own wrong answers, and whether hiding the authorship helps: experiment 3."""

from ...frames import pairwise as tidy
from .asked import CONTROL, NEEDS, STAGES, answers, caution, check, trials
from .findings import (
    card,
    effect_words,
    finding,
    from_published,
    gap_words,
    headline,
    planted,
    published_finding,
    recognition_words,
)
from .items import funnel_of, lost_by_pick, outcomes
from .measured import confirmatory, measure
