"""Published comparisons from their counts: who was compared, and the same numbers as from rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from helpers import frames
from helpers.biases.position import both_orders, measured
from helpers.biases.position.both_orders import INVALID, KINDS, LABELS, NO_BIAS, SIGNIFICANT, WEAK
from helpers.stats.intervals import MIN_CLUSTERS, Interval, estimate, no_interval
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate

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


METHOD = "counts, independence assumed"
#: A cell of the counts: the verdict of game 1 and that of game 2.
Cell = tuple[str, str]


def games_of(
    counts: pd.DataFrame,
    source: str,
    judge: str,
    candidate: str,
    baseline: str = "",
    *,
    condition: str = "none",
    one_game: Mapping[Cell, int] | None = None,
    other_strings: Mapping[Cell, int] | None = None,
) -> pd.DataFrame:
    """The games frame that such counts stand for, a question of its own for each pair.

    `counts`: how often each verdict of game 1 (rows) met each of game 2 (columns), both named by LABELS or "invalid".
    Of the pairs in a cell, `one_game` had no second game, and the strings stored for `other_strings` are not the labels
    letter by letter (here they stand in brackets). Any other name, a count that is none, and more of these than the
    cell holds are a ValueError. The names of questions are numbers; their categories are not known.
    """
    said = list(_pairs(counts, one_game or {}, other_strings or {}))
    parts = []
    for game, first in enumerate(("baseline", "candidate")):
        label = [pair[game] if pair[game] != INVALID else None for pair, _, _ in said]
        stored = [f"[{one}]" if one and bracketed else one for one, (_, _, bracketed) in zip(label, said, strict=True)]
        lost = ["missing" if game and games == 1 else "invalid" for _, games, _ in said]
        parts.append(
            pd.DataFrame(
                {
                    "question_id": [str(number) for number in range(len(said))],
                    "first": first,
                    "score": pd.Series(stored, dtype=object),
                    "verdict": pd.Series(label, dtype=object),
                    "outcome": [why if one is None else "ok" for one, why in zip(label, lost, strict=True)],
                    "games": [games for _, games, _ in said],
                }
            )
        )
    known = {"source": source, "judge": judge, "candidate": candidate, "baseline": baseline, "condition": condition}
    known |= {"category": "", "repeat": 0, "candidate_vendor": "", "judge_vendor": "", "judge_model": ""}
    known |= {"experiment": "arena_hard_position_bias"}
    return pd.concat(parts, ignore_index=True).assign(**known)[list(frames.GAMES)]


def _pairs(
    counts: pd.DataFrame, one_game: Mapping[Cell, int], other_strings: Mapping[Cell, int]
) -> Iterator[tuple[Cell, int, bool]]:
    """Each pair that was counted: its cell, how many games its line holds, whether its strings are other ones."""
    names = [*LABELS, INVALID]
    cells = {(one, two): counts.loc[one, two] for one in counts.index for two in counts.columns}
    odd = [name for name in [*counts.index, *counts.columns] if name not in names]
    odd += [" ".join(cell) for cell in (*one_game, *other_strings) if cell not in cells]
    if odd:
        raise ValueError(f"{', '.join(map(str, odd))}: no verdict; they are {', '.join(names)}")
    for (one, two), count in cells.items():
        short, other = one_game.get((one, two), 0), other_strings.get((one, two), 0)
        if count < 0 or count % 1 or short + other > count:
            raise ValueError(f"{one} {two}: {count} pairs, {short} of one game, {other} of other strings: no count")
        for place in range(int(count)):
            yield (one, two), 1 if place < short else 2, place >= count - other


def from_pairs(table: pd.DataFrame, data: str = "published") -> list[Estimate]:
    """Class rates, signed effects and their sensitivity from the counts of score pairs, each source for itself.

    Takes `pairs` of frames from `games_of`, of all sources at once: what a correction costs depends on how many there
    are. Classes are told of identical texts too, whose lines were counted with the
    others; the signed effect of those is `identical_pair_effect`.
    """
    found = [
        *both_orders.class_rates(table.assign(condition="none"), data),
        *both_orders.first_position_effect(table, data, 0),
        *both_orders.signed_rates(table, data),
        *measured.control_arms(table, data, 0),
        *measured.sensitivity(table, data),
    ]
    return [replace(each, method=f"{METHOD}: {each.method}") for each in found]


FITS = ("intercept", "line")
LEVEL = 0.05
BEYOND = "beyond the third-party models, where the fit is only continued"


def leaderboard_contrast(table: pd.DataFrame, judge: str, other: str, data: str = "published") -> list[Estimate]:
    """How much higher one judge puts each own-family model than models of third parties would make one expect.

    `table`: a row a model; columns model, family ("" for a third party, else the judge's family it belongs to) and one
    column of win rates in (0, 1) for each of the two judges. The logit of `judge`'s win rate less what the third-party
    models foresee from `other`'s: fit "intercept", the other's logit plus their mean gap; fit "line", a least-squares
    line, since judges may differ in how far they spread models. `where`: model, family, fit; unit logit; positive:
    `judge` ranks the model higher. The interval is the prediction interval of one more third-party model (t, normal
    errors of models), `n` = `clusters` the third-party models; p is the t test of being one of them. Rates without the
    games behind them: what the questions add to the error is in the scatter of the models. No interval below 10.
    """
    missing = [name for name in ("model", "family", judge, other) if name not in table]
    if missing:
        raise ValueError(f"the leaderboard has no {', '.join(missing)}; it has {', '.join(map(str, table))}")
    rates = table[[judge, other]].astype(float)
    odd = table.loc[~((rates > 0) & (rates < 1)).all(axis=1), "model"]
    if len(odd):
        raise ValueError(f"{', '.join(map(str, odd))}: a logit needs win rates between 0 and 1, both excluded")
    logits = np.log(rates / (1 - rates))
    third = (table["family"] == "").to_numpy()
    found = []
    for fit in FITS:
        x, y = logits[other].to_numpy(), logits[judge].to_numpy()
        for place in np.flatnonzero(~third):
            interval = _foreseen(x[third], y[third], x[place], y[place], fit)
            if third.any() and not x[third].min() <= x[place] <= x[third].max():
                interval = replace(interval, method=f"{interval.method}; {BEYOND}")
            row = table.iloc[place]
            where = {"model": str(row["model"]), "family": str(row["family"]), "fit": fit}
            found.append(estimate("leaderboard_contrast", where, interval, data, "logit"))
    return found


def _foreseen(x: np.ndarray, y: np.ndarray, at: float, value: float, fit: str) -> Interval:
    """The distance of (at, value) from what these points foresee, with its prediction interval."""
    count, used = len(x), 2 if fit == "line" else 1
    if count <= used or (fit == "line" and np.ptp(x) == 0):
        return no_interval(math.nan, count, count, f"{count} third-party models cannot carry the fit")
    spread = ((x - x.mean()) ** 2).sum()
    slope = float((x - x.mean()) @ y / spread) if fit == "line" else 1.0
    residuals = y - y.mean() - slope * (x - x.mean())
    gap = float(value - y.mean() - slope * (at - x.mean()))
    if count < MIN_CLUSTERS:
        return no_interval(gap, count, count, f"no interval below {MIN_CLUSTERS} third-party models")
    leverage = (at - x.mean()) ** 2 / spread if fit == "line" else 0.0
    df = count - used
    se = math.sqrt(float(residuals @ residuals) / df * (1 + 1 / count + leverage))
    method = f"prediction interval of a third-party model, {fit}"
    if not se > 0:
        return no_interval(gap, count, count, "no interval: third-party models do not scatter")
    from scipy.special import stdtr, stdtrit

    reach = float(stdtrit(df, 0.975)) * se
    p = 2 * float(stdtr(df, -abs(gap) / se))
    return Interval(gap, gap - reach, gap + reach, se, count, count, method, p, float(df))


def leaderboard_words(estimates: Sequence[Estimate], judge: str, other: str) -> str:
    """What the contrast says of each family and fit, and what it cannot say: which of the two judges is off."""
    lines, every = [], [each for each in estimates if each.id == "leaderboard_contrast"]
    for fit in FITS:
        chosen = [each for each in every if each.where["fit"] == fit]
        adjusted = benjamini_hochberg([each.p for each in chosen])
        for family in dict.fromkeys(each.where["family"] for each in chosen):
            rows = [(each, p) for each, p in zip(chosen, adjusted, strict=True) if each.where["family"] == family]
            up, down = (sum(bool(p < LEVEL and sign * each.value > 0) for each, p in rows) for sign in (1, -1))
            most = max((each for each, _ in rows), key=lambda each: abs(each.value))
            beyond = sum(BEYOND in each.method for each, _ in rows)
            said = f" {beyond} of them lie {BEYOND}." if beyond else ""
            lines.append(
                f"- {family}, {fit}: of {len(rows)} models {judge} ranks {up} higher and {down} lower against {other} "
                f"than {most.n} third-party models foresee; the farthest is {most.where['model']}, {most} logits.{said}"
            )
    if not lines:
        return "No model of either judge's family is on both leaderboards."
    return "\n".join(
        [
            *lines,
            "",
            "Exploratory; p by Benjamini and Hochberg over the models of a fit. The contrast is one of two judges: it "
            "does not tell which of them departs from what the models deserve, and models of one family may share a "
            "style that one judge likes for reasons of its own.",
        ]
    )
