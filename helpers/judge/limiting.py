"""What limits.yaml lets each address be asked in a minute, and calls that no minute of it can hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from helpers import paths
from helpers.providers import Limit, most_tokens
from helpers.types import Model, Request

#: Where a model is asked: provider and `base_url`.
Address = tuple[str, str | None]


class OverLimit(ValueError):
    """Calls that may each take more tokens than limits.yaml allows in a minute; the message names the largest."""


def limits_at(models: Iterable[Model]) -> dict[Address, Limit]:
    """What limits.yaml says of the addresses at which these models are asked."""
    from helpers.config import load_limits

    told = {name: Limit(**entry.model_dump()) for name, entry in load_limits().items()}
    named = {(provider, url): url or provider for model in models for provider, url in model.addresses}
    return {address: told[name] for address, name in named.items() if name in told}


def over_limit(requests: Sequence[Request]) -> list[Request]:
    """The requests that may each take more tokens than their address has in a minute.

    Answers that a prompt will show and nobody has written yet are left out until they are written.
    """
    limits = limits_at({request.model.name: request.model for request in requests}.values())
    if not any(limit.tokens_per_minute for limit in limits.values()):
        return []
    found = []
    for request in requests:
        tightest = _tightest(request.model, limits)
        if tightest is not None and sum(most_tokens(request)) > tightest[0]:
            found.append(request)
    return found


def _tightest(model: Model, limits: Mapping[Address, Limit]) -> tuple[float, str] | None:
    """The fewest tokens that a server of a model may be asked for in a minute, and which server; None: no limit."""
    told = [(limits[each].tokens_per_minute, each[1] or each[0]) for each in model.addresses if each in limits]
    return min((each for each in told if each[0] is not None), default=None)


def refuse_slow(found: Sequence[Request], labels: Mapping[str, Mapping[str, Any]]) -> None:
    """OverLimit if there is any, with a line an address: its limit, and what the largest call needs."""
    if not found:
        return
    largest: dict[str, Request] = {}
    for request in sorted(found, key=lambda each: sum(most_tokens(each))):
        _, name = _tightest(request.model, limits_at([request.model]))
        largest[name] = request
    raise OverLimit("\n".join(_told(name, request, labels) for name, request in largest.items()))


def _told(name: str, request: Request, labels: Mapping[str, Mapping[str, Any]]) -> str:
    model, (read, written) = request.model, most_tokens(request)
    limit, _ = _tightest(model, limits_at([model]))
    question = labels.get(request.key, {}).get("question_id")
    return (
        f"{paths.LIMITS.name}, '{name}': tokens_per_minute = {limit:g} is less than one call may "
        "take, which would wait for minutes; none of these calls was made, and what came before is stored. The largest "
        f"({model.name}, {f'question {question}' if question else 'a prompt'}) is taken for "
        f"{read + written} tokens: {read} of the prompt and {written} of the reply (max_tokens). Set "
        f"tokens_per_minute to {read + written} or more, leave it out, or lower max_tokens in models.yaml"
    )
