"""Everything that can be known to be wrong with calls before money is spent on them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from helpers import providers
from helpers.judge.progress import notice
from helpers.providers.keys import finder
from helpers.types import Completion, Model, Request

#: Characters of prompts that are held from the look at them until they are sent.
HELD = 12_000_000
#: So many of a stage's prompts are made once more before it begins, to see that they come out the same.
SAMPLED = 50
#: Prompts of so many letters are looked through for keys together: to begin a look takes as long as the look at one.
TOGETHER = 100_000


class MissingKey(RuntimeError):
    """An API key that the run needs is not set; the message names the variable and the models, never a value."""


def check_keys(models: Iterable[Model]) -> None:
    """Raise MissingKey where a variable is not set that one of these models needs before it can be asked."""
    if keys := providers.missing_keys(models):
        needs = "; ".join(f"{variable} (needed by {', '.join(names)})" for variable, names in keys.items())
        raise MissingKey(f"not set in the environment: {needs}. See .env.example.")


def check(
    wanted: Mapping[str, Request],
    replies: Mapping[str, Completion],
    labels: Mapping[str, Mapping[str, Any]],
    so: str,
    held: Mapping[str, Request],
) -> dict[str, Request]:
    """Everything that can be known to be wrong before money is spent; `so` says what was asked by now.

    Requests come back by key with their prompts, which need not be made once more: those that are `held`, and as many
    more as HELD allows.
    """
    missing = {key: request for key, request in wanted.items() if key not in replies}
    if any(request.unwritten for request in missing.values()):
        raise ValueError("a prompt that shows answers which are not written yet can be planned but not sent")
    kept = {key: held[key] for key in missing if key in held}
    for key in [*kept][:: len(kept) // SAMPLED + 1]:
        wanted[key].whole()  # raises where the prompt comes out as another one
    room = HELD - sum(len(request.prompt) for request in kept.values())
    secrets = finder(like=False)
    models_seen: set[int] = set()
    systems_seen: set[str] = set()
    looked: list[tuple[Request, str]] = []
    letters = 0
    for key, request in missing.items():
        whole = kept.get(key)
        if whole is None:
            whole = request.whole()
            if (room := room - len(whole.prompt)) > 0:
                kept[key] = whole
        # A prompt is part of the key of its reply: it is stored as it was sent or not sent at all.
        model = request.model
        asked = [str(labels.get(key, {})), whole.prompt]
        if whole.system not in systems_seen:  # what many prompts share is looked at once
            systems_seen.add(whole.system)
            asked.append(whole.system)
        if model.simulated or id(model) not in models_seen:  # of simulated ones each prompt has its own revision
            models_seen.add(id(model))
            asked += map(str, (model.model_id, whole.params, whole.revision))
        looked.append((request, "\n".join(asked)))
        letters += len(looked[-1][1])
        if letters >= TOGETHER:
            _refuse_secrets(looked, secrets, labels, so)
            looked, letters = [], 0
    _refuse_secrets(looked, secrets, labels, so)
    models = {request.model.name: request.model for request in missing.values()}
    check_keys(models.values())
    for variable, address in providers.addresses(models.values()).items():
        notice(f"note: {variable} is set: {address} is asked and its replies are stored as the provider's own")
    for model in models.values():
        ends = providers.retirement(model)
        if ends:
            notice(f"warning: {model.name} ({model.model_id}) is retired or retiring: {ends}")
    return kept


def _refuse_secrets(
    looked: Sequence[tuple[Request, str]],
    secrets: Callable[[str], list[str]],
    labels: Mapping[str, Mapping[str, Any]],
    so: str,
) -> None:
    """ValueError that names the request where one of these texts holds the value of a key.

    A text is what would be sent and stored of its request and stood in none before it.
    """
    if not secrets("\n".join(text for _, text in looked)):
        return
    for request, text in looked:
        if names := secrets(text):
            label = labels.get(request.key, {})
            question = "a question" if secrets(str(label)) else label.get("question_id", "a question")
            raise ValueError(
                f"{question}, as {request.model.name} would see it, holds the value of {' and '.join(names)}, which "
                f"would be sent and stored. Take it out of the questions, the answers or models.yaml; {so}"
            )
