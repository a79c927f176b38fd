"""The services that sell replies, one entry each: with its module in `providers/` that is all that makes one known."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Service:
    """What is particular to a service besides its wire format.

    `keys`: the variables that may hold its key; the first that is set counts. `address`: the variable by which its SDK
    chooses another address. `token_parameter`: what it calls the limit of a reply; `older_token_parameter`: what
    servers that speak its API behind a `base_url` call it, where that differs. `limits`: its headers of a limit by what
    they count (requests, tokens, input, output), with {} for what they tell of it. `frame`: the most tokens that it
    bills beside our texts for a call (marks of roles, the beginning of the reply, what a chat template says of its
    own), and the more where the reply has a schema (the words around it). `dearer_writes`: what a token costs more
    that is put into its cache because we ask for it, as a share of its price (what is read from a cache costs less,
    which is never counted on). `sdk`: its SDK's distribution.
    """

    keys: tuple[str, ...]
    address: str
    token_parameter: str
    sdk: str
    older_token_parameter: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    # Nobody promises a number: these are generous.
    frame: tuple[int, int] = (200, 700)
    dearer_writes: float = 0.0


#: By the name that models.yaml and limits.yaml call them, which is that of the module and of genai-prices.
SERVICES = {
    "openai": Service(
        keys=("OPENAI_API_KEY",),
        address="OPENAI_BASE_URL",
        token_parameter="max_completion_tokens",
        older_token_parameter="max_tokens",
        limits={"requests": "x-ratelimit-{}-requests", "tokens": "x-ratelimit-{}-tokens"},
        # It counts 3 or 4 a message and 3 for the reply; templates behind a `base_url` add a text of about 100.
        frame=(200, 300),
        sdk="openai",
    ),
    "anthropic": Service(
        keys=("ANTHROPIC_API_KEY",),
        address="ANTHROPIC_BASE_URL",
        token_parameter="max_tokens",
        limits={
            "requests": "anthropic-ratelimit-requests-{}",
            "tokens": "anthropic-ratelimit-tokens-{}",
            "input": "anthropic-ratelimit-input-tokens-{}",
            "output": "anthropic-ratelimit-output-tokens-{}",
        },
        # About 10; its system text for tools has up to 530, the one for schemas is told without its length.
        frame=(100, 700),
        dearer_writes=0.25,
        sdk="anthropic",
    ),
    "google": Service(
        keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        address="GOOGLE_GEMINI_BASE_URL",
        token_parameter="max_output_tokens",
        # It counts the texts and hardly more.
        frame=(50, 250),
        sdk="google-genai",
    ),
}


@cache
def own_server(url: str | None) -> bool:
    """Whether an address is one's own machine or network, where calls cost nothing.

    >>> own_server("http://127.0.0.1:8000/v1"), own_server("http://gpu-box:8000/v1"), own_server("http://api.x.com/v1")
    (True, True, False)
    """
    host = urlsplit(url or "").hostname
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def token_parameter(provider: str, elsewhere: bool) -> str:
    """What a provider calls the limit of a reply, at its own address or behind a `base_url`; simulated models too."""
    if provider not in SERVICES:
        return "max_tokens"
    service = SERVICES[provider]
    return (elsewhere and service.older_token_parameter) or service.token_parameter


def token_parameters() -> tuple[str, ...]:
    """Every name of that limit, each once."""
    return tuple(dict.fromkeys(token_parameter(name, elsewhere) for name in SERVICES for elsewhere in (False, True)))
