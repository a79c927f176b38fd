"""A store of many short judgments: written, indexed, and read from the index as columns for an analysis."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from helpers import store
from helpers.judge.reading import judged, judgments
from helpers.types import Completion, Model, Request, Trial, Usage

NONCE = "7f3a91ce"
VERDICTS = ("A>>B", "A>B", "A=B", "B>A", "B>>A")
CONDITIONS = ("none", "self", "competitors", "full")
#: Trials in memory.
AT_ONCE = 200_000


def trials(count: int) -> Iterator[Trial]:
    """So many pairwise trials for one judge, on a thousand questions."""
    judge = Model("judge", "openai", "bench-1", "gpt")
    for number in range(count):
        request = Request(judge, f"Which of the two answers is better? Pair {number}.")
        condition = CONDITIONS[number % len(CONDITIONS)]
        where = {"experiment": "benchmark", "question_id": f"question_{number % 1000:03}", "category": "all"}
        yield Trial(**where, judge=judge, request=request, condition=condition, form="pairwise", nonce=NONCE)


def write(folder: Path, count: int) -> None:
    """A file of so many replies, each with a verdict."""
    writer = store.Writer(store.file_of(folder, "judge"))
    for number, trial in enumerate(trials(count)):
        said = f"Reason {number}.\nVERDICT-{NONCE}: {VERDICTS[number * 7 % 5]}"
        told = {"finish": "stop", "usage": Usage(1400, 300 + number % 90), "model": "bench-1", "latency": 0.1}
        reply = Completion(trial.request.key, "ok", said, raw="{}", at="2026-01-01T00:00:00.000+00:00", **told)
        labels = {"experiment": trial.experiment, "question_id": trial.question_id, "condition": trial.condition}
        writer.append(trial.request, reply, {**labels, "shown": ["one", "two"]})
    writer.close()


def read(folder: Path, count: int) -> None:
    """Put all verdicts into the index, as runs that read them do."""
    asked = trials(count)
    while some := list(islice(asked, AT_ONCE)):
        replies = store.stored(store.file_of(folder, "judge"), {trial.request.key for trial in some})
        judgments(some, replies, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["write", "build", "read", "load"])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--count", type=int, required=True)
    given = parser.parse_args()
    if given.what in ("build", "read", "load"):
        import pandas  # noqa: F401 - an analysis has it already
        import pyarrow.parquet  # noqa: F401
    begun = time.perf_counter()
    if given.what == "write":
        write(given.store, given.count)
    elif given.what == "build":
        store.remove(store.file_of(given.store, "judge"))
        store.index(store.file_of(given.store, "judge"))
    elif given.what == "read":
        read(given.store, given.count)
    else:
        frame = judged(given.store)
        took = time.perf_counter() - begun
        if len(frame) != given.count or frame["choice"].isna().any():
            raise SystemExit(f"{len(frame)} of {given.count} judgments, {frame['choice'].isna().sum()} without verdict")
        print(f"{took:.4f}")
        return
    print(f"{time.perf_counter() - begun:.4f}")


if __name__ == "__main__":
    main()
