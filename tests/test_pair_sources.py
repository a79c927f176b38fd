"""Experiment 3 on published data: its questions, answers, edits and judgments, from files and from the hub."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import frames, paths, run
from helpers.biases import self_preference
from helpers.config import ConfigError
from helpers.run.sources import answers_of, judgments_of, questions_of, written_by
from helpers.types import Answer, Experiment, Question
from tests.cells import of_this_run, prose, run_cells, tables
from tests.published_pairs import BROKEN, EDITED, MODELS, REASON, answers, judged, write
from tests.runs import settled
from tests.servers.hub import Hub, Repo, running_hub
from tests.test_hub import REPO, Client
from tests.test_pairs import program, programs
from tests.test_passages import article, asked
from tests.test_responses import of_model

NAME = "quality_self_preference"
NOTEBOOK = paths.NOTEBOOKS / "03_quality_self_preference.ipynb"
LLAMA, QWEN, DEEPSEEK = MODELS["llama"], MODELS["qwen"], MODELS["deepseek"]
SIMULATED = ("sim_llama_small", "sim_qwen_small", "sim_deepseek")


def experiment(**parameters: Any) -> Experiment:
    return settled(NAME, **parameters)


def published(experiment: Experiment) -> dict[tuple[str, str], Answer]:
    """The published answers to the run's questions."""
    return answers_of(experiment, questions_of(experiment))


def refused(call: Any, *words: str) -> None:
    """The call ends in a ValueError with these words in it."""
    with pytest.raises(ValueError) as told:
        call()
    assert all(word in str(told.value) for word in words), told.value


def builtin() -> tuple[Question, ...]:
    return questions_of(experiment())


# --- questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["QuALITY.v1.0.1.htmlstripped.dev", "QuALITY.v1.0.1.htmlstripped.train"])
def test_questions_are_those_of_quality_in_a_file_or_a_folder(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, [article("AB12"), article("CD34")])
    for source in (tmp_path / name, tmp_path):
        found = questions_of(experiment(questions=str(source)))
        assert sorted(q.id for q in found) == [f"70001_{writer}_{n}" for writer in ("AB12", "CD34") for n in (1, 2)]
        assert {q.article for q in found} == {"70001"} and {q.category for q in found} == {"Gutenberg"}


def test_the_published_answers_hold_their_questions(tmp_path: Path) -> None:
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "AB", SIMULATED))
    assert {q.id for q in questions_of(experiment(questions=str(path)))} == {q.id for q in builtin()}


def test_hard_keeps_the_difficult_ones_and_is_refused_by_name_where_nothing_is_marked(tmp_path: Path) -> None:
    hard = [asked(1, difficult=1), asked(2, difficult=0)]
    write(tmp_path / "x.dev", [article(questions=hard)])
    assert [q.hard for q in questions_of(experiment(questions=str(tmp_path / "x.dev"), hard=True))] == [True]
    write(tmp_path / "x.dev", [article()])
    refused(lambda: questions_of(experiment(questions=str(tmp_path / "x.dev"), hard=True)), "x.dev", "hard=True")
    refused(lambda: questions_of(experiment(hard=True)), "passages.jsonl", "hard=True")
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "AB", SIMULATED))
    refused(lambda: questions_of(experiment(questions=str(path), hard=True)), "quality_responses", "hard=True")


def test_a_real_article_is_a_source_of_questions(real_data: Path) -> None:
    source = real_data / "quality" / "quality_example_52845.jsonl"
    found = questions_of(experiment(questions=str(source)))
    assert found and {q.article for q in found} == {"52845"} and all(len(q.options) == 4 for q in found)
    # This copy of the article does not say which questions are difficult.
    refused(lambda: questions_of(experiment(questions=str(source), hard=True)), source.name, "hard=True")


# --- answers ----------------------------------------------------------------------------------------------------------


def test_a_judge_knows_its_published_answers_by_its_name_or_its_model_id(tmp_path: Path) -> None:
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "ABC", [LLAMA, QWEN, DEEPSEEK], mark="_0"))
    given = published(experiment(answers=str(path), judges=["llama_3_1_8b", "deepseek_v3", "sim_mistral"]))
    assert {(a.candidate, a.vendor, a.tier, a.model) for a in given.values()} == {
        ("llama_3_1_8b", "llama", "small", LLAMA),
        ("deepseek_v3", "deepseek", "large", DEEPSEEK),
        (QWEN, "qwen", "", QWEN),
    }
    assert {id for id, _ in given} == {q.id for q in builtin()}, "a pid is the question's id and one number more"
    assert all(a.question_id == id and a.edited == EDITED for (id, _), a in given.items())


def test_published_answers_are_judged_and_nobody_is_asked_to_answer(tmp_path: Path) -> None:
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "ABCD", [*SIMULATED, DEEPSEEK]))
    ran = run_(answers=str(path), questions=str(path), doses=[2], targets=["wrong"], question_limit=20)
    conditions = Counter(j.trial.condition for j in ran.replies.values())
    assert set(conditions) == {"synonyms"} and ran.data == "simulated"
    assert set(ran.frame["right"]) | set(ran.frame["wrong"]) == {*SIMULATED, DEEPSEEK}
    own = ran.frame[ran.frame["own"] != ""]
    assert set(own["judge"]) == set(SIMULATED)
    assert (own.apply(lambda row: row[row["own"]] == row["judge"], axis=1)).all()
    assert set(ran.frame.loc[ran.frame["wrong"] == DEEPSEEK, "wrong_vendor"]) == {"deepseek"}
    third = ran.frame[(ran.frame["judge"] == "sim_mistral") & (ran.frame["own"] == "")]
    assert len(third), "a judge of another vendor judges the same texts"


def run_(**parameters: Any) -> run.Asked:
    return asyncio.run(run.ask(experiment(**parameters), show=False))


def test_an_answer_that_is_not_there_is_missing_and_counted(tmp_path: Path) -> None:
    records = answers(builtin(), "AB", SIMULATED)
    del records[0]
    for name in ("output_label", "reason", "reason_perturb_llm_auto"):
        records[0][f"{SIMULATED[0]}_{name}"] = None
    path = write(tmp_path / "quality_responses.json", records)
    given = published(experiment(answers=str(path)))
    assert len(given) == len(builtin()) * len(SIMULATED)
    assert Counter(a.outcome for a in given.values()) == {"ok": len(given) - 4, "missing": 3, "no_label": 1}


def test_candidates_choose_among_published_answers_by_models_of_models_yaml(tmp_path: Path) -> None:
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "AB", [LLAMA, QWEN, DEEPSEEK]))
    given = published(experiment(answers=str(path), candidates=["llama_3_1_8b", "qwen_2_5_7b"]))
    assert {candidate for _, candidate in given} == {"llama_3_1_8b", "qwen_2_5_7b"}
    wanted = experiment(answers=str(path), candidates=["llama_3_1_8b", "gpt_fast"])
    refused(lambda: published(wanted), "none of gpt_fast", LLAMA, QWEN)


def test_answers_to_other_questions_or_other_options_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "quality_responses.json"
    others = tuple(replace(q, id=f"x{n}") for n, q in enumerate(builtin()))
    write(path, answers(others, "AB", SIMULATED))
    refused(lambda: published(experiment(answers=str(path))), "has no answers to", "'x0'", "`questions`")
    turned = tuple(replace(q, options=q.options[::-1]) for q in builtin())
    write(path, answers(turned, "AB", SIMULATED))
    refused(lambda: published(experiment(answers=str(path))), "there", "another question")
    golden = tuple(replace(q, gold="A" if q.gold != "A" else "B") for q in builtin())
    write(path, answers(golden, "AB", SIMULATED))
    refused(lambda: published(experiment(answers=str(path))), "gold")
    write(path, answers(builtin(), "AB", SIMULATED) + answers(builtin()[:1], "AB", SIMULATED, mark="_1"))
    refused(lambda: published(experiment(answers=str(path))), "two of its questions", f"{builtin()[0].id}_1")


def test_one_models_records_answer_the_questions_of_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "answers"
    source = write(tmp_path / "x.dev", [article("3NNN1LV8", questions=[asked(1), asked(2, 4)])])
    ids = [q.id for q in questions_of(experiment(questions=str(source)))]
    for name, letter in (("llama31_8b", "A"), ("ds_v3", "B")):
        write(
            folder / f"{name}.jsonl", [of_model(1, letter, 1, question_unique_id=id) for id in ids if id.endswith("_1")]
        )
    given = published(experiment(questions=str(source), answers=str(folder)))
    assert {(a.candidate, a.vendor, a.outcome) for (id, _), a in given.items() if id.endswith("_1")} == {
        ("llama31_8b", "llama", "ok"),
        ("ds_v3", "deepseek", "ok"),
    }
    assert {a.outcome for (id, _), a in given.items() if id.endswith("_2")} == {"missing"}


def test_a_published_name_that_two_models_could_be_is_refused() -> None:
    judges = experiment(judges=["llama_3_1_8b", "qwen_2_5_7b"], judgments="stored").judges
    assert {name: m.name for name, m in written_by([LLAMA, "qwen_2_5_7b", "gpt-oss"], judges).items()} == {
        LLAMA: "llama_3_1_8b",
        "qwen_2_5_7b": "qwen_2_5_7b",
    }
    twin = replace(judges[0], name="llama_warm")
    refused(lambda: written_by([LLAMA], [*judges, twin]), LLAMA, "llama_3_1_8b, llama_warm")
    refused(lambda: written_by([LLAMA, "llama_3_1_8b"], judges), "would both be llama_3_1_8b")


# --- published edits --------------------------------------------------------------------------------------------------


def with_edits(tmp_path: Path, edited: str = EDITED, **parameters: Any) -> run.Asked:
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "ABCD", SIMULATED, edited))
    given = {"answers": str(path), "questions": str(path), "editor": "published", "doses": [2], "question_limit": 8}
    return run_(**given | parameters)


def test_a_published_edit_that_keeps_our_rules_is_shown_and_nobody_edits(tmp_path: Path) -> None:
    ran = with_edits(tmp_path)
    assert ran.replies == {}
    edited = [j.trial for j in ran.judgments if j.trial.condition == "wrong_2"]
    assert edited and all(EDITED in t.request.prompt and REASON in t.request.prompt for t in edited)
    assert {"right_2", "both_2"} <= {j.trial.condition for j in ran.judgments}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_published_edit_that_breaks_a_rule_is_counted_and_never_shown(tmp_path: Path, rule: str) -> None:
    ran = with_edits(tmp_path, BROKEN[rule])
    assert {j.trial.condition for j in ran.judgments} == {"none"}
    steps = self_preference.funnel_of(ran.experiment, ran.questions, ran.answers, ran.replies, ran.frame)
    (row,) = steps[steps["step"].str.startswith("whose wrong")].to_dict("records")
    # Some questions hold a word of the edit, which is the rule that breaks first.
    assert row["count"] == 0 < row["lost"] and f" published edit: {rule}" in row["why"]


def test_published_edits_need_published_answers_and_two_words(tmp_path: Path) -> None:
    refused(lambda: with_edits(tmp_path, doses=[2, 4]), "editor='published'", "doses=[2]")
    refused(lambda: with_edits(tmp_path, paraphrase=True), "editor='published'", "paraphrase")
    refused(lambda: run_(editor="published", doses=[2]), "editor='published'", "`answers`")
    refused(lambda: with_edits(tmp_path, ""), "editor='published'", "_reason_perturb_llm_auto")
    with pytest.raises(ConfigError, match=r'unknown editor somebody; "published", or one of the models: .*gpt_fast'):
        experiment(editor="somebody")


# --- judgments --------------------------------------------------------------------------------------------------------


def test_published_judgments_are_the_pair_frame(tmp_path: Path) -> None:
    ran = run_(judgments=str(judged(tmp_path)))
    assert tuple(ran.frame.columns) == (*frames.PAIRWISE, "cluster") and ran.data == "folder"
    assert (ran.questions, ran.answers, ran.replies) == ((), {}, {})
    assert set(ran.frame["condition"]) == {"none", "wrong_2", "right_2"}
    assert set(ran.frame["task"]) == {"correct", "wrote"} and set(ran.frame["judge"]) == set(MODELS.values())
    assert ran.frame["wrong_label"].isna().all()
    with_letters = run_(judgments=str(judged(tmp_path, responses=True)), answers=str(tmp_path))
    assert set(with_letters.frame["right_label"]) == {"A"} and "A" not in set(with_letters.frame["wrong_label"])


def test_judgments_on_other_answers_than_those_given_are_refused(tmp_path: Path) -> None:
    source = str(judged(tmp_path, articles=12))
    path = write(tmp_path / "quality_responses.json", answers(builtin(), "AB", [LLAMA, QWEN]))
    wanted = experiment(judgments=source, answers=str(path))
    refused(lambda: judgments_of(wanted), f"judgments='{source}'", f"answers='{path}'", "no record", " unknown")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("candidates", ["llama_3_1_8b"]),
        ("repeats", 3),
        ("editor", "gpt_fast"),
        ("doses", [2]),
        ("targets", ["wrong"]),
        ("paraphrase", True),
        ("hard", True),
        ("scores", ["own", "other", "tie"]),
    ],
)
def test_what_cannot_change_published_judgments_is_refused_by_name(tmp_path: Path, name: str, value: Any) -> None:
    source = str(judged(tmp_path, articles=12))
    refused(lambda: judgments_of(experiment(judgments=source, **{name: value})), name)


def test_judges_and_questions_are_chosen_among_published_judgments(tmp_path: Path) -> None:
    source = str(judged(tmp_path, articles=12))
    every = judgments_of(experiment(judgments=source))
    one = judgments_of(experiment(judgments=source, judges=["llama_3_1_8b"], question_limit=4))
    assert set(one["judge"]) == {LLAMA} and 0 < one["question_id"].nunique() <= 4 < every["question_id"].nunique()
    wanted = experiment(judgments=source, judges=["llama_3_3_70b"])
    refused(lambda: judgments_of(wanted), "no judge llama_3_3_70b", LLAMA, QWEN)


def test_judgments_on_programs_need_words_for_their_numbers(tmp_path: Path) -> None:
    kinds = [(False, True)] * 6 + [(True, False)] * 6 + [(True, True)]
    games = {"game_1_spb_score": [0.7, 0.2, 0.1], "game_2_spb_score": [0.1, 0.8, 0.1]}
    path = programs(tmp_path, [program(n, *kind) | games for n, kind in enumerate(kinds)])
    refused(lambda: judgments_of(experiment(judgments=str(path))), path.name, "`scores`", '"own"')
    frame = judgments_of(experiment(judgments=str(path), scores=["first", "second", "tie"]))
    assert set(frame["outcome"]) == {"ok"} and len(frame) == 24 and frame.attrs["counts"]["both_right"] == 1
    told = run.example(run_(judgments=str(path), scores=["first", "second", "tie"]))
    assert told.endswith("known to be right: 1 both right.")
    ids = {each.id for each in self_preference.measure(frame, "folder", 42)}
    assert {"accuracy_harmful", "naive_harmful_rate"} <= ids
    refused(lambda: judgments_of(experiment(judgments=str(path), scores=["a", "b", "c"])), "own, other, tie")


def test_scores_are_refused_where_verdicts_are_asked() -> None:
    refused(lambda: run_(scores=["own", "other", "tie"]), "scores")


# --- hub --------------------------------------------------------------------------------------------------------------


def test_everything_comes_from_the_hub_where_the_config_says_that_it_lies(tmp_path: Path) -> None:
    hub, folder = Hub({REPO: Repo()}), judged(tmp_path, articles=12)
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    files["quality_responses.json"] = json.dumps(answers(builtin(), "AB", SIMULATED)).encode()
    files["data/QuALITY.v1.0.1.htmlstripped.dev"] = json.dumps(article()).encode()
    hub.repos[REPO].commit(files)
    lines = f"""
import asyncio
from dataclasses import replace
from helpers import run
from helpers.config import load_experiment
from helpers.run.sources import answers_of, questions_of
hub.DOWNLOADS = folder
def experiment(where=None, **parameters):
    found = load_experiment({NAME!r}, **parameters)
    return replace(found, hub=found.hub | {{"repo": {REPO!r}, "questions": where}})
found = experiment(questions="hub", answers="hub")
own = questions_of(found)
given = answers_of(found, own)
other = questions_of(experiment("data/QuALITY.v1.0.1.htmlstripped.dev", questions="hub"))
folded = questions_of(experiment("data", questions="hub"))
asked = asyncio.run(run.ask(experiment(judgments="hub"), show=False))
result = [len(own), sorted({{name for _, name in given}}), folded == other, len(other), asked.data,
          sorted(asked.frame.judge.unique()), len(asked.frame)]
"""
    with running_hub(hub):
        told = Client(tmp_path, hub.url).run(lines)
    frame = judgments_of(experiment(judgments=str(folder)))
    assert told == [len(builtin()), sorted(SIMULATED), True, 2, "hub", sorted(MODELS.values()), len(frame)]


def test_judgments_on_programs_come_from_the_file_that_the_config_names_on_the_hub(tmp_path: Path) -> None:
    hub, place = Hub({REPO: Repo()}), "code/llama-3.3-70b_gpt-4o_eval.jsonl"
    rows = [program(n, n % 2 == 0, n % 2 == 1) for n in range(4)]
    hub.repos[REPO].commit({place: "\n".join(map(json.dumps, rows)).encode()})
    lines = f"""
from dataclasses import replace
from helpers.config import load_experiment
from helpers.run.sources import judgments_of
hub.DOWNLOADS = folder
def judged(where, **parameters):
    found = load_experiment({NAME!r}, judgments="hub", **parameters)
    return judgments_of(replace(found, hub={{"repo": {REPO!r}, "judgments": where}}))
words = ["first", "second", "tie"]
one = judged({place!r}, scores=words)
try:
    judged({place!r})
except ValueError as error:
    refusal = str(error)
result = [len(one), sorted(one.outcome.unique()), one.equals(judged([{place!r}], scores=words)), refusal]
"""
    with running_hub(hub):
        told = Client(tmp_path, hub.url).run(lines)
    assert isinstance(told, list), told
    assert told[:3] == [8, ["ok"], True] and "`scores`" in told[3]


def test_the_configs_entry_names_the_published_data_set() -> None:
    assert experiment().hub == {
        "repo": "taslimmahbub/mitigating-self-preference",
        "revision": "main",
        "questions": {
            "repo": "tasksource/QuALITY",
            "revision": "4892b065e6a40f44fa61bc406df4c35fe91e9290",
            "path": "data/validation-00000-of-00001-c057a0698ad4d3c4.parquet",
        },
        "answers": "quality_responses.json",
        "judgments": ".",
    }


# --- the notebook -----------------------------------------------------------------------------------------------------


def test_the_notebook_runs_to_its_end_on_published_judgments(tmp_path: Path) -> None:
    source, out = str(judged(tmp_path, responses=True)), str(tmp_path / "out")
    names, shown = run_cells(NOTEBOOK, draw=True, judgments=source, answers=str(tmp_path), out=out)
    said = prose(shown)
    assert "published judgments, from a file or folder" in said and "SIMULATED" not in of_this_run(said)
    assert "needs unedited pairs asked again" in said and "there is no prompt to show" in said
    assert "names its own wrong answer as its own" in said
    assert tables(shown) and (tmp_path / "out" / "numbers.json").is_file()
    assert {each.data for each in names["estimates"]} == {"folder"}
