"""An audit from the battery to its findings: plan, budget, ask what is missing, read, conclude."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers.audit.asking import NAME, trials
from helpers.audit.battery import Battery
from helpers.audit.concluding import Finding, conclude
from helpers.audit.measuring import described, measure, table
from helpers.judge import (
    Account,
    Budget,
    Interrupted,
    OverBudget,
    Plan,
    check_fit,
    check_keys,
    dollars,
    judge_all,
    labels_of,
    make_plan,
    notice,
)
from helpers.judge.budget import enough
from helpers.providers import as_served
from helpers.run.accounting import costs, tell
from helpers.types import Estimate, Model
from helpers.verdicts import unwrapped

#: Calls in flight, where neither the judge's entry nor its server says how many.
CONCURRENCY = 16


# asyncio.run makes the repr of what it returns.
@dataclass(frozen=True, repr=False)
class Audit:
    """One judge's audit: what was asked, what came back, and what may be said of it.

    `judged` is the table of `measuring`, `findings` one a probe, `beside` the numbers of `described`. `returned` are
    the model ids that the provider told, `unwrapped` counts verdicts by what was taken off before they were read,
    `cost` holds calls, tokens and dollars of all replies that the audit reads, `account` what this run paid.
    """

    battery: Battery
    judge: Model
    judged: pd.DataFrame
    findings: tuple[Finding, ...]
    beside: tuple[Estimate, ...]
    returned: tuple[str, ...]
    unwrapped: Mapping[str, int]
    cost: Mapping[str, Any]
    account: Account

    @property
    def data(self) -> str:
        """Where the verdicts are from: "simulated" or "asked"."""
        return _data(self.judge)

    @property
    def missing(self) -> int:
        """How many calls have no reply yet."""
        return int((self.judged["outcome"] == "missing").sum())


async def as_it_is_served(judge: Model) -> Model:
    """The judge; at a server of one's own with the context and the calls at once that this server says."""
    found, warnings = await as_served([judge], CONCURRENCY)
    for each in warnings:
        notice(each)
    return found.get(judge.name, judge)


def plan(battery: Battery, judge: Model, folder: Path) -> Plan:
    """Calls, tokens and dollars of an audit before anything is asked; what is stored needs no call.

    A prompt that cannot fit into the judge's context is refused here.
    """
    asked = trials(battery, judge)
    check_fit((trial.request for trial in asked), labels_of(asked), folder)
    return make_plan({NAME: [trial.request for trial in asked]}, folder)


async def audit(
    battery: Battery, judge: Model, folder: Path, budget_usd: float = 0.0, ask: bool = True, **options: Any
) -> Audit:
    """Ask what is missing of the battery, within the budget, and conclude from all of it.

    With `ask=False` nothing is asked and what is missing is counted as such. What this run paid is told at its end.
    Before the first call: OverBudget, MissingKey, NoPrice; after the last: Incomplete, which counts what is missing and
    why, and ValueError where not one reply is there.
    """
    budget = Budget(budget_usd, planned=True)
    if ask:
        planned = plan(battery, judge, folder)
        if planned.excess(budget):
            raise OverBudget(
                f"{planned.missing} calls are missing and could cost up to {dollars(planned.usd)}, which is more than "
                f"--budget-usd {budget_usd:g}; nothing was asked; --budget-usd {enough(planned.usd)} is enough"
            )
        if planned.missing:
            check_keys([judge])
    asked = trials(battery, judge)
    try:
        judgments = await judge_all(asked, folder=folder, budget=budget, ask=ask, stage=NAME, **options)
    except Interrupted as interrupt:  # a cancellation would lose its words on the way out
        raise KeyboardInterrupt(str(interrupt)) from None
    if options.get("show", True):
        tell(NAME, budget.account, judgments)
    if not any(each.completion for each in judgments):
        raise ValueError(
            f"{folder}: no reply of {judge.name} to battery {battery.version} is stored here; a card of stored replies "
            "needs the same --store and the same settings of the judge as when they were asked"
        )
    judged, data = table(judgments), _data(judge)
    estimates = measure(judged, judge.name, data, battery.seed)
    beside = described(judged, judge.name, data, battery.seed)
    paid = costs(budget.account, judgments)["models"]
    return Audit(
        battery,
        judge,
        judged,
        tuple(conclude(judged, estimates, beside)),
        tuple(beside),
        tuple(sorted(set(judged["model"].dropna()))),
        Counter(kind for each in judgments for kind in unwrapped(each)),
        paid[0] if paid else {"model": judge.name, "calls": 0, "input": 0, "output": 0, "usd": 0.0},
        budget.account,
    )


def _data(judge: Model) -> str:
    return "simulated" if judge.simulated else "asked"
