"""Progress is for whoever looks: it never becomes part of a notebook, closes what it opened and nothing else."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.judge import Budget, complete_all
from helpers.judge.terminal import Progress, money, notice
from helpers.types import Completion, Model, Price, Request, Usage


@contextmanager
def terminal() -> Iterator[io.StringIO]:
    """What a run in a terminal writes to its standard error. (No fixture: pytest puts its own stream between.)"""
    stream = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "__stderr__", stream)
        patch.setattr(sys, "stderr", stream)
        yield stream
    assert not stream.closed


@contextmanager
def kernel() -> Iterator[tuple[int, int]]:
    """Standard error as a kernel replaces it: its own stream, which keeps a copy of the file it was started with."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    stream = SimpleNamespace(_original_stdstream_copy=writing, write=_part_of_the_notebook, flush=lambda: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", stream)
        patch.setattr(sys, "__stderr__", stream)
        yield reading, writing
    os.close(reading)
    os.close(writing)


def _part_of_the_notebook(text: str) -> None:
    raise AssertionError(f"written into the notebook: {text!r}")


def _lowest_free_descriptor() -> int:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    os.close(descriptor)
    return descriptor


def test_in_a_kernel_words_go_to_the_file_that_it_was_started_with() -> None:
    with kernel() as (reading, copy):
        for number in range(3):
            notice(f"word {number}")
            os.fstat(copy)  # still open
        assert os.read(reading, 1000) == b"word 0\nword 1\nword 2\n"
        free = _lowest_free_descriptor()
        bar = Progress("judging", 3, 1, Budget(1.0))
        bar.done()
        bar.fail()
        bar.close()
        os.fstat(copy)
        assert _lowest_free_descriptor() == free, "what was opened is closed"
        said = os.read(reading, 100_000).decode()
    assert "judging" in said and "2/3" in said and "failed 1" in said and "stored 1" in said


def test_in_a_terminal_words_go_to_it_and_it_stays_open() -> None:
    with terminal() as stream:
        notice("a word")
        budget = Budget(1.0)
        bar = Progress("answers", 2, 0, budget)
        for _ in range(2):
            _paid(budget, "gpt", 125_000)
            bar.done()
        bar.close()
        said = stream.getvalue()
    assert said.startswith("a word\n") and "answers: 100%" in said and "spent $0.25 of $1.00" in said


def test_the_line_tells_what_is_spent_reserved_and_perhaps_billed_and_the_dearest_models_by_name() -> None:
    budget = Budget(9.0)
    assert money(Budget()) == "spent $0.00" and money(budget) == "spent $0.00 of $9.00"
    _paid(budget, "one", 120_000)
    assert money(budget) == "spent $0.12 of $9.00", "one model is all there is"
    for number, name in enumerate(("free", "two", "three", "four", "five", "six")):
        _paid(budget, name, number * 200_000)
    budget.reserve(_request("six", 500_000))
    assert money(budget) == ("spent $3.12 of $9.00, reserved $0.50: six 1.00, five 0.80, four 0.60, three 0.40, 2 more")
    budget.settle(_request("six", 500_000), Completion("", "maybe_billed", maybe_billed=True))
    assert money(budget).startswith("spent $3.62 of $9.00, perhaps billed 1 ($0.50): six 1.50, five 0.80")


def test_the_last_line_tells_of_attempts_that_were_given_up() -> None:
    with terminal() as stream:
        budget = Budget(1.0)
        bar = Progress("answers", 2, 0, budget)
        request = _request("gpt", 500_000)
        budget.reserve(request)
        budget.abandon([request.key])
        bar.close()
        assert "spent $0.50 of $1.00, perhaps billed 1 ($0.50)" in stream.getvalue().splitlines()[-1]


def _request(name: str, most: int) -> Request:
    """A call to a model at a dollar for a million tokens written, nothing for those read."""
    return Request(Model(name, "openai", name, "gpt", max_tokens=most, price=Price(0.0, 1.0)), "Who?")


def _paid(budget: Budget, name: str, tokens: int) -> None:
    budget.reserve(_request(name, max(1, tokens)))
    budget.settle(_request(name, max(1, tokens)), Completion("", "ok", usage=Usage(1, tokens)))


def test_without_a_standard_error_of_its_own_nothing_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal() as stream, monkeypatch.context() as patch:  # undone before the terminal's own
        patch.setattr(sys, "__stderr__", None)
        notice("a word")
        Progress("answers", 2, 0, Budget()).close()
        assert stream.getvalue().startswith("a word\n")


@pytest.mark.parametrize(("what", "told"), [("fail", "failed 1000"), ("done", "1000/1000")])
def test_a_thousand_replies_or_failures_are_counted_and_are_not_a_thousand_lines(what: str, told: str) -> None:
    with terminal() as stream:
        bar = Progress("answers", 1000, 0, Budget())
        for _ in range(1000):
            getattr(bar, what)()
        bar.close()
        said = stream.getvalue()
    assert said.count("\r") < 20 and told in said.splitlines()[-1]


@pytest.mark.parametrize(("labels", "named"), [({"experiment": "mine"}, "mine: judging:"), ({}, "judging:")])
def test_a_bar_names_the_experiment_that_asks_where_it_is_known(
    tmp_path: Path, labels: dict[str, str], named: str
) -> None:
    request = Request(Model("sim", "simulated", "sim", "gpt"), "Who?")
    with terminal() as stream:
        asyncio.run(complete_all([request], folder=tmp_path, labels={request.key: labels}, stage="judging"))
        assert stream.getvalue().lstrip("\r").startswith(named)


@pytest.mark.parametrize(("show", "stored"), [(False, 0), (True, 5)], ids=["not shown", "nothing missing"])
def test_no_bar_where_nobody_wants_one_or_nothing_is_asked(show: bool, stored: int) -> None:
    with terminal() as stream:
        bar = Progress("answers", 5, stored, Budget(), show)
        bar.done()
        bar.fail()
        bar.close()
        assert stream.getvalue() == ""


def test_in_a_notebook_that_somebody_looks_at_the_bar_is_part_of_its_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", "a notebook")
    with terminal() as stream, monkeypatch.context() as patch:  # undone before the terminal's own
        patch.setattr(sys, "__stderr__", None)
        bar = Progress("answers", 2, 0, Budget())
        bar.done()
        bar.close()
        assert "1/2" in stream.getvalue()
