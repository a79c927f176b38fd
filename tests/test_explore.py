"""Single judgments and tables for readers: texts in full, numbers aligned, and nothing becomes markup."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import nbformat
import numpy as np
import pandas as pd
import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings, strategies as st

from helpers import explore, paths, run
from helpers.explore import UNMARKED
from helpers.report.shown import Words, clean, closed
from helpers.run import Asked
from helpers.tables import NOTHING, Table, View, format_table, render_html, render_text
from helpers.types import Completion, Judgment, Trial
from tests.payloads import PAYLOADS, alive, unseen
from tests.runs import asked, full_run

SMALL = {"question_limit": 8, "candidates": ["sim_gpt_fast", "sim_claude_fast"], "control_limit": 0}


@pytest.fixture(scope="module")
def games() -> Asked:
    return asked("arena_hard_position_bias", **SMALL)


def winner(judgment: Judgment) -> str | None:
    """Who won, read from the verdict anew."""
    if judgment.verdict is None:
        return None
    choice = judgment.verdict.choice
    return "tie" if choice == "A=B" else judgment.trial.shown[0 if choice[0] == "A" else 1]


def test_flipped_is_what_names_another_winner_in_the_other_order(games: Asked) -> None:
    by: dict[tuple, dict[tuple[str, ...], str]] = defaultdict(dict)
    for each in games.judgments:
        if winner(each):
            trial = each.trial
            material = (trial.judge.name, trial.question_id, frozenset(trial.shown), trial.request.repeat)
            by[material][trial.shown] = winner(each)
    expected = sum(len(orders) for orders in by.values() if len(set(orders.values())) == 2)
    every = explore.items(games)
    assert 0 < expected == len(explore.chosen(every, mark="flipped")) == explore.counted(every)["flipped"]
    assert {item.judgment.outcome for item in explore.chosen(every, mark="flipped")} == {"ok"}


def test_own_is_what_ranks_the_judges_own_answer_first() -> None:
    def first(each: Judgment) -> str:
        return each.trial.shown[each.trial.labels.index(each.verdict.ranking[0])]

    expected = [each for each in full_run().judgments if each.verdict and first(each) == each.trial.judge.name]
    found = explore.chosen(explore.items(full_run()), mark="own")
    assert [item.judgment for item in found] == expected and len(expected) > 10


def test_filters_hold_together_and_offer_what_is_there(games: Asked) -> None:
    every = explore.items(games)
    offered = explore.choices(every)
    assert offered["judge"] == sorted({each.trial.judge.name for each in games.judgments})
    assert set(offered["outcome"]) == {each.outcome for each in games.judgments}
    judge, category = offered["judge"][0], offered["category"][0]
    some = explore.chosen(every, judge=judge, category=category, mark=None)
    assert some == [x for x in every if (x.judgment.trial.judge.name, x.judgment.trial.category) == (judge, category)]
    sizes = [len(explore.chosen(every, mark=mark)) for mark in offered["mark"]]
    assert UNMARKED in offered["mark"] and sum(sizes) >= len(every)
    with pytest.raises(ValueError, match="no filter model; there are: judge, category, condition, outcome, mark"):
        explore.chosen(every, model="x")


def test_a_key_leads_to_its_judgment(games: Asked) -> None:
    every = explore.items(games)
    assert explore.named(every, every[7].key).judgment is every[7].judgment
    assert explore.named(every, every[7].key[:12].upper()) is every[7]
    for key, told in (("abc", "at least 6"), ("z" * 12, "no judgment of this run")):
        with pytest.raises(ValueError, match=told):
            explore.named(every, key)


def test_beside_a_judgment_stand_its_orders_and_repeats(games: Asked) -> None:
    every = explore.items(games)
    beside = explore.siblings(every, every[0])
    trial = every[0].judgment.trial
    # Both orders, each asked twice.
    assert len(beside) == 3 and {tuple(sorted(x.judgment.trial.shown)) for x in beside} == {tuple(sorted(trial.shown))}
    shown = BeautifulSoup(explore.detail(every[0], beside, simulated=True), "html.parser")
    assert len(shown.table.tbody.find_all("tr")) == 4 and "SIMULATED" in shown.text
    first = shown.section
    assert [each.text for each in first.find_all("summary")] == ["System text", "Prompt", "Reply"]
    texts = [each.text for each in first.find_all("pre")]
    assert texts[1].split() == trial.request.prompt.split()
    assert texts[2].split() == every[0].judgment.completion.text.split()
    assert every[0].key in first.text and "$0.0000" in first.text


def test_beside_a_wording_stand_the_same_two_texts_and_no_others() -> None:
    every = explore.items(asked("verbosity_style", question_limit=8, judges=["sim_gpt_grader"]))

    def texts(item: explore.Item) -> list[str]:
        found = re.findall(r"<<<ANSWER (?:A|B) (\w+)>>>\n(.*?)\n<<<END", item.judgment.trial.request.prompt, re.DOTALL)
        return sorted(text for _, text in found)

    assert every and {len(texts(item)) for item in every} == {2}
    for item in every:
        beside = explore.siblings(every, item)
        # Both orders; the wordings themselves and their control are asked twice.
        assert len(beside) == (3 if item.judgment.trial.condition in ("style", "control") else 1)
        assert [texts(other) for other in beside] == [texts(item)] * len(beside)


def test_beside_a_marked_verdict_stands_first_what_it_is_marked_by(games: Asked) -> None:
    def first_other(every: list[explore.Item], item: explore.Item) -> Judgment:
        """What a reader sees beside it: the first that says something else."""
        return next(x for x in explore.siblings(every, item) if x.verdict != item.verdict).judgment

    every = explore.items(games)
    for item in explore.chosen(every, mark="flipped"):
        beside = first_other(every, item)
        assert beside.trial.shown == item.judgment.trial.shown[::-1] and winner(beside) != winner(item.judgment)
        assert beside.trial.request.repeat == item.judgment.trial.request.repeat

    def of_hints(trial: Trial) -> object:
        return trial.shown

    def of_tests(trial: Trial) -> object:
        """Control and treatment of a bias test differ in the order of their options."""
        return trial.where["place"], trial.request.repeat

    for name, same in (("hinting_groups", of_hints), ("cognitive_biases", of_tests)):
        every = explore.items(asked(name, question_limit=14))
        changed = explore.chosen(every, mark="changed")
        assert len(changed) > 10
        for item in changed:
            beside = first_other(every, item).trial
            assert beside.condition in ("none", "control") and same(beside) == same(item.judgment.trial)


def test_of_a_bias_test_the_options_are_read_and_not_their_numbers() -> None:
    every = explore.items(asked("cognitive_biases", question_limit=14))
    item = next(each for each in every if each.judgment.trial.condition == "treatment" and each.verdict)
    page = BeautifulSoup(explore.detail(item, explore.siblings(every, item)), "html.parser")
    shown = next(each.code.text for each in page.find_all("li") if each.text.startswith("shown:"))
    prompt = item.judgment.trial.request.prompt
    assert len(shown.split("; ")) >= 2
    assert all(each.replace(": ", ") ", 1) in prompt for each in shown.split("; "))


@pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
def test_nothing_that_somebody_wrote_becomes_markup(games: Asked, payload: str) -> None:
    judgment = next(each for each in games.judgments if each.verdict)
    trial = judgment.trial
    sendable = payload.encode("utf-8", "replace").decode()  # half a character can be in no prompt
    request = replace(trial.request, source=sendable, system=sendable)
    names = {"question_id": payload, "category": payload, "condition": payload, "shown": (payload, "b")}
    hostile = replace(
        judgment,
        trial=replace(trial, request=request, **names),
        completion=Completion("k", "ok", text=payload, model=payload),
    )
    item = explore.Item(hostile, (), f"A>B ({payload})", None)
    plain = explore.Item(judgment, (), "A>B", None)
    tags = {each.name for each in BeautifulSoup(explore.detail(plain, [plain]), "html.parser").find_all(True)}
    page = BeautifulSoup(explore.detail(item, [item, plain]), "html.parser")
    assert {each.name for each in page.find_all(True)} <= tags
    assert {name for each in page.find_all(True) for name in each.attrs} <= {"style", "open", "tabindex", "scope"}
    explorer = explore.explorer([item, plain])
    assert "<" not in explorer.children[1].value, "the count holds no name"


# In a notebook.


def told(monkeypatch: pytest.MonkeyPatch, browser: bool, *given: Any, **options: Any) -> list[Any]:
    """What is displayed."""
    found: list[Any] = []
    monkeypatch.setattr("IPython.display.display", found.append)
    monkeypatch.setattr(explore, "in_browser", lambda: browser)
    explore.show(*given, **options)
    return found


def test_an_executed_notebook_gets_counts_and_a_table(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    words, table = told(monkeypatch, False, games, most=4)
    flipped = explore.counted(explore.items(games))["flipped"]
    assert f"Of {len(games.judgments)} judgments: {flipped} *flipped*" in words.data and "**SIMULATED**" in words.data
    assert "A verdict can have several marks. Noise alone makes some of them." in words.data
    assert len(BeautifulSoup(table._repr_html_(), "html.parser").tbody.find_all("tr")) == 4
    (alone,) = told(monkeypatch, False, games, key=games.judgments[3].trial.request.key)
    assert games.judgments[3].trial.request.key in alone.data


def test_without_judgments_it_says_why(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (words,) = told(monkeypatch, False, replace(games, judgments=()))
    assert "not asked here" in words.data


def test_in_jupyterlab_filters_the_list_and_the_key_choose(games: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    (widget,) = told(monkeypatch, True, games)
    assert isinstance(widget, ipywidgets.VBox)
    controls, count, found, shown = widget.children
    boxes = SimpleNamespace(**{each.description: each for each in controls.children})
    every = explore.items(games)
    assert f"{len(every):,} of {len(every):,} judgments" in count.value and "SIMULATED" in count.value
    boxes.mark.value = "flipped"
    flipped = explore.chosen(every, mark="flipped")
    assert f"{len(flipped)} of" in count.value and len(found.options) == len(flipped)
    assert flipped[0].key in shown.value, "the first of the list is shown"
    found.index = 1
    assert flipped[1].key in shown.value and flipped[0].key not in shown.value.split("<table")[0].split("</section>")[0]
    boxes.mark.value, boxes.key.value = None, every[5].key[:12]
    assert [value for _, value in found.options] == [5] and every[5].key in shown.value
    boxes.key.value = "nothing"
    assert not found.options and not shown.value and count.value.endswith(f"0 of {len(every)} judgments")


# --- tables -----------------------------------------------------------------------------------------------------------

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
    inside = BeautifulSoup(clean(closed(page)), "html.parser")
    marked = [cell.get("class") for cell in inside.find("tbody").find("tr").find_all("td")]
    assert marked == [["number"]] * 5 + [None] * 4, "so they stand in the report"
    long = BeautifulSoup(Words("x").boxed(closed(render_html(pd.DataFrame({"why": ["word " * 20]})))), "html.parser")
    assert long.find("td").get("class") == ["long"], "and long texts get room there"


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_hostile_text_is_words_wherever_it_stands(name: str) -> None:
    text = PAYLOADS[name]
    rows, columns = (pd.Index([text, "x"], name=text, dtype=object) for _ in range(2))
    frame = pd.DataFrame([[text, text * 2], ["", 1]], index=rows, columns=columns, dtype=object).assign(data="folder")
    page = render_html(frame)
    assert alive(page.replace("\u200d", "")) == alive(Table("x", frame, text)._repr_html_().replace("\u200d", "")) == []
    # The report has nothing that sets formulas.
    acting = [each for each in alive(clean(closed(page))) if not each.startswith("formula")]
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
