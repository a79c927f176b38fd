"""Published decisions whose tests are not at hand: what the table of the thirty biases still tells of their metric."""

from __future__ import annotations

from dataclasses import asdict

import pandas as pd

from helpers.biases.cognitive.published_biases import BIASES, parameters
from helpers.types import RatioScale


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The decisions frame with the metric parameters of biases for which nothing else decides them.

    Rows that have none (k is NaN) and are on a bias of the published table whose sign and points hang on no fact take
    them from there, and the target with them (`datasets.load_decisions` takes those of known tests). Rows on other
    biases stay without: neither the published metric nor a direction is defined for them then.
    """
    found = frame.copy()
    for bias in found.loc[found["k"].isna(), "category"].unique():
        row = BIASES.get(bias)
        if row is None or row.fact:
            continue
        scale = parameters(bias)
        here = found["k"].isna() & (found["category"] == bias) & (found["options"] == row.options)
        for name, value in asdict(scale).items():
            found.loc[here, name] = value
        found.loc[here, "target"] = _target(scale, row.options)
    found.attrs = dict(frame.attrs)
    return found


def _target(scale: RatioScale, options: int) -> float:
    """The index that the bias pulls to; NaN where control and treatment are counted from different ends."""
    if scale.flip_control != scale.flip_treatment:
        return float("nan")
    return scale.x1 if scale.k > 0 else float(options - 1)
