"""What the rates and naive comparisons of experiment 3 mean; those that we defend are in estimands_defended."""

from __future__ import annotations

from helpers.biases.self_preference.fails import FAILS
from helpers.types import Estimand

_LOST = (
    "orders that disagree count 1/2; an item without a verdict in one of its orders is left out, and counted in the "
    "funnel and the unreadable share"
)
T = "article-clustered t"
PAIRED = "article-clustered t of the paired difference; p by sign flips of articles"
_PUBLISHED = "Mitigating self-preference (Taslim-M/mitigating_self_preference) and its replication (yd-pei)"
OWN = "own definition; conditional odds of matched pairs: Mantel and Haenszel 1959; clusters: Miller 2024"


def of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    interval: str = T,
    source: str = _PUBLISHED,
    unit: str = "rate",
    lost: str = _LOST,
) -> Estimand:
    """An estimand of this experiment, clustered by article."""
    facts = (words, formula, numerator, denominator, lost, "article", interval, source, unit)
    return Estimand(id, *facts, fails=FAILS[id])


_FILTER = "filter: all, or only items whose two orders agree"
HARMFUL = "items in which the judge wrote the wrong answer"
DOSE = "for each dose"

ASKED = (
    of(
        "accuracy_all",
        f"How often a judge picks the right answer of a pair of which exactly one is right ({_FILTER}).",
        "mean over items of [picked right], both orders",
        "picks of the right answer",
        "items at first asking",
    ),
    of(
        "accuracy_self",
        f"accuracy_all over pairs of which the judge wrote one answer ({_FILTER}).",
        "as accuracy_all",
        "picks of the right answer",
        "items with an own answer at first asking",
    ),
    of(
        "accuracy_harmful",
        f"accuracy_all where the judge's own answer is the wrong one ({_FILTER}).",
        "as accuracy_all",
        "picks of the right answer",
        f"{HARMFUL}, at first asking",
    ),
    of(
        "naive_harmful_rate",
        "How often a judge picks its own wrong answer: self-preference and weakness together.",
        "1 - accuracy_harmful, unfiltered",
        "picks of the own wrong answer",
        f"{HARMFUL}, at first asking",
    ),
    of(
        "own_wrong_probability",
        "The mean probability that a judge gives its own wrong answer, where the provider tells probabilities.",
        "mean of 1 - p_right over both orders",
        "probability of the own wrong answer",
        f"{HARMFUL}, at first asking, with probabilities in both orders",
    ),
    of(
        "legitimate",
        f"Of a judge's votes for its own answer, the share that was right ({_FILTER}).",
        "P(own right | own preferred, exactly one right)",
        "votes for the own answer where it is right",
        "votes for the own answer",
    ),
    of(
        "retention",
        "The share of items that the filter for consistent orders keeps.",
        "items whose orders agree / items with a verdict in both",
        "items whose orders agree",
        "items at first asking",
    ),
    of(
        "naive_opponent_difference",
        f"The edit of the own wrong answer minus the edit of the right one, {DOSE}: counts damage twice.",
        "obfuscation_own - obfuscation_of_right on items with both",
        "picks of the right answer",
        f"{HARMFUL}, judged with either edit and again",
        PAIRED,
        "the placebo that damage alone passes; shown as a warning",
        "pp",
    ),
    of(
        "naive_filtered_change",
        f"Edited minus first asking, on items whose orders agreed at first asking, {DOSE}: no effect, since its "
        "items were selected on the verdicts that it compares with.",
        "mean of [edited - first] over selected items",
        "picks of the right answer",
        f"{HARMFUL} and both orders agreed at first asking",
        unit="pp",
    ),
    of(
        "unreadable_share",
        "The share of a judge's judgments without a readable verdict.",
        "1 - N(ok) / N",
        "judgments without a verdict",
        "judgments of the judge, all conditions and tasks",
        lost="a reply that could not be read counts as unreadable, a missing one too",
    ),
    *(
        of(
            f"funnel_{stage}",
            words,
            "N",
            what,
            "1",
            "none: a count",
            unit="count",
        )
        for stage, words, what in (
            ("pairs", "How many pairs a judge was shown at first asking.", "pairs"),
            ("items", "On how many pairs a judge gave a verdict in both orders.", "items"),
            ("consistent", "On how many pairs a judge picked the same answer in both orders.", "items that agree"),
        )
    ),
)
