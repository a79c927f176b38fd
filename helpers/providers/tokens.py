"""How sure a model was of each token of its reply, where its provider tells."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping

from helpers.types import Completion, Model

#: A body in which log-probabilities stand; most bodies name them and hold none.
TOLD = re.compile(r'ogprob\w*"\s*:\s*[\[{]')
#: One token of a reply, with the log-probability of each alternative that the provider told (the token itself too).
Token = tuple[str, Mapping[str, float]]


def tokens_of(model: Model, completion: Completion) -> list[Token]:
    """The tokens of a reply with the log-probabilities that its provider told; empty where it told none."""
    told = getattr(importlib.import_module(f"helpers.providers.{model.provider}"), "tokens", None)
    if told is None or not TOLD.search(completion.raw):
        return []
    try:
        return told(completion.raw)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        return []  # the verdict is read from the text all the same
