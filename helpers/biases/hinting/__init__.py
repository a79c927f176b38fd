"""Whether naming the authors changes what a judge puts first: experiment 2, built on experiment 1's top choice."""

from helpers.biases.hinting.asking import CONTROL, hints_of, stages
from helpers.biases.hinting.conclusions import conclusions, corrected
from helpers.biases.hinting.groups import best_groups, recommendations
from helpers.biases.hinting.measure import (
    changes_words,
    few,
    finding,
    measure,
    names_words,
    paper_tables,
    recommended,
)
from helpers.biases.hinting.published import curves, from_published, margins_words
from helpers.biases.top_choice.asking import answers, caution, unfit
from helpers.frames import listwise as tidy

__all__ = [
    "CONTROL",
    "answers",
    "best_groups",
    "caution",
    "changes_words",
    "conclusions",
    "corrected",
    "curves",
    "few",
    "finding",
    "from_published",
    "hints_of",
    "margins_words",
    "measure",
    "names_words",
    "paper_tables",
    "published_frame",
    "recommendations",
    "recommended",
    "stages",
    "tidy",
    "unfit",
]


def published_frame(frame):  # type: ignore[no-untyped-def]
    """Of published judgments all groups."""
    return frame
