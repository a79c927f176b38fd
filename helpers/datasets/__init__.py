"""Questions, answers and published judgments: from a file, a folder, or the hub."""

from helpers.datasets.answers import (
    Responses,
    candidate_of,
    load_answers,
    load_arena_answers,
    load_responses,
    style_of,
    vendor_of,
)
from helpers.datasets.arena import load_arena, load_games, write_arena
from helpers.datasets.bias_tests import load_decisions, load_published_tests, read_published_tests
from helpers.datasets.games import (
    NO_ORDER,
    gold_of_games,
    gold_of_votes,
    load_pairwise,
    load_pandalm_votes,
    load_votes,
    normalised,
    pandalm_gold,
)
from helpers.datasets.hub import fetch, from_hub, recorded
from helpers.datasets.inspect_logs import load_inspect
from helpers.datasets.listwise import audit_places, load_judgments, load_top1
from helpers.datasets.pairs import load_code_pairs, load_pair_judgments
from helpers.datasets.publishing import published_answers, published_judgments
from helpers.datasets.questions import (
    load_arena_questions,
    load_passages,
    load_questions,
    merge_near_duplicates,
    near_duplicates_told,
    ranked,
)
from helpers.datasets.reading import Loaded, Problem
