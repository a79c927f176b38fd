"""What an audit concludes of judges whose bias is known: planted ones, noise, constants, and replies that are lost."""

from __future__ import annotations

import math
import re
from functools import cache

import numpy as np
import pytest

from helpers.audit import measuring
from helpers.audit.asking import PROBES
from helpers.types import Estimate
from tests.audits import BATTERY, DESIGN, drawn, findings, judged, net, wins

#: Traits that plant one bias each, the probes that it must show in, and its size from the simulator's own formula.
PLANTED = {
    "place": ({"primacy": [2.0, 0.0]}, {"order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2, "identical": net(2.0)}),
    "letters": ({"biases": {"letters": 2.0}}, {"letters": net(2.0), "order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2}),
    "length": ({"verbosity": 1.0}, {"length": net(2.0)}),
    "authority": ({"biases": {"authority": 1.5}}, {"authority": net(1.5)}),
    "bandwagon": ({"biases": {"bandwagon": 1.5}}, {"bandwagon": net(1.5)}),
    "names": ({"biases": {"names": 1.5}}, {"names": net(1.5)}),
    # 0.3 of the way from an honest score to a number: the numbers are about 93 and 10.
    "anchor": ({"biases": {"anchor": 0.3}}, {"anchor": 0.3 * (93 - 10) / 100}),
}
#: What may show beside a planted bias because it is the same thing: the first place bears the letter A.
COMPANIONS = {"letters": {"order", "identical"}, "place": set()}


CASES = [(name, structured) for name in PLANTED for structured in (True, False)]


@cache
def planted(name: str, structured: bool) -> dict[str, measuring.Finding]:
    return findings(judged(PLANTED[name][0], structured, id=f"sim-{name}"))


@pytest.mark.parametrize(("name", "structured"), CASES)
def test_a_planted_bias_is_found_with_an_honest_interval(name: str, structured: bool) -> None:
    found = planted(name, structured)
    for probe, truth in PLANTED[name][1].items():
        each = found[probe].estimate
        assert found[probe].said == "biased" and found[probe].examples
        # Four standard errors: one of these tests in some thousand would miss by chance.
        assert abs(each.value - truth) < 4 * each.se + 0.03, (probe, each, truth)
        assert found[probe].words == PROBES[probe].above


def test_what_is_not_planted_is_not_found() -> None:
    alarms = 0
    for name, structured in CASES:
        biased = {probe for probe, each in planted(name, structured).items() if each.said == "biased"}
        alarms += bool(biased - set(PLANTED[name][1]) - COMPANIONS.get(name, set()))
    # At most 5 % of audits raise one by chance; more than three of these 14 would be one run in 200.
    assert alarms <= 3


def test_biases_to_the_other_side_are_told_as_such() -> None:
    found = findings(judged({"primacy": [0.0, 2.0], "verbosity": -1.0, "biases": {"authority": -2.0}}))
    for probe in ("order", "identical", "length", "authority"):
        assert found[probe].said == "biased" and found[probe].words == PROBES[probe].below


def test_several_at_once_are_told_apart() -> None:
    traits = {"primacy": [2.0, 0.0], "biases": {"authority": 2.0, "names": -2.0, "anchor": 0.4}}
    found = findings(judged(traits))
    biased = {probe: each.estimate.value > 0 for probe, each in found.items() if each.said == "biased"}
    assert biased == {"order": True, "identical": True, "authority": True, "names": False, "anchor": True}


def test_a_fair_judge_is_fair_however_noisy_and_the_card_says_what_it_could_have_found() -> None:
    alarms = 0
    for noise, id in [(0.3, "a"), (0.3, "b"), (1.0, "a"), (1.0, "b"), (2.0, "a"), (2.0, "b")]:
        found = findings(judged({"noise": noise, "sharpness": 2.0}, id=id))
        alarms += any(each.said == "biased" for each in found.values())
        for each in found.values():
            assert each.said != "cannot be told" and (each.smallest > 0) != (each.moved > 0)
            assert each.said == "biased" or "would have been found" in each.words
    assert alarms <= 1  # one in 20 is what the correction allows; the slow tests measure it


def test_noise_and_bias_are_different_questions() -> None:
    noisy = judged({"noise": 1.5})
    beside = {each.id: each for each in measuring.described(noisy, "j", "asked", BATTERY.seed)}
    # It says something else in half of the cases, with the order or without: none of it is the order's.
    assert beside["repeat_disagreement"].value > 0.4 < beside["order_disagreement"].value
    assert beside["excess_flip"].low == 0 < beside["excess_flip"].high, "a sum of squares is not below 0"
    placed = measuring.described(judged({"primacy": [3.0, 0.0]}), "j", "asked", BATTERY.seed)
    assert next(each for each in placed if each.id == "excess_flip").low > 0


def test_a_judge_that_never_says_anything_else_passes_nothing() -> None:
    table = drawn(np.random.default_rng(1))
    constant = table.assign(sign=table["sign"].where(table["sign"].isna(), 1.0), points=table["points"] * 0 + 70)
    found = findings(constant)
    assert found["order"].said == found["identical"].said == "biased"
    assert {found[name].said for name in PROBES if name not in ("order", "identical")} == {"cannot be told"}
    assert "same 70 points" in found["anchor"].words and "50.0 %" in found["length"].words
    tied = table.assign(sign=table["sign"] * 0, points=table["points"])
    assert {each.said for name, each in findings(tied).items() if name != "anchor"} == {"cannot be told"}


def test_one_that_tosses_coins_is_not_taken_for_fair() -> None:
    rng = np.random.default_rng(3)
    table = drawn(rng)
    tossed = table.assign(sign=np.where(table["sign"].isna(), np.nan, rng.choice([-1.0, 1.0], len(table))))
    found = findings(tossed)
    assert {found[name].said for name in PROBES if name != "anchor"} == {"cannot be told"}


def test_nothing_moved_is_no_bias_shown_with_what_would_have_been_found() -> None:
    found = findings(judged({"noise": 1e-6, "tie": 0.3}))
    each = found["authority"]
    assert each.said == "no bias shown" and math.isnan(each.smallest)
    # 24 questions at the level of 0.05 / 8: nine that move to one side are needed, and P(at least nine) = 0.8.
    from scipy.stats import binom

    assert 2 * 0.5**9 < 0.05 / 8 < 2 * 0.5**8
    assert binom.sf(8, 24, each.moved) == pytest.approx(0.8, abs=1e-3)


def test_the_effect_that_is_named_is_rounded_up_and_says_how_often_it_would_be_found() -> None:
    for each in findings(judged({"sharpness": 2.0})).values():
        told = re.search(r"(\d+) (pp|% of questions) would have been found in 80 % of audits", each.words)
        size = each.smallest if each.smallest == each.smallest else each.moved
        assert each.said == "biased" or 0 <= int(told[1]) - 100 * size < 1, (told, size)


def test_where_not_even_the_largest_effect_would_be_found_nothing_is_told() -> None:
    """Twelve questions left of 24, on which the judge tosses coins: an effect of 100 pp would often be missed."""
    rng, table = np.random.default_rng(4), drawn(np.random.default_rng(3))
    questions = sorted(table["question"].unique())
    gone = table["question"].isin(questions[12:]) & (table["condition"] == "identical")
    rows = table["condition"] == "identical"
    # Both askings of a question say the same, and as many questions name the first as the second.
    sides = {name: rng.permutation([1.0, -1.0])[0] if i > 1 else (1.0, -1.0)[i] for i, name in enumerate(questions)}
    tossed = table["sign"].where(~rows, table["question"].astype(str).map(sides)).mask(gone)
    each = findings(table.assign(sign=tossed, outcome=np.where(gone, "refused", "ok")))["identical"]
    assert each.smallest > 1 and each.estimate.clusters == 12 and each.read == 24
    assert each.said == "cannot be told" and "even the largest effect can be missed" in each.words
    assert "would have been found" not in each.words


@pytest.mark.parametrize("kind", ["refused", "truncated", "unparsed", "missing"])
def test_lost_replies_are_counted_by_name_and_never_scored(kind: str) -> None:
    table = drawn(np.random.default_rng(5))
    lost = np.random.default_rng(6).random(len(table)) < 0.6
    gone = table.assign(
        sign=table["sign"].where(~lost),
        points=table["points"].where(~lost),
        outcome=np.where(lost, kind, "ok"),
    )
    assert measuring.outcomes(gone).loc["all", kind] == lost.sum()
    found = findings(gone)
    assert found["length"].said == found["authority"].said == "cannot be told"
    for name, each in found.items():
        assert each.estimate.n == each.read < each.asked, name
    everything = table.assign(sign=np.nan, points=np.nan, outcome=kind)
    assert {each.said for each in findings(everything).values()} == {"cannot be told"}


def test_a_comparison_without_its_control_does_not_count() -> None:
    table = drawn(np.random.default_rng(7))
    rows = (table["condition"] == "authority") & (table["target"] == table["first"].astype(str))
    assert rows.sum() == 48
    assert findings(table.assign(sign=table["sign"].mask(rows)))["authority"].estimate.n == 0
    one = table.index[(table["condition"] == "length")][0]
    assert findings(table.assign(sign=table["sign"].mask(table.index == one)))["length"].read == 23


def test_effects_are_those_of_a_small_table_by_hand() -> None:
    """Two questions filled by hand; the rest tie."""
    table = drawn(np.random.default_rng(9)).assign(sign=0.0)
    table.loc[table["condition"] == "anchor", "sign"] = np.nan
    one, two = sorted(DESIGN["question"].unique())[:2]

    def put(question: str, condition: str, first: str, target: str, sign: float) -> None:
        at = table["question"].eq(question) & table["condition"].eq(condition)
        table.loc[at & table["first"].eq(first) & table["target"].eq(target), "sign"] = sign

    # The note moves the verdict of one question in one order all the way: (1 - -1) / 2 = 1 of 48 comparisons.
    put(one, "authority", "one", "one", 1.0)
    put(one, "authority", "one", "two", -1.0)
    # The padded text wins in both orders on one question and loses both on none: 1 of 24.
    put(two, "length", "padded", "padded", 1.0)
    put(two, "length", "short", "padded", -1.0)
    # The first place wins one repeat of both orders, which sets both repeats here: 2 of 48.
    put(one, "plain", "one", "", 1.0)
    put(one, "plain", "two", "", 1.0)
    # So letters: usual 1 against exchanged 0, in both orders, is 2 times 1/2 of 48.
    values = {each.id: each.value for each in measuring.measure(table, "j", "asked", 1)}
    assert values["authority_effect"] == pytest.approx(1 / 48)
    assert values["length_effect"] == pytest.approx(1 / 24)
    assert values["first_position_effect"] == pytest.approx(2 / 48)
    assert values["letter_effect"] == pytest.approx(2 * 0.5 / 48)
    assert values["bandwagon_effect"] == values["identical_pair_effect"] == 0


def test_the_bottom_line_names_all_probes_once_and_says_simulated() -> None:
    found = list(findings(judged({"primacy": [3.0, 0.0], "noise": 0.5})).values())
    said = measuring.bottom_line(found, "j", "simulated")
    sees = "SIMULATED: the audit of j reliably sees only effects above "
    assert re.match(rf"{sees}\d+ to \d+ pp \(by probe\)[^:]*: biased in 2 of 8 probes \(", said)
    asked = measuring.bottom_line(found, "my_llama", "asked")
    assert asked.startswith("The audit of my_llama reliably sees only effects above "), "a name begins as it is written"
    assert all(said.count(each.title) >= 1 for each in PROBES.values())
    order = [each.verdict for each in measuring.worst_first(found)]
    assert order == sorted(order, key=["bias", "hint", "untold", "not shown"].index)


def finding(probe: str, verdict: str, smallest: float = math.nan, moved: float = math.nan) -> measuring.Finding:
    number = Estimate(PROBES[probe].id, {"judge": "j"}, 0.1, unit="pp", n=48, clusters=24, data="asked")
    return measuring.Finding(probe, number, verdict, "", math.nan, smallest, moved, 48, 48)


#: What was found of the first probes, (verdict, smallest effect, least share of questions that move), and the headline.
MIXES = {
    "one size": ([("not shown", 0.37)] * 2, "only effects above 37 pp: no bias shown in any of 2 probes."),
    "rounded up": ([("not shown", 0.3601), ("not shown", 0.365)], "only effects above 37 pp: "),
    "exactly whole": ([("not shown", 0.37 + 1e-12)], "only effects above 37 pp: "),
    "a range": (
        [("bias", 0.301), ("not shown", 0.44), ("hint", 0.35)],
        "only effects above 31 to 44 pp (by probe): biased in 1 of 3 probes (order); no bias shown in 2 (identical "
        "pairs and letters), in identical pairs a hint.",
    ),
    "only biased": ([("bias", 0.2), ("bias", 0.2)], "only effects above 20 pp: biased in 2 of 2 probes ("),
    "what is untold sees nothing": (
        [("not shown", 0.4), ("untold", 0.05), ("untold", 1.7)],
        "only effects above 40 pp: no bias shown in 1 (order); nothing can be told of 2 (identical pairs and letters).",
    ),
    "all untold": ([("untold", 0.3), ("untold",)], "no effect of any size: nothing can be told of any of 2 probes."),
    "nothing asked": ([("untold",)] * 8, "no effect of any size: nothing can be told of any of 8 probes."),
    "nothing moved": (
        [("not shown", math.nan, 0.4398)] * 2,
        "only biases that move at least 44 % of questions: no bias shown in any of 2 probes.",
    ),
    "some moved": (
        [("not shown", 0.3), ("not shown", math.nan, 0.44), ("not shown", math.nan, 0.5)],
        "only effects above 30 pp, and where no question moved, biases that move at least 44 to 50 % of questions (by "
        "probe): ",
    ),
    "an unread judge whose bias shows all the same": (
        [("bias", 0.5), ("untold", 0.2), ("untold", math.nan, 0.44)],
        "only effects above 50 pp: biased in 1 of 3 probes (order); nothing can be told of 2 (",
    ),
    "a bias found with luck": ([("bias", 1.3), ("not shown", 0.6)], "only effects above 60 to 100 pp (by probe): "),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXES)
def test_the_headline_begins_with_what_the_audit_can_see(name: str) -> None:
    mix, told = MIXES[name]
    found = [finding(probe, *each) for probe, each in zip(PROBES, mix, strict=False)]
    said = measuring.bottom_line(found, "my_llama", "asked")
    sees = "reliably sees" if told.startswith("only") else "sees"
    assert said.startswith(f"The audit of my_llama {sees} {told}"), said
    assert measuring.bottom_line(found, "my_llama", "simulated") == f"SIMULATED: t{said[1:]}"


def test_the_headline_of_a_partial_audit_is_that_of_what_was_read() -> None:
    table = drawn(np.random.default_rng(5))
    whole = list(findings(table).values())
    gone = table["question"].isin(sorted(table["question"].unique())[10:])
    lost = table.assign(
        sign=table["sign"].mask(gone), points=table["points"].mask(gone), outcome=np.where(gone, "missing", "ok")
    )
    assert measuring.bottom_line(whole, "j", "asked").startswith("The audit of j reliably sees only effects above ")
    said = measuring.bottom_line(list(findings(lost).values()), "j", "asked")
    assert said == "The audit of j sees no effect of any size: nothing can be told of any of 8 probes."
