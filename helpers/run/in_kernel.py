"""What a kernel of `recuse run` does beside its cells; it is run by its path, before the first of them.

Standard library only: nothing of the package is to be imported before a cell asks for it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any


def begin(shell: Any, told: str) -> None:
    """Let each cell begin without garbage, and write into a file after each how many seconds imports took by then."""
    seconds = imports()

    def before(*_: object) -> None:
        # What stood before a cell is no garbage while it runs, and statsmodels looks through everything at each
        # correction: through all that was imported, again and again. What a cell left behind is let go first.
        gc.collect()
        gc.freeze()

    def after(*_: object) -> None:
        with suppress(OSError):  # a full disk: an error here would be one of the cell
            Path(told).write_text(f"{seconds():.3f}", encoding="utf-8")

    shell.events.register("pre_run_cell", before)
    shell.events.register("post_run_cell", after)


def imports() -> Callable[[], float]:
    """How many seconds modules have taken to be loaded since; what a module loads counts with it."""
    plain, spent = SourceFileLoader.exec_module, 0.0

    def timed(loader: SourceFileLoader, module: ModuleType) -> None:
        nonlocal spent
        begun = time.perf_counter()
        SourceFileLoader.exec_module = plain  # what the module imports counts with it, and is not counted twice
        try:
            plain(loader, module)
        finally:
            spent += time.perf_counter() - begun
            SourceFileLoader.exec_module = timed

    # Tracebacks and warnings leave out what is Python's own machinery of imports, by its file: so also this.
    timed.__code__ = timed.__code__.replace(co_filename=plain.__code__.co_filename)
    SourceFileLoader.exec_module = timed
    return lambda: spent
