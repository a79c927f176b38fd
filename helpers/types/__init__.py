"""The nouns of the project: frozen records that every room may use and that import nothing of ours."""

from helpers.types.asked import Answer, Experiment, Model, Price, Question, Request, Trial, short_hash
from helpers.types.numbers import Estimand, Estimate
from helpers.types.replies import FINISHES, OUTCOMES, Completion, Judgment, Usage, Verdict

__all__ = [
    "FINISHES",
    "OUTCOMES",
    "Answer",
    "Completion",
    "Estimand",
    "Estimate",
    "Experiment",
    "Judgment",
    "Model",
    "Price",
    "Question",
    "Request",
    "Trial",
    "Usage",
    "Verdict",
    "short_hash",
]
