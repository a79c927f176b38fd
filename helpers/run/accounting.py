"""What a run cost: told to whoever started it, kept in run.json, and apart from what was paid before."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from helpers.judge import Account, NoPrice, Spending, actual, dollars, notice
from helpers.providers.keys import in_browser
from helpers.types import Judgment


def costs(account: Account, judgments: Iterable[Judgment]) -> dict[str, Any]:
    """For run.json: the dollars spent in this run, of each model calls, tokens and what its replies cost, the account.

    `models` counts all replies that the run reads, `stored` those of them that were asked before it; replies that two
    experiments share count in both. `usd` is at today's price, None where none is known. Published judgments have no
    models. `account` holds what this run sent, failed attempts too, as `Spending` tells it, and the sums.
    """
    every: dict[str, dict[str, Any]] = {}
    before: dict[str, dict[str, Any]] = {}
    for each in _replied(judgments):
        for found in (every,) if each.trial.request.key in account.replies else (every, before):
            _count(found, each)
    return {
        "spent_usd": account.total.usd,
        "models": [every[name] for name in sorted(every)],
        "stored": [before[name] for name in sorted(before)],
        "account": {
            "budget_usd": account.limit,
            "models": [_told(row) for row in account.rows],
            "total": _told(account.total),
        },
    }


def tell(name: str, account: Account, judgments: Iterable[Judgment]) -> None:
    """The account of a run as a short table, where anybody but simulated models was asked.

    It goes where progress goes, and under the cell of a notebook that somebody looks at: what a run cost is no result,
    and a rerun, which asks nothing, must give the same report.
    """
    if all(row.simulated for row in account.rows):
        return
    text = f"{name}: the account of this run, in US dollars\n{account}"
    before = costs(account, judgments)["stored"]
    if before:
        calls, usd = sum(row["calls"] for row in before), math.fsum(row["usd"] for row in before)
        price = "at a price that is not known of all" if math.isnan(usd) else f"which cost {dollars(usd)}"
        text += f"\nNot in it: {calls} replies that were asked before, {price}."
    if not in_browser():
        notice(text)
        return
    from IPython.display import Markdown, display

    display(Markdown(f"```text\n{text}\n```"))


def _count(found: dict[str, dict[str, Any]], each: Judgment) -> None:
    request, reply = each.trial.request, each.completion
    name = request.model.name
    row = found.setdefault(name, {"model": name, "calls": 0, "input": 0, "output": 0, "usd": 0.0})
    row["calls"] += 1
    row["input"] += reply.usage.input or 0
    row["output"] += reply.usage.output or 0
    try:
        row["usd"] += actual(request, reply)
    except NoPrice:
        row["usd"] = math.nan


def _told(row: Spending) -> dict[str, Any]:
    return {
        "model": row.model,
        "attempts": row.attempts,
        "spent_usd": row.usd,
        "reserved_usd": row.reserved,
        "remaining_usd": row.remaining,
        "budget_usd": row.limit,
        "maybe_billed": row.maybe_billed,
        "maybe_billed_usd": row.maybe_billed_usd,
        "input": row.input,
        "output": row.output,
        "cached": row.cached,
    }


def _replied(judgments: Iterable[Judgment]) -> Iterable[Judgment]:
    """One judgment a reply: trials that share a request share its reply."""
    known: Mapping[str, Judgment] = {each.trial.request.key: each for each in judgments if each.completion is not None}
    return known.values()
