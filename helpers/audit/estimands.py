"""What each number of an audit means: the effects of the eight probes, and what a judge does when nothing is moved."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.audit.asking import PROBES
from helpers.types import Estimand

_SIGN = "s = 1 the text shown first wins, 0 a tie, -1 the second wins"
_ORDERS = f"mean of (s_{{}} shown first - s_{{}} shown first) / 2, {_SIGN}"
_BESIDE = f"mean of (s_here - s_there) / 2, {_SIGN}; here, there: the words stand beside the first, the second"
#: How each probe turns matched comparisons into its number.
_FORMULAS: Mapping[str, str] = {
    "order": "P(first wins in both orders) - P(second wins in both orders)",
    "letters": f"mean of (s_usual - s_exchanged) / 2, {_SIGN}; exchanged: the first is marked B",
    "identical": f"mean of s, {_SIGN}",
    "length": _ORDERS.format("padded", "short"),
    **dict.fromkeys(("authority", "bandwagon", "names"), _BESIDE),
    "anchor": "mean of (score after the high number - score after the low one) / 100",
}
_TIES = "a tie is 0; comparisons with an unreadable verdict are left out and counted"
_SCORES = "what is no number from 0 to 100 cannot be read; comparisons with such a score are left out and counted"
_ALL = (
    "It holds for the audit's questions (everyday ones, two short answers of about equal worth) and its prompt. "
    "Nothing shown is no proof of nothing: the card names the effect that would have been found. Where less than half "
    "of the comparisons can be read, or the judge does not tell an answer to the question from one to another "
    "question, nothing is said. Where all questions but a few say the same, the interval is too short; the p of sign "
    "flips is not."
)
_SHARE = "a tie is a verdict of its own; unreadable verdicts are left out and counted"
_T = "question-clustered t"
_SOURCE = "own definition"


def _effect(name: str) -> Estimand:
    """The number of one probe, in the words of its card."""
    probe = PROBES[name]
    return Estimand(
        probe.id,
        f"Probe on {probe.title}: {probe.number}. Asked: {probe.design}.",
        _FORMULAS[name],
        f"{probe.sides}: {'points' if name == 'anchor' else 'wins'} of the one less those of the other",
        "matched comparisons of which all can be read",
        _SCORES if name == "anchor" else _TIES,
        "question",
        f"{_T}; p: sign flips over questions, Holm over the {len(PROBES)} probes",
        _SOURCE,
        "pp",
        fails=f"{probe.limit[0].upper()}{probe.limit[1:]}. {_ALL}",
    )


_BESIDE_THEM = (
    Estimand(
        "repeat_disagreement",
        "How often the same prompt asked again brings another verdict: the judge's noise.",
        "P(another verdict | asked again)",
        "two askings with different verdicts",
        "two askings in the same order that can be read",
        _SHARE,
        "question",
        _T,
        _SOURCE,
        fails="Noise is no bias. A judge at temperature 0 repeats itself: its verdicts look surer than they are.",
    ),
    Estimand(
        "order_disagreement",
        "How often the other order names another winner.",
        "P(winners differ | the other order)",
        "pairs of orders with different winners",
        "pairs of orders that can be read",
        _SHARE,
        "question",
        _T,
        _SOURCE,
        fails="Noise flips verdicts too: excess_flip has what is beyond it, first_position_effect which place gains.",
    ),
    Estimand(
        "excess_flip",
        "How much more often the other order names another winner than the same order asked again.",
        "P(winners differ | the other order) - mean over orders of P(winners differ | the same order again)",
        "pairs of verdicts on one question that disagree, all pairs counted",
        "questions with two readable verdicts in each order",
        "a tie is a winner of its own; single unreadable verdicts are left out",
        "question",
        f"{_T}; one-sided p by dealing each question's verdicts anew to the two orders",
        _SOURCE,
        "pp",
        fails="It has no sign: it does not say which place the order favours. Not one of the tested probes.",
    ),
    Estimand(
        "identical_tie_share",
        "How often the judge says of two identical texts that they tie.",
        "P(tie | identical texts)",
        "ties",
        "readable verdicts on identical texts",
        "unreadable verdicts are left out and counted",
        "question",
        _T,
        _SOURCE,
        fails="A judge that calls everything a tie has the best value: quality_gap_accuracy stands beside it.",
    ),
    Estimand(
        "quality_gap_accuracy",
        "How often an answer to the question beats an answer to another question.",
        "P(the answer to the question wins)",
        "verdicts for the answer to the question",
        "readable verdicts on such pairs",
        "a tie is no win; unreadable verdicts are left out and counted",
        "question",
        f"Wilson where each question has one verdict, else {_T}",
        _SOURCE,
        fails="The difference is gross: it shows that a judge reads, not that it tells good answers from fair ones.",
    ),
)

#: The numbers on which the card rests, one a probe, in the order of PROBES.
HEADLINE = tuple(probe.id for probe in PROBES.values())
ESTIMANDS: Mapping[str, Estimand] = {each.id: each for each in (*map(_effect, PROBES), *_BESIDE_THEM)}
