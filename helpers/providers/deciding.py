"""How simulated models answer bias tests: an honest answer of their own, moved where the bias is planted, and noise.

What a test measures they know as people do who have read of it (`Request.pull`): the bias that a version is made for
and where that pulls; a version that they do not know pulls nowhere. With strength s (`biases` in models.yaml):

    scale        honest + s (target - honest) + answer_noise * (high - low) * N(0, 1), then the nearest option
    acceptance   accepts if ln(ratio) > RISK + liking + s [a loss is possible] + SPREAD * answer_noise * logistic
    selection    takes an argument if EAGER + LEAN * merit * its side + s [of the side decided for] + logistic > 0
    decision     for, if merit + answer_noise * N(0, 1) > 0

`honest` (uniform over the middle HONEST of the scale), `liking` and `merit` (normal) are the model's own for each
scenario and the same in all its wordings, in control and treatment. A model whose decision and selection both follow
the merit of a scenario is not biased by that.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from helpers.providers.drawing import NORMAL, draw
from helpers.types import SITUATION, Pull, Request

if TYPE_CHECKING:
    from helpers.providers.simulated import Traits

#: The middle part of a scale in which honest answers lie.
HONEST = (0.15, 0.85)
#: Log of the ratio at which a model takes a gamble on average, how much scenarios differ in it, and the noise's scale.
RISK, LIKING, SPREAD = 0.1, 0.2, 4.0
#: Logits: of any argument, and of one whose side has the merit of one standard deviation.
EAGER, LEAN = 0.0, 0.6
OPTION = re.compile(r"^([A-Z])\) (.+)$", re.MULTILINE)
#: Replies without one readable decision, and how they end.
ODD = ("prose", "none", "two", "cut", "refused")
PROSE = "Much can be said for more than one of these, and I will leave it at that."
REFUSAL = "I would rather not decide this."


def reply(request: Request, traits: Traits) -> tuple[str, str] | None:
    """The reply to a bias test and how it ended; None where the prompt is none."""
    head = SITUATION.match(request.prompt)
    if head is None:
        return None
    options = OPTION.findall(request.prompt, head.end())
    labels, texts = [label for label, _ in options], [text for _, text in options]
    rng = random.Random(f"{request.key}:decide")
    several = "choices" in request.schema["properties"] if request.schema else "<letters>" in request.prompt
    pull = request.pull or Pull("", head[2], "scale", False, {text: float(i) for i, text in enumerate(sorted(texts))})
    if several:
        picked = [label for label, text in options if _takes(request, traits, pull, text, rng)]
    else:
        picked = [labels[_choice(request, traits, pull, texts, rng)]]
    return _odd(request, traits, head[1], several, labels) or (_written(request, head[1], picked, several), "stop")


def _choice(request: Request, traits: Traits, pull: Pull, texts: Sequence[str], rng: random.Random) -> int:
    """The place of the chosen option among the shown ones."""
    if rng.random() < traits.first_option:
        return 0
    values = [pull.values.get(text, 0.0) for text in texts]
    low, high = min(values), max(values)
    if pull.kind == "acceptance":
        felt = _gain(request, traits, pull) + SPREAD * traits.answer_noise * _logistic(rng)
        return values.index(high if felt > 0 else low)
    if pull.kind == "decision":
        return values.index(high if _merit(request, pull) + traits.answer_noise * rng.gauss(0, 1) > 0 else low)
    felt = _aim(request, traits, pull, low, high) + traits.answer_noise * (high - low) * rng.gauss(0, 1)
    return min(range(len(values)), key=lambda place: abs(values[place] - felt))


def _aim(request: Request, traits: Traits, pull: Pull, low: float, high: float) -> float:
    """Where on a scale a model answers before noise."""
    first, last = HONEST
    honest = low + (high - low) * (
        first + (last - first) * NORMAL.cdf(draw("honest", request.model.model_id, pull.scenario))
    )
    return honest + _strength(traits, pull) * ((honest if pull.target is None else pull.target) - honest)


def _gain(request: Request, traits: Traits, pull: Pull) -> float:
    """By how much the ratio of a gamble lies above that at which a model takes it, before noise."""
    liking = LIKING * draw("liking", request.model.model_id, pull.scenario)
    return math.log(pull.ratio) - (RISK + liking + _strength(traits, pull))


def _strength(traits: Traits, pull: Pull) -> float:
    return traits.biases.get(pull.bias, 0.0) if pull.treated else 0.0


def chances(request: Request, traits: Traits) -> tuple[list[float], list[float]]:
    """What each option counts in the order of its values, and how often a model chooses it (of arguments: takes it).

    Of a test of a kind "decision" it is not known here: its noise decides nothing but the side.
    """
    pull, head = request.pull, SITUATION.match(request.prompt)
    texts = [text for _, text in OPTION.findall(request.prompt, head.end())]
    if pull.kind == "selection":
        return [pull.values[text] for text in texts], [_share(_eager(request, traits, pull, text)) for text in texts]
    values, noise = sorted(pull.values[text] for text in texts), max(traits.answer_noise, 1e-9)
    low, high = values[0], values[-1]
    if pull.kind == "acceptance":
        taken = _share(_gain(request, traits, pull) / (SPREAD * noise))
        found = [taken * (x == high) + (1 - taken) * (x == low) for x in values]
    else:
        aim, sd = _aim(request, traits, pull, low, high), noise * (high - low)
        below = [NORMAL.cdf(((x + y) / 2 - aim) / sd) for x, y in pairwise(values)]
        found = [b - a for a, b in pairwise([0.0, *below, 1.0])]
    place, often = values.index(pull.values[texts[0]]), traits.first_option
    return values, [(1 - often) * p + often * (i == place) for i, p in enumerate(found)]


def _takes(request: Request, traits: Traits, pull: Pull, text: str, rng: random.Random) -> bool:
    return _eager(request, traits, pull, text) + _logistic(rng) > 0


def _eager(request: Request, traits: Traits, pull: Pull, text: str) -> float:
    """How ready a model is to take an argument, before noise."""
    side = pull.values.get(text, 0.0)
    return EAGER + LEAN * _merit(request, pull) * side + (_strength(traits, pull) if side == pull.side else 0.0)


def _merit(request: Request, pull: Pull) -> float:
    return draw("merit", request.model.model_id, pull.scenario)


def _share(felt: float) -> float:
    """How often logistic noise leaves what is felt above 0."""
    return 1 / (1 + math.exp(-max(-700.0, min(700.0, felt))))


def _logistic(rng: random.Random) -> float:
    u = rng.random() or 0.5
    return math.log(u / (1 - u))


def _written(request: Request, nonce: str, picked: Sequence[str], several: bool) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, **({"choices": picked} if several else {"choice": picked[0]})})
    return f"VERDICT-{nonce}: {', '.join(picked) or 'none'}"


def _odd(request: Request, traits: Traits, nonce: str, several: bool, labels: Sequence[str]) -> tuple[str, str] | None:
    """As often as `unreadable` says a reply without one readable decision; None otherwise."""
    rng = random.Random(f"{request.key}:fault")
    if rng.random() >= traits.unreadable:
        return None
    kind = rng.choice(ODD)
    if kind in ("none", "two") and not several:
        said = "none" if kind == "none" else " and ".join(rng.sample(list(labels), 2))
        return (json.dumps({"id": nonce, "choice": said}) if request.schema else f"VERDICT-{nonce}: {said}"), "stop"
    return {"cut": (f"VERDICT-{nonce[:4]}", "length"), "refused": (REFUSAL, "refusal")}.get(kind, (PROSE, "stop"))
