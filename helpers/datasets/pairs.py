"""Published judgments on two answers of which exactly one is right, texts or programs, as the pair frame.

What forms no such pair is counted.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.answers import Columns, Responses, answers_in, columns, plain_question, vendor_of
from helpers.datasets.questions import UNKNOWN, article_of
from helpers.datasets.reading import Records, all_files, number_or_nan, one_file, read_records, show, text_field
from helpers.types import Answer, Question

if TYPE_CHECKING:
    import pandas

Row = dict[str, Any]
#: The files that a folder is searched for; a folder without them is one of judged .jsonl files, one a judge and order.
PAIR_FILES = tuple(
    f"clean_{kind}_quality_{case}.json"
    for kind in ("pref", "pref_2w", "self_recog", "self_recog_2w")
    for case in ("harmful", "ben")
)
CODE_FILES = ("llama-3.3-70b_gpt-4o_eval.jsonl",)
FORMATS = (
    "preferences (evaluator, evaluatee, pid, forward_comparison, backward_comparison), recognition (the same with "
    "forward_detection, backward_detection) or judged pairs (question_unique_id, gold_label, judge_output and, twice, "
    "<model>_output_label and <model>_output_reason)"
)
CODE_FORMAT = "pairs of programs (unique_id, problem, assistent_1_is_correct, assistent_2_is_correct)"
OTHER = {"right": "wrong", "wrong": "right"}
TASKS = {"comparison": "correct", "detection": "wrote"}
#: The fields that hold verdicts, in any of the formats.
VERDICTS = (*(f"{order}_{kind}" for kind in TASKS for order in ("forward", "backward")), "judge_output")
#: Words of a file's name that say nothing, and those that name the judge's role; any other could be another arm.
PLAIN = frozenset(("clean", "pref", "self", "recog", "quality"))
ROLES = {"harmful": "wrong", "ben": "right"}
#: What a pair of programs is, by whether the judge's own and the other one are right.
KINDS = {
    (True, True): "both_right",
    (False, False): "both_wrong",
    (False, True): "harmful",
    (True, False): "beneficial",
}
#: What three numbers of a game can stand for: the places of the two programs or whose they are, and a tie.
MEANINGS = ({"first", "second", "tie"}, {"own", "other", "tie"})


@dataclass(frozen=True)
class Item:
    """What was judged: the judge's own answer and another one, and which of them is right (`own`)."""

    question: Question
    judge: str
    other: str
    own: str
    labels: Sequence[str | None] = (None, None)
    task: str = "correct"
    dose: int = 0


@dataclass(frozen=True)
class CodePairs:
    """`counts` of pairs by kind, and the pair frame of the harmful and beneficial ones."""

    counts: Mapping[str, int]
    frame: pandas.DataFrame = field(repr=False)


def load_pair_judgments(
    source: str | Path,
    responses: Responses | None = None,
    experiment: str = "published",
    hub: Mapping[str, Any] | None = None,
    *,
    dose: int | None = None,
) -> pandas.DataFrame:
    """The pair frame of published judgments in a file, in a folder or behind the hub entry ("hub").

    One row a judgment (columns: frames.PAIRWISE). The judge wrote one answer of each pair itself; it stands first
    in `forward` and in files without `_reverse`. Names of preference and recognition files tell who is right (harmful:
    the other one) and whether two words of the judge's own answer were replaced (2w); for judged pairs `dose` does.
    A verdict other than "1" or "2" is "unparsed", a file of such alone (nulls aside) a ValueError. `responses` give
    categories, letters and a check of who is right. `p_right` comes from `prob_1` and `prob_2`, else from the
    probability of the one token that was said; the rest is taken as the other answer's, and where it is more than half
    nothing is known (NaN). `attrs["counts"]`: judgments by outcome, and records without a pair: "both_right",
    "both_wrong", "unlabelled" (no letter of A to D), "no_reason", "no_gold", "other_role" (the file's name and the
    letters disagree) and, where `responses` are given, "unknown" (they lack the question or one of the answers). A
    judgment that occurs twice is a ValueError.
    """
    counts = Counter[str]()
    seen: dict[tuple, tuple[Records, int]] = {}
    rows: list[Row] = []
    published = _Published(responses)
    for path in all_files(source, hub, "judgments", PAIR_FILES):
        records = read_records(path)
        if {"evaluator", "evaluatee"} <= records.fields:
            if dose is not None:
                raise ValueError(f"{path}: `dose` is for judged pairs; the name of this file tells what was edited")
            found = _preferences(records, published, counts)
        elif {"question_unique_id", "judge_output"} <= records.fields:
            found = _judged(records, published, counts, dose or 0)
        else:
            raise records.unknown(FORMATS)
        _refuse_unread(records, found)
        for index, row in ((index, row) for index, each in enumerate(found) for row in each):
            key = tuple(row[name] for name in ("question_id", "judge", "right", "wrong", "condition", "task", "first"))
            if key in seen:
                earlier, at = seen[key]
                before = f"question {key[0]} was judged by {key[1]} before, at {earlier.place(at)}"
                raise ValueError(f"{records.place(index)}: {before}")
            seen[key] = records, index
            rows.append(row)
    return _frame(rows, counts, experiment)


def load_code_pairs(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    scores: Sequence[str] | None = None,
    experiment: str = "published",
) -> CodePairs:
    """The pairs of programs in a file named <judge>_<other>_eval.jsonl, in a folder with it, or behind the hub entry.

    Assistant 1 is the judge. `counts`: "both_right", "both_wrong", "harmful" (the judge's own is wrong, the other
    right), "beneficial" (the reverse), "restyled" (harmful with a restyled program of the judge), "unflagged" (a flag
    that is null). Game 1 shows the judge's program first, game 2 second; each has three numbers whose meaning the
    files do not tell: without `scores` every verdict is "unparsed". `scores` says what they stand for, in their order:
    "first", "second" (place shown) or "own", "other", and "tie". The largest is then the verdict, a tie the outcome
    "tie" without one; two equal largest are "unparsed". A problem is its own article.
    """
    if scores is not None and (len(scores) != 3 or set(scores) not in MEANINGS):
        raise ValueError(f"scores={list(scores)!r}: three words in their order, first, second, tie or own, other, tie")
    path = one_file(source, hub, "judgments", CODE_FILES)
    named = re.fullmatch(r"(.+)_([^_]+)_eval", path.stem)
    if not named:
        raise ValueError(f"{path}: the name does not tell who wrote what; expected <judge>_<other>_eval.jsonl")
    records = read_records(path)
    if not {"unique_id", "assistent_1_is_correct", "assistent_2_is_correct"} <= records.fields:
        raise records.unknown(CODE_FORMAT)
    counts = Counter[str]()

    def read(record: Row) -> list[Row]:
        id, flags = _problem(record), tuple(_flag(record, number) for number in (1, 2))
        kind = KINDS.get(flags, "unflagged")
        counts[kind] += 1
        if kind not in ("harmful", "beneficial"):
            return []
        restyled = any(record.get(name) for name in record if name.startswith("assistent_1_answer_restyle"))
        counts["restyled"] += kind == "harmful" and restyled
        item = Item(Question(id, "code", "", article=id), named[1], named[2], "right" if flags[0] else "wrong")
        return [_program_row(item, record, game, scores) for game in (1, 2)]

    rows = [row for found in records.map(read, "unique_id") for row in found]
    records.refuse_duplicates([_problem(record) for record in records.rows], "problems")
    return CodePairs({name: n for name, n in counts.items() if n}, _frame(rows, Counter(), experiment))


def _frame(rows: Sequence[Row], counts: Counter[str], experiment: str) -> pandas.DataFrame:
    """The pair frame of these rows; `attrs["counts"]` holds the counts and the outcomes."""
    import pandas

    from helpers.frames import PAIRWISE

    frame = pandas.DataFrame(list(rows), columns=list(PAIRWISE)).astype({"p_right": float, "dose": int, "repeat": int})
    frame["experiment"] = experiment
    frame["picked"] = frame["picked"].astype(object).where(frame["picked"].notna(), None)
    counts.update(frame["outcome"])
    frame.attrs["counts"] = {name: count for name, count in counts.items() if count}
    return frame


def _row(item: Item, own_first: bool, verdict: Any, p_first: float) -> Row:
    """One row of the pair frame; `verdict` is "1" or "2", `p_first` the probability of the answer shown first."""
    first = item.own if own_first else OTHER[item.own]
    # Only these two texts are verdicts: " 1", 1 and "Answer 1" would have to be interpreted.
    picked = {"1": first, "2": OTHER[first]}.get(verdict) if isinstance(verdict, str) else None
    names = {item.own: item.judge, OTHER[item.own]: item.other}
    labels = {item.own: item.labels[0], OTHER[item.own]: item.labels[1]}
    return {
        "question_id": item.question.id,
        "article": item.question.article,
        "category": item.question.category,
        "judge": item.judge,
        "judge_vendor": vendor_of(item.judge),
        "judge_model": item.judge,
        "condition": f"{item.own}_{item.dose}" if item.dose else "none",
        "edit": "synonyms" if item.dose else "none",
        "target": item.own if item.dose else "none",
        "dose": item.dose,
        "repeat": 0,
        "task": item.task,
        **names,
        **{f"{role}_vendor": vendor_of(name) for role, name in names.items()},
        **{f"{role}_label": label for role, label in labels.items()},
        "first": first,
        "own": item.own,
        "picked": picked,
        "p_right": math.nan if picked is None else p_first if first == "right" else 1 - p_first,
        "outcome": "ok" if picked else "unparsed",
        # A verdict is compared with a repeat, which published files lack; recognition with its only unedited asking.
        "partner": int(item.task == "correct"),
    }


# --- preferences, recognition, judged pairs ---------------------------------------------------------------------------


class _Published:
    """Questions and answers by id, where the published answers are at hand."""

    def __init__(self, responses: Responses | None) -> None:
        self.responses = responses
        self.questions = {question.id: question for question in responses.questions} if responses else {}
        self.answers = {(one.question_id, one.candidate): one for one in responses.answers} if responses else {}

    def role(self, id: str, answers: Sequence[Answer | None]) -> str | None:
        """As `_role`; None where no answers were given, so that nothing can be said."""
        if self.responses is None:
            return None
        if id not in self.questions:
            return "no_gold" if id in self.responses.without_gold else "unknown"
        return _role(self.questions[id].gold, answers)


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


def _preferences(records: Records, published: _Published, counts: Counter[str]) -> list[list[Row]]:
    """The rows of a preference or recognition file, by record."""
    kind = next((kind for kind in TASKS if f"forward_{kind}" in records.fields), None)
    if kind is None:
        raise records.unknown(FORMATS)
    own, dose = _arm(records.path, kind)

    def read(record: Row) -> Iterator[Row]:
        id, judge, other = (text_field(record, name) for name in ("pid", "evaluator", "evaluatee"))
        if judge == other:
            raise ValueError("fields 'evaluator' and 'evaluatee' name the same model")
        answers = [published.answers.get((id, name)) for name in (judge, other)]
        role = published.role(id, answers)
        if role not in (own, None):
            counts["other_role" if role == OTHER[own] else role] += 1
            return
        question = published.questions.get(id) or Question(id, UNKNOWN, "", article=article_of(id))
        labels = [answer and answer.label for answer in answers]
        item = Item(question, judge, other, own, labels, TASKS[kind], dose)
        for order in ("forward", "backward"):
            if f"{order}_{kind}" not in record:
                raise ValueError(f"field '{order}_{kind}' is missing; found {', '.join(record)}")
            verdict = record[f"{order}_{kind}"]
            yield _row(item, order == "forward", verdict, _p_first(record, f"{order}_probability", verdict))

    return records.map(lambda record: list(read(record)), "pid")


def _judged(records: Records, published: _Published, counts: Counter[str], dose: int) -> list[list[Row]]:
    """The rows of a file of judged pairs, by record; the judge is the model whose fields come first."""
    models: list[Columns] = columns(records)
    if len(models) != 2:
        raise ValueError(f"{records.path}: {len(models)} models in the names of fields, expected the two of a pair")
    own_first = not records.path.stem.endswith("_reverse")

    def read(record: Row) -> list[Row]:
        asked = plain_question(record)
        answers = answers_in(record, asked.id, models)
        role = _role(asked.gold, answers)
        if role not in OTHER:
            counts[role] += 1
            return []
        question = published.questions.get(asked.id, asked)
        if question.gold != asked.gold:
            raise ValueError(f"field 'gold_label' says {asked.gold}, the answers given say {question.gold}")
        chances = [number_or_nan(record.get(name), f"field {name!r}") for name in ("prob_1", "prob_2")]
        if any(not 0 <= chance <= 1 for chance in chances if not math.isnan(chance)):
            raise ValueError(f"fields 'prob_1' and 'prob_2' hold {chances}, expected probabilities")
        p_first = chances[0] / sum(chances) if sum(chances) > 0 else math.nan
        labels = [answer.label for answer in answers]
        item = Item(question, models[0].model, models[1].model, role, labels, dose=dose)
        return [_row(item, own_first, record.get("judge_output"), p_first)]

    return records.map(read, "question_unique_id")


def _refuse_unread(records: Records, found: Sequence[Sequence[Row]]) -> None:
    """Refuse (ValueError) a file in which no verdict could be read, with an example of what stands there.

    A file of nulls alone is one of a judge that failed: nothing in it is misread.
    """
    count = sum(map(len, found))
    if any(row["outcome"] == "ok" for rows in found for row in rows):
        return
    for name in VERDICTS:
        for index, rows in enumerate(found):
            verdict = records.rows[index].get(name)
            if rows and verdict is not None:
                raise ValueError(
                    f"{records.path}: none of {count} verdicts could be read, for instance {show(verdict)} in record "
                    f'{index + 1} (field {name!r}); expected the text "1" or "2"'
                )


def _arm(path: Path, kind: str) -> tuple[str, int]:
    """Which the judge's own answer is, and how many of its words were replaced, from the file's name."""
    words = path.stem.split("_")
    roles = {ROLES[word] for word in words if word in ROLES}
    strange = {*words} - PLAIN - {*ROLES, "2w"}
    if len(roles) != 1 or strange or ("pref" in words) != (kind == "comparison"):
        raise ValueError(
            f"{path}: the name does not tell what was judged; it has to be one of {', '.join(PAIR_FILES)}, with "
            "recognition in self_recog files alone"
        )
    return roles.pop(), 2 if "2w" in words else 0


def _p_first(record: Row, name: str, verdict: Any) -> float:
    """The probability of the answer shown first, from that of the token that was said (field `name`)."""
    chance = number_or_nan(record.get(name), f"field {name!r}")
    if not math.isnan(chance) and not 0 <= chance <= 1:
        raise ValueError(f"field {name!r} holds {chance:g}, expected a probability")
    if verdict not in ("1", "2") or not chance >= 0.5:
        return math.nan
    return chance if verdict == "1" else 1 - chance


# --- programs ---------------------------------------------------------------------------------------------------------


def _program_row(item: Item, record: Mapping[str, Any], game: int, scores: Sequence[str] | None) -> Row:
    """One row of a game on two programs."""
    own_first, name = game == 1, f"game_{game}_spb_score"
    given = record.get(name)
    unread = _row(item, own_first, None, math.nan)
    if scores is None or given is None:
        return unread
    if not isinstance(given, list) or len(given) != len(scores):
        raise ValueError(f"field {name!r} holds {show(given)}, expected a list of three numbers")
    values = [number_or_nan(each, f"field {name!r}") for each in given]
    if any(map(math.isnan, values)):
        return unread
    places = {"own": "first", "other": "second"} if own_first else {"own": "second", "other": "first"}
    by_place = {places.get(word, word): value for word, value in zip(scores, values, strict=True)}
    leaders = [word for word, value in by_place.items() if value == max(values)]
    verdict = {"first": "1", "second": "2"}.get(leaders[0]) if len(leaders) == 1 else None
    both = by_place["first"] + by_place["second"]
    row = _row(item, own_first, verdict, by_place["first"] / both if both > 0 else math.nan)
    return row | {"outcome": "tie"} if leaders == ["tie"] else row


def _problem(record: Mapping[str, Any]) -> str:
    id = record.get("unique_id")
    if isinstance(id, bool) or not isinstance(id, int | str) or id == "":
        raise ValueError(f"field 'unique_id' holds {show(id)}, expected a number or a text")
    return str(id)


def _flag(record: Mapping[str, Any], number: int) -> bool | None:
    flag = record.get(f"assistent_{number}_is_correct")
    if flag is not None and not isinstance(flag, bool):
        raise ValueError(f"field 'assistent_{number}_is_correct' holds {show(flag)}, expected true or false")
    return flag
