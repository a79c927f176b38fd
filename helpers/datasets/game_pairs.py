"""Other published verdicts on two answers in known orders as the games frame: FastChat, LLMBar, PandaLM and others.

Scores of these formats are no labels of Arena-Hard: `score` is what was stored, said as such a label with whoever stood
first as A; what says nothing ("error", "garbage", null) is kept as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.game_reading import TURNED, blank_game, flat, id_of, records_of, said, whole_number, word
from helpers.datasets.game_rows import EVEN, FIRST, ORDERS, SECOND, Game, games_frame
from helpers.datasets.questions import UNKNOWN
from helpers.datasets.reading import show, text_field

if TYPE_CHECKING:
    import pandas

#: How each format says that the baseline (the answer or model named first), the candidate, or none is better.
FASTCHAT = {"model_1": FIRST, "model_2": SECOND, "tie": EVEN}
PANDALM = {1: FIRST, 2: SECOND, 0: EVEN, "1": FIRST, "2": SECOND, "0": EVEN, "Tie": EVEN, "tie": EVEN}
OUTPUTS = {"1": FIRST, "2": SECOND}
LETTERS = {"A": FIRST, "B": SECOND, "C": EVEN}


def load_fastchat_pairs(
    source: str | Path, *, categories: Mapping[str, str] | None = None, experiment: str = "published"
) -> pandas.DataFrame:
    """Who won in both orders in a file of FastChat's pair judgments (model_1, model_2, g1_winner, g2_winner, turn)?

    The games frame, two rows a line: `baseline` is model_1, which stands first in game 1. Each turn is a source of its
    own, "<file>, turn 1", for it is another comparison; `question_id` is the number. `judge` is the judging model
    without the name of its prompt. "error" is invalid. `categories` are by question id. A line twice is a ValueError.
    """

    def read(record: dict[str, Any]) -> tuple[Game, Game]:
        judge = record.get("judge")
        name = judge[0] if isinstance(judge, list) and judge else judge
        id = id_of(record)
        blank = blank_game(f"{stem}, turn {whole_number(record, 'turn', 1)}", id, text_field({"judge": name}, "judge"))
        blank = blank._replace(
            baseline=text_field(record, "model_1"),
            candidate=text_field(record, "model_2"),
            category=(categories or {}).get(id, UNKNOWN),
        )
        one, two = record["g1_winner"], record["g2_winner"]
        return (
            said(blank, "baseline", one, word(one, FASTCHAT)),
            said(blank, "candidate", two, TURNED.get(word(two, FASTCHAT))),
        )

    records, stem = records_of(source, {"model_1", "model_2", "g1_winner", "g2_winner"}, "FastChat's pair judgments")
    return games_frame(flat(records, read, "question_id"), experiment)


def load_letter_pairs(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Who won in both orders in a file of Position-Bias-Analyzer (model_1, model_2, verdict_12, verdict_21)?

    The games frame, two rows a line: `baseline` is model_1, which is Assistant A in verdict_12. Letters: A, B, C (a
    tie); null is invalid. A line twice is a ValueError.
    """

    def read(record: dict[str, Any]) -> Iterator[Game]:
        blank = blank_game(f"Position-Bias-Analyzer/{stem}", id_of(record), text_field(record, "judge"))._replace(
            baseline=text_field(record, "model_1"),
            candidate=text_field(record, "model_2"),
            category=text_field(record, "category") if record.get("category") else UNKNOWN,
        )
        for first, name in zip(ORDERS, ("verdict_12", "verdict_21"), strict=True):
            yield said(blank, first, record[name], word(record[name], LETTERS))

    needed = {"model_1", "model_2", "verdict_12", "verdict_21"}
    records, stem = records_of(source, needed, "Position-Bias-Analyzer's verdicts")
    return games_frame(flat(records, read, "question_id"), experiment)


def load_pandalm(source: str | Path, experiment: str = "published") -> pandas.DataFrame:
    """Which of two responses did each judge of PandaLM's test set prefer (cmp_key, and a verdict a judge)?

    The games frame, one row a line and judge, in the one order that was asked: the first response is the `baseline`.
    Verdicts are 1, 2, 0 or "Tie"; all else ("garbage") is invalid. The people's votes (annotators) are not read.
    """
    records, _ = records_of(source, {"idx", "cmp_key"}, "PandaLM's verdicts")
    judges = sorted(records.fields - {"idx", "cmp_key", "annotators"})

    def read(record: dict[str, Any]) -> Iterator[Game]:
        models = text_field(record, "cmp_key").split("_")
        if len(models) != 2:
            raise ValueError(f"field 'cmp_key' holds {show(record['cmp_key'])}, expected two models joined by one _")
        for judge in judges:
            blank = blank_game("PandaLM", str(whole_number(record, "idx", 0)), judge)._replace(games=1)
            blank = blank._replace(baseline=models[0], candidate=models[1])
            yield said(blank, ORDERS[0], record.get(judge), word(record.get(judge), PANDALM))

    return games_frame(flat(records, read, "idx"), experiment)


def load_llmbar(
    source: str | Path, labels: str | Path | None = None, experiment: str = "published"
) -> pandas.DataFrame:
    """Which output did LLMBar's evaluators prefer in both orders (id, evaluator, prompt, winner, winner_swapped)?

    The games frame, two rows a line. `judge` is evaluator and prompt, `category` the subset, `judge_model` the
    evaluator. Winners are numbers of outputs, whatever the order; null is invalid. With the file of `labels` (id,
    subset, label: the better output, 1 or 2) the `candidate` is "better" and the `baseline` "worse", so that a verdict
    for the candidate is a correct one; without it they are "output_2" and "output_1". A line twice, or an instance
    without a label, is a ValueError.
    """
    better = None if labels is None else _labels(labels)

    def read(record: dict[str, Any]) -> Iterator[Game]:
        id, evaluator = text_field(record, "id"), text_field(record, "evaluator")
        blank = blank_game("LLMBar", id, f"{evaluator}/{text_field(record, 'prompt')}")._replace(
            category=id.rpartition("/")[0] or UNKNOWN, baseline="output_1", candidate="output_2", judge_model=evaluator
        )
        firsts = ORDERS
        if better is not None:
            if id not in better:
                raise ValueError(f"instance {id!r} has no label in {labels}")
            blank = blank._replace(baseline="worse", candidate="better")
            firsts = ORDERS if better[id] == 2 else ORDERS[::-1]
        one, two = record["winner"], record["winner_swapped"]
        shown = {firsts[0]: (one, word(one, OUTPUTS)), firsts[1]: (two, TURNED.get(word(two, OUTPUTS)))}
        for first in ORDERS:
            yield said(blank, first, *shown[first])

    needed = {"id", "evaluator", "prompt", "winner", "winner_swapped"}
    records, _ = records_of(source, needed, "LLMBar's verdicts")
    return games_frame(flat(records, read, "id"), experiment)


def _labels(path: str | Path) -> dict[str, int]:
    """The better output of each instance."""
    records, _ = records_of(path, {"id", "label"}, "LLMBar's instances")

    def read(record: dict[str, Any]) -> tuple[str, int]:
        if record.get("label") not in (1, 2):
            raise ValueError(f"field 'label' holds {show(record.get('label'))}, expected 1 or 2")
        return text_field(record, "id"), int(record["label"])

    found = records.map(read, "id")
    records.refuse_duplicates([id for id, _ in found], "instances")
    return dict(found)
