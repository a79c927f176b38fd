"""Our own judgments in the layout of Arena-Hard v2.0: what the original tools would find in the files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pandas as pd
import pytest

from helpers import datasets
from helpers.datasets.games import ORDERS, Game, games_frame
from tests.test_datasets import refused, write

BASE = "o3-mini-2025-01-31"
#: What the benchmark's table of results gives each score; any other one stops it.
KNOWN = {"A>B", "A>>B", "A=B", "A<<B", "A<B", "B>A", "B>>A", "B=A", "B<<A", "B<A"}


def game(id: str, first: str, verdict: str | None, **more: object) -> Game:
    """One game of our own; `missing` where it was never answered."""
    blank = Game("asked", id, "hard_prompt", "gpt-4.1", "qwq-32b", BASE, first, verdict, verdict)
    return blank._replace(**more)


def asked(*pairs: tuple[str, str | None, str | None], **more: object) -> pd.DataFrame:
    rows = [
        game(id, first, verdict, **more) for id, *both in pairs for first, verdict in zip(ORDERS, both, strict=True)
    ]
    return games_frame(rows)


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_a_question_with_the_baseline_first_in_game_1(tmp_path):
    frame = asked(("u2", "A>>B", "B>A"), ("u1", "A=B", "A=B")).iloc[::-1]
    at = ("u2", "gpt-4.1", "qwq-32b", "baseline")
    texts, prompts = {at: "Because.\n[[A>>B]]"}, {at: [{"role": "user", "content": "?"}]}
    (path,) = datasets.write_arena(frame, tmp_path, texts=texts, prompts=prompts)
    assert path == tmp_path / "gpt-4.1" / "qwq-32b.jsonl"
    first, second = lines(path)
    assert [first["uid"], second["uid"]] == ["u1", "u2"]
    assert second == {
        "uid": "u2",
        "category": "hard_prompt",
        "judge": "gpt-4.1",
        "model": "qwq-32b",
        "baseline": BASE,
        "games": [
            {"score": "A>>B", "judgment": {"answer": "Because.\n[[A>>B]]"}, "prompt": prompts[at]},
            {"score": "B>A", "judgment": {"answer": ""}, "prompt": []},
        ],
    }


def test_the_original_tools_read_every_line(tmp_path):
    pairs = [("u1", "A>>B", "B>A"), ("u2", None, "A=B"), ("u3", "B>>A", None), ("u4", "A>B", "A>B")]
    frame = asked(*pairs)
    (path,) = datasets.write_arena(frame, tmp_path)
    table = pd.read_json(path, lines=True)  # as they read it
    assert {"uid", "category", "model", "games"} <= set(table.columns)
    assert (table["games"].map(len) == 2).all()
    null = table["games"].map(lambda pair: any(each is None or each["score"] is None for each in pair))
    assert table.loc[null, "uid"].tolist() == ["u2", "u3"]
    assert {each["score"] for pair in table.loc[~null, "games"] for each in pair} <= KNOWN


def test_what_was_written_loads_as_what_was_asked(tmp_path):
    frame = asked(("u1", "A>>B", "B>A"), ("u2", None, "A=B"), ("u3", "B>A", "A>>B"))
    datasets.write_arena(frame, tmp_path)
    loaded = datasets.load_arena(tmp_path)
    assert loaded.problems == ()
    kept = [name for name in frame.columns if name not in ("experiment", "source")]
    assert loaded.frame[kept].equals(frame[kept])


def test_junk_is_null_and_reversed_labels_are_turned(tmp_path):
    rows = [{"uid": f"u{n}", "games": [{"score": s}, {"score": "A>B"}]} for n, s in enumerate(["A", "[A=B]", "A<<B"])]
    source = write(tmp_path / "m.jsonl", rows)
    (path,) = datasets.write_arena(datasets.load_arena(source).frame, tmp_path / "out")
    assert [line["games"][0]["score"] for line in lines(path)] == [None, "A=B", "B>>A"]


def test_missing_games_are_null_and_questions_without_any_are_left_to_be_asked(tmp_path):
    rows = [
        game("u1", "baseline", "A>B"),
        game("u1", "candidate", None, missing=True),
        game("u2", "baseline", None, missing=True),
        game("u2", "candidate", None, missing=True),
        game("u3", "candidate", "B>A"),
    ]
    (path,) = datasets.write_arena(games_frame(rows), tmp_path)
    told = {line["uid"]: [each and each["score"] for each in line["games"]] for line in lines(path)}
    assert told == {"u1": ["A>B", None], "u3": [None, "B>A"]}


def test_the_first_asking_without_a_condition_is_written(tmp_path):
    first, other = asked(("u1", "A>B", "B>A")), asked(("u1", "A>B", "A>B"), condition="identical")
    frame = pd.concat([first, asked(("u1", "A=B", "A=B"), repeat=1), other])
    (path,) = datasets.write_arena(frame, tmp_path)
    assert [each["score"] for line in lines(path) for each in line["games"]] == ["A>B", "B>A"]
    assert datasets.write_arena(other, tmp_path / "d") == []


def test_a_file_is_replaced_whole_and_never_appended_to(tmp_path):
    frame = asked(("u1", "A>B", "B>A"), ("u2", "A>B", "B>A"))
    (path,) = datasets.write_arena(frame, tmp_path)
    before = path.read_bytes()
    assert datasets.write_arena(frame, tmp_path) == [path] and path.read_bytes() == before
    datasets.write_arena(frame[frame["question_id"] == "u2"], tmp_path)
    assert [line["uid"] for line in lines(path)] == ["u2"]
    assert [entry.name for entry in path.parent.iterdir()] == [path.name], "no half-written file is left"


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    (path,) = datasets.write_arena(asked(("u1", "A>B", "B>A")), tmp_path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        datasets.write_arena(asked(("u1", "B>A", "A>B")), tmp_path)
    assert path.read_bytes() == before and [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_names_of_models_cannot_leave_the_folder_nor_share_a_file(tmp_path):
    frame = asked(("u1", "A>B", "B>A"))
    strange = frame.assign(judge="../../etc", candidate="org/model x")
    (path,) = datasets.write_arena(strange, tmp_path)
    assert path.is_relative_to(tmp_path) and path.name == "org__model_x.jsonl" and ".." not in path.parts
    (line,) = lines(path)
    assert (line["judge"], line["model"]) == ("../../etc", "org/model x")
    both = pd.concat([frame.assign(candidate="org/m"), frame.assign(candidate="org__M")])
    message = refused(datasets.write_arena, both, tmp_path / "new")
    assert "org/m" in message and "org__M" in message and not (tmp_path / "new").exists()


def test_two_verdicts_on_one_question_in_one_order_are_refused_before_anything_is_written(tmp_path):
    frame = pd.concat([asked(("u1", "A>B", "B>A")), asked(("u1", "A=B", "A=B")).assign(source="other")])
    assert "u1 (gpt-4.1 on qwq-32b)" in refused(datasets.write_arena, frame, tmp_path)
    frame = asked(("u1", "A>B", "B>A"))
    frame.loc[1, "baseline"] = "another"
    assert "different baselines" in refused(datasets.write_arena, frame, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_any_text_of_a_reply_can_be_written(tmp_path):
    text = "half \ud83d, \u2028, 水, \x00"
    frame = asked(("u1", "A>B", "B>A"))
    (path,) = datasets.write_arena(frame, tmp_path, texts={("u1", "gpt-4.1", "qwq-32b", "candidate"): text})
    assert lines(path)[0]["games"][1]["judgment"]["answer"] == text
    assert path.read_bytes().isascii() and path.read_bytes().endswith(b"}\n")


def test_real_judgments_survive_being_written(tmp_path, real_data):
    frame = datasets.load_arena(real_data / "arena_hard" / "v2.0").frame
    datasets.write_arena(frame, tmp_path)
    again = datasets.load_arena(tmp_path).frame
    assert again.drop(columns="source").equals(frame.drop(columns="source"))
