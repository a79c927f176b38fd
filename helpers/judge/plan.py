"""What a run would ask, and what that could cost at most, before anything is asked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from helpers import store
from helpers.judge.budget import ROUNDING, Budget, OverBudget, bounds, cost, dollars
from helpers.types import Request


@dataclass(frozen=True)
class PlanRow:
    """The calls to one model in one stage; token counts and `usd` are upper bounds for the missing calls.

    `shared_tokens` of the input are beginnings that an earlier one of these calls has too.
    """

    stage: str
    model: str
    calls: int
    stored: int
    missing: int
    input_tokens: int
    output_tokens: int
    usd: float
    shared_tokens: int = 0


_ADDED = ("calls", "stored", "missing", "input_tokens", "output_tokens", "usd", "shared_tokens")


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
        return "\n".join(filter(None, (self._above(budget, model, limit) for model, limit in limits.items())))

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
        return "\n".join([head, *body, last, "Tokens and USD: upper bounds.", *self._cache(), *self.notes])

    def _cache(self) -> list[str]:
        """What a provider's cache can save, where calls begin alike."""
        shared, every = sum(row.shared_tokens for row in self.rows), sum(row.input_tokens for row in self.rows)
        if not shared:
            return []
        return [
            f"{shared:,} of {every:,} tokens in ({shared / every:.0%}) are passages that calls to one model share and "
            "begin with: a provider's prompt cache can save most of their price (not counted on above)."
        ]


def unique(requests: Iterable[Request]) -> dict[str, Request]:
    """The requests by key, in their order; equal ones are asked once."""
    found: dict[str, Request] = {}
    for request in requests:
        found.setdefault(request.key, request)
    return found


def make_plan(stages: Mapping[str, Iterable[Request]], folder: Path | None) -> Plan:
    """Calls, tokens and dollars per stage and model, in one pass; what is in the store is not asked again.

    Stages hold requests in the order in which they will be asked; what an earlier stage asks is stored for a later one,
    and a request with unwritten answers counts as missing. Without a folder nothing is stored. Equal requests are one
    call, but prompts that are equal only while their answers are unwritten are not.
    """
    rows: list[PlanRow] = []
    stored: dict[str, set[str]] = {}
    for stage, requests in stages.items():
        counted: dict[str, dict[str, float]] = {}
        starts: set[tuple[str, bytes]] = set()  # by model, the beginnings worth caching that were seen
        seen: set[str] = set()
        for request in requests:
            name, key = request.model.name, None if request.unwritten else request.key
            if key in seen:
                continue
            if name not in stored:
                # In this model's file alone: another name of the same model has a file of its own.
                stored[name] = store.stored_keys(store.file_of(folder, name)) if folder else set()
            row = counted.setdefault(name, dict.fromkeys(_ADDED, 0) | {"usd": 0.0})
            row["calls"] += 1
            if key in stored[name]:
                row["stored"] += 1
            else:
                read, written = bounds(request)
                row["missing"] += 1
                row["input_tokens"] += read
                row["output_tokens"] += written
                row["usd"] += cost(request.model, read, written)
                sizes = request.measured
                row["shared_tokens"] += sizes.start if (name, sizes.starts) in starts else 0
                starts.add((name, sizes.starts))
            if key is not None:
                seen.add(key)
                stored[name].add(key)
        rows += [PlanRow(stage, name, **row) for name, row in counted.items()]
    return Plan(tuple(rows))
