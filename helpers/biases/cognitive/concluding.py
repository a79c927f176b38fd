"""What may be concluded of each bias, said so that noise is never called a bias, nor a lack of data its absence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.cognitive.averages import FLOOR, LEVEL
from helpers.biases.cognitive.families import (
    Place,
    by_judge,
    corrected,
    family,
    scenarios_needed,
    smallest_detectable,
)
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Estimate


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: which biases are shown, in which direction, after Holm, and what the others could have shown.

    A sentence of summary and one a bias; biases without an interval are told how many scenarios they need.
    """
    each, p, least = family(estimates), corrected(estimates), smallest_detectable(estimates)
    if not each:
        return "No test has a readable control and treatment: nothing can be concluded."
    lines = [f"- {_sentence(estimates, at, one, p[at], least[at])}" for at, one in each.items()]
    return "\n".join([_summary(estimates, p), "", *lines])


def _summary(estimates: Sequence[Estimate], p: dict[Place, float]) -> str:
    each = family(estimates)
    simulated = "SIMULATED: " if any(e.data == "simulated" for e in each.values()) else ""
    judges = sorted({" ".join(at[1:]) for at in by_judge(estimates)})
    who = f"on average over these {len(judges)} judges (of others nothing is said)" if len(judges) > 1 else judges[0]
    tested = [at for at in each if not math.isnan(p[at])]
    if not tested:
        start = "**nothing" if simulated else "**Nothing"
        return f"{simulated}{start} can be concluded** of {_listed(each)}, {who}."
    told = []
    for word, sign in (("toward", 1), ("away from", -1)):
        found = [at for at in tested if p[at] < LEVEL and sign * each[at].value > 0]
        if found:
            told.append(f"{_listed(found)} move{'s' * (len(found) == 1)} answers **{word}** the bias")
    unsure = [at for at in tested if not p[at] < LEVEL]
    if unsure:
        told.append(f"{_listed(unsure)} show{'s' * (len(unsure) == 1)} no measurable effect")
    rest = [at for at in each if at not in tested]
    if rest:
        told.append(f"nothing can be concluded of {_listed(rest)}")
    many = f"Holm over {len(tested)} biases" if len(tested) > 1 else "one bias tested"
    said = f"{who}, {'; '.join(told)} ({many})."
    return simulated + said if simulated or len(judges) < 2 else said[0].upper() + said[1:]


def _listed(places: object) -> str:
    names = [at[0].replace("_", " ") for at in places]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sentence(estimates: Sequence[Estimate], at: Place, each: Estimate, p: float, least: float) -> str:
    bias = at[0].replace("_", " ")
    shown = f"{bias}: {each}" if each.value == each.value else bias
    if math.isnan(p):
        return f"{shown}. {_untested(estimates, each)}"
    sign = "\u2264" if FLOOR in each.method else "="
    told = f"Holm p {sign} {p:.2g}, {each.clusters} scenarios"
    if p < LEVEL:
        word = "toward" if each.value > 0 else "away from"
        said = f"**moves answers {word} the bias** ({told})"
    elif each.low > 0 or each.high < 0:
        word = "toward" if each.value > 0 else "away from"
        said = f"**leans {word} the bias, not established** after correction ({told})"
    else:
        said = f"**no measurable effect** ({told})"
    if math.isnan(each.low):
        return f"{shown}, {said}; {each.method.split('; ')[0]}{_judges(estimates, at)}."
    could = "" if p < LEVEL else f"; a true effect of {least:.2f} would be found in 80 % of such runs"
    return f"{shown}, {said}{could}{_judges(estimates, at)}."


def _untested(estimates: Sequence[Estimate], each: Estimate) -> str:
    """Why there is no test, and how many scenarios it would take."""
    interval, test = scenarios_needed(estimates)
    if not each.clusters:
        return f"Nothing can be concluded: {each.method}."
    if each.clusters < MIN_CLUSTERS:
        plural = "s" if each.clusters > 1 else ""
        return (
            f"With {each.clusters} scenario{plural} there is no interval ({MIN_CLUSTERS} is the least) and no test: "
            f"an interval needs {interval} scenarios, and sign flips need {test} in which answers move to reach "
            f"Holm's level of {LEVEL / max(1, len(family(estimates))):.2g} over these biases."
        )
    why = each.method[each.method.find("no test: ") + len("no test: ") :] if "no test: " in each.method else each.method
    return f"No test: {why}; sign flips need {test} scenarios that move."


def _judges(estimates: Sequence[Estimate], at: Place) -> str:
    """The judges that are moved for themselves, which is exploratory."""
    p, grid = corrected(estimates), by_judge(estimates)
    mine = [one for one in grid if one[0] == at[0]]
    if len(mine) < 2:
        return ""
    told = []
    for word, sign in (("toward it", 1), ("away from it", -1)):
        found = [" ".join(one[1:]) for one in mine if p[one] < LEVEL and sign * grid[one].value > 0]
        if found:
            told.append(f"{', '.join(found)} {word}")
    moved = " and ".join(told) if told else "none"
    tests = sum(not math.isnan(p[one]) for one in grid)
    return f"; for itself is moved: {moved} (exploratory, Benjamini and Hochberg over {tests} tests)"
