"""Votes on two answers as games: pairs by name, votes of people as gold, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers import datasets, paths
from helpers.analyze.formats import load
from helpers.datasets.games import majority
from tests.test_datasets import write


def vote(judge: str = "expert_1", a: str = "gpt-4", b: str = "alpaca-13b", winner: str = "model_a", **more) -> dict:
    return {"judge": judge, "model_a": a, "model_b": b, "question_id": 81, "turn": 1, "winner": winner} | more


def item(idx: int, key: str, votes: list, **verdicts) -> dict:
    return {"idx": idx, "cmp_key": key, "annotators": votes} | (verdicts or {"gpt": "1"})


def test_a_pair_is_the_same_whichever_model_was_named_first(tmp_path: Path) -> None:
    rows = [vote(), vote("expert_2", "alpaca-13b", "gpt-4", "model_a"), vote(winner="tie (inconsistent)", turn=2)]
    frame = datasets.load_pairwise(write(tmp_path / "h.jsonl", [*rows, vote()]), "votes")
    assert set(frame["baseline"]) == {"alpaca-13b"} and set(frame["candidate"]) == {"gpt-4"}
    assert frame["verdict"].tolist() == ["B>A", "A>B", "A=B", "B>A"]
    assert frame["source"].tolist() == ["h, turn 1", "h, turn 1", "h, turn 2", "h, turn 1"]
    # A person may vote again.
    assert frame["repeat"].tolist() == [0, 0, 0, 1] and set(frame["question_id"]) == {"81"}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (vote(winner="A"), r"line 1.*field 'winner' holds \"A\" \(str\), expected model_a, model_b, tie"),
        (vote(turn=0), "field 'turn' holds 0"),
        ({"judge": "x", "winner": "tie"}, "expected votes on MT-Bench"),
    ],
)
def test_a_vote_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, row: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        datasets.load_pairwise(write(tmp_path / "h.jsonl", [row]), "votes")


def test_items_of_one_instruction_are_one_question(tmp_path: Path) -> None:
    rows = [item(0, "a_b", [1, 1, 2]), item(1, "a_c", [0, 0, 0], gpt="Tie"), item(2, "a_b", [2, 2, 1], gpt="garbage")]
    frame = load(write(tmp_path / "p.jsonl", rows)).frame
    assert frame["question_id"].tolist() == ["0", "0", "1"]
    assert frame["outcome"].tolist() == ["ok", "ok", "invalid"] and frame["won"].tolist()[:2] == [0.0, 0.5]
    assert frame["gold"].tolist() == [0.0, 0.5, 1.0]


def test_a_pair_without_a_majority_has_no_gold(tmp_path: Path) -> None:
    rows = [item(0, "a_b", [1, 0, 2]), item(1, "a_c", [2, 2, 1])]
    gold = datasets.load_pairwise(write(tmp_path / "p.jsonl", rows), "pandalm")["gold"]
    assert gold.isna().tolist() == [True, False] and gold[1] == 1.0
    assert majority(["tie", "first", "second"]) is None


@pytest.mark.parametrize("votes", [[1, 2], [1, 2, 3], "112", [1, 2, None]])
def test_an_item_needs_three_votes(tmp_path: Path, votes: object) -> None:
    with pytest.raises(ValueError, match=r"line 1.*'annotators'.*expected three votes"):
        datasets.load_pairwise(write(tmp_path / "p.jsonl", [item(0, "a_b", votes)]), "pandalm")


def test_items_need_a_judges_verdict(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", [{"idx": 0, "cmp_key": "a_b", "annotators": [1, 1, 2]}])
    with pytest.raises(ValueError, match=r"p.jsonl, line 1.* no field with a judge's verdict .*found idx, cmp_key"):
        datasets.load_pairwise(path, "pandalm")


def test_with_labels_the_better_output_is_the_candidate(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [{"id": "Natural/1", "label": 2}, {"id": "Manual/2", "label": 1}])
    verdicts = [
        {"id": "Natural/1", "evaluator": "e", "prompt": "p", "winner": "2", "winner_swapped": "1"},
        {"id": "Manual/2", "evaluator": "e", "prompt": "p", "winner": None, "winner_swapped": "1"},
    ]
    frame = datasets.load_pairwise(write(tmp_path / "v.jsonl", verdicts), "llmbar", labels=labels)
    assert set(frame["candidate"]) == {"better"} and set(frame["baseline"]) == {"worse"}
    found = {(row.question_id, row.first): row.verdict for row in frame.itertuples()}
    # Natural/1: output 2 is better. Asked as stored it stands second and wins; swapped it stands first and loses.
    assert found["Natural/1", "baseline"] == "B>A" == found["Natural/1", "candidate"]
    # Manual/2: output 1 is better. Swapped it stands second and wins; as stored there is no verdict.
    assert found["Manual/2", "candidate"] is None and found["Manual/2", "baseline"] == "B>A"
    assert frame.groupby("question_id")["category"].first().to_dict() == {"Natural/1": "Natural", "Manual/2": "Manual"}


def test_the_samples_of_the_data_folder_are_read_as_it_says(tmp_path: Path) -> None:
    section = (paths.DATA / "README.md").read_text(encoding="utf-8").split("## Votes of people")[1].split("\n## ")[0]
    people, item = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    for name, sample in (("people.jsonl", people), ("items.jsonl", item)):
        (tmp_path / name).write_text(sample, encoding="utf-8")
    (voted,) = load(tmp_path / "people.jsonl").frame.to_dict("records")
    # other-model comes first in the alphabet, and won.
    assert (voted["baseline"], voted["candidate"], voted["judge"]) == ("other-model", "some-model", "expert_1")
    assert voted["won"] == 0.0
    frame = load(tmp_path / "items.jsonl").frame.set_index("judge")
    assert frame.loc["some-judge", "won"] == 1.0 == frame.loc["some-judge", "gold"]
    assert frame.loc["other-judge", "outcome"] == "invalid"
