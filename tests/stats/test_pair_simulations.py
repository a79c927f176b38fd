"""Does the analysis of pairs hold what it promises? Damage, self-preference and weakness planted in unequal judges.

By the rule of `tests.rule`, on 115 articles with three questions each; seeds were fixed beforehand. What is not tried
here stands in calibration.csv (calibrated.yaml): tests run where no row holds it, quick ones for gross errors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from helpers.biases.self_preference import items, measured as self_preference_measured
from helpers.biases.self_preference.findings import contrasts
from helpers.types import Estimate
from studies.calibration.worlds.pairs import BEFORE, NAMES, REPEAT, PairWorld, sample
from tests.calibrated import stored
from tests.rule import assert_unbiased, assert_within, covered, exact, rejected, replicate

FAST, SLOW = 16, pytest.param(400, marks=pytest.mark.slow)
ARMS = (BEFORE, REPEAT, ("wrong", 2, 0), ("right", 2, 0))
DOSES = (BEFORE, REPEAT, ("wrong", 2, 0), ("wrong", 4, 0), ("wrong", 8, 0))
#: Judges that differ in all ways but in what an edit does to them: eye for quality, knowledge, base rate, habit, taste.
UNEQUAL = dict(
    sharpness=(2.0, 0.6, 1.0, 0.5),
    knowledge=(0.8, 0.1, 0.3, 0.5),
    lean=(-1.5, -0.2, 0.5, 1.5),
    habit=(0.8, -0.3, 0.0, 1.2),
    taste=0.8,
)
EDITS = {2: 0.6, 4: 0.9, 8: 1.2}
WORLDS = {
    "plain": PairWorld(damage=EDITS, lean=(-0.6, -0.6, -0.6, -0.6)),
    "unequal": PairWorld(damage=EDITS, **UNEQUAL),
    "lost": PairWorld(damage=EDITS, **UNEQUAL, damage_spread=0.5, lost_wrong=0.1, lost_right=0.02),
    "scaled": PairWorld(damage=EDITS, scaled=True, sharpness=(2.0, 0.6, 1.5, 0.5)),
    "recognition": PairWorld(damage=EDITS, **UNEQUAL, self_preference=(0.0, 0.0, 1.5, 1.5)),
    "weak": PairWorld(skill=(2.0, 0.9, 0.3, 1.4), knowledge=(0.6, 0.4, 1.2, 0.5), lean=(0.3, 0.0, -0.5, 0.3)),
}


def test_filtering_alone_makes_what_is_documented() -> None:
    """7 to 12 pp from nothing at low base rates: verdicts of one order after filtering, where no edit does anything."""
    rows, _ = stored("quality_self_preference")
    made = rows[(rows["id"] == "filtered_one_order_change") & (rows["questions"] == 80)]
    assert len(made) == 4 and (made["truth"] == 0).all()
    assert made["bias"].between(0.07, 0.12).all(), made["bias"].tolist()


def measured(world: str, run: int) -> list[Estimate]:
    """The estimates of one replication that its tests are about."""
    rng, data = np.random.default_rng([31, list(WORLDS).index(world), run]), "simulated"
    if world == "weak":
        table = sample(WORLDS[world], rng)
        gap = self_preference_measured.evaluator_quality_gap(table, data, run)
        naive = [e for e in items.accuracies(table[table["own"] == "wrong"], data) if e.id == "naive_harmful_rate"]
        return gap + naive
    table = sample(WORLDS[world], rng, DOSES if world == "recognition" else ARMS)
    if world == "plain":
        right = self_preference_measured.obfuscation_of_right(table, data, run)
        return [*self_preference_measured.naive_filtered(table, data), *right]
    found = self_preference_measured.obfuscation_effect(table, data, run)
    return [*found, *self_preference_measured.against_other_author(table, data)] if world == "scaled" else found


def holm(estimates: list[Estimate]) -> dict[str, float]:
    return {judge: each.p for judge, each in contrasts(estimates).items()}


@cache
def replications(world: str, runs: int) -> dict[tuple[str, ...], np.ndarray]:
    """What `replicate` gives of a world, computed once."""
    return replicate(lambda run: measured(world, run), holm, runs)


def given(each: np.ndarray) -> np.ndarray:
    """The replications with an interval: where too few articles changed to a side none is given, and nothing said."""
    return each[~np.isnan(each[:, 1])]


def test_a_difference_of_plain_log_odds_is_not_zero_where_nothing_but_damage_happened() -> None:
    """Why matched pairs decide: without any noise, unequal judges alone move the plain contrast, not the paired one."""
    arms, plain = (REPEAT, ("wrong", 2, 0)), {}
    table = sample(WORLDS["unequal"], np.random.default_rng([32, 1]), arms, 5_000, expected=True)
    for judge in ("deepseek", "llama"):
        harmful = table[table["wrong"] == judge]
        mine, third = harmful["own"] == "wrong", harmful["own"] == ""
        odds = {}
        for who, rows in (("own", harmful[mine]), ("third", harmful[third])):
            again, edited = (rows.loc[rows["condition"] == name, "score"].mean() for name in ("none", "wrong_2"))
            odds[who] = np.log(edited / (1 - edited)) - np.log(again / (1 - again))
        plain[judge] = odds["own"] - odds["third"]
        effects = self_preference_measured.obfuscation_effect(harmful, "simulated")
        paired = next(e.value for e in effects if e.id == "obfuscation_effect" and e.where["judge"] == judge)
        assert paired == pytest.approx(0.0, abs=1e-9)
    assert plain["deepseek"] < -0.05 and plain["llama"] > 0.05, plain


# --- (a) no self-preference: edits damage texts, for every judge alike ------------------------------------------------


@pytest.mark.parametrize("runs", [FAST, SLOW])
def test_damage_alone_is_not_called_an_effect(runs: int) -> None:
    """Unequal judges, habits of place, losses by verdict, damage that differs by text; the truth is 0."""
    found = replications("lost", runs)
    for judge in NAMES:
        every = found["obfuscation_effect", judge, "2"]
        each = given(every)
        # The sharpest judge answers so little wrongly that with losses it has too few articles at times.
        least = 0.85 if judge == "deepseek" else 0.99
        assert len(each) >= least * runs, f"{judge}: {len(each)} of {runs} with an interval"
        assert rejected(every) == rejected(each), "without an interval nothing is called an effect"
        assert_within(rejected(each), len(each), 0.03, 0.07, f"size for {judge}")
        assert_within(covered(each, 0.0), len(each), 0.93, 0.97, f"coverage for {judge}")
        assert_unbiased(every[:, 0], 0.0, judge)
    any_judge = np.any([found["holm", judge][:, 0] < 0.05 for judge in NAMES], axis=0)
    assert exact(any_judge.sum(), runs)[0] <= 0.05, f"a judge of the family was named in {any_judge.sum()} of {runs}"


def test_the_naive_comparisons_call_the_same_damage_an_effect() -> None:
    found = replications("plain", FAST)
    for judge in ("llama", "mistral", "qwen"):
        for id in ("naive_filtered_change", "naive_opponent_difference"):
            assert rejected(found[id, judge, "2"]) >= 0.8 * FAST, f"{id} of {judge}"
        filtered, repeat = found["naive_filtered_change", judge, "2"], found["regression_to_the_mean", judge]
        assert 0.04 < repeat[:, 0].mean() < filtered[:, 0].mean(), "filtering alone makes a part of it"


@pytest.mark.parametrize("runs", [FAST, SLOW])
def test_where_noise_differs_by_judge_the_effect_is_not_identified_but_both_contrasts_rarely_agree(runs: int) -> None:
    """The limit of the primary contrast, and why a sentence needs the control as well."""
    found = replications("scaled", runs)
    wrongly = max(rejected(found["obfuscation_effect", judge, "2"]) for judge in NAMES)
    assert exact(wrongly, runs)[0] > 0.07, "no longer a limit: say so"
    for judge in NAMES:
        claimed = (found["holm", judge][:, 0] < 0.05) & (found["obfuscation_effect", judge, "2"][:, 0] > 0)
        claimed &= found["obfuscation_against_other_author", judge, "2"][:, 1] > 0
        assert exact(claimed.sum(), runs)[0] <= 0.05, f"{judge}: {claimed.sum()} of {runs}"


@pytest.mark.parametrize("runs", [FAST, SLOW])
def test_self_preference_is_found_and_its_mitigation_grows_with_the_dose(runs: int) -> None:
    found = replications("recognition", runs)
    assert (found["holm", "mistral"][:, 0] < 0.05).sum() >= 0.8 * runs
    for judge in ("mistral", "qwen"):
        doses = [found["obfuscation_effect", judge, dose][:, 0].mean() for dose in ("2", "4", "8")]
        assert 0.5 < doses[0] < doses[1] < doses[2], f"{judge}: {doses}"
    false = np.any([found["holm", judge][:, 0] < 0.05 for judge in ("deepseek", "llama")], axis=0)
    assert exact(false.sum(), runs)[0] <= 0.05, f"a judge without self-preference was named in {false.sum()} of {runs}"


@pytest.mark.parametrize("runs", [FAST, SLOW])
def test_a_weak_judge_is_not_called_self_preferring(runs: int) -> None:
    """It believes what it answered, whoever says so; the naive rate calls that a preference for its own answer."""
    found = replications("weak", runs)
    assert (found["naive_harmful_rate", "mistral"][:, 1] > 0.5).sum() >= 0.95 * runs
    for judge in NAMES:
        each = found["evaluator_quality_gap", judge, "same label"]
        assert_within(rejected(each), runs, 0.03, 0.07, f"size for {judge}")
        assert_within(covered(each, 0.0), runs, 0.93, 0.97, f"coverage for {judge}")
        assert_unbiased(each[:, 0], 0.0, judge)
