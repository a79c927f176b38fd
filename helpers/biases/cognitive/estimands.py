"""What each number of experiment 5 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from helpers.biases.cognitive.fails import FAILS
from helpers.types import Estimand

T = "scenario-clustered t, no interval below 10 scenarios"
BCA = "BCa over scenarios, no interval below 10"
SIGNS = f"{T}; p by sign flips over scenarios (judges, wordings and repeats together)"
_OWN = "own definition; clusters: Miller 2024 (arXiv 2411.00640)"
_SEED = "metrics of a notebook on the confidence of bias metrics; 0/0 counts 0 as there"
_MALBERG = "Malberg et al. 2024 (arXiv 2410.15413)"
_LOST = "pairs with an unreadable or missing reply are left out and counted (odd_share)"
_PAIRS = "pairs of a readable control and treatment"
_MEAN = " The mean over judges is over these judges alone, each counting the same."


def of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str = _PAIRS,
    interval: str = T,
    source: str = _OWN,
    unit: str = "score",
    lost: str = _LOST,
) -> Estimand:
    """An estimand of this experiment, clustered by scenario."""
    facts = (words, formula, numerator, denominator, lost, "scenario", interval, source, unit)
    return Estimand(id, *facts, fails=FAILS[id])


def _published(
    id: str,
    words: str,
    formula: str,
    weights: str = "",
    placebo: str = "a repeat of the control",
    undefined: str = "",
) -> list[Estimand]:
    """A published metric, and what goes with it; `undefined`: which count tells how many tests are 0/0, if any can."""
    lost = f"0/0 counts 0 ({undefined}_undefined); {_LOST}" if undefined else _LOST
    made = [of(id, words, formula, "individual values", f"{_PAIRS}{weights}", BCA, _SEED, lost=lost)]
    if not placebo:
        return made
    told = f"The same with {placebo} in the treatment's place: what is read where nothing was done."
    left = f"How much more {id} reads than its placebo, pair by pair: 0 on average where the treatment does nothing."
    three = "pairs whose control, treatment and placebo are readable"
    return [
        *made,
        of(f"{id}_placebo", told, formula, "individual values", f"{_PAIRS}{weights}", BCA, _OWN, lost=lost),
        of(f"{id}_excess", left, f"mean of [{id}] - [placebo]", "differences", f"{three}{weights}", SIGNS, lost=lost),
    ]


def _count(id: str, words: str, formula: str, numerator: str) -> Estimand:
    return of(id, words, formula, numerator, "1", "none: a count", unit="count")


_MOVED = "mean of |a2 - a1| / |farthest option - a1|"
_LEAN = "max(0, [a(p - c) + (1 - a)(c - p)] / (p + c))"
_SELECTED = "the control's selection"

ASKED = (
    of(
        "bias_effect",
        "How far the treatment moves the answer toward what the bias pulls to, as a share of the larger distance; + = "
        "toward. 0 on average by noise that is the same in control and treatment, whatever its shape; a treatment that "
        "only scatters answers more or less moves it (compare scale_shift). Halving the distance counts 1/2, doubling "
        "it -1/2." + _MEAN,
        "mean of (|a1 - t| - |a2 - t|) / max(|a1 - t|, |a2 - t|); t = the bias's target",
        "signed shares",
        f"{_PAIRS}, one of them off the target",
        f"{SIGNS}; Holm over all biases, each judge and the mean over judges",
        "own definition, after Malberg et al. 2024; sign flips: exchange of control and treatment",
        lost=f"0/0, and selections of nothing, are left out and counted (bias_effect_undefined); {_LOST}",
    ),
    _count("bias_effect_undefined", "How many readable pairs have no direction.", "N(0/0)", "pairs without direction"),
    of(
        "bias_placebo",
        "The effect of the control against its own next repeat, each two neighbours once: a check, never subtracted.",
        "bias_effect with the repeat in the treatment's place",
        "signed shares",
        "pairs of a readable control and its next repeat",
        lost=f"0/0 is left out; {_LOST}",
    ),
    of(
        "scale_shift",
        "How far the treatment moves the answer toward the target, in points of 100 of the scale; of gambles the "
        "difference of acceptance. 0 on average also where the treatment only scatters answers." + _MEAN,
        "mean of s (a2 - a1) / (highest option - lowest option); s = 1 or -1 where t is the highest or lowest option, "
        "else sign(t - a0), a0 = the control's next repeat",
        "signed moves",
        unit="pp",
    ),
    of(
        "scatter_change",
        "How much further apart two answers to the treatment lie than two to the control, in points of 100 of the "
        "scale." + _MEAN,
        "mean of (|next a2 - a2| - |next a1 - a1|) / (highest option - lowest option)",
        "differences of distances",
        "pairs of neighbouring repeats, all four replies readable",
        unit="pp",
    ),
    *_published("anchoring_agnostic", "How far the answer moves, in any direction, of what it could.", _MOVED),
    *_published(
        "anchoring_specific",
        "How much of the control's distance to the anchor the treatment takes away; moves away count 0.",
        "mean of max(0, (|a1 - a*| - |a2 - a*|) / |a1 - a*|), a* = option closest to the anchor",
        undefined="anchoring_specific",
    ),
    *_published("halo_effect", "How far the answer moves, in any direction, of what it could.", _MOVED),
    *_published(
        "loss_aversion",
        "How many gambles that gain more than they lose are refused in the treatment, small ratios counting most.",
        "1 - sum(a / ratio) / sum(1 / ratio)",
        " with a ratio above 1, weighted by 1 / ratio",
        "",
    ),
    *_published(
        "confirmation_bias",
        "How far the arguments selected lean to the side decided for; other leans count 0. Above 0 also for a model "
        "whose decision and selection follow the same merit: the control's selection then leans alike.",
        f"sum(N B) / sum(N), B = {_LEAN}",
        ", weighted by the number N of arguments",
        _SELECTED,
        "confirmation_bias",
    ),
    *_published(
        "confirmation_unweighted",
        "confirmation_bias without weights.",
        f"mean of {_LEAN}",
        "",
        _SELECTED,
        "confirmation_bias",
    ),
    of(
        "shift_sign",
        "Of the scenarios whose median answer moves, how many more move toward the target than away from it.",
        "(N toward - N away) / (N toward + N away), by the median of treatments less that of controls",
        "scenarios toward less away",
        "scenarios whose median moves",
        "none; p by the exact sign test",
        "sign test",
    ),
    of(
        "place_share",
        "How often a judge takes its most frequent place in the list of options, from either end; above 0.8, and above "
        "the share of its most frequent option, it answers by place: nothing else is computed of it.",
        "max over places N(place) / N",
        "replies with that place",
        "readable replies that pick some of the options and not all",
        "none: a check",
        unit="rate",
    ),
    of(
        "letter_share",
        "The same of the letters of options.",
        "max over letters N(letter) / N",
        "replies with that letter",
        "readable replies that pick some of the options and not all",
        "none: a check",
        unit="rate",
    ),
    *(
        _count(f"{id}_undefined", f"How many tests count 0 in {id} because they are 0/0.", "N(0/0)", "such tests")
        for id in ("anchoring_specific", "confirmation_bias")
    ),
    *(
        _count(
            f"{id}_effective", f"How many equal weights would be as precise as those of {id}.", "(sum w)² / sum w²", "w"
        )
        for id in ("loss_aversion", "confirmation_bias")
    ),
    of(
        "ratio_scale",
        "The published metric of thirty biases: how much nearer to a point than the control the answer is; a step "
        "counts more the nearer it lies to the point.",
        "mean of B = k (|a1 - x1| - |a2 - x2|) / max(|a1 - x1|, |a2 - x2|) on option indices",
        "individual B",
        source=_MALBERG,
        lost=f"0/0 counts 0 as published; {_LOST}",
    ),
    of(
        "ratio_scale_absolute",
        "The mean size of the published metric: above 0 by noise alone (compare ratio_scale_random).",
        "mean of |B|",
        "individual |B|",
        interval=BCA,
        source=_MALBERG,
        lost=f"0/0 counts 0 as published; {_LOST}",
    ),
    of(
        "ratio_scale_random",
        "The mean |B| of somebody who picks every option with the same chance.",
        "mean of |B| over all pairs of options",
        "|B|",
        "all pairs of options, with the parameters of the pairs at hand",
        "none: exact",
        _MALBERG,
        lost="nothing is lost",
    ),
    of(
        "acceptance_rate",
        "How often a gamble of this ratio of gain to loss is accepted, by condition." + _MEAN,
        "P(accept | ratio, condition)",
        "gambles accepted",
        unit="rate",
    ),
    of(
        "acceptance_threshold",
        "The log ratio of gain to loss at which half of the gambles are accepted, by condition." + _MEAN,
        "-intercept / slope of a logistic regression of acceptance on the log ratio",
        "acceptance",
        interval=f"scenario-clustered sandwich, delta method, {T}; in simulations of 24 scenarios it held 93 to 97 %, "
        "and the threshold lay up to 0.01 off",
        source="logistic regression; Liang and Zeger 1986",
        unit="log",
        lost=f"no number where the curve is flat, separated, or crosses one half beyond the ratios asked; {_LOST}",
    ),
    of(
        "threshold_ratio",
        "The log of the factor by which a possible loss raises the ratio asked for: loss aversion beyond risk." + _MEAN,
        "threshold of the treatment - threshold of the control",
        "acceptance",
        interval="joint scenario-clustered sandwich, delta method, t",
        source="logistic regression; Liang and Zeger 1986",
        unit="log",
        lost="as acceptance_threshold: none where either has none",
    ),
    of(
        "anchor_slope",
        "The share of the way to the anchor that the answer goes." + _MEAN,
        "cov(a2 - a1, anchor - a0) / cov(anchor - a1, anchor - a0), a0 = the control's repeat (the plain slope on "
        "anchor - a1 is above 0 by noise alone)",
        "covariance of move and distance",
        "covariance of both distances",
        "scenario jackknife, t; of 24 scenarios it held 95 to 97 %, and the value lay up to 0.015 too high where "
        "anchors are hard to tell from answers",
        "instrumental variables; own definition",
        lost=f"no number where anchors lie too near to the answers, or without a repeat; {_LOST}",
    ),
    of(
        "odd_share",
        "How many replies hold no decision that can be read, by condition.",
        "N(outcome not ok) / N",
        "unreadable, refused, missing and undecided replies",
        "all replies asked for",
        unit="rate",
        lost="is it",
    ),
)
