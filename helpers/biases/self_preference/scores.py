"""What the contrast of edited answers is made of: how often author and others pick the right one, edited and not."""

from __future__ import annotations

import pandas as pd

from helpers.biases.self_preference.items import PAIR, third_parties
from helpers.biases.self_preference.obfuscation import NO_THIRD, against, authors, moved, why_none
from helpers.biases.self_preference.rates import made, nothing, share
from helpers.types import Estimate

_PARTS = {("own", "repeat"): "score_control", ("own", "edited"): "score"}
_PARTS |= {("third party", arm): f"{column}_other" for (_, arm), column in list(_PARTS.items())}


def harmful_score(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How often the right answer is picked on a judge's harmful items, asked again and edited, by it and by others.

    `where`: judge, by ("own" | "third party": the mean of the judges of a third vendor on the same texts), arm
    ("repeat" | "edited" at the smallest dose). Only items that both judged in both arms, so that the four rates of a
    judge are of the same pairs. Nothing where no number of words was replaced. Takes `items`.
    """
    rows = next((rows for dose, rows in moved(table, "wrong") if dose.isdigit()), None)
    if rows is None:
        return []
    both = against(rows[rows["own"] == "wrong"], third_parties(rows), PAIR)
    found = []
    for judge in authors(table):
        mine = both[both["judge"] == judge]
        for (by, arm), column in _PARTS.items():
            where = {"judge": judge, "by": by, "arm": arm}
            if mine.empty:
                found.append(nothing("harmful_score", where, why_none(table, NO_THIRD), data))
            else:
                found.append(made("harmful_score", where, share(mine, column), data))
    return found
