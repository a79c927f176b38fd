"""Figures of the hinting experiment: they show what was given, nothing cut or hidden, no minimum taken for a finding."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from statistics import fmean, pstdev

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import labels
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import STYLES, intervals, points, rate, texts

NAN = float("nan")
VENDORS = ("claude", "gpt", "gemini")
GROUPS = ("none", "self", "competitors", "full")
ALL = (*GROUPS, "swapped")
HINTS = ALL[1:]

# Own first places of 160 in each group, as published; those under swapped are made up.
OWN = {
    "claude": {"none": 48, "self": 41, "competitors": 58, "full": 55, "swapped": 46},
    "gpt": {"none": 103, "self": 100, "competitors": 105, "full": 102, "swapped": 99},
    "gemini": {"none": 53, "self": 57, "competitors": 45, "full": 54, "swapped": 50},
}
# Own first places of 60 by category under none, self, competitors, full, as published.
BY_CATEGORY = {
    "extraction": (21, 19, 23, 20),
    "humanities": (22, 22, 23, 22),
    "math": (30, 28, 31, 31),
    "reasoning": (25, 25, 26, 25),
    "writing": (27, 23, 26, 23),
    "coding": (25, 26, 26, 27),
    "roleplay": (32, 33, 33, 37),
    "stem": (22, 22, 20, 26),
}
HOSTILE = (
    "$x_1$ & 100 %",
    "<b>a_very_long_name_of_a_vendor_that_never_ends_at_all</b>",
    "50 $ or 60 $",
    r"\frac{1}{2}^#~",
)


def slopes(data: str, hints=GROUPS) -> list[Estimate]:
    return [rate("self_bias", {"vendor": v, "hint": h}, OWN[v][h], 160, data) for v in VENDORS for h in hints]


def pp(id: str, where: dict[str, str], value: float, half: float, data: str) -> Estimate:
    low, high = value - half, value + half
    return Estimate(
        id, where, value, low, high, n=160, clusters=80, unit="pp", method="question-clustered t", data=data
    )


def effects(data: str, hints=HINTS) -> list[Estimate]:
    found = []
    for hint in hints:
        changes = {v: (OWN[v][hint] - OWN[v]["none"]) / 160 for v in VENDORS}
        found += [pp("hint_effect", {"hint": hint, "vendor": v}, x, 0.079, data) for v, x in changes.items()]
        where = {"hint": hint, "vendor": "average"}
        found.append(pp("hint_effect", where, fmean(changes.values()), 0.047, data))
        found.append(pp("hint_effect_90", where, fmean(changes.values()), 0.039, data))
    return found


def changes(hints=GROUPS[1:]) -> list[Estimate]:
    bare = [each for each in effects("published", hints) if each.id == "hint_effect"]
    why = "no interval: the pairing is not published"
    return [replace(each, id="hint_change", low=NAN, high=NAN, method=why, clusters=0) for each in bare]


def names(data: str) -> list[Estimate]:
    values = {"claude": 0.021, "gpt": 0.094, "gemini": -0.012, "average": 0.034}
    return [pp("name_effect", {"vendor": v}, x, 0.06, data) for v, x in values.items()]


def categories(data: str) -> list[Estimate]:
    found = []
    for category, counts in BY_CATEGORY.items():
        for hint, k in zip(GROUPS, counts, strict=True):
            where = {"category": category, "hint": hint}
            if data == "published":
                method = "no interval; counts, independence assumed"
                bare = Estimate("category_average_self_bias", where, k / 60, n=60, method=method, data=data)
                found.append(bare)
            else:
                found.append(replace(rate("category_average_self_bias", where, k + 3, 60, data), clusters=10))
        if data != "published":
            where = {"category": category, "hint": "swapped"}
            found.append(replace(rate("category_average_self_bias", where, counts[0] - 2, 60, data), clusters=10))
    return found


def metrics(data: str, hints=GROUPS) -> list[Estimate]:
    overall = {"none": (121, 255, 104), "self": (113, 265, 102), "competitors": (130, 259, 91), "full": (127, 248, 105)}
    overall["swapped"] = (124, 250, 106)
    judges = {"none": 0.159589, "competitors": 0.167653}
    found = []
    for hint in hints:
        own = [OWN[v][hint] / 160 for v in VENDORS]
        values = {
            "deviation_from_expected": fmean(abs(x - 1 / 3) for x in own),
            "balance": pstdev(k / 480 for k in overall[hint]),
            "consistency_vendors": pstdev(own),
        }
        if data != "published":
            values["consistency_judges"] = judges.get(hint, 0.163)
        elif hint in judges:
            values["consistency_judges"] = judges[hint]
        for id, value in values.items():
            one = Estimate(id, {"hint": hint}, value, n=480, unit="sd_pp", data=data)
            if data == "published":
                found.append(replace(one, method="no interval: a spread of rates needs the rows"))
                continue
            asked = {"clusters": 80, "method": "BCa over questions"}
            found.append(replace(one, low=value - 0.028, high=value + 0.031, **asked))
            found.append(replace(one, id=f"{id}_noise_floor", value=0.021 if id == "balance" else 0.032, **asked))
    return found


def lost(data: str, hints=ALL) -> list[Estimate]:
    return [
        rate("unreadable_share", {"judge": f"sim_{v}_{t}", "hint": h}, 4 if h == "full" else 1, 80, data)
        for v in VENDORS
        for t in ("fast", "thinking")
        for h in hints
    ]


def curves(hints=GROUPS[1:]) -> pd.DataFrame:
    """p of a difference d of 480 pairs of which D changed: a normal approximation of the sign test."""
    rows = []
    for hint in hints:
        d = abs(sum(OWN[v][hint] - OWN[v]["none"] for v in VENDORS))
        rows += [
            {"hint": hint, "share": D / 480, "p": math.erfc(d / math.sqrt(2 * D)) if D else NAN}
            for D in range(d, 481, 6)
        ]
    return pd.DataFrame(rows)


CONCLUSIONS = {"self": "inconclusive", "competitors": "equivalent", "full": "inconclusive", "swapped": "different"}


def all_figures(style: str = "paper") -> list[figures.Figure]:
    """Every figure in every shape: published alone, both sources, asked alone with all groups."""
    simulated = [*slopes("simulated", ALL), *lost("simulated")]
    return [
        figures.show_hint_slopes(slopes("published"), 1 / 3, style, "slope"),
        figures.show_hint_slopes(slopes("published") + simulated, 1 / 3, style, "slopes"),
        figures.show_hint_effects([*effects("asked"), *names("asked")], 5, CONCLUSIONS, style, "effect"),
        figures.show_hint_effects(
            [*changes(), *effects("simulated"), *names("simulated"), *lost("simulated")],
            5,
            CONCLUSIONS,
            style,
            "effects",
        ),
        figures.show_hint_effects(effects("asked", ["self"]), 5, None, style, "one_effect"),
        figures.show_category_groups(categories("published"), style, "category"),
        figures.show_category_groups(categories("published") + categories("simulated"), style, "categories"),
        figures.show_group_metrics(metrics("published"), style, "metric"),
        figures.show_group_metrics(metrics("published") + metrics("simulated", ALL), style, "metrics"),
        figures.show_discordance(curves(), 480, style=style, name="discordance"),
        figures.show_discordance(curves(HINTS), 480, "simulated", style=style, name="discordances"),
    ]
