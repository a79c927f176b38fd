"""The command that audits one judge."""

from __future__ import annotations

import asyncio
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from helpers import paths
from helpers.commands.parameters import concurrency, timeout_seconds
from helpers.commands.printing import echo
from helpers.config import AUDITED, STYLES, parse_yaml


@click.command()
@click.option("--model", required=True, help="A name of models.yaml; with --base-url the model's id at that server.")
@click.option("--base-url", help="A server that speaks OpenAI's chat API, such as http://127.0.0.1:8000/v1.")
@click.option("--revision", help="Which weights answer at --base-url (enters each reply's key); default: the address.")
@click.option("--api-key-env", metavar="VARIABLE", help="The variable that holds the key of --base-url, if it has one.")
@click.option(
    "--price", nargs=2, type=float, metavar="IN OUT", help="US dollars a million tokens at --base-url; 0 0: none."
)
@click.option("--max-tokens", type=click.IntRange(1), help="Limit of a reply at --base-url; default 2048.")
@click.option("--params", metavar="YAML", help="What is sent to --base-url besides; default '{temperature: 0}'.")
@click.option("--text", is_flag=True, help="The server of --base-url enforces no JSON schema: verdicts as marked text.")
@click.option("--budget-usd", type=click.FloatRange(0), help="US dollars above which no call is sent; default 0.")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Show calls, tokens and the most that they can cost; ask nothing."
)
@click.option("--stored", is_flag=True, help="Ask nothing; the card of what is stored, with what is missing counted.")
@concurrency
@timeout_seconds
@click.option("--keep-going", is_flag=True, help="Ask on where hardly any of the first 20 replies can be read.")
@click.option(
    "--to", "folder", type=click.Path(path_type=Path), help="Folder of the card; default: audit-<model> here."
)
@click.option("--force", is_flag=True, help="Write into a folder that holds something else.")
@click.option("--store", type=click.Path(path_type=Path), default=paths.REPLIES, help="Folder of replies.")
@click.option("--figure-style", type=click.Choice(STYLES), default="paper", show_default=True)
def audit(
    model: str,
    base_url: str | None,
    budget_usd: float | None,
    only_plan: bool,
    stored: bool,
    concurrency: int | None,
    timeout_seconds: float | None,
    keep_going: bool,
    folder: Path | None,
    force: bool,
    store: Path,
    figure_style: str,
    text: bool,
    **own: Any,
) -> None:
    """Ask one judge a frozen battery of some 600 short calls, and say which manipulations move its verdicts.

    Order, letters, identical pairs, length, authority, bandwagon, names, anchor: of each an interval, what would have
    been found, and one of: biased, no bias shown, cannot be told. First comes the plan with the most that it can cost;
    a second run asks nothing. Exit code 1 with --plan where --budget-usd is less.
    """
    from helpers import audit as room
    from helpers.providers.keys import refuse

    if only_plan and stored:
        raise click.UsageError("--plan says what asking would cost, --stored asks nothing; leave out one of them")
    if budget_usd is not None and not math.isfinite(budget_usd):
        raise click.BadParameter(f"{budget_usd} is not a finite number", param_hint="--budget-usd")
    refuse(
        {
            "model": model,
            "address": base_url,
            "revision": own["revision"],
            "variable": own["api_key_env"],
            "params": own["params"],
        }
    )
    battery = room.load()
    if own["params"] is not None:
        own["params"] = parse_yaml(own["params"], "--params")
    judge = room.judge_of(model, base_url, {**own, "structured": False if text else None}, battery.knowledge)
    limits = {"concurrency": concurrency, "timeout_seconds": timeout_seconds}
    judge = replace(judge, **{name: value for name, value in limits.items() if value})
    target = folder.expanduser() if folder else Path.cwd() / f"audit-{judge.name.removeprefix(AUDITED)}"
    store = store.expanduser().resolve()
    if not only_plan:
        room.check(target, judge, force)
    if not stored:
        judge = asyncio.run(room.as_it_is_served(judge))
        fits = _planned(room.plan(battery, judge, store), judge.name, budget_usd)
        if only_plan:
            sys.exit(0 if fits else 1)
    try:
        done = asyncio.run(room.audit(battery, judge, store, budget_usd or 0.0, not stored, keep_going=keep_going))
    except KeyboardInterrupt as interrupt:
        if str(interrupt):
            echo(interrupt, err=True)
        raise KeyboardInterrupt from None
    written = room.save(done, target, figure_style)
    echo(f"\n{room.said(done)}\n\n{len(written)} files in {target}")


def _planned(planned: Any, name: str, budget_usd: float | None) -> bool:
    """Tell the plan, and whether a budget that is given is enough."""
    from helpers.judge import dollars
    from helpers.judge.budget import enough

    echo(planned)
    if not planned.usd:
        return True
    if budget_usd is None:
        echo(f"An audit of {name} can cost up to {dollars(planned.usd)}: --budget-usd {enough(planned.usd)}")
        return True
    fits = planned.usd <= budget_usd
    echo(f"{'Fits' if fits else 'Does not fit'} into --budget-usd {budget_usd:g}.")
    return fits
