"""Near-copies of a question, and pairs on one task: found, named, and one unit of every interval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student

from helpers import frames
from helpers.analyze import analyze, summary
from helpers.biases.accuracy import accuracy
from helpers.config import load_experiment
from helpers.datasets import load_questions, merge_near_duplicates, near_duplicate_words, questions as near
from helpers.paths import DATA
from helpers.run.sources import questions_of, with_clusters
from helpers.stats.intervals import added, cluster_sums, clustered
from tests.rule import assert_within
from tests.simulation import cr2_by_matrices
from tests.verdict_files import pair_rows, ranking_rows, score_rows, written

QUESTIONS = load_questions(DATA / "mt_bench_blind" / "questions.jsonl")
EDITS = (str, lambda text: f"  {text.upper()}!!", lambda text: f"Please: {text}", lambda text: text + " Thanks")
#: Four near-copies each of twenty questions, a copy of one next to a copy of another.
COPIES = {f"q{20 * copy + at}": edit(QUESTIONS[4 * at].text) for copy, edit in enumerate(EDITS) for at in range(20)}
GROUPS = {id: f"q{int(id[1:]) % 20}" for id in COPIES}


def test_near_copies_are_found_in_any_script_and_others_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert merge_near_duplicates(COPIES) == GROUPS
    told = near_duplicate_words(merge_near_duplicates(COPIES))
    assert told.startswith("20 groups of near-duplicate texts (80 texts) count as one question each: q0 with q20 and ")
    assert near_duplicate_words({"a": "a"}) == ""
    texts = {
        "full": "".join(chr(ord(sign) + 0xFEE0) for sign in "Whatisaprimenumber?"),
        "plain": "whatisaprimenumber",
        "blank": " ",
        "none": "",
    }
    texts |= {
        "zh": "请解释一下为什么天空是蓝色的、并举例说明。",
        "zh2": "请解释一下为什么天空是蓝色的并举例说明",
        "?": "???",
    }
    texts |= {"capital": "What is the capital of France?", "other": "What is the currency of France?"}
    assert merge_near_duplicates(texts) == {id: id for id in texts} | {"plain": "full", "zh2": "zh"}
    monkeypatch.setattr(near, "MOST_COMPARED", 3)
    assert {id for id, lead in merge_near_duplicates(COPIES).items() if id != lead} == {
        f"q{at}" for at in range(20, 40)
    }


@pytest.mark.parametrize(
    "name", ["mt_bench_blind", "quality_self_preference", "arena_hard_position_bias", "cognitive_biases"]
)
def test_no_two_built_in_questions_are_near_and_a_planted_copy_is(name: str) -> None:
    questions = questions_of(load_experiment(name))
    texts = {each.article or each.id: each.passage or each.text for each in questions}
    assert merge_near_duplicates(texts) == {id: id for id in texts}
    id, text = next(iter(texts.items()))
    assert merge_near_duplicates(texts | {"copy": text.replace(" the ", " a ", 1)})["copy"] == id


def test_a_run_names_its_near_duplicates() -> None:
    questions = [near.Question(id, "writing", text) for id, text in COPIES.items()]
    found = with_clusters(pd.DataFrame({"question_id": [*COPIES, "q0"]}), questions)
    assert found["cluster"].tolist() == [*GROUPS.values(), "q0"]
    assert "20 groups of near-duplicate texts" in found.attrs["notes"][0]
    own = frames.with_clusters(pd.DataFrame({"question_id": ["q1"], "article": ["a7"]}), {})
    assert own["cluster"].tolist() == ["a7"]


@pytest.mark.parametrize("rows", [pair_rows, ranking_rows, score_rows])
def test_every_number_of_a_file_takes_the_merged_questions_as_units(tmp_path: Path, rows) -> None:  # type: ignore[no-untyped-def]
    given = [row | {"category": "ab"[int(row["question"][1:]) % 2]} for row in rows(questions=80)]
    if rows is pair_rows:
        given = [row | {"gold": "model_x", "length": [3, 5]} for row in given]
    alone = analyze(written(given, tmp_path / "alone.jsonl"))
    texts = analyze(
        written([row | {"question_text": COPIES[row["question"]]} for row in given], tmp_path / "texts.jsonl")
    )
    tasks = analyze(written([row | {"cluster": GROUPS[row["question"]]} for row in given], tmp_path / "tasks.jsonl"))
    assert [(e.id, e.where) for e in texts.estimates] == [(e.id, e.where) for e in alone.estimates]
    assert max(each.clusters for each in alone.estimates) == 80
    assert {each.id for each in texts.estimates if each.clusters > 20} == set()
    # Who resamples other units draws other samples: what the mean of samples corrects is all that moves.
    for one, other in zip(alone.estimates, texts.estimates, strict=True):
        if not one.id.endswith(("_noise_floor", "_corrected")) and "logit" not in one.id:
            assert other.value == pytest.approx(one.value, nan_ok=True), one.id
    ends = [[(e.id, e.value, e.low, e.high) for e in found.estimates] for found in (texts, tasks)]
    np.testing.assert_equal(*ends)
    assert "near-duplicate" in " ".join(texts.notes) and "20 clusters" in " ".join(tasks.notes)
    assert "20 groups of near-duplicate texts" in summary(texts)


def test_a_question_of_two_clusters_is_refused(tmp_path: Path) -> None:
    rows = [row | {"cluster": f"t{number % 2}"} for number, row in enumerate(pair_rows(questions=3))]
    with pytest.raises(ValueError, match=r"line 3: question 'q0' is of the cluster 't1', and of 't0' before"):
        analyze(written(rows, tmp_path / "v.csv"))


def test_pairs_are_made_by_question_before_questions_are_joined() -> None:
    """One judge's verdict on a question is never set against another's on its near-copy."""
    rows = [(f"q{n}", f"c{n // 2}", "a", 1.0) for n in range(40)]
    rows += [(f"q{n}", f"c{n // 2}", "b", float(n % 4 == 1)) for n in range(1, 40, 2)]
    frame = pd.DataFrame(rows, columns=["question_id", "cluster", "judge", "correct"])
    (gap,) = (each for each in accuracy(frame, "folder") if each.id == "gold_accuracy_difference")
    assert (gap.n, gap.clusters) == (40, 20) and gap.value == pytest.approx(0.5)


def test_a_cluster_in_two_categories_is_in_no_stratum() -> None:
    frame = pd.DataFrame({"question_id": ["q1", "q2"], "category": ["x", "y"], "value": [1.0, 2.0]})
    assert cluster_sums(frame, "value", "question_id", strata="category").strata is not None
    assert cluster_sums(frame.assign(cluster="q1"), "value", "question_id", strata="category").strata is None


def test_near_copies_do_not_make_a_test_reject_too_often() -> None:
    """20 x 4 near-copies whose answers agree in 4 of 5 cases, no effect: by ids a nominal 5 % is many times that."""
    merged = merge_near_duplicates(COPIES)
    names = {name: number for number, name in enumerate(dict.fromkeys(merged.values()))}
    codes, rng, runs = np.array([names[each] for each in merged.values()]), np.random.default_rng(7), 2000

    def drawn() -> np.ndarray:
        shape = (4, 20)
        shared = rng.choice([-1.0, 0.0, 1.0], (1, 20))
        return np.where(rng.random(shape) < 0.8, shared, rng.choice([-1.0, 0.0, 1.0], shape)).ravel()

    rejected = np.zeros((2, 2), int)
    for _ in range(runs):
        one, two = drawn(), np.column_stack([drawn(), drawn()])
        for at, codes_of in enumerate((np.arange(80), codes)):
            for kind, (values, weights) in enumerate(((one[:, None], (1.0,)), (two, (1.0, -1.0)))):
                x, d = added(values, codes_of), added(np.ones_like(values), codes_of)
                rejected[at, kind] += clustered(x, d, weights).p < 0.05
    for kind, what in enumerate(("mean", "difference")):
        assert_within(rejected[1, kind], runs, 0.03, 0.07, f"{what}, merged")
        assert rejected[0, kind] > 0.13 * runs, "the copies are no harder than other questions"


def test_tasks_above_pairs_are_the_units_of_real_verdicts(real_data: Path, tmp_path: Path) -> None:
    """By pair [26.4, 47.1], as its README has it; by task recomputed here: 24 tasks, CR2."""
    rows = pd.read_csv(real_data / "judges_2026" / "selfbias_luna_mini_haiku" / "recuse_no_empty.csv", dtype=str)
    rows.to_csv(tmp_path / "pairs.csv", index=False)
    rows.assign(cluster=rows["question"].str.partition(":")[0]).to_csv(tmp_path / "tasks.csv", index=False)
    one, other = (
        next(
            each
            for each in analyze(tmp_path / f"{name}.csv").estimates
            if each.id == "first_position_effect" and dict(each.where) == {"judge": "claude-haiku-4-5"}
        )
        for name in ("pairs", "tasks")
    )
    assert [round(100 * end, 1) for end in (one.value, one.low, one.high)] == [36.8, 26.4, 47.1]
    mine = rows[rows["judge"] == "claude-haiku-4-5"].copy()
    mine["pair"] = mine["question"] + mine["candidates"].map(lambda text: "|".join(sorted(text.split("|"))))
    said = mine.groupby("pair")["verdict"].agg(lambda both: (set(both) == {"A"}) - int(set(both) == {"B"}))
    sums = said.groupby(said.index.str.partition(":").get_level_values(0)).agg(["sum", "size"])
    task = np.repeat(np.arange(len(sums)), sums["size"])
    mean, se, df = cr2_by_matrices(np.ones((len(said), 1)), said.sort_index().to_numpy(float), task, np.ones(1))
    reach = student.ppf(0.975, df) * se
    assert other.clusters == len(sums) == 24
    assert (other.low, other.high) == pytest.approx((mean - reach, mean + reach), abs=1e-9)
