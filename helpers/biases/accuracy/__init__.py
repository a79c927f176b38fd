"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from helpers.biases.accuracy.agreement import agreement
from helpers.biases.accuracy.correcting import people_rate
from helpers.biases.accuracy.estimands import ESTIMANDS
from helpers.biases.accuracy.gold import accuracy, corrected
from helpers.biases.accuracy.published import published
from helpers.biases.accuracy.published_words import published_finding
from helpers.biases.accuracy.saying import finding
from helpers.biases.accuracy.tables import counted

#: The numbers that conclusions rest on: calibrated, planned for, and shown on the judge card.
HEADLINE = ("gold_accuracy", "gold_accuracy_difference", "human_agreement", "agreement_gap")

__all__ = [
    "ESTIMANDS",
    "HEADLINE",
    "accuracy",
    "agreement",
    "corrected",
    "counted",
    "finding",
    "people_rate",
    "published",
    "published_finding",
]
