"""Whether naming the authors changes what a judge puts first: experiment 2, built on experiment 1's top choice."""

from helpers.biases.hinting.asked import CONTROL, caution, trials
from helpers.biases.hinting.groups import best_tables, chance, chance_words, goals, recommended
from helpers.biases.hinting.measured import (
    card,
    few,
    finding,
    headline,
    measure,
    paper_tables,
    planted,
    published_frame,
)
from helpers.biases.hinting.paired import (
    changes_words,
    conclusions,
    confirmatory,
    names_words,
    published_picks,
    unpaired,
)
from helpers.biases.hinting.published import curves, from_published, margins_words
from helpers.biases.top_choice.asked import NEEDS, STAGES, answers
from helpers.frames import listwise as tidy
