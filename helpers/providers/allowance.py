"""How much an address may be asked: by limits of our own, and by what its replies say is left."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from helpers.providers.headers import LONGEST_PAUSE, Told
from helpers.types import Request, Usage

#: Calls that a limit of our own lets through at once, as seconds of its rate: what a late sleeper may catch up with.
CATCH_UP = 0.25
#: Where nothing is left and the service said that all is back in no time, its next reply is waited for, in seconds.
NEXT_LOOK = 0.05
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
class Log:
    """What was sent to an address of one kind (calls, tokens), and when; no further back than LONGEST_PAUSE."""

    times: list[float] = field(default_factory=list)
    totals: list[float] = field(default_factory=list)
    forgotten: float = 0.0

    @property
    def total(self) -> float:
        """All that was ever sent."""
        return self.totals[-1] if self.totals else self.forgotten

    @property
    def last(self) -> float:
        """When the last call began."""
        return self.times[-1] if self.times else -math.inf

    def add(self, amount: float, now: float) -> None:
        """A call that begins."""
        self.totals.append(self.total + amount)
        self.times.append(now)
        if self.times[0] < now - 2 * LONGEST_PAUSE:
            old = bisect_right(self.times, now - LONGEST_PAUSE)
            self.forgotten = self.totals[old - 1]
            del self.times[:old], self.totals[:old]

    def until(self, moment: float) -> float:
        """All that was sent until a moment."""
        sent = bisect_right(self.times, moment)
        return self.totals[sent - 1] if sent else self.forgotten


@dataclass
class Gauge:
    """One limit of one model as the service last told it; what was sent since counts against it.

    The first half of the limit is free; the second is spread over the time until all is back. A service that refills
    bit by bit is then asked at its very rate (from a half, what is left over the time to the full is that rate), and
    one that refills at once is asked until all is used. When all should be back and no reply has said so, a call
    counts for `refill` seconds, in which the whole limit comes back bit by bit: no such time holds more than the limit.
    """

    limit: float = math.inf
    remaining: float = math.inf
    full_at: float = -math.inf
    period: float = 0.0
    refill: float = LONGEST_PAUSE
    mark: float = 0.0

    def hear(self, told: Told, sent: float, now: float) -> None:
        """Take over what a reply said, whose call had `sent` as all that was sent; of older calls no word counts."""
        if sent > self.mark:
            self.limit, self.remaining, self.mark = told.limit, told.remaining, sent
            self.full_at, self.period = now + told.seconds, max(self.period, told.seconds)
            used = told.limit - told.remaining
            if used and told.seconds:  # what is full, or back in no time, does not tell how fast
                self.refill = min(told.seconds * told.limit / used, LONGEST_PAUSE)

    def wait(self, cost: float, log: Log, now: float) -> float:
        """Seconds until a call of this cost may begin; 0 or less: now."""
        if now >= self.full_at:
            self.remaining, self.full_at = self.limit, now + self.period
            self.mark = max(self.mark, log.until(now - self.refill))
        left = self.remaining - (log.total - self.mark)
        if left < min(cost, self.limit):
            return max(self.full_at - now, NEXT_LOOK)
        if left > self.limit / 2:
            return 0.0
        return log.last + cost * (self.full_at - log.last) / left - now


@dataclass
class Allowance:
    """Both kinds of limits for all calls to one address.

    What a service tells holds for the model that was asked, and every call to the address counts against it: whether
    models share a limit is not told.
    """

    limit: Limit = field(default_factory=Limit)
    spacings: dict[str, Spacing] = field(default_factory=dict)
    gauges: dict[tuple[str, str], Gauge] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)
    outputs: dict[str, tuple[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Nothing was sent yet."""
        if (calls := self.limit.requests_per_minute) is not None:
            self.spacings["requests"] = Spacing(calls, int(calls / 60 * CATCH_UP))
        if (tokens := self.limit.tokens_per_minute) is not None:
            self.spacings["tokens"] = Spacing(tokens)

    def own_wait(self, now: float) -> float:
        """Seconds until our own limits let the next call begin, whatever its model; 0 or less: now."""
        return max((spacing.wait(now) for spacing in self.spacings.values()), default=0.0)

    def told_wait(self, request: Request, now: float) -> float:
        """Seconds until this request may be sent by what replies said of its model's limits; 0 or less: now."""
        told = [(counted, gauge) for (model, counted), gauge in self.gauges.items() if model == request.model.model_id]
        if not told:
            return 0.0
        costs = self._costs(request)
        return max(gauge.wait(costs[counted], self.logs[counted], now) for counted, gauge in told)

    def take(self, request: Request, now: float) -> Ticket:
        """Count an attempt that begins."""
        costs = self._costs(request)
        for counted, cost in costs.items():
            if counted not in self.logs:
                self.logs[counted] = Log()
            self.logs[counted].add(cost, now)
        for counted, spacing in self.spacings.items():
            spacing.take(costs[counted], now)
        return Ticket(request.model.model_id, costs, {counted: log.total for counted, log in self.logs.items()})

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
        read, most = most_tokens(request)
        calls, total = self.outputs.get(request.model.model_id, (0, 0.0))
        written = total / calls if calls else float(most)
        return {"requests": 1.0, "tokens": read + written, "input": float(read), "output": written}


def most_tokens(request: Request) -> tuple[int, int]:
    """The tokens of prompt and reply for which a call is taken before its model's replies are known.

    An answer that the prompt will show and nobody has written yet is not counted: hardly any is as long as its limit.
    """
    read = math.ceil(request.measured.size / BYTES_PER_TOKEN)
    return read, request.model.max_tokens
