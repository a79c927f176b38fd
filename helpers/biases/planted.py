"""What was put into simulated judges, on the scale of the estimates, beside what was found: one table for all biases.

Truths are of the run's own texts: what the estimator tends to when these judges are asked the same again and again.
They follow from the judges' utilities before noise (`asked.simulator`), without any further call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..stats.power import power_of
from ..stats.standing import LEVEL
from ..types import Estimate, Judgment, Model
from ..words.numbers import text_of
from .protocol import confirmatory

if TYPE_CHECKING:
    from ..run import Asked
else:
    Asked = object  # at run time a name alone: the run builds on this room


#: An effect that fewer such runs find is named in the text.
HALF = 0.5
#: A truth so near to that without any bias (half of a tenth of a pp) counts as nothing planted.
NOTHING = 0.0005
NONE = "These judges are not simulated: nothing was planted, so nothing planted can be compared."
READ = (
    "*Planted* is the value that the estimate tends to when these judges are asked the same again and again: it is "
    "computed from their utilities on the texts of this run. *Found in* is the share of runs of this size whose test "
    "finds it (two-sided, at the level of Holm's first step where a family was planned), by a t approximation from the "
    "planted value and this run's standard error. An effect that is found where nothing was planted is a false alarm."
)


@dataclass(frozen=True)
class Planted:
    """One planted effect: `what` it is, of `whom`, its `size` in the simulator, its `truth` in the unit of `found`.

    `null`: the value of the estimate where nothing is planted.
    """

    what: str
    whom: str
    size: str
    truth: float
    found: Estimate
    null: float = 0.0


def planted_table(
    module: str,
    asked: Asked,
    estimates: Sequence[Estimate],
    *,
    rows: Callable[[Asked, Sequence[Estimate]], Iterable[Planted]],
    families: Callable[[Sequence[Estimate]], Sequence[tuple[Sequence[Estimate], int]]] | None = None,
) -> str:
    """What was planted in simulated judges, what was found, and how often such a run finds it, as Markdown.

    Of a bias module: its `rows`, and its confirmatory families (by default as declared) with the number of tests of
    each; its text "planted" stands below the table.
    """
    judges = asked.experiment.judges
    if asked.data != "simulated" or not asked.judgments or not all(judge.simulated for judge in judges):
        return NONE
    finite = [row for row in rows(asked, estimates) if math.isfinite(row.found.value) and math.isfinite(row.truth)]
    if not finite:
        return "SIMULATED judges, but nothing was measured that something planted could be compared with."
    head = ["| SIMULATED | of | planted, in the simulator | planted | found | found in |", "|---|---|---|---|---|---|"]
    confirmed = families(estimates) if families else confirmatory(module, estimates)
    weak = []
    for row in finite:
        share, nothing, found = chance(row, confirmed), abs(row.truth - row.null) < NOTHING, row.found
        truth = replace(found, value=row.null if nothing else row.truth, low=math.nan, high=math.nan)
        missed = " (misses it)" * (not math.isnan(found.low) and not found.low <= truth.value <= found.high)
        often = "nothing planted" if nothing else "no standard error" if math.isnan(share) else f"{share:.0%} of runs"
        head.append(f"| {row.what} | {row.whom} | {row.size} | {truth} | {found}{missed} | {often} |")
        weak += [f"{row.what}, {row.whom} ({share:.0%})"] if share < HALF else []
    bounded = [row for row in finite if not math.isnan(row.found.low)]
    covered = sum(row.found.low <= row.truth <= row.found.high for row in bounded)
    text = f"{covered} of {len(bounded)} intervals include what was planted. " if bounded else ""
    if weak:
        text += f"**Found in fewer than {HALF:.0%} of runs of this size**, so this run need not show it: "
        text += f"{'; '.join(weak)}. "
    return "\n".join([*head, "", f"{text}{READ} {text_of(module, 'planted')}"])


def chance(row: Planted, families: Sequence[tuple[Sequence[Estimate], int]]) -> float:
    """How often a run of this size finds what was planted; NaN where nothing was, or without a standard error."""
    if abs(row.truth - row.null) < NOTHING:
        return math.nan
    tests = next((number for family, number in families if row.found in family), 1)
    each = row.found
    return power_of(row.truth - row.null, each.se, each.df, LEVEL / max(1, tests))


def top_chances(felt: np.ndarray | Sequence[float], noise: float) -> np.ndarray:
    """How often each text (last axis) is ranked first: utilities before noise, with Gumbel noise of this scale.

    >>> top_chances([0.0, 0.0], 1.0).tolist(), top_chances([1.0, 0.0], 0.0).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    """
    u = np.asarray(felt, dtype=float)
    u = u - u.max(axis=-1, keepdims=True)
    odds = np.exp(u / noise) if noise else (u == 0).astype(float)
    return odds / odds.sum(axis=-1, keepdims=True)


def win_chance(lead: float, tie: float, noise: float) -> float:
    """How often a lead is no tie once logistic noise has been added.

    >>> round(win_chance(0.8, 0.4, 1.0), 4), win_chance(0.8, 0.4, 0.0)
    (0.5987, 1.0)
    """
    if not noise or abs(lead - tie) > 700 * noise:
        return float(lead > 0 and lead >= tie)
    return 1 / (1 + math.exp((tie - lead) / noise))


def trait(judgment: Judgment, name: str, default: float) -> float:
    """A trait of the simulated judge that was asked."""
    return judgment.trial.judge.traits.get(name, default)


def pair_traits(judge: Model) -> tuple[float, float, float]:
    """How much a simulated judge of pairs likes the first place more, below which lead it sees a tie, and its noise."""
    first, second = [*judge.traits.get("primacy", ()), 0.0, 0.0][:2]
    return first - second, max(0.0, judge.traits.get("tie", 0.4)), judge.traits.get("noise", 1.0)


def mean_by(values: Iterable[tuple[tuple, float]]) -> Mapping[tuple, float]:
    """The mean of the values of each key."""
    found: dict[tuple, list[float]] = {}
    for key, value in values:
        found.setdefault(key, []).append(value)
    return {key: sum(each) / len(each) for key, each in found.items()}
