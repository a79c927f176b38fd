"""A tidy file of rankings or of scores: the listwise frame, or one row a score."""

from __future__ import annotations

import string

import numpy as np
import pandas as pd

from helpers.analyze import listed
from helpers.analyze.cells import Cells, labels
from helpers.analyze.held import Held
from helpers.analyze.tidy_pairs import counts
from helpers.datasets.questions import UNKNOWN


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
    made = listed.vendors(cells)
    vendors = pd.Index(sorted(set(made.values())), dtype=object)
    of = np.array([vendors.get_loc(made[name]) if name in made else -1 for name in names])
    judge, vendor = labels(raw, "judge", None), listed.judge_vendors(raw)
    found = {
        "experiment": "analyze",
        "question_id": labels(raw, "question", None)[row],
        "category": labels(raw, "category", UNKNOWN)[row],
        "judge": judge[row],
        "judge_vendor": vendor[row],
        "candidate": candidate,
        "candidate_vendor": pd.Categorical.from_codes(of[candidate.codes], vendors),
        "condition": labels(raw, "condition", "none")[row],
        "repeat": listed.repeats(raw)[row],
    }
    lengths = listed.each(cells, "length", listed.length)
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
        gold=_gold(cells, row, candidate),
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
    told = listed.each(cells, "named", listed.vendor)
    found = np.full(len(row), None, dtype=object)
    if told is not None:
        table = np.array(told[0], dtype=object)
        found = table[told[1][row], slot]
    return found


def _gold(cells: Cells, row: np.ndarray, candidate: pd.Categorical) -> np.ndarray:
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
    listed.once(lambda number: cells.raw.place(int(row[number])), key, "the same answer by the same judge")
