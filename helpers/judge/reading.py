"""Replies into judgments: what the index knows of a reply is not read from its text again."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

from helpers import store, verdicts
from helpers.providers import tokens
from helpers.providers.envelopes import module_of
from helpers.types import Completion, Judgment, Trial, Verdict, replies
from helpers.verdicts import forms
from helpers.verdicts import tokens as odds


def judgments(trials: Sequence[Trial], replied: Mapping[str, Completion], folder: Path) -> list[Judgment]:
    """A judgment for each trial, in order; one without a reply has the outcome "missing".

    What was read from a reply before, by this parser and for the same form of verdict, is taken from the index of the
    store; the rest is read from the texts and kept there.
    """
    found: list[Judgment] = []
    news: dict[str, dict[str, tuple[Completion, store.Said]]] = {}
    for trial in trials:
        reply = replied.get(trial.request.key)
        if reply is None:
            found.append(Judgment(trial, "missing"))
            continue
        reading, said = _reading(trial), getattr(reply, "said", None)
        if said is None or said.reading != reading:
            judgment = _read(trial, reply)
            said = store.Said(reading, verdicts.PARSER_VERSION, judgment.outcome, judgment.verdict)
            news.setdefault(trial.judge.name, {})[trial.request.key] = reply, said
        found.append(Judgment(trial, said.outcome, _verdict(trial, reply, said), reply))
    for name, said in news.items():
        store.note(store.file_of(folder, name), said)
    return found


def _verdict(trial: Trial, reply: Completion, said: store.Said) -> Verdict | None:
    if said.verdict is None or not isinstance(reply, store.Kept):
        return said.verdict
    return store.KeptVerdict.of(said.verdict, partial(_reason, trial, reply))


def _reason(trial: Trial, reply: Completion) -> str:
    verdict = _read(trial, reply).verdict
    return verdict.justification if verdict else ""


def _read(trial: Trial, reply: Completion) -> Judgment:
    whole = reply.whole() if isinstance(reply, store.Kept) else reply
    return verdicts.read(trial, whole, tokens.tokens_of(trial.judge, whole))


def _reading(trial: Trial) -> bytes:
    """What decides how a reply is read, beside the reply: the code that reads it, and what was asked for."""
    asked = (trial.form, tuple(trial.labels), trial.nonce, trial.request.schema is not None)
    return hashlib.sha256(f"{_parser(trial.judge.provider)}:{asked!r}".encode()).digest()[:16]


@lru_cache
def _parser(provider: str) -> str:
    """The version of the parser, and its code: a reading kept by other code is no reading."""
    own = getattr(module_of(provider), "tokens", None)
    parts = (verdicts, forms, odds, replies, tokens, *([own] if own else []))
    code = "\n".join(map(inspect.getsource, parts))
    return f"{verdicts.PARSER_VERSION}:{hashlib.sha256(code.encode()).hexdigest()}"
