"""Published listwise judgments as tidy frames, read in three formats and written in one, and what stood where.

Nothing is repaired and nothing is dropped.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from ..frames import LISTWISE, about
from ..types import Answer
from ..words import p_text
from .answers import published_names, vendor_tier
from .hub import ERROR_FILES, HINTS, JUDGMENT_FILES, NAMES, Entry, Source, find_files
from .reading import Record, Records, checked_name, checked_text, number_or_nan, read_records, show

Row = dict[str, Any]
#: Columns of the listwise frame that published judgments do not have.
ABSENT = frozenset(("lists", "bold", "partner"))
#: As much of an answer as the published judgments repeat.
_SHOWN = 200
#: Six candidates stood in every prompt of the logged run; the log itself keeps no mapping.
LOG_LETTERS = tuple("ABCDEF")
#: The files that a folder is searched for, with their hints.
HINTED_FILES = JUDGMENT_FILES | {errors: JUDGMENT_FILES[log] for errors, log in ERROR_FILES.items()}
#: What in the names of files and folders suggests a hint; which one is meant, only a known name says.
HINTED = "|".join(NAMES["hints"]["words"])
REMEDY = (
    f"set the parameter `condition` to the hint, as in `-p condition self` ({', '.join(HINTS)}), write it into "
    f'each record as "hint_mode", or use a known name such as {next(iter(HINTED_FILES))} (data/README.md lists them)'
)


@dataclass(frozen=True)
class Published:
    """One published judgment: what stood under which letter, and what became of it.

    `shown` maps letters to candidates in shown order: a candidate is None where the source does not tell, and all of it
    is None where not even the letters are known. `condition` is empty until the hint is known. `pick` is the candidate
    under the letter `first`, ranked first.
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


def load_judgments(
    source: Source,
    hub: Entry = None,
    *,
    condition: str | None = None,
    unlabelled: str | None = "none",
    answers: Sequence[Answer] = (),
) -> pd.DataFrame:
    """The listwise frame of published judgments, one row per judgment and candidate (frames.LISTWISE without ABSENT).

    A judgment without a valid ranking keeps its rows, `rank` and `top` NaN: "invalid_ranking", "truncated", "unparsed",
    or "missing" where a log did not keep it. A record without a mapping is taken to have shown what all others did,
    where they showed the same; else `label` and `slot` are missing, and the rows are those of the candidates that
    others show on the question. `candidate_model` and `length` (characters) are those of `answers`; `contradicts` marks
    valid rankings that their own scores deny. For `condition`, `unlabelled` and `attrs["notes"]` see `read_judgments`.
    """
    final, notes = read_judgments(source, hub, condition, unlabelled)
    written = {(answer.question_id, answer.candidate): answer for answer in answers}
    distinct = {tuple(judgment.shown.items()) for judgment in final if judgment.shown is not None}
    constant = dict(distinct.pop()) if len(distinct) == 1 else None
    by_question = defaultdict[str, set[str]](set)
    for judgment in final:
        by_question[judgment.question_id].update(filter(None, (judgment.shown or {}).values()))
    everywhere = set().union(*by_question.values())
    rows: list[Row] = []
    for judgment in final:
        shown = constant if judgment.shown is None else judgment.shown
        others = sorted(by_question[judgment.question_id] or everywhere) or [None]
        places: list[tuple[Any, ...]] = [(math.nan, None, candidate) for candidate in others]
        if shown is not None:
            places = [(slot, *one) for slot, one in enumerate(shown.items())]
        rows += _rows(judgment, places, written)
    frame = pd.DataFrame(rows, columns=[name for name in LISTWISE if name not in ABSENT])
    frame["experiment"] = "published"
    if notes:
        frame.attrs["notes"] = notes
    return frame


def load_top1(source: Source, hub: Entry = None, *, condition: str | None = None) -> pd.DataFrame:
    """The candidate that each published judgment puts first, one row a judgment (columns: `top1` of names.toml).

    `pick` counts whether or not the rest of the ranking is valid (`outcome`); missing where there is no verdict.
    `letter` is missing where no ranking was kept.
    """
    rows = []
    for each in read_judgments(source, hub, condition)[0]:
        made = vendor_tier(each.pick) if each.pick else (each.pick, each.pick)
        about = (each.question_id, each.category, each.judge, vendor_tier(each.judge)[0], each.condition)
        rows.append((*about, each.pick, *made, each.first, each.outcome))
    return pd.DataFrame(rows, columns=NAMES["fields"]["top1"])


def _rows(judgment: Published, places: Iterable[tuple[Any, ...]], written: Mapping[Any, Answer]) -> Iterator[Row]:
    """The row of each place: slot, letter and candidate."""
    vendor, tier = vendor_tier(judgment.judge)
    judge = about("judge", judgment.judge, vendor=vendor, tier=tier)
    valid, scores = judgment.outcome == "ok", judgment.scores or {}
    ranked = [scores.get(letter, math.nan) for letter in judgment.ranking]
    # NaN compares as False: a score that is not there contradicts nothing.
    contradicts = valid and any(low > high for at, high in enumerate(ranked) for low in ranked[at + 1 :])
    shared = vars(judgment) | judge | {"contradicts": contradicts, "repeat": 0, "own_model": False}
    for slot, letter, candidate in places:
        made = vendor_tier(candidate) if candidate else (None, None)
        answer = written.get((judgment.question_id, candidate))
        yield shared | {
            **about("candidate", candidate, vendor=made[0], tier=made[1], model=answer and answer.model),
            "slot": slot,
            "label": letter,
            "rank": float(judgment.ranking.index(letter) + 1) if valid else math.nan,
            "score": scores.get(letter, math.nan),
            "top": float(letter == judgment.first) if valid else math.nan,
            "own_vendor": made[0] == vendor,
            "length": float(len(answer.text)) if answer and answer.text else math.nan,
        }


def read_judgments(
    source: Source, hub: Entry = None, condition: str | None = None, unlabelled: str | None = "none"
) -> tuple[list[Published], tuple[str, ...]]:
    """The final judgments in a file, in a folder or behind the hub entry ("hub"), and notes on what was read.

    A record of an array is final, as is a success in a log; of a judgment that never succeeded the last failed try
    counts. The hint comes from the record, else from `condition` (for a single file), else from the file's name, else
    it is `unlabelled` (None: an error). An unclear or contradicted hint, a judgment twice, and a condition in two files
    are ValueErrors.
    """
    if condition is not None and condition not in HINTS:
        raise ValueError(f"condition = {condition!r}: no such hint; write one of {', '.join(HINTS)}")
    final: list[Published] = []
    tries: dict[tuple[str, str, str], Published] = {}
    names: dict[str, list[str]] = {"log": [], "errors": [], "array": []}
    paths = _files(source, hub, condition)
    for path in paths:
        records = read_records(path)
        kind = records.kind(KINDS, NAMES["expected"]["judgments"])
        names[kind].append(path.name)
        found = records.map(partial(READERS[kind], condition=condition), "prompt_id")
        found = _label(
            records, _with_letters(found) if kind == "log" else found, condition, unlabelled, len(paths) == 1
        )
        if kind == "errors":
            tries |= {one.key: one for one in found}
        else:
            what = "judgments (condition by question by judge)"
            records.refuse_duplicates([judgment.key for judgment in found], what)
            final += found
    done = {one.key for one in final}
    final += (one for key, one in tries.items() if key not in done)
    logs, errors = (", ".join(names[kind]) for kind in ("log", "errors"))
    note = f"{logs} holds successes alone and no log of errors lies beside it: failed tries are not counted."
    if errors:
        note = f"{errors} holds failed tries alone; what succeeded later is read with the log of successes."
    if logs and errors:
        note = f"The failed tries in {errors}, beside {logs}, were read too."
    return final, (note,) if logs or errors else ()


def _files(source: Source, hub: Entry, condition: str | None) -> list[Path]:
    """The files that a source means: a folder all its known files, a log of successes its log of errors too."""
    paths = find_files(source, hub, "judgments", tuple(HINTED_FILES), several=True)
    names = [path.name for path in paths]
    if condition and len(paths) > 1:
        raise ValueError(f"{source}: `condition` is for a single file, this folder holds {', '.join(names)}")
    hints = Counter(JUDGMENT_FILES[name] for name in names if name in JUDGMENT_FILES)
    if twice := next((hint for hint, count in sorted(hints.items()) if count > 1), None):
        rivals = " and ".join(name for name in names if JUDGMENT_FILES.get(name) == twice)
        raise ValueError(f"{source}: {rivals} hold the same condition, {twice!r}; name the one that is meant")
    both = ((path, *each) for path in paths for each in ERROR_FILES.items())
    beside = [path.with_name(errors) for path, errors, log in both if log == path.name.lower()]
    return paths + [path for path in beside if path.is_file() and path not in paths]


def _label(
    records: Records, found: list[Published], label: str | None, unlabelled: str | None, alone: bool
) -> list[Published]:
    """The judgments of a file, each with its hint: an array of records has one, a log may have several."""
    named = HINTED_FILES.get(records.path.name.lower())
    first: dict[str, int] = {}
    for index, judgment in enumerate(found):
        first.setdefault(judgment.condition, index)
    hints = [hint for hint in first if hint in HINTS]
    meant = f"condition = {label!r}" if label else f"the name of the file, which means {named!r}"
    for hint, index in first.items():
        fault = ""
        if hint in HINTS and hint != (label or named or hint):
            fault = f"the record names the hint {hint!r}, which contradicts {meant}; correct the one that is wrong"
        elif hint and hint not in HINTS and not label:
            fault = f"the hint {show(hint)} is not known; {REMEDY}"
        elif not hint and hints and not (label or named):
            fault = f"the record names no hint, others name {' and '.join(hints)}; {REMEDY}"
        if fault:
            raise ValueError(f"{records.place(index)}: {fault}")
    if len(hints) > 1 and "judge_model" in records.fields:
        raise ValueError(f"{records.path}: records of several hints ({', '.join(hints)}); write a file for each hint")
    rest = label or named or unlabelled
    if "" in first and not label:
        if not hints and (word := _hint_word(records.path, alone)):
            what = f"{word!r} in its name or its folder's suggests a hint, but only a known name says which"
            raise ValueError(f"{records.path}: {what}; {REMEDY}")
        if rest is None:
            raise ValueError(f"{records.path}: neither its name nor its records name a hint; {REMEDY}")
    return [replace(one, condition=one.condition if one.condition in HINTS else rest) for one in found]


def _hint_word(path: Path, alone: bool) -> str:
    """What in the name of a file, or of the folder where it is `alone`, suggests a hint; "" where nothing does."""
    name, folder = path.name.lower(), path.absolute().parent.name.lower()
    found = None if name in HINTED_FILES else re.search("|".join([HINTED, *NAMES["hints"]["file_words"]]), name)
    if not found and alone and (name in NAMES["hints"]["generic"] or name not in HINTED_FILES):
        found = re.search(HINTED, folder)
    return found[0] if found else ""


def _judged(record: Record, condition: str | None) -> Published:
    """One record of the published arrays: a verdict with its mapping, or an `error` with or without one."""
    judgment, error = _asked(record, "judge_model"), record.text_or_none("error", blank=True)
    if error is not None:
        shown = None if record.get("mapping") is None else _shown(record, judgment.question_id)
        return replace(judgment, outcome=_reason(error), shown=shown)
    record.need("ranking", "mapping", words="neither 'error' nor both 'ranking' and 'mapping'")
    shown = _shown(record, judgment.question_id)
    judgment = _with_verdict(judgment, record, tuple(shown))
    return replace(judgment, shown=shown, pick=shown.get(judgment.first or ""))


def _logged(record: Record, condition: str | None) -> Published:
    """One success of the log: always the pick; ranking and scores only where the log's text could be matched to it."""
    judgment = _asked(record, "judge")
    hint = judgment.condition or condition or record.text("hint_mode")
    pick = candidate_of(record.text("top_answer_id"), "top_answer_id", judgment.question_id)
    judgment = replace(judgment, category=record.text("category"), condition=hint, pick=pick)
    return _with_verdict(judgment, record, LOG_LETTERS)


def _failed(record: Record, condition: str | None) -> Published:
    """One failed try of the log; what was shown is not recorded."""
    detail = record.text_or_none("detail", blank=True) or ""
    return replace(_asked(record, "judge"), outcome=_reason(f"{record.text('error', blank=True)}; {detail}"))


#: The kinds of files, by fields of theirs, and what reads a record of each.
KINDS = {"log": {"judge", "top_answer_id"}, "errors": {"judge", "error"}, "array": {"judge_model"}}
READERS = {"log": _logged, "errors": _failed, "array": _judged}


def _asked(record: Record, judge: str) -> Published:
    """What was asked of whom (field `judge`), with the hint that the record names; the category is the question's."""
    question, name = record.texts("prompt_id", judge)
    fields = [field for field in NAMES["hints"]["fields"] if record.get(field) is not None]
    found = {field: str(record[field]).strip().casefold() for field in fields}
    hints = {field: hint for field, hint in found.items() if hint in HINTS}
    if len(set(hints.values())) > 1:
        different = " and ".join(f"{field} {hint!r}" for field, hint in hints.items())
        raise ValueError(f"fields {different} contradict each other; correct the one that is wrong")
    category = re.fullmatch(r"(.+)_\d+", question)
    return Published(question, category[1] if category else None, name, next(iter((hints or found).values()), ""))


def _with_letters(judgments: list[Published]) -> list[Published]:
    """Logged judgments with the candidate of each letter, where one letter always stood for one candidate.

    Where it did not, the other candidates of a judgment stay unknown: the log tells that of the first letter only.
    """
    pairs = {(judgment.first, judgment.pick) for judgment in judgments if judgment.first}
    letters, candidates = {letter for letter, _ in pairs}, {candidate for _, candidate in pairs}
    constant = dict(pairs) if len(pairs) == len(letters) == len(candidates) else {}
    return [
        replace(each, shown={x: constant.get(x, each.pick if x == each.first else None) for x in LOG_LETTERS})
        for each in judgments
    ]


def _reason(error: str) -> str:
    """What became of a reply that raised this error; a reply cut by its token limit is not merely unreadable."""
    return "truncated" if "MAX_TOKENS" in error or "EOF while parsing" in error else "unparsed"


def _shown(record: Record, question: str) -> dict[str, str | None]:
    mapping = record.typed("mapping", dict, "letters with answer ids", needed=True)
    listed = record.typed("anonymized_answers", list, "a list of objects with a label", dict)
    order = [Record(entry).text("label") for entry in listed or () if "label" in entry]
    letters = order if sorted(order) == sorted(mapping) else sorted(mapping)
    shown = {letter: candidate_of(mapping[letter], f"mapping.{letter}", question) for letter in letters}
    if len(set(shown.values())) < len(shown):
        raise ValueError(f"field 'mapping' shows one candidate under two letters: {mapping}")
    return shown


def candidate_of(value: Any, field: str, question: str) -> str:
    """The candidate that the answer id in a field names (ans_<question>_<vendor>_<tier>); any other is a ValueError."""
    text, start = checked_name(checked_text(value, field), f"field {field!r}"), f"ans_{question}_"
    candidate = text.removeprefix(start)
    if not text.startswith(start) or not all(vendor_tier(candidate)):
        raise ValueError(f"field {field!r}: answer id {text!r} is not {start}<vendor>_<tier>")
    return candidate


def _with_verdict(judgment: Published, record: Record, letters: tuple[str, ...]) -> Published:
    """The judgment with what the judge said; five letters of six, or a letter twice, stay an invalid ranking."""
    ranking = record.typed("ranking", list, "a list of letters, best first", str)
    scores = record.typed("scores", dict, "letters with numbers") or {}
    return replace(
        judgment,
        outcome="missing" if ranking is None else "ok" if sorted(ranking) == sorted(letters) else "invalid_ranking",
        ranking=tuple(ranking or ()),
        scores={x: number_or_nan(value, f"field 'scores': the score of {x}") for x, value in scores.items()},
        first=ranking[0] if ranking else None,
    )


#: What identifies a judgment, as far as a frame has it.
JUDGMENT = ("experiment", "question_id", "judge", "condition", "repeat")
#: Within which one order may have been drawn for all judgments, coarsest first, with the words for it.
DRAWS = ((["question_id"], "question"), (["judge"], "judge"), (["question_id", "judge"], "question and judge"))
#: Below this expected count a chi-square is no approximation.
FEWEST = 5


@dataclass(frozen=True)
class Audit:
    """What stood under which letter, and a sentence that says what follows from it.

    `table` counts candidates by letter over `judgments` with known places (`unknown`: all others), `orders` the
    different orders, `draws` those drawn separately; `chi2`, `dof` and `p` test against random orders, if not NaN.
    """

    table: pd.DataFrame = field(repr=False)
    judgments: int
    unknown: int
    orders: int
    sentence: str = "No judgment tells which model stood under which letter: nothing can be audited."
    draws: int = 0
    chi2: float = math.nan
    dof: int = 0
    p: float = math.nan


def audit_places(frame: pd.DataFrame) -> Audit:
    """Audit what stood where in the listwise frame.

    The chi-square is that of random permutations, (k - 1) / k of Pearson's with (k - 1)^2 degrees of freedom; it takes
    draws as independent. Where a log names only winners, `load_judgments` has completed the other places.
    """
    names = [column for column in JUDGMENT if column in frame]
    # An order is who stood under each letter; judgments with a place left open are no evidence of any.
    groups = frame.groupby(names, dropna=False)
    filled = groups[["label", "candidate"]].transform("count").min(axis=1)
    complete = frame[filled == groups["question_id"].transform("size")].sort_values("label")
    shown = complete if len(complete) else frame.dropna(subset=["label", "candidate"])
    table = pd.crosstab(shown["candidate"], shown["label"])
    orders = complete.groupby(names, dropna=False)[["label", "candidate"]].agg(tuple).apply(tuple, axis=1)
    judgments, unknown = len(orders), len(frame[names].drop_duplicates()) - len(orders)
    audit = Audit(table, judgments, unknown, orders.nunique())
    if not judgments:
        return audit
    further = f" Of {unknown} further judgments the places are not known." if unknown else ""
    if audit.orders == 1:
        sentence = "There is one judgment: nothing can be said about its order."
        if judgments > 1:
            each = f"Each of the {len(table)} models stood under one and the same letter in all {judgments} judgments"
            sentence = f"{each}: which model wins and which letter wins cannot be told apart."
        return replace(audit, sentence=sentence + further, draws=1)
    drawn, shared = _draws(orders)
    chi2, dof, p, note = _balance(drawn)
    than = f"balanced {'than' if p < 0.05 else 'as'} random orders would be (p {p_text(p)})"
    balance = f"less {than}, so some models had better places than others" if p < 0.05 else f"at least as {than}"
    balance = f"whether that is balanced is not tested ({note})" if note else balance
    low, high = int(table.to_numpy().min()), int(table.to_numpy().max())
    times = f"{f'between {low} and {high}' if low < high else low} times"
    equal = f" (equal shares: {judgments / table.shape[1]:.4g})" if dof else ""
    together = f", one for all judgments of a {shared}" if shared else ""
    sentence = (
        f"{audit.orders} different orders were shown in {judgments} judgments{together}; each of the {len(table)} "
        f"models stood under each letter {times}{equal}: {balance}."
    )
    fixed = [str(name) for name, letters in table.gt(0).sum(axis=1).items() if letters == 1]
    further = (f" Of {', '.join(fixed)}, model and letter cannot be told apart." if fixed else "") + further
    return replace(audit, sentence=sentence + further, draws=len(drawn), chi2=chi2, dof=dof, p=p)


def _draws(orders: pd.Series) -> tuple[pd.Series, str]:
    """One order a draw, and the words for what shares a draw; judgments of one draw say the same thing again."""
    for names, words in DRAWS:
        groups = orders.groupby([name for name in names if name in orders.index.names], dropna=False)
        if groups.ngroups < len(orders) and (groups.nunique() == 1).all():
            return groups.first(), words
    return orders, ""


def _balance(orders: pd.Series) -> tuple[float, int, float, str]:
    """Chi-square of the candidate x letter counts of these orders, its degrees of freedom, p, and why there is none."""
    from scipy.stats import chi2 as distribution, chisquare

    places = pd.DataFrame([place for order in orders for place in zip(*order, strict=True)])
    counts = pd.crosstab(places[0], places[1]).to_numpy()
    k, dof = len(counts), (len(counts) - 1) ** 2
    if k < 2 or len({(labels, frozenset(candidates)) for labels, candidates in orders}) > 1:
        return math.nan, 0, math.nan, "judgments show different letters or models: no test fits all"
    if len(orders) / k < FEWEST:
        return math.nan, dof, math.nan, f"{len(orders)} separate draws of an order are too few for a test"
    # A candidate stands in one place of each order, so cells vary less than in Pearson's table.
    chi2 = float(chisquare(counts, axis=None).statistic) * (k - 1) / k
    return chi2, dof, float(distribution.sf(chi2, dof)), ""


def published_judgments(
    frame: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str] | None = None, answers: Iterable[Answer] = ()
) -> dict[str, list[dict[str, Any]]]:
    """The judgments of a listwise frame by condition, a record each, of the first asking of each.

    `reasons` are their justifications by question, judge and condition. A judgment that could not be read is an `error`
    with its outcome ("MAX_TOKENS" where it was cut), an invalid ranking one without letters. One that is missing keeps
    what was shown, and is left out where that is not known. A ranking whose letters or candidates are not known is a
    ValueError.
    """
    judges = frame[["judge", "judge_vendor", "judge_tier"]].drop_duplicates()
    shown = frame[["candidate", "candidate_vendor", "candidate_tier"]].dropna(subset="candidate").drop_duplicates()
    both = [each.astype(object).fillna("").itertuples(index=False, name=None) for each in (judges, shown)]
    names = published_names(chain(*both))
    texts = {(each.question_id, each.candidate): each.text or "" for each in answers}
    found: dict[str, list[dict[str, Any]]] = {}
    keys = ["condition", "question_id", "judge"]
    first = frame["repeat"] == frame.groupby(keys, observed=True)["repeat"].transform("min")
    for place, rows in frame[first].groupby(keys, observed=True, sort=False):
        condition, question, judge = map(str, place)
        rows = rows.sort_values("slot", kind="stable")
        record: dict[str, Any] = {"prompt_id": question, "judge_model": names[judge], "hint_mode": condition}
        mapped = rows["label"].notna().all() and rows["candidate"].notna().all()
        if mapped:
            shown = dict(zip(rows["label"].astype(str), rows["candidate"].astype(str), strict=True))
            written = {label: texts.get((question, name)) for label, name in shown.items()}
            record["mapping"] = {label: f"ans_{question}_{names[name]}" for label, name in shown.items()}
            record["anonymized_answers"] = [
                {"label": label} | ({"text": f"{text[:_SHOWN]}..."} if text else {}) for label, text in written.items()
            ]
        outcome = str(rows["outcome"].iloc[0])
        if outcome == "ok" and not mapped:
            raise ValueError(
                f"question {question}, judge {judge}: which candidate stood under each letter is not known, and the "
                "published format cannot hold a ranking without"
            )
        if mapped and outcome in ("ok", "invalid_ranking", "missing"):
            ranked = rows.sort_values("rank")["label"].astype(str).tolist()
            record["ranking"] = {"ok": ranked, "missing": None}.get(outcome, [])
            scores = zip(rows["label"].astype(str), rows["score"], strict=True)
            record["scores"] = {label: None if score != score else score for label, score in scores}
            record["justification"] = (reasons or {}).get((question, judge, condition), "")
        elif outcome == "missing":
            continue
        else:
            record["error"] = "MAX_TOKENS" if outcome == "truncated" else outcome
        found.setdefault(condition, []).append(record)
    return found
