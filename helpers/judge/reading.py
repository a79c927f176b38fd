"""Replies into judgments: what the index knows of a reply is not read from its text again."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from helpers import json_text, store, verdicts
from helpers.providers import tokens
from helpers.providers.envelopes import module_of
from helpers.services import SERVICES
from helpers.types import Completion, Judgment, Request, Trial, Verdict, replies
from helpers.verdicts import forms
from helpers.verdicts import tokens as odds

if TYPE_CHECKING:
    import pandas as pd


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


class Reading:
    """The trials of a stage, and what was read from replies to them as these came."""

    def __init__(self, trials: Iterable[Trial], room: int = 0) -> None:
        """Of trials that share a request the first one's form of verdict is read as the reply comes.

        `held` are requests by key whose prompts had to be made for their keys: as many as `room` characters hold.
        """
        self.trials = tuple(trials)
        self.held: dict[str, Request] = {}
        for trial in self.trials:
            if room > 0 and trial.request.unmade:
                whole = trial.request.whole()
                if (room := room - len(whole.prompt)) > 0:
                    self.held.setdefault(whole.key, whole)
        self.askers = first_askers(self.trials)
        self._heard: dict[str, tuple[Trial, store.Said]] = {}

    def hear(self, reply: Completion, kept: store.Kept) -> None:
        """Read a reply that just came; the judge's reason can be read again from what is kept, and is not held."""
        trial = self.askers[reply.key]
        self._heard[reply.key] = trial, _said(trial, reply, kept)

    def judgments(self, replied: Mapping[str, Completion], folder: Path) -> list[Judgment]:
        """A judgment for each trial, in order; see `judgments`."""
        return judgments(self.trials, replied, folder, self._heard)


def judgments(
    trials: Sequence[Trial],
    replied: Mapping[str, Completion],
    folder: Path,
    heard: Mapping[str, tuple[Trial, store.Said]] = MappingProxyType({}),
) -> list[Judgment]:
    """A judgment for each trial, in order; one without a reply has the outcome "missing".

    What was read from a reply before, by this parser and for the same form of verdict, is taken from what was `heard`
    in this run (by key, with the trial for which it was read) or from the index of the store; the rest is read from the
    texts. The index keeps all of it.
    """
    found: list[Judgment] = []
    news: dict[str, dict[str, tuple[Completion, store.Said]]] = {}
    for trial in trials:
        key = trial.request.key
        reply = replied.get(key)
        if reply is None:
            found.append(Judgment(trial, "missing"))
            continue
        known, (asker, said) = getattr(reply, "said", None), heard.get(key, (None, None))
        if asker is not trial:
            reading = _reading(trial)
            same = (each for each in (known, said) if each is not None and each.reading == reading)
            said = next(same, None) or _said(trial, reply)
        if said is not known:
            news.setdefault(trial.judge.name, {})[key] = reply, said
        found.append(Judgment(trial, said.outcome, _verdict(trial, reply, said.verdict), reply))
    for name, each in news.items():
        store.note(store.file_of(folder, name), each)
    return found


def judged(folder: Path, models: Sequence[str] = (), columns: Sequence[str] = store.ANALYSIS) -> pd.DataFrame:
    """Stored replies as a frame with categories, one row a key: who was asked what, the verdict, tokens; no texts.

    Its columns are `model` and those of `store.COLUMNS` that are asked for. `outcome` is missing, and the verdict with
    it, until a run has read the reply with the present parser and kept it in an index: the file of a model has one from
    1 MB on, a smaller one where `recuse store index` made it. ValueError for another column, StoreError for a damaged
    file.
    """
    return store.indexed(folder, models, columns, [_parser(provider) for provider in (*SERVICES, "simulated")])


def _said(trial: Trial, reply: Completion, kept: Completion | None = None) -> store.Said:
    """What a reply says, read from its text; its reason can be read again from what is `kept` of it."""
    judgment = _read(trial, reply)
    verdict = _verdict(trial, kept or reply, judgment.verdict)
    return store.Said(_reading(trial), _parser(trial.judge.provider), judgment.outcome, verdict)


def _verdict(trial: Trial, reply: Completion, verdict: Verdict | None) -> Verdict | None:
    if not isinstance(reply, store.Kept) or isinstance(verdict, store.KeptVerdict | None):
        return verdict
    return store.KeptVerdict.of(verdict, partial(_reason, trial, reply))


def _reason(trial: Trial, reply: Completion) -> str:
    verdict = _read(trial, reply).verdict
    return verdict.justification if verdict else ""


def _read(trial: Trial, reply: Completion) -> Judgment:
    whole = reply.whole() if isinstance(reply, store.Kept) else reply
    return verdicts.read(trial, whole, tokens.tokens_of(trial.judge, whole))


def _reading(trial: Trial) -> bytes:
    """What decides how a reply is read, beside the reply: the code that reads it, and what was asked for."""
    begun, structured = _begun(trial.judge.provider, trial.form, tuple(trial.labels)).copy(), trial.request.schema
    begun.update(f"{trial.nonce!r}, {structured is not None!r})".encode())
    return begun.digest()[:16]


@lru_cache
def _begun(provider: str, form: str, labels: tuple[str, ...]) -> Any:
    """The hash of what many trials share, to be copied: it is asked for twice a judgment."""
    return hashlib.sha256(f"{_parser(provider)}:({form!r}, {labels!r}, ".encode())


@lru_cache
def _parser(provider: str) -> str:
    """The version of the parser, and its code: a reading kept by other code is no reading."""
    own = getattr(module_of(provider), "tokens", None)
    parts = (verdicts, forms, odds, json_text, replies, tokens, *([own] if own else []))
    code = "\n".join(map(inspect.getsource, parts))
    return f"{verdicts.PARSER_VERSION}:{hashlib.sha256(code.encode()).hexdigest()[:16]}"
