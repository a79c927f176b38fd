"""Published verdicts on two answers that do not tell in which order they were given."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.game_reading import blank_game, id_of, records_of, whole_number, word
from helpers.datasets.game_rows import EVEN, FIRST, ORDERS, SECOND, games_frame
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import show, text_field

if TYPE_CHECKING:
    import pandas

#: How a battle says that the baseline (model_a), the candidate, or none is better.
BATTLES = {"model_a": FIRST, "model_b": SECOND, "tie": EVEN}
#: How often a strong verdict is repeated in the battles of Arena-Hard.
STRONG = 3
#: The verdicts of both orders together, and the columns that count them.
TOGETHER = {"model_a": "model_a", "model_b": "model_b", "tie": "tie", "tie (inconsistent)": "inconsistent"}


def both_order_counts(source: str | Path) -> pandas.DataFrame:
    """How often did two orders disagree, where only the verdict of both together was published?

    One row a turn and one for "all": turn, judgments, model_a, model_b, tie, inconsistent and inconsistent_share.
    Records hold winner - "tie (inconsistent)" where the two orders disagreed - and turn. No games can be made of them.
    """
    import pandas

    records, _ = records_of(source, {"winner", "turn", "model_a", "model_b"}, "verdicts of both orders together")

    def read(record: dict[str, Any]) -> tuple[str, str]:
        won = word(record.get("winner"), TOGETHER)
        if won is None:
            raise ValueError(f"field 'winner' holds {show(record.get('winner'))}, expected {', '.join(TOGETHER)}")
        return str(whole_number(record, "turn", 1)), won

    found = Counter(records.map(read, "question_id"))
    rows = []
    for turn in [*sorted({turn for turn, _ in found}), "all"]:
        counts = dict.fromkeys(TOGETHER.values(), 0)
        for (at, won), count in found.items():
            counts[won] += count if turn in (at, "all") else 0
        total = sum(counts.values())
        rows.append({"turn": turn, "judgments": total, **counts, "inconsistent_share": counts["inconsistent"] / total})
    return pandas.DataFrame(rows)


def load_battles(source: str | Path, judge: str = UNKNOWN, experiment: str = "published") -> pandas.DataFrame:
    """Who won Arena-Hard's battles (question_id, model_a, model_b, winner), of which the order is not known?

    The games frame, one row a game: `baseline` is model_a. Both orders were asked, but a battle does not tell in which
    order it was won, so all rows stand as if the baseline stood first, `repeat` counts a pair's games, and `condition`
    is "order_unknown": good for who wins, not for positions. A strong verdict is written three times in the file and is
    one row here; counts that no two games can make are a ValueError.
    """
    records, stem = records_of(source, {"question_id", "model_a", "model_b", "winner"}, "Arena-Hard's battles")

    def read(record: dict[str, Any]) -> tuple[tuple[str, str, str], Any]:
        if word(record.get("winner"), BATTLES) is None:
            raise ValueError(f"field 'winner' holds {show(record.get('winner'))}, expected {', '.join(BATTLES)}")
        return (id_of(record), text_field(record, "model_a"), text_field(record, "model_b")), record["winner"]

    found: dict[tuple[str, str, str], Counter[str]] = {}
    for key, winner in records.map(read, "question_id"):
        found.setdefault(key, Counter())[winner] += 1
    games = []
    for (id, baseline, candidate), winners in found.items():
        verdicts = [verdict for winner, count in winners.items() for verdict in _strengths(winner, count)]
        if len(verdicts) > 2 or None in verdicts:
            told = f"question {id}, {baseline} and {candidate}: {dict(winners)} are not one or two games"
            raise ValueError(f"{records.path}: {told}")
        blank = blank_game(stem, id, judge)._replace(
            baseline=baseline, candidate=candidate, condition="order_unknown", games=1, first=ORDERS[0]
        )
        games += [blank._replace(repeat=at, score=label, verdict=label) for at, label in enumerate(verdicts)]
    return games_frame(games, experiment)


def _strengths(winner: str, count: int) -> list[str | None]:
    """The games of which `count` battles with one winner were made; [None] where two games cannot make them."""
    weak = BATTLES[winner]
    strong = weak.replace(">", ">>")
    made = {1: [weak], 2: [weak, weak]}
    if winner != "tie":
        made |= {STRONG: [strong], STRONG + 1: [strong, weak], 2 * STRONG: [strong, strong]}
    return made.get(count, [None])
