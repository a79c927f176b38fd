"""Whether judges are right, and whether they say what people say, beyond chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import pandas as pd

from ...stats.agreement import alpha_of_coincidences
from ...stats.bootstrap import bca_totals
from ...stats.intervals import (
    NAN,
    Interval,
    Sums,
    added,
    cluster_sums,
    clustered,
    clustered_mean,
    clusters_of,
    estimate,
    no_interval,
)
from ...stats.prediction_powered import Labels, NotRandomSample, classical_mean, prediction_powered_mean
from ...types import Estimate

VOTE_COLUMNS = ("question_id", "pair", "voter", "kind", "verdict", "outcome")
VERDICTS = ("first", "tie", "second")
#: What a judge may have said: a verdict, two orders that contradict each other, or nothing that can be read.
SAID = (*VERDICTS, "inconsistent", "unreadable")


@dataclass(frozen=True)
class Tables:
    """Counts by question (C): of a judge, or of the people alone.

    `votes` (C, 5, 3): a judge's word (SAID) by each person's vote (VERDICTS) on the same pair. `shared`: the same, each
    vote as often as other people voted on that pair, so that judge and people answer for the same votes. `people`
    (C, 3, 3): two different people on one pair, each two once, the lower verdict in the row. Without a judge the first
    two are zero.
    """

    votes: np.ndarray
    shared: np.ndarray
    people: np.ndarray


@dataclass(frozen=True)
class Counted:
    """The tables of one source and condition: those of each judge, and the questions in their order.

    `judged` and `lost` count each judge's verdicts and those that cannot be read, on pairs with a vote or without.
    """

    questions: tuple[str, ...]
    judges: Mapping[str, Tables]
    people: np.ndarray
    judged: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)


def counted(votes: pd.DataFrame) -> Counted:
    """How often judges and people said what on the same two answers, by question.

    `votes` has a row a vote: question_id (the cluster), pair, voter, kind ("judge" or "person"), verdict (first, tie,
    second, or None) and outcome ("inconsistent" where two orders contradict each other). A missing column, an unknown
    verdict, a person's vote without a verdict, and a judge's second verdict on a pair are ValueErrors.
    """
    _check_votes(votes)
    votes = votes.reset_index(drop=True)
    people = votes[votes["kind"] == "person"]
    codes, questions = pd.factorize(clusters_of(votes), sort=True)
    at = pd.Series(codes, index=votes.index)
    voted = pd.DataFrame(
        {"pair": people["pair"], "voter": people["voter"], "vote": people["verdict"].map(VERDICTS.index)}
    ).assign(question=at[people.index])
    both = voted.merge(voted[["pair", "voter", "vote"]], on="pair", suffixes=("", "_other"))
    both = both[both["voter"] < both["voter_other"]]
    low, high = np.minimum(both["vote"], both["vote_other"]), np.maximum(both["vote"], both["vote_other"])
    between = _sums((len(questions), 3, 3), both["question"], low, high)
    # How many votes of other people each vote stands beside.
    own = voted.groupby(["pair", "voter"])["vote"].transform("size")
    voted = voted.assign(others=voted.groupby("pair")["vote"].transform("size") - own)
    judged = votes[votes["kind"] == "judge"]
    said = judged["verdict"].where(judged["verdict"].notna(), judged["outcome"])
    words = said.map(lambda word: SAID.index(word) if word in SAID else SAID.index("unreadable"))
    judged = judged.assign(said=words)
    met = judged[["pair", "voter", "said"]].merge(voted, on="pair", suffixes=("", "_person"))
    shape, tables = (len(questions), len(SAID), 3), {}
    for judge, part in met.groupby("voter", sort=True):
        cell = (shape, part["question"], part["said"], part["vote"])
        tables[str(judge)] = Tables(_sums(*cell), _sums(*cell, weights=part["others"]), between)
    total = judged.groupby("voter", sort=True)["said"]
    lost = total.agg(lambda said: int((said == SAID.index("unreadable")).sum()))
    names = tuple(map(str, questions))
    return Counted(names, tables, between, dict(total.size().items()), dict(lost.items()))


def _sums(shape: tuple[int, ...], *places: pd.Series, weights: pd.Series | None = None) -> np.ndarray:
    flat = np.ravel_multi_index([np.asarray(each, dtype=int) for each in places], shape)
    return np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).astype(float).reshape(shape)


def _check_votes(votes: pd.DataFrame) -> None:
    lacking = [name for name in VOTE_COLUMNS if name not in votes.columns]
    if lacking:
        raise ValueError(f"the votes lack {', '.join(lacking)}; they have {', '.join(map(str, votes.columns))}")
    odd = sorted({str(kind) for kind in votes["kind"]} - {"judge", "person"})
    if odd:
        raise ValueError(f"column 'kind' holds {', '.join(odd)}; expected judge or person")
    given = votes["verdict"].dropna()
    strange = sorted({str(verdict) for verdict in given} - set(VERDICTS))
    if strange:
        raise ValueError(f"column 'verdict' holds {', '.join(strange)}; expected {', '.join(VERDICTS)}, or nothing")
    empty = votes[(votes["kind"] == "person") & votes["verdict"].isna()]
    if len(empty):
        first = empty.iloc[0]
        raise ValueError(f"pair {first['pair']}: {first['voter']} voted nothing; leave out what people did not say")
    crossing = votes.groupby("pair")["question_id"].nunique()
    if (crossing > 1).any():
        raise ValueError(f"pair {crossing.idxmax()} belongs to {crossing.max()} questions; expected one")
    judged = votes[votes["kind"] == "judge"]
    twice = judged[judged.duplicated(["voter", "pair"])]
    if len(twice):
        first = twice.iloc[0]
        raise ValueError(f"pair {first['pair']}: {first['voter']} judged it twice; expected one verdict a judge")


GOLD_COLUMNS = ("question_id", "judge", "correct")
#: Of more judges than this the pairs to be compared must be named: nobody reads hundreds of differences.
MOST = 12


def accuracy(
    frame: pd.DataFrame,
    data: str,
    chance: float | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[Estimate]:
    """How often is each judge right, and is one right more often than another?

    `frame`, a row a verdict: question_id (the cluster), judge, correct (1 right, 0 wrong, NaN unreadable), optional
    outcome, source, category (of the question) and condition; each source and condition stands for itself.
    `gold_accuracy` (judge) of readable verdicts, `gold_accuracy_of_all` (judge; an unreadable one is wrong: the least
    it can be), `gold_unreadable_share` (judge), `gold_accuracy_by_category` (judge, category) where there are several,
    `gold_accuracy_difference` (judge, other; pp) of `pairs`, by default of all two judges up to MOST of them.
    Question-clustered t, stratified by category; p tests `chance` (0.5 where one of two answers must be named), or
    no difference. A missing column, a value of `correct` beyond 0 and 1, and an unknown judge in `pairs` are
    ValueErrors; no row gives no estimate.
    """
    _check(frame)
    keys = [name for name in ("source", "condition") if name in frame.columns and _several(frame, name)]
    groups = frame.groupby(keys, sort=False) if keys else [((), frame)]
    return [
        each
        for values, rows in groups
        for each in _of_group(rows, dict(zip(keys, map(str, values), strict=True)), data, chance, pairs)
    ]


def _several(frame: pd.DataFrame, name: str) -> bool:
    return name == "source" or frame[name].nunique() > 1


def _check(frame: pd.DataFrame) -> None:
    lacking = [name for name in GOLD_COLUMNS if name not in frame.columns]
    if lacking:
        raise ValueError(f"the frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    values = frame["correct"].dropna().astype(float)
    odd = values[(values < 0) | (values > 1)]
    if len(odd):
        raise ValueError(f"row {odd.index[0]}: column 'correct' holds {odd.iloc[0]:g}, expected 0 to 1, or nothing")


def _of_group(
    frame: pd.DataFrame, where: Mapping[str, str], data: str, chance: float | None, pairs: Sequence | None
) -> Iterator[Estimate]:
    strata = "category" if "category" in frame.columns and _one_each(frame) else None
    whole = frame.assign(least=frame["correct"].fillna(0.0), lost=frame["correct"].isna().astype(float))
    read, least, lost = (cluster_sums(whole, c, "question_id", "judge", strata) for c in ("correct", "least", "lost"))
    for at, judge in enumerate(read.columns):
        place = {**where, "judge": str(judge)}
        yield estimate("gold_accuracy", place, _one(read, at, chance), data)
        yield estimate("gold_accuracy_of_all", place, _one(least, at, None), data)
        yield estimate("gold_unreadable_share", place, _one(lost, at, None), data)
    if "category" in frame.columns and frame["category"].nunique() > 1:
        for category, rows in frame.groupby("category", sort=True):
            sums = cluster_sums(rows, "correct", "question_id", "judge")
            for at, judge in enumerate(sums.columns):
                place = {**where, "judge": str(judge), "category": str(category)}
                yield estimate("gold_accuracy_by_category", place, _one(sums, at, chance), data)
    asked = cluster_sums(whole.drop(columns="cluster", errors="ignore"), "correct", "question_id", "judge")
    of = clusters_of(whole.drop_duplicates("question_id").set_index("question_id", drop=False))
    unit = read.clusters.get_indexer(of.reindex(asked.clusters))
    for one, other in _pairs(read.columns, pairs):
        weights = np.zeros(len(read.columns))
        weights[read.columns.index(one)], weights[read.columns.index(other)] = 1.0, -1.0
        gap = _paired(asked, unit, weights, read.strata)
        yield estimate("gold_accuracy_difference", {**where, "judge": str(one), "other": str(other)}, gap, data, "pp")


def _one_each(frame: pd.DataFrame) -> bool:
    """Does every question have one category? Only then it is a stratum."""
    return bool((frame.groupby("question_id")["category"].nunique(dropna=False) == 1).all())


def _one(sums: Sums, at: int, null: float | None) -> Interval:
    return clustered(sums.numerators[:, at], sums.denominators[:, at], strata=sums.strata, null=null)


def _paired(sums: Sums, unit: np.ndarray, weights: np.ndarray, strata: np.ndarray | None) -> Interval:
    """The difference over the questions for which both judges have a readable verdict."""
    used = weights != 0
    both = (sums.denominators[:, used] > 0).all(axis=1)
    kept, codes = np.unique(unit[both], return_inverse=True)
    x, d = (added(each[both], codes) for each in (sums.numerators, sums.denominators))
    return clustered(x, d, weights, None if strata is None else strata[kept])


def _pairs(judges: Sequence[object], pairs: Sequence[tuple[str, str]] | None) -> list[tuple[object, object]]:
    if pairs is None:
        return list(combinations(judges, 2)) if len(judges) <= MOST else []
    unknown = sorted({judge for pair in pairs for judge in pair} - set(judges))
    if unknown:
        raise ValueError(f"no verdict of {', '.join(unknown)}; judges: {', '.join(map(str, judges))}")
    return list(pairs)


#: Which votes count: all (a tie is a verdict, an inconsistent verdict a tie), all but those that an inconsistent
#: verdict met, or only those where nobody said tie.
ALL, CONSISTENT, DECISIVE = "all", "consistent", "decisive"
Totals = tuple[np.ndarray, np.ndarray]


def agreement(votes: pd.DataFrame, data: str, seed: int = 42, resamples: int = 2000) -> list[Estimate]:
    """How far judges agree with people, and people with each other: by condition where there are several, and in all.

    `votes` as `counted` takes them, optional columns source and condition. `human_agreement` (judge, votes: all,
    consistent, decisive; `human_agreement_of_all`: unreadable verdicts agree with nobody), `human_human_agreement`
    (votes), `agreement_gap` (judge, votes; judge less people on the same votes, pp; where ties are left out
    these differ, as judges and people say tie of other pairs), `human_alpha` (judge) and
    `human_human_alpha` (Krippendorff, nominal), `vote_unreadable_share` (judge). `where` has source and condition where
    the frame has them. Question-clustered t; alpha: BCa over questions of `resamples` draws from `seed`.
    """
    found: list[Estimate] = []
    sources = votes.groupby("source", sort=False) if "source" in votes.columns else [(None, votes)]
    for source, part in sources:
        for condition, rows in _conditions(part):
            place = {"source": source, "condition": condition}
            where = {key: str(value) for key, value in place.items() if value is not None}
            found += of_counted(counted(rows), where, data, seed, resamples)
    return found


def _conditions(votes: pd.DataFrame) -> Iterator[tuple[str | None, pd.DataFrame]]:
    if "condition" not in votes.columns:
        yield None, votes
        return
    names = list(dict.fromkeys(votes["condition"]))
    if len(names) > 1:
        yield "all", votes
    for name in names:
        yield name, votes[votes["condition"] == name]


def of_counted(
    tables: Counted, where: Mapping[str, str], data: str, seed: int = 42, resamples: int = 2000
) -> list[Estimate]:
    """The estimates of `agreement` from the counts of one source and condition, as published counts have them."""
    found = []
    for judge, table in tables.judges.items():
        at = {**where, "judge": judge}
        for which in (ALL, CONSISTENT, DECISIVE):
            each = clustered(*judge_sums(table.votes, which), null=None)
            found.append(estimate("human_agreement", {**at, "votes": which}, each, data))
        agreed, _ = judge_sums(table.votes, ALL)
        of_all = clustered(agreed, table.votes.sum(axis=(1, 2)), null=None)
        found.append(estimate("human_agreement_of_all", at, of_all, data))
        for which in (ALL, DECISIVE):
            sums = zip(judge_sums(table.shared, which), people_sums(table.people, which), strict=True)
            gap = clustered(*(np.column_stack(columns) for columns in sums), [1.0, -1.0])
            found.append(estimate("agreement_gap", {**at, "votes": which}, gap, data, "pp"))
        found.append(estimate("human_alpha", at, alpha(_plain(table.votes), seed, resamples), data, "alpha"))
        if judge in tables.judged:
            found.append(_lost(tables, judge, at, data))
    for which in (ALL, DECISIVE):
        each = clustered(*people_sums(tables.people, which), null=None)
        found.append(estimate("human_human_agreement", {**where, "votes": which}, each, data))
    found.append(estimate("human_human_alpha", where, alpha(tables.people, seed, resamples), data, "alpha"))
    return found


def _lost(tables: Counted, judge: str, where: Mapping[str, str], data: str) -> Estimate:
    share = tables.lost[judge] / tables.judged[judge]
    counts = {"n": tables.judged[judge], "clusters": len(tables.questions)}
    return Estimate("vote_unreadable_share", dict(where), share, **counts, method="counted", data=data)


def _plain(votes: np.ndarray) -> np.ndarray:
    """(C, 3, 3) with inconsistent verdicts as ties and without unreadable ones."""
    table = votes[:, :3].copy()
    table[:, 1] += votes[:, 3]
    return table


def judge_sums(votes: np.ndarray, which: str) -> Totals:
    """(C,) agreeing votes and (C,) votes compared, of a judge's (C, 5, 3) table."""
    table = _plain(votes) if which == ALL else votes[:, :3]
    return people_sums(table, which)


def people_sums(table: np.ndarray, which: str) -> Totals:
    """(C,) agreeing and (C,) compared of a (C, 3, 3) table; decisive leaves out whatever met a tie."""
    kept = table[:, ::2, ::2] if which == DECISIVE else table
    return np.trace(kept, axis1=1, axis2=2), kept.sum(axis=(1, 2))


def alpha(table: np.ndarray, seed: int, resamples: int = 2000) -> Interval:
    """Krippendorff's alpha of the comparisons in a (C, 3, 3) table, each two ratings of a unit of its own.

    So a judge's alpha and people's are the same measure: agreement beyond what two raters with the verdicts of this
    very table would reach by chance. NaN where nothing is compared or one verdict alone was given. BCa over questions.
    """
    kept = table[table.sum(axis=(1, 2)) > 0]
    sums = (kept + kept.transpose(0, 2, 1)).reshape(len(kept), 9)
    n = round(kept.sum())
    if not n or np.isnan(alpha_of_coincidences(sums.sum(axis=0), "nominal")):
        reason = "undefined: only one verdict was ever given" if n else "no two voted on the same pair"
        return no_interval(float("nan"), n, len(kept), reason)
    return bca_totals(sums, lambda totals: alpha_of_coincidences(totals, "nominal"), n, seed, resamples)


LABEL_COLUMNS = ("question_id", "item", "judge", "predicted", "label")
#: What may be in the frame beside and is not to depend on being labelled.
KINDS = ("category", "condition", "candidate", "pair")


def people_rate(frame: pd.DataFrame, data: str, *, random_sample: bool) -> list[Estimate]:
    """How often would people say yes (a win, a pass) of all items, and how far is the judge from that?

    `frame`, a row an item and judge: question_id (the cluster), item, judge, predicted (the judge's value, 0 to 1; NaN
    unreadable), label (a person's, NaN where nobody labelled it), and any of KINDS. For each judge `people_rate` (the
    judge's mean corrected by the labels: prediction-powered), `people_rate_labels` (the labels alone),
    `people_rate_judge` (the judge alone, corrected by nothing). Where the labelled items are not said to be drawn at
    random (`random_sample`), or the frame contradicts it, `people_rate` has no number and `method` says why; where the
    judge lost verdicts, they are left out, and so are their labels. A missing column, an item twice and values beyond
    0 and 1 are ValueErrors.
    """
    lacking = [name for name in LABEL_COLUMNS if name not in frame.columns]
    if lacking:
        raise ValueError(f"the frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    for name in ("predicted", "label"):
        values = frame[name].dropna().astype(float)
        odd = values[(values < 0) | (values > 1)]
        if len(odd):
            raise ValueError(f"row {odd.index[0]}: column {name!r} holds {odd.iloc[0]:g}, expected 0 to 1, or nothing")
    return [
        each
        for judge, rows in frame.groupby("judge", sort=True)
        for each in _of_judge(rows, {"judge": str(judge)}, data, random_sample)
    ]


def _of_judge(rows: pd.DataFrame, where: dict[str, str], data: str, random_sample: bool) -> Iterator[Estimate]:
    table = rows[rows["predicted"].notna()].set_index("item")
    if not table.index.is_unique:
        twice = table.index[table.index.duplicated()][0]
        raise ValueError(f"item {twice}: judge {where['judge']} judged it twice; expected one verdict an item")
    kinds = [name for name in KINDS if name in table.columns]
    given = Labels(table["predicted"], table["label"].dropna(), clusters_of(table), table[kinds] if kinds else None)
    try:
        corrected = prediction_powered_mean(given, random_sample=random_sample)
    except NotRandomSample as refusal:
        corrected = no_interval(NAN, len(given.labels), clusters_of(table).nunique(), f"refused: {refusal}")
    yield estimate("people_rate", where, corrected, data)
    yield estimate("people_rate_labels", where, classical_mean(given), data)
    yield estimate("people_rate_judge", where, clustered_mean(table["predicted"], clusters_of(table)), data)
