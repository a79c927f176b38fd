"""One judge asked a frozen battery of manipulations: which of them move its verdicts, and how sure that is."""

from helpers.audit.battery import Battery, load
from helpers.audit.card import check, drawn, facts, save
from helpers.audit.concluding import bottom_line, worst_first
from helpers.audit.judges import OWN, judge_of
from helpers.audit.running import Audit, as_it_is_served, audit, plan
from helpers.audit.telling import said, told

__all__ = [
    "OWN",
    "Audit",
    "Battery",
    "as_it_is_served",
    "audit",
    "bottom_line",
    "check",
    "drawn",
    "facts",
    "judge_of",
    "load",
    "plan",
    "said",
    "save",
    "told",
    "worst_first",
]
