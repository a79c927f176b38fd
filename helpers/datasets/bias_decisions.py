"""Published decisions on bias tests as the decisions frame: one line a test by one model, two rows of the frame."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.datasets.bias_cells import cell, decision, score
from helpers.datasets.bias_rows import bias_name, files, id_text, rows
from helpers.datasets.reading import Problem
from helpers.datasets.responses import vendor_of
from helpers.types import Question, RatioScale, Wording

if TYPE_CHECKING:
    import pandas

#: The columns of the decisions frame, one row a reply.
COLUMNS = (
    *("experiment", "source", "question_id", "category", "wording", "kind", "judge", "judge_vendor", "judge_model"),
    *("condition", "repeat", "partner", "order", "choice", "value", "pro", "con", "options", "low", "high", "target"),
    *(
        "ratio",
        "anchor",
        "k",
        "x1",
        "x2",
        "flip_control",
        "flip_treatment",
        "values",
        "score",
        "places",
        "letters",
        "outcome",
    ),
)
NUMBERS = ("partner", "choice", "value", "pro", "con", "options", "low", "high", "target", "ratio", "anchor")
NUMBERS += ("k", "x1", "x2", "score")
CONDITIONS = ("control", "treatment")
NEEDED = ("id", "control_decision", "treatment_decision", "status")
NAN = math.nan


class Known(NamedTuple):
    """What is known of a test: which wording of which question it is."""

    question: str
    bias: str
    wording: Wording


@dataclass(frozen=True)
class Decisions:
    """What decision files hold: the decisions frame, and what in them could not be read as it stands."""

    frame: pandas.DataFrame
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many problems of each kind there are: "broken", "duplicate", "unknown_test"."""
        return dict(Counter(problem.kind for problem in self.problems))


def load_decisions(
    source: str | Path,
    entry: Mapping[str, Any] | None = None,
    tests: Iterable[Question] = (),
    *,
    experiment: str = "published",
) -> Decisions:
    """What did each model decide in these files: one, a folder of them (a folder a model, say), or the hub's?

    Columns NEEDED and, where there are, model (else the file's name), bias, <version>_option_order and
    <version>_options (<version>: control, treatment) and individual_score. The frame (columns: COLUMNS) has two rows a
    line; decisions count the options from 0 in their natural order, `value` is that index. The id tells which of
    `tests` it is: question, wording, options, target and metric parameters are that one's. A line on no known test
    needs its bias; it counts as a question of its own, and k, x1, x2 and target are NaN ("unknown_test": since the
    instances of a scenario are then taken as independent, intervals become too narrow). `score`, of the treatment's
    row, is the individual score as published. Both rows of a line with status ERROR are "error"; no decision (-1 or
    nothing) is "no_option". Of several lines of one model on one test the first counts. Broken lines are problems; no
    readable line is a ValueError.
    """
    known = {
        str(wording.facts["id"]): Known(question.id, question.category, wording)
        for question in tests
        for wording in question.wordings
        if "id" in wording.facts
    }
    paths = files(source, entry, "judgments")
    top = Path(source).expanduser() if source != "hub" else None
    shared = {"experiment": experiment, "source": (top.stem if top.is_file() else top.name) if top else "hub"}
    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str], str] = {}
    for path in paths:
        name = str(path.relative_to(top)) if top and top.is_dir() else path.name
        strangers = []
        for line, row in rows(path, name, NEEDED):
            if isinstance(row, Problem):
                problems.append(row)
                continue
            try:
                id, judge = id_text(cell(row, "id")), cell(row, "model") or path.stem
                if not id:
                    raise ValueError("field 'id' is empty")
                pair = list(_pair(row, id, judge, known.get(id)))
            except ValueError as error:
                problems.append(Problem(name, line, "broken", str(error)))
                continue
            first = seen.setdefault((judge, id), f"{name}, line {line}")
            if first != f"{name}, line {line}":
                problems.append(Problem(name, line, "duplicate", f"{judge} on test {id}, as {first} before"))
                continue
            strangers += [] if id in known else [line]
            found += [shared | each for each in pair]
        if strangers:
            told = (
                f"{len(strangers)} lines on tests that are not known: each is taken as a question of its own, so the "
                "wordings of a scenario are taken as independent and intervals are too narrow; the parameter "
                '`questions` ("hub", or the file of these tests) would tell their scenarios'
            )
            problems.append(Problem(name, strangers[0], "unknown_test", told))
    if not found:
        raise ValueError(f"{source}: no readable decision; " + "; ".join(map(str, problems[:3])))
    return Decisions(_frame(found), tuple(problems))


def _frame(found: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(list(found), columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float))


def _pair(row: Mapping[str, Any], id: str, judge: str, test: Known | None) -> Iterator[dict[str, Any]]:
    """The rows of control and treatment of one line."""
    said, status = cell(row, "bias"), cell(row, "status")
    if status not in ("OK", "ERROR"):
        raise ValueError(f"field 'status' is {status[:40]!r}, expected OK or ERROR")
    if test is None and not said:
        raise ValueError(f"test {id} is not among the given ones, and the line names no bias")
    if test and said and bias_name(said) != test.bias:
        raise ValueError(f"test {id} is of {test.bias}, the line says {said[:40]}")
    bias = test.bias if test else bias_name(said)
    scale = test.wording.scale if test else None
    shared = {
        "question_id": test.question if test else f"{bias}_{id}",
        "category": bias,
        "wording": test.wording.name if test else "1",
        "kind": "scale",
        "judge": judge,
        "judge_vendor": vendor_of(judge),
        "judge_model": judge,
        "repeat": 0,
        "target": NAN if test is None or test.wording.target is None else test.wording.target,
        **asdict(scale or RatioScale(NAN, NAN, NAN)),
    }
    for condition in CONDITIONS:
        treated = condition == "treatment"
        size = len(test.wording.versions[condition].options) if test else None
        more = {"partner": 0.0 if treated else NAN, "score": score(row) if treated else NAN}
        yield shared | {"condition": condition} | decision(row, condition, size, status) | more
