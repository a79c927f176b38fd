"""Of every declared number: whether it was computed, and what is missing where it was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import pandas as pd

from helpers.analyze.held import Held
from helpers.analyze.needs import facts_of, lacking
from helpers.config.numbers import load_numbers, number_files
from helpers.types import Estimand, Estimate

COMPUTED, MISSING = "computed", "not computed"
#: How this room is called beside the modules of biases.
HERE = "analyze"


@cache
def declared() -> Mapping[str, Mapping[str, Estimand]]:
    """All estimands by module: those of this room, then those of each bias."""
    modules = dict.fromkeys([HERE, *sorted(number_files())])
    return {module: load_numbers(module).estimands for module in modules}


def supported(held: Held, estimates: Sequence[Estimate]) -> pd.DataFrame:
    """One row a declared number: module, id, words, unit, status, numbers (how many were computed) and why (not).

    A number of the hinting groups is one with a hint in its place; one that has no value in any place is not computed,
    and its method says why.
    """
    facts = facts_of(held)
    made: dict[tuple[bool, str], list[Estimate]] = {}
    for each in estimates:
        made.setdefault(("hint" in each.where, each.id), []).append(each)
    rows = []
    for module, estimands in declared().items():
        for id, estimand in estimands.items():
            found = _of(made, module, id)
            valued = [each for each in found if each.value == each.value]
            why = ""
            if not valued:
                missing = lacking(module, id, facts)
                why = "; ".join(missing) or (found[0].method if found else "these verdicts give none")
            rows.append((module, id, estimand.words, estimand.unit, COMPUTED if valued else MISSING, len(valued), why))
    return pd.DataFrame(rows, columns=["module", "id", "words", "unit", "status", "numbers", "why"])


def _of(made: Mapping[tuple[bool, str], list[Estimate]], module: str, id: str) -> list[Estimate]:
    """The estimates of one declared number."""
    hinted, plain = made.get((True, id), []), made.get((False, id), [])
    if module == "hinting":
        return hinted or (plain if id in ("change_rate_repeat", "unreadable_share") else [])
    if module in ("self_preference", "cognitive"):
        return []
    return plain
