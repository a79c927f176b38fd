"""Serve a model at 127.0.0.1 with llama.cpp's own server, in the background and for some hours.

`python serve.py model.gguf` starts the server unless it runs, and says how to end it. The process that serves holds a
lock on `server.pid` beside the model, so that a number left behind by an earlier one is never taken for it.
"""

import argparse
import fcntl
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

NAME = "SmolLM2-135M-Instruct"
PORT = 8135
CONTEXT = 4096


def is_locked(file: Path) -> bool:
    """Whether a server holds the lock."""
    if not file.exists():
        return False
    with file.open() as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def serve(model: Path, port: int, hours: float) -> None:
    """Serve in this process until the hours are over or somebody ends it."""
    import xllamacpp

    pid_file = model.with_name("server.pid")
    with pid_file.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        handle.truncate(0)
        print(os.getpid(), file=handle, flush=True)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        settings = xllamacpp.CommonParams()
        settings.model.path, settings.model_alias = str(model), {NAME}
        settings.hostnames, settings.port = ["127.0.0.1"], port
        settings.n_ctx, settings.n_parallel = CONTEXT, 1
        # One core is left to the rest: threads wait for each other, and for long where another process has their core.
        threads = max(1, min(4, len(os.sched_getaffinity(0)) - 1))
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = threads
        try:
            server = xllamacpp.Server(settings)
            print("serving at", server.listening_address, flush=True)
            time.sleep(hours * 3600)
        finally:
            pid_file.unlink()


def is_ready(port: int) -> bool:
    """Whether the server has loaded its model."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as reply:
            return bool(reply.status == 200)
    except OSError:
        return False


def start(model: Path, port: int, hours: float) -> str:
    """Start a process that serves; how it went, in words."""
    pid_file, log = model.with_name("server.pid"), model.with_name("server.log")
    if is_locked(pid_file):
        pid = pid_file.read_text().strip()
        return f"The server runs already (process {pid}). End it with: kill {pid}"
    if is_ready(port):
        sys.exit(f"Another server listens at port {port} of this machine: end it first.")
    command = [sys.executable, __file__, str(model), "--port", str(port), "--hours", str(hours), "--foreground"]
    with log.open("w") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    for _ in range(240):
        if process.poll() is not None:
            sys.exit(f"The server ended by itself; the last of {log}:\n{log.read_text()[-600:]}")
        if is_ready(port):
            return (
                f"{NAME} answers at http://127.0.0.1:{port}/v1 (`local_smollm2` of experiments/models.yaml).\n"
                f"It ends by itself after {hours:g} hours. End it with: kill {process.pid}"
            )
        time.sleep(0.5)
    process.terminate()
    sys.exit(f"The server was not ready within two minutes; its words are in {log}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--port", type=int, default=PORT)
    parser.add_argument("--hours", type=float, default=6)
    parser.add_argument("--foreground", action="store_true", help="serve in this process")
    options = parser.parse_args()
    if options.foreground:
        serve(options.model, options.port, options.hours)
    else:
        print(start(options.model, options.port, options.hours))
