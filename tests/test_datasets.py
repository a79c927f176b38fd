"""Questions, answers and published judgments: every known format, every known defect, and real published data."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import datasets
from helpers.config import load_experiment
from helpers.datasets.listwise import ABSENT, candidate_of
from helpers.frames import LISTWISE
from helpers.paths import DATA
from helpers.run.sources import questions_of
from helpers.types import Answer, Question

LETTERS = "ABCDEF"
CANDIDATES = ("claude_fast", "claude_thinking", "gemini_fast", "gemini_thinking", "gpt_fast", "gpt_thinking")


def write(path: Path, content: Any) -> Path:
    """A file: text and bytes as they are, a list of objects as JSON lines in .jsonl, anything else as JSON."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    return path


def refused(load: Any, *args: Any, **more: Any) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ValueError) as caught:
        load(*args, **more)
    return str(caught.value)


# --- questions -------------------------------------------------------------------------------------------------------

OWN = [
    {"id": "math_01", "category": "math", "text": "What is 2 + 3?", "points": ["Five.", "It is odd."]},
    {"id": "writing_01", "category": "writing", "text": "Describe\na river — вода, 水."},
]
MT_BENCH = [
    {"question_id": 81, "category": "writing", "turns": ["Describe a river.", "Shorter."]},
    {"question_id": 104, "category": "reasoning", "turns": ["Who is taller?", "Why?"], "reference": ["Ann.", "..."]},
]
PROMPTS = {
    "benchmark": 'a list called "prompts": [not this one]',
    "prompts": [{"id": "stem_1", "category": "stem", "text": "Why is the sky blue?", "turn2": "Sure?"}],
    "total_prompts": 1,
}


def test_own_questions_with_and_without_points(tmp_path):
    assert datasets.load_questions(write(tmp_path / "questions.jsonl", OWN)) == (
        Question("math_01", "math", "What is 2 + 3?", ("Five.", "It is odd.")),
        Question("writing_01", "writing", "Describe\na river — вода, 水."),
    )


def test_mt_bench_questions_are_first_turns_named_by_category_and_number(tmp_path):
    assert datasets.load_questions(write(tmp_path / "question.jsonl", MT_BENCH)) == (
        Question("writing_081", "writing", "Describe a river."),
        Question("reasoning_104", "reasoning", "Who is taller?", reference="Ann."),
    )


def test_prompts_json(tmp_path):
    questions = datasets.load_questions(write(tmp_path / "prompts.json", PROMPTS))
    assert questions == (Question("stem_1", "stem", "Why is the sky blue?"),)


def test_published_answers_stand_for_their_questions_once_each(tmp_path):
    rows = [answer(question, name) for question in ("writing_081", "math_111") for name in CANDIDATES]
    questions = datasets.load_questions(write(tmp_path / "answers_new.json", rows))
    assert questions == (
        Question("writing_081", "writing", "Ask writing_081?"),
        Question("math_111", "math", "Ask math_111?"),
    )


def test_format_is_told_by_content_and_not_by_name(tmp_path):
    assert datasets.load_questions(write(tmp_path / "mine.json", OWN)) == datasets.load_questions(
        write(tmp_path / "mine.jsonl", OWN)
    )
    lines = "\ufeff" + "".join(json.dumps(row) + "\r\n\r\n" for row in MT_BENCH)
    assert len(datasets.load_questions(write(tmp_path / "lines.json", lines.encode()))) == 2


def test_a_folder_must_hold_exactly_one_known_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        datasets.load_questions(tmp_path)
    write(tmp_path / "notes.txt", "x")
    with pytest.raises(FileNotFoundError) as caught:
        datasets.load_questions(tmp_path)
    assert all(word in str(caught.value) for word in [str(tmp_path), "question.jsonl", "prompts.json", "notes.txt"])
    write(tmp_path / "question.jsonl", MT_BENCH)
    assert len(datasets.load_questions(str(tmp_path))) == 2
    write(tmp_path / "prompts.json", PROMPTS)
    assert "question.jsonl and prompts.json" in refused(datasets.load_questions, tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        datasets.load_questions(tmp_path / "nowhere")


def changed(rows: list[dict[str, Any]], index: int, **fields: Any) -> list[dict[str, Any]]:
    """The rows with some fields of one of them replaced, or dropped where the new value is `...`."""
    row = {name: value for name, value in (rows[index] | fields).items() if value is not ...}
    return [*rows[:index], row, *rows[index + 1 :]]


@pytest.mark.parametrize(
    ("rows", "line", "words"),
    [
        (changed(OWN, 1, category=...), 2, ["'writing_01'", "'category' is missing", "id, text"]),
        (changed(OWN, 1, category=""), 2, ["'writing_01'", "'category' is empty"]),
        (changed(OWN, 1, text=" \n"), 2, ["'writing_01'", "'text' is empty"]),
        (changed(OWN, 0, text=...), 1, ["'math_01'", "'text' is missing"]),
        (changed(OWN, 1, text=7), 2, ["'text' holds 7 (int), expected a text"]),
        (changed(OWN, 1, text="half \ud83d of it"), 2, ["'writing_01'", "lone surrogate", "U+D83D", "character 6"]),
        (changed(OWN, 0, points=["a", ""]), 1, ["'points' is empty"]),
        (changed(OWN, 0, points="a"), 1, ["'points'", "list"]),
        (changed(OWN, 1, id=3), 2, ["'id' holds 3 (int)"]),
        ([*OWN, ["a", "b"]], 3, ["(list)", "expected an object"]),
        (changed(MT_BENCH, 1, category=...), 2, ["question_id 104", "'category' is missing"]),
        (changed(MT_BENCH, 1, turns=[]), 2, ["'turns' holds []"]),
        (changed(MT_BENCH, 1, turns=[""]), 2, ["'turns' is empty"]),
        (changed(MT_BENCH, 1, question_id="104"), 2, ['"104" (str), expected a whole number']),
        (changed(MT_BENCH, 1, question_id=True), 2, ["true (bool), expected a whole number"]),
        (changed(MT_BENCH, 1, reference="Ann."), 2, ["'reference'", "list"]),
    ],
)
def test_a_defect_is_told_with_file_line_and_id(tmp_path, rows, line, words):
    path = write(tmp_path / "questions.jsonl", rows)
    message = refused(datasets.load_questions, path)
    assert message.startswith(f"{path}, line {line}")
    assert all(word in message for word in words), message


def test_lines_are_counted_in_nested_and_indented_files_too(tmp_path):
    document = PROMPTS | {"prompts": [*PROMPTS["prompts"], {"id": "stem_2", "category": "", "text": "Why?"}]}
    path = write(tmp_path / "prompts.json", document)
    line = 1 + path.read_text().splitlines().index('   "id": "stem_2",')
    # The record begins with its bracket, one line above its first field.
    assert refused(datasets.load_questions, path).startswith(f"{path}, line {line - 1}, record 2 (id 'stem_2')")


def test_an_unknown_format_is_told_with_all_known_ones(tmp_path):
    message = refused(datasets.load_questions, write(tmp_path / "x.jsonl", [{"uid": "7", "prompt": "Why?"}]))
    expected = ["x.jsonl, line 1", "uid, prompt", "turns", "prompt_text", "prompts.json", "id, category, text"]
    assert all(word in message for word in expected)


def test_all_duplicate_ids_are_listed_with_their_lines(tmp_path):
    rows = [{"id": name, "category": "c", "text": "t"} for name in "abcbaa"]
    message = refused(datasets.load_questions, write(tmp_path / "questions.jsonl", rows))
    assert "a (lines 1, 5, 6)" in message and "b (lines 2, 4)" in message and "c (lines" not in message
    # Two numbers of MT-Bench may not meet in one id either.
    rows = [MT_BENCH[0], MT_BENCH[0] | {"turns": ["Another."]}]
    assert "writing_081 (lines 1, 2)" in refused(datasets.load_questions, write(tmp_path / "q.jsonl", rows))


def test_one_id_with_two_texts_in_published_answers(tmp_path):
    rows = [answer("writing_081", "gpt_fast"), answer("writing_081", "claude_fast") | {"prompt_text": "Other?"}]
    message = refused(datasets.load_questions, write(tmp_path / "answers.json", rows))
    assert "writing_081" in message and "two different texts" in message and "lines 2 and " in message


@pytest.mark.parametrize(
    ("name", "text", "line", "word"),
    [
        ("q.jsonl", '{"id": "a", "category": "c", "text": "t"}\n{"id": "b", "category":\n', 2, "JSON"),
        ("q.jsonl", '{"id": "a", "category": "c",\n{"id": "b", "category": "c", "text": "t"}\n', 1, "JSON"),
        ("q.jsonl", '{"id": "a", "category": "c", "text": "t"} {"id": "b"}\n', 1, "more follows"),
        ("q.jsonl", '\n\n{"id": "a", "category": "c", "text": "t", "id": "b"}\n', 3, "'id' occurs twice"),
        ("q.jsonl", '{"id": "a", "category": "c", "text": "t", "score": NaN}\n', 1, "NaN"),
        ("q.json", '[\n{"id": "a", "category": "c", "text": "t"},\n{"id": "b", "n": -Infinity}\n]', 3, "-Infinity"),
        ("q.json", '[\n{"id": "a", "n": 1e999}\n]', 2, "1e999"),
        ("q.json", '[\n{"id": "a", "x": {"y": 1, "y": 2}}\n]', 2, "'y' occurs twice"),
        ("q.json", '{"prompts": [\n{"id": "a", "id": "b"}], "n": 1}', 2, "'id' occurs twice"),
        ("q.json", '{"prompts": [{"id": "a"}], "n": 1, "n": 2}', 1, "'n' occurs twice"),
        ("q.json", '[\n{"id": "a"},\n{"id": "b"\n', 4, "JSON"),
        ("q.json", "[]", 1, "no record"),
        ("q.jsonl", "\n \n", 1, "no record"),
        ("q.jsonl", b'{"id": "a"}\n{"id": "\xff"}\n', 2, "UTF-8"),
    ],
)
def test_json_is_read_strictly(tmp_path, name, text, line, word):
    path = write(tmp_path / name, text)
    message = refused(datasets.load_questions, path)
    assert f"{path}, line {line}" in message and word in message, message


def test_json_nested_too_deeply_is_an_error_and_no_crash(tmp_path):
    path = write(tmp_path / "deep.json", "[" * 200_000 + "]" * 200_000)
    assert "nested too deeply" in refused(datasets.load_questions, path)


def test_ranked_order_is_the_documented_one():
    questions = [
        Question(name, category, "?") for category, names in {"x": "abcd", "y": "ef"}.items() for name in names
    ]
    digest = {q.id: hashlib.sha256(f"42:{q.id}".encode()).hexdigest() for q in questions}
    x, y = sorted("abcd", key=digest.get), sorted("ef", key=digest.get)
    # Places of x at 1/8, 3/8, 5/8, 7/8, of y at 1/4 and 3/4.
    expected = [x[0], y[0], x[1], x[2], y[1], x[3]]
    assert [q.id for q in datasets.ranked(questions, 42)] == expected
    assert datasets.ranked(questions[::-1], 42) == datasets.ranked(questions, 42) != datasets.ranked(questions, 43)


def test_ranked_order_breaks_ties_of_place_by_hash_and_is_proportional():
    questions = [Question(f"{category}_{i}", category, "?") for category in "abcdefgh" for i in range(10)]
    order = datasets.ranked(questions, 42)
    for n in range(8, 81, 8):
        assert set(Counter(question.category for question in order[:n]).values()) == {n // 8}
    first = [hashlib.sha256(f"42:{question.id}".encode()).hexdigest() for question in order[:8]]
    assert first == sorted(first)


# --- answers ---------------------------------------------------------------------------------------------------------


def answer(question: str, candidate: str, **fields: Any) -> dict[str, Any]:
    """A synthetic answer in the published format."""
    vendor, tier = candidate.split("_")
    row = {
        "answer_id": f"ans_{question}_{candidate}",
        "prompt_id": question,
        "category": question.rpartition("_")[0],
        "model_vendor": vendor,
        "model_tier": tier,
        "model_name": f"{vendor}-{tier}-1",
        "prompt_text": f"Ask {question}?",
        "answer_text": f"{candidate} says something.",
    }
    return {name: value for name, value in (row | fields).items() if value is not ...}


def test_published_answers_and_why_some_have_no_text(tmp_path):
    rows = [
        answer("writing_081", "claude_fast"),
        answer("writing_081", "gpt_fast", answer_text=..., error="timeout"),
        answer("writing_081", "gpt_thinking", answer_text="[ERROR: Failed to generate answer: 500]"),
        answer("writing_081", "gemini_fast", answer_text=""),
        answer("writing_081", "gemini_thinking", answer_text=None),
    ]
    answers = datasets.load_answers(write(tmp_path / "answers_new.json", rows))
    assert answers[0] == Answer(
        "writing_081", "claude_fast", "claude", "fast", "claude_fast says something.", "claude-fast-1"
    )
    assert [one.outcome for one in answers] == ["ok", "error", "error", "empty", "empty"]
    assert [one.text for one in answers[1:]] == [""] * 4, "None would mean: still to be written"
    assert answers == datasets.load_answers(tmp_path)


def test_answers_that_are_refused(tmp_path):
    rows = [answer("writing_081", name) for name in ("gpt_fast", "claude_fast", "gpt_fast", "claude_fast")]
    message = refused(datasets.load_answers, write(tmp_path / "a.json", rows))
    assert "ans_writing_081_gpt_fast" in message and "ans_writing_081_claude_fast" in message
    rows = [answer("writing_081", "gpt_fast"), answer("writing_081", "gpt_fast", answer_id="ans_2")]
    assert "writing_081 by gpt_fast" in refused(datasets.load_answers, write(tmp_path / "a.json", rows))
    rows = [answer("writing_081", "gpt_fast", answer_text=...)]
    assert "neither 'answer_text' nor 'error'" in refused(datasets.load_answers, write(tmp_path / "a.json", rows))
    rows = [answer("writing_081", "gpt_fast", answer_text="\udc00")]
    assert "lone surrogate" in refused(datasets.load_answers, write(tmp_path / "a.json", rows))
    assert "answer_id" in refused(datasets.load_answers, write(tmp_path / "a.json", OWN))


def probe(mode: str, text: str | None, finish: str | None, ok: bool = True) -> dict[str, Any]:
    """A synthetic probe result."""
    return {
        "prompt_id": "math_111",
        "category": "math",
        "model_label": "gemini_fast",
        "model_name": "gemini-9",
        "ok": ok,
        "mode": mode,
        "text": text,
        "debug": {"finish_reason": finish},
    }


def test_probe_results_keep_their_modes_apart(tmp_path):
    rows = [
        probe("a", "whole", "STOP"),
        probe("b", "cut o", "MAX_TOKENS"),
        probe("c", None, "MAX_TOKENS"),
        probe("d", "", "SAFETY"),
        probe("e", "partly", "SAFETY"),
        probe("f", None, None, ok=False),
    ]
    answers = datasets.load_answers(write(tmp_path / "probe.jsonl", rows))
    assert [one.candidate for one in answers] == [f"gemini_fast:{mode}" for mode in "abcdef"]
    assert [one.outcome for one in answers] == ["ok", "truncated", "empty", "empty", "filtered", "error"]
    assert {(one.vendor, one.tier, one.model) for one in answers} == {("gemini", "fast", "gemini-9")}
    assert answers[1].text == "cut o"
    rows = [probe("a", "whole", "ENOUGH")]
    assert "ENOUGH" in refused(datasets.load_answers, write(tmp_path / "probe.jsonl", rows))
    rows = [probe("a", "whole", "STOP"), probe("a", "again", "STOP")]
    assert "math_111 by gemini_fast:a (lines 1, 2)" in refused(
        datasets.load_answers, write(tmp_path / "probe.jsonl", rows)
    )


def fastchat(number: int, model: str, *turns: str) -> dict[str, Any]:
    """A synthetic answer in the layout of FastChat's model_answer files."""
    return {"question_id": number, "answer_id": "x7", "model_id": model, "choices": [{"index": 0, "turns": [*turns]}]}


def test_answers_of_fastchat_belong_to_the_questions_with_their_numbers(tmp_path):
    write(tmp_path / "gpt-4.jsonl", [fastchat(81, "gpt-4", "A river.", "Short."), fastchat(104, "gpt-4", "")])
    write(tmp_path / "vicuna-13b.jsonl", [fastchat(81, "vicuna-13b", "Water.")])
    write(tmp_path / "question.jsonl", MT_BENCH)
    (tmp_path / "notes.txt").write_text("x")
    questions = datasets.load_questions(tmp_path / "question.jsonl")
    with pytest.warns(UserWarning, match=r"notes.txt, question.jsonl hold no answers and are not read"):
        answers = datasets.load_answers(tmp_path, questions=questions)
    assert answers == [
        Answer("writing_081", "gpt-4", "gpt", "", "A river.", "gpt-4"),
        Answer("reasoning_104", "gpt-4", "gpt", "", "", "gpt-4", "empty"),
        Answer("writing_081", "vicuna-13b", "vicuna", "", "Water.", "vicuna-13b"),
    ]
    assert [one.question_id for one in datasets.load_answers(tmp_path / "gpt-4.jsonl")] == ["81", "104"]
    write(tmp_path / "again.jsonl", [fastchat(81, "gpt-4", "Rain.")])
    with pytest.warns(UserWarning, match="not read"):
        assert "writing_081 by gpt-4 is in again.jsonl too" in refused(
            datasets.load_answers, tmp_path, questions=questions
        )


@pytest.mark.parametrize("name", ["mt_bench_blind", "hinting_groups"])
def test_answers_that_hold_their_questions_need_no_other_source_of_them(tmp_path, name):
    rows = [answer(question, candidate) for question in ("writing_081", "math_111") for candidate in CANDIDATES]
    path = write(tmp_path / "answers.json", rows)
    questions = questions_of(load_experiment(name, answers=str(path)))
    assert {question.text for question in questions} == {"Ask writing_081?", "Ask math_111?"}
    built_in = questions_of(load_experiment(name))
    path = write(tmp_path / "own.json", [answer(built_in[0].id, candidate) for candidate in CANDIDATES])
    assert questions_of(load_experiment(name, answers=str(path))) == built_in, "these are answered"


def test_real_reference_answers_are_those_of_their_questions(real_data):
    folder = real_data / "mt_bench"
    questions = datasets.load_questions(folder / "question.jsonl")
    answers = datasets.load_answers(folder / "reference_answer_gpt-4.jsonl", questions=questions)
    assert len(answers) == 30 and {one.question_id for one in answers} <= {question.id for question in questions}
    assert {(one.candidate, one.vendor, one.outcome) for one in answers} == {("gpt-4", "gpt", "ok")}


def test_a_folder_laid_out_as_on_the_hub_is_read_as_its_file_is(tmp_path):
    rows = [answer("writing_081", candidate, more={"of": [1, "a"]}, date="2026-01-02") for candidate in CANDIDATES]
    rows[1] |= {"answer_text": "On 2026-01-02 12:30:00", "model_name": None}
    path = write(tmp_path / "answers_new.json", rows)
    for load in (datasets.load_answers, datasets.load_questions):
        assert load(tmp_path) == load(path)
    write(path, [*rows[:1], rows[1] | {"answer_text": "half \ud83d"}])
    assert "record 2" in refused(datasets.load_answers, tmp_path) and "lone surrogate" in refused(
        datasets.load_answers, tmp_path
    )


def test_an_answer_id_is_read_from_its_end():
    assert candidate_of("ans_writing_081_gpt_thinking", "x", "writing_081") == "gpt_thinking"
    assert candidate_of("ans_in_two_words_7_claude_very_fast", "x", "in_two_words_7") == "claude_very_fast"
    for wrong in ("ans_writing_082_gpt_thinking", "ans_writing_081_gpt", "writing_081_gpt_fast", "ans_writing_081_"):
        assert wrong in refused(candidate_of, wrong, "x", "writing_081")


# --- judgments -------------------------------------------------------------------------------------------------------


def judgment(question: str, judge: str, ranking: str = "ABCDEF", **fields: Any) -> dict[str, Any]:
    """A synthetic judgment in the published format: letters in the order of CANDIDATES, turned by the judge's place."""
    turn = CANDIDATES.index(judge)
    shown = dict(zip(LETTERS, CANDIDATES[turn:] + CANDIDATES[:turn], strict=True))
    row = {
        "prompt_id": question,
        "judge_model": judge,
        "ranking": list(ranking),
        "scores": {letter: 9 - ranking.find(letter) for letter in LETTERS},
        "justification": "Some reasons.",
        "mapping": {letter: f"ans_{question}_{candidate}" for letter, candidate in shown.items()},
        "anonymized_answers": [{"label": letter, "text": "..."} for letter in LETTERS],
    }
    return {name: value for name, value in (row | fields).items() if value is not ...}


def failure(question: str, judge: str, error: str, mapping: bool = True) -> dict[str, Any]:
    """A synthetic judgment that failed; one that failed again in a repair lacks the mapping."""
    row = judgment(question, judge)
    kept = {name: row[name] for name in ("prompt_id", "judge_model", *(["mapping"] if mapping else []))}
    return kept | {"error": error}


def test_the_listwise_frame_has_a_row_for_each_judgment_and_candidate(tmp_path):
    rows = [judgment("writing_081", "claude_thinking", "CABDFE"), judgment("math_111", "gpt_fast")]
    frame = datasets.load_judgments(write(tmp_path / "judgments_new.json", rows))
    assert tuple(frame.columns) == tuple(name for name in LISTWISE if name not in ABSENT) and len(frame) == 12
    first = frame[frame.judge == "claude_thinking"].set_index("label")
    # claude_thinking is second of CANDIDATES, so its A is the second and its F the first of them.
    assert first.candidate.tolist() == [*CANDIDATES[1:], CANDIDATES[0]]
    assert first["rank"].tolist() == [2.0, 3.0, 1.0, 4.0, 6.0, 5.0]
    assert first.score.tolist() == [8.0, 7.0, 9.0, 6.0, 4.0, 5.0]
    assert first.top.tolist() == [0, 0, 1, 0, 0, 0]
    assert first.slot.tolist() == [0, 1, 2, 3, 4, 5] and frame.slot.dtype.kind == "i"
    assert first.own_vendor.tolist() == [True, False, False, False, False, True]
    assert set(frame.category) == {"writing", "math"} and set(frame.condition) == {"none"}
    assert set(frame.outcome) == {"ok"} and not frame.contradicts.any() and not frame.own_model.any()
    assert frame.judge_model.isna().all() and frame.length.isna().all() and (frame.repeat == 0).all()
    assert set(zip(frame.judge, frame.judge_vendor, frame.judge_tier, strict=True)) == {
        ("claude_thinking", "claude", "thinking"),
        ("gpt_fast", "gpt", "fast"),
    }


def test_the_shown_order_is_the_recorded_one(tmp_path):
    order = [{"label": letter, "text": "..."} for letter in "FEDCBA"]
    rows = [judgment("writing_081", "gpt_fast", anonymized_answers=order)]
    frame = datasets.load_judgments(write(tmp_path / "judgments.json", rows))
    assert dict(zip(frame.label, frame.slot, strict=True)) == {letter: 5 - LETTERS.index(letter) for letter in LETTERS}


def test_answers_give_the_frame_models_and_lengths(tmp_path):
    answers = [Answer("writing_081", "gpt_fast", "gpt", "fast", "x" * 30, "gpt-fast-1")]
    path = write(tmp_path / "judgments.json", [judgment("writing_081", "gpt_fast")])
    frame = datasets.load_judgments(path, answers=answers).set_index("candidate")
    assert frame.length["gpt_fast"] == 30 and frame.candidate_model["gpt_fast"] == "gpt-fast-1"
    assert frame.length.notna().sum() == frame.candidate_model.notna().sum() == 1


@pytest.mark.parametrize("ranking", ["ABCDE", "ABCDEE", "ABCDEFA", "ABCDEG", ""])
def test_an_invalid_ranking_is_never_repaired(tmp_path, ranking):
    path = write(tmp_path / "judgments.json", [judgment("writing_081", "claude_fast", ranking)])
    frame = datasets.load_judgments(path)
    assert len(frame) == 6 and set(frame.outcome) == {"invalid_ranking"}
    assert frame["rank"].isna().all() and frame.top.isna().all() and frame.score.notna().all()
    assert not frame.contradicts.any()
    # The published tables count the first letter all the same.
    top = datasets.load_top1(path)
    assert top.outcome.tolist() == ["invalid_ranking"]
    assert top.pick.tolist() == ["claude_fast"] if ranking else top.pick.isna().all()


def test_scores_that_deny_the_ranking_are_kept_and_marked(tmp_path):
    tie = {letter: 5 for letter in LETTERS}
    rows = [
        judgment("writing_081", "gpt_fast", scores=tie),
        judgment("writing_082", "gpt_fast", scores=tie | {"F": 6}),
        judgment("writing_083", "gpt_fast", scores={"A": 5, "F": 6}),
        judgment("writing_084", "gpt_fast", scores={"A": None, "B": 1}),
        judgment("writing_085", "gpt_fast", scores=None),
    ]
    frame = datasets.load_judgments(write(tmp_path / "judgments.json", rows))
    marked = frame.groupby("question_id").contradicts.first()
    assert marked.tolist() == [False, True, True, False, False]
    assert frame.groupby("question_id").score.count().tolist() == [6, 6, 2, 1, 0]
    assert set(frame.outcome) == {"ok"}


def test_failed_judgments_stay_as_rows_with_their_reason(tmp_path):
    rows = [
        judgment("writing_081", "claude_fast"),
        failure("writing_081", "gpt_fast", "Empty response. Finish reason: MAX_TOKENS"),
        failure("writing_081", "gemini_fast", "1 validation error: EOF while parsing a string", mapping=False),
        failure("writing_081", "gpt_thinking", "Regeneration failed: nothing to read", mapping=False),
    ]
    path = write(tmp_path / "judgments.json", rows)
    frame = datasets.load_judgments(path)
    outcomes = frame.groupby("judge").outcome.agg(["first", "size"])
    assert outcomes["first"].to_dict() == {
        "claude_fast": "ok",
        "gpt_fast": "truncated",
        "gemini_fast": "truncated",
        "gpt_thinking": "unparsed",
    }
    # Every judge was shown the question's candidates: a judgment weighs the same whether or not it failed.
    assert (outcomes["size"] == 6).all()
    lost = frame[frame.judge == "gemini_fast"]
    assert set(lost.candidate) == set(CANDIDATES) and lost.label.isna().all() and lost.slot.isna().all()
    assert frame[frame.judge == "gpt_fast"].label.tolist() == list(LETTERS)
    assert frame[frame.outcome != "ok"][["rank", "top", "score"]].isna().all(axis=None)
    assert datasets.load_top1(path).pick.isna().tolist() == [False, True, True, True]


def test_what_a_failed_judgment_was_shown_is_known_where_all_others_were_shown_the_same(tmp_path):
    rows = [judgment(f"writing_08{i}", "gpt_fast", mapping=...) for i in range(3)]
    letters = dict(zip(LETTERS, CANDIDATES, strict=True))
    for i, row in enumerate(rows):
        row["mapping"] = {letter: f"ans_writing_08{i}_{candidate}" for letter, candidate in letters.items()}
    rows.append(failure("math_111", "gpt_fast", "Regeneration failed", mapping=False))
    frame = datasets.load_judgments(write(tmp_path / "judgments.json", rows))
    lost = frame[frame.outcome == "unparsed"]
    assert dict(zip(lost.label, lost.candidate, strict=True)) == letters
    assert lost.slot.tolist() == [0, 1, 2, 3, 4, 5] and frame.slot.dtype.kind == "i"
    assert lost["rank"].isna().all() and lost.top.isna().all()


def test_a_failure_without_any_other_judgment_is_one_row(tmp_path):
    path = write(tmp_path / "judgments.json", [failure("writing_081", "gpt_fast", "?", mapping=False)])
    frame = datasets.load_judgments(path)
    assert len(frame) == 1 and frame.candidate.isna().all() and frame.outcome.tolist() == ["unparsed"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mapping": ...}, ["'ranking' and 'mapping'"]),
        ({"ranking": ...}, ["'ranking' and 'mapping'"]),
        ({"ranking": "ABCDEF"}, ["'ranking'", "list of letters"]),
        ({"ranking": [1, 2]}, ["'ranking'"]),
        ({"scores": {"A": "nine"}}, ["score of A", '"nine" (str)']),
        ({"scores": {"A": True}}, ["score of A", "(bool)"]),
        ({"scores": [9, 8]}, ["'scores'"]),
        ({"mapping": {"A": "ans_math_111_gpt_fast"}}, ["ans_math_111_gpt_fast", "ans_writing_081_<vendor>"]),
        ({"mapping": {letter: "ans_writing_081_gpt_fast" for letter in "AB"}}, ["one candidate under two letters"]),
        ({"judge_model": ""}, ["'judge_model' is empty"]),
    ],
)
def test_judgments_that_are_refused_name_line_and_question(tmp_path, fields, words):
    rows = changed([judgment("math_111", "gpt_fast"), judgment("writing_081", "gpt_fast")], 1, **fields)
    path = write(tmp_path / "judgments.json", "[\n" + ",\n".join(map(json.dumps, rows)) + "]")
    message = refused(datasets.load_judgments, path)
    assert message.startswith(f"{path}, line 3, record 2 (prompt_id 'writing_081')"), message
    assert all(word in message for word in words), message


def test_a_judgment_that_occurs_twice_is_refused(tmp_path):
    rows = [judgment("math_111", "gpt_fast"), failure("math_111", "gpt_fast", "again")]
    assert "none by math_111 by gpt_fast" in refused(datasets.load_judgments, write(tmp_path / "judgments.json", rows))


def test_group_files_are_conditions(tmp_path):
    names = ("group1_self.json", "judgments_group2.json", "group3_full.json", "judgments_group4.json")
    for name, judge in zip(names, CANDIDATES, strict=False):
        write(tmp_path / name, [judgment("math_111", judge)])
    top = datasets.load_top1(tmp_path)
    hints = ("self", "competitors", "full", "none")
    assert dict(zip(top.judge, top.condition, strict=True)) == dict(zip(CANDIDATES, hints, strict=False))
    assert datasets.load_top1(tmp_path / "group1_self.json").condition.tolist() == ["self"]
    write(tmp_path / "judgments_new.json", [judgment("math_111", "gpt_fast")])
    message = refused(datasets.load_judgments, tmp_path)
    assert "judgments_group4.json and judgments_new.json" in message and "'none'" in message


def test_a_condition_is_never_guessed_from_a_strange_name(tmp_path):
    rows = [judgment("math_111", "gpt_fast")]
    assert "condition" in refused(datasets.load_judgments, write(tmp_path / "hinted_group.json", rows))
    frame = datasets.load_judgments(tmp_path / "hinted_group.json", condition="full")
    assert set(frame.condition) == {"full"} and set(frame.experiment) == {"published"}
    assert set(datasets.load_judgments(write(tmp_path / "mine.json", rows)).condition) == {"none"}
    for name in ("group1_self.json", "group3_full.json"):
        write(tmp_path / name, rows)
    assert "single file" in refused(datasets.load_judgments, tmp_path, condition="full")


def test_unknown_judgments_are_told_with_the_known_formats(tmp_path):
    message = refused(datasets.load_judgments, write(tmp_path / "x.json", OWN))
    assert "found id, category, text, points" in message and "judge_model" in message
    with pytest.raises(FileNotFoundError, match=r"expected .*group3_full\.json.*found x\.json"):
        datasets.load_judgments(tmp_path)
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        datasets.load_judgments(tmp_path / "nowhere")


def logged(question: str, judge: str, pick: str, ranking: str | None) -> dict[str, Any]:
    """A synthetic success of the log."""
    return {
        "prompt_id": question,
        "category": question.rpartition("_")[0],
        "judge": judge,
        "hint_mode": "full",
        "top_answer_id": f"ans_{question}_{pick}",
        "ranking": ranking and list(ranking),
        "scores": None,
    }


def log_folder(folder: Path, rows: list[dict[str, Any]], errors: list[tuple[str, str, str, str | None]]) -> Path:
    """A folder with both logs."""
    fields = ("prompt_id", "judge", "error", "detail")
    write(folder / "exp3_full_hint_top1.jsonl", rows)
    write(folder / "exp3_full_hint_errors.jsonl", [dict(zip(fields, error, strict=True)) for error in errors])
    return folder


def test_both_logs_together_are_whole(tmp_path):
    rows = [logged(f"math_11{i}", "gpt_fast", pick, LETTERS[i:] + LETTERS[:i]) for i, pick in enumerate(CANDIDATES)]
    rows.append(logged("math_119", "gpt_fast", "claude_thinking", None))
    cut = "Empty response. Finish reason: MAX_TOKENS"
    errors = [
        ("math_110", "gpt_fast", cut, None),  # succeeded later
        ("math_110", "gemini_fast", cut, None),
        ("math_110", "gemini_fast", "1 validation error", "Invalid JSON: expected value at line 1"),
        ("math_111", "gemini_fast", "1 validation error", "Invalid JSON: EOF while parsing a string"),
    ]
    folder = log_folder(tmp_path, rows, errors)
    frame = datasets.load_judgments(folder)
    assert len(frame) == 9 * 6 and frame.slot.dtype.kind == "i"
    judged = frame.groupby(["question_id", "judge"]).outcome.first()
    assert Counter(judged) == {"ok": 6, "missing": 1, "unparsed": 1, "truncated": 1}
    assert judged["math_110", "gemini_fast"] == "unparsed", "the last try counts"
    # Each letter always had the same candidate, so the log's letters are known.
    ok = frame[frame.outcome == "ok"].groupby("label").candidate.unique()
    assert {letter: list(names) for letter, names in ok.items()} == {
        letter: [name] for letter, name in zip(LETTERS, CANDIDATES, strict=True)
    }
    assert frame[frame.outcome == "missing"]["rank"].isna().all()
    top = datasets.load_top1(folder)
    assert top.pick.notna().sum() == 7 and top.letter.notna().sum() == 6 and len(top) == 9
    assert top[top.question_id == "math_119"].pick.tolist() == ["claude_thinking"]


def test_letters_of_a_log_stay_unknown_where_they_were_not_constant(tmp_path):
    rows = [logged("math_111", "gpt_fast", "gpt_fast", "ABCDEF"), logged("math_112", "gpt_fast", "gpt_fast", "BACDEF")]
    frame = datasets.load_judgments(write(tmp_path / "exp3_full_hint_top1.jsonl", rows))
    known = frame.dropna(subset="candidate")
    assert len(frame) == 12 and len(known) == 2 and (known["rank"] == 1).all()
    audit = letters_of(datasets.load_top1(tmp_path))
    assert audit.loc["gpt_fast"].to_dict() == {"A": 1, "B": 1}


def letters_of(top: pd.DataFrame) -> pd.DataFrame:
    """How often each candidate stood under each letter when ranked first."""
    return pd.crosstab(top["pick"], top["letter"])


def test_the_letters_of_winners_show_whether_they_move(tmp_path):
    rows = [judgment(f"math_11{i}", judge) for i, judge in enumerate(CANDIDATES)]
    path = write(tmp_path / "judgments.json", rows)
    # By construction A is the judge's own model, whoever judges.
    top, frame = datasets.load_top1(path), datasets.load_judgments(path)
    assert letters_of(top).to_dict() == {"A": dict.fromkeys(CANDIDATES, 1)}
    first = frame[frame["top"] == 1]
    assert letters_of(top).to_numpy().tolist() == pd.crosstab(first["candidate"], first["label"]).to_numpy().tolist()


# --- the built-in questions and real published data ------------------------------------------------------------------


def test_the_built_in_questions_load():
    questions = datasets.load_questions(DATA / "mt_bench_blind")
    assert len(questions) == 80 and set(Counter(question.category for question in questions).values()) == {10}
    assert all(4 <= len(question.points) <= 6 for question in questions)


def test_real_questions_are_the_same_in_both_formats(real_data):
    questions = datasets.load_questions(real_data / "mt_bench" / "question.jsonl")
    prompts = datasets.load_questions(real_data / "llm_eval" / "exp2_prompts.json")
    assert len(questions) == 80 == len(prompts)
    assert [(one.id, one.category, one.text) for one in questions] == [(p.id, p.category, p.text) for p in prompts]
    assert set(Counter(one.category for one in questions).values()) == {10}
    # 39 of 80 have a reference answer: reasoning 10, math 10, coding 9, extraction 5, stem 4, roleplay 1.
    referenced = Counter(one.category for one in questions if one.reference is not None)
    assert referenced == dict(reasoning=10, math=10, coding=9, extraction=5, stem=4, roleplay=1)
    assert len(datasets.load_questions(real_data / "llm_eval" / "exp1_prompts.json")) == 60


def test_real_top1_counts_are_the_documented_ones(real_data):
    top = datasets.load_top1(real_data / "llm_eval" / "exp3_full_hint_top1.jsonl")
    # The log of errors beside it adds the 60 judgments that never succeeded.
    assert len(top) == 480 and top.pick.notna().sum() == 420 and top.letter.notna().sum() == 413
    top = top.dropna(subset="pick")
    counts = top.groupby(["judge", "pick_vendor"]).size().unstack()
    assert {judge: "/".join(map(str, row)) for judge, row in zip(counts.index, counts.to_numpy(), strict=True)} == {
        "claude_fast": "25/13/42",
        "claude_thinking": "30/14/36",
        "gemini_fast": "13/20/22",
        "gemini_thinking": "11/18/16",
        "gpt_fast": "16/17/47",
        "gpt_thinking": "18/7/55",
    }
    own = top[top.judge_vendor == top.pick_vendor].groupby("judge_vendor").size()
    assert own.to_dict() == {"claude": 55, "gpt": 102, "gemini": 38}
    assert top.groupby("judge_vendor").size().to_dict() == {"claude": 160, "gpt": 160, "gemini": 100}
    assert set(top.condition) == {"full"}


def test_real_letters_never_moved(real_data):
    names = ("gpt_thinking", "claude_thinking", "gpt_fast", "gemini_fast", "claude_fast", "gemini_thinking")
    letters = dict(zip(LETTERS, names, strict=True))
    top = datasets.load_top1(real_data / "llm_eval" / "exp3_full_hint_top1.jsonl")
    audit = letters_of(top)
    assert audit.to_numpy().sum() == 413
    assert {letter: list(audit.index[audit[letter] > 0]) for letter in audit} == {x: [y] for x, y in letters.items()}
    # The documented counts by letter are those of all 420; seven of them follow from the constant letters only.
    picks = top.pick.value_counts()
    assert {x: picks[y] for x, y in letters.items()} == {"A": 146, "B": 95, "C": 72, "D": 53, "E": 18, "F": 36}
    assert audit.sum().to_dict() == {"A": 142, "B": 94, "C": 70, "D": 53, "E": 18, "F": 36}


def test_real_rankings_that_their_scores_deny(real_data):
    path = real_data / "llm_eval" / "exp3_full_hint_top1.jsonl"
    frame = datasets.load_judgments(path)
    assert len(frame) == 480 * 6 and (frame.outcome == "ok").sum() == 413 * 6
    assert frame.groupby(["question_id", "judge"]).contradicts.first().sum() == 22
    # The same, counted from the lines themselves.
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    scores = [[row["scores"][letter] for letter in row["ranking"]] for row in rows if row["ranking"]]
    assert sum(sorted(one, reverse=True) != one for one in scores) == 22
    assert frame.groupby(["question_id", "judge"]).score.count().gt(0).sum() == 414


def test_real_failures_that_stayed_are_judgments_and_those_that_succeeded_later_are_not(real_data):
    # Of 206 failed tries in the log of errors, alone, 84 judgments never succeed there; 24 did so later.
    alone = datasets.load_judgments(real_data / "llm_eval" / "exp3_full_hint_errors.jsonl")
    assert len(alone.groupby(["question_id", "judge"])) == 84 and (alone.outcome != "ok").all()
    frame = datasets.load_judgments(real_data / "llm_eval")
    judged = frame.groupby(["question_id", "judge"]).outcome.agg(["first", "size"])
    assert len(judged) == 480 and (judged["size"] == 6).all()
    assert judged["first"].value_counts().to_dict() == {"ok": 413, "truncated": 60, "missing": 7}
    stayed = frame[frame.outcome == "truncated"].groupby(["question_id", "judge"]).first().reset_index()
    assert stayed.judge.value_counts().to_dict() == {"gemini_thinking": 35, "gemini_fast": 25}


def test_real_probe_answers(real_data):
    path = real_data / "llm_eval" / "gemini_mtbench_5q_results.jsonl"
    answers = datasets.load_answers(path)
    assert len(answers) == 30 and len({one.candidate for one in answers}) == 6
    # Eleven ended by the token limit; one of them had spent it all on thoughts and is empty.
    assert Counter(one.outcome for one in answers) == {"ok": 19, "truncated": 10, "empty": 1}
    assert path.read_text().count('"finish_reason": "MAX_TOKENS"') == 11
    assert {one.model for one in answers} == {"gemini-2.5-flash", "gemini-3-pro-preview"}
