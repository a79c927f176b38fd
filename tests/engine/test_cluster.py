"""Cells on a Dask cluster: the numbers of a sequence, without a disk in common, and a worker that is killed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest

from helpers import cluster, paths, store
from helpers.config import ConfigError
from helpers.run import cells as run_cells, matrix
from helpers.run.cells import Cell, Task, code
from helpers.run.notebooks import Result
from tests.kernels import command
from tests.matrices import cells_of, counted, ran

distributed = pytest.importorskip("distributed", reason="the extra `cluster` is not installed")

SIX = "notebooks: [mt_bench_blind]\nparameters:\n  judges: [[sim_gpt_fast], [sim_claude_fast]]\n  seed: [1, 2, 3]\n"
#: 24 cells; each seed asks everything anew.
JUDGES = "notebooks: [cognitive_biases]\nparameters:\n  judges: [[gpt_fast], [claude_fast]]\n"
SEEDS = f"{JUDGES}  seed: {list(range(12))}\n"
BUDGET = 100.0


@pytest.fixture(scope="module")
def threads() -> Iterator[str]:
    """A cluster of two workers in threads of this process: quick, and each with a folder of its own."""
    with growing(2) as local:
        yield local.scheduler_address


def numbers(cells: list[Cell], folder: Path) -> list[Any]:
    frame = run_cells.numbers(cells, folder)
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


def test_a_lost_cell_is_begun_again_and_counts_as_paid(
    threads: str, serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve()
    cells = cells_of(tmp_path, SEEDS, question_limit=2, repeats=1)[:1]
    left = list[int]()

    def lost_at_first(**options: Any) -> Any:
        """The folder of a cell, in which the worker is gone as soon as it has begun, as often as is left."""
        if left:
            left.pop()
            raise cluster.Lost
        return TemporaryDirectory(**options)

    monkeypatch.setattr(cluster, "TemporaryDirectory", lost_at_first)
    for losses, error in ((2, None), (3, "05_cognitive_biases: its process died (killed, or out of memory)")):
        left[:] = [0] * losses
        folder = tmp_path / str(losses)
        given = matrix.prepare(cells, folder, folder / "replies", 3.0)
        (outcome,) = matrix.run_matrix(given, cluster.dask(threads, run=counted), lambda *_: None).values()
        assert outcome.error == error and not left
        (state,) = run_cells.states(cells, folder)["spent_usd"]
        assert outcome.spent_usd == given.spent and state == pytest.approx(given.spent, abs=1e-6), "it says so"
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
        ("other", "other", "has another state of Recuse: it needs the same commit, models.yaml, configs"),
        ("old", "present", "was started before its Recuse was changed: restart it"),
        ("present", "new", "has another state of Recuse: it needs the same commit, models.yaml, configs"),
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
        with pytest.raises(cluster.Unfit, match=rf"tcp://\S+', '{told}"):
            client.submit(cluster.remote, task, counted, pure=False).result()
        monkeypatch.undo()  # the same try is not begun yet: a worker that is fit can take it
        assert client.submit(cluster.remote, replace(task, code=code()), counted, pure=False).result().error is None


@contextmanager
def growing(workers: int, threads: int = 1) -> Iterator[Any]:
    """A cluster of workers in threads, called 0, 1, ... in the order in which they join."""
    options = {"threads_per_worker": threads, "processes": False, "protocol": "tcp", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=workers, dashboard_address="127.0.0.1:0", **options) as local:
        yield local


#: How often each worker, by name, says yet that it is fit; others always are. Whom it was asked of, in order.
STILL_FIT: dict[int, int] = {}
ASKED: list[int] = []


def standing(_state: str, _needs: Any, dask_worker: Any) -> str:
    """In place of `unready`; called by its name, in threads of this process."""
    name = dask_worker.name
    ASKED.append(name)
    if STILL_FIT.setdefault(name, sys.maxsize):
        STILL_FIT[name] -= 1
        return ""
    return "has several threads"


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What whoever started the run is told, where workers stand as STILL_FIT says."""
    STILL_FIT.clear()
    ASKED.clear()
    found = list[str]()
    monkeypatch.setattr(cluster, "unready", standing)
    monkeypatch.setattr(cluster, "notice", found.append)
    monkeypatch.setattr(matrix, "ROOM_SECONDS", 0.05)
    return found


@pytest.mark.parametrize("times", [0, 1], ids=["when it joins", "after it was asked"])
def test_an_unfit_worker_that_joins_later_gets_no_cell(tmp_path: Path, told: list[str], times: int) -> None:
    STILL_FIT[1] = times
    cells, ended = cells_of(tmp_path, SIX, question_limit=1), list[str | None]()
    with growing(0) as local:
        local.scale(1)

        def more(cell: Cell, outcome: Any) -> None:
            ended.append(outcome.error)
            if len(ended) == 1:
                local.scale(2)
                local.sync(local._correct_state)

        ran(cells, tmp_path, cluster.dask(local.scheduler_address, run=counted), tell=more)
    assert ended == [None] * 6, "the others go on where the first one went"
    assert ASKED.count(1) == 1 + times, "once when it joined, and once for the cell that it was given"
    assert re.fullmatch(r"the worker at \S+ has several threads; until then it gets no cell", told[-1])
    assert sum("several threads" in line for line in told) == 1


def test_where_only_unfit_workers_join_nothing_begins(
    tmp_path: Path, told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    STILL_FIT[0] = 0
    cells = cells_of(tmp_path, SIX, question_limit=1)[:2]
    with growing(0) as local:

        def grow(words: str) -> None:
            told.append(words)
            local.scale(1)

        monkeypatch.setattr(cluster, "notice", grow)
        unheard = threading.Timer(60, local.scale, [1])  # a run that says nothing shall end too
        unheard.daemon = True
        unheard.start()
        with pytest.raises(ConfigError, match=r"^the worker at tcp://\S+ has several threads$"):
            ran(cells, tmp_path, cluster.dask(local.scheduler_address, run=counted))
        unheard.cancel()
        assert told[0] == f"waiting for the first worker of {local.scheduler_address}" and len(told) == 2
    assert not list(tmp_path.glob("cells/*"))


def test_what_waits_for_workers_that_are_all_gone_is_begun_again_elsewhere() -> None:
    """Dask itself would have it wait for ever."""
    asked = list[Any]()

    def executor(**options: Any) -> Any:
        asked.append(options)
        return SimpleNamespace(submit=lambda *_: Future())

    there = {"a": 1, "b": 1, "c": 1}
    run = lambda _function, *_, workers, on_error: {at: "unfit" if at == "c" else "" for at in workers}  # noqa: E731
    client = SimpleNamespace(nthreads=lambda: dict(there), run=run, get_executor=executor)
    members = cluster.Workers(client, [])
    members.look()
    bound = members.begin(print)
    del there["a"]
    members.look()
    assert not bound.done() and asked == [{"pure": False, "workers": ["a", "b"], "allow_other_workers": True}]
    del there["b"]
    there["d"] = 1
    members.look()
    assert bound.cancelled() and members.fit() == ["d"] and not members.bound
    del there["c"]
    members.look()
    members.begin(print)
    assert asked[1] == {"pure": False} and not members.bound, "where all are fit anyone may have it"


def paid_and_broken(notebook: Path, report: Path, parameters: Mapping[str, Any]) -> Result:
    """As a notebook that has asked, after which something is wrong with the worker's files."""
    counted(notebook, report, parameters)
    raise OSError("config.yaml: half of it")


def test_what_a_cell_has_paid_for_is_kept_when_something_breaks_later(threads: str, serve: Any, tmp_path: Path) -> None:
    server = serve()
    cells = cells_of(tmp_path, SEEDS, question_limit=2, repeats=1)[:1]
    given = matrix.prepare(cells, tmp_path, tmp_path / "replies", 3.0)
    (outcome,) = matrix.run_matrix(given, cluster.dask(threads, run=paid_and_broken), lambda *_: None).values()
    assert outcome.error == "05_cognitive_biases: OSError: config.yaml: half of it"
    paid = len(server.calls)
    assert paid == sum(map(len, keys(tmp_path).values())) > 0 and given.spent <= 3.0
    (again,) = ran(cells, tmp_path, cluster.dask(threads, run=counted), budget_usd=3.0).values()
    assert again.error is None and len(server.calls) == paid


def test_a_worker_of_several_threads_is_told_before_a_cell_is_begun(tmp_path: Path) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]
    with (
        growing(1, threads=2) as two,
        pytest.raises(ConfigError, match=r"the worker at tcp://\S+ has several threads.*start it with --nthreads 1"),
    ):
        ran(cells, tmp_path, cluster.dask(two.scheduler_address, run=counted))


def test_replies_are_kept_if_a_folder_stays(threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = cells_of(tmp_path, SIX, question_limit=2)[:1]

    def held(*_: Any, **__: Any) -> None:
        raise OSError("the folder is not empty")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", held)
        (outcome,) = ran(cells, tmp_path / "cluster", cluster.dask(threads, run=counted)).values()
    ran(cells, tmp_path / "sequence")
    assert outcome.error is None and keys(tmp_path / "cluster") == keys(tmp_path / "sequence")


def test_a_worker_of_other_code_or_no_key(threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with growing(1) as local:
        grow = threading.Thread(target=lambda: begun.wait(60) and local.scale(2))
        grow.start()
        outcomes = ran(cells, tmp_path, cluster.dask(local.scheduler_address, run=meet))
        grow.join()
    assert [outcome.error for outcome in outcomes.values()] == [None, None]


MEETINGS: list[Any] = []


def meet(*given: Any) -> Result:
    return MEETINGS[-1](*given)


def test_an_interrupt_while_a_cell_comes_home(threads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells, unpack, times = cells_of(tmp_path, SIX, question_limit=1)[:1], matrix.unpack, []

    def interrupted(files: Mapping[str, bytes], folder: Path) -> None:
        times.append(folder)
        if len(times) == 1:
            raise KeyboardInterrupt
        unpack(files, folder)

    monkeypatch.setattr(matrix, "unpack", interrupted)
    with pytest.raises(KeyboardInterrupt, match=f"{cells[0].id}: done"):
        ran(cells, tmp_path, cluster.dask(threads, run=counted))
    assert len(times) == 2
    ran(cells, tmp_path / "sequence")
    assert keys(tmp_path) == keys(tmp_path / "sequence")
    assert ran(cells, tmp_path) == {}, "and the cell is done"


def test_a_scheduler_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
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
def test_24_cells_on_two_workers_are_those_of_a_sequence(
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
    assert given.spent == pytest.approx(known)
    if run is counted:
        assert not twice
    else:
        prompts = matrix.foresee(matrix.settle([lost], tmp_path / "cluster" / "replies")[lost.id]).prompts["gpt_fast"]
        assert len(twice) >= 2 and twice <= prompts
        # What the killed worker spent nobody knows: it counts as all that it was given, more than the cell could cost.
        assert given.plan.usd / 24 < outcomes[lost.id].spent_usd < given.spent < BUDGET


@pytest.mark.slow
def test_notebooks_on_a_cluster_give_the_numbers_of_a_sequence(tmp_path: Path) -> None:
    grid = tmp_path / "grid.yaml"
    both = "notebooks: [mt_bench_blind, cognitive_biases]\n"
    grid.write_text(f"{both}parameters:\n  seed: [1, 2]\n  question_limit: [10]\n")
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
def test_an_interrupt_loses_no_reply(serve: Any, tmp_path: Path, where: tuple[str, ...], signals: list[int]) -> None:
    server = serve(latency=0.2)
    (tmp_path / "grid.yaml").write_text(f"{JUDGES}  seed: [1, 2]\n")
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
