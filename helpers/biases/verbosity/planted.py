"""What was put into simulated judges, beside what was found of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist, fmean

from helpers.biases.verbosity.effects import LEVEL
from helpers.biases.verbosity.families import corrected, family, index
from helpers.biases.verbosity.wording import BIASES, CONTROLLED
from helpers.types import Estimate, Model

#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4, "taste": 0.0, "verbosity": 0.0, "wordings": {}, "primacy": ()}
#: Evenly spread quantiles stand for the tastes of a judge, which differ by text.
TASTES = tuple(NormalDist().inv_cdf((i + 0.5) / 400) for i in range(400))
NONE = "These judges are not simulated: nothing was planted, so nothing planted can be compared."
READ = (
    "Planted are utilities: of the longer text over the shorter one, however little longer it is, and of a wording. "
    "What effect follows from them is computed (F is the logistic function at the scale of the judge's noise: with a "
    "lead u the tried text wins in F(u - tie) and loses in F(-u - tie) of verdicts, averaged over the judge's tastes "
    "and both places), and stands before what was found. An interval holds it in 95 of 100 runs, so of all of them one "
    "may well miss it. At equal length nothing of a liking for length is left."
)


def planted(judges: Sequence[Model], estimates: Sequence[Estimate]) -> str:
    """Which wordings simulated judges were made to like and what was found, as Markdown: a table, and how to read it.

    A row a judge and wording: what the plain contrast and what equal length should give, each beside what was found.
    Judges that are not simulated, or not estimated, are left out; where there are none the text says so.
    """
    if not any(each.data == "simulated" for each in estimates) or not any(judge.simulated for judge in judges):
        return NONE
    known, level, p = family(estimates), index(estimates, "length_controlled_effect"), corrected(estimates)
    rows = []
    for judge in (each for each in judges if each.simulated):
        length, likes = _traits(judge)["verbosity"], _traits(judge)["wordings"]
        for bias in BIASES:
            at = judge.name, bias
            if at not in known:
                continue
            raw, equal = implied(judge, bias)
            cells = [
                bias,
                _utility(2 * length),
                _utility(likes.get(bias, 0.0)),
                _pp(raw),
                _found(known[at], raw, p[at]),
            ]
            cells += [_pp(equal), _held(level.get(at), equal)] if bias in CONTROLLED else ["", ""]
            rows.append(f"| {judge.name} | {' | '.join(cells)} |")
    if not rows:
        return "SIMULATED judges, but no wording was judged: what was planted in them cannot be compared with anything."
    head = (
        "| SIMULATED judge | wording | planted: the longer text | planted: the wording | as it is: should be | found "
        "| at equal length: should be | found |"
    )
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *rows, "", READ])


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
    return fmean(_wins(u, tie, noise) - _wins(-u, tie, noise) for u in leads)


def _wins(lead: float, tie: float, noise: float) -> float:
    """How often a lead is no tie once logistic noise has been added."""
    if not noise or abs(lead - tie) > 700 * noise:
        return float(lead > 0 and lead >= tie)
    return 1 / (1 + math.exp((tie - lead) / noise))


def _utility(value: float) -> str:
    return f"{value:+g}" if value else "0"


def _pp(share: float) -> str:
    return f"{100 * share:+.1f} pp" if round(1000 * share) else "0"


def _held(found: Estimate | None, truth: float) -> str:
    """What was found, and whether its interval holds what was planted."""
    if found is None:
        return "not asked"
    if math.isnan(found.low):
        return f"{found} (no interval)"
    return f"{found} ({'holds it' if found.low <= truth <= found.high else 'misses it'})"


def _found(each: Estimate, truth: float, p: float) -> str:
    """As `_held`, and whether the effect stands after Holm's correction."""
    if math.isnan(p):
        return _held(each, truth)
    stands = p < LEVEL
    told = (
        ("found" if stands else "not found") if round(1000 * truth) else ("**false alarm**" if stands else "none found")
    )
    return f"{_held(each, truth)[:-1]}, {told})" if not math.isnan(each.low) else f"{each} ({told})"
