"""The built-in bias tests: every scenario in every wording, under several seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import pytest

from helpers import paths
from helpers.biases import cognitive
from helpers.biases.cognitive.asked import LETTERS
from helpers.config import load_config
from helpers.datasets.bias_templates import BiasTemplate, MetricLine, load_templates
from helpers.types import Question, Wording

FOLDER = paths.DATA / "cognitive_biases"
SEVEN = {"anchoring", "authority", "bandwagon", "confirmation", "halo", "judge_anchoring", "loss_aversion"}
SEEDS = (0, 7, 42)


@cache
def templates() -> dict[str, tuple[BiasTemplate, MetricLine]]:
    """All that lie in the built-in folder."""
    return load_templates(FOLDER, load_config("cognitive_biases").options["biases"], "config.yaml")


@cache
def questions(seed: int) -> tuple[Question, ...]:
    return cognitive.questions(templates(), seed)


def wordings(*biases: str) -> Iterator[tuple[str, Question, Wording]]:
    """Every wording of every scenario of these biases (all of them where none is named) under every seed."""
    for seed in SEEDS:
        for question in questions(seed):
            for wording in question.wordings if not biases or question.category in biases else ():
                yield f"{question.id} {wording.name} (seed {seed})", question, wording


def inserted(control: str, treatment: str) -> str | None:
    """What the treatment has more than the control, in one piece; None where they differ otherwise."""
    start = next((n for n, (a, b) in enumerate(zip(control, treatment, strict=False)) if a != b), len(control))
    return treatment[start : len(treatment) - len(control) + start] if treatment.endswith(control[start:]) else None


def test_seven_biases_have_at_least_24_scenarios_in_3_wordings() -> None:
    assert set(templates()) >= SEVEN, "a reader may have put others beside them"
    for name in SEVEN:
        template, _ = templates()[name]
        assert len(template.scenarios) >= 24 and len(template.wordings) >= 3, name
    ids = [question.id for question in questions(42)]
    assert len(set(ids)) == len(ids) == sum(len(template.scenarios) for template, _ in templates().values())


def test_every_version_is_whole_and_ends_with_its_question() -> None:
    for where, _, wording in wordings():
        for condition, version in wording.versions.items():
            assert version.text.endswith("?"), (where, condition, version.text)
            assert not re.search(r"[{}]|\bNone\b|  +|\n\n\n| [,.;?]|\ba [aeio]\w", version.text), (where, version.text)
            assert version.text == version.text.strip() and version.text.replace("\n", "").isprintable(), where


def test_scenarios_of_one_bias_are_not_the_same_text_twice() -> None:
    texts = [version.text for question in questions(42) for w in question.wordings for version in w.versions.values()]
    assert len(set(texts)) == len(texts)


def test_options_are_one_line_each_and_cannot_be_taken_for_letters() -> None:
    assert len(set(LETTERS)) == len(LETTERS) == 22 and not set(LETTERS) & set("ABIO01")
    for where, _, wording in wordings():
        for version in wording.versions.values():
            assert len(set(version.options)) == len(version.options) == len(version.values) <= len(LETTERS), where
            assert len(set(version.values)) == len(version.values) or wording.kind == "selection", where
            for text in version.options:
                assert (
                    len(text.splitlines()) == 1 and text == text.strip() and not re.match(r"\W*[A-Za-z](\W*$|\))", text)
                ), where
            # No text names one of the letters under which options are shown.
            named = re.findall(rf"\b([{LETTERS}])\b(?![.'])", version.text)
            assert not named, (where, named)


def test_targets_are_among_the_options_and_the_numbers_shown() -> None:
    for where, question, wording in wordings():
        values = wording.versions["treatment_for" if wording.kind == "selection" else "treatment"].values
        if wording.kind == "selection":
            assert wording.target is None and wording.scale is None, where
            continue
        assert wording.target in values and values == tuple(sorted(values)), where
        if wording.anchor is None:
            assert wording.target in (values[0], values[-1]), where
        else:
            gaps = [abs(value - wording.anchor) for value in values]
            assert values.index(wording.target) == gaps.index(min(gaps)), where
            assert re.search(rf"\b{wording.anchor:g}\b", wording.versions["treatment"].text), where
            assert values[int(wording.scale.x1)] == values[int(wording.scale.x2)] == wording.target, where
        assert (wording.anchor is not None) == (question.category in ("anchoring", "judge_anchoring")), where


@pytest.mark.parametrize("bias", ["anchoring", "judge_anchoring", "authority", "bandwagon"])
def test_the_treatment_is_the_control_with_one_piece_more(bias: str) -> None:
    shown = 0
    for where, _, wording in wordings(bias):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        piece = inserted(control, treatment)
        assert piece is not None and 10 < len(piece) < 200, (where, control, treatment)
        if bias in ("authority", "bandwagon"):
            side = wording.facts["pick" if bias == "authority" else "crowd"]
            # The end meant is the one of the answer named: options of A come first.
            assert wording.target == (0.0 if side == "A" else 6.0) and re.search(rf"answer {side}\b", piece, re.I), (
                where
            )
            assert not re.search(rf"answer {'B' if side == 'A' else 'A'}\b", piece, re.I), where
        if bias == "bandwagon":
            assert f"{wording.facts['share']} %" in piece and wording.facts["share"] > 50, where
        shown += 1
    assert shown >= 24 * 3 * len(SEEDS)


def test_of_the_halo_only_the_sentence_of_the_impression_is_another() -> None:
    template, _ = templates()["halo"]
    fields = {f"halo_{scenario['id']}": scenario for scenario in template.scenarios}
    for where, question, wording in wordings("halo"):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        scenario, impression = fields[question.id], wording.facts["impression"]
        said, other = scenario[impression], scenario["bad" if impression == "good" else "good"]
        assert control.count(scenario["neutral"]) == 1 and treatment.count(said) == 1 and other not in treatment, where
        assert control.replace(scenario["neutral"], said) == treatment, where
        assert wording.target == (6.0 if impression == "good" else 0.0), where


def test_selections_tell_the_decision_and_its_two_treatments_differ_in_that_word() -> None:
    for where, _, wording in wordings("confirmation"):
        told = {side: wording.versions[f"treatment_{side}"] for side in ("for", "against")}
        words = [told[side].text.split() for side in ("for", "against")]
        differing = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
        assert differing == [("for", "against")], where
        control = wording.versions["control"]
        assert all(inserted(control.text, version.text) for version in told.values()), where
        assert control.options == told["for"].options == told["against"].options, where
        assert sum(control.values) == 0 and set(control.values) == {-1.0, 1.0} and len(control.values) in (6, 8, 10), (
            where
        )
        assert not any(argument in version.text for version in told.values() for argument in version.options), where


def test_arguments_for_and_against_are_about_equally_long() -> None:
    sides: dict[float, list[int]] = {1.0: [], -1.0: []}
    for question in questions(42):
        if question.category == "confirmation":
            version = question.wordings[0].versions["control"]
            for text, value in zip(version.options, version.values, strict=True):
                sides[value].append(len(text.split()))
    means = [sum(lengths) / len(lengths) for lengths in sides.values()]
    assert abs(means[0] - means[1]) < 1 and max(map(max, sides.values())) <= 14


def test_control_and_treatment_of_a_gamble_end_in_the_same_outcomes() -> None:
    """A loss of the stake out of nothing, and nothing gained where the stake was certain, are the same ends."""
    seen = set()
    for seed in range(40):
        for question in (q for q in questions(seed) if q.category == "loss_aversion"):
            for wording in question.wordings:
                stake, ratio = (wording.facts[name] for name in ("stake", "ratio"))
                control, treatment = (
                    sorted({int(n) for n in re.findall(r"\b\d+\b", wording.versions[name].text)})
                    for name in ("control", "treatment")
                )
                assert stake == control[0] and len(treatment) == len(control) == 2, question.id
                (gain,) = {*treatment} - {stake}
                # Keep what you have, win or lose against the stake for sure, stake and gain, or nothing.
                assert sorted({0 + stake, gain + stake, -stake + stake} - {0}) == control, (question.id, stake, ratio)
                assert gain * 20 == stake * round(20 * ratio), "the ratio of what is shown is the one drawn, exactly"
                assert wording.target == 0.0 and wording.versions["treatment"].values == (0.0, 1.0)
                seen.add((stake, ratio))
    draws = templates()["loss_aversion"][0].draws
    assert seen == {(s, r) for s in draws["stake"].choose for r in draws["ratio"].choose} and len(seen) == 25


def test_the_options_that_count_to_ten_count_what_they_show() -> None:
    for _, _, wording in wordings("judge_anchoring"):
        control = wording.versions["control"]
        assert control.options == tuple(f"{n}/10" for n in range(11)) and control.values == tuple(range(11))


def test_another_scenario_or_seed_moves_only_what_is_drawn_for_it() -> None:
    one, other = ({q.id: q for q in questions(seed)} for seed in (7, 42))
    assert one.keys() == other.keys()
    drawn = [(a.facts, b.facts) for id in one for a, b in zip(one[id].wordings, other[id].wordings, strict=True)]
    assert sum(a != b for a, b in drawn if a) > len([1 for a, _ in drawn if a]) / 3
    for id in one:
        for a, b in zip(one[id].wordings, other[id].wordings, strict=True):
            same = a.versions[next(iter(a.versions))].text == b.versions[next(iter(b.versions))].text
            assert same or one[id].category == "loss_aversion", "a control shows nothing that is drawn"
