"""What limits.yaml lets each address be asked in a minute, and calls that no minute of it can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers import paths
from helpers.providers import Limit, most_tokens
from helpers.types import Model, Request


class OverLimit(ValueError):
    """Calls that may each take more tokens than limits.yaml allows in a minute; the message names the largest."""


def limits_at(models: Iterable[Model]) -> dict[tuple[str, str | None], Limit]:
    """What limits.yaml says of the addresses at which these models are asked."""
    from helpers.config import load_limits

    told = {name: Limit(**entry.model_dump()) for name, entry in load_limits().items()}
    named = {(model.provider, model.base_url): model.base_url or model.provider for model in models}
    return {address: told[name] for address, name in named.items() if name in told}


def over_limit(requests: Sequence[Request]) -> list[Request]:
    """The requests that may each take more tokens than their address has in a minute.

    Answers that a prompt will show and nobody has written yet are left out until they are written.
    """
    limits = limits_at({request.model.name: request.model for request in requests}.values())
    most = {address: limit.tokens_per_minute for address, limit in limits.items()}
    found = []
    for request in requests:
        allowed = most.get((request.model.provider, request.model.base_url))
        if allowed is not None and sum(most_tokens(request)) > allowed:
            found.append(request)
    return found


def refuse_slow(found: Sequence[Request], labels: Mapping[str, Mapping[str, Any]]) -> None:
    """OverLimit if there is any, with a line an address: its limit, and what the largest call needs."""
    if not found:
        return
    largest: dict[str, Request] = {}
    for request in sorted(found, key=lambda each: sum(most_tokens(each))):
        largest[request.model.base_url or request.model.provider] = request
    raise OverLimit("\n".join(_told(name, request, labels) for name, request in largest.items()))


def _told(name: str, request: Request, labels: Mapping[str, Mapping[str, Any]]) -> str:
    model, (read, written) = request.model, most_tokens(request)
    [limit] = limits_at([model]).values()
    question = labels.get(request.key, {}).get("question_id")
    return (
        f"{paths.LIMITS.name}, '{name}': tokens_per_minute = {limit.tokens_per_minute:g} is less than one call may "
        "take, which would wait for minutes; none of these calls was made, and what came before is stored. The largest "
        f"({model.name}, {f'question {question}' if question else 'a prompt'}) is taken for "
        f"{read + written} tokens: {read} of the prompt and {written} of the reply (max_tokens). Set "
        f"tokens_per_minute to {read + written} or more, leave it out, or lower max_tokens in models.yaml"
    )
