"""How often verdicts change between blind and hinted, and how much of that is no more than a judge's own wavering."""

from __future__ import annotations

import math
from itertools import combinations

import pandas as pd

from helpers import frames
from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.paired import hints_in, pairs
from helpers.biases.top_choice.rates import estimate, vendors
from helpers.stats.intervals import cluster_sums, clustered, no_interval
from helpers.types import Estimate

NEEDS_REPEAT = "needs a plain repeat: repeats = 2"


def change_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the first place differs between blind and hinted, and beyond what differs between two askings (pp).

    `change_rate` (`where`: hint); `change_rate_repeat` (`where`: condition), between two askings of the same;
    `excess_change` (`where`: hint) = change_rate - mean of that blind and that under the hint: 0 where the hint changes
    no verdict's chances and above it where it does (the energy distance; Szekely and Rizzo 2013), while the change over
    blind repeats alone would be negative for a hint that makes a wavering judge sure. Repeats are the partners of one
    hint's judgments, so that no drift between days counts as wavering. Of judges whose vendor has a candidate.
    """
    hints, again = hints_in(frame), {CONTROL: _again_blind(frame)}
    found = [_repeat_rate(again[CONTROL], CONTROL, data)]
    for hint in hints:
        both, again[hint] = pairs(frame, hint), _again(frame, hint)
        if both.empty:
            continue
        changed = _changed(both, "hinted")
        sums = cluster_sums(changed, "changed", "question_id", strata="category")
        interval = clustered(sums.numerators, sums.denominators, strata=sums.strata, null=None)
        found.append(estimate("change_rate", {"hint": hint}, interval, data))
        found.append(_repeat_rate(again[hint], hint, data))
        excess = no_interval(math.nan, 0, 0, NEEDS_REPEAT)
        if not (again[CONTROL].empty or again[hint].empty):
            arms = [changed, _changed(again[CONTROL], "again blind"), _changed(again[hint], "again hinted")]
            sums = cluster_sums(pd.concat(arms, ignore_index=True), "changed", "question_id", "arm", strata="category")
            excess = clustered(sums.numerators, sums.denominators, [-0.5, -0.5, 1.0], sums.strata)
        found.append(estimate("excess_change", {"hint": hint}, excess, data, "pp", (0.0, 1.0)))
    return found


def _votes(frame: pd.DataFrame) -> pd.DataFrame:
    votes = frames.picks(frame)
    votes = votes[votes["judge_vendor"].isin(vendors(frame))]
    return votes if "partner" in votes else votes.assign(partner=votes["repeat"])


def _again(frame: pd.DataFrame, condition: str) -> pd.DataFrame:
    """All pairs of two askings of the same under one condition: candidate, and candidate_blind for the later one."""
    votes = _votes(frame)
    return _pairs_of(votes[votes["condition"] == condition], "repeat")


def _again_blind(frame: pd.DataFrame) -> pd.DataFrame:
    """The same of the blind judgments, as far as they are partners of one hint's judgments; each pair once."""
    votes, parts = _votes(frame), []
    blind = votes[votes["condition"] == CONTROL].drop(columns="partner").rename(columns={"repeat": "partner"})
    for hint in hints_in(frame):
        asked = frames.one_row_each(frame[frame["condition"] == hint])
        asked = asked if "partner" in asked else asked.assign(partner=asked["repeat"])
        keys = ["question_id", "judge", "partner"]
        parts.append(_pairs_of(blind.merge(asked[keys].drop_duplicates(), on=keys), "partner"))
    if not parts:
        return _pairs_of(blind, "partner")
    return pd.concat(parts, ignore_index=True).drop_duplicates(["question_id", "judge", "one", "other"])


def _pairs_of(votes: pd.DataFrame, number: str) -> pd.DataFrame:
    keys, parts = ["question_id", "cluster", "category", "judge"], []
    for one, other in combinations(sorted(votes[number].unique()), 2):
        first, second = (votes.loc[votes[number] == n, [*keys, "candidate"]] for n in (one, other))
        parts.append(first.merge(second, on=keys, suffixes=("", "_blind")).assign(one=one, other=other))
    columns = [*keys, "candidate", "candidate_blind", "one", "other"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _changed(both: pd.DataFrame, arm: str) -> pd.DataFrame:
    changed = (both["candidate"] != both["candidate_blind"]).astype(float)
    return both[["question_id", "cluster", "category"]].assign(changed=changed, arm=arm)


def _repeat_rate(again: pd.DataFrame, condition: str, data: str) -> Estimate:
    interval = no_interval(math.nan, 0, 0, NEEDS_REPEAT)
    if not again.empty:
        sums = cluster_sums(_changed(again, "again"), "changed", "question_id", strata="category")
        interval = clustered(sums.numerators, sums.denominators, strata=sums.strata, null=None)
    return estimate("change_rate_repeat", {"condition": condition}, interval, data)


def changes_words(estimates: list[Estimate]) -> str:
    """How often a hint changes the first place, against how often judges change their mind without any."""
    repeat = {e.where["condition"]: e for e in estimates if e.id == "change_rate_repeat"}
    excess = {e.where["hint"]: e for e in estimates if e.id == "excess_change"}
    lines = []
    for each in estimates:
        if each.id == "change_rate":
            hint = each.where["hint"]
            told = f"- {'SIMULATED: ' if each.data == 'simulated' else ''}*{hint}*: another first place in {each}"
            if not math.isnan(excess[hint].value):
                told += f"; between two askings under it in {repeat[hint]}; beyond wavering {excess[hint]}"
            lines.append(f"{told}.")
    blind = repeat.get(CONTROL)
    if blind is not None and math.isnan(blind.value):
        lines.append(
            "\nHow often the same judge changes its mind *without* a hint is not known here, so none of these rates is "
            f"an effect ({blind.method})."
        )
    elif blind is not None:
        lines.append(f"\nBetween two blind askings the first place changes in {blind}.")
    return "\n".join(lines)
