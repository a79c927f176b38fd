"""The bottom line of an analysis in sentences, and its files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, frames, paths
from ..biases import hinting, position, protocol, top_choice
from ..biases.position.findings import NOISE
from ..escaping import markdown
from ..export import captions, contents, export, list_contents, write as write_files
from ..figures import Figure
from ..tables import Table, csv_text, table
from ..types import Estimand, Estimate, short_hash
from ..words import UNITS, Conclusion, clause, display_name, effect, lines, listed, many, plain
from ..words.numbers import declared_by
from .analysis import COMPUTED, DATA, EVERYBODY, HERE, KINDS, MOST, WORDS, Analysis, analyze, condition_names

#: Numbers of a condition that are reported elsewhere, and numbers by place that have no sentence: there may be
#: thousands.
BESIDE = ("unreadable_share", "change_rate_repeat", "loss_change")
UNSAID = ("win_rate", "first_position_sensitivity", "flip_by_gap", "candidate_win_rate")
#: Keys without which a place says nothing.
KEYED = ("turn", "hint")
#: What no column of a file could mend.
NEVER = tuple(WORDS[name] for name in ("published", "people", "asked", "model"))
#: The biases that users ask for: what they are, and the numbers that show them with the module that declares each.
ASKED = {
    "position": ("Place of an answer", {"first_position_effect": "position"}),
    "own_vendor": (
        "Own vendor",
        {"own_vendor_win_effect": HERE, "own_vendor_score_effect": HERE, "self_preference_logit": "top_choice"},
    ),
    "names": ("Names beside answers", {"hint_effect": "hinting"}),
}
STANDINGS = {"bias": "biased", "hint": "leans, not established", "not shown": "no bias shown", "untold": "cannot tell"}
COUNTED = "self_bias_as_counted"
#: Numbers of other rooms that are described as those of this one are.
OTHERS = {"both_order_inconsistent": "position", COUNTED: "hinting"}
OTHERS |= dict.fromkeys(("gold_accuracy", "gold_alpha", "people_gap", "people_gap_own", "people_rate"), "accuracy")
OWN = "own_vendor_"
LISTED = ": {value}"  # the end of words that can stand once above several numbers


def summary(analysis: Analysis) -> str:
    """The whole of it as Markdown: the answers, findings with intervals, and which numbers are missing for what."""
    notes = [*filter(None, [frames.unreadable_words(analysis.losses)]), *conditions(analysis), *analysis.notes]
    parts = [head(analysis), "", *answers(analysis), "", *(f"- {note}" for note in notes)]
    parts += ["", "## Found", "", *findings(analysis)]
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
    judges, questions = (many(file.frame[n].nunique(), n.removesuffix("_id")) for n in ("judge", "question_id"))
    return (
        f"**{plain(file.name)}** ({file.format}): {many(analysis.judgments, 'judgment')} ({KINDS[file.style]}) by "
        f"{judges} on {questions}; {lost:,} ({lost / max(1, analysis.judgments):.1%}) could not be read."
    )


def biases(analysis: Analysis) -> dict[str, list[Conclusion]]:
    """What may be concluded of each bias of ASKED, of the main condition; nothing where it is not measured."""
    main = [each for each in analysis.estimates if not {"condition", "category"} & {*each.where}]
    found: dict[str, list[Conclusion]] = {}
    for kind, (_, ids) in ASKED.items():
        for id, module in ids.items():
            rows = [each for each in main if each.id == id and each.value == each.value]
            # Of a judge over all its pairs, where that is computed.
            rows = [each for each in rows if len(each.where) == min(len(row.where) for row in rows)]
            found.setdefault(kind, []).extend(protocol.conclusions(module, rows, id))
    return found


def shown(analysis: Analysis, kind: str) -> bool:
    """Whether a bias of ASKED is shown; where it is not measured nobody can say that there is none: a ValueError."""
    if not (found := biases(analysis)[kind]):
        raise ValueError(f"{kind}: not measured, see above; a check of it needs verdicts that can show it")
    return any(each.verdict == "bias" for each in found)


def answers(analysis: Analysis) -> Iterator[str]:
    """A line for each bias: of whom it is shown, of whom not and what would have been, or what it would take."""
    status, most = analysis.status.groupby("id").first(), MOST["names"]
    for kind, found in biases(analysis).items():
        title, ids = ASKED[kind]
        parts = []
        for verdict, words in STANDINGS.items():
            several = farthest_first([each.estimate for each in found if each.verdict == verdict])
            shown = [_answer(each) for one in several[:most] for each in found if each.estimate is one]
            more = [f"{len(several) - most:,} more"] if len(several) > most else []
            parts += [f"**{words}**: {listed([*shown, *more])}"] if shown else []
        # Why not is best said by the number that came nearest: the others are of other styles of verdicts.
        why = sorted(status.loc[[*ids], "why"], key=lambda text: "these are" in text)
        yield f"- {title}: {'; '.join(parts) or f'not measured ({why[0]})'}."


def _answer(each: Conclusion) -> str:
    where, value = each.estimate.where, f"{each.estimate}{UNITS.get(each.estimate.unit, '')}"
    who = listed((display_name(where[key]) for key in ("judge", "vendor", "candidate", "hint") if key in where), "on")
    if each.verdict == "bias":
        return f"{who} {clause([each])} ({value})"
    return f"{who} ({value}" + f"; {effect(each)} would be found" * (each.smallest == each.smallest) + ")"


def conditions(analysis: Analysis) -> list[str]:
    """Of which condition the numbers are that name none, where it is not the plain one."""
    main, *others = condition_names(analysis.file.frame)
    if main == "none":
        return []
    if others:
        return [f"No condition is called none: numbers without a condition are of {plain(main)}."]
    return [f"All verdicts are of the condition {plain(main)}, and so is every number here."]


def findings(analysis: Analysis) -> list[str]:
    """The sentences: of the main condition, then of each other one under its name."""
    groups: dict[str, list[Estimate]] = {"": []}
    for each in analysis.estimates:
        where = dict(each.where)
        condition = where.pop("condition", "")
        if not condition or each.id not in BESIDE:
            groups.setdefault(condition, []).append(replace(each, where=where))
    found = list(lines_of(analysis, groups.pop("")))
    several = len({each.where.get("condition") for each in analysis.estimates if each.id == "first_position_effect"})
    if several > 1:
        found += ["", f"{several} conditions: each p is corrected for its own condition alone, not for all of them."]
    for name, group in groups.items():
        found += ["", f"### Condition {plain(name)}", "", *lines_of(analysis, group)]
    return found or ["Nothing could be measured."]


def lines_of(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    """The sentences on the numbers of one condition: on places, rankings and vendors, then of each number by itself."""
    yield from places(estimates)
    if analysis.file.style == "ranking":
        yield from _ranked(analysis, estimates)
    own = [id for id in declared_by(HERE) if id.startswith(OWN)]
    if text := lines(protocol.conclusions(HERE, estimates, *own), "{vendor}"):
        yield text
    for about in described():
        rows = [each for each in estimates if each.id == about.id and "category" not in each.where]
        # Candidates over all judges, where that is computed.
        rows = farthest_first([each for each in rows if "judge" not in each.where] or rows, about.null)
        once = len(rows) > 1 and about.describe.endswith(LISTED)
        if once:
            yield f"- {about.describe.removesuffix(LISTED)}:"
        words, start = ("{value}", "  ") if once else (about.describe, "")
        yield from limited([f"{start}- {_who(each)}{words.replace('{value}', _sure(each))}." for each in rows])


def described() -> list[Estimand]:
    """The numbers that are said as they are, without a conclusion."""
    own = [each for id, each in declared_by(HERE).items() if each.describe and not id.startswith(OWN)]
    return [*own, *(declared_by(module)[id] for id, module in OTHERS.items())]


def _ranked(analysis: Analysis, estimates: Sequence[Estimate]) -> Iterator[str]:
    blind = [each for each in estimates if "hint" not in each.where]
    ids = {each.id for each in blind}
    if "self_preference_logit" in ids:
        yield top_choice.finding(blind)
        yield top_choice.naive_against_defended(blind)
    if "position_effect" in ids:
        yield top_choice.positions(blind)
    if {"raw_agreement", "agreement_top1", "agreement_ranks"} <= ids:
        yield top_choice.agreement_words(blind)
    if any(each.id == "hint_effect" for each in estimates):
        yield hinting.finding(estimates, analysis.margin_pp)


def _who(each: Estimate) -> str:
    names = {key: display_name(value) if key == "vendor" else plain(value) for key, value in each.where.items()}
    place = ", ".join(f"{key} {value}" if key in KEYED and value != "all" else value for key, value in names.items())
    return f"{place}: " if place else ""


def _sure(each: Estimate) -> str:
    why = "" if each.low == each.low else f", {each.method}"
    # Counts of a source are of judgments; on how many questions they are it does not say.
    questions = "" if each.id == COUNTED else f" on {many(each.clusters, 'question')}"
    return f"{each} (n = {each.n:,}{questions}{why})"


def absent(analysis: Analysis) -> list[str]:
    """Which declared numbers could not be computed, by what is missing; each reason once."""
    status = analysis.status
    there = set(status.loc[status["status"] == COMPUTED, "id"])
    missing = status[(status["status"] != COMPUTED) & ~status["id"].isin(there)]
    never = missing["why"].isin(NEVER)
    found = [
        f"{int((status['status'] == COMPUTED).sum())} of {len(status)} declared numbers are computed; estimands.csv "
        f"lists all. {int(never.sum())} are of no file of verdicts (but of published counts, people's votes or a whole "
        "experiment). The others, by what they miss:",
        "",
    ]
    # What a column would mend comes first.
    groups = sorted(missing[~never].groupby("why", sort=False), key=lambda each: not each[0].startswith("column"))
    for why, rows in groups:
        names = list(dict.fromkeys(rows["id"]))
        most = MOST["names"]
        more = f" and {len(names) - most} more" if len(names) > most + 1 else ""
        found.append(f"- {why}: {', '.join(names[: most if more else None])}{more}")
    return found


def places(estimates: Sequence[Estimate]) -> Iterator[str]:
    """Which place each judge favours: over all its pairs, then by candidate while those can be read."""
    estimates = [each for each in estimates if each.id not in UNSAID]
    single = [each for each in estimates if {"judge", "candidate"} <= {*each.where}]
    groups = (over_all_pairs(estimates), single)
    tested = [group for group in groups if any(each.id == "first_position_effect" for each in group)]
    clauses = [position.finding(farthest_first(group)).split("\n") for group in tested]
    # What is true of every line is said once.
    often = sum(NOISE in line for found in clauses for line in found) > 1
    for found, most in zip(clauses, (MOST["lines"], MOST["single"]), strict=False):
        yield from limited([line.replace(NOISE, "") if often else line for line in found], most)
        yield ""
    if often:
        yield f"How often the two orders differ is no bias by itself{NOISE}."
        yield ""
    if any(each.id == "identical_pair_effect" for each in single):
        yield from limited(position.identical_words(single).split("\n"))


def over_all_pairs(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The numbers of judges over all their pairs, with a name in the place of the candidate."""
    pooled = [each for each in estimates if {*each.where} - {"category"} == {"judge"}]
    return [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in pooled]


def farthest_first(estimates: Sequence[Estimate], null: float = 0.0) -> list[Estimate]:
    """The numbers by how far they are from what they are where there is nothing; those without a value last."""
    return sorted(estimates, key=lambda each: math.inf if math.isnan(each.value) else -abs(each.value - null))


def limited(lines: Sequence[str], most: int = MOST["lines"]) -> list[str]:
    """The lines, or where they are too many those that conclude something, else the first, and how many others."""
    items = [line for line in lines if line.lstrip().startswith("- ")]
    if len(items) <= most + 2:
        return list(lines)
    loud = [line for line in items if "**favours" in line or ": leans" in line.partition(";")[0]]
    shown = (loud or items)[:most]
    which = "more without a conclusion" if 0 < len(loud) <= most else "more"
    start = items[0].partition("-")[0]
    rest = f"{start}- ... and {len(items) - len(shown)} {which}: the tables hold them."
    return [*(line for line in lines if line not in items), *shown, rest]


EXAMPLE = paths.BUILTIN / "examples" / "SIMULATED_verdicts.csv"
#: The files of an analysis, with what they hold; figures come beside them.
FILES = {
    "summary.md": "all findings, figures with captions, what is missing",
    "numbers.csv": "every number, a row each",
    "numbers.json": "the same for `recuse compare` and `recuse paper`",
    "estimands.csv": "every declared number: computed, or what it lacks",
    "verdicts.csv": "verdicts as they are written, and what became of the others",
}
MOST_FIGURES = 3


def write(analysis: Analysis, folder: Path, force: bool = False, style: str = "") -> dict[str, str]:
    """Write FILES and the first MOST_FIGURES figures into `folder`; the names of the files, with what they hold.

    With a style of figures everything that a paper takes is written as well: all figures as PNG, PDF and SVG, tables
    and numbers as LaTeX. A folder that holds anything else than an earlier analysis is a ValueError, unless `force`:
    nothing in it is replaced or deleted but files of the same names.
    """
    check(folder, force)
    provenance, figures = _provenance(analysis), drawn(analysis, style or "paper")
    shown = figures if style else figures[:MOST_FIGURES]
    index = FILES | {f"{each.name}.png": each.alt.partition(". ")[0] for each in shown}
    if style:
        export(folder, figures, tables(analysis), analysis.estimates, provenance)
        index["*.pdf, *.svg, *.tex"] = "what `recuse paper` takes"
    text = f"{markdown(summary(analysis))}\n\n{captions('Figures', shown, ())}"
    files = {"summary.md": text.encode(), "numbers.csv": csv_text(analysis.numbers).encode()}
    files["numbers.json"] = contents(HERE, (), (), analysis.estimates, provenance)["numbers.json"]
    files |= {f"{each.name}.csv": csv_text(each.csv).encode() for each in sheets(analysis)}
    files |= {f"{each.name}.png": each.render("png") for each in shown}
    write_files(files, folder)
    return index


def check(folder: Path, force: bool = False) -> None:
    """Refuse a folder that is not ours to write into, before anything is computed."""
    there, earlier = list_contents(folder, "--to"), ""
    with suppress(OSError, ValueError, KeyError, TypeError):
        earlier = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))["provenance"]["experiment"]
    if there and not force and earlier != HERE:
        found = f"not empty ({', '.join(there[:5])}) and no earlier analysis"
        raise ValueError(f"{folder}: {found}; --to names another, --force writes")


def name_of(source: str | Path) -> str:
    """The folder for the analysis of a file: its name without its end, and -recuse."""
    name = Path(source).expanduser().resolve().name.removesuffix(".gz")
    stem = re.sub(r"(?i)\.(csv|tsv|jsonl|json|parquet|eval)$", "", name)
    return f"{re.sub(r'[^A-Za-z0-9._-]+', '_', stem).strip('.') or 'verdicts'}-recuse"


def _provenance(analysis: Analysis) -> dict[str, Any]:
    """Where the numbers are from: never the rows themselves, and no path."""
    frame = analysis.file.frame
    coded = frame.assign(**{name: frame[name].astype(str) for name in frame if frame[name].dtype == object})
    hashed = pd.util.hash_pandas_object(coded, index=False).to_numpy()
    return {
        "experiment": HERE,
        "data": DATA,
        "format": analysis.file.format,
        "judges": {judge: [] for judge in sorted(map(str, frame["judge"].unique()))},
        "n": analysis.judgments,
        "questions": int(frame["question_id"].nunique()),
        "seed": analysis.seed,
        "parameters": {"margin_pp": analysis.margin_pp},
        "inputs": short_hash(np.ascontiguousarray(hashed).tobytes().hex(), digits=16),
    }


def sheets(analysis: Analysis) -> list[Table]:
    """Status of all declared numbers, and verdicts as written."""
    status = ("estimands", analysis.status, "Every declared number: computed, or what is missing.")
    counts = ("verdicts", analysis.file.counts, "Verdicts as they are written, and what became of the others.")
    return [Table(name, frame.assign(data=DATA), words) for name, frame, words in (status, counts)]


def tables(analysis: Analysis) -> list[Table]:
    """Numbers by what they are of, then losses and `sheets`."""
    groups: dict[tuple[str, ...], list[Estimate]] = {}
    for each in analysis.estimates:
        groups.setdefault(tuple(sorted(each.where)), []).append(each)
    made = []
    for keys, group in groups.items():
        name = re.sub("[^a-z0-9]+", "_", f"by_{'_'.join(keys)}".lower())[:60] if keys else "overall"
        words = f"All numbers by {', '.join(keys)}." if keys else "All numbers of the whole file."
        made.append(table(name, words, group, keys, ["id"]))
    made += [
        Table("losses", analysis.losses.assign(data=DATA), "Judgments and what became of them."),
        *sheets(analysis),
    ]
    return [_short(each) if len(each.frame) > MOST["rows"] else each for each in made]


def _short(table: Table) -> Table:
    """A table of which no more is read than its first rows; its CSV holds all."""
    words = f"{table.caption} The first {MOST['rows']} of {len(table.frame):,} rows; the CSV file holds all."
    return replace(table, frame=table.frame.head(MOST["rows"]), caption=words, numbers=table.csv)


#: Numbers of many places that stand in a sorted figure, and the value of no bias.
SORTED = {"candidate_win_rate": 0.5, "candidate_score_mean": None, "candidate_top1_rate": None, "gold_accuracy": None}
SORTED |= {"own_vendor_win_effect": 0.0, "own_vendor_score_effect": 0.0}


def drawn(analysis: Analysis, style: str = "paper") -> list[Figure]:
    """The figures that these numbers can fill; sorted forest plots where there are many judges or candidates."""
    plain = [each for each in analysis.estimates if "condition" not in each.where]
    blind = [each for each in plain if "hint" not in each.where]
    pairs = analysis.file.frame[["judge", "judge_vendor"]].drop_duplicates().dropna().astype(str)
    vendors = {judge: vendor for judge, vendor in pairs.itertuples(index=False) if vendor} or None
    found = []
    if shown := _compared(plain):
        found += figures.if_any(figures.show_position_effects, shown, vendors, style=style)
        found += figures.if_any(figures.show_class_shares, shown, style=style)
    if analysis.file.style == "ranking":
        found += figures.if_any(figures.show_judge_vendor_heatmap, blind, vendors, style=style)
        found += figures.if_any(figures.show_positions, blind, style=style)
        naive, excess, logit = top_choice.three_readings(blind)
        if naive and (excess or logit):
            found += figures.if_any(figures.show_self_preference, naive, excess, logit, style=style)
        if any(each.id == "hint_effect" and each.value == each.value for each in plain):
            margin, words = analysis.margin_pp, hinting.conclusions(plain)
            found += figures.if_any(figures.show_hint_effects, plain, margin, words, style=style)
    for id, line in SORTED.items():
        rows = _most(plain, id)
        if 0 < len(rows) <= MOST["rows"]:
            found.append(figures.show_sorted(rows, id, line, plain, style=style))
    return found


def _most(estimates: Sequence[Estimate], id: str) -> list[Estimate]:
    """The estimates of one number, of the finest places of which a figure can hold all."""
    rows = [each for each in estimates if each.id == id and "category" not in each.where]
    most = max((len(each.where) for each in rows), default=0)
    fine = [each for each in rows if len(each.where) == most]
    return fine if len(fine) <= MOST["rows"] else [each for each in rows if len(each.where) < most]


def _compared(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The numbers of places that a figure can hold: of each comparison, else of each judge over all its pairs."""
    pair = [each for each in estimates if {"judge", "candidate"} <= {*each.where} <= {"judge", "candidate", "source"}]
    pooled = [each for each in over_all_pairs(estimates) if "category" not in each.where]
    for shown, most in ((position.titled(pair), MOST["rows"]), (pooled, MOST["comparisons"])):
        if 0 < sum(each.id == "first_position_effect" for each in shown) <= most:
            return shown
    return []
