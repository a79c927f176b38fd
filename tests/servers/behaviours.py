"""What the test server answers: one function from a Call to a Reply or a Fault decides everything.

A behaviour is any such function; the ones here are pure functions of the call, so that runs can be compared whatever
the order of their requests.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.servers import judging

#: Refused with a status and an error body in the provider's own form (under a 200, too); `quota` and `key` as each of
#: them says it.
REDIRECTS = (300, 301, 302, 303, 304, 307, 308)
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529, *REDIRECTS, 200)
STATUS_KINDS = (*map(str, STATUSES), "quota", "key")
#: Answered, so perhaps billed, but the answer does not arrive: connection closed or reset without a byte, reset in the
#: middle of the body, body ended early, whole body that is no JSON, body that takes `seconds`.
LINE_KINDS = ("dropped", "reset_early", "reset", "truncated", "broken_json", "slow")
#: Whole replies without a usable text; `blocked` is Google's refusal of the prompt itself, elsewhere as filter.
CONTENT_KINDS = ("empty", "length", "refusal", "filter", "blocked")
FINISHES = ("stop", "length", "refusal", "filter", "blocked")
#: What a patient client gets over by asking again.
TRANSIENT = ("429", "500", "503", "529", "dropped", "reset_early", "reset", "truncated", "broken_json")

REFUSAL = "I am not able to help with this one."


@dataclass(frozen=True)
class Call:
    """One request as the server read it.

    `params` is the body without model, messages and schema (Google: its generationConfig), `limit` the token limit in
    it, `attempt` 1 where these bytes came for the first time, 2 for the second, ... and `n` counts all requests from 0.
    `asked` are the input tokens for which the server bills it.
    """

    provider: str
    model: str
    system: str
    prompt: str
    schema: Mapping[str, Any] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    attempt: int = 1
    n: int = 0
    asked: int = 0


@dataclass(frozen=True)
class Reply:
    """A whole reply: `finish` is stop, length, refusal, filter or blocked; a text over the token limit is cut there.

    `thoughts` are reasoning tokens (billed as output, on models that think), `cached` the part of the input read from
    a cache, `model` the returned id where it is not the asked one with the server's suffix. `headers` come with it.
    """

    text: str
    finish: str = "stop"
    thoughts: int = 0
    cached: int = 0
    model: str | None = None
    fingerprint: str = "fp_0123456789"
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """An unknown finish is an error that lists the valid ones."""
        if self.finish not in FINISHES:
            raise ValueError(f"unknown finish {self.finish!r}; valid: {', '.join(FINISHES)}")


@dataclass(frozen=True)
class Fault:
    """Something else than a reply; `kind` is one of STATUS_KINDS or LINE_KINDS.

    `retry_after` (seconds) is written as the header Retry-After, unless `header` is False, and by Google in the body
    too. `message` goes into the provider's envelope, `body` replaces the envelope; `seconds` is how long `slow` takes;
    `headers` come with what is said in words.
    """

    kind: str
    retry_after: float | None = None
    header: bool = True
    message: str | None = None
    body: str | None = None
    content_type: str = "application/json"
    seconds: float = 30.0
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """An unknown kind is an error that lists the valid ones."""
        if self.kind not in STATUS_KINDS + LINE_KINDS:
            raise ValueError(f"unknown fault {self.kind!r}; valid: {', '.join(STATUS_KINDS + LINE_KINDS)}")


Behaviour = Callable[[Call], Reply | Fault]
Step = Reply | Fault | str | None


def polite(call: Call) -> Reply:
    """A valid verdict where one is asked for, any valid JSON for another schema, else an essay of 60 to 120 words.

    A pure function of sha256(model, prompt), and so are the thoughts it counts.
    """
    text = judging.verdict(call) or judging.filled(call) or judging.essay(call)
    return Reply(text, thoughts=10 + judging.digest(call.model, call.prompt)[0] % 50)


def step(kind: Step, call: Call, then: Behaviour = polite) -> Reply | Fault:
    """What a named kind, or a ready Reply or Fault, is to this call; None is what `then` says."""
    if kind is None:
        return then(call)
    if not isinstance(kind, str):
        return kind
    if kind not in CONTENT_KINDS:
        return Fault(kind)
    whole = polite(call)
    texts = {"length": whole.text[: len(whole.text) // 2], "refusal": REFUSAL}
    return replace(whole, text=texts.get(kind, ""), finish="stop" if kind == "empty" else kind)


def only(kind: Step) -> Behaviour:
    """The same for every call."""
    return lambda call: step(kind, call)


def scripted(steps: Sequence[Step], then: Behaviour = polite) -> Behaviour:
    """The steps one after the other for each distinct request (its first attempt gets the first), and `then` after."""
    return lambda call: step(steps[call.attempt - 1] if call.attempt <= len(steps) else None, call, then)


def faulty(rate: float, kinds: Sequence[Step] = TRANSIENT, seed: int = 0, then: Behaviour = polite) -> Behaviour:
    """One of `kinds` for a share `rate` of all attempts: a pure function of (prompt, attempt) and the seed."""

    def behave(call: Call) -> Reply | Fault:
        rng = random.Random(f"{seed}:{call.attempt}:{call.prompt}")
        return step(rng.choice(kinds) if rng.random() < rate else None, call, then)

    return behave


def quoting(kind: str) -> Behaviour:
    """A judge that quotes all candidate texts `before`, `inside` or `after` its verdict, or quotes and gives `none`.

    In structured mode `before` and `after` put text around the JSON, `inside` puts it into the justification. What is
    not asked to judge is answered politely.
    """
    if kind not in judging.QUOTES:
        raise ValueError(f"unknown place of quotation {kind!r}; valid: {', '.join(judging.QUOTES)}")
    return lambda call: replace(polite(call), text=judging.verdict(call, kind) or polite(call).text)
