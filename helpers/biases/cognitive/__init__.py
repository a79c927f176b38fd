"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

from helpers.biases.cognitive.asking import CONTROL, NEEDS, STAGES, answers, trials, unfit
from helpers.biases.cognitive.building import questions
from helpers.biases.cognitive.card import card, headline
from helpers.biases.cognitive.concluding import finding
from helpers.biases.cognitive.design import caution, check
from helpers.biases.cognitive.families import confirmatory, corrected, exploratory, smallest_detectable
from helpers.biases.cognitive.measure import measure
from helpers.biases.cognitive.pairs import pairs
from helpers.biases.cognitive.planted import planted
from helpers.biases.cognitive.published import from_published
from helpers.biases.cognitive.published_frame import published_frame
from helpers.biases.cognitive.published_seed import Arrays, from_arrays, notebook_arrays
from helpers.biases.cognitive.published_words import published_finding
from helpers.biases.cognitive.saying import effect_words, noise_words, odd_words, threshold_words, weighting_words
from helpers.biases.cognitive.seed_metrics import (
    AnchoringBiasMetric,
    ConfirmationBiasMetric,
    HaloEffectMetric,
    LossAversionMetric,
)
from helpers.biases.cognitive.showing import notebook_table, paper_tables, stars
from helpers.frames import decisions as tidy

__all__ = [
    "CONTROL",
    "NEEDS",
    "STAGES",
    "AnchoringBiasMetric",
    "Arrays",
    "ConfirmationBiasMetric",
    "HaloEffectMetric",
    "LossAversionMetric",
    "answers",
    "card",
    "caution",
    "check",
    "confirmatory",
    "corrected",
    "effect_words",
    "exploratory",
    "finding",
    "from_arrays",
    "from_published",
    "headline",
    "measure",
    "noise_words",
    "notebook_arrays",
    "notebook_table",
    "odd_words",
    "pairs",
    "paper_tables",
    "planted",
    "published_finding",
    "published_frame",
    "questions",
    "smallest_detectable",
    "stars",
    "threshold_words",
    "tidy",
    "trials",
    "unfit",
    "weighting_words",
]
