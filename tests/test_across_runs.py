"""What a matrix shows of its judges: a row a cell and line of its card, and one figure over all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers.figures import panels, show_across_runs
from helpers.figures.across_runs import MOST
from helpers.run import tabulating
from helpers.run.grid import Cell
from helpers.run.notebooks import Result, experiment_of
from helpers.types import CardLine
from tests.cells import texts
from tests.matrices import cells_of, ran, threads
from tests.test_overview import line, results

RUNS = {
    "shuffled, 1": [line("fair", "place", "not shown", 0.01), line("keen", "place", "bias", 0.2)],
    "shuffled, 2": [line("fair", "place", "hint", 0.06), line("keen", "place", "bias", 0.25)],
}


def in_pp(values: list[float]) -> list[float]:
    """Effects of 0.2 are drawn as 20 pp."""
    return [100 * value for value in values]


def drawn(runs: dict[str, list[CardLine]]) -> list[list[tuple[float, float]]]:
    """The points of each panel from top to bottom: height and value."""
    found = []
    for axes in show_across_runs(runs).figure.axes:
        marks = [each for each in axes.lines if each.get_marker() in ("o", "x")]
        found.append(sorted((float(each.get_ydata()[0]), float(each.get_xdata()[0])) for each in marks))
    return found


def test_each_run_of_a_judge_has_its_row_under_the_judge() -> None:
    (axes,) = show_across_runs(RUNS, ["option_order", "seed"]).figure.axes
    labels = axes.get_yticklabels()
    rows = sorted((place, label.get_text()) for place, label in zip(axes.get_yticks(), labels, strict=True))
    assert [words for _, words in rows] == ["fair", *RUNS, "keen", *RUNS]
    (found,) = drawn(RUNS)
    assert [value for _, value in found] == pytest.approx(in_pp([0.01, 0.06, 0.2, 0.25]))
    # The points stand at the rows of their runs, not of the names above them.
    assert [height for height, _ in found] == [place for place, words in rows if words in RUNS]
    caption = show_across_runs(RUNS, ["option_order", "seed"]).caption
    assert "each of 2 runs (option_order, seed)" in caption and "4 of asked judges" in caption


def test_of_many_runs_each_judge_has_one_name_and_all_its_points() -> None:
    many = {
        f"seed {n}": [line("fair", "place", "not shown", n / 1000), line("keen", "place", "bias")] for n in range(40)
    }
    (axes,) = show_across_runs(many).figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fair", "keen"] and len(many) > MOST
    (found,) = drawn(many)
    assert [value for _, value in found[:40]] == pytest.approx(in_pp([n / 1000 for n in range(40)]))
    assert len({height for height, _ in found}) == 80, "no point covers another"


def test_runs_that_differ_in_nothing_but_the_judge_need_no_words() -> None:
    (axes,) = show_across_runs({"": [*RUNS["shuffled, 1"]]}).figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["fair", "keen"]


def test_simulated_judges_say_so_and_published_data_are_left_out() -> None:
    runs = {"1": [line("sim", "place", "bias", data="simulated"), line("old", "place", "bias", data="published")]}
    shown = texts(show_across_runs(runs))
    assert "SIMULATED" in shown and "old" not in shown
    mixed = {"1": [*runs["1"], line("real", "place", "bias")]}
    assert "SIMULATED in grey" in texts(show_across_runs(mixed))
    with pytest.raises(panels.NothingToDraw):
        show_across_runs({"1": runs["1"][1:]})
    with pytest.raises(panels.NothingToDraw):
        show_across_runs({"1": [line("fair", "unreadable", "described")]})


@pytest.mark.parametrize("style", ["paper", "neurips", "icml", "acl", "talk"])
def test_nothing_leaves_the_figure(style: str) -> None:
    long = {f"{'reversed_order' * 3}, {n}": RUNS["shuffled, 1"] for n in range(3)}
    figure = show_across_runs(long, style=style).figure
    figure.canvas.draw()
    box = figure.bbox
    for axes in figure.axes:
        for label in axes.get_yticklabels():
            assert label.get_window_extent().x0 >= box.x0 - 1, label.get_text()


# Tables.

SEEDS = """\
notebooks: [cognitive_biases]
parameters:
  judges: [[sim_gpt_decider], [sim_claude_decider]]
  seed: [1, 2]
"""
OVERLAP = """\
notebooks: [cognitive_biases]
parameters:
  judges: [[sim_gpt_decider], [sim_gpt_decider, sim_claude_decider]]
"""


def carded(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """Results with a card, as a notebook leaves them; one cell fails."""
    if parameters["seed"] == 2 and parameters["judges"] == ["sim_claude_decider"]:
        return Result(notebook.stem, report, 0.0, "RuntimeError: no reply")
    lines = [line(judge, "profile", "bias", parameters["seed"] / 10) for judge in parameters["judges"]]
    results(report.parent, experiment_of(notebook), [*lines, line("old", "profile", "bias", data="published")])
    return Result(notebook.stem, report, 0.0)


def done(folder: Path, grid: str, **given: Any) -> list[Cell]:
    """The cells of a grid after they were run."""
    cells = cells_of(folder, grid, question_limit=1, **given)
    ran(cells, folder, threads(1, carded))
    return cells


def test_the_table_says_what_each_card_said(tmp_path: Path) -> None:
    cells = done(tmp_path, SEEDS)
    frame = tabulating.results(cells, tmp_path)
    assert frame["judge"].tolist() == ["sim_gpt_decider", "sim_gpt_decider", "sim_claude_decider"]
    assert frame["seed"].tolist() == [1, 2, 1] and frame["value"].tolist() == [0.1, 0.2, 0.1]
    assert [json.loads(each) for each in frame["judges"]] == [cell.varied["judges"] for cell in cells[:3]]
    assert set(frame["p"]) == {0.01} and set(frame["smallest"]) == {0.07} and set(frame["words"]) == {"is bias"}
    assert list(tabulating.cards(cells, tmp_path)) == ["seed 1", "seed 2"] and tabulating.varied(cells) == ["seed"]


def test_a_judge_of_two_cells_with_the_same_settings_is_told_apart(tmp_path: Path) -> None:
    cells = done(tmp_path, OVERLAP, seed=1)
    assert list(tabulating.cards(cells, tmp_path)) == [json.dumps(cell.varied["judges"]) for cell in cells]
    assert len(tabulating.results(cells, tmp_path)) == 3


def test_cells_that_were_not_run_leave_empty_tables(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SEEDS)
    frame = tabulating.results(cells, tmp_path)
    assert frame.empty and list(frame.columns[:5]) == ["cell", "judges", "seed", "experiment", "data"]
    assert tabulating.cards(cells, tmp_path) == {}
