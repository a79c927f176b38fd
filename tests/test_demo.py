"""`recuse demo`: its verdicts are those of simulated judges, and the answer comes first, offline and without a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from helpers import paths
from helpers.__main__ import main
from tests.runs import asked

FILE = paths.BUILTIN / "examples" / "SIMULATED_verdicts.csv"


def verdicts() -> str:
    """The file of the demo as simulated judges make it: who wrote FILE anew did so with this."""
    models: dict[str, Any] = {"judges": ["sim_gpt_judge", "sim_claude_judge"], "candidates": ["sim_gpt_fast"]}
    models["baselines"] = ["sim_gemini_fast"]
    run = asked("arena_hard_position_bias", **models, control_limit=0, question_limit=60)
    lines = ["judge,question,category,repeat,candidates,verdict"]
    for row in run.frame.astype(object).sort_values(["judge", "question_id", "repeat", "first"]).itertuples():
        shown = (row.baseline, row.candidate) if row.first == "baseline" else (row.candidate, row.baseline)
        verdict = row.verdict if isinstance(row.verdict, str) else ""
        lines.append(f"{row.judge},{row.question_id},{row.category},{row.repeat},{'|'.join(shown)},{verdict}")
    return "\n".join(lines) + "\n"


def test_the_verdicts_are_those_of_simulated_judges() -> None:
    assert FILE.read_text(encoding="utf-8") == verdicts()


def test_the_demo_says_what_it_found_then_where_it_is_and_what_comes_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(FILE.parent.iterdir())
    for _ in range(2):  # a second one writes the same again
        done = CliRunner().invoke(main, ["demo"], catch_exceptions=False)
    answer, where, files, commands = (done.stdout.strip().split("\n\n")[at] for at in (1, -3, -2, -1))
    assert done.stdout.startswith("**SIMULATED_verdicts**") and "**biased**: sim_gpt_judge on sim_gpt_fast" in answer
    first, second = answer.splitlines()[0].split("; **")
    assert "sim_gpt_judge" in first and "favours the answer shown first (+" in first, "as it was planted"
    assert "sim_claude_judge" in second and second.startswith("no bias shown**")
    folder = tmp_path / "recuse-demo"
    assert where == "In recuse-demo:" and files.startswith("- `summary.md`: ")
    assert len([*folder.iterdir()]) == len(files.splitlines()) <= 8
    assert commands.count("recuse ") == 2
    numbers = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))["numbers"]
    assert {each["where"]["judge"][:4] for each in numbers if "judge" in each["where"]} == {"sim_"}
    assert sorted(FILE.parent.iterdir()) == before, "nothing is written beside the package's own files"
