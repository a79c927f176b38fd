"""Experiment 4 the long way round: every verdict is read from a reply to the prompt that the experiment itself writes.

The judge sees two texts and says what the sample holds for them: who wrote the text shown as A is read from the prompt,
as are the question and whether both texts are one. Every other judge replies in JSON, the rest in the text form.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd

from helpers import verdicts
from helpers.biases.position import effects, flips, winrates
from helpers.biases.position.asking import answers, trials
from helpers.biases.position.classes import share
from helpers.biases.position.pairs import LABELS, SIGNIFICANT, comparisons, pairs, valid
from helpers.config import load_experiment
from helpers.datasets.arena_questions import style_of
from helpers.frames import games as tidy
from helpers.stats.estimates import estimate
from helpers.stats.intervals import clustered_mean
from helpers.types import Completion, Estimate, Experiment, Judgment, Model, Request, Trial
from studies.calibration.cases import Case, Target
from studies.calibration.worlds.games import (
    BASELINE,
    CANDIDATE,
    CONTROL_LIMIT,
    IDENTICAL,
    NONE,
    SIDES,
    STYLED,
    GameJudge,
    Games,
    GameWorld,
    features,
    frame,
    questions,
    sample,
    text,
    truths,
)

ASKED = re.compile(r"matter (\d+)\?")
SHOWN = re.compile(r"<<<ANSWER ([AB]) (\w+)>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
SIGNED = re.compile(r"by (\w+) (\d+)\Z")
LOST = ("", "Both have their merits.", "VERDICT-beef: A>B", '{"id": "beef", "justification": "", "verdict": "A>B"}')


def spoken(made: Games) -> pd.DataFrame:
    """The games frame of a sample, with the style of its answers, through prompts, replies and parser."""
    names = tuple(dict.fromkeys(judge for judge, *_ in made.verdicts))
    repeats = 1 + max(repeat for *_, repeat in made.verdicts)
    experiment, asked = _experiment(names, repeats), questions(made)
    said: dict[str, Judgment] = {}
    answering = trials("answers", experiment, asked, said)
    said |= _read(answering, (_answer(trial.request, made) for trial in answering))
    judging = trials("judging", experiment, asked, said)
    heard = _read(judging, (_verdict(trial.request, made) for trial in judging))
    written = answers(experiment, asked, said)
    frame = tidy([replace(heard[trial.request.key], trial=trial) for trial in judging], written)
    style = {
        (id, f"{side}_{name}"): count
        for (id, side), answer in written.items()
        for name, count in zip(("length", "headers", "lists", "bold"), style_of(answer.text).values(), strict=True)
    }
    return frame.assign(**{name: [style[id, name] for id in frame["question_id"]] for name in STYLED})


@cache
def _experiment(names: tuple[str, ...], repeats: int) -> Experiment:
    run = load_experiment("arena_hard_position_bias", controls=[IDENTICAL], control_limit=CONTROL_LIMIT)
    models = {name: Model(name, "simulated", name, name) for name in SIDES}
    judges = tuple(
        Model(name, "simulated", name, name, structured=bool(number % 2)) for number, name in enumerate(names)
    )
    return replace(
        run,
        judges=judges,
        candidates=(models[CANDIDATE],),
        baselines={"other": models[BASELINE]},
        repeats=repeats,
    )


def _read(asked: Iterable[Trial], replies: Iterable[str]) -> dict[str, Judgment]:
    found = {}
    for trial, said in zip(asked, replies, strict=True):
        reply = Completion(trial.request.key, "ok", said, "stop", model=trial.judge.model_id)
        found[trial.request.key] = verdicts.read(trial, reply)
    return found


def _answer(request: Request, made: Games) -> str:
    number, side = int(ASKED.search(request.prompt)[1]), request.model.name
    return text(number, side, made.words[side][number], made.marks[side][number])


def _verdict(request: Request, made: Games) -> str:
    """What a judge says of the two texts in its prompt."""
    (one, nonce, first), (two, _, second) = SHOWN.findall(request.prompt)
    number = int(ASKED.search(request.prompt)[1])
    sides = [SIGNED.search(each) for each in (first, second)]
    if (one, two) != ("A", "B") or {side[2] for side in sides} != {str(number)}:
        raise ValueError(f"the prompt of question {number} shows {one} and {two}, of {sides[0][2]} and {sides[1][2]}")
    # Identical texts have no order; they stand with those that show the baseline first.
    condition, stands = (IDENTICAL, BASELINE) if first == second else (NONE, sides[0][1])
    verdict = made.verdicts[request.model.name, condition, stands, request.repeat][number]
    if verdict < 0:
        return LOST[(number + request.repeat) % len(LOST)]
    reason = f"My own solution first.\n\nThen: VERDICT-{nonce} comes last."
    if request.schema is not None:
        return json.dumps({"id": nonce, "justification": reason, "verdict": LABELS[verdict]})
    return f"{reason}\n\nVERDICT-{nonce}: {LABELS[verdict]}"


NAME = "arena_hard_position_bias"
WINS = [{"style": style, "weight": weight} for style in ("raw", "controlled") for weight in ("1", "3")]
#: What published analyses take for a bias: verdicts that do not mirror, and flips beyond those foreseen from stability.
PUBLISHED = ("significant_bias", "flip_rate", "flips_beyond_stability")
#: Judges that favour no place on any question, but differ in all else.
FAIR = (
    GameJudge("steady", sharpness=1.5, noise=0.5),
    GameJudge("noisy", sharpness=0.4, noise=2.0, strong=0.6),
    GameJudge("coin", sharpness=0.0, taste=0.0, tie=0.0),
    GameJudge("hesitant", tie=1.5, strong=3.0),
)
#: 0.32518 of a logit was solved for a first-position effect of 10 pp.
PLACED = (
    GameJudge("primacy", primacy=0.32518, strong=0.6),
    GameJudge("letter", letter=-0.5, strong=3.0),
    GameJudge("wobbly", wobble=1.0),
    GameJudge("unequal", primacy=0.6, wobble=0.5, noise=1.5, strong=0.5, sharpness=2.0),
)
LOSSY = (
    GameJudge("fair", lost_candidate=0.25, lost_baseline=0.03),
    GameJudge("noisy", sharpness=0.4, noise=2.0, strong=0.6, lost_candidate=0.02, lost_baseline=0.15),
    GameJudge("primed", primacy=0.5, lost_candidate=0.2),
)
FOND = (
    GameJudge("wordy", length_bias=0.8),
    GameJudge("terse", length_bias=-0.4, strong=0.6, noise=1.5),
    GameJudge("wordy_primed", length_bias=0.8, primacy=0.5),
)


@dataclass(frozen=True)
class _World:
    """A world, how often each order is asked, whether win rates are measured and what is published shown beside."""

    world: GameWorld
    words: str
    repeats: int = 2
    published: bool = False
    wins: bool = True


WORLDS = {
    "fair": _World(
        GameWorld(FAIR, lead=0.0),
        "Nobody favours a place and answers are equally good on average; judges differ in sharpness, noise and ties.",
        published=True,
    ),
    "places": _World(
        GameWorld(PLACED),
        "Judges favour a place, a letter, or a place that differs by question; one has sharper eyes and more noise.",
        wins=False,
    ),
    "losses": _World(
        GameWorld(LOSSY),
        "Verdicts are lost by who won, up to 25 % of those for the candidate against 3 %.",
    ),
    "twins": _World(
        GameWorld((*FAIR[:2], replace(PLACED[0], taste=1.0), replace(PLACED[2], taste=1.0)), shared=0.8, twins=0.5),
        "Half of the questions have near-duplicate answers, and judges share most of their tastes.",
    ),
    "style": _World(
        GameWorld(FOND, lead=0.4, longer=1.0),
        "Judges reward or punish length, and most of the candidate's answers are the longer ones.",
    ),
    "once": _World(
        GameWorld((FAIR[0], FAIR[1], PLACED[0], PLACED[2])),
        "Each order is asked once, as where verdicts are published: exact McNemar tests, no excess of flips.",
        repeats=1,
        wins=False,
    ),
}


def _draw(at: _World, questions: int, rng: np.random.Generator) -> Games:
    return sample(at.world, questions, rng, at.repeats)


def _measure(at: _World, verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers of every judge, and in one world what published analyses take for a bias."""
    table, data = pairs(verdicts), "simulated"
    found = [*effects.first_position_effect(table, data, seed), *effects.first_win_rate(table, data)]
    found += flips.control_arms(table, data, seed)
    if at.repeats > 1:
        found += flips.excess_flip(table, data, seed)
    if at.wins:
        found += winrates.win_rate(table, data, features(verdicts))
    if at.published:
        found += flip_rates(table, data)
    return found


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
    for where, rows in comparisons(flips.winners(table)):
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
        known, where = truths(at.world, judge.name), {"judge": judge.name, "candidate": CANDIDATE}
        fair = math.isclose(judge.primacy + judge.letter, 0.0)
        lossy = bool(judge.lost_candidate or judge.lost_baseline)
        for id in ("first_position_effect", "first_win_rate", "identical_pair_effect"):
            found.append(_target(id, where, known[id,], fair, 0.5 if id == "first_win_rate" else 0.0))
        if at.repeats > 1:
            found.append(_target("excess_flip", where, known["excess_flip",], fair and not judge.wobble, 0.0))
        if at.wins:
            for place in WINS:
                truth = known["win_rate", place["style"], place["weight"]]
                target = _target("win_rate", {**where, **place}, truth, not at.world.lead, 0.5)
                # What a win rate would be if no verdict were lost.
                found.append(replace(target, role="failure") if lossy else target)
                if at.world.longer and place["style"] == "raw":
                    # Taken for what answers of one style would get.
                    equal = known["win_rate", "controlled", place["weight"]][0]
                    found.append(Target("win_rate", {**where, **place}, equal, "failure", 0.5))
        found += [Target(id, where, 0.0, "failure") for id in PUBLISHED if at.published]
    return tuple(found)


def _target(id: str, where: dict[str, str], known: tuple[float, float], nothing: bool, null: float) -> Target:
    if nothing:
        return Target(id, where, null, "null", null)
    return Target(id, where, known[0], "planted", null, known[1])


def _case(name: str) -> Case:
    at = WORLDS[name]
    return Case(NAME, name, at.words, partial(_draw, at), frame, spoken, partial(_measure, at), partial(_targets, name))


CASES: tuple[Case, ...] = tuple(_case(name) for name in WORLDS)
