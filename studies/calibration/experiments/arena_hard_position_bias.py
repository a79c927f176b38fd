"""Experiment 4 on simulated judges: places, letters and length planted in judges that are unequal otherwise.

One candidate against one baseline, both orders twice, and the candidate's answer against itself on the first 250
questions; a world of its own has each order once, as published verdicts do.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd

from helpers.biases.position import both_orders, measured
from helpers.biases.position.asked import answers, trials
from helpers.biases.position.both_orders import LABELS, SIGNIFICANT, comparisons, pairs, share, valid
from helpers.config import load_experiment
from helpers.datasets.answers import style_of
from helpers.frames import games as tidy
from helpers.providers import simulated
from helpers.stats.intervals import clustered_mean, estimate
from helpers.types import Estimate, Experiment, Model, Trial
from studies.calibration import speaking
from studies.calibration.cases import Case, Target, load_worlds
from studies.calibration.worlds import games
from studies.calibration.worlds.games import BASELINE, CANDIDATE, IDENTICAL, NONE, GameJudge, Games, GameWorld, truths

NAME = "arena_hard_position_bias"
WINS = [{"style": style, "weight": weight} for style in ("raw", "controlled") for weight in ("1", "3")]
#: What published analyses take for a bias: verdicts that do not mirror, and flips beyond those foreseen from stability.
PUBLISHED = ("significant_bias", "flip_rate", "flips_beyond_stability")
ASKED = re.compile(r"matter (\d+)\?")
SIGNED = re.compile(r"by (\w+) (\d+)\Z")


@dataclass(frozen=True)
class World:
    """Judges and questions, how often each order is asked, whether win rates and published readings are measured."""

    world: GameWorld
    words: str
    repeats: int = 2
    published: bool = False
    wins: bool = True

    def draw(self, questions: int, rng: np.random.Generator) -> Games:
        """A sample of so many questions."""
        return games.sample(self.world, questions, rng, self.repeats)

    def measure(self, verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
        """The headline numbers of every judge, and in one world what published analyses take for a bias."""
        table, data = pairs(verdicts), "simulated"
        rates = both_orders.signed_rates(table, data)
        found = both_orders.first_position_effect(table, data, seed)
        found += [each for each in rates if each.id == "first_win_rate"]
        found += measured.control_arms(table, data, seed)
        if self.repeats > 1:
            found += measured.excess_flip(table, data, seed)
        if self.wins:
            found += measured.win_rate(table, data, games.features(verdicts))
        return found + (flip_rates(table, data) if self.published else [])


def _world(table: dict) -> World:
    options = {name: table[name] for name in ("words", "repeats", "published", "wins") if name in table}
    judges = tuple(GameJudge(name, **fields) for name, fields in table["judges"].items())
    rest = {name: value for name, value in table.items() if name not in options and name != "judges"}
    return World(GameWorld(judges, **rest), **options)


WORLDS = {name: _world(table) for name, table in load_worlds(__file__).items()}


def flip_rates(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Flips taken for a bias, `where`: judge, candidate. Takes `pairs`.

    `significant_bias` of readable pairs, as everywhere. `flip_rate`: how often the two orders name different winners,
    readable pairs. `flips_beyond_stability`: that less 1 - (r^2 + (1 - r)^2), r being the share of the more frequent
    verdict in the repeats of an order.
    """
    found = []
    for where, rows in comparisons(valid(table)):
        flipped = clustered_mean(1.0 - rows["agree"], rows["question_id"], null=0.0)
        found.append(estimate("flip_rate", where, flipped, data))
        found.append(estimate("significant_bias", where, share(rows, rows["kind"] == SIGNIFICANT), data))
    for where, rows in comparisons(measured.winners(table)):
        one, two = (rows[[f"{who}_{game}" for who in ("baseline", "tie", "candidate")]].to_numpy() for game in (1, 2))
        read = (one.sum(axis=1) > 1) & (two.sum(axis=1) > 1)
        one, two = one[read], two[read]
        asked = one.sum(axis=1), two.sum(axis=1)
        stable = np.mean([each.max(axis=1) / n for each, n in zip((one, two), asked, strict=True)])
        foreseen = 1 - (stable**2 + (1 - stable) ** 2)
        values = 1 - (one * two).sum(axis=1) / (asked[0] * asked[1]) - foreseen
        beyond = clustered_mean(values, np.arange(len(values)), null=0.0)
        found.append(estimate("flips_beyond_stability", where, beyond, data, "pp"))
    return found


@cache
def _targets(name: str) -> tuple[Target, ...]:
    at, found = WORLDS[name], []
    for judge in at.world.judges:
        expected, where = truths(at.world, judge.name), {"judge": judge.name, "candidate": CANDIDATE}
        fair = math.isclose(judge.primacy + judge.letter, 0.0)
        lossy = bool(judge.lost_candidate or judge.lost_baseline)
        for id in ("first_position_effect", "first_win_rate", "identical_pair_effect"):
            found.append(_target(id, where, expected[id,], fair, 0.5 if id == "first_win_rate" else 0.0))
        if at.repeats > 1:
            found.append(_target("excess_flip", where, expected["excess_flip",], fair and not judge.wobble, 0.0))
        for place in WINS if at.wins else ():
            truth = expected["win_rate", place["style"], place["weight"]]
            target = _target("win_rate", {**where, **place}, truth, not at.world.lead, 0.5)
            # What a win rate would be if no verdict were lost.
            found.append(replace(target, role="failure") if lossy else target)
            if at.world.longer and place["style"] == "raw":
                # Taken for what answers of one style would get.
                equal = expected["win_rate", "controlled", place["weight"]][0]
                found.append(Target("win_rate", {**where, **place}, equal, "failure", 0.5))
        found += [Target(id, where, 0.0, "failure") for id in PUBLISHED if at.published]
    return tuple(found)


def _target(id: str, where: dict[str, str], truth: tuple[float, float], nothing: bool, null: float) -> Target:
    if nothing:
        return Target(id, where, null, "null", null)
    return Target(id, where, truth[0], "planted", null, truth[1])


def spoken(made: Games) -> pd.DataFrame:
    """The games frame of a sample, with the style of its answers, through prompts, replies and parser.

    A judge sees two texts and says what the sample holds for them: who wrote which text is read from the prompt, as are
    the question and whether both texts are one.
    """
    names = tuple(dict.fromkeys(judge for judge, *_ in made.verdicts))
    repeats = 1 + max(repeat for *_, repeat in made.verdicts)
    experiment, asked = _experiment(names, repeats), games.questions(made)
    replies = {stage: partial(reply, made) for stage, reply in (("answers", _answer), ("judging", _verdict))}
    judgments, verdicts = speaking.converse(experiment, trials, asked, replies)
    written = answers(experiment, asked, verdicts)
    frame = tidy(judgments, written)
    style = {
        (id, f"{side}_{name}"): count
        for (id, side), answer in written.items()
        for name, count in zip(measured.STYLE, style_of(answer.text).values(), strict=True)
    }
    return frame.assign(**{name: [style[id, name] for id in frame["question_id"]] for name in games.STYLED})


@cache
def _experiment(names: tuple[str, ...], repeats: int) -> Experiment:
    run = load_experiment(NAME, controls=[IDENTICAL], control_limit=games.CONTROL_LIMIT)
    candidate, baseline = (Model(name, "simulated", name, name) for name in games.SIDES)
    judges = speaking.models(names)
    settings = {**run.extra, "baselines": {"other": baseline}}
    return replace(run, judges=judges, candidates=(candidate,), extra=settings, repeats=repeats)


def _answer(made: Games, trial: Trial) -> str:
    number, side = int(ASKED.search(trial.request.prompt)[1]), trial.request.model.name
    return games.text(number, side, made.words[side][number], made.marks[side][number])


def _verdict(made: Games, trial: Trial) -> str:
    """What a judge says of the two texts in its prompt."""
    request, shown = trial.request, simulated.read_prompt(trial.request.prompt)
    number = int(ASKED.search(shown.asked)[1])
    sides = [SIGNED.search(each) for each in shown.texts]
    if shown.labels != ["A", "B"] or {side[2] for side in sides} != {str(number)}:
        raise ValueError(f"question {number}: shown are {shown.labels}, of {[side[2] for side in sides]}")
    # Identical texts have no order; they stand with those that show the baseline first.
    condition, stands = (IDENTICAL, BASELINE) if len(set(shown.texts)) == 1 else (NONE, sides[0][1])
    verdict = made.verdicts[request.model.name, condition, stands, request.repeat][number]
    if verdict < 0:
        return speaking.UNREAD[(number + request.repeat) % len(speaking.UNREAD)]
    label, reason = LABELS[verdict], f"My own solution first.\n\nThen: VERDICT-{shown.nonce} comes last."
    return simulated.write_verdict(request, shown.nonce, label, reason, justification=reason, verdict=label)


CASES = tuple(
    Case(NAME, name, at.words, at.draw, games.frame, spoken, at.measure, partial(_targets, name))
    for name, at in WORLDS.items()
)
