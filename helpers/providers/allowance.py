"""How much an address may be asked: by limits of our own, and by what its replies say is left."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from helpers.providers.headers import LONGEST_PAUSE, Told
from helpers.types import Request, Usage

#: Calls that a limit of our own lets through at once, as seconds of its rate: what a late sleeper may catch up with.
CATCH_UP = 0.25
#: Before a model's usage is known, a token is taken for so many bytes of a prompt.
BYTES_PER_TOKEN = 4


@dataclass(frozen=True)
class Limit:
    """What one address may be asked in a minute by us; None: no limit."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


@dataclass(frozen=True)
class Ticket:
    """One attempt as its address counted it: what it was taken to cost, and all that had been sent with it."""

    model: str
    costs: Mapping[str, float]
    sent: Mapping[str, float]


@dataclass
class Spacing:
    """A limit of our own, kept by the distance between calls: no minute holds more than `per_minute`.

    A call may come `slack` calls too early, for which the rate is so much lower. (Calls of several tokens each are
    counted when they begin: a minute then holds at most one call more.)
    """

    per_minute: float
    slack: int = 0
    due: float = -math.inf

    @property
    def rate(self) -> float:
        """Units a second."""
        return (self.per_minute - self.slack) / 60

    def wait(self, now: float) -> float:
        """Seconds until the next call may begin."""
        return self.due - self.slack / self.rate - now

    def take(self, amount: float, now: float) -> None:
        """Count a call that begins."""
        self.due = max(self.due, now) + amount / self.rate

    def correct(self, amount: float) -> None:
        """Count so much more (or less) than was taken."""
        self.due += amount / self.rate


@dataclass
class Gauge:
    """One limit of one model as the service last told it, and what was sent since.

    The first half of what is left is free; the second is spread over the time until all is back. A service that
    refills bit by bit is then asked at its very rate (from a half, what is left over the time to the full is that
    rate), and one that refills at once is asked until all is used; neither is asked for more than it has. When all
    should be back, calls that began since count on, until a whole refill has passed (`refill` seconds, bit by bit).
    """

    limit: float = math.inf
    remaining: float = math.inf
    full_at: float = -math.inf
    period: float = 0.0
    refill: float = 0.0
    heard_at: float = 0.0
    mark: float = 0.0

    def hear(self, told: Told, sent: float, now: float) -> None:
        """Take over what a reply said, whose call had `sent` as all that was sent; of older calls no word counts."""
        if sent > self.mark:
            self.limit, self.remaining, self.mark = told.limit, told.remaining, sent
            self.full_at, self.period, self.heard_at = now + told.seconds, max(self.period, told.seconds), now
            used = told.limit - told.remaining
            self.refill = min(told.seconds * told.limit / used, LONGEST_PAUSE) if used else 0.0

    def wait(self, cost: float, sent: float, last: float, now: float) -> float:
        """Seconds until a call of this cost may begin, the last one having begun at `last`."""
        if now >= self.full_at:
            self.remaining, self.full_at = self.limit, now + self.period
            if now >= self.heard_at + self.refill:
                self.mark, self.heard_at = sent, now
        left = self.remaining - (sent - self.mark)
        if left < min(cost, self.limit):
            return self.full_at - now
        if left > self.limit / 2:
            return 0.0
        return last + cost * (self.full_at - last) / left - now


@dataclass
class Allowance:
    """Both kinds of limits for all calls to one address.

    What a service tells holds for the model that was asked, and every call to the address counts against it: whether
    models share a limit is not told.
    """

    limit: Limit = field(default_factory=Limit)
    spacings: dict[str, Spacing] = field(default_factory=dict)
    gauges: dict[tuple[str, str], Gauge] = field(default_factory=dict)
    sent: dict[str, float] = field(default_factory=dict)
    outputs: dict[str, tuple[int, float]] = field(default_factory=dict)
    last: float = -math.inf

    def __post_init__(self) -> None:
        """Nothing was sent yet."""
        if (calls := self.limit.requests_per_minute) is not None:
            self.spacings["requests"] = Spacing(calls, int(calls / 60 * CATCH_UP))
        if (tokens := self.limit.tokens_per_minute) is not None:
            self.spacings["tokens"] = Spacing(tokens)

    def wait(self, request: Request, now: float) -> float:
        """Seconds until this request may be sent; 0 or less: now."""
        costs = self._costs(request)
        waits = [spacing.wait(now) for spacing in self.spacings.values()]
        waits += [
            gauge.wait(costs[counted], self.sent.get(counted, 0.0), self.last, now)
            for (model, counted), gauge in self.gauges.items()
            if model == request.model.model_id
        ]
        return max(waits, default=0.0)

    def take(self, request: Request, now: float) -> Ticket:
        """Count an attempt that begins."""
        costs = self._costs(request)
        for counted, cost in costs.items():
            self.sent[counted] = self.sent.get(counted, 0.0) + cost
        for counted, spacing in self.spacings.items():
            spacing.take(costs[counted], now)
        self.last = now
        return Ticket(request.model.model_id, costs, dict(self.sent))

    def hear(self, ticket: Ticket, told: Mapping[str, Told], now: float) -> None:
        """What the reply to an attempt told of the limits."""
        for counted, each in told.items():
            self.gauges.setdefault((ticket.model, counted), Gauge()).hear(each, ticket.sent[counted], now)

    def settle(self, ticket: Ticket, usage: Usage, refused: bool) -> None:
        """Count an attempt's tokens as they came: what was counted; none where it was refused; else as was taken."""
        counted = usage.input is not None and usage.output is not None
        if counted:
            calls, total = self.outputs.get(ticket.model, (0, 0.0))
            self.outputs[ticket.model] = (calls + 1, total + usage.output)
        if "tokens" in self.spacings and (counted or refused):
            tokens = usage.input + usage.output if counted else 0
            self.spacings["tokens"].correct(tokens - ticket.costs["tokens"])

    def _costs(self, request: Request) -> dict[str, float]:
        """What a call is taken to cost; its output as the model's were so far, before the first as its limit."""
        schema = json.dumps(request.schema) if request.schema else ""
        read = math.ceil(len((request.system + request.prompt + schema).encode()) / BYTES_PER_TOKEN)
        calls, total = self.outputs.get(request.model.model_id, (0, 0.0))
        written = total / calls if calls else float(request.model.max_tokens)
        return {"requests": 1.0, "tokens": read + written, "input": float(read), "output": written}
