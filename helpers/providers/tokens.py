"""How sure a model was of each token of its reply, where its provider tells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf

from helpers.providers.envelopes import module_of
from helpers.types import Completion, Model

#: A body in which log-probabilities stand; most bodies name them and hold none. It is looked for where the word is.
WORD = "ogprob"
TOLD = re.compile(rf'{WORD}\w*"\s*:\s*[\[{{]')
#: One token of a reply, with the log-probability of each alternative that the provider told (the token itself too).
Token = tuple[str, Mapping[str, float]]


def tokens_of(model: Model, completion: Completion) -> list[Token]:
    """The tokens of a reply with the log-probabilities that its provider told; empty where it told none or nonsense."""
    told = getattr(module_of(model.provider), "tokens", None)
    if not told or not without_body(completion).raw:
        return []
    try:
        found = told(completion.raw)
        return found if _sound(found) else []
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OverflowError):
        return []  # the verdict is read from the text all the same


def without_body(completion: Completion) -> Completion:
    """A reply without its body, unless log-probabilities stand in it."""
    at = completion.raw.find(WORD)
    return completion if at >= 0 and TOLD.search(completion.raw, at) else replace(completion, raw="")


def _sound(tokens: Sequence[Token]) -> bool:
    """Whether all tokens are texts, and all log-probabilities numbers (of what cannot be, some tell -inf)."""
    words = (word for token, tops in tokens for word in (token, *tops))
    told = (at for _, tops in tokens for at in tops.values())
    return all(isinstance(word, str) for word in words) and all(
        type(at) in (int, float) and -inf <= float(at) < inf for at in told
    )
