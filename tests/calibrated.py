"""What no slow test repeats: rows of figures/overview/calibration.csv, which `recuse calibrate` renews."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from helpers.calibrate import results
from helpers.calibrate.running import SIZES


@dataclass(frozen=True)
class Held:
    """Numbers that are tried in a world in the same role at each of these places (parts of the column `where`).

    A place without a judge is of all judges together.
    """

    world: str
    role: str
    ids: tuple[str, ...]
    places: Sequence[str] = ("",)
    questions: int = 80


def stored(experiment: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The stored rows and facts of an experiment; one without any is a failure."""
    rows, facts = results.stored()
    assert experiment in facts, f"{experiment} has not been calibrated: `recuse calibrate {experiment}`"
    return rows[rows["experiment"] == experiment], facts[experiment]


def assert_calibrated(experiment: str, held: Iterable[Held]) -> None:
    """Fail where a row is missing, was made of fewer replications than the others or never had an interval."""
    rows, _ = stored(experiment)
    missing = []
    for each in held:
        at = rows[
            (rows["world"] == each.world)
            & (rows["role"] == each.role)
            & (rows["questions"] == each.questions)
            & (rows["runs"] >= SIZES[each.questions])
            & (rows["given"] > 0)
        ]
        for id in each.ids:
            found = [set(where.split()) for where in at.loc[at["id"] == id, "where"]]
            for sought in each.places:
                alike = [place for place in found if ("judge=" in sought) == any("judge=" in part for part in place)]
                if not any(set(sought.split()) <= place for place in alike):
                    missing.append(f"{each.world}, {each.questions} questions, {each.role}: {id} {sought}".rstrip())
    assert not missing, f"calibration.csv no longer holds, for {experiment}: {'; '.join(missing)}"
