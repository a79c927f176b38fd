"""Published verdicts on two answers as the games frame, read and written: who was compared, stood first, won.

How a record of each format becomes games stands in `formats.toml`; what a record lacks of that, its function in PREPARE
adds. Of Arena-Hard's judgments, both layouts, what is broken is named with its line, and the rest is kept. `score` is
what was stored, as a label with whoever stood first as A; what says nothing ("error", "garbage", null) stays as it is.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, count, pairwise
from math import isnan, nan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..frames import GAMES
from ..paths import load_table
from ..types import PAIRWISE, Question, short_hash
from . import reading
from .answers import EACH, maker
from .hub import NAMES, Entry, Source, fetch_files, find_files, replace_file
from .questions import UNKNOWN
from .reading import Loaded, Problem, Record, Records, first_record, refuse_if

FORMATS: dict[str, dict[str, Any]] = load_table("datasets/formats.toml")
#: Who stands first, as A, in game 1 and in game 2.
ORDERS = ("baseline", "candidate")
#: A decisive or even verdict for whoever stands first, for nobody, for whoever stands second.
FIRST, EVEN, SECOND = "A>B", "A=B", "B>A"
#: The condition of verdicts whose file does not tell who stood first.
NO_ORDER = "order_unknown"
#: The gold labels of LLMBar, where they lie beside its verdicts.
LLMBAR_LABELS = "instances.jsonl"
#: Two orders that contradict each other: no verdict, and a tie only by convention.
INCONSISTENT = "tie (inconsistent)"
#: How often a strong verdict is repeated in the battles of Arena-Hard.
STRONG = 3
#: The place of the better answer as AlpacaEval's annotators write it.
_PLACE = re.compile(r"\s*(?:Output )?\(?([mMab])\)?\s*")
_REVERSED = {"A<B": "B>A", "A<<B": "B>>A", "B<A": "A>B", "B<<A": "A>>B", "B=A": "A=B"}

#: The folder that holds a folder for each judge.
JUDGMENTS = "model_judgment"
BASELINES: dict[str, str] = NAMES["values"]["baselines"]
#: Ids of duplicates that a problem names before it only counts them.
NAMED = 10
#: The formats of `load_games` beside Arena-Hard's.
OTHERS = ("fastchat-pair", "analyzer", "llmbar", "pandalm", "judgebench", "arena-battles")
#: How the folder of a benchmark is named: with its version.
_BENCHMARK = re.compile(r"v\d+\.\d+")
#: How a judge's text, or the messages that it was shown, are looked up: question, judge, candidate, who stood first.
GameKey = tuple[str, str, str, str]
#: A judgment file, what problems call it, and what titles call its comparison.
Place = tuple[Path, str, str]
_WON = {"baseline": 0.0, "tie": 0.5, "candidate": 1.0}


class Game(NamedTuple):
    """One verdict in one order; the fields stand for the columns of the same names."""

    source: str
    question_id: str
    category: str
    judge: str
    candidate: str
    baseline: str
    first: str = ORDERS[0]
    score: str | None = None
    verdict: str | None = None
    games: int = 2
    repeat: int = 0
    condition: str = "none"
    missing: bool = False
    judge_model: str = ""
    gold: float = nan
    won: float = nan
    length_baseline: float = nan
    length_candidate: float = nan


#: Columns that the games frame has where a format has such numbers.
NUMBERS = ("gold", "won", "length_baseline", "length_candidate")


def games_frame(games: Iterable[Game]) -> pd.DataFrame:
    """The games frame of these verdicts (columns: frames.GAMES, and those of NUMBERS with a value), in their order.

    `outcome` is "ok" where there is a verdict, else "missing" where there was no such game, else "invalid".
    """
    frame = pd.DataFrame(list(games), columns=Game._fields)
    frame["judge_model"] = frame["judge_model"].where(frame["judge_model"] != "", frame["judge"])
    frame = frame.assign(
        experiment="published",
        judge_vendor=frame["judge_model"].map(maker),
        candidate_vendor=frame["candidate"].map(maker),
        outcome=np.where(frame["verdict"].notna(), "ok", np.where(frame["missing"].astype(bool), "missing", "invalid")),
    ).astype({"repeat": int, "games": int})
    for name in ("score", "verdict"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    there = frame[[*NUMBERS]].notna().any()
    there[[*NUMBERS[2:]]] &= there[[*NUMBERS[2:]]].all()  # the length of one answer says nothing
    return frame[[*GAMES, *there.index[there]]]


def format_of(fields: Collection[str], among: Iterable[str] = FORMATS) -> str:
    """The first of these formats that is known by fields of a first record; "" for none."""
    marks = ((name, {*each.split()}) for name in among for each in FORMATS[name]["known_by"])
    return next((name for name, each in marks if each <= {*fields}), "")


def normalised(score: object) -> str | None:
    """The one of the five labels that a stored score means, A standing first; None where it means none of them."""
    if not isinstance(score, str):
        return None
    label = "".join(score.split()).strip("[]").upper()
    label = _REVERSED.get(label, label)
    return label if label in PAIRWISE else None


def load_pairwise(source: Source, format: str, labels: Source | None = None) -> pd.DataFrame:
    """Who won in a file of published verdicts on two answers, in a format of `formats.toml`: its games frame.

    A verdict that means nothing is invalid. A record twice is a ValueError; several with different time stamps
    (`tstamp`), and votes of one judge on one pair, are distinguished by `repeat`. With LLMBar's `labels` a verdict for
    the candidate is correct.
    """
    records = records_of(source, format)
    form, prepare, rows = FORMATS[format], PREPARE.get(format, lambda record, about: [record]), count(1)
    better = None if labels is None else _better_outputs(records_of(labels, "llmbar-labels"))
    about = {"labels": labels, "better": better, "fields": records.fields}

    def read(record: Record) -> list[Game]:
        record.need(*form["needs"].split())
        winner, valid = record.get("winner"), [*form.get("winners", ())]
        refuse_if(form.get("strict") and winner not in valid, "winner", winner, ", ".join(valid))
        prepared = prepare(Record({"row": next(rows), **record}), about)
        return [game for each in prepared for game in _games(Record(each), form, records.path.stem)]

    found = records.map(read, form.get("name") or form["question_id"].strip("{}"))
    if format == "arena-battles":
        return games_frame(_battles(source, chain(*found)))
    return games_frame(_askings(records, found, format != "votes"))


def records_of(source: Source, format: str) -> Records:
    """The records of a file that has the fields that a format needs."""
    path, words, needed = Path(source).expanduser(), FORMATS[format]["words"], FORMATS[format]["needs"].split()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; expected {words} ({', '.join(sorted(needed))})")
    records = reading.read_rows(path)
    records.kind({format: needed}, f"{words}: {', '.join(sorted(needed))}")
    return records


def _askings(records: Records, found: list[list[Game]], once: bool) -> list[Game]:
    """The games with their askings counted, by time stamp where all have one, else in file order."""
    keys = [(g[0].source, g[0].question_id, g[0].judge, g[0].baseline, g[0].candidate) for g in found]
    stamps: Sequence[Any] = [row.get("tstamp") for row in records.rows]
    timed = once and all(isinstance(stamp, int | float) for stamp in stamps)
    if once:
        twice = [(*key, str(stamp)) for key, stamp in zip(keys, stamps, strict=True)] if timed else keys
        records.refuse_duplicates(twice, "verdicts")
    order = sorted(range(len(keys)), key=stamps.__getitem__ if timed else None)
    repeats = pd.DataFrame(keys).iloc[order].groupby([*range(5)]).cumcount().sort_index().tolist()
    return [game._replace(repeat=repeats[at]) for at, games in enumerate(found) for game in games]


def _games(record: Record, form: Mapping[str, Any], stem: str) -> Iterator[Game]:
    # A template with what the record holds in place of the fields.
    texts = ("source", "question_id", "judge", "judge_model", "baseline", "candidate")
    filled: dict[str, Any] = {
        each: re.sub(r"\{(\w+)\}", lambda field: _field_text(field[1], record, stem), form[each])
        for each in texts
        if each in form
    }
    category = record.get(form.get("category"))
    numbers: dict[str, Any] = {name: record[f"its_{name}"] for name in NUMBERS if f"its_{name}" in record}
    blank = Game(**filled, category=reading.checked_text(category, "category") if category else UNKNOWN, **numbers)
    for name in (*filled.values(), blank.category):
        if not name.isprintable():
            raise ValueError(f"the name {reading.show(name)} holds signs that cannot be printed")
    orders: Sequence[str] = ORDERS
    if form.get("order"):
        # Where nobody tells the order, all stands as if the baseline stood first.
        orders = [record.get(form["order"]) or ORDERS[0]]
        blank = blank._replace(condition="none" if record.get(form["order"]) else NO_ORDER)
    for first, field in zip(orders, form["games"], strict=False):
        winner = _winner(record.get(field), form["winners"])
        label = {first: FIRST, "first": FIRST, "tie": EVEN, None: None}.get(winner, SECOND)
        raw = record.get(form.get("score", field))
        raw = raw if raw is None or isinstance(raw, str) else reading.show(raw)
        score = raw if "score" in form else label or raw
        yield blank._replace(first=first, score=score, verdict=label, games=len(form["games"]))


def _field_text(name: str, record: Record, stem: str) -> str:
    """What a field holds, as a text: ids may be numbers, a judge may stand beside the name of its prompt."""
    value = record.get(name)
    if name == "stem":
        return stem
    if name == "turn":
        turn = int(value) if isinstance(value, str) and value.isdecimal() else value
        return f", turn {Record(turn=turn).whole_number(name, 1)}" if name in record else ""
    if name == "judge" and isinstance(value, list) and value:
        return reading.checked_text(value[0], name)
    return record.id(name) if name in ("question_id", "idx") else record.text(name)


def _winner(stored: Any, winners: Mapping[str, str]) -> str | None:
    """Who won by a stored verdict; None for null, for an unknown one and for what is no word at all."""
    return winners.get(str(stored)) if isinstance(stored, str | int) and not isinstance(stored, bool) else None


def _llmbar(record: Record, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    id, better = record.text("id"), about["better"]
    record |= {"category": id.rpartition("/")[0], "one": "output_1", "other": "output_2"}
    if better is None:
        return [record]
    if id not in better:
        raise ValueError(f"instance {id!r} has no label in {about['labels']}")
    if better[id] == 1:
        # Output 1 is the candidate, which stands first in what the file does not call swapped.
        both, turned = (record["winner_swapped"], record["winner"]), {"1": "2", "2": "1"}
        one, two = (turned.get(each, each) if isinstance(each, str) else each for each in both)
        record |= {"winner": one, "winner_swapped": two}
    return [record | {"one": "worse", "other": "better"}]


def _better_outputs(records: Records) -> dict[str, int]:
    def read(record: Record) -> tuple[str, int]:
        refuse_if(record.get("label") not in (1, 2), "label", record.get("label"), "1 or 2")
        return record.text("id"), int(record["label"])

    found = records.map(read, "id")
    records.refuse_duplicates([id for id, _ in found], "instances")
    return dict(found)


def _judgebench(record: Record, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    won = {"B>A": 1.0, "A>B": 0.0, "A=B": 0.5}
    judgments = record["judgments"]
    wrong = not isinstance(judgments, list) or len(judgments) > 2
    refuse_if(wrong, "judgments", judgments, "one judgment for each of two orders")
    refuse_if(record["label"] not in [*won], "label", record["label"], ", ".join(won))
    both = [each if isinstance(each, dict) else {} for each in (*judgments, None, None)[:2]]
    inner: dict[str, Any] = next((each["judgment"] for each in both if isinstance(each.get("judgment"), dict)), {})
    model = inner.get("judge_model") or record.get("judge_name") or UNKNOWN
    named = {"judge": record.get("judge_name") or model, "judge_model": model, "its_gold": won[record["label"]]}
    return [record | named | {f"game_{at}": each.get("decision") for at, each in enumerate(both, 1)}]


def _pandalm(record: Record, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    models = record.text("cmp_key").split("_")
    refuse_if(len(models) != 2, "cmp_key", record["cmp_key"], "two models joined by one _")
    votes = record.get("annotators", [])
    winners = [_winner(vote, FORMATS["pandalm"]["winners"]) for vote in votes] if isinstance(votes, list) else []
    wrong = "annotators" in record and (len(winners) != 3 or None in winners)
    refuse_if(wrong, "annotators", votes, "three votes, each 1, 2 or 0")
    added = {"model_1": models[0], "model_2": models[1], "its_gold": _WON.get(majority(winners), nan)}
    verdicts = {name: record.get(name) for name in sorted(about["fields"] - {"idx", "cmp_key", "annotators"})}
    if not verdicts:
        found = ", ".join(about["fields"])
        raise ValueError(f"no field with a judge's verdict (its name, and 1, 2 or 0); found {found}")
    for judge, verdict in verdicts.items():
        yield record | added | {"judge": judge, "verdict": verdict}


def _alpaca(record: Record, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """An annotation; who stood first is known of a decided preference whose raw answer names a place."""
    share = reading.number_or_nan(record["preference"], "preference") - 1
    share = 0.5 if share == -1 else share
    refuse_if(not (0 <= share <= 1 or isnan(share)), "preference", record["preference"], "1 to 2, 0 or null")
    better = None if isnan(share) else "tie" if share == 0.5 else f"generator_{1 + (share > 0.5)}"
    raw = record.get("raw_completion")
    raw = raw.get("text") if isinstance(raw, dict) else raw
    place = _PLACE.fullmatch(raw) if isinstance(raw, str) and better not in (None, "tie") else None
    texts = {"length_baseline": record.get("output_1"), "length_candidate": record.get("output_2")}
    added = {
        "question_id": short_hash(record.text("instruction", blank=True)),
        "annotator": record.get("annotator") or "annotator",
        "better": better,
        "shown_first": place and ORDERS[(share > 0.5) != (place[1] in "Mb")],
        "its_won": share,
        **{f"its_{name}": len(text) if isinstance(text, str) else nan for name, text in texts.items()},
    }
    return [record | added]


def _vote(record: Record, about: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A vote with a judge and a question, whether the file names them or not, of two models in alphabetical order."""
    winner = record["winner"]
    names = (record[name] for name in ("question_id", "question", "id", "prompt") if record.get(name) is not None)
    id = next(names, f"row {record['row']}")
    id = reading.short_name(id) if isinstance(id, str) else id
    a, b = record.texts("model_a", "model_b")
    if a > b:
        a, b, winner = b, a, {"model_a": "model_b", "model_b": "model_a"}.get(winner, winner)
    about = {"question_id": id, "judge": record.get("judge") or UNKNOWN, "one": a, "other": b, "better": winner}
    return [record | about | {"shown_first": None}]


#: What makes of a record and what is known beside it (see `pairwise_games`) the records that `formats.toml` reads.
PREPARE = {"llmbar": _llmbar, "judgebench": _judgebench, "pandalm": _pandalm, "alpaca-eval": _alpaca, "votes": _vote}


def _battles(source: Source, battles: Iterable[Game]) -> list[Game]:
    """The one or two games that each pair's battles were made of; counts that no two games make are a ValueError."""
    won: dict[Game, Counter[str]] = {}
    for game in battles:
        won.setdefault(game._replace(score=None, verdict=None), Counter())[str(game.verdict)] += 1
    games = []
    for blank, counts in won.items():
        labels: list[str] = []
        for verdict, often in counts.items():
            # A strong verdict was written STRONG times, a tie never.
            strong, rest = (0, often) if verdict == EVEN else divmod(often, STRONG)
            labels += [verdict.replace(">", ">>")] * strong + [verdict] * rest
        if len(labels) > 2:
            where = f"question {blank.question_id}, {blank.baseline} and {blank.candidate}"
            raise ValueError(f"{source}: {where}: {dict(counts)} are not one or two games")
        games += [blank._replace(repeat=at, score=label, verdict=label) for at, label in enumerate(labels)]
    return games


def instructions(pairs: Sequence[str]) -> list[int]:
    """To which instruction each item belongs, where only its pair of models is known.

    The items of an instruction stand together, sorted by pair of models: where the pairs do not rise, a new one has
    begun. Two instructions whose pairs happen to rise are taken as one, which makes clusters larger and intervals no
    shorter than they should be.
    """
    return [*accumulate((pair <= before for before, pair in pairwise(pairs)), initial=0)] if pairs else []


def majority(votes: Iterable[Any]) -> Any:
    """What most of the votes say; None where no verdict has more votes than each of the others."""
    (most, count), *others = Counter(votes).most_common() or [(None, 0)]
    return None if others and others[0][1] == count else most


def load_games(source: Source, hub: Entry = None, questions: Iterable[Question] = ()) -> Loaded:
    """The verdicts of Arena-Hard's judgments (file, folder, tree, hub), or of one file of OTHERS.

    LLMBar's labels are those of an instances.jsonl beside it. A record without a category has that of the question.
    """
    path = Path(source).expanduser()
    if format := format_of(first_record(path), OTHERS) if source != "hub" and path.is_file() else "":
        labels = path.with_name(LLMBAR_LABELS)
        labels = labels if format == "llmbar" and labels.is_file() else None
        loaded = Loaded(load_pairwise(path, format, labels))
    else:
        loaded = load_arena(source, hub)
    categories = {question.id: question.category for question in questions}
    named, ids = loaded.frame["category"], loaded.frame["question_id"]
    asked = ids.map(lambda id: categories.get(id, UNKNOWN))
    return replace(loaded, frame=loaded.frame.assign(category=named.where(named != UNKNOWN, asked)))


def load_arena(source: Source, hub: Entry = None) -> Loaded:
    """The verdicts of Arena-Hard's judgments, v2.0 or v0.1: a file, a judge's folder, a tree of judges, or "hub".

    The frame (columns: frames.GAMES) has two rows a line: game 1 with the baseline first, game 2 with the candidate
    first; `games` is how many the line holds, one that is not there is "missing". Judge and candidate are those of the
    record, else of the path, a missing baseline is that of BASELINES. A candidate that is the baseline makes the
    condition "identical". Of several lines on one comparison the first counts. `problems` name every line that is
    broken and whatever was not read. A source without any judgment is a ValueError.
    """
    roots = fetch_files(hub, "judgments", (f"<judge>/{EACH}",)) if source == "hub" else [Path(source).expanduser()]
    games: list[Game] = []
    problems: list[Problem] = []
    for found, beside in map(places, roots):
        problems += beside
        for read, wrong in map(_games_of, found):
            games += read
            problems += wrong
    if not games:
        expected = "no judgment of Arena-Hard (uid or question_id, model, judge, games with their scores)"
        raise ValueError(f"{source}: {expected}; {'; '.join(map(str, problems[:3]))}")
    return Loaded(games_frame(games), tuple(problems))


def _games_of(place: Place) -> tuple[list[Game], list[Problem]]:
    path, file, _ = place
    games: list[Game] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str, str], int] = {}
    twice: dict[str, list[int]] = {}
    for number, (blank, scores) in reading.read_each(path, file, partial(_line, place=place), problems):
        if seen.setdefault((blank.judge, blank.candidate, blank.question_id), number) != number:
            twice.setdefault(blank.question_id, []).append(number)
            continue
        if len(scores) > 2:
            what = f"question {blank.question_id} holds {len(scores)} games; the first two are read"
            problems.append(Problem(file, number, "more_games", what))
        for first, game in zip(ORDERS, [*scores, None, None], strict=False):
            score = game.get("score") if game else None
            score = score if isinstance(score, str | None) else json.dumps(score)
            label, asked = normalised(score), len(scores)
            games.append(blank._replace(first=first, score=score, verdict=label, games=asked, missing=game is None))
    if not games:
        why = f"no judgment in this file, {len(problems)} lines of something else"
        return [], [Problem(file, None, "skipped", "; ".join([why, *map(str, problems[:1])]))]
    if lines := [*chain(*twice.values())]:
        named = [f"{id} (line {', '.join(map(str, numbers))})" for id, numbers in twice.items()]
        what = f"{len(lines)} later lines on questions that were judged before are not read: {_listed(named)}"
        problems.append(Problem(file, min(lines), "duplicate", what))
    compared = [" on ".join(key) for key in sorted({key[:2] for key in seen})]
    if len(compared) > 1:
        what = f"{len(compared)} comparisons in one file, kept apart: {_listed(compared)}"
        problems.append(Problem(file, None, "several", what))
    return games, problems


def _listed(names: list[str]) -> str:
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")


def _line(record: Record, place: Place) -> tuple[Game, list[Any]]:
    """What a line compares, as a game without a verdict, and its games, of which each is an object or null."""
    path, _, source = place
    question, candidate = record.id(), record.name("model", path.stem)
    named = record.name("baseline", BASELINES.get(source.split("/")[0], "baseline"))
    category, judge = record.name("category", UNKNOWN), record.name("judge", path.parent.name)
    condition = "identical" if candidate == named else "none"
    record.need("games")
    games = record.typed("games", list, "a list of games") or []
    for number, game in enumerate(games, 1):
        if not isinstance(game, dict | None):
            raise ValueError(f"game {number} is {reading.show(game)}, expected an object with a score, or null")
    return Game(source, question, category, judge, candidate, named, condition=condition), games


def places(source: Path) -> tuple[list[Place], list[Problem]]:
    """The judgment files of a file, a judge's folder or a tree of judges, and what beside them is not read.

    In a tree, a file beside the folders of judges could mix judges and has to be named itself. Of a tree with folders
    `model_judgment` all others are left out.
    """
    root = source.parent if source.is_file() else source
    there = [source] if source.is_file() else find_files(source, None, "judgments", (".jsonl",), several=True)
    judged = [path for path in there if JUDGMENTS in path.relative_to(root).parts[:-1]] or there
    found = [path for path in judged if path.parent not in (root, root / JUDGMENTS)] or judged
    text = "not in the folder of a judge; name the file itself to read it"
    beside = [Problem(str(path.relative_to(root)), None, "skipped", text) for path in judged if path not in found]
    # Where two sources would be equal, both are called by their places below `source`.
    names = [path.relative_to(root).with_suffix("") for path in found]
    short = [_short(path, inner) for path, inner in zip(found, names, strict=True)]
    titles = [name if short.count(name) == 1 else inner.as_posix() for name, inner in zip(short, names, strict=True)]
    return [(path, str(path.relative_to(root)), title) for path, title in zip(found, titles, strict=True)], beside


def _short(path: Path, inner: Path) -> str:
    """benchmark/judge/model where the folders are such; else no more of the path than lies below the folder asked for.

    Whose machine the files lie on must not get into titles.
    """
    parts, below = ([part for part in each.parts if part != JUDGMENTS] for each in (path.with_suffix(""), inner))
    benchmark = len(parts) > 3 and _BENCHMARK.search(parts[-3])
    return "/".join(parts[-(3 if benchmark else max(len(below), 2 if JUDGMENTS in path.parts else 1)) :])


def write_arena(
    frame: pd.DataFrame,
    folder: str | Path,
    *,
    texts: Mapping[GameKey, str] | None = None,
    prompts: Mapping[GameKey, list[dict[str, str]]] | None = None,
) -> list[Path]:
    """Write verdicts for Arena-Hard's own tools: <folder>/<judge>/<candidate>.jsonl, sorted.

    `frame` is a games frame; its first asking without a condition is written: a line a question with two games, the
    baseline first in game 1, each with score, judgment.answer (`texts`) and prompt (`prompts`). A score that is no
    label is null, for the tools stop at it, and so is a missing game; a question without any game is left out. Two
    verdicts on one question in one order, and two names that would share a file, are ValueErrors before anything is
    written.
    """
    rows = frame[(frame["condition"] == "none") & (frame["repeat"] == 0)]
    twice = rows[rows.duplicated(["judge", "candidate", "question_id", "first"])]
    if len(twice):
        named = ", ".join(f"{row.question_id} ({row.judge} on {row.candidate})" for row in twice[:3].itertuples())
        raise ValueError(f"{len(twice)} verdicts on a question that has one in the same order already: {named}")
    lines: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows.itertuples(index=False):
        about = {"uid": row.question_id, "category": row.category, "judge": row.judge, "model": row.candidate}
        about |= {"baseline": row.baseline, "games": [None, None]}
        line = lines.setdefault((row.judge, row.candidate), {}).setdefault(row.question_id, about)
        if line["baseline"] != row.baseline or line["category"] != row.category:
            raise ValueError(f"question {row.question_id}: its two games name different baselines or categories")
        if row.outcome != "missing":
            at = (row.question_id, row.judge, row.candidate, row.first)
            score = None if pd.isna(row.verdict) else row.verdict
            game = {"score": score, "judgment": {"answer": (texts or {}).get(at, "")}}
            line["games"][ORDERS.index(row.first)] = game | {"prompt": (prompts or {}).get(at, [])}
    files = {pair: Path(folder) / _name(pair[0]) / f"{_name(pair[1])}.jsonl" for pair in lines}
    # Some file systems do not tell capitals from small letters.
    owners: dict[str, tuple[str, str]] = {}
    for pair, path in files.items():
        other = owners.setdefault(str(path).lower(), pair)
        if other != pair:
            raise ValueError(f"{' on '.join(other)} and {' on '.join(pair)} would share the file {path.name}")
    for pair, path in files.items():
        # ASCII with escapes: whatever a reply holds, half a surrogate pair included, can be written.
        replace_file(path, [json.dumps(line) for line in lines[pair].values() if any(line["games"])])
    return sorted(files.values())


def _name(model: str) -> str:
    """A model's name as a file's: "/" as "__", as the benchmark's own files have it, and nothing that leaves a folder.

    >>> _name("Nexusflow/Athene-V2-Chat"), _name("../x y")
    ('Nexusflow__Athene-V2-Chat', '_.__x_y')
    """
    name = re.sub(r"[^\w.+@=-]", "_", model.replace("/", "__"))
    return re.sub(r"^\.", "_", name) or "_"
