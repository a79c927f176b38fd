"""What a hint changes, question by question: the same judge on the same answers, with and without it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from ... import frames
from ...stats.intervals import (
    NAN,
    Interval,
    Sums,
    cluster_sums,
    clusters_of,
    column_weights,
    contrast,
    no_interval,
    wilson,
)
from ...stats.standing import leans
from ...stats.tests import redeal
from ...types import Estimate
from ...words import Conclusion, display_name, lines, sentence
from .. import protocol
from ..protocol import Numbers, contrast_with_flips, estimator, mean_interval
from ..top_choice.rates import vendors, votes_of
from .asked import CONTROL

#: The hints whose effect on the average is the confirmatory family; what they say is true.
CONFIRMATORY = ("self", "competitors", "full")
NEEDS_REPEAT = "needs a plain repeat: repeats = 2"
LEVEL = 0.05
#: What is needed of a judgment; the rest of a wide table only costs time.
USED = (
    *("experiment", "question_id", "category", "judge", "judge_vendor", "judge_model", "condition", "repeat"),
    *("partner", "candidate", "candidate_vendor", "own_vendor", "top", "outcome"),
)


def pairs(frame: pd.DataFrame, hint: str, lost: bool = False) -> pd.DataFrame:
    """One row a hinted judgment with a valid ranking (or `lost`) whose blind partner has one too, from the same model.

    Columns: question_id, cluster, category, judge, judge_vendor, repeat, own and own_blind (1.0 where an answer of the
    judge's vendor is first), candidate and candidate_blind (who is first), difference (own - own_blind). The partner is
    the blind repeat that `partner` names, or else the one of the same number. Only judges whose vendor has a candidate.
    """
    both = _partners(frame, hint, lost)
    same = both["judge_model"].isna() | both["judge_model_blind"].isna()
    same |= both["judge_model"].astype(object) == both["judge_model_blind"].astype(object)
    both = both[same].drop(columns=["judge_model", "judge_model_blind"])
    return both.assign(difference=both["own"] - both["own_blind"])


def _votes(frame: pd.DataFrame, lost: bool = False) -> pd.DataFrame:
    """One row a valid judgment, of judges whose vendor has a candidate; `lost` ones with own NaN too."""
    frame = frame[[name for name in USED if name in frame]].assign(cluster=clusters_of(frame))
    votes = votes_of(frame)
    if lost:
        every = frames.one_row_each(frame)
        votes = pd.concat([votes, every[every["outcome"] != "ok"].assign(own=math.nan)], ignore_index=True)
    votes = votes[votes["judge_vendor"].isin(vendors(frame))]
    lacking = {"partner": votes["repeat"], "judge_model": None}
    return votes.assign(**{name: value for name, value in lacking.items() if name not in votes})


def _blind(votes: pd.DataFrame) -> pd.DataFrame:
    """The blind judgments by the number with which hinted ones name their partner."""
    blind = votes.loc[votes["condition"] == CONTROL].drop(columns="partner")
    return blind.rename(columns={"repeat": "partner"})


def _partners(frame: pd.DataFrame, hint: str, lost: bool = False) -> pd.DataFrame:
    """Hinted judgments beside their blind partners, whatever models they came from."""
    votes = _votes(frame, lost)
    keys = ["question_id", "cluster", "category", "judge", "judge_vendor", "partner"]
    seen = ["own", "candidate", "judge_model"]
    hinted = votes.loc[votes["condition"] == hint, [*keys, "repeat", *seen]]
    return hinted.merge(_blind(votes)[[*keys, *seen]], on=keys, suffixes=("", "_blind")).drop(columns="partner")


def unpaired(frame: pd.DataFrame) -> str:
    """How many hinted judgments are compared with none because their blind partner came from another model; or ""."""
    lost = sum(len(_partners(frame, hint)) - len(pairs(frame, hint)) for hint in hints_in(frame))
    words = f"{lost} hinted judgments are compared with none: their blind partners came from another model."
    return words if lost else ""


def judging(frame: pd.DataFrame) -> list[str]:
    """The vendors that have both judges and candidates."""
    return [vendor for vendor in vendors(frame) if vendor in set(frame["judge_vendor"])]


def hints_in(frame: pd.DataFrame) -> list[str]:
    """The hints under which judgments were made, the published ones first."""
    found = [name for name in frame["condition"].dropna().unique() if name != CONTROL]
    return sorted(found, key=lambda name: ((*CONFIRMATORY, "swapped", name).index(name), name))


@estimator("hinting")
def hint_effect(frame: pd.DataFrame, seed: int, margin_pp: float) -> Numbers:
    """How much more often a vendor's judges put their own vendor first under a hint than blind, in pp.

    `where`: hint, vendor ("average": the mean over vendors). `hint_effect_90` is the average with its 90 % interval
    and, as p, that of two one-sided tests against +-`margin_pp`. NaN where a vendor has no pair, and then the average
    too.
    """
    hints = hints_in(frame)
    family = max(1, sum(hint in CONFIRMATORY for hint in hints) + ("swapped" in hints) * len(judging(frame)))
    for number, hint in enumerate(hints):
        both = pairs(frame, hint)
        lacking = [vendor for vendor in judging(frame) if vendor not in set(both["judge_vendor"])]
        if both.empty:
            why = no_interval(NAN, 0, 0, f"no judgment under {hint} has a blind partner")
            yield "hint_effect", {"hint": hint, "vendor": "average"}, why
            continue
        sums = cluster_sums(both, "difference", "question_id", "judge_vendor", strata="category")
        for index, (vendor, weights) in enumerate(column_weights(sums, average=not lacking).items()):
            draw, where = seed + 10 * number + (9 if vendor == "average" else index), {"hint": hint, "vendor": vendor}
            yield "hint_effect", where, contrast_with_flips(sums, weights, draw, LEVEL / family)
        if lacking:
            why = no_interval(NAN, len(both), 0, f"no pair of {', '.join(map(display_name, lacking))} judges")
            yield from (("hint_effect", {"hint": hint, "vendor": each}, why) for each in (*lacking, "average"))
        else:
            yield "hint_effect_90", where, _equivalence(sums, weights, margin_pp)


@estimator("hinting")
def hint_bounds(frame: pd.DataFrame) -> Numbers:
    """Between what each hint's effect lies, whatever the lost verdicts of its pairs would have been, in pp.

    `hint_effect_bound` (`where`: hint, vendor, bound): "high" if all verdicts lost under the hint were for the own
    vendor and none of those lost blind (Manski 1990), "low" the reverse. No tests; `method` counts what was lost.
    """
    for hint in hints_in(frame):
        both = pairs(frame, hint, lost=True)
        if both.empty:
            continue
        lost = [int(both[name].isna().sum()) for name in ("own", "own_blind")]
        for bound, (hinted, blind) in {"low": (0.0, 1.0), "high": (1.0, 0.0)}.items():
            filled = both.assign(difference=both["own"].fillna(hinted) - both["own_blind"].fillna(blind))
            sums = cluster_sums(filled, "difference", "question_id", "judge_vendor", strata="category")
            for vendor, weights in column_weights(sums).items():
                interval = contrast(sums, weights, null=None)
                method = f"{interval.method}; lost by all: {lost[0]} under the hint, {lost[1]} blind"
                where = {"hint": hint, "vendor": vendor, "bound": bound}
                yield "hint_effect_bound", where, replace(interval, method=method)


def _equivalence(sums: Sums, weights: np.ndarray, margin_pp: float) -> Interval:
    """The 90 % interval; p is the larger of the two one-sided p against -margin and +margin (Schuirmann 1987)."""
    interval = contrast(sums, weights, level=0.90)
    if math.isnan(interval.low):
        return interval
    from scipy.special import stdtr

    room = (margin_pp / 100 - abs(interval.value)) / interval.se
    p = float(stdtr(interval.df, -room))
    return replace(interval, p=p, method=f"{interval.method}, 90 %; two one-sided tests, margin {margin_pp:g} pp")


@estimator("hinting")
def category_hint_effect(frame: pd.DataFrame) -> Numbers:
    """The average effect of each hint within each category, in pp: exploratory, and without interval below 10.

    NaN where a vendor has no pair in the category.
    """
    every = len(judging(frame))
    for hint in hints_in(frame):
        for category, part in pairs(frame, hint).groupby("category", sort=True):
            sums = cluster_sums(part, "difference", "question_id", "judge_vendor")
            interval = contrast(sums, column_weights(sums)["average"])
            if len(sums.columns) < every:
                interval = no_interval(NAN, interval.n, interval.clusters, "no pair of one of the vendors")
            yield "category_hint_effect", {"hint": hint, "category": str(category)}, interval


VERDICTS = ("different", "equivalent", "inconclusive")


def members(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates without the averages that are in no confirmatory family: of names, and of hints that deceive."""
    return [e for e in estimates if e.where.get("vendor") != "average" or e.where.get("hint") in CONFIRMATORY]


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families (differences; equivalences), each with the number of tests that Holm corrects for."""
    return protocol.confirmatory("hinting", members(estimates))


def concluded(estimates: Sequence[Estimate], *ids: str) -> list[Conclusion]:
    """What may be said of the numbers with these ids, in their order; of averages those of a confirmatory family.

    p and interval must agree on a bias; tests of equivalence ("hint_effect_90") are a family of their own.
    """
    found = protocol.conclusions("hinting", members(estimates), *ids)
    return [replace(e, verdict="hint") if e.verdict == "bias" and not leans(e.estimate) else e for e in found]


def averages(estimates: Sequence[Estimate], id: str = "hint_effect") -> dict[str, Conclusion]:
    """What may be said of the average effect of each named hint."""
    found = {(e.estimate.where["hint"], e.estimate.where["vendor"]): e for e in concluded(estimates, id)}
    return {hint: found[hint, "average"] for hint in CONFIRMATORY if (hint, "average") in found}


def conclusions(estimates: Sequence[Estimate]) -> dict[str, str]:
    """One of VERDICTS for each confirmatory hint; a difference that is proven and small counts as a difference."""
    equivalent = {hint for hint, each in averages(estimates, "hint_effect_90").items() if each.p < LEVEL}
    return {
        hint: "different" if each.verdict == "bias" else "equivalent" if hint in equivalent else "inconclusive"
        for hint, each in averages(estimates).items()
    }


@estimator("hinting")
def change_rate(frame: pd.DataFrame) -> Numbers:
    """How often the first place differs between blind and hinted, and beyond what differs between two askings (pp).

    `change_rate` (`where`: hint), `change_rate_repeat` (`where`: condition), between two askings of the same, and
    `excess_change` (`where`: hint), the energy distance (Szekely and Rizzo 2013): the change over blind repeats alone
    would be negative for a hint that makes a wavering judge sure. Repeats are the partners of one hint's judgments, so
    that no drift between days counts as wavering.
    """
    votes = _votes(frame)
    again = {CONTROL: _again_blind(frame, votes)}
    yield _repeat_rate(again[CONTROL], CONTROL)
    for hint in hints_in(frame):
        both, again[hint] = pairs(frame, hint), _pairs_of(votes[votes["condition"] == hint], "repeat")
        if both.empty:
            continue
        changed = _changed(both, "hinted")
        yield "change_rate", {"hint": hint}, mean_interval(changed, changed["changed"], strata="category")
        yield _repeat_rate(again[hint], hint)
        excess = no_interval(NAN, 0, 0, NEEDS_REPEAT)
        if not (again[CONTROL].empty or again[hint].empty):
            arms = [changed, _changed(again[CONTROL], "again blind"), _changed(again[hint], "again hinted")]
            sums = cluster_sums(pd.concat(arms, ignore_index=True), "changed", "question_id", "arm", strata="category")
            excess = contrast(sums, [-0.5, -0.5, 1.0])
        yield "excess_change", {"hint": hint}, excess, (0.0, 1.0)


def _again_blind(frame: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """`_pairs_of` the blind judgments, as far as they are partners of one hint's judgments; each pair once."""
    blind, parts = _blind(votes), []
    for hint in hints_in(frame):
        asked = frames.one_row_each(frame[frame["condition"] == hint])
        asked = asked if "partner" in asked else asked.assign(partner=asked["repeat"])
        keys = ["question_id", "judge", "partner"]
        parts.append(_pairs_of(blind.merge(asked[keys].drop_duplicates(), on=keys), "partner"))
    if not parts:
        return _pairs_of(blind, "partner")
    return pd.concat(parts, ignore_index=True).drop_duplicates(["question_id", "judge", "one", "other"])


def _pairs_of(votes: pd.DataFrame, number: str) -> pd.DataFrame:
    """All pairs of two askings of the same: candidate, and candidate_blind for the later one."""
    keys, parts = ["question_id", "cluster", "category", "judge"], []
    for one, other in combinations(sorted(votes[number].unique()), 2):
        first, second = (votes.loc[votes[number] == n, [*keys, "candidate"]] for n in (one, other))
        parts.append(first.merge(second, on=keys, suffixes=("", "_blind")).assign(one=one, other=other))
    columns = [*keys, "candidate", "candidate_blind", "one", "other"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _changed(both: pd.DataFrame, arm: str) -> pd.DataFrame:
    changed = (both["candidate"] != both["candidate_blind"]).astype(float)
    return both[["question_id", "cluster", "category"]].assign(changed=changed, arm=arm)


def _repeat_rate(again: pd.DataFrame, condition: str) -> tuple[str, dict[str, str], Interval]:
    rows = _changed(again, "again")
    interval = mean_interval(rows, rows["changed"], strata="category", reason=NEEDS_REPEAT)
    return "change_rate_repeat", {"condition": condition}, interval


def changes_words(estimates: list[Estimate]) -> str:
    """How often a hint changes the first place, against how often judges change their mind without any."""
    found = concluded(estimates, "change_rate", "excess_change", "change_rate_repeat")
    repeats = protocol.pick(estimates, "change_rate_repeat", condition=CONTROL)
    unknown = [each.method for each in repeats if math.isnan(each.value)]
    points = lines([each for each in found if not math.isnan(each.estimate.value)], "judges")
    why = "How often the same judge changes its mind *without* a hint is not known, so none of these rates is an effect"
    return "\n\n".join([points, *(f"{why} ({method})." for method in unknown)])


ARM = "swapped"
#: The id of the effect for each value of a column.
IDS = {"judge_vendor": "name_effect", "judge": "name_effect_by_judge"}


@estimator("hinting")
def name_effect(frame: pd.DataFrame, seed: int) -> Numbers:
    """How much more often an answer is first when it is shown under the judge's own vendor's name, in pp of an answer.

    From the arm `swapped` alone, in which names are dealt at random; its p comes from dealing them out anew. Per
    vendor, their average (NaN where a vendor lacks), and per judge (`name_effect_by_judge`). Nothing where there is no
    such arm.
    """
    arm = frame[frame["condition"] == ARM]
    if arm.empty:
        return
    rows, expected = _named(arm), judging(arm)
    if rows.empty:
        why = "no valid ranking of answers of which some bear the judge's own vendor's name and some another"
        yield "name_effect", {"vendor": "average"}, no_interval(NAN, 0, 0, why)
        return
    sums = {by: cluster_sums(rows, "effect", "question_id", by, strata="category") for by in IDS}
    missing = [vendor for vendor in expected if vendor not in set(map(str, sums["judge_vendor"].columns))]
    weights = {by: column_weights(sums[by], average=by == "judge_vendor" and not missing) for by in IDS}
    p = _p_values(rows, weights, seed)
    for by, id in IDS.items():
        for name, weight in weights[by].items():
            each = contrast(sums[by], weight)
            if not math.isnan(each.low):
                each = replace(each, p=p[by, name], method=f"{each.method}; p by dealing the names anew")
            yield id, {by.removeprefix("judge_"): name}, each
        if missing and by == "judge_vendor":
            why = f"no ranking of {', '.join(map(display_name, missing))} judges"
            yield id, {"vendor": "average"}, no_interval(NAN, len(rows), 0, why)


def _named(arm: pd.DataFrame) -> pd.DataFrame:
    """One row a valid judgment under swapped names, with `effect`, `own` of `size` answers under the own name, `won`.

    effect = [an own-named answer is first] / number of these - [another is first] / number of those. Judgments that
    show no or only own names tell nothing and are left out.
    """
    arm = arm[arm["top"].notna()]
    if arm.empty or "named" not in arm or arm["named"].isna().all():
        return pd.DataFrame()
    arm = arm.assign(cluster=clusters_of(arm))
    arm = arm.assign(mine=(arm["named"].astype(object) == arm["judge_vendor"].astype(object)).astype(float))
    keys = ["question_id", "cluster", "category", "judge", "judge_vendor", "repeat"]
    each = arm.assign(won=arm["mine"] * arm["top"]).groupby(keys, sort=True)
    rows = each.agg(own=("mine", "sum"), size=("mine", "size"), won=("won", "sum")).reset_index()
    first = arm.loc[arm["top"] == 1.0, [*keys, "candidate"]].drop_duplicates(keys)
    rows = rows.merge(first, on=keys, validate="one_to_one")
    rows = rows[(rows["own"] > 0) & (rows["own"] < rows["size"])]
    return rows.assign(effect=rows["won"] / rows["own"] - (1 - rows["won"]) / (rows["size"] - rows["own"]))


def _p_values(
    rows: pd.DataFrame, weights: Mapping[str, Mapping[str, np.ndarray]], seed: int
) -> dict[tuple[str, str], float]:
    """The p of each weighted mean of effects, all from the same new deals (one deal a question and judge)."""
    each = []
    for by, family in weights.items():
        columns, labels = pd.factorize(rows[by], sort=True)
        share = 1 / np.bincount(columns, minlength=len(labels))[columns]
        each += [weight[columns] * share for weight in family.values()]
    deals = rows.groupby(["question_id", "judge"], sort=True).ngroup().to_numpy()
    own, size = rows["own"].to_numpy(int), rows["size"].to_numpy(int)
    p = redeal(deals, rows["candidate"].to_numpy(), own, size, rows["won"].to_numpy(), np.stack(each), seed)
    return dict(zip([(by, name) for by, family in weights.items() for name in family], map(float, p), strict=True))


def names_words(estimates: Sequence[Estimate]) -> str:
    """What a vendor's name alone does, by the arm in which names are dealt out at random."""
    if not (average := protocol.pick(estimates, "name_effect", vendor="average")):
        return "Without the hint *swapped* the effect of a name cannot be told from that of the answer that bears it."
    why = f" ({average[0].method})" * math.isnan(average[0].low)
    mean = f"- {sentence(f'on the average over vendors {average[0]}{why}', average[0].data)}"
    return f"{lines(concluded(estimates, 'name_effect'), '{vendor} as a judge')}\n{mean}".strip()


@estimator("hinting")
def published_picks(top1: pd.DataFrame) -> Numbers:
    """How often a vendor's judges put their own vendor first, counting every judgment whose winner is known.

    Takes the frame of `datasets.load_top1`. `self_bias_as_counted` (`where`: vendor, hint; Wilson) also counts winners
    whose ranking is invalid, as the source did; `lost_as_counted` (`where`: judge, hint) those without a winner.
    """
    own = top1[top1["pick"].notna()].assign(hit=top1["pick_vendor"] == top1["judge_vendor"])
    lost = top1.assign(hit=top1["pick"].isna())
    kinds = (("self_bias_as_counted", "vendor", "judge_vendor", own), ("lost_as_counted", "judge", "judge", lost))
    for id, key, column, table in kinds:
        for (hint, name), rows in table.groupby(["condition", column], sort=True):
            yield id, {key: str(name), "hint": str(hint)}, wilson(int(rows["hit"].sum()), len(rows))
