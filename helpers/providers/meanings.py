"""What a server's answer means: what failed (the table of meanings.toml), how long to wait, how much it takes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from types import SimpleNamespace
from typing import Any
from urllib.parse import urljoin, urlsplit

from ..paths import load_table
from ..services import SERVICES
from ..types import Model
from .keys import causes, found, key_variables, redact

#: Waits and bounds of calls, in capitals there.
POLICY = SimpleNamespace(**load_table("providers/policy.toml"))
#: Google says in the body how long to wait.
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+)s"')
PART = re.compile(r"(\d+(?:\.\d*)?)(ms|[smhd]|\Z)")
DURATION = re.compile(rf"-?(?:{PART.pattern})+")
SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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
        text = redact(self.error)
        super().__init__(f"{self.status}: {text}")
        self.error, self.raw = text[:300], redact(self.raw)[: POLICY.MOST_KEPT]
        self.billed = self.kind.billed if self.billed is None else self.billed
        self.slows = self.slows or self.status == "rate_limited"

    @property
    def kind(self) -> SimpleNamespace:
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
def kind_of(status: str) -> SimpleNamespace:
    """What becomes of a call that ended so; a status that is not in the table is not repeated."""
    return SimpleNamespace(**_table()["usual"] | _table()["kinds"].get(status, {}))


def finish_of(reason: Any) -> Any:
    """How a reply ended (stop, length, filter, refusal, error); a reason that is not in the table as it is."""
    return _table()["finishes"].get(_bare(reason), reason) if isinstance(reason, str) else reason


def classify(error: Exception, wall: float) -> Failure:
    """The failure in an exception of an SDK or the transport; any other is raised again, without keys."""
    # The status counts first, then the kind of error by name; aiohttp's own error counts more than its wrapper.
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
            return Failure(status, str((below or links)[0]) or "the connection broke or fell silent")
    if any(found(f"{link}\n{link!r}") for link in links):  # what it was raised from would be shown with it
        raise RuntimeError(redact(f"{type(error).__name__}: {error}")) from None
    raise error


def _by_status(code: int, error: Exception, wall: float) -> Failure:
    response = getattr(error, "response", None)
    headers, body = getattr(response, "headers", None) or {}, getattr(response, "text", "")
    words, base = str(error), ""
    if 300 <= code < 400:
        target = headers.get("location", "")
        with suppress(ValueError):  # of an address that is none
            target = target and urljoin(str(getattr(getattr(response, "request", None), "url", "")), target)
            base = _base_of(target)
        words = f"HTTP {code}, a redirect to {target or 'no address'}"
    return _failure(code, words, body, headers, wall, base=base)


def _base_of(target: str) -> str:
    """The `base_url` with which a call goes to an address; "" for an address of no call, or with a key."""
    parts = urlsplit(target)
    call, host = re.search(_table()["calls"], parts.path), parts.netloc.rpartition("@")[2]
    base = f"{parts.scheme}://{host}{parts.path[: call.start()]}" if call and host else ""
    return base if parts.scheme in ("http", "https") and redact(base) == base else ""


def _failure(code: int, message: str, body: str, headers: Mapping[str, str], wall: float, **more: Any) -> Failure:
    status, error = status_of(code, body), _error_in(_loads(body))
    wait, odd = retry_after(headers, body, wall)
    # The parameter that a refusal names says what is wrong with the request; without one, its words do.
    words = {name: each["words"] for name, each in _table()["hints"].items() if "words" in each}
    param = error.get("param") if isinstance(error.get("param"), str) else message
    texts = {name: message if name == "context" else param for name in words if status == "bad_request"}
    hint = next((name for name in texts if re.search(words[name], texts[name], re.IGNORECASE)), "")
    more |= {"slows": POLICY.OVERLOADED in (code, _code_of(error))}
    return Failure(status, message, wait, body, headers, odd, hint, **more)


def status_of(code: int, body: str) -> str:
    """The kind of an error by its status and its body."""
    table, named = _table(), _code_of(_error_in(_loads(body)))
    if (named in (429, 529) and (code in (400, 403) or code >= 500)) or (named == 402 and code in (400, 403, 429)):
        code = named
    for status, rule in table["words"].items():
        if code in rule["statuses"] and any(word in body for word in rule["words"]):
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
    message = next((error[name] for name in ("message", "detail", "msg", "title", "error") if error.get(name)), error)
    parted = bool(isinstance(body, dict) and body.get("choices"))  # what came of a reply may have been billed
    return _failure(code, str(message), raw, headers, wall, billed=parted or None)


def unreadable(raw: str) -> Failure:
    """What a body is that holds neither a reply nor an error."""
    text, body = raw.lstrip("\ufeff \r\n\t"), _loads(raw)
    fault, hint = "JSON of another form", ""
    if body is None:
        form = next(each for each in _table()["no_json"] if re.match(each["begins"], text))
        fault, hint = form["says"], form.get("hint", "")
    elif isinstance(body, dict) and body.keys() & set(_table()["reply_fields"]):
        empty = [name for name in ("choices", "candidates", "content") if name in body and not body[name]]
        fault = f"the list of {empty[0]} in the reply is empty" if empty else "no text in the reply where it should be"
        hint = "shape"
    return Failure("bad_envelope", fault, raw=raw, hint=hint)


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


def refuses_content(body: str) -> bool:
    """Whether an error in JSON says that a prompt was refused for its content, anywhere but in a request it returns."""
    content, parts, texts = _table()["content"], [_loads(body)], list[str]()
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            texts += [text for name, text in part.items() if name in content["reasons"] and isinstance(text, str)]
            parts += [below for name, below in part.items() if name not in content["echoes"]]
        elif isinstance(part, list):
            parts += part
    why = "\n".join(texts)
    refused = content["refused"].search(why) and not content["every_call"].search(why)
    return bool(refused or content["certain"].search(why))


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
    facts = {"address": model.base_url or model.provider, "base": failure.base, "body": body, "variables": variables}
    facts |= {"servers": ", ".join(model.servers), "minutes": POLICY.PATIENCE / 60}
    return f"{text.format(model=model, **facts)} ({failure.error})"


def note_on(name: str, model: Model, words: str) -> str:
    """What a note of the table says about a model's address."""
    facts = {"address": model.base_url or model.provider, "seconds": POLICY.LONGEST_PAUSE, "words": words}
    return _table()["notes"][name].format(model=model, **facts)


@dataclass(frozen=True)
class Quota:
    """One limit as a service told it: `remaining` of `limit` are left, and all of them are back in `seconds`."""

    limit: float
    remaining: float
    seconds: float


def retry_after(headers: Mapping[str, str], body: str, wall: float) -> tuple[float | None, str | None]:
    """How long a service asks us to wait (LONGEST_PAUSE at most), and its words where they are not followed."""
    delay = RETRY_DELAY.search(body)
    for name, words, unit in (
        ("retry-after-ms", headers.get("retry-after-ms"), "ms"),
        ("Retry-After", headers.get("retry-after"), ""),
        ("retryDelay", delay[1] if delay else None, ""),
    ):
        if words is not None:
            seconds = _seconds(words.strip() + unit, headers, wall)
            if seconds is None or seconds > POLICY.LONGEST_PAUSE:
                return POLICY.LONGEST_PAUSE, f"{name}: {words.strip()[:60]}"
            return max(seconds, 0.0), None
    return None, None


def read_limits(headers: Mapping[str, str], wall: float) -> dict[str, Quota]:
    """The limits that a reply's headers state in full, by what they count: requests, tokens, input or output tokens."""
    found: dict[str, Quota] = {}
    for counted, names in [each for service in SERVICES.values() for each in service.limits.items()]:
        limit, left, seconds = (_seconds(headers.get(name), headers, wall) for name in names)
        if limit is not None and limit > 0 and left is not None and seconds is not None:
            found[counted] = Quota(limit, min(max(left, 0.0), limit), min(max(seconds, 0.0), POLICY.LONGEST_PAUSE))
    return found


def _seconds(text: str | None, headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds from now: a number, a duration (1m30s), an HTTP date or an ISO time by the service's clock; else None."""
    if text is None:
        return None
    if DURATION.fullmatch(text := text.strip()):
        seconds = sum(float(value) * SECONDS[unit] for value, unit in PART.findall(text))
        return -seconds if text.startswith("-") else seconds
    moment, theirs = _moment(text), _moment(headers.get("date", "")) or wall
    return None if moment is None else moment - (wall if abs(theirs - wall) <= POLICY.CLOCK_SKEW else theirs)


def _moment(text: str) -> float | None:
    """A date of HTTP or ISO in seconds since 1970."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError):
            moment = read(text.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None
