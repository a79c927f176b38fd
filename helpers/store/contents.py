"""What a store holds, file by file: replies, failures, tokens, dollars, dates and experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from helpers.store.checking import scan
from helpers.types import Usage

#: What one line cost in US dollars, counted and at most; raises ValueError where nobody knows the price.
Cost = Callable[[str, dict[str, Any]], tuple[float, float]]


@dataclass
class Contents:
    """One file of a store.

    `replies` counts keys with a usable reply, `further` more replies to those; `failures` counts attempts by status.
    `usd_measured` is what the tokens that were counted cost, `usd_at_most` also counts calls of which nobody can tell
    at the most that they can have cost; both are None where no price is known, which `no_price` says. Times are the
    wall clock's, UTC; `returned` counts replies by the model id that the provider named, `simulated` lines that our own
    simulator made.
    """

    model: str
    bytes: int = 0
    lines: int = 0
    replies: int = 0
    further: int = 0
    failures: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=lambda: dict.fromkeys(vars(Usage()), 0))
    usd_measured: float | None = 0.0
    usd_at_most: float | None = 0.0
    no_price: str = ""
    first: str = ""
    last: str = ""
    experiments: dict[str, int] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    simulated: int = 0
    damaged: int = 0
    torn: int = 0


def contents(path: Path, cost: Cost) -> Contents:
    """What one file holds. Lines that cannot be read are counted as damaged, not an error: `verify` names them."""
    found, answered = Contents(path.stem, path.stat().st_size), set[str]()
    for line in scan(path):
        found.lines += 1
        if line.record is None:
            found.torn += line.kind == "torn"
            found.damaged += line.kind != "torn"
            continue
        record, reply = line.record, line.record["reply"]
        if record["status"] != "ok":
            _count(found.failures, record["status"])
        elif record["key"] in answered:
            found.further += 1
        else:
            found.replies += 1
            answered.add(record["key"])
        for name, count in reply["usage"].items():
            found.tokens[name] += count or 0
        if reply["model"] and record["status"] == "ok":
            _count(found.returned, reply["model"])
        _count(found.experiments, str(record["labels"].get("experiment", "")))
        found.simulated += record["request"]["provider"] == "simulated"
        if record["at"]:
            found.first = min(found.first or record["at"], record["at"])
            found.last = max(found.last, record["at"])
        _spend(found, record, cost)
    return found


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _spend(found: Contents, record: dict[str, Any], cost: Cost) -> None:
    if found.usd_measured is None or found.usd_at_most is None:
        return
    try:
        measured, at_most = cost(found.model, record)
    except ValueError as error:
        found.usd_measured = found.usd_at_most = None
        found.no_price = str(error)
    else:
        found.usd_measured += measured
        found.usd_at_most += at_most
