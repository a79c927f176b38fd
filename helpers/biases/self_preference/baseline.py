"""Does a judge defend its own wrong answer, or any wrong answer of that kind: controls without any edit."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from helpers.biases.self_preference.items import PAIR, averaged, complete, third_parties
from helpers.biases.self_preference.obfuscation import authors, other_authors, tested
from helpers.biases.self_preference.rates import made
from helpers.types import Estimate

STRATA = ("same label", "other label", "all")
PRIMARY = STRATA[0]


def unedited(table: pd.DataFrame) -> pd.DataFrame:
    """One row a pair and judge: `vote`, how often it votes for the wrong answer, over all unedited repeats."""
    asked = complete(table[(table["condition"] == "none") & (table["task"] == "correct")])
    rows = averaged(asked, ["right_first", "wrong_first", "score"])
    return rows.assign(vote=1 - rows["score"])


def evaluator_quality_gap(
    table: pd.DataFrame, data: str, seed: int = 0, strata: Sequence[str] = STRATA
) -> list[Estimate]:
    """How much more often a judge votes for its own wrong answer than for another author's to the same question.

    Questions that the judge itself answered wrongly; P(votes own wrong) - P(votes other's wrong), same right opponent,
    in pp, paired, repeats averaged, the mean over other authors; authors of its own vendor are left out. A judge that
    is merely weak believes both. `where`: judge, stratum ("same label", the primary one: the other wrong answer
    names the same option; "other label"; "all"), of `strata`. Takes `items`.
    """
    rows, found = unedited(table), []
    on = ["question_id", "right", "judge"]
    others = other_authors(rows)[[*on, "wrong_label", "vote"]]
    pairs = rows[rows["own"] == "wrong"].merge(others, on=on, suffixes=("", "_other"))
    labels = pairs["wrong_label"].astype(object), pairs["wrong_label_other"].astype(object)
    known = labels[0].notna() & labels[1].notna()
    same = labels[0] == labels[1]
    chosen = {"same label": pairs[known & same], "other label": pairs[known & ~same], "all": pairs}
    for stratum in strata:
        key = [*on, "article", "vote"]
        every = chosen[stratum].groupby(key, observed=True, sort=False)["vote_other"].mean().reset_index()
        reason = f"no wrong answer of another vendor ({stratum}) was judged against the same right one"
        for judge in authors(table):
            one = every[every["judge"] == judge]
            interval = tested(one["vote"] - one["vote_other"], one["article"], seed, reason, len(authors(table)))
            found.append(made("evaluator_quality_gap", {"judge": judge, "stratum": stratum}, interval, data, "pp"))
    return found


def same_text_other_judges(table: pd.DataFrame, data: str, seed: int = 0) -> list[Estimate]:
    """How much more often a judge votes for its own wrong answer than third-party judges do for the same text, in pp.

    Free of the text's own persuasion, not of how well each judge knows the answer. `where`: judge.
    """
    rows, found = unedited(table), []
    third = third_parties(rows).groupby(PAIR, observed=True, sort=False)["vote"].mean().reset_index()
    every = rows[rows["own"] == "wrong"].merge(third, on=PAIR, suffixes=("", "_other"))
    for judge in authors(table):
        both = every[every["judge"] == judge]
        interval = tested(both["vote"] - both["vote_other"], both["article"], seed, "no judge of a third vendor")
        found.append(made("same_text_other_judges", {"judge": judge}, interval, data, "pp"))
    return found
