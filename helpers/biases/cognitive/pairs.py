"""Control beside treatment: one row a reply to a treatment, with the reply to its control and the control's repeat."""

from __future__ import annotations

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


def pairs(frame: pd.DataFrame) -> pd.DataFrame:
    """Each treatment with its control, from a decisions frame: one row a treatment reply (columns: PAIRS,
    and `cluster` where the frame has it).

    `a1`, `a2`, `a0` are the values of the control (repeat `partner`), of the treatment and of the next repeat of the
    control (`next`; after the last comes the first, NaN where there is only one); `i1`, `i2`, `i0` their option
    indices. Of a pair with an unreadable or missing reply a1 and a2 are both NaN, and `readable` is False; of a
    readable one they are NaN where no argument was selected. `decided` is 1 for, 0 against; `pro`, `con` are counts of
    the treatment's selection of `n_args` arguments, `pro_control`, `con_control` those of the control's. A wording that
    was asked without any treatment has a row a control. Two replies to the same version and repeat are a ValueError.
    """
    lacking = [name for name in DECISIONS if name not in frame.columns]
    if lacking:
        raise ValueError(f"the decisions frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
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
