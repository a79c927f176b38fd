"""One run in a process of its own, for tests in which runs compete, are killed, or run out of disk."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from helpers import paths, store
from helpers.judge import Budget, complete_all
from helpers.store import appending
from tests.engine.asking import MODELS, requests_to


def start(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """A run that has just been started; its words come through pipes."""
    command = [sys.executable, "-m", "tests.engine.worker", str(folder), *arguments]
    env = {**os.environ, **environment}
    return subprocess.Popen(command, cwd=paths.ROOT, env=env, stdout=-1, stderr=-1, text=True)


class LateWriter(store.Writer):
    """What must never be: lines that are kept in memory until the end."""

    def append(self, *line: Any) -> None:
        vars(self).setdefault("late", []).append(line)

    def close(self) -> None:
        for line in vars(self).get("late", []):
            super().append(*line)
        super().close()


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--models", default="gpt", help="names with commas between them, in the order in which they are asked")
@click.option("--first", default=0, help="number of the first question")
@click.option("--count", default=300, help="questions to each model")
@click.option("--concurrency", default=16)
@click.option("--max-bytes", default=0, help="no file may grow larger than this")
@click.option("--late", is_flag=True, help="store nothing before the end")
def main(folder: Path, models: str, first: int, count: int, concurrency: int, max_bytes: int, late: bool) -> None:
    """Ask, and say how many replies there are."""
    # Whoever runs the tests in a shell's background passes on that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if max_bytes:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))
    if late:
        appending.Writer = LateWriter  # type: ignore[misc]
    known = {model.name: model for model in MODELS.values()} | {
        "gpt_other": replace(MODELS["openai"], name="gpt_other", model_id="gpt-5")
    }
    requests = [request for name in models.split(",") for request in requests_to(known[name], first + count)[first:]]
    budget = Budget(1e6)
    replies = asyncio.run(complete_all(requests, folder=folder, budget=budget, concurrency=concurrency))
    click.echo(f"{len(replies)} replies")


if __name__ == "__main__":
    main()
