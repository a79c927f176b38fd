"""What may be concluded of each judge of wordings, so that noise is never called a preference."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from helpers.biases.verbosity.asked import BIASES, CONTENT, CONTROLLED, LENGTH, PLAIN, REWORDED, STYLE
from helpers.biases.verbosity.measured import (
    LEVEL,
    Place,
    beside,
    by_judge,
    corrected,
    exploratory,
    family,
    index,
    smallest_detectable,
)
from helpers.biases.verbosity.published import EXACT, UNREADABLE, model_of
from helpers.stats.power import detectable_effect, detectable_mcnemar
from helpers.stats.standing import clash, leans, size, standing, together, worst
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, p_text, sentence


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


WORDING = "wording"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge which wording of equal content it prefers, and how often a longer text wins though it is worse.

    The wording is the one with the gravest verdict by Holm's p over all judges, of several the largest effect.
    Published evaluators that are one model under several prompts are one judge. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        p, least = corrected(mine), smallest_detectable(mine)
        lines += [_wording_lines(judge, effects, p, least) for judge, effects in by_judge(mine).items()]
        # Where wordings were asked they tell more than pairs that were made to mislead.
        lines += [line for line in _longer(mine, p) if line.judge not in by_judge(mine)]
    return lines


def _wording_lines(
    judge: str, mine: Mapping[Place, Estimate], p: Mapping[Place, float], least: Mapping[Place, float]
) -> CardLine:
    verdicts = {at: standing(each, p[at]) for at, each in mine.items()}
    gravest = worst(verdicts.values())
    at = max((at for at in mine if verdicts[at] == gravest), key=lambda at: size(mine[at]))
    liked, disliked = ([x[1] for x in mine if verdicts[x] == gravest and sign * mine[x].value > 0] for sign in (1, -1))
    sides = [f"{verb} {listed(names)} wordings" for verb, names in (("prefers", liked), ("avoids", disliked)) if names]
    words = {
        "bias": f"{' and '.join(sides)} of equal content",
        "hint": f"leans: {' and '.join(sides)} of equal content, not established",
        "not shown": "shows no measurable preference for a padded, listed or confident wording",
        "untold": f"was not tested for a preference for a wording ({mine[at].method.rpartition('; ')[2]})",
    }[gravest]
    # Of all wordings nothing is shown, so the effect to be told is that of the one that is known least.
    some = mine if gravest == "not shown" else [at]
    enough = max((least[x] for x in some if least[x] == least[x]), default=math.nan)
    return CardLine(judge, WORDING, mine[at], gravest, f"{words} (here: {at[1]})", p[at], enough)


def _longer(mine: Sequence[Estimate], p: Mapping[Place, float]) -> list[CardLine]:
    """A line a judge on the pairs of which the longer text is the worse one."""
    known = index(mine, "longer_over_better")
    verdicts = {at: _card_verdict(each, p[at]) for at, each in known.items()}
    tests = max(1, sum(not math.isnan(each) for each in p.values()))
    lines = []
    for judge in sorted({model_of(at[0]) for at in known}):
        own = [at for at in known if model_of(at[0]) == judge]
        gravest = worst(verdicts[at] for at in own)
        some = [x for x in own if verdicts[x] == gravest]
        at = max(some, key=lambda x: (known[x].value == known[x].value, known[x].value))
        words = {
            "bias": "prefers the longer text more often than not where it is the worse one",
            "hint": "leans to the longer text where it is the worse one",
            "not shown": "is not shown to prefer the longer text where it is the worse one",
            "untold": "was asked too little to tell whether it prefers longer texts that are worse",
        }[gravest]
        if len(own) > 1:
            words += f"; so under {sum(verdicts[x] == 'bias' for x in own)} of {len(own)} prompts (here: {at[0]})"
        lines.append(CardLine(judge, WORDING, known[at], gravest, words, p[at], _detectable(known[at], LEVEL / tests)))
    return lines


def _detectable(each: Estimate, level: float) -> float:
    """The smallest true effect found with power 0.8 by the test that was made: of counts the exact one of McNemar.

    That with as many instances for the side with fewer as were seen; NaN where no effect is found so often.
    """
    if EXACT not in each.method or math.isnan(each.se):
        return detectable_effect(each.se, each.df, level=level)
    # Of values of -1, 0 and 1 the sum of squares counts those that are not 0.
    decided = each.n * (each.n - 1) * each.se**2 + each.n * each.value**2
    return detectable_mcnemar(each.n, round((decided - each.n * abs(each.value)) / 2), level=level)


def _card_verdict(each: Estimate, p: float) -> str:
    """As everywhere; a judge that finds the better text is not biased by that."""
    found = standing(each, p)
    return "not shown" if found in ("bias", "hint") and each.value < 0 else found


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which judges prefer which wordings, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. Where no wording was asked, the pairs of which one
    text is known to be better; None where there are none of these either.
    """
    known, p = family(estimates), corrected(estimates)
    if not known:
        return _known_headline(estimates)
    verdicts = {at: standing(each, p[at]) for at, each in known.items()}
    gravest = worst(verdicts.values())
    at = max((x for x in known if verdicts[x] == gravest), key=lambda x: size(known[x]))
    judges = {x[0] for x in known}
    found = {x[0] for x in known if verdicts[x] == "bias"}
    tested = sum(not math.isnan(each) for each in p.values())
    level, q = index(estimates, "length_controlled_effect"), exploratory(estimates, "length_controlled_effect")
    # The same wording to the same side: one that is liked for its length and else disliked is another preference.
    alike = {x for x in level if x in known and level[x].value * known[x].value > 0 and q[x] < LEVEL}
    still = {x[0] for x in known if verdicts[x] == "bias" and x in alike}
    one, s = len(judges) == 1, "s" * (len(found) == 1)
    said = f"of {len(judges)} judge{'' if one else 's'} {len(found)} prefer{s} or avoid{s} a wording of equal content"
    if found and level:
        said += f", {len(still)} of them at equal length too (exploratory)"
    said += f"; largest: {at[0]}, {at[1]}"
    if not tested:
        said = "a preference for a wording was not tested"
    return Headline(sentence(said, known[at].data), known[at])


def _known_headline(estimates: Sequence[Estimate]) -> Headline | None:
    known, p = index(estimates, "longer_when_worse"), corrected(estimates)
    known = {at: each for at, each in known.items() if each.value == each.value}
    if not known:
        return None
    found = [at for at in known if p[at] < LEVEL and known[at].value > 0.5]
    at = max(found or known, key=lambda x: known[x].value)
    of = "evaluators" if any("/" in x[0] for x in known) else "judges"
    said = (
        f"of {len(known)} {of} {len(found)} prefer{'s' * (len(found) == 1)} the longer text more often than not where "
    )
    said += f"it is the worse one; most often: {at[0]}"
    lost = [each for each in estimates if each.id == UNREADABLE]
    unreadable = together(lost, UNREADABLE, "", of).value
    return Headline(sentence(said, known[at].data), known[at], unreadable)


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
