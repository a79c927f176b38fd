"""All numbers of experiment 2 in one list, what they say of each judge, and what was put into simulated ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean

import numpy as np
import pandas as pd

from ... import frames
from ...stats.power import provable_margin, questions_for
from ...stats.standing import size
from ...types import Estimate
from ...words import CardLine, Headline, card_line, display_name, headline as headline_of, lines, listed, sentence
from ..losses import loss_change, loss_words
from ..planted import Asked, Planted, mean_by, planted_table, top_chances, trait
from ..protocol import measure_all, pick, share_lines
from ..top_choice.measured import vendor_of
from . import groups, paired
from .asked import CONTROL
from .paired import ARM, CONFIRMATORY, LEVEL


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """Of published judgments those that this experiment is about: the groups under all hints, and the blind one.

    Blind judgments alone are a ValueError.
    """
    if set(frame["condition"]) <= {CONTROL}:
        raise ValueError(
            "all of these judgments are blind, so there is no hint to compare them with; notebook 01_mt_bench_blind is "
            "about such judgments"
        )
    return frame


def measure(frame: pd.DataFrame, data: str, seed: int, margin_pp: float) -> list[Estimate]:
    """Every estimate of the experiment from one frame of judgments; `data` says where the verdicts are from.

    A frame without any reply is a ValueError; replies without a valid ranking give numbers that are NaN.
    """
    frames.require_result(frame, (frame["top"] == 1.0).any(), "no valid ranking")
    estimators = (
        *(groups.group_metrics, paired.hint_effect, paired.hint_bounds, loss_change, paired.category_hint_effect),
        *(paired.name_effect, paired.change_rate, groups.spread_change),
    )
    return measure_all(estimators, frame, data, seed=seed, margin_pp=margin_pp)


def finding(estimates: Sequence[Estimate], margin_pp: float) -> str:
    """The bottom line of each hint: different, equivalent or inconclusive, and what it would take to know.

    After that the effects on single vendors that Benjamini and Hochberg's correction leaves, and what was lost.
    """
    averages, verdicts = paired.averages(estimates), paired.conclusions(estimates)
    if not averages:
        return f"None of the hints {', '.join(CONFIRMATORY)} was given: no conclusion was planned for any other."
    tests = max(1, sum(not math.isnan(each.p) for each in paired.averages(estimates, "hint_effect_90").values()))
    points = []
    for hint, each in averages.items():
        notes = [each.test] if each.test else []
        if verdicts[hint] == "equivalent":
            notes.append(f"changes nothing that matters (**equivalent** within ±{margin_pp:g} pp)")
        elif verdicts[hint] == "inconclusive" and not math.isnan(each.estimate.low):
            takes = _questions(each.estimate, margin_pp, tests)
            notes.append(f"**inconclusive**: to show equivalence within ±{margin_pp:g} pp takes about {takes}")
        notes += _cases(estimates, hint, verdicts[hint], each.estimate, margin_pp)
        points.append(replace(each, test="; ".join(notes)))
    found = paired.concluded(estimates, "hint_effect")
    leads = [each for each in found if each.estimate.where["vendor"] != "average" and each.p < LEVEL]
    lost = loss_words([each for each in estimates if each.id == "loss_change" and each.where["condition"] in averages])
    return "\n".join(filter(None, [lines(points, "judges"), lines(leads, "single vendors"), lost and f"\n{lost}"]))


def _cases(estimates: Sequence[Estimate], hint: str, verdict: str, each: Estimate, margin_pp: float) -> Iterator[str]:
    """What lost verdicts would have to be for another conclusion: nothing where even the worst case changes none."""
    for bound in pick(estimates, "hint_effect_bound", hint=hint, vendor="average"):
        apart = bound.low > 0 or bound.high < 0
        changed = {
            "different": not (apart and bound.value * each.value > 0),
            "equivalent": abs(bound.value) > margin_pp / 100,
            "inconclusive": apart,
        }
        words = ("all", "none") if bound.where["bound"] == "high" else ("none", "all")
        lost = zip(words, re.findall(r"(\d+) (?:under|blind)", bound.method), ("under it", "blind"), strict=True)
        cases = [f"{word} of the {n} verdicts lost {where}" for word, n, where in lost if n != "0"]
        if cases and changed[verdict] and not math.isnan(bound.low):
            yield f"if {' and '.join(cases)} were for the own vendor, the change would be {bound}"


def _questions(each: Estimate, margin_pp: float, tests: int) -> str:
    """How many questions equivalence takes in 80 % of runs if nothing differs, for one test and after Holm."""
    levels, facts = (LEVEL, LEVEL / tests), (each.se, each.clusters, margin_pp / 100)
    counts = [questions_for(*facts, provable_margin, level=level) for level in levels]
    words = [f"{n:,.0f}" if math.isfinite(n) else "more than anybody has" for n in counts]
    return f"{words[0]} questions" + (f" ({words[1]} after Holm)" if tests > 1 else "")


#: Over so many deals of the names to one set of answers their effect is averaged.
DEALS = 20


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    """A row a hint, as the average over vendors, then the name alone, by vendor."""
    own, names = _truths(asked, {model.name: model.vendor for model in asked.experiment.candidates})
    traits = {judge.vendor: judge.traits for judge in asked.experiment.judges}
    sizes = {v: f"{each.get('hint_effect', 0.0):+g}" if each.get("hint_effect") else "0" for v, each in traits.items()}
    sizes["average"] = ", ".join(f"{display_name(vendor)} {size}" for vendor, size in sizes.items())
    chosen = {"hint_effect": own, "name_effect": {(ARM, vendor): effect for vendor, effect in names.items()}}
    for each in estimates:
        hint, vendor = each.where.get("hint", ARM), each.where.get("vendor", "")
        shown = each.id == "name_effect" or (vendor == "average" and hint in CONFIRMATORY)
        if each.id in chosen and shown and (hint, vendor) in chosen[each.id]:
            what = "a name alone" if each.id == "name_effect" else f"hint *{hint}*"
            whom = "average over vendors" if vendor == "average" else f"{display_name(vendor)} judges"
            yield Planted(what, whom, sizes[vendor], chosen[each.id][hint, vendor], each)


planted = partial(planted_table, "hinting", rows=_rows, families=paired.confirmatory)


def _truths(asked: Asked, makers: Mapping[str, str]) -> tuple[Mapping[tuple, float], Mapping[str, float]]:
    """By hint and vendor how much more often its judges put it first than blind; by vendor what its name does."""
    tops, effects, rng = [], [], np.random.default_rng(0)
    for judgment in (each for each in asked.judgments if not each.trial.request.repeat):
        trial, vendor = judgment.trial, judgment.trial.judge.vendor
        felt, named = map(np.array, asked.simulator.before_noise(trial.request))
        noise, mine = trait(judgment, "noise", 1.0), np.array([makers.get(name) == vendor for name in trial.shown])
        if trial.condition == ARM and 0 < named.sum() < len(named):
            # Names are dealt at random: what they happen to meet in this run is none of their effect.
            worth, dealt = trait(judgment, "hint_effect", 0.0), rng.permuted(np.tile(named, (DEALS, 1)), axis=1)
            blind, first = (top_chances(felt - worth * named + worth * bonus, noise) for bonus in (0 * dealt, dealt))
            more = ((first - blind) * dealt).sum(axis=1).mean()
            effects.append(((vendor,), more / named.sum() + more / (~named).sum()))
        else:
            tops.append(((trial.condition, vendor), float(top_chances(felt, noise) @ mine)))
    means, names = mean_by(tops), {vendor: value for (vendor,), value in mean_by(effects).items()}
    plain = {vendor: value for (hint, vendor), value in means.items() if hint == CONTROL}
    own = {(hint, v): value - plain[v] for (hint, v), value in means.items() if hint != CONTROL and v in plain}
    for hint in {hint for hint, _ in own}:
        own[hint, "average"] = fmean(value for (each, _), value in own.items() if each == hint)
    return own, names | ({"average": fmean(names.values())} if names else {})


NAME, UNREADABLE = "name effect", "unreadable"


def card(estimates: Sequence[Estimate], vendors: Mapping[str, str] | None = None) -> list[CardLine]:
    """Whether each judge prefers its own vendor by name, and how many verdicts were unreadable; of one source of data.

    The name effect is that of all judges of a vendor, its verdict by Holm's p over hints and vendors together. Needs
    the arm `swapped`; published counts have none, and no lines. `vendors` as in experiment 1's card.
    """
    named, parts = {e.estimate.where["vendor"]: e for e in paired.concluded(estimates, "name_effect")}, []
    for judge in (each.where["judge"] for each in pick(estimates, "name_effect_by_judge")):
        if vendor := vendor_of(judge, named, vendors):
            parts.append(card_line(judge, NAME, [named[vendor]]))
    lost = [each for each in estimates if "judge" in each.where]
    return [*parts, *share_lines("hinting", lost, "unreadable_share", UNREADABLE, "hints")]


def headline(estimates: Sequence[Estimate]) -> Headline | None:
    """Which hints change how often judges put their own vendor first, of estimates from one source of data.

    The hint with the smallest p after correction carries it. Published margins have no p: the largest change does, and
    the sentence says what they leave open. None without any hint.
    """
    bare = pick(estimates, "hint_change", vendor="average")
    averages = paired.averages(estimates)
    if bare:
        each = max(bare, key=size)
        ends = sorted(100 * e.value for e in bare)
        moved = " to ".join(f"{end:+.1f}" for end in dict.fromkeys((ends[0], ends[-1])))
        text = f"named authors moved own first places by {moved} pp on average; how many verdicts changed was not "
        text += "published, so that neither an effect nor its absence is shown"
        return Headline(sentence(text, each.data), each)
    head = headline_of([*averages.values()], "the hint {hint}", subject="naming authors")
    same = [hint for hint, verdict in paired.conclusions(estimates).items() if verdict == "equivalent"]
    return replace(head, sentence=f"{head.sentence[:-1]}; equivalent: {listed(same)}.") if head and same else head
