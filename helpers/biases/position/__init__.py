"""Whether the order of two answers changes the verdict: experiment 4."""

from helpers.biases.position.asked import NEEDS, STAGES, answers, caution, check, trials
from helpers.biases.position.both_orders import class_counts, count_tables, grid, pairs, patterns
from helpers.biases.position.findings import (
    by_category,
    card,
    class_words,
    finding,
    headline,
    identical_words,
    outcome_cells,
    paper_tables,
    planted,
    titled,
    win_rows,
    win_words,
)
from helpers.biases.position.leaderboards import leaderboard_contrast, leaderboard_points, leaderboard_words
from helpers.biases.position.measured import choices_of, confirmatory, measure, rarer_side, sensitivity_words
from helpers.biases.position.published import from_published, of_blocks, published_finding, published_grids
from helpers.frames import games as tidy
