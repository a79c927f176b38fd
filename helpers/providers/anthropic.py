"""Anthropic's messages."""

from __future__ import annotations

from typing import Any

from ..json_text import loads
from ..types import Completion, Model, Request, Usage
from .meanings import finish_of
from .transport import Sent, fields, http_client, post, summed


def client(model: Model, key: str | None) -> Any:
    """The SDK's client, its own retries off."""
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(api_key=key, base_url=model.base_url, max_retries=0, http_client=http_client())


async def send(client: Any, request: Request) -> Sent:
    """One call; parameters go as they stand in models.yaml.

    A long beginning that other prompts share is marked for the cache: reading it costs a tenth.
    """
    content: Any = request.prompt
    if request.cacheable:
        shared = {"type": "text", "text": request.prompt[: request.cacheable], "cache_control": {"type": "ephemeral"}}
        content = [shared, {"type": "text", "text": request.prompt[request.cacheable :]}]
    messages = [{"role": "user", "content": content}]
    body: dict[str, Any] = {"model": request.model.model_id, "messages": messages, **request.params}
    if request.system:
        body["system"] = request.system
    if request.schema is not None:
        form = {"format": {"type": "json_schema", "schema": request.schema}}
        body["output_config"] = {**body.get("output_config", {}), **form}
    return await post(client, "/v1/messages", body)


def read(raw: str) -> Completion:
    """The reply in a response body; thinking blocks are not part of its text. Input counts cached tokens too."""
    body = loads(raw)
    usage = fields(body.get("usage"))
    cached, written = usage.get("cache_read_input_tokens"), usage.get("cache_creation_input_tokens")
    read = None if usage.get("input_tokens") is None else summed(usage["input_tokens"], cached, written)
    reasoning = fields(usage.get("output_tokens_details")).get("thinking_tokens")
    counts = Usage(read, usage.get("output_tokens"), reasoning, cached, written)
    text = "".join(block["text"] for block in body["content"] if block["type"] == "text")
    return Completion("", "ok", text, finish_of(body["stop_reason"]), counts, body.get("model"))


def retires(model_id: str) -> str | None:
    """When the SDK says that a model ends, or None."""
    from anthropic.resources.messages.messages import DEPRECATED_MODELS

    return DEPRECATED_MODELS.get(model_id)
