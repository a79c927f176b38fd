"""Whether our numbers can be trusted: what calibration on simulated judges of known truth found, as it is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from . import paths

if TYPE_CHECKING:
    from .figures.style import Figure

#: The folder of calibration.csv (rows) and calibration.json (facts), which `python -m studies.calibration` writes.
FOLDER = paths.DEFINITIONS / "figures" / "overview"
COLUMNS = (
    *("experiment", "world", "questions", "id", "where", "role", "truth", "runs", "given"),
    *("bias", "sd", "mc_se", "coverage", "rejected", "verdict"),
)
#: The facts of one experiment.
FACTS = ("hash", "runs", "spoken", "seconds", "worlds", "words", "summary")
COMMAND = "python -m studies.calibration"


def stored(folder: Path = FOLDER) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Load the rows of all calibrated experiments (columns: COLUMNS) and the facts of each by name; empty without any.

    Facts: `hash` of the results tested, `runs` by number of questions, `spoken` replications a world that went through
    prompt and reply text, `seconds` of core time of all replications, `worlds` in words by name, `words` and `summary`:
    what was found, as lines and as one line of Markdown. Damaged facts are a ValueError that names the file.
    """
    rows, facts = folder / "calibration.csv", folder / "calibration.json"
    if not (rows.is_file() and facts.is_file()):
        return pd.DataFrame(columns=list(COLUMNS)), {}
    empty = {name: [""] for name in ("truth", "bias", "sd", "mc_se", "coverage", "rejected")}
    return pd.read_csv(rows, dtype={"where": str}, keep_default_na=False, na_values=empty), _facts(facts)


def _facts(path: Path) -> dict[str, Any]:
    again = f"remove it and calibration.csv, and run `{COMMAND}` again"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); {again}") from None
    lacking = [f"{name}: {key}" for name, facts in found.items() for key in FACTS if key not in facts]
    if lacking:
        raise ValueError(f"{path}: missing {', '.join(lacking)}; {again}")
    return found


def words(experiment: str, folder: Path = FOLDER) -> str:
    """Say what was tried on simulated judges, what kept the rule, each miss with its rate, and published estimators.

    Markdown, one item a line; where nothing is stored it says so.
    """
    facts = stored(folder)[1]
    if experiment not in facts:
        return f"These estimators have not been calibrated on judges of known truth (`{COMMAND} {experiment}`)."
    return "\n".join(f"- {line}" for line in facts[experiment]["words"])


def summary(folder: Path = FOLDER) -> str:
    """Say in a line an experiment how many of its headline numbers keep the rule, and which miss it."""
    facts = stored(folder)[1]
    names = [path.stem.partition("_")[2] for path in sorted(paths.NOTEBOOKS.glob("[0-9]*.ipynb"))]
    lines = [
        f"- *{name}*: {facts[name]['summary'] if name in facts else f'not calibrated (`{COMMAND} {name}`)'}"
        for name in names
        if name != "overview"
    ]
    return "\n".join(lines)


def shown(folder: Path = FOLDER, style: str = "paper") -> list[Figure]:
    """Draw the stored rates of false alarms and missed truths; no figure where nothing is stored."""
    from .figures import if_any
    from .figures.designs import show_calibration

    return if_any(show_calibration, stored(folder)[0], style=style)
