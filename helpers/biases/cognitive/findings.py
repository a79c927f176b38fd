"""What may be concluded of each bias, so that noise is never called a bias, nor a lack of data its absence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from helpers.biases.cognitive.averages import (
    LEVEL,
    UNEQUAL,
    Index,
    Place,
    by_judge,
    corrected,
    direction,
    exploratory,
    family,
    first_level,
    habitual,
    index,
    lost,
    members,
    of,
    place,
    scattered,
    scenarios_needed,
    smallest_detectable,
    stands,
    undirected,
)
from helpers.biases.cognitive.published import ARRAYS_METHOD, BIASES_WORD, OWN_METHOD, WITHOUT
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect
from helpers.stats.standing import clash, size, standing, together, worst
from helpers.stats.tests import FLOOR
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, p_text, sentence


@dataclass(frozen=True)
class Known:
    """What every sentence looks up: all numbers, means over judges, the grid of judges, p and what stands."""

    all: Index
    family: Mapping[Place, Estimate]
    grid: Mapping[Place, Estimate]
    p: Mapping[Place, float]
    shown: Mapping[Place, int]
    needed: tuple[int, int]
    level: float


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: which biases are shown, in which direction, after Holm, and what the others could have shown.

    Shown is what stands (`averages.stands`). A sentence of summary and one a bias; biases without an interval are told
    how many scenarios they need, and those without a known direction are named.
    """
    known = Known(
        index(estimates),
        family(estimates),
        by_judge(estimates),
        corrected(estimates),
        stands(estimates),
        scenarios_needed(estimates),
        LEVEL / max(1, len(members(estimates))),
    )
    each, none = known.family, undirected(estimates)
    told = f"Without a known direction, so that only the published metric is defined: {_words(none)}." if none else ""
    if not each:
        return told or "No test has a readable control and treatment: nothing can be concluded."
    least = smallest_detectable(estimates)
    lines = [f"- {_sentence(known, at, least[at])}" for at in each]
    lines += [f"- {who}: **{how}**; of {_words(names)}." for (who, how), names in habitual(estimates).items()]
    return "\n".join([_summary(known), "", *lines, *([f"- {told}"] if told else [])])


def _summary(known: Known) -> str:
    each, shown, p = known.family, known.shown, known.p
    simulated = "SIMULATED: " if any(e.data == "simulated" for e in each.values()) else ""
    judges = sorted({" ".join(at[1:]) for at in known.grid})
    who = f"on average over these {len(judges)} judges (of others nothing is said)" if len(judges) > 1 else judges[0]
    tested = [at for at in each if not math.isnan(p[at])]
    if not tested:
        start = "**nothing" if simulated else "**Nothing"
        return f"{simulated}{start} can be concluded** of {_words(at[0] for at in each)}, {who}."
    split = [at for at in each if _split(known, at)]
    kinds = {
        "move{s} answers **toward** the bias": [at for at in tested if shown.get(at) == 1],
        "move{s} answers **away from** the bias": [at for at in tested if shown.get(at) == -1],
        "change{s} answers in a way that we **cannot tell apart from noise**": [
            at for at in tested if p[at] < LEVEL and at not in shown
        ],
        "show{s} no measurable effect": [at for at in tested if not p[at] < LEVEL],
    }
    told = []
    for words, found in kinds.items():
        found = [at for at in found if at not in split]
        if found:
            told.append(f"{_words(at[0] for at in found)} {words.format(s='s' * (len(found) == 1))}")
    if split:
        told.append(f"single judges are moved **both ways** by {_words(at[0] for at in split)}")
    rest = [at for at in each if at not in tested and at not in split]
    if rest:
        told.append(f"nothing can be concluded of {_words(at[0] for at in rest)}")
    tests = sum(not math.isnan(p[at]) for at in (known.grid if len(judges) == 1 else p))
    many = f"Holm over {tests} tests, of biases and judges" if tests > 1 else "one bias tested"
    said = f"{who}, {'; '.join(told)} ({many})."
    return simulated + said if simulated or len(judges) < 2 else said[0].upper() + said[1:]


def _split(known: Known, at: Place) -> bool:
    """Whether some judges are moved toward this bias and some away from it: then their mean says nothing of them."""
    return len({sign for one, sign in known.shown.items() if len(one) > 1 and one[0] == at[0]}) > 1


def _words(names: Iterable[str]) -> str:
    found = [name.replace("_", " ") for name in names]
    return " and ".join([", ".join(found[:-1]), found[-1]] if len(found) > 1 else found)


def _sentence(known: Known, at: Place, least: float) -> str:
    each, p = known.family[at], known.p[at]
    bias = at[0].replace("_", " ")
    shown = f"{bias}: {each}" if each.value == each.value else bias
    if math.isnan(p):
        return f"{shown}. {_untested(known, each)}{_besides(known, at, each)}"
    told = f"Holm p {p_text(p, FLOOR in each.method)}, {each.clusters} scenarios{clash(each, p)}"
    word = "toward" if each.value > 0 else "away from"
    if at in known.shown:
        said = f"**moves answers {word} the bias** ({told})"
    elif p < LEVEL:
        said = f"**cannot tell apart from noise** ({told}): {_unsettled(known, at)}"
    elif direction(each):
        said = f"**leans {word} the bias, not established** after correction ({told})"
    else:
        said = f"**no measurable effect** ({told})"
    if math.isnan(each.low):
        return f"{shown}, {said}; {each.method.split('; ')[0]}{_judges(known, at)}."
    could = "" if p < LEVEL else f"; a true effect of {least:.2f} would be found in 80 % of such runs"
    return f"{shown}, {said}{could}{_judges(known, at)}.{_besides(known, at, each)}"


def _unsettled(known: Known, at: Place) -> str:
    """Why an effect whose p is small is not said to be a move."""
    shift, scatter = of(known.all, "scale_shift", at), of(known.all, "scatter_change", at)
    if shift is None or math.isnan(shift.low):
        why = "whether answers move along the scale cannot be told"
        return f"{why} ({shift.method if shift else 'not measured'}), and mere scatter would do it too"
    sign = of(known.all, "shift_sign", at)
    if direction(shift) * known.family[at].value > 0:
        how = f"{scatter}" if scatter.value == scatter.value else scatter.method
        told = f"treatments may scatter otherwise than controls ({how}), which alone can shift answers near an end"
        test = f"of {sign.clusters} scenarios has p = {sign.p:.2g}" if sign and sign.p == sign.p else "has no value"
        return f"{told}, and the sign test {test}"
    told = f"the share of the distance changes, but along the scale answers move by {shift}"
    if scatter is not None and direction(scatter):
        more = "more" if scatter.value > 0 else "less"
        told += f"; treatments scatter {more} than controls ({scatter}), which is enough for that"
    return told


def _besides(known: Known, at: Place, each: Estimate) -> str:
    """What a reader of this effect has to know: judges that are not in it, and replies lost in one condition."""
    told = ""
    _, found, without = each.method.partition("; without ")
    if found:
        told += f" Without {without.partition(', who')[0]}, of whom no pair counts."
    before, after = (lost(known.all, at[0], condition) for condition in ("control", "treatment"))
    if abs(after - before) >= UNEQUAL:
        shares = f"{100 * after:.0f} % of treatments and {100 * before:.0f} % of controls"
        told += f" Careful: {shares} are lost; the effect is that of the readable ones."
    return told


def _untested(known: Known, each: Estimate) -> str:
    """Why there is no test, and how many scenarios it would take."""
    interval, test = known.needed
    if not each.clusters:
        return f"Nothing can be concluded: {each.method}."
    if each.clusters < MIN_CLUSTERS:
        plural = "s" if each.clusters > 1 else ""
        return (
            f"With {each.clusters} scenario{plural} there is no interval ({MIN_CLUSTERS} is the least) and no test: "
            f"an interval needs {interval} scenarios, and sign flips need {test} in which answers move to reach "
            f"Holm's level of {known.level:.2g} over biases and judges."
        )
    why = (each.method.partition("; ")[2] or each.method).removeprefix("no test: ")
    return f"No test: {why}; sign flips need {test} scenarios that move."


def _judges(known: Known, at: Place) -> str:
    """The judges that are moved for themselves."""
    grid, shown = known.grid, known.shown
    mine = [one for one in grid if one[0] == at[0]]
    if len(mine) < 2:
        return ""
    told = []
    for word, sign in (("toward it", 1), ("away from it", -1)):
        found = [" ".join(one[1:]) for one in mine if shown.get(one) == sign]
        if found:
            told.append(f"{', '.join(found)} {word}")
    moved = " and ".join(told) if told else "none"
    return f"; for itself is moved: {moved}"


PROFILE, ABSOLUTE, UNREADABLE = "cognitive profile", "mean |B|", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each model by which biases it is moved, and how many replies held no decision.

    The profile shows the bias with the gravest verdict, of several the largest effect; the words name all that move it.
    A bias is one that stands (`averages.stands`), by Holm over all biases and models. Published means of |B| have
    neither an interval nor a direction: they are described, not judged. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        grid, p, standing_ = by_judge(mine), corrected(mine), stands(mine)
        verdicts = {at: _verdict(at, each, p[at], standing_) for at, each in grid.items()}
        for judge in sorted({each.where["judge"] for each in grid.values()}):
            own = {at: each for at, each in grid.items() if each.where["judge"] == judge}
            lines.append(_profile(judge, own, verdicts, p, first_level(mine)))
        lines += [
            _absolute(each) for each in mine if each.id == "ratio_scale_absolute" and set(each.where) == {"judge"}
        ]
        odd: dict[str, list[Estimate]] = {}
        for each in mine:
            if each.id == "odd_share":
                odd.setdefault(each.where["judge"], []).append(each)
        words = "gives replies without a readable decision in this share"
        for judge, several in odd.items():
            share = together(several, "odd_share", judge, "biases and conditions")
            lines.append(CardLine(judge, UNREADABLE, share, "described", words))
    return lines


def _verdict(at: Place, each: Estimate, p: float, standing_: Mapping[Place, int]) -> str:
    """As everywhere, but a bias must stand: an effect that scatter alone could make is a hint."""
    return standing(each, p, confirmatory=at in standing_)


def _profile(
    judge: str, own: Mapping[Place, Estimate], verdicts: Mapping[Place, str], p: Mapping[Place, float], level: float
) -> CardLine:
    gravest = worst(verdicts[at] for at in own)
    top = max((at for at in own if verdicts[at] == gravest), key=lambda at: size(own[at]))
    each = own[top]
    moved = {
        word: [_name(at) for at in own if verdicts[at] == "bias" and sign * own[at].value > 0]
        for word, sign in (("by", 1), ("against the pull of", -1))
    }
    told = [f"{word} {listed(names)}" for word, names in moved.items() if names]
    noise = " (cannot tell apart from noise)" if p[top] < LEVEL else ""
    words = {
        "bias": f"is moved {' and '.join(told)} (of {len(own)} biases)",
        "hint": f"may be moved by {_name(top)}, not established{noise}; by none of {len(own)} biases for certain",
        "not shown": f"is not measurably moved by any of {len(own)} biases",
        "untold": f"was asked too little to tell whether any of {len(own)} biases moves it",
    }[gravest]
    for (_, how), names in habitual([*own.values()]).items():
        words = how if len(names) == len(own) else f"{words}; of {listed(_name([name]) for name in names)} {how}"
    least = detectable_effect(each.se, each.df, level=level)
    return CardLine(judge, PROFILE, each, gravest, f"{words}; here: {_name(top)}", p[top], least)


def _name(at: Place) -> str:
    return at[0].replace("_", " ")


def _absolute(each: Estimate) -> CardLine:
    words = "has this mean |B| over the published biases; noise raises it as well as bias, and it has no direction"
    return CardLine(each.where["judge"], ABSOLUTE, each, "described", words)


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which biases move the models on average, of estimates from one source of data.

    The largest effect that stands carries it, else the largest one. Of published means, which have no test, the mean
    |B| of all models but the random one does. None where nothing was measured.
    """
    known, p, shown = family(estimates), corrected(estimates), stands(estimates)
    if not known:
        return _published(estimates)
    order = sorted(known, key=lambda at: (at not in shown, -size(known[at])))
    each = known[order[0]]
    told = []
    for sign, way in ((1, "toward"), (-1, "away from")):
        names = [_name(at) for at in known if shown.get(at) == sign]
        if names:
            told.append(f"{listed(names)} move{'s' * (len(names) == 1)} answers {way} the bias")
    rest = {
        "cannot be told apart from noise": [at for at in known if p[at] < LEVEL and at not in shown],
        "cannot be told": [at for at in known if math.isnan(p[at])],
    }
    rest["is not shown"] = [
        at for at in known if at not in (*shown, *rest["cannot be told apart from noise"], *rest["cannot be told"])
    ]
    told += [f"an effect of {listed(map(_name, found))} {words}" for words, found in rest.items() if found]
    told += [f"{who}: {how}" for who, how in habitual(estimates)]
    judges = {each.where["judge"] for each in by_judge(estimates).values()}
    said = f"{'; '.join(told)} (mean of {len(judges)} model{'s' * (len(judges) != 1)})"
    return Headline(sentence(said, each.data), each)


def _published(estimates: Sequence[Estimate]) -> Headline | None:
    at = {(e.id, e.where.get("over", "")): e for e in estimates if set(e.where) <= {"over"}}
    each, random = at.get(("ratio_scale_absolute", WITHOUT)), at.get(("ratio_scale_random", BIASES_WORD))
    below = at.get(("below_random", ""))
    if each is None or random is None or below is None:
        return None
    said = (
        f"on {below.value:.0f} of {below.n} biases the models' mean |B| is below what answers at random give (all "
        f"biases: {random.value:.2f}), so that it does not tell bias from noise"
    )
    return Headline(sentence(said, each.data), each)


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


#: In tables, of numbers that are means over the judges of the run (or hang on none of them).
ALL = "mean over judges"


def stars(estimates: Sequence[Estimate]) -> dict[tuple[str | None, ...], float]:
    """The corrected p of each bias_effect by bias and judge, the mean over judges under the judge None.

    NaN where the effect does not stand because answers do not move along the scale (`averages.stands`): no star then.
    """
    shown = stands(estimates)
    return {
        at if len(at) > 1 else (*at, None): p if at in shown or not p < LEVEL else math.nan
        for at, p in corrected(estimates).items()
    }


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    told = {
        "effects": (
            "How far each bias moves answers toward what it pulls to, and what a repeated control shows.",
            ("bias_effect", "scale_shift", "shift_sign", "bias_placebo", "scatter_change"),
            ["id"],
        ),
        "published_metrics": (
            "The published metrics: as published, of the control asked again, and the difference.",
            _with_placebo("anchoring_agnostic", "anchoring_specific", "halo_effect"),
            ["id"],
        ),
        "confirmation": (
            "Confirmation bias as published, weighted and unweighted.",
            _with_placebo("confirmation_bias", "confirmation_unweighted"),
            ["id"],
        ),
        "gambles": (
            "Loss aversion: the published batch value, and the logarithm of the ratio at which half accept.",
            ("loss_aversion", "acceptance_threshold", "threshold_ratio"),
            ["id", "condition"],
        ),
        "ratio_scale": (
            "The published metric of thirty biases on these answers: mean, mean of absolute values, and what answers "
            "at random give.",
            ("ratio_scale", "ratio_scale_absolute", "ratio_scale_random"),
            ["id"],
        ),
        "habits": (
            "How much of a judge's replies has one place, and one letter.",
            ("place_share", "letter_share"),
            ["id"],
        ),
        "odd": ("Replies without one readable decision.", ("odd_share",), ["condition"]),
    }
    rows = ["bias", "judge"]
    tables = []
    for name, (words, ids, columns) in told.items():
        chosen = [_named(each) for each in estimates if each.id in ids and each.data != "published"]
        if chosen:
            tables.append((name, words, chosen, rows, columns))
    return tables


def notebook_table(estimates: Sequence[Estimate]) -> tuple[str, str, list[Estimate], list[str], list[str]]:
    """The batch values of the published notebook, and of arrays of one's own, with their intervals (`paper_tables`)."""
    chosen = []
    for each in estimates:
        if each.where.get("source") in ("notebook", "arrays") and "test" not in each.where and each.n:
            how = each.method.removesuffix(f"; {ARRAYS_METHOD}").removesuffix(f"; {OWN_METHOD}")
            named = {"metric": each.id, "answers": each.where.get("answers", ""), "variation": how}
            chosen.append(replace(each, where=named | {"number": "batch value"}))
    words = (
        "Batch values of the published notebook, computed from its own arrays of made-up answers, with BCa intervals "
        "over their rows. Of so few rows they are rough: they show how much the metric varies and carry no finding."
    )
    if any(each.data != "published" for each in chosen):
        words += " Rows of other data: the same of arrays that were given."
    return "notebook_metrics", words, chosen, ["metric", "answers", "variation"], ["number"]


def _named(each: Estimate) -> Estimate:
    """The estimate with a judge in its place, so that means stand in rows of their own, and with both conditions."""
    both = {"condition": "both"} if each.id in ("loss_aversion", "threshold_ratio") else {}
    return replace(each, where={"judge": ALL, "bias": "all biases", **each.where, **both})


def _with_placebo(*ids: str) -> tuple[str, ...]:
    return tuple(f"{id}{end}" for id in ids for end in ("", "_placebo", "_excess"))
