"""Experiment 2's numbers: the published groups from their counts, and paired effects against hand computations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pandas as pd
import pytest
from scipy import optimize, stats

from helpers import datasets, paths
from helpers.biases import hinting
from helpers.biases.hinting import groups, paired
from helpers.biases.hinting.groups import totals
from helpers.claims import load_claims
from helpers.types import Estimate
from studies.calibration.worlds.listwise import World, hinted
from tests.runs import declared_ids, one, published_estimates, value
from tests.simulation import cr2_by_matrices

FOLDER = paths.EXPERIMENTS / "hinting_groups"
GROUPS = ("self", "competitors", "full", "none")
VENDORS = ("claude", "gpt", "gemini")

# --- the published counts: every number as the documents give it ------------------------------------------------------


@cache
def published() -> tuple[Estimate, ...]:
    return published_estimates("hinting_groups")


def test_intervals_of_counts_say_what_they_assume() -> None:
    marked = [e for e in published() if e.low == e.low]
    assert marked and all("independence assumed" in e.method for e in marked)
    assert not [e for e in published() if e.id == "consistency_judges" and e.where["hint"] in ("self", "full")]


def test_the_two_definitions_of_consistency_by_hand() -> None:
    rates = [count / 160 for count in (58, 105, 45)]
    assert value(published(), "consistency_vendors", hint="competitors") == pytest.approx(pstdev(rates))
    judges = [26 / 80, 32 / 80, 47 / 80, 58 / 80, 24 / 80, 21 / 80]
    assert value(published(), "consistency_judges", hint="competitors") == pytest.approx(pstdev(judges))


def test_the_judges_of_the_two_groups_that_were_published() -> None:
    judges = ("claude_fast", "claude_thinking", "gpt_fast", "gpt_thinking", "gemini_fast", "gemini_thinking")
    firsts = {
        "none": ((22, 44, 14), (26, 40, 14), (17, 47, 16), (17, 56, 7), (18, 34, 28), (21, 34, 25)),
        "competitors": ((26, 43, 11), (32, 33, 15), (19, 47, 14), (16, 58, 6), (20, 36, 24), (17, 42, 21)),
    }
    found = {tuple(sorted(e.where.items())): e.value for e in published() if e.id == "top1_rate"}
    assert found == {
        (("hint", hint), ("judge", judge), ("vendor", vendor)): count / 80
        for hint, rows in firsts.items()
        for judge, row in zip(judges, rows, strict=True)
        for vendor, count in zip(VENDORS, row, strict=True)
    }


def test_totals_of_vendors_and_categories_agree() -> None:
    assert {hint: own for hint, (own, _) in totals(published()).items()} == {
        "self": 198,
        "competitors": 208,
        "full": 211,
        "none": 204,
    }
    for group, (own, _) in totals(published()).items():
        cells = [e for e in published() if e.id == "category_average_self_bias" and e.where["hint"] == group]
        assert len(cells) == 8 and sum(60 * e.value for e in cells) == pytest.approx(own)
        if group != "none":
            changes = [value(published(), "hint_change", hint=group, vendor=vendor) for vendor in VENDORS]
            assert 160 * sum(changes) == pytest.approx(own - 204)


def best(estimates: Sequence[Estimate], of: str) -> dict[str, set[str]]:
    """The groups that a table calls lowest, by metric or category."""
    table = {name: frame for name, frame, *_ in hinting.best_tables(estimates)}[of]
    return {row.iloc[0]: set(row["best"].split(" = ")) for _, row in table.iterrows()}


def test_best_groups_list_every_tie() -> None:
    table = best(published(), "best_categories")
    assert table["humanities"] == table["reasoning"] == {"self", "full", "none"}
    assert table["writing"] == {"self", "full"}
    assert table["extraction"] == table["math"] == {"self"}
    assert table["coding"] == table["roleplay"] == {"none"} and table["stem"] == {"competitors"}


def test_margins_recommend_nothing() -> None:
    table = hinting.goals(published()).set_index("goal")
    assert table["recommended"].to_dict() == {
        "benchmark validity": "none",
        **dict.fromkeys(("bias mitigation", "balanced selection", "studying disruption"), "no group"),
    }
    assert table["why"].tolist()[1:] == [
        "nothing pairs the groups",
        "lower is not fairer where answers differ in quality",
        "nothing pairs the groups",
    ]
    assert best(published(), "best_metrics") == {
        "average_self_bias": {"self"},
        "deviation_from_expected": {"full"},
        "balance": {"full"},
        "consistency_vendors": {"full"},
        "consistency_judges": {"none (of none, competitors alone)"},
    }
    assert hinting.recommended(published()).startswith("**No group can be recommended**")


def test_the_goal_table_of_the_source_comes_out_of_its_counts() -> None:
    table = hinting.goals(published()).set_index("goal")
    assert table["group"].to_dict() == {
        "benchmark validity": "none",
        "bias mitigation": "self",
        "balanced selection": "full",
        "studying disruption": "competitors",
    }
    rationale, price = table["rationale"], table["trade-offs"]
    assert price["benchmark validity"].startswith("not the lowest average self-bias 42.50 % (self: 41.25); ")
    assert rationale["bias mitigation"] == "lowest average self-bias 41.25 %"
    assert "balance score 15.50 pp (full: 13.10)" in price["bias mitigation"]
    assert "consistency over vendors 15.57 pp (full: 14.00)" in price["bias mitigation"]
    assert rationale["balanced selection"] == (
        "lowest deviation from expected 10.63 pp, balance score 13.10 pp, consistency over vendors 14.00 pp"
    )
    assert price["balanced selection"] == "highest average self-bias 43.96 % (self: 41.25)"
    assert rationale["studying disruption"] == "highest consistency over vendors 16.11 pp"
    assert "average self-bias 43.33 %" in price["studying disruption"]


def test_the_lowest_of_four_published_groups_is_no_lower_than_by_chance() -> None:
    gaps = {(e.id, *e.where.values()): e for e in published() if e.id.startswith("group_gap")}
    assert len(gaps) == 2 * (2 * 4 + 8)
    lowest = gaps["group_gap", "average_self_bias", "lowest"].value
    assert 100 * lowest == pytest.approx(fmean((41.25, 43.3333, 43.9583, 42.5)) - 41.25, abs=1e-3)
    # The lowest of four normal numbers lies 1.029 standard deviations below their mean.
    spread = math.sqrt(sum(p * (1 - p) for p in (202 / 640, 410 / 640, 209 / 640)) / 3 / 480)
    by_chance = gaps["group_gap_by_chance", "average_self_bias", "lowest"]
    assert by_chance.value == pytest.approx(1.029 * spread, rel=0.03)
    assert by_chance.low < by_chance.value < by_chance.high
    assert all(each.p > 0.05 for key, each in gaps.items() if "by_chance" not in key[0])
    assert hinting.chance_words(published()).startswith("Of 12 metrics and categories none has a lowest group")


def test_homogeneity_of_counts_is_shown_and_not_believed() -> None:
    told = hinting.margins_words(published(), [])
    assert "chi2 = 0.81, p = 0.85" in told and "that p is not theirs" in told
    assert "**The margins settle neither a difference nor its absence.**" in told
    assert "if at most 9 of 480 pairs (1.9 %) changed sides" in told, "full: net 7"
    assert "*competitors*: net change +4 of 480 (+0.8 %); p stays above 0.05" in told


def test_what_eighty_questions_could_have_shown_is_computed_from_the_errors_given() -> None:
    effects = [
        Estimate("hint_effect", {"hint": "full", "vendor": vendor}, 0.0, -1, 1, 480, 80, "pp", se)
        for vendor, se in (("average", 0.0253), ("gpt", 0.042))
    ]
    told = hinting.margins_words(published(), effects)
    assert "average effect of 7.2 pp (8.3 pp after Holm) and one of 11.9 pp for a single vendor" in told
    assert "the largest published changes are +1.5 pp and +6.2 pp" in told


# --- claims -----------------------------------------------------------------------------------------------------------


def test_every_number_of_the_source_s_tables_is_a_claim() -> None:
    said = {claim.id: claim for claim in load_claims(FOLDER / "claims.yaml")}
    printed = {
        "average_self_bias": (41.25, 43.33, 43.96, 42.50),
        "deviation_from_expected": (13.06, 13.47, 10.63, 11.53),
        "balance": (15.50, 14.96, 13.10, 14.07),
        "consistency_vendors": (15.57, 16.11, 14.00, 15.52),
        "consistency_as_documented": (15.57, 16.11, 14.00, 15.52),
        "self_bias_claude": (25.6, 36.2, 34.4, 30.0),
        "self_bias_gpt": (62.5, 65.6, 63.7, 64.4),
        "self_bias_gemini": (35.6, 28.1, 33.8, 33.1),
        "category_extraction": (31.7, 38.3, 33.3, 35.0),
        "category_humanities": (36.7, 38.3, 36.7, 36.7),
        "category_math": (46.7, 51.7, 51.7, 50.0),
        "category_reasoning": (41.7, 43.3, 41.7, 41.7),
        "category_writing": (38.3, 43.3, 38.3, 45.0),
        "category_coding": (43.3, 43.3, 45.0, 41.7),
        "category_roleplay": (55.0, 55.0, 61.7, 53.3),
        "category_stem": (36.7, 33.3, 43.3, 36.7),
    }
    for row, group in product(printed, GROUPS):
        assert said[f"{row}_{group}"].published == printed[row][GROUPS.index(group)]
    assert {said[f"only_best_{c}"].expect for c in ("humanities", "reasoning", "writing")} == {"differs"}
    assert said["consistency_as_documented_self"].expect == "not derivable"
    assert said["unbiased_rate"].published == 33.33 and said["unbiased_rate"].expect == "not comparable"
    assert (said["judgments_none"].published, said["judgments_default_config"].published) == (480, 240)


# --- paired effects by hand -------------------------------------------------------------------------------------------


def frame_of(rows: list[tuple[str, str, str, int, str | None]], named: dict[str, str] | None = None) -> pd.DataFrame:
    """Judgments (question, judge, condition, repeat, winner or None) of four candidates as a listwise frame."""
    candidates = ("claude_a", "claude_b", "gpt_a", "gpt_b")
    found = []
    for question, judge, condition, repeat, winner in rows:
        for slot, candidate in enumerate(candidates):
            lost = winner is None
            found.append(
                {
                    "experiment": "hinting_groups",
                    "question_id": question,
                    "category": "math",
                    "judge": judge,
                    "judge_vendor": judge.split("_")[0],
                    "candidate": candidate,
                    "candidate_vendor": candidate.split("_")[0],
                    "condition": condition,
                    "repeat": repeat,
                    "slot": slot,
                    "label": "ABCD"[slot],
                    "rank": math.nan if lost else 1.0 + (candidate != winner),
                    "top": math.nan if lost else float(candidate == winner),
                    "outcome": "unparsed" if lost else "ok",
                    "own_vendor": candidate.split("_")[0] == judge.split("_")[0],
                    "named": (named or {}).get(candidate) if condition == "swapped" else None,
                }
            )
    return pd.DataFrame(found)


def test_pairs_need_both_rankings_and_the_same_repeat() -> None:
    rows = [
        ("q1", "gpt_x", "none", 0, "claude_a"),
        ("q1", "gpt_x", "full", 0, "gpt_a"),
        ("q1", "gpt_x", "none", 1, "gpt_a"),
        ("q1", "gpt_x", "full", 1, "gpt_b"),
        ("q2", "gpt_x", "none", 0, None),
        ("q2", "gpt_x", "full", 0, "gpt_a"),
        ("q3", "gpt_x", "none", 0, "gpt_a"),
    ]
    both = paired.pairs(frame_of(rows), "full")
    assert both[["question_id", "repeat", "difference"]].values.tolist() == [["q1", 0, 1.0], ["q1", 1, 0.0]]
    assert (both["candidate"] != both["candidate_blind"]).tolist() == [True, True]


def random_rows(questions: int, seed: int, conditions: tuple[str, ...]) -> list[tuple[str, str, str, int, str | None]]:
    rng = np.random.default_rng(seed)
    names = ("claude_a", "claude_b", "gpt_a", "gpt_b", None)
    return [
        (f"q{n:02d}", judge, condition, 0, names[rng.choice(5, p=(0.3, 0.2, 0.3, 0.15, 0.05))])
        for n in range(questions)
        for judge in ("claude_x", "gpt_x", "gpt_y")
        for condition in conditions
    ]


def test_a_hint_s_effect_is_the_mean_of_paired_differences_with_an_error_over_questions() -> None:
    rows = random_rows(40, 1, ("none", "full"))
    found = {
        each.where["vendor"]: each
        for each in paired.hint_effect(frame_of(rows), "asked", 7, 5.0)
        if each.id == "hint_effect"
    }
    winner = {(q, j, c): w for q, j, c, _, w in rows}
    by_vendor: dict[str, list[tuple[str, int]]] = {"claude": [], "gpt": []}
    for q, j in {(q, j) for q, j, *_ in rows}:
        hinted, blind, vendor = winner[q, j, "full"], winner[q, j, "none"], j.split("_")[0]
        if hinted and blind:
            by_vendor[vendor].append((q, hinted.startswith(vendor) - blind.startswith(vendor)))
    means = {vendor: fmean(d for _, d in pairs) for vendor, pairs in by_vendor.items()}
    assert found["claude"].value == pytest.approx(means["claude"])
    assert found["gpt"].value == pytest.approx(means["gpt"])
    assert found["average"].value == pytest.approx(fmean(means.values()))
    assert found["gpt"].n == len(by_vendor["gpt"]) and found["average"].n == sum(map(len, by_vendor.values()))
    # The error of the average: of the regression on vendors, clustered by question.
    flat = [(vendor, q, d) for vendor, pairs in by_vendor.items() for q, d in pairs]
    design = np.array([[vendor == "claude", vendor == "gpt"] for vendor, *_ in flat], dtype=float)
    differences, questions = np.array([d for *_, d in flat], dtype=float), np.array([q for _, q, _ in flat])
    _, se, df = cr2_by_matrices(design, differences, questions, np.array([0.5, 0.5]))
    assert found["average"].se == pytest.approx(se)
    half = stats.t.ppf(0.975, df) * found["average"].se
    assert found["average"].high - found["average"].value == pytest.approx(half)
    assert "sign-flip p" in found["average"].method


def test_the_error_of_an_effect_is_taken_within_categories_and_repeats_count_with_their_question() -> None:
    rows = [
        (q, j, c, r, w)
        for seed, r in ((21, 0), (22, 1))
        for q, j, c, _, w in random_rows(40, seed, ("none", "self"))
        if j == "gpt_x"
    ]
    frame = frame_of(rows)
    frame["category"] = frame["question_id"].map(lambda q: ("math", "stem")[int(q[1:]) % 2])
    each = next(e for e in paired.hint_effect(frame, "asked", 7, 5.0) if e.where["vendor"] == "gpt")
    won = {(q, c, r): w.startswith("gpt") for q, _, c, r, w in rows if w}
    pairs = {(q, r): won[q, c, r] - won[q, "none", r] for q, c, r in won if c == "self" and (q, "none", r) in won}
    mean, questions = fmean(pairs.values()), sorted({q for q, _ in pairs})
    assert each.value == pytest.approx(mean) and (each.n, each.clusters) == (len(pairs), len(questions))
    # A mean a category, each weighing as its pairs do.
    of = np.array([q for q, _ in pairs])
    design = np.array([[int(q[1:]) % 2 == odd for odd in (0, 1)] for q in of], dtype=float)
    fit = cr2_by_matrices(design, np.array([*pairs.values()], dtype=float), of, design.mean(axis=0))
    assert each.se == pytest.approx(fit[1]) and "stratified" in each.method
    half = stats.t.ppf(0.975, fit[2]) * each.se
    assert each.high - each.value == pytest.approx(half)


def test_equivalence_is_two_one_sided_tests() -> None:
    found = paired.hint_effect(frame_of(random_rows(40, 2, ("none", "self"))), "asked", 7, 30.0)
    (each,) = (e for e in found if e.id == "hint_effect_90")
    half = each.high - each.value
    df = optimize.brentq(lambda df: stats.t.ppf(0.95, df) * each.se - half, 5, 39.5)
    assert 30 < df <= 39, "questions that lost a verdict weigh less"
    below = stats.t.sf((each.value + 0.30) / each.se, df)
    above = stats.t.cdf((each.value - 0.30) / each.se, df)
    assert each.p == pytest.approx(max(below, above))
    assert (each.low, each.high) == (pytest.approx(each.value - half), pytest.approx(each.value + half))
    assert (each.p < 0.05) == (each.low > -0.30 and each.high < 0.30), "the interval inside the margin says the same"


def test_the_effect_of_a_name_weighs_answers_of_each_name_alike() -> None:
    named = {"claude_a": "gpt", "claude_b": "claude", "gpt_a": "claude", "gpt_b": "claude"}  # one of four is gpt's
    rows = [(f"q{n}", "gpt_x", "swapped", 0, "claude_a" if n < 6 else "gpt_a") for n in range(12)]
    found = paired.name_effect(frame_of(rows, named), "asked", 1)
    assert value(found, "name_effect", vendor="gpt") == pytest.approx(6 / 12 / 1 - 6 / 12 / 3)
    assert value(found, "name_effect_by_judge", judge="gpt_x") == value(found, "name_effect", vendor="average")
    nobody = dict.fromkeys(named, "claude")
    (none,) = paired.name_effect(frame_of(rows, nobody), "asked", 1)
    assert math.isnan(none.value) and "bear the judge's own vendor's name" in hinting.names_words([none])
    assert paired.name_effect(frame_of(random_rows(12, 3, ("none", "full"))), "asked", 1) == []


def test_the_effect_of_a_name_is_the_mean_over_judgments_that_show_different_numbers_of_own_names() -> None:
    """One of four, two of four, none and all four own-named answers in turn; the last two tell nothing."""
    candidates = ("claude_a", "claude_b", "gpt_a", "gpt_b")
    dealt = ("gpt claude claude claude", "gpt gpt claude claude", "claude claude claude claude", "gpt gpt gpt gpt")
    parts, expected = [], []
    for n in range(48):
        named = dict(zip(candidates, dealt[n % 4].split(), strict=True))
        winner = candidates[n // 4 % 4]
        parts.append(frame_of([(f"q{n:02d}", "gpt_x", "swapped", 0, winner)], named))
        own = sum(name == "gpt" for name in named.values())
        if 0 < own < 4:
            expected.append(1 / own if named[winner] == "gpt" else -1 / (4 - own))
    found = paired.name_effect(pd.concat(parts, ignore_index=True), "asked", 1)
    each = next(e for e in found if e.id == "name_effect" and e.where["vendor"] == "gpt")
    assert each.value == pytest.approx(fmean(expected), abs=1e-12) and each.n == each.clusters == 24
    assert each.se == pytest.approx(np.std(expected, ddof=1) / math.sqrt(24))


def test_an_average_without_one_of_its_vendors_is_no_average() -> None:
    frame = frame_of(random_rows(40, 1, ("none", "full", "swapped")), dict.fromkeys(("gpt_a", "claude_a"), "claude"))
    frame.loc[frame["named"].isna() & (frame["condition"] == "swapped"), "named"] = "gpt"
    whole = {e.where["vendor"]: e for e in paired.hint_effect(frame, "asked", 7, 5.0) if e.where["hint"] == "full"}
    mute = without(frame, (frame["judge_vendor"] == "claude") & (frame["condition"] != "none"))
    found = [*paired.hint_effect(mute, "asked", 7, 5.0), *paired.name_effect(mute, "asked", 7)]
    for each in found:
        if each.where.get("vendor") in ("average", "claude"):
            assert math.isnan(each.value) and "Claude judges" in each.method, each
    assert value(found, "hint_effect", hint="full", vendor="gpt") == whole["gpt"].value
    assert hinting.conclusions(found) == {"full": "inconclusive"}
    assert "no pair of Claude judges" in hinting.finding(found, 5.0)
    assert "no ranking of Claude judges" in hinting.names_words(found)
    categories = [*paired.category_hint_effect(mute, "asked")]
    assert categories and all(math.isnan(each.value) for each in categories)


def test_changes_are_held_against_a_plain_repeat() -> None:
    rows = []
    for n in range(20):
        rows += [
            (f"q{n:02d}", "gpt_x", "none", 0, "gpt_a"),
            (f"q{n:02d}", "gpt_x", "none", 1, "gpt_a" if n % 4 else "gpt_b"),
            (f"q{n:02d}", "gpt_x", "full", 0, "gpt_a" if n % 2 else "claude_a"),
            (f"q{n:02d}", "gpt_x", "full", 1, "gpt_a" if n % 2 else "claude_b" if n % 5 else "claude_a"),
        ]
    found = paired.change_rate(frame_of(rows), "asked")
    # Another first place than blind in every other question, at either asking.
    assert value(found, "change_rate", hint="full") == 0.5
    assert value(found, "change_rate_repeat", condition="none") == 0.25
    assert value(found, "change_rate_repeat", condition="full") == 0.4
    assert value(found, "excess_change", hint="full") == pytest.approx(0.5 - (0.25 + 0.4) / 2)
    (excess,) = (e for e in found if e.id == "excess_change")
    differences = [(n % 2 == 0) - ((n % 4 == 0) + (n % 2 == 0 and n % 5 > 0)) / 2 for n in range(20)]
    assert excess.se == pytest.approx(np.std(differences, ddof=1) / math.sqrt(20)) and excess.clusters == 20
    assert excess.p == pytest.approx(2 * stats.t.sf(excess.value / excess.se, 19))
    stranger = [(q, "mistral_x", c, r, "gpt_a" if r else "claude_a") for q, _, c, r, _ in rows]
    assert paired.change_rate(frame_of([*rows, *stranger]), "asked") == found, "judges without a candidate do not count"
    single = paired.change_rate(frame_of([row for row in rows if row[3] == 0]), "asked")
    assert math.isnan(value(single, "excess_change", hint="full")) and "repeats = 2" in single[0].method
    assert "none of these rates is an effect" in hinting.changes_words(single)
    assert "changes its first place between two askings under full in 40.0 %" in hinting.changes_words(found)


def test_a_hint_that_makes_a_wavering_judge_sure_changes_verdicts() -> None:
    """Blind 60 to 40, hinted always the same: the excess over blind wavering alone would be below 0."""
    rng, rows = np.random.default_rng(3), []
    for n in range(400):
        rows += [(f"q{n}", "gpt_x", "none", r, "gpt_a" if rng.random() < 0.6 else "claude_a") for r in (0, 1)]
        rows += [(f"q{n}", "gpt_x", "full", r, "gpt_a") for r in (0, 1)]
    (excess,) = (e for e in paired.change_rate(frame_of(rows), "asked") if e.id == "excess_change")
    assert excess.low > 0 and excess.low <= 0.4 - 0.48 / 2 <= excess.high


def test_partners_are_those_that_were_named_and_of_the_same_model() -> None:
    rows = [("q1", "gpt_x", "none", r, "gpt_a" if r else "claude_a") for r in (0, 1)]
    rows += [("q1", "gpt_x", "self", 0, "gpt_a"), ("q1", "gpt_x", "full", 0, "gpt_a")]
    frame = frame_of(rows).assign(judge_model="a", partner=0)
    frame.loc[frame["condition"] == "full", "partner"] = 1
    assert paired.pairs(frame, "self")["difference"].tolist() == [1.0]
    assert paired.pairs(frame, "full")["difference"].tolist() == [0.0]
    assert hinting.unpaired(frame) == ""
    frame.loc[frame["condition"] == "full", "judge_model"] = "b"
    assert paired.pairs(frame, "full").empty and hinting.unpaired(frame).startswith("1 hinted judgments")
    again = [e for e in paired.change_rate(frame, "asked") if e.id == "change_rate_repeat"]
    assert all(math.isnan(e.value) for e in again), "partners of different hints are no repeats of each other"


def test_a_change_of_spread_is_the_difference_of_the_two_groups_metrics() -> None:
    frame = frame_of(random_rows(40, 4, ("none", "full")))
    found = hinting.measure(frame, "asked", 42, 5.0)
    for metric in groups.SPREADS:
        change = value(found, "spread_change", hint="full", metric=metric)
        assert change == pytest.approx(value(found, metric, hint="full") - value(found, metric, hint="none"))


def metric_by_hand(rows: list[tuple[str, str, str, int, str | None]], condition: str, metric: str) -> float:
    """A metric of spread from the winners alone, in plain Python."""
    wins = [(j, w.split("_")[0]) for _, j, c, _, w in rows if c == condition and w]
    judges = sorted({j for j, _ in wins})
    by_judge = [fmean(v == j.split("_")[0] for k, v in wins if k == j) for j in judges]
    vendors = ("claude", "gpt")
    own = [fmean(v == vendor for j, v in wins if j.startswith(vendor)) for vendor in vendors]
    return {
        "deviation_from_expected": fmean(abs(rate - 0.5) for rate in own),
        "balance": pstdev(fmean(v == vendor for _, v in wins) for vendor in vendors),
        "consistency_judges": pstdev(by_judge),
        "consistency_vendors": pstdev(own),
    }[metric]


@pytest.mark.parametrize("metric", groups.SPREADS)
def test_a_change_of_spread_from_the_winners_alone(metric: str) -> None:
    rows = random_rows(40, 11, ("none", "full"))
    found = {e.where["metric"]: e for e in groups.spread_change(frame_of(rows), "asked", 1)}
    expected = metric_by_hand(rows, "full", metric) - metric_by_hand(rows, "none", metric)
    assert found[metric].value == pytest.approx(expected, abs=1e-12)
    assert found[metric].low <= expected <= found[metric].high
    assert found[metric].n == sum(w is not None for *_, w in rows), "a judgment counts once, whatever the metric"


def without(frame: pd.DataFrame, lost: pd.Series) -> pd.DataFrame:
    """The frame with these rows' judgments lost."""
    nothing = {"rank": math.nan, "top": math.nan, "outcome": "unparsed"}
    return frame.assign(**{column: frame[column].mask(lost, filler) for column, filler in nothing.items()})


def test_a_vendor_whose_judges_never_give_a_ranking_leaves_no_mean_over_vendors() -> None:
    frame = hinted(World(), 40, np.random.default_rng(1), {"full": 0.5})
    mute = frame["judge_vendor"] == "gemini"
    found, alone = (
        {e.where["metric"]: e for e in groups.spread_change(each, "asked", 1)}
        for each in (without(frame, mute), frame[~mute])
    )
    assert found.keys() == {"balance"} and alone.keys() == set(groups.SPREADS)
    each, other = found["balance"], alone["balance"]
    assert (each.value, each.low, each.high) == (other.value, other.low, other.high)
    half = [*groups.spread_change(without(frame, mute & (frame["condition"] == "full")), "asked", 1)]
    assert {e.where["metric"] for e in half} == {"balance"}, "the others would compare three vendors with two"


def test_one_rate_alone_has_no_spread_to_change() -> None:
    frame = hinted(World(), 40, np.random.default_rng(1), {"full": 0.5})
    found = hinting.measure(frame[frame["judge"] == "gpt_fast"], "asked", 1, 5.0)
    for metric in ("consistency_judges", "consistency_vendors"):
        (change,) = (e for e in found if e.id == "spread_change" and e.where["metric"] == metric)
        assert math.isnan(change.value) and change.method == "one rate alone has no spread"
        assert math.isnan(value(found, metric, hint="full"))


# --- conclusions ------------------------------------------------------------------------------------------------------


def effect(hint: str, number: float, p: float, p_90: float, se: float = 0.0253) -> list[Estimate]:
    where = {"hint": hint, "vendor": "average"}
    given = (where, number, number - 2 * se, number + 2 * se, 480, 80, "pp", se)
    wide = Estimate("hint_effect_90", *given, "90 %", "asked", p_90)
    return [Estimate("hint_effect", *given, "question-clustered t; sign-flip p", "asked", p), wide]


def test_each_hint_ends_as_different_equivalent_or_inconclusive() -> None:
    found = [
        *effect("self", 0.10, 0.001, 0.99),
        *effect("competitors", 0.0, 0.9, 0.001),
        *effect("full", 0.03, 0.2, 0.3),
        *effect("swapped", 0.2, 1e-6, 0.99),
    ]
    assert hinting.conclusions(found) == {"self": "different", "competitors": "equivalent", "full": "inconclusive"}
    p = {hint: each.p for hint, each in paired.averages(found).items()}
    assert p == pytest.approx({"self": 0.003, "competitors": 0.9, "full": 0.4})
    told = hinting.finding(found, 5.0)
    assert "swapped" not in told, "the arm that deceives is no member of the family"
    assert "**raises own-vendor first places of all vendors on average under the hint self**" in told
    assert "changes nothing that matters (**equivalent** within ±5 pp)" in told and "**inconclusive**" in told
    assert "8.3 pp would be found in 80 % of such runs" in told
    assert "takes about 178 questions (241 after Holm)" in told


def test_single_vendors_are_leads_by_benjamini_and_hochberg() -> None:
    given = (-0.2, -0.3, -0.1, 160, 80, "pp", 0.05, "t", "simulated")
    single = [
        Estimate("hint_effect", {"hint": "full", "vendor": vendor}, *given, p)
        for vendor, p in (("gpt", 0.01), ("claude", 0.03), ("gemini", 0.04))
    ]
    assert [round(e.p, 9) for e in paired.concluded(single, "hint_effect")] == [0.03, 0.04, 0.04]
    told = hinting.finding([*effect("full", 0.0, 0.5, 0.5), *single], 5.0)
    assert "leans, not established: lowers own-vendor first places of GPT under the hint full" in told
    assert "by Benjamini and Hochberg, exploratory" in told and "- SIMULATED: single vendors" in told
    weak = [replace(each, p=0.06) for each in single]
    assert "exploratory" not in hinting.finding([*effect("full", 0.0, 0.5, 0.5), *weak], 5.0)
    alone = hinting.finding(effect("swapped", 0.2, 0.1, 1.0), 5.0)
    assert alone.startswith("None of the hints self, competitors, full was given")


def test_a_small_effect_that_is_proven_is_a_difference() -> None:
    assert hinting.conclusions(effect("full", 0.02, 1e-5, 1e-5, 0.004)) == {"full": "different"}


def test_five_questions_and_one_judge_conclude_nothing_and_say_why() -> None:
    rows = [row for row in random_rows(5, 5, ("none", "self")) if row[1] == "gpt_x" and row[4]]
    found = hinting.measure(frame_of(rows), "asked", 42, 5.0)
    assert all(math.isnan(e.low) for e in found if e.id in ("hint_effect", "hint_effect_90"))
    assert hinting.conclusions(found) == {"self": "inconclusive"}
    assert "cannot tell whether it raises own-vendor" in hinting.finding(found, 5.0)
    assert hinting.recommended(found).startswith("**No group")


def test_without_a_blind_group_nothing_is_compared() -> None:
    found = hinting.measure(frame_of(random_rows(20, 6, ("full",))), "folder", 42, 5.0)
    assert "no judgment under full has a blind partner" in hinting.finding(found, 5.0)
    assert value(found, "self_bias", vendor="gpt", hint="full") > 0


def test_a_group_is_recommended_only_with_a_proven_advantage() -> None:
    lower = [
        Estimate("average_self_bias", {"hint": "none"}, 0.45, data="asked"),
        Estimate("average_self_bias", {"hint": "self"}, 0.35, data="asked"),
        *(
            Estimate("excess_self_preference", {"vendor": "gpt", "hint": hint}, value, value - 0.02, value + 0.02)
            for hint, value in (("none", 0.1), ("self", 0.0))
        ),
    ]
    proven = hinting.goals([*lower, *effect("self", -0.10, 0.001, 0.99)]).set_index("goal")
    assert proven.loc["bias mitigation", "recommended"] == "self"
    told = hinting.recommended([*lower, *effect("self", -0.10, 0.001, 0.99)])
    assert told.startswith("Bias mitigation: *self*, lower than blind by a paired interval, where blind judges prefer")
    deceived = [*lower, Estimate("average_self_bias", {"hint": "swapped"}, 0.2, data="asked")]
    table = hinting.goals([*deceived, *effect("self", -0.1, 0.001, 1.0), *effect("swapped", -0.2, 0.0, 1.0)])
    assert table.iloc[1][["group", "recommended"]].tolist() == ["swapped", "self"], "nobody is told to deceive judges"
    doubtful = hinting.goals([*lower, *effect("self", -0.10, 0.2, 0.99)]).set_index("goal")
    assert doubtful.loc["bias mitigation", "recommended"] == "no group"
    assert doubtful.loc["bias mitigation", "why"] == "its difference to blind is not shown"
    proof = effect("self", -0.10, 0.001, 0.99)

    def why(*excess: tuple[str, float]) -> str:
        given = [
            Estimate("excess_self_preference", {"vendor": "gpt", "hint": hint}, at, at - 0.02, at + 0.02)
            for hint, at in excess
        ]
        return str(hinting.goals([*lower[:2], *given, *proof]).iloc[1]["why"])

    assert why(("none", 0.0), ("self", -0.1)) == "blind judges are not shown to prefer their own"
    assert why(("none", 0.1), ("self", -0.1)) == "it turns judges against their own"
    assert why(("none", 0.1), ("self", 0.0)) == ""
    balance = [replace(e, id="balance") for e in lower[:2]]
    assert hinting.goals([*balance, *proof]).set_index("goal").loc["balanced selection", "recommended"] == "no group"
    differ = [replace(e, id="consistency_judges", value=1 - e.value) for e in lower[:2]]
    change = Estimate("spread_change", {"hint": "self", "metric": "consistency_judges"}, 0.1, 0.02, 0.2, data="asked")
    told = hinting.recommended([*lower, *differ, change])
    assert told.endswith("; studying disruption: *self*, judges differ more than blind ones by a paired interval.")
    assert hinting.recommended([*lower, *differ, replace(change, low=-0.01)]).startswith("**No group")


@pytest.mark.parametrize(("moved", "found"), [(0.0, False), (0.5, True)])
def test_a_group_that_is_lower_than_chance_is_found_and_no_other(moved: float, found: bool) -> None:
    rng, rows = np.random.default_rng(3), random_rows(60, 11, ("none", "self", "full"))
    others = {"claude": "gpt_b", "gpt": "claude_b"}
    for at, (question, judge, condition, repeat, _) in enumerate(rows):
        if condition == "self" and rng.random() < moved:
            rows[at] = question, judge, condition, repeat, others[judge.split("_")[0]]
    gaps = [*hinting.chance(frame_of(rows), "asked", 7)]
    gap = one(gaps, "group_gap", metric="average_self_bias", side="lowest")
    assert (gap.p < 0.01) == found
    few = [*hinting.chance(frame_of([row for row in rows if row[0] < "q09"]), "asked", 7)]
    assert few and all(math.isnan(e.p) and math.isnan(e.low) for e in few), "no p and no range below 10 questions"


def test_every_number_is_of_a_declared_estimand() -> None:
    named = {"claude_a": "gpt", "claude_b": "claude", "gpt_a": "gpt", "gpt_b": "claude"}
    frame = frame_of(random_rows(30, 8, ("none", "self", "swapped")), named)
    every = [*published(), *hinting.measure(frame, "asked", 42, 5.0), *hinting.chance(frame, "asked", 42)]
    ids = {each.id for each in every}
    assert ids | {"self_bias_as_counted", "lost_as_counted"} == declared_ids("hinting", every)


# --- a real log -------------------------------------------------------------------------------------------------------


def test_the_real_full_hint_run_gives_its_published_rates_and_losses(real_data: Path) -> None:
    found = hinting.published_picks(datasets.load_top1(real_data / "llm_eval"), "folder")
    own = {e.where["vendor"]: e for e in found if e.id == "self_bias_as_counted"}
    assert (own["claude"].value, own["claude"].n) == (55 / 160, 160), "34.4 %"
    assert (own["gpt"].value, own["gpt"].n) == (102 / 160, 160), "63.75 %"
    assert (own["gemini"].value, own["gemini"].n) == (38 / 100, 100)
    lost = {e.where["judge"]: round(e.value * e.n) for e in found if e.id == "lost_as_counted"}
    assert lost == {
        "claude_fast": 0,
        "claude_thinking": 0,
        "gpt_fast": 0,
        "gpt_thinking": 0,
        "gemini_fast": 25,
        "gemini_thinking": 35,
    }
