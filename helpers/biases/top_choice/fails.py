"""Where each number of experiment 1 fails or misleads: what it takes for the bias, and when it has no value.

Rates of wrong rejections are of simulated worlds of 80 questions and six judges in which nobody is partial, unless said
otherwise; a test holds those that stand in `figures/overview/calibration.csv` to it.
"""

from __future__ import annotations

from collections.abc import Mapping

from helpers.stats.numbering import COPIES

_NOISE = "Above 0 by noise alone ({floor} pp at 80 questions where nothing is uneven)"
_CELL = (
    "A cell has few questions (10 in MT-Bench, the least that carry an interval), and there are many cells: some "
    "look large by chance. Quality and preference are one number."
)
_CORRECTED = "No interval. The correction is right on average only, and the result may fall below 0."
_FLOOR = (
    "An average over resamples, without an interval: a single run without any effect lies above it about half of "
    "the time. It takes the noise of this run for the true one."
)
_ALPHA = (
    "No evidence of fairness: judges who share a bias agree. It falls where nearly all answers tie, or one always "
    "wins, however good the judges are. First askings only; no value for one judge, or where one value alone was "
    "ever given."
)

FAILS: Mapping[str, str] = {
    "top1_rate": "Nothing but a rate: quality, place, sharpness of the judge and preference are in it together.",
    "vendor_share": (
        "No measure of merit: the judges are of the vendors that they judge, and what they prefer is in it."
    ),
    "self_bias": (
        "Quality and preference are one number: where nobody is partial and answers are unequally good, a test "
        "against an equal share rejects in 6 to 100 % of runs. Replies lost for what they picked move it: 10 % of "
        "own picks lost made it 2.2 pp too low. Published counts: votes on one question are not independent, as "
        "their interval takes them to be."
    ),
    "naive_self_preference": (
        "Takes every answer to be equally good: where nobody is partial and answers differ, it is called biased in "
        "6 to 100 % of runs. The naive reading, shown beside the defended ones."
    ),
    "average_self_bias": (
        "A preference in one vendor and a dislike in another cancel. Without any preference it is 1 / vendors only "
        "where every vendor has judges and all judges agree on how good answers are; unequal sharpness moves it. No "
        "value where a vendor's judges gave no valid ranking. Published counts take the votes as independent: their "
        "interval is then too wide (98.4 and 99.1 % covered instead of 95)."
    ),
    "deviation_from_expected": (
        f"{_NOISE.format(floor='3.2')}, and above it where answers differ in quality and nobody is partial. At 80 "
        "questions 1.1 pp too high; its interval covers 93.6 %, 90.7 % where questions differ twice as much."
    ),
    "balance": (
        f"{_NOISE.format(floor='2.5')}. Fair judges of unequal answers put some vendor first more often: they are no "
        "less uneven than partial ones."
    ),
    "consistency_judges": (
        f"{_NOISE.format(floor='4.6')}, and by unequal answers: judges of a better vendor have a higher own rate "
        "without any bias. It says nothing of whether a judge would answer alike again. No value for one judge "
        "alone."
    ),
    "consistency_vendors": (
        f"{_NOISE.format(floor='3.0')}, and by unequal answers. Printed under the name of the spread over judges, "
        "than which it is never larger where vendors have equally many judgments. No value for one vendor alone."
    ),
    **{f"{id}_noise_floor": _FLOOR for id in ("deviation_from_expected", "balance")},
    **{f"{id}_noise_floor": _FLOOR for id in ("consistency_judges", "consistency_vendors")},
    **{f"{id}_corrected": _CORRECTED for id in ("deviation_from_expected", "balance")},
    **{f"{id}_corrected": _CORRECTED for id in ("consistency_judges", "consistency_vendors")},
    "category_top1_rate": _CELL,
    "category_self_bias": _CELL,
    "category_average_self_bias": f"{_CELL} No value where a vendor's judges gave no valid ranking in the category.",
    "tier_preference": (
        "Says which answers are better, not who is partial; it is of first places of that vendor alone, so a vendor "
        "that is seldom first has a share of few."
    ),
    "score_mean": (
        "Judges use scales of their own, and the mean mixes their levels; own vendors' scores are in it. Scores "
        "that contradict the ranking are kept, those of invalid rankings left out."
    ),
    "bias_difference": (
        "The other judges include those of the same vendor, whose preference makes it smaller, and judges who "
        "prefer their own, which makes it larger. Compare excess_self_preference and self_preference_logit."
    ),
    "pilot_bias_difference": "Five questions and three judges carry neither an interval nor a conclusion.",
    "excess_self_preference": (
        "Biased where the judges it compares with prefer their own: fair judges of one vendor among such were "
        "accused in 65 % of runs, by 9.6 pp on average. Unequal sharpness moves it too. Needs judges of two vendors."
    )
    + COPIES,
    "third_party_log_odds": (
        "Valid only if all judges are equally sharp: at sharpness .6, 1.5 and .8 it rejects for the three vendors "
        "in 5, 50 and 6 % of runs, in 18, 100 and 6 % where answers of a vendor are equally good. Near-duplicate "
        "answers break it as well (it takes Luce's choice for granted). Needs three vendors, each with judges. "
        "Pulled towards 0 by what differs between questions: of a planted utility of 1.0 it shows 0.80 and 0.72. "
        "Where nobody is partial, unequal sharpness moved it by up to 0.38, and by 1.35 where answers are equally good."
    ),
    "self_preference_logit": (
        "Relative to the other judges: a liking that one vendor's judges share for a real merit that others miss "
        "counts as self-preference; only names dealt out at random or known right answers can tell. A taste for "
        "length does not, where lengths are known. Where each candidate always stood in one place, a vendor's habit of "
        "place counts too. Marginal: what differs between questions pulls it towards 0: of a planted utility of 0.8 "
        "0.27 to 0.39 are left in four hostile worlds, of 1.2 0.65 to 0.84. At 80 questions its mean is up to 0.058 "
        "off even that. On first places alone it misleads where siblings are alike and judges "
        "unequally sharp. No value for two vendors that both judge, or where the fit has no maximum (at 20 "
        "questions up to 6 % of runs). At unequal sharpness it rejects in 3, 2 and 2 % of runs; with one scale "
        "for all judges, in a smaller simulation, in 18, 91 and 7."
    )
    + COPIES,
    "self_preference_effect": (
        "All that self_preference_logit says; and it hangs on the answers: the same preference moves few first "
        "places where the own answer always or never wins, so two panels are not to be compared by it. No interval "
        "below 40 questions (at 16 a nominal 95 % held 86)."
    ),
    "family_preference_logit": (
        "A house style that its judges like is a family preference too. No value where judges saw no other model of "
        "their own vendor; own and other models are told apart by the model ids that providers return."
    ),
    "length_slope": (
        "A liking of length only as far as length differs from what else is good about an answer. What the texts' "
        "length goes with (lists, detail) is in it. No value where answers to a question are equally long."
    ),
    "explaining_length_slope": (
        "Linear in the slope, so far from the found slope it is a rough size. It says nothing of tastes other than "
        "that for length. No value where a steeper slope would raise the self-preference, as other parameters follow."
    ),
    "own_model_logit": (
        "One number for all vendors: a model that favours itself and one that does the opposite cancel. No value "
        "where no judge is itself a candidate (by returned model ids), or no judge has a sibling beside."
    ),
    "judge_sharpness_log": (
        "Relative to the panel and to what the panel agrees on: a judge of good but unusual taste looks dull. No "
        "value for one judge alone, or where too few answers tell how sharply a judge discriminates."
    ),
    "position_effect": (
        "Place and letter are one: the place shown first is always A. Quality is in it where candidates did not "
        "take each place equally often (its method then says so). Opposite habits of two judges cancel: it is the "
        "mean over them."
    ),
    "agreement_top1": _ALPHA,
    "agreement_ranks": _ALPHA,
    "raw_agreement": (
        "Agreement by chance is in it: among six answers two judges who guess agree in one case of six. No evidence "
        "of fairness. First askings only."
    ),
    "unreadable_share": (
        "Says how many were lost, not which: a small share biases every other number where replies are lost for "
        "what they would have picked."
    ),
}
