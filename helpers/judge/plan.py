"""What a run would ask, and what that could cost at most, before anything is asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from helpers import store
from helpers.judge.budget import ROUNDING, Budget, OverBudget, billed, bounds, cost, dollars
from helpers.types import Model, Request


@dataclass(frozen=True)
class PlanRow:
    """The calls to one model in one stage; token counts and `usd` are upper bounds for the missing calls.

    `shared_tokens` of the input are beginnings that an earlier one of these calls has too. What is expected of the
    missing calls follows from `seen` stored replies of the model: US dollars, and seconds with so many calls at once as
    the run makes; None where nothing is stored.
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
        """The plan itself, or OverBudget with the table below what `excess` says."""
        if told := self.excess(budget):
            raise OverBudget(f"{told}\n{self}")
        return self

    def excess(self, budget: Budget) -> str:
        """Count and cost of what is missing and how many calls would fit, where not all do; "" where all fit.

        What the run has spent already counts; the budget of each model is checked beside that of all.
        """
        limits: dict[str | None, float] = {**budget.limits}
        named = all(row.model in limits for row in self.rows)
        if not (named and budget.limit + ROUNDING >= math.fsum(limits.values())):  # else theirs say it all
            limits = {None: budget.limit, **limits}
        found = [self._above(budget, model, limit) for model, limit in limits.items()]
        before = budget.earlier + budget.spent
        if budget.total is not None and self.usd and before + self.usd > budget.total + ROUNDING:
            found.append(
                f"{self.missing} calls are missing and could cost up to {dollars(self.usd)}; with {dollars(before)} "
                f"that earlier attempts may have been billed that is more than budget_total_usd={budget.total:.4f}: "
                f"raise it to {dollars(before + self.usd)}, or ask less (question_limit, judges)."
            )
        return "\n".join(filter(None, found))

    def _above(self, budget: Budget, model: str | None, limit: float) -> str:
        """What is wrong where the calls to a model (None: to all) could cost more than its limit leaves; else ""."""
        rows = [row for row in self.rows if model in (None, row.model)]
        usd = math.fsum(row.usd for row in rows)
        spent = budget.spent if model is None else budget.spent_on(model)
        if not usd or spent + usd <= limit + ROUNDING:
            return ""
        missing, share = sum(row.missing for row in rows), max(0.0, limit - spent) / usd
        fit = sum(math.floor(row.missing * share + ROUNDING) if row.usd else row.missing for row in rows)
        setting, whose = ("budget_usd", "") if model is None else (f"budget_usd[{model}]", f" to {model}")
        already = f" ({dollars(spent)} of it is spent)" if spent else ""
        return (
            f"{missing} calls{whose} are missing and could cost up to {dollars(usd)}, which is more than "
            f"{setting}={limit:.4f}{already}: {f'about {fit}' if fit else 'none'} of them would fit; raise {setting} "
            f"to {dollars(spent + usd)}, or ask less (question_limit, judges)."
        )

    def __str__(self) -> str:
        """The plan as a plain table."""
        head = (
            f"{'stage':<10}{'model':<26}{'calls':>7}{'stored':>8}{'missing':>9}{'tokens in':>12}{'out':>11}{'USD':>12}"
        )
        body = [
            f"{r.stage:<10}{r.model:<26}{r.calls:>7}{r.stored:>8}{r.missing:>9}"
            f"{r.input_tokens:>12,}{r.output_tokens:>11,}{r.usd:>12.4f}"
            for r in self.rows
        ]
        total = f"{'total':<36}{sum(r.calls for r in self.rows):>7}{sum(r.stored for r in self.rows):>8}"
        last = f"{total}{self.missing:>9}{self.usd:>35.4f}"
        return "\n".join(
            [head, *body, last, "Tokens and USD: upper bounds.", *self._expected(), *self._cache(), *self.notes]
        )

    def _expected(self) -> list[str]:
        """What the missing calls will probably cost and take, from what stands in the store of the same models."""
        told = []
        for name in dict.fromkeys(row.model for row in self.rows if row.missing):
            rows = [row for row in self.rows if row.model == name and row.missing]
            if any(row.expected_usd is None for row in rows):
                continue
            usd = math.fsum(row.expected_usd or 0 for row in rows)
            seconds = math.fsum(row.expected_seconds or 0 for row in rows)
            took = f", {_duration(seconds)}" if seconds else ""
            told.append(f"Expected of {name}: {dollars(usd)}{took} (from {rows[0].seen:,} stored replies).")
        return told

    def _cache(self) -> list[str]:
        """What a provider's cache can save, where calls begin alike."""
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


class _Known:
    """What stands in the store of one model: keys with a reply, and what replies cost and took on average."""

    def __init__(self, path: Path | None) -> None:
        """Read a store file; without one nothing is known."""
        self.keys: set[str] = set()
        self.read: dict[str, int] = {}
        written, seconds = [], []
        for reply in store.replies(path) if path else ():
            self.keys.add(reply.key)
            if reply.usage.input is not None and reply.usage.output is not None:
                self.read[reply.key] = reply.usage.input
                written.append(reply.usage.output)
            if reply.latency is not None:
                seconds.append(reply.latency)
        self.seen = len(written)
        self.written, self.seconds = (math.fsum(each) / max(1, len(each)) for each in (written, seconds))
        self.size = self.size_read = 0  # bytes of prompts that were met again, and the tokens that they were

    def expected(self, model: Model, missing: int, size: int, concurrency: int) -> dict[str, float]:
        """US dollars and seconds of so many missing calls whose prompts have this size in bytes together."""
        if not self.seen or not missing or model.simulated:
            return {}
        mean = math.fsum(self.read.values()) / self.seen
        read = size * self.size_read / self.size / missing if self.size else mean
        usd = missing * cost(model, round(read), round(self.written))
        seconds = missing * self.seconds / max(1, min(concurrency, missing))
        return {"expected_usd": usd, "expected_seconds": seconds, "seen": self.seen}


def make_plan(stages: Mapping[str, Iterable[Request]], folder: Path | None, concurrency: int = 16) -> Plan:
    """Calls, tokens and dollars per stage and model, in one pass; what is in the store is not asked again.

    Stages hold requests in the order in which they will be asked; what an earlier stage asks is stored for a later one,
    and a request with unwritten answers counts as missing. Without a folder nothing is stored. Equal requests are one
    call, but prompts that are equal only while their answers are unwritten are not. What is expected of the missing
    calls is for so many at once.
    """
    rows: list[PlanRow] = []
    known: dict[str, _Known] = {}
    for stage, requests in stages.items():
        counted: dict[str, tuple[Model, Counter[str]]] = {}
        starts: set[tuple[str, bytes]] = set()  # by model, the beginnings worth caching that were seen
        seen: set[str] = set()
        missing_bytes: Counter[str] = Counter()
        for request in requests:
            name, key, sizes = request.model.name, None if request.unwritten else request.key, request.measured
            if key in seen:
                continue
            if name not in known:
                # In this model's file alone: another name of the same model has a file of its own.
                known[name] = _Known(store.file_of(folder, name) if folder else None)
            here, (_, row) = known[name], counted.setdefault(name, (request.model, Counter()))
            stored = key in here.keys
            row.update({"calls": 1, "stored" if stored else "missing": 1})
            if stored and key in here.read:
                here.size += sizes.size
                here.size_read += here.read[key]
            if not stored:
                read, written = bounds(request)
                row.update(input_tokens=read, output_tokens=written, usd=cost(request.model, read, written))
                row["shared_tokens"] += sizes.start if (name, sizes.starts) in starts else 0
                starts.add((name, sizes.starts))
                missing_bytes[name] += sizes.size
            if key is not None:
                seen.add(key)
                here.keys.add(key)
        for name, (model, row) in counted.items():
            more = known[name].expected(model, row["missing"], missing_bytes[name], model.concurrency or concurrency)
            rows.append(PlanRow(stage, name, **row, **more))
    return Plan(tuple(rows))


def earlier(experiment: str, models: Iterable[Model], folder: Path) -> float:
    """US dollars that stored attempts of an experiment may have been billed, at today's prices of these models.

    A reply that several experiments share counts for the first to ask. NoPrice where nobody knows a price.
    """
    found = []
    for model in {model.name: model for model in models if not model.simulated}.values():
        for record in store.lines(store.file_of(folder, model.name)):
            if record["labels"].get("experiment") == experiment:
                found.append(billed(model, record, store.completion_of(record)))
    return math.fsum(found)
