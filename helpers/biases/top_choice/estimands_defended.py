"""What each number that we defend means (the published metrics: `estimands.py`)."""

from __future__ import annotations

from helpers.biases.top_choice.estimands import MEASURED, of

DEFENDED = (
    of(
        "excess_self_preference",
        "How much more often a vendor's judges rank it first than other vendors' judges do on the same answers.",
        "N_v(v) / N_v - N_others(v) / N_others",
        "first places of v",
        "valid judgments of v's judges, and of all others",
        "stratified question-clustered t of the paired difference (published counts: Newcombe)",
        "own definition; descriptive: too small or large where the others prefer themselves",
        "pp",
    ),
    of(
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
    of(
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
    of(
        "self_preference_effect",
        "The same in percentage points: how much rarer own-vendor answers would be first without the preference.",
        "mean over judgments of v's judges of sum over own k of P(k first) - P(k first | own terms 0)",
        "full rankings",
        "judgments of v's judges",
        "delta method on the clustered sandwich, t",
        "own definition, average marginal effect",
        "pp",
    ),
    of(
        "family_preference_logit",
        "Preference for other models of the judge's own vendor.",
        "own_vendor_v",
        "full rankings",
        "judgments with a valid ranking",
        "sandwich clustered by question, t",
        "own definition",
        "logit",
    ),
    of(
        "own_model_logit",
        "What the judge's very own model gets beyond its siblings (pooled over vendors).",
        "own_model",
        "full rankings",
        "judgments with a valid ranking",
        "sandwich clustered by question, t",
        "own definition; own model = returned model ids of answer and judge agree",
        "logit",
    ),
    of(
        "position_effect",
        "How much more often than 1 in k the answer shown in a slot is ranked first.",
        "N(slot s first) / N - 1/k",
        "judgments that rank the answer in slot s first",
        "all valid judgments",
        "stratified question-clustered t",
        "own definition; free of quality where each candidate stands in each slot equally often and losses are few",
        "pp",
    ),
    of(
        "agreement_top1",
        "How far judges agree on the first place, beyond chance.",
        "Krippendorff's alpha, nominal",
        "pairs of judges",
        "questions",
        "bootstrap over questions",
        "Krippendorff 2004",
        "alpha",
    ),
    of(
        "agreement_ranks",
        "How far judges agree on the ranks, beyond chance.",
        "Krippendorff's alpha, ordinal",
        "pairs of judges",
        "question x candidate",
        "bootstrap over questions",
        "Krippendorff 2004",
        "alpha",
    ),
    of(
        "raw_agreement",
        "How often two judges put the same answer first.",
        "share of judge pairs with the same first place",
        "agreeing pairs of judges",
        "pairs of judges on a question",
        "question-clustered t",
        "own definition",
    ),
    of(
        "unreadable_share",
        "How many of a judge's replies hold no valid verdict.",
        "(N - valid) / N",
        "judgments without a verdict",
        "all judgments",
        "Wilson",
        "own definition",
    ),
)

#: All estimands of experiment 1 by id.
ESTIMANDS = {each.id: each for each in (*MEASURED, *DEFENDED)}
