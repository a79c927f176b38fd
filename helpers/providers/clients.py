"""How the SDKs of OpenAI and Anthropic, which are built alike, are set up: once, for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from helpers.providers.envelopes import CONNECT_SECONDS, TIMEOUT_SECONDS
from helpers.types import Model


def options(model: Model, key: str | None, transport: Callable[..., Any]) -> dict[str, Any]:
    """What the SDK's client is made with: its aiohttp transport, our limits of time, its own retries off."""
    from httpx2 import Timeout

    timeout = Timeout(TIMEOUT_SECONDS, connect=CONNECT_SECONDS)
    return {
        "api_key": key,
        "base_url": model.base_url,
        "max_retries": 0,
        "timeout": timeout,
        "http_client": transport(timeout=timeout),
    }
