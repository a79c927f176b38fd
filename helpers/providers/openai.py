"""OpenAI's chat completions, and every server that speaks them: vLLM, Ollama, OpenRouter, Together."""

from __future__ import annotations

from typing import Any

from ..json_text import loads
from ..types import Completion, Model, Request, Usage
from .meanings import Failure, finish_of
from .transport import Sent, fields, http_client, output_tokens, post

#: Where a message holds what its model said beside its content; a server that broke off leaves all of them null.
SPOKEN = ("refusal", "reasoning", "reasoning_content", "tool_calls")


def client(model: Model, key: str | None) -> Any:
    """The SDK's client, its own retries off."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=key, base_url=model.base_url, max_retries=0, http_client=http_client())


async def send(client: Any, request: Request) -> Sent:
    """One call; the body is kept as it came, because reading it may fail."""
    system = [{"role": "system", "content": request.system}] if request.system else []
    messages = [*system, {"role": "user", "content": request.prompt}]
    body: dict[str, Any] = {"model": request.model.model_id, "messages": messages, **request.params}
    if request.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return await post(client, "/chat/completions", body)


def read(raw: str) -> Completion:
    """The reply in a response body; a refusal's text is kept as its text."""
    body = loads(raw)
    choice = body["choices"][0]
    message, usage = choice["message"], fields(body.get("usage"))
    written, finish = usage.get("completion_tokens"), finish_of(choice.get("finish_reason"))
    silent = message.get("content") is None and not any(message.get(name) for name in SPOKEN)
    if silent and written == 0 and finish in (None, "stop"):
        raise Failure("provider_error", "the server sent a reply without text and without tokens", raw=raw)
    refusal, content = message.get("refusal"), message.get("content") or ""
    if isinstance(content, list):  # some servers send parts
        content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    reasoning = fields(usage.get("completion_tokens_details")).get("reasoning_tokens")
    output = output_tokens(written, reasoning, usage.get("prompt_tokens"), usage.get("total_tokens"))
    cached = fields(usage.get("prompt_tokens_details")).get("cached_tokens")
    counts = Usage(usage.get("prompt_tokens"), output, reasoning, cached)
    return Completion("", "ok", refusal or content, "refusal" if refusal else finish, counts, body.get("model"))
