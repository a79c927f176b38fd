"""What `recuse power` prints: the table of one design, its cost, and the curve as files."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tqdm import tqdm

from helpers.config import load_experiment
from helpers.figures import show_power
from helpers.power.cost import cost
from helpers.power.families import precisions
from helpers.power.pilot import read_pilot
from helpers.power.precision import Precision, enough
from helpers.power.showing import curves, sentence, summary, table, wanted
from helpers.power.worlds import most_judges, simulated
from helpers.tables import render_text

FROM_PILOT = (
    "Standard errors: from the pilot, scaled with the number of questions; what other judges or repeats would change "
    "is not known from it."
)


def planned(
    name: str,
    parameters: Mapping[str, Any],
    questions: int | None = None,
    judges: str | None = None,
    repeats: int | None = None,
    effects: Sequence[str] = (),
    pilot: str | None = None,
    draws: int = 100,
    out: str | None = None,
) -> str:
    """The power of experiment `name` in words and a table; `out` also gets the figure of its curve.

    `parameters` are notebook parameters, of which `judges`, `repeats` and `questions` are the most used. Without a
    `pilot` the standard errors are from simulated runs with as many judges and repeats. Judges or repeats with a pilot
    shape the cost alone.
    """
    given = dict(parameters)
    if judges:
        given["judges"] = [each.strip() for each in judges.split(",")]
    if repeats is not None:
        given["repeats"] = repeats
    sizes, price = wanted(effects), asyncio.run(cost(name, questions and enough(questions), **given))
    asked = enough(round(price.questions))
    each, source = _sure(name, given, asked, pilot, draws)
    shown = table(each, asked, sizes, price)
    lines = [f"{name}, {asked} questions: {price}", source, "", render_text(shown), "", sentence(each)]
    if out:
        lines += ["", *_drawn(each, sizes, Path(out))]
    return "\n".join(lines)


def _sure(
    name: str, given: Mapping[str, Any], asked: int, pilot: str | None, draws: int
) -> tuple[list[Precision], str]:
    if pilot:
        return precisions(read_pilot(Path(pilot), name), name), FROM_PILOT
    experiment = load_experiment(name, **given)
    judges = min(len(experiment.judges), most_judges(name))
    shown = partial(tqdm, desc=f"{name}, simulated runs", unit="run", file=sys.stderr, leave=False)
    estimates = simulated(name, asked, judges, experiment.repeats, draws, progress=shown)
    each = precisions(estimates, name, asked=asked, draws=draws)
    told = f"{judges} judges, repeats = {experiment.repeats}"
    if judges < len(experiment.judges):
        told += f" (of {len(experiment.judges)} judges: the simulated world has no more)"
    return each, f"Standard errors: from {draws} simulated runs with {told}. {summary(each)}"


def _drawn(each: Sequence[Precision], effects: Mapping[str, float], folder: Path) -> list[str]:
    figure = show_power(curves(each), effects)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{figure.name}.{kind}" for kind in ("png", "pdf", "svg")]
    for file in files:
        file.write_bytes(figure.render(file.suffix[1:]))
    return [f"Written: {', '.join(map(str, files))}", figure.caption]
