"""What a server of one's own says of itself before anything is asked: models, tokens of a context, calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from helpers.providers.keys import key_of
from helpers.providers.transport import fields, http_client
from helpers.services import own_server
from helpers.types import Model

#: A server that does not say anything of itself within so many seconds is asked for replies all the same.
PATIENCE = 5.0
#: Calls at once that a server gets which does not say how many it takes.
PLACES = 8
#: Ids that a warning lists.
LISTED = 5


@dataclass(frozen=True)
class Serving:
    """What a server serves: ids of models, tokens of a prompt and its reply, calls at once; None where it is silent."""

    ids: tuple[str, ...] = ()
    context: int | None = None
    places: int | None = None


async def as_served(models: Iterable[Model], concurrency: int) -> tuple[dict[str, Model], list[str]]:
    """The models at own servers, by name, as their servers say that they serve them, and warnings for who runs them.

    `context` is the smallest that is told, by the entry or by a server; `concurrency`, where the entry has none, what
    each server takes, or PLACES where it does not say, and never more than that of the run.
    """
    asked = [
        (model, replace(model, base_url=url))
        for model in {model.name: model for model in models}.values()
        for _, url in model.addresses
        if own_server(url)
    ]
    found: dict[str, Model] = {}
    warnings = []
    told = await asyncio.gather(*(look_at(alone) for _, alone in asked))
    for (model, alone), serving in zip(asked, told, strict=True):
        known = found.get(model.name, model)
        contexts = [each for each in (known.context, serving.context) if each]
        most = min(concurrency, serving.places or PLACES, *([known.concurrency] if model.name in found else []))
        served = {"context": min(contexts, default=None), "concurrency": model.concurrency or most}
        found[model.name] = replace(known, **served)
        if serving.ids and model.model_id not in serving.ids:
            ids = ", ".join(repr(each) for each in serving.ids[:LISTED])
            warnings.append(
                f"warning: {alone.base_url} says that it serves {ids}, and {model.name} asks for {model.model_id!r}: "
                "correct model_id (of an audit, --model) if another model is meant"
            )
    return found, warnings


async def look_at(model: Model) -> Serving:
    """What the server of a model at a `base_url` says: at `models`, and llama.cpp at `/props` beside it."""
    base, key = str(model.base_url).rstrip("/"), key_of(model)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with http_client() as client:

        async def read(url: str) -> Any:
            try:
                async with asyncio.timeout(PATIENCE):
                    came = await client.get(url, headers=headers)
                return came.json() if came.is_success else None
            except Exception:  # whatever is wrong with it, the first call will say so
                return None

        listed, props = await asyncio.gather(read(f"{base}/models"), read(f"{base.removesuffix('/v1')}/props"))
    served = [each for each in _items(fields(listed).get("data")) if isinstance(each.get("id"), str)]
    asked = [each for each in served if each["id"] == model.model_id] or served[:1]
    settings = fields(fields(props).get("default_generation_settings"))
    contexts = [settings.get("n_ctx"), *(each.get("max_model_len") for each in asked)]
    return Serving(
        tuple(each["id"] for each in served),
        next(filter(_is_count, contexts), None),
        next(filter(_is_count, [fields(props).get("total_slots")]), None),
    )


def _items(value: Any) -> Iterator[dict[str, Any]]:
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
