"""What a kernel of `recuse run` does beside its cells; it is run by its path, before the first of them.

Standard library only: nothing of the package is to be imported before a cell asks for it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any


def begin(shell: Any, told: str) -> None:
    """Let each cell begin without garbage, and write into a file after each how long its imports have taken by then."""
    seconds = imports()

    def before(*_: object) -> None:
        # What stood before a cell is no garbage while it runs, and statsmodels looks through everything at each
        # correction: through all that was imported, again and again. What a cell left behind is let go first.
        gc.collect()
        gc.freeze()

    def after(*_: object) -> None:
        Path(told).write_text(f"{seconds():.3f}", encoding="utf-8")

    shell.events.register("pre_run_cell", before)
    shell.events.register("post_run_cell", after)


def imports() -> Callable[[], float]:
    """How many seconds modules have taken to be loaded since; what a module loads counts with it."""
    plain, spent = SourceFileLoader.exec_module, 0.0

    def timed(loader: SourceFileLoader, module: ModuleType) -> None:
        nonlocal spent
        __tracebackhide__ = True  # a module that fails is told without this frame
        begun, SourceFileLoader.exec_module = time.perf_counter(), plain
        try:
            plain(loader, module)
        finally:
            spent += time.perf_counter() - begun
            SourceFileLoader.exec_module = timed

    SourceFileLoader.exec_module = timed
    return lambda: spent
