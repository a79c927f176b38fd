"""What a server of one's own says of itself before anything is asked: models, tokens of a context, calls at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ..services import own_server
from ..types import Model
from .keys import key_of
from .meanings import POLICY
from .transport import count, fields, http_client


async def as_served(models: Iterable[Model], concurrency: int) -> tuple[dict[str, Model], list[str]]:
    """The models at own servers, by name, with the context and concurrency that their servers state, and warnings."""
    servers = {model.name: (model, [url for _, url in model.addresses if own_server(url)]) for model in models}
    found = await asyncio.gather(*(_served(model, urls, concurrency) for model, urls in servers.values() if urls))
    return {model.name: model for model, _ in found}, [text for _, warnings in found for text in warnings]


async def _served(model: Model, urls: list[str], concurrency: int) -> tuple[Model, list[str]]:
    servers = await asyncio.gather(*(_look_at(replace(model, base_url=url)) for url in urls))
    listed, contexts, places = zip(*servers, strict=True)
    context = min(filter(None, (model.context, *contexts)), default=None)  # the smallest that entry or servers state
    warnings = [
        f"warning: {url} says that it serves {', '.join(map(repr, ids[: POLICY.LISTED]))}, and {model.name} asks for "
        f"{model.model_id!r}: correct model_id (of an audit, --model) if another model is meant"
        for url, ids in zip(urls, listed, strict=True)
        if ids and model.model_id not in ids
    ]
    most = min(concurrency, *(each or POLICY.PLACES for each in places))
    return replace(model, context=context, concurrency=model.concurrency or most), warnings


async def _look_at(model: Model) -> tuple[list[str], int | None, int | None]:
    """What a server says, at `models` and llama.cpp at `/props`: ids of models, tokens of a context, calls at once."""
    base, key = str(model.base_url).rstrip("/"), key_of(model)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with http_client() as client:

        async def read(url: str) -> Any:
            try:
                async with asyncio.timeout(POLICY.SILENCE):
                    came = await client.get(url, headers=headers)
                return came.json() if came.is_success else None
            except Exception:  # whatever is wrong with it, the first call will say so
                return None

        listed, props = await asyncio.gather(read(f"{base}/models"), read(f"{base.removesuffix('/v1')}/props"))
    data = fields(listed).get("data")
    models = [each for each in data if isinstance(fields(each).get("id"), str)] if isinstance(data, list) else []
    asked = [each for each in models if each["id"] == model.model_id] or models[:1]
    settings = fields(fields(props).get("default_generation_settings"))
    contexts = [settings.get("n_ctx"), *(each.get("max_model_len") for each in asked)]
    context = next((each for each in contexts if count(each)), None)
    return [each["id"] for each in models], context, count(fields(props).get("total_slots"))
