"""What a run works on: questions, published answers and published judgments, from wherever its parameters say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helpers import datasets, paths, prompts
from helpers.run import bias_sources, game_sources, pair_sources
from helpers.types import Answer, Experiment, Question

if TYPE_CHECKING:
    import pandas as pd

#: The words that each of these parameters knows besides a file or folder.
WORDS = {"questions": ("builtin", "hub"), "answers": ("ask", "hub"), "judgments": ("ask", "stored", "hub")}
#: Parameters that shape what is asked: nothing of it can be changed in judgments that are published.
ASKED_ONLY = (
    *("candidates", "repeats", "order_draw", "editor", "doses", "targets", "paraphrase"),
    *("baselines", "controls", "control_limit", "arena_files", "option_order"),
)


def questions_of(experiment: Experiment) -> tuple[Question, ...]:
    """The run's questions in ranked order: cut to `question_limit`, then filtered by category.

    No question left, an unknown category or a source that does not exist is a ValueError or FileNotFoundError.
    """
    if _on_passages(experiment):
        source = _read_there(experiment, "questions")
        return _chosen(experiment, datasets.load_passages(source, experiment.hub, experiment.own["hard"]))
    if _on_tests(experiment):
        return _chosen(experiment, bias_sources.questions_from(_read_there(experiment, "questions"), experiment))
    if _in_arena(experiment) and experiment.questions != "builtin":
        return _chosen(experiment, _arena_questions(experiment))
    return _chosen(experiment, _built_in_or_answered(experiment))


def _built_in_or_answered(experiment: Experiment) -> tuple[Question, ...]:
    """The questions that `questions` names; where they are built in, and published answers hold others, those."""
    questions = datasets.load_questions(_read_there(experiment, "questions"), experiment.hub)
    if experiment.questions != "builtin" or experiment.own.get("answers", "ask") == "ask":
        return questions
    try:
        answered = datasets.load_questions(
            _read_there(experiment, "answers"), (experiment.hub or {}) | {"questions": None}
        )
    except (FileNotFoundError, ValueError):
        return questions  # they hold no questions, or are refused when they are read as answers
    there = {question.id for question in questions}
    return questions if any(question.id in there for question in answered) else answered


def answers_of(experiment: Experiment, questions: Sequence[Question]) -> dict[tuple[str, str], Answer] | None:
    """Published answers to these questions where the run uses them; None where candidates are asked.

    Of all candidates in the source, or of those that the parameter `candidates` names. Where a candidate answered
    other questions but not this one, its answer has the outcome "missing": the question is then not judged. A question
    without any answer, or a candidate without any, is a ValueError. Of questions on passages see `pair_sources`.
    """
    source = experiment.own.get("answers", "ask")
    if source == "ask":
        return None
    if _on_passages(experiment):
        given = pair_sources.answers_to(experiment, questions, _responses(experiment))
        return {key: prompts.without_nonce(experiment.seed, answer) for key, answer in given.items()}
    if _in_arena(experiment):
        return game_sources.answers_to(experiment, questions, _read_there(experiment, "answers"))
    loaded = datasets.load_answers(_read_there(experiment, "answers"), experiment.hub, questions)
    makers = {answer.candidate: answer for answer in loaded}
    names = experiment.parameters.get("candidates") or sorted(makers)
    unknown = [name for name in names if name not in makers]
    if unknown:
        raise ValueError(f"answers={source!r} has none of {', '.join(unknown)}; it has: {', '.join(sorted(makers))}")
    found = {(answer.question_id, answer.candidate): answer for answer in loaded}
    answered = {answer.question_id for answer in loaded}
    without = sorted({question.id for question in questions} - answered)
    if without:
        other = f"; it answers others, for instance {min(answered)!r}: `questions` must name the file of those"
        raise ValueError(
            f"answers={source!r} has no answers to {len(without)} questions, for instance {without[0]!r}"
            f"{other if len(without) == len(questions) and answered else ''}"
        )
    named = {key: answer for key, answer in found.items() if answer.candidate in names}
    return pair_sources.complete(questions, named)


def judgments_of(experiment: Experiment) -> pd.DataFrame:
    """The frame of published judgments, with the run's `judges`, `hints`, `categories` and `question_limit`.

    Published answers (`answers`) give lengths and returned model ids. Parameters that shape what is asked, and judges
    or hints that are not there, are a ValueError.
    """
    from helpers.frames import recoded

    source, known = experiment.judgments, ()
    idle = [name for name in ASKED_ONLY if name in experiment.parameters]
    if idle:
        raise ValueError(f"judgments={source!r} are given: {', '.join(idle)} cannot change them; leave at the default")
    asking = experiment.own.get("answers", "ask") == "ask"
    if _on_passages(experiment):
        if experiment.own["hard"]:
            raise ValueError(f"hard=True: judgments={source!r} do not say which questions are hard")
        responses = None if asking else _responses(experiment)
        frame = pair_sources.judgments_from(_read_there(experiment, "judgments"), experiment, responses)
    elif _on_tests(experiment):
        frame = bias_sources.decisions_from(_read_there(experiment, "judgments"), experiment)
    elif _in_arena(experiment):
        known = () if experiment.questions == "builtin" else _arena_questions(experiment)
        if not asking:
            _read_there(experiment, "answers")  # `features` reads them after the verdicts: not there is told now
        frame = game_sources.judgments_from(_read_there(experiment, "judgments"), experiment, known)
    else:
        answers = () if asking else datasets.load_answers(_read_there(experiment, "answers"), experiment.hub)
        frame = _loaded(experiment, answers)
    there = sorted(frame["judge"].unique())
    judges: Sequence[str] = there
    if "judges" in experiment.parameters:
        means = pair_sources.written_by(there, experiment.judges)
        unknown = [judge.name for judge in experiment.judges if judge not in means.values()]
        if unknown:
            raise ValueError(f"judgments={source!r} has no judge {', '.join(unknown)}; it has: {', '.join(there)}")
        judges = list(means)
    frame = _of_hints(frame, experiment)
    places = frame[["question_id", "category"]].drop_duplicates().itertuples(index=False)
    chosen = {question.id for question in _chosen(experiment, [Question(id, category, "") for id, category in places])}
    rows = frame[frame["judge"].isin(judges) & frame["question_id"].isin(chosen)]
    return with_clusters(recoded(rows.reset_index(drop=True)), known)


def with_clusters(frame: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """The frame with `cluster`: near-duplicate questions (articles, scenarios) are one; said in `attrs["notes"]`."""
    from helpers import frames

    there = set(frame["article" if "article" in frame else "question_id"].unique())
    texts = {each.article or each.id: each.passage or each.text for each in questions}
    clusters = datasets.merge_near_duplicates({id: text for id, text in texts.items() if id in there})
    found = frames.with_clusters(frame, clusters)
    what = "article" if "article" in frame else "question"
    for told in (datasets.near_duplicates_told(clusters), frames.dominance_words(found["cluster"], what)):
        if told:
            found.attrs["notes"] = (*found.attrs.get("notes", ()), told)
    return found


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


def _loaded(experiment: Experiment, answers: Sequence[Answer]) -> pd.DataFrame:
    """The frame of all places; a condition that an earlier place holds is not taken from a later one.

    Where hints are compared, a file that names none is refused; elsewhere it counts as blind.
    """
    import pandas as pd

    frames: list[pd.DataFrame] = []
    known: set[str] = set()
    hinted = {"condition": experiment.own.get("condition"), "unlabelled": None if "hints" in experiment.own else "none"}
    for place in _places(experiment):
        frame = datasets.load_judgments(place, answers=answers, experiment=experiment.name, **hinted)
        frames.append(frame[~frame["condition"].isin(known)])
        known |= set(frame["condition"])
    joined = frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
    if notes := tuple(note for frame in frames for note in frame.attrs.get("notes", ())):
        joined.attrs["notes"] = notes
    return joined


def _chosen(experiment: Experiment, questions: Sequence[Question]) -> tuple[Question, ...]:
    ranked = datasets.ranked(questions, experiment.seed)
    wanted = experiment.own.get("categories") or experiment.own.get("biases")
    known = sorted({question.category for question in ranked})
    unknown = [name for name in wanted or () if name not in known]
    if unknown:
        what = "bias" if _on_tests(experiment) else "category"
        raise ValueError(f"unknown {what} {', '.join(unknown)}; the questions have: {', '.join(known)}")
    limited = ranked[: experiment.question_limit]
    chosen = tuple(question for question in limited if wanted is None or question.category in wanted)
    if not chosen:
        raise ValueError(
            f"no question is left: none of the first {len(limited)} is of {', '.join(wanted or ())}; "
            f"question_limit counts before {'biases' * _on_tests(experiment) or 'categories'} are chosen, so raise it"
        )
    return chosen


def _on_passages(experiment: Experiment) -> bool:
    return experiment.options.get("questions") == "passages"


def _on_tests(experiment: Experiment) -> bool:
    return experiment.options.get("questions") == "tests"


def _in_arena(experiment: Experiment) -> bool:
    return experiment.options.get("questions") == "arena"


def _arena_questions(experiment: Experiment) -> tuple[Question, ...]:
    return datasets.load_arena_questions(_read_there(experiment, "questions"), experiment.hub)


def _responses(experiment: Experiment) -> datasets.Responses:
    return datasets.load_responses(_read_there(experiment, "answers"), experiment.hub)


def _read_there(experiment: Experiment, parameter: str) -> Path | str:
    """As `_source`; the hub's files are fetched by who reads them, for a folder holds other files than elsewhere."""
    named = experiment.own["answers"] if parameter == "answers" else getattr(experiment, parameter)
    return "hub" if named == "hub" else _source(experiment, parameter)


def _source(experiment: Experiment, parameter: str) -> Path:
    """The file or folder that a parameter means; the hub's files are fetched."""
    source = experiment.own["answers"] if parameter == "answers" else getattr(experiment, parameter)
    if parameter == "questions" and source == "builtin":
        return experiment.builtin
    if source == "hub":
        return datasets.from_hub(experiment.hub, parameter, paths.DOWNLOADS)
    path = Path(source).expanduser()
    if not path.exists():
        words = ", ".join(f'"{word}"' for word in WORDS[parameter])
        raise FileNotFoundError(
            f"{parameter}={source!r}: not one of {words}, and there is no such file or folder ({path.absolute()})"
        )
    return path
