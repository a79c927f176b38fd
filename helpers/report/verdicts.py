"""The table of marked verdicts: read from the stored replies, which are asked for by nobody here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from helpers import paths, tables
from helpers.config import COMMON, load_config, load_experiment
from helpers.escaping import cut
from helpers.report.marking import KINDS, Marked, marked
from helpers.report.results import Result
from helpers.run import ask
from helpers.run.asking import Asked, bias_of
from helpers.words import display_name

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


def verdicts(result: Result) -> Verdicts | None:
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
    control = getattr(bias_of(asked.experiment), "CONTROL", None)
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
