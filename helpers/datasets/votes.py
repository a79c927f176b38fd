"""Votes of people and verdicts of judges on the same two answers as one frame, and what is right by them.

The counts of how right judges are (published/counts.yaml of the overview) are made of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from helpers.datasets.games import ANNOTATOR, EVEN, FIRST, INCONSISTENT, SECOND, instructions, majority, pairwise_games

#: One row a vote or verdict. `question_id` is the cluster, `pair` the two answers judged, `kind` person or judge.
VOTE_COLUMNS = ("source", "question_id", "pair", "condition", "voter", "kind", "verdict", "outcome")
PERSON, JUDGE = "person", "judge"
_WORDS = {FIRST: "first", EVEN: "tie", SECOND: "second"}


def load_votes(people: str | Path, judges: str | Path | None = None, *, who: str = "") -> pd.DataFrame:
    """How did people, and judges, vote on the same two answers of MT-Bench (judge, model_a, model_b, winner, turn)?

    The votes frame (columns: VOTE_COLUMNS), in file order, people first. A pair is a question's two models in a turn,
    whichever of them was named first: "first" is the model whose name comes first in the alphabet. `condition` is the
    turn. A verdict of both orders that contradict each other has the outcome "inconsistent" and no verdict. `who`
    keeps the people whose name begins so ("expert" leaves the authors out). A judge's verdict twice, a vote of a model
    against itself and an unknown winner are ValueErrors; a person's second vote on a pair is a vote of its own.
    """
    voted = [(PERSON, game) for game in pairwise_games(people, "votes") if game.judge.startswith(who)]
    if not voted:
        raise ValueError(f"{people}: no vote of anybody whose name begins with {who!r}")
    voted += [] if judges is None else [(JUDGE, game) for game in pairwise_games(judges, "votes", once=True)]
    rows = []
    for kind, game in voted:
        if game.baseline == game.candidate:
            raise ValueError(f"question {game.question_id}: fields 'model_a' and 'model_b' both hold {game.baseline!r}")
        turn = game.source.rpartition(", ")[2]
        pair = f"{game.question_id}, {turn}: {game.baseline}, {game.candidate}"
        word = None if game.score == INCONSISTENT else _WORDS[str(game.verdict)]
        outcome = "ok" if word else "inconsistent"
        rows.append(("MT-Bench", game.question_id, pair, turn, game.judge, kind, word, outcome))
    return _votes_frame(rows)


def load_pandalm_votes(source: str | Path) -> pd.DataFrame:
    """How did three people, and each judge, vote on the two responses of PandaLM's test set (annotators, cmp_key)?

    The votes frame (columns: VOTE_COLUMNS), a row a person and a judge of each item; `pair` is the item's number and
    "first" its first response. Verdicts are 1, 2, 0 or "Tie"; all else is "unreadable". An item without three votes, or
    one twice, is a ValueError. Items of one instruction share their `question_id`: see `instructions`.
    """
    games = pairwise_games(source, "pandalm", people=True)
    pairs = {game.question_id: f"{game.baseline}_{game.candidate}" for game in games}
    clusters = dict(zip(pairs, map(str, instructions([*pairs.values()])), strict=True))
    rows = []
    for game in games:
        kind = PERSON if game.judge.startswith(ANNOTATOR) else JUDGE
        word, item = _WORDS.get(game.verdict or ""), game.question_id
        rows.append(("PandaLM", clusters[item], item, "none", game.judge, kind, word, "ok" if word else "unreadable"))
    return _votes_frame(rows)


def _votes_frame(rows: list[tuple[Any, ...]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=list(VOTE_COLUMNS))
    frame["verdict"] = frame["verdict"].astype(object).where(frame["verdict"].notna(), None)
    return frame


def _gold(votes: pd.DataFrame) -> pd.Series:
    """What most people say of each pair."""
    return votes[votes["kind"] == PERSON].groupby("pair", sort=False)["verdict"].agg(majority)


def gold_of_votes(votes: pd.DataFrame) -> pd.DataFrame:
    """Was each judge's verdict what most people say: the frame that `biases.accuracy.accuracy` takes.

    One row a judge and pair: source, question_id, judge, correct (1, 0; NaN where the judge's verdict cannot be read),
    outcome. A tie is a verdict, right where most people call it one. Pairs without a majority are left out.
    """
    judged = votes[votes["kind"] == JUDGE].assign(gold=lambda rows: rows["pair"].map(_gold(votes)))
    judged = judged[judged["gold"].notna()].reset_index(drop=True)
    correct = (judged["verdict"] == judged["gold"]).astype(float).where(judged["verdict"].notna())
    return judged[["source", "question_id", "outcome"]].assign(judge=judged["voter"], correct=correct)


def gold_of_games(games: pd.DataFrame, better: str = "better") -> pd.DataFrame:
    """Did each verdict name the answer that is known to be better: the frame that `biases.accuracy.accuracy` takes.

    `games` is a games frame one of whose two answers is called `better` (as LLMBar's with labels are). One row a
    verdict: source, question_id, category, judge, condition (who stood first), correct, outcome. A tie names no
    better answer and is wrong; what cannot be read is NaN. A game without `better` is a ValueError.
    """
    is_better = games["candidate"] == better
    if not (is_better | (games["baseline"] == better)).all():
        found = ", ".join(sorted({*games["candidate"], *games["baseline"]})[:6])
        raise ValueError(f"every game needs {better!r} as candidate or baseline; found {found}")
    shown_first = (games["first"] == "candidate") == is_better
    wins = games["verdict"].where(games["verdict"].notna(), "").str.replace(">>", ">", regex=False)
    right = (wins == FIRST).where(shown_first, wins == SECOND).astype(float).where(games["verdict"].notna())
    condition = shown_first.map({True: "better first", False: "better second"})
    kept = games[["source", "question_id", "category", "judge"]]
    return kept.assign(condition=condition, correct=right, outcome=games["outcome"])
