"""Which place the judge favours: signed effects, which noise alone cannot make."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from helpers.biases.position.classes import share
from helpers.biases.position.pairs import GRADES, INVALID, comparisons, places, signs, valid
from helpers.stats.estimates import estimate
from helpers.stats.intervals import MIN_CLUSTERS, Interval, cluster_sums, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.tests import SignFlip, mcnemar_exact, with_sign_flip, with_test
from helpers.types import Estimate

LEVEL = 0.05
MOVED = "questions lean to a place"
NO_PAIR = "no pair with two readable verdicts"


def tested(values: pd.Series, questions: pd.Series, seed: int, reason: str, level: float = LEVEL) -> Interval:
    """The mean of signed values, clustered by question, with the p of sign flips over questions.

    With one value of -1, 0 or 1 a question that is the exact binomial test of McNemar. No p where even the smallest
    attainable one would not be below `level`, the one that a correction leaves. Where all questions say the same (a
    judge that always names the first place) there is no interval, but these tests need none.
    """
    if values.empty:
        return no_interval(math.nan, 0, 0, reason)
    each = cluster_sums(pd.DataFrame({"value": values, "question": questions}), "value", "question")
    interval = clustered(each.numerators, each.denominators)
    if math.isnan(interval.low) and (interval.clusters < MIN_CLUSTERS or not interval.value):
        return interval
    if not questions.duplicated().any() and values.isin([-1, 0, 1]).all():
        up, down = int((values > 0).sum()), int((values < 0).sum())
        test = SignFlip(mcnemar_exact(up, down), 2.0 ** (1 - up - down), up + down, True)
        return with_test(interval, test, level, MOVED, "exact McNemar p")
    return with_sign_flip(interval, each.numerators[:, 0], seed, level, MOVED)


def verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    """What each verdict of readable pairs says for the answer shown first, and for the candidate; one row a verdict.

    Columns: question_id, category, baseline, cluster, game; `sign` (1, 0, -1) and `grade` (2 to -2) in favour of the
    first; `for_candidate` (1, 0, -1); `strong`.
    """
    kept = rows[["question_id", "category", "baseline"]].assign(cluster=clusters_of(rows))
    label = pd.concat([rows["verdict_1"], rows["verdict_2"]], ignore_index=True)
    sign, grade, game = signs(label), signs(label, GRADES), np.repeat([1, 2], len(rows))
    return pd.concat([kept, kept], ignore_index=True).assign(
        game=game, sign=sign, grade=grade, for_candidate=np.where(game == 1, -1, 1) * sign, strong=np.abs(grade) == 2
    )


def signed(rows: pd.DataFrame) -> pd.Series:
    """1 where the first won both games, -1 where the second did, else 0."""
    both = rows["both"]
    return ((both == "first").astype(float) - (both == "second")).rename("both")


def leaning(rows: pd.DataFrame) -> pd.Series:
    """As `signed`, and 1/2 for the place that won one game where the other was a tie."""
    one, two = (signs(rows[f"verdict_{game}"]) for game in (1, 2))
    return pd.Series(np.nan_to_num((one + two) / 2), rows.index)


def corrected_level(table: pd.DataFrame) -> float:
    """The level of the first step of Holm's correction over all comparisons with a readable pair.

    Some of these turn out to have no test; the level that is left for the others is never smaller than this one.
    """
    count = sum(1 for _ in comparisons(valid(table)))
    return LEVEL / max(1, count)


def first_position_effect(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often the first place wins both games than the second does, in pp; readable pairs, condition none.

    A judge that is fair but noisy is at 0 however often it flips. `where`: judge, candidate (the confirmatory family),
    and with category (exploratory). Takes `pairs`.
    """
    level, found = corrected_level(table), []
    for where, rows in _readable(table):
        at = LEVEL if "category" in where else level
        interval = tested(signed(rows), clusters_of(rows), seed, NO_PAIR, at)
        found.append(estimate("first_position_effect", where, interval, data, "pp"))
    return found


def _readable(table: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each place with its readable pairs, an empty table where it has none."""
    for where, rows in places(table[table["condition"] == "none"]):
        yield where, rows[rows["kind"] != INVALID]


def signed_rates(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The parts and companions of the first-position effect; `where`: judge, candidate. Takes `pairs`.

    `position_consistency`, `primacy_share`, `recency_share` of readable pairs; `first_win_rate` of their decisive
    verdicts; `graded_position_effect`, the mean verdict from -2 to 2 in favour of the first; `preference_fairness` = -
    (pairs that lean to the first - to the second) / readable pairs, a tie in one game leaning to the winner of the
    other (Shi et al. 2024, whose raw score is this difference exactly; their scripts divide by all pairs shown, the
    unreadable ones included).
    """
    found = []
    for where, rows in _readable(table):
        if "category" in where:
            continue
        shares = {
            "position_consistency": rows["agree"],
            "primacy_share": rows["both"] == "first",
            "recency_share": rows["both"] == "second",
        }
        found += [estimate(id, where, share(rows, values), data) for id, values in shares.items()]
        each = verdicts(rows)
        found.append(_first_win_rate(where, each, data))
        found.append(estimate("graded_position_effect", where, _mean(each, each["grade"]), data, "score"))
        lean = leaning(rows)
        found.append(
            estimate("preference_fairness", where, _mean(rows, -(lean > 0).astype(float) + (lean < 0)), data, "score")
        )
    return found


def first_win_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Of `signed_rates` the `first_win_rate` alone. Takes `pairs`."""
    every = [(where, rows) for where, rows in _readable(table) if "category" not in where]
    return [_first_win_rate(where, verdicts(rows), data) for where, rows in every]


def _first_win_rate(where: dict[str, str], each: pd.DataFrame, data: str) -> Estimate:
    decisive = each[each["sign"] != 0]
    return estimate("first_win_rate", where, _mean(decisive, decisive["sign"] > 0, "no decisive verdict"), data)


def _mean(rows: pd.DataFrame, values: pd.Series, reason: str = NO_PAIR) -> Interval:
    """A question-clustered mean."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, reason)
    sums = cluster_sums(pd.DataFrame({"value": values.astype(float), "cluster": clusters_of(rows)}), "value", "cluster")
    return clustered(sums.numerators, sums.denominators, null=None)
