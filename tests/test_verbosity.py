"""Experiment 6: each number by hand or by another program, planted likings found where they are and nowhere else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import run
from helpers.biases import protocol, verbosity
from helpers.biases.verbosity import measured
from helpers.biases.verbosity.measured import FRAME, implied, index, place
from helpers.types import Estimate, Model
from helpers.words import Conclusion
from helpers.words.numbers import load_numbers
from tests.runs import asked, settled
from tests.simulation import cr2_by_matrices

BIASES = ("padded", "listed", "confident")
#: Verdicts with the tried text first, and what they say for it.
SAID = {"A>>B": 1, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -1}
MIRROR = {"A>>B": "B>>A", "A>B": "B>A", "A=B": "A=B", "B>A": "A>B", "B>>A": "A>>B"}


def row(question: str, first: str, verdict: str | None, **more: object) -> dict[str, object]:
    """One verdict; `verdict` is as if the tried text stood first, and is mirrored where it stands second."""
    shown = MIRROR.get(verdict) if first == "other" else verdict
    plain = dict.fromkeys(FRAME, "x") | {"judge": "j", "condition": "style", "bias": "padded", "wording": "as it is"}
    numbers = {"repeat": 0, "letters_tried": 200, "letters_other": 100}
    said = {"question_id": question, "first": first, "verdict": shown, "outcome": "ok" if shown else "unparsed"}
    return {**plain, **numbers, **said, **more}


def frame(rows: list[dict[str, object]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=list(FRAME))


def both(question: str, one: str | None, two: str | None, **more: object) -> list[dict[str, object]]:
    return [row(question, "tried", one, **more), row(question, "other", two, **more)]


def random_verdicts(rng: np.random.Generator, size: int, lead: float) -> list[str]:
    felt = lead + rng.logistic(size=size)
    return [next(v for v, s in SAID.items() if s == (0 if abs(x) < 0.4 else np.sign(x))) for x in felt]


def concluded(estimates: Sequence[Estimate]) -> dict[tuple[str, str], Conclusion]:
    found = protocol.conclusions("verbosity", estimates)
    return {place(each.estimate.where): each for each in found if each.estimate.where.get("bias") != "reworded"}


# --- pairs ------------------------------------------------------------------------------------------------------------


def test_a_pair_is_the_mean_of_both_orders_in_favour_of_the_tried_text() -> None:
    cases = [
        ("A>B", "A>>B", 1.0),
        ("A>B", "B>A", 0.0),
        ("A=B", "A>B", 0.5),
        ("B>>A", "A=B", -0.5),
        ("B>A", "B>A", -1.0),
    ]
    rows = [each for i, (one, two, _) in enumerate(cases) for each in both(f"q{i}", one, two)]
    rows += [*both("q7", "A>B", None), row("q8", "tried", "A>B")]
    rng = np.random.default_rng(1)
    table = verbosity.pairs(frame(rows).iloc[rng.permutation(len(rows))]).set_index("question_id")
    assert [table.loc[f"q{i}", "score"] for i in range(len(cases))] == [score for *_, score in cases]
    assert math.isnan(table.loc["q7", "score"]) and math.isnan(table.loc["q8", "score"])
    assert table.loc["q7", "tried_first"] == 1.0 and len(table) == len(cases) + 2


def test_a_judge_that_names_a_place_prefers_nothing() -> None:
    rows = [{**each, "verdict": "A>B"} for i in range(20) for each in both(f"q{i}", "A>B", "A>B")]
    table = verbosity.pairs(frame(rows))
    assert set(table["score"]) == {0.0}
    (found,) = measured.style_effect(table, "asked", 1)
    assert found.value == 0.0 and math.isnan(found.p) and math.isnan(found.low)
    assert "no test: 0 questions lean to a side" in found.method


# --- effects ----------------------------------------------------------------------------------------------------------


def sample(seed: int = 3, questions: int = 30, lead: float = 0.5) -> pd.DataFrame:
    rng, rows = np.random.default_rng(seed), []
    for q in range(questions):
        for bias, repeat in itertools.product(BIASES, (0, 1)):
            one, two = random_verdicts(rng, 2, lead if bias == "listed" else 0.0)
            rows += both(f"q{q}", one, two, bias=bias, repeat=repeat)
        rows += both(f"q{q}", *random_verdicts(rng, 2, 0.0), condition="control", bias="reworded")
    return frame(rows)


def test_the_effect_is_the_mean_over_questions_with_their_t_interval() -> None:
    verdicts = sample()
    said = verdicts.assign(s=verdicts["verdict"].map(SAID) * verdicts["first"].map({"tried": 1, "other": -1}))
    for each in measured.style_effect(verbosity.pairs(verdicts), "asked", 1):
        mine = said[said["bias"] == each.where["bias"]].groupby("question_id")["s"].mean()
        low, high = stats.t.interval(0.95, len(mine) - 1, mine.mean(), stats.sem(mine))
        assert (each.value, each.low, each.high) == pytest.approx((mine.mean(), low, high))
        assert each.clusters == 30 and each.n == (30 if each.where["bias"] == "reworded" else 60)
        flips = stats.permutation_test(
            (mine.to_numpy(),), np.mean, permutation_type="samples", n_resamples=9999, rng=np.random.default_rng(5)
        )
        assert each.p == pytest.approx(flips.pvalue, abs=0.02)


def test_the_wordings_of_all_judges_are_one_family_and_the_control_is_none_of_it() -> None:
    two = pd.concat([sample(3).assign(judge="a"), sample(4, lead=0.0).assign(judge="b")], ignore_index=True)
    estimates = verbosity.measure(two, "asked", 1)
    found = concluded(estimates)
    raw, p = {at: each.estimate.p for at, each in found.items()}, {at: each.p for at, each in found.items()}
    assert set(raw) == set(itertools.product("ab", BIASES))
    mine = sorted((value, at) for at, value in raw.items())
    steps = [min(1.0, (6 - i) * value) for i, (value, _) in enumerate(mine)]
    assert [p[at] for _, at in mine] == pytest.approx([max(steps[: i + 1]) for i in range(6)])
    assert [(len(some), tests) for some, tests in protocol.confirmatory("verbosity", estimates)] == [(6, 6)]
    longer = Estimate("longer_when_worse", {"judge": "a"}, 0.8, 0.7, 0.9, 40, 40, "rate", 0.05, "t", "asked", 1e-6)
    more = concluded([*estimates, longer, replace(longer, where={"judge": "x"}, data="published")])
    assert more["a", ""].p == pytest.approx(7e-6) and more["x", ""].p == 1e-6  # a source of data is a family of its own
    assert more[mine[0][1]].p == pytest.approx(min(1.0, 6 * mine[0][0]))


def test_a_wording_is_not_tested_where_no_test_could_reach_the_corrected_level() -> None:
    rows = [each for i in range(12) for each in both(f"q{i}", "A>B" if i < 5 else "A=B", "A=B")]
    (few,) = measured.style_effect(verbosity.pairs(frame(rows)), "asked", 1)
    assert math.isnan(few.p) and "no test: 5 questions lean" in few.method and few.low == few.low
    rows = [each for i in range(9) for each in both(f"q{i}", "A>B", "A=B")]
    (bare,) = measured.style_effect(verbosity.pairs(frame(rows)), "asked", 1)
    assert bare.value == 0.5 and math.isnan(bare.low) and "below 10" in bare.method


def test_how_much_a_wording_adds_to_poorer_content_is_paired_by_question() -> None:
    rng, rows, won = np.random.default_rng(8), [], {"plain": [], "padded": []}
    for q in range(24):
        for bias in won:
            one, two = random_verdicts(rng, 2, -0.6 + 0.8 * (bias == "padded"))
            rows += both(f"q{q}", one, two, condition="content", bias=bias)
            won[bias].append((SAID[one] + SAID[two]) / 4 + 0.5)
    table = verbosity.pairs(frame(rows))
    (gain,) = measured.style_over_content(table, "asked")
    paired = stats.ttest_rel(won["padded"], won["plain"])
    low, high = paired.confidence_interval()
    assert (gain.value, gain.low, gain.high, gain.p) == pytest.approx(
        (np.subtract(won["padded"], won["plain"]).mean(), low, high, paired.pvalue)
    )
    rates = {each.where["bias"]: each.value for each in measured.poorer_win_rate(table, "asked")}
    assert rates == pytest.approx({bias: np.mean(values) for bias, values in won.items()})


def test_noise_is_how_often_the_same_question_gets_another_winner() -> None:
    rows = []
    for i in range(12):
        rows += both(f"q{i}", "A>B", "B>A", repeat=0)
        # Another strength is the same winner; a tie is another one; what cannot be read does not count.
        rows += both(f"q{i}", "A>>B", "A=B" if i < 6 else None, repeat=1)
    (noise,) = measured.repeat_disagreement(verbosity.pairs(frame(rows)), "asked")
    assert noise.value == pytest.approx(6 / 18) and noise.n == 18
    assert measured.repeat_disagreement(verbosity.pairs(frame(rows)[lambda f: f["repeat"] == 0]), "asked") == []


# --- length -----------------------------------------------------------------------------------------------------------


def lengthy(seed: int, questions: int = 26, slope: float = 1.0) -> pd.DataFrame:
    rng, rows = np.random.default_rng(seed), []
    for q in range(questions):
        for bias, (wording, tried, other) in itertools.product(
            ("listed", "confident"), (("equal", 300, 300), ("longer", 500 + q, 300), ("shorter", 300, 500 + q))
        ):
            lead = slope * math.log2(tried / other) + 0.6 * (bias == "listed")
            more = {"letters_tried": tried, "letters_other": other, "wording": wording}
            rows += both(f"q{q}", *random_verdicts(rng, 2, lead), condition="length", bias=bias, **more)
    return frame(rows)


def test_the_fit_at_equal_length_is_that_of_least_squares_clustered_by_question() -> None:
    table = verbosity.pairs(lengthy(2))
    x = np.column_stack(
        [
            *(table["bias"] == "listed", table["bias"] == "confident"),
            np.log2(table["letters_tried"] / table["letters_other"]),
        ]
    ).astype(float)
    y, questions = table["score"].to_numpy(float), table["question_id"].to_numpy()
    fits = [cr2_by_matrices(x, y, questions, contrast) for contrast in np.eye(3)]
    found = measured.length_controlled(table, "asked")
    assert [(each.id, each.where.get("bias")) for each in found] == [
        ("length_controlled_effect", "listed"),
        ("length_controlled_effect", "confident"),
        ("length_slope", None),
    ]
    for each, (value, error, df) in zip(found, fits, strict=True):
        reach = stats.t.ppf(0.975, df) * error
        assert (each.value, each.se) == pytest.approx((value, error))
        assert (each.low, each.high) == pytest.approx((value - reach, value + reach))


def test_on_mirrored_lengths_the_effect_at_equal_length_is_a_plain_mean_whatever_length_does() -> None:
    for slope in (0.0, 4.0):
        table = verbosity.pairs(lengthy(5, slope=slope))
        for each in measured.length_controlled(table, "asked")[:2]:
            mine = table[table["bias"] == each.where["bias"]]
            assert each.value == pytest.approx(mine["score"].mean())


def test_lengths_that_cannot_tell_give_no_number_and_say_so() -> None:
    equal = verbosity.pairs(lengthy(2)[lambda f: f["wording"] == "equal"])
    listed, confident, slope = measured.length_controlled(equal, "asked")
    assert listed.low == listed.low and confident.low == confident.low
    assert math.isnan(slope.value) and "one length" in slope.method
    longer = verbosity.pairs(lengthy(2)[lambda f: (f["bias"] == "listed") & (f["wording"] == "longer")])
    longer["letters_tried"], longer["letters_other"] = 400, 200
    assert all(math.isnan(each.value) for each in measured.length_controlled(longer, "asked"))
    assert measured.length_controlled(verbosity.pairs(sample()), "asked") == []


# --- pairs of which one is known to be better -------------------------------------------------------------------------


def test_known_pairs_are_counted_by_bias_and_by_which_text_is_longer() -> None:
    # Of the first twelve, four right, four split, four wrong; of the others six right, one tied twice, one wrong.
    right, split, wrong, tied = ("A>B", "A>B"), ("A>B", "B>A"), ("B>A", "B>A"), ("A=B", "A=B")
    rows = []
    for i, said in enumerate([right] * 4 + [split] * 4 + [wrong] * 4 + [right] * 6 + [tied, wrong]):
        bias, longer = ("length bias", (100, 300)) if i < 12 else ("concreteness", (300, 100))
        more = {"category": bias, "bias": bias, "letters_tried": longer[0], "letters_other": longer[1]}
        rows += both(f"q{i}", *said, condition="none", **more)
    found = {
        (each.id, each.where.get("bias", "")): each
        for each in measured.known_pairs(verbosity.pairs(frame(rows)), "asked", 1)
    }
    assert found["known_pair_accuracy", ""].value == pytest.approx((4 + 2 + 6 + 0.5) / 20)
    assert found["known_pair_accuracy_by_bias", "length bias"].value == pytest.approx(0.5)
    assert found["known_pair_accuracy_by_bias", "concreteness"].value == pytest.approx(6.5 / 8)
    assert found["longer_when_worse", ""].value == pytest.approx(0.5) and found["longer_when_worse", ""].n == 12
    assert found["longer_when_better", ""].value == pytest.approx(6.5 / 8)
    assert math.isnan(found["longer_when_better", ""].low)


# --- simulated judges -------------------------------------------------------------------------------------------------


def of_traits(**traits: object) -> Model:
    return Model("m", "simulated", "m", "gpt", traits=traits)


@pytest.mark.parametrize(
    "traits",
    [
        {"verbosity": 0.4, "taste": 0.5, "tie": 0.3, "noise": 0.7, "primacy": [0.5, 0.0]},
        {"wordings": {"listed": 0.8, "confident": -0.3}, "verbosity": 0.2, "taste": 0.3},
    ],
)
def test_what_planted_traits_imply_is_what_a_million_draws_of_such_a_judge_give(traits: dict) -> None:
    rng, full = np.random.default_rng(11), {"tie": 0.4, "noise": 1.0, "primacy": [0, 0], **traits}
    size = 400_000
    for bias in BIASES:
        worth, length = full.get("wordings", {}).get(bias, 0.0), 2 * full.get("verbosity", 0.0)

        def drawn(u: float) -> float:
            taste = full.get("taste", 0.0) * (rng.standard_normal(size) - rng.standard_normal(size))
            place = (full["primacy"][0] - full["primacy"][1]) * rng.choice([1, -1], size)
            # The difference of two Gumbel variables, which simulated judges draw.
            felt = u + taste + place + full["noise"] * (rng.gumbel(size=size) - rng.gumbel(size=size))
            return float(np.where(np.abs(felt) < full["tie"], 0, np.sign(felt)).mean())

        raw, equal = implied(of_traits(**traits), bias)
        assert raw == pytest.approx(drawn(worth + length), abs=0.006)
        assert equal == pytest.approx(np.mean([drawn(worth + u) for u in (0, length, -length)]), abs=0.006)


@cache
def graders() -> tuple[run.Asked, tuple[Estimate, ...]]:
    names = ["sim_claude_grader", "sim_gpt_grader", "sim_gemini_grader"]
    found = asked("verbosity_style", judges=names)
    return found, tuple(verbosity.measure(found.frame, found.data, 42))


def test_planted_likings_are_found_and_none_where_nothing_was_planted() -> None:
    _, estimates = graders()
    raw, level = (index(estimates, id) for id in ("style_effect", "length_controlled_effect"))
    found = {at for at, each in concluded(estimates).items() if each.p < 0.05}
    longer = {("sim_gpt_grader", bias) for bias in BIASES}
    liked = {("sim_gemini_grader", bias) for bias in ("listed", "confident")}
    assert liked < found <= longer | liked and found & longer
    assert all(raw[at].low > 0 for at in longer) and all(level[at].low > 0 for at in liked)
    assert not [at for at in level if at not in liked and (level[at].low > 0 or level[at].high < 0)]
    slopes = index(estimates, "length_slope")
    assert slopes["sim_gpt_grader", ""].low > 0 > slopes["sim_claude_grader", ""].low
    gains = index(estimates, "style_over_content")
    assert gains["sim_gpt_grader", "padded"].low > 0 and gains["sim_gemini_grader", "listed"].low > 0


def test_words_figures_and_tables_are_of_the_run_and_say_that_it_is_simulated() -> None:
    from helpers import figures, tables

    _, estimates = graders()
    said = verbosity.finding(estimates)
    assert said.count("SIMULATED: sim_") == 3
    shown = [at[1] for at, each in concluded(estimates).items() if at[0] == "sim_gpt_grader" and each.p < 0.05]
    claude, _, gpt = said.split("- SIMULATED: ")[1:]
    assert [bias for bias in BIASES if f"**prefers {bias} wordings of equal content**" in gpt] == shown
    assert "**" not in claude and claude.count("no sign that it prefers") == 6
    for words in (verbosity.length_words, verbosity.content_words, verbosity.noise_words):
        assert words(estimates).count("SIMULATED: sim_") == 3
    for rows, id, key in (
        (verbosity.effect_rows(estimates), "style_effect", "bias"),
        (verbosity.level_rows(estimates), "style_effect", "length"),
        (verbosity.content_rows(estimates), "poorer_win_rate", "bias"),
    ):
        drawn = figures.show_sensitivity(rows, id, [key])
        assert "SIMULATED models (n = " in drawn.caption and "comparisons)" in drawn.caption
    made = [tables.table(*each) for each in protocol.paper_tables("verbosity", estimates)]
    assert [(each.name, len(each.frame)) for each in made] == [("effects", 3), ("equal_length", 3), ("content", 3)]


def test_the_card_and_the_headline_say_the_same() -> None:
    _, estimates = graders()
    lines = {line.judge: line for line in verbosity.card(estimates)}
    assert {judge: line.verdict for judge, line in lines.items()} == {
        "sim_claude_grader": "not shown",
        "sim_gpt_grader": "bias",
        "sim_gemini_grader": "bias",
    }
    assert "prefers listed and confident wordings" in lines["sim_gemini_grader"].words
    head = verbosity.headline(estimates)
    shown = (
        "SIMULATED: 4 of 9 tests show that the judge prefers listed and confident wordings of equal content (2 of 3 "
    )
    assert head.sentence.startswith(shown + "judges, 1 of them at equal length too, exploratory); ")
    assert verbosity.headline([]) is None and verbosity.card([]) == []


def number(id: str, judge: str, bias: str, value: float, se: float, p: float) -> Estimate:
    low, high = value - 2 * se, value + 2 * se
    return Estimate(id, {"judge": judge, "bias": bias}, value, low, high, 100, 50, "pp", se, "t", "asked", p)


def test_what_is_shown_of_no_wording_is_told_with_the_effect_of_the_one_known_least() -> None:
    widths = {"padded": 0.10, "listed": 0.05, "confident": 0.04}
    effect = {"padded": 0.01, "listed": 0.03, "confident": 0.02}
    mine = [number("style_effect", "j", bias, effect[bias], se, 0.5) for bias, se in widths.items()]
    (line,) = verbosity.card(mine)
    assert line.verdict == "not shown" and line.estimate.where["bias"] == "listed"
    # With the widest standard error, of t at the level of Holm's first step of three.
    level, df = 0.05 / 3, 49
    power = 1 - stats.nct.cdf(stats.t.ppf(1 - level / 2, df), df, line.smallest / 0.10)
    assert power == pytest.approx(0.8, abs=1e-3)


def test_equal_length_is_told_after_its_correction_and_as_another_preference_where_it_turns() -> None:
    raw = [number("style_effect", "j", bias, 0.4, 0.05, 1e-6) for bias in BIASES]
    turned = [number("length_controlled_effect", "j", bias, -0.3, 0.05, 1e-6) for bias in ("listed", "confident")]
    head = verbosity.headline([*raw, *turned])
    assert "wordings of equal content (1 of 1 judges, 0 of them at equal length too" in head.sentence
    assert "leans, not established: avoids listed wordings at equal length" in verbosity.finding([*raw, *turned])
    same = [number("length_controlled_effect", "j", bias, 0.3, 0.05, 1e-6) for bias in ("listed", "confident")]
    assert ", 1 of them at equal length too" in verbosity.headline([*raw, *same]).sentence


def test_where_length_decides_the_effect_at_equal_length_is_smaller_than_on_equal_pairs_as_its_limits_say() -> None:
    rng, rows = np.random.default_rng(8), []
    for q in range(60):
        for wording, tried, other in (("equal", 300, 300), ("longer", 500, 300), ("shorter", 300, 500)):
            lead = 30.0 * math.log2(tried / other) + 1.5
            more = {"letters_tried": tried, "letters_other": other, "wording": wording}
            rows += both(f"q{q}", *random_verdicts(rng, 2, lead), condition="length", bias="listed", **more)
    table = verbosity.pairs(frame(rows))
    effect, slope = measured.length_controlled(table, "asked")
    equal = table.loc[table["wording"] == "equal", "score"].mean()
    assert effect.value == pytest.approx(equal / 3) and slope.value > 0.9
    assert "at the worst a third of it" in load_numbers("verbosity").estimands["length_controlled_effect"].fails


def test_a_run_without_lengths_and_contents_is_told_as_it_is() -> None:
    found = asked("verbosity_style", judges=["sim_llama_grader"], comparisons=["style"], question_limit=40, repeats=1)
    estimates = verbosity.measure(found.frame, found.data, 42)
    assert {each.id for each in estimates} == {"style_effect", "invalid_share"}
    assert "No wordings were compared at chosen lengths" in verbosity.length_words(estimates)
    assert "No poorer content" in verbosity.content_words(estimates) and "at equal length" not in verbosity.finding(
        estimates
    )
    assert verbosity.level_rows(estimates) == [] and set(found.frame["condition"]) == {"style", "control"}


def test_nothing_readable_is_a_result_and_nothing_paired_an_error() -> None:
    found = verbosity.measure(frame(both("q", None, None)), "asked", 1)
    assert {e.value for e in found if e.id == "invalid_share"} == {1.0}
    assert all(math.isnan(e.value) for e in found if e.id != "invalid_share")
    with pytest.raises(ValueError, match=r"no pair was judged readably in both orders"):
        verbosity.measure(frame(both("q", "A", None)), "asked", 1)
    with pytest.raises(ValueError, match="recuse analyze"):
        verbosity.published_frame(frame([]))


def test_questions_without_anything_to_compare_are_refused() -> None:
    import asyncio

    with pytest.raises(ValueError, match="none of 20 questions has 3 answer points or more and a category"):
        asyncio.run(run.ask(settled("verbosity_style", categories=["writing", "roleplay"]), show=False))
