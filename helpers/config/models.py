"""models.yaml and limits.yaml: who can be asked, and how much in a minute."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from helpers import paths
from helpers.config.yaml_text import NAME, NAME_FORM, STRICT, ConfigError, Strict, checked, line_words, read_yaml, what
from helpers.services import SERVICES, token_parameter, token_parameters
from helpers.types import Model, Price, Question

#: What `params:` must not override.
RESERVED = {*token_parameters(), *STRICT["reserved"]}
#: Where a name in camelCase, which google-genai takes as well, has its next word.
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: Names in the store that belong to models of the command line, which are in no models.yaml.
AUDITED = "audit_"
#: The vendor of what edits texts by rules: no model that could answer or judge.
RULES = "rules"
#: What the SDKs put behind a `base_url`.
CALLS = re.compile(
    "(?P<version>{version})?/(?:{plain}|(?(version)(?:{versioned})|(?!)))/*\\Z".format(**STRICT["calls"])
)
Usd = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _of_simulated_models(value: dict[str, Any], entry: ValidationInfo) -> dict[str, Any]:
    if value and entry.data.get("provider") != "simulated":
        raise ValueError("these are the knobs of simulated models; what is sent belongs in `params:`")
    return value


def _neither_keys_nor_ours(value: dict[str, Any]) -> dict[str, Any]:
    inner: list[tuple[str, Any]] = []
    json.loads(json.dumps(value), object_pairs_hook=inner.extend)  # the settings at every depth
    key = re.compile(STRICT["key_parameters"], re.I)
    bare = {"key", "token", "secret"} & {name.lower() for name in value}
    if secret := sorted(bare | {name.lower() for name, _ in inner if key.fullmatch(name)}):
        raise ValueError(f"may not hold {', '.join(secret)}: {STRICT['no_key']}")
    if ours := sorted(name for name in value if _HUMP.sub("_", name).lower() in RESERVED):
        raise ValueError(
            f"may not hold {', '.join(ours)}: the limit of a reply is `max_tokens:` beside params (plan and budget "
            "count on it), the rest is set by the experiment"
        )
    return value


def _addresses_alone(value: str | list[str], entry: ValidationInfo) -> str | list[str]:
    urls = [value] if isinstance(value, str) else value
    for url in urls:
        _check_address(url, entry.data.get("provider"))
    if not urls or len(set(urls)) < len(urls):
        raise ValueError("must be an address, or a list of the different addresses of servers with the same weights")
    if not entry.data.get("revision", True):  # a wrong one is an error of its own
        raise ValueError(
            "needs `revision:` (weights, quantization, template), which enters the key; without it other weights "
            "behind the same name would pass for this model"
        )
    return value


def _check_address(url: str, provider: str | None) -> None:
    """Refuse (ValueError) what is not the address of an API alone."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must begin with http:// or https:// and name a host, such as http://127.0.0.1:8000/v1")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            "must be an address alone, such as http://127.0.0.1:8000/v1: a name, a password or what follows ? or # "
            "would stand in errors and logs; put the key into a variable and name it in `api_key_env`"
        )
    if end := CALLS.search(parts.path):
        cut = end.end("version") if end["version"] and provider == "openai" else end.start()
        base = f"{parts.scheme}://{parts.netloc}{parts.path[:cut]}"
        raise ValueError(f"must be the address of the API alone, to which each call adds its path; write {base}")


class PriceEntry(Strict):
    """US dollars for a million tokens."""

    input: Usd
    output: Usd


class ModelEntry(Strict):
    """One entry of models.yaml; the fields are those of `types.Model`."""

    provider: Literal[(*SERVICES, "simulated")] = Field(  # type: ignore[valid-type]
        description="a server of your own (vLLM, Ollama, ...) or any other that speaks OpenAI's chat API is 'openai' "
        "with a base_url"
    )
    model_id: str
    vendor: str
    tier: str = ""
    params: Annotated[dict[str, Any], AfterValidator(_neither_keys_nor_ours)] = Field({})
    traits: Annotated[dict[str, Any], AfterValidator(_of_simulated_models)] = Field({})
    max_tokens: int = Field(2048, ge=1)
    context: int | None = Field(None, ge=1)
    token_parameter: str | None = None
    structured: bool = True
    enforced: bool = False
    pin_id: bool = True
    revision: dict[str, str] | None = None
    base_url: Annotated[str | list[str], AfterValidator(_addresses_alone)] | None = None
    api_key_env: str | None = Field(
        None,
        pattern="^[A-Za-z_][A-Za-z0-9_]*$",
        description="the name of the environment variable that holds the key (letters, digits and _), such as "
        "OPENROUTER_API_KEY, never the key itself; renew a key that somebody may have read here",
    )
    price: PriceEntry | None = None
    retires: str | None = None
    timeout_seconds: Rate = 600.0
    concurrency: int | None = Field(None, ge=1)


def load_models(path: Path = paths.MODELS, knowledge: Mapping[str, Question] | None = None) -> dict[str, Model]:
    """All models of a models.yaml by name; simulated ones are given what they know.

    A `base_url` without `revision` is refused: the same name can serve other weights tomorrow, and the key must change.
    A list of them are servers with the same weights: which one answers is in no key.
    """
    models = {}
    for name, values in _entries(path, "an entry a model").items():
        if str(name).startswith(AUDITED):
            raise ConfigError(
                f"{path}: {line_words(path, (name,))}{name}: names that begin with {AUDITED} are those of models that "
                "`recuse audit` is given at an address; call it otherwise"
            )
        models[name] = model_of(name, values, f"{path.name}, model '{name}'", path, knowledge)
    return models


def _entries(path: Path, expected: str) -> dict[Any, Any]:
    entries = read_yaml(path) or {}
    if not isinstance(entries, dict):
        raise ConfigError(f"{path}: expected {expected}, found {what(entries)}")
    return entries


def model_of(
    name: Any, values: Any, where: str, path: Path | None = None, knowledge: Mapping[str, Question] | None = None
) -> Model:
    """The model that an entry means; `path` is the file in which it stands, if it does.

    What is wrong with the name, with a field or with two of them together is a ConfigError that begins with `where`.
    """
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


def perhaps(names: Sequence[str], known: Sequence[str]) -> str:
    """What an error adds to unknown names: the nearest known one of each, in brackets, if any is near."""
    near = dict.fromkeys(found for name in names for found in get_close_matches(name, [*known], 1))
    return f" (did you mean {', '.join(near)}?)" if near else ""


def known_models(names: list[str], info: ValidationInfo) -> tuple[Model, ...]:
    """The models with these names among those of the `context`; ValueError where one is unknown or only edits."""
    models, role = info.context or {}, str(info.field_name).removesuffix("s")
    speaking = sorted(name for name, model in models.items() if model.vendor != RULES)
    if rules := [name for name in names if name in models and name not in speaking]:
        raise ValueError(f"{role} {', '.join(rules)}: only edits texts by rules, and neither answers nor judges")
    if unknown := [name for name in names if name not in models]:
        raise ValueError(
            f"unknown {role} {', '.join(unknown)}{perhaps(unknown, speaking)}; one more is an entry of "
            f"experiments/models.yaml; known models: {', '.join(speaking)}"
        )
    return tuple(models[name] for name in names)


class LimitEntry(Strict):
    """One entry of limits.yaml; what is not named is not limited."""

    requests_per_minute: Rate | None = None
    tokens_per_minute: Rate | None = None

    @model_validator(mode="after")
    def _limits_something(self) -> LimitEntry:
        if self.requests_per_minute is None and self.tokens_per_minute is None:
            raise ValueError("needs requests_per_minute, tokens_per_minute, or both")
        return self


def load_limits(models: Mapping[str, Model] | None = None, path: Path = paths.LIMITS) -> dict[str, LimitEntry]:
    """The limits of limits.yaml by provider or `base_url`; none where there is no such file.

    Everything wrong is a ConfigError; with `models` also an address at which none of them is asked.
    """
    known = sorted({url for model in (models or {}).values() for _, url in model.addresses if url})
    limits = {}
    for name, values in (_entries(path, "an entry a provider or address") if path.is_file() else {}).items():
        address = isinstance(name, str) and name.startswith(("http://", "https://"))
        if name not in SERVICES and not (name in known if models is not None else address):
            raise ConfigError(
                f"{path.name}, {line_words(path, (name,))}{name!r} is no provider and no base_url of models.yaml; "
                f"valid: {', '.join([*SERVICES, *(known or ['a base_url of models.yaml'])])}"
            )
        limits[name] = checked(LimitEntry, values, f"{path.name}, '{name}'", path, (name,))
    return limits
