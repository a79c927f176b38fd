"""The command line: `recuse`, or `python -m helpers`."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from .commands import results, stores
from .commands.printing import afforded, concurrency, echo, matrix, parameter, parameters, timeout_seconds
from .judge import Incomplete, MissingKey, OverBudget
from .paths import load_table
from .providers.keys import redact
from .store import StoreError

Names = tuple[str, ...]
Pairs = tuple[tuple[str, str], ...]


@click.group()
@click.version_option(package_name="recuse", message="%(package)s %(version)s")
def main() -> None:
    """Measure how biased LLM judges are, and how sure we can be of it."""


@main.command()
@click.argument("names", nargs=-1)
@parameter
@concurrency
@timeout_seconds
@click.option("--processes", type=click.IntRange(1), help="Notebooks or cells run at once; default: one a core.")
@matrix
@click.option("--dask", metavar="ADDRESS", help="Run the cells on this Dask scheduler; `local` makes one here.")
def run(names: Names, pairs: Pairs, processes: int | None, grid: Path | None, dask: str | None, **limits: Any) -> None:
    """Run notebooks (all, or NAMES) from top to bottom and regenerate their figures, tables and numbers."""
    from .run.notebooks import chosen, run_all

    if dask and not grid:
        raise click.UsageError("--dask runs the cells of a matrix; name it with --matrix")
    if dask and dask != "local" and processes:
        raise click.UsageError("--processes is for this machine; a cluster says itself how many cells it has room for")
    if not find_spec("papermill"):  # said before anything is asked
        raise ModuleNotFoundError(name="papermill")
    values = parameters(pairs, **limits)
    try:
        if grid:
            from .commands.matrices import run_grid

            sys.exit(0 if run_grid(grid, values, processes, dask, *names) else 1)
        done = run_all(chosen(names), values, processes)
    except KeyboardInterrupt as interrupt:  # told here: click would write to a terminal that may be closed
        _interrupted(str(interrupt))
    for result in done:
        echo(str(result))
    sys.exit(1 if any(result.error for result in done) else 0)


@main.command()
@click.argument("names", nargs=-1)
@parameter
@concurrency
@timeout_seconds
@matrix
@click.option("--pilot", "calls", type=click.IntRange(1), help="First make so many calls of each model; they count.")
def plan(names: Names, pairs: Pairs, grid: Path | None, calls: int | None, **limits: Any) -> None:
    """Show the calls, tokens and dollars of a run before anything is asked; exit code 1 where budget_usd is less.

    Without a budget_usd it says which one is enough. A pilot needs one; its replies are stored, the run goes on from
    there, and the plan says what the rest is expected to cost.
    """
    from .config import load_experiment
    from .run import budget_of, caution, pilot, plan as plan_of
    from .run.notebooks import check_parameters, chosen, collects, experiment_of

    values = parameters(pairs, **limits)
    if grid:
        from .commands.matrices import plan_grid

        if calls:
            raise click.UsageError("--pilot is for notebooks: name one cell's notebook and its parameters with -p")
        sys.exit(0 if plan_grid(grid, values, *names) else 1)
    fits = True
    for notebook in chosen(names):
        if collects(notebook):
            echo(f"{notebook.stem}\nasks nothing: it collects what the other notebooks found")
            continue
        check_parameters(notebook, values)
        experiment = load_experiment(experiment_of(notebook), **values)
        if calls:
            asyncio.run(pilot(experiment, calls))
        planned, budget = asyncio.run(plan_of(experiment)), budget_of(experiment)
        echo(f"{notebook.stem}\n{planned}")
        if note := caution(experiment):
            echo(f"Note: {note}")
        fits &= afforded(planned, budget, "budget_usd" in values, "A run of this notebook")
    sys.exit(0 if fits else 1)


RESULTS = (results.analyze, results.demo, results.audit, results.compare, results.report, results.paper)
AROUND = (results.power, stores.store, results.check, results.explain, results.list_of)
for command in (*RESULTS, *AROUND):
    main.add_command(command)
for name, example in load_table("commands/examples.toml").items():
    main.commands[name].epilog = f"\b\n{example}"
# The README's order; click would sort them.
main.list_commands = lambda context: list(main.commands)  # type: ignore


def _interrupted(text: str) -> None:
    """Say what became of each notebook and which command goes on, and end."""
    again = shlex.join(["recuse", *sys.argv[1:]])
    kept = "; replies that came are stored, finished experiments are kept" if text else ""
    try:
        echo(f"{text}{text and chr(10)}recuse: interrupted{kept}; this goes on: {again}", err=True)
    except OSError:  # a terminal that was closed hears nothing; Python would try again at its end, and fail
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    sys.exit(130)


def entry() -> None:
    """Run a command; what the user can mend is one line, not a traceback."""
    try:
        main(standalone_mode=False)
    except click.ClickException as error:
        error.message = redact(error.message or "")  # type: ignore[misc]
        error.show()
        sys.exit(error.exit_code)
    except (click.exceptions.Abort, KeyboardInterrupt) as interrupt:  # what a judge's calls say is the cause
        _interrupted(str(interrupt.__cause__ or ""))
    except (MissingKey, OverBudget, Incomplete, StoreError, ValueError, OSError, ModuleNotFoundError) as error:
        # Errors of the system in our form: the file, then what is wrong.
        words = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename:
            words = f"{error.filename}: {error.strerror}"
        elif isinstance(error, ModuleNotFoundError):
            words = f"{error.name} is not installed: pip install 'recuse[all]' brings all that commands need"
        echo(f"recuse: {words}", err=True)
        sys.exit(2)
    except Exception:  # a defect of ours: told as Python tells it, but for keys
        echo(traceback.format_exc(), err=True)
        sys.exit(1)


if __name__ == "__main__":
    entry()
