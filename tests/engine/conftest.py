"""Fixtures of the engine's tests."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from tests.engine.asking import set_environment
from tests.servers.behaviours import Behaviour, polite
from tests.servers.providers import JudgeServer


@pytest.fixture(autouse=True, scope="session")
def one_tls_context() -> Iterator[None]:
    """Reading the certificates takes longer than ten calls over plain HTTP, and every SDK does it for every client."""
    patch = pytest.MonkeyPatch()
    patch.setattr(ssl, "create_default_context", lru_cache(ssl.create_default_context))
    yield
    patch.undo()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store keeps the replies of a model."""
    return store.file_of(tmp_path, "gpt_fast")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., JudgeServer]]:
    """Starts servers that the SDKs find through the environment."""
    running = []

    def start(behaviour: Behaviour = polite, **options: Any) -> JudgeServer:
        server = JudgeServer(behaviour, **options).__enter__()
        running.append(server)
        set_environment(monkeypatch, server.url)
        return server

    yield start
    for server in running:
        server.__exit__(None)
