"""What each number of experiments 1 and 2 means: declared once, printed in tables, explained on request."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.biases.top_choice.fails import FAILS
from helpers.types import Estimand

_QUESTION = "question"
_COUNTS = "published counts: Wilson, votes taken as independent"
_T = "stratified question-clustered t"
_RATE_INTERVAL = f"{_T} ({_COUNTS})"
_CELL_INTERVAL = f"question-clustered t ({_COUNTS})"
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
    fails: Mapping[str, str] = FAILS,
) -> Estimand:
    """An estimand of this experiment: clustered by question, rankings without ties, invalid ones counted apart."""
    facts = (words, formula, numerator, denominator, _INVALID, _QUESTION, interval, source, unit)
    return Estimand(id, *facts, fails=fails[id])


_SPREAD = "BCa over questions, shown with its noise floor (published counts: none)"
#: What each metric of spread is moved to where nothing is uneven.
_CENTRES = {
    "deviation_from_expected": "the expected shares",
    "balance": "their common mean",
    "consistency_judges": "their common mean",
    "consistency_vendors": "their common mean",
}

MEASURED = (
    of(
        "top1_rate",
        "How often a judge ranks a vendor's answer first.",
        "N_j(v) / N_j",
        "judgments of judge j that rank an answer of vendor v first",
        "valid judgments of judge j",
        f"Wilson where the judge answers a question once, else {_T}; published counts: Wilson",
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
        f"{_T} (published counts: normal, votes taken as independent)",
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
    *(
        of(
            f"{id}_noise_floor",
            f"What {id} would read on average with this run's noise if all rates were {centre}.",
            f"mean of {id} over resamples of questions, rates moved to {centre}",
            f"see {id}",
            f"see {id}",
            "none: a mean over resamples",
            "own definition",
            "sd_pp",
        )
        for id, centre in _CENTRES.items()
    ),
    *(
        of(
            f"{id}_corrected",
            f"{id} less what resampling says that noise adds to it.",
            f"2 {id} - mean of {id} over resamples of questions",
            f"see {id}",
            f"see {id}",
            "none: a corrected value",
            "own definition; bootstrap correction of bias: Efron 1987",
            "sd_pp",
        )
        for id in _CENTRES
    ),
    of(
        "category_top1_rate",
        "How often a vendor's judges rank a vendor first in one category.",
        "N_w,c(v) / N_w,c",
        "first places of v by w's judges in category c",
        "valid judgments of w's judges in category c",
        _CELL_INTERVAL,
    ),
    of(
        "category_self_bias",
        "self_bias within one category.",
        "N_v,c(v) / N_v,c",
        "own first places of v's judges in category c",
        "valid judgments of v's judges in category c",
        _CELL_INTERVAL,
    ),
    of(
        "category_average_self_bias",
        "average_self_bias within one category.",
        "mean over v of N_v,c(v) / N_v,c",
        "see category_self_bias",
        "see category_self_bias",
        "question-clustered t (published counts: none)",
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
        "scores of judgments with a valid ranking",
        f"{_T} (published: t over one judge's questions)",
        unit="score",
    ),
    of(
        "bias_difference",
        "How much more often a judge ranks its vendor first than all other judges do on average.",
        "N_j(v) / N_j - mean over i != j of N_i(v) / N_i",
        "first places of v = vendor of j",
        "valid judgments of each judge",
        f"{_T} of the difference (published counts: none)",
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
