"""What a run works on: questions, published answers and published judgments, from wherever its parameters say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from .. import datasets, frames, prompts
from ..biases.protocol import load_bias
from ..datasets import bias_tests
from ..datasets.hub import below
from ..datasets.pairs import CODE_FILES
from ..datasets.reading import read_rows
from ..types import Answer, Experiment, Model, Question

if TYPE_CHECKING:
    from .asking import Asked

#: The field with a reason of which two words are replaced.
EDITED = "<model>_reason_perturb_llm_auto"


def _answers_to(experiment: Experiment, questions: Sequence[Question], responses: datasets.Loaded) -> Iterator[Answer]:
    """The published answers under the ids of these questions, each with its published edit; those to others as well.

    An id may have another number at its end (`pid`). Two for one question, another gold letter, other options, or no
    edit where `editor` wants one are a ValueError.
    """
    source, by_id, ids = experiment.extra["answers"], {each.id: each for each in questions}, dict[str, str]()
    for theirs in responses.questions:
        id = next((id for id in (theirs.id, theirs.id.rpartition("_")[0]) if id in by_id), theirs.id)
        if id in ids.values():
            raise ValueError(f"answers={source!r}: two of its questions, one of them {theirs.id}, are {id}")
        ids[theirs.id] = id
        for name, text in _shown(theirs).items() if id in by_id else ():
            if text != (ours := _shown(by_id[id]))[name]:
                what = f"{name} {ours[name]!r}, there {text!r}: they answer another question"
                raise ValueError(f"answers={source!r}, question {theirs.id}: {what}")
    if experiment.extra["editor"] is None and not any(answer.edited for answer in responses.answers):
        raise ValueError(f"editor='published': answers={source!r} has no edited reason ({EDITED}); name an editor")
    for answer in responses.answers:
        yield replace(answer, question_id=ids[answer.question_id])


def _shown(question: Question) -> dict[str, str | None]:
    """The gold letter of a question and its options, as far as they are known, whatever their line ends."""
    options = (" ".join(text.split()) for text in question.options)
    return {"gold": question.gold, **dict(zip("ABCD", options, strict=False))}


def written_by(published: Iterable[str], models: Sequence[Model]) -> dict[str, Model]:
    """Which of these models each published name means, where it means one: by its name, else by its model id.

    Of a model id the last part counts: "Llama-3.3-70B" is "meta-llama/Llama-3.3-70B". Two that fit are a ValueError.
    """
    found: dict[str, Model] = {}
    for name in published:
        meant = {each.name: each for each in models if each.model_id.rpartition("/")[2].casefold() == name.casefold()}
        meant = {each.name: each for each in models if each.name == name} or meant
        if len(meant) > 1:
            named = ", ".join(meant)
            raise ValueError(f"the published model {name} could be any of {named}: they have one model id; take one")
        for model in meant.values():
            if other := next((earlier for earlier, each in found.items() if each == model), None):
                raise ValueError(f"the published models {other} and {name} would both be {model.name}")
            found[name] = model
    return found


def pair_judgments(source: Path | str, experiment: Experiment, responses: datasets.Loaded | None) -> pd.DataFrame:
    """The pair frame of published judgments: preferences, recognition, judged pairs, or (by `scores`) of programs."""
    scores, answers = experiment.extra["scores"], experiment.extra["answers"]
    if scores is not None:
        try:
            return datasets.load_code_pairs(source, experiment.hub, scores)
        except FileNotFoundError:
            fault = f"scores={scores!r}: only judgments on programs ({CODE_FILES[0]}) have such numbers"
            raise ValueError(fault) from None
    frame = datasets.load_pair_judgments(source, responses, experiment.hub)
    if frame.empty:
        records = ", ".join(f"{count} {kind}" for kind, count in frame.attrs["counts"].items())
        by = f"by answers={answers!r}, " if answers != "ask" else ""
        words = f"{by}no record is on a pair with one right answer: {records}"
        raise ValueError(f"judgments={experiment.judgments!r}: {words}")
    return frame


def _tests_or_scenarios(experiment: Experiment) -> Sequence[Question]:
    """The scenarios of a template (.yaml) or a folder of them, else the published tests in the hub's format."""
    source, place = experiment.questions, Path(_source(experiment, "questions"))
    kinds = f"templates (.yaml) or published tests ({', '.join(bias_tests.ENDS)})"
    if source == "hub" or place.suffix in bias_tests.ENDS:
        return datasets.load_published_tests(source, experiment.hub).questions
    if place.is_file() and place.suffix != ".yaml":
        raise ValueError(f"{place}: ends with {place.suffix or 'nothing'}; `questions` are {kinds}")
    templates, tests = sorted(place.glob("*.yaml")), below(place, bias_tests.ENDS)
    if templates and tests:
        both = f"templates ({templates[0].name}, ...) and published tests ({tests[0].relative_to(place)}, ...)"
        raise ValueError(f"{place}: holds {both}; keep one kind, or name a file")
    if tests:
        return datasets.load_published_tests(source, experiment.hub).questions
    if place.is_dir() and not templates:
        there = ", ".join(sorted(path.name for path in place.iterdir())) or "nothing"
        raise FileNotFoundError(f"{place}: expected {kinds}, found {there}")
    lines = bias_tests.load_templates(place, experiment.extra["metrics"], f"experiments/{experiment.name}/config.yaml")
    return load_bias(experiment.bias).questions(lines, experiment.seed)


#: What the win rates hold equal, and what the datasets call it.
FEATURES = {"token_len": "length", "header_count": "headers", "list_count": "lists", "bold_count": "bold"}


def features(asked: Asked) -> pd.DataFrame | None:
    """How each answer is written (question_id, candidate, length, headers, lists, bold); None without any text."""
    experiment = asked.experiment
    if asked.answers:
        rows = [
            {"question_id": id, "candidate": name, **datasets.style_of(answer.text)}
            for (id, name), answer in asked.answers.items()
            if answer.text
        ]
        return pd.DataFrame(rows, columns=["question_id", "candidate", *FEATURES]).rename(columns=FEATURES)
    if experiment.extra["answers"] == "ask":
        return None
    return datasets.load_arena_answers(_source(experiment, "answers"), experiment.hub).frame.rename(columns=FEATURES)


#: The words that each of these parameters knows besides a file or folder.
WORDS = {"questions": ("builtin", "hub"), "answers": ("ask", "hub"), "judgments": ("ask", "stored", "hub")}


def questions_of(experiment: Experiment) -> tuple[Question, ...]:
    """The run's questions in ranked order: cut to `question_limit`, then filtered by category.

    No question left, an unknown category or a source that does not exist is a ValueError or FileNotFoundError.
    """
    kind, source = experiment.extra.get("format"), _source(experiment, "questions")
    if kind == "passages":
        found = datasets.load_passages(source, experiment.hub, experiment.extra["hard"])
    elif kind == "tests":
        found = tuple(_tests_or_scenarios(experiment))
    elif kind == "arena" and experiment.questions != "builtin":
        found = datasets.load_arena_questions(source, experiment.hub)
    else:
        found = _built_in_or_answered(experiment, source)
    return _chosen(experiment, found)


def _built_in_or_answered(experiment: Experiment, source: Path | str) -> tuple[Question, ...]:
    """The questions that `questions` names; where they are built in, and published answers hold others, those."""
    questions = datasets.load_questions(source, experiment.hub)
    if experiment.questions != "builtin" or experiment.extra.get("answers", "ask") == "ask":
        return questions
    try:
        answered = datasets.load_questions(_source(experiment, "answers"), dict(experiment.hub or {}, questions=None))
    except (FileNotFoundError, ValueError):
        return questions  # they hold no questions, or are refused when they are read as answers
    there = {question.id for question in questions}
    return questions if any(question.id in there for question in answered) else answered


def answers_of(experiment: Experiment, questions: Sequence[Question]) -> dict[tuple[str, str], Answer] | None:
    """Published answers to these questions by question and candidate; None where candidates are asked.

    Candidates are those that the parameter names, else all in the source. On passages and in games those `written_by`
    the run's models have their names, vendors and tiers. An answer that is not there has the outcome "missing"; a
    candidate without any is a ValueError, as is, except on passages, a question.
    """
    source, kind = experiment.extra.get("answers", "ask"), experiment.extra.get("format")
    if source == "ask":
        return None
    place, hub, baseline_of = _source(experiment, "answers"), experiment.hub, load_bias(experiment.bias).baseline_of
    baselines = {question.id: model for question in questions if (model := baseline_of(experiment, question))}
    if kind == "passages":
        loaded = tuple(_answers_to(experiment, questions, datasets.load_responses(place, hub)))
    elif kind == "arena":
        loaded = datasets.load_arena_answers(place, hub).answers
    else:
        loaded = tuple(datasets.load_answers(place, hub, questions))
    published = sorted({answer.candidate for answer in loaded})
    chosen = experiment.candidates if "candidates" in experiment.parameters else ()
    means = written_by(published, [*experiment.judges, *chosen, *baselines.values()] if kind else ())
    found: dict[tuple[str, str], Answer] = {}
    for answer in loaded:
        if model := means.get(answer.candidate):
            answer = replace(answer, candidate=model.name, vendor=model.vendor, tier=model.tier)
        found[answer.question_id, answer.candidate] = answer
    makers, against = {name: each for (_, name), each in found.items()}, {each.name for each in baselines.values()}
    names = [model.name for model in chosen]
    if unknown := sorted({*names, *against} - {*makers}):
        raise ValueError(f"answers={source!r} has none of {', '.join(unknown)}; it has: {', '.join(published)}")
    answered = {question_id for question_id, _ in found}
    without = sorted({question.id for question in questions} - answered)
    if without and (len(without) == len(questions) or kind != "passages"):
        others = f"; it answers others, for instance {min(answered)!r}: `questions` must name those" if answered else ""
        raise ValueError(
            f"answers={source!r} has no answers to {len(without)} questions, for instance {without[0]!r}"
            f"{others if len(without) == len(questions) else ''}"
        )
    names = (names if baselines else sorted(names)) or sorted({*makers} - against)
    result = {}
    for question in questions:
        first = [baselines[question.id].name] if baselines else []
        for name in dict.fromkeys([*first, *names]):
            missing = Answer(question.id, name, makers[name].vendor, makers[name].tier, "", outcome="missing")
            answer = found.get((question.id, name), missing)
            result[question.id, name] = prompts.without_nonce(experiment.seed, answer) if kind else answer
    return result


def judgments_of(experiment: Experiment) -> pd.DataFrame:
    """The frame of published judgments, with the run's `judges`, `hints`, `categories` and `question_limit`.

    Published answers give lengths and returned model ids. Judges or hints that are not there are a ValueError.
    """
    source, questions, place = experiment.judgments, tuple[Question, ...](), _source(experiment, "judgments")
    kind, hub = experiment.extra.get("format"), experiment.hub
    answers = None if experiment.extra.get("answers", "ask") == "ask" else _source(experiment, "answers")
    if kind == "passages":
        responses = datasets.load_responses(answers, hub) if answers else None
        frame = pair_judgments(place, experiment, responses)
    elif kind == "tests":
        tests = () if experiment.questions == "builtin" else _tests_or_scenarios(experiment)
        loaded = datasets.load_decisions(place, hub, tests)
    elif kind == "arena":
        if experiment.questions != "builtin":
            questions = datasets.load_arena_questions(_source(experiment, "questions"), hub)
        loaded = datasets.load_games(place, hub, questions)
    else:
        frame = _loaded(place, experiment, datasets.load_answers(answers, hub) if answers else ())
    if kind in ("tests", "arena"):
        frame = loaded.frame
        frame.attrs |= {"counts": loaded.counts, "problems": [str(each) for each in loaded.problems]}
    if kind != "tests":
        frame["experiment"] = experiment.name
    there = sorted(frame["judge"].unique())
    judges: Sequence[str] = there
    if "judges" in experiment.parameters:
        means = written_by(there, experiment.judges)
        unknown = [judge.name for judge in experiment.judges if judge not in means.values()]
        if unknown:
            raise ValueError(f"judgments={source!r} has no judge {', '.join(unknown)}; it has: {', '.join(there)}")
        judges = list(means)
    if (hints := experiment.parameters.get("hints")) is not None:  # the judgments under these, and the blind ones
        conditions = sorted({*frame["condition"]} - {"none"})
        if unknown := [hint for hint in hints if hint not in conditions]:
            words = f"{', '.join(unknown)}; it has: {', '.join(conditions) or 'blind ones alone'}"
            raise ValueError(f"judgments={source!r} has no judgments under the hint {words}")
        frame = frame[frame["condition"].isin([*hints, "none"])]
    places = frame[["question_id", "category"]].drop_duplicates().itertuples(index=False)
    chosen = {question.id for question in _chosen(experiment, [Question(id, category, "") for id, category in places])}
    rows = frame[frame["judge"].isin(judges) & frame["question_id"].isin(chosen)]
    return with_clusters(frames.recoded(rows.reset_index(drop=True)), questions)


def with_clusters(frame: pd.DataFrame, questions: Sequence[Question]) -> pd.DataFrame:
    """The frame with `cluster`: near-duplicate questions (articles, scenarios) are one; said in `attrs["notes"]`."""
    there = set(frame["article" if "article" in frame else "question_id"].unique())
    texts = {each.article or each.id: each.passage or each.text for each in questions}
    clusters = datasets.merge_near_duplicates({id: text for id, text in texts.items() if id in there})
    found = frames.with_clusters(frame, clusters)
    what = "article" if "article" in frame else "question"
    for note in (datasets.near_duplicate_words(clusters), frames.dominance_words(found["cluster"], what)):
        if note:
            found.attrs["notes"] = (*found.attrs.get("notes", ()), note)
    return found


def _loaded(source: Path | str, experiment: Experiment, answers: Sequence[Answer]) -> pd.DataFrame:
    """The frame of all places; a condition that an earlier place holds is not taken from a later one."""
    hub, parts, seen = experiment.hub or {}, list[pd.DataFrame](), set[str]()
    named = hub.get("judgments") if source == "hub" else None  # there can be several
    extra = experiment.extra
    hinted = {"condition": extra.get("condition"), "unlabelled": None if "hints" in extra else "none"}
    for each in named if isinstance(named, list) else [named]:
        entry = {**hub, "judgments": each}
        frame = datasets.load_judgments(source, entry, answers=answers, **hinted)
        parts.append(frame[~frame["condition"].isin(seen)])
        seen |= set(frame["condition"])
    joined = pd.concat(parts, ignore_index=True)
    if notes := tuple(note for part in parts for note in part.attrs.get("notes", ())):
        joined.attrs["notes"] = notes
    return joined


def _chosen(experiment: Experiment, questions: Sequence[Question]) -> tuple[Question, ...]:
    ranked = datasets.ranked(questions, experiment.seed)
    wanted = experiment.extra.get("categories")
    categories = sorted({question.category for question in ranked})
    unknown = [name for name in wanted or () if name not in categories]
    if unknown:
        raise ValueError(f"unknown category {', '.join(unknown)}; the questions have: {', '.join(categories)}")
    limited = ranked[: experiment.question_limit]
    chosen = tuple(question for question in limited if wanted is None or question.category in wanted)
    if not chosen:
        raise ValueError(
            f"no question is left: none of the first {len(limited)} is of {', '.join(wanted or ())}; "
            "question_limit counts before categories are chosen, so raise it"
        )
    return chosen


def _source(experiment: Experiment, parameter: str) -> Path | str:
    """The file or folder that a parameter means; "hub" stays: who reads it knows which of its files to fetch."""
    named = experiment.extra["answers"] if parameter == "answers" else getattr(experiment, parameter)
    if parameter == "questions" and named == "builtin":
        return experiment.builtin
    path = Path(named).expanduser()
    if named != "hub" and not path.exists():
        words = ", ".join(f'"{word}"' for word in WORDS[parameter])
        raise FileNotFoundError(
            f"{parameter}={named!r}: not one of {words}, and there is no such file or folder ({path.absolute()})"
        )
    return named if named == "hub" else path


def load_rows(source: str | Path | None, name: str) -> dict[str, dict[str, Any]]:
    """The rows of a CSV or JSON file by their place in it; none where no file is named.

    JSON is a list of rows, an object of columns, or an object of either by what rows then have as `name`.
    """
    if source is None:
        return {}
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"{str(source)!r}: there is no such file ({path.absolute()})")
    records = read_rows(path)
    rows = records.map(lambda row: {key: cell.strip() if isinstance(cell, str) else cell for key, cell in row.items()})
    first = rows[0].values()
    if len(rows) > 1 or not all(isinstance(each, dict | list) for each in first):
        return {records.place(at): row for at, row in enumerate(rows)}
    named = any(isinstance(each, dict) or any(isinstance(row, dict) for row in each) for each in first)
    found: dict[str, Any] = {}
    for title, block in rows[0].items() if named else [("", rows[0])]:
        try:
            if isinstance(block, dict):
                block = [dict(zip(block, row, strict=True)) for row in zip(*block.values(), strict=True)]
            found |= {f"{path}, {title} row {at}": {name: title} | row for at, row in enumerate(block, 1)}
        except (TypeError, ValueError):
            what = "neither a list of rows nor an object of arrays that all have the same rows"
            raise ValueError(f"{path}: {title or 'the document'} is {what}") from None
    if not found:
        raise ValueError(f"{path}: holds no row")
    return found
