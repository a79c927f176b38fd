"""Experiment 1's numbers: published ones come out, a tiny frame gives what a hand computes, sentences follow data."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, frames, run
from helpers.biases import top_choice
from helpers.biases.top_choice import defended, rates
from helpers.biases.top_choice.measured import pick
from helpers.types import Estimate
from helpers.words.numbers import load_numbers
from studies.calibration.worlds.listwise import WORLDS, draw, frame
from tests.runs import as_published, asked, full_estimates, full_run, published_estimates, settled, value

VENDORS = ("claude", "gemini", "gpt")
SPREADS = ("deviation_from_expected", "balance", "consistency_judges", "consistency_vendors")


def test_no_number_from_counts_is_called_clustered() -> None:
    published = published_estimates()
    for each in published:
        if each.id.startswith("released_"):
            known = ("question-clustered", "worst case", "rough")
            assert each.method.startswith(known if each.low == each.low else ("no interval", "counted")), each
            continue
        assert "cluster" not in each.method
        has_interval = each.low == each.low
        if has_interval and each.id != "score_mean":
            assert "independence assumed" in each.method, each
        if not has_interval:
            assert each.method.startswith("no interval"), each
    told = top_choice.published_finding(published)
    assert "cannot separate" in told and "+7.2 pp [-1.0, +15.8]" in told


# --- a tiny frame, by hand --------------------------------------------------------------------------------------------

#: c, g, G, m: the candidate on top; "!": an invalid ranking; ".": no reply. Twelve questions, 6 in x and 6 in y.
PICKS = {"jc": "cccccgGggm!.", "jg": "gGGggggcccmm", "jm": "mmmccggGGg.m"}
JUDGES = {"jc": "claude", "jg": "gpt", "jm": "gemini"}
CANDIDATES = {"c": ("claude", "fast"), "g": ("gpt", "fast"), "G": ("gpt", "thinking"), "m": ("gemini", "fast")}
SCORES = (9.0, 5.0, 3.0, 1.0)


def order_of(judge: str, question: int) -> str:
    turn = (question + list(JUDGES).index(judge)) % 4
    return "cgGm"[turn:] + "cgGm"[:turn]


def tiny() -> pd.DataFrame:
    """The listwise frame of PICKS: after the pick come the others in the order of "cgGm"."""
    rows = []
    for judge, picks in PICKS.items():
        for question, top in enumerate(picks):
            valid = top in CANDIDATES
            ranking = top + "cgGm".replace(top, "") if valid else "cgGm"
            for slot, candidate in enumerate(order_of(judge, question)):
                vendor, tier = CANDIDATES[candidate]
                place = ranking.index(candidate)
                rows.append(
                    {
                        "experiment": "mt_bench_blind",
                        "question_id": f"q{question:02}",
                        "category": "x" if question < 6 else "y",
                        "judge": judge,
                        "judge_vendor": JUDGES[judge],
                        "judge_tier": "fast",
                        "judge_model": judge,
                        "candidate": candidate,
                        "candidate_vendor": vendor,
                        "candidate_tier": tier,
                        "candidate_model": candidate,
                        "condition": "none",
                        "repeat": 0,
                        "slot": slot,
                        "label": "ABCD"[slot],
                        "rank": place + 1.0 if valid else math.nan,
                        # An invalid ranking may come with scores; they must not count either.
                        "score": SCORES[place] if top != "." else math.nan,
                        "top": float(place == 0) if valid else math.nan,
                        "outcome": "ok" if valid else "invalid_ranking" if top == "!" else "missing",
                        "contradicts": False,
                        "own_vendor": vendor == JUDGES[judge],
                        "own_model": False,
                        "length": 100 + question,
                    }
                )
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def small() -> list[Estimate]:
    return top_choice.measure(tiny(), "asked", 42)


def test_rates_of_a_tiny_frame(small: list[Estimate]) -> None:
    # jc: 5 c, 4 gpt, 1 m of 10 valid; jg: 3 c, 7 gpt, 2 m of 12; jm: 2 c, 5 gpt, 4 m of 11.
    by_hand = {
        "jc": {"claude": 5 / 10, "gpt": 4 / 10, "gemini": 1 / 10},
        "jg": {"claude": 3 / 12, "gpt": 7 / 12, "gemini": 2 / 12},
        "jm": {"claude": 2 / 11, "gpt": 5 / 11, "gemini": 4 / 11},
    }
    for judge, row in by_hand.items():
        for vendor, rate in row.items():
            assert value(small, "top1_rate", judge=judge, vendor=vendor) == pytest.approx(rate)
    assert {e.where["judge"]: e.n for e in small if e.id == "top1_rate"} == {"jc": 10, "jg": 12, "jm": 11}
    for vendor, share in {"claude": 10 / 33, "gpt": 16 / 33, "gemini": 7 / 33}.items():
        assert value(small, "vendor_share", vendor=vendor) == pytest.approx(share)
    own = {"claude": 5 / 10, "gpt": 7 / 12, "gemini": 4 / 11}
    expected = {"claude": 1 / 4, "gpt": 2 / 4, "gemini": 1 / 4}
    assert rates.expected_shares(tiny()) == expected
    for vendor, rate in own.items():
        assert value(small, "self_bias", vendor=vendor) == pytest.approx(rate)
        assert value(small, "naive_self_preference", vendor=vendor) == pytest.approx(rate - expected[vendor])
    assert value(small, "average_self_bias") == pytest.approx(fmean(own.values()))
    deviation = (abs(5 / 10 - 1 / 4) + abs(7 / 12 - 1 / 2) + abs(4 / 11 - 1 / 4)) / 3
    assert value(small, "deviation_from_expected") == pytest.approx(deviation)
    assert value(small, "balance") == pytest.approx(pstdev([10 / 33, 16 / 33, 7 / 33]))
    assert value(small, "consistency_judges") == pytest.approx(pstdev(own.values()))
    assert value(small, "consistency_vendors") == pytest.approx(pstdev(own.values()))


def test_differences_of_a_tiny_frame(small: list[Estimate]) -> None:
    excess = {"claude": 5 / 10 - 5 / 23, "gpt": 7 / 12 - 9 / 21, "gemini": 4 / 11 - 3 / 22}
    for vendor, gap in excess.items():
        assert value(small, "excess_self_preference", vendor=vendor) == pytest.approx(gap)
    gaps = {"jc": 5 / 10 - (3 / 12 + 2 / 11) / 2, "jg": 7 / 12 - (4 / 10 + 5 / 11) / 2}
    gaps["jm"] = 4 / 11 - (1 / 10 + 2 / 12) / 2
    for judge, gap in gaps.items():
        assert value(small, "bias_difference", judge=judge) == pytest.approx(gap)
    log = math.log
    odds = {
        "claude": (log(5 / 1) - log(3 / 2) + log(5 / 4) - log(2 / 5)) / 2,
        "gpt": (log(7 / 2) - log(4 / 1) + log(7 / 3) - log(5 / 2)) / 2,
        "gemini": (log(4 / 5) - log(1 / 4) + log(4 / 2) - log(2 / 3)) / 2,
    }
    for vendor, logit in odds.items():
        assert value(small, "third_party_log_odds", vendor=vendor) == pytest.approx(logit)


def test_tiers_slots_scores_and_agreement_of_a_tiny_frame(small: list[Estimate]) -> None:
    assert value(small, "tier_preference", vendor="gpt", tier="fast") == pytest.approx(11 / 16)
    assert value(small, "tier_preference", vendor="gpt", tier="thinking") == pytest.approx(5 / 16)
    valid = [(judge, q, top) for judge, picks in PICKS.items() for q, top in enumerate(picks) if top in CANDIDATES]
    won = Counter(order_of(judge, q).index(top) for judge, q, top in valid)
    for slot in range(4):
        assert value(small, "position_effect", slot=str(slot + 1)) == pytest.approx(won[slot] / 33 - 1 / 4)
    for candidate, (vendor, tier) in CANDIDATES.items():
        places = [(top + "cgGm".replace(top, "")).index(candidate) for _, _, top in valid]
        mean = fmean(SCORES[place] for place in places)
        assert value(small, "score_mean", vendor=vendor, tier=tier) == pytest.approx(mean)
    pairs = [
        PICKS[one][q] == PICKS[two][q]
        for q in range(12)
        for one, two in combinations(PICKS, 2)
        if PICKS[one][q] in CANDIDATES and PICKS[two][q] in CANDIDATES
    ]
    assert len(pairs) == 10 * 3 + 0 + 1
    assert value(small, "raw_agreement") == pytest.approx(fmean(pairs))


def test_categories_of_a_tiny_frame(small: list[Estimate]) -> None:
    for category, part in (("x", slice(0, 6)), ("y", slice(6, 12))):
        own = []
        for judge, vendor in JUDGES.items():
            tops = [CANDIDATES[top][0] for top in PICKS[judge][part] if top in CANDIDATES]
            for candidate_vendor in VENDORS:
                where = {"judge_vendor": vendor, "category": category, "vendor": candidate_vendor}
                share = tops.count(candidate_vendor) / len(tops)
                assert value(small, "category_top1_rate", **where) == pytest.approx(share)
            own.append(tops.count(vendor) / len(tops))
            assert value(small, "category_self_bias", vendor=vendor, category=category) == pytest.approx(own[-1])
        assert value(small, "category_average_self_bias", category=category) == pytest.approx(fmean(own))


def test_losses_are_counted_and_never_scored(small: list[Estimate]) -> None:
    for judge, share in {"jc": 2 / 12, "jg": 0.0, "jm": 1 / 12}.items():
        assert value(small, "unreadable_share", judge=judge) == pytest.approx(share)
    table = frames.losses(tiny()).set_index("judge")
    assert table.loc["jc", ["judgments", "ok", "invalid_ranking", "missing"]].tolist() == [12, 10, 1, 1]
    assert table.loc["jm", ["judgments", "ok", "invalid_ranking", "missing"]].tolist() == [12, 11, 0, 1]
    assert table["unreadable"].to_dict() == pytest.approx({"jc": 2 / 12, "jg": 0.0, "jm": 1 / 12})
    without = tiny()
    without = without[without["outcome"] == "ok"]
    fewer = {(e.id, *sorted(e.where.items())): e.value for e in top_choice.measure(without, "asked", 42)}
    for each in small:
        if each.id != "unreadable_share" and "noise_floor" not in each.id and each.value == each.value:
            assert fewer[each.id, *sorted(each.where.items())] == pytest.approx(each.value, abs=1e-6), each


def test_a_frame_without_a_valid_ranking_is_a_result_and_an_empty_one_an_error() -> None:
    lost = tiny().assign(rank=math.nan, top=math.nan, outcome="truncated")
    found = top_choice.measure(lost, "asked", 42)
    assert {each.value for each in found if each.id == "unreadable_share"} == {1.0}
    assert all(math.isnan(each.value) for each in found if each.id != "unreadable_share")
    with pytest.raises(ValueError, match="no valid ranking"):
        top_choice.measure(tiny().iloc[:0], "asked", 42)


def test_a_vendor_whose_judges_gave_no_valid_ranking_has_no_rate_and_leaves_no_mean_over_vendors() -> None:
    frame = tiny()
    silent = frame["judge"] == "jm"
    frame.loc[silent, ["rank", "top"]] = math.nan
    frame.loc[silent, "outcome"] = "refused"
    found = top_choice.measure(frame, "asked", 42)
    assert [each.where["vendor"] for each in found if each.id == "self_bias"] == ["claude", "gpt"]
    whole = top_choice.measure(frame[frame["judge"] != "jm"], "asked", 42)
    deviation = (abs(5 / 10 - 1 / 4) + abs(7 / 12 - 1 / 2)) / 2
    assert value(whole, "deviation_from_expected") == pytest.approx(deviation)
    for id in ("average_self_bias", "deviation_from_expected", "consistency_vendors", "consistency_judges"):
        (each,) = (e for e in found if e.id == id)
        assert math.isnan(each.value) and each.method.startswith("no valid ranking of"), "not a mean over the others"
    assert value(found, "unreadable_share", judge="jm") == 1.0


def test_unknown_lengths_leave_the_primary_row_without_slopes_and_say_so() -> None:
    found = top_choice.measure(tiny().assign(length=math.nan), "folder", 42)
    rows = [each for each in found if each.where.get("variant") == "with length, lists and bold"]
    assert len(rows) == 6 and all(math.isnan(each.value) and "length" in each.method for each in rows)
    assert not any(each.where.get("variant") == "without length" or each.id == "length_slope" for each in found)
    (primary,) = (e for e in found if e.id == "self_preference_logit" and e.where == {"vendor": "gpt"})
    assert not math.isnan(primary.value) and "without length: not every answer's length is known" in primary.method


def test_a_taste_for_length_is_no_self_preference() -> None:
    """GPT writes longer and its judges like that; the row without slopes of length accuses them, the primary does not.

    Values are held against the population, in which 2,000 questions are close: without partiality 0, and 0.5 per sd
    of length within a vendor, which is 1 / 1.1 of the sd over all answers (GPT's are 1 sd longer), less what tastes
    and noise take off.
    """
    rows = frame(draw(WORLDS["length_taste"], 300, np.random.default_rng([4, 1])))
    found = [*defended.self_preference(rows, "folder"), *defended.self_preference(rows, "folder", "without length")]
    by = {(e.id, e.where["vendor"], e.where.get("variant", "")): e for e in found if "vendor" in e.where}
    primary, without = (by["self_preference_logit", "gpt", variant] for variant in ("", "without length"))
    assert primary.low < 0 < primary.high and without.low > 0.1
    slopes = [by["length_slope", vendor, ""] for vendor in ("claude", "gpt", "gemini")]
    assert slopes[1].low > 0.2 and all(slope.low < 0 < slope.high for slope in (slopes[0], slopes[2]))
    told = top_choice.finding(found)
    assert told.count("to explain it away") == 1 and "own answers are" in told and "longer" in told
    # What would explain away a preference that is not there is the slope that was found.
    assert abs(by["explaining_length_slope", "gpt", ""].value - slopes[1].value) < 0.2

    same = defended.self_preference(rows.assign(length=1000), "folder")
    assert not any(each.id == "length_slope" for each in same), "answers of one length have no slope"


def test_where_there_is_no_estimate_the_excess_is_described_with_its_caveat() -> None:
    rows = frame(draw(WORLDS["plain"], 40, np.random.default_rng(2)))
    two = rows[(rows["candidate_vendor"] != "gemini") & (rows["judge_vendor"] != "gemini")].copy()
    two["rank"] = two.groupby(["question_id", "judge"])["rank"].rank()
    two["top"] = (two["rank"] == 1).astype(float)
    found = [*defended.excess_self_preference(two, "folder"), *defended.self_preference(two, "folder")]
    told = top_choice.finding(found).partition("- GPT as a judge:")[2]
    excess = next(e for e in found if e.id == "excess_self_preference" and e.where == {"vendor": "gpt"})
    assert "cannot tell whether it prefers its own vendor (GPT) at equal quality and position: not identified" in told
    assert f"puts GPT first {excess} more often than other vendors' judges do, which a partial rival or" in told


def test_orders_that_are_not_balanced_are_told() -> None:
    frame = tiny()
    assert all("balanced" not in each.method for each in defended.position_effect(frame, "asked"))
    constant = frame.assign(slot=frame["candidate"].map({name: i for i, name in enumerate("cgGm")}))
    constant = constant.assign(label=constant["slot"].map(dict(enumerate("ABCD"))))
    found = top_choice.measure(constant, "asked", 42)
    assert all(defended.UNBALANCED in each.method for each in found if each.id == "position_effect")
    assert "hold their quality too" in top_choice.positions(found)
    logits = [each for each in found if each.id == "self_preference_logit"]
    assert logits and all(defended.ONE_SLOT in each.method for each in logits if each.value == each.value)
    assert all(each.value == each.value for each in logits if "variant" not in each.where)
    assert "always stood in one place" in top_choice.finding(found)


# --- what a whole run gives -------------------------------------------------------------------------------------------


def test_every_number_is_of_a_declared_estimand() -> None:
    every = [*published_estimates(), *full_estimates()]
    floors = {each.id for each in every if each.id.endswith(("_noise_floor", "_corrected"))}
    assert floors == {f"{id}_{beside}" for id in SPREADS for beside in ("noise_floor", "corrected")}
    ids = {each.id for each in every}
    estimands = load_numbers("top_choice").estimands
    assert ids == set(estimands), "each estimand is measured and each number is declared"
    for id, declared in estimands.items():
        assert declared.id == id
        assert all((declared.words, declared.formula, declared.numerator, declared.denominator, declared.interval))
        assert declared.words.endswith(".") and declared.source
        assert (declared.cluster == "question") != id.startswith("released_"), "those have the clusters of their source"
        assert {each.unit for each in every if each.id == id} == {declared.unit}


def test_every_place_has_one_number_and_every_number_its_data() -> None:
    places = [(each.id, tuple(sorted(each.where.items()))) for each in full_estimates()]
    assert len(set(places)) == len(places)
    assert {each.data for each in full_estimates()} == {"simulated"}


def test_no_interval_leaves_its_range() -> None:
    for each in full_estimates():
        if each.low == each.low:
            assert each.low <= each.value <= each.high and each.n > 0 and each.method, each
            assert each.unit != "rate" or (each.low >= 0 and each.high <= 1), each
            assert each.clusters >= 10, each


def test_noise_floors_are_what_noise_alone_would_show() -> None:
    found = full_estimates()
    own = [each for each in found if each.id == "self_bias"]
    # If all rates were as expected, |rate - expected| of a normal rate would be se * sqrt(2 / pi) on average.
    by_hand = fmean(each.se * math.sqrt(2 / math.pi) for each in own)
    floor = value(found, "deviation_from_expected_noise_floor")
    assert floor == pytest.approx(by_hand, rel=0.2)
    for id in SPREADS:
        assert 0 < value(found, f"{id}_noise_floor") < value(found, id)


def test_a_run_of_five_questions_has_numbers_but_no_interval_and_no_verdict() -> None:
    few = asked(question_limit=5)
    found = top_choice.measure(few.frame, few.data, 42)
    assert all(math.isnan(each.low) for each in found)
    told = top_choice.finding(found)
    assert told.count("cannot tell whether it prefers") == 3 and "no interval below 10 questions" in told
    assert "no sign" not in told and "**" not in told
    assert top_choice.positions(found).count("cannot tell whether it favours place") == 6
    assert "5 questions can carry no interval" in run.provenance(few)


def test_two_vendors_cannot_be_told_apart() -> None:
    names = [f"sim_{vendor}_{tier}" for vendor in ("claude", "gpt") for tier in ("fast", "thinking")]
    two = asked(judges=names, candidates=names, question_limit=24)
    found = top_choice.measure(two.frame, two.data, 42)
    assert top_choice.finding(found).count("only the sum is identified") == 2
    assert not pick(found, "third_party_log_odds")
    assert all(each.value == each.value for each in pick(found, "self_bias"))
    third = asked(judges=names, candidates=[*names, "sim_gemini_fast"], question_limit=24)
    assert "only the sum" not in top_choice.finding(top_choice.measure(third.frame, third.data, 42))


def test_judges_without_an_own_candidate_have_no_self_preference() -> None:
    outsider = asked(judges=["sim_claude_fast"], candidates=["sim_gpt_fast", "sim_gemini_fast"], question_limit=24)
    found = top_choice.measure(outsider.frame, outsider.data, 42)
    ids = {each.id for each in found}
    assert not ids & {"self_bias", "average_self_bias", "deviation_from_expected", "self_preference_logit"}
    assert {"top1_rate", "vendor_share", "balance", "position_effect"} <= ids
    assert top_choice.finding(found).startswith("No judge's own vendor is among the candidates")
    assert top_choice.agreement_words(found) == "One judge alone cannot agree or disagree."


def test_stored_judgments_show_what_is_missing(tmp_path: Path) -> None:
    stored = asked(store=str(tmp_path), judgments="stored", question_limit=12)
    assert set(stored.frame["outcome"]) == {"missing"} and len(stored.judgments) == 72
    assert "72 (100.0%) have no readable verdict; 72 of these are missing" in run.provenance(stored)
    with pytest.raises(ValueError, match="72 missing"):
        top_choice.measure(stored.frame, stored.data, 42)


# --- sentences --------------------------------------------------------------------------------------------------------


def claimed(vendor: str, number: float, low: float, high: float, p: float, method: str = "") -> list[Estimate]:
    facts = {"n": 480, "clusters": 80, "se": (high - low) / 4, "method": method, "data": "asked", "p": p}
    where = {"vendor": vendor}
    return [
        Estimate("self_preference_logit", where, number, low, high, unit="logit", **facts),
        Estimate("self_preference_effect", where, number / 5, low / 5, high / 5, unit="pp", **facts),
    ]


def test_the_bottom_line_follows_the_interval() -> None:
    nan = float("nan")
    told = top_choice.finding(
        [
            *claimed("claude", 0.1, -0.2, 0.4, 0.5),
            *claimed("gpt", 0.9, 0.6, 1.2, 1e-6),
            *claimed("gemini", -0.8, -1.1, -0.5, 1e-5),
            *claimed("llama", 0.3, 0.02, 0.6, 0.04),
            *claimed("qwen", 0.5, nan, nan, nan, "no interval below 10 questions"),
            *claimed("mistral", nan, nan, nan, nan, "did not converge"),
        ]
    )
    told = {each.split()[0]: each for each in told.removeprefix("- ").split("\n- ")}
    assert list(told) == ["Claude", "GPT", "Gemini", "Llama", "Qwen", "Mistral"]
    assert "no sign that it prefers its own vendor (Claude)" in told["Claude"] and "80 %" in told["Claude"]
    assert "**prefers its own vendor (GPT)" in told["GPT"] and "+18.0 pp [+12.0, +24.0]" in told["GPT"]
    assert "**avoids its own vendor (Gemini)" in told["Gemini"]
    assert "leans, not established: prefers its own vendor (Llama)" in told["Llama"]
    assert (
        "cannot tell whether it prefers its own vendor (Qwen)" in told["Qwen"]
        and "no interval below 10" in told["Qwen"]
    )
    assert told["Mistral"].endswith("at equal quality and position: did not converge.")


def test_the_bottom_line_of_a_run_says_no_sign_wherever_the_interval_holds_zero() -> None:
    parts = top_choice.finding(full_estimates()).split("- SIMULATED: ")[1:]
    told = {part.split()[0].lower(): part for part in parts}
    assert set(told) == set(VENDORS), "a quoted sentence accuses nobody real"
    for each in pick(full_estimates(), "self_preference_logit"):
        assert ("no sign" in told[each.where["vendor"]]) == (each.low <= 0 <= each.high)


def test_holm_is_taken_over_the_vendors_and_not_over_the_variants() -> None:
    family = [*claimed("claude", 0.1, -0.2, 0.4, 0.5), *claimed("gpt", 1, 0.5, 1.5, 0.01)]
    family += claimed("gemini", 1, 0.5, 1.5, 0.02)
    extra = [replace(each, where={**each.where, "variant": "top 1"}) for each in family]
    # Holm by hand: 3 x 0.01, 2 x 0.02, 1 x 0.5, never falling.
    by_hand = {"gpt": 0.03, "gemini": 0.04, "claude": 0.5}
    found = {e.estimate.where["vendor"]: e.p for e in top_choice.by_vendor([*family, *extra])}
    assert found == pytest.approx(by_hand)


def test_slots_are_called_clear_only_where_their_interval_says_so() -> None:
    slots = [
        Estimate("position_effect", {"slot": str(i)}, v, v - 0.03, v + 0.03, 80, 80, "pp", 0.01 + i / 1000, p=p)
        for i, (v, p) in enumerate(((0.1, 1e-4), (0.0, 1.0), (-0.1, 1e-4)), start=1)
    ]
    told = top_choice.positions(slots)
    first, second, third = told.splitlines()[1:]
    assert "leans, not established: favours place 1: +10.0 pp" in first and "no sign that it favours place 2" in second
    assert "leans, not established: avoids place 3: -10.0 pp" in third
    # About (2.45 + 0.85) standard errors: the level of the first of three tests.
    assert second.endswith("; 4.0 pp would be found in 80 % of such runs.")


# --- published judgments ----------------------------------------------------------------------------------------------


def test_a_real_run_gives_the_published_counts(real_data: Path) -> None:
    folder = real_data / "llm_eval"
    real = asked(judgments=str(folder))
    assert real.data == "folder" and len(real.frame) == 480 * 6
    tops = datasets.load_top1(folder)
    own = tops[tops["pick_vendor"] == tops["judge_vendor"]].groupby("judge_vendor").size()
    asked_of = tops.groupby("judge_vendor").size()
    assert (own["claude"], asked_of["claude"]) == (55, 160) and (own["gpt"], asked_of["gpt"]) == (102, 160)
    found = top_choice.measure(real.frame, real.data, 42)
    # 34.4 and 63.7 % of the published group; the frame counts the 413 complete rankings only.
    assert value(found, "self_bias", vendor="claude") == pytest.approx(55 / 160, abs=0.02)
    assert value(found, "self_bias", vendor="gpt") == pytest.approx(102 / 160, abs=0.02)
    assert "There is no control: all of them are of the condition full" in run.provenance(real)
    assert "always stood in one place" in top_choice.finding(found)
    shown = top_choice.balance_of_orders(real.frame)
    assert (shown > 0).sum(axis=1).eq(1).all(), "one letter a model: place and model are confounded"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_published(full_run(), tmp_path_factory.mktemp("published"))


def test_judgments_from_a_folder_give_the_same_rates_as_those_asked(folder: Path) -> None:
    loaded = asked(judgments=str(folder))
    assert loaded.data == "folder" and loaded.judgments == ()
    found = top_choice.measure(loaded.frame, loaded.data, 42)
    for id in ("self_bias", "excess_self_preference", "third_party_log_odds"):
        for vendor in VENDORS:
            assert value(found, id, vendor=vendor) == pytest.approx(value(full_estimates(), id, vendor=vendor))
    for slot in range(6):
        both = (value(each, "position_effect", slot=str(slot + 1)) for each in (found, full_estimates()))
        assert next(both) == pytest.approx(next(both))
    assert {each.data for each in found} == {"folder"}
    assert "SIMULATED" not in run.provenance(loaded)


def test_judgments_from_a_folder_can_be_narrowed_like_those_asked(folder: Path) -> None:
    some = asked(judgments=str(folder), judges=["gpt_fast"], question_limit=16)
    assert set(some.frame["judge"]) == {"gpt_fast"}
    wanted = {question.id for question in run.asking.questions_of(settled(question_limit=16))}
    assert set(some.frame["question_id"]) == wanted
    maths = asked(judgments=str(folder), categories=["math"])
    assert set(maths.frame["category"]) == {"math"} and maths.frame["question_id"].nunique() == 10
    for parameters, words in (
        ({"judges": ["sim_gpt_fast"]}, "no judge sim_gpt_fast; it has: claude_fast, claude_thinking"),
        ({"categories": ["poetry"]}, "unknown category poetry"),
        ({"candidates": ["gpt_fast", "claude_fast"]}, r"candidates = .* cannot change judgments="),
        ({"repeats": 2, "order_draw": 1}, "repeats = 2, order_draw = 1 cannot change"),
    ):
        with pytest.raises(ValueError, match=words):
            asked(judgments=str(folder), **parameters)


def test_of_several_hints_the_blind_judgments_are_read(tmp_path: Path) -> None:
    few = replace(full_run(), frame=full_run().frame.head(72 * 6))
    as_published(few, tmp_path, "group1_self.json")
    as_published(few, tmp_path, "group3_full.json")
    with pytest.raises(ValueError, match=r"several hints \(full, self\), none of them blind"):
        asked(judgments=str(tmp_path))
    as_published(few, tmp_path, "group4_none.json")
    blind = asked(judgments=str(tmp_path))
    assert set(blind.frame["condition"]) == {"none"} and len(blind.frame) == 72 * 6


def test_a_plan_for_judgments_that_are_there_asks_nothing(folder: Path) -> None:
    for judgments in ("stored", str(folder)):
        assert asyncio.run(run.plan(settled(judgments=judgments))).missing == 0


# --- checks -----------------------------------------------------------------------------------------------------------


def test_rows_with_an_interval_three_times_as_wide_are_called_too_wide_to_read() -> None:
    rows = claimed("gpt", 0.5, 0.4, 0.6, 0.01)
    logit = next(each for each in rows if each.id == "self_preference_logit")
    three = replace(logit, low=0.21, high=0.8, where={"vendor": "gpt", "variant": "top 3"})
    four = replace(logit, low=0.1, high=0.9, where={"vendor": "gpt", "variant": "top 1"})
    lost = replace(logit, value=float("nan"), low=float("nan"), high=float("nan"))
    lost = replace(lost, where={"vendor": "gpt", "variant": "with length"})
    told = top_choice.sensitivity_words([*rows, three, four, lost])
    assert told == "Too wide to read (interval more than 3 times as wide as the primary one): top 1, GPT (4.0 times)."
    assert top_choice.sensitivity_words([*rows, three]).startswith("No interval is more than 3 times as wide")


def test_a_category_without_any_valid_ranking_is_not_estimable_and_not_left_out() -> None:
    frame = full_run().frame
    lost = (frame["category"] == "math") & (frame["judge_vendor"] == "gpt")
    frame = frame.assign(**{column: frame[column].mask(lost) for column in ("rank", "top")})
    frame.loc[lost, "outcome"] = "unparsed"
    found = {
        each.where["vendor"]: each
        for each in top_choice.measure(frame, "simulated", 1)
        if each.id == "category_self_bias" and each.where["category"] == "math"
    }
    assert set(found) == set(VENDORS) and found["gpt"].value != found["gpt"].value
    assert found["gpt"].method == "no valid ranking" and found["claude"].value == found["claude"].value
