"""Models that we make up: candidates of chosen skill and style, judges of chosen bias. They see the Request only.

A candidate knows the built-in questions' answer points and writes down some of them in its vendor's manner; a judge
counts the points in each text, recognizes manners, and ranks (or compares two, see `pairwise`) by

    U = sharpness * quality + taste + self_preference [own manner] + hint_effect [own by name] + primacy[slot]
        + verbosity * z(length) + wordings [a list, a confident tone] + Gumbel

(all of it read from text). Noise is drawn from the request's key: repeats differ, reruns do not.
"""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import fmean, pstdev

from helpers.providers import Sent, auditing, deciding, pairwise, reading
from helpers.providers.drawing import NORMAL, draw
from helpers.providers.manners import MANNERS, NEUTRAL, WORDINGS, own_by_name, vendor_of
from helpers.types import Completion, Model, Question, Request, Usage

#: One point more or less of a question's points is about this much quality (in sd of answers to a question).
QUALITY_SCALE = 1.5
#: The quality of an answer to another question: well below the least of an answer to this one, about -2.
OFF_TOPIC = -4.0
#: How a prompt for a judge begins; its code is that of all delimiters and of the text form of a verdict.
QUESTION = re.compile(r"<<<QUESTION ([0-9a-f]{8})>>>\n(.*?)\n<<<END QUESTION \1>>>", re.DOTALL)
REFUSAL = "I would rather not compare these answers."
#: Traits that are several numbers by name, and what the names are of.
NAMED = {"category_skill": "category", "biases": "bias", "wordings": "wording"}


@dataclass(frozen=True)
class Traits:
    """The knobs of a simulated model; the first block is used when it writes, the second when it judges.

    `skill` and `category_skill` shift the quality of its answers, `spread` is their sd; `sharpness` multiplies
    quality, `taste` is the sd of a stable liking of a text, `primacy` a utility per slot, `hint_effect` that of an
    answer which the prompt says is from the judge's vendor (with `deduces` 1 also of one that it can only be, all
    others being named), `unreadable` the share of replies without a readable verdict. Of two answers a difference of
    utilities below `tie` is a tie and one of `strong` or more a strong verdict (z(length) is then 1 for the longer and
    -1 for the other, by however little). `wordings` holds the utility of a wording, by name (`manners.WORDINGS`). On
    passages `recognition` is the utility of own words when it is asked what it wrote, and `fluency` what words out of
    style cost a text. In bias tests (see `deciding`, in audits `auditing`) `biases` holds the strength of each by name,
    `answer_noise` the sd of an answer as a share of its scale, `first_option` how often the first option shown is
    taken.
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
    wordings: Mapping[str, float] = field(default_factory=dict)
    hint_effect: float = 0.0
    deduces: float = 0.0
    unreadable: float = 0.0
    tie: float = 0.4
    strong: float = 1.5
    recognition: float = 0.0
    fluency: float = 0.0
    biases: Mapping[str, float] = field(default_factory=dict)
    answer_noise: float = 0.1
    first_option: float = 0.0


def client(model: Model, key: str | None) -> None:
    """Nothing to open; refuse unknown traits by name before anything is asked."""
    traits_of(model)


async def close(client: None) -> None:
    """Nothing to close."""


async def send(client: None, request: Request) -> Sent:
    """The reply as a provider would send it: one JSON text."""
    text, finish = reply(request)
    usage = {"input": len(request.system + request.prompt) // 4, "output": len(text) // 4}
    return Sent(json.dumps({"text": text, "finish": finish, "usage": usage, "model": request.model.model_id}))


def reply(request: Request) -> tuple[str, str]:
    """What the model says, and how its reply ended."""
    if _shown(request.prompt)[2]:
        return judge_reply(request)
    tested = deciding.reply(request, traits_of(request.model))
    if tested is not None:
        return tested
    about_passage = reading.reply(request)
    if about_passage is not None:
        return _sometimes_lost(request, about_passage)
    return answer_reply(request), "stop"


def read(raw: str) -> Completion:
    """The reply in `raw`, without its key."""
    body = json.loads(raw)
    return Completion("", "ok", body["text"], body["finish"], Usage(**body["usage"]), body["model"], raw=raw)


def traits_of(model: Model) -> Traits:
    """The model's traits; an unknown one or one of a wrong type is an error that names it and the valid ones."""
    valid = [knob.name for knob in fields(Traits)]
    unknown = sorted(set(model.traits) - set(valid))
    if unknown:
        raise ValueError(f"model '{model.name}': unknown traits {', '.join(unknown)}; valid: {', '.join(valid)}")
    for name, value in model.traits.items():
        numbers, kind = [value], "a number"
        if name in NAMED:
            numbers, kind = (
                list(value.values()) if isinstance(value, Mapping) else [None],
                f"numbers by {NAMED[name]}",
            )
            if name == "wordings" and set(value if isinstance(value, Mapping) else ()) - set(WORDINGS):
                numbers, kind = [None], f"numbers by wording ({', '.join(WORDINGS)})"
        elif name == "primacy":
            numbers, kind = list(value) if isinstance(value, list | tuple) else [None], "a list of numbers, one a slot"
        if any(type(number) not in (int, float) or not math.isfinite(number) for number in numbers):
            raise ValueError(f"model '{model.name}': trait {name} = {value!r}: must be {kind}")
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


def quality_of(text: str, question: Question | None, known: Iterable[Question] = ()) -> float:
    """How good a text is: by the share of the question's points that stand in it, else by its hash.

    A text without any of them that holds a point of another of the `known` questions answers that one: OFF_TOPIC.
    """
    points = question.points if question else ()
    found = sum(point in text for point in points)
    if found:
        return QUALITY_SCALE * NORMAL.inv_cdf((found - 0.5) / len(points))
    if points and any(point in text for other in known for point in other.points):
        return OFF_TOPIC
    return draw("quality", text)


def utilities(
    request: Request, texts: Sequence[str], question: Question | None, named_own: Sequence[bool] = ()
) -> list[float]:
    """What the judge feels about each text in shown order, noise included; `named_own`: taken for its own by name."""
    traits, rng = traits_of(request.model), random.Random(f"{request.key}:judge")
    lengths = [math.log(len(text) + 1) for text in texts]
    spread = pstdev(lengths) or 1.0
    result = []
    for slot, text in enumerate(texts):
        own = vendor_of(text) == request.model.vendor
        result.append(
            traits.sharpness * quality_of(text, question, request.model.knowledge.values())
            + traits.taste * draw("taste", request.model.model_id, text)
            + traits.self_preference * own
            + traits.hint_effect * (slot < len(named_own) and named_own[slot])
            + (traits.primacy[slot] if slot < len(traits.primacy) else 0.0)
            + traits.verbosity * (lengths[slot] - fmean(lengths)) / spread
            + sum(worth for name, worth in traits.wordings.items() if WORDINGS[name](text))
            - traits.noise * math.log(-math.log(rng.random() or 0.5))
        )
    return result


def before_noise(request: Request) -> tuple[list[float], list[bool]]:
    """What a judge feels before noise about each text that its prompt shows, and which it takes for its own by name."""
    _, asked, found = _shown(request.prompt)
    labels, texts = [each[1] for each in found], [each[2] for each in found]
    deduces = bool(traits_of(request.model).deduces)
    named_own = own_by_name(request.prompt[found[-1].end() :], labels, request.model.vendor, deduces)
    quiet = Request(replace(request.model, traits={**request.model.traits, "noise": 0.0}), "")
    return utilities(quiet, texts, request.model.knowledge.get(asked), named_own), list(named_own)


def _shown(prompt: str) -> tuple[str, str, list[re.Match[str]]]:
    """Code and question of a judge's prompt, and the blocks of the texts it shows; none where it is no such prompt."""
    head = QUESTION.match(prompt)
    if head is None:
        return "", "", []
    # Only delimiters with the prompt's own code count: a candidate's text may quote others.
    block = re.compile(rf"<<<ANSWER (\w+) {head[1]}>>>\n(.*?)\n<<<END \1 {head[1]}>>>", re.DOTALL)
    return head[1], head[2], list(block.finditer(prompt, head.end()))


def judge_reply(request: Request) -> tuple[str, str]:
    """A verdict on the texts between the delimiters, as JSON or in the nonce form, and its finish.

    It ranks them, or says which of two is better where the schema or the words after the texts ask for that.
    """
    nonce, asked, found = _shown(request.prompt)
    labels, texts = [each[1] for each in found], [each[2] for each in found]
    said, traits = request.prompt[found[-1].end() :], traits_of(request.model)
    named_own = own_by_name(said, labels, request.model.vendor, bool(traits.deduces))
    question = request.model.knowledge.get(asked)
    felt = utilities(request, texts, question, named_own)
    if auditing.asked(said):
        return auditing.reply(request, nonce, found, felt, traits)
    if pairwise.asked(request, nonce, said):
        first, second = felt
        return pairwise.reply(request, nonce, said, question, first - second, traits)
    # Equal utilities fall either way, or the later slot would always win them.
    lots = random.Random(f"{request.key}:lots").sample(range(len(labels)), len(labels))
    ranking = [label for _, _, label in sorted(zip(felt, lots, labels, strict=True), reverse=True)]
    scores = {label: max(0, min(10, round(6 + 1.2 * u))) for label, u in zip(labels, felt, strict=True)}
    reason = f"Answer {ranking[0]} covers most of what was asked; answer {ranking[-1]} leaves the most out."
    rng = random.Random(f"{request.key}:fault")
    if rng.random() < traits.unreadable:
        return _fault(rng, reason, ranking, nonce, request)
    return _written(request, ranking, scores, nonce, reason), "stop"


def _sometimes_lost(request: Request, text: str) -> tuple[str, str]:
    """The reply and its finish, or as often as `unreadable` says one without a verdict."""
    rng = random.Random(f"{request.key}:fault")
    if rng.random() >= traits_of(request.model).unreadable:
        return text, "stop"
    kind = rng.choice(("prose", "cut", "refused"))
    return {"prose": ("Both have their merits.", "stop"), "cut": (text[: len(text) // 2], "length")}.get(
        kind, (REFUSAL, "refusal")
    )


def _written(request: Request, ranking: Sequence[str], scores: Mapping[str, int], nonce: str, reason: str) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, "ranking": ranking, "scores": scores, "justification": reason})
    marks = " ".join(f"{label}={score}" for label, score in sorted(scores.items()))
    return f"{reason}\n\nSCORES-{nonce}: {marks}\nRANKING-{nonce}: {' > '.join(ranking)}"


def _fault(rng: random.Random, reason: str, ranking: list[str], nonce: str, request: Request) -> tuple[str, str]:
    """The ways in which replies go wrong: no verdict, one label lost, cut off, refused."""
    kind = rng.choice(("prose", "short", "cut", "refused"))
    if kind == "prose":
        return reason, "stop"
    if kind == "short":
        return _written(request, ranking[:-1], {}, nonce, reason), "stop"
    whole = _written(request, ranking, {}, nonce, reason)
    return (whole[: len(whole) // 2], "length") if kind == "cut" else (REFUSAL, "refusal")
