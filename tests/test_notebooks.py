"""All notebooks: their shape, their parameters, and results in git that are what the code gives today."""

from __future__ import annotations

import ast
import json
import math
import re
import shutil
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers import paths, run
from helpers.config import COMMON, defaults_of, experiment_names, load_config
from helpers.run.notebooks import CollectionParameters, available, collects, experiment_of, load_collection
from helpers.words.numbers import load_numbers
from tests.cells import code_cells, parameters_of
from tests.kernels import assert_quiet, command
from tests.runs import full_estimates

NOTEBOOKS = available()
ASKING = {name: path for name, path in NOTEBOOKS.items() if not collects(path)}
every_notebook = pytest.mark.parametrize("name", NOTEBOOKS)
every_asking_one = pytest.mark.parametrize("name", ASKING)


# --- shape ------------------------------------------------------------------------------------------------------------


def tagged(name: str, tag: str) -> Any:
    """The one code cell of a notebook with this tag."""
    (cell,) = (cell for cell in code_cells(NOTEBOOKS[name]) if tag in cell.metadata.get("tags", ()))
    return cell


def test_each_experiment_has_a_notebook_and_no_other_file_lies_beside_them() -> None:
    assert sorted(map(experiment_of, NOTEBOOKS.values())) == sorted(
        [*experiment_names(), *experiment_names(collecting=True)]
    )
    files = {path.stem for path in paths.NOTEBOOKS.iterdir() if not path.name.startswith(".")}
    assert files == {*NOTEBOOKS, "audit", "your_verdicts"}
    numbers = [int(name.partition("_")[0]) for name in NOTEBOOKS]
    assert numbers == sorted(set(numbers))


@every_notebook
def test_a_notebook_is_short_clean_and_in_order(name: str) -> None:
    book = nbformat.read(NOTEBOOKS[name], as_version=4)
    nbformat.validate(book)
    assert 12 <= len(book.cells) <= 25
    assert book.metadata.kernelspec.name == "python3"
    assert len({cell.id for cell in book.cells}) == len(book.cells)
    title, last = book.cells[0].source, book.cells[-1].source
    load = load_collection if collects(NOTEBOOKS[name]) else load_config
    assert title == f"# {load(experiment_of(NOTEBOOKS[name])).title}" and title.endswith("?")
    assert last.startswith("## Limits")
    lines = 0
    for cell in code_cells(NOTEBOOKS[name]):
        assert cell.outputs == [] and cell.execution_count is None
        filled = [line for line in cell.source.splitlines() if line.strip()]
        assert len(filled) <= (23 if "parameters" in tags_of(cell) else 15)
        assert max(map(len, filled)) <= 120
        lines += 0 if "parameters" in tags_of(cell) else len(filled)
        assert "print(" not in cell.source and "display(" not in cell.source
    assert lines <= 60
    assert [tag for cell in book.cells for tag in tags_of(cell)] == ["parameters", "setup", "result", "export"]


def tags_of(cell: Any) -> list[str]:
    return cell.metadata.get("tags", [])


@every_notebook
def test_no_number_is_typed_into_a_computed_sentence(name: str) -> None:
    said = 0
    for cell in code_cells(NOTEBOOKS[name]):
        for call in ast.walk(ast.parse(cell.source)):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "run.say":
                said += 1
                for part in ast.walk(call):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        assert not re.search(r"\d", part.value), part.value
    assert said >= 5, "nearly nothing is computed"


@every_notebook
def test_parameters_are_those_of_every_notebook_and_of_its_experiment_with_the_same_defaults(name: str) -> None:
    collecting = collects(NOTEBOOKS[name])
    known = (
        defaults_of(CollectionParameters)
        if collecting
        else {**COMMON, **load_config(experiment_of(NOTEBOOKS[name])).parameters}
    )
    assert parameters_of(NOTEBOOKS[name]) == known


@every_notebook
def test_each_parameter_says_what_it_takes(name: str) -> None:
    lines = tagged(name, "parameters").source.splitlines()
    assert all(re.search(r"\S  +# \S", line) for line in lines)
    said = {line.partition(" =")[0]: line.partition("  # ")[2] for line in lines}
    assert f"figures/{experiment_of(NOTEBOOKS[name])}," in said["out"]
    if collects(NOTEBOOKS[name]):
        return
    config = load_config(experiment_of(NOTEBOOKS[name]))
    assert "data/replies" in said["store"]
    assert f"({config.repeats})" in said["repeats"]
    for word in ("builtin", "hub"):
        assert f'"{word}"' in said["questions"]
    for word in ("ask", "stored", "hub"):
        assert f'"{word}"' in said["judgments"]


@pytest.mark.parametrize("name", sorted({*COMMON, "answers", "categories", "condition", "order_draw"}))
def test_a_parameter_that_notebooks_share_is_described_in_the_same_words(name: str) -> None:
    told = set()
    for notebook in (each for each in NOTEBOOKS if name in parameters_of(NOTEBOOKS[each])):
        (line,) = (x for x in tagged(notebook, "parameters").source.splitlines() if x.startswith(f"{name} ="))
        told.add(line.partition("  # ")[2].replace(experiment_of(NOTEBOOKS[notebook]), "<name>").strip())
    # What a notebook draws by the seed, what it asks twice and the files that it reads are its own.
    assert len(told) == 1 or name in ("seed", "repeats", "questions", "answers", "judgments")


@every_notebook
def test_every_parameter_is_passed_on(name: str) -> None:
    assert tagged(name, "setup").source.count("**run.parameters(globals())") == 1


def test_parameters_are_what_cells_before_the_setup_assign() -> None:
    setup = "asked = load('x', **run.parameters(globals()))"
    cells = ["", "judges = None  # names\nseed = 42", "# Parameters\njugdes = ['a']\nseed = float('nan')", "%pip list"]
    notebook = {"In": [*cells, "frame = load()", setup, "looked = 3", "seed = 7", setup], "judges": None, "seed": 7}
    assert run.parameters(notebook | {"jugdes": ["a"], "looked": 3, "frame": 1}) == {
        "judges": None,
        "seed": 7,
        "jugdes": ["a"],
    }
    script = {"__name__": "__main__", "judges": None, "seed": 7, "run": run}
    assert run.parameters(script) == {"judges": None, "seed": 7}, "as a script"


@every_asking_one
def test_what_a_notebook_found_goes_to_the_overview_too(name: str) -> None:
    export = tagged(name, "export").source
    assert "summary=run.summary(asked, published, estimates)" in export and "run.costs(asked)" in export


@every_asking_one
def test_single_verdicts_can_be_looked_into(name: str) -> None:
    assert [cell.source for cell in code_cells(NOTEBOOKS[name]) if "explore." in cell.source] == ["explore.show(asked)"]
    # In the executed report nobody can choose: it holds counts and a short table, and no widget.
    report = nbformat.read(paths.EXPERIMENTS / experiment_of(NOTEBOOKS[name]) / "report.ipynb", as_version=4)
    (cell,) = (each for each in report.cells if each.source == "explore.show(asked)")
    words, table = (each["data"] for each in cell.outputs)
    assert {*words, *table} == {"text/markdown", "text/html", "text/plain"} and "widgets" not in report.metadata
    assert re.search(r"Of [\d,]+ judgments: [\d,]+ \*(flipped|changed|own)\*", words["text/markdown"])
    assert 5 <= table["text/html"].partition("<tbody>")[2].count("<tr") <= 10, "rows below the names of columns"


@every_notebook
def test_every_link_of_a_notebook_leads_somewhere(name: str) -> None:
    book = nbformat.read(NOTEBOOKS[name], as_version=4)
    links = re.findall(
        r"\]\(([^)#]+?)\)", "\n".join(cell.source for cell in book.cells if cell.cell_type == "markdown")
    )
    assert links
    for link in links:
        assert link.startswith("https://") or (paths.NOTEBOOKS / link).exists(), link


# --- what is in git ---------------------------------------------------------------------------------------------------


#: Figures and tables of published data alone.
REAL = {
    "arena_hard_position_bias": {
        *("Figure released_places", "Figure published_position_effects", "Figure published_pairs"),
        *("Figure published_classes", "Figure leaderboard_contrast"),
    },
    "cognitive_biases": {
        *("Figure published_biases", "Figure published_models", "Table array_rows", "Table notebook_metrics")
    },
    "hinting_groups": {"Figure discordance"},
    "mt_bench_blind": {"Figure published_self_preference", "Figure released_own"},
    "overview": {"Figure released_judges", "Figure accuracy", "Figure agreement"},
    "quality_self_preference": {"Figure replication"},
    "verbosity_style": {"Figure longer_when_worse"},
}


@every_notebook
def test_simulated_results_say_so_on_their_face(name: str) -> None:
    experiment = experiment_of(NOTEBOOKS[name])
    folder = paths.FIGURES / experiment
    captions = re.split(r"^## ", (folder / "captions.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    told = {part.split("\n", 1)[0]: part for part in captions}
    assert {each for each, text in told.items() if "SIMULATED" not in text} == REAL[experiment]
    pictures = {f"Figure {path.stem}" for path in folder.glob("*.png") if path.stem != "calibration"}
    tables = {f"Table {path.stem}" for path in folder.glob("*.tex") if path.stem != "numbers"}
    assert told.keys() == pictures | tables, "each picture and table has its caption"
    for table in (each.removeprefix("Table ") for each in tables - REAL[experiment]):
        assert "SIMULATED" in (folder / f"{table}.tex").read_text(encoding="utf-8"), table
        rows = (folder / f"{table}.csv").read_text(encoding="utf-8").splitlines()
        assert "data" in rows[0].split(",") and any("simulated" in row for row in rows), table
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["protocol"] == "1.1" and {each["data"] for each in numbers["numbers"]} == {"published", "simulated"}
    macros = re.findall(r"\\newcommand\{\\(\w+)\}", (folder / "numbers.tex").read_text(encoding="utf-8"))
    assert macros and all("Simulated" in macro or "Published" in macro for macro in macros)
    if not collects(NOTEBOOKS[name]):
        assert numbers["provenance"]["data"] == "simulated"
        headline = load_numbers(load_config(experiment).bias).headline
        assert set(headline) <= {each["id"] for each in numbers["numbers"] if each["data"] == "simulated"}


@every_notebook
def test_a_report_begins_with_its_data_and_shows_no_time_path_or_warning(name: str) -> None:
    report = paths.EXPERIMENTS / experiment_of(NOTEBOOKS[name]) / "report.ipynb"
    book = assert_quiet(report.read_bytes(), paths.ROOT)
    assert "version" not in book.metadata.language_info and "papermill" not in book.metadata
    (first,) = (cell for cell in book.cells if "result" in tags_of(cell))
    told = first.outputs[0].data["text/markdown"]
    assert told.startswith("Data: **SIMULATED** models") or (
        collects(NOTEBOOKS[name]) and "**SIMULATED models**" in told
    )


def not_locked() -> list[str]:
    """The packages of requirements.lock that are installed in another version, or not at all."""
    others = []
    for line in (paths.ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines():
        name, pinned, wanted = line.partition(";")[0].strip().partition("==")
        if not pinned or name.startswith("#"):
            continue
        try:
            found = version(name)
        except PackageNotFoundError:
            found = "none" if ";" not in line else wanted
        if found != wanted:
            others.append(f"{name} {found} for {wanted}")
    return others


def results(root: Path) -> Iterator[tuple[str, bytes]]:
    """What git keeps of the default runs: figures, tables, numbers and the executed report."""
    for name in [*experiment_names(), *experiment_names(collecting=True)]:
        every, beside = (root / "figures" / name).iterdir(), ("run.json", "exhibits.json")
        kept = (file for file in every if file.suffix not in (".pdf", ".svg") and file.name not in beside)
        for file in sorted([*kept, root / "experiments" / name / "report.ipynb"]):
            yield str(file.relative_to(root)), file.read_bytes()


@pytest.mark.slow
def test_the_results_in_git_are_those_of_a_default_run_twice(tmp_path: Path) -> None:
    if others := not_locked():
        pytest.skip(f"not under the lock: {', '.join(others)}")
    root = tmp_path / "recuse"
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*")
    for part in ("helpers", "experiments", "notebooks", "data"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=ignored)
    for report in root.glob("experiments/*/report.ipynb"):
        report.unlink()
    # Made by commands of their own; notebooks tell of the calibration.
    beside, overview = root / "figures" / "overview", paths.FIGURES / "overview"
    beside.mkdir(parents=True)
    for file in (*overview.glob("calibration.*"), overview / "estimands.md"):
        shutil.copy(file, beside)
    committed = dict(results(paths.ROOT))
    for number in ("asking", "finding all stored"):
        done = command("helpers", "run", "--processes", "1", cwd=root, root=root)
        assert done.returncode == 0, done.stdout + done.stderr
        fresh = dict(results(root))
        assert fresh.keys() == committed.keys()
        stale = [name for name, content in committed.items() if fresh[name] != content]
        assert not stale, f"{number}, the default run gives other bytes for {', '.join(stale)}: `make`, then commit"
    numbers = json.loads(fresh["figures/mt_bench_blind/numbers.json"])["numbers"]
    shown = {(n["id"], *sorted(n["where"].items())): n["value"] for n in numbers if n["data"] == "simulated"}
    for each in full_estimates():
        value = shown[each.id, *sorted(each.where.items())]
        assert value == pytest.approx(each.value, rel=1e-5) if not math.isnan(each.value) else value is None
