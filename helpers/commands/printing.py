"""What commands say and take: text without keys, notebook parameters, and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from helpers.config import parse_yaml
from helpers.escaping import visible
from helpers.judge import Budget, NoPrice, Plan, billed, dollars
from helpers.judge.budget import enough
from helpers.providers.keys import redact, refuse
from helpers.services import token_parameters
from helpers.store import Cost, completion_of
from helpers.types import Model


def echo(text: object, err: bool = False) -> None:
    """A text on the terminal without keys, its control signs and marks of writing direction as replacement signs."""
    click.echo(visible(redact(str(text))), err=err)


def parameters(pairs: tuple[tuple[str, str], ...], **limits: float | None) -> dict[str, Any]:
    """NAME VALUE pairs with values read as YAML: 5, null, [a, b], "text"; and the `limits` that an option sets."""
    refuse(dict(pairs))
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise click.BadParameter(f"-p {name} is given twice")
        values[name] = parse_yaml(text, f"-p {name} {text}")
    options = {name: value for name, value in limits.items() if value is not None}
    if twice := options.keys() & values.keys():
        raise click.BadParameter(
            f"{' and '.join(sorted(twice))} is given with -p and as an option; leave out one of them"
        )
    return values | options


parameter = click.option(
    "-p", "pairs", nargs=2, multiple=True, metavar="NAME VALUE", help="A notebook parameter; VALUE is read as YAML."
)
concurrency = click.option(
    "--concurrency", type=click.IntRange(1, 1024), help="Most calls in flight; default: its entry's or server's."
)
timeout_seconds = click.option(
    "--timeout-seconds", type=click.FloatRange(1), help="Longest time of a call; default: its entry's."
)
matrix = click.option(
    "--matrix",
    "grid",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A YAML file with lists of parameters: each combination is run in a folder of its own.",
)


def cost_of(models: Mapping[str, Model]) -> Cost:
    """A function that gives the dollars of a line of a model's file: by its counted tokens, and at most.

    A price is that of the model's entry where this still names the same model, else that of the offline table.
    """

    def cost(name: str, record: dict[str, Any]) -> tuple[float, float]:
        asked = record["request"]
        model = _model(name, asked, models.get(name))
        limits = [asked["params"][each] for each in token_parameters() if each in asked["params"]]
        if limits and isinstance(limits[0], int):
            model = replace(model, max_tokens=limits[0])
        completion = completion_of(record)
        usd = billed(model, record, completion)
        counted = completion.usage.input is not None and completion.usage.output is not None
        return (usd if counted else 0.0), usd

    return cost


def afforded(planned: Plan, budget: Budget, given: bool, what: str) -> bool:
    """Say whether a plan fits into a budget, or, where none was `given`, what to give; False where one is too small."""
    if planned.usd and not given:
        can, give = dollars(planned.usd), enough(planned.usd)
        echo(f"{what} can cost up to {can} and asks nothing unless it may: -p budget_usd {give}")
        return True
    excess = planned.excess(budget)
    if excess:
        echo(f"Does not fit, a run would ask nothing: {excess}")
    elif planned.usd:
        echo(f"Fits into budget_usd={budget.limit:.4f}.")
    return not excess


def _model(name: str, asked: Mapping[str, Any], entry: Model | None) -> Model:
    if entry is not None and (entry.provider, entry.model_id) == (asked["provider"], asked["model"]):
        return entry
    if "revision" in asked and asked["provider"] != "simulated":
        raise NoPrice(f"no model '{name}' in models.yaml serves {asked['model']!r}; where it ran is not stored")
    return Model(name, asked["provider"], asked["model"], vendor="")
