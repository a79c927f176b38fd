"""What a matrix shows of its judges: a row a cell and line of its card, and one figure over all runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import figures
from helpers.commands import matrices
from helpers.figures import NothingToDraw, show_across_runs
from helpers.figures.cards import Run
from helpers.figures.style import HIGHEST
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


def shown(runs: list[Run]) -> dict[str, list[str]]:
    """The words of each row of the table, from left to right."""
    (axes,) = show_across_runs(runs).figure.axes
    names = [each.get_text() for each in axes.get_yticklabels()]
    found: dict[str, list[str]] = {name: [] for name in names}
    for text in sorted(axes.texts, key=lambda text: text.get_position()[0]):
        found[names[int(text.get_position()[1])]] += [text.get_text()] if text.get_text() else []
    return found


# The figure.


def test_each_run_is_a_row_with_a_number_a_judge() -> None:
    assert shown(RUNS) == {
        "shuffled, 1": ["\N{WHITE CIRCLE} +1.0\n\N{MINUS SIGN}4 to 6", "\N{BLACK CIRCLE} +20.0\n15 to 25"],
        "shuffled, 2": ["\N{CIRCLE WITH LEFT HALF BLACK} +6.0\n1 to 11", "\N{BLACK CIRCLE} +25.0\n20 to 30"],
    }
    (axes,) = show_across_runs(RUNS).figure.axes
    assert [each.get_text().split("\n")[-1] for each in axes.get_xticklabels()] == ["fair", "keen"]


def test_simulated_judges_stand_under_their_heading() -> None:
    mixed = [Run("1", [line("keen", "place", "bias"), line("sim", "place", "bias", data="simulated")])]
    names = [each.get_text() for each in show_across_runs(mixed).figure.axes[0].get_yticklabels()]
    assert names == ["asked judges", "1", "SIMULATED models", "1"]


def test_more_runs_than_a_page_holds_are_counted() -> None:
    many = [Run(f"seed {n}", [line("fair", "place", "not shown", n / 1000), ONE[1]]) for n in range(60)]
    figure = show_across_runs(many)
    rows = len(figure.figure.axes[0].get_yticklabels())
    assert f"{60 - rows} more in the table." in figure.caption and figure.figure.get_figheight() <= HIGHEST
    wide = [Run("1", [line(f"judge {n}", "place", "bias") for n in range(14)])]
    assert "4 more judges and measures stand in the table." in show_across_runs(wide).caption


def test_runs_that_differ_in_nothing_but_the_judge_are_named_by_it() -> None:
    assert list(shown([Run("", ONE[:1]), Run("", ONE[1:])])) == ["fair", "keen"]


def test_of_several_numbers_of_a_measure_the_gravest_is_shown() -> None:
    both = [
        of(line("fair", "profile", "not shown", -0.2), bias="halo"),
        of(line("fair", "profile", "bias"), bias="anchor"),
    ]
    runs = [Run("seed 1", both), Run("seed 2", [of(line("fair", "profile", "hint", 0.3), bias="halo")])]
    assert [words[0].split()[1].split("\n")[0] for words in shown(runs).values()] == ["+10.0", "+30.0"]
    assert "the gravest of each run" in show_across_runs(runs).caption


def test_the_caption_counts_what_is_drawn() -> None:
    caption = show_across_runs(RUNS, ["option_order", "seed"]).caption
    assert "in 2 runs (option_order, seed)" in caption and "Numbers shown: 4 of asked judges." in caption
    assert "corrected for itself" in caption
    assert "corrected" not in show_across_runs([Run("1", ONE)]).caption.split("after correction")[-1]
    assert "run shuffled, 2" in show_across_runs(RUNS).alt


def test_what_all_runs_share_and_what_has_no_verdict_is_not_drawn() -> None:
    with pytest.raises(NothingToDraw):
        show_across_runs([Run("1", [line("old", "place", "bias", data="published")])])
    with pytest.raises(NothingToDraw):
        show_across_runs([Run("1", [line("fair", "unreadable", "described")])])
    assert "old" not in " ".join(
        texts(show_across_runs([Run("1", [*ONE, line("old", "place", "bias", data="published")])]))
    )


@pytest.mark.parametrize("style", ["paper", "neurips", "icml", "acl", "talk"])
def test_nothing_leaves_the_figure(style: str) -> None:
    long = [Run(f"{'reversed_order ' * 3}, {n}", ONE) for n in range(3)]
    figure = show_across_runs(long, style=style).figure
    figure.canvas.draw()
    (axes,) = figure.axes
    words = [label.get_text() for label in axes.get_yticklabels()]
    assert len(set(words)) == len(words), "the end, which varies, is not cut off"
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
