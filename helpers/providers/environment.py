"""What the environment says: keys, and whether somebody is looking. Nothing else in the project reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from helpers.providers.keys import declare, redact
from helpers.services import SERVICES
from helpers.types import Model


def key_variables(model: Model) -> tuple[str, ...]:
    """The variables that may hold a model's key; none for a `base_url` that names none in `api_key_env`.

    So a provider's key is never sent to somebody else's address.
    """
    if model.api_key_env:
        names = (model.api_key_env,)
    else:
        names = SERVICES[model.provider].keys if model.provider in SERVICES and not model.base_url else ()
    declare(names)
    return names


def key_of(model: Model) -> str | None:
    """The API key of a model from the environment; None where a variable is needed and not set."""
    names = key_variables(model)
    if model.base_url and not names:
        return "not-needed"  # own servers ask for none, the SDKs insist on one
    # A line end copied with a key is no part of it, and no header can hold one.
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)


def addresses(models: Iterable[Model]) -> dict[str, str]:
    """Variables that lead a provider's models to another address than the provider's own, with where to.

    The SDKs obey them and no key of a reply can tell, so whoever runs must be told.
    """
    providers = {model.provider for model in models if model.base_url is None}
    named = {SERVICES[provider].address for provider in providers & set(SERVICES)}
    return {name: _bare(os.environ[name]) for name in sorted(named) if os.environ.get(name)}


def _bare(address: str) -> str:
    """An address as it can be shown: without a name and a password in it, however short."""
    return redact(re.sub(r"//[^/?#\s]*@", "//", address))


def missing_keys(models: Iterable[Model]) -> dict[str, list[str]]:
    """Variables that must be set before these models can be asked, with the models that need each."""
    missing: dict[str, list[str]] = {}
    for model in models:
        if not model.simulated and key_of(model) is None:
            missing.setdefault(" or ".join(key_variables(model)), []).append(model.name)
    return missing


def in_browser() -> bool:
    """Whether this kernel belongs to a notebook somebody looks at (a Jupyter server names its sessions)."""
    return bool(os.environ.get("JPY_SESSION_NAME") or os.environ.get("VSCODE_PID"))


def leave_browser() -> None:
    """Kernels started from here are nobody's to look at, even where a notebook started the runner."""
    for name in ("JPY_SESSION_NAME", "VSCODE_PID"):
        os.environ.pop(name, None)
