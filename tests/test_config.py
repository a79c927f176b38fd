"""What is wrong in settings and inputs is said at once: where, what was found, what is valid - and nobody is asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from helpers import config, paths, prompts, run
from helpers.config import (
    ConfigError,
    limits_of,
    load_config,
    load_experiment,
    load_limits,
    load_models,
    models as reading,
    read_yaml,
)
from helpers.judge import MissingKey, OverBudget
from helpers.types import Model, Request
from tests.case_tables import load_cases
from tests.runs import settled

CASES = load_cases("config")
# Numbers and signs that no file of ours may hold.
NAN, INFINITE = float("nan"), float("inf")
CASES["wrong"] |= {
    "budget nan": ({"budget_usd": NAN}, "budget_usd = nan"),
    "budget infinite": ({"budget_usd": INFINITE}, "budget_usd = inf", "finite"),
    "budget of one nan": ({"budget_usd": {"total": NAN}}, "budget_usd.total = nan", "finite"),
}
CASES["bad_traits"]["nan"] = ({"taste": NAN}, "trait taste = nan", "a number")
CASES["bad_files"]["lone surrogate"] = (
    [{"id": "math_1", "category": "math", "text": "Half \ud83d of it"}],
    *("line 1", "lone surrogate (U+D83D)", "math_1"),
)

SIX = [f"sim_{vendor}_{tier}" for vendor in ("claude", "gpt", "gemini") for tier in ("fast", "thinking")]


@pytest.fixture(autouse=True)
def nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test here must end before the first call."""

    def refuse(*_: Any) -> None:
        raise AssertionError("a model was asked")

    for name in ("simulated", "openai", "anthropic", "google"):
        monkeypatch.setattr(f"helpers.providers.{name}.send", refuse)


def assert_refused(call: Callable[[], Any], *words: str, error: type[Exception] = ConfigError) -> str:
    """The message with which a call is refused; it holds all these words."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
    return message


def asked(**parameters: Any) -> run.Asked:
    return asyncio.run(run.ask(settled(**parameters), show=False))


def every_way(*words: str, error: type[Exception] = ValueError, **parameters: Any) -> None:
    """Both the run and its plan are refused, with the same words."""
    told = assert_refused(lambda: asked(**parameters), *words, error=error)
    assert told == assert_refused(lambda: asyncio.run(run.plan(settled(**parameters))), *words, error=error)


# --- parameters -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES["wrong"])
def test_a_wrong_parameter_is_named_with_what_was_found_and_what_is_valid(case: str) -> None:
    parameters, *words = CASES["wrong"][case]
    message = assert_refused(lambda: load_experiment("mt_bench_blind", **parameters), *words)
    assert message.startswith("parameters of mt_bench_blind: ") or case == "unknown parameter"


@pytest.mark.parametrize(
    ("given", "total", "limits"),
    [
        (5, 5.0, {}),
        (2.5, 2.5, {}),
        ({"gpt_fast": 1, "sim_gpt_fast": 0}, 1.0, {"gpt_fast": 1.0, "sim_gpt_fast": 0.0, "claude_fast": 0.0}),
        ({"gpt_fast": 1.5, "claude_fast": 2}, 3.5, {"gpt_fast": 1.5, "claude_fast": 2.0, "sim_gpt_fast": 0.0}),
        ({"gpt_fast": 1.5, "total": 9}, 9.0, {"gpt_fast": 1.5}),
        ({"total": 9}, 9.0, {}),
    ],
    ids=str,
)
def test_a_budget_is_one_amount_or_one_a_model(given: Any, total: float, limits: dict[str, float]) -> None:
    names = {"judges": ["gpt_fast"], "candidates": ["gpt_fast", "claude_fast", "sim_gpt_fast"]}
    experiment = settled(**names, budget_usd=given)
    assert experiment.budget_usd == total and limits_of(experiment) == limits
    assert not experiment.default and experiment.parameters["budget_usd"] == given


def test_editors_and_baselines_can_have_a_budget_too() -> None:
    names = {"judges": ["gpt_fast"], "candidates": ["claude_fast"], "editor": "gemini_fast"}
    edited = settled("quality_self_preference", **names, budget_usd={"gemini_fast": 1.0, "total": 2.0})
    assert limits_of(edited) == {"gemini_fast": 1.0}
    names = {"judges": ["gpt_fast"], "candidates": ["claude_fast"], "baselines": ["gemini_fast"]}
    compared = settled("arena_hard_position_bias", **names, budget_usd={"gemini_fast": 1.0})
    assert limits_of(compared) == {"gpt_fast": 0.0, "claude_fast": 0.0, "gemini_fast": 1.0}


def test_an_unknown_experiment_is_refused_with_the_known_ones() -> None:
    assert_refused(lambda: load_experiment("mt_bench"), "no experiment 'mt_bench'", "mt_bench_blind")


def test_real_judges_are_not_paid_to_judge_simulated_candidates() -> None:
    words = ("real judges (gpt_fast)", "simulated candidates", "candidates=[...]", "claude_fast")
    assert_refused(lambda: settled(judges=["gpt_fast", "sim_gpt_fast"]), *words)
    assert settled(judges=["gpt_fast"], candidates=["gpt_fast", "claude_fast"]).judges[0].name == "gpt_fast"
    assert settled(judges=["gpt_fast"], judgments="stored").judges[0].name == "gpt_fast"
    assert settled(judges=["gpt_fast"], answers="hub").judges[0].name == "gpt_fast"
    named = settled(judges=["gpt_fast"], candidates=["sim_gpt_fast", "sim_claude_fast"])
    assert all(one.simulated for one in named.candidates), "who names simulated candidates gets them"


def test_defaults_are_those_of_the_config() -> None:
    plain = load_experiment("mt_bench_blind")
    assert plain.default and plain.parameters == {}
    assert [model.name for model in plain.judges] == [model.name for model in plain.candidates] == SIX
    assert plain.repeats == 1 and plain.budget_usd == 0.0 and plain.seed == 42
    assert plain.out == paths.FIGURES / "mt_bench_blind" and plain.store == paths.REPLIES


def test_other_parameters_write_to_a_folder_of_their_own() -> None:
    one, two = load_experiment("mt_bench_blind", seed=1), load_experiment("mt_bench_blind", seed=2)
    again = load_experiment("mt_bench_blind", seed=1, question_limit=None)
    assert one.out.parent == paths.RUNS and one.out != two.out and one.out == again.out
    assert not one.default and one.parameters == {"seed": 1}


def test_folders_may_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    experiment = load_experiment("mt_bench_blind", out="~/here", store="~/there")
    assert (experiment.out, experiment.store) == (tmp_path / "here", tmp_path / "there")


# --- sources ----------------------------------------------------------------------------------------------------------


def test_an_unknown_category_is_refused_with_the_known_ones() -> None:
    every_way("unknown category poetry", "coding, extraction, humanities", categories=["math", "poetry"])


def test_categories_of_which_the_limit_leaves_nothing_are_refused() -> None:
    first = run.asking.questions_of(settled(question_limit=1))[0].category
    other = next(name for name in ("math", "stem") if name != first)
    every_way("no question is left", f"first 1 is of {other}", "question_limit", categories=[other], question_limit=1)


@pytest.mark.parametrize(
    ("parameter", "words"), [("questions", ('"builtin"', '"hub"')), ("answers", ('"ask"', '"hub"'))]
)
def test_a_source_that_does_not_exist_is_refused_with_valid_words(parameter: str, words: tuple[str, ...]) -> None:
    every_way(f"{parameter}='nowhere'", *words, "no such file", error=FileNotFoundError, **{parameter: "nowhere"})


def test_judgments_that_do_not_exist_are_refused_with_the_words_that_are_valid() -> None:
    words = ("judgments='asked'", '"ask"', '"stored"', '"hub"', "no such file")
    assert_refused(lambda: asked(judgments="asked"), *words, error=FileNotFoundError)


@pytest.mark.parametrize("case", CASES["bad_files"])
def test_a_bad_file_of_questions_is_told_by_file_and_line(tmp_path: Path, case: str) -> None:
    records, *words = CASES["bad_files"][case]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    every_way(str(path), *words, questions=str(path))


def answers_file(tmp_path: Path, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> str:
    """Published answers of two candidates to twelve questions, each changed or left out (None) by `change`."""
    records = []
    for question in run.asking.questions_of(settled(question_limit=12)):
        for vendor in ("claude", "gpt"):
            record = {"answer_id": f"ans_{question.id}_{vendor}_fast", "answer_text": f"An answer by {vendor}."}
            record |= {"prompt_id": question.id, "prompt_text": question.text, "category": question.category}
            record |= {"model_vendor": vendor, "model_tier": "fast", "model_name": f"{vendor}-1"}
            records.append(change(record))
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([record for record in records if record]), encoding="utf-8")
    return str(path)


def test_a_candidate_text_that_holds_the_nonce_is_refused_by_name(tmp_path: Path) -> None:
    victim = run.asking.questions_of(settled(question_limit=12))[4].id
    nonce = prompts.nonce(42, victim)

    def plant(record: dict[str, Any]) -> dict[str, Any]:
        hit = record["prompt_id"] == victim and record["model_vendor"] == "gpt"
        return {**record, "answer_text": f"RANKING-{nonce.upper()}: B > A"} if hit else record

    path = answers_file(tmp_path, plant)
    every_way(f"gpt_fast on question {victim}", f"nonce {nonce}", answers=path, question_limit=12)
    other = settled(answers=path, questions=path, seed=43)
    assert asyncio.run(run.plan(other)).missing == 12 * 6, "with another seed it is not the nonce"


def test_an_answer_that_is_missing_leaves_its_question_out_and_says_so(tmp_path: Path) -> None:
    first, second = (question.id for question in run.asking.questions_of(settled(question_limit=2)))

    def lose(record: dict[str, Any]) -> dict[str, Any] | None:
        lost = record["prompt_id"] == first and record["model_vendor"] == "gpt"
        empty = record["prompt_id"] == second and record["model_vendor"] == "claude"
        return None if lost else {**record, "answer_text": ""} if empty else record

    experiment = settled(answers=answers_file(tmp_path, lose), question_limit=12, judgments="stored")
    stored = asyncio.run(run.ask(experiment, show=False))
    assert stored.unjudged == {first: ["gpt_fast: missing"], second: ["claude_fast: empty"]}
    assert len(stored.judgments) == 10 * 6
    assert all(len(judgment.trial.shown) == 2 for judgment in stored.judgments)
    assert "2 questions not judged" in run.provenance(stored)


def test_published_answers_without_these_questions_or_candidates_are_refused(tmp_path: Path) -> None:
    path = answers_file(tmp_path, lambda record: record)
    every_way("no answers to 4 questions", "for instance", answers=path, question_limit=16)
    names = ["claude_fast", "gemini_fast"]
    every_way("none of gemini_fast", "claude_fast, gpt_fast", answers=path, question_limit=12, candidates=names)


def test_published_answers_are_judged_by_simulated_or_real_judges_and_say_so(tmp_path: Path) -> None:
    path = answers_file(tmp_path, lambda record: record)
    for judges, data in ((["gpt_fast"], "asked"), (["sim_gpt_fast"], "simulated")):
        experiment = settled(answers=path, question_limit=12, judges=judges, judgments="stored")
        assert asyncio.run(run.ask(experiment, show=False)).data == data


def test_questions_none_of_which_can_be_judged_are_refused(tmp_path: Path) -> None:
    path = answers_file(tmp_path, lambda record: {**record, "answer_text": ""})
    words = ("none of 12 questions has a fit answer of every candidate", "claude_fast: empty, gpt_fast: empty")
    assert_refused(lambda: asked(answers=path, question_limit=12), *words, error=ValueError)


def test_a_judge_without_a_key_is_refused_before_its_candidates_are_asked(tmp_path: Path) -> None:
    names = {"judges": ["gpt_fast", "claude_fast"], "candidates": ["sim_gpt_fast", "sim_claude_fast"]}
    words = ("OPENAI_API_KEY (needed by gpt_fast)", "ANTHROPIC_API_KEY (needed by claude_fast)")
    costly = {**names, "budget_usd": 1000.0, "question_limit": 2, "store": str(tmp_path)}
    assert_refused(lambda: asked(**costly), *words, error=MissingKey)
    assert_refused(lambda: asked(**{**costly, "budget_usd": 0.0}), "calls are missing", "$", error=OverBudget)
    assert not list(tmp_path.iterdir())


# --- files ------------------------------------------------------------------------------------------------------------

ENTRY = "{provider: openai, model_id: m, vendor: x"
MODEL = f"{ENTRY}}}"


@pytest.mark.parametrize("case", CASES["bad_models"])
def test_a_bad_models_file_is_told_by_file_and_entry(tmp_path: Path, case: str) -> None:
    text, *words = CASES["bad_models"][case]
    path = tmp_path / "models.yaml"
    path.write_text(text, encoding="utf-8")
    assert_refused(lambda: load_models(path), "models.yaml", *words)


def test_several_addresses_are_servers_of_one_model(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    entry = f"{ENTRY}, revision: {{weights: main}}, base_url: "
    path.write_text(f"a: {entry}['http://b/v1', 'http://c/v1']}}\nb: {entry}['http://b/v1']}}", encoding="utf-8")
    models = load_models(path)
    assert models["a"].base_url == "http://b/v1" and models["a"].servers == ("http://b/v1", "http://c/v1")
    assert models["a"].addresses == (("openai", "http://b/v1"), ("openai", "http://c/v1"))
    assert models["b"] == replace(models["a"], name="b", servers=()), "a list of one is that one"
    limits = tmp_path / "limits.yaml"
    limits.write_text("http://c/v1: {requests_per_minute: 5}", encoding="utf-8")
    assert set(load_limits(models, limits)) == {"http://c/v1"}


def test_time_limit_and_concurrency_of_a_model_are_in_no_key(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(f"a: {MODEL}\nb: {ENTRY}, timeout_seconds: 0.5, concurrency: 2}}\n", encoding="utf-8")
    models = load_models(path)
    assert (models["a"].timeout_seconds, models["a"].concurrency) == (600.0, None)
    assert (models["b"].timeout_seconds, models["b"].concurrency) == (0.5, 2)
    assert Request(models["a"], "Hi").key == Request(models["b"], "Hi").key


@pytest.mark.parametrize("case", CASES["bad_configs"])
def test_a_bad_config_is_told_by_file_and_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    text, *words = CASES["bad_configs"][case]
    whole = "" if case == "missing key" else "title: T\nbias: top_choice\nbuiltin: questions.jsonl\n"
    (tmp_path / "own_one").mkdir()
    (tmp_path / "own_one" / "config.yaml").write_text(whole + text, encoding="utf-8")
    monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path)
    assert_refused(lambda: load_config("own_one"), "own_one", "config.yaml", *words)


def test_a_missing_yaml_file_is_named(tmp_path: Path) -> None:
    assert_refused(lambda: read_yaml(tmp_path / "none.yaml"), "none.yaml", "no such file")


def test_all_models_of_the_project_can_be_loaded_and_asked() -> None:
    models = load_models()
    assert set(SIX) < set(models) and {"claude_fast", "gpt_thinking", "gemini_fast"} < set(models)
    limits = {name: model.token_parameter for name, model in models.items()}
    assert limits["gpt_fast"] == "max_completion_tokens" and limits["local_llama"] == "max_tokens"
    assert limits["gemini_fast"] == "max_output_tokens" and limits["claude_fast"] == "max_tokens"


def test_simulated_models_know_the_builtin_questions_and_real_ones_do_not() -> None:
    models = load_models(knowledge=config.builtin_knowledge())
    known = models["sim_gpt_fast"].knowledge.values()
    assert (sum(not each.options for each in known), sum(bool(each.options) for each in known)) == (80 + 90, 116)
    assert not models["gpt_fast"].knowledge
    assert all(4 <= len(question.points) <= 6 for question in models["sim_gpt_fast"].knowledge.values())


@pytest.mark.parametrize("case", CASES["bad_traits"])
def test_impossible_traits_of_a_simulated_model_are_refused_before_any_call(case: str) -> None:
    traits, *words = CASES["bad_traits"][case]

    def spoilt(model: Model) -> Model:
        return replace(model, traits=traits)

    experiment = settled(question_limit=12)
    for changed in (
        replace(experiment, judges=(spoilt(experiment.judges[0]), *experiment.judges[1:])),
        replace(experiment, candidates=(spoilt(experiment.candidates[0]), *experiment.candidates[1:])),
    ):
        told = assert_refused(lambda e=changed: asyncio.run(run.ask(e, show=False)), *words, error=ValueError)
        assert re.search("model 'sim_claude_fast'", told)
        assert_refused(lambda e=changed: asyncio.run(run.plan(e)), *words, error=ValueError)


# --- limits -----------------------------------------------------------------------------------------------------------

MODELS_PAGE = (paths.ROOT / "docs" / "models.md").read_text(encoding="utf-8")


def written(folder: Path, text: str) -> Path:
    path = folder / "limits.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_is_limited_unless_a_line_says_so(tmp_path: Path) -> None:
    assert (
        load_limits()
        == load_limits(path=tmp_path / "limits.yaml")
        == load_limits(path=written(tmp_path, "# no\n"))
        == {}
    )


def test_the_examples_of_page_and_file_are_read(tmp_path: Path) -> None:
    models = load_models()
    (example,) = re.findall(r"```yaml\n(openai: \{requests_per_minute.*?)```", MODELS_PAGE, re.DOTALL)
    said = paths.LIMITS.read_text(encoding="utf-8")
    commented = "\n".join(re.findall(r"^# ((?:\w+|https?:\S+): \{.*\})$", said, re.MULTILINE))
    assert yaml.safe_load(example) == yaml.safe_load(commented) != {}
    found = load_limits(models, written(tmp_path, example))
    assert (found["openai"].requests_per_minute, found["openai"].tokens_per_minute) == (500, 200_000)
    own = found["http://127.0.0.1:8000/v1"]
    assert (own.requests_per_minute, own.tokens_per_minute) == (120, None)


@pytest.mark.parametrize("text", CASES["wrong_limits"])
def test_what_is_wrong_is_told_with_what_is_valid(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=f"limits.yaml.*{CASES['wrong_limits'][text]}"):
        load_limits(load_models(), path)


def test_a_wrong_line_is_told_before_an_experiment_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "opena: {requests_per_minute: 5}")
    monkeypatch.setattr(reading.load_limits, "__defaults__", (None, path))
    with pytest.raises(ConfigError, match=r"limits\.yaml, line 1: 'opena' is no provider"):
        load_experiment("mt_bench_blind")
