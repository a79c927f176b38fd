"""Keys stay in the environment: which variables hold secrets, and text without them in whatever spelling.

A secret is the value of a variable that holds a key (`declare`) or whose name says so, and the password in an address;
plain words, numbers, paths and short values are none. What looks like a key (keys.toml) is struck out, too.
"""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from ..paths import load_table
from ..services import SERVICES
from ..types import Model

TABLE = load_table("providers/keys.toml")
SHORTEST, RUN, DEEPEST = TABLE["shortest"], TABLE["run"], TABLE["deepest"]
#: A text is looked at in blocks of so many characters, one at each STEP: any RUN characters hold a whole one.
BLOCK, STEP = 4, RUN - 4 + 1
PLAIN, PASSWORD, ESCAPE, MASK, NAMES = (
    re.compile(TABLE[name], re.VERBOSE) for name in ("plain", "password", "escape", "mask", "names")
)
LIKE = [(each["signs"], re.compile(each["pattern"], re.VERBOSE | re.ASCII)) for each in TABLE["like"]]

#: (value, variable) of every secret.
Keyring = tuple[tuple[str, str], ...]
#: Where a secret stands in a text, and the name that takes its place: begin, end, variable or "key".
Span = tuple[int, int, str]

_declared: set[str] = set()


def key_variables(model: Model) -> tuple[str, ...]:
    """The variables that may hold a model's key; only `api_key_env` for a `base_url`: no key goes elsewhere."""
    theirs = SERVICES[model.provider].keys if model.provider in SERVICES and not model.base_url else ()
    names = (model.api_key_env,) if model.api_key_env else theirs
    declare(names)
    return tuple(names)


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
    for model in [each for each in models if not each.simulated and key_of(each) is None]:
        missing.setdefault(" or ".join(key_variables(model)), []).append(model.name)
    return missing


def addresses(models: Iterable[Model]) -> dict[str, str]:
    """Variables that lead a provider's models to another address than its own, with that address, without passwords."""
    named = {SERVICES[m.provider].address for m in models if m.base_url is None and m.provider in SERVICES}
    urls = {name: os.environ[name] for name in sorted(named) if os.environ.get(name)}
    return {name: redact(re.sub(r"//[^/?#\s]*@", "//", url)) for name, url in urls.items()}


def in_browser() -> bool:
    """Whether somebody looks at this notebook (a Jupyter server names its sessions)."""
    return bool(os.environ.get("JPY_SESSION_NAME") or os.environ.get("VSCODE_PID"))


def leave_browser() -> None:
    """Kernels started from here are nobody's to look at."""
    for name in ("JPY_SESSION_NAME", "VSCODE_PID"):
        os.environ.pop(name, None)


def declare(names: Iterable[str]) -> None:
    """From now on the values of these variables are keys, whatever the variables are called."""
    _declared.update(names)


def secrets() -> Keyring:
    """Every secret of this environment as it is now, with the name of its variable."""
    found: dict[str, str] = {}
    for name, value in os.environ.items():
        if name in _declared or _names_secret(name):
            found |= dict.fromkeys(_parts(value), name)
        if "://" in value and (address := PASSWORD.match(value)):
            found |= {each: name for each in (address[1], unquote(address[1])) if _is_secret(each)}
    return tuple(found.items())


@lru_cache(maxsize=1024)
def _names_secret(name: str) -> bool:
    return bool(NAMES.search(re.sub(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])", "_", name).upper()))


def _is_secret(value: str) -> bool:
    return len(value) >= SHORTEST and not PLAIN.fullmatch(value)


@lru_cache(maxsize=1024)
def _parts(value: str) -> tuple[str, ...]:
    """The value without line ends and without its scheme, and its long pieces (a PEM key has many lines)."""
    full = value.strip()
    if not _is_secret(full) or os.path.exists(os.path.expanduser(full)):
        return ()
    bare = re.sub(r"(?i)^(?:bearer|basic|token)\s+", "", full)
    parts = re.split(r"[\s\"'{},]+|\\n", full)
    pieces = [each for each in parts if len(each) >= 20 and not re.search("://|@|-----", each)]
    return tuple(each for each in dict.fromkeys((full, bare, *pieces)) if _is_secret(each))


def _spans(text: str, keyring: Keyring, like: bool, deepest: int = DEEPEST) -> list[Span]:
    """Where keys stand in a text, as it is and once its escapes are undone, in order and disjoint."""
    escaped = deepest and any(sign in text for sign in "%&\\")
    spans, plain = _merged(_runs(text, keyring)), ESCAPE.sub(_unescape, text) if escaped else text
    if plain != text:
        return _merged([*spans, *_origins(text, _spans(plain, keyring, like, deepest - 1))])
    for find in (_masked, _like) if like else ():
        # What is known to be a key is no part of what looks like one.
        rest = _replaced(text, spans, ["\0" * (end - begin) for begin, end, _ in spans])
        spans = _merged([*spans, *find(rest, keyring)])
    return spans


def _merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order; those that overlap as one, with the name of the first."""
    merged: list[Span] = []
    for begin, end, name in sorted(spans):
        if merged and begin < merged[-1][1]:
            begin, last, name = merged.pop()
            end = max(last, end)
        merged.append((begin, end, name))
    return merged


def _replaced(text: str, spans: list[Span], words: Iterable[str]) -> str:
    parts, done = list[str](), 0
    for (begin, end, _), word in zip(spans, words, strict=True):
        parts += [text[done:begin], word]
        done = end
    return "".join([*parts, text[done:]])


def _unescape(escape: re.Match[str]) -> str:
    percent, entity, python, code, sign = escape.groups()
    if octets := percent or python:
        return bytes.fromhex(octets.replace("%", "").replace("\\", "").replace("x", "")).decode("utf-8", "replace")
    if entity:
        return html.unescape(f"&{entity};")
    return chr(int(code, 16)) if code else TABLE["controls"].get(sign, sign or "")


def _origins(text: str, spans: list[Span]) -> list[Span]:
    """The same spans in the text whose escapes were undone before they were found."""
    waiting, origins, lost = [place for span in spans[::-1] for place in (span[1], span[0])], list[int](), 0
    for escape in ESCAPE.finditer(text) if spans else ():
        kept = len(_unescape(escape))
        while waiting and waiting[-1] + lost < escape.start() + kept:
            origins.append(min(waiting.pop() + lost, escape.start()))
        lost += len(escape[0]) - kept
    origins += [place + lost for place in waiting[::-1]]
    return [(begin, end, span[2]) for begin, end, span in zip(origins[::2], origins[1::2], spans, strict=True)]


@lru_cache(maxsize=8)
def _spellings(keyring: Keyring) -> tuple[dict[str, str], dict[str, str], set[tuple[str, ...]]]:
    """Spellings of secrets (as they are, decoded, in hex, within base64), RUN characters of one, and their blocks."""
    full: dict[str, str] = {}
    runs: dict[str, str] = {}
    for value, name in keyring:
        raw, plain = value.encode("utf-8", "surrogatepass"), value
        for _ in range(DEEPEST):
            plain = ESCAPE.sub(_unescape, plain)
        texts = {value, plain if len(plain) >= SHORTEST else value, raw.hex(), raw.hex().upper()}
        for shift in range(3):
            coded = base64.b64encode(b"\0" * shift + raw).decode()
            inner = coded[-(-shift * 8 // 6) : (shift + len(raw)) * 8 // 6]
            texts |= {inner, inner.replace("+", "-").replace("/", "_")}
        for text in (text.replace("+", " ") for text in texts):
            if len(text) <= RUN or re.search(r"\s|://", value):
                full[text] = name
            else:
                runs |= {text[at : at + RUN]: name for at in range(len(text) - RUN + 1)}
    return full, runs, {tuple(run[at : at + BLOCK]) for run in runs for at in range(STEP)}


def _runs(text: str, keyring: Keyring) -> list[Span]:
    """Where a text holds a whole spelling of a secret, or RUN characters of one."""
    text, (full, runs, blocks), spans = text.replace("+", " "), _spellings(keyring), list[Span]()
    for spelling in [each for each in full if each in text]:
        spans += [(*match.span(), full[spelling]) for match in re.finditer(re.escape(spelling), text)]
    looked_at = [*zip(*(text[place::STEP] for place in range(BLOCK)), strict=False)]
    hits = [] if blocks.isdisjoint(looked_at) else [n * STEP for n, block in enumerate(looked_at) if block in blocks]
    for block in hits:
        near = [at for at in range(max(block - STEP + 1, 0), block + 1) if text[at : at + RUN] in runs]
        spans += [(near[0], near[-1] + RUN, runs[text[near[0] : near[0] + RUN]])] if near else []
    return spans


def _masked(text: str, keyring: Keyring) -> Iterator[Span]:
    """Where a text shows the first and last characters of a secret around a mask."""
    later = -1  # where the masked key behind this one begins: what reaches up to it is no longer word
    for mask in reversed([*MASK.finditer(text)]) if keyring else ():
        before, after = text[max(mask.start() - 24, 0) : mask.start()], text[mask.end() : mask.end() + 12]
        for value, name in keyring:
            last = max(n for n in range(len(after) + 1) if value.endswith(after[:n]))
            if last < 4 and mask[0][0] in ".…":  # which ordinary text has after anything
                continue
            first = max(n for n in range(len(before) + 1) if value.startswith(before[len(before) - n :]))
            if first + last >= 4 and (last or mask.end() == later or not re.match(r"[\w-]", after, re.ASCII)):
                later = mask.start() - first
                yield later, mask.end() + last, name
                break


def _like(text: str, keyring: Keyring) -> Iterator[Span]:
    """Where a text holds what looks like a key."""
    low = text.lower()
    for pattern in [pattern for signs, pattern in LIKE if any(sign in low for sign in signs)]:
        yield from ((*match.span("key"), "key") for match in pattern.finditer(text))


def strike(text: str, keyring: Keyring, like: bool = True) -> tuple[str, list[str]]:
    """The text with `[NAME]` and `[key]` for keys, and whose they were; `like`: masked ones and lookalikes, too."""
    spans = _spans(text, keyring, like)
    names = [name for _, _, name in spans]
    return _replaced(text, spans, [f"[{name}]" for name in names]), names


def redact(text: str) -> str:
    """The text with `[NAME]` for each secret of the variable NAME and `[key]` for what looks like a key."""
    return strike(text, secrets())[0]


def found(text: str, keyring: Keyring | None = None, like: bool = True) -> list[str]:
    """The variables whose secrets (`keyring`, or those of now) a text holds in any spelling; `like` as in `strike`."""
    return sorted(set(strike(text, secrets() if keyring is None else keyring, like)[1]))


def redact_all(value: Any, keyring: Keyring | None = None) -> Any:
    """A structure of records, mappings, lists and texts without keys; what holds none is the very same object."""
    keyring = secrets() if keyring is None else keyring
    if isinstance(value, str):
        return strike(value, keyring)[0]
    if not strike("\0".join(_texts(value)), keyring)[1]:  # hardly any holds one: all its texts are looked at together
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{name: redact_all(each, keyring) for name, each in vars(value).items()})
    if isinstance(value, Mapping):
        return {redact_all(key, keyring): redact_all(each, keyring) for key, each in value.items()}
    return type(value)(redact_all(each, keyring) for each in value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    parts = list(vars(value).values()) if is_dataclass(value) else value
    parts = [*value, *value.values()] if isinstance(value, Mapping) else parts
    for part in parts if isinstance(parts, list | tuple) else ():
        yield from _texts(part)


def causes(error: BaseException) -> list[BaseException]:
    """The error first, then what each was raised from or while handling; a circle ends where it closes."""
    links = [error]
    while (below := links[-1].__cause__ or links[-1].__context__) is not None and below not in links:
        links.append(below)
    return links


def refuse(parameters: Mapping[str, Any]) -> None:
    """ValueError where a parameter holds a key: parameters are written into the executed notebook."""
    for name, value in parameters.items():
        names = found(f"{name} {value}") or ["key"] * _names_secret(name)
        if names:
            what = " and ".join("what looks like a key" if each == "key" else f"the value of {each}" for each in names)
            raise ValueError(TABLE["refused"].format(name=redact(name), what=what))
