"""The worlds that each experiment is tried in, what is measured there and what ought to come out."""
