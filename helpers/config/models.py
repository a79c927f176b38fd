"""Entries of models.yaml as models: checked by themselves, then for what does not go together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.config.faults import HEADERS, NO_KEY, checked, what
from helpers.config.schema import NAME, ConfigError, ModelEntry
from helpers.config.yaml_text import line_of, read_yaml
from helpers.services import token_parameter, token_parameters
from helpers.types import Model, Price, Question

#: What `params:` must not override, because plan, budget and key rely on it.
RESERVED = {
    *token_parameters(),
    "model",
    "messages",
    "contents",
    "system",
    "system_instruction",
    "stream",
    "n",
    "candidate_count",
    "response_format",
    "response_schema",
    "response_json_schema",
    "should_return_http_response",
    "http_options",
}

#: Names in the store that belong to models of the command line, which are in no models.yaml.
AUDITED = "audit_"
#: Where a name in camelCase, which google-genai takes as well, has its next word.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


def load_models(path: Path = paths.MODELS, knowledge: Mapping[str, Question] | None = None) -> dict[str, Model]:
    """All models of a models.yaml by name; simulated ones are given what they know.

    A `base_url` without `revision` is refused: the same name can serve other weights tomorrow, and the key must tell. A
    list of them are servers with the same weights: which one answers is in no key.
    """
    models, entries = {}, read_yaml(path) or {}
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}: expected an entry a model, found {what(entries)}")
    for name, values in entries.items():
        if str(name).startswith(AUDITED):
            raise ConfigError(
                f"{path}: line {_line(path, name)}: {name}: names that begin with {AUDITED} are those of models that "
                "`recuse audit` is given at an address; call it otherwise"
            )
        models[name] = model_of(name, values, f"{path.name}, model '{name}'", partial(_line, path, name), knowledge)
    return models


def model_of(
    name: Any,
    values: Any,
    where: str,
    place: Callable[..., int | None] | None = None,
    knowledge: Mapping[str, Question] | None = None,
) -> Model:
    """The model that an entry means; `place` tells the line of a field where the entry is one of a file.

    What is wrong with the name, with a field or with two of them together is a ConfigError that begins with `where`.
    """

    def at(field: tuple[str, ...] = ()) -> str:
        return f"{where}: line {place(field)}" if place else where

    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError(f"{at()}: names are lower case letters, digits, _ . - (at most 64)")
    entry = checked(ModelEntry, values, where, place)
    if wrong := _misplaced(entry):
        field, told = wrong
        raise ConfigError(f"{at((field,))}: {told}")
    fields = entry.model_dump(exclude={"context"})
    fields["token_parameter"] = entry.token_parameter or token_parameter(entry.provider, bool(entry.base_url))
    if isinstance(entry.base_url, list):
        fields["base_url"], *others = entry.base_url
        fields["servers"] = tuple(entry.base_url) if others else ()
    fields["price"] = Price(**fields["price"]) if fields["price"] else None
    if entry.provider == "simulated":
        fields["knowledge"] = knowledge or {}
    return Model(name=name, **fields)


def _line(path: Path, name: Any, field: tuple[str | int, ...] = ()) -> int | None:
    return line_of(path, (name, *field))


def _misplaced(entry: ModelEntry) -> tuple[str, str] | None:
    """A field of an entry that does not go with the others, and why; None where all do."""
    if entry.base_url and not entry.revision:
        return "base_url", (
            "base_url needs `revision:` (weights, quantization, template), which enters the key; without it other "
            "weights behind the same name would pass for this model"
        )
    if entry.traits and entry.provider != "simulated":
        return "traits", "traits are the knobs of simulated models; what is sent belongs in `params:`"
    bare = {"key", "token", "secret"} & {each.lower() for each in entry.params}
    if secret := sorted(bare | {each for each in _names_in(entry.params) if HEADERS.fullmatch(each)}):
        return "params", f"params may not hold {', '.join(secret)}: {NO_KEY}"
    if ours := sorted(each for each in entry.params if _HUMP.sub("_", each).lower() in RESERVED):
        return "params", (
            f"params may not hold {', '.join(ours)}: the limit of a reply is `max_tokens:` beside params (plan and "
            "budget count on it), the rest is set by the experiment"
        )
    return None


def _names_in(value: Any) -> Iterator[str]:
    """The names of settings at every depth, in small letters."""
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names_in(each)
    if isinstance(value, dict):
        yield from (str(name).lower() for name in value)


def load_contexts(path: Path = paths.MODELS) -> dict[str, int]:
    """The tokens that prompt and reply may have together, of the models whose entry says so; none without a file.

    What fits is a matter of the server, not of what is asked: it is no field of a Model, and in no key.
    """
    entries = (read_yaml(path) if path.is_file() else None) or {}
    told = {name: values["context"] for name, values in entries.items() if values and "context" in values}
    return {name: tokens for name, tokens in told.items() if type(tokens) is int}  # others are load_models' to refuse
