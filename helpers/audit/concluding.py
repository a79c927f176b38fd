"""What may be said of a judge: biased, no bias shown (and what would have been found), or nothing; computed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from helpers.audit.measuring import LEVEL, blocks
from helpers.audit.probes import PROBES
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect, detectable_mcnemar
from helpers.stats.standing import size, standing
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words import CardLine, listed, sentence

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
