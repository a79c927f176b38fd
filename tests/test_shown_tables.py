"""Tables for readers: texts in full, no NaN, no row numbers, numbers aligned right, and no markup from a cell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths, run
from helpers.report.fragments import Place, shown
from helpers.tables import NOTHING, Table, View, format_table, render_html, render_text
from tests.payloads import PAYLOADS, alive, unseen

LONG = "the decisions are not in the repository; only means were printed " * 20
NAN = float("nan")


def rows_of(page: str) -> list[list[str]]:
    """The texts of the cells of the one table of a page, head first."""
    (table,) = BeautifulSoup(page, "html.parser").find_all("table")
    return [[cell.get_text("\n") for cell in row.find_all(["th", "td"])] for row in table.find_all("tr")]


def sides_of(page: str) -> list[str]:
    return [cell["style"] for cell in BeautifulSoup(page, "html.parser").find("tr").find_all("th")]


#: By what is hard about it: a frame, its head, and its rows as they must be read.
FRAMES: dict[str, tuple[pd.DataFrame, list[str], list[list[str]]]] = {
    "a long text": (pd.DataFrame({"reason": [LONG]}), ["reason"], [[LONG]]),
    "NaN, None, NA and NaT": (
        pd.DataFrame({"x": [NAN, 0.5], "y": [None, "a"], "z": [pd.NA, 1], "t": [pd.NaT, pd.Timestamp("2026-01-02")]}),
        ["x", "y", "z", "t"],
        [[NOTHING] * 4, ["0.5", "a", "1", "2026-01-02 00:00:00"]],
    ),
    "an empty text is no missing one": (pd.DataFrame({"x": ["", None]}), ["x"], [[""], [NOTHING]]),
    "infinite": (pd.DataFrame({"x": [np.inf, -np.inf, 1.0]}), ["x"], [["inf"], ["-inf"], ["1"]]),
    "no rows": (pd.DataFrame({"a": [], "b": []}), ["a", "b"], [["no rows", ""]]),
    "no rows, and an index of another kind": (pd.DataFrame({"a": []}, index=[]), ["a"], [["no rows"]]),
    "nothing at all": (pd.DataFrame(), [""], [["no rows"]]),
    "two levels of rows": (
        pd.DataFrame({"n": [1]}, index=pd.MultiIndex.from_tuples([("j", 2)], names=["judge", "dose"])),
        ["judge", "dose", "n"],
        [["j", "2", "1"]],
    ),
    "two levels of columns": (
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "n"), ("b", "")])),
        ["a n", "b"],
        [["1", "2"]],
    ),
    "two columns of one name": (pd.DataFrame([[1, "x"]], columns=["a", "a"]), ["a", "a"], [["1", "x"]]),
    "an index of a column's name": (
        pd.DataFrame({"judge": ["x"]}, index=pd.Index(["y"], name="judge")),
        ["judge", "judge"],
        [["y", "x"]],
    ),
    "other letters": (pd.DataFrame({"Größe": ["判定 שלום é"]}), ["Größe"], [["判定 שלום é"]]),
    "several lines": (pd.DataFrame({"x": ["one\ntwo\n\nthree"]}), ["x"], [["one\ntwo\n\nthree"]]),
    "whole numbers with a missing one": (
        pd.DataFrame({"a": [3, None], "b": pd.array([4, None], dtype="Int64")}),
        ["a", "b"],
        [["3", "4"], [NOTHING, NOTHING]],
    ),
    "negative and large numbers": (
        pd.DataFrame({"n": [-1200, 29887], "x": [-0.25, 18.850267], "y": [1e-9, 123456.789], "z": [0.0, 1234567.0]}),
        ["n", "x", "y", "z"],
        [["-1,200", "-0.25", "1e-09", "0"], ["29,887", "18.8503", "123,457", "1,234,567"]],
    ),
    "truth values": (pd.DataFrame({"a": [True, False], "b": [True, None]}), ["a", "b"], [["yes"] * 2, ["no", NOTHING]]),
    "categories": (
        pd.DataFrame({"c": pd.Categorical(["b", None, "b"]), "n": pd.Categorical([1, 2, 1])}),
        ["c", "n"],
        [["b", "1"], [NOTHING, "2"], ["b", "1"]],
    ),
    "numbers that name rows and columns": (
        pd.DataFrame({2024: [1]}, index=pd.Index([2030], name="year")),
        ["year", "2024"],
        [["2030", "1"]],
    ),
    "rows that are left of more": (pd.DataFrame({"x": list("abc")}).iloc[[2, 0]], ["x"], [["c"], ["a"]]),
    "texts that name rows": (pd.DataFrame({"x": [1]}, index=["a"]), ["", "x"], [["a", "1"]]),
    "an index and columns with names": (
        pd.DataFrame([[78]], index=pd.Index(["m"], name="candidate"), columns=pd.Index(["A"], name="label")),
        ["candidate by label", "A"],
        [["m", "78"]],
    ),
    "a label for an id": (pd.DataFrame({"question_id": ["coding_28"]}), ["question"], [["coding_28"]]),
    "a judge's name is typed and stays": (pd.DataFrame({"sim_gpt_fast": [1]}), ["sim_gpt_fast"], [["1"]]),
    "200 rows and 30 columns": (
        pd.DataFrame({f"c{at}": range(200) for at in range(30)}),
        [f"c{at}" for at in range(30)],
        [[f"{at}"] * 30 for at in range(200)],
    ),
    "half precision": (pd.DataFrame({"x": np.array([0.1], dtype="float32")}), ["x"], [["0.1"]]),
    "cells that are lists": (pd.DataFrame({"x": [[1, 2], [NAN]]}), ["x"], [["[1, 2]"], ["[nan]"]]),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_read_as_it_was_meant(name: str) -> None:
    frame, heads, rows = FRAMES[name]
    told, sides, cells = format_table(frame)
    assert (told, cells) == (heads, rows) and len(sides) == len(heads)
    # Between two cells there are blanks only, and a cell's own are as wide as one.
    lines = [" ".join(line.split()) for line in render_text(frame).splitlines()]
    assert lines == [" ".join(" ".join(row).split()) for row in [heads, *rows]]
    read = rows_of(render_html(frame))
    assert [[cell.split() for cell in row] for row in read] == [
        [cell.split() for cell in row] for row in [heads, *rows]
    ]
    assert (repr(View(frame)), View(frame)._repr_html_()) == (render_text(frame), render_html(frame))


def test_numbers_stand_on_the_right_with_their_units_and_texts_on_the_left() -> None:
    right = {
        "n": [1, 2],
        "x": [0.5, None],
        "unit": ["8.1 pp", "-12 pp"],
        "share": ["0.6%", NOTHING],
        "e": ["1e-09", ""],
    }
    left = {"judge": ["a", "b"], "key": ["3fbebd166013", "12"], "interval": ["1 [0, 2]", "2"], "none": ["", None]}
    page = render_html(pd.DataFrame({**right, **left}))
    assert sides_of(page) == ["text-align: right;"] * 5 + ["text-align: left;"] * 4
    inside = BeautifulSoup(str(shown(page, Place())), "html.parser")
    marked = [cell.get("class") for cell in inside.find("tbody").find("tr").find_all("td")]
    assert marked == [["number"]] * 5 + [None] * 4, "so they stand in the report"
    long = BeautifulSoup(str(shown(render_html(pd.DataFrame({"why": ["word " * 20]})), Place())), "html.parser")
    assert long.find("td").get("class") == ["long"], "and long texts get room there"


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_hostile_text_is_words_wherever_it_stands(name: str) -> None:
    text = PAYLOADS[name]
    rows, columns = (pd.Index([text, "x"], name=text, dtype=object) for _ in range(2))
    frame = pd.DataFrame([[text, text * 2], ["", 1]], index=rows, columns=columns, dtype=object).assign(data="folder")
    page = render_html(frame)
    assert alive(page.replace("\u200d", "")) == alive(Table("x", frame, text)._repr_html_().replace("\u200d", "")) == []
    # The report has nothing that sets formulas.
    acting = [each for each in alive(str(shown(page, Place()))) if not each.startswith("formula")]
    assert acting == []
    assert unseen(render_text(frame).replace("\u200d", "")) == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=80)), max_size=5))
def test_any_cell_is_one_cell(values: list[Any]) -> None:
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object), "b": "x"})
    heads, sides, rows = format_table(frame)
    assert (len(heads), len(sides), len(rows)) == (2, 2, max(1, len(values)))
    assert len(rows_of(render_html(frame))) == len(render_text(frame).splitlines()) == 1 + len(rows)
    assert not {"nan", "NaN", "None", "<NA>", "NaT"} & ({row[0] for row in rows} - {*filter(None, map(str, values))})


def test_a_notebook_displays_a_frame_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[Any] = []
    monkeypatch.setattr("IPython.display.display", found.append)
    run.show(pd.DataFrame({"reason": [LONG]}))
    assert LONG.strip() in found[0]._repr_html_() and LONG.strip() in repr(found[0])


# --- what is in git ---------------------------------------------------------------------------------------------------


def displayed(report: Path) -> list[tuple[str, str]]:
    """Every table of an executed notebook, as HTML and as plain text."""
    book = nbformat.read(report, as_version=4)
    outputs = [each.get("data", {}) for cell in book.cells if cell.cell_type == "code" for each in cell.outputs]
    return [(each["text/html"], each["text/plain"]) for each in outputs if "<table" in each.get("text/html", "")]


@pytest.mark.parametrize("name", sorted(path.parent.name for path in paths.EXPERIMENTS.glob("*/report.ipynb")))
def test_no_table_of_an_executed_notebook_is_cut_or_counts_its_rows(name: str) -> None:
    every = displayed(paths.EXPERIMENTS / name / "report.ipynb")
    assert every
    for page, text in every:
        head, *rows = rows_of(page)
        cells = [cell.strip() for row in rows for cell in row]
        cut = [each for each in cells if each.endswith(("...", "\N{HORIZONTAL ELLIPSIS}"))]
        assert cut == [] and not {"NaN", "nan", "None", "NaT", "<NA>"} & {*cells}
        assert head[0] or [row[0] for row in rows] != [f"{at}" for at in range(len(rows))], "no row numbers"
        lines = text.splitlines()
        notes = page.count("<p ")
        assert len(lines) == 1 + len(rows) + notes and not lines[0].endswith("\\"), "no table is folded"
        assert all(" ".join(cell.split()) in " ".join(text.split()) for cell in cells)
