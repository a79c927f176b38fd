"""Money: what a token costs, what an attempt can and did cost, a run's account within its budget, and its plan."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import store
from ..services import SERVICES, own_server
from ..types import Completion, Model, Request

#: Tokens read, tokens written and seconds of a reply.
Took = tuple[int, int, float]
#: Sums of binary fractions are off by less than this many dollars.
ROUNDING = 1e-9


class NoPrice(ValueError):
    """A model whose price nobody knows; the message names the line to add."""


class OverBudget(RuntimeError):
    """A plan that could cost more than the budget; raised before the first call."""


class BudgetReached(RuntimeError):
    """The next attempt could exceed the budget: calls so far were dearer than planned."""

    def __init__(self, text: str, waiting: bool = False) -> None:
        """`waiting`: there would be enough if all that is reserved for calls in flight came back."""
        super().__init__(text)
        self.waiting = waiting


# --- prices -----------------------------------------------------------------------------------------------------------


def cost(model: Model, input_tokens: int, output_tokens: int) -> float:
    """US dollars for so many tokens: the price in models.yaml, else the offline price table; own servers cost 0.

    Of several servers' prices the highest. NoPrice where neither lists the model.
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
            usd = price(entry(provider, model.model_id, url), datetime.now(UTC), input_tokens, output_tokens)
        except LookupError:
            where = f" at {url}" if model.servers else ""
            raise NoPrice(
                f"models.yaml, model '{model.name}': no price is known for {model.model_id!r}{where}; add the line "
                "`price: {input: <US dollars for a million tokens>, output: <...>}`"
            ) from None
        dearest = max(dearest, usd)
    return dearest


@lru_cache
def entry(provider: str, model_id: str, base_url: str | None) -> Any:
    """A model in the offline price table; LookupError where it is not there."""
    from genai_prices.data_snapshot import get_snapshot

    where = (None, base_url) if base_url else (provider, None)
    return get_snapshot().find_provider_model(model_id, None, *where)[1]


def price(found: Any, moment: datetime, input_tokens: int, output_tokens: int) -> float:
    """What a call costs by an entry of the table at a moment (some prices hold for hours of the day).

    `calc_price` of genai_prices gives the same in 50 times the time, and a plan prices every prompt.
    """
    prices, rates = vars(found.get_prices(moment)), []  # an attribute that it lacks is looked for in a table of units
    for kind in ("input_mtok", "output_mtok", "requests_kcount"):
        rate = prices.get(kind)
        reached = [tier.price for tier in getattr(rate, "tiers", ()) if input_tokens > tier.start]
        rates.append(reached[-1] if reached else getattr(rate, "base", rate) or Decimal(0))
    return float((rates[0] * input_tokens + rates[1] * output_tokens) / 1_000_000 + rates[2] / 1000)


def dollars(usd: float, left: bool = False) -> str:
    """An amount, rounded up, so that a budget of what is shown is enough; what is left is rounded down.

    >>> dollars(0.02061), dollars(0.02069, left=True), dollars(-1e-12, left=True)
    ('$0.0207', '$0.0206', '$0.0000')
    """
    return f"${(math.floor(max(usd, 0.0) * 1e4 + 1e-4) if left else math.ceil(usd * 1e4 - 1e-4)) / 1e4:.4f}"


def enough(usd: float) -> str:
    """A budget for an amount, as it is typed: two digits, rounded up, to a cent at least.

    >>> enough(0.0031), enough(9.31), enough(12.0), enough(151.2)
    ('0.01', '9.40', '12', '160')
    """
    step = max(0.01, 10.0 ** (math.floor(math.log10(usd)) - 1))
    return f"{math.ceil(usd / step - 1e-12) * step:.2f}".removesuffix(".00")


# --- what a call can and did cost -------------------------------------------------------------------------------------


def bounds(request: Request) -> tuple[int, int]:
    """The most input and output tokens a call can have: a token is at least a byte; answers to come count in full.

    Includes what a provider bills beside the texts (services.toml). A cache write is dearer and counts as more tokens.
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

    `usd` was spent, `maybe_billed_usd` is the part of it for attempts of which nobody can tell whether they were
    billed: they count as the most that they can have cost. Tokens are the provider's counts; `cached` is part of
    `input`.
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
    """The account of a run at one moment: a row for each model that was asked, in the order of their names.

    `replies` are the keys of the replies that came in this run; `earlier` is what attempts of earlier runs of the
    experiment may have been billed, in US dollars.
    """

    limit: float = 0.0
    rows: tuple[Spending, ...] = ()
    replies: frozenset[str] = frozenset()
    earlier: float = 0.0

    @property
    def total(self) -> Spending:
        """The sums of the rows, under the limit of the run."""
        summed = ("attempts", "usd", "reserved", "maybe_billed", "maybe_billed_usd", "input", "output", "cached")
        sums = {name: sum(getattr(row, name) for row in self.rows) for name in summed}
        return Spending("total", **sums, limit=self.limit, simulated=all(row.simulated for row in self.rows))

    def __str__(self) -> str:
        """The account as a plain table."""
        rows = (*self.rows, self.total)
        line = f"{{:<{max(len(row.model) for row in rows) + 2}}}" + "{:>9}{:>12}{:>11}{:>11}{:>12}{:>18}{:>11}{:>12}"
        names = ("model", "attempts", "tokens in", "cached", "out", "spent", "perhaps billed", "reserved", "left")
        lines = [line.format(*names)]
        for row in rows:
            tokens = [f"{count:,}" for count in (row.input, row.cached, row.output)]
            maybe = f"{row.maybe_billed} ({dollars(row.maybe_billed_usd)})" if row.maybe_billed else "-"
            left = "-" if row.remaining is None else dollars(row.remaining, left=True)
            usd = dollars(row.usd), maybe, dollars(row.reserved), left
            lines.append(line.format(row.model, row.attempts, *tokens, *usd))
        if self.earlier:
            both = f"{dollars(self.earlier)}: {dollars(self.earlier + self.total.usd)} in all."
            lines.append(f"Attempts of earlier runs of this experiment may have been billed {both}")
        return "\n".join(lines)


@dataclass
class Budget:
    """The money of one run, over all its stages: `limit` for all, `limits` for single models by name.

    `total` is what all runs of the experiment may cost together, `earlier` what those before this one may have been
    billed. Money is reserved before each attempt and settled after it. `planned`: a plan of all stages was found to
    fit, so that later ones are counted only (a written answer is bounded by its bytes, which can be more than its
    planned tokens).
    """

    limit: float = 0.0
    limits: Mapping[str, float] = field(default_factory=dict)
    planned: bool = False
    total: float | None = None
    earlier: float = 0.0
    _rows: dict[str, tuple[Model, Counter[str]]] = field(default_factory=dict)
    _open: dict[str, tuple[Request, float]] = field(default_factory=dict)
    _replies: set[str] = field(default_factory=set)

    @property
    def spent(self) -> float:
        """US dollars that all models have cost so far."""
        return math.fsum(row["usd"] for _, row in self._rows.values())

    @property
    def reserved(self) -> float:
        """US dollars set aside for the attempts in flight."""
        return self._reserved(None)

    @property
    def rows(self) -> tuple[Spending, ...]:
        """How the money stands now, a row for each model that was asked."""
        return tuple(
            Spending(name, **row, reserved=self._reserved(name), limit=self.limits.get(name), simulated=model.simulated)
            for name, (model, row) in sorted(self._rows.items())
        )

    @property
    def account(self) -> Account:
        """A snapshot of the account."""
        return Account(self.limit, self.rows, frozenset(self._replies), self.earlier)

    def spent_on(self, model: str) -> float:
        """US dollars that one model has cost so far."""
        return self._rows[model][1]["usd"] if model in self._rows else 0.0

    def caps(self) -> Iterator[tuple[str, str | None, float, float]]:
        """Each limit: its setting, its model (None: all), US dollars, and how many of them are spent."""
        yield "budget_usd", None, self.limit, self.spent
        for name, limit in self.limits.items():
            yield f"budget_usd[{name}]", name, limit, self.spent_on(name)
        if self.total is not None:
            yield "budget_total_usd", None, self.total, self.earlier + self.spent

    def reserve(self, request: Request) -> None:
        """Set the most that an attempt can cost aside, or raise BudgetReached without spending it."""
        usd = worst_case(request)
        if (reached := self.reached(request.model, usd)) is not None:
            raise reached
        self.abandon([request.key])  # an attempt that was never settled is no less sent for being repeated
        self._open[request.key] = (request, usd)
        self._count(request.model, attempts=1)

    def reached(self, asked: Model, usd: float) -> BudgetReached | None:
        """What `reserve` would raise for a call that can cost so much now; None where there is money for it."""
        stops = []
        # What is free goes on also where a bill above the worst case has left less than nothing.
        for setting, model, limit, spent in self.caps() if usd else ():
            reserved = self._reserved(model)
            if model in (None, asked.name) and spent + reserved + usd > limit + ROUNDING:
                text = (
                    f"the next call could bring the cost above {setting}={limit:.4f} "
                    f"({dollars(spent)} spent, {dollars(reserved)} reserved, "
                    f"{dollars(limit - spent - reserved, left=True)} left; the call could cost up to {dollars(usd)})"
                )
                stops.append(BudgetReached(text, waiting=spent + usd <= limit + ROUNDING))
        return min(stops, key=lambda stop: stop.waiting, default=None)  # where one of them is final, it is that one

    def settle(self, request: Request, completion: Completion) -> None:
        """Give back what was reserved for an attempt and count what it cost."""
        self._open.pop(request.key, None)
        usd, usage, maybe = actual(request, completion), completion.usage, completion.maybe_billed
        counts = {"input": usage.input or 0, "output": usage.output or 0, "cached": usage.cached or 0}
        self._count(request.model, usd=usd, maybe_billed=int(maybe), maybe_billed_usd=usd if maybe else 0.0, **counts)
        if completion.status == "ok":
            self._replies.add(request.key)

    def abandon(self, keys: Iterable[str]) -> None:
        """Count attempts that were sent and will never be settled: perhaps billed, at what was reserved."""
        for request, usd in [self._open.pop(key) for key in keys if key in self._open]:
            self._count(request.model, usd=usd, maybe_billed=1, maybe_billed_usd=usd)

    def _count(self, model: Model, **more: float) -> None:
        self._rows.setdefault(model.name, (model, Counter()))[1].update(more)

    def _reserved(self, model: str | None) -> float:
        return math.fsum(usd for request, usd in self._open.values() if model in (None, request.model.name))


# --- the plan of a run ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PlanRow:
    """The calls to one model in one stage; token counts and `usd` are upper bounds for the missing calls.

    `shared_tokens` are beginnings that an earlier call has too. What is expected of the missing calls (US dollars,
    seconds) follows from `seen` stored replies; None where nothing is stored.
    """

    stage: str
    model: str
    calls: int = 0
    stored: int = 0
    missing: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    shared_tokens: int = 0
    expected_usd: float | None = None
    expected_seconds: float | None = None
    seen: int = 0


@dataclass(frozen=True)
class Plan:
    """All stages of a run; `notes` are sentences that belong below the table."""

    rows: tuple[PlanRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """How many calls would be made."""
        return sum(row.missing for row in self.rows)

    @property
    def usd(self) -> float:
        """The most that they could cost."""
        return sum(row.usd for row in self.rows)

    def check(self, budget: Budget) -> Plan:
        """The plan itself, or OverBudget with `excess` and the table."""
        if excess := self.excess(budget):
            raise OverBudget(f"{excess}\n{self}")
        return self

    def excess(self, budget: Budget) -> str:
        """Count and cost of what is missing and how many calls would fit; "" where all fit the budget."""
        named = all(row.model in budget.limits for row in self.rows)
        lines = []
        for setting, model, limit, spent in budget.caps():
            rows = [row for row in self.rows if model in (None, row.model)]
            usd = math.fsum(row.usd for row in rows)
            theirs = setting == "budget_usd" and named and limit + ROUNDING >= math.fsum(budget.limits.values())
            if not usd or spent + usd <= limit + ROUNDING or theirs:  # what the models may spend says it all
                continue
            missing, share = sum(row.missing for row in rows), max(0.0, limit - spent) / usd
            fit = sum(math.floor(row.missing * share + ROUNDING) if row.usd else row.missing for row in rows)
            already = f" ({dollars(spent)} of it is spent)" if spent else ""
            if setting == "budget_total_usd":
                already = f" (of which earlier attempts may have been billed {dollars(spent)})"
            lines.append(
                f"{missing} calls{f' to {model}' if model else ''} are missing and could cost up to {dollars(usd)}, "
                f"which is more than {setting}={limit:.4f}{already}: {f'about {fit}' if fit else 'none'} of them would "
                f"fit; raise {setting} to {dollars(spent + usd)}, or ask less (question_limit, judges)."
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        """The plan as a plain table."""
        line = "{:<10}{:<26}{:>7}{:>8}{:>9}{:>12}{:>11}{:>12}".format
        lines = [line("stage", "model", "calls", "stored", "missing", "tokens in", "out", "USD")]
        for r in self.rows:
            bounds = f"{r.input_tokens:,}", f"{r.output_tokens:,}", f"{r.usd:.4f}"
            lines.append(line(r.stage, r.model, r.calls, r.stored, r.missing, *bounds))
        calls, stored = sum(r.calls for r in self.rows), sum(r.stored for r in self.rows)
        lines += [line("total", "", calls, stored, self.missing, "", "", f"{self.usd:.4f}")]
        return "\n".join([*lines, "Tokens and USD: upper bounds.", *self._expected(), *self._cache(), *self.notes])

    def _expected(self) -> list[str]:
        lines = []
        for name in dict.fromkeys(row.model for row in self.rows if row.missing):
            rows = [row for row in self.rows if row.model == name and row.missing]
            if any(row.expected_usd is None for row in rows):
                continue
            usd = math.fsum(row.expected_usd or 0 for row in rows)
            seconds = math.fsum(row.expected_seconds or 0 for row in rows)
            took = f", {_duration(seconds)}" if seconds else ""
            lines.append(f"Expected of {name}: {dollars(usd)}{took} (from {rows[0].seen:,} stored replies).")
        return lines

    def _cache(self) -> list[str]:
        shared, every = sum(row.shared_tokens for row in self.rows), sum(row.input_tokens for row in self.rows)
        if not shared:
            return []
        return [
            f"{shared:,} of {every:,} tokens in ({shared / every:.0%}) are passages that calls to one model share and "
            "begin with: a provider's prompt cache can save most of their price (not counted on above)."
        ]


def _duration(seconds: float) -> str:
    """A time as people say it, rounded up.

    >>> _duration(4.2), _duration(200), _duration(9000)
    ('about 5 s', 'about 4 min', 'about 2.5 h')
    """
    if seconds < 60:
        return f"about {math.ceil(seconds)} s"
    return f"about {math.ceil(seconds / 60)} min" if seconds < 7200 else f"about {seconds / 3600:.1f} h"


def unique(requests: Iterable[Request]) -> dict[str, Request]:
    """The requests by key, in their order; equal ones are asked once."""
    found: dict[str, Request] = {}
    for request in requests:
        found.setdefault(request.key, request)
    return found


def _replied(path: Path | None) -> dict[str, Took | None]:
    """Tokens and seconds of each stored reply of a model, by key; None where nobody counted."""
    found: dict[str, Took | None] = {}
    for reply in store.replies(path) if path else ():
        read, written = reply.usage.input, reply.usage.output
        found[reply.key] = None if None in (read, written) else (read, written, reply.latency or 0.0)
    return found


def _expected(model: Model, missing: int, alike: Sequence[Took], concurrency: int) -> dict[str, float]:
    """US dollars and seconds of so many missing calls, if they are like these stored ones on average."""
    if not alike or not missing or model.simulated:
        return {}
    read, written, seconds = (math.fsum(each) / len(alike) for each in zip(*alike, strict=True))
    usd, side_by_side = cost(model, round(read), round(written)), max(1, min(concurrency, missing))
    return {"expected_usd": missing * usd, "expected_seconds": missing * seconds / side_by_side, "seen": len(alike)}


def make_plan(stages: Mapping[str, Iterable[Request]], folder: Path | None, concurrency: int = 16) -> Plan:
    """Calls, tokens and dollars per stage and model, in one pass; what is in the store is not asked again.

    Stages hold requests in the order in which they will be asked. Equal requests are one call, but for prompts that are
    equal only while their answers are unwritten. What is expected follows from the stored replies of the stage, or of
    the model where the stage has none. Without a folder nothing is stored.
    """
    rows: list[PlanRow] = []
    stored: dict[str, dict[str, Took | None]] = {}
    for stage, requests in stages.items():
        counted: dict[str, tuple[Model, Any]] = {}
        starts: set[tuple[str, bytes]] = set()  # by model, the beginnings worth caching that were seen
        alike: dict[str, list[Took]] = {}
        seen: set[str] = set()
        for request in requests:
            name, key, sizes = request.model.name, None if request.unwritten else request.key, request.measured
            if key in seen:
                continue
            if name not in stored:
                # In this model's file alone: another name of the same model has a file of its own.
                stored[name] = _replied(store.file_of(folder, name) if folder else None)
            here, (_, row) = stored[name], counted.setdefault(name, (request.model, Counter()))
            row.update({"calls": 1, "stored" if key in here else "missing": 1})
            if key in here:
                alike.setdefault(name, []).extend(filter(None, [here[key]]))
            else:
                read, written = bounds(request)
                row.update(input_tokens=read, output_tokens=written, usd=cost(request.model, read, written))
                row["shared_tokens"] += sizes.start if (name, sizes.starts) in starts else 0
                starts.add((name, sizes.starts))
            if key is not None:
                seen.add(key)
                here.setdefault(key, None)
        for name, (model, row) in counted.items():
            like = alike.get(name) or [each for each in stored[name].values() if each]
            more: Any = _expected(model, row["missing"], like, model.concurrency or concurrency)
            rows.append(PlanRow(stage, name, **row, **more))
    return Plan(tuple(rows))


def earlier(experiment: str, models: Iterable[Model], folder: Path) -> float:
    """US dollars that stored attempts of an experiment may have been billed, at today's prices of these models.

    A reply that several experiments share counts for the first to ask. NoPrice where a price is unknown.
    """
    found = []
    for model in {model.name: model for model in models if not model.simulated}.values():
        for record in store.lines(store.file_of(folder, model.name)):
            if record["labels"].get("experiment") == experiment:
                found.append(billed(model, record, store.completion_of(record)))
    return math.fsum(found)
