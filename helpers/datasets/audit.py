"""Whether who wins and which letter wins can be distinguished: an audit of what stood where, in any published file."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from helpers.words import p_text

if TYPE_CHECKING:
    import pandas

#: What identifies a judgment, as far as a frame has it.
JUDGMENT = ("experiment", "question_id", "judge", "condition", "repeat")
#: Within which one order may have been drawn for all judgments, coarsest first, with the words for it.
DRAWS = ((["question_id"], "question"), (["judge"], "judge"), (["question_id", "judge"], "question and judge"))
#: Below this expected count a chi-square is no approximation.
FEWEST = 5
CONSTANT = "which model wins and which letter wins cannot be told apart."


@dataclass(frozen=True)
class Audit:
    """What stood under which letter, and a sentence that says what follows from it.

    `table` counts judgments: candidates in rows, letters in columns. `judgments` are those whose places are known,
    `unknown` all others, `orders` how many different orders there are, `draws` how many of them were drawn separately
    (an order kept for all judgments of a question is one draw). `deviation` is the largest distance of a share in the
    table from an equal one. `chi2`, `dof` and `p` test the table against random orders, NaN where `note` says why not.
    """

    table: pandas.DataFrame = field(repr=False)
    judgments: int
    unknown: int
    sentence: str
    note: str
    orders: int = 0
    draws: int = 0
    deviation: float = math.nan
    chi2: float = math.nan
    dof: int = 0
    p: float = math.nan

    def __str__(self) -> str:
        """The sentence alone, as notebooks print it."""
        return self.sentence


def mapping_audit(frame: pandas.DataFrame) -> pandas.DataFrame:
    """How often each candidate, when ranked first, stood under each letter: candidates in rows, letters in columns.

    Takes the frame of `load_top1` (judgments with a known letter) or the listwise frame (valid rankings). One filled
    column in every row means that position and candidate cannot be distinguished.
    """
    import pandas

    if "pick" in frame:
        picked = frame.dropna(subset=["pick", "letter"])
        return pandas.crosstab(picked["pick"], picked["letter"])
    picked = frame[frame["top"] == 1]
    return pandas.crosstab(picked["candidate"], picked["label"])


def audit_places(frame: pandas.DataFrame) -> Audit:
    """Audit what stood where in the listwise frame (all that was shown) or that of `load_top1` (first places only).

    The chi-square is that of random permutations, (k - 1) / k of Pearson's with (k - 1)^2 degrees of freedom; it takes
    draws as independent. From first places alone no balance can be tested. Where a log names only winners,
    `load_judgments` has completed the other places; `load_top1` has what is on record.
    """
    return _first_places(frame) if "pick" in frame else _all_places(frame)


def _first_places(frame: pandas.DataFrame) -> Audit:
    table = mapping_audit(frame)
    filled = table.gt(0)
    judgments = int(table.to_numpy().sum())
    if not judgments:
        sentence = "No judgment tells under which letter its winner stood: nothing can be audited."
    elif judgments > 1 and filled.sum(axis=1).eq(1).all() and filled.sum(axis=0).le(1).all():
        sentence = (
            f"Each of the {len(table)} models that ever came first stood under one and the same letter in all "
            f"{judgments} judgments that tell it: {CONSTANT}"
        )
    else:
        sentence = (
            f"Of {len(table)} models that ever came first, {filled.sum(axis=1).gt(1).sum()} did so under more than one "
            f"letter ({judgments} judgments); where the others stood is not told, so balance cannot be tested."
        )
    unknown, note = len(frame) - judgments, "first places only: a test of balance needs all places"
    return Audit(table, judgments, unknown, sentence + _further(unknown * bool(judgments)), note)


def _all_places(frame: pandas.DataFrame) -> Audit:
    import pandas

    names = [column for column in JUDGMENT if column in frame]
    # An order is who stood under each letter; judgments with a place left open are no evidence of any.
    groups = frame.groupby(names, dropna=False)
    filled = groups[["label", "candidate"]].transform("count").min(axis=1)
    complete = frame[filled == groups["question_id"].transform("size")].sort_values("label")
    shown = complete if len(complete) else frame.dropna(subset=["label", "candidate"])
    table = pandas.crosstab(shown["candidate"], shown["label"])
    orders = complete.groupby(names, dropna=False)[["label", "candidate"]].agg(tuple).apply(tuple, axis=1)
    judgments, different = len(orders), orders.nunique()
    unknown = len(frame[names].drop_duplicates()) - judgments
    if not judgments:
        sentence = "No judgment tells which model stood under which letter: nothing can be audited."
        return Audit(table, 0, unknown, sentence, "no order is known")
    deviation = float((table.div(table.sum(axis=1), axis=0) - 1 / table.shape[1]).abs().to_numpy().max())
    if different == 1:
        sentence = "There is one judgment: nothing can be said about its order."
        if judgments > 1:
            sentence = (
                f"Each of the {len(table)} models stood under one and the same letter in all {judgments} judgments: "
                f"{CONSTANT}"
            )
        note = "one order throughout: there is nothing to test"
        return Audit(table, judgments, unknown, sentence + _further(unknown), note, 1, 1, deviation)
    drawn, shared = _draws(orders)
    chi2, dof, p, note = _balance(drawn)
    low, high = int(table.to_numpy().min()), int(table.to_numpy().max())
    sentence = (
        f"{different} different orders were shown in {judgments} judgments"
        f"{f', one for all judgments of a {shared}' if shared else ''}; each of the {len(table)} models stood under "
        f"each letter {f'between {low} and {high}' if low < high else low} times"
        f"{f' (equal shares: {judgments / table.shape[1]:.4g})' if dof else ''}: {_verdict(p, note)}."
    )
    fixed = [str(name) for name, letters in table.gt(0).sum(axis=1).items() if letters == 1]
    if fixed:
        sentence += f" Of {', '.join(fixed)}, model and letter cannot be told apart."
    sentence += _further(unknown)
    return Audit(table, judgments, unknown, sentence, note, different, len(drawn), deviation, chi2, dof, p)


def _further(unknown: int) -> str:
    return f" Of {unknown} further judgments the places are not known." if unknown else ""


def _draws(orders: pandas.Series) -> tuple[pandas.Series, str]:
    """One order a draw, and the words for what shares a draw; judgments of one draw say the same thing again."""
    for names, words in DRAWS:
        groups = orders.groupby([name for name in names if name in orders.index.names], dropna=False)
        if groups.ngroups < len(orders) and (groups.nunique() == 1).all():
            return groups.first(), words
    return orders, ""


def _balance(orders: pandas.Series) -> tuple[float, int, float, str]:
    """Chi-square of the candidate x letter counts of these orders, its degrees of freedom, p and a note."""
    from scipy.stats import chi2 as distribution

    letters, shown = {labels for labels, _ in orders}, {frozenset(candidates) for _, candidates in orders}
    k = len(next(iter(letters)))
    if len(letters) > 1 or len(shown) > 1 or k < 2:
        return math.nan, 0, math.nan, "judgments show different letters or models: no test fits all"
    expected, dof = len(orders) / k, (k - 1) ** 2
    if expected < FEWEST:
        return math.nan, dof, math.nan, f"{len(orders)} separate draws of an order are too few for a test"
    counts = Counter(place for order in orders for place in zip(*order, strict=True))
    squares = sum((n - expected) ** 2 for n in counts.values()) + (k * k - len(counts)) * expected**2
    # A candidate stands in one place of each order, so cells vary less than in Pearson's table.
    chi2 = squares / expected * (k - 1) / k
    note = "chi-square of random permutations; takes the draws of orders as independent"
    return chi2, dof, float(distribution.sf(chi2, dof)), note


def _verdict(p: float, note: str) -> str:
    if math.isnan(p):
        return f"whether that is balanced is not tested ({note})"
    if p >= 0.05:
        return f"at least as balanced as random orders would be (p {p_text(p)})"
    return f"less balanced than random orders would be (p {p_text(p)}), so some models had better places than others"
