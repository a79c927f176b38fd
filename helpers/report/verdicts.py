"""The marked verdicts of a report, read from stored replies: one row each, and where a number finds its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlencode

import pandas as pd
from markupsafe import Markup

from .. import paths
from ..compare import reread
from ..escaping import cut
from ..explore import by_label
from ..run import notebooks
from ..run.asking import Asked, bias_of
from ..run.control import Marked, marked
from ..words import display_name
from .runs import Run
from .shown import table

#: Rows of one judge in one experiment that the page holds; the file beside it holds all.
MOST_ROWS = 200
#: Of the file, which is without the replies: the keys lead to them.
COLUMNS = ("key", "experiment", "judge", "condition", "category", "question_id", "marks", "shown", "verdict", "data")


def marked_verdicts(run: Run) -> tuple[pd.DataFrame, str]:
    """The marked verdicts of a run from its stored replies (see `of_run`), and how many there are or why none."""
    parameters = notebooks.parameters(run.book)
    if parameters.get("judgments", "ask") not in ("ask", "stored"):
        return of_rows([]), f"{run.label}: no rows, because its judgments were published by others, without replies."
    # Cells of a matrix keep their replies in the main store.
    store = Path(str(parameters.get("store") or paths.REPLIES)).expanduser()
    store = store if any(store.glob("*.jsonl")) else paths.REPLIES
    try:
        return of_run(reread(run.made.experiment, parameters, store), run.label)
    except (OSError, ValueError) as error:  # a file of questions that is elsewhere, a model that is no more
        return of_rows([]), f"{run.label}: no rows, because its replies cannot be read here ({type(error).__name__})."


def of_run(asked: Asked, label: str) -> tuple[pd.DataFrame, str]:
    """The marked verdicts of a run that was read, one row each (COLUMNS, `question` and `reply`), and their number."""
    read, every = sum(each.completion is not None for each in asked.judgments), len(asked.judgments)
    questions = {each.id: each.text for each in asked.questions}
    # All of them: which partner a verdict has does not hang on which replies are stored.
    found = marked(asked.judgments, asked.answers, bias_of(asked.experiment).control, asked.controls)
    rows = of_rows([{**_row(each, questions), "experiment": label, "data": asked.data} for each in found])
    if not read:
        return rows, f"{label}: no rows, because none of its replies is stored here: `recuse run` asks for them."
    missing = f" ({every - read:,} of {every:,} are not stored)" if read < every else ""
    many = len(rows) > len(of_page(rows))
    first = f"; the first {MOST_ROWS} of each judge stand here, all of them in the file" if many else ""
    return rows, f"{label}: {len(rows):,} of {read:,} stored judgments are marked{missing}{first}."


def of_rows(rows: list[dict[str, str]]) -> pd.DataFrame:
    """Rows as a frame with all columns, some or none."""
    return pd.DataFrame(rows, columns=[*COLUMNS, "question", "reply"])


def _row(each: Marked, questions: Mapping[str, str]) -> dict[str, str]:
    """One marked verdict as a reader sees it; all of it is text of others and is shown as text."""
    trial, completion = each.judgment.trial, each.judgment.completion
    version = trial.wording.versions[trial.where["version"]] if trial.wording else None
    names = dict(zip(trial.shown, by_label(trial).values(), strict=True))

    def called(name: str) -> str:
        role = {trial.where.get(role): f" (the {role} one)" for role in ("right", "wrong")}
        return f"{names.get(name, name)}{role.get(name, '')}"

    partners = {"flipped": "in another order", "changed": "without the manipulation"}
    others = [f"{called(other)} {partners[kind]}" for kind, other in each.others.items()]
    vendors = [f" (as {display_name(name)})" if name else "" for name in trial.named or [None] * len(trial.shown)]
    slots = zip(by_label(trial).items(), vendors, strict=True)
    return {
        "key": trial.request.key,
        "judge": trial.judge.name,
        "condition": trial.condition,
        "category": trial.category,
        "question_id": trial.question_id,
        "question": cut((version and version.text) or questions.get(trial.question_id, ""), 200),
        "marks": " ".join(each.kinds),
        "shown": "; ".join(f"{letter}: {name}{vendor}" for (letter, name), vendor in slots),
        "verdict": "; ".join([f"for {called(each.picked)}", *others]),
        "reply": cut(completion.text if completion else "", 1500),
    }


def of_page(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the page: the first ones of each judge; a reply that two experiments share stands once."""
    return rows.groupby(["experiment", "judge"], sort=False).head(MOST_ROWS).drop_duplicates("key")


def leads(rows: pd.DataFrame, experiment: str, judge: str | None) -> str:
    """Where the verdicts behind a number of a judge stand: the page with its filters set, "" where there are none."""
    wanted = {"experiment": experiment, "judge": judge}
    return f"verdicts.html?{urlencode(wanted)}" if (rows[list(wanted)] == [*wanted.values()]).all(axis=1).any() else ""


def rows_table(rows: pd.DataFrame) -> str:
    """The rows as an HTML table, each under the key of its reply, which is folded."""
    key = Markup('<a id="{0}" href="#{0}"><code>{1}</code></a>')
    reply = Markup("{}<details><summary>reply</summary><pre>{}</pre></details>")
    cells = (
        (
            *(key.format(row.key, row.key[:10]), row.experiment, row.judge, row.condition),
            *(row.marks.replace(" ", ", "), reply.format(row.verdict, row.reply)),
            *(f"{row.question} ({row.category}, {row.question_id})", row.shown),
            "SIMULATED" if row.data == "simulated" else row.data,
        )
        for row in rows.itertuples(index=False)
    )
    heads = ("key", "experiment", "judge", "condition", "marks", "verdict", "question", "shown", "data")
    return table(heads, cells)
