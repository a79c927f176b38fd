"""Commands around the experiments: power, explain, analyze."""

from __future__ import annotations

from typing import Any

import click

from helpers.commands.parameters import parameter, parameters
from helpers.commands.printing import echo


@click.command()
@click.argument("name")
@parameter
@click.option("--questions", type=int, help="As the numbers count them (articles, scenarios of a bias); default: all.")
@click.option("--judges", help="Names in models.yaml, with commas between; default: as in config.yaml.")
@click.option("--repeats", type=int, help="How often each trial is asked; default: as in config.yaml.")
@click.option("--effect", "effects", multiple=True, help="A wanted effect, in pp or with its unit: 5, 0.4logit.")
@click.option("--pilot", type=click.Path(exists=True, dir_okay=False), help="numbers.json of a run that was made.")
@click.option("--draws", type=int, default=100, show_default=True, help="Simulated runs, where there is no pilot.")
@click.option("--out", type=click.Path(file_okay=False), help="A folder for the figure of the curve.")
def power(name: str, pairs: tuple[tuple[str, str], ...], **options: Any) -> None:
    """Show what so many questions can find, how many a wanted effect takes, and what they cost."""
    from helpers.power.planning import planned

    echo(planned(name, parameters(pairs), **options))


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--write", is_flag=True, help="Make the page figures/overview/estimands.md anew.")
def explain(ids: tuple[str, ...], write: bool) -> None:
    """Say what a number means, how it is counted and where it fails; without IDS list all numbers."""
    from helpers import explain as room

    if write:
        echo(f"written: {room.write()}")
    if ids:
        echo("\n\n".join(room.explain(id) for id in ids))
    elif not write:
        echo(room.listed())


@click.command()
@click.argument("file", type=click.Path())
@click.option("--format", help="tidy, arena-hard, fastchat-pair, ...: where the fields of the file do not tell it.")
@click.option("--out", type=click.Path(), help="Folder for the results; default: <name of FILE>-recuse here.")
@click.option("--force", is_flag=True, help="Write into a folder that holds something else.")
@click.option("--ignore-extra", is_flag=True, help="Leave columns unread that are not known.")
@click.option("--map", "names", multiple=True, help="What FILE calls a column: --map verdict=winner --map judge=model.")
@click.option("--positive", type=click.Choice(["first", "second"]), help="Verdicts are grades: for whom above 0.")
@click.option("--seed", type=int, default=42, show_default=True, help="Resampling and sign flips.")
@click.option("--margin-pp", type=float, default=5.0, show_default=True, help="A hint that changes less is no matter.")
@click.option("--figure-style", default="paper", show_default=True, help="paper, neurips, icml, acl or talk.")
def analyze(
    file: str,
    format: str | None,
    out: str | None,
    force: bool,
    ignore_extra: bool,
    names: tuple[str, ...],
    positive: str | None,
    seed: int,
    margin_pp: float,
    figure_style: str,
) -> None:
    """Compute every number that the verdicts in FILE can carry, and say of each other one what is missing.

    FILE: one row a verdict with columns judge, question, candidates, verdict (.csv, .tsv, .jsonl, .json, .parquet), or
    a file or folder of Arena-Hard, FastChat, AlpacaEval, Inspect, LLM-Eval and others. No keys, no config.
    """
    from pathlib import Path

    from helpers.analyze import writing
    from helpers.analyze.analysis import analyze as of
    from helpers.analyze.saying import summary
    from helpers.figures.style import style

    style(figure_style)  # an unknown one is told before anything is computed
    folder = Path(out).expanduser() if out else Path.cwd() / writing.name_of(file)
    writing.check(folder, force)
    named = dict(each.partition("=")[::2] for each in names)
    found = of(
        file, format, ignore_extra=ignore_extra, names=named, positive=positive or "", seed=seed, margin_pp=margin_pp
    )
    written = writing.write(found, folder, force, figure_style)
    echo(f"{summary(found)}\n\n{len(written)} files in {folder}")
