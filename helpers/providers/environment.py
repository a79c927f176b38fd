"""What the environment says: keys, and whether somebody is looking. Nothing else in the project reads it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from helpers.types import Model

KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}


def key_of(model: Model) -> str | None:
    """The API key of a model from the environment; None where a variable is needed and not set."""
    names = (model.api_key_env,) if model.api_key_env else KEY_VARIABLES.get(model.provider, ())
    found = next((os.environ[name] for name in names if os.environ.get(name)), None)
    if found is None and model.base_url and not model.api_key_env:
        return "not-needed"  # own servers ask for none, the SDKs insist on one
    return found


def missing_keys(models: Iterable[Model]) -> dict[str, list[str]]:
    """Variables that must be set before these models can be asked, with the models that need each."""
    missing: dict[str, list[str]] = {}
    for model in models:
        if not model.simulated and key_of(model) is None:
            names = (model.api_key_env,) if model.api_key_env else KEY_VARIABLES[model.provider]
            missing.setdefault(" or ".join(names), []).append(model.name)
    return missing


def in_browser() -> bool:
    """Whether this kernel belongs to a notebook somebody looks at (a Jupyter server names its sessions)."""
    return bool(os.environ.get("JPY_SESSION_NAME") or os.environ.get("VSCODE_PID"))


def redact(text: str) -> str:
    """The text without any API key of this environment (providers echo parts of keys in 401 texts)."""
    for name, value in os.environ.items():
        if name.endswith("_API_KEY") and len(value) >= 8:
            text = text.replace(value, f"<{name}>")
    return text
