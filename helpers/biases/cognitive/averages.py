"""Control beside treatment, means that take the scenario as the unit, and which of them are tested together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

import numpy as np
import pandas as pd

from ...frames import DECISIONS
from ...stats.intervals import MIN_CLUSTERS, NAN, Interval, clustered, clusters_of, no_interval
from ...stats.standing import LEVEL
from ...stats.tests import with_sign_flip
from ...types import Estimate

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
    cells = rows[rows["start"] != ""].groupby(_PLACE, observed=True)
    names, at = cells.size(), cells.ngroup().to_numpy()
    counts = {name: _counts(at, rows.loc[rows["start"] != "", name], len(names)) for name in ("letters", *taken)}
    judges = list(dict.fromkeys((source, judge, "") for source, judge, _ in names.index))
    whole = np.array([[one[:2] == each[:2] for one in names.index] for each in judges], dtype=float)
    found = []
    for labels, into in ((list(names.index), np.eye(len(names))), (judges, whole.reshape(len(judges), len(names)))):
        n = into @ names.to_numpy()
        most = {name: (into @ table).max(axis=1, initial=0) / n for name, table in counts.items()}
        shares = {"n": n.astype(int), "place": np.maximum(most["start"], most["end"]), "letter": most["letters"]}
        shares["option"] = into @ counts["option"].max(axis=1, initial=0) / n
        found.append(pd.DataFrame(labels, columns=_PLACE).assign(**shares))
    table = pd.concat(found, ignore_index=True)
    habit = (table["n"] >= FEWEST) & (table[["place", "letter"]].max(axis=1) > np.maximum(MOST, table["option"]))
    return table.assign(by=np.where(habit, np.where(table["letter"] > table["place"], "letter", "place"), ""))


def _counts(cells: np.ndarray, values: pd.Series, size: int) -> np.ndarray:
    """(size, V) how often each value comes in each cell; a missing one does not count."""
    code, labels = pd.factorize(values)
    known = code >= 0
    wide = max(1, len(labels))
    return np.bincount(cells[known] * wide + code[known], minlength=size * wide).reshape(size, wide)


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
    ways = (picked, [place - len(shown) for place in picked], sorted(shown[place] for place in picked))
    return tuple(" ".join(map(str, way)) for way in ways)


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
    lacking = [name for name in DECISIONS if name not in frame.columns]
    if lacking:
        raise ValueError(f"the decisions frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    frame = without_habits(frame, habits(frame))
    control, treatment = (frame[frame["condition"] == name] for name in ("control", "treatment"))
    for each in (control, treatment):
        _once(each)
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
    return _shaped(both)


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

    def following(name: str) -> np.ndarray:
        values = control[name].to_numpy(dtype=float)
        return np.where(size > 1, values[after], np.nan) if len(values) else values

    found = control.assign(next=following("repeat"), next_value=following("value"), next_choice=following("choice"))
    found["partner"] = found["repeat"].astype(float)
    for name, new in _CONTROL.items():
        found[new] = found[name]
    return found


def _shaped(both: pd.DataFrame) -> pd.DataFrame:
    readable = ((both["outcome"] == "ok") & (both["outcome_control"] == "ok")).to_numpy(dtype=bool)
    selected = (both["kind"] == "selection").to_numpy(dtype=bool)
    target = both["target"].to_numpy(dtype=float)
    decided = np.where(selected & np.isfinite(target), (target > 0).astype(float), np.nan)
    shaped = both.assign(
        readable=readable,
        a2=both["value"].where(readable),
        i2=both["choice"].where(readable),
        a1=both["a1"].where(readable),
        i1=both["i1"].where(readable),
        decided=decided,
        n_args=both["options"].where(selected).astype(float),
    )
    order = [*CELL, "repeat"]
    return shaped[[*PAIRS, *({"cluster"} & {*shaped})]].sort_values(order, kind="stable").reset_index(drop=True)


def _once(rows: pd.DataFrame) -> None:
    twice = rows[rows.duplicated([*CELL, "repeat"])]
    if len(twice):
        row = twice.iloc[0]
        told = ", ".join(f"{name} {row[name]}" for name in [*CELL, "condition", "repeat"])
        raise ValueError(f"two replies to the same version: {told}; each repeat needs a number of its own")


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

    @property
    def weights(self) -> np.ndarray:
        """(J,) each judge counts the same in a mean over judges."""
        judges = self.numerators.shape[1]
        return np.full(judges, 1 / max(judges, 1))


def places(rows: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Each bias and judge with its rows; a judge found in several sources is told apart by `source`."""
    several = rows.groupby("judge", observed=True)["source"].nunique()
    for (bias, judge, source), part in rows.groupby(["category", "judge", "source"], sort=True, observed=True):
        where = {"bias": str(bias), "judge": str(judge)}
        yield where | ({"source": str(source)} if several[judge] > 1 else {}), part


def cells(rows: pd.DataFrame, values: np.ndarray, weights: np.ndarray | None = None) -> Iterator[Cell]:
    """The sums of each bias: first over all its judges (where: bias), then of each (where: bias, judge).

    `values`, `weights`: (N,) beside the rows of `pairs`; NaN values count in neither sum. A bias or judge whose values
    are all NaN has a cell without columns.
    """
    v = np.asarray(values, dtype=float)
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=float)
    known = np.isfinite(v)
    place, scenario, wheres, starts = _numbered(rows)
    size = starts[-1]
    x, d, n = (
        np.bincount(starts[place][known] + scenario[known], weights=each[known], minlength=size)
        for each in (v * w, w, np.ones(len(v)))
    )
    parts = [
        (where, *(each[one:two] for each in (x, d, n)))
        for where, one, two in zip(wheres, starts[:-1], starts[1:], strict=True)
    ]
    for bias, group in groupby(parts, key=lambda part: part[0]["bias"]):
        each = list(group)
        usable = [part for part in each if part[2].sum() > 0]
        lost = tuple(part[0]["judge"] for part in each if not part[2].sum() > 0)
        yield _cell({"bias": bias}, usable, lost)
        for part in each:
            yield _cell(part[0], [part] if part[2].sum() > 0 else [], ())


def _numbered(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, list[dict[str, str]], np.ndarray]:
    """Of each row its place and the number of its scenario within the bias; of each place what it is and its start.

    Sums of all places lie behind each other, those of a place in order of the bias's scenarios.
    """
    if not len(rows):
        return np.zeros(0, dtype=int), np.zeros(0, dtype=int), [], np.array([0])
    coded = {name: pd.factorize(rows[name], sort=True) for name in ("category", "judge", "source")}
    coded["scenario"] = pd.factorize(clusters_of(rows), sort=True)
    place, labels = _combined([coded[name] for name in ("category", "judge", "source")])
    sources: dict[object, set] = {}
    for _, judge, source in labels:
        sources.setdefault(judge, set()).add(source)
    wheres = [
        {"bias": str(bias), "judge": str(judge)} | ({"source": str(source)} if len(sources[judge]) > 1 else {})
        for bias, judge, source in labels
    ]
    whole, names = _combined([coded[name] for name in ("category", "scenario")])
    biases = [name[0] for name in names]
    first = {bias: biases.index(bias) for bias in dict.fromkeys(biases)}
    scenario = whole - np.array([first[bias] for bias in biases], dtype=int)[whole]
    sizes = Counter(biases)
    return place, scenario, wheres, np.cumsum([0, *(sizes[label[0]] for label in labels)])


def _combined(coded: list[tuple[np.ndarray, pd.Index]]) -> tuple[np.ndarray, list[tuple]]:
    """The number of each row's combination of these columns, and the combinations, sorted."""
    dims = [len(labels) for _, labels in coded]
    found, number = np.unique(np.ravel_multi_index([codes for codes, _ in coded], dims), return_inverse=True)
    at = np.unravel_index(found, dims)
    return number, list(zip(*(np.asarray(labels)[i] for (_, labels), i in zip(coded, at, strict=True)), strict=True))


def _cell(where: dict[str, str], parts: list, without: tuple[str, ...]) -> Cell:
    x, d = (np.column_stack([part[at] for part in parts]) if parts else np.zeros((0, 0)) for at in (1, 2))
    return Cell(where, x, d, int(sum(part[3].sum() for part in parts)), without)


def mean_of(cell: Cell, reason: str, null: float | None = None) -> Interval:
    """The mean over these judges of each one's mean over pairs, with its scenario-clustered t interval."""
    if not cell.numerators.shape[1]:
        return no_interval(NAN, 0, 0, reason)
    interval = clustered(cell.numerators, cell.denominators, cell.weights, null=null)
    return replace(interval, n=cell.n, method=named(interval.method, cell))


def named(method: str, cell: Cell) -> str:
    """The method, in the words of scenarios, and the judges that a mean over judges had to leave out."""
    told = method.replace("question", "scenario")
    return f"{told}; without {', '.join(cell.without)}, who gave nothing to count" if cell.without else told


def contributions(cell: Cell) -> np.ndarray:
    """(C,) what each scenario adds to the mean over judges; exchanging control and treatment turns its sign."""
    totals = cell.denominators.sum(axis=0)
    return (cell.numerators / totals * cell.weights).sum(axis=1)


def cell_interval(cell: Cell, seed: int, reason: str, level: float = LEVEL) -> Interval:
    """The mean with the p of sign flips over scenarios, judges summed before flipping.

    No p below 10 scenarios, and none where even the smallest attainable one would not be below `level`, the one that a
    correction leaves.
    """
    interval = mean_of(cell, reason, null=0.0)
    if interval.clusters < MIN_CLUSTERS:
        return replace(interval, p=NAN)
    return with_sign_flip(interval, contributions(cell), seed, level, "scenarios moved")


#: A bias, and the judge (and source) where a number is not the mean over judges.
Place = tuple[str, ...]


def place(where: Mapping[str, str]) -> Place:
    """The bias and judge that a number is of."""
    return tuple(where[key] for key in ("bias", "judge", "source") if key in where)


#: Estimates by id, place and the further keys of their place.
Index = Mapping[tuple[str, Place, frozenset], Estimate]


def index(estimates: Sequence[Estimate]) -> Index:
    """The estimates by id, place and further keys, for who looks up many."""
    found: dict[tuple[str, Place, frozenset], Estimate] = {}
    for each in estimates:
        if "bias" in each.where:
            more = frozenset(item for item in each.where.items() if item[0] not in ("bias", "judge", "source"))
            found.setdefault((each.id, place(each.where), more), each)
    return found


def of(estimates: Sequence[Estimate] | Index, id: str, at: Place, **more: str) -> Estimate | None:
    """The one estimate with this id, place and further keys; None where there is none."""
    known = estimates if isinstance(estimates, Mapping) else index(estimates)
    return known.get((id, at, frozenset(more.items())))


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


def lost(known: Index, bias: str, condition: str) -> float:
    """The share of replies without a decision on a bias in one condition, over all judges; NaN where none was asked."""
    asked = [e for (id, at, _), e in known.items() if id == "odd_share" and at[0] == bias]
    counted = [(e.value * e.n, e.n) for e in asked if e.where["condition"] == condition]
    return sum(x for x, _ in counted) / sum(n for _, n in counted) if counted else math.nan


def undirected(estimates: Sequence[Estimate]) -> list[str]:
    """The biases of which only the published metric is defined: where they pull is not known."""
    known = {e.where["bias"] for e in estimates if e.id == "bias_effect"}
    return sorted({e.where["bias"] for e in estimates if e.id == "ratio_scale" and "bias" in e.where} - known)


def scenarios_needed(tests: int) -> tuple[int, int]:
    """How many scenarios an interval needs, and how many sign flips need to reach Holm's level over so many tests.

    The smallest two-sided p of C scenarios that all move is 2^(1 - C).

    >>> scenarios_needed(7)
    (10, 9)
    """
    return MIN_CLUSTERS, math.ceil(1 - math.log2(LEVEL / tests) - 1e-9)
