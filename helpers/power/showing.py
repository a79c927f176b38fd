"""Power in words and tables: what a run could have shown, and what it would take to show more."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence

import pandas as pd

from helpers.power.cost import Cost
from helpers.power.precision import POWER, Precision, curve, questions_for, smallest_detectable
from helpers.words import plain

#: Effects of shares and their differences are told in pp, all others as they are.
PP = ("rate", "pp", "sd_pp")
WANTED = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(pp|logit|log|score)?")
#: Numbers of questions of the curve, as multiples of those at hand.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)
NOTHING = "No number of this run has a standard error to plan with: 10 questions are the least that carry one."


def wanted(texts: Sequence[str]) -> dict[str, float]:
    """The effects that are asked for, by unit; "5" is 5 pp, "0.5logit" half a logit.

    >>> wanted(["5", "0.4 logit"])
    {'pp': 0.05, 'logit': 0.4}
    """
    found = {}
    for text in texts:
        parts = WANTED.fullmatch(text.strip())
        if parts is None or not float(parts[1]):
            raise ValueError(f"effect {text!r}: a number above 0, in pp or with a unit: 5, 0.4logit, 0.3log, 0.1score")
        unit = parts[2] or "pp"
        found[unit] = float(parts[1]) / (100 if unit == "pp" else 1)
    return found


def told(effect: float, unit: str) -> str:
    """An effect as it is read: "5.3 pp", "0.46 logit"; a dash where there is none.

    >>> told(0.0531, "rate"), told(0.4567, "logit")
    ('5.3 pp', '0.46 logit')
    """
    if not math.isfinite(effect):
        return "\N{EN DASH}"
    return f"{100 * effect:.1f} pp" if unit in PP else f"{effect:.2f} {unit}"


def condensed(each: Sequence[Precision]) -> list[tuple[str, Precision]]:
    """What a table has rows of: the planned tests, and of each other kind of place the one with the median error."""
    found = [(one.place, one) for one in each if one.confirmatory]
    kinds: dict[tuple, list[Precision]] = {}
    for one in each:
        if not one.confirmatory:
            kinds.setdefault((one.id, tuple(one.where), one.kind), []).append(one)
    for (_, keys, _), several in kinds.items():
        # The median of what so many questions find: places differ in how many tell anything.
        middle = statistics.median_low([smallest_detectable(one) for one in several])
        one = next(one for one in several if smallest_detectable(one) == middle or middle != middle)
        found.append((one.place if len(several) == 1 else f"median of {len(several)} ({', '.join(keys)})", one))
    return found


def table(
    each: Sequence[Precision],
    questions: int | None = None,
    effects: Mapping[str, float] | None = None,
    cost: Cost | None = None,
) -> pd.DataFrame:
    """What so many questions find in 80 % of runs, a row a planned test and a row a kind of other numbers.

    Columns: number, where, test, questions, smallest effect, and with `effects` (by unit, see `wanted`) effect and
    questions needed, with `cost` what these would cost. `questions` None: as many as were asked. Of equivalence the
    effect is the margin. Without numbers the table is empty.
    """
    rows = []
    for place, one in condensed(each):
        n = one.here if questions is None else questions
        row = {
            "number": one.id,
            "where": plain(place),
            "test": one.words + {"mcnemar": ", exact McNemar", "equivalence": ", equivalence"}.get(one.kind, ""),
            "questions": n,
            "smallest effect": told(smallest_detectable(one, n), one.unit),
        }
        if effects:
            unit = "pp" if one.unit in PP else one.unit
            effect = effects.get(unit, math.nan)
            needed = questions_for(one, effect) if effect == effect else math.nan
            row |= {"effect": told(effect, one.unit), "questions needed": _count(needed)}
            if cost is not None:
                row["cost of these"] = cost.of(needed).brief if needed == needed else "\N{EN DASH}"
        rows.append(row)
    return pd.DataFrame(rows)


def _count(questions: float) -> str:
    if math.isnan(questions):
        return "\N{EN DASH}"
    return f"{questions:,.0f}" if math.isfinite(questions) else "more than anybody has"


def curves(each: Sequence[Precision], ids: Sequence[str] = (), power: float = POWER) -> pd.DataFrame:
    """The smallest effect against the number of questions, from a quarter of those asked to eight times as many.

    Of the planned tests, or of `ids`; columns as `curve`. Empty where there is none.
    """
    chosen = [one for one in each if (one.id in ids if ids else one.confirmatory)]
    if not chosen:
        return curve([], [])
    here = max(one.here for one in chosen)
    return curve(chosen, sorted({max(10, round(here * step)) for step in STEPS}), power)


def sentence(each: Sequence[Precision]) -> str:
    """What a run could have shown, in words: the smallest effects of its planned tests, and what half of them takes."""
    planned: dict[tuple[str, str], list[Precision]] = {}
    for one in each:
        if one.confirmatory:
            planned.setdefault((one.id, one.kind), []).append(one)
    if not planned:
        return NOTHING
    lines = []
    for (id, kind), several in planned.items():
        known = [(smallest_detectable(one), one.place, one) for one in several]
        known = sorted((each for each in known if math.isfinite(each[0])), key=lambda each: each[0])
        if not known:
            lines.append(f"- `{id}`: too few questions tell anything.")
            continue
        (least, place, one), (most, far, worst) = known[0], known[-1]
        reach = told(least, one.unit)
        if worst is not one:
            reach += f" ({plain(place)}) to {told(most, one.unit)} ({plain(far)})"
        what = "equivalence within" if kind == "equivalence" else "a true effect of"
        needed = questions_for(worst, most / 2)
        lines.append(
            f"- `{id}`, {worst.words}: {what} {reach} is found in {POWER:.0%} of such runs ({worst.here} questions); "
            f"half of {told(most, one.unit)} takes {_count(needed)} questions."
        )
    simulated = "SIMULATED judges. " if any(one.data == "simulated" for one in each) else ""
    return "\n".join([f"{simulated}What this many questions can show:", "", *lines])


def summary(each: Sequence[Precision]) -> str:
    """How sure the standard errors themselves are, for simulated runs; "" for a pilot."""
    shares = [one.error / one.se for one in each if one.error]
    return f"Standard errors have a Monte-Carlo error of {max(shares):.0%} themselves." if shares else ""
