"""What services say of time and of their limits: how long to wait, and how much may still be asked."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from helpers.services import SERVICES

#: Nobody waits longer for a service at a time, whatever it says, in seconds: a wrong header must not stall a run.
LONGEST_PAUSE = 120.0
#: A service's clock may differ from ours by this much, in seconds, before its own `Date` is believed.
CLOCK_SKEW = 2.0
#: Google says in the body how long to wait.
RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([0-9.]+)s"')
DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: Headers of a limit by what it counts: how many, how many are left, when all are back. Any service may tell any.
PARTS = ("limit", "remaining", "reset")
LIMITS = {
    counted: [
        [limits[counted].format(part) for part in PARTS]
        for limits in (service.limits for service in SERVICES.values())
        if counted in limits
    ]
    for counted in ("requests", "tokens", "input", "output")
}
LIMIT_NAMES = frozenset(name for several in LIMITS.values() for names in several for name in names)


@dataclass(frozen=True)
class Told:
    """One limit as a service told it: `remaining` of `limit` are left, and all of them are back in `seconds`."""

    limit: float
    remaining: float
    seconds: float


def retry_after(headers: Mapping[str, str], body: str, wall: float) -> tuple[float | None, str | None]:
    """How long a service asks us to wait, and its words where they are not followed.

    Seconds, milliseconds (`retry-after-ms`), an HTTP date, or Google's `retryDelay` in the body; None where nothing
    is said. What is longer than LONGEST_PAUSE or cannot be read is LONGEST_PAUSE, and the words are returned.
    `wall` is our own time in seconds since 1970.

    >>> retry_after({"retry-after": "7"}, "", 0.0), retry_after({"retry-after": "soon"}, "", 0.0)
    ((7.0, None), (120.0, 'Retry-After: soon'))
    """
    name, after = "retry-after-ms", headers.get("retry-after-ms")
    if after is None or _number(after) is None:
        name, after = "Retry-After", headers.get("retry-after")
    if after is None:
        found = RETRY_DELAY.search(body)
        name, after = "retryDelay", found and found[1]
    if after is None:
        return None, None
    seconds = _number(after)
    if seconds is None:
        moment = _http_date(after)
        seconds = math.inf if moment is None else moment - _their_time(headers, wall)
    elif name == "retry-after-ms":
        seconds /= 1000
    if seconds > LONGEST_PAUSE:
        return LONGEST_PAUSE, f"{name}: {after.strip()[:60]}"
    return max(seconds, 0.0), None


def told_limits(headers: Mapping[str, str], wall: float) -> dict[str, Told]:
    """The limits that a reply's headers tell, by what they count: requests, tokens, input or output tokens.

    A limit that is not told whole, or not in numbers, is left out: nothing is concluded from it. `wall` is our own
    time in seconds since 1970.
    """
    found: dict[str, Told] = {}
    if LIMIT_NAMES.isdisjoint(map(str.lower, headers)):  # of an error they can be in any case
        return found
    for counted, names in LIMITS.items():
        for limit, remaining, reset in names:
            size, left = _number(headers.get(limit)), _number(headers.get(remaining))
            seconds = _until(headers.get(reset), headers, wall)
            if size is not None and size > 0 and left is not None and seconds is not None:
                found[counted] = Told(size, min(max(left, 0.0), size), min(max(seconds, 0.0), LONGEST_PAUSE))
    return found


def _number(text: str | None) -> float | None:
    """A finite number, else None."""
    try:
        value = float(text) if text is not None else math.nan
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _until(text: str | None, headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds until a reset: a duration as OpenAI writes it (6m0s, 17ms), seconds, or a time as Anthropic does."""
    if text is None or (seconds := _number(text)) is not None:
        return None if text is None else seconds
    if DURATION.fullmatch(text.strip()):
        return sum(float(value) * SECONDS[unit] for value, unit in re.findall(r"([\d.]+)(ms|[smhd])", text))
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - _their_time(headers, wall)


def _http_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


def _their_time(headers: Mapping[str, str], wall: float) -> float:
    """What time it is by the service's clock, against which its dates have to be read."""
    theirs = _http_date(headers.get("date") or "")
    return wall if theirs is None or abs(theirs - wall) <= CLOCK_SKEW else theirs
