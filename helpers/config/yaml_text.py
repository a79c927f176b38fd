"""YAML text into plain values: the only reader of it, which takes nothing that another reader could take otherwise."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from helpers.config.schema import ConfigError

#: Bytes of a file, and levels of lists in lists: no configuration has more.
MOST_BYTES = 1_000_000
MOST_LEVELS = 50

_TRUTH = re.compile("true|True|TRUE|false|False|FALSE")
_WHOLE = re.compile("[-+]?(?:0|[1-9][0-9]*)")
_BROKEN = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\.[0-9]*(?:[eE][-+][0-9]+)?")
#: What YAML 1.2 calls a number and PyYAML, which reads YAML 1.1, a text.
_NUMBER_ELSEWHERE = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+")
_BREAKS = re.compile("[\x85\u2028\u2029]|\r(?!\n)")
_TAG = "tag:yaml.org,2002:"
#: Longer whole numbers are none that anything here could count.
_MOST_DIGITS = 30


class _Odd(yaml.YAMLError):
    """What is YAML by its grammar and still not to be read."""

    def __init__(self, told: str, mark: yaml.Mark) -> None:
        super().__init__(told)
        self.problem, self.problem_mark = told, mark


class _Loader(yaml.SafeLoader):
    """SafeLoader without what surprises: no aliases, tags, merges, duplicate keys, and no word that is a value."""

    shown = False
    level = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        event = self.peek_event()
        if isinstance(event, yaml.events.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _Odd("anchors and aliases are not allowed; write the value again", event.start_mark)
        if getattr(event, "tag", None) is not None:
            raise _Odd(f"tags are not allowed ({event.tag})", event.start_mark)
        self.level += 1
        if self.level > MOST_LEVELS:
            raise _Odd(f"nested more than {MOST_LEVELS} levels deep", event.start_mark)
        node = super().compose_node(parent, index)
        self.level -= 1
        if isinstance(node, yaml.ScalarNode):
            self._plain(node) if node.style is None else self._whole_letters(node)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        seen: dict[str, int] = {}
        for key, _ in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise _Odd("a key must be a word", key.start_mark)
            if key.value in seen:
                raise _Odd(f"duplicate key {key.value!r} (first in line {seen[key.value]})", key.start_mark)
            seen[key.value] = line
        return super().construct_mapping(node, deep)

    def _plain(self, node: yaml.ScalarNode) -> None:
        """Refuse a word without quotes that readers of YAML take for different values."""
        text, kind = node.value, node.tag.removeprefix(_TAG)
        told = ""
        if kind == "bool" and not _TRUTH.fullmatch(text):
            told = f"{text} is a truth value to some readers of YAML and a word to others; write true, false"
        elif kind in ("timestamp", "merge", "value"):
            told = f"{text} is a {'date' if kind == 'timestamp' else 'sign'} of YAML, not a text; write it"
        elif kind == "int" and (not _WHOLE.fullmatch(text) or len(text) > _MOST_DIGITS):
            told = f"{text[:40]} is not a whole number to every reader of YAML; write it in plain digits (at most 30)"
        elif kind == "float" and not _BROKEN.fullmatch(text):
            told = f"{text[:40]} is not a finite number to every reader of YAML; write digits with a point (1000.0)"
        elif kind == "float" and math.isinf(float(text)):
            told = f"{text[:40]} is out of the range of numbers; write a smaller one"
        elif kind == "str" and _NUMBER_ELSEWHERE.fullmatch(text):
            told = f"{text[:40]} is a number to some readers of YAML and a text to others; write {_plainly(text)}"
        elif self.shown and kind in ("int", "float") and text != str((int if kind == "int" else float)(text)):
            told = f"{text} is a number and would be shown as {float(text):g}; write it so"
        if told:
            raise _Odd(f'{told}, or "{text[:40]}" in quotes where a text is meant', node.start_mark)

    def _whole_letters(self, node: yaml.ScalarNode) -> None:
        if any("\ud800" <= sign <= "\udfff" for sign in node.value):
            raise _Odd("half a character (a lone surrogate), which no file and no provider takes", node.start_mark)


def _plainly(text: str) -> str:
    """How the number that some readers see is written for all of them."""
    try:
        number = float(text)
    except ValueError:  # 0o17
        return "plain digits"
    if math.isinf(number):
        return "a smaller number"
    return f"{number:.0f}" if number.is_integer() and abs(number) < 1e15 else repr(number)


class _Shown(_Loader):
    """For files whose numbers are shown to readers letter by letter."""

    shown = True


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
    return deepcopy(_file(text, shown, path))


@lru_cache(maxsize=128)
def _file(text: str, shown: bool, path: Path) -> Any:
    """The content of a file, read once while it stays the same: a run settles many experiments on the same files."""
    return _parsed(text, _Shown if shown else _Loader, lambda line: f"{path}, line {line}")


def line_of(path: Path, keys: Sequence[str | int]) -> int | None:
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


def parse_yaml(text: str, where: str) -> Any:
    """A value written as YAML on the command line, read as strictly; `where` says in errors what it is for."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise ConfigError(f"{where}: longer than 1 MB")
    return _parsed(text, _Loader, lambda _: where)


def _parsed(text: str, loader: type[_Loader], place: Callable[[int], str]) -> Any:
    for sign in _BREAKS.finditer(text):
        line = text.count("\n", 0, sign.start()) + 1
        told = f"U+{ord(sign[0]):04X} ends a line to some readers of YAML and not to others"
        raise ConfigError(f"{place(line)}: {told}; write it as an escape in double quotes")
    try:
        return yaml.load(text, Loader=loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ConfigError(f"{place(line)}: the sign U+{ord(text[error.position]):04X} is not allowed in YAML") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        told = " ".join(f"{error.context or ''} {error.problem or ''}".split())
        raise ConfigError(f"{place(mark.line + 1 if mark else 1)}: not YAML: {told}") from None
    except _Odd as error:
        raise ConfigError(f"{place(error.problem_mark.line + 1)}: {error.problem}") from None
