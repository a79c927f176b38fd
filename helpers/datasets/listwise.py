"""Published listwise judgments as tidy frames: nothing repaired, nothing dropped."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.answers import vendor_tier
from helpers.datasets.judgments import read_judgments
from helpers.datasets.published import Published
from helpers.types import Answer

if TYPE_CHECKING:
    import pandas

#: The columns of the listwise frame, one row per judgment and candidate.
COLUMNS = (
    *("experiment", "question_id", "category", "judge", "judge_vendor", "judge_tier", "judge_model"),
    *("candidate", "candidate_vendor", "candidate_tier", "candidate_model", "condition", "repeat", "slot", "label"),
    *("rank", "score", "top", "outcome", "contradicts", "own_vendor", "own_model", "length", "named"),
)
TOP1_COLUMNS = (
    *("question_id", "category", "judge", "judge_vendor", "condition"),
    *("pick", "pick_vendor", "pick_tier", "letter", "outcome"),
)


def load_judgments(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    *,
    condition: str | None = None,
    unlabelled: str | None = "none",
    answers: Sequence[Answer] = (),
    experiment: str = "published",
) -> pandas.DataFrame:
    """The listwise frame of published judgments, one row per judgment and candidate (columns: COLUMNS).

    A judgment without a valid ranking keeps its rows with `rank` and `top` NaN: "invalid_ranking" where letters are
    left out or named twice, "truncated" or "unparsed" after an error, "missing" where a log did not keep the ranking.
    A record that does not say which letter stood for which candidate is taken to have shown what all others did, where
    all others showed the same. Where they did not, `label` and `slot` are missing, and the rows are those of the
    candidates that other judgments show on the question (else anywhere in the source; one row with `candidate` missing
    if there are none). `slot` is int where all are known, else float. Not recorded in the published
    format, hence missing: `judge_model`, `named`; `candidate_model` and `length` (characters) unless `answers` are
    given. So `own_model`, which needs both returned ids, is False throughout. Scores are as given; `contradicts` marks
    valid rankings that their own scores deny. `condition`, `unlabelled` and the notes in `attrs["notes"]` are those of
    `read_judgments`.
    """
    import pandas

    final, notes = read_judgments(source, hub, condition, unlabelled)
    places = _places(final)
    written = {(answer.question_id, answer.candidate): answer for answer in answers}
    rows = []
    for judgment in final:
        for slot, letter, candidate in places(judgment):
            rows.append(_row(judgment, slot, letter, candidate, written.get((judgment.question_id, candidate or ""))))
    frame = pandas.DataFrame(rows, columns=list(COLUMNS))
    frame["experiment"] = experiment
    if notes:
        frame.attrs["notes"] = notes
    return frame


def load_top1(
    source: str | Path, hub: Mapping[str, Any] | None = None, *, condition: str | None = None
) -> pandas.DataFrame:
    """The candidate that each published judgment puts first, one row a judgment (columns: TOP1_COLUMNS).

    `pick` is what the published tables count: the candidate of the first letter, whether or not the rest of the ranking
    is valid (`outcome` tells); missing where there is no verdict. `letter` is missing where no ranking was kept.
    """
    import pandas

    rows = [
        {
            "question_id": judgment.question_id,
            "category": judgment.category,
            "judge": judgment.judge,
            "judge_vendor": vendor_tier(judgment.judge)[0],
            "condition": judgment.condition,
            "pick": judgment.pick,
            "pick_vendor": judgment.pick and vendor_tier(judgment.pick)[0],
            "pick_tier": judgment.pick and vendor_tier(judgment.pick)[1],
            "letter": judgment.first,
            "outcome": judgment.outcome,
        }
        for judgment in read_judgments(source, hub, condition)[0]
    ]
    return pandas.DataFrame(rows, columns=list(TOP1_COLUMNS))


def _places(judgments: list[Published]) -> Callable[[Published], list[tuple[float, str | None, str | None]]]:
    """For each judgment its places: slot, letter and candidate."""
    distinct = {tuple(judgment.shown.items()) for judgment in judgments if judgment.shown is not None}
    constant = dict(distinct.pop()) if len(distinct) == 1 else None
    by_question: dict[str, set[str]] = {}
    for judgment in judgments:
        known = {candidate for candidate in (judgment.shown or {}).values() if candidate is not None}
        by_question.setdefault(judgment.question_id, set()).update(known)
    everywhere = set().union(*by_question.values())

    def places(judgment: Published) -> list[tuple[float, str | None, str | None]]:
        shown = constant if judgment.shown is None else judgment.shown
        if shown is not None:
            return [(slot, letter, candidate) for slot, (letter, candidate) in enumerate(shown.items())]
        others = sorted(by_question[judgment.question_id] or everywhere) or [None]
        return [(math.nan, None, candidate) for candidate in others]

    return places


def _row(
    judgment: Published, slot: float, letter: str | None, candidate: str | None, answer: Answer | None
) -> dict[str, Any]:
    judge_vendor, judge_tier = vendor_tier(judgment.judge)
    vendor, tier = vendor_tier(candidate) if candidate else (None, None)
    valid = judgment.outcome == "ok"
    return {
        "question_id": judgment.question_id,
        "category": judgment.category,
        "judge": judgment.judge,
        "judge_vendor": judge_vendor,
        "judge_tier": judge_tier,
        "judge_model": None,
        "candidate": candidate,
        "candidate_vendor": vendor,
        "candidate_tier": tier,
        "candidate_model": answer and answer.model,
        "condition": judgment.condition,
        "repeat": 0,
        "slot": slot,
        "label": letter,
        "rank": float(judgment.ranking.index(letter) + 1) if valid else math.nan,
        "score": (judgment.scores or {}).get(letter, math.nan),
        "top": float(letter == judgment.first) if valid else math.nan,
        "outcome": judgment.outcome,
        "contradicts": judgment.contradicts,
        "own_vendor": vendor == judge_vendor,
        "own_model": False,
        "length": float(len(answer.text)) if answer and answer.text else math.nan,
        "named": None,
    }
