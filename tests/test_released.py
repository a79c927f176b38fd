"""Judges released in 2025 and 2026: counts are those of the rows, numbers those of their data's README."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers import claims, figures, paths, run
from helpers.biases import accuracy, position, protocol, top_choice, verbosity
from helpers.biases.top_choice import rates
from helpers.config import ConfigError, load_models
from helpers.config.models import model_of
from helpers.types import Estimate
from helpers.words.numbers import declared_by
from tests.runs import FROM_COUNTS, full_run, published_counts, published_estimates

READ = {"A": "A>B", "tie": "A=B", "B": "B>A"}


def block(experiment: str, name: str = "released") -> dict[str, Any]:
    return published_counts(experiment)[name]


PLACE = block("arena_hard_position_bias")["counts"]
PUBLISHED = [name for name in FROM_COUNTS if name not in ("hinting_groups", "quality_self_preference")]
FOUND = [each for name in PUBLISHED for each in published_estimates(name)]


def number(id: str, **where: str) -> Estimate:
    (found,) = (e for e in FOUND if e.id == id and where.items() <= e.where.items())
    return found


# --- what the data's README has ---------------------------------------------------------------------------------------

#: Effects in pp of the source's README, by its own code.
EFFECTS = {
    "ssafy-llm-judge-bias": {"GPT-5": 0.0, "Claude Sonnet 4.5": 4.0, "Gemini 2.5 Flash": 22.4},
    "Frontier-Model-Self-Bias": {"Claude Haiku 4.5": 36.8, "GPT-5.6-luna": 7.6, "GPT-5-mini": -1.8},
    "judge-bias-battery": {"Llama 3.1 8B": -50.0, "GLM-4 9B": -2.8, "Qwen3 8B": -11.1},
    "self-rec-framework": {
        **{"Gemini 2.0 Flash-Lite": -35.6, "Gemini 2.0 Flash": -22.9, "Claude Sonnet 3.7": -18.3},
        **{"Claude Sonnet 4.5": -15.7, "Qwen3-Next 80B": -2.0, "DeepSeek 3.1": -0.3, "Claude Opus 4.1": 0.3},
        **{"GPT-4.1-mini": 3.5, "Claude Haiku 3.5": 5.2, "Kimi K2 0905": 6.9, "GPT-4.1": 14.2, "Qwen2.5 72B": 14.6},
        **{"Llama 3.1 405B": 18.9, "GPT-4o-mini": 29.7, "Llama 3.1 70B": 38.8, "GPT-4o": 47.5, "Llama 3.1 8B": 48.6},
        "Qwen2.5 7B": 52.4,
    },
}


@pytest.mark.parametrize(("source", "judge"), [(source, judge) for source, row in EFFECTS.items() for judge in row])
def test_the_place_of_each_judge_is_that_of_the_readme(source: str, judge: str) -> None:
    found = number("released_position_effect", source=source, judge=judge)
    assert 100 * found.value == pytest.approx(EFFECTS[source][judge], abs=0.051)
    assert found.low < found.value < found.high


def test_what_only_flips_are_known_of_has_a_reason_and_no_effect() -> None:
    for judge, share in {"Claude Haiku 4.5": 0.17, "Llama 3.2 3B": 0.57}.items():
        where = {"source": "llm-judge-bias-calibration", "judge": judge}
        effect, flips = (number(f"released_{id}", **where) for id in ("position_effect", "flip_rate"))
        assert np.isnan(effect.value) and "not which place" in effect.method and flips.value == share


#: Own vendor against a neutral judge, in pp; own model and sibling of the joint fit, in places; scores; ties.
NUMBERS = [
    ("released_own_share", {"judge": "GPT-5", "against": "a neutral judge"}, 0.255),
    ("released_own_share", {"judge": "GPT-5.2", "against": "a neutral judge"}, 0.23),
    ("released_own_share", {"judge": "Claude Sonnet 4.5", "against": "a neutral judge"}, -0.01),
    ("released_own_share", {"judge": "Claude Opus 4.5", "against": "a neutral judge"}, 0.0),
    ("released_own_share", {"judge": "GPT-5.6 sol", "against": "a neutral judge"}, 0.427),
    ("released_own_share", {"judge": "Claude Opus 4.8", "against": "its peers"}, 0.165),
    ("released_own_rank", {"judge": "GPT-5.6 sol", "term": "own model, joint fit"}, -4.2),
    ("released_own_rank", {"judge": "GPT-5.6 terra", "term": "own model, joint fit"}, -3.3),
    ("released_own_rank", {"judge": "GPT-5.6 sol", "term": "sibling, joint fit"}, -3.6),
    ("released_own_rank", {"judge": "Claude Opus 5", "term": "own minus others, OpenAI left out"}, -0.17),
    ("released_own_rank", {"judge": "Claude Opus 5", "term": "own model, joint fit"}, -0.9),
    ("released_own_rank", {"judge": "Gemini 3.7 Flash", "term": "sibling, joint fit"}, -0.6),
    ("released_own_rank", {"judge": "Qwen3.8 27B", "term": "own model, joint fit"}, 0.0),
    ("released_own_score", {"judge": "Gemini 3 Pro", "term": "without leniency"}, 0.43),
    ("released_own_score", {"judge": "Llama 4 Maverick", "term": "without leniency"}, 0.02),
    ("released_score_shift", {"candidate": "Claude Opus 4.5", "condition": "names shown"}, 0.30),
    ("released_score_shift", {"candidate": "GPT-5.2", "condition": "always in place 1"}, 0.38),
    ("released_family_gap", {"judge": "Claude Haiku 4.5", "ties": "decided votes"}, 0.009),
    ("released_family_gap", {"judge": "GPT-4o", "ties": "decided votes"}, -0.005),
    ("released_accuracy", {"judge": "GPT-5.4", "temperature": "0"}, 0.734),
    ("released_accuracy", {"judge": "Claude Haiku 4.5"}, 0.715),
    ("released_loser_rate", {"judge": "Claude Haiku 4.5", "loser": "an empty text"}, 0.402),
    ("released_loser_rate", {"judge": "GPT-5.6-luna", "loser": "an empty text"}, 0.196),
    ("released_loser_rate", {"judge": "GPT-5-mini", "loser": "an empty text"}, 0.029),
    *(
        ("released_ensembling_gain", {"judge": judge, "temperature": temperature, "ties": ties}, gain)
        for judge, temperature, gains in [
            ("GPT-5.4", "0", (0.037, 0.014)),
            ("GPT-5.4", "1", (0.093, 0.037)),
            ("GPT-5.4-mini", "1", (0.133, 0.058)),
            ("GPT-5.4-nano", "1", (0.192, 0.109)),
            ("Claude Sonnet 4.6", "default", (0.105, 0.042)),
            ("Claude Haiku 4.5", "default", (0.131, 0.066)),
        ]
        for ties, gain in zip(("ties wrong", "ties shared"), gains, strict=True)
    ),
    *(
        ("released_own_score", {"judge": judge, "term": "without leniency"}, score)
        for judge, score in {"Grok 4.1 fast": 0.27, "Claude Opus 4.5": 0.47, "Sonar Pro": -0.82}.items()
    ),
]


@pytest.mark.parametrize(("id", "where", "value"), NUMBERS)
def test_other_numbers_are_those_of_the_readme(id: str, where: dict[str, str], value: float) -> None:
    digits = {"pp": 3, "rate": 3}.get(number(id, **where).unit, 2 if abs(value) < 1 and value * 10 % 1 else 1)
    assert number(id, **where).value == pytest.approx(value, abs=0.51 * 10**-digits)


def test_at_least_thirty_judges_since_2025_have_an_effect_or_the_reason_why_not() -> None:
    ids = ("released_position_effect", "released_own_share", "released_own_rank", "released_own_score")
    recent = [each for each in FOUND if each.id in ids and each.where["released"] >= "2025"]
    assert all(each.method for each in recent if np.isnan(each.low))
    assert len({each.where["judge"] for each in recent}) >= 30


def test_the_provenance_of_a_run_names_the_months_of_its_judges() -> None:
    models, done = load_models(), full_run()
    assert "Released" not in run.provenance(done)
    assert [models[name].released for name in ("claude_fast", "gpt_fast")] == ["2025-10", "2025-08"]
    real = replace(done, experiment=replace(done.experiment, judges=(models["claude_fast"], models["gpt_thinking"])))
    assert "Released: claude_fast 2025-10, gpt_thinking 2025-12." in run.provenance(real)
    with pytest.raises(ConfigError, match=r"model 'a'.*released = '2025'"):
        model_of("a", {"provider": "openai", "model_id": "x", "vendor": "v", "released": "2025"}, "m.yaml, model 'a'")


@pytest.mark.parametrize("name", PUBLISHED)
def test_each_number_is_declared_with_the_sources_that_it_is_made_of(name: str) -> None:
    """And with their units: what is said of the experiment's own numbers does not hold for other people's counts."""
    sources: dict[str, set[str]] = {}
    for each in published_estimates(name):
        if each.id.startswith("released_"):
            sources.setdefault(each.id, set()).add(each.where["source"])
    declared = declared_by(FROM_COUNTS[name][0])
    assert sources and all(name in declared[id].source for id, names in sources.items() for name in names)
    assert all(declared[id].cluster != "question" for id in sources), "some sources cluster above the question"
    bare = {id for id in sources if declared[id].interval.startswith("none")}
    assert all(declared[id].cluster.startswith("none") for id in bare)


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_claim_on_recent_judges_has_the_status_that_it_expects(name: str) -> None:
    every = [each for each in claims.load_claims(paths.EXPERIMENTS / name / "claims.yaml") if "recent_" in each.id]
    checked = claims.check(every, FOUND)
    assert len(every) >= 3 and claims.unexpected(every, checked).empty
    shifted = [replace(each, value=each.value + 0.03) if each.id.startswith("released_") else each for each in FOUND]
    missed = set(claims.unexpected(every, claims.check(every, shifted))["id"])
    assert missed >= {each.id for each in every if each.expect != "differs"}


# --- what the rows have -----------------------------------------------------------------------------------------------


def counted(rows: pd.DataFrame, pair: pd.Series, question: pd.Series) -> dict[str, dict[str, int]]:
    """How often which verdicts met, by question; of each pair the order whose first name comes first is game 1."""
    rows = rows.assign(pair=pair, cluster=question, verdict=rows["verdict"].map(READ).fillna("invalid"))
    found: dict[str, dict[str, int]] = {}
    for _, two in rows.sort_values("candidates").groupby("pair"):
        cell = " ".join(two["verdict"])
        by = found.setdefault(cell, {})
        by[two["cluster"].iloc[0]] = by.get(two["cluster"].iloc[0], 0) + 1
    return found


def as_stored(cells: dict[str, Any], rows: dict[str, dict[str, int]], questions: list[str]) -> dict[str, Any]:
    """The counts of the rows, by question in those cells that are stored so."""
    by = {cell: [counts.get(each, 0) for each in questions] for cell, counts in rows.items()}
    return {cell: counts if isinstance(cells.get(cell), list) else sum(counts) for cell, counts in by.items()}


def test_pairs_of_verdicts_are_those_of_the_rows(real_data: Path) -> None:
    folder = real_data / "judges_2026"
    rows = pd.read_csv(folder / "ssafy_gpt5_sonnet45_gemini25" / "verdicts.csv", dtype=str)
    ids = {"GPT-5": "gpt-5", "Claude Sonnet 4.5": "claude-sonnet-4-5-20250929", "Gemini 2.5 Flash": "gemini-2.5-flash"}
    for name, id in ids.items():
        mine = rows[rows["judge"] == id]
        found = counted(mine, mine["question"], mine["question"])
        cells = PLACE["ssafy-llm-judge-bias"]["judges"][name]["cells"]
        assert cells == as_stored(cells, found, sorted(set(mine["question"])))
    rows = pd.read_csv(folder / "selfbias_luna_mini_haiku" / "recuse_no_empty.csv", dtype=str)
    rows["of"] = rows["candidates"].str.split("|").map(sorted).map("|".join)
    for name in ("Claude Haiku 4.5", "GPT-5.6-luna", "GPT-5-mini"):
        mine = rows[rows["judge"].str.lower() == name.lower().replace(" ", "-").replace("4.5", "4-5")]
        task = mine["question"].str.split(":").str[0]
        found = counted(mine, mine["question"] + mine["of"], task)
        cells = PLACE["Frontier-Model-Self-Bias"]["judges"][name]["cells"]
        assert cells == as_stored(cells, found, sorted(set(task)))
    rows = pd.read_csv(folder / "judge_bias_battery" / "position_recuse_by_task.csv", dtype=str)
    ids = {"Llama 3.1 8B": "Meta-Llama-3.1-8B-Instruct", "Qwen3 8B": "qwen3-8b", "GLM-4 9B": "glm-4-9b-chat"}
    for name, id in ids.items():
        mine = rows[rows["judge"] == id]
        found = counted(mine, mine["question"] + ":" + mine["repeat"], mine["question"])
        cells = PLACE["judge-bias-battery"]["judges"][name]["cells"]
        assert cells == as_stored(cells, found, sorted(set(mine["question"])))


def test_counts_and_means_are_those_of_their_files(real_data: Path) -> None:
    folder = real_data / "judges_2026"
    rows = pd.read_csv(folder / "mars_pairwise_counts" / "counts.csv").query("task == 'preference'")
    sums = sorted(map(tuple, rows.groupby("judge")[["first", "second"]].sum().to_numpy().tolist()))
    assert sums == sorted((row["first"], row["second"]) for row in PLACE["self-rec-framework"]["judges"].values())
    picks = pd.read_json(folder / "avran_four_way_counts" / "counts.json", typ="series")
    mine = block("mt_bench_blind", "released_shares")["counts"]["llm-judge-bias"]["judges"].values()
    assert sorted(map(sorted, (w.values() for w in picks["winners"].values()))) == sorted(
        sorted(row["picks"].values()) for row in mine
    )
    ranks = pd.read_csv(folder / "medical_8x8_counts" / "mean_ranks.csv", index_col=0)
    stored = np.array(block("mt_bench_blind", "released_ranks")["ranks"])
    assert sorted(stored.ravel()) == sorted(ranks.to_numpy().ravel()) and stored.sum(axis=1) == pytest.approx(
        36, abs=2e-3
    )
    scores = pd.read_csv(folder / "peerrank_v3_counts" / "table.csv").rename(columns={"fixed_position": "place"})
    mine = pd.DataFrame([*block("mt_bench_blind", "released_scores")["judges"].values()]).drop(columns="released")
    assert (mine == scores[mine.columns]).all(axis=None)


def test_anchors_and_empty_texts_are_counted_by_task(real_data: Path) -> None:
    """Items and verdicts of one task are one cluster: 11 carry an interval, 8 do not."""
    folder = real_data / "judges_2026"
    rows = pd.read_csv(folder / "judge_bias_battery" / "anchoring.csv").pivot(
        index=["judge", "item"], columns="condition", values="score"
    )
    for name, id in {"Llama 3.1 8B": "Meta-Llama-3.1-8B-Instruct", "GLM-4 9B": "glm-4-9b-chat"}.items():
        moved = (rows["anchored"] - rows["unanchored"])[id]
        found = number("released_anchor_shift", judge=name)
        assert (found.value, found.n, found.clusters) == (pytest.approx(moved.mean()), 12, 11)
        assert found.low < found.value < found.high
    empty = pd.read_csv(folder / "selfbias_luna_mini_haiku" / "recuse_known_loser.csv", dtype=str)
    mine = empty[empty["judge"] == "claude-haiku-4-5"]
    shown = mine["candidates"].str.split("|", expand=True)
    lost = np.where(mine["verdict"] == "A", shown[0], shown[1]) != mine["gold"]
    found = number("released_loser_rate", judge="Claude Haiku 4.5", loser="an empty text")
    tasks = mine["question"].str.partition(":")[0].nunique()
    assert (found.value, found.n, found.clusters) == (pytest.approx(lost.mean()), len(mine), tasks)
    assert np.isnan(found.low) and "below 10" in found.method


def test_scores_asked_eight_times_are_those_of_the_rows(real_data: Path) -> None:
    rows = pd.read_csv(real_data / "judges_2026" / "composo_rewardbench2_k8" / "scores_gpt-5.4-nano.csv", dtype=str)
    kept = rows.groupby(["question", "subset"]).filter(lambda item: not item["scores"].str.contains("-").any())
    score = kept["scores"].map(lambda each: [10.0 if letter == "X" else float(letter) for letter in each])
    gains, items = [], []
    for _, item in kept.assign(score=score).sort_values("answer").groupby(["question", "subset"]):
        items.append(each := np.stack([*item["score"]]))
        top = np.isclose(each, each.max(axis=0))
        of_mean = np.isclose(each.mean(axis=1), each.mean(axis=1).max())
        gains.append(of_mean[0] / of_mean.sum() - (top[0] / top.sum(axis=0)).mean())
    alone = [((each[0] == each.max(axis=0)) & ((each == each.max(axis=0)).sum(axis=0) == 1)).mean() for each in items]
    right = number("released_accuracy", judge="GPT-5.4-nano")
    assert right.value == pytest.approx(np.mean(alone), abs=1e-5)
    assert right.se == pytest.approx(np.std(alone, ddof=1) / len(alone) ** 0.5, rel=1e-4)
    found = number("released_ensembling_gain", judge="GPT-5.4-nano", ties="ties shared")
    assert (found.n, found.value) == (len(gains), pytest.approx(np.mean(gains), abs=1e-5))
    assert found.se == pytest.approx(np.std(gains, ddof=1) / len(gains) ** 0.5, rel=1e-4)


# --- whether the estimators do what they say --------------------------------------------------------------------------


def test_the_worst_case_is_never_narrower_than_the_truth() -> None:
    """Questions on which all verdicts agree are the worst; there the interval holds the mean in 95 % of samples."""
    assert protocol.worst_case(0.0, 8466, 249).high == pytest.approx(0.1248, abs=5e-5)
    rng, covered = np.random.default_rng(49), 0
    for _ in range(2000):
        found = protocol.worst_case(float(rng.choice([-1.0, 1.0], 60, p=[0.4, 0.6]).mean()), 6000, 60)
        covered += found.low <= 0.2 <= found.high
    assert 0.93 <= covered / 2000 <= 0.97


def test_the_joint_fit_finds_what_was_planted() -> None:
    """Ranks of 8 judges with own and sibling terms: the fit gives them back, the contrast with all others does not."""
    names = {f"m{i}": f"v{i // 2}" for i in range(8)}
    vendor, rng = np.arange(8) // 2, np.random.default_rng(4)
    model, sibling = np.array([-3.0, -2.0, -0.5, -1.0, 0.0, 0.0, -0.2, 0.1]), np.array([-2.5, -0.5, 0.0, 0.3])
    ranks = rng.uniform(2, 7, 8) + np.diag(model)
    ranks = ranks + (vendor[:, None] == vendor) * (1 - np.eye(8)) * sibling[vendor][:, None] + rng.normal(size=(8, 1))
    table = {"ranks": ranks.tolist(), "judges": names, "without": "v0", "name": "s", "released": "2026", "questions": 9}
    ranked = [(where, interval) for _, where, interval, *_ in rates._own_ranks(table) if "judge" in where]
    found = {(where["judge"], where["term"]): interval.value for where, interval in ranked}
    assert [found[name, rates.TERMS[2]] for name in names] == pytest.approx(model)
    assert [found[name, rates.TERMS[3]] for name in names] == pytest.approx(sibling[vendor])
    assert found["m2", rates.TERMS[0]] != pytest.approx(model[2], abs=0.05)


def test_findings_name_each_source_with_its_month_and_each_judge_with_its_number() -> None:
    ranks, place = (
        top_choice.released_finding(published_counts(), FOUND),
        position.released_finding({"counts": PLACE}, FOUND),
    )
    assert "**medical-llm-self-preference** (2026-08;" in ranks and "Gemini 3 Pro -0.13, +0.43" in ranks
    assert "Claude Opus 5: own minus all others -0.97" in ranks
    assert "GPT-5 against a neutral judge: **prefers its own vendor's answers**: +25.5 pp" in ranks
    for name, source in PLACE.items():
        (line,) = (each for each in place.splitlines() if each.startswith(f"- **{name}** ({source['month']};"))
        assert all(f"{judge} ({row['released']})" in line for judge, row in source["judges"].items())
    people = accuracy.released_finding(block("overview"), FOUND)
    assert "Claude Haiku 4.5: picks it +18.8 pp" in people and "+3.7 pp [+2.9, +4.4] (ties shared" in people
    assert "picks an empty text in 40.2 %" in verbosity.released_finding(block("verbosity_style"), FOUND)


def test_the_figures_say_what_their_titles_count() -> None:
    title = position.released_title(FOUND)
    shown = protocol.conclusions("position", FOUND, "released_position_effect")
    recent = [each for each in shown if each.estimate.where["released"] >= "2025" and each.verdict == "bias"]
    first = sum(each.estimate.value > 0 for each in recent)
    assert f" {first} favour" in title and title.endswith(f" and {len(recent) - first} the second")
    place = figures.show_released_places(FOUND, title, position.SINCE)
    ranks = figures.show_released_own(FOUND, top_choice.released_title(FOUND))
    assert place.figure.get_figheight() <= 8.5 and ranks.figure.get_figheight() <= 8.5
    assert "bounds" in place.caption and "OpenAI's judges" in ranks.caption
