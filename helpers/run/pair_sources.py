"""What experiment 3 works on where it is published: answers with their reasons and edits, and judgments on pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets
from helpers.datasets.pairs import CODE_FILES
from helpers.types import Answer, Experiment, Model, Question

if TYPE_CHECKING:
    import pandas as pd

#: The field with a reason of which two words are replaced.
EDITED = "<model>_reason_perturb_llm_auto"


def answers_to(
    experiment: Experiment, questions: Sequence[Question], responses: datasets.Responses
) -> dict[tuple[str, str], Answer]:
    """The published answers to these questions by question and candidate, each with its published edit.

    A candidate that is one of the run's models (`written_by`) has that model's name, vendor and tier, so that a judge
    knows its own answers; another one keeps its published name. A question or answer that is not there has the outcome
    "missing". A ValueError: no question has answers, or another gold letter or other options than they were given to; a
    candidate without answers; no edit where the parameter `editor` wants the published ones.
    """
    source = experiment.own["answers"]
    asked = _asked(questions, responses.questions, source)
    published = sorted({answer.candidate for answer in responses.answers})
    chosen = experiment.candidates if "candidates" in experiment.parameters else ()
    means = written_by(published, [*experiment.judges, *chosen])
    unknown = [model.name for model in chosen if model not in means.values()]
    if unknown:
        raise ValueError(f"answers={source!r} has none of {', '.join(unknown)}; it has: {', '.join(published)}")
    if experiment.editor is None and not any(kind == "synonyms" for _, _, kind in responses.edits):
        raise ValueError(f"editor='published': answers={source!r} has no edited reason ({EDITED}); name an editor")
    found: dict[tuple[str, str], Answer] = {}
    for answer in responses.answers:
        model = means.get(answer.candidate)
        if chosen and model not in chosen:
            continue
        id = asked.get(answer.question_id, answer.question_id)
        edited = responses.edits.get((answer.question_id, answer.candidate, "synonyms"))
        answer = replace(answer, question_id=id, edited=edited)
        if model:
            answer = replace(answer, candidate=model.name, vendor=model.vendor, tier=model.tier)
        found[id, answer.candidate] = answer
    return complete(questions, found)


def complete(questions: Sequence[Question], found: Mapping[tuple[str, str], Answer]) -> dict[tuple[str, str], Answer]:
    """An answer of each candidate to each question, with the outcome "missing" where it gave none."""
    makers = {answer.candidate: answer for answer in found.values()}
    return {
        (question.id, name): found.get(
            (question.id, name), Answer(question.id, name, like.vendor, like.tier, "", outcome="missing")
        )
        for question in questions
        for name, like in sorted(makers.items())
    }


def written_by(published: Iterable[str], models: Iterable[Model]) -> dict[str, Model]:
    """Which of these models each published name means, where it means one: by its name, else by its model id.

    Of a model id the last part counts: "Llama-3.3-70B" is "meta-llama/Llama-3.3-70B". Two that fit are a ValueError.
    """
    known = {model.name: model for model in models}
    found: dict[str, Model] = {}
    for name in published:
        same = [m for m in known.values() if m.model_id.rpartition("/")[2].casefold() == name.casefold()]
        meant = [known[name]] if name in known else same
        if len(meant) > 1:
            named = ", ".join(model.name for model in meant)
            raise ValueError(f"the published model {name} could be any of {named}: they have one model id; take one")
        if meant and meant[0] in found.values():
            other = next(known for known, model in found.items() if model == meant[0])
            raise ValueError(f"the published models {other} and {name} would both be {meant[0].name}")
        if meant:
            found[name] = meant[0]
    return found


def judgments_from(source: Path | str, experiment: Experiment, responses: datasets.Responses | None) -> pd.DataFrame:
    """The pair frame of published judgments: preferences, recognition, judged pairs, or pairs of programs.

    What the three numbers of a judged program stand for is told by the parameter `scores` alone.
    """
    scores = experiment.own["scores"]
    if not _programs(source, experiment):
        if scores is not None:
            raise ValueError(f"scores={scores!r}: only judgments on programs ({CODE_FILES[0]}) have such numbers")
        return _some(datasets.load_pair_judgments(source, responses, experiment.name, experiment.hub), experiment)
    if scores is None:
        raise ValueError(
            f"{source}: does not say what the three numbers of a game stand for, so nothing is known of its verdicts; "
            'name them in `scores`, in their order: "first", "second", "tie" or "own", "other", "tie"'
        )
    return datasets.load_code_pairs(source, experiment.hub, scores, experiment.name)


def _some(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """The frame, unless it is empty: then a ValueError that tells what became of the records."""
    if frame.empty:
        told = ", ".join(f"{count} {kind}" for kind, count in frame.attrs["counts"].items())
        by = f"by answers={experiment.own['answers']!r}, " if experiment.own["answers"] != "ask" else ""
        raise ValueError(
            f"judgments={experiment.judgments!r}: {by}no record is on a pair with one right answer: {told}"
        )
    return frame


def _programs(source: Path | str, experiment: Experiment) -> bool:
    """Whether judgments are on programs, as the file's name tells; on the hub, those that its entry names."""
    if isinstance(source, Path):
        return _of_programs(source.name) or any((source / name).is_file() for name in CODE_FILES)
    named = (experiment.hub or {}).get("judgments") or ()
    return any(_of_programs(name) for name in ([named] if isinstance(named, str) else named))


def _of_programs(name: str) -> bool:
    return name.endswith("_eval.jsonl")


def _asked(questions: Sequence[Question], answered: Sequence[Question], source: str) -> dict[str, str]:
    """The id among the run's questions of each question that was answered; those of other questions are left out.

    Published answers name a question by its own id, or by that id with another number at its end (`pid`).
    """
    known = {question.id: question for question in questions}
    found: dict[str, str] = {}
    for told in answered:
        id = next((id for id in (told.id, told.id.rpartition("_")[0]) if id in known), None)
        if id is None:
            continue
        if id in found.values():
            raise ValueError(f"answers={source!r}: two of its questions, one of them {told.id}, are {id}")
        _same(told, known[id], source)
        found[told.id] = id
    if not found:
        raise ValueError(
            f"answers={source!r} has no answers to these {len(known)} questions (for instance {next(iter(known))!r}), "
            f"but to others (for instance {answered[0].id if answered else 'none'!r}); `questions` must be what was "
            "answered: the data set, or the same file where its records hold their passages"
        )
    return found


def _same(told: Question, question: Question, source: str) -> None:
    """Refuse (ValueError) answers whose letters mean other options than the question's."""
    differing = [
        f"{name} {ours!r}, there {theirs!r}"
        for name, ours, theirs in (
            ("gold", question.gold, told.gold),
            *zip("ABCD", map(_plain, question.options), map(_plain, told.options), strict=False),
        )
        if ours != theirs
    ]
    if differing:
        raise ValueError(f"answers={source!r}, question {told.id}: {differing[0]}: they answer another question")


def _plain(option: str) -> str:
    return " ".join(option.split())
