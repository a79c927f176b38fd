"""What experiment 4 works on where it is published: answers, verdicts in both orders, and how answers are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets, prompts
from helpers.biases.position.design import baseline_of
from helpers.run.pair_sources import written_by
from helpers.types import Answer, Experiment, Question

if TYPE_CHECKING:
    import pandas as pd

    from helpers.run.asking import Asked

#: What the win rates hold equal, and what the datasets call it.
FEATURES = {"token_len": "length", "header_count": "headers", "list_count": "lists", "bold_count": "bold"}


def answers_to(
    experiment: Experiment, questions: Sequence[Question], source: Path | str
) -> dict[tuple[str, str], Answer]:
    """The published answers to these questions by question and model: each question's baseline and the candidates.

    Candidates are those that the parameter `candidates` names, else all models of the source that are no baseline. A
    model of models.yaml (`written_by`) has its name and vendor, another one its published name. An answer that is not
    there has the outcome "missing". A ValueError: a baseline or candidate that the source does not hold, and questions
    of which it has none.
    """
    given = experiment.own["answers"]
    loaded = datasets.load_arena_answers(source, experiment.hub).answers
    names = sorted({answer.candidate for answer in loaded})
    chosen = experiment.candidates if "candidates" in experiment.parameters else ()
    baselines = {model.name: model for model in (baseline_of(experiment, question) for question in questions)}
    means = written_by(names, [*experiment.judges, *chosen, *baselines.values()])
    found = {
        (answer.question_id, means[answer.candidate].name if answer.candidate in means else answer.candidate): answer
        for answer in loaded
    }
    held = {name for _, name in found}
    unknown = sorted({*baselines, *(model.name for model in chosen)} - held)
    if unknown:
        raise ValueError(f"answers={given!r} has none of {', '.join(unknown)}; it has: {', '.join(names)}")
    answered = {question_id for question_id, _ in found}
    without = sorted({question.id for question in questions} - answered)
    if without:
        raise ValueError(f"answers={given!r} has no answers to {len(without)} questions, for instance {without[0]!r}")
    candidates = [model.name for model in chosen] or sorted(held - {*baselines})
    known = {model.name: model for model in (*experiment.judges, *chosen, *baselines.values())}
    result = {}
    for question in questions:
        for name in dict.fromkeys([baseline_of(experiment, question).name, *candidates]):
            answer = found.get((question.id, name), Answer(question.id, name, "", "", "", outcome="missing"))
            vendor = known[name].vendor if name in known else answer.vendor
            answer = replace(answer, candidate=name, vendor=vendor, tier=known[name].tier if name in known else "")
            result[question.id, name] = prompts.without_nonce(experiment.seed, answer)
    return result


def judgments_from(source: Path | str, experiment: Experiment, questions: Sequence[Question]) -> pd.DataFrame:
    """The games frame of published verdicts; what could not be read stands in `attrs`: "counts" and "problems"."""
    loaded = datasets.load_games(source, experiment.hub, questions=questions, experiment=experiment.name)
    loaded.frame.attrs |= {"counts": loaded.counts, "problems": [str(each) for each in loaded.problems]}
    return loaded.frame


def features(asked: Asked) -> pd.DataFrame | None:
    """How each answer is written (question_id, candidate, length, headers, lists, bold), None where no text is known.

    Counted in the texts of a run; where verdicts are published, as published beside the answers that `answers` names.
    """
    import pandas as pd

    experiment = asked.experiment
    if asked.answers:
        rows = [
            {"question_id": id, "candidate": name, **datasets.style_of(answer.text)}
            for (id, name), answer in asked.answers.items()
            if answer.text
        ]
        return pd.DataFrame(rows, columns=["question_id", "candidate", *FEATURES]).rename(columns=FEATURES)
    source = experiment.own["answers"]
    if source == "ask":
        return None
    where = source if source == "hub" else Path(source).expanduser()
    return datasets.load_arena_answers(where, experiment.hub).style.rename(columns=FEATURES)
