"""What stands beside the figures: rows for them, sentences on length, content and noise, tables for papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from helpers.biases.verbosity.effects import LEVEL
from helpers.biases.verbosity.families import beside, exploratory, index
from helpers.biases.verbosity.wording import BIASES, CONTENT, CONTROLLED, LENGTH, PLAIN, REWORDED, STYLE
from helpers.types import Estimate
from helpers.words import p_text

#: What the tried wording is compared with, as figures name it.
SAME, POORER = "the same content", "poorer content"
RAW, LEVEL_WITH = "as it is", "at equal length"
#: The condition whose lost pairs stand in a figure's caption.
LOST = {"style_effect": STYLE, "poorer_win_rate": CONTENT}


def _marked(estimates: Sequence[Estimate], lines: Sequence[str], nothing: str) -> str:
    simulated = any(each.data == "simulated" for each in estimates)
    return "\n".join(f"- {'SIMULATED: ' * simulated}{line}" for line in lines) or nothing


def effect_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The effect of each wording and of the control, first, for a figure; with the pairs that were lost."""
    return _rows(estimates, "style_effect", (REWORDED, *BIASES), SAME)


def content_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """How often poorer content wins in each wording, in plain words first, for a figure."""
    return _rows(estimates, "poorer_win_rate", (PLAIN, *BIASES), POORER)


def _rows(estimates: Sequence[Estimate], id: str, order: Sequence[str], candidate: str) -> list[Estimate]:
    known = index(estimates, id)
    judges = dict.fromkeys(at[0] for at in known)
    found = [
        replace(known[judge, bias], where={"judge": judge, "candidate": candidate, "bias": bias})
        for judge in judges
        for bias in order
        if (judge, bias) in known
    ]
    return [*found, *_lost(estimates, LOST[id], candidate)]


def level_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Each wording as it is and at equal length, for a figure, where both were measured."""
    raw, level = index(estimates, "style_effect"), index(estimates, "length_controlled_effect")
    found = []
    for at in level:
        for length, each in ((RAW, raw.get(at)), (LEVEL_WITH, level[at])):
            if each is not None:
                where = {"judge": at[0], "candidate": at[1], "length": length}
                found.append(replace(each, id="style_effect", where=where))
    return [*found, *(each for bias in CONTROLLED for each in _lost(estimates, LENGTH, bias))]


def _lost(estimates: Sequence[Estimate], condition: str, candidate: str) -> list[Estimate]:
    lost = [each for each in estimates if each.id == "invalid_share" and each.where.get("condition") == condition]
    return [replace(each, where={"judge": each.where["judge"], "candidate": candidate}) for each in lost]


def length_words(estimates: Sequence[Estimate]) -> str:
    """What length alone does to each judge, and which preferences are left without it."""
    level, p = index(estimates, "length_controlled_effect"), exploratory(estimates, "length_controlled_effect")
    slopes, q = index(estimates, "length_slope"), exploratory(estimates, "length_slope")
    lines = []
    for at, each in slopes.items():
        judge = at[0]
        if math.isnan(each.low):
            told = f"{judge}: what length does cannot be told ({each.method})"
        else:
            word = "gain" if each.value > 0 else "lose"
            said = (
                f"a text of twice the letters seems to {word} {each}"
                if q[at] < LEVEL
                else f"no measurable effect of length ({each})"
            )
            told = f"{judge}: {said}"
        left = [
            f"{bias} {level[judge, bias]}{_verdict(estimates, level[judge, bias], p[judge, bias])}"
            for bias in CONTROLLED
            if (judge, bias) in level
        ]
        lines.append(f"{told}; at equal length: {', '.join(left)}.")
    note = "At equal length and of length: Benjamini and Hochberg over judges and wordings, exploratory."
    return _marked(estimates, lines, "No wordings were compared at chosen lengths.") + (f"\n\n{note}" if lines else "")


def _verdict(estimates: Sequence[Estimate], each: Estimate, p: float) -> str:
    if math.isnan(p):
        return ""
    if p < LEVEL:
        return f" (p {p_text(p)})"
    least = beside(estimates, each)
    enough = f"; {100 * least:.1f} pp would be found in 80 % of such runs" if least == least else ""
    return f" (nothing measurable, p {p_text(p)}{enough})"


def content_words(estimates: Sequence[Estimate]) -> str:
    """How often poorer content wins, and how much of that its wording does."""
    rates, gains = index(estimates, "poorer_win_rate"), index(estimates, "style_over_content")
    p, lines = exploratory(estimates, "style_over_content"), []
    for at, each in rates.items():
        if at[1] != PLAIN:
            continue
        told = f"{at[0]}: poorer content in plain words wins in {each}"
        parts = []
        for bias in BIASES:
            gain = gains.get((at[0], bias))
            if gain is None or gain.value != gain.value:
                continue
            word = f"p {p_text(p[at[0], bias])}" if p[at[0], bias] == p[at[0], bias] else gain.method
            parts.append(f"{bias} {gain} ({word})")
        lines.append(f"{told}; its wording adds: {', '.join(parts) or 'not measured'}.")
    note = "p by Benjamini and Hochberg over judges and wordings, exploratory."
    return _marked(estimates, lines, "No poorer content was compared.") + (f"\n\n{note}" if lines else "")


def noise_words(estimates: Sequence[Estimate]) -> str:
    """What the control shows, and how often a judge contradicts itself when asked the same again."""
    control, noise = index(estimates, "style_effect"), index(estimates, "repeat_disagreement")
    p = exploratory(estimates, "style_effect")
    lines = []
    for at, each in control.items():
        if at[1] != REWORDED:
            continue
        same = noise.get((at[0], ""))
        told = f"{at[0]}: a frame that claims nothing, as long as the confident one, has an effect of {each}"
        if p[at] < LEVEL:
            told += ": being longer seems to be " + ("enough" if each.value > 0 else "avoided")
        told += f"; the same two texts in the same order get another winner in {same}" if same is not None else ""
        lines.append(f"{told}.")
    return _marked(estimates, lines, "No control was judged.")


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys, of each that has numbers."""
    made = (
        ("effects", "style_effect", "How much more often a wording wins than the plain one of equal content, in pp."),
        ("equal_length", "length_controlled_effect", "The same at equal length, in pp."),
        ("content", "poorer_win_rate", "How often poorer content wins against full content in plain words."),
        ("known_pairs", "known_pair_accuracy_by_bias", "How often the text known to be better is preferred."),
    )
    found = []
    for name, id, caption in made:
        mine = [each for each in estimates if each.id == id]
        if mine:
            found.append((name, caption, mine, ["judge"], ["bias"]))
    return found
