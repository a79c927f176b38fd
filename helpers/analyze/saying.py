"""The bottom line of an analysis in sentences, and its files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, frames
from ..biases import hinting, position, top_choice
from ..biases.position.findings import NOISE
from ..escaping import markdown
from ..export import export, list_contents, write as write_files
from ..figures import Figure
from ..stats.standing import conclude
from ..tables import Table, table
from ..types import Estimate, short_hash
from ..words import display_name, lines, plain
from ..words.numbers import declared_by
from .analysis import COMPUTED, CONTROLS, HERE, MISSING, WORDS, Analysis, analyze, declared
from .numbers import EVERYBODY, MOST_COMPARISONS
from .tidy import STYLES

#: So many names of numbers that are not computed.
MOST_NAMES = 5
#: Numbers of a condition that stand elsewhere.
BESIDE = ("unreadable_share", "change_rate_repeat", "loss_change")
#: Keys without which a place says nothing.
KEYED = ("turn", "hint")
COUNTED = "self_bias_as_counted"
#: What no column of a file could mend.
NEVER = tuple(WORDS[name] for name in ("published", "people", "asked", "model"))
#: Numbers that are concluded of, vendor by vendor, and those that stand below a line of their words (`describe`).
CONCLUDED = [f"own_vendor_{end}" for end in ("win_effect", "score_effect", "win_agreed", "win_excess", "score_excess")]
TOLD = (
    *("first_place_share", "longer_win_rate", "first_place_score_effect", "gold_accuracy", "score_error"),
    *("agreement_winners", "raw_agreement_winners", "agreement_scores", "both_order_inconsistent", COUNTED),
)
LISTED = ": {value}"  # the end of words that can stand once above several numbers
RANKED = ("candidate_win_rate", "candidate_score_mean", "candidate_top1_rate")


def summary(analysis: Analysis) -> str:
    """The whole of it as Markdown: data, findings with intervals, and which numbers are missing for want of what."""
    mute = frames.unreadable_words(analysis.losses)
    notes = [*([mute] if mute else []), *conditions(analysis), *analysis.notes]
    parts = [head(analysis), *(f"- {note}" for note in notes), "", "## Found", "", *findings(analysis)]
    return "\n".join([*parts, "", "## Not computed", "", *absent(analysis)])


def summarize(source: str | None) -> str:
    """The summary of a file or folder of verdicts, for a notebook; how to have one where none is named."""
    if source is None:
        return "No verdicts of your own were given (`verdicts = None`)."
    return summary(analyze(source)).replace("\n## ", "\n### ")


def head(analysis: Analysis) -> str:
    """What the file holds, in one line."""
    file, losses = analysis.file, analysis.losses
    lost = int((losses["unreadable"] * losses["judgments"]).round().sum())
    frame = file.frame
    share = lost / max(1, analysis.judgments)
    return (
        f"**{plain(file.name)}** ({file.format}): {_count(analysis.judgments, 'judgment')} "
        f"({STYLES[file.style]}) by {_count(frame['judge'].nunique(), 'judge')} on "
        f"{_count(frame['question_id'].nunique(), 'question')}; {lost:,} ({share:.1%}) could not be read."
    )


def conditions(analysis: Analysis) -> list[str]:
    """Of which condition the numbers are that name none, where it is not the plain one."""
    found = analysis.file.frame["condition"].astype(str).value_counts()
    names = [name for name in found.index[found > 0] if name not in CONTROLS]
    if not names or "none" in names:
        return []
    if len(names) > 1:
        return [f"No condition is called none: numbers without a condition are of {plain(names[0])}."]
    return [f"All verdicts are of the condition {plain(names[0])}, and so is every number here."]


def findings(analysis: Analysis) -> list[str]:
    """The sentences: of the main condition, then of each other one under its name."""
    lines = list(_lines_of_condition(analysis, [each for each in analysis.estimates if "condition" not in each.where]))
    several = len({each.where.get("condition") for each in analysis.estimates if each.id == "first_position_effect"})
    if several > 1:
        lines += ["", f"{several} conditions: each p is corrected for its own condition alone, not for all of them."]
    for name in dict.fromkeys(each.where["condition"] for each in analysis.estimates if "condition" in each.where):
        here = [
            replace(each, where={k: v for k, v in each.where.items() if k != "condition"})
            for each in analysis.estimates
            if each.where.get("condition") == name and each.id not in BESIDE
        ]
        if here:
            lines += ["", f"### Condition {plain(name)}", "", *_lines_of_condition(analysis, here)]
    return lines or ["Nothing could be measured."]


def _lines_of_condition(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    yield from places(estimates)
    if analysis.file.style == "ranking":
        yield from _ranked(analysis, estimates)
    if text := lines(conclude([each for each in estimates if each.id in CONCLUDED], declared_by(HERE)), "{vendor}"):
        yield text
    words = {id: each.describe for estimands in declared().values() for id, each in estimands.items()}
    for id in TOLD:
        rows = farthest_first([each for each in estimates if each.id == id and "category" not in each.where])
        if len(rows) > 1 and words[id].endswith(LISTED):
            yield f"- {words[id].removesuffix(LISTED)}:"
            yield from limited([f"  - {_who(each)}{_sure(each)}." for each in rows], "  ")
        else:
            yield from limited([f"- {_who(each)}{words[id].replace('{value}', _sure(each))}." for each in rows])
    for id in RANKED:
        yield from _table(estimates, id, words[id].removesuffix(LISTED))


def _ranked(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    blind = [each for each in estimates if "hint" not in each.where]
    if any(each.id == "self_preference_logit" for each in blind):
        yield top_choice.finding(blind)
        yield top_choice.naive_against_defended(blind)
    if any(each.id == "position_effect" for each in blind):
        yield top_choice.positions(blind)
    if {"raw_agreement", "agreement_top1", "agreement_ranks"} <= {each.id for each in blind}:
        yield top_choice.agreement_words(blind)
    if any(each.id == "hint_effect" for each in estimates):
        yield hinting.finding(estimates, analysis.margin_pp)


def _table(estimates: Sequence[Estimate], id: str, words: str) -> Iterator[str]:
    """Candidates from best to worst, over all judges where that is computed, else judge by judge."""
    rows = [each for each in estimates if each.id == id and each.value == each.value]
    pooled = [each for each in rows if "judge" not in each.where]
    for judge in [None] if pooled else list(dict.fromkeys(each.where["judge"] for each in rows))[:3]:
        here = pooled or [each for each in rows if each.where["judge"] == judge]
        here = sorted(here, key=lambda each: -each.value)
        values = ", ".join(f"{plain(each.where['candidate'])} {each}" for each in here[:MOST_LINES])
        more = f" and {len(here) - MOST_LINES} more" if len(here) > MOST_LINES else ""
        yield f"- {f'{plain(judge)}: ' if judge else ''}{words}: {values}{more}."


def _who(each: Estimate) -> str:
    names = {key: display_name(value) if key == "vendor" else plain(value) for key, value in each.where.items()}
    place = ", ".join(f"{key} {value}" if key in KEYED and value != "all" else value for key, value in names.items())
    return f"{place}: " if place else ""


def _sure(each: Estimate) -> str:
    why = "" if each.low == each.low else f", {each.method}"
    # Counts of a source are of judgments; on how many questions they are it does not say.
    questions = "" if each.id == COUNTED else f" on {_count(each.clusters, 'question')}"
    return f"{each} (n = {each.n:,}{questions}{why})"


def absent(analysis: Analysis) -> list[str]:
    """Which declared numbers could not be computed, by what is missing; each reason once."""
    status = analysis.status
    there = set(status.loc[status["status"] == COMPUTED, "id"])
    missing = status[(status["status"] == MISSING) & ~status["id"].isin(there)]
    never = missing["why"].isin(NEVER)
    lines = [
        f"{int((status['status'] == COMPUTED).sum())} of {len(status)} declared numbers are computed; estimands.csv "
        f"lists all. {int(never.sum())} are of no file of verdicts (but of published counts, people's votes or a whole "
        "experiment). The others, by what they miss:",
        "",
    ]
    # What a column would mend comes first.
    groups = sorted(missing[~never].groupby("why", sort=False), key=lambda each: not each[0].startswith("column"))
    for why, rows in groups:
        names = list(dict.fromkeys(rows["id"]))
        more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES + 1 else ""
        lines.append(f"- {why}: {', '.join(names[: MOST_NAMES if more else None])}{more}")
    return lines


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


#: More lines of one kind are counted and left to the tables; of single comparisons, where a judge's total is reported,
#: fewer.
MOST_LINES, MOST_SINGLE = 12, 5
#: What these are where there is nothing; those farthest from it stand first, should there be too many to tell.
NOTHING = {"first_place_share": 0.5, "longer_win_rate": 0.5, "score_error": 0.0, "first_position_effect": 0.0}
#: Numbers that no sentence about places needs, and of which there may be thousands.
UNSAID = ("win_rate", "first_position_sensitivity", "flip_by_gap", "candidate_win_rate")


def places(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Which place each judge favours: over all its pairs, then by candidate while those can be read."""
    estimates = [each for each in estimates if each.id not in UNSAID]
    pooled = [each for each in estimates if set(each.where) - {"category"} == {"judge"}]
    pooled = [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in pooled]
    single = [each for each in estimates if {"judge", "candidate"} <= set(each.where)]
    clauses = [
        position.finding(farthest_first(group)).split("\n")
        if any(each.id == "first_position_effect" for each in group)
        else []
        for group in (pooled, single)
    ]
    # What is true of every line is said once.
    often = sum(NOISE in line for found in clauses for line in found) > 1
    most = MOST_LINES
    for found in filter(None, clauses):
        yield from loudest([line.replace(NOISE, "") if often else line for line in found], most)
        yield ""
        most = MOST_SINGLE
    if often:
        yield f"How often the two orders differ is no bias by itself{NOISE}."
        yield ""
    if any(each.id == "identical_pair_effect" for each in single):
        yield from limited(position.identical_words(single).split("\n"))


def farthest_first(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Those of NOTHING by how far they are from it, before all others, which keep their order."""

    def near(each: Estimate) -> float:
        away = abs(each.value - NOTHING[each.id]) if each.id in NOTHING else math.nan
        return -away if away == away else math.inf

    return sorted(estimates, key=near)


def limited(lines: Sequence[str], indent: str = "") -> list[str]:
    """The lines, or where they are too many the first, with the number of the others."""
    if len(lines) <= MOST_LINES + 2:
        return list(lines)
    return [*lines[:MOST_LINES], f"{indent}- ... and {len(lines) - MOST_LINES} more: the tables hold them."]


def loudest(lines: Sequence[str], most: int) -> list[str]:
    """The lines, or where they are too many those that conclude something, with the number of the others."""
    items = [line for line in lines if line.startswith("- ")]
    if len(items) <= most + 2:
        return list(lines)
    loud = [line for line in items if "**favours" in line or ": leans" in line.partition(";")[0]]
    shown = loud[:most]
    which = "more" if len(loud) > most else "more without a conclusion"
    rest = f"- ... and {len(items) - len(shown)} {which}: the tables hold them."
    return [*(line for line in lines if not line.startswith("- ")), *shown, rest]


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
    there = list_contents(folder, "--out")
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
    frame = analysis.file.frame
    coded = frame.assign(**{name: frame[name].astype(str) for name in frame if frame[name].dtype == object})
    hashed = pd.util.hash_pandas_object(coded, index=False).to_numpy()
    return {
        "experiment": "analyze",
        "data": "folder",
        "format": analysis.file.format,
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
    counts = analysis.file.counts.assign(data="folder")
    losses = analysis.losses.assign(data="folder")
    return [
        *made,
        _short(Table("estimands", status, "Every declared number: computed, or what is missing.", status)),
        _short(Table("verdicts", counts, "Verdicts as they are written, and what became of the others.", counts)),
        _short(Table("losses", losses, "Judgments and what became of them.", losses)),
    ]


def _short(table: Table) -> Table:
    """A table of which no more is read than its first rows; its CSV holds all."""
    if len(table.frame) <= MOST_ROWS:
        return table
    words = f"{table.caption} The first {MOST_ROWS} of {len(table.frame):,} rows; the CSV file holds all."
    return replace(table, frame=table.frame.head(MOST_ROWS), caption=words)


def drawn(analysis: Analysis, style: str = "paper") -> list[Figure]:
    """The figures that these numbers can fill; sorted forest plots where there are many judges or candidates."""
    plain = [each for each in analysis.estimates if "condition" not in each.where]
    vendors = _judge_vendors(analysis)
    found: list[Figure] = []
    if analysis.file.style == "pairwise":
        found += _places(analysis, plain, vendors, style)
    if analysis.file.style == "ranking":
        found += _writing_ranked(plain, vendors, analysis.margin_pp, style)
    headline_ids = [("candidate_win_rate", 0.5), ("candidate_score_mean", None), ("candidate_top1_rate", None),
           ("gold_accuracy", None), ("own_vendor_win_effect", 0.0), ("own_vendor_score_effect", 0.0)]  # fmt: skip
    for id, line in headline_ids:
        rows = _most(plain, id)
        if 0 < len(rows) <= MOST_ROWS:
            found.append(figures.show_sorted(rows, id, line, plain, style=style))
    return found


def _most(estimates: Sequence[Estimate], id: str) -> list[Estimate]:
    """The estimates of one number, of the finest places of which a figure can hold all."""
    rows = [each for each in estimates if each.id == id and "category" not in each.where]
    most = max((len(each.where) for each in rows), default=0)
    fine = [each for each in rows if len(each.where) == most]
    return fine if len(fine) <= MOST_ROWS else [each for each in rows if len(each.where) < most]


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


def _writing_ranked(
    plain: Sequence[Estimate], vendors: dict[str, str] | None, margin_pp: float, style: str
) -> list[Figure]:
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
    if "judge_vendor" not in analysis.file.columns:
        return None
    pairs = analysis.file.frame[["judge", "judge_vendor"]].drop_duplicates()
    return {str(row.judge): str(row.judge_vendor) for row in pairs.itertuples() if row.judge_vendor}
