"""What a calibration tested, as one hash of results: another layout of code leaves it, another number changes it."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from studies.calibration import running
from studies.calibration.cases import Case, chance

#: Frames of verdicts on which the estimators are tried, one file an experiment.
FOLDER = Path(__file__).parent / "frames"
#: Frames an experiment, their questions (few, and enough for all intervals) and the replications that they are from.
FRAMES, QUESTIONS, FIRST = 30, (20, 44), 10_000
#: Rows of each world's first draws, and digits of a result, that count.
ROWS, DIGITS = 1000, 9


def fingerprint(experiment: str, folder: Path = FOLDER) -> str:
    """The hash of all that makes the stored calibration of an experiment hold: its estimators' results, its worlds.

    The sha256 over value, bounds and p (9 significant digits) of every number that its cases measure on the stored
    frames, and over the first 1,000 rows that each world draws. An experiment without cases or without
    frames is a ValueError.
    """
    cases = {case.world: case for case in _cases(experiment)}
    found = hashlib.sha256()
    for world, frame in stored_frames(experiment, folder):
        if world not in cases:
            raise ValueError(
                f"{folder / experiment}.parquet: no world {world}; draw_frames({experiment!r}) draws them anew"
            )
        for line in results(cases[world], frame):
            found.update(line.encode())
    for world, case in cases.items():
        found.update(f"{world}\n".encode())
        found.update(first_rows(case).to_csv(index=False, float_format=f"%.{DIGITS}g").encode())
    return found.hexdigest()


def _cases(experiment: str) -> Sequence[Case]:
    if importlib.util.find_spec(f"studies.calibration.experiments.{experiment}") is None:
        raise ValueError(f"no module studies.calibration.experiments.{experiment}: {experiment} is not calibrated")
    return running.cases_of(experiment)


def results(case: Case, frame: pd.DataFrame) -> list[str]:
    """Value, bounds and p of each number that is measured on a frame, one a line, sorted."""
    measured = case.measure(frame, 0)
    numbers = ((e, (f"{each:.{DIGITS}g}" for each in (e.value, e.low, e.high, e.p))) for e in measured)
    return sorted(f"{e.id} {running.place(e.where)} {' '.join(shown)}\n" for e, shown in numbers)


def first_rows(case: Case) -> pd.DataFrame:
    """The first 1,000 rows that a world draws, replication by replication."""
    frames, rows = list[pd.DataFrame](), 0
    while rows < ROWS:
        frames.append(case.frame(case.draw(QUESTIONS[0], chance(case, QUESTIONS[0], len(frames)))))
        rows += len(frames[-1])
    return pd.concat(frames, ignore_index=True).head(ROWS)


def stored_frames(experiment: str, folder: Path = FOLDER) -> Iterator[tuple[str, pd.DataFrame]]:
    """World and frame of each stored draw."""
    path = folder / f"{experiment}.parquet"
    if not path.is_file():
        raise ValueError(f"{path}: no stored frames of {experiment}; draw_frames({experiment!r}) draws them")
    for (world, _), frame in pd.read_parquet(path).groupby(["world", "draw"], sort=False):
        yield str(world), frame.drop(columns=["world", "draw"]).reset_index(drop=True)


def draw_frames(experiment: str, folder: Path = FOLDER) -> None:
    """Draw and store the frames of an experiment: its worlds in turn, few and more questions in turn."""
    cases, frames = _cases(experiment), []
    for draw in range(FRAMES):
        case = cases[draw % len(cases)]
        questions = QUESTIONS[draw // len(cases) % 2]
        frame = case.frame(case.draw(questions, chance(case, questions, FIRST + draw)))
        frames.append(frame.assign(world=case.world, draw=draw))
    every = pd.concat(frames, ignore_index=True)
    for name in every.select_dtypes(include=[np.dtype(object)]):
        every[name] = every[name].astype("category")
    every.to_parquet(folder / f"{experiment}.parquet", compression="zstd")
