"""What the published replication shows, and what it cannot: computed from its counts, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.biases.self_preference.concluding import of
from helpers.biases.self_preference.published import AGAIN, BEFORE, LEVEL, pooled, runs
from helpers.stats.margins import discordance
from helpers.types import Estimate

_RATE = "harmful_self_preference_rate"
#: The report of this run does not say that the pairs it kept are among the others, as the other run's does.
ASSUMED = ("greedy",)


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which way the published edit of two words went, by what was compared, and what the counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    table = runs(published)
    lines = [
        "Two words of the judge's own answer were replaced by synonyms. How often it then picked its own *wrong* one:"
    ]
    lines += [
        "",
        *_lines(pooled(table)),
        "",
        _place(pooled(table)),
        "",
        _unsettled(table),
        "",
        _definitions(estimates),
        "",
    ]
    return "\n".join([*lines, _rest(table, estimates)])


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _phases(total: pd.DataFrame) -> list[tuple[str, str, pd.Series, pd.Series]]:
    """Each run and kind of records with its row before and after the edit."""
    keys = list(dict.fromkeys(zip(total["run"], total["records_are"], strict=True)))
    rows = total.set_index(["run", "records_are", "phase"])
    return [(*key, rows.loc[(*key, "before")], rows.loc[(*key, "after")]) for key in keys]


def _lines(total: pd.DataFrame) -> list[str]:
    found = []
    for run, records, before, after in _phases(total):
        first, last = (row["own_wrong_selected"] / row["own_wrong"] for row in (before, after))
        told = f"- *{run}*, {records}: {_percent(first, 2)} to {_percent(last, 2)} ({100 * (last - first):+.2f} pp)"
        if before["records"] != after["records"]:
            found.append(f"{told}, of {before['own_wrong']} and of {after['own_wrong']} pairs.")
            continue
        counts = int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])
        below = (possible := discordance(*counts))[possible["p"] < LEVEL]["changed"]
        said = f"only if at most {below.max()} of them changed sides" if len(below) else "for no number of changes"
        found.append(f"{told}, of the same {counts[2]} pairs: {counts[1] - counts[0]:+d}; p < {LEVEL} {said}.")
    return found


def _place(total: pd.DataFrame) -> str:
    """How much of a change comes with the place of the own answer, where both orders were asked after the edit.

    A pair that was left out the second time had the same place picked twice: where the own answer stood first and was
    picked, the other one was picked when it stood last, and the other way round.
    """
    rows = total.set_index(["run", "records_are", "phase"])
    lines = []
    for run in dict.fromkeys(total["run"]):
        if not {(run, BEFORE, "after"), (run, AGAIN, "after")} <= set(rows.index):
            continue
        before, first, again = (
            rows.loc[(run, BEFORE, "before")],
            rows.loc[(run, BEFORE, "after")],
            rows.loc[(run, AGAIN, "after")],
        )
        n, left = first["own_wrong"], first["own_wrong"] - again["own_wrong"]
        dropped = first["own_wrong_selected"] - again["own_wrong_selected"]
        last = again["own_wrong_selected"] + left - dropped
        if left < 0 or not 0 <= dropped <= left:
            continue
        lines.append(
            f"- *{run}*, of {n} pairs: {before['own_wrong_selected']} before (both orders), after the edit "
            f"{first['own_wrong_selected']} with the own answer first, {last} with it last; {left} pairs on which "
            f"these disagree had left the first report, and of the others it is {again['own_wrong_selected']} of "
            f"{again['own_wrong']}{', if these are among the former' if run in ASSUMED else ''}."
        )
    if not lines:
        return "No run asked both orders of the same pairs after the edit."
    head = (
        "**Place.** The pairs of *greedy* and *raw* were chosen since both orders agreed before the edit; compared "
        "with that is one order afterwards, the own answer first. Both orders were asked, so the other one follows:"
    )
    return "\n".join([head, "", *lines])


def _unsettled(table: pd.DataFrame) -> str:
    """What no number of these counts can settle, and the pairs whose counts changed by more than any pairing allows."""
    more = []
    for (run, records, judge, other), rows in table.groupby(["run", "records_are", "judge", "opponent"], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        if before["records"] != after["records"]:
            continue
        counts = int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])
        possible = discordance(*counts)
        if len(possible) and possible["p"].max() < LEVEL:
            more.append(f"{judge} against {other} in *{run}*, {records} ({counts[0]} to {counts[1]} of {counts[2]})")
    told = (
        "**What is missing.** No run asked the unedited pairs again, and none showed the edits to another judge. So "
        "these counts do not settle whether a change is the edit's, the place's, the repetition's or a damaged text's. "
        "How many pairs changed sides is not published; all p here take pairs as independent, which questions on one "
        "article are not, and are corrected for nothing."
    )
    if more:
        told += f" Changed by more than chance allows, whichever pairs changed: {'; '.join(more)}."
    return told


def _definitions(estimates: Sequence[Estimate]) -> str:
    """The first report's core number under both definitions."""
    parts = []
    for id, words in (("wrong_of_self_selected", "P(own wrong | own picked)"), (_RATE, "P(own picked | own wrong)")):
        twice, same = (
            [of(estimates, id, run="greedy", records=kind, phase=phase).value for phase in ("before", "after")]
            for kind in (AGAIN, BEFORE)
        )
        parts.append(
            f"{words} goes from {_percent(twice[0], 2)} to {_percent(twice[1], 2)} in the first report, from "
            f"{_percent(same[0], 2)} to {_percent(same[1], 2)} in the second"
        )
    return (
        "**Definitions.** The source changed its definition of the harmful rate between the reports, so they cannot be "
        "compared as printed. Of *greedy* (whose first report also holds an earlier state of the data), "
        f"{'; '.join(parts)}. The first definition mixes how often a judge is wrong with how often it picks itself; "
        "the second is the one used everywhere else here."
    )


def _rest(table: pd.DataFrame, estimates: Sequence[Estimate]) -> str:
    """Where the change of the nine pairs comes from, what the filter keeps, and what was skipped."""
    nine = table[table["run"] == "nine pairs"]
    nine = nine.pivot(index=["judge", "opponent"], columns="phase", values="own_wrong_selected")
    change = nine["after"] - nine["before"]
    net = int(change.sum())
    top = change.sort_values(ascending=net < 0).head(2)
    where = " and ".join(f"{judge} against {opponent} ({moved:+d})" for (judge, opponent), moved in top.items())
    kept = [e.value for e in estimates if e.id == "published_retention"]
    skipped = max((e for e in estimates if e.id == "generator_skipped"), key=lambda e: e.value)
    model = skipped.where["model"]
    rate, every = (of(estimates, id, model=model) for id in ("generator_accuracy", "generator_accuracy_all"))
    told = f"The nine pairs changed by {net:+d} in all" + (f", {int(top.sum()):+d} of it in {where}" if net else "")
    return (
        f"{told}. The filter for consistent orders kept between {_percent(min(kept), 0)} and {_percent(max(kept), 0)} "
        f"of a pair's records. Answers without a letter were skipped: {model} is right in {_percent(rate.value)} of "
        f"those it answered, in {_percent(every.value)} of all."
    )
