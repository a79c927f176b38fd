"""YAML text into plain values and frozen settings, strictly: whatever is wrong is named with file, line and field."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

#: Names of models, biases and scenarios.
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
NAME_FORM = "lower case letters, digits, _ . - (at most 64)"
#: Bytes of a file, and levels of lists in lists: no configuration has more.
MOST_BYTES, MOST_LEVELS = 1_000_000, 50

#: What YAML 1.2 calls a number and PyYAML a text.
NUMBER_ELSEWHERE = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+"
FLOAT = r"[-+]?(?:0|[1-9]\d*)\.\d*(?:[eE][-+]\d+)?"
#: How a word without quotes must be written, by the kind that PyYAML (YAML 1.1) takes it for, so that readers of YAML
#: 1.2 agree; what another spelling is, and what to write instead.
WORDS = {
    "null": ("(?s:.*)", "", ""),
    "bool": ("(?i:true|false)", "a truth value to some readers of YAML and a word to others", "true, false"),
    "int": (r"[-+]?(?:0|[1-9]\d{0,29})", "not a whole number to every reader", "it in plain digits (at most 30)"),
    "float": (FLOAT, "not a finite number to every reader", "digits with a point (1000.0)"),
    "str": (rf"(?!(?:{NUMBER_ELSEWHERE})\Z)(?s:.*)", "a number to some readers of YAML and a text to others", ""),
    "timestamp": ("(?!)", "a date of YAML, not a text", "it"),
    "merge": ("(?!)", "a sign of YAML, not a text", "it"),
    "value": ("(?!)", "a sign of YAML, not a text", "it"),
}
READERS = {"null": lambda _: None, "bool": lambda word: word.lower() == "true", "int": int, "float": float}
_RESOLVER = yaml.resolver.Resolver()
_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")

#: Fields that could hold a key by mistake; what stands there is never shown.
NOT_SHOWN = {"api_key_env", "base_url", "params"}
#: How the names of fields end under which people write a key down: key, OPENAI_API_KEY, apiToken.
KEYS = re.compile(r".*(?:key|token|secret|password|passwd|passphrase|credential|bearer|auth|authorization)s?", re.I)
NO_KEY = (
    "a key never stands in a file: put it into an environment variable and name that one, `api_key_env: MY_SERVER_KEY` "
    "(a provider's own address needs no such line, see .env.example); renew a key that somebody may have read here"
)
LONGEST_SHOWN = 80
QUOTES = 'a text that YAML takes for a number or a truth value stands in quotes: "3.10"'

Keys = tuple[str | int, ...]
#: The line of each setting of a file, by the names (and places in lists) that lead to it.
Lines = dict[tuple[str, ...], int]


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the place, what was found and what is valid."""


class Strict(BaseModel):
    """Settings of which none is unknown, none changes and no type is guessed: True is no number, and "5" is none.

    The `description` of a field is what an error about it adds: what can stand there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


Settings = TypeVar("Settings", bound=BaseModel)


# --- values -----------------------------------------------------------------------------------------------------------


def read_yaml(path: Path, shown: bool = False) -> Any:
    """What stands in a YAML file; with `shown` each number must be written as it is shown (no 3.10, which is 3.1).

    Aliases, anchors, tags, duplicate keys, files above 1 MB, deep nesting and words that readers of YAML take for
    different values (no, 1e3, 010, 1_000, dates) are a ConfigError with file and line.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ConfigError(f"{path}: larger than 1 MB, which no configuration of ours is")
    return deepcopy(_parse_file(data, shown, path)[0])


@lru_cache(maxsize=128)
def _parse_file(data: bytes, shown: bool, path: Path) -> tuple[Any, Lines]:
    """The content of a file, parsed once while it stays the same: a run reads the same files for many experiments."""
    try:
        return _parse(data.decode("utf-8-sig"), lambda line: f"{path}, line {line}", shown)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from None


def parse_yaml(text: str, where: str) -> Any:
    """A value written as YAML on the command line, read as strictly; `where` says in errors what it is for."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise ConfigError(f"{where}: longer than 1 MB")
    return _parse(text, lambda _: where)[0]


def line_of(path: Path, keys: Keys) -> int | None:
    """The line of a file in which the setting with these names stands, or of what is around it where it is missing.

    None where the file is no YAML (any more).
    """
    try:
        lines = _parse_file(path.read_bytes(), False, path)[1]
    except (ConfigError, OSError):
        return None
    around = (tuple(map(str, keys[:end])) for end in range(len(keys), 0, -1))
    return next((lines[place] for place in around if place in lines), None)


def _parse(text: str, place: Callable[[int], str], as_shown: bool = False) -> tuple[Any, Lines]:
    """A document's value, and the lines of its settings by the names that lead to each; `place` names a line."""
    if sign := _BREAKS.search(text):
        fault = f"U+{ord(sign[0]):04X} ends a line to some readers of YAML and not to others"
        line = text.count("\n", 0, sign.start()) + 1
        raise ConfigError(f"{place(line)}: {fault}; write it as an escape in double quotes")
    lines: Lines = {}
    try:
        events = yaml.parse(text, Loader=yaml.SafeLoader)
        next(events)  # the beginning of the stream; the next one is that of a document, or the end
        value = None
        if isinstance(next(events), yaml.DocumentStartEvent):
            value = _value(next(events), events, (), lines, as_shown)
            next(events)  # the end of the document
            if not isinstance(event := next(events), yaml.StreamEndEvent):
                raise yaml.MarkedYAMLError(problem="a second document", problem_mark=event.start_mark)
        return value, lines
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{place(line)}: the sign U+{ord(text[error.position]):04X} is not allowed in YAML") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fault = " ".join(f"{error.context or ''} {error.problem or ''}".split())
        kind = "" if isinstance(error, _Odd) else "not YAML: "
        raise ConfigError(f"{place(mark.line + 1 if mark else 1)}: {kind}{fault}") from None


class _Odd(yaml.MarkedYAMLError):
    """What is YAML by its grammar and still not to be read."""

    def __init__(self, fault: str, event: yaml.Event) -> None:
        super().__init__(problem=fault, problem_mark=event.start_mark)


def _value(event: yaml.Event, events: Iterator[yaml.Event], keys: Keys, lines: Lines, as_shown: bool) -> Any:
    """The value that begins with an event; `keys` lead to it, and `lines` gets the line of each setting within it."""
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _Odd("anchors and aliases are not allowed; write the value again", event)
    if event.tag is not None:
        raise _Odd(f"tags are not allowed ({event.tag})", event)
    if len(keys) >= MOST_LEVELS:
        raise _Odd(f"nested more than {MOST_LEVELS} levels deep", event)
    if isinstance(event, yaml.ScalarEvent):
        return _scalar(event, as_shown)
    if isinstance(event, yaml.SequenceStartEvent):
        values: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            inner = (*keys, str(len(values)))
            lines[inner] = event.start_mark.line + 1
            values.append(_value(event, events, inner, lines, as_shown))
        return values
    settings: dict[Any, Any] = {}
    while not isinstance(event := next(events), yaml.MappingEndEvent):
        if isinstance(event, yaml.CollectionStartEvent):
            raise _Odd("a key must be a word", event)
        name, inner = _value(event, events, keys, lines, as_shown), (*keys, event.value)
        if inner in lines:
            raise _Odd(f"duplicate key {event.value!r} (first in line {lines[inner]})", event)
        lines[inner] = event.start_mark.line + 1
        settings[name] = _value(next(events), events, inner, lines, as_shown)
    return settings


def _scalar(event: yaml.ScalarEvent, as_shown: bool) -> Any:
    """The value of a word or text; a word without quotes that is not the same to all readers of YAML is refused."""
    text, short = event.value, event.value[:40]
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise _Odd("half a character (a lone surrogate), which no file and no provider takes", event)
    if event.style is not None:
        return text
    kind = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False)).rpartition(":")[2]
    pattern, fault, advice = WORDS[kind]
    value = READERS.get(kind, str)(text) if (plain := re.fullmatch(pattern, text)) else None
    if not plain:
        fault, advice = f"is {fault}", advice or _plain_digits(text)
    elif kind == "float" and math.isinf(value):
        fault, advice = "is out of the range of numbers", "a smaller one"
    elif as_shown and kind in ("int", "float") and text != str(value):
        fault, advice = f"is a number and would be shown as {value:g}", "it so"
    else:
        return value
    raise _Odd(f'{short} {fault}; write {advice}, or "{short}" in quotes where a text is meant', event)


def _plain_digits(text: str) -> str:
    """How the number that some readers see is written for all of them."""
    try:
        number = float(text)
    except ValueError:  # 0o17
        return "plain digits"
    if math.isinf(number):
        return "a smaller number"
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


# --- settings ---------------------------------------------------------------------------------------------------------


def checked(kind: type[Settings], values: Any, where: str, path: Path | None = None, at: Keys = ()) -> Settings:
    """`values` as a `kind`; what is unknown, missing or of a wrong type is a ConfigError naming `where` and field.

    Where the values stand in a file at `path`, below the keys `at`, each fault is told with its line.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults: dict[Keys, list[Any]] = {}
        for fault in error.errors():
            faults.setdefault(_place(values, fault), []).append(fault)
    messages = []
    for place, several in faults.items():
        # Of the forms that a value may have, the one that was meant is named: the one whose inside was looked into.
        if not place or not any(place == other[: len(place)] != other for other in faults):
            line = line_of(path, (*at, *place)) if path else None
            messages.append((f"line {line}: " if line else "") + _message(kind, place, several))
    raise ConfigError(f"{where}: {'; '.join(messages)}")


def what(value: Any) -> str:
    """What a value is, in a word: a number, a text, a list."""
    names = {str: "a text", bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "settings"}
    return names.get(type(value), "nothing")


def _place(values: Any, fault: Any) -> Keys:
    """Where in the values a fault stands; pydantic also names the form that it tried, which is no part of them."""
    path: list[str | int] = []
    for part in fault["loc"]:
        inside = part in values if isinstance(values, dict) else isinstance(values, list) and isinstance(part, int)
        if inside:
            values = values[part]
        if inside or (fault["type"] == "missing" and part == fault["loc"][-1]):
            path.append(part)
    return tuple(path)


def _message(kind: type[BaseModel], path: Keys, faults: Sequence[Any]) -> str:
    """What is wrong with a field in pydantic's words, with what was found there and what can stand there."""
    name, fields, (fault, *_) = ".".join(map(str, path)), _fields_at(kind, path[:-1]), faults
    value = fault["input"]
    if fault["type"] == "missing":
        return f"key '{name}' is missing"
    if fault["type"] == "extra_forbidden":
        misspelt = isinstance(value, int | float)  # max_token: 100
        secret = KEYS.fullmatch(str(path[-1])) and not misspelt and "api_key_env" in kind.model_fields
        return f"unknown key '{name}'" + (f": {NO_KEY}" if secret else f"; valid keys: {', '.join(fields)}")
    if fault["type"] == "model_type":
        valid = ", ".join(_fields_at(kind, path))
        return f"{f'{name}: ' if path else ''}expected named settings ({valid}), found {what(value)}"
    message = "; or ".join(dict.fromkeys(each["msg"].removeprefix("Value error, ") for each in faults))
    if not path:  # a fault of two fields together names them itself
        return message
    shown = "(not shown)" if NOT_SHOWN & {*path} else repr(value)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
    hints = [QUOTES] if fault["type"] == "string_type" and isinstance(value, int | float) else []
    field = fields.get(next((part for part in reversed(path) if isinstance(part, str)), ""))  # of an item its list
    hints += [field.description] if field and field.description else []
    return "; ".join([f"{name} = {shown}: {message}", *hints])


def _fields_at(kind: type[BaseModel], path: Keys) -> dict[str, Any]:
    """The fields of the settings that stand at a place within others, by the names that files have."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    inner = [each for part in path[:1] if part in fields for each in _models_in(fields[part].annotation)]
    return _fields_at(inner[0] if inner else kind, path[1:]) if path else fields


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]
