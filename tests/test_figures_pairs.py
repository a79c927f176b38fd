"""Figures of experiment 3: they show what was given with its controls, and name what was lost or never asked."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import judges
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import STYLES, intervals, points, rate, texts
from tests.test_figures_hinting import HOSTILE, assert_readable

NAN = float("nan")
JUDGES = ("sim_llama_small", "sim_llama_large", "sim_qwen_small", "sim_deepseek", "sim_mistral")
MANY = tuple(f"{vendor}_{i}" for vendor in ("llama", "qwen", "deepseek", "mistral") for i in range(4))
DOSES = ("2", "4", "8")
STRATA = ("same label", "other label", "all")
OUTCOMES = ("right both ways", "split", "wrong both ways", "unreadable")


def number(id: str, where: dict[str, str], value: float, half: float, data: str, unit: str = "pp") -> Estimate:
    ends = (value, value - half, value + half)
    return Estimate(id, where, *ends, n=60, clusters=20, unit=unit, method="article-clustered t", data=data)


def scores(data: str, names=JUDGES) -> list[Estimate]:
    return [
        replace(rate("harmful_score", {"judge": j, "by": by, "arm": arm}, k, 60, data), clusters=20)
        for i, j in enumerate(names)
        for by, ks in (("own", (18 + i, 30 + 2 * i)), ("third party", (36 - i, 40 - i)))
        for arm, k in zip(("repeat", "edited"), ks, strict=True)
    ]


def effects(data: str, names=JUDGES, doses=(*DOSES, "paraphrase")) -> list[Estimate]:
    return [
        number("obfuscation_effect", {"judge": j, "dose": d}, 0.3 * i + 0.2 * k, 0.5 + 0.1 * k, data, "logit")
        for i, j in enumerate(names)
        for k, d in enumerate(doses)
    ]


def shifts(data: str, names=JUDGES, doses=(*DOSES, "paraphrase")) -> list[Estimate]:
    return [
        number(id, {"judge": j, "dose": d}, -0.02 * (i + 1) * (k + 1) * size, 0.07, data)
        for i, j in enumerate(names)
        for k, d in enumerate(doses)
        for id, size in (("recognition_change", 1.0), ("preference_change", 0.6))
    ]


def gaps(data: str, names=JUDGES) -> list[Estimate]:
    found = []
    for i, j in enumerate(names):
        found.append(replace(rate("naive_harmful_rate", {"judge": j}, 30 + i, 60, data), clusters=20))
        found += [
            number("evaluator_quality_gap", {"judge": j, "stratum": s}, 0.04 * i + 0.03 * k - 0.05, 0.1, data)
            for k, s in enumerate(STRATA)
        ]
        found.append(number("same_text_other_judges", {"judge": j}, 0.1 + 0.02 * i, 0.08, data))
    return found


def lost(data: str, names=JUDGES) -> list[Estimate]:
    return [rate("unreadable_share", {"judge": j}, 3, 240, data) for j in names]


def steps(published: bool = False) -> pd.DataFrame:
    rows = [
        ("answers", 60, 0, ""),
        ("answers with a letter and a reason", 56, 4, "3 no_reason, 1 truncated"),
        ("pairs of these", 104, 0, ""),
        ("pairs with exactly one right", 41, 63, "48 both right, 15 both wrong"),
        ("whose wrong answer could be edited (2 words)", 38, 3, "2 too few words that may change, 1 reply_not_json"),
        ("judge x pair, asked both ways", 205, 0, ""),
        ("with a verdict both ways", 199, 6, "6 no verdict"),
        ("the same answer both ways", 160, 39, "39 the same place twice"),
    ]
    return pd.DataFrame(rows[-3:] if published else rows, columns=["step", "count", "lost", "why"])


def outcomes(names=JUDGES) -> pd.DataFrame:
    rows = [
        (j, "llama" if "llama" in j else j.split("_")[0 if names is MANY else 1], kind, outcome, count)
        for i, j in enumerate(names)
        for kind, counts in (("harmful", (20 - i, 8, 12 + i, 2)), ("beneficial", (31, 5 + i, 4, 0)))
        for outcome, count in zip(OUTCOMES, counts, strict=True)
        if count
    ]
    return pd.DataFrame(rows, columns=["judge", "judge_vendor", "kind", "outcome", "count"])


def all_figures(style: str = "paper") -> list[figures.Figure]:
    """Every figure with simulated judges, and for one, two and many judges, of one source of data and of two."""
    few, two = (JUDGES[0],), JUDGES[2:4]
    made = [
        figures.show_funnel(steps(), "simulated", style, "funnel"),
        figures.show_funnel(steps(True), "hub", style, "funnel_hub"),
        figures.show_outcomes(outcomes(), "simulated", style, "outcomes"),
        figures.show_outcomes(outcomes(few), "asked", style, "outcomes_one"),
        figures.show_outcomes(outcomes(MANY), "asked", style, "outcomes_many"),
    ]
    for show, given in (
        (figures.show_obfuscation_slopes, scores),
        (figures.show_dose_curve, effects),
        (figures.show_recognition_against_preference, shifts),
        (figures.show_baseline_gap, gaps),
    ):
        name = show.__name__.removeprefix("show_")
        made += [
            show([*given("simulated"), *lost("simulated")], style=style, name=name),
            show(given("asked", few), style=style, name=f"{name}_one"),
            show([*given("asked", two), *given("simulated", two)], style=style, name=f"{name}_both"),
            show(given("asked", MANY), style=style, name=f"{name}_many"),
        ]
    return made


@pytest.fixture(scope="module")
def paper() -> dict[str, figures.Figure]:
    return {figure.name: figure for figure in all_figures()}


@pytest.mark.parametrize("style", STYLES)
def test_nothing_overlaps_or_leaves_the_figure_at_print_size(style):
    look = styles.style(style)
    for figure in all_figures(style):
        assert figure.figure.get_figwidth() in (look.column, look.text), figure.name
        assert_readable(figure, look)
