"""Keys stay in the environment: which variables hold secrets, and text without them in whatever spelling.

A secret is the value of a variable that holds a key (`declare`) or whose name says so, and the password in any
variable that is an address. Shorter than SHORTEST it is none, nor is it where it is a plain word or two, a number or a
path that exists: striking those out would spoil ordinary text. What looks like a key by a known beginning is struck
out wherever it comes from. `strike` and `recuse check` share one list of spellings (`needles_of` and `decode`).
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

from helpers.services import SERVICES
from helpers.types import Model

SHORTEST = 8
#: So many consecutive characters of a key give it away; shorter keys, and texts with blanks in them, only as a whole.
RUN = 16
#: Of any RUN characters in a text so many begin where a multiple of their number does.
GRAM = RUN // 2
#: Words in a variable's name that make its value a secret, alone or as the end of a longer word (APIKEY).
SECRET_ENDS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PWD", "CREDENTIAL", "CREDENTIALS")
SECRET_WORDS = {"PASS", "AUTH", "CRED", "CREDS", "PAT", "JWT", "PW"}
#: Last words of a name that is about a secret and holds none: GITHUB_TOKEN_FILE, SSH_AUTH_SOCK.
ABOUT = {"FILE", "PATH", "DIR", "SOCK", "SOCKET", "HOST", "PORT", "USER", "USERNAME", "NAME", "TYPE", "METHOD", "MODE"}
ABOUT |= {"PROVIDER", "STORE", "BACKEND", "REGION", "TTL", "EXPIRY", "LENGTH", "SIZE", "LIMIT", "COUNT"}
#: Values that cannot be distinguished from ordinary text: up to three words of letters; numbers, dates, versions.
_WORD = "(?:[a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13})"
PLAIN = re.compile(rf"{_WORD}(?:[ ._-]{_WORD}){{0,2}}|[\d .,:_/+-]{{1,15}}")
PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)

#: How keys of services begin. In JSON an escaped line end may stand right before.
_START = r"(?:(?<![\w+/-])|(?<=\\[nrtbf]))"
KEY_LIKE = re.compile(
    rf"{_START}(?:(?:sk-|AIza|hf_|gsk_|xai-|r8_)(?:[\w-]{{2,}}[*•·]{{3,}}[\w-]*|[*•·]{{3,}}[\w-]{{4,}})"
    r"|sk-(?=[\w-]*\d)(?=[\w-]*[A-Za-z0-9]{16})[\w-]+|AIza[\w-]{8,}"
    r"|(?:hf_|gsk_|xai-|r8_)(?=[A-Za-z0-9]*\d)[A-Za-z0-9]{20,})"
)
HEADER = re.compile(
    r"""((?:authorization|x-api-key|x-goog-api-key|api-key)["'\\]*\s{0,3}[:=,]\s{0,3}(?:b?["'\\]+)?"""
    r"(?:bearer |basic |token )?|bearer\s{1,3})(?=[\w.~+/-]*\d)(?=[\w.~+/-]*[a-z])[\w.~+/-]{16,}={0,2}",
    re.IGNORECASE,
)
#: What services put in the place of the middle of a key when they show which one was wrong.
MASK = re.compile(r"[*•·]{3,}|\.{3,}|…")
#: A character as programs escape it: JSON, Python, LaTeX (any number of backslashes), addresses, HTML.
ESCAPE = re.compile(
    r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))?|%([0-9a-fA-F]{2})|(&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,8});)",
    re.DOTALL,
)
UNICODE = re.compile(r"\\+(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2}))")
CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
#: Signs in lower case, without which these patterns are not looked for: most texts have none.
LIKE = (
    (("sk-", "aiza", "hf_", "gsk_", "xai-", "r8_"), KEY_LIKE, "[key]"),
    (("bearer", "api-key", "authorization"), HEADER, r"\g<1>[key]"),
)
MASKS = ("...", "***", "…", "••", "··")
#: How often a text is decoded at most: JSON in an address in HTML in JSON.
DEEPEST = 4

_declared: set[str] = set()


# --- the environment --------------------------------------------------------------------------------------------------


def key_variables(model: Model) -> tuple[str, ...]:
    """The variables that may hold a model's key; none for a `base_url` that names none in `api_key_env`.

    So a provider's key is never sent to somebody else's address.
    """
    if model.api_key_env:
        names = (model.api_key_env,)
    else:
        names = SERVICES[model.provider].keys if model.provider in SERVICES and not model.base_url else ()
    declare(names)
    return names


def key_of(model: Model) -> str | None:
    """The API key of a model from the environment; None where a variable is needed and not set."""
    names = key_variables(model)
    if model.base_url and not names:
        return "not-needed"  # own servers ask for none, the SDKs insist on one
    # A line end copied with a key is no part of it, and no header can hold one.
    return next((value for name in names if (value := os.environ.get(name, "").strip())), None)


def missing_keys(models: Iterable[Model]) -> dict[str, list[str]]:
    """Variables that must be set before these models can be asked, with the models that need each."""
    missing: dict[str, list[str]] = {}
    for model in models:
        if not model.simulated and key_of(model) is None:
            missing.setdefault(" or ".join(key_variables(model)), []).append(model.name)
    return missing


def addresses(models: Iterable[Model]) -> dict[str, str]:
    """Variables that lead a provider's models to another address than the provider's own, with where to.

    The SDKs obey them and no key of a reply can tell, so whoever runs must be told. Without name and password.
    """
    providers = {model.provider for model in models if model.base_url is None}
    named = {SERVICES[provider].address for provider in providers & set(SERVICES)}
    urls = {name: os.environ[name] for name in sorted(named) if os.environ.get(name)}
    return {name: redact(re.sub(r"//[^/?#\s]*@", "//", url)) for name, url in urls.items()}


def in_browser() -> bool:
    """Whether this kernel belongs to a notebook somebody looks at (a Jupyter server names its sessions)."""
    return bool(os.environ.get("JPY_SESSION_NAME") or os.environ.get("VSCODE_PID"))


def leave_browser() -> None:
    """Kernels started from here are nobody's to look at, even where a notebook started the runner."""
    for name in ("JPY_SESSION_NAME", "VSCODE_PID"):
        os.environ.pop(name, None)


def declare(names: Iterable[str]) -> None:
    """From now on the values of these variables are keys, whatever the variables are called."""
    _declared.update(names)


def secrets() -> dict[str, str]:
    """Every secret of this environment with the name of its variable."""
    found: dict[str, str] = {}
    for name, value in os.environ.items():
        if name in _declared or _names_secret(name):
            found |= dict.fromkeys(_parts(value), name)
        if "://" in value and (address := PASSWORD.match(value)):
            found |= {each: name for each in (address[1], unquote(address[1])) if _is_secret(each)}
    return found


@lru_cache(maxsize=1024)
def _names_secret(name: str) -> bool:
    if name in ("PWD", "OLDPWD"):
        return False
    words = [word.rstrip("0123456789") for word in re.split(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", name)]
    words = [word.upper() for word in words if word]
    return bool(words) and words[-1] not in ABOUT and any(w in SECRET_WORDS or w.endswith(SECRET_ENDS) for w in words)


def _is_secret(value: str) -> bool:
    return len(value) >= SHORTEST and not PLAIN.fullmatch(value)


@lru_cache(maxsize=1024)
def _parts(value: str) -> tuple[str, ...]:
    """The value without line ends, without the word of its scheme, and its long pieces (a PEM key is many lines)."""
    whole = value.strip()
    if not _is_secret(whole) or os.path.exists(os.path.expanduser(whole)):
        return ()
    bare = re.sub(r"(?i)^(?:bearer|basic|token)\s+", "", whole)
    pieces = [each for each in re.split(r"[\s\"'{},]+|\\n", whole) if len(each) >= 20]
    pieces = [each for each in pieces if not re.search("://|@|-----", each)]
    return tuple(each for each in dict.fromkeys((whole, bare, *pieces)) if _is_secret(each))


# --- spellings --------------------------------------------------------------------------------------------------------


class Needle(NamedTuple):
    """One spelling of a secret of the variable `name`, of which `run` consecutive characters give it away."""

    text: str
    name: str
    run: int


@lru_cache(maxsize=8)
def _grams_of(known: tuple[tuple[str, str], ...]) -> tuple[frozenset[str], tuple[str, ...]]:
    """Every GRAM consecutive characters of what a part gives away, and what only the whole does."""
    long = [each for each in needles_of(known) if RUN <= each.run < len(each.text)]
    grams = {each.text[i : i + GRAM] for each in long for i in range(len(each.text) - GRAM + 1)}
    return frozenset(grams), tuple(each.text for each in needles_of(known) if each not in long)


def _may_hold(text: str, known: tuple[tuple[str, str], ...]) -> bool:
    """Whether a decoded text can hold a needle: one look for most texts, which hold none."""
    grams, whole = _grams_of(known)
    # A run of RUN characters has one of the text's blocks of GRAM in it, wherever it begins.
    blocks = {text[i : i + GRAM] for i in range(0, len(text), GRAM)}
    return not grams.isdisjoint(blocks) or any(each in text for each in whole)


def _decode_quickly(text: str) -> str:
    """As `decode`, without the places: in a fraction of the time, for the first look."""
    for _ in range(DEEPEST):
        before = text
        if "\\" in text:
            text = UNICODE.sub(_unescape, text) if "\\u" in text or "\\x" in text else text
            for name, sign in CONTROLS.items():
                text = text.replace(f"\\{name}", sign)
            text = text.replace("\\", "")
        if "%" in text or "&" in text:
            text = ESCAPE.sub(_unescape, text)
        if text == before:
            break
    return text.replace("+", " ")


@lru_cache(maxsize=8)
def needles_of(known: tuple[tuple[str, str], ...]) -> tuple[Needle, ...]:
    """Every spelling of (value, variable) pairs that `decode` does not undo, the longest first.

    As it is, decoded, in hex, and anywhere within base64 (what stands before it in the encoded bytes moves it).
    """
    needles: dict[str, Needle] = {}
    for value, name in known:
        raw, whole = value.encode("utf-8", "surrogatepass"), bool(re.search(r"\s|://", value))
        spelled = {_as_bytes(value): 1.0, decode(_as_bytes(value))[0]: 1.0, raw.hex(): 2.0, raw.hex().upper(): 2.0}
        for shift in range(3):
            coded = base64.b64encode(b"\0" * shift + raw).decode()
            inner = coded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
            spelled |= dict.fromkeys((inner.replace("+", " "), inner.replace("+", "-").replace("/", "_")), 4 / 3)
        for text, width in spelled.items():
            needles.setdefault(text, Needle(text, name, len(text) if whole else min(len(text), int(RUN * width))))
    return tuple(sorted(needles.values(), key=lambda each: (-len(each.text), each.text)))


def decode(text: str, deepest: int = DEEPEST) -> tuple[str, array[int]]:
    """A text with escapes undone, whoever made them, and where in the text each of its characters begins.

    Both are in bytes of UTF-8 as characters. Backslashes are lost and "+" is a blank, as it is in addresses.
    """
    starts = array("L", range(len(text) + 1))
    for _ in range(deepest):
        parts, moved, done = list[str](), array("L"), 0
        for match in ESCAPE.finditer(text):
            new = _unescape(match)
            parts += (text[done : match.start()], new)
            moved += starts[done : match.start()]
            moved.extend([starts[match.start()]] * len(new))
            done = match.end()
        if not done:
            break
        text, starts = "".join([*parts, text[done:]]), moved + starts[done:]
    return text.replace("+", " "), starts


def _unescape(match: re.Match[str]) -> str:
    unicode, byte, *others = match.groups("")
    if unicode:
        return _as_bytes(chr(int(unicode, 16)))
    if byte:
        return chr(int(byte, 16))
    control, percent, entity = others
    if percent:
        return chr(int(percent, 16))
    return _as_bytes(html.unescape(entity)) if entity else CONTROLS.get(control, control)


def _as_bytes(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _spans(text: str, needles: Iterable[Needle]) -> Iterator[tuple[int, int, str]]:
    """Where a text holds at least a run of a needle: begin, end and the variable's name."""
    for needle, name, run in needles:
        # Any run holds one whole block of half its length, counted from the beginning of the needle.
        size = run if run == len(needle) else run // 2
        for start in range(0, len(needle) - size + 1, size):
            block, place = needle[start : start + size], -1
            while (place := text.find(block, place + 1)) >= 0:
                begin, end, left, right = place, place + size, start, start + size
                while begin and left and text[begin - 1] == needle[left - 1]:
                    begin, left = begin - 1, left - 1
                while end < len(text) and right < len(needle) and text[end] == needle[right]:
                    end, right = end + 1, right + 1
                if end - begin >= run:
                    yield begin, end, name
                    place = end - 1


# --- text without keys ------------------------------------------------------------------------------------------------

#: (value, variable) of every secret.
Known = tuple[tuple[str, str], ...]


def known_now() -> Known:
    """Every secret of this environment as it is now."""
    return tuple(secrets().items())


def strike(text: str, known: Known, like: bool = True) -> tuple[str, list[str]]:
    """The text with `[NAME]` and `[key]` for keys, and whose they were; `like`: also what only looks like one."""
    names: list[str] = []
    raw = _as_bytes(text) if known else ""
    if known and (any(value in text for value, _ in known) or _may_hold(_decode_quickly(raw), known)):
        decoded, starts = decode(raw)
        spans = list(_spans(raw, needles_of(known)))
        spans += [(starts[begin], starts[end], name) for begin, end, name in _spans(decoded, needles_of(known))]
        text, names = _without(raw, spans), [name for _, _, name in spans]
    if like and known and any(mask in text for mask in MASKS):
        text, masked = _unmasked(text, dict(known))
        names += masked
    low = text.lower() if like else ""
    for signs, pattern, new in LIKE:
        if any(sign in low for sign in signs):
            text, count = pattern.subn(new, text)
            names += ["key"] * bool(count)
    return text, names


def _without(raw: str, spans: list[tuple[int, int, str]]) -> str:
    """The text with each span, widened to whole characters, replaced by its name; of spans that overlap the first."""
    kept, done = [], 0
    for begin, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while "\x80" <= raw[begin : begin + 1] < "\xc0":
            begin -= 1
        while "\x80" <= raw[end : end + 1] < "\xc0":
            end += 1
        if begin >= done:
            kept += [raw[done:begin], f"[{name}]"]
        done = max(done, end)
    text = "".join([*kept, raw[done:]])
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "surrogatepass")


def redact(text: str) -> str:
    """The text with `[NAME]` for each secret of the variable NAME and `[key]` for what looks like a key."""
    return strike(text, known_now())[0]


def finder(like: bool = True) -> Callable[[str], list[str]]:
    """A function that names the variables whose secrets, as they are now, a text holds in any spelling.

    With `like` also those of which it shows the first and last characters, and "key" for what looks like one.
    """
    known = known_now()
    return lambda text: sorted(set(strike(text, known, like)[1]))


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


def cleaner() -> Callable[[Any], Any]:
    """A function from frozen records to the same without keys, as they are now: the environment is read once.

    In `raw`, a body in JSON, it also strikes out what looks like a key once its escapes are undone.
    """
    known = known_now()

    def clean(record: Any) -> Any:
        texts = {name: text for name, text in vars(record).items() if isinstance(text, str)}
        cleaned = {name: strike(text, known)[0] for name, text in texts.items()}
        if "\\u" in cleaned.get("raw", ""):
            try:
                spelled = json.dumps(json.loads(cleaned["raw"]), ensure_ascii=False)
            except (ValueError, RecursionError):
                spelled = ""
            new, names = strike(spelled, known)
            cleaned["raw"] = new if names else cleaned["raw"]
        return record if cleaned == texts else replace(record, **cleaned)

    return clean


def causes(error: BaseException) -> list[BaseException]:
    """The error first, then what each was raised from or while handling; a circle ends where it closes."""
    links = [error]
    while (below := links[-1].__cause__ or links[-1].__context__) is not None and below not in links:
        links.append(below)
    return links


def redacted(error: Exception) -> Exception:
    """The error itself where neither it nor what caused it tells a key, else one that says the same without."""
    if not any(found(f"{link}\n{link!r}") for link in causes(error)):
        return error
    return RuntimeError(redact(f"{type(error).__name__}: {error}"))


def refuse(parameters: Mapping[str, Any]) -> None:
    """ValueError where a parameter holds a key: parameters are written into the executed notebook."""
    for name, value in parameters.items():
        names = found(f"{name} {value}") or ["key"] * _names_secret(name)
        if names:
            what = " and ".join("what looks like a key" if each == "key" else f"the value of {each}" for each in names)
            raise ValueError(
                f"parameter {redact(name)} holds {what} (not shown): keys are read from environment variables only, "
                "see .env.example. A parameter is written into the report and stands in your shell's history; renew a "
                "key that was given as one"
            )


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
            whole = (first or not _in_word(text, mask.start() - 1)) and (last or not _in_word(text, mask.end()))
            if whole and first + last >= 4:
                kept += [text[done : mask.start() - first], f"[{name}]"]
                done = mask.end() + last
                names.append(name)
                break
    return "".join([*kept, text[done:]]), names


def _in_word(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] in "-_")
