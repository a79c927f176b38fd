"""An analysis as files: what an experiment writes, the status of every declared number, and the summary."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from helpers import figures
from helpers.analyze.analysis import Analysis
from helpers.analyze.placing import EVERYBODY, MOST_COMPARISONS
from helpers.analyze.saying import summary
from helpers.biases import hinting, position, top_choice
from helpers.escaping import markdown
from helpers.export import export, held
from helpers.export import write as write_files
from helpers.figures import Figure
from helpers.tables import Table, table
from helpers.types import Estimate, short_hash

#: A figure of more rows is a scroll, not a figure.
MOST_ROWS = 60
SUMMARY = "summary.md"


def write(analysis: Analysis, folder: Path, force: bool = False, style: str = "paper") -> list[Path]:
    """Write numbers.json, tables, figures, captions, estimands.csv and summary.md into `folder`; its files, sorted.

    A folder that holds anything else than an earlier analysis is a ValueError, unless `force`: nothing in it is
    replaced or deleted but files of the same names.
    """
    check(folder, force)
    provenance = _provenance(analysis)
    export(folder, drawn(analysis, style), tables(analysis), analysis.estimates, provenance)
    write_files({SUMMARY: f"{markdown(summary(analysis))}\n".encode()}, folder)
    return sorted(each for each in folder.iterdir() if each.is_file())


def check(folder: Path, force: bool = False) -> None:
    """Refuse a folder that is not ours to write into, before anything is computed."""
    there = held(folder, "--out")
    if force or not there:
        return
    numbers = folder / "numbers.json"
    try:
        ours = json.loads(numbers.read_text(encoding="utf-8"))["provenance"]["experiment"] == "analyze"
    except (OSError, ValueError, KeyError, TypeError):
        ours = False
    if not ours:
        raise ValueError(
            f"{folder}: not empty ({', '.join(there[:5])}) and no earlier analysis; --out names another, --force writes"
        )


def name_of(source: str | Path) -> str:
    """The folder for the analysis of a file: its name without its end, and -recuse."""
    stem = Path(source).expanduser().resolve().name.removesuffix(".gz")
    stem = re.sub(r"\.(csv|tsv|jsonl|json|parquet|eval)$", "", stem, flags=re.IGNORECASE)
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '_', stem).strip('.') or 'verdicts'}-recuse"


def _provenance(analysis: Analysis) -> dict[str, Any]:
    """Where the numbers are from: never the rows themselves, and no path."""
    frame = analysis.held.frame
    coded = frame.assign(**{name: frame[name].astype(str) for name in frame if frame[name].dtype == object})
    hashed = pd.util.hash_pandas_object(coded, index=False).to_numpy()
    return {
        "experiment": "analyze",
        "data": "folder",
        "format": analysis.held.format,
        "judges": {judge: [] for judge in sorted(map(str, frame["judge"].unique()))},
        "n": analysis.judgments,
        "questions": int(frame["question_id"].nunique()),
        "seed": analysis.seed,
        "parameters": {"margin_pp": analysis.margin_pp},
        "inputs": short_hash(np.ascontiguousarray(hashed).tobytes().hex(), digits=16),
    }


def tables(analysis: Analysis) -> list[Table]:
    """Numbers by what they are of, status of all declared numbers, verdicts as written, and losses."""
    groups: dict[tuple[str, ...], list[Estimate]] = {}
    for each in analysis.estimates:
        groups.setdefault(tuple(sorted(each.where)), []).append(each)
    made = []
    for keys, group in groups.items():
        name = re.sub("[^a-z0-9]+", "_", f"by_{'_'.join(keys)}".lower())[:60] if keys else "overall"
        words = f"All numbers by {', '.join(keys)}." if keys else "All numbers of the whole file."
        made.append(_short(table(name, words, group, keys, ["id"])))
    status = analysis.status.assign(data="folder")
    counts = analysis.held.counts.assign(data="folder")
    losses = analysis.losses.assign(data="folder")
    return [
        *made,
        _short(Table("estimands", status, "Every declared number: computed, or what is missing.", status)),
        _short(Table("verdicts", counts, "Verdicts as they are written, and what became of the others.", counts)),
        _short(Table("losses", losses, "Judgments and what became of them.", losses)),
    ]


def _short(whole: Table) -> Table:
    """A table of which no more is read than its first rows; its CSV holds all."""
    if len(whole.frame) <= MOST_ROWS:
        return whole
    words = f"{whole.caption} The first {MOST_ROWS} of {len(whole.frame):,} rows; the CSV file holds all."
    return replace(whole, frame=whole.frame.head(MOST_ROWS), caption=words)


def drawn(analysis: Analysis, style: str = "paper") -> list[Figure]:
    """The figures that these numbers can fill; sorted forest plots where there are many judges or candidates."""
    plain = [each for each in analysis.estimates if "condition" not in each.where]
    vendors = _judge_vendors(analysis)
    found: list[Figure] = []
    if analysis.held.style == "pairwise":
        found += _places(analysis, plain, vendors, style)
    if analysis.held.style == "ranking":
        found += _ranked(plain, vendors, analysis.margin_pp, style)
    own = [("candidate_win_rate", 0.5), ("candidate_score_mean", None), ("candidate_top1_rate", None),
           ("gold_accuracy", None), ("own_vendor_win_effect", 0.0), ("own_vendor_score_effect", 0.0)]  # fmt: skip
    for id, line in own:
        some = _most(plain, id)
        if 0 < len(some) <= MOST_ROWS:
            found.append(figures.show_sorted(some, id, line, plain, style=style))
    return found


def _most(estimates: Sequence[Estimate], id: str) -> list[Estimate]:
    """The estimates of one number, of the finest places of which a figure can hold all."""
    some = [each for each in estimates if each.id == id and "category" not in each.where]
    most = max((len(each.where) for each in some), default=0)
    fine = [each for each in some if len(each.where) == most]
    return fine if len(fine) <= MOST_ROWS else [each for each in some if len(each.where) < most]


def _places(analysis: Analysis, plain: Sequence[Estimate], vendors: dict[str, str] | None, style: str) -> list[Figure]:
    pair = [each for each in plain if set(each.where) in ({"judge", "candidate"}, {"judge", "candidate", "source"})]
    shown = position.titled(pair)
    count = len({tuple(each.where.items()) for each in shown if each.id == "first_position_effect"})
    if not count or count > MOST_ROWS:
        shown = [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in plain
                 if set(each.where) == {"judge"}]  # fmt: skip
        count = sum(each.id == "first_position_effect" for each in shown)
    if not 0 < count <= MOST_COMPARISONS:
        return []
    return [
        *figures.if_any(figures.show_position_effects, shown, vendors, style=style),
        *figures.if_any(figures.show_class_shares, shown, style=style),
    ]


def _ranked(plain: Sequence[Estimate], vendors: dict[str, str] | None, margin_pp: float, style: str) -> list[Figure]:
    blind = [each for each in plain if "hint" not in each.where]
    found = [
        *figures.if_any(figures.show_judge_vendor_heatmap, blind, vendors, style=style),
        *figures.if_any(figures.show_positions, blind, style=style),
    ]
    naive, excess, logit = top_choice.three_readings(blind)
    if naive and (excess or logit):
        found += figures.if_any(figures.show_self_preference, naive, excess, logit, style=style)
    if any(each.id == "hint_effect" and each.value == each.value for each in plain):
        found += figures.if_any(figures.show_hint_effects, plain, margin_pp, hinting.conclusions(plain), style=style)
    return found


def _judge_vendors(analysis: Analysis) -> dict[str, str] | None:
    if "judge_vendor" not in analysis.held.columns:
        return None
    pairs = analysis.held.frame[["judge", "judge_vendor"]].drop_duplicates()
    return {str(row.judge): str(row.judge_vendor) for row in pairs.itertuples() if row.judge_vendor}
