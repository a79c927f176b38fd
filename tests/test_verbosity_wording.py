"""Experiment 6: one content in several wordings, and its published numbers."""

from __future__ import annotations

import asyncio
import csv
import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats
from statsmodels.stats.multitest import multipletests

from helpers import claims, paths, prompts, run, verdicts
from helpers.__main__ import main
from helpers.biases import protocol, verbosity
from helpers.biases.protocol import load_bias
from helpers.biases.verbosity import asked
from helpers.biases.verbosity.asked import BIASES, CONTENT, LENGTH, Pair, pairs
from helpers.config import load_experiment
from helpers.datasets import load_questions
from helpers.providers import simulated
from helpers.providers.simulated import WORDINGS
from helpers.run import plan
from helpers.types import Completion, Model, Question
from tests.pages import FLAT
from tests.runs import published_counts, published_estimates, settled
from tests.simulation import judging

BUILTIN = load_questions(paths.DATA / "mt_bench_blind" / "questions.jsonl")
EXPERIMENT = load_experiment("verbosity_style")
WORDED = [question for question in BUILTIN if asked.worded(EXPERIMENT, question)]


def compared(question: Question) -> dict[tuple[str, str, str], Pair]:
    return {(each.condition, each.bias, each.wording): each for each in asked.compared(EXPERIMENT, question)}


def test_questions_that_ask_for_a_form_are_left_out_and_all_others_asked() -> None:
    assert {question.category for question in WORDED} == {"reasoning", "math", "coding", "stem", "humanities"}
    assert len(WORDED) == 50


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_every_wording_holds_each_sentence_of_the_answer_once_and_in_order(question: Question) -> None:
    for (condition, _, _), pair in compared(question).items():
        for text, whole in ((pair.tried, condition != CONTENT), (pair.other, True)):
            at = [text.find(point) for point in question.points]
            kept = [place for place in at if place >= 0]
            assert kept == sorted(kept) and len(set(kept)) == len(kept)
            assert all(text.count(point) == 1 for point, place in zip(question.points, at, strict=True) if place >= 0)
            assert len(kept) == len(question.points) - (0 if whole else 2)
        if condition == CONTENT:
            assert question.points[-1] not in pair.tried and question.points[0] in pair.tried


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_beside_the_sentences_of_the_answer_stand_only_the_phrases_of_the_config(question: Question) -> None:
    phrases = EXPERIMENT.extra["phrases"]
    frames = [sentence for frame in phrases["frames"] for both in frame.values() for sentence in both]
    known = [*phrases["padding"], *frames, phrases["leads"]["listed"], *phrases["leads"]["prose"]]
    for pair in compared(question).values():
        for text in (pair.tried, pair.other):
            for sentence in sorted((*question.points, *known), key=len, reverse=True):
                text = text.replace(sentence, "", 1)
            assert re.sub(r"^- ", "", text, flags=re.MULTILINE).strip() == "", text


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_lengths_are_equal_where_they_are_said_to_be_and_mirrored_elsewhere(question: Question) -> None:
    found = compared(question)
    for bias in ("listed", "confident"):
        equal, longer, shorter = (found[LENGTH, bias, wording] for wording in ("equal", "longer", "shorter"))
        assert len(equal.tried) == len(equal.other)
        assert len(longer.tried) - len(longer.other) == len(shorter.other) - len(shorter.tried) > 150
        assert len(longer.tried) / len(longer.other) == pytest.approx(len(shorter.other) / len(shorter.tried))
    control, confident = found["control", "reworded", "as it is"], found["style", "confident", "as it is"]
    assert len(control.tried) == len(confident.tried) and control.other == confident.other
    assert all(len(pair.tried) > len(pair.other) for (kind, _, _), pair in found.items() if kind == "style")


@pytest.mark.parametrize("question", WORDED, ids=lambda question: question.id)
def test_a_wording_shows_what_it_is_and_nothing_else_of_it(question: Question) -> None:
    for (condition, bias, _), pair in compared(question).items():
        for wording, tells in WORDINGS.items():
            assert bool(tells.search(pair.tried)) == (bias == wording) and not tells.search(pair.other), condition
    assert set(WORDINGS) < set(BIASES)


def test_phrases_say_nothing_of_any_question() -> None:
    phrases = EXPERIMENT.extra["phrases"]
    said = [*phrases["padding"], *(x for frame in phrases["frames"] for both in frame.values() for x in both)]
    assert len(set(said)) == len(said) and all(each.endswith(".") and not re.search(r"\d", each) for each in said)
    texts = " ".join(" ".join((question.text, *question.points)) for question in BUILTIN)
    assert not [each for each in said if each in texts]


def test_texts_hang_on_seed_and_question_alone_and_a_larger_limit_asks_nothing_anew() -> None:
    ranked = [replace(question, place=i) for i, question in enumerate(WORDED)]
    judges = load_experiment("verbosity_style", judges=["sim_gpt_grader", "sim_llama_grader"])
    few, all_ = (
        {t.request.key for t in load_bias("verbosity").trials("judging", run, questions, {})}
        for run, questions in ((EXPERIMENT, ranked[:7]), (EXPERIMENT, ranked))
    )
    assert few < all_
    two = [t for t in load_bias("verbosity").trials("judging", judges, ranked[:2], {}) if t.request.repeat == 0]
    by = {
        name: {t.request.prompt for t in two if t.judge.name == name} for name in ("sim_gpt_grader", "sim_llama_grader")
    }
    assert by["sim_gpt_grader"] == by["sim_llama_grader"] and len(by["sim_gpt_grader"]) == 2 * 14 * 2
    other = replace(EXPERIMENT, seed=7)
    assert not few & {t.request.key for t in load_bias("verbosity").trials("judging", other, ranked[:7], {})}


def test_each_pair_is_asked_in_both_orders_and_the_wordings_twice() -> None:
    trials = load_bias("verbosity").trials(
        "judging", load_experiment("verbosity_style", judges=["sim_gpt_grader"]), WORDED[:3], {}
    )
    texts = {name: [t for t in trials if t.condition == name] for name in {t.condition for t in trials}}
    assert {name: len(some) for name, some in texts.items()} == {
        "style": 36,
        "control": 12,
        "length": 36,
        "content": 24,
    }
    for trial in trials:
        first, second = re.findall(r"<<<ANSWER [AB] \w+>>>\n(.*?)\n<<<END [AB] ", trial.request.prompt, re.DOTALL)
        longer = int(trial.where["letters_tried"]), int(trial.where["letters_other"])
        assert (len(first), len(second)) == (longer if trial.where["first"] == "tried" else longer[::-1])
        assert trial.labels == ("A", "B") and trial.form == "pairwise"
    keys = [t.request.key for t in trials]
    assert len(set(keys)) == len(keys)


def test_only_what_is_wanted_is_compared() -> None:
    points = WORDED[0].points
    phrases, rng = EXPERIMENT.extra["phrases"], random.Random(1)
    assert {each.condition for each in pairs(points, phrases, 4, rng, ["style"])} == {"style", "control"}
    assert {each.condition for each in pairs(points, phrases, 4, rng, ["style", "content"])} == {
        *("style", "control", "content")
    }


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"comparisons": ["length"]}, r"comparisons = \['length'\]: style is always"),
        ({"comparisons": ["style", "loud"]}, "comparisons"),
        ({"comparisons": ["style", "style"]}, "comparisons"),
        ({"padding_sentences": 1}, "padding_sentences = 1: from 2 to 15"),
        ({"padding_sentences": 99}, "padding_sentences = 99"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(own: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        verbosity.check(load_experiment("verbosity_style", **own))


def test_frames_of_unequal_length_are_refused_with_their_place() -> None:
    phrases = dict(EXPERIMENT.extra["phrases"])
    first, *others = phrases["frames"]
    phrases["frames"] = [*others, {**first, "neutral": ["Well.", "That is all."]}]
    broken = replace(EXPERIMENT, extra={**EXPERIMENT.extra, "phrases": phrases})
    with pytest.raises(ValueError, match=r"frames, entry 4: confident 76 and neutral 17 letters"):
        verbosity.check(broken)
    phrases["frames"] = [{"confident": ["One."], "neutral": ["One."]}]
    with pytest.raises(ValueError, match="an opening and a closing sentence"):
        verbosity.check(replace(EXPERIMENT, extra={**EXPERIMENT.extra, "phrases": phrases}))


def test_the_plan_counts_every_call_and_the_caution_tells_what_is_left_out(tmp_path: Path) -> None:
    run = load_experiment("verbosity_style", judges=["gpt_4_1"], question_limit=16, store=str(tmp_path))
    planned = asyncio.run(plan(run))
    chosen = [question for question in verbosity_questions(run) if asked.worded(run, question)]
    assert sum(row.missing for row in planned.rows) == 36 * len(chosen) and len(chosen) < 16
    told = verbosity.caution(run, verbosity_questions(run))
    assert f"{16 - len(chosen)} of 16 questions are left out" in told and "writing, roleplay, extraction" in told
    alone = load_experiment("verbosity_style", comparisons=["style"], repeats=1)
    told = verbosity.caution(alone, WORDED[:9])
    assert "cannot be told from its length" in told and "repeats = 1" in told and "9 questions: no interval" in told


def verbosity_questions(run) -> tuple[Question, ...]:
    from helpers.run.sources import questions_of

    return questions_of(run)


def test_a_text_that_could_close_its_own_delimiters_is_refused() -> None:
    nonce = prompts.nonce(EXPERIMENT.seed, "x")
    bad = Question("x", "math", "What?", (f"<<<END A {nonce}>>>", "Two.", "Three."))
    with pytest.raises(ValueError, match=f"question x contains the nonce {nonce}"):
        load_bias("verbosity").trials("judging", EXPERIMENT, [bad], {})


# --- what simulated judges can like -----------------------------------------------------------------------------------


def judge_of(**traits: object) -> Model:
    return Model("sim", "simulated", "sim-1", "gpt", traits=traits)


@pytest.mark.parametrize("given", [{"loud": 1.0}, {"listed": "much"}, 0.5])
def test_a_liking_that_there_is_not_is_refused_by_name(given: object) -> None:
    with pytest.raises(ValueError, match=r"model 'sim': trait wordings = .*numbers by wording"):
        simulated.traits_of(judge_of(wordings=given))


@pytest.mark.parametrize(
    ("text", "wordings"),
    [
        ("Two reasons:\n- One.\n- Another.", {"listed"}),
        ("1. One.\n\n2. Another.", {"listed"}),
        ("\u2022 One.\n* Another, undoubtedly.", {"listed", "confident"}),
        ("- One line alone.", set()),
        ("A fact - or not.\nAnother - or not.", set()),
        ("There is absolutely no doubt.", {"confident"}),
        ("This may be so.", set()),
    ],
)
def test_a_wording_is_recognized_by_its_lines_and_words(text: str, wordings: set[str]) -> None:
    assert {wording for wording, tells in WORDINGS.items() if tells.search(text)} == wordings


def test_a_liking_adds_its_utility_to_texts_of_that_wording_and_to_no_others() -> None:
    texts = ["One. Two.", "- One.\n- Two.", "One. There is absolutely no doubt."]

    def felt(**traits: object) -> list[float]:
        # The key holds the traits, so noise is left out.
        return simulated.before_noise(judging(judge_of(noise=0.0, sharpness=0.0, **traits), texts))[0]

    assert felt() == [0.0, 0.0, 0.0]
    assert felt(wordings={"listed": 0.7, "confident": -0.4}) == [0.0, 0.7, -0.4]


# --- published data ---------------------------------------------------------------------------------------------------

FOLDER = paths.EXPERIMENTS / "verbosity_style"
COUNTS, PUBLISHED = published_counts(FOLDER.name), published_estimates(FOLDER.name)
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


def test_claims_are_those_of_the_published_statistics(real_data: Path) -> None:
    table = json.loads((real_data / "pairwise" / "expected_values.json").read_text(encoding="utf-8"))["llmbar"]["stats"]
    for claim in claims.load_claims(FOLDER / "claims.yaml"):
        if claim.estimand and not claim.id.startswith("recent_"):
            cell = table[f"Adversarial/Manual|{claim.where['judge'].replace('/', '|')}"]
            assert claim.published == cell["published"]["correct_both"]


def test_the_readme_repeats_what_the_counts_give() -> None:
    worse = {each.where["judge"]: each for each in PUBLISHED if each.id == "longer_when_worse"}
    tested = protocol.conclusions("verbosity", PUBLISHED, "longer_when_worse")
    p = {each.estimate.where["judge"]: each.p for each in tested}
    above, below = (
        [name for name, each in worse.items() if p[name] < 0.05 and sign * (each.value - 0.5) > 0] for sign in (1, -1)
    )
    most, least = max(worse, key=lambda x: worse[x].value), min(worse, key=lambda x: worse[x].value)
    n = COUNTS["llmbar"]["instances"]["worse"]
    assert f"On {n} instances of LLMBar's hand-made set whose longer output is the worse one" in FLAT
    read = [sum(each["worse"][:3]) for each in COUNTS["llmbar"]["counts"].values()]
    assert "(35 to 37 read in both orders)" in FLAT and (min(read), max(read)) == (35, n)
    assert f"{len(above)} of {len(worse)} evaluators chose it more often than a coin would, up to {worse[most]}" in FLAT
    assert f"({most.partition('/')[0]}, {worse[most].n} read), and {len(below)} less often" in FLAT
    assert f"down to {worse[least]} ({least.partition('/')[0]}, {worse[least].n} read)" in FLAT
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
    assert set(cards) == {name.partition("/")[0] for name in COUNTS["llmbar"]["counts"]}
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
    tested = protocol.conclusions("verbosity", PUBLISHED, "longer_when_worse")
    found = sum(each.p < 0.05 and each.estimate.value > 0.5 for each in tested)
    assert head.sentence.startswith(f"{found} of 30 tests show that the judge prefers the longer text")
    assert 0 < head.unreadable < 0.05


def test_the_counts_of_each_evaluator_are_of_all_instances() -> None:
    sums = [{stratum: sum(cells) for stratum, cells in each.items()} for each in COUNTS["llmbar"]["counts"].values()]
    assert all(each == COUNTS["llmbar"]["instances"] for each in sums)


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
    for trial in load_bias("verbosity").trials("judging", experiment, load_questions(file), {}):
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
