"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

from ...frames import decisions as tidy
from .asked import CONTROL, NEEDS, STAGES, caution, check, questions, trials
from .averages import pairs
from .findings import (
    card,
    effect_words,
    finding,
    headline,
    noise_words,
    notebook_table,
    odd_words,
    stars,
    threshold_words,
    weighting_words,
)
from .measured import confirmatory, measure, planted
from .metrics import AnchoringBiasMetric, ConfirmationBiasMetric, HaloEffectMetric, LossAversionMetric
from .published import array_table, from_arrays, from_published, published_finding, published_frame, read_arrays
