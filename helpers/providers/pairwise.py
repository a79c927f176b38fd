"""How simulated judges say which of two answers is better: the verdict, the reasons for it, and what goes wrong.

What they feel about the two is `simulated.utilities`. The noise in the difference of two utilities is logistic, so

    P(first wins) = 1 / (1 + exp(-(lead - tie) / noise)),    P(second wins) = 1 / (1 + exp(-(-lead - tie) / noise)),

with the lead of the first before noise; of two identical texts only primacy[0] - primacy[1] is left of it.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from helpers.providers.manners import NEUTRAL
from helpers.types import Question, Request

if TYPE_CHECKING:
    from helpers.providers.simulated import Traits

REFUSAL = "I would rather not say which of the two is better."
#: What is said in the place of a verdict and is none.
JUNK = ("A", "B", "tie", "A<B")
SAID = {
    "A>>B": "A does much more of this than B.",
    "A>B": "A does somewhat more of this than B.",
    "A=B": "A and B do about equally much of this.",
    "B>A": "B does somewhat more of this than A.",
    "B>>A": "B does much more of this than A.",
}


def asked(request: Request, nonce: str, said: str) -> bool:
    """Whether a verdict on a pair is asked for, by the schema or else by the form that the words after the texts name.

    >>> from helpers.types import Model
    >>> request = Request(Model("sim", "simulated", "sim-1", "gpt"), "...")
    >>> asked(request, "5eed", "... A>>B ... VERDICT-5eed: <verdict>"), asked(request, "5eed", "RANKING-5eed: A > B")
    (True, False)
    """
    if request.schema is not None:
        return "verdict" in request.schema.get("properties", {})
    return f"VERDICT-{nonce}:" in said and "A>>B" in said


def verdict(lead: float, tie: float, strong: float) -> str:
    """What a judge says who feels that the first text leads by so much.

    >>> [verdict(lead, 0.4, 1.5) for lead in (1.5, 0.4, 0.39, -0.4, -1.5)], verdict(0.0, 0.0, 0.0)
    (['A>>B', 'A>B', 'A=B', 'B>A', 'B>>A'], 'A=B')
    """
    if abs(lead) < tie or lead == 0:
        return "A=B"
    better, worse = "AB" if lead > 0 else "BA"
    return f"{better}{'>>' if abs(lead) >= strong else '>'}{worse}"


def reply(
    request: Request, nonce: str, said: str, question: Question | None, lead: float, traits: Traits
) -> tuple[str, str]:
    """The verdict that this lead makes, in the form asked for, and how the reply ended; as often as planted, none."""
    stated = verdict(lead, traits.tie, traits.strong)
    reason = f"{_solution(request, question)}\n\n{SAID[stated]}" if "own solution" in said else SAID[stated]
    rng = random.Random(f"{request.key}:fault")
    kind = rng.choice(("prose", "junk", "cut", "refused")) if rng.random() < traits.unreadable else ""
    if kind == "prose":
        return reason, "stop"
    if kind == "refused":
        return REFUSAL, "refusal"
    whole = _written(request, nonce, reason, rng.choice(JUNK) if kind == "junk" else stated)
    return (whole[: len(whole) // 2], "length") if kind == "cut" else (whole, "stop")


def _solution(request: Request, question: Question | None) -> str:
    """The judge's own answer: what it knows of the question, else words that say nothing."""
    known = question.points if question and question.points else ()
    return "My own solution: " + " ".join(known or random.Random(f"{request.key}:solution").sample(NEUTRAL, 4))


def _written(request: Request, nonce: str, reason: str, stated: str) -> str:
    if request.schema is not None:
        return json.dumps({"id": nonce, "justification": reason, "verdict": stated})
    return f"{reason}\n\nVERDICT-{nonce}: {stated}"
