"""The account of one run: reserved before each attempt, settled after it, never above the budget, kept by model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter

from helpers.judge.prices import actual, dollars, left, worst_case
from helpers.types import Completion, Request

#: Sums of binary fractions are off by less than this many dollars.
ROUNDING = 1e-9
#: And one that is added to and taken from a million times by less than this.
DRIFT = 1e-3


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


@dataclass(frozen=True)
class Account:
    """The account of a run as it stood at one moment: a row a model that was asked, in the order of their names.

    `replies` are the keys of the replies that came in this run; all others that it reads were asked before.
    """

    limit: float = 0.0
    rows: tuple[Spending, ...] = ()
    replies: frozenset[str] = frozenset()

    @property
    def total(self) -> Spending:
        """The sums of the rows, under the limit of the run."""
        return summed("total", self.rows, self.limit)

    def __str__(self) -> str:
        """The account as a plain table."""
        width = max(len(row.model) for row in (*self.rows, self.total)) + 2
        head = (
            f"{'model':<{width}}{'attempts':>9}{'tokens in':>12}{'cached':>11}{'out':>11}{'spent':>12}"
            f"{'perhaps billed':>18}{'reserved':>11}{'left':>12}"
        )
        return "\n".join([head, *(_line(row, width) for row in (*self.rows, self.total))])


@dataclass
class Budget:
    """The money of one run, over all its stages: `limit` for all, `limits` for single models by name.

    `planned` says that a plan of all stages was found to fit. Later stages are then not checked again, only counted:
    a written answer is bounded by its bytes, which can be more than the tokens that the plan counted for it.
    """

    limit: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)
    planned: bool = False
    _sums: dict[str, dict[str, float]] = field(default_factory=dict)
    _open: dict[str, tuple[Request, float]] = field(default_factory=dict)
    _replies: set[str] = field(default_factory=set)
    _aside: float = 0.0  # what is reserved, within DRIFT: a sum over all calls in flight at each call is dear

    @property
    def spent(self) -> float:
        """US dollars that all models have cost so far."""
        return math.fsum(sums.get("usd", 0.0) for sums in self._sums.values())

    @property
    def reserved(self) -> float:
        """US dollars set aside for the attempts in flight."""
        return math.fsum(map(itemgetter(1), self._open.values()))

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
        return Account(self.limit, self.rows, frozenset(self._replies))

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
        self._aside += usd
        self._count(name, attempts=1)
        self._sums[name]["simulated"] = request.model.simulated

    def reached(self, request: Request, usd: float | None = None) -> BudgetReached | None:
        """What `reserve` would raise for a request now; None where there is money for it. `usd`: its worst case."""
        name, usd = request.model.name, worst_case(request) if usd is None else usd
        if not usd:  # also where a bill above the worst case has left less than nothing
            return None
        if not self.limits and self.spent + self._aside + usd < self.limit - DRIFT:
            return None
        stops = []
        for model, limit in ((None, self.limit), (name, self.limits.get(name))):
            if limit is None:
                continue
            spent = self.spent if model is None else self.spent_on(model)
            reserved = self.reserved if model is None else self._reserved(model)
            if spent + reserved + usd > limit + ROUNDING:
                told = (
                    f"the next call could bring the cost above budget_usd{f'[{model}]' if model else ''}={limit:.4f} "
                    f"({dollars(spent)} spent, {dollars(reserved)} reserved, {left(limit - spent - reserved)} left; "
                    f"the call could cost up to {dollars(usd)})"
                )
                stops.append(BudgetReached(told, waiting=spent + usd <= limit + ROUNDING))
        return min(stops, key=lambda stop: stop.waiting, default=None)  # where one of them is final, it is that one

    def settle(self, request: Request, completion: Completion) -> None:
        """Give back what was reserved for an attempt and count what it cost."""
        self._close(request.key)
        usd, usage, name = actual(request, completion), completion.usage, request.model.name
        self._count(name, usd=usd, input=usage.input or 0, output=usage.output or 0, cached=usage.cached or 0)
        if completion.maybe_billed:
            self._count(name, maybe_billed=1, maybe_billed_usd=usd)
        if completion.status == "ok":
            self._replies.add(request.key)

    def abandon(self, keys: Iterable[str]) -> None:
        """Count attempts that were sent and of which nobody will ever hear: perhaps billed, at what was reserved."""
        for request, usd in [self._close(key) for key in keys if key in self._open]:
            self._count(request.model.name, usd=usd, maybe_billed=1, maybe_billed_usd=usd)

    def _close(self, key: str) -> tuple[Request, float] | None:
        """What was reserved for a call is so no more: what it was, None where it was nothing."""
        closed = self._open.pop(key, None)
        if closed is not None:
            self._aside = self._aside - closed[1] if self._open else 0.0
        return closed

    def _count(self, model: str, **more: float) -> None:
        sums = self._sums.setdefault(model, {})
        for name, amount in more.items():
            sums[name] = sums.get(name, 0) + amount

    def _reserved(self, model: str) -> float:
        return math.fsum(usd for request, usd in self._open.values() if request.model.name == model)


def summed(name: str, rows: Iterable[Spending], limit: float | None) -> Spending:
    """One row with the sums of these, under a limit of its own."""
    rows = tuple(rows)
    return Spending(
        name,
        attempts=sum(row.attempts for row in rows),
        usd=math.fsum(row.usd for row in rows),
        reserved=math.fsum(row.reserved for row in rows),
        maybe_billed=sum(row.maybe_billed for row in rows),
        maybe_billed_usd=math.fsum(row.maybe_billed_usd for row in rows),
        input=sum(row.input for row in rows),
        output=sum(row.output for row in rows),
        cached=sum(row.cached for row in rows),
        limit=limit,
        simulated=all(row.simulated for row in rows),
    )


def _line(row: Spending, width: int) -> str:
    maybe = f"{row.maybe_billed} ({dollars(row.maybe_billed_usd)})" if row.maybe_billed else "-"
    remaining = "-" if row.remaining is None else left(row.remaining)
    return (
        f"{row.model:<{width}}{row.attempts:>9}{row.input:>12,}{row.cached:>11,}{row.output:>11,}"
        f"{dollars(row.usd):>12}{maybe:>18}{dollars(row.reserved):>11}{remaining:>12}"
    )
