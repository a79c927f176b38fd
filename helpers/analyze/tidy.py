"""A tidy file of verdicts: read, checked, and put into the frame of its style."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import datasets, frames
from helpers.analyze import cells as analyze_cells
from helpers.analyze import reading
from helpers.analyze.cells import Cells, Said, cells, combined, labels
from helpers.analyze.reading import Raw, read, texts
from helpers.biases.position.both_orders import LABELS, SIGNS
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import short_name
from helpers.types import Estimate
from helpers.verdicts.forms import NUMBER

#: How verdicts are given, with the words for it.
STYLES = {"pairwise": "verdicts on two answers", "ranking": "rankings", "score": "scores"}


@dataclass(frozen=True)
class Held:
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


def pairwise(cells: Cells, name: str, told: frozenset[str]) -> Held:
    """The games frame of a tidy file, with `ordered`, `won` and `gold`; a label on other than 2 is an error."""
    raw, size = cells.raw, np.array([len(pair) for pair in cells.shown])
    if (size != 2).any():
        row = int((size != 2)[cells.shown_at].argmax())
        raise ValueError(f"{raw.place(row)}: a label is a verdict on 2 candidates, found {size[cells.shown_at[row]]}")
    pairs, baseline = sides(cells.shown)
    judge, question = labels(raw, "judge", None), labels(raw, "question", None)
    condition, repeat = labels(raw, "condition", "none"), analyze_cells.repeats(raw)
    same = np.array([base == candidate for base, candidate in pairs])
    base, candidate = (_names([pair[side] for pair in pairs], cells.shown_at) for side in (0, 1))
    who = [judge.codes, question.codes, base.codes, candidate.codes, condition.codes, repeat]
    who = [np.asarray(code, dtype=np.int64) for code in who]
    # The same text twice has no order: its first asking counts as game 1, its second as game 2.
    first = np.array([pair[0] != base for pair, (base, _) in zip(cells.shown, pairs, strict=True)])[cells.shown_at]
    twin = same[cells.shown_at]
    group = combined(who)[1]
    first = np.where(twin, pd.Series(group).groupby(group).cumcount().to_numpy() % 2, first.astype(int))
    once = np.where(twin, pd.Series(group).groupby(group).cumcount().to_numpy(), first)
    analyze_cells.once(raw.place, [*who, once], "the same pair by the same judge in the same order")
    if twin.any():
        condition = _renamed(condition, twin, "identical")
    said = pd.Categorical([each.value if each.style else None for each in cells.said], categories=list(LABELS))
    verdict = pd.Categorical.from_codes(said.codes[cells.said_at], said.categories)
    sign = np.array([SIGNS[each.value] if each.style else np.nan for each in cells.said])
    side = np.where(first == 1, 1.0, -1.0)
    made = analyze_cells.vendors(cells)
    outcome = _names([each.outcome for each in cells.said], cells.said_at)
    frame = pd.DataFrame(
        {
            "experiment": "analyze",
            "source": _names([name], np.zeros(len(said.codes[cells.said_at]), dtype=int)),
            "question_id": question,
            "category": labels(raw, "category", UNKNOWN),
            "judge": judge,
            "judge_vendor": analyze_cells.judge_vendors(raw),
            "judge_model": judge,
            "candidate": candidate,
            "candidate_vendor": _vendor(candidate, made),
            "baseline": base,
            "baseline_vendor": _vendor(base, made),
            "condition": condition,
            "first": pd.Categorical.from_codes(first, list(FIRSTS)),
            "repeat": repeat,
            "games": np.bincount(group)[group],
            "score": verdict,
            "verdict": verdict,
            "outcome": outcome,
            "ordered": cells.ordered,
            "won": (side * sign[cells.said_at] + 1) / 2,
            "gold": _gold(cells, side),
        }
    )
    lengths = analyze_cells.each(cells, "length", analyze_cells.length)
    if lengths is not None:
        both = np.array(lengths[0], dtype=float)[lengths[1]]
        turned = first == 1
        frame["length_baseline"] = np.where(turned, both[:, 1], both[:, 0])
        frame["length_candidate"] = np.where(turned, both[:, 0], both[:, 1])
    return Held("pairwise", "tidy", name, frame, told, counts(frame), baseline)


def both_orders(cells: Cells) -> bool:
    """Whether these are scores of pairs alone, and some pair was judged in both orders by one judge."""
    if any(len(pair) != 2 or pair[0] == pair[1] for pair in cells.shown):
        return False
    pairs = np.array([pair[::-1] in {*cells.shown} for pair in cells.shown])
    return bool(pairs[cells.shown_at].any())


def scored(cells: Cells, name: str, told: frozenset[str]) -> Held:
    """Scores of both answers of each pair as the games frame: the higher one wins, and the scores stand beside it.

    `score_baseline` and `score_candidate`; `gap` is the score of the first answer less that of the second. Askings are
    counted within each order.
    """
    held = pairwise(
        replace(cells, raw=_asked_within(cells), said=_higher(cells.said), gold=_higher(cells.gold)), name, told
    )
    first, second = np.array([each.value or (np.nan, np.nan) for each in cells.said])[cells.said_at].T
    turned = (held.frame["first"] == FIRSTS[1]).to_numpy()
    frame = held.frame.assign(
        gap=np.where(held.frame["ordered"], first - second, np.nan),
        score_baseline=np.where(turned, second, first),
        score_candidate=np.where(turned, first, second),
    )
    note = (
        "Two scores a row on pairs in both orders: the higher one wins; what the place is worth is told in scores too."
    )
    return replace(held, frame=frame, notes=(*held.notes, note))


def _higher(said: list[Said]) -> list[Said]:
    """The label that two scores stand for; a score that is not there makes none."""
    found = []
    for each in said:
        if each.style != "scores":
            found.append(each)
            continue
        gap = each.value[0] - each.value[1]
        label = "A>B" if gap > 0 else "B>A" if gap < 0 else "A=B"
        found.append(Said("label", label) if gap == gap else Said("", None, "unparsed"))
    return found


def _asked_within(cells: Cells) -> Raw:
    """The file with the askings of each pair counted within each order, where its `repeat` counts both orders."""
    raw = cells.raw
    if "repeat" not in raw.table:
        return raw
    names = [each for each in ("judge", "question", "condition") if each in raw.table]
    keys = pd.DataFrame({each: raw.table[each].cat.codes for each in names} | {"shown": cells.shown_at})
    rank = keys.assign(repeat=analyze_cells.repeats(raw)).groupby([*keys], sort=False)["repeat"].rank(method="dense")
    return replace(raw, table=raw.table.assign(repeat=pd.Categorical(rank.astype(int).sub(1).astype(str))))


def counts(frame: pd.DataFrame, value: str = "score") -> pd.DataFrame:
    """How often each judge gave each verdict as it is written, and each outcome without one; columns of Held.counts."""
    said = frame[value].astype(object)
    said = said.where(frame["outcome"].astype(object) == "ok", frame["outcome"].astype(object))
    keys = [frame["judge"], frame["condition"], said.rename("verdict")]
    return frame.groupby(keys, observed=True, sort=True).size().rename("n").reset_index()


def _names(values: list[str | None], at: np.ndarray) -> pd.Categorical:
    codes, categories = pd.factorize(np.array(values, dtype=object))
    return pd.Categorical.from_codes(codes[at], pd.Index(categories, dtype=object))


def _vendor(names: pd.Categorical, made: dict[str, str]) -> pd.Categorical:
    return _names([made.get(name) for name in names.categories], names.codes)


def _renamed(stored: pd.Categorical, rows: np.ndarray, name: str) -> pd.Categorical:
    stored = stored if name in stored.categories else stored.add_categories([name])
    codes = np.where(rows, stored.categories.get_loc(name), stored.codes)
    return pd.Categorical.from_codes(codes, stored.categories)


def _gold(cells: Cells, side: np.ndarray) -> np.ndarray:
    if not cells.gold:
        return np.full(len(side), np.nan)
    values = [SIGNS[each.value] if each.style == "label" else np.nan for each in cells.gold]
    return (side * np.array(values, dtype=float)[cells.gold_at] + 1) / 2


def _long(cells: Cells) -> tuple[dict[str, object], np.ndarray, np.ndarray, pd.Categorical]:
    """One row a judgment and candidate: the columns of both frames, the row of the file, the slot, the candidate."""
    raw = cells.raw
    sizes = np.array([len(names) for names in cells.shown])[cells.shown_at]
    row = np.repeat(np.arange(len(sizes)), sizes)
    slot = np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    names = sorted({name for shown in cells.shown for name in shown})
    code = {name: number for number, name in enumerate(names)}
    width = max(map(len, cells.shown))
    table = np.full((len(cells.shown), width), -1)
    for number, shown in enumerate(cells.shown):
        table[number, : len(shown)] = [code[name] for name in shown]
    candidate = pd.Categorical.from_codes(table[cells.shown_at[row], slot], pd.Index(names, dtype=object))
    made = analyze_cells.vendors(cells)
    vendors = pd.Index(sorted(set(made.values())), dtype=object)
    of = np.array([vendors.get_loc(made[name]) if name in made else -1 for name in names])
    judge, vendor = labels(raw, "judge", None), analyze_cells.judge_vendors(raw)
    found = {
        "experiment": "analyze",
        "question_id": labels(raw, "question", None)[row],
        "category": labels(raw, "category", UNKNOWN)[row],
        "judge": judge[row],
        "judge_vendor": vendor[row],
        "candidate": candidate,
        "candidate_vendor": pd.Categorical.from_codes(of[candidate.codes], vendors),
        "condition": labels(raw, "condition", "none")[row],
        "repeat": analyze_cells.repeats(raw)[row],
    }
    lengths = analyze_cells.each(cells, "length", analyze_cells.length)
    found["length"] = np.nan if lengths is None else _spread(lengths, width, row, slot)
    return found, row, slot, candidate


def _spread(
    told: tuple[list[tuple[float | None, ...]], np.ndarray], width: int, row: np.ndarray, slot: np.ndarray
) -> np.ndarray:
    """Values of each candidate as one column."""
    table = np.full((len(told[0]), width), np.nan)
    for number, values in enumerate(told[0]):
        table[number, : len(values)] = [np.nan if value is None else value for value in values]
    return table[told[1][row], slot]


def rankings(cells: Cells, name: str, told: frozenset[str]) -> Held:
    """The listwise frame of a tidy file of rankings, with `gold`: the name of the answer that should be first."""
    found, row, slot, candidate = _long(cells)
    size = len(cells.shown[0])
    ranks = np.full((len(cells.said), size), np.nan)
    for number, each in enumerate(cells.said):
        if each.style:
            ranks[number, list(each.value)] = np.arange(1, size + 1)
    rank = ranks[cells.said_at[row], slot]
    outcomes = np.array([each.outcome for each in cells.said], dtype=object)
    own = _same(found["judge_vendor"], found["candidate_vendor"])
    frame = pd.DataFrame(found).assign(
        judge_tier="",
        judge_model=None,
        candidate_tier="",
        candidate_model=None,
        slot=np.where(cells.ordered[row], slot, np.nan),
        label=pd.Categorical.from_codes(slot, list(string.ascii_uppercase[:size])),
        rank=rank,
        score=np.nan,
        top=np.where(np.isnan(rank), np.nan, rank == 1),
        outcome=pd.Categorical(outcomes[cells.said_at[row]]),
        contradicts=False,
        own_vendor=own,
        own_model=own & _same(found["judge"], found["candidate"]),
        named=_named(cells, row, slot),
        gold=_tidy_lists_gold(cells, row, candidate),
    )
    if not cells.ordered.all():
        frame["label"] = frame["label"].where(cells.ordered[row])
    else:
        frame["slot"] = frame["slot"].astype(int)
    _once(cells, found)
    heads = frame[slot == 0]
    first = np.full(len(heads), None, dtype=object)
    best = frame["top"].to_numpy() == 1.0
    first[row[best]] = candidate.astype(object)[best]
    said = counts(heads.assign(first=first), "first")
    return Held("ranking", "tidy", name, frame, told, said)


def scores(cells: Cells, name: str, told: frozenset[str]) -> Held:
    """One row a score of a tidy file; a score that is null has the outcome of its row, or else "unparsed"."""
    found, row, slot, _ = _long(cells)
    width = max(map(len, cells.shown))

    def spread(said: list, at: np.ndarray) -> np.ndarray:
        values = [each.value if each.style == "scores" else () for each in said]
        return _spread((values, at), width, row, slot)

    score = spread(cells.said, cells.said_at)
    outcome = np.array([each.outcome for each in cells.said], dtype=object)[cells.said_at[row]]
    gold = spread(cells.gold, cells.gold_at) if cells.gold else np.nan
    frame = pd.DataFrame(found).assign(
        score=score,
        gold=gold,
        outcome=pd.Categorical(np.where(np.isnan(score) & (outcome == "ok"), "unparsed", outcome)),
    )
    _once(cells, found)
    said = frame.assign(written=np.where(np.isnan(score), None, "a score"))
    return Held("score", "tidy", name, frame, told, counts(said, "written"))


def _same(one: pd.Categorical, other: pd.Categorical) -> np.ndarray:
    """Whether two columns hold the same name, row by row; a missing one is no name."""
    codes = {name: code for code, name in enumerate(other.categories)}
    return np.array([codes.get(name, -2) for name in one.categories])[one.codes] == other.codes


def _named(cells: Cells, row: np.ndarray, slot: np.ndarray) -> np.ndarray:
    told = analyze_cells.each(cells, "named", analyze_cells.vendor)
    found = np.full(len(row), None, dtype=object)
    if told is not None:
        table = np.array(told[0], dtype=object)
        found = table[told[1][row], slot]
    return found


def _tidy_lists_gold(cells: Cells, row: np.ndarray, candidate: pd.Categorical) -> np.ndarray:
    """Whether each candidate is the one that should be first; NaN where the file does not tell."""
    if not cells.gold:
        return np.full(len(row), np.nan)
    best = [each.value[0] if each.style == "ranking" else -1 for each in cells.gold]
    place = np.array(best)[cells.gold_at[row]]
    slot = np.arange(len(row)) % len(cells.shown[0])
    return np.where(place < 0, np.nan, (slot == place).astype(float))


def _once(cells: Cells, found: dict[str, object]) -> None:
    """No candidate is judged twice by one judge on one question under one condition in one asking."""
    names = ("judge", "question_id", "candidate", "condition")
    codes = [np.asarray(found[name].codes, dtype=np.int64) for name in names]
    sizes = np.array([len(shown) for shown in cells.shown])[cells.shown_at]
    row = np.repeat(np.arange(len(sizes)), sizes)
    key = [*codes, np.asarray(found["repeat"], dtype=np.int64)]
    analyze_cells.once(lambda number: cells.raw.place(int(row[number])), key, "the same answer by the same judge")


SHAPES = {"label": pairwise, "ranking": rankings, "scores": scores}


def load_tidy(
    path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None, positive: str = ""
) -> Held:
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
    told = frozenset(name for name in reading.ALL if name in raw.table and raw.table[name].notna().any())
    shape = scored if found.style == "scores" and both_orders(found) else SHAPES[found.style]
    held = shape(found, path.name.removesuffix(".gz").rpartition(".")[0], told)
    clusters, words = _clusters(raw)
    frame = frames.with_clusters(held.frame, clusters)
    most = frames.dominance_words(frame["cluster"])
    return replace(
        held, frame=frame, notes=(*held.notes, *notes, *_ties(raw, found.style), *words, *filter(None, [most]))
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
    long = [each for each in question.categories if len(each) > reading.LONGEST_NAME or {*each} & {*"\n\r\t"}]
    if long:
        rows = int(table["question"].isin(long).sum())
        table = table.assign(question=question.rename_categories({text: short_name(text) for text in long}))
        notes.append(f"{rows:,} rows name their question by its text; its first words and a hash stand for it.")
    if "item" in table:
        keys, at = combined([table[name].cat.codes.to_numpy(dtype=np.int64) for name in ("question", "item")])
        names = [
            table["question"].cat.categories[one] + (f", {table['item'].cat.categories[two]}" if two >= 0 else "")
            for one, two in keys
        ]
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
        return clusters, [words] if (words := datasets.near_duplicates_told(clusters)) else []
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
