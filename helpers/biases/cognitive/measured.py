"""All numbers of experiment 5 in one list; the published metrics on pairs; what was put into simulated models.

A metric with |.| or max(0, .) is above 0 by noise alone: it is computed of the control against its own repeat too (of
selections: of what the control selected), and the difference of the two, pair by pair, is the excess. The placebo
shares its control with the treatment's pair, but where the treatment does nothing all replies to a wording are alike
in distribution, so the excess is 0 on average.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import isnan, tanh
from statistics import NormalDist, fmean

import numpy as np
import pandas as pd

from ... import frames
from ...stats.bootstrap import bca
from ...stats.intervals import NAN, Interval, no_interval
from ...stats.standing import BY
from ...types import SITUATION, Estimate, RatioScale, Request, Trial
from .. import protocol
from ..losses import label_mass
from ..planted import Asked, Planted, planted_table
from ..protocol import Numbers
from . import effects, metrics as forms
from .averages import Cell, Place, by_scenario, cell_interval, cells, means, members, named, pairs, place
from .effects import NEEDS_REPEAT, columns, count, directed
from .metrics import pull, random_absolute, score

NO_PAIR = "no pair with two readable answers"
#: Of rows and "treatment" or "placebo": individual values before the cut at 0, NaN where 0/0; which rows are known.
Values = Callable[[pd.DataFrame, str], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Batch:
    """One metric: its values and weights, whether it has a placebo, and whether a test can be 0/0."""

    id: str
    values: Values
    weighted: Callable[[pd.DataFrame], np.ndarray] | None = None
    placebo: bool = True
    undefined: bool = False

    def weights(self, rows: pd.DataFrame) -> np.ndarray:
        """What each test counts in the batch."""
        return np.ones(len(rows)) if self.weighted is None else self.weighted(rows)

    def published(self, rows: pd.DataFrame, which: str) -> np.ndarray:
        """The individual values as published, in which 0/0 counts 0; NaN where an answer is missing."""
        values, finite = self.values(rows, which)
        return np.where(finite, forms.published(values), NAN)


@by_scenario
def batches(table: pd.DataFrame, seed: int) -> Numbers:
    """Every published metric of the pairs that it is made for; `where`: bias (mean over judges), and bias, judge.

    Each with `_placebo` (not loss_aversion), `_undefined` (tests that count 0 because they are 0/0), and of the
    weighted ones `_effective`, the number of equal weights that would be as precise. Takes `pairs`.
    """
    for rows, batch in made_for(table):
        weights = batch.weights(rows)
        for which, id, reason in (("treatment", batch.id, NO_PAIR), ("placebo", f"{batch.id}_placebo", NEEDS_REPEAT)):
            if which == "treatment" or batch.placebo:
                for cell in cells(rows, batch.published(rows, which), weights):
                    yield id, cell.where, resampled(cell, seed, reason)
        each, finite = batch.values(rows, "treatment")
        if batch.undefined:
            for cell in cells(rows, np.where(finite, np.isnan(each), NAN)):
                yield f"{batch.id}_undefined", cell.where, count(cell)
        if batch.weighted:
            known = np.where(finite, weights, NAN)
            for cell in cells(rows, known, known):  # sums of w² and of w
                squares, total = cell.numerators.sum(), cell.denominators.sum()
                value = total**2 / squares if squares else NAN
                yield f"{batch.id}_effective", cell.where, no_interval(value, cell.n, 0, "(sum w)² / sum w²")


@by_scenario
def excesses(table: pd.DataFrame, seed: int) -> Numbers:
    """What is left of each published metric when its placebo is taken off, pair by pair: `<metric>_excess`.

    `where` as in `batches`; p by sign flips over scenarios. Takes `pairs`.
    """
    for rows, batch in made_for(table):
        if batch.placebo:
            left = batch.published(rows, "treatment") - batch.published(rows, "placebo")
            for cell in cells(rows, left, batch.weights(rows)):
                yield f"{batch.id}_excess", cell.where, cell_interval(cell, seed, NEEDS_REPEAT)


def made_for(table: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, Batch]]:
    """Each published metric with the rows of `pairs` that it is made for."""
    rows = directed(table)
    scale, anchored = rows["kind"] == "scale", rows["anchor"].notna()
    for chosen, kind in (
        (scale & anchored, ANCHORED),
        # Of published tests on other biases a move in any direction is no halo.
        (scale & ~anchored & ((rows["source"] == "asked") | (rows["category"] == "halo")), HALO),
        (rows["kind"] == "acceptance", LOSS),
        (rows["kind"] == "selection", CONFIRMATION),
    ):
        if chosen.any():
            yield from ((rows[chosen], batch) for batch in kind)


def resampled(cell: Cell, seed: int, reason: str) -> Interval:
    """The mean over judges of weighted means, with its BCa interval over scenarios."""
    if not cell.numerators.shape[1]:
        return no_interval(NAN, 0, 0, reason)
    interval = bca(cell.numerators, cell.denominators, lambda rates: rates.mean(axis=-1), seed)
    used = int((cell.denominators.sum(axis=1) > 0).sum())
    return replace(interval, n=cell.n, clusters=used, method=named(interval.method, cell))


def _on_scale(rows: pd.DataFrame, which: str, metric: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """`metric` of scales (control, treatment, options, anchor), all (n, 1) or (n, k), for rows of equal options.

    Answers are looked up by index, since values printed in the frame keep six digits.
    """
    one, two = (rows[name].to_numpy(dtype=float) for name in ("i1", "i2" if which == "treatment" else "i0"))
    found, finite = np.full(len(rows), NAN), np.isfinite(one) & np.isfinite(two)
    printed, anchor = rows["values"].to_numpy(dtype=object), rows["anchor"].to_numpy(dtype=float)
    for each in pd.unique(printed[finite]):
        at = np.flatnonzero(finite & (printed == each))
        options = np.tile(np.array(each.split(), dtype=float), (len(at), 1))
        a1, a2 = (options[0, index[at].astype(int)][:, None] for index in (one, two))
        found[at] = metric(a1, a2, options, anchor[at][:, None])[:, 0]
    return found, finite


_agnostic = partial(_on_scale, metric=lambda a1, a2, options, anchor: forms.moved(a1, a2, options))
_specific = partial(_on_scale, metric=lambda a1, a2, options, at: forms.approach(a1, a2, forms.nearest(options, at)))


def _refused(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    """1 for a refusal: the batch value 1 - sum(a / ratio) / sum(1 / ratio) is their mean weighted by 1 / ratio.

    Of gambles that gain more than they lose: who refuses another one need not dislike losses.
    """
    accepted, ratio = columns(rows, "a2", "ratio")
    return 1 - accepted, np.isfinite(accepted) & (ratio > 1)


def _selected(rows: pd.DataFrame, which: str) -> tuple[np.ndarray, np.ndarray]:
    suffix = "" if which == "treatment" else "_control"
    decided, pro, con = columns(rows, "decided", f"pro{suffix}", f"con{suffix}")
    usable = rows["readable"].to_numpy(dtype=bool) & np.isfinite(decided + pro + con)
    return forms.lean(decided, pro, con), usable


ANCHORED = (Batch("anchoring_agnostic", _agnostic), Batch("anchoring_specific", _specific, undefined=True))
HALO = (Batch("halo_effect", _agnostic),)
LOSS = (Batch("loss_aversion", _refused, lambda rows: 1 / columns(rows, "ratio")[0], placebo=False),)
CONFIRMATION = (
    Batch("confirmation_bias", _selected, lambda rows: columns(rows, "n_args")[0], undefined=True),
    Batch("confirmation_unweighted", _selected),
)


NO_OPTIONS = "no pair of options that the published metric is defined for"
PARAMETERS = ["k", "x1", "x2", "flip_control", "flip_treatment"]


@by_scenario
def ratio_scale(table: pd.DataFrame, seed: int) -> Numbers:
    """The mean of the published B and of |B| (0/0 counts 0, as published), and |B| of a random answerer.

    `ratio_scale`, `ratio_scale_absolute`; `where`: bias (mean over judges), and bias, judge. `ratio_scale_random`:
    where bias; exact, the mean over these pairs' parameters. Takes `pairs`; those without parameters are left out.
    """
    rows = table[table["k"].notna()]
    if rows.empty:
        return
    values = score(*(rows[name] for name in ("i1", "i2", "options", *PARAMETERS)))
    yield from means("ratio_scale", cells(rows, values), NO_OPTIONS)
    for cell in cells(rows, np.abs(values)):
        yield "ratio_scale_absolute", cell.where, resampled(cell, seed, NO_OPTIONS)
    for bias, part in rows.groupby("category", sort=True, observed=True):
        kinds = part.groupby(["options", *PARAMETERS], observed=True).size()
        each = [random_absolute(int(options), RatioScale(*points)) for options, *points in kinds.index]
        why = "exact: all pairs of options, each as likely"
        mean = no_interval(np.average(each, weights=kinds), len(part), 0, why)
        yield "ratio_scale_random", {"bias": str(bias)}, mean


#: So often a selection of arguments is drawn; all else is computed without drawing.
DRAWN = 200


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families, each bias on the mean over judges and of each judge, with the number of tests."""
    return protocol.confirmatory("cognitive", members(estimates))


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a bias, the mean over models, then a row a bias and model."""
    truths, traits = _truths(asked), {judge.name: judge.traits for judge in asked.experiment.judges}
    moved = [each for each in protocol.pick(estimates, "bias_effect") if place(each.where) in truths]
    for each in sorted(moved, key=lambda each: "judge" in each.where):
        bias, judge = each.where["bias"], each.where.get("judge", "")
        strengths = [traits[name].get("biases", {}).get(bias, 0.0) for name in ([judge] if judge else traits)]
        whom, size = judge or "mean over models", f"{fmean(strengths):g}"
        yield Planted(bias.replace("_", " "), whom, size, truths[place(each.where)], each)


planted = partial(planted_table, "cognitive", rows=_rows, families=confirmatory)


def _truths(asked: Asked) -> dict[Place, float]:
    """The effect that follows from what each model would answer to its controls and treatments, noise averaged out."""
    seen: dict[tuple, dict[str, Trial]] = defaultdict(dict)
    for judgment in asked.judgments:
        trial = judgment.trial
        if trial.condition in ("control", "treatment") and not trial.request.repeat:
            seen[trial.judge.name, trial.category, trial.question_id, trial.wording.name][trial.condition] = trial
    sums: dict[Place, list[tuple[float, float]]] = defaultdict(list)
    for seed, ((judge, bias, *_), pair) in enumerate(seen.items()):
        if len(pair) == 2:
            sums[bias, judge].append(_moved(asked, pair["control"], pair["treatment"], seed))
    means = {at: np.sum(each, axis=0) for at, each in sums.items()}
    found: dict[Place, float] = {at: float(total / share) for at, (total, share) in means.items() if share}
    for bias in {bias for bias, _ in found}:
        found[bias,] = fmean(value for (each, *judge), value in found.items() if each == bias and judge)
    return found


def _moved(asked: Asked, control: Trial, treatment: Trial, seed: int) -> tuple[float, float]:
    """The expected effect of a pair times how often it has a direction, and how often that is."""
    side = {"for": 1.0, "against": -1.0}.get(treatment.where.get("decided", ""), np.nan)
    target = side if treatment.wording.target is None else treatment.wording.target
    (a1, p1), (a2, p2) = (_answers(asked, trial, seed) for trial in (control, treatment))
    weights, values = np.outer(p1, p2), pull(a1[:, None], a2[None, :], np.array(target))
    defined = ~np.isnan(values)
    return float(weights[defined] @ values[defined]), float(weights[defined].sum())


def _answers(asked: Asked, trial: Trial, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What a model may answer to one version, in values, and how often it does."""
    values, often = map(np.array, _chances(asked, trial.request))
    if trial.form == "choice":
        return values, often
    # The same draws for control and treatment: where nothing is planted exactly nothing comes out.
    order = values.argsort(kind="stable")
    taken = (np.random.default_rng(seed).random((DRAWN, len(often))) < often[order]).astype(float)
    pro, con = (taken @ (values[order] == side) for side in (1, -1))
    any_taken = pro + con > 0
    return (pro - con)[any_taken] / (pro + con)[any_taken], np.full(any_taken.sum(), 1 / DRAWN)


def _chances(asked: Asked, request: Request) -> tuple[list[float], list[float]]:
    """What each option of a scale or gamble counts, in order, and how often it is chosen; of arguments: taken."""
    simulator, pull, head = asked.simulator, request.pull, SITUATION.match(request.prompt)
    traits = simulator.traits_of(request.model)
    shown = [pull.values[text] for _, text in simulator.OPTION.findall(request.prompt, head.end())]
    if pull.kind == "selection":
        leanings = [simulator.leaning(request, pull, side=side) for side in shown]
        return shown, [(1 + tanh(leaning / 2)) / 2 for leaning in leanings]
    values, noise, often = sorted(shown), max(traits.answer_noise, 1e-9), traits.first_option
    felt = simulator.leaning(request, pull, values[0], values[-1])
    if pull.kind == "acceptance":
        taken = (1 + tanh(felt / (simulator.FIXED.SPREAD * noise) / 2)) / 2
        found = [taken * (x == values[-1]) + (1 - taken) * (x == values[0]) for x in values]
    else:
        answer = NormalDist(felt, noise * (values[-1] - values[0]))
        below = [answer.cdf((x + y) / 2) for x, y in pairwise(values)]
        found = [b - a for a, b in pairwise([0.0, *below, 1.0])]
    return values, [(1 - often) * p + often * (x == shown[0]) for x, p in zip(values, found, strict=True)]


def measure(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """Every estimate of the experiment from one decisions frame; `data` says where the decisions are from.

    A frame with readable replies of which none are a control and a treatment of one wording is a ValueError that counts
    what became of them. Of a judge that answers by place or letter no effect is computed, and `method` says so.
    """
    table, shares = pairs(frame), effects.habit_share(frame, data)
    by_habit = {place({"bias": "", **e.where}): e.method for e in shares if e.method.startswith(BY)}
    answered = table["readable"].any() or bool(by_habit)
    frames.require_result(frame, answered, "no test has a readable control and a readable treatment")
    estimators = (
        *(effects.bias_effect, effects.bias_placebo, effects.scale_shift, effects.scatter_change, batches, excesses),
        *(ratio_scale, effects.acceptance_rate, effects.thresholds, effects.anchor_slope),
    )
    found = protocol.measure_all(estimators, table, data, seed=seed)
    found += effects.label_effects(frame, data, seed) + label_mass("option_mass", frame, data)
    found = [replace(e, method=_reason(place(e.where), by_habit) or e.method) if isnan(e.value) else e for e in found]
    return [*found, *effects.odd_share(frame, data), *shares]


def _reason(at: tuple[str, ...], by_habit: dict[tuple[str, ...], str]) -> str:
    """The habit that takes a number of this bias and judge away, or those of all judges one of their means."""
    if len(at) > 1:
        return by_habit.get(("", *at[1:])) or by_habit.get(at, "")
    # What holds of all biases comes last, and counts.
    habits = {one[1]: by_habit[one] for one in by_habit if one[0] in ("", *at)}
    return "; ".join(f"{judge}: {habit}" for judge, habit in habits.items())
