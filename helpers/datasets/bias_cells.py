"""The cells of a line of published decisions: the order of the options, the one that was chosen, the score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from helpers.datasets.bias_rows import id_text, literal, whole
from helpers.datasets.reading import show

#: How a cell without a value is written by the programs that write such files.
NOTHING = ("", "nan", "none", "null")
NAN = math.nan


def cell(row: Mapping[str, Any], name: str) -> str:
    """The text of a cell, "" where there is none."""
    value = whole(row.get(name), name)
    return "" if value is None else str(value).strip()


def decision(row: Mapping[str, Any], condition: str, size: int | None, status: str) -> dict[str, Any]:
    """What one version's cells say: the order shown, the option chosen, and the scale that it is on."""
    order = _order(row, condition, size)
    listed = cell(row, f"{condition}_options")
    size = size or len(order) or (_listed(listed, condition) if listed else 0)
    choice = NAN if status == "ERROR" else _choice(cell(row, f"{condition}_decision"), condition, size)
    outcome = "error" if status == "ERROR" else "no_option" if math.isnan(choice) else "ok"
    scale = {"options": size or NAN, "low": 0.0 if size else NAN, "high": size - 1 if size else NAN}
    shown = {"order": " ".join(map(str, order)), "values": " ".join(map(str, range(size)))}
    return {"choice": choice, "value": choice, "outcome": outcome, **scale, **shown}


def _order(row: Mapping[str, Any], condition: str, size: int | None) -> list[int]:
    """The natural indices of the options in the order shown; none where the line does not tell it."""
    name = f"{condition}_option_order"
    text = cell(row, name)
    if text.lower() in NOTHING:
        return []
    order = _read(text, name)
    if sorted(map(str, order)) != sorted(map(str, range(size or len(order)))):
        raise ValueError(f"field {name!r} holds {show(text)}, expected the option numbers from 0, each once")
    return list(order)


@lru_cache(maxsize=4096)
def _read(text: str, name: str) -> tuple[Any, ...]:
    found = literal(text, f"field {name!r}")
    return tuple(found) if isinstance(found, list | tuple) else (found,)


def _listed(text: str, condition: str) -> int:
    try:
        options = literal(text, "options")
    except ValueError:
        # Texts of any length are no reason to lose a decision: how many options there are is then not known.
        return 0
    return len(options) if isinstance(options, list | tuple) else 0


def _choice(text: str, condition: str, size: int) -> float:
    """The option chosen, NaN where none was; not a whole number of the scale is a ValueError."""
    plain = id_text(text)
    if plain.lower() in (*NOTHING, "-1"):
        return NAN
    if not (plain.isascii() and plain.isdigit() and len(plain) < 4) or (size and int(plain) >= size):
        valid = f"0 to {size - 1}" if size else "a whole number"
        raise ValueError(f"field '{condition}_decision' holds {text[:40]!r}, expected {valid}, or -1 for no option")
    return float(plain)


def score(row: Mapping[str, Any]) -> float:
    """The individual score as published, NaN where there is none."""
    text = cell(row, "individual_score").strip("[] ")
    if text.lower() in NOTHING:
        return NAN
    try:
        found = float(text)
    except ValueError:
        found = math.inf
    # Weighted metrics may go beyond 1, but none is endless.
    if not math.isfinite(found):
        raise ValueError(f"field 'individual_score' holds {text[:40]!r}, expected a number")
    return found
