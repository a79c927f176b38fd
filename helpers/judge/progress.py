"""Done, stored, failed, spent and the time left: for whoever is looking, never part of an artefact."""

from __future__ import annotations

import os
import sys
import time
from typing import Any, TextIO

from helpers.escaping import terminal
from helpers.judge.budget import Budget, Spending, summed
from helpers.providers import in_browser
from helpers.providers.keys import redact

#: Models whose costs stand in the line by name, the dearest first: a line is no table.
NAMED = 4
#: The line is made anew no more often than so, in seconds: in a terminal, and in a browser.
SLOW, QUICK = 1.0, 0.1


def _stream() -> TextIO:
    """Where progress may be written without becoming part of a notebook's output.

    A kernel replaces both its standard error and the file behind it; it keeps a copy of the file that it was
    started with, which under papermill is the parent's.
    """
    copy = getattr(sys.stderr, "_original_stdstream_copy", None)
    return os.fdopen(os.dup(copy), "w", buffering=1) if isinstance(copy, int) else sys.__stderr__ or sys.stderr


def notice(text: str) -> None:
    """A line for whoever started the run; never part of a notebook's output."""
    stream = _stream()
    print(terminal(redact(text)), file=stream, flush=True)
    if stream not in (sys.__stderr__, sys.stderr):
        stream.close()


def money(budget: Budget) -> str:
    """The account in a few words: spent of how much, reserved, perhaps billed, and by model where several cost."""
    rows = budget.rows
    total, dear = summed("total", rows, budget.limit), sorted((row for row in rows if row.usd), key=_dearest)
    said = f"spent ${total.usd:.2f}" + (f" of ${budget.limit:.2f}" if budget.limit else "")
    said += f", reserved ${total.reserved:.2f}" if total.reserved else ""
    said += f", perhaps billed {total.maybe_billed} (${total.maybe_billed_usd:.2f})" if total.maybe_billed_usd else ""
    if len(dear) > 1:
        said += f": {', '.join(f'{row.model} {row.usd:.2f}' for row in dear[:NAMED])}"
        said += f", {len(dear) - NAMED} more" if len(dear) > NAMED else ""
    return said


def _dearest(row: Spending) -> tuple[float, str]:
    return (-row.usd, row.model)


class Progress:
    """A bar over the calls of one stage."""

    def __init__(self, stage: str, calls: int, stored: int, budget: Budget, show: bool = True) -> None:
        """`calls` are wanted, `stored` of them need no asking."""
        self.stored, self.failed, self.budget = stored, 0, budget
        self._bar: Any = None
        self._came, self._pause, self._due = 0, QUICK, 0.0
        self._own: TextIO | None = None
        if show and calls > stored:
            options: dict[str, Any] = {"desc": stage, "total": calls, "initial": stored, "unit": "call"}
            options |= {"miniters": 0, "mininterval": 0}  # when it is shown is decided here
            if in_browser():
                from tqdm.auto import tqdm
            else:
                from tqdm import tqdm

                self._own = _stream()
                self._pause = SLOW
                options |= {"file": self._own}
            self._bar = tqdm(**options)
            self._due = time.monotonic() + self._pause

    def done(self) -> None:
        """One call brought its reply."""
        self._came += 1
        self._show()

    def fail(self) -> None:
        """One attempt brought none."""
        self.failed += 1
        self._show()

    def close(self) -> None:
        """Leave the finished bar standing."""
        self._show(last=True)  # attempts that were given up count by now
        if self._bar is not None:
            self._bar.close()
        if self._own is not None and self._own not in (sys.__stderr__, sys.stderr):
            self._own.close()

    def _show(self, last: bool = False) -> None:
        """Make the line anew where it is due: its sums go over all calls in flight."""
        if self._bar is None or (not last and time.monotonic() < self._due):
            return
        self._bar.set_postfix_str(self._counts(), refresh=False)
        self._bar.update(self._came)
        self._came, self._due = 0, time.monotonic() + self._pause

    def _counts(self) -> str:
        return f"stored {self.stored}, failed {self.failed}, {money(self.budget)}"
