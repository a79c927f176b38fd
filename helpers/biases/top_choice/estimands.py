"""What each number of experiments 1 and 2 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from helpers.types import Estimand

_QUESTION = "question"
_RATE_INTERVAL = "stratified question-clustered t (Wilson where each judge answers a question once)"
_INVALID = "no ties (a ranking is strict); judgments without a valid ranking are left out and counted per judge"
_PUBLISHED = "LLM-Eval, experiments 2 and 3 (AashiDutt/LLM-Eval)"


def of(
    id: str,
    words: str,
    formula: str,
    numerator: str,
    denominator: str,
    interval: str = _RATE_INTERVAL,
    source: str = _PUBLISHED,
    unit: str = "rate",
) -> Estimand:
    """An estimand of this experiment: clustered by question, rankings without ties, invalid ones counted apart."""
    return Estimand(id, words, formula, numerator, denominator, _INVALID, _QUESTION, interval, source, unit)


_SPREAD = "BCa over questions, shown with its noise floor"

MEASURED = (
    of(
        "top1_rate",
        "How often a judge ranks a vendor's answer first.",
        "N_j(v) / N_j",
        "judgments of judge j that rank an answer of vendor v first",
        "valid judgments of judge j",
    ),
    of(
        "vendor_share",
        "How often a vendor is ranked first by all judges together.",
        "N(v) / N",
        "judgments that rank an answer of vendor v first",
        "all valid judgments",
    ),
    of(
        "self_bias",
        "How often a vendor's judges rank their own vendor first; quality and bias together.",
        "N_v(v) / N_v",
        "judgments by v's judges that rank v first",
        "valid judgments by v's judges, pooled",
    ),
    of(
        "naive_self_preference",
        "How far a vendor's own first-place rate lies above an equal share: quality and bias together.",
        "N_v(v) / N_v - own candidates / candidates",
        "see self_bias",
        "see self_bias",
        unit="pp",
    ),
    of(
        "average_self_bias",
        "The mean of the vendors' own first-place rates.",
        "mean over v of N_v(v) / N_v",
        "see self_bias",
        "see self_bias",
    ),
    of(
        "deviation_from_expected",
        "How far own first-place rates lie from the share that equal quality would give.",
        "mean over v of |N_v(v) / N_v - own candidates / candidates|",
        "see self_bias",
        "see self_bias",
        _SPREAD,
        unit="sd_pp",
    ),
    of(
        "balance",
        "How unevenly first places fall on the vendors.",
        "population sd over v of N(v) / N",
        "see vendor_share",
        "see vendor_share",
        _SPREAD,
        unit="sd_pp",
    ),
    of(
        "consistency_judges",
        "How much judges differ in their own first-place rates (the documented definition of Consistency).",
        "population sd over judges j of N_j(own) / N_j",
        "own-vendor first places of judge j",
        "valid judgments of judge j",
        _SPREAD,
        unit="sd_pp",
    ),
    of(
        "consistency_vendors",
        "How much vendors differ in their own first-place rates (what was printed as Consistency).",
        "population sd over v of N_v(v) / N_v",
        "see self_bias",
        "see self_bias",
        _SPREAD,
        unit="sd_pp",
    ),
    of(
        "category_top1_rate",
        "How often a vendor's judges rank a vendor first in one category.",
        "N_w,c(v) / N_w,c",
        "first places of v by w's judges in category c",
        "valid judgments of w's judges in category c",
    ),
    of(
        "category_self_bias",
        "self_bias within one category.",
        "N_v,c(v) / N_v,c",
        "own first places of v's judges in category c",
        "valid judgments of v's judges in category c",
    ),
    of(
        "category_average_self_bias",
        "average_self_bias within one category.",
        "mean over v of N_v,c(v) / N_v,c",
        "see category_self_bias",
        "see category_self_bias",
    ),
    of(
        "tier_preference",
        "Of a vendor's first places, the share of each tier.",
        "N(v, t) / N(v)",
        "first places of v's model of tier t",
        "first places of vendor v",
    ),
    of(
        "score_mean",
        "The mean score a candidate receives.",
        "mean of scores",
        "sum of scores (0 to 10)",
        "scores given",
        unit="score",
    ),
    of(
        "bias_difference",
        "How much more often a judge ranks its vendor first than all other judges do on average.",
        "N_j(v) / N_j - mean over i != j of N_i(v) / N_i",
        "first places of v = vendor of j",
        "valid judgments of each judge",
        unit="pp",
    ),
    of(
        "pilot_bias_difference",
        "bias_difference in the published pilot (5 questions, 3 judges, one a vendor).",
        "N_j(v) / N_j - mean over i != j of N_i(v) / N_i",
        "first places of v = vendor of j",
        "verdicts of each judge",
        "none: 5 questions",
        "LLM-Eval, experiment 1 (AashiDutt/LLM-Eval)",
        "pp",
    ),
)
