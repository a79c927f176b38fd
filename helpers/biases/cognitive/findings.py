"""What may be concluded of each bias, so that noise is never called a bias, nor a lack of data its absence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...stats.intervals import MIN_CLUSTERS
from ...stats.standing import LEVEL
from ...types import Estimate
from ...words import CardLine, Conclusion, Headline, card_line, headline as headline_of, lines, listed, sentence
from .. import protocol
from .averages import direction, lost, members, place, scattered, scenarios_needed, undirected
from .published import ARRAYS_METHOD, BIASES_WORD, OWN_METHOD, WITHOUT

#: A difference of unreadable shares, treatment less control, from which it is pointed out.
UNEQUAL = 0.05
#: The subject of a mean over judges.
MEAN = "on average over these judges (of others nothing is said)"


def conclusions(estimates: Sequence[Estimate], *ids: str) -> list[Conclusion]:
    """What may be said of the numbers with these ids, in order of the ids; of one judge alone without its means.

    A bias_effect whose p is small is shown only if scatter alone cannot have made it, and the mean over judges only if
    no two of them are moved in opposite directions.
    """
    found = [_checked(each, estimates) for each in protocol.conclusions("cognitive", members(estimates), *ids)]
    ways: dict[str, set[bool]] = {}
    for each in found:
        if each.verdict == "bias" and "judge" in each.estimate.where:
            ways.setdefault(each.estimate.where["bias"], set()).add(each.estimate.value > 0)
    return [
        replace(each, verdict="hint", test=f"{each.test}; single judges are moved both ways")
        if each.estimate.id == "bias_effect" and "judge" not in at and len(ways.get(at["bias"], ())) > 1
        else each
        for each in found
        for at in [each.estimate.where]
    ]


def _checked(each: Conclusion, estimates: Sequence[Estimate]) -> Conclusion:
    """A bias_effect with what a reader of it has to know; not shown where noise may have made it.

    It has to lie on the side of `scale_shift`, which scatter alone does not move, and where scatter may differ
    (`scattered`) on that of the sign test, too.
    """
    if each.estimate.id != "bias_effect":
        return each
    at, notes = dict(each.estimate.where), [each.test] if each.test else []
    beside = (protocol.find(estimates, id, **at) for id in ("scale_shift", "scatter_change", "shift_sign"))
    shift, scatter, sign = beside
    same = direction(shift) * each.estimate.value > 0
    agrees = sign is not None and sign.p < LEVEL and sign.value * direction(shift) > 0
    if each.p < LEVEL and not (same and (agrees or not scattered(scatter))):
        moves = {"answers shift along the scale by": shift, "scatter changes by": scatter}
        facts = [f"{words} {e}" for words, e in moves.items() if e]
        facts += [f"the sign test over {sign.clusters} scenarios has p = {sign.p:.2g}"] if sign else []
        notes.append(f"**cannot tell apart from noise**: {listed(facts) or 'no shift along the scale is measured'}")
    _, _, without = each.estimate.method.partition("; without ")
    notes += [f"without {without.partition(', who')[0]}, of whom no pair counts"] if without else []
    before, after = (lost(estimates, at["bias"], condition) for condition in ("control", "treatment"))
    if abs(after - before) >= UNEQUAL:
        notes.append(f"careful: {100 * after:.0f} % of treatments and {100 * before:.0f} % of controls are lost")
    verdict = "hint" if len(notes) > 1 and "noise" in notes[1] and each.verdict == "bias" else each.verdict
    return replace(each, verdict=verdict, test="; ".join(notes))


def overall(found: Sequence[Conclusion]) -> list[Conclusion]:
    """The means over judges; of one judge alone its own numbers."""
    return [each for each in found if "judge" not in each.estimate.where] or list(found)


def finding(estimates: Sequence[Estimate]) -> str:
    """The bottom line: by which biases models are moved on average, what could have been found, and each model's line.

    Biases without an interval are told how many scenarios they need, and those without a known direction are named.
    """
    found, none = conclusions(estimates, "bias_effect"), undirected(estimates)
    means = overall(found)
    parts = [lines(means, MEAN if len(means) < len(found) else "{judge}")]
    if len(means) < len(found):
        marked = "SIMULATED: " * (means[0].estimate.data == "simulated")
        parts += [f"- {marked}{line.judge}: {line.words}." for line in _profiles(found)]
    if few := max((each.estimate.clusters for each in found if each.verdict == "untold"), default=0):
        interval, test = scenarios_needed(max(1, len(found)))
        level = LEVEL / max(1, len(found))
        parts.append(
            f"- With {few} scenario{'s' * (few != 1)} there is no interval ({MIN_CLUSTERS} is the least) and no test: "
            f"an interval needs {interval} scenarios, and sign flips need {test} in which answers move to reach "
            f"Holm's level of {level:.2g} over biases and judges."
        )
    if none:
        names = listed(name.replace("_", " ") for name in none)
        parts.append(f"- Without a known direction, so that only the published metric is defined: {names}.")
    return "\n".join(filter(None, parts)) or "No test has a readable control and treatment: nothing can be concluded."


PROFILE, ABSOLUTE, UNREADABLE = "cognitive profile", "mean |B|", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each model by which biases it is moved, and how many replies held no decision.

    The profile shows the bias with the gravest verdict; the words name all of that verdict. Published means of |B|
    have neither an interval nor a direction: they are described, not judged.
    """
    absolute = [each for each in estimates if set(each.where) == {"judge"}]
    found = protocol.conclusions("cognitive", absolute, "ratio_scale_absolute")
    return [
        *_profiles(conclusions(estimates, "bias_effect")),
        *(card_line(each.estimate.where["judge"], ABSOLUTE, [each]) for each in found),
        *protocol.share_lines("cognitive", estimates, "odd_share", UNREADABLE, "biases and conditions"),
    ]


def _profiles(found: Sequence[Conclusion]) -> list[CardLine]:
    """The line of each judge, by name."""
    judges = protocol.by_judge(each for each in found if "judge" in each.estimate.where)
    return [card_line(judge, PROFILE, several, "{bias}") for judge, several in judges.items()]


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which biases move the models on average, of estimates from one source of data.

    Of published means, which have no test, the mean |B| of all models but the random one. None without any number.
    """
    found = conclusions(estimates, "bias_effect")
    judges = {each.estimate.where["judge"] for each in found if "judge" in each.estimate.where}
    subject = f"the mean of {len(judges)} models"
    return headline_of(overall(found), "{bias}", subject=subject) if found else _published(estimates)


def _published(estimates: Sequence[Estimate]) -> Headline | None:
    at = {(e.id, e.where.get("over", "")): e for e in estimates if set(e.where) <= {"over"}}
    each, random = at.get(("ratio_scale_absolute", WITHOUT)), at.get(("ratio_scale_random", BIASES_WORD))
    below = at.get(("below_random", ""))
    if each is None or random is None or below is None:
        return None
    text = (
        f"on {below.value:.0f} of {below.n} biases the models' mean |B| is below what answers at random give (all "
        f"biases: {random.value:.2f}), so that it does not tell bias from noise"
    )
    return Headline(sentence(text, each.data), each)


#: The published metrics that have a placebo.
METRICS = (
    *("anchoring_agnostic", "anchoring_specific", "halo_effect", "confirmation_bias", "confirmation_unweighted"),
)


def _of_biases(estimates: Sequence[Estimate], nothing: str, *ids: str) -> str:
    """A point a bias with its numbers, on average over judges."""
    found = overall(conclusions([each for each in estimates if "bias" in each.where], *ids))
    return lines((e for e in found if e.estimate.unit != "count" or e.estimate.value > 0), "{bias}") or nothing


def effect_words(estimates: Sequence[Estimate]) -> str:
    """Of each bias how far answers move on the scale, what the control alone shows, and what had no direction."""
    ids = ("bias_effect", "scale_shift", "bias_placebo", "scatter_change", "shift_sign", "bias_effect_undefined")
    return _of_biases(estimates, "No bias has a direction that could be measured.", *ids)


def noise_words(estimates: Sequence[Estimate]) -> str:
    """What each published metric reads, how much of that it reads where nothing was done, and what is left."""
    ids = [f"{id}{end}" for id in METRICS for end in ("", "_placebo", "_excess")]
    return _of_biases(estimates, "No published metric with a placebo was measured.", *ids)


def threshold_words(estimates: Sequence[Estimate]) -> str:
    """From which ratio of gain to loss half of the gambles are accepted, and how much of that is the loss itself."""
    found = conclusions(estimates, "acceptance_threshold", "threshold_ratio")
    return lines(map(_as_factor, found), "{bias} {judge}") or "No gamble was asked."


def _as_factor(each: Conclusion) -> Conclusion:
    """A number on the scale of logarithms as a factor, with its bounds."""
    value, low, high = (math.exp(bound) for bound in (each.estimate.value, each.estimate.low, each.estimate.high))
    factor = replace(each.estimate, value=value, low=low, high=high, unit="score")
    declared = replace(each.declared, null=math.exp(each.declared.null))
    return replace(each, estimate=factor, declared=declared, smallest=math.exp(each.smallest))


def weighting_words(estimates: Sequence[Estimate]) -> str:
    """What the weights of the published batch values do: to the value, and to how many tests carry it."""
    ids = ["confirmation_bias", "confirmation_unweighted", "confirmation_bias_effective"]
    ids += ["loss_aversion", "loss_aversion_effective"]
    return _of_biases(estimates, "No weighted metric was measured.", *ids)


def odd_words(estimates: Sequence[Estimate]) -> str:
    """How many replies hold no decision, and where the treatment loses more of them than the control."""
    if not (grid := protocol.pick(estimates, "odd_share")):
        return "No reply was counted."
    total, count = sum(each.n for each in grid), sum(round(each.value * each.n) for each in grid)
    most = max(grid, key=lambda each: each.value)
    text = f"{count} of {total} replies ({100 * count / total:.1f} %) hold no decision and are in no effect"
    if count:
        text += f"; most of {' on '.join(place(most.where)[::-1])}, {most.where['condition']} ({most})"
    unequal = []
    for at, where in {place(each.where): each.where for each in grid}.items():
        both = ({**where, "condition": name} for name in ("control", "treatment"))
        before, after = (protocol.find(grid, "odd_share", **each) for each in both)
        if before and after and abs(after.value - before.value) >= UNEQUAL:
            unequal.append(f"{' on '.join(at[::-1])} ({100 * (after.value - before.value):+.1f} pp)")
    if unequal:
        text += f"; treatments lose another share than controls of {', '.join(unequal)}: where answers were lost for "
        text += "what they say, these effects are those of the readable ones alone"
    return f"- {sentence(text, grid[0].data)}"


def stars(estimates: Sequence[Estimate]) -> dict[tuple[str | None, ...], float]:
    """The corrected p of each bias_effect by bias and judge, the mean over judges under the judge None.

    NaN where the effect is not shown though p is small, because noise may have made it: no star then.
    """
    found = conclusions(estimates, "bias_effect")
    p = [e.p if e.verdict == "bias" or not e.p < LEVEL else math.nan for e in found]
    by = {place(e.estimate.where): value for e, value in zip(found, p, strict=True)}
    means = {(*place(e.estimate.where)[:1], None): by[place(e.estimate.where)] for e in overall(found)}
    return means | {at: value for at, value in by.items() if len(at) > 1}


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
