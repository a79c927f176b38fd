"""Whether the answer moves toward what the bias pulls to: signed effects, which noise alone cannot make.

With d1 = |a1 - t| and d2 = |a2 - t|, the distances of control and treatment to the target t, the effect of a pair is
(d1 - d2) / max(d1, d2). Where the treatment does nothing, control and treatment may change places, which changes the
sign alone: the mean is 0 however noisy, skewed or close to the target the answers are, and also where replies are lost
for what they say. Flipping the signs of whole scenarios (wordings, repeats and judges in them together) is then exact.
A treatment that moves nothing but makes answers scatter more, or less, is not nothing: it moves this mean too, so that
`scale_shift`, which it does not move, has to agree before answers are said to move. Near an end of the scale, where
answers can be scattered inwards alone, it moves that too: there the sign test has to agree (`families.stands`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.cognitive.averages import LEVEL, Cell, cells, contributions, mean_of, places, tested
from helpers.biases.cognitive.pairs import CELL, habits
from helpers.biases.cognitive.seed_forms import pull
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval
from helpers.stats.standing import BY
from helpers.types import Estimate

NO_PAIR = "no pair with two readable answers, one of them off the target"
NEEDS_REPEAT = "needs the control asked twice (repeats = 2 where models are asked)"
NEEDS_REPEATS = "needs control and treatment asked twice (repeats = 2 where models are asked)"
#: Shares of a scale that differ by less are the same.
ROUNDING = 1e-9
NEEDS_SIDE = "no pair with two readable answers, or an anchor whose side only a repeated control could tell"


def columns(table: pd.DataFrame, *names: str) -> list[np.ndarray]:
    """These columns as arrays of numbers."""
    return [table[name].to_numpy(dtype=float) for name in names]


def directed(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs whose bias pulls to a known side; of selections those with a decision."""
    return table[table["target"].notna()]


def corrected_level(table: pd.DataFrame) -> float:
    """The level of Holm's first step over the biases that have a readable pair, of each judge and on their mean."""
    read = table.loc[table["a2"].notna(), ["category", "judge", "source"]].drop_duplicates()
    several = len(read[["judge", "source"]].drop_duplicates()) > 1
    return LEVEL / max(1, len(read) + several * read["category"].nunique())


def bias_effect(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far the treatment moves the answer toward the target, as a share of the larger distance; -1 to 1.

    `where`: bias (the mean over these judges), and bias, judge; all are one confirmatory family. Beside each the
    count `bias_effect_undefined` of readable pairs that have no direction: both answers are the target, or nothing was
    selected. Takes `pairs`.
    """
    rows = directed(table)
    level, found = corrected_level(rows), []
    values = pull(*columns(rows, "a1", "a2", "target"))
    for cell in cells(rows, values):
        interval = tested(cell, seed, NO_PAIR, level)
        found.append(_within(estimate("bias_effect", cell.where, interval, data, "score")))
    undefined = np.where(rows["readable"], np.isnan(values), np.nan)
    for cell in cells(rows, undefined):
        found.append(count("bias_effect_undefined", cell, data))
    return found


def count(id: str, cell: Cell, data: str) -> Estimate:
    """How many rows of a cell are 1, with the rows and scenarios that they are counted in."""
    total, scenarios = cell.numerators.sum(), int((cell.denominators.sum(axis=1) > 0).sum())
    return Estimate(id, cell.where, float(total), n=cell.n, clusters=scenarios, unit="count", method="count", data=data)


def _within(each: Estimate) -> Estimate:
    """Bounds of a t interval that reach beyond -1 and 1 are cut there."""
    low, high = (min(max(bound, -1.0), 1.0) if bound == bound else bound for bound in (each.low, each.high))
    return replace(each, low=low, high=high)


def bias_placebo(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The same effect of a control against its own repeat: what there is without any treatment, a check.

    Each two neighbouring repeats count once, the later as if it were the treatment: counted in both directions they
    would cancel whatever they are. `where` as in `bias_effect`. Takes `pairs`.
    """
    rows = directed(table)
    control, again, target, here, next_ = columns(rows, "a1", "a0", "target", "partner", "next")
    values = np.where(next_ > here, pull(control, again, target), np.nan)
    found = [(cell, mean_of(cell, NEEDS_REPEAT)) for cell in cells(rows, values)]
    return [_within(estimate("bias_placebo", cell.where, interval, data, "score")) for cell, interval in found]


def scale_shift(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How far the treatment moves the answer toward the target, in points of 100 of the scale's length.

    a2 - a1 in the direction of the target: up or down where that is an end of the scale, else (an anchor) as seen from
    the control's repeat a0, whose noise a1 does not share. Being linear in a2 - a1 it is 0 on average wherever the
    treatment leaves the mean answer as it is, also where it makes answers scatter more or less, which `bias_effect`
    takes for a move. Of gambles: by how much acceptance falls. Beside each `shift_sign`: of the scenarios whose
    median answer moves, how many more move toward the target than away, as a share of these; p by the exact sign test.
    What an end of the scale cuts off does not change a median; of two options, which have none, it is the mean. `where`
    as in `bias_effect`. Takes `pairs`.
    """
    rows = directed(table)
    a1, a2, a0, target, low, high = columns(rows, "a1", "a2", "a0", "target", "low", "high")
    toward = np.where(target == high, 1.0, np.where(target == low, -1.0, np.sign(target - a0)))
    values = toward * (a2 - a1) / np.where(high > low, high - low, np.nan)
    found = [estimate("scale_shift", cell.where, mean_of(cell, NEEDS_SIDE), data, "pp") for cell in cells(rows, values)]
    sides = rows.assign(toward=np.where(np.isfinite(values), toward, np.nan)).dropna(subset="toward")
    keys = [name for name in CELL if name != "wording"] + ["options", "low", "high", "toward"]
    answers = sides.groupby(keys, observed=True)[["a1", "a2"]]
    middle, mean = answers.median().reset_index(), answers.mean().reset_index()
    middle, counts = middle.where(middle["options"] > 2, mean), answers.size().to_numpy(dtype=float)
    moved = middle["toward"] * (middle["a2"] - middle["a1"]) / (middle["high"] - middle["low"])
    moves = {tuple(cell.where.items()): cell for cell in cells(middle, moved.to_numpy(dtype=float), counts)}
    return found + [_sign(each.where, moves.get(tuple(each.where.items())), data) for each in found]


def _sign(where: Mapping[str, str], cell: Cell | None, data: str) -> Estimate:
    """The sign test over scenarios, judges summed before."""
    from scipy.stats import binomtest

    moves = contributions(cell) if cell is not None and cell.numerators.size else np.zeros(0)
    up, down = int((moves > ROUNDING).sum()), int((moves < -ROUNDING).sum())
    known = {"n": cell.n if cell else 0, "clusters": up + down, "unit": "score", "data": data}
    if not up + down:
        return Estimate("shift_sign", where, np.nan, method="no scenario whose median moves", **known)
    p = float(binomtest(up, up + down).pvalue)
    return Estimate("shift_sign", where, (up - down) / (up + down), p=p, method="exact sign test", **known)


def scatter_change(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How much further apart two answers to the treatment lie than two to the control, in points of the scale.

    |next a2 - a2| - |next a1 - a1| over neighbouring repeats; above 0 the treatment makes answers less sure. `where` as
    in `bias_effect`. Takes `pairs`; needs every version asked twice.
    """
    rows = table.sort_values([*CELL, "partner"], kind="stable")
    a1, a2, low, high = columns(rows, "a1", "a2", "low", "high")
    next_ = rows.groupby(CELL, sort=False, dropna=False)[["a1", "a2"]].shift(-1).to_numpy(dtype=float).T
    apart = np.abs(next_[1] - a2) - np.abs(next_[0] - a1)
    values = apart / np.where(high > low, high - low, np.nan)
    found = [(cell, mean_of(cell, NEEDS_REPEATS)) for cell in cells(rows, values)]
    return [estimate("scatter_change", cell.where, interval, data, "pp") for cell, interval in found]


def habit_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How much of a judge's replies has one place, and one letter: `place_share`, `letter_share`.

    `where`: judge, and bias, judge. Of whom answers by one of them `method` begins with BY. Takes a decisions frame.
    """
    table, found = habits(frame), []
    several = table.groupby("judge")["source"].nunique()
    for each in table.itertuples():
        where = {"bias": each.category} if each.category else {}
        where |= {"judge": each.judge} | ({"source": each.source} if several[each.judge] > 1 else {})
        most = f"the most frequent {each.by} has {100 * max(each.place, each.letter):.0f} % of {each.n} replies"
        for id, share in (("place_share", each.place), ("letter_share", each.letter)):
            if share:
                method = f"{BY} {each.by} ({most})" if each.by else "share of the most frequent one"
                found.append(Estimate(id, where, float(share), n=each.n, unit="rate", method=method, data=data))
    return found


def odd_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How many replies hold no decision that can be read; `where`: bias, judge, condition. Takes a decisions frame."""
    found = []
    for condition in ("decision", "control", "treatment"):
        rows = frame[frame["condition"] == condition]
        for where, part in places(rows):
            (_, cell) = cells(part, (part["outcome"] != "ok").to_numpy(dtype=float))
            interval: Interval = mean_of(cell, "no reply")
            found.append(estimate("odd_share", where | {"condition": condition}, interval, data))
    return found
