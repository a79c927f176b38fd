"""Bodies over the wire: one HTTP client for the three SDKs, and what is read from what came back."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from typing import Any

from ..types import Completion, Usage
from .meanings import POLICY, Failure, failure_in, unreadable

#: Half a character, which a reply that was cut in the middle of one can hold and no file or prompt can.
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
#: A body in which log-probabilities stand; most bodies name them and hold none.
LOG_PROBABILITIES = re.compile(r'ogprob\w*"\s*:\s*[\[{]')
#: One token of a reply, with the log-probability of each alternative that the provider told (the token itself too).
Token = tuple[str, Mapping[str, float]]


@dataclass(frozen=True)
class Sent:
    """What came back over the wire, before anything was read from it; the names of `headers` in lower case."""

    raw: str
    headers: Mapping[str, str] = field(default_factory=dict)


@cache
def module_of(provider: str) -> Any:
    """The module that speaks to a provider."""
    return importlib.import_module(f".{provider}", __package__)


async def post(sdk: Any, path: str, body: Mapping[str, Any]) -> Sent:
    """One call with the `post` of an SDK of OpenAI or Anthropic. The body is kept as it came."""
    from httpx2 import Response

    response = await sdk.post(path, cast_to=Response, body=body)
    return Sent(response.text, dict(response.headers.items()))  # UTF-8 unless it names a character set


def http_client() -> Any:
    """An HTTP client for one SDK: no redirects, no time-out but for connecting, and the limits above."""
    from httpx2 import Headers, Response, Timeout
    from openai import DefaultAioHttpClient  # which takes a while to import

    machine = POLICY.MACHINE.encode()

    class Reply(Response):
        def json(self, **options: Any) -> Any:
            try:
                return super().json(**options)
            except (ValueError, RecursionError) as error:  # google-genai handles JSONDecodeError only
                raise json.JSONDecodeError(str(error), "", 0) from None

    class Lines(DefaultAioHttpClient):
        async def send(self, request: Any, **options: Any) -> Any:
            """Send a request as the SDK made it, but for timeouts, redirects and the machine; read the whole reply."""
            request.extensions["timeout"] = self.timeout.as_dict()  # google-genai bounds no wait for a connection
            request.headers = Headers([each for each in request.headers.raw if not each[0].lower().startswith(machine)])
            try:
                came = await super().send(request, **{**options, "stream": True, "follow_redirects": False})
            except UnicodeError as error:  # the status line is not text
                raise Failure("bad_envelope", f"a reply that is not HTTP: {error}") from None
            parts = {"content": await _read_bounded(came), "request": request, "extensions": came.extensions}
            headers = [each for each in came.headers.raw if each[0].lower().decode("latin-1") not in POLICY.OF_THE_WIRE]
            reply = Reply(came.status_code, headers=headers, **parts)
            if not re.fullmatch(POLICY.CHARACTER_SETS, reply.charset_encoding or ""):
                reply.encoding = "utf-8"
            return reply

    return Lines(timeout=Timeout(None, connect=POLICY.CONNECT_SECONDS))


async def _read_bounded(came: Any) -> bytes:
    """The decoded body of a reply; Failure (`too_large`) where a success has more than MOST_BYTES."""
    most, body = POLICY.MOST_BYTES if came.is_success else POLICY.MOST_ERROR_BYTES, bytearray()
    async with aclosing(came), aclosing(came.aiter_bytes()) as parts:
        async for part in parts:
            body += part
            if len(body) > most:
                break
    if came.is_success and len(body) > most:
        raise Failure("too_large", f"more than {most / 2**20:g} MB came for one reply; the rest was not read")
    return bytes(body[:most])


def read(module: Any, raw: str, headers: Mapping[str, str] | None = None, wall: float = 0.0) -> Completion:
    """The reply in a body; an error or another form is a Failure, and odd values in a reply are None."""
    if '"error' in raw and (failure := failure_in(raw, headers or {}, wall)) is not None:
        raise failure
    try:
        reply = module.read(raw)
        counts = {name: count(value) for name, value in vars(reply.usage).items()}
        # No prompt and no text has 0 tokens: such a count is treated as missing, and the worst case is charged.
        counts |= {name: counts[name] or None for name in (("input", "output") if reply.text else ("input",))}
        odd = {name: None for name in ("model", "request_id") if not isinstance(getattr(reply, name), str | None)}
        finish = reply.finish if isinstance(reply.finish, str | None) else "unknown"  # None would be a normal end
        text = LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", reply.text)
        reply = replace(reply, text=text, finish=finish, usage=Usage(**counts), **odd)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise failure_in(raw, headers or {}, wall) or unreadable(raw) from None
    if reply.finish == "error":
        raise Failure("provider_error", "the server ended the reply before the model did", raw=raw, billed=True)
    return reply


def fields(value: Any) -> Mapping[str, Any]:
    """A part of a body as the mapping that it should be; empty where it is anything else."""
    return value if isinstance(value, dict) else {}


def summed(*counts: Any) -> int | None:
    """The sum of the counts that are there; None where there is none, or where one is impossible."""
    there = [each for each in counts if each is not None]
    return sum(there) if there and all(count(each) is not None for each in there) else None


def output_tokens(stated: Any, reasoning: Any, asked: Any, total: Any) -> Any:
    """The most output tokens that a reply's counts allow: some count reasoning apart, or in the total alone."""
    if count(stated) is None:
        return stated
    apart = stated + reasoning if (count(reasoning) or 0) > stated else stated
    return max(apart, total - asked) if count(total) is not None and count(asked) is not None else apart


def count(value: Any) -> int | None:
    """A number of tokens, or None for anything else that a server may say: the worst case is then charged."""
    return value if type(value) is int and 0 <= value < POLICY.MOST_TOKENS else None


def tokens_of(completion: Completion) -> list[Token]:
    """The tokens of a reply with the log-probabilities of alternatives; empty for none, nonsense or infinities."""
    if not LOG_PROBABILITIES.search(completion.raw):
        return []
    try:
        # Three dialects: a list of objects (OpenAI), chosen and top candidates (Google), and parallel lists.
        body = json.loads(completion.raw)
        choice = (body.get("choices") or body["candidates"])[0]
        stated = choice.get("logprobs") or choice.get("logprobsResult") or {}
        objects = stated.get("content") or stated.get("chosenCandidates") or []
        tops = [each.get("candidates") or [] for each in stated.get("topCandidates") or [{}] * len(objects)]
        tokens: list[Token] = []
        for one, top in zip(objects, tops, strict=True):
            weighed = [*top, *(one.get("top_logprobs") or []), one]
            weights = {each["token"]: each.get("logprob", each.get("logProbability")) for each in weighed}
            tokens.append((one["token"], weights))
        words, sure = stated.get("tokens") or [], stated.get("token_logprobs") or []
        for word, at, top in zip(words, sure, stated.get("top_logprobs") or [{}] * len(words), strict=True):
            tokens.append((word, (top or {}) | ({} if at is None else {word: at})))
        for token, at in (pair for word, weights in tokens for pair in [(word, 0.0), *weights.items()]):
            if not isinstance(token, str) or type(at) not in (int, float) or not -inf <= float(at) < inf:
                return []
        return tokens
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError):
        return []  # the verdict is read from the text all the same


def without_body(completion: Completion) -> Completion:
    """A reply without its body, unless log-probabilities stand in it."""
    return completion if LOG_PROBABILITIES.search(completion.raw) else replace(completion, raw="")
