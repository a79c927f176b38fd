"""Questions, answers and published judgments: from a file, a folder, or the hub."""

from helpers.datasets.answers import candidate_of, load_answers, vendor_tier
from helpers.datasets.arena import Arena, load_arena
from helpers.datasets.arena_lines import Problem
from helpers.datasets.arena_questions import ArenaAnswers, load_arena_answers, load_arena_questions, style_of
from helpers.datasets.arena_texts import disagreements, label_v01, label_v2, reread
from helpers.datasets.arena_writing import write_arena
from helpers.datasets.audit import Audit, audit_places, mapping_audit
from helpers.datasets.bias_decisions import Decisions, load_decisions
from helpers.datasets.bias_tests import BiasTests, load_published_tests, read_published_tests
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
from helpers.datasets.passages import load_passages
from helpers.datasets.publishing import published_answers, published_judgments
from helpers.datasets.questions import load_questions, merge_near_duplicates, near_duplicates_told, ranked
from helpers.datasets.responses import Responses, load_responses, vendor_of
from helpers.datasets.votes import gold_of_games, gold_of_votes, load_pandalm_votes, load_votes

__all__ = [
    "NO_ORDER",
    "Arena",
    "ArenaAnswers",
    "Audit",
    "BiasTests",
    "CodePairs",
    "Decisions",
    "Problem",
    "Responses",
    "audit_places",
    "both_order_counts",
    "candidate_of",
    "disagreements",
    "fetch",
    "from_hub",
    "gold_of_games",
    "gold_of_votes",
    "label_v01",
    "label_v2",
    "load_alpaca",
    "load_answers",
    "load_arena",
    "load_arena_answers",
    "load_arena_questions",
    "load_battles",
    "load_code_pairs",
    "load_decisions",
    "load_fastchat_pairs",
    "load_games",
    "load_inspect",
    "load_judgments",
    "load_letter_pairs",
    "load_llmbar",
    "load_pair_judgments",
    "load_pandalm",
    "load_pandalm_votes",
    "load_passages",
    "load_published_tests",
    "load_questions",
    "load_responses",
    "load_top1",
    "load_vote_games",
    "load_votes",
    "mapping_audit",
    "merge_near_duplicates",
    "near_duplicates_told",
    "normalised",
    "pandalm_gold",
    "published_answers",
    "published_judgments",
    "ranked",
    "read_published_tests",
    "recorded",
    "reread",
    "style_of",
    "vendor_of",
    "vendor_tier",
    "write_arena",
]
