"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import signal
from itertools import count
from pathlib import Path
from typing import Any

import pytest

# Matrices here are small: threads of their own only get into each other's way, and stall where other work runs too.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A shell's background and nohup have these ignored, and programs that tests start would inherit that; what has a
# handler, be it one that does nothing, is theirs to hear.
for name in ("SIGINT", "SIGHUP"):
    if (number := getattr(signal, name, None)) and signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


#: Tests after which what they left behind is looked through.
BETWEEN = 1000
_ran = count()


def pytest_runtest_setup() -> None:
    """What stood before a test is no garbage within it: statsmodels looks through everything at each correction."""
    if next(_ran) % BETWEEN == 0:
        gc.unfreeze()
        gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """What the last tests left behind is looked through too."""
    gc.unfreeze()


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


@pytest.fixture(scope="module")
def counts(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The published counts of the experiment in whose FOLDER a module of tests looks."""
    from helpers.config import read_yaml

    return read_yaml(request.module.FOLDER / "published" / "counts.yaml")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test may reach a real provider with the developer's own key."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
