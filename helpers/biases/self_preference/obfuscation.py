"""What an edit of the judge's own wrong answer changes, beyond what the same edit changes for other judges.

The decision is taken on matched pairs: one pair, one judge, one order, edited against asked again unedited. If the
edit shifts the logit of picking the right answer by the same amount for every judge and every judge's verdict has the
same noise (logistic, unit scale), the log of (changes to the right answer / changes to the wrong one) is that amount,
however hard the pair, however sharp the judge's eye for quality, whatever its habits of place; own minus third-party
judges is then what hiding the authorship did. A difference of plain log-odds is not: averaging over unequal pairs
flattens it more for the judge that knows its mind. Where damage is felt in proportion to a judge's sharpness, neither
is identified; then `obfuscation_against_other_author`, within one judge, is the check.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from helpers.biases.self_preference.items import PAIR, arms, averaged, before, complete, differ, third_parties
from helpers.biases.self_preference.rates import made, nothing
from helpers.stats.intervals import Interval, cluster_sums, clustered, no_interval
from helpers.stats.numbering import numbered
from helpers.stats.paired_odds import paired_log_odds
from helpers.stats.tests import with_sign_flip
from helpers.types import Estimate

LEVEL = 0.05
NEEDS_REPEAT = "needs unedited pairs asked again: a plain repeat (repeats = 2 where judges are asked)"
NO_THIRD = "no judge of a third vendor judged these texts both unedited and edited"
NO_OTHER = "no wrong answer of another vendor with the same label was edited and judged"
#: What a difference of two differences can be.
TWICE = (-2.0, 2.0)
_VERDICTS = ["right_first", "wrong_first", "score"]
#: What is needed of an item to compare it; the rest of a wide table only costs time.
_SLIM = [*PAIR, "judge", "judge_vendor", "right_vendor", "wrong_vendor", "wrong_label", "own", "article", *_VERDICTS]
_SLIM += [f"{name}_control" for name in _VERDICTS]


def changes(edited: pd.DataFrame) -> pd.DataFrame:
    """What changed from the repeat arm to an edited arm: the items with all four verdicts, one row a pair and judge.

    Adds `up` and `down`, the orders (0 to 2) that changed to the right and to the wrong answer, and `change`, the
    difference of the scores.
    """
    both = edited[edited["task"] == "correct"]
    both = both.loc[both["score"].notna() & both["score_control"].notna(), _SLIM]
    up = sum(both[name] * (1 - both[f"{name}_control"]) for name in _VERDICTS[:2])
    down = sum(both[f"{name}_control"] * (1 - both[name]) for name in _VERDICTS[:2])
    return both.assign(up=up, down=down, change=both["score"] - both["score_control"])


def against(own: pd.DataFrame, others: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Own rows beside the mean of all other rows with the same key (`up_other`, ...); rows without any are left out."""
    columns = ["up", "down", "change", "score", "score_control"]
    means = others.groupby(on, observed=True, sort=False)[columns].mean().reset_index()
    return own.merge(means, on=on, suffixes=("", "_other"))


def _logit(both: pd.DataFrame, reason: str) -> Interval:
    """Own minus other, in log-odds of matched pairs."""
    if both.empty:
        return no_interval(math.nan, 0, 0, reason)
    codes, articles = numbered(both["article"])
    names = ("up", "up_other", "down", "down_other")
    sums = np.column_stack([np.bincount(codes, both[name].to_numpy(), len(articles)) for name in names])
    return paired_log_odds(sums[:, :2], sums[:, 2:], len(both), (1.0, -1.0), counted=(True, False))


def tested(values: pd.Series, articles: pd.Series, seed: int, reason: str, tests: int = 1) -> Interval:
    """The mean of paired differences, clustered by article, with the sign-flip p over articles.

    No p where even the smallest attainable one would not be below LEVEL, corrected for so many `tests`.
    """
    if values.empty:
        return no_interval(math.nan, 0, 0, reason)
    sums = cluster_sums(pd.DataFrame({"value": values, "article": articles}), "value", "article")
    interval = clustered(sums.numerators, sums.denominators)
    if math.isnan(interval.low):
        return interval
    return with_sign_flip(interval, sums.numerators[:, 0], seed, LEVEL / tests, "articles changed")


def authors(table: pd.DataFrame) -> list[str]:
    """The judges that judged a pair in which their own answer is the wrong one."""
    return sorted(map(str, table.loc[table["own"] == "wrong", "judge"].unique()))


def moved(table: pd.DataFrame, target: str) -> list[tuple[str, pd.DataFrame]]:
    """The changes from the repeat arm to each edited arm, by dose."""
    return [(dose, changes(edited)) for dose, edited in arms(table, target)]


def _harmful(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["own"] == "wrong"]


def _of(rows: pd.DataFrame, judge: str) -> pd.DataFrame:
    return rows[rows["judge"] == judge]


def why_none(table: pd.DataFrame, reason: str) -> str:
    """The reason why nothing could be compared with the repeat arm: there is none, or `reason`."""
    asked = table[(table["condition"] == "none") & (table["task"] == "correct")]
    return reason if (asked["repeat"] >= 1).any() else NEEDS_REPEAT


def obfuscation_effect(table: pd.DataFrame, data: str, seed: int = 0, parts: bool = True) -> list[Estimate]:
    """How much more an edit of a judge's own wrong answer turns it to the right one than it turns third-party judges.

    Harmful items; [edited - repeat] of the author minus the mean [edited - repeat] of the judges of a third vendor on
    the same texts. `obfuscation_effect` in logits decides, `obfuscation_effect_pp` stands beside it, with its parts
    `obfuscation_own` and `obfuscation_third_party` (left out without `parts`). `where`: judge, dose ("2", ...,
    "paraphrase"). Takes `items`.
    """

    found, judges = [], authors(table)
    for dose, rows in moved(table, "wrong"):
        harmful = _harmful(rows)
        every = against(harmful, third_parties(rows), PAIR)
        for judge in judges:
            own, both = _of(harmful, judge), _of(every, judge)
            why = "no own wrong answer was edited and judged both ways" if own.empty else NO_THIRD
            why = why_none(table, why) if both.empty else why
            effect, where = _logit(both, why), {"judge": judge, "dose": dose}
            found.append(made("obfuscation_effect", where, effect, data, "logit"))
            pp = {"obfuscation_effect_pp": (both["change"] - both["change_other"], both)}
            if parts:
                pp |= {"obfuscation_own": (own["change"], own), "obfuscation_third_party": (both["change_other"], both)}
            for id, (values, of) in pp.items():
                interval = tested(values, of["article"], seed, why, len(judges))
                found.append(made(id, where, interval, data, "pp", TWICE if id == "obfuscation_effect_pp" else None))
    return found


def against_other_author(table: pd.DataFrame, data: str) -> list[Estimate]:
    """How much more an edit of a judge's own wrong answer moves it than the same dose on another author's.

    `obfuscation_against_other_author`, in logits: same judge, same question, same right answer; the other wrong answer
    has the same label and its author is of another vendor. Free of how strongly the judge feels edits in general, not
    of how much each text suffers.
    """
    found = []
    for dose, rows in moved(table, "wrong"):
        own = _harmful(rows)
        both = against(
            own[own["wrong_label"].notna()], other_authors(rows), ["question_id", "right", "wrong_label", "judge"]
        )
        for judge in authors(table):
            mine = _of(both, judge)
            interval = _logit(mine, why_none(table, NO_OTHER) if mine.empty else NO_OTHER)
            where = {"judge": judge, "dose": dose}
            found.append(made("obfuscation_against_other_author", where, interval, data, "logit"))
    return found


def other_authors(table: pd.DataFrame) -> pd.DataFrame:
    """The rows on pairs that the judge did not write, whose wrong answer is not by its own vendor either."""
    table = table[~table["own"].isin(["right", "wrong"])]
    return table[differ(table["wrong_vendor"], table["judge_vendor"])]


def obfuscation_of_right(table: pd.DataFrame, data: str, seed: int = 0) -> list[Estimate]:
    """What an edit of the opponent's right answer changes on a judge's harmful items: a target, never a placebo.

    `obfuscation_of_right`, in pp. `naive_opponent_difference` is obfuscation_own minus it, on items with both edits: it
    counts damage twice, and is shown for that reason only.
    """
    wrong, found = dict(moved(table, "wrong")), []
    why = why_none(table, "no right answer was edited and judged both ways")
    for dose, rows in moved(table, "right"):
        own = _harmful(rows)
        if dose in wrong:
            key = [*PAIR, "judge"]
            twice = _harmful(wrong[dose]).merge(own[[*key, "change"]], on=key, suffixes=("", "_right"))
        for judge in authors(table):
            mine, where = _of(own, judge), {"judge": judge, "dose": dose}
            right = tested(mine["change"], mine["article"], seed, why)
            found.append(made("obfuscation_of_right", where, right, data, "pp"))
            if dose in wrong:
                both = _of(twice, judge)
                naive = tested(both["change"] - both["change_right"], both["article"], seed, why)
                found.append(made("naive_opponent_difference", where, naive, data, "pp", TWICE))
    return found


def naive_filtered(table: pd.DataFrame, data: str) -> list[Estimate]:
    """What the published analysis calls the effect, and how much of it the filter makes without any edit.

    On harmful items whose two orders agreed at first asking: `naive_filtered_change` (`where`: judge, dose) is edited
    minus first, `regression_to_the_mean` (`where`: judge) is the repeat arm minus first, both in pp. The first verdicts
    were selected, so neither is an effect.
    """
    first = complete(before(table))
    first = first[first["consistent"] & (first["own"] == "wrong")][[*PAIR, "judge", "article", "score"]]
    repeats = complete(table[(table["condition"] == "none") & (table["repeat"] >= 1)])
    again = [("regression_to_the_mean", {}, repeats)]
    again += [("naive_filtered_change", {"dose": d}, complete(rows)) for d, rows in arms(table, "wrong")]
    found = []
    for id, extra, rows in again:
        rows = averaged(rows[rows["task"] == "correct"], _VERDICTS)
        both = first.merge(rows[[*PAIR, "judge", "score"]], on=[*PAIR, "judge"], suffixes=("_first", ""))
        both = both.assign(moved=both["score"] - both["score_first"])
        for judge in authors(table):
            part, where = _of(both, judge), {"judge": judge, **extra}
            if part.empty:
                found.append(nothing(id, where, why_none(table, "no item was consistent at first asking"), data, "pp"))
                continue
            sums = cluster_sums(part, "moved", "article")
            found.append(made(id, where, clustered(sums.numerators, sums.denominators), data, "pp"))
    return found
