"""The shape of what people write down: YAML files and notebook parameters as frozen, strict pydantic models."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from helpers.services import SERVICES

NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,63}")

#: Parameters that every notebook has, with their defaults.
COMMON: dict[str, Any] = {
    "judges": None,
    "candidates": None,
    "questions": "builtin",
    "judgments": "ask",
    "question_limit": None,
    "repeats": None,
    "budget_usd": 0.0,
    "seed": 42,
    "figure_style": "paper",
    "out": None,
    "store": None,
}
#: Parameters with the default null whose other values are texts; those of all others are lists of names.
TEXTS = ("condition",)
#: What a value of each type is called where it is wrong.
KINDS = {
    str: "a text",
    bool: "true or false",
    int: "a whole number from 0 up",
    float: "a finite number",
    list: "a list of names that is not empty, or null",
}
#: What the SDKs put behind a `base_url`: OpenAI's calls, Anthropic's and Google's with their version. What a base may
#: end with too (Azure's /models) is a call only behind a version, which OpenAI's SDK takes for a part of the base.
CALLS = re.compile(
    r"(?:/(?:chat/completions|completions|responses)"
    r"|(?P<version>/v\d\w*)/(?:models|embeddings|moderations|files|batches|(?:audio|images)/\w+)"
    r"|(?:/v\d\w*)?/(?:messages(?:/batches|/count_tokens)?|models/[^/]+:\w+))/*\Z"
)
STYLES = ("paper", "neurips", "icml", "acl", "talk")


class ConfigError(ValueError):
    """A setting that cannot be used; the message names the place, what was found and what is valid."""


class Strict(BaseModel):
    """Settings of which none is unknown, none changes and no type is guessed: True is no number, and "5" is none."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())


class PriceEntry(Strict):
    """US dollars for a million tokens."""

    input: float = Field(ge=0, allow_inf_nan=False)
    output: float = Field(ge=0, allow_inf_nan=False)


class ModelEntry(Strict):
    """One entry of models.yaml; the fields are those of `types.Model`, and `context` (see `load_contexts`)."""

    provider: Literal[(*SERVICES, "simulated")]  # type: ignore[valid-type]
    model_id: str
    vendor: str
    tier: str = ""
    lineage: str = ""
    params: dict[str, Any] = {}
    traits: dict[str, Any] = {}
    max_tokens: int = Field(2048, ge=1)
    context: int | None = Field(None, ge=1)
    token_parameter: str | None = None
    structured: bool = True
    base_url: str | list[str] | None = None
    revision: dict[str, str] | None = None
    api_key_env: str | None = None
    price: PriceEntry | None = None
    retires: str | None = None

    @field_validator("provider", mode="before")
    @classmethod
    def _a_wire_format(cls, value: Any) -> Any:
        if value not in (*SERVICES, "simulated"):
            known = ", ".join(map(repr, SERVICES))
            raise ValueError(
                f"must be {known} or 'simulated'; a server of your own (vLLM, Ollama, ...) or any other that speaks "
                "OpenAI's chat API is 'openai' with a base_url"
            )
        return value

    @field_validator("api_key_env")
    @classmethod
    def _name_never_the_key(cls, value: str | None) -> str | None:
        if value is not None and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", value):
            raise ValueError(
                "must be the name of the environment variable that holds the key (letters, digits and _), such as "
                "OPENROUTER_API_KEY, never the key itself; renew a key that somebody may have read here"
            )
        return value

    @field_validator("base_url")
    @classmethod
    def _addresses_alone(cls, value: str | list[str] | None, entry: ValidationInfo) -> str | list[str] | None:
        urls = value if isinstance(value, list) else [] if value is None else [value]
        for url in urls:
            _check_address(url, entry.data.get("provider"))
        if value == [] or len(set(urls)) < len(urls):
            raise ValueError(
                "must be an address, or a list of the different addresses of servers with the same weights"
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
        raise ValueError(
            f"must be the address of the API alone, to which each call adds a path of its own; write {base}"
        )


class Hub(Strict):
    """Where published files lie: a dataset repository, a revision and the files' paths in it.

    Without `questions` those are taken that the answers hold. Of several places of judgments a later one adds the
    conditions that the earlier ones do not hold; of Arena-Hard, whose repository is large, the files meant are listed.
    """

    repo: str
    revision: str = "main"
    questions: str | None = None
    answers: str | list[str] | None = None
    judgments: str | list[str] | None = None


class Methods(Strict):
    """What a methods paragraph says of an experiment's design, in whole sentences: orders of answers, planned tests."""

    orders: str = ""
    tests: str = ""


class ExperimentConfig(Strict):
    """One experiments/<name>/config.yaml."""

    title: str
    bias: str
    after: list[str] = []
    extends: str | None = None
    judges: list[str] = Field(min_length=1)
    candidates: list[str] = []
    repeats: int = Field(1, ge=1)
    concurrency: int = Field(16, ge=1, le=1024)
    max_age_days: int = Field(7, ge=0)
    builtin: str
    hub: Hub | None = None
    options: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    methods: Methods = Methods()


class Parameters(Strict):
    """The common notebook parameters, checked."""

    judges: list[str] | None
    candidates: list[str] | None
    questions: str
    judgments: str
    question_limit: int | None = Field(ge=1)
    repeats: int | None = Field(ge=1)
    budget_usd: float = Field(ge=0, allow_inf_nan=False)
    seed: int = Field(ge=0)  # numpy's generators take none below
    figure_style: Literal[STYLES]  # type: ignore[valid-type]
    out: str | None
    store: str | None

    @field_validator("judges", "candidates", mode="before")
    @classmethod
    def _a_list(cls, value: Any) -> Any:
        if isinstance(value, str):
            raise ValueError('must be a list of names such as ["gpt_fast"]; plain papermill reads lists only with -y')
        if isinstance(value, list) and not value:
            raise ValueError("is an empty list; leave it at None for the ones in config.yaml")
        return value


def own_parameters(defaults: Mapping[str, Any], given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The parameters of one experiment alone, each of the type of its default.

    Where that is null, a text for TEXTS and a list of names for others. The entries of a list have the type of those
    of its default.

    Whole numbers must not be negative: what they count or choose begins at 0.
    """
    for name, default in defaults.items():
        value, kind = given[name], str if name in TEXTS else list if default is None else type(default)
        fits = type(value) is kind or (kind is float and type(value) is int)
        entries = type((default or [""])[0]) if kind is list else None
        if kind is list and fits:
            fits = bool(value) and all(type(each) is entries for each in value)
        if kind is int and fits:
            fits = value >= 0
        if kind is float and fits:
            fits = math.isfinite(value)
        if value != default and not fits:
            words = KINDS[kind] if kind is not list or entries is str else "a list of whole numbers"
            raise ConfigError(f"{where}: {name} = {value!r}: must be {words} (default: {default!r})")
    return {name: given[name] for name in defaults}
