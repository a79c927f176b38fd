"""Everything that can be wrong with calls and be found out before money is spent on them, told by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from .. import paths, providers
from ..providers import Limit, keys, most_tokens
from ..providers.session import Address
from ..types import Model, Request
from .budget import entry
from .terminal import notice

#: What the store's lines say of each key for people who grep them: question, condition, experiment.
Names = Mapping[str, Mapping[str, Any]]
#: A token of English prose has between four and five bytes, others have fewer: what does not fit even so never does.
BYTES_A_TOKEN = 5
#: Prompts that an error lists one by one, and texts of each.
LISTED, LONGEST = 5, 3
#: How prompts show texts: between two lines that carry the nonce.
_SHOWN = re.compile(
    r"<<<(?P<what>[A-Z]+)(?: (?P<label>[A-Z]))? (?P<nonce>[0-9a-f]{8})>>>\n(?P<text>.*?)\n"
    r"<<<END (?:(?P=what)|(?P=label)) (?P=nonce)>>>",
    re.DOTALL,
)


class MissingKey(RuntimeError):
    """An API key that the run needs is not set; the message names the variable and the models, never a value."""


class TooLong(ValueError):
    """Prompts that no reply can come to; the message names the models and the longest questions and answers."""


class OverLimit(ValueError):
    """Calls that may each take more tokens than limits.yaml allows in a minute; the message names the largest."""


def check_keys(models: Iterable[Model]) -> None:
    """Raise MissingKey where a variable is not set that one of these models needs before it can be asked."""
    if missing := providers.missing_keys(models):
        needs = "; ".join(f"{variable} (needed by {', '.join(names)})" for variable, names in missing.items())
        raise MissingKey(f"not set in the environment: {needs}. See .env.example.")


def check(missing: Iterable[Request], labels: Names, so: str) -> None:
    """Refuse calls that would send a key, cannot be written yet, or lack their own key; `so` says what was asked.

    Raises ValueError or MissingKey. Notices name addresses set by the environment, and models that are retired.
    """
    holds, models = partial(keys.found, keyring=keys.secrets(), like=False), dict[str, Model]()
    for request in missing:
        if request.unwritten:
            raise ValueError("a prompt that shows answers which are not written yet can be planned but not sent")
        full = request.rendered()  # raises where the prompt comes out as another one than that of the key
        model, label = request.model, labels.get(request.key, {})
        models.setdefault(model.name, model)
        # A prompt is part of the key of its reply: it is stored as it was sent or not sent at all.
        sent = map(str, (label, full.system, full.prompt, model.model_id, full.params, full.revision))
        if names := holds("\n".join(sent)):
            question = "a question" if holds(str(label)) else label.get("question_id", "a question")
            raise ValueError(
                f"{question}, as {model.name} would see it, holds the value of {' and '.join(names)}, which "
                f"would be sent and stored. Take it out of the questions, the answers or models.yaml; {so}"
            )
    check_keys(models.values())
    for variable, address in providers.addresses(models.values()).items():
        notice(f"note: {variable} is set: {address} is asked and its replies are stored as the provider's own")
    for model in models.values():
        if ends := providers.retirement(model):
            notice(f"warning: {model.name} ({model.model_id}) is retired or retiring: {ends}")


def tokens_at_least(text: str) -> int:
    """A lower bound for the tokens of a text; a run of blanks may be one."""
    return math.ceil(len(re.sub(rb"\s+", b" ", text.encode())) / BYTES_A_TOKEN)


def context_of(model: Model) -> int | None:
    """The tokens that prompt and reply may have as models.yaml tells, else the table of prices, or None."""
    if model.context or model.simulated:
        return model.context
    try:
        return entry(model.provider, model.model_id, model.base_url).context_window
    except LookupError:
        return None


def too_long(requests: Sequence[Request]) -> list[tuple[Request, int, int]]:
    """The requests that cannot fit, each with the tokens that it needs at least and those that its model holds."""
    found, models = [], {request.model.name: request.model for request in requests}
    contexts = {name: context_of(model) for name, model in models.items()}
    for request in requests:
        # The price table counts prompts alone; a server of one's own refuses what leaves no room for the reply.
        reply = request.model.max_tokens if request.model.context else 0
        context = contexts[request.model.name]
        # Looked at closely only where it could be: of 100,000 prompts hardly any is.
        if context is not None and request.measured.size + reply >= context:
            needed = tokens_at_least(request.system + request.prompt) + reply
            found += [(request, needed, context)] if needed > context else []
    return found


def refuse_long(found: Sequence[tuple[Request, int, int]], labels: Names, so: str) -> None:
    """TooLong if there is any, naming the longest by model, question and the texts that make them long."""
    if not found:
        return
    lines = []
    for request, needed, context in sorted(found, key=lambda each: -each[1]):
        label, model = labels.get(request.key, {}), request.model
        reply = needed - tokens_at_least(request.system + request.prompt)
        kept = f" ({reply:,} of them for the reply)" if reply else ""
        lines.append(
            f"  {model.name}, {_place(label)}: at least {needed:,} tokens{kept} where {context:,} fit; longest: "
            f"{', '.join(longest(request.prompt, label.get('shown') or ()))}"
        )
    lines = list(dict.fromkeys(lines))
    more = f"\n  and {len(lines) - LISTED:,} more" if len(lines) > LISTED else ""
    raise TooLong(
        f"{len(found):,} prompts are longer than their model's context; {so}:\n"
        + "\n".join(lines[:LISTED])
        + f"{more}\nShorten or leave out these texts, lower `max_tokens` (an audit: --max-tokens) where the reply "
        "takes the room, or take another model; if a model holds more, say so in models.yaml (`context:`, in tokens)."
    )


def _place(label: Mapping[str, Any]) -> str:
    return f"question {label['question_id']}" if label.get("question_id") else "a prompt"


def longest(prompt: str, shown: Sequence[str]) -> list[str]:
    """The longest texts of a prompt: whose they are (`shown` names the candidates by slot), and their bytes."""
    parts = []
    for part in _SHOWN.finditer(prompt):
        at = ord(part["label"]) - ord("A") if part["label"] else -1
        whose = f" of {shown[at]}" if 0 <= at < len(shown) else f" {part['label']}" if part["label"] else ""
        parts.append((len(part["text"].encode()), f"{part['what'].lower()}{whose}"))
    parts = sorted(parts, reverse=True) or [(len(prompt.encode()), "the whole prompt")]
    return [f"{name} ({size:,} bytes)" for size, name in parts[:LONGEST]]


def limits_at(models: Iterable[Model]) -> dict[Address, Limit]:
    """What limits.yaml says of the addresses at which these models are asked."""
    from ..config import load_limits

    limits = {name: Limit(**entry.model_dump()) for name, entry in load_limits().items()}
    named = {(provider, url): url or provider for model in models for provider, url in model.addresses}
    return {address: limits[name] for address, name in named.items() if name in limits}


def over_limit(requests: Sequence[Request]) -> list[tuple[Request, float, str]]:
    """The requests that may each take more tokens than their address has in a minute: with the limit, and whose."""
    limits = {at: limit.tokens_per_minute for at, limit in limits_at(request.model for request in requests).items()}
    found = []
    for request in requests if any(limits.values()) else ():
        most = [(limits[at], at[1] or at[0]) for at in request.model.addresses if limits.get(at) is not None]
        if most and sum(most_tokens(request)) > min(most)[0]:
            found.append((request, *min(most)))
    return found


def refuse_slow(found: Iterable[tuple[Request, float, str]], labels: Names) -> None:
    """OverLimit if there is any, with a line an address: its limit, and what the largest call needs."""
    largest = {each[2]: each[:2] for each in sorted(found, key=lambda each: sum(most_tokens(each[0])))}
    lines = []
    for name, (request, limit) in largest.items():
        read, written = most_tokens(request)
        lines.append(
            f"{paths.LIMITS.name}, '{name}': tokens_per_minute = {limit:g} is less than one call may "
            "take, which would wait for minutes; none of these calls was made, and what came before is stored. The "
            f"largest ({request.model.name}, {_place(labels.get(request.key, {}))}) is taken for "
            f"{read + written} tokens: {read} of the prompt and {written} of the reply (max_tokens). Set "
            f"tokens_per_minute to {read + written} or more, leave it out, or lower max_tokens in models.yaml"
        )
    if lines:
        raise OverLimit("\n".join(lines))
