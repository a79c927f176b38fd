"""The lines of the judge card: each verdict follows the module's own correction, and says no more than it can."""

from __future__ import annotations

import math
import random
import re
from statistics import fmean

import pytest

from helpers.biases import cognitive, hinting, position, self_preference, top_choice
from helpers.stats.power import detectable_effect
from helpers.stats.standing import standing, together
from helpers.types import Estimate
from helpers.words import CardLine, display_name
from tests.runs import published_counts, published_estimates

NAN = float("nan")


def number(id: str, value: float, low: float = NAN, high: float = NAN, p: float = NAN, **more: object) -> Estimate:
    """An estimate asked of 40 questions; `where` and the rest by name."""
    facts = {"n": 80, "clusters": 40, "unit": "pp", "se": 0.03, "data": "asked", "method": "t"} | more
    return Estimate(id, facts.pop("where"), value, low, high, p=p, **facts)


def only(lines: list[CardLine], judge: str, measure: str) -> CardLine:
    (line,) = (line for line in lines if line.judge == judge and line.measure == measure)
    return line


# --- what may be said -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "low", "high", "p", "said"),
    [
        (0.2, 0.1, 0.3, 0.01, "bias"),
        (-0.2, -0.3, -0.1, 0.01, "bias"),
        (0.2, 0.1, 0.3, 0.05, "hint"),
        (0.2, 0.1, 0.3, NAN, "hint"),
        (0.2, -0.1, 0.5, 0.01, "bias"),
        (0.2, -0.1, 0.5, 0.4, "not shown"),
        (0.2, -0.1, 0.5, NAN, "not shown"),
        (0.2, NAN, NAN, 0.4, "untold"),
        (0.2, NAN, NAN, NAN, "untold"),
        (0.2, NAN, NAN, 0.01, "bias"),
        (NAN, NAN, NAN, NAN, "untold"),
    ],
)
def test_a_bias_is_what_the_test_finds_and_without_a_test_it_is_a_hint_at_most(value, low, high, p, said):
    assert standing(number("x", value, low, high, where={}), p) == said


def test_shares_of_parts_are_weighted_by_n_and_carry_no_interval():
    parts = [number("s", 0.1, 0.05, 0.2, where={"judge": "a"}, n=n, unit="rate") for n in (10, 30)]
    parts[1] = number("s", 0.5, where={"judge": "a"}, n=30, unit="rate")
    both = together(parts, "s", "a", "hints")
    assert both.value == pytest.approx((0.1 * 10 + 0.5 * 30) / 40) and both.n == 40 and math.isnan(both.low)
    assert both.clusters == 40, "questions that the parts share count once"
    alone = together(parts[:1], "share", "b", "hints")
    assert (alone.id, alone.where, alone.value, alone.low) == ("share", {"judge": "b"}, 0.1, 0.05)
    assert math.isnan(together([], "s", "a", "hints").value)


# --- experiment 1 -----------------------------------------------------------------------------------------------------


def test_published_self_preference_is_the_excess_of_the_vendor_and_a_hint_at_most():
    published = published_counts("mt_bench_blind")
    blind = published["blind_top1_by_judge"]["counts"]
    lines = [each for each in top_choice.card(published_estimates()) if each.judge in blind]
    assert {line.judge for line in lines} == set(blind)
    for judge in blind:
        vendor = judge.split("_")[0]
        own = [row[vendor] / sum(row.values()) for name, row in blind.items() if name.startswith(vendor)]
        others = [row[vendor] / sum(row.values()) for name, row in blind.items() if not name.startswith(vendor)]
        line = only(lines, judge, "self-preference")
        assert line.estimate.value == pytest.approx(fmean(own) - fmean(others))
        assert line.verdict == ("not shown" if line.estimate.low < 0 < line.estimate.high else "hint")
        assert math.isnan(line.p) and "other vendors' judges" in line.words
    assert {line.verdict for line in lines} == {"hint", "not shown"}


def asked_vendors(method: str = "sandwich", data: str = "asked") -> list[Estimate]:
    """Three vendors: raw p of 0.001, 0.03 and 0.5; by hand, Holm makes of them 0.003, 0.06 and 0.5."""
    found = []
    for vendor, value, p in (("claude", 0.2, 0.001), ("gpt", 0.1, 0.03), ("gemini", 0.02, 0.5)):
        where, ends = {"vendor": vendor}, (value - 0.08, value + 0.08)
        found.append(number("self_preference_logit", value, *ends, p, where=where, method=method, data=data))
        found.append(number("self_preference_effect", value, *ends, p, where=where, method=method, data=data))
        found.append(number("top1_rate", 0.4, where={"judge": f"{vendor}_fast", "vendor": vendor}, data=data))
    found.append(number("top1_rate", 0.4, where={"judge": "mine", "vendor": "gpt"}, data=data))
    found.append(number("unreadable_share", 0.1, where={"judge": "mine"}, unit="rate", data=data))
    return found


def test_asked_self_preference_stands_by_holm_over_the_vendors():
    lines = top_choice.card(asked_vendors())
    found = {line.judge: (line.verdict, round(line.p, 6)) for line in lines if line.measure == "self-preference"}
    assert found == {"claude_fast": ("bias", 0.003), "gpt_fast": ("hint", 0.06), "gemini_fast": ("not shown", 0.5)}
    share = only(lines, "mine", "unreadable")
    assert (share.verdict, share.estimate.value) == ("described", 0.1)
    known = top_choice.card(asked_vendors(), {"mine": "gpt"})
    assert only(known, "mine", "self-preference").estimate.where == {"vendor": "gpt"}
    assert not any(math.isnan(line.smallest) for line in known if line.measure == "self-preference")


def test_a_judge_whose_name_tells_two_vendors_has_none() -> None:
    from helpers.biases.top_choice.measured import vendor_of

    known = {"gpt": 1, "claude": 2}
    assert vendor_of("gpt_or_claude", known, None) == "" == vendor_of("x", known, None)


def test_one_slot_for_each_candidate_makes_a_hint_of_a_bias():
    from helpers.biases.top_choice.defended import ONE_SLOT

    lines = top_choice.card(asked_vendors(f"sandwich; {ONE_SLOT}"))
    assert only(lines, "claude_fast", "self-preference").verdict == "hint"


def test_the_sentence_names_who_is_shown_and_who_is_not():
    found = top_choice.headline(asked_vendors(data="simulated"))
    assert found.sentence.startswith(
        "SIMULATED: 1 of 3 tests shows that the judge prefers its own vendor (Claude) at equal"
    )
    assert "; 1 leans without being established; 1 shows no sign; largest: Claude." in found.sentence
    assert found.estimate.where == {"vendor": "claude"}
    assert top_choice.headline([]) is None


# --- experiment 2 -----------------------------------------------------------------------------------------------------


def least_of(tests: int) -> float:
    """The smallest effect that `number` could have shown at the level that one hit of so many tests needs."""
    return pytest.approx(detectable_effect(0.03, 39, level=0.05 / tests))


def named_judges() -> list[Estimate]:
    """Raw p of 0.01, 0.04 and 0.9 of names, 0.5 of a hint: by hand, Holm makes of them 0.04, 0.12, 1 and 1."""
    rows = (("claude", 0.2, 0.01), ("gpt", -0.2, 0.04), ("gemini", 0.0, 0.9))
    by = [number("name_effect", v, v - 0.1, v + 0.1, p, where={"vendor": vendor}) for vendor, v, p in rows]
    by.append(number("hint_effect", 0.01, -0.1, 0.1, 0.5, where={"hint": "self", "vendor": "average"}))
    judges = (("a_claude", 1e-4), ("b_gpt", 1e-4), ("c", 1e-4))
    by += [number("name_effect_by_judge", 0.4, 0.3, 0.5, p, where={"judge": j}) for j, p in judges]
    lost = [
        number("unreadable_share", share, where={"judge": "a_claude", "hint": hint}, unit="rate", n=n)
        for hint, share, n in (("none", 0.0, 100), ("self", 0.3, 50))
    ]
    return by + lost


def test_the_name_of_a_vendor_stands_by_holm_together_with_the_hints_and_single_judges_do_not():
    lines = hinting.card(named_judges(), {"c": "gemini"})
    found = {line.judge: (line.verdict, round(line.p, 6)) for line in lines if line.measure == "name effect"}
    assert found == {"a_claude": ("bias", 0.04), "b_gpt": ("hint", 0.12), "c": ("not shown", 1.0)}
    assert only(lines, "a_claude", "name effect").words.startswith(
        "prefers answers that bear its own vendor's name (Claude)"
    )
    assert only(lines, "b_gpt", "name effect").words.startswith("leans, not established: avoids answers that bear")
    assert only(lines, "a_claude", "unreadable").estimate.value == pytest.approx(15 / 150)
    assert all(line.smallest == least_of(4) for line in lines if line.measure == "name effect")
    mean = number("name_effect", 0.0, -0.1, 0.1, 0.5, where={"vendor": "average"})
    words = hinting.names_words([*named_judges(), mean])
    assert words.count("**prefers answers") == 1 and "-20.0 pp [-30.0, -10.0], Holm p = 0.12 of 4 tests" in words
    assert [(len(some), tests) for some, tests in hinting.confirmatory([*named_judges(), mean])] == [(4, 4)]


def test_published_hints_leave_it_open_and_have_no_lines():
    published = published_estimates("hinting_groups")
    assert hinting.card(published) == []
    own = {"none": {}, **published_counts("hinting_groups")["own_top1_by_group"]["counts"]}
    blind = published_counts("mt_bench_blind")["blind_top1_by_judge"]["counts"]
    base = sum(row[judge.split("_")[0]] for judge, row in blind.items())
    moved = sorted(100 * (sum(own[hint].values()) - base) / 480 for hint in ("self", "competitors", "full"))
    found = hinting.headline(published)
    told = [float(end) for end in re.search(r"by (\S+) to (\S+) pp", found.sentence).groups()]
    assert told == pytest.approx([moved[0], moved[-1]], abs=0.0501) and "neither" in found.sentence
    assert found.estimate.value == pytest.approx(max(moved, key=abs) / 100)


# --- experiment 3 -----------------------------------------------------------------------------------------------------


def test_a_rate_of_own_wrong_answers_is_described_and_the_gap_is_judged():
    rows = [number("naive_harmful_rate", 0.8, 0.7, 0.9, where={"judge": j}, unit="rate") for j in "ab"]
    gaps = [
        number("evaluator_quality_gap", v, v - 0.1, v + 0.1, p, where={"judge": j, "stratum": "same label"})
        for j, v, p in (("a", 0.3, 0.001), ("b", 0.05, 0.3))
    ]
    gaps.append(number("evaluator_quality_gap", 0.9, 0.8, 1.0, 0.0001, where={"judge": "b", "stratum": "all"}))
    edits = [
        number("obfuscation_effect", 1.0, *bounds, p, where={"judge": j, "dose": "2"}, unit="logit", se=0.3)
        for j, bounds, p in (("a", (0.5, 1.5), 0.02), ("b", (NAN, NAN), NAN))
    ]
    lines = self_preference.card(rows + gaps + edits)
    assert {only(lines, j, "harmful self-preference").verdict for j in "ab"} == {"described"}
    # Exploratory: however small its p, it is a hint.
    assert [only(lines, j, "evaluator-quality gap").verdict for j in "ab"] == ["hint", "not shown"]
    hidden = only(lines, "a", "hidden authorship")
    # The family is what was planned: two contrasts, of which one could not be tested.
    assert (hidden.verdict, round(hidden.p, 6)) == ("bias", 0.04)
    assert only(lines, "b", "hidden authorship").verdict == "untold"
    found = self_preference.headline(edits)
    assert found.estimate.where["judge"] == "a" and "; 1 cannot tell; " in found.sentence


def test_published_rates_of_own_wrong_answers_are_those_of_most_pairs():
    lines = self_preference.card(published_estimates("quality_self_preference"))
    blocks = [
        block for block in published_counts("quality_self_preference").values() if "before" in (block["counts"] or {})
    ]
    wrong: dict[str, dict[int, set[float]]] = {}
    for row in (row for block in blocks for row in block["counts"]["before"]):
        pairs = row["records"] - row["own_right"]
        wrong.setdefault(row["judge"], {}).setdefault(pairs, set()).add(row["own_wrong_selected"] / pairs)
    assert {line.judge for line in lines} == set(wrong) and {line.verdict for line in lines} == {"described"}
    for line in lines:
        assert line.estimate.value in wrong[line.judge][max(wrong[line.judge])]


# --- experiment 4 -----------------------------------------------------------------------------------------------------


def two_orders() -> list[Estimate]:
    """Two judges on two candidates; raw p of 0.01, 0.5, 0.02 and 0.5: by hand, Holm makes of them 0.04, 1, 0.06, 1."""
    rows = (("a", "x", -0.2, 0.01), ("a", "y", 0.01, 0.5), ("b", "x", 0.2, 0.02), ("b", "y", 0.02, 0.5))
    found = []
    for judge, candidate, value, p in rows:
        where = {"judge": judge, "candidate": candidate}
        found.append(number("first_position_effect", value, value - 0.1, value + 0.1, p, where=where))
        found.append(number("invalid_share", 0.1, where=where, n=100, unit="rate"))
        cell = where | {"category": "coding"}
        found.append(number("invalid_share", 0.9, where=cell, n=100, unit="rate"))
    return found


def test_a_judge_s_place_is_that_of_its_gravest_comparison_after_holm():
    lines = position.card(two_orders())
    first, second = (only(lines, judge, "first position") for judge in "ab")
    assert (first.verdict, round(first.p, 6), first.estimate.value) == ("bias", 0.04, -0.2)
    assert first.words == (
        "favours the answer shown second (largest: on x); of 2 comparisons 0 favour the first place, 1 the second"
    )
    assert (second.verdict, second.estimate.value) == ("hint", 0.2)
    assert only(lines, "a", "unreadable").estimate.value == pytest.approx(0.1), "categories are parts of these"
    found = position.headline(two_orders())
    assert found.sentence.startswith(
        "1 of 4 tests shows that the judge favours the answer shown second; 1 leans without being established"
    )
    assert "; largest: a on x" in found.sentence
    assert found.unreadable == pytest.approx(0.1)


def test_a_comparison_without_a_number_does_not_hide_one_with() -> None:
    lost = number("first_position_effect", NAN, where={"judge": "a", "candidate": "w"})
    few = number("first_position_effect", 0.3, where={"judge": "a", "candidate": "x"})
    (line,) = position.card([lost, few])
    assert (line.verdict, line.estimate.value) == ("untold", 0.3)
    assert position.headline([lost, few]).sentence.startswith("No test was possible; cannot tell whether it favours")


def test_evaluators_that_are_one_model_are_one_judge_and_no_source_is_forgotten():
    published = published_estimates("arena_hard_position_bias")
    lines = [line for line in position.card(published) if line.measure == "first position"]
    names = {name.split("/")[0] for name in published_counts("arena_hard_position_bias")["llmbar"]["counts"]}
    falcon = only(lines, "Falcon", "first position")
    assert names < {line.judge for line in lines} and len({line.judge for line in lines}) == len(lines)
    assert "of 5 comparisons 5 favour the first place" in falcon.words and "Falcon/" in falcon.words
    recent = {e.where["judge"] for e in published if e.id == "released_position_effect"}
    judged = recent | {e.where["judge"] for e in published if e.id == "first_position_effect"}
    assert {line.judge for line in lines} == {j for j in judged if j.split("/")[0] not in names} | names


# --- experiment 5 -----------------------------------------------------------------------------------------------------


def moved(data: str = "asked") -> list[Estimate]:
    """Two models, two biases: m is moved by halo along the scale, and its anchoring only scatters."""
    found = []
    for judge, bias, effect, p, shift in (
        ("m", "halo", 0.4, 0.001, 0.2),
        ("m", "anchoring", 0.5, 0.001, 0.0),
        ("w", "halo", 0.05, 0.6, 0.0),
        ("w", "anchoring", -0.1, 0.4, 0.0),
    ):
        where = {"judge": judge, "bias": bias}
        more = {"where": where, "unit": "score", "data": data}
        found.append(number("bias_effect", effect, effect - 0.1, effect + 0.2, p, **more))
        found.append(number("scale_shift", shift, shift - 0.1, shift + 0.1, **more))
    return found


def test_what_only_scatters_is_a_hint_and_the_words_name_what_stands():
    lines = cognitive.card(moved())
    first, second = (only(lines, judge, "cognitive profile") for judge in "mw")
    assert (first.verdict, first.estimate.where["bias"]) == ("bias", "halo")
    assert first.words == "is moved by halo"
    assert first.smallest == least_of(4)
    assert second.verdict == "not shown" and "no sign that it is moved by halo or anchoring" in second.words
    without = [e for e in moved() if e.where["bias"] == "anchoring"]
    assert only(cognitive.card(without), "m", "cognitive profile").verdict == "hint"


def test_published_means_of_b_are_described_and_their_sentence_says_what_chance_gives():
    published, block = published_estimates("cognitive_biases"), published_counts("cognitive_biases")["by_model"]
    models = block["counts"]
    lines = cognitive.card(published)
    assert {line.judge: line.estimate.value for line in lines} == models
    assert {line.verdict for line in lines} == {"described"}
    found = cognitive.headline(published)
    others = [
        value for model, value in models.items() if model != published_counts("cognitive_biases")["by_model"]["random"]
    ]
    assert found.estimate.value == pytest.approx(fmean(others)) and "answers at random" in found.sentence


# --- card and finding -------------------------------------------------------------------------------------------------

#: What a finding says of one number, and the verdict that its card has to give: the first that is found counts.
SAYS = (("leans, not established", "hint"), ("no sign", "not shown"), ("cannot tell", "untold"), ("**", "bias"))


def said_of(found: str, name: str) -> str:
    """The verdict in the point of a finding that is about `name`."""
    (point,) = (each for each in re.split(r"(?m)^(?=- )", found) if each.startswith(f"- {name}"))
    return next(verdict for words, verdict in SAYS if words in point)


def any_number(draw: random.Random) -> tuple[float, float, float, float]:
    """A value, its interval and its p, near the border of all verdicts; p and interval need not be of one test."""
    value = draw.choice([-1, 1]) * draw.uniform(0.05, 0.4)
    half = abs(value) * draw.uniform(0.6, 1.5)
    if draw.random() < 0.1:
        return value, NAN, NAN, NAN
    return value, value - half, value + half, draw.choice([0.0005, 0.01, 0.03, 0.2, 0.6])


@pytest.mark.parametrize("seed", range(40))
def test_a_card_says_of_every_number_what_the_finding_of_its_notebook_says(seed: int) -> None:
    draw = random.Random(seed)
    vendors, logits, effects, places, edits = ("claude", "gpt", "gemini"), [], [], [], []
    for vendor in vendors:
        value, low, high, p = any_number(draw)
        logits.append(number("self_preference_logit", value, low, high, p, where={"vendor": vendor}, unit="logit"))
        # The same effect in first places, whose interval is another one.
        ends = (NAN, NAN) if math.isnan(low) else (value / 4 - draw.uniform(0.01, 0.2), value / 4 + 0.1)
        effects.append(number("self_preference_effect", value / 4, *ends, p, where={"vendor": vendor}))
        effects.append(number("top1_rate", 0.4, where={"judge": f"{vendor}_fast", "vendor": vendor}))
        places.append(number("first_position_effect", *any_number(draw), where={"judge": vendor, "candidate": "x"}))
        where = {"judge": vendor, "dose": "2"}
        edits.append(number("obfuscation_effect", *any_number(draw), where=where, unit="logit", se=0.2))
    for module, estimates, measure, judge, name in (
        (top_choice, logits + effects, "self-preference", "{}_fast".format, display_name),
        (position, places, "first position", str, "{} on x".format),
        (self_preference, edits, "hidden authorship", str, str),
    ):
        found, lines = module.finding(estimates), module.card(estimates)
        for vendor in vendors:
            line = only(lines, judge(vendor), measure)
            assert line.verdict == said_of(found, name(vendor)), (line, found)


# --- all of them ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [top_choice, hinting, self_preference, position, cognitive])
def test_nothing_measured_gives_no_line_and_no_sentence(bias):
    assert bias.card([]) == [] and bias.headline([]) is None
