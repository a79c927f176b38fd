"""All numbers of experiment 6: signed effects at equal content, what noise does, and what length alone does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ... import frames
from ...stats.intervals import (
    MIN_CLUSTERS,
    NAN,
    Interval,
    added,
    adjust_scores,
    clustered,
    clusters_of,
    combine_pieces,
    estimate,
    no_interval,
    t_interval,
)
from ...stats.standing import correct_family, tested
from ...stats.tests import with_sign_flip
from ...types import Estimate, Judgment, Model
from .. import protocol
from ..planted import Planted, planted_table, win_chance
from .asked import (
    AS_IS,
    BIASES,
    CONTENT,
    CONTROLLED,
    KNOWN,
    LENGTH,
    PLAIN,
    REWORDED,
    REWORDING,
    STYLE,
    TRIED,
)

if TYPE_CHECKING:
    from ...run import Asked

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
    said = frame["verdict"].map(protocol.SIGNS).to_numpy(dtype=float)
    second = (frame["first"] != TRIED).to_numpy()
    code = np.zeros(len(frame), dtype=np.int64)
    for name in KEYS:
        number, labels = _numbered(frame[name])
        code = code * max(1, labels) + number
    _, at, pair = np.unique(code, return_index=True, return_inverse=True)
    both = np.full((len(at), 2), np.nan)
    # Shown second, the tried text is B.
    both[pair, second.astype(int)] = np.where(second, -said, said)
    table = frame.iloc[at][[*KEYS, *({"cluster"} & {*frame}), "letters_tried", "letters_other"]].reset_index(drop=True)
    return table.assign(tried_first=both[:, 0], other_first=both[:, 1], score=both.mean(axis=1))


def _numbered(column: pd.Series) -> tuple[np.ndarray, int]:
    """The number of each value in sorted order, and how many values there are."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.codes.to_numpy(np.int64), len(column.cat.categories)
    number, labels = pd.factorize(column, sort=True)
    return number, len(labels)


LEVEL = 0.05
#: What is said of a p that only says that no drawn pattern reached the sum.
NO_PAIR = "no pair with two readable verdicts"


@dataclass(frozen=True)
class Cells:
    """Sums of scores and numbers of readable pairs of each judge and bias by question; the cluster of each question,
    and each cluster's category.
    """

    sums: dict[tuple[str, str], np.ndarray]
    pairs: dict[tuple[str, str], np.ndarray]
    clusters: np.ndarray
    strata: np.ndarray

    def of(self, at: tuple[str, str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Sums, pairs and strata of one judge and bias by cluster."""
        return added(self.sums[at], self.clusters), added(self.pairs[at], self.clusters), self.strata


def cells(table: pd.DataFrame, condition: str) -> Cells:
    """The pairs of one condition, wordings as they are. A judge and bias without any readable pair have zeros."""
    mine = table[((table["condition"] == condition) & (table["wording"] == AS_IS)).to_numpy()]
    judge, judges = pd.factorize(mine["judge"], sort=True)
    bias, biases = pd.factorize(mine["bias"], sort=True)
    question, questions = pd.factorize(mine["question_id"], sort=True)
    cluster, strata = _clusters(mine)
    of = np.zeros(len(questions), int)
    of[question] = cluster
    shape = (len(judges), len(biases), len(questions))
    cell = np.ravel_multi_index((judge, bias, question), shape) if len(mine) else np.zeros(0, int)
    score = mine["score"].to_numpy()
    read, size = ~np.isnan(score), int(np.prod(shape))
    sums = np.bincount(cell[read], score[read], size).reshape(shape)
    pairs = np.bincount(cell[read], minlength=size).reshape(shape)
    known = np.bincount(cell, minlength=size).reshape(shape).any(axis=2)
    places = {(str(judges[a]), str(biases[b])): (a, b) for a, b in zip(*np.nonzero(known), strict=True)}
    return Cells({at: sums[i] for at, i in places.items()}, {at: pairs[i] for at, i in places.items()}, of, strata)


def _clusters(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row's cluster, and the category of each; one for all where a cluster lies in two."""
    cluster, _ = pd.factorize(clusters_of(rows), sort=True)
    _, first = np.unique(cluster, return_index=True)
    every = rows["category"].to_numpy()
    strata = every[first]
    return cluster, strata if (strata[cluster] == every).all() else np.zeros(len(strata))


def mean(rows: pd.DataFrame, values: pd.Series, null: float | None = None) -> Interval:
    """A question-clustered mean, stratified by category."""
    if rows.empty:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    cluster, strata = _clusters(rows)
    sums = np.bincount(cluster, values.to_numpy(dtype=float))
    return clustered(sums, np.bincount(cluster), strata=strata, null=null)


def sign_flip_interval(sums: np.ndarray, pairs: np.ndarray, strata: np.ndarray, seed: int, level: float) -> Interval:
    """The mean score with its interval, and the p of sign flips over questions.

    No p where even the smallest attainable one is above `level`, the one that a correction leaves. Where all questions
    say the same there is no interval, but this test needs none.
    """
    interval = clustered(sums, pairs, strata=strata)
    if not interval.clusters:
        return no_interval(math.nan, 0, 0, NO_PAIR)
    if interval.clusters < MIN_CLUSTERS:
        return interval
    return with_sign_flip(interval, sums[pairs > 0], seed, level, "questions lean to a side")


def style_effect(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How much more often a wording wins than the plain one of equal content, in pp; `where`: judge, bias.

    Confirmatory: the wordings of all judges are one family. With the bias REWORDED it is the control: a frame of as
    many letters that claims nothing. Takes `pairs`; a wording without a readable pair has no number.
    """
    found, order = {}, {bias: i for i, bias in enumerate((*BIASES, REWORDED))}
    for condition in (STYLE, REWORDING):
        each = cells(table, condition)
        level = LEVEL / max(1, len(each.sums)) if condition == STYLE else LEVEL
        found |= {at: sign_flip_interval(*each.of(at), seed, level) for at in each.sums}
    return [
        estimate("style_effect", {"judge": judge, "bias": bias}, found[judge, bias], data, "pp")
        for judge, bias in sorted(found, key=lambda at: (at[0], order[at[1]]))
    ]


def poorer_win_rate(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often poorer content beats full content in plain words, in each wording; `where`: judge, bias.

    A tie counts half. With the bias PLAIN both are plain: what is left of it is the judge's own error.
    """
    each = cells(table, CONTENT)
    return [estimate("poorer_win_rate", {"judge": at[0], "bias": at[1]}, _rate(*each.of(at)), data) for at in each.sums]


def _rate(sums: np.ndarray, pairs: np.ndarray, strata: np.ndarray) -> Interval:
    interval = clustered((sums + pairs) / 2, pairs, strata=strata, null=None)
    return interval if interval.clusters else no_interval(math.nan, 0, 0, NO_PAIR)


def style_over_content(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more often poorer content wins for its wording, in pp; `where`: judge, bias.

    Its win rate in the wording less that in plain words, both against the same full answer, on the questions on which
    both could be read.
    """
    each, found = cells(table, CONTENT), []
    for (judge, bias), sums in each.sums.items():
        plain = judge, PLAIN
        if bias == PLAIN or plain not in each.sums:
            continue
        pairs = np.column_stack([each.pairs[judge, bias], each.pairs[plain]])
        won, both = (np.column_stack([sums, each.sums[plain]]) + pairs) / 2, (pairs > 0).all(axis=1)
        interval = no_interval(math.nan, 0, 0, NO_PAIR)
        if both.any():
            kept, codes = np.unique(each.clusters[both], return_inverse=True)
            won, pairs = added(won[both], codes), added(pairs[both], codes)
            interval = clustered(won, pairs, (1.0, -1.0), each.strata[kept])
        found.append(estimate("style_over_content", {"judge": judge, "bias": bias}, interval, data, "pp"))
    return found


def repeat_disagreement(table: pd.DataFrame, data: str) -> list[Estimate]:
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
    said = wide.to_numpy()
    one, other = np.triu_indices(said.shape[1], 1)
    differ = np.where(np.isnan(said[:, one] + said[:, other]), np.nan, said[:, one] != said[:, other])
    rows = wide.index.to_frame(index=False).assign(value=_means(differ))
    return [
        estimate("repeat_disagreement", {"judge": str(judge)}, mean(each, each["value"]), data)
        for judge, each in rows[rows["value"].notna()].groupby("judge", sort=True)
    ]


def _means(values: np.ndarray) -> np.ndarray:
    """The mean of each row without its NaN; NaN of a row that has nothing else."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    return np.divide(np.where(known, values, 0.0).sum(axis=1), count, out=np.full(len(values), np.nan), where=count > 0)


def invalid_share(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How many pairs have no two readable verdicts; `where`: judge, and also condition."""
    found = []
    for keys in (["judge"], ["judge", "condition"]):
        for names, rows in table.groupby(keys, sort=True):
            where = dict(zip(keys, map(str, names), strict=True))
            found.append(estimate("invalid_share", where, mean(rows, rows["score"].isna()), data))
    return found


METHOD = "least squares at equal length, question-clustered t"
SAME = "no slope: all wordings that were compared are of one length"


def length_controlled(table: pd.DataFrame, data: str) -> list[Estimate]:
    """`length_controlled_effect` (judge, bias): the preference for a wording at equal length, in pp.
    `length_slope` (judge): how much a text of twice the letters gains, in pp.

    One fit a judge to the comparisons at chosen lengths: score = effect of the wording + slope * doublings, where
    doublings are log2(letters of the tried text / letters of the other). Standard errors as in
    `stats.intervals`. Takes `pairs`. Nothing where none was compared at chosen lengths; no number where the lengths
    cannot be told from the wordings.
    """
    found = []
    mine = table[table["condition"] == LENGTH]
    for judge, rows in mine.groupby("judge", sort=True):
        biases = [bias for bias in CONTROLLED if (rows["bias"] == bias).any()]
        *effects, slope = fitted(rows[rows["score"].notna()], biases)
        places = [{"judge": str(judge), "bias": bias} for bias in biases]
        found += [
            estimate("length_controlled_effect", where, each, data, "pp")
            for where, each in zip(places, effects, strict=True)
        ]
        found.append(estimate("length_slope", {"judge": str(judge)}, slope, data, "pp", (-2.0, 2.0)))
    return found


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
    products = np.zeros((clusters, design.shape[1], design.shape[1]))
    np.add.at(products, codes, design[:, :, None] * design[:, None, :])
    moments = np.zeros((clusters, design.shape[1]))
    np.add.at(moments, codes, design * rows["score"].to_numpy()[:, None])
    whole, right = products.sum(axis=0), moments.sum(axis=0)
    if np.linalg.matrix_rank(whole) < len(whole):
        told = "a wording has no readable pair, or its length cannot be told from it"
        return [no_interval(NAN, len(rows), clusters, told)] * (len(biases) + 1)
    values = np.linalg.solve(whole, right)
    adjusted = adjust_scores(moments - products @ values, products)
    counts = [*(int(each) for each in dummies.sum(axis=0)), len(rows)]
    found = []
    for value, contrast, n in zip(values, np.eye(len(values)), counts, strict=False):
        each = combine_pieces([adjusted.pieces(contrast)])
        found.append(t_interval(float(value), each.se, each.df, n, clusters, METHOD, effective=each.effective))
    return found if varied else [*found, no_interval(NAN, len(rows), clusters, SAME)]


def known_pairs(table: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How often each judge prefers the better of two texts, a tie counting half; nothing where there are none.

    `known_pair_accuracy` (judge), `known_pair_accuracy_by_bias` (judge, bias that the pairs are made for),
    `longer_when_worse` (judge): how often the longer text wins where it is the worse one, and `longer_when_better`;
    `longer_over_better` (judge, pp): how much more often than the better one. Takes `pairs`.
    """
    mine = table[(table["condition"] == KNOWN) & table["score"].notna()]
    found = []
    for judge, rows in mine.groupby("judge", sort=True):
        where = {"judge": str(judge)}
        right = (rows["score"] + 1) / 2
        found.append(estimate("known_pair_accuracy", where, mean(rows, right, null=0.5), data))
        for bias, each in rows.groupby("bias", sort=True):
            at = where | {"bias": str(bias)}
            found.append(estimate("known_pair_accuracy_by_bias", at, mean(each, right[each.index], null=0.5), data))
        found += _lengths(rows, where, data, seed)
    return found


def _lengths(rows: pd.DataFrame, where: dict[str, str], data: str, seed: int) -> Iterator[Estimate]:
    longer = rows["letters_tried"] - rows["letters_other"]
    for id, each in (("longer_when_worse", rows[longer < 0]), ("longer_when_better", rows[longer > 0])):
        won = (1 + each["score"] * (1 if id == "longer_when_better" else -1)) / 2
        share = against_coin(mean(each, won), won, clusters_of(each), seed)
        yield estimate(id, where, share, data)
        if id == "longer_when_worse":
            yield estimate("longer_over_better", where, signed(share), data, "pp")


def against_coin(interval: Interval, values: pd.Series, questions: pd.Series, seed: int) -> Interval:
    """The interval of a share with the p of sign flips over questions against one half; none below 10 questions."""
    if interval.clusters < MIN_CLUSTERS:
        return interval
    return with_sign_flip(interval, (values - 0.5).groupby(questions.to_numpy(), sort=True).sum(), seed)


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
    return {place(each.where): each for each in estimates if each.id == id}


def family(estimates: Sequence[Estimate]) -> dict[Place, Estimate]:
    """The effects of wordings, a judge and wording each; the control is none of them."""
    return {at: each for at, each in index(estimates, "style_effect").items() if at[1] in BIASES}


def members(estimates: Sequence[Estimate]) -> list[dict[Place, Estimate]]:
    """The confirmatory family of each source of data: all judges' effects, and longer texts that win though worse."""
    found = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        found.append(family(mine) | index(mine, "longer_when_worse"))
    return found


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families with the number of tests that Holm corrects each for."""
    return [([*each.values()], sum(map(tested, each.values()))) for each in members(estimates)]


def corrected(estimates: Sequence[Estimate]) -> dict[Place, float]:
    """Holm's p of each member of its family, by judge and wording ("": longer_when_worse); NaN without a test."""
    return {at: p for each in members(estimates) for at, p in correct_family(each).items()}


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one frame of `tidy`; `data` says where the verdicts are from.

    A frame with verdicts of which none are of a pair's both orders is a ValueError that counts what became of them.
    """
    table = pairs(frame)
    frames.require_result(frame, table["score"].notna().any(), "no pair was judged readably in both orders")
    return [
        *style_effect(table, data, seed),
        *length_controlled(table, data),
        *poorer_win_rate(table, data),
        *style_over_content(table, data),
        *repeat_disagreement(table, data),
        *invalid_share(table, data),
        *known_pairs(table, data, seed),
    ]


#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4, "taste": 0.0, "verbosity": 0.0, "wordings": {}, "primacy": ()}
#: Evenly spread quantiles stand for the tastes of a judge, which differ by text.
TASTES = tuple(NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400))
READ = (
    "In the simulator are utilities: of the longer text over the shorter one, however little longer it is, and of a "
    "wording. Effects are averaged over the judge's tastes, which differ by text, and both places. At equal length "
    "nothing of a liking for length is left."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which wordings simulated judges were made to like and what was found, as Markdown: see `planted_table`.

    A row a judge and wording: the plain contrast and, of wordings compared at equal length, what is left there.
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    plain, level = family(estimates), index(estimates, "length_controlled_effect")
    for judge in asked.experiment.judges:
        for bias in (each for each in BIASES if (judge.name, each) in plain):
            raw, equal = implied(judge, bias)
            length, worth = 2 * _traits(judge)["verbosity"], _traits(judge)["wordings"].get(bias, 0.0)
            parts = {"longer": length, "wording": worth}
            size = ", ".join(f"{name} {part:+g}" for name, part in parts.items() if part) or "0"
            yield Planted(bias, judge.name, size, raw, plain[judge.name, bias])
            if bias in CONTROLLED and (judge.name, bias) in level:
                yield Planted(f"{bias}, equal length", judge.name, size, equal, level[judge.name, bias])


def implied(judge: Model, bias: str) -> tuple[float, float]:
    """The effect of a wording that follows from a simulated judge's traits: as it is, and at equal length.

    At equal length is the mean over the three lengths at which it is compared: as long, longer, shorter.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"verbosity": 0.5, "wordings": {"listed": 1.0}})
    >>> [round(each, 3) for each in implied(judge, "padded")], [round(each, 3) for each in implied(judge, "listed")]
    ([0.448, 0.0], [0.749, 0.399])
    """
    traits = _traits(judge)
    worth, length = traits["wordings"].get(bias, 0.0), 2 * traits["verbosity"]
    place = [*traits["primacy"], 0.0, 0.0][:2]
    known = (place[0] - place[1], max(0.0, traits["tie"]), traits["noise"], traits["taste"])
    return _effect(worth + length, *known), fmean(_effect(worth + u, *known) for u in (0.0, length, -length))


def _traits(judge: Model) -> dict:
    return {**DEFAULTS, **judge.traits}


@lru_cache(maxsize=1024)
def _effect(lead: float, place: float, tie: float, noise: float, taste: float) -> float:
    """How much more often the tried text wins than loses with this lead, over both places and a judge's tastes."""
    leads = [lead + math.sqrt(2) * taste * z + side * place for z in (TASTES if taste else (0.0,)) for side in (1, -1)]
    return fmean(win_chance(u, tie, noise) - win_chance(-u, tie, noise) for u in leads)
