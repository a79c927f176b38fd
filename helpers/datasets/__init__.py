"""Questions, answers and published judgments: from a file, a folder, or the hub."""

from helpers.datasets.answers import candidate_of, load_answers, vendor_tier
from helpers.datasets.audit import Audit, audit_places, mapping_audit
from helpers.datasets.hub import fetch, from_hub, recorded
from helpers.datasets.listwise import (
    load_errors,
    load_judgments,
    load_prefixes,
    load_top1,
)
from helpers.datasets.questions import load_questions, ranked

__all__ = [
    "Audit",
    "audit_places",
    "candidate_of",
    "fetch",
    "from_hub",
    "load_answers",
    "load_errors",
    "load_judgments",
    "load_prefixes",
    "load_questions",
    "load_top1",
    "mapping_audit",
    "ranked",
    "recorded",
    "vendor_tier",
]
