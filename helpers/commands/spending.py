"""What stored replies cost: each line's counted tokens at today's price, or the most that it can have cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from helpers.judge import NoPrice, actual
from helpers.services import token_parameters
from helpers.store import completion_of
from helpers.store.contents import Cost
from helpers.types import Model, Request


def cost_of(models: Mapping[str, Model]) -> Cost:
    """A function that gives the dollars of a line of a model's file: by its counted tokens, and at most.

    A price is that of the model's entry where this still names the same model, else that of the offline table.
    """

    def cost(name: str, record: dict[str, Any]) -> tuple[float, float]:
        asked = record["request"]
        model = _model(name, asked, models.get(name))
        limits = [asked["params"][each] for each in token_parameters() if each in asked["params"]]
        if limits and isinstance(limits[0], int):
            model = replace(model, max_tokens=limits[0])
        # Nobody stored how much of the prompt was meant for a cache: all of it is the dearest case.
        request = Request(model, asked["prompt"], asked["system"], asked["schema"], shared=len(asked["prompt"]))
        completion = completion_of(record)
        usd = actual(request, completion)
        counted = completion.usage.input is not None and completion.usage.output is not None
        return (usd if counted else 0.0), usd

    return cost


def _model(name: str, asked: Mapping[str, Any], entry: Model | None) -> Model:
    if entry is not None and (entry.provider, entry.model_id) == (asked["provider"], asked["model"]):
        return entry
    if "revision" in asked and asked["provider"] != "simulated":
        raise NoPrice(f"no model '{name}' in models.yaml serves {asked['model']!r}; where it ran is not stored")
    return Model(name, asked["provider"], asked["model"], vendor="")
