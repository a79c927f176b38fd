"""What is wrong with settings, in words of our own: where, which field, what was found, what is valid."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from helpers.config.schema import ConfigError

Path = tuple[str | int, ...]
#: What a fault of each kind says, in pydantic's names for kinds and for what they know.
WORDS = {
    "string_type": 'must be a text; what YAML takes for a number, a truth value or nothing is a text in quotes: "3.10"',
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_type": "must be true or false",
    "list_type": "must be a list: [first, second]",
    "dict_type": "must be named settings: {{name: value}}",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le:g} or less",
    "too_short": "must hold at least {min_length}",
    "string_too_short": "must have at least {min_length} character",
    "string_pattern_mismatch": "must have the form {pattern}",
    "literal_error": "must be {expected}",
}
#: What values are called where settings with names were expected.
FOUND = {str: "a text", bool: "a truth value", int: "a number", float: "a number", list: "a list"}
#: Fields that could hold a key by mistake; what stands there is never shown.
NOT_SHOWN = {"api_key_env", "base_url"}
#: How the names of fields end under which people write a key down: key, OPENAI_API_KEY, apiToken.
KEYS = re.compile(r".*(?:key|token|secret|password|passwd|passphrase|credential|bearer|auth|authorization)s?", re.I)
#: Those names of parameters that name nothing else, as `stop_token` and `prompt_cache_key` do, at whatever depth:
#: parameters are sent and stored as they stand.
HEADERS = re.compile(r".*(?:api|access|auth|client|secret)[_-]?(?:key|token|secret)s?|.*authorization|.*password", re.I)
NO_KEY = (
    "a key never stands in a file: put it into an environment variable and name that one, `api_key_env: MY_SERVER_KEY` "
    "(a provider's own address needs no such line, see .env.example); renew a key that somebody may have read here"
)
LONGEST_SHOWN = 80


def checked(kind: type[BaseModel], values: Any, where: str, line_of: Callable[[Path], int | None] | None = None) -> Any:
    """`values` as a `kind`; what is unknown, missing or of a wrong type is a ConfigError naming `where` and field.

    `line_of` finds the line of a field in the file that the values are from.
    """

    def placed(path: Path, told: str) -> str:
        line = line_of(path) if line_of else None
        return f"line {line}: {told}" if line else told

    if not isinstance(values, dict):
        told = f"expected named settings ({', '.join(_names(kind))}), found {what(values)}"
        raise ConfigError(f"{where}: {placed((), told)}")
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        faults = [(_path(values, fault), fault) for fault in error.errors()]
        deepest = [path for path, _ in faults]
        told = [
            placed(path, _told(kind, path, fault))
            for path, fault in faults
            # Of several forms that a value may have, the one that was meant is told: where it was looked into.
            if not any(path == other[: len(path)] and path != other for other in deepest if path)
        ]
        raise ConfigError(f"{where}: " + "; ".join(dict.fromkeys(told))) from None


def what(value: Any) -> str:
    """What a value is, in a word: a number, a text, a list."""
    return "nothing" if value is None else FOUND.get(type(value), type(value).__name__)


def _path(values: Any, fault: Mapping[str, Any]) -> Path:
    """Where in the values a fault stands; pydantic also names the form that it tried, which is no part of them."""
    path: list[str | int] = []
    for part in fault["loc"]:
        inside = part in values if isinstance(values, dict) else isinstance(values, list) and isinstance(part, int)
        if inside:
            values = values[part]
        if inside or (fault["type"] == "missing" and part == fault["loc"][-1]):
            path.append(part)
    return tuple(path)


def _told(kind: type[BaseModel], path: Path, fault: Mapping[str, Any]) -> str:
    field, context = ".".join(map(str, path)), fault.get("ctx", {})
    if fault["type"] == "missing":
        return f"key '{field}' is missing"
    if fault["type"] == "extra_forbidden":
        inner = _model_at(kind, path[:-1])
        number = isinstance(fault["input"], int | float)  # max_token: 100
        if KEYS.fullmatch(str(path[-1])) and not number and "api_key_env" in kind.model_fields:
            return f"unknown key '{field}': {NO_KEY}"
        return f"unknown key '{field}'; valid keys: {', '.join(_names(inner))}"
    if fault["type"] == "value_error":
        told = str(context["error"])
    elif fault["type"] in ("model_type", "model_attributes_type"):
        told = f"must be named settings: {{{', '.join(f'{name}: ...' for name in _names(_model_at(kind, path)))}}}"
    else:
        told = WORDS.get(fault["type"], fault["msg"]).format(**context)
    if not path:  # a fault of the whole names its fields itself
        return told
    shown = "(not shown)" if NOT_SHOWN & {*path} else _short(repr(fault["input"]))
    return f"{field} = {shown}: {told}"


def _names(kind: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in kind.model_fields.items()]


def _model_at(kind: type[BaseModel], path: Path) -> type[BaseModel]:
    """The settings that stand at a place within others."""
    for part in path:
        named = {field.alias or name: field.annotation for name, field in kind.model_fields.items()}
        kind = next(_models(named.get(part)), kind)
    return kind


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for each in get_args(annotation):
        yield from _models(each)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
