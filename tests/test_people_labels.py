"""Labels of people beside a judge's verdicts: how far it is from them, and what they would say of all pairs."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from helpers.__main__ import main
from helpers.analyze import analyze, summary
from helpers.biases.accuracy import people_rate
from tests.test_analyze_tidy import only

NAMES, VENDORS = ("gpt-a", "claude-b", "llama-c"), ("openai", "anthropic", "meta")
PEOPLE = {"gpt-a": 0.45, "claude-b": 0.65, "llama-c": 0.4}


def world(own: float, seed: int = 1, questions: int = 200, labelled: float = 0.3, noise: float = 0.2) -> pd.DataFrame:
    """Pairs in both orders by gpt-j of openai, which says what people say, but for its noise and `own` more for itself.

    People's labels of a share of the questions drawn at random; `truth` has those of all.
    """
    rng, rows = np.random.default_rng(seed), []
    for question in range(questions):
        drawn = rng.random() < labelled
        for one, two in ((0, 1), (0, 2), (1, 2)):
            names = NAMES[one], NAMES[two]
            weights = PEOPLE[names[0]], PEOPLE[names[1]]
            truth = names[0] if rng.random() < weights[0] / sum(weights) else names[1]
            verdict = truth
            if rng.random() < noise:
                verdict = names[int(rng.random() < 0.5)]
            if verdict != NAMES[0] == names[0] and rng.random() < own:
                verdict = NAMES[0]
            for turned in (False, True):
                shown, made = names, (VENDORS[one], VENDORS[two])
                rows.append(
                    {
                        "judge": "gpt-j",
                        "judge_vendor": "openai",
                        "question": f"q{question}",
                        "candidates": "|".join(shown[::-1] if turned else shown),
                        "candidate_vendors": "|".join(made[::-1] if turned else made),
                        "verdict": verdict,
                        "gold": truth if drawn else None,
                        "truth": truth,
                    }
                )
    return pd.DataFrame(rows)


def people_of(frame: pd.DataFrame, name: str, column: str = "truth") -> float:
    with_it = frame[frame["candidates"].str.contains(name) & frame[column].notna()]
    return float((with_it[column] == name).mean())


def test_a_taste_for_its_own_vendor_stands_beside_the_labels() -> None:
    frame = world(own=0.4)
    found = analyze(frame.drop(columns="truth"), random_gold=True)
    own = only(found.estimates, "people_gap_own", judge="gpt-j")
    part = frame[frame["gold"].notna()]
    by_hand = people_of(part, "gpt-a", "verdict") - people_of(part, "gpt-a", "gold")
    assert own.low > 0.05 and own.unit == "pp" and own.value == pytest.approx(by_hand)
    assert own.clusters == part["question"].nunique()
    for name in NAMES:
        place = {"judge": "gpt-j", "candidate": name}
        people, judge = (only(found.estimates, id, **place) for id in ("people_rate", "people_rate_judge"))
        assert judge.value == pytest.approx(people_of(frame, name, "verdict"))
        assert people.low < people_of(frame, name) < people.high
        assert only(found.estimates, "people_rate_labels", **place).se > people.se
    text = summary(found)
    assert f"| {own}" in text and "| people_gap_own" in text and "| people_rate " in text


def test_without_a_word_on_how_rows_were_drawn_nothing_is_corrected(tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    world(own=0.0, questions=60).drop(columns="truth").to_csv(path, index=False)
    status = analyze(path).status.set_index("id")
    assert "--random-gold" in status.loc["people_rate", "why"] and status.loc["people_gap", "status"] == "computed"
    for options, there in (([], False), (["--random-gold"], True)):
        run = CliRunner().invoke(main, ["analyze", str(path), "--to", str(tmp_path / f"to{there}"), *options])
        assert run.exit_code == 0 and ("| people_rate " in run.output) == there


def test_labels_of_pairs_that_the_judge_found_easy_are_refused() -> None:
    frame = world(own=0.4, labelled=1.0)
    wins = frame["verdict"] == "gpt-a"
    kept = np.random.default_rng(3).random(len(frame)) < np.where(wins, 0.15, 0.6)
    found = analyze(frame.assign(gold=frame["gold"].where(kept)).drop(columns="truth"), random_gold=True)
    refused = only(found.estimates, "people_rate", judge="gpt-j", candidate="gpt-a")
    assert math.isnan(refused.value) and "depends on the judge's verdict" in refused.method


def test_labels_of_all_rows_need_no_drawing_and_no_labels_give_no_number() -> None:
    full = world(own=0.2, labelled=1.0, questions=40)
    every = only(analyze(full.drop(columns="truth")).estimates, "people_rate", judge="gpt-j", candidate="gpt-a")
    assert every.value == pytest.approx(people_of(full, "gpt-a")) and every.low < every.value < every.high
    bare = analyze(full.drop(columns=["truth", "gold"]), random_gold=True)
    assert not [each for each in bare.estimates if each.id.startswith("people_")]
    assert bare.status.set_index("id").loc["people_rate", "why"] == "column gold is missing"


def test_agreement_beyond_chance_is_that_of_a_table(tmp_path: Path) -> None:
    """Scott's pi, which nominal alpha of two raters is but for its correction of (2 n - 1) / 2 n."""
    verdicts = ["A"] * 30 + ["B"] * 20 + ["A"] * 6 + ["B"] * 4
    golds = ["A"] * 30 + ["B"] * 20 + ["B"] * 6 + ["A"] * 4
    rows = [
        {"judge": "j", "question": f"q{at}", "candidates": "x|y", "verdict": one, "gold": other}
        for at, (one, other) in enumerate(zip(verdicts, golds, strict=True))
    ]
    n, differ, first = 60, 10 / 60, (36 + 34) / 120
    expected = 2 * first * (1 - first)
    found = only(analyze(pd.DataFrame(rows)).estimates, "gold_alpha", judge="j")
    assert found.value == pytest.approx(1 - (2 * n - 1) / (2 * n) * differ / expected) and found.low < found.value


def mt_bench(real_data: Path) -> pd.DataFrame:
    """GPT-4's verdicts of both orders on the comparisons with votes, and what most of the people said of each."""
    won = {"model_a": 1.0, "model_b": 0.0}
    votes, rows = defaultdict(list), []
    for name in ("human_judgments", "gpt4_pair_judgments"):
        for line in (real_data / "mt_bench" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            names = sorted((row["model_a"], row["model_b"]))
            value = won.get(row["winner"], 0.5)
            value = value if names[0] == row["model_a"] else 1 - value
            key = (row["question_id"], row["turn"], *names)
            if name == "human_judgments":
                votes[key].append(value)
            elif key in votes:
                people = float(np.sign(np.mean(votes[key]) - 0.5) + 1) / 2
                words = {1.0: names[0], 0.0: names[1], 0.5: "tie"}
                made = ["openai" if each.startswith("gpt") else "another" for each in names]
                rows.append(
                    {
                        "judge": "gpt-4",
                        "judge_vendor": "openai",
                        "question": f"{key[0]}, turn {key[1]}",
                        "cluster": str(key[0]),
                        "candidates": names,
                        "candidate_vendors": made,
                        "order": "unknown",
                        "verdict": words[value],
                        "gold": words[people],
                    }
                )
    return pd.DataFrame(rows)


def test_gpt_4_lets_itself_win_more_often_than_people_do(real_data: Path) -> None:
    frame = mt_bench(real_data)
    found = analyze(frame)
    place = {"judge": "gpt-4", "candidate": "gpt-4"}
    judge, people = (only(found.estimates, id, **place).value for id in ("people_rate_judge", "people_rate_labels"))
    assert len(frame) == 1814 and (round(100 * judge, 1), round(100 * people, 1)) == (85.2, 75.0)
    assert only(found.estimates, "people_gap", **place).low > 0.05
    assert only(found.estimates, "people_gap_own", judge="gpt-4").clusters == 80


@pytest.mark.slow
@pytest.mark.parametrize("labels", [60, 100, 150])
def test_corrected_rates_cover_what_people_say_of_all(real_data: Path, labels: int) -> None:
    """How often GPT-4 wins by people, from labels drawn of its comparisons; its verdicts alone miss that by 10 pp."""
    frame = mt_bench(real_data)
    frame = frame[frame["candidates"].map(lambda names: "gpt-4" in names)]
    value = {"gpt-4": 1.0, "tie": 0.5}
    items = pd.DataFrame(
        {
            "question_id": frame["question"],
            "cluster": frame["cluster"],
            "judge": "gpt-4",
            "item": frame.index,
            "predicted": frame["verdict"].map(value).fillna(0.0),
            "people": frame["gold"].map(value).fillna(0.0),
        }
    )
    truth, rng = items["people"].mean(), np.random.default_rng(7)
    inside = {"people_rate": [], "people_rate_judge": []}
    for _ in range(400):
        drawn = rng.choice(items["item"], labels, replace=False)
        given = items.assign(label=items["people"].where(items["item"].isin(drawn))).drop(columns="people")
        for each in people_rate(given, "folder", random_sample=True):
            if each.id in inside and each.low == each.low:
                inside[each.id].append(each.low <= truth <= each.high)
    assert len(inside["people_rate"]) > 390 and np.mean(inside["people_rate"]) >= 0.93
    assert np.mean(inside["people_rate_judge"]) < 0.2
