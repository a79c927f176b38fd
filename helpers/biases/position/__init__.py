"""Whether the order of two answers changes the verdict: experiment 4."""

from ...frames import games as tidy
from .asked import NEEDS, STAGES, answers, baseline_of, caution, check, trials
from .both_orders import class_counts, count_tables, grid, pairs, patterns
from .findings import (
    SINCE,
    by_category,
    card,
    class_words,
    finding,
    headline,
    identical_words,
    outcome_cells,
    planted,
    published_finding,
    released_finding,
    released_title,
    titled,
    win_rows,
    win_words,
)
from .measured import choices_of, measure, rarer_side, sensitivity_words
from .published import (
    from_published,
    leaderboard_contrast,
    leaderboard_points,
    leaderboard_words,
    of_blocks,
    published_grids,
)
