"""One published judgment, read from any of the three formats it comes in; no ranking is repaired."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from helpers.datasets.answers import candidate_of
from helpers.datasets.files import HINTS
from helpers.datasets.reading import checked_name, number_or_nan, show, text_field

#: Six candidates stood in every prompt of the logged run; the log itself keeps no mapping.
LOG_LETTERS = tuple("ABCDEF")
#: The fields in which a record may name the hint its judge was given.
HINT_FIELDS = ("hint_mode", "hint", "condition")


@dataclass(frozen=True)
class Published:
    """One published judgment: what stood under which letter, and what became of it.

    `shown` maps letters to candidates in shown order: a candidate is None where the source does not tell, and all of it
    is empty where not even the letters are known. `condition` is empty until the hint is known. `pick` is the candidate
    under the letter `first`, ranked first; it is known for some judgments whose ranking is invalid or was not kept.
    """

    question_id: str
    category: str | None
    judge: str
    condition: str
    outcome: str = "missing"
    shown: Mapping[str, str | None] | None = None
    ranking: tuple[str, ...] = ()
    scores: Mapping[str, float] | None = None
    first: str | None = None
    pick: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What may occur only once among judgments: condition, question, judge."""
        return self.condition, self.question_id, self.judge

    @property
    def contradicts(self) -> bool:
        """Whether the ranking is valid and an answer ranked lower has a higher score."""
        scores = [(self.scores or {}).get(letter, float("nan")) for letter in self.ranking]
        # NaN compares as False: a score that is not there contradicts nothing.
        return self.outcome == "ok" and any(low > high for i, high in enumerate(scores) for low in scores[i + 1 :])


def judged(record: dict[str, Any]) -> Published:
    """One record of the published arrays: a verdict with its mapping, or an `error` with or without one."""
    question = text_field(record, "prompt_id")
    category = re.fullmatch(r"(.+)_\d+", question)
    judgment = Published(question, category and category[1], text_field(record, "judge_model"), read_hint(record))
    if record.get("error") is not None:
        error = text_field(record, "error", blank=True)
        shown = _shown(record, question) if record.get("mapping") is not None else None
        return replace(judgment, outcome=_reason(error), shown=shown)
    if not {"ranking", "mapping"} <= record.keys():
        raise ValueError(f"neither 'error' nor both 'ranking' and 'mapping'; found {', '.join(record)}")
    shown = _shown(record, question)
    judgment = _with_verdict(judgment, record, tuple(shown))
    return replace(judgment, shown=shown, pick=shown.get(judgment.first or ""))


def logged(record: dict[str, Any], condition: str | None) -> Published:
    """One success of the log: always the pick; ranking and scores only where the log's text could be matched to it."""
    question = text_field(record, "prompt_id")
    judgment = Published(
        question_id=question,
        category=text_field(record, "category"),
        judge=text_field(record, "judge"),
        condition=read_hint(record) or condition or text_field(record, "hint_mode"),
        pick=_candidate(record, "top_answer_id", question),
    )
    return _with_verdict(judgment, record, LOG_LETTERS)


def failed(record: dict[str, Any]) -> Published:
    """One failed try of the log; what was shown is not recorded."""
    question = text_field(record, "prompt_id")
    category = re.fullmatch(r"(.+)_\d+", question)
    detail = "" if record.get("detail") is None else f"; {text_field(record, 'detail', blank=True)}"
    error = text_field(record, "error", blank=True) + detail
    judge = text_field(record, "judge")
    return Published(question, category and category[1], judge, read_hint(record), outcome=_reason(error))


def read_hint(record: dict[str, Any]) -> str:
    """The hint that a record names in one of HINT_FIELDS, "" where it names none.

    What is no hint of HINTS is returned as it stands; fields that name different hints are a ValueError.
    """
    found = {name: str(record[name]).strip().casefold() for name in HINT_FIELDS if record.get(name) is not None}
    hints = {name: hint for name, hint in found.items() if hint in HINTS}
    if len(set(hints.values())) > 1:
        different = " and ".join(f"{name} {hint!r}" for name, hint in hints.items())
        raise ValueError(f"fields {different} contradict each other; correct the one that is wrong")
    return next(iter((hints or found).values()), "")


def with_letters(judgments: list[Published]) -> list[Published]:
    """Logged judgments with the candidate of each letter, where one letter always stood for one candidate.

    The log tells the candidate of the first letter only. If over the whole log each letter has one candidate and each
    candidate one letter, that is the mapping of all of them; if not, the other candidates of a judgment stay unknown.
    """
    pairs = {(judgment.first, judgment.pick) for judgment in judgments if judgment.first}
    letters, candidates = {letter for letter, _ in pairs}, {candidate for _, candidate in pairs}
    constant = dict(pairs) if len(pairs) == len(letters) == len(candidates) else {}
    return [
        replace(
            judgment, shown={x: constant.get(x, judgment.pick if x == judgment.first else None) for x in LOG_LETTERS}
        )
        for judgment in judgments
    ]


def _reason(error: str) -> str:
    """What became of a reply that raised this error; a reply cut by its token limit is not merely unreadable."""
    return "truncated" if "MAX_TOKENS" in error or "EOF while parsing" in error else "unparsed"


def _shown(record: dict[str, Any], question: str) -> dict[str, str | None]:
    mapping = record["mapping"]
    if not isinstance(mapping, dict) or not mapping:
        raise ValueError(f"field 'mapping' holds {show(mapping)}, expected letters with answer ids")
    listed = record.get("anonymized_answers")
    if listed is not None and not (isinstance(listed, list) and all(isinstance(entry, dict) for entry in listed)):
        raise ValueError(f"field 'anonymized_answers' holds {show(listed)}, expected a list of objects with a label")
    order = [text_field(entry, "label") for entry in listed or () if "label" in entry]
    letters = order if sorted(order) == sorted(mapping) else sorted(mapping)
    shown = {letter: _candidate(mapping, letter, question, "mapping") for letter in letters}
    if len(set(shown.values())) < len(shown):
        raise ValueError(f"field 'mapping' shows one candidate under two letters: {mapping}")
    return shown


def _candidate(record: dict[str, Any], field: str, question: str, inside: str = "") -> str:
    """The candidate that the answer id in a field names; `inside` is the field that holds this one."""
    called = f"field {inside!r}: " if inside else ""
    try:
        text = text_field(record, field)
    except ValueError as error:
        raise ValueError(f"{called}{error}") from None
    try:
        return candidate_of(checked_name(text, "it"), question)
    except ValueError as error:
        raise ValueError(f"{called}field {field!r}: {error}") from None


def _with_verdict(judgment: Published, record: dict[str, Any], letters: tuple[str, ...]) -> Published:
    """The judgment with what the judge said; five letters of six, or a letter twice, stay an invalid ranking."""
    ranking, scores = record.get("ranking"), record.get("scores")
    if ranking is not None and not (isinstance(ranking, list) and all(isinstance(letter, str) for letter in ranking)):
        raise ValueError(f"field 'ranking' holds {show(ranking)}, expected a list of letters, best first")
    if scores is not None and not isinstance(scores, dict):
        raise ValueError(f"field 'scores' holds {show(scores)}, expected letters with numbers")
    return replace(
        judgment,
        outcome="missing" if ranking is None else "ok" if sorted(ranking) == sorted(letters) else "invalid_ranking",
        ranking=tuple(ranking or ()),
        scores=scores and {x: number_or_nan(value, f"field 'scores': the score of {x}") for x, value in scores.items()},
        first=ranking[0] if ranking else None,
    )
