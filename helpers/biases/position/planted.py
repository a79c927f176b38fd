"""What was put into simulated judges, beside what was found of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.position.effects import LEVEL
from helpers.biases.position.families import Place, corrected, family, place
from helpers.types import Estimate, Model

#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4}
NONE = "These judges are not simulated: nothing was planted, so nothing planted can be compared."
READ = (
    "Planted numbers are utilities: what the first place is worth more than the second. On two identical texts nothing "
    "else is left but noise, so the effect there is known beforehand: with primacy p, F(p - tie) - F(-p - tie), where "
    "F is the logistic function at the scale of the judge's noise. An interval holds it in 95 of 100 runs: of several "
    "one may miss it by chance. On different answers the place competes with their quality: the first wins both games "
    "in at most F(p - tie)² - F(-p - tie)² more of the pairs than the second, and in fewer the further apart a judge "
    "feels that the answers are, so a sharp one shows less of the same habit. An effect that is found where 0 was "
    "planted is a false alarm."
)


def planted(judges: Sequence[Model], estimates: Sequence[Estimate]) -> str:
    """Which place simulated judges were made to favour and what was found, as Markdown: a table, and how to read it.

    A row a judge; several comparisons of one judge are summed up in a range and a count. Judges that are not simulated,
    or not estimated, are left out; where there are none the text says so.
    """
    if not any(each.data == "simulated" for each in estimates) or not any(judge.simulated for judge in judges):
        return NONE
    p, rows = corrected(estimates), []
    for judge in judges:
        mine = [e for e in estimates if e.where.get("judge") == judge.name and e.value == e.value]
        same = [e for e in mine if e.id == "identical_pair_effect"]
        swapped = {place(e.where): e for e in family(mine).values()}
        if not judge.simulated or not (same or swapped):
            continue
        worth, first, second = implied(judge)
        cells = [f"{worth:+g}" if worth else "0", _pp(first - second), _same(same, first - second)]
        cells += [_most(first**2 - second**2), _swapped(swapped, p)]
        rows.append(f"| {judge.name} | {' | '.join(cells)} |")
    if not rows:
        return "SIMULATED judges, but no pair was judged: what was planted in them cannot be compared with anything."
    head = [
        "| SIMULATED judge | planted: first place minus second | identical texts: planted | found "
        "| different answers: planted | first-position effect found |",
        "|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *rows, "", READ])


def implied(judge: Model) -> tuple[float, float, float]:
    """What the first place is worth to a simulated judge, and how often first and second win of two identical texts.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"primacy": [1.5, 0.5], "tie": 1.0})
    >>> [round(each, 4) for each in implied(judge)]
    [1.0, 0.5, 0.1192]
    """
    traits = {**DEFAULTS, **judge.traits}
    one, two = [*traits.get("primacy", ()), 0.0, 0.0][:2]
    tie, noise = max(0.0, traits["tie"]), traits["noise"]
    return one - two, _wins(one - two, tie, noise), _wins(two - one, tie, noise)


def _wins(lead: float, tie: float, noise: float) -> float:
    """How often a lead is no tie once logistic noise has been added."""
    if not noise or abs(lead - tie) > 700 * noise:
        return float(lead > 0 and lead >= tie)
    return 1 / (1 + math.exp((tie - lead) / noise))


def _pp(share: float) -> str:
    return f"{100 * share:+.1f} pp" if round(1000 * share) else "0"


def _most(bound: float) -> str:
    return f"{_pp(bound)} at most" if round(1000 * bound) else "0"


def _range(found: Sequence[Estimate]) -> str:
    values = sorted(each.value for each in found)
    return f"{100 * values[0]:+.1f} to {100 * values[-1]:+.1f} pp"


def _same(found: Sequence[Estimate], truth: float) -> str:
    """What was found on identical texts, and whether the intervals hold what was planted."""
    if not found:
        return "not asked"
    bounded = [each for each in found if each.low == each.low]
    held = sum(each.low <= truth <= each.high for each in bounded)
    if len(found) == 1:
        told = ("holds it" if held else "misses it") if bounded else "no interval"
        return f"{found[0]} ({told})"
    return (
        f"{_range(found)} ({held} of {len(bounded)} intervals hold it)" if bounded else f"{_range(found)} (no interval)"
    )


def _swapped(found: Mapping[Place, Estimate], p: Mapping[Place, float]) -> str:
    """What was found on different answers, and in how many comparisons it was, after Holm's correction over all."""
    if not found:
        return "not asked"
    tests = [at for at in found if p[at] == p[at]]
    hits = sum(p[at] < LEVEL for at in tests)
    if len(found) == 1:
        told = ("found" if hits else "not found") if tests else "no test"
        return f"{next(iter(found.values()))} ({told})"
    told = f"found in {hits} of {len(tests)} tests" if tests else "no test"
    return f"{_range([*found.values()])} ({told})"
