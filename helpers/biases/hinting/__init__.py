"""Whether naming the authors changes what a judge puts first: experiment 2, built on experiment 1's top choice."""

from helpers.biases.hinting.asking import CONTROL, caution, check, hints_of, trials
from helpers.biases.hinting.best import best_tables, chance, chance_words, goals, recommended
from helpers.biases.hinting.card import card, headline
from helpers.biases.hinting.changes import changes_words
from helpers.biases.hinting.concluding import conclusions, corrected
from helpers.biases.hinting.measure import (
    confirmatory,
    few,
    finding,
    measure,
    paper_tables,
    published_frame,
)
from helpers.biases.hinting.names import names_words
from helpers.biases.hinting.paired import unpaired
from helpers.biases.hinting.picks import published_picks
from helpers.biases.hinting.planted import planted
from helpers.biases.hinting.published import curves, from_published, margins_words
from helpers.biases.top_choice.asking import NEEDS, STAGES, answers, unfit
from helpers.frames import listwise as tidy

__all__ = [
    "CONTROL",
    "NEEDS",
    "STAGES",
    "answers",
    "best_tables",
    "card",
    "caution",
    "chance",
    "chance_words",
    "changes_words",
    "check",
    "conclusions",
    "confirmatory",
    "corrected",
    "curves",
    "few",
    "finding",
    "from_published",
    "goals",
    "headline",
    "hints_of",
    "margins_words",
    "measure",
    "names_words",
    "paper_tables",
    "planted",
    "published_frame",
    "published_picks",
    "recommended",
    "tidy",
    "trials",
    "unfit",
    "unpaired",
]
