"""Published gold labels and votes: the counts are those of the files, and every claim comes out as expected."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers import datasets, paths
from helpers.biases import accuracy as bias
from helpers.datasets.games import majority
from helpers.stats.prediction_powered import Labels, contradictions, dependence
from helpers.types import Estimate
from tests.pages import FLAT
from tests.runs import one as of, published_estimates

FOLDER = paths.EXPERIMENTS / "overview"
MT = {"source": "MT-Bench"}


@pytest.fixture(scope="module")
def estimates() -> list[Estimate]:
    return [*published_estimates("overview")]


def test_the_counts_are_facts_with_a_source(counts: dict[str, Any]) -> None:
    others = [block for name, block in counts.items() if name != "released"]
    for block in (*others, *counts["released"]["counts"].values()):
        assert block["source"]["commit"] and block["licence"] and (block.get("words") or block["asked"])
    for grids in counts["llmbar"]["both_orders"].values():
        assert {name: int(np.sum(grid)) for name, grid in grids.items()} == {
            "Natural": 100, "Adversarial/Neighbor": 134, "Adversarial/GPTInst": 92, "Adversarial/GPTOut": 47,
            "Adversarial/Manual": 46,
        }  # fmt: skip
    for cells in counts["llmbar"]["joint"].values():
        assert sum(sum(by.values()) for by in cells.values()) == 419
    items = counts["pandalm"]["items"]
    assert sum(items["items"]) == 999 and len(items["items"]) == counts["pandalm"]["votes"]["none"]["questions"] == 165
    labelled = counts["mt_bench"]["labelled"].values()
    assert all(seen <= total == 80 * 2 for seen, total in labelled) and len(labelled) == 15


def test_agreement_with_people_has_the_documents_counts(estimates: list[Estimate]) -> None:
    # GPT-4 against expert votes: agreeing, compared.
    for condition, votes, agree, n in (
        ("turn 1", "all", 886, 1343),
        ("turn 1", "decisive", 727, 859),
        ("turn 2", "all", 871, 1325),
        ("turn 2", "decisive", 731, 864),
    ):
        found = of(estimates, "human_agreement", **MT, condition=condition, judge="gpt4_pair", votes=votes)
        assert (found.value, found.n) == (pytest.approx(agree / n), n) and found.clusters in (79, 80)
        assert found.low < found.value < found.high
    every = of(estimates, "human_agreement", **MT, condition="all", judge="gpt4_pair", votes="all")
    assert (every.value, every.n) == (pytest.approx((886 + 871) / 2668), 2668)


def test_agreement_with_the_majority_has_the_documents_counts(counts: dict[str, Any]) -> None:
    judges = counts["pandalm"]["items"]["judges"]
    # 692 where "Tie" is not read as a tie; 5 of the 38 ties were right.
    assert sum(judges["pandalm-7b"]["right"]) == 667 and sum(judges["gpt-3.5-turbo"]["right"]) == 692 + 5
    assert sum(judges["gpt-3.5-turbo"]["read"]) == 999 - 25
    printed = counts["pandalm"]["items"]["right_as_printed"]
    assert (round(sum(printed["gpt-3.5-turbo"]) / 999, 4), round(sum(printed["pandalm-7b"]) / 999, 4)) == (
        0.7107,
        0.6677,
    )


def test_the_adversarial_instances_are_pooled(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    grids = counts["llmbar"]["both_orders"]["GPT-4/Vanilla"]
    right = sum(2 * g[0][0] + sum(g[0][1:]) + g[1][0] + g[2][0] for name, g in grids.items() if name != "Natural")
    found = of(estimates, "gold_accuracy_by_category", source="LLMBar", judge="GPT-4/Vanilla", category="Adversarial")
    assert (found.value, found.n, found.clusters) == (pytest.approx(right / 638), 638, 319)
    assert len([each for each in estimates if each.where.get("category") == "Adversarial"]) == 30


def test_the_finding_follows_the_numbers(estimates: list[Estimate]) -> None:
    told = bias.published_finding(estimates)
    assert "**15 of 30 are right less often than a coin**" in told and "**PandaLM**" in told
    assert "gpt4_pair MT-Bench:\n  - says what a person says in 65.9 %" in told and "no sign that it agrees" in told
    assert "so none is corrected" in told
    lucky = [
        Estimate(each.id, each.where, 0.9, 0.85, 0.95, each.n, each.clusters, each.unit, p=1e-9)
        if each.where.get("category") == "Adversarial"
        else each
        for each in estimates
    ]
    assert "**0 of 30 are right less often than a coin**" in bias.published_finding(lucky)
    closer = [
        Estimate(each.id, each.where, 0.2, 0.1, 0.3, each.n, each.clusters, each.unit, p=1e-9)
        if each.id == "agreement_gap" and each.where["source"] == "MT-Bench"
        else each
        for each in estimates
    ]
    assert "**agrees with people more than they do with each other on all votes**: +20.0 pp" in bias.published_finding(
        closer
    )
    assert bias.published_finding([each for each in estimates if each.where["source"] == "MT-Bench"]).startswith(
        "**People"
    )


def test_each_cell_has_a_count_for_each_question(counts: dict[str, Any]) -> None:
    for block in (each for name in ("pandalm", "mt_bench") for each in counts[name]["votes"].values()):
        cells = [block["people"], *(judge["votes"] for judge in block["judges"].values())]
        assert {len(each) for by in cells for each in by.values()} == {block["questions"]}


def voted(rows: pd.DataFrame, **about: Any) -> pd.DataFrame:
    """Votes as `biases.accuracy.counted` takes them."""
    return rows.assign(outcome=np.where(rows["verdict"].isna(), "unreadable", "ok")).assign(**about)


def votes_of(folder: Path) -> pd.DataFrame:
    """The votes of experts and of GPT-4 on MT-Bench; "first" is the model whose name comes first."""
    read = {
        kind: pd.read_json(folder / "mt_bench" / name, lines=True)
        for kind, name in (("person", "human_judgments.jsonl"), ("judge", "gpt4_pair_judgments.jsonl"))
    }
    rows = pd.concat([each.assign(kind=kind) for kind, each in read.items()], ignore_index=True)
    rows = rows[(rows["kind"] == "judge") | rows["judge"].str.startswith("expert")]
    won = np.where(rows["winner"] == "model_a", rows["model_a"], rows["model_b"])
    names = rows[["model_a", "model_b"]]
    verdict = np.where(won == names.min(axis=1), "first", "second")
    inconsistent = rows["winner"] == "tie (inconsistent)"
    verdict = np.where(rows["winner"] == "tie", "tie", np.where(inconsistent, None, verdict))
    turn, id = "turn " + rows["turn"].astype(str), rows["question_id"].astype(str)
    pair = id + ", " + turn + ": " + names.min(axis=1) + ", " + names.max(axis=1)
    rows = rows.assign(voter=rows["judge"], verdict=verdict, question_id=id, condition=turn, pair=pair)
    rows = voted(rows, source="MT-Bench")
    return rows.assign(outcome=rows["outcome"].mask(inconsistent, "inconsistent"))


def panda_of(folder: Path) -> pd.DataFrame:
    """The votes of three people and the judges' verdicts on PandaLM's items, by instruction."""
    items = pd.read_json(folder / "pairwise" / "pandalm" / "testset_verdicts.jsonl", lines=True, dtype=False)
    people = pd.DataFrame(items.pop("annotators").tolist(), columns=["person 1", "person 2", "person 3"])
    question = (items["cmp_key"] <= items["cmp_key"].shift(fill_value="")).cumsum().astype(str)
    rows = items.drop(columns="cmp_key").join(people).assign(question_id=question)
    rows = rows.melt(["idx", "question_id"], var_name="voter", value_name="written")
    said = rows["written"].astype(str).str.lower()
    verdict = said.map({"1": "first", "2": "second", "0": "tie", "tie": "tie"}).astype(object)
    kind = np.where(rows["voter"].str.startswith("person"), "person", "judge")
    return voted(
        rows.assign(verdict=verdict.where(verdict.notna(), None), pair=rows["idx"], kind=kind),
        source="PandaLM",
        condition="none",
    )


def right_of(votes: pd.DataFrame) -> pd.DataFrame:
    """Whether each judge's verdict is what most people say, where most say one thing."""
    people, judged = votes[votes["kind"] == "person"], votes[votes["kind"] == "judge"]
    gold = judged["pair"].map(people.groupby("pair")["verdict"].agg(majority))
    correct = (judged["verdict"] == gold).astype(float).where(judged["verdict"].notna())
    return judged.assign(judge=judged["voter"], correct=correct)[gold.notna()]


def llmbar_of(folder: Path) -> pd.DataFrame:
    """Whether each verdict on LLMBar's outputs names the better one; `condition` is who stood first."""
    place = folder / "pairwise" / "llmbar"
    games = datasets.load_pairwise(place / "verdicts.jsonl", "llmbar", labels=place / "instances.jsonl")
    better = games["first"] == "candidate"
    right = (games["verdict"] == np.where(better, "A>B", "B>A")).astype(float).where(games["verdict"].notna())
    return games.assign(correct=right, condition=better.map({True: "better first", False: "better second"}))


def test_the_public_files_are_read_whole(real_data: Path) -> None:
    votes, panda = votes_of(real_data), panda_of(real_data)
    judge = votes[votes["kind"] == "judge"]
    assert len(judge) == 2400 and (judge["outcome"] == "inconsistent").sum() == 380
    gold = panda[panda["kind"] == "person"].groupby("pair")["verdict"].agg(majority)
    assert Counter(gold) == {"second": 472, "first": 422, "tie": 105}
    said = panda[panda["voter"] == "gpt-3.5-turbo"]
    assert Counter(said["verdict"].fillna("garbage")) == {"second": 476, "first": 460, "tie": 38, "garbage": 25}


def test_all_cells_of_llmbar_have_its_own_statistics(counts: dict[str, Any], real_data: Path) -> None:
    expected = json.loads((real_data / "pairwise" / "expected_values.json").read_text())["llmbar"]["stats"]
    labels = pd.read_json(real_data / "pairwise" / "llmbar" / "instances.jsonl", lines=True).set_index("id")["label"]
    gold = llmbar_of(real_data)
    # correct_False is in the order as stored, where the better output stands first if its number is 1.
    stored = gold["question_id"].map(labels).eq(1) == gold["condition"].eq("better first")
    sums = gold.groupby(["category", "judge", stored])["correct"].sum()
    seen = 0
    for judge, grids in counts["llmbar"]["both_orders"].items():
        for category, grid in grids.items():
            printed = expected[f"{category}|{judge.replace('/', '|')}"]["published"]
            agreeing = grid[0][0] + grid[1][1] + grid[2][2]
            assert (grid[0][0], agreeing) == (printed["correct_both"], printed["equal"])
            assert (sums[category, judge, True], sums[category, judge, False]) == (
                printed["correct_False"],
                printed["correct_True"],
            )
            seen += 1
    assert seen == 150


def test_counts_and_files_give_the_same_estimates(counts: dict[str, Any], estimates, real_data: Path) -> None:
    panda = panda_of(real_data)
    pairs = [tuple(names.split()) for names in counts["llmbar"]["joint"]]
    columns = ["source", "question_id", "category", "judge", "correct", "outcome"]
    gold = llmbar_of(real_data)[columns]
    found = [
        *bias.agreement(votes_of(real_data), "folder"),
        *bias.agreement(panda, "folder"),
        *bias.accuracy(right_of(panda)[["source", "question_id", "judge", "correct", "outcome"]], "folder"),
        *bias.accuracy(gold, "folder", 0.5, pairs),
    ]
    assert len(found) > 80
    for each in found:
        other = of(estimates, each.id, **each.where)
        for name in ("value", "low", "high", "se", "p", "n", "clusters"):
            one, two = getattr(each, name), getattr(other, name)
            assert one == pytest.approx(two, abs=1e-9) or (math.isnan(one) and math.isnan(two)), (each, name)
    labels = panda[panda["kind"] == "person"].groupby("pair")["verdict"].agg(majority)
    for judge, rows in panda[panda["kind"] == "judge"].groupby("voter"):
        right = (rows["verdict"].fillna("tie") == rows["pair"].map(labels)).groupby(rows["question_id"]).sum()
        assert right.tolist() == counts["pandalm"]["items"]["right_as_printed"][judge]


def test_why_these_votes_correct_no_verdicts(counts: dict[str, Any], real_data: Path) -> None:
    """Both turns of a pair were voted on together: by rows the models look chosen, by questions hardly."""
    votes = votes_of(real_data)
    judge = votes[votes["kind"] == "judge"].set_index("pair")
    voted = pd.Series(judge.index.isin(set(votes.loc[votes["kind"] == "person", "pair"])), judge.index)
    models = pd.Series(judge.index.str.partition(": ").get_level_values(2), judge.index)
    labelled = {name: [int(each.sum()), len(each)] for name, each in voted.groupby(models)}
    assert labelled == counts["mt_bench"]["labelled"]
    by_rows = dependence(voted, models, pd.Series(range(len(judge)), judge.index))
    assert by_rows < 1e-3 < dependence(voted, models, judge["question_id"])
    score = judge["verdict"].map({"first": 1.0, "tie": 0.5, "second": 0.0}).fillna(0.5)
    people = votes[votes["kind"] == "person"]
    mean = people["verdict"].map({"first": 1.0, "tie": 0.5, "second": 0.0}).groupby(people["pair"]).mean()
    assert contradictions(Labels(score, mean, judge["question_id"], models.to_frame("models"))) == []


def test_the_docs_give_both_denominators_of_pandalm(estimates: list[Estimate]) -> None:
    gaps = {
        votes: sorted(-100 * e.value for e in estimates if e.id == "agreement_gap" and e.where["votes"] == votes
                      and e.where["source"] == "PandaLM")
        for votes in ("all", "decisive")
    }  # fmt: skip
    told = {votes: " and ".join(f"{gap:.1f}" for gap in each) for votes, each in gaps.items()}
    assert f"by {told['all']} pp of all votes, by {told['decisive']} pp where nobody said tie" in FLAT
