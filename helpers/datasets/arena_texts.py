"""What judges' texts say when read again by the rules of both layouts, against the scores that were stored."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.arena_lines import Problem, games_of, id_of, name_in, places, read_lines, score_of

if TYPE_CHECKING:
    import pandas

#: A verdict's label as judges are told to write it, and the looser form that v2.0 tries after it.
PATTERNS = (re.compile(r"\[\[([AB<>=]+)\]\]"), re.compile(r"\[([AB<>=]+)\]"))
#: The columns of `reread`.
TEXT_COLUMNS = ("source", "question_id", "judge", "candidate", "game", "score", "layout", "v0.1", "v2.0", "kind")
#: What can come of comparing the stored score with the text, read by the rule of the file's own layout.
KINDS = ("agrees", "other_label", "only_stored", "only_text", "no_text")


def label_v01(text: str) -> str | None:
    """The label in a judge's text by the rule of v0.1: all labels in it are the same one, else there is none.

    >>> label_v01("At first [[A>B]]; finally [[A>B]]"), label_v01("[[A>B]], no: [[B>A]]"), label_v01("[A>B]")
    ('A>B', None, None)
    """
    found = set(PATTERNS[0].findall(text))
    return found.pop() if len(found) == 1 else None


def label_v2(text: str) -> str | None:
    """The label in a judge's text by the rule of v2.0: letters raised, the first pattern that occurs, its last match.

    >>> label_v2("[[a>b]], no: [[B>A]]"), label_v2("[A>B]"), label_v2("as [A] said: B")
    ('B>A', 'A>B', 'A')
    """
    raised = text.upper()
    return next((found[-1] for pattern in PATTERNS if (found := pattern.findall(raised))), None)


def reread(source: str | Path) -> pandas.DataFrame:
    """Do the stored scores stand in the judges' texts? One row a game of Arena-Hard files (columns: TEXT_COLUMNS).

    `game` counts from 1, `layout` is "v2.0" where the record has a uid, else "v0.1"; the columns of these names are
    what the two rules read, None where they read nothing. `kind` compares the stored score with the layout's own rule:
    "agrees", "other_label", "only_stored" (the text holds no label by this rule), "only_text" (the stored score is
    null), "no_text". `attrs["problems"]` are the lines that could not be read.
    """
    import pandas

    found, problems = places(Path(source).expanduser())
    rows: list[tuple[Any, ...]] = []
    for place in found:
        for number, record in read_lines(place):
            try:
                if isinstance(record, Problem):
                    problems.append(record)
                    continue
                judge, candidate = (
                    name_in(record, name, instead)
                    for name, instead in (("judge", place.path.parent.name), ("model", place.path.stem))
                )
                about = (place.source, id_of(record), judge, candidate)
                layout = "v2.0" if record.get("uid") is not None else "v0.1"
                games = [(game, _text(game)) for game in games_of(record)]
            except ValueError as error:
                problems.append(Problem(place.file, number, "broken", str(error)))
                continue
            rows += [(*about, at, *_compared(score_of(game), text, layout)) for at, (game, text) in enumerate(games, 1)]
    frame = pandas.DataFrame(rows, columns=list(TEXT_COLUMNS))
    for name in ("score", "v0.1", "v2.0"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    frame.attrs["problems"] = tuple(problems)
    return frame


def disagreements(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Where do stored scores and texts differ? One row a layout, kind, score and label read, with its count.

    `frame` is that of `reread`. Columns: layout, kind, score, v0.1, v2.0, games; None says "none". Most games first.
    """
    differing = frame[~frame["kind"].isin(["agrees", "no_text"])]
    by = ["layout", "kind", "score", "v0.1", "v2.0"]
    counts = differing[by].fillna("none").value_counts(sort=False).rename("games").reset_index()
    return counts.sort_values(["games", *by], ascending=[False, *(True for _ in by)], ignore_index=True)


def _text(game: dict[str, Any] | None) -> str | None:
    """The judge's text in a game: itself, or the `answer` of an object that may hold thoughts as well."""
    judgment = (game or {}).get("judgment")
    text = judgment.get("answer") if isinstance(judgment, dict) else judgment
    return text if isinstance(text, str) and text.strip() else None


def _compared(score: str | None, text: str | None, layout: str) -> tuple[Any, ...]:
    """Score, layout, the labels that both rules read, and the kind."""
    if text is None:
        return score, layout, None, None, "no_text"
    labels = {"v0.1": label_v01(text), "v2.0": label_v2(text)}
    own = labels[layout]
    if own == score:
        kind = "agrees"
    elif score is None or own is None:
        kind = "only_text" if score is None else "only_stored"
    else:
        kind = "other_label"
    return score, layout, labels["v0.1"], labels["v2.0"], kind
