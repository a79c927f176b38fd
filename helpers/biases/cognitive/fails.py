"""Where each number of experiment 5 fails or misleads: what it takes for the bias, and when it has no value."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

_ABSOLUTE = (
    "Above 0 by noise alone: nothing done, and answers that scatter by a point of ten, read 0.17 to 0.18. Its "
    "placebo says how much here, its excess what is left."
)
_PLACEBO = "No bias at all: what noise alone reads. It needs the control asked twice and falls with the temperature."
_EXCESS = (
    "A treatment that only scatters answers more raises it without pulling them anywhere. It needs the control "
    "asked twice, and says how far, not toward what."
)
_LEAN = (
    "Above 0 also where decision and selection follow the same merit and being told the decision does nothing "
    "(above 0.2 in such a simulated world); its excess takes the control's selection off."
)
_LEAN_PLACEBO = (
    "Here the placebo is no repeat: it is what the model selected before it was told its decision, common merit "
    "included."
)
_LEAN_EXCESS = (
    "The model is told a side that it took itself: that it is told any decision at all may do part of it. Leans to "
    "the other side count 0, so that noise on both sides of 0 is cut unevenly. A test whose decision could not be "
    "read is left out."
)
_ZERO = "Nothing but a count; the tests in it count 0 in the published value, which they pull down."
_WEIGHTS = "Of weights alone: it says how few tests a weighted value rests on, nothing of their answers."
_FOUND = "Nothing but a count over published means, whose own uncertainty is not published."
_MADE_UP = "Computed of a notebook's made-up answers: it checks a formula and says nothing of any model."

FAILS: Mapping[str, str] = {
    "bias_effect": (
        "A treatment that only scatters answers more, or less, moves it: scale_shift has to agree before answers "
        "are said to move. A share of the larger distance: a small step near the target counts like a large one far "
        "away, and noise makes it smaller than the share of the way. It says that answers follow, not that they "
        "should not: most judges' choice, or an expert's word, can be evidence. A model that recognises the test "
        "may answer as it should. Pairs on the target twice have no direction and are left out."
    )
    + COPIES,
    "bias_effect_undefined": "Nothing but a count: pairs that say nothing, since neither answer is off the target.",
    "bias_placebo": (
        "A check, not a correction: 0 on average by its form, so a value off 0 says that control and repeat were "
        "not alike (drift, another model). It is never subtracted. Needs the control asked twice."
    ),
    "scale_shift": (
        "Answers near an end of the scale can be scattered only inwards: a treatment that scatters them half as much "
        "again shifts the mean for that alone, which 24 scenarios find in up to a half of runs. Where scatter_change "
        "is beyond its standard error, or not known, answers are said to move only where shift_sign agrees. Points of "
        "one bias's scale are not those of another's. Of anchors the side is told by the control's repeat; without one "
        "there is no value unless the anchor is an end of the scale. No p: the test is bias_effect's."
    ),
    "shift_sign": (
        "Counts scenarios, not how far: it finds less than scale_shift (of 24 scenarios 18 must go one way). Where the "
        "median itself lies at the end of the scale it is cut as well. Of two options scatter and mean are one thing: "
        "more noise moves acceptance toward one half, and no test can set that apart."
    ),
    "place_share": (
        "Says that answers follow a place, not why. Where options stand in one order (`option_order`: fixed) place and "
        "option are one, and no habit is found. A habit below 80 % passes: it adds noise, and no effect, as orders "
        "differ between control and treatment. A judge that answers by place on selections picks the same set."
    ),
    "letter_share": "As place_share; published files whose options have no letters have none.",
    "scatter_change": (
        "Says how sure answers are, not where they go. Near an end of the scale scatter is cut off. Needs control "
        "and treatment asked twice, at a temperature at which replies can differ."
    ),
    "anchoring_agnostic": _ABSOLUTE,
    "anchoring_agnostic_placebo": _PLACEBO,
    "anchoring_agnostic_excess": (
        f"{_EXCESS} A move away from the anchor counts as one toward it. The distance it is a share of is that to "
        "the farthest option, so answers in the middle of the scale show more than answers at its ends."
    ),
    "anchoring_specific": (
        f"{_ABSOLUTE} Control answers on the anchor are 0/0 and count 0, which pulls it down: in the seed notebook's "
        "example 0.5 is printed where the defined tests have 0.83."
    ),
    "anchoring_specific_placebo": _PLACEBO,
    "anchoring_specific_excess": (
        "Moves away from the anchor count 0, not less: more scatter raises it without any pull. Control answers "
        "near the anchor give large shares for small steps; those on it are 0/0 and count 0 on both sides. Needs "
        "the control asked twice."
    ),
    "halo_effect": _ABSOLUTE,
    "halo_effect_placebo": _PLACEBO,
    "halo_effect_excess": (
        f"{_EXCESS} A halo that lowers ratings counts as one that raises them; bias_effect has the direction."
    ),
    "loss_aversion": (
        "Refusing a fair gamble can be aversion to risk, to gambling, or a habit of saying no: threshold_ratio sets "
        "it against gambles without a loss. Weights 1 / ratio leave most to the ratios near 1 "
        "(loss_aversion_effective)."
    ),
    "confirmation_bias": f"{_LEAN} Long lists of arguments weigh most.",
    "confirmation_bias_placebo": _LEAN_PLACEBO,
    "confirmation_bias_excess": f"{_LEAN_EXCESS} Long lists of arguments weigh most.",
    "confirmation_unweighted": _LEAN,
    "confirmation_unweighted_placebo": _LEAN_PLACEBO,
    "confirmation_unweighted_excess": _LEAN_EXCESS,
    "anchoring_specific_undefined": _ZERO,
    "confirmation_bias_undefined": _ZERO,
    "loss_aversion_effective": _WEIGHTS,
    "confirmation_bias_effective": _WEIGHTS,
    "ratio_scale": (
        "A step near the point counts many times one far away (with x = 0 a step from the lowest option is a full "
        "1). Means over tests whose target changes sides cancel. 0/0 counts 0."
    ),
    "ratio_scale_absolute": (
        "No measure of bias: it is largest for answers at random (0.54 of the twenty published models) and above 0 "
        "by noise for anybody. Compare ratio_scale_random and the signed mean."
    ),
    "ratio_scale_random": (
        "Of answers that are all equally likely and independent: a model that never uses the ends of the scale "
        "scatters less, and is not less biased for that."
    ),
    "acceptance_rate": "A description by ratio and condition: few scenarios a ratio, no test, and risk is in it.",
    "acceptance_threshold": (
        "Aversion to risk, gambling or saying yes moves it as aversion to loss does; threshold_ratio compares. No "
        "value where acceptance does not rise with the ratio, where all or none accept, where a ratio parts answers "
        "without exception, or where half accept only beyond the ratios asked: models that are sure have none. It "
        "needs one slope for all scenarios of a judge."
    ),
    "threshold_ratio": (
        "Without a possible loss declining is a sure gain, with one it is to stay as one is: the pull of certainty "
        "and of staying is in the difference. No value where either curve has none, so that it is of models that "
        "waver; the mean over judges has none where one judge lacks it."
    ),
    "anchor_slope": (
        "Takes one share of the way for all scenarios: where pull differs with distance it is a weighted mean. "
        "Needs the control asked twice, repeats that share no noise with it, and anchors well away from answers; "
        "otherwise no value (on targets at the answers in over 90 % of runs), and that it is given only then makes "
        "it up to 0.015 too high. A model for which the anchor is information follows it with good reason."
    ),
    "odd_share": "Says how many were lost, not which; lost for what they would have said, they bias every number here.",
    "direction_share": (
        "Of means over models: directions that differ between models or tests cancel as noise does, so a low share "
        "is not shown to be noise. No interval: only means are published."
    ),
    "below_random": f"{_FOUND} Below what random answers give is no proof of fairness, above it none of bias.",
    "above_random": _FOUND,
    "impossible_means": f"{_FOUND} It says that printed numbers contradict each other, not which is wrong.",
    "confirmation_as_printed": f"{_MADE_UP} The printed formula has a sign error: the answer cancels out of it.",
    "anchoring_specific_raw": f"{_MADE_UP} An anchor that is no option can be left behind by no answer.",
}
