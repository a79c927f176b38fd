"""The thirty biases of the published test set as a table: how many options, which sign, which point, what is flipped.

Facts of the code of Malberg et al. (arXiv 2410.15413), state of October 2025 (Conservatism without its former flip);
where its comments say otherwise (Anthropomorphism, Loss Aversion, Not Invented Here) the code counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

from helpers.types import RatioScale


@dataclass(frozen=True)
class PublishedBias:
    """One bias of the published set: number of options and parameters of its metric.

    `k` is its sign, or the sign by the value of `fact`; `fact` names what was drawn and decides k or the points x1, x2
    (by POINTS); "" where nothing does. No control is flipped.
    """

    title: str
    options: int
    k: int | Mapping[str, int]
    fact: str = ""
    flip_treatment: bool = False


#: The points by the number drawn, which lies between two bounds. Python rounds halves to even: 25 / 10 is 2, 35 / 10 4.
POINTS: dict[str, tuple[int, int, Callable[[float], tuple[float, float]]]] = {
    "anchor": (0, 100, lambda anchor: (round(anchor / 10), round(anchor / 10))),
    "percentage": (-50, 50, lambda percentage: (round(percentage / 10) + 5, round(percentage / 10) + 5)),
    # A further share of the work, added to the control's estimate; in the metric 3 steps stand for its mean.
    "estimation_update": (0, 100, lambda update: (-(update // 10), -3)),
}

TABLE = (
    PublishedBias("Anchoring", 11, 1, "anchor"),
    PublishedBias("Anthropomorphism", 7, 1),
    PublishedBias("Availability Heuristic", 11, -1),
    PublishedBias("Bandwagon Effect", 7, {"A": -1, "B": 1}, "majority_opinion", flip_treatment=True),
    PublishedBias("Confirmation Bias", 11, 1),
    PublishedBias("Conservatism", 7, -1),
    PublishedBias("Disposition Effect", 7, -1, flip_treatment=True),
    PublishedBias("Endowment Effect", 11, 1),
    PublishedBias("Escalation of Commitment", 11, 1),
    PublishedBias("Framing Effect", 7, -1),
    PublishedBias("Fundamental Attribution Error", 7, {"dispositional": 1, "situational": -1}, "control_reason"),
    PublishedBias("Halo Effect", 7, {"positively": 1, "negatively": -1}, "perception"),
    PublishedBias("Hindsight Bias", 11, 1, "percentage"),
    PublishedBias("Hyperbolic Discounting", 7, {"immediate": -1, "later": 1}, "scheme_a"),
    PublishedBias("Illusion of Control", 11, -1),
    PublishedBias("In-Group Bias", 7, -1),
    PublishedBias("Information Bias", 7, -1, flip_treatment=True),
    PublishedBias("Loss Aversion", 7, {"guaranteed": -1, "risky": 1}, "treatment_choice_a", flip_treatment=True),
    PublishedBias("Mental Accounting", 7, 1),
    PublishedBias("Negativity Bias", 7, -1, flip_treatment=True),
    PublishedBias("Not Invented Here", 7, -1),
    PublishedBias("Optimism Bias", 11, {"positive": -1, "negative": 1}, "event_kind"),
    PublishedBias("Planning Fallacy", 11, 1, "estimation_update"),
    PublishedBias("Reactance", 11, -1),
    PublishedBias("Risk Compensation", 11, -1),
    PublishedBias("Self-Serving Bias", 7, 1),
    PublishedBias("Social Desirability Bias", 7, {"desirable": 1, "undesirable": -1}, "statement"),
    PublishedBias("Status-Quo Bias", 7, -1, flip_treatment=True),
    PublishedBias("Stereotyping", 7, 1),
    PublishedBias("Survivorship Bias", 7, 1),
)


def _squeezed(bias: str) -> str:
    """A name without case, spaces, hyphens and the words effect or bias at its end: what its spellings differ in."""
    return re.sub(r"(effect|bias)+$", "", re.sub(r"[^a-z0-9]", "", str(bias).lower()))


#: The biases by their short names in lower case with underscores: "anchoring", "in_group", "planning_fallacy".
BIASES = {re.sub(r"[ -]", "_", re.sub(r" (Effect|Bias)$", "", row.title)).lower(): row for row in TABLE}
_BY_SPELLING = {_squeezed(name): name for name in BIASES}


def resolve(bias: str) -> str:
    """Which of BIASES a published name means, whatever its spelling; else a ValueError that lists them.

    >>> resolve("In Group Bias"), resolve("IllusionOfControl"), resolve("status-quo")
    ('in_group', 'illusion_of_control', 'status_quo')
    """
    name = _BY_SPELLING.get(_squeezed(bias))
    if name is None:
        raise ValueError(f"no published bias {bias!r}; there are {', '.join(BIASES)}")
    return name


def parameters(bias: str, **facts: float | str) -> RatioScale:
    """The parameters of a bias's published metric, given what was drawn for the test.

    Needs just the fact that its row of the table names; one that is missing, unknown or out of range is a ValueError.

    >>> parameters("Anchoring", anchor=25)
    RatioScale(k=1.0, x1=2.0, x2=2.0, flip_control=False, flip_treatment=False)
    >>> parameters("bandwagon", majority_opinion="A").k
    -1.0
    """
    name = resolve(bias)
    row = BIASES[name]
    if set(facts) != {row.fact} - {""}:
        found = ", ".join(facts) or "none"
        need = f"needs the fact {row.fact} ({_valid(row)})" if row.fact else "takes no facts"
        raise ValueError(f"{name} {need}, found {found}")
    x1, x2 = 0.0, 0.0
    k = row.k
    if row.fact in POINTS:
        low, high, points = POINTS[row.fact]
        drawn = facts[row.fact]
        if not isinstance(drawn, Real) or isinstance(drawn, bool) or not low <= drawn <= high:
            raise ValueError(f"{name}: {row.fact} is {drawn!r}; it must be {_valid(row)}")
        x1, x2 = points(drawn)
    elif isinstance(k, Mapping):
        if facts[row.fact] not in tuple(k):
            raise ValueError(f"{name}: {row.fact} is {facts[row.fact]!r}; it must be {_valid(row)}")
        k = k[facts[row.fact]]
    return RatioScale(float(k), float(x1), float(x2), flip_treatment=row.flip_treatment)


def _valid(row: PublishedBias) -> str:
    if row.fact in POINTS:
        low, high, _ = POINTS[row.fact]
        return f"a number from {low} to {high}"
    return " or ".join(row.k) if isinstance(row.k, Mapping) else ""
