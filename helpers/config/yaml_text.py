"""YAML text into plain values and frozen settings, strictly: whatever is wrong is named with file, line and field."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from ..paths import load_table

#: Names of models, biases and scenarios.
NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")
NAME_FORM = "lower case letters, digits, _ . - (at most 64)"
#: Bytes of a file, and levels of lists in lists: no configuration has more.
MOST_BYTES, MOST_LEVELS = 1_000_000, 50

#: How words of YAML are written, and names that stand for keys; explained in strict.toml.
STRICT = load_table("config/strict.toml")
READERS = {"null": lambda _: None, "bool": lambda word: word.lower() == "true", "int": int, "float": float}
#: Signs that end a line to some readers of YAML only, and those that YAML does not allow.
_ENDS = "\r\x85\u2028\u2029"
_SIGN = re.compile(f"\r(?!\n)|[{_ENDS[1:]}]|{yaml.reader.Reader.NON_PRINTABLE.pattern}")

LONGEST_SHOWN = 80
QUOTES = 'a text that YAML takes for a number or a truth value stands in quotes: "3.10"'

Keys = tuple[str | int, ...]
#: The line of each setting of a file, by the names (and places in lists) that lead to it.
Lines = dict[tuple[str, ...], int]


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the place, what was found and what is valid."""


class Strict(BaseModel):
    """Settings without unknown fields, frozen, of exact types; an error ends with the field's `description`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


Settings = TypeVar("Settings", bound=BaseModel)


def fault(kind: str, /, **facts: Any) -> str:
    """The words of strict.toml for a fault; lists of names are joined."""
    joined = {key: ", ".join(each) if isinstance(each, list | tuple) else each for key, each in facts.items()}
    return STRICT["faults"][kind].format(**joined)


def read_yaml(path: Path, shown: bool = False) -> Any:
    """What stands in a YAML file; with `shown` each number must be written as it is shown (no 3.10, which is 3.1).

    Aliases, anchors, tags, duplicate keys, files above 1 MB, deep nesting and words that readers of YAML take for
    different values (no, 1e3, 010, 1_000, dates) are a ConfigError with file and line.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: no such file")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"{path}: larger than 1 MB, which no configuration of ours is")
    return deepcopy(_parse_file(path.read_bytes(), shown, path)[0])


def read_dict(path: Path, expected: str) -> dict[Any, Any]:
    """The entries of a YAML file by name; what is expected is in the error where it holds anything else."""
    entries = read_yaml(path) or {}
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}: expected {expected}, found {_what(entries)}")
    return entries


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
    """The line of the setting with these names, or of what is around it; None where the file is no YAML (any more)."""
    try:
        lines = _parse_file(path.read_bytes(), False, path)[1]
    except (ConfigError, OSError):
        return None
    around = (tuple(map(str, keys[:end])) for end in range(len(keys), 0, -1))
    return next((lines[place] for place in around if place in lines), None)


def _parse(text: str, place: Callable[[int], str], as_shown: bool = False) -> tuple[Any, Lines]:
    """A document's value, and the lines of its settings by the names that lead to each; `place` names a line."""
    if sign := _SIGN.search(text):
        fault = "ends a line to some readers of YAML and not to others" if sign[0] in _ENDS else "is no sign of YAML"
        line = text.count("\n", 0, sign.start()) + 1
        raise ConfigError(f"{place(line)}: U+{ord(sign[0]):04X} {fault}; write it as an escape in double quotes")
    lines: Lines = {}
    try:
        node = _Loader(text).get_single_node()
        return (_value(node, (), lines, as_shown) if node else None), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        kind = "" if type(error) is yaml.MarkedYAMLError else "not YAML: "
        words = " ".join(f"{error.context or ''} {error.problem or ''}".split())
        raise ConfigError(f"{place(mark.line + 1 if mark else 1)}: {kind}{words}") from None


def _fault(words: str, place: yaml.Event | yaml.Node) -> yaml.MarkedYAMLError:
    """What is wrong where an event or a node begins, though the grammar of YAML allows it."""
    return yaml.MarkedYAMLError(problem=words, problem_mark=place.start_mark)


class _Loader(yaml.composer.Composer, yaml.CSafeLoader):
    """Nodes without anchors, aliases and tags, and no deeper than configurations are; libyaml reads their text."""

    __init__ = yaml.CSafeLoader.__init__
    anchors: Mapping[str, yaml.Node] = {}  # none is allowed
    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event = self.peek_event()
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            raise _fault("anchors and aliases are not allowed; write the value again", event)
        if event.tag is not None:
            raise _fault(f"tags are not allowed ({event.tag})", event)
        if self.depth >= MOST_LEVELS:
            raise _fault(f"nested more than {MOST_LEVELS} levels deep", event)
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _value(node: yaml.Node, keys: Keys, lines: Lines, as_shown: bool) -> Any:
    """The value of a node; `keys` lead to it, and `lines` gets the line of each setting within it."""
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, as_shown)
    listed = isinstance(node, yaml.SequenceNode)
    settings: dict[Any, Any] = {}
    for place, each in enumerate(node.value):
        key, value = (None, each) if listed else each
        if key and not isinstance(key, yaml.ScalarNode):
            raise _fault("a key must be a word", key)
        inner: Any = (*keys, key.value if key else str(place))
        if inner in lines:
            raise _fault(f"duplicate key {key.value!r} (first in line {lines[inner]})", key)
        lines[inner] = (key or value).start_mark.line + 1
        settings[_scalar(key, as_shown) if key else place] = _value(value, inner, lines, as_shown)
    return [*settings.values()] if listed else settings


def _scalar(node: yaml.ScalarNode, as_shown: bool) -> Any:
    """The value of a word or text; a word without quotes that is not the same to all readers of YAML is refused."""
    text, short, kind = node.value, node.value[:40], node.tag.rpartition(":")[2]
    if node.style:
        return text
    word = STRICT["words"][kind]
    reader: Any = READERS.get(kind, str)
    value = reader(text) if (plain := re.fullmatch(word.get("form", "(?!)"), text)) else None
    if not plain:
        fault, advice = f"is {word['fault']}", word["advice"]
    elif kind == "float" and math.isinf(value):
        fault, advice = "is out of the range of numbers", "a smaller one"
    elif as_shown and kind in ("int", "float") and text != str(value):
        fault, advice = f"is a number and would be shown as {value:g}", "it so"
    else:
        return value
    raise _fault(f'{short} {fault}; write {advice}, or "{short}" in quotes where a text is meant', node)


def checked(
    kind: type[Settings], values: Any, where: str, path: Path | None = None, at: Keys = (), context: Any = None
) -> Settings:
    """`values` as a `kind`; what is unknown, missing or of a wrong type is a ConfigError naming `where` and field.

    Where they stand in a file at `path`, below the keys `at`, each fault has its line; validators see the `context`.
    """
    faults: dict[Keys, list[Any]] = {}
    try:
        return kind.model_validate(values, context=context)
    except ValidationError as error:
        for each in error.errors():
            faults.setdefault(_place(values, each), []).append(each)
    # Of the forms that a value may have, the one that was meant is named: the one whose inside was looked into.
    meant = [place for place in faults if not any(place == other[: len(place)] != other for other in faults if place)]
    words = [line_words(path, (*at, *place)) + _message(kind, place, faults[place]) for place in meant]
    raise ConfigError(f"{where}: {'; '.join(words)}")


def line_words(path: Path | None, keys: Keys) -> str:
    """How an error about the setting with these names begins: "line 5: ", or "" where no line is."""
    return f"line {line}: " if path and (line := line_of(path, keys)) else ""


def _what(value: Any) -> str:
    """What a value is, in a word: a number, a text, a list."""
    names = {str: "a text", bool: "a truth value", int: "a number", float: "a number", list: "a list", dict: "settings"}
    return names.get(type(value), "nothing")


def _place(values: Any, fault: Any) -> Keys:
    """Where in the values a fault stands; pydantic also names the form that it tried, which is no part of them."""
    path: list[str | int] = []
    for part in fault["loc"]:
        inside = part in values if isinstance(values, dict) else isinstance(values, list) and part in range(len(values))
        if inside:
            values = values[part]
        if inside or (fault["type"] == "missing" and part == fault["loc"][-1]):
            path.append(part)
    return tuple(path)


def _message(kind: type[BaseModel], path: Keys, faults: Sequence[Any]) -> str:
    """What is wrong with a field in pydantic's words, with what was found there and what can stand there."""
    name, fields, fault = ".".join(map(str, path)), _fields_at(kind, path[:-1]), faults[0]
    value, number = fault["input"], isinstance(fault["input"], int | float)
    if fault["type"] == "missing":
        return f"key '{name}' is missing"
    if fault["type"] == "extra_forbidden":
        sounds = re.fullmatch(STRICT["key_fields"], str(path[-1]), re.I) and "api_key_env" in kind.model_fields
        secret = sounds and not number  # a number is no key: max_token: 100
        return f"unknown key '{name}'" + (f": {STRICT['no_key']}" if secret else f"; valid keys: {', '.join(fields)}")
    if fault["type"] == "model_type":
        valid = ", ".join(_fields_at(kind, path))
        return f"{f'{name}: ' if path else ''}expected named settings ({valid}), found {_what(value)}"
    message = "; or ".join(dict.fromkeys(each["msg"].removeprefix("Value error, ") for each in faults))
    if not path:  # a fault of two fields together names them itself
        return message
    shown = "(not shown)" if {*path} & {*STRICT["not_shown"]} else repr(value)
    shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}..."
    field = fields.get(next((part for part in reversed(path) if isinstance(part, str)), ""))  # of an item its list
    hints = [QUOTES if fault["type"] == "string_type" and number else "", (field and field.description) or ""]
    return "; ".join([f"{name} = {shown}: {message}", *filter(None, hints)])


def _fields_at(kind: type[BaseModel], path: Keys) -> dict[str, Any]:
    """The fields of the settings that stand at a place within others, by the names that files have."""
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    inner = [each for part in path[:1] if part in fields for each in _models_in(fields[part].annotation)]
    return _fields_at(inner[0] if inner else kind, path[1:]) if path else fields


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for each in get_args(annotation) for model in _models_in(each)]
