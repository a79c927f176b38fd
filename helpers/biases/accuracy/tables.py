"""Votes on the same two answers counted by question: a judge's verdict against each person's, and people's in pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from helpers.stats.numbering import clusters_of

NEEDED = ("question_id", "pair", "voter", "kind", "verdict", "outcome")
VERDICTS = ("first", "tie", "second")
#: What a judge may have said: a verdict, two orders that contradict each other, or nothing that can be read.
SAID = (*VERDICTS, "inconsistent", "unreadable")


@dataclass(frozen=True)
class Tables:
    """Counts by question (C): of a judge, or of the people alone.

    `votes` (C, 5, 3): a judge's word (SAID) by each person's vote (VERDICTS) on the same pair. `shared`: the same, each
    vote as often as other people voted on that pair, so that judge and people answer for the same votes. `people`
    (C, 3, 3): two different people on one pair, each two once, the lower verdict in the row. Without a judge the first
    two are zero.
    """

    votes: np.ndarray
    shared: np.ndarray
    people: np.ndarray


@dataclass(frozen=True)
class Counted:
    """The tables of one source and condition: those of each judge, and the questions in their order.

    `judged` and `lost` count each judge's verdicts and those that cannot be read, on pairs with a vote or without.
    """

    questions: tuple[str, ...]
    judges: Mapping[str, Tables]
    people: np.ndarray
    judged: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)


def counted(votes: pd.DataFrame) -> Counted:
    """How often judges and people said what on the same two answers, by question.

    `votes` has a row a vote: question_id (the cluster), pair, voter, kind ("judge" or "person"), verdict (first, tie,
    second, or None) and outcome ("inconsistent" where two orders contradict each other). A missing column, an unknown
    verdict, a person's vote without a verdict, and a judge's second verdict on a pair are ValueErrors.
    """
    _check(votes)
    votes = votes.reset_index(drop=True)
    people = votes[votes["kind"] == "person"]
    codes, questions = pd.factorize(clusters_of(votes), sort=True)
    at = pd.Series(codes, index=votes.index)
    voted = pd.DataFrame(
        {"pair": people["pair"], "voter": people["voter"], "vote": people["verdict"].map(VERDICTS.index)}
    ).assign(question=at[people.index])
    both = voted.merge(voted[["pair", "voter", "vote"]], on="pair", suffixes=("", "_other"))
    both = both[both["voter"] < both["voter_other"]]
    low, high = np.minimum(both["vote"], both["vote_other"]), np.maximum(both["vote"], both["vote_other"])
    between = _sums((len(questions), 3, 3), both["question"], low, high)
    # How many votes of other people each vote stands beside.
    own = voted.groupby(["pair", "voter"])["vote"].transform("size")
    voted = voted.assign(others=voted.groupby("pair")["vote"].transform("size") - own)
    judged = votes[votes["kind"] == "judge"]
    said = judged["verdict"].where(judged["verdict"].notna(), judged["outcome"])
    words = said.map(lambda word: SAID.index(word) if word in SAID else SAID.index("unreadable"))
    judged = judged.assign(said=words)
    met = judged[["pair", "voter", "said"]].merge(voted, on="pair", suffixes=("", "_person"))
    shape, tables = (len(questions), len(SAID), 3), {}
    for judge, part in met.groupby("voter", sort=True):
        cell = (shape, part["question"], part["said"], part["vote"])
        tables[str(judge)] = Tables(_sums(*cell), _sums(*cell, weights=part["others"]), between)
    total = judged.groupby("voter", sort=True)["said"]
    lost = total.agg(lambda said: int((said == SAID.index("unreadable")).sum()))
    names = tuple(map(str, questions))
    return Counted(names, tables, between, dict(total.size().items()), dict(lost.items()))


def _sums(shape: tuple[int, ...], *places: pd.Series, weights: pd.Series | None = None) -> np.ndarray:
    flat = np.ravel_multi_index([np.asarray(each, dtype=int) for each in places], shape)
    return np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).astype(float).reshape(shape)


def _check(votes: pd.DataFrame) -> None:
    lacking = [name for name in NEEDED if name not in votes.columns]
    if lacking:
        raise ValueError(f"the votes lack {', '.join(lacking)}; they have {', '.join(map(str, votes.columns))}")
    odd = sorted({str(kind) for kind in votes["kind"]} - {"judge", "person"})
    if odd:
        raise ValueError(f"column 'kind' holds {', '.join(odd)}; expected judge or person")
    given = votes["verdict"].dropna()
    strange = sorted({str(verdict) for verdict in given} - set(VERDICTS))
    if strange:
        raise ValueError(f"column 'verdict' holds {', '.join(strange)}; expected {', '.join(VERDICTS)}, or nothing")
    empty = votes[(votes["kind"] == "person") & votes["verdict"].isna()]
    if len(empty):
        first = empty.iloc[0]
        raise ValueError(f"pair {first['pair']}: {first['voter']} voted nothing; leave out what people did not say")
    crossing = votes.groupby("pair")["question_id"].nunique()
    if (crossing > 1).any():
        raise ValueError(f"pair {crossing.idxmax()} belongs to {crossing.max()} questions; expected one")
    judged = votes[votes["kind"] == "judge"]
    twice = judged[judged.duplicated(["voter", "pair"])]
    if len(twice):
        first = twice.iloc[0]
        raise ValueError(f"pair {first['pair']}: {first['voter']} judged it twice; expected one verdict a judge")
