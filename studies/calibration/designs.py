"""What one run of a design gives: simulated judges of known truth, so many questions, judges and repeats.

How much questions, tastes and noise vary here: sizes fitted to published rates in experiments 1 and 2, else chosen.
`recuse power` draws from these where there is no pilot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from helpers.biases.hinting import paired, paired as hint_names
from helpers.biases.position import both_orders, measured
from helpers.biases.position.both_orders import pairs as game_pairs
from helpers.biases.self_preference import items as accuracy, measured as self_preference_measured
from helpers.biases.top_choice import defended, rates
from helpers.config import load_config
from helpers.power import enough
from helpers.types import Estimate
from helpers.words.numbers import load_numbers
from studies.calibration.experiments import cognitive_biases as bias_tests
from studies.calibration.worlds import decisions, games, listwise, pairs

#: As fitted to the published rates of experiment 1: qualities, tastes and self-preferences of three vendors.
FITTED = listwise.World(self_preference=(-0.05, 0.80, 1.24))
READERS = pairs.PairWorld(damage={2: 0.6}, damage_spread=0.5)
#: Of the judges of games and of the models that answer tests: quiet and noisy ones by turns.
NOISES = (1.0, 0.6, 1.5, 1.0)
SCATTERS = (0.05, 0.1, 0.15, 0.2)
#: The built-in biases: how they are answered and where they pull.
BIASES = {
    "anchoring": (decisions.scale_sample, "anchor"),
    "authority": (decisions.scale_sample, "end"),
    "bandwagon": (decisions.scale_sample, "end"),
    "confirmation": (decisions.selection_sample, "anchor"),
    "halo": (decisions.scale_sample, "end"),
    "judge_anchoring": (decisions.scale_sample, "anchor"),
    "loss_aversion": (decisions.gamble_sample, "anchor"),
}
WORDINGS = 3
DATA = "simulated"
#: A number has a spread where at least this share of the runs gives it with an interval.
SHARE_GIVEN = 0.8
#: What can be measured in one run: the numbers that a measure gives, and the measure.
Measures = Mapping[tuple[str, ...], Callable[[], Iterable[Estimate]]]
#: Of questions, judges, repeats and chance: one run.
Draw = Callable[[int, int, int, np.random.Generator], Measures]


def _first_judges(world: listwise.World, judges: int) -> list[str]:
    """So many judges, the vendors in turn."""
    tiers = len(world.tiers)
    return [name for tier in range(tiers) for name in world.names[tier::tiers]][:judges]


def _top_choice(questions: int, judges: int, repeats: int, rng: np.random.Generator) -> Measures:
    felt = listwise.latent(FITTED, questions, rng)
    parts = [listwise.frame(listwise.judged(FITTED, felt, rng)).assign(repeat=turn) for turn in range(repeats)]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame[frame["judge"].isin(_first_judges(FITTED, judges))]
    fitted = ("self_preference_logit", "self_preference_effect", "own_model_logit")
    return {
        ("self_bias", "average_self_bias"): lambda: rates.self_bias(frame, DATA),
        ("excess_self_preference",): lambda: defended.excess_self_preference(frame, DATA),
        ("third_party_log_odds",): lambda: defended.third_party_log_odds(frame, DATA),
        fitted: lambda: defended.self_preference(frame, DATA),
        ("position_effect",): lambda: defended.position_effect(frame, DATA),
    }


def _hinting(questions: int, judges: int, repeats: int, rng: np.random.Generator) -> Measures:
    hints = dict.fromkeys(paired.CONFIRMATORY, 0.0)
    frame = listwise.hinted(FITTED, questions, rng, hints, named=0.0, repeats=repeats)
    frame = frame[frame["judge"].isin(_first_judges(FITTED, judges))]
    return {
        ("hint_effect", "hint_effect_90"): lambda: paired.hint_effect(frame, DATA, 1, 5.0),
        ("name_effect",): lambda: hint_names.name_effect(frame, DATA, 1),
    }


def _self_preference(questions: int, judges: int, repeats: int, rng: np.random.Generator) -> Measures:
    arms = [pairs.BEFORE, *(("none", 0, turn) for turn in range(1, max(2, repeats))), ("wrong", 2, 0)]
    table = pairs.sample(READERS, rng, arms, articles=questions)
    table = table[table["judge"].isin(pairs.NAMES[:judges])]
    return {
        ("obfuscation_effect", "obfuscation_effect_pp"): lambda: self_preference_measured.obfuscation_effect(
            table, DATA, 1
        ),
        ("obfuscation_against_other_author",): lambda: self_preference_measured.against_other_author(table, DATA),
        ("evaluator_quality_gap",): lambda: self_preference_measured.evaluator_quality_gap(table, DATA, 1),
        ("accuracy_harmful",): lambda: accuracy.accuracies(table, DATA),
    }


def _position(questions: int, judges: int, repeats: int, rng: np.random.Generator) -> Measures:
    who = tuple(games.GameJudge(f"judge {i + 1}", noise=NOISES[i % len(NOISES)]) for i in range(judges))
    frame, _ = games.sample_frame(games.GameWorld(who), rng, questions, repeats, identical=questions)
    table = game_pairs(frame)
    return {
        ("first_position_effect",): lambda: both_orders.first_position_effect(table, DATA, 1),
        # The exact McNemar test needs the shares of both places.
        ("first_position_effect", "first_win_rate"): lambda: both_orders.signed_rates(table, DATA),
        ("excess_flip",): lambda: measured.excess_flip(table, DATA, 1),
        ("identical_pair_effect",): lambda: measured.control_arms(table, DATA, 1),
    }


def _cognitive(questions: int, judges: int, repeats: int, rng: np.random.Generator) -> Measures:
    noises = [SCATTERS[i % len(SCATTERS)] for i in range(judges)]
    who = tuple(decisions.Answerer(f"model {i + 1}", noise=sd, varying=0.1, merit=0.3) for i, sd in enumerate(noises))
    parts = []
    for bias, (draw, target) in BIASES.items():
        sample = draw(decisions.World(who, target=target), rng, questions, repeats, WORDINGS)
        parts.append(decisions.frame(sample).assign(category=bias))
    frame = pd.concat(parts, ignore_index=True)
    return {load_numbers("cognitive").headline: lambda: bias_tests.measure(frame, 1, beside=False)}


#: How a bias module's numbers are drawn, with how many judges by default and at most.
WORLDS: dict[str, tuple[Draw, int, int]] = {
    "top_choice": (_top_choice, 6, 6),
    "hinting": (_hinting, 6, 6),
    "self_preference": (_self_preference, 4, 4),
    "position": (_position, 4, 40),
    "cognitive": (_cognitive, 4, 40),
}


def world_of(name: str) -> tuple[Draw, int, int]:
    """How the numbers of experiment `name` are drawn, with how many judges by default and at most."""
    bias = load_config(name).bias
    if bias not in WORLDS:
        raise ValueError(f"no simulated world for {name}; use a pilot (there are worlds for {', '.join(WORLDS)})")
    return WORLDS[bias]


def simulated(
    name: str,
    questions: int,
    judges: int | None = None,
    repeats: int | None = None,
    draws: int = 200,
    seed: int = 20,
    ids: Sequence[str] = (),
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Estimate]:
    """Each number of experiment `name` over `draws` simulated runs: `value` is its mean, `se` its standard deviation.

    `judges` None: as many as the world has by default; more than it can have, and fewer than 10 questions, are a
    ValueError. `repeats` None: as in config.yaml. The Monte-Carlo error of `se` is se / sqrt(2 (draws - 1)). A number
    that fewer than 80 % of the runs give with an interval has none. `ids`: measure only what gives these numbers.
    `progress` wraps the turns, as tqdm does.
    """
    draw, usual, most = world_of(name)
    count, times = judges or usual, repeats or load_config(name).repeats
    if not 1 <= count <= most:
        raise ValueError(f"{count} judges: the simulated world of {name} has 1 to {most}; a pilot may have any number")
    found: dict[tuple[str, tuple], list[Estimate]] = {}
    for turn in progress(range(draws)):
        for ids_measured, measure in draw(enough(questions), count, times, np.random.default_rng([seed, turn])).items():
            for each in measure() if not ids or set(ids_measured) & set(ids) else ():
                found.setdefault((each.id, tuple(each.where.items())), []).append(each)
    return [_spread(each, draws) for each in found.values()]


def _spread(each: Sequence[Estimate], draws: int) -> Estimate:
    """One number over many runs."""
    finite = [one for one in each if math.isfinite(one.low)]
    if len(finite) < max(3, SHARE_GIVEN * draws):
        why = f"given in {len(finite)} of {draws} simulated runs"
        return replace(each[0], value=math.nan, low=math.nan, high=math.nan, se=math.nan, p=math.nan, method=why)
    values = np.array([one.value for one in finite])
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    n, clusters = (round(float(np.mean([getattr(one, key) for one in finite]))) for key in ("n", "clusters"))
    reach = sd * float(stdtrit(clusters - 1, 0.975))
    found = replace(finite[0], value=mean, low=mean - reach, high=mean + reach, se=sd, n=n, clusters=clusters)
    return replace(found, method=f"{finite[0].method}; over {draws} simulated runs")
