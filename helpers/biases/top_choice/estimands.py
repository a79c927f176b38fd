"""What each number of experiments 1 and 2 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from helpers.types import Estimand

_QUESTION = "question"
_RATE_INTERVAL = "stratified question-clustered t (Wilson where each judge answers a question once)"
_INVALID = "no ties (a ranking is strict); judgments without a valid ranking are left out and counted per judge"
_PUBLISHED = "LLM-Eval, experiments 2 and 3 (AashiDutt/LLM-Eval)"


def _of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    interval: str = _RATE_INTERVAL,
    source: str = _PUBLISHED,
    unit: str = "rate",
) -> Estimand:
    return Estimand(id, words, formula, numerator, denominator, _INVALID, _QUESTION, interval, source, unit)


_SPREAD = "BCa over questions, shown with its noise floor"

ESTIMANDS = {
    each.id: each
    for each in (
        _of(
            "top1_rate",
            "How often a judge ranks a vendor's answer first.",
            "N_j(v) / N_j",
            "judgments of judge j that rank an answer of vendor v first",
            "valid judgments of judge j",
        ),
        _of(
            "vendor_share",
            "How often a vendor is ranked first by all judges together.",
            "N(v) / N",
            "judgments that rank an answer of vendor v first",
            "all valid judgments",
        ),
        _of(
            "self_bias",
            "How often a vendor's judges rank their own vendor first; quality and bias together.",
            "N_v(v) / N_v",
            "judgments by v's judges that rank v first",
            "valid judgments by v's judges, pooled",
        ),
        _of(
            "average_self_bias",
            "The mean of the vendors' own first-place rates.",
            "mean over v of N_v(v) / N_v",
            "see self_bias",
            "see self_bias",
        ),
        _of(
            "deviation_from_expected",
            "How far own first-place rates lie from the share that equal quality would give.",
            "mean over v of |N_v(v) / N_v - own candidates / candidates|",
            "see self_bias",
            "see self_bias",
            _SPREAD,
            unit="sd_pp",
        ),
        _of(
            "balance",
            "How unevenly first places fall on the vendors.",
            "population sd over v of N(v) / N",
            "see vendor_share",
            "see vendor_share",
            _SPREAD,
            unit="sd_pp",
        ),
        _of(
            "consistency_judges",
            "How much judges differ in their own first-place rates (the documented definition of Consistency).",
            "population sd over judges j of N_j(own) / N_j",
            "own-vendor first places of judge j",
            "valid judgments of judge j",
            _SPREAD,
            unit="sd_pp",
        ),
        _of(
            "consistency_vendors",
            "How much vendors differ in their own first-place rates (what was printed as Consistency).",
            "population sd over v of N_v(v) / N_v",
            "see self_bias",
            "see self_bias",
            _SPREAD,
            unit="sd_pp",
        ),
        _of(
            "category_top1_rate",
            "How often a vendor's judges rank a vendor first in one category.",
            "N_w,c(v) / N_w,c",
            "first places of v by w's judges in category c",
            "valid judgments of w's judges in category c",
        ),
        _of(
            "category_self_bias",
            "self_bias within one category.",
            "N_v,c(v) / N_v,c",
            "own first places of v's judges in category c",
            "valid judgments of v's judges in category c",
        ),
        _of(
            "category_average_self_bias",
            "average_self_bias within one category.",
            "mean over v of N_v,c(v) / N_v,c",
            "see category_self_bias",
            "see category_self_bias",
        ),
        _of(
            "tier_preference",
            "Of a vendor's first places, the share of each tier.",
            "N(v, t) / N(v)",
            "first places of v's model of tier t",
            "first places of vendor v",
        ),
        _of(
            "score_mean",
            "The mean score a candidate receives.",
            "mean of scores",
            "sum of scores (0 to 10)",
            "scores given",
            unit="score",
        ),
        _of(
            "bias_difference",
            "How much more often a judge ranks its vendor first than all other judges do on average.",
            "N_j(v) / N_j - mean over i != j of N_i(v) / N_i",
            "first places of v = vendor of j",
            "valid judgments of each judge",
            unit="pp",
        ),
        _of(
            "excess_self_preference",
            "How much more often a vendor's judges rank it first than other vendors' judges do on the same answers.",
            "N_v(v) / N_v - N_others(v) / N_others",
            "first places of v",
            "valid judgments of v's judges, and of all others",
            "stratified question-clustered t of the paired difference (published counts: Newcombe)",
            "own definition; descriptive: too small or large where the others prefer themselves",
            "pp",
        ),
        _of(
            "third_party_log_odds",
            "Self-preference against the third vendor, with votes of a judge for its own vendor's rivals left out.",
            "s_v = 1/2 sum over w != v of [ln N_v(v)/N_v(x) - ln N_w(v)/N_w(x)], x the third vendor",
            "first places",
            "first places of the third vendor",
            "question jackknife, t (published counts: delta method)",
            "own definition; valid only if all judges discriminate equally: unequal sharpness alone gives up to 70 % "
            "false positives",
            "logit",
        ),
        _of(
            "self_preference_logit",
            "How much being of the judge's own vendor raises an answer's utility, at equal quality and position.",
            "own_vendor_v + own_model * (share of the judge's own model among its own-vendor candidates) in "
            "U_jk = b_j quality_k + own_vendor + own_model + position",
            "full rankings",
            "judgments with a valid ranking",
            "sandwich clustered by question, t",
            "rank-ordered logit (Plackett 1975; McFadden 1974) with one scale a judge; primary estimator",
            "logit",
        ),
        _of(
            "self_preference_effect",
            "The same in percentage points: how much rarer own-vendor answers would be first without the preference.",
            "mean over judgments of v's judges of sum over own k of P(k first) - P(k first | own terms 0)",
            "full rankings",
            "judgments of v's judges",
            "delta method on the clustered sandwich, t",
            "own definition, average marginal effect",
            "pp",
        ),
        _of(
            "family_preference_logit",
            "Preference for other models of the judge's own vendor.",
            "own_vendor_v",
            "full rankings",
            "judgments with a valid ranking",
            "sandwich clustered by question, t",
            "own definition",
            "logit",
        ),
        _of(
            "own_model_logit",
            "What the judge's very own model gets beyond its siblings (pooled over vendors).",
            "own_model",
            "full rankings",
            "judgments with a valid ranking",
            "sandwich clustered by question, t",
            "own definition; own model = returned model ids of answer and judge agree",
            "logit",
        ),
        _of(
            "position_effect",
            "How much more often than 1 in k the answer shown in a slot is ranked first.",
            "N(slot s first) / N - 1/k",
            "judgments that rank the answer in slot s first",
            "all valid judgments",
            "stratified question-clustered t",
            "own definition; unbiased by design, as each candidate stands in each slot equally often",
            "pp",
        ),
        _of(
            "agreement_top1",
            "How far judges agree on the first place, beyond chance.",
            "Krippendorff's alpha, nominal",
            "pairs of judges",
            "questions",
            "bootstrap over questions",
            "Krippendorff 2004",
            "alpha",
        ),
        _of(
            "agreement_ranks",
            "How far judges agree on the ranks, beyond chance.",
            "Krippendorff's alpha, ordinal",
            "pairs of judges",
            "question x candidate",
            "bootstrap over questions",
            "Krippendorff 2004",
            "alpha",
        ),
        _of(
            "raw_agreement",
            "How often two judges put the same answer first.",
            "share of judge pairs with the same first place",
            "agreeing pairs of judges",
            "pairs of judges on a question",
            "question-clustered t",
            "own definition",
        ),
        _of(
            "unreadable_share",
            "How many of a judge's replies hold no valid verdict.",
            "(N - valid) / N",
            "judgments without a verdict",
            "all judgments",
            "Wilson",
            "own definition",
        ),
    )
}
