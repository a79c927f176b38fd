"""Published verdicts whose order nobody tells: votes on two models, and the annotations of AlpacaEval."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.game_reading import TURNED, blank_game, flat, id_of, records_of, whole_number, word
from helpers.datasets.game_rows import EVEN, FIRST, ORDERS, SECOND, Game, games_frame
from helpers.datasets.reading import number_or_nan, show, text_field
from helpers.types import short_hash

if TYPE_CHECKING:
    import pandas

#: How a vote says that model_a, model_b or none is better.
VOTES = {"model_a": FIRST, "model_b": SECOND, "tie": EVEN, "tie (bothbad)": EVEN, "tie (inconsistent)": EVEN}
#: What holds in place of a known order.
NO_ORDER = "order_unknown"


def load_vote_games(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Whom did each judge prefer in a file of votes (judge, model_a, model_b, question_id, winner, maybe turn)?

    The games frame, one row a vote; of the two models that with the first name is the `baseline`, `condition` is
    "order_unknown". Each turn is a source of its own. A verdict of two orders that disagreed, "tie (inconsistent)", is
    a tie whose `score` says so. Votes of one judge on one pair are told apart by `repeat`; an unknown winner is a
    ValueError.
    """
    needed = {"judge", "model_a", "model_b", "question_id", "winner"}
    records, stem = records_of(source, needed, "votes on two models")
    seen: Counter[tuple[str, ...]] = Counter()

    def read(record: dict[str, Any]) -> Game:
        verdict = word(record.get("winner"), VOTES)
        if verdict is None:
            raise ValueError(f"field 'winner' holds {show(record.get('winner'))}, expected {', '.join(VOTES)}")
        one, two = text_field(record, "model_a"), text_field(record, "model_b")
        turn = f", turn {whole_number(record, 'turn', 1)}" if "turn" in record else ""
        blank = blank_game(f"{stem}{turn}", id_of(record), text_field(record, "judge"))
        blank = blank._replace(baseline=min(one, two), candidate=max(one, two), condition=NO_ORDER, games=1)
        key = (blank.source, blank.question_id, blank.judge, blank.baseline, blank.candidate)
        seen[key] += 1
        said = verdict if one <= two else TURNED[verdict]
        return blank._replace(first=ORDERS[0], score=record["winner"], verdict=said, repeat=seen[key] - 1)

    games = records.map(read, "question_id")
    odd = next((name for game in games for name in (game.judge, game.baseline, game.candidate)
                if not name.isprintable()), None)  # fmt: skip
    if odd:
        raise ValueError(f"{records.path}: the name {show(odd)} holds signs that cannot be printed")
    return games_frame(games, experiment)


def load_alpaca(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Whom did AlpacaEval's annotators prefer (annotations.json: instruction, generator_1, generator_2, preference)?

    The games frame, one row an annotation, with `won`: the share of the candidate, preference - 1. The `baseline` is
    generator_1 (the reference); `condition` is "order_unknown", for the two outputs are shown in random order and put
    back. `question_id` is a hash of the instruction, `category` its dataset. Preferences lie from 1 to 2, weighted ones
    between; 1.5 and (of old) 0 are ties, null could not be read. Anything else is a ValueError.
    """
    import pandas

    needed = {"instruction", "generator_1", "generator_2", "preference"}
    records, stem = records_of(source, needed, "AlpacaEval's annotations")
    won: list[float] = []

    def read(record: dict[str, Any]) -> list[Game]:
        share = number_or_nan(record["preference"], "preference") - 1
        share = 0.5 if share == -1 else share
        if not (0 <= share <= 1 or share != share):
            raise ValueError(f"field 'preference' holds {show(record['preference'])}, expected 1 to 2, 0 or null")
        judge = text_field(record, "annotator") if record.get("annotator") else "annotator"
        blank = blank_game(stem, short_hash(text_field(record, "instruction", blank=True)), judge)
        blank = blank._replace(
            baseline=text_field(record, "generator_1"),
            candidate=text_field(record, "generator_2"),
            category=text_field(record, "dataset") if record.get("dataset") else blank.category,
            condition=NO_ORDER,
            games=1,
        )
        won.append(share)
        label = None if share != share else FIRST if share < 0.5 else SECOND if share > 0.5 else EVEN
        return [blank._replace(first=ORDERS[0], score=label, verdict=label)]

    frame = games_frame(flat(records, read, "generator_2"), experiment)
    return frame.assign(won=pandas.Series(won, dtype=float))


def pandalm_gold(source: str | Path) -> dict[str, float]:
    """What most of PandaLM's annotators say of each item, by id: what the second response should win (0, 1/2, 1).

    Items on which no two annotators agree are left out.
    """
    records, _ = records_of(source, {"idx", "annotators"}, "PandaLM's verdicts")
    share = {1: 0.0, 2: 1.0, 0: 0.5}

    def read(record: dict[str, Any]) -> tuple[str, float | None]:
        votes = record["annotators"]
        if not isinstance(votes, list) or not votes or not all(word(vote, share) is not None for vote in votes):
            raise ValueError(f"field 'annotators' holds {show(votes)}, expected a list of 0, 1 and 2")
        (first, most), *others = Counter(votes).most_common(2)
        clear = not others or most > others[0][1]
        return str(whole_number(record, "idx", 0)), share[first] if clear else None

    return {id: gold for id, gold in records.map(read, "idx") if gold is not None}
