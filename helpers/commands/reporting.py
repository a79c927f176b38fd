"""The command that makes pages of executed notebooks."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from helpers.commands.printing import echo


@click.command()
@click.option(
    "--to", "folder", type=click.Path(path_type=Path), default=Path("recuse-report"), show_default=True,
    help="The folder of the report: a new one, an empty one, or that of an earlier report.",
)  # fmt: skip
@click.option(
    "--results", "places", multiple=True, type=click.Path(path_type=Path),
    help="A folder of results, or one that holds such folders; may be given again. Default: the default runs.",
)  # fmt: skip
def report(folder: Path, places: tuple[Path, ...]) -> None:
    """Make one folder of pages from the executed notebooks, to be read offline in a browser and handed on.

    It holds the overview, a page for each experiment, judge cards, marked verdicts to filter, all files to download,
    what each number means and a glossary. Nobody is asked anything; verdicts are read from the stored replies.
    """
    from helpers import report as room

    folder = folder.expanduser()
    made = room.report(folder, places, partial(echo, err=True))
    echo(f"{made['pages']} pages of {made['notebooks']} notebooks, {made['files']} files: open {folder / 'index.html'}")
