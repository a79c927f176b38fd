"""Two runs on one store, runs that are killed, and power cuts: nothing stored is lost, damaged or paid twice."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from helpers.judge import Budget, complete_all
from helpers.types import Completion
from tests.engine.asking import MODELS, ask, requests_to
from tests.engine.killing import CONCURRENCY, HURRIED, LIMIT, RETRIED, SLOW, account, end_and_resume
from tests.engine.test_store import filled
from tests.engine.traces import attempts, statuses
from tests.engine.virtual import FakeClock
from tests.engine.worker import start
from tests.servers.behaviours import faulty

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
def test_who_holds_the_file_is_said_once(
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


def test_files_are_locked_in_order_of_name_so_no_two_runs_block_each_other(serve: Any, tmp_path: Path) -> None:
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


def test_a_disk_without_a_sync_stops_a_run(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(latency=0.05)

    def broken(writer: store.Writer) -> None:
        raise store.StoreError(f"{writer.path}: cannot sync (Input/output error); nothing more is asked")

    monkeypatch.setattr(store.Writer, "sync_when_due", broken)
    with pytest.raises(store.StoreError, match="cannot sync"):
        ask(requests_to(GPT, 200), tmp_path, concurrency=4)
    assert len(server.calls) < 60, "stopped at the next look, a fifth of a second later"


# --- runs that are killed ---------------------------------------------------------------------------------------------

KILL, INT, TERM = signal.SIGKILL, signal.SIGINT, signal.SIGTERM


def _further_run(server: Any, folder: Path, count: int) -> int:
    """How many requests a further run sends."""
    before = len(server.calls)
    assert len(ask(requests_to(GPT, count), folder)) == count
    return len(server.calls) - before


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_run_among_faults_that_is_killed_goes_on_where_it_was(serve: Any, tmp_path: Path, count: int) -> None:
    """Concurrency 16, a fifth of all attempts fail in every way that is asked again; of the long run two at once."""
    server, kills = serve(faulty(0.2, RETRIED if count == 400 else (*RETRIED, SLOW)), latency=0.02), 2
    if count == 400:
        end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED)
    else:
        server.latency, kills = 0.01, 25
        end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED, *LIMIT, in_pairs=range(10, 18))
    found = account(server, tmp_path)
    found.check(count, lost=kills * CONCURRENCY)
    assert found.faults > 0.1 * count and (count == 400 or 0.18 < found.faults / found.requests < 0.22)
    assert _further_run(server, tmp_path, count) == 0


@pytest.mark.parametrize("count", [600, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_store_that_acknowledges_before_it_writes_would_be_found_out(serve: Any, tmp_path: Path, count: int) -> None:
    """The negative control: the same loop and the same check, with a careless writer."""
    server, kills = serve(faulty(0.2, RETRIED), latency=0.01), 2 if count == 600 else 25
    end_and_resume(server, tmp_path, count, [KILL] * kills, *HURRIED, "--late")
    with pytest.raises(AssertionError, match="replies paid and not stored"):
        account(server, tmp_path).check(count, lost=kills * CONCURRENCY)


@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.slow)])
def test_an_interrupted_run_stores_all_that_it_paid(serve: Any, tmp_path: Path, count: int) -> None:
    server, times = serve(faulty(0.2, RETRIED), latency=0.03), 1 if count == 300 else 10
    end_and_resume(server, tmp_path, count, [INT, TERM] * times, *HURRIED)
    found = account(server, tmp_path)
    found.check(count, lost=0)
    assert found.requests == found.lines, "every attempt is written down"
    assert _further_run(server, tmp_path, count) == 0


def _prompts(folder: Path) -> list[str]:
    return [line["request"]["prompt"] for line in attempts(folder, GPT)]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
@pytest.mark.parametrize(("concurrency", "count", "most"), [(1, 60, 20_000), (CONCURRENCY, 150, 60_000)])
def test_nothing_is_sent_after_a_line_that_does_not_fit(
    serve: Any, tmp_path: Path, concurrency: int, count: int, most: int
) -> None:
    server, path = serve(latency=0.0 if concurrency == 1 else 0.02), store.file_of(tmp_path, "gpt")
    how = ("--count", str(count), "--max-bytes", str(most), "--concurrency", str(concurrency))
    run = start(tmp_path, server.env(), *how)
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "gpt.jsonl: cannot append" in errors and "nothing more is asked" in errors
    stored = _prompts(tmp_path)
    assert 0 < len(stored) < count and path.stat().st_size <= most
    # Each stored reply was a call, and the one that did not fit was the last, with those in flight.
    assert len(stored) + 1 <= len(server.calls) <= len(stored) + concurrency
    found = store.verify(path)
    assert found.odd == (), "what did not fit is not half there"

    # Had the process died before it could undo the line, the next run would find this.
    path.write_bytes(path.read_bytes() + b'{"v":1,"key":"0123')
    assert _prompts(tmp_path) == stored and store.verify(path).odd
    before = len(server.calls)
    assert len(ask(requests_to(GPT, count), tmp_path)) == count
    assert not set(stored) & {entry.call.prompt for entry in server.calls[before:]}
    assert len(server.calls) == before + count - len(stored)
    assert _prompts(tmp_path)[: len(stored)] == stored and statuses(tmp_path, GPT) == ["ok"] * count
    assert store.verify(path).odd == ()


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
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


# --- power cuts -------------------------------------------------------------------------------------------------------


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Each sync, with the inode of the file or folder, and each replacement, with that of the new file, in order."""
    found: list[tuple[str, int]] = []

    def watched(name: str, real: Callable[..., Any], inode: Callable[..., int]) -> None:
        def step(*args: Any) -> Any:
            found.append((name, inode(args[0])))
            return real(*args)

        monkeypatch.setattr(os, name, step)

    for sync in ("fsync", "fdatasync"):
        if hasattr(os, sync):
            watched(sync, getattr(os, sync), lambda descriptor: os.fstat(descriptor).st_ino)
    watched("replace", os.replace, lambda source: os.stat(source).st_ino)
    return found


def synced(steps: list[tuple[str, int]], path: Path) -> list[int]:
    """The places in `steps` at which a file or folder was synced."""
    inode = path.stat().st_ino
    return [at for at, (name, which) in enumerate(steps) if name != "replace" and which == inode]


def test_a_new_store_file_is_under_its_name_before_the_first_reply(path: Path, steps: list[tuple[str, int]]) -> None:
    writer = store.Writer(path)
    assert synced(steps, path.parent), "a power cut would take the name, and all replies with it"
    steps.clear()
    writer.close()
    store.Writer(path).close()
    assert not synced(steps, path.parent), "a name that was there needs no second sync"


def test_every_reply_is_on_the_disk_when_its_writer_is_closed(path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    assert synced(steps, path)


def test_a_repair_keeps_what_it_moves_before_it_replaces(path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    good = path.read_bytes()
    path.write_bytes(b"no line\n" + good)
    steps.clear()
    store.repair(path)
    side, folder = synced(steps, path.with_name(f"{path.name}.damaged")), synced(steps, path.parent)
    (replaced,) = [at for at, (name, _) in enumerate(steps) if name == "replace"]
    (content,) = synced(steps, path)
    assert side[-1] < folder[0] < replaced, "what is moved away is on the disk under its name first"
    assert content < replaced < folder[-1], "the new file is whole before it takes the name, and keeps it"


def test_an_export_is_whole_before_it_has_its_name(path: Path, tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    target = tmp_path / "elsewhere" / "mine.jsonl"
    target.parent.mkdir()
    steps.clear()
    store.export(tmp_path, target)
    (replaced,) = [at for at, (name, _) in enumerate(steps) if name == "replace"]
    assert synced(steps, target)[0] < replaced < synced(steps, target.parent)[-1]


def test_replies_of_another_store_are_on_the_disk(path: Path, tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    there = tmp_path / "there"
    there.mkdir()
    steps.clear()
    store.merge(tmp_path, there)
    assert synced(steps, store.file_of(there, path.stem)) and synced(steps, there)
