"""Published answers with reasons, and published judgments on pairs of them, made up in the formats they come in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers.types import Question
from studies.calibration.worlds.pairs import BEFORE, PairWorld, sample

#: The published names of the models of `studies.calibration.worlds.pairs`.
MODELS = {
    "deepseek": "DeepSeek-V3",
    "llama": "Meta-Llama-3.1-8B-Instruct-Turbo",
    "mistral": "Mistral-7B-Instruct-v0.3",
    "qwen": "Qwen2.5-7B-Instruct-Turbo",
}
REASON = "The passage shows the whole tale and gives a small hint that explains the final choice, or so it seems."
#: What our own rules make of it, and edits that break one of them.
EDITED = REASON.replace("shows", "indicates").replace("explains", "clarifies")
BROKEN = {
    "1 word differs, not 2": REASON.replace("shows", "indicates"),
    "the texts differ in more than single words": f"{EDITED} Indeed.",
    "it is a function word or a number": REASON.replace("shows", "indicates").replace("that", "which"),
    "its replacement has another ending": REASON.replace("shows", "indicated").replace("explains", "clarifies"),
}


def answers(
    questions: Iterable[Question], letters: Sequence[str], models: Sequence[str], edited: str = EDITED, mark: str = ""
) -> list[dict[str, Any]]:
    """A flat record a question; models answer with these letters, in turn; `mark` ends each `pid`."""
    records = []
    for number, question in enumerate(questions):
        lettered = "\n".join(f"({x}) {o}" for x, o in zip("ABCD", question.options, strict=True))
        record = {"pid": f"{question.id}{mark}", "text": question.passage, "questions": f"{question.text}\n{lettered}"}
        record["output_label"] = question.gold
        for place, model in enumerate(models):
            record |= {
                f"{model}_output_label": letters[(number + place) % len(letters)],
                f"{model}_reason": REASON,
                f"{model}_reason_perturb_llm_auto": edited,
            }
        records.append(record)
    return records


def judged(folder: Path, articles: int = 40, responses: bool = False) -> Path:
    """Preference and recognition files of four judges in a folder; with `responses` the answers' letters beside it."""
    world = PairWorld(self_preference=(1.0, 1.0, 0.0, 0.5))
    arms = [BEFORE, ("wrong", 2, 0), ("right", 2, 0)]
    table = sample(world, np.random.default_rng(5), arms, articles, 2, recognition=True)
    table = table[table["own"].isin(["right", "wrong"])]
    for (case, edited, task), rows in table.groupby(["own", "target", "task"], observed=True):
        if edited in ("none", case):
            kind = f"{'pref' if task == 'correct' else 'self_recog'}{'' if edited == 'none' else '_2w'}"
            role = "harmful" if case == "wrong" else "ben"
            records = [_record(row, "comparison" if task == "correct" else "detection") for row in rows.itertuples()]
            write(folder / "judged" / f"clean_{kind}_quality_{role}.json", records)
    if responses:
        write(folder / "quality_responses.json", list(_answered(table).values()))
    return folder / "judged"


def write(path: Path, records: Any) -> Path:
    """Records as a JSON array, or one a line where the file's name does not end in .json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = json.dumps(records) if path.suffix == ".json" else "\n".join(map(json.dumps, records))
    path.write_text(lines, encoding="utf-8")
    return path


def _pid(row: Any) -> str:
    return f"{50000 + int(row.article[1:])}_AB12_{row.question_id}_0"


def _record(row: Any, kind: str) -> dict[str, Any]:
    other = {"right": "wrong", "wrong": "right"}[row.own]
    said = {
        "right": {1.0: "right", 0.0: "wrong"}[row.right_first],
        "wrong": {1.0: "right", 0.0: "wrong"}[row.wrong_first],
    }
    return {
        "evaluator": MODELS[row.judge],
        "evaluatee": MODELS[getattr(row, other)],
        "pid": _pid(row),
        f"forward_{kind}": "1" if said[row.own] == row.own else "2",
        f"backward_{kind}": "2" if said[other] == row.own else "1",
    }


def _answered(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    options = [f"It was thing {number}." for number in range(4)]
    found: dict[str, dict[str, Any]] = {}
    for row in table.itertuples():
        asked = f"What was it ({row.question_id})?"
        question = Question(
            _pid(row), "", asked, passage=f"A tale, number {row.article}.", options=tuple(options), gold="A"
        )
        record = found.setdefault(question.id, answers([question], "A", [])[0])
        for role in ("right", "wrong"):
            model = MODELS[getattr(row, role)]
            record |= {f"{model}_output_label": getattr(row, f"{role}_label"), f"{model}_reason": REASON}
    return found
