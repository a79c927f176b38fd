"""The published counts of experiment 4: against the files they are from, by hand, and what may be concluded."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from helpers import paths
from helpers.biases import position
from helpers.biases.position import published
from helpers.figures import show_position_effects
from helpers.types import Estimate
from tests.pages import FLAT
from tests.runs import published_estimates
from tests.simulation import cr2_by_matrices

FOLDER = paths.EXPERIMENTS / "arena_hard_position_bias"
#: Labels and the invalid, written out here so that a change of the project's own order is noticed.
FIVE = ["A>>B", "A>B", "A=B", "B>A", "B>>A", "invalid"]
NOTEBOOK = {"source": "v2.1/gemini-2.5/qwq-32b", "judge": "gemini-2.5", "candidate": "qwq-32b"}
QWEN = "v0.1/Qwen2-72B-Instruct-AWQ/Phi-3-medium-128k-instruct"
BATCH = "v0.1/gpt-4o-batch_2/llama3_8b"
SAME = "v0.1/DeepSeek-R1-Distill-Llama-70B/gpt-4-0314"


@pytest.fixture(scope="module")
def estimates() -> list[Estimate]:
    return [*published_estimates("arena_hard_position_bias")]


@pytest.fixture(scope="module")
def sources(counts: dict[str, Any]) -> dict[tuple[str, str], published.Source]:
    return {(each.name, each.judge): each for each in published.sources(counts)}


def one(estimates: list[Estimate], id: str, **where: str) -> Estimate:
    (found,) = (each for each in estimates if each.id == id and where.items() <= dict(each.where).items())
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


# --- the counts against the files they are from: read here with json alone --------------------------------------------


def expectations(real_data: Path) -> list[dict[str, Any]]:
    """What the published rule says of each file, computed outside this project."""
    return json.loads((real_data / "arena_hard" / "expected_position_bias.json").read_text())


def test_the_grids_are_those_of_the_files(real_data: Path, counts: dict[str, Any]) -> None:
    expected = {each["file"]: each for each in expectations(real_data)}
    assert len(counts["arena_hard"]["counts"]) == len(expected) == 25
    for name, block in counts["arena_hard"]["counts"].items():
        grid, one_game, other = np.zeros((6, 6), int), Counter(), Counter()
        records = lines(real_data / "arena_hard" / f"{name}.jsonl")
        for record in records:
            stored = [game["score"] for game in record["games"]]
            said = [FIVE.index(score.strip("[]")) if score else 5 for score in stored]
            first, second = [*said, 5][:2]
            grid[first, second] += 1
            cell = f"{FIVE[first]} {FIVE[second]}"
            one_game[cell] += len(stored) == 1
            other[cell] += None not in stored and any(score not in FIVE for score in stored)
        assert grid.tolist() == block["grid"], name
        assert (len(records), records[0]["judge"]) == (block["lines"], block["judge"])
        assert +one_game == Counter(block.get("one_game", {})) and +other == Counter(block.get("other_strings", {}))
        told = expected[f"arena_hard/{name}.jsonl"]
        assert [block["source"][key] for key in ("repository", "path", "commit")] == [
            told[key] for key in ("repo", "path", "commit")
        ]


def test_the_published_reading_of_each_file_comes_out(real_data: Path, estimates: list[Estimate]) -> None:
    for told in expectations(real_data):
        name = told["file"].removeprefix("arena_hard/").removesuffix(".jsonl")
        for kind in ("no_bias", "weak_bias", "significant_bias"):
            found = one(estimates, f"{kind}_published", source=name)
            assert found.value == pytest.approx(told[kind] / told["total"]), (name, kind)
            assert found.n == told["total"]


def test_the_texts_read_again_are_counted_as_they_are(real_data: Path, counts: dict[str, Any]) -> None:
    block = counts["texts_read_again"]
    held, stored, odd = 0, 0, Counter[str]()
    for record in lines(real_data / "arena_hard" / "full_text_samples.jsonl"):
        for game in record["games"]:
            said = game["judgment"]["answer"] if isinstance(game["judgment"], dict) else game["judgment"]
            named = set(re.findall(r"\[\[([AB<>=]+)\]\]", said))
            held += 1
            # One label in double brackets and no other, or none where nothing was stored.
            stored += named == {game["score"]} if game["score"] else not named
            odd.update([game["score"]] if named == {str(game["score"]).strip("[]")} - {game["score"]} else [])
    assert held == block["texts"]
    # Texts that name several labels are read by the benchmarks' own rules: more of them come out, and never fewer.
    assert 0.9 * held < stored <= block["as_stored"] == held - sum(row["texts"] for row in block["other"])
    # The one stored score that texts deny is in single brackets.
    assert odd == {row["stored"]: row["texts"] for row in block["other"]}


def test_the_letters_are_those_of_the_analyzer(real_data: Path, counts: dict[str, Any]) -> None:
    label = {"A": "A>B", "B": "B>A", "C": "A=B", None: "invalid"}
    for judge, cells in counts["position_bias_analyzer"]["counts"].items():
        said = Counter()
        for record in lines(real_data / "mt_bench" / "position_bias_analyzer" / f"{judge}.jsonl"):
            cell = f"{label[record['verdict_12']]} {label[record['verdict_21']]}"
            said[cell, record["question_id"]] += 1
        assert {cell for cell, _ in said} == set(cells)
        assert {cell: [said[cell, question] for question in range(81, 161)] for cell in cells} == cells


def test_the_winners_are_those_of_llmbar(real_data: Path, counts: dict[str, Any]) -> None:
    said: dict[str, Counter] = {}
    for record in lines(real_data / "pairwise" / "llmbar" / "verdicts.jsonl"):
        # Output 1 stands first in the first order, output 2 in the swapped one.
        order_1 = {"1": "A>B", "2": "B>A", None: "invalid"}[record["winner"]]
        order_2 = {"2": "A>B", "1": "B>A", None: "invalid"}[record["winner_swapped"]]
        said.setdefault(f"{record['evaluator']}/{record['prompt']}", Counter())[order_1, order_2] += 1
    names = ["A>B", "B>A", "invalid"]
    grids = {judge: [[cells[one, two] for two in names] for one in names] for judge, cells in said.items()}
    assert grids == counts["llmbar"]["counts"] and len(grids) == 30


def test_equal_verdicts_are_those_of_the_repository(real_data: Path, estimates: list[Estimate]) -> None:
    published: Counter = Counter()
    stored = json.loads((real_data / "pairwise" / "expected_values.json").read_text())["llmbar"]["stats"]
    for name, cell in stored.items():
        published[name.split("|", 1)[1].replace("|", "/")] += cell["published"]["equal"]
    found = {each.where["judge"]: each.value for each in estimates if each.id == "equal_verdicts"}
    assert found == dict(published) and len(stored) == 150


def test_the_inconsistent_verdicts_of_gpt4(real_data: Path, counts: dict[str, Any]) -> None:
    said, each = Counter(), Counter()
    for record in lines(real_data / "mt_bench" / "gpt4_pair_judgments.jsonl"):
        said[str(record["turn"]), record["question_id"]] += record["winner"] == "tie (inconsistent)"
        each[record["turn"], record["question_id"]] += 1
    assert set(each.values()) == {counts["both_orders"]["pairs_per_question"]} == {15}
    assert counts["both_orders"]["counts"] == {turn: [said[turn, q] for q in range(81, 161)] for turn in ("1", "2")}


# --- numbers by hand --------------------------------------------------------------------------------------------------


def test_the_notebooks_numbers_follow_from_what_it_printed(estimates: list[Estimate]) -> None:
    stored = {"no_bias": 529, "weak_bias": 78, "significant_bias": 141, "any_bias": 219, "acceptable_rate": 607}
    for kind, k in stored.items():
        assert one(estimates, f"{kind}_published", **NOTEBOOK).value == pytest.approx(k / 748)
    read = {"no_bias": 529, "weak_bias": 78, "significant_bias": 135}
    read |= {"acceptable_rate": 607, "position_consistency": 607}
    # First twice: 73 + 9 + 8 + 4, second twice: 14 + 9 + 7 + 4.
    read |= {"primacy_share": 94, "recency_share": 34, "first_position_effect": 60}
    for id, k in read.items():
        assert one(estimates, id, **NOTEBOOK).value == pytest.approx(k / 742), id
    effect = one(estimates, "first_position_effect", **NOTEBOOK)
    assert effect.p == pytest.approx(stats.binomtest(94, 128).pvalue) and effect.n == 742
    reach = stats.t.ppf(0.975, 741) * ((128 - 60**2 / 742) / 741 / 742) ** 0.5
    assert (effect.low, effect.high) == pytest.approx((60 / 742 - reach, 60 / 742 + reach))
    # With a tie in one game the second won the other 3 + 2 + 1 times, the first once.
    assert one(estimates, "preference_fairness", **NOTEBOOK).value == pytest.approx(-(94 + 1 - 34 - 6) / 742)
    assert one(estimates, "significant_bias_of_planned", **NOTEBOOK).value == pytest.approx(0.188)
    assert one(estimates, "invalid_share", **NOTEBOOK).value == pytest.approx(6 / 748)


def test_what_the_notebook_did_not_print_is_not_told(counts: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def numbers() -> dict[tuple[str, ...], tuple[float, ...]]:
        none = {name: counts[name] | {"counts": {}} for name in ("llmbar", "arena_hard", "position_bias_analyzer")}
        found = position.from_published({**counts, **none})
        return {
            (e.id, *e.where.values()): (e.value, e.low, e.p)
            for e in found
            if e.where.get("source") == NOTEBOOK["source"]
        }

    before = numbers()
    told = {word for place in before for word in place}
    assert not told & {"first_win_rate", "graded_position_effect", "strong count 3"} and "headline" in told
    # Wherever the pairs stand that were not printed, the numbers that are told stay the same.
    moved = {"no_bias": ("A>>B", "B>>A"), "weak_bias": ("B>>A", "A>B")}
    monkeypatch.setattr(published, "_STAND_IN", moved)
    after = numbers()
    assert set(before) == set(after) and len(before) > 40
    for at, number in before.items():
        assert after[at] == pytest.approx(number, nan_ok=True), at


def test_the_file_of_bracketed_ties_under_both_readings(estimates: list[Estimate]) -> None:
    assert one(estimates, "significant_bias_published", source=QWEN).value == 1.0
    assert one(estimates, "no_bias", source=QWEN).value == 1.0
    assert one(estimates, "invalid_share", source=QWEN).value == 0.0
    effect = one(estimates, "first_position_effect", source=QWEN)
    assert effect.value == 0 and np.isnan([effect.low, effect.p]).all() and "nothing varies" in effect.method
    assert one(estimates, "significant_bias_published", source=BATCH).value == pytest.approx(60 / 64)
    assert one(estimates, "invalid_share", source=BATCH).value == pytest.approx(60 / 64)
    assert one(estimates, "significant_bias", source=BATCH).n == 4


def test_a_line_of_one_game_is_no_published_class_and_invalid_here(estimates: list[Estimate]) -> None:
    where = {"source": "ko-v0.1/ensemble/o4-mini-high"}
    kinds = ("no_bias", "weak_bias", "significant_bias")
    shares = [one(estimates, f"{kind}_published", **where).value for kind in kinds]
    assert sum(shares) == pytest.approx(499 / 500)
    assert one(estimates, "invalid_share", **where).value == pytest.approx(1 / 500)
    assert one(estimates, "significant_bias", **where).n == 499


def test_identical_texts_are_no_candidate(estimates: list[Estimate]) -> None:
    assert not [e for e in estimates if e.id == "first_position_effect" and e.where["source"] == SAME]
    # 140 readable pairs; of their verdicts two favour the first, none the second.
    effect = one(estimates, "identical_pair_effect", source=SAME)
    assert (effect.value, effect.n) == (pytest.approx(2 / 280), 280)


def test_the_analyzers_own_rates_count_answers(estimates: list[Estimate]) -> None:
    for judge, k, n in (("gpt-4-0613", 3914, 4800), ("gpt-3.5-turbo-1106", 3327, 4781), ("gemini-pro", 2751, 4787)):
        rate = one(estimates, "consistent_answer_rate", judge=judge)
        assert (rate.value, rate.n, rate.clusters) == (pytest.approx(k / n), n, 80)
        assert one(estimates, "answers_read", judge=judge).value == pytest.approx(n / 4800)


def test_pairs_of_one_question_are_no_independent_evidence(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    cells = counts["position_bias_analyzer"]["counts"]["gpt-3.5-turbo-1106"]
    net = np.array(cells["A>B A>B"]) - np.array(cells["B>A B>A"])
    read = sum(np.array(row) for cell, row in cells.items() if "invalid" not in cell)
    question = np.repeat(np.arange(80), read)
    each = zip(net, read, strict=True)
    first = np.concatenate([np.r_[np.sign(n) * np.ones(abs(n)), np.zeros(r - abs(n))] for n, r in each])
    mean, se, df = cr2_by_matrices(np.ones((len(first), 1)), first, question, np.ones(1))
    effect = one(estimates, "first_position_effect", judge="gpt-3.5-turbo-1106")
    assert effect.value == pytest.approx(mean) and effect.clusters == 80
    assert effect.method.startswith("counts by question")
    assert effect.low == pytest.approx(mean - stats.t.ppf(0.975, df) * se)
    alone = (264 + 354 - 90**2 / 2384) / 2384**2
    assert se > 2.5 * alone**0.5 and effect.low < 0 < effect.high


def test_no_two_judges_and_no_two_sources_are_pooled(estimates: list[Estimate], sources: dict[Any, Any]) -> None:
    effects = [each for each in estimates if each.id == "first_position_effect"]
    places = [(each.where["source"], each.where["judge"], each.where["candidate"]) for each in effects]
    expected = [(s.name, s.judge, s.candidate) for s in sources.values() if s.condition == "none"]
    assert sorted(places) == sorted(expected) and len(places) == 24 + 1 + 3 + 30
    at = {(each.name, each.judge): each for each in sources.values()}
    for each in effects:
        grid = at[each.where["source"], each.where["judge"]].counts
        read = grid.drop(index="invalid", columns="invalid").to_numpy().sum()
        assert each.n == read, each.where


def test_every_number_of_counts_says_how_it_was_made(estimates: list[Estimate]) -> None:
    marked = ("counts, independence assumed", "counts by question", "counted", "prediction interval")
    over = {"flip_correlation", "one_sided_share"}  # over comparisons, not over their verdicts
    counted = [each for each in estimates if each.id not in over and not each.id.startswith("released_")]
    assert all(each.method.startswith(marked) for each in counted)
    recent = [each for each in estimates if each.id.startswith("released_")]
    methods = ("question-clustered", "Wilson", "worst case", "only the share", "as printed, no interval")
    assert recent and all(each.method.startswith(methods) for each in recent)


def test_three_labels_are_not_read_as_five(estimates: list[Estimate]) -> None:
    short = [each for each in estimates if each.where.get("source", "").startswith(("LLMBar", "Position-Bias"))]
    ids = {each.id for each in short}
    assert not [id for id in ids if id.endswith("_published") or id in ("weak_bias", "acceptable_rate")]
    assert ids >= {"no_bias", "significant_bias", "first_win_rate", "position_consistency"}


def test_the_counts_do_not_contradict_each_other(counts: dict[str, Any], sources: dict[Any, published.Source]) -> None:
    for name, row in counts["arena_hard"]["counts"].items():
        assert np.sum(row["grid"]) == row["lines"], name
    for each in sources.values():
        assert {*each.counts.index, *each.counts.columns} <= {*FIVE} and each.counts.to_numpy().min() >= 0
        for cell in {*each.one_game, *each.other_strings}:
            both = each.one_game.get(cell, 0) + each.other_strings.get(cell, 0)
            assert both <= each.counts.loc[cell], (each.name, cell)
    notebook, analyzer = counts["arena_hard_notebook"], counts["position_bias_analyzer"]
    assert sources[NOTEBOOK["source"], NOTEBOOK["judge"]].lines == notebook["lines"]
    kinds = {published.KINDS.get((row["game_1"], row["game_2"])) for row in notebook["patterns"]}
    assert kinds <= {None, published.SIGNIFICANT}
    assert {len(cell) for cells in analyzer["counts"].values() for cell in cells.values()} == {analyzer["questions"]}


# --- claims, words, figures -------------------------------------------------------------------------------------------


def test_the_finding_is_computed(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    said = position.published_finding(counts, estimates)
    assert "first place in both orders in 12.7 % [" in said and "second place in both orders in 4.6 % [" in said
    lines = {line.split("**")[1]: line.partition("): ")[2] for line in said.splitlines() if "(Position-Bias" in line}
    assert lines["gemini-pro on 30 models"].startswith("**favours the answer shown second**")
    assert lines["gpt-3.5-turbo-1106 on 30 models"].startswith("no sign that it favours")
    nulls = [line for line in lines.values() if line.startswith("no sign")]
    assert len(nulls) == 2 and all("would be found in 80 % of such runs" in line for line in nulls)
    assert "112 with strings that are no labels as stored" in said and "60 of 64 lines unreadable" in said
    assert "12 of 25 files hold fewer lines" in said and "cannot come from noise alone" in said
    tests = [each.p for each in estimates if each.id == "first_position_effect" and each.p == each.p]
    assert f"over the {len(tests)} that could be tested" in said


def test_the_words_follow_other_counts(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    other = copy.deepcopy(counts)
    other["llmbar"]["counts"] = {}
    for block in other["arena_hard"]["counts"].values():
        # Both games turned: who favoured the first favours the second.
        block["grid"] = [row[4::-1] + row[5:] for row in block["grid"][4::-1] + block["grid"][5:]]
        block.pop("one_game", None)
    for row in other["arena_hard_notebook"]["patterns"]:
        row["pairs"] = {73: 14, 14: 73}.get(row["pairs"], row["pairs"])
    cells = other["position_bias_analyzer"]["counts"]["gemini-pro"]
    cells["A>B A>B"], cells["B>A B>A"] = cells["B>A B>A"], cells["A>B A>B"]
    del other["arena_hard"]["counts"][QWEN]["other_strings"]
    before = position.published_finding(counts, estimates)
    after = position.published_finding(other, position.from_published(other))
    assert "23 of 29 tests show that the judge favours the answer shown first" in before and "LLMBar: 0" in after
    assert "11 of 12 tests show that the judge favours the answer shown first; 1 shows no sign" in before
    assert "11 of 12 tests show that the judge favours the answer shown second; 1 shows no sign" in after
    assert "first place in both orders in 4.7 % [" in after and "second place in both orders in 12.5 % [" in after
    (gemini,) = [line for line in after.splitlines() if line.startswith("- **gemini-pro on 30")]
    assert "): **favours the answer shown first**" in gemini
    assert "strings that are no labels" not in after
    assert "In 19 of 25 files that changes nothing" in before and "In 20 of 25 files that changes nothing" in after


def test_figures_have_what_they_take(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    shown = position.of_blocks(counts, estimates, ids=("first_position_effect",))
    assert len(shown) == 28 and all(set(each.where) == {"judge", "candidate"} for each in shown)
    caption = show_position_effects(shown).caption
    assert "n = 4 to 2400" in caption and "McNemar" not in caption and "SIMULATED" not in caption
    twice = copy.deepcopy(counts)
    twice["arena_hard"]["counts"]["another"] = twice["arena_hard"]["counts"][QWEN]
    with pytest.raises(ValueError, match="same judge and candidate"):
        same = [replace(e, where={**e.where, "source": "another"}) for e in estimates if e.where.get("source") == QWEN]
        position.of_blocks(twice, [*estimates, *same])
    grids = position.published_grids(counts)
    assert grids.groupby(["judge", "candidate"])["count"].sum()["gemini-pro", "30 models"] == 2400
    assert grids["count"].sum() == sum(b["lines"] for b in counts["arena_hard"]["counts"].values()) + 3 * 2400


def test_the_points_of_the_leaderboards_lie_about_their_line(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    points = position.leaderboard_points(counts).set_index("model")
    third = points[points["family"] == "third party"]
    slope, intercept = np.polyfit(third["x"], third["y"], 1)
    assert points["line"].to_numpy() == pytest.approx(intercept + slope * points["x"].to_numpy())
    gap = one(estimates, "leaderboard_contrast", model="gpt-4.1", fit="line")
    row = points.loc["gpt-4.1"]
    assert row["y"] - row["line"] == pytest.approx(gap.value) and row["y"] - row["high"] == pytest.approx(gap.low)
    assert (row["family"], row["judge_x"], row["judge_y"]) == ("gpt-4.1", "gpt-4.1", "gemini-2.5")
    assert len(points) == 27 and (points["low"] < points["line"]).all() and isinstance(points, pd.DataFrame)


# --- flips and directions ---------------------------------------------------------------------------------------------


def test_a_flip_rate_bounds_a_direction_and_says_half_of_it(
    sources: dict[tuple[str, str], published.Source], estimates: list[Estimate]
) -> None:
    """From the counts alone: in shown terms, a place wins both orders where both verdicts have one sign."""
    signs = {"A>>B": 1, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -1}
    found = []
    for each in sources.values():
        read = [
            (signs[one], signs[two], n) for (one, two), n in each.counts.stack().items() if {one, two} <= set(signs)
        ]
        total = sum(n for *_, n in read)
        if each.condition == "none" and total >= 10:
            flips = sum(n for one, two, n in read if one != -two) / total
            net = sum(n * one for one, two, n in read if one == two) / total
            assert abs(net) <= flips + 1e-12
            found.append((flips, abs(net)))
    flips, sizes = np.array([each for each in found if each[0] > 0]).T
    ranks, side = one(estimates, "flip_correlation"), one(estimates, "one_sided_share")
    assert ranks.n == side.n == len(flips) > 50
    assert ranks.value == pytest.approx(stats.spearmanr(flips, sizes).statistic)
    draws = stats.bootstrap(
        (flips, sizes), lambda x, y: stats.spearmanr(x, y).statistic, paired=True, vectorized=False,
        n_resamples=1999, method="percentile", rng=np.random.default_rng(3),
    ).confidence_interval  # fmt: skip
    assert (ranks.low, ranks.high) == pytest.approx((draws.low, draws.high), abs=0.06)
    exact = stats.quantile_test(sizes / flips, p=0.5).confidence_interval(0.95)
    assert (side.value, side.low, side.high) == pytest.approx((np.median(sizes / flips), exact.low, exact.high))
    assert f"over {ranks.n} published comparisons (Spearman {ranks})" in FLAT and f"only {side} of its flips" in FLAT
