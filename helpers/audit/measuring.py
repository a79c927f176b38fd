"""From judgments to numbers and to what may be said of a judge: one signed effect a probe."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ..biases.position import both_orders, measured
from ..biases.position.both_orders import pairs, valid
from ..frames import GAMES, coded
from ..stats.intervals import MIN_CLUSTERS, clustered_mean, estimate, no_interval
from ..stats.power import detectable_effect, detectable_mcnemar
from ..stats.standing import size, standing
from ..stats.tests import holm
from ..types import Estimate, Judgment
from ..words import CardVerdict, listed, sentence
from .asking import NAME, PROBES, TIE, WORDS

COLUMNS = ("question", "condition", "first", "target", "repeat", "outcome", "sign", "points", "model")
LEVEL = both_orders.LEVEL / len(PROBES)
NO_BLOCK = "no comparison whose verdicts could all be read"
#: Verdicts in the terms of the position frames, by what they say of the answer shown first.
LABELS = {1: "A>B", 0: "A=B", -1: "B>A"}


def table(judgments: Iterable[Judgment]) -> pd.DataFrame:
    """One row a judgment (columns: COLUMNS).

    `sign` is 1 where the answer shown first won, -1 where the second did, 0 for a tie; `points` is the score; both are
    NaN where there is none. `model` is the id that the provider returned.
    """
    rows = []
    for each in judgments:
        trial, verdict = each.trial, each.verdict
        sign = points = math.nan
        if verdict and verdict.choice is not None:
            sign = 0.0 if verdict.choice == TIE else (1.0, -1.0)[trial.labels.index(verdict.choice)]
        elif verdict and verdict.number is not None and 0 <= verdict.number <= 100:
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
    at = {name: judged[judged["condition"] == name] for name in judged["condition"].unique()}
    nothing = judged[:0]
    orders, same = pairs(_games(judged, "plain")), at.get("identical", nothing)
    # Both orders of a repeat: 1 where the first place won both, -1 where the second did.
    value = both_orders.signed(orders).where(orders["kind"] != "invalid")
    found = {
        "order": pd.DataFrame({"question": orders["question_id"].astype(str), "value": value}),
        "identical": pd.DataFrame({"question": same["question"].astype(str), "value": same["sign"]}),
    }
    usual = judged[(judged["condition"] == "letters") | ((judged["condition"] == "plain") & (judged["repeat"] == 0))]
    found["letters"] = _differences(usual, ["question", "first"], "condition", "plain", "letters")
    found["length"] = _differences(at.get("length", nothing), ["question"], "first", "padded", "short")
    for name in ("authority", "bandwagon", "names"):
        rows = at.get(name, nothing)
        beside = np.where(rows["target"].astype(str) == rows["first"].astype(str), "here", "there")
        found[name] = _differences(rows.assign(beside=beside), ["question", "first"], "beside", "here", "there")
    scores = at.get("anchor", nothing)
    scores = scores.assign(sign=scores["points"])
    found["anchor"] = _differences(scores, ["question"], "target", "high", "low", scale=100.0)
    return {name: found[name].reset_index(drop=True) for name in PROBES}


def _differences(
    rows: pd.DataFrame, index: list[str], by: str, one: str, other: str, scale: float = 2.0
) -> pd.DataFrame:
    """What the verdicts of one version say beyond those of the other, as a share of the scale, a row a comparison."""
    wide = _wide(rows, index, by).reindex(columns=[one, other])
    return ((wide[one] - wide[other]) / scale).rename("value").reset_index()[["question", "value"]]


def _wide(rows: pd.DataFrame, index: list[str], by: str) -> pd.DataFrame:
    """The verdicts of one condition, a row a comparison and a column a version; a missing one is NaN."""
    return rows.astype(dict.fromkeys([*index, by], str)).set_index([*index, by])["sign"].unstack(by)


def _games(judged: pd.DataFrame, condition: str) -> pd.DataFrame:
    """Rows of one condition as the games frame, in which "one" is the baseline and "two" the candidate."""
    rows = []
    for each in judged[judged["condition"] == condition].itertuples():
        label, first = LABELS.get(each.sign), "baseline" if each.first == "one" else "candidate"
        asked = (NAME, "asked", each.question, "", "judge", "", None, "candidate", "", "baseline")
        rows.append((*asked, "none", first, each.repeat, 2, label, label, each.outcome))
    return coded(rows, GAMES)


def measure(judged: pd.DataFrame, judge: str, data: str, seed: int) -> list[Estimate]:
    """One estimate a probe, in the order of PROBES, clustered by question; `n` counts matched comparisons.

    p is that of sign flips over questions; NaN where no test at the level of Holm's first step is possible.
    """
    found = []
    for name, each in blocks(judged).items():
        kept = each.dropna(subset="value")
        interval = both_orders.sign_flip_interval(kept["value"].astype(float), kept["question"], seed, NO_BLOCK, LEVEL)
        found.append(estimate(PROBES[name].id, {"judge": judge}, interval, data, "pp"))
    return found


def described(judged: pd.DataFrame, judge: str, data: str, seed: int) -> list[Estimate]:
    """What the judge does where nothing is manipulated; none of it is tested for the verdicts."""
    where, orders = {"judge": judge}, pairs(_games(judged, "plain"))

    def mean(id: str, values: pd.Series, questions: Iterable[Any]) -> Estimate:
        if not len(values):
            return estimate(id, where, no_interval(math.nan, 0, 0, NO_BLOCK), data)
        return estimate(id, where, clustered_mean(values.astype(float), list(questions)), data)

    again = _wide(judged[judged["condition"] == "plain"], ["question", "first"], "repeat").dropna()
    changed = (again.iloc[:, 0] != again.iloc[:, -1]) if again.shape[1] == 2 else again.iloc[:, 0][:0]
    both = valid(orders)
    flipped = measured.excess_flip(orders, data, seed)
    missing = estimate("excess_flip", where, no_interval(math.nan, 0, 0, measured.NEEDS_REPEAT), data, "pp")
    same, gap = (judged[(judged["condition"] == name) & judged["sign"].notna()] for name in ("identical", "gap"))
    won = gap["sign"] * np.where(gap["first"] == "good", 1, -1) > 0
    interval = both_orders.share(gap.rename(columns={"question": "question_id"}), won, reason="no readable verdict")
    return [
        mean("repeat_disagreement", changed, changed.index.get_level_values("question")),
        mean("order_disagreement", ~both["agree"], both["question_id"]),
        replace(flipped[0], where=where) if flipped else missing,
        mean("identical_tie_share", same["sign"] == 0, same["question"]),
        estimate("quality_gap_accuracy", where, interval, data),
    ]


def outcomes(judged: pd.DataFrame) -> pd.DataFrame:
    """How many replies of each condition (rows, "all" last) had each outcome (columns, "calls" first)."""
    counts = pd.crosstab(judged["condition"].astype(str), judged["outcome"].astype(str))
    counts.loc["all"] = counts.sum()
    counts.insert(0, "calls", counts.sum(axis=1))
    return counts


#: The three things that can be said, by the verdict of the judge card; a hint is no bias shown.
SAID = {"bias": "biased", "hint": "no bias shown", "not shown": "no bias shown", "untold": "cannot tell"}
#: What a reader must not miss first.
WORST = ("bias", "hint", "untold", "not shown")
POWER = 0.8
#: Below this share of readable comparisons what is left is a selection, of which nothing is said.
LEAST_READABLE = 0.5
#: So many questions are named on which a bias shows most.
NAMED = 3


@dataclass(frozen=True)
class Finding:
    """What one probe found: its number with Holm's `p`, one of SAID's `verdict`s, and why in `words` and in `short`.

    `smallest` is the smallest effect that would have been found with POWER; `moved` the same as a share of questions,
    where not one question moved (else NaN). `read` of `asked` comparisons could be read; `examples`: where a bias shows
    most.
    """

    probe: str
    estimate: Estimate
    verdict: CardVerdict
    words: str
    p: float
    smallest: float
    moved: float
    read: int
    asked: int
    short: str = ""
    examples: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """The verdict in the three words of the card."""
        return SAID[self.verdict]

    @property
    def title(self) -> str:
        """What the probe is called."""
        return PROBES[self.probe].title


def conclude(judged: pd.DataFrame, estimates: Sequence[Estimate], beside: Sequence[Estimate]) -> list[Finding]:
    """A finding a probe, in the order of PROBES, from the table, its `measure` and its `described`.

    A null result counts only where the judge reads: it must tell an answer to the question from one to another
    question, and its scores must not all be the same.
    """
    found, corrected = [], holm([each.p for each in estimates])
    for (name, values), each, p in zip(blocks(judged).items(), estimates, map(float, corrected), strict=True):
        kept = values[values["value"].notna()]
        verdict, words, short = _verdict(name, each, p, len(values), judged, beside)
        smallest, moved = _detectable(each, kept)
        if verdict in ("not shown", "hint") and smallest > 1:  # no effect is that large
            verdict, words, short = "untold", *_why("too_unsure", clusters=each.clusters)
        if verdict in ("not shown", "hint"):
            effect = f"an effect of {percent(smallest)} pp" if math.isnan(moved) else ""
            effect = effect or f"a bias that moves {percent(moved)} % of questions"
            words = f"{words}; {effect} would have been found in {100 * POWER:.0f} % of audits"
        leaning = kept.groupby("question")["value"].mean() * math.copysign(1, each.value)
        furthest = leaning[leaning > 0].sort_values(ascending=False, kind="stable").index[:NAMED]
        examples = tuple(furthest) if verdict == "bias" else ()
        found.append(Finding(name, each, verdict, words, p, smallest, moved, len(kept), len(values), short, examples))
    return found


def _why(reason: str, **values: object) -> tuple[str, str]:
    """Why a probe has its verdict, as a sentence and in short."""
    words, short = WORDS["why"][reason]
    return words.format(**values), short.format(**values)


def _verdict(
    name: str, each: Estimate, p: float, asked: int, judged: pd.DataFrame, beside: Sequence[Estimate]
) -> tuple[CardVerdict, str, str]:
    """The verdict on one probe, why, and that in short."""
    probe, verdict = PROBES[name], standing(each, p)
    words = probe.above if each.value > 0 else probe.below
    if each.n < LEAST_READABLE * asked or not asked:
        return "untold", *_why("few_read", n=each.n, asked=asked)
    if verdict == "bias":
        return verdict, words, ""
    if each.clusters < MIN_CLUSTERS:
        return "untold", *_why("few_questions", clusters=each.clusters, least=MIN_CLUSTERS)
    accuracy = next(each for each in beside if each.id == "quality_gap_accuracy")
    if name != "anchor" and not accuracy.low > 0.5:
        read = f"{accuracy}, {accuracy.n} pairs" if accuracy.n else "no verdict on such a pair could be read"
        return "untold", *_why("does_not_read", accuracy=read)
    points = judged["points"].dropna()
    if name == "anchor" and len(points) > 1 and points.nunique() == 1:
        return "untold", *_why("one_score", points=points.iloc[0])
    if verdict == "hint":
        return verdict, *_why("hint", words=words)
    if math.isnan(each.low) and each.value == 0:
        return "not shown", *_why("unmoved", clusters=each.clusters)
    return (verdict, *_why("null")) if verdict == "not shown" else (verdict, each.method, "")


def _detectable(each: Estimate, kept: pd.DataFrame) -> tuple[float, float]:
    """`Finding.smallest` and `Finding.moved`, at the level of Holm's first step.

    By t; but of few questions that move enough must do so for a sign flip: their mean size times the share that
    McNemar's test needs.
    """
    if each.clusters < MIN_CLUSTERS:
        return math.nan, math.nan
    share, sizes = detectable_mcnemar(each.clusters, 0, POWER, LEVEL), kept.groupby("question")["value"].mean().abs()
    if (moved := sizes[sizes > 0]).empty:
        return math.nan, share
    return max(detectable_effect(each.se, each.df, POWER, LEVEL), share * float(moved.mean())), math.nan


def percent(share: float) -> int:
    """A share in whole hundredths, rounded up: a smaller effect than this is found less often than told.

    >>> percent(0.301), percent(0.31)
    (31, 31)
    """
    return math.ceil(100 * share - 1e-9)


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Biases first, the largest on top; what cannot be told before what is fine."""
    return sorted(findings, key=lambda each: (WORST.index(each.verdict), -size(each.estimate), each.probe))


def bottom_line(findings: Sequence[Finding], judge: str, data: str) -> str:
    """One sentence: which effects the audit can see, in how many probes the judge is biased, and what of the others."""
    count, ordered = len(findings), worst_first(findings)
    biased, *rest = ([each.title for each in ordered if each.in_words == said] for said in dict.fromkeys(SAID.values()))
    hints = [each.title for each in ordered if each.verdict == "hint"]
    hinted = f", in {listed(hints)} a hint" if hints else ""
    clear, unclear = (
        each and (f"any of {count} probes" if len(each) == count else f"{len(each)} ({listed(each)})") for each in rest
    )
    parts = [
        f"biased in {len(biased)} of {count} probes ({listed(biased)})" if biased else "",
        f"no bias shown in {clear}{hinted}" if clear else "",
        f"nothing can be told of {unclear}" if unclear else "",
    ]
    return sentence(f"the audit of {judge} {_visible(findings)}: {'; '.join(filter(None, parts))}", data)


def _visible(findings: Sequence[Finding]) -> str:
    """The effects that probes with a finding can detect, from the most sensitive probe to the least."""
    able = [each for each in findings if each.verdict != "untold"]
    # No effect exceeds 100 pp; the limit of a bias that was found by luck can.
    sizes = [min(percent(each.smallest), 100) for each in able if not math.isnan(each.smallest)]
    shares = [percent(each.moved) for each in able if not math.isnan(each.moved)]
    seen, kinds = [], {"effects above": ("pp", sizes), "biases that move at least": ("% of questions", shares)}
    for words, (unit, values) in kinds.items():
        low, high = min(values, default=0), max(values, default=0)
        span = f"{low} {unit}" if low == high else f"{low} to {high} {unit} (by probe)"
        seen += [f"{words} {span}"] if values else []
    # Of smaller effects some are found, by luck: a bias or a hint in the same sentence may lie below these sizes.
    return (
        f"reliably sees only {', and where no question moved, '.join(seen)}" if seen else "sees no effect of any size"
    )
