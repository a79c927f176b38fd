"""Tables of cases that are data: what is tried, and what has to come of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent / "cases"


def load_cases(name: str, **values: str) -> dict[str, Any]:
    """The tables of tests/cases/<name>.yaml, each by its name; `{nonce}` in a text stands for the value of `nonce`."""
    return _fill(yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8")), values)


def _fill(found: Any, values: dict[str, str]) -> Any:
    if isinstance(found, dict):
        return {_fill(key, values): _fill(each, values) for key, each in found.items()}
    if isinstance(found, list):
        return [_fill(each, values) for each in found]
    for key, value in values.items() if isinstance(found, str) else ():
        found = found.replace(f"{{{key}}}", value)
    return found
