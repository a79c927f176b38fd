"""Notebook parameters on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from helpers.config import parse_yaml
from helpers.providers.keys import refuse


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
