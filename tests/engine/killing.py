"""Runs that are ended at random moments and started again, and the server's ledger against the store after them."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.engine.asking import MODELS
from tests.engine.traces import attempts
from tests.engine.worker import start
from tests.servers.behaviours import TRANSIENT, Fault, Step
from tests.servers.providers import JudgeServer

CONCURRENCY = 16
GPT = MODELS["openai"]
#: All that is asked again within the retry table and does not take its time, each four times.
RETRIED: tuple[Step, ...] = (*TRANSIENT, "408", "409", "502", "504", "empty", Fault("429", retry_after=1.0)) * 4
#: What takes its time: longer than a call may. (A short limit would hit honest replies where other work runs.)
SLOW = Fault("slow", seconds=6.0)
LIMIT = ("--timeout", "5")
#: Waits between attempts are a hundredth of what they are.
HURRIED = ("--waits", "0.01")


@dataclass(frozen=True)
class Account:
    """The server's ledger against the store.

    `requests` came to the server and `lines` were stored; `paid` of the requests were answered with a whole reply, and
    `whole` of the lines hold one. `keys` have a finished reply, `finished` lines hold one. `faults` counts requests.
    """

    requests: int
    lines: int
    paid: int
    whole: int
    keys: int
    finished: int
    faults: int
    raw: bool

    def check(self, count: int, lost: int) -> None:
        """Nothing is missing, nothing is there twice, and no more than `lost` calls left no trace."""
        assert self.keys == count, f"{count - self.keys} missing"
        assert self.finished == self.keys, f"{self.finished - self.keys} stored twice"
        assert self.raw, "a stored reply without its raw body"
        assert self.paid - self.whole <= lost, f"{self.paid - self.whole} replies paid and not stored, allowed: {lost}"
        assert self.requests - self.lines <= lost, f"{self.requests - self.lines} calls without a trace"


def account(server: JudgeServer, folder: Path) -> Account:
    """What was asked and what is stored; reading checks every line on the way."""
    while server.in_flight:  # what nobody waits for any more
        time.sleep(0.01)
    lines = attempts(folder, GPT)
    whole = [line for line in lines if line["status"] in ("ok", "empty")]
    finished = [line["key"] for line in lines if line["status"] == "ok"]
    return Account(
        requests=len(server.calls),
        lines=len(lines),
        paid=sum(entry.fault is None for entry in server.calls),
        whole=len(whole),
        keys=len(set(finished)),
        finished=len(finished),
        faults=sum(entry.fault is not None for entry in server.calls) + len(whole) - len(finished),
        raw=all(line["raw"] for line in whole),
    )


def end_and_resume(
    server: JudgeServer, folder: Path, count: int, signals: Sequence[int], *arguments: str, in_pairs: Sequence[int] = ()
) -> None:
    """Start the same run again and again, each ended by one of `signals` at a random moment, until one ends by itself.

    `in_pairs` are places in `signals` at which two runs of the same are alive, of which one is ended.
    """
    rng, ended, alive = random.Random(f"kill:{count}:{len(signals)}"), 0, []
    share = count // (len(signals) + 1)  # so that no run ends before it is ended
    while True:
        while len(alive) < 1 + (ended in in_pairs):
            how = ("--count", str(count), "--concurrency", str(CONCURRENCY), *arguments)
            alive.append(start(folder, server.env(), *how))
        victim = None
        if ended < len(signals):
            moment = len(server.calls) + rng.randint(share // 3, share)
            while len(server.calls) < moment and all(run.poll() is None for run in alive):
                time.sleep(0.003)
            time.sleep(rng.random() * server.latency)
            victim = rng.choice(alive)
            if victim.poll() is None:
                victim.send_signal(signals[ended])
                ended += 1
        for run in [run for run in alive if run is victim or run.poll() is not None] or alive[:1]:
            alive.remove(run)
            if _ended_by_itself(run, count) and not alive:
                assert ended == len(signals), "a run that ends before it is ended tests nothing"
                return


def _ended_by_itself(run: subprocess.Popen[str], count: int) -> bool:
    """Whether a run brought everything; if not it was ended, or some faults were too many for it."""
    said, errors = run.communicate(timeout=300)
    if run.returncode == 0:
        assert said == f"{count} replies\n", said
        return True
    by_signal = run.returncode in (-signal.SIGKILL, 130)
    # Whoever waits for the other's file is not asking, and SIGTERM ends it without a word.
    waiting = run.returncode == -signal.SIGTERM and "waiting for" in errors
    assert by_signal or waiting or "are still missing" in errors, (run.returncode, errors)
    assert "Traceback" not in errors or "are still missing" in errors, errors
    return False
