"""All numbers of experiment 2 in one list, and the sentences that are computed from them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers import frames
from helpers.biases.hinting import changes, concluding, groups, names, paired
from helpers.biases.hinting.asking import CONTROL
from helpers.biases.hinting.concluding import effect_of
from helpers.biases.hinting.paired import CONFIRMATORY, LEVEL
from helpers.biases.losses import loss_change, loss_words
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.standing import clash, tested
from helpers.types import Estimate
from helpers.words import display_name, p_text

#: What each verdict means in a sentence.
SAID = {
    "different": "**changes** how often judges put their own vendor first",
    "equivalent": "changes nothing that matters (**equivalent** within the margin)",
    "inconclusive": "**inconclusive**: neither a difference nor equivalence is shown",
}


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
    return [
        *groups.group_metrics(frame, data, seed),
        *paired.hint_effect(frame, data, seed, margin_pp),
        *paired.hint_bounds(frame, data),
        *loss_change(frame, data, seed),
        *paired.category_hint_effect(frame, data),
        *names.name_effect(frame, data, seed),
        *changes.change_rate(frame, data),
        *groups.spread_change(frame, data, seed),
    ]


def _who(each: Estimate) -> str:
    """A simulated number is never mistaken for a real one, even in a quotation."""
    return "SIMULATED: " if each.data == "simulated" else ""


def finding(estimates: Sequence[Estimate], margin_pp: float) -> str:
    """The bottom line, a sentence a hint: different, equivalent or inconclusive, and what it would take to know."""
    p, verdicts, lines = concluding.corrected(estimates), concluding.conclusions(estimates), []
    family, equivalences = (concluding.family_size(estimates, id) for id in ("hint_effect", "hint_effect_90"))
    for hint, verdict in verdicts.items():
        each = effect_of(estimates, hint)
        if each is None or math.isnan(each.low):
            why = each.method if each else "nothing to compare"
            shown = f" ({each})" if each and each.value == each.value else ""
            lines.append(f"- {_who(each) if each else ''}hint *{hint}*: nothing can be concluded{shown}: {why}.")
            continue
        told = f"- {_who(each)}hint *{hint}* {SAID[verdict]}: {each} on the average over vendors"
        told += (
            f" (Holm p {p_text(p[hint])}{clash(each, p[hint])})"
            if p[hint] == p[hint]
            else f" ({each.method.rpartition('; ')[2]})"
        )
        if verdict == "inconclusive":
            told += (
                f"; a true effect of {concluding.smallest_shown(each, family):.1f} pp would be found in 80 % "
                f"of such runs, and to show equivalence within ±{margin_pp:g} pp takes about "
                f"{_questions(each, margin_pp, equivalences)}"
            )
        told += "".join(f"; {case}" for case in _cases(estimates, hint, verdict, each, margin_pp))
        changes = [e for e in estimates if e.id == "loss_change" and e.where["condition"] == hint]
        lines.append(f"{told}. {loss_words(changes)}".rstrip())
    if not lines:
        return f"None of the hints {', '.join(CONFIRMATORY)} was given: no conclusion was planned for any other."
    return "\n".join([*lines, *_leads(estimates)])


def _cases(estimates: Sequence[Estimate], hint: str, verdict: str, each: Estimate, margin_pp: float) -> Iterator[str]:
    """What lost verdicts would have to be for another conclusion: nothing where even the worst case changes none."""
    for bound in estimates:
        if bound.id != "hint_effect_bound" or (bound.where["hint"], bound.where["vendor"]) != (hint, "average"):
            continue
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
    """How many questions equivalence takes, for one test and after Holm."""
    one, family = (concluding.questions_to_equivalence(each, margin_pp, size) for size in (1, tests))
    told = [f"{n:,.0f}" if math.isfinite(n) else "more than anybody has" for n in (one, family)]
    return f"{told[0]} questions" + (f" ({told[1]} after Holm)" if tests > 1 else "")


def _leads(estimates: Sequence[Estimate]) -> list[str]:
    """At most one sentence: the effects on single vendors that Benjamini and Hochberg's correction leaves."""
    by = {(each.where["hint"], each.where["vendor"]): each for each in estimates if each.id == "hint_effect"}
    leads = {key: p for key, p in concluding.exploratory(estimates).items() if p < LEVEL}
    if not leads:
        return []
    told = "; ".join(
        f"*{hint}* on {display_name(vendor)} judges {by[hint, vendor]} (p {p_text(p)})"
        for (hint, vendor), p in leads.items()
    )
    simulated = _who(by[next(iter(leads))])
    return [f"- {simulated}exploratory, p by Benjamini and Hochberg over all hints and vendors: {told}."]


def confirmatory(estimates: Sequence[Estimate]) -> list[tuple[list[Estimate], int]]:
    """The confirmatory families (differences; equivalences), each with the number of tests that Holm corrects for."""
    families = [[*concluding.family(estimates, id).values()] for id in ("hint_effect", "hint_effect_90")]
    return [(family, sum(map(tested, family))) for family in families]


def few(estimates: Sequence[Estimate]) -> str:
    """What so few questions cannot show; "" where there are enough for intervals."""
    effects = [each for each in estimates if each.id == "hint_effect" and each.where["vendor"] == "average"]
    most = max((each.clusters for each in effects), default=0)
    if not effects or most == 0 or most >= MIN_CLUSTERS:  # without pairs it is not the questions that are too few
        return ""
    return (
        f"With {most} question{'' if most == 1 else 's'} there are no intervals ({MIN_CLUSTERS} is the least), no test "
        f"(sign flips of so few questions have no p below {2.0 ** (1 - most):.2g}) and no conclusion: this run shows "
        "that everything works, not what a hint does."
    )


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""
    by: Mapping[str, list[Estimate]] = {
        id: [each for each in estimates if each.id == id] for id in {each.id for each in estimates}
    }
    metrics = [
        replace(each, id="metric", where={"metric": id, **each.where})
        for id in groups.METRICS
        for each in by.get(id, [])
    ]
    cells, vendors = by.get("category_average_self_bias", []), by.get("self_bias", [])
    tables = [
        ("group_metrics", "The published metrics of each group.", metrics, ["metric"], ["hint"]),
        ("group_vendors", "How often a vendor's judges rank it first.", vendors, ["vendor"], ["hint"]),
        ("group_categories", "Own-vendor first places by category.", cells, ["category"], ["hint"]),
        (
            "hint_effects",
            "Own-vendor first places under a hint minus blind, paired.",
            by.get("hint_effect", []),
            ["hint"],
            ["vendor"],
        ),
    ]
    return [table for table in tables if table[2]]
