"""What commands say and take: text without keys, notebook parameters, and prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from .. import paths
from ..config import parse_yaml
from ..escaping import visible
from ..judge import Budget, NoPrice, Plan, billed, dollars
from ..judge.budget import enough
from ..providers.keys import redact, refuse
from ..services import token_parameters
from ..store import Cost, completion_of
from ..types import Model


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
    if twice := " and ".join(sorted(options.keys() & values.keys())):
        raise click.BadParameter(f"{twice} is given with -p and as an option; leave out one of them")
    return values | options


_pairs: dict[str, Any] = {"nargs": 2, "metavar": "NAME VALUE"}
_lists = "A YAML file with lists of parameters: each combination is run in a folder of its own."
parameter = click.option("-p", "pairs", multiple=True, help="A notebook parameter; VALUE is read as YAML.", **_pairs)
replies = click.option("--store", type=click.Path(path_type=Path), default=paths.REPLIES, help="Folder of replies.")
concurrency = click.option("--concurrency", type=click.IntRange(1, 1024), help="Calls in flight; default: its entry's.")
timeout_seconds = click.option("--timeout-seconds", type=click.FloatRange(1), help="Of a call; default: its entry's.")
matrix = click.option("--matrix", "grid", type=click.Path(path_type=Path, dir_okay=False), help=_lists)


def cost_of(models: Mapping[str, Model]) -> Cost:
    """A function that gives the dollars of a line of a model's file: by its counted tokens, and at most.

    A price is that of the model's entry where this still names the same model, else that of the offline table.
    """

    def cost(name: str, record: dict[str, Any]) -> tuple[float, float]:
        asked, model = record["request"], models.get(name)
        if model is None or (model.provider, model.model_id) != (asked["provider"], asked["model"]):
            if "revision" in asked and asked["provider"] != "simulated":
                what = f"no model '{name}' in models.yaml serves {asked['model']!r}"
                raise NoPrice(f"{what}; where it ran is not stored")
            model = Model(name, asked["provider"], asked["model"], vendor="")
        limits = [asked["params"][each] for each in token_parameters() if each in asked["params"]]
        if limits and isinstance(limits[0], int):
            model = replace(model, max_tokens=limits[0])
        completion = completion_of(record)
        usd = billed(model, record, completion)
        counted = completion.usage.input is not None and completion.usage.output is not None
        return (usd if counted else 0.0), usd

    return cost


def afforded(planned: Plan, budget: Budget, typed: bool, what: str, option: str = "-p budget_usd") -> bool:
    """Say whether a plan fits into a budget, or, where none was `typed`, what to give; False where one is too small."""
    if planned.usd and not typed:
        can, give = dollars(planned.usd), enough(planned.usd)
        echo(f"{what} can cost up to {can} and asks nothing unless it may: {option} {give}")
        return True
    if excess := planned.excess(budget):
        # What follows names parameters of notebooks.
        echo(f"Does not fit, a run would ask nothing: {excess if option[:2] == '-p' else excess.split('; ')[0]}")
    elif planned.usd:
        echo(f"Fits into budget_usd={budget.limit:.4f}.")
    return not excess
