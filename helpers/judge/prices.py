"""What a token costs, and so at most a call before it is sent, and what an attempt did cost."""

from __future__ import annotations

import ipaddress
import json
import math
from urllib.parse import urlsplit

from helpers.services import SERVICES
from helpers.types import Completion, Model, Request


class NoPrice(ValueError):
    """A model whose price nobody knows; the message names the line to add."""


def own_server(base_url: str | None) -> bool:
    """Whether an address is one's own machine or network, where calls cost nothing.

    >>> own_server("http://127.0.0.1:8000/v1"), own_server("http://gpu-box:8000/v1"), own_server("https://api.x.com/v1")
    (True, True, False)
    """
    host = urlsplit(base_url or "").hostname
    if not host:
        return False
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".lan"))


def cost(model: Model, input_tokens: int, output_tokens: int) -> float:
    """US dollars for so many tokens: the price in models.yaml, else the offline price table; own servers cost 0.

    NoPrice where neither knows the model.
    """
    if model.price:
        return (input_tokens * model.price.input + output_tokens * model.price.output) / 1e6
    if model.simulated or own_server(model.base_url):
        return 0.0
    from genai_prices import Usage, calc_price

    where = {"provider_api_url": model.base_url} if model.base_url else {"provider_id": model.provider}
    try:
        price = calc_price(Usage(input_tokens=input_tokens, output_tokens=output_tokens), model.model_id, **where)
    except LookupError:
        raise NoPrice(
            f"models.yaml, model '{model.name}': no price is known for {model.model_id!r}; add the line "
            "`price: {input: <US dollars for a million tokens>, output: <...>}`"
        ) from None
    return float(price.total_price)


def dollars(usd: float) -> str:
    """An amount, rounded up: a budget of what is shown is enough.

    >>> dollars(0.02061), dollars(12.0)
    ('$0.0207', '$12.0000')
    """
    return f"${math.ceil(usd * 1e4 - 1e-4) / 1e4:.4f}"


def left(usd: float) -> str:
    """An amount that is still there, rounded down: no more than what is shown can be counted on.

    >>> left(0.02069), left(12.0), left(-1e-12)
    ('$0.0206', '$12.0000', '$0.0000')
    """
    return f"${math.floor(max(usd, 0.0) * 1e4 + 1e-4) / 1e4:.4f}"


def bounds(request: Request) -> tuple[int, int]:
    """The most input and output tokens a call can have: a token is at least a byte; answers to come count in full.

    What a provider bills beside the texts is in it (services.py). Putting a beginning into a cache that is asked for is
    dearer than reading it; that counts as more tokens.
    """
    service = SERVICES.get(request.model.provider)  # simulated models are none's
    frame, more = service.frame if service else (0, 0)
    sent = request.system + request.prompt + (json.dumps(request.schema) if request.schema else "")
    cached = request.system + request.prompt[: request.cacheable] if request.cacheable else ""
    dearer = math.ceil(service.dearer_writes * len(cached.encode())) if service else 0
    framed = len(sent.encode()) + frame + (more if request.schema else 0)
    return framed + dearer + request.unwritten, request.model.max_tokens


def worst_case(request: Request) -> float:
    """The most that one attempt can cost, in US dollars."""
    return cost(request.model, *bounds(request))


def actual(request: Request, completion: Completion) -> float:
    """What an attempt cost: its counted tokens; nothing where it was refused; the worst case where nobody can tell."""
    usage, service = completion.usage, SERVICES.get(request.model.provider)
    if usage.input is not None and usage.output is not None:
        dearer = math.ceil(service.dearer_writes * (usage.written or 0)) if service else 0
        return cost(request.model, usage.input + dearer, usage.output)
    return worst_case(request) if completion.status in ("ok", "empty") or completion.maybe_billed else 0.0
