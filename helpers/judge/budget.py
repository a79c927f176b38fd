"""Money: what a token costs, what an attempt can and did cost, and the account of one run, never above its budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from helpers.services import SERVICES, own_server
from helpers.types import Completion, Model, Request

#: Sums of binary fractions are off by less than this many dollars.
ROUNDING = 1e-9
#: US dollars of a call, by its input and output tokens.
Tariff = Callable[[int, int], float]


class NoPrice(ValueError):
    """A model whose price nobody knows; the message names the line to add."""


class OverBudget(RuntimeError):
    """A plan that could cost more than the budget; raised before the first call."""


class BudgetReached(RuntimeError):
    """The next attempt could exceed the budget: calls so far were dearer than planned (retries that were billed).

    `waiting` says that there would be enough if all that is reserved for calls in flight came back.
    """

    def __init__(self, message: str, waiting: bool) -> None:
        """The message tells whose budget it is, what was spent and what is left."""
        super().__init__(message)
        self.waiting = waiting


# --- prices -----------------------------------------------------------------------------------------------------------


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

    That takes half a millisecond a call, and a judgment's cost is worked out three times.
    """
    prices = vars(found.get_prices(moment))  # an attribute that it lacks is looked for in a table of units
    read, written, call = (prices.get(kind) for kind in ("input_mtok", "output_mtok", "requests_kcount"))

    def tariff(tokens: int, more: int) -> float:
        per_token = _rate(read, tokens) * tokens + _rate(written, tokens) * more
        return float(per_token / 1_000_000 + _rate(call, tokens) / 1000)

    return tariff


def _rate(price: Any, input_tokens: int) -> Decimal:
    """A price where so much is read: one with tiers holds for all tokens of a call, by the tokens that it reads."""
    if price is None or isinstance(price, Decimal):
        return price or Decimal(0)
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


# --- what a call can and did cost -------------------------------------------------------------------------------------


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


def billed(model: Model, record: Mapping[str, Any], completion: Completion) -> float:
    """What an attempt in the store cost at most, at the price of this model: `actual` of a line as it stands there."""
    asked = record["request"]
    # Nobody stored how much of the prompt was meant for a cache: all of it is the dearest case.
    request = Request(model, asked["prompt"], asked["system"], asked["schema"], shared=asked["prompt"])
    return actual(request, completion)


# --- the account of a run ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Spending:
    """What one model has cost in this run, or (`model` "total") all of them; amounts in US dollars.

    `usd` holds what was spent, `maybe_billed_usd` the part of it for the `maybe_billed` attempts of which nobody can
    tell whether they were billed (a broken line, a time that ran out, a body that cannot be read): they count as the
    most that they can have cost. `attempts` were sent. Tokens are the provider's counts; `cached` is part of `input`.
    `simulated` models cost nothing and are nobody's account.
    """

    model: str
    attempts: int = 0
    usd: float = 0.0
    reserved: float = 0.0
    maybe_billed: int = 0
    maybe_billed_usd: float = 0.0
    input: int = 0
    output: int = 0
    cached: int = 0
    limit: float | None = None
    simulated: bool = False

    @property
    def remaining(self) -> float | None:
        """What is left of the limit; None where there is none."""
        return None if self.limit is None else self.limit - self.usd - self.reserved


#: What the row of the total adds up, and what of that is counted in whole numbers.
_COUNTED = ("attempts", "maybe_billed", "input", "output", "cached")
_SUMMED = (*_COUNTED, "usd", "reserved", "maybe_billed_usd")


def summed(name: str, rows: Iterable[Spending], limit: float | None) -> Spending:
    """One row with the sums of these, under a limit of its own."""
    rows = tuple(rows)
    sums = {each: math.fsum(getattr(row, each) for row in rows) for each in _SUMMED}
    sums |= {each: int(sums[each]) for each in _COUNTED}
    return Spending(name, **sums, limit=limit, simulated=all(row.simulated for row in rows))


@dataclass(frozen=True)
class Account:
    """The account of a run as it stood at one moment: a row a model that was asked, in the order of their names.

    `replies` are the keys of the replies that came in this run; all others that it reads were asked before. `earlier`
    is what attempts of earlier runs of the same experiment may have been billed, in US dollars.
    """

    limit: float = 0.0
    rows: tuple[Spending, ...] = ()
    replies: frozenset[str] = frozenset()
    earlier: float = 0.0

    @property
    def total(self) -> Spending:
        """The sums of the rows, under the limit of the run."""
        return summed("total", self.rows, self.limit)

    def __str__(self) -> str:
        """The account as a plain table."""
        rows = (*self.rows, self.total)
        width = max(len(row.model) for row in rows) + 2
        head = (
            f"{'model':<{width}}{'attempts':>9}{'tokens in':>12}{'cached':>11}{'out':>11}{'spent':>12}"
            f"{'perhaps billed':>18}{'reserved':>11}{'left':>12}"
        )
        lines = [head]
        for row in rows:
            maybe = f"{row.maybe_billed} ({dollars(row.maybe_billed_usd)})" if row.maybe_billed else "-"
            lines.append(
                f"{row.model:<{width}}{row.attempts:>9}{row.input:>12,}{row.cached:>11,}{row.output:>11,}"
                f"{dollars(row.usd):>12}{maybe:>18}{dollars(row.reserved):>11}"
                f"{'-' if row.remaining is None else left(row.remaining):>12}"
            )
        if self.earlier:
            told = "Attempts of earlier runs of this experiment may have been billed"
            lines.append(f"{told} {dollars(self.earlier)}: {dollars(self.earlier + self.total.usd)} in all.")
        return "\n".join(lines)


@dataclass
class Budget:
    """The money of one run, over all its stages: `limit` for all, `limits` for single models by name.

    `total` is what all runs of the experiment may cost together (None: no such limit), `earlier` what those before this
    one may have been billed. Money is reserved before each attempt and settled after it. `planned` says that a plan of
    all stages was found to fit. Later stages are then not checked again, only counted: a written answer is bounded by
    its bytes, which can be more than the tokens that the plan counted for it.
    """

    limit: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)
    planned: bool = False
    total: float | None = None
    earlier: float = 0.0
    _sums: dict[str, dict[str, float]] = field(default_factory=dict)
    _open: dict[str, tuple[Request, float]] = field(default_factory=dict)
    _replies: set[str] = field(default_factory=set)

    @property
    def spent(self) -> float:
        """US dollars that all models have cost so far."""
        return math.fsum(sums.get("usd", 0.0) for sums in self._sums.values())

    @property
    def reserved(self) -> float:
        """US dollars set aside for the attempts in flight."""
        return math.fsum(usd for _, usd in self._open.values())

    @property
    def rows(self) -> tuple[Spending, ...]:
        """How the money stands now, a row a model that was asked."""
        return tuple(
            Spending(name, **sums, reserved=self._reserved(name), limit=self.limits.get(name))
            for name, sums in sorted(self._sums.items())
        )

    @property
    def account(self) -> Account:
        """The same with what came in, to be kept."""
        return Account(self.limit, self.rows, frozenset(self._replies), self.earlier)

    def spent_on(self, model: str) -> float:
        """US dollars that one model has cost so far."""
        return self._sums.get(model, {}).get("usd", 0.0)

    def reserve(self, request: Request) -> None:
        """Set the most that an attempt can cost aside, or raise BudgetReached without spending it."""
        name, usd = request.model.name, worst_case(request)
        if (reached := self.reached(request, usd)) is not None:
            raise reached
        self.abandon([request.key])  # an attempt that was never settled is no less sent for being repeated
        self._open[request.key] = (request, usd)
        self._count(name, attempts=1)
        self._sums[name]["simulated"] = request.model.simulated

    def reached(self, request: Request, usd: float | None = None) -> BudgetReached | None:
        """What `reserve` would raise for a request now; None where there is money for it. `usd`: its worst case."""
        name, usd = request.model.name, worst_case(request) if usd is None else usd
        if not usd:  # also where a bill above the worst case has left less than nothing
            return None
        limits = [("budget_usd", self.limit, self.spent, self.reserved)]
        if name in self.limits:
            limits.append((f"budget_usd[{name}]", self.limits[name], self.spent_on(name), self._reserved(name)))
        if self.total is not None:
            limits.append(("budget_total_usd", self.total, self.earlier + self.spent, self.reserved))
        stops = []
        for setting, limit, spent, reserved in limits:
            if spent + reserved + usd > limit + ROUNDING:
                told = (
                    f"the next call could bring the cost above {setting}={limit:.4f} "
                    f"({dollars(spent)} spent, {dollars(reserved)} reserved, {left(limit - spent - reserved)} left; "
                    f"the call could cost up to {dollars(usd)})"
                )
                stops.append(BudgetReached(told, waiting=spent + usd <= limit + ROUNDING))
        return min(stops, key=lambda stop: stop.waiting, default=None)  # where one of them is final, it is that one

    def settle(self, request: Request, completion: Completion) -> None:
        """Give back what was reserved for an attempt and count what it cost."""
        self._open.pop(request.key, None)
        usd, usage, name = actual(request, completion), completion.usage, request.model.name
        self._count(name, usd=usd, input=usage.input or 0, output=usage.output or 0, cached=usage.cached or 0)
        if completion.maybe_billed:
            self._count(name, maybe_billed=1, maybe_billed_usd=usd)
        if completion.status == "ok":
            self._replies.add(request.key)

    def abandon(self, keys: Iterable[str]) -> None:
        """Count attempts that were sent and of which nobody will ever hear: perhaps billed, at what was reserved."""
        for request, usd in [self._open.pop(key) for key in keys if key in self._open]:
            self._count(request.model.name, usd=usd, maybe_billed=1, maybe_billed_usd=usd)

    def _count(self, model: str, **more: float) -> None:
        sums = self._sums.setdefault(model, {})
        for name, amount in more.items():
            sums[name] = sums.get(name, 0) + amount

    def _reserved(self, model: str) -> float:
        return math.fsum(usd for request, usd in self._open.values() if request.model.name == model)
