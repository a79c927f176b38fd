"""The nouns of the project: frozen records that every room may use and that import nothing of ours."""

from helpers.types.asked import Answer, Experiment, Model, Price, Question, Request, Trial, short_hash
from helpers.types.naming import display_name, plain
from helpers.types.numbers import Estimand, Estimate
from helpers.types.replies import (
    FINISHES,
    OUTCOMES,
    PAIRWISE,
    VERDICT_FIELDS,
    Completion,
    Judgment,
    Usage,
    Verdict,
    check_form,
)

__all__ = [
    "FINISHES",
    "OUTCOMES",
    "PAIRWISE",
    "VERDICT_FIELDS",
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
    "check_form",
    "display_name",
    "plain",
    "short_hash",
]
