"""Published judgments on two answers of which exactly one is right, texts or programs, as the pair frame.

What forms no such pair is counted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from ..frames import PAIRWISE, about
from ..types import Answer, Question
from .answers import answers_in, columns, plain_question, vendor_of
from .hub import NAMES, Entry, Source, find_files
from .questions import UNKNOWN
from .reading import Loaded, Record, Records, number_or_nan, read_records, refuse_if, show

Row = dict[str, Any]
PAIR_FILES, CODE_FILES = tuple(NAMES["files"]["pairs"]), tuple(NAMES["files"]["programs"])
OTHER = {"right": "wrong", "wrong": "right"}
TASKS: dict[str, str] = NAMES["values"]["tasks"]
ROLES: dict[str, str] = NAMES["values"]["roles"]
#: What a pair of programs is, by whether the judge's own and the other one are right.
KINDS = {(1, 1): "both_right", (0, 0): "both_wrong", (0, 1): "harmful", (1, 0): "beneficial"}
#: What three numbers of a game can stand for: the places of the two programs or whose they are, and a tie.
MEANINGS = ({"first", "second", "tie"}, {"own", "other", "tie"})


def load_pair_judgments(source: Source, responses: Loaded | None = None, hub: Entry = None) -> pd.DataFrame:
    """The pair frame of published judgments in a file, in a folder or behind the hub entry ("hub").

    One row a judgment (columns: frames.PAIRWISE). The judge wrote one answer of each pair itself; it stands first in
    `forward` and in files without `_reverse`. A verdict other than "1" or "2" is "unparsed", a file of such alone a
    ValueError, as is a judgment twice. `responses` give categories, letters and a check of who is right. `p_right`
    comes from `prob_1` and `prob_2`, else from the probability of the token that was said, NaN where that is below
    half. `attrs["counts"]`: judgments by outcome, and records without a pair by reason (see `_role`, and "other_role":
    the file's name and the letters disagree).
    """
    counts = Counter[str]()
    seen: dict[tuple[Any, ...], str] = {}
    rows: list[Row] = []
    for path in find_files(source, hub, "judgments", PAIR_FILES, "*.jsonl", several=True):
        records = read_records(path)
        found = READERS[records.kind(FIELDS, NAMES["expected"]["pairs"])](records, responses, counts)
        _refuse_unread(records, found)
        for index, row in ((index, row) for index, each in enumerate(found) for row in each):
            key = tuple(row[name] for name in ("question_id", "judge", "right", "wrong", "condition", "task", "first"))
            if seen.setdefault(key, here := records.place(index)) != here:
                raise ValueError(f"{here}: question {key[0]} was judged by {key[1]} before, at {seen[key]}")
            rows.append(row)
    return _frame(rows, counts)


def load_code_pairs(source: Source, hub: Entry = None, scores: Sequence[str] | None = None) -> pd.DataFrame:
    """The pairs of programs in a file named <judge>_<other>_eval.jsonl, in a folder with it, or behind the hub entry.

    Rows are on pairs with one right program; assistant 1 is the judge, whose program game 1 shows first. `scores` says
    what the three numbers of a game stand for: "first", "second" (place) or "own", "other", and "tie"; without it every
    verdict is "unparsed", as are two equal largest. `attrs["counts"]`: outcomes, and pairs by kind (KINDS), "restyled",
    "unflagged" (a flag that is null).
    """
    if scores is not None and (len(scores) != 3 or set(scores) not in MEANINGS):
        raise ValueError(f"scores={list(scores)!r}: three words in their order, first, second, tie or own, other, tie")
    path = find_files(source, hub, "judgments", CODE_FILES)[0]
    named = re.fullmatch(r"(.+)_([^_]+)_eval", path.stem)
    if not named:
        raise ValueError(f"{path}: the name does not tell who wrote what; expected <judge>_<other>_eval.jsonl")
    records = read_records(path)
    flags = [f"assistent_{number}_is_correct" for number in (1, 2)]
    records.kind({"programs": ["unique_id", *flags]}, NAMES["expected"]["programs"])
    counts = Counter[str]()

    def read(record: Record) -> tuple[str, list[Row]]:
        id = record.get("unique_id")
        refuse_if(type(id) not in (int, str) or id == "", "unique_id", id, "a number or a text")
        right = tuple(record.typed(name, bool, "true or false") for name in flags)
        kind = KINDS.get(right, "unflagged")
        counts[kind] += 1
        if kind not in ("harmful", "beneficial"):
            return str(id), []
        restyled = any(record.get(name) for name in record if name.startswith("assistent_1_answer_restyle"))
        counts["restyled"] += kind == "harmful" and restyled
        question = Question(str(id), "code", "", article=str(id))
        pair = _pair(question, (named[1], named[2]), "right" if right[0] else "wrong")
        return str(id), [_program_row(pair, record, game, scores) for game in (1, 2)]

    found = records.map(read, "unique_id")
    records.refuse_duplicates([id for id, _ in found], "problems")
    return _frame([row for _, rows in found for row in rows], counts)


def _frame(rows: Sequence[Row], counts: Counter[str]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=list(PAIRWISE)).astype({"p_right": float, "dose": int, "repeat": int})
    frame["experiment"] = "published"
    frame["picked"] = frame["picked"].astype(object).where(frame["picked"].notna(), None)
    counts.update(frame["outcome"])
    frame.attrs["counts"] = {name: count for name, count in counts.items() if count}
    return frame


def _pair(
    question: Question,
    models: Sequence[str],
    own: str,
    labels: Sequence[str | None] = (None, None),
    task: str = "correct",
    dose: int = 0,
) -> Row:
    """What was judged: an answer of the judge, which is `own` (right or wrong), and one of another model."""
    roles = zip((own, OTHER[own]), models, labels, strict=True)
    own_side, other_side = (about(role, name, vendor=vendor_of(name), label=label) for role, name, label in roles)
    return {
        **vars(question),
        "question_id": question.id,
        **about("judge", models[0], vendor=vendor_of(models[0]), model=models[0]),
        "condition": f"{own}_{dose}" if dose else "none",
        "edit": "synonyms" if dose else "none",
        "target": own if dose else "none",
        "dose": dose,
        "repeat": 0,
        "task": task,
        "own": own,
        # A verdict is compared with a repeat, which published files lack; recognition with its only unedited asking.
        "partner": int(task == "correct"),
        **(own_side | other_side),
    }


def _judgment(pair: Row, own_first: bool, verdict: Any, p_first: float) -> Row:
    """A verdict on a pair: "1" or "2"; `p_first` is the probability of the answer shown first."""
    first = pair["own"] if own_first else OTHER[pair["own"]]
    # Only these two texts are verdicts: " 1", 1 and "Answer 1" would have to be interpreted.
    picked = {"1": first, "2": OTHER[first]}.get(verdict) if isinstance(verdict, str) else None
    p_right = math.nan if picked is None else p_first if first == "right" else 1 - p_first
    return pair | {"first": first, "picked": picked, "p_right": p_right, "outcome": "ok" if picked else "unparsed"}


def _role(gold: str | None, answers: Sequence[Answer | None]) -> str:
    """Which the judge's own answer is ("right", "wrong"), or why the two answers are no pair."""
    if gold is None:
        return "no_gold"
    found = [answer for answer in answers if answer]
    if len(found) < len(answers):
        return "unknown"
    if any(answer.label is None for answer in found):
        return "unlabelled"
    if any(answer.outcome != "ok" for answer in found):
        return "no_reason"
    right = [answer.label == gold for answer in found]
    return "both_right" if all(right) else "both_wrong" if not any(right) else "right" if right[0] else "wrong"


def _preferences(records: Records, responses: Loaded | None, counts: Counter[str]) -> list[list[Row]]:
    kind = records.kind({kind: [f"forward_{kind}"] for kind in TASKS}, NAMES["expected"]["pairs"])
    # Which the judge's own answer is, and how many of its words were replaced, the file's name tells.
    words = records.path.stem.split("_")
    roles = {ROLES[word] for word in words if word in ROLES}
    strange = {*words} - {*NAMES["values"]["plain"], *ROLES, "2w"}
    if len(roles) != 1 or strange or ("pref" in words) != (kind == "comparison"):
        raise ValueError(
            f"{records.path}: the name does not tell what was judged; it has to be one of {', '.join(PAIR_FILES)}, "
            "with recognition in self_recog files alone"
        )
    own_role, dose = roles.pop(), 2 if "2w" in words else 0
    questions = {question.id: question for question in responses.questions} if responses else {}
    published = {(each.question_id, each.candidate): each for each in responses.answers} if responses else {}

    def read(record: Record) -> Iterator[Row]:
        id, judge, other = record.texts("pid", "evaluator", "evaluatee")
        if judge == other:
            raise ValueError("fields 'evaluator' and 'evaluatee' name the same model")
        question, labels = Question(id, UNKNOWN, "", article=id.partition("_")[0]), list[str | None]((None, None))
        if responses:
            answers = [published.get((id, name)) for name in (judge, other)]
            question = questions.get(id)
            absent = "no_gold" if id in responses.without_gold else "unknown"
            role = _role(question.gold, answers) if question else absent
            if role != own_role:
                counts["other_role" if role == OTHER[own_role] else role] += 1
                return
            labels = [answer.label if answer else None for answer in answers]
        pair = _pair(question, (judge, other), own_role, labels, TASKS[kind], dose)
        for order in ("forward", "backward"):
            record.need(f"{order}_{kind}")
            verdict, chance = record[f"{order}_{kind}"], _probability(record, f"{order}_probability")
            # That of the token that was said, which is the one shown first or the other.
            p_first = (chance if verdict == "1" else 1 - chance) if chance >= 0.5 else math.nan
            yield _judgment(pair, order == "forward", verdict, p_first)

    return records.map(lambda record: list(read(record)), "pid")


def _judged(records: Records, responses: Loaded | None, counts: Counter[str]) -> list[list[Row]]:
    """The rows of a file of judged pairs, by record; the judge is the model whose fields come first."""
    models = columns(records)
    if len(models) != 2:
        raise ValueError(f"{records.path}: {len(models)} models in the names of fields, expected the two of a pair")
    own_first = not records.path.stem.endswith("_reverse")
    questions = {question.id: question for question in responses.questions} if responses else {}

    def read(record: Record) -> list[Row]:
        (asked,), answers = plain_question(record), answers_in(record, models)
        role = _role(asked.gold, answers)
        if role not in OTHER:
            counts[role] += 1
            return []
        question = questions.get(asked.id, asked)
        if question.gold != asked.gold:
            raise ValueError(f"field 'gold_label' says {asked.gold}, the answers given say {question.gold}")
        chances = [_probability(record, name) for name in ("prob_1", "prob_2")]
        p_first = chances[0] / sum(chances) if sum(chances) > 0 else math.nan
        pair = _pair(question, [name for name, *_ in models], role, [answer.label for answer in answers])
        return [_judgment(pair, own_first, record.get("judge_output"), p_first)]

    return records.map(read, "question_unique_id")


#: The kinds of files of judgments on pairs: their fields, and what reads them.
FIELDS = {"preferences": ("evaluator", "evaluatee"), "judged": ("question_unique_id", "judge_output")}
READERS = {"preferences": _preferences, "judged": _judged}


def _refuse_unread(records: Records, found: Sequence[Sequence[Row]]) -> None:
    """A file without any readable verdict is a ValueError with an example; one of nulls alone is that of failures."""
    judged = [(number, row) for number, (row, rows) in enumerate(zip(records.rows, found, strict=True), 1) if rows]
    unread = [
        (n, name, row) for name in NAMES["fields"]["pair_verdicts"] for n, row in judged if row.get(name) is not None
    ]
    if unread and not any(row["outcome"] == "ok" for rows in found for row in rows):
        number, name, row = unread[0]
        none = f"none of {sum(map(len, found))} verdicts could be read, for instance {show(row[name])}"
        raise ValueError(f'{records.path}: {none} in record {number} (field {name!r}); expected the text "1" or "2"')


def _probability(record: Record, name: str) -> float:
    chance = record.number(name)
    refuse_if(chance < 0 or chance > 1, name, chance, "a probability")
    return chance


def _program_row(pair: Row, record: Record, game: int, scores: Sequence[str] | None) -> Row:
    own_first, name = game == 1, f"game_{game}_spb_score"
    listed = record.get(name) if scores else None
    wrong = listed is not None and not (isinstance(listed, list) and len(listed) == 3)
    refuse_if(wrong, name, listed, "a list of three numbers")
    values = [number_or_nan(each, f"field {name!r}") for each in listed or (None,)]
    if any(map(math.isnan, values)):
        return _judgment(pair, own_first, None, math.nan)
    places = {"own": "first", "other": "second"} if own_first else {"own": "second", "other": "first"}
    by_place = {places.get(word, word): value for word, value in zip(scores or (), values, strict=True)}
    leaders = [word for word, value in by_place.items() if value == max(values)]
    verdict = {"first": "1", "second": "2"}.get(leaders[0]) if len(leaders) == 1 else None
    both = by_place["first"] + by_place["second"]
    row = _judgment(pair, own_first, verdict, by_place["first"] / both if both > 0 else math.nan)
    return row | {"outcome": "tie"} if leaders == ["tie"] else row
