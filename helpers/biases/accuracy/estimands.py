"""What each number on accuracy and on people means, and where it misleads."""

from __future__ import annotations

from helpers.types import Estimand

T = "question-clustered t"
_STRATIFIED = f"{T}, stratified by category"
_BCA = "BCa over questions"
_MILLER = "clusters: Miller 2024 (arXiv 2411.00640)"
_ZHENG = "Zheng et al. 2023 (arXiv 2306.05685), table 5; clusters: Miller 2024"
_ALPHA = "Krippendorff 2004, nominal; interval: Efron 1987"
_LEFT_OUT = "a tie is wrong unless the gold says tie; unreadable verdicts are left out (gold_unreadable_share)"
_VOTES = (
    "votes all: a tie is a verdict, and so is an inconsistent verdict of two orders; consistent: inconsistent verdicts "
    "left out; decisive: whatever met a tie left out; unreadable verdicts left out (vote_unreadable_share)"
)
_COMMON = (
    "high agreement is no absence of bias: judge and people may share a taste, for length say, and the people may be "
    "few, paid or the authors themselves"
)


def _of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    lost: str,
    fails: str,
    interval: str = T,
    source: str = _MILLER,
    unit: str = "rate",
) -> Estimand:
    said = f"{fails[0].upper()}{fails[1:]}."
    return Estimand(id, words, formula, numerator, denominator, lost, "question", interval, source, unit, fails=said)


_GOLD = (
    _of(
        "gold_accuracy",
        "How often a judge is right, of its verdicts that can be read.",
        "N(right) / N(readable)",
        "verdicts that are the gold's",
        "readable verdicts",
        _LEFT_OUT,
        "the gold is somebody's opinion; a judge that stays unreadable on hard questions looks better than it is "
        "(gold_accuracy_of_all), and chance is 50 % only where one of two answers must be named",
        _STRATIFIED,
    ),
    _of(
        "gold_accuracy_of_all",
        "How often a judge is right if what cannot be read is wrong: the least it can be.",
        "N(right) / N",
        "verdicts that are the gold's",
        "all verdicts",
        "unreadable verdicts count as wrong",
        "replies lost to a failed call or a filter say nothing on the judge's skill, and count here all the same",
        _STRATIFIED,
    ),
    _of(
        "gold_unreadable_share",
        "How many verdicts with a gold cannot be read.",
        "N(unreadable) / N",
        "unreadable verdicts",
        "all verdicts",
        "is it",
        "tells how many are lost, not which: losses on hard questions flatter the accuracy",
        _STRATIFIED,
    ),
    _of(
        "gold_accuracy_by_category",
        "How often a judge is right in one category.",
        "N(right) / N(readable)",
        "verdicts that are the gold's",
        "readable verdicts of the category",
        _LEFT_OUT,
        "many categories of many judges are many chances: read it with a correction, and none below 10 questions",
    ),
    _of(
        "gold_accuracy_difference",
        "How much more often one judge is right than another on the same questions.",
        "P(right | judge) - P(right | other)",
        "right verdicts of the one less those of the other, in shares",
        "readable verdicts of each, on questions where both have one",
        _LEFT_OUT,
        "judges that lose different verdicts are not compared on the same ones (gold_unreadable_share); labels of a "
        "kind that one of them was trained on favour it; a null is no proof of equal skill",
        _STRATIFIED,
        unit="pp",
    ),
    _of(
        "gold_accuracy_as_printed",
        "How often a judge is right where the source counts verdicts that cannot be read as ties.",
        "N(right, unreadable as tie) / N",
        "verdicts that are the gold's",
        "all verdicts",
        "unreadable verdicts count as ties, as the source counts them",
        "a judge gets points for garbage wherever the gold is a tie",
        source="WeOpenML/PandaLM, data/compute_metrics.py",
    ),
)

_VOTED = (
    _of(
        "human_agreement",
        "How often a judge says what a person says of the same two answers.",
        "N(judge = vote) / N(judge, vote)",
        "votes that are the judge's verdict",
        "votes on pairs that the judge judged",
        _VOTES,
        f"{_COMMON}; leaving ties out raises it for everybody, and its most is what people reach among themselves",
        source=_ZHENG,
    ),
    _of(
        "human_agreement_of_all",
        "How often a judge says what a person says, an unreadable verdict agreeing with nobody.",
        "N(judge = vote) / N(vote)",
        "votes that are the judge's verdict",
        "votes on pairs that the judge was asked about",
        "unreadable verdicts agree with no vote; ties and inconsistent verdicts as under votes all",
        f"{_COMMON}; a failed call counts as disagreement",
    ),
    _of(
        "human_human_agreement",
        "How often two different people say the same of the same two answers.",
        "N(vote = other vote) / N(vote, other vote)",
        "two votes that are equal",
        "two votes of different people on one pair",
        "votes all: a tie is a verdict; decisive: both named a winner",
        "only pairs with two votes or more speak, which need not be like the rest; where pairs on which people fell "
        "out were dropped, as in PandaLM, it says nothing on people",
        source=_ZHENG,
    ),
    _of(
        "agreement_gap",
        "How much more often a judge says what a person says than another person does; on the same votes where all "
        "count, on partly other ones where ties are left out.",
        "P(judge = vote) - P(other person = vote)",
        "agreements of the judge less those of other people, in shares",
        "votes on pairs with two people or more, each counted as often as others voted on its pair",
        _VOTES,
        f"{_COMMON}; a judge that answers what most people answer agrees with each of them more than they do among "
        "themselves, without being better than any",
        unit="pp",
    ),
    _of(
        "human_alpha",
        "How far a judge agrees with people beyond chance.",
        "1 - observed / expected disagreement",
        "disagreeing comparisons of judge and vote",
        "disagreement expected of two raters with these verdicts",
        "nominal: first, tie and second are three verdicts; inconsistent verdicts are ties; unreadable ones left out",
        f"{_COMMON}; undefined where one verdict alone is given, and low where nearly all verdicts are the same",
        _BCA,
        _ALPHA,
        "alpha",
    ),
    _of(
        "human_human_alpha",
        "How far two people agree beyond chance.",
        "1 - observed / expected disagreement",
        "disagreeing pairs of votes",
        "disagreement expected of two raters with these votes",
        "nominal: first, tie and second are three verdicts",
        "only pairs with two votes or more speak; low where nearly all votes are the same",
        _BCA,
        _ALPHA,
        "alpha",
    ),
    _of(
        "vote_unreadable_share",
        "How many of a judge's verdicts on pairs that people voted on cannot be read.",
        "N(unreadable) / N",
        "unreadable verdicts",
        "all verdicts",
        "is it; an inconsistent verdict is readable",
        "tells how many are lost, not which",
        "none: counted",
    ),
    _of(
        "labelled_share",
        "How many of the comparisons that a judge judged have a person's vote (pair: which two models).",
        "N(voted on) / N",
        "comparisons with a vote",
        "comparisons",
        "a comparison is a question's two answers in one turn",
        "says whether labels are spread evenly, not whether they were drawn at random: that only who labelled knows",
        "none: counted",
        "own definition",
    ),
)

_PPI = "Angelopoulos et al. 2023 (Science 382:669; PPI++: arXiv 2311.01453); clusters: Miller 2024"
_CORRECTED = (
    _of(
        "people_rate",
        "How often people would say yes of all items: the judge's share, corrected by the labels of a random sample.",
        "mean(label) + w (mean(judge, unlabelled) - mean(judge, labelled))",
        "labels of the sample, and the judge's verdicts on all items",
        "items with a verdict of the judge",
        "unreadable verdicts are left out with their labels",
        "holds only if the labelled items were drawn at random from those estimated: labels of easy items leave the "
        "judge's errors in it, and nothing in the data need show it",
        "prediction-powered question-clustered t",
        _PPI,
    ),
    _of(
        "people_rate_labels",
        "How often people say yes of the labelled items.",
        "mean(label)",
        "labels that say yes",
        "labels",
        "unreadable verdicts are left out with their labels",
        "speaks for all items only if the labelled ones were drawn at random",
    ),
    _of(
        "people_rate_judge",
        "How often the judge says yes of all items, corrected by nothing.",
        "mean(judge)",
        "verdicts that say yes",
        "verdicts that can be read",
        "unreadable verdicts are left out",
        "is what the judge says, with its errors; a narrow interval about the wrong number",
    ),
)

ESTIMANDS: dict[str, Estimand] = {each.id: each for each in (*_GOLD, *_VOTED, *_CORRECTED)}
