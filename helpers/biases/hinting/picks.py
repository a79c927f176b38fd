"""Logs that kept who came first but not always a whole ranking: first places as their source counted them."""

from __future__ import annotations

import pandas as pd

from helpers.biases.top_choice.rates import estimate
from helpers.stats.intervals import wilson
from helpers.types import Estimate


def published_picks(top1: pd.DataFrame, data: str = "folder") -> list[Estimate]:
    """How often a vendor's judges put their own vendor first, counting every judgment whose winner is known.

    Takes the frame of `datasets.load_top1`. `self_bias_as_counted` (`where`: vendor, hint; Wilson) also counts winners
    whose ranking is invalid or was not kept, as the source did; `lost_as_counted` (`where`: judge, hint) is the share
    of judgments without a winner.
    """
    found = []
    for hint, group in top1.groupby("condition", sort=True):
        known = group.dropna(subset=["pick"])
        for vendor, mine in known.groupby("judge_vendor", sort=True):
            own = int((mine["pick_vendor"] == vendor).sum())
            where = {"vendor": str(vendor), "hint": str(hint)}
            found.append(estimate("self_bias_as_counted", where, wilson(own, len(mine)), data))
        for judge, mine in group.groupby("judge", sort=True):
            lost = int(mine["pick"].isna().sum())
            where = {"judge": str(judge), "hint": str(hint)}
            found.append(estimate("lost_as_counted", where, wilson(lost, len(mine)), data))
    return found
