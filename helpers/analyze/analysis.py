"""One file of verdicts, analysed: what it holds, every number, and what could not be computed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import frames
from helpers.analyze import every, formats, own_numbers, placing, ranking
from helpers.analyze.held import Held
from helpers.analyze.needs import supported
from helpers.biases.accuracy import accuracy
from helpers.biases.losses import loss_change, loss_words
from helpers.types import Estimate

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
    positive: str = "",
    seed: int = SEED,
    margin_pp: float = MARGIN_PP,
) -> Analysis:
    """Every number that the verdicts of a file can carry, and of each other declared number what is missing.

    `source`: a tidy file (.csv, .tsv, .jsonl, .json, .parquet; columns: `columns.ALL`), or a file or folder of another
    tool (`formats.FORMATS`); `format` where its fields do not tell; `names`: what it calls our columns; `positive`: for
    which answer, "first" or "second", grades above 0 are. `seed`: resampling and sign flips; `margin_pp`: within which
    a hint counts as changing nothing. A file that is not what it should be is a ValueError with file, line and field,
    before anything is computed.
    """
    held = formats.load(source, format, ignore_extra, names, positive)
    estimates, notes = measured(held, "folder", seed, margin_pp)
    # Pairwise and score frames have a row a verdict, listwise ones a row a candidate.
    rows = frames.one_row_each(held.frame) if held.style == "ranking" else held.frame
    keys = {name: rows[name].astype(object) for name in ("judge", "condition", "outcome")}
    rows = rows.assign(**keys, games=2)
    losses = frames.losses(rows)
    if held.style != "ranking" and (lost := loss_words(loss_change(rows, "folder", seed))):
        notes = (*notes, lost)
    return Analysis(held, tuple(estimates), supported(held, estimates), losses, notes, seed, margin_pp)


#: Conditions that are no manipulation of their own but belong to the main one, as its controls.
CONTROLS = ("identical", "quality_gap")


def measured(held: Held, data: str, seed: int, margin_pp: float) -> tuple[list[Estimate], tuple[str, ...]]:
    """All estimates, and what is to be said of how they were made."""
    notes: list[str] = []
    found = [*every.unreadable_share(held.frame, data), *held.extra]
    if held.style == "ranking":
        found += ranking.numbers(held, data, seed, margin_pp, notes)
    for condition, part in conditions(held.frame):
        here: list[Estimate] = []
        if held.style == "pairwise":
            here = [*own_numbers.pair_numbers(part, data, seed), *placing.numbers(held, part, data, seed, notes)]
        elif held.style == "score":
            here = own_numbers.score_numbers(part, data, seed)
        here += _accuracy(held, part, data)
        found += [replace(each, where={**each.where, "condition": condition}) if condition else each for each in here]
    return found, tuple(dict.fromkeys([*held.notes, *notes]))


def conditions(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The verdicts under each condition: first the main one, called "", with its controls, then each other by name.

    The main one is "none", or that of the most verdicts where there is none.
    """
    every_name = frame["condition"].value_counts()
    names = [str(name) for name in every_name.index[every_name > 0] if name not in CONTROLS]
    main = "none" if "none" in names or not names else names[0]
    here = frame["condition"].astype(object)
    if not names or len(names) == 1:
        yield "", frame.assign(condition=here.where(here.isin(CONTROLS), "none"))
        return
    for name in [main, *sorted(set(names) - {main})]:
        kept = (here == name) | here.isin(CONTROLS if name == main else ())
        part = frame[kept]
        renamed = here[kept].where(here[kept].isin(CONTROLS), "none")
        yield "" if name == main else name, part.assign(condition=renamed).reset_index(drop=True)


def _accuracy(held: Held, part: pd.DataFrame, data: str) -> list[Estimate]:
    """How often judges are right, where the file tells what is right; by category too."""
    if "gold" not in part or held.style == "score" or not part["gold"].notna().any():
        return []
    gold = part["gold"].to_numpy(dtype=float)
    if held.style == "pairwise":
        correct = np.where(part["won"].isna() | np.isnan(gold), np.nan, part["won"] == gold)
        rows = part.assign(correct=correct)
    else:
        rows = part[part["top"] == 1.0].assign(correct=gold[(part["top"] == 1.0).to_numpy()])
    known = rows["gold"].notna() if held.style == "pairwise" else rows["correct"].notna() | (rows["outcome"] != "ok")
    return accuracy(
        rows.loc[known, ["question_id", "judge", "category", "outcome", "correct", *({"cluster"} & {*rows})]], data
    )
