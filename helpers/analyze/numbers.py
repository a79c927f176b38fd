"""Numbers that verdicts of one's own carry: of any style, of pairs in both orders, of rankings, and own-vendor fits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .. import frames
from ..biases import hinting
from ..biases.hinting.asked import CONTROL
from ..biases.position import both_orders, measured
from ..biases.position.both_orders import COMPARISON, INVALID, SIGNS, pairs
from ..biases.top_choice import defended, rates
from ..stats.agreement import krippendorff_alpha
from ..stats.intervals import NAN, Interval, cluster_sums, clustered, clusters_of, estimate, no_interval, wilson
from ..stats.models import own_vendor_effects
from ..types import Estimate
from .tidy import Verdicts

#: More combinations of judge and candidate, say, than anybody reads: numbers of all together stand for them.
MOST_CELLS = 2000


def mean(values: np.ndarray, questions: np.ndarray, reason: str = "no readable verdict") -> Interval:
    """The mean of values that are not NaN; `questions` are codes. Wilson where each question has one 0 or 1."""
    kept = ~np.isnan(values)
    values, questions = values[kept], questions[kept]
    if not len(values):
        return no_interval(math.nan, 0, 0, reason)
    codes, at = np.unique(questions, return_inverse=True)
    if len(codes) == len(values) and np.isin(values, (0.0, 1.0)).all():
        return wilson(int(values.sum()), len(values))
    sums = np.bincount(at, weights=values)
    return clustered(sums, np.bincount(at).astype(float), null=None)


def by(
    id: str,
    frame: pd.DataFrame,
    values: np.ndarray,
    keys: Sequence[str],
    data: str,
    unit: str = "rate",
) -> Iterator[Estimate]:
    """The mean of `values` in each cell of `keys`, in order; cells without any value give nothing."""
    cluster = clusters_of(frame)
    coded = isinstance(cluster.dtype, pd.CategoricalDtype)
    codes = cluster.cat.codes.to_numpy() if coded else pd.factorize(cluster)[0]
    here = frame[list(keys)].reset_index(drop=True)
    finite = ~np.isnan(values)
    for names, rows in here[finite].groupby(list(keys), observed=True, sort=True).indices.items():
        at = np.flatnonzero(finite)[rows]
        each = names if isinstance(names, tuple) else (names,)
        where = {key: str(name) for key, name in zip(keys, each, strict=True)}
        yield estimate(id, where, mean(values[at], codes[at]), data, unit)


def unreadable_share(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The share of verdicts without one that can be read, a judge each, and by condition where there are several."""
    lost = (frame["outcome"].astype(object) != "ok").to_numpy().astype(float)
    found = list(by("unreadable_share", frame, lost, ["judge"], data))
    if frame["condition"].nunique() > 1:
        found += by("unreadable_share", frame, lost, ["judge", "condition"], data)
    return found


def by_candidate(id: str, frame: pd.DataFrame, values: np.ndarray, data: str, unit: str = "rate") -> list[Estimate]:
    """The mean of each candidate over all judges, then judge by judge where there are several and not too many."""
    found = list(by(id, frame, values, ["candidate"], data, unit))
    cells = len(frame[["judge", "candidate"]].drop_duplicates())
    if frame["judge"].nunique() > 1 and cells <= MOST_CELLS:
        found += by(id, frame, values, ["judge", "candidate"], data, unit)
    return found


#: What is the same where two judges are compared.
SAME = ["source", "condition", "question_id", "baseline", "candidate", "first"]
EFFECTS = {"own_vendor_win_effect": "pp", "own_vendor_score_effect": "score"}
#: More values (scores, or pairs of a judge) than these are not fitted.
MOST_VALUES = 1_000_000


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
    # Of a judge that saw pairs in one order only, place and preference are confounded.
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
    found = []
    for vendor, part in _shares(first):
        part = part.assign(vendor=vendor, judges=np.where(part["mine"], "own", "others"))
        shares = by("own_vendor_win_agreed", part, part["share"].to_numpy(dtype=float), ["vendor", "judges"], data)
        found += sorted(shares, key=lambda each: each.where["judges"] != "own")
    return found


def _shares(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Of each vendor with judges and answers the verdicts on one answer of it: `share` that it won, `mine` (judge)."""
    made = {side: rows[f"{side}_vendor"].astype(object) for side in ("judge", "candidate", "baseline")}
    shown = {*map(str, made["candidate"].unique()), *map(str, made["baseline"].unique())}
    won = rows["won"].to_numpy(dtype=float)
    for vendor in sorted({str(name) for name in made["judge"].unique() if name} & shown):
        one, other = ((made[side] == vendor).to_numpy() for side in ("candidate", "baseline"))
        usable = (one != other) & ~np.isnan(won) & (made["judge"] != "").to_numpy()
        mine = (made["judge"] == vendor).to_numpy()
        yield vendor, rows.assign(share=np.where(one, won, 1 - won), mine=mine)[usable]


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
    usable = frame["score"].notna() & (judge != "") & made.notna()
    rows, judge, made = frame[usable], judge[usable], made[usable]
    found = []
    for vendor in sorted(set(map(str, judge.unique())) & set(map(str, made.unique()))):
        part = rows.assign(mine=(judge == vendor).to_numpy(), own=(made == vendor).to_numpy())
        part = _judged_by_both(part, ["question_id", "candidate"])
        sums = cluster_sums(part, "score", "question_id", ["mine", "own"])
        if len(sums.columns) == 4:
            weights = [1.0 if mine == vendor_own else -1.0 for mine, vendor_own in sums.columns]
            interval = clustered(sums.numerators, sums.denominators, weights)
            found.append(estimate("own_vendor_score_excess", {"vendor": vendor}, interval, data, "score"))
    return found


def _judged_by_both(part: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    group = part.groupby(keys, observed=True)["mine"]
    return part[(group.transform("max").astype(int) - group.transform("min").astype(int)) == 1]


#: A table of judges by pairs with more cells takes more memory than it is worth.
MOST_TABLE = 20_000_000


def pair_numbers(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every number of this module from a games frame with `ordered`, `won` and vendors of both sides."""
    # The same text twice, and a grossly bad answer, are controls.
    rows = frame[~frame["condition"].isin(["identical", "quality_gap"])].reset_index(drop=True)
    return [
        *first_place_share(rows, data),
        *candidate_win_rate(rows, data),
        *longer_win_rate(rows, data),
        *scored_pairs(rows, data),
        *own_vendor_win_effect(rows, data),
        *own_vendor_win_agreed(rows, data),
        *own_vendor_win_excess(rows, data),
        *agreement_winners(rows, data, seed),
    ]


def first_place_share(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the first place wins, a judge each; verdicts whose order is known, ties left out."""
    sign = rows["verdict"].map(SIGNS).astype(float).to_numpy()
    values = np.where(rows["ordered"].to_numpy(dtype=bool) & (sign != 0), (sign + 1) / 2, np.nan)
    return list(by("first_place_share", rows, values, ["judge"], data))


def candidate_win_rate(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each candidate wins, baselines too (`where`: candidate, and judge where there are several)."""
    won = rows["won"].to_numpy(dtype=float)
    rows = rows[["judge", "candidate", "baseline"]].assign(cluster=clusters_of(rows))
    both = [rows.assign(candidate=rows[side].astype(object), won=share)
            for side, share in (("candidate", won), ("baseline", 1 - won))]  # fmt: skip
    long = pd.concat(both, ignore_index=True).astype({"candidate": "category"})
    return by_candidate("candidate_win_rate", long, long["won"].to_numpy(), data)


def longer_win_rate(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the longer answer wins, a judge each; nothing where lengths are not told."""
    if "length_candidate" not in rows:
        return []
    gap = np.sign((rows["length_candidate"] - rows["length_baseline"]).to_numpy(dtype=float))
    lean = np.sign(2 * rows["won"].to_numpy(dtype=float) - 1)
    product = gap * lean
    return list(by("longer_win_rate", rows, np.where(product == 0, np.nan, (product + 1) / 2), ["judge"], data))


def scored_pairs(rows: pd.DataFrame, data: str) -> list[Estimate]:
    """Of pairs with two scores: mean scores, and how much higher the first place is scored, both orders together."""
    if "gap" not in rows:
        return []
    both = [rows[["judge"]].assign(candidate=rows[side].astype(object), score=rows[f"score_{side}"],
                                   cluster=clusters_of(rows)) for side in ("candidate", "baseline")]  # fmt: skip
    long = pd.concat(both, ignore_index=True).astype({"candidate": "category"})
    found = by_candidate("candidate_score_mean", long, long["score"].to_numpy(dtype=float), data, "score")
    pair = rows.groupby([*(name for name in SAME if name != "first"), "judge", "repeat"], observed=True)
    # Quality cancels where the same pair was scored in both orders.
    complete = (pair["gap"].transform("count") == 2) & (pair["first"].transform("nunique") == 2)
    gaps = rows["gap"].where(complete).to_numpy(dtype=float)
    return [*found, *by("first_place_score_effect", rows, gaps, ["judge"], data, "score")]


def agreement_winners(rows: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far judges agree on winners, alpha and raw: their first verdicts on the same pair in the same order."""
    table, questions = _by_judge(rows, np.sign(2 * rows["won"].to_numpy() - 1), SAME)
    if not len(table):
        return []
    alpha = krippendorff_alpha(table, "nominal", seed, questions)
    return [
        estimate("agreement_winners", {}, alpha, data, "alpha"),
        estimate("raw_agreement_winners", {}, _raw(table, questions), data),
    ]


def _by_judge(rows: pd.DataFrame, values: np.ndarray, same: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The first values by what is the `same` and by judge, where two or more have one; and the question of each row."""
    kept = (rows["repeat"] == 0).to_numpy() & ~np.isnan(values)
    rows, values = rows[kept], values[kept]
    units = rows.groupby(same, observed=True).ngroup().to_numpy()
    codes, judges = pd.factorize(rows["judge"])
    size = int(units.max(initial=-1)) + 1
    if size * len(judges) > MOST_TABLE:
        return np.empty((0, 0)), np.zeros(0, dtype=int)
    table, questions = np.full((size, len(judges)), math.nan), np.zeros(size, dtype=int)
    table[units, codes] = values
    questions[units] = pd.factorize(clusters_of(rows))[0]
    several = (~np.isnan(table)).sum(axis=1) > 1
    return table[several], questions[several]


def _raw(table: np.ndarray, questions: np.ndarray) -> Interval:
    """The share of pairs of judges that agree, clustered by question."""
    ratings = (~np.isnan(table)).sum(axis=1)
    same = sum(((table == value).sum(axis=1) * ((table == value).sum(axis=1) - 1) / 2) for value in (-1, 0, 1))
    pairs = ratings * (ratings - 1) / 2
    return clustered(np.bincount(questions, weights=same), np.bincount(questions, weights=pairs), null=None)


#: Of more different scores the coincidences of each with each are no table any more.
MOST_SCORES = 25


def candidate_top1_rate(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """How often each candidate is ranked first (`where`: candidate, and judge where there are several)."""
    return by_candidate("candidate_top1_rate", frame, frame["top"].to_numpy(dtype=float), data)


def score_numbers(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every number of scores: means, own vendor, error against gold, agreement."""
    values = frame["score"].to_numpy(dtype=float)
    found = by_candidate("candidate_score_mean", frame, values, data, "score")
    error = values - frame["gold"].to_numpy(dtype=float)
    found += by("score_error", frame, error, ["judge"], data, "score")
    found += [*own_vendor_score_effect(frame, data), *own_vendor_score_excess(frame, data)]
    return [*found, *agreement_scores(frame, data, seed)]


def agreement_scores(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How far judges agree on the scores of the same answers; nothing for one judge, or for too many scores."""
    if frame["score"].nunique() > MOST_SCORES:
        return []
    table, questions = _by_judge(frame, frame["score"].to_numpy(dtype=float), ["question_id", "candidate"])
    alpha = krippendorff_alpha(table, "ordinal", seed, questions) if len(table) else None
    return [estimate("agreement_scores", {}, alpha, data, "alpha")] if alpha else []


#: More comparisons of judge and candidate than these are measured a judge at a time only.
MOST_COMPARISONS = 400
#: What all candidates of a judge together are called where figures need a name.
EVERYBODY = "all candidates"


def position_numbers(file: Verdicts, frame: pd.DataFrame, data: str, seed: int, notes: list[str]) -> list[Estimate]:
    """Every estimate of experiment 4 that these verdicts carry; none where no pair was judged readably in both orders.

    `where` holds judge and candidate where all candidates were compared with one baseline (and there are not too many),
    and the judge alone for all its pairs together. Verdicts without a known order or without a partner in the other
    order are left out, and counted in `notes`.
    """
    ordered = frame[frame["ordered"].to_numpy(dtype=bool)]
    control = ordered["condition"].isin(["identical", "quality_gap"])
    both = ordered[(ordered["games"] == 2) | control] if file.format == "tidy" else ordered
    if len(both) < len(ordered):
        note = f"{len(ordered) - len(both):,} of {len(frame):,} verdicts have no partner in the other order"
        notes.append(f"{note}: numbers of both orders are made without them.")
    if both.empty:
        return []
    table = coded(pairs(both))
    units = table
    if "cluster" in frame:
        cluster = dict(zip(frame["question_id"].astype(object), frame["cluster"].astype(object), strict=True))
        units = table.assign(question_id=table["question_id"].astype(object).map(cluster).astype("category"))
    if not (table["kind"] != INVALID).any():
        return measured.control_arms(table, data, seed)
    found: list[Estimate] = []
    count = len(table.drop_duplicates(COMPARISON))
    if file.baseline and count <= MOST_COMPARISONS:
        found += by_comparison(table, units, data, seed)
    elif file.baseline:
        note = f"{count:,} comparisons of judge and candidate, more than {MOST_COMPARISONS}"
        notes.append(f"{note}: places are reported by judge.")
    else:
        notes.append("No candidate stands in every pair: places are reported by judge, over all its pairs.")
    if not found or table.drop_duplicates(["judge", "candidate"])["judge"].duplicated().any():
        found += by_judge(units, data, seed)
    return found


def by_comparison(table: pd.DataFrame, units: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """The numbers of each judge and candidate; in `units` clusters stand for questions."""
    return [
        *both_orders.class_rates(units, data),
        *both_orders.first_position_effect(units, data, seed),
        *both_orders.signed_rates(units, data),
        *measured.excess_flip(table, data, seed),
        *measured.control_arms(table, data, seed),
        *measured.flip_by_gap(table, data),
        *measured.win_rate(units, data),
        *measured.sensitivity(units, data),
    ]


def by_judge(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """The numbers of each judge over all its pairs, questions as clusters; `where` has no candidate.

    Flips beyond noise, gaps and win rates are those of one comparison and not made here.
    """
    pooled = table.assign(candidate=EVERYBODY, source="")
    found = [
        *both_orders.class_rates(pooled, data),
        *both_orders.first_position_effect(pooled, data, seed),
        *both_orders.signed_rates(pooled, data),
        *measured.control_arms(pooled, data, seed),
    ]
    return [
        replace(each, where={key: value for key, value in each.where.items() if key != "candidate"}) for each in found
    ]


def coded(table: pd.DataFrame) -> pd.DataFrame:
    """The pairs with all their names as categories, which compare much faster than texts."""
    return table.astype(
        dict.fromkeys([*COMPARISON, "question_id", "cluster", "category", "condition", "baseline"], "category")
    )


#: Of more rankings the model is fitted once, without its variants; of more questions spreads are not resampled.
MOST_RANKINGS = 50_000
MOST_QUESTIONS = 10_000


def ranking_numbers(file: Verdicts, data: str, seed: int, margin_pp: float, notes: list[str]) -> list[Estimate]:
    """Every estimate of experiments 1 and 2 that these rankings carry.

    Blind judgments (condition none, or the one condition there is) give those of experiment 1; where there are several
    conditions, each is a hint that is compared with none. Numbers by category need categories, those of vendors vendors
    of judges and candidates.
    """
    # A category that no row has would become a number that is none where vendors are counted.
    frame = file.frame.astype({"judge_vendor": object, "candidate_vendor": object})
    if not (frame["top"] == 1.0).any():
        return []
    if "cluster" in frame:
        notes.append("Rankings: the question, not the column cluster, is the unit of all intervals.")
    names = set(map(str, frame["condition"].unique()))
    blind = frame[frame["condition"] == CONTROL] if len(names) > 1 and CONTROL in names else frame
    found: list[Estimate] = []
    if CONTROL in names or len(names) == 1:
        found += top(file, blind.reset_index(drop=True), data, seed, notes)
    if names != {CONTROL} and vendors_known(frame):
        if large(frame):
            notes.append("Too many questions to resample: what hints do to spreads is not measured.")
        else:
            every = hinting.measure(frame, data, seed, margin_pp)
            found += [each for each in every if each.id != "unreadable_share"]
    if "category" not in file.columns:
        found = [each for each in found if not each.id.startswith("category_")]
    return found


def top(file: Verdicts, frame: pd.DataFrame, data: str, seed: int, notes: list[str]) -> list[Estimate]:
    """The numbers of experiment 1."""
    if not (frame["top"] == 1.0).any():
        return []
    placed = frame.loc[frame["rank"].notna(), "slot"].notna().all()
    found = candidate_top1_rate(frame, data)
    if placed:
        found += defended.position_effect(frame, data)
    if not frame[["repeat", "question_id", "candidate", "judge"]].duplicated().any():
        found += defended.agreement(frame, data, seed)
    if not vendors_known(frame):
        return found
    found += [
        *rates.top1_rate(frame, data),
        *rates.vendor_share(frame, data),
        *rates.self_bias(frame, data),
        *(rates.categories(frame, data) if "category" in file.columns else []),
        *(rates.tier_preference(frame, data) if frame["candidate_tier"].nunique() > 1 else []),
        *(rates.score_means(frame, data) if frame["score"].notna().any() else []),
        *rates.bias_difference(frame, data),
        *defended.excess_self_preference(frame, data),
        *defended.third_party_log_odds(frame, data),
    ]
    if large(frame):
        notes.append(f"More than {MOST_QUESTIONS:,} questions: metrics of spread are not resampled.")
    else:
        found += rates.spread(frame, data, seed)
    return [*found, *_logits(frame, data, placed, notes)]


def _logits(frame: pd.DataFrame, data: str, placed: bool, notes: list[str]) -> list[Estimate]:
    """The primary estimator and, of not too many rankings, its variants."""
    if not placed:
        notes.append("The shown order is not known: the model of self-preference, which needs it, is left out.")
        return []
    found = defended.self_preference(frame, data)
    if int((frame["top"] == 1.0).sum()) > MOST_RANKINGS:
        notes.append(f"More than {MOST_RANKINGS:,} rankings: the model is fitted without its variants.")
        return found
    return [*found, *defended.sensitivity(frame, data)]


def vendors_known(frame: pd.DataFrame) -> bool:
    """Whether the vendors of judges and candidates are stated."""
    return bool(frame["candidate_vendor"].notna().any() and (frame["judge_vendor"].astype(object) != "").any())


def large(frame: pd.DataFrame) -> bool:
    """Whether there are more questions than are resampled."""
    return frames.one_row_each(frame)["question_id"].nunique() > MOST_QUESTIONS
