"""Questions, answers and published judgments: from a file, a folder, or the hub."""

from helpers.datasets.answers import candidate_of, load_answers, vendor_tier
from helpers.datasets.audit import Audit, audit_places, mapping_audit
from helpers.datasets.code_pairs import CodePairs, load_code_pairs
from helpers.datasets.hub import fetch, from_hub, recorded
from helpers.datasets.listwise import (
    load_errors,
    load_judgments,
    load_prefixes,
    load_top1,
)
from helpers.datasets.pairs import load_pair_judgments
from helpers.datasets.passages import load_passages
from helpers.datasets.questions import load_questions, ranked
from helpers.datasets.responses import Responses, load_responses, vendor_of

__all__ = [
    "Audit",
    "CodePairs",
    "Responses",
    "audit_places",
    "candidate_of",
    "fetch",
    "from_hub",
    "load_answers",
    "load_code_pairs",
    "load_errors",
    "load_judgments",
    "load_pair_judgments",
    "load_passages",
    "load_prefixes",
    "load_questions",
    "load_responses",
    "load_top1",
    "mapping_audit",
    "ranked",
    "recorded",
    "vendor_of",
    "vendor_tier",
]
