"""What a token costs, and so at most a call before it is sent, and what an attempt did cost."""

from __future__ import annotations

import ipaddress
import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from helpers.services import SERVICES
from helpers.types import Completion, Model, Request

#: US dollars of a call, by its input and output tokens.
Tariff = Callable[[int, int], float]


class NoPrice(ValueError):
    """A model whose price nobody knows; the message names the line to add."""


@lru_cache
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

    Of several servers' prices the dearest. NoPrice where neither knows the model, at one of its servers.
    """
    if model.price:
        return (input_tokens * model.price.input + output_tokens * model.price.output) / 1e6
    if model.simulated:
        return 0.0
    dearest = 0.0
    for provider, url in model.addresses:
        if own_server(url):
            continue
        try:
            tariff = _tariff_at(provider, model.model_id, url, int(time.time()))
        except LookupError:
            where = f" at {url}" if model.servers else ""
            raise NoPrice(
                f"models.yaml, model '{model.name}': no price is known for {model.model_id!r}{where}; add the line "
                "`price: {input: <US dollars for a million tokens>, output: <...>}`"
            ) from None
        dearest = max(dearest, tariff(input_tokens, output_tokens))
    return dearest


@lru_cache
def entry(provider: str, model_id: str, base_url: str | None) -> Any:
    """A model in the offline price table; LookupError where it is not there."""
    from genai_prices.data_snapshot import get_snapshot

    where = (None, base_url) if base_url else (provider, None)
    return get_snapshot().find_provider_model(model_id, None, *where)[1]


@lru_cache(maxsize=256)
def _tariff_at(provider: str, model_id: str, base_url: str | None, second: int) -> Tariff:
    """What a model costs at that second since 1970: some prices hold for hours of the day; LookupError as `entry`."""
    return tariff_of(entry(provider, model_id, base_url), datetime.fromtimestamp(second, UTC))


def tariff_of(found: Any, moment: datetime) -> Tariff:
    """What calls cost by an entry of the table at a moment: what `genai_prices.calc_price` gives.

    That looks each call up anew and at every kind of token there is, and a judgment's cost is worked out three times.
    """
    prices = vars(found.get_prices(moment))  # an attribute that it lacks is looked for in a table of units
    read, written, call = (prices.get(kind) or Decimal(0) for kind in ("input_mtok", "output_mtok", "requests_kcount"))
    if not all(isinstance(price, Decimal) for price in (read, written, call)):
        return lambda tokens, more: _tiered(read, written, call, tokens, more)
    # Decimals are divided exactly here: by powers of ten.
    each, each_more, once = read / 1_000_000, written / 1_000_000, call / 1000
    return lambda tokens, more: float(each * tokens + each_more * more + once)


def _tiered(read: Any, written: Any, call: Any, tokens: int, more: int) -> float:
    spent = _rate(read, tokens) * tokens + _rate(written, tokens) * more
    return float(spent / 1_000_000 + _rate(call, tokens) / 1000)


def _rate(price: Any, input_tokens: int) -> Decimal:
    """A price where so much is read: one with tiers holds for all tokens of a call, by the tokens that it reads."""
    if isinstance(price, Decimal):
        return price
    for tier in reversed(getattr(price, "tiers", ())):
        if input_tokens > tier.start:
            return tier.price
    return getattr(price, "base", price) or Decimal(0)


def dollars(usd: float) -> str:
    """An amount, rounded up: a budget of what is shown is enough.

    >>> dollars(0.02061), dollars(12.0)
    ('$0.0207', '$12.0000')
    """
    return f"${math.ceil(usd * 1e4 - 1e-4) / 1e4:.4f}"


def enough(usd: float) -> str:
    """A budget for an amount, as it is typed: two digits, rounded up, to a cent at least.

    >>> enough(0.0031), enough(0.9012), enough(9.31), enough(12.0), enough(151.2)
    ('0.01', '0.91', '9.40', '12', '160')
    """
    step = max(0.01, 10.0 ** (math.floor(math.log10(usd)) - 1))
    return f"{math.ceil(usd / step - 1e-12) * step:.2f}".removesuffix(".00")


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
    sizes = request.measured
    cached = len(request.system.encode()) + sizes.start if sizes.start else 0
    dearer = math.ceil(service.dearer_writes * cached) if service else 0
    framed = sizes.size + frame + (more if request.schema else 0)
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
