"""How each provider puts a request and a reply on the wire; field names as the three SDKs read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.servers.behaviours import Call, Reply
from tests.servers.rules import thinks

PATHS = {"/v1/chat/completions": "openai", "/v1/messages": "anthropic"}
GOOGLE = re.compile(r"/v1(?:beta|alpha)?/models/([^/]+):generateContent")
SYSTEM_ROLES = ("system", "developer")

OPENAI_FINISH = {"refusal": "stop", "filter": "content_filter", "blocked": "content_filter"}
ANTHROPIC_STOP = {"stop": "end_turn", "length": "max_tokens"}
GOOGLE_FINISH = {"stop": "STOP", "length": "MAX_TOKENS", "refusal": "STOP", "filter": "SAFETY"}


def provider_of(path: str) -> str | None:
    """Whose endpoint a path is; None for any other path."""
    return PATHS.get(path) or ("google" if GOOGLE.fullmatch(path) else None)


def key_of(headers: Mapping[str, str]) -> str:
    """The API key that came with a request, "" where there is none."""
    bearer = headers.get("Authorization", "").removeprefix("Bearer ").strip()
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or bearer


def read_call(provider: str, path: str, body: dict[str, Any], attempt: int, n: int) -> Call:
    """What a request asks; ValueError, KeyError, TypeError or AttributeError where the body has not the form."""
    if provider == "google":
        params = dict(body.get("generationConfig", {}))
        schema = params.pop("responseJsonSchema", None) or params.pop("responseSchema", None)
        structured = params.get("responseMimeType") == "application/json"
        prompt = "\n".join(_parts(content) for content in body["contents"])
        model, limit = GOOGLE.fullmatch(path)[1], params.get("maxOutputTokens")
        system = _parts(body.get("systemInstruction", {}))
        return Call(provider, model, system, prompt, schema if structured else None, params, limit, attempt, n)
    params = {name: value for name, value in body.items() if name not in ("model", "messages", "system")}
    said = [(turn["role"], _text(turn["content"])) for turn in body["messages"]]
    if provider == "openai":
        form = (params.get("response_format") or {}).get("json_schema", {})
        limit = params.get("max_completion_tokens", params.get("max_tokens"))
    else:
        form = (params.get("output_config") or {}).get("format", {})
        limit = params.get("max_tokens")
    system = "\n".join([_text(body.get("system", "")), *(text for role, text in said if role in SYSTEM_ROLES)]).strip()
    prompt = "\n".join(text for role, text in said if role not in SYSTEM_ROLES)
    return Call(provider, body["model"], system, prompt, form.get("schema"), params, limit, attempt, n)


def _text(content: str | list[dict[str, Any]]) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _parts(content: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in content.get("parts", []))


def tokens(text: str) -> int:
    """How many tokens the server counts: four characters each, begun ones included."""
    return -(-len(text) // 4)


def texts_alone(call: Call) -> int:
    """The input tokens of a server that bills the texts of a call and nothing beside them."""
    return tokens(call.system + call.prompt)


def within_limit(call: Call, reply: Reply) -> tuple[Reply, int]:
    """The reply cut to the call's token limit, and its reasoning tokens, which count against the limit first."""
    thoughts = reply.thoughts if thinks(call) else 0
    if call.limit is None or tokens(reply.text) + thoughts <= call.limit:
        return reply, thoughts
    thoughts = min(thoughts, call.limit)
    text = reply.text[: 4 * (call.limit - thoughts)]
    return replace(reply, text=text, finish="length"), thoughts


def write_reply(call: Call, reply: Reply, thoughts: int, model: str) -> dict[str, Any]:
    """A reply as its provider writes it; usage counts the whole input and output."""
    return {"openai": _openai, "anthropic": _anthropic, "google": _google}[call.provider](call, reply, thoughts, model)


def _openai(call: Call, reply: Reply, thoughts: int, model: str) -> dict[str, Any]:
    asked, said = call.asked, tokens(reply.text)
    message = {"role": "assistant", "content": reply.text, "refusal": None, "annotations": []}
    if reply.finish not in ("stop", "length"):
        message |= {"content": None, "refusal": reply.text if reply.finish == "refusal" else None}
    finish = OPENAI_FINISH.get(reply.finish, reply.finish)
    return {
        "id": f"chatcmpl-{call.n:08x}",
        "object": "chat.completion",
        "created": 1_767_225_600,
        "model": model,
        "choices": [{"index": 0, "message": message, "logprobs": _logprobs(call, reply.text), "finish_reason": finish}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": said + thoughts,
            "total_tokens": asked + said + thoughts,
            "prompt_tokens_details": {"cached_tokens": reply.cached, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": thoughts, "audio_tokens": 0},
        },
        "service_tier": "default",
        "system_fingerprint": reply.fingerprint,
    }


def weighed(text: str) -> list[tuple[str, dict[str, float]]]:
    """A reply in pieces, each with its alternatives: a 1 or 2 was three times as probable as the other."""
    other = {"1": "2", "2": "1"}
    found = []
    for token in re.findall(r"\s*\w+|\s*[^\w\s]|\s+$", text):
        word = token.strip()
        alternatives = {token: math.log(0.75)}
        if word in other:
            alternatives[token.replace(word, other[word])] = math.log(0.25)
        found.append((token, alternatives))
    return found


def _logprobs(call: Call, text: str) -> dict[str, Any] | None:
    if not call.params.get("logprobs"):
        return None
    entries = [
        {
            "token": token,
            "logprob": alternatives[token],
            "top_logprobs": [{"token": each, "logprob": at} for each, at in alternatives.items()],
        }
        for token, alternatives in weighed(text)
    ]
    return {"content": entries, "refusal": None}


def _anthropic(call: Call, reply: Reply, thoughts: int, model: str) -> dict[str, Any]:
    refused = reply.finish in ("refusal", "filter", "blocked")
    return {
        "id": f"msg_{call.n:08x}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": reply.text}] if reply.text else [],
        "stop_reason": "refusal" if refused else ANTHROPIC_STOP[reply.finish],
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": None} if refused else None,
        "usage": {
            "input_tokens": call.asked - reply.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": reply.cached,
            "output_tokens": tokens(reply.text) + thoughts,
            "output_tokens_details": {"thinking_tokens": thoughts},
            "service_tier": "standard",
        },
    }


def _google(call: Call, reply: Reply, thoughts: int, model: str) -> dict[str, Any]:
    asked, said = call.asked, tokens(reply.text)
    counts = {
        "promptTokenCount": asked,
        "candidatesTokenCount": said,
        "thoughtsTokenCount": thoughts,
        "cachedContentTokenCount": reply.cached,
        "totalTokenCount": asked + said + thoughts,
    }
    # The service leaves out counts that are zero.
    usage = {name: count for name, count in counts.items() if count}
    body = {"usageMetadata": usage, "modelVersion": model, "responseId": f"resp{call.n:08x}"}
    if reply.finish == "blocked":
        return {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, **body}
    content = {"parts": [{"text": reply.text}], "role": "model"} if reply.text else {"role": "model"}
    candidate = {"content": content, "finishReason": GOOGLE_FINISH[reply.finish], "index": 0}
    if call.params.get("responseLogprobs"):
        told = weighed(reply.text)
        candidate["logprobsResult"] = {
            "chosenCandidates": [{"token": token, "logProbability": each[token]} for token, each in told],
            "topCandidates": [
                {"candidates": [{"token": other, "logProbability": at} for other, at in each.items()]}
                for _, each in told
            ],
        }
    if reply.finish == "filter":
        del candidate["content"]
    return {"candidates": [candidate], **body}
