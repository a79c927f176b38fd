"""Notebook parameters on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from helpers.config import parse_yaml
from helpers.providers.keys import refuse


def parameters(pairs: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """NAME VALUE pairs with values read as YAML: 5, null, [a, b], "text"."""
    refuse(dict(pairs))
    values: dict[str, Any] = {}
    for name, text in pairs:
        if name in values:
            raise click.BadParameter(f"-p {name} is given twice")
        values[name] = parse_yaml(text, f"-p {name} {text}")
    return values


parameter = click.option(
    "-p", "pairs", nargs=2, multiple=True, metavar="NAME VALUE", help="A notebook parameter; VALUE is read as YAML."
)
matrix = click.option(
    "--matrix",
    "grid",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A YAML file with lists of parameters: each combination is run in a folder of its own.",
)
