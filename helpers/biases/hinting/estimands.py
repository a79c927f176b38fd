"""What each number of experiment 2 means, beside those of experiment 1 that it repeats for each group."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from helpers.biases.hinting.fails import FAILS, GROUPED
from helpers.biases.top_choice import estimands
from helpers.biases.top_choice.estimands_defended import ESTIMANDS as BLIND
from helpers.types import Estimand

of = partial(estimands.of, fails=FAILS)
_T = "stratified question-clustered t"
_PAIRED = f"{_T} of the paired difference; p by sign flips of questions"
_PAIRS = "question x judge x repeat with a valid ranking under the hint and blind"
_OWN = "own definition; statistics of paired, clustered comparisons: Miller 2024 (arXiv 2411.00640)"
_SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")
_GROUPED = (
    *("unreadable_share", "top1_rate", "vendor_share", "self_bias", "naive_self_preference"),
    *(
        "average_self_bias",
        *_SPREADS,
        *(f"{id}_{beside}" for id in _SPREADS for beside in ("noise_floor", "corrected")),
    ),
    *("category_average_self_bias", "category_self_bias"),
    "excess_self_preference",
)

HINTING = (
    of(
        "hint_effect",
        "How much more often a vendor's judges put their own vendor first when they are given a hint.",
        "mean over pairs of [own first | hint] - [own first | blind]; average: mean over vendors",
        "own first places under the hint minus blind",
        _PAIRS,
        _PAIRED,
        _OWN,
        "pp",
    ),
    of(
        "hint_effect_90",
        "The average effect of a hint with the interval that is held against the margin of equivalence.",
        "as hint_effect",
        "own first places under the hint minus blind",
        _PAIRS,
        "90 % question-clustered t; p of two one-sided tests (Schuirmann 1987)",
        _OWN,
        "pp",
    ),
    of(
        "hint_effect_bound",
        "What hint_effect would be if lost verdicts had all gone one way (bound: high, for the hint; low, against it).",
        "high: each verdict lost under the hint counts as own first, each lost blind as not; low: the reverse",
        "own first places under the hint minus blind",
        "question x judge x repeat asked under the hint and blind, of one returned model",
        _T,
        "worst-case bounds: Manski 1990",
        "pp",
    ),
    of(
        "loss_change",
        "How many more verdicts are lost under a hint than blind: where they are, the hint's effect may be theirs.",
        "share lost under the hint - share lost blind, same question, judge and repeat",
        "judgments without a valid ranking",
        "question x judge x repeat asked under the hint and blind",
        "question-clustered t; p by sign flips of questions, after Holm over the hints",
        _OWN,
        "pp",
    ),
    of(
        "category_hint_effect",
        "hint_effect on the average over vendors within one category (exploratory).",
        "as hint_effect",
        "own first places under the hint minus blind",
        _PAIRS,
        "question-clustered t",
        _OWN,
        "pp",
    ),
    of(
        "name_effect",
        "How much more often an answer is first when it is shown under the judge's own vendor's name.",
        "mean of [own-named answer first] / own-named answers - [other answer first] / other answers",
        "first places under names that were dealt out at random",
        "valid judgments of the arm `swapped`",
        "stratified question-clustered t; p by dealing the names anew, as they were (Fisher's randomisation test)",
        "own definition; a randomised contrast: no model of quality is needed",
        "pp",
    ),
    of(
        "name_effect_by_judge",
        "name_effect of one judge.",
        "as name_effect",
        "first places under names that were dealt out at random",
        "valid judgments of the judge in the arm `swapped`",
        "stratified question-clustered t; p by dealing the names anew, as they were (Fisher's randomisation test)",
        "own definition",
        "pp",
    ),
    of(
        "change_rate",
        "How often the first place differs between a hinted judgment and its blind partner.",
        "share of pairs with another first place",
        "pairs with another first place",
        _PAIRS,
        _T,
        _OWN,
    ),
    of(
        "change_rate_repeat",
        "How often the first place differs between two askings of the same judge under one condition.",
        "share of pairs with another first place",
        "pairs with another first place",
        "pairs of valid rankings of one question by one judge under one condition",
        _T,
        _OWN,
    ),
    of(
        "excess_change",
        "How much more often blind and hinted differ in the first place than two askings under one condition do.",
        "change_rate - (change_rate_repeat[none] + change_rate_repeat[hint]) / 2, the energy distance of the verdicts",
        "pairs with another first place",
        _PAIRS,
        f"{_T} of the difference",
        "own definition; energy distance: Szekely and Rizzo 2013",
        "pp",
    ),
    of(
        "spread_change",
        "How much a hint changes deviation, balance or consistency, questions paired.",
        "metric under the hint - metric blind",
        "see the metric",
        "see the metric",
        "BCa over questions at a level that holds for the confirmatory hints and all metrics together",
        _OWN,
        "pp",
    ),
    of(
        "group_gap",
        "How far the lowest (or highest) group of a metric or category lies from the mean of all groups.",
        "|mean over groups - min (max) over groups|",
        "see the metric",
        "see the metric",
        "none; p: the share of dealings of the groups with as wide a gap (exploratory)",
        _OWN,
        "sd_pp",
    ),
    of(
        "group_gap_by_chance",
        "How far the lowest (or highest) of as many groups lies from their mean by chance alone.",
        "mean of group_gap over dealings of the groups within each question (published counts: among all votes)",
        "see the metric",
        "see the metric",
        "the middle 95 % of the dealings; no confidence interval",
        _OWN,
        "sd_pp",
    ),
    of(
        "hint_change",
        "How far a published own rate under a hint lies from the blind one: a bare number.",
        "own rate under the hint - own rate blind",
        "own first places",
        "published judgments of the group",
        "none: the pairing of the groups is not published",
        unit="pp",
    ),
    of(
        "judgments",
        "How many judgments a published group holds.",
        "N",
        "judgments of the group",
        "1",
        "none: a count",
        unit="count",
    ),
    of(
        "is_lowest",
        "Whether a published group has the lowest value of a row, alone or with others (1 or 0).",
        "[value = min over groups]",
        "groups",
        "1",
        "none: the minimum of noisy numbers",
        unit="count",
    ),
    of(
        "is_highest",
        "Whether a published group has the highest value of a row, alone or with others (1 or 0).",
        "[value = max over groups]",
        "groups",
        "1",
        "none: the maximum of noisy numbers",
        unit="count",
    ),
    of(
        "lowest_groups",
        "How many published groups share the lowest value of a row.",
        "number of groups with value = min",
        "groups",
        "1",
        "none: a count",
        unit="count",
    ),
    of(
        "self_bias_as_counted",
        "self_bias with every judgment whose winner is known, whether or not its ranking is valid.",
        "N_v(v) / N_v",
        "winners of v's judges that are v's",
        "judgments of v's judges with a known winner",
        "Wilson",
    ),
    of(
        "lost_as_counted",
        "The share of a judge's judgments without a known winner.",
        "1 - N_j(winner known) / N_j",
        "judgments of judge j without a winner",
        "judgments of judge j",
        "Wilson",
    ),
)

ESTIMANDS: dict[str, Estimand] = {
    **{
        id: replace(
            BLIND[id], words=f"{BLIND[id].words} For each group of hints.", fails=f"{BLIND[id].fails} {GROUPED}"
        )
        for id in _GROUPED
    },
    **{each.id: each for each in HINTING},
}
