"""What comes back over the wire, and the reading of it: whatever a server says, the run goes on."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from helpers.providers.failures import MOST_KEPT, Failure
from helpers.providers.retrying import BILLED
from helpers.types import Completion, Usage

#: Reasoning models think for minutes; a call that takes longer than this is counted as perhaps billed.
TIMEOUT_SECONDS = 600.0
#: Who does not even open a connection in this time is not there, and has billed nothing.
CONNECT_SECONDS = 10.0
#: Limits in bytes after decompression: a larger reply is an error; of a larger error page the rest is not read. More of
#: it is read than is kept, so that a key at the cut is whole when it is struck out.
MOST_BYTES, MOST_ERROR_BYTES = 16 * 2**20, 2 * MOST_KEPT
#: Half a character, which a reply that was cut in the middle of one can hold and no file or prompt can.
LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Sent:
    """What came back over the wire, before anything was read from it; the names of `headers` in lower case."""

    raw: str
    request_id: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


#: What a service may say of itself: a text, or nothing.
TEXT = (str, type(None))
#: A number of tokens from here on is none that a store file or another program could hold.
MOST_TOKENS = 2**53


@cache
def module_of(provider: str) -> Any:
    """The module that speaks to a provider."""
    return importlib.import_module(f"helpers.providers.{provider}")


def read(module: Any, raw: str) -> Completion:
    """The reply in a body; a body of another form is a Failure, and odd values in it are None."""
    try:
        reply, odd = module.read(raw), {}
        if not reply.text.isascii():
            odd["text"] = LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", reply.text)
        counts = {name: _count(value) for name, value in vars(reply.usage).items()}
        # No prompt and no text has 0 tokens: such a count is treated as missing, and the worst case is charged.
        impossible = ("input", "output") if reply.text else ("input",)
        counts |= {name: counts[name] or None for name in impossible}
        if any(counts[name] is not value for name, value in vars(reply.usage).items()):
            odd["usage"] = Usage(**counts)
        if not isinstance(reply.finish, TEXT):
            odd["finish"] = "unknown"  # None would be a normal end
        odd |= {name: None for name in ("model", "request_id") if not isinstance(getattr(reply, name), TEXT)}
        return replace(reply, **odd) if odd else reply
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Failure("bad_envelope", f"{type(error).__name__}: {error}", raw=raw) from None


def failed(key: str, failure: Failure) -> Completion:
    """What is recorded of an attempt that failed.

    A prompt refused for its content is never sent again: it is recorded as a reply that a filter ended.
    """
    kept = Completion(key, failure.status, raw=failure.raw, request_id=failure.request_id)
    kept = replace(kept, error=failure.error, maybe_billed=failure.status in BILLED)
    return replace(kept, status="ok", finish="filter", error=None) if failure.status == "filtered" else kept


def fields(told: Any) -> Mapping[str, Any]:
    """A part of a body as the mapping that it should be; empty where it is anything else."""
    return told if isinstance(told, dict) else {}


def summed(*told: Any) -> int | None:
    """The sum of the counts that are given; None where there is none, or where one is impossible."""
    there = [each for each in told if each is not None]
    return sum(there) if there and all(_count(each) is not None for each in there) else None


def output_tokens(told: Any, reasoning: Any, asked: Any, total: Any) -> Any:
    """The most output tokens that a reply's counts allow: some services count reasoning apart, or in the total alone.

    >>> output_tokens(10, 5000, 40, None), output_tokens(10, 5000, 40, 5050), output_tokens(10, 4, 40, 50)
    (5010, 5010, 10)
    """
    if _count(told) is None:
        return told
    apart = told + reasoning if (_count(reasoning) or 0) > told else told
    return max(apart, total - asked) if _count(total) is not None and _count(asked) is not None else apart


def _count(value: Any) -> int | None:
    """A number of tokens, or None for anything else that a server may say: the worst case is then charged."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
