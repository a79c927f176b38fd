"""Do judges prefer their own vendor's answers: the joint fit of pairs and of scores, and what only describes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from helpers.analyze.every import mean
from helpers.biases.position.pairs import SIGNS
from helpers.stats.estimates import estimate
from helpers.stats.intervals import NAN, Interval, cluster_sums, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.stats.own_vendor import own_vendor_effects
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words import display_name, listed, p_text

#: What is the same where two judges are compared.
SAME = ["source", "condition", "question_id", "baseline", "candidate", "first"]
EFFECTS = {"own_vendor_win_effect": "pp", "own_vendor_score_effect": "score"}
#: What an effect of judges says, what else explains it, and what is counted.
WORDS = {
    "own_vendor_win_effect": ("let its answers win {} more often", "place and sharpness", "pairs"),
    "own_vendor_score_effect": ("score its answers {} higher", "leniency and use of the scale", "scores"),
}
LEVEL = 0.05
#: More values (scores, or pairs of a judge) than these are not fitted.
MOST_VALUES = 1_000_000


def of_pairs(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """The effect of the own vendor on wins, its wins where both orders agree, and its excess over other judges'."""
    return [*own_vendor_win_effect(rows, data), *own_vendor_win_agreed(rows, data), *own_vendor_win_excess(rows, data)]


def own_vendor_win_effect(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often a vendor's judges let its answer win than quality, place and sharpness explain (vendor).

    Judges that saw every pair in one order only are left out where others saw both.
    """
    side = np.where(rows["first"].astype(object) == "candidate", 1.0, -1.0) * rows["ordered"].to_numpy(dtype=float)
    sides = {"candidate": "plus", "baseline": "minus"}
    return _effects("own_vendor_win_effect", rows.assign(value=rows["won"] - 0.5, place=side), sides, data)


def own_vendor_score_effect(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How much higher a vendor's judges score its answers than quality, leniency and their use of the scale explain."""
    return _effects("own_vendor_score_effect", rows.assign(value=rows["score"], place=1.0), {"candidate": "plus"}, data)


def _effects(id: str, rows: pd.DataFrame, sides: dict[str, str], data: str) -> list[Estimate]:
    """The effect of each vendor on `value`, averaged over the rows of a judge and item."""
    rows = rows[rows["value"].notna() & (rows["judge_vendor"].astype(object) != "")]
    if rows.empty:
        return []
    made = [(rows[f"{side}_vendor"].astype(object) == rows["judge_vendor"].astype(object)) * 1.0 for side in sides]
    rows = rows.assign(own=made[0] - sum(made[1:]), cluster=clusters_of(rows), weight=1.0)
    group = rows.groupby([*(["source"] if "source" in rows else []), "question_id", *sides], observed=True, sort=False)
    rows["item"] = group.ngroup()
    same = {"judge_vendor": "vendor", "question_id": "question", "cluster": "cluster", "own": "own", **sides}
    means = {"value": ("value", "mean"), "place": ("place", "mean"), "weight": ("weight", "sum")}
    cells = rows.groupby(["judge", "item"], observed=True, sort=False)
    cells = cells.agg(**means, **{new: (old, "first") for old, new in same.items()}).reset_index()
    cells = cells.astype(dict.fromkeys(("judge", "vendor", "question", "cluster", *sides.values()), object))
    # Of a judge that saw pairs in one order only, place and preference cannot be told apart.
    apart = (cells["place"].abs() < 1).groupby(cells["judge"]).transform("any")
    if "minus" in cells and apart.any():
        cells = cells[apart].reset_index(drop=True)
    if len(cells) > MOST_VALUES:
        names = sorted(set(cells.loc[cells["own"] != 0, "vendor"]))
        found = {name: no_interval(NAN, len(cells), 0, f"{len(cells):,} values: too many to fit") for name in names}
    else:
        found = own_vendor_effects(cells)
    return [estimate(id, {"vendor": str(name)}, interval, data, EFFECTS[id]) for name, interval in found.items()]


def own_vendor_win_agreed(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often an answer of the vendor wins both orders, of pairs that one answer wins in both (vendor, judges).

    `judges` is own or others; a judge that follows the place hardly counts here.
    """
    sign = rows["verdict"].map(SIGNS).astype(float)
    kept = rows[rows["ordered"].to_numpy(dtype=bool) & (sign != 0).to_numpy() & sign.notna().to_numpy()]
    keys = ["judge", *SAME[:-1], "repeat"]
    both = kept.groupby(keys, observed=True)["won"].agg(["min", "max", "size"])
    agreed = both.index[(both["size"] == 2) & (both["min"] == both["max"])]
    first = kept.drop_duplicates(keys).set_index(keys).loc[agreed].reset_index()
    return [
        estimate("own_vendor_win_agreed", {"vendor": vendor, "judges": who}, _rate(part[part["mine"] == mine]), data)
        for vendor, part in _shares(first)
        for who, mine in (("own", True), ("others", False))
        if (part["mine"] == mine).any()
    ]


def _rate(part: pd.DataFrame) -> Interval:
    return mean(part["share"].to_numpy(dtype=float), pd.factorize(clusters_of(part))[0])


def _shares(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of each vendor with judges and answers the verdicts on one answer of it: `share` that it won, `mine` (judge)."""
    made = {side: rows[f"{side}_vendor"].astype(object) for side in ("judge", "candidate", "baseline")}
    shown = {*map(str, made["candidate"].unique()), *map(str, made["baseline"].unique())}
    won = rows["won"].to_numpy(dtype=float)
    for vendor in sorted({str(name) for name in made["judge"].unique() if name} & shown):
        one, other = ((made[side] == vendor).to_numpy() for side in ("candidate", "baseline"))
        known = (one != other) & ~np.isnan(won) & (made["judge"] != "").to_numpy()
        mine = (made["judge"] == vendor).to_numpy()
        yield vendor, rows.assign(share=np.where(one, won, 1 - won), mine=mine)[known]


def own_vendor_win_excess(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often a vendor's judges prefer its answer than others do on the same pairs, in pp (vendor)."""
    found = []
    for vendor, part in _shares(rows):
        sums = cluster_sums(_judged_by_both(part, SAME), "share", "question_id", "mine")
        if len(sums.columns) == 2:
            interval = clustered(sums.numerators, sums.denominators, [1.0 if mine else -1.0 for mine in sums.columns])
            found.append(estimate("own_vendor_win_excess", {"vendor": vendor}, interval, data, "pp"))
    return found


def own_vendor_score_excess(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How much higher a vendor's judges score its answers than others do, less what they do to all others (vendor).

    Answers that both groups scored. Nothing where one of the four groups is empty.
    """
    judge, made = frame["judge_vendor"].astype(object), frame["candidate_vendor"].astype(object)
    known = frame["score"].notna() & (judge != "") & made.notna()
    rows, judge, made = frame[known], judge[known], made[known]
    found = []
    for vendor in sorted(set(map(str, judge.unique())) & set(map(str, made.unique()))):
        part = rows.assign(mine=(judge == vendor).to_numpy(), own=(made == vendor).to_numpy())
        part = _judged_by_both(part, ["question_id", "candidate"])
        sums = cluster_sums(part, "score", "question_id", ["mine", "own"])
        if len(sums.columns) == 4:
            weights = [1.0 if mine == own else -1.0 for mine, own in sums.columns]
            interval = clustered(sums.numerators, sums.denominators, weights)
            found.append(estimate("own_vendor_score_excess", {"vendor": vendor}, interval, data, "score"))
    return found


def _judged_by_both(part: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    group = part.groupby(keys, observed=True)["mine"]
    return part[(group.transform("max").astype(int) - group.transform("min").astype(int)) == 1]


def sentences(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Who prefers the own vendor, after Holm over vendors, or why that cannot be known; then what only describes."""
    for id in EFFECTS:
        some = [each for each in estimates if each.id == id]
        p = holm([each.p for each in some])
        for why in dict.fromkeys(each.method for each in some if each.value != each.value):
            names = [display_name(e.where["vendor"]) for e in some if e.value != e.value and e.method == why]
            yield f"- Whether judges of {listed(names)} prefer their own vendor is **not identified**: {why}."
        family = int((~np.isnan(p)).sum())
        for each, corrected in zip(some, p, strict=True):
            if each.value == each.value:
                yield f"- {_effect(id, each)}: {_standing(each, corrected, family)}.{_agreed(estimates, each)}"
        described = [each for each in estimates if each.id == id.replace("effect", "excess")]
        if described:
            values = listed([f"{display_name(each.where['vendor'])} {each}" for each in described])
            yield (
                f"- Described only: a vendor's judges minus all other judges, on its answers: {values}. Partial or "
                "less sharp judges of *other* vendors move these numbers too, so that none of them is a finding."
            )


def _effect(id: str, each: Estimate) -> str:
    what, beside, of = WORDS[id]
    sure = f"{each} (n = {each.n:,} {of} of a judge, {each.clusters:,} questions)"
    return f"{display_name(each.where['vendor'])} judges {what.format(sure)} than quality, {beside} explain"


def _standing(each: Estimate, p: float, family: int) -> str:
    if p != p:
        return f"not tested ({each.method})"
    preferred = "preference for the own vendor shown" if each.value > 0 else "shown: they disfavour it"
    shown = "no preference shown" if p >= LEVEL else preferred
    return f"**{shown}** (p {p_text(p)}, Holm over {family} vendor{'' if family == 1 else 's'})"


def _agreed(estimates: Sequence[Estimate], each: Estimate) -> str:
    """The wins where both orders agree: shares that judges who follow the place do not blur."""
    agreed = [e for e in estimates if (e.id, e.where.get("vendor")) == ("own_vendor_win_agreed", each.where["vendor"])]
    who = {"own": "its own judges", "others": "other judges"}
    shares = [f"{round(e.value * e.n):,} of {e.n:,} pairs by {who[e.where['judges']]}" for e in agreed]
    return f" Where both orders agree, its answer wins {listed(shares)}." if shares else ""
