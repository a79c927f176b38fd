"""Lost verdicts: what they could do to an effect, whether conditions lose unequally, and judges without any."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest

from helpers import frames, run
from helpers.biases import hinting
from helpers.biases.hinting import paired
from helpers.biases.losses import loss_change, loss_words
from helpers.run import asking
from helpers.run.asking import bias_of
from helpers.stats.intervals import Interval, estimate
from helpers.stats.standing import standing
from helpers.types import Judgment
from helpers.words import p_text
from studies.calibration.worlds import rankings
from studies.calibration.worlds.listwise import WORLDS
from studies.calibration.worlds.rankings import Arm
from tests.golden.build import ASKED
from tests.rule import assert_within
from tests.runs import full_run, settled


def sample(seed: int, *arms: Arm, questions: int = 12, **world: float) -> pd.DataFrame:
    judges = replace(WORLDS["partial"], **world)
    return rankings.frame(rankings.draw(judges, questions, np.random.default_rng(seed), (Arm(), *arms)))


def test_bounds_are_the_extremes_over_all_ways_to_fill_in_what_was_lost() -> None:
    frame = sample(3, Arm("self"), lost=0.03)
    votes = {}
    for row in frame.itertuples():
        key = row.question_id, row.judge, row.judge_vendor, row.condition
        votes[key] = votes.get(key, 0.0) + (row.own_vendor if row.top == 1.0 else np.nan if row.top != row.top else 0.0)
    lost = [key for key, own in votes.items() if own != own]
    assert 0 < len(lost) <= 12, "few enough to try all"
    values = []
    for fill in product((0.0, 1.0), repeat=len(lost)):
        whole = votes | dict(zip(lost, fill, strict=True))
        of: dict[str, list[float]] = {}
        for (question, judge, vendor, condition), own in whole.items():
            if condition == "self":
                of.setdefault(vendor, []).append(own - whole[question, judge, vendor, "none"])
        values.append(np.mean([np.mean(each) for each in of.values()]))
    found = {e.where["bound"]: e for e in paired.hint_bounds(frame, "d") if e.where["vendor"] == "average"}
    assert found["low"].value == pytest.approx(min(values)) and found["high"].value == pytest.approx(max(values))
    hinted = sum(key[3] == "self" for key in lost)
    assert f"{hinted} under the hint, {len(lost) - hinted} blind" in found["low"].method


def test_a_bound_is_told_only_where_it_changes_the_conclusion() -> None:
    frame = sample(1, Arm("self", lost_own=0.15), questions=80)
    told = hinting.finding(hinting.measure(frame, "d", 1, 5.0), 5.0)
    effect = next(e for e in paired.hint_effect(frame, "d", 1, 5.0) if e.where["vendor"] == "average")
    lost = int(frames.one_row_each(frame)["outcome"].ne("ok").sum())
    assert effect.high < 0 and "**lowers own-vendor" in told
    assert f"if all of the {lost} verdicts lost under it were for the own vendor, the change would be" in told
    assert "none of the" not in told, "that all were against it changes nothing"
    assert "Careful: more verdicts are lost under *self*" in told and "against 0.0 %, Holm p" in told

    clean = hinting.finding(hinting.measure(sample(1, Arm("self")), "d", 1, 5.0), 5.0)
    assert "were for the own vendor" not in clean and "Careful" not in clean


@pytest.mark.parametrize(("column", "value"), [("task", "correct"), ("games", 2)])
def test_losses_of_pairs_are_compared_on_the_same_texts(column: str, value: object) -> None:
    rows = [
        {"question_id": f"q{q}", "judge": judge, "condition": condition, "repeat": 0, "first": first, column: value}
        | {"outcome": "refused" if condition == "edited" and q < 9 and first == "right" else "ok"}
        for q, judge, condition, first in product(range(12), "jk", ("none", "edited"), ("right", "wrong"))
    ]
    (found,) = loss_change(pd.DataFrame(rows), "d", 1)
    # Of 12 questions 9 change, all to one side: 2 of 2^9 sign patterns; lost are half of these questions' verdicts.
    assert found.where == {"condition": "edited"} and found.value == pytest.approx(9 / 24)
    assert found.p == pytest.approx(2 / 2**9)
    assert loss_words([found]).startswith("Careful: more verdicts are lost under *edited* (37.5 % against 0.0 %, Holm")
    assert loss_change(pd.DataFrame([row for row in rows if row["condition"] == "none"]), "d", 1) == []


@pytest.mark.slow
def test_what_was_taken_off_real_verdicts_is_counted_in_their_row() -> None:
    """A simulated judge wraps nothing; here three replies of one judge come in fences, as a real one sends them."""
    asked, found = full_run(), []
    assert not any("unwrapped" in name for name in run.losses(asked))
    chosen = [each for each in asked.judgments if each.outcome == "ok" and each.trial.judge.name == "sim_gpt_fast"][:3]
    for each in asked.judgments:
        if any(each is one for one in chosen):
            judge = replace(each.trial.judge, provider="openai")
            reply = replace(each.completion, text=f"```\n{each.completion.text}\n```")
            each = replace(each, trial=replace(each.trial, judge=judge), completion=reply)
        found.append(each)
    table = run.losses(replace(asked, judgments=tuple(found)))
    counts = table.groupby(level="judge")["unwrapped: fence"].sum()
    assert counts["sim_gpt_fast"] == 3 == counts.sum()


@pytest.mark.slow
def test_unequal_losses_are_found_and_equal_ones_are_not() -> None:
    runs = 100
    alarms = warned = held = wrong = 0
    for seed in range(runs):
        frame = sample(seed, Arm("self", lost_own=0.15), questions=80)
        effect = next(e for e in paired.hint_effect(frame, "d", seed, 5.0) if e.where["vendor"] == "average")
        low, high = (e for e in paired.hint_bounds(frame, "d") if e.where["vendor"] == "average")
        alarm, warning = effect.p < 0.05, bool(loss_words(loss_change(frame, "d", seed)))
        alarms, warned = alarms + alarm, warned + (alarm and warning)
        held += low.low <= 0 <= high.high
        equal = sample(seed, Arm("self"), Arm("full"), questions=80, lost=0.03, lost_own=0.1)
        wrong += bool(loss_words(loss_change(equal, "d", seed)))
    assert alarms > 5, "losses alone look like an effect"
    assert_within(warned, alarms, 0.9, 1.0, "alarms that the losses explain")
    assert_within(held, runs, 0.93, 1.0, "bounds that hold the truth")
    assert_within(wrong, runs, 0.0, 0.07, "equal losses called unequal")


@pytest.mark.parametrize("name", ASKED)
def test_judges_without_a_readable_verdict_are_a_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = asking.judged

    async def unreadable(*given: object) -> tuple[list[Judgment], object]:
        judgments, found = await judged(*given)
        return [replace(each, outcome="unparsed", verdict=None) for each in judgments], found

    monkeypatch.setattr(asking, "judged", unreadable)
    asked = asyncio.run(run.ask(settled(name, question_limit=6), show=False))
    bias, more = bias_of(asked.experiment), [5.0] if name == "hinting_groups" else []
    estimates = bias.measure(asked.frame, asked.data, 1, *more)
    n = len(frames.one_row_each(asked.frame))
    told = f"none of the {n:,} replies had a readable verdict"
    assert f"**Cannot tell**: {told}." in run.provenance(asked)
    bias.finding(estimates, *more)
    (row,) = run.summary(asked, [], estimates)["rows"]
    assert row["sentence"] == f"SIMULATED: cannot tell: {told}." and row["unreadable"] == 1.0


def test_what_cannot_be_told_is_said_once_of_the_largest_part() -> None:
    outcomes = {("a", "none"): "unparsed", ("a", "self"): "refused", ("b", "none"): "ok", ("b", "self"): "empty"}
    rows = [
        {"question_id": q, "judge": judge, "condition": condition, "outcome": outcome, "games": 2}
        for (judge, condition), outcome in outcomes.items()
        for q in range(3)
    ]
    told = frames.unreadable_words(frames.losses(pd.DataFrame(rows)))
    assert told == (
        "**Cannot tell**: none of the 6 replies of a had a readable verdict; none of the 3 replies under self had a "
        "readable verdict."
    )
    missing = pd.DataFrame([row | {"outcome": "missing"} for row in rows])
    assert frames.unreadable_words(frames.losses(missing)) == "", "who did not answer was not unreadable"
    with pytest.raises(ValueError, match="nothing to measure: 12 missing; judgments='ask'"):
        frames.require_result(missing, False, "no pair")


def test_intervals_stay_where_their_number_can_be() -> None:
    wide = Interval(0.02, -1.3, 1.2, 0.6, 20, 20, "t", 0.9)
    assert [(e.low, e.high) for e in (estimate("x", {}, wide, "d", unit) for unit in ("rate", "pp", "alpha"))] == [
        (0.0, 1.0),
        (-1.0, 1.0),
        (-1.0, 1.0),
    ]
    assert estimate("x", {}, wide, "d", "logit").low == -1.3
    below = estimate("excess_flip", {}, replace(wide, value=-0.2, high=-0.1, p=1.0), "d", "pp", (0.0, 1.0))
    assert (below.low, below.high) == (0.0, 0.0) and standing(below, below.p) == "not shown"


def test_a_small_p_is_printed_as_a_bound() -> None:
    assert [p_text(p) for p in (0.0, 1 / 20_001, 9.9e-5)] == ["< 0.0001"] * 3
    assert [p_text(p) for p in (0.0001, 0.00034, 0.05, 1.0)] == ["= 0.0001", "= 0.00034", "= 0.05", "= 1"]
    assert p_text(0.0006, floor=True) == "\u2264 0.0006"
