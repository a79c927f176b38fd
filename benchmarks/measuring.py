"""What one whole process costs, read by the system when it has ended, and medians with their spread."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
#: No program of ours runs longer; one that hangs is ended.
MAX_SECONDS = 900.0


@dataclass(frozen=True)
class Cost:
    """One process: seconds by the wall, seconds of user and system time, largest resident memory in MB, its words.

    Memory is at least that of whoever started it: the system counts what was held before the program took its place.
    """

    seconds: float
    cpu: float
    memory: float
    output: str


def cost(command: Sequence[str], variables: Mapping[str, str] | None = None) -> Cost:
    """Run a program to its end and read what it cost; one that fails is a SystemExit with its last words."""
    begun = time.perf_counter()
    environment = {**os.environ, **(variables or {})}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        timer = threading.Timer(MAX_SECONDS, process.kill)
        timer.daemon = True  # who interrupts does not wait for it
        timer.start()
        errors: list[str] = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begun
        timer.cancel()
        reader.join()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {process.returncode}\n{errors[0][-2000:]}")
    unit = 1e6 if sys.platform == "darwin" else 1e3  # what the system counts memory in: bytes there, kilobytes here
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / unit, output)


@contextmanager
def server(milliseconds: float) -> Iterator[int]:
    """A model's server in a process of its own; its port."""
    command = [sys.executable, "-m", "benchmarks.server", "--milliseconds", str(milliseconds)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(command, cwd=ROOT, **pipes, stderr=errors, text=True) as process,
    ):
        port = process.stdout.readline().strip()
        if not port.isdecimal():
            process.stdin.close()
            code = process.wait(MAX_SECONDS)
            errors.seek(0)
            raise SystemExit(
                f"the server has not started ({' '.join(command)}: exit code {code})\n{errors.read()[-2000:]}"
            )
        yield int(port)
        process.stdin.close()


def spread(values: Sequence[float], digits: int = 2) -> str:
    """The median with the least and the greatest value.

    >>> spread([3.0, 1.0, 2.0])
    '2.00 [1.00, 3.00]'
    """
    return f"{median(values):.{digits}f} [{min(values):.{digits}f}, {max(values):.{digits}f}]"


def goal(values: Sequence[float], limit: float, most: bool, digits: int = 2) -> str:
    """The median against its limit, in words.

    >>> goal([1.2, 1.3, 1.5], 1.35, most=True), goal([0.9], 0.95, most=False)
    ('at most 1.35: met', 'at least 0.95: missed')
    """
    met = median(values) <= limit if most else median(values) >= limit
    return f"at {'most' if most else 'least'} {limit:.{digits}f}: {'met' if met else 'missed'}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as a Markdown table; all columns but the first are numbers."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """The processor, its cores, the memory, the system and Python, in a line."""
    name, memory = platform.processor() or platform.machine(), ""
    try:
        cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        name = next(line.split(":")[1].strip() for line in cpu.splitlines() if line.startswith("model name"))
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (OSError, StopIteration, ValueError):
        pass  # another system, or one that does not say
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} cores{memory}, {platform.system()}, Python {platform.python_version()}"


def loop() -> float:
    """Seconds that a fixed loop takes: whether the machine was quick, and as quick at the end as in the beginning."""
    begun, total = time.perf_counter(), 0
    for number in range(10_000_000):
        total += number * number
    return time.perf_counter() - begun


def versions(packages: Sequence[str]) -> str:
    """Packages of this environment with their versions."""
    return ", ".join(f"{name} {version(name)}" for name in packages)
