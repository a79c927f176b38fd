"""One judge asked a frozen battery of manipulations: which of them move its verdicts, and how sure that is."""

from helpers.audit.asking import Battery, load
from helpers.audit.running import Audit, as_it_is_served, audit, check, judge_of, plan, said, save

__all__ = ["Audit", "Battery", "as_it_is_served", "audit", "check", "judge_of", "load", "plan", "said", "save"]
