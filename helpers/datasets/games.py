"""Published verdicts on two answers in both orders, whatever their format: told apart by the fields of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.arena import Arena, load_arena
from helpers.datasets.arena_lines import Problem, places, read_lines
from helpers.datasets.game_outcomes import load_battles
from helpers.datasets.game_pairs import load_fastchat_pairs, load_letter_pairs, load_llmbar, load_pandalm
from helpers.types import Question

if TYPE_CHECKING:
    import pandas

#: The gold labels of LLMBar, where they lie beside its verdicts.
LLMBAR_LABELS = "instances.jsonl"


def load_games(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    *,
    questions: Iterable[Question] = (),
    experiment: str = "published",
) -> Arena:
    """Which verdicts do these published judgments hold: Arena-Hard's (file, folder, tree, hub), or one file of others?

    A file of FastChat's pair judgments, Position-Bias-Analyzer's verdicts, LLMBar's (with the labels of an
    instances.jsonl beside it), PandaLM's or of Arena-Hard's battles is known by the fields of its first record;
    anything else is read as Arena-Hard's (`load_arena`), which tells what is wrong with it. `questions` give categories
    to those without.
    """
    questions = tuple(questions)
    path = Path(source).expanduser()
    if source != "hub" and path.is_file():
        known = _first(path)
        for needed, load in _formats(questions).items():
            if needed <= known:
                return Arena(load(path, experiment))
    return load_arena(source, hub, questions=questions, experiment=experiment)


def _formats(questions: Iterable[Question]) -> dict[frozenset[str], Callable[[Path, str], pandas.DataFrame]]:
    """The loader of each format that is not Arena-Hard's, by the fields that give it away."""
    categories = {question.id: question.category for question in questions}

    def llmbar(path: Path, experiment: str) -> pandas.DataFrame:
        labels = path.with_name(LLMBAR_LABELS)
        return load_llmbar(path, labels if labels.is_file() else None, experiment)

    def fastchat(path: Path, experiment: str) -> pandas.DataFrame:
        return load_fastchat_pairs(path, categories=categories, experiment=experiment)

    def battles(path: Path, experiment: str) -> pandas.DataFrame:
        return load_battles(path, experiment=experiment)

    return {
        frozenset({"g1_winner", "g2_winner"}): fastchat,
        frozenset({"verdict_12", "verdict_21"}): load_letter_pairs,
        frozenset({"evaluator", "winner_swapped"}): llmbar,
        frozenset({"cmp_key"}): load_pandalm,
        frozenset({"question_id", "model_a", "model_b", "winner"}): battles,
    }


def _first(path: Path) -> frozenset[str]:
    """The fields of the first record of a file; none where it has no readable one."""
    for place in places(path)[0]:
        for _, record in read_lines(place):
            return frozenset() if isinstance(record, Problem) else frozenset(record)
    return frozenset()
