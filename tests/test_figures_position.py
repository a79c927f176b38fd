"""Figures of experiment 4: verdicts in both orders, what they say together, and how far that depends on the place."""

from __future__ import annotations

import random
from dataclasses import replace

import pandas as pd
import pytest

from helpers import figures
from helpers.figures import comparisons, kinds
from helpers.figures import style as styles
from helpers.types import Estimate
from tests.test_figures import STYLES, intervals, points, rate, texts
from tests.test_figures_hinting import HOSTILE, assert_readable

NAN = float("nan")
#: Judge and candidate with what their source adds.
FEW = (
    ("gpt-4o", "gpt-4o-mini", "v0.1"),
    ("gemini-2.5-flash", "gemini-2.0-flash-lite-001", "v2.0"),
    ("DeepSeek-R1-Distill-Llama-70B", "Nexusflow__Athene-V2-Chat", "v0.1"),
)
ONE = FEW[1:2]
MANY = tuple((judge, f"{candidate}-{i}", head) for i in range(5) for judge, candidate, head in FEW)[:14]
CATEGORIES = ("hard_prompt", "creative_writing", "math", "coding", "roleplay", "extraction")
CHOICES = (("controlled", "1"), ("controlled", "3"), ("raw", "1"), ("raw", "3"))


def counts(data: str, names=FEW, size: int = 500) -> pd.DataFrame:
    """Verdict pairs of each comparison: mirrored ones most often, then the first place twice."""
    rows, rng = [], random.Random(4)
    for judge, candidate, head in names:
        for one in kinds.GAMES:
            for two in kinds.GAMES:
                kind = kinds.kind(one, two)
                mean = {"mirrored": 60, "first twice": 14, "invalid": 0.4}.get(kind, 6) * size / 500
                if n := int(rng.expovariate(1 / mean)):
                    rows.append((f"{head}/{judge}/{candidate}", judge, candidate, one, two, n, data))
    return pd.DataFrame(rows, columns=list(kinds.COLUMNS))


def seed(data: str = "hub") -> pd.DataFrame:
    """The counts of the published notebook: 742 readable comparisons of 748."""
    odd = {
        ("A>>B", "A>>B"): 73, ("B>>A", "B>>A"): 14, ("A>>B", "A>B"): 9, ("B>A", "B>A"): 9, ("A>B", "A>>B"): 8,
        ("B>>A", "B>A"): 7, ("A>B", "A>B"): 4, ("B>A", "B>>A"): 4, ("B>A", "A=B"): 3, ("A=B", "B>A"): 2,
        ("B>>A", "A=B"): 1, ("A=B", "A>B"): 1, ("A>>B", "invalid"): 1, ("invalid", "B>A"): 1,
        ("invalid", "A>>B"): 2, ("invalid", "B>>A"): 1, ("invalid", "invalid"): 1,
        ("B>>A", "A>>B"): 500, ("A=B", "A=B"): 29, ("B>>A", "A>B"): 78,
    }  # fmt: skip
    rows = [("v2.0/gemini-2.5/qwq-32b", "gemini-2.5", "qwq-32b", *games, n, data) for games, n in odd.items()]
    return pd.DataFrame(rows, columns=list(kinds.COLUMNS))


def where(names, **more: str) -> dict[str, str]:
    return {"judge": names[0], "candidate": names[1], **more}


def shares(data: str, names=FEW) -> list[Estimate]:
    found = []
    for i, each in enumerate(names):
        good, weak, bad, lost = 300 - 9 * i, 70 + 2 * i, 110 + 7 * i, 20
        for what, k in (("no_bias", good), ("weak_bias", weak), ("significant_bias", bad)):
            found.append(rate(what, where(each), k, 480, data))
            # One line had a single game.
            odd = k + lost - (i == 1) if what == "significant_bias" else k
            found.append(rate(f"{what}_published", where(each), odd, 500, data))
        found.append(rate("acceptable_rate", where(each), good + weak, 480, data))
        found.append(rate("acceptable_rate_published", where(each), good + weak, 500, data))
        found.append(rate("invalid_share", where(each), lost, 500, data))
    return found


def number(id: str, where: dict[str, str], value: float, half: float, data: str, unit: str = "pp") -> Estimate:
    ends = (value, value - half, value + half)
    return Estimate(id, where, *ends, n=480, clusters=240, unit=unit, method="question-clustered t", data=data)


def effects(data: str, names=FEW) -> list[Estimate]:
    found = []
    for i, each in enumerate(names):
        found.append(number("first_position_effect", where(each), 0.08 - 0.025 * i, 0.03, data))
        if i != 1:
            found.append(number("identical_pair_effect", where(each), 0.2 - 0.03 * i, 0.06, data))
        found.append(number("excess_flip", where(each), 0.01 * i, 0.02, data))
    return found


def categories(data: str, names=FEW, names_of=CATEGORIES) -> list[Estimate]:
    found = [number("first_position_effect", where(each), 0.05 - 0.01 * i, 0.02, data) for i, each in enumerate(names)]
    return found + [
        number("first_position_effect", where(each, category=c), 0.06 - 0.01 * i - 0.02 * k, 0.05, data)
        for i, each in enumerate(names)
        for k, c in enumerate(names_of)
    ]


def wins(data: str, names=FEW) -> list[Estimate]:
    return [
        number("win_rate", where(each, style=style, weight=weight), 0.45 + 0.02 * i + 0.03 * k, 0.04, data, "rate")
        for i, each in enumerate(names)
        for k, (style, weight) in enumerate(CHOICES)
    ]


def board(data: str, own: int = 13, third: int = 14) -> pd.DataFrame:
    """Two judges with a line of slope 0.9 through third-party models; the first judge is kind to its family."""
    rng, rows = random.Random(7), []
    for i in range(third + own):
        x = -3 + 4.5 * (i % max(third, 1)) / max(third - 1, 1)
        line = 0.9 * x - 0.3
        family = "third party" if i < third else "gemini-2.5" if i % 3 == 0 else "gpt-4.1"
        shift = {"third party": 0.0, "gemini-2.5": -0.9, "gpt-4.1": 0.7}[family]
        half = 0.5 + 0.03 * x * x
        y = line + shift + rng.gauss(0, 0.15)
        rows.append(
            (f"model-{i}-mini-high", family, "gemini-2.5", "gpt-4.1", x, y, line, line - half, line + half, data)
        )
    columns = ["model", "family", "judge_x", "judge_y", "x", "y", "line", "low", "high", "data"]
    return pd.DataFrame(rows, columns=columns)


def both(given, *more) -> list[Estimate] | pd.DataFrame:
    one, two = given("asked", FEW[:2], *more), given("simulated", FEW[1:], *more)
    return pd.concat([one, two]) if isinstance(one, pd.DataFrame) else [*one, *two]


SHOWS = (
    (figures.show_outcome_grid, counts),
    (figures.show_class_shares, shares),
    (figures.show_position_effects, effects),
    (figures.show_patterns, counts),
    (figures.show_category_effects, categories),
    (figures.show_sensitivity, wins),
)
ESTIMATES = [(show, given) for show, given in SHOWS if given is not counts]


def all_figures(style: str = "paper") -> list[figures.Figure]:
    """Every figure with simulated judges, and for one and many comparisons, of one source of data and of two."""
    made = [
        figures.show_leaderboard_contrast(board("simulated"), style, "leaderboard_contrast"),
        figures.show_leaderboard_contrast(board("published", 4), style, "leaderboard_contrast_one"),
        figures.show_leaderboard_contrast(
            pd.concat([board("asked", 3), board("simulated")]), style, "leaderboard_contrast_both"
        ),
        figures.show_outcome_grid(seed(), style, "outcome_grid_seed_one"),
        figures.show_patterns(seed(), style, "patterns_seed_one"),
        figures.show_outcome_grid(counts("hub", MANY[:11]), style, "outcome_grid_most_many"),
    ]
    for show, given in SHOWS:
        name = show.__name__.removeprefix("show_")
        made += [
            show(given("simulated"), style=style, name=name),
            show(given("asked", ONE), style=style, name=f"{name}_one"),
            show(both(given), style=style, name=f"{name}_both"),
            show(given("hub", MANY), style=style, name=f"{name}_many"),
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
