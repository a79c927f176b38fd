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
from ..stats.intervals import MIN_CLUSTERS, Interval, clustered, clustered_mean, estimate, no_interval
from ..stats.power import detectable_effect, detectable_mcnemar
from ..stats.standing import size, standing
from ..stats.tests import holm
from ..types import Estimate, Judgment, Trial
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
        rows.append((*_place(trial), outcome, sign, points, model))
    return coded(rows, COLUMNS, ["sign", "points"])


def _place(trial: Trial) -> tuple[Any, ...]:
    where = (trial.where["first"], trial.where["target"], trial.request.repeat)
    return (trial.question_id, trial.condition, *where)


def complete(judgments: Sequence[Judgment]) -> list[Judgment]:
    """The judgments of the questions of which no reply is missing: what an audit that stopped half-way concludes on."""
    cut = {each.trial.question_id for each in judgments if each.outcome == "missing"}
    return [each for each in judgments if each.trial.question_id not in cut]


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
    found["length"] = _differences(at.get("length", nothing), ["question", "repeat"], "first", "padded", "short")
    found["wrong"] = _differences(at.get("wrong", nothing), ["question", "repeat"], "first", "right", "wrong")
    for name in ("authority", "bandwagon", "names", "injected"):
        rows = at.get(name, nothing)
        beside = np.where(rows["target"].astype(str) == rows["first"].astype(str), "here", "there")
        found[name] = _differences(rows.assign(beside=beside), ["question", "first"], "beside", "here", "there")
    scores = at.get("anchor", nothing)
    scores = scores.assign(sign=scores["points"])
    found["anchor"] = _differences(scores, ["question"], "target", "high", "low", scale=100.0)
    found["reworded"] = wordings(judged)[["question", "value"]]
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


def wordings(judged: pd.DataFrame) -> pd.DataFrame:
    """What other words of the instruction change, a row a question and order.

    Columns: `question`; `one` and `two`, (3,) counts of verdicts under the usual and the other words; `value`, how much
    more often they differ across wordings than within; where each wording was asked once, how often across them. NaN
    where a verdict could not be read. `again`: whether two askings in the usual words differ, NaN without two.
    """
    rows = judged[judged["condition"].isin(["plain", "reworded"])].astype({"question": str, "first": str})
    groups = rows.groupby(["question", "first"], sort=True)
    other, signs = (rows["condition"] == "reworded").to_numpy(), np.array([*LABELS])
    counts = np.zeros((groups.ngroups, 2, len(signs)))
    np.add.at(counts, (groups.ngroup().to_numpy(), other.astype(int)), rows["sign"].to_numpy(float)[:, None] == signs)
    one, two = counts[:, 0], counts[:, 1]
    n, m, steady = one.sum(axis=1), two.sum(axis=1), not (rows["repeat"][other] > 0).any()
    with np.errstate(invalid="ignore"):
        values = 1 - (one * two).sum(axis=1) / (n * m) if steady else measured.excess(one, two)
    again = np.where(n > 1, one.max(axis=1, initial=0) < 2, np.nan)
    units = {"question": [question for question, _ in groups.groups], "one": [*one], "two": [*two], "value": values}
    return pd.DataFrame({**units, "again": again, "steady": steady})


def _reworded(judged: pd.DataFrame, seed: int) -> Interval:
    """The interval of the instruction probe with its one-sided p, by dealing verdicts anew or by Fisher's test."""
    units = wordings(judged)
    kept = units.dropna(subset="value")
    if kept.empty:
        return no_interval(math.nan, 0, 0, NO_BLOCK)
    if not kept["steady"].all():
        interval = clustered_mean(kept["value"].astype(float), kept["question"])
        p = measured.relabelled(np.stack(kept["one"]), np.stack(kept["two"]), seed)
        return replace(interval, p=p, method=f"{interval.method}; one-sided p by dealing verdicts anew")
    sides = kept.groupby("question")[["value", "again"]]
    interval = clustered(sides.sum().to_numpy(float), sides.count().to_numpy(float), (1.0, -1.0), null=None)
    if math.isnan(interval.value):  # nothing was asked again
        return interval
    from scipy.stats import fisher_exact

    changed = sides.max() > 0
    counts = [[int(changed[side].sum()), int((sides.max()[side] == 0).sum())] for side in ("value", "again")]
    method = f"{interval.method}; one-sided p of Fisher's test"
    p, effective = float(fisher_exact(counts, alternative="greater").pvalue), float(len(sides))
    return replace(interval, p=p, n=len(kept), effective=effective, method=method)


def measure(judged: pd.DataFrame, judge: str, data: str, seed: int) -> list[Estimate]:
    """One estimate a probe, in the order of PROBES, clustered by question; `n` counts matched comparisons.

    p is that of sign flips over questions (of the instruction that of `wordings`); NaN where no test at the level of
    Holm's first step is possible.
    """
    found = []
    for name, each in blocks(judged).items():
        kept = each.dropna(subset="value")
        flips = (kept["value"].astype(float), kept["question"], seed, NO_BLOCK, LEVEL)
        interval = _reworded(judged, seed) if name == "reworded" else both_orders.sign_flip_interval(*flips)
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
    probed = blocks(judged)
    planted = probed["injected"].dropna()
    errors = judged[(judged["condition"] == "wrong") & judged["sign"].notna()]
    noticed = errors["sign"] * np.where(errors["first"] == "right", 1, -1) > 0
    return [
        mean("repeat_disagreement", changed, changed.index.get_level_values("question")),
        mean("order_disagreement", ~both["agree"], both["question_id"]),
        replace(flipped[0], where=where) if flipped else missing,
        mean("identical_tie_share", same["sign"] == 0, same["question"]),
        estimate("quality_gap_accuracy", where, interval, data),
        mean("injection_follow_rate", planted["value"] == 1, planted["question"]),
        mean("error_sensitivity", noticed, errors["question"]),
    ]


def outcomes(judged: pd.DataFrame) -> pd.DataFrame:
    """How many replies of each condition (rows, "all" last) had each outcome (columns, "calls" first)."""
    counts = pd.crosstab(judged["condition"].astype(str), judged["outcome"].astype(str))
    counts.loc["all"] = counts.sum()
    counts.insert(0, "calls", counts.sum(axis=1))
    return counts


#: What can be said, by the verdict of the judge card; a hint is no bias shown, and what is as it should be is no bias.
SAID = {"bias": "biased", "hint": "no bias shown", "not shown": "no bias shown", "untold": "cannot tell"}
SAID |= {"described": "noticed"}
#: What a reader must not miss first.
WORST = ("bias", "hint", "untold", "not shown", "described")
POWER = 0.8
#: Below this share of readable comparisons what is left is a selection, of which nothing is said.
LEAST_READABLE = 0.5
#: From this share on a judge that does not tell answers apart is said to name one place or letter whatever they say.
HABIT = 0.8
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
        """The verdict in the words of the card."""
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
        smallest, moved = _detectable(
            each.clusters, each.se, each.df, kept, wordings(judged) if name == "reworded" else None
        )
        if verdict in ("not shown", "hint") and smallest > 1:  # no effect is that large
            verdict, words, short = "untold", *_why("too_unsure", clusters=each.clusters)
        if verdict in ("not shown", "hint"):
            if PROBES[name].wanted:  # no fault, and no proof of what is wanted
                verdict, words = "untold", f"it is not shown that it {PROBES[name].does(1)}"
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


def reads(beside: Sequence[Estimate]) -> bool:
    """Whether it is shown that the judge tells an answer to the question from one to another question."""
    return next(each for each in beside if each.id == "quality_gap_accuracy").low > 0.5


def habit(judged: pd.DataFrame, beside: Sequence[Estimate]) -> tuple[str, str, float]:
    """By what a judge that does not read answers: "place" or "letter", which, in which share; ("", "", NaN) for none.

    Over the same pairs under their usual letters and under exchanged ones, which tells place and letter apart.
    """
    rows = judged[judged["sign"].notna() & (judged["repeat"] == 0)]
    usual, exchanged = (rows["sign"][rows["condition"] == name] for name in ("plain", "letters"))
    if reads(beside) or usual.empty or exchanged.empty:
        return "", "", math.nan
    won = {sign: ((usual == sign).mean(), (exchanged == sign).mean()) for sign in (1, -1)}
    shares = {
        ("place", "the first"): sum(won[1]) / 2,
        ("place", "the second"): sum(won[-1]) / 2,
        ("letter", "A"): (won[1][0] + won[-1][1]) / 2,
        ("letter", "B"): (won[-1][0] + won[1][1]) / 2,
    }
    most = max(shares, key=lambda each: shares[each])
    return (*most, float(shares[most])) if shares[most] >= HABIT else ("", "", math.nan)


def _verdict(
    name: str, each: Estimate, p: float, asked: int, judged: pd.DataFrame, beside: Sequence[Estimate]
) -> tuple[CardVerdict, str, str]:
    """The verdict on one probe, why, and that in short."""
    probe, verdict = PROBES[name], standing(each, p)
    if name == "reworded" and each.value < 0 and verdict in ("bias", "hint"):
        verdict = "not shown"
    words, (kind, which, share) = probe.does(each.value), habit(judged, beside)
    if each.n < LEAST_READABLE * asked or not asked:
        return "untold", *_why("few_read", n=each.n, asked=asked)
    # The first place bears the letter A: what a judge of letters says of places is said of letters.
    if kind and not (verdict == "bias" and name in {"letter": ("letters",), "place": ("order", "identical")}[kind]):
        return "untold", *_why("habit", kind=kind, which=which, share=f"{100 * share:.0f} %")
    if verdict == "bias":
        return ("described" if probe.wanted and each.value > 0 else verdict), words, ""
    if each.clusters < MIN_CLUSTERS:
        return "untold", *_why("few_questions", clusters=each.clusters, least=MIN_CLUSTERS)
    if not reads(beside):
        accuracy = next(each for each in beside if each.id == "quality_gap_accuracy")
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


def _detectable(
    clusters: int, se: float, df: float, kept: pd.DataFrame, units: pd.DataFrame | None = None
) -> tuple[float, float]:
    """`Finding.smallest` and `Finding.moved`, at the level of Holm's first step.

    By t; but of few questions that move enough must do so for a sign flip: their mean size times the share that
    McNemar's test needs, or Fisher's where a judge is asked again on a tenth of the questions (`units` of `wordings`).
    """
    if clusters < MIN_CLUSTERS:
        return math.nan, math.nan
    share, sizes = detectable_mcnemar(clusters, 0, POWER, LEVEL), kept.groupby("question")["value"].mean().abs()
    if units is not None and units["steady"].all():
        again = units.groupby("question")["again"].max().dropna()
        share = detectable_change(clusters, len(again), int(again.sum()))
    if (moved := sizes[sizes > 0]).empty:
        return math.nan, share
    return max(detectable_effect(se, df, POWER, LEVEL), share * float(moved.mean())), math.nan


def detectable_change(n: int, m: int, again: int) -> float:
    """The smallest share of n questions that change under other words which Fisher's test finds with POWER.

    `again` of m change when asked again. 2 where not even all n would do.
    """
    from scipy.stats import beta, hypergeom

    least = next((k for k in range(1, n + 1) if hypergeom.sf(k - 1, n + m, k + again, n) <= LEVEL), None)
    return 2.0 if least is None else float(beta.ppf(POWER, least, n - least + 1))


#: Of a judge that tosses coins: how many questions are drawn of it, and by how many points of 100 its scores scatter.
DRAWN, SCATTER = 480, 10.0


def outlook(asked: Sequence[Trial], seed: int) -> dict[str, tuple[float, float]]:
    """Before anything is asked, what POWER of such audits find in each probe: of a steady judge and of an unsure one.

    Of one that never wavers the least share of questions that must move, and the smallest effect in one that tosses a
    coin wherever answers are close and whose scores scatter by SCATTER points; real ones lie between. NaN where a
    probe is not asked.
    """
    rng, table = np.random.default_rng(seed), pd.DataFrame(map(_place, asked), columns=[*COLUMNS[:5]])
    copies, found = max(1, DRAWN // table["question"].nunique()), dict[str, tuple[float, float]]()
    again = wordings(table.assign(sign=0.0))
    many = pd.concat([table.assign(question=table["question"] + f" {copy}") for copy in range(copies)])
    sign, points = rng.choice([-1.0, 1.0], len(many)), 50 + SCATTER * rng.normal(size=len(many))
    sign[(many["condition"] == "anchor").to_numpy()] = math.nan
    for name, each in blocks(many.assign(outcome="ok", sign=sign, points=points)).items():
        means, units = each.groupby("question")["value"].mean(), again if name == "reworded" else None
        clusters = len(means) // copies
        se = float(means.std()) / math.sqrt(max(1, clusters))
        most, _ = _detectable(clusters, se, clusters - 1, each, units)
        found[name] = (_detectable(clusters, se, clusters - 1, each.assign(value=0.0), units)[1], most)
    return found


def percent(share: float) -> int:
    """A share in whole hundredths, rounded up: a smaller effect than this is found less often than told.

    >>> percent(0.301), percent(0.31)
    (31, 31)
    """
    return math.ceil(100 * share - 1e-9)


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Biases first, the largest on top; what cannot be told before what is fine."""
    return sorted(findings, key=lambda each: (WORST.index(each.verdict), -size(each.estimate), each.probe))


def bottom_line(findings: Sequence[Finding], judge: str, data: str, answers_by: str = "") -> str:
    """One sentence: which effects the audit can see, in how many probes the judge is biased, and what of the others.

    `answers_by` is what is to be said of a judge's habit of places or letters.
    """
    ordered = worst_first(findings)
    suspected = [each for each in ordered if not PROBES[each.probe].wanted]
    count = len(suspected)
    biased, clear, unclear = (
        [each.title for each in suspected if each.in_words == words]
        for words in dict.fromkeys(SAID.values(), 0)
        if words != SAID["described"]
    )
    hints = [each.title for each in suspected if each.verdict == "hint"]
    hinted = f", in {listed(hints)} a hint" if hints else ""
    shown, unknown = (
        each and (f"any of {count} probes" if len(each) == count else f"{len(each)} ({listed(each)})")
        for each in (clear, unclear)
    )
    parts = [
        answers_by,
        f"biased in {len(biased)} of {count} probes ({listed(biased)})" if biased else "",
        f"no bias shown in {shown}{hinted}" if shown else "",
        f"nothing can be told of {unknown}" if unknown else "",
        *(WORDS["wanted"][each.verdict] for each in ordered if PROBES[each.probe].wanted),
    ]
    return sentence(f"the audit of {judge} {_visible(suspected)}: {'; '.join(filter(None, parts))}", data)


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
