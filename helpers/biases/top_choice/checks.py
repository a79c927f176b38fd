"""What a reader can hold against the primary number: other choices of the model, and biases that were put in by us."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from math import fsum, log
from statistics import fmean

from helpers.biases.top_choice.defended import PRIMARY
from helpers.types import Estimate, Model, display_name

#: An interval more than this many times as wide as the primary one's says nothing about the choice it belongs to.
TOO_WIDE = 3.0
#: What stands beside the primary estimator, on the same scale.
COMPANIONS = {
    "family_preference_logit": "same vendor, other model",
    "third_party_log_odds": "third-party log-odds (descriptive)",
}
CAUTION = (
    "Planted numbers are utilities inside the simulator and no targets: judgments also hold tastes and noise that the "
    "model does not know, which pull estimates towards zero, and places are estimated in pp. Signs and order are what "
    "can be compared, and order only where intervals do not overlap; what estimates should be on average is tested on "
    "many simulated runs."
)
#: Of a planted bias: what it is, of whom or of which place, its size in utility, and what was found.
Row = tuple[str, str, float, Estimate]


def _primary(estimates: Sequence[Estimate], id: str = "self_preference_logit") -> dict[str, Estimate]:
    return {each.where["vendor"]: each for each in estimates if each.id == id and set(each.where) == {"vendor"}}


def sensitivity_rows(estimates: Sequence[Estimate]) -> list[Estimate]:
    """The primary estimator, then under each other choice, then what stands beside it (`where`: vendor, variant)."""
    primary = [
        replace(each, where={**each.where, "variant": PRIMARY})
        for each in estimates
        if each.id == "self_preference_logit" and "variant" not in each.where
    ]
    variants = [each for each in estimates if each.id == "self_preference_logit" and "variant" in each.where]
    companions = [
        replace(each, where={**each.where, "variant": variant})
        for id, variant in COMPANIONS.items()
        for each in estimates
        if each.id == id and each.data != "published"
    ]
    return [*primary, *variants, *companions]


def too_wide(estimates: Sequence[Estimate]) -> list[tuple[Estimate, float]]:
    """The sensitivity rows that are too wide to read, with how many times as wide as the primary interval they are."""
    primary = _primary(estimates)
    found = []
    for each in sensitivity_rows(estimates):
        first = primary.get(each.where["vendor"])
        times = (each.high - each.low) / (first.high - first.low) if first and first.high > first.low else 0.0
        if times > TOO_WIDE:
            found.append((each, times))
    return found


def sensitivity_words(estimates: Sequence[Estimate]) -> str:
    """Which sensitivity rows say nothing because their interval is too wide, by TOO_WIDE."""
    wide = too_wide(estimates)
    if not wide:
        return f"No interval is more than {TOO_WIDE:g} times as wide as that of the same vendor's primary estimate."
    told = "; ".join(
        f"{e.where['variant']}, {display_name(e.where['vendor'])} ({times:.1f} times)" for e, times in wide
    )
    return f"Too wide to read (interval more than {TOO_WIDE:g} times as wide as the primary one): {told}."


def sensitivity_caption(estimates: Sequence[Estimate]) -> str:
    """The caption of the table of sensitivity rows."""
    return f"The primary estimator (logits) under other reasonable choices. {sensitivity_words(estimates)}"


def planted(judges: Sequence[Model], estimates: Sequence[Estimate]) -> str:
    """What was put into simulated judges beside what was found, as Markdown: a table, and what may be compared.

    Of judges that are not simulated nothing is known: the sentence then says so.
    """
    found = [each for each in estimates if each.data == "simulated"]
    if not found or not judges or not all(judge.simulated for judge in judges):
        return "These judges are not simulated: nothing was planted, so nothing planted can be compared."
    kinds = {
        "self-preference": _preferences(judges, found),
        "place": _places(judges, found),
        "sharpness": _sharpness(judges, found),
    }
    lines = [f"| {what} | {of} | {given:+.2f} | {each} |" for rows in kinds.values() for what, of, given, each in rows]
    head = ["| SIMULATED judges | of | planted (utility) | estimated |", "|---|---|---|---|"]
    orders = ", ".join(f"{kind} {told}" for kind, rows in kinds.items() if (told := _in_order(rows)))
    said = f"Pairs that come out in the planted order: {orders}. " if orders else ""
    return "\n".join(["**Planted against estimated**, as a test of the method:", "", *head, *lines, "", said + CAUTION])


def _in_order(rows: Sequence[Row]) -> str:
    """How many of the pairs with different planted sizes have estimates in the same order."""
    known = [(given, each.value) for _, _, given, each in rows if each.value == each.value]
    pairs = [(a, b) for i, a in enumerate(known) for b in known[:i] if abs(a[0] - b[0]) > 1e-9]
    agreeing = sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs)
    return f"{agreeing} of {len(pairs)}" if pairs else ""


def _mean(judges: Sequence[Model], trait: str, default: float) -> float:
    return fmean(float(judge.traits.get(trait, default)) for judge in judges)


def _preferences(judges: Sequence[Model], found: Sequence[Estimate]) -> list[Row]:
    return [
        (
            "self-preference (logits)",
            display_name(vendor),
            _mean([judge for judge in judges if judge.vendor == vendor], "self_preference", 0.0),
            each,
        )
        for vendor, each in _primary(found).items()
        if any(judge.vendor == vendor for judge in judges)
    ]


def _places(judges: Sequence[Model], found: Sequence[Estimate]) -> list[Row]:
    """Primacy as far from its mean over places as the effects are, which sum to zero."""
    effects = sorted((each for each in found if each.id == "position_effect"), key=lambda each: int(each.where["slot"]))
    given = zip_longest(*(judge.traits.get("primacy", ()) for judge in judges), fillvalue=0.0)
    means = [fmean(values) for values in given][: len(effects)]
    means += [0.0] * (len(effects) - len(means))
    return [
        ("place (pp)", f"place {each.where['slot']}", mean - fmean(means), each)
        for mean, each in zip(means, effects, strict=True)
    ]


def _sharpness(judges: Sequence[Model], found: Sequence[Estimate]) -> list[Row]:
    given: Mapping[str, float] = {judge.name: log(float(judge.traits.get("sharpness", 1.0))) for judge in judges}
    known = [each for each in found if each.id == "judge_sharpness_log" and each.where["judge"] in given]
    middle = fsum(given[each.where["judge"]] for each in known) / max(len(known), 1)
    return [("sharpness (log)", each.where["judge"], given[each.where["judge"]] - middle, each) for each in known]
