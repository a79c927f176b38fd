"""One judge asked a frozen battery of manipulations: which of them move its verdicts, and how sure that is."""

from helpers.audit.asking import Battery, load
from helpers.audit.measuring import bottom_line, worst_first
from helpers.audit.running import (
    OWN,
    Audit,
    as_it_is_served,
    audit,
    check,
    drawn,
    facts,
    judge_of,
    plan,
    said,
    save,
    told,
)

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
