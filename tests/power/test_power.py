"""Power: what follows from a standard error, standard errors of simulated runs, and what is shown of both."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from helpers import figures, paths, power
from helpers.__main__ import main
from helpers.biases.cognitive import effects as cognitive_effects
from helpers.biases.cognitive.averages import pairs
from helpers.config import ConfigError, load_experiment
from helpers.figures import NothingToDraw
from helpers.power import Cost, NoStandardError, Precision, standard_error, units
from helpers.run.sources import questions_of
from helpers.stats.power import detectable_effect, detectable_mcnemar, power_of, provable_margin, questions_for_mcnemar
from helpers.types import Estimate
from studies.calibration import designs
from studies.calibration.designs import FITTED, WORLDS
from studies.calibration.worlds import listwise as listwise_world
from studies.calibration.worlds.decisions import Answerer, World, scale_frame, scale_sample, truths
from tests.rule import assert_within
from tests.test_figures import by_row, rows_of

HINT = Precision("hint_effect", {"hint": "self", "vendor": "average"}, "pp", 0.0253, 80)


def estimated(id: str, where: dict[str, str], se: float = 0.1, clusters: int = 80, **more) -> Estimate:
    reach = 1.99 * se
    kept = {"n": 480, "clusters": clusters, "unit": "logit", "se": se, "p": 0.2, "data": "simulated"} | more
    return Estimate(id, where, 0.1, 0.1 - reach, 0.1 + reach, **kept)


def test_the_documents_questions_for_an_effect_of_a_hint() -> None:
    # "A hint effect of 3 pp needs about 450 prompts": (2.8 * 2.53 / 3)² * 80 = 446; t takes a few more.
    assert power.questions_for(HINT, 0.03) == pytest.approx((2.8 * 2.53 / 3) ** 2 * 80, rel=0.02)
    # "TOST at +-5 pp: about 180 are needed for 80 %".
    margin = Precision("hint_effect_90", HINT.where, "pp", 0.0253, 80, kind="equivalence")
    assert power.questions_for(margin, 0.05) == pytest.approx(180, rel=0.03)
    # Power of +1.5, 3.0, 4.8, 6.3, 7.8, 9.6 pp by cluster t: 7, 22, 45, 69, 84, 96 %, simulated with an SE of 0.5 pp.
    for effect, found in ((1.5, 7), (3.0, 22), (4.8, 45), (6.3, 69), (7.8, 84), (9.6, 96)):
        assert 100 * power_of(effect / 100, HINT.se, 79) == pytest.approx(found, abs=4.5)


def test_mcnemar_questions_are_those_of_the_documents_table() -> None:
    for n, discordant, net in ((100, 0.1, 0.088), (200, 0.2, 0.091), (400, 0.3, 0.079), (748, 0.1, 0.033)):
        share = (discordant - net) / 2
        assert detectable_mcnemar(n, share * n) == pytest.approx(net, abs=0.0015)
        assert questions_for_mcnemar(share, net) == pytest.approx(n, rel=0.06)
    assert questions_for_mcnemar(0.1, 0.0) == math.inf and math.isnan(questions_for_mcnemar(0.45, 0.2))
    assert math.isnan(questions_for_mcnemar(math.nan, 0.1))
    pairs = Precision("first_position_effect", {}, "pp", 0.03, 200, kind="mcnemar", share=0.0545)
    assert power.smallest_detectable(pairs) == pytest.approx(0.091, abs=0.0015)


@pytest.mark.parametrize("kind", ["t", "equivalence", "mcnemar"])
def test_more_questions_find_less_and_the_questions_for_an_effect_find_just_that(kind: str) -> None:
    one = Precision("x", {}, "pp", 0.04, 60, 0.05 / 3, kind, share=0.08)
    sizes = [20, 60, 240, 960]
    effects = [power.smallest_detectable(one, n) for n in sizes]
    assert effects == sorted(effects, reverse=True) and effects[0] > 3 * effects[-1]
    for effect in (0.06, 0.1):
        n = power.questions_for(one, effect)
        assert power.smallest_detectable(one, int(n)) <= effect
        # The exact test is not quite monotone: a handful fewer must not do.
        assert power.smallest_detectable(one, int(n) - (1 if kind != "mcnemar" else 12)) > effect
    strict, planned = (Precision("x", {}, "pp", 0.04, 60, level, kind, share=0.08) for level in (0.01, 0.05))
    assert power.smallest_detectable(strict) > power.smallest_detectable(planned)


def test_the_chance_at_the_smallest_effect_is_what_was_asked_for() -> None:
    for share in (0.5, 0.8, 0.95):
        assert power_of(detectable_effect(HINT.se, 79, share), HINT.se, 79) == pytest.approx(share, abs=1e-6)
    assert power_of(0.0, HINT.se, 79) == pytest.approx(0.05) and power_of(9.0, HINT.se, 79) == 1.0
    assert power_of(-0.05, HINT.se, 79) == power_of(0.05, HINT.se, 79)
    assert math.isnan(power_of(0.1, 0.0, 10)) and math.isnan(power_of(0.1, math.nan, 10))
    assert math.isnan(provable_margin(math.nan, 10)) and power.questions_for(HINT, 0.0) == math.inf


def test_questions_that_tell_nothing_have_to_be_asked_too() -> None:
    """Of 80 articles 20 hold a wrong answer of the judge's own: for 20 more of these 80 more have to be asked."""
    some, every = (Precision("x", {}, "logit", 0.3, 20, asked=n) for n in (80, 20))
    assert power.smallest_detectable(some) == power.smallest_detectable(every)
    assert power.questions_for(some, 0.5) == 4 * power.questions_for(every, 0.5)
    assert math.isnan(power.smallest_detectable(some, 36)) and math.isfinite(power.smallest_detectable(some, 40))
    with pytest.raises(ValueError, match="9 questions: 10 are the least"):
        power.smallest_detectable(some, 9)


def test_levels_are_those_of_holms_first_step_where_a_test_was_planned() -> None:
    vendors = [estimated("self_preference_logit", {"vendor": name}) for name in ("claude", "gpt", "gemini")]
    lost = estimated("self_preference_logit", {"vendor": "x"}, method="no test: too few")
    variant = estimated("self_preference_logit", {"vendor": "gpt", "variant": "top 1"})
    published = estimated("self_preference_logit", {"vendor": "gpt"}, data="published")
    others = [estimated("excess_self_preference", {"vendor": "gpt"}, unit="pp"), lost, variant, published]
    found = power.precisions([*others, *vendors], "mt_bench_blind")
    assert [(one.place, one.level, one.confirmatory) for one in found] == [
        *((name, 0.05 / 3, True) for name in ("x", "claude", "gpt", "gemini")),
        ("gpt", 0.05, False),
    ]
    assert {one.words for one in found} == {"Holm's first step of 3", "exploratory, uncorrected"}
    # Experiment 3 counts what was planned; one-sided tests have the level of one side.
    doses = [estimated("obfuscation_effect", {"judge": name, "dose": dose}) for name in "ab" for dose in ("2", "4")]
    found = power.precisions([*doses[:-1], estimated("x", {}), doses[-1]], "quality_self_preference")
    assert [(one.place, one.level) for one in found if one.confirmatory] == [("a, dose 2", 0.025), ("b, dose 2", 0.025)]
    flip = estimated("excess_flip", {"judge": "a", "candidate": "b"}, method="t; one-sided p by dealing verdicts anew")
    assert power.precisions([flip], "arena_hard_position_bias")[0].level == 0.1


def test_one_pair_a_question_is_planned_with_the_exact_test() -> None:
    where = {"judge": "a", "candidate": "b"}
    shares = [estimated(id, where, unit="rate") for id in ("primacy_share", "recency_share")]
    once = estimated("first_position_effect", where, unit="pp", n=80)
    (one, *_) = power.precisions([once, *shares], "arena_hard_position_bias")
    assert one.kind == "mcnemar" and one.share == pytest.approx(0.1)
    twice = estimated("first_position_effect", where)
    assert power.precisions([twice, *shares], "arena_hard_position_bias")[0].kind == "t"


def test_the_standard_error_comes_back_from_a_stored_interval() -> None:
    from scipy.stats import t

    for id, level in (("x", 0.975), ("hint_effect_90", 0.95)):
        reach = 0.02 * t.ppf(level, 79)
        stored = Estimate(id, {}, 0.1, 0.1 - reach, 0.1 + reach, 480, 80, "pp")
        assert standard_error(stored) == pytest.approx(0.02)
    cut = Estimate("x", {}, 0.01, 0.0, 0.01 + 0.02 * t.ppf(0.975, 79), 480, 80, "rate")
    assert standard_error(cut) == pytest.approx(0.02)
    uneven = Estimate("x", {}, 0.1, 0.05, 0.2, 480, 80, "pp", method="BCa over questions")
    assert math.isnan(standard_error(uneven)) and math.isnan(standard_error(Estimate("x", {}, 0.1, n=5, clusters=80)))
    share = Estimate("x", {}, 0.2, 0.1, 0.3, 100, 100, method="Wilson")
    assert standard_error(share) == pytest.approx(0.04)


def test_a_pilot_is_read_from_its_numbers(tmp_path: Path) -> None:
    file = tmp_path / "numbers.json"
    row = {"id": "excess_self_preference", "where": {"vendor": "gpt"}, "value": 0.1, "low": 0.06, "high": 0.14}
    row |= {"n": 480, "clusters": 80, "unit": "pp", "method": "question-clustered t", "data": "asked"}
    bare = row | {"where": {"vendor": "x"}, "low": None, "high": None}
    content = {"provenance": {"experiment": "mt_bench_blind"}, "numbers": [row, bare]}
    file.write_text(json.dumps(content), encoding="utf-8")
    (one,) = power.precisions(power.read_pilot(file, "mt_bench_blind"), "mt_bench_blind")
    assert (one.place, one.data) == ("gpt", "asked") and one.se == pytest.approx(0.04 / 1.99045, rel=1e-4)
    with pytest.raises(ValueError, match="holds the numbers of mt_bench_blind, not of hinting_groups"):
        power.read_pilot(file, "hinting_groups")
    for text in ("[", "{}", '{"provenance": {"experiment": "mt_bench_blind"}, "numbers": [{}]}'):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(ValueError, match=r"numbers\.json: .*make these results again"):
            power.read_pilot(file, "mt_bench_blind")


def test_what_cannot_be_planned_is_an_error_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NoStandardError, match="none of its headline numbers is there"):
        power.precisions([], "mt_bench_blind")
    few = estimated("average_self_bias", {}, clusters=9)
    none = Estimate("third_party_log_odds", {"vendor": "gpt"}, 0.1, n=80, clusters=80, method="no interval: one vendor")
    with pytest.raises(NoStandardError, match=r"average_self_bias: 9 questions, 10 are the least; third.*one vendor"):
        power.precisions([few, none], "mt_bench_blind")
    shown: list[object] = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    assert power.show([few], "mt_bench_blind", "paper") == [] and power.NOTHING[:40] in shown[-1].data
    with pytest.raises(ValueError, match="no experiment 'nothing'"):
        power.precisions([], "nothing")


# --- tables, sentences, figures and costs -----------------------------------------------------------------------------

HINTS = [
    Precision("hint_effect", {"hint": hint}, "pp", se, 80, 0.05 / 3, words="Holm", confirmatory=True, data="asked")
    for hint, se in (("self", 0.03), ("full", 0.02))
]
MARGIN = Precision("hint_effect_90", {"hint": "self"}, "pp", 0.03, 80, 0.05 / 3, "equivalence", "Holm", True)
OTHERS = [Precision("name_effect", {"vendor": name}, "pp", se, 80) for name, se in (("a", 0.01), ("b", 0.05))]


def test_effects_are_wanted_in_pp_or_in_their_unit() -> None:
    assert power.wanted(["5", "2.5pp", "0.4 logit", "0.1score"]) == {"pp": 0.025, "logit": 0.4, "score": 0.1}
    for text in ("x", "0", "-1", "5 miles"):
        with pytest.raises(ValueError, match="a number above 0"):
            power.wanted([text])


def test_the_table_has_a_row_a_planned_test_and_a_row_a_kind_of_others() -> None:
    table = power.table([*HINTS, MARGIN, *OTHERS], effects={"pp": 0.05}, cost=Cost(80, 80, 960, 1e6, 8.0))
    assert list(table["where"]) == ["self", "full", "self", "median of 2 (vendor)"]
    assert list(table["questions"]) == [80] * 4
    needed = [power.questions_for(each, 0.05) for each in (*HINTS, MARGIN, OTHERS[0])]
    assert list(table["questions needed"]) == [f"{n:,.0f}" for n in needed]
    assert table["cost of these"][0] == f"{12 * needed[0]:,.0f} calls, ${needed[0] / 10:,.2f}"
    assert table["test"][2].endswith("equivalence") and table["smallest effect"][0].endswith(" pp")
    logits = power.table([Precision("x", {}, "logit", 0.1, 80)], effects={"pp": 0.05})
    assert list(logits["questions needed"]) == ["\N{EN DASH}"]
    assert power.table([]).empty


def test_the_sentence_names_the_best_and_the_worst_and_what_half_takes() -> None:
    said = power.sentence([*HINTS, *OTHERS])
    low, high = (100 * power.smallest_detectable(each) for each in reversed(HINTS))
    half = power.questions_for(HINTS[0], high / 200)
    assert f"{low:.1f} pp (full) to {high:.1f} pp (self)" in said and f"takes {half:,.0f} questions" in said
    made_up = Precision("x", {}, "pp", 1, 80, confirmatory=True, data="simulated")
    assert "SIMULATED" not in said and "SIMULATED" in power.sentence([made_up])
    assert "10 questions are the least" in power.sentence([])


def test_the_figure_draws_each_planned_number_and_says_simulated() -> None:
    curves = power.curves([*HINTS, MARGIN, *OTHERS])
    assert set(curves["id"]) == {"hint_effect", "hint_effect_90"}
    assert curves.groupby(["id", "place"])["effect"].apply(lambda each: each.is_monotonic_decreasing).all()
    figure = figures.show_power(curves, {"pp": 0.05})
    rows = rows_of(figure)
    assert [row for row in rows if row.startswith("hint effect")] == ["hint effect", "hint effect, equivalence"]
    # A row a place with its effect at the questions that were asked and at the most; dashed: the wanted one.
    here = curves[curves["questions"] == curves["questions"].max()].set_index("place")["effect"]
    found = [(row, x) for row, x, _ in by_row(figure)]
    assert len(found) == 6 and found[0][1] == pytest.approx(100 * here.iloc[0])
    assert [line.get_xdata()[0] for line in figure.figure.axes[0].lines] == [5]
    assert "80 questions" in figure.caption and "asked judges" in figure.caption and "Dashed" in figure.caption
    many = [
        Precision("x", {"judge": f"j{i}"}, "pp", 0.01 + i / 1000, 80, confirmatory=True, data="simulated")
        for i in range(12)
    ]
    figure = figures.show_power(power.curves(many), style="acl")
    assert {"j0", "j11", "SIMULATED models"} <= set(rows_of(figure)) and "SIMULATED" in figure.caption
    with pytest.raises(NothingToDraw):
        figures.show_power(power.curves(OTHERS))


def test_a_place_is_a_row_and_the_caption_says_what_is_counted() -> None:
    places = ({"judge": "small", "of": "a"}, {"judge": "large", "of": "b"})
    each = [
        Precision("x", place, "logit", 0.2, 12, confirmatory=True, data="asked", cluster="article") for place in places
    ]
    figure = figures.show_power(power.curves(each))
    assert rows_of(figure) == ["x", "small, a", "large, b"] and "12 articles" in figure.caption


def test_a_cost_needs_no_key_and_grows_with_questions_judges_and_repeats() -> None:
    def of(questions: int, **given) -> Cost:
        return asyncio.run(power.cost("cognitive_biases", questions, biases=["halo"], **given))

    one = of(10, judges=["gpt_4_1"], repeats=1)
    # 10 scenarios in 3 wordings, control and treatment.
    assert one.calls == 60 and one.usd > 0 and one.known == 24
    assert of(10, judges=["gpt_4_1"], repeats=2).calls == 120
    both = of(10, judges=["gpt_4_1", "claude_fast"], repeats=1)
    assert both.calls == 120 and both.usd > one.usd
    assert of(240, judges=["gpt_4_1"], repeats=1).calls == 1440
    assert of(20, judges=["gpt_4_1"], repeats=1).usd == pytest.approx(2 * one.usd, rel=0.1)
    assert one.scale(math.inf).brief == "no sum would do" and "24 questions are at hand" in str(one.scale(100))
    with pytest.raises(ConfigError, match="nobody"):
        of(10, judges=["nobody"])


def test_articles_and_scenarios_are_what_is_counted() -> None:
    tests = questions_of(load_experiment("cognitive_biases"))
    assert (units(tests), len(tests)) == (24, 168)  # seven biases
    passages = questions_of(load_experiment("quality_self_preference"))
    lines = (paths.DATA / "quality_self_preference" / "passages.jsonl").read_text(encoding="utf-8").splitlines()
    assert units(passages) == len(lines) < len(passages)
    assert units(questions_of(load_experiment("mt_bench_blind"))) == 80


def test_the_command_prints_the_table_and_writes_the_curve(tmp_path: Path) -> None:
    pilot = paths.FIGURES / "hinting_groups" / "numbers.json"
    given = ["power", "hinting_groups", "--pilot", str(pilot), "--effect", "3", "--questions", "10"]
    done = CliRunner().invoke(main, [*given, "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0 and "hinting_groups, 10 questions: " in done.output
    assert "hint_effect_90" in done.output and "from the pilot" in done.output
    assert {file.suffix for file in tmp_path.iterdir()} == {".png", ".pdf", ".svg"}
    for wrong, told in (
        (["power", "hinting_groups", "--questions", "9"], "9 questions: 10 are the least"),
        (["power", "hinting_groups", "--effect", "x"], "a number above 0"),
        (["power", "mt_bench_blind", "--pilot", str(pilot)], "holds the numbers of hinting_groups"),
        (["power", "nothing"], "no experiment 'nothing'"),
        (["power", "hinting_groups", "-p", "jugdes", "[a]"], "no parameter jugdes"),
    ):
        failed = CliRunner().invoke(main, wrong)
        assert failed.exit_code and told in str(failed.exception)


def test_the_command_draws_a_design_where_there_is_no_pilot() -> None:
    given = ["power", "arena_hard_position_bias", "--questions", "20", "--judges", "sim_gpt_judge", "--repeats", "1"]
    done = CliRunner().invoke(main, [*given, "--draws", "10"], catch_exceptions=False)
    assert "from 10 simulated runs with 1 judges, repeats = 1" in done.output and "exact McNemar" in done.output
    assert "Monte-Carlo error of 24%" in done.output


# --- standard errors from simulated runs ------------------------------------------------------------------------------

#: Smallest detectable effects at the published sizes, 80 questions and 6 judges: statistics, "Smallest detectable
#: effect at the seed's sizes".
#: The document takes 2.8 standard errors, t at 79 degrees of freedom 2.837; its numbers are rounded to 0.1 or 1 pp.
DOCUMENT = {
    ("average_self_bias", ""): (5.3, 0.05),
    ("excess_self_preference", "mean"): (11.0, 0.5),
    ("position_effect", "mean"): (4.8, 0.05),
}
CHEAP = ("average_self_bias", "excess_self_preference", "position_effect")
FAST, SLOW = 40, pytest.param(600, marks=pytest.mark.slow)
Z = 2.8 / 2.8370


@cache
def listwise(draws: int) -> tuple:
    estimates = designs.simulated("mt_bench_blind", 80, draws=draws, ids=CHEAP)
    return tuple(power.precisions(estimates, "mt_bench_blind", draws=draws))


def errors(each: list[Precision]) -> tuple[float, float]:
    """The mean of the detectable effects over places, in pp, and its relative Monte-Carlo error, at most."""
    return 100 * float(np.mean([power.smallest_detectable(one) for one in each])), each[0].error / each[0].se


def assert_near(found: float, error: float, document: float, rounding: float) -> None:
    assert abs(found * Z - document) <= rounding + 3.5 * error * document, f"{found:.2f} for {document}"


@pytest.mark.parametrize("draws", [FAST, SLOW])
@pytest.mark.parametrize(("id", "of"), DOCUMENT)
def test_the_documents_smallest_detectable_effects(id: str, of: str, draws: int) -> None:
    found, error = errors([one for one in listwise(draws) if one.id == id])
    assert error == pytest.approx(1 / math.sqrt(2 * (draws - 1)))
    assert_near(found, error, *DOCUMENT[id, of])


@pytest.mark.slow
def test_the_documents_smallest_effect_of_a_hint() -> None:
    estimates = designs.simulated("hinting_groups", 80, draws=200, ids=["hint_effect"])
    each = power.precisions(estimates, "hinting_groups", draws=200)
    averages = [replace(one, level=0.05) for one in each if one.confirmatory and one.id == "hint_effect"]
    assert len(averages) == 3  # the document has one test and no correction
    found, error = errors(averages)
    assert_near(found, error, 7.1, 0.05)


def test_the_fitted_world_has_the_documents_errors() -> None:
    """Average own-vendor rate, and its difference between two groups, without frames: SE 1.9 and 2.53 pp."""
    vendor, draws, rates = FITTED.vendor_of, 500, []
    for turn in range(draws):
        rng = np.random.default_rng([90, turn])
        felt = listwise_world.latent(FITTED, 80, rng)
        own = [listwise_world.judged(FITTED, felt, rng).top_vendor == vendor for _ in range(2)]
        rates.append([100 * each.mean() for each in own])
    one, two = np.array(rates).T
    for spread, document, rounding in ((one.std(), 1.9, 0.05), ((one - two).std(), 2.53, 0.005)):
        assert abs(spread - document) <= rounding + 3.5 * document / math.sqrt(2 * draws)


def test_a_pilots_own_error_and_the_simulated_one_are_the_same() -> None:
    """The mean of each run's estimated standard error against the spread over runs, both of the same world."""
    runs, found = 12, {}
    for turn in range(runs):
        rng = np.random.default_rng([91, turn])
        measures = WORLDS["top_choice"][0](80, 6, 1, rng)
        for ids, measure in measures.items():
            for each in measure() if set(ids) & set(CHEAP) else ():
                found.setdefault((each.id, tuple(each.where.values())), []).append(each.se)
    for one in listwise(FAST):
        own = np.mean(found[one.id, tuple(one.where.values())])
        # Each run's error varies by about a tenth; 9 numbers and more are looked at.
        assert own == pytest.approx(one.se, rel=3.5 * math.hypot(one.error / one.se, 0.12 / math.sqrt(runs)))


def test_more_judges_repeats_and_questions_make_a_number_surer() -> None:
    def se(questions: int, judges: int, repeats: int) -> list[float]:
        found = designs.simulated("arena_hard_position_bias", questions, judges, repeats, 20, ids=["first_win_rate"])
        return [one.se for one in found if one.id == "first_win_rate"]

    (once,), (more,), twice = se(20, 1, 1), se(80, 1, 1), se(20, 2, 4)
    assert len(twice) == 2 and more == pytest.approx(once / 2, rel=0.5) and twice[0] < once
    few, every = (
        designs.simulated("mt_bench_blind", 20, judges, 1, 25, ids=["average_self_bias"])[-1] for judges in (2, 6)
    )
    assert few.id == every.id == "average_self_bias" and few.se > every.se


@pytest.mark.parametrize("name", ["quality_self_preference", "cognitive_biases"])
def test_every_world_gives_planned_tests(name: str) -> None:
    each = power.precisions(designs.simulated(name, 60, 3, draws=3), name, asked=60, draws=3)
    assert any(one.confirmatory for one in each) and all(one.here == 60 for one in each)


def test_designs_that_a_world_cannot_have_are_refused() -> None:
    with pytest.raises(ValueError, match=r"7 judges: the simulated world of mt_bench_blind has 1 to 6"):
        designs.simulated("mt_bench_blind", 80, 7, draws=2)
    with pytest.raises(ValueError, match="9 questions"):
        designs.simulated("mt_bench_blind", 9, draws=2)


def test_without_the_repositorys_worlds_a_pilot_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "DESIGNS", "studies.nowhere.designs")
    with pytest.raises(ValueError, match=r"no simulated worlds here: .* work in a clone .* or use a pilot"):
        power.planned("mt_bench_blind", {}, 80)


# --- is an effect of that size found as often as promised? ------------------------------------------------------------

SCENARIOS = 40


def world(strength: float) -> World:
    return World((Answerer("a", noise=0.15, strength=strength, varying=0.1),), target="end")


@cache
def planted() -> float:
    """The strength whose true effect is the smallest that 40 scenarios find in 80 % of runs."""

    def effect(strength: float) -> float:
        return truths(lambda rng, n: scale_sample(world(strength), rng, n), 92, 3, 20_000)["bias_effect", "a"][0]

    values = [measured(0.1, 93, turn).value for turn in range(300)]
    least = detectable_effect(float(np.std(values, ddof=1)), SCENARIOS - 1)
    low, high = 0.0, 0.4
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if effect(middle) < least else (low, middle)
    return (low + high) / 2


def measured(strength: float, seed: int, turn: int):
    rng = np.random.default_rng([seed, turn])
    table = pairs(scale_frame(world(strength), rng, SCENARIOS))
    return next(each for each in cognitive_effects.bias_effect(table, "simulated", turn) if "judge" in each.where)


@pytest.mark.slow
def test_the_smallest_detectable_effect_is_found_in_80_percent_of_runs() -> None:
    """By sign flips over scenarios, of which t is an approximation; the strength is solved for on a large sample."""
    strength, runs = planted(), 1500
    hits = sum(measured(strength, 94, turn).p < 0.05 for turn in range(runs))
    # The planted effect carries the error of the spread of 300 runs (4 %, 2 points of power).
    assert_within(hits, runs, 0.76, 0.84, "power at the smallest detectable effect")


def test_a_known_spread_is_found_as_often_as_promised() -> None:
    """The same without a world: 25 numbers a run, sign flips of their sum, an effect of the promised size."""
    from helpers.stats.tests import sign_flip

    rng, runs = np.random.default_rng(95), 300
    effect = power.smallest_detectable(Precision("x", {}, "pp", 1 / 5, 25))
    hits = sum(sign_flip(rng.normal(effect, 1, 25), 95, 1999).p < 0.05 for _ in range(runs))
    assert_within(hits, runs, 0.78, 0.82, "power of sign flips")
