"""Samples of the worlds of pairs as the experiment sees them: its questions, and the pair frame without any words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from helpers.calibrate.worlds.pairs import NAMES, OPTIONS, Drawn
from helpers.frames import PAIRWISE
from helpers.types import Question

LETTERS = "ABCDEFGHIJ"[:OPTIONS]
CATEGORY = "story"
#: What an option says, by the number that the world knows it by; 0 is the right one.
OPTION = "it was thing {} that question {} is about"


def letter(question: int, option: int) -> str:
    """The letter of an option; which one is right differs from question to question."""
    return LETTERS[(option + question) % OPTIONS]


def question_id(number: int) -> str:
    """The id of a question by its number.

    >>> question_id(7)
    'q7'
    """
    return f"q{number}"


def questions(made: Drawn) -> tuple[Question, ...]:
    """The questions of a sample as the experiment asks them, with a passage for each article."""
    found = []
    for number, article in enumerate(made.article):
        said = sorted((letter(number, option), OPTION.format(option, number)) for option in range(OPTIONS))
        found.append(
            Question(
                question_id(number),
                CATEGORY,
                f"What was it in matter {number}?",
                place=number,
                article=f"a{article}",
                passage=f"This is the passage of article {article}, and nothing stands in it.",
                options=tuple(text for _, text in said),
                gold=letter(number, 0),
            )
        )
    return tuple(found)


def frame(made: Drawn) -> pd.DataFrame:
    """The pair frame of a sample (columns: PAIRWISE), as `frames.pairwise` makes it of judgments.

    Authors are asked which answer they wrote only where theirs is the one that is edited, or none is.
    """
    size, parts = len(NAMES), []
    pair, judge = (each.ravel() for each in np.indices((len(made.q), size)))
    own = np.where(judge == made.w[pair], 2, np.where(judge == made.r[pair], 1, 0))
    for asked in made.asked:
        target = asked.arm[0]
        kept = asked.kept.ravel()
        if asked.task == "wrote" and target != "none":
            kept = kept & (own == 1 + (target == "wrong"))
        at = np.flatnonzero(kept)
        parts += [(asked, first, at, getattr(asked, f"{first}_first").ravel()[at]) for first in ("right", "wrong")]
    at = np.concatenate([at for *_, at, _ in parts])
    verdict = np.concatenate([said for *_, said in parts])
    sizes = [len(said) for *_, said in parts]
    pair, judge, own = pair[at], judge[at], own[at]
    q, r, w = made.q[pair], made.r[pair], made.w[pair]
    ids = [question_id(number) for number in range(len(made.article))]
    articles = [f"a{number}" for number in range(int(made.article.max(initial=-1)) + 1)]
    lettered = {name: (made.answer[q, who] + q) % OPTIONS for name, who in (("right", r), ("wrong", w))}
    lost = np.isnan(verdict)
    people = {"judge": judge, "right": r, "wrong": w}
    columns = {
        "experiment": _all("quality_self_preference", at),
        "question_id": pd.Categorical.from_codes(q, ids),
        "article": pd.Categorical.from_codes(made.article[q], articles),
        "category": _all(CATEGORY, at),
        **{name: pd.Categorical.from_codes(who, NAMES) for name, who in people.items()},
        **{f"{name}_vendor": pd.Categorical.from_codes(who, NAMES) for name, who in people.items()},
        "judge_model": pd.Categorical.from_codes(judge, NAMES),
        **{f"{name}_label": pd.Categorical.from_codes(code, list(LETTERS)) for name, code in lettered.items()},
        "own": pd.Categorical.from_codes(own, ["", "right", "wrong"]),
        "picked": pd.Categorical.from_codes(np.where(lost, -1, verdict == 1.0), ["wrong", "right"]),
        "outcome": pd.Categorical.from_codes(lost.astype(int), ["ok", "unparsed"]),
        "p_right": np.full(len(at), np.nan),
        "first": _named([first for _, first, *_ in parts], sizes),
        "task": _named([asked.task for asked, *_ in parts], sizes),
        "condition": _named([_condition(asked.arm) for asked, *_ in parts], sizes),
        "edit": _named(["none" if asked.arm[0] == "none" else "synonyms" for asked, *_ in parts], sizes),
        "target": _named([asked.arm[0] for asked, *_ in parts], sizes),
        "dose": np.repeat([asked.arm[1] for asked, *_ in parts], sizes),
        "repeat": np.repeat([asked.arm[2] for asked, *_ in parts], sizes),
        "partner": np.repeat([_partner(asked.arm, asked.task) for asked, *_ in parts], sizes),
    }
    return pd.DataFrame(columns)[list(PAIRWISE)]


def _condition(arm: tuple[str, int, int]) -> str:
    return "none" if arm[0] == "none" else f"{arm[0]}_{arm[1]}"


def _partner(arm: tuple[str, int, int], task: str) -> int:
    """An edited text's verdict stands beside the repeat arm, and what is asked once beside that."""
    return arm[2] if arm[0] == "none" else int(task == "correct")


def _named(names: Sequence[str], sizes: Sequence[int]) -> pd.Categorical:
    known = list(dict.fromkeys(names))
    return pd.Categorical.from_codes(np.repeat([known.index(name) for name in names], sizes), known)


def _all(name: str, rows: np.ndarray) -> pd.Categorical:
    return pd.Categorical.from_codes(np.zeros(len(rows), dtype=int), [name])
