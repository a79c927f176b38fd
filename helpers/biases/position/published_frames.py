"""Published counts as figures take them: grids of verdicts, estimates under their two names, points of leaderboards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from helpers.biases.position.leaderboard import leaderboard_contrast
from helpers.biases.position.published import leaderboard
from helpers.biases.position.published_sources import ANALYZER, ARENA, NOTEBOOK, sources
from helpers.types import Estimate

#: The blocks whose verdicts are of judges on models; LLMBar's thirty evaluators have figures of their own.
MODELS = (ARENA, NOTEBOOK, ANALYZER)
GRID = ["source", "judge", "candidate", "game_1", "game_2", "count", "data"]


def published_grids(published: Mapping[str, Any], blocks: Sequence[str] = (ARENA, ANALYZER)) -> pd.DataFrame:
    """How often each verdict of game 1 met each of game 2, a row a cell (columns: GRID), for `show_outcome_grid`.

    `source` is empty, since judge and candidate tell all of them apart. The notebook printed no whole grid.
    """
    rows = [
        ("", each.judge, each.candidate, one, two, int(each.counts.loc[one, two]), "published")
        for each in sources(published)
        if each.block in blocks and each.block != NOTEBOOK
        for one in each.counts.index
        for two in each.counts.columns
    ]
    return pd.DataFrame(rows, columns=GRID)


def of_blocks(
    published: Mapping[str, Any],
    estimates: Sequence[Estimate],
    blocks: Sequence[str] = MODELS,
    ids: Sequence[str] | None = None,
) -> list[Estimate]:
    """The estimates of these blocks (and `ids`) without their source, for figures whose rows are judge and candidate.

    Numbers that would then be told by the same place are a ValueError: no two sources are drawn as one.
    """
    names = {each.name for each in sources(published) if each.block in blocks}
    chosen = [each for each in estimates if each.where.get("source") in names and (ids is None or each.id in ids)]
    # Figures show intervals: how a test was made, or why there is none, stands with the numbers.
    found = [
        replace(each, where={k: v for k, v in each.where.items() if k != "source"}, method=each.method.split("; ")[0])
        for each in chosen
    ]
    places = [(each.id, *sorted(each.where.items())) for each in found]
    if len(set(places)) < len(places):
        raise ValueError("two sources have the same judge and candidate: draw them apart")
    return found


def leaderboard_points(published: Mapping[str, Any]) -> pd.DataFrame:
    """Each model's logits under the two judges with the third-party line and its prediction limits at its place.

    Columns as `show_leaderboard_contrast` takes them: x is the second judge of published/counts.yaml, y the first.
    """
    table, judge, other = leaderboard(published["leaderboard"])
    third = table["family"] == ""
    # A copy of each third-party model under another name has the line and the limits at that model's own place.
    copies = table[third].assign(family="third party")
    every = pd.concat([table[third], copies, table[~third]], ignore_index=True)
    line = {each.where["model"]: each for each in leaderboard_contrast(every, judge, other) if _line(each)}
    judges = {family: name for name, family in published["leaderboard"]["judges"].items()}
    logits = {name: np.log(table[name] / (1 - table[name])) for name in (judge, other)}
    rows = []
    for at, row in table.iterrows():
        gap, y = line[row["model"]], float(logits[judge][at])
        family = judges.get(row["family"], "third party")
        known = (row["model"], family, other, judge, float(logits[other][at]), y)
        rows.append((*known, y - gap.value, y - gap.high, y - gap.low, "published"))
    names = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=names)


def _line(each: Estimate) -> bool:
    return each.where["fit"] == "line"
