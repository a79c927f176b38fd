"""Judges, marked verdicts and downloads of a report, read from stored replies and results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import overview, paths, tables
from helpers.config import COMMON, load_config, load_experiment
from helpers.escaping import cut
from helpers.explain import PAGE as ESTIMANDS
from helpers.export import NAME
from helpers.figures import panels
from helpers.report.fragments import Place, only_draws
from helpers.report.layout import Result
from helpers.run import ask
from helpers.run.asking import Asked, bias_of
from helpers.run.control import Control, partnered
from helpers.run.notebooks import available, experiment_of
from helpers.types import Answer, Judgment, Trial
from helpers.words import CARD_VERDICTS, display_name, listed

#: What a verdict can be marked as, and what that means.
KINDS = {
    "flipped": "another verdict when the same answers stand in another order",
    "changed": "another verdict than on the same material without the manipulation",
    "own": "the judge's own answer is preferred",
    "family": "an answer of the judge's own vendor, of another model, is preferred",
}
TIE = "a tie"
#: What places a trial besides who and what: the order in which answers stand, and what follows from it, are not in it.
_ORDER = ("first", "version")
#: A question that asks for no preference.
_NO_PREFERENCE = "wrote"


@dataclass(frozen=True)
class Marked:
    """A verdict with its marks; `picked` is what it is for, `others` what its partners were for, by kind of mark."""

    judgment: Judgment
    kinds: tuple[str, ...]
    picked: str
    others: Mapping[str, str]


def marked(
    judgments: Sequence[Judgment],
    answers: Mapping[tuple[str, str], Answer],
    control: str | None = None,
    controls: Mapping[str, Control] | None = None,
) -> list[Marked]:
    """The verdicts that are marked, in the order of the judgments; readable ones only.

    `controls` say which asking of the control each verdict is compared with, as the estimates have it; without them
    it is the one of the same repeat. A verdict that asks who wrote an answer is no preference, and the same text in
    two places has no owner.
    """
    numbered = partnered(judgments, control, controls) if control is not None and controls else judgments
    known = [(each, as_compared.trial, picks(each)) for each, as_compared in zip(judgments, numbered, strict=True)]
    read = [(each, trial, picked) for each, trial, picked in known if picked is not None]
    read = [one for one in read if one[1].where.get("task") != _NO_PREFERENCE]
    orders: dict[tuple, dict[tuple[str, ...], str]] = {}
    plain: dict[tuple, str] = {}
    for _, trial, picked in read:
        orders.setdefault(_material(trial), {}).setdefault(trial.shown, picked)
        if trial.condition == control:
            plain.setdefault((*_place(trial), trial.request.repeat), picked)
    found = []
    for each, trial, picked in read:
        others = dict(_others(trial, picked, orders, plain, control))
        kinds = (*others, *_owned(each.trial, picked, answers))
        if kinds:
            found.append(Marked(each, kinds, picked, others))
    return found


def picks(judgment: Judgment) -> str | None:
    """What a verdict is for: a candidate, an option, or TIE; None where it is for nothing that was shown, or unread."""
    trial, verdict = judgment.trial, judgment.verdict
    if verdict is None or not trial.shown:
        return None
    at = dict(zip(trial.labels, trial.shown, strict=True))
    if verdict.ranking:
        return at.get(verdict.ranking[0])
    if trial.form == "pairwise" and verdict.choice:
        first, second = trial.shown
        return TIE if "=" in verdict.choice else first if verdict.choice.startswith("A") else second
    return at.get(verdict.choice or "")


def _material(trial: Trial) -> tuple:
    """What is judged by whom under which condition, whatever stands first."""
    where = tuple(sorted((key, value) for key, value in trial.where.items() if key not in _ORDER))
    who = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat)
    return (*who, where, tuple(sorted(trial.shown)), trial.wording.name if trial.wording else "")


def _place(trial: Trial) -> tuple:
    """What a trial shows and asks for, whatever its condition and repeat."""
    shown = tuple(sorted(trial.shown)) if trial.wording else trial.shown
    return (trial.question_id, trial.judge.name, shown, trial.where.get("task", ""))


def _others(
    trial: Trial,
    picked: str,
    orders: Mapping[tuple, Mapping[tuple[str, ...], str]],
    plain: Mapping[tuple, str],
    control: str | None,
) -> Iterator[tuple[str, str]]:
    """The verdicts on the same that are not the same: with another order, without the manipulation."""
    alike = len(set(trial.shown)) == len(trial.shown) and trial.condition != "identical" and trial.wording is None
    if alike:
        turned = [other for shown, other in orders[_material(trial)].items() if shown != trial.shown]
        yield from (("flipped", other) for other in turned[:1] if other != picked)
    if control is not None and trial.condition != control:
        repeat = trial.request.repeat if trial.partner is None else trial.partner
        before = plain.get((*_place(trial), repeat))
        if before is not None and before != picked:
            yield "changed", before


def _owned(trial: Trial, picked: str, answers: Mapping[tuple[str, str], Answer]) -> Iterable[str]:
    """Whether the verdict is for the judge's own answer, or for one of its vendor, while another one was shown."""
    if trial.wording is not None or picked == TIE or trial.condition == "identical":
        return ()
    vendors = {name: _vendor(trial, name, answers) for name in trial.shown}
    if picked == trial.judge.name:
        return ("own",)
    of_vendor = vendors.get(picked) == trial.judge.vendor and set(vendors.values()) != {trial.judge.vendor}
    return ("family",) if of_vendor else ()


def _vendor(trial: Trial, name: str, answers: Mapping[tuple[str, str], Answer]) -> str:
    answer = answers.get((trial.question_id, name))
    return answer.vendor if answer else ""


#: Rows of one experiment that the page holds; the file beside it holds all.
MOST_ROWS = 500
#: Letters of a question and of a reply that the page shows.
LONGEST_QUESTION, LONGEST_REPLY = 200, 1500
COLUMNS = ("key", "experiment", "judge", "condition", "category", "question_id", "marks", "shown", "verdict", "data")


@dataclass(frozen=True)
class Row:
    """One marked verdict as a reader sees it; all of it is text of others and is shown as text."""

    key: str
    experiment: str
    judge: str
    condition: str
    category: str
    question_id: str
    question: str
    kinds: tuple[str, ...]
    shown: tuple[str, ...]
    verdict: str
    reply: str
    data: str


@dataclass(frozen=True)
class Verdicts:
    """The marked verdicts of one run: `rows` of the page, `every` one for the file, `read` of `asked` judgments.

    `why` says why there are none where nothing can be read, else "".
    """

    label: str
    rows: tuple[Row, ...] = ()
    every: tuple[Row, ...] = ()
    asked: int = 0
    read: int = 0
    why: str = ""

    @property
    def frame(self) -> pd.DataFrame:
        """All rows for the CSV file: COLUMNS, without the reply, which the key leads to."""
        table = [{**vars(row), "marks": " ".join(row.kinds), "shown": "; ".join(row.shown)} for row in self.every]
        return pd.DataFrame(table, columns=list(COLUMNS))


def marked_verdicts(result: Result) -> Verdicts | None:
    """The marked verdicts of a run from its stored replies; None of a notebook that asks nobody."""
    if not result.asks:
        return None
    if result.parameters.get("judgments", "ask") not in ("ask", "stored"):
        return Verdicts(result.label, why="its judgments were published by others, without the replies")
    try:
        asked = _stored(result)
    except (OSError, ValueError) as error:  # a file of questions that is elsewhere, a model that is no more
        return Verdicts(result.label, why=f"its replies cannot be read here ({type(error).__name__})")
    return of_run(asked, result.label)


def of_run(asked: Asked, label: str) -> Verdicts:
    """The marked verdicts of a run that was read."""
    control = bias_of(asked.experiment).control
    read = [each for each in asked.judgments if each.completion is not None]
    questions = {each.id: each.text for each in asked.questions}
    # All of them: which partner a verdict has does not hang on which replies are stored.
    found = marked(asked.judgments, asked.answers, control, asked.controls)
    every = [_row(each, label, questions, asked.data) for each in found]
    none = "" if read else "none of its replies is stored here: `recuse run` asks for them"
    return Verdicts(label, tuple(every[:MOST_ROWS]), tuple(every), len(asked.judgments), len(read), none)


def _stored(result: Result) -> Asked:
    """The run as its stored replies tell it; cells of a matrix keep theirs in the main store."""
    known = {**COMMON, **load_config(result.name).parameters}
    given: dict[str, Any] = {name: value for name, value in result.parameters.items() if name in known}
    given |= {"judgments": "stored", "out": None}
    store = Path(str(given["store"])).expanduser() if given.get("store") else paths.REPLIES
    given["store"] = str(store if any(store.glob("*.jsonl")) else paths.REPLIES)
    return asyncio.run(ask(load_experiment(result.name, **given), show=False))


def _row(each: Marked, label: str, questions: Mapping[str, str], data: str) -> Row:
    trial = each.judgment.trial
    options = trial.wording.versions[trial.where["version"]].options if trial.wording else ()
    names = {name: options[int(name)] for name in trial.shown} if options else {}
    slots = enumerate(zip(trial.labels, trial.shown, strict=True))
    shown = tuple(f"{letter}: {names.get(name, name)}{_named(trial, at)}" for at, (letter, name) in slots)
    question = trial.wording.versions[trial.where["version"]].text if trial.wording else ""
    return Row(
        key=trial.request.key,
        experiment=label,
        judge=trial.judge.name,
        condition=trial.condition,
        category=trial.category,
        question_id=trial.question_id,
        question=cut(question or questions.get(trial.question_id, ""), LONGEST_QUESTION),
        kinds=each.kinds,
        shown=shown,
        verdict=_told(each, names),
        reply=cut(each.judgment.completion.text if each.judgment.completion else "", LONGEST_REPLY),
        data=data,
    )


def _named(trial: Any, at: int) -> str:
    """The vendor under whose name an answer was shown, where a name was."""
    name = trial.named[at] if trial.named else None
    return f" (as {display_name(name)})" if name else ""


def _told(each: Marked, names: Mapping[str, str]) -> str:
    """What the verdict is for, whether that is right where it is known, and what its partners were for."""

    def called(name: str) -> str:
        role = {each.judgment.trial.where.get(role): f" (the {role} one)" for role in ("right", "wrong")}
        return f"{names.get(name, name)}{role.get(name, '')}"

    said = {"flipped": "in another order", "changed": "without the manipulation"}
    told = [f"{called(other)} {said[kind]}" for kind, other in each.others.items()]
    return "; ".join([f"for {called(each.picked)}", *told])


def tabled(found: Sequence[Verdicts]) -> dict[str, bytes]:
    """The CSV file of all marked verdicts, by its name; none where there is nothing in it."""
    every = [each.frame for each in found if each.every]
    return {"verdicts.csv": tables.csv_text(pd.concat(every, ignore_index=True)).encode()} if every else {}


def without_doubles(rows: Sequence[Row]) -> list[Row]:
    """Each reply once: where two experiments share one, the row of the first stays."""
    return list({row.key: row for row in reversed(rows)}.values())[::-1]


def choices(rows: Sequence[Row]) -> dict[str, list[str]]:
    """What the filters offer, by name of the filter, in the order of first appearance."""
    return {
        "experiment": list(dict.fromkeys(row.experiment for row in rows)),
        "judge": sorted({row.judge for row in rows}),
        "mark": [kind for kind in KINDS if any(kind in row.kinds for row in rows)],
        "condition": sorted({row.condition for row in rows}),
    }


SHOWN = ("measure", "verdict", "estimate", "p", "smallest", "n", "clusters", "words")


@dataclass(frozen=True)
class Card:
    """One judge: its lines, the model ids that it answered as, and what is worst in a few words."""

    name: str
    address: str
    frame: pd.DataFrame
    returned: str
    worst: str
    link: str


@dataclass(frozen=True)
class Source:
    """The judges of one source of data."""

    title: str
    address: str
    simulated: bool
    judges: tuple[Card, ...]


def sources(results: Sequence[Result], marked: Sequence[str], place: Place) -> list[Source]:
    """The cards of all judges by source of data; `marked` are the judges that the table of verdicts has rows of."""
    lines = overview.words([each.found for each in results if each.found])
    returned = {name: ids for each in results for name, ids in each.judges.items() if ids}
    found = []
    for data, rows in lines.groupby("data", sort=False):
        title = panels.SOURCES.get(str(data), str(data))
        title = f"{title[:1].upper()}{title[1:]}"
        address = place.address(title)
        place.headings.append((title, address))
        cards = tuple(
            _card(str(judge), mine, returned, marked, place, str(data))
            for judge, mine in rows.groupby("judge", sort=False)
        )
        found.append(Source(title, address, data == "simulated", cards))
    return found


def _card(
    judge: str, rows: pd.DataFrame, returned: dict[str, Sequence[str]], marked: Sequence[str], place: Place, data: str
) -> Card:
    gravest = min(rows["verdict"], key=CARD_VERDICTS.index)
    worst = [str(measure) for measure in rows.loc[rows["verdict"] == gravest, "measure"].unique()]
    told = f"{gravest}: {listed(worst)}" if gravest != "described" else ""
    bare = judge.partition(" (")[0]
    asked = data not in ("published", "hub", "folder")
    link = f"verdicts.html?judge={bare}" if asked and bare in marked else ""
    answered = listed(returned.get(bare, ())) if asked else ""
    return Card(judge, place.address(f"judge-{data}-{judge}"), rows[list(SHOWN)], answered, told, link)


#: What may be downloaded, by ending, and what it is called.
SHELVES_KINDS = {
    ".png": "PNG",
    ".pdf": "PDF",
    ".svg": "SVG",
    ".csv": "CSV",
    ".tex": "LaTeX",
    ".json": "JSON",
    ".md": "Markdown",
}
PICTURES = (".png", ".pdf", ".svg")
#: The record of one run: commit, time, versions. It is no result and differs between runs that agree.
LEFT_OUT = "run.json"
#: What a notebook may link to in this repository: texts, in these folders, of at most so many bytes.
TEXTS = (".yaml", ".txt", ".md", ".py", ".json", ".jsonl", ".csv")
ROOMS = (paths.EXPERIMENTS, paths.DATA, paths.ROOT / "helpers")
PRIVATE = (paths.REPLIES, paths.DOWNLOADS)
LARGEST = 2_000_000
REFERENCE = "reference.html"


@dataclass
class Shelf:
    """What the pages link to beside each other: `files` by their place in the report, `sources` by address and name."""

    files: dict[str, bytes] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def downloads(result: Result, shelf: Shelf) -> dict[str, list[tuple[str, str, str]]]:
    """The files of a run as rows of a table: kind, address and size, by what they are of. They are put on the shelf."""
    found: dict[str, list[tuple[str, str, str]]] = {}
    for path in _results(result.folder):
        address = f"files/{result.page}/{path.name}"
        shelf.files[address] = path.read_bytes()
        size = len(shelf.files[address])
        found.setdefault(path.stem, []).append(
            (SHELVES_KINDS[path.suffix], address, f"{max(1, round(size / 1000)):,} kB")
        )
    order = list(SHELVES_KINDS.values())
    return {stem: sorted(files, key=lambda each: order.index(each[0])) for stem, files in sorted(found.items())}


def pictures(result: Result) -> dict[bytes, list[tuple[str, str]]]:
    """The files of each figure (what it is called, address), by the bytes of its PNG, as notebooks show it."""
    files = _results(result.folder)
    return {
        path.read_bytes(): [
            (SHELVES_KINDS[other.suffix], f"files/{result.page}/{other.name}")
            for ending in PICTURES
            for other in files
            if other.stem == path.stem and other.suffix == ending
        ]
        for path in files
        if path.suffix == ".png"
    }


def _results(folder: Path) -> list[Path]:
    """The files of results in a folder, in order; what an export does not write is left where it is.

    So is a drawing that would act when somebody opens it.
    """
    return [
        path
        for path in sorted(folder.iterdir())
        if path.suffix in SHELVES_KINDS and NAME.fullmatch(path.stem) and path.name != LEFT_OUT
        if path.is_file() and not path.is_symlink()
        if path.suffix != ".svg" or only_draws(path.read_bytes())
    ]


def leads(href: str, home: Path, pages: Sequence[Result], shelf: Shelf) -> str | None:
    """Where a link of a notebook in the folder `home` leads within the report; None where it can lead nowhere.

    Other notebooks and the page of all numbers are pages here. Texts of this repository are put on the shelf.
    """
    target = Path(os.path.normpath(home / href.partition("#")[0]))
    if target == ESTIMANDS:
        return REFERENCE
    name = {path: experiment_of(path) for path in available().values()}.get(target)
    name = target.parent.name if target.name == "report.ipynb" else name
    own = [page for page in pages if page.name == name]
    if name is not None:
        return f"{own[0].page}.html" if own else None
    if not any(target.is_relative_to(room) for room in ROOMS) or any(target.is_relative_to(each) for each in PRIVATE):
        return None
    if target.is_dir():
        within = [each for each in sorted(target.iterdir()) if _is_text(each)]
        for each in within:
            _put(each, shelf)
        return "downloads.html#sources" if within else None
    return _put(target, shelf) if _is_text(target) else None


def _is_text(path: Path) -> bool:
    return path.suffix in TEXTS and path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST


def _put(path: Path, shelf: Shelf) -> str:
    """A text of this repository on the shelf, under a name that browsers show and do not run or save."""
    place = path.relative_to(paths.ROOT).as_posix()
    address = f"sources/{place}.txt"
    shelf.files[address] = path.read_bytes()
    shelf.sources[address] = place
    return address
