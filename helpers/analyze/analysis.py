"""One file of verdicts, analysed: what it holds, every number, and what could not be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import frames
from helpers.analyze import formats
from helpers.analyze.held import Held
from helpers.analyze.measuring import measured
from helpers.analyze.supported import supported
from helpers.biases.losses import loss_change, loss_words
from helpers.types import Estimate

if TYPE_CHECKING:
    import pandas as pd

SEED = 42
MARGIN_PP = 5.0


@dataclass(frozen=True)
class Analysis:
    """What a file of verdicts says: its verdicts (`held`), the estimates, `status` of every declared number (columns of
    `supported`), `losses` (a row a judge and condition, unreadable verdicts by outcome) and `notes` on how it was done.
    """

    held: Held
    estimates: tuple[Estimate, ...]
    status: pd.DataFrame
    losses: pd.DataFrame
    notes: tuple[str, ...]
    seed: int
    margin_pp: float

    @property
    def judgments(self) -> int:
        """How many verdicts there are, read or not."""
        return int(self.losses["judgments"].sum())


def analyze(
    source: str | Path,
    format: str | None = None,
    *,
    ignore_extra: bool = False,
    names: Mapping[str, str] | None = None,
    seed: int = SEED,
    margin_pp: float = MARGIN_PP,
) -> Analysis:
    """Every number that the verdicts of a file can carry, and of each other declared number what is missing.

    `source`: a tidy file (.csv, .tsv, .jsonl, .json, .parquet; columns: `columns.ALL`), or a file or folder of another
    tool (`formats.FORMATS`); `format` where its fields do not tell; `names`: what it calls our columns. `seed`:
    resampling and sign flips; `margin_pp`: within which a hint counts as changing nothing. A file that is not what it
    should be is a ValueError with file, line and field, before anything is computed.
    """
    held = formats.load(source, format, ignore_extra, names)
    estimates, notes = measured(held, "folder", seed, margin_pp)
    # Pairwise and score frames have a row a verdict, listwise ones a row a candidate.
    rows = frames.one_row_each(held.frame) if held.style == "ranking" else held.frame
    keys = {name: rows[name].astype(object) for name in ("judge", "condition", "outcome")}
    rows = rows.assign(**keys, games=2)
    losses = frames.losses(rows)
    if held.style != "ranking" and (lost := loss_words(loss_change(rows, "folder", seed))):
        notes = (*notes, lost)
    return Analysis(held, tuple(estimates), supported(held, estimates), losses, notes, seed, margin_pp)
