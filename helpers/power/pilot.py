"""The numbers of a run that was made: a pilot, from which the standard errors of a larger one follow."""

from __future__ import annotations

import json
import math
from pathlib import Path

from helpers.types import Estimate


def read_pilot(path: Path, name: str) -> list[Estimate]:
    """The estimates of a numbers.json of experiment `name`; they have intervals, but no standard errors.

    A file that is no numbers.json, and one of another experiment, are a ValueError that names the file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        of, numbers = content["provenance"]["experiment"], content["numbers"]
        found = [_estimate(each) for each in numbers]
    except (ValueError, KeyError, TypeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is no numbers.json as a run exports it ({told})") from None
    if of != name:
        raise ValueError(f"{path} holds the numbers of {of}, not of {name}")
    return found


def _estimate(each: dict) -> Estimate:
    value, low, high = (math.nan if each[key] is None else float(each[key]) for key in ("value", "low", "high"))
    rest = {key: each[key] for key in ("n", "clusters", "unit", "method", "data")}
    return Estimate(each["id"], each["where"], value, low, high, **rest)
