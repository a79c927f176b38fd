"""What the numbers mean that only a file of verdicts of one's own has; all others are those of the experiments."""

from __future__ import annotations

from helpers.stats.numbering import COPIES
from helpers.types import Estimand

T = "question-clustered t (Wilson where each question has one)"
_OWN = "own definition; clusters: Miller 2024 (arXiv 2411.00640)"
_LOST = "ties count half; unreadable verdicts are left out and counted (unreadable_share)"
_FIT = "t of the joint fit, question-clustered CR2, Bell-McCaffrey df"
_FAILS = (
    "Two vendors without a judge or an answer of a third: only the sum is identified, nobody is called partial. Where "
    "little tells how sharp judges are (two judges; one answer a question; a judge that follows the place), the error "
    "takes any sharpness from 0 to twice the average for possible: only large effects are found. Of pairs, judges "
    "that saw one order only are left out where others saw both. A taste of a vendor's judges for what its answers are "
    "like (length) counts as preference."
)
_DESCRIBED = "Descriptive, never a finding: "
_QUALITY = f"Quality and taste together: where the candidates differ in quality it is no bias.{COPIES}"


def _of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    fails: str,
    lost: str = _LOST,
    interval: str = T,
    unit: str = "rate",
    source: str = _OWN,
) -> Estimand:
    return Estimand(id, words, formula, numerator, denominator, lost, "question", interval, source, unit, fails=fails)


_EVERY = (
    _of(
        "unreadable_share",
        "How many of a judge's verdicts could not be read (by condition, where there are several).",
        "N(unreadable) / N",
        "verdicts that say nothing that can be read",
        "all verdicts, read or not",
        "Says nothing of why they were lost; verdicts lost because of what they would have said bias every other "
        "number.",
        "is it",
    ),
)
PAIRS = (
    _of(
        "first_place_share",
        "How often the answer shown first wins, of single verdicts that name a winner.",
        "N(first wins) / N(decisive)",
        "verdicts for the first",
        "decisive verdicts whose order is known",
        "Place and quality together, unless who stands first was drawn by lot or every pair was shown in both orders.",
        "ties and unreadable verdicts are left out",
    ),
    _of(
        "candidate_win_rate",
        "How often a candidate beats whoever it is compared with, in all orders that were asked.",
        "mean of [win] + [tie] / 2",
        "verdicts for the candidate, ties half (or the shares that the file gives)",
        "readable verdicts on pairs with the candidate",
        _QUALITY + " Rates against different opponents do not compare.",
    ),
    _of(
        "longer_win_rate",
        "How often the longer answer wins, of verdicts that name a winner.",
        "N(longer wins) / N(decisive, lengths differ)",
        "verdicts for the longer answer",
        "decisive verdicts on answers of different length",
        "Length and quality together: longer answers may be better ones.",
        "ties, unreadable verdicts and equal lengths are left out",
    ),
    _of(
        "first_place_score_effect",
        "How much higher the answer shown first is scored than the one shown second, over both orders of a pair.",
        "mean of score(first) - score(second), pairs scored in both orders",
        "differences of the two scores of a pair",
        "pairs that a judge scored in both orders, each order once",
        "Quality cancels; a scale that ends (10 of 10) hides what the place is worth of the best and the worst.",
        "pairs with a score that could not be read in either order are left out and counted",
        unit="score",
    ),
    _of(
        "own_vendor_win_effect",
        "How much more often a vendor's judges let its answer win than quality, place and their sharpness explain.",
        "own_v of won - 1/2 = b_j (quality of both, question) + own_v + place_j + error, all judges in one fit",
        "verdicts, averaged over the orders of a judge and pair",
        "pairs of answers that a judge compared",
        _FAILS,
        unit="pp",
        interval=_FIT,
        source="own definition; Pustejovsky and Tipton 2018 (CR2)",
    ),
    _of(
        "own_vendor_win_agreed",
        "How often a vendor's answer wins, of pairs on which a judge names one winner in both orders, by whose judge.",
        "N(v's answer wins both) / N(one answer wins both), pairs with one answer of v",
        "pairs whose both orders v's answer wins",
        "pairs whose both orders one answer wins",
        _DESCRIBED + "which pairs agree depends on the judge and on how far the answers are apart.",
        "ties, unreadable verdicts and pairs whose orders differ are left out",
    ),
    _of(
        "own_vendor_win_excess",
        "How much more often a vendor's judges prefer its answer than other vendors' judges do on the same pairs.",
        "mean win of v's answer by v's judges - by other vendors' judges, pairs with one answer of v, judged by both",
        "verdicts for v's answer, ties half",
        "readable verdicts of either group on pairs that both judged",
        _DESCRIBED + "too small or large where the others prefer their own, and where judges differ in sharpness.",
        unit="pp",
        interval="question-clustered t of the paired difference",
    ),
    _of(
        "agreement_winners",
        "How far judges agree on who wins the same pair in the same order, beyond chance.",
        "Krippendorff's alpha, nominal (candidate, tie, baseline)",
        "pairs of verdicts that name the same winner",
        "question x pair x order judged by two or more",
        "Agreement is no evidence of fairness: judges can share a bias.",
        "a tie is a winner of its own; unreadable verdicts are left out",
        "BCa over questions",
        "alpha",
        "Krippendorff 2004",
    ),
    _of(
        "raw_agreement_winners",
        "How often two judges name the same winner of the same pair in the same order, chance included.",
        "N(pairs of verdicts that agree) / N(pairs of verdicts)",
        "pairs of verdicts that name the same winner",
        "pairs of verdicts by two judges on the same pair in the same order",
        "High where most pairs are won by one side, whatever judges do.",
        "a tie is a winner of its own; unreadable verdicts are left out",
    ),
)
RANKINGS = (
    _of(
        "candidate_top1_rate",
        "How often a judge ranks a candidate first.",
        "N_j(c first) / N_j",
        "judgments of j that rank c first",
        "valid judgments of j that were shown c",
        _QUALITY,
        "no ties (a ranking is strict); judgments without a valid ranking are left out and counted",
    ),
)
SCORES = (
    _of(
        "candidate_score_mean",
        "The mean score that a candidate is given, by all judges or by one.",
        "mean of scores",
        "scores",
        "scores that could be read",
        _QUALITY + " Judges use scales differently: compare candidates that the same judges scored.",
        "scores that could not be read are left out and counted",
        "question-clustered t",
        "score",
    ),
    _of(
        "own_vendor_score_effect",
        "How much higher a vendor's judges score its answers than quality, leniency and use of the scale explain.",
        "own_v of score = leniency_j + b_j (quality of answer) + own_v + question_j + error, all judges in one fit",
        "scores, averaged over repeats",
        "answers that a judge scored",
        _FAILS,
        "scores that could not be read are left out and counted",
        _FIT,
        "score",
        "own definition; Pustejovsky and Tipton 2018 (CR2)",
    ),
    _of(
        "own_vendor_score_excess",
        "How much higher a vendor's judges score its answers than others do, less what they do to everybody's.",
        "(own judges - other judges on v's answers) - (own judges - other judges on other answers)",
        "scores of answers that both groups scored",
        "scores of either group",
        _DESCRIBED
        + "leniency is taken out; a shared taste, others who favour their own, and how far judges use the scale "
        "are not.",
        "scores that could not be read are left out and counted",
        "question-clustered t of the paired difference",
        "score",
    ),
    _of(
        "score_error",
        "How far above the true score a judge's scores lie on average.",
        "mean of score - gold",
        "score less gold",
        "scores that could be read and have a gold score",
        "Errors in both directions cancel: 0 does not mean right.",
        "scores that could not be read are left out and counted",
        "question-clustered t",
        "score",
    ),
    _of(
        "agreement_scores",
        "How far judges agree on the scores of the same answers, beyond chance.",
        "Krippendorff's alpha, ordinal",
        "squared differences of scores by order",
        "answers scored by two or more judges",
        "Agreement is no evidence of fairness; a judge that uses one score only makes it undefined.",
        "scores that could not be read are left out and counted",
        "BCa over questions",
        "alpha",
        "Krippendorff 2004",
    ),
)

#: All estimands of this room by id.
ESTIMANDS = {each.id: each for each in (*_EVERY, *PAIRS, *RANKINGS, *SCORES)}
