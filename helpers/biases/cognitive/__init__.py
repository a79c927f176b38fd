"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

from helpers.biases.cognitive.asked import CONTROL, NEEDS, STAGES, caution, check, questions, trials
from helpers.biases.cognitive.averages import pairs
from helpers.biases.cognitive.findings import (
    card,
    confirmatory,
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
