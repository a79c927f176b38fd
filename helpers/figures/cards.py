"""The judge card, the card of an audit, and one number of a card across runs."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from ..types import Estimate
from ..words import CARD_VERDICTS, CardLine, plain
from .intervals import Row
from .points import NOT_ESTIMABLE, SOURCES, NothingToDraw, alt, by_data, in_order, scale, short, source_name
from .specs import SPECS, plot
from .style import COLOURS, GREY, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

#: The sign of each verdict: the fuller the worse, so that it is read without colour.
MARKS = {"bias": "\N{BLACK CIRCLE}", "hint": "\N{CIRCLE WITH LEFT HALF BLACK}", "not shown": "\N{WHITE CIRCLE}"}
MARKS |= {"untold": "?", "described": ""}
MEANINGS = {
    "bias": "bias: stands after correction",
    "hint": "hint: interval excludes 0, no more",
    "not shown": "not shown",
    "untold": "cannot tell: no interval",
}
LOOKS = {
    "bias": Look(COLOURS[6], "o"),
    "hint": Look(COLOURS[0], "D"),
    "not shown": Look(GREY, "s"),
    "untold": Look(GREY, "X"),
    "described": Look(GREY, "."),
}
#: The colours of a table by how grave a verdict is.
GRAVE = {"bias": 1.0, "hint": 0.45, "not shown": 0.0, "untold": 0.0}
#: Above this number of judges of one source the rest stands in the forest plots and in the table.
MOST = 12
#: Rows of a table that fit on a page, and columns that fit beside each other.
FIT, MOST_COLUMNS = 18, 10
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
    """The judges of each source, strongest evidence first; all of them.

    Most biases, then most hints, then the number farthest from 0 in widths of its interval, then the most that was
    tested. Judges that are only described come last.
    """
    found, every = cells(lines), list(dict.fromkeys(judge(line) for line in lines))
    mine = {each: [line for (who, _), line in found.items() if who == each] for each in every}

    def evidence(each: Judge) -> tuple[int, int, float, int, str]:
        count = Counter(line.verdict for line in mine[each])
        widths = [(line.estimate, line.estimate.high - line.estimate.low) for line in mine[each]
                  if line.verdict in ("bias", "hint")]  # fmt: skip
        apart = max((abs(number.value) / width for number, width in widths if width > 0), default=0.0)
        return -count["bias"], -count["hint"], -apart, -count["not shown"], each[1]

    order = in_order([data for data, _ in every], list(SOURCES))
    return {data: [name for _, name in sorted((e for e in every if e[0] == data), key=evidence)] for data in order}


def shown(lines: Sequence[CardLine], most: int = MOST) -> dict[str, list[str]]:
    """At most `most` judges of each source, with the strongest evidence; each measure that judges keeps its gravest.

    A measure that could not be estimated is a finding too: without its gravest judge it would vanish.
    """
    found, chosen = cells(lines), {}
    judged = {who for (who, _), line in found.items() if line.verdict != "described"}
    for data, names in ranked(lines).items():
        keep: list[str] = []
        for measure in measures(lines):
            mine = [found[(data, name), measure] for name in names if ((data, name), measure) in found]
            mine = [line for line in mine if line.verdict != "described"]
            keep += [min(mine, key=_rank).judge] if mine else []
        kept = list(dict.fromkeys([*keep, *(name for name in names if (data, name) in judged)]))[:most]
        # Only described judges fill a card on which nobody is judged.
        chosen[data] = [name for name in names if name in (kept or names[:most])]
    return chosen


def number(each: Estimate, unit: bool = True) -> str:
    """The value as a cell has it, without its interval.

    >>> number(Estimate("x", {}, -0.172, unit="pp")), number(Estimate("x", {}, 0.41), unit=False)
    ('\N{MINUS SIGN}17.2 pp', '41')
    """
    if math.isnan(each.value):
        return NOT_ESTIMABLE
    factor, name = scale(each.unit)
    digits = {"rate": 0 if each.value >= 0.1 else 1, "pp": 1, "logit": 1}.get(each.unit, 2)
    sign = "" if each.unit in ("rate", "count") or each.id == "ratio_scale_absolute" else "+"
    words = f"{each.value * factor:{sign}.{digits}f}".replace("-", "\N{MINUS SIGN}")
    return f"{words} {name}" if unit and name in ("%", "pp") else words


def interval(each: Estimate) -> str:
    """The bounds as a cell has them; "" where there are none."""
    if math.isnan(each.low):
        return ""
    factor, digits = scale(each.unit)[0], {"rate": 0, "pp": 0, "score": 2}.get(each.unit, 1)
    low, high = (f"{bound * factor:.{digits}f}".replace("-", "\N{MINUS SIGN}") for bound in (each.low, each.high))
    return f"{low} to {high}"


def show_judge_forest(
    lines: Sequence[CardLine], style: str | Style = "paper", name: str = "judge_forest", whose: str = ""
) -> Figure:
    """How strong is each bias of all judges, measure by measure?

    A heading for each measure with a verdict in the commonest unit, its judges from the largest value to the
    smallest, of each source of data for itself. `whose` is said of the judges in the title. No line with a verdict and
    a number is a ValueError (`points.NothingToDraw`).
    """
    look, spec = style_of(style), SPECS["judge_forest"]
    found = [line for line in cells(lines).values() if not math.isnan(line.estimate.value)]
    judged = {line.measure for line in found if line.verdict != "described"}
    found = [line for line in found if line.measure in judged]
    if not found:
        raise NothingToDraw("no line of a judge card has a verdict and a number")
    unit = Counter(line.estimate.unit for line in found if line.verdict != "described").most_common(1)[0][0]
    here = [line for line in found if line.estimate.unit == unit]
    rows = [
        Row(short(line.judge, 28), line.estimate, line.estimate.data, line.measure, look=LOOKS[line.verdict])
        for measure in measures(lines)
        for line in sorted((x for x in here if x.measure == measure), key=lambda x: (-x.estimate.value, x.judge))
    ]
    legend = {MEANINGS[verdict].split(":")[0]: LOOKS[verdict] for verdict in MEANINGS
              if any(line.verdict == verdict for line in here)}  # fmt: skip
    numbers, others = [line.estimate for line in here], len(found) - len(here)
    counts = [f"{len(group)} of {source_name(data)}" for data, group in by_data(numbers).items()]
    values: dict[str, Any] = {
        "unit": UNITS.get(unit, scale(unit)[1]),
        "whose": whose,
        "counts": ", ".join(counts),
        "others": others,
    }
    drawn = plot(spec, rows, look, legend, **values)
    return spec.finished(drawn, name, alt(spec.alt, numbers, most=spec.most), **values)


def _verdict_cell(line: CardLine | None, row: str, column: str, data: str) -> Cell:
    """A cell of a card: mark and number, the interval below them, coloured by its verdict; empty without a line."""
    if line is None:
        return Cell(row, column, math.nan, "", data)
    described = line.verdict == "described"
    bounds = "" if described else interval(line.estimate)
    value = f"{MARKS[line.verdict]} {number(line.estimate, unit=False)}".strip()
    grave = math.nan if described else GRAVE[line.verdict]
    return Cell(row, column, grave, f"{value}\n{bounds}" if bounds else value, data)


def _measure_title(measure: str, lines: Iterable[CardLine]) -> str:
    units = {scale(line.estimate.unit)[1] for line in lines if line.measure == measure}
    unit = f"\n({UNITS.get(unit, unit)})" if len(units) == 1 and (unit := units.pop()) else ""
    return "\n".join(textwrap.wrap(measure, 12, break_long_words=False)) + unit


def show_judge_card(lines: Sequence[CardLine], style: str | Style = "paper", name: str = "judge_card") -> Figure:
    """Which judge should be distrusted for what?

    A row a judge, of each source of data at most 12 with the strongest evidence, a column a measure with a
    verdict; a cell holds mark, number and interval, of several experiments' the gravest. No line is NothingToDraw.
    """
    look, spec = style_of(style), SPECS["judge_card"]
    if not lines:
        raise NothingToDraw("no line for a judge card")
    # So many rows of two lines fit on a page.
    found, chosen = cells(lines), shown(lines, min(MOST, FIT // len({line.estimate.data for line in lines})))
    rows = [(data, name_of) for data, names in chosen.items() for name_of in names]
    here = {key: line for key, line in found.items() if key[0] in rows}
    judged = {line.measure for line in here.values() if line.verdict != "described"}
    columns = [each for each in measures(lines) if each in judged] or measures(here.values())
    titles = {measure: _measure_title(measure, here.values()) for measure in columns}
    table = [
        _verdict_cell(here.get(((data, who), measure)), short(who, 22), title, data)
        for (data, who), (measure, title) in product(rows, titles.items())
    ]
    drawn = plot_table(table, look, "", "Oranges", (0, 1.3), above=True, title=spec.title)
    left = ", ".join(
        f"{len(names) - len(chosen[data])} of {len(names)} ({source_name(data)})"
        for data, names in ranked(lines).items()
        if len(names) > len(chosen[data])
    )
    clauses = []
    for data, names in chosen.items():
        facts = {who: [f"{x.measure} {x.verdict} {x.estimate}" for ((d, w), _), x in here.items()
                       if (d, w) == (data, who) and x.verdict != "described"] for who in names}  # fmt: skip
        findings = "; ".join(f"{who}: {', '.join(each) or 'only described'}" for who, each in facts.items())
        clauses.append(f"{source_name(data)}: {findings}.")
    words = f"Judge card. {' '.join(clauses)}"
    return spec.finished(drawn, name, words, left=left, marks=_marks(), simulated="simulated" in chosen)


def _marks() -> str:
    """What the signs of a table mean."""
    return "; ".join(f"{MARKS[verdict]} {meaning}" for verdict, meaning in MEANINGS.items())


def show_audit_card(
    lines: Sequence[CardLine],
    sides: Mapping[str, str],
    words_of: Mapping[str, str],
    words: str,
    notes: Mapping[str, str] | None = None,
    style: str | Style = "paper",
    name: str = "card",
    face: str = "",
) -> Figure:
    """Which manipulations move this judge, and which would have been seen to?

    A row a line, in the order given; `sides` says by measure what is set against what, `words_of` by verdict what it is
    called, `notes` by measure what else belongs beside the number. `words` are the caption's, `face` stands below the
    axis. The band of a row is what an effect must exceed to be found in 80 % of audits. No line, or lines of several
    judges, is a ValueError.
    """
    look = style_of(style)
    if not lines:
        raise NothingToDraw("no line for the card of an audit")
    judges, sources = {line.judge for line in lines}, {line.estimate.data for line in lines}
    if len(judges) > 1 or len(sources) > 1:
        raise ValueError(f"the card of an audit is of one judge, found {', '.join(sorted(judges))}")
    rows = []
    for line in lines:
        bounds = f"  ({interval(line.estimate)})" if interval(line.estimate) else ""
        more = (notes or {}).get(line.measure, "")
        if line.verdict in ("hint", "not shown") and not math.isnan(line.smallest):
            # Up: below it less is found than told.
            more = f"found from {math.ceil(100 * line.smallest - 1e-9)} pp"
        hinted = " (a hint)" if line.verdict == "hint" else ""
        note = f"{MARKS[line.verdict]} {words_of[line.verdict]}{hinted}\n{number(line.estimate)}{bounds}"
        note += f"; {more}" if more else ""
        label = f"{short(line.measure, 30)}\n{short(sides[line.measure], 30)}"
        each, mark = line.estimate, LOOKS[line.verdict]
        rows.append(Row(label, each, each.data, look=mark, reach=line.smallest, note=note))
    drawn = plot(SPECS["audit_card"], rows, look, judge=short(judges.pop(), 48),
                 face=f"; {plain(face)}" * bool(face))  # fmt: skip
    findings = "; ".join(f"{line.measure}: {words_of[line.verdict]}" for line in lines)
    text = alt("Card of one audited judge", [line.estimate for line in lines],
               {line.estimate.id: line.measure for line in lines})  # fmt: skip
    return drawn.finished(name, words + drawn.words, f"{text} {findings}.")


class Run(NamedTuple):
    """The settings of a run in words, which no other run of the same judge has, and the lines of its judge card."""

    settings: str
    lines: Sequence[CardLine]


def show_across_runs(
    runs: Sequence[Run], varied: Sequence[str] = (), style: str | Style = "paper", name: str = "across_runs"
) -> Figure:
    """Does a judge show a bias in every run, or only under some settings?

    `runs` in the order of rows; `varied` names what their settings are. A row a run, a column a judge and measure
    with a verdict; of several numbers of a measure in a run it is the gravest. Published data, which all runs
    share, are left out. No line with a verdict and a number is a ValueError (`points.NothingToDraw`).
    """
    look, spec, asked = style_of(style), SPECS["across_runs"], []
    for run in runs:
        here = cells(line for line in run.lines if line.estimate.data != "published")
        who = ", ".join(dict.fromkeys(line.judge for line in here.values()))
        asked.append((plain(run.settings) or short(who, 30), here))
    lines = [line for _, here in asked for line in here.values() if not math.isnan(line.estimate.value)]
    judged = {line.measure for line in lines if line.verdict != "described"}
    if not judged:
        raise NothingToDraw("no run has a line of a judge card with a verdict and a number")
    columns = list(
        dict.fromkeys((m, line.judge) for m in measures(lines) for line in lines if line.measure == m in judged)
    )
    fits, left = columns[:MOST_COLUMNS], len(columns[MOST_COLUMNS:])
    table, drawn_lines = [], []
    for data in by_data(line.estimate for line in lines):
        for row, here in asked:
            if not any(source == data for (source, _), _ in here):
                continue
            for measure, who in fits:
                line, column = here.get(((data, who), measure)), f"{_measure_title(measure, lines)}\n{short(who, 14)}"
                table.append(_verdict_cell(line, row, column, data))
                drawn_lines += [(row, line)] if line else []
    values = {"runs": "one run" if len(runs) == 1 else f"{len(runs)} runs", "marks": _marks(), "left": left}
    drawn = plot_table(table, look, "", "Oranges", (0, 1.3), above=True, title=spec.title.format(**values))
    # A setting is a place of a number as its judge is.
    rows = [replace(x.estimate, where={**x.estimate.where, "run": settings_of}) for settings_of, x in drawn_lines]
    counts = ", ".join(f"{len(group)} of {source_name(data)}" for data, group in by_data(rows).items())
    values |= {"by": f" ({', '.join(varied)})" if varied else "", "counts": counts, "several": len(runs) > 1}
    return spec.finished(drawn, name, alt(spec.alt, rows, most=spec.most), **values)
