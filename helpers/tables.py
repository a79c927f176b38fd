"""Tables of estimates: tidy frames for reading, CSV that no spreadsheet runs, LaTeX that compiles."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from .escaping import LONGEST_CAPTION, LONGEST_CELL, NO_FORMULAS, cell, cut, html, latex, visible
from .types import Estimate
from .words import display_name

SIMULATED = "SIMULATED models."
#: Keys of `where` whose values are vendors: ids in data, names where people read.
VENDOR_KEYS = ("vendor", "judge_vendor")
NUMBERS = ("value", "low", "high", "n")
#: What stands for a missing value, as in LaTeX.
NOTHING = "\N{EN DASH}"
#: Headings of columns for readers, by the names of the columns in the data.
LABELS = {"question_id": "question", "judge_vendor": "judge's vendor", "judge_model": "judge's model"}
_NUMBER = re.compile(r"[-+]?(\d[\d,.]*(e[-+]?\d+)?|inf)( ?(%|[a-z]+))?")


@dataclass(frozen=True)
class Table:
    """A finished table: `frame` is what is read, `numbers` (if any) what is written to CSV in its place.

    Both have a column `data` (simulated, published, hub, asked, folder), else ValueError.
    """

    name: str
    frame: pd.DataFrame
    caption: str
    numbers: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        """Refuse a table that does not say where its numbers come from."""
        for frame in (self.frame, self.csv):
            if "data" not in frame:
                raise ValueError(f"table {self.name} has no column 'data'; it has: {', '.join(map(str, frame))}")

    @property
    def csv(self) -> pd.DataFrame:
        """The frame that is written to CSV."""
        return self.frame if self.numbers is None else self.numbers

    @property
    def words(self) -> str:
        """The caption, which says so where any number is from simulated judges."""
        sources = set(self.frame["data"])
        if "simulated" not in sources:
            return self.caption
        return f"{self.caption} {SIMULATED if len(sources) == 1 else f'Rows marked simulated: {SIMULATED}'}"

    def _repr_html_(self) -> str:
        return f'{render_html(self.frame)}\n<p class="{NO_FORMULAS}">{html(self.words)}</p>'

    def __repr__(self) -> str:
        """The table and its caption as plain text."""
        return f"{render_text(self.frame)}\n{visible(self.words)}"


@dataclass(frozen=True)
class View:
    """A frame that notebooks display in full, as HTML and as plain text."""

    frame: pd.DataFrame

    def _repr_html_(self) -> str:
        return render_html(self.frame)

    def __repr__(self) -> str:
        """The whole table as plain text."""
        return render_text(self.frame)


def estimates_table(
    estimates: Iterable[Estimate], rows: Sequence[str], columns: Sequence[str], numbers: bool = False
) -> pd.DataFrame:
    """The estimates as a wide table: a row for each place in `rows` and data source, a column for each in `columns`.

    `rows` and `columns` are keys of `where`, or "id". Columns of the result: `rows`, `data`, then per column the text
    "value [low, high]" in shown units; vendors are written as people write them. With `numbers` they keep their ids,
    and there are also `<column>_value`, `_low`, `_high` (as stored: rates in [0, 1]) and `_n`. An empty cell is "" and
    NaN. Order of first appearance. Two estimates for one cell or a missing key are a ValueError; no estimates give a
    frame with the row columns only.
    """
    keys, names, cells = dict[Any, Any](), dict[Any, Any](), dict[Any, Estimate]()
    for each in estimates:
        places = {"id": each.id, **each.where}
        missing = [key for key in (*rows, *columns) if key not in places]
        if missing:
            raise ValueError(f"{each.id}{dict(each.where)} has no {', '.join(missing)}; it has: {', '.join(places)}")
        if not numbers:
            places = {key: display_name(value) if key in VENDOR_KEYS else value for key, value in places.items()}
        key = (*(str(places[row]) for row in rows), each.data)
        name = " ".join(str(places[column]) for column in columns)
        if (key, name) in cells:
            raise ValueError(f"two estimates for {dict(zip((*rows, 'data'), key, strict=True))}, column '{name}'")
        cells[key, name] = each
        keys, names = keys | {key: None}, names | {name: None}
    table = pd.DataFrame(list(keys), columns=[*rows, "data"])
    for name in names:
        column = [cells.get((key, name)) for key in keys]
        table[name] = ["" if each is None else str(each) for each in column]
        if numbers:
            for what in NUMBERS:
                found = [None if each is None else getattr(each, what) for each in column]
                table[f"{name}_{what}"] = pd.array(found, dtype="Int64" if what == "n" else "float64")
    return table


def table(name: str, caption: str, estimates: Iterable[Estimate], rows: Sequence[str], columns: Sequence[str]) -> Table:
    """The estimates as a finished table (see `estimates_table`), with their numbers for CSV."""
    estimates = list(estimates)
    frame = estimates_table(estimates, rows, columns)
    return Table(name, frame, caption, estimates_table(estimates, rows, columns, numbers=True))


def format_table(frame: pd.DataFrame) -> tuple[list[str], list[str], list[list[str]]]:
    """The headings, alignments and rows of a frame for readers: texts in full, and a dash for a missing value.

    The index comes first, unless it has no name and only numbers the rows. Floats have up to 6 digits. Columns of
    numbers, with or without a unit, are aligned right, others left. An empty frame has a row that says so.

    >>> format_table(pd.DataFrame({"question_id": ["a_1", "b"], "n": [1200, -3]}))
    (['question', 'n'], ['left', 'right'], [['a_1', '1,200'], ['b', '-3']])
    """
    heads, columns, index = list(frame.columns), [], frame.index
    if index.names != [None] or (len(index) and not pd.api.types.is_integer_dtype(index.dtype)):
        suffix = "" if frame.columns.name is None else f" by {frame.columns.name}"
        heads = ["" if name is None else f"{LABELS.get(name, name)}{suffix}" for name in index.names] + heads
        columns = [[_cell(each, name=True) for each in index.get_level_values(at)] for at in range(index.nlevels)]
    columns += [[*map(_cell, frame.iloc[:, at].astype(object))] for at in range(frame.shape[1])]
    heads = [" ".join(map(str, each)).strip() if isinstance(each, tuple) else LABELS.get(each, each) for each in heads]
    heads = [_cell(each, name=True) for each in heads] or [""]
    filled = [{*column} - {NOTHING, ""} for column in columns]
    sides = ["right" if each and all(map(_NUMBER.fullmatch, each)) else "left" for each in filled] or ["left"]
    return heads, sides, [[*row] for row in zip(*columns, strict=True)] or [["no rows", *[""] * (len(heads) - 1)]]


def _cell(value: Any, name: bool = False) -> str:
    """One value as a text; a name is kept as it is, even where it is a number."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return NOTHING
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if name or not isinstance(value, Real):
        return visible(str(value))
    return f"{value:,.0f}" if value == value // 1 and abs(float(value)) < 1e15 else f"{value:,.6g}"


def render_html(frame: pd.DataFrame) -> str:
    """The frame as an HTML table in which no text becomes markup or a formula."""
    heads, sides, rows = format_table(frame)

    def row(tag: str, cells: Sequence[str]) -> str:
        # JupyterLab aligns every cell right that does not say otherwise.
        parts = zip(sides, map(html, cells), strict=True)
        marked = (f'<{tag} style="text-align: {side};">{each}</{tag}>' for side, each in parts)
        return f"<tr>{''.join(marked)}</tr>".replace("\n", "<br>")

    head, body = row("th", heads), "\n".join(row("td", each) for each in rows)
    return f'<table class="{NO_FORMULAS}">\n<thead>{head}</thead>\n<tbody>\n{body}\n</tbody>\n</table>'


def render_text(frame: pd.DataFrame) -> str:
    """The frame as plain text, one line a row."""
    heads, sides, rows = format_table(frame)
    lines = [[" ".join(each.split()) for each in row] for row in (heads, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    places = [f"{{:{'>' if side == 'right' else '<'}{width}}}" for side, width in zip(sides, widths, strict=True)]
    return "\n".join("  ".join(places).format(*line).rstrip() for line in lines)


def csv_text(frame: pd.DataFrame) -> str:
    """The frame as CSV; text that a spreadsheet would run as a formula gets a leading apostrophe, numbers 6 digits.

    Line breaks within text are written as \\n.

    >>> csv_text(pd.DataFrame({"a": ["=1+1", "x"], "b": [-0.5, float("nan")]}))
    "a,b\\n'=1+1,-0.5\\nx,\\n"
    """

    def harmless(value: object) -> object:
        if isinstance(value, float) and value == value:  # object columns are not reached by float_format
            return f"{value:.6g}"
        return cell(value) if isinstance(value, str) else value

    return frame.astype(object).map(harmless).rename(columns=harmless).to_csv(index=False, lineterminator="\n")


def cells(table: Table) -> dict[str, Any]:
    """A table's columns and rows as JSON can hold them: texts, numbers, None where there is nothing."""

    def plain(value: object) -> object:
        if pd.isna(value):
            return None
        return value.item() if hasattr(value, "item") else value if isinstance(value, int | float) else str(value)

    rows = [[*map(plain, row)] for row in table.frame.astype(object).itertuples(index=False, name=None)]
    return {
        "columns": [*map(str, table.frame)],
        "rows": rows,
        "best": [],
    }  # readers of protocol 1.0 expect marked cells


def latex_text(frame: pd.DataFrame, caption: str, label: str) -> str:
    """The frame as a LaTeX table with booktabs rules; cells, header and caption are escaped.

    Floats are written with 4 significant digits, NaN as a dash. `label` may hold letters, digits and : . _ -.
    """
    if not re.fullmatch(r"[A-Za-z0-9:._-]+", label):
        raise ValueError(f"table label '{label}': only letters, digits and : . _ - are allowed")

    def written(value: object) -> str:
        if pd.isna(value):
            return "--"
        return f"{value:.4g}" if isinstance(value, float) else latex(cut(value, LONGEST_CELL))

    # Two names may be written alike: places tell rows and columns apart.
    shown = frame.astype(object).map(written).set_axis(range(len(frame))).set_axis(range(frame.shape[1]), axis=1)
    # relabel_index reads its labels as patterns, in which a brace stands twice.
    heads = [latex(cut(column, LONGEST_CELL)).replace("{", "{{").replace("}", "}}") for column in frame.columns]
    styled = shown.style.hide(axis="index").relabel_index(heads, axis="columns")
    alignment = "".join("r" if pd.api.types.is_numeric_dtype(dtype) else "l" for dtype in frame.dtypes)
    words = latex(cut(caption, LONGEST_CAPTION))
    return styled.to_latex(hrules=True, caption=words, label=label, column_format=alignment, position_float="centering")
