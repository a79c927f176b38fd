"""What may be concluded of each judge, said so that noise is never called a preference, nor length a style."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.verbosity.effects import LEVEL
from helpers.biases.verbosity.families import Place, by_judge, corrected, exploratory, index, smallest_detectable
from helpers.biases.verbosity.wording import REWORDED
from helpers.stats.standing import clash, leans
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import p_text


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: of each judge which wording of equal content it prefers, and what is left at equal length.

    Of pairs with a text known to be better, how often each judge finds it, and the longer one where it is worse.
    """
    p, least = corrected(estimates), smallest_detectable(estimates)
    level, control = index(estimates, "length_controlled_effect"), index(estimates, "style_effect")
    checked, q = exploratory(estimates, "style_effect"), exploratory(estimates, "length_controlled_effect")
    lines = []
    for judge, effects in by_judge(estimates).items():
        told = [
            _wording(at, each, p[at], least[at], level.get(at), q.get(at, math.nan)) for at, each in effects.items()
        ]
        beside = control.get((judge, REWORDED))
        told += [f"  - {_control(beside, checked[judge, REWORDED])}"] if beside is not None else []
        tests = sum(not math.isnan(p[at]) for at in effects)
        some = next(iter(effects.values()))
        lines.append("\n".join([f"- {_who(judge, some)}: {_summary(effects, p, tests)}", *told]))
    lines += _known(estimates, p)
    return "\n".join(lines) or "No wording was judged in both orders: nothing can be concluded."


def _who(judge: str, each: Estimate) -> str:
    return f"SIMULATED: {judge}" if each.data == "simulated" else judge


def _summary(effects: dict[Place, Estimate], p: dict[Place, float], tests: int) -> str:
    sides = {
        word: [at[1] for at in effects if p[at] < LEVEL and sign * effects[at].value > 0]
        for word, sign in (("prefers", 1), ("avoids", -1))
    }
    told = [f"**{verb} {', '.join(names)}** wordings" for verb, names in sides.items() if names]
    if not tests:
        return "**nothing can be concluded**"
    if not told:
        return "**no measurable preference** for a wording of equal content"
    return f"{' and '.join(told)} of equal content"


def _wording(at: Place, each: Estimate, p: float, least: float, level: Estimate | None, q: float) -> str:
    """`p` is Holm's of the effect as it is, `q` Benjamini and Hochberg's of the one at equal length."""
    name, beside = at[1], _level(level, p, q)
    if math.isnan(p):
        shown = f" {each}" if each.value == each.value else ""
        return f"  - {name}:{shown}{'; ' if shown else ' '}no test ({each.method.rpartition('; ')[2]}).{beside}"
    told = f"{each}, Holm p {p_text(p, FLOOR in each.method)}{clash(each, p)}"
    if p < LEVEL:
        said = "preferred" if each.value > 0 else "avoided"
    elif leans(each):
        said = f"leans to {'it' if each.value > 0 else 'the plain one'}, not established after correction"
    else:
        said = "no measurable preference"
    enough = f"; a true effect of {100 * least:.1f} pp would be found in 80 % of such runs"
    return f"  - {name}: {said} ({told}{enough if p >= LEVEL and least == least else ''}).{beside}"


def _level(level: Estimate | None, p: float, q: float) -> str:
    if level is None:
        return ""
    if math.isnan(level.low):
        return f" At equal length: {level} ({level.method})."
    nothing = "no measurable preference is left" if p < LEVEL else "no measurable preference either"
    if leans(level):
        nothing = f"it leans to {'it' if level.value > 0 else 'the plain one'}, not established after correction"
    said = f"it seems to win {'more' if level.value > 0 else 'less'} than the plain one" if q < LEVEL else nothing
    return f" At equal length {said} ({level})."


def _control(each: Estimate, p: float) -> str:
    said = "the control, a frame that claims nothing and is as long as the confident one"
    if math.isnan(p):
        return f"{said}: {each} ({each.method.partition('; ')[0]})."
    word = f"seems to win {'more' if each.value > 0 else 'less'}" if p < LEVEL else "makes no measurable difference"
    return f"{said}: {word} ({each}, p {p_text(p)} by Benjamini and Hochberg)."


def _known(estimates: Sequence[Estimate], p: dict[Place, float]) -> list[str]:
    right, worse, lines = index(estimates, "known_pair_accuracy"), index(estimates, "longer_when_worse"), []
    for at, each in right.items():
        told = f"- {_who(at[0], each)}: prefers the text known to be better in {each} of {each.clusters} pairs"
        longer = worse.get(at)
        if longer is not None and longer.value == longer.value:
            told += f"; where the longer text is the worse one, it prefers that in {longer}"
            if p[at] == p[at]:
                side = "more" if longer.value > 0.5 else "less"
                word = f"{side} often than a coin would" if p[at] < LEVEL else "not measurably unlike a coin"
                told += f" ({word}, Holm p {p_text(p[at])})"
        lines.append(f"{told}.")
    return lines
