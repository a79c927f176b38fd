"""What no slow test repeats: rows of figures/overview/calibration.csv, which `python -m studies.calibration` renews."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from helpers import calibrate

FILE = Path(__file__).parent / "stats" / "calibrated.yaml"

#: Fewest replications, by questions, that stored results are of.
FEWEST = {80: 500, 20: 120, 400: 120}


@dataclass(frozen=True)
class Held:
    """Numbers that are tried in a world in the same role at each of these places (parts of the column `where`).

    A place without a judge is of all judges together. Something is said to be there in the share `least` to `most` of
    all replications; one without an interval says nothing. What the rule already judges needs neither.
    """

    world: str
    role: str
    ids: tuple[str, ...]
    places: Sequence[str] = ("",)
    questions: int = 80
    least: float = 0.0
    most: float = 1.0


def expected_rows() -> dict[tuple[str, str], list[Held]]:
    """The rows of calibrated.yaml by experiment and by what they show: calibrated, found, misleading."""
    found = {}
    for experiment, parts in yaml.safe_load(FILE.read_text(encoding="utf-8")).items():
        for part, rows in parts.items():
            found[experiment, part] = [Held(world, **row) for row in rows for world in row.pop("worlds")]
    return found


def stored(experiment: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The stored rows and facts of an experiment; one without any is a failure."""
    rows, facts = calibrate.stored()
    assert experiment in facts, f"{experiment} has not been calibrated: `python -m studies.calibration {experiment}`"
    return rows[rows["experiment"] == experiment], facts[experiment]


def assert_calibrated(experiment: str, held: Iterable[Held]) -> None:
    """Fail where a row is missing, was made of fewer replications than others, had no interval or is out of bounds."""
    rows, _ = stored(experiment)
    missing, outside = [], []
    for each in held:
        at = rows[
            (rows["world"] == each.world)
            & (rows["role"] == each.role)
            & (rows["questions"] == each.questions)
            & (rows["runs"] >= FEWEST[each.questions])
            & (rows["given"] > 0)
        ]
        what = f"{each.world}, {each.questions} questions, {each.role}"
        for id in each.ids:
            for sought in each.places:
                found = [row for row in at[at["id"] == id].itertuples() if _of(row.where, sought)]
                if not found:
                    missing.append(f"{what}: {id} {sought}".rstrip())
                for row in found:
                    said = row.rejected * row.given / row.runs
                    if not each.least <= said <= each.most:
                        bounds = f"{each.least:.1%} to {each.most:.1%}"
                        outside.append(f"{what}: {id} {row.where} in {said:.1%} of {row.runs}, not in {bounds}")
    assert not missing, f"calibration.csv no longer holds, for {experiment}: {'; '.join(missing)}"
    assert not outside, f"calibration.csv finds, for {experiment}: {'; '.join(outside)}"


def _of(where: str, sought: str) -> bool:
    """Is a place one of those sought? One without a judge is not a judge's."""
    place = set(where.split())
    return set(sought.split()) <= place and ("judge=" in sought) == ("judge=" in where)
