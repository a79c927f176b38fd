"""All numbers of experiment 6: signed effects at equal content, what noise does, and what length alone does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from statistics import NormalDist, fmean

import numpy as np
import pandas as pd

from ... import frames
from ...stats.intervals import (
    NAN,
    Interval,
    added,
    adjust_scores,
    cluster_sums,
    clusters_of,
    contrast,
    fitted_interval,
    no_interval,
)
from ...stats.standing import LEVEL
from ...types import Estimate, Judgment, Model
from .. import protocol
from ..planted import Asked, Planted, pair_traits, planted_table, win_chance
from ..protocol import Numbers, estimator, mean_by_place
from .asked import AS_IS, BIASES, CONTENT, CONTROLLED, KNOWN, LENGTH, PLAIN, REWORDED, REWORDING, STYLE, TRIED

#: The frame of this experiment: one row a verdict in one order.
FRAME = (
    *("experiment", "question_id", "category", "judge", "judge_vendor", "judge_model", "condition", "bias", "wording"),
    *("first", "repeat", "letters_tried", "letters_other", "verdict", "outcome"),
)
WORDS = tuple(name for name in FRAME if name not in ("repeat", "letters_tried", "letters_other"))
#: One row a pair: what `pairs` makes of both orders.
KEYS = ("judge", "question_id", "category", "condition", "bias", "wording", "repeat")


def tidy(judgments: Iterable[Judgment], answers: protocol.Answers) -> pd.DataFrame:
    """One row a verdict on two texts in one order (columns: FRAME); `answers` is not needed.

    `first` says which of the two stands first, as A: "tried" (the wording that is tried, of known pairs the better
    text) or "other". `bias` is that wording (see `wording`), of known pairs the bias that they are made for; `wording`
    the length at which it is shown. `verdict` is missing where there is none; then `outcome` says why. Words are
    categories. No judgments give an empty frame with all columns.
    """
    rows = protocol.tidy(judgments, answers, FRAME)
    return rows.astype(dict.fromkeys(WORDS, "category") | dict.fromkeys(("letters_tried", "letters_other"), int))


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Nothing published has these wordings: a ValueError that says which way verdicts of one's own are read."""
    raise ValueError(
        "verdicts that others published are not on these wordings, so this experiment has none to read; pairs of which "
        "one text is known to be better are asked with `questions`, and `recuse analyze` reads your own verdicts"
    )


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """One row for both orders of one comparison, asked by one judge at one repeat.

    Columns: KEYS, `tried_first` and `other_first`, what each order said for the tried text (1, 0 a tie, -1, NaN
    unreadable), `score`, their mean (NaN where either is unreadable: a preference for a place then stays in it),
    `letters_tried` and `letters_other`. Takes the frame of `tidy`.
    """
    value = frame["verdict"].map(protocol.SIGNS).to_numpy(dtype=float)
    second = (frame["first"] != TRIED).to_numpy()
    pair = frame.groupby([*KEYS], observed=True, dropna=False).ngroup().to_numpy()
    _, at = np.unique(pair, return_index=True)
    both = np.full((len(at), 2), np.nan)
    # Shown second, the tried text is B.
    both[pair, second.astype(int)] = np.where(second, -value, value)
    table = frame.iloc[at][[*KEYS, *({"cluster"} & {*frame}), "letters_tried", "letters_other"]].reset_index(drop=True)
    return table.assign(tried_first=both[:, 0], other_first=both[:, 1], score=both.mean(axis=1))


NO_PAIR = "no pair with two readable verdicts"
#: Questions of one category are a stratum.
STRATA: dict = {"strata": "category", "reason": NO_PAIR}
PLACE = ("judge", "bias")


@estimator("verbosity")
def style_effect(table: pd.DataFrame, seed: int) -> Numbers:
    """How much more often a wording wins than the plain one of equal content, in pp; `where`: judge, bias.

    Confirmatory: the wordings of all judges are one family. With the bias REWORDED it is the control: a frame of as
    many letters that claims nothing. Takes `pairs`; a wording without a readable pair has no number.
    """
    mine = table[table["condition"].isin((STYLE, REWORDING)) & (table["wording"] == AS_IS)]
    level = LEVEL / max(1, len(mine.loc[mine["condition"] == STYLE, [*PLACE]].drop_duplicates()))
    order = {bias: i for i, bias in enumerate((*BIASES, REWORDED))}
    for (judge, bias), rows in sorted(mine.groupby([*PLACE]), key=lambda each: (each[0][0], order[each[0][1]])):
        at, leans = LEVEL if bias == REWORDED else level, "questions lean to a side"
        interval = protocol.mean_with_flips(rows, rows["score"], seed, at, leans, **STRATA)
        yield "style_effect", {"judge": str(judge), "bias": str(bias)}, interval


@estimator("verbosity")
def poorer_win_rate(table: pd.DataFrame) -> Numbers:
    """How often poorer content beats full content in plain words, in each wording; `where`: judge, bias.

    A tie counts half. With the bias PLAIN both are plain: what is left of it is the judge's own error.
    """
    mine = table[table["condition"] == CONTENT]
    return mean_by_place("poorer_win_rate", mine, (mine["score"] + 1) / 2, PLACE, **STRATA)


@estimator("verbosity")
def style_over_content(table: pd.DataFrame) -> Numbers:
    """How much more often poorer content wins for its wording, in pp; `where`: judge, bias.

    Its win rate in the wording less that in plain words, both against the same full answer, on the questions on which
    both could be read.
    """
    mine = table[table["condition"] == CONTENT]
    mine = mine.assign(won=(mine["score"] + 1) / 2, plain=mine["bias"] == PLAIN)
    for judge, rows in mine.groupby("judge"):
        for bias in dict.fromkeys(rows.loc[~rows["plain"], "bias"].sort_values() if rows["plain"].any() else ()):
            both = rows[(rows["plain"] | (rows["bias"] == bias)) & rows["score"].notna()]
            both = both[both.groupby("question_id")["plain"].transform("nunique") == 2]
            interval = no_interval(math.nan, 0, 0, NO_PAIR)
            if len(both):
                sums = cluster_sums(both, "won", "question_id", "plain", "category")
                interval = contrast(sums, (1.0, -1.0))
            yield "style_over_content", {"judge": str(judge), "bias": str(bias)}, interval


@estimator("verbosity")
def repeat_disagreement(table: pd.DataFrame) -> Numbers:
    """How often the same two texts in the same order get another winner when asked again; `where`: judge.

    Of the wordings as they are, where both verdicts could be read; nothing where nothing was asked twice.
    """
    mine = table[table["condition"].isin((STYLE, REWORDING))]
    keys = ["judge", "question_id", "cluster", "category", "bias"]
    mine = mine.assign(cluster=clusters_of(mine))
    long = mine.melt([*keys, "repeat"], ["tried_first", "other_first"], "order", "said")
    wide = long.set_index([*keys, "order", "repeat"])["said"].unstack("repeat")
    if wide.shape[1] < 2:
        return []
    values = wide.to_numpy()
    one, other = np.triu_indices(values.shape[1], 1)
    differ = np.where(np.isnan(values[:, one] + values[:, other]), np.nan, values[:, one] != values[:, other])
    rows = wide.index.to_frame(index=False).assign(value=pd.DataFrame(differ).mean(axis=1)).dropna(subset="value")
    return mean_by_place("repeat_disagreement", rows, rows["value"], **STRATA)


@estimator("verbosity")
def invalid_share(table: pd.DataFrame) -> Numbers:
    """How many pairs have no two readable verdicts; `where`: judge, and also condition."""
    for by in (["judge"], ["judge", "condition"]):
        yield from mean_by_place("invalid_share", table, table["score"].isna() * 1.0, by, **STRATA)


METHOD = "least squares at equal length, question-clustered t"
SAME = "no slope: all wordings that were compared are of one length"


@estimator("verbosity")
def length_controlled(table: pd.DataFrame) -> Numbers:
    """`length_controlled_effect` (judge, bias): the preference for a wording at equal length, in pp.
    `length_slope` (judge): how much a text of twice the letters gains, in pp.

    One fit a judge to the comparisons at chosen lengths: score = effect of the wording + slope * doublings, where
    doublings are log2(letters of the tried text / letters of the other). Standard errors as in
    `stats.intervals`. Takes `pairs`. Nothing where none was compared at chosen lengths; no number where the lengths
    cannot be told from the wordings.
    """
    mine = table[table["condition"] == LENGTH]
    for judge, rows in mine.groupby("judge", sort=True):
        biases = [bias for bias in CONTROLLED if (rows["bias"] == bias).any()]
        *effects, slope = fitted(rows[rows["score"].notna()], biases)
        for bias, each in zip(biases, effects, strict=True):
            yield "length_controlled_effect", {"judge": str(judge), "bias": bias}, each
        yield "length_slope", {"judge": str(judge)}, slope, (-2.0, 2.0)


def fitted(rows: pd.DataFrame, biases: Sequence[str]) -> list[Interval]:
    """The effect of each of `biases` at equal length, and the slope of length, from readable pairs."""
    if rows.empty:
        return [no_interval(NAN, 0, 0, NO_PAIR)] * (len(biases) + 1)
    doublings = np.log2(rows["letters_tried"].to_numpy(float) / rows["letters_other"].to_numpy(float))
    dummies = np.column_stack([(rows["bias"] == bias).to_numpy(float) for bias in biases])
    varied = bool((np.abs(doublings) > 1e-9).any())
    design = np.column_stack([dummies, doublings]) if varied else dummies
    codes, labels = pd.factorize(clusters_of(rows), sort=True)
    clusters = len(labels)
    # Sums of each question: leaving one out takes its part from the whole.
    products = added(design[:, :, None] * design[:, None, :], codes)
    moments = added(design * rows["score"].to_numpy()[:, None], codes)
    total, right = products.sum(axis=0), moments.sum(axis=0)
    if np.linalg.matrix_rank(total) < len(total):
        why = "a wording has no readable pair, or its length cannot be told from it"
        return [no_interval(NAN, len(rows), clusters, why)] * (len(biases) + 1)
    values = np.linalg.solve(total, right)
    adjusted = adjust_scores(moments - products @ values, products)
    counts = [*(int(each) for each in dummies.sum(axis=0)), len(rows)]
    found = []
    for value, unit, n in zip(values, np.eye(len(values)), counts, strict=False):
        found.append(fitted_interval(value, adjusted, unit, n, clusters, METHOD))
    return found if varied else [*found, no_interval(NAN, len(rows), clusters, SAME)]


@estimator("verbosity")
def known_pairs(table: pd.DataFrame, seed: int) -> Numbers:
    """How often each judge prefers the better of two texts, a tie counting half; nothing where there are none.

    `known_pair_accuracy` (judge), `known_pair_accuracy_by_bias` (judge, bias that the pairs are made for),
    `longer_when_worse` (judge): how often the longer text wins where it is the worse one, and `longer_when_better`;
    `longer_over_better` (judge, pp): how much more often than the better one. Takes `pairs`.
    """
    mine = table[(table["condition"] == KNOWN) & table["score"].notna()]
    right, about = (mine["score"] + 1) / 2, {"null": 0.5, **STRATA}
    yield from mean_by_place("known_pair_accuracy", mine, right, **about)
    yield from mean_by_place("known_pair_accuracy_by_bias", mine, right, PLACE, **about)
    mine = mine.assign(longer=mine["letters_tried"] - mine["letters_other"])
    for judge, rows in mine.groupby("judge"):
        where = {"judge": str(judge)}
        worse, better = (
            protocol.mean_with_flips(each, (1 + sign * each["score"]) / 2, seed, null=0.5, **STRATA)
            for sign, each in ((-1, rows[rows["longer"] < 0]), (1, rows[rows["longer"] > 0]))
        )
        yield "longer_when_worse", where, worse
        yield "longer_over_better", where, signed(worse)
        yield "longer_when_better", where, better


def signed(share: Interval) -> Interval:
    """How much more often one of two texts wins than the other, from the share of its wins: 0 where that is a half."""
    return replace(share, value=2 * share.value - 1, low=2 * share.low - 1, high=2 * share.high - 1, se=2 * share.se)


#: A judge and a wording.
Place = tuple[str, str]


def place(where: Mapping[str, str]) -> Place:
    """The judge and the wording ("": of the judge alone) of a number."""
    return where["judge"], where.get("bias", "")


def index(estimates: Sequence[Estimate], id: str) -> dict[Place, Estimate]:
    """The numbers of one id by judge and wording."""
    return {place(each.where): each for each in protocol.pick(estimates, id)}


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one frame of `tidy`; `data` says where the verdicts are from.

    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = pairs(frame)
    frames.require_result(frame, table["score"].notna().any(), "no pair was judged readably in both orders")
    estimators = (style_effect, length_controlled, poorer_win_rate, style_over_content, repeat_disagreement)
    return protocol.measure_all((*estimators, invalid_share, known_pairs), table, data, seed=seed)


#: Evenly spread quantiles stand for the tastes of a judge, which differ by text.
TASTES = tuple(NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400))


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a judge and wording and, of wordings compared at equal length, what is left there."""
    plain, level = index(estimates, "style_effect"), index(estimates, "length_controlled_effect")
    for judge in asked.experiment.judges:
        for bias in (each for each in BIASES if (judge.name, each) in plain):
            raw, equal = implied(judge, bias)
            worth, length = likings(judge, bias)
            parts = {"longer": length, "wording": worth}
            size = ", ".join(f"{name} {part:+g}" for name, part in parts.items() if part) or "0"
            yield Planted(bias, judge.name, size, raw, plain[judge.name, bias])
            if bias in CONTROLLED and (judge.name, bias) in level:
                yield Planted(f"{bias}, equal length", judge.name, size, equal, level[judge.name, bias])


planted = partial(planted_table, "verbosity", rows=_rows)


def implied(judge: Model, bias: str) -> tuple[float, float]:
    """The effect of a wording that follows from a simulated judge's traits: as it is, and at equal length.

    At equal length is the mean over the three lengths at which it is compared: as long, longer, shorter.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"verbosity": 0.5, "wordings": {"listed": 1.0}})
    >>> [round(each, 3) for each in implied(judge, "padded")], [round(each, 3) for each in implied(judge, "listed")]
    ([0.448, 0.0], [0.749, 0.399])
    """
    worth, length = likings(judge, bias)
    traits = (*pair_traits(judge), judge.traits.get("taste", 0.0))
    return _effect(worth + length, *traits), fmean(_effect(worth + u, *traits) for u in (0.0, length, -length))


def likings(judge: Model, bias: str) -> tuple[float, float]:
    """What a wording is worth to a simulated judge, and what being the longer one is."""
    return judge.traits.get("wordings", {}).get(bias, 0.0), 2 * judge.traits.get("verbosity", 0.0)


@lru_cache(maxsize=1024)
def _effect(lead: float, place: float, tie: float, noise: float, taste: float) -> float:
    """How much more often the tried text wins than loses with this lead, over both places and a judge's tastes."""
    leads = [lead + math.sqrt(2) * taste * z + side * place for z in (TASTES if taste else (0.0,)) for side in (1, -1)]
    return fmean(win_chance(u, tie, noise) - win_chance(-u, tie, noise) for u in leads)
