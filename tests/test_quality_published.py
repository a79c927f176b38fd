"""The published counts of experiment 3: sums and rates by hand, and what may be concluded of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from scipy import stats

from helpers import paths
from helpers.biases import self_preference
from helpers.biases.self_preference.findings import from_published, pooled, runs
from helpers.claims import load_claims
from helpers.types import Estimate
from tests.runs import published_estimates

FOLDER = paths.EXPERIMENTS / "quality_self_preference"
EACH, BEFORE, UNFILTERED = "filtered each time", "filtered before", "unfiltered"
AGAIN = "filtered before and after"

#: As the reports print their totals: pairs, own right, own picked, own wrong picked, picks of the right answer.
TOTALS = {
    ("greedy", AGAIN, "before"): (874, 136, 162, 122, None),
    ("greedy", AGAIN, "after"): (831, 140, 113, 81, None),
    ("greedy", BEFORE, "before"): (885, 145, 128, 95, 678),
    ("greedy", BEFORE, "after"): (885, 145, 156, 120, 656),
    ("raw", AGAIN, "before"): (1186, 189, 136, 99, 935),
    ("raw", AGAIN, "after"): (1138, 179, 129, 94, None),
    ("raw", BEFORE, "before"): (1186, 189, 136, 99, 935),
    ("raw", BEFORE, "after"): (1186, 189, 163, 124, 912),
    ("nine pairs", BEFORE, "before"): (2481, 2481 - 1301, 1085, 341, 1704),
    ("nine pairs", BEFORE, "after"): (2481, 2481 - 1301, 1124, 374, 1677),
    ("official", UNFILTERED, "before"): (3490, 3490 - 2494, 2201, 1347, 2001),
    ("official", UNFILTERED, "after"): (3490, 3490 - 2494, 2109, 1274, 2055),
    ("official", EACH, "before"): (1474, 1474 - 1212, 192, 71, 1262),
    ("official", EACH, "after"): (1557, 1557 - 1284, 185, 71, 1327),
}


@pytest.fixture(scope="module")
def estimates() -> list[Estimate]:
    return [*published_estimates(FOLDER.name)]


def test_the_rows_sum_to_the_printed_totals_and_the_picks_of_the_right_answer_follow(counts: dict[str, Any]) -> None:
    table = pooled(runs(counts)).set_index(["run", "records_are", "phase"])
    assert set(table.index) == set(TOTALS)
    for place, (records, own_right, own, own_wrong_picked, right) in TOTALS.items():
        row = table.loc[place]
        assert tuple(row[["records", "own_right", "own_selected", "own_wrong_selected"]]) == (
            *(records, own_right, own, own_wrong_picked),
        ), place
        by_hand = (own - own_wrong_picked) + (records - own_right - own_wrong_picked)
        assert row["right"] == by_hand and (right is None or right == by_hand), place


def test_each_rate_stands_under_its_definition(estimates: list[Estimate]) -> None:
    at = {
        (e.id, e.where.get("run"), e.where.get("records"), e.where.get("phase")): e
        for e in estimates
        if len(e.where) == 3
    }
    first, later = "wrong_of_self_selected", "harmful_self_preference_rate"
    assert at[first, "greedy", AGAIN, "before"].value == pytest.approx(122 / 162)
    assert at[first, "greedy", AGAIN, "after"].value == pytest.approx(81 / 113)
    assert at[later, "greedy", AGAIN, "before"].value == pytest.approx(122 / (874 - 136))
    assert at[later, "greedy", BEFORE, "after"].value == pytest.approx(120 / 740)
    assert at["judge_accuracy", "official", UNFILTERED, "after"].value == pytest.approx(2055 / 3490)
    interval = stats.binomtest(374, 1301).proportion_ci(method="wilson")
    after = at[later, "nine pairs", BEFORE, "after"]
    assert (after.low, after.high) == pytest.approx((interval.low, interval.high))
    assert after.method == "Wilson; counts, independence assumed" and after.clusters == 0 and after.data == "published"


def test_changes_are_bare_numbers_that_say_why(estimates: list[Estimate]) -> None:
    changes = {
        (e.where["rate"], e.where["run"], e.where["records"]): e for e in estimates if e.id == "published_change"
    }
    rate = "harmful_self_preference_rate"
    assert changes[rate, "official", UNFILTERED].value == pytest.approx((1274 - 1347) / 2494)
    assert changes[rate, "greedy", AGAIN].value == pytest.approx(81 / 691 - 122 / 738)
    assert all(e.low != e.low and e.p != e.p for e in changes.values())
    assert "other pairs before than after" in changes[rate, "raw", AGAIN].method
    assert "not published" in changes[rate, "raw", BEFORE].method


def test_rates_of_few_have_no_interval(estimates: list[Estimate]) -> None:
    where = {"run": "greedy", "records": AGAIN, "phase": "after", "judge": "llama31_8b", "opponent": "ds_v3"}
    (one,) = [e for e in estimates if e.id == "wrong_of_self_selected" and dict(e.where) == where]
    assert (one.value, one.n) == (0.0, 1) and one.low != one.low and "no interval below 10" in one.method


def test_generators_keep_the_answers_that_were_skipped(estimates: list[Estimate]) -> None:
    of = {(e.id, e.where["model"]): e for e in estimates if e.id.startswith("generator")}
    for model, correct, read in (("ds_v3", 2261, 2522), ("llama31_70b", 1894, 2439), ("llama31_8b", 1330, 2221)):
        assert of["generator_accuracy", model].value == pytest.approx(correct / read)
        assert of["generator_accuracy_all", model].value == pytest.approx(correct / 2523)
        assert of["generator_skipped", model].value == 2523 - read


def test_what_is_kept_and_what_the_programs_are(estimates: list[Estimate]) -> None:
    kept = {
        e.where["opponent"]: e.value
        for e in estimates
        if e.id == "published_retention" and e.where["judge"] == "llama31_8b"
    }
    assert kept == pytest.approx({"ds_v3": 405 / 590, "gpt_oss": 204 / 472})
    programs = {e.where["right"]: e.value for e in estimates if e.id == "code_pairs"}
    assert programs["any"] == 378 == 260 + 70 + 29 + 19


def test_the_counts_do_not_contradict_each_other(counts: dict[str, Any]) -> None:
    table = self_preference.findings.runs(counts)
    right = table["own_selected"] - table["own_wrong_selected"]
    assert right.between(0, table["own_right"]).all() and table["own_wrong_selected"].le(table["own_wrong"]).all()


def told(counts: dict[str, Any]) -> str:
    return self_preference.published_finding(counts, from_published(counts))


@pytest.fixture(scope="module")
def said(counts: dict[str, Any], estimates: list[Estimate]) -> str:
    return self_preference.published_finding(counts, estimates)


def test_the_finding_is_computed_and_settles_nothing_that_counts_cannot(said: str) -> None:
    assert "*greedy*, filtered before and after: 16.53 % to 11.72 % (-4.81 pp), of 738 and of 691 pairs." in said
    assert "54.01 % to 51.08 % (-2.93 pp), of the same 2494 pairs: -73; p < 0.05 only if at most 1349" in said
    # 73 fewer: with D changed pairs (D - 73)/2 came and (D + 73)/2 left.
    assert stats.binomtest((1349 + 73) // 2, 1349).pvalue < 0.05 <= stats.binomtest((1351 + 73) // 2, 1351).pvalue
    assert "from 75.31 % to 71.68 % in the first report, from 74.22 % to 76.92 % in the second" in said
    assert "The nine pairs changed by +33 in all, +28 of it in llama31_8b against ds_v3 (+14) and qwen25_7b" in said
    assert "these counts do not settle" in said


def test_the_order_that_was_not_printed_follows_from_the_pairs_that_left(said: str) -> None:
    # raw: 997 - 959 = 38 pairs left, 124 - 94 = 30 of them picked when first, so 8 when last: 94 + 8 = 102.
    assert (
        "*raw*, of 997 pairs: 99 before (both orders), after the edit 124 with the own answer first, 102 with" in said
    )
    assert "120 with the own answer first, 91 with it last" in said and "94 of 959." in said
    assert "81 of 691, if these are among the former." in said


def test_changes_beyond_every_pairing_are_named(said: str) -> None:
    named = said[said.index("whichever pairs changed: ") :].split("\n")[0]
    # 4 to 18 of 344: at most 22 changed, 4 one way and 18 the other.
    assert stats.binomtest(4, 22).pvalue < 0.05
    assert "llama31_8b against ds_v3 in *nine pairs*, filtered before (4 to 18" in named
    # 26 to 40 of 223: had all 66 changed, p is above the level.
    assert stats.binomtest(26, 66).pvalue > 0.05 and "qwen25_7b" not in named
    assert named.count("llama31_8b against ds_v3") == 3


def test_the_words_follow_other_counts(counts: dict[str, Any]) -> None:
    other = copy.deepcopy(counts)
    nine = other["nine_pairs_filtered_before"]["counts"]
    nine["before"], nine["after"] = nine["after"], nine["before"]
    said = told(other)
    assert "The nine pairs changed by -33 in all, -28 of it in" in said and "28.75 % to 26.21 % (-2.54 pp)" in said
    nine["after"] = copy.deepcopy(nine["before"])
    said = told(other)
    assert "The nine pairs changed by +0 in all. The filter" in said and "p < 0.05 for no number of changes" in said


def test_every_total_of_every_report_is_claimed() -> None:
    claims = load_claims(FOLDER / "claims.yaml")
    assert next(each for each in claims if each.id == "nine_pairs_accuracy_falls").expect == "differs"
    records = [each.where for each in claims if each.estimand == "published_records"]
    assert {(where["run"], where["records"], where["phase"]) for where in records} == set(TOTALS)
