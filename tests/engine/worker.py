"""One run in a process of its own, for tests in which runs compete, are killed, or run out of disk."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from helpers import paths, store
from helpers.judge import Budget, complete_all, terminal
from helpers.providers import Clock
from helpers.store import appending
from tests.engine.asking import MODELS, requests_to


def start(folder: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen[str]:
    """A run that has just been started; its words come through pipes."""
    command = [sys.executable, "-m", "tests.engine.worker", str(folder), *arguments]
    env = {**os.environ, **environment}
    return subprocess.Popen(command, cwd=paths.ROOT, env=env, stdout=-1, stderr=-1, text=True)


class LateWriter(store.Writer):
    """What must never be: lines that count as stored, and are written a hundred at a time."""

    def append(self, *line: Any) -> None:
        late = vars(self).setdefault("late", [])
        late.append(line)
        if len(late) >= 100:
            self._write()

    def _write(self) -> None:
        for line in vars(self).pop("late", []):
            super().append(*line)

    def close(self) -> None:
        self._write()
        super().close()


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--models", default="gpt", help="names with commas between them, in the order in which they are asked")
@click.option("--first", default=0, help="number of the first question")
@click.option("--count", default=300, help="questions to each model")
@click.option("--concurrency", default=16)
@click.option("--max-bytes", default=0, help="no file may grow larger than this")
@click.option("--late", is_flag=True, help="acknowledge replies before they are written")
@click.option("--waits", default=1.0, help="seconds that pass while the retry policy sees one")
@click.option("--timeout", default=0.0, help="how long a call may take, in seconds")
@click.option("--grace", default=0.0, help="how long calls in flight may take after an interrupt, in seconds")
@click.option("--background", is_flag=True, help="as a script's background job: SIGINT is ignored")
def main(folder: Path, models: str, first: int, count: int, concurrency: int, **how: Any) -> None:
    """Ask, and say how many replies there are."""
    # Whoever runs the tests in a shell's background passes on that SIGINT is ignored.
    signal.signal(signal.SIGINT, signal.SIG_IGN if how["background"] else signal.default_int_handler)
    if how["max_bytes"]:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (how["max_bytes"], how["max_bytes"]))
    if how["late"]:
        appending.Writer = LateWriter  # type: ignore[misc]
    terminal.GRACE_SECONDS = how["grace"] or terminal.GRACE_SECONDS
    known = {model.name: model for model in MODELS.values()} | {
        "gpt_other": replace(MODELS["openai"], name="gpt_other", model_id="gpt-5")
    }
    if how["timeout"]:
        known = {name: replace(model, timeout_seconds=how["timeout"]) for name, model in known.items()}
    requests = [request for name in models.split(",") for request in requests_to(known[name], first + count)[first:]]
    waits = how["waits"]
    clock = Clock(now=lambda: time.monotonic() / waits, sleep=lambda seconds: asyncio.sleep(seconds * waits))
    options = {"budget": Budget(1e6), "concurrency": concurrency, "clock": clock}
    replies = asyncio.run(complete_all(requests, folder=folder, **options))
    click.echo(f"{len(replies)} replies")


if __name__ == "__main__":
    try:
        main(standalone_mode=False)
    except click.exceptions.Abort as abort:
        # Under asyncio.run a Ctrl-C becomes a KeyboardInterrupt without words; those of the run stand behind it.
        interrupt = abort.__cause__
        click.echo(str(interrupt) or str(interrupt.__context__), err=True)
        sys.exit(130)
