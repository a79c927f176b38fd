"""Anybody's own verdicts: every number of ours that they can carry, and of each other one what is missing."""

from .analysis import Analysis, analyze
from .formats import NAMES as FORMATS
from .saying import summarize, summary, write

__all__ = ["FORMATS", "Analysis", "analyze", "summarize", "summary", "write"]
