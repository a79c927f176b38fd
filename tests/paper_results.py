"""Results for papers, made without a kernel: what experiment 1 exports, in any style, and hostile results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helpers import export, figures, run, tables
from helpers.biases import protocol, top_choice
from helpers.types import Estimate
from tests.payloads import PAYLOADS
from tests.runs import asked, published_counts

#: Half a character is refused where texts are read.
HOSTILE = [text for name, text in PAYLOADS.items() if name != "lone surrogate"]


def blind(folder: Path, style: str, questions: int = 24) -> Path:
    """What a run of experiment 1 leaves in its folder, with figures of that style."""
    mine = asked(question_limit=questions)
    estimates = top_choice.measure(mine.frame, mine.data, 42)
    published = top_choice.from_published(published_counts())
    every = published + estimates
    drawn = [
        figures.show_self_preference(*top_choice.three_readings(every), unreadable=estimates, style=style),
        figures.show_positions(estimates, style=style),
        figures.show_judge_vendor_heatmap(every, style=style),
    ]
    export.export(
        folder,
        drawn,
        [tables.table(*each) for each in protocol.paper_tables("top_choice", every, sensitivity="")],
        every,
        run.machine_provenance(mine),
        run=run.costs(mine),
        summary=run.summary(mine, published, estimates),
    )
    return folder


def hostile(folder: Path, style: str) -> Path:
    """Results of somebody whose judges, tables, captions and methods are written to break out of LaTeX."""
    found = [
        Estimate("candidate_win_rate", {"judge": name, "candidate": str(at)}, 0.5, 0.4, 0.6, n=90, clusters=30,
                 data="folder" if at % 2 else "simulated", method=name) for at, name in enumerate(HOSTILE)
    ]  # fmt: skip
    words = " ".join(HOSTILE)
    drawn = figures.show_sorted(found[:20], "candidate_win_rate", 0.5, found, style=style)
    object.__setattr__(drawn, "caption", words)
    object.__setattr__(drawn, "alt", words)
    table = tables.table("names", words, found, ["judge", "candidate"], ["id"])
    told: dict[str, Any] = {
        "experiment": words,
        "data": words,
        "judges": {name: [name, "x"] for name in HOSTILE},
        "n": 90,
        "questions": 30,
        "seed": words,
        "inputs": words,
        "parameters": {"figure_style": words, words: words},
    }
    export.export(folder, [drawn], [table], found, told, run={"left_out": {"questions": 3, "answers": 3}})
    return folder
