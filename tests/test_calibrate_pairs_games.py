"""The worlds in which experiments 3 and 4 are calibrated: spoken as drawn, and true as told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from helpers.biases import position
from helpers.biases.position import both_orders, measured
from helpers.biases.self_preference import items as self_preference_items, measured as self_preference_measured
from helpers.biases.self_preference.items import items
from helpers.providers import simulated
from helpers.words.numbers import load_numbers
from studies.calibration.cases import ROLES, Case, Target
from studies.calibration.experiments import arena_hard_position_bias as arena, quality_self_preference as quality
from studies.calibration.worlds import games, pairs
from studies.calibration.worlds.games import CANDIDATE
from studies.calibration.worlds.pairs import NAMES, REPEAT, drawn
from tests.runs import one

CASES = [*quality.CASES, *arena.CASES]
#: What a frame tells of how it was made; all else must agree.
UNSAID = ("picked", "verdict", "score")


def rows_of(frame: pd.DataFrame) -> Counter:
    """Every row as text; what a lost verdict would have been, and why it was lost, counts nowhere."""
    lost = frame["outcome"].astype(str) != "ok"
    told = frame.assign(outcome=np.where(lost, "lost", "ok")).astype(object)
    for name in {*UNSAID} & {*frame}:
        told[name] = told[name].where(~lost, "")
    return Counter(map(tuple, told.fillna("").map(str).itertuples(index=False)))


@pytest.fixture(autouse=True)
def small_populations(monkeypatch: pytest.MonkeyPatch) -> None:
    """What targets there are is known without their exact truths."""
    monkeypatch.setattr(pairs, "BATCH", 500)
    monkeypatch.setattr(games, "NET", 2**9)
    monkeypatch.setattr(arena, "truths", games.truths.__wrapped__)


def targets(case: Case) -> Sequence[Target]:
    """The targets of a case on the small populations, kept nowhere."""
    return case.targets.func.__wrapped__(case.world)  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.experiment}-{case.world}")
def test_what_judges_say_to_prompts_is_what_was_drawn_for_them(case: Case) -> None:
    sample = case.draw(3 if case.experiment == quality.NAME else 8, np.random.default_rng([51, 1]))
    direct, spoken = case.frame(sample), case.spoken(sample)
    assert list(direct) == list(spoken) and len(direct) == len(spoken) > 90
    assert rows_of(direct) == rows_of(spoken)


@pytest.mark.parametrize("world", ["losses", "recognised"])
def test_a_swapped_reply_is_noticed(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: judges that take answer 1 for 2 say something else."""
    (case,) = (each for each in quality.CASES if each.world == world)
    sample = case.draw(2, np.random.default_rng([51, 2]))
    read = simulated.read_prompt

    def swapped(prompt: str) -> simulated.Shown:
        shown = read(prompt)
        return shown._replace(labels=[{"1": "2", "2": "1"}.get(label, label) for label in shown.labels])

    monkeypatch.setattr(simulated, "read_prompt", swapped)
    assert rows_of(case.frame(sample)) != rows_of(case.spoken(sample))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.experiment}-{case.world}")
def test_every_target_is_measured_and_every_sample_is_the_same_again(case: Case) -> None:
    frames = [case.frame(case.draw(24, np.random.default_rng([51, 3]))) for _ in range(2)]
    pd.testing.assert_frame_equal(*frames)
    places = Counter((each.id, *sorted(each.where.items())) for each in case.measure(frames[0], 1))
    for target in targets(case):
        assert target.role in ROLES and places[(target.id, *sorted(target.where.items()))] == 1, target


@pytest.mark.parametrize(
    ("cases", "module", "never_null"),
    [(quality.CASES, "self_preference", {"accuracy_harmful"}), (arena.CASES, "position", set())],
)
def test_each_headline_number_is_tried_where_nothing_and_where_something_is_planted(
    cases: Sequence[Case], module: str, never_null: set[str]
) -> None:
    roles = {(target.id, target.role) for case in cases for target in targets(case)}
    for id in load_numbers(module).headline:
        assert (id, "planted") in roles and ((id, "null") in roles or id in never_null), id


def test_the_truths_of_pairs_are_what_estimators_find_in_many_articles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two ways to one number: sums of chances, and the estimators on verdicts of 6,000 articles."""
    world = quality.WORLDS["recognised"].pairs
    made = drawn(world, np.random.default_rng([51, 4]), (quality.BEFORE, REPEAT, quality.EDIT), 6_000, 1, (REPEAT,))
    table = items(pairs.frame(made))
    found = [
        *self_preference_measured.obfuscation_effect(table, "d", 1, parts=False),
        *self_preference_measured.against_other_author(table, "d"),
        *self_preference_measured.evaluator_quality_gap(table, "d", 1, (self_preference_measured.PRIMARY,)),
        *self_preference_measured.recognition_balanced(table, "d"),
        *self_preference_items.accuracies(table, "d", ("accuracy_harmful",)),
    ]
    monkeypatch.setattr(pairs, "BATCH", 5_000)
    known = pairs.truths(world, quality.EDIT)
    for (id, judge), (value, error) in known.items():
        each = one(found, id, judge=judge, **quality.PLACES[id])
        assert abs(each.value - value) < 4.5 * np.hypot(each.se, error), f"{id} of {judge}: {each.value} for {value}"
    assert {judge for _, judge in known} == set(NAMES) and len(known) == 4 * 6


def test_the_truths_of_games_are_what_estimators_find_in_many_questions() -> None:
    for world, judge in (("places", "unequal"), ("losses", "primed"), ("style", "wordy_primed")):
        at = arena.WORLDS[world]
        frame = games.frame(games.sample(at.world, 8_000, np.random.default_rng([51, 5])))
        frame = frame[frame["judge"] == judge]
        table = position.pairs(frame)
        found = [each for each in both_orders.signed_rates(table, "d") if each.id == "first_win_rate"]
        found += both_orders.first_position_effect(table, "d", 1)
        found += [*measured.excess_flip(table, "d", 1), *measured.control_arms(table, "d", 1)]
        if world != "losses":  # there win rates are biased, and the truth is that of no losses
            found += measured.win_rate(table, "d", games.features(frame))
        known = games.truths.__wrapped__(at.world, judge)
        for each in found:
            value, error = known[(each.id, *(each.where[key] for key in ("style", "weight") if key in each.where))]
            assert abs(each.value - value) < 4.5 * np.hypot(each.se, error), f"{each.id} {each.where} in {world}"


def test_no_place_is_favoured_by_fair_judges() -> None:
    """Exactly 0, whatever is lost: the truth of a null target is no estimate."""
    for world in ("fair", "losses", "twins"):
        for judge in arena.WORLDS[world].world.judges:
            if not (judge.primacy or judge.letter or judge.wobble):
                known = games.truths.__wrapped__(arena.WORLDS[world].world, judge.name)
                for id, nothing in (("first_position_effect", 0), ("first_win_rate", 0.5), ("excess_flip", 0)):
                    assert known[id,][0] == pytest.approx(nothing, abs=1e-12), f"{id} of {judge.name} in {world}"


def test_styles_counted_in_texts_are_those_that_were_drawn() -> None:
    marks = np.array([[0, 0, 0], [3, 2, 1]])
    words = np.array([7, 41])
    texts = [games.text(n, CANDIDATE, words[n], marks[n]) for n in range(2)]
    from helpers.datasets import style_of

    counted = [list(style_of(text).values()) for text in texts]
    assert games.style(words, marks).tolist() == counted
