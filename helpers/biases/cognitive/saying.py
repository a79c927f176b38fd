"""What stands beside the figures: how published metrics read noise, thresholds, weights, undecided replies."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.cognitive.averages import LEVEL
from helpers.biases.cognitive.families import (
    UNEQUAL,
    corrected,
    direction,
    exploratory,
    family,
    index,
    of,
    place,
    scattered,
    stands,
)
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import p_text

#: The published metrics that have a placebo.
METRICS = (
    *("anchoring_agnostic", "anchoring_specific", "halo_effect", "confirmation_bias", "confirmation_unweighted"),
)
#: What a placebo is, where it is not the control asked again.
NOTHING = {"confirmation": "the own decision was not recalled"}


def _marked(estimates: Sequence[Estimate], lines: Sequence[str], nothing: str) -> str:
    simulated = any(each.data == "simulated" for each in estimates)
    return "\n".join(f"- {'SIMULATED: ' * simulated}{line}" for line in lines) or nothing


def _bias(each: Estimate) -> str:
    return each.where["bias"].replace("_", " ")


def _p(p: float) -> str:
    return f"p {p_text(p)} by Benjamini and Hochberg, exploratory"


def effect_words(estimates: Sequence[Estimate]) -> str:
    """A sentence a bias: how far answers move on the scale, what the control alone shows, and what had no direction."""
    known, p, shown = index(estimates), corrected(estimates), stands(estimates)
    lines = []
    for at, each in family(estimates).items():
        shift, placebo = of(known, "scale_shift", at), of(known, "bias_placebo", at)
        gone = of(known, "bias_effect_undefined", at)
        told = f"{_bias(each)}: effect {each}"
        if shift is not None and shift.value == shift.value:
            told += f", {shift} of the scale toward what it pulls to"
        if placebo is not None and placebo.value == placebo.value:
            unlike = placebo.low > 0 or placebo.high < 0
            note = " - it leaves out 0: controls drift from one repeat to the next, or chance, in one of twenty"
            note *= unlike
            told += f"; the control against its own repeat {placebo}{note}"
        elif placebo is not None:
            told += f"; no placebo: {placebo.method}"
        scatter = of(known, "scatter_change", at)
        if scatter is not None and direction(scatter):
            more = "more" if scatter.value > 0 else "less"
            told += f"; treatments scatter {more} than controls ({scatter})"
        sign = of(known, "shift_sign", at)
        if scattered(known, at) and sign is not None and sign.value == sign.value:
            told += f"; sign test over the {sign.clusters} scenarios that move: p = {sign.p:.2g}"
            told += ": cannot tell apart from noise" * (p[at] < LEVEL and at not in shown)
        if gone is not None and gone.value:
            told += f"; {gone.value:.0f} of {gone.n} pairs have no direction and do not count"
        lines.append(f"{told}.")
    return _marked(estimates, lines, "No bias has a direction that could be measured.")


def noise_words(estimates: Sequence[Estimate]) -> str:
    """What each published metric reads, how much of that it reads where nothing was done, and what is left."""
    known = index(estimates)
    p, lines = corrected(estimates), []
    for id in METRICS:
        left = exploratory(estimates, f"{id}_excess")
        for each in estimates:
            if each.id != id or "judge" in each.where or each.value != each.value:
                continue
            at = place(each.where)
            placebo, excess = of(known, f"{id}_placebo", at), of(known, f"{id}_excess", at)
            signed, name = of(known, "bias_effect", at), id.replace("_", " ")
            told = f"{_bias(each)}: {name}, computed as published, reads {each}"
            if placebo is None or excess is None or excess.value != excess.value:
                why = f" ({placebo.method})" if placebo is not None else ""
                lines.append(f"{told}; how much of that is noise is not known{why}.")
                continue
            told += f", and {placebo} where {NOTHING.get(at[0], 'nothing was done')}"
            if left[at] == left[at]:
                word = "" if left[at] < LEVEL else "no measurable difference after correction, "
                told += f": {word}{excess} ({_p(left[at])})"
            else:
                told += f": {excess} ({excess.method.rpartition('; ')[2]})"
            if signed is not None and signed.value == signed.value:
                holm = f", Holm p {p_text(p[at], FLOOR in signed.method)}" if p[at] == p[at] else ""
                told += f". The signed effect is {signed}{holm}"
            lines.append(f"{told}.")
    return _marked(estimates, lines, "No published metric with a placebo was measured.")


def threshold_words(estimates: Sequence[Estimate]) -> str:
    """From which ratio of gain to loss half of the gambles are accepted, and how much of that is the loss itself."""
    known = index(estimates)
    lines, p = [], exploratory(estimates, "threshold_ratio")
    for each in estimates:
        if each.id != "threshold_ratio":
            continue
        at = place(each.where)
        who = "mean of the judges' log ratios" if "judge" not in each.where else " ".join(at[1:])
        ends = [of(known, "acceptance_threshold", at, condition=name) for name in ("control", "treatment")]
        if each.value != each.value:
            given = [f"{end.where['condition']} {_times(end)}" for end in ends if end and end.value == end.value]
            beside = f" ({', '.join(given)})" if given else ""
            lines.append(f"{_bias(each)}, {who}: **no threshold to compare**: {each.method}{beside}.")
            continue
        without, with_ = (_times(end) for end in ends)
        told = f"{_bias(each)}, {who}: half accept from a gain of {without} times the stake without a loss, "
        told += f"of {with_} with one"
        if p[at] != p[at]:
            lines.append(f"{told}: a factor of {_times(each)} ({each.method.split('; ')[0]}).")
            continue
        word = "more" if each.value > 0 else "less"
        said = f"the loss itself seems to ask for {word}" if p[at] < LEVEL else "no measurable difference"
        lines.append(f"{told}: {said}, a factor of {_times(each)} ({_p(p[at])}).")
    return _marked(estimates, lines, "No gamble was asked.")


def _times(each: Estimate) -> str:
    """A log ratio as a factor, with its bounds.

    >>> _times(Estimate("threshold_ratio", {}, 0.0, -0.6931471805599453, 0.6931471805599453, unit="log"))
    '1.00 [0.50, 2.00]'
    """
    text = f"{math.exp(each.value):.2f}"
    return text if each.low != each.low else f"{text} [{math.exp(each.low):.2f}, {math.exp(each.high):.2f}]"


def weighting_words(estimates: Sequence[Estimate]) -> str:
    """What the weights of the published batch values do: to the value, and to how many tests carry it."""
    known = index(estimates)
    lines = []
    for id, weights in (("confirmation_bias", "numbers of arguments"), ("loss_aversion", "1 / ratio")):
        for each in estimates:
            if each.id != id or "judge" in each.where or each.value != each.value:
                continue
            at = place(each.where)
            effective, plain = of(known, f"{id}_effective", at), of(known, "confirmation_unweighted", at)
            told = f"{_bias(each)}: weighted by {weights} {each}"
            if id == "confirmation_bias" and plain is not None:
                told += f", unweighted {plain} ({each.value - plain.value:+.3f} by the weights alone)"
            if effective is not None and effective.value == effective.value:
                told += f"; {effective.n} answers weigh as much as {effective.value:.0f} equal ones"
            if id == "loss_aversion":
                told += "; only gambles that gain more than they lose count, so that any refusal counts as bias"
            lines.append(f"{told}.")
    return _marked(estimates, lines, "No weighted metric was measured.")


def odd_words(estimates: Sequence[Estimate]) -> str:
    """How many replies hold no decision, and where the treatment loses more of them than the control."""
    known = index(estimates)
    grid = [each for each in estimates if each.id == "odd_share"]
    lost = [each for each in grid if each.value > 0]
    if not grid:
        return "No reply was counted."
    total = sum(each.n for each in grid)
    count = sum(round(each.value * each.n) for each in grid)
    lines = [f"{count} of {total} replies ({100 * count / total:.1f} %) hold no decision and are in no effect."]
    worst = max(lost, key=lambda each: each.value, default=None)
    if worst is not None:
        where = worst.where
        at = f"{where['judge']} on {_bias(worst)}, {where['condition']}"
        lines[0] = f"{lines[0][:-1]}; most of {at} ({100 * worst.value:.1f} %)."
    unequal = []
    for at in dict.fromkeys(place(each.where) for each in grid):
        ends = [of(known, "odd_share", at, condition=name) for name in ("control", "treatment")]
        if all(ends) and abs(ends[1].value - ends[0].value) >= UNEQUAL:
            more = f"{100 * (ends[1].value - ends[0].value):+.1f} pp"
            unequal.append(f"{' '.join(at[1:])} on {at[0].replace('_', ' ')} ({more})")
    if unequal:
        lines.append(
            f"Treatments lose another share than controls of {', '.join(unequal)}: where answers were lost for what "
            "they say, these effects are those of the readable ones alone."
        )
    return _marked(estimates, lines, "")
