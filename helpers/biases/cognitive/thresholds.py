"""How much more must be won than lost before half of the gambles are accepted, without and with a possible loss."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.cognitive.averages import cells, mean_of, places
from helpers.biases.cognitive.linear import Solved, interval, together, unsolved
from helpers.stats.estimates import estimate
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

METHOD = "logistic regression on the log ratio, scenario-clustered sandwich t, delta method"
CONDITIONS = {"control": "a1", "treatment": "a2"}


def acceptance_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often a gamble is accepted, by its ratio of gain to loss and by condition.

    `where`: bias, ratio, condition (mean over judges), and with judge. Takes `pairs`.
    """
    rows, found = _gambles(table), []
    for ratio, part in rows.groupby("ratio", sort=True):
        for condition, name in CONDITIONS.items():
            for cell in cells(part, part[name].to_numpy(dtype=float)):
                where = cell.where | {"ratio": f"{ratio:g}", "condition": condition}
                found.append(estimate("acceptance_rate", where, mean_of(cell, "no readable answer"), data))
    return found


def thresholds(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The log ratio at which half accept, in control and treatment, and the difference: loss aversion beyond risk.

    `acceptance_threshold` (where + condition) and `threshold_ratio` = treatment - control, both log; `where`: bias
    (mean over judges), and bias, judge. Both curves of a judge share their scenarios, so the sandwich is a joint one.
    No number where acceptance does not rise measurably with the ratio, where all or none accept, where a ratio parts
    the accepted from the declined without exception, and where half accept only beyond the ratios asked. Takes `pairs`.
    """
    found = []
    for bias, rows in _gambles(table).groupby("category", sort=True, observed=True):
        scenarios, names = pd.factorize(clusters_of(rows), sort=True)
        solved: dict[str, list[Solved]] = {condition: [] for condition in CONDITIONS}
        for where, part in places(rows.assign(scenario=scenarios)):
            for condition, name in CONDITIONS.items():
                solved[condition].append(threshold(part, name, len(names)))
            found += _estimates(where, {each: solved[each][-1:] for each in CONDITIONS}, data)
            for each in solved.values():
                each[-1] = replace(each[-1], problem=each[-1].problem and f"{where['judge']}: {each[-1].problem}")
        found += _estimates({"bias": str(bias)}, solved, data)
    return found


def _estimates(where: dict[str, str], solved: dict[str, list[Solved]], data: str) -> list[Estimate]:
    means = {name: together(each, [1 / len(each)] * len(each)) for name, each in solved.items()}
    found = [
        estimate("acceptance_threshold", where | {"condition": name}, interval(each, METHOD), data, "log")
        for name, each in means.items()
    ]
    difference = together([means["treatment"], means["control"]], [1, -1])
    return [*found, estimate("threshold_ratio", where, interval(difference, METHOD, null=0.0), data, "log")]


def _gambles(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["kind"] == "acceptance") & table["ratio"].notna()]


def threshold(rows: pd.DataFrame, name: str, scenarios: int) -> Solved:
    """The log ratio at which the logistic curve of column `name` crosses one half; `scenario` counts from 0.

    The contribution of a scenario is the delta method's: -(its influence on intercept + threshold * that on slope) /
    slope.
    """
    rows = rows[rows[name].notna()]
    accepted, ratio = rows[name].to_numpy(dtype=float), rows["ratio"].to_numpy(dtype=float)
    said = f"{'with' if name == 'a2' else 'without'} a possible loss"
    problem = _no_curve(accepted, ratio)
    if problem:
        return unsolved(f"{said} {problem}", scenarios, len(rows))
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
        return unsolved(f"{said} {problem}", scenarios, len(rows))
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
