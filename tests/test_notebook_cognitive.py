"""Notebook 5 runs on any choice of biases, and on published decisions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from helpers import paths
from tests.cells import of_this_run, prose, run_cells

NOTEBOOK = paths.NOTEBOOKS / "05_cognitive_biases.ipynb"
TEXT = "Situation:\n{}\n\nPrompt:\nHow good is it?\n\nAnswer Options:\n" + "\n".join(
    f"Option {n}: {word}" for n, word in enumerate(("bad", "poor", "fair", "good", "fine", "great", "best"), 1)
)


def ran(tmp_path: Path, **given: Any) -> tuple[str, Path]:
    """All that the notebook says when its cells are run in this process, and the folder of its results."""
    out = tmp_path / "out"
    _, shown = run_cells(NOTEBOOK, draw="biases" in given, **given, store=str(tmp_path / "store"), out=str(out))
    return prose(shown), out


@pytest.mark.parametrize("biases", [["confirmation"], ["judge_anchoring", "bandwagon", "authority"]])
def test_it_runs_on_some_of_the_biases(tmp_path: Path, biases: list[str]) -> None:
    said, out = ran(tmp_path, biases=biases, judges=["sim_gpt_decider"], question_limit=100)
    names = {each["where"].get("bias") for each in json.loads((out / "numbers.json").read_text())["numbers"]}
    assert set(biases) <= names
    assert "SIMULATED" in said and (out / "bias_effects.png").exists()


@pytest.mark.parametrize("known", [True, False], ids=["with tests", "without tests"])
def test_it_reads_published_decisions(tmp_path: Path, known: bool) -> None:
    tests, decisions = tmp_path / "tests.jsonl", tmp_path / "decisions.csv"
    rows = [
        {
            "id": str(number), "bias": bias, "scenario": f"Scenario {number % 12}", "metric_params": str(params),
            "control": TEXT.format(f"One {number}."), "treatment": TEXT.format(f"Two {number}."),
        }
        for number in range(48)
        for bias, params in [
            ("Framing Effect", {"k": -1, "x_1": 0, "x_2": 0})
            if number < 24
            else ("Status-Quo Bias", {"k": -1, "x_1": 0, "x_2": 0, "flip_treatment": True})
        ]
    ]  # fmt: skip
    tests.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    order = '"[6, 5, 4, 3, 2, 1, 0]"'
    lines = ["id,model,control_option_order,control_decision,treatment_option_order,treatment_decision,status,bias"]
    lines += [f"{row['id']},m,{order},{n % 4},{order},{n % 4 + n % 3},OK,{row['bias']}" for n, row in enumerate(rows)]
    decisions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    said, out = ran(tmp_path, judgments=str(decisions), **({"questions": str(tests)} if known else {}))
    numbers = json.loads((out / "numbers.json").read_text())["numbers"]
    (mean,) = [e for e in numbers if e["id"] == "ratio_scale" and e["where"] == {"bias": "framing", "judge": "m"}]
    by_hand = [(n % 3) / (n % 4 + n % 3) if n % 4 + n % 3 else 0.0 for n in range(24)]
    assert mean["value"] == pytest.approx(sum(by_hand) / 24, abs=1e-5) and mean["clusters"] == (12 if known else 24)
    assert "only the published metric is defined: status quo" in said and "SIMULATED" not in of_this_run(said)
