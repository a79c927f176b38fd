"""Experiment 5 on simulated models: bias tests that pull by known strengths, or not at all, and by noise alone.

A model knows what it feels about a case, and looks it up by what the prompt says: case, wording, the figure or ratio,
whether the treatment's words stand there, the side that it is said to have decided for, and which letter is which
option. Whatever the prompt gets wrong changes its reply.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.cognitive import effects, measured
from helpers.biases.cognitive.asked import STAGES, shown_order, trials
from helpers.biases.cognitive.averages import cells, mean_of, pairs
from helpers.config import load_experiment
from helpers.frames import decisions as tidy
from helpers.providers import simulated
from helpers.stats.intervals import estimate
from helpers.types import SITUATION, Estimate, Experiment, Judgment, Model, Question, Request, Version, Wording
from studies.calibration import speaking
from studies.calibration.cases import Case, Target, load_worlds
from studies.calibration.worlds.decisions import (
    MEAN,
    OPTIONS,
    Answerer,
    Sample,
    World,
    accepted,
    frame,
    gamble_sample,
    lost,
    names,
    scale_sample,
    selection_sample,
    truths,
)

EXPERIMENT = "cognitive_biases"
WORDINGS, REPEATS = 2, 2
#: Orders of options follow from as many seeds, so that they are drawn once and not in every replication.
SEEDS = 16
#: What the truths are drawn by.
TRUTH = 71
SAMPLES = {"scale": scale_sample, "gamble": gamble_sample, "selection": selection_sample}
#: The numbers of each kind of test, anchored or not, that have a test or an interval around 0.
IDS = {
    "anchor": ("anchoring_agnostic_excess", "anchoring_specific_excess", "anchor_slope"),
    "end": ("halo_effect_excess",),
    "gamble": ("threshold_ratio",),
    "selection": ("confirmation_bias_excess",),
}
#: Numbers that conclusions on single models rest on.
BY_JUDGE = ("bias_effect", "scale_shift", "threshold_ratio", "anchor_slope")
#: What is added to the id of a metric whose mean is held against 0 as it stands.
SUFFIX = "_published"
#: What only a treatment says.
MARK = {"scale": ", underlined twice", "acceptance": ", and the stake can be lost"}
SIDES = {1.0: "for", -1.0: "against"}
#: The task in which a decision is asked for.
DECISION = "decision"
CASE = re.compile(r"Case (\d+) of (\w+), told in way (\d+)\.")
NUMBER = re.compile(r"the figure ([0-9.e+-]+?)(?:,|\. )|([0-9.e+-]+) times the stake")
DECIDED = re.compile(r"You decided (for|against) it\.")


@dataclass(frozen=True)
class Bias:
    """One bias of a world: its name, how it is drawn, which of its numbers fail here, and which are not given."""

    name: str
    kind: str
    world: World
    broken: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The numbers that are given for it."""
        kind = self.kind if self.kind != "scale" else "end" if self.world.ended else "anchor"
        each = ("bias_effect", "bias_placebo", "scale_shift", *IDS[kind])
        return tuple(id for id in each if id not in self.refused)

    def drawn(self, rng: np.random.Generator, scenarios: int) -> Sample:
        """A sample of so many scenarios."""
        return replace(SAMPLES[self.kind](self.world, rng, scenarios, REPEATS, WORDINGS), category=self.name)


def _bias(name: str, kind: str, models: dict, broken: tuple = (), refused: tuple = (), **world: Any) -> Bias:
    answerers = tuple(Answerer(each, **fields) for each, fields in models.items())
    return Bias(name, kind, World(answerers, **world), broken, refused)


WORLDS: dict[str, tuple[str, tuple[Bias, ...]]] = {
    world: (table["words"], tuple(_bias(name, **fields) for name, fields in table["biases"].items()))
    for world, table in load_worlds(__file__).items()
}


@dataclass(frozen=True)
class Told:
    """One sample of each bias of a world; `seed` is that of the experiment, from which orders of options follow."""

    parts: tuple[Sample, ...]
    seed: int


def question_id(category: str, scenario: int) -> str:
    """The id of a scenario."""
    return f"{category}_{scenario}"


@lru_cache(maxsize=2048)
def orders(seed: int, options: int, category: str, scenarios: int, wordings: int, turns: int, task: str) -> np.ndarray:
    """(turns, scenarios, wordings) the order in which options are shown, as text.

    Drawn as the experiment draws it, which takes its time: the same few seeds serve all replications.
    """
    lot, shape = f"{seed}:option_order:{category}:{task}", (turns, scenarios, wordings)
    found = np.empty(shape, dtype=object)
    for turn, scenario, wording in np.ndindex(shape):
        order, _ = shown_order("shuffled", options, scenario, wording, turn, lot)
        found[turn, scenario, wording] = " ".join(map(str, order))
    return found


def shown(sample: Sample, seed: int, task: str = "test") -> np.ndarray:
    """(2, R, n) the order in which all models see the options of each test, by condition and repeat."""
    repeats, scenarios, wordings = sample.lot.shape[2], int(sample.scenario.max()) + 1, int(sample.wording.max()) + 1
    numbers = {"scale": OPTIONS, "acceptance": 2}.get(sample.kind, 2 if task != "test" else 2 * sample.shown[0])
    # Selections with as many arguments are counted by themselves, as the experiment counts scenarios.
    listed = sample.shown[0] if sample.kind == "selection" else np.zeros(len(sample.scenario))
    numbers, found = (
        np.broadcast_to(numbers, listed.shape).astype(int),
        np.empty((repeats + 1, len(listed)), dtype=object),
    )
    for each in np.unique(listed):
        here = listed == each
        _, place = np.unique(sample.scenario[here], return_inverse=True)
        drawn_orders = orders(seed, int(numbers[here][0]), sample.category, scenarios, wordings, repeats + 1, task)
        found[:, here] = drawn_orders[:, place, sample.wording[here]]
    return np.stack([found[:-1], found[1:]])


def first_shown(sample: Sample, seed: int) -> np.ndarray:
    """(2, R, n) the option of a scale that stands first."""
    orders = shown(sample, seed)
    return np.array([int(each.split(" ", 1)[0]) for each in orders.ravel()]).reshape(orders.shape)


def direct(drawn: Told) -> pd.DataFrame:
    """All replies as the decisions frame, without a word being said."""
    return pd.concat([_named(sample, drawn.seed) for sample in drawn.parts], ignore_index=True)


def _named(sample: Sample, seed: int) -> pd.DataFrame:
    found = frame(sample)
    scenario, wording = found["question_id"].to_numpy(), found["wording"].to_numpy()
    judges = len(sample.lot)
    order = [shown(sample, seed).ravel()] * judges
    if sample.kind == "selection":
        order = [shown(sample, seed, DECISION)[0, 0]] * judges + order
    ids = np.array([question_id(sample.category, i) for i in range(scenario.max() + 1)], dtype=object)
    names = np.array([str(i + 1) for i in range(wording.max() + 1)], dtype=object)
    return found.assign(question_id=ids[scenario], wording=names[wording], order=np.concatenate(order))


def question(sample: Sample, judge: int, scenario: int) -> Question:
    """A scenario with its wordings, as one model meets it."""
    tests = np.flatnonzero(sample.scenario == scenario)
    wordings = tuple(_wording(sample, judge, int(test)) for test in tests)
    id = question_id(sample.category, scenario)
    return Question(id, sample.category, wordings[0].versions["control"].text, wordings=wordings)


def _wording(sample: Sample, judge: int, test: int) -> Wording:
    name, value = str(sample.wording[test] + 1), float(sample.shown[judge, test])
    opening = f"Case {sample.scenario[test]} of {sample.category}, told in way {name}."
    if sample.kind == "selection":
        return Wording(name, "selection", _selecting(opening, int(value)))
    if sample.kind == "acceptance":
        sentence, asked = f"{value!r} times the stake can be won", "Do you take it?"
        options: tuple[str, ...] = ("decline", "accept")
        values: tuple[float, ...] = (0.0, 1.0)
        target, anchor, facts = 0.0, None, {"ratio": value}
    else:
        sentence, asked = f"Beside it stands the figure {value!r}", "How high is it?"
        options, values = tuple(f"{i} points" for i in range(OPTIONS)), tuple(map(float, range(OPTIONS)))
        target, facts = float(np.round(value * (OPTIONS - 1))), {}
        anchor = None if sample.world.ended else value * (OPTIONS - 1)
    versions = {
        condition: Version(f"{opening} {sentence}{mark}. {asked}", options, values)
        for condition, mark in (("control", ""), ("treatment", MARK[sample.kind]))
    }
    return Wording(name, sample.kind, versions, target, anchor, facts)


def _selecting(opening: str, listed: int) -> dict[str, Version]:
    arguments = {f"argument {i} {side} it": v for i in range(1, listed + 1) for v, side in SIDES.items()}
    asked, texts, values = "Which arguments do you take up?", tuple(arguments), tuple(arguments.values())
    found = {
        "decision": Version(f"{opening} Are you for it?", ("against", "for"), (-1.0, 1.0)),
        "control": Version(f"{opening} {asked}", texts, values),
    }
    return found | {
        f"treatment_{side}": Version(f"{opening} You decided {side} it. {asked}", texts, values)
        for side in SIDES.values()
    }


def draw(biases: Sequence[Bias], questions: int, rng: np.random.Generator) -> Told:
    """As many scenarios of each bias; orders of options as the experiment draws them."""
    seed = int(rng.integers(SEEDS))
    parts = [each.drawn(rng, questions) for each in biases]
    return Told(tuple(p if p.first is None else replace(p, first=first_shown(p, seed)) for p in parts), seed)


def measure(frame: pd.DataFrame, seed: int, beside: bool = True) -> list[Estimate]:
    """The headline numbers, by the functions that `cognitive.measure` calls, and `beside` them the published ones."""
    table = pairs(frame)
    others = [*published(table, "simulated")] if beside else []
    return [
        *effects.bias_effect(table, "simulated", seed),
        *effects.bias_placebo(table, "simulated"),
        *effects.scale_shift(table, "simulated"),
        *measured.excesses(table, "simulated", seed),
        *effects.thresholds(table, "simulated"),
        *effects.anchor_slope(table, "simulated"),
        *others,
    ]


def published(table: pd.DataFrame, data: str) -> list[Estimate]:
    """What published metrics would conclude: each with a placebo as it was reported, against 0; takes `pairs`.

    `<metric>_published`, and `anchor_slope_plain`: the slope of a2 - a1 on anchor - a1 without an instrument.
    """
    found = []
    for rows, batch in measured.made_for(table):
        if batch.placebo:
            for cell in cells(rows, batch.published(rows, "treatment"), batch.weights(rows)):
                mean = mean_of(cell, measured.NO_PAIR, 0.0)
                found.append(estimate(batch.id + SUFFIX, cell.where, mean, data, "score"))
    # The control as its own instrument is least squares.
    plain = effects.anchor_slope(table.assign(a0=table["a1"]), data)
    return found + [replace(each, id="anchor_slope_plain") for each in plain]


@cache
def targets(world: str) -> tuple[Target, ...]:
    """Of each bias the means over models, and of some numbers each model's: 0 where nothing pulls, else covered."""
    return tuple(target for bias in WORLDS[world][1] for target in _targets(bias, planted=world == "pulled"))


def _targets(bias: Bias, planted: bool) -> list[Target]:
    expected, found = truths(bias.drawn, TRUTH) if planted else {}, []
    for id in bias.ids:
        for who in (MEAN, *(names(bias.world) if id in BY_JUDGE else ())):
            where = {"bias": bias.name} | ({} if who == MEAN else {"judge": who})
            moved = planted and id != "bias_placebo"
            truth, error = expected[id, who] if moved else (0.0, 0.0)
            role = "failure" if id in bias.broken else "planted" if moved else "null"
            found.append(Target(id, where, truth, role, error=error))
    if not planted:
        metrics = [id.replace("_excess", SUFFIX) for id in bias.ids if id.endswith("_excess")]
        metrics += ["anchor_slope_plain"] if "anchor_slope" in bias.ids else []
        found += [Target(id, {"bias": bias.name}, 0.0, "failure") for id in metrics]
    return found


def spoken(drawn: Told) -> pd.DataFrame:
    """The replies of all models as the decisions frame, through prompt, reply and parser."""
    judgments: list[Judgment] = []
    for sample in drawn.parts:
        for judge in range(len(sample.world.answerers)):
            judgments += _judged(sample, judge, drawn.seed)
    return tidy(judgments)


@cache
def _settled() -> Experiment:
    return load_experiment(EXPERIMENT)


def _judged(sample: Sample, judge: int, seed: int) -> list[Judgment]:
    name = sample.world.answerers[judge].name
    # Every other model replies in JSON.
    model = Model(name, "openai", name, name, structured=judge % 2 == 0)
    experiment = replace(_settled(), judges=(model,), repeats=sample.lot.shape[2], seed=seed)
    questions = [question(sample, judge, scenario) for scenario in np.unique(sample.scenario).tolist()]
    replies = dict.fromkeys(STAGES, lambda trial: reply(sample, judge, trial.request))
    return speaking.converse(experiment, trials, questions, replies)[0]


def reply(sample: Sample, judge: int, request: Request) -> tuple[str, str]:
    """What a model writes to a prompt, and how the reply ends."""
    head = SITUATION.match(request.prompt)
    nonce, text = head[1], head[2]
    options = simulated.OPTION.findall(request.prompt, head.end())
    case = CASE.match(text)
    if case[2] != sample.category:
        raise ValueError(f"a prompt about {case[2]} where {sample.category} is asked: {text!r}")
    (test,) = map(int, np.flatnonzero((sample.scenario == int(case[1])) & (sample.wording == int(case[3]) - 1)))
    if "Are you for it?" in text:
        wanted = "for" if sample.side[judge, test] > 0 else "against"
        return _written(request, nonce, [label for label, option in options if option == wanted], False), "stop"
    decided = DECIDED.search(text)
    treated = bool(decided) if sample.kind == "selection" else MARK[sample.kind] in text
    at = (judge, int(treated), request.repeat)
    if sample.kind == "selection":
        picked, value = _selected(sample, at, test, options, decided)
    else:
        picked, value = _chosen(sample, at, test, options, text)
    side = 0.0 if sample.side is None else sample.side[judge, test]
    if lost(sample.kind, sample.world.answerers[judge], value, sample.lot[*at, test], side):
        return _unreadable(request, nonce, sample.kind == "selection", [label for label, _ in options], test)
    return _written(request, nonce, picked, sample.kind == "selection"), "stop"


def _chosen(sample: Sample, at: tuple, test: int, options: Sequence, text: str) -> tuple[list[str], float]:
    """The label of one option, and what that counts."""
    judge, treated, _ = at
    number = next(float(each) for each in NUMBER.search(text).groups() if each)
    honest, strength = sample.honest[judge, test], sample.strength[judge, treated, test]
    if sample.kind == "acceptance":
        slack = sample.world.answerers[judge].slack
        takes = accepted(number, honest, strength, sample.noise[*at, test], slack)
        return [label for label, option in options if option == ("accept" if takes else "decline")], float(takes)
    values = [float(option.split()[0]) for _, option in options]
    place = 0
    if not sample.habit[*at, test]:
        felt = min(max(honest + strength * (number - honest) + sample.noise[*at, test], 0.0), 1.0) * (OPTIONS - 1)
        place = min(range(len(values)), key=lambda i: abs(values[i] - felt))
    return [options[place][0]], values[place]


def _selected(
    sample: Sample, at: tuple, test: int, options: Sequence, matched: re.Match | None
) -> tuple[list[str], float]:
    """The labels of the arguments, those with the lowest numbers, and how far they lean."""
    counts = dict(zip(("for", "against"), sample.picked[*at, :, test].astype(int), strict=True))
    decided = "for" if sample.side[at[0], test] > 0 else "against"
    if matched and matched[1] != decided:  # told the wrong side, it takes up what is left
        listed = len(options) // 2
        counts = {side: listed - count for side, count in counts.items()}
    picked = [label for label, text in options for _, number, side, _ in [text.split()] if int(number) <= counts[side]]
    total = sum(counts.values())
    return picked, (counts["for"] - counts["against"]) / total if total else np.nan


def _written(request: Request, nonce: str, picked: Sequence[str], several: bool) -> str:
    fields = {"choices": picked} if several else {"choice": picked[0]}
    return simulated.write_verdict(request, nonce, ", ".join(picked) or "none", "I have weighed it.", **fields)


def _unreadable(request: Request, nonce: str, several: bool, labels: Sequence[str], turn: int) -> tuple[str, str]:
    """A reply without one readable decision, of several sorts."""
    sorts = [
        ("Much can be said for more than one of these.", "stop"),
        ("I would rather not decide this.", "refusal"),
        (_written(request, nonce[::-1] + "0", labels[:1], several), "stop"),
        (_written(request, nonce, labels[:1], several), "length"),
    ]
    if not several:
        sorts.append((_written(request, nonce, [" and ".join(labels[:2])], False), "stop"))
    return sorts[int(turn) % len(sorts)]


CASES = tuple(
    Case(
        *(EXPERIMENT, world, words, partial(draw, biases), direct, spoken),
        # Where something pulls, a published metric that is above 0 has told no lie.
        partial(measure, beside=world != "pulled"),
        partial(targets, world),
    )
    for world, (words, biases) in WORLDS.items()
)
