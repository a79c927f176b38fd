"""The notebook of verdicts of one's own: the numbers and files of `recuse analyze`, short, and refused like it."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import papermill as pm
import pytest
from papermill.exceptions import PapermillExecutionError

from helpers import analyze, paths
from tests.verdict_files import pair_rows, written

NOTEBOOK = paths.NOTEBOOKS / "your_verdicts.ipynb"


def executed(tmp_path: Path, **parameters: object) -> str:
    """All that the notebook shows, with these parameters and a folder of results."""
    given = {"out": str(tmp_path / "results"), **parameters}
    book = pm.execute_notebook(NOTEBOOK, tmp_path / "run.ipynb", given, progress_bar=False, cwd=tmp_path)
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    return "\n".join(json.dumps(output.get("data", output.get("text", ""))) for output in outputs)


def test_it_is_short_and_has_no_outputs() -> None:
    book = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(book)
    code = [cell.source.splitlines() for cell in book.cells if cell.cell_type == "code"]
    assert len(book.cells) <= 25 and sum(map(len, code)) <= 60 and max(map(len, code)) <= 15
    assert not any(cell.get("outputs") for cell in book.cells) and book.cells[-1].source.startswith("## Limits")


@pytest.mark.slow
def test_the_built_in_verdicts_end_with_the_numbers_of_the_command(tmp_path: Path) -> None:
    shown = executed(tmp_path)
    found = analyze.analyze(analyze.EXAMPLE)
    numbers = json.loads((tmp_path / "results" / "numbers.json").read_text())["numbers"]
    assert len(numbers) == len(found.estimates) and "image/png" in shown
    places = [each for each in found.estimates if each.id == "first_position_effect" and "category" not in each.where]
    assert places and all(str(each) in shown for each in places)


@pytest.mark.slow
def test_a_file_of_ones_own_is_read_with_its_names_and_a_fault_names_its_line(tmp_path: Path) -> None:
    rows = [
        {("winner" if name == "verdict" else name): value for name, value in row.items()}
        for row in pair_rows(first=0.4, questions=30)
    ]
    path = written(rows, tmp_path / "mine.csv")
    assert "judge_x" in executed(tmp_path, verdicts=str(path), names={"verdict": "winner"})
    with pytest.raises(PapermillExecutionError, match="unexpected keyword argument 'verdict'"):
        executed(tmp_path, verdict=str(path))
    rows[3]["winner"] = "perhaps"
    with pytest.raises(PapermillExecutionError, match=r"line 5.*'perhaps'"):
        executed(tmp_path, verdicts=str(written(rows, tmp_path / "odd.csv")), names={"verdict": "winner"})
