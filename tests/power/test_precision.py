"""What follows from a standard error: effects, questions, chances; against the document's tables and each other."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from helpers import power
from helpers.power.precision import NoStandardError, Precision, standard_error
from helpers.stats.power import detectable_mcnemar, power_of, provable_margin, questions_for_mcnemar
from helpers.types import Estimate

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
        assert 100 * power.chance(HINT, effect / 100) == pytest.approx(found, abs=4.5)


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
        assert power.chance(HINT, power.smallest_detectable(HINT, 120, share), 120) == pytest.approx(share, abs=1e-6)
    assert power.chance(HINT, 0.0) == pytest.approx(0.05) and power.chance(HINT, 9.0) == 1.0
    assert power.chance(HINT, -0.05) == power.chance(HINT, 0.05)
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
        with pytest.raises(ValueError, match=r"numbers.json is no numbers.json"):
            power.read_pilot(file, "mt_bench_blind")


def test_what_cannot_be_planned_is_an_error_that_says_why() -> None:
    with pytest.raises(ValueError, match="top1_rate: no headline number of mt_bench_blind; there are: self_preference"):
        power.precisions([], "mt_bench_blind", ids=["top1_rate"])
    with pytest.raises(NoStandardError, match="none of its headline numbers is there"):
        power.precisions([], "mt_bench_blind")
    few = estimated("average_self_bias", {}, clusters=9)
    none = Estimate("third_party_log_odds", {"vendor": "gpt"}, 0.1, n=80, clusters=80, method="no interval: one vendor")
    with pytest.raises(NoStandardError, match=r"average_self_bias: 9 questions, 10 are the least; third.*one vendor"):
        power.precisions([few, none], "mt_bench_blind")
    assert power.of_run([few], "mt_bench_blind") == []
    with pytest.raises(ValueError, match="no experiment 'nothing'"):
        power.precisions([], "nothing")
