"""What the published metrics of experiment 5 would conclude, for calibration alone: their plain means against 0."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from helpers.biases.cognitive import slopes
from helpers.biases.cognitive.averages import cells, mean_of
from helpers.biases.cognitive.seed_batches import NO_PAIR, made_for
from helpers.stats.estimates import estimate
from helpers.types import Estimate

#: What is added to the id of a metric whose mean is held against 0 as it stands.
SUFFIX = "_published"


def published(table: pd.DataFrame, data: str) -> list[Estimate]:
    """Each published metric with a placebo as it was reported, against 0: `<metric>_published`; takes `pairs`."""
    found = []
    for rows, batch in made_for(table):
        if batch.placebo:
            for cell in cells(rows, batch.published(rows, "treatment"), batch.weights(rows)):
                found.append(estimate(batch.id + SUFFIX, cell.where, mean_of(cell, NO_PAIR, 0.0), data, "score"))
    return found


def plain_slope(table: pd.DataFrame, data: str) -> list[Estimate]:
    """The slope of a2 - a1 on anchor - a1 without an instrument: `anchor_slope_plain`; takes `pairs`."""
    # The control as its own instrument is least squares.
    found = slopes.anchor_slope(table.assign(a0=table["a1"]), data)
    return [replace(each, id="anchor_slope_plain") for each in found]
