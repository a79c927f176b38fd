"""What is asked: experiment 1 under each hint, all hints and the blind group in one random order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from helpers.biases.hinting.hints import WORDS, hint, telling
from helpers.biases.top_choice import asking
from helpers.types import Answer, Experiment, Judgment, Question, Trial, short_hash

#: The condition that all others are compared with; experiment 1's own judgments serve as far as they are fresh.
CONTROL = "none"


def hints_of(experiment: Experiment) -> tuple[str, ...]:
    """The hints of a run, in their order; an unknown, missing or repeated one is a ValueError that lists the valid."""
    hints = tuple(experiment.own.get("hints") or ())
    unknown = [name for name in hints if name not in WORDS]
    if unknown or not hints or len(set(hints)) < len(hints):
        found = ", ".join(hints) or "none of them"
        raise ValueError(f"hints = [{found}]: give each once, of: {', '.join(WORDS)} (none is always asked)")
    return hints


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) hints that cannot be given."""
    hints_of(experiment)


def judge_trials(
    experiment: Experiment, questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]
) -> list[Trial]:
    """Every question, judge, repeat and condition, interleaved in one random order drawn by the seed.

    Without a hint the prompts are those of experiment 1, byte for byte.
    """
    hints = hints_of(experiment)
    told = telling(experiment.folder / "prompts", experiment.seed, experiment.candidates)
    conditions = {**asking.BLIND, **{mode: hint(told, mode) for mode in hints}}
    trials = asking.judge_trials(experiment, questions, answers, conditions)
    return sorted(trials, key=lambda t: _lot(experiment.seed, t))


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat)
    return short_hash(seed, "interleaved", *drawn, digits=16)


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why these judges and candidates cannot show what a hint does, to be read before paying; "" where they can."""
    if experiment.own.get("answers", "ask") != "ask":
        return ""  # whose answers those are is not in the parameters
    candidates = experiment.candidates
    if not {model.vendor for model in candidates} & {judge.vendor for judge in experiment.judges}:
        return "No judge's own vendor is among the candidates: no hint can move a judge towards its own."
    if len({model.vendor for model in candidates}) == 1:
        return "All candidates are of one vendor: whoever is first, the vendor is, and no hint can change that."
    return ""


def trials(
    stage: str,
    experiment: Experiment,
    questions: Sequence[Question],
    said: Mapping[str, Judgment],
    given: Mapping[tuple[str, str], Answer] | None = None,
) -> list[Trial]:
    """What this experiment asks at a stage, as far as what has been said so far determines it."""
    if stage == "answers":
        return asking.trials(stage, experiment, questions, said, given)
    texts = given if given is not None else asking.answers(experiment, questions, said)
    return judge_trials(experiment, questions, texts)
