"""What a server's answer means: what failed (the table of meanings.toml), how long to wait, how much it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..paths import load_table
from ..services import SERVICES
from ..types import Model
from .keys import causes, key_variables, redact, redacted

#: Of a body that is no reply so many characters are kept.
MOST_KEPT = 2**17
#: A rate limit is waited for however often it comes, until a call has met it for so long; then it is left to the next
#: run. Seconds.
PATIENCE = 1800.0
#: The status of a server that has too much to do; also as a body names it, whatever its own status is.
OVERLOADED = 529
#: Nobody waits longer for a service at a time, whatever it says, in seconds: a wrong header must not stall a run.
LONGEST_PAUSE = 120.0
#: A service's clock may differ from ours by this much, in seconds, before its own `Date` is believed.
CLOCK_SKEW = 2.0
#: Google says in the body how long to wait.
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+)s"')
PART = re.compile(r"(\d+(?:\.\d*)?)(ms|[smhd]|\Z)")
DURATION = re.compile(rf"-?(?:{PART.pattern})+")
SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True)
class Kind:
    """What becomes of a call that ended so, and of its model or address: see meanings.toml."""

    repeats: int = 0
    billed: bool = False
    server: bool = False
    objects: bool = False
    stops: bool = False
    advice: str = ""


@dataclass(eq=False, repr=False)
class Failure(Exception):
    """One attempt that brought no reply, without keys; `status` is a kind of meanings.toml, `raw` the body.

    `odd_wait` are words about a wait that are not followed, `hint` selects the advice, `billed`: it may have been
    (None: as its kind), `slows`: the address gets fewer calls at once, `base`: the `base_url` of a redirect's target.
    """

    status: str
    error: str
    retry_after: float | None = None
    raw: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    odd_wait: str | None = None
    hint: str = ""
    billed: bool | None = None
    slows: bool = False
    base: str = ""

    def __post_init__(self) -> None:
        """Strike keys out before anything is shortened: half a key is still half a key."""
        said = redact(self.error)
        super().__init__(f"{self.status}: {said}")
        self.error, self.raw = said[:300], redact(self.raw)[:MOST_KEPT]
        self.billed = self.kind.billed if self.billed is None else self.billed
        self.slows = self.slows or self.status == "rate_limited"

    @property
    def kind(self) -> Kind:
        """What becomes of the call, and of its model or address."""
        return kind_of(self.status)


@cache
def _table() -> dict[str, Any]:
    table = load_table("providers/meanings.toml")
    for name in ("certain", "refused", "every_call"):
        table["content"][name] = re.compile("|".join(table["content"][name]), re.IGNORECASE)
    table["finishes"] = {_bare(word): finish for finish, words in table["finishes"].items() for word in words}
    names = {_bare(word): int(code) for code, words in table["names"].items() for word in words}
    table["names"] = {name: names[name] for name in sorted(names, key=len, reverse=True)}  # the longest says most
    return table


def _bare(word: str) -> str:
    return re.sub(r"[\s_-]", "", word).casefold()


@cache
def kind_of(status: str) -> Kind:
    """What becomes of a call that ended so; a status that is not in the table is not repeated."""
    return Kind(**_table()["kinds"].get(status, {}))


def finish_of(reason: Any) -> Any:
    """How a reply ended (stop, length, filter, refusal, error); a reason that is not in the table as it is.

    >>> finish_of("EOS-token"), finish_of("tool_calls"), finish_of(None)
    ('stop', 'tool_calls', None)
    """
    return _table()["finishes"].get(_bare(reason), reason) if isinstance(reason, str) else reason


def classify(error: Exception, wall: float) -> Failure:
    """The failure in an exception of an SDK or the transport; any other is raised again, without keys.

    The status counts first, then the kind of transport error by name; aiohttp's own error counts more than its wrapper.
    """
    links = causes(error)
    if (ours := next((link for link in links if isinstance(link, Failure)), None)) is not None:
        return ours
    below = [link for link in links if type(link).__module__.startswith("aiohttp")]
    code = getattr(error, "status_code", None) or getattr(error, "code", None)
    if isinstance(code, int) and error not in below:
        return _by_status(code, error, wall)
    if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
        return Failure("bad_envelope", f"what came is no JSON ({error})")
    names = {kind.__name__ for link in below or links for kind in type(link).__mro__}
    for status, exceptions in _table()["exceptions"].items():
        if names & set(exceptions):
            return Failure(status, str(error) or "the connection broke or fell silent")
    clean = redacted(error)
    if clean is error:
        raise error
    raise clean from None  # what it was raised from would be shown with it


def _by_status(code: int, error: Exception, wall: float) -> Failure:
    response = getattr(error, "response", None)
    headers, body = getattr(response, "headers", None) or {}, getattr(response, "text", "")
    if not 300 <= code < 400:
        return _failure(code, str(error), body, headers, wall)
    target, base = headers.get("location", ""), ""
    with suppress(ValueError):  # of an address that is none
        target = target and urljoin(str(getattr(getattr(response, "request", None), "url", "")), target)
        base = _base_of(target)
    return _failure(code, f"HTTP {code}, a redirect to {target or 'no address'}", body, headers, wall, base=base)


def _base_of(target: str) -> str:
    """The `base_url` with which a call goes to an address; "" for an address of no call, or with a key.

    >>> _base_of("https://api.x.com/v2/chat/completions?from=/v1"), _base_of("https://x.com/login")
    ('https://api.x.com/v2', '')
    """
    parts = urlsplit(target)
    call, host = re.search(_table()["calls"], parts.path), parts.netloc.rpartition("@")[2]
    base = f"{parts.scheme}://{host}{parts.path[: call.start()]}" if call and host else ""
    return base if parts.scheme in ("http", "https") and redact(base) == base else ""


def _failure(code: int, said: str, body: str, headers: Mapping[str, str], wall: float, **more: Any) -> Failure:
    status, error = status_of(code, body), _error_in(_loads(body))
    wait, odd = retry_after(headers, body, wall)
    hint = _hint_of(error, said) if status == "bad_request" else ""
    more |= {"slows": OVERLOADED in (code, _code_of(error))}
    return Failure(status, said, wait, body, headers, odd, hint, **more)


def status_of(code: int, body: str) -> str:
    """The kind of an error by its status and its body."""
    table, named = _table(), _code_of(_error_in(_loads(body)))
    if (named in (429, 529) and (code in (400, 403) or code >= 500)) or (named == 402 and code in (400, 403, 429)):
        code = named
    for status, said in table["words"].items():
        if code in said["statuses"] and any(word in body for word in said["words"]):
            return status
    if code in table["content"]["statuses"] and refuses_content(body):
        return "filtered"
    other = "provider_error" if code >= 500 else "redirect" if code < 400 else "bad_request"
    return table["statuses"].get(str(code), other)


def failure_in(raw: str, headers: Mapping[str, str], wall: float) -> Failure | None:
    """The error that a body holds in the place of a reply, or beside a part of one; None where it holds none."""
    body = _loads(raw)
    if not (error := _error_in(body)):
        return None
    code = _code_of(error) or (400 if refuses_content(json.dumps(error)) else 500)
    said = next((error[name] for name in ("message", "detail", "msg", "title", "error") if error.get(name)), error)
    parted = bool(isinstance(body, dict) and body.get("choices"))  # what came of a reply may have been billed
    return _failure(code, str(said), raw, headers, wall, billed=parted or None)


def unreadable(raw: str) -> Failure:
    """What a body is that holds neither a reply nor an error."""
    text, body = raw.lstrip("\ufeff \r\n\t"), _loads(raw)
    said, hint = "JSON of another form", ""
    if body is None:
        form = next(each for each in _table()["no_json"] if re.match(each["begins"], text))
        said, hint = form["says"], form.get("hint", "")
    elif isinstance(body, dict) and body.keys() & set(_table()["reply_fields"]):
        empty = [name for name in ("choices", "candidates", "content") if name in body and not body[name]]
        said = f"the list of {empty[0]} in the reply is empty" if empty else "no text in the reply where it should be"
        hint = "shape"
    return Failure("bad_envelope", said, raw=raw, hint=hint)


def _loads(raw: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(raw)
    return None


def _first(value: Any) -> Any:
    """The first of a list that holds any; anything else as it is."""
    return value[0] if isinstance(value, list) and value else value


def _error_in(body: Any) -> dict[str, Any]:
    """The error that a body tells of, wherever services put it; empty where there is none."""
    body = _first(body)
    if not isinstance(body, dict):
        return {}
    choice = _first(body.get("choices"))
    for error in (body.get("error"), choice.get("error") if isinstance(choice, dict) else None, body.get("errors")):
        if (error := _first(error)) and isinstance(error, str | dict):
            # Some services say the reason in a text and its code beside it.
            return error if isinstance(error, dict) else {**body, "choices": None, "message": error}
    flat = body.keys().isdisjoint(_table()["reply_fields"]) and {"message", "detail", "title", "msg"} & body.keys()
    marked = "error" in (body.get("object"), body.get("type")) or {"code", "status", "detail"} & body.keys()
    return body if flat and marked else {}


def _code_of(error: Mapping[str, Any]) -> int | None:
    """The HTTP status that an error in a body names, by number or else by name; None where it names none."""
    values = [str(error.get(name)) for name in ("code", "status", "status_code", "statusCode", "type", "reason")]
    numbers = [int(value) for value in values if re.fullmatch(r"[45]\d\d", value)]
    names = [code for value in values for name, code in _table()["names"].items() if name in _bare(value)]
    return next(iter(numbers + names), None)


def _hint_of(error: Mapping[str, Any], said: str) -> str:
    """Which hint of the table a bad request gives, by the parameter that it names or else by its words."""
    words = {name: hint["words"] for name, hint in _table()["hints"].items() if "words" in hint}
    param = error.get("param")
    texts = {name: param if isinstance(param, str) and name != "context" else said for name in words}
    return next((name for name in words if re.search(words[name], texts[name], re.IGNORECASE)), "")


def refuses_content(body: str) -> bool:
    """Whether an error in JSON says that a prompt was refused for its content.

    >>> refuses_content('{"error": {"code": "content_filter", "message": "Stopped by the content management policy"}}')
    True
    >>> refuses_content('{"error": {"message": "Requests with this API key are blocked"}}'), refuses_content("<html>")
    (False, False)
    """
    content = _table()["content"]
    why = "\n".join(_reasons(_loads(body), content))
    refused = content["refused"].search(why) and not content["every_call"].search(why)
    return bool(refused or content["certain"].search(why))


def _reasons(error: object, content: Mapping[str, Any]) -> Iterator[str]:
    """The texts of an error's fields that give a reason, at any depth except in the request that it returns."""
    parts = [error]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            yield from (text for name, text in part.items() if name in content["reasons"] and isinstance(text, str))
            parts += [below for name, below in part.items() if name not in content["echoes"]]
        elif isinstance(part, list):
            parts += part


def advice(model: Model, failure: Failure) -> str:
    """What went wrong for good, what to do, and what the service said."""
    variables, hint = " or ".join(key_variables(model)), failure.hint
    if failure.status in ("auth", "forbidden") and not variables:
        hint = "keyless"
    if failure.status == "not_found" and model.base_url:
        hint = "not_found_at_url"
    if failure.status == "connect" and model.servers:
        hint = "no_server"
    if failure.base and failure.base != (model.base_url or "").rstrip("/"):
        hint = "moved"
    text = _table()["hints"][hint]["advice"] if hint else failure.kind.advice
    body = " ".join(failure.raw[:200].split()) or "nothing"
    facts = {"variables": variables, "servers": ", ".join(model.servers), "minutes": PATIENCE / 60, "body": body}
    facts["address"] = model.base_url or model.provider
    facts["place"] = model.base_url or f"the address of {model.provider}"
    return f"{text.format(model=model, base=failure.base, **facts)} ({failure.error})"


def note_on(name: str, model: Model, words: str) -> str:
    """What a note of the table says about a model's address."""
    facts = {"address": model.base_url or model.provider, "seconds": LONGEST_PAUSE, "words": words}
    return _table()["notes"][name].format(model=model, **facts)


# --- waits and limits -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """One limit as a service told it: `remaining` of `limit` are left, and all of them are back in `seconds`."""

    limit: float
    remaining: float
    seconds: float


def retry_after(headers: Mapping[str, str], body: str, wall: float) -> tuple[float | None, str | None]:
    """How long a service asks us to wait, and its words where they are not followed.

    From `retry-after-ms`, `retry-after` (a number, duration or date) or Google's `retryDelay`; None without any.
    What is longer than LONGEST_PAUSE or unreadable is LONGEST_PAUSE, with the words.

    >>> retry_after({"retry-after": "7"}, "", 0.0), retry_after({"retry-after": "soon"}, "", 0.0)
    ((7.0, None), (120.0, 'Retry-After: soon'))
    """
    delay = RETRY_DELAY.search(body)
    for name, words, unit in (
        ("retry-after-ms", headers.get("retry-after-ms"), "ms"),
        ("Retry-After", headers.get("retry-after"), ""),
        ("retryDelay", delay and delay[1], ""),
    ):
        if words is not None:
            seconds = _seconds(words.strip() + unit, headers, wall)
            if seconds is None or seconds > LONGEST_PAUSE:
                return LONGEST_PAUSE, f"{name}: {words.strip()[:60]}"
            return max(seconds, 0.0), None
    return None, None


def told_limits(headers: Mapping[str, str], wall: float) -> dict[str, Told]:
    """The limits that a reply's headers state in full, by what they count: requests, tokens, input or output tokens."""
    found: dict[str, Told] = {}
    for counted, header in ((counted, each) for one in SERVICES.values() for counted, each in one.limits.items()):
        names = (header.format(part) for part in ("limit", "remaining", "reset"))
        limit, left, seconds = (_seconds(headers.get(name), headers, wall) for name in names)
        if limit is not None and limit > 0 and left is not None and seconds is not None:
            found[counted] = Told(limit, min(max(left, 0.0), limit), min(max(seconds, 0.0), LONGEST_PAUSE))
    return found


def _seconds(text: str | None, headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds from now: a number, a duration (1m30s), an HTTP date or an ISO time by the service's clock; else None."""
    if text is None:
        return None
    if DURATION.fullmatch(text := text.strip()):
        seconds = sum(float(value) * SECONDS[unit] for value, unit in PART.findall(text))
        return -seconds if text.startswith("-") else seconds
    moment, theirs = _moment(text), _moment(headers.get("date", ""))
    if moment is None:
        return None
    return moment - (wall if theirs is None or abs(theirs - wall) <= CLOCK_SKEW else theirs)


def _moment(text: str) -> float | None:
    """A date of HTTP or ISO in seconds since 1970."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError):
            moment = read(text.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
