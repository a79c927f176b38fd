"""Whether the headline would be another one under another reasonable choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.biases.position.effects import leaning, signed
from helpers.biases.position.families import place
from helpers.biases.position.pairs import GRADES, INVALID, comparisons, signs
from helpers.stats.estimates import estimate
from helpers.stats.intervals import Interval, clustered, no_interval
from helpers.stats.numbering import clusters_of
from helpers.types import Estimate

#: The choices; the first is the headline's own. The last two are no choices but bounds.
CHOICES = (
    "headline",
    "one tie: half",
    "one tie: full",
    "unreadable kept",
    "strong count 3",
    "as stored",
    "lost to first",
    "lost to second",
)
BOUNDS = CHOICES[-2:]


def sensitivity(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The first-position effect under each of CHOICES, one changed at a time, in pp; `where`: judge, candidate, choice.

    "one tie": a pair with a tie in one game counts half, or in full, for the place that won the other. "unreadable
    kept": such pairs stay in the denominator. "strong count 3" weights a pair by the mean weight of its two verdicts.
    "as stored" takes only labels that need no cleaning and divides by all lines, as the published shares do. The two
    bounds, "lost to ...", give every unreadable verdict to one place: a pair of which one verdict can be read goes
    there only if that one does. No tests. Takes `pairs`, condition none.
    """
    found = []
    for where, rows in comparisons(table[table["condition"] == "none"]):
        for choice, (values, weights) in _choices(rows).items():
            interval = _mean(clusters_of(rows), values, weights)
            found.append(estimate("first_position_sensitivity", where | {"choice": choice}, interval, data, "pp"))
    return found


def _choices(rows: pd.DataFrame) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What each pair counts, and its weight in the denominator, by choice."""
    lost = (rows["kind"] == INVALID).to_numpy()
    read = (~lost).astype(float)
    both, lean = signed(rows).to_numpy(), leaning(rows).to_numpy()
    every = np.ones(len(rows))
    won = [signs(rows[f"verdict_{game}"]) for game in (1, 2)]
    first, second = (np.logical_and(*(np.isnan(one) | (one == sign) for one in won)) for sign in (1, -1))
    strong = sum(np.abs(signs(rows[f"verdict_{game}"], GRADES)) == 2 for game in (1, 2))
    weights = 1.0 + strong  # the mean of 1 or 3 twice
    stored = [signs(rows[f"score_{game}"]) for game in (1, 2)]
    in_both = [np.logical_and(*(one == sign for one in stored)) for sign in (1, -1)]
    plain = in_both[0].astype(float) - in_both[1]
    two = (rows["games"] == 2).to_numpy()
    told = (
        (both, read),
        (lean, read),
        (np.sign(lean), read),
        (both, every),
        (both * weights, read * weights),
        (np.where(two, plain, 0.0), every),
        (np.where(lost & first, 1.0, both), every),
        (np.where(lost & second, -1.0, both), every),
    )
    return dict(zip(CHOICES, told, strict=True))


def _mean(questions: pd.Series, values: np.ndarray, weights: np.ndarray) -> Interval:
    if not weights.sum():
        return no_interval(float("nan"), 0, 0, "no pair with two readable verdicts")
    codes, _ = pd.factorize(questions, sort=True)
    interval = clustered(np.bincount(codes, values * (weights > 0)), np.bincount(codes, weights), null=None)
    return replace(interval, n=int((weights > 0).sum()))


def choices_of(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates without the two bounds, which are no choices: one lost file would flatten a figure of all."""
    return [each for each in estimates if each.where.get("choice") not in BOUNDS]


def sensitivity_words(estimates: Sequence[Estimate]) -> str:
    """Of each judge and candidate: between what the choices lie, and what the unreadable pairs could do at most."""
    lines = []
    every = [e for e in estimates if e.id == "first_position_sensitivity" and e.value == e.value]
    for at in dict.fromkeys(place(e.where) for e in every):
        told = {e.where["choice"]: e for e in every if place(e.where) == at}
        if "headline" not in told:  # no readable pair: bounds alone are no choices
            continue
        values = [100 * e.value for choice, e in told.items() if choice not in BOUNDS]
        low, high = (100 * told[choice].value for choice in reversed(BOUNDS))
        who = "SIMULATED: " if told["headline"].data == "simulated" else ""
        turned = "the sign depends on them" if min(values) < 0 < max(values) else "of one sign"
        if not any(values):
            turned = "nothing leans to a place"
        said = (
            f"- {who}{', '.join(at)}: {min(values):+.1f} to {max(values):+.1f} pp over {len(values)} choices ({turned})"
        )
        lost = f"; with all unreadable verdicts given to one place {low:+.1f} to {high:+.1f} pp" if low < high else ""
        lines.append(f"{said}{lost}.")
    return "\n".join(lines) or "No pair has two readable verdicts: there is no headline to vary."
