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
#: Bytes of a file, levels of lists in lists, and digits of a whole number: no configuration has more.
MOST_BYTES = 1_000_000
MOST_LEVELS = 50
MOST_DIGITS = 30

#: How numbers and truth values are written so that readers of YAML 1.1 (PyYAML) and of YAML 1.2 agree on them.
_TRUTH = re.compile("true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile("[-+]?(?:0|[1-9][0-9]*)")
_BROKEN = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]*(?:[eE][-+][0-9]+)?")
#: What YAML 1.2 calls a number and PyYAML a text.
_NUMBER_ELSEWHERE = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+")
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

Keys = Sequence[str | int]


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the place, what was found and what is valid."""


class Strict(BaseModel):
    """Settings of which none is unknown, none changes and no type is guessed: True is no number, and "5" is none.

    The `description` of a field is what an error about it adds: what can stand there.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


Settings = TypeVar("Settings", bound=BaseModel)


# --- values -----------------------------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """SafeLoader without what surprises: no aliases, tags, merges, duplicate keys, and no word that is a value.

    `as_shown` is for files whose numbers are shown to readers letter by letter.
    """

    level = 0

    def __init__(self, text: str, as_shown: bool = False) -> None:
        super().__init__(text)
        self.as_shown = as_shown

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _odd("anchors and aliases are not allowed; write the value again", event)
        if getattr(event, "tag", None) is not None:
            raise _odd(f"tags are not allowed ({event.tag})", event)
        self.level += 1
        if self.level > MOST_LEVELS:
            raise _odd(f"nested more than {MOST_LEVELS} levels deep", event)
        node = super().compose_node(parent, index)
        self.level -= 1
        if isinstance(node, yaml.ScalarNode):
            if node.style is None and (fault := _ambiguity(node, self.as_shown)):
                raise _odd(f'{fault}, or "{node.value[:40]}" in quotes where a text is meant', node)
            if any("\ud800" <= sign <= "\udfff" for sign in node.value):
                raise _odd("half a character (a lone surrogate), which no file and no provider takes", node)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        lines: dict[str, int] = {}
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _odd("a key must be a word", key)
            if key.value in lines:
                raise _odd(f"duplicate key {key.value!r} (first in line {lines[key.value]})", key)
            lines[key.value] = key.start_mark.line + 1
        return super().construct_mapping(node, deep)


class _Odd(yaml.MarkedYAMLError):
    """What is YAML by its grammar and still not to be read."""


def _odd(problem: str, at: yaml.Event | yaml.Node) -> _Odd:
    return _Odd(problem=problem, problem_mark=at.start_mark)


def _ambiguity(node: yaml.ScalarNode, as_shown: bool) -> str:
    """Why readers of YAML take a word without quotes for different values, and what to write; "" where they do not."""
    text, kind = node.value, node.tag.rpartition(":")[2]
    short = text[:40]
    if kind == "bool" and not _TRUTH.fullmatch(text):
        return f"{text} is a truth value to some readers of YAML and a word to others; write true, false"
    if kind in ("timestamp", "merge", "value"):
        return f"{text} is a {'date' if kind == 'timestamp' else 'sign'} of YAML, not a text; write it"
    if kind == "int" and (not _WHOLE.fullmatch(text) or len(text) > MOST_DIGITS):
        return (
            f"{short} is not a whole number to every reader of YAML; write it in plain digits (at most {MOST_DIGITS})"
        )
    if kind == "float" and not _BROKEN.fullmatch(text):
        return f"{short} is not a finite number to every reader of YAML; write digits with a point (1000.0)"
    if kind == "float" and math.isinf(float(text)):
        return f"{short} is out of the range of numbers; write a smaller one"
    if kind == "str" and _NUMBER_ELSEWHERE.fullmatch(text):
        return f"{short} is a number to some readers of YAML and a text to others; write {_plain_digits(text)}"
    if as_shown and kind in ("int", "float") and text != str((int if kind == "int" else float)(text)):
        return f"{text} is a number and would be shown as {float(text):g}; write it so"
    return ""


def _plain_digits(text: str) -> str:
    """How the number that some readers see is written for all of them."""
    try:
        number = float(text)
    except ValueError:  # 0o17
        return "plain digits"
    if math.isinf(number):
        return "a smaller number"
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text ({error.reason})") from None
    return deepcopy(_parse_file(text, shown, path))


@lru_cache(maxsize=128)
def _parse_file(text: str, shown: bool, path: Path) -> Any:
    """The content of a file, parsed once while it stays the same: a run reads the same files for many experiments."""
    return _parse(text, lambda line: f"{path}, line {line}", shown)


def parse_yaml(text: str, where: str) -> Any:
    """A value written as YAML on the command line, read as strictly; `where` says in errors what it is for."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise ConfigError(f"{where}: longer than 1 MB")
    return _parse(text, lambda _: where)


def _parse(text: str, place: Callable[[int], str], as_shown: bool = False) -> Any:
    for sign in _BREAKS.finditer(text):
        fault = f"U+{ord(sign[0]):04X} ends a line to some readers of YAML and not to others"
        line = text.count("\n", 0, sign.start()) + 1
        raise ConfigError(f"{place(line)}: {fault}; write it as an escape in double quotes")
    try:
        return _Loader(text, as_shown).get_single_data()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{place(line)}: the sign U+{ord(text[error.position]):04X} is not allowed in YAML") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        fault = " ".join(f"{error.context or ''} {error.problem or ''}".split())
        kind = "" if isinstance(error, _Odd) else "not YAML: "
        raise ConfigError(f"{place(mark.line + 1 if mark else 1)}: {kind}{fault}") from None


def line_of(path: Path, keys: Keys) -> int | None:
    """The line of a file in which the setting with these names stands, or of what is around it where it is missing.

    None where the file is no YAML (any more).
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=_Loader)
    except (yaml.YAMLError, OSError, UnicodeDecodeError):
        return None
    line = None
    for key in keys:
        inner = {}
        if isinstance(node, yaml.MappingNode):
            inner = {name.value: (name, value) for name, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            inner = {str(place): (value, value) for place, value in enumerate(node.value)}
        if str(key) not in inner:
            break
        name, node = inner[str(key)]
        line = name.start_mark.line + 1
    return line


# --- settings ---------------------------------------------------------------------------------------------------------


def checked(kind: type[Settings], values: Any, where: str, path: Path | None = None, at: Keys = ()) -> Settings:
    """`values` as a `kind`; what is unknown, missing or of a wrong type is a ConfigError naming `where` and field.

    Where the values stand in a file at `path`, below the keys `at`, each fault is told with its line.
    """
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults: dict[tuple[str | int, ...], list[Any]] = {}
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


def _place(values: Any, fault: Any) -> tuple[str | int, ...]:
    """Where in the values a fault stands; pydantic also names the form that it tried, which is no part of them."""
    path: list[str | int] = []
    for part in fault["loc"]:
        inside = part in values if isinstance(values, dict) else isinstance(values, list) and isinstance(part, int)
        if inside:
            values = values[part]
        if inside or (fault["type"] == "missing" and part == fault["loc"][-1]):
            path.append(part)
    return tuple(path)


def _message(kind: type[BaseModel], path: tuple[str | int, ...], faults: Sequence[Any]) -> str:
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
    hints += [fields[path[-1]].description] if path[-1] in fields and fields[path[-1]].description else []
    return "; ".join([f"{name} = {shown}: {message}", *hints])


def _fields_at(kind: type[BaseModel], path: Keys) -> dict[str, Any]:
    """The fields of the settings that stand at a place within others, by the names that files have."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    for place, part in enumerate(path):
        if part in fields:
            return _fields_at(next(_models_in(fields[part].annotation), kind), path[place + 1 :])
    return fields


def _models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models_in(each)
