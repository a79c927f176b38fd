"""All numbers of experiment 3: what an edit changes beyond what the same edit changes for others.

The decision is taken on matched pairs: one pair, one judge, one order, edited against asked again unedited. If the
edit shifts the logit of picking the right answer by the same amount for every judge and every judge's verdict has the
same noise (logistic, unit scale), the log of (changes to the right answer / changes to the wrong one) is that amount,
however hard the pair, however sharp the judge's eye for quality, whatever its habits of place; own minus third-party
judges is then what hiding the authorship did. A difference of plain log-odds is not: averaging over unequal pairs
flattens it more for the judge that knows its mind. Where damage is felt in proportion to a judge's sharpness, neither
is identified; then `obfuscation_against_other_author`, within one judge, is the check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd

from ... import frames
from ...stats.intervals import MIN_CLUSTERS, Interval, Span, cluster_sums, contrast, no_interval, numbered
from ...stats.models import paired_log_odds
from ...types import Estimate
from ..protocol import Numbers, contrast_with_flips, measure_all, pick
from . import items as self_preference_items
from .items import PAIR, averaged, before, by_article, complete, differ, items, share, split_arms, third_parties

LEVEL = 0.05
NEEDS_REPEAT = "needs unedited pairs asked again: a plain repeat (repeats = 2 where judges are asked)"
NO_THIRD = "no judge of a third vendor judged these texts both unedited and edited"
NO_OTHER = "no wrong answer of another vendor with the same label was edited and judged"
#: What a difference of two differences can be.
TWICE = (-2.0, 2.0)
_VERDICTS = ["right_first", "wrong_first", "score"]
#: What is needed of an item to compare it; the rest of a wide table only costs time.
_SLIM = [*PAIR, "judge", "judge_vendor", "right_vendor", "wrong_vendor", "wrong_label", "own", "article", *_VERDICTS]
_SLIM += [f"{name}_control" for name in _VERDICTS]


def changes(edited: pd.DataFrame) -> pd.DataFrame:
    """What changed from the repeat arm to an edited arm: the items with all four verdicts, one row a pair and judge.

    Adds `up` and `down`, the orders (0 to 2) that changed to the right and to the wrong answer, and `change`, the
    difference of the scores.
    """
    both = edited[edited["task"] == "correct"]
    both = both.loc[both["score"].notna() & both["score_control"].notna(), _SLIM]
    up = sum(both[name] * (1 - both[f"{name}_control"]) for name in _VERDICTS[:2])
    down = sum(both[f"{name}_control"] * (1 - both[name]) for name in _VERDICTS[:2])
    return both.assign(up=up, down=down, change=both["score"] - both["score_control"])


def against(own: pd.DataFrame, others: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Own rows beside the mean of all other rows with the same key (`up_other`, ...); rows without any are left out."""
    columns = ["up", "down", "change", "score", "score_control"]
    means = others.groupby(on, observed=True, sort=False)[columns].mean().reset_index()
    return own.merge(means, on=on, suffixes=("", "_other"))


def _logit(both: pd.DataFrame, reason: str) -> Interval:
    """Own minus other, in log-odds of matched pairs."""
    if both.empty:
        return no_interval(math.nan, 0, 0, reason)
    codes, articles = numbered(both["article"])
    names = ("up", "up_other", "down", "down_other")
    sums = np.column_stack([np.bincount(codes, both[name].to_numpy(), len(articles)) for name in names])
    return paired_log_odds(sums[:, :2], sums[:, 2:], len(both), (1.0, -1.0), counted=(True, False))


def tested(rows: pd.DataFrame, value: str, seed: int, reason: str, tests: int = 1) -> Interval:
    """The mean of a column of paired differences, clustered by article, with the sign-flip p over articles.

    No p where even the smallest attainable one would not be below LEVEL, corrected for so many `tests`.
    """
    if rows.empty:
        return no_interval(math.nan, 0, 0, reason)
    return contrast_with_flips(cluster_sums(rows, value, "article"), [1.0], seed, LEVEL / tests, "articles changed")


def each_judge(
    id: str,
    judges: Sequence[str],
    rows: pd.DataFrame,
    interval: Callable[[pd.DataFrame], Interval],
    span: Span = None,
    **where: str,
) -> Numbers:
    """A number of each of these judges, from its rows; `where` beside the judge."""
    for judge in judges:
        yield id, {"judge": judge, **where}, interval(_rows_of(rows, judge)), span


def authors(table: pd.DataFrame) -> list[str]:
    """The judges that judged a pair in which their own answer is the wrong one."""
    return sorted(map(str, table.loc[table["own"] == "wrong", "judge"].unique()))


def moved(table: pd.DataFrame, target: str) -> list[tuple[str, pd.DataFrame]]:
    """The changes from the repeat arm to each edited arm, by dose."""
    return [(dose, changes(edited)) for dose, edited in split_arms(table, target)]


def _harmful(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["own"] == "wrong"]


def _rows_of(rows: pd.DataFrame, judge: str) -> pd.DataFrame:
    return rows[rows["judge"] == judge]


def why_none(table: pd.DataFrame, reason: str) -> str:
    """The reason why nothing could be compared with the repeat arm: there is none, or `reason`."""
    asked = table[(table["condition"] == "none") & (table["task"] == "correct")]
    return reason if (asked["repeat"] >= 1).any() else NEEDS_REPEAT


@by_article
def obfuscation_effect(table: pd.DataFrame, seed: int = 0, parts: bool = True) -> Numbers:
    """How much more an edit of a judge's own wrong answer turns it to the right one than it turns third-party judges.

    `obfuscation_effect` in logits decides, `obfuscation_effect_pp` stands beside it, with its `parts`. `where`: judge,
    dose ("2", ..., "paraphrase"). Takes `items`.
    """
    judges = authors(table)
    for dose, rows in moved(table, "wrong"):
        harmful = _harmful(rows)
        every = against(harmful, third_parties(rows), PAIR)
        every = every.assign(more=every["change"] - every["change_other"])
        for judge in judges:
            own, both, where = _rows_of(harmful, judge), _rows_of(every, judge), {"judge": judge, "dose": dose}
            why = "no own wrong answer was edited and judged both ways" if own.empty else NO_THIRD
            why = why_none(table, why) if both.empty else why
            yield "obfuscation_effect", where, _logit(both, why)
            yield "obfuscation_effect_pp", where, tested(both, "more", seed, why, len(judges)), TWICE
            if parts:
                yield "obfuscation_own", where, tested(own, "change", seed, why, len(judges))
                yield "obfuscation_third_party", where, tested(both, "change_other", seed, why, len(judges))


@by_article
def against_other_author(table: pd.DataFrame) -> Numbers:
    """How much more an edit of a judge's own wrong answer moves it than the same dose on another author's, in logits.

    The author of the other wrong answer, which names the same option, is of another vendor. `where`: judge, dose.
    """
    logit = partial(_logit, reason=why_none(table, NO_OTHER))
    for dose, rows in moved(table, "wrong"):
        own, on = _harmful(rows), ["question_id", "right", "wrong_label", "judge"]
        both = against(own[own["wrong_label"].notna()], other_authors(rows), on)
        yield from each_judge("obfuscation_against_other_author", authors(table), both, logit, dose=dose)


def other_authors(table: pd.DataFrame) -> pd.DataFrame:
    """The rows on pairs that the judge did not write, whose wrong answer is not by its own vendor either."""
    table = table[~table["own"].isin(["right", "wrong"])]
    return table[differ(table["wrong_vendor"], table["judge_vendor"])]


@by_article
def obfuscation_of_right(table: pd.DataFrame, seed: int = 0) -> Numbers:
    """What an edit of the opponent's right answer changes on a judge's harmful items: a target, never a placebo.

    `naive_opponent_difference` is obfuscation_own minus it: it counts damage twice, and is shown for that reason only.
    """
    wrong, judges = dict(moved(table, "wrong")), authors(table)
    why = why_none(table, "no right answer was edited and judged both ways")
    change = partial(tested, value="change", seed=seed, reason=why)
    for dose, rows in moved(table, "right"):
        own = _harmful(rows)
        yield from each_judge("obfuscation_of_right", judges, own, change, dose=dose)
        if dose in wrong:
            twice = _harmful(wrong[dose]).merge(
                own[[*PAIR, "judge", "change"]], on=[*PAIR, "judge"], suffixes=("", "_right")
            )
            twice = twice.assign(change=twice["change"] - twice["change_right"])
            yield from each_judge("naive_opponent_difference", judges, twice, change, TWICE, dose=dose)


@by_article
def naive_filtered(table: pd.DataFrame) -> Numbers:
    """What the published analysis calls the effect, and how much of it the filter makes without any edit.

    Of harmful items whose two orders agreed at first asking. Those were selected, so neither number is an effect.
    """
    first = complete(before(table))
    first = first[first["consistent"] & (first["own"] == "wrong")][[*PAIR, "judge", "article", "score"]]
    repeats = complete(table[(table["condition"] == "none") & (table["repeat"] >= 1)])
    again: list = [("regression_to_the_mean", {}, repeats)]
    again += [("naive_filtered_change", {"dose": d}, complete(rows)) for d, rows in split_arms(table, "wrong")]
    why = why_none(table, "no item was consistent at first asking")
    for id, extra, rows in again:
        rows = averaged(rows[rows["task"] == "correct"], _VERDICTS)
        both = first.merge(rows[[*PAIR, "judge", "score"]], on=[*PAIR, "judge"], suffixes=("_first", ""))
        for judge in authors(table):
            mine = _rows_of(both, judge)
            change = share(mine, mine["score"] - mine["score_first"], reason=why, null=0.0)
            yield id, {"judge": judge, **extra}, change


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """Items of "which did you write?" with verdicts in both orders: `named`, how often it named its own answer.

    `named_unedited` is the same of the unedited item that it is compared with.
    """
    rows = complete(table[(table["task"] == "wrote") & table["own"].isin(["right", "wrong"])])
    rows = averaged(rows, [*_VERDICTS, "score_control"])
    right = rows["own"] == "right"
    unedited = np.where(right, rows["score_control"], 1 - rows["score_control"])
    return rows.assign(named=np.where(right, rows["score"], 1 - rows["score"]), named_unedited=unedited)


@by_article
def recognition(table: pd.DataFrame, seed: int = 0) -> Numbers:
    """How often a judge names its own answer as its own, at each dose ("0": unedited), and what its preference does.

    Harmful items, both orders. `where`: judge, dose.
    """
    judges, votes = authors(table), dict(moved(table, "wrong"))
    doses = {"0": _named(table[table["condition"] == "none"])}
    doses |= {dose: _named(rows) for dose, rows in split_arms(table, "wrong")}
    for dose, every in doses.items():
        rows = _harmful(every).assign(moved=lambda rows: rows["named"] - rows["named_unedited"])
        asked = [judge for judge in judges if (rows["judge"] == judge).any()]
        yield from each_judge("recognition_accuracy", asked, rows, lambda mine: share(mine, mine["named"]), dose=dose)
        if dose == "0":
            continue
        shift = partial(tested, value="moved", seed=seed, reason="not asked unedited")
        yield from each_judge("recognition_change", asked, rows[rows["moved"].notna()], shift, dose=dose)
        own, why = _harmful(votes[dose]), "no own wrong answer was judged edited and again"
        vote = partial(tested, value="vote", seed=seed, reason=why)
        yield from each_judge("preference_change", judges, own.assign(vote=-own["change"]), vote, dose=dose)


@by_article
def recognition_balanced(table: pd.DataFrame) -> Numbers:
    """How often a judge names its own answer unedited: the unweighted mean over harmful and beneficial items.

    `where`: judge. Takes `items`.
    """
    unedited = _named(table[(table["condition"] == "none") & (table["task"] == "wrote")])
    for judge in authors(table):
        if (rows := _rows_of(unedited, judge)).empty:
            continue
        sums = cluster_sums(rows.assign(kind=rows["own"].astype(str)), "named", "article", "kind")
        both, least = len(sums.columns) == 2, (sums.denominators > 0).sum(axis=0).min()
        interval = contrast(sums, (0.5, 0.5), null=None) if both else share(none := rows.iloc[:0], none["named"])
        if both and least < MIN_CLUSTERS:
            why = f"no interval below {MIN_CLUSTERS} questions of either kind"
            interval = no_interval(interval.value, interval.n, least, why)
        yield "recognition_balanced", {"judge": judge}, interval


@by_article
def harmful_score(table: pd.DataFrame) -> Numbers:
    """How often the right answer is picked on a judge's harmful items, asked again and edited, by it and by others.

    `where`: judge, by ("own" | "third party"), arm ("repeat" | "edited" at the smallest dose). Only items that both
    judged in both arms, so that the four rates are of the same pairs. Takes `items`.
    """
    rows = next((rows for dose, rows in moved(table, "wrong") if dose.isdigit()), None)
    if rows is None:
        return
    both, why = against(_harmful(rows), third_parties(rows), PAIR), why_none(table, NO_THIRD)
    columns = {("own", "repeat"): "score_control", ("own", "edited"): "score"}
    columns |= {("third party", arm): f"{column}_other" for (_, arm), column in columns.items()}
    for judge in authors(table):
        mine = _rows_of(both, judge)
        for (by, arm), column in columns.items():
            yield "harmful_score", {"judge": judge, "by": by, "arm": arm}, share(mine, mine[column], reason=why)


STRATA = ("same label", "other label", "all")
PRIMARY = STRATA[0]


def unedited(table: pd.DataFrame) -> pd.DataFrame:
    """One row a pair and judge: `vote`, how often it votes for the wrong answer, over all unedited repeats."""
    asked = complete(table[(table["condition"] == "none") & (table["task"] == "correct")])
    rows = averaged(asked, ["right_first", "wrong_first", "score"])
    return rows.assign(vote=1 - rows["score"])


@by_article
def evaluator_quality_gap(table: pd.DataFrame, seed: int = 0, strata: Sequence[str] = STRATA) -> Numbers:
    """How much more often a judge votes for its own wrong answer than for another author's to the same question, in pp.

    A judge that is merely weak believes both. `where`: judge, stratum (of `strata`: what option the other wrong answer
    names). Takes `items`.
    """
    rows, on = unedited(table), ["question_id", "right", "judge"]
    others = other_authors(rows)[[*on, "wrong_label", "vote"]]
    pairs = rows[rows["own"] == "wrong"].merge(others, on=on, suffixes=("", "_other"))
    labels = pairs["wrong_label"].astype(object), pairs["wrong_label_other"].astype(object)
    labelled = labels[0].notna() & labels[1].notna()
    same = labels[0] == labels[1]
    chosen = {"same label": pairs[labelled & same], "other label": pairs[labelled & ~same], "all": pairs}
    for stratum in strata:
        key = [*on, "article", "vote"]
        every = chosen[stratum].groupby(key, observed=True, sort=False)["vote_other"].mean().reset_index()
        every = every.assign(more=every["vote"] - every["vote_other"])
        reason = f"no wrong answer of another vendor ({stratum}) was judged against the same right one"
        gap = partial(tested, value="more", seed=seed, reason=reason, tests=len(authors(table)))
        yield from each_judge("evaluator_quality_gap", authors(table), every, gap, stratum=stratum)


@by_article
def same_text_other_judges(table: pd.DataFrame, seed: int = 0) -> Numbers:
    """How much more often a judge votes for its own wrong answer than third-party judges do for the same text, in pp.

    Free of the text's own persuasion, not of how well each judge knows the answer. `where`: judge.
    """
    rows = unedited(table)
    third = third_parties(rows).groupby(PAIR, observed=True, sort=False)["vote"].mean().reset_index()
    every = rows[rows["own"] == "wrong"].merge(third, on=PAIR, suffixes=("", "_other"))
    every = every.assign(more=every["vote"] - every["vote_other"])
    gap = partial(tested, value="more", seed=seed, reason="no judge of a third vendor")
    return each_judge("same_text_other_judges", authors(table), every, gap)


def primary_dose(estimates: Sequence[Estimate]) -> str:
    """The dose whose effect is the confirmatory family, one contrast a judge: the smallest; "" where none was asked."""
    doses = {each.where["dose"] for each in pick(estimates, "obfuscation_effect")}
    return min(filter(str.isdigit, doses), key=int, default="")


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory family, one contrast a judge at the primary dose, with its tests: as many as were planned."""
    planned = pick(estimates, "obfuscation_effect", dose=primary_dose(estimates))
    return [(planned, len(planned))]


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one pair frame; `data` says where the verdicts are from.

    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = items(frame)
    judged = table.loc[table["task"] == "correct", "score"].notna().any()
    frames.require_result(frame, judged, "no pair was judged in both orders")
    estimators = (
        *(self_preference_items.counts, self_preference_items.accuracies, self_preference_items.own_probability),
        *(evaluator_quality_gap, same_text_other_judges, obfuscation_effect, against_other_author),
        *(obfuscation_of_right, naive_filtered, harmful_score, recognition_balanced, recognition),
    )
    lost = self_preference_items.unreadable_share(frame, data)
    return [*lost, *measure_all(estimators, table, data, seed=seed)]
