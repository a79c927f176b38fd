"""A notebook's cells in a kernel of their own, which is started again where it died before it got any."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers.run.drafts import imports_of
from helpers.run.interrupting import asked_to_end, cells_begun, reachable
from helpers.run.quick import without_grammar

#: How long a kernel may take to answer, in seconds: on a machine that is busy with other runs the usual minute is not
#: enough, and one that died is noticed without it.
START_SECONDS = 300
#: How long what a cell shows may be on its way after the cell has ended, in seconds: nbclient's four would fail a
#: notebook that is done where a busy machine stands still for a moment.
SHOW_SECONDS = 60
#: How often a kernel is started that dies at once: two that start at the same time can choose the same port.
STARTS = 3


def run_cells(notebook: Path, draft: Path, parameters: Mapping[str, Any]) -> float:
    """Run all cells with these parameters; `draft` gets them as they are done. What goes wrong, papermill raises.

    Returns the seconds that their imports took, as far as the kernel could tell.
    """
    from traitlets.config import Config

    with without_grammar():
        import papermill

    until, told = time.monotonic() + START_SECONDS, imports_of(draft)
    for left in reversed(range(STARTS)):
        try:
            with reachable() as interruptible:
                papermill.execute_notebook(
                    str(notebook),
                    str(draft),
                    dict(parameters),
                    kernel_name="python3",
                    language="python",
                    progress_bar=False,
                    log_output=False,
                    start_timeout=max(1, round(until - time.monotonic())),
                    iopub_timeout=SHOW_SECONDS,
                    extra_arguments=[f"--IPKernelApp.exec_lines={before_cells(told)}"],
                    config=Config({"KernelManager": {"transport_encryption": "auto"}}),
                    **interruptible,
                )
            break
        except RuntimeError:  # of a kernel that died; of others no start comes to another end
            if cells_begun() or asked_to_end() or not left or time.monotonic() >= until:
                raise
    return _seconds(told)


def before_cells(told: Path) -> str:
    """The line that each kernel runs before its first cell, in the place of lines of the user's own profile."""
    program = str(Path(__file__).with_name("in_kernel.py"))
    # By its path: to import the package would take longer than all that it does. None of its names becomes a cell's,
    # and its value is None, which no `_` and no `Out` keeps. It ends with no ")": traitlets would take it for a list.
    run = f"exec(open({program!r}, encoding='utf-8').read(), names)"
    return f"(lambda names: ({run}, names['begin'](get_ipython(), {str(told)!r})))({{'__name__': 'in_kernel'}})[1]"


def _seconds(told: Path) -> float:
    try:
        return float(told.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a full disk: the cells ran all the same
        return 0.0
