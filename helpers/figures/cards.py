"""The judge card before it is drawn: one line a cell, measures and judges in order, the strongest evidence first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from helpers.figures import panels
from helpers.types import Estimate
from helpers.words import CARD_VERDICTS, CardLine

#: The sign of each verdict: the fuller the worse, so that it is read without colour.
MARKS = {"bias": "\N{BLACK CIRCLE}", "hint": "\N{CIRCLE WITH LEFT HALF BLACK}", "not shown": "\N{WHITE CIRCLE}"}
MARKS |= {"untold": "?", "described": ""}
MEANINGS = {
    "bias": "bias: stands after correction",
    "hint": "hint: interval leaves out 0, no more",
    "not shown": "not shown",
    "untold": "untold: no interval",
}
#: Above this number of judges of one source the rest stands in the forest plots and in the table.
MOST = 12
#: Units that readers call otherwise.
UNITS = {"score": "share", "logit": "logits"}
Judge = tuple[str, str]


def judge(line: CardLine) -> Judge:
    """Whose cell a line is: source of data and judge; the same name published and asked is two rows."""
    return line.estimate.data, line.judge


def cells(lines: Iterable[CardLine]) -> dict[tuple[Judge, str], CardLine]:
    """One line for each judge and measure: of several experiments' the gravest, then the largest."""
    found: dict[tuple[Judge, str], CardLine] = {}
    for line in lines:
        key = judge(line), line.measure
        if key not in found or _rank(line) < _rank(found[key]):
            found[key] = line
    return found


def _rank(line: CardLine) -> tuple[int, float]:
    value = line.estimate.value
    return CARD_VERDICTS.index(line.verdict), 0.0 if math.isnan(value) else -abs(value)


def measures(lines: Iterable[CardLine]) -> list[str]:
    """The measures in order of first appearance; those that only describe last, the commonest of all at the end."""
    judged: dict[str, int] = {}
    for line in lines:
        count = judged.get(line.measure, 1)
        judged[line.measure] = 0 if line.verdict != "described" or not count else count + 1
    return sorted(judged, key=judged.get)


def ranked(lines: Sequence[CardLine]) -> dict[str, list[str]]:
    """The judges of each source, in the order of panels.SOURCES, strongest evidence first; all of them.

    Most biases, then most hints, then the number farthest from 0 in widths of its interval, then the most that was
    tested. Judges that are only described come last.
    """
    found = cells(lines)
    every = list(dict.fromkeys(judge(line) for line in lines))
    order = [*panels.SOURCES, *sorted({data for data, _ in every} - set(panels.SOURCES))]
    mine = {each: [line for (who, _), line in found.items() if who == each] for each in every}
    return {
        data: [name for _, name in sorted((e for e in every if e[0] == data), key=lambda e: _evidence(mine[e], e[1]))]
        for data in order
        if any(source == data for source, _ in every)
    }


def _evidence(mine: Sequence[CardLine], name: str) -> tuple[int, int, float, int, str]:
    count = {verdict: sum(line.verdict == verdict for line in mine) for verdict in CARD_VERDICTS}
    apart = max((_apart(line.estimate) for line in mine if line.verdict in ("bias", "hint")), default=0.0)
    return -count["bias"], -count["hint"], -apart, -count["not shown"], name


def _apart(each: Estimate) -> float:
    width = each.high - each.low
    return abs(each.value) / width if width > 0 else 0.0


def shown(lines: Sequence[CardLine], most: int = MOST) -> dict[str, list[str]]:
    """At most `most` judges of each source, with the strongest evidence; each measure that judges keeps its gravest.

    A measure of which nothing could be told is a finding too: without its gravest judge it would vanish.
    """
    found, chosen = cells(lines), {}
    for data, names in ranked(lines).items():
        keep: list[str] = []
        for measure in measures(lines):
            mine = [name for name in names if ((data, name), measure) in found]
            judged = [name for name in mine if found[(data, name), measure].verdict != "described"]
            if judged:
                keep.append(min(judged, key=lambda name: _rank(found[(data, name), measure])))
        kept = list(dict.fromkeys([*keep, *(n for n in names if any(_judged(found, data, n)))]))[:most]
        # Only described judges fill a card on which nobody is judged.
        chosen[data] = [name for name in names if name in (kept or names[:most])]
    return chosen


def _judged(found: Mapping[tuple[Judge, str], CardLine], data: str, name: str) -> list[bool]:
    return [line.verdict != "described" for (who, _), line in found.items() if who == (data, name)]


def number(each: Estimate, unit: bool = True) -> str:
    """The value as a cell has it, without its interval.

    >>> number(Estimate("x", {}, -0.172, unit="pp")), number(Estimate("x", {}, 0.41), unit=False)
    ('\N{MINUS SIGN}17.2 pp', '41')
    """
    if math.isnan(each.value):
        return panels.NOT_ESTIMABLE
    factor, name = panels.scale(each.unit)
    digits = {"rate": 0 if each.value >= 0.1 else 1, "pp": 1, "logit": 1}.get(each.unit, 2)
    sign = "" if each.unit in ("rate", "count") or each.id == "ratio_scale_absolute" else "+"
    shown_ = f"{each.value * factor:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return f"{shown_} {name}" if unit and name in ("%", "pp") else shown_


def interval(each: Estimate) -> str:
    """The bounds as a cell has them; "" where there are none."""
    if math.isnan(each.low):
        return ""
    factor, digits = panels.scale(each.unit)[0], 0 if each.unit in ("rate", "pp") else 1
    if each.unit == "score":
        digits = 2
    low, high = (f"{bound * factor:.{digits}f}".replace("-", "\N{MINUS SIGN}") for bound in (each.low, each.high))
    return f"{low} to {high}"
