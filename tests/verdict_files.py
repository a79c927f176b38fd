"""Tidy files of verdicts with planted biases, in every format, as tests write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

#: Of a judge that takes the first place in a share of cases, whatever is shown.
PLANTED = 0.4


def pair_rows(first: float = 0.0, own: float = 0.0, questions: int = 80, seed: int = 1) -> list[dict[str, Any]]:
    """Both orders of `questions` pairs by two judges, each of the vendor of one candidate.

    With chance `first` a judge names the first place; else with chance `own` its own vendor's answer; else either
    answer with chance 1/2, the same in both orders.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for judge, mine in (("judge_x", "model_x"), ("judge_y", "model_y")):
            fair = rng.choice(["model_x", "model_y"])
            for shown in (["model_x", "model_y"], ["model_y", "model_x"]):
                said = shown[0] if rng.random() < first else mine if rng.random() < own else fair
                rows.append(
                    {
                        "judge": judge,
                        "question": f"q{question}",
                        "candidates": shown,
                        "verdict": "AB"[shown.index(said)],
                        "judge_vendor": judge[-1],
                        "candidate_vendors": [name[-1] for name in shown],
                    }
                )
    return rows


def ranking_rows(own: float = 0.0, questions: int = 60, seed: int = 2) -> list[dict[str, Any]]:
    """Rankings of two candidates a vendor by a judge of each of three; `own`: what own answers gain in utility."""
    rng = np.random.default_rng(seed)
    names = ["a1", "a2", "b1", "b2", "c1", "c2"]
    rows = []
    for question in range(questions):
        quality = rng.normal(size=6) * 0.5 + [1.2, 0.0, 0.6, -0.6, 0.9, -0.3]
        for vendor in "abc":
            utility = quality + rng.gumbel(size=6) + [own * (name[0] == vendor) for name in names]
            shown = [names[i] for i in rng.permutation(6)]
            ranked = [names[i] for i in np.argsort(-utility)]
            rows.append(
                {
                    "judge": f"judge_{vendor}",
                    "question": f"q{question}",
                    "candidates": shown,
                    "verdict": ranked,
                    "judge_vendor": vendor,
                    "candidate_vendors": [name[0] for name in shown],
                }
            )
    return rows


def score_rows(own: float = 0.0, lenient: float = 0.0, questions: int = 50, seed: int = 3) -> list[dict[str, Any]]:
    """Scores of two candidates by two judges; judge x adds `lenient` to all and `own` to its own vendor's answers."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        for judge in "xy":
            for name in "xy":
                score = round(5 + rng.normal() + (lenient + own * (name == "x")) * (judge == "x"), 2)
                rows.append(
                    {
                        "judge": f"judge_{judge}",
                        "question": f"q{question}",
                        "candidates": [f"model_{name}"],
                        "verdict": score,
                        "judge_vendor": judge,
                        "candidate_vendors": [name],
                    }
                )
    return rows


def written(rows: list[dict[str, Any]], path: Path) -> Path:
    """The rows in the format that the name of the file says; lists with | between their parts where cells are texts."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path
    if path.suffix == ".json":
        path.write_text(json.dumps(rows), encoding="utf-8")
        return path

    def cell(key: str, value: Any) -> Any:
        if isinstance(value, list):
            return (" > " if key == "verdict" else "|").join(map(str, value))
        return value

    frame = pd.DataFrame([{key: cell(key, value) for key, value in row.items()} for row in rows])
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in path.name else ",")
    return path
