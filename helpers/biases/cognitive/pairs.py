"""Control beside treatment: one row a reply to a treatment, with the reply to its control and the control's repeat."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from helpers.frames import DECISIONS

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
