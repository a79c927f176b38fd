"""Experiment 3's numbers against hand computations on a small pair frame, and what the sentences may say."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd
import pytest

from helpers.biases.protocol import find
from helpers.biases.self_preference import items, measured
from helpers.biases.self_preference.findings import contrasts, finding
from helpers.biases.self_preference.measured import measure
from helpers.stats.power import detectable_effect
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words.numbers import load_numbers
from studies.calibration.worlds.pairs import BEFORE, REPEAT, PairWorld, rows, sample
from tests.runs import declared_ids, one

VENDOR = {"a": "alpha", "b": "beta", "c": "gamma", "d": "delta", "a2": "alpha"}
LABELS = {"a": "B", "b": "A", "c": "B", "d": "C", "a2": "B"}


def asked(
    question: int,
    judge: str,
    wrong: str,
    picked: str,
    right: str = "b",
    condition: str = "none",
    repeat: int = 0,
    task: str = "correct",
) -> list[dict[str, object]]:
    """Both orders of one item; a letter of `picked` each, right first and wrong first: R, W, x (lost), - (not asked).

    >>> [row["picked"] for row in asked(0, "a", "a", "Rx")]
    ['right', None]
    """
    target, _, dose = condition.partition("_")
    edit = "none" if condition == "none" else "paraphrase" if dose == "paraphrase" else "synonyms"
    known = {
        **{"experiment": "e", "question_id": f"q{question}", "article": f"article {question // 2}", "category": "c"},
        **{"judge": judge, "judge_vendor": VENDOR[judge], "judge_model": judge, "condition": condition, "edit": edit},
        **{"target": target, "dose": int(dose) if dose.isdigit() else 0, "repeat": repeat, "task": task},
        **{"right": right, "wrong": wrong, "right_vendor": VENDOR[right], "wrong_vendor": VENDOR[wrong]},
        **{"right_label": LABELS[right], "wrong_label": LABELS[wrong], "p_right": math.nan},
        "own": {right: "right", wrong: "wrong"}.get(judge, ""),
    }
    verdicts = {"R": ("right", "ok"), "W": ("wrong", "ok"), "x": (None, "unparsed")}
    return [
        {**known, "first": first, "picked": verdicts[letter][0], "outcome": verdicts[letter][1]}
        for first, letter in zip(("right", "wrong"), picked, strict=True)
        if letter != "-"
    ]


def frame(*parts: Iterable[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame([row for part in parts for row in part])


def table(*parts: Iterable[dict[str, object]]) -> pd.DataFrame:
    return items.items(frame(*parts))


# --- items ------------------------------------------------------------------------------------------------------------


def test_two_orders_make_an_item_and_a_lost_order_is_never_scored() -> None:
    found = table(*(asked(q, "a", "a", picked) for q, picked in enumerate(("RR", "RW", "WW", "Rx", "xx", "R-", "-W"))))
    assert found["score"].fillna(-1).tolist() == [1, 0.5, 0, -1, -1, -1, -1]
    assert found["consistent"].tolist() == [True, False, True, False, False, False, False]
    counted = {each.id: each.value for each in items.counts(found, "d")}
    assert counted == {"funnel_pairs": 7, "funnel_items": 3, "funnel_consistent": 2}
    assert one(items.unreadable_share(frame(asked(0, "a", "a", "Rx")), "d"), "unreadable_share", judge="a").value == 0.5


def test_losses_are_told_by_what_was_picked_the_other_way_round() -> None:
    rows = [asked(q, "a", "a", picked) for q, picked in enumerate(("RR", "Rx", "xW", "WW", "xx"))]
    assert items.lost_by_pick(frame(*rows)).loc["a"].tolist() == ["1 of 3 (33.3%)"] * 2


def test_each_edited_item_is_compared_with_the_repeat_that_it_names_order_by_order() -> None:
    # wrong_4 was asked later than wrong_2, beside repeats of its own; one of its orders still had a fresh one.
    plain = [asked(0, "a", "a", picked, repeat=n) for n, picked in enumerate(("RR", "WW", "WR", "RW"))]
    edited = {dose: asked(0, "a", "a", "RR", condition=f"wrong_{dose}") for dose in (2, 4)}
    named = [{**row, "partner": 1} for row in edited[2]]
    named += [{**row, "partner": {"right": 2, "wrong": 3}[row["first"]]} for row in edited[4]]
    found = items.items(frame(*plain).assign(partner=0).pipe(lambda f: pd.concat([f, pd.DataFrame(named)])))
    found = found.set_index("condition")[["right_first_control", "wrong_first_control", "score_control"]]
    assert found.loc["wrong_2"].tolist() == [0, 0, 0], "repeat 1 both ways"
    assert found.loc["wrong_4"].tolist() == [0, 0, 0], "repeat 2 right first, repeat 3 wrong first"
    first = items.items(frame(plain[0], edited[2]).assign(partner=0)).set_index("condition")
    assert math.isnan(first.loc["wrong_2", "score_control"]), "the first asking is no control"


def test_an_item_judged_twice_in_one_order_is_named() -> None:
    with pytest.raises(ValueError, match=r"judge a judged question q0 .*more than once with the right answer first"):
        table(asked(0, "a", "a", "RR"), asked(0, "a", "a", "WW"))


def test_items_of_a_simulated_frame_are_those_that_it_was_made_of() -> None:
    world = PairWorld(damage={2: 0.5}, lost_wrong=0.1)
    made = sample(world, np.random.default_rng(3), (BEFORE, REPEAT, ("wrong", 2, 0)), 15, 2, recognition=True)
    again = items.items(rows(made).sample(frac=1, random_state=1))
    both = made.merge(again, on=items.KEY, suffixes=("", "_read"))
    assert len(both) == len(made) == len(again)
    for name in ("right_first", "wrong_first", "score", "consistent"):
        assert both[name].fillna(-1).tolist() == both[f"{name}_read"].fillna(-1).tolist()


def test_probabilities_are_averaged_over_both_orders_only() -> None:
    both = frame(asked(0, "a", "a", "RW"), asked(1, "a", "a", "RW")).assign(p_right=[0.9, 0.4, 0.7, math.nan])
    found = items.items(both)
    assert found["probability"].fillna(-1).tolist() == pytest.approx([0.65, -1])
    assert one(items.own_probability(found, "d"), "own_wrong_probability", judge="a").value == pytest.approx(0.35)


# --- rates ------------------------------------------------------------------------------------------------------------


def test_rates_with_and_without_the_filter() -> None:
    harmful, others = ("RR", "RW", "WW", "WW", "Rx"), ("RR", "RR", "WR")
    judged = table(
        *(asked(q, "a", "a", picked) for q, picked in enumerate(harmful)),
        *(asked(q, "a", "d", picked) for q, picked in enumerate(others)),
        *(asked(q, "a", "c", picked, right="a") for q, picked in enumerate(("RR", "RW", "WW"), start=10)),
        *(asked(q, "a", "a", "RR", repeat=1) for q in range(5)),
    )
    found = [*items.accuracies(judged, "d")]

    def rate(id: str, kept: str) -> float:
        return one(found, id, judge="a", filter=kept).value

    assert rate("accuracy_harmful", "all") == pytest.approx(1.5 / 4)
    assert rate("accuracy_harmful", "consistent") == pytest.approx(1 / 3)
    assert one(found, "naive_harmful_rate", judge="a").value == pytest.approx(2.5 / 4)
    assert rate("accuracy_all", "all") == pytest.approx((1.5 + 2.5 + 1.5) / 10)
    assert rate("accuracy_self", "all") == pytest.approx((1.5 + 1.5) / 7)
    assert rate("accuracy_self", "consistent") == pytest.approx((1 + 1) / 5)
    assert rate("legitimate", "all") == pytest.approx(1.5 / (1.5 + 2.5))
    assert rate("legitimate", "consistent") == pytest.approx(1 / (1 + 2))
    assert one(found, "retention", judge="a").value == pytest.approx(7 / 10)


def test_a_judge_that_never_votes_for_itself_has_no_legitimate_share() -> None:
    found = one(items.accuracies(table(asked(0, "a", "a", "RR")), "d"), "legitimate", judge="a", filter="all")
    assert math.isnan(found.value) and "never voted" in found.method


def test_the_interval_of_a_rate_is_that_of_articles() -> None:
    rng = np.random.default_rng(5)
    picks = ["".join(rng.choice(["R", "W"], 2)) for _ in range(40)]
    found = [*items.accuracies(table(*(asked(q, "a", "a", p) for q, p in enumerate(picks))), "d")]
    each = one(found, "accuracy_harmful", judge="a", filter="all")
    scores = [p.count("R") / 2 for p in picks]
    sums = [scores[i] + scores[i + 1] for i in range(0, 40, 2)]
    mean = sum(scores) / 40
    se = math.sqrt(20 / 19 * sum((s - 2 * mean) ** 2 for s in sums)) / 40
    assert (each.value, each.se, each.clusters, each.n) == pytest.approx((mean, se, 20, 40))
    assert each.method == "article-clustered t"


# --- obfuscation ------------------------------------------------------------------------------------------------------


def contrast_rows(questions: int, seed: int = 8) -> tuple[pd.DataFrame, dict[tuple[int, str], tuple[str, str]]]:
    """Author a, third parties c and d, pair a (wrong) against b (right); picks (repeat, edited) a question, judge."""
    rng = np.random.default_rng(seed)
    said, parts = {}, []
    for q, judge in product(range(questions), ("a", "c", "d")):
        again, edited = ("".join(rng.choice(list("RRRWWWx"), 2)) for _ in range(2))
        said[q, judge] = again, edited
        parts.append(asked(q, judge, "a", "WR"))
        parts.append(asked(q, judge, "a", again, repeat=1))
        parts.append(asked(q, judge, "a", edited, condition="wrong_2"))
        parts.append(asked(q, judge, "a", "RR", condition="wrong_2", task="wrote") if judge == "a" else [])
    return table(*parts), said


def test_the_effect_is_own_minus_third_party_on_the_same_texts() -> None:
    found_in, said = contrast_rows(60)

    def change(q: int, judge: str) -> tuple[float, float, float] | None:
        """(up, down, difference of scores), or None where one of the four verdicts is lost."""
        again, edited = said[q, judge]
        if "x" in again + edited:
            return None
        moves = list(zip(again, edited, strict=True))
        return moves.count(("W", "R")), moves.count(("R", "W")), (edited.count("R") - again.count("R")) / 2

    own, third = {}, {}
    for q in range(60):
        others = [c for c in (change(q, "c"), change(q, "d")) if c]
        if change(q, "a") and others:
            own[q], third[q] = change(q, "a"), tuple(fmean(part) for part in zip(*others, strict=True))
    up, down, moved = zip(*own.values(), strict=True)
    up_3, down_3, moved_3 = zip(*third.values(), strict=True)
    found = measured.obfuscation_effect(found_in, "d")
    each = one(found, "obfuscation_effect", judge="a", dose="2")
    assert each.value == pytest.approx(math.log(sum(up) / sum(down)) - math.log(sum(up_3) / sum(down_3)))
    assert each.n == len(own) and each.unit == "logit"
    sides = {"own": (up, down), "third": (up_3, down_3)}
    parts, changed = np.zeros(30), {}
    for sign, (name, (gained, lost)) in zip((1, -1), sides.items(), strict=True):
        b, c = (np.bincount([q // 2 for q in own], each, 30) for each in (gained, lost))
        parts += sign * (b / b.sum() - c / c.sum()) / np.sqrt(1 - (b + c) / (b + c).sum())
        changed[name] = np.flatnonzero(b + c)
    assert each.se == pytest.approx(math.sqrt(max((parts**2).sum(), 1 / sum(up) + 1 / sum(down))))
    assert each.clusters == min(map(len, changed.values())), "the side that changed in fewer articles counts"
    pp = one(found, "obfuscation_effect_pp", judge="a", dose="2")
    assert pp.value == pytest.approx(fmean(moved) - fmean(moved_3)) and pp.unit == "pp"
    alone = [c for c in (change(q, "a") for q in range(60)) if c]
    assert one(found, "obfuscation_own", judge="a", dose="2").value == pytest.approx(fmean(c[2] for c in alone))
    third_party = one(found, "obfuscation_third_party", judge="a", dose="2")
    assert third_party.value == pytest.approx(fmean(moved_3))


def test_judges_of_the_pairs_own_vendors_are_no_third_party() -> None:
    moving = [("a", "WW", "RR"), ("a2", "WW", "RR"), ("b", "WW", "RR")]
    parts = [
        part
        for q, (judge, again, edited) in product(range(0, 24, 2), moving)
        for part in (asked(q, judge, "a", again, repeat=1), asked(q, judge, "a", edited, condition="wrong_2"))
    ]
    each = one(measured.obfuscation_effect(table(*parts), "d"), "obfuscation_effect", judge="a", dose="2")
    assert math.isnan(each.value) and each.method == measured.NO_THIRD
    third = [
        asked(q, "c", "a", "WR", repeat=1) + asked(q, "c", "a", "RW", condition="wrong_2") for q in range(0, 24, 2)
    ]
    both = one(measured.obfuscation_effect(table(*parts, *third), "d"), "obfuscation_effect", judge="a", dose="2")
    assert both.value == pytest.approx(math.log(24 / 0.5) - math.log(12 / 12))
    assert "1/2" in both.method


def test_without_a_repeat_arm_the_estimand_says_so() -> None:
    parts = [
        part
        for q, judge in product(range(12), ("a", "c"))
        for part in (asked(q, judge, "a", "WR"), asked(q, judge, "a", "RR", condition="wrong_2"))
    ]
    found = table(*parts)
    effects = measured.obfuscation_effect(found, "d") + measured.against_other_author(found, "d")
    assert {each.method for each in effects} == {measured.NEEDS_REPEAT}
    assert all(math.isnan(each.value) for each in effects)


def test_the_other_authors_wrong_answer_has_the_same_label_and_another_vendor() -> None:
    """Of c (same label), d (other label) and a2 (same label, own vendor) only c is compared with."""
    moves = {"a": ("WW", "RR"), "c": ("WR", "RW"), "d": ("RR", "WW"), "a2": ("RR", "WW")}
    parts = [
        part
        for q, (wrong, (again, edited)) in product(range(12), moves.items())
        for part in (asked(q, "a", wrong, again, repeat=1), asked(q, "a", wrong, edited, condition="wrong_2"))
    ]
    found = measured.against_other_author(table(*parts), "d")
    each = one(found, "obfuscation_against_other_author", judge="a", dose="2")
    assert each.value == pytest.approx(math.log(24 / 0.5) - math.log(12 / 12)) and each.n == 12


def test_the_naive_comparison_selects_and_the_repeat_arm_shows_what_that_does() -> None:
    """Of four items two agreed at first: one of them turns when asked again, both turn when edited."""
    first, again, edited = ("WW", "WW", "RW", "xW"), ("RW", "WW", "RR", "RR"), ("RR", "RW", "WW", "WW")
    parts = [
        part
        for q in range(4)
        for part in (
            asked(q, "a", "a", first[q]),
            asked(q, "a", "a", again[q], repeat=1),
            asked(q, "a", "a", edited[q], condition="wrong_2"),
            asked(q, "a", "a", "WW", condition="right_2"),
        )
    ]
    found = measured.naive_filtered(table(*parts), "d")
    assert one(found, "regression_to_the_mean", judge="a").value == pytest.approx((0.5 + 0) / 2)
    assert one(found, "naive_filtered_change", judge="a", dose="2").value == pytest.approx((1 + 0.5) / 2)
    right = measured.obfuscation_of_right(table(*parts), "d")
    assert one(right, "obfuscation_of_right", judge="a", dose="2").value == pytest.approx(-(0.5 + 0 + 1 + 1) / 4)
    twice = one(right, "naive_opponent_difference", judge="a", dose="2")
    assert twice.value == pytest.approx((1 + 0.5 + 0 + 0) / 4)


def test_doses_and_the_paraphrase_are_arms_of_their_own() -> None:
    conditions = ("wrong_8", "wrong_2", "wrong_paraphrase", "right_2", "both_2")
    found = table(*(asked(0, "a", "a", "RR", condition=name) for name in conditions))
    assert [dose for dose, _ in items.split_arms(found, "wrong")] == ["2", "8", "paraphrase"]
    assert [len(part) for _, part in items.split_arms(found, "wrong")] == [1, 1, 1]


# --- baseline, recognition --------------------------------------------------------------------------------------------


def test_the_gap_is_within_question_and_right_answer_by_stratum() -> None:
    own = ("WW", "WR", "RR")
    others = {"c": ("WW", "RR", "WR"), "d": ("RR", "RR", "RR"), "a2": ("RR", "RR", "RR")}
    parts = [asked(q, "a", "a", picked) for q, picked in enumerate(own)]
    parts += [asked(q, "a", "a", "WW", repeat=1) for q in range(2)]
    parts += [asked(q, "a", wrong, picked) for wrong, picks in others.items() for q, picked in enumerate(picks)]
    parts += [asked(9, "a", "a", "WW"), asked(9, "a", "c", "xW")]
    found = measured.evaluator_quality_gap(table(*parts), "d")
    votes, same = (1.0, (0.5 + 1) / 2, 0.0), (1.0, 0.0, 0.5)
    expected = {
        "same label": fmean(v - s for v, s in zip(votes, same, strict=True)),
        "other label": fmean(votes),
        "all": fmean(v - s / 2 for v, s in zip(votes, same, strict=True)),
    }
    for stratum, value in expected.items():
        each = one(found, "evaluator_quality_gap", judge="a", stratum=stratum)
        assert each.value == pytest.approx(value) and each.n == 3 and each.unit == "pp"


def test_the_same_text_is_put_to_other_judges() -> None:
    parts = [asked(0, "a", "a", "WW"), asked(0, "c", "a", "RW"), asked(0, "d", "a", "RR"), asked(0, "b", "a", "WW")]
    each = one(measured.same_text_other_judges(table(*parts), "d"), "same_text_other_judges", judge="a")
    assert each.value == pytest.approx(1 - fmean([0.5, 0]))


def test_records_without_labels_have_no_label_strata() -> None:
    bare = frame(asked(0, "a", "a", "WW"), asked(0, "a", "c", "RR")).assign(right_label=None, wrong_label=None)
    found = measured.evaluator_quality_gap(items.items(bare), "d")
    assert one(found, "evaluator_quality_gap", judge="a", stratum="all").value == 1.0
    assert math.isnan(one(found, "evaluator_quality_gap", judge="a", stratum="same label").value)
    assert math.isnan(one(found, "evaluator_quality_gap", judge="a", stratum="other label").value)


def test_recognition_and_preference_change() -> None:
    named = {"none": ("WW", "WR", "WW"), "wrong_2": ("WR", "RR", "xW")}
    parts = [
        asked(q, "a", "a", picked, condition=condition, task="wrote")
        for condition, picks in named.items()
        for q, picked in enumerate(picks)
    ]
    parts += [asked(5, "a", "c", "RW", right="a", task="wrote")]
    for q in range(3):
        parts += [asked(q, "a", "a", "WW", repeat=1), asked(q, "a", "a", "RW", condition="wrong_2")]
    found = [*measured.recognition_balanced(table(*parts), "d"), *measured.recognition(table(*parts), "d")]
    assert one(found, "recognition_accuracy", judge="a", dose="0").value == pytest.approx(2.5 / 3)
    assert one(found, "recognition_accuracy", judge="a", dose="2").value == pytest.approx(0.25)
    assert one(found, "recognition_change", judge="a", dose="2").value == pytest.approx((-0.5 - 0.5) / 2)
    assert one(found, "preference_change", judge="a", dose="2").value == pytest.approx(-0.5)
    assert one(found, "recognition_balanced", judge="a").value == pytest.approx((2.5 / 3 + 0.5) / 2)


# --- all together -----------------------------------------------------------------------------------------------------

EVERY = (BEFORE, REPEAT, ("wrong", 2, 0), ("wrong", 4, 0), ("right", 2, 0))


@pytest.fixture(scope="module")
def everything() -> list[Estimate]:
    world = PairWorld(damage={2: 0.5, 4: 0.8}, self_preference=(0.0, 0.0, 2.5, 0.0), lost_wrong=0.03)
    made = sample(world, np.random.default_rng(11), EVERY, 60, 4, recognition=True)
    return measure(rows(made), "simulated", 42)


def test_every_number_is_declared_once_and_in_its_unit(everything: list[Estimate]) -> None:
    declared = load_numbers("self_preference").estimands
    published = {id for id, each in declared.items() if each.source.startswith("replication: ")}
    ids = {each.id for each in everything} | {"own_wrong_probability"}
    assert ids | published == declared_ids("self_preference", everything)


def test_the_family_is_one_contrast_a_judge_at_the_first_dose(everything: list[Estimate]) -> None:
    family = [each for each in everything if each.id == "obfuscation_effect" and each.where["dose"] == "2"]
    found = contrasts(everything)
    assert list(found) == [each.where["judge"] for each in family] and len(found) == 4
    assert [each.p for each in found.values()] == pytest.approx(list(holm([each.p for each in family])))
    for each in family:
        assert found[each.where["judge"]].smallest == detectable_effect(each.se, each.df, level=0.05 / 4)


def test_the_finding_has_a_sentence_a_judge_with_what_could_have_been_found(everything: list[Estimate]) -> None:
    lines = finding(everything).splitlines()
    assert len(lines) == 4 and all(line.startswith("- SIMULATED: ") for line in lines)
    found = next(line for line in lines if "mistral" in line)
    assert "**turns more from its own wrong answer than other judges do" in found and "not ruled out" in found
    silent = next(line for line in lines if "llama" in line)
    assert "no sign that it turns more from its own wrong answer" in silent
    assert f"{contrasts(everything)['llama'].smallest:.2f} logits would be found in 80 %" in silent
    assert "asking again without any edit" in silent


def changed(estimates: list[Estimate], id: str, judge: str, **values: float) -> list[Estimate]:
    return [
        replace(e, **values) if e.id == id and e.where.get("judge") == judge and e.where.get("dose", "2") == "2" else e
        for e in estimates
    ]


def test_a_control_that_moves_as_much_is_never_passed_over(everything: list[Estimate]) -> None:
    moved = changed(everything, "obfuscation_against_other_author", "mistral", value=0.1, low=-0.4, high=0.6)
    line = next(line for line in finding(moved).splitlines() if "mistral" in line)
    assert "a control moves as much, so this does not show that authorship matters" in line
    lost = changed(everything, "obfuscation_against_other_author", "mistral", low=math.nan, high=math.nan)
    assert "the control within the judge is missing" in finding(lost)
    kept = changed(everything, "recognition_change", "mistral", value=0.0, low=-0.1, high=0.1)
    line = next(line for line in finding(kept).splitlines() if "mistral" in line)
    assert "did not measurably fall" in line and "as a preference for what it recognises" not in line
    for text in map(finding, (everything, moved, lost, kept)):
        assert "proved" not in text and "recognition is" not in text


def test_the_opposite_and_the_unknown_have_sentences_of_their_own(everything: list[Estimate]) -> None:
    turned = changed(everything, "obfuscation_effect", "mistral", value=-1.0, low=-1.5, high=-0.5, p=1e-6)
    assert "the opposite of what hiding a self-preference would do" in finding(turned)
    unknown = changed(everything, "obfuscation_effect", "llama", value=math.nan, p=math.nan, method="no third party")
    assert "llama: cannot tell whether it turns more from its own" in finding(unknown)
    assert "is edited: no third party." in finding(unknown)
    assert "nothing can be concluded" in finding([]) and contrasts([]) == {}
    assert find(everything, "obfuscation_effect", judge="nobody", dose="2") is None


def test_a_frame_without_a_whole_item_is_a_result_only_where_nothing_was_readable() -> None:
    found = measure(frame(asked(0, "a", "a", "xx")), "d", 1)
    assert {each.value for each in found if each.id == "unreadable_share"} == {1.0}
    with pytest.raises(ValueError, match="1 unparsed"):
        measure(frame(asked(0, "a", "a", "xR")), "d", 1)


@pytest.mark.parametrize("picked", ["RR", "WW", "RW"])
def test_judges_that_never_change_have_numbers_but_no_false_certainty(picked: str) -> None:
    parts = [
        part
        for q, judge in product(range(24), ("a", "c", "d"))
        for part in (
            asked(q, judge, "a", picked),
            asked(q, judge, "a", picked, repeat=1),
            asked(q, judge, "a", picked, condition="wrong_2"),
        )
    ]
    found = measure(frame(*parts), "asked", 1)
    each = one(found, "obfuscation_effect", judge="a", dose="2")
    assert math.isnan(each.value) and each.method == "no verdict changed"
    assert "is edited: no verdict changed." in finding(found)
    pp = one(found, "obfuscation_effect_pp", judge="a", dose="2")
    assert pp.value == 0 and math.isnan(pp.low)


def test_published_judgments_without_edits_still_have_rates() -> None:
    found = measure(frame(*(asked(q, "a", "a", "WR") for q in range(12))), "hub", 1)
    assert one(found, "accuracy_harmful", judge="a", filter="all").value == 0.5
    assert not [each for each in found if each.id.startswith("obfuscation")]
    assert math.isnan(one(found, "regression_to_the_mean", judge="a").value)
    assert one(found, "regression_to_the_mean", judge="a").method == measured.NEEDS_REPEAT
