"""Published pairwise verdicts of other projects as the games frame: every format, every defect, and real files."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

import pytest

from helpers import datasets
from helpers.frames import GAMES as COLUMNS
from helpers.types import Question
from tests.test_datasets import refused, write

load_fastchat_pairs = partial(datasets.load_pairwise, format="fastchat-pair")
load_letter_pairs = partial(datasets.load_pairwise, format="analyzer")
load_llmbar = partial(datasets.load_pairwise, format="llmbar")
load_pandalm = partial(datasets.load_pairwise, format="pandalm")
load_battles = partial(datasets.load_pairwise, format="arena-battles")


def verdicts(frame: Any) -> list[tuple]:
    assert tuple(frame.columns) == COLUMNS
    return list(zip(*(frame[name] for name in ("first", "score", "verdict", "outcome")), strict=True))


def by_place(frame: Any) -> list[str | None]:
    """The verdicts of games that come with the baseline first and with the candidate first by turns."""
    told = verdicts(frame)
    assert [first for first, *_ in told] == ["baseline", "candidate"] * (len(told) // 2)
    return [verdict for _, _, verdict, _ in told]


def fastchat(id: int, one: Any, two: Any, turn: int = 1, **more: Any) -> dict[str, Any]:
    names = {"model_1": "phi-3", "model_2": "phi-3-dpo", "judge": ["gpt-4", "pair-v2"], "turn": turn}
    return {"question_id": id, **names, "g1_winner": one, "g2_winner": two, **more}


@pytest.mark.parametrize(
    ("one", "two", "first", "second"),
    [
        ("model_1", "model_1", "A>B", "B>A"),
        ("model_1", "model_2", "A>B", "A>B"),
        ("model_2", "model_1", "B>A", "B>A"),
        ("tie", "model_2", "A=B", "A>B"),
        ("tie", "tie", "A=B", "A=B"),
        ("error", "model_1", None, "B>A"),
        (None, "error", None, None),
        (1, ["model_1"], None, None),
    ],
)
def test_fastchats_winners_are_models_and_become_places(tmp_path, one, two, first, second):
    frame = load_fastchat_pairs(write(tmp_path / "gpt-4_pair.jsonl", [fastchat(81, one, two)]))
    told = verdicts(frame)
    assert by_place(frame) == [first, second]
    assert [outcome for *_, outcome in told] == ["ok" if verdict else "invalid" for verdict in (first, second)]
    if one == "error":
        assert told[0][1] == "error", "what says nothing stays as it was stored"
    assert set(frame["judge"]) == {"gpt-4"} and set(frame["baseline"]) == {"phi-3"} and set(frame["games"]) == {2}


def test_each_turn_is_a_source_of_its_own_and_a_line_comes_once(tmp_path):
    rows = [fastchat(81, "tie", "tie"), fastchat(81, "model_1", "model_1", turn=2), fastchat(82, "tie", "tie")]
    path = write(tmp_path / "x.jsonl", rows)
    frame = datasets.load_games(path, questions=[Question("81", "writing", "?")]).frame
    assert frame["source"].tolist() == ["x, turn 1"] * 2 + ["x, turn 2"] * 2 + ["x, turn 1"] * 2
    assert frame["category"].tolist() == ["writing"] * 4 + ["unknown"] * 2
    assert "lines 1, 4" in refused(load_fastchat_pairs, write(path, [*rows, rows[0]]))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"turn": 0}, "'turn' holds 0"),
        ({"turn": True}, "'turn' holds true"),
        ({"judge": []}, "'judge'"),
        ({"model_1": None}, "'model_1'"),
        ({"question_id": None}, "'question_id'"),
        ({"g2_winner": ...}, "'g2_winner' is missing"),
    ],
)
def test_defects_are_told_with_file_line_and_field(tmp_path, change, words):
    row = {name: value for name, value in fastchat(82, "tie", "tie", **change).items() if value is not ...}
    path = write(tmp_path / "x.jsonl", [fastchat(81, "tie", "tie"), row])
    message = refused(load_fastchat_pairs, path)
    assert "x.jsonl, line 2" in message and words in message


def letters(id: int, one: Any, two: Any) -> dict[str, Any]:
    names = {"category": "writing", "judge": "gpt-4-0613", "model_1": "vicuna", "model_2": "alpaca"}
    return {"question_id": id, **names, "verdict_12": one, "verdict_21": two}


def test_letters_are_places_already(tmp_path):
    path = write(tmp_path / "gpt-4-0613.jsonl", [letters(81, "A", "B"), letters(82, "C", None), letters(83, "B", "D")])
    frame = load_letter_pairs(path)
    assert by_place(frame) == ["A>B", "B>A", "A=B", None, "B>A", None]
    assert frame["score"].tolist() == ["A>B", "B>A", "A=B", None, "B>A", "D"]
    assert set(frame["source"]) == {"Position-Bias-Analyzer/gpt-4-0613"} and set(frame["category"]) == {"writing"}
    assert set(frame["baseline"]) == {"vicuna"} and set(frame["candidate"]) == {"alpaca"}


def battles(*winners: str, id: int = 0, other: str = "b") -> list[dict[str, Any]]:
    return [{"question_id": id, "model_a": "a", "model_b": other, "winner": winner} for winner in winners]


@pytest.mark.parametrize(
    ("winners", "games"),
    [
        (["model_b"] * 6, ["B>>A", "B>>A"]),
        (["model_b"] * 4, ["B>>A", "B>A"]),
        (["model_a"] * 2, ["A>B", "A>B"]),
        (["model_a"] + ["model_b"] * 3, ["A>B", "B>>A"]),
        (["tie", "model_a"], ["A=B", "A>B"]),
        (["tie", "tie"], ["A=B", "A=B"]),
        (["model_a"] * 3, ["A>>B"]),
    ],
)
def test_a_strong_battle_is_one_game_and_no_order_is_claimed(tmp_path, winners, games):
    frame = load_battles(write(tmp_path / "b.jsonl", battles(*winners)))
    assert frame["verdict"].tolist() == games and frame["repeat"].tolist() == list(range(len(games)))
    assert set(frame["condition"]) == {"order_unknown"} and set(frame["judge"]) == {"unknown"}


@pytest.mark.parametrize("winners", [["model_a"] * 5, ["tie"] * 3, ["model_a", "model_b", "tie"], ["model_b"] * 7])
def test_battles_that_no_two_games_make_are_refused(tmp_path, winners):
    message = refused(load_battles, write(tmp_path / "b.jsonl", battles(*winners, id=9)))
    assert "question 9, a and b" in message


def test_an_unknown_winner_is_refused_by_line(tmp_path):
    message = refused(load_battles, write(tmp_path / "b.jsonl", battles("model_a", "A")))
    assert "line 2" in message and "'winner' holds \"A\"" in message


def test_pandalm_has_one_order_and_a_row_a_judge(tmp_path):
    rows = [
        {"idx": 0, "cmp_key": "bloom-7b_llama-7b", "annotators": [2, 2, 2], "gpt-3.5-turbo": "1", "pandalm-7b": 2},
        {"idx": 1, "cmp_key": "bloom-7b_llama-7b", "annotators": [0, 0, 0], "gpt-3.5-turbo": "Tie", "pandalm-7b": 0},
        {
            "idx": 2,
            "cmp_key": "opt-7b_llama-7b",
            "annotators": [1, 1, 1],
            "gpt-3.5-turbo": "garbage",
            "pandalm-7b": True,
        },
    ]
    frame = load_pandalm(write(tmp_path / "p.jsonl", rows))
    told = frame.groupby("judge")["verdict"].agg(list).to_dict()
    assert told == {"gpt-3.5-turbo": ["A>B", "A=B", None], "pandalm-7b": ["B>A", "A=B", None]}
    assert set(frame["first"]) == {"baseline"} and set(frame["games"]) == {1}
    assert frame["baseline"].tolist() == ["bloom-7b"] * 4 + ["opt-7b"] * 2
    assert frame["score"].tolist()[4] == "garbage"
    rows[0]["cmp_key"] = "one"
    assert "'cmp_key'" in refused(load_pandalm, write(tmp_path / "p.jsonl", rows))


def llmbar(id: str, one: Any, two: Any, **more: Any) -> dict[str, Any]:
    return {"id": id, "evaluator": "GPT-4", "prompt": "Swap", "winner": one, "winner_swapped": two, **more}


def test_llmbars_winners_are_outputs_whatever_the_order(tmp_path):
    rows = [llmbar("Natural/000", "1", "1"), llmbar("Adversarial/Manual/001", "2", None, first_winner="1")]
    path = write(tmp_path / "verdicts.jsonl", rows)
    frame = load_llmbar(path)
    assert by_place(frame) == ["A>B", "B>A", "B>A", None]
    assert frame["category"].tolist() == ["Natural"] * 2 + ["Adversarial/Manual"] * 2
    about = ["source", "judge", "judge_model", "judge_vendor", "candidate"]
    assert frame.loc[0, about].tolist() == ["LLMBar", "GPT-4/Swap", "GPT-4", "gpt", "output_2"]
    labels = [{"id": "Natural/000", "label": 1}, {"id": "Adversarial/Manual/001", "label": 2}]
    frame = load_llmbar(path, labels=write(tmp_path / "instances.jsonl", labels))
    assert by_place(frame) == ["B>A", "A>B", "B>A", None]
    assert set(frame["candidate"]) == {"better"} and set(frame["baseline"]) == {"worse"}
    labelled = partial(load_llmbar, path)
    message = refused(labelled, labels=write(tmp_path / "instances.jsonl", labels[:1]))
    assert "line 2" in message and "'Adversarial/Manual/001' has no label" in message
    bad = write(tmp_path / "instances.jsonl", [{"id": "Natural/000", "label": 3}])
    assert "expected 1 or 2" in refused(labelled, labels=bad)
    assert "more than once" in refused(load_llmbar, write(path, [rows[0], rows[0]]))


@pytest.mark.parametrize("name", ["fastchat-pair", "analyzer", "arena-battles", "pandalm", "llmbar"])
def test_another_format_is_told_by_its_fields(tmp_path, name):
    load = partial(datasets.load_pairwise, format=name)
    assert "found other; expected" in refused(load, write(tmp_path / "x.jsonl", [{"other": 1}]))
    with pytest.raises(FileNotFoundError, match="no such file"):
        load(tmp_path / "nowhere.jsonl")


# --- real published data ---------------------------------------------------------------------------------------------

WINNERS = {
    ("baseline", "A>B"): "baseline",
    ("baseline", "B>A"): "candidate",
    ("candidate", "A>B"): "candidate",
    ("candidate", "B>A"): "baseline",
}


def winners(frame: Any, keys: list[str]) -> list[tuple]:
    """Who won each comparison in game 1 and in game 2: baseline, candidate, tie, or None where it is not readable."""
    pairs: dict[tuple, list] = {}
    for *key, first, verdict in frame[[*keys, "first", "verdict"]].itertuples(index=False, name=None):
        won = "tie" if verdict == "A=B" else WINNERS.get((first, verdict))
        pairs.setdefault(tuple(key), []).append(won)
    assert all(len(pair) == 2 for pair in pairs.values())
    return [tuple(pair) for pair in pairs.values()]


def test_real_pairs_of_position_bias_analyzer(real_data):
    folder = real_data / "mt_bench"
    expected = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["position_bias_analyzer"]
    told = {"gpt-4-0613": (3914, 4800), "gpt-3.5-turbo-1106": (3327, 4781), "gemini-pro": (2751, 4787)}
    for judge, (agreeing, parsed) in told.items():
        frame = load_letter_pairs(folder / "position_bias_analyzer" / f"{judge}.jsonl")
        assert set(frame["judge"]) == {judge} and len(frame) == 4800
        pairs = winners(frame, ["question_id", "candidate"])
        kinds = Counter(
            "unparsed"
            if None in pair
            else "consistent"
            if pair[0] == pair[1]
            else "tie in one order only"
            if "tie" in pair
            else "primacy (A,A)"
            if pair == ("baseline", "candidate")
            else "recency (B,B)"
            for pair in pairs
        )
        assert kinds == expected[judge]["classes"]
        # The authors count both verdicts of a pair, and one whose partner was not parsed as consistent.
        readable = [(one, other) for pair in pairs for one, other in (pair, pair[::-1]) if one is not None]
        assert (sum(other in (one, None) for one, other in readable), len(readable)) == (agreeing, parsed)
        for first, column in (("baseline", "verdict_12"), ("candidate", "verdict_21")):
            letter = {"A>B": "A", "B>A": "B", "A=B": "C", None: "None"}
            found = Counter(letter[verdict] for verdict in frame.loc[frame["first"] == first, "verdict"])
            assert found == expected[judge][column]


def test_real_pairs_of_fastchat(real_data):
    folder = real_data / "mt_bench"
    expected = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["gpt4_pair_phi3"]
    frame = load_fastchat_pairs(folder / "gpt4_pair_phi3.jsonl")
    names = {"baseline": "model_1", "candidate": "model_2", "tie": "tie", None: "error"}
    pairs = Counter(f"{names[one]} / {names[two]}" for one, two in winners(frame, ["source", "question_id"]))
    assert pairs == expected["pairs"] and len(frame) == 2 * expected["rows"]


def test_real_battles(real_data):
    path = real_data / "arena_hard" / "arena_hard_battles.jsonl"
    frame = load_battles(path)
    assert (len(frame), frame["question_id"].nunique(), frame["candidate"].nunique()) == (960, 120, 4)
    weight = frame["verdict"].map(lambda verdict: 3 if ">>" in verdict else 1)
    won = frame["verdict"].map(
        lambda verdict: "tie" if "=" in verdict else "model_a" if verdict[0] == "A" else "model_b"
    )
    assert weight.groupby(won).sum().to_dict() == {"model_a": 347, "model_b": 1758, "tie": 31}


def test_all_real_cells_of_llmbar(real_data):
    folder = real_data / "pairwise"
    expected = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["llmbar"]["stats"]
    instances = [json.loads(line) for line in (folder / "llmbar" / "instances.jsonl").read_text().splitlines()]
    label = {each["id"]: each["label"] for each in instances}
    frame = load_llmbar(folder / "llmbar" / "verdicts.jsonl", labels=folder / "llmbar" / "instances.jsonl")
    assert len(frame) == 2 * 12570 and frame["judge"].nunique() == 30
    keys = ["category", "judge", "question_id"]
    cells: dict[str, Counter[str]] = {}
    names = list(frame[keys].drop_duplicates().itertuples(index=False, name=None))
    for (subset, judge, id), (worse_first, better_first) in zip(names, winners(frame, keys), strict=True):
        # Output 1 stands first in what LLMBar does not call swapped.
        plain, swapped = (better_first, worse_first) if label[id] == 1 else (worse_first, better_first)
        cell = cells.setdefault("|".join([subset, *judge.split("/", 1)]), Counter())
        right = plain == "candidate", swapped == "candidate"
        cell.update(n=1, correct_False=right[0], correct_True=right[1], correct_both=all(right), equal=plain == swapped)
    assert len(cells) == len(expected) == 150
    for name, cell in cells.items():
        assert {key: cell[key] for key in cell} == {key: expected[name][key] for key in cell}, name


def test_real_verdicts_of_pandalm(real_data):
    folder = real_data / "pairwise"
    expected = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["pandalm"]
    frame = load_pandalm(folder / "pandalm" / "testset_verdicts.jsonl")
    names = {"A>B": "1", "B>A": "2"}
    for judge, key, tie in (("gpt-3.5-turbo", "gpt35_values", "Tie"), ("pandalm-7b", "pandalm_values", "0")):
        found = frame.loc[frame["judge"] == judge, "verdict"]
        assert Counter(names.get(verdict, tie if verdict else "garbage") for verdict in found) == expected[key]
    assert len(frame) == 2 * expected["rows"] and set(frame["first"]) == {"baseline"}
