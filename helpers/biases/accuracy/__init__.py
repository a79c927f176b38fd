"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from helpers.biases.accuracy.agreement import accuracy, agreement, corrected, counted, people_rate
from helpers.biases.accuracy.published_counts import finding, published, published_finding

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
