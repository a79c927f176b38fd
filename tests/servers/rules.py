"""What the services refuse with status 400, so that a request which they would not take fails here too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.servers.behaviours import Call

#: Ids that OpenAI itself serves; whoever else speaks its API may know more fields.
OPENAI_MODEL = re.compile(r"(chatgpt|gpt)-|o\d")
OPENAI_REASONING = re.compile(r"(gpt-[56](?!.*-chat)|o[134](-|$))")
ANTHROPIC_MODEL = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d{1,2})(?!\d))?")
#: The last version of each family that takes a temperature; families that are not here never do.
ANTHROPIC_TEMPERATURE = {"haiku": (4, 5), "sonnet": (4, 6), "opus": (4, 6)}
GOOGLE_THINKING = re.compile(r"gemini-(2\.5|[3-9])")

KNOWN = {
    "openai": """frequency_penalty logit_bias logprobs max_completion_tokens max_tokens messages metadata modalities
        model n presence_penalty prompt_cache_key prompt_cache_retention reasoning_effort response_format
        safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs
        top_p user verbosity""",
    "anthropic": """cache_control container inference_geo max_tokens messages metadata model output_config service_tier
        speed stop_sequences stream system temperature thinking tool_choice tools top_k top_p""",
    "google": """candidateCount frequencyPenalty logprobs maxOutputTokens mediaResolution presencePenalty
        responseJsonSchema responseLogprobs responseMimeType responseModalities responseSchema seed stopSequences
        temperature thinkingConfig topK topP""",
}
KNOWN_FIELDS = {provider: frozenset(names.split()) for provider, names in KNOWN.items()}


def thinks(call: Call) -> bool:
    """Whether the model spends reasoning tokens on this call."""
    if call.provider == "openai":
        return bool(OPENAI_REASONING.match(call.model)) and call.params.get("reasoning_effort") != "none"
    if call.provider == "google":
        config = call.params.get("thinkingConfig", {})
        budget = config.get("thinkingBudget", config.get("thinking_budget"))  # as documented, and as the SDK sends it
        return bool(GOOGLE_THINKING.match(call.model)) and budget != 0
    # The models that lost their temperature are the ones that think without being told to.
    kind = (call.params.get("thinking") or {}).get("type", "disabled" if takes_temperature(call.model) else "adaptive")
    return kind != "disabled"


def takes_temperature(model: str) -> bool:
    """Whether a Claude model still takes a temperature; ids of another form (the oldest models) do."""
    found = ANTHROPIC_MODEL.match(model)
    if not found:
        return True
    family, major, minor = found.groups()
    return (int(major), int(minor or 0)) <= ANTHROPIC_TEMPERATURE.get(family, (0, 0))


def refusal(call: Call, body: Mapping[str, Any]) -> str | None:
    """Why the service answers 400 to a body, or None where it takes it."""
    given = body.get("generationConfig", {}) if call.provider == "google" else body
    unknown = sorted(set(given) - KNOWN_FIELDS[call.provider])
    if unknown and (call.provider != "openai" or OPENAI_MODEL.match(call.model)):
        return f"Unknown field: {', '.join(unknown)}."
    if not isinstance(call.limit, int | None) or (call.limit is not None and call.limit < 1):
        return f"The token limit has to be a positive integer, not {call.limit!r}."
    if call.provider == "openai" and OPENAI_REASONING.match(call.model):
        if "max_tokens" in body:
            return "Unsupported parameter: this model takes 'max_completion_tokens', not 'max_tokens'."
        if body.get("temperature", 1) != 1:
            return "Unsupported value: this model takes no 'temperature' but 1."
    if call.provider == "anthropic":
        if call.limit is None:
            return "max_tokens: field required"
        sampling = sorted({"temperature", "top_p", "top_k"} & set(body))
        if sampling and not takes_temperature(call.model):
            return f"{', '.join(sampling)}: not taken by this model"
    return _open_object(call.schema, call.provider == "openai") if call.schema and call.provider != "google" else None


def _open_object(schema: Any, strict: bool, path: str = "$") -> str | None:
    """The first object of a schema that is not closed; in a strict one every property has to be required too."""
    if isinstance(schema, list):
        return next((found for part in schema if (found := _open_object(part, strict, path))), None)
    if not isinstance(schema, dict):
        return None
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return f"Invalid schema at {path}: 'additionalProperties' has to be false."
        missing = sorted(set(schema.get("properties", {})) - set(schema.get("required", ())))
        if strict and missing:
            return f"Invalid schema at {path}: 'required' lacks {', '.join(missing)}."
    parts = ((part, f"{path}.{name}") for name, part in schema.items())
    return next((found for part, place in parts if (found := _open_object(part, strict, place))), None)
