"""Samples of worlds of rankings as the frames and arrays that the estimators read."""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.calibrate.worlds.listwise import CATEGORIES, Draw, World, judged, latent
from helpers.stats.panel import Panel


def hinted(
    world: World,
    questions: int,
    rng: np.random.Generator,
    effects: dict[str, float],
    spread: float = 0.0,
    named: float | None = None,
    repeats: int = 1,
) -> pd.DataFrame:
    """The listwise frame of a blind group and one for each hint, on the same questions, answers, tastes and orders.

    `effects` maps hints to the utility that they add to answers of the judge's own vendor, `spread` is the sd of that
    over questions (mean 0). `named` adds the arm `swapped`: the utility of an answer under the own vendor's name, the
    names being dealt out anew. Every judgment is made `repeats` times.
    """
    vendor, felt = world.vendor_of, latent(world, questions, rng)
    own = vendor[:, None] == vendor
    turns = range(repeats)
    parts = [frame(judged(world, felt, rng)).assign(named=None, repeat=turn) for turn in turns]
    for hint, effect in effects.items():
        size = effect + spread * rng.standard_normal((questions, 1, 1))
        for turn in turns:
            told = frame(judged(world, felt, rng, size * own))
            parts.append(told.assign(condition=hint, named=None, repeat=turn))
    for turn in turns if named is not None else ():
        names = rng.permuted(np.broadcast_to(vendor, felt.utility.shape), axis=2)
        sample = judged(world, felt, rng, named * (names == vendor[:, None]))
        arm = frame(sample).assign(condition="swapped", named=np.array(world.vendors)[names].ravel())
        parts.append(arm.assign(repeat=turn))
    return pd.concat(parts, ignore_index=True)


def panel(sample: Draw) -> Panel:
    """The sample as the arrays that `fit_panel` takes."""
    world = sample.world
    question, judge = np.nonzero(sample.valid)
    candidate = sample.ranking[question, judge]
    kept, cluster = np.unique(question, return_inverse=True)
    of_judge = world.vendor_of[judge][:, None, None] == np.arange(len(world.vendors) if world.longer else 0)
    return Panel(
        candidate=candidate,
        slot=np.take_along_axis(sample.slot[question, judge], candidate, axis=1),
        own_vendor=world.vendor_of[candidate] == world.vendor_of[judge][:, None],
        own_model=candidate == judge[:, None],
        judge=judge,
        cluster=cluster,
        category=sample.category[question],
        covariates=np.log(sample.length[question[:, None], candidate])[:, :, None] * of_judge,
        candidates=world.names,
        judges=world.names,
        judge_vendors=tuple(world.vendors[v] for v in world.vendor_of),
        categories=CATEGORIES,
        covariate_names=tuple(f"length[{vendor}]" for vendor in world.vendors if world.longer),
        clusters=len(kept),
        unused=int((~sample.valid).sum()),
    )


def frame(sample: Draw) -> pd.DataFrame:
    """The sample as the listwise frame: a row a judgment and candidate, lost judgments with NaN ranks."""
    world = sample.world
    questions, judges, size = sample.ranking.shape
    rank = np.argsort(sample.ranking, axis=2) + 1.0
    rank[~sample.valid] = np.nan
    names, vendors = np.array(world.names), np.array(world.vendors)[world.vendor_of]
    tiers = np.tile(world.tiers, len(world.vendors))
    question, judge, candidate = (axis.ravel() for axis in np.indices((questions, judges, size)))
    rank, slot = rank.ravel(), sample.slot.ravel()
    return pd.DataFrame(
        {
            "experiment": "mt_bench_blind",
            "question_id": np.char.mod("q%05d", question),
            "category": np.array(CATEGORIES)[sample.category[question]],
            "judge": names[judge],
            "judge_vendor": vendors[judge],
            "judge_tier": tiers[judge],
            "judge_model": names[judge],
            "candidate": names[candidate],
            "candidate_vendor": vendors[candidate],
            "candidate_tier": tiers[candidate],
            "candidate_model": names[candidate],
            "condition": "none",
            "repeat": 0,
            "slot": slot,
            "label": np.array(list("ABCDEFGHIJKLMNOP"))[slot],
            "rank": rank,
            "score": np.nan,
            "top": np.where(np.isnan(rank), np.nan, rank == 1),
            "outcome": np.where(np.isnan(rank), "invalid_ranking", "ok"),
            "contradicts": False,
            "own_vendor": vendors[judge] == vendors[candidate],
            "own_model": judge == candidate,
            "length": np.broadcast_to(sample.length[:, None, :], sample.ranking.shape).ravel(),
        }
    )
