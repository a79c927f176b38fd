"""models.yaml and limits.yaml: who can be asked, and how much in a minute."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from .. import paths
from ..services import SERVICES, token_parameter, token_parameters
from ..types import Model, Price, Question
from .yaml_text import NAME, NAME_FORM, STRICT, ConfigError, Strict, checked, fault, line_words, read_dict

#: Names in the store that belong to models of the command line, which are in no models.yaml.
AUDITED = "audit_"
#: The vendor of what edits texts by rules: no model that could answer or judge.
RULES = "rules"
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Knowledge = Mapping[str, Question] | None


def _of_one_provider(value: Any, entry: ValidationInfo) -> Any:
    if value and entry.data.get("provider") != {"traits": "simulated", "logprobs": "openai"}[str(entry.field_name)]:
        raise ValueError(fault(str(entry.field_name)))
    return value


def _neither_keys_nor_ours(value: dict[str, Any]) -> dict[str, Any]:
    inner: list[tuple[str, Any]] = []
    json.loads(json.dumps(value), object_pairs_hook=inner.extend)  # the settings at every depth
    key = re.compile(STRICT["key_parameters"], re.I)
    bare = {"key", "token", "secret"} & {name.lower() for name in value}
    if secret := sorted(bare | {name.lower() for name, _ in inner if key.fullmatch(name)}):
        raise ValueError(fault("secret", names=secret, no_key=STRICT["no_key"]))
    reserved = {*token_parameters(), *STRICT["reserved"]}  # google-genai takes names in camelCase as well
    if ours := sorted(name for name in value if re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() in reserved):
        raise ValueError(fault("ours", names=ours))
    return value


def _addresses_alone(value: str | list[str], entry: ValidationInfo) -> str | list[str]:
    urls = [value] if isinstance(value, str) else value
    for url in urls:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(fault("scheme"))
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(fault("alone"))
        if end := re.search(STRICT["calls"], parts.path):
            cut = end.end("version") if end["version"] and entry.data.get("provider") == "openai" else end.start()
            raise ValueError(fault("call", base=f"{parts.scheme}://{parts.netloc}{parts.path[:cut]}"))
    if not urls or len(set(urls)) < len(urls):
        raise ValueError(fault("different"))
    if not entry.data.get("revision", True):  # a wrong one is an error of its own
        raise ValueError(fault("revision"))
    return value


class PriceEntry(Strict):
    """US dollars for a million tokens."""

    input: Usd
    output: Usd


class ModelEntry(Strict):
    """One entry of models.yaml; the fields are those of `types.Model`."""

    provider: Literal[(*SERVICES, "simulated")] = Field(description=fault("provider"))  # type: ignore[valid-type]
    model_id: str
    vendor: str
    tier: str = ""
    params: Annotated[dict[str, Any], AfterValidator(_neither_keys_nor_ours)] = Field({})
    traits: Annotated[dict[str, Any], AfterValidator(_of_one_provider)] = Field({})
    max_tokens: int = Field(2048, ge=1)
    context: int | None = Field(None, ge=1)
    token_parameter: str | None = None
    structured: bool = True
    enforced: bool = False
    pin_id: bool = True
    logprobs: Annotated[int | None, AfterValidator(_of_one_provider)] = Field(None, ge=1)
    revision: dict[str, str] | None = None
    base_url: Annotated[str | list[str], AfterValidator(_addresses_alone)] | None = None
    api_key_env: str | None = Field(None, pattern="^[A-Za-z_][A-Za-z0-9_]*$", description=fault("api_key_env"))
    price: PriceEntry | None = None
    retires: str | None = None
    released: str | None = Field(None, pattern=r"^20\d\d-(0[1-9]|1[0-2])$")
    timeout_seconds: Rate = 600.0
    concurrency: int | None = Field(None, ge=1)


def load_models(path: Path = paths.MODELS, knowledge: Knowledge = None) -> dict[str, Model]:
    """All models of a models.yaml by name; simulated ones are given what they know."""
    models = {}
    for name, values in read_dict(path, "an entry a model").items():
        if str(name).startswith(AUDITED):
            raise ConfigError(f"{path}: {line_words(path, (name,))}{fault('audited', name=name, prefix=AUDITED)}")
        models[name] = model_of(name, values, f"{path.name}, model '{name}'", path, knowledge)
    return models


def model_of(name: Any, values: Any, where: str, path: Path | None = None, knowledge: Knowledge = None) -> Model:
    """The model that an entry means, in the file at `path` if any; ConfigErrors begin with `where`."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConfigError(f"{where}: {line_words(path, (name,))}names are {NAME_FORM}")
    entry = checked(ModelEntry, values, where, path, (name,))
    urls = [entry.base_url] if isinstance(entry.base_url, str) else entry.base_url or [None]
    fields = entry.model_dump() | {
        "base_url": urls[0],
        "servers": tuple(urls) if len(urls) > 1 else (),
        "token_parameter": entry.token_parameter or token_parameter(entry.provider, bool(entry.base_url)),
        "price": Price(**entry.price.model_dump()) if entry.price else None,
    }
    return Model(name, **fields, knowledge=(knowledge or {}) if entry.provider == "simulated" else {})


def perhaps(names: Sequence[str], valid: Iterable[str]) -> str:
    """What an error adds to unknown names: the nearest known one of each, in brackets, if any is near."""
    near = dict.fromkeys(found for name in names for found in get_close_matches(name, [*valid], 1))
    return f" (did you mean {', '.join(near)}?)" if near else ""


def known_models(names: list[str], info: ValidationInfo, published: bool = False) -> tuple[Model, ...]:
    """The models with these names; ValueError where one is unknown, or only edits and cannot be `published`."""
    models, role = info.context or {}, str(info.field_name).removesuffix("s")
    if unknown := [name for name in names if name not in models]:
        valid = sorted(name for name, model in models.items() if published or model.vendor != RULES)
        words = "unknown_or_published" if published else "unknown_model"
        raise ValueError(fault(words, role=role, names=unknown, near=perhaps(unknown, valid), known=valid))
    if rules := [name for name in names if models[name].vendor == RULES and not published]:
        raise ValueError(fault("rules", role=role, names=rules))
    return tuple(models[name] for name in names)


class LimitEntry(Strict):
    """One entry of limits.yaml; what is not named is not limited."""

    requests_per_minute: Rate | None = None
    tokens_per_minute: Rate | None = None

    @model_validator(mode="after")
    def _limits_something(self) -> LimitEntry:
        if self.requests_per_minute is None and self.tokens_per_minute is None:
            raise ValueError(fault("no_limit"))
        return self


def load_limits(models: Mapping[str, Model] | None = None, path: Path = paths.LIMITS) -> dict[str, LimitEntry]:
    """The limits of limits.yaml, if there, by provider or `base_url` (of `models`, if given), else ConfigError."""
    urls = sorted({url for model in (models or {}).values() for _, url in model.addresses if url})
    valid, limits = [*SERVICES, *(urls or ["a base_url of models.yaml"])], {}
    for name, values in (read_dict(path, "an entry a provider or address") if path.is_file() else {}).items():
        address = isinstance(name, str) and name.startswith(("http://", "https://"))
        if name not in SERVICES and not (name in urls if models is not None else address):
            raise ConfigError(f"{path.name}, {line_words(path, (name,))}{fault('no_address', name=name, valid=valid)}")
        limits[name] = checked(LimitEntry, values, f"{path.name}, '{name}'", path, (name,))
    return limits
