"""What so many questions, judges and repeats can show, how many an effect takes, and what that costs."""

from helpers.power.cost import Cost, cost
from helpers.power.families import of_run, precisions
from helpers.power.pilot import read_pilot
from helpers.power.precision import Precision, chance, curve, questions_for, smallest_detectable
from helpers.power.showing import curves, sentence, summary, table, wanted
from helpers.power.worlds import simulated

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
