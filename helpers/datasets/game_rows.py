"""One verdict on two answers in one order as a row: who was compared, who stood first, what was said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.datasets.answers import maker
from helpers.types import PAIRWISE

if TYPE_CHECKING:
    import pandas

#: The columns of the games frame, one row a verdict in one order.
COLUMNS = (
    *("experiment", "source", "question_id", "category", "judge", "judge_vendor", "judge_model", "candidate"),
    *("candidate_vendor", "baseline", "condition", "first", "repeat", "games", "score", "verdict", "outcome"),
)
#: Who stands first, as A, in game 1 and in game 2.
ORDERS = ("baseline", "candidate")
#: A decisive or even verdict for whoever stands first, for nobody, for whoever stands second.
FIRST, EVEN, SECOND = "A>B", "A=B", "B>A"

_REVERSED = {"A<B": "B>A", "A<<B": "B>>A", "B<A": "A>B", "B<<A": "A>>B", "B=A": "A=B"}


class Game(NamedTuple):
    """One verdict in one order; the fields stand for the columns of the same names."""

    source: str
    question_id: str
    category: str
    judge: str
    candidate: str
    baseline: str
    first: str
    score: str | None
    verdict: str | None
    games: int = 2
    repeat: int = 0
    condition: str = "none"
    missing: bool = False
    judge_model: str = ""


def normalised(score: object) -> str | None:
    """The one of the five labels that a stored score means, A standing first; None where it means none of them.

    Blanks and brackets are dropped, letters are raised, and what is said from B's or the loser's side is turned.

    >>> normalised("[[a > b]]"), normalised("A<<B"), normalised("B=A"), normalised("[B>>A]")
    ('A>B', 'B>>A', 'A=B', 'B>>A')
    >>> normalised(None), normalised("A"), normalised(""), normalised("A>B>A"), normalised("A>A"), normalised("A>>>B")
    (None, None, None, None, None, None)
    """
    if not isinstance(score, str):
        return None
    label = "".join(score.split()).strip("[]").upper()
    label = _REVERSED.get(label, label)
    return label if label in PAIRWISE else None


def games_frame(games: Iterable[Game], experiment: str = "published") -> pandas.DataFrame:
    """The games frame of these verdicts (columns: COLUMNS), in their order; none give an empty frame.

    `outcome` is "ok" where there is a verdict, else "missing" where there was no such game, else "invalid". `score` and
    `verdict` are None where there is none.
    """
    import pandas

    rows = [_row(game, experiment) for game in games]
    frame = pandas.DataFrame(rows, columns=list(COLUMNS)).astype({"repeat": int, "games": int})
    for name in ("score", "verdict"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def _row(game: Game, experiment: str) -> tuple[Any, ...]:
    return (
        experiment,
        game.source,
        game.question_id,
        game.category,
        game.judge,
        maker(game.judge_model or game.judge),
        game.judge_model or game.judge,
        game.candidate,
        maker(game.candidate),
        game.baseline,
        game.condition,
        game.first,
        game.repeat,
        game.games,
        game.score,
        game.verdict,
        "ok" if game.verdict else "missing" if game.missing else "invalid",
    )
