"""OpenAI's chat completions, and every server that speaks them: vLLM, Ollama, OpenRouter, Together."""

from __future__ import annotations

import json
from typing import Any

from ..json_text import loads
from ..types import Completion, Model, Request, Usage
from .meanings import Failure, finish_of
from .transport import Sent, Token, fields, http_client, output_tokens, post

#: Where a message holds what its model said beside its content; a server that broke off leaves all of them null.
SPOKEN = ("refusal", "reasoning", "reasoning_content", "tool_calls")


def client(model: Model, key: str | None) -> Any:
    """The SDK's client, its own retries off."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key=key, base_url=model.base_url, max_retries=0, http_client=http_client())


async def send(client: Any, request: Request) -> Sent:
    """One call; the body is kept as it came, because reading it may fail."""
    messages = [{"role": "system", "content": request.system}] if request.system else []
    body: dict[str, Any] = {
        "model": request.model.model_id,
        "messages": [*messages, {"role": "user", "content": request.prompt}],
        **request.params,
    }
    if request.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return await post(client, "/chat/completions", body)


def read(raw: str) -> Completion:
    """The reply in a response body; a refusal's text is kept as its text."""
    body = loads(raw)
    choice = body["choices"][0]
    message, usage = choice["message"], fields(body.get("usage"))
    reasoning = fields(usage.get("completion_tokens_details")).get("reasoning_tokens")
    asked, said = usage.get("prompt_tokens"), usage.get("completion_tokens")
    finish = finish_of(choice.get("finish_reason"))
    silent = message.get("content") is None and not any(message.get(name) for name in SPOKEN)
    if silent and said == 0 and finish in (None, "stop"):
        raise Failure("provider_error", "the server sent a reply without text and without tokens", raw=raw)
    refusal, content = message.get("refusal"), message.get("content") or ""
    if isinstance(content, list):  # some servers send parts
        content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    return Completion(
        "",
        "ok",
        text=refusal or content,
        finish="refusal" if refusal else finish,
        usage=Usage(
            input=asked,
            output=output_tokens(said, reasoning, asked, usage.get("total_tokens")),
            reasoning=reasoning,
            cached=fields(usage.get("prompt_tokens_details")).get("cached_tokens"),
        ),
        model=body.get("model"),
    )


def tokens(raw: str) -> list[Token]:
    """The reply's tokens with the log-probabilities of their alternatives; empty without them.

    Two dialects: a list `content` of objects, and parallel lists `tokens`, `token_logprobs`, `top_logprobs`.
    """
    told = json.loads(raw)["choices"][0].get("logprobs") or {}
    if told.get("content"):
        return [
            (each["token"], {top["token"]: top["logprob"] for top in [*(each.get("top_logprobs") or []), each]})
            for each in told["content"]
        ]
    chosen, sure = told.get("tokens") or [], told.get("token_logprobs") or []
    parallel = zip(chosen, sure, told.get("top_logprobs") or [{}] * len(chosen), strict=True)
    return [(token, {**(top or {}), **({} if at is None else {token: at})}) for token, at, top in parallel]
