"""A tidy file of verdicts: read, checked, and put into the frame of its style."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from .. import datasets, frames
from ..biases.position.both_orders import SIGNS
from ..datasets.questions import UNKNOWN
from ..datasets.reading import LONGEST_NAME, short_name
from ..types import Estimate
from ..verdicts.forms import NUMBER
from . import reading
from .cells import (
    Cells,
    Parsed,
    Row,
    cells,
    combined,
    judge_vendors,
    labels,
    once,
    read_each,
    repeats,
    vendors,
)
from .reading import Raw, read, texts

#: How verdicts are given, with the words for it.
STYLES = {"pairwise": "verdicts on two answers", "ranking": "rankings", "score": "scores"}


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a file in the frame of their style, and what the file told.

    `frame`: of pairwise the games frame with `ordered` (whether the shown order is known), `won` (what the candidate
    won: 1, 0, 1/2 or a share) and `gold` (what it should have); of rankings the listwise frame with `gold` (the best
    candidate); of scores one row a score (question_id, category, judge, judge_vendor, candidate, candidate_vendor,
    condition, repeat, score, gold, length, outcome). `columns` are those of the tidy format that the file told.
    `counts` has a row a judge, condition and verdict as it was written (n). `baseline`: whether all candidates were
    compared with one and the same. `extra` are numbers that this format alone tells.
    """

    style: str
    format: str
    name: str
    frame: pd.DataFrame
    columns: frozenset[str]
    counts: pd.DataFrame
    baseline: bool = False
    notes: tuple[str, ...] = ()
    extra: tuple[Estimate, ...] = field(default=())


#: Who stands first, as the games frame says it.
FIRSTS = ("baseline", "candidate")


def sides(shown: list[tuple[str, ...]]) -> tuple[list[tuple[str, str]], bool]:
    """Baseline and candidate of each pair, and whether one name is the baseline of all.

    That is the name that stands in every pair, the first by name where two do; else of each pair the first by name. The
    same text twice is no pair of names.
    """
    names = [set(pair) for pair in shown if pair[0] != pair[1]] or [set(shown[0])]
    common = set.intersection(*names)
    if common:
        base = min(common)
        return [pair if pair[0] == pair[1] else (base, pair[pair[0] == base]) for pair in shown], True
    return [(min(pair), max(pair)) for pair in shown], False


def pairwise(cells: Cells, name: str, filled: frozenset[str]) -> Verdicts:
    """The games frame of a tidy file, with `ordered`, `won` and `gold`; a label on other than 2 is an error."""
    raw, at = cells.raw, cells.at
    for number, row in enumerate(cells.rows):
        if len(row.shown) != 2:
            found = f"a label is a verdict on 2 candidates, found {len(row.shown)}"
            raise ValueError(f"{raw.place(int((at == number).argmax()))}: {found}")
    pairs, baseline = sides([row.shown for row in cells.rows])
    turned = [row.shown[0] != base for row, (base, _) in zip(cells.rows, pairs, strict=True)]
    frame = _spread(cells, [_game(*each) for each in zip(cells.rows, pairs, turned, strict=True)], at)
    base, candidate = (frame[side].cat.codes for side in ("baseline", "candidate"))
    twin = (frame["baseline"].astype(object) == frame["candidate"].astype(object)).to_numpy()
    who = [frame[name].cat.codes for name in ("judge", "question_id")]
    who = [*who, base, candidate, frame["condition"].cat.codes, frame["repeat"]]
    who = [code.to_numpy(dtype=np.int64) for code in who]
    # The same text twice has no order: its first asking counts as game 1, its second as game 2.
    group = combined(who)[1]
    asking = pd.Series(group).groupby(group).cumcount().to_numpy()
    second = np.where(twin, asking % 2, np.array(turned)[at])
    once(raw.place, [*who, np.where(twin, asking, second)], "the same pair by the same judge in the same order")
    side, condition = np.where(second == 1, 1.0, -1.0), frame["condition"]
    if twin.any():
        condition = condition.astype(object).mask(twin, "identical").astype("category")
    frame = frame.assign(
        condition=condition,
        source=pd.Categorical([name]).repeat(len(frame)),
        judge_model=frame["judge"],
        first=pd.Categorical.from_codes(second, list(FIRSTS)),
        games=np.bincount(group)[group],
        score=frame["verdict"],
        won=(side * frame["won"] + 1) / 2,
        gold=(side * frame["gold"] + 1) / 2,
    )
    if "length" not in raw.table:
        frame = frame.drop(columns=["length_baseline", "length_candidate"])
    return Verdicts("pairwise", "tidy", name, frame, filled, counts(frame), baseline)


def _game(row: Row, pair: tuple[str, str], turned: bool) -> dict[str, object]:
    """What a row says of a pair; of `won` and `gold` the sign, above 0 for whoever stands first."""
    lengths = row.lengths[::-1] if turned else row.lengths
    signs = {
        name: SIGNS[each.value] if each.style == "label" else np.nan
        for name, each in (("won", row.verdict), ("gold", row.gold))
    }
    names = {"baseline": pair[0], "candidate": pair[1], "verdict": row.verdict.value if row.verdict.style else None}
    both = {"length_baseline": lengths[0], "length_candidate": lengths[1]}
    return names | signs | both | {"ordered": row.ordered, "outcome": row.verdict.outcome}


def both_orders(cells: Cells) -> bool:
    """Whether these are scores of pairs alone, and some pair was judged in both orders by one judge."""
    shown = {row.shown for row in cells.rows}
    pairs = all(len(pair) == 2 and pair[0] != pair[1] for pair in shown)
    return pairs and any(pair[::-1] in shown for pair in shown)


def scored(cells: Cells, name: str, filled: frozenset[str]) -> Verdicts:
    """Scores of both answers of each pair as the games frame: the higher one wins, and the scores stand beside it.

    `score_baseline` and `score_candidate`; `gap` is the score of the first answer less that of the second. Askings are
    counted within each order.
    """
    labelled = [row._replace(verdict=_higher(row.verdict), gold=_higher(row.gold)) for row in cells.rows]
    file = pairwise(replace(cells, raw=_asked_within(cells), rows=labelled), name, filled)
    first, second = np.array([row.verdict.value or (np.nan, np.nan) for row in cells.rows])[cells.at].T
    turned = (file.frame["first"] == FIRSTS[1]).to_numpy()
    frame = file.frame.assign(
        gap=np.where(file.frame["ordered"], first - second, np.nan),
        score_baseline=np.where(turned, second, first),
        score_candidate=np.where(turned, first, second),
    )
    note = (
        "Two scores a row on pairs in both orders: the higher one wins; the place effect is reported in points as well."
    )
    return replace(file, frame=frame, notes=(*file.notes, note))


def _higher(score: Parsed) -> Parsed:
    """The label that two scores stand for; a score that is not there makes none."""
    if score.style != "scores":
        return score
    gap = score.value[0] - score.value[1]
    label = "A>B" if gap > 0 else "B>A" if gap < 0 else "A=B"
    return Parsed("label", label) if gap == gap else Parsed("", None, "unparsed")


def _asked_within(cells: Cells) -> Raw:
    """The file with the askings of each pair counted within each order, where its `repeat` counts both orders."""
    raw = cells.raw
    if "repeat" not in raw.table:
        return raw
    names = [each for each in ("judge", "question", "condition") if each in raw.table]
    shown = pd.factorize(pd.Series([row.shown for row in cells.rows]))[0][cells.at]
    keys = pd.DataFrame({each: raw.table[each].cat.codes for each in names} | {"shown": shown})
    rank = keys.assign(repeat=repeats(raw)).groupby([*keys], sort=False)["repeat"].rank(method="dense")
    return replace(raw, table=raw.table.assign(repeat=pd.Categorical(rank.astype(int).sub(1).astype(str))))


def counts(frame: pd.DataFrame, value: str = "score") -> pd.DataFrame:
    """How often each judge gave each verdict as it is written, and each outcome without one: `Verdicts.counts`."""
    verdicts = frame[value].astype(object)
    verdicts = verdicts.where(frame["outcome"].astype(object) == "ok", frame["outcome"].astype(object))
    keys = [frame["judge"], frame["condition"], verdicts.rename("verdict")]
    return frame.groupby(keys, observed=True, sort=True).size().rename("n").reset_index()


#: Columns of the frames that are names.
NAMED = ("baseline", "candidate", "baseline_vendor", "candidate_vendor", "verdict", "outcome", "label")


def _spread(
    cells: Cells, records: list[dict[str, object]], at: np.ndarray, row: np.ndarray | None = None
) -> pd.DataFrame:
    """The columns of all frames: `records`, by their places `at`, and what the file says of judgments, by its `row`."""
    raw, made = cells.raw, vendors(cells)
    table = pd.DataFrame(records)
    for side in {"baseline", "candidate"} & {*table}:
        table[f"{side}_vendor"] = table[side].map(made.get)
    table = table.astype(dict.fromkeys([name for name in NAMED if name in table], "category"))
    judgments = {
        "experiment": "analyze",
        "question_id": labels(raw, "question", None),
        "category": labels(raw, "category", UNKNOWN),
        "judge": labels(raw, "judge", None),
        "judge_vendor": judge_vendors(raw),
        "condition": labels(raw, "condition", "none"),
        "repeat": repeats(raw),
    }
    judged = pd.DataFrame(judgments) if row is None else pd.DataFrame(judgments).take(row)
    return pd.concat([judged.reset_index(drop=True), table.take(at).reset_index(drop=True)], axis=1)


def _listed(cells: Cells, fields: Callable[[Row, int], dict[str, object]]) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame with one row a judgment and candidate, with what `fields` says of each, and the rows of the file.

    No candidate may be judged twice by one judge on one question under one condition in one asking.
    """
    sizes = np.array([len(each.shown) for each in cells.rows])
    records = [
        {"candidate": name, "length": each.lengths[slot], "slot": slot, **fields(each, slot)}
        for each in cells.rows
        for slot, name in enumerate(each.shown)
    ]
    row = np.repeat(np.arange(len(cells.at)), sizes[cells.at])
    start = np.cumsum(sizes[cells.at]) - sizes[cells.at]
    at = (np.cumsum(sizes) - sizes)[cells.at[row]] + np.arange(len(row)) - start[row]
    frame = _spread(cells, records, at, row).astype({"length": float})
    key = [frame[name].cat.codes for name in ("judge", "question_id", "candidate", "condition")]
    key = [code.to_numpy(dtype=np.int64) for code in [*key, frame["repeat"]]]
    once(lambda number: cells.raw.place(int(row[number])), key, "the same answer by the same judge")
    return frame, row


def rankings(cells: Cells, name: str, filled: frozenset[str]) -> Verdicts:
    """The listwise frame of a tidy file of rankings, with `gold`: the name of the answer that should be first."""

    def one(row: Row, slot: int) -> dict[str, object]:
        rank = row.verdict.value.index(slot) + 1.0 if row.verdict.style else np.nan
        gold = float(slot == row.gold.value[0]) if row.gold.style == "ranking" else np.nan
        label = string.ascii_uppercase[slot : slot + 1] if row.ordered else ""
        place = {"slot": slot if row.ordered else np.nan, "label": label or None, "named": row.named[slot]}
        return place | {"rank": rank, "gold": gold, "outcome": row.verdict.outcome}

    frame, row = _listed(cells, one)
    words = {name: frame[name].astype(object) for name in ("judge", "judge_vendor", "candidate", "candidate_vendor")}
    same_vendor = words["judge_vendor"] == words["candidate_vendor"]
    frame = frame.assign(
        judge_tier="",
        judge_model=None,
        candidate_tier="",
        candidate_model=None,
        score=np.nan,
        top=(frame["rank"] == 1.0).astype(float).where(frame["rank"].notna()),
        contradicts=False,
        own_vendor=same_vendor,
        own_model=same_vendor & (words["judge"] == words["candidate"]),
    )
    best = frame["top"] == 1.0
    first = pd.Series(words["candidate"][best].to_numpy(), index=row[best])
    heads = frame[np.diff(row, prepend=-1) > 0]
    heads = heads.assign(first=first.reindex(range(len(heads))).to_numpy())
    return Verdicts("ranking", "tidy", name, frame, filled, counts(heads, "first"))


def scores(cells: Cells, name: str, filled: frozenset[str]) -> Verdicts:
    """One row a score of a tidy file; a score that is null has the outcome of its row, or else "unparsed"."""

    def one(row: Row, slot: int) -> dict[str, object]:
        score, gold = (each.value[slot] if each.style == "scores" else np.nan for each in (row.verdict, row.gold))
        lost = row.verdict.outcome == "ok" and np.isnan(score)
        return {"score": score, "gold": gold, "outcome": "unparsed" if lost else row.verdict.outcome}

    frame, _ = _listed(cells, one)
    frame = frame.drop(columns="slot")
    marked = frame.assign(written=np.where(frame["score"].isna(), None, "a score"))
    return Verdicts("score", "tidy", name, frame, filled, counts(marked, "written"))


SHAPES = {"label": pairwise, "ranking": rankings, "scores": scores}


def load_tidy(
    path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None, positive: str = ""
) -> Verdicts:
    """The verdicts of a tidy file (columns: `columns.ALL`, or `names` in their place), in the frame of their style.

    `positive`: verdicts are grades around 0, and those above it are for the answer shown "first" (or "second").
    Two scores a row on one pair in both orders are verdicts on the pair: the higher one wins. Everything is checked
    before anything is computed: columns, names, verdicts, one style a file, no asking twice. A ValueError names file,
    line and field, what was found and what is valid.
    """
    raw = read(path, ignore_extra, names)
    for name in ("judge", "question"):
        empty = raw.table[name].isna().to_numpy()
        if empty.any():
            raise ValueError(f"{raw.place(int(empty.argmax()))}: {name} is empty")
    raw, notes = _questions(_graded(raw, positive))
    found = cells(raw)
    filled = frozenset(name for name in reading.ALL if name in raw.table and raw.table[name].notna().any())
    shape = scored if found.style == "scores" and both_orders(found) else SHAPES[found.style]
    file = shape(found, path.name.removesuffix(".gz").rpartition(".")[0], filled)
    clusters, words = _clusters(raw)
    frame = frames.with_clusters(file.frame, clusters)
    most = frames.dominance_words(frame["cluster"])
    return replace(
        file, frame=frame, notes=(*file.notes, *notes, *_ties(raw, found.style), *words, *filter(None, [most]))
    )


def _graded(raw: Raw, positive: str) -> Raw:
    """The file with labels in place of grades, where they are some: more than 1 from 0 is a strong verdict."""
    if not positive:
        return raw

    def label(text: str) -> str:
        if not NUMBER.fullmatch(text):
            return text
        grade = float(text) if positive == "first" else -float(text)
        sign = ">>" if abs(grade) > 1 else ">"
        return f"A{sign}B" if grade > 0 else f"B{sign}A" if grade < 0 else "A=B"

    verdicts = raw.table["verdict"].astype(object).map(label, na_action="ignore")
    return replace(raw, table=raw.table.assign(verdict=texts(verdicts)))


def _questions(raw: Raw) -> tuple[Raw, list[str]]:
    """The file with names for its questions, and what is said of them.

    A text in a name's place gets its first words and a hash; an item of a question is a question in its cluster.
    """
    table, notes = raw.table, []
    question = table["question"].cat
    long = [each for each in question.categories if len(each) > LONGEST_NAME or {*each} & {*"\n\r\t"}]
    if long:
        rows = int(table["question"].isin(long).sum())
        table = table.assign(question=question.rename_categories({text: short_name(text) for text in long}))
        notes.append(f"{rows:,} rows name their question by its text; its first words and a hash stand for it.")
    if "item" in table:
        names, at = read_each(replace(raw, table=table), ("question", "item"), lambda cell: ", ".join(
            filter(None, cell.values())))  # fmt: skip
        cluster = table["cluster"] if "cluster" in table else table["question"]
        table = table.assign(question=pd.Categorical(np.array(names, dtype=object)[at]), cluster=cluster)
        notes.append("Items of a question (column item) are compared one by one; the question is what varies.")
    return replace(raw, table=table), notes


def _clusters(raw: Raw) -> tuple[dict[str, str], list[str]]:
    """The cluster of each question, by the column `cluster` or by texts, and what is said of it."""
    name = next((name for name in ("cluster", "question_text") if name in raw.table), None)
    if name is None:
        return {}, []
    rows = raw.table[["question", name]].dropna().drop_duplicates()
    twice = rows["question"].duplicated()
    if name == "question_text":
        rows = rows[~twice].astype(str)
        clusters = datasets.merge_near_duplicates(dict(zip(rows["question"], rows[name], strict=True)))
        return clusters, [words] if (words := datasets.near_duplicate_words(clusters)) else []
    if twice.any():
        row = int(rows.index[twice][0])
        question = raw.table["question"].iloc[row]
        first = rows.loc[rows["question"] == question, name].iloc[0]
        found = f"question {question!r} is of the cluster {raw.table[name].iloc[row]!r}, and of {first!r} before"
        raise ValueError(f"{raw.place(row)}: {found}")
    clusters = {
        question: reading.name_of(each, name) for question, each in zip(rows["question"], rows[name], strict=True)
    }
    many = len(set(clusters.values()))
    return clusters, [
        f"{len(clusters):,} questions are of {many:,} clusters (column cluster), which intervals take as units."
    ]


def _ties(raw: Raw, style: str) -> list[str]:
    """That a C counts as a tie, where there is one: elsewhere it may mean that both answers are bad."""
    if style != "label":
        return []
    column = raw.table["verdict"].cat
    letters = [code for code, text in enumerate(column.categories) if text.strip("[]").strip().lower() == "c"]
    count = int(np.isin(column.codes, letters).sum())
    return [f"{count:,} of {len(raw.table):,} verdicts are C, a tie as FastChat writes it."] if count else []
