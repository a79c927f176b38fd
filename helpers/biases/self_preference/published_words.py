"""What the published replication shows, and what it cannot: computed from its counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.biases.self_preference.concluding import of
from helpers.biases.self_preference.published import BEFORE, EACH, UNFILTERED, least_share, pooled, runs
from helpers.types import Estimate

_RATE = "harmful_self_preference_rate"


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which way the published edit of two words went, by what was compared, and what the counts cannot settle.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    total = pooled(runs(published))
    lines = [
        "Two words of the judge's own answer were replaced by synonyms. How often it then picked its own *wrong* one:"
    ]
    lines += ["", *_lines(total, estimates), ""]
    return "\n".join(
        [*lines, _direction(estimates), "", _definitions(estimates), "", _concentrated(published, estimates)]
    )


def _pairs(total: pd.DataFrame) -> list[tuple[str, str]]:
    return list(dict.fromkeys(zip(total["run"], total["records_are"], strict=True)))


def _lines(total: pd.DataFrame, estimates: Sequence[Estimate]) -> list[str]:
    found = []
    for run, records in _pairs(total):
        before, after = (of(estimates, _RATE, run=run, records=records, phase=phase) for phase in ("before", "after"))
        told = f"- *{run}*, {records}: {before.value:.2%} to {after.value:.2%}".replace("%", " %")
        if records == EACH:
            found.append(f"{told} (of {before.n} and of {after.n} other pairs).")
            continue
        first, last = (
            total[(total["run"] == run) & (total["records_are"] == records) & (total["phase"] == phase)].iloc[0]
            for phase in ("before", "after")
        )
        n, net = int(first["own_wrong"]), int(last["own_wrong_selected"] - first["own_wrong_selected"])
        most, _ = least_share(int(first["own_wrong_selected"]), int(last["own_wrong_selected"]), n)
        found.append(f"{told} of the same {n} pairs: {net:+d}; p < 0.05 only if at most {most} of them changed sides.")
    return found


def _direction(estimates: Sequence[Estimate]) -> str:
    by = {
        kind: [
            e
            for e in estimates
            if e.id == "published_change" and e.where["rate"] == _RATE and e.where["records"] == kind
        ]
        for kind in (EACH, BEFORE, UNFILTERED)
    }
    told = {kind: f"{sum(e.value < 0 for e in each)} of {len(each)} fall" for kind, each in by.items()}
    return (
        f"**The direction goes with the comparison.** Filtered anew after the edit, {told[EACH]}: the pairs on which "
        "the edit unsettled the judge have left. On the same pairs, chosen because both orders agreed *before*, "
        f"{told[BEFORE]}: there a judge can only become less sure, with or without an edit. Without a filter, "
        f"{told[UNFILTERED]}, but the own answer always stood first. No run asked the unedited pairs again, and none "
        "asked another judge about the same edits: **none of these changes can be told from noise, from damage to the "
        "text or from its place**. How many pairs changed sides is not published, and these p take pairs as "
        "independent, which questions on one article are not."
    )


def _definitions(estimates: Sequence[Estimate]) -> str:
    """The first report's core number under both definitions."""
    parts = []
    for id, words in (("wrong_of_self_selected", "P(own wrong | own picked)"), (_RATE, "P(own picked | own wrong)")):
        each, same = (
            [of(estimates, id, run="greedy", records=kind, phase=phase).value for phase in ("before", "after")]
            for kind in (EACH, BEFORE)
        )
        parts.append(
            f"under {words} its number goes from {each[0]:.2%} to {each[1]:.2%}, on the same pairs from {same[0]:.2%} "
            f"to {same[1]:.2%}".replace("%", " %")
        )
    return (
        "The source changed its definition between the reports, so they cannot be compared as printed. Of the first "
        f"report (*greedy*), {'; '.join(parts)}. The first definition mixes how often a judge is wrong with how often "
        "it picks itself; the second is the one used everywhere else here."
    )


def _concentrated(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Where the rise of the nine pairs comes from, and what the filter keeps."""
    table = runs(published)
    nine = table[table["run"] == "nine pairs"].pivot(
        index=["judge", "opponent"], columns="phase", values="own_wrong_selected"
    )
    change = (nine["after"] - nine["before"]).sort_values(ascending=False)
    top = [f"{judge} against {opponent} ({moved:+d})" for (judge, opponent), moved in change.head(2).items()]
    kept = [e.value for e in estimates if e.id == "published_retention"]
    skipped = max((e for e in estimates if e.id == "generator_skipped"), key=lambda e: e.value)
    model = skipped.where["model"]
    rate, all_ = (of(estimates, id, model=model) for id in ("generator_accuracy", "generator_accuracy_all"))
    return (
        f"Of the net {int(change.sum()):+d} of the nine pairs, {int(change.head(2).sum()):+d} come from two: "
        f"{' and '.join(top)}. The filter for consistent orders kept between {min(kept):.0%} and {max(kept):.0%} of a "
        f"pair's records. Answers without a letter were skipped: {model} is right in {rate.value:.1%} of those it "
        f"answered, {all_.value:.1%} of all.".replace("%", " %")
    )
