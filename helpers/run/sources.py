"""What a run works on: questions, published answers and published judgments, from wherever its parameters say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers import datasets, paths, prompts
from helpers.biases.cognitive.asked import questions
from helpers.biases.position.asked import baseline_of
from helpers.datasets import bias_tests
from helpers.datasets.bias_templates import load_templates
from helpers.datasets.hub import below
from helpers.datasets.pairs import CODE_FILES
from helpers.types import Answer, Experiment, Model, Question

if TYPE_CHECKING:
    import pandas as pd

    from helpers.run.asking import Asked

#: The field with a reason of which two words are replaced.
EDITED = "<model>_reason_perturb_llm_auto"


def pair_answers(
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
    if experiment.own["editor"] is None and not any(kind == "synonyms" for _, _, kind in responses.edits):
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


def pair_judgments(source: Path | str, experiment: Experiment, responses: datasets.Responses | None) -> pd.DataFrame:
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


#: Files that a message names one by one.
NAMED = 4


def questions_from(source: Path | str, experiment: Experiment) -> tuple[Question, ...]:
    """The scenarios of a template (.yaml) or a folder of them, else of the published tests in the hub's format.

    Templates take the metric parameters of the experiment's config.yaml; published tests carry their own. A folder with
    neither is a FileNotFoundError, one with both a ValueError that names them: only one of them could be asked.
    """
    place = Path(source).expanduser()
    if source != "hub" and _of_templates(place):
        where = f"experiments/{experiment.name}/config.yaml"
        return questions(load_templates(place, experiment.own["metrics"], where), experiment.seed)
    return datasets.load_published_tests(source, experiment.hub)


def _of_templates(place: Path) -> bool:
    """Are templates meant, and not published tests?"""
    kinds = f"templates (.yaml) or published tests ({', '.join(bias_tests.ENDS)})"
    if place.is_file() and place.suffix not in (".yaml", *bias_tests.ENDS):
        raise ValueError(f"{place}: ends with {place.suffix or 'nothing'}; `questions` are {kinds}")
    if not place.is_dir():
        return place.suffix == ".yaml"
    templates = sorted(path.name for path in place.glob("*.yaml"))
    tests = [str(path.relative_to(place)) for path in below(place, bias_tests.ENDS)]
    if templates and tests:
        raise ValueError(
            f"{place}: holds templates ({_first_ids(templates)}) and published tests ({_first_ids(tests)}); "
            "keep one kind, or name a file"
        )
    if not templates and not tests:
        there = _first_ids(sorted(path.name for path in place.iterdir())) or "nothing"
        raise FileNotFoundError(f"{place}: expected {kinds}, found {there}")
    return bool(templates)


def _first_ids(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


#: What the win rates hold equal, and what the datasets call it.
FEATURES = {"token_len": "length", "header_count": "headers", "list_count": "lists", "bold_count": "bold"}


def game_answers(
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


def _with_problems(loaded: Any) -> pd.DataFrame:
    """The frame of published verdicts; what could not be read stands in `attrs`: "counts" and "problems"."""
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
    if experiment.own["answers"] == "ask":
        return None
    return datasets.load_arena_answers(_source(experiment, "answers"), experiment.hub).frame.rename(columns=FEATURES)


#: The words that each of these parameters knows besides a file or folder.
WORDS = {"questions": ("builtin", "hub"), "answers": ("ask", "hub"), "judgments": ("ask", "stored", "hub")}


def questions_of(experiment: Experiment) -> tuple[Question, ...]:
    """The run's questions in ranked order: cut to `question_limit`, then filtered by category.

    No question left, an unknown category or a source that does not exist is a ValueError or FileNotFoundError.
    """
    kind, source = experiment.own.get("format"), _source(experiment, "questions")
    if kind == "passages":
        found = datasets.load_passages(source, experiment.hub, experiment.own["hard"])
    elif kind == "tests":
        found = questions_from(source, experiment)
    elif kind == "arena" and experiment.questions != "builtin":
        found = datasets.load_arena_questions(source, experiment.hub)
    else:
        found = _built_in_or_answered(experiment, source)
    return _chosen(experiment, found)


def _built_in_or_answered(experiment: Experiment, source: Path | str) -> tuple[Question, ...]:
    """The questions that `questions` names; where they are built in, and published answers hold others, those."""
    questions = datasets.load_questions(source, experiment.hub)
    if experiment.questions != "builtin" or experiment.own.get("answers", "ask") == "ask":
        return questions
    try:
        answered = datasets.load_questions(_source(experiment, "answers"), (experiment.hub or {}) | {"questions": None})
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
    source, kind = experiment.own.get("answers", "ask"), experiment.own.get("format")
    if source == "ask":
        return None
    place = _source(experiment, "answers")
    if kind == "passages":
        given = pair_answers(experiment, questions, datasets.load_responses(place, experiment.hub))
        return {key: prompts.without_nonce(experiment.seed, answer) for key, answer in given.items()}
    if kind == "arena":
        return game_answers(experiment, questions, place)
    loaded = datasets.load_answers(place, experiment.hub, questions)
    makers = sorted({answer.candidate for answer in loaded})
    names = experiment.parameters.get("candidates") or makers
    if unknown := [name for name in names if name not in makers]:
        raise ValueError(f"answers={source!r} has none of {', '.join(unknown)}; it has: {', '.join(makers)}")
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
    return complete(questions, named)


def judgments_of(experiment: Experiment) -> pd.DataFrame:
    """The frame of published judgments, with the run's `judges`, `hints`, `categories` and `question_limit`.

    Published answers (`answers`) give lengths and returned model ids. Judges or hints that are not there are a
    ValueError.
    """
    from helpers.frames import recoded

    source, known = experiment.judgments, ()
    kind, hub = experiment.own.get("format"), experiment.hub
    answers = None if experiment.own.get("answers", "ask") == "ask" else _source(experiment, "answers")
    if kind == "passages":
        if experiment.own["hard"]:
            raise ValueError(f"hard=True: judgments={source!r} do not say which questions are hard")
        responses = datasets.load_responses(answers, hub) if answers else None
        frame = pair_judgments(_source(experiment, "judgments"), experiment, responses)
    elif kind == "tests":
        tests = () if experiment.questions == "builtin" else questions_from(experiment.questions, experiment)
        frame = _with_problems(datasets.load_decisions(_source(experiment, "judgments"), hub, tests))
    elif kind == "arena":
        if experiment.questions != "builtin":
            known = datasets.load_arena_questions(_source(experiment, "questions"), hub)
        loaded = datasets.load_games(_source(experiment, "judgments"), hub, questions=known, experiment=experiment.name)
        frame = _with_problems(loaded)
    else:
        frame = _loaded(experiment, datasets.load_answers(answers, hub) if answers else ())
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


def _places(experiment: Experiment) -> list[Path | str]:
    """The files or folders of the judgments; on the hub, whose files are fetched, there can be several."""
    if experiment.judgments != "hub":
        return [_source(experiment, "judgments")]
    named = (experiment.hub or {}).get("judgments")
    entries = [{**experiment.hub, "judgments": each} for each in named] if isinstance(named, list) else [experiment.hub]
    return [datasets.from_hub(entry, "judgments", paths.DOWNLOADS) for entry in entries]


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


def _source(experiment: Experiment, parameter: str) -> Path | str:
    """The file or folder that a parameter means; "hub" stays: who reads it knows which of its files to fetch."""
    named = experiment.own["answers"] if parameter == "answers" else getattr(experiment, parameter)
    if parameter == "questions" and named == "builtin":
        return experiment.builtin
    path = Path(named).expanduser()
    if named != "hub" and not path.exists():
        words = ", ".join(f'"{word}"' for word in WORDS[parameter])
        raise FileNotFoundError(
            f"{parameter}={named!r}: not one of {words}, and there is no such file or folder ({path.absolute()})"
        )
    return named if named == "hub" else path
