"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

from helpers.biases.cognitive.asked import CONTROL, NEEDS, STAGES, answers, caution, check, questions, trials, unfit
from helpers.biases.cognitive.averages import confirmatory, corrected, exploratory, pairs, smallest_detectable
from helpers.biases.cognitive.findings import (
    card,
    effect_words,
    finding,
    headline,
    noise_words,
    notebook_table,
    odd_words,
    paper_tables,
    stars,
    threshold_words,
    weighting_words,
)
from helpers.biases.cognitive.measured import measure, planted
from helpers.biases.cognitive.metrics import (
    AnchoringBiasMetric,
    ConfirmationBiasMetric,
    HaloEffectMetric,
    LossAversionMetric,
)
from helpers.biases.cognitive.published import (
    Arrays,
    from_arrays,
    from_published,
    notebook_arrays,
    published_finding,
    published_frame,
)
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
