"""Published verdicts on two answers as the games frame: who was compared, who stood first, who won.

How a record of each format becomes games stands in `formats.toml`. `score` is what was stored, as a label with whoever
stood first as A; what says nothing ("error", "garbage", null) is kept as it is.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from helpers.datasets.answers import maker
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import (
    LONGEST_NAME,
    Records,
    id_of,
    number_or_nan,
    read_rows,
    short_name,
    show,
    text_field,
    whole_number,
)
from helpers.types import PAIRWISE, short_hash

if TYPE_CHECKING:
    import pandas

Record = dict[str, Any]
FORMATS: dict[str, dict[str, Any]] = tomllib.loads((pkgutil.get_data(__package__, "formats.toml") or b"").decode())
#: Who stands first, as A, in game 1 and in game 2.
ORDERS = ("baseline", "candidate")
#: A decisive or even verdict for whoever stands first, for nobody, for whoever stands second.
FIRST, EVEN, SECOND = "A>B", "A=B", "B>A"
#: The same winner with the answers in the other order.
TURNED = {FIRST: SECOND, EVEN: EVEN, SECOND: FIRST}
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


def games_frame(games: Iterable[Game], experiment: str = "published") -> pandas.DataFrame:
    """The games frame of these verdicts (columns: frames.GAMES), in their order; none give an empty frame.

    `outcome` is "ok" where there is a verdict, else "missing" where there was no such game, else "invalid". `score` and
    `verdict` are None where there is none.
    """
    import pandas

    from helpers.frames import GAMES

    rows = [
        {
            **game._asdict(),
            "experiment": experiment,
            "judge_model": game.judge_model or game.judge,
            "judge_vendor": maker(game.judge_model or game.judge),
            "candidate_vendor": maker(game.candidate),
            "outcome": "ok" if game.verdict else "missing" if game.missing else "invalid",
        }
        for game in games
    ]
    frame = pandas.DataFrame(rows, columns=list(GAMES)).astype({"repeat": int, "games": int})
    for name in ("score", "verdict"):
        frame[name] = frame[name].astype(object).where(frame[name].notna(), None)
    return frame


def normalised(score: object) -> str | None:
    """The one of the five labels that a stored score means, A standing first; None where it means none of them.

    Blanks and brackets are dropped, letters are raised, and what is said from B's or the loser's side is turned.

    >>> normalised("[[a > b]]"), normalised("A<<B"), normalised("B=A"), normalised("[B>>A]")
    ('A>B', 'B>>A', 'A=B', 'B>>A')
    >>> normalised(None), normalised("A"), normalised(""), normalised("A>B>A"), normalised("A>A"), normalised("A>>>B")
    (None, None, None, None, None, None)
    """
    if not isinstance(score, str):
        return None
    label = "".join(score.split()).strip("[]").upper()
    label = _REVERSED.get(label, label)
    return label if label in PAIRWISE else None


# --- verdicts in known orders -----------------------------------------------------------------------------------------


def load_fastchat_pairs(
    source: str | Path, *, categories: Mapping[str, str] | None = None, experiment: str = "published"
) -> pandas.DataFrame:
    """Who won in both orders in a file of FastChat's pair judgments (model_1, model_2, g1_winner, g2_winner, turn)?

    The games frame, two rows a line. Each turn is a source of its own, "<file>, turn 1", for it is another comparison;
    `judge` is the judging model without the name of its prompt. "error" is invalid. `categories` are by question id.
    Lines on one comparison are its askings in the order of their `tstamp`; where that is the same, a ValueError.
    """

    def prepare(record: Record) -> list[Record]:
        return [record | {"category": (categories or {}).get(id_of(record, "question_id"))}]

    return games_frame(_read(source, "fastchat-pair", prepare), experiment)


def load_letter_pairs(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Who won in both orders in a file of Position-Bias-Analyzer (model_1, model_2, verdict_12, verdict_21)?

    The games frame, two rows a line; null is invalid. A line twice is a ValueError.
    """
    return games_frame(_read(source, "analyzer"), experiment)


def load_llmbar(
    source: str | Path, labels: str | Path | None = None, experiment: str = "published"
) -> pandas.DataFrame:
    """Which output did LLMBar's evaluators prefer in both orders (id, evaluator, prompt, winner, winner_swapped)?

    The games frame, two rows a line; `category` is the subset. With the file of `labels` (id, label: the better output,
    1 or 2) the `candidate` is "better" and the `baseline` "worse", so that a verdict for the candidate is correct;
    without it they are "output_2" and "output_1". A line twice, or an instance without a label, is a ValueError.
    """
    better = None if labels is None else _better_outputs(labels)

    def prepare(record: Record) -> list[Record]:
        id = text_field(record, "id")
        if better is not None and id not in better:
            raise ValueError(f"instance {id!r} has no label in {labels}")
        if better is not None and better[id] == 1:
            # Output 1 is the candidate, which stands first in what the file does not call swapped.
            one, two = (_other_output(record[name]) for name in ("winner_swapped", "winner"))
            record = record | {"winner": one, "winner_swapped": two}
        return [record | {"category": id.rpartition("/")[0]}]

    games = _read(source, "llmbar", prepare)
    if better is not None:
        games = [game._replace(baseline="worse", candidate="better") for game in games]
    return games_frame(games, experiment)


def _other_output(stored: Any) -> Any:
    return {"1": "2", "2": "1"}.get(stored, stored) if isinstance(stored, str) else stored


def _better_outputs(path: str | Path) -> dict[str, int]:
    records, _ = records_of(path, "llmbar-labels")

    def read(record: Record) -> tuple[str, int]:
        if record.get("label") not in (1, 2):
            raise ValueError(f"field 'label' holds {show(record.get('label'))}, expected 1 or 2")
        return text_field(record, "id"), int(record["label"])

    found = records.map(read, "id")
    records.refuse_duplicates([id for id, _ in found], "instances")
    return dict(found)


def load_judgebench(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Which of two responses did a judge prefer in both orders in an output of JudgeBench (pair_id, judgments, label)?

    The games frame, two rows a line: response A is the `baseline`, first in game 1, and B the `candidate`; `category`
    is the record's source, `gold` what the candidate should win (1, 0, 1/2) by its `label`. A decision that is no label
    is invalid.
    """
    won = {"B>A": 1.0, "A>B": 0.0, "A=B": 0.5}
    gold: dict[str, float] = {}

    def prepare(record: Record) -> list[Record]:
        judgments = record["judgments"]
        if not isinstance(judgments, list) or len(judgments) > 2:
            raise ValueError(f"field 'judgments' holds {show(judgments)}, expected one judgment for each of two orders")
        if record["label"] not in won:
            raise ValueError(f"field 'label' holds {show(record['label'])}, expected {', '.join(won)}")
        both = [each if isinstance(each, dict) else {} for each in (*judgments, None, None)[:2]]
        inner = next((each["judgment"] for each in both if isinstance(each.get("judgment"), dict)), {})
        model = inner.get("judge_model") or record.get("judge_name") or UNKNOWN
        gold[id_of(record, "pair_id")] = won[record["label"]]
        named = {"judge": record.get("judge_name") or model, "judge_model": model}
        return [record | named | {f"game_{at}": each.get("decision") for at, each in enumerate(both, 1)}]

    frame = games_frame(_read(source, "judgebench", prepare), experiment)
    return frame.assign(gold=frame["question_id"].map(gold).astype(float))


def load_pandalm(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Which of two responses did each judge of PandaLM's test set prefer (cmp_key, and a verdict a judge)?

    The games frame, one row a line and judge, in the one order that was asked: the first response is the `baseline`.
    Verdicts are 1, 2, 0 or "Tie"; all else ("garbage") is invalid. The people's votes (annotators) are not read.
    """
    return games_frame(pandalm_games(source, people=False), experiment)


def pandalm_games(source: str | Path, people: bool) -> list[Game]:
    """The verdicts of each item in one order: of its three people first, if wished, then of each judge."""
    records, _ = records_of(source, "pandalm")
    judges = sorted(records.fields - {"idx", "cmp_key", "annotators"})

    def prepare(record: Record) -> Iterator[Record]:
        models = text_field(record, "cmp_key").split("_")
        if len(models) != 2:
            raise ValueError(f"field 'cmp_key' holds {show(record['cmp_key'])}, expected two models joined by one _")
        votes = record.get("annotators") if people else []
        if people and not (isinstance(votes, list) and len(votes) == 3 and all(map(_is_vote, votes))):
            raise ValueError(f"field 'annotators' holds {show(votes)}, expected three votes, each 1, 2 or 0")
        verdicts = {f"annotator {at}": vote for at, vote in enumerate(votes, 1)}
        verdicts |= {judge: record.get(judge) for judge in judges}
        for judge, verdict in verdicts.items():
            yield record | {"model_1": models[0], "model_2": models[1], "judge": judge, "verdict": verdict}

    return _read(source, "pandalm", prepare, name="idx")


def _is_vote(vote: Any) -> bool:
    return _winner(vote, FORMATS["pandalm"]["winners"]) is not None


# --- verdicts whose order nobody tells --------------------------------------------------------------------------------


def load_vote_games(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Whom did each judge prefer in a file of votes (model_a, model_b, winner; judge, question_id, turn where told)?

    The games frame, one row a vote; of the two models that with the first name is the `baseline`, `condition` is
    "order_unknown". Each turn is a source of its own; a vote on no named question is a question of its own. A verdict
    of two orders that disagreed, "tie (inconsistent)", is a tie whose `score` says so. Votes of one judge on one pair
    are told apart by `repeat`; an unknown winner is a ValueError.
    """
    return games_frame(vote_games(source), experiment)


def vote_games(source: str | Path, once: bool = False) -> list[Game]:
    """The votes of a file as games, askings counted; `once`: a judge's second verdict on a pair is a ValueError."""
    seen: Counter[tuple[str, ...]] = Counter()
    games = []
    for game in _read(source, "votes", _vote, once=once):
        if game.baseline > game.candidate:
            # Whoever is named first stands for A, whichever order was shown.
            game = game._replace(baseline=game.candidate, candidate=game.baseline, verdict=TURNED[game.verdict])
        key = (game.source, game.question_id, game.judge, game.baseline, game.candidate)
        games.append(game._replace(condition=NO_ORDER, repeat=seen[key]))
        seen[key] += 1
    return games


def load_battles(source: str | Path, judge: str = UNKNOWN, experiment: str = "published") -> pandas.DataFrame:
    """Who won Arena-Hard's battles (question_id, model_a, model_b, winner), of which the order is not known?

    The games frame, one row a game: `baseline` is model_a. Both orders were asked, but a battle does not tell in which
    order it was won, so all rows stand as if the baseline stood first, `repeat` counts a pair's games, and `condition`
    is "order_unknown": good for who wins, not for positions. A strong verdict is written three times in the file and is
    one row here; counts that no two games can make are a ValueError.
    """
    won: dict[Game, Counter[str]] = {}
    names = FORMATS["arena-battles"]["winners"]
    for game in _read(source, "arena-battles", lambda each: _with_winner(each | {"judge": judge}, names), once=False):
        blank = game._replace(score=None, verdict=None, condition=NO_ORDER)
        won.setdefault(blank, Counter())[game.verdict] += 1
    games = []
    for blank, counts in won.items():
        labels = [label for verdict, count in counts.items() for label in _strengths(verdict, count)]
        if len(labels) > 2 or None in labels:
            where = f"question {blank.question_id}, {blank.baseline} and {blank.candidate}"
            raise ValueError(f"{source}: {where}: {dict(counts)} are not one or two games")
        games += [blank._replace(repeat=at, score=label, verdict=label) for at, label in enumerate(labels)]
    return games_frame(games, experiment)


def _strengths(verdict: str, count: int) -> list[str | None]:
    """The games of which `count` battles with one winner were made; [None] where two games cannot make them."""
    strong, often = verdict.replace(">", ">>"), STRONG if verdict != EVEN else 0
    games = [strong] * (count // often if often else 0)
    games += [verdict] * (count - often * len(games))
    return games if len(games) <= 2 else [None]


def load_alpaca(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Whom did AlpacaEval's annotators prefer (annotations.json: instruction, generator_1, generator_2, preference)?

    The games frame, one row an annotation, with `won`: the share of the candidate, preference - 1. The `baseline` is
    generator_1 (the reference). The two outputs are shown in random order and put back: who stood first is known of a
    decided preference whose `raw_completion` is the letter of a place (m or M, a or b); elsewhere `condition` is
    "order_unknown". `length_baseline` and `length_candidate` count letters of the outputs. `question_id` is a hash of
    the instruction, `category` its dataset. Preferences lie from 1 to 2, weighted ones between; 1.5 and (of old) 0 are
    ties, null could not be read. Anything else is a ValueError.
    """
    import pandas

    won: list[float] = []
    firsts: list[str | None] = []
    lengths: list[dict[str, int | None]] = []

    def prepare(record: Record) -> list[Record]:
        share = number_or_nan(record["preference"], "preference") - 1
        share = 0.5 if share == -1 else share
        if not (0 <= share <= 1 or share != share):
            raise ValueError(f"field 'preference' holds {show(record['preference'])}, expected 1 to 2, 0 or null")
        won.append(share)
        better = None if share != share else "tie" if share == 0.5 else f"generator_{1 + (share > 0.5)}"
        firsts.append(_alpaca_first(record.get("raw_completion"), share))
        texts = {"length_baseline": record.get("output_1"), "length_candidate": record.get("output_2")}
        lengths.append({name: len(text) if isinstance(text, str) else None for name, text in texts.items()})
        question = short_hash(text_field(record, "instruction", blank=True))
        judge = record.get("annotator") or "annotator"
        return [record | {"question_id": question, "annotator": judge, "better": better}]

    games = []
    for game, first in zip(_read(source, "alpaca-eval", prepare, name="generator_2"), firsts, strict=True):
        label = TURNED[game.verdict] if first == ORDERS[1] else game.verdict
        order = {"first": first, "score": label, "verdict": label} if first else {"condition": NO_ORDER}
        games.append(game._replace(**order))
    frame = games_frame(games, experiment).assign(won=pandas.Series(won, dtype=float))
    counted = pandas.DataFrame(lengths, dtype=float)
    return frame.join(counted) if counted.notna().to_numpy().any() else frame


def _alpaca_first(raw: Any, share: float) -> str | None:
    """Who stood first, where the annotator's raw answer names the place of the answer that it preferred."""
    text = raw.get("text") if isinstance(raw, dict) else raw
    place = _PLACE.fullmatch(text) if isinstance(text, str) else None
    if not place or share != share or share == 0.5:
        return None
    return ORDERS[(share > 0.5) != (place[1] in "Mb")]


def both_order_counts(source: str | Path) -> pandas.DataFrame:
    """How often did two orders disagree, where only the verdict of both together was published?

    One row a turn and one for "all": turn, judgments, model_a, model_b, tie, inconsistent and inconsistent_share.
    Records are votes whose winner is "tie (inconsistent)" where the two orders disagreed. No games can be made of them.
    """
    import pandas

    names = {"model_a": "model_a", "model_b": "model_b", "tie": "tie", INCONSISTENT: "inconsistent"}
    records, _ = records_of(source, "votes")
    records.map(lambda record: _with_winner(record, names), "question_id")
    turns = records.map(lambda record: str(whole_number(record, "turn", 1)), "question_id")
    won = [names[record["winner"]] for record in records.rows]
    rows = []
    for turn in [*sorted({*turns}), "all"]:
        counts = Counter(name for name, at in zip(won, turns, strict=True) if turn in (at, "all"))
        counted = {name: counts[name] for name in names.values()}
        share = counts["inconsistent"] / counts.total()
        rows.append({"turn": turn, "judgments": counts.total(), **counted, "inconsistent_share": share})
    return pandas.DataFrame(rows)


# --- one reader for all of them ---------------------------------------------------------------------------------------


def records_of(source: str | Path, format: str) -> tuple[Records, str]:
    """The records of a file that has the fields that a format needs, and what titles call the file."""
    path, words, needed = Path(source).expanduser(), FORMATS[format]["words"], FORMATS[format]["needs"].split()
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; expected {words} ({', '.join(sorted(needed))})")
    records = read_rows(path)
    if not {*needed} <= records.fields:
        raise records.unknown(f"{words}: {', '.join(sorted(needed))}")
    return records, path.stem


def _read(
    source: str | Path,
    format: str,
    prepare: Callable[[Record], Iterable[Record]] = lambda record: [record],
    *,
    name: str = "",
    once: bool = True,
) -> list[Game]:
    """The games of all records of a file, as `formats.toml` reads what `prepare` makes of each.

    Errors name the place, and the record by its field `name`. `once`: several records on one comparison are its askings
    where they have different time stamps, else a ValueError.
    """
    records, stem = records_of(source, format)
    form, rows = FORMATS[format], count(1)

    def read(record: Record) -> list[Game]:
        if missing := [each for each in form["needs"].split() if each not in record]:
            raise ValueError(f"field {missing[0]!r} is missing; found {', '.join(record)}")
        record = {"row": next(rows), **record}
        return [game for each in prepare(record) for game in _games(each, form, stem)]

    found = records.map(read, name or form["question_id"].strip("{}"))
    if once:
        keys = [(g[0].source, g[0].question_id, g[0].judge, g[0].baseline, g[0].candidate) for g in found]
        found = _askings(records, keys, found)
    return [game for games in found for game in games]


def _askings(records: Records, keys: list[tuple[str, ...]], found: list[list[Game]]) -> list[list[Game]]:
    """The games with their askings counted by time stamp."""
    stamps = [(key, row.get("tstamp")) for key, row in zip(keys, records.rows, strict=True)]
    if len(set(keys)) == len(keys) or any(not isinstance(stamp, int | float) for _, stamp in stamps):
        records.refuse_duplicates(keys, "verdicts")
        return found
    records.refuse_duplicates([(*key, str(stamp)) for key, stamp in stamps], "verdicts")
    at: Counter[tuple[str, ...]] = Counter()
    repeats = {}
    for key, stamp in sorted(stamps, key=lambda each: each[1]):
        repeats[key, stamp] = at[key]
        at[key] += 1
    return [[g._replace(repeat=repeats[each]) for g in games] for each, games in zip(stamps, found, strict=True)]


def _games(record: Record, form: Mapping[str, Any], stem: str) -> Iterator[Game]:
    """The games of one record."""
    texts = ("source", "question_id", "judge", "judge_model", "baseline", "candidate")
    filled = {each: _filled(form[each], record, stem) for each in texts if each in form}
    category = record.get(form.get("category"))
    blank = Game(**filled, category=text_field({"category": category}, "category") if category else UNKNOWN)
    for name in (*filled.values(), blank.category):
        if not name.isprintable():
            raise ValueError(f"the name {show(name)} holds signs that cannot be printed")
    for first, field in zip(ORDERS, form["games"], strict=False):
        stored = record.get(field)
        winner = _winner(stored, form["winners"])
        label = {first: FIRST, "first": FIRST, "tie": EVEN, None: None}.get(winner, SECOND)
        raw = stored if stored is None or isinstance(stored, str) else show(stored)
        score = raw if form.get("score") == "stored" else label or raw
        yield blank._replace(first=first, score=score, verdict=label, games=len(form["games"]))


def _filled(template: str, record: Record, stem: str) -> str:
    """A text of `formats.toml` with what the record holds in place of the fields."""
    return "".join(_field_text(part, record, stem) if at % 2 else part for at, part in enumerate(_parts(template)))


@cache
def _parts(template: str) -> list[str]:
    """A template as texts and, between them, names of fields."""
    return re.split(r"\{(\w+)\}", template)


def _field_text(name: str, record: Record, stem: str) -> str:
    """What a field holds, as a text: ids may be numbers, a judge may stand beside the name of its prompt."""
    value = record.get(name)
    if name == "stem":
        return stem
    if name == "turn":
        turn = int(value) if isinstance(value, str) and value.isdecimal() else value
        return f", turn {whole_number({name: turn}, name, 1)}" if name in record else ""
    if name == "judge" and isinstance(value, list) and value:
        return text_field({name: value[0]}, name)
    return id_of(record, name) if name in ("question_id", "idx") else text_field(record, name)


def _winner(stored: Any, winners: Mapping[str, str]) -> str | None:
    """Who won by a stored verdict; None for null, for an unknown one and for what is no word at all."""
    plain = isinstance(stored, str | int) and not isinstance(stored, bool)
    return winners.get(str(stored)) if plain else None


def _with_winner(record: Record, winners: Iterable[str] = FORMATS["votes"]["winners"]) -> list[Record]:
    """A vote as it is; a winner that is none of these is a ValueError."""
    if record.get("winner") not in [*winners]:
        raise ValueError(f"field 'winner' holds {show(record.get('winner'))}, expected {', '.join(winners)}")
    return [record]


def _vote(record: Record) -> list[Record]:
    """A vote with a judge and a question, whether the file names them or not."""
    named = (record[name] for name in ("question_id", "question", "id", "prompt") if record.get(name) is not None)
    id = next(named, f"row {record['row']}")
    if isinstance(id, str) and (len(id) > LONGEST_NAME or not id.isprintable()):
        id = short_name(id)
    return _with_winner(record | {"question_id": id, "judge": record.get("judge") or UNKNOWN})
