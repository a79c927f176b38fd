"""How simulated models answer bias tests: the documented formulas, computed here once more."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

import pytest

from helpers import verdicts
from helpers.biases.cognitive import asked as cognitive_asked
from helpers.providers import simulated
from helpers.types import Completion, Model, Question, Request, Trial
from tests.bias_folders import ENDS, EVERY, GAMBLE, SCALE, SELECTION, built
from tests.runs import settled

NORMAL = NormalDist()
#: More draws are slower, fewer are blind: a share has a standard error of at most 0.8 points.
DRAWS = 4000
#: Standard errors beyond which a test fails: once in 16,000 comparisons.
FAR = 4.0


def standard_normal(*parts: str) -> float:
    """The normal number that a text stands for, from the words of the documents: by the first 8 bytes of its sha256."""
    digest = hashlib.sha256("\x1f".join(parts).encode()).digest()
    return NORMAL.inv_cdf((int.from_bytes(digest[:8], "big") + 0.5) / 2**64)


def trials_of(questions: tuple[Question, ...], traits: Mapping[str, Any], **how: Any) -> list[Trial]:
    """Each version once, as experiment 5 asks it, put to a model with these traits."""
    asked = settled("cognitive_biases", repeats=1, judges=["sim_gpt_decider"])
    judge = replace(asked.judges[0], traits=dict(traits), **how)
    asked = replace(asked, judges=(judge,))
    first = cognitive_asked.trials("deciding", asked, questions, {})
    decided = {t.request.key: verdicts.read(t, Completion(t.request.key, "ok", told(t), "stop")) for t in first}
    return cognitive_asked.trials("judging", asked, questions, decided)


def told(trial: Trial, natural: int = 1) -> str:
    label = trial.labels[trial.shown.index(str(natural))]
    if trial.request.schema is None:
        return f"VERDICT-{trial.nonce}: {label}"
    return json.dumps({"id": trial.nonce, "choice": label})


def repeated(trial: Trial, draws: int = DRAWS) -> list[tuple[str, Any]]:
    """Outcome and verdict of so many repeats of one request."""
    found = []
    for repeat in range(draws):
        text, finish = simulated.reply(replace(trial.request, repeat=repeat))
        judgment = verdicts.read(trial, Completion("", "ok", text, finish))
        found.append((judgment.outcome, judgment.verdict))
    return found


def chosen(trial: Trial, draws: int = DRAWS) -> list[int]:
    """The natural options that were taken."""
    picks = [verdict.choice for _, verdict in repeated(trial, draws) if verdict]
    return [int(trial.shown[trial.labels.index(pick)]) for pick in picks]


def agrees(counts: Mapping[int, int], chances: Mapping[int, float]) -> None:
    total = sum(counts.values())
    assert math.isclose(sum(chances.values()), 1.0, abs_tol=1e-9)
    for option, chance in chances.items():
        error = math.sqrt(max(chance * (1 - chance), 1e-4) / total)
        assert abs(counts.get(option, 0) / total - chance) < FAR * error, (option, counts, chances)


def only(trials: list[Trial], condition: str, **where: Any) -> Trial:
    (found,) = (t for t in trials if t.condition == condition and all(getattr(t, k) == v for k, v in where.items()))
    return found


@pytest.fixture
def one(tmp_path: Path) -> Callable[..., tuple[Question, ...]]:
    """The questions of the first scenario and wording of a template."""

    def build(template: Mapping[str, Any], line: Mapping[str, Any], count: int = 1, name: str = "own") -> Any:
        scenarios = (
            template["scenarios"][:1]
            if count == 1
            else [{**template["scenarios"][0], "id": f"s{n}", "group": f"g{n}"} for n in range(count)]
        )
        return built(
            tmp_path, {**template, "scenarios": scenarios, "wordings": template["wordings"][:1]}, line, name=name
        )

    return build


# A scale.


def scale_chances(honest: float, felt: float, noise: float, options: list[float]) -> dict[int, float]:
    """The chance of each option: a normal number around what is felt, cut half-way between neighbours."""
    middles = [(a + b) / 2 for a, b in pairwise(options)]
    below = [0.0, *(NormalDist(felt, noise).cdf(middle) for middle in middles), 1.0]
    return {n: below[n + 1] - below[n] for n in range(len(options))}


@pytest.mark.parametrize(("strength", "noise"), [(0.0, 0.1), (1.0, 0.05), (0.6, 0.3), (-0.5, 0.1)])
def test_a_scale_is_answered_as_far_towards_the_target_as_the_strength_says(
    one: Any, strength: float, noise: float
) -> None:
    questions = one(changed_anchor(90), {"target": "anchor"})
    trials = trials_of(questions, {"biases": {"own": strength}, "answer_noise": noise})
    model = trials[0].judge.model_id
    # Honest answers are uniform over the middle 70 % of the scale.
    honest = 100 * (0.15 + 0.7 * NORMAL.cdf(standard_normal("honest", model, questions[0].id)))
    options = [float(n) for n in range(0, 101, 10)]
    for condition, pulled in (("control", honest), ("treatment", honest + strength * (90 - honest))):
        counts = Counter(chosen(only(trials, condition)))
        agrees(counts, scale_chances(honest, pulled, 100 * noise, options))


def changed_anchor(number: int) -> dict[str, Any]:
    return {**SCALE, "draws": {"anchor": {"from": number, "to": number}}}


def test_honest_answers_are_spread_over_the_middle_and_shared_by_all_versions(one: Any) -> None:
    questions = one(changed_anchor(10), {"target": "anchor"}, count=1000)
    trials = trials_of(questions, {"biases": {"own": 0.5}, "answer_noise": 0.0})
    values: dict[str, dict[str, float]] = {"control": {}, "treatment": {}}
    for trial in trials:
        (natural,) = chosen(trial, 1)
        values[trial.condition][trial.question_id] = 10.0 * natural
    control, treatment = ([*values[name].values()] for name in ("control", "treatment"))
    # Uniform over 15 to 85, then the nearest ten: mean 50, sd 20.2 (and at most 2.9 of rounding).
    assert min(control) == 20 and max(control) == 80 and abs(fmean(control) - 50) < FAR * 20.5 / math.sqrt(1000)
    # Half way to 10: (50 + 10) / 2.
    assert abs(fmean(treatment) - 30) < FAR * 10.6 / math.sqrt(1000)
    # Without noise every scenario is moved by half its own way, up to the rounding of both.
    for id, value in values["control"].items():
        assert abs(values["treatment"][id] - (value + 10) / 2) <= 7.5 + 1e-9


def test_a_model_without_the_bias_answers_control_and_treatment_alike(one: Any) -> None:
    trials = trials_of(one(*EVERY["pull"]), {"biases": {"another": 0.9}, "answer_noise": 0.15})
    control, treatment = (Counter(chosen(only(trials, name))) for name in ("control", "treatment"))
    for option in {*control, *treatment}:
        share = (control[option] + treatment[option]) / (2 * DRAWS)
        error = math.sqrt(2 * share * (1 - share) / DRAWS)
        assert abs(control[option] - treatment[option]) / DRAWS < FAR * error + 1e-12, (control, treatment)


def test_words_pull_to_their_ends(one: Any) -> None:
    line = EVERY["ends"][1]
    questions = one(ENDS, line, count=20)
    trials = trials_of(questions, {"biases": {"own": 1.0}, "answer_noise": 0.0})
    seen = set()
    for trial in (t for t in trials if t.condition == "treatment"):
        mood = trial.wording.facts["mood"]
        assert chosen(trial, 1) == [2 if mood == "sunny" else 0]
        seen.add(mood)
    assert seen == {"sunny", "grim"}


# A gamble.


@pytest.mark.parametrize(("strength", "noise", "ratio"), [(0.0, 0.1, 1.5), (0.8, 0.1, 2), (0.8, 0.25, 1.05)])
def test_a_gamble_is_accepted_by_a_logistic_law_of_the_log_ratio(
    one: Any, strength: float, noise: float, ratio: float
) -> None:
    template = {**GAMBLE, "draws": {"stake": {"choose": [20]}, "ratio": {"choose": [ratio]}}}
    questions = one(template, {"target": "low"})
    trials = trials_of(questions, {"biases": {"own": strength}, "answer_noise": noise})
    own = 0.1 + 0.2 * standard_normal("liking", trials[0].judge.model_id, questions[0].id)
    for condition, loss in (("control", 0.0), ("treatment", strength)):
        felt = (math.log(ratio) - own - loss) / (4 * noise)
        accept = 1 / (1 + math.exp(-felt))
        agrees(Counter(chosen(only(trials, condition))), {0: 1 - accept, 1: accept})


# Arguments.


@pytest.mark.parametrize("strength", [0.0, 1.2])
def test_arguments_are_taken_by_merit_and_by_the_side_decided_for(one: Any, strength: float) -> None:
    questions = one(SELECTION, {"target": "decided"})
    trials = trials_of(questions, {"biases": {"own": strength}, "answer_noise": 0.5})
    merit = standard_normal("merit", trials[0].judge.model_id, questions[0].id)
    for condition in ("control", "treatment"):
        trial = only(trials, condition)
        version = trial.wording.versions[trial.where["version"]]
        taken: Counter[int] = Counter()
        for _, verdict in repeated(trial):
            taken.update(int(trial.shown[trial.labels.index(label)]) for label in verdict.choices)
        for natural, side in enumerate(version.values):
            # What was decided for is told by the test itself: "for".
            pulled = strength if condition == "treatment" and side == 1 else 0.0
            chance = 1 / (1 + math.exp(-(0.6 * merit * side + pulled)))
            error = math.sqrt(chance * (1 - chance) / DRAWS)
            assert abs(taken[natural] / DRAWS - chance) < FAR * error, (condition, natural)
    decision = Counter(chosen(only(trials, "decision")))
    agrees(decision, {1: NORMAL.cdf(merit / 0.5), 0: NORMAL.cdf(-merit / 0.5)})


def test_told_against_the_same_strength_pulls_to_the_other_side(one: Any) -> None:
    questions = one(SELECTION, {"target": "decided"})
    asked = settled("cognitive_biases", repeats=1, judges=["sim_gpt_decider"])
    judge = replace(asked.judges[0], traits={"biases": {"own": 50.0}, "answer_noise": 0.1})
    asked = replace(asked, judges=(judge,))
    first = cognitive_asked.trials("deciding", asked, questions, {})
    for natural, side in ((0, -1.0), (1, 1.0)):
        said = {t.request.key: verdicts.read(t, Completion("", "ok", told(t, natural), "stop")) for t in first}
        trial = only(cognitive_asked.trials("judging", asked, questions, said), "treatment")
        values = trial.wording.versions[trial.where["version"]].values
        own = {label for label, n in zip(trial.labels, trial.shown, strict=True) if values[int(n)] == side}
        assert all(own <= set(verdict.choices) for _, verdict in repeated(trial, 200))


# Habits that are no bias of these kinds.


def test_the_first_option_is_taken_as_often_as_the_trait_says(one: Any) -> None:
    questions = one(changed_anchor(90), {"target": "anchor"})
    habits = {"biases": {"own": 0.4}, "answer_noise": 0.0, "first_option": 0.3}
    for condition in ("control", "treatment"):
        trial = only(trials_of(questions, habits), condition)
        first, counts = int(trial.shown[0]), Counter(chosen(trial))
        (rest,) = set(counts) - {first} or {first}
        assert rest != first, "the answer itself is another option here"
        agrees(counts, {first: 0.3, rest: 0.7})


@pytest.mark.parametrize("structured", [True, False])
def test_unreadable_replies_come_as_often_as_said_and_are_counted_apart(one: Any, structured: bool) -> None:
    trial = only(trials_of(one(*EVERY["pull"]), {"unreadable": 0.25, "biases": {}}, structured=structured), "control")
    counts = Counter(outcome for outcome, _ in repeated(trial))
    assert abs(1 - counts["ok"] / DRAWS - 0.25) < FAR * math.sqrt(0.25 * 0.75 / DRAWS)
    # Five ways, equally often.
    for outcome in ("unparsed", "no_option", "two_options", "truncated", "refused"):
        assert abs(counts[outcome] / DRAWS - 0.05) < FAR * math.sqrt(0.05 * 0.95 / DRAWS), counts
    assert sum(counts.values()) == DRAWS and len(counts) == 6
    several = only(trials_of(one(*EVERY["sides"]), {"unreadable": 1.0}, structured=structured), "control")
    assert set(outcome for outcome, _ in repeated(several, 200)) == {"unparsed", "truncated", "refused"}


def test_text_and_json_hold_the_same_kind_of_decisions(one: Any) -> None:
    questions = one(*EVERY["pull"])
    counts = []
    for structured in (True, False):
        trials = trials_of(questions, {"biases": {"own": 0.5}}, structured=structured)
        counts.append(Counter(chosen(only(trials, "treatment"))))
    for option in {*counts[0], *counts[1]}:
        share = (counts[0][option] + counts[1][option]) / (2 * DRAWS)
        error = math.sqrt(2 * share * (1 - share) / DRAWS)
        assert abs(counts[0][option] - counts[1][option]) / DRAWS < FAR * error


# What it knows.


def test_texts_that_it_does_not_know_pull_nowhere(one: Any) -> None:
    questions = one(changed_anchor(90), {"target": "anchor"})
    trials = trials_of(questions, {"biases": {"own": 1.0, "": 1.0}, "answer_noise": 0.0})
    known = only(trials, "treatment")
    assert set(chosen(known, 50)) == {9}
    # The published tests, say: 300 texts of nobody's, with the same number in them.
    found = []
    for n in range(300):
        prompt = known.request.prompt.replace("What share", f"In town {n}, what share")
        stranger = replace(known, request=replace(known.request, source=prompt))
        assert stranger.request.pull is None and "pull" not in stranger.request.revision
        found += chosen(stranger, 1)
    # By nothing but order: 11 options, the middle 70 % of them, mean about 5 with a standard error of 0.12.
    assert len(set(found)) >= 6 and abs(fmean(found) - 5) < 1.0


def test_the_reply_hangs_on_the_request_alone(one: Any) -> None:
    trials = trials_of(one(*EVERY["pull"]), {"biases": {"own": 0.5}, "unreadable": 0.1})
    for trial in trials:
        first = simulated.reply(trial.request)
        assert simulated.reply(trial.request) == first
        renamed = replace(trial.request, model=replace(trial.judge, name="another_name", tier="x", price=None))
        assert renamed.key == trial.request.key and simulated.reply(renamed) == first
    assert len({simulated.reply(replace(trials[0].request, repeat=n))[0] for n in range(50)}) > 2


def keys(questions: tuple[Question, ...], traits: Mapping[str, Any]) -> dict[str, str]:
    return {t.condition: t.request.key for t in trials_of(questions, traits)}


def test_keys_change_with_the_strength_and_the_metric_line_and_with_nothing_else(one: Any) -> None:
    high, low = one(SCALE, {"target": "high"}), one(SCALE, {"target": "low"})
    told_, scaled = one(SCALE, {"target": "anchor"}), one(SCALE, {"target": "high", "scale": {"k": 1}})
    traits = {"biases": {"own": 0.3}, "answer_noise": 0.1}
    before = keys(high, traits)
    assert keys(high, dict(traits)) == before
    for other in ({"biases": {"own": 0.4}}, {"answer_noise": 0.2}, {"biases": {"own": 0.3, "else": 0.1}}):
        after = keys(high, traits | other)
        assert all(after[name] != before[name] for name in before)
    for questions in (low, told_):
        after = keys(questions, traits)
        assert after["treatment"] != before["treatment"] and after["control"] == before["control"]
    assert keys(scaled, traits) == before, "the published metric is computed afterwards; no model knows of it"


def test_a_real_model_has_the_key_of_what_it_sees(one: Any) -> None:
    real = {"provider": "openai", "model_id": "gpt-x"}
    (high, low) = (trials_of(one(SCALE, {"target": end}), {}, **real) for end in ("high", "low"))
    assert [t.request.key for t in high] == [t.request.key for t in low]
    assert all(t.request.revision is None and not t.judge.pulls for t in high)


def test_the_design_tells_the_simulator_where_versions_pull(one: Any) -> None:
    (question,) = one(*EVERY["sides"])
    known = cognitive_asked.pulls_of([question])
    found = {condition: known[version.text] for condition, version in question.wordings[0].versions.items()}
    assert {c: (p.kind, p.treated, p.side, p.target) for c, p in found.items()} == {
        "decision": ("decision", False, 0, None),
        "control": ("selection", False, 0, None),
        "treatment_for": ("selection", True, 1, None),
        "treatment_against": ("selection", True, -1, None),
    }
    (gamble,) = one(*EVERY["gamble"])
    ratio = gamble.wordings[0].facts["ratio"]
    assert {p.ratio for p in cognitive_asked.pulls_of([gamble]).values()} == {ratio}


def test_traits_are_checked_by_name() -> None:
    for traits, told_ in (
        ({"biases": 0.5}, "biases = 0.5: must be numbers by bias"),
        ({"biases": {"halo": "much"}}, "must be numbers by bias"),
        ({"first_option": True}, "first_option = True: must be a number"),
        ({"answer_nois": 1}, "unknown traits answer_nois; valid: .*answer_noise"),
    ):
        with pytest.raises(ValueError, match=told_):
            simulated.reply(
                Request(
                    Model("m", "simulated", "m", "gpt", traits=traits),
                    "<<<SITUATION 00000000>>>\nx\n<<<END SITUATION 00000000>>>",
                )
            )
