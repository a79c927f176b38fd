"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..stats.agreement import alpha_of_coincidences
from ..stats.bootstrap import bca_totals
from ..stats.intervals import (
    NAN,
    Interval,
    cluster_sums,
    clustered,
    clustered_mean,
    clusters_of,
    column_weights,
    contrast,
    estimate,
    no_interval,
    t_interval,
)
from ..stats.prediction_powered import Labels, NotRandomSample, prediction_powered_mean
from ..stats.tests import holm
from ..types import Estimate
from ..words import LEVEL, lines
from ..words.numbers import text_of
from .protocol import Numbers, bare, by_source, conclusions, estimator, pick, span

VOTE_COLUMNS = ("question_id", "pair", "voter", "kind", "verdict", "outcome")
VERDICTS = ("first", "tie", "second")
#: What a judge may have said: a verdict, two orders that contradict each other, or nothing that can be read.
SAID = (*VERDICTS, "inconsistent", "unreadable")


@dataclass(frozen=True)
class Tables:
    """What a judge said, by question (C).

    `votes` (C, 5, 3): a judge's word (SAID) by each person's vote (VERDICTS) on the same pair. `shared`: the same, each
    vote as often as other people voted on that pair, so that judge and people answer for the same votes. `judged` and
    `lost` count its verdicts and those that cannot be read, on pairs with a vote or without.
    """

    votes: np.ndarray
    shared: np.ndarray
    judged: int
    lost: int


@dataclass(frozen=True)
class Counted:
    """The tables of one source and condition over so many questions: those of each judge, and of people.

    `people` (C, 3, 3): two different people on one pair, each two once, the lower verdict in the row.
    """

    questions: int
    judges: Mapping[str, Tables]
    people: np.ndarray


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
    voted = people[["pair", "voter"]].assign(vote=people["verdict"].map(VERDICTS.index), question=at[people.index])
    both = voted.merge(voted[["pair", "voter", "vote"]], on="pair", suffixes=("", "_other"))
    both = both[both["voter"] < both["voter_other"]]
    low, high = np.minimum(both["vote"], both["vote_other"]), np.maximum(both["vote"], both["vote_other"])
    between = _sums((len(questions), 3, 3), both["question"], low, high)
    # How many votes of other people each vote stands beside.
    own = voted.groupby(["pair", "voter"])["vote"].transform("size")
    voted = voted.assign(others=voted.groupby("pair")["vote"].transform("size") - own)
    judged = votes[votes["kind"] == "judge"]
    verdict = judged["verdict"].where(judged["verdict"].notna(), judged["outcome"])
    words = verdict.map(lambda word: SAID.index(word) if word in SAID else SAID.index("unreadable"))
    judged = judged.assign(said=words)
    met = judged[["pair", "voter", "said"]].merge(voted, on="pair", suffixes=("", "_person"))
    shape, tables, unread = (len(questions), len(SAID), 3), {}, SAID.index("unreadable")
    for judge, part in met.groupby("voter", sort=True):
        cell = (shape, part["question"], part["said"], part["vote"])
        every = judged.loc[judged["voter"] == judge, "said"]
        lost = int((every == unread).sum())
        tables[str(judge)] = Tables(_sums(*cell), _sums(*cell, weights=part["others"]), len(every), lost)
    return Counted(len(questions), tables, between)


def _sums(shape: tuple[int, ...], *places: pd.Series, weights: pd.Series | None = None) -> np.ndarray:
    flat = np.ravel_multi_index([np.asarray(each, dtype=int) for each in places], shape)
    return np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).astype(float).reshape(shape)


def _check_columns(table: pd.DataFrame, columns: Sequence[str], what: str, shares: Sequence[str] = ()) -> None:
    """Refuse (ValueError) a table without one of these columns, or with a share beyond 0 and 1."""
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise ValueError(f"{what}: lacks {', '.join(lacking)}; it has {', '.join(map(str, table.columns))}")
    for name in shares:
        values = table[name].dropna().astype(float)
        odd = values[(values < 0) | (values > 1)]
        if len(odd):
            raise ValueError(f"row {odd.index[0]}: column {name!r} holds {odd.iloc[0]:g}, expected 0 to 1, or nothing")


def _check_votes(votes: pd.DataFrame) -> None:
    _check_columns(votes, VOTE_COLUMNS, "votes")
    kinds, verdicts = ("kind", votes["kind"], "judge", "person"), ("verdict", votes["verdict"].dropna(), *VERDICTS)
    for (name, words, *valid), more in ((kinds, "judge or person"), (verdicts, f"{', '.join(VERDICTS)}, or nothing")):
        if odd := sorted({*map(str, words)} - {*valid}):
            raise ValueError(f"column {name!r} holds {', '.join(odd)}; expected {more}")
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


@estimator("accuracy")
def accuracy(
    frame: pd.DataFrame, chance: float | None = None, pairs: Sequence[tuple[str, str]] | None = None
) -> Numbers:
    """How often is each judge right, and is one right more often than another?

    `frame`, a row a verdict: question_id (the cluster), judge, correct (1 right, 0 wrong, NaN unreadable), optional
    source, category (of the question) and condition; each source and condition stands for itself. Differences are those
    of `pairs`, by default of all two judges up to MOST of them. p tests `chance` (0.5 where one of two answers must be
    named), or no difference. A missing column, a value of `correct` beyond 0 and 1, and an unknown judge in `pairs` are
    ValueErrors; no row gives no estimate.
    """
    _check_columns(frame, GOLD_COLUMNS, "gold labels", ["correct"])
    keys = [at for at in ("source", "condition") if at in frame and (at == "source" or frame[at].nunique() > 1)]
    for values, rows in frame.groupby(keys, sort=False) if keys else [((), frame)]:
        yield from _of_group(rows, dict(zip(keys, map(str, values), strict=True)), chance, pairs)


def _of_group(frame: pd.DataFrame, where: Mapping[str, str], chance: float | None, pairs: Sequence | None) -> Numbers:
    # A category is a stratum only where every question has one.
    apart = "category" in frame and (frame.groupby("question_id")["category"].nunique(dropna=False) == 1).all()
    strata = "category" if apart else None
    bounded = frame.assign(least=frame["correct"].fillna(0.0), lost=frame["correct"].isna().astype(float))
    read, least, lost = (cluster_sums(bounded, c, "question_id", "judge", strata) for c in ("correct", "least", "lost"))
    for judge, weights in column_weights(read, average=False).items():
        place = {**where, "judge": judge}
        yield "gold_accuracy", place, contrast(read, weights, null=chance)
        yield "gold_accuracy_of_all", place, contrast(least, weights, null=None)
        yield "gold_unreadable_share", place, contrast(lost, weights, null=None)
    if "category" in frame.columns and frame["category"].nunique() > 1:
        for category, rows in frame.groupby("category", sort=True):
            sums = cluster_sums(rows, "correct", "question_id", "judge")
            for judge, weights in column_weights(sums, average=False).items():
                place = {**where, "judge": judge, "category": str(category)}
                yield "gold_accuracy_by_category", place, contrast(sums, weights, null=chance)
    strata = strata if read.strata is not None else None
    for one, other in _pairs(read.columns, pairs):
        both = bounded[bounded["judge"].isin([one, other]) & bounded["correct"].notna()]
        shared = both[both.groupby("question_id")["judge"].transform("nunique") == 2]
        sums = cluster_sums(shared, "correct", "question_id", "judge", strata)
        gap = contrast(sums, [1.0 if judge == one else -1.0 for judge in sums.columns])
        yield "gold_accuracy_difference", {**where, "judge": str(one), "other": str(other)}, gap


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


@estimator("accuracy")
def agreement(votes: pd.DataFrame, seed: int = 42, resamples: int = 2000) -> Numbers:
    """How far judges agree with people, and people with each other: by condition where there are several, and in all.

    `votes` as `counted` takes them, optional columns source and condition, which are then in `where`, beside judge and
    votes (ALL, CONSISTENT, DECISIVE). Alpha (Krippendorff, nominal): BCa over questions of `resamples` draws.
    """
    for source, part in votes.groupby("source", sort=False) if "source" in votes else [(None, votes)]:
        names = list(dict.fromkeys(part["condition"])) if "condition" in part else [None]
        for condition in ["all", *names] if len(names) > 1 else names:
            rows = part if condition in ("all", None) else part[part["condition"] == condition]
            place = {"source": source, "condition": condition}
            where = {key: str(value) for key, value in place.items() if value is not None}
            yield from of_counted(counted(rows), where, seed, resamples)


def of_counted(tables: Counted, where: Mapping[str, str], seed: int = 42, resamples: int = 2000) -> Numbers:
    """The numbers of `agreement` from the counts of one source and condition, as published counts have them."""
    for judge, table in tables.judges.items():
        at = {**where, "judge": judge}
        for which in (ALL, CONSISTENT, DECISIVE):
            yield "human_agreement", {**at, "votes": which}, clustered(*judge_sums(table.votes, which), null=None)
        agreed, _ = judge_sums(table.votes, ALL)
        yield "human_agreement_of_all", at, clustered(agreed, table.votes.sum(axis=(1, 2)), null=None)
        for which in (ALL, DECISIVE):
            sums = zip(judge_sums(table.shared, which), people_sums(tables.people, which), strict=True)
            gap = clustered(*map(np.column_stack, sums), [1.0, -1.0])  # type: ignore
            yield "agreement_gap", {**at, "votes": which}, gap
        yield "human_alpha", at, alpha(_plain(table.votes), seed, resamples)
        lost = no_interval(table.lost / table.judged, table.judged, tables.questions, "counted")
        yield "vote_unreadable_share", at, lost
    for which in (ALL, DECISIVE):
        each = clustered(*people_sums(tables.people, which), null=None)
        yield "human_human_agreement", {**where, "votes": which}, each
    yield "human_human_alpha", where, alpha(tables.people, seed, resamples)


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
    unreadable, which leaves out the label too), label (a person's, or NaN), and any of KINDS. Where there is a column
    `candidate`, each has its own numbers, by its own labels: no error that differs between candidates can turn their
    order. `own` marks answers of the judge's own vendor beside those of others. Where the labelled items are not said
    to be drawn at random (`random_sample`), or the frame contradicts it, `people_rate` has no number and `method` says
    why. A missing column, an item twice and values beyond 0 and 1 are ValueErrors.
    """
    _check_columns(frame, LABEL_COLUMNS, "labels", ["predicted", "label"])
    keys, found = ["judge", *({"candidate"} & {*frame})], list[Estimate]()
    frame = frame.assign(gap=frame["predicted"] - frame["label"], own=frame.get("own", False))
    frame = frame[frame["predicted"].notna()]
    for names, rows in frame.groupby(keys, sort=True, observed=True):
        where, table = dict(zip(keys, map(str, names), strict=True)), rows.set_index("item")
        if not table.index.is_unique:
            twice = table.index[table.index.duplicated()][0]
            raise ValueError(f"item {twice}: judge {where['judge']} judged it twice; expected one verdict an item")
        kinds, clusters = table[[name for name in KINDS if name in table]], clusters_of(table)
        labels = Labels(table["predicted"], table["label"].dropna(), clusters, kinds)
        try:
            corrected = prediction_powered_mean(labels, random_sample=random_sample)
        except NotRandomSample as refusal:
            corrected = no_interval(NAN, len(labels.labels), clusters.nunique(), f"refused: {refusal}")
        found.append(estimate("people_rate", where, corrected, data))
        for id, name in (("people_rate_labels", "label"), ("people_rate_judge", "predicted"), ("people_gap", "gap")):
            interval, unit = clustered_mean(table[name], clusters), "pp" if name == "gap" else "rate"
            found.append(estimate(id, where, interval, data, unit))
    for judge, rows in frame[frame["own"]].groupby("judge", sort=True, observed=True):
        interval = clustered_mean(rows["gap"], clusters_of(rows))
        found.append(estimate("people_gap_own", {"judge": str(judge)}, interval, data, "pp"))
    return found


# --- published counts: every source for itself -----------------------------------------------------------------------

#: What became of a verdict on an instance with a known better answer, in the order of the counts.
RIGHT, WRONG, UNREADABLE = "right", "wrong", "unreadable"
MADE = (RIGHT, WRONG, UNREADABLE)


def counted_of(block: Mapping[str, Any]) -> Counted:
    """The tables of `counted` from the cells of published/counts.yaml.

    A cell is a list with a number a question, one that never occurs is left out: of people "first tie", of a judge
    "said vote". Where every vote stands beside the same number of other people's, that number, `others`, stands in
    place of `shared`.
    """
    size = block["questions"]
    people = _table(block["people"], size, VERDICTS)
    judges = {}
    for judge, cells in block["judges"].items():
        table = _table(cells["votes"], size, SAID)
        shared = table * cells["others"] if "others" in cells else _table(cells["shared"], size, SAID)
        judges[judge] = Tables(table, shared, cells["judged"], cells["lost"])
    return Counted(size, judges, people)


def together(parts: Sequence[Counted]) -> Counted:
    """All conditions of the same questions and judges as one."""
    first, names = parts[0], [each.name for each in fields(Tables)]
    judges = {
        judge: Tables(*(sum(getattr(each.judges[judge], name) for each in parts) for name in names))
        for judge in first.judges
    }
    return Counted(first.questions, judges, np.sum([each.people for each in parts], axis=0))


def _table(cells: Mapping[str, Sequence[int]], size: int, rows: Sequence[str]) -> np.ndarray:
    table = np.zeros((size, len(rows), len(VERDICTS)))
    for cell, counts in cells.items():
        row, _, column = cell.partition(" ")
        table[:, rows.index(row), VERDICTS.index(column)] = counts
    return table


BOTH_ORDERS, ITEMS, VOTES = "both_orders", "items", "votes"
#: The part of a category's name before the slash, all of its parts together.
POOLED = "Adversarial"
#: One of two outputs must be named.
CHANCE = 0.5


@estimator("accuracy", "published")
def published(counts: Mapping[str, Any]) -> Numbers:
    """All numbers that the counts in published/counts.yaml determine; `where` has source, and no two are pooled.

    Of instances judged in both orders what `accuracy` gives, against chance, and differences where joint counts are
    kept; of items with a majority of three people the same without chance, and as printed; of votes what `agreement`
    gives, and `labelled_share` of each pair of models.
    """
    for name, block in counts.items():
        if name == "released":
            yield from _of_recent(block)
            continue
        source = {"source": block["name"]}
        if BOTH_ORDERS in block:
            yield from _of_both_orders(block, source)
        if ITEMS in block:
            yield from _of_items(block[ITEMS], source)
        if VOTES in block:
            tables = {condition: counted_of(each) for condition, each in block[VOTES].items()}
            every = {"all": together(list(tables.values()))} if len(tables) > 1 else {}
            for condition, each in (every | tables).items():
                yield from of_counted(each, {**source, "condition": condition})
        for pair, (seen, total) in block.get("labelled", {}).items():
            yield "labelled_share", {**source, "pair": pair}, bare(seen / total, total)


def _of_recent(block: Mapping[str, Any]) -> Numbers:
    """The numbers `released_*` of recent judges beside people and gold; `where` says how ties count."""
    for name, source in block["counts"].items():
        for judge, row in source["judges"].items():
            where = {"source": name, "judge": judge, "released": row["released"]}
            for gain in row.get("gains", ()):
                at = where | {"temperature": gain["temperature"]}
                for key in ("right", "ties wrong", "ties shared"):
                    (total, squares), n = gain[key], gain["items"]
                    se = math.sqrt((squares - total**2 / n) / (n - 1) / n)
                    interval = t_interval(total / n, se, n - 1, n, n, "t over items")
                    id = "released_accuracy" if key == "right" else "released_ensembling_gain"
                    yield id, at if key == "right" else at | {"ties": key}, interval
            if "picks" in row:
                people = source["people"][row["model"]]
                why = "no interval: printed as shares"
                for ties, size in (("people's ties not picked", people["votes"]), ("decided votes", people["decided"])):
                    gap = bare(row["picks"] / 100 - people["wins"] / size, size, why)
                    yield "released_family_gap", where | {"ties": ties}, gap


def _of_both_orders(block: Mapping[str, Any], source: Mapping[str, str]) -> Numbers:
    frame = pd.concat([_verdicts(judge, grids, source) for judge, grids in block[BOTH_ORDERS].items()])
    # Counts do not tell which instance is which: every judge has its own, and no two are compared.
    yield from accuracy(frame, "published", CHANCE, pairs=())
    pooled = frame[frame["category"].str.startswith(POOLED)]
    found = accuracy(pooled.drop(columns="category"), "published", CHANCE, pairs=())
    for each in found:
        if each.id == "gold_accuracy":
            yield replace(each, id="gold_accuracy_by_category", where={**each.where, "category": POOLED})
    for names, cells in block.get("joint", {}).items():
        one, other = names.split()
        x, d, strata = _joint(cells)
        gap = clustered(x, d, [1.0, -1.0], strata)
        yield "gold_accuracy_difference", {**source, "judge": one, "other": other}, gap


def _verdicts(judge: str, grids: Mapping[str, Any], source: Mapping[str, str]) -> pd.DataFrame:
    """A row a verdict; the instances of each judge and category are numbered."""
    values = {RIGHT: 1.0, UNREADABLE: float("nan")}
    rows = []
    for category, grid in grids.items():
        cells = [(i, j) for i, row in enumerate(grid) for j, count in enumerate(row) for _ in range(count)]
        for at, cell in enumerate(cells):
            rows += [(f"{judge} {category} {at}", category, values.get(MADE[kind], 0.0)) for kind in cell]
    return pd.DataFrame(rows, columns=["question_id", "category", "correct"]).assign(judge=judge, **source)


def _joint(cells: Mapping[str, Mapping[str, int]]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """(C, 2) right and readable verdicts of two judges, an instance a row, and the category of each."""
    right, read, strata = [], [], []
    for category, counts in cells.items():
        for cell, count in counts.items():
            parts = np.array([part.split("/") for part in cell.split()], dtype=float)
            # As for verdicts themselves: an instance that one of them lost altogether is no comparison.
            if (parts[:, 1] > 0).all():
                right += [parts[:, 0]] * count
                read += [parts[:, 1]] * count
                strata += [category] * count
    return np.array(right), np.array(read), strata


def _of_items(block: Mapping[str, Any], source: Mapping[str, str]) -> Numbers:
    rows = [
        (str(question), judge, value)
        for judge, sums in block["judges"].items()
        for question, (items, right, read) in enumerate(zip(block["items"], sums["right"], sums["read"], strict=True))
        for value in [1.0] * right + [0.0] * (read - right) + [float("nan")] * (items - read)
    ]
    frame = pd.DataFrame(rows, columns=["question_id", "judge", "correct"]).assign(**source)
    yield from accuracy(frame, "published")
    items = np.array(block["items"])
    for judge, right in block.get("right_as_printed", {}).items():
        yield "gold_accuracy_as_printed", {**source, "judge": judge}, clustered(np.array(right), items, null=None)


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line of `accuracy` and `agreement`: the numbers of each judge, then who is right more often than whom.

    Holm's correction runs over all differences, and over all gaps between judges and people.
    """
    ids = ["gold_accuracy", "gold_accuracy_of_all", "gold_unreadable_share", "human_agreement", "human_alpha"]
    ids += ["agreement_gap", "human_human_agreement", "people_rate", "people_rate_judge", "people_rate_labels"]
    ids += ["people_gap", "people_gap_own"]
    found = [e for e in conclusions("accuracy", estimates, *ids) if e.estimate.where.get("votes", "all") == "all"]
    differences = conclusions("accuracy", estimates, "gold_accuracy_difference")
    shown = [each for each in differences if each.verdict == "bias"]
    none = f"- No difference between judges is shown, of {len(differences)} asked for."
    parts = [lines([*found, *shown], "{judge} {source} {condition}"), none if differences and not shown else ""]
    return "\n".join(filter(None, parts)) or "No gold labels and no votes of people: nothing can be said."


def released_finding(block: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """What is left of two published claims on recent judges once ties are counted alike, source by source."""
    found = conclusions("accuracy", estimates, "released_family_gap", "released_accuracy", "released_ensembling_gain")
    return f"{text_of('accuracy', 'released')}\n\n{by_source(block, found)}"


def published_finding(estimates: Sequence[Estimate]) -> str:
    """What published verdicts say: how judges fare where the better answer is known, and beside people.

    `estimates` is what `published` makes of published/counts.yaml.
    """
    by = {name: pick(estimates, source=name) for name in ("LLMBar", "PandaLM")}
    prompts = conclusions("accuracy", by["LLMBar"], "gold_accuracy_difference")
    stand = lines([each for each in prompts if each.verdict == "bias"]) or "- none"
    ids = ["gold_accuracy", "gold_unreadable_share", "gold_accuracy_as_printed", "gold_accuracy_difference"]
    majority = lines(conclusions("accuracy", by["PandaLM"], *ids))
    votes = [each for each in estimates if each.where.get("condition") in ("all", "none")]
    ids = ["human_agreement", "human_human_agreement", "agreement_gap"]
    kept = ("all", "decisive")
    people = [e for e in conclusions("accuracy", votes, *ids) if e.estimate.where["votes"] in kept]
    parts = {
        _adversarial(by["LLMBar"]): "",
        f"Of {len(prompts)} differences that a prompt makes for the same evaluator (reasons first, or both orders "
        "reconciled, against the plain one) those that stand after Holm": stand if prompts else "",
        "**PandaLM** (what most of three people say, ties a verdict)": majority,
        "**People.** How often a judge says what a person says of the same pair; where nobody said tie these are "
        "other votes for a judge than for people": lines(people, "{judge} {source}"),
        _labels(estimates): "",
    }
    return "\n\n".join(
        f"{head}:\n\n{body}" if body else head for head, body in parts.items() if body or head[-1:] == "."
    )


def _adversarial(estimates: Sequence[Estimate]) -> str:
    """Judges on easy instances and on those made to mislead."""
    easy, hard = (pick(estimates, "gold_accuracy_by_category", category=name) for name in ("Natural", POOLED))
    if not hard:
        return ""
    sure = [each for each, p in zip(hard, holm([each.p for each in hard]), strict=True) if p < LEVEL]
    below = [each for each in sure if each.value < CHANCE]
    worst = Counter(each.where["judge"].partition("/")[0] for each in below)
    whose = f" ({', '.join(f'{name} {count}' for name, count in worst.items())})" if below else ""
    best = max(hard, key=lambda each: each.value)
    easier, harder = (span([each.value for each in group]) for group in (easy, hard))
    return (
        f"**LLMBar** (the better of two outputs is known; {len(hard)} evaluators with their prompts). On "
        f"{max(each.clusters for each in easy)} natural instances they are right in {easier}. On "
        f"{max(each.clusters for each in hard)} instances whose worse output is the more seductive one, in "
        f"{harder}: **{len(below)} of {len(hard)} are right less often than a coin**{whose}, "
        f"{len(sure) - len(below)} more often, {len(hard) - len(sure)} cannot be told from one (Holm over "
        f"{len(hard)}). The best there is {best.where['judge']} with {best}."
    )


def _labels(estimates: Sequence[Estimate]) -> str:
    """Why verdicts are not corrected by these votes, and what agreement does not show."""
    spread = ""
    if shares := pick(estimates, "labelled_share"):
        source, covered = shares[0].where["source"], span([each.value for each in shares])
        spread = text_of("accuracy", "no_sample").format(source=source, shares=covered) + " "
    return f"**Limits.** {spread}{text_of('accuracy', 'limits')}"
