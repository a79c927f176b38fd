"""What experiment 3 says of each judge, and of all of them in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from helpers.biases.self_preference.baseline import PRIMARY
from helpers.biases.self_preference.concluding import LEVEL, corrected, family, smallest_detectable
from helpers.stats.power import detectable_effect
from helpers.stats.standing import standing
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import CardLine, Headline, listed, sentence

HARMFUL, GAP, HIDING = "harmful self-preference", "evaluator-quality gap", "hidden authorship"
AGREEMENT, UNREADABLE = "both orders agree", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Of each judge how it treats its own wrong answers, whether both orders agree, and what could not be read.

    The rate of votes for its own wrong answer has no value that would mean no bias (a weak judge has a high one), so it
    is described. The evaluator-quality gap (same option named) is exploratory, by Benjamini and Hochberg over judges,
    and a hint at most; what hiding the authorship does is the confirmatory family, by Holm over all judges. Published
    counts give the rate alone: of each judge the one from most pairs before an edit. `vendors` is not needed.
    """
    del vendors
    lines = []
    for data in dict.fromkeys(each.data for each in estimates):
        mine = [each for each in estimates if each.data == data]
        lines += [*_published(mine), *_harmful(mine), *_gaps(mine), *_hiding(mine)]
        for id, measure, words in (
            ("retention", AGREEMENT, "names the same winner in both orders in this share of pairs"),
            ("unreadable_share", UNREADABLE, "gives replies without a readable verdict in this share"),
        ):
            some = [each for each in mine if each.id == id and set(each.where) == {"judge"}]
            lines += [CardLine(e.where["judge"], measure, e, "described", words) for e in some]
    return lines


def _published(estimates: Sequence[Estimate]) -> list[CardLine]:
    rates = [e for e in estimates if e.id == "harmful_self_preference_rate" and e.where.get("phase") == "before"]
    found: dict[str, Estimate] = {}
    for each in rates:
        judge = each.where.get("judge")
        if judge and (judge not in found or each.n > found[judge].n):
            found[judge] = each
    words = "picks its own wrong answer in this share, against {opponent} ({run}, {records}); a weak judge does too"
    return [CardLine(j, HARMFUL, e, "described", words.format(**e.where)) for j, e in sorted(found.items())]


def _harmful(estimates: Sequence[Estimate]) -> list[CardLine]:
    words = "votes for its own wrong answer in this share; a weak judge does too"
    rates = [each for each in estimates if each.id == "naive_harmful_rate"]
    return [CardLine(e.where["judge"], HARMFUL, e, "described", words) for e in rates if not math.isnan(e.value)]


def _gaps(estimates: Sequence[Estimate]) -> list[CardLine]:
    gaps = [e for e in estimates if e.id == "evaluator_quality_gap" and e.where["stratum"] == PRIMARY]
    tested = max(1, sum(not math.isnan(e.p) for e in gaps))
    lines = []
    for each, p in zip(gaps, map(float, benjamini_hochberg([e.p for e in gaps])), strict=True):
        verdict = standing(each, p, confirmatory=False)
        than = "than for another author's that names the same option"
        words = {
            "hint": f"seems to vote {'more' if each.value > 0 else 'less'} for its own wrong answer {than}",
            "not shown": f"does not measurably vote more for its own wrong answer {than}",
            "untold": f"cannot be told from a judge that is merely wrong ({each.method})",
        }[verdict]
        least = detectable_effect(each.se, each.df, level=LEVEL / tested)
        lines.append(CardLine(each.where["judge"], GAP, each, verdict, words, p, least))
    return lines


def _hiding(estimates: Sequence[Estimate]) -> list[CardLine]:
    p, least, lines = corrected(estimates), smallest_detectable(estimates), []
    for judge, each in family(estimates).items():
        verdict = "untold" if math.isnan(p[judge]) else standing(each, p[judge])
        more = "more" if each.value > 0 else "less"
        words = {
            "bias": f"turns {more} from its own wrong answer than other judges do when that answer is edited",
            "hint": f"seems to turn {more} from its own wrong answer than other judges do when that answer is edited",
            "not shown": "shows no measurable effect of hiding that it wrote the wrong answer",
            "untold": f"was not tested for the effect of hiding its authorship ({each.method})",
        }[verdict]
        lines.append(CardLine(judge, HIDING, each, verdict, words, p[judge], least[judge]))
    return lines


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Whether hiding the authorship turns judges from their own wrong answers, of estimates from one source of data.

    The contrast with the smallest p after correction carries it, without tests the one from most votes. Published
    reports have no control: the change from most pairs carries it, and the sentence gives the span of all. None where
    nothing was edited.
    """
    changes = [e for e in estimates if e.id == "published_change" and e.where["rate"] == "harmful_self_preference_rate"]
    if changes:
        ends = [100 * pick(e.value for e in changes) for pick in (min, max)]
        said = (
            f"once it is edited, judges pick their own wrong answer {ends[0]:+.1f} to {ends[1]:+.1f} pp more often, by "
            "what is compared; the unedited pairs were not asked again, so what the edit does is not known"
        )
        return Headline(sentence(said, changes[0].data), max(changes, key=lambda e: e.n))
    each, lines = family(estimates), {line.judge: line for line in _hiding(estimates)}
    if not each:
        return None
    first = min(lines.values(), key=lambda x: (2.0 if math.isnan(x.p) else x.p, -x.estimate.n))
    kinds = {v: [j for j, x in lines.items() if x.verdict == v] for v in ("bias", "hint", "not shown", "untold")}
    told = []
    for verdict, verb in (("bias", "turn"), ("hint", "seem to turn")):
        for sign, more in ((1, "more"), (-1, "less")):
            names = [j for j in kinds[verdict] if sign * each[j].value > 0]
            if names:
                told.append(f"{listed(names)} {verb} {more} from edited wrong answers of their own than others do")
    if kinds["not shown"]:
        told.append(f"no effect of hiding the authorship is shown of {listed(kinds['not shown'])}")
    if kinds["untold"]:
        every = "any judge" if len(kinds["untold"]) == len(lines) else listed(kinds["untold"])
        why = ""
        if len(kinds["untold"]) == len(lines):
            most = max((e.clusters for e in each.values()), default=0)
            why = f" ({most} article{'' if most == 1 else 's'} with own wrong answers at most)"
        told.append(f"what hiding the authorship does cannot be told of {every}{why}")
    said = "; ".join(told)
    return Headline(sentence(said, first.estimate.data), first.estimate)
