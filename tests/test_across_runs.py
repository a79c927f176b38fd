"""What a matrix shows of its judges: a row a cell and line of its card, and one figure over all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from helpers import figures
from helpers.commands import matrices
from helpers.figures import panels, show_across_runs
from helpers.figures.across_runs import MOST, Run
from helpers.figures.cards import REAL, SIMULATED
from helpers.run import cells as run_cells
from helpers.run.cells import Cell
from helpers.run.notebooks import Result, experiment_of
from helpers.words import CardLine
from tests.cells import texts
from tests.matrices import cells_of, ran, threads
from tests.test_overview import line, results

NAN = float("nan")
ONE = [line("fair", "place", "not shown", 0.01), line("keen", "place", "bias", 0.2)]
TWO = [line("fair", "place", "hint", 0.06), line("keen", "place", "bias", 0.25)]
RUNS = [Run("shuffled, 1", ONE), Run("shuffled, 2", TWO)]


def of(each: CardLine, **where: str) -> CardLine:
    """A line of another number of the same measure."""
    estimate = replace(each.estimate, where={"judge": each.judge, **where})
    return replace(each, estimate=estimate)


def rows(runs: list[Run]) -> list[tuple[float, str]]:
    """The labels of the one panel with their heights, from top to bottom."""
    (axes,) = show_across_runs(runs).figure.axes
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "rows go down"
    return sorted(zip(axes.get_yticks(), (each.get_text() for each in axes.get_yticklabels()), strict=True))


def points(runs: list[Run]) -> list[tuple[float, float, Any]]:
    """The marks of the one panel: height, value in pp, and how it is drawn, from top to bottom."""
    (axes,) = show_across_runs(runs).figure.axes
    marks = [each for each in axes.lines if each.get_marker() in ("o", "x")]
    found = [(float(each.get_ydata()[0]), float(each.get_xdata()[0]), each) for each in marks]
    low, high = sorted(axes.get_ylim())
    assert all(low + 0.2 < height < high - 0.2 for height, _, _ in found), "no row lies on an edge"
    return sorted(found, key=lambda each: each[0])


def intervals(runs: list[Run]) -> list[tuple[float, ...]]:
    """The ends of the intervals of the one panel, from top to bottom."""
    (axes,) = show_across_runs(runs).figure.axes
    lines = [each for each in axes.lines if len(each.get_xdata()) == 2 and each.get_marker() == "None"]
    inside = [each for each in lines if len({*each.get_ydata()}) == 1 and tuple(each.get_xdata()) != (0, 1)]
    return [tuple(each.get_xdata()) for each in sorted(inside, key=lambda each: each.get_ydata()[0])]


# The figure.


def test_each_run_of_a_judge_has_its_row_under_the_judge() -> None:
    labels, found = rows(RUNS), points(RUNS)
    words = [run.settings for run in RUNS]
    assert [text for _, text in labels] == ["fair", *words, "keen", *words]
    assert [value for _, value, _ in found] == pytest.approx([1, 6, 20, 25])
    # The points stand at the rows of their runs, not of the names above them.
    assert [height for height, _, _ in found] == [place for place, text in labels if text in words]
    assert intervals(RUNS) == [pytest.approx((mid - 5, mid + 5)) for mid in (1, 6, 20, 25)]


def test_a_mark_tells_its_verdict_and_whether_the_judge_is_simulated() -> None:
    mixed = [Run("1", [line("fair", "place", "not shown"), line("hinted", "place", "hint")])]
    mixed[0].lines.extend([line("keen", "place", "bias"), line("sim", "place", "bias", data="simulated")])
    fair, hinted, keen, sim = (mark for _, _, mark in points(mixed))
    assert [mark.get_fillstyle() for mark in (hinted, keen)] == ["left", "full"]
    assert fair.get_markerfacecolor() == "white" and keen.get_markerfacecolor() != "white"
    colours = [to_rgb(mark.get_color()) for mark in (keen, sim)]
    assert colours == [to_rgb(REAL), to_rgb(SIMULATED)]
    shown = texts(show_across_runs(mixed))
    assert "SIMULATED in grey" in shown
    assert "SIMULATED" in texts(show_across_runs([Run("1", [mixed[0].lines[-1]])]))


def test_zero_is_marked() -> None:
    (axes,) = show_across_runs(RUNS).figure.axes
    assert any(list(each.get_xdata()) == [0, 0] for each in axes.lines)


def test_of_many_runs_each_judge_has_one_name_and_all_its_points() -> None:
    many = [Run(f"seed {n}", [line("fair", "place", "not shown", n / 1000), ONE[1]]) for n in range(40)]
    assert [text for _, text in rows(many)] == ["fair", "keen"] and len(many) > MOST
    found = points(many)
    assert [value for _, value, _ in found] == pytest.approx([n / 10 for n in range(40)] + [20] * 40)
    heights = [height for height, _, _ in found]
    figure = show_across_runs(many).figure
    figure.canvas.draw()
    (axes,) = figure.axes
    at = [axes.transData.transform((0, height))[1] for height in heights]
    size = found[0][2].get_markersize() * figure.dpi / 72
    assert min(a - b for a, b in pairwise(at)) > size, "no mark covers another"
    assert "stand without words" in show_across_runs(many).caption
    assert "stand without words" not in show_across_runs(RUNS).caption


def test_more_than_a_figure_holds_is_none() -> None:
    many = [Run(f"seed {n}", [line(f"judge {j}", "place", "bias") for j in range(10)]) for n in range(60)]
    with pytest.raises(panels.NothingToDraw, match="60 runs of these judges are more"):
        show_across_runs(many)


def test_runs_that_differ_in_nothing_but_the_judge_need_no_words() -> None:
    assert [text for _, text in rows([Run("", ONE[:1]), Run("", ONE[1:])])] == ["fair", "keen"]


def test_which_number_of_a_measure_is_drawn_stands_beside_its_run() -> None:
    """Of several numbers the gravest: in another run it can be another one."""
    both = [
        of(line("fair", "profile", "not shown", -0.2), bias="halo"),
        of(line("fair", "profile", "bias"), bias="anchor"),
    ]
    runs = [Run("seed 1", both), Run("seed 2", [of(line("fair", "profile", "hint", 0.3), bias="halo")])]
    assert [text for _, text in rows(runs)] == ["fair", "seed 1: anchor", "seed 2: halo"]
    assert [value for _, value, _ in points(runs)] == pytest.approx([10, 30])
    assert "the gravest of each run" in show_across_runs(runs).caption
    same = [Run("seed 1", both[1:]), Run("seed 2", both[1:])]
    assert [text for _, text in rows(same)] == ["fair", "seed 1", "seed 2"]
    assert "gravest" not in show_across_runs(same).caption


def test_one_name_asked_and_read_from_files_is_two_judges() -> None:
    runs = [Run("1", [line("m", "place", "bias"), line("m", "place", "hint", data="folder")])]
    assert [text for _, text in rows(runs)] == ["m (asked)", "1", "m (folder)", "1"]


def test_the_caption_counts_what_is_drawn_and_what_is_not() -> None:
    caption = show_across_runs(RUNS, ["option_order", "seed"]).caption
    assert "in 2 runs (option_order, seed)" in caption and "Points shown: 4 of asked judges." in caption
    assert "corrected for itself" in caption and "without a number" not in caption
    lost = [*ONE, line("mute", "place", "untold", NAN), line("mute", "unreadable", "described", NAN)]
    caption = show_across_runs([Run("1", lost)]).caption
    assert "in one run," in caption and "no point: 1." in caption and "corrected" not in caption
    assert "run shuffled, 2" in show_across_runs(RUNS).alt


def test_what_all_runs_share_and_what_has_no_verdict_is_not_drawn() -> None:
    with pytest.raises(panels.NothingToDraw):
        show_across_runs([Run("1", [line("old", "place", "bias", data="published")])])
    with pytest.raises(panels.NothingToDraw):
        show_across_runs([Run("1", [line("fair", "unreadable", "described")])])
    assert "old" not in texts(show_across_runs([Run("1", [*ONE, line("old", "place", "bias", data="published")])]))


@pytest.mark.parametrize("style", ["paper", "neurips", "icml", "acl", "talk"])
def test_nothing_leaves_the_figure(style: str) -> None:
    long = [Run(f"{'reversed_order ' * 3}, {n}", ONE) for n in range(3)]
    figure = show_across_runs(long, style=style).figure
    figure.canvas.draw()
    (axes,) = figure.axes
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(words)) == len(words) - 3, "the end, which varies, is not cut off"
    assert all(label.get_window_extent().x0 >= figure.bbox.x0 - 1 for label in axes.get_yticklabels())


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
#: Cells that vary in other things: without names they would be called alike.
INCLUDED = """\
notebooks: [cognitive_biases]
parameters: {seed: [1]}
include: [{repeats: 1}, {seed: 2, figure_style: icml}]
"""


def carded(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """Results with a card, as a notebook leaves them; one cell fails, with the results of an earlier run in place."""
    seed, judges = parameters.get("seed", 7), parameters.get("judges", ["sim_gpt_decider"])
    lines = [of(line(judge, "profile", "bias", seed / 10), bias="halo") for judge in judges]
    lines += [
        line(judges[0], "unreadable", "described", NAN, "simulated"),
        line("old", "profile", "bias", data="published"),
    ]
    results(report.parent, experiment_of(notebook), lines)
    failed = seed == 2 and judges == ["sim_claude_decider"]
    return Result(notebook.stem, report, 0.0, "RuntimeError: no reply" if failed else None)


def done(folder: Path, grid: str, **given: Any) -> list[Cell]:
    """The cells of a grid after they were run."""
    cells = cells_of(folder, grid, question_limit=1, **given)
    ran(cells, folder, threads(1, carded))
    return cells


def test_the_table_says_what_each_card_said(tmp_path: Path) -> None:
    cells = done(tmp_path, SEEDS)
    frame = run_cells.results(cells, tmp_path)
    biased = frame[frame["measure"] == "profile"]
    assert biased["judge"].tolist() == ["sim_gpt_decider", "sim_gpt_decider", "sim_claude_decider"]
    assert biased["cell"].tolist() == [cell.id for cell in cells[:3]], "what failed left results that do not count"
    assert biased["seed"].tolist() == [1, 2, 1] and biased["value"].tolist() == [0.1, 0.2, 0.1]
    assert biased["low"].tolist() == pytest.approx([0.05, 0.15, 0.05])
    assert biased["high"].tolist() == pytest.approx([0.15, 0.25, 0.15])
    assert [json.loads(each) for each in biased["judges"]] == [cell.varied["judges"] for cell in cells[:3]]
    assert json.loads(biased["where"].iloc[0]) == {"judge": "sim_gpt_decider", "bias": "halo"}
    same = {"experiment": "cognitive_biases", "data": "asked", "id": "effect", "verdict": "bias", "unit": "pp", "n": 80}
    same |= {"clusters": 40, "p": 0.01, "smallest": 0.07, "words": "is bias"}
    assert all(set(biased[name]) == {value} for name, value in same.items())
    rest = frame[frame["measure"] == "unreadable"]
    assert set(rest["data"]) == {"simulated"} and rest["value"].isna().all() and len(frame) == 6


def test_runs_hold_all_lines_of_their_cells_and_are_told_by_what_varies(tmp_path: Path) -> None:
    runs = run_cells.runs(cells := done(tmp_path, SEEDS), tmp_path)
    assert [run.settings for run in runs] == ["seed 1", "seed 2", "seed 1"] and run_cells.varied(cells) == ["seed"]
    assert [[each.measure for each in run.lines] for run in runs] == [["profile", "unreadable"]] * 3


def test_a_judge_of_two_cells_with_the_same_settings_is_told_apart(tmp_path: Path) -> None:
    cells = done(tmp_path, OVERLAP, seed=1)
    settings = [run.settings for run in run_cells.runs(cells, tmp_path)]
    assert settings == [cell.id for cell in cells], "lists of names are too long for a label"


def test_cells_that_vary_in_different_things_are_told_by_names(tmp_path: Path) -> None:
    settings = [run.settings for run in run_cells.runs(done(tmp_path, INCLUDED), tmp_path)]
    assert settings[:2] == ["seed 1", "repeats 1"] and len(set(settings)) == 3


def test_cells_that_were_not_run_leave_empty_tables(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SEEDS)
    frame = run_cells.results(cells, tmp_path)
    assert frame.empty and list(frame.columns[:5]) == ["cell", "judges", "seed", "experiment", "data"]
    assert run_cells.runs(cells, tmp_path) == []


# Files.


def test_a_matrix_leaves_tables_and_a_figure_in_the_style_that_was_given(tmp_path: Path) -> None:
    cells = done(tmp_path, SEEDS, figure_style="icml")
    count = matrices._tabulated(cells, tmp_path)
    names = {
        "matrix.csv",
        "cells.csv",
        "results.csv",
        "captions.md",
        *(f"across_runs.{kind}" for kind in ("pdf", "png", "svg")),
    }
    assert names <= {path.name for path in tmp_path.iterdir()}
    assert count == len(pd.read_csv(tmp_path / "matrix.csv"))
    drawn = show_across_runs(run_cells.runs(cells, tmp_path), ["seed"], "icml")
    assert (tmp_path / "across_runs.svg").read_bytes() == drawn.render("svg")
    assert "SIMULATED" not in (tmp_path / "captions.md").read_text(), "these results say that they were asked"


def test_nothing_of_an_earlier_run_stays_beside_new_tables(tmp_path: Path) -> None:
    matrices._tabulated(done(tmp_path, SEEDS), tmp_path)
    later = cells_of(tmp_path, SEEDS, question_limit=2)  # none of these has been run
    matrices._tabulated(later, tmp_path)
    assert not list(tmp_path.glob("across_runs.*")) and not (tmp_path / "captions.md").exists()
    assert pd.read_csv(tmp_path / "results.csv").empty and (tmp_path / "cells.csv").read_text().count("not run") == 4


def test_a_figure_that_cannot_be_drawn_costs_no_table_and_hides_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = done(tmp_path, SEEDS)

    def broken(*_: Any) -> None:
        raise RuntimeError("no font")

    monkeypatch.setattr(figures, "show_across_runs", broken)
    matrices._tabulated(cells, tmp_path)
    assert "not side by side (RuntimeError: no font)" in capsys.readouterr().out
    assert {"matrix.csv", "cells.csv", "results.csv"} <= {path.name for path in tmp_path.iterdir()}


def test_a_cell_whose_card_cannot_be_read_costs_no_other_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = done(tmp_path, SEEDS)
    (tmp_path / "cells" / cells[0].id / "cognitive_biases" / "summary.json").write_text("{")
    matrices._tabulated(cells, tmp_path)
    assert cells[0].id in capsys.readouterr().out
    assert (tmp_path / "cells.csv").read_text().count("done") == 3
