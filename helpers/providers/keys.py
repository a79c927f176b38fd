"""Keys stay in the environment: which values are secret, the forms in which they turn up, and text without them.

A secret is the value of a variable that holds a key (`declare`) or whose name says so, and the password in any
variable that is an address. Shorter than SHORTEST it is none, nor is it where it is a plain word or two, a number or a
path that exists: striking those out would spoil ordinary text. What looks like a key by a known beginning is struck
out wherever it comes from.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote, quote_plus, unquote

from helpers.providers.causes import causes

SHORTEST = 8
#: Words in a variable's name that make its value a secret, alone or as the end of a longer word (APIKEY).
SECRET_ENDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS")
SECRET_WORDS = {"PASS", "AUTH", "CRED", "CREDS", "PAT", "JWT", "PW"}
#: Last words of a name that is about a secret and holds none: GITHUB_TOKEN_FILE, SSH_AUTH_SOCK.
ABOUT = {"FILE", "PATH", "DIR", "SOCK", "SOCKET", "HOST", "PORT", "USER", "USERNAME", "NAME", "TYPE", "METHOD", "MODE"}
ABOUT |= {"PROVIDER", "STORE", "BACKEND", "REGION", "TTL", "EXPIRY", "LENGTH", "SIZE", "LIMIT", "COUNT"}
#: Values in which nothing can be told from ordinary text: up to three words of letters; numbers, dates, versions.
_WORD = "(?:[a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13})"
PLAIN = re.compile(rf"{_WORD}(?:[ ._-]{_WORD}){{0,2}}|[\d .,:_/+-]{{1,15}}")
PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)

#: How keys of services begin. In JSON an escaped line end may stand right before.
PREFIXES = ("sk-", "AIza", "hf_", "gsk_", "xai-", "r8_")
_START = r"(?:(?<![\w+/-])|(?<=\\[nrtbf]))"
KEY_LIKE = re.compile(
    rf"{_START}(?:(?:sk-|AIza|hf_|gsk_|xai-|r8_)(?:[\w-]{{2,}}[*•·]{{3,}}[\w-]*|[*•·]{{3,}}[\w-]{{4,}})"
    r"|sk-(?=[\w-]*\d)(?=[\w-]*[A-Za-z0-9]{16})[\w-]+|AIza[\w-]{8,}"
    r"|(?:hf_|gsk_|xai-|r8_)(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,})"
)
HEADERS = ("bearer", "api-key", "authorization")
HEADER = re.compile(
    r"""((?:authorization|x-api-key|x-goog-api-key|api-key)["'\\]*\s{0,3}[:=,]\s{0,3}(?:b?["'\\]+)?"""
    r"(?:bearer |basic |token )?|bearer\s{1,3})(?=[\w.~+/-]*\d)(?=[\w.~+/-]*[a-z])[\w.~+/-]{16,}={0,2}",
    re.IGNORECASE,
)
#: What services put in the place of the middle of a key when they show which one was wrong.
MASK = re.compile(r"[*•·]{3,}|\.{3,}|…")
MASKS = ("...", "***", "…", "••", "··")
#: What masks and keys by a known beginning are first told by; a text in ASCII cannot hold the others.
SIGNS = (*MASKS, *PREFIXES)
PLAIN_SIGNS = tuple(filter(str.isascii, SIGNS))
#: (form, value, variable) of every form of every secret.
Forms = tuple[tuple[str, str, str], ...]

_declared: set[str] = set()


def declare(names: Iterable[str]) -> None:
    """From now on the values of these variables are keys, whatever the variables are called."""
    _declared.update(names)


def secrets() -> dict[str, str]:
    """Every secret of this environment with the name of its variable."""
    known: dict[str, str] = {}
    for name, value in os.environ.items():
        if name in _declared or _says_secret(name):
            known |= dict.fromkeys(_parts(value), name)
        if "://" in value and (address := PASSWORD.match(value)):
            known |= {each: name for each in (address[1], unquote(address[1])) if _tells(each)}
    return known


def redact(text: str) -> str:
    """The text with `[NAME]` for each secret of the variable NAME and `[key]` for what looks like a key."""
    return struck(text, forms_now())[0]


def finder(like: bool = True) -> Callable[[str], list[str]]:
    """A function that names the variables whose secrets, as they are now, a text holds in any form.

    With `like` also those of which it shows the first and last characters, and "key" for what looks like one.
    """
    forms = forms_now()
    return lambda text: sorted(set(struck(text, forms, like)[1]))


def found(text: str) -> list[str]:
    """What `finder` finds in one text."""
    return finder()(text)


def redact_all(value: Any) -> Any:
    """A structure of mappings, lists and texts without keys; what holds none is the very same object."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        clean = {redact_all(key): redact_all(each) for key, each in value.items()}
        return value if clean == value else clean
    if isinstance(value, list | tuple):
        cleaned = [redact_all(each) for each in value]
        return value if cleaned == list(value) else type(value)(cleaned)
    return value


def redacted(error: Exception) -> Exception:
    """The error itself where neither it nor what caused it tells a key, else one that says the same without."""
    if not any(found(f"{link}\n{link!r}") for link in causes(error)):
        return error
    return RuntimeError(redact(f"{type(error).__name__}: {error}"))


def refuse(parameters: Mapping[str, Any]) -> None:
    """ValueError where a parameter holds a key: parameters are written into the executed notebook."""
    for name, value in parameters.items():
        names = found(f"{name} {value}") or ["key"] * _says_secret(name)
        if names:
            what = " and ".join("what looks like a key" if each == "key" else f"the value of {each}" for each in names)
            raise ValueError(
                f"parameter {redact(name)} holds {what} (not shown): keys are read from environment variables only, "
                "see .env.example. A parameter is written into the report and stands in your shell's history; renew a "
                "key that was given as one"
            )


@lru_cache(maxsize=1024)
def _says_secret(name: str) -> bool:
    if name in ("PWD", "OLDPWD"):
        return False
    words = [word.rstrip("0123456789") for word in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", name)]
    words = [word.upper() for word in words if word]
    return bool(words) and words[-1] not in ABOUT and any(w in SECRET_WORDS or w.endswith(SECRET_ENDS) for w in words)


def _tells(value: str) -> bool:
    return len(value) >= SHORTEST and not PLAIN.fullmatch(value)


@lru_cache(maxsize=1024)
def _parts(value: str) -> tuple[str, ...]:
    """The value without line ends, without the word of its scheme, and its long pieces (a PEM key is many lines)."""
    whole = value.strip()
    if not _tells(whole) or os.path.exists(os.path.expanduser(whole)):
        return ()
    bare = re.sub(r"(?i)^(?:bearer|basic|token)\s+", "", whole)
    pieces = [each for each in re.split(r"[\s\"'{},]+|\\n", whole) if len(each) >= 20]
    pieces = [each for each in pieces if not re.search("://|@|-----", each)]
    return tuple(each for each in dict.fromkeys((whole, bare, *pieces)) if _tells(each))


def forms_now() -> Forms:
    """Every form of every secret of this environment, the longest first."""
    return _forms_of(tuple(secrets().items()))


@lru_cache(maxsize=8)
def _forms_of(known: tuple[tuple[str, str], ...]) -> Forms:
    every = {form: (form, value, name) for value, name in known for form in _forms(value)}
    return tuple(sorted(every.values(), key=lambda each: (-len(each[0]), each[0])))


def _forms(value: str) -> set[str]:
    """How a value is spelled in JSON (twice over too), Python, HTML, LaTeX, addresses and, anywhere in it, base64."""
    forms = {value, value.replace("/", "\\/"), repr(value)[1:-1], html.escape(value), html.escape(value, quote=False)}
    forms |= {"".join(f"\\u{ord(sign):{digits}}" for sign in value) for digits in ("04x", "04X")}
    for _ in range(2):
        forms |= {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)}
    forms |= {form.replace("/", "\\/") for form in forms}  # which JSON may do, and PHP does
    forms.add(re.sub(r"[_#$%&{}]", r"\\\g<0>", value))
    raw = value.encode("utf-8", "surrogateescape")
    quoted = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    forms |= quoted | {re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), each) for each in quoted}
    for shift in range(3):  # what stands before it in the encoded bytes moves it by so much
        coded = base64.b64encode(b"\0" * shift + raw).decode()
        inner = coded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
        forms |= {inner, inner.replace("+", "-").replace("/", "_"), inner.replace("/", "\\/")}
    return forms


def silent(text: str, forms: Forms) -> bool:
    """Whether a text holds nothing that a look for keys begins with: then `struck` leaves it and finds none in it."""
    # Plain loops: a generator takes as long for each of these looks as the look itself.
    lacking = _lacking(text)
    for form, _, _ in forms:
        if lacking not in form and form in text:
            return False
    for sign in PLAIN_SIGNS if text.isascii() else SIGNS:
        if sign in text:
            return False
    low = text.lower()
    return all(word not in low for word in HEADERS)


def _lacking(text: str) -> str:
    """The beginning of escapes that a text lacks."""
    return next((sign for sign in ("\\", "\\u") if sign not in text), "\0")


def struck(text: str, forms: Forms, like: bool = True) -> tuple[str, list[str]]:
    """The text with `[NAME]` and `[key]` for keys, and whose they were; `like`: also what only looks like one.

    The forms are those of `forms_now`.
    """
    # No form with escapes is in a text without any, as most are; to look for these forms takes the longest.
    names, lacking = [], _lacking(text)
    for form, _, name in forms:
        if lacking not in form and form in text:
            text = text.replace(form, f"[{name}]")
            names.append(name)
    if like and forms and any(mask in text for mask in MASKS):
        text, masked = _unmasked(text, {value: name for _, value, name in forms})
        names += masked
    if like and any(prefix in text for prefix in PREFIXES):
        text, count = KEY_LIKE.subn("[key]", text)
        names += ["key"] * bool(count)
    if like and any(word in low for low in [text.lower()] for word in HEADERS):
        text, count = HEADER.subn(r"\g<1>[key]", text)
        names += ["key"] * bool(count)
    return text, names


def _word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] in "-_")


def _unmasked(text: str, values: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text without the first and last characters of a key around a mask: what a service shows of a wrong one."""
    names, done, kept = [], 0, []
    for mask in MASK.finditer(text):
        if mask.start() < done:
            continue
        stars = mask[0][0] in "*•·"
        for value, name in values.items():
            last = next((n for n in range(12, 0, -1) if text.startswith(value[-n:], mask.end())), 0)
            if not stars and last < 4:  # ordinary text has dots after anything
                continue
            first = next((n for n in range(24, 0, -1) if text.endswith(value[:n], done, mask.start())), 0)
            whole = (first or not _word(text, mask.start() - 1)) and (last or not _word(text, mask.end()))
            if whole and first + last >= 4:
                kept += [text[done : mask.start() - first], f"[{name}]"]
                done = mask.end() + last
                names.append(name)
                break
    return "".join([*kept, text[done:]]), names
