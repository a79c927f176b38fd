"""What the notebook puts before the reader: cells and names for figures, sentences, and tables for a paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from helpers.biases.position.classes import grid
from helpers.biases.position.families import of, place
from helpers.biases.position.pairs import comparisons, pairs
from helpers.types import Estimate

#: What the place of an effect over all questions is called where categories are shown.
ALL = "all questions"


def titled(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates with the source in the candidate's name where it tells two comparisons apart, as figures need."""
    return [
        replace(each, where={k: v for k, v in each.where.items() if k != "source"} | {"candidate": _titled(each.where)})
        if "source" in each.where
        else each
        for each in estimates
    ]


def _titled(where: dict[str, str]) -> str:
    return f"{where['candidate']} ({where['source']})"


def outcome_cells(frame: pd.DataFrame, data: str) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2 in each comparison, condition none; games frame.

    Columns: source, judge, candidate, game_1, game_2 (labels or "invalid"), count, data.
    """
    table = pairs(frame)
    found = []
    for where, rows in comparisons(table[table["condition"] == "none"]):
        counts = grid(rows).rename_axis(index="game_1", columns="game_2").stack().rename("count").reset_index()
        known = {"source": rows["source"].iloc[0], "judge": where["judge"], "candidate": where["candidate"]}
        found.append(counts.assign(**known, data=data))
    return pd.concat(found, ignore_index=True)


def by_category(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The first-position effects by category, with the shares of unreadable pairs.

    Of a run on one category, those over all its questions.
    """
    effects = [each for each in estimates if each.id == "first_position_effect"]
    if not any("category" in each.where for each in effects):
        effects = [replace(each, where={**each.where, "category": ALL}) for each in effects]
    return [*effects, *(each for each in estimates if each.id == "invalid_share")]


def class_words(estimates: Sequence[Estimate]) -> str:
    """Of each comparison: how often the two orders do not mirror each other, and how much of that favours a place."""
    lines = []
    for each in estimates:
        if each.id != "significant_bias_published" or "category" in each.where:
            continue
        at = place(each.where)
        own, lost = of(estimates, "significant_bias", at), of(estimates, "invalid_share", at)
        one, two = of(estimates, "primacy_share", at), of(estimates, "recency_share", at)
        if own is None or one is None or two is None or lost is None or own.value != own.value:
            continue
        who = f"SIMULATED: {' on '.join(at[:2])}" if each.data == "simulated" else " on ".join(at[:2])
        rest = own.value - one.value - two.value
        ties = f"; {100 * rest:.1f} % name a tie in one order alone" if rest > 1e-9 else ""
        lines.append(
            f"- {who}{f' ({at[2]})' if at[2:] else ''}: not mirrored in {own} of readable pairs ({each} of lines by "
            f"the published rule); unreadable {100 * lost.value:.1f} %. The first place wins both orders in "
            f"{100 * one.value:.1f} %, the second in {100 * two.value:.1f} %{ties}."
        )
    return "\n".join(lines) or "No comparison has a readable pair."


def win_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The win rates over all categories, with the shares of unreadable pairs."""
    return [each for each in estimates if each.id in ("win_rate", "invalid_share") and "category" not in each.where]


def win_words(estimates: Sequence[Estimate]) -> str:
    """What style control changes, and where it could not be made."""
    rows = {(place(e.where), e.where["style"]): e for e in win_rows(estimates) if e.where.get("weight") == "1"}
    moved, missing = {}, {}
    for (at, style), each in rows.items():
        if style != "controlled":
            continue
        if each.value == each.value:
            moved[at] = each.value - rows[at, "raw"].value
        else:
            missing.setdefault(each.method.rpartition("; ")[2], []).append(at)
    if not moved and not missing:
        return "No style control: the texts of the answers are not known here (`answers` can name them)."
    simulated = "SIMULATED: " if any(each.data == "simulated" for each in rows.values()) else ""
    told = []
    if moved:
        at = max(moved, key=lambda at: abs(moved[at]))
        told.append(
            f"{simulated}at equal style the win rate of {len(moved)} comparisons is another one by "
            f"{100 * min(moved.values()):+.1f} to {100 * max(moved.values()):+.1f} pp, most for {' on '.join(at[:2])} "
            f"({rows[at, 'raw']} as judged, {rows[at, 'controlled']} at equal style). Intervals of both share their "
            "verdicts: whether they differ cannot be read off them."
        )
    for why, some in missing.items():
        told.append(f"{simulated}{len(some)} comparisons: {why}.")
    return " ".join(told)


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    whole = titled([each for each in estimates if "category" not in each.where])

    def some(*ids: str) -> list[Estimate]:
        return [each for each in whole if each.id in ids]

    at = ["judge", "candidate"]
    ours = ("no_bias", "weak_bias", "significant_bias", "acceptable_rate", "invalid_share")
    theirs = tuple(f"{id}_published" for id in ours[:4])
    signed = ("first_position_effect", "first_win_rate", "position_consistency", "primacy_share", "recency_share")
    beside = ("excess_flip", "identical_pair_effect", "quality_gap_accuracy")
    told = {
        "classes": ("Classes of pairs of verdicts, of readable pairs.", ours, ["id"]),
        "classes_published": ("Classes as published: of all lines, stored strings untouched.", theirs, ["id"]),
        "place": ("Which place each judge favours.", signed, ["id"]),
        "beyond_noise": ("Flips beyond noise, identical and far apart answers.", beside, ["id"]),
        "win_rate": ("Win rates, by style control and weight of strong verdicts.", ("win_rate",), ["style", "weight"]),
        "sensitivity": ("The effect of the place under each choice.", ("first_position_sensitivity",), ["choice"]),
    }
    tables = [(name, words, some(*ids), at, columns) for name, (words, ids, columns) in told.items()]
    return [table for table in tables if table[2]]
