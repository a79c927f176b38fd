"""Votes of people and verdicts of judges on the same two answers as one frame, and what is right by them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.games import EVEN, FIRST, INCONSISTENT, SECOND, pandalm_games, vote_games

if TYPE_CHECKING:
    import pandas

#: One row a vote or verdict. `question_id` is the cluster, `pair` the two answers judged, `kind` person or judge.
VOTE_COLUMNS = ("source", "question_id", "pair", "condition", "voter", "kind", "verdict", "outcome")
PERSON, JUDGE = "person", "judge"
_WORDS = {FIRST: "first", EVEN: "tie", SECOND: "second"}


def load_votes(people: str | Path, judges: str | Path | None = None, *, who: str = "") -> pandas.DataFrame:
    """How did people, and judges, vote on the same two answers of MT-Bench (judge, model_a, model_b, winner, turn)?

    The votes frame (columns: VOTE_COLUMNS), in file order, people first. A pair is a question's two models in a turn,
    whichever of them was named first: "first" is the model whose name comes first in the alphabet. `condition` is the
    turn. A verdict of both orders that contradict each other has the outcome "inconsistent" and no verdict. `who`
    keeps the people whose name begins so ("expert" leaves the authors out). A judge's verdict twice, a vote of a model
    against itself and an unknown winner are ValueErrors; a person's second vote on a pair is a vote of its own.
    """
    voted = [(game, PERSON) for game in vote_games(people) if game.judge.startswith(who)]
    if not voted:
        raise ValueError(f"{people}: no vote of anybody whose name begins with {who!r}")
    voted += [] if judges is None else [(game, JUDGE) for game in vote_games(judges, once=True)]
    rows = []
    for game, kind in voted:
        if game.baseline == game.candidate:
            raise ValueError(f"question {game.question_id}: fields 'model_a' and 'model_b' both hold {game.baseline!r}")
        turn = game.source.rpartition(", ")[2]
        pair = f"{game.question_id}, {turn}: {game.baseline}, {game.candidate}"
        word = None if game.score == INCONSISTENT else _WORDS[game.verdict]
        rows.append(
            ("MT-Bench", game.question_id, pair, turn, game.judge, kind, word, "ok" if word else "inconsistent")
        )
    return _votes_frame(rows)


def load_pandalm_votes(source: str | Path) -> pandas.DataFrame:
    """How did three people, and each judge, vote on the two responses of PandaLM's test set (annotators, cmp_key)?

    The votes frame (columns: VOTE_COLUMNS), a row a person and a judge of each item; `pair` is the item's number and
    "first" its first response. Verdicts are 1, 2, 0 or "Tie"; all else is "unreadable". An item without three votes, or
    one twice, is a ValueError. Items of one instruction share their `question_id`: see `instructions`.
    """
    games = pandalm_games(source, people=True)
    pairs = {game.question_id: f"{game.baseline}_{game.candidate}" for game in games}
    of = dict(zip(pairs, map(str, instructions(list(pairs.values()))), strict=True))
    rows = []
    for game in games:
        kind = PERSON if game.judge.startswith("annotator ") else JUDGE
        word = _WORDS.get(game.verdict or "")
        item = game.question_id
        rows.append(("PandaLM", of[item], item, "none", game.judge, kind, word, "ok" if word else "unreadable"))
    return _votes_frame(rows)


def instructions(pairs: Sequence[str]) -> list[int]:
    """To which instruction each item belongs, where only its pair of models is known.

    The items of an instruction stand together, sorted by pair of models: where the pairs do not rise, a new one has
    begun (so it is in the source, whose instructions of items 0 to 12 and 563 to 580 were compared). Two instructions
    whose pairs happen to rise are taken as one, which makes clusters larger and intervals no shorter than they should
    be; no instruction is cut.

    >>> instructions(["a_b", "a_c", "b_c", "a_b", "a_b"])
    [0, 0, 0, 1, 2]
    """
    found: list[int] = []
    for at, pair in enumerate(pairs):
        found.append(0 if not at else found[-1] + (pair <= pairs[at - 1]))
    return found


def majority(votes: Iterable[str]) -> str | None:
    """What most of the votes say; None where no verdict has more votes than each of the others.

    >>> majority(["first", "first", "tie"]), majority(["first", "tie", "second"])
    ('first', None)
    """
    (most, count), *others = Counter(votes).most_common()
    return None if others and others[0][1] == count else most


def pandalm_gold(source: str | Path) -> dict[str, float]:
    """What most of PandaLM's annotators say of each item, by id: what the second response should win (0, 1/2, 1).

    Items on which no two annotators agree are left out.
    """
    won = {"first": 0.0, "tie": 0.5, "second": 1.0}
    return {item: won[word] for item, word in _gold(load_pandalm_votes(source)).dropna().items()}


def _gold(votes: pandas.DataFrame) -> pandas.Series:
    """What most people say of each pair."""
    return votes[votes["kind"] == PERSON].groupby("pair", sort=False)["verdict"].agg(majority)


def gold_of_votes(votes: pandas.DataFrame) -> pandas.DataFrame:
    """Was each judge's verdict what most people say: the frame that `biases.accuracy.accuracy` takes.

    One row a judge and pair: source, question_id, judge, correct (1, 0; NaN where the judge's verdict cannot be read),
    outcome. A tie is a verdict, right where most people call it one. Pairs without a majority are left out.
    """
    judged = votes[votes["kind"] == JUDGE].assign(gold=lambda rows: rows["pair"].map(_gold(votes)))
    judged = judged[judged["gold"].notna()].reset_index(drop=True)
    correct = (judged["verdict"] == judged["gold"]).astype(float).where(judged["verdict"].notna())
    return judged[["source", "question_id", "outcome"]].assign(judge=judged["voter"], correct=correct)


def gold_of_games(games: pandas.DataFrame, better: str = "better") -> pandas.DataFrame:
    """Did each verdict name the answer that is known to be better: the frame that `biases.accuracy.accuracy` takes.

    `games` is a games frame one of whose two answers is called `better` (as `load_llmbar` makes it with labels). One
    row a verdict: source, question_id, category, judge, condition (who stood first), correct, outcome. A tie names no
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


def _votes_frame(rows: list[tuple[Any, ...]]) -> pandas.DataFrame:
    import pandas

    frame = pandas.DataFrame(rows, columns=list(VOTE_COLUMNS))
    frame["verdict"] = frame["verdict"].astype(object).where(frame["verdict"].notna(), None)
    return frame
