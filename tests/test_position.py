"""Experiment 4's numbers against hand computations on small tables of games, and what the sentences may say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import linalg

from helpers import frames
from helpers.biases import position
from helpers.biases.position import both_orders, measured, published
from helpers.biases.position.both_orders import INVALID, LABELS, MIRRORED
from helpers.biases.position.findings import contrasts
from helpers.stats.power import detectable_effect
from helpers.stats.tests import mcnemar_exact
from helpers.types import Estimate
from tests.runs import declared_ids

WHERE = {"judge": "j", "candidate": "c"}
#: The patterns that the published notebook calls significant, and how often each was found (origin of seed numbers).
PATTERNS = {
    ("A>>B", "A>>B"): 73,
    ("B>>A", "B>>A"): 14,
    ("A>>B", "A>B"): 9,
    ("B>A", "B>A"): 9,
    ("A>B", "A>>B"): 8,
    ("B>>A", "B>A"): 7,
    ("A>B", "A>B"): 4,
    ("B>A", "B>>A"): 4,
    ("B>A", "A=B"): 3,
    ("A=B", "B>A"): 2,
    ("B>>A", "A=B"): 1,
    ("A=B", "A>B"): 1,
    ("A>>B", None): 1,
    (None, "B>A"): 1,
    (None, "A>>B"): 1,
    (None, "A"): 1,
    (None, "B>>A"): 1,
    (None, None): 1,
}
#: Only the sums of the mirrored ones are published; how they fall on the cells changes no number below.
NOTEBOOK = PATTERNS | {("B>>A", "A>>B"): 529, ("A>B", "B>>A"): 78}


def read(score: str | None) -> str | None:
    """The label of a score as the games frame holds it; enough for these tables."""
    return {"A<B": "B>A", "[A=B]": "A=B"}.get(score, score if score in LABELS else None)


def game(question: object, first: str, score: str | None, **more: object) -> dict[str, object]:
    known = {"experiment": "e", "source": "s", "question_id": str(question), "category": "hard", "judge": "j"}
    known |= {"judge_vendor": "v", "judge_model": "j", "candidate": "c", "candidate_vendor": "w", "baseline": "b"}
    known |= {"condition": "none", "first": first, "repeat": 0, "games": 2, "score": score, "verdict": read(score)}
    known |= {"outcome": "ok" if read(score) else "invalid"}
    return known | more


def both(question: object, one: str | None, two: str | None, **more: object) -> list[dict[str, object]]:
    return [game(question, "baseline", one, **more), game(question, "candidate", two, **more)]


def frame(*parts: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    return pd.DataFrame([row for part in parts for row in part], columns=list(frames.GAMES))


def table(*parts: Iterable[Mapping[str, object]]) -> pd.DataFrame:
    return position.pairs(frame(*parts))


def counted(counts: Mapping[tuple[str | None, str | None], int], **more: object) -> pd.DataFrame:
    said = [pair for pair, count in counts.items() for _ in range(count)]
    return frame(*(both(number, *pair, **more) for number, pair in enumerate(said)))


def one(estimates: Iterable[Estimate], id: str, **where: str) -> Estimate:
    (found,) = (each for each in estimates if each.id == id and dict(each.where) == (where or WHERE))
    return found


@pytest.fixture(scope="module")
def notebook() -> list[Estimate]:
    return position.measure(counted(NOTEBOOK), "published", 42)


# --- pairs and classes ------------------------------------------------------------------------------------------------


def test_the_published_classes_read_stored_strings_and_our_own_the_labels() -> None:
    said = [
        ("A>>B", "B>>A", "no_bias", "no_bias"),
        ("A=B", "A=B", "no_bias", "no_bias"),
        ("A>B", "B>>A", "weak_bias", "weak_bias"),
        ("B>>A", "A>B", "weak_bias", "weak_bias"),
        ("A=B", "A>B", "significant_bias", "significant_bias"),
        ("A>B", "A>>B", "significant_bias", "significant_bias"),
        ("[A=B]", "[A=B]", "significant_bias", "no_bias"),
        ("A<B", "A>B", "significant_bias", "no_bias"),
        (None, "A>B", "significant_bias", "invalid"),
        ("A", "A>B", "significant_bias", "invalid"),
    ]
    found = table(*(both(number, one, two) for number, (one, two, *_) in enumerate(said)))
    found = found.set_index("question_id").loc[[str(number) for number in range(len(said))]]
    assert found["published"].tolist() == [row[2] for row in said]
    assert found["kind"].tolist() == [row[3] for row in said]
    stored = found["score_1"].astype(object)
    assert stored.where(stored.notna(), None).tolist() == [row[0] for row in said], "stored strings stay as they are"
    assert found["agree"].tolist() == [True] * 4 + [False] * 2 + [True] * 2 + [False] * 2
    assert found["both"].tolist() == [""] * 5 + ["first"] + [""] * 4


def test_all_25_patterns_are_looked_up_and_nine_of_them_mirror() -> None:
    found = table(*(both(f"{a} {b}", a, b) for a in LABELS for b in LABELS))
    assert found["published"].tolist() == found["kind"].tolist()
    assert Counter(found["kind"]) == {"no_bias": 5, "weak_bias": 4, "significant_bias": 16}
    assert found["agree"].sum() == 9 and MIRRORED["A>B"] == "B>A"
    assert Counter(found["both"]) == {"": 17, "first": 4, "second": 4}


def test_a_line_without_two_games_is_in_the_published_total_alone() -> None:
    rows = [*both(1, "A>B", "B>A"), game(2, "baseline", "A>B", games=1)]
    rows += [*both(3, "A>B", None, games=1)]
    rows[-1]["outcome"] = "missing"
    found = table(rows).set_index("question_id")
    assert found.loc["1", "published"] == "no_bias"
    assert found.loc[["2", "3"], "published"].isna().all() and (found.loc[["2", "3"], "kind"] == INVALID).all()
    rates = both_orders.class_rates(found.reset_index(), "d")
    assert one(rates, "no_bias").value == 1 and one(rates, "no_bias").n == 1
    assert one(rates, "no_bias_published").value == pytest.approx(1 / 3)
    assert one(rates, "significant_bias_published").value == 0
    assert one(rates, "invalid_share").value == pytest.approx(2 / 3)


def test_a_pair_judged_twice_in_one_order_is_named() -> None:
    with pytest.raises(ValueError, match=r"judge j judged c on question 1 .* more than once with the baseline first"):
        table(both(1, "A>B", "B>A"), both(1, "A>B", "B>A"))


def test_how_many_games_a_line_holds_is_said_by_either_row() -> None:
    rows = [*both(1, "A>B", "B>A", games=np.nan), *both(2, "A>B", "B>A")]
    rows[1]["games"] = 2
    assert table(rows)["games"].tolist() == [2, 2] and table(rows[::-1])["games"].tolist() == [2, 2]
    with pytest.raises(ValueError, match="games of c on question 1: none found; need 1 or 2"):
        table(both(1, "A>B", "B>A", games=np.nan), both(2, "A>B", "B>A"))


def test_judges_and_files_are_never_pooled() -> None:
    rows = [both(1, "A>B", "A>B"), both(1, "A>B", "B>A", source="other"), both(1, "A=B", "A=B", judge="k")]
    found = both_orders.class_rates(table(*rows), "d")
    places = [dict(each.where) for each in found if each.id == "no_bias"]
    named = [{**WHERE, "source": "other"}, {**WHERE, "source": "s"}, {"judge": "k", "candidate": "c"}]
    assert sorted(map(str, places)) == sorted(map(str, named)), "the source is told where it must be"
    assert one(found, "significant_bias", **WHERE, source="s").value == 1
    assert one(found, "significant_bias", **WHERE, source="other").value == 0


def test_categories_have_rates_of_their_own_where_there_are_several() -> None:
    found = both_orders.class_rates(table(both(1, "A>B", "A>B"), both(2, "A>B", "B>A", category="creative")), "d")
    assert one(found, "no_bias").value == 0.5
    assert one(found, "no_bias", **WHERE, category="creative").value == 1
    assert one(found, "no_bias", **WHERE, category="hard").value == 0


# --- the published notebook -------------------------------------------------------------------------------------------


def test_the_published_verdicts_favour_the_first_place(notebook: list[Estimate]) -> None:
    effect = one(notebook, "first_position_effect")
    assert effect.value == pytest.approx((94 - 34) / 742) and (effect.n, effect.clusters) == (742, 742)
    assert effect.p == mcnemar_exact(94, 34) and f"{effect.p:.1e}" == "1.1e-07"
    assert effect.se == pytest.approx(0.0150, abs=5e-5)
    assert one(notebook, "primacy_share").value == pytest.approx(94 / 742)
    assert one(notebook, "recency_share").value == pytest.approx(34 / 742)
    assert one(notebook, "position_consistency").value == pytest.approx(607 / 742)
    assert one(notebook, "preference_fairness").value == pytest.approx(-(95 - 40) / 742)
    least = contrasts(notebook)[0].smallest
    # By hand, large samples: d = (1.96 + 0.84) sqrt((2 x 34/742 + d) / 742), the exact test needing a little more.
    by_hand = 0.0
    for _ in range(50):
        by_hand = (1.96 + 0.8416) * math.sqrt((2 * 34 / 742 + by_hand - by_hand**2) / 742)
    assert by_hand < least < 1.06 * by_hand
    said = position.finding(notebook)
    assert "j on c: **favours the answer shown first**: +8" in said and "first place in both orders in 12.7 % [" in said
    assert "could undo" not in said and "how often they differ by noise alone is not known" in said


def test_the_headline_stands_under_every_choice(notebook: list[Estimate]) -> None:
    def under(choice: str) -> float:
        return one(notebook, "first_position_sensitivity", **WHERE, choice=choice).value

    assert under("headline") == one(notebook, "first_position_effect").value
    assert under("one tie: half") == pytest.approx((60 + (1 - 6) / 2) / 742)
    assert under("one tie: full") == pytest.approx((95 - 40) / 742)
    assert under("unreadable kept") == pytest.approx(60 / 748)
    assert under("as stored") == pytest.approx(60 / 748)
    # Of the six, two hold a readable verdict for the first and two one for the second: these can go nowhere else.
    assert under("lost to first") == pytest.approx((60 + 4) / 748)
    assert under("lost to second") == pytest.approx((60 - 4) / 748)
    # Each pair weighs the mean of 1 or 3 of its two verdicts.
    top = 73 * 3 - 14 * 3 + (9 + 8 - 7 - 4) * 2 + 4 - 9
    bottom = 529 * 3 + (73 + 14) * 3 + (78 + 9 + 8 + 7 + 4) * 2 + 4 + 9 + 3 + 2 + 2 + 1
    assert under("strong count 3") == pytest.approx(top / bottom)
    assert "one place +7.5 to +8.6 pp" in position.sensitivity_words(notebook)


def test_counts_of_score_pairs_give_the_same_numbers(notebook: list[Estimate]) -> None:
    counts = position.grid(position.pairs(counted(NOTEBOOK)))
    counted_apart = published.games(published.Source("", "s", "j", "c", "", counts, 748))
    found = published.from_pairs(position.pairs(counted_apart))
    assert all(each.method.startswith("counts, independence assumed") and each.data == "published" for each in found)
    for id in ("no_bias", "acceptable_rate_published", "first_position_effect", "primacy_share", "first_win_rate"):
        ours, theirs = one(found, id), one(notebook, id)
        assert (ours.value, ours.low, ours.n) == pytest.approx((theirs.value, theirs.low, theirs.n)), id


# --- signed effects ---------------------------------------------------------------------------------------------------


def test_signed_rates_by_hand() -> None:
    rows = [
        both(1, "A>>B", "A>B"),
        both(2, "A>B", "A=B"),
        both(3, "B>A", "B>>A"),
        both(4, "A>B", "B>A"),
        both(5, "A=B", "A=B"),
    ]
    found = [*both_orders.signed_rates(table(*rows, both(6, "A>B", None)), "d")]
    assert one(found, "position_consistency").value == 0.4
    assert one(found, "primacy_share").value == one(found, "recency_share").value == 0.2
    assert one(found, "first_win_rate").value == pytest.approx(4 / 7), "first of 1, 1, 2 and 4; three seconds"
    assert one(found, "graded_position_effect").value == pytest.approx((3 + 1 - 3 + 0 + 0) / 10)
    assert one(found, "preference_fairness").value == pytest.approx(-(2 - 1) / 5)
    assert one(found, "graded_position_effect").n == 10, "the pair with an unreadable verdict is left out whole"


def test_two_repeats_of_a_question_are_one_question() -> None:
    rows = [both(q, "A>B", "A>B" if q < 12 else "B>A", repeat=r) for q in range(20) for r in range(2)]
    (each,) = both_orders.first_position_effect(table(*rows), "d", 1)
    assert (each.value, each.n, each.clusters) == (0.6, 40, 20) and "sign-flip" in each.method
    single = both_orders.first_position_effect(table(*rows[::2]), "d", 1)[0]
    assert (each.low, each.high) == pytest.approx((single.low, single.high)), "asking again adds no question"
    assert single.p == mcnemar_exact(12, 0) and each.p == pytest.approx(single.p, abs=0.002)


def test_no_test_is_made_that_could_never_reach_the_corrected_level() -> None:
    def leaning(firsts: int, judge: str) -> list[list[dict[str, object]]]:
        return [both(q, "A>B", "A>B" if q < firsts else "B>A", judge=judge) for q in range(30)]

    alone = both_orders.first_position_effect(table(*leaning(6, "j")), "d", 1)[0]
    assert alone.p == mcnemar_exact(6, 0)
    two = both_orders.first_position_effect(table(*leaning(6, "j"), *leaning(20, "k")), "d", 1)
    why = "no test: 6 questions lean to a place, whose smallest exact McNemar p, 0.031, is above 0.025"
    assert math.isnan(two[0].p) and why in two[0].method
    assert two[0].low == alone.low, "the interval stays"
    assert two[1].p == mcnemar_exact(20, 0)
    assert "leans, not established: favours the answer shown first" in position.finding(two)
    assert "no test: 6 questions lean to a place" in position.finding(two)


def test_no_interval_below_ten_questions() -> None:
    found = position.measure(frame(*(both(q, "A>B", "A>B") for q in range(9))), "d", 1)
    for each in found:
        assert math.isnan(each.low) and math.isnan(each.p), each.id
    assert "cannot tell whether it favours the answer shown first" in position.finding(found)


def test_a_judge_that_always_names_one_place_is_tested_though_it_has_no_interval() -> None:
    """The strongest preference there can be: nothing varies between questions, and the exact test needs nothing to."""
    always, fair = ([both(q, *said) for q in range(30)] for said in (("A>B", "A>B"), ("A>B", "B>A")))
    for repeats in (1, 2):
        rows = [{**game, "repeat": r} for pair in always for game in pair for r in range(repeats)]
        (each,) = both_orders.first_position_effect(table(rows), "d", 1)
        assert each.value == 1.0 and math.isnan(each.low) and "nothing varies between questions" in each.method
        assert each.p == (mcnemar_exact(30, 0) if repeats == 1 else 1e-4)
    found = position.measure(frame(*always), "d", 1)
    assert "**favours the answer shown first**: +100.0 pp" in position.finding(found)
    (line,) = (line for line in position.card(found) if line.measure == "first position")
    assert line.verdict == "bias"
    (none,) = both_orders.first_position_effect(table(*fair), "d", 1)
    assert none.value == 0 and math.isnan(none.p), "where no question leans there is nothing to flip"


# --- excess flips -----------------------------------------------------------------------------------------------------


def test_excess_of_a_question_by_all_pairs_of_its_verdicts() -> None:
    # First order: baseline, baseline, candidate; second order: baseline, tie. Columns: baseline, tie, candidate.
    first, second = ["b", "b", "c"], ["b", "t"]
    crossed = np.mean([a != b for a in first for b in second])
    within = np.mean([np.mean([a != b for a, b in permutations(order, 2)]) for order in (first, second)])
    assert measured.excess(np.array([[2, 0, 1]]), np.array([[1, 1, 0]]))[0] == pytest.approx(crossed - within)
    assert math.isnan(measured.excess(np.array([[2, 0, 0]]), np.array([[1, 0, 0]]))[0]), "an order asked once"


def test_excess_is_unbiased_and_half_the_squared_distance_of_the_orders() -> None:
    """The expectation over all outcomes of 2 + 2 verdicts, by enumeration."""
    p, q = np.array([0.5, 0.2, 0.3]), np.array([0.1, 0.3, 0.6])
    eye, total = np.eye(3), {"same": 0.0, "other": 0.0}
    for a, b, c, d in np.ndindex(3, 3, 3, 3):
        value = measured.excess(eye[[a]] + eye[[b]], eye[[c]] + eye[[d]])[0]
        total["same"] += value * p[a] * p[b] * p[c] * p[d]
        total["other"] += value * p[a] * p[b] * q[c] * q[d]
    assert total["same"] == pytest.approx(0, abs=1e-12)
    assert total["other"] == pytest.approx(((p - q) ** 2).sum() / 2)


def test_excess_flip_reads_winners_and_all_repeats() -> None:
    rows = []
    for q in range(12):
        # The first place always wins: the orders disagree always, repeats never. Strength is no winner.
        rows += [both(q, "A>>B", "A>B", repeat=0), both(q, "A>B", "A>>B", repeat=1)]
    rows += [both("once", "A>B", "B>A"), both("lost", "A>B", None), both("lost", "A>B", "B>A", repeat=1)]
    (each,) = measured.excess_flip(table(*rows), "d", 1)
    assert (each.value, each.clusters, each.n) == (1.0, 12, 48)
    mixed = [both(q, "A>B", "B>A" if q % 2 else "A>B", repeat=r) for q in range(20) for r in range(2)]
    (each,) = measured.excess_flip(table(*mixed), "d", 1)
    assert each.value == 0.5 and each.p < 0.001 and "dealing" in each.method
    (none,) = measured.excess_flip(table(*(both(q, "A>B", "A>B") for q in range(20))), "d", 1)
    assert math.isnan(none.value) and "needs each order asked twice" in none.method


def test_dealing_verdicts_anew_is_exact() -> None:
    """Against all relabellings of two questions, one by one."""
    one, two = np.array([[2, 0, 0], [1, 1, 0]]), np.array([[0, 0, 2], [2, 0, 0]])
    observed = measured.excess(one, two).sum()
    hits = total = 0
    verdicts = [list(np.repeat([0, 1, 2], (a + b))) for a, b in zip(one, two, strict=True)]
    eye = np.eye(3, dtype=int)
    for left in permutations(verdicts[0]):
        for right in permutations(verdicts[1]):
            dealt = [eye[list(part)].sum(axis=0) for part in (left[:2], left[2:], right[:2], right[2:])]
            value = measured.excess(np.array([dealt[0], dealt[2]]), np.array([dealt[1], dealt[3]])).sum()
            hits, total = hits + (abs(value) >= abs(observed) - 1e-9), total + 1
    assert measured.relabelled(one, two, 5, 20_000) == pytest.approx(hits / total, abs=0.015)


# --- control arms and gaps --------------------------------------------------------------------------------------------


def test_identical_texts_and_gross_quality_by_hand() -> None:
    same = [both(q, "A>B", "A=B" if q < 6 else "B>>A", condition="identical") for q in range(10)]
    gross = [both(q, "B>A", "A>B" if q < 8 else "A=B", condition="quality_gap") for q in range(10)]
    lost = [both(11, "A>B", None, condition="identical"), both(11, None, "B>A", condition="quality_gap")]
    found = measured.control_arms(table(*same, *gross, *lost), "d", 1)
    effect = one(found, "identical_pair_effect")
    assert effect.value == pytest.approx((11 - 4) / 21) and effect.n == 21
    assert one(found, "quality_gap_accuracy").value == pytest.approx((10 + 8) / 21)
    assert measured.control_arms(table(both(1, "A>B", "B>A")), "d", 1) == []
    assert "two identical texts: +33.3 pp" in position.identical_words(found)


def test_the_gap_is_what_others_say_never_the_pair_itself() -> None:
    rows = []
    for q in range(30):
        others = ("B>>A", "A>>B") if q < 10 else ("B>A", "A>B") if q < 20 else ("A=B", "A=B")
        rows += [both(q, "A>B", "A>B" if q >= 20 else "B>A"), both(q, *others, judge="k")]
    found = measured.flip_by_gap(table(*rows), "d")
    rates = [one(found, "flip_by_gap", **WHERE, gap=gap).value for gap in ("small", "middle", "large")]
    assert rates == [1, 0, 0] and "gap by other judges" in found[0].method
    alone = [both(q, "A>B", "A>B", repeat=r) for q in range(12) for r in range(2)]
    own = measured.flip_by_gap(table(*alone), "d")
    assert "the judge's other repeats" in own[0].method and own[0].value == 1
    assert math.isnan(own[2].value) and "too few different gaps" in own[2].method
    assert measured.flip_by_gap(table(*alone[::2]), "d") == []


# --- win rates --------------------------------------------------------------------------------------------------------


def features(lengths: Mapping[str, tuple[float, float]], **more: float) -> pd.DataFrame:
    """Lengths of the candidate's and the baseline's answers, by question."""
    rows = [
        {"question_id": q, "candidate": who, "length": length, "headers": 0, "lists": 0, "bold": 0, **more}
        for q, pair in lengths.items()
        for who, length in zip("cb", pair, strict=True)
    ]
    return pd.DataFrame(rows)


def test_raw_win_rates_count_strong_verdicts_once_or_three_times() -> None:
    found = measured.win_rate(table(both(1, "B>>A", "A>B"), both(2, "A=B", "B>A")), "d")
    assert one(found, "win_rate", **WHERE, style="raw", weight="1").value == pytest.approx((1 + 1 + 0.5 + 0) / 4)
    assert one(found, "win_rate", **WHERE, style="raw", weight="3").value == pytest.approx((3 + 1 + 0.5 + 0) / 6)
    assert one(found, "win_rate", **WHERE, style="raw", weight="3").n == 4, "no row is repeated"


def test_controlled_win_rates_are_those_of_a_logistic_regression_clustered_by_question() -> None:
    rng = np.random.default_rng(5)
    pairs, lengths = [], {}
    for q in range(60):
        lengths[str(q)] = (100.0, float(rng.integers(50, 200)))
        verdicts = [LABELS[i] for i in rng.integers(0, 5, 2)]
        pairs.append(both(q, *verdicts))
    found = measured.win_rate(table(*pairs), "d", features(lengths))
    each = one(found, "win_rate", **WHERE, style="controlled", weight="3")
    assert "no answer has headers or lists or bold" in each.method
    rows = table(*pairs)
    said = both_orders.verdicts(rows)
    length = np.array([lengths[q] for q in said["question_id"]])
    x = (length[:, 0] - length[:, 1]) / length.sum(axis=1)
    design = sm.add_constant(x / x.std())
    weights = np.where(said["strong"], 3.0, 1.0)
    won, groups = ((said["for_candidate"] + 1) / 2).to_numpy(), said["question_id"].to_numpy()
    fit = sm.GLM(won, design, sm.families.Binomial(), var_weights=weights).fit()
    assert math.log(each.value / (1 - each.value)) == pytest.approx(fit.params[0])
    mean, parts = fit.fittedvalues, []
    blocks = [
        design[at].T @ (design[at] * (weights * mean * (1 - mean))[at, None]) for at in map(groups.__eq__, set(groups))
    ]
    bread = np.linalg.inv(sum(blocks))
    for block, at in zip(blocks, map(groups.__eq__, set(groups)), strict=True):
        adjust = linalg.fractional_matrix_power(np.eye(2) - block @ bread, -0.5)
        parts.append(float((bread @ adjust @ design[at].T @ (weights * (won - mean))[at])[0]))
    assert each.se / (each.value * (1 - each.value)) == pytest.approx(math.sqrt(sum(part**2 for part in parts)))
    assert 0 < each.low < each.value < each.high < 1


def test_a_fit_that_has_no_answer_is_said_and_not_shown() -> None:
    def controlled(pairs: list[list[dict[str, object]]], lengths: Mapping[str, tuple[float, float]]) -> Estimate:
        found = measured.win_rate(table(*pairs), "d", features(lengths))
        return one(found, "win_rate", **WHERE, style="controlled", weight="1")

    longer_wins = [both(q, "B>A" if q % 2 else "A>B", "A>B" if q % 2 else "B>A") for q in range(50)]
    separated = controlled(longer_wins, {str(q): (100 + 20 * (q % 2) + q, 110.0 + q) for q in range(50)})
    assert math.isnan(separated.value) and "style separates wins from losses" in separated.method
    same = controlled(longer_wins, {str(q): (150.0, 100.0) for q in range(50)})
    assert math.isnan(same.value) and "the same everywhere" in same.method
    unknown = controlled(longer_wins, {"x": (1.0, 2.0)})
    assert math.isnan(unknown.value) and "are not known" in unknown.method
    both_at_once = features({str(q): (100.0 + q, 110.0) for q in range(50)})
    both_at_once["headers"] = both_at_once["length"]
    deficient = measured.win_rate(table(*longer_wins), "d", both_at_once)
    assert "cannot be told apart" in one(deficient, "win_rate", **WHERE, style="controlled", weight="1").method
    mixed = [both(q, LABELS[q % 5], LABELS[q % 3]) for q in range(30)]
    few = controlled(mixed, {str(q): (100.0 + q % 7, 103.0) for q in range(30)})
    assert few.value == few.value and math.isnan(few.low) and "below 40 questions" in few.method


def test_separation_is_found_where_ties_would_have_to_move() -> None:
    x = np.column_stack([np.ones(5), [-2.0, -1.0, 0.0, 1.0, 2.0]])
    assert measured.fault(x, [0, 0, 0.5, 1, 1]), "a tie at the border stays where it is"
    assert not measured.fault(x, [0, 0.5, 0, 1, 1])
    assert measured.fault(x, [0, 0, 0, 0, 0]), "all lost"


# --- two leaderboards -------------------------------------------------------------------------------------------------

#: Published win rates in %: judge Gemini-2.5, judge GPT-4.1 (v2.0, hard prompts, style-controlled).
BOARD = {
    "": {
        "claude-3-7-thinking-16k": (59.8, 47.0),
        "Qwen3-235B-A22B": (58.4, 46.7),
        "deepseek-r1": (58.0, 48.0),
        "Qwen3-32B": (44.5, 35.8),
        "QwQ-32B": (43.5, 36.1),
        "Qwen3-30B-A3B": (33.9, 28.7),
        "claude-3-5-sonnet": (33.0, 25.8),
        "s1.1-32B": (22.3, 18.3),
        "llama4-maverick": (17.2, 12.0),
        "Athene-V2-Chat": (16.4, 12.6),
        "Qwen3-4B": (15.0, 12.6),
        "Llama-3.1-Nemotron-70B": (10.3, 6.8),
        "Qwen2.5-72B": (10.1, 8.0),
        "OpenThinker2-32B": (3.2, 2.3),
    },
    "gemini": {"gemini-2.5": (79.0, 49.1), "gemini-2.5-flash": (68.6, 45.1), "gemma-3-27b": (15.0, 9.7)},
    "gpt": {"o3": (85.9, 87.0), "gpt-4.1": (50.0, 58.3), "gpt-4.1-nano": (13.7, 15.4)},
}


def board() -> pd.DataFrame:
    rows = [
        {"model": model, "family": family, "gemini_2_5": a / 100, "gpt_4_1": b / 100}
        for family, models in BOARD.items()
        for model, (a, b) in models.items()
    ]
    return pd.DataFrame(rows)


def test_two_leaderboards_differ_by_family_as_published() -> None:
    found = position.leaderboard_contrast(board(), "gemini_2_5", "gpt_4_1")
    values = {(each.where["model"], each.where["fit"]): each for each in found}
    expected = {("gemini-2.5", "intercept"): 1.01, ("gpt-4.1", "intercept"): -0.68}
    expected |= {("gemini-2.5", "line"): 0.98, ("gpt-4.1", "line"): -0.73, ("gemini-2.5-flash", "intercept"): 0.63}
    expected |= {("gemma-3-27b", "intercept"): 0.15, ("o3", "intercept"): -0.44, ("gpt-4.1-nano", "intercept"): -0.49}
    for key, value in expected.items():
        assert values[key].value == pytest.approx(value, abs=0.005), key
    assert values["gemini-2.5", "intercept"].low > 0 > values["gpt-4.1", "line"].high
    assert values["gemma-3-27b", "intercept"].low < 0 < values["gemma-3-27b", "intercept"].high
    assert all(each.n == 14 and each.unit == "logit" and each.where["family"] for each in found)


def test_the_words_on_leaderboards_do_not_say_which_judge_is_off() -> None:
    found = position.leaderboard_contrast(board(), "gemini_2_5", "gpt_4_1")
    said = position.leaderboard_words(found, "gemini_2_5", "gpt_4_1")
    assert "- gemini, intercept: of 3 models gemini_2_5 ranks 2 higher and 0 lower against gpt_4_1" in said
    assert "the farthest is gemini-2.5, +1.01 [" in said and "does not tell which of them departs" in said
    assert position.leaderboard_words([], "a", "b").startswith("No model")


def test_the_prediction_interval_is_that_of_one_more_observation() -> None:
    third = board().query("family == ''")
    logit = {name: np.log(third[name] / (1 - third[name])) for name in ("gemini_2_5", "gpt_4_1")}
    fit = sm.OLS(logit["gemini_2_5"], sm.add_constant(logit["gpt_4_1"])).fit()
    at = math.log(0.491 / 0.509)
    foreseen = fit.get_prediction([[1.0, at]]).summary_frame().iloc[0]
    found = position.leaderboard_contrast(board(), "gemini_2_5", "gpt_4_1")
    where = {"judge": "gemini_2_5", "other": "gpt_4_1", "model": "gemini-2.5", "family": "gemini", "fit": "line"}
    each = one(found, "leaderboard_contrast", **where)
    value = math.log(0.79 / 0.21)
    assert each.low == pytest.approx(value - foreseen["obs_ci_upper"])
    assert each.high == pytest.approx(value - foreseen["obs_ci_lower"])


def test_leaderboards_with_few_third_parties_are_told() -> None:
    few = position.leaderboard_contrast(board().iloc[[0, 1, 2, 14]], "gemini_2_5", "gpt_4_1")
    assert few[0].value == few[0].value and math.isnan(few[0].low) and "below 10 third-party" in few[0].method


# --- what may be said -------------------------------------------------------------------------------------------------


def effect(value: float, p: float, judge: str = "j", **more: object) -> Estimate:
    known = Estimate(
        "first_position_effect", {"judge": judge, "candidate": "c"}, value, value - 0.1, value + 0.1, 100, 100
    )
    return replace(known, unit="pp", se=0.05, p=p, method="t", data="folder", **more)


def about(id: str, value: float, **more: object) -> Estimate:
    unit = "pp" if id in ("excess_flip", "first_position_sensitivity") else "rate"
    known = Estimate(id, WHERE, value, value - 0.01, value + 0.01, 100, 100, unit, 0.02, "m", "folder")
    return replace(known, **more)


def test_the_family_is_one_contrast_a_judge_and_candidate() -> None:
    every = [effect(0.2, 0.01), effect(0.1, 0.04, "k"), effect(0.0, math.nan, "m")]
    every.append(replace(effect(0.3, 0.001), where={**WHERE, "category": "hard"}))
    found = contrasts(every)
    assert [each.estimate.where["judge"] for each in found] == ["j", "k", "m"], "categories are exploratory"
    assert [each.p for each in found] == pytest.approx([0.02, 0.04, math.nan], nan_ok=True)
    assert found[0].smallest == detectable_effect(0.05, 99, 0.8, 0.025)


def test_the_direction_and_the_losses_are_said() -> None:
    shares = [about("primacy_share", 0.05), about("recency_share", 0.25), about("invalid_share", 0.3)]
    worst = about("first_position_sensitivity", 0.04, where={**WHERE, "choice": "lost to first"})
    said = position.finding([effect(-0.2, 0.001), *shares, worst])
    assert "**favours the answer shown second**: -20.0 pp" in said
    assert "the first place in both orders in 5.0 %" in said and "the second place in both orders in 25.0 %" in said
    assert "leaves 30.0 % [29.0, 31.0] of pairs without two readable verdicts, which could undo that" in said
    near, far = (replace(worst, value=-0.05, low=-0.09, high=high) for high in (0.01, -0.01))
    assert "could undo" in position.finding([effect(-0.2, 0.001), *shares, near]), "its interval holds 0"
    assert "could undo" not in position.finding([effect(-0.2, 0.001), *shares, far])


def test_a_null_tells_what_lost_verdicts_could_hide() -> None:
    def bounds(low: float, high: float) -> list[Estimate]:
        ends = {"lost to first": high, "lost to second": low}
        return [about("first_position_sensitivity", v, where={**WHERE, "choice": c}, low=v - 0.02, high=v + 0.02)
                for c, v in ends.items()]  # fmt: skip

    said = position.finding([effect(0.05, 0.3), about("invalid_share", 0.4), *bounds(-0.13, 0.3)])
    assert "no sign that it favours" in said
    assert "of pairs without two readable verdicts; were they lost for their verdicts, the effect could be" in said
    assert "leaves 40.0 % [39.0, 41.0]" in said and "could be anything from -13.0 to +30.0 pp" in said
    few = [effect(0.005, 0.9), about("invalid_share", 0.01), *bounds(-0.01, 0.01)]
    assert "readable verdicts" not in position.finding(few)


def test_ties_that_lean_to_a_place_are_told_where_the_headline_does_not() -> None:
    full = about("first_position_sensitivity", 0.2, where={**WHERE, "choice": "one tie: full"}, low=0.1, high=0.3)
    said = position.finding([effect(0.0, 1.0), full])
    assert "pairs with a tie in one game lean to the first: with these counted +20.0 pp" in said
    assert "lean to the first" in position.finding([effect(-0.2, 0.001), full]), "the other way than the headline"
    assert "with a tie in one game lean" not in position.finding([effect(0.2, 0.001), full])


def test_categories_that_point_elsewhere_are_told_after_correction() -> None:
    def of(category: str, value: float, p: float) -> Estimate:
        return effect(value, p, where={**WHERE, "category": category})

    split = [of("math", 0.3, 0.001), of("prose", -0.3, 0.002), of("code", 0.1, 0.04)]
    said = position.finding([effect(0.02, 0.7), *split])
    assert "but on math questions: leans, not established: favours the answer shown first: +30.0 pp" in said
    assert "but on prose questions: leans, not established: favours the answer shown second: -30.0 pp" in said
    assert "code" in position.finding([effect(0.02, 0.7), *split]), "0.04 is the largest of three"
    weak = [of("math", 0.3, 0.001), of("code", 0.1, 0.04), of("prose", 0.0, 0.9)]
    assert "code" not in position.finding([effect(0.02, 0.7), *weak]), "0.04 is 0.06 by Benjamini and Hochberg"
    same = position.finding([effect(0.2, 0.001), *split])
    assert "but on prose questions" in same and "math" not in same


def test_flips_are_called_more_than_noise_only_where_they_are() -> None:
    base = [effect(0.05, 0.3), about("position_consistency", 0.7)]
    noise = position.finding([*base, about("excess_flip", 0.01, p=0.4)])
    assert "in both orders in 70.0 % [69.0, 71.0] of pairs; no sign that it names another winner in the other" in noise
    other = about("excess_flip", 0.0, p=0.9, where={"judge": "k", "candidate": "c"})
    family = [about("excess_flip", 0.1, p=0.04), other]
    assert "p = 0.08 by Benjamini and Hochberg" in position.finding([*base, *family])
    # Found at 0.05 of two tests, as one hit needs; a one-sided test is made at twice that level.
    for method, level in (("m", 0.025), ("one-sided p by dealing verdicts anew", 0.05)):
        least = 100 * detectable_effect(0.02, 99, 0.8, level)
        assert f"{least:.1f} pp would be found" in position.finding([*base, replace(family[0], method=method), other])


def test_every_number_is_declared_and_every_declaration_measured() -> None:
    rng = np.random.default_rng(1)
    rows = [
        both(q, *(LABELS[i] for i in rng.integers(0, 5, 2)), repeat=r, judge=judge, category="ab"[q % 2])
        for q in range(50)
        for r in range(2)
        for judge in "jk"
    ]
    rows += [both(q, "A>B", "B>A", condition=arm) for q in range(12) for arm in ("identical", "quality_gap")]
    lengths = {str(q): tuple(rng.integers(50, 200, 2).astype(float)) for q in range(50)}
    games = frame(*rows)
    games = games.assign(top_logprobs=20.0, label_mass=0.9, not_second=rng.normal(1, 1, len(games)))
    games = games.assign(first_over_rest=games["not_second"] - 0.5)
    found = position.measure(games, "folder", 42, features(lengths))
    ids = {each.id for each in found} | {"leaderboard_contrast", "flip_correlation", "one_sided_share"}
    published = {"published_lines", "class_lines", "pattern_lines", "significant_bias_of_planned", "equal_verdicts"}
    published |= {"consistent_answer_rate", "answers_read", "both_order_inconsistent"}
    published |= {"released_position_effect", "released_flip_rate"}
    assert ids | published == declared_ids("position", found) and not ids & published
    for each in found:
        assert {"judge", "candidate"} <= set(each.where) and each.data == "folder"
        assert each.method
    again = position.measure(games.sample(frac=1, random_state=3), "folder", 42, features(lengths))
    assert [(e.id, e.where, round(e.value, 12), e.p) for e in again if e.value == e.value] == [
        (e.id, e.where, round(e.value, 12), e.p) for e in found if e.value == e.value
    ], "the order of rows changes nothing"


def test_pairs_without_both_orders_are_an_error_and_unreadable_ones_a_result() -> None:
    with pytest.raises(ValueError, match=r"one order only.*nothing to measure: 1 ok"):
        position.measure(frame(both(1, "A>B", "A>B")[:1]), "d", 1)
    found = position.measure(frame(both(1, None, "junk")), "d", 1)
    assert "cannot tell whether it favours" in position.finding(found)
    assert measured.sensitivity_words(found).startswith("No pair")
    assert "nothing can be concluded" in position.finding([])
    assert measured.sensitivity_words([]).startswith("No pair")
