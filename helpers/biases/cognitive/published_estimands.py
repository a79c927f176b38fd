"""What the published numbers of experiment 5 mean that no decisions of our own give."""

from __future__ import annotations

from helpers.biases.cognitive.fails import FAILS
from helpers.biases.cognitive.published import NEARLY
from helpers.types import Estimand

_SOURCE = "means published by Malberg et al. (arXiv 2410.15413); own comparison"
_NOTEBOOK = "a published notebook on the confidence variation of metrics"


def _of(id: str, words: str, formula: str, numerator: str, denominator: str, unit: str, source: str) -> Estimand:
    lost = "failed tests are left out by the source; 0/0 counts 0"
    facts = (words, formula, numerator, denominator, lost, "none: means only", "none", source, unit)
    return Estimand(id, *facts, fails=FAILS[id])


PUBLISHED = (
    _of(
        "direction_share",
        "How much of the published mean |B| has one direction; the rest goes both ways, by noise or from test to test. "
        f"Below {NEARLY:.0%} a bias is called nearly directionless.",
        "|mean B| / mean |B|",
        "|mean B|",
        "mean |B|",
        "rate",
        _SOURCE,
    ),
    _of(
        "below_random",
        "How many of the 30 biases have a published mean |B| below what answers at random give on their options.",
        "N(mean |B| < expected mean |B| of answers at random)",
        "biases below",
        "1",
        "count",
        _SOURCE,
    ),
    _of(
        "above_random",
        "How many published models have at least the mean |B| of the one that answers at random.",
        "N(mean |B| >= mean |B| of the random model)",
        "models",
        "1",
        "count",
        _SOURCE,
    ),
    _of(
        "impossible_means",
        "How many published means of B lie further from 0 than the mean |B| beside them, which cannot be.",
        "N(|mean B| > mean |B| + rounding)",
        "biases",
        "1",
        "count",
        _SOURCE,
    ),
    _of(
        "confirmation_as_printed",
        "The batch value of confirmation bias by the formula that its notebook prints: the answer cancels out of it.",
        "sum(N_i max(0, [a(p-c) + (1-a)(p-c)] / (p+c))) / sum(N_i)",
        "weighted values",
        "arguments listed",
        "score",
        _NOTEBOOK,
    ),
    _of(
        "anchoring_specific_raw",
        "The batch value of anchoring with the anchor itself in place of the option closest to it.",
        "mean max(0, (|a1-anchor| - |a2-anchor|) / |a1-anchor|)",
        "distance taken away",
        "distance of the control's answer",
        "score",
        _NOTEBOOK,
    ),
)
