"""The overview: what all experiments found, collected from their folders; no experiment is known by name."""

from helpers.overview.collecting import Found, Row, absent, collect
from helpers.overview.files import estimates, provenance, tables
from helpers.overview.frames import card, claims, costs, exceptions, lines, rows, statuses, words
from helpers.overview.saying import bottom_line, claims_words, costs_words

__all__ = [
    "Found",
    "Row",
    "absent",
    "bottom_line",
    "card",
    "claims",
    "claims_words",
    "collect",
    "costs",
    "costs_words",
    "estimates",
    "exceptions",
    "lines",
    "provenance",
    "rows",
    "statuses",
    "tables",
    "words",
]
