"""Does the analysis of orders hold what it promises? Noise, primacy, letters and losses planted in unequal judges.

The rule is that of test_simulations: with the exact 99.9 % interval of the observed rate, a size fails wholly outside
3 to 7 %, a coverage wholly outside 93 to 97 %, a bias beyond 3.5 Monte-Carlo standard errors. 120 questions, each
order asked twice, unless said; seeds were fixed beforehand. Quick tests run 16 replications, which the rule refuses
from 7 rejections or misses on: gross errors. What 2,000 of them show, what is found and what misleads stands in
calibration.csv (CALIBRATED, FOUND, MISLEADING), and slow tests run many where no row holds it: the family of judges,
and the least number of questions that a style-controlled win rate has an interval for.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from helpers.biases.position import both_orders
from helpers.biases.position import measured as position_measured
from helpers.biases.position.both_orders import pairs, valid
from helpers.biases.position.measured import corrected
from helpers.types import Estimate
from studies.calibration import running
from studies.calibration.worlds.games import CANDIDATE, GameJudge, GameWorld, names, sample_frame, truth
from tests.calibrated import Held, assert_calibrated, stored
from tests.rule import assert_unbiased, assert_within, exact

FAST, SLOW = 16, pytest.param(400, marks=pytest.mark.slow)
#: Judges that favour no place on any question, but differ in all else.
FAIR = (
    GameJudge("steady", sharpness=1.5, noise=0.5),
    GameJudge("noisy", sharpness=0.4, noise=2.0, strong=0.6),
    GameJudge("coin", sharpness=0.0, taste=0.0, tie=0.0),
    GameJudge("lossy", lost_candidate=0.25, lost_baseline=0.03),
)
#: 0.32518 of a logit was solved for a first-position effect of 10 pp.
BIASED = (
    GameJudge("primacy", primacy=0.32518, strong=0.6),
    GameJudge("letter", letter=-0.5, strong=3.0),
    GameJudge("wobbly", wobble=1.0),
    GameJudge("unequal", primacy=0.6, wobble=0.5, noise=1.5, strong=0.5, lost_candidate=0.2),
)
STYLED = (GameJudge("wordy", length_bias=0.8), GameJudge("terse", length_bias=-0.4, strong=0.6, noise=1.5))
WORLDS = {
    "fair": GameWorld(FAIR),
    "biased": GameWorld(BIASED),
    "once": GameWorld(BIASED[:2]),
    "style": GameWorld(STYLED, lead=0.4),
    "style_40": GameWorld(STYLED, lead=0.4),
}
#: Questions, repeats and questions of the identical arm.
SIZES = {
    "fair": (120, 2, 40),
    "biased": (120, 2, 40),
    "once": (400, 1, 0),
    "style": (120, 1, 0),
    "style_40": (40, 1, 0),
}

EFFECTS = ("first_position_effect", "identical_pair_effect")
ORDERS = (*EFFECTS, "excess_flip")
EACH_STYLE = tuple(
    f"judge={judge} style={style} weight={weight}"
    for judge in ("wordy", "terse")
    for style in ("raw", "controlled")
    for weight in (1, 3)
)
WORDY = tuple(f"judge=wordy style=controlled weight={weight}" for weight in (1, 3))
NOISY = ("steady", "noisy", "coin", "hesitant")
#: Fair judges, judges that favour a place, a letter or length, each order once or twice: rows of calibration.csv.
CALIBRATED = (
    Held("fair", "null", ORDERS, ("judge=steady", "judge=noisy", "judge=coin")),
    Held("losses", "null", ORDERS, ("judge=fair", "judge=noisy")),
    Held("losses", "planted", ORDERS[:1], ("judge=primed",)),
    Held("once", "planted", ORDERS[:1], ("judge=primacy",)),
    Held("places", "planted", ORDERS, ("judge=primacy", "judge=letter", "judge=unequal")),
    Held("places", "planted", ORDERS[2:], ("judge=wobbly",)),
    Held("places", "null", EFFECTS, ("judge=wobbly",)),
    Held("style", "planted", ("win_rate",), EACH_STYLE),
)

PRIMED = ("judge=primacy", "judge=letter", "judge=unequal")
#: What is planted is found. Documented: 4.2 pp in 80 % with 742 questions of which 17.3 % change sides. Here 44 to 57 %
#: do (flips of `truth`), so that the squared standard error is (flips - effect^2) / questions, less where a flip is one
#: of a tie, and half of it where each order is asked twice; of rates it is 0.25 / (2 * questions) at most. Of identical
#: texts and of flips nothing is documented: chosen.
FOUND = (
    # A limit: ten points are missed in two runs of three by 80 questions asked once in each order.
    Held("once", "planted", EFFECTS[:1], PRIMED[:1], least=0.22, most=0.45),
    Held("once", "planted", EFFECTS[:1], PRIMED[:1], 400, least=0.78),
    Held("places", "planted", EFFECTS[:1], PRIMED[:1], least=0.4),  # 10 pp
    Held("places", "planted", EFFECTS[:1], PRIMED[1:2], least=0.75),  # 15 pp
    Held("places", "planted", EFFECTS[:1], PRIMED[2:], least=0.63),  # 12 pp
    Held("losses", "planted", EFFECTS[:1], ("judge=primed",), least=0.72),
    Held("style", "planted", EFFECTS[:1], ("judge=wordy_primed",), least=0.63),
    Held("places", "planted", EFFECTS, PRIMED, 400, least=0.95),
    Held("places", "planted", EFFECTS[1:], PRIMED[1:2], least=0.8),
    Held("places", "planted", EFFECTS[1:], PRIMED, least=0.5),
    Held("places", "planted", ORDERS[2:], ("judge=wobbly",), least=0.8),
    # A limit: a habit that is the same for all questions adds 2 to 4 pp to flips, which 80 do not show.
    Held("places", "planted", ORDERS[2:], PRIMED, most=0.3),
    *(Held(w, "planted", ("first_win_rate",), PRIMED[:1], least=0.48) for w in ("once", "places")),  # 57.6 %
    Held("places", "planted", ("first_win_rate",), PRIMED[1:2], least=0.83),  # 38.4 %
    *(Held(w, "planted", ("first_win_rate",), PRIMED[:1], 400, least=0.95) for w in ("once", "places")),
    Held(
        "style", "planted", ("win_rate",), [f"judge=wordy style=raw weight={weight}" for weight in (1, 3)], least=0.95
    ),
    # A limit: 59 to 61 % at equal length are no more than tossed for with 80 questions.
    Held("style", "planted", ("win_rate",), [*WORDY], least=0.35, most=0.6),
    Held("style", "planted", ("win_rate",), [*WORDY], 400, least=0.93),
)
#: What misleads: flips are taken for a bias of judges that favour no place; what a judge makes of length for quality.
MISLEADING = (
    Held("fair", "failure", ("flip_rate", "significant_bias"), [f"judge={j}" for j in NOISY], least=0.99),
    Held("fair", "failure", ("flips_beyond_stability",), [f"judge={j}" for j in NOISY[1:]], least=0.95),
    Held(
        "style", "failure", ("win_rate",), [f"judge=wordy style=raw weight={weight}" for weight in (1, 3)], least=0.95
    ),
)


def test_the_calibration_holds_what_is_not_repeated_here() -> None:
    assert_calibrated("arena_hard_position_bias", CALIBRATED)


def test_what_is_planted_is_found() -> None:
    assert_calibrated("arena_hard_position_bias", FOUND)


def test_what_is_known_to_mislead_does() -> None:
    assert_calibrated("arena_hard_position_bias", MISLEADING)


def measured(world: str, run: int) -> list[Estimate]:
    """The estimates of one replication that its tests are about."""
    rng, data = np.random.default_rng([43, list(WORLDS).index(world), run]), "simulated"
    frame, lengths = sample_frame(WORLDS[world], rng, *SIZES[world])
    table = pairs(frame)
    if world.startswith("style"):
        return position_measured.win_rate(table, data, lengths)
    found = both_orders.first_position_effect(table, data, run)
    if world == "once":
        return found
    return [*found, *position_measured.excess_flip(table, data, run), *position_measured.control_arms(table, data, run)]


@cache
def replications(world: str, runs: int) -> dict[tuple[str, ...], np.ndarray]:
    """(runs, 4) value, low, high, p for each id and judge (and style and weight); ("holm", judge) the corrected p."""
    found: dict[tuple[str, ...], list[tuple[float, ...]]] = {}
    for run in range(runs):
        estimates = measured(world, run)
        for e in estimates:
            key = (e.id, *(value for name, value in e.where.items() if name != "candidate"))
            found.setdefault(key, []).append((e.value, e.low, e.high, e.p))
        for (judge, _), p in corrected(estimates).items():
            found.setdefault(("holm", judge), []).append((p,) * 4)
    return {key: np.array(values) for key, values in found.items()}


def rejected(each: np.ndarray) -> int:
    return int((each[:, 3] < 0.05).sum())


def covered(each: np.ndarray, planted: float) -> int:
    return int(((each[:, 1] <= planted) & (planted <= each[:, 2])).sum())


# --- (a) fair judges, however noisy -----------------------------------------------------------------------------------


def test_the_fair_worlds_are_fair_and_noisy() -> None:
    for judge in names(FAIR):
        known = truth(WORLDS["fair"], judge)
        assert abs(known["first_position_effect"]) < 1e-12 and known["excess_flip"] < 1e-12
        rows = valid(pairs(sample_frame(WORLDS["fair"], np.random.default_rng([42, 1]), 4_000, 1)[0]))
        flipped = 1 - rows.loc[rows["judge"] == judge, "agree"].mean()
        assert flipped == pytest.approx(known["flips"], abs=0.02) and flipped > 0.25, judge
    assert truth(WORLDS["fair"], "noisy")["flips"] > 0.5


@pytest.mark.parametrize("judge", names(FAIR))
def test_a_fair_judge_flips_often_and_is_called_neither_primed_nor_order_bound(judge: str) -> None:
    """Losses depend on who won; coin tossing and noise make flips, and no effect."""
    found = replications("fair", FAST)
    for id in ("first_position_effect", "excess_flip", "identical_pair_effect"):
        each = found[id, judge]
        assert_within(rejected(each), FAST, 0.03, 0.07, f"size of {id} for {judge}")
        assert_within(covered(each, 0.0), FAST, 0.93, 0.97, f"coverage of {id} for {judge}")
        assert_unbiased(each[:, 0], 0.0, f"{id} of {judge}")


@pytest.mark.parametrize("runs", [FAST, SLOW])
def test_the_family_seldom_names_a_fair_judge(runs: int) -> None:
    found = replications("fair", runs)
    named = np.any([found["holm", judge][:, 0] < 0.05 for judge in names(FAIR)], axis=0)
    assert exact(named.sum(), runs)[0] <= 0.05, f"a judge of the family was named in {named.sum()} of {runs}"


def test_a_flip_rate_less_the_one_foreseen_from_stability_calls_coins_order_bound() -> None:
    """Why the plug-in is not used: 12.5 pp out of nothing, for a judge whose verdicts know no order at all.

    Two tosses agree in half, and the more frequent side is 3/4 of the two on average: 1/2 - 2 * 3/4 * 1/4 = 1/8.
    """
    rows, _ = stored("arena_hard_position_bias")
    coins = rows[(rows["id"] == "flips_beyond_stability") & rows["where"].str.contains("judge=coin")]
    coins = coins[coins["questions"].isin([80, 400])]
    assert len(coins) == 2 and (coins["truth"] == 0.0).all()
    room = np.where(coins["runs"] >= coins["questions"].map(running.SIZES), 0.003, 3.5 * coins["mc_se"])
    assert ((coins["bias"] - 0.125).abs() <= room).all()


# --- (b) judges that favour a place -----------------------------------------------------------------------------------


def test_ten_points_are_planted() -> None:
    assert truth(WORLDS["biased"], "primacy")["first_position_effect"] == pytest.approx(0.10, abs=0.001)
    known = truth(WORLDS["biased"], "wobbly")
    assert known["excess_flip"] > 0.1 and abs(known["first_position_effect"]) < 0.002


def test_a_primacy_of_ten_points_is_covered_where_each_order_is_asked_once() -> None:
    found = replications("once", FAST)
    for judge in ("primacy", "letter"):
        each, planted = found["first_position_effect", judge], truth(WORLDS["biased"], judge)["first_position_effect"]
        assert_within(covered(each, planted), FAST, 0.93, 0.97, f"coverage for {judge}")
        assert_unbiased(each[:, 0], planted, judge)


@pytest.mark.parametrize("judge", names(BIASED))
def test_effects_of_orders_are_covered_with_repeats(judge: str) -> None:
    found = replications("biased", FAST)
    known = truth(WORLDS["biased"], judge)
    ids = ["first_position_effect", "excess_flip", "identical_pair_effect"]
    # Losses that depend on the winner select questions, and on identical texts the winner is a place.
    for id in ids[:1] if judge == "unequal" else ids:
        each = found[id, judge]
        assert_within(covered(each, known[id]), FAST, 0.93, 0.97, f"coverage of {id} for {judge}")
        assert_unbiased(each[:, 0], known[id], f"{id} of {judge}")


# --- (c) win rates at equal style -------------------------------------------------------------------------------------


@cache
def styled(judge: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdicts of a very large sample, and how the answers differ in style."""
    (only,) = (each for each in STYLED if each.name == judge)
    frame, lengths = sample_frame(GameWorld((only,), lead=0.4), np.random.default_rng([45, 1]), 100_000, 1)
    rows = valid(pairs(frame))
    each = both_orders.verdicts(rows)
    return each.assign(won=(each["for_candidate"] + 1) / 2), position_measured.differences(rows, lengths)


@cache
def at_equal_style(judge: str, style: str, weight: int) -> float:
    """The win rate of a very large sample."""
    each, differences = styled(judge)
    return (
        position_measured.raw(each, weight).value
        if style == "raw"
        else position_measured.controlled(each, differences, weight).value
    )


def test_control_takes_away_what_length_alone_did() -> None:
    longer = GameWorld((GameJudge("wordy", length_bias=0.8),), lead=0.0)
    frame, lengths = sample_frame(longer, np.random.default_rng([46, 1]), 20_000, 1)
    more = lengths["length"].where(lengths["candidate"] != CANDIDATE, lengths["length"] * 1.5)
    # Verdicts were made at equal lengths on average; told that the candidate is longer, control must correct for it.
    table = pairs(frame)
    plain, told = (
        position_measured.win_rate(table, "d", lengths.assign(length=each)) for each in (lengths["length"], more)
    )
    rate = {id(each): next(e.value for e in each if e.where["style"] == "controlled") for each in (plain, told)}
    assert rate[id(plain)] == pytest.approx(0.5, abs=0.01) and rate[id(told)] < 0.45


@pytest.mark.parametrize("weight", [1, 3])
@pytest.mark.parametrize("style", ["raw", "controlled"])
@pytest.mark.parametrize("judge", names(STYLED))
@pytest.mark.parametrize(
    ("world", "runs"), [("style", FAST), ("style_40", FAST), pytest.param("style_40", 400, marks=pytest.mark.slow)]
)
def test_win_rates_are_covered(world: str, judge: str, style: str, weight: int, runs: int) -> None:
    each = replications(world, runs)["win_rate", judge, style, str(weight)]
    planted = at_equal_style(judge, style, weight)
    assert_within(covered(each, planted), runs, 0.93, 0.97, f"coverage of the {style} win rate of {judge} in {world}")
