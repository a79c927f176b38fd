"""What a run works on: questions, published answers and published judgments, from wherever its parameters say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets, paths
from helpers.types import Answer, Experiment, Question

if TYPE_CHECKING:
    import pandas as pd

#: The words that each of these parameters knows besides a file or folder.
WORDS = {"questions": ("builtin", "hub"), "answers": ("ask", "hub"), "judgments": ("ask", "stored", "hub")}
#: Parameters that shape what is asked: nothing of it can be changed in judgments that are published.
ASKED_ONLY = ("candidates", "repeats", "order_draw")


def questions_of(experiment: Experiment) -> tuple[Question, ...]:
    """The run's questions in ranked order: cut to `question_limit`, then filtered by category.

    No question left, an unknown category or a source that does not exist is a ValueError or FileNotFoundError.
    """
    source = _source(experiment, "questions")
    if experiment.options.get("questions") == "passages":
        return _chosen(experiment, datasets.load_passages(source, hard=experiment.own["hard"]))
    return _chosen(experiment, datasets.load_questions(source))


def answers_of(experiment: Experiment, questions: Sequence[Question]) -> dict[tuple[str, str], Answer] | None:
    """Published answers to these questions where the run uses them; None where candidates are asked.

    Of all candidates in the source, or of those that the parameter `candidates` names. Where a candidate answered
    other questions but not this one, its answer has the outcome "missing": the question is then not judged. A question
    without any answer, or a candidate without any, is a ValueError.
    """
    source = experiment.own.get("answers", "ask")
    if source == "ask":
        return None
    loaded = datasets.load_answers(_source(experiment, "answers"))
    makers = {answer.candidate: answer for answer in loaded}
    names = experiment.parameters.get("candidates") or sorted(makers)
    unknown = [name for name in names if name not in makers]
    if unknown:
        raise ValueError(f"answers={source!r} has none of {', '.join(unknown)}; it has: {', '.join(sorted(makers))}")
    found = {(answer.question_id, answer.candidate): answer for answer in loaded}
    answered = {answer.question_id for answer in loaded}
    without = sorted({question.id for question in questions} - answered)
    if without:
        raise ValueError(f"answers={source!r} has no answers to {len(without)} questions, for instance {without[0]!r}")
    return {
        (question.id, name): found.get((question.id, name), _missing(question.id, makers[name]))
        for question in questions
        for name in names
    }


def judgments_of(experiment: Experiment) -> pd.DataFrame:
    """The frame of published judgments, with the run's `judges`, `hints`, `categories` and `question_limit`.

    Published answers (`answers`) give lengths and returned model ids. Parameters that shape what is asked, and judges
    or hints that are not there, are a ValueError.
    """
    source = experiment.judgments
    idle = [name for name in ASKED_ONLY if name in experiment.parameters]
    if idle:
        raise ValueError(f"judgments={source!r} are given: {', '.join(idle)} cannot change them; leave at the default")
    answers = (
        () if experiment.own.get("answers", "ask") == "ask" else datasets.load_answers(_source(experiment, "answers"))
    )
    frame = _loaded(_places(experiment), answers, experiment.name)
    known = sorted(frame["judge"].unique())
    judges = experiment.parameters.get("judges") or known
    unknown = [name for name in judges if name not in known]
    if unknown:
        raise ValueError(f"judgments={source!r} has no judge {', '.join(unknown)}; it has: {', '.join(known)}")
    frame = _of_hints(frame, experiment)
    places = frame[["question_id", "category"]].drop_duplicates().itertuples(index=False)
    chosen = {question.id for question in _chosen(experiment, [Question(id, category, "") for id, category in places])}
    return frame[frame["judge"].isin(judges) & frame["question_id"].isin(chosen)].reset_index(drop=True)


def _of_hints(frame: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    """The judgments under the hints that were named, and the blind ones; all of them where none was named."""
    hints = experiment.parameters.get("hints")
    if hints is None:
        return frame
    known = sorted({*frame["condition"]} - {"none"})
    unknown = [hint for hint in hints if hint not in known]
    if unknown:
        told = f"no judgments under the hint {', '.join(unknown)}; it has: {', '.join(known) or 'blind ones alone'}"
        raise ValueError(f"judgments={experiment.judgments!r} has {told}")
    return frame[frame["condition"].isin([*hints, "none"])]


def _places(experiment: Experiment) -> list[Path]:
    """The files or folders of the judgments; on the hub there can be several."""
    named = (experiment.hub or {}).get("judgments")
    if experiment.judgments != "hub" or not isinstance(named, list):
        return [_source(experiment, "judgments")]
    return [datasets.from_hub({**experiment.hub, "judgments": place}, "judgments", paths.DOWNLOADS) for place in named]


def _loaded(places: Sequence[Path], answers: Sequence[Answer], experiment: str) -> pd.DataFrame:
    """The frame of all places; a condition that an earlier place holds is not taken from a later one."""
    import pandas as pd

    frames: list[pd.DataFrame] = []
    known: set[str] = set()
    for place in places:
        frame = datasets.load_judgments(place, answers=answers, experiment=experiment)
        frames.append(frame[~frame["condition"].isin(known)])
        known |= set(frame["condition"])
    return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)


def _chosen(experiment: Experiment, questions: Sequence[Question]) -> tuple[Question, ...]:
    ranked = datasets.ranked(questions, experiment.seed)
    wanted = experiment.own.get("categories")
    known = sorted({question.category for question in ranked})
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        raise ValueError(f"unknown category {', '.join(unknown)}; the questions have: {', '.join(known)}")
    limited = ranked[: experiment.question_limit]
    chosen = tuple(question for question in limited if wanted is None or question.category in wanted)
    if not chosen:
        raise ValueError(
            f"no question is left: none of the first {len(limited)} is of {', '.join(wanted or ())}; "
            "question_limit counts before categories are chosen, so raise it"
        )
    return chosen


def _missing(question_id: str, like: Answer) -> Answer:
    return Answer(question_id, like.candidate, like.vendor, like.tier, "", outcome="missing")


def _source(experiment: Experiment, parameter: str) -> Path:
    """The file or folder that a parameter means; the hub's files are fetched."""
    source = experiment.own["answers"] if parameter == "answers" else getattr(experiment, parameter)
    if parameter == "questions" and source == "builtin":
        return experiment.builtin
    if source == "hub":
        # Published answers hold their questions.
        return datasets.from_hub(experiment.hub, "answers" if parameter == "questions" else parameter, paths.DOWNLOADS)
    path = Path(source).expanduser()
    if not path.exists():
        words = ", ".join(f'"{word}"' for word in WORDS[parameter])
        raise FileNotFoundError(
            f"{parameter}={source!r}: not one of {words}, and there is no such file or folder ({path.absolute()})"
        )
    return path
