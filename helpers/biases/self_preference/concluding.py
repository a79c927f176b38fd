"""What may be concluded of each judge, said so that a control which moves as much is never passed over."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.stats.power import detectable_effect
from helpers.stats.standing import clash
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words import p_text

LEVEL = 0.05


def of(estimates: Sequence[Estimate], id: str, **where: str) -> Estimate | None:
    """The one estimate with this id and place; None where there is none."""
    found = [each for each in estimates if each.id == id and dict(each.where) == where]
    return found[0] if found else None


def primary_dose(estimates: Sequence[Estimate]) -> str:
    """The dose whose effect is the confirmatory family, one contrast a judge: the smallest; "" where none was asked."""
    doses = {e.where["dose"] for e in estimates if e.id == "obfuscation_effect" and e.where["dose"].isdigit()}
    return min(doses, key=int, default="")


def family(estimates: Sequence[Estimate]) -> dict[str, Estimate]:
    """The confirmatory contrasts, one a judge: obfuscation_effect at the primary dose."""
    chosen = [e for e in estimates if e.id == "obfuscation_effect" and e.where["dose"] == primary_dose(estimates)]
    return {each.where["judge"]: each for each in chosen}


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory family with the number of tests that Holm corrects it for: as many as were planned."""
    planned = [*family(estimates).values()]
    return [(planned, len(planned))]


def corrected(estimates: Sequence[Estimate]) -> dict[str, float]:
    """Holm's p of the confirmatory family, by judge; NaN where there was no test.

    The family is what was planned: a contrast that could not be tested counts like one that found nothing.
    """
    each = family(estimates)
    adjusted = holm([1.0 if math.isnan(e.p) else e.p for e in each.values()])
    return {j: math.nan if math.isnan(e.p) else float(p) for (j, e), p in zip(each.items(), adjusted, strict=True)}


def smallest_detectable(estimates: Sequence[Estimate], power: float = 0.8) -> dict[str, float]:
    """The smallest true obfuscation_effect (logits) found with this power after Holm's first step, by judge.

    From each contrast's own standard error; NaN where it has none.
    """
    each = family(estimates)
    tests = max(1, len(each))
    return {j: detectable_effect(e.se, e.df, power, LEVEL / tests) for j, e in each.items()}


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line, a sentence a judge: what hiding the authorship did, beside what the controls did.

    No sentence says that recognition is the cause: it is named only where the contrast with other judges and the one
    with other authors' texts both stand, and measured recognition fell.
    """
    p, least = corrected(estimates), smallest_detectable(estimates)
    lines = [
        f"- {_sentence(estimates, judge, each, p[judge], least[judge])}" for judge, each in family(estimates).items()
    ]
    return "\n".join(lines) or "No own wrong answer was edited and judged again: nothing can be concluded."


def _sentence(estimates: Sequence[Estimate], judge: str, each: Estimate, p: float, least: float) -> str:
    who = f"SIMULATED: {judge}" if each.data == "simulated" else judge
    if math.isnan(p):
        shown = f" ({each})" if each.value == each.value else ""
        return f"{who}: nothing can be concluded{shown}: {each.method}."
    pp = of(estimates, "obfuscation_effect_pp", judge=judge, dose=primary_dose(estimates))
    told = f"{each} logits, Holm p {p_text(p)}{clash(each, p)}"
    if pp and not math.isnan(pp.value):
        told += f"; {pp}" + (f", p {p_text(pp.p)} by sign flips" if not math.isnan(pp.p) else "")
    if p >= LEVEL:
        said = "**no measurable effect** of hiding that it wrote the wrong answer, beyond what the edit does to others"
        if each.low > 0 or each.high < 0:
            more = "more" if each.value > 0 else "less"
            said = f"**seems to turn {more}** than others from its own wrong answer, not established after correction"
        return (
            f"{who}: {said} ({told}); a true effect of {least:.2f} logits would be found in 80 % of such runs."
            f"{_naive(estimates, judge)}"
        )
    if each.value < 0:
        return (
            f"{who}: the edit turns it to the right answer **less** than it turns other judges ({told}): the opposite "
            f"of what hiding a self-preference would do; a judge that feels any edit less shows it too."
            f"{_naive(estimates, judge)}"
        )
    return (
        f"{who} **turns from its own wrong answer more than other judges do** when the answer is edited ({told})"
        f"{_control(estimates, judge)}.{_naive(estimates, judge)}"
    )


def _control(estimates: Sequence[Estimate], judge: str) -> str:
    """What the control within the judge says of an effect that stands against other judges."""
    other = of(estimates, "obfuscation_against_other_author", judge=judge, dose=primary_dose(estimates))
    if other is None or math.isnan(other.low):
        why = other.method if other else "not measured"
        return f", but the control within the judge is missing ({why}): it may only feel any edit more than they do"
    if other.low <= 0:
        return (
            f", but not measurably more than from another author's edited wrong answer ({other}): a control moves as "
            "much, so this does not show that authorship matters"
        )
    shift = of(estimates, "recognition_change", judge=judge, dose=primary_dose(estimates))
    if shift is None or math.isnan(shift.high):
        return f", and more than from another author's edited wrong answer ({other}); recognition was not measured"
    if shift.high >= 0:
        return (
            f", and more than from another author's edited wrong answer ({other}), but its recognition of that answer "
            f"did not measurably fall ({shift})"
        )
    return (
        f", and more than from another author's edited wrong answer ({other}), and it recognises that answer less "
        f"({shift}): as a preference for what it recognises would, though another cause is not ruled out"
    )


def _naive(estimates: Sequence[Estimate], judge: str) -> str:
    """What the filtered comparison says of the same judge, and how much of that a plain repeat does."""
    naive = of(estimates, "naive_filtered_change", judge=judge, dose=primary_dose(estimates))
    repeat = of(estimates, "regression_to_the_mean", judge=judge)
    if naive is None or repeat is None or math.isnan(naive.value + repeat.value):
        return ""
    return f" The filtered before-and-after comparison shows {naive}; asking again without any edit shows {repeat}."
