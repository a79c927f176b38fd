"""Who is audited: an entry of models.yaml, or a model at an address that only the command line names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from helpers import paths
from helpers.config import AUDITED, ConfigError, load_limits, load_models, model_of, perhaps
from helpers.judge import NoPrice
from helpers.judge.budget import cost
from helpers.providers import simulated
from helpers.types import Model, Question

#: What a model at an address of the command line may be given besides; an entry of models.yaml says it itself.
OWN = ("revision", "api_key_env", "price", "max_tokens", "structured", "params")


def judge_of(
    name: str,
    base_url: str | None = None,
    own: Mapping[str, Any] | None = None,
    knowledge: Mapping[str, Question] | None = None,
    models_file: Path | None = None,
) -> Model:
    """The judge of that name in models.yaml or, with a `base_url`, the model that is called so there.

    `own` holds settings of OWN (None: not given) for the latter: `revision` is a text that says which weights answer
    there; without one the address stands for them, so that another address is another judge. `price` is (input,
    output) in US dollars a million tokens. What cannot be used is a ConfigError before anything is asked, a price that
    nobody knows a NoPrice.
    """
    given = {key: value for key, value in (own or {}).items() if value is not None}
    known = load_models(models_file or paths.MODELS, knowledge)
    if base_url is None:
        if given:
            flags = ", ".join(f"--{key.replace('_', '-')}" for key in given)
            raise ConfigError(f"{flags}: belongs to --base-url; a model of models.yaml has it in its entry")
        judge = _listed(name, known)
    else:
        judge = _at(name, base_url, given)
    load_limits({**known, judge.name: judge})  # what is wrong there shows before anything is asked
    return judge


def _listed(name: str, known: Mapping[str, Model]) -> Model:
    if name not in known:
        raise ConfigError(
            f"--model {name}: no such model in models.yaml{perhaps([name], known)}; there are: {', '.join(known)}. "
            "A model of a server that is not listed there needs --base-url"
        )
    judge = known[name]
    if judge.simulated:
        simulated.traits_of(judge)
    return judge


def _at(name: str, base_url: str, given: Mapping[str, Any]) -> Model:
    weights = given.get("revision")
    revision = {"weights": weights} if weights else {"served_at": base_url}
    entry = {"provider": "openai", "model_id": name, "vendor": "", "base_url": base_url, "revision": revision}
    if "price" in given:
        entry["price"] = dict(zip(("input", "output"), given["price"], strict=True))
    # The default of servers is no 0, and verdicts drawn at random hide what moves them.
    entry["params"] = {"temperature": 0}
    entry |= {key: given[key] for key in ("api_key_env", "max_tokens", "structured", "params") if key in given}
    judge = model_of(f"{AUDITED}{_slug(name)}", entry, "--base-url and --model")
    try:
        cost(judge, 0, 0)
    except NoPrice:
        raise NoPrice(
            f"no price is known for {name!r} at {base_url}; give it: --price INPUT OUTPUT, in US dollars a million "
            "tokens (0 0 where nothing is billed)"
        ) from None
    return judge


def called(judge: Model) -> str:
    """The name that a card bears: as it was typed, of models.yaml or the server's own."""
    return judge.model_id if judge.name.startswith(AUDITED) else judge.name


def _slug(name: str) -> str:
    """A model's id as the name of its file of replies.

    >>> _slug("meta-llama/Llama-3.1-8B-Instruct")
    'meta-llama_llama-3.1-8b-instruct'
    """
    return re.sub(r"[^a-z0-9_.-]+", "_", name.lower())[:58]
