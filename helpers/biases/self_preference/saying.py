"""The sentences and tables of experiment 3 beside its bottom line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from helpers.biases.self_preference.baseline import PRIMARY
from helpers.biases.self_preference.concluding import LEVEL, corrected, family, of, primary_dose, smallest_detectable
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import detectable_effect
from helpers.stats.tests import benjamini_hochberg
from helpers.types import Estimate
from helpers.words import p_text


def _who(each: Estimate) -> str:
    """A simulated number is never mistaken for a real one, even in a quotation."""
    return "SIMULATED: " if each.data == "simulated" else ""


def few(estimates: Sequence[Estimate]) -> str:
    """What so few articles cannot show; "" where there are enough for intervals."""
    shares = [each for each in estimates if each.id == "unreadable_share"]
    most = max((each.clusters for each in shares), default=0)
    if not shares or most >= MIN_CLUSTERS:
        return ""
    return (
        f"The questions are on {most} article{'' if most == 1 else 's'}. Questions on one article are no independent "
        f"evidence, so there are no intervals ({MIN_CLUSTERS} articles are the least), no test and no "
        "conclusion."
    )


def gap_words(estimates: Sequence[Estimate]) -> str:
    """Of each judge: the naive rate, and what is left of it beside the same belief and beside the same text."""
    lines, gaps = [], [e for e in estimates if e.id == "evaluator_quality_gap" and e.where["stratum"] == PRIMARY]
    adjusted = dict(zip([e.where["judge"] for e in gaps], benjamini_hochberg([e.p for e in gaps]), strict=True))
    for each in gaps:
        judge = each.where["judge"]
        naive, text = (
            of(estimates, "naive_harmful_rate", judge=judge),
            of(estimates, "same_text_other_judges", judge=judge),
        )
        told = f"- {_who(each)}{judge} votes for its own wrong answer in {naive}"
        if math.isnan(each.value):
            told += f"; how it votes on other authors' answers of the same option is not known ({each.method})"
        else:
            p = adjusted[judge]
            said = "" if math.isnan(p) else f" (p {p_text(p)})"
            told += f"; minus its votes for another author's answer of the same option: {each}{said}"
            if p < LEVEL:
                told += f": its own answer seems to count for **{'more' if each.value > 0 else 'less'}**"
            elif not math.isnan(p):
                least = detectable_effect(each.se, each.df)
                told += (
                    ": no measurable difference to a judge that is merely wrong (80 % power, uncorrected, needs "
                    f"{100 * least:.0f} pp)"
                )
        if text is not None and not math.isnan(text.value):
            told += f"; minus other judges' votes for the same texts: {text}"
        lines.append(f"{told}.")
    if not lines:
        return "No judge answered a question wrongly that others answered right: there is nothing to defend."
    tested = any(p == p for p in adjusted.values())
    return "\n".join([*lines, "", f"Exploratory{'; p by Benjamini and Hochberg over the judges' if tested else ''}."])


def effect_words(estimates: Sequence[Estimate]) -> str:
    """What the primary contrast could have found, and how the effect goes with the dose."""
    p, least = corrected(estimates), smallest_detectable(estimates)
    lines = []
    for judge, each in family(estimates).items():
        found = [e for e in estimates if e.id == "obfuscation_effect" and e.where["judge"] == judge]
        doses = "; ".join(f"{e.where['dose']} words {e}" for e in found if e.where["dose"].isdigit())
        told = f"- {_who(each)}{judge}, in logits: {doses or 'no dose could be compared'}"
        if not math.isnan(p[judge]):
            told += f". At the primary dose of {primary_dose(estimates)} words, 80 % power needs {least[judge]:.2f}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No own wrong answer was edited and judged again."


def recognition_words(estimates: Sequence[Estimate]) -> str:
    """How well judges know their own answers, unedited and at the largest dose."""
    lines = []
    for each in estimates:
        if each.id != "recognition_accuracy" or each.where["dose"] != "0":
            continue
        judge = each.where["judge"]
        balanced = of(estimates, "recognition_balanced", judge=judge)
        told = f"- {_who(each)}{judge} names its own wrong answer as its own in {each}"
        if balanced is not None and not math.isnan(balanced.value):
            told += f"; in {balanced} over right and wrong answers alike (half is chance)"
        shifts = [e for e in estimates if e.id == "recognition_change" and e.where["judge"] == judge]
        shifts = [e for e in shifts if e.where["dose"].isdigit() and not math.isnan(e.value)]
        if shifts:
            last = max(shifts, key=lambda e: int(e.where["dose"]))
            told += f"; {last.where['dose']} words changed that by {last}"
        lines.append(f"{told}.")
    return "\n".join(lines) or "No judge was asked which answer it wrote."


def accuracy_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The published rates, before and after the filter, for a table (`where`: judge, filter, accuracy)."""
    names = {"accuracy_all": "all", "accuracy_self": "own answer in it", "accuracy_harmful": "own answer wrong"}
    names |= {"legitimate": "legitimate", "retention": "kept by the filter"}
    return [
        replace(each, id="accuracy", where={"filter": "consistent", **each.where, "accuracy": names[each.id]})
        for each in estimates
        if each.id in names
    ]


def paper_tables(estimates: Sequence[Estimate]) -> list[tuple[str, str, list[Estimate], list[str], list[str]]]:
    """What goes into tables: name, caption, estimates, row keys and column keys."""

    def some(*ids: str) -> list[Estimate]:
        return [each for each in estimates if each.id in ids]

    tables = [
        (
            "accuracy",
            "How often each judge picks the right answer.",
            accuracy_rows(estimates),
            ["judge", "filter"],
            ["accuracy"],
        ),
        (
            "baseline",
            "Own wrong answers against another author's.",
            some("evaluator_quality_gap"),
            ["judge"],
            ["stratum"],
        ),
        (
            "obfuscation",
            "Effect of editing the own wrong answer, in logits.",
            some("obfuscation_effect"),
            ["judge"],
            ["dose"],
        ),
        (
            "obfuscation_pp",
            "The same in pp, with its parts.",
            some("obfuscation_effect_pp", "obfuscation_own", "obfuscation_third_party"),
            ["id", "judge"],
            ["dose"],
        ),
        ("recognition", "How often judges name their own answer.", some("recognition_accuracy"), ["judge"], ["dose"]),
    ]
    return [table for table in tables if table[2]]
