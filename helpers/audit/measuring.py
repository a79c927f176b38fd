"""From judgments to numbers and to what may be said of a judge: one signed effect a probe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from helpers.audit.asking import NAME, PROBES, TIE
from helpers.biases.position import both_orders, measured
from helpers.biases.position.both_orders import pairs, valid
from helpers.frames import GAMES, coded
from helpers.stats.intervals import MIN_CLUSTERS, clustered_mean, estimate, no_interval
from helpers.stats.power import detectable_effect, detectable_mcnemar
from helpers.stats.standing import size, standing
from helpers.stats.tests import holm
from helpers.types import Estimate, Judgment
from helpers.words import CardLine, listed, sentence

COLUMNS = ("question", "condition", "first", "target", "repeat", "outcome", "sign", "points", "model")
LEVEL = both_orders.LEVEL / len(PROBES)
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
    value = both_orders.signed(table).where(table["kind"] != "invalid")
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
        interval = both_orders.sign_flip_interval(kept["value"].astype(float), kept["question"], seed, NO_BLOCK, LEVEL)
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
    flipped = measured.excess_flip(table, data, seed)
    missing = estimate("excess_flip", where, no_interval(math.nan, 0, 0, measured.NEEDS_REPEAT), data, "pp")
    found.append(replace(flipped[0], where=where) if flipped else missing)
    same = judged[(judged["condition"] == "identical") & judged["sign"].notna()]
    found.append(_mean("identical_tie_share", where, same["sign"] == 0, same["question"], data))
    gap = judged[(judged["condition"] == "gap") & judged["sign"].notna()]
    won = gap["sign"] * np.where(gap["first"] == "good", 1, -1) > 0
    interval = both_orders.share(gap.rename(columns={"question": "question_id"}), won, "no readable verdict")
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


#: The three things that can be said, by the verdict of the judge card; a hint is no bias shown.
SAID = {"bias": "biased", "hint": "no bias shown", "not shown": "no bias shown", "untold": "cannot be told"}
#: What a reader must not miss first.
WORST = ("bias", "hint", "untold", "not shown")
POWER = 0.8
#: Below this share of readable comparisons what is left is a selection, of which nothing is said.
LEAST_READABLE = 0.5
#: So many questions are named on which a bias shows most.
NAMED = 3


@dataclass(frozen=True)
class Finding:
    """What one probe found: its number with Holm's `p`, one of SAID's `verdict`s, and why in `words`.

    `smallest` is the smallest effect that would have been found with POWER, in the number's unit; `moved` the same as
    a share of questions, where not one question moved and no effect has a size (else NaN). `read` of `asked`
    comparisons could be read. `short` says in a word or two what a figure has no room for. `examples` are the questions
    on which a bias shows most.
    """

    probe: str
    estimate: Estimate
    verdict: str
    words: str
    p: float
    smallest: float
    moved: float
    read: int
    asked: int
    short: str = ""
    examples: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The verdict in the three words of the card."""
        return SAID[self.verdict]

    @property
    def line(self) -> CardLine:
        """The same as a line of the judge card."""
        judge, title = self.estimate.where["judge"], PROBES[self.probe].title
        return CardLine(judge, title, self.estimate, self.verdict, self.words, self.p, self.smallest)


def conclude(judged: pd.DataFrame, estimates: Sequence[Estimate], beside: Sequence[Estimate]) -> list[Finding]:
    """A finding a probe, in the order of PROBES, from the table, its `measure` and its `described`.

    Biased: Holm's p over all probes is below 5 %. A null result counts only where the judge reads: for pairs it must
    tell an answer to the question from one to another question, and its scores must not all be the same.
    """
    found, every = [], blocks(judged)
    corrected = holm([each.p for each in estimates])
    unread = {name: _unread(name, judged, beside) for name in PROBES}
    for name, each, p in zip(PROBES, estimates, map(float, corrected), strict=True):
        values = every[name]
        kept = values[values["value"].notna()]
        verdict, words, short = _told(name, each, p, len(values), unread[name])
        smallest, moved = _detectable(each, kept)
        if verdict in ("not shown", "hint") and smallest > 1:  # no effect is that large
            words = f"{each.clusters} questions that are this unsure are too few: even the largest effect can be missed"
            verdict, short = "untold", "too unsure"
        if verdict in ("not shown", "hint"):
            words = f"{words}; {_found(smallest, moved)}"
        examples = _examples(kept, each.value) if verdict == "bias" else ()
        counts = (len(kept), len(values))
        found.append(Finding(name, each, verdict, words, p, smallest, moved, *counts, short, examples))
    return found


def _told(name: str, each: Estimate, p: float, asked: int, unread: tuple[str, str]) -> tuple[str, str, str]:
    """The verdict on one probe, why, and that in short."""
    probe, verdict = PROBES[name], standing(each, p)
    if each.n < LEAST_READABLE * asked or not asked:
        return "untold", f"only {each.n} of {asked} comparisons could be read", f"{each.n} of {asked} read"
    if verdict == "bias":
        return verdict, probe.above if each.value > 0 else probe.below, ""
    if each.clusters < MIN_CLUSTERS:
        words = f"{each.clusters} questions are too few: {MIN_CLUSTERS} are the least that carry an interval"
        return "untold", words, f"{each.clusters} questions"
    if unread[0]:
        return "untold", *unread
    if verdict == "hint":
        words = probe.above if each.value > 0 else probe.below
        return verdict, f"a hint, which does not stand after correction: {words}", "a hint"
    if math.isnan(each.low) and each.value == 0:  # nothing moved, which is a null result and no lack of one
        return "not shown", f"not one of {each.clusters} questions moved", "no question moved"
    return (verdict, "its interval holds 0", "") if verdict == "not shown" else (verdict, each.method, "")


def _unread(name: str, judged: pd.DataFrame, beside: Sequence[Estimate]) -> tuple[str, str]:
    """Why a null result of a probe would say nothing of this judge, and that in short; "" where it says something."""
    if name == "anchor":
        points = judged["points"].dropna()
        same = len(points) > 1 and points.nunique() == 1
        return (f"it gave every answer the same {points.iloc[0]:g} points", "one score for all") if same else ("", "")
    (gap,) = [each for each in beside if each.id == "quality_gap_accuracy"]
    if gap.low > 0.5:
        return "", ""
    told = f"{gap}, {gap.n} pairs" if gap.n else "no verdict on such a pair could be read"
    words = f"it is not shown to tell an answer to the question from one to another question ({told})"
    return words, "does it read?"


def _detectable(each: Estimate, kept: pd.DataFrame) -> tuple[float, float]:
    """`Finding.smallest` and `Finding.moved`, at the level of Holm's first step.

    By t, which is nearly what sign flips find; but with few questions that move at all, these must become enough for a
    sign flip, which they do at an effect of their mean size times the share of questions that McNemar's test needs.
    """
    if each.clusters < MIN_CLUSTERS:
        return math.nan, math.nan
    sizes = kept.groupby("question")["value"].mean().abs()
    share = detectable_mcnemar(each.clusters, 0, POWER, LEVEL)
    if not (sizes > 0).any():
        return math.nan, share
    by_t = detectable_effect(each.se, each.df, POWER, LEVEL)
    return max(by_t, share * float(sizes[sizes > 0].mean())), math.nan


def _found(smallest: float, moved: float) -> str:
    often = f"would have been found in {100 * POWER:.0f} % of audits"
    if not math.isnan(moved):
        return f"a bias that moves {whole(moved)} % of questions {often}"
    return f"an effect of {whole(smallest)} pp {often}"


def whole(share: float) -> int:
    """A share in whole hundredths, rounded up: a smaller effect than this is found less often than told.

    >>> whole(0.301), whole(0.31)
    (31, 31)
    """
    return math.ceil(100 * share - 1e-9)


def _examples(kept: pd.DataFrame, value: float) -> tuple[str, ...]:
    """The questions that lean furthest to the side of the effect, by name where they lean equally."""
    by = (kept.groupby("question")["value"].mean() * math.copysign(1, value)).sort_values(
        ascending=False, kind="stable"
    )
    return tuple(by[by > 0].index[:NAMED])


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings as a reader wants them: biases first, the largest on top; what cannot be told before what is fine.

    An untold probe is no comfort, so it stands above those in which no bias is shown.
    """
    return sorted(findings, key=lambda each: (WORST.index(each.verdict), -size(each.estimate), each.probe))


def bottom_line(findings: Sequence[Finding], judge: str, data: str) -> str:
    """One sentence: which effects the audit can see, in how many probes the judge is biased, and what of the others."""
    titles: Mapping[str, list[str]] = {said: [] for said in dict.fromkeys(SAID.values())}
    for each in worst_first(findings):
        titles[each.said].append(PROBES[each.probe].title)
    count = len(findings)
    hints = [PROBES[each.probe].title for each in worst_first(findings) if each.verdict == "hint"]
    hinted = f", in {listed(hints)} a hint" if hints else ""
    parts = [
        f"biased in {len(titles['biased'])} of {count} probes ({listed(titles['biased'])})" if titles["biased"] else "",
        f"no bias shown in {_of(titles['no bias shown'], count)}{hinted}" if titles["no bias shown"] else "",
        f"nothing can be told of {_of(titles['cannot be told'], count)}" if titles["cannot be told"] else "",
    ]
    return sentence(f"the audit of {judge} {_visible(findings)}: {'; '.join(filter(None, parts))}", data)


def _visible(findings: Sequence[Finding]) -> str:
    """The effects that probes with a finding can detect, from the most sensitive probe to the least."""
    able = [each for each in findings if each.verdict != "untold"]
    # No effect exceeds 100 pp; the limit of a bias that was found by luck can.
    sizes = [min(whole(each.smallest), 100) for each in able if not math.isnan(each.smallest)]
    shares = [whole(each.moved) for each in able if not math.isnan(each.moved)]
    seen = [f"effects above {_range(sizes, 'pp')}"] if sizes else []
    seen += [f"biases that move at least {_range(shares, '% of questions')}"] if shares else []
    if not seen:
        return "sees no effect of any size"
    # Of smaller effects some are found, by luck: a bias or a hint in the same sentence may lie below these sizes.
    return f"reliably sees only {', and where no question moved, '.join(seen)}"


def _range(values: Sequence[int], unit: str) -> str:
    low, high = min(values), max(values)
    return f"{low} {unit}" if low == high else f"{low} to {high} {unit} (by probe)"


def _of(titles: Sequence[str], count: int) -> str:
    return f"any of {count} probes" if len(titles) == count else f"{len(titles)} ({listed(titles)})"
