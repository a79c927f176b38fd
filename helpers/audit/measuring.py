"""From judgments to numbers: one signed effect a probe, and what the judge does when nothing is manipulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from helpers.audit.asking import NAME, TIE
from helpers.audit.probes import PROBES
from helpers.biases.position import classes, effects, flips
from helpers.biases.position.pairs import pairs, valid
from helpers.frames import GAMES, coded
from helpers.stats.estimates import estimate
from helpers.stats.intervals import clustered_mean, no_interval
from helpers.types import Estimate, Judgment

COLUMNS = ("question", "condition", "first", "target", "repeat", "outcome", "sign", "points", "model")
LEVEL = effects.LEVEL / len(PROBES)
NO_BLOCK = "no comparison whose verdicts could all be read"
#: Verdicts in the terms of the position frames, by what they say of the answer shown first.
LABELS = {1: "A>B", 0: "A=B", -1: "B>A"}


def table(judgments: Iterable[Judgment]) -> pd.DataFrame:
    """One row a judgment (columns: COLUMNS).

    `sign` is 1 where the answer shown first won, -1 where the second did, 0 for a tie, NaN without a verdict; `points`
    the score (NaN for pairs). `model` is the id that the provider returned. No judgments give an empty frame.
    """
    rows = []
    for each in judgments:
        trial, verdict = each.trial, each.verdict
        sign = points = math.nan
        if verdict is not None and verdict.choice is not None:
            sign = 0.0 if verdict.choice == TIE else (1.0, -1.0)[trial.labels.index(verdict.choice)]
        elif verdict is not None and verdict.number is not None and 0 <= verdict.number <= 100:
            points = verdict.number
        # A number that is none of the scale is no score: what cannot be read is counted.
        outcome = "unparsed" if each.outcome == "ok" and math.isnan(sign) and math.isnan(points) else each.outcome
        model = each.completion.model if each.completion else None
        where = (trial.where["first"], trial.where["target"], trial.request.repeat)
        rows.append((trial.question_id, trial.condition, *where, outcome, sign, points, model))
    return coded(rows, COLUMNS, ["sign", "points"])


def blocks(judged: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The matched comparisons of each probe: `question` and `value`, NaN where a verdict of them could not be read.

    A value is what the manipulation is worth in one comparison, -1 to 1, in which quality cancels and place too.
    """
    return {name: _BLOCKS[name](judged).reset_index()[["question", "value"]] for name in PROBES}


def _order(judged: pd.DataFrame) -> pd.DataFrame:
    """Both orders of a repeat: 1 where the first place won both, -1 where the second did."""
    table = pairs(_games(judged, "plain"))
    value = effects.signed(table).where(table["kind"] != "invalid")
    return pd.DataFrame({"question": table["question_id"].astype(str), "value": value})


def _letters(judged: pd.DataFrame) -> pd.DataFrame:
    """An order with the letters as usual and exchanged: half of the difference of what the first place won."""
    usual = _wide(judged[judged["repeat"] == 0], "plain", ["question", "first"], "condition")
    exchanged = _wide(judged, "letters", ["question", "first"], "condition")
    both = usual.join(exchanged, how="outer")
    return both.assign(value=(both["plain"] - both["letters"]) / 2)


def _identical(judged: pd.DataFrame) -> pd.DataFrame:
    rows = judged[judged["condition"] == "identical"]
    return pd.DataFrame({"question": rows["question"].astype(str), "value": rows["sign"]})


def _length(judged: pd.DataFrame) -> pd.DataFrame:
    """Both orders of a text and its padded form: what the padded one won on average."""
    wide = _wide(judged, "length", ["question"], "first")
    return wide.assign(value=(wide["padded"] - wide["short"]) / 2)


def _beside(condition: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    def of(judged: pd.DataFrame) -> pd.DataFrame:
        """The same order with the words beside the first and beside the second: half of the difference."""
        rows = judged[judged["condition"] == condition]
        at = np.where(rows["target"].astype(str) == rows["first"].astype(str), "here", "there")
        wide = _wide(rows.assign(at=at), condition, ["question", "first"], "at")
        return wide.assign(value=(wide["here"] - wide["there"]) / 2)

    return of


def _anchor(judged: pd.DataFrame) -> pd.DataFrame:
    """The score after a high number less that after a low one, as a share of the scale."""
    wide = _wide(judged, "anchor", ["question"], "target", "points")
    return wide.assign(value=(wide["high"] - wide["low"]) / 100)


_BLOCKS: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "order": _order,
    "letters": _letters,
    "identical": _identical,
    "length": _length,
    **{name: _beside(name) for name in ("authority", "bandwagon", "names")},
    "anchor": _anchor,
}


def _wide(judged: pd.DataFrame, condition: str, index: list[str], by: str, value: str = "sign") -> pd.DataFrame:
    """The verdicts of one condition, a row a comparison and a column a version; a missing one is NaN."""
    rows = judged[judged["condition"] == condition]
    words = {name: rows[name].astype(str) for name in {*index, by}}
    return rows.assign(**words).set_index([*index, by])[value].unstack(by)


def _games(judged: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Rows of one condition as the games frame, in which "one" is the baseline and "two" the candidate.

    Of the gap the answer to the question is the candidate.
    """
    first = {"one": "baseline", "two": "candidate", "good": "candidate", "off_topic": "baseline"}
    rows = []
    for each in judged[judged["condition"] == condition].itertuples():
        label = LABELS.get(each.sign)
        asked = (NAME, "asked", each.question, "", "judge", "", None, "candidate", "", "baseline")
        kind = "none" if condition == "plain" else "quality_gap"
        rows.append((*asked, kind, first[each.first], each.repeat, 2, label, label, each.outcome))
    return coded(rows, GAMES)


def measure(judged: pd.DataFrame, judge: str, data: str, seed: int) -> list[Estimate]:
    """One estimate a probe, in the order of PROBES, clustered by question; `n` counts matched comparisons.

    p is that of sign flips over questions, exact where each has one value of -1, 0 or 1; NaN where no test at the level
    of Holm's first step is possible.
    """
    found = []
    for name, each in blocks(judged).items():
        kept = each[each["value"].notna()]
        interval = effects.tested(kept["value"].astype(float), kept["question"], seed, NO_BLOCK, LEVEL)
        # Bounds of a t interval that reach beyond -1 and 1 are cut there.
        low, high = (min(max(bound, -1.0), 1.0) if bound == bound else bound for bound in (interval.low, interval.high))
        whole = replace(interval, low=low, high=high)
        found.append(estimate(PROBES[name].id, {"judge": judge}, whole, data, "pp"))
    return found


def described(judged: pd.DataFrame, judge: str, data: str, seed: int) -> list[Estimate]:
    """What the judge does where nothing is manipulated; none of it is tested for the verdicts.

    `repeat_disagreement`: how often the same prompt asked again brings another verdict; `order_disagreement`: how often
    the other order names another winner; `excess_flip`: the second beyond what noise makes (as in experiment 4);
    `identical_tie_share`; `quality_gap_accuracy`: how often an answer to the question beats one to another question.
    """
    where, found = {"judge": judge}, []
    again = _wide(judged, "plain", ["question", "first"], "repeat").dropna()
    changed = (again.iloc[:, 0] != again.iloc[:, -1]).astype(float) if again.shape[1] == 2 else again.iloc[:, 0][:0]
    found.append(_mean("repeat_disagreement", where, changed, changed.index.get_level_values("question"), data))
    table = pairs(_games(judged, "plain"))
    both = valid(table)
    found.append(_mean("order_disagreement", where, ~both["agree"], both["question_id"], data))
    flipped = flips.excess_flip(table, data, seed)
    missing = estimate("excess_flip", where, no_interval(math.nan, 0, 0, flips.NEEDS_REPEAT), data, "pp")
    found.append(replace(flipped[0], where=where) if flipped else missing)
    same = judged[(judged["condition"] == "identical") & judged["sign"].notna()]
    found.append(_mean("identical_tie_share", where, same["sign"] == 0, same["question"], data))
    gap = judged[(judged["condition"] == "gap") & judged["sign"].notna()]
    won = gap["sign"] * np.where(gap["first"] == "good", 1, -1) > 0
    interval = classes.share(gap.rename(columns={"question": "question_id"}), won, "no readable verdict")
    found.append(estimate("quality_gap_accuracy", where, interval, data))
    return found


def _mean(id: str, where: Mapping[str, str], values: pd.Series, questions: Iterable[object], data: str) -> Estimate:
    if not len(values):
        return estimate(id, where, no_interval(math.nan, 0, 0, NO_BLOCK), data)
    return estimate(id, where, clustered_mean(values.astype(float), list(questions)), data)


def outcomes(judged: pd.DataFrame) -> pd.DataFrame:
    """How many replies of each condition (rows, "all" last) had each outcome (columns, "calls" first)."""
    counts = pd.crosstab(judged["condition"].astype(str), judged["outcome"].astype(str))
    counts.loc["all"] = counts.sum()
    counts.insert(0, "calls", counts.sum(axis=1))
    return counts
