"""The worlds that experiment 5 is calibrated in: are their truths true, and does the long way notice what is wrong?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.biases.cognitive import asked
from helpers.types import Version
from helpers.words.numbers import load_numbers
from studies.calibration.experiments import cognitive_biases
from studies.calibration.experiments.cognitive_biases import CASES, WORLDS, draw
from studies.calibration.worlds.decisions import MEAN, frame, truths
from tests.stats.test_cognitive_simulations import _each, defined

KEY = ["category", "judge", "condition", "repeat", "question_id", "wording"]
SAID = [*KEY, "order", "choice", "value", "pro", "con", "target", "anchor", "ratio", "partner", "options", "values"]
PARTS = [(world, bias) for world, (_, biases) in WORLDS.items() for bias in biases]


def differing(case, told) -> int:
    """How many replies the two ways do not share."""
    both = [each.sort_values(KEY).reset_index(drop=True) for each in (case.frame(told), case.spoken(told))]
    assert len(both[0]) == len(both[1])
    same = np.ones(len(both[0]), dtype=bool)
    for name in SAID:
        one, two = (each[name].astype(object) for each in both)
        same &= ((one == two) | (one.isna() & two.isna())).to_numpy(dtype=bool)
    return int((~(same & ((both[0]["outcome"] == "ok") == (both[1]["outcome"] == "ok")))).sum())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.world)
def test_what_is_said_and_read_is_what_was_drawn(case) -> None:
    told = case.draw(6, np.random.default_rng([81, len(case.world)]))
    assert differing(case, told) == 0


def test_the_long_way_notices_a_prompt_that_shows_the_wrong_side(monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[1]
    told = case.draw(6, np.random.default_rng(82))
    right = asked.shown_order
    with monkeypatch.context() as patched:  # letters that stand for other options than the trial says
        patched.setattr(asked.prompts, "late", _swapped_letters(asked.prompts.late))
        assert differing(case, told) > 50
    with monkeypatch.context() as patched:  # another order than the one drawn
        patched.setattr(asked, "shown_order", lambda *at: right(*at[:-1], at[-1] + "x"))
        assert differing(case, told) > 50
    question = cognitive_biases.question
    with monkeypatch.context() as patched:  # a treatment that reads as another case's
        patched.setattr(cognitive_biases, "question", lambda *at: _unmarked(question(*at)))
        assert differing(case, told) > 50


def _swapped_letters(late):
    def swapped(template, **given):
        lines = given["options"].split("\n")
        first, last = lines[0].split(") ", 1), lines[-1].split(") ", 1)
        lines[0], lines[-1] = f"{first[0]}) {last[1]}", f"{last[0]}) {first[1]}"
        return late(template, **given | {"options": "\n".join(lines)})

    return swapped


def _unmarked(question):
    """Every version says what the control says."""
    wordings = []
    for wording in question.wordings:
        control = wording.versions["control"]
        same = {
            name: version if name == "decision" else Version(control.text, version.options, version.values)
            for name, version in wording.versions.items()
        }
        wordings.append(replace(wording, versions=same))
    return replace(question, wordings=tuple(wordings))


@pytest.mark.parametrize(("world", "bias"), PARTS, ids=lambda each: getattr(each, "name", each))
def test_truths_are_the_estimands_as_they_are_written_down(world: str, bias) -> None:
    """Here on a table of pairs, by definitions of the tests' own: what the estimators make of it does not enter."""
    sample = bias.drawn(np.random.default_rng(83), 150)
    found = truths(lambda rng, size: sample, 0, chunks=2, size=1)
    by_hand = {who: defined(rows) for who, rows in _each(frame(sample).assign(category=bias.name))}
    for who, known in by_hand.items():
        for id in set(known.index) & {id for id, _ in found}:
            assert found[id, who][0] == pytest.approx(known[id], rel=1e-6, abs=1e-9), (id, who)
            assert found[id, who][1] == pytest.approx(0.0, abs=1e-12)
    for id in {id for id, _ in found}:
        mean = np.mean([found[id, who][0] for who in by_hand])
        assert found[id, MEAN][0] == pytest.approx(mean)


def test_every_headline_number_has_a_null_and_a_planted_target() -> None:
    roles = {}
    for case in CASES:
        for target in case.targets():
            roles.setdefault(target.id, set()).add(target.role)
    for id in load_numbers("cognitive").headline:
        assert "null" in roles[id]
        assert "planted" in roles[id] or id == "bias_placebo"  # of which nothing can be planted
    assert {id for id, role in roles.items() if role == {"failure"}} == {
        *("anchoring_agnostic_published", "anchoring_specific_published", "halo_effect_published"),
        *("confirmation_bias_published", "anchor_slope_plain"),
    }


def test_the_same_chance_gives_the_same_sample_and_another_another() -> None:
    biases = WORLDS["pulled"][1]
    one, same, other = (draw(biases, 12, np.random.default_rng(seed)) for seed in (84, 84, 85))
    assert CASES[1].frame(one).equals(CASES[1].frame(same)) and not CASES[1].frame(one).equals(CASES[1].frame(other))
