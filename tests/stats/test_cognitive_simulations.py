"""Does the analysis of bias tests hold what it promises? Noise, pulls, merits, habits and losses of unequal models.

By the rule of `tests.rule`: 24 scenarios in three wordings, each version asked twice, three models; truth is the
estimand in a very large sample, and seeds were fixed beforehand. What is not tried here stands in calibration.csv
(CALIBRATED, FOUND, MISLEADING): tests run where no row holds it, quick ones for gross errors.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from helpers.biases.cognitive import effects, findings, measured as cognitive_measured
from helpers.biases.cognitive.averages import pairs
from helpers.types import Estimate
from studies.calibration.worlds.decisions import (
    SCATTERED,
    Answerer,
    World,
    gamble_frame,
    names,
    scale_frame,
    scattered_pairs,
    selection_frame,
)
from tests.calibrated import Held, assert_calibrated, stored
from tests.rule import assert_unbiased, assert_within, exact

FAST, SLOW = 20, pytest.param(500, marks=pytest.mark.slow)
MEAN = "mean"
#: Samples measured in one go, as biases; with more the corrected level would ask for more draws.
AT_ONCE = 20
#: Models that nothing pulls, but differ in all else.
UNPULLED = (
    Answerer("plain"),
    Answerer("skewed", honest=0.3, noise=0.15, skew=True, habit=0.1),
    Answerer("lossy", honest=0.65, noise=0.2, lost=0.4),
)
PULLED = (
    Answerer("little", strength=0.1, varying=0.1),
    Answerer("much", noise=0.15, strength=0.5, varying=0.2, habit=0.05),
    Answerer("lossy", noise=0.2, strength=0.3, lost=0.3, skew=True),
)
GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("averse", threshold=0.5, strength=0.6, varying=0.15),
    Answerer("lossy", threshold=0.6, slack=0.5, strength=0.3, lost=0.2),
)
FAIR_GAMBLERS = (
    Answerer("cautious", threshold=0.9, slack=0.3),
    Answerer("noisy", slack=0.6),
    Answerer("lossy", lost=0.3),
)
READERS = (Answerer("merit", merit=0.6), Answerer("plain"), Answerer("lossy", merit=0.3, lost=0.3))
BELIEVERS = (Answerer("merit", merit=0.6, strength=0.2), Answerer("much", strength=0.6, varying=0.2), Answerer("plain"))
#: With the number of its seeds.
WORLDS = {
    "noise": (scale_frame, World(UNPULLED), 0),
    "target": (scale_frame, World(UNPULLED, target="control"), 1),
    "pulled": (scale_frame, World(PULLED), 3),
    "halo": (scale_frame, World(PULLED, target="end"), 4),
    "fair gambles": (gamble_frame, World(FAIR_GAMBLERS), 5),
    "gambles": (gamble_frame, World(GAMBLERS), 6),
    "merit": (selection_frame, World(READERS), 7),
    "believed": (selection_frame, World(BELIEVERS), 8),
}

ANCHORED = ("bias=anchoring judge=plain", "bias=anchoring judge=skewed", "bias=anchoring judge=lossy")
TWO = ("plain", "other")
PULLS = ("bias=anchoring judge=little", "bias=anchoring judge=much", "bias=anchoring judge=lossy")
PUBLISHED = (
    *("anchoring_agnostic_published", "anchoring_specific_published"),
    *("halo_effect_published", "confirmation_bias_published"),
)
#: What nothing pulls, where scenarios pull both ways, and the slope on an anchor: rows of calibration.csv.
CALIBRATED = (
    Held("nothing pulls", "null", ("bias_effect", "anchor_slope"), ("bias=anchoring", *ANCHORED)),
    Held(
        "nothing pulls",
        "null",
        ("bias_effect",),
        [f"bias=loss_aversion judge={n}" for n in names(World(FAIR_GAMBLERS))],
    ),
    Held("nothing pulls", "null", ("bias_effect",), [f"bias=confirmation judge={n}" for n in names(World(READERS))]),
    Held("nothing pulls", "null", ("bias_effect",), ("bias=halo", "bias=loss_aversion", "bias=confirmation")),
    Held(
        "pulled both ways",
        "null",
        ("bias_effect",),
        ("bias=halo", "bias=halo judge=mixed", "bias=anchoring", *ANCHORED),
    ),
    Held("pulled", "planted", ("bias_effect", "anchor_slope"), ("bias=anchoring", *PULLS)),
    Held("scatter alone", "null", ("scale_shift",), [f"bias={way} judge={n}" for way in ("more", "less") for n in TWO]),
)

BIASES = ("bias=anchoring", "bias=halo", "bias=loss_aversion", "bias=confirmation")
STRONG = ("bias=anchoring judge=much", "bias=halo judge=much", "bias=confirmation judge=much")
AVERSE, EXCESSES = ("bias=loss_aversion judge=averse",), ("anchoring_specific", "halo_effect", "confirmation_bias")
#: What is planted is found. No document names a power here; these are chosen: a pull half of the way or more in nearly
#: every run of 80 scenarios, the mean over models too, and with 20, fewer than are built in, in every second run.
FOUND = (
    Held("pulled", "planted", ("bias_effect", "scale_shift"), BIASES, 20, least=0.5),
    Held("pulled", "planted", ("bias_effect", "scale_shift"), (*BIASES, *STRONG, *AVERSE), least=0.95),
    Held("pulled", "planted", [f"{id}_excess" for id in EXCESSES], least=0.95),
    Held("pulled", "planted", ("threshold_ratio",), ("bias=loss_aversion", *AVERSE), least=0.95),
    Held("pulled", "planted", ("anchor_slope",), ("bias=anchoring", *STRONG[:1]), least=0.95),
    # Limits: a tenth of the way, and a loss of a noisy model that leaves out answers, are missed in every second run.
    Held("pulled", "planted", ("bias_effect",), PULLS[:1], least=0.3, most=0.6),
    Held("pulled", "planted", ("bias_effect",), ("bias=loss_aversion judge=lossy",), least=0.3, most=0.6),
    Held("pulled", "planted", ("bias_effect", "scale_shift", "anchor_slope"), PULLS, 400, least=0.95),
    Held("pulled", "planted", ("bias_effect", "threshold_ratio"), ("bias=loss_aversion judge=lossy",), 400, least=0.95),
    # A limit: of the agnostic metric scatter leaves little.
    Held("pulled", "planted", ("anchoring_agnostic_excess",), least=0.4, most=0.8),
    Held("pulled", "planted", ("anchoring_agnostic_excess",), questions=400, least=0.95),
)
#: What misleads: the published metrics call noise alone a bias, and a slope on answers that are not asked anew; where
#: the treatment scatters more, or scenarios pull both ways, what is left over a repeat does so too.
MISLEADING = (
    Held("nothing pulls", "failure", PUBLISHED, least=0.99),
    Held("nothing pulls", "failure", ("anchor_slope_plain",), least=0.95),
    Held("pulled both ways", "failure", ("halo_effect_excess", "halo_effect_published"), ("bias=halo",), least=0.95),
    Held("scatter alone", "failure", ("anchoring_agnostic_excess", "anchoring_specific_excess"), least=0.95),
    Held("scatter alone", "failure", ("halo_effect_excess",), ("bias=less",), least=0.95),
    # A limit of the signed effect, and why `scale_shift` has to speak too: less scatter reads as a push away.
    Held("scatter alone", "failure", ("bias_effect",), ("bias=more", "bias=less"), least=0.1, most=0.5),
)


def test_the_calibration_holds_what_is_not_repeated_here() -> None:
    assert_calibrated("cognitive_biases", CALIBRATED)


def test_what_is_planted_is_found() -> None:
    assert_calibrated("cognitive_biases", FOUND)


def test_what_is_known_to_mislead_does() -> None:
    assert_calibrated("cognitive_biases", MISLEADING)


def test_noise_alone_makes_what_is_documented_of_published_metrics() -> None:
    """Documented 0.18 (agnostic) and 0.17 (specific) for a noise of a tenth of the scale; models here are as noisy."""
    rows, _ = stored("cognitive_biases")
    at = rows[(rows["world"] == "nothing pulls") & (rows["questions"] == 80) & rows["id"].isin(PUBLISHED)]
    assert set(at["id"]) == set(PUBLISHED) and (at["truth"] == 0).all()
    assert (at["bias"] > 0.15).all(), at[["id", "bias"]].to_dict("records")


def measured(table: pd.DataFrame, seed: int) -> list[Estimate]:
    """All signed numbers and excesses of one sample."""
    return [
        *effects.bias_effect(table, "simulated", seed),
        *effects.bias_placebo(table, "simulated"),
        *effects.scale_shift(table, "simulated"),
        *cognitive_measured.excesses(table, "simulated", seed),
        *effects.thresholds(table, "simulated"),
        *effects.anchor_slope(table, "simulated"),
    ]


def key(each: Estimate) -> tuple[str, str]:
    condition = f" {each.where['condition']}" if "condition" in each.where else ""
    return each.id + condition, each.where.get("judge", MEAN)


@cache
def replications(world: str, runs: int) -> dict[tuple[str, str], np.ndarray]:
    """(runs, 4) value, low, high, p for each id (and condition) and model, or the mean over models.

    Several samples are measured at once, each as a bias of its own.
    """
    found: dict[tuple[str, str], list[tuple[float, ...]]] = {}
    draw, planted, number = WORLDS[world]
    for start in range(0, runs, AT_ONCE):
        frames = []
        for run in range(start, min(start + AT_ONCE, runs)):
            rng = np.random.default_rng([61, number, run])
            frames.append(draw(planted, rng).assign(category=f"run {run}"))
        for each in measured(pairs(pd.concat(frames, ignore_index=True)), start):
            found.setdefault(key(each), []).append((each.value, each.low, each.high, each.p))
    return {name: np.array(values) for name, values in found.items()}


@cache
def truth(world: str, runs: int) -> dict[tuple[str, str], float]:
    """The estimands in very many scenarios, from their definitions; for few runs fewer will do."""
    draw, planted, number = WORLDS[world]
    chunks = []
    for chunk in range(1 if runs < 100 else 4):
        rng = np.random.default_rng([62, number, chunk])
        size = 6_000 if runs < 100 else 25_000
        chunks.append(pd.DataFrame({who: defined(rows) for who, rows in _each(draw(planted, rng, size))}))
    known = sum(chunks) / len(chunks)
    known[MEAN] = known.mean(axis=1)
    return {(id, who): float(known.loc[id, who]) for id in known.index for who in known}


def _each(frame: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """Of each model one row a pair: a1, a2, a0 and what the test is."""
    same = ["judge", "question_id", "wording"]
    found = []
    for who, rows in frame[frame["condition"] != "decision"].groupby("judge"):
        control, treatment = (rows[rows["condition"] == name] for name in ("control", "treatment"))
        again = control.assign(repeat=1 - control["repeat"])  # two repeats: each is the other one's next
        at = [*same, "repeat"]
        known = {"value": "a1", "outcome": "outcome_control"}
        both = treatment.merge(control[[*at, *known]].rename(columns=known), on=at)
        both["readable"] = (both["outcome"] == "ok") & (both["outcome_control"] == "ok")
        both = both.merge(again[[*at, "value"]].rename(columns={"value": "a0"}), on=at)
        found.append((who, both.rename(columns={"value": "a2"})))
    return found


def defined(rows: pd.DataFrame) -> pd.Series:
    """The estimands as they are written down, on a table of pairs."""
    a1, a2, a0, t = (rows[name].to_numpy() for name in ("a1", "a2", "a0", "target"))
    d1, d2, d0 = (np.abs(each - t) for each in (a1, a2, a0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found = {"bias_effect": np.nanmean((d1 - d2) / np.maximum(d1, d2))}
    low, high = rows["low"].iloc[0], rows["high"].iloc[0]
    toward = np.where(t == high, 1.0, np.where(t == low, -1.0, np.sign(t - a0)))
    found["scale_shift"] = np.nanmean(toward * (a2 - a1)) / (high - low)
    kind = rows["kind"].iloc[0]
    if kind == "scale":
        far = np.maximum(a1 - rows["low"], rows["high"] - a1)
        moved = (np.abs(a2 - a1) - np.abs(a0 - a1)) / far
        if rows["anchor"].isna().all():
            found["halo_effect_excess"] = np.nanmean(moved)
        else:
            found["anchoring_agnostic_excess"] = np.nanmean(moved)
            least = np.where(d1 == 0, np.inf, d1)  # 0/0 counts 0
            specific = [np.maximum(0, (d1 - each) / least) for each in (d2, d0)]
            found["anchoring_specific_excess"] = np.nanmean(specific[0] - specific[1])
            y, x, z = (each[np.isfinite(a1 + a2 + a0)] for each in (a2 - a1, rows["anchor"] - a1, rows["anchor"] - a0))
            found["anchor_slope"] = np.cov(z, y)[0, 1] / np.cov(z, x)[0, 1]
    if kind == "selection":
        weights = rows["options"].to_numpy()
        left = np.nan_to_num(np.maximum(0, t * a2)) - np.nan_to_num(np.maximum(0, t * a1))  # 0/0 counts 0
        known = rows["readable"].to_numpy(dtype=bool)
        found["confirmation_bias_excess"] = np.average(left[known], weights=weights[known])
        found["confirmation_unweighted_excess"] = left[known].mean()
    if kind == "acceptance":
        for name, answers in (("control", a1), ("treatment", a2)):
            known = np.isfinite(a1 + a2)
            design = sm.add_constant(np.log(rows["ratio"].to_numpy()[known]))
            fit = sm.GLM(answers[known], design, family=sm.families.Binomial()).fit()
            found[f"acceptance_threshold {name}"] = -fit.params[0] / fit.params[1]
        one, two = (found[f"acceptance_threshold {name}"] for name in ("control", "treatment"))
        found["threshold_ratio"] = two - one
    return pd.Series(found)


def rejected(each: np.ndarray) -> int:
    return int((each[:, 3] < 0.05).sum())


def given(each: np.ndarray) -> np.ndarray:
    return each[~np.isnan(each[:, 1])]


def assert_covered(each: np.ndarray, planted: float, what: str) -> None:
    each = given(each)
    hits = ((each[:, 1] <= planted) & (planted <= each[:, 2])).sum()
    assert_within(hits, len(each), 0.93, 0.97, f"coverage of {what}")


# --- what is tried of everybody in each world -------------------------------------------------------------------------


def nothing_pulls(world: str, who: str, runs: int) -> None:
    """Targets where the control answers: in the other worlds rows of calibration.csv tell it."""
    each = replications(world, runs)["bias_effect", who]
    assert_within(rejected(each), runs, 0.03, 0.07, f"size of bias_effect of {who} in {world}")
    assert_covered(each, 0.0, f"bias_effect of {who} in {world}")
    assert_unbiased(each[:, 0], 0.0, f"bias_effect of {who} in {world}")


def excess_is_0(world: str, who: str, runs: int) -> None:
    """The placebo shares its control with the treatment's pair; sign flips keep their size all the same."""
    found = replications(world, runs)
    ids = [id for id, one in found if id.endswith("_excess") and one == who]
    assert len(ids) == 2
    for id in ids:
        assert_within(rejected(found[id, who]), runs, 0.03, 0.07, f"size of {id} of {who} in {world}")
        assert_covered(found[id, who], 0.0, f"{id} of {who} in {world}")
        assert_unbiased(found[id, who][:, 0], 0.0, f"{id} of {who} in {world}")


def placebo_is_0(world: str, who: str, runs: int) -> None:
    each = replications(world, runs)["bias_placebo", who]
    assert_covered(each, 0.0, f"bias_placebo of {who} in {world}")
    assert_unbiased(each[:, 0], 0.0, f"bias_placebo of {who} in {world}")


def strengths_are_found(world: str, who: str, runs: int) -> None:
    """Unequal models, strengths that vary by scenario, losses of extreme answers; truth is that of readable ones."""
    found, known = replications(world, runs), truth(world, runs)
    for id in (
        id for id, one in known if one == who and not id.startswith(("acceptance", "threshold", "anchor_slope"))
    ):
        assert_covered(found[id, who], known[id, who], f"{id} of {who} in {world}")
        # The truth has an error of its own.
        value, error = found[id, who][:, 0].mean(), found[id, who][:, 0].std(ddof=1)
        wide = error * np.sqrt(1 / runs + 1 / (250 if runs < 100 else 4_000))
        assert abs(value - known[id, who]) <= 3.5 * wide, f"{id} of {who} in {world}: {value} for {known[id, who]}"
    if who == MEAN or who in ("much", "averse"):
        each = found["bias_effect", who]
        assert rejected(each) >= 0.8 * runs and (each[:, 0] > 0).mean() > 0.95
        # What is said to move answers has to move them along the scale too.
        both = (each[:, 3] < 0.05) & (found["scale_shift", who][:, 1] > 0)
        assert both.mean() >= 0.75


def thresholds_are_covered(world: str, who: str, runs: int) -> None:
    found, known = replications(world, runs), truth(world, runs)
    ids = ("acceptance_threshold control", "acceptance_threshold treatment", "threshold_ratio")
    for id in ids:
        each, planted = given(found[id, who]), known[id, who]
        assert len(each) >= 0.95 * runs
        assert_covered(each, planted, f"{id} of {who} in {world}")
        assert abs(each[:, 0].mean() - planted) <= 0.02 + 3.5 * each[:, 0].std() / np.sqrt(len(each)), (id, who)
    if world == "fair gambles":
        assert_within(rejected(found[ids[2], who]), runs, 0.03, 0.07, f"size of threshold_ratio of {who}")


def slope_without_information_is_refused(world: str, who: str, runs: int) -> None:
    if who == "plain":
        assert np.isnan(replications(world, runs)["anchor_slope", who][:, 0]).mean() > 0.9


TRIED = {
    "noise": (excess_is_0, placebo_is_0),
    "target": (nothing_pulls, excess_is_0, slope_without_information_is_refused),
    "pulled": (placebo_is_0, strengths_are_found),
    "halo": (strengths_are_found,),
    "fair gambles": (thresholds_are_covered,),
    "gambles": (strengths_are_found, thresholds_are_covered),
    "merit": (excess_is_0, placebo_is_0),
    "believed": (strengths_are_found,),
}


@pytest.mark.parametrize("runs", [FAST, SLOW])
@pytest.mark.parametrize("world", TRIED)
def test_numbers_of_each_model_and_of_their_mean_hold_what_they_promise(world: str, runs: int) -> None:
    for who in (*names(WORLDS[world][1]), MEAN):
        for holds in TRIED[world]:
            holds(world, who, runs)


@pytest.mark.slow
@pytest.mark.parametrize("world", SCATTERED)
def test_scatter_alone_is_not_said_to_move_answers(world: tuple[bool, float, float]) -> None:
    """Nothing pulls, the treatment scatters more or less: the shift is covered at 0 and what stands keeps the size.

    A quick test of `test_cognitive_effects` has a few runs of the same.
    """
    shifts, stood, runs = [], 0, 250
    for run in range(runs):
        table = scattered_pairs(np.random.default_rng([66, run]), *world)
        found = [*effects.bias_effect(table, "simulated", run), *effects.scale_shift(table, "simulated")]
        stood += [each.verdict for each in findings.conclusions(found, "bias_effect")] == ["bias"]
        shifts.append(next((e.value, e.low, e.high) for e in found if e.id == "scale_shift"))
    assert exact(stood, runs)[0] <= 0.07, f"{stood} of {runs} stand"
    each = np.array(shifts)
    covered = int(((each[:, 1] <= 0) & (each[:, 2] >= 0)).sum())
    assert_within(covered, runs, 0.93, 0.97, f"scale_shift of {world}")


def test_a_common_merit_reads_as_confirmation_in_the_published_metric_and_not_in_the_signed_effect() -> None:
    """Decision and selection follow the merit of a proposal; that a decision was made changes nothing."""
    table = pairs(selection_frame(WORLDS["merit"][1].only("merit"), np.random.default_rng(63), 4_000))
    (reads, *_) = (each for each in cognitive_measured.batches(table, "d", 1) if each.id == "confirmation_bias")
    known = defined(table)
    assert reads.value > 0.2 and reads.low > 0.2
    assert abs(known["bias_effect"]) < 0.01 and abs(known["confirmation_bias_excess"]) < 0.01


def test_the_planted_loss_is_the_factor_between_thresholds() -> None:
    """Normal scenarios leave a symmetric curve, so half is crossed where it was put: log ratio 0.6, with a loss 1.0."""
    world = World((Answerer("averse", threshold=0.6, strength=0.4, slack=0.3),), spread=0.1)
    known = defined(pairs(gamble_frame(world, np.random.default_rng(64), 40_000)))
    assert known["acceptance_threshold control"] == pytest.approx(0.6, abs=0.01)
    assert known["threshold_ratio"] == pytest.approx(0.4, abs=0.015)
