"""Figures as specs.toml has them: which numbers stand where, and the words around them."""

from __future__ import annotations

import math
import pkgutil
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..stats.standing import BY
from ..types import Estimate
from ..words import display_name, plain
from .intervals import Row, plot_intervals
from .points import (
    BIASES,
    HINTS,
    MEAN,
    PLAIN,
    alt,
    by_data,
    by_number,
    by_value,
    caption,
    check_values,
    in_order,
    judge_looks,
    losses,
    pick,
    scale,
    short,
)
from .style import Drawn, Figure, Look, Style, style as style_of

AVERAGE = "average"
PARTS = ("panel", "group", "row", "series")
#: The values of some keys of a place.
Value = tuple[str, ...]
Marks = Mapping[str, Look]


class Spec(NamedTuple):
    """One figure of specs.toml, which explains the fields."""

    title: str = ""
    words: Sequence[str | Sequence[str]] = ()
    alt: str = "{title}"
    most: int = 72
    ids: Mapping[str, str] = {}
    where: Sequence[Sequence[str]] = ()
    panel: Sequence[str] = ()
    group: Sequence[str] = ()
    row: Sequence[str] = ()
    series: Sequence[str] = ()
    every: Sequence[str] = ()
    values: Mapping[str, Mapping[str, str]] = {}
    sort: str = ""
    sort_by: str = ""
    absent: Mapping[str, str] = {}
    look: str = "judge"
    letters: int = 28
    axis: str = "{unit}"
    line: float | None = None
    limits: Sequence[float] = ()
    alike: bool = True
    hollow: bool = True
    lost: str = "unreadable_share"
    counted: tuple[str, str, str] = ("judgments", "questions", "judgments")
    bare: str = "Open markers"
    calls: Mapping[str, str] = {}

    def say(self, **values: Any) -> str:
        """The words of the caption: a part that needs a fact stands only where there is one, or with "no" none."""
        named = {"title": self.title.format(**values), **values}
        facts = {name if each else f"no {name}" for name, each in values.items()}
        parts = [each if isinstance(each, str) else each[1] * (each[0] in facts) for each in self.words]
        return "".join(parts).format(**named)

    def finished(self, drawn: Drawn, name: str, text: str = "", **values: Any) -> Figure:
        """The figure with the words of the spec alone, which need no account of intervals."""
        return drawn.finished(name, self.say(more=drawn.words, **values), text or self.alt.format(**values))


_TABLES: dict[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "specs.toml") or b"").decode())
TITLES: Mapping[str, str] = _TABLES.pop("titles")
NUMBERS: Mapping[str, tuple[str, str, str]] = _TABLES.pop("numbers")
SPECS = {name: Spec(**{**_TABLES.get(table.pop("like", ""), {}), **table}) for name, table in _TABLES.items()}


def chosen(spec: Spec, estimates: Iterable[Estimate]) -> list[Estimate]:
    """The estimates that a figure shows; a value that it has no room for is a ValueError."""
    keys = [key for key in (*spec.group, *spec.series, *spec.row, *spec.panel) if key != "id"]
    shown = pick(estimates, list(spec.ids), *(spec.where or [keys]))
    for key, words in spec.values.items():
        there = [each.where[key] for each in shown if key in each.where]
        check_values(there, words, f"{shown[0].id}: {key}")
    return shown


def value(each: Estimate, keys: Sequence[str]) -> Value:
    """What a number has for these keys of its place, or for its id."""
    return tuple(filter(None, (each.id if key == "id" else each.where.get(key, "") for key in keys)))


def looks_of(spec: Spec, shown: Iterable[Estimate], look: Style, vendors: Mapping[str, str] | None = None) -> Marks:
    """The looks of judges or of vendors (the mean over them first), in their order."""
    names = {each.where[spec.look] for each in shown if spec.look in each.where}
    if spec.look == "judge":
        return judge_looks(names, look, vendors)
    return {**({AVERAGE: MEAN} if AVERAGE in names else {}), **look.looks(names - {AVERAGE})}


def _ordered(spec: Spec, part: str, shown: Sequence[Estimate], look: Style, looks: Marks, marks: Marks) -> list[Value]:
    """The values of a part of a figure in their order: as declared, else as their key has it, else as they came."""
    keys: Sequence[str] = getattr(spec, part)
    found = list(dict.fromkeys(value(each, keys) for each in shown))
    key = ", ".join(keys)
    if declared := spec.values.get(key) or (spec.ids if key == "id" else {}):
        there = {", ".join(each): each for each in found}
        return [there.get(name, (name,)) for name in declared if name in there or part in spec.every]
    names = [each[0] for each in found if each]
    orders: Mapping[str, Iterable[str]] = {
        "vendor": look.looks(names),
        spec.look: [*(each for each in looks if each not in marks), *marks],
        "hint": HINTS,
        "bias": BIASES,
        "category": sorted(names),
        "dose": by_number(names),
        "slot": by_number(names),
    }
    return sorted(in_order(found, [(each,) for each in orders.get(key, ())]), key=lambda each: not each)


def _label(spec: Spec, part: str, values: Value) -> str:
    """A value as rows, headings and panels call it."""
    keys: Sequence[str] = getattr(spec, part)
    key, name = ", ".join(keys), ", ".join(values)
    declared = {**(spec.ids if "id" in keys else {}), **spec.values.get(key, {})}
    words = map(_word, keys, values, [spec.letters] * len(keys))
    return declared[name] if name in declared else ("\n" if part == "row" else ", ").join(words)


def _word(key: str, name: str, letters: int) -> str:
    if key == "judge" or key == "candidate":
        return short(name, letters)
    if key == "vendor":
        return "mean over vendors" if name == AVERAGE else display_name(name)
    if key == "bias":
        return bias_title(name)
    if key == "slot":
        return "shown first" if name == "1" else f"place {name}"
    return f"{name} words" if key == "dose" and name.isdigit() else plain(name)


def bias_title(bias: str) -> str:
    """A bias in words: its id without underscores."""
    return plain(bias.replace("_", " "))


def rows_of(
    spec: Spec, shown: Sequence[Estimate], look: Style, marks: Marks | None = None,
    vendors: Mapping[str, str] | None = None,
) -> list[Row]:  # fmt: skip
    """A row for each place of a source, panel and series, also where there is no number; `every` part shows its values
    in sources that lack them too. `marks` are looks of ids, rows and series that are not those of a judge or vendor.
    """
    marks = marks or {}
    looks = looks_of(spec, shown, look, vendors)
    panels, groups, names, series = (_ordered(spec, part, shown, look, looks, marks) for part in PARTS)
    at: dict[tuple[str, Value, Value, Value, Value], list[Estimate]] = {}
    for each in shown:
        panel, group, name, line = (value(each, getattr(spec, part)) for part in PARTS)
        at.setdefault((each.data, panel, group, name, line), []).append(each)
    sources, rows = by_data(shown), list[Row]()
    for data, mine in sources.items():
        numbers = next(iter(sources.values())) if spec.sort in spec.every else mine
        for panel, group in product(panels, _sorted(spec, groups, numbers) if spec.sort == "group" else groups):
            here = {row for source, _, head, row, _ in at if (source, head) == (data, group)}
            if not here and "group" not in spec.every:
                continue
            near = [each for each in numbers if value(each, spec.group) == group]
            order = _sorted(spec, names, near) if spec.sort == "row" else names
            other = spec.absent.get(data, spec.absent.get("other", "not asked"))
            absent = spec.absent.get("there", other) if here else other
            for name, line in product((each for each in order if each in here or "row" in spec.every), series):
                head, column, label = map(_label, [spec] * 3, ("group", "panel", "row"), (group, panel, name))
                for each in at.get((data, panel, group, name, line), [None] if absent else []):
                    looked = (each.id, *line, ", ".join(name)) if each else ()
                    mark = next((marks[word] for word in looked if word in marks), None)
                    mark = mark or looks.get(each.where.get(spec.look, "") if each else "", PLAIN)
                    rows.append(Row(label, each, data, head, column, ", ".join(line), mark, absent=absent))
    return rows


def _sorted(spec: Spec, values: Sequence[Value], numbers: Sequence[Estimate]) -> list[Value]:
    """Values from the one with the largest number, or mean of several, of `sort_by`."""
    found: dict[Value, list[float]] = {}
    for each in numbers:
        names = [", ".join(value(each, keys)) for keys in (spec.panel, spec.row, ["id"])]
        if not math.isnan(each.value) and (not spec.sort_by or spec.sort_by in names):
            found.setdefault(value(each, getattr(spec, spec.sort)), []).append(each.value)
    return by_value(values, {key: sum(each) / len(each) for key, each in found.items()})


def plot(
    spec: Spec, rows: Sequence[Row], look: Style, legend: Marks | None = None, band: float | None = None,
    **values: Any,
) -> Drawn:  # fmt: skip
    """The rows as intervals, with the axis and the title of the figure; `band` is a margin around 0."""
    rates = {row.estimate.unit for row in rows if row.estimate} == {"rate"}
    line = math.nan if spec.line is None and rates else spec.line or 0.0
    # A panel has the unit of its first number.
    axes = {row.panel: spec.axis.format(**{"unit": scale(row.estimate.unit)[1], **values})
            for row in reversed(rows) if row.estimate}  # fmt: skip
    axis: str | Mapping[str, str] = axes if len({*axes.values()}) > 1 else next(iter(axes.values()), spec.axis)
    title = spec.title.format(**values)
    return plot_intervals(
        rows, look, axis, None if math.isnan(line) else line, band, spec.limits, spec.alike, legend, title, spec.hollow
    )


def draw(
    kind: str | Spec, estimates: Sequence[Estimate], style: str | Style, name: str, /,
    shown: Sequence[Estimate] | None = None, placed: Sequence[Estimate] | None = None,
    rows: Sequence[Row] | None = None, drawn: Drawn | None = None, marks: Marks | None = None,
    legend: Marks | None = None, vendors: Mapping[str, str] | None = None, band: float | None = None,
    beside: Sequence[Estimate] = (), also: Sequence[Estimate] = (), after: str = "", **values: Any,
) -> Figure:  # fmt: skip
    """The figure of the numbers that specs.toml chooses, or of those `shown`, with unreadable shares of their places.

    Where they stand follows the spec, from the numbers `placed` at keys of the figure's own, or is given: as `rows`, or
    as a picture that is `drawn`. Unreadable shares of the places of `beside` count, too; `also` are numbers of the text
    alone, `after` ends the caption. `values` are what words name, and facts: ids that are shown are facts as well.
    """
    spec, look = SPECS[kind] if isinstance(kind, str) else kind, style_of(style)
    shown = chosen(spec, estimates) if shown is None else shown
    if spec.series == ["vendor"]:
        legend = {display_name(vendor): mark for vendor, mark in looks_of(spec, shown, look).items()}
    if drawn is None:
        rows = rows_of(spec, placed or shown, look, marks, vendors) if rows is None else rows
        drawn = plot(spec, rows, look, legend, band, **values)
    there = {**dict.fromkeys(spec.ids, False), **{each.id: True for each in shown}}
    line = "" if spec.line is None or math.isnan(spec.line) else f"{spec.line:g}"
    facts = {**there, "line": line, "band": band, "unit": scale(shown[0].unit)[1], "more": drawn.words, **values}
    full = caption(spec.say(**facts), shown, losses(estimates, spec.lost, [*shown, *beside]), spec.counted, spec.bare)
    for source, ours in spec.calls.items():
        full = full.replace(source, ours)
    habits = dict.fromkeys(f" {e.where['judge']}: {e.method}." for e in shown if e.method.startswith(BY))
    names = {id: " ".join(name.split()) for id, name in spec.ids.items()}
    start = spec.alt.format(**{"title": spec.title.format(**values), **values})
    return drawn.finished(name, "".join([full, *habits, after]), alt(start, [*shown, *also], names, spec.most))
