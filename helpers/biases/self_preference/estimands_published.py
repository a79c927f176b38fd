"""What the numbers of the published replication mean, each under the definition that its source used."""

from __future__ import annotations

from helpers.biases.self_preference.estimands import of
from helpers.types import Estimand

_SOURCE = "replication: yd-pei/ms_thesis_code; original study: Taslim-M/mitigating_self_preference"
_WILSON = "Wilson; counts, independence assumed"
_COUNT = "none: a count"
_LOST = "the source dropped what it could not read and, where filtered, pairs whose orders disagreed"


def _rate(id: str, words: str, numerator: str, denominator: str) -> Estimand:
    return of(id, words, f"{numerator} / {denominator}", numerator, denominator, _WILSON, _SOURCE, lost=_LOST)


def _count(id: str, words: str) -> Estimand:
    return of(id, words, "N", "N", "1", _COUNT, _SOURCE, "count", _LOST)


PUBLISHED = (
    _count("published_records", "How many pairs a published run judged in a phase."),
    _rate("judge_accuracy", "How often a published judge picked the right answer of a pair.", "right picks", "pairs"),
    _rate(
        "model_accuracy", "How often the judge's own answer of a published pair is the right one.", "own right", "pairs"
    ),
    _rate("self_selected_rate", "How often a published judge picked its own answer.", "own picks", "pairs"),
    _rate(
        "harmful_self_preference_rate",
        "How often a published judge picked its own answer where that is wrong (the source's later definition).",
        "own wrong picks",
        "pairs whose own answer is wrong",
    ),
    _rate(
        "wrong_of_self_selected",
        "How often the own answer that a published judge picked was wrong (the source's first definition of the "
        "harmful rate: it mixes how often the judge is wrong with how often it picks itself).",
        "own wrong picks",
        "own picks",
    ),
    of(
        "published_change",
        "How far a published rate after the edit of two words lies from the one before: a bare number.",
        "rate after - rate before",
        "as the rate",
        "as the rate",
        "none: the pairing is not published, or the pairs differ",
        _SOURCE,
        "pp",
        _LOST,
    ),
    _rate("published_retention", "The share of a published run's pairs whose orders agreed.", "pairs kept", "pairs"),
    _rate("generator_accuracy", "How often a published model's readable answer is right.", "right", "answers read"),
    _rate("generator_accuracy_all", "The same with answers that named no option as wrong.", "right", "questions"),
    _count("generator_skipped", "How many answers of a published model named no option."),
    _count("code_pairs", "How many published pairs of programs have both, none, the own or the other one right."),
    _count("accuracy_falls", "In how many pairs of judge and opponent the judge's accuracy fell after the edit."),
)
