"""What calibrations found, as files: rows and facts of each experiment, replaced one experiment at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths
from helpers.calibrate.running import COLUMNS
from helpers.tables import csv_text

FOLDER = paths.FIGURES / "overview"
#: Those that have cases, in the order of the notebooks.
EXPERIMENTS = tuple(
    name
    for name in (path.stem.partition("_")[2] for path in sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb")))
    if (Path(__file__).parent / f"{name}.py").is_file()
)
Facts = Mapping[str, Mapping[str, Any]]
#: What is known of the calibration of one experiment.
FACTS = ("hash", "runs", "spoken", "seconds", "worlds")
AGAIN = "remove it and calibration.csv, and run `recuse calibrate` again"


def stored(folder: Path = FOLDER) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The rows of all calibrated experiments (columns: COLUMNS) and the facts of each by name; empty where none is.

    Facts: `hash` of the code tested, `runs` by number of questions, `spoken` replications a world that went through
    prompt and reply text, `seconds` of core time of all replications, `worlds` in words by name.
    """
    rows, facts = folder / "calibration.csv", folder / "calibration.json"
    if not (rows.is_file() and facts.is_file()):
        return pd.DataFrame(columns=list(COLUMNS)), {}
    found = pd.read_csv(rows, dtype={"where": str}, keep_default_na=False, na_values={"truth": [""], **_numbers()})
    return found, _facts(facts)


def _facts(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); {AGAIN}") from None
    lacking = [f"{name}: {key}" for name, facts in found.items() for key in FACTS if key not in facts]
    if lacking:
        raise ValueError(f"{path}: missing {', '.join(lacking)}; {AGAIN}")
    return found


def _numbers() -> dict[str, list[str]]:
    return {name: [""] for name in ("bias", "sd", "mc_se", "coverage", "rejected")}


def store(rows: pd.DataFrame, facts: Facts, folder: Path = FOLDER) -> None:
    """Put the rows and facts of some experiments in the place of their former ones; those of the others stay.

    With them the figure and its caption (calibration.png, .pdf, .svg and .md), written as `export.write` does.
    """
    from helpers.export import captions, write
    from helpers.figures.calibration import show_calibration
    from helpers.figures.style import METADATA

    former, known = stored(folder)
    kept = former[~former["experiment"].isin(list(facts))]
    order = {name: number for number, name in enumerate(EXPERIMENTS)}
    parts = [each for each in (kept, rows) if len(each)]
    every = pd.concat(parts, ignore_index=True).sort_values(
        "experiment", key=lambda names: names.map(lambda name: order.get(name, len(order))), kind="stable"
    )
    told = {name: {**known, **facts}[name] for name in sorted({**known, **facts}, key=lambda n: order.get(n, 9))}
    figure = show_calibration(every)
    files = {
        "calibration.csv": csv_text(every).encode(),
        "calibration.json": (json.dumps(told, indent=1, ensure_ascii=False) + "\n").encode(),
        "calibration.md": captions("calibration", [figure], []).encode(),
        **{f"calibration.{kind}": figure.render(kind) for kind in METADATA},
    }
    write(files, folder)
