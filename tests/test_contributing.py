"""The smallest experiment of CONTRIBUTING runs as it stands there, and the rest of the package finds it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from helpers import paths
from tests.kernels import command

SECTION = (
    (paths.ROOT / "CONTRIBUTING.md")
    .read_text(encoding="utf-8")
    .split("### The smallest one that runs")[1]
    .split("\n### ")[0]
)


def block(path: str) -> str:
    """The text that CONTRIBUTING gives for a file."""
    (found,) = re.findall(rf"^`{re.escape(path)}`[^\n]*(?:\n[^`\n][^\n]*)*\n\n```\w+\n(.*?)^```", SECTION, re.S | re.M)
    return found


def notebook(cells: str) -> nbformat.NotebookNode:
    """The notebook of cells after `# %%`, each with the tag that its line names."""
    made = []
    for cell in re.split(r"^# %%", cells, flags=re.MULTILINE)[1:]:
        tag, _, source = cell.partition("\n")
        if tag.strip() == "[markdown]":
            made.append(nbformat.v4.new_markdown_cell(source.strip().removeprefix("# ")))
        else:
            tags = {"tags": [tag.strip()]} if tag.strip() else {}
            made.append(nbformat.v4.new_code_cell(source.strip(), metadata=tags))
    return nbformat.v4.new_notebook(cells=made)


@pytest.mark.slow
def test_the_smallest_experiment_runs_as_it_stands_and_everything_finds_it(tmp_path: Path) -> None:
    root = tmp_path / "recuse"
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*", "report.ipynb")
    for part in ("helpers", "experiments", "notebooks", "data"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=ignored)
    name = "same_text"
    (copying,) = re.findall(r"^```sh\n(mkdir .*?)^```", SECTION, re.S | re.M)
    subprocess.run(["sh", "-e", "-c", copying], cwd=root, check=True)
    for path in (*(f"experiments/{name}/{file}.yaml" for file in ("config", "numbers")), f"helpers/biases/{name}.py"):
        (root / path).write_text(block(path), encoding="utf-8")
    nbformat.write(notebook(block(f"notebooks/07_{name}.ipynb")), root / "notebooks" / f"07_{name}.ipynb")

    planned = command("helpers", "plan", name, cwd=root, root=root)
    assert planned.returncode == 0 and "repeats = 1: nothing is asked twice" in planned.stdout, planned.stderr
    done = command("helpers", "run", name, cwd=root, root=root)
    assert done.returncode == 0, done.stdout + done.stderr
    summary = json.loads((root / "figures" / name / "summary.json").read_text(encoding="utf-8"))
    # In the one judge a liking for the first place is planted, in the other none: see `primacy` in models.yaml.
    said = {line["judge"]: line["verdict"] for line in summary["card"]}
    assert said == {"sim_gpt_grader": "bias", "sim_claude_grader": "not shown"}

    explained = command("helpers", "explain", "same_text_effect", cwd=root, root=root)
    assert "SIMULATED: judge sim_gpt_grader: +" in explained.stdout
    collected = command("helpers", "run", "00_overview", cwd=root, root=root)
    assert collected.returncode == 0, collected.stdout + collected.stderr
    with (root / "figures" / "overview" / "judge_card.csv").open(encoding="utf-8") as lines:
        assert [row["judge"] for row in csv.DictReader(lines) if row["measure"] == "same text"]
    reported = command(
        "helpers", "report", "--to", str(tmp_path / "pages"), "--results", f"figures/{name}", cwd=root, root=root
    )
    assert reported.returncode == 0 and (tmp_path / "pages" / f"{name}.html").is_file(), reported.stderr
