"""Google's Gemini models through google-genai."""

from __future__ import annotations

from copy import deepcopy
from types import SimpleNamespace

from ..json_text import loads
from ..types import Completion, Model, Request, Usage
from .meanings import Failure, finish_of
from .transport import Sent, fields, http_client, output_tokens, summed


def client(model: Model, key: str | None) -> SimpleNamespace:
    """The SDK's client, and what closes its connections; one attempt also keeps it from sending twice on one."""
    from google import genai

    lines = http_client()
    options = {"base_url": model.base_url, "retry_options": {"attempts": 1}, "httpx_async_client": lines}
    return SimpleNamespace(sdk=genai.Client(api_key=key, http_options=options), close=lines.aclose)  # type: ignore[arg-type]


async def send(client: SimpleNamespace, request: Request) -> Sent:
    """One call; the HTTP response is requested because the SDK would lose parts of the body."""
    from pydantic import ValidationError

    # A copy, because the SDK writes into what it is given: into the settings of the model, which are in the key.
    settings = {"should_return_http_response": True, **deepcopy(request.params)}
    if request.system:
        settings["system_instruction"] = request.system
    if request.schema is not None:
        settings |= {"response_mime_type": "application/json", "response_json_schema": deepcopy(dict(request.schema))}
    generate = client.sdk.aio.models.generate_content
    try:
        response = await generate(model=request.model.model_id, contents=request.prompt, config=settings)
    except ValidationError as error:
        raise Failure("bad_request", f"params of '{request.model.name}' in models.yaml: {error}") from None
    came = response.sdk_http_response
    return Sent(came.body or "", {name.lower(): value for name, value in (came.headers or {}).items()})


def read(raw: str) -> Completion:
    """The reply in a response body; thoughts are not part of its text but of its output tokens."""
    body = loads(raw)
    usage = fields(body.get("usageMetadata"))
    prompt, thoughts, written = (usage.get(f"{name}TokenCount") for name in ("prompt", "thoughts", "candidates"))
    if body.get("candidates"):
        candidate = body["candidates"][0]
        parts = (candidate.get("content") or {}).get("parts") or []
        finish = finish_of(candidate.get("finishReason"))
        text = "".join(part.get("text", "") for part in parts if not part.get("thought"))
    elif (body.get("promptFeedback") or {}).get("blockReason"):
        finish, text = "filter", ""
    else:
        raise KeyError("candidates")
    output = output_tokens(summed(written, thoughts), None, prompt, usage.get("totalTokenCount"))
    counts = Usage(prompt, output, thoughts, usage.get("cachedContentTokenCount"))
    return Completion("", "ok", text, finish, counts, body.get("modelVersion"), body.get("responseId"))
