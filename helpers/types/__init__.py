"""The nouns of the project: frozen records that every room may use and that import nothing of ours."""

from helpers.types.asked import Answer, Collection, Experiment, Question, Trial, short_hash
from helpers.types.models import Model, Price
from helpers.types.naming import display_name, listed, plain, sentence
from helpers.types.numbers import CARD_VERDICTS, CardLine, Estimand, Estimate, Headline, p_text
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
from helpers.types.requests import SITUATION, Measured, Request
from helpers.types.tests import KINDS, MOST_OPTIONS, VERSIONS, Pull, RatioScale, Version, Wording

__all__ = [
    "CARD_VERDICTS",
    "FINISHES",
    "KINDS",
    "MOST_OPTIONS",
    "OUTCOMES",
    "PAIRWISE",
    "SITUATION",
    "VERDICT_FIELDS",
    "VERSIONS",
    "Answer",
    "CardLine",
    "Collection",
    "Completion",
    "Estimand",
    "Estimate",
    "Experiment",
    "Headline",
    "Judgment",
    "Measured",
    "Model",
    "Price",
    "Pull",
    "Question",
    "RatioScale",
    "Request",
    "Trial",
    "Usage",
    "Verdict",
    "Version",
    "Wording",
    "check_form",
    "display_name",
    "listed",
    "p_text",
    "plain",
    "sentence",
    "short_hash",
]
