"""The command that turns results into what a paper needs."""

from __future__ import annotations

from pathlib import Path

import click

from helpers.commands.printing import echo


@click.command()
@click.option("--style", required=True, help="Whose columns and sizes of letters: neurips, icml or acl.")
@click.option("--to", "folder", required=True, type=click.Path(path_type=Path), help="The folder to write.")
@click.option(
    "--results",
    "places",
    multiple=True,
    metavar="[NAME=]FOLDER",
    help="Results of a run, any number of times; NAME begins the names of its macros. Default: the default runs.",
)
@click.option("--force", is_flag=True, help="Replace files of the folder that were changed by hand.")
def paper(style: str, folder: Path, places: tuple[str, ...], force: bool) -> None:
    """Write figures, tables, numbers, methods, sources and the judge-bias checklist of results as LaTeX.

    Figures that were drawn in another style are drawn again by running their notebook on stored replies; nobody but
    simulated judges is asked. example.tex there is a small paper that uses all of it.
    """
    from helpers import paper as room

    done = room.write(style, folder.expanduser(), places, force, lambda told: echo(told, err=True))
    for note in done.notes:
        echo(f"note: {note}", err=True)
    echo(f"{len(done.files)} files in {done.folder}: \\input{{recuse}} in your preamble; example.tex shows how")
