"""What may be spent: one amount for a run, or amounts for single models of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from helpers.config.schema import ConfigError
from helpers.types import Experiment

#: The entry of `budget_usd` that limits all models together; no model can have this name there.
TOTAL = "total"


def total_of(given: Any, where: str) -> Any:
    """The limit of the whole run in `budget_usd`: its `total`, else the sum of its entries; a plain value as it is.

    An entry that is no amount is a ConfigError that names `where` and the entry.
    """
    if not isinstance(given, Mapping):
        return given
    valid = "{name: US dollars, ...}, names of this run's models, or total for all of them together"
    if not given:
        raise ConfigError(f"{where}: budget_usd is empty; it is one amount, or {valid}")
    for name, usd in given.items():
        number = isinstance(usd, int | float) and not isinstance(usd, bool)
        if not isinstance(name, str) or not number or not math.isfinite(usd) or usd < 0:
            raise ConfigError(
                f"{where}: budget_usd[{name}] = {usd!r}: must be a finite number from 0 up; budget_usd is one amount, "
                f"or {valid}"
            )
    return float(given.get(TOTAL, math.fsum(given.values())))


def limits_of(experiment: Experiment) -> dict[str, float]:
    """What a run may spend on single models, by name; empty where `budget_usd` is one amount for all.

    A model that is not named has what the `total` leaves, and nothing where there is no total. A name that is none of
    this run's models is a ConfigError that lists them.
    """
    given = experiment.parameters.get("budget_usd")
    if not isinstance(given, Mapping):
        return {}
    editor = (experiment.editor,) if experiment.editor else ()
    every = (*experiment.judges, *experiment.candidates, *editor, *experiment.baselines.values())
    names = dict.fromkeys(model.name for model in every)
    unknown = sorted(set(given) - {*names, TOTAL})
    if unknown:
        raise ConfigError(
            f"parameters of {experiment.name}: budget_usd names {', '.join(unknown)}, which this run does not ask; "
            f"valid: {', '.join([*names, TOTAL])}"
        )
    unnamed = {} if TOTAL in given else dict.fromkeys(names, 0.0)
    return unnamed | {name: float(usd) for name, usd in given.items() if name != TOTAL}
