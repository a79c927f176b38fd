"""Google's Gemini models through google-genai."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from helpers.json_text import loads
from helpers.providers import TIMEOUT_SECONDS, Sent
from helpers.providers.clients import http_client
from helpers.providers.envelopes import fields, output_tokens, summed
from helpers.providers.failures import Failure
from helpers.providers.tokens import Token
from helpers.types import Completion, Model, Request, Usage

FINISH = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "filter",
    "PROHIBITED_CONTENT": "filter",
    "BLOCKLIST": "filter",
    "SPII": "filter",
    "RECITATION": "filter",
}

#: Both spellings of a setting that the SDK takes once only.
AUTOMATIC = {"automatic_function_calling", "automaticFunctionCalling"}


@dataclass(frozen=True)
class Kinds:
    """What a call consists of, as classes of the SDK: its settings, a message and a text of it."""

    settings: Any
    message: Any
    text: Any


@dataclass(frozen=True)
class Client:
    """The SDK's client and the connections that it was given, which it does not close."""

    sdk: Any
    lines: Any


def client(model: Model, key: str | None) -> Client:
    """The SDK's client; it does not retry by itself, and one attempt keeps it from sending twice on a broken line."""
    from google import genai

    lines = http_client()
    options = {
        "base_url": model.base_url,
        "timeout": int(TIMEOUT_SECONDS * 1000),
        "retry_options": {"attempts": 1},
        "httpx_async_client": lines,
    }
    sdk = genai.Client(api_key=key, http_options={k: v for k, v in options.items() if v is not None})
    return Client(sdk, lines)


async def close(client: Client) -> None:
    """Close the connections."""
    await client.sdk.aio.aclose()
    await client.lines.aclose()


async def send(client: Client, request: Request) -> Sent:
    """One call; asking for the HTTP response keeps the SDK from reading (and losing) the body."""
    from pydantic import ValidationError

    kinds = _kinds()
    # A copy, because the SDK writes into what it is given: into the settings of the model, which are in the key.
    settings = {"should_return_http_response": True, **deepcopy(request.params)}
    if not AUTOMATIC & {*settings}:
        # Nobody has functions that the SDK could call; looking for them copies all settings once more.
        settings["automatic_function_calling"] = {"disable": True}
    if said := _said(request):
        settings["http_options"] = {"extra_body": said}
    try:
        response = await client.sdk.aio.models.generate_content(
            model=request.model.model_id,
            contents=kinds.message(role="user", parts=[kinds.text(text=request.prompt)]),
            config=kinds.settings(**settings),
        )
    except ValidationError as error:
        raise Failure("bad_request", f"params of '{request.model.name}' in models.yaml: {error}") from None
    came = response.sdk_http_response
    return Sent(came.body or "", headers={name.lower(): value for name, value in (came.headers or {}).items()})


@cache
def _kinds() -> Kinds:
    """The SDK's own classes, but quick to be read: a call with a schema takes the SDK less than half the time.

    For each of the dozens of fields that a call can have it asks whether the object holds the name before it takes the
    attribute; pydantic answers by walking through all fields, and never finds a name among them, as they are pairs.
    """
    from google.genai import types

    class Quick:
        def __contains__(self, name: object) -> bool:
            return False

    class Settings(Quick, types.GenerateContentConfig, title="GenerateContentConfig"):  # as errors in params name it
        def model_copy(self, *, update: Any = None, deep: bool = False) -> Any:
            # The SDK's deep copy is there to spare the caller's object. Of these each call has its own; the schema in
            # `extra_body`, which calls share, is only read.
            return super().model_copy(update=update)

    class Message(Quick, types.Content):
        pass

    class Text(Quick, types.Part):
        pass

    return Kinds(Settings, Message, Text)


def _said(request: Request) -> dict[str, Any]:
    """System text and schema as the service takes them: as settings they would take the SDK a fifth of the call."""
    said: dict[str, Any] = {}
    if request.system:
        said["systemInstruction"] = {"parts": [{"text": request.system}], "role": "user"}
    if request.schema is not None:
        form = {"responseMimeType": "application/json", "responseJsonSchema": dict(request.schema)}
        said["generationConfig"] = form
    return said


def read(raw: str) -> Completion:
    """The reply in a response body; thoughts are not part of its text but of its output tokens."""
    body = loads(raw)
    usage = fields(body.get("usageMetadata"))
    asked, thoughts, said = (usage.get(f"{of}TokenCount") for of in ("prompt", "thoughts", "candidates"))
    if body.get("candidates"):
        candidate = body["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        finish = FINISH.get(candidate.get("finishReason"), candidate.get("finishReason"))
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
        (
            each["token"],
            {one["token"]: one["logProbability"] for one in [*(top.get("candidates") or []), each]},
        )
        for each, top in zip(chosen, tops, strict=True)
    ]
