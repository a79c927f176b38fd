"""What each number of experiment 6 means, declared once."""

from __future__ import annotations

from helpers.biases.verbosity.fails import FAILS
from helpers.types import Estimand

T = "question-clustered t, stratified by category"
_PAIRS = "a tie is 0; a pair counts if both orders can be read (invalid_share has the others)"
_HALF = "a tie counts one half; a pair counts if both orders can be read (invalid_share has the others)"
_OWN = "Recuse: design of its own"
_LC = "length control by regression: Dubois et al. 2024 (arXiv 2404.04475), here on lengths chosen by design"
_FLIPS = "p of sign flips (of counts exact McNemar)"
_LLMBAR = "LLMBar: Zeng et al. 2023, princeton-nlp/LLMBar, Adversarial/Manual"
_BENCH = "EvalBiasBench: Park et al. 2024, ncsoft/offsetbias"


def of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    lost: str = _PAIRS,
    interval: str = T,
    source: str = _OWN,
    unit: str = "rate",
) -> Estimand:
    """An estimand clustered by question, which fails as FAILS says."""
    return Estimand(
        id, words, formula, numerator, denominator, lost, "question", interval, source, unit, fails=FAILS[id]
    )


MEASURED = (
    of(
        "style_effect",
        "How much more often a wording (bias: padded, listed, confident) wins than the plain one of equal content, "
        "both orders averaged; reworded: the control, a neutral frame as long as the confident one.",
        "mean of (s1 + s2) / 2, s = 1 the wording wins, 0 a tie, -1 the plain one wins, one order each",
        "wins of the wording less wins of the plain one",
        "verdicts of pairs read in both orders",
        interval=f"{T}; p: sign flips over questions, Holm over all judges and wordings",
        unit="pp",
    ),
    of(
        "length_controlled_effect",
        "What is left of the preference for a wording at equal length (bias: listed, confident).",
        "a_bias in score = a_bias + b * log2(letters of the wording / letters of the plain one)",
        "wins of the wording less wins of the plain one, at equal length",
        "verdicts of pairs read in both orders, compared at chosen lengths",
        interval="least squares, question jackknife t",
        source=_LC,
        unit="pp",
    ),
    of(
        "length_slope",
        "How much a text of twice the letters gains, the wording held equal.",
        "b in score = a_bias + b * log2(letters of the wording / letters of the plain one)",
        "wins less losses of a text of twice the letters",
        "verdicts of pairs read in both orders, compared at chosen lengths",
        interval="least squares, question jackknife t",
        source=_LC,
        unit="pp",
    ),
    of(
        "poorer_win_rate",
        "How often poorer content in a wording (bias; plain: none) beats full content in plain words.",
        "mean of (1 + (s1 + s2) / 2) / 2",
        "wins of the poorer content and half the ties",
        "verdicts of pairs read in both orders",
        _HALF,
    ),
    of(
        "style_over_content",
        "How much more often poorer content wins for its wording than it does in plain words.",
        "poorer_win_rate(bias) - poorer_win_rate(plain), on the questions read in both",
        "wins of the poorer content, ties half, in the wording less in plain words",
        "verdicts of pairs read in both orders",
        _HALF,
        unit="pp",
    ),
    of(
        "repeat_disagreement",
        "How often the same two texts in the same order get another winner when asked again.",
        "P(another winner | asked again)",
        "two askings with different winners, a tie being one",
        "two askings that can be read",
        "a tie is a winner of its own; unreadable verdicts are left out",
    ),
    of(
        "invalid_share",
        "How many pairs have no readable verdict in one order or both.",
        "N(pairs without two readable verdicts) / N(pairs)",
        "pairs without two readable verdicts",
        "pairs",
        "is it",
    ),
    of(
        "known_pair_accuracy",
        "How often a judge prefers the text that is known to be better.",
        "mean of (1 + (s1 + s2) / 2) / 2, s = 1 the better text wins",
        "wins of the better text and half the ties",
        "verdicts of pairs read in both orders",
        _HALF,
        source=_BENCH,
    ),
    of(
        "known_pair_accuracy_by_bias",
        "The same on the pairs that are made for one bias.",
        "known_pair_accuracy of the pairs of a bias",
        "wins of the better text and half the ties",
        "verdicts of pairs of the bias, read in both orders",
        _HALF,
        source=_BENCH,
    ),
    of(
        "longer_when_worse",
        "How often the longer of two texts is preferred where it is known to be the worse one.",
        "mean over pairs of the share of both orders that chose the longer text",
        "choices of the longer text, ties half",
        "verdicts of pairs read in both orders whose longer text is the worse one",
        _HALF,
        f"{T}; published counts: t over instances; {_FLIPS} against one half",
        f"{_BENCH}; {_LLMBAR}",
    ),
    of(
        "longer_over_better",
        "How much more often the longer of two texts is preferred than the better one, where it is the worse one.",
        "2 longer_when_worse - 1",
        "choices of the longer text less choices of the better one",
        "verdicts of pairs read in both orders whose longer text is the worse one",
        "a tie is 0; a pair counts if both orders can be read (invalid_share has the others)",
        f"{T}; published counts: t over instances; {_FLIPS} against 0, Holm over the judges",
        f"{_BENCH}; {_LLMBAR}",
        "pp",
    ),
    of(
        "longer_when_better",
        "How often the longer of two texts is preferred where it is known to be the better one.",
        "mean over pairs of the share of both orders that chose the longer text",
        "choices of the longer text, ties half",
        "verdicts of pairs read in both orders whose longer text is the better one",
        _HALF,
        f"{T}; published counts: t over instances; {_FLIPS} against one half",
        f"{_BENCH}; {_LLMBAR}",
    ),
)

PUBLISHED = (
    of(
        "known_pairs_right_twice",
        "On how many instances an evaluator of LLMBar chose the better output in both orders.",
        "N(right in both orders)",
        "instances right in both orders",
        "1",
        "no ties; an unreadable verdict is not right",
        "none: a count",
        _LLMBAR,
        "count",
    ),
    of(
        "unreadable_share",
        "How many instances have no readable verdict of an evaluator of LLMBar in one order or both.",
        "N(instances without two readable verdicts) / N(instances)",
        "instances without two readable verdicts",
        "instances",
        "is it",
        "none",
        _LLMBAR,
    ),
    of(
        "longer_preferred",
        "How often the longer of two outputs is preferred, whatever their content, as printed.",
        "N(longer output preferred) / N(comparisons)",
        "comparisons in which the longer output is preferred",
        "comparisons",
        "not told by the source",
        "none: no counts are published",
        "AlpacaEval, tatsu-lab/alpaca_eval, README",
    ),
)

ESTIMANDS: dict[str, Estimand] = {each.id: each for each in (*MEASURED, *PUBLISHED)}
