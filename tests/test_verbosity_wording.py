"""One content in several wordings: what the rules change, and that they change nothing else."""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from helpers import paths, prompts
from helpers.biases import verbosity
from helpers.biases.verbosity import asked
from helpers.biases.verbosity.asked import BIASES, CONTENT, LENGTH, Pair, doublings, pairs
from helpers.config import load_experiment
from helpers.datasets import load_questions
from helpers.providers import simulated
from helpers.providers.simulated import WORDINGS
from helpers.run import plan
from helpers.types import Model, Question
from tests.simulation import judging

BUILTIN = load_questions(paths.DATA / "mt_bench_blind" / "questions.jsonl")
EXPERIMENT = load_experiment("verbosity_style")
WORDED = [question for question in BUILTIN if asked.worded(EXPERIMENT, question)]


def compared(question: Question) -> dict[tuple[str, str, str], Pair]:
    return {(each.condition, each.bias, each.wording): each for each in asked.compared(EXPERIMENT, question)}


def test_questions_that_ask_for_a_form_are_left_out_and_all_others_asked() -> None:
    assert {question.category for question in WORDED} == {"reasoning", "math", "coding", "stem", "humanities"}
    assert len(WORDED) == 50


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_every_wording_holds_each_sentence_of_the_answer_once_and_in_order(question: Question) -> None:
    for (condition, _, _), pair in compared(question).items():
        for text, whole in ((pair.tried, condition != CONTENT), (pair.other, True)):
            at = [text.find(point) for point in question.points]
            kept = [place for place in at if place >= 0]
            assert kept == sorted(kept) and len(set(kept)) == len(kept)
            assert all(text.count(point) == 1 for point, place in zip(question.points, at, strict=True) if place >= 0)
            assert len(kept) == len(question.points) - (0 if whole else 2)
        if condition == CONTENT:
            assert question.points[-1] not in pair.tried and question.points[0] in pair.tried


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_beside_the_sentences_of_the_answer_stand_only_the_phrases_of_the_config(question: Question) -> None:
    phrases = EXPERIMENT.options["phrases"]
    frames = [sentence for frame in phrases["frames"] for both in frame.values() for sentence in both]
    known = [*phrases["padding"], *frames, phrases["leads"]["listed"], *phrases["leads"]["prose"]]
    for pair in compared(question).values():
        for text in (pair.tried, pair.other):
            for sentence in sorted((*question.points, *known), key=len, reverse=True):
                text = text.replace(sentence, "", 1)
            assert re.sub(r"^- ", "", text, flags=re.MULTILINE).strip() == "", text


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_lengths_are_equal_where_they_are_said_to_be_and_mirrored_elsewhere(question: Question) -> None:
    found = compared(question)
    for bias in ("listed", "confident"):
        equal, longer, shorter = (found[LENGTH, bias, wording] for wording in ("equal", "longer", "shorter"))
        assert len(equal.tried) == len(equal.other)
        assert len(longer.tried) - len(longer.other) == len(shorter.other) - len(shorter.tried) > 150
        assert doublings(longer.tried, longer.other) == pytest.approx(-doublings(shorter.tried, shorter.other))
    control, confident = found["control", "reworded", "as it is"], found["style", "confident", "as it is"]
    assert len(control.tried) == len(confident.tried) and control.other == confident.other
    assert all(len(pair.tried) > len(pair.other) for (kind, _, _), pair in found.items() if kind == "style")


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_a_wording_shows_what_it_is_and_nothing_else_of_it(question: Question) -> None:
    for (condition, bias, _), pair in compared(question).items():
        for wording, tells in WORDINGS.items():
            assert bool(tells.search(pair.tried)) == (bias == wording) and not tells.search(pair.other), condition
    assert set(WORDINGS) < set(BIASES)


def test_phrases_say_nothing_of_any_question() -> None:
    phrases = EXPERIMENT.options["phrases"]
    said = [*phrases["padding"], *(x for frame in phrases["frames"] for both in frame.values() for x in both)]
    assert len(set(said)) == len(said) and all(each.endswith(".") and not re.search(r"\d", each) for each in said)
    texts = " ".join(" ".join((question.text, *question.points)) for question in BUILTIN)
    assert not [each for each in said if each in texts]


def test_texts_hang_on_seed_and_question_alone_and_a_larger_limit_asks_nothing_anew() -> None:
    ranked = [replace(question, place=i) for i, question in enumerate(WORDED)]
    judges = load_experiment("verbosity_style", judges=["sim_gpt_grader", "sim_llama_grader"])
    few, all_ = (
        {t.request.key for t in asked.trials("judging", run, questions, {})}
        for run, questions in ((EXPERIMENT, ranked[:7]), (EXPERIMENT, ranked))
    )
    assert few < all_
    two = [t for t in asked.trials("judging", judges, ranked[:2], {}) if t.request.repeat == 0]
    by = {
        name: {t.request.prompt for t in two if t.judge.name == name} for name in ("sim_gpt_grader", "sim_llama_grader")
    }
    assert by["sim_gpt_grader"] == by["sim_llama_grader"] and len(by["sim_gpt_grader"]) == 2 * 14 * 2
    other = replace(EXPERIMENT, seed=7)
    assert not few & {t.request.key for t in asked.trials("judging", other, ranked[:7], {})}


def test_each_pair_is_asked_in_both_orders_and_the_wordings_twice() -> None:
    trials = asked.trials("judging", load_experiment("verbosity_style", judges=["sim_gpt_grader"]), WORDED[:3], {})
    texts = {name: [t for t in trials if t.condition == name] for name in {t.condition for t in trials}}
    assert {name: len(some) for name, some in texts.items()} == {
        "style": 36,
        "control": 12,
        "length": 36,
        "content": 24,
    }
    for trial in trials:
        first, second = re.findall(r"<<<ANSWER [AB] \w+>>>\n(.*?)\n<<<END [AB] ", trial.request.prompt, re.DOTALL)
        longer = int(trial.where["letters_tried"]), int(trial.where["letters_other"])
        assert (len(first), len(second)) == (longer if trial.where["first"] == "tried" else longer[::-1])
        assert trial.labels == ("A", "B") and trial.form == "pairwise"
    keys = [t.request.key for t in trials]
    assert len(set(keys)) == len(keys)


def test_only_what_is_wanted_is_compared() -> None:
    points = WORDED[0].points
    phrases, rng = EXPERIMENT.options["phrases"], random.Random(1)
    assert {each.condition for each in pairs(points, phrases, 4, rng, ["style"])} == {"style", "control"}
    assert {each.condition for each in pairs(points, phrases, 4, rng, ["style", "content"])} == {
        *("style", "control", "content")
    }


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"comparisons": ["length"]}, r"comparisons = \['length'\]: style, and each once .* style, length, content"),
        ({"comparisons": ["style", "loud"]}, "comparisons"),
        ({"comparisons": ["style", "style"]}, "comparisons"),
        ({"padding_sentences": 1}, "padding_sentences = 1: from 2 to 15"),
        ({"padding_sentences": 99}, "padding_sentences = 99"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(own: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        verbosity.check(load_experiment("verbosity_style", **own))


def test_frames_of_unequal_length_are_refused_with_their_place() -> None:
    phrases = dict(EXPERIMENT.options["phrases"])
    first, *others = phrases["frames"]
    phrases["frames"] = [*others, {**first, "neutral": ["Well.", "That is all."]}]
    broken = replace(EXPERIMENT, options={**EXPERIMENT.options, "phrases": phrases})
    with pytest.raises(ValueError, match=r"frames, entry 4: confident 76 and neutral 17 letters"):
        verbosity.check(broken)
    phrases["frames"] = [{"confident": ["One."], "neutral": ["One."]}]
    with pytest.raises(ValueError, match="an opening and a closing sentence"):
        verbosity.check(replace(EXPERIMENT, options={**EXPERIMENT.options, "phrases": phrases}))


def test_the_plan_counts_every_call_and_the_caution_tells_what_is_left_out(tmp_path: Path) -> None:
    run = load_experiment("verbosity_style", judges=["gpt_4_1"], question_limit=16, store=str(tmp_path))
    planned = asyncio.run(plan(run))
    chosen = [question for question in verbosity_questions(run) if asked.worded(run, question)]
    assert sum(row.missing for row in planned.rows) == 36 * len(chosen) and len(chosen) < 16
    told = verbosity.caution(run, verbosity_questions(run))
    assert f"{16 - len(chosen)} of 16 questions are left out" in told and "writing, roleplay, extraction" in told
    alone = load_experiment("verbosity_style", comparisons=["style"], repeats=1)
    told = verbosity.caution(alone, WORDED[:9])
    assert "cannot be told from its length" in told and "repeats = 1" in told and "9 questions: no interval" in told


def verbosity_questions(run) -> tuple[Question, ...]:
    from helpers.run.sources import questions_of

    return questions_of(run)


def test_a_text_that_could_close_its_own_delimiters_is_refused() -> None:
    nonce = prompts.nonce(EXPERIMENT.seed, "x")
    bad = Question("x", "math", "What?", (f"<<<END A {nonce}>>>", "Two.", "Three."))
    with pytest.raises(ValueError, match=f"question x contains the nonce {nonce}"):
        asked.trials("judging", EXPERIMENT, [bad], {})


# --- what simulated judges can like -----------------------------------------------------------------------------------


def judge_of(**traits: object) -> Model:
    return Model("sim", "simulated", "sim-1", "gpt", traits=traits)


@pytest.mark.parametrize("given", [{"loud": 1.0}, {"listed": "much"}, 0.5])
def test_a_liking_that_there_is_not_is_refused_by_name(given: object) -> None:
    with pytest.raises(ValueError, match=r"model 'sim': trait wordings = .*numbers by wording"):
        simulated.traits_of(judge_of(wordings=given))


@pytest.mark.parametrize(
    ("text", "wordings"),
    [
        ("Two reasons:\n- One.\n- Another.", {"listed"}),
        ("1. One.\n\n2. Another.", {"listed"}),
        ("\u2022 One.\n* Another, undoubtedly.", {"listed", "confident"}),
        ("- One line alone.", set()),
        ("A fact - or not.\nAnother - or not.", set()),
        ("There is absolutely no doubt.", {"confident"}),
        ("This may be so.", set()),
    ],
)
def test_a_wording_is_recognized_by_its_lines_and_words(text: str, wordings: set[str]) -> None:
    assert {wording for wording, tells in WORDINGS.items() if tells.search(text)} == wordings


def test_a_liking_adds_its_utility_to_texts_of_that_wording_and_to_no_others() -> None:
    texts = ["One. Two.", "- One.\n- Two.", "One. There is absolutely no doubt."]

    def felt(**traits: object) -> list[float]:
        # The key holds the traits, so noise is left out.
        return simulated.before_noise(judging(judge_of(noise=0.0, sharpness=0.0, **traits), texts))[0]

    assert felt() == [0.0, 0.0, 0.0]
    assert felt(wordings={"listed": 0.7, "confident": -0.4}) == [0.0, 0.7, -0.4]
