"""Arena-Hard's judgments, questions, answers and texts: both layouts, every defect, and real published files."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helpers import datasets, frames
from helpers.config import Hub
from helpers.types import PAIRWISE, Answer, Question
from tests.test_datasets import refused, write

JUDGE, MODEL, BASE = "gpt-4.1", "qwq-32b", "o3-mini-2025-01-31"


def new(uid: str, *scores: Any, **more: Any) -> dict[str, Any]:
    """One synthetic line of the v2.0 layout; a score `...` stands for a game that is null."""
    games = [None if score is ... else {"score": score, "judgment": {"answer": f"[[{score}]]"}} for score in scores]
    line = {"uid": uid, "category": "hard_prompt", "judge": JUDGE, "model": MODEL, "baseline": BASE, "games": games}
    return {name: value for name, value in (line | more).items() if value is not ...}


def old(id: str, *scores: Any, **more: Any) -> dict[str, Any]:
    """One synthetic line of the v0.1 layout."""
    games = [{"score": score, "judgment": f"I say [[{score}]].", "user_prompt": "..."} for score in scores]
    return {"question_id": id, "model": "vicuna", "judge": "gpt-4-1106-preview", "games": games, **more}


def place(root: Path, *names: str) -> Path:
    """A path below `root` whose folder exists."""
    path = root.joinpath(*names)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def shown(loaded: datasets.Loaded) -> list[tuple]:
    frame = loaded.frame
    return list(zip(*(frame[name] for name in ("question_id", "first", "score", "verdict", "outcome")), strict=True))


def test_both_layouts_give_two_rows_a_line_with_the_baseline_first_in_game_1(tmp_path):
    path = place(tmp_path, "arena-hard-v2.0", "model_judgment", JUDGE, f"{MODEL}.jsonl")
    loaded = datasets.load_arena(write(path, [new("u1", "A>>B", "B>A")]))
    assert tuple(loaded.frame.columns) == frames.GAMES and loaded.problems == ()
    one, two = loaded.frame.to_dict("records")
    common = {
        "experiment": "published",
        "source": f"arena-hard-v2.0/{JUDGE}/{MODEL}",
        "question_id": "u1",
        "category": "hard_prompt",
        "judge": JUDGE,
        "judge_vendor": "gpt",
        "judge_model": JUDGE,
        "candidate": MODEL,
        "candidate_vendor": "qwen",
        "baseline": BASE,
        "condition": "none",
        "repeat": 0,
        "games": 2,
        "outcome": "ok",
    }
    assert one == common | {"first": "baseline", "score": "A>>B", "verdict": "A>>B"}
    assert two == common | {"first": "candidate", "score": "B>A", "verdict": "B>A"}
    older = datasets.load_arena(write(tmp_path / "vicuna.jsonl", [old("q1", "A=B", "B>A")])).frame.iloc[1]
    assert (older["judge"], older["candidate"], older["category"]) == ("gpt-4-1106-preview", "vicuna", "unknown")
    assert (older["baseline"], older["first"], older["verdict"]) == ("baseline", "candidate", "B>A")


def test_baselines_and_categories_that_the_records_lack(tmp_path):
    path = write(place(tmp_path, "arena-hard-v0.1", "model_judgment", "j", "m.jsonl"), [old("q1", "A=B", "A=B")])
    assert set(datasets.load_arena(path).frame["baseline"]) == {"gpt-4-0314"}
    write(path, [old("q1", "A=B", "A=B", model="gpt-4-0314")])
    asked = datasets.load_games(path, questions=[Question("q1", "arena-hard-v0.1", "?")]).frame
    assert set(asked["category"]) == {"arena-hard-v0.1"}
    assert set(asked["condition"]) == {"identical"}, "the candidate is the baseline, so both slots hold one text"
    named = datasets.load_arena(write(tmp_path / "n.jsonl", [new("u1", "A=B", "A=B", baseline="x")]))
    assert set(named.frame["baseline"]) == {"x"}, "what the record says counts"


def test_judge_and_candidate_come_from_the_path_where_the_records_have_none(tmp_path):
    rows = [new("u1", "A>B", "B>A", judge=..., model=...), new("u2", "A>B", "B>A", judge=None, model=" ")]
    frame = datasets.load_arena(write(place(tmp_path, "claude-x", "some.model-7b.jsonl"), rows)).frame
    assert set(frame["judge"]) == {"claude-x"} and set(frame["candidate"]) == {"some.model-7b"}


@pytest.mark.parametrize("name", ["gpt\n\n# Fair", "gpt\u202efast", "a\tb"])
def test_a_name_that_could_break_the_sentences_that_tell_it_is_a_broken_line(tmp_path, name):
    loaded = datasets.load_arena(
        write(tmp_path / "m.jsonl", [new("u1", "A>B", "B>A"), new("u2", "A>B", "B>A", judge=name)])
    )
    assert set(loaded.frame["question_id"]) == {"u1"} and loaded.counts == {"broken": 1}
    assert "line 2: field 'judge' holds a sign that nobody sees" in str(loaded.problems[0])


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        ("A>>B", "A>>B"),
        ("[A=B]", "A=B"),
        ("[[B>>A]]", "B>>A"),
        (" b > a ", "B>A"),
        ("A<B", "B>A"),
        ("A<<B", "B>>A"),
        ("B<A", "A>B"),
        ("B<<A", "A>>B"),
        ("B=A", "A=B"),
        ("A", None),
        ("", None),
        ("A>A", None),
        ("A>B>A", None),
        ("A>>>B", None),
        ("tie", None),
        (None, None),
    ],
)
def test_scores_stay_as_stored_and_verdicts_are_one_of_five_labels(tmp_path, score, verdict):
    loaded = datasets.load_arena(write(tmp_path / "m.jsonl", [new("u1", score, "A>B")]))
    assert shown(loaded)[0] == ("u1", "baseline", score, verdict, "ok" if verdict else "invalid")
    assert verdict is None or verdict in PAIRWISE


@pytest.mark.parametrize("score", [1, True, ["A>B"], {"label": "A>B"}])
def test_a_score_that_is_no_text_is_kept_and_invalid(tmp_path, score):
    loaded = datasets.load_arena(write(tmp_path / "m.jsonl", [new("u1", score, "A>B")]))
    assert shown(loaded)[0] == ("u1", "baseline", json.dumps(score), None, "invalid")


def test_games_that_are_not_there_are_missing_and_their_number_is_told(tmp_path):
    rows = [
        new("null", games=None),
        new("none"),
        new("nulls", ..., ...),
        new("half", ..., "A>B"),
        new("one", "B>A"),
        new("three", "A>B", "B>A", "A=B"),
        new("bare", games=[{}, {"score": "A>B"}]),
    ]
    loaded = datasets.load_arena(write(tmp_path / "m.jsonl", rows))
    frame = loaded.frame
    outcomes = frame.groupby("question_id", sort=False)["outcome"].agg(list).to_dict()
    assert outcomes == {
        "null": ["missing", "missing"],
        "none": ["missing", "missing"],
        "nulls": ["missing", "missing"],
        "half": ["missing", "ok"],
        "one": ["ok", "missing"],
        "three": ["ok", "ok"],
        "bare": ["invalid", "ok"],
    }
    numbers = frame.drop_duplicates("question_id").set_index("question_id")["games"].to_dict()
    assert numbers == {"null": 0, "none": 0, "nulls": 2, "half": 2, "one": 1, "three": 3, "bare": 2}
    assert [(p.kind, p.line) for p in loaded.problems] == [("more_games", 6)]
    assert frame["verdict"].map(lambda verdict: verdict is None or verdict in PAIRWISE).all()


def test_the_first_of_several_lines_on_a_question_counts_and_the_others_are_named(tmp_path):
    rows = [new("u1", "A>B", "B>A"), new("u2", "A=B", "A=B"), new("u1", "B>A", "A>B"), new("u1", None, None)]
    loaded = datasets.load_arena(write(tmp_path / "m.jsonl", rows))
    assert shown(loaded)[0] == ("u1", "baseline", "A>B", "A>B", "ok") and len(loaded.frame) == 4
    (problem,) = loaded.problems
    assert (problem.kind, problem.line, loaded.counts) == ("duplicate", 3, {"duplicate": 1})
    assert "2 later lines" in problem.text and "u1 (line 3, 4)" in problem.text
    many = [new(f"u{n}", "A>B", "B>A") for n in range(30)]
    (problem,) = datasets.load_arena(write(tmp_path / "m.jsonl", many + many)).problems
    assert "30 later lines" in problem.text and "and 20 more" in problem.text


def test_broken_lines_are_told_with_file_and_line_and_nothing_else_is_lost(tmp_path):
    good = json.dumps(new("good", "A>B", "B>A")).encode()
    lines = {
        2: b'{"uid": "torn", "games": [{"sc',
        3: b"\xff\xfe",
        4: b"[1, 2]",
        5: json.dumps({"category": "x", "games": []}).encode(),
        6: json.dumps(new("x", games="A>B")).encode(),
        7: json.dumps(new("x", games=["A>B", "B>A"])).encode(),
        8: json.dumps(new("x", "A>B", "B>A", games=...)).encode(),
        9: b'{"uid": "x", "uid": "y", "games": []}',
        10: json.dumps(new("x", "A>B", "B>A", judge=["gpt-4"])).encode(),
        11: json.dumps(new("half \ud83d", "A>B", "B>A")).encode(),
        12: json.dumps(new(True, "A>B", "B>A")).encode(),
        13: b"[" * 100000,
        14: b'{"uid": "x", "n": ' + b"1" * 5000 + b"}",
        16: json.dumps(new("last", "A=B", "A=B")).encode()[:-1],
    }
    rows = [lines.get(number, b"") for number in range(1, 17)]
    rows[0], rows[14] = b"\xef\xbb\xbf" + good + b"\r", json.dumps(new(7, "A>B", "B>A")).encode()
    loaded = datasets.load_arena(write(tmp_path / "m.jsonl", b"\n".join(rows)))
    assert list(loaded.frame["question_id"]) == ["good", "good", "7", "7"]
    assert {p.line for p in loaded.problems} == set(lines) and loaded.counts == {"broken": len(lines)}
    assert all(str(problem).startswith(f"m.jsonl, line {problem.line}: ") for problem in loaded.problems)


def test_a_file_a_judges_folder_and_a_tree_of_judges(tmp_path):
    bench = tmp_path / "data" / "arena-hard-v2.0"
    for judge in ("gpt-4.1", "gemini-2.5"):
        for model in ("deepseek-r1", "qwq-32b"):
            rows = [new(f"u{n}", "A>B", "B>A", judge=judge, model=model) for n in range(3)]
            write(place(bench, "model_judgment", judge, f"{model}.jsonl"), rows)
    copy = place(bench, "model_judgment", "gpt-4.1", ".ipynb_checkpoints", "qwq-32b-checkpoint.jsonl")
    write(copy, [new("u1", "A>B", "B>A")])
    write(bench / "question.jsonl", [{"uid": "u0", "category": "hard_prompt", "prompt": "?"}])
    write(place(bench, "model_answer", "qwq-32b.jsonl"), [{"uid": "u0", "model": "qwq-32b", "messages": []}])
    sources = {f"arena-hard-v2.0/{j}/{m}" for j in ("gpt-4.1", "gemini-2.5") for m in ("deepseek-r1", "qwq-32b")}
    for source in (tmp_path, bench, bench / "model_judgment"):
        loaded = datasets.load_arena(source)
        assert set(loaded.frame["source"]) == sources and loaded.problems == (), source
        assert len(loaded.frame.drop_duplicates(["source", "judge", "candidate"])) == 4, "judges are never pooled"
    one = datasets.load_arena(bench / "model_judgment" / "gpt-4.1")
    assert set(one.frame["source"]) == {name for name in sources if "gpt-4.1" in name}
    file = datasets.load_arena(bench / "model_judgment" / "gpt-4.1" / "qwq-32b.jsonl")
    assert set(file.frame["source"]) == {"arena-hard-v2.0/gpt-4.1/qwq-32b"}


def test_titles_never_tell_whose_machine_it_is(tmp_path):
    home = place(tmp_path, "home", "ann", "x.jsonl")
    write(home, [new("u1", "A>B", "B>A")])
    assert set(datasets.load_arena(home).frame["source"]) == {"x"}
    assert set(datasets.load_arena(home.parent).frame["source"]) == {"x"}
    assert set(datasets.load_arena(home.parents[1]).frame["source"]) == {"ann/x"}
    told = datasets.load_arena(write(home, [new("u1", "A>B", "B>A"), {}])).problems
    assert [str(problem)[:16] for problem in told] == ["x.jsonl, line 2:"]


def test_two_files_never_share_a_source(tmp_path):
    for fork in ("one", "two"):
        write(place(tmp_path, fork, "v0.1", "j", "m.jsonl"), [old("q1", "A>B", "B>A")])
    assert set(datasets.load_arena(tmp_path).frame["source"]) == {"one/v0.1/j/m", "two/v0.1/j/m"}


def test_what_is_beside_the_judges_folders_or_no_judgment_is_told_and_not_read(tmp_path):
    write(place(tmp_path, "j", "m.jsonl"), [new("u1", "A>B", "B>A", judge="j")])
    write(tmp_path / "samples.jsonl", [new("u1", "A>B", "B>A", judge="j"), new("u2", "A>B", "B>A", judge="k")])
    write(place(tmp_path, "answers", "m.jsonl"), [{"uid": "u1", "model": "m"}] * 5)
    write(place(tmp_path, "j", "empty.jsonl"), "")
    loaded = datasets.load_arena(tmp_path)
    assert set(loaded.frame["judge"]) == {"j"} and len(loaded.frame) == 2
    assert {(problem.file, problem.kind) for problem in loaded.problems} == {
        ("samples.jsonl", "skipped"),
        ("answers/m.jsonl", "skipped"),
        ("j/empty.jsonl", "skipped"),
    }
    mixed = datasets.load_arena(tmp_path / "samples.jsonl")
    assert sorted(set(mixed.frame["judge"])) == ["j", "k"] and mixed.counts == {"several": 1}


def test_what_holds_no_judgment_at_all_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        datasets.load_arena(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="nothing"):
        datasets.load_arena(tmp_path)
    message = refused(datasets.load_arena, write(tmp_path / "x.jsonl", [{"uid": "u1", "prompt": "?"}]))
    assert "x.jsonl" in message and "'games' is missing" in message
    assert "no judgment" in refused(datasets.load_arena, write(tmp_path / "x.jsonl", ""))


def test_the_hub_brings_the_files_that_its_entry_lists_and_no_others(tmp_path, monkeypatch):
    files = [f"data/arena-hard-v2.0/model_judgment/{judge}/qwq-32b.jsonl" for judge in ("gpt-4.1", "gemini-2.5")]
    asked = []

    def fetch(repo: str, filename: str, revision: str = "main") -> Path:
        asked.append((repo, filename, revision))
        judge = filename.split("/")[-2]
        return write(place(tmp_path, "snapshots", "c0ffee", filename), [new("u1", "A>B", "B>A", judge=judge)])

    monkeypatch.setattr("helpers.datasets.hub.fetch", fetch)
    entry = {"repo": "lmarena-ai/arena-hard-auto", "revision": "main", "judgments": files}
    frame = datasets.load_arena("hub", entry).frame
    assert asked == [("lmarena-ai/arena-hard-auto", file, "main") for file in files]
    assert set(frame["source"]) == {"arena-hard-v2.0/gpt-4.1/qwq-32b", "arena-hard-v2.0/gemini-2.5/qwq-32b"}
    with pytest.raises(ValueError, match="judgments"):
        datasets.load_arena("hub", {"repo": "x"})
    assert Hub(**entry, answers=["data/arena-hard-v2.0/model_answer/qwq-32b.jsonl"]).judgments == files


def test_a_folder_on_the_hub_is_refused_with_what_lies_in_it(monkeypatch):
    monkeypatch.setattr("helpers.datasets.hub._files", lambda repo, revision: ["data/b/gpt-4.1/m.jsonl"])
    for load, what in ((datasets.load_arena, "judgments"), (datasets.load_arena_answers, "answers")):
        with pytest.raises(FileNotFoundError) as caught:
            load("hub", {"repo": "x", what: "data/b"})
        assert "<model>.jsonl in data/b/" in str(caught.value) and "it has data/b/gpt-4.1/m.jsonl" in str(caught.value)


def test_a_folder_without_answers_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"<model>\.jsonl in this folder, found nothing"):
        datasets.load_arena_answers(tmp_path)


def test_twice_the_files_are_twice_the_work(tmp_path):
    def calls(files: int) -> int:
        """How many functions are called to read so many files of 50 questions."""
        folder, count = tmp_path / str(files), 0
        for model in range(files):
            rows = [new(f"u{n}", "A>B", "B>>A", model=f"m{model}", note="x" * 2000) for n in range(50)]
            write(place(folder, JUDGE, f"m{model}.jsonl"), rows)

        def counting(frame: object, event: str, arg: object) -> None:
            nonlocal count
            count += event in ("call", "c_call")

        sys.setprofile(counting)
        try:
            frame = datasets.load_arena(folder).frame
        finally:
            sys.setprofile(None)
        assert len(frame) == 100 * files
        return count

    calls(2)  # what is imported or kept at the first time
    few, more, most = map(calls, (5, 10, 20))
    assert most - more <= 1.05 * 2 * (more - few)


# --- questions and answers -------------------------------------------------------------------------------------------


def test_questions_of_all_three_layouts(tmp_path):
    rows = [
        {"uid": "u1", "category": "hard_prompt", "subcategory": "math", "prompt": "What is 2 + 2?"},
        {"uid": "u2", "category": "arena-hard-v0.1", "cluster": "Sums", "prompt": "And 3 + 3?"},
    ]
    path = write(tmp_path / "question.jsonl", rows)
    assert datasets.load_arena_questions(tmp_path) == datasets.load_arena_questions(path)
    assert datasets.load_arena_questions(path) == (
        Question("u1", "hard_prompt", "What is 2 + 2?"),
        Question("u2", "arena-hard-v0.1", "And 3 + 3?"),
    )
    turns = [{"content": "First?"}, {"content": "Second?"}]
    older = {"question_id": "q1", "category": "arena-hard-v0.1", "cluster": "Sums", "turns": turns}
    (question,) = datasets.load_arena_questions(write(path, [older]))
    assert question == Question("q1", "arena-hard-v0.1", "First?")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"category": ...}, ["'category' is missing"]),
        ({"prompt": " "}, ["'prompt' is empty"]),
        ({"prompt": None}, ["'prompt' holds null"]),
        ({"uid": "u1"}, ["question ids more than once", "u1 (lines 1, 2)"]),
        ({"uid": ...}, ["neither 'uid' nor 'question_id'"]),
    ],
)
def test_defects_of_questions_are_told_by_name(tmp_path, change, words):
    row = {"uid": "u1", "category": "c", "prompt": "?"}
    rows = [row, {name: value for name, value in (row | {"uid": "u2"} | change).items() if value is not ...}]
    message = refused(datasets.load_arena_questions, write(tmp_path / "question.jsonl", rows))
    assert "question.jsonl" in message and all(word in message for word in words), message


META = {
    "token_len": 12,
    "header_count": {"h1": 1, "h2": 2, "h3": 0, "h4": 0, "h5": 0, "h6": 0},
    "list_count": {"ordered": 3, "unordered": 4},
    "bold_count": {"**": 5, "__": 1},
}


def said(uid: str, content: Any, **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": content}]
    return {"uid": uid, "ans_id": "a", "model": MODEL, "messages": messages, "tstamp": 1.0, **more}


def test_answers_come_with_the_style_that_their_file_tells(tmp_path):
    rows = [said("u1", {"answer": "Four.", "thought": "2 + 2"}, metadata=META), said("u2", "Six.", metadata=META)]
    write(tmp_path / f"{MODEL}.jsonl", rows)
    older = {"question_id": "q1", "answer_id": "a", "model_id": BASE, "conv_metadata": META | {"token_len": 3}}
    older["choices"] = [{"index": 0, "turns": [{"content": "Eight.", "token_len": 3}]}]
    write(tmp_path / "base.jsonl", [older])
    loaded = datasets.load_arena_answers(tmp_path)
    assert loaded.answers == (
        Answer("q1", BASE, "gpt", "", "Eight.", BASE),
        Answer("u1", MODEL, "qwen", "", "Four.", MODEL),
        Answer("u2", MODEL, "qwen", "", "Six.", MODEL),
    )
    columns = ["question_id", "candidate", "token_len", "header_count", "list_count", "bold_count"]
    assert list(loaded.frame.columns) == columns
    assert loaded.frame.values.tolist()[:2] == [["q1", BASE, 3, 3, 7, 6], ["u1", MODEL, 12, 3, 7, 6]]


def test_style_is_counted_where_the_file_does_not_tell_it(tmp_path):
    text = "## Sum\n1. **two** and\n* two\n\n__four__\n```python\n# not a header\n- no list\n```\n# End"
    loaded = datasets.load_arena_answers(write(tmp_path / "m.jsonl", [said("u1", {"answer": text}), said("u2", None)]))
    style = loaded.frame.set_index("question_id")
    assert style.loc["u1", ["header_count", "list_count", "bold_count"]].tolist() == [2, 2, 2]
    assert style.loc["u2", "token_len"] == 0 and loaded.answers[1].outcome == "empty" and loaded.answers[1].text == ""
    assert datasets.style_of("```\n# open fence")["header_count"] == 0


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([said("u1", "x"), said("u1", "y")], ["answers to a question more than once", "u1 by qwq-32b"]),
        ([said("u1", "x", metadata=META | {"list_count": "many"})], ["list_count", "many"]),
        ([said("u1", "x", metadata=META | {"bold_count": {"**": -1}})], ["bold_count"]),
        ([said("u1", "x", metadata=[1])], ["'metadata'"]),
        ([said("u1", "x", metadata=META | {"token_len": 10**400})], ["token_len"]),
        ([said("u1", 5)], ["'answer' holds 5"]),
        ([{"uid": "u1", "model": "m"}], ["neither 'messages' nor 'choices'"]),
        ([{"uid": "u1", "messages": []}], ["no text where an answer stands"]),
    ],
)
def test_defects_of_answers_are_told_by_name(tmp_path, rows, words):
    message = refused(datasets.load_arena_answers, write(tmp_path / "m.jsonl", rows))
    assert "m.jsonl" in message and all(word in message for word in words), message


def test_one_answer_in_two_files_is_refused(tmp_path):
    write(tmp_path / "a.jsonl", [said("u1", "x")])
    write(tmp_path / "b.jsonl", [said("u1", "x")])
    assert "u1 by qwq-32b is in a.jsonl too" in refused(datasets.load_arena_answers, tmp_path)


# --- real published data ---------------------------------------------------------------------------------------------


def seeds_class(one: Any, two: Any) -> str:
    """The notebook's rule on two stored scores, written from its words: opposite direction, same strength or not."""
    sides = {"A>>B": ("A", 2), "A>B": ("A", 1), "A=B": ("", 0), "B>A": ("B", 1), "B>>A": ("B", 2)}
    if one not in sides or two not in sides:
        return "significant_bias"
    (winner, strength), (other, as_strong) = sides[one], sides[two]
    if {winner, other} not in ({"A", "B"}, {""}):
        return "significant_bias"
    return "no_bias" if strength == as_strong else "weak_bias"


def test_every_real_file_holds_what_is_published_of_it(real_data):
    expected = json.loads((real_data / "arena_hard" / "expected_position_bias.json").read_text(encoding="utf-8"))
    loaded = datasets.load_arena(real_data / "arena_hard")
    assert loaded.counts == {"skipped": 2}, [str(problem) for problem in loaded.problems]
    assert loaded.frame["source"].nunique() == len(expected) == 25
    for entry in expected:
        source = entry["file"].removeprefix("arena_hard/").removesuffix(".jsonl")
        alone = datasets.load_arena(real_data / entry["file"])
        frame = loaded.frame[loaded.frame["source"] == source].reset_index(drop=True)
        assert frame.equals(alone.frame), source
        assert frame["question_id"].nunique() * 2 == len(frame) == entry["total"] * 2, source
        assert alone.counts.get("duplicate", 0) == entry["duplicate_ids"], source
        held = frame.loc[frame["games"] == 2, "score"]
        assert Counter(str(score) for score in held) == entry["score_counts"], source
        lines = frame[frame["games"] == 2].groupby("question_id", sort=False)["score"].agg(list)
        assert entry["total"] - len(lines) == entry["skipped_not_two_games"], source
        classes = Counter(seeds_class(*scores) for scores in lines)
        for name in ("no_bias", "weak_bias", "significant_bias"):
            assert classes[name] == entry[name], (source, name)
        patterns = Counter(f"{one} -> {two}" for one, two in lines if seeds_class(one, two) == "significant_bias")
        assert patterns == entry["significant_patterns"], source


def test_what_the_real_files_of_arena_hard_are(real_data):
    frame = datasets.load_arena(real_data / "arena_hard").frame
    same = frame[frame["condition"] == "identical"]
    assert set(same["source"]) == {"v0.1/DeepSeek-R1-Distill-Llama-70B/gpt-4-0314"} and len(same) == 302
    bracketed = frame[frame["judge"] == "Qwen2-72B-Instruct-AWQ"]
    assert set(bracketed["score"]) == {"[A=B]"} and set(bracketed["verdict"]) == {"A=B"}
    lone = frame[frame["games"] == 1]
    assert list(lone["outcome"]) == ["ok", "missing"] and set(lone["candidate"]) == {"o4-mini-high"}
    assert dict(frame["outcome"].value_counts()) == {"ok": 15317, "invalid": 152, "missing": 1}
