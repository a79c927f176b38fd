"""The smallest experiment of CONTRIBUTING runs as it stands there, and the rest of the package finds it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import nbformat
import pytest

from helpers import paths
from tests.kernels import command

PAGE = (paths.ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTION = PAGE.split("## The smallest experiment")[1].split("\n## ")[0]
NAME = "same_text"
#: The sha256 of numbers.json as the same experiment wrote it when it had no defaults to rest on.
NUMBERS = "c734b8f421e5837c73dc84d87b201a1c501059ed4ae834df9f308b318fb9f724"
#: What of helpers/ runs while the experiment makes its trials and measures its frame.
TRACED = f"""
import sys
from helpers import run
from helpers.config import load_experiment
from helpers.run.sources import questions_of
from helpers.types import Judgment, Verdict

experiment, seen = load_experiment("{NAME}"), set()
questions, bias = questions_of(experiment), run.bias_of(experiment)
sys.setprofile(lambda frame, event, _: seen.add(frame.f_code.co_filename))
trials = bias.trials("judging", experiment, questions, {{}})
keys = [trial.request.key for trial in trials]
bias.measure(bias.tidy([Judgment(each, "ok", Verdict(choice="A>B")) for each in trials], {{}}), "asked")
sys.setprofile(None)
print(*(file.partition("helpers/")[2] for file in seen if "helpers/" in file))
"""


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


def written(root: Path) -> None:
    """A copy of the project with the example as it is printed."""
    ignored = shutil.ignore_patterns("replies", "downloads", "runs", "__pycache__", ".*", "report.ipynb")
    for part in ("helpers", "experiments", "notebooks", "data", "docs"):
        shutil.copytree(paths.ROOT / part, root / part, ignore=ignored)
    (copying,) = re.findall(r"^```sh\n(mkdir .*?)^```", SECTION, re.S | re.M)
    subprocess.run(["sh", "-e", "-c", copying], cwd=root, check=True)
    for path in (*(f"experiments/{NAME}/{file}.yaml" for file in ("config", "numbers")), f"helpers/biases/{NAME}.py"):
        (root / path).write_text(block(path), encoding="utf-8")
    nbformat.write(notebook(block(f"notebooks/07_{NAME}.ipynb")), root / "notebooks" / f"07_{NAME}.ipynb")


def test_the_reading_set_is_enough_for_an_experiment(tmp_path: Path) -> None:
    (named,) = re.findall(r"^Reading set: (.*?)\n\n", PAGE, re.S | re.M)
    files = {paths.ROOT / "helpers" / name for name in re.findall(r"`([\w/]+\.py)`", named) if "test" not in name}
    assert len(files) <= 15 and sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 3500
    written(tmp_path)
    done = subprocess.run([sys.executable, "-c", TRACED], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    enough = {str(file.relative_to(paths.ROOT / "helpers")) for file in files} | {f"biases/{NAME}.py"}
    ran = {name for name in done.stdout.split() if not name.startswith("stats/")}
    assert {"biases/protocol.py", f"biases/{NAME}.py", "prompts.py"} <= ran <= enough, ran - enough


@pytest.mark.slow
def test_the_smallest_experiment_runs_as_it_stands_and_everything_finds_it(tmp_path: Path) -> None:
    root = tmp_path / "recuse"
    written(root)

    def recuse(*words: str) -> str:
        done = command("helpers", *words, cwd=root, root=root)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert "repeats = 1: nothing is asked twice" in recuse("plan", NAME)
    (root / "grid.yaml").write_text(f"notebooks: [{NAME}]\nparameters: {{question_limit: [12, 80]}}\n")
    assert "2 cells" in recuse("plan", "--matrix", "grid.yaml")
    recuse("run", NAME)
    numbers = root / "figures" / NAME / "numbers.json"
    assert sha256(numbers.read_bytes()).hexdigest() == NUMBERS
    summary = json.loads(numbers.with_name("summary.json").read_text(encoding="utf-8"))
    # In the one judge a liking for the first place is planted, in the other none: see `primacy` in models.yaml.
    said = {line["judge"]: line["verdict"] for line in summary["card"]}
    assert said == {"sim_gpt_grader": "bias", "sim_claude_grader": "not shown"}
    assert summary["rows"][0]["sentence"].endswith("1 shows no sign; largest: sim_gpt_grader.")

    assert "SIMULATED: judge sim_gpt_grader: +" in recuse("explain", "same_text_effect")
    assert "same text effect" in recuse("power", NAME, "--pilot", str(numbers)).replace("_", " ")
    recuse("run", "00_overview")
    with (root / "figures" / "overview" / "judge_card.csv").open(encoding="utf-8") as lines:
        assert [row["judge"] for row in csv.DictReader(lines) if row["measure"] == "same text"]
    recuse("report", "--to", str(tmp_path / "pages"), "--results", f"figures/{NAME}")
    assert (tmp_path / "pages" / f"{NAME}.html").is_file()
    recuse("paper", "--style", "acl", "--to", str(tmp_path / "paper"), "--results", f"figures/{NAME}")
    assert any(NAME in str(file) for file in (tmp_path / "paper").rglob("*"))
