"""What went wrong with an attempt, in the words of the retry table: one reading for all SDKs and what lies below."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urljoin

from helpers.providers.causes import causes
from helpers.providers.headers import retry_after
from helpers.providers.keys import redact, redacted

#: An empty account and an unknown key, as the services say them. The status does not tell: both can be a 400, and the
#: passing limit of one service asks to "check your plan and billing details".
EMPTY_ACCOUNT = ("insufficient_quota", "billing_hard_limit", "billing_not_active", "credit balance", "PerDay")
UNKNOWN_KEY = ("API_KEY_INVALID", "API key not valid")
#: Statuses with which services refuse one prompt for its content; the fields of an error that give the reason (others
#: quote the prompt); and the fields that return the request, in which no reason is looked for.
CONTENT_STATUSES = (400, 403, 413, 422)
REASONS = {"code", "detail", "error", "message", "msg", "reason", "status", "title", "type"}
ECHOES = {"body", "ctx", "input", "messages", "request"}
#: Words of a refusal, and words of similar errors that concern every call: of the key, the account, the region, the
#: form of the request, the filter itself. A refusal that is missed costs one call; an error mistaken for one is never
#: retried.
CONTENT = re.compile(
    r"content[\s_-]*(?:filter|guideline|management|moderation|polic|violat)|moderation|flagged|invalid_prompt|guardrail"
    r"|(?:responsible[\s_-]*ai|safety|usage)[\s_-]*(?:check|filter|guideline|polic|system)|prohibited[\s_-]*content"
    r"|content exists risk|data[\s_-]*inspection|high risk|inappropriate|sensitive (?:content|word)|敏感|违规"
    r"|\b(?:completion|content|input|output|prompt)\b.{0,40}\bblocked|\bblocked\b.{0,40}\b(?:content|input|output|prompt)",
    re.IGNORECASE,
)
EVERY_CALL = re.compile(
    r"account|\baccess|\bagree|\baccept|api[\s_-]?key|\bkeys?\b|tokens?\b|billing|budget|payment|\bcards?\b|credential"
    r"|subscri|suspend|terminat|revoke|\bban(?:ned)?\b|\busers? (?:\S+ )?(?:has|have|is|are|was|were)\b"
    r"|organi[sz]ation|permission|countr|location|region|territor|firewall|\bip\b|\bvpn\b|\bbots?\b|automated|traffic"
    r"|referr?er|origin\b|settings|content[\s_-]*(?:length|type)|parameter|\bargument|unknown|unrecogni[sz]|unsupported"
    r"|extra_forbidden|not permitted|validation error|input_value|field required|limit exceeded|rate limit|deprecat"
    r"|deploy|allowed providers|not (?:an? |been )?(?:available|configured|enabled|found|supported)|not exist"
    r"|unavailable|timed? ?out",
    re.IGNORECASE,
)
#: Words of a service whose every content refusal also names a permission and a key.
CERTAIN = re.compile(r"content violates usage guidelines|SAFETY_CHECK_TYPE", re.IGNORECASE)
#: What the transport calls a connection that never stood, so that nothing can have been billed.
NEVER_CONNECTED = {"ClientConnectorError", "ConnectionTimeoutError", "ConnectTimeout", "ConnectError", "PoolTimeout"}
#: What it calls a connection that broke or fell silent after the request was sent.
BROKE = {"ClientError", "TransportError", "APIConnectionError", "TimeoutError", "OSError", "DecodingError"}


#: Of a body that is no reply so many characters are kept.
MOST_KEPT = 2**17


class Failure(Exception):
    """One attempt that brought no reply, in the words of the retry table."""

    def __init__(
        self,
        status: str,
        error: str,
        retry_after: float | None = None,
        raw: str = "",
        request_id: str | None = None,
        headers: Mapping[str, str] | None = None,
        odd_wait: str | None = None,
    ) -> None:
        """`status` is a row of the table, `error` what the provider said, shortened, `raw` the whole of it; no keys.

        `retry_after` are the seconds that the service asks us to wait, `odd_wait` its words where we do not.
        """
        error = redact(error)  # before it is shortened: half a key is still half a key
        super().__init__(f"{status}: {error}")
        self.status, self.error, self.retry_after = status, error[:300], retry_after
        self.raw, self.request_id = redact(raw)[:MOST_KEPT], request_id and redact(request_id)
        self.headers, self.odd_wait = headers or {}, odd_wait


def classify(error: Exception, wall: float | None = None) -> Failure:
    """The row of the retry table for an exception of any of the three SDKs or of the transport below them.

    Status first (`status_code`; google-genai calls it `code`), then the kind of transport error by name. The SDKs wrap
    aiohttp's errors (and ours) and call a line that breaks after the request a failed connection: where aiohttp spoke,
    its word counts. What is no failure of a call is raised again. `wall` is the time by our clock, in seconds since
    1970.
    """
    links = causes(error)
    if (ours := next((link for link in links if isinstance(link, Failure)), None)) is not None:
        return ours
    below = [link for link in links if type(link).__module__.startswith("aiohttp")]
    code = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(code, int) and error not in below:
        return _by_status(code, error, time.time() if wall is None else wall)
    text = str(error) or type(error).__name__
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return Failure("bad_envelope", text)
    names = {kind.__name__ for link in below or links for kind in type(link).__mro__}
    if names & NEVER_CONNECTED:
        return Failure("connect", text)
    if names & BROKE:
        return Failure("maybe_billed", text)
    known = redacted(error)
    if known is error:
        raise error
    raise known from None  # what it was raised from would be told with it


def _by_status(code: int, error: Exception, wall: float) -> Failure:
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    body = getattr(response, "text", "")
    status, told = "bad_request", str(error)
    if 300 <= code < 400:
        status, told = "redirect", f"HTTP {code}, a redirect to {_target(response, headers)}"
    elif code == 402 or (code in (400, 429) and any(word in body for word in EMPTY_ACCOUNT)):
        status = "quota"
    elif code == 401 or (code == 400 and any(word in body for word in UNKNOWN_KEY)):
        status = "auth"
    elif code in CONTENT_STATUSES and _refuses_content(body):
        status = "filtered"
    elif code == 403:
        status = "forbidden"
    elif code == 429:
        status = "rate_limited"
    elif code in (408, 409) or code >= 500:
        status = "provider_error"
    elif code == 404:
        status = "not_found"
    request_id = headers.get("x-request-id") or headers.get("request-id")
    wait, odd = retry_after(headers, body, wall)
    return Failure(status, told, wait, body, request_id, headers, odd)


def _target(response: object, headers: Mapping[str, str]) -> str:
    """The full address that a redirect names, or its header as it stands if that is no address."""
    asked, named = getattr(getattr(response, "request", None), "url", ""), headers.get("location")
    try:
        return "no address" if named is None else urljoin(str(asked), named)
    except ValueError:
        return str(named)


def _refuses_content(body: str) -> bool:
    """Whether an error in JSON says that a prompt was refused for its content; a firewall's page in HTML never does.

    >>> _refuses_content('{"error": {"code": "content_filter", "message": "Stopped by the content management policy"}}')
    True
    >>> _refuses_content('{"error": {"message": "Requests with this API key are blocked"}}'), _refuses_content("<html>")
    (False, False)
    """
    try:
        why = "\n".join(_reasons(json.loads(body)))
    except (ValueError, RecursionError):
        return False
    return bool(CERTAIN.search(why) or (CONTENT.search(why) and not EVERY_CALL.search(why)))


def _reasons(error: object) -> Iterator[str]:
    """The texts of an error's fields that give a reason, at any depth except in the request that it returns."""
    if isinstance(error, dict):
        yield from (text for name, text in error.items() if name in REASONS and isinstance(text, str))
        error = [below for name, below in error.items() if name not in ECHOES]
    for below in error if isinstance(error, list) else ():
        yield from _reasons(below)
