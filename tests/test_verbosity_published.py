"""Experiment 6 on real data: published verdicts by length, EvalBiasBench's pairs, and numbers that prose repeats."""

from __future__ import annotations

import asyncio
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.multitest import multipletests

from helpers import claims, paths, run, verdicts
from helpers.__main__ import main
from helpers.biases import verbosity
from helpers.biases.verbosity import asked
from helpers.biases.verbosity.published import model_of
from helpers.config import read_yaml
from helpers.datasets import load_questions
from helpers.providers import simulated
from helpers.types import Completion
from tests.runs import settled

FOLDER = paths.EXPERIMENTS / "verbosity_style"
COUNTS = read_yaml(FOLDER / "published" / "counts.yaml")
PUBLISHED = verbosity.from_published(COUNTS)
FLAT = " ".join((paths.ROOT / "README.md").read_text(encoding="utf-8").split())
#: Written for this test; the first pair is one of length, in the second both responses are of one length.
PAIRS = [
    {"bias": "length bias", "instruction": "Say yes.", "response1": "Yes.", "response2": "Yes, yes, yes.", "label": 1},
    {"bias": "concreteness", "instruction": "Say no.", "response1": "Yes", "response2": "No.", "label": 2},
]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# --- LLMBar -----------------------------------------------------------------------------------------------------------


def test_the_counts_are_those_of_llmbars_verdicts_and_texts(real_data: Path) -> None:
    folder = real_data / "pairwise" / "llmbar"
    known = {}
    for each in lines(folder / "manual_texts.jsonl"):
        one, two = len(each["output_1"]), len(each["output_2"])
        longer = "same" if one == two else "12"[two > one]
        known[each["id"]] = "same" if longer == "same" else "better" if longer == str(each["label"]) else "worse"
    right = {each["id"]: str(each["label"]) for each in lines(folder / "instances.jsonl")}
    assert Counter(known.values()) == COUNTS["llmbar"]["instances"]
    found: dict[str, Counter] = {}
    for each in lines(folder / "verdicts.jsonl"):
        if each["id"] in known:
            both = [each["winner"], each["winner_swapped"]]
            cell = sum(winner == right[each["id"]] for winner in both) if set(both) <= {"1", "2"} else 3
            found.setdefault(f"{each['evaluator']}/{each['prompt']}", Counter())[known[each["id"]], cell] += 1
    for judge, strata in COUNTS["llmbar"]["counts"].items():
        for stratum, cells in strata.items():
            assert cells == [found[judge][stratum, i] for i in range(4)], (judge, stratum)
    assert set(found) == set(COUNTS["llmbar"]["counts"]) and len(found) == 30


def test_shares_of_the_longer_output_are_means_over_instances_with_their_t_interval() -> None:
    for each in PUBLISHED:
        if each.id == "longer_when_worse":
            none, one, both, _ = COUNTS["llmbar"]["counts"][each.where["judge"]]["worse"]
            chosen = [1.0] * none + [0.5] * one + [0.0] * both
            low, high = stats.t.interval(0.95, len(chosen) - 1, np.mean(chosen), stats.sem(chosen))
            assert (each.value, each.low, each.high) == pytest.approx((np.mean(chosen), low, high))
            # One value an instance: sign flips are the exact test of McNemar, which t is not at the corrected level.
            assert each.p == pytest.approx(stats.binomtest(none, none + both).pvalue)
            assert each.n == sum((none, one, both)) and each.method.endswith("; exact McNemar p")
        if each.id == "longer_when_better":
            assert each.low != each.low, "8 instances carry no interval"


def test_published_numbers_come_out_or_say_why_not() -> None:
    said = claims.load_claims(FOLDER / "claims.yaml")
    checked = claims.check(said, PUBLISHED)
    assert Counter(checked["status"]) == {"reproduced": 30, "not derivable": 2}
    changes = " ".join((paths.ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split())
    assert f"{len(said)} published numbers checked" in changes


def test_claims_are_those_of_the_published_statistics(real_data: Path) -> None:
    table = json.loads((real_data / "pairwise" / "expected_values.json").read_text(encoding="utf-8"))["llmbar"]["stats"]
    for claim in claims.load_claims(FOLDER / "claims.yaml"):
        if claim.estimand:
            cell = table[f"Adversarial/Manual|{claim.where['judge'].replace('/', '|')}"]
            assert claim.published == cell["published"]["correct_both"]


def test_the_readme_repeats_what_the_counts_give() -> None:
    worse = {each.where["judge"]: each for each in PUBLISHED if each.id == "longer_when_worse"}
    p = {at[0]: value for at, value in verbosity.corrected(PUBLISHED).items()}
    above, below = (
        [name for name, each in worse.items() if p[name] < 0.05 and sign * (each.value - 0.5) > 0] for sign in (1, -1)
    )
    most, least = max(worse, key=lambda x: worse[x].value), min(worse, key=lambda x: worse[x].value)
    n = COUNTS["llmbar"]["instances"]["worse"]
    assert f"On {n} instances of LLMBar's hand-made set whose longer output is the worse one" in FLAT
    read = [sum(each["worse"][:3]) for each in COUNTS["llmbar"]["counts"].values()]
    assert "(35 to 37 read in both orders)" in FLAT and (min(read), max(read)) == (35, n)
    assert f"{len(above)} of {len(worse)} evaluators chose it more often than a coin would, up to {worse[most]}" in FLAT
    assert f"({model_of(most)}, {worse[most].n} read), and {len(below)} less often" in FLAT
    assert f"down to {worse[least]} ({model_of(least)}, {worse[least].n} read)" in FLAT
    exact = [stats.binomtest(each["worse"][0], each["worse"][0] + each["worse"][2]).pvalue
             for each in COUNTS["llmbar"]["counts"].values()]  # fmt: skip
    assert multipletests(exact, method="holm")[0].sum() == len(above) + len(below) > 0
    told = verbosity.published_finding(PUBLISHED)
    assert (
        f"{len(above)} of {len(worse)} evaluators chose it more often than a coin would, {len(below)} less often"
        in told
    )
    assert "alpaca_eval_gpt4 in 68 % and humans in 64 %" in told


def test_published_judges_have_a_line_on_the_card_and_a_headline() -> None:
    cards = {line.judge: line for line in verbosity.card(PUBLISHED)}
    assert set(cards) == {model_of(name) for name in COUNTS["llmbar"]["counts"]}
    assert cards["GPT-4"].verdict == "not shown" and cards["ChatGPT"].verdict == "bias"
    assert {line.measure for line in cards.values()} == {"wording"}
    shares = {each.where["judge"]: each for each in PUBLISHED if each.id == "longer_when_worse"}
    for each in PUBLISHED:
        if each.id == "longer_over_better":
            share = shares[each.where["judge"]]
            ends = [2 * x - 1 for x in (share.value, share.low, share.high)]
            assert [each.value, each.low, each.high] == pytest.approx(ends) and each.p == share.p
    head = verbosity.headline(PUBLISHED)
    # By the same exact test: with as many for the side with fewer as were seen, four of five such sets find the effect.
    rng, line = np.random.default_rng(2), cards["ChatGPT-0301"]
    none, one, both, _ = COUNTS["llmbar"]["counts"][line.estimate.where["judge"]]["worse"]
    n, fewer = none + one + both, min(none, both) / (none + one + both)
    drawn = rng.multinomial(n, [fewer + line.smallest, fewer, 1 - 2 * fewer - line.smallest], size=4000)
    pairs, many = np.unique(drawn[:, :2], axis=0, return_counts=True)
    hits = [stats.binomtest(int(a), int(a + b)).pvalue <= 0.05 / 30 if a + b else False for a, b in pairs]
    assert many[hits].sum() / 4000 == pytest.approx(0.8, abs=0.03)
    p = verbosity.corrected(PUBLISHED)
    found = sum(p[name, ""] < 0.05 and each.value > 0.5 for name, each in shares.items())
    assert head.sentence.startswith(f"Of 30 evaluators {found} prefer the longer text") and 0 < head.unreadable < 0.05


def test_counts_that_do_not_add_up_are_refused_by_name() -> None:
    broken = {**COUNTS, "llmbar": {**COUNTS["llmbar"], "instances": {"worse": 36, "better": 8, "same": 1}}}
    with pytest.raises(ValueError, match="ChatGPT-0301/CoT, longer output worse: 37 instances counted, there are 36"):
        verbosity.from_published(broken)


# --- EvalBiasBench ----------------------------------------------------------------------------------------------------


def written(folder: Path, pairs: list[dict[str, Any]], name: str = "biasbench.json") -> Path:
    (folder / name).write_text(json.dumps(pairs), encoding="utf-8")
    return folder / name


def test_pairs_with_a_known_better_text_are_questions_with_two_options(tmp_path: Path) -> None:
    first, second = load_questions(written(tmp_path, PAIRS))
    assert (first.id, first.category, first.text) == ("pair_000", "length bias", "Say yes.")
    assert first.options == ("Yes.", "Yes, yes, yes.") and first.gold == "A" and second.gold == "B"
    (named,) = load_questions(written(tmp_path, [{"id": "length_bias/00", **PAIRS[0]}]))
    assert named.id == "length_bias/00"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label": 3}, "field 'label' holds 3 .*expected 1 or 2"),
        ({"label": True}, "field 'label' holds"),
        ({"label": "1"}, "field 'label' holds"),
        ({"bias": None}, "category"),
        ({"response2": " "}, "'response2' is empty"),
    ],
)
def test_what_is_wrong_with_a_pair_is_told_with_its_place(tmp_path: Path, change: dict, told: str) -> None:
    with pytest.raises(ValueError, match=rf"record 2.*{told}"):
        load_questions(written(tmp_path, [PAIRS[0], {**PAIRS[1], **change}]))


def test_a_simulated_judge_is_asked_for_such_pairs_in_both_orders(tmp_path: Path) -> None:
    file = written(tmp_path, PAIRS)
    experiment = settled("verbosity_style", questions=str(file), judges=["sim_gpt_grader"])
    found = asyncio.run(run.ask(experiment, show=False))
    assert len(found.frame) == 4 and set(found.frame["condition"]) == {"none"}
    assert "There is no control" not in run.provenance(found)
    estimates = verbosity.measure(found.frame, found.data, 42)
    assert {each.id for each in estimates} >= {"known_pair_accuracy", "longer_when_worse"}
    assert "prefers the text known to be better in" in verbosity.finding(estimates)
    assert verbosity.caution(experiment, found.questions) == "2 questions: no interval below 10."


def judged(file: Path, chosen: Any) -> list:
    """The numbers of a judge that says `chosen(better, worse)` of two texts, through prompts, replies and parser."""
    experiment = settled("verbosity_style", questions=str(file), judges=["sim_gpt_grader"])
    found = []
    for trial in asked.trials("judging", experiment, load_questions(file), {}):
        first, second = simulated.read_prompt(trial.request.prompt).texts
        said = json.dumps({"id": trial.nonce, "justification": "", "verdict": chosen(first, second)})
        found.append(verdicts.read(trial, Completion(trial.request.key, "ok", said, "stop")))
    return verbosity.measure(verbosity.tidy(found, {}), "asked", 1)


def longer(one: str, two: str) -> str:
    return "A>B" if len(one) > len(two) else "B>A" if len(two) > len(one) else "A=B"


def test_all_eighty_pairs_are_read_with_their_biases(real_data: Path) -> None:
    found = load_questions(real_data / "pairwise" / "evalbiasbench" / "biasbench.jsonl")
    known = json.loads((real_data / "pairwise" / "expected_values.json").read_text(encoding="utf-8"))["evalbiasbench"]
    assert len(found) == known["rows"] == 80 and Counter(each.category for each in found) == known["by_bias"]
    assert {each.gold for each in found} == {"A"} and known["labels"] == {"1": 80}


def test_a_judge_that_takes_the_longer_text_is_as_often_right_as_the_longer_text_is(real_data: Path) -> None:
    file = real_data / "pairwise" / "evalbiasbench" / "biasbench.jsonl"
    right: dict[str, list[float]] = {}
    for each in lines(file):
        lead = len(each["response1"]) - len(each["response2"])
        right.setdefault(each["bias"], []).append(1.0 if lead > 0 else 0.5 if lead == 0 else 0.0)
    found = {(each.id, each.where.get("bias", "")): each for each in judged(file, longer)}
    for bias, values in right.items():
        each = found["known_pair_accuracy_by_bias", bias]
        assert each.value == pytest.approx(np.mean(values)) and each.clusters == len(values)
    assert found["known_pair_accuracy_by_bias", "length bias"].value == 0.0
    assert found["known_pair_accuracy", ""].value == pytest.approx(
        np.mean([value for values in right.values() for value in values])
    )
    assert [found[f"longer_when_{side}", ""].value for side in ("worse", "better")] == [1.0, 1.0]


def test_verdicts_that_somebody_has_need_no_run(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As data/README.md says: rows with gold and category give the accuracy by bias."""
    records = lines(real_data / "pairwise" / "evalbiasbench" / "biasbench.jsonl")
    with (tmp_path / "mine.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["judge", "question", "candidates", "verdict", "gold", "category"])
        for each in records:
            verdict = longer(each["response1"], each["response2"])[0]
            out.writerow(["longest", each["id"], "response1|response2", verdict, "response1", each["bias"]])
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, ["analyze", "mine.csv"])
    assert done.exit_code == 0, done.output
    numbers = json.loads((tmp_path / "mine-recuse" / "numbers.json").read_text(encoding="utf-8"))["numbers"]
    by = {n["where"]["category"]: n["value"] for n in numbers if n["id"] == "gold_accuracy_by_category"}
    assert by["length bias"] == 0.0 and set(by) == {each["bias"] for each in records}
