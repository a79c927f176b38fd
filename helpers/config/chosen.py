"""Which models a run takes: by name, as candidates, as editor, as baselines, and never paid for made-up texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from helpers.config.schema import ConfigError, Parameters
from helpers.types import Model

#: The vendor of what edits texts by rules: no model that could answer or judge.
RULES = "rules"


def perhaps(names: Iterable[str], known: Iterable[str]) -> str:
    """What an error adds to names that nobody has: the nearest known one of each, in brackets, if any is near."""
    known = list(known)
    near = dict.fromkeys(found for name in names for found in get_close_matches(name, known, 1))
    return f" (did you mean {', '.join(near)}?)" if near else ""


def known_models(names: Sequence[str], models: Mapping[str, Model], what: str, hint: str = "") -> tuple[Model, ...]:
    """The models with these names; an unknown one (then also `hint`), one named twice, or no model is a ConfigError."""
    rules = [name for name in names if name in models and models[name].vendor == RULES]
    if rules:
        raise ConfigError(f"{what} {', '.join(rules)}: only edits texts by rules, and neither answers nor judges")
    models = {name: model for name, model in models.items() if model.vendor != RULES}
    unknown = [name for name in names if name not in models]
    if unknown:
        told = f"unknown {what} {', '.join(unknown)}{perhaps(unknown, models)}"
        raise ConfigError(
            f"{told}; one more is an entry of experiments/models.yaml; known models: {', '.join(sorted(models))}{hint}"
        )
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ConfigError(f"{what} named twice: {', '.join(repeated)}")
    return tuple(models[name] for name in names)


def editor_of(name: str, models: Mapping[str, Model]) -> Model | None:
    """Who rewrites texts; None where they were rewritten beforehand."""
    if name != "published" and name not in models:
        known = ", ".join(sorted(models))
        raise ConfigError(f'unknown editor {name}{perhaps([name], models)}; "published", or one of the models: {known}')
    return models.get(name)


def baselines_of(named: Mapping[str, str], given: list[str] | None, models: Mapping[str, Model]) -> dict[str, Model]:
    """What candidates are compared with by category: as the parameter says, else as config.yaml does.

    An entry of the parameter is `category=name`, or a name alone: the baseline of all categories that are not named.
    It replaces config.yaml's, so that a category left out, or misspelt, is refused and never gets a default baseline.
    """
    entries = [[part.strip() for part in entry.rpartition("=")] for entry in given or ()]
    alone = [name for category, _, name in entries if not category]
    if len(alone) > 1:
        raise ConfigError(f"baselines {', '.join(alone)}: one for all categories, or one each as category=name")
    chosen = {"other": alone[0]} if alone else {} if entries else dict(named)
    chosen |= {category: name for category, _, name in entries if category}
    known = {model.name: model for model in known_models(list(dict.fromkeys(chosen.values())), models, "baseline")}
    return {category: known[name] for category, name in chosen.items()}


def refuse_made_up(
    settled: Parameters,
    own: Mapping[str, Any],
    judges: Sequence[Model],
    candidates: Sequence[Model],
    editor: Model | None,
    baselines: Mapping[str, Model],
    models: Mapping[str, Model],
) -> None:
    """Refuse (ConfigError) to pay real judges, or a real editor, for texts of simulated models that nobody named."""
    writing = {} if settled.candidates else {"candidates": tuple(candidates)}
    if baselines and not own["baselines"]:
        writing["baselines"] = tuple(baselines.values())
    made_up = [what for what, some in writing.items() if any(model.simulated for model in some)]
    paid = any(not model.simulated for model in (*judges, *([editor] if editor else [])))
    if settled.judgments != "ask" or own.get("answers", "ask") != "ask" or not paid or not made_up:
        return
    real = [judge.name for judge in judges if not judge.simulated]
    told = f"real judges ({', '.join(real)})" if real else f"the real editor {own['editor']}"
    named = " and ".join(made_up)
    raise ConfigError(
        f"{told} would be paid for the texts of the simulated {named} of config.yaml; name the {named} too: "
        + ", ".join(f"{what}=[...]" for what in made_up)
        + f" (known models: {', '.join(sorted(models))})"
    )
