"""A tidy file of verdicts on two answers as the games frame: who is the baseline, who stood first, who won."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.analyze import listed
from helpers.analyze.cells import Cells, combined, labels
from helpers.analyze.held import Held
from helpers.analyze.parsing import Said
from helpers.analyze.reading import Raw
from helpers.biases.position.pairs import LABELS, SIGNS
from helpers.datasets.questions import UNKNOWN

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
    condition, repeat = labels(raw, "condition", "none"), listed.repeats(raw)
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
    listed.once(raw.place, [*who, once], "the same pair by the same judge in the same order")
    if twin.any():
        condition = _renamed(condition, twin, "identical")
    said = pd.Categorical([each.value if each.style else None for each in cells.said], categories=list(LABELS))
    verdict = pd.Categorical.from_codes(said.codes[cells.said_at], said.categories)
    sign = np.array([SIGNS[each.value] if each.style else np.nan for each in cells.said])
    side = np.where(first == 1, 1.0, -1.0)
    made = listed.vendors(cells)
    outcome = _names([each.outcome for each in cells.said], cells.said_at)
    frame = pd.DataFrame(
        {
            "experiment": "analyze",
            "source": _names([name], np.zeros(len(said.codes[cells.said_at]), dtype=int)),
            "question_id": question,
            "category": labels(raw, "category", UNKNOWN),
            "judge": judge,
            "judge_vendor": listed.judge_vendors(raw),
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
    lengths = listed.each(cells, "length", listed.length)
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
    rank = keys.assign(repeat=listed.repeats(raw)).groupby([*keys], sort=False)["repeat"].rank(method="dense")
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
