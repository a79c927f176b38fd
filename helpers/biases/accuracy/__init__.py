"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from helpers.biases.accuracy.agreement import accuracy, agreement, people_rate
from helpers.biases.accuracy.published_counts import finding, published, published_finding
