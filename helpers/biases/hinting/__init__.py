"""Whether naming the authors changes what a judge puts first: experiment 2, built on experiment 1's top choice."""

from helpers.biases.hinting.asking import CONTROL, hints_of, stages
from helpers.biases.top_choice.asking import answers, caution, unfit
from helpers.frames import listwise as tidy

__all__ = ["CONTROL", "answers", "caution", "hints_of", "stages", "tidy", "unfit"]
