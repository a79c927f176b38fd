"""How much providers and addresses may be asked in a minute: experiments/limits.yaml, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from pydantic import ConfigDict, Field, model_validator

from helpers import paths
from helpers.config.faults import checked, what
from helpers.config.schema import ConfigError, Strict
from helpers.config.yaml_text import line_of, read_yaml
from helpers.services import SERVICES
from helpers.types import Model


class LimitEntry(Strict):
    """One entry of limits.yaml; what is not named is not limited."""

    model_config = ConfigDict(strict=True)

    requests_per_minute: float | None = Field(None, gt=0, allow_inf_nan=False)
    tokens_per_minute: float | None = Field(None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _limits_something(self) -> LimitEntry:
        if self.requests_per_minute is None and self.tokens_per_minute is None:
            raise ValueError("needs requests_per_minute, tokens_per_minute, or both")
        return self


def load_limits(models: Mapping[str, Model] | None = None, path: Path = paths.LIMITS) -> dict[str, LimitEntry]:
    """The limits of limits.yaml by provider or `base_url`; none where there is no such file.

    Everything wrong is a ConfigError; with `models` also an address at which none of them is asked.
    """
    entries = (read_yaml(path) if path.is_file() else None) or {}
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}: expected an entry a provider or address, found {what(entries)}")
    known = sorted({url for model in (models or {}).values() for _, url in model.addresses if url})
    found = {}
    for name, values in entries.items():
        address = isinstance(name, str) and name.startswith(("http://", "https://"))
        if name not in SERVICES and not (name in known if models is not None else address):
            valid = ", ".join([*SERVICES, *(known or ["a base_url of models.yaml"])])
            told = f"{name!r} is no provider and no base_url of models.yaml; valid: {valid}"
            raise ConfigError(f"{path.name}, line {line_of(path, (name,))}: {told}")
        place = partial(_line, path, name)
        found[name] = checked(LimitEntry, values, f"{path.name}, '{name}'", place)
    return found


def _line(path: Path, name: str, field: tuple[str | int, ...]) -> int | None:
    return line_of(path, (name, *field))
