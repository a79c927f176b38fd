"""What may be concluded of each hint: different, equivalent or inconclusive, and what it would take to know more."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.hinting.paired import CONFIRMATORY, LEVEL
from helpers.stats.power import detectable_effect, questions_for_equivalence
from helpers.stats.standing import correct_family, standing
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

VERDICTS = ("different", "equivalent", "inconclusive")


def effect_of(
    estimates: Sequence[Estimate], hint: str, vendor: str = "average", id: str = "hint_effect"
) -> Estimate | None:
    """The effect of one hint on one vendor, or on the average over vendors; None where there is none."""
    found = [each for each in estimates if each.id == id and dict(each.where) == {"hint": hint, "vendor": vendor}]
    return found[0] if found else None


def family(estimates: Sequence[Estimate], id: str = "hint_effect") -> dict[tuple[str, str], Estimate]:
    """A confirmatory family by (id, hint or vendor): the named hints on the average over vendors.

    Of differences also the effect of each vendor's name, so that one family holds all that can be shown; the tests of
    equivalence ("hint_effect_90"), which can show no bias, are a family of their own.
    """
    hints = {(id, hint): effect_of(estimates, hint, id=id) for hint in CONFIRMATORY}
    named = [each for each in estimates if each.id == "name_effect" and each.where["vendor"] != "average"]
    names = {(each.id, each.where["vendor"]): each for each in named if id == "hint_effect"}
    return {at: each for at, each in hints.items() if each is not None} | names


def corrected(estimates: Sequence[Estimate], id: str = "hint_effect") -> dict[str, float]:
    """Holm's p of the numbers `id` in their confirmatory family, by hint; of "name_effect" by vendor."""
    differences = "hint_effect" if id == "name_effect" else id
    return {at: p for (own, at), p in correct_family(family(estimates, differences)).items() if own == id}


def name_verdicts(estimates: Sequence[Estimate]) -> dict[str, tuple[Estimate, float, str]]:
    """The effect of each vendor's name with Holm's p and its verdict; p and interval must agree on a bias."""
    p, found = corrected(estimates, "name_effect"), {}
    for (id, vendor), each in family(estimates).items():
        if id == "name_effect":
            verdict = standing(each, p[vendor], confirmatory=each.low > 0 or each.high < 0)
            found[vendor] = (each, p[vendor], verdict)
    return found


def conclusions(estimates: Sequence[Estimate]) -> dict[str, str]:
    """One of VERDICTS for each confirmatory hint; a difference that is proven and small counts as a difference.

    Different: Holm's p is below 0.05 and the 95 % interval leaves out 0. Tests of difference and of equivalence are two
    families: each holds its own level.
    """
    equivalent = corrected(estimates, "hint_effect_90")
    return {
        hint: "different"
        if shown(estimates, hint)
        else "equivalent"
        if equivalent.get(hint, math.nan) < LEVEL
        else "inconclusive"
        for hint in corrected(estimates)
    }


def shown(estimates: Sequence[Estimate], hint: str) -> bool:
    """Whether a hint's average effect is shown: by Holm's p, and by the interval that is printed beside it."""
    each = effect_of(estimates, hint)
    return each is not None and corrected(estimates).get(hint, math.nan) < LEVEL and (each.low > 0 or each.high < 0)


def family_size(estimates: Sequence[Estimate], id: str = "hint_effect") -> int:
    """How many tests of a family (`family`) Holm corrects for: those that have a p."""
    return max(1, sum(not math.isnan(each.p) for each in family(estimates, id).values()))


def exploratory(estimates: Sequence[Estimate]) -> dict[tuple[str, str], float]:
    """Benjamini and Hochberg's p of the effects on single vendors, by (hint, vendor): leads, not findings."""
    grid = [each for each in estimates if each.id == "hint_effect" and each.where["vendor"] != "average"]
    adjusted = benjamini_hochberg([each.p for each in grid])
    return {(each.where["hint"], each.where["vendor"]): float(p) for each, p in zip(grid, adjusted, strict=True)}


def smallest_shown(each: Estimate, tests: int = 1) -> float:
    """The smallest true effect found in 80 % of such runs, in pp; for several tests after Holm's first step."""
    return 100 * detectable_effect(each.se, each.df, level=LEVEL / tests)


def questions_to_equivalence(each: Estimate, margin_pp: float, tests: int = 1) -> float:
    """How many questions would show equivalence within +-margin in 80 % of runs if nothing differed.

    For several tests after Holm's first step.
    """
    return questions_for_equivalence(each.se, each.clusters, margin_pp / 100, level=LEVEL / tests)
