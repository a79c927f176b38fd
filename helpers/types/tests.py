"""What a question of experiment 5 holds: a scenario in several wordings, each with its control and its treatment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

#: How a test is answered and read: one option of a scale; a gamble accepted or declined; several arguments selected.
KINDS = ("scale", "acceptance", "selection")
#: More options have no letter of their own (see `biases.cognitive.design.LETTERS`).
MOST_OPTIONS = 22
#: The versions that a wording of each kind has, by condition.
VERSIONS = {
    "scale": ("control", "treatment"),
    "acceptance": ("control", "treatment"),
    "selection": ("decision", "control", "treatment_for", "treatment_against"),
}


@dataclass(frozen=True)
class RatioScale:
    """The parameters of the published metric: options are counted from 0 and a flip counts them from the other end.

    B = k (|a1 - x1| - |a2 - x2|) / max(|a1 - x1|, |a2 - x2|), a1 of the control and a2 of the treatment.
    """

    k: float = -1.0
    x1: float = 0.0
    x2: float = 0.0
    flip_control: bool = False
    flip_treatment: bool = False


@dataclass(frozen=True)
class Version:
    """One version of a test as it is shown: its options in natural order, lowest first, and what each counts."""

    text: str
    options: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Wording:
    """One wording of a scenario: its versions by condition, and where the bias would pull the answer.

    `target` is the value of the option that the bias pulls to, None where that is the side which the model itself
    decided for; `anchor` is the number shown where it is the option nearest to one. `facts` are the numbers and words
    that were drawn for it. `scale` holds the parameters of the published metric, None where that is not defined for
    its answers.
    """

    name: str
    kind: str
    versions: Mapping[str, Version]
    target: float | None = None
    anchor: float | None = None
    facts: Mapping[str, float | str] = field(default_factory=dict)
    scale: RatioScale | None = None


@dataclass(frozen=True)
class Pull:
    """What a simulated model knows of one version of a test: the bias that it is made for, and where that pulls.

    `kind` is one of KINDS or "decision", `values` what each option counts, by its text. `treated` is False of a
    control, in which nothing pulls; `side` is that decided for (1, -1; 0: none), `ratio` the gain of a gamble over its
    loss.
    """

    bias: str
    scenario: str
    kind: str
    treated: bool
    values: Mapping[str, float]
    target: float | None = None
    side: int = 0
    ratio: float = 0.0

    @cached_property
    def words(self) -> str:
        """All of it as text: it is part of the key of what a simulated model replies."""
        return repr(self)
