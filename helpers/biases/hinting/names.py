"""What a vendor's name alone does to a verdict: the arm in which names are dealt out to the answers at random."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.hinting.concluding import family_size, name_verdicts, smallest_shown
from helpers.biases.hinting.paired import judging
from helpers.biases.top_choice.rates import estimate
from helpers.stats.intervals import Sums, cluster_sums, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.redealing import redeal
from helpers.stats.standing import clash
from helpers.types import Estimate
from helpers.words import display_name, p_text

ARM = "swapped"
#: The id of the effect for each value of a column.
IDS = {"judge_vendor": "name_effect", "judge": "name_effect_by_judge"}


def name_effect(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often an answer is first when it is shown under the judge's own vendor's name, in pp of an answer.

    From the arm `swapped` alone: whatever an answer is worth, it bears the own name as often as by chance, so that the
    difference is 0 where names do nothing. Its p comes from dealing the names out anew, as they were. Per vendor,
    their average, and per judge (`name_effect_by_judge`). Nothing where there is no such arm; an average that lacks a
    vendor is NaN.
    """
    arm = frame[frame["condition"] == ARM]
    if arm.empty:
        return []
    rows, expected = _named(arm), judging(arm)
    if rows.empty:
        why = "no valid ranking of answers of which some bear the judge's own vendor's name and some another"
        return [estimate("name_effect", {"vendor": "average"}, no_interval(math.nan, 0, 0, why), data, "pp")]
    sums = {by: cluster_sums(rows, "effect", "question_id", by, strata="category") for by in IDS}
    missing = [vendor for vendor in expected if vendor not in set(map(str, sums["judge_vendor"].columns))]
    weights = {by: _weights(sums[by], average=by == "judge_vendor" and not missing) for by in IDS}
    p = _p_values(rows, weights, seed)
    found = {by: _estimates(by, sums[by], weights[by], p, data) for by in IDS}
    if missing:
        why = f"no ranking of {', '.join(map(display_name, missing))} judges"
        lacking = no_interval(math.nan, len(rows), 0, why)
        found["judge_vendor"].append(estimate("name_effect", {"vendor": "average"}, lacking, data, "pp"))
    return [*found["judge_vendor"], *found["judge"]]


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


def _weights(sums: Sums, average: bool) -> dict[str, np.ndarray]:
    """What each column counts in the effect of each vendor or judge, and in their average."""
    size = len(sums.columns)
    weights = dict(zip(map(str, sums.columns), np.eye(size), strict=True))
    return weights | ({"average": np.full(size, 1 / size)} if average else {})


def _estimates(
    by: str, sums: Sums, weights: Mapping[str, np.ndarray], p: Mapping[tuple[str, str], float], data: str
) -> list[Estimate]:
    """The effect for each value of `by`, and their average where it has weights."""
    found = []
    for name, weight in weights.items():
        interval = clustered(sums.numerators, sums.denominators, weight, sums.strata)
        if not math.isnan(interval.low):
            interval = replace(interval, p=p[by, name], method=f"{interval.method}; p by dealing the names anew")
        found.append(estimate(IDS[by], {by.removeprefix("judge_"): name}, interval, data, "pp"))
    return found


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
    average = [each for each in estimates if each.id == "name_effect" and each.where["vendor"] == "average"]
    if not average:
        return "Without the hint *swapped* the effect of a name cannot be told from that of the answer that bears it."
    simulated, tests = "SIMULATED: " if average[0].data == "simulated" else "", family_size(estimates)
    told = []
    for vendor, (each, p, verdict) in name_verdicts(estimates).items():
        way = "for" if each.value > 0 else "against"
        said = {
            "bias": f"the **name itself** counts, {way} its bearer",
            "hint": f"leans {way} the bearer of the name, not established",
            "not shown": f"no measurable effect; 80 % power needs {smallest_shown(each, tests):.1f} pp",
            "untold": each.method,
        }[verdict]
        told.append(
            f"{display_name(vendor)} {each}{f', Holm p {p_text(p)}' if p == p else ''} ({said}{clash(each, p)})"
        )
    mean = f"{average[0]}" + (f" ({average[0].method})" if math.isnan(average[0].low) else "")
    return (
        f"{simulated}An answer under the judge's own vendor's name against one under another name, whoever wrote them, "
        f"in first places, corrected by Holm together with the hints: {'; '.join([*told, f'on the average {mean}'])}."
    )
