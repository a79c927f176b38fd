"""All numbers of experiment 4 in one list, their families of tests, and other reasonable choices.

`excess_flip`, per question: let the winners of one order be independent draws from p, those of the other from q
(baseline, candidate or tie). Two verdicts of different orders disagree with probability 1 - sum p q, two of the same
order with 1 - sum p^2 and 1 - sum q^2. The excess, the first less the mean of the others, is sum (p - q)^2 / 2: never
below 0, and 0 just where the order changes nothing, however noisy the judge. Counting all pairs of verdicts estimates
each term without bias (U-statistics), so one question may come out below 0 and the mean over questions is unbiased.

A flip rate minus one foreseen from repetition stability r, 1 - (r^2 + (1 - r)^2), is not: the share of the more
frequent verdict in a few repeats lies above its probability, so a judge that tosses coins (r = 3/4 in two repeats)
would be foreseen to flip 3/8 and does flip 1/2; and an r averaged over questions foresees too many flips.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd

from ... import frames
from ...stats.intervals import (
    NAN,
    Interval,
    added,
    adjust_scores,
    clustered,
    clustered_mean,
    clusters_of,
    fitted_interval,
    no_interval,
)
from ...types import Estimate
from ..losses import label_mass
from ..protocol import Numbers, estimator, measure_all
from . import both_orders
from .both_orders import GRADES, INVALID, NO_PAIR, comparisons, share, sign_flip_interval, signs, verdicts

#: A comparison: judge and candidate, and the source where several hold the same two.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The comparison that a number is of."""
    return tuple(where[key] for key in ("judge", "candidate", "source") if key in where)


def rarer_side(each: Estimate, estimates: Sequence[Estimate]) -> float:
    """The share of the rarer of the two lasting leanings, which the power of McNemar's test depends on.

    NaN where a number is tested in another way: it is no first_position_effect, or its questions hold several pairs.
    """
    if each.id != "first_position_effect" or each.n != each.clusters:
        return math.nan
    at = {key: value for key, value in each.where.items() if key != "category"}
    both = [one for one in estimates if one.id in ("primacy_share", "recency_share") and one.where == at]
    shares = [one.value for one in both]
    return min(shares) if len(shares) == 2 else math.nan


NO_LOGITS = "no pair with log-probabilities of both orders that tell ties from the first place"
NEEDS_REPEAT = "needs each order asked twice on the same question (repeats = 2 where judges are asked)"
DRAWS = 9999
THIRDS = ("small", "middle", "large")


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """How often each question was won in each order over all repeats, condition none; one row a question.

    Columns: source, judge, candidate, question_id, cluster, and baseline_1, tie_1, candidate_1 (baseline first),
    baseline_2, tie_2, candidate_2 (candidate first). Single readable verdicts count, whatever the other order says.
    """
    rows = table[table["condition"] == "none"]
    rows = rows.assign(cluster=clusters_of(rows))
    keys = ["source", "judge", "candidate", "question_id", "cluster"]
    counted = rows[keys].copy()
    for game, side in ((1, -1), (2, 1)):
        sign = side * signs(rows[f"verdict_{game}"])
        for name, value in (("baseline", -1), ("tie", 0), ("candidate", 1)):
            counted[f"{name}_{game}"] = (sign == value).astype(int)
    return counted.groupby(keys, observed=True, sort=True).sum().reset_index()


def excess(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """P(disagree | swapped) - P(disagree | asked again) of each question, from all pairs: (Q, 3) counts -> (Q,).

    NaN where an order has fewer than two verdicts.

    >>> excess(np.array([[2, 0, 0], [1, 0, 1]]), np.array([[0, 0, 2], [1, 0, 1]])).tolist()
    [1.0, -0.5]
    """
    one, two = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    n, m = one.sum(axis=-1), two.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = 1 - (one * two).sum(axis=-1) / (n * m)
        within = [1 - (c * (c - 1)).sum(axis=-1) / (k * (k - 1)) for c, k in ((one, n), (two, m))]
    return np.where((n > 1) & (m > 1), crossed - (within[0] + within[1]) / 2, np.nan)


def relabelled(one: np.ndarray, two: np.ndarray, seed: int, draws: int = DRAWS) -> float:
    """The p of the mean excess if verdicts are dealt anew to the two orders, question by question.

    One-sided, since the excess itself is never below 0. Where the order changes nothing, the verdicts on a question are
    exchangeable, so this is exact whatever their noise; (1 + hits) / (1 + draws). `one`, `two`: (Q, 3) counts, two
    verdicts an order or more.
    """
    rng = np.random.default_rng(seed)
    # Which winner has which count does not matter to the excess.
    dealt = np.column_stack([np.sort(one + two, axis=1), one.sum(axis=1)]).astype(int)
    kinds, many = np.unique(dealt, axis=0, return_counts=True)
    totals = np.zeros(draws)
    for kind, count in zip(kinds, many, strict=True):
        values, chances = _dealt(kind[:3], kind[3])
        if len(values) > 1:
            totals += rng.multinomial(count, chances, size=draws) @ values
    observed = excess(one, two).sum()
    near = 1e-9 * len(one)  # sums that are equal on paper differ in the last digits
    return float((1 + (totals >= observed - near).sum()) / (1 + draws))


def _dealt(counts: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray]:
    """The excesses that come of dealing these verdicts, `first` of them to the first order, and how likely each is."""
    ways = np.array([way for way in product(*(range(c + 1) for c in counts)) if sum(way) == first])
    chances = np.array([math.prod(map(math.comb, map(int, counts), map(int, way))) for way in ways], dtype=float)
    values, where = np.unique(excess(ways, counts - ways).round(12), return_inverse=True)
    return values, np.bincount(where, weights=chances) / chances.sum()


@estimator("position")
def excess_flip(table: pd.DataFrame, seed: int) -> Numbers:
    """How much more often verdicts name another winner with swapped orders than with the same order asked again, in pp.

    Condition none, all repeats. `where`: judge, candidate. Takes `pairs`.
    """
    for where, rows in comparisons(winners(table)):
        one, two = (rows[[f"{name}_{game}" for name in ("baseline", "tie", "candidate")]].to_numpy() for game in (1, 2))
        values = excess(one, two)
        kept = ~np.isnan(values)
        interval = _excess(values[kept], rows["cluster"][kept], one[kept], two[kept], seed)
        yield "excess_flip", where, interval, (0.0, 1.0)


def _excess(values: np.ndarray, clusters: pd.Series, one: np.ndarray, two: np.ndarray, seed: int) -> Interval:
    if not len(values):
        return no_interval(math.nan, 0, 0, NEEDS_REPEAT)
    merged = clusters.duplicated().any()  # verdicts on near-duplicates are not dealt independently: the p is t's
    interval = clustered_mean(values, clusters, null=0.0 if merged else None)
    interval = replace(interval, n=int(one.sum() + two.sum()))
    if math.isnan(interval.low) or merged:
        return interval
    method = f"{interval.method}; one-sided p by dealing verdicts anew"
    return replace(interval, p=relabelled(one, two, seed), method=method)


@estimator("position")
def control_arms(table: pd.DataFrame, seed: int) -> Numbers:
    """`identical_pair_effect` and `quality_gap_accuracy` over single readable verdicts; `where`: judge, candidate.

    Nothing where an arm was not asked. Takes `pairs`.
    """
    why = "no readable verdict"
    for where, rows in comparisons(table[table["condition"] == "identical"]):
        each = verdicts(rows).dropna(subset="sign")
        yield "identical_pair_effect", where, sign_flip_interval(each["sign"], each["cluster"], seed, why)
    for where, rows in comparisons(table[table["condition"] == "quality_gap"]):
        each = verdicts(rows).dropna(subset="sign")
        yield "quality_gap_accuracy", where, share(each, each["for_candidate"] > 0, reason=why)


@estimator("position")
def flip_by_gap(table: pd.DataFrame) -> Numbers:
    """How often the two orders name different winners where the answers are near in quality, and where far apart.

    The gap of a pair is |mean verdict for the candidate| on -2..2 of the other judges of the same two answers, or else
    of the judge's own other repeats: never the pair's own verdicts, which would make gap and flip one thing. `where`:
    judge, candidate, gap (thirds of its pairs; equal gaps stay together). Takes `pairs`.
    """
    rows = both_orders.valid(table)
    rows = rows.assign(grade=sum(side * signs(rows[f"verdict_{game}"], GRADES) for game, side in ((1, -0.5), (2, 0.5))))
    same = ["candidate", "baseline", "question_id", "category"]
    everyone = rows.groupby(same, observed=True, dropna=False)["grade"].agg(["sum", "size"])
    own = rows.groupby([*same, "judge"], observed=True, dropna=False)["grade"].agg(["sum", "size"])
    rows = rows.join(everyone.add_suffix("_all"), on=same).join(own.add_suffix("_own"), on=[*same, "judge"])
    for where, part in comparisons(rows):
        others = part["size_all"] - part["size_own"]
        if (others > 0).any():
            gap, by = (part["sum_all"] - part["sum_own"]) / others.where(others > 0), "gap by other judges"
        else:
            repeats = part["size_own"] - 1
            gap, by = (part["sum_own"] - part["grade"]) / repeats.where(repeats > 0), "gap by the judge's other repeats"
        part, gap = part[gap.notna()], gap.dropna().abs()
        third = np.searchsorted(gap.quantile([1 / 3, 2 / 3]), gap, side="left")
        for place, name in enumerate(THIRDS if len(part) else ()):
            flipped = ~part["agree"][third == place]
            interval = share(part[third == place], flipped, reason="no pair has such a gap: too few different gaps")
            yield "flip_by_gap", where | {"gap": name}, replace(interval, method=f"{interval.method}; {by}")


@estimator("position")
def label_position_effect(frame: pd.DataFrame, seed: int) -> Numbers:
    """How far the first place shifts the log-odds of its labels, the mean over both orders; `where`: judge, candidate.

    Log-odds lie midway between those of A over all else and of A or a tie over B (Rao and Kupper 1967). Where a reply
    leaves open how many of the others are ties, half their distance is its judge's mean. Takes a games frame.
    """
    if "not_second" not in frame:
        return
    rows = frame[(frame["condition"] == "none") & frame["not_second"].notna()]
    half = (rows["not_second"] - rows["first_over_rest"]) / 2
    usual = half.groupby(rows["judge"], observed=True).transform("mean")
    rows = rows.assign(cluster=clusters_of(rows), logit=rows["not_second"] - half.fillna(usual))
    each = rows.groupby([*both_orders.PAIR, "cluster"], observed=True, dropna=False)["logit"]
    orders = each.agg(["mean", "count"]).reset_index()
    orders["mean"] = orders["mean"].where(orders["count"] == 2)
    for where, part in comparisons(orders):
        known = part.dropna(subset="mean")
        yield "label_position_effect", where, sign_flip_interval(known["mean"], known["cluster"], seed, NO_LOGITS)


#: What a strong verdict counts where a plain one counts 1.
WEIGHTS = (1, 3)
#: What is held equal: the length of an answer and how many headers, list items and bold phrases it has.
STYLE = ("length", "headers", "lists", "bold")
#: Fewer questions give a fit no bounds: its sandwich is too short there.
FIT_QUESTIONS = 40
METHOD = "Bradley-Terry logistic at equal style, question-clustered sandwich t"


@estimator("position")
def win_rate(table: pd.DataFrame, features: pd.DataFrame | None = None) -> Numbers:
    """How often the candidate wins against the baseline, averaged over both games, a tie counting half.

    `where`: judge, candidate (, category), style ("raw"; with `features` also "controlled"), weight ("1", "3": what a
    strong verdict counts; no row is repeated). `features` has a row an answer: question_id, candidate (the baseline's
    name for its answers) and STYLE. Takes `pairs`.
    """
    for where, rows in both_orders.places(both_orders.valid(table)):
        each = verdicts(rows)
        each = each.assign(won=(each["for_candidate"] + 1) / 2)
        style = None if features is None else differences(rows, features)
        for weight in WEIGHTS:
            at = where | {"style": "raw", "weight": str(weight)}
            weights = np.where(each["strong"], float(weight), 1.0)
            yield "win_rate", at, weighted(each, each["won"], weights)
            if style is not None:
                yield "win_rate", at | {"style": "controlled"}, controlled(each, style, weights)


def weighted(rows: pd.DataFrame, values: np.ndarray, weights: np.ndarray) -> Interval:
    """The weighted mean, a ratio of two sums over questions."""
    if not weights.sum():
        return no_interval(NAN, 0, 0, NO_PAIR)
    codes, _ = pd.factorize(clusters_of(rows), sort=True)
    interval = clustered(np.bincount(codes, values * weights), np.bincount(codes, weights), null=None)
    return replace(interval, n=int((weights > 0).sum()))


def differences(rows: pd.DataFrame, features: pd.DataFrame) -> pd.DataFrame:
    """How the candidate's answer differs from the baseline's in style, a row a pair and game; NaN where one is unknown.

    (candidate - baseline) / (candidate + baseline), 0 where neither has any: from -1 to 1, as long answers differ by
    more words than short ones. Rows as those of `verdicts`.
    """
    counted = features.drop_duplicates(["question_id", "candidate"]).set_index(["question_id", "candidate"])
    sides = [
        counted[list(STYLE)].reindex([*zip(rows["question_id"], rows[side], strict=True)]).to_numpy(dtype=float)
        for side in ("candidate", "baseline")
    ]
    total = sides[0] + sides[1]
    share = np.divide(sides[0] - sides[1], total, out=np.zeros_like(total), where=total != 0)
    share[np.isnan(total)] = NAN
    return pd.DataFrame(np.vstack([share, share]), columns=list(STYLE))


def controlled(each: pd.DataFrame, style: pd.DataFrame, weights: np.ndarray) -> Interval:
    """The win rate at equal style; no number where the fit has none, with the reason in its method.

    Differences are divided by their standard deviations and not centred, so that the intercept is at no difference;
    what no answer has is left out. Standard errors by question (Pustejovsky and Tipton 2018), on the logit scale.
    """
    complete = style.notna().all(axis=1).to_numpy()
    each, x, w = each[complete], style.to_numpy()[complete], weights[complete]
    codes, labels = pd.factorize(clusters_of(each))
    clusters = len(labels)
    if each.empty:
        return no_interval(NAN, 0, 0, "no style control: length and layout of the answers are not known")
    used = (x != 0).any(axis=0)
    spread = x[:, used].std(axis=0)
    if (spread < 1e-12).any():
        same = " and ".join(np.array(STYLE)[used][spread < 1e-12])
        reason = f"no style control: the answers differ in {same} by the same everywhere, which may be who wrote them"
        return no_interval(NAN, len(each), clusters, reason)
    design = np.column_stack([np.ones(len(x)), x[:, used] / spread])
    y = each["won"].to_numpy()
    if problem := fault(design, y):
        return no_interval(NAN, len(each), clusters, f"no style control: {problem}")
    from scipy.special import expit
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    fit = GLM(y, design, family=families.Binomial(), var_weights=w).fit()
    if not fit.converged:
        return no_interval(NAN, len(each), clusters, "no style control: the fit did not converge")
    value = float(fit.params[0])
    rate = float(expit(value))
    method = METHOD if used.all() else f"{METHOD}; no answer has {' or '.join(np.array(STYLE)[~used])}"
    if clusters < FIT_QUESTIONS:
        reason = f"{method}; no interval of a fit below {FIT_QUESTIONS} questions"
        return no_interval(rate, len(each), clusters, reason)
    # Verdicts on one question may depend on each other in any way.
    fitted = fit.fittedvalues
    information = added(design[:, :, None] * (design * (w * fitted * (1 - fitted))[:, None])[:, None], codes)
    adjusted = adjust_scores(added(design * (w * (y - fitted))[:, None], codes), information)
    at = fitted_interval(value, adjusted, np.eye(design.shape[1])[0], len(each), clusters, method, null=None)
    low, high = (float(expit(bound)) for bound in (at.low, at.high))
    return replace(at, value=rate, low=low, high=high, se=at.se * rate * (1 - rate))


def fault(design: np.ndarray, y: np.ndarray) -> str:
    """Why a logistic regression of shares y (0, 1/2, 1) on this design has no maximum or more than one; "" if it does.

    >>> fault(np.array([[1.0, -1.0], [1.0, 1.0]]), [0.0, 1.0])
    'style separates wins from losses'
    """
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return "differences of style cannot be told apart"
    # A direction in which every win rises, every loss falls and no tie moves has no end: the fit would follow it.
    y = np.asarray(y, dtype=float)
    kinds, kind = np.unique(design, axis=0, return_inverse=True)
    won, lost = np.bincount(kind, y > 0, len(kinds)), np.bincount(kind, y < 1, len(kinds))
    # It cannot move what was tied, or won and lost; where that is of full rank there is no need to look for it.
    mixed = kinds[(won > 0) & (lost > 0)]
    if len(mixed) >= design.shape[1] == np.linalg.matrix_rank(mixed):
        return ""
    from scipy.optimize import linprog

    rises, ties = ((2 * y - 1)[:, None] * design)[y != 0.5], design[y == 0.5]
    found = linprog(-rises.sum(axis=0), -rises, np.zeros(len(rises)), ties, np.zeros(len(ties)), bounds=(-1, 1))
    return "style separates wins from losses" if found.status == 0 and found.fun < -1e-7 else ""


#: The choices that are none but bounds.
BOUNDS = ("lost to first", "lost to second")


@estimator("position")
def sensitivity(table: pd.DataFrame) -> Numbers:
    """The first-position effect under each choice, one changed at a time, in pp; `where`: judge, candidate, choice.

    "strong count 3" weights a pair by the mean weight of its two verdicts. "as stored" takes only labels that need no
    cleaning and divides by all lines. The bounds "lost to ..." give every unreadable verdict to one place: a pair of
    which one verdict can be read goes there only if that one does. No tests. Takes `pairs`, condition none.
    """
    for where, rows in comparisons(table[table["condition"] == "none"]):
        for choice, counted in _choices(rows).items():
            yield "first_position_sensitivity", where | {"choice": choice}, weighted(rows, *counted)


def _choices(rows: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What each pair counts, and its weight in the denominator, by choice."""
    lost = (rows["kind"] == INVALID).to_numpy()
    read = (~lost).astype(float)
    both, lean = both_orders.signed(rows).to_numpy(), both_orders.leaning(rows).to_numpy()
    every = np.ones(len(rows))
    won = [signs(rows[f"verdict_{game}"]) for game in (1, 2)]
    first, second = (np.logical_and(*(np.isnan(one) | (one == sign) for one in won)) for sign in (1, -1))
    strong = sum(np.abs(signs(rows[f"verdict_{game}"], GRADES)) == 2 for game in (1, 2))
    weights = 1.0 + strong  # the mean of 1 or 3 twice
    stored = [signs(rows[f"score_{game}"]) for game in (1, 2)]
    in_both = [np.logical_and(*(one == sign for one in stored)) for sign in (1, -1)]
    plain = in_both[0].astype(float) - in_both[1]
    two = (rows["games"] == 2).to_numpy()
    return {
        "headline": (both, read),
        "one tie: half": (lean, read),
        "one tie: full": (np.sign(lean), read),
        "unreadable kept": (both, every),
        "strong count 3": (both, read * weights),
        "as stored": (np.where(two, plain, 0.0), every),
        "lost to first": (np.where(lost & first, 1.0, both), every),
        "lost to second": (np.where(lost & second, -1.0, both), every),
    }


def choices_of(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates without the two bounds, which are no choices: one lost file would flatten a figure of all."""
    return [each for each in estimates if each.where.get("choice") not in BOUNDS]


def sensitivity_words(estimates: Sequence[Estimate]) -> str:
    """Of each judge and candidate: between what the choices lie, and what the unreadable pairs could do at most."""
    by: dict[Place, dict[str, Estimate]] = {}
    for each in estimates:
        if each.id == "first_position_sensitivity" and each.value == each.value:
            by.setdefault(place(each.where), {})[each.where["choice"]] = each
    lines = []
    for at, found in by.items():
        if "headline" not in found:  # no readable pair: bounds alone are no choices
            continue
        values = [100 * each.value for choice, each in found.items() if choice not in BOUNDS]
        low, high = (100 * found[choice].value for choice in reversed(BOUNDS))
        who = f"{'SIMULATED: ' * (found['headline'].data == 'simulated')}{', '.join(at)}"
        sign = "the sign depends on them" if min(values) < 0 < max(values) else "of one sign"
        sign = sign if any(values) else "nothing leans to a place"
        lost = f"; with all unreadable verdicts given to one place {low:+.1f} to {high:+.1f} pp" if low < high else ""
        span = f"{min(values):+.1f} to {max(values):+.1f} pp over {len(values)} choices ({sign})"
        lines.append(f"- {who}: {span}{lost}.")
    return "\n".join(lines) or "No pair has two readable verdicts: there is no headline to vary."


def measure(frame: pd.DataFrame, data: str, seed: int, features: pd.DataFrame | None = None) -> list[Estimate]:
    """Every estimate of the experiment from one games frame; `data` says where the verdicts are from.

    `features`, a row an answer (question_id, candidate, length, headers, lists, bold), adds win rates at equal style.
    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = both_orders.pairs(frame)
    lacking = "no pair was judged readably in both orders"
    if frame["first"].nunique() == 1:
        lacking += " (these verdicts were given in one order only, or do not say in which)"
    frames.require_result(frame, (table["kind"] != INVALID).any(), lacking)
    estimators = (
        *(both_orders.class_rates, both_orders.first_position_effect, both_orders.signed_rates, excess_flip),
        *(control_arms, flip_by_gap, win_rate, sensitivity),
    )
    found = measure_all(estimators, table, data, seed=seed, features=features)
    found += label_position_effect(frame, data, seed)
    return found + label_mass("label_mass", frame, data, ("judge", "candidate"))
