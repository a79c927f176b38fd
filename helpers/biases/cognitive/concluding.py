"""What may be concluded of each bias, said so that noise is never called a bias, nor a lack of data its absence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from helpers.biases.cognitive.averages import LEVEL
from helpers.biases.cognitive.families import (
    UNEQUAL,
    Index,
    Place,
    by_judge,
    corrected,
    direction,
    family,
    habitual,
    index,
    lost,
    members,
    of,
    scenarios_needed,
    smallest_detectable,
    stands,
    undirected,
)
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.standing import clash
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import p_text


@dataclass(frozen=True)
class Known:
    """What every sentence looks up: all numbers, means over judges, the grid of judges, p and what stands."""

    all: Index
    family: Mapping[Place, Estimate]
    grid: Mapping[Place, Estimate]
    p: Mapping[Place, float]
    shown: Mapping[Place, int]
    needed: tuple[int, int]
    level: float


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: which biases are shown, in which direction, after Holm, and what the others could have shown.

    Shown is what stands (`families.stands`). A sentence of summary and one a bias; biases without an interval are told
    how many scenarios they need, and those without a known direction are named.
    """
    known = Known(
        index(estimates),
        family(estimates),
        by_judge(estimates),
        corrected(estimates),
        stands(estimates),
        scenarios_needed(estimates),
        LEVEL / max(1, len(members(estimates))),
    )
    each, none = known.family, undirected(estimates)
    told = f"Without a known direction, so that only the published metric is defined: {_words(none)}." if none else ""
    if not each:
        return told or "No test has a readable control and treatment: nothing can be concluded."
    least = smallest_detectable(estimates)
    lines = [f"- {_sentence(known, at, least[at])}" for at in each]
    lines += [f"- {who}: **{how}**; of {_words(names)}." for (who, how), names in habitual(estimates).items()]
    return "\n".join([_summary(known), "", *lines, *([f"- {told}"] if told else [])])


def _summary(known: Known) -> str:
    each, shown, p = known.family, known.shown, known.p
    simulated = "SIMULATED: " if any(e.data == "simulated" for e in each.values()) else ""
    judges = sorted({" ".join(at[1:]) for at in known.grid})
    who = f"on average over these {len(judges)} judges (of others nothing is said)" if len(judges) > 1 else judges[0]
    tested = [at for at in each if not math.isnan(p[at])]
    if not tested:
        start = "**nothing" if simulated else "**Nothing"
        return f"{simulated}{start} can be concluded** of {_words(at[0] for at in each)}, {who}."
    split = [at for at in each if _split(known, at)]
    kinds = {
        "move{s} answers **toward** the bias": [at for at in tested if shown.get(at) == 1],
        "move{s} answers **away from** the bias": [at for at in tested if shown.get(at) == -1],
        "change{s} answers in a way that we **cannot tell apart from noise**": [
            at for at in tested if p[at] < LEVEL and at not in shown
        ],
        "show{s} no measurable effect": [at for at in tested if not p[at] < LEVEL],
    }
    told = []
    for words, found in kinds.items():
        found = [at for at in found if at not in split]
        if found:
            told.append(f"{_words(at[0] for at in found)} {words.format(s='s' * (len(found) == 1))}")
    if split:
        told.append(f"single judges are moved **both ways** by {_words(at[0] for at in split)}")
    rest = [at for at in each if at not in tested and at not in split]
    if rest:
        told.append(f"nothing can be concluded of {_words(at[0] for at in rest)}")
    tests = sum(not math.isnan(p[at]) for at in (known.grid if len(judges) == 1 else p))
    many = f"Holm over {tests} tests, of biases and judges" if tests > 1 else "one bias tested"
    said = f"{who}, {'; '.join(told)} ({many})."
    return simulated + said if simulated or len(judges) < 2 else said[0].upper() + said[1:]


def _split(known: Known, at: Place) -> bool:
    """Whether some judges are moved toward this bias and some away from it: then their mean says nothing of them."""
    return len({sign for one, sign in known.shown.items() if len(one) > 1 and one[0] == at[0]}) > 1


def _words(names: Iterable[str]) -> str:
    found = [name.replace("_", " ") for name in names]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def _sentence(known: Known, at: Place, least: float) -> str:
    each, p = known.family[at], known.p[at]
    bias = at[0].replace("_", " ")
    shown = f"{bias}: {each}" if each.value == each.value else bias
    if math.isnan(p):
        return f"{shown}. {_untested(known, each)}{_besides(known, at, each)}"
    told = f"Holm p {p_text(p, FLOOR in each.method)}, {each.clusters} scenarios{clash(each, p)}"
    word = "toward" if each.value > 0 else "away from"
    if at in known.shown:
        said = f"**moves answers {word} the bias** ({told})"
    elif p < LEVEL:
        said = f"**cannot tell apart from noise** ({told}): {_unsettled(known, at)}"
    elif direction(each):
        said = f"**leans {word} the bias, not established** after correction ({told})"
    else:
        said = f"**no measurable effect** ({told})"
    if math.isnan(each.low):
        return f"{shown}, {said}; {each.method.split('; ')[0]}{_judges(known, at)}."
    could = "" if p < LEVEL else f"; a true effect of {least:.2f} would be found in 80 % of such runs"
    return f"{shown}, {said}{could}{_judges(known, at)}.{_besides(known, at, each)}"


def _unsettled(known: Known, at: Place) -> str:
    """Why an effect whose p is small is not said to be a move."""
    shift, scatter = of(known.all, "scale_shift", at), of(known.all, "scatter_change", at)
    if shift is None or math.isnan(shift.low):
        why = "whether answers move along the scale cannot be told"
        return f"{why} ({shift.method if shift else 'not measured'}), and mere scatter would do it too"
    sign = of(known.all, "shift_sign", at)
    if direction(shift) * known.family[at].value > 0:
        how = f"{scatter}" if scatter.value == scatter.value else scatter.method
        told = f"treatments may scatter otherwise than controls ({how}), which alone can shift answers near an end"
        test = f"of {sign.clusters} scenarios has p = {sign.p:.2g}" if sign and sign.p == sign.p else "has no value"
        return f"{told}, and the sign test {test}"
    told = f"the share of the distance changes, but along the scale answers move by {shift}"
    if scatter is not None and direction(scatter):
        more = "more" if scatter.value > 0 else "less"
        told += f"; treatments scatter {more} than controls ({scatter}), which is enough for that"
    return told


def _besides(known: Known, at: Place, each: Estimate) -> str:
    """What a reader of this effect has to know: judges that are not in it, and replies lost in one condition."""
    told = ""
    _, found, without = each.method.partition("; without ")
    if found:
        told += f" Without {without.partition(', who')[0]}, of whom no pair counts."
    before, after = (lost(known.all, at[0], condition) for condition in ("control", "treatment"))
    if abs(after - before) >= UNEQUAL:
        shares = f"{100 * after:.0f} % of treatments and {100 * before:.0f} % of controls"
        told += f" Careful: {shares} are lost; the effect is that of the readable ones."
    return told


def _untested(known: Known, each: Estimate) -> str:
    """Why there is no test, and how many scenarios it would take."""
    interval, test = known.needed
    if not each.clusters:
        return f"Nothing can be concluded: {each.method}."
    if each.clusters < MIN_CLUSTERS:
        plural = "s" if each.clusters > 1 else ""
        return (
            f"With {each.clusters} scenario{plural} there is no interval ({MIN_CLUSTERS} is the least) and no test: "
            f"an interval needs {interval} scenarios, and sign flips need {test} in which answers move to reach "
            f"Holm's level of {known.level:.2g} over biases and judges."
        )
    why = (each.method.partition("; ")[2] or each.method).removeprefix("no test: ")
    return f"No test: {why}; sign flips need {test} scenarios that move."


def _judges(known: Known, at: Place) -> str:
    """The judges that are moved for themselves."""
    grid, shown = known.grid, known.shown
    mine = [one for one in grid if one[0] == at[0]]
    if len(mine) < 2:
        return ""
    told = []
    for word, sign in (("toward it", 1), ("away from it", -1)):
        found = [" ".join(one[1:]) for one in mine if shown.get(one) == sign]
        if found:
            told.append(f"{', '.join(found)} {word}")
    moved = " and ".join(told) if told else "none"
    return f"; for itself is moved: {moved}"
