"""Anybody's own verdicts: every number of ours that they can carry, and of each other one what is missing."""

from helpers.analyze.analysis import Analysis, analyze
from helpers.analyze.formats import NAMES as FORMATS
from helpers.analyze.saying import summary, told
from helpers.analyze.writing import write

__all__ = ["FORMATS", "Analysis", "analyze", "summary", "told", "write"]
