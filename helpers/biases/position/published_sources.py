"""Published comparisons, as their counts stand in published/counts.yaml: who was compared, and which verdicts met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from helpers.biases.position.counts import Cell, games_of
from helpers.biases.position.pairs import INVALID, KINDS, LABELS, NO_BIAS, SIGNIFICANT, WEAK

ARENA, NOTEBOOK, ANALYZER, LLMBAR = "arena_hard", "arena_hard_notebook", "position_bias_analyzer", "llmbar"
#: The pairs that the notebook did not print stand in one cell each: which one changes none of the numbers kept.
_STAND_IN = {NO_BIAS: ("A=B", "A=B"), WEAK: ("A>B", "B>>A")}


@dataclass(frozen=True)
class Source:
    """One published comparison: block and place it is from, who was compared, and how often which verdicts met.

    `counts` are as `games_of` takes them; where a question has several pairs, `by_question` has the counts of each cell
    (rows) and question. `questions`: how many the benchmark has; `mean_of`: how many judges' mean a verdict is.
    """

    block: str
    name: str
    judge: str
    candidate: str
    baseline: str
    counts: pd.DataFrame
    questions: int
    condition: str = "none"
    mean_of: int = 1
    one_game: Mapping[Cell, int] = field(default_factory=dict)
    other_strings: Mapping[Cell, int] = field(default_factory=dict)
    by_question: pd.DataFrame | None = None

    @property
    def lines(self) -> int:
        """How many lines were counted."""
        return int(self.counts.to_numpy().sum())


def sources(published: Mapping[str, Any]) -> list[Source]:
    """Every comparison of published/counts.yaml, in its order; counts that contradict each other are a ValueError."""
    found = [*_files(published[ARENA]), _notebook(published[NOTEBOOK]), *_by_question(published[ANALYZER])]
    block = published[LLMBAR]
    for judge, grid in block["counts"].items():
        counts = _grid(grid, block["verdicts"], judge)
        known = (judge, block["candidate"], block["baseline"], counts, block["questions"])
        found.append(Source(LLMBAR, block["name"], *known))
    return found


def _by_question(block: Mapping[str, Any]) -> Iterator[Source]:
    for judge, cells in block["counts"].items():
        lengths = {len(counts) for counts in cells.values()}
        if lengths != {block["questions"]}:
            raise ValueError(f"{judge}: each cell needs a count for each of {block['questions']} questions")
        counts = pd.DataFrame(0, block["verdicts"], block["verdicts"])
        table = pd.DataFrame(cells).T
        table.index = pd.Index([tuple(cell.split()) for cell in cells], tupleize_cols=False)
        for cell, total in table.sum(axis=1).items():
            counts.loc[cell] = total
        known = (judge, block["candidate"], block["baseline"], counts, block["questions"])
        yield Source(ANALYZER, block["name"].replace("<judge>", judge), *known, by_question=table)


def _files(block: Mapping[str, Any]) -> Iterator[Source]:
    for name, row in block["counts"].items():
        counts = _grid(row["grid"], block["verdicts"], name)
        if counts.to_numpy().sum() != row["lines"]:
            raise ValueError(f"{name}: {row['lines']} lines, but its pairs sum to {counts.to_numpy().sum()}")
        more = {key: row[key] for key in ("condition", "mean_of") if key in row}
        for key in ("one_game", "other_strings"):
            more[key] = {tuple(cell.split()): n for cell, n in row.get(key, {}).items()}
        known = (row["judge"], row["candidate"], row["baseline"], counts, row["questions"])
        yield Source(ARENA, name, *known, **more)


def _grid(grid: Sequence[Sequence[int]], verdicts: Sequence[str], name: str) -> pd.DataFrame:
    if len(grid) != len(verdicts) or any(len(row) != len(verdicts) for row in grid):
        raise ValueError(f"{name}: a grid needs a row and a column for each of {', '.join(verdicts)}")
    return pd.DataFrame(grid, list(verdicts), list(verdicts))


def _notebook(block: Mapping[str, Any]) -> Source:
    names = [*LABELS, INVALID]
    counts = pd.DataFrame(0, names, names)
    for kind, cell in _STAND_IN.items():
        counts.loc[cell] += block["classes"][kind]
    for row in block["patterns"]:
        cell = tuple(row[key] if row[key] in LABELS else INVALID for key in ("game_1", "game_2"))
        if KINDS.get(cell, SIGNIFICANT) != SIGNIFICANT:
            raise ValueError(f"{row['game_1']} and {row['game_2']} mirror each other: no pattern of significant bias")
        counts.loc[cell] += row["pairs"]
    if counts.to_numpy().sum() != block["lines"]:
        raise ValueError(f"{block['lines']} lines, but classes and patterns sum to {counts.to_numpy().sum()}")
    known = (block["judge"], block["candidate"], block["baseline"], counts, block["questions"])
    return Source(NOTEBOOK, block["name"], *known)


def games(each: Source) -> pd.DataFrame:
    """The games frame of a published comparison (see `games_of`), with its questions where they were counted apart."""
    more = {"condition": each.condition, "one_game": each.one_game, "other_strings": each.other_strings}
    frame = games_of(each.counts, each.name, each.judge, each.candidate, each.baseline, **more)
    if each.by_question is None:
        return frame
    cells = [(one, two) for one in each.counts.index for two in each.counts.columns]
    rows = {cell: row for cell, row in zip(each.by_question.index, each.by_question.to_numpy(), strict=True)}
    questions = [str(q) for cell in cells for q, n in enumerate(rows.get(cell, ())) for _ in range(n)]
    # A pair keeps its number as its repeat, since several are of one question.
    return frame.assign(repeat=frame["question_id"].astype(int), question_id=questions * 2)
