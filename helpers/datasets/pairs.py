"""Published judgments on two answers of which exactly one is right; what forms no such pair is counted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.answers import Columns, Responses, answers_in, columns, plain_question
from helpers.datasets.pair_rows import OTHER, Item, as_frame, role_of, row_of
from helpers.datasets.places import all_files
from helpers.datasets.questions import UNKNOWN, article_of
from helpers.datasets.reading import Records, number_or_nan, read_records, show, text_field
from helpers.types import Answer, Question

if TYPE_CHECKING:
    import pandas

#: The files that a folder is searched for; a folder without them is one of judged .jsonl files, one a judge and order.
PAIR_FILES = tuple(
    f"clean_{kind}_quality_{case}.json"
    for kind in ("pref", "pref_2w", "self_recog", "self_recog_2w")
    for case in ("harmful", "ben")
)
FORMATS = (
    "preferences (evaluator, evaluatee, pid, forward_comparison, backward_comparison), recognition (the same with "
    "forward_detection, backward_detection) or judged pairs (question_unique_id, gold_label, judge_output and, twice, "
    "<model>_output_label and <model>_output_reason)"
)
TASKS = {"comparison": "correct", "detection": "wrote"}
#: The fields that hold verdicts, in any of the formats.
_VERDICTS = (*(f"{order}_{kind}" for kind in TASKS for order in ("forward", "backward")), "judge_output")
#: Words of a file's name that say nothing, and those that name the judge's role; any other could be another arm.
_PLAIN = frozenset(("clean", "pref", "self", "recog", "quality"))
_ROLES = {"harmful": "wrong", "ben": "right"}


def load_pair_judgments(
    source: str | Path,
    responses: Responses | None = None,
    experiment: str = "published",
    hub: Mapping[str, Any] | None = None,
    *,
    dose: int | None = None,
) -> pandas.DataFrame:
    """The pair frame of published judgments in a file, in a folder or behind the hub entry ("hub").

    One row a judgment (columns: pair_rows.COLUMNS). The judge wrote one answer of each pair itself; it stands first
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
    rows: list[dict[str, Any]] = []
    known = _Known(responses)
    for path in all_files(source, hub, "judgments", PAIR_FILES):
        records = read_records(path)
        if {"evaluator", "evaluatee"} <= records.fields:
            if dose is not None:
                raise ValueError(f"{path}: `dose` is for judged pairs; the name of this file tells what was edited")
            found = list(_preferences(records, known, counts))
        elif {"question_unique_id", "judge_output"} <= records.fields:
            found = list(_judged(records, known, counts, dose or 0))
        else:
            raise records.unknown(FORMATS)
        _refuse_unread(records, found)
        for index, row in found:
            key = tuple(row[name] for name in ("question_id", "judge", "right", "wrong", "condition", "task", "first"))
            if key in seen:
                earlier, at = seen[key]
                told = f"question {key[0]} was judged by {key[1]} before, at {earlier.place(at)}"
                raise ValueError(f"{records.place(index)}: {told}")
            seen[key] = records, index
            rows.append({**row, "experiment": experiment})
    return as_frame(rows, counts)


def _refuse_unread(records: Records, found: Sequence[tuple[int, Mapping[str, Any]]]) -> None:
    """Refuse (ValueError) a file in which no verdict could be read, with an example of what stands there."""
    if any(row["outcome"] == "ok" for _, row in found):
        return
    # A file of nulls alone is one of a judge that failed: nothing in it is misread.
    places = dict.fromkeys(index for index, _ in found)
    told = ((index, name, records.rows[index].get(name)) for name in _VERDICTS for index in places)
    for index, name, verdict in told:
        if verdict is not None:
            raise ValueError(
                f"{records.path}: none of {len(found)} verdicts could be read, for instance {show(verdict)} in record "
                f'{index + 1} (field {name!r}); expected the text "1" or "2"'
            )


class _Known:
    """Questions and answers by id, where the published answers are at hand."""

    def __init__(self, responses: Responses | None) -> None:
        self.responses = responses
        self.questions = {question.id: question for question in responses.questions} if responses else {}
        self.answers = {(one.question_id, one.candidate): one for one in responses.answers} if responses else {}

    def question(self, id: str) -> Question:
        return self.questions.get(id) or Question(id, UNKNOWN, "", article=article_of(id))

    def pair(self, id: str, judge: str, other: str) -> tuple[Answer | None, Answer | None]:
        return self.answers.get((id, judge)), self.answers.get((id, other))

    def role(self, id: str, answers: tuple[Answer | None, Answer | None]) -> str | None:
        """As `role_of`; None where no answers were given, so that nothing can be said."""
        if self.responses is None:
            return None
        if id not in self.questions:
            return "no_gold" if id in self.responses.without_gold else "unknown"
        return role_of(self.questions[id].gold, answers)


def _preferences(records: Records, known: _Known, counts: Counter[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a preference or recognition file, each with the place of its record."""
    kind = next((kind for kind in TASKS if f"forward_{kind}" in records.fields), None)
    if kind is None:
        raise records.unknown(FORMATS)
    own, dose = _arm(records.path, kind)

    def read(record: dict[str, Any]) -> list[dict[str, Any]]:
        id, judge, other = (text_field(record, name) for name in ("pid", "evaluator", "evaluatee"))
        if judge == other:
            raise ValueError("fields 'evaluator' and 'evaluatee' name the same model")
        answers = known.pair(id, judge, other)
        role = known.role(id, answers)
        if role not in (own, None):
            counts["other_role" if role == OTHER[own] else role] += 1
            return []
        item = Item(known.question(id), judge, other, own, _labels(answers), TASKS[kind], dose)
        rows = []
        for order in ("forward", "backward"):
            if f"{order}_{kind}" not in record:
                raise ValueError(f"field '{order}_{kind}' is missing; found {', '.join(record)}")
            verdict = record[f"{order}_{kind}"]
            said = number_or_nan(record.get(f"{order}_probability"), f"field '{order}_probability'")
            rows.append(row_of(item, order == "forward", verdict, _first(verdict, said, f"{order}_probability")))
        return rows

    return ((index, row) for index, rows in enumerate(records.map(read, "pid")) for row in rows)


def _judged(records: Records, known: _Known, counts: Counter[str], dose: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file of judged pairs; the judge is the model whose fields come first."""
    models: list[Columns] = columns(records)
    if len(models) != 2:
        raise ValueError(f"{records.path}: {len(models)} models in the names of fields, expected the two of a pair")
    own_first = not records.path.stem.endswith("_reverse")

    def read(record: dict[str, Any]) -> list[dict[str, Any]]:
        told = plain_question(record)
        answers: list[Answer] = answers_in(record, told.id, models)
        role = role_of(told.gold, answers)
        if role not in OTHER:
            counts[role] += 1
            return []
        question = known.questions.get(told.id, told)
        if question.gold != told.gold:
            raise ValueError(f"field 'gold_label' says {told.gold}, the answers given say {question.gold}")
        chances = [number_or_nan(record.get(name), f"field {name!r}") for name in ("prob_1", "prob_2")]
        if any(not 0 <= chance <= 1 for chance in chances if not math.isnan(chance)):
            raise ValueError(f"fields 'prob_1' and 'prob_2' hold {chances}, expected probabilities")
        p_first = chances[0] / sum(chances) if sum(chances) > 0 else math.nan
        item = Item(question, models[0].model, models[1].model, role, _labels(answers), dose=dose)
        return [row_of(item, own_first, record.get("judge_output"), p_first)]

    return ((index, row) for index, rows in enumerate(records.map(read, "question_unique_id")) for row in rows)


def _labels(answers: Sequence[Answer | None]) -> tuple[str | None, str | None]:
    one, two = (answer.label if answer else None for answer in answers)
    return one, two


def _arm(path: Path, kind: str) -> tuple[str, int]:
    """Which the judge's own answer is, and how many of its words were replaced, from the file's name."""
    words = path.stem.split("_")
    roles = {_ROLES[word] for word in words if word in _ROLES}
    strange = [word for word in words if word not in _PLAIN and word not in _ROLES and word != "2w"]
    if len(roles) != 1 or strange or ("pref" in words) != (kind == "comparison"):
        raise ValueError(
            f"{path}: the name does not tell what was judged; it has to be one of {', '.join(PAIR_FILES)}, with "
            "recognition in self_recog files alone"
        )
    return roles.pop(), 2 if "2w" in words else 0


def _first(verdict: Any, said: float, name: str) -> float:
    """The probability of the answer shown first, from that of the token that was said."""
    if not math.isnan(said) and not 0 <= said <= 1:
        raise ValueError(f"field {name!r} holds {said:g}, expected a probability")
    if verdict not in ("1", "2") or not said >= 0.5:
        return math.nan
    return said if verdict == "1" else 1 - said
