"""Accuracy and agreement: by hand on small frames, and planted truths found or not found."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from krippendorff import alpha
from scipy import stats

from helpers.biases import accuracy as bias
from helpers.biases.accuracy import SAID, VERDICTS
from helpers.biases.protocol import conclusions
from helpers.stats.agreement import krippendorff_alpha
from helpers.types import Estimate
from tests.rule import assert_unbiased, assert_within
from tests.runs import declared_ids, one as of

NAN = float("nan")


def gold(questions: int = 30, seed: int = 1, skill: tuple[float, ...] = (0.8, 0.6)) -> pd.DataFrame:
    """Two verdicts a question and judge, right with a chance that the question shifts for all judges alike."""
    rng = np.random.default_rng(seed)
    ease = np.repeat(rng.normal(size=questions), 2)
    parts = []
    for at, share in enumerate(skill):
        chance = stats.norm.cdf(stats.norm.ppf(share) * math.sqrt(1.25) + 0.5 * ease)
        parts.append(
            pd.DataFrame(
                {
                    "question_id": np.repeat([f"q{i:03}" for i in range(questions)], 2),
                    "judge": f"judge_{at}",
                    "category": np.where(np.repeat(np.arange(questions), 2) % 3, "math", "stem"),
                    "correct": (rng.random(2 * questions) < chance).astype(float),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def test_every_number_is_declared() -> None:
    corrected = bias.people_rate(labelled(), "asked", random_sample=True)
    found = [*bias.accuracy(gold(), "asked"), *bias.agreement(people(), "asked"), *corrected]
    assert {each.id for each in found} <= declared_ids("accuracy", found)
    assert {each.data for each in found} == {"asked"}


def test_accuracy_has_both_denominators() -> None:
    frame = gold()
    frame.loc[[0, 1, 7], "correct"] = NAN
    found = bias.accuracy(frame, "asked", chance=0.5)
    own = frame[frame["judge"] == "judge_0"]
    right = own["correct"].sum()
    read, every, lost = (
        of(found, id, judge="judge_0") for id in ("gold_accuracy", "gold_accuracy_of_all", "gold_unreadable_share")
    )
    assert (read.value, read.n, read.clusters) == (pytest.approx(right / 57), 57, 29)
    assert (every.value, every.n, every.clusters) == (pytest.approx(right / 60), 60, 30)
    assert lost.value == pytest.approx(3 / 60)
    assert "stratified" in read.method and not math.isnan(read.p) and math.isnan(every.p)
    math_only = of(found, "gold_accuracy_by_category", judge="judge_0", category="math")
    assert math_only.value == pytest.approx(own[own["category"] == "math"]["correct"].mean())


def test_a_difference_is_paired_over_questions_both_judged() -> None:
    frame = gold().drop(columns="category")
    frame.loc[frame.index[:2], "correct"] = NAN
    found = of(bias.accuracy(frame, "asked"), "gold_accuracy_difference", judge="judge_0", other="judge_1")
    both = frame[frame["question_id"] != "q000"].groupby(["question_id", "judge"])["correct"].mean().unstack()
    theirs = stats.ttest_rel(both["judge_0"], both["judge_1"])
    assert found.value == pytest.approx((both["judge_0"] - both["judge_1"]).mean()) and found.clusters == 29
    assert found.p == pytest.approx(theirs.pvalue) and found.low == pytest.approx(theirs.confidence_interval().low)


def test_many_judges_are_compared_by_name_only() -> None:
    frame = gold(skill=(0.7,) * 13)
    assert not [each for each in bias.accuracy(frame, "asked") if each.id == "gold_accuracy_difference"]
    asked = bias.accuracy(frame, "asked", pairs=[("judge_3", "judge_12")])
    assert of(asked, "gold_accuracy_difference", judge="judge_3", other="judge_12").unit == "pp"
    with pytest.raises(ValueError, match="no verdict of nobody; judges: judge_0"):
        bias.accuracy(frame, "asked", pairs=[("judge_3", "nobody")])


def test_conditions_and_sources_stand_for_themselves() -> None:
    frame = pd.concat([gold().assign(condition="plain"), gold(seed=2).assign(condition="reasons")])
    found = bias.accuracy(frame.assign(source="here"), "asked")
    places = {each.where.get("condition") for each in found}
    assert places == {"plain", "reasons"} and all(each.where["source"] == "here" for each in found)
    one = bias.accuracy(gold().assign(condition="plain"), "asked")
    assert all("condition" not in each.where for each in one)


def test_few_questions_and_no_rows() -> None:
    few = of(bias.accuracy(gold(9), "asked"), "gold_accuracy", judge="judge_0")
    assert math.isnan(few.low) and not math.isnan(few.value) and "below 10" in few.method
    assert bias.accuracy(gold().iloc[:0], "asked") == []
    lost = bias.accuracy(gold().assign(correct=NAN), "asked")
    assert math.isnan(of(lost, "gold_accuracy", judge="judge_0").value)


def test_broken_frames_are_refused() -> None:
    with pytest.raises(ValueError, match="lacks judge, correct"):
        bias.accuracy(gold()[["question_id"]], "asked")
    with pytest.raises(ValueError, match="row 3: column 'correct' holds 2, expected 0 to 1"):
        bias.accuracy(gold().assign(correct=lambda f: f["correct"].where(f.index != 3, 2.0)), "asked")


def people(
    questions: int = 40, seed: int = 1, noise: float = 1.0, judge_noise: float = 1.0, pairs: int = 4
) -> pd.DataFrame:
    """Three people and a judge who see the same difference of two answers, each with noise of its own."""
    rng = np.random.default_rng(seed)
    rows = []
    for question in range(questions):
        shift = 0.5 * rng.normal()
        for pair in range(pairs):
            gap = shift + rng.normal()
            for name, sd in (("ann", noise), ("bob", noise), ("cem", noise), ("judge", judge_noise)):
                seen = gap + sd * rng.normal()
                said = VERDICTS[1 + int(np.sign(seen)) * (abs(seen) > 0.4)]
                kind = "judge" if name == "judge" else "person"
                rows.append((f"q{question:02}", f"{question}/{pair}", name, kind, said, "ok"))
    return pd.DataFrame(rows, columns=["question_id", "pair", "voter", "kind", "verdict", "outcome"])


SMALL = [
    # pair, judge, votes of three people (None: did not vote)
    ("q1", "a", "first", ("first", "first", "tie")),
    ("q1", "b", "tie", ("tie", "second", None)),
    ("q2", "c", "inconsistent", ("tie", "tie", "first")),
    ("q2", "d", "unreadable", ("second", "second", "second")),
    ("q3", "e", "second", ("second", None, None)),
]


def small() -> pd.DataFrame:
    rows = []
    for question, pair, judge, votes in SMALL:
        verdict = judge if judge in VERDICTS else None
        rows.append((question, pair, "judge", "judge", verdict, "ok" if verdict else judge))
        rows += [(question, pair, name, "person", vote, "ok") for name, vote in zip("xyz", votes, strict=True) if vote]
    return pd.DataFrame(rows, columns=["question_id", "pair", "voter", "kind", "verdict", "outcome"])


def test_agreement_by_hand() -> None:
    found = bias.agreement(small(), "asked")
    # a 2 of 3, b 1 of 2, c (a tie by convention) 2 of 3, e 1 of 1; d cannot be read.
    every = of(found, "human_agreement", judge="judge", votes="all")
    assert (every.value, every.n) == (pytest.approx(6 / 9), 9) and math.isnan(every.low)
    assert of(found, "human_agreement_of_all", judge="judge").value == pytest.approx(6 / 12)
    consistent = of(found, "human_agreement", judge="judge", votes="consistent")
    assert (consistent.value, consistent.n) == (pytest.approx(4 / 6), 6)
    # Nobody said tie: a twice, e once.
    decisive = of(found, "human_agreement", judge="judge", votes="decisive")
    assert (decisive.value, decisive.n) == (1.0, 3)
    # People: a 1 of 3, b 0 of 1, c 1 of 3, d 3 of 3.
    both = of(found, "human_human_agreement", votes="all")
    assert (both.value, both.n) == (pytest.approx(5 / 10), 10)
    assert of(found, "human_human_agreement", votes="decisive").value == pytest.approx(5 / 5)
    # The judge on the votes beside others: a, c twice each vote, b once; people also on d, which it did not judge.
    gap = of(found, "agreement_gap", judge="judge", votes="all")
    assert gap.value == pytest.approx((2 * 2 + 1 + 2 * 2) / (6 + 2 + 6) - 5 / 10)
    lost = of(found, "vote_unreadable_share", judge="judge")
    assert (lost.value, lost.n) == (pytest.approx(1 / 5), 5)


def test_alpha_is_that_of_comparisons_as_units() -> None:
    votes = people()
    found = bias.agreement(votes, "asked", seed=3)
    judged = votes[votes["kind"] == "judge"].set_index("pair")["verdict"]
    voted = votes[votes["kind"] == "person"]
    units = np.array([voted["verdict"].map(VERDICTS.index), voted["pair"].map(judged).map(VERDICTS.index)], float)
    assert of(found, "human_alpha", judge="judge").value == pytest.approx(
        alpha(reliability_data=units, level_of_measurement="nominal"), abs=1e-9
    )
    own = krippendorff_alpha(units.T, "nominal", 3, voted["question_id"].to_numpy(), resamples=2000)
    each = of(found, "human_alpha", judge="judge")
    assert (each.low, each.high) == pytest.approx((own.low, own.high), abs=1e-9)
    wide = voted.pivot(index="pair", columns="voter", values="verdict").map(VERDICTS.index).to_numpy(float)
    twos = np.vstack([wide[:, [0, 1]], wide[:, [0, 2]], wide[:, [1, 2]]])
    assert of(found, "human_human_alpha").value == pytest.approx(
        alpha(reliability_data=twos.T, level_of_measurement="nominal"), abs=1e-9
    )


def test_conditions_are_told_apart_and_together() -> None:
    votes = people().assign(source="here")
    votes["condition"] = np.where(votes["pair"].str.endswith(("0", "1")), "turn 1", "turn 2")
    found = bias.agreement(votes, "asked")
    sizes = {
        condition: of(found, "human_agreement", source="here", condition=condition, judge="judge", votes="all").n
        for condition in ("all", "turn 1", "turn 2")
    }
    assert sizes == {"all": 480, "turn 1": 240, "turn 2": 240}


def test_people_without_a_judge_and_a_judge_without_people() -> None:
    votes = people()
    alone = bias.agreement(votes[votes["kind"] == "person"], "asked")
    assert {each.id for each in alone} == {"human_human_agreement", "human_human_alpha"}
    one = votes[votes["voter"].isin(["ann", "judge"])]
    found = bias.agreement(one, "asked")
    assert math.isnan(of(found, "human_human_agreement", votes="all").value)
    assert math.isnan(of(found, "agreement_gap", judge="judge", votes="all").value)
    assert not math.isnan(of(found, "human_agreement", judge="judge", votes="all").low)


def test_a_person_is_never_compared_with_itself() -> None:
    votes = small()
    again = votes[(votes["pair"] == "e") & (votes["voter"] == "x")]
    found = bias.agreement(pd.concat([votes, again]), "asked")
    assert of(found, "human_human_agreement", votes="all").n == 10
    assert of(found, "human_agreement", judge="judge", votes="all").n == 10
    # Nor does its second vote stand beside the first: 6, 2 and 6 of the judge, 10 of the people, as without it.
    assert of(found, "agreement_gap", judge="judge", votes="all").n == 24


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: v.drop(columns="pair"), "lacks pair"),
        (lambda v: v.assign(kind="machine"), "'kind' holds machine; expected judge or person"),
        (lambda v: v.assign(verdict="A>B"), "'verdict' holds A>B; expected first, tie, second"),
        (lambda v: v.assign(verdict=None), "voted nothing"),
        (lambda v: pd.concat([v, v[v["kind"] == "judge"].iloc[:1]]), "pair a: judge judged it twice"),
        (lambda v: v.assign(question_id=[f"q{i}" for i in range(len(v))]), "belongs to 4 questions"),
    ],
)
def test_broken_votes_are_refused(change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        bias.agreement(change(small()), "asked")


def test_verdicts_have_one_order() -> None:
    assert SAID[:3] == VERDICTS == ("first", "tie", "second")


@pytest.mark.parametrize(
    ("judge_noise", "words"), [(0.0, "**agrees with people more"), (1.0, "no sign"), (4.0, "**agrees with people less")]
)
def test_a_planted_judge_is_told_from_people(judge_noise: float, words: str) -> None:
    found = bias.agreement(people(120, judge_noise=judge_noise), "simulated")
    told = bias.finding(found)
    assert words in told and told.startswith("- SIMULATED: judge:\n  - says what a person says")
    gap = of(found, "agreement_gap", judge="judge", votes="all")
    assert (gap.low > 0, gap.high < 0) == (judge_noise < 1, judge_noise > 1)


def test_the_better_judge_is_named_and_equal_ones_are_not() -> None:
    better = bias.finding(bias.accuracy(gold(150, skill=(0.85, 0.6)), "asked"))
    assert "**is right more often than judge_1**" in better
    worse = bias.finding(bias.accuracy(gold(150, skill=(0.6, 0.85)), "asked"))
    assert "**is right less often than judge_1**" in worse
    equal = bias.finding(bias.accuracy(gold(150, skill=(0.7, 0.7)), "asked"))
    assert "No difference between judges is shown, of 1 asked for" in equal
    assert bias.finding([]) == "No gold labels and no votes of people: nothing can be said."


def test_what_cannot_be_read_stands_beside_the_share() -> None:
    frame = gold()
    frame.loc[frame.index[:6], "correct"] = NAN
    told = bias.finding(bias.accuracy(frame, "asked"))
    assert "gives no readable verdict in 10.0 %" in told and "if those that cannot be read are wrong" in told


def test_holm_runs_over_the_family_asked_for() -> None:
    found = bias.accuracy(gold(skill=(0.8, 0.7, 0.6)), "asked")
    p = [each.p for each in conclusions("accuracy", found, "gold_accuracy_difference")]
    plain = sorted(each.p for each in found if each.id == "gold_accuracy_difference")
    assert len(p) == 3 and min(p) == pytest.approx(min(1.0, 3 * plain[0]))


def labelled(random: bool = True, seed: int = 1) -> pd.DataFrame:
    """A judge that says yes too often, on 400 items of 80 questions; people labelled a quarter of them."""
    rng = np.random.default_rng(seed)
    question = np.repeat(np.arange(80), 5)
    latent = 0.5 * rng.normal(size=80)[question] + rng.normal(size=400)
    judge = (latent + 0.6 + 0.7 * rng.normal(size=400) > 0).astype(float)
    chance = np.full(400, 0.25) if random else np.where(judge > 0, 0.1, 0.6)
    label = np.where(rng.random(400) < chance, (latent > 0).astype(float), NAN)
    known = {"question_id": question, "item": np.arange(400), "judge": "judge"}
    return pd.DataFrame({**known, "predicted": judge, "label": label})


def test_a_judge_is_corrected_by_labels_of_a_random_sample() -> None:
    found = bias.people_rate(labelled(), "simulated", random_sample=True)
    people, labels, judge = (
        of(found, id, judge="judge") for id in ("people_rate", "people_rate_labels", "people_rate_judge")
    )
    # People say yes to half of all.
    assert people.low < 0.5 < people.high and judge.low > 0.55 and people.se < labels.se
    assert people.n == labels.n == labelled()["label"].notna().sum() and judge.n == 400
    told = bias.finding(found)
    assert "if all items had labels: 5" in told and "alone says yes in" in told


@pytest.mark.parametrize(
    ("frame", "random_sample", "words"),
    [(labelled(), False, "drawn at random"), (labelled(False), True, "depends on the judge's verdict, from")],
)
def test_a_correction_is_refused_with_the_reason(frame: pd.DataFrame, random_sample: bool, words: str) -> None:
    found = bias.people_rate(frame, "asked", random_sample=random_sample)
    refused = of(found, "people_rate", judge="judge")
    assert math.isnan(refused.value) and refused.method.startswith("refused: ") and words in refused.method
    assert words in bias.finding(found) and not math.isnan(of(found, "people_rate_judge", judge="judge").value)


def test_lost_verdicts_are_left_out_and_broken_items_refused() -> None:
    frame = labelled()
    frame.loc[frame.index[:5], "predicted"] = NAN
    found = bias.people_rate(frame, "asked", random_sample=True)
    assert of(found, "people_rate_judge", judge="judge").n == 395
    with pytest.raises(ValueError, match="item 7: judge judge judged it twice"):
        bias.people_rate(pd.concat([frame, frame[frame["item"] == 7]]), "asked", random_sample=True)
    with pytest.raises(ValueError, match="'label' holds 3, expected 0 to 1"):
        bias.people_rate(frame.assign(label=3.0), "asked", random_sample=True)
    with pytest.raises(ValueError, match="lacks label"):
        bias.people_rate(frame.drop(columns="label"), "asked", random_sample=True)


def repeated(runs: int) -> tuple[list[Estimate], list[Estimate], list[Estimate]]:
    share, difference, gap = [], [], []
    for run in range(runs):
        found = bias.accuracy(gold(60, seed=run), "simulated")
        share.append(of(found, "gold_accuracy", judge="judge_0"))
        difference.append(of(found, "gold_accuracy_difference", judge="judge_0", other="judge_1"))
        votes = bias.agreement(people(25, seed=run, pairs=2), "simulated", resamples=20)
        gap.append(of(votes, "agreement_gap", judge="judge", votes="all"))
    return share, difference, gap


def judged(runs: int) -> None:
    """Shares and differences cover their truth; a judge that is one more person has no gap."""
    for found, truth, what in zip(repeated(runs), (0.8, 0.2, 0.0), ("share", "difference", "gap"), strict=True):
        hits = sum(each.low <= truth <= each.high for each in found)
        assert_within(hits, runs, 0.93, 0.97, what)
        assert_unbiased(np.array([each.value for each in found]), truth, what)


def test_planted_accuracy_is_covered() -> None:
    judged(40)


@pytest.mark.slow
def test_planted_accuracy_is_covered_in_many_runs() -> None:
    judged(2000)
