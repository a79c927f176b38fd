"""Models that we make up: candidates of chosen skill and style, judges of chosen bias. They see the Request only.

A candidate knows the built-in questions' answer points and writes down some of them in its vendor's manner; a judge
counts the points in each text, recognizes manners, and ranks by

    U = sharpness * quality + taste + self_preference [own vendor] + primacy[slot] + verbosity * z(length) + Gumbel

(statistics.md B.4, read from text). Noise is drawn from the request's key: repeats differ, reruns do not.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from statistics import NormalDist, fmean, pstdev

from helpers.providers import Sent
from helpers.providers.manners import MANNERS, NEUTRAL, vendor_of
from helpers.types import Completion, Model, Question, Request, Usage

NORMAL = NormalDist()
#: One point more or less of a question's points is about this much quality (in sd of answers to a question).
QUALITY_SCALE = 1.5
ANSWER = re.compile(r"<<<ANSWER (\w+) ([0-9a-f]{8})>>>\n(.*?)\n<<<END \1 \2>>>", re.DOTALL)
NONCE = re.compile(r"RANKING-([0-9a-f]{8})")
REFUSAL = "I would rather not compare these answers."


@dataclass(frozen=True)
class Traits:
    """The knobs of a simulated model; the first block is used when it writes, the second when it judges.

    `skill` and `category_skill` shift the quality of its answers, `spread` is their sd; `sharpness` multiplies
    quality, `taste` is the sd of a stable liking of a text, `primacy` a utility per slot, `unreadable` the share of
    replies without a readable verdict.
    """

    skill: float = 0.0
    category_skill: Mapping[str, float] = field(default_factory=dict)
    spread: float = 1.0
    sharpness: float = 1.0
    taste: float = 0.0
    noise: float = 1.0
    self_preference: float = 0.0
    primacy: Sequence[float] = ()
    verbosity: float = 0.0
    unreadable: float = 0.0


def client(model: Model, key: str | None) -> None:
    """Nothing to open; refuse unknown traits by name before anything is asked."""
    traits_of(model)


async def close(client: None) -> None:
    """Nothing to close."""


async def send(client: None, request: Request) -> Sent:
    """The reply as a provider would send it: one JSON text."""
    listwise = request.schema is not None or NONCE.search(request.prompt)
    text, finish = judge_reply(request) if listwise else (answer_reply(request), "stop")
    usage = {"input": len(request.system + request.prompt) // 4, "output": len(text) // 4}
    return Sent(json.dumps({"text": text, "finish": finish, "usage": usage, "model": request.model.model_id}))


def read(raw: str) -> Completion:
    """The reply in `raw`, without its key."""
    body = json.loads(raw)
    return Completion("", "ok", body["text"], body["finish"], Usage(**body["usage"]), body["model"], raw=raw)


def traits_of(model: Model) -> Traits:
    """The model's traits; an unknown one is an error that lists the valid ones."""
    valid = [knob.name for knob in fields(Traits)]
    unknown = sorted(set(model.traits) - set(valid))
    if unknown:
        raise ValueError(f"model '{model.name}': unknown traits {', '.join(unknown)}; valid: {', '.join(valid)}")
    return Traits(**model.traits)


def answer_reply(request: Request) -> str:
    """What a simulated candidate writes: some of the question's points, or neutral text, in its vendor's manner."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:answer")
    question = request.model.knowledge.get(request.prompt.strip())
    padding = rng.sample(NEUTRAL, rng.randint(0, 6))
    if question is None:
        body = rng.sample(NEUTRAL, rng.randint(4, 9))
    else:
        quality = traits.skill + traits.category_skill.get(question.category, 0.0) + traits.spread * rng.gauss(0, 1)
        count = min(len(question.points), 1 + int(NORMAL.cdf(quality / QUALITY_SCALE) * len(question.points)))
        chosen = sorted(rng.sample(range(len(question.points)), count))
        body = [question.points[index] for index in chosen] + padding
    return MANNERS.get(request.model.vendor, MANNERS[""]).write(body, rng)


def quality_of(text: str, question: Question | None) -> float:
    """How good a text is: by the share of the question's points that stand in it, else by its hash."""
    points = question.points if question else ()
    found = sum(point in text for point in points)
    if found:
        return QUALITY_SCALE * NORMAL.inv_cdf((found - 0.5) / len(points))
    return _draw("quality", text)


def _draw(*parts: str) -> float:
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return NORMAL.inv_cdf((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)


def utilities(request: Request, texts: Sequence[str], question: Question | None) -> list[float]:
    """What the judge feels about each text in shown order, noise included."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:judge")
    lengths = [math.log(len(text) + 1) for text in texts]
    spread = pstdev(lengths) or 1.0
    result = []
    for slot, text in enumerate(texts):
        own = vendor_of(text) == request.model.vendor
        result.append(
            traits.sharpness * quality_of(text, question)
            + traits.taste * _draw("taste", request.model.model_id, text)
            + traits.self_preference * own
            + (traits.primacy[slot] if slot < len(traits.primacy) else 0.0)
            + traits.verbosity * (lengths[slot] - fmean(lengths)) / spread
            - traits.noise * math.log(-math.log(rng.random() or 0.5))
        )
    return result


def judge_reply(request: Request) -> tuple[str, str]:
    """A listwise verdict on the texts between the delimiters, as JSON or in the nonce form, and its finish."""
    blocks = ANSWER.findall(request.prompt)
    labels, texts = [label for label, _, _ in blocks], [text for _, _, text in blocks]
    question = next((known for text, known in request.model.knowledge.items() if text in request.prompt), None)
    felt = utilities(request, texts, question)
    ranking = [label for _, label in sorted(zip(felt, labels, strict=True), reverse=True)]
    scores = {label: max(0, min(10, round(6 + 1.2 * u))) for label, u in zip(labels, felt, strict=True)}
    reason = f"Answer {ranking[0]} covers most of what was asked; answer {ranking[-1]} leaves the most out."
    rng = random.Random(f"{request.key}:fault")
    if rng.random() < traits_of(request.model).unreadable:
        return _fault(rng, reason, ranking, request)
    return _written(request, ranking, scores, reason), "stop"


def _written(request: Request, ranking: Sequence[str], scores: Mapping[str, int], reason: str) -> str:
    if request.schema is not None:
        nonce = ANSWER.search(request.prompt)[2]
        return json.dumps({"id": nonce, "ranking": ranking, "scores": scores, "justification": reason})
    nonce = NONCE.search(request.prompt)[1]
    marks = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
    return f"{reason}\n\nSCORES-{nonce}: {marks}\nRANKING-{nonce}: {' > '.join(ranking)}"


def _fault(rng: random.Random, reason: str, ranking: list[str], request: Request) -> tuple[str, str]:
    """The ways in which replies go wrong: no verdict, one label lost, cut off, refused."""
    kind = rng.choice(("prose", "short", "cut", "refused"))
    if kind == "prose":
        return reason, "stop"
    if kind == "short":
        return _written(request, ranking[:-1], {}, reason), "stop"
    whole = _written(request, ranking, {}, reason)
    return (whole[: len(whole) // 2], "length") if kind == "cut" else (REFUSAL, "refusal")
