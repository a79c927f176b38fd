"""Whether the answer moves toward what the bias pulls to: signed effects, slopes of anchors, thresholds of gambles.

With d1 = |a1 - t| and d2 = |a2 - t|, the distances of control and treatment to the target t, the effect of a pair is
(d1 - d2) / max(d1, d2). Where the treatment does nothing, control and treatment may change places, which changes the
sign alone: the mean is 0 however noisy, skewed or close to the target the answers are, and also where replies are lost
for what they say. Flipping the signs of whole scenarios (wordings, repeats and judges in them together) is then exact.
A treatment that moves nothing but makes answers scatter more, or less, is not nothing: it moves this mean too, so that
`scale_shift`, which it does not move, has to agree before answers are said to move. Near an end of the scale, where
answers can be scattered inwards alone, it moves that too: there the sign test has to agree (`findings.conclusions`).

The plain slope of a2 - a1 on anchor - a1 is above 0 by noise alone: a control that came out high by chance is followed
by a lower treatment, and lies further from the anchor, in the same direction. The control's repeat does not share that
chance, so it takes a1's place in the anchor's distance as an instrument: slope = cov(a2 - a1, anchor - a0) /
cov(anchor - a1, anchor - a0), 0 on average where the treatment does nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from ...stats.intervals import NAN, Interval, clusters_of, no_interval, t_interval
from ...stats.standing import BY, LEVEL
from ...stats.tests import mcnemar_exact
from ..protocol import Numbers
from .averages import (
    CELL,
    Cell,
    by_scenario,
    cell_interval,
    cells,
    contributions,
    habits,
    mean_of,
    means,
    pairs,
    places,
)
from .metrics import pull

NO_PAIR = "no pair with two readable answers, one of them off the target"
NEEDS_REPEAT = "needs the control asked twice (repeats = 2 where models are asked)"
NEEDS_REPEATS = "needs control and treatment asked twice (repeats = 2 where models are asked)"
#: What a share of a distance can be.
WHOLE = (-1.0, 1.0)
#: Shares of a scale that differ by less are the same.
ROUNDING = 1e-9
NEEDS_SIDE = "no pair with two readable answers, or an anchor whose side only a repeated control could tell"


def columns(table: pd.DataFrame, *names: str) -> list[np.ndarray]:
    """These columns as arrays of numbers."""
    return [table[name].to_numpy(dtype=float) for name in names]


def directed(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs whose bias pulls to a known side; of selections those with a decision."""
    return table[table["target"].notna()]


@by_scenario
def bias_effect(table: pd.DataFrame, seed: int) -> Numbers:
    """How far the treatment moves the answer toward the target, as a share of the larger distance; -1 to 1.

    `where`: bias (the mean over these judges), and bias, judge; all are one confirmatory family. Beside each the
    count `bias_effect_undefined` of readable pairs that have no direction: both answers are the target, or nothing was
    selected. Takes `pairs`.
    """
    rows = directed(table)
    # Holm's first step over the biases that have a readable pair, of each judge and on their mean.
    read = rows.loc[rows["a2"].notna(), ["category", "judge", "source"]].drop_duplicates()
    several = len(read[["judge", "source"]].drop_duplicates()) > 1
    level = LEVEL / max(1, len(read) + several * read["category"].nunique())
    values = pull(*columns(rows, "a1", "a2", "target"))
    for cell in cells(rows, values):
        yield "bias_effect", cell.where, cell_interval(cell, seed, NO_PAIR, level), WHOLE
    undefined = np.where(rows["readable"], np.isnan(values), np.nan)
    yield from (("bias_effect_undefined", cell.where, count(cell)) for cell in cells(rows, undefined))


def count(cell: Cell) -> Interval:
    """How many rows of a cell are 1, with the rows and scenarios that they are counted in."""
    return no_interval(cell.numerators.sum(), cell.n, (cell.denominators.sum(axis=1) > 0).sum(), "count")


@by_scenario
def bias_placebo(table: pd.DataFrame) -> Numbers:
    """The same effect of a control against its own repeat: what there is without any treatment, a check.

    Each two neighbouring repeats count once, the later as if it were the treatment: counted in both directions they
    would cancel whatever they are. `where` as in `bias_effect`. Takes `pairs`.
    """
    rows = directed(table)
    control, again, target, here, next_ = columns(rows, "a1", "a0", "target", "partner", "next")
    values = np.where(next_ > here, pull(control, again, target), np.nan)
    return means("bias_placebo", cells(rows, values), NEEDS_REPEAT, WHOLE)


def shifts(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Where the bias pulls, 1 up or -1 down, and how far answers move there as a share of the scale's length."""
    a1, a2, a0, target, low, high = columns(rows, "a1", "a2", "a0", "target", "low", "high")
    toward = np.where(target == high, 1.0, np.where(target == low, -1.0, np.sign(target - a0)))
    return toward, toward * (a2 - a1) / np.where(high > low, high - low, np.nan)


@by_scenario
def scale_shift(table: pd.DataFrame) -> Numbers:
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
    toward, values = shifts(rows)
    every = [*cells(rows, values)]
    yield from means("scale_shift", every, NEEDS_SIDE)
    sides = rows.assign(toward=np.where(np.isfinite(values), toward, np.nan)).dropna(subset="toward")
    keys = [name for name in CELL if name != "wording"] + ["options", "low", "high", "toward"]
    answers = sides.groupby(keys, observed=True)[["a1", "a2"]]
    middle, mean = answers.median().reset_index(), answers.mean().reset_index()
    middle, counts = middle.where(middle["options"] > 2, mean), answers.size().to_numpy(dtype=float)
    moved = middle["toward"] * (middle["a2"] - middle["a1"]) / (middle["high"] - middle["low"])
    moves = {tuple(cell.where.items()): cell for cell in cells(middle, moved.to_numpy(dtype=float), counts)}
    yield from (("shift_sign", cell.where, _sign(moves.get(tuple(cell.where.items())))) for cell in every)


def _sign(cell: Cell | None) -> Interval:
    """The sign test over scenarios, judges summed before."""
    moves = contributions(cell) if cell is not None and cell.numerators.size else np.zeros(0)
    up, down, n = int((moves > ROUNDING).sum()), int((moves < -ROUNDING).sum()), cell.n if cell else 0
    if not up + down:
        return no_interval(NAN, n, 0, "no scenario whose median moves")
    share = no_interval((up - down) / (up + down), n, up + down, "exact sign test")
    return replace(share, p=mcnemar_exact(up, down))


@by_scenario
def scatter_change(table: pd.DataFrame) -> Numbers:
    """How much further apart two answers to the treatment lie than two to the control, in points of the scale.

    |next a2 - a2| - |next a1 - a1| over neighbouring repeats; above 0 the treatment makes answers less sure. `where` as
    in `bias_effect`. Takes `pairs`; needs every version asked twice.
    """
    rows = table.sort_values([*CELL, "partner"], kind="stable")
    a1, a2, low, high = columns(rows, "a1", "a2", "low", "high")
    next_ = rows.groupby(CELL, sort=False, dropna=False)[["a1", "a2"]].shift(-1).to_numpy(dtype=float).T
    apart = np.abs(next_[1] - a2) - np.abs(next_[0] - a1)
    values = apart / np.where(high > low, high - low, np.nan)
    return means("scatter_change", cells(rows, values), NEEDS_REPEATS)


@by_scenario
def label_effects(frame: pd.DataFrame, seed: int) -> Numbers:
    """What log-probabilities of labels say that answers do not: how far the treatment moves them, seen in each reply.

    `target_logit_effect`: the log-odds of the option that the bias pulls to, and `expected_shift`: as `scale_shift`, of
    the mean value of the options by their probabilities. Judges of one place or letter are in both: orders are
    balanced. `where` as in `bias_effect`; nothing where a bias or judge has none. Takes a decisions frame.
    """
    if "target_logit" not in frame:
        return
    named = (frame.assign(order="", value=frame[name]) for name in ("target_logit", "expected"))
    logits, expected = (directed(pairs(each)) for each in named)
    for cell in cells(logits, np.subtract(*columns(logits, "a2", "a1"))):
        if cell.numerators.size:
            yield "target_logit_effect", cell.where, cell_interval(cell, seed, NO_PAIR)
    read = (cell for cell in cells(expected, shifts(expected)[1]) if cell.numerators.size)
    yield from means("expected_shift", read, NEEDS_SIDE)


@by_scenario
def habit_share(frame: pd.DataFrame) -> Numbers:
    """How much of a judge's replies has one place, and one letter: `place_share`, `letter_share`.

    `where`: judge, and bias, judge. Of whom answers by one of them `method` begins with BY. Takes a decisions frame.
    """
    table = habits(frame)
    several = table.groupby("judge")["source"].nunique()
    for each in table.itertuples():
        where = {"bias": each.category} if each.category else {}
        where |= {"judge": each.judge} | ({"source": each.source} if several[each.judge] > 1 else {})
        most = f"the most frequent {each.by} has {100 * max(each.place, each.letter):.0f} % of {each.n} replies"
        for id, share in (("place_share", each.place), ("letter_share", each.letter)):
            if share:
                method = f"{BY} {each.by} ({most})" if each.by else "share of the most frequent one"
                yield id, where, no_interval(share, each.n, 0, method)


@by_scenario
def odd_share(frame: pd.DataFrame) -> Numbers:
    """How many replies hold no decision that can be read; `where`: bias, judge, condition. Takes a decisions frame."""
    for condition in ("decision", "control", "treatment"):
        rows = frame[frame["condition"] == condition]
        for where, part in places(rows):
            cell, *_ = cells(part, part["outcome"] != "ok")
            yield "odd_share", where | {"condition": condition}, mean_of(cell, "no reply")


@dataclass(frozen=True)
class Solved:
    """A number with its linearised contribution of each scenario, (C,), which sum to 0; `problem` where there is none.

    All numbers that are put together list the same scenarios in the same order, a scenario without rows has 0; `used`
    tells which have rows.
    """

    value: float
    parts: np.ndarray
    used: np.ndarray
    n: int
    problem: str = ""


def unsolved(problem: str, scenarios: int, n: int = 0) -> Solved:
    """No number, and why."""
    return Solved(NAN, np.zeros(scenarios), np.zeros(scenarios, dtype=bool), n, problem)


def jackknifed(value: float, left_out: np.ndarray, used: np.ndarray, n: int) -> Solved:
    """The number less its jackknife bias, with jackknife contributions; `left_out` (C,): each without a scenario."""
    clusters = int(used.sum())
    mean = float(left_out[used].mean())
    parts = np.where(used, (clusters - 1) / clusters * (mean - left_out), 0.0)
    return Solved(clusters * value - (clusters - 1) * mean, parts, used, n)


def together(each: Sequence[Solved], weights: Sequence[float]) -> Solved:
    """The weighted sum of numbers from the same scenarios; the first problem where one of them has one."""
    problem = next((one.problem for one in each if one.problem), "")
    n = sum(one.n for one in each)
    if problem:
        return unsolved(problem, len(each[0].parts), n)
    value = float(sum(w * one.value for w, one in zip(weights, each, strict=True)))
    parts = np.sum([w * one.parts for w, one in zip(weights, each, strict=True)], axis=0)
    return Solved(value, parts, np.any([one.used for one in each], axis=0), n)


def interval(one: Solved, method: str, null: float | None = None) -> Interval:
    """The t interval with C - 1 degrees of freedom and the sandwich SE² = C/(C-1) sum of squared contributions."""
    clusters = int(one.used.sum())
    if one.problem:
        return no_interval(NAN, one.n, clusters, one.problem)
    se = math.sqrt(clusters / max(clusters - 1, 1) * float((one.parts**2).sum())) if clusters > 1 else NAN
    return t_interval(one.value, se, clusters - 1, one.n, clusters, method, null=null)


SLOPE_METHOD = "slope with the control's repeat as instrument, scenario jackknife t"
#: The distance of anchors from answers must be told from 0 by so many standard errors, else the ratio is anything.
LEAST_T = math.sqrt(10)


@by_scenario
def anchor_slope(table: pd.DataFrame) -> Numbers:
    """The share of the way to the anchor that the answer goes: 0 not at all, 1 all of it; answers as shares of scale.

    `where`: bias (mean over judges), and bias, judge; of scales with an anchor, where the control was asked twice.
    Takes `pairs`.
    """
    rows = table[(table["kind"] == "scale") & table["anchor"].notna()]
    for where, (each,) in solved(rows, slope):
        yield "anchor_slope", where, interval(each, SLOPE_METHOD, null=0.0)


def solved(
    rows: pd.DataFrame, *solvers: Callable[[pd.DataFrame, int], Solved]
) -> Iterator[tuple[dict[str, str], list[Solved]]]:
    """What each solver makes of the rows of each judge, and the mean over the judges of each bias.

    A solver takes rows whose `scenario` counts from 0, and the number of scenarios.
    """
    for bias, part in rows.groupby("category", sort=True, observed=True):
        scenarios, names = pd.factorize(clusters_of(part), sort=True)
        every: list[list[Solved]] = []
        for where, mine in places(part.assign(scenario=scenarios)):
            each = [solver(mine, len(names)) for solver in solvers]
            yield where, each
            every.append([replace(one, problem=one.problem and f"{where['judge']}: {one.problem}") for one in each])
        yield {"bias": str(bias)}, [together(each, [1 / len(each)] * len(each)) for each in zip(*every, strict=True)]


def slope(rows: pd.DataFrame, scenarios: int) -> Solved:
    """The slope of one judge; `scenario` counts from 0."""
    a1, a2, a0, anchor, low, high = columns(rows, "a1", "a2", "a0", "anchor", "low", "high")
    usable = np.isfinite(a1 + a2 + a0 + anchor) & (high > low)
    if not usable.any():
        return unsolved(NEEDS_REPEAT if np.isfinite(a1 + a2).any() else "no readable pair", scenarios)
    y, x, z = ((each / (high - low))[usable] for each in (a2 - a1, anchor - a1, anchor - a0))
    scenario = rows["scenario"].to_numpy()[usable]
    terms = (np.ones(len(x)), z, x, y, z * x, z * y)
    sums = np.column_stack([np.bincount(scenario, weights=each, minlength=scenarios) for each in terms])
    used = sums[:, 0] > 0
    total, without = sums.sum(axis=0), sums.sum(axis=0) - sums
    if used.sum() > 1:
        shared = jackknifed(float(_moments(total)[0]), _moments(without)[0], used, len(x))
        spread = math.sqrt(used.sum() / (used.sum() - 1) * float((shared.parts**2).sum()))
    if used.sum() < 2 or not shared.value > LEAST_T * spread:
        return unsolved("the anchors do not differ from the answers enough to tell a slope", scenarios, len(x))
    ratios = [moved / distance for distance, moved in (_moments(total), _moments(without))]
    return jackknifed(float(ratios[0]), ratios[1], used, len(x))


def _moments(sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The covariances of z with x and with y, of sums (..., 6) of 1, z, x, y, zx, zy."""
    n, z, x, y, zx, zy = np.moveaxis(sums, -1, 0)
    return (zx - z * x / n) / n, (zy - z * y / n) / n


THRESHOLD_METHOD = "logistic regression on the log ratio, scenario-clustered sandwich t, delta method"
CONDITIONS = {"control": "a1", "treatment": "a2"}


@by_scenario
def acceptance_rate(table: pd.DataFrame) -> Numbers:
    """How often a gamble is accepted, by its ratio of gain to loss and by condition.

    `where`: bias, ratio, condition (mean over judges), and with judge. Takes `pairs`.
    """
    rows = _gambles(table)
    for ratio, part in rows.groupby("ratio", sort=True):
        for condition, name in CONDITIONS.items():
            at = {"ratio": f"{ratio:g}", "condition": condition}
            for cell in cells(part, part[name]):
                yield "acceptance_rate", cell.where | at, mean_of(cell, "no readable answer")


@by_scenario
def thresholds(table: pd.DataFrame) -> Numbers:
    """The log ratio at which half accept, in control and treatment, and the difference: loss aversion beyond risk.

    `acceptance_threshold` (where + condition) and `threshold_ratio` = treatment - control, both log; `where`: bias
    (mean over judges), and bias, judge. Both curves of a judge share their scenarios, so the sandwich is a joint one.
    No number where acceptance does not rise measurably with the ratio, where all or none accept, where a ratio parts
    the accepted from the declined without exception, and where half accept only beyond the ratios asked. Takes `pairs`.
    """
    solvers = [partial(threshold, name=name) for name in CONDITIONS.values()]
    for where, both in solved(_gambles(table), *solvers):
        for name, each in zip(CONDITIONS, both, strict=True):
            yield "acceptance_threshold", where | {"condition": name}, interval(each, THRESHOLD_METHOD)
        yield "threshold_ratio", where, interval(together(both[::-1], [1, -1]), THRESHOLD_METHOD, null=0.0)


def _gambles(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["kind"] == "acceptance") & table["ratio"].notna()]


def threshold(rows: pd.DataFrame, scenarios: int, name: str) -> Solved:
    """The log ratio at which the logistic curve of column `name` crosses one half; `scenario` counts from 0.

    The contribution of a scenario is the delta method's: -(its influence on intercept + threshold * that on slope) /
    slope.
    """
    rows = rows[rows[name].notna()]
    accepted, ratio = rows[name].to_numpy(dtype=float), rows["ratio"].to_numpy(dtype=float)
    version = f"{'with' if name == 'a2' else 'without'} a possible loss"
    problem = _no_curve(accepted, ratio)
    if problem:
        return unsolved(f"{version} {problem}", scenarios, len(rows))
    import statsmodels.api as sm

    x = np.log(ratio)
    centre = x.mean()
    design = np.column_stack([np.ones(len(x)), x - centre])
    fit = sm.GLM(accepted, design, family=sm.families.Binomial()).fit()
    intercept, slope = map(float, fit.params)
    chance = fit.fittedvalues
    bread = np.linalg.inv((design * (chance * (1 - chance))[:, None]).T @ design)
    scores = np.zeros((scenarios, 2))
    np.add.at(scores, rows["scenario"].to_numpy(), design * (accepted - chance)[:, None])
    influence = scores @ bread
    used = np.bincount(rows["scenario"], minlength=scenarios) > 0
    clusters, at = int(used.sum()), -intercept / slope
    se = math.sqrt(clusters / max(clusters - 1, 1) * float((influence[:, 1] ** 2).sum()))
    problem = _no_crossing(slope, se, clusters, at + centre, x)
    if problem:
        return unsolved(f"{version} {problem}", scenarios, len(rows))
    parts = -(influence @ np.array([1.0, at])) / slope
    return Solved(float(at + centre), parts, used, len(rows))


def _no_curve(accepted: np.ndarray, ratio: np.ndarray) -> str:
    """Why these answers have no logistic curve; empty where they have one."""
    if not len(accepted):
        return "there is no readable answer"
    if accepted.min() == accepted.max():
        return f"every gamble was {'accepted' if accepted[0] else 'declined'}"
    no, yes = ratio[accepted == 0], ratio[accepted == 1]
    if no.max() <= yes.min():
        return f"the ratio parts answers without exception: declined to {no.max():g}, accepted from {yes.min():g}"
    if yes.max() <= no.min():
        return f"the ratio parts answers without exception: accepted to {yes.max():g}, declined from {no.min():g}"
    return ""


def _no_crossing(slope: float, se: float, clusters: int, at: float, x: np.ndarray) -> str:
    """Why the curve has no crossing of one half that could be told; empty where it has one."""
    from scipy.special import stdtrit

    if clusters > 1 and not slope > float(stdtrit(clusters - 1, 0.975)) * se:
        return "acceptance does not rise measurably with the ratio"
    if not x.min() <= at <= x.max():
        side, end = ("above", x.min()) if at < x.min() else ("below", x.max())
        return f"the fitted curve lies {side} one half at every ratio asked, even at {math.exp(end):.3g}"
    return ""
