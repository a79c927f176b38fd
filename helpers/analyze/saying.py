"""The bottom line of an analysis in sentences, and its files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .. import figures, frames, paths
from ..biases import hinting, position, protocol, top_choice
from ..biases.hinting.paired import averages
from ..biases.top_choice.measured import conclusions as preferences
from ..escaping import markdown
from ..export import captions, contents, export, list_contents, write as write_files
from ..figures import Figure
from ..tables import Table, csv_text
from ..types import Estimate, short_hash
from ..words import LEVEL, UNITS, Conclusion, clause, display_name, effect, lines, listed, many, plain
from ..words.numbers import declared_by
from .analysis import COMPUTED, DATA, EVERYBODY, HERE, KINDS, MOST, WORDS, Analysis, condition_names

#: Ends of numbers that are reported elsewhere, and keys of places in the table of a summary; numbers.csv has all.
BESIDE = ("unreadable_share", "change_rate_repeat", "loss_change", "_published")
PLACES = {"judge", "judges", "candidate", "vendor", "hint", "condition", "turn"}
#: What no column of a file could mend.
NEVER = tuple(WORDS[name] for name in ("published", "people", "asked", "model"))
vendors, places = partial(protocol.conclusions, HERE), partial(protocol.conclusions, "position")
#: The biases that users ask for: what they are, and the numbers that show them with what concludes of each.
ASKED: dict[str, tuple[str, dict[str, Callable[..., Iterable[Conclusion]]]]] = {
    "position": ("Place of an answer", {"first_position_effect": places}),
    "own_vendor": (
        "Own vendor",
        {"own_vendor_win_effect": vendors, "own_vendor_score_effect": vendors, "self_preference_logit": preferences},
    ),
    "names": ("Names beside answers", {"hint_effect": lambda rows, id: averages(rows, id).values()}),
}
STANDINGS = {"bias": "biased", "hint": "leans, not established", "not shown": "no bias shown", "untold": "cannot tell"}
OWN = "own_vendor_"


def summary(analysis: Analysis) -> str:
    """The whole of it as Markdown: the answers, findings with intervals, and which numbers are missing for what."""
    notes = [*filter(None, [frames.unreadable_words(analysis.losses)]), *conditions(analysis), *analysis.notes]
    parts = [head(analysis), "", *answers(analysis), *([""] if notes else []), *(f"- {note}" for note in notes)]
    parts += ["", "## Found", *findings(analysis)]
    return "\n".join([*parts, "", "## Not computed", "", *absent(analysis)])


def head(analysis: Analysis) -> str:
    """What the file holds, in one line."""
    file, losses = analysis.file, analysis.losses
    lost = int((losses["unreadable"] * losses["judgments"]).round().sum())
    judges, questions = (many(file.frame[n].nunique(), n.removesuffix("_id")) for n in ("judge", "question_id"))
    return (
        f"**{plain(file.name)}** ({file.format}): {many(analysis.judgments, 'judgment')} ({KINDS[file.style]}) by "
        f"{judges} on {questions}; {lost:,} ({lost / max(1, analysis.judgments):.1%}) could not be read."
    )


def biases(analysis: Analysis, condition: str = "") -> dict[str, list[Conclusion]]:
    """What may be concluded of each bias of ASKED under a condition (the main one: ""); nothing if it is not measured.

    Of judges over all their pairs where that is computed, and then of those single comparisons that show a bias.
    """
    there = [
        replace(each, where={key: at for key, at in each.where.items() if key != "condition"})
        for each in analysis.estimates
        if each.value == each.value and each.where.get("condition", "") == condition and {*each.where} <= PLACES
    ]
    found: dict[str, list[Conclusion]] = {kind: [] for kind in ASKED}
    for kind, (_, ids) in ASKED.items():
        for id, conclude in ids.items():
            rows = [each for each in there if each.id == id]
            for size in sorted({len(each.where) for each in rows}):
                several = conclude([each for each in rows if len(each.where) == size], id)
                found[kind] += [each for each in several if each.verdict == "bias" or not found[kind]]
    return found


def shown(analysis: Analysis, kinds: str) -> list[str]:
    """Which of these biases (names of ASKED with commas between) are shown.

    One that is not measured is a ValueError: nobody can say that there is none.
    """
    found = {kind: biases(analysis)[kind] for kind in _kinds(kinds)}
    if missing := [kind for kind, several in found.items() if not several]:
        raise ValueError(f"{missing[0]}: not measured, see above; a check of it needs verdicts that can show it")
    return [kind for kind, several in found.items() if any(each.verdict == "bias" for each in several)]


def _kinds(kinds: str) -> list[str]:
    found = [each.strip() for each in kinds.split(",") if each.strip()]
    if unknown := [each for each in found if each not in ASKED]:
        raise ValueError(f"--fail-on {unknown[0]}: no such bias; valid: {', '.join(ASKED)}")
    return found


def answers(analysis: Analysis) -> Iterator[str]:
    """A line for each bias: of whom it is shown, of whom not and what would have been, or what it would take.

    First of the main condition, then what is measured under each other one.
    """
    status, (_, *others) = analysis.status.groupby("id").first(), condition_names(analysis.file.frame)
    for condition in ("", *others):
        for kind, found in biases(analysis, condition).items():
            title, ids = ASKED[kind]
            # Why not is best said by the number that came nearest: the others are of other styles of verdicts.
            why = min(status.loc[[*ids], "why"], key=lambda text: "these are" in text)
            title += f" (condition {plain(condition)})" * bool(condition)
            if found or not condition:
                missing = f"not measured ({why or 'but under another condition'})"
                yield f"- {title}: {'; '.join(_standings(found)) or missing}."
    if others and analysis.file.style != "ranking":
        yield f"- {len(others) + 1} conditions: each p is corrected for its own condition alone, not for all of them."


def _standings(found: Sequence[Conclusion]) -> Iterator[str]:
    """Of whom which standing holds, the largest numbers first."""
    for verdict, words in STANDINGS.items():
        several = sorted(
            (each for each in found if each.verdict == verdict), key=lambda each: -abs(each.estimate.value)
        )
        names, more = [_answer(each) for each in several[: MOST["names"]]], len(several) - MOST["names"]
        if names:
            yield f"**{words}**: {listed([*names, *([f'{more:,} more'] if more > 0 else [])])}"


def _answer(each: Conclusion) -> str:
    where, value = each.estimate.where, f"{each.estimate}{UNITS.get(each.estimate.unit, '')}"
    keys = ("hint",) if "hint" in where else ("judge", "vendor", "candidate")
    who = listed((display_name(where[key]) for key in keys if key in where), "on")
    if each.verdict == "bias":
        return f"{who} {clause([each])} ({value})"
    established = each.p < LEVEL or each.smallest != each.smallest
    return f"{who} ({value}{'' if established else f'; {effect(each)} would be found'})"


def conditions(analysis: Analysis) -> list[str]:
    """Of which condition the numbers are that name none, where it is not the plain one."""
    main, *others = condition_names(analysis.file.frame)
    if main == "none":
        return []
    if others:
        return [f"No condition is called none: numbers without a condition are of {plain(main)}."]
    return [f"All verdicts are of the condition {plain(main)}, and so is every number here."]


def findings(analysis: Analysis) -> Iterator[str]:
    """What is said of vendors and rankings, then one table of the numbers by judge, candidate, vendor and condition."""
    main = [each for each in analysis.estimates if "condition" not in each.where]
    if analysis.file.style == "ranking":
        yield from _ranked(analysis, main)
    ids = [id for id in declared_by(HERE) if id.startswith(OWN)]
    yield from filter(None, [lines(vendors(main, *ids), "{vendor}")])
    rows = [HEADS, *measured(analysis)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    padded = [f"| {' | '.join([*map(str.ljust, row, wide), row[-1]])} |" for row in rows]
    yield "\n".join(["", padded[0], f"|{'---|' * len(HEADS)}", *padded[1:]])
    yield "\n`recuse explain NUMBER` says more of a number, and where it fails."


HEADS = ("number", "of whom", "value", "verdicts", "questions", "what it says")


def measured(analysis: Analysis) -> Iterator[tuple[str, ...]]:
    """The rows of a table with these HEADS: each comparison while they can be read, else judges over all of theirs."""
    words = analysis.status.drop_duplicates("id").set_index("id")["words"]
    several_judges = analysis.file.frame["judge"].nunique() > 1
    groups: dict[str, list[Estimate]] = {}
    for each in analysis.estimates:
        if each.value == each.value and {*each.where} <= PLACES and not each.id.endswith(BESIDE):
            groups.setdefault(each.id, []).append(each)
    for id, several in groups.items():
        sizes = Counter(len(each.where) for each in several)
        size = max((size for size, count in sizes.items() if count <= MOST["lines"]), default=min(sizes))
        several = sorted((each for each in several if len(each.where) == size), key=lambda each: -abs(each.value))
        # The first clause says what is counted; the others, what it is compared with.
        what = re.split(r"[.:;,]", words[id])[0].strip()
        for each in several[: MOST["lines"]]:
            pooled = several_judges and "candidate" in each.where and "judge" not in each.where
            place = f"{_who(each)}{', all judges' * pooled}".replace("|", "\\|")
            yield id, place, str(each), f"{each.n:,}", f"{each.clusters:,}", what
            what = ""
        if (more := len(several) - MOST["lines"]) > 0:
            yield id, f"{more:,} more", "numbers.csv", "", "", ""


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
    return ", ".join(display_name(value) if key == "vendor" else plain(value) for key, value in each.where.items())


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


def write(analysis: Analysis, folder: Path, force: bool = False, style: str | None = None) -> str:
    """Write FILES and the first MOST_FIGURES figures into `folder`; an index of these files.

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
    return "\n".join([f"In {folder}:", "", *(f"- `{name}`: {words}" for name, words in index.items())])


def check(folder: Path, force: bool = False, kinds: str = "") -> None:
    """Refuse a folder that is not ours to write into, and unknown `kinds` of bias, before anything is computed."""
    _kinds(kinds)
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
    """The numbers of the summary, losses and `sheets`."""
    numbers = pd.DataFrame(measured(analysis), columns=list(HEADS)).assign(data=DATA)
    losses = analysis.losses.assign(data=DATA)
    made = [
        Table("measured", numbers, "Numbers by judge, candidate, vendor and condition."),
        Table("losses", losses, "Judgments and what became of them."),
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
    judges = [each for each in estimates if {*each.where} == {"judge"}]
    pooled = [replace(each, where={**each.where, "candidate": EVERYBODY}) for each in judges]
    for shown, most in ((position.titled(pair), MOST["rows"]), (pooled, MOST["comparisons"])):
        if 0 < sum(each.id == "first_position_effect" for each in shown) <= most:
            return shown
    return []
