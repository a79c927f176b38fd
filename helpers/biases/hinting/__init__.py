"""Whether naming the authors changes what a judge puts first: experiment 2, built on experiment 1's top choice."""

from ...frames import listwise as tidy
from ..top_choice.asked import NEEDS, STAGES, answers
from .asked import CONTROL, caution, trials
from .groups import best_tables, chance, chance_words, curves, from_published, goals, margins_words, recommended
from .measured import card, finding, headline, measure, planted, published_frame
from .paired import changes_words, conclusions, confirmatory, names_words, published_picks, unpaired
