"""Replies into judgments, and what the store's lines say of who asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from helpers import verdicts
from helpers.providers import transport
from helpers.types import Completion, Judgment, Trial


def first_askers(trials: Iterable[Trial]) -> dict[str, Trial]:
    """The trials by key; of those that share a request the first one."""
    found: dict[str, Trial] = {}
    for trial in trials:
        found.setdefault(trial.request.key, trial)
    return found


class Labels(Mapping[str, Mapping[str, Any]]):
    """What lines of the store say for people who grep them, by key: made when it is written, of 20,000 none is held."""

    def __init__(self, askers: Mapping[str, Trial]) -> None:
        """`askers` are the trials by key."""
        self._askers = askers

    def __getitem__(self, key: str) -> dict[str, Any]:
        """The labels of one line."""
        trial = self._askers[key]
        return {
            "experiment": trial.experiment,
            "question_id": trial.question_id,
            "condition": trial.condition,
            "shown": list(trial.shown),
        }

    def __iter__(self) -> Iterator[str]:
        """The keys."""
        return iter(self._askers)

    def __len__(self) -> int:
        """How many lines there can be."""
        return len(self._askers)


def judgments(trials: Iterable[Trial], replied: Mapping[str, Completion]) -> list[Judgment]:
    """A judgment for each trial, in order, read from its reply; one without a reply has the outcome "missing"."""
    found = []
    for trial in trials:
        reply = replied.get(trial.request.key)
        read = reply and verdicts.read(trial, reply, transport.tokens_of(trial.judge, reply))
        found.append(read or Judgment(trial, "missing"))
    return found
