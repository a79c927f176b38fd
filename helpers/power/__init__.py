"""What so many questions, judges and repeats can show, how many an effect takes, and what that costs."""

from helpers.power.planning import Cost, cost, curves, sentence, summary, table, wanted
from helpers.power.precision import (
    Precision,
    chance,
    curve,
    of_run,
    precisions,
    questions_for,
    read_pilot,
    simulated,
    smallest_detectable,
)

__all__ = [
    "Cost",
    "Precision",
    "chance",
    "cost",
    "curve",
    "curves",
    "of_run",
    "precisions",
    "questions_for",
    "read_pilot",
    "sentence",
    "simulated",
    "smallest_detectable",
    "summary",
    "table",
    "wanted",
]
