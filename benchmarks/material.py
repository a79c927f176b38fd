"""What all programs send: prompts of about 5.5 KB, built as experiment 1 builds its own, the same bytes for everybody.

Our own path builds them itself; all others read them from a file of JSON lines, which costs them next to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from helpers import paths, prompts
from helpers.types import Model, Request, Trial

TEMPLATE = paths.EXPERIMENTS / "mt_bench_blind" / "prompts" / "judge.txt"
LABELS = ("A", "B", "C")
SHOWN = ("one", "two", "three")
ANSWER_LENGTH = 1150
#: So many matters are answered; more judgments show the same answers again, as those of several judges do.
MATTERS = 1000
TEXT = " ".join(
    f"Sentence {n} explains the {word} of the matter, with an example and what follows from it."
    for n, word in enumerate(("cause", "order", "size", "origin", "limit", "use", "history", "proof") * 40)
)


@cache
def text(matter: int, slot: int) -> str:
    """The answer in one slot to one matter: another piece of the same long text each time; it is held once."""
    start = (matter * 131 + slot * 1009) % (len(TEXT) - ANSWER_LENGTH)
    return TEXT[start : start + ANSWER_LENGTH]


def trials(model: Model, calls: int) -> Iterator[Trial]:
    """So many listwise trials for one judge, built one by one."""
    template, schema = prompts.load(TEMPLATE), prompts.schema("listwise", LABELS)
    for number in range(calls):
        question = f"question_{number:06}"
        nonce = prompts.nonce(42, question)
        asked = f"What is to be said about matter {number}, and why?"
        texts = [text(number % MATTERS, slot) for slot in range(len(LABELS))]
        prompts.check_nonce(nonce, dict(zip(SHOWN, texts, strict=True)))
        system, prompt = prompts.late(
            template, question=asked, answers=[*zip(LABELS, texts, strict=True)], nonce=nonce, structured=True, hint=""
        )
        yield Trial(
            "benchmark",
            question,
            "all",
            model,
            Request(model, prompt, system, schema),
            form="listwise",
            shown=SHOWN,
            labels=LABELS,
            nonce=nonce,
        )


def write(path: Path, calls: int) -> None:
    """The same prompts for programs that do not build them: a line each with system text, prompt and schema."""
    with path.open("w", encoding="utf-8") as file:
        for trial in trials(Model("any", "openai", "bench-1", "gpt"), calls):
            request = trial.request
            line = {"system": request.system, "prompt": request.prompt, "schema": request.schema, "nonce": trial.nonce}
            file.write(json.dumps(line) + "\n")
