"""Control beside treatment, means that take the scenario as the unit, and which of them are tested together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd

from ...stats.intervals import MIN_CLUSTERS, NAN, Interval, Span, cluster_sums, clustered, no_interval
from ...stats.standing import LEVEL
from ...stats.tests import with_sign_flip
from ...types import Estimate
from ..protocol import Numbers, estimator, pick

#: What tells the pairs of one judge on one wording apart from all others.
CELL = ["source", "judge", "category", "question_id", "wording"]
PAIRS = (
    *("source", "judge", "judge_vendor", "category", "question_id", "wording", "kind", "repeat", "partner", "next"),
    *("readable", "a1", "a2", "a0", "i1", "i2", "i0", "low", "high", "target", "anchor", "ratio", "options", "values"),
    *("k", "x1", "x2", "flip_control", "flip_treatment", "decided", "pro", "con", "pro_control", "con_control"),
    "n_args",
)


#: A judge answers by place, or letter, of which more than MOST of its replies take one; of fewer than FEWEST nobody.
MOST, FEWEST = 0.8, 10
_PLACE = ["source", "judge", "category"]


def habits(frame: pd.DataFrame) -> pd.DataFrame:
    """How often does each judge take the same place or letter, whatever stands there? From a decisions frame.

    One row a source, judge and category, and one of all categories (""): `n` replies, the shares of the most frequent
    `place` (from either end), `letter` and `option` (summed over categories), and `by`: "place" or "letter" where that
    share is above MOST and above the option's (one order everywhere shows no habit), else "". Places selected together
    count as one; selections of nothing, or of everything, are left out: they are the same in any order.
    """
    rows = frame[frame["outcome"] == "ok"]
    columns = (rows[name].astype(object) for name in ("order", "choice", "places", "options"))
    taken = pd.DataFrame(map(_taken, *columns), columns=["start", "end", "option"], index=rows.index)
    rows = pd.concat([rows[[*_PLACE, "letters"]], taken], axis=1)
    rows, found = rows[rows["start"] != ""], []
    for keys in (_PLACE, _PLACE[:2]):
        for at, part in rows.groupby(keys, observed=True):
            n, option = len(part), sum(_most(each["option"]) for _, each in part.groupby("category", observed=True))
            shares = (max(_most(part["start"]), _most(part["end"])) / n, _most(part["letters"]) / n, option / n)
            found.append((*(*at, "")[:3], n, *shares))
    table = pd.DataFrame(found, columns=[*_PLACE, "n", "place", "letter", "option"])
    habit = (table["n"] >= FEWEST) & (table[["place", "letter"]].max(axis=1) > np.maximum(MOST, table["option"]))
    return table.assign(by=np.where(habit, np.where(table["letter"] > table["place"], "letter", "place"), ""))


def _most(values: pd.Series) -> int:
    """How often the most frequent value comes; a missing one does not count."""
    return int(values.value_counts().max()) if values.notna().any() else 0


@lru_cache(maxsize=65536)
def _taken(order: object, choice: float, places: object, options: float) -> tuple[str, str, str]:
    """The places taken, counted from the start and from the end, and the options there; "" where that is not known."""
    shown = order.split() if isinstance(order, str) else []
    if choice == choice and shown:
        picked = [shown.index(f"{choice:g}")]
    else:
        picked = [int(place) for place in places.split()] if isinstance(places, str) and choice != choice else []
    if not shown or not 0 < len(picked) < options:
        return "", "", ""
    ends = (place - len(shown) for place in picked)
    return " ".join(map(str, picked)), " ".join(map(str, ends)), " ".join(sorted(shown[place] for place in picked))


def without_habits(frame: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The frame in which replies that follow a place or letter hold nothing, by `habits`: outcome "by place"."""
    flagged = {(each.source, each.judge, each.category) for each in table[table["by"] != ""].itertuples()}
    if not flagged:
        return frame
    keys = zip(*(frame[name].astype(object) for name in _PLACE), strict=True)
    gone = np.array([(*key[:2], "") in flagged or key in flagged for key in keys])
    emptied = {name: frame[name].mask(gone) for name in ("value", "choice", "pro", "con")}
    return frame.assign(outcome=frame["outcome"].astype(object).mask(gone, "by place"), **emptied)


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Each treatment with its control, from a decisions frame: one row a treatment reply (columns: PAIRS,
    and `cluster` where the frame has it).

    `a1`, `a2`, `a0` are the values of the control (repeat `partner`), of the treatment and of the next repeat of the
    control (`next`; after the last comes the first, NaN where there is only one); `i1`, `i2`, `i0` their option
    indices. Of a pair with an unreadable or missing reply a1 and a2 are both NaN, and `readable` is False; of a
    readable one they are NaN where no argument was selected. `decided` is 1 for, 0 against; `pro`, `con` are counts of
    the treatment's selection of `n_args` arguments, `pro_control`, `con_control` those of the control's. A wording that
    was asked without any treatment has a row a control. Replies that follow a place or letter (`habits`) count as not
    readable. Two replies to the same version and repeat are a ValueError.
    """
    frame = without_habits(frame, habits(frame))
    control, treatment = (frame[frame["condition"] == name] for name in ("control", "treatment"))
    for twice in (each[each.duplicated([*CELL, "repeat"])] for each in (control, treatment)):
        for row in twice.head(1).to_dict("records"):
            place = ", ".join(f"{name} {row[name]}" for name in [*CELL, "condition", "repeat"])
            raise ValueError(f"two replies to the same version: {place}; each repeat needs a number of its own")
    control = _with_next(control.sort_values([*CELL, "repeat"], kind="stable"))
    partner = treatment["partner"].fillna(treatment["repeat"]).astype(float)
    both = treatment.assign(partner=partner).merge(
        control[[*CELL, "partner", *_CONTROL.values()]], how="left", on=[*CELL, "partner"], validate="many_to_one"
    )
    cells = pd.MultiIndex.from_frame(treatment[CELL])
    alone = control[~pd.MultiIndex.from_frame(control[CELL]).isin(cells)]
    # Of these nothing is known of a treatment, and the value of the row itself is the control's.
    alone = alone.assign(value=np.nan, choice=np.nan, pro=np.nan, con=np.nan, outcome="missing")
    alone = alone.assign(partner=alone["repeat"].astype(float))
    if len(alone):
        both = pd.concat([both, alone[both.columns]], ignore_index=True) if len(both) else alone
    readable = ((both["outcome"] == "ok") & (both["outcome_control"] == "ok")).to_numpy(dtype=bool)
    target, selected = both["target"].to_numpy(dtype=float), (both["kind"] == "selection").to_numpy(dtype=bool)
    answers = {"a2": "value", "i2": "choice", "a1": "a1", "i1": "i1"}
    shaped = both.assign(
        readable=readable,
        **{name: both[column].where(readable) for name, column in answers.items()},
        decided=np.where(selected & np.isfinite(target), (target > 0).astype(float), np.nan),
        n_args=both["options"].where(selected).astype(float),
    )
    names = [*PAIRS, *({"cluster"} & {*shaped})]
    return shaped[names].sort_values([*CELL, "repeat"], kind="stable").reset_index(drop=True)


#: What the row of a control gives, and its name in the row of a pair.
_CONTROL = {
    "value": "a1",
    "choice": "i1",
    "outcome": "outcome_control",
    "pro": "pro_control",
    "con": "con_control",
    "next": "next",
    "next_value": "a0",
    "next_choice": "i0",
}


def _with_next(control: pd.DataFrame) -> pd.DataFrame:
    """The controls, in order of repeats, each with the next one of its cell; after the last comes the first."""
    cell = control.groupby(CELL, sort=False, dropna=False)
    size, place = cell["repeat"].transform("size").to_numpy(), cell.cumcount().to_numpy()
    start = np.arange(len(control)) - place
    after = start + (place + 1) % np.maximum(size, 1)

    following = {"next": "repeat", "next_value": "value", "next_choice": "choice"}
    values = {new: control[name].to_numpy(dtype=float) for new, name in following.items()}
    values = {new: np.where(size > 1, each[after], np.nan) if len(each) else each for new, each in values.items()}
    found = control.assign(**values, partner=control["repeat"].astype(float))
    return found.assign(**{new: found[name] for name, new in _CONTROL.items()})


@dataclass(frozen=True)
class Cell:
    """What one number is a mean of: sums per scenario, (C, J), a column a judge; `n` rows carry them.

    `judges` without a usable row are not in it: their names are in `without`.
    """

    where: dict[str, str]
    numerators: np.ndarray
    denominators: np.ndarray
    n: int
    without: tuple[str, ...] = ()


def places(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each bias and judge with its rows; a judge found in several sources is told apart by `source`."""
    for (bias, judge, source), part in rows.groupby(["category", "judge", "source"], sort=True, observed=True):
        yield _where(rows, bias, judge, source), part


def _where(rows: pd.DataFrame, bias: str, judge: str, source: str) -> dict[str, str]:
    several = rows["source"].nunique() > 1 and rows.loc[rows["judge"] == judge, "source"].nunique() > 1
    return {"bias": str(bias), "judge": str(judge)} | ({"source": str(source)} if several else {})


def cells(rows: pd.DataFrame, values: np.ndarray, weights: np.ndarray | None = None) -> Iterator[Cell]:
    """The sums of each bias: first over all its judges (where: bias), then of each (where: bias, judge).

    `values`, `weights`: (N,) beside the rows of `pairs`; NaN values count in neither sum. A bias or judge whose values
    are all NaN has a cell without columns.
    """
    v = np.asarray(values, dtype=float)
    w = np.where(np.isfinite(v), 1.0 if weights is None else weights, NAN)
    judged = rows.assign(product=v * w, weight=w)
    for bias, part in judged.groupby("category", sort=True, observed=True):
        products, sums = (
            cluster_sums(part, name, "question_id", ["judge", "source"]) for name in ("product", "weight")
        )
        x, d, n = products.numerators, sums.numerators, sums.denominators.sum(axis=0)
        read, wheres = d.sum(axis=0) > 0, [_where(rows, bias, *place) for place in sums.columns]
        without = tuple(where["judge"] for where, there in zip(wheres, read, strict=True) if not there)
        yield Cell({"bias": str(bias)}, x[:, read], d[:, read], int(n[read].sum()), without)
        for at, where in enumerate(wheres):
            column = [at] if read[at] else []
            yield Cell(where, x[:, column], d[:, column], int(n[column].sum()))


#: What varies in this experiment is the scenario.
by_scenario = estimator("cognitive", cluster="scenario")


def means(id: str, found: Iterable[Cell], reason: str, span: Span = None) -> Numbers:
    """The mean of each cell; `reason` says why a cell without a value has none."""
    return ((id, cell.where, mean_of(cell, reason), span) for cell in found)


def mean_of(cell: Cell, reason: str, null: float | None = None) -> Interval:
    """The mean over these judges of each one's mean over pairs, with its scenario-clustered t interval."""
    if not (judges := cell.numerators.shape[1]):
        return no_interval(NAN, 0, 0, reason)
    interval = clustered(cell.numerators, cell.denominators, np.full(judges, 1 / judges), null=null)
    return replace(interval, n=cell.n, method=named(interval.method, cell))


def named(method: str, cell: Cell) -> str:
    """The method, and the judges that a mean over judges had to leave out."""
    return f"{method}; without {', '.join(cell.without)}, who gave nothing to count" if cell.without else method


def contributions(cell: Cell) -> np.ndarray:
    """(C,) what each scenario adds to the mean over judges; exchanging control and treatment turns its sign."""
    return (cell.numerators / cell.denominators.sum(axis=0)).mean(axis=1)


def cell_interval(cell: Cell, seed: int, reason: str, level: float = LEVEL) -> Interval:
    """The mean with the p of sign flips over scenarios, judges summed before flipping.

    No p below 10 scenarios, and none where even the smallest attainable one would not be below `level`, the one that a
    correction leaves.
    """
    interval = mean_of(cell, reason, null=0.0)
    if interval.clusters < MIN_CLUSTERS:
        return interval
    return with_sign_flip(interval, contributions(cell), seed, level, "scenarios moved")


#: A bias, and the judge (and source) where a number is not the mean over judges.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The bias and judge that a number is of."""
    return tuple(where[key] for key in ("bias", "judge", "source") if key in where)


def members(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The estimates without the means over judges where there is one judge alone, who is its own mean."""
    judges = {place(e.where)[1:] for e in estimates if e.id == "bias_effect" and "judge" in e.where}
    return [e for e in estimates if len(judges) != 1 or "judge" in e.where or "bias" not in e.where]


def direction(each: Estimate | None) -> int:
    """1 or -1 where the whole interval lies above or below 0; else 0."""
    return 0 if each is None or math.isnan(each.low) else int(each.low > 0) - int(each.high < 0)


def scattered(scatter: Estimate | None) -> bool:
    """Whether treatments may scatter otherwise than controls: by more than one standard error, or nobody knows."""
    return scatter is not None and scatter.value != 0 and not abs(scatter.value) <= scatter.se


def lost(estimates: Sequence[Estimate], bias: str, condition: str) -> float:
    """The share of replies without a decision on a bias in one condition, over all judges; NaN where none was asked."""
    asked = pick(estimates, "odd_share", bias=bias, condition=condition)
    return sum(each.value * each.n for each in asked) / sum(each.n for each in asked) if asked else math.nan


def undirected(estimates: Sequence[Estimate]) -> list[str]:
    """The biases of which only the published metric is defined: where they pull is not known."""
    metric, directed = ({e.where.get("bias") for e in pick(estimates, id)} for id in ("ratio_scale", "bias_effect"))
    return sorted(filter(None, metric - directed))


def scenarios_needed(tests: int) -> tuple[int, int]:
    """How many scenarios an interval needs, and how many sign flips need to reach Holm's level over so many tests.

    The smallest two-sided p of C scenarios that all move is 2^(1 - C).

    >>> scenarios_needed(7)
    (10, 9)
    """
    return MIN_CLUSTERS, math.ceil(1 - math.log2(LEVEL / tests) - 1e-9)
