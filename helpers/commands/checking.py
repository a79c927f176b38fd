"""The command that looks for keys in what runs produced."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from helpers.commands.printing import echo


@click.command()
@click.argument("places", nargs=-1, type=click.Path(path_type=Path))
def check(places: tuple[Path, ...]) -> None:
    """Look for your keys in everything that runs produced (or in PLACES) before you publish it.

    Looked for are the values of the secret variables of this environment, in any form, and what looks like a key. Told
    are file, line and variable, never the value. Exit code 1 where anything was found or a file could not be read.
    """
    from helpers import check as room

    checked = room.check(places or room.usual())
    here = Path.cwd()
    for hit in checked.hits:
        what = "what looks like a key" if hit.what == "key" else f"the value of {hit.what}"
        echo(f"{_short(hit.path, here)}:{hit.place}: {what}")
    for path, why in checked.closed:
        echo(f"{_short(path, here)}: not looked into: {why}", err=True)
    names, absent = room.known()
    echo(
        f"{checked.files} files ({checked.size / 1e6:.1f} MB): "
        + (f"{len(checked.hits)} places hold a key" if checked.hits else "no key found")
        + f". Looked for: {', '.join(names) or 'no variable of this environment'}, and what looks like a key."
    )
    if absent:
        echo(f"Not set here, so their values could not be looked for: {', '.join(absent)}.")
    if checked.hits:
        echo("Renew these keys with their providers if anybody may have seen the files, then delete the places.")
    if checked.hits or checked.closed:
        sys.exit(1)


def _short(path: Path, here: Path) -> str:
    return os.path.relpath(path, here) if path.resolve().is_relative_to(here) else str(path)
