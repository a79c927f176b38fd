"""Measure everything and write results.md: `make bench`, an hour or two on a machine that does nothing else.

    python -m benchmarks judging --runs 1

measures single parts and shows what it finds without writing it. A part is a module with a TITLE and a `section(runs)`
that returns Markdown. It measures whole processes (`measuring.cost`) or warm ones (`asked.measured`) that take turns.
"""

from __future__ import annotations

import argparse
from datetime import date
from importlib import import_module
from pathlib import Path

from benchmarks.measuring import loop, machine

PARTS = ("judging", "estimating", "notebooks", "starting")
RESULTS = Path(__file__).parent / "results.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("parts", nargs="*", help=f"{', '.join(PARTS)} (default: all, into {RESULTS.name})")
    parser.add_argument("--runs", type=int, default=5, help="rounds in which all take their turns (default: 5)")
    asked = parser.parse_args()
    if unknown := [name for name in asked.parts if name not in PARTS]:
        raise SystemExit(f"no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    if asked.runs < 1:
        raise SystemExit(f"--runs {asked.runs}: at least 1")
    parts = [import_module(f"benchmarks.{name}") for name in asked.parts or PARTS]
    texts = [
        f"# What is fast\n\nWritten by `make bench` on {date.today()}; medians of {asked.runs} rounds with the least "
        f"and the greatest. Read ratios: they are of the same run.\n\n{machine()}."
    ]
    print(texts[0], flush=True)
    before = loop()
    for part in parts:
        found, after = part.section(asked.runs), loop()
        speed = (
            f"A loop of ten million steps in Python took {before:.2f} s before this part and {after:.2f} s after it."
        )
        texts.append(f"## {part.TITLE}\n{found}\n{speed}")
        print(f"\n{texts[-1]}", flush=True)  # an interrupted benchmark keeps its results so far
        before = after
    if not asked.parts:
        RESULTS.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
        print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()
