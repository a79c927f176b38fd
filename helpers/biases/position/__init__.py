"""Whether the order of two answers changes the verdict: experiment 4."""

from helpers.biases.position.asking import NEEDS, STAGES, answers, trials, unfit
from helpers.biases.position.card import card, headline
from helpers.biases.position.classes import class_counts, count_tables, grid, patterns
from helpers.biases.position.concluding import finding, identical_words
from helpers.biases.position.counts import from_pairs, games_of
from helpers.biases.position.design import caution, check
from helpers.biases.position.families import confirmatory, corrected, exploratory, rarer_side, smallest_detectable
from helpers.biases.position.leaderboard import leaderboard_contrast, leaderboard_words
from helpers.biases.position.measure import measure, published_frame
from helpers.biases.position.pairs import comparisons, pairs
from helpers.biases.position.planted import planted
from helpers.biases.position.published import from_published
from helpers.biases.position.published_frames import leaderboard_points, of_blocks, published_grids
from helpers.biases.position.published_words import published_finding
from helpers.biases.position.saying import (
    by_category,
    class_words,
    outcome_cells,
    paper_tables,
    titled,
    win_rows,
    win_words,
)
from helpers.biases.position.sensitivity import choices_of, sensitivity_words
from helpers.frames import games as tidy

__all__ = [
    "NEEDS",
    "STAGES",
    "answers",
    "by_category",
    "card",
    "caution",
    "check",
    "choices_of",
    "class_counts",
    "class_words",
    "comparisons",
    "confirmatory",
    "corrected",
    "count_tables",
    "exploratory",
    "finding",
    "from_pairs",
    "from_published",
    "games_of",
    "grid",
    "headline",
    "identical_words",
    "leaderboard_contrast",
    "leaderboard_points",
    "leaderboard_words",
    "measure",
    "of_blocks",
    "outcome_cells",
    "pairs",
    "paper_tables",
    "patterns",
    "planted",
    "published_finding",
    "published_frame",
    "published_grids",
    "rarer_side",
    "sensitivity_words",
    "smallest_detectable",
    "tidy",
    "titled",
    "trials",
    "unfit",
    "win_rows",
    "win_words",
]
