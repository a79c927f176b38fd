"""Two runs on one store: nothing is paid twice, nobody waits for ever, and whoever waits is told for whom."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from helpers.judge import Budget, complete_all
from helpers.types import Completion, Request
from tests.engine.asking import MODELS, FakeClock, ask, requests_to, set_environment, statuses
from tests.engine.killing import HURRIED, RETRIED, account
from tests.engine.worker import start
from tests.servers.behaviours import Call, Fault, Reply, faulty, polite

GPT, CLAUDE = MODELS["openai"], MODELS["anthropic"]


# --- two processes ----------------------------------------------------------------------------------------------------


def test_two_runs_with_models_in_opposite_order_pay_for_each_reply_once(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.02)
    runs = [
        start(tmp_path, server.env(), "--count", "40", "--models", names)
        for names in ("gpt,gpt_other", "gpt_other,gpt")
    ]
    for run in runs:
        said, errors = run.communicate(timeout=300)
        assert (run.returncode, said) == (0, "80 replies\n"), errors
    assert len(server.calls) == 80 and server.duplicates() == 0
    assert statuses(tmp_path, GPT) == statuses(tmp_path, replace(GPT, name="gpt_other")) == ["ok"] * 40


def test_the_run_that_waits_says_for_whom_and_asks_only_what_the_first_did_not(serve: Any, tmp_path: Path) -> None:
    def behave(call: Call) -> Reply | Fault:
        assert heard.wait(240), "the first run goes on when the second one has said that it waits"
        return polite(call)

    heard = threading.Event()
    server = serve(behave)
    first = start(tmp_path, server.env(), "--count", "20", "--concurrency", "1")
    while not store.file_of(tmp_path, "gpt").exists():
        assert first.poll() is None
        asyncio.run(asyncio.sleep(0.02))
    second = start(tmp_path, server.env(), "--first", "10", "--count", "20", "--concurrency", "8")
    told = ""
    for line in second.stderr:  # to its end: `communicate` would lose what was read ahead
        told += line
        if "gpt.jsonl, held by " in told:
            heard.set()
    for run, errors in ((first, first.stderr.read()), (second, told)):
        assert (run.wait(300), run.stdout.read()) == (0, "20 replies\n"), errors
    assert told.count("gpt.jsonl, held by ") == 1
    assert f"held by process {first.pid} on " in told
    assert len(server.calls) == 30 and server.duplicates() == 0


@pytest.mark.slow
def test_two_runs_of_five_thousand_among_faults_ask_for_nothing_twice(serve: Any, tmp_path: Path) -> None:
    server = serve(faulty(0.2, RETRIED), latency=0.01)
    parts = [("--count", "3500"), ("--first", "1500", "--count", "3500")]
    waited, whole = 0, 0
    while whole < 2:  # where some faults were too many, the same is run again
        whole = 0
        for run in [start(tmp_path, server.env(), *part, *HURRIED) for part in parts]:
            said, errors = run.communicate(timeout=300)
            assert run.returncode == 0 or "are still missing" in errors, errors
            waited += "gpt.jsonl, held by " in errors
            whole += said == "3500 replies\n"
    found = account(server, tmp_path)
    found.check(5_000, lost=0)
    assert waited and found.requests == 5_000 + found.faults and 0.18 < found.faults / found.requests < 0.22


# --- in one process, with a clock that nobody waits for ---------------------------------------------------------------


def _wait_for_a_lock(folder: Path, held: float, stored: int = 0) -> tuple[dict[str, Completion], FakeClock]:
    """A run for three replies that finds the file locked for so long; meanwhile the holder stores some of them."""
    clock, path, requests = FakeClock(), store.file_of(folder, "gpt"), requests_to(GPT, 3)
    lock = store.try_lock(path)
    assert lock is not None

    async def hold() -> None:
        while clock.time < held:
            await asyncio.sleep(0)
        with store.writing(path, lock.release) as writer:
            for request in requests[:stored]:
                writer.append(request, Completion(request.key, "ok", "of the other run"), {})

    async def both() -> dict[str, Completion]:
        budget = Budget(1e6 if stored < 3 else 0.0)
        run = complete_all(requests, folder=folder, clock=clock.clock(), show=False, budget=budget)
        replies, _ = await asyncio.gather(run, hold())
        return replies

    return asyncio.run(both()), clock


@pytest.mark.parametrize(("held", "words"), [(1.5, 0), (5.0, 1)])
def test_who_holds_the_file_is_said_once_and_after_two_seconds(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], held: float, words: int
) -> None:
    serve()
    replies, clock = _wait_for_a_lock(tmp_path, held)
    assert len(replies) == 3 and clock.time >= held
    assert capfd.readouterr().err.count(f"waiting for {tmp_path / 'gpt.jsonl'}, held by process ") == words


@pytest.mark.parametrize("stored", [2, 3])
def test_what_was_stored_while_waiting_is_not_asked(serve: Any, tmp_path: Path, stored: int) -> None:
    server = serve()
    replies, _ = _wait_for_a_lock(tmp_path, 1.0, stored)
    assert [reply.text for reply in replies.values()].count("of the other run") == stored
    assert len(server.calls) == 3 - stored, "and with nothing missing no budget is needed"


def test_files_are_locked_in_order_of_name_so_that_two_runs_cannot_hold_what_the_other_needs(
    serve: Any, tmp_path: Path
) -> None:
    serve()
    first, second = (store.file_of(tmp_path, name) for name in ("claude", "gpt"))
    lock, clock = store.try_lock(first), FakeClock()
    assert lock is not None

    async def watch() -> None:
        while clock.time < 1.0:
            await asyncio.sleep(0)
            free = store.try_lock(second)
            assert free is not None, "held by a run that waits for the file before it"
            free.release()
        lock.release()

    async def both() -> None:
        options = {"folder": tmp_path, "show": False, "clock": clock.clock(), "budget": Budget(1e6)}
        await asyncio.gather(watch(), complete_all([*requests_to(GPT, 2), *requests_to(CLAUDE, 2)], **options))

    asyncio.run(asyncio.wait_for(both(), 60))


def test_two_runs_in_one_process_wait_for_each_other_too(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.01)

    async def both() -> list[dict[str, Completion]]:
        options = {"folder": tmp_path, "show": False}
        return await asyncio.gather(
            complete_all(requests_to(GPT, 20), budget=Budget(1e6), **options),
            complete_all(requests_to(GPT, 20), budget=Budget(1e6), **options),
        )

    one, other = asyncio.run(both())
    assert one == other and len(one) == 20 and len(server.calls) == 20


def test_only_the_files_of_models_with_something_missing_are_locked(serve: Any, tmp_path: Path) -> None:
    serve()
    ask(requests_to(GPT, 3), tmp_path)
    lock = store.try_lock(store.file_of(tmp_path, "gpt"))
    assert lock is not None
    assert len(ask([*requests_to(GPT, 3), *requests_to(CLAUDE, 2)], tmp_path)) == 5, "does not wait for the other file"
    assert len(ask(requests_to(GPT, 3), tmp_path)) == 3, "nothing missing, nothing locked"
    lock.release()


# --- a run that ends early --------------------------------------------------------------------------------------------


def test_a_run_that_fails_frees_the_files_and_sends_nothing_more(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(latency=0.01)
    append, room = store.Writer.append, [20]

    def full(writer: store.Writer, request: Request, completion: Completion, labels: Any) -> None:
        room[0] -= 1
        if room[0] < 0:
            raise store.StoreError(f"{writer.path}: cannot append (No space left on device); nothing more is asked")
        append(writer, request, completion, labels)

    monkeypatch.setattr(store.Writer, "append", full)
    with pytest.raises(store.StoreError, match="No space left on device"):
        ask(requests_to(GPT, 100), tmp_path, concurrency=4)
    assert 20 < len(server.calls) <= 24, "the one that failed and those in flight"
    monkeypatch.undo()
    set_environment(monkeypatch, server.url)
    assert len(ask(requests_to(GPT, 100), tmp_path)) == 100
    assert statuses(tmp_path, GPT) == ["ok"] * 100


def test_a_disk_that_cannot_be_synced_stops_the_run(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(latency=0.05)

    def broken(writer: store.Writer) -> None:
        raise store.StoreError(f"{writer.path}: cannot sync (Input/output error); nothing more is asked")

    monkeypatch.setattr(store.Writer, "sync_when_due", broken)
    with pytest.raises(store.StoreError, match="cannot sync"):
        ask(requests_to(GPT, 200), tmp_path, concurrency=4)
    assert len(server.calls) < 60, "stopped at the next look, a fifth of a second later"
