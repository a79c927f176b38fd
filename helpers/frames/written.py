"""What candidates wrote, as answers that can be shown to judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from helpers.types import Answer, Judgment, Trial


def written(
    trials: Iterable[Trial], said: Mapping[str, Judgment], asking: bool = True
) -> dict[tuple[str, str], Answer]:
    """The answers to questions without options, by question and candidate; `said` holds replies by key.

    Answers not written yet have no text and count their token limit; where nobody is asked they have the outcome
    "missing". A cut, empty or refused answer has that outcome: judging it would measure the token limit, not the model.
    """
    found = {}
    for trial in trials:
        model, judgment = trial.judge, said.get(trial.request.key)
        reply = judgment.completion if judgment else None
        text, outcome = (None, "ok") if asking else ("", "missing")
        if judgment and reply:
            text, outcome = reply.text, judgment.outcome
        returned = reply.model if reply else None
        found[trial.question_id, model.name] = Answer(
            *(trial.question_id, model.name, model.vendor, model.tier, text, returned, outcome, model.max_tokens)
        )
    return found
