"""The whole calibration: every case of an experiment, spoken first, then drawn many times; kept as it is finished."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pandas as pd

from helpers.calibrate import results, running, speaking
from helpers.calibrate.fingerprint import fingerprint
from helpers.tables import render_text

#: Replications a world, and their questions, that go through prompt text and reply text.
SPOKEN, SPOKEN_QUESTIONS = 20, 20
#: Told of a step and how many steps of how many are done.
Progress = Callable[[str, int, int], None]


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The experiments named, or all; an unknown one is a ValueError that lists them."""
    unknown = [name for name in names if name not in results.EXPERIMENTS]
    if unknown:
        raise ValueError(f"no experiment {', '.join(unknown)}; there are: {', '.join(results.EXPERIMENTS)}")
    return tuple(name for name in results.EXPERIMENTS if not names or name in names)


def due() -> tuple[str, ...]:
    """The experiments whose stored results are of older code, or that have none."""
    _, facts = results.stored()
    return tuple(name for name in chosen([]) if facts.get(name, {}).get("hash") != fingerprint(name))


def calibrate(
    experiment: str,
    sizes: Mapping[int, int] = running.SIZES,
    processes: int | None = None,
    spoken: int = SPOKEN,
    progress: Progress = lambda step, done, total: None,
) -> tuple[pd.DataFrame, dict[str, object]]:
    """The rows of one experiment (see `running.run`) and its facts (see `results.stored`).

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

    def told(world: str, replications: int) -> None:
        nonlocal done
        done += replications
        progress(world, done, total)

    rows, seconds = running.run(cases, sizes, processes, progress=told)
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
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    columns = ["world", "questions", "id", "where", "given", "bias", "mc_se", "coverage", "rejected", "verdict"]
    odd = rows.loc[rows["verdict"] != "holds", columns]
    return f"{render_text(odd) if len(odd) else ''}\n{told}; {facts['seconds']} s of core time"
