"""Simulated readers: biases that were put in show in replies to the experiment's own prompts, and no others do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import exp, sqrt
from statistics import NormalDist
from typing import Any

import pandas as pd
import pytest
from scipy.stats import binom

from helpers import frames, verdicts
from helpers.biases.self_preference import asked as self_preference_asked
from helpers.providers import simulated
from helpers.providers.simulated import STYLE, SYNONYMS, WORD, styled
from helpers.types import Answer, Completion, Experiment, Judgment, Model, Question, Trial
from tests.runs import settled

#: Eleven words of the table, all plain ones: passage, shows, plan, suggests, reason, mentions, problem, describes,
#: scene, explains, purpose.
PLAIN = (
    "The passage shows the plan and suggests the reason; its teller mentions the problem, describes the scene and "
    "explains the purpose."
)
WORDS = 11
#: Nothing but the noise of a reply: each test plants its own bias on top.
FAIR = {"sharpness": 0.0, "self_preference": 0.0, "recognition": 0.0, "fluency": 0.0, "primacy": (), "taste": 0.0}


def expit(u: float) -> float:
    """How often one of two answers is picked that is felt to be better by u, with Gumbel noise on both."""
    return 1 / (1 + exp(-u))


def expected(hits: float, count: int, share: float) -> bool:
    """Whether so many of `count` replies lie within the 99.9 % that a planted share allows."""
    low, high = binom.interval(0.999, count, share)
    return low <= hits <= high


def questions(count: int) -> tuple[Question, ...]:
    return tuple(
        Question(
            f"tower_q{n}",
            "reading",
            f"Why did the keeper leave on day {n}?",
            tuple(f"{PLAIN} Part {letter}." for letter in "ABCD"),
            place=n,
            article=f"tower_{n}",
            passage="The keeper left the tower at night.",
            options=("He was ill", "He was paid", "He was afraid", "He was bored"),
            gold="ABCD"[n % 4],
        )
        for n in range(count)
    )


QUESTIONS = questions(300)
KNOWN = {"\n".join([q.text, *(f"{x}) {o}" for x, o in zip("ABCD", q.options, strict=True))]): q for q in QUESTIONS}


def reader(vendor: str = "llama", structured: bool = True, **traits: Any) -> Model:
    planted = {**FAIR, **traits}
    return Model("reader", "simulated", "sim-reader", vendor, traits=planted, structured=structured, knowledge=KNOWN)


@cache
def default() -> Experiment:
    return settled("quality_self_preference", repeats=1, targets=["wrong"], doses=[2, 8])


def experiment(judge: Model) -> Experiment:
    editor = replace(judge, name="editor", model_id="sim-editor", traits={})
    return replace(default(), judges=(judge,), candidates=(judge,), extra=default().extra | {"editor": editor})


def pair(question: Question, wrong: str, right: str, author: str = "reader") -> dict[tuple[str, str], Answer]:
    """A wrong answer of `author` and a right one of somebody else."""
    other = "ABCD"[("ABCD".index(question.gold or "") + 1) % 4]
    found = (
        Answer(question.id, author, "llama", "", wrong, label=other),
        Answer(question.id, "else", "qwen", "", right, label=question.gold),
    )
    return {(answer.question_id, answer.candidate): answer for answer in found}


def reply(trial: Trial) -> Judgment:
    text, finish = simulated.reply(trial.request)
    return verdicts.read(trial, Completion(trial.request.key, "ok", text, finish, model=trial.judge.model_id))


def judged(
    judge: Model,
    wrong: str = styled(PLAIN, "llama"),
    right: str = styled(PLAIN, "qwen"),
    author: str = "reader",
    edited: Mapping[tuple[str, str], self_preference_asked.Edited] | None = None,
    asked: Sequence[Question] = QUESTIONS,
) -> pd.DataFrame:
    """The pair frame of a judge that is asked about all questions in both orders, by the experiment's own prompts."""
    answers = {key: answer for question in asked for key, answer in pair(question, wrong, right, author).items()}
    none = {key: self_preference_asked.Edited({2: None, 8: None}) for key in answers}
    trials = self_preference_asked.judge_trials(experiment(judge), asked, answers, edited or none)
    frame = frames.pairwise([reply(trial) for trial in trials], answers)
    assert set(frame["outcome"]) == {"ok"} and set(frame["judge"]) == {"reader"}
    return frame


def votes(frame: pd.DataFrame, task: str = "correct", condition: str = "none", of: str = "wrong") -> tuple[int, int]:
    """How often the wrong answer (or the one with `of`) was picked, of how many."""
    rows = frame[(frame["task"] == task) & (frame["condition"] == condition)]
    return int((rows["picked"] == of).sum()), len(rows)


# --- judging ----------------------------------------------------------------------------------------------------------


def test_planted_self_preference_is_found_and_none_where_it_is_none() -> None:
    for planted in (0.0, 1.0):
        hits, count = votes(judged(reader(self_preference=planted)))
        assert count == 600 and expected(hits, count, expit(planted)), planted
        assert expected(hits, count, 0.5) == (planted == 0.0)


def test_self_preference_is_for_words_of_the_own_vendor_alone() -> None:
    swapped = judged(reader(self_preference=1.0), styled(PLAIN, "qwen"), styled(PLAIN, "llama"))
    assert expected(*votes(swapped), expit(-1.0)), "it goes with the words, wherever they stand"
    strangers = judged(reader(self_preference=1.0), styled(PLAIN, "gemini"), author="another")
    assert expected(*votes(strangers), 0.5)


def test_self_preference_competes_with_what_the_judge_believes() -> None:
    # So skilled a judge always believes the gold option, which its own answer has not.
    for sharpness, planted in ((1.0, 0.0), (1.0, 2.0), (2.0, 0.0)):
        hits, count = votes(judged(reader(skill=20.0, sharpness=sharpness, self_preference=planted)))
        assert expected(hits, count, expit(planted - simulated.FIXED.CONVICTION * sharpness)), (sharpness, planted)


def test_skill_moves_how_often_the_gold_option_is_believed() -> None:
    for skill in (-1.0, 0.0, 1.5):
        # A question's difficulty is normal with sd 0.7: on average over questions a probit with sd sqrt(1 + 0.7^2).
        share = NormalDist().cdf(skill / sqrt(1 + 0.7**2))
        believed = [simulated.belief(reader(), asked, skill) for asked in KNOWN]
        gold = ["ABCD".index(question.gold or "") for question in QUESTIONS]
        right = sum(one == other for one, other in zip(believed, gold, strict=True))
        assert expected(right, len(gold), share), skill
        # A judge that is certain picks the right answer where it believes it, the wrong one where it believes that, and
        # either where it believes neither option of the two.
        frame = judged(reader(skill=skill, sharpness=50.0), author="another")
        both = frame.groupby("question_id")["picked"].agg(set)
        for question, one, other in zip(QUESTIONS, believed, gold, strict=True):
            picked = both[question.id]
            assert one != other or picked == {"right"}
            assert one != (other + 1) % 4 or picked == {"wrong"}


def test_wrong_readers_share_traps_and_who_knows_nothing_guesses() -> None:
    (asked, question), *_ = KNOWN.items()
    many = [replace(reader(), model_id=f"sim-{n}") for n in range(1000)]
    wrong = Counter(simulated.belief(model, asked, -20.0) for model in many)
    assert "ABCD".index(question.gold or "") not in wrong
    assert expected(max(wrong.values()), 1000, 0.6) and expected(min(wrong.values()), 1000, 0.2)
    guessed = Counter(simulated.belief(replace(model, knowledge={}), asked, 20.0) for model in many)
    assert all(expected(guessed[letter], 1000, 0.25) for letter in range(4))


def test_fluency_makes_mixed_texts_lose() -> None:
    # Of four words two are of another style: half of the text is not of its prevailing style.
    mixed, pure = "It portrays the excerpt and reveals the ground.", "It portrays the excerpt and indicates the motive."
    for fluency in (0.0, 3.0):
        frame = judged(reader("mistral", fluency=fluency), mixed, pure, author="another")
        hits, count = votes(frame)
        assert expected(hits, count, expit(-0.5 * fluency)), fluency
        assert expected(hits, count, 0.5) == (fluency == 0.0)
    assert expected(*votes(judged(reader("mistral", fluency=3.0), author="another")), 0.5), "no text is mixed"


def test_primacy_moves_the_first_place_whatever_is_asked() -> None:
    for primacy in ((), (1.0, 0.0), (0.0, 1.0)):
        frame = judged(reader(primacy=primacy))
        for task, rows in frame.groupby("task"):
            first = int((rows["picked"] == rows["first"]).sum())
            assert expected(first, len(rows), expit(primacy[0] - primacy[1] if primacy else 0.0)), (primacy, task)


# --- recognition ------------------------------------------------------------------------------------------------------


def test_recognition_is_driven_by_recognition_alone_and_drives_no_verdict() -> None:
    seeing = judged(reader(recognition=2.0, fluency=3.0, skill=20.0))
    assert expected(*votes(seeing, "wrote"), expit(2.0)) and expected(*votes(seeing), 0.5)
    blind = judged(reader(self_preference=2.0, sharpness=3.0, skill=20.0))
    assert expected(*votes(blind, "wrote"), 0.5)


def test_recognition_falls_with_the_words_that_were_replaced() -> None:
    judge = reader(recognition=2.0)
    made = edited()
    frame = judged(judge, edited=made)
    shares = []
    for condition, dose in (("none", 0), ("wrong_2", 2), ("wrong_8", 8)):
        hits, count = votes(frame, "wrote", condition)
        assert count == 600 and expected(hits, count, expit(2.0 * (WORDS - dose) / WORDS)), condition
        shares.append(hits / count)
    assert shares[0] > shares[1] > shares[2] > 0.5
    unseeing = judged(reader(), edited=made, asked=QUESTIONS[:100])
    for condition in ("none", "wrong_2", "wrong_8"):
        assert expected(*votes(unseeing, "wrote", condition), 0.5), condition


# --- answering and editing --------------------------------------------------------------------------------------------


@cache
def edited() -> dict[tuple[str, str], self_preference_asked.Edited]:
    """What the simulated editor makes of a reader's own wrong answers."""
    answers = {
        key: answer
        for question in QUESTIONS
        for key, answer in pair(question, styled(PLAIN, "llama"), styled(PLAIN, "qwen")).items()
    }
    asked = experiment(reader())
    said = {trial.request.key: reply(trial) for trial in self_preference_asked.edit_trials(asked, QUESTIONS, answers)}
    return self_preference_asked.edits(asked, QUESTIONS, answers, said)


def test_the_editor_replaces_as_many_words_as_it_is_told_each_by_a_synonym() -> None:
    made = edited()
    assert len(made) == len(QUESTIONS) and {key[1] for key in made} == {"reader"}
    before = WORD.findall(styled(PLAIN, "llama").lower())
    orders = set()
    for edit in made.values():
        for dose in (2, 8):
            after = WORD.findall((edit.words[dose] or "").lower())
            changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
            assert len(changed) == dose and all(new in SYNONYMS[old] for old, new in changed)
        orders.add(edit.changed[:2])
    assert len(orders) > 50, "which words are replaced is drawn anew for each answer"


@pytest.mark.parametrize("structured", [True, False])
def test_a_reader_answers_what_it_believes_in_the_words_of_its_vendor(structured: bool) -> None:
    judge, some = reader(skill=0.3, structured=structured), QUESTIONS[:60]
    asked = experiment(judge)
    said = {trial.request.key: reply(trial) for trial in self_preference_asked.answer_trials(asked, some)}
    given = self_preference_asked.answers(asked, some, said)
    believed = {known.id: simulated.belief(judge, text, 0.3) for text, known in KNOWN.items()}
    assert len(given) == 60 and {answer.outcome for answer in given.values()} == {"ok"}
    for (id, _), answer in given.items():
        assert answer.label == "ABCD"[believed[id]]
        assert answer.text == f"{styled(PLAIN, 'llama')} {styled(f'Part {answer.label}.', 'llama')}"
    # The judge holds the same beliefs as the author: certain of them, it always picks its own answer.
    certain = replace(judge, traits={**judge.traits, "sharpness": 50.0})
    wrong = [question for question in some if given[question.id, "reader"].label == "ABCD"[(question.place + 1) % 4]]
    assert len(wrong) > 5 and votes(judged(certain, asked=wrong)) == (2 * len(wrong), 2 * len(wrong))


def test_prompts_of_other_kinds_are_left_to_others() -> None:
    trial = self_preference_asked.answer_trials(experiment(reader()), QUESTIONS[:1])[0]
    assert '"choice"' in simulated.reply(trial.request)[0]
    for prompt in ("Why did the keeper leave?", "Passage:\nThe keeper left.", "<<<QUESTION 5eed0001>>>\nWhy?\nx"):
        other = replace(trial.request, source=prompt, shared="")
        assert simulated.reply(other) == (simulated.answer_reply(other), "stop")


def test_every_vendor_of_a_style_has_one_of_the_four_columns() -> None:
    assert {STYLE.get(vendor, 0) for vendor in (*STYLE, "elsewhere")} == {0, 1, 2, 3}
