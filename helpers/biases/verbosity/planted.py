"""What was put into simulated judges of wordings, as effects."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from statistics import NormalDist, fmean
from typing import TYPE_CHECKING

from helpers.biases.planted import Planted, planted_table, win_chance
from helpers.biases.verbosity.families import confirmatory, family, index
from helpers.biases.verbosity.wording import BIASES, CONTROLLED
from helpers.types import Estimate, Model

if TYPE_CHECKING:
    from helpers.run import Asked

#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4, "taste": 0.0, "verbosity": 0.0, "wordings": {}, "primacy": ()}
#: Evenly spread quantiles stand for the tastes of a judge, which differ by text.
TASTES = tuple(NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400))
READ = (
    "In the simulator are utilities: of the longer text over the shorter one, however little longer it is, and of a "
    "wording. Effects are averaged over the judge's tastes, which differ by text, and both places. At equal length "
    "nothing of a liking for length is left."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which wordings simulated judges were made to like and what was found, as Markdown: see `planted_table`.

    A row a judge and wording: the plain contrast and, of wordings compared at equal length, what is left there.
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    plain, level = family(estimates), index(estimates, "length_controlled_effect")
    for judge in asked.experiment.judges:
        for bias in (each for each in BIASES if (judge.name, each) in plain):
            raw, equal = implied(judge, bias)
            length, worth = 2 * _traits(judge)["verbosity"], _traits(judge)["wordings"].get(bias, 0.0)
            parts = {"longer": length, "wording": worth}
            size = ", ".join(f"{name} {part:+g}" for name, part in parts.items() if part) or "0"
            yield Planted(bias, judge.name, size, raw, plain[judge.name, bias])
            if bias in CONTROLLED and (judge.name, bias) in level:
                yield Planted(f"{bias}, equal length", judge.name, size, equal, level[judge.name, bias])


def implied(judge: Model, bias: str) -> tuple[float, float]:
    """The effect of a wording that follows from a simulated judge's traits: as it is, and at equal length.

    At equal length is the mean over the three lengths at which it is compared: as long, longer, shorter.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"verbosity": 0.5, "wordings": {"listed": 1.0}})
    >>> [round(each, 3) for each in implied(judge, "padded")], [round(each, 3) for each in implied(judge, "listed")]
    ([0.448, 0.0], [0.749, 0.399])
    """
    traits = _traits(judge)
    worth, length = traits["wordings"].get(bias, 0.0), 2 * traits["verbosity"]
    place = [*traits["primacy"], 0.0, 0.0][:2]
    known = (place[0] - place[1], max(0.0, traits["tie"]), traits["noise"], traits["taste"])
    return _effect(worth + length, *known), fmean(_effect(worth + u, *known) for u in (0.0, length, -length))


def _traits(judge: Model) -> dict:
    return {**DEFAULTS, **judge.traits}


@lru_cache(maxsize=1024)
def _effect(lead: float, place: float, tie: float, noise: float, taste: float) -> float:
    """How much more often the tried text wins than loses with this lead, over both places and a judge's tastes."""
    leads = [lead + math.sqrt(2) * taste * z + side * place for z in (TASTES if taste else (0.0,)) for side in (1, -1)]
    return fmean(win_chance(u, tie, noise) - win_chance(-u, tie, noise) for u in leads)
