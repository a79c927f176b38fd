"""The numbers of experiment 4 from anybody's verdicts on pairs in both orders: by comparison, and a judge at a time."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from helpers.analyze.held import Held
from helpers.biases.position import classes, effects, flips, sensitivity, winrates
from helpers.biases.position.pairs import COMPARISON, INVALID, pairs
from helpers.types import Estimate

#: More comparisons of judge and candidate than these are measured a judge at a time only.
MOST_COMPARISONS = 400
#: What all candidates of a judge together are called where figures need a name.
EVERYBODY = "all candidates"


def numbers(held: Held, frame: pd.DataFrame, data: str, seed: int, notes: list[str]) -> list[Estimate]:
    """Every estimate of experiment 4 that these verdicts carry; none where no pair was judged readably in both orders.

    `where` holds judge and candidate where all candidates were compared with one baseline (and there are not too many),
    and the judge alone for all its pairs together. Verdicts without a known order or without a partner in the other
    order are left out, and counted in `notes`.
    """
    known = frame[frame["ordered"].to_numpy(dtype=bool)]
    control = known["condition"].isin(["identical", "quality_gap"])
    both = known[(known["games"] == 2) | control] if held.format == "tidy" else known
    if len(both) < len(known):
        told = f"{len(known) - len(both):,} of {len(frame):,} verdicts have no partner in the other order"
        notes.append(f"{told}: numbers of both orders are made without them.")
    if both.empty:
        return []
    table = coded(pairs(both))
    units = table
    if "cluster" in frame:
        cluster = dict(zip(frame["question_id"].astype(object), frame["cluster"].astype(object), strict=True))
        units = table.assign(question_id=table["question_id"].astype(object).map(cluster).astype("category"))
    if not (table["kind"] != INVALID).any():
        return flips.control_arms(table, data, seed)
    found: list[Estimate] = []
    count = len(table.drop_duplicates(COMPARISON))
    if held.baseline and count <= MOST_COMPARISONS:
        found += by_comparison(table, units, data, seed)
    elif held.baseline:
        told = f"{count:,} comparisons of judge and candidate, more than {MOST_COMPARISONS}"
        notes.append(f"{told}: places are told a judge at a time.")
    else:
        notes.append("No candidate stands in every pair: places are told a judge at a time, over all its pairs.")
    if not found or table.drop_duplicates(["judge", "candidate"])["judge"].duplicated().any():
        found += by_judge(units, data, seed)
    return found


def by_comparison(table: pd.DataFrame, units: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """The numbers of each judge and candidate; in `units` clusters stand for questions."""
    return [
        *classes.class_rates(units, data),
        *effects.first_position_effect(units, data, seed),
        *effects.signed_rates(units, data),
        *flips.excess_flip(table, data, seed),
        *flips.control_arms(table, data, seed),
        *flips.flip_by_gap(table, data),
        *winrates.win_rate(units, data),
        *sensitivity.sensitivity(units, data),
    ]


def by_judge(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """The numbers of each judge over all its pairs, questions as clusters; `where` has no candidate.

    Flips beyond noise, gaps and win rates are those of one comparison and not made here.
    """
    whole = table.assign(candidate=EVERYBODY, source="")
    found = [
        *classes.class_rates(whole, data),
        *effects.first_position_effect(whole, data, seed),
        *effects.signed_rates(whole, data),
        *flips.control_arms(whole, data, seed),
    ]
    return [
        replace(each, where={key: value for key, value in each.where.items() if key != "candidate"}) for each in found
    ]


def coded(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs with all their names as categories, which are told apart much faster than texts."""
    return table.astype(
        dict.fromkeys([*COMPARISON, "question_id", "cluster", "category", "condition", "baseline"], "category")
    )
