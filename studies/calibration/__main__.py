"""`python -m studies.calibration [NAMES]`: every case of an experiment, spoken first, then drawn many times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import click
import pandas as pd

from helpers import calibrate
from helpers.commands.printing import echo
from helpers.tables import render_text
from studies.calibration import results, running, speaking
from studies.calibration.fingerprint import fingerprint

#: Replications a world, and their questions, that go through prompt text and reply text.
SPOKEN, SPOKEN_QUESTIONS = 20, 20
#: Called with a step and how many steps of how many are done.
Progress = Callable[[str, int, int], None]


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The experiments named, or all; an unknown one is a ValueError that lists them."""
    unknown = [name for name in names if name not in results.EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {', '.join(unknown)}; there are: {', '.join(results.EXPERIMENTS)}")
    return tuple(name for name in results.EXPERIMENTS if not names or name in names)


def due() -> tuple[str, ...]:
    """The experiments whose stored results are of older code, or that have none."""
    _, facts = calibrate.stored()
    return tuple(name for name in chosen([]) if facts.get(name, {}).get("hash") != fingerprint(name))


def measure(
    experiment: str,
    sizes: Mapping[int, int] = running.SIZES,
    processes: int | None = None,
    spoken: int = SPOKEN,
    progress: Progress = lambda step, done, total: None,
) -> tuple[pd.DataFrame, dict[str, object]]:
    """The rows of one experiment (see `running.run`) and its facts (see `helpers.calibrate.stored`), but for words.

    First `spoken` replications of each world go through prompt and reply text; one that differs from its direct draw
    in any verdict ends it with a ValueError.
    """
    tested = fingerprint(experiment)  # before anything runs, should a file change meanwhile
    cases = running.cases_of(experiment)
    total, done = len(cases) * (spoken + sum(sizes.values())), 0
    for case in cases:
        progress(f"{case.world}, spoken", done, total)
        speaking.check(case, SPOKEN_QUESTIONS, spoken)
        done += spoken

    def count(world: str, replications: int) -> None:
        nonlocal done
        done += replications
        progress(world, done, total)

    rows, seconds = running.run(cases, sizes, processes, progress=count)
    facts = {
        "hash": tested,
        "runs": {str(questions): runs for questions, runs in sizes.items()},
        "spoken": spoken,
        "seconds": round(seconds),
        "worlds": {case.world: case.words for case in cases},
    }
    return rows, facts


@contextmanager
def bar(experiment: str) -> Iterator[Progress]:
    """A bar of progress on standard error."""
    from tqdm import tqdm

    with tqdm(desc=experiment, unit="run", file=sys.stderr, mininterval=1.0) as shown:

        def progress(step: str, done: int, total: int) -> None:
            shown.total = total
            shown.set_postfix_str(step, refresh=False)
            shown.update(done - shown.n)

        yield progress


def table(rows: pd.DataFrame, facts: Mapping[str, object]) -> str:
    """What was found, for reading at a glance: every number that does not hold the rule, and how many do."""
    counts = rows["verdict"].map(lambda verdict: verdict.split(":")[0]).value_counts()
    columns = ["world", "questions", "id", "where", "given", "bias", "mc_se", "coverage", "rejected", "verdict"]
    odd = rows.loc[rows["verdict"] != "holds", columns]
    shares = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{render_text(odd) if len(odd) else ''}\n{shares}; {facts['seconds']} s of core time"


@click.command()
@click.argument("names", nargs=-1)
@click.option("--runs", type=click.IntRange(1), help="So many replications at each size: a look, nothing is kept.")
@click.option("--processes", type=click.IntRange(1), help="Processes; default: one a core.")
def main(names: tuple[str, ...], runs: int | None, processes: int | None) -> None:
    """Try the estimators of experiments (all, or NAMES) on simulated judges whose truth is known; keep what was found.

    About 35 minutes of core time an experiment. What is finished is kept, one experiment at a time; without NAMES those
    whose estimators still give the same results are not run again.
    """
    sizes = running.SIZES if runs is None else dict.fromkeys(running.SIZES, runs)
    try:
        for name in chosen(names) if names or runs else due():
            with bar(name) as progress:
                rows, facts = measure(name, sizes, processes, SPOKEN if runs is None else 1, progress)
            echo(table(rows, facts))
            if runs is None:
                results.store(rows, {name: facts})
    except (ValueError, OSError) as error:
        raise click.UsageError(str(error)) from None
    except KeyboardInterrupt:
        echo("interrupted; finished experiments are kept, and the same command goes on with the others", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main(prog_name="python -m studies.calibration")
