"""What goes into figures and tables: the stars that are left after correction, and the numbers of each table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from helpers.biases.cognitive.averages import LEVEL
from helpers.biases.cognitive.families import corrected, stands
from helpers.biases.cognitive.published_seed import METHOD, OWN_METHOD
from helpers.types import Estimate

#: In tables, of numbers that are means over the judges of the run (or hang on none of them).
ALL = "mean over judges"


def stars(estimates: Sequence[Estimate]) -> dict[tuple[str | None, ...], float]:
    """The corrected p of each bias_effect by bias and judge, the mean over judges under the judge None.

    NaN where the effect does not stand because answers do not move along the scale (`families.stands`): no star then.
    """
    shown = stands(estimates)
    return {
        at if len(at) > 1 else (*at, None): p if at in shown or not p < LEVEL else math.nan
        for at, p in corrected(estimates).items()
    }


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    told = {
        "effects": (
            "How far each bias moves answers toward what it pulls to, and what a repeated control shows.",
            ("bias_effect", "scale_shift", "shift_sign", "bias_placebo", "scatter_change"),
            ["id"],
        ),
        "published_metrics": (
            "The published metrics: as published, of the control asked again, and the difference.",
            _with_placebo("anchoring_agnostic", "anchoring_specific", "halo_effect"),
            ["id"],
        ),
        "confirmation": (
            "Confirmation bias as published, weighted and unweighted.",
            _with_placebo("confirmation_bias", "confirmation_unweighted"),
            ["id"],
        ),
        "gambles": (
            "Loss aversion: the published batch value, and the logarithm of the ratio at which half accept.",
            ("loss_aversion", "acceptance_threshold", "threshold_ratio"),
            ["id", "condition"],
        ),
        "ratio_scale": (
            "The published metric of thirty biases on these answers: mean, mean of absolute values, and what answers "
            "at random give.",
            ("ratio_scale", "ratio_scale_absolute", "ratio_scale_random"),
            ["id"],
        ),
        "habits": (
            "How much of a judge's replies has one place, and one letter.",
            ("place_share", "letter_share"),
            ["id"],
        ),
        "odd": ("Replies without one readable decision.", ("odd_share",), ["condition"]),
    }
    rows = ["bias", "judge"]
    tables = []
    for name, (words, ids, columns) in told.items():
        chosen = [_named(each) for each in estimates if each.id in ids and each.data != "published"]
        if chosen:
            tables.append((name, words, chosen, rows, columns))
    return tables


def notebook_table(estimates: Sequence[Estimate]) -> tuple[str, str, list[Estimate], list[str], list[str]]:
    """The batch values of the published notebook, and of arrays of one's own, with their intervals (`paper_tables`)."""
    chosen = []
    for each in estimates:
        if each.where.get("source") in ("notebook", "arrays") and "test" not in each.where and each.n:
            how = each.method.removesuffix(f"; {METHOD}").removesuffix(f"; {OWN_METHOD}")
            named = {"metric": each.id, "answers": each.where.get("answers", ""), "variation": how}
            chosen.append(replace(each, where=named | {"number": "batch value"}))
    words = (
        "Batch values of the published notebook, computed from its own arrays of made-up answers, with BCa intervals "
        "over their rows. Of so few rows they are rough: they show how much the metric varies and carry no finding."
    )
    if any(each.data != "published" for each in chosen):
        words += " Rows of other data: the same of arrays that were given."
    return "notebook_metrics", words, chosen, ["metric", "answers", "variation"], ["number"]


def _named(each: Estimate) -> Estimate:
    """The estimate with a judge in its place, so that means stand in rows of their own, and with both conditions."""
    both = {"condition": "both"} if each.id in ("loss_aversion", "threshold_ratio") else {}
    return replace(each, where={"judge": ALL, "bias": "all biases", **each.where, **both})


def _with_placebo(*ids: str) -> tuple[str, ...]:
    return tuple(f"{id}{end}" for id in ids for end in ("", "_placebo", "_excess"))
