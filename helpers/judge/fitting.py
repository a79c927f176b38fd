"""Prompts that cannot fit into their model's context: known, and told by name, before anything is sent."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers.judge.prices import entry
from helpers.types import Model, Request

#: A token of English prose has between four and five bytes, one of code, numbers or another language fewer: what is
#: counted is less than what is sent, and what cannot fit even so does not fit.
BYTES_A_TOKEN = 5
#: No model in the price table holds less: shorter prompts need not be looked at.
LEAST_CONTEXT = 4000
#: Prompts that an error tells one by one, and texts of each.
LISTED = 5
LONGEST = 3

_BLANKS = re.compile(rb"\s+")
#: How prompts show texts: between two lines that carry the nonce.
_SHOWN = re.compile(
    r"<<<(?P<what>[A-Z]+)(?: (?P<label>[A-Z]))? (?P<nonce>[0-9a-f]{8})>>>\n(?P<text>.*?)\n"
    r"<<<END (?:(?P=what)|(?P=label)) (?P=nonce)>>>",
    re.DOTALL,
)


class TooLong(ValueError):
    """Prompts that no reply can come to; the message names the models and the longest questions and answers."""


def tokens_at_least(text: str) -> int:
    """So many tokens a text has at least; a run of blanks may be one.

    >>> tokens_at_least("word " * 100), tokens_at_least(" " * 1000), tokens_at_least("")
    (100, 1, 0)
    """
    return math.ceil(len(_BLANKS.sub(b" ", text.encode())) / BYTES_A_TOKEN)


def context_of(model: Model, told: Mapping[str, int]) -> int | None:
    """The tokens that prompt and reply may have as models.yaml tells, else the table of prices, or None."""
    if model.name in told or model.simulated:
        return told.get(model.name)
    try:
        return entry(model.provider, model.model_id, model.base_url).context_window
    except LookupError:
        return None


def too_long(requests: Iterable[Request], told: Mapping[str, int]) -> list[tuple[Request, int, int]]:
    """The requests that cannot fit, each with the tokens that it needs at least and those that its model holds.

    What a prompt will show and nobody has written yet is not counted.
    """
    found, smallest = [], min([LEAST_CONTEXT, *told.values()])
    for request in requests:
        model = request.model
        # The price table counts prompts alone; a server of one's own refuses what leaves no room for the reply.
        reply = model.max_tokens if model.name in told else 0
        most = request.measured.size + reply
        # Looked at closely only where it could be: of 100,000 prompts hardly any is.
        if most < smallest or (context := context_of(model, told)) is None or most < context:
            continue
        needed = tokens_at_least(request.system + request.prompt) + reply
        if needed > context:
            found.append((request, needed, context))
    return found


def refuse(found: Sequence[tuple[Request, int, int]], labels: Mapping[str, Mapping[str, Any]], so: str) -> None:
    """TooLong if there is any, naming the longest by model, question and the texts that make them long.

    `so` says what was asked when it was found out.
    """
    if not found:
        return
    ordered = sorted(found, key=lambda each: -each[1])
    told = dict.fromkeys(_told(*each, labels.get(each[0].key, {})) for each in ordered)
    more = f"\n  and {len(told) - LISTED:,} more" if len(told) > LISTED else ""
    raise TooLong(
        f"{len(found):,} prompts are longer than their model's context; {so}:\n"
        + "\n".join(f"  {line}" for line in [*told][:LISTED])
        + f"{more}\nShorten or leave out these texts, or take another model; if a model holds more, say so in "
        "models.yaml (`context:`, in tokens)."
    )


def _told(request: Request, needed: int, context: int, label: Mapping[str, Any]) -> str:
    where = f"question {label['question_id']}" if label.get("question_id") else "a prompt"
    model = request.model
    reply = needed - tokens_at_least(request.system + request.prompt)
    kept = f" ({reply:,} of them for the reply)" if reply else ""
    return (
        f"{model.name}, {where}: at least {needed:,} tokens{kept} where {context:,} fit; longest: "
        f"{', '.join(_longest(request.prompt, label.get('shown') or ()))}"
    )


def _longest(prompt: str, shown: Sequence[str]) -> list[str]:
    """The longest texts of a prompt: whose they are, and their bytes."""
    parts = []
    for part in _SHOWN.finditer(prompt):
        at = ord(part["label"]) - ord("A") if part["label"] else -1
        of = f" of {shown[at]}" if 0 <= at < len(shown) else f" {part['label']}" if part["label"] else ""
        parts.append((len(part["text"].encode()), f"{part['what'].lower()}{of}"))
    parts = sorted(parts, reverse=True) or [(len(prompt.encode()), "the whole prompt")]
    return [f"{name} ({size:,} bytes)" for size, name in parts[:LONGEST]]
