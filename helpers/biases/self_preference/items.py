"""Two orders make one item: what each judge did with one pair of answers under one condition."""

from __future__ import annotations

import numpy as np
import pandas as pd

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

    `frame` is the pair frame. Columns: those of KNOWN; `right_first` and `wrong_first`, 1.0 where the right answer was
    picked in that order, 0.0 where the wrong one, NaN without a verdict; `score`, their mean (0, 1/2, 1), NaN where an
    order has no verdict or was not asked; `consistent`, both orders picked the same answer; `probability`, the mean
    probability of the right answer over both orders, NaN where it is not known; the columns of `beside_control`. One
    item judged twice in one order is a ValueError that names it.
    """
    twice = frame.duplicated([*KEY, "first"])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise ValueError(
            f"judge {row['judge']} judged question {row['question_id']} ({row['right']} against {row['wrong']}, "
            f"condition {row['condition']}, repeat {row['repeat']}, task {row['task']}) more than once with the "
            f"{row['first']} answer first; each order needs its own repeat number"
        )
    known = frame.drop_duplicates(KEY)[KNOWN]
    read = frame.assign(
        verdict=np.where(
            (frame["outcome"] == "ok") & frame["picked"].isin(ORDERS),
            (frame["picked"] == "right").astype(float),
            np.nan,
        )
    )
    if "partner" not in read:
        # As in a run that nothing was added to later: verdicts beside the repeat arm, recognition beside its asking.
        read["partner"] = np.where(read["task"] == "correct", 1, 0)
    for first in ORDERS:
        part = read.loc[read["first"] == first, [*KEY, "verdict", "p_right", "partner"]]
        names = {"verdict": f"{first}_first", "p_right": f"p_{first}", "partner": f"{first}_partner"}
        part = part.rename(columns=names)
        known = known.merge(part, on=KEY, how="left")
    found = beside_control(scored(known))
    return found.assign(probability=(found["p_right"] + found["p_wrong"]) / 2).drop(columns=["p_right", "p_wrong"])


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
    for first in ORDERS:
        plain = table[(table["condition"] == "none") & ((table["repeat"] >= 1) | (table["task"] != "correct"))]
        names = {"repeat": f"{first}_partner", f"{first}_first": f"{first}_first_control"}
        on = [*PAIR, "judge", "task", f"{first}_partner"]
        plain = plain[[*PAIR, "judge", "task", "repeat", f"{first}_first"]].rename(columns=names)
        table = table.merge(plain, on=on, how="left").drop(columns=f"{first}_partner")
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
    words = np.where(edited["edit"] == "paraphrase", "paraphrase", edited["dose"].astype(str))
    found = {str(word): edited[words == word] for word in np.unique(words.astype(str))}
    return sorted(found.items(), key=lambda arm: (not arm[0].isdigit(), arm[0].zfill(9)))


def averaged(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """One row a pair and judge: these columns averaged over repeats, beside the columns that describe the pair."""
    key = [*PAIR, "judge"]
    if not table.duplicated(key).any():
        return table
    means = table.groupby(key, observed=True, sort=False)[columns].mean().reset_index()
    return table.drop_duplicates(key).drop(columns=columns).merge(means, on=key)


def third_parties(table: pd.DataFrame) -> pd.DataFrame:
    """The rows whose judge is of neither vendor of the pair."""
    judge = table["judge_vendor"].astype(object)
    return table[(judge != table["right_vendor"].astype(object)) & (judge != table["wrong_vendor"].astype(object))]


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
