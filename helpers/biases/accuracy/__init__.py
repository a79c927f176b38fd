"""Whether judges are right, and whether they say what people say: measured wherever gold labels or votes exist."""

from .agreement import accuracy, agreement, people_rate
from .published_counts import finding, published, published_finding
