"""What published packages and ours say of judges whose bias is known: `python -m benchmarks.comparing` writes the page.

Every package gets the same simulated verdicts and is asked by its documented function, at its own defaults, in an
environment of its own.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.environments import Peer, build
from benchmarks.measuring import ROOT, table
from helpers.analyze.formats import load
from helpers.biases.accuracy import people_rate
from helpers.biases.position import both_orders

PAGE, TEMPLATE = ROOT / "docs" / "others.md", ROOT / "benchmarks" / "others.template.md"
PROGRAM = ROOT / "benchmarks" / "programs" / "peer_verdicts.py"
PEERS = {
    "truescore": Peer("truescore", ("truescore==0.7.4",), "peer_verdicts"),
    "judgecal": Peer("judgecal", ("judgecal==0.1.0",), "peer_verdicts"),
    "judicator": Peer("judicator", ("judicator==0.2.4",), "peer_verdicts"),
}
QUESTIONS, EACH, OURS = 40, 3, "recuse"
#: Of position: what a world is called, how often a verdict is drawn by lot, how often it is the first whatever stands
#: there (below 0: the second), and how far questions differ in that.
POSITION = {
    "fair, two verdicts in five by lot": (0.4, 0.0, 0.0),
    "fair on average, each question with a place of its own": (0.0, 0.0, 0.5),
    "first place in 15 % of verdicts": (0.0, 0.15, 0.0),
    "first place in 15 %, two in five by lot": (0.4, 0.15, 0.0),
}
#: Of labels: whether whole questions are drawn to be labelled, or items one by one.
LABELS = {"items drawn one by one": False, "whole questions drawn": True}
Rows = list[list[Any]]


def position_world(rng: np.random.Generator, noise: float, place: float, apart: float) -> Rows:
    """Pairs of answers in both orders, EACH a question: question, pair, whether the first was chosen in each order."""
    rows: Rows = []
    for question in range(QUESTIONS):
        pull = place + apart * rng.choice([-1.0, 1.0])
        for _ in range(EACH):
            better = rng.random() < 0.5
            chosen = []
            for stands_first in (better, not better):
                first = rng.random() < 0.5 if rng.random() < noise else stands_first
                chosen.append(int(pull > 0 if rng.random() < abs(pull) else first))
            rows.append([question, len(rows), *chosen])
    return rows


def label_world(rng: np.random.Generator, in_questions: bool) -> Rows:
    """Items of QUESTIONS: question, a judge that says yes too often, and labels of two in five; people say yes to half.

    What people say depends on the question.
    """
    rows: Rows = []
    for question in range(QUESTIONS):
        ease, drawn = rng.normal(), rng.random() < 0.4
        for _ in range(EACH):
            yes = ease + rng.normal() > 0
            judge = yes if rng.random() < 0.75 else rng.random() < 0.9
            labelled = drawn if in_questions else rng.random() < 0.4
            rows.append([question, float(judge), float(yes) if labelled else None])
    return rows


def our_position(rows: Rows) -> bool:
    """Whether a preference for a place is shown, by the number and frame of `recuse analyze`."""
    verdicts = [
        {"judge": "j", "question": f"q{question}", "item": f"i{pair}", "candidates": names, "verdict": "AB"[not first]}
        for question, pair, *chosen in rows
        for names, first in zip(("x|y", "y|x"), chosen, strict=True)
    ]
    table = both_orders.pairs(load(pd.DataFrame(verdicts)).frame)
    return any(each.p < 0.05 for each in both_orders.first_position_effect(table, "simulated", 42))


def our_labels(rows: Rows) -> list[float] | None:
    """The interval of the rate that labels of all items would give."""
    frame = pd.DataFrame(rows, columns=["question_id", "predicted", "label"]).assign(judge="j", item=range(len(rows)))
    found = next(each for each in people_rate(frame, "simulated", random_sample=True) if each.id == "people_rate")
    return [found.low, found.high] if found.low == found.low else None


def by_peer(name: str, what: str, runs: list[Rows]) -> list[Any]:
    """The answers of a peer to these runs."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "runs.json").write_text(json.dumps(runs), encoding="utf-8")
        command = [str(PEERS[name].python), str(PROGRAM), f"{name} {what}", str(path)]
        return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def percent(values: list[bool]) -> str:
    """A share of runs with its 95 % interval (Wilson)."""
    n, share = len(values), float(np.mean(values))
    middle, half = (share + 1.92 / n) / (1 + 3.84 / n), 1.96 * math.sqrt(share * (1 - share) / n + 0.96 / n**2)
    low, high = (100 * (middle + sign * half / (1 + 3.84 / n)) for sign in (-1, 1))
    return f"{100 * share:.0f} % [{max(0.0, low):.0f}, {min(100.0, high):.0f}]"


def positions(runs: int) -> str:
    """How often each package reports a preference for a place, a row a world."""
    asked: dict[str, Callable[[list[Rows]], list[bool]]] = {OURS: lambda worlds: [*map(our_position, worlds)]}
    asked |= {name: lambda worlds, name=name: by_peer(name, "position", worlds) for name in PEERS}
    asked["judgecal, items are questions"] = lambda worlds: by_peer("judgecal", "position by question", worlds)
    rows = []
    for name, world in POSITION.items():
        rng = np.random.default_rng(7)
        worlds = [position_world(rng, *world) for _ in range(runs)]
        rows.append([name, *(percent(answers(worlds)) for answers in asked.values())])
        print(f"position: {rows[-1]}", file=sys.stderr)
    return table(["the judge", *asked], rows)


def labels(runs: int) -> str:
    """How often each interval holds what people say of all items, and its mean width, a row a way of drawing."""
    asked: dict[str, Callable[[list[Rows]], list[Any]]] = {OURS: lambda worlds: [*map(our_labels, worlds)]}
    for what in ("labels", "labels clustered"):
        asked[f"truescore{', clusters given' * (what != 'labels')}"] = lambda worlds, what=what: by_peer(
            "truescore", what, worlds
        )
    rows = []
    for name, in_questions in LABELS.items():
        rng = np.random.default_rng(7)
        worlds = [label_world(rng, in_questions) for _ in range(runs)]
        cells = []
        for answers in asked.values():
            found = [each for each in answers(worlds) if each]
            width = f", {np.mean([high - low for low, high in found]):.2f} wide" if found else ""
            cells.append(f"{percent([low <= 0.5 <= high for low, high in found])}{width}" if found else "refused")
        rows.append([name, *cells])
        print(f"labels: {rows[-1]}", file=sys.stderr)
    return table(["labels", *asked], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--runs", type=int, default=400, help="simulated runs a cell (default: 400)")
    runs = parser.parse_args().runs
    for name, peer in PEERS.items():
        if why := build(peer):
            raise SystemExit(f"{name} cannot be installed: {why}")
    packages = ", ".join(each.packages[0].replace("==", " ") for each in PEERS.values())
    words = {"day": date.today(), "runs": runs, "packages": packages, "questions": QUESTIONS, "each": EACH}
    found = {"items": QUESTIONS * EACH, "positions": positions(runs), "labels": labels(runs)}
    PAGE.write_text(TEMPLATE.read_text(encoding="utf-8").format(**words, **found), encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
