"""What a run works on: questions, published answers and published judgments, from wherever its parameters say."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import datasets, paths, prompts
from ..biases.cognitive import Arrays, from_arrays, notebook_arrays
from ..biases.cognitive.asked import questions
from ..biases.cognitive.published import FORMS
from ..biases.position.asked import baseline_of
from ..datasets import bias_tests
from ..datasets.bias_templates import load_templates
from ..datasets.hub import below
from ..datasets.pairs import CODE_FILES
from ..datasets.reading import read_cells, read_text
from ..json_text import document
from ..types import Answer, Experiment, Model, Question

if TYPE_CHECKING:
    import pandas as pd

    from .asking import Asked

#: The field with a reason of which two words are replaced.
EDITED = "<model>_reason_perturb_llm_auto"
#: How the names of files of judgments on programs end.
PROGRAMS = "_eval.jsonl"


def _reasons(experiment: Experiment, questions: Sequence[Question], responses: datasets.Responses) -> Iterator[Answer]:
    """The published answers under the ids of these questions, each with its published edit.

    A ValueError: no question has answers, or another gold letter or other options, or no edit where `editor` wants one.
    """
    source = experiment.own["answers"]
    asked = _asked(questions, responses.questions, source)
    if experiment.own["editor"] is None and not any(kind == "synonyms" for _, _, kind in responses.edits):
        raise ValueError(f"editor='published': answers={source!r} has no edited reason ({EDITED}); name an editor")
    for answer in responses.answers:
        edited = responses.edits.get((answer.question_id, answer.candidate, "synonyms"))
        yield replace(answer, question_id=asked.get(answer.question_id, answer.question_id), edited=edited)


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
    """The pair frame of published judgments: preferences, recognition, judged pairs, or pairs of programs."""
    scores = experiment.own["scores"]
    if not _programs(source, experiment):
        if scores is not None:
            raise ValueError(f"scores={scores!r}: only judgments on programs ({CODE_FILES[0]}) have such numbers")
        frame = datasets.load_pair_judgments(source, responses, experiment.name, experiment.hub)
        if frame.empty:
            records = ", ".join(f"{count} {kind}" for kind, count in frame.attrs["counts"].items())
            by = f"by answers={experiment.own['answers']!r}, " if experiment.own["answers"] != "ask" else ""
            words = f"{by}no record is on a pair with one right answer: {records}"
            raise ValueError(f"judgments={experiment.judgments!r}: {words}")
        return frame
    if scores is None:
        raise ValueError(
            f"{source}: does not say what the three numbers of a game stand for, so nothing is known of its verdicts; "
            'name them in `scores`, in their order: "first", "second", "tie" or "own", "other", "tie"'
        )
    return datasets.load_code_pairs(source, experiment.hub, scores, experiment.name)


def _programs(source: Path | str, experiment: Experiment) -> bool:
    """Whether judgments are on programs, as the file's name tells; on the hub, those that its entry names."""
    if isinstance(source, Path):
        return source.name.endswith(PROGRAMS) or any((source / name).is_file() for name in CODE_FILES)
    named = (experiment.hub or {}).get("judgments") or ()
    return any(name.endswith(PROGRAMS) for name in ([named] if isinstance(named, str) else named))


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
        ours, theirs = (
            {"gold": x.gold, **{name: " ".join(text.split()) for name, text in zip("ABCD", x.options, strict=False)}}
            for x in (known[id], told)
        )
        for name in ours:
            if name in theirs and ours[name] != theirs[name]:
                what = f"{name} {ours[name]!r}, there {theirs[name]!r}: they answer another question"
                raise ValueError(f"answers={source!r}, question {told.id}: {what}")
        found[told.id] = id
    if not found:
        raise ValueError(
            f"answers={source!r} has no answers to these {len(known)} questions (for instance {next(iter(known))!r}), "
            f"but to others (for instance {answered[0].id if answered else 'none'!r}); `questions` must be what was "
            "answered: the data set, or the same file where its records hold their passages"
        )
    return found


def questions_from(source: Path | str, experiment: Experiment) -> tuple[Question, ...]:
    """The scenarios of a template (.yaml) or a folder of them, else of the published tests in the hub's format.

    A folder with neither is a FileNotFoundError, one with both a ValueError: only one of them could be asked.
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
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


#: What the win rates hold equal, and what the datasets call it.
FEATURES = {"token_len": "length", "header_count": "headers", "list_count": "lists", "bold_count": "bold"}


def features(asked: Asked) -> pd.DataFrame | None:
    """How each answer is written (question_id, candidate, length, headers, lists, bold); None without any text."""
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
    """Published answers to these questions by question and candidate; None where candidates are asked.

    Candidates are those that the parameter names, else all in the source. On passages and in games one of the run's
    models (`written_by`) has its name, vendor and tier, so that a judge knows its own answers. An answer that is not
    there has the outcome "missing". A candidate without any answer is a ValueError, as is, except on passages, such a
    question.
    """
    source, kind = experiment.own.get("answers", "ask"), experiment.own.get("format")
    if source == "ask":
        return None
    place, hub, baselines = _source(experiment, "answers"), experiment.hub, dict[str, Model]()
    if kind == "passages":
        loaded: Iterable[Answer] = _reasons(experiment, questions, datasets.load_responses(place, hub))
    elif kind == "arena":
        loaded = datasets.load_arena_answers(place, hub).answers
        baselines = {question.id: baseline_of(experiment, question) for question in questions}
    else:
        loaded = datasets.load_answers(place, hub, questions)
    loaded = tuple(loaded)
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
    if without and kind != "passages":
        other = f"; it answers others, for instance {min(answered)!r}: `questions` must name the file of those"
        raise ValueError(
            f"answers={source!r} has no answers to {len(without)} questions, for instance {without[0]!r}"
            f"{other if len(without) == len(questions) and answered else ''}"
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
    from ..frames import recoded

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
        loaded = datasets.load_decisions(_source(experiment, "judgments"), hub, tests)
    elif kind == "arena":
        if experiment.questions != "builtin":
            known = datasets.load_arena_questions(_source(experiment, "questions"), hub)
        loaded = datasets.load_games(_source(experiment, "judgments"), hub, questions=known, experiment=experiment.name)
    else:
        frame = _loaded(experiment, datasets.load_answers(answers, hub) if answers else ())
    if kind in ("tests", "arena"):
        frame = loaded.frame
        frame.attrs |= {"counts": loaded.counts, "problems": [str(each) for each in loaded.problems]}
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
    from .. import frames

    there = set(frame["article" if "article" in frame else "question_id"].unique())
    texts = {each.article or each.id: each.passage or each.text for each in questions}
    clusters = datasets.merge_near_duplicates({id: text for id, text in texts.items() if id in there})
    found = frames.with_clusters(frame, clusters)
    what = "article" if "article" in frame else "question"
    for told in (datasets.near_duplicates_told(clusters), frames.dominance_words(found["cluster"], what)):
        if told:
            found.attrs["notes"] = (*found.attrs.get("notes", ()), told)
    return found


def _loaded(experiment: Experiment, answers: Sequence[Answer]) -> pd.DataFrame:
    """The frame of all places; a condition that an earlier place holds is not taken from a later one.

    Where hints are compared, a file that names none is refused; elsewhere it counts as blind.
    """
    import pandas as pd

    named = (experiment.hub or {}).get("judgments")
    places: list[Path | str] = [_source(experiment, "judgments")]
    if experiment.judgments == "hub":  # whose files are fetched; there can be several
        entries = [{**(experiment.hub or {}), "judgments": x} for x in (named if isinstance(named, list) else [named])]
        places = [datasets.from_hub(entry, "judgments", paths.DOWNLOADS) for entry in entries]
    frames: list[pd.DataFrame] = []
    known: set[str] = set()
    hinted = {"condition": experiment.own.get("condition"), "unlabelled": None if "hints" in experiment.own else "none"}
    for place in places:
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


#: Which rows belong together, and which tests are a batch of their own.
CLUSTER, NAME = "cluster", "answers"
_COLUMNS = dict.fromkeys(name for _, names in FORMS.values() for name in names)
_NEEDED = "; or ".join(dict.fromkeys(", ".join(names) for _, names in FORMS.values()))


def read_arrays(source: str | Path | None) -> list[Arrays]:
    """The arrays in a CSV or JSON file, a batch for each value of its column `answers`; none where no file is named.

    Columns: those of a metric (in CSV options are "10 | 20 | 30"), `cluster` and `answers`. JSON is a list of rows, an
    object of columns, or an object of such by name. What is missing, no number or refused by a metric is a ValueError
    with file, row and column; FileNotFoundError where there is no file.
    """
    if source is None:
        return []
    path = Path(source).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"arrays={str(source)!r}: there is no such file ({path.absolute()})")
    text, batches = read_text(path), dict[str, dict[str, Mapping[str, Any]]]()
    for name, place, row in (_json_rows if text.lstrip()[:1] in ("{", "[") else _csv_rows)(path, text):
        batches.setdefault(name, {})[place] = row
    if not batches:
        raise ValueError(f"{path}: holds no row; write a row a test with the columns {_NEEDED}")
    return [_arrays(path, name, rows) for name, rows in batches.items()]


def _csv_rows(path: Path, text: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """The rows of a CSV: the name of their batch, their line, their cells."""
    for line, row in read_cells(io.StringIO(text, newline=""), path):
        if isinstance(row, str):
            raise ValueError(f"{path}, line {line}: {row}")
        cells = {name: re.split(r"[|;]", cell) if name == "options" else cell.strip() for name, cell in row.items()}
        yield cells.get(NAME, ""), f"line {line}", cells


def _json_rows(path: Path, text: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    try:
        content = document(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no JSON ({error})") from None
    named = isinstance(content, dict) and all(isinstance(each, dict | list) for each in content.values())
    for name, block in (content if named and not _COLUMNS.keys() & content.keys() else {"": content}).items():
        rows = block
        if isinstance(block, dict):
            sizes = {column: len(each) if isinstance(each, list) else "none" for column, each in block.items()}
            if "none" in sizes.values() or len({*sizes.values()}) > 1:
                words = ", ".join(f"{size} of {column}" for column, size in sizes.items())
                raise ValueError(f"{path}: {name}{': ' if name else ''}all arrays need the same rows, found {words}")
            rows = [dict(zip(block, row, strict=True)) for row in zip(*block.values(), strict=True)]
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise ValueError(f"{path}: {name or 'the document'} is neither a list of rows nor an object of arrays")
        for number, row in enumerate(rows, 1):
            yield str(row.get(NAME, name)), f"{name} row {number}".strip(), row


def _arrays(path: Path, name: str, rows: Mapping[str, Mapping[str, Any]]) -> Arrays:
    """The arrays of one batch, which the metrics have accepted; `rows` by their place in the file."""
    import numpy as np

    (first, head), columns = next(iter(rows.items())), dict[str, Any]()
    for column in (each for each in _COLUMNS if each in head):
        values = {place: _numbers(f"{path}, {place}, {column}", row.get(column)) for place, row in rows.items()}
        width = len(values[first]) if column == "options" else 1
        for place, found in values.items():
            if len(found) != width:
                more = "; give tests with other numbers of options another name in a column `answers`"
                problem = f"holds {len(found)} numbers, expected {width}{more if column == 'options' else ''}"
                raise ValueError(f"{path}, {place}, {column}: {problem}")
        columns[column] = np.array([*values.values()])
    clusters = [None if row.get(CLUSTER) == "" else row.get(CLUSTER) for row in rows.values()]
    where = {"source": "arrays"} | ({NAME: name} if name else {})
    arrays = Arrays(where, columns, clusters if CLUSTER in head else None)
    if not [*arrays.metrics()]:
        raise ValueError(f"{path}, {first}: columns {', '.join(head) or 'nothing'}; a metric needs {_NEEDED}")
    try:
        from_arrays([arrays])
    except ValueError as error:
        problem = re.sub(r"row (\d+)", lambda match: [*rows][int(match[1])], str(error))
        raise ValueError(f"{path}: {problem}") from None
    return arrays


def _numbers(where: str, value: Any) -> list[float]:
    """A cell as numbers: one, or the options of a test."""
    found = []
    for cell in value if isinstance(value, list) else [value]:
        try:
            found.append(math.nan if isinstance(cell, bool) else float(cell))
        except (TypeError, ValueError):
            found.append(math.nan)
        if math.isnan(found[-1]):
            what = f"{'nothing' if cell in (None, '') else repr(cell)}, expected a number"
            raise ValueError(f"{where}: holds {what}; leave out tests without a readable answer")
    return found


def array_table(published: Mapping[str, Any], arrays: Sequence[Arrays]) -> tuple[str, pd.DataFrame, str]:
    """The arrays of the published notebook and of a file test by test, as a table: name, frame and caption."""
    import pandas as pd

    rows = []
    for each, data in [*((x, "published") for x in notebook_arrays(published)), *((x, "folder") for x in arrays)]:
        values = {id: metric(overall=False).compute(*inputs).ravel() for id, metric, inputs in each.metrics()}
        for at in range(len(next(iter(each.columns.values())))):
            inputs = (f"{name} {', '.join(f'{x:.10g}' for x in array[at])}" for name, array in each.columns.items())
            row = {NAME: each.where.get(NAME, ""), "test": at + 1, "inputs": "; ".join(inputs)}
            rows.append(row | {id: float(found[at]) for id, found in values.items()} | {"data": data})
    frame = pd.DataFrame(rows)
    caption = "Arrays of answers, test by test, with the published metrics of each (loss aversion: the answer itself)."
    return "array_rows", frame[[*frame.columns.drop("data"), "data"]], caption
