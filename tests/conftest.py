"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public data; tests that need it are skipped where REAL_DATA is unset."""
    named = os.environ.get("REAL_DATA")
    if not named:
        pytest.skip("REAL_DATA is not set: it names the folder with real public judgments")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"REAL_DATA={named} is set but is no folder")
    return folder


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach a real provider with the developer's own key."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
