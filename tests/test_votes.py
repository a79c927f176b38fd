"""Votes of people and verdicts of judges: both formats as one frame, what is refused, and who is right."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest

from helpers import datasets, paths
from helpers.datasets import games as ballots
from helpers.datasets.games import VOTE_COLUMNS as COLUMNS, majority
from tests.test_datasets import write


def vote(judge: str = "expert_1", a: str = "gpt-4", b: str = "alpaca-13b", winner: str = "model_a", **more) -> dict:
    return {"judge": judge, "model_a": a, "model_b": b, "question_id": 81, "turn": 1, "winner": winner} | more


def test_a_pair_is_the_same_whichever_model_was_named_first(tmp_path: Path) -> None:
    people = [vote(), vote("expert_2", "alpaca-13b", "gpt-4", "model_a"), vote("expert_3", winner="tie", turn=2)]
    judges = [vote("gpt4_pair"), vote("gpt4_pair", winner="tie (inconsistent)", turn=2)]
    frame = ballots.load_votes(write(tmp_path / "h.jsonl", people), write(tmp_path / "g.jsonl", judges))
    assert tuple(frame.columns) == COLUMNS
    assert frame["verdict"].tolist() == ["second", "first", "tie", "second", None]
    assert frame["outcome"].tolist() == ["ok"] * 4 + ["inconsistent"]
    assert frame["kind"].tolist() == ["person"] * 3 + ["judge"] * 2
    pairs = frame["pair"].tolist()
    assert pairs[0] == pairs[1] == pairs[3] == "81, turn 1: alpaca-13b, gpt-4" and pairs[2] == pairs[4] != pairs[0]
    assert set(frame["question_id"]) == {"81"} and set(frame["condition"]) == {"turn 1", "turn 2"}


def test_only_those_people_are_kept_who_are_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "h.jsonl", [vote(), vote("author_1")])
    assert ballots.load_votes(path, who="expert")["voter"].tolist() == ["expert_1"]
    with pytest.raises(ValueError, match="no vote of anybody whose name begins with 'crowd'"):
        ballots.load_votes(path, who="crowd")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (vote(winner="A"), r"line 1.*field 'winner' holds \"A\" \(str\), expected model_a, model_b, tie"),
        (vote(b="gpt-4"), "both hold"),
        (vote(turn=0), "field 'turn' holds 0"),
        ({"judge": "x", "winner": "tie"}, "expected votes on MT-Bench"),
    ],
)
def test_a_vote_that_cannot_be_read_is_told_with_its_place(tmp_path: Path, row: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ballots.load_votes(write(tmp_path / "h.jsonl", [row]))


def test_a_judge_judges_a_pair_once_a_person_may_vote_again(tmp_path: Path) -> None:
    twice = write(tmp_path / "h.jsonl", [vote(), vote()])
    assert len(ballots.load_votes(twice)) == 2
    with pytest.raises(ValueError, match=r"verdicts more than once: .*lines 1, 2"):
        ballots.load_votes(twice, twice)


def item(idx: int, key: str, votes: list, **verdicts) -> dict:
    return {"idx": idx, "cmp_key": key, "annotators": votes} | (verdicts or {"gpt": "1"})


def test_items_of_one_instruction_are_one_question(tmp_path: Path) -> None:
    rows = [item(0, "a_b", [1, 1, 2]), item(1, "a_c", [0, 0, 0], gpt="Tie"), item(2, "a_b", [2, 2, 1], gpt="garbage")]
    frame = ballots.load_votes(write(tmp_path / "p.jsonl", rows))
    assert tuple(frame.columns) == COLUMNS and len(frame) == 12
    assert frame.groupby("pair")["question_id"].first().tolist() == ["0", "0", "1"]
    judged = frame[frame["kind"] == "judge"]
    assert judged["verdict"].tolist() == ["first", "tie", None]
    assert judged["outcome"].tolist() == ["ok", "ok", "unreadable"]
    gold = ballots.gold_of_votes(frame)
    assert gold["correct"].tolist()[:2] == [1.0, 1.0] and pd.isna(gold["correct"].iloc[2])
    assert gold["judge"].tolist() == ["gpt"] * 3 and gold["question_id"].tolist() == ["0", "0", "1"]


def test_a_pair_without_a_majority_has_no_gold(tmp_path: Path) -> None:
    rows = [item(0, "a_b", [1, 0, 2]), item(1, "a_c", [2, 2, 1])]
    gold = ballots.gold_of_votes(ballots.load_votes(write(tmp_path / "p.jsonl", rows)))
    assert gold["correct"].tolist() == [0.0]
    assert majority(["tie", "first", "second"]) is None


@pytest.mark.parametrize("votes", [[1, 2], [1, 2, 3], "112", [1, 2, None]])
def test_an_item_needs_three_votes(tmp_path: Path, votes: object) -> None:
    with pytest.raises(ValueError, match=r"line 1.*'annotators'.*expected three votes"):
        ballots.load_votes(write(tmp_path / "p.jsonl", [item(0, "a_b", votes)]))


def test_items_without_a_judge_hold_votes_of_people_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "p.jsonl", [{"idx": 0, "cmp_key": "a_b", "annotators": [1, 1, 2]}])
    assert len(ballots.load_votes(path)) == 3
    with pytest.raises(ValueError, match=r"p.jsonl, line 1.* no field with a judge's verdict .*found idx, cmp_key"):
        datasets.load_pairwise(path, "pandalm")


def test_gold_of_games_knows_who_stood_first(tmp_path: Path) -> None:
    labels = write(tmp_path / "l.jsonl", [{"id": "Natural/1", "label": 2}, {"id": "Manual/2", "label": 1}])
    verdicts = [
        {"id": "Natural/1", "evaluator": "e", "prompt": "p", "winner": "2", "winner_swapped": "1"},
        {"id": "Manual/2", "evaluator": "e", "prompt": "p", "winner": None, "winner_swapped": "1"},
    ]
    games = datasets.load_pairwise(write(tmp_path / "v.jsonl", verdicts), "llmbar", labels=labels)
    frame = ballots.gold_of_games(games)
    found = {(row.question_id, row.condition): row.correct for row in frame.itertuples()}
    # Natural/1: output 2 is better. Asked as stored it stands second and wins; swapped it stands first and loses.
    assert found["Natural/1", "better second"] == 1.0 and found["Natural/1", "better first"] == 0.0
    assert pd.isna(found["Manual/2", "better first"]) and found["Manual/2", "better second"] == 1.0
    assert frame.groupby("question_id")["category"].first().to_dict() == {"Natural/1": "Natural", "Manual/2": "Manual"}
    with pytest.raises(ValueError, match=r"every game needs 'better'.*output_1, output_2"):
        ballots.gold_of_games(datasets.load_pairwise(tmp_path / "v.jsonl", "llmbar"))


def test_the_better_answer_may_be_the_baseline() -> None:
    games = pd.DataFrame(
        {
            "source": "s",
            "question_id": ["q1", "q1", "q2", "q2"],
            "category": "c",
            "judge": "j",
            "candidate": ["worse", "worse", "better", "better"],
            "baseline": ["better", "better", "worse", "worse"],
            "first": ["baseline", "candidate", "baseline", "candidate"],
            "verdict": ["A>>B", "A>B", "A=B", "A>B"],
            "outcome": "ok",
        }
    )
    frame = ballots.gold_of_games(games)
    assert frame["condition"].tolist() == ["better first", "better second", "better second", "better first"]
    assert frame["correct"].tolist() == [1.0, 0.0, 0.0, 1.0]


def test_the_samples_of_the_data_folder_are_read_as_it_says(tmp_path: Path) -> None:
    section = (paths.DATA / "README.md").read_text(encoding="utf-8").split("## Votes of people")[1].split("\n## ")[0]
    people, item = re.findall(r"```json\n(.*?)```", section, re.DOTALL)
    for name, sample in (("people.jsonl", people), ("items.jsonl", item)):
        (tmp_path / name).write_text(sample, encoding="utf-8")
    (vote,) = ballots.load_votes(tmp_path / "people.jsonl").to_dict("records")
    # other-model comes first in the alphabet, and won.
    assert (vote["pair"], vote["verdict"], vote["voter"]) == (
        "81, turn 1: other-model, some-model",
        "first",
        "expert_1",
    )
    frame = ballots.load_votes(tmp_path / "items.jsonl").set_index("voter")
    assert frame["verdict"].dropna().to_dict() == {
        "annotator 1": "second", "annotator 2": "second", "annotator 3": "tie", "some-judge": "second",
    }  # fmt: skip
    assert frame.loc["other-judge", "outcome"] == "unreadable"


def test_the_public_files_are_read_whole(real_data: Path) -> None:
    votes = ballots.load_votes(
        real_data / "mt_bench/human_judgments.jsonl", real_data / "mt_bench/gpt4_pair_judgments.jsonl"
    )
    people, judge = votes[votes["kind"] == "person"], votes[votes["kind"] == "judge"]
    assert len(people) == 3355 and people["voter"].nunique() == 65 and (people["verdict"] == "tie").sum() == 780
    assert len(judge) == 2400 and (judge["outcome"] == "inconsistent").sum() == 380
    panda = ballots.load_votes(real_data / "pairwise/pandalm/testset_verdicts.jsonl")
    gold = panda[panda["kind"] == "person"].groupby("pair")["verdict"].agg(majority)
    assert Counter(gold) == {"second": 472, "first": 422, "tie": 105}
    said = panda[panda["voter"] == "gpt-3.5-turbo"]
    assert Counter(said["verdict"].fillna("garbage")) == {"second": 476, "first": 460, "tie": 38, "garbage": 25}
