"""Calibration of experiment 5: worlds of bias tests, what is measured in them and what ought to come out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd

from helpers.biases.cognitive import effects, seed_batches, slopes, thresholds
from helpers.biases.cognitive.pairs import pairs
from helpers.calibrate.cases import Case, Target
from helpers.calibrate.cognitive_published import SUFFIX, plain_slope, published
from helpers.calibrate.cognitive_spoken import spoken
from helpers.calibrate.cognitive_told import EXPERIMENT, Told, direct, first_shown
from helpers.calibrate.worlds.decision_frames import Sample
from helpers.calibrate.worlds.decision_truths import MEAN, Truths, truths
from helpers.calibrate.worlds.decisions import Answerer, World, gamble_sample, names, scale_sample, selection_sample
from helpers.types import Estimate

WORDINGS, REPEATS = 2, 2
#: Orders of options follow from as many seeds, so that they are drawn once and not in every replication.
SEEDS = 16
#: What the truths are drawn by.
TRUTH = 71
#: The numbers of each kind of test, anchored or not, that have a test or an interval around 0.
IDS = {
    "anchor": ("anchoring_agnostic_excess", "anchoring_specific_excess", "anchor_slope"),
    "end": ("halo_effect_excess",),
    "acceptance": ("threshold_ratio",),
    "selection": ("confirmation_bias_excess",),
}
#: Numbers that conclusions on single models rest on.
BY_JUDGE = ("bias_effect", "scale_shift", "threshold_ratio", "anchor_slope")


@dataclass(frozen=True)
class Bias:
    """One bias of a world: its name, how it is drawn, which of its numbers fail here, and which are not given."""

    name: str
    sample: Callable[..., Sample]
    world: World
    broken: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The numbers that are given for it."""
        kind = {gamble_sample: "acceptance", selection_sample: "selection"}.get(self.sample)
        kind = kind or ("end" if self.world.target in ("end", "low") else "anchor")
        each = ("bias_effect", "bias_placebo", "scale_shift", *IDS[kind])
        return tuple(id for id in each if id not in self.refused)

    def drawn(self, rng: np.random.Generator, scenarios: int) -> Sample:
        """A sample of so many scenarios."""
        return replace(self.sample(self.world, rng, scenarios, REPEATS, WORDINGS), category=self.name)


#: Models that nothing pulls, but differ in all else: noise and its shape, honest answers, habits of order, losses.
UNPULLED = (
    Answerer("plain"),
    Answerer("skewed", honest=0.3, noise=0.15, skew=True, habit=0.1),
    Answerer("lossy", honest=0.65, noise=0.2, lost=0.4),
)
FAIR_GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("noisy", slack=0.6),
    Answerer("lossy", lost=0.3),
)
READERS = (Answerer("merit", merit=0.6), Answerer("plain"), Answerer("lossy", merit=0.3, lost=0.3))
PULLED = (
    Answerer("little", strength=0.1, varying=0.1),
    Answerer("much", noise=0.15, strength=0.5, varying=0.2, habit=0.05),
    Answerer("lossy", noise=0.2, strength=0.3, lost=0.3, skew=True),
)
GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("averse", threshold=0.5, strength=0.5, varying=0.15),
    Answerer("lossy", threshold=0.6, slack=0.5, strength=0.2, lost=0.2),
)
BELIEVERS = (Answerer("merit", merit=0.6, strength=0.2), Answerer("much", strength=0.6, varying=0.2), Answerer("plain"))
#: Scenarios pull all models in the same direction, control and treatment alike: strong effects, and none on average.
MIXED = (
    Answerer("mixed", strength=0.4, varying=0.3, swapped=True),
    Answerer("skewed", noise=0.2, skew=True, strength=0.2, swapped=True),
    Answerer("plain", strength=0.3, swapped=True, habit=0.1),
)
#: So little noise that no answer is cut at the ends of the scale: a cut moves the mean answer, which is a pull.
MORE = tuple(Answerer(name, noise=0.03, scatter=3.0) for name in ("plain", "other"))
LESS = tuple(replace(each, noise=0.09, scatter=1 / 3) for each in MORE)
#: Near the upper end, where noise is cut on one side; pulled to the lower one.
CUT = tuple(Answerer(name, honest=0.95, noise=0.2, scatter=1.5) for name in ("plain", "other"))

WORLDS: dict[str, tuple[str, tuple[Bias, ...]]] = {
    "nothing pulls": (
        "unequal noise, also skewed; habits of order; unequal baselines; losses not at random; merits that decide and "
        "select",
        (
            Bias("anchoring", scale_sample, World(UNPULLED)),
            Bias("halo", scale_sample, World(UNPULLED, target="end")),
            Bias("loss_aversion", gamble_sample, World(FAIR_GAMBLERS)),
            Bias("confirmation", selection_sample, World(READERS)),
        ),
    ),
    "pulled": (
        "strengths small and large that vary by scenario, with unequal noise, habits of order and losses not at random",
        (
            Bias("anchoring", scale_sample, World(PULLED)),
            Bias("halo", scale_sample, World(PULLED, target="end")),
            Bias("loss_aversion", gamble_sample, World(GAMBLERS)),
            Bias("confirmation", selection_sample, World(BELIEVERS)),
        ),
    ),
    "pulled both ways": (
        "scenarios pull all models alike, the control in one half and the treatment in the other: judges of one taste, "
        "wordings that are near-duplicates; and controls that are the target itself",
        (
            # A metric of any move is right to be above 0 here; that it is taken for a bias is its failure.
            Bias("halo", scale_sample, World(MIXED, target="end", alike=True), broken=IDS["end"]),
            Bias("anchoring", scale_sample, World(UNPULLED, target="control"), refused=("anchor_slope",)),
        ),
    ),
    "scatter alone": (
        "the treatment moves nothing, but answers to it scatter more, or less",
        (
            Bias("more", scale_sample, World(MORE, spread=0.1), broken=("bias_effect", *IDS["anchor"][:2])),
            Bias("less", scale_sample, World(LESS, spread=0.1, target="end"), broken=("bias_effect", *IDS["end"])),
        ),
    ),
    "scatter near an end": (
        "the treatment moves nothing, but scatters answers half as much again, near the end of the scale that it does "
        "not pull to: effect and shift are taken for a move, the sign test is not",
        (Bias("halo", scale_sample, World(CUT, target="low"), broken=("bias_effect", "scale_shift", *IDS["end"])),),
    ),
}


def draw(biases: Sequence[Bias], questions: int, rng: np.random.Generator) -> Told:
    """As many scenarios of each bias; orders of options as the experiment draws them."""
    seed = int(rng.integers(SEEDS))
    parts = [each.drawn(rng, questions) for each in biases]
    return Told(tuple(p if p.first is None else replace(p, first=first_shown(p, seed)) for p in parts), seed)


def measure(frame: pd.DataFrame, seed: int, beside: bool = True) -> list[Estimate]:
    """The headline numbers, by the functions that `cognitive.measure` calls, and `beside` them the published ones."""
    table = pairs(frame)
    others = [*published(table, "simulated"), *plain_slope(table, "simulated")] if beside else []
    return [
        *effects.bias_effect(table, "simulated", seed),
        *effects.bias_placebo(table, "simulated"),
        *effects.scale_shift(table, "simulated"),
        *seed_batches.excesses(table, "simulated", seed),
        *thresholds.thresholds(table, "simulated"),
        *slopes.anchor_slope(table, "simulated"),
        *others,
    ]


@cache
def known(world: str, name: str) -> Truths:
    """What is true of one bias of a world."""
    bias = next(each for each in WORLDS[world][1] if each.name == name)
    return truths(bias.drawn, TRUTH)


@cache
def targets(world: str) -> tuple[Target, ...]:
    """Of each bias the means over models, and of some numbers each model's: 0 where nothing pulls, else covered."""
    return tuple(target for bias in WORLDS[world][1] for target in _targets(world, bias))


def _targets(world: str, bias: Bias) -> list[Target]:
    planted, found = world == "pulled", []
    for id in bias.ids:
        for who in (MEAN, *(names(bias.world) if id in BY_JUDGE else ())):
            where = {"bias": bias.name} | ({} if who == MEAN else {"judge": who})
            truth, error = known(world, bias.name)[id, who] if planted and id != "bias_placebo" else (0.0, 0.0)
            role = "failure" if id in bias.broken else "planted" if planted and id != "bias_placebo" else "null"
            found.append(Target(id, where, truth, role, error=error))
    if not planted:
        metrics = [id.replace("_excess", SUFFIX) for id in bias.ids if id.endswith("_excess")]
        metrics += ["anchor_slope_plain"] if "anchor_slope" in bias.ids else []
        found += [Target(id, {"bias": bias.name}, 0.0, "failure") for id in metrics]
    return found


CASES = tuple(
    Case(
        *(EXPERIMENT, world, words, partial(draw, biases), direct, spoken),
        # Where something pulls, a published metric that is above 0 has told no lie.
        partial(measure, beside=world != "pulled"),
        partial(targets, world),
    )
    for world, (words, biases) in WORLDS.items()
)
