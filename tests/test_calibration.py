"""Calibration: the rule, the runner, two ways of saying the same verdicts, the hash of the code, results and words."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import calibrate, paths
from helpers.config import load_experiment
from helpers.figures import style as styles
from helpers.figures.designs import show_calibration
from helpers.types import Estimate
from helpers.words.numbers import load_numbers
from studies.calibration import __main__ as program, results, running, speaking
from studies.calibration.cases import SEED, Case, Target, chance, exact, verdict
from studies.calibration.experiments import hinting_groups, mt_bench_blind, quality_self_preference
from studies.calibration.fingerprint import FRAMES, fingerprint, stored_frames
from studies.calibration.worlds import pairs, rankings
from studies.calibration.worlds.listwise import CATEGORIES, WORLDS, latent
from studies.calibration.worlds.rankings import Arm
from tests.calibrated import FEWEST, stored
from tests.test_figures import EACH_STYLE, texts
from tests.test_figures_hinting import assert_readable


def of_world(cases: tuple[Case, ...], world: str) -> Case:
    return next(case for case in cases if case.world == world)


@pytest.fixture
def small_populations(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Truths of a smoke test need not be precise; nobody else is given these."""
    monkeypatch.setattr(rankings, "MANY", 400)
    monkeypatch.setattr(rankings, "FITTED", 400)
    monkeypatch.setattr(rankings, "FITS", 2)
    monkeypatch.setattr(pairs, "BATCH", 200)
    quality_self_preference._targets.cache_clear()
    yield
    quality_self_preference._targets.cache_clear()


#: A share of verdicts has no value that means nothing is there, and a control's repeat is never moved.
NEVER = {("null", "accuracy_harmful"), ("planted", "bias_placebo")}


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_every_case_speaks_as_it_is_drawn_and_measures_its_targets(experiment: str, small_populations: None) -> None:
    """And each headline number has a world where nothing is there and one where something is."""
    cases = running.cases_of(experiment)
    assert len({case.world for case in cases}) == len(cases)
    for case in cases:
        speaking.check(case, 12)
    rows, seconds = running.run(cases, {20: 1}, processes=1)
    assert seconds > 0 and list(rows) == list(running.COLUMNS)
    assert set(rows["world"]) == {case.world for case in cases} and (rows["runs"] == 1).all()
    found = {*zip(rows["role"], rows["id"], strict=True)}
    for id in load_numbers(load_experiment(experiment).bias).headline:
        assert {("null", id), ("planted", id)} - NEVER <= found, id


@pytest.mark.parametrize(
    ("role", "given", "bias", "covered", "rejected", "expected"),
    [
        ("null", 2000, 0.0, 1900, 100, "holds"),
        # Exact 99.9 % bounds of 186 of 2,000: 7.3 to 11.7 %.
        ("null", 2000, 0.0, 1900, 186, "misses: size"),
        ("null", 2000, 0.0, 1900, 20, "conservative"),
        ("planted", 2000, 0.0, 1900, 2000, "holds"),
        ("planted", 2000, 0.0, 1780, 2000, "misses: coverage"),
        ("planted", 2000, 0.0, 1995, 2000, "conservative"),
        ("planted", 2000, 3.6, 1900, 2000, "misses: bias"),
        ("null", 2000, -3.6, 1780, 186, "misses: bias, coverage, size"),
        ("planted", 2000, 3.4, 1900, 2000, "holds"),
        ("planted", 3, 9.0, 3, 3, "too few"),
        ("planted", 29, 0.0, 28, 3, "too few"),
        ("planted", 30, 0.0, 29, 3, "holds"),
        ("null", 20, 0.0, 2, 20, "misses: coverage, size"),
        ("null", 2000, float("nan"), 0, 100, "holds"),
        ("failure", 2000, 9.0, 0, 2000, "shown"),
        ("planted", 0, float("nan"), 0, 0, "no interval"),
    ],
)
def test_the_rule(role: str, given: int, bias: float, covered: int, rejected: int, expected: str) -> None:
    assert verdict(role, given, bias, 1.0, covered, rejected, 0.95) == expected
    if covered == 1780:
        assert stats.binomtest(1780, 2000).proportion_ci(0.999, method="exact").high < 0.93


def test_a_coverage_is_held_against_the_level_of_its_own_interval() -> None:
    assert verdict("planted", 2000, 0.0, 1.0, 1800, 0, 0.9) == "holds"
    assert verdict("planted", 2000, 0.0, 1.0, 1900, 0, 0.9) == "conservative"


def made(values: list[tuple[float, float, float, float]], truth: float, **more: float) -> Case:
    """A case whose replications give these numbers, bounds and p, one after another."""

    def measure(frame: pd.DataFrame, seed: int) -> list[Estimate]:
        value, low, high, p = values[seed]
        method = "no test: too few" if p == -1 else ""
        return [Estimate("x", {"judge": "j", "arm": "a"}, value, low, high, p=np.nan if p == -1 else p, method=method)]

    target = Target("x", {"arm": "a", "judge": "j"}, truth, "planted", **more)
    empty = pd.DataFrame()
    return Case("e", "w", "", lambda q, rng: q, lambda s: empty, lambda s: empty, measure, lambda: [target])


def test_rates_are_of_the_replications_with_an_interval() -> None:
    nan = float("nan")
    case = made(
        [
            (1.0, 0.5, 1.5, 0.01),
            (2.0, 1.5, 2.5, nan),
            (0.2, -0.5, 0.9, nan),
            (5.0, nan, nan, 0.01),
            (0.8, 0.1, 1.2, -1),
        ],
        truth=1.0,
        error=0.3,
    )
    rows, _ = running.run([case], {50: 5}, processes=1)
    row = rows.iloc[0]
    values = np.array([1.0, 2.0, 0.2, 0.8])
    assert (row["runs"], row["given"], row["where"], row["questions"]) == (5, 4, "arm=a judge=j", 50)
    assert row["bias"] == pytest.approx(0.0) and row["sd"] == pytest.approx(values.std(ddof=1))
    assert row["mc_se"] == pytest.approx(np.sqrt(values.var(ddof=1) / 4 + 0.09))
    assert row["coverage"] == 0.5  # the second and the third leave 1 out
    assert row["rejected"] == 0.5  # by p, and by an interval without p; where no test was possible there is none


def test_what_is_never_measured_is_an_error() -> None:
    case = replace(made([(1.0, 0.5, 1.5, 0.5)], 1.0), targets=lambda: [Target("y", {}, 0.0, "null")])
    with pytest.raises(ValueError, match="nothing measured for y"):
        running.run([case], {50: 1}, processes=1)
    twice = replace(case, targets=lambda: [Target("x", {"arm": "a", "judge": "j"}, 0.0, "null")] * 2)
    with pytest.raises(ValueError, match="two targets for x arm=a judge=j"):
        running.run([twice], {50: 1}, processes=1)
    odd = replace(case, targets=lambda: [Target("x", {"arm": "a", "judge": "j"}, 0.0, "nul")])
    with pytest.raises(ValueError, match="unknown role nul"):
        running.run([odd], {50: 1}, processes=1)
    once = made([(1.0, 0.5, 1.5, 0.5)], 1.0)
    double = replace(once, measure=lambda frame, seed: 2 * list(once.measure(frame, 0)))
    with pytest.raises(RuntimeError, match="e, world w, 50 questions, replication 0: two estimates of x arm=a judge=j"):
        running.run([double], {50: 1}, processes=1)


def test_an_interval_without_a_p_is_held_against_what_means_nothing_there() -> None:
    values = [(0.6, low, 0.9, float("nan")) for low in (0.4, 0.55)]
    rows, _ = running.run([made(values, truth=0.6, null=0.5)], {50: 2}, processes=1)
    assert rows["rejected"].tolist() == [0.5]


def test_a_replication_does_not_depend_on_its_neighbours() -> None:
    case = of_world(mt_bench_blind.CASES, "unequal")
    kept = (("self_bias", "vendor=gpt"), ("self_preference_logit", "vendor=claude"))
    whole = running.Part("", "", 20, 0, 4, kept, SEED)
    together, _ = running.replications(case, whole)
    parts = [running.replications(case, replace(whole, start=a, stop=b))[0] for a, b in ((0, 1), (1, 4))]
    np.testing.assert_array_equal(together, np.concatenate(parts))
    assert len(set(together[:, 0, 0])) > 1


def test_chance_is_another_in_each_world_size_and_run() -> None:
    case = of_world(mt_bench_blind.CASES, "fair")
    elsewhere = replace(case, experiment="other"), replace(case, world="other")
    every = [(case, 80, 0), (case, 20, 0), (case, 80, 1), *((each, 80, 0) for each in elsewhere)]
    drawn = [chance(*each).random() for each in every]
    assert len(set(drawn)) == len(every) and chance(case, 80, 0, seed=21).random() not in drawn
    assert chance(*every[0]).random() == drawn[0]


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_processes(small_populations: None) -> None:
    cases = [of_world(hinting_groups.CASES, "nothing")]
    one, _ = running.run(cases, {20: 45}, processes=1)
    two, _ = running.run(cases, {20: 45}, processes=2)
    pd.testing.assert_frame_equal(one, two)


LONG = """
import sys, time
from concurrent.futures import _base
from studies.calibration import __main__ as program
from studies.calibration import running
from studies.calibration.experiments import hinting_groups
from studies.calibration.worlds import rankings

def progress(step, done, total):
    if not step.endswith("spoken"):
        print("begun", flush=True)
        time.sleep(float(sys.argv[1]))

def taken(self):
    for number, future in enumerate(self.futures):
        if number == 1_000:
            print("begun", flush=True)
            time.sleep(1)  # within which the interrupt comes
        future._condition.acquire()

if __name__ == "__main__":
    if sys.argv[1] == "locks":
        _base._AcquireFutures.__enter__ = taken
    rankings.MANY = rankings.FITTED = 200
    running.cases_of = lambda experiment: hinting_groups.CASES[:1]
    program.fingerprint = lambda experiment: ""  # which needs all of its cases
    program.measure("hinting_groups", {20: 40_000}, processes=2, spoken=0, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "pause", ["0", "300", "locks"], ids=["while results are waited for", "while progress is told", "within locks"]
)
@pytest.mark.parametrize(
    ("what", "reaches"),
    [(signal.SIGINT, os.kill), (signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill), (signal.SIGKILL, os.kill)],
    ids=["kill -INT", "Ctrl-C", "kill", "kill -9"],
)
def test_no_process_outlives_the_one_that_was_ended(
    what: signal.Signals, reaches: Callable[[int, int], None], pause: str, tmp_path: Path
) -> None:
    script = tmp_path / "long.py"
    script.write_text(LONG, encoding="utf-8")
    command = ["env", f"PYTHONPATH={paths.ROOT}", sys.executable, str(script), pause]
    begun = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        assert begun.stdout is not None and begun.stdout.readline() == b"begun\n"
        reaches(begun.pid, what)  # `kill` to it alone; a terminal's Ctrl-C to all of its processes
        assert begun.wait(timeout=120) != 0
        until = time.monotonic() + 120
        with pytest.raises(ProcessLookupError):
            while time.monotonic() < until:
                os.killpg(begun.pid, 0)
                time.sleep(0.2)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(begun.pid, signal.SIGKILL)


def test_every_hint_is_read_from_the_prompt() -> None:
    """Each hint has its own strong effect, so that an answer taken for another's would rank differently."""
    arms = [Arm(repeats=2), Arm("self", 2.0, 1.0), Arm("competitors", 3.0), Arm("full", 4.0), Arm("swapped", 5.0)]
    sample = rankings.draw(WORLDS["lost"], 12, np.random.default_rng(5), arms)
    spoken = rankings.spoken(sample, hinting_groups.trials, "hinting_groups")
    direct = rankings.frame(sample)
    assert not speaking.differences(direct, spoken)
    assert set(direct["outcome"]) == {"ok", "unparsed"} and set(spoken["outcome"]) > {"ok", "refused", "unparsed"}
    blind = rankings.frame(replace(sample, askings=tuple(replace(a, gain=0 * a.gain) for a in sample.askings)))
    for hint in ("self", "competitors", "full", "swapped"):
        now, then = (f.loc[f["condition"] == hint, "rank"].to_numpy() for f in (direct, blind))
        assert (now != then)[~np.isnan(now + then)].mean() > 0.1, hint


@pytest.mark.parametrize("what", ["ranking", "place", "lost", "missing"])
def test_two_paths_that_differ_are_told_apart(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = of_world(mt_bench_blind.CASES, "lost")
    written = rankings._written
    if what == "ranking":
        monkeypatch.setattr(rankings, "_written", lambda ranking, *rest: written(ranking[::-1], *rest))
    elif what == "place":
        case = replace(case, frame=lambda s: rankings.frame(s).assign(slot=lambda f: 5 - f["slot"]))
    elif what == "lost":
        monkeypatch.setattr(rankings, "_written", lambda *said: written(*said[:-1], None))
    else:
        case = replace(case, frame=lambda s: rankings.frame(s).iloc[6:])
    with pytest.raises(ValueError, match=r"lost, 12 questions, replication 0: \d+ verdicts of the two paths differ"):
        speaking.check(case, 12)


def test_frames_without_a_verdict_in_common_are_not_equal_but_an_error() -> None:
    frame = pd.DataFrame({"question_id": ["q"], "outcome": ["ok"]})
    with pytest.raises(ValueError, match="nothing to compare"):
        speaking.differences(frame, frame)


def test_fewer_questions_than_whole_rounds_begin_at_any_category() -> None:
    """Else 20 questions would always hold more of the same four categories, and their mean would be another."""
    rng, count = np.random.default_rng(13), len(CATEGORIES)
    drawn = [latent(WORLDS["plain"], 20, rng).category for _ in range(40 * count)]
    seen = np.array([np.bincount(category, minlength=count) for category in drawn])
    assert set(seen.ravel()) == {2, 3} and (seen.sum(axis=1) == 20).all()
    # Each has a third question in half of the samples: 160 of 320, with a standard deviation of 9.
    assert (abs((seen == 3).sum(axis=0) - 160) < 36).all()
    for questions in (80, 400):
        assert (np.bincount(latent(WORLDS["plain"], questions, rng).category) == questions / count).all()


def test_the_truth_of_the_logit_is_the_mean_of_populations_that_have_nothing_in_common() -> None:
    worlds = WORLDS["planted"], WORLDS["unequal"]
    begun = {rankings._chance(world, turn).random() for world in worlds for turn in range(6)}
    assert len(begun) == 12, "two populations are the same"
    found = rankings._logit(worlds[0], 480)  # a number that no other test has kept
    each = [rankings._fitted(worlds[0], 480, turn) for turn in range(1, rankings.FITS + 1)]
    assert len(each) == 5 and set(found) == set(each[0])
    for key, mean in found.items():
        values, errors = (np.array([getattr(fit[key], name) for fit in each]) for name in ("value", "se"))
        assert len(set(values)) == 5
        assert mean.value == pytest.approx(values.mean())
        assert mean.se == pytest.approx(np.sqrt((errors**2).sum()) / 5) and mean.clusters == 2400


@pytest.mark.parametrize("world", ["planted", "lost"])
def test_truths_by_chances_are_those_of_many_drawn_judgments(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "MANY", 8000)
    sample = rankings.draw(WORLDS[world], 3000, np.random.default_rng(11))
    frame = rankings.frame(sample)
    top = frame[frame["top"] == 1.0]
    truths = rankings.first_places(WORLDS[world])
    for vendor in ("claude", "gpt", "gemini"):
        own, others = (top[(top["judge_vendor"] == vendor) == mine] for mine in (True, False))
        shares = [(part["candidate_vendor"] == vendor).mean() for part in (own, others)]
        for id, drawn in (("self_bias", shares[0]), ("excess_self_preference", shares[0] - shares[1])):
            # Of 6,000 and 12,000 judgments, which go together within a question.
            assert abs(truths[id, vendor].value - drawn) < 0.035, (id, vendor)
    assert abs(truths["position_effect", "1"].value - ((top["slot"] == 0).mean() - 1 / 6)) < 0.015


def test_truths_of_hints_by_chances_are_those_of_many_drawn_judgments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "MANY", 8000)
    world, arm, named = WORLDS["lost"], Arm("full", 2.0, repeats=2), Arm("swapped", 1.5)
    sample = rankings.draw(world, 800, np.random.default_rng(12), (Arm(repeats=2), arm, named))
    measured = hinting_groups.measure(rankings.frame(sample), 1)
    found = {(e.id, e.where.get("vendor", "")): e for e in measured if e.where.get("hint") != "swapped"}
    truths = {**rankings.hinted(world, arm), **rankings.swapped(world, named)}
    assert truths["hint_effect", "average"].value > 0.2 and truths["excess_change", ""].value > 0.02
    for key, truth in truths.items():
        assert abs(found[key].value - truth.value) < 4 * np.hypot(found[key].se, truth.se), key


def test_the_utilities_of_two_worlds_give_the_effects_that_they_stand_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rankings, "MANY", 20_000)
    for name, effect in (("mixed", 0.0), ("margin", hinting_groups.MARGIN)):
        arm = of_world(hinting_groups.CASES, name).draw.keywords["arms"][1]
        truth = rankings.hinted(WORLDS["partial"], arm)["hint_effect", "average"]
        assert abs(truth.value - effect) < 4 * truth.se and truth.se < 2e-4


def test_the_test_against_one_third_fails_where_nobody_prefers_its_own() -> None:
    """Published reading; 99.9 % false positives for GPT and Gemini are the figure of the document on statistics."""
    case = of_world(mt_bench_blind.CASES, "fair")
    p = []
    for run in range(30):
        frame = case.frame(case.draw(80, chance(case, 80, run)))
        found = {each.where["vendor"]: each for each in mt_bench_blind.against_one_third(frame)}
        p.append([found[vendor].p for vendor in ("gpt", "gemini")])
    first = frame[frame["top"] == 1.0]
    mine = first[first["judge_vendor"] == "gpt"]
    own = int((mine["candidate_vendor"] == "gpt").sum())
    assert found["gpt"].p == pytest.approx(stats.binomtest(own, len(mine), 1 / 3).pvalue)
    assert found["gpt"].value == pytest.approx(own / len(mine) - 1 / 3)
    assert (np.array(p) < 0.05).mean() > 0.95


def test_votes_taken_as_independent_are_those_of_the_textbook() -> None:
    frame = rankings.frame(rankings.draw(WORLDS["plain"], 40, np.random.default_rng(3), (Arm(), Arm("self", 1.0))))
    z, mcnemar = hinting_groups.votes_as_independent(frame)
    own = frame[frame["top"] == 1.0].pivot(index=["question_id", "judge"], columns="condition", values="own_vendor")
    up, down = int((own["self"] & ~own["none"]).sum()), int((~own["self"] & own["none"]).sum())
    assert mcnemar.p == pytest.approx(stats.binomtest(up, up + down).pvalue)
    k, n = own.sum(), len(own)
    chi2 = stats.chi2_contingency([[k["self"], n - k["self"]], [k["none"], n - k["none"]]], correction=False)
    assert z.p == pytest.approx(chi2.pvalue) and z.value == pytest.approx((k["self"] - k["none"]) / n)


def test_an_experiment_without_cases_has_no_hash(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="other is not calibrated"):
        fingerprint("other")
    with pytest.raises(ValueError, match="no stored frames of hinting_groups"):
        fingerprint("hinting_groups", tmp_path)


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_every_world_has_stored_frames(experiment: str) -> None:
    worlds = [world for world, _ in stored_frames(experiment)]
    assert len(worlds) == FRAMES and set(worlds) == {case.world for case in running.cases_of(experiment)}


def shifted(values: Any) -> Any:
    """The same interval around a number that is a little higher."""
    return replace(values, value=values.value + 1e-6)


#: What a slip in an estimator would be: experiment, module, name, and the slipped one made of the right one.
SLIPS: dict[str, tuple[str, str, str, Callable[[Any], Any]]] = {
    "strata are forgotten": ("mt_bench_blind", "stats.intervals", "MIN_STRATUM", lambda right: 99),
    "a top-1 fit for the full ranking": (
        *("mt_bench_blind", "stats.models", "fit_panel"),
        lambda right: lambda panel, depth=None, *more, **named: right(panel, 1, *more, **named),
    ),
    "one sharpness for all judges": (
        *("mt_bench_blind", "stats.models", "design_of"),
        lambda right: lambda panel, depth, by_category, position, one_scale: right(
            panel, depth, by_category, position, True
        ),
    ),
    "self-preference a little higher": (
        *("mt_bench_blind", "stats.models", "self_preference"),
        lambda right: lambda fit, vendor: shifted(right(fit, vendor)),
    ),
    "a loose end of the climb": (
        *("mt_bench_blind", "stats.rank_logit", "_newton"),
        lambda right: lambda *parts, tolerance: right(*parts, tolerance=0.1),
    ),
    "probabilities bend at fewer questions": ("mt_bench_blind", "stats.models", "EFFECT_CLUSTERS", lambda right: 10),
    "half a count everywhere": (
        *("mt_bench_blind", "stats.models", "third_party_log_odds"),
        lambda right: lambda counts: right(np.asarray(counts, dtype=float) + 0.5),
    ),
    "names dealt fewer times": (
        *("hinting_groups", "biases.hinting.paired", "redeal"),
        lambda right: lambda *parts, **named: right(*parts, **{**named, "draws": 499}),
    ),
    "hints that weigh a little less": ("hinting_groups", "biases.hinting.paired", "contrast", lambda right: (
        lambda sums, weights, **named: right(sums, [0.999 * w for w in weights], **named)
    )),
    "one-sided flips of hints": ("hinting_groups", "biases.protocol", "with_sign_flip", lambda right: (
        lambda *parts, **named: replace(right(*parts, **named), p=right(*parts, **named).p / 2)
    )),
    "odds of the wrong side": ("quality_self_preference", "biases.self_preference.measured", "paired_log_odds", (
        lambda right: lambda up, down, *more, **named: right(down, up, *more, **named)
    )),
    "a count of 0 taken as 1": ("quality_self_preference", "stats.models", "HALF", lambda right: 1.0),
    "one-sided flips of articles": ("quality_self_preference", "biases.protocol", "with_sign_flip", (
        lambda right: lambda *parts, **named: replace(right(*parts, **named), p=right(*parts, **named).p / 2)
    )),
    "intervals of 90 %": ("quality_self_preference", "biases.protocol", "contrast", lambda right: (
        lambda *parts, **named: right(*parts, **{**named, "level": 0.9})
    )),
    "a little more for the first place": ("arena_hard_position_bias", "biases.protocol", "contrast", (
        lambda right: lambda sums, **named: right(replace(sums, numerators=sums.numerators + 0.01), **named)
    )),
    "verdicts dealt by another chance": ("arena_hard_position_bias", "biases.position.measured", "relabelled", (
        lambda right: lambda one, two, seed: right(one, two, seed + 1)
    )),
    "a hundredth more flips in excess": ("arena_hard_position_bias", "biases.position.measured", "excess", (
        lambda right: lambda one, two: right(one, two) + 0.01
    )),
    "the first scenario is left out": ("cognitive_biases", "biases.cognitive.averages", "clustered", (
        lambda right: lambda x, d, *more, **named: right(x[1:], d[1:], *more, **named)
    )),
    "flips of scenarios by another seed": ("cognitive_biases", "biases.cognitive.averages", "with_sign_flip", (
        lambda right: lambda found, sums, seed, *more: right(found, sums, seed + 1, *more)
    )),
    "one letter more in the tried text": ("verbosity_style", "biases.verbosity.measured", "fitted", (
        lambda right: lambda rows, biases: right(rows.assign(letters_tried=rows["letters_tried"] + 1), biases)
    )),
    "flips of questions by another seed": ("verbosity_style", "biases.protocol", "with_sign_flip", (
        lambda right: lambda found, sums, seed, *more: right(found, sums, seed + 1, *more)
    )),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("slip", SLIPS)
def test_each_slip_of_an_estimator_changes_the_hash(slip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment, module, name, slipped = SLIPS[slip]
    owner = importlib.import_module(f"helpers.{module}")
    before = fingerprint(experiment)
    monkeypatch.setattr(owner, name, slipped(getattr(owner, name)))
    assert fingerprint(experiment) != before


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_the_stored_calibration_is_of_the_present_code(experiment: str) -> None:
    _, facts = stored(experiment)
    assert facts["hash"] == fingerprint(experiment), f"stale: `python -m studies.calibration {experiment}`"


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_the_stored_words_are_what_the_stored_rows_say(experiment: str) -> None:
    rows, facts = stored(experiment)
    assert results.described(rows, facts).items() <= facts.items()
    cases = {case.world: case.words for case in running.cases_of(experiment)}
    assert facts["worlds"] == cases and set(rows["world"]) == set(cases)
    assert [*facts["runs"]] == [*map(str, running.SIZES)]
    assert all(facts["runs"][str(questions)] >= fewest for questions, fewest in FEWEST.items())
    assert facts["spoken"] == program.SPOKEN


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_stored_verdicts_are_those_of_the_present_rule(experiment: str) -> None:
    rows = stored(experiment)[0]
    for row in rows.itertuples():
        rejected = round(row.rejected * row.given) if row.given else 0
        covered = round(row.coverage * row.given) if row.coverage == row.coverage else 0
        bias = row.bias if row.truth == row.truth else math.nan
        level = 0.9 if row.id.endswith("_90") else 0.95
        told = verdict(row.role, row.given, bias, row.mc_se, covered, rejected, level)
        assert told == row.verdict, row


@dataclass(frozen=True)
class Limit:
    """What is known to miss the rule at so many questions, how, by how much at most, where, and why.

    A bias is in standard deviations of one estimate, a size the share of runs in which a test speaks. `places` are
    parts of the column `where`, none for all.
    """

    ids: tuple[str, ...]
    questions: int
    how: str
    most: float
    why: str
    places: tuple[str, ...] = ()


def is_short(experiment: str) -> bool:
    """Whether fewer replications are stored than the command makes: too few to show each known limit again."""
    return stored(experiment)[1]["runs"] != {str(questions): runs for questions, runs in running.SIZES.items()}


LOGIT = "maximum likelihood is biased in small samples; corrections were tried and blew up near flat directions"
TWO = ("vendor=gpt", "vendor=gemini")
LIMITS = {
    "mt_bench_blind": (
        Limit(("self_preference_logit", "self_preference_effect"), 80, "bias", 0.14, LOGIT, TWO),
        Limit(("self_preference_logit",), 20, "bias", 0.3, LOGIT),
        Limit(
            *(("third_party_log_odds",), 400, "size", 0.14),
            "its own population value is not 0 where answers differ by question, which so many questions find",
            TWO[:1],
        ),
    ),
    "cognitive_biases": (
        Limit(("anchor_slope",), 20, "bias", 0.28, "a ratio, given where so few questions determine it"),
    ),
    "quality_self_preference": (
        Limit(
            *(("obfuscation_effect",), 80, "bias", 0.11),
            "a ratio of counts of changed pairs, on a log scale: too far from 0 while the counts are small",
            ("judge=qwen", "judge=deepseek"),
        ),
    ),
}


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_no_stored_number_misses_the_rule_but_for_known_limits(experiment: str) -> None:
    rows, _ = stored(experiment)
    missed = rows[rows["verdict"].str.startswith("misses")]
    told, shown = calibrate.words(experiment).splitlines(), set()
    for row in missed.itertuples():
        how = row.verdict.removeprefix("misses: ")
        # Of fewer replications than the command makes, what two Monte-Carlo errors leave of a bias counts.
        unsure = 2 * row.mc_se if row.runs < running.SIZES[row.questions] else 0.0
        size = row.rejected if how == "size" else (abs(row.bias) - unsure) / row.sd
        what = f"{experiment}, {row.world}, {row.questions} questions: {row.id} {row.where} {row.verdict} by {size:.3f}"
        known = [limit for limit in LIMITS.get(experiment, ()) if row.id in limit.ids]
        known = [limit for limit in known if (limit.questions, limit.how) == (row.questions, how)]
        known = [limit for limit in known if not limit.places or {*limit.places} & {*row.where.split()}]
        assert known and size <= known[0].most, what
        begins = "Limit: " if row.questions == 80 else f"At {row.questions} questions "
        assert any(line.startswith(f"- {begins}") and row.id.replace("_", " ") in line for line in told), (
            f"untold: {what}"
        )
        shown.add((known[0], row.id))
    every = {(limit, id) for limit in LIMITS.get(experiment, ()) for id in limit.ids}
    assert shown == every or is_short(experiment), f"limits that {experiment} no longer has: {every - shown}"


def test_what_is_left_of_the_bias_in_large_samples_is_within_the_errors_of_the_runs() -> None:
    """A bias of small samples is c / n, an error e of the stored truth the same at any n: many questions tell.

    (5 x bias at 400 - bias at 80) / 4 is e alone. Were e nothing, its square in standard errors of the runs would be 1
    on average; the declared errors of the truths make it about 1.25. When all worlds shared one population it was 3.2.
    """
    rows, _ = stored("mt_bench_blind")
    logit = rows[rows["id"].isin(["self_preference_logit", "self_preference_effect"]) & (rows["role"] != "failure")]
    sizes = logit.set_index(["world", "id", "where", "questions"])
    bias, error = sizes["bias"].unstack(), (sizes["sd"] / np.sqrt(sizes["given"])).unstack()
    left = (5 * bias[400] - bias[80]) / 4
    standard = left / (np.hypot(5 * error[400], error[80]) / 4)
    assert len(standard) > 40 and (standard**2).mean() < 2.2


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_no_truth_is_so_rough_that_it_would_hide_a_bias(experiment: str) -> None:
    """`mc_se` holds the error of the truth: of one estimate from 80 questions it is at most a twentieth of the sd."""
    rows, _ = stored(experiment)
    rows = rows[(rows["questions"] == 80) & (rows["role"] != "failure") & (rows["given"] > 1)]
    truth = np.sqrt(np.maximum(rows["mc_se"] ** 2 - rows["sd"] ** 2 / rows["given"], 0))
    assert len(rows) >= 40 and (truth <= rows["sd"] / 20).all()


def test_rates_told_where_a_number_fails_are_those_of_the_stored_rows() -> None:
    rows, _ = stored("mt_bench_blind")
    at = rows[rows["questions"] == 80].set_index(["world", "id", "where"])["rejected"]
    few = rows[(rows["questions"] == 20) & (rows["id"] == "self_preference_logit")]

    def told(world: str, id: str) -> str:
        shares = [f"{100 * at[world, id, f'vendor={vendor}']:.0f}" for vendor in ("claude", "gpt", "gemini")]
        return f"{shares[0]}, {shares[1]} and {shares[2]} %"

    blind, hinting = load_numbers("top_choice").estimands, load_numbers("hinting").estimands
    odds, logit = blind["third_party_log_odds"].fails, blind["self_preference_logit"].fails
    assert told("unequal", "third_party_log_odds") in odds and told("homogeneous", "third_party_log_odds") in odds
    assert told("unequal", "self_preference_logit") in logit
    assert f"up to {100 * (1 - few['given'] / few['runs']).max():.0f} % of runs" in logit
    bias = rows[(rows["questions"] == 80)].set_index(["id", "world", "where"])["bias"]
    truth = rows[(rows["questions"] == 80) & (rows["role"] == "planted")].set_index(["id", "world", "where"])["truth"]
    for vendor, planted in (("gpt", 0.8), ("gemini", 1.2)):
        worlds = ["planted", "siblings", "shared_taste", "lost"]
        left = [truth["self_preference_logit", world, f"vendor={vendor}"] for world in worlds]
        shown = logit.replace("are left in four hostile worlds, of ", "")
        assert f"{planted} {min(left):.2f} to {max(left):.2f}" in shown
    missing = rows[(rows["questions"] == 80) & (rows["role"] != "failure") & (rows["id"] == "self_preference_logit")]
    assert f"up to {missing['bias'].abs().max():.3f} off" in logit
    partial = truth["third_party_log_odds"]["others_biased"]
    assert f"1.0 it shows {partial['vendor=claude']:.2f} and {partial['vendor=gemini']:.2f}" in odds
    moved = bias["third_party_log_odds"].abs().groupby("world").max()
    assert f"by up to {moved['unequal']:.2f}, and by {moved['homogeneous']:.2f} where" in odds
    naive = at[:, "binomial_against_one_third"]
    for id in ("self_bias", "naive_self_preference"):
        assert f"in {100 * naive.min():.0f} to {100 * naive.max():.0f} % of runs" in blind[id].fails
    hints, _ = stored("hinting_groups")
    shown = hints[(hints["questions"] == 80) & (hints["id"] == "hint_effect_90")].set_index("world")["rejected"]
    assert (round(8 * shown["lost"]), round(10 * shown["nothing"])) == (1, 7)
    assert "one of eight where verdicts are lost, seven of ten asked twice" in hinting["hint_effect_90"].fails


#: What keeps the rule by caution in some places: an exact test of few changes, an equivalence with few questions, a sum
#: of squares, whose interval ends at 0 and can lie on one side of it alone.
CAUTIOUS = {
    ("arena_hard_position_bias", "excess_flip", 20),
    ("arena_hard_position_bias", "first_position_effect", 80),
    ("arena_hard_position_bias", "first_position_effect", 20),
    ("hinting_groups", "hint_effect_90", 20),
}
#: What has too little to be told apart by: the least share of runs with an interval at 80 questions. Losses have none
#: in a world that loses nothing.
SELDOM = {
    ("hinting_groups", "loss_change", "nothing"): 0.0,
    ("quality_self_preference", "obfuscation_effect", "judge=deepseek"): 0.45,
    ("quality_self_preference", "obfuscation_against_other_author", "judge=deepseek"): 0.03,
    ("quality_self_preference", "evaluator_quality_gap", "judge=deepseek"): 0.98,
}


@pytest.mark.parametrize("experiment", results.EXPERIMENTS)
def test_no_number_keeps_the_rule_by_saying_less_but_for_those_that_are_known(experiment: str) -> None:
    """An interval that is never given, or as wide as can be, misses nothing."""
    rows, _ = stored(experiment)
    judged = rows[rows["role"] != "failure"]
    wide = judged[judged["verdict"] == "conservative"]
    found = {(experiment, row.id, row.questions) for row in wide.itertuples()}
    cautious = {each for each in CAUTIOUS if each[0] == experiment}
    assert found == cautious or (found < cautious and is_short(experiment))
    shown = set()
    for row in judged[judged["questions"] >= 80].itertuples():
        what = f"{row.world}, {row.questions} questions: {row.id} {row.where} in {row.given} of {row.runs} runs"
        known = {
            each for each in SELDOM if each[:2] == (experiment, row.id) and each[2] in {row.world, *row.where.split()}
        }
        least = min((SELDOM[each] for each in known), default=0.99)
        least = least if row.questions == 80 or not least else 0.99
        full = row.runs >= running.SIZES[row.questions]
        assert (row.given / row.runs if full else exact(row.given, row.runs)[1]) >= least, what
        shown |= known if row.given < 0.99 * row.runs else set()
    assert shown == {each for each in SELDOM if each[0] == experiment}


def example(experiment: str) -> pd.DataFrame:
    names = {"experiment": experiment, "questions": 80, "runs": 2000, "given": 2000, "sd": 0.2, "mc_se": 0.0045}
    rows = [
        {"world": "fair", "id": "self_preference_logit", "where": "vendor=gpt", "role": "null", "truth": 0.0}
        | {"bias": 0.001, "coverage": 0.951, "rejected": 0.049, "verdict": "holds"},
        {"world": "planted", "id": "self_preference_logit", "where": "vendor=gemini", "role": "planted", "truth": 0.7}
        | {"bias": 0.03, "coverage": 0.944, "rejected": 0.97, "verdict": "misses: bias"},
        {"world": "planted", "id": "position_effect", "where": "slot=1", "role": "planted", "truth": 0.02}
        | {"bias": 0.0, "coverage": 0.985, "rejected": 0.2, "verdict": "conservative"},
        {"world": "fair", "id": "binomial_against_one_third", "where": "vendor=gpt", "role": "failure", "truth": 0.0}
        | {"bias": 0.18, "coverage": 0.0, "rejected": 0.999, "verdict": "shown"},
    ]
    few = {**rows[0], "questions": 20, "runs": 500, "given": 430, "coverage": 0.9, "verdict": "misses: coverage"}
    return pd.DataFrame([{**names, **row} for row in [*rows, few]], columns=list(running.COLUMNS))


def facts_of(experiment: str, **more: object) -> dict[str, dict[str, object]]:
    facts = {"hash": "0" * 64, "runs": {"80": 2000, "20": 500}, "spoken": 20, "seconds": 100}
    return {experiment: {**facts, "worlds": {"fair": "nobody prefers its own", "planted": "some do"}, **more}}


def test_words_tell_what_was_tried_what_held_and_each_miss(tmp_path: Path) -> None:
    name = "mt_bench_blind"
    told = calibrate.words(name, tmp_path)
    assert "have not been calibrated" in told and f"python -m studies.calibration {name}" in told
    results.store(example(name), facts_of(name), tmp_path)
    told = calibrate.words(name, tmp_path)
    for words in (
        "SIMULATED judges of known truth in 2 worlds (fair: nobody prefers its own; planted: some do)",
        "2,000 at 80 questions, 500 at 20 questions",
        "1 of 3 numbers hold the rule at 80 questions, 1 more are conservative",
        "Limit: self preference logit (planted Gemini) is biased by up to 0.15 standard deviations of one estimate.",
        "At worst, those that keep it have 4.9 % and 95.1 %. A bias below so many standard deviations of one estimate "
        "can go unseen: 0.08 at 80 questions.",
        "At 20 questions 1 of 1 numbers miss the rule (self preference logit); runs with an interval, at least: "
        "self preference logit 86 %.",
        "they speak, of the runs (5 % would be right): binomial against one third in up to 99.9 % (fair GPT).",
    ):
        assert words in told, told
    few = {**example(name).iloc[-1], "given": 3, "verdict": "too few"}
    none, wide = {**few, "given": 0, "verdict": "no interval"}, {**few, "given": 499, "verdict": "conservative"}
    results.store(pd.DataFrame([*example(name)[:-1].to_dict("records"), few, none, wide]), facts_of(name), tmp_path)
    assert (
        "At 20 questions 0 of 1 numbers miss the rule, 1 are conservative (self preference logit); 1 more have an "
        "interval in fewer than 30 runs, too few to judge; runs with an interval, at least: self preference logit none."
    ) in calibrate.words(name, tmp_path), "what is too few to judge is not told as kept"
    results.store(example(name), facts_of(name), tmp_path)
    line = "in 2 worlds at 80 questions 1 of 3 hold, 1 are conservative, 1 miss (self preference logit)."
    assert f"- *{name}*: {line}" in calibrate.summary(tmp_path).splitlines()
    assert "not calibrated (`python -m studies.calibration hinting_groups`)" in calibrate.summary(tmp_path)
    rows = example(name)
    rows.loc[rows["truth"] == 0.7, "given"] = 1300
    results.store(rows, facts_of(name), tmp_path)
    partly = "At 80 questions some runs give no interval, and all rates are of those that do, at least: self preference"
    assert f"{partly} logit in 65 % (planted)." in calibrate.words(name, tmp_path), "what is selected is said"


@pytest.mark.parametrize("style", EACH_STYLE)
def test_the_figure_of_all_says_simulated_on_its_face_and_nothing_overlaps(style: str) -> None:
    rows = calibrate.stored()[0]
    rows.loc[rows.index[rows["questions"] == 80][0], "verdict"] = "too few"
    figure = show_calibration(rows, style=style)
    faces = [each.get_text() for each in texts(figure)]
    assert faces.count("SIMULATED models") == 1
    assert_readable(figure, styles.style(style))


@pytest.fixture
def drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """No figure is rendered, which takes a second a kind; its bytes still follow its rows."""

    class Drawn:
        name, alt, caption = "calibration", "alt", "caption"

        def __init__(self, rows: pd.DataFrame) -> None:
            self.rows = rows

        def render(self, kind: str) -> bytes:
            return f"{kind}: {len(self.rows)} rows".encode()

    monkeypatch.setattr("helpers.figures.designs.show_calibration", Drawn)


def test_an_experiment_replaces_its_own_results_only(tmp_path: Path, drawn_at_once: None) -> None:
    results.store(example("hinting_groups"), facts_of("hinting_groups"), tmp_path)
    results.store(example("mt_bench_blind"), facts_of("mt_bench_blind"), tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(first) == {f"calibration.{kind}" for kind in ("csv", "json", "md", "png", "pdf", "svg")}
    results.store(example("hinting_groups"), facts_of("hinting_groups"), tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first
    results.store(example("hinting_groups").iloc[:1], facts_of("hinting_groups", seconds=7), tmp_path)
    rows, facts = calibrate.stored(tmp_path)
    assert list(rows["experiment"]) == ["mt_bench_blind"] * 5 + ["hinting_groups"]
    assert list(facts) == ["mt_bench_blind", "hinting_groups"] and facts["hinting_groups"]["seconds"] == 7
    pd.testing.assert_frame_equal(rows.iloc[:5], example("mt_bench_blind"), check_dtype=False)
    assert json.loads((tmp_path / "calibration.json").read_text(encoding="utf-8")) == facts


def test_damaged_facts_are_an_error_that_names_the_file(tmp_path: Path, drawn_at_once: None) -> None:
    results.store(example("hinting_groups"), facts_of("hinting_groups"), tmp_path)
    path = tmp_path / "calibration.json"
    path.write_text('{"hinting_groups": {"hash": "0"}}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"calibration\.json: missing hinting_groups: runs, .*python -m studies"):
        calibrate.stored(tmp_path)
    path.write_text("<<<<<<< HEAD", encoding="utf-8")
    with pytest.raises(ValueError, match=r"calibration\.json: no JSON .*python -m studies.calibration"):
        calibrate.words("hinting_groups", tmp_path)


def test_the_command_shows_a_look_and_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    name, asked = "hinting_groups", []

    def calibrated(experiment: str, sizes: dict[int, int], processes: int, spoken: int, progress: object) -> tuple:
        asked.append((experiment, dict(sizes), processes, spoken))
        return example(experiment), facts_of(experiment)[experiment]

    kept: list[str] = []
    monkeypatch.setattr(program, "measure", calibrated)
    monkeypatch.setattr(results, "store", lambda rows, facts: kept.extend(facts))
    shown = CliRunner().invoke(program.main, [name, "--runs", "3", "--processes", "2"])
    assert shown.exit_code == 0 and "misses: bias" in shown.output and kept == []
    assert asked == [(name, {80: 3, 20: 3, 400: 3}, 2, 1)]
    assert CliRunner().invoke(program.main, [name]).exit_code == 0 and kept == [name]
    assert asked[1] == (name, {80: 2000, 20: 500, 400: 500}, None, 20)


def test_the_program_lets_every_case_speak_first_and_keeps_the_hash_of_what_it_tested(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, steps, spoken = "hinting_groups", [], []
    case = replace(made([(1.0, 0.5, 1.5, 0.5)] * 3, 1.0), experiment=name, words="one world")
    monkeypatch.setattr(running, "cases_of", lambda experiment: (case,))
    monkeypatch.setattr(program, "fingerprint", lambda experiment: f"hash of {experiment}")
    monkeypatch.setattr(speaking, "check", lambda case, questions, times: spoken.append((case.world, questions, times)))
    rows, facts = program.measure(name, {50: 3}, 1, 2, lambda *step: steps.append(step))
    assert spoken == [("w", program.SPOKEN_QUESTIONS, 2)] and steps == [("w, spoken", 0, 5), ("w", 5, 5)]
    assert rows["runs"].tolist() == [3] and facts["hash"] == f"hash of {name}"
    assert (facts["runs"], facts["spoken"], facts["worlds"]) == ({"50": 3}, 2, {"w": "one world"})
    assert {*facts, "words", "summary"} == set(calibrate.FACTS)


def test_an_unknown_experiment_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"no experiment nonsense; there are: mt_bench_blind, "):
        program.chosen(["nonsense"])
    assert program.chosen([]) == results.EXPERIMENTS
    assert program.chosen(["hinting_groups", "mt_bench_blind"]) == ("mt_bench_blind", "hinting_groups")


def test_what_is_of_the_present_code_is_not_due(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = {"mt_bench_blind": {"hash": "mt_bench_blind"}, "hinting_groups": {"hash": "0" * 64}}
    monkeypatch.setattr(program, "fingerprint", lambda experiment: experiment)
    monkeypatch.setattr(calibrate, "stored", lambda: (pd.DataFrame(), facts))
    assert program.due() == results.EXPERIMENTS[1:]
