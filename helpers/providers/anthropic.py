"""Anthropic's messages."""

from __future__ import annotations

from typing import Any

from helpers.json_text import loads
from helpers.providers import Sent
from helpers.providers.clients import Client, opened, options, post
from helpers.providers.envelopes import fields, summed
from helpers.types import Completion, Model, Request, Usage

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


def client(model: Model, key: str | None) -> Client:
    """The SDK's client, its own retries off."""
    from anthropic import AsyncAnthropic, omit

    return opened(AsyncAnthropic(**options(model, key, omit)), "v1/messages")


async def close(client: Client) -> None:
    """Close the connections."""
    await client.sdk.close()


async def send(client: Client, request: Request) -> Sent:
    """One call; parameters go as they stand in models.yaml (the SDK's own signature has dropped temperature)."""
    body: dict[str, Any] = {
        "model": request.model.model_id,
        "messages": [{"role": "user", "content": _content(request)}],
        **request.params,
    }
    if request.system:
        body["system"] = request.system
    if request.schema is not None:
        form = {"format": {"type": "json_schema", "schema": request.schema}}
        body["output_config"] = {**body.get("output_config", {}), **form}
    return await post(client, body, "request-id")


def _content(request: Request) -> Any:
    """The prompt; a long beginning that other prompts share is marked for the cache (reading it costs a tenth)."""
    if not request.cacheable:
        return request.prompt
    first, rest = request.prompt[: request.cacheable], request.prompt[request.cacheable :]
    mark = {"cache_control": {"type": "ephemeral"}}
    return [{"type": "text", "text": first, **mark}, {"type": "text", "text": rest}]


def read(raw: str) -> Completion:
    """The reply in a response body; thinking blocks are not part of its text. Input counts cached tokens too."""
    body = loads(raw)
    usage = fields(body.get("usage"))
    cached, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    return Completion(
        "",
        "ok",
        text="".join(block["text"] for block in body["content"] if block["type"] == "text"),
        finish=FINISH.get(body["stop_reason"], body["stop_reason"]),
        usage=Usage(
            input=None if usage.get("input_tokens") is None else summed(usage["input_tokens"], cached, written),
            output=usage.get("output_tokens"),
            reasoning=fields(usage.get("output_tokens_details")).get("thinking_tokens"),
            cached=cached,
            written=written,
        ),
        model=body.get("model"),
    )


def retires(model_id: str) -> str | None:
    """The date on which the SDK says that a model ends, or None."""
    from anthropic.resources.messages.messages import DEPRECATED_MODELS

    return DEPRECATED_MODELS.get(model_id)
