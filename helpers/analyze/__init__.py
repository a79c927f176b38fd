"""Anybody's own verdicts: every number of ours that they can carry, and of each other one what is missing."""

from .analysis import Analysis, analyze
from .formats import NAMES as FORMATS
from .saying import EXAMPLE, drawn, name_of, summary, write

__all__ = ["EXAMPLE", "FORMATS", "Analysis", "analyze", "drawn", "name_of", "summary", "write"]
