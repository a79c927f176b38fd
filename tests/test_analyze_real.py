"""Real public verdicts through the whole of it: what their READMEs say comes out."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from helpers.analyze import Analysis, analyze, summary
from helpers.types import Estimate


def only(found: Analysis, id: str, **where: str) -> Estimate:
    here = [each for each in found.estimates if each.id == id and dict(each.where) == where]
    assert len(here) == 1, f"{id} {where}: {[dict(e.where) for e in found.estimates if e.id == id][:9]}"
    return here[0]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(found: Analysis) -> dict[str, int]:
    """How often each verdict was given, by all judges."""
    return found.held.counts.groupby("verdict")["n"].sum().to_dict()


def test_fastchat_pairs(real_data: Path) -> None:
    found = analyze(real_data / "mt_bench" / "gpt4_pair_phi3.jsonl")
    at = {"judge": "gpt-4", "candidate": found.held.frame["candidate"].iloc[0]}
    pairs = Counter({"model_1 / model_2": 16, "model_2 / model_1": 2, "same": 20 + 18 + 8, "a tie once": 5 + 3 + 1})
    read = sum(pairs.values())
    assert only(found, "primacy_share", **at).value == pytest.approx(16 / read)
    assert only(found, "recency_share", **at).value == pytest.approx(2 / read)
    assert only(found, "position_consistency", **at).value == pytest.approx(46 / read)
    assert only(found, "invalid_share", **at).value == pytest.approx(2 / 75)
    assert only(found, "unreadable_share", judge="gpt-4").value == pytest.approx(3 / 150)


@pytest.mark.parametrize(
    ("judge", "consistent", "answers", "pairs"),
    [
        ("gpt-4-0613", 3914, 4800, (1957, 121, 150)),
        pytest.param("gpt-3.5-turbo-1106", 3327, 4781, (1657, 264, 354), marks=pytest.mark.slow),
        pytest.param("gemini-pro", 2751, 4787, (1369, 87, 714), marks=pytest.mark.slow),
    ],
)
def test_position_bias_analyzer(
    real_data: Path, judge: str, consistent: int, answers: int, pairs: tuple[int, int, int]
) -> None:
    found = analyze(real_data / "mt_bench" / "position_bias_analyzer" / f"{judge}.jsonl")
    each = only(found, "position_consistency", judge=judge)
    unread = round(only(found, "unreadable_share", judge=judge).value * 4800)
    agree, first, second = pairs
    assert round(each.value * each.n) == agree
    assert round(only(found, "primacy_share", judge=judge).value * each.n) == first
    assert round(only(found, "recency_share", judge=judge).value * each.n) == second
    assert 4800 - unread == answers
    # Their own rule: both directions of a pair count, and an answer whose partner was not read is consistent.
    alone = answers - 2 * each.n
    assert 2 * agree + alone == consistent


def test_human_votes_and_both_order_verdicts(real_data: Path) -> None:
    votes = analyze(real_data / "mt_bench" / "human_judgments.jsonl")
    assert written(votes) == {"model_a": 1293, "model_b": 1282, "tie": 780}
    assert votes.held.frame["judge"].nunique() == 65 and votes.judgments == 3355
    pairs = analyze(real_data / "mt_bench" / "gpt4_pair_judgments.jsonl")
    assert written(pairs) == {"model_b": 1610, "tie (inconsistent)": 380, "tie": 220, "model_a": 190}
    assert only(pairs, "both_order_inconsistent", turn="all").value == pytest.approx(380 / 2400)
    for turn, count in (("1", 188), ("2", 192)):
        each = only(pairs, "both_order_inconsistent", turn=turn)
        assert each.value == pytest.approx(count / 1200) and each.clusters == 80


def test_single_scores(real_data: Path) -> None:
    found = analyze(real_data / "mt_bench" / "gpt4_single_phi3_dpo.jsonl")
    (mean,) = [each for each in found.estimates if each.id == "candidate_score_mean"]
    assert mean.value == pytest.approx(8.2) and (mean.n, mean.clusters) == (160, 80)
    bench = analyze(real_data / "mt_bench" / "arena_bench_v1_single_scores.jsonl")
    expected = json.loads((real_data / "mt_bench" / "expected_values.json").read_text(encoding="utf-8"))
    means = expected["arena_bench_v1"]["mean_by_model"]
    found_means = {e.where["candidate"]: e for e in bench.estimates if e.id == "candidate_score_mean"}
    assert len(found_means) == 15 and sum(each.n for each in found_means.values()) == 4500 - 38
    for model, value in means.items():
        assert found_means[model].value == pytest.approx(value, abs=5e-5)
    assert bench.losses["unparsed"].sum() == 38


def test_llmbar_cells_are_those_of_its_statistics(real_data: Path) -> None:
    folder = real_data / "pairwise"
    found = analyze(folder / "llmbar" / "verdicts.jsonl")
    cells = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["llmbar"]["stats"]
    checked = 0
    for name, cell in cells.items():
        subset, evaluator, prompt = name.split("|")
        each = only(found, "gold_accuracy_by_category", judge=f"{evaluator}/{prompt}", category=subset)
        assert round(each.value * each.n) == cell["correct_False"] + cell["correct_True"], name
        checked += 1
    assert checked == 150
    nulls = Counter(
        f"{row['evaluator']}/{row['prompt']}"
        for row in lines(folder / "llmbar" / "verdicts.jsonl")
        if row["winner"] is None and row["winner_swapped"] is None
    )
    for judge in ("GPT-4/Swap", "ChatGPT/CoT", "Falcon/Vanilla"):
        evaluator, prompt = judge.split("/")
        equal = sum(cell["equal"] for name, cell in cells.items() if name.endswith(f"|{evaluator}|{prompt}"))
        each = only(found, "position_consistency", judge=judge, candidate="better")
        assert round(each.value * each.n) == equal - nulls[judge]  # two unreadable verdicts count as equal there


def test_pandalm(real_data: Path) -> None:
    path = real_data / "pairwise" / "pandalm" / "testset_verdicts.jsonl"
    found = analyze(path)
    ties = 0
    for row in lines(path):
        (vote, count), *_ = Counter(row["annotators"]).most_common(1)
        ties += row["gpt-3.5-turbo"] == "Tie" and vote == 0 and count > 1
    own = only(found, "gold_accuracy", judge="pandalm-7b")
    assert (round(own.value * own.n), own.n) == (667, 999)
    other = only(found, "gold_accuracy", judge="gpt-3.5-turbo")
    # 692 where "Tie" is not taken for 0; 25 replies are garbage.
    assert (round(other.value * other.n), other.n) == (692 + ties, 999 - 25)
    assert written(found)["A=B"] == 38 + 107


def test_llm_eval_first_places(real_data: Path) -> None:
    found = analyze(real_data / "llm_eval" / "exp3_full_hint_top1.jsonl")
    expected = {
        "claude_fast": (25, 13, 42),
        "claude_thinking": (30, 14, 36),
        "gemini_fast": (13, 20, 22),
        "gemini_thinking": (11, 18, 16),
        "gpt_fast": (16, 17, 47),
        "gpt_thinking": (18, 7, 55),
    }
    counts = found.held.counts
    for judge, numbers in expected.items():
        mine = counts[counts["judge"] == judge]
        vendors = [
            mine.loc[mine["verdict"].str.startswith(vendor), "n"].sum() for vendor in ("claude", "gemini", "gpt")
        ]
        assert tuple(vendors) == numbers
    for vendor, own, of in (("claude", 55, 160), ("gpt", 102, 160), ("gemini", 38, 100)):
        each = only(found, "self_bias_as_counted", vendor=vendor, hint="full")
        assert (each.value, each.n) == (pytest.approx(own / of), of)


def test_arena_hard_classes_and_trees(real_data: Path) -> None:
    expected = json.loads((real_data / "arena_hard" / "expected_position_bias.json").read_text(encoding="utf-8"))
    assert expected  # the README's table in full
    found = analyze(real_data / "arena_hard" / "v2.0" / "gemini-2.5-flash" / "gemini-2.0-flash-lite-001.jsonl")
    at = {"judge": "gemini-2.5-flash", "candidate": "gemini-2.0-flash-lite-001"}
    for id, count in (("no_bias", 28), ("weak_bias", 14), ("significant_bias", 11)):
        each = only(found, f"{id}_published", **at)
        assert each.value == pytest.approx(count / 53) and each.n == 53
    tree = analyze(real_data / "arena_hard" / "v0.1-greek")
    assert {each.where["judge"] for each in tree.estimates if "judge" in each.where} == {
        "claude-3.5-sonnet-v2",
        "gpt-4o",
    }
    assert "favour" in summary(tree) or "no measurable preference" in summary(tree)


def test_arena_battles_hold_no_places(real_data: Path) -> None:
    found = analyze(real_data / "arena_hard" / "arena_hard_battles.jsonl")
    assert found.held.format == "arena-battles"
    assert not [each for each in found.estimates if each.id.startswith("first_")]
