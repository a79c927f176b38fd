"""What a reader can hold against the primary number: other choices of the model, and biases that were put in by us."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from helpers.biases.planted import Planted, planted_table, top_chances, trait
from helpers.biases.top_choice.defended import PRIMARY, self_preference
from helpers.stats.standing import tested
from helpers.types import Estimate
from helpers.words import display_name

if TYPE_CHECKING:
    from helpers.run import Asked

#: An interval more than this many times as wide as the primary one's says nothing about the choice it belongs to.
TOO_WIDE = 3.0
#: What stands beside the primary estimator, on the same scale.
COMPANIONS = {
    "family_preference_logit": "same vendor, other model",
    "third_party_log_odds": "third-party log-odds (descriptive)",
}
#: How often each judgment's ranking is drawn anew for the truth of what a fit estimates.
REDRAWN = 10
CAUTION = (
    "In the simulator are utilities; judgments also hold tastes and noise that the model of the logits does not know, "
    "which pull these towards zero: the planted value beside the found one is pulled alike. Those of self-preference "
    f"are fits to {REDRAWN} rankings for each one here, so they have an error of their own, about a third of the "
    "standard error of what was found."
)


def _primary(estimates: Sequence[Estimate], id: str = "self_preference_logit") -> dict[str, Estimate]:
    return {each.where["vendor"]: each for each in estimates if each.id == id and set(each.where) == {"vendor"}}


def sensitivity_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The primary estimator, then under each other choice, then what stands beside it (`where`: vendor, variant)."""
    primary = [
        replace(each, where={**each.where, "variant": PRIMARY})
        for each in estimates
        if each.id == "self_preference_logit" and "variant" not in each.where
    ]
    variants = [each for each in estimates if each.id == "self_preference_logit" and "variant" in each.where]
    companions = [
        replace(each, where={**each.where, "variant": variant})
        for id, variant in COMPANIONS.items()
        for each in estimates
        if each.id == id and each.data != "published"
    ]
    return [*primary, *variants, *companions]


def too_wide(estimates: Sequence[Estimate]) -> list[tuple[Estimate, float]]:
    """The sensitivity rows that are too wide to read, with how many times as wide as the primary interval they are."""
    primary = _primary(estimates)
    found = []
    for each in sensitivity_rows(estimates):
        first = primary.get(each.where["vendor"])
        times = (each.high - each.low) / (first.high - first.low) if first and first.high > first.low else 0.0
        if times > TOO_WIDE:
            found.append((each, times))
    return found


def sensitivity_words(estimates: Sequence[Estimate]) -> str:
    """Which sensitivity rows say nothing because their interval is too wide, by TOO_WIDE."""
    wide = too_wide(estimates)
    if not wide:
        return f"No interval is more than {TOO_WIDE:g} times as wide as that of the same vendor's primary estimate."
    told = "; ".join(
        f"{e.where['variant']}, {display_name(e.where['vendor'])} ({times:.1f} times)" for e, times in wide
    )
    return f"Too wide to read (interval more than {TOO_WIDE:g} times as wide as the primary one): {told}."


def sensitivity_caption(estimates: Sequence[Estimate]) -> str:
    """The caption of the table of sensitivity rows."""
    return f"The primary estimator (logits) under other reasonable choices. {sensitivity_words(estimates)}"


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """What simulated judges feel for their own vendor and for places, and what was found, as Markdown.

    A row a vendor (`self_preference_logit`) and place (`position_effect`): see `planted_table`. The logits' truths are
    fits to REDRAWN rankings of each judgment, noise drawn anew.
    """
    family = [*_primary(estimates).values()]
    families = [(family, sum(map(tested, family)))]
    return planted_table(asked, lambda: _planted_rows(asked, estimates), families, CAUTION)


def _planted_rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    places, redrawn = _places_and_rankings(asked)
    truths = {(each.id, *each.where.values()): each.value for each in self_preference(redrawn, asked.data)}
    judges = asked.experiment.judges
    felt = {judge.vendor: judge.traits.get("self_preference", 0.0) for judge in judges}
    for each in [each for each in estimates if each.data == "simulated"]:
        at = (each.id, *each.where.values())
        if each.id == "self_preference_logit" and set(each.where) == {"vendor"} and at in truths:
            vendor = each.where["vendor"]
            size = f"own vendor {felt[vendor]:+g}"
            yield Planted("self-preference", f"{display_name(vendor)} judges", size, truths[at], each)
        elif each.id == "position_effect" and int(each.where["slot"]) <= len(places):
            slot = int(each.where["slot"]) - 1
            worth = fmean([*judge.traits.get("primacy", ()), *[0.0] * len(places)][slot] for judge in judges)
            yield Planted("place", f"place {slot + 1}", f"{worth:+g}" if worth else "0", places[slot], each)


def _places_and_rankings(asked: Asked) -> tuple[np.ndarray, pd.DataFrame]:
    """By place how much more often than chance it is first, and the run's frame with REDRAWN rankings of each row."""
    rng, chances, ranks = np.random.default_rng(0), [], {}
    for judgment in asked.judgments:
        trial, noise = judgment.trial, trait(judgment, "noise", 1.0)
        felt = np.array(asked.simulator.before_noise(trial.request)[0])
        chances.append(top_chances(felt, noise) - 1 / len(felt))
        drawn = felt + noise * rng.gumbel(size=(REDRAWN, len(felt)))
        order = (-drawn).argsort(axis=1).argsort(axis=1) + 1.0
        at = (trial.question_id, trial.judge.name, trial.request.repeat)
        ranks |= {(*at, name): order[:, slot] for slot, name in enumerate(trial.shown)}
    keys = asked.frame[["question_id", "judge", "repeat", "candidate"]].astype(object)
    rank = np.array([ranks[at] for at in keys.itertuples(index=False, name=None)]).T
    ids = asked.frame["question_id"].astype(str)
    parts = [
        asked.frame.assign(question_id=ids + f" {turn}", rank=each, top=(each == 1) * 1.0, outcome="ok")
        for turn, each in enumerate(rank)
    ]
    return np.mean(chances, axis=0), pd.concat(parts, ignore_index=True)
