"""Cells on a Dask cluster: the numbers of a sequence, without a disk in common, and a worker that is killed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from helpers import cluster, paths, store
from helpers.config import ConfigError
from helpers.run import matrix, tabulating
from helpers.run.cells import Task, code
from helpers.run.grid import Cell
from helpers.run.notebooks import Result
from tests.kernels import command
from tests.matrices import cells_of, counted, ran

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SIX = "notebooks: [mt_bench_blind]\nparameters:\n  judges: [[sim_gpt_fast], [sim_claude_fast]]\n  seed: [1, 2, 3]\n"
#: 24 cells; each seed asks everything anew.
SEEDS = (
    f"notebooks: [cognitive_biases]\nparameters:\n  judges: [[gpt_fast], [claude_fast]]\n  seed: {list(range(12))}\n"
)
BUDGET = 100.0


@pytest.fixture(scope="module")
def threads() -> Iterator[str]:
    """A cluster of two workers in threads of this process: quick, and each with a folder of its own."""
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    ) as local:
        yield local.scheduler_address


def numbers(cells: list[Cell], folder: Path) -> list[Any]:
    frame = tabulating.numbers(cells, folder)
    return [list(frame.columns), *frame.astype(object).where(frame.notna(), None).to_numpy().tolist()]


def keys(folder: Path) -> dict[str, list[str]]:
    """The keys of every line that a store holds, by model: a reply that was stored twice stands there twice."""
    return {path.stem: sorted(x["key"] for x in store.lines(path)) for path in store.files(folder / "replies")}


def test_a_cluster_gives_the_numbers_and_the_replies_of_a_sequence(threads: str, tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)
    ran(cells, tmp_path / "sequence")
    outcomes = ran(cells, tmp_path / "cluster", cluster.dask(threads, run=counted))
    assert [outcome.error for outcome in outcomes.values()] == [None] * 6
    assert len(list((tmp_path / "cluster").glob("cells/*/mt_bench_blind/numbers.json"))) == 6, "brought home"
    assert numbers(cells, tmp_path / "cluster") == numbers(cells, tmp_path / "sequence") and len(cells) == 6
    assert keys(tmp_path / "cluster") == keys(tmp_path / "sequence")


def lost_at_first(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """A worker that is gone as soon as it has begun a cell, once for each mark in `LOST_AT_FIRST`."""
    if LOST_AT_FIRST:
        LOST_AT_FIRST.pop()
        raise cluster.Lost
    return counted(notebook, report, parameters)


LOST_AT_FIRST: list[int] = []


def test_a_lost_cell_is_begun_again_three_times_at_most_and_counts_as_paid(
    threads: str, serve: Any, tmp_path: Path
) -> None:
    serve()
    cells = cells_of(tmp_path, SEEDS, question_limit=2, repeats=1)[:1]
    for losses, error in ((2, None), (3, "05_cognitive_biases: its process died (killed, or out of memory)")):
        LOST_AT_FIRST[:] = [0] * losses
        folder = tmp_path / str(losses)
        given = matrix.prepare(cells, folder, folder / "replies", 3.0)
        (outcome,) = matrix.run_matrix(given, cluster.dask(threads, run=lost_at_first), lambda *_: None).values()
        assert outcome.error == error and not LOST_AT_FIRST
        # Nobody knows what the lost ones spent: at most what they were given. Money for another is kept.
        assert given.spent >= losses * given.plan.usd * (1 - 1e-9) and given.spent <= 3.0


def test_a_cell_that_was_begun_is_not_begun_again_by_dask_itself(threads: str, tmp_path: Path) -> None:
    (cell,) = cells_of(tmp_path, SIX, question_limit=2)[:1]
    task = Task(cell, {}, 0.0, code(), "a token of this test")
    with distributed.Client(threads) as client:
        assert client.submit(cluster.remote, task, counted, pure=False).result().error is None
        with pytest.raises(cluster.Lost):  # as when its worker dies, and Dask gives the same task to another
            client.submit(cluster.remote, task, counted, pure=False).result()


@pytest.mark.parametrize(
    ("before", "now", "told"),
    [
        ("other", "other", "has another state of Recuse: install the same commit there"),
        ("old", "present", "was started before its Recuse was changed: restart it"),
        ("present", "new", "has another state of Recuse: install the same commit there"),
    ],
)
def test_a_worker_that_joined_with_other_code_runs_nothing(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: str, now: str, told: str
) -> None:
    (cell,) = cells_of(tmp_path, SIX, question_limit=2)[:1]
    monkeypatch.setattr(cluster, "code", lambda: before)
    monkeypatch.setattr(cluster, "code_now", lambda: now)
    with distributed.Client(threads) as client:
        task = Task(cell, {}, 0.0, "present", f"{before}, {now}")
        outcome = client.submit(cluster.remote, task, counted, pure=False).result()
    assert told in outcome.error and outcome.error.startswith("01_mt_bench_blind: the worker at tcp://")


def test_a_worker_of_several_threads_is_told_before_a_cell_is_begun(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]
    options = {"threads_per_worker": 2, "processes": False, "protocol": "tcp", "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(n_workers=1, dashboard_address="127.0.0.1:0", **options) as two,
        pytest.raises(ConfigError, match=r"the worker at tcp://\S+ has several threads.*start it with --nthreads 1"),
    ):
        ran(cells, tmp_path, cluster.dask(two.scheduler_address, run=counted))


def test_replies_come_home_though_the_folder_of_their_cell_cannot_be_removed(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]

    def held(*_: Any, **__: Any) -> None:
        raise OSError("the folder is not empty")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", held)
        (outcome,) = ran(cells, tmp_path / "cluster", cluster.dask(threads, run=counted)).values()
    ran(cells, tmp_path / "sequence")
    assert outcome.error is None and keys(tmp_path / "cluster") == keys(tmp_path / "sequence")


def test_a_worker_with_other_code_or_without_a_key_is_told_before_a_cell_is_begun(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]
    with pytest.raises(ConfigError, match=r"the worker at tcp://\S+ lacks a key: .*OPENAI_API_KEY \(needed by gpt_"):
        ran(cells, tmp_path, cluster.dask(threads, needs=["sim_gpt_fast", "gpt_fast"], run=counted))
    monkeypatch.setattr(cluster, "code_now", lambda: "there")
    told = r"(?s)worker at tcp://\S+ has another state of Recuse.*worker at tcp://\S+ has another state"
    with pytest.raises(ConfigError, match=told):
        ran(cells, tmp_path, cluster.dask(threads, run=counted))
    assert not list(tmp_path.glob("cells/*/*/numbers.json"))


def failing(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """As a notebook that leaves itself as far as it came, and names the file."""
    report.parent.mkdir(parents=True, exist_ok=True)
    report.with_name("report.failed.ipynb").write_text("{}")
    return Result(notebook.stem, report, 0.0, f"cell [3] failed (see {report.with_name('report.failed.ipynb')})")


def test_a_cell_that_failed_elsewhere_names_its_files_as_they_lie_here(threads: str, tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]
    (outcome,) = ran(cells, tmp_path, cluster.dask(threads, run=failing)).values()
    assert outcome.error == "01_mt_bench_blind: cell [3] failed (see mt_bench_blind/report.failed.ipynb)"
    assert (tmp_path / "cells" / cells[0].id / "mt_bench_blind" / "report.failed.ipynb").is_file()


def test_workers_that_join_later_get_cells_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "ROOM_SECONDS", 0.05)
    begun, both = threading.Event(), threading.Barrier(2, timeout=60)

    def meeting(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
        begun.set()
        both.wait()
        return counted(notebook, report, parameters)

    MEETINGS.append(meeting)
    cells = [cell for cell in cells_of(tmp_path, SIX, question_limit=1) if cell.varied["seed"] == 1]
    ran(cells, tmp_path)  # so that the two cells do not wait for replies that both would ask for
    shutil.rmtree(tmp_path / "cells")
    options = {"threads_per_worker": 1, "processes": False, "protocol": "tcp", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=1, dashboard_address="127.0.0.1:0", **options) as growing:
        grow = threading.Thread(target=lambda: begun.wait(60) and growing.scale(2))
        grow.start()
        outcomes = ran(cells, tmp_path, cluster.dask(growing.scheduler_address, run=meet))
        grow.join()
    assert [outcome.error for outcome in outcomes.values()] == [None, None]


MEETINGS: list[Any] = []


def meet(*given: Any) -> Result:
    return MEETINGS[-1](*given)


def test_an_interrupt_while_a_cell_is_brought_home_loses_nothing(
    threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, unpack, times = cells_of(tmp_path, SIX, question_limit=1)[:1], matrix.unpack, []

    def interrupted(files: Mapping[str, bytes], folder: Path) -> None:
        times.append(folder)
        if len(times) == 1:
            raise KeyboardInterrupt
        unpack(files, folder)

    monkeypatch.setattr(matrix, "unpack", interrupted)
    with pytest.raises(KeyboardInterrupt, match=f"cell {cells[0].id}: ended"):
        ran(cells, tmp_path, cluster.dask(threads, run=counted))
    assert len(times) == 2
    ran(cells, tmp_path / "sequence")
    assert keys(tmp_path) == keys(tmp_path / "sequence")
    assert ran(cells, tmp_path) == {}, "and the cell is done"


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = "tcp://{}:{}".format(*silent.getsockname())
        for where, error, told in (
            ("tcp://127.0.0.1:9", OSError, r"127\.0\.0\.1:9"),
            (address, OSError, f"{address}: something listens there, but no Dask scheduler answered"),
            ("http://127.0.0.1:9", ValueError, "unknown address scheme 'http'"),
        ):
            with pytest.raises(error, match=told), cluster.dask(where, run=counted)({}):
                pass


def begun(folder: str) -> None:
    (Path(folder) / "begun").touch()


def test_a_cluster_on_this_machine_obeys_its_command_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = list[Any]()

    def kept(module: Any, workers: int | None, plain: Any = cluster._cluster) -> Any:
        opened.append(plain(module, workers))
        return opened[-1]

    monkeypatch.setattr(cluster, "_cluster", kept)
    with cluster.dask("local", 1, run=counted)({}):
        address = opened[0].scheduler_address
        for where in (address, address.replace("tls://", "tcp://")):
            refused = pytest.raises((OSError, TypeError, ValueError, RuntimeError))  # without papers, then without tls
            with refused, distributed.Client(where, timeout=3) as stranger:
                stranger.run_on_scheduler(begun, str(tmp_path))
    assert not (tmp_path / "begun").exists()


# --- workers in processes of their own --------------------------------------------------------------------------------


#: The folder in which a worker notes that it is about to be killed.
MARKS = "RECUSE_TEST_MARKS"


def killed_once(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """As `counted`; the first worker that comes to one of the cells is killed when it has stored two of its replies."""
    mark, replies = Path(os.environ[MARKS]) / "killed", Path(parameters["store"]) / "gpt_fast.jsonl"

    def kill() -> None:
        while not replies.exists() or replies.read_bytes().count(b"\n") < 2:
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGKILL)

    if parameters["seed"] == 7 and parameters["judges"] == ["gpt_fast"] and not mark.exists():
        mark.touch()
        threading.Thread(target=kill, daemon=True).start()
    return counted(notebook, report, parameters)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("run", [counted, killed_once])
def test_24_cells_on_two_workers_are_those_of_a_sequence_and_nothing_that_came_back_is_paid_twice(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.setenv(MARKS, str(tmp_path))
    cells = cells_of(tmp_path, SEEDS, question_limit=3, repeats=1)
    assert len(cells) == 24
    serve()
    ran(cells, tmp_path / "sequence", budget_usd=BUDGET)
    server = serve(latency=0.2)
    given = matrix.prepare(cells, tmp_path / "cluster", tmp_path / "cluster" / "replies", BUDGET)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as where:
        outcomes = matrix.run_matrix(given, cluster.dask(where.scheduler_address, run=run), lambda *_: None)
    known = sum(outcome.spent_usd for outcome in outcomes.values())
    assert len(outcomes) == 24 and not any(outcome.error for outcome in outcomes.values())
    assert numbers(cells, tmp_path / "cluster") == numbers(cells, tmp_path / "sequence")
    assert keys(tmp_path / "cluster") == keys(tmp_path / "sequence")
    # The kill cost calls of the one cell that ran there, at least the two that it had stored, and no call of another.
    (lost,) = (cell for cell in cells if cell.varied == {"judges": ["gpt_fast"], "seed": 7})
    asked = Counter((entry.provider, entry.call.prompt) for entry in server.calls)
    twice = {prompt for (_, prompt), times in asked.items() if times > 1}
    assert len(asked) == sum(map(len, keys(tmp_path / "sequence").values())) and max(asked.values()) <= 2
    if run is counted:
        assert not twice and given.spent == pytest.approx(known)
    else:
        prompts = matrix.foresee(matrix.settle([lost], tmp_path / "cluster" / "replies")[lost.id]).prompts["gpt_fast"]
        assert len(twice) >= 2 and twice <= prompts
        # What the killed worker spent nobody knows: it counts as all that it was given, more than the cell could cost.
        assert given.plan.usd / 24 < given.spent - known < BUDGET


@pytest.mark.slow
def test_notebooks_on_a_cluster_give_the_numbers_of_a_sequence(tmp_path: Path) -> None:
    grid = tmp_path / "grid.yaml"
    grid.write_text(
        "notebooks: [mt_bench_blind, cognitive_biases]\nparameters:\n  seed: [1, 2]\n  question_limit: [10]\n"
    )
    found = {}
    for name, how in (("sequence", ("--processes", "1")), ("cluster", ("--dask", "local", "--processes", "2"))):
        out = tmp_path / name
        words = ("-p", "out", str(out), "-p", "store", str(out / "replies"), *how)
        done = command("helpers", "run", "--matrix", str(grid), *words, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        found[name] = (out / "matrix.csv").read_bytes()
        assert len(list(out.glob("cells/*/*/report.ipynb"))) == 4
        states = (out / "cells.csv").read_text().splitlines()
        assert len(states) == 3 and all(",done," in line for line in states[1:])
    assert found["cluster"] == found["sequence"] and found["sequence"].count(b"\n") > 100
    for cell in (tmp_path / "cluster" / "cells").iterdir():
        twin = tmp_path / "sequence" / "cells" / cell.name / "mt_bench_blind" / "numbers.json"
        assert json.loads((cell / "mt_bench_blind" / "numbers.json").read_text()) == json.loads(twin.read_text())


def in_foreground() -> None:
    """Hear Ctrl-C, and a terminal that closes, which tests in the background have ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no signals between processes")
@pytest.mark.parametrize(
    ("where", "signals"),
    [
        ((), [signal.SIGINT]),
        (("--dask", "local"), [signal.SIGINT]),
        (("--dask", "local"), [signal.SIGTERM]),
        (("--dask", "local"), [signal.SIGHUP] * 2),
    ],
    ids=["processes", "cluster", "ended", "closed terminal"],
)
def test_an_interrupt_loses_no_reply_and_the_same_command_goes_on(
    serve: Any, tmp_path: Path, where: tuple[str, ...], signals: list[int]
) -> None:
    server = serve(latency=0.2)
    (tmp_path / "grid.yaml").write_text(SEEDS.replace(str(list(range(12))), "[1, 2]"))
    common = ("-p", "question_limit", "2", "-p", "repeats", "1", "-p", "budget_usd", "100", "-p", "out", str(tmp_path))
    words = ("--matrix", str(tmp_path / "grid.yaml"), *common, "-p", "store", str(tmp_path / "replies"), *where)
    line = [sys.executable, "-m", "helpers", "run", *words, "--processes", "2"]
    env = {**os.environ, **server.env()}
    how = {"stderr": subprocess.PIPE, "process_group": 0, "preexec_fn": in_foreground}
    run = subprocess.Popen(line, cwd=paths.ROOT, env=env, text=True, **how)
    while len(server.calls) < 4:
        assert run.poll() is None
        time.sleep(0.01)
    # As a terminal does: to the command and to all that it started. Who ends a command signals that alone.
    (os.killpg if signals[0] == signal.SIGINT else os.kill)(run.pid, signals[0])
    for number in signals[1:]:
        assert any("interrupt again" in line for line in run.stderr), "it waits for cells that run"
        os.kill(run.pid, number)
    _, told = run.communicate(timeout=1200)
    assert run.returncode == 130 and "this goes on: recuse run --matrix" in told, told
    paid = len(server.calls)
    assert sum(map(len, keys(tmp_path).values())) == paid, "all that was asked is in the main store"
    again = subprocess.run(line, cwd=paths.ROOT, env=env, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert server.duplicates() == 0 and len(server.calls) > paid
    states = (tmp_path / "cells.csv").read_text().splitlines()
    assert len(states) == 5 and all(",done," in line for line in states[1:])
