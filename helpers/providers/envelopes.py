"""What comes back over the wire, and the reading of it: whatever a server says, the run goes on."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from helpers.providers.failures import Failure
from helpers.types import Completion, Usage

#: Reasoning models think for minutes; a call that takes longer than this is counted as perhaps billed.
TIMEOUT_SECONDS = 600.0
#: Who does not even open a connection in this time is not there, and has billed nothing.
CONNECT_SECONDS = 10.0
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
        if any(_count(value) is not value for value in vars(reply.usage).values()):
            odd["usage"] = Usage(**{name: _count(value) for name, value in vars(reply.usage).items()})
        if not isinstance(reply.finish, TEXT):
            odd["finish"] = "unknown"  # None would be a normal end
        odd |= {name: None for name in ("model", "request_id") if not isinstance(getattr(reply, name), TEXT)}
        return replace(reply, **odd) if odd else reply
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise Failure("bad_envelope", f"{type(error).__name__}: {error}") from None


def _count(value: Any) -> int | None:
    """A number of tokens, or None for anything else that a server may say: the worst case is then charged."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else None
