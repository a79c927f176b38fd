"""Keys stay in the environment: which variables hold secrets, and text without them in whatever spelling.

A secret is the value of a variable that holds a key (`declare`) or whose name says so, and the password in any
variable that is an address. Shorter than SHORTEST it is none, nor is it where it is a plain word or two, a number or a
path that exists: striking those out would spoil ordinary text. What looks like a key (keys.toml) is struck out wherever
it comes from. `strike` looks into a text once all escapes in it are undone; `recuse check` finds what it would strike.
"""

from __future__ import annotations

import base64
import html
import os
import pkgutil
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any
from urllib.parse import unquote

from helpers.services import SERVICES
from helpers.types import Model

SHORTEST = 8
#: So many consecutive characters of a key give it away; shorter keys, and texts with blanks in them, only as a whole.
RUN = 16
#: Wherever RUN characters of a text begin, one of its blocks of so many, counted from its beginning, is among them.
GRAM = RUN // 2
#: Values that cannot be distinguished from ordinary text: up to three words of letters; numbers, dates, versions.
_WORD = "(?:[a-z]{1,14}|[A-Z]{1,14}|[A-Z][a-z]{1,13})"
PLAIN = re.compile(rf"{_WORD}(?:[ ._-]{_WORD}){{0,2}}|[\d .,:_/+-]{{1,15}}")
PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s:@]*:([^/\s@]+)@", re.IGNORECASE)
#: A character as programs escape it: JSON, Python, LaTeX (any number of backslashes), addresses, HTML.
ESCAPE = re.compile(
    r"\\\\*(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))?|%([0-9a-fA-F]{2})|&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{2,8});",
    re.DOTALL,
)
CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
#: How often a text is decoded at most: JSON in an address in HTML in JSON.
DEEPEST = 4

#: (value, variable) of every secret.
Known = tuple[tuple[str, str], ...]
#: Where a secret stands in a text, and the name that takes its place: begin, end, variable or "key".
Span = tuple[int, int, str]

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
    words, say = [word.upper() for word in words if word], _table()["names"]
    ends = tuple(say["ends"])
    return bool(words) and words[-1] not in say["about"] and any(w in say["words"] or w.endswith(ends) for w in words)


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


# --- where secrets stand in a text ------------------------------------------------------------------------------------

# Texts are bytes of UTF-8 as characters here: escapes, hex and base64 spell bytes.


@cache
def _table() -> dict[str, Any]:
    table = tomllib.loads((pkgutil.get_data(__package__, "keys.toml") or b"").decode())
    for each in table["like"]:
        each["pattern"] = re.compile(_as_bytes(each["pattern"]), re.VERBOSE | re.ASCII)
    return table


def _as_bytes(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _layers(text: str) -> list[str]:
    """A text, and the same each time after its escapes are undone, whoever made them. Backslashes are lost."""
    layers = [text]
    while len(layers) <= DEEPEST and (text := ESCAPE.sub(_unescape, text)) != layers[-1]:
        layers.append(text)
    return layers


def _unescape(escape: re.Match[str]) -> str:
    kind = escape.lastindex
    if kind is None:
        return ""
    what = escape[kind]
    if kind == 3:
        return CONTROLS.get(what, what)
    if kind == 5:
        return _as_bytes(html.unescape(f"&{what};"))
    return _as_bytes(chr(int(what, 16))) if kind == 1 else chr(int(what, 16))


def _origins(text: str, places: Iterable[int]) -> dict[int, int]:
    """Where in a text begins what stands at these places once its escapes are undone."""
    origins: dict[int, int] = {}
    waiting, lost = sorted(places, reverse=True), 0
    for escape in ESCAPE.finditer(text):
        kept = len(_unescape(escape))
        while waiting and waiting[-1] + lost < escape.start() + kept:
            place = waiting.pop()
            origins[place] = min(place + lost, escape.start())
        lost += len(escape[0]) - kept
    return origins | {place: place + lost for place in waiting}


@lru_cache(maxsize=8)
def _spellings(known: Known) -> dict[str, tuple[str, int]]:
    """Every spelling of secrets that `_layers` does not undo: the variable, and how many characters give it away.

    As it is, decoded, in hex, and anywhere within base64 (what stands before it in the encoded bytes moves it); "+" is
    a blank, as it is in addresses.
    """
    spellings: dict[str, tuple[str, int]] = {}
    for value, name in known:
        plain, raw, whole = _as_bytes(value), value.encode("utf-8", "surrogatepass"), re.search(r"\s|://", value)
        widths = {plain: 1.0, _layers(plain)[-1]: 1.0, raw.hex(): 2.0, raw.hex().upper(): 2.0}
        for shift in range(3):
            coded = base64.b64encode(b"\0" * shift + raw).decode()
            inner = coded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
            widths |= dict.fromkeys((inner, inner.replace("+", "-").replace("/", "_")), 4 / 3)
        for text, width in widths.items():
            run = len(text) if whole else min(len(text), int(RUN * width))
            spellings.setdefault(text.replace("+", " "), (name, run))
    return {text: found for text, found in spellings.items() if text}


@lru_cache(maxsize=8)
def _grams(known: Known) -> dict[str, list[tuple[str, int]]]:
    """Which spelling holds GRAM characters, and where, of all spellings of which a part gives the secret away."""
    grams: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for text, (_, run) in _spellings(known).items():
        for at in range(len(text) - GRAM + 1) if run < len(text) else ():
            grams[text[at : at + GRAM]].append((text, at))
    return dict(grams)


def _runs(text: str, known: Known) -> list[Span]:
    """Where a text holds a spelling of a secret, or as long a run of one as gives it away."""
    text, spellings, grams, spans = text.replace("+", " "), _spellings(known), _grams(known), list[Span]()
    for spelling in [each for each, (_, run) in spellings.items() if run == len(each) and each in text]:
        spans += [(*match.span(), spellings[spelling][0]) for match in re.finditer(re.escape(spelling), text)]
    for begin in [begin for begin in range(0, len(text), GRAM) if text[begin : begin + GRAM] in grams]:
        for spelling, at in grams[text[begin : begin + GRAM]]:
            name, run = spellings[spelling]
            left = _shared(text[max(begin - at, 0) : begin][::-1], spelling[:at][::-1])
            right = _shared(text[begin : begin - at + len(spelling)], spelling[at:])
            if left + right >= run:
                spans.append((begin - left, begin + right, name))
    return spans


def _shared(one: str, other: str) -> int:
    """With how many characters that are the same two texts begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))


#: What services put in the place of the middle of a key when they show which one was wrong.
MASK = re.compile(_as_bytes(r"\*\*\*+|\.\.\.+|…|••(?:•)+|··(?:·)+"))
DOTS = ("...", _as_bytes("…"))
IN_WORD = re.compile(r"[\w-]", re.ASCII)


def _masked(text: str, known: Known) -> list[Span]:
    """Where a text shows the first and last characters of a secret around a mask."""
    spans: list[Span] = []
    for mask in MASK.finditer(text) if known else ():
        before, after = text[max(mask.start() - 24, 0) : mask.start()], text[mask.end() : mask.end() + 12]
        for value, name in ((_as_bytes(value), name) for value, name in known):
            last = next(n for n in range(min(12, len(value)), -1, -1) if after.startswith(value[len(value) - n :]))
            if last < 4 and mask[0].startswith(DOTS):  # which ordinary text has after anything
                continue
            first = next(n for n in range(24, -1, -1) if before.endswith(value[:n]))
            ends = (first or not IN_WORD.match(before[-1:])) and (last or not IN_WORD.match(after))
            if ends and first + last >= 4:
                spans.append((mask.start() - first, mask.end() + last, name))
                break
    return spans


def _like(text: str, known: Known) -> list[Span]:
    """Where a text holds what looks like a key."""
    low, spans = text.lower(), list[Span]()
    for each in _table()["like"]:
        if any(sign in low for sign in each["signs"]):
            spans += [(*match.span("key"), "key") for match in each["pattern"].finditer(text)]
    return spans


# --- text without keys ------------------------------------------------------------------------------------------------


def known_now() -> Known:
    """Every secret of this environment as it is now."""
    return tuple(secrets().items())


def strike(text: str, known: Known, like: bool = True) -> tuple[str, list[str]]:
    """The text with `[NAME]` and `[key]` for keys, and whose they were.

    `like`: also what shows the ends of one, and what only looks like one.
    """
    raw, spans = _as_bytes(text), list[Span]()
    layers = _layers(raw)
    plain = layers[-1]
    for find in (_runs, _masked, _like) if like else (_runs,):
        if new := find(plain, known):  # what is struck out already is not found again as something else
            spans += new
            plain = _without(plain, [(begin, end, "\0" * (end - begin)) for begin, end, _ in new])
    for layer in layers[-2::-1] if spans else ():
        at = _origins(layer, {place for begin, end, _ in spans for place in (begin, end)})
        spans = [(at[begin], at[end], name) for begin, end, name in spans]
    # What holds escapes of its own may stand there as it is, and an escape before a secret may take its first sign.
    odd = tuple(each for each in known if each[0] in text or ESCAPE.search(each[0])) if len(layers) > 1 else ()
    spans += _runs(raw, odd) if odd else []
    if not spans:
        return text, []
    clean = _without(raw, [(*_widened(raw, begin, end), f"[{name}]") for begin, end, name in spans])
    return clean.encode("latin-1").decode("utf-8", "surrogatepass"), [name for _, _, name in spans]


def _widened(raw: str, begin: int, end: int) -> tuple[int, int]:
    """A place in bytes widened to whole characters."""
    while "\x80" <= raw[begin : begin + 1] < "\xc0":
        begin -= 1
    while "\x80" <= raw[end : end + 1] < "\xc0":
        end += 1
    return begin, end


def _without(text: str, spans: list[Span]) -> str:
    """The text with a word in the place of each span; of spans that overlap the first counts, and the longest."""
    kept, done = [], 0
    for begin, end, word in sorted(spans, key=lambda span: (span[0], -span[1])):
        kept += [text[done:begin], word] if begin >= done else []
        done = max(done, end)
    return "".join([*kept, text[done:]])


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


def redact_all(value: Any, known: Known | None = None) -> Any:
    """A structure of mappings, lists and texts without keys; what holds none is the very same object."""
    known = known_now() if known is None else known
    if isinstance(value, str):
        return strike(value, known)[0]
    if isinstance(value, Mapping):
        clean = {redact_all(key, known): redact_all(each, known) for key, each in value.items()}
        return value if clean == value else clean
    if isinstance(value, list | tuple):
        cleaned = [redact_all(each, known) for each in value]
        return value if cleaned == list(value) else type(value)(cleaned)
    return value


def cleaner() -> Callable[[Any], Any]:
    """A function from frozen records to the same without keys, as they are now: the environment is read once."""
    known = known_now()

    def clean(record: Any) -> Any:
        fields = redact_all(vars(record), known)
        return record if fields is vars(record) else replace(record, **fields)

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
