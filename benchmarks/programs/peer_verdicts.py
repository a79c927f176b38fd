"""What a peer says of worlds of known truth: `python peer_verdicts.py NAME FILE`, in the peer's own environment.

FILE holds one JSON object: "position", runs of rows (question, pair, whether the answer shown first was chosen in one
order and in the other), or "labels", runs of items (question, the judge's value, the label or null). Prints a list of
one answer a run: whether a position bias is reported, or the interval of the mean label (null: refused).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Rows = list[list[Any]]


def truescore_position(rows: Rows) -> bool:
    """Its pairwise test of both orders."""
    from truescore.bias import position_bias

    return bool(position_bias([row[2] for row in rows], [row[3] for row in rows]).significant)


def judgecal_position(rows: Rows, by_question: bool = False) -> bool:
    """The share of first choices of its position probe, at its own level; its items are pairs, or questions."""
    from judgecal.core import REQUIRED_META_KEYS, Judgment
    from judgecal.probes.base import ProbeConfig
    from judgecal.probes.position import PositionProbe

    judgments = []
    for question, pair, *chosen in rows:
        for condition, first in zip(("orig", "swap"), chosen, strict=True):
            meta = dict.fromkeys(REQUIRED_META_KEYS) | {"probe": "position", "condition": condition, "repeat": 0}
            meta |= {
                "item_id": str(question if by_question else pair),
                "first_is_a": condition == "orig",
                "first_len": 1,
                "second_len": 1,
            }
            judgments.append(Judgment(f"{pair} {condition}", "first" if first else "second", None, meta))
    found = PositionProbe().analyze(judgments, ProbeConfig()).estimates
    return any(each.name == "first_pick_rate" and (each.p_value or 0.0) < 0.05 for each in found)


def judicator_position(rows: Rows) -> bool:
    """Its position test, which passes or fails a judge."""
    from judicator.biases.position import PositionBiasTest
    from judicator.cost import CallCounter
    from judicator.judge import Judge

    answers = {}
    for _, pair, one, other in rows:
        answers[f"x{pair}|y{pair}"], answers[f"y{pair}|x{pair}"] = ("A" if each else "B" for each in (one, other))
    judge = Judge(answers.__getitem__, "", "{response_a}|{response_b}", judge_type="pairwise")
    fixtures = [{"question": "", "winner_response": f"x{row[1]}", "loser_response": f"y{row[1]}"} for row in rows]
    return PositionBiasTest().run(judge, fixtures, CallCounter()).verdict == "FAIL"


def truescore_labels(rows: Rows, clustered: bool = False) -> list[float] | None:
    """Its prediction-powered mean, with questions as clusters or without."""
    from truescore.correct import ppi_estimate

    at = [place for place, row in enumerate(rows) if row[2] is not None]
    clusters = [row[0] for row in rows] if clustered else None
    try:
        found = ppi_estimate([row[1] for row in rows], [rows[place][2] for place in at], at, clusters=clusters)
    except ValueError:
        return None
    return [float(found.low), float(found.high)]


PEERS: dict[str, Callable[[Rows], Any]] = {
    "truescore position": truescore_position,
    "judgecal position": judgecal_position,
    "judgecal position by question": lambda rows: judgecal_position(rows, by_question=True),
    "judicator position": judicator_position,
    "truescore labels": truescore_labels,
    "truescore labels clustered": lambda rows: truescore_labels(rows, clustered=True),
}

if __name__ == "__main__":
    runs = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    print(json.dumps([PEERS[sys.argv[1]](rows) for rows in runs]))
