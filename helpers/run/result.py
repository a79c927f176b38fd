"""What became of a notebook that was run, and where its time went."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Result:
    """What became of one notebook; `error` is None when it ran through.

    `untold`: calls may have been sent of which the store holds nothing. Its kernel died, or could not write them down.
    Of its `seconds`, `start` passed before its first cell, and `imports` with what its cells import.
    """

    name: str
    report: Path
    seconds: float
    error: str | None = None
    untold: bool = False
    start: float = 0.0
    imports: float = 0.0

    def __str__(self) -> str:
        """The line of a run's summary: where the time went and the report, or what went wrong."""
        own = self.seconds - self.start - self.imports
        parts = f"start {self.start:.1f}, imports {self.imports:.1f}, own {own:.1f}  {self.report}"
        return f"{'FAILED' if self.error else 'ok':<8}{self.name:<36}{self.seconds:>7.1f} s  {self.error or parts}"
