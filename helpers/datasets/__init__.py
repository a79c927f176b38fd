"""Questions, answers and published judgments: from a file, a folder, or the hub."""

from helpers.datasets.answers import (
    ArenaAnswers,
    Responses,
    candidate_of,
    load_answers,
    load_arena_answers,
    load_responses,
    style_of,
    vendor_of,
    vendor_tier,
)
from helpers.datasets.arena import Arena, load_arena
from helpers.datasets.arena_lines import Problem
from helpers.datasets.arena_texts import disagreements, label_v01, label_v2, reread
from helpers.datasets.arena_writing import write_arena
from helpers.datasets.audit import Audit, audit_places, mapping_audit
from helpers.datasets.bias_tests import BiasTests, Decisions, load_decisions, load_published_tests, read_published_tests
from helpers.datasets.code_pairs import CodePairs, load_code_pairs
from helpers.datasets.game_outcomes import both_order_counts, load_battles
from helpers.datasets.game_pairs import load_fastchat_pairs, load_letter_pairs, load_llmbar, load_pandalm
from helpers.datasets.game_rows import normalised
from helpers.datasets.game_votes import NO_ORDER, load_alpaca, load_vote_games, pandalm_gold
from helpers.datasets.games import load_games
from helpers.datasets.hub import fetch, from_hub, recorded
from helpers.datasets.inspect_logs import load_inspect
from helpers.datasets.listwise import load_judgments, load_top1
from helpers.datasets.pairs import load_pair_judgments
from helpers.datasets.questions import (
    load_arena_questions,
    load_passages,
    load_questions,
    merge_near_duplicates,
    near_duplicates_told,
    ranked,
)
from helpers.datasets.votes import gold_of_games, gold_of_votes, load_pandalm_votes, load_votes
