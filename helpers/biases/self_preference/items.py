"""Two orders make one item: what each judge did with one pair of answers under one condition."""

from __future__ import annotations

import numpy as np
import pandas as pd

from helpers.stats.numbering import clusters_of

#: What tells one item from another, and what is known of it; the two orders of an item agree in all of these.
PAIR = ["question_id", "right", "wrong"]
KNOWN = [
    *("question_id", "article", "category", "judge", "judge_vendor", "right", "wrong", "right_vendor", "wrong_vendor"),
    *("right_label", "wrong_label", "own", "condition", "edit", "target", "dose", "repeat", "task"),
]
KEY = [*PAIR, "judge", "condition", "repeat", "task"]
ORDERS = ("right", "wrong")


def items(frame: pd.DataFrame) -> pd.DataFrame:
    """What a judge made of each pair when it saw it both ways round: one row an item.

    `frame` is the pair frame. Columns: those of KNOWN (`article` is the `cluster` where the frame has one);
    `right_first` and `wrong_first`, 1.0 where the right answer was picked in that order, 0.0 where the wrong one, NaN
    without a verdict; `score`, their mean (0, 1/2, 1), NaN where an order has no verdict or was not asked;
    `consistent`, both orders picked the same answer; `probability`, the mean probability of the right answer over both
    orders, NaN where it is not known; the columns of `beside_control`. One item judged twice in one order is a
    ValueError that names it.
    """
    place = _numbered(frame, KEY)
    order = pd.factorize(frame["first"].to_numpy(), use_na_sentinel=False)[0]
    if (np.bincount(place * (order.max(initial=0) + 1) + order) > 1).any():
        row = frame.loc[frame.duplicated([*KEY, "first"])].iloc[0]
        raise ValueError(
            f"judge {row['judge']} judged question {row['question_id']} ({row['right']} against {row['wrong']}, "
            f"condition {row['condition']}, repeat {row['repeat']}, task {row['task']}) more than once with the "
            f"{row['first']} answer first; each order needs its own repeat number"
        )
    picked, read = frame["picked"].to_numpy(), (frame["outcome"] == "ok").to_numpy()
    picked = {name: (read & (picked == name)).astype(bool) for name in ORDERS}
    # As in a run that nothing was added to later: verdicts beside the repeat arm, recognition beside its asking.
    partner = frame["partner"] if "partner" in frame else np.where(frame["task"] == "correct", 1, 0)
    given = {
        "first": np.select([picked["right"], picked["wrong"]], [1.0, 0.0], np.nan),
        "p": np.asarray(frame["p_right"], dtype=float),
        "partner": np.asarray(partner, dtype=float),
    }
    known = frame.iloc[np.unique(place, return_index=True)[1]].reset_index(drop=True)
    known = known[KNOWN].assign(article=clusters_of(known, "article"))
    found = {}
    for first in ORDERS:
        shown = (frame["first"] == first).to_numpy()
        for name, values in given.items():
            found[first, name] = np.full(len(known), np.nan)
            found[first, name][place[shown]] = values[shown]
    named = {f"{first}_first": found[first, "first"] for first in ORDERS}
    partners = {f"{first}_partner": found[first, "partner"] for first in ORDERS}
    table = beside_control(scored(known.assign(**named)).assign(**partners))
    return table.assign(probability=(found["right", "p"] + found["wrong", "p"]) / 2)


def _numbered(table: pd.DataFrame, columns: list[str]) -> np.ndarray:
    """A number for each row, the same where these columns agree, in the order in which they first stand."""
    return table.groupby(columns, sort=False, observed=True, dropna=False).ngroup().to_numpy()


def scored(table: pd.DataFrame) -> pd.DataFrame:
    """Items with `score` and `consistent`, from what was picked in each order."""
    score = (table["right_first"] + table["wrong_first"]) / 2
    return table.assign(score=score, consistent=score.isin([0.0, 1.0]))


def beside_control(table: pd.DataFrame) -> pd.DataFrame:
    """Items with the verdicts of the unedited items that they are compared with, order by order.

    `right_partner` and `wrong_partner` say which repeat of the unedited item that is in each order; both columns become
    `right_first_control` and `wrong_first_control`, and `score_control` their mean; NaN where the control has no
    verdict. The first asking is no control of a verdict: the naive comparisons select items on it.
    """
    repeat = table["repeat"].to_numpy()
    control = (table["condition"] == "none").to_numpy() & ((repeat >= 1) | (table["task"] != "correct").to_numpy())
    asked = _numbered(table, [*PAIR, "judge", "task"])
    repeats = int(repeat.max(initial=0)) + 1
    at = np.full((asked.max(initial=-1) + 1) * repeats, -1)
    at[(asked * repeats + repeat)[control]] = np.flatnonzero(control)
    found = {}
    for first in ORDERS:
        partner = table[f"{first}_partner"].to_numpy(dtype=float)
        known = (partner >= 0) & (partner < repeats)
        where = np.where(known, at[asked * repeats + np.where(known, partner, 0).astype(int)], -1)
        verdicts = table[f"{first}_first"].to_numpy(dtype=float)
        found[f"{first}_first_control"] = np.where(where >= 0, verdicts[where], np.nan)
    table = table.drop(columns=[f"{first}_partner" for first in ORDERS]).assign(**found)
    return table.assign(score_control=(table["right_first_control"] + table["wrong_first_control"]) / 2)


def before(table: pd.DataFrame) -> pd.DataFrame:
    """The items as first judged, unedited: what the published analyses start from."""
    return table[(table["condition"] == "none") & (table["repeat"] == 0) & (table["task"] == "correct")]


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """The items with a verdict in both orders; the others are counted (`funnel`), never scored."""
    return table[table["score"].notna()]


def arms(table: pd.DataFrame, target: str) -> list[tuple[str, pd.DataFrame]]:
    """The items judged with an edited text, an arm each: its dose as a word ("2", ..., "paraphrase") and its rows."""
    edited = table[(table["target"] == target) & (table["condition"] != "none")]
    codes, doses = pd.factorize(edited["dose"].to_numpy())
    words = np.append(doses.astype(str).astype(object), "paraphrase")
    codes = np.where(edited["edit"] == "paraphrase", len(doses), codes)
    found = {str(words[code]): edited[codes == code] for code in np.unique(codes)}
    return sorted(found.items(), key=lambda arm: (not arm[0].isdigit(), arm[0].zfill(9)))


def averaged(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """One row a pair and judge: these columns averaged over repeats, beside the columns that describe the pair."""
    number = _numbered(table, [*PAIR, "judge"])
    size = int(number.max(initial=-1)) + 1
    if size == len(table):
        return table
    means = {}
    for name in columns:
        values = table[name].to_numpy(dtype=float)
        known = ~np.isnan(values)
        counts = np.bincount(number[known], minlength=size)
        sums = np.bincount(number[known], values[known], size)
        means[name] = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
    first = np.unique(number, return_index=True)[1]
    return table.drop(columns=columns).iloc[first].reset_index(drop=True).assign(**means)


def third_parties(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose judge is of neither vendor of the pair."""
    judge = table["judge_vendor"]
    return table[differ(judge, table["right_vendor"]) & differ(judge, table["wrong_vendor"])]


def differ(one: pd.Series, two: pd.Series) -> np.ndarray:
    """Where two columns of names differ; categories or texts."""
    both = [each.dtype for each in (one, two) if isinstance(each.dtype, pd.CategoricalDtype)]
    if len(both) == 2 and both[0] == both[1] and one.notna().all():
        return one.array.codes != two.array.codes
    return (one.astype(object) != two.astype(object)).to_numpy()


def funnel(table: pd.DataFrame) -> pd.DataFrame:
    """How many pairs each judge was shown unedited, of how many it gave a verdict both ways, and on how many it held.

    Columns: judge, own ("right", "wrong", "" for other authors' pairs), pairs, items (a verdict in both orders),
    consistent (the same answer both times). First asking only.
    """
    asked = before(table).assign(items=lambda rows: rows["score"].notna())
    counts = asked.groupby(["judge", "own"], observed=True, sort=True).agg(
        pairs=("items", "size"), items=("items", "sum"), consistent=("consistent", "sum")
    )
    return counts.astype(int).reset_index()


def lost_by_pick(frame: pd.DataFrame) -> pd.DataFrame:
    """Whether verdicts are lost at random: the share lost by what the judge picked in the other order; pair frame.

    One row a judge; columns: judge, then lost of asked and the share where the other order picked the right answer, and
    where it picked the wrong one. Shares that differ bias rates.
    """
    table = losses(items(frame))
    table = table[table["other"] != ""].groupby(["judge", "other"], sort=True)[["asked", "lost"]].sum().reset_index()
    told = [f"{row.lost} of {row.asked} ({row.lost / row.asked:.1%})" for row in table.itertuples()]
    wide = table.assign(told=told).pivot(index="judge", columns="other", values="told").fillna("none asked")
    names = {other: f"lost where the other order picked the {other} one" for other in wide}
    return wide.rename(columns=names).rename_axis(columns=None)


def losses(table: pd.DataFrame) -> pd.DataFrame:
    """How many verdicts were lost, by what the judge picked when the same pair stood the other way round.

    Columns: judge, condition, task, other ("right", "wrong", "" where that verdict is lost too), asked, lost, share. A
    share that differs between "right" and "wrong" is a loss that is not at random: rates are then biased.
    """
    parts = []
    for first, second in (ORDERS, ORDERS[::-1]):
        seen = table[f"{second}_first"]
        other = np.select([seen == 1.0, seen == 0.0], ["right", "wrong"], "")
        lost = table[f"{first}_first"].isna()
        parts.append(table[["judge", "condition", "task"]].assign(other=other, lost=lost))
    cells = pd.concat(parts, ignore_index=True).groupby(
        ["judge", "condition", "task", "other"], observed=True, sort=True
    )
    counts = cells["lost"].agg(asked="size", lost="sum").reset_index()
    return counts.assign(share=counts["lost"] / counts["asked"])
