"""A disk that fills up while models are asked: sending stops at once, nothing stored is lost, a later run completes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from tests.engine.asking import MODELS, ask, requests_to, statuses
from tests.engine.worker import start

GPT = MODELS["openai"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")


def _prompts(folder: Path) -> list[str]:
    return [line["request"]["prompt"] for line in store.lines(store.file_of(folder, "gpt"))]


def test_nothing_is_sent_after_the_first_line_that_does_not_fit(serve: Any, tmp_path: Path) -> None:
    server, path = serve(), store.file_of(tmp_path, "gpt")
    run = start(tmp_path, server.env(), "--count", "60", "--max-bytes", "20000", "--concurrency", "1")
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "gpt.jsonl: cannot append" in errors and "nothing more is asked" in errors
    stored = _prompts(tmp_path)
    assert 0 < len(stored) < 60 and path.stat().st_size <= 20_000
    # One at a time: each stored reply was a call, and the one that did not fit was the last.
    assert len(server.calls) == len(stored) + 1
    found = store.verify(path)
    assert not found.bad and found.tail is None, "what did not fit is not half there"

    # Had the process died before it could undo the line, the next run would find this.
    path.write_bytes(path.read_bytes() + b'{"v":1,"key":"0123')
    assert _prompts(tmp_path) == stored and store.verify(path).tail is not None
    before = len(server.calls)
    assert len(ask(requests_to(GPT, 60), tmp_path)) == 60
    assert not set(stored) & {entry.call.prompt for entry in server.calls[before:]}
    assert len(server.calls) == before + 60 - len(stored)
    assert _prompts(tmp_path)[: len(stored)] == stored and statuses(tmp_path, GPT) == ["ok"] * 60
    assert store.verify(path).tail is None


def test_a_line_end_that_does_not_fit_is_told_with_its_file_before_anything_is_sent(serve: Any, tmp_path: Path) -> None:
    server, path = serve(), store.file_of(tmp_path, "gpt")
    ask(requests_to(GPT, 3), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    run = start(tmp_path, server.env(), "--count", "4", "--max-bytes", str(len(whole) - 1))
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "gpt.jsonl: cannot append" in errors and "nothing was asked" in errors
    assert path.read_bytes() == whole[:-1] and len(server.calls) == 3
    assert len(ask(requests_to(GPT, 4), tmp_path)) == 4 and len(server.calls) == 4, "the paid reply counts again"
