"""What every program that compares is asked for: so many calls, with prompts from a file; standard library only."""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

KEY = "sk-bench-0123456789abcdefghijklmnopqrstuv"


def arguments(about: str, several: bool = False) -> argparse.ArgumentParser:
    """The arguments of all programs: port, calls (with `several`: one number after the other) and how many at once."""
    parser = argparse.ArgumentParser(description=about.split("\n\n")[0])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--calls", type=int, required=True, nargs="+" if several else None)
    parser.add_argument("--at-once", type=int, default=64)
    return parser


def of_file(about: str, several: bool = False) -> argparse.ArgumentParser:
    """The arguments of programs that read their prompts from a file."""
    parser = arguments(about, several)
    parser.add_argument("--prompts", type=Path, required=True)
    return parser


def measured(counts: Sequence[int], ask: Callable[[int, int], None]) -> None:
    """Let so many calls be made, then so many more; of each the seconds, and the CPU seconds of this process, printed.

    `ask` gets the place of a number among them and the number.
    """
    for place, calls in enumerate(counts):
        begun, spent = time.perf_counter(), time.process_time()
        ask(place, calls)
        print(f"{time.perf_counter() - begun:.4f} {time.process_time() - spent:.4f}")


def lines(path: Path, calls: int) -> Iterator[dict[str, Any]]:
    """The first prompts of a file, read one by one."""
    with path.open(encoding="utf-8") as file:
        for _, line in zip(range(calls), file, strict=False):
            yield json.loads(line)


def chat(line: dict[str, Any]) -> dict[str, Any]:
    """A prompt as the arguments of a chat completion, without the model."""
    form = {"name": "reply", "strict": True, "schema": line["schema"]}
    return {
        "messages": [{"role": "system", "content": line["system"]}, {"role": "user", "content": line["prompt"]}],
        "max_completion_tokens": 1024,
        "response_format": {"type": "json_schema", "json_schema": form},
    }


async def replies(call: Callable[[dict[str, Any]], Awaitable[str]], path: Path, calls: int, at_once: int) -> int:
    """Ask so many prompts of a file, so many at once; how many replies held the nonce of their prompt."""
    waiting, right = lines(path, calls), 0

    async def worker() -> None:
        nonlocal right
        for line in waiting:
            reply = await call(line)
            right += line["nonce"] in reply

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(worker())
    return right


def check(right: int, calls: int) -> None:
    """End with an error unless each reply holds the nonce of its prompt."""
    if right != calls:
        raise SystemExit(f"{right} of {calls} replies are those of their prompts")
