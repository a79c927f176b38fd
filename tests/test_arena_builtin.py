"""The built-in questions for the position-bias experiment and its prompts: their form, and what they rely on."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from helpers.config import builtin_knowledge
from helpers.datasets import load_questions
from helpers.paths import DATA, EXPERIMENTS
from helpers.prompts import check_nonce, load, nonce, render, schema
from helpers.types import PAIRWISE
from helpers.verdicts import parse
from tests.arena import (
    LINES,
    PATH,
    QUESTIONS,
    assert_blind,
    assert_distinct,
    assert_not_given_away,
    assert_well_formed,
    words,
)
from tests.hostile import corpus

CATEGORIES = ("coding", "math", "creative_writing")
OTHERS = [json.loads(line) for line in (DATA / "mt_bench_blind" / "questions.jsonl").read_text("utf-8").splitlines()]
PROMPTS = EXPERIMENTS / "arena_hard_position_bias" / "prompts"
NONCE = "7f3a91ce"
each_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
each_judge = pytest.mark.parametrize("name", ["judge_hard.txt", "judge_creative.txt"])
each_mode = pytest.mark.parametrize("structured", [True, False])


# The questions.


def test_ninety_questions_in_order():
    """Three categories of thirty; coding and math together are the hard prompts."""
    expected = [f"{category}_{number:02d}" for category in CATEGORIES for number in range(1, 31)]
    assert [json.loads(line)["id"] for line in LINES] == expected
    assert all(question["category"] == name[:-3] for name, question in QUESTIONS.items())


def test_the_loader_and_simulated_models_know_them_all():
    """By text, since some ids (coding_01, math_01) are also those of questions of another experiment."""
    loaded = {question.id: question for question in load_questions(PATH)}
    known = builtin_knowledge()
    assert list(loaded) == list(QUESTIONS)
    for name, row in QUESTIONS.items():
        assert loaded[name].points == tuple(row["points"]) == known[row["text"]].points


def test_texts_and_points_are_distinct():
    """Neither here nor in the questions of the blind experiment."""
    assert_distinct([*QUESTIONS.values(), *OTHERS])


@each_question
def test_a_question_is_well_formed_read_quickly_blind_and_without_its_nonce(question: dict):
    assert_well_formed(question)
    assert_not_given_away(question, QUESTIONS.values())
    assert_blind(question)
    assert 10 <= len(question["text"].split()) <= 100
    check_nonce(nonce(42, question["id"]), {"the question": " ".join([question["text"], *question["points"]])})


# The pieces that keep a condition which can be checked.


def answer(number: int) -> list[str]:
    """The sentences of the possible answer to a request for creative writing."""
    return QUESTIONS[f"creative_writing_{number:02d}"]["points"]


@pytest.mark.parametrize(
    ("number", "pattern"),
    [(2, r"love|heart|light|tide"), (13, r"baby|birth|born|child|mother|father"), (20, r"god|magic"), (21, r"\d")],
)
def test_forbidden_words_are_avoided(number: int, pattern: str):
    assert re.findall(rf"\b(?:{pattern})", " ".join(answer(number)), re.IGNORECASE) == []


@pytest.mark.parametrize("number", [4, 11, 15, 18, 22, 26, 29, 30])
def test_six_sentences_where_the_request_counts_them(number: int):
    assert re.search(r"\bsix\b", QUESTIONS[f"creative_writing_{number:02d}"]["text"], re.IGNORECASE)
    assert len(answer(number)) == 6


def test_short_and_growing_pieces():
    assert len(" ".join(answer(3)).split()) <= 150
    lengths = [len(sentence.split()) for sentence in answer(22)]
    assert lengths == sorted(set(lengths))


def test_chained_sentences():
    for before, after in pairwise(answer(26)):
        assert words(before).split()[-1] == words(after).split()[0]


def test_the_letter_that_is_missing():
    for sentence in answer(27):
        quoted = " ".join(re.findall(r"'([^']*)'", sentence))
        assert "e" in re.sub(r"'[^']*'", "", sentence) and "e" not in quoted.lower()
    assert sum("'" in sentence for sentence in answer(27)) >= 3


def test_one_word_changed():
    first, last = (words(answer(30)[place]).split() for place in (0, -1))
    assert sum(one != other for one, other in zip(first, last, strict=True)) == 1


# The prompts.


def judge(name: str, structured: bool, first="This is the one.", second="This is the other.", question="Six by seven?"):
    return render(
        load(PROMPTS / name), question=question, first=first, second=second, nonce=NONCE, structured=structured
    )


def test_there_are_three_prompts():
    assert sorted(path.name for path in PROMPTS.iterdir()) == ["answer.txt", "judge_creative.txt", "judge_hard.txt"]


@each_question
def test_a_candidate_sees_the_question_and_nothing_else(question: dict):
    """As in the blind experiment, so that one reply serves both; simulated candidates know the text."""
    system, user = render(load(PROMPTS / "answer.txt"), question=question["text"])
    assert (system, user) == ("You are a helpful assistant.", question["text"])
    assert (PROMPTS / "answer.txt").read_bytes() == (EXPERIMENTS / "mt_bench_blind/prompts/answer.txt").read_bytes()


@each_judge
@each_mode
def test_every_question_renders_and_stays_the_same(name: str, structured: bool):
    for row in QUESTIONS.values():
        first, second = row["points"][0], row["points"][1]
        once = judge(name, structured, first, second, row["text"])
        assert once == judge(name, structured, first, second, row["text"])
        system, user = once
        assert NONCE not in system
        assert user.startswith(f"<<<QUESTION {NONCE}>>>\n{row['text']}\n<<<END QUESTION {NONCE}>>>\n")
        assert re.findall(rf"<<<ANSWER (\w) {NONCE}>>>\n(.*)\n<<<END \1 {NONCE}>>>", user) == [
            ("A", first),
            ("B", second),
        ]


@each_judge
@each_mode
def test_prompts_are_clean(name: str, structured: bool):
    system, user = judge(name, structured)
    for part in (system, user):
        assert part == part.strip() and "\n\n\n" not in part and not re.search(r"[ \t]\n|\{\{|\}\}|\{%", part)
    assert re.findall(r"^- (A>>B|A>B|A=B|B>A|B>>A): ", user, re.MULTILINE) == list(PAIRWISE)


@each_judge
@each_mode
def test_swapping_the_answers_changes_nothing_else(name: str, structured: bool):
    system, user = judge(name, structured, "ONE", "TWO")
    swapped_system, swapped = judge(name, structured, "TWO", "ONE")
    assert swapped_system == system
    turned = {"ONE": "TWO", "TWO": "ONE"}
    assert [turned.get(line, line) for line in user.split("\n")] == swapped.split("\n") != user.split("\n")


@each_judge
@each_mode
def test_the_place_of_an_answer_is_no_topic_and_nobody_wrote_it(name: str, structured: bool):
    """A word on order would be a treatment of its own, and a word on authors would not be blind."""
    text = " ".join(judge(name, structured)).lower()
    assert "impartial" in text
    assert re.findall(r"\border of|position|shown first|come first|comes first|length of|longer|shorter", text) == []
    assert re.findall(r"author|vendor|provider|company|\bmodel|\bai\b|assistant|written by|who wrote", text) == []


@each_mode
def test_only_hard_questions_are_solved_by_the_judge(structured: bool):
    hard, creative = (" ".join(judge(name, structured)) for name in ("judge_hard.txt", "judge_creative.txt"))
    assert "Solve the question yourself" in hard and re.search(r"first your own solution|own solution first", hard)
    assert "yourself" not in creative and "your own" not in creative


@each_judge
def test_only_the_form_of_reply_depends_on_the_mode(name: str):
    (system, text), (structured_system, structured) = judge(name, False), judge(name, True)
    assert system == structured_system
    shared = structured.split("Reply with a single JSON object")[0]
    assert text.startswith(shared)
    assert re.findall(r'^- "(\w+)"', structured, re.MULTILINE) == list(schema("pairwise", "AB")["properties"])
    assert f'the text "{NONCE}"' in structured.removeprefix(shared) and "VERDICT" not in structured
    assert text.endswith(f"VERDICT-{NONCE}: <verdict>")


@each_judge
@each_mode
def test_a_judge_that_repeats_its_prompt_has_not_decided(name: str, structured: bool):
    system, user = judge(name, structured)
    for reply in (user, f"{system}\n{user}", f"```\n{user}\n```", user.split("\n\n")[-1]):
        assert parse(reply, "pairwise", "AB", NONCE, structured=structured)[1] is None
    if structured:
        decided = json.dumps({"id": NONCE, "justification": "I get 42. A says 41.", "verdict": "B>>A"})
    else:
        decided = f"{user}\n\nI get 42. A says 41.\n\nVERDICT-{NONCE}: B>>A"
    outcome, verdict = parse(decided, "pairwise", "AB", NONCE, structured=structured)
    assert (outcome, verdict.choice) == ("ok", "B>>A")


@each_judge
@each_mode
def test_hostile_texts_arrive_byte_for_byte(name: str, structured: bool):
    for _, text in corpus(NONCE):
        _, user = judge(name, structured, first=text, second="plain")
        assert f"<<<ANSWER A {NONCE}>>>\n{text}\n<<<END A {NONCE}>>>\n\n<<<ANSWER B {NONCE}>>>\nplain\n" in user
