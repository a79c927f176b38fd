"""Google's Gemini models through google-genai."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any, NamedTuple

from ..json_text import loads
from ..types import Completion, Model, Request, Usage
from .meanings import Failure, finish_of
from .transport import Sent, Token, fields, http_client, output_tokens, summed


class Client(NamedTuple):
    """The SDK's client, and its HTTP client, which it does not close."""

    sdk: Any
    lines: Any

    async def close(self) -> None:
        """Close the connections."""
        await self.lines.aclose()


def client(model: Model, key: str | None) -> Client:
    """The SDK's client; one attempt also keeps it from sending twice on a broken connection."""
    from google import genai

    lines = http_client()
    options = {"base_url": model.base_url, "retry_options": {"attempts": 1}, "httpx_async_client": lines}
    return Client(genai.Client(api_key=key, http_options=options), lines)


async def send(client: Client, request: Request) -> Sent:
    """One call; the HTTP response is requested because the SDK would lose parts of the body."""
    from pydantic import ValidationError

    # A copy, because the SDK writes into what it is given: into the settings of the model, which are in the key.
    settings = {"should_return_http_response": True, **deepcopy(request.params)}
    if request.system:
        settings["system_instruction"] = request.system
    if request.schema is not None:
        settings |= {"response_mime_type": "application/json", "response_json_schema": deepcopy(dict(request.schema))}
    try:
        response = await client.sdk.aio.models.generate_content(
            model=request.model.model_id, contents=request.prompt, config=settings
        )
    except ValidationError as error:
        raise Failure("bad_request", f"params of '{request.model.name}' in models.yaml: {error}") from None
    came = response.sdk_http_response
    return Sent(came.body or "", {name.lower(): value for name, value in (came.headers or {}).items()})


def read(raw: str) -> Completion:
    """The reply in a response body; thoughts are not part of its text but of its output tokens."""
    body = loads(raw)
    usage = fields(body.get("usageMetadata"))
    asked, thoughts, said = (usage.get(f"{of}TokenCount") for of in ("prompt", "thoughts", "candidates"))
    if body.get("candidates"):
        candidate = body["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        finish = finish_of(candidate.get("finishReason"))
        text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    elif (body.get("promptFeedback") or {}).get("blockReason"):
        finish, text = "filter", ""
    else:
        raise KeyError("candidates")
    return Completion(
        "",
        "ok",
        text=text,
        finish=finish,
        usage=Usage(
            input=asked,
            output=output_tokens(summed(said, thoughts), None, asked, usage.get("totalTokenCount")),
            reasoning=thoughts,
            cached=usage.get("cachedContentTokenCount"),
        ),
        model=body.get("modelVersion"),
        request_id=body.get("responseId"),
    )


def tokens(raw: str) -> list[Token]:
    """The reply's tokens with the log-probabilities of their alternatives (`response_logprobs`); empty without them."""
    told = json.loads(raw)["candidates"][0].get("logprobsResult") or {}
    chosen = told.get("chosenCandidates") or []
    tops = told.get("topCandidates") or [{}] * len(chosen)
    return [
        (each["token"], {one["token"]: one["logProbability"] for one in [*(top.get("candidates") or []), each]})
        for each, top in zip(chosen, tops, strict=True)
    ]
