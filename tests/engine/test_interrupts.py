"""Interrupts while calls are made: what is in flight arrives and is stored, a second one gives it up at once."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, store
from helpers.judge import Budget, Interrupted, actual, complete_all, terminal
from helpers.judge.asking import Asking, in_order
from helpers.judge.budget import worst_case
from helpers.judge.terminal import Progress
from helpers.providers import Clock, Stopped
from helpers.run.kernels import begin_process
from helpers.types import Model, Request
from tests.engine.asking import MODELS, PROVIDERS, ask, requests_to
from tests.engine.traces import attempts, statuses, stored
from tests.engine.worker import start
from tests.servers.behaviours import Call, Fault, Reply, only, polite, scripted
from tests.servers.providers import JudgeServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals between processes")
GPT = MODELS["openai"]


def _interrupted(
    folder: Path,
    requests: list[Request],
    when: Callable[[], bool],
    how: Callable[[asyncio.Task[Any]], Any] = asyncio.Task.cancel,
    then: Callable[[asyncio.Task[Any]], Awaitable[None]] | None = None,
    budget: Budget | None = None,
    clock: Clock | None = None,
) -> BaseException:
    """What a run raises that is interrupted as soon as something is so, and `then` again."""

    async def run() -> BaseException:
        options = {"folder": folder, "show": False, "budget": budget or Budget(1e6), "stage": "judging", "clock": clock}
        task = asyncio.create_task(complete_all(requests, **options))
        while not when():
            assert not task.done()
            await asyncio.sleep(0.005)
        how(task)
        if then is not None:
            await then(task)
        with pytest.raises((Interrupted, KeyboardInterrupt)) as raised:
            await task
        for path in folder.glob("*.jsonl"):
            lock = store.try_lock(path)
            assert lock is not None, "freed before the run ends"
            lock.release()
        left = [each for each in asyncio.all_tasks() if each is not asyncio.current_task()]
        await asyncio.sleep(0)
        assert not [each for each in left if not each.done()], "somebody still works"
        return raised.value

    return asyncio.run(run())


# --- the first interrupt ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", [("openai",), ("anthropic",), ("google",), ("openai", "anthropic")])
def test_what_is_in_flight_arrives(
    serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], kinds: tuple[str, ...]
) -> None:
    server, models = serve(latency=0.15), [MODELS[kind] for kind in kinds]
    requests = [request for model in models for request in requests_to(model, 60 // len(models))]
    told = _interrupted(tmp_path, requests, lambda: len(server.calls) >= 20)
    sent = len(server.calls)
    came = [status for model in models for status in statuses(tmp_path, model)]
    assert 20 <= sent < 60 and came == ["ok"] * sent
    assert isinstance(told, Interrupted)
    assert str(told) == (
        f"judging: {sent} of 60 replies are stored, {60 - sent} are missing; run the same again to ask for these only"
    )
    waiting = r"nothing more is sent; waiting up to 30 s for \d+ calls in flight \(interrupt again to end now\)"
    assert re.search(waiting, capfd.readouterr().err)
    assert len(ask(requests, tmp_path)) == 60 and len(server.calls) == 60 and server.duplicates() == 0


def test_nobody_waits_for_retries_and_pauses(serve: Any, tmp_path: Path) -> None:
    def behave(call: Call) -> Reply | Fault:
        faults = {"question 5 ": Fault("429", retry_after=60.0), "question 7 ": Fault("500")}
        return next((fault for name, fault in faults.items() if name in call.prompt), polite(call))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0.001)

    def both_failed() -> bool:
        found = statuses(tmp_path, GPT) if server.calls and server.in_flight == 0 else []
        return {"rate_limited", "provider_error"} <= set(found)

    def interrupt(task: asyncio.Task[Any]) -> None:
        before.append(len(slept))
        task.cancel()

    server, slept, before = serve(behave), [], []
    stopped = Clock(now=lambda: 0.0, sleep=sleep)  # what is waited for by this clock never comes
    _interrupted(tmp_path, requests_to(GPT, 40), both_failed, interrupt, clock=stopped)
    assert before[0] > 0 and len(slept) - before[0] <= 40, "each may have looked up once more before it heard"
    assert len(statuses(tmp_path, GPT)) == len(server.calls) < 40, "all that was sent is written down"


def test_an_interrupt_says_whether_anything_was_asked_and_refuses_a_place_to_whoever_still_waits() -> None:
    budget = Budget(1e6)
    first, asking = (
        Asking({}, {}, {}, {}, budget, Progress("judging", 0, 0, budget, show=False), "judging") for _ in range(2)
    )
    assert asking.interruption().startswith("judging: nothing was asked; 0 of 0 replies are stored")
    assert asking.stop() == 0
    with pytest.raises(Stopped, match="interrupted"):
        asking.reserve(requests_to(GPT, 1)[0])
    assert budget.reserved == 0

    async def ask_one() -> None:
        first.reserve(requests_to(GPT, 1)[0])

    asyncio.run(ask_one())
    assert "nothing was asked" not in first.interruption()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_to_be_ended_is_an_interrupt(serve: Any, tmp_path: Path, number: int, request: pytest.FixtureRequest) -> None:
    before = signal.signal(number, usual := signal.SIG_DFL)  # under nohup it would be ignored
    request.addfinalizer(lambda: signal.signal(number, before))
    server, requests = serve(latency=0.3), requests_to(GPT, 60)

    def raised() -> None:
        async def run() -> None:
            task = asyncio.create_task(complete_all(requests, folder=tmp_path, show=False, budget=Budget(1e6)))
            while len(server.calls) < 20:
                await asyncio.sleep(0.005)
            signal.raise_signal(number)
            if number == signal.SIGHUP:
                await asyncio.sleep(0.02)
                assert not task.done()
                signal.raise_signal(number)  # the terminal and its shell both say so: this is no second interrupt
            await task

        asyncio.run(run())

    with pytest.raises(KeyboardInterrupt, match=r"calls: \d+ of 60 replies are stored"):
        raised()
    assert statuses(tmp_path, GPT) == ["ok"] * len(server.calls) and len(server.calls) < 60
    assert signal.getsignal(number) is usual, "what was there before is there again"


# --- the second one ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_given_up_in_flight_is_recorded_as_perhaps_billed(serve: Any, tmp_path: Path, provider: str) -> None:
    model = MODELS[provider]
    server = serve(lambda call: Fault("slow", seconds=20.0) if "8 about" in call.prompt else scripted([])(call))
    requests, budget = requests_to(model, 9), Budget(1e6)

    async def again(task: asyncio.Task[Any]) -> None:
        await asyncio.sleep(0.05)
        assert not task.done(), "waits for the one that is slow"
        task.cancel()

    def all_but_one() -> bool:
        return server.count() == 9 and statuses(tmp_path, model).count("ok") == 8

    told = _interrupted(tmp_path, requests, all_but_one, then=again, budget=budget)
    # Had anybody gone on waiting, the slow one would have arrived within the grace.
    lost = attempts(tmp_path, model)[-1]
    assert (lost["status"], lost["reply"]["maybe_billed"]) == ("maybe_billed", True)
    assert (lost["reply"]["error"], lost["attempt"]) == ("given up in flight", 1)
    assert lost["reply"]["latency"] is not None and lost["at"]
    assert "1 given up in flight and perhaps billed" in str(told)
    [row], worst = budget.account.rows, worst_case(requests[8])
    assert (row.attempts, row.maybe_billed, row.reserved) == (9, 1, 0.0)
    assert row.maybe_billed_usd == pytest.approx(worst)
    paid = [actual(request, reply) for request in requests if (reply := stored(tmp_path, model).get(request.key))]
    assert len(paid) == 8 and row.usd == budget.spent == pytest.approx(worst + sum(paid))


def test_after_the_grace_a_call_is_given_up(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(only(Fault("slow", seconds=20.0)))
    monkeypatch.setattr(terminal, "GRACE_SECONDS", 0.2)
    told = _interrupted(tmp_path, requests_to(GPT, 3), lambda: len(server.calls) == 1)
    # Within the usual grace it would have arrived.
    assert statuses(tmp_path, GPT) == ["maybe_billed"] and "1 given up" in str(told)


@pytest.mark.parametrize("background", [False, True])
def test_a_second_signal_ends_a_run_with_a_whole_store(serve: Any, tmp_path: Path, background: bool) -> None:
    server = serve(lambda call: Fault("slow", seconds=20.0) if call.n > 20 else scripted([])(call))
    first, second = (signal.SIGTERM, signal.SIGTERM) if background else (signal.SIGINT, signal.SIGINT)
    run = start(tmp_path, server.env(), "--count", "100", *(["--background"] if background else []))
    while server.count(fault="slow") < 16:
        assert run.poll() is None
        time.sleep(0.01)
    if background:
        run.send_signal(signal.SIGINT)  # not for it
        time.sleep(0.1)
    run.send_signal(first)
    told = ""
    while "calls in flight" not in told and (line := run.stderr.readline()):
        told += line
    assert run.poll() is None, "waits for what is in flight"
    run.send_signal(second)
    told += run.communicate(timeout=300)[1]  # against hanging; what is waited for arrives, and is no longer given up
    assert run.returncode == 130
    assert "waiting up to 30 s for 16 calls in flight" in told
    assert "21 of 100 replies are stored, 79 are missing, 16 given up in flight and perhaps billed" in told
    assert sorted(statuses(tmp_path, GPT)) == ["maybe_billed"] * 16 + ["ok"] * 21


# --- in a kernel ------------------------------------------------------------------------------------------------------

CELL = """
from pathlib import Path
from helpers.judge import Budget, complete_all
from tests.engine.asking import MODELS, requests_to
replies = await complete_all(requests_to(MODELS["openai"], 60), folder=Path({folder!r}), budget=Budget(1e6))
len(replies)
"""


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A kernel as JupyterLab starts it, after its client."""
    from jupyter_client.manager import KernelManager

    monkeypatch.chdir(paths.ROOT)
    monkeypatch.setenv("JPY_SESSION_NAME", "a notebook")
    manager = KernelManager(kernel_name="python3")
    running: list[Any] = []

    def begin() -> tuple[Any, Any]:
        manager.start_kernel()
        client = manager.client()
        client.start_channels()
        running.append(client)
        client.wait_for_ready(timeout=120)
        return manager, client

    yield begin
    for client in running:
        client.stop_channels()
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


def _outcome(client: Any, request: str) -> tuple[dict[str, Any], str]:
    """The reply to a cell, and all that stands below it."""
    reply = client.get_shell_msg(timeout=120)
    while reply["parent_header"].get("msg_id") != request:
        reply = client.get_shell_msg(timeout=120)
    shown = []
    while True:
        said = client.get_iopub_msg(timeout=120)
        if said["parent_header"].get("msg_id") == request:
            shown += [str(said["content"].get("text", "")), str(said["content"].get("data", ""))]
            if said["content"].get("execution_state") == "idle":
                return reply["content"], "".join(shown)


def test_an_interrupted_kernel_tells_and_its_next_run_goes_on(serve: Any, tmp_path: Path, kernel: Any) -> None:
    server = serve(latency=0.3)
    manager, client = kernel()
    cell = client.execute(CELL.format(folder=str(tmp_path)))
    while len(server.calls) < 20:
        assert manager.is_alive()
        time.sleep(0.01)
    manager.interrupt_kernel()
    ended, shown = _outcome(client, cell)
    sent = len(server.calls)
    assert sent < 60 and statuses(tmp_path, GPT) == ["ok"] * sent
    assert ended["ename"] == "Interrupted"
    assert f"{sent} of 60 replies are stored, {60 - sent} are missing; run the same again" in ended["evalue"]
    assert re.search(r"waiting up to 30 s for \d+ calls in flight", shown)
    ended, shown = _outcome(client, client.execute(CELL.format(folder=str(tmp_path))))
    assert ended["status"] == "ok" and "60" in shown and len(server.calls) == 60


@pytest.mark.slow
def test_a_kernel_that_is_shut_down_stores_what_arrives(serve: Any, tmp_path: Path, kernel: Any) -> None:
    server = serve(lambda call: Fault("slow", seconds=60.0) if call.n == 25 else scripted([])(call), latency=0.5)
    manager, client = kernel()
    manager.shutdown_wait_time = 20.0  # after half of it the kernel is told to end, and killed after the other half
    client.execute(CELL.format(folder=str(tmp_path)))
    while len(server.calls) < 26:
        assert manager.is_alive()
        time.sleep(0.01)
    manager.shutdown_kernel()
    found = statuses(tmp_path, GPT)
    assert found.count("maybe_billed") == 1 and found.count("ok") == len(server.calls) - 1 < 60


@pytest.mark.parametrize("provider", ["openai", "simulated"])
def test_an_interrupt_is_heard_among_calls_that_wait_for_nothing(provider: str) -> None:
    """As those of a model that was stopped: each is refused before it is sent."""
    made, heard = [], asyncio.Event()

    async def refused(request: Request) -> None:
        made.append(request.key)
        if len(made) == 10:
            asyncio.get_running_loop().call_soon(heard.set)

    model = Model("judge", provider, "m", "gpt")
    requests = [Request(model, f"question {n}") for n in range(1000)]
    asyncio.run(in_order(requests, refused, 64, (), heard.is_set))
    assert 10 <= len(made) <= 130, "not as many by each worker"


# --- interrupted notebooks --------------------------------------------------------------------------------------------

NAME = "05_cognitive_biases"
#: Against hanging, in seconds: nothing here is late.
HANGING = 600.0
GIVEN = ("-p", "judges", "[gpt_fast]", "-p", "biases", "[confirmation]", "-p", "budget_usd", "1000.0")


def _begin(folder: Path, server: JudgeServer | None, *words: str, **how: Any) -> subprocess.Popen[str]:
    """`python -m` with these words and a store in this folder, in a session of its own; an earlier report is there."""
    out = folder / "out"
    out.mkdir()
    (out / "report.ipynb").write_text("the last good one")
    command = [sys.executable, "-m", *words, "-p", "store", str(folder / "replies"), "-p", "out", str(out)]
    env = {**os.environ, **(server.env() if server else {})}
    how = {"stderr": subprocess.PIPE, "start_new_session": True, "preexec_fn": _in_foreground, **how}
    return subprocess.Popen(command, cwd=paths.ROOT, env=env, text=True, **how)


def _in_foreground() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _in_background() -> None:
    # A script's background jobs ignore SIGINT, and so does all that they start.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _until(server: JudgeServer, calls: int, run: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + HANGING
    while len(server.calls) < calls:
        assert run.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)


def _statuses(folder: Path) -> list[str]:
    return [line["status"] for line in store.lines(store.file_of(folder / "replies", "gpt_fast"))]


def _nobody_left(group: int) -> bool:
    """Whether all processes of a session's first group end."""
    until = time.monotonic() + HANGING
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(
    ("number", "begun_as"),
    [
        (signal.SIGINT, _in_foreground),
        pytest.param(signal.SIGTERM, _in_foreground, marks=pytest.mark.slow),
        pytest.param(signal.SIGTERM, _in_background, marks=pytest.mark.slow),
    ],
    ids=["interrupt", "end", "end in background"],
)
def test_a_signal_to_the_command_ends_processes_stored(serve: Any, tmp_path: Path, number: int, begun_as: Any) -> None:
    server = serve(latency=0.5)
    run = _begin(tmp_path, server, "helpers", "run", NAME, *GIVEN, preexec_fn=begun_as)
    _until(server, 20, run)
    run.send_signal(number)
    _, told = run.communicate(timeout=HANGING)
    sent = len(server.calls)
    assert run.returncode == 130, told[-2000:]
    assert _statuses(tmp_path) == ["ok"] * sent, "all that was sent arrived and is stored"
    counts = re.search(
        r"cognitive_biases: interrupted; \w+: (\d+) of (\d+) replies are stored, (\d+) are missing", told
    )
    assert counts and (int(counts[1]), int(counts[3])) == (sent, int(counts[2]) - sent), told[-2000:]
    assert "replies that came are stored" in told and f"this goes on: recuse run {NAME} -p judges '[gpt_fast]'" in told
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["report.ipynb"]
    assert (tmp_path / "out" / "report.ipynb").read_text() == "the last good one"
    assert _nobody_left(run.pid)


@pytest.mark.slow
def test_a_closed_terminal_is_a_request_to_end(serve: Any, tmp_path: Path) -> None:
    import fcntl
    import pty
    import termios

    server = serve(latency=0.5)
    ours, theirs = pty.openpty()

    def at_terminal() -> None:
        _in_foreground()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    run = _begin(tmp_path, server, "helpers", "run", NAME, *GIVEN, preexec_fn=at_terminal, **streams)
    os.close(theirs)
    os.set_blocking(ours, False)
    while len(server.calls) < 20:
        assert run.poll() is None
        try:
            os.read(ours, 65536)  # what is never read would fill the terminal
        except BlockingIOError:
            time.sleep(0.01)
    os.close(ours)
    ended = run.wait(timeout=HANGING)
    assert ended == 130
    assert _statuses(tmp_path) == ["ok"] * len(server.calls)
    assert _nobody_left(run.pid)


@pytest.mark.slow
def test_a_second_signal_ends_the_command_now(serve: Any, tmp_path: Path) -> None:
    # Whoever went on waiting would get these within the grace of 30 seconds, and give none up.
    server = serve(lambda call: Fault("slow", seconds=25.0) if call.n >= 20 else polite(call))
    run = _begin(tmp_path, server, "helpers", "run", NAME, *GIVEN)
    _until(server, 36, run)
    run.send_signal(signal.SIGINT)
    told = ""
    while "calls in flight" not in told and (line := run.stderr.readline()):
        told += line
    assert run.poll() is None, "waits for what is in flight"
    run.send_signal(signal.SIGINT)
    told += run.stderr.read()
    assert run.wait(timeout=HANGING) == 130
    assert sorted(_statuses(tmp_path)) == ["maybe_billed"] * 16 + ["ok"] * 20, "the store is whole, and says it all"
    assert "waiting up to 30 s for 16 calls in flight" in told and "replies that came are stored" in told
    assert _nobody_left(run.pid)


def test_an_idle_process_asked_to_end_twice_does_not_break_the_pool() -> None:
    with ProcessPoolExecutor(1, initializer=begin_process) as pool:
        process = pool.submit(os.getpid).result()
        for _ in range(3):
            os.kill(process, signal.SIGTERM)
            assert pool.submit(os.getpid).result() == process


@pytest.mark.slow
def test_a_command_that_is_killed_takes_along_what_asks_for_it(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.5)
    run = _begin(tmp_path, server, "helpers", "run", NAME, *GIVEN, stderr=subprocess.DEVNULL)
    _until(server, 20, run)
    run.kill()
    run.wait(timeout=HANGING)
    assert _nobody_left(run.pid)
    while (lock := store.try_lock(store.file_of(tmp_path / "replies", "gpt_fast"))) is None:
        time.sleep(0.05)  # whoever asks holds it
    sent = len(server.calls)
    lock.release()
    assert sent < 200 and _statuses(tmp_path) == ["ok"] * sent


@pytest.mark.slow
def test_kernels_side_by_side_are_all_interrupted(tmp_path: Path) -> None:
    names = ("03_quality_self_preference", "04_arena_hard_position_bias", "05_cognitive_biases")
    run = _begin(tmp_path, None, "helpers", "run", *names, "--processes", "2")

    def stored() -> int:
        return sum(file.read_bytes().count(b"\n") for file in (tmp_path / "replies").glob("*.jsonl"))

    deadline = time.monotonic() + HANGING
    while stored() < 1000 and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    run.send_signal(signal.SIGTERM)
    _, told = run.communicate(timeout=HANGING)
    assert run.returncode == 130 and "replies that came are stored" in told, told[-2000:]
    ended = re.findall(r"^\w+_\w+: (?:(interrupted); |not run)", told, re.MULTILINE)
    assert sorted(ended) == ["", "interrupted", "interrupted"], told[-2000:]
    assert stored() < 9000, "nobody went on asking"
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["report.ipynb"]
    assert _nobody_left(run.pid)


@pytest.mark.slow
def test_plain_papermill_that_is_interrupted_loses_no_reply(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.5)
    notebook = str(paths.NOTEBOOKS / f"{NAME}.ipynb")
    given = "{judges: [gpt_fast], biases: [confirmation], budget_usd: 1000.0}"
    run = _begin(tmp_path, server, "papermill", notebook, str(tmp_path / "out.ipynb"), "-y", given)
    _until(server, 20, run)
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=HANGING)
    assert run.returncode != 0
    assert _statuses(tmp_path) == ["ok"] * len(server.calls)
