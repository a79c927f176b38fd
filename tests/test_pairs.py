"""Published judgments on pairs as the pair frame: roles, orders, arms, probabilities, and what forms no pair."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets, frames
from helpers.biases.self_preference.items import items
from tests.servers.hub import Hub, Repo, running_hub
from tests.test_datasets import refused, write
from tests.test_hub import REPO, Client
from tests.test_responses import LLAMA, QWEN, flat, of_model, of_pair


def said(number: int, forward: Any = "1", backward: Any = "2", kind: str = "comparison", **more: Any) -> dict[str, Any]:
    """One synthetic record: a judge (Llama) on its own answer and one of Qwen's."""
    record = {"evaluator": LLAMA, "evaluatee": QWEN, "pid": f"70001_AB12_1_{number}"}
    return record | {f"forward_{kind}": forward, f"backward_{kind}": backward} | more


def cells(frame: Any, *columns: str) -> list[tuple]:
    """Some columns of a frame as plain rows."""
    return list(frame[list(columns)].itertuples(index=False, name=None))


def test_the_columns_are_those_of_the_pair_frame(tmp_path):
    frame = datasets.load_pair_judgments(write(tmp_path / "clean_pref_quality_harmful.json", [said(1)]))
    assert tuple(frame.columns) == frames.PAIRWISE
    empty = datasets.load_pair_judgments(write(tmp_path / "judged.jsonl", [judged(1, "A", "A", "1")]))
    assert tuple(empty.columns) == frames.PAIRWISE and empty.empty and empty.attrs["counts"] == {"both_right": 1}


@pytest.mark.parametrize(
    ("case", "own", "right", "wrong"), [("harmful", "wrong", QWEN, LLAMA), ("ben", "right", LLAMA, QWEN)]
)
def test_the_judges_own_answer_stands_first_in_forward(tmp_path, case, own, right, wrong):
    path = write(tmp_path / f"clean_pref_quality_{case}.json", [said(1, "1", "2"), said(2, "2", "2")])
    frame = datasets.load_pair_judgments(path)
    other = {"right": "wrong", "wrong": "right"}[own]
    assert set(cells(frame, "right", "wrong", "own", "judge", "judge_vendor", "judge_model", "experiment")) == {
        (right, wrong, own, LLAMA, "llama", LLAMA, "published")
    }
    # Question 1: the own answer both times. Question 2: the second place both times.
    assert cells(frame, "question_id", "first", "picked") == [
        ("70001_AB12_1_1", own, own),
        ("70001_AB12_1_1", other, own),
        ("70001_AB12_1_2", own, other),
        ("70001_AB12_1_2", other, own),
    ]
    assert set(cells(frame, "condition", "edit", "target", "dose", "repeat", "task", "outcome", "article")) == {
        ("none", "none", "none", 0, 0, "correct", "ok", "70001")
    }
    assert frame.attrs["counts"] == {"ok": 4}


@pytest.mark.parametrize(
    ("name", "condition", "target", "task"),
    [
        ("clean_pref_2w_quality_harmful", "wrong_2", "wrong", "correct"),
        ("clean_pref_2w_quality_ben", "right_2", "right", "correct"),
        ("clean_self_recog_quality_harmful", "none", "none", "wrote"),
        ("clean_self_recog_2w_quality_ben", "right_2", "right", "wrote"),
        ("clean_self_recog_quality_2w_harmful", "wrong_2", "wrong", "wrote"),
    ],
)
def test_names_of_files_tell_what_was_edited_and_asked(tmp_path, name, condition, target, task):
    kind = "detection" if "recog" in name else "comparison"
    frame = datasets.load_pair_judgments(write(tmp_path / f"{name}.json", [said(1, kind=kind)]))
    assert set(cells(frame, "condition", "target", "task")) == {(condition, target, task)}
    assert set(cells(frame, "edit", "dose")) == {("synonyms", 2) if target != "none" else ("none", 0)}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("evaluation_result", "comparison"),
        ("clean_pref_quality", "comparison"),
        ("clean_pref_paraphrased_quality_harmful", "comparison"),
        ("clean_pref_4w_quality_harmful", "comparison"),
        ("clean_pref_quality_harmful", "detection"),
        ("clean_self_recog_quality_harmful", "comparison"),
    ],
)
def test_a_name_that_may_mean_another_arm_is_refused(tmp_path, name, kind):
    message = refused(datasets.load_pair_judgments, write(tmp_path / f"{name}.json", [said(1, kind=kind)]))
    assert f"{name}.json" in message and "clean_pref_quality_harmful.json" in message


@pytest.mark.parametrize("odd", ["3", "A", " 1", "1.", "", "Answer 1", None, 1, 2.0, True, ["1"], {"a": "1"}])
def test_any_other_verdict_is_unparsed_and_never_guessed(tmp_path, odd):
    path = write(tmp_path / "clean_pref_quality_harmful.json", [said(1, odd, "1", forward_probability=0.9)])
    frame = datasets.load_pair_judgments(path)
    assert frame["outcome"].tolist() == ["unparsed", "ok"] and frame["picked"].tolist() == [None, "right"]
    assert math.isnan(frame["p_right"][0]) and frame.attrs["counts"] == {"unparsed": 1, "ok": 1}
    assert items(frame)["score"].isna().all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([said(1, 1, 2), said(2, 2, 1)], ["none of 4", "1 (int) in record 1 (field 'forward_comparison')"]),
        ([said(1, None, None), said(2, None, "Answer 2")], ['"Answer 2" (str) in record 2', "'backward_comparison'"]),
    ],
)
def test_a_file_without_any_verdict_is_refused_with_what_stands_there(tmp_path, rows, words):
    path = write(tmp_path / "clean_pref_quality_harmful.json", rows)
    message = refused(datasets.load_pair_judgments, path)
    assert str(path) in message and 'expected the text "1" or "2"' in message
    assert all(word in message for word in words), message


def test_a_file_of_judged_pairs_without_any_verdict_is_refused_but_not_one_of_failures(tmp_path):
    rows = [judged(1, "A", "A", "1"), judged(2, "B", "A", 2)]
    message = refused(datasets.load_pair_judgments, write(tmp_path / "x.jsonl", rows))
    assert "none of 1 verdicts could be read, for instance 2 (int) in record 2 (field 'judge_output')" in message
    path = write(tmp_path / "clean_pref_quality_harmful.json", [said(1, None, None)])
    assert datasets.load_pair_judgments(path).attrs["counts"] == {"unparsed": 2}


def test_probabilities_are_those_of_the_token_that_was_said(tmp_path):
    rows = [
        said(1, "1", "2", forward_probability=0.75, backward_probability=0.875),
        said(2, "2", "1", forward_probability=0.75, backward_probability=0.25),
        said(3),
    ]
    frame = datasets.load_pair_judgments(write(tmp_path / "clean_pref_quality_harmful.json", rows))
    # The own, wrong answer with 0.75 and with 0.875; the other one with 0.75; then too much was left to other tokens.
    assert frame["p_right"][:3].tolist() == [0.25, 0.125, 0.75] and frame["p_right"][3:].isna().all()
    assert items(frame)["probability"].tolist()[0] == 0.1875
    for odd in (1.5, -0.1, "0.5", True):
        bad = [said(1), said(2, forward_probability=odd)]
        message = refused(datasets.load_pair_judgments, write(tmp_path / "clean_pref_quality_ben.json", bad))
        assert "record 2" in message and "forward_probability" in message and "70001_AB12_1_2" in message


def test_answers_give_letters_and_check_who_is_right(tmp_path):
    rows = [
        flat(1, source="Slate"),
        flat(2, **{f"{LLAMA}_output_label": "A"}),
        flat(3, **{f"{QWEN}_output_label": "C"}),
        flat(4, **{f"{LLAMA}_output_label": "A", f"{QWEN}_output_label": "C"}),
    ]
    responses = datasets.load_responses(write(tmp_path / "quality_responses.json", rows))
    path = write(tmp_path / "clean_pref_quality_harmful.json", [said(n) for n in range(1, 5)])
    frame = datasets.load_pair_judgments(path, responses)
    assert cells(frame, "question_id", "category") == [("70001_AB12_1_1", "Slate")] * 2
    assert cells(frame[:1], "right_label", "wrong_label") == [("A", "B")]
    assert frame.attrs["counts"] == {"ok": 2, "both_right": 1, "both_wrong": 1, "other_role": 1}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({f"{LLAMA}_output_label": None}, "unlabelled"),
        ({f"{QWEN}_output_label": "E"}, "unlabelled"),
        ({f"{LLAMA}_error": "timeout"}, "unlabelled"),
        ({f"{QWEN}_reason": ""}, "no_reason"),
        ({f"{LLAMA}_reason": None}, "no_reason"),
        ({"output_label": None}, "no_gold"),
        ({"pid": "70001_AB12_1_9"}, "unknown"),
        ({"pid": "70001_AB12_1_9", "output_label": None}, "unknown"),
    ],
)
def test_a_preference_on_an_answer_that_enters_no_pair_is_counted_and_gives_no_row(tmp_path, change, why):
    responses = datasets.load_responses(write(tmp_path / "x.json", [flat(1), flat(2) | change]))
    path = write(tmp_path / "clean_pref_quality_harmful.json", [said(1), said(2)])
    frame = datasets.load_pair_judgments(path, responses)
    assert set(frame["question_id"]) == {"70001_AB12_1_1"} and frame.attrs["counts"] == {"ok": 2, why: 1}
    alone = datasets.load_pair_judgments(path)
    assert alone.attrs["counts"] == {"ok": 4}, "without answers nothing tells against it"


def test_an_answer_of_a_model_without_answers_is_unknown(tmp_path):
    responses = datasets.load_responses(write(tmp_path / "x.json", [flat(1)]))
    rows = [said(1), said(1) | {"evaluatee": "DeepSeek-V3"}]
    frame = datasets.load_pair_judgments(write(tmp_path / "clean_pref_quality_harmful.json", rows), responses)
    assert frame.attrs["counts"] == {"ok": 2, "unknown": 1} and set(frame["right"]) == {QWEN}


def test_a_question_whose_gold_one_of_the_files_tells_has_gold(tmp_path):
    write(tmp_path / "llama31_8b.jsonl", [of_model(1, "A", None), of_model(2, "A", None)])
    write(tmp_path / "ds_v3.jsonl", [of_model(1, "B", 1)])
    assert datasets.load_responses(tmp_path).without_gold == {"99923_3NNN1LV8_2"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"evaluator": None}, ["'evaluator' holds null"]),
        ({"evaluatee": LLAMA}, ["same model"]),
        ({"pid": 5}, ["'pid' holds 5"]),
        ({"pid": "70001_AB12_1_1"}, ["judged by", "before", "line 1, record 1"]),
        ({"backward_comparison": ...}, ["'backward_comparison' is missing"]),
    ],
)
def test_defects_are_told_with_file_and_record(tmp_path, change, words):
    path = tmp_path / "clean_pref_quality_harmful.json"
    record = {name: value for name, value in (said(2) | change).items() if value is not ...}
    path.write_text("\n".join(map(json.dumps, [said(1), record])), encoding="utf-8")
    message = refused(datasets.load_pair_judgments, path)
    assert message.startswith(f"{path}, line 2, record 2") and all(word in message for word in words), message


def test_a_folder_holds_all_arms_and_an_arm_only_once(tmp_path):
    for name in ("clean_pref_quality_harmful", "clean_pref_2w_quality_harmful", "clean_pref_quality_ben"):
        write(tmp_path / f"{name}.json", [said(1 if "harmful" in name else 2)])
    write(tmp_path / "clean_self_recog_quality_harmful.json", [said(1, kind="detection")])
    write(tmp_path / "notes.json", [])
    frame = datasets.load_pair_judgments(tmp_path)
    assert sorted(cells(items(frame), "own", "condition", "task", "score")) == [
        ("right", "none", "correct", 1.0),
        ("wrong", "none", "correct", 0.0),
        ("wrong", "none", "wrote", 0.0),
        ("wrong", "wrong_2", "correct", 0.0),
    ]
    with pytest.raises(FileNotFoundError, match="clean_pref_quality_harmful"):
        (tmp_path / "empty").mkdir()
        datasets.load_pair_judgments(tmp_path / "empty")


def judged(number: int, one: Any, two: Any, output: Any, gold: Any = "A", **more: Any) -> dict[str, Any]:
    """One synthetic record of a judged pair: the judge's own answer is the first of the two."""
    return of_pair(number, one, two, gold) | {"judge_output": output} | more


def test_judged_pairs_come_in_two_files_one_an_order(tmp_path):
    rows = [judged(1, "B", "A", "1", prob_1=0.6, prob_2=0.2), judged(2, "A", "C", "1")]
    write(tmp_path / "llama31_8b.jsonl", rows)
    write(tmp_path / "llama31_8b_reverse.jsonl", [judged(1, "B", "A", "1", prob_1=0.9, prob_2=0.1)])
    frame = datasets.load_pair_judgments(tmp_path)
    assert cells(frame, "question_id", "own", "first", "picked", "right", "right_label", "wrong_label", "article") == [
        ("99923_3NNN1LV8_1", "wrong", "wrong", "wrong", "ds_v3", "A", "B", "99923"),
        ("99923_3NNN1LV8_2", "right", "right", "right", "llama31_8b", "A", "C", "99923"),
        ("99923_3NNN1LV8_1", "wrong", "right", "right", "ds_v3", "A", "B", "99923"),
    ]
    assert frame["p_right"].round(6).tolist()[::2] == [0.25, 0.9]
    assert items(frame)["score"].isna().tolist() == [False, True], "one order alone gives no score"


def test_judged_records_that_form_no_pair_are_counted(tmp_path):
    rows = [
        judged(1, "A", "A", "1"),
        judged(2, "B", "C", "1"),
        judged(3, None, "A", "1"),
        judged(4, "E", "A", "2"),
        judged(5, "B", "A", "2", gold=None),
        judged(6, "B", "A", "neither", gold=1),
        judged(7, "B", "A", "1", ds_v3_output_reason=" "),
        judged(8, "B", "A", "1", llama31_8b_output_reason=None),
        judged(9, "B", "A", "1"),
    ]
    frame = datasets.load_pair_judgments(write(tmp_path / "x.jsonl", rows))
    assert cells(frame, "question_id", "outcome") == [("99923_3NNN1LV8_6", "unparsed"), ("99923_3NNN1LV8_9", "ok")]
    told = {"both_right": 1, "both_wrong": 1, "unlabelled": 2, "no_reason": 2, "no_gold": 1}
    assert frame.attrs["counts"] == told | {"unparsed": 1, "ok": 1}


def test_defects_of_judged_pairs(tmp_path):
    three = judged(1, "B", "A", "1") | {"qwen_output_label": "C", "qwen_output_reason": "So."}
    assert "3 models" in refused(datasets.load_pair_judgments, write(tmp_path / "x.jsonl", [three]))
    bad = [judged(1, "B", "A", "1", prob_1=-0.5, prob_2=0.5)]
    assert "'prob_1'" in refused(datasets.load_pair_judgments, write(tmp_path / "x.jsonl", bad))
    assert "expected preferences" in refused(datasets.load_pair_judgments, write(tmp_path / "x.jsonl", [{"a": 1}]))


# --- programs --------------------------------------------------------------------------------------------------------


def program(number: int, one: Any, two: Any, **more: Any) -> dict[str, Any]:
    """One synthetic record: two programs with a flag each for being right."""
    return {
        "unique_id": number,
        "problem": "Add two numbers.",
        "assistent_1_answer": "return a + b",
        "assistent_2_answer": "return a - b",
        "assistent_1_is_correct": one,
        "assistent_2_is_correct": two,
        "game_1_spb_score": [0.7, 0.2, 0.1],
        "game_2_spb_score": [0.6, 0.3, 0.1],
        **more,
    }


def programs(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    return write(tmp_path / "llama-3.3-70b_gpt-4o_eval.jsonl", rows)


def test_programs_are_counted_by_kind(tmp_path):
    kinds = [(True, True)] * 260 + [(False, False)] * 70 + [(False, True)] * 29 + [(True, False)] * 19
    rows = [program(n, *flags) for n, flags in enumerate(kinds)]
    for row in [row for row in rows if not row["assistent_1_is_correct"] and row["assistent_2_is_correct"]][:28]:
        row["assistent_1_answer_restyle_qwen3"] = "return b + a"
    rows[0]["assistent_1_answer_restyle"] = rows[-1]["assistent_1_answer_restyle"] = "return b + a"  # not harmful
    loaded = datasets.load_code_pairs(programs(tmp_path, rows))
    assert by_kind(loaded) == {"both_right": 260, "both_wrong": 70, "harmful": 29, "restyled": 28, "beneficial": 19}
    assert len(loaded) == 2 * (29 + 19) and tuple(loaded.columns) == frames.PAIRWISE
    assert set(loaded["outcome"]) == {"unparsed"}, "what the numbers mean is not told in the files"
    assert by_kind(datasets.load_code_pairs(tmp_path)) == by_kind(loaded)


def by_kind(frame):
    """The pairs of programs by kind, without the outcomes of games."""
    return {kind: n for kind, n in frame.attrs["counts"].items() if kind not in {*frame["outcome"]}}


def test_the_judges_program_stands_first_in_game_1(tmp_path):
    rows = [program(1, False, True), program(2, True, False)]
    frame = datasets.load_code_pairs(programs(tmp_path, rows))
    judge, other = "llama-3.3-70b", "gpt-4o"
    assert cells(frame, "question_id", "own", "first", "right", "wrong", "judge", "judge_vendor") == [
        ("1", "wrong", "wrong", other, judge, judge, "llama"),
        ("1", "wrong", "right", other, judge, judge, "llama"),
        ("2", "right", "right", judge, other, judge, "llama"),
        ("2", "right", "wrong", judge, other, judge, "llama"),
    ]
    assert frame["picked"].isna().all() and set(frame["category"]) == {"code"}


def test_verdicts_on_programs_need_the_meaning_of_the_numbers(tmp_path):
    rows = [
        program(1, False, True),
        program(2, False, True, game_1_spb_score=[0.2, 0.2, 0.6], game_2_spb_score=[0.4, 0.4, 0.2]),
        program(3, False, True, game_1_spb_score=None, game_2_spb_score=[0.1, None, 0.2]),
    ]
    path = programs(tmp_path, rows)
    by_place = datasets.load_code_pairs(path, scores=("first", "second", "tie"))
    assert by_place["picked"].tolist() == ["wrong", "right", None, None, None, None]
    assert by_place["outcome"].tolist() == ["ok", "ok", "tie", "unparsed", "unparsed", "unparsed"]
    assert by_place["p_right"].round(6).tolist()[:2] == [round(2 / 9, 6), round(2 / 3, 6)]
    by_owner = datasets.load_code_pairs(path, scores=("own", "other", "tie"))
    assert by_owner["picked"].tolist()[:2] == ["wrong", "wrong"]
    for words in (("first", "second"), ("first", "other", "tie"), ("tie", "tie", "tie")):
        assert "scores" in refused(datasets.load_code_pairs, path, scores=words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"assistent_1_is_correct": "yes"}, ["assistent_1_is_correct", "true or false"]),
        ({"assistent_2_is_correct": 1}, ["assistent_2_is_correct"]),
        ({"unique_id": None}, ["'unique_id' holds null"]),
        ({"unique_id": 1}, ["more than once: 1 (lines 1, 2)"]),
        ({"game_1_spb_score": [0.1, 0.9]}, ["game_1_spb_score", "three numbers"]),
        ({"game_2_spb_score": ["a", 1, 2]}, ["game_2_spb_score", "number"]),
    ],
)
def test_defects_of_programs(tmp_path, change, words):
    path = programs(tmp_path, [program(1, False, True), program(2, False, True) | change])
    message = refused(datasets.load_code_pairs, path, scores=("first", "second", "tie"))
    assert str(path) in message and all(word in message for word in words), message


def test_a_flag_that_is_null_is_counted_and_a_name_must_tell_who_wrote_what(tmp_path):
    assert by_kind(datasets.load_code_pairs(programs(tmp_path, [program(1, None, True)]))) == {"unflagged": 1}
    message = refused(datasets.load_code_pairs, write(tmp_path / "mine.jsonl", [program(1, True, True)]))
    assert "mine.jsonl" in message and "<judge>_<other>_eval.jsonl" in message


# --- hub -------------------------------------------------------------------------------------------------------------


def test_judgments_on_pairs_come_from_the_hub_and_are_recorded(tmp_path):
    hub = Hub({REPO: Repo()})
    files = {f"data/clean_pref_quality_{case}.json": [said(1 + (case == "ben"))] for case in ("harmful", "ben")}
    files["code/llama-3.3-70b_gpt-4o_eval.jsonl"] = [program(1, False, True)]
    hub.repos[REPO].commit({name: json.dumps(rows).encode() for name, rows in files.items()})
    listed = [f"data/clean_pref_quality_{case}.json" for case in ("harmful", "ben")]
    lines = f"""
hub.DOWNLOADS = folder
entry = {{"repo": {REPO!r}, "judgments": "data"}}
frame = datasets.load_pair_judgments("hub", hub=entry)
again = datasets.load_pair_judgments("hub", hub=entry | {{"judgments": {listed!r}}})
code = datasets.load_code_pairs("hub", entry | {{"judgments": "code"}})
result = [frame.equals(again), sorted(frame.own), code.attrs["counts"], [each["file"] for each in recorded()]]
"""
    with running_hub(hub):
        result = Client(tmp_path, hub.url).run(lines)
    assert result == [True, ["right", "right", "wrong", "wrong"], {"harmful": 1, "unparsed": 2}, list(files)]
