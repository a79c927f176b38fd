"""What the published numbers of experiment 4 mean that no verdicts of our own give, and all numbers together."""

from __future__ import annotations

from helpers.biases.position.estimands import MEASURED, T, of
from helpers.types import Estimand

_NOTEBOOK = "a published notebook on position bias; data: lmarena/arena-hard-auto"
_ANALYZER = "Slimshilin/Position-Bias-Analyzer, log.txt"
_WILSON = "Wilson; counts, independence assumed"
_BY_QUESTION = f"{T}; counts by question"
_COUNT = "none: a count"


def _count(id: str, words: str) -> Estimand:
    return of(id, words, "N", "N", "1", _COUNT, _NOTEBOOK, "count", "counted as the source counts them")


PUBLISHED = (
    _count("published_lines", "How many lines of verdicts a published notebook read."),
    _count("class_lines", "How many lines a published notebook put in a class (class)."),
    _count("pattern_lines", "How many lines a published notebook counted of a pair of stored strings (pattern)."),
    of(
        "significant_bias_of_planned",
        "The published share of significant bias over the questions planned, not the lines there are.",
        "N(significant_bias) / questions of the benchmark",
        "lines of class significant_bias",
        "questions of the benchmark",
        _WILSON,
        _NOTEBOOK,
        lost="an unreadable verdict counts as significant bias, a question without a line in the denominator",
    ),
    of(
        "consistent_answer_rate",
        "How many single answers that could be read are consistent, as the authors of Position-Bias-Analyzer count.",
        "(2 N(pairs that agree) + N(answers whose partner cannot be read)) / N(answers read)",
        "answers read whose partner agrees or cannot be read",
        "answers read",
        _BY_QUESTION,
        _ANALYZER,
        lost="an answer whose partner cannot be read counts as consistent; two ties agree",
    ),
    of(
        "answers_read",
        "The share of single answers from which a verdict could be read.",
        "N(answers read) / N(answers)",
        "answers read",
        "answers",
        _BY_QUESTION,
        _ANALYZER,
        lost="is it",
    ),
    of(
        "equal_verdicts",
        "On how many instances an evaluator of LLMBar chose the same output in both orders.",
        "N(agree)",
        "instances with the same output chosen twice",
        "1",
        _COUNT,
        "princeton-nlp/LLMBar, statistics.json",
        "count",
        "two unreadable verdicts count as equal where the source counts them so",
    ),
    of(
        "both_order_inconsistent",
        "How often two orders disagreed, where only the verdict of both together was published (turn).",
        "N(inconsistent) / N",
        "judgments whose orders disagreed",
        "judgments of both orders",
        _BY_QUESTION,
        "lmsys/mt_bench_human_judgments; Zheng et al. 2023 (arXiv 2306.05685)",
        lost="not told by the source",
    ),
)

ESTIMANDS: dict[str, Estimand] = {each.id: each for each in (*MEASURED, *PUBLISHED)}
