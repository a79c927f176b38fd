"""What a file of verdicts holds, whatever its format: one frame, and which columns it told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from helpers.types import Estimate

if TYPE_CHECKING:
    import pandas as pd

#: How verdicts are given, with the words for it.
STYLES = {"pairwise": "verdicts on two answers", "ranking": "rankings", "score": "scores"}


@dataclass(frozen=True)
class Held:
    """The verdicts of a file in the frame of their style, and what the file told.

    `frame`: of pairwise the games frame with `ordered` (whether the shown order is known), `won` (what the candidate
    won: 1, 0, 1/2 or a share) and `gold` (what it should have); of rankings the listwise frame with `gold` (the best
    candidate); of scores one row a score (question_id, category, judge, judge_vendor, candidate, candidate_vendor,
    condition, repeat, score, gold, length, outcome). `columns` are those of the tidy format that the file told.
    `counts` has a row a judge, condition and verdict as it was written (n). `baseline`: whether all candidates were
    compared with one and the same. `extra` are numbers that this format alone tells.
    """

    style: str
    format: str
    name: str
    frame: pd.DataFrame
    columns: frozenset[str]
    counts: pd.DataFrame
    baseline: bool = False
    notes: tuple[str, ...] = ()
    extra: tuple[Estimate, ...] = field(default=())
