"""What is lost: whether a condition loses more verdicts than its control, so that its effect may come from those.

Of verdicts with log-probabilities also how much of the probability falls on no valid label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from .. import frames
from ..stats.intervals import MIN_CLUSTERS, NAN, Interval, cluster_sums, clustered, estimate
from ..stats.standing import LEVEL
from ..stats.tests import holm, sign_flip
from ..types import Estimate
from ..words import p_text
from .protocol import by_place, mean_interval


def loss_change(frame: pd.DataFrame, data: str, seed: int) -> list[Estimate]:
    """How many more verdicts are lost under each condition than in the control, in pp; `where`: condition.

    A judgment is compared with that control of the same question, judge and texts which serves as its partner. p by
    sign flips over questions (articles, where these are above them), corrected by Holm over the conditions. Nothing
    where there is no control ("none" or "control") or nothing beside it.
    """
    rows = frames.one_row_each(frame)
    conditions = [str(name) for name in rows["condition"].dropna().unique()]
    control = next((name for name in ("none", "control") if name in conditions), None)
    texts = ("task", "right", "wrong", "first", "candidate", "wording") if frames.ROW_EACH & {*frame} else ()
    keys = ["question_id", "judge", *(name for name in texts if name in rows)]
    cluster = "article" if "article" in rows else "question_id"
    rows = rows.assign(lost=(rows["outcome"] != "ok") * 1.0, partner=rows["partner" if "partner" in rows else "repeat"])
    plain = rows.loc[rows["condition"] == control, [*keys, "repeat", "lost"]].rename(columns={"repeat": "partner"})
    found = []
    for condition in sorted({*conditions} - {control} if control else ()):
        both = rows[rows["condition"] == condition].merge(plain, on=[*keys, "partner"], suffixes=("", "_control"))
        if both.empty:
            continue
        sums = cluster_sums(both.assign(change=both["lost"] - both["lost_control"]), "change", cluster)
        interval = clustered(sums.numerators, sums.denominators)
        p = sign_flip(sums.numerators[:, 0], seed).p if interval.clusters >= MIN_CLUSTERS else NAN
        shares = f"{both['lost'].mean():.1%} against {both['lost_control'].mean():.1%}".replace("%", " %")
        interval = replace(interval, p=p, method=f"{interval.method}; sign-flip p, Holm; lost: {shares}")
        found.append(estimate("loss_change", {"condition": condition}, interval, data, "pp"))
    return [replace(each, p=float(p)) for each, p in zip(found, holm([e.p for e in found]), strict=True)]


def loss_words(changes: Sequence[Estimate]) -> str:
    """Which conditions lose more verdicts than the control, or fewer; "" where none is shown to."""
    clauses = [
        f"{'more' if each.value > 0 else 'fewer'} verdicts are lost under *{each.where['condition']}* "
        f"({each.method.rpartition('lost: ')[2]}, Holm p {p_text(each.p)}): its effect may come from what was lost"
        for each in changes
        if each.p < LEVEL
    ]
    return f"Careful: {'; '.join(clauses)}." if clauses else ""


def label_mass(id: str, frame: pd.DataFrame, data: str, by: Sequence[str] = ("judge",)) -> list[Estimate]:
    """How probable the valid labels were in all where verdicts stand; `where` has the columns `by`.

    Of verdicts of one label by judges whose server was asked for log-probabilities, or gave them; nothing without any.
    `method` counts verdicts without, and those with a label that was not listed.
    """
    if "label_mass" not in frame:
        return []
    rows = frame[(frame["outcome"] == "ok") & frame[["top_logprobs", "label_mass"]].notna().any(axis=1)]

    def mass(mine: pd.DataFrame) -> Interval:
        interval = mean_interval(mine, mine["label_mass"], reason="none could be read")
        bound = int(mine["at_bound"].sum()) if "at_bound" in mine else 0
        counts = f"{mine['label_mass'].isna().sum()} of {len(mine)} verdicts without log-probabilities"
        return replace(interval, method=f"{interval.method}; {counts}, {bound} with a label at the most it can have")

    return [estimate(*each, data) for each in by_place(id, rows, by, mass)]  # type: ignore
