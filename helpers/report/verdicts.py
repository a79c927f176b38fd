"""Judges, marked verdicts and downloads of a report, read from stored replies and results."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import overview, paths, tables
from ..config import COMMON, load_config, load_experiment
from ..escaping import cut
from ..explain import PAGE as ESTIMANDS
from ..export import NAME
from ..figures import points
from ..run import ask
from ..run.asking import Asked, bias_of
from ..run.control import KINDS, Marked, marked
from ..run.notebooks import available, experiment_of
from ..words import CARD_VERDICTS, display_name, listed
from .fragments import Files as Pictures, Place, only_draws

if TYPE_CHECKING:
    from .pages import Result

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


def marked_verdicts(result: Result) -> Verdicts:
    """The marked verdicts of a run from its stored replies."""
    if result.parameters.get("judgments", "ask") not in ("ask", "stored"):
        return Verdicts(result.label, why="its judgments were published by others, without the replies")
    # Cells of a matrix keep their replies in the main store.
    store = Path(str(result.parameters.get("store") or paths.REPLIES)).expanduser()
    try:
        asked = reread(result.name, result.parameters, store if any(store.glob("*.jsonl")) else paths.REPLIES)
    except (OSError, ValueError) as error:  # a file of questions that is elsewhere, a model that is no more
        return Verdicts(result.label, why=f"its replies cannot be read here ({type(error).__name__})")
    return of_run(asked, result.label)


def reread(name: str, parameters: Mapping[str, Any], store: Path) -> Asked:
    """An earlier run from its stored replies, by the parameters that its results name; in a notebook, too."""
    defaults = {**COMMON, **load_config(name).parameters}
    known = {name: value for name, value in parameters.items() if name in defaults}
    experiment = load_experiment(name, **known | {"judgments": "stored", "out": None, "store": str(store)})
    with ThreadPoolExecutor(1) as another:  # a notebook's own thread has a loop that runs
        return another.submit(asyncio.run, ask(experiment, show=False)).result()


def of_run(asked: Asked, label: str) -> Verdicts:
    """The marked verdicts of a run that was read."""
    read = sum(each.completion is not None for each in asked.judgments)
    questions = {each.id: each.text for each in asked.questions}
    # All of them: which partner a verdict has does not hang on which replies are stored.
    found = marked(asked.judgments, asked.answers, bias_of(asked.experiment).control, asked.controls)
    every = tuple(_row(each, label, questions, asked.data) for each in found)
    none = "" if read else "none of its replies is stored here: `recuse run` asks for them"
    return Verdicts(label, every[:MOST_ROWS], every, len(asked.judgments), read, none)


def _row(each: Marked, label: str, questions: Mapping[str, str], data: str) -> Row:
    trial, completion = each.judgment.trial, each.judgment.completion
    version = trial.wording.versions[trial.where["version"]] if trial.wording else None
    options = version.options if version else ()
    names = {name: options[int(name)] for name in trial.shown} if options else {}

    def called(name: str) -> str:
        role = {trial.where.get(role): f" (the {role} one)" for role in ("right", "wrong")}
        return f"{names.get(name, name)}{role.get(name, '')}"

    partners = {"flipped": "in another order", "changed": "without the manipulation"}
    others = [f"{called(other)} {partners[kind]}" for kind, other in each.others.items()]
    vendors = [f" (as {display_name(name)})" if name else "" for name in trial.named or [None] * len(trial.shown)]
    slots = zip(trial.labels, trial.shown, vendors, strict=True)
    return Row(
        key=trial.request.key,
        experiment=label,
        judge=trial.judge.name,
        condition=trial.condition,
        category=trial.category,
        question_id=trial.question_id,
        question=cut((version and version.text) or questions.get(trial.question_id, ""), LONGEST_QUESTION),
        kinds=each.kinds,
        shown=tuple(f"{letter}: {names.get(name, name)}{vendor}" for letter, name, vendor in slots),
        verdict="; ".join([f"for {called(each.picked)}", *others]),
        reply=cut(completion.text if completion else "", LONGEST_REPLY),
        data=data,
    )


def tabled(found: Sequence[Verdicts]) -> dict[str, bytes]:
    """The CSV file of all marked verdicts, by its name; none where there is nothing in it.

    It is without the replies, which the keys lead to.
    """
    every = [row for each in found for row in each.every]
    lines = [{**vars(row), "marks": " ".join(row.kinds), "shown": "; ".join(row.shown)} for row in every]
    frame = pd.DataFrame(lines, columns=list(COLUMNS))
    return {"verdicts.csv": tables.csv_text(frame).encode()} if every else {}


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


SHOWN = ["measure", "verdict", "estimate", "p", "smallest", "n", "clusters", "words"]


@dataclass(frozen=True)
class Card:
    """One judge: its lines, the model ids that it answered as, and what is worst in a few words."""

    name: str
    address: str
    frame: pd.DataFrame
    returned: str
    worst: str
    link: str


def cards(results: Sequence[Result], marked: set[str], place: Place) -> dict[str, list[Card]]:
    """The cards of all judges by source of data; `marked` are the judges that the table of verdicts has rows of.

    Each source is a heading of the page, in the same order.
    """
    lines = overview.words([each.found for each in results if each.found])
    returned = {name: ids for each in results for name, ids in each.judges.items() if ids}
    found: dict[str, list[Card]] = {}
    for (data, judge), rows in lines.groupby(["data", "judge"], sort=False):
        if data not in found:
            title = points.SOURCES.get(data, data)
            place.headings.append((f"{title[:1].upper()}{title[1:]}", place.address(title)))
        bare, asked = judge.partition(" (")[0], data not in ("published", "hub", "folder")
        gravest = min(rows["verdict"], key=CARD_VERDICTS.index)
        worst = rows.loc[rows["verdict"] == gravest, "measure"].unique()
        card = Card(
            name=judge,
            address=place.address(f"judge-{data}-{judge}"),
            frame=rows[SHOWN],
            returned=listed(returned.get(bare, ())) if asked else "",
            worst=f"{gravest}: {listed(worst)}" if gravest != "described" else "",
            link=f"verdicts.html?judge={bare}" if asked and bare in marked else "",
        )
        found.setdefault(data, []).append(card)
    return found


#: What may be downloaded, by ending, and what it is called.
ENDINGS = (".png", ".pdf", ".svg", ".csv", ".tex", ".json", ".md")
KINDS_OF_FILES = dict(zip(ENDINGS, ("PNG", "PDF", "SVG", "CSV", "LaTeX", "JSON", "Markdown"), strict=True))
#: The record of one run: commit, time, versions. It is no result and differs between runs that agree.
LEFT_OUT = "run.json"
#: What a notebook may link to in this repository: texts, in these folders, of at most so many bytes.
TEXTS = (".yaml", ".txt", ".md", ".py", ".json", ".jsonl", ".csv")
ROOMS = (paths.EXPERIMENTS, paths.BUILTIN, paths.PACKAGE)
PRIVATE = (paths.REPLIES, paths.DOWNLOADS)
LARGEST = 2_000_000
#: Kind and address of each file, by what they are of.
Files = dict[str, list[tuple[str, str]]]


@dataclass
class Shelf:
    """What the pages link to beside each other: `files` by their place in the report, `sources` by address and name."""

    files: dict[str, bytes] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)


def downloads(result: Result, shelf: Shelf) -> Files:
    """The files of a run, put on the shelf; what an export does not write is left where it is.

    So is a drawing that would act when somebody opens it.
    """
    order, found = list(KINDS_OF_FILES), dict[Any, Any]()
    ours = [path for path in result.folder.iterdir() if path.suffix in order and NAME.fullmatch(path.stem)]
    ours = [path for path in ours if path.name != LEFT_OUT and path.is_file() and not path.is_symlink()]
    for path in sorted(ours, key=lambda path: (path.stem, order.index(path.suffix))):
        content = path.read_bytes()
        if path.suffix != ".svg" or only_draws(content):
            address = f"files/{result.page}/{path.name}"
            shelf.files[address] = content
            found.setdefault(path.stem, []).append((KINDS_OF_FILES[path.suffix], address))
    return found


def pictures(files: Files, shelf: Shelf) -> Pictures:
    """The files of each figure by the bytes of its PNG, as notebooks show it."""
    found = {}
    for each in map(dict, files.values()):
        if "PNG" in each:
            found[shelf.files[each["PNG"]]] = [(kind, each[kind]) for kind in ("PNG", "PDF", "SVG") if kind in each]
    return found


def leads(href: str, home: Path, pages: Sequence[Result], shelf: Shelf) -> str | None:
    """Where a link of a notebook in the folder `home` leads within the report; None where it can lead nowhere.

    Other notebooks and the page of all numbers are pages here. Texts of this repository are put on the shelf.
    """
    target = Path(os.path.normpath(home / href.partition("#")[0]))
    if target == ESTIMANDS:
        return "reference.html"
    notebooks = {path: experiment_of(path) for path in available().values()}
    name = target.parent.name if target.name == "report.ipynb" else notebooks.get(target)
    if name is not None:
        return next((f"{page.page}.html" for page in pages if page.name == name), None)
    if not any(map(target.is_relative_to, ROOMS)) or any(map(target.is_relative_to, PRIVATE)):
        return None
    inside = sorted(target.iterdir()) if target.is_dir() else [target]
    texts = [_shelved(each, shelf) for each in inside if _is_text(each)]
    return None if not texts else "downloads.html#sources" if target.is_dir() else texts[0]


def _is_text(path: Path) -> bool:
    return path.suffix in TEXTS and path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST


def _shelved(path: Path, shelf: Shelf) -> str:
    """The address of a text of this repository on the shelf, under a name that browsers show and do not run or save."""
    place = path.relative_to(paths.PACKAGE.parent).as_posix()
    address = f"sources/{place}.txt"
    shelf.files[address] = path.read_bytes()
    shelf.sources[address] = place
    return address
