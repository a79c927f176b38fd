"""Interrupted notebooks: whoever is asked to end, and however, each kernel stores its calls and the command says so."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, store
from helpers.run.kernels import begin_process
from tests.servers.behaviours import Fault, polite
from tests.servers.providers import JudgeServer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals between processes")

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
def test_a_signal_to_the_command_alone_ends_its_processes_when_their_calls_are_stored(
    serve: Any, tmp_path: Path, number: int, begun_as: Any
) -> None:
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
