"""Whether models are moved as people are by anchors, halos, losses, beliefs, crowds and names: experiment 5."""

from helpers.biases.cognitive.asking import CONTROL, NEEDS, STAGES, answers, trials, unfit
from helpers.biases.cognitive.building import questions
from helpers.biases.cognitive.design import caution, check
from helpers.frames import decisions as tidy

__all__ = ["CONTROL", "NEEDS", "STAGES", "answers", "caution", "check", "questions", "tidy", "trials", "unfit"]
