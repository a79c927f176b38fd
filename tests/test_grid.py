"""Grids of parameters: which cells they make, and what is said of each wrong one, with file and line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from helpers.config import ConfigError
from helpers.run.matrix import settle
from tests.matrices import cells_of

GRID = """\
notebooks: [mt_bench_blind]
parameters:
  judges: [[sim_claude_fast], [sim_gpt_fast]]
  seed: [1, 2, 3]
"""


def varied(folder: Path, text: str, **given: Any) -> list[dict[str, Any]]:
    return [dict(cell.varied) for cell in cells_of(folder, text, **given)]


def test_the_cells_are_the_product_of_the_lists_and_the_last_varies_fastest(tmp_path: Path) -> None:
    assert varied(tmp_path, GRID) == [
        {"judges": [judge], "seed": seed} for judge in ("sim_claude_fast", "sim_gpt_fast") for seed in (1, 2, 3)
    ]


def test_excluded_cells_are_left_out_and_included_ones_come_last(tmp_path: Path) -> None:
    text = GRID + "exclude:\n  - {seed: 2}\n  - {judges: [sim_gpt_fast], seed: 3}\ninclude:\n  - {question_limit: 9}\n"
    assert varied(tmp_path, text) == [
        {"judges": ["sim_claude_fast"], "seed": 1},
        {"judges": ["sim_claude_fast"], "seed": 3},
        {"judges": ["sim_gpt_fast"], "seed": 1},
        {"question_limit": 9},
    ]


def test_a_cell_has_one_name_whatever_else_the_grid_holds_and_another_with_other_parameters(tmp_path: Path) -> None:
    ids = {cell.id for cell in cells_of(tmp_path, GRID)}
    more = {cell.id for cell in cells_of(tmp_path, GRID.replace("[1, 2, 3]", "[0, 1, 2, 3]"))}
    limited = {cell.id for cell in cells_of(tmp_path, GRID, question_limit=5)}
    assert len(ids) == 6 and ids < more and not ids & limited


def test_a_value_is_that_of_the_grid_and_no_other(tmp_path: Path) -> None:
    lists = "[1, 1.0, true, '1', {1: a, b: c}, [1], null]"
    seeds = [each["seed"] for each in varied(tmp_path, f"notebooks: [mt_bench_blind]\nparameters: {{seed: {lists}}}\n")]
    assert list(map(repr, seeds)) == ["1", "1.0", "True", "'1'", "{1: 'a', 'b': 'c'}", "[1]", "None"]
    one = f"notebooks: [mt_bench_blind]\nparameters: {{seed: {lists}}}\nexclude: [seed: true]\n"
    assert [repr(each["seed"]) for each in varied(tmp_path, one)][:3] == ["1", "1.0", "'1'"]


def test_notebooks_that_wait_for_others_come_after_them(tmp_path: Path) -> None:
    (cell,) = cells_of(tmp_path, "notebooks: [hinting_groups, mt_bench_blind]\ninclude: [{seed: 1}]\n")
    assert cell.notebooks == ("01_mt_bench_blind", "02_hinting_groups")


WRONG = [
    ("- 1\n", "grid.yaml: expected notebooks, parameters, include, exclude; found list"),
    (GRID + "cells: 3\n", "line 5: unknown key 'cells'; valid keys: notebooks, parameters, include, exclude"),
    (
        "parameters: {seed: [1]}\n",
        "grid.yaml: notebooks must be a list of names, not empty; there are: 01_mt_bench_blind",
    ),
    (GRID.replace("mt_bench_blind", "mt_bench"), "line 1: no notebook mt_bench; there are: 00_overview"),
    (GRID.replace("mt_bench_blind", "../mt_bench_blind"), "line 1: no notebook ../mt_bench_blind; there are: 00_"),
    (GRID.replace("[mt_", "[01_mt_bench_blind, mt_"), "line 1: a notebook is named twice"),
    (GRID.replace("mt_bench_blind", "overview"), "line 1: 00_overview collects what others found"),
    (GRID.replace("[1, 2, 3]", "1"), "line 4: seed = 1: must be a list of values, such as [1, 2]"),
    (GRID.replace("[1, 2, 3]", "[]"), "line 4: seed = []: must be a list of values"),
    (GRID.replace("[1, 2, 3]", "[1, 2, 1]"), "line 4: seed lists 1 twice"),
    (GRID.replace("[1, 2, 3]", "*seeds"), "line 4: anchors and aliases are not allowed"),
    (GRID.replace("  seed: [1, 2, 3]", "  seed: [1]\n  seed: [2]"), "line 5: duplicate key 'seed'"),
    (GRID.replace("seed", "store"), "line 4: store is one for the whole matrix; give it with -p store"),
    (GRID.replace("seed", "budget_usd"), "line 4: budget_usd is one for the whole matrix"),
    (
        GRID.replace("seed", "budget_total_usd"),
        "one for the whole matrix; give it with -p budget_usd",
    ),
    (GRID.replace("seed", "repeats"), "line 4: repeats is also given with -p; leave one of them out"),
    (GRID + "exclude:\n- seed: 4\n", "line 6: seed = 4 is in no cell; it is one of: 1, 2, 3"),
    (GRID + "exclude:\n- limit: 4\n", "line 6: 'limit' is not varied; `parameters:` has: judges, seed"),
    (GRID + "exclude: {seed: 1}\n", "line 5: exclude must be a list of parameters with values"),
    (GRID + "include: [{}]\n", "line 5: {}: an entry of include is like {seed: 1}"),
    (GRID + "include:\n- {seed: 1, judges: [sim_gpt_fast]}\n", "line 6: the cell seed=1, judges=[sim_gpt_fast] is"),
    (GRID + "include:\n- {out: here}\n", "line 6: out is one for the whole matrix"),
    (GRID + "exclude: [{seed: 1}, {seed: 2}, {seed: 3}]\n", "grid.yaml: no cell is left"),
    (GRID.replace("[1, 2, 3]", f"{[*range(101)]}\n  repeats_: {[*range(101)]}"), "line 2: 20402 cells; at most 10000"),
    (
        GRID.replace("[1, 2, 3]", f"{[*range(100)]}\n  margin_pp: {[*range(50)]}") + "include: [seed: 0]\n",
        "line 6: 10001 cells; at most 10000",
    ),
]


@pytest.mark.parametrize(("text", "said"), WRONG, ids=[said[:40] for _, said in WRONG])
def test_a_wrong_grid_is_told_by_file_and_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(said)) as error:
        cells_of(tmp_path, text, repeats=1)
    assert str(tmp_path / "grid.yaml") in str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("seed: [1", 'seed: ["a"', "cell judges=[sim_claude_fast], seed=a: parameters of mt_bench_blind: seed = 'a'"),
        ("seed", "sead", "cell judges=[sim_claude_fast], sead=1: mt_bench_blind has no parameter sead; it has: judges"),
        ("seed", "a/b", "cell judges=[sim_claude_fast], a/b=1: mt_bench_blind has no parameter a/b; it has: judges"),
        (
            "judges: [[sim_claude_fast], [sim_gpt_fast]]",
            "judges: [sim_claude_fast, sim_gpt_fast]",
            "in a grid each value of judges is a list of its own, as in judges: [[one], [other]]",
        ),
        ("[sim_gpt_fast]", "[sim_gtp_fast]", "cell judges=[sim_gtp_fast], seed=1:"),
    ],
)
def test_a_parameter_that_no_notebook_takes_names_the_cell(tmp_path: Path, before: str, after: str, said: str) -> None:
    cells = cells_of(tmp_path, GRID.replace(before, after))
    with pytest.raises(ConfigError, match=re.escape(said)):
        settle(cells, tmp_path / "replies")


def test_a_key_in_a_grid_is_refused_and_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key-but-secret-0123456789")
    cells = cells_of(tmp_path, GRID.replace("[1, 2, 3]", "[not-a-key-but-secret-0123456789]"))
    with pytest.raises(ValueError, match="parameter seed holds the value of OPENAI_API_KEY") as error:
        settle(cells, tmp_path / "replies")
    assert "secret" not in str(error.value)
