"""How each provider says that something went wrong: statuses, headers and bodies."""

from __future__ import annotations

import json
from typing import Any

from tests.servers.behaviours import Call, Fault

REQUEST_ID = {"openai": "x-request-id", "anthropic": "request-id"}

#: kind -> (Anthropic's type, Google's status).
NAMES = {
    "400": ("invalid_request_error", "INVALID_ARGUMENT"),
    "401": ("authentication_error", "UNAUTHENTICATED"),
    "402": ("billing_error", "FAILED_PRECONDITION"),
    "403": ("permission_error", "PERMISSION_DENIED"),
    "404": ("not_found_error", "NOT_FOUND"),
    "409": ("conflict_error", "ABORTED"),
    "413": ("request_too_large", "INVALID_ARGUMENT"),
    "429": ("rate_limit_error", "RESOURCE_EXHAUSTED"),
    "500": ("api_error", "INTERNAL"),
    "503": ("api_error", "UNAVAILABLE"),
    "504": ("timeout_error", "DEADLINE_EXCEEDED"),
    "529": ("overloaded_error", "UNAVAILABLE"),
}
#: The services differ in what they call a wrong key and an empty account.
SPECIAL_STATUS = {
    "quota": {"openai": "429", "anthropic": "400", "google": "429"},
    "key": {"openai": "401", "anthropic": "401", "google": "400"},
}
OPENAI_TYPES = {"429": "requests", "quota": "insufficient_quota", "500": "server_error", "503": "server_error"}
OPENAI_CODES = {"429": "rate_limit_exceeded", "quota": "insufficient_quota", "404": "model_not_found"}
OPENAI_CODES |= dict.fromkeys(("401", "key"), "invalid_api_key")
GATEWAY = "<html><head><title>{0}</title></head><body><center><h1>{0} Bad gateway</h1></center></body></html>"


def write_fault(call: Call, fault: Fault, key: str) -> tuple[int, str, dict[str, str]]:
    """Status, body and headers of a fault that is said in words; 502 and 504 come from a gateway, in HTML.

    The texts for a wrong key hold the whole key: a worse case than any service, to test that nobody keeps it.
    """
    kind, provider = fault.kind, call.provider
    code = SPECIAL_STATUS.get(kind, {}).get(provider, kind)
    headers = {"Content-Type": fault.content_type, **fault.headers}
    if provider in REQUEST_ID:
        headers[REQUEST_ID[provider]] = f"req_{call.n:08x}"
    if fault.retry_after is not None and fault.header:
        headers["Retry-After"] = f"{fault.retry_after:g}"
    if fault.body is not None:
        return int(code), fault.body, headers
    if code in ("502", "504"):
        return int(code), GATEWAY.format(code), {**headers, "Content-Type": "text/html"}
    return int(code), json.dumps(_envelope(call, fault, code, fault.message or _message(call, kind, key))), headers


def _message(call: Call, kind: str, key: str) -> str:
    said = {
        "key": f"This API key is not valid: {key}.",
        "401": f"This API key is not valid: {key}.",
        "404": f"The model {call.model} does not exist or is not open to you.",
        "429": "Too many requests in this minute.",
        "quota": "The quota of this account is used up; see plan and billing.",
        "503": "The service is not available at the moment.",
        "529": "Overloaded.",
    }
    if (kind, call.provider) == ("quota", "anthropic"):
        return "Your credit balance is too low for this API."
    if (kind, call.provider) == ("429", "google"):  # a passing limit, but said in the words of an empty account
        return "You exceeded your current quota. Check your plan and billing details."
    return said.get(kind, f"The request failed with {kind}.")


def _envelope(call: Call, fault: Fault, code: str, message: str) -> dict[str, Any]:
    anthropic, google = NAMES.get(code, ("api_error", "UNKNOWN"))
    if call.provider == "openai":
        type_ = OPENAI_TYPES.get(fault.kind, "invalid_request_error")
        error = {"message": message, "type": type_, "param": None, "code": OPENAI_CODES.get(fault.kind)}
        return {"error": error}
    if call.provider == "anthropic":
        error = {"type": anthropic, "message": message}
        return {"type": "error", "error": error, "request_id": f"req_{call.n:08x}"}
    details: list[dict[str, Any]] = []
    if fault.kind in ("429", "quota"):
        period = "PerDay" if fault.kind == "quota" else "PerMinute"
        violation = {"quotaId": f"GenerateRequests{period}PerProjectPerModel", "quotaDimensions": {"model": call.model}}
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]})
    if fault.kind == "key":
        details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"})
    if fault.retry_after is not None:
        delay = f"{fault.retry_after:g}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    error = {"code": int(code), "message": message, "status": google}
    return {"error": error | ({"details": details} if details else {})}
