"""Figures as specs.toml has them: which numbers stand where, and the words around them."""

from __future__ import annotations

import math
import pkgutil
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

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
    short,
)
from .style import Drawn, Figure, Look, Style, style as style_of

AVERAGE = "average"
#: The values of some keys of a place.
Value = tuple[str, ...]
Marks = Mapping[str, Look]


class Spec(NamedTuple):
    """One figure of specs.toml, which explains the fields."""

    title: str
    words: Sequence[str | Sequence[str]]
    alt: str = "{title}"
    most: int = 48
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
    axis: str | Mapping[str, str] = ""
    line: float = 0.0
    limits: Sequence[float] = ()
    alike: bool = True
    hollow: bool = True
    lost: str = "unreadable_share"
    lost_by: Sequence[str] | None = None
    lost_also: Sequence[str] = ("judge",)
    counted: tuple[str, str, str] = ("judgments", "questions", "judgments")
    bare: str = "Open markers"
    calls: Mapping[str, str] = {}
    names: Mapping[str, str] = {}

    def say(self, facts: Collection[str] = (), **values: object) -> str:
        """The words of the caption: parts that need a fact only where it is one."""
        parts = [part if isinstance(part, str) else part[1] * (part[0] in facts) for part in self.words]
        return "".join(parts).format(**{"title": self.title.format(**values), **values})


_TABLES: dict[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "specs.toml") or b"").decode())
TITLES: Mapping[str, str] = _TABLES.pop("titles")
NUMBERS: Mapping[str, tuple[str, str, str]] = _TABLES.pop("numbers")
SPECS = {name: Spec(**table) for name, table in _TABLES.items()}


def chosen(spec: Spec, estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates that a figure shows; a value that it has no room for is a ValueError."""
    shown = pick(estimates, list(spec.ids), *spec.where)
    for key, words in spec.values.items():
        if key != "id" and "," not in key:
            there = [each.where[key] for each in shown if key in each.where]
            check_values(there, words, f"{shown[0].id}: {key}")
    return shown


def lost_of(spec: Spec, estimates: Iterable[Estimate], shown: Sequence[Estimate]) -> list[Estimate]:
    """The unreadable shares that belong to these numbers."""
    return [] if spec.lost_by is None else losses(estimates, spec.lost, shown, *spec.lost_by, also=spec.lost_also)


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
    declared = spec.values.get(key) or (spec.ids if key == "id" else {})
    if declared:
        there = {", ".join(each): each for each in found}
        return [there.get(name, (name,)) for name in declared if name in there or part in spec.every]
    if len(keys) != 1:
        return found
    names = [each[0] for each in found if each]
    orders: dict[str, Callable[[], list[str]]] = {
        "vendor": lambda: list(look.looks(names)),
        spec.look: lambda: in_order(names, [*(each for each in looks if each not in marks), *marks]),
        "hint": lambda: in_order(names, HINTS),
        "bias": lambda: in_order(names, BIASES),
        "category": lambda: sorted(names),
        "dose": lambda: by_number(names),
        "slot": lambda: by_number(names),
    }
    return [*((each,) for each in orders.get(key, lambda: names)()), *([()] if () in found else [])]


def _label(spec: Spec, part: str, values: Value) -> str:
    """A value as rows, headings and panels call it."""
    keys: Sequence[str] = getattr(spec, part)
    key = ", ".join(keys)
    declared = {**(spec.ids if key == "id" else {}), **spec.values.get(key, {})}
    if (name := ", ".join(values)) in declared:
        return declared[name]
    return ("\n" if part == "row" else ", ").join(map(_word, keys, values, [spec.letters] * len(keys)))


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
    parts = ("panel", "group", "row", "series")
    panels, groups, names, series = (_ordered(spec, part, shown, look, looks, marks) for part in parts)
    at: dict[tuple[str, Value, Value, Value, Value], list[Estimate]] = {}
    for each in shown:
        panel, group, name, line = (value(each, getattr(spec, part)) for part in parts)
        at.setdefault((each.data, panel, group, name, line), []).append(each)
    sources, rows = by_data(shown), list[Row]()
    first = next(iter(sources.values()))
    for data, mine in sources.items():
        there = {(value(each, spec.group), value(each, spec.row)) for each in mine}
        numbers = first if spec.sort in spec.every else mine
        for panel in panels:
            for group in _sorted(spec, groups, numbers) if spec.sort == "group" else groups:
                here = {name for head, name in there if head == group}
                if not here and "group" not in spec.every:
                    continue
                near = [each for each in numbers if value(each, spec.group) == group]
                order = _sorted(spec, names, near) if spec.sort == "row" else names
                for name in (each for each in order if each in here or "row" in spec.every):
                    for line in series:
                        label, head = _label(spec, "row", name), _label(spec, "group", group)
                        other = spec.absent.get(data, spec.absent.get("other", "not asked"))
                        absent = spec.absent.get("there", other) if here else other
                        for each in at.get((data, panel, group, name, line), [None] if absent else []):
                            mark = PLAIN if each is None else _mark(each, spec, line, marks, looks)
                            rows.append(Row(label, each, data, head, _label(spec, "panel", panel), ", ".join(line),
                                            mark, absent=absent))  # fmt: skip
    return rows


def _sorted(spec: Spec, values: Sequence[Value], numbers: Sequence[Estimate]) -> list[Value]:
    """Values from the one with the largest number, or mean of several, of `sort_by`."""
    keys = [spec.panel, spec.row, ["id"]]
    counted = [e for e in numbers if not spec.sort_by or spec.sort_by in [", ".join(value(e, key)) for key in keys]]
    found: dict[Value, list[float]] = {}
    for each in counted:
        found.setdefault(value(each, getattr(spec, spec.sort)), []).append(each.value)
    means = {key: [each for each in numbers if not math.isnan(each)] for key, numbers in found.items()}
    return by_value(values, {key: sum(each) / len(each) for key, each in means.items() if each})


def _mark(each: Estimate, spec: Spec, line: Value, marks: Marks, looks: Marks) -> Look:
    names = (each.id, ", ".join(line), ", ".join(value(each, spec.row)))
    return next((marks[name] for name in names if name in marks), looks.get(each.where.get(spec.look, ""), PLAIN))


def plot(
    spec: Spec, rows: Sequence[Row], look: Style, legend: Marks | None = None, **values: Any,
) -> Drawn:  # fmt: skip
    """The rows as intervals, with the axis and the title of the figure; a value may be a `band` around 0."""
    axes = {"": spec.axis} if isinstance(spec.axis, str) else spec.axis
    named = {panel: words.format(**values) for panel, words in axes.items()}
    axis: str | Mapping[str, str] = named[""] if isinstance(spec.axis, str) else named
    line = None if math.isnan(spec.line) else spec.line
    limits = (spec.limits[0], spec.limits[1]) if spec.limits else None
    title = spec.title.format(**values)
    return plot_intervals(rows, look, axis, line, values.get("band"), limits, spec.alike, legend, title, spec.hollow)


def finish(
    spec: Spec, drawn: Drawn, name: str, shown: Sequence[Estimate], lost: Iterable[Estimate] = (),
    facts: Iterable[str] = (), also: Sequence[Estimate] = (), after: str = "", **values: object,
) -> Figure:  # fmt: skip
    """The figure with its caption and its text; facts are ids that are shown, and those given. `also` are numbers of
    the text alone, `after` ends the caption.
    """
    words = spec.say({*facts, *(each.id for each in shown)}, more=drawn.words, **values)
    full = caption(words, shown, lost, spec.counted, spec.bare)
    for source, ours in spec.calls.items():
        full = full.replace(source, ours)
    names = {id: " ".join(name.split()) for id, name in {**spec.ids, **spec.names}.items()}
    start = spec.alt.format(**{"title": spec.title.format(**values), **values})
    return drawn.finished(name, f"{full}{after}", alt(start, [*shown, *also], names, spec.most))


def draw(
    spec: Spec, shown: Sequence[Estimate], estimates: Sequence[Estimate], style: str | Style, name: str,
    rows: Sequence[Row] | None = None, placed: Sequence[Estimate] | None = None, marks: Marks | None = None,
    legend: Marks | None = None, vendors: Mapping[str, str] | None = None, lost: Iterable[Estimate] | None = None,
    facts: Iterable[str] = (), also: Sequence[Estimate] = (), after: str = "", **values: object,
) -> Figure:  # fmt: skip
    """The figure of the numbers `shown`, and of the unreadable shares among `estimates`: in the rows of the spec, or
    those given; `placed` are the numbers with keys of places that are the figure's own.
    """
    look = style_of(style)
    if spec.series == ["vendor"]:
        legend = {display_name(vendor): drawn for vendor, drawn in looks_of(spec, shown, look).items()}
    rows = rows_of(spec, placed or shown, look, marks, vendors) if rows is None else rows
    drawn = plot(spec, rows, look, legend, **values)
    lost = lost_of(spec, estimates, shown) if lost is None else lost
    return finish(spec, drawn, name, shown, lost, facts, also, after, **values)


def show(kind: str, estimates: Sequence[Estimate], style: str | Style, name: str, **options: Any) -> Figure:
    """The figure of specs.toml that is called `kind`, of those of the estimates that it takes."""
    return draw(SPECS[kind], chosen(SPECS[kind], estimates), estimates, style, name, **options)
