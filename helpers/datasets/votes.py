"""Votes of people and verdicts of judges on the same two answers as one frame: MT-Bench and PandaLM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.game_pairs import PANDALM
from helpers.datasets.game_reading import TURNED, id_of, records_of, whole_number, word
from helpers.datasets.game_rows import EVEN, FIRST, SECOND
from helpers.datasets.reading import show, text_field

if TYPE_CHECKING:
    import pandas

#: One row a vote or verdict. `question_id` is the cluster, `pair` the two answers judged, `kind` person or judge.
COLUMNS = ("source", "question_id", "pair", "condition", "voter", "kind", "verdict", "outcome")
PERSON, JUDGE = "person", "judge"
#: The verdicts of both orders together; an inconsistent one is no tie, and a tie only by convention.
WINNERS = {"model_a": FIRST, "model_b": SECOND, "tie": EVEN, "tie (inconsistent)": None}
SAID = {FIRST: "first", EVEN: "tie", SECOND: "second"}
INCONSISTENT = "inconsistent"


def load_votes(people: str | Path, judges: str | Path | None = None, *, who: str = "") -> pandas.DataFrame:
    """How did people, and judges, vote on the same two answers of MT-Bench (judge, model_a, model_b, winner, turn)?

    The votes frame (columns: COLUMNS), in file order, people first. A pair is a question's two models in a turn,
    whichever of them was named first: "first" is the model whose name comes first in the alphabet. `condition` is the
    turn. A verdict of both orders that contradict each other has the outcome "inconsistent" and no verdict. `who`
    keeps the people whose name begins so ("expert" leaves the authors out). A judge's verdict twice, a vote of a model
    against itself and an unknown winner are ValueErrors; a person's second vote on a pair is a vote of its own.
    """
    rows = [row for row in _of_winners(people, PERSON) if row[4].startswith(who)]
    if not rows:
        raise ValueError(f"{people}: no vote of anybody whose name begins with {who!r}")
    return _frame([*rows, *(() if judges is None else _of_winners(judges, JUDGE))])


def _of_winners(source: str | Path, kind: str) -> list[tuple[Any, ...]]:
    needed = {"question_id", "judge", "model_a", "model_b", "winner", "turn"}
    records, _ = records_of(source, needed, "votes on MT-Bench")

    def read(record: dict[str, Any]) -> tuple[Any, ...]:
        a, b = text_field(record, "model_a"), text_field(record, "model_b")
        if a == b:
            raise ValueError(f"fields 'model_a' and 'model_b' both hold {show(a)}, expected two models")
        stored = record.get("winner")
        if not isinstance(stored, str) or stored not in WINNERS:
            raise ValueError(f"field 'winner' holds {show(stored)}, expected {', '.join(WINNERS)}")
        label = WINNERS[stored]
        said = SAID.get(label if a < b else TURNED.get(label))
        turn, id, voter = whole_number(record, "turn", 1), id_of(record), text_field(record, "judge")
        pair = f"{id}, turn {turn}: {min(a, b)}, {max(a, b)}"
        return ("MT-Bench", id, pair, f"turn {turn}", voter, kind, said, "ok" if said else INCONSISTENT)

    rows = records.map(read, "question_id")
    if kind == JUDGE:
        records.refuse_duplicates([(row[4], row[2]) for row in rows], "verdicts")
    return rows


def load_pandalm_votes(source: str | Path) -> pandas.DataFrame:
    """How did three people, and each judge, vote on the two responses of PandaLM's test set (annotators, cmp_key)?

    The votes frame (columns: COLUMNS), a row a person and a judge of each item; `pair` is the item's number and "first"
    its first response. Verdicts are 1, 2, 0 or "Tie"; all else is "unreadable". An item without three votes, or one
    twice, is a ValueError. Items of one instruction share their `question_id`: see `instructions`.
    """
    records, _ = records_of(source, {"idx", "cmp_key", "annotators"}, "PandaLM's verdicts with its people's votes")
    judges = sorted(records.fields - {"idx", "cmp_key", "annotators"})

    def read(record: dict[str, Any]) -> tuple[str, str, list[str], dict[str, str | None]]:
        votes = record.get("annotators")
        said = [SAID.get(word(vote, PANDALM)) for vote in votes] if isinstance(votes, list) else []
        if len(said) != 3 or None in said:
            raise ValueError(f"field 'annotators' holds {show(votes)}, expected three votes, each 1, 2 or 0")
        verdicts = {judge: SAID.get(word(record.get(judge), PANDALM)) for judge in judges}
        return str(whole_number(record, "idx", 0)), text_field(record, "cmp_key"), said, verdicts

    items = records.map(read, "idx")
    records.refuse_duplicates([idx for idx, *_ in items], "items")
    rows: list[tuple[Any, ...]] = []
    questions = instructions([pair for _, pair, *_ in items])
    for question, (idx, _, votes, verdicts) in zip(questions, items, strict=True):
        known = ("PandaLM", str(question), idx, "none")
        rows += [(*known, f"annotator {at}", PERSON, vote, "ok") for at, vote in enumerate(votes, start=1)]
        rows += [(*known, name, JUDGE, said, "ok" if said else "unreadable") for name, said in verdicts.items()]
    return _frame(rows)


def instructions(pairs: Sequence[str]) -> list[int]:
    """To which instruction each item belongs, where only its pair of models is known.

    The items of an instruction stand together, sorted by pair of models: where the pairs do not rise, a new one has
    begun (so it is in the source, whose instructions of items 0 to 12 and 563 to 580 were compared). Two instructions
    whose pairs happen to rise are told as one, which makes clusters larger and intervals no shorter than they should
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


def gold_of_votes(votes: pandas.DataFrame) -> pandas.DataFrame:
    """Was each judge's verdict what most people say: the frame that `biases.accuracy.accuracy` takes.

    One row a judge and pair: source, question_id, judge, correct (1, 0; NaN where the judge's verdict cannot be read),
    outcome. A tie is a verdict, right where most people call it one. Pairs without a majority are left out.
    """
    import pandas

    people = votes[votes["kind"] == PERSON]
    gold = people.groupby("pair", sort=False)["verdict"].agg(majority)
    judged = votes[votes["kind"] == JUDGE]
    judged = judged[judged["pair"].map(gold).notna()]
    correct = (judged["verdict"] == judged["pair"].map(gold)).astype(float).where(judged["verdict"].notna())
    named = {name: judged[name] for name in ("source", "question_id", "outcome")}
    return pandas.DataFrame({**named, "judge": judged["voter"], "correct": correct}).reset_index(drop=True)


def gold_of_games(games: pandas.DataFrame, better: str = "better") -> pandas.DataFrame:
    """Did each verdict name the answer that is known to be better: the frame that `biases.accuracy.accuracy` takes.

    `games` is a games frame one of whose two answers is called `better` (as `load_llmbar` makes it with labels). One
    row a verdict: source, question_id, category, judge, condition (who stood first), correct, outcome. A tie names no
    better answer and is wrong; what cannot be read is NaN. A game without `better` is a ValueError.
    """
    import pandas

    is_better = games["candidate"] == better
    if not (is_better | (games["baseline"] == better)).all():
        found = ", ".join(sorted({*games["candidate"], *games["baseline"]})[:6])
        raise ValueError(f"every game needs {better!r} as candidate or baseline; found {found}")
    shown_first = (games["first"] == "candidate") == is_better
    wins = games["verdict"].where(games["verdict"].notna(), "").str.replace(">>", ">", regex=False)
    right = (wins == FIRST).where(shown_first, wins == SECOND).astype(float).where(games["verdict"].notna())
    condition = shown_first.map({True: "better first", False: "better second"})
    kept = {name: games[name] for name in ("source", "question_id", "category", "judge")}
    return pandas.DataFrame({**kept, "condition": condition, "correct": right, "outcome": games["outcome"]})


def _frame(rows: Iterable[tuple[Any, ...]]) -> pandas.DataFrame:
    import pandas

    frame = pandas.DataFrame(list(rows), columns=list(COLUMNS))
    frame["verdict"] = frame["verdict"].astype(object).where(frame["verdict"].notna(), None)
    return frame
