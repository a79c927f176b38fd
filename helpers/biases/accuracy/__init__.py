"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from helpers.biases.accuracy.agreement import agreement
from helpers.biases.accuracy.correcting import people_rate
from helpers.biases.accuracy.gold import accuracy, corrected
from helpers.biases.accuracy.published import published
from helpers.biases.accuracy.published_words import published_finding
from helpers.biases.accuracy.saying import finding
from helpers.biases.accuracy.tables import counted

__all__ = [
    "accuracy",
    "agreement",
    "corrected",
    "counted",
    "finding",
    "people_rate",
    "published",
    "published_finding",
]
