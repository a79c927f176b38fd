"""Questions, answers and published judgments: from a file, a folder, or the hub.

Every defect of a file is a ValueError with file, line and id.
"""

from .answers import load_answers, load_arena_answers, load_responses, published_answers, style_of
from .bias_tests import load_decisions, load_published_tests
from .exports import EXPORTS, load_export, load_inspect
from .games import NO_ORDER, load_arena, load_games, load_pairwise, normalised, write_arena
from .listwise import audit_places, load_judgments, load_top1, published_judgments
from .pairs import load_code_pairs, load_pair_judgments
from .questions import (
    load_arena_questions,
    load_passages,
    load_questions,
    merge_near_duplicates,
    near_duplicate_words,
    ranked,
)
from .reading import Loaded
