"""What is known before any money is spent: refusals, prompts that do not fit, prices, and what a call may be billed."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import Future
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from genai_prices import Usage, calc_price
from genai_prices.data_snapshot import get_snapshot

from helpers import paths, prompts, run
from helpers.biases.top_choice.asked import judge_trials
from helpers.config import ConfigError, load_experiment, load_models
from helpers.judge import Budget, TooLong, actual, check_fit, labels_of
from helpers.judge.budget import cost, price, worst_case
from helpers.judge.checking import context_of, tokens_at_least, too_long
from helpers.providers import transport
from helpers.run import notebooks as run_notebooks
from helpers.types import Answer, Completion, Model, Price, Question, Request
from tests.engine.asking import MODELS, addressed, ask, at, missing, requests_to
from tests.kernels import recuse
from tests.servers.answering import answering, body_of

NAME = "05_cognitive_biases"
SMALL = {"judges": ["gpt_fast"], "biases": ["confirmation"], "question_limit": 3}


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """A command on a small run of one real judge, with a store of its own: exit code, output and errors."""

    def type_it(command: str, *words: str, notebooks: tuple[str, ...] = (NAME,), **parameters: Any) -> Any:
        given = {**SMALL, "store": str(tmp_path / "replies"), "out": str(tmp_path / "out"), **parameters}
        pairs = [word for name, value in given.items() for word in ("-p", name, str(value))]
        return recuse(monkeypatch, capsys, command, *notebooks, *pairs, *words)

    return type_it


@pytest.fixture
def no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """No notebook may be started."""
    monkeypatch.setattr(run_notebooks.kernels, "processes", lambda *_: pytest.fail("a notebook was started"))


def priced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entry: str) -> None:
    """A models.yaml with one model more, `mine`."""
    file = tmp_path / "models.yaml"
    file.write_text(
        f"{(paths.EXPERIMENTS / 'models.yaml').read_text(encoding='utf-8')}\nmine: {entry}\n", encoding="utf-8"
    )
    monkeypatch.setattr(paths, "MODELS", file)


# --- the plan and the budget ------------------------------------------------------------------------------------------


def test_a_plan_says_how_many_calls_would_fit(typed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A token is at most a byte and a reply at most 1000 tokens, at 100 dollars a million: 0.1 a call for what it says.
    free = "{input: 0, output: 100}"
    priced(monkeypatch, tmp_path, f"{{provider: openai, model_id: m, vendor: x, max_tokens: 1000, price: {free}}}")
    experiment = load_experiment("cognitive_biases", **SMALL | {"judges": ["mine"], "store": str(tmp_path)})
    planned = asyncio.run(run.plan(experiment))
    calls = planned.missing
    assert calls > 10 and planned.usd == pytest.approx(calls * 0.1)

    code, told, _ = typed("plan", judges="[mine]", budget_usd=0.95)
    # Of each row of the plan the same share fits: whole calls only.
    fit = sum(int(row.missing * 0.95 / (calls * 0.1) + 1e-9) for row in planned.rows)
    assert code == 1 and f"Does not fit, a run would ask nothing: {calls} calls are missing" in told
    assert f"could cost up to ${calls * 0.1:.4f}, which is more than budget_usd=0.9500: about {fit} of them" in told
    code, told, _ = typed("plan", judges="[mine]", budget_usd=calls * 0.1)
    assert code == 0 and f"Fits into budget_usd={calls * 0.1:.4f}." in told and "not fit" not in told
    assert "none of them would fit" in planned.excess(run.budget_of(experiment)), "nothing is spent by default"
    own = load_experiment("cognitive_biases", **SMALL | {"judges": ["mine"], "budget_usd": {"mine": 0.2}})
    assert "more than budget_usd[mine]=0.2000" in planned.excess(run.budget_of(own))
    assert not (tmp_path / "replies").exists()


def test_a_plan_that_costs_nothing_speaks_of_no_budget(typed: Any) -> None:
    code, told, _ = typed("plan", judges="[sim_gpt_fast]")
    assert code == 0 and "budget_usd" not in told and "total" in told


def test_a_plan_without_a_budget_is_a_question_and_says_what_to_give(
    typed: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, told, _ = typed("plan")
    found = re.findall(r"A run of this notebook can cost up to \$(.*) and asks .* -p budget_usd (.*)\n", told)
    ((most, give),) = found
    assert code == 0 and "not fit" not in told and float(most) <= float(give) < 1.1 * float(most) + 0.01
    code, told, _ = typed("plan", budget_usd=give)
    assert code == 0 and "Fits into budget_usd=" in told and "can cost" not in told
    code, told, _ = typed("plan", budget_usd=0)
    assert code == 1 and "Does not fit" in told, "0 is a budget, where it is given"
    # Each notebook has a budget of its own.
    names, words = "[gpt_fast, claude_fast]", ("-p", "question_limit", "3", "-p", "store", str(tmp_path / "none"))
    models = ("-p", "judges", names, "-p", "candidates", names)
    code, told, _ = recuse(monkeypatch, capsys, "plan", "01_mt_bench_blind", "02_hinting_groups", *models, *words)
    first, second = re.findall(r"cost up to \$(\S+) .* -p budget_usd (\S+)\n", told)
    assert code == 0 and float(first[0]) <= float(first[1]) < float(second[0]) <= float(second[1])
    assert told.index(f"budget_usd {first[1]}") < told.index("02_hinting_groups\n")


def test_one_plan_of_several_that_does_not_fit_is_enough(typed: Any) -> None:
    code, told, _ = typed("plan", notebooks=(NAME, "00_overview"), budget_usd=0.001)
    assert code == 1 and told.index("Does not fit") < told.index("00_overview\nasks nothing")


@pytest.mark.parametrize("command", ["run", "plan"])
def test_options_of_a_call_are_for_every_model(command: str, typed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    begun = nullcontext(lambda *given: seen.append(given[-1]) or Future())
    monkeypatch.setattr(run_notebooks.kernels, "processes", lambda *_: begun)
    monkeypatch.setattr(run_notebooks, "wait", lambda running, **_: pytest.fail("enough was seen"))
    monkeypatch.setattr(run, "plan", lambda experiment: pytest.fail(f"{experiment.parameters}"))
    with pytest.raises(pytest.fail.Exception) as ended:
        typed(command, "--concurrency", "3", "--timeout-seconds", "90", judges="[sim_gpt_fast]")
    given = {"concurrency": 3, "timeout_seconds": 90.0}
    if command == "run":
        assert given.items() <= seen[0].items()
    else:
        assert all(f"'{name}': {value}" in str(ended.value) for name, value in given.items())
    experiment = load_experiment("cognitive_biases", **SMALL, **given)
    assert experiment.concurrency == 3
    assert {(judge.concurrency, judge.timeout_seconds) for judge in experiment.judges} == {(3, 90.0)}


def test_a_limit_is_given_once_and_within_its_bounds(typed: Any) -> None:
    for words, said in {
        ("-p", "concurrency", "2", "--concurrency", "3"): "concurrency is given with -p and as an option",
        ("--concurrency", "0"): "--concurrency",
        ("-p", "concurrency", "0"): "concurrency = 0",
        ("-p", "timeout_seconds", "0"): "timeout_seconds = 0",
    }.items():
        code, _, error = typed("plan", *words)
        assert code != 0 and said in error, words


def test_a_pilot_needs_a_budget_and_a_notebook(typed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    priced(
        monkeypatch, tmp_path, "{provider: openai, model_id: m, vendor: x, max_tokens: 9, price: {input: 1, output: 1}}"
    )
    monkeypatch.setenv("OPENAI_API_KEY", "a key of nobody's")
    code, _, told = typed("plan", "--pilot", "2", judges="[mine]")
    assert code == 2 and "2 calls are missing" in told and "which is more than budget_usd=0.0000" in told
    code, told, _ = typed("plan", "--pilot", "2", judges="[sim_gpt_fast]")
    assert code == 0 and "Expected" not in told, "simulated judges cost nothing, and nobody waits for them"
    code, _, told = typed("plan", "--pilot", "2", "--matrix", str(tmp_path / "grid.yaml"), notebooks=())
    assert code == 2 and "--pilot is for notebooks" in told


# --- keys and prices --------------------------------------------------------------------------------------------------


def test_a_key_that_is_not_set_is_told_before_any_kernel(typed: Any, no_kernel: None, tmp_path: Path) -> None:
    code, out, told = typed("run", budget_usd=1000.0)
    assert (code, out) == (2, "")
    assert told == "recuse: not set in the environment: OPENAI_API_KEY (needed by gpt_fast). See .env.example.\n"
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_price_is_told_first(
    typed: Any, no_kernel: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    priced(monkeypatch, tmp_path, "{provider: openai, model_id: no-such-model-9, vendor: x}")
    monkeypatch.setenv("OPENAI_API_KEY", "a key of nobody's")
    code, _, told = typed("run", judges="[mine]", budget_usd=1000.0)
    assert code == 2 and "models.yaml, model 'mine': no price is known for 'no-such-model-9'; add the line" in told


def test_every_notebook_is_looked_at_before_the_first_is_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], no_kernel: None, tmp_path: Path
) -> None:
    priced(monkeypatch, tmp_path, "{provider: anthropic, model_id: claude-haiku-4-5, vendor: x}")
    load = run_notebooks.load_experiment
    last = {"cognitive_biases": {"judges": ["mine"]}}
    monkeypatch.setattr(
        run_notebooks, "load_experiment", lambda name, **given: load(name, **given, **last.get(name, {}))
    )
    words = ("-p", "store", str(tmp_path / "s"), "-p", "out", str(tmp_path / "out"), "-p", "budget_usd", "9.0")
    code, _, told = recuse(monkeypatch, capsys, "run", "01_mt_bench_blind", NAME, *words)
    assert code == 2 and "ANTHROPIC_API_KEY (needed by mine)" in told


def test_what_is_stored_needs_neither(
    typed: Any, serve: Any, no_kernel: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    priced(monkeypatch, tmp_path, "{provider: openai, model_id: m, vendor: x, price: {input: 1, output: 1}}")
    server = serve()
    experiment = load_experiment(
        "cognitive_biases", **{**SMALL, "judges": ["mine"], "budget_usd": 1e6, "store": str(tmp_path / "replies")}
    )
    asyncio.run(run.ask(experiment, show=False))
    assert server.calls
    monkeypatch.delenv("OPENAI_API_KEY")
    priced(monkeypatch, tmp_path, "{provider: openai, model_id: m, vendor: x}")
    with pytest.raises(pytest.fail.Exception, match="a notebook was started"):
        typed("run", judges="[mine]")
    store = tmp_path / "replies" / "mine.jsonl"
    store.write_bytes(store.read_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0] + b"\n")
    code, _, told = typed("run", judges="[mine]")
    assert code == 2 and "no price is known for 'm'" in told, "one reply is missing"


# --- prompts that do not fit ------------------------------------------------------------------------------------------

MEGABYTE = "word, " * 174_763
HAIKU = MODELS["anthropic"]


def trials(texts: dict[str, str]) -> list[Any]:
    """Judgments of claude-haiku-4-5 on one question and six answers, some of them of these texts."""
    question = Question("writing_7", "writing", "Which of these is best?", place=0)
    names = [f"candidate_{number}" for number in range(6)]
    answers = {(question.id, name): Answer(question.id, name, "x", "fast", texts.get(name, "Short.")) for name in names}
    experiment = replace(load_experiment("mt_bench_blind"), judges=(HAIKU,))
    return judge_trials(experiment, [question], answers)


def test_an_answer_of_a_megabyte_is_refused_before_any_call_by_name(serve: Any, tmp_path: Path) -> None:
    server, asked = serve(), trials({"candidate_3": MEGABYTE, "candidate_1": "Longer than the others."})
    assert len(MEGABYTE) >= 2**20
    short = requests_to(MODELS["openai"], 3)
    with pytest.raises(TooLong) as error:
        ask([*short, *(trial.request for trial in asked)], tmp_path, labels=labels_of(asked))
    said = str(error.value)
    assert "1 prompts are longer" in said and "claude, question writing_7: at least " in said
    assert "where 200,000 fit" in said
    assert said.index("answer of candidate_3 (1,048,578 bytes)") < said.index("candidate_1 (23 bytes)")
    assert "`context:`" in said and server.calls == [] and not any(tmp_path.glob("*.jsonl"))


def test_what_fits_or_is_stored_is_never_refused(serve: Any, tmp_path: Path) -> None:
    half = Request(HAIKU, MEGABYTE[: len(MEGABYTE) // 2], "Be brief.")
    own = requests_to(replace(at(serve().url, "own"), context=10), 1)[0]
    ask([half, replace(own, model=replace(own.model, context=None))], tmp_path)
    assert too_long([half]) == [] and too_long([replace(half, model=replace(HAIKU, context=90_000))])
    check_fit([replace(half, repeat=1), own], {}, tmp_path)
    told = r"llama, a prompt: at least 2,0\d\d tokens \(2,048 of them for the reply\) where 10"
    with pytest.raises(TooLong, match=told):
        check_fit([replace(own, repeat=1)], {}, tmp_path)
    with pytest.raises(TooLong, match=r"a prompt: .*the whole prompt \(1,048,578 bytes\)"):
        check_fit([Request(HAIKU, MEGABYTE)], {}, tmp_path)


def test_a_prompt_too_long_for_a_later_stage(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server, budget = serve(), Budget(1e6)
    ask(requests_to(MODELS["openai"], 2), tmp_path, budget=budget)
    for later in ([Request(HAIKU, MEGABYTE)], [Request(HAIKU, "a key: secret-of-a-test")]):
        monkeypatch.setenv("SOME_TOKEN", "secret-of-a-test")
        with pytest.raises(ValueError, match="none of these calls was made, and what came before is stored") as error:
            ask(later, tmp_path, budget=budget)
        assert "nothing was asked" not in str(error.value)
        with pytest.raises(ValueError, match="nothing was asked"):
            ask(later, tmp_path)
    assert len(server.calls) == 2


def test_models_that_nobody_knows_hold_whatever_they_are_sent() -> None:
    assert context_of(at("http://127.0.0.1:1", "own")) is None
    assert context_of(replace(MODELS["openai"], provider="simulated")) is None
    assert (context_of(HAIKU), context_of(replace(HAIKU, context=7))) == (200_000, 7)
    assert too_long([Request(at("http://127.0.0.1:1", "own"), MEGABYTE)]) == []


def test_tokens_are_counted_low() -> None:
    """A fifth of the bytes, rounded up; a run of blanks, which may be one token, is one byte."""
    assert tokens_at_least("abcde" * 7) == 7 and tokens_at_least("abcde" * 7 + "f") == 8
    assert tokens_at_least("\u5224\u5b9a" * 100) == 120
    assert tokens_at_least(" \n\t" * 10_000 + "abcd") == 1


def test_the_context_stands_in_models_yaml_and_in_no_key(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    entry = "provider: openai, model_id: m, vendor: x"
    path.write_text(f"a: {{{entry}, context: 8192}}\nb: {{{entry}}}", encoding="utf-8")
    models = load_models(path)
    assert models["a"].context == 8192 and models["b"].context is None
    assert Request(models["a"], "x").key == Request(models["b"], "x").key
    for wrong in ("0", "'8192'", "8192.5", "true"):
        path.write_text(f"a: {{{entry}, context: {wrong}}}", encoding="utf-8")
        with pytest.raises(ConfigError, match="context = "):
            load_models(path)


def test_many_long_prompts_are_counted_and_the_longest_named() -> None:
    found = [Request(HAIKU, MEGABYTE + "x" * 10 * number) for number in range(9)]
    with pytest.raises(TooLong) as error:
        check_fit(found, {each.key: {"question_id": f"q{at}"} for at, each in enumerate(found)})
    said = str(error.value)
    assert "9 prompts" in said and "and 4 more" in said and said.index("q8") < said.index("q7") and "q3" not in said


def test_every_template_shows_texts_in_a_way_that_is_found() -> None:
    from helpers.judge.checking import longest

    trial = trials({"candidate_0": "y" * 5000})[0]
    told = longest(trial.request.prompt, trial.shown)
    assert told[0] == "answer of candidate_0 (5,000 bytes)" and len(told) == 3
    assert prompts.nonce(42, "writing_7") in trial.request.prompt


# --- prices -----------------------------------------------------------------------------------------------------------

#: Below, at and above the limits at which tables have tiers.
TOKENS = ((0, 0), (1400, 350), (128_000, 1), (128_001, 1), (200_000, 99), (200_001, 99), (272_001, 7), (1_000_001, 5))


def test_every_entry_gives_what_the_table_s_own_calculation_gives() -> None:
    entries = [(provider, model) for provider in get_snapshot().providers for model in provider.models]
    assert len(entries) > 1000
    for provider, model in entries:
        now = datetime.now(UTC)
        for read, written in TOKENS:
            expected = model.calc_price(Usage(input_tokens=read, output_tokens=written), provider).total_price
            assert price(model, now, read, written) == float(expected), (provider.id, model.id, read, written)


def test_tiers_are_among_what_was_compared() -> None:
    """A Claude model that reads more than 200,000 tokens pays more for each of them."""
    model = Model("claude", "anthropic", "claude-sonnet-4-5", "claude")
    below, above = (cost(model, tokens, 0) / tokens for tokens in (200_000, 200_001))
    assert above > 1.5 * below


def test_a_model_is_found_by_its_provider_or_by_its_address() -> None:
    usage = Usage(input_tokens=1400, output_tokens=350)
    for model, where in (
        (Model("gpt", "openai", "gpt-5-mini", "gpt"), {"provider_id": "openai"}),
        (
            Model(
                "llama", "openai", "meta-llama/llama-3.1-8b-instruct", "llama", base_url="https://openrouter.ai/api/v1"
            ),
            {"provider_api_url": "https://openrouter.ai/api/v1"},
        ),
    ):
        expected = calc_price(usage, model.model_id, **where).total_price
        assert cost(model, 1400, 350) == float(expected) > 0


# --- what is billed ---------------------------------------------------------------------------------------------------

INPUT, OUTPUT = 1e-6, 4e-6
MODEL = replace(MODELS["openai"], price=Price(1, 4), max_tokens=300)


def body(dialect: str, usage: Any, text: str = "VERDICT-5eed: A") -> str:
    return body_of(dialect, text, **{"usageMetadata" if dialect == "google" else "usage": usage})


def read(dialect: str, usage: Any, text: str = "VERDICT-5eed: A") -> Completion:
    return transport.read(transport.module_of(dialect), body(dialect, usage, text))


def openai(asked: Any, said: Any, total: Any = None, reasoning: Any = None) -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": reasoning}} if reasoning is not None else {}
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": total, **details}


def google(asked: Any, said: Any, thoughts: Any = None, total: Any = None) -> dict[str, Any]:
    counts = {"prompt": asked, "candidates": said, "thoughts": thoughts, "total": total}
    return {f"{name}TokenCount": count for name, count in counts.items() if count is not None}


def anthropic(asked: Any, said: Any, **more: Any) -> dict[str, Any]:
    return {"input_tokens": asked, "output_tokens": said, **more}


@pytest.mark.parametrize(
    ("dialect", "usage", "output"),
    [
        ("openai", openai(40, 10, 50), 10),
        ("openai", openai(40, 10, 50, 4), 10),
        ("openai", openai(40, 10, 5050, 5000), 5010),  # reasoning in the total alone
        ("openai", openai(40, 10, None, 5000), 5010),  # reasoning beside the output, and no total
        ("openai", openai(40, 10, 50, 5000), 5010),  # and a total that leaves it out, too
        ("openai", openai(40, 5010, 5050, 5000), 5010),
        ("openai", openai(40, 10, 5050), 5010),  # reasoning that nobody names
        ("openai", openai(40, 10, 30), 10),  # a total below its parts
        ("openai", openai(40, 10, "5050"), 10),
        ("openai", openai(40, 10, -1), 10),
        ("openai", openai(40, 10, 2**60), 10),
        ("openai", openai(40, 10, 50, "many"), 10),
        ("google", google(40, 10, 5000, 5050), 5010),
        ("google", google(40, 10, None, 5050), 5010),
        ("google", google(40, None, 7, 47), 7),
        ("google", google(40, 10, 5), 15),
        ("google", google(40, 10, 5, 12), 15),
        ("anthropic", anthropic(40, 10), 10),
    ],
)
def test_output_tokens_are_the_most_that_the_counts_allow(dialect: str, usage: dict[str, Any], output: int) -> None:
    reply = read(dialect, usage)
    assert (reply.usage.input, reply.usage.output) == (40, output)
    request = Request(replace(MODEL, provider=dialect), "question")
    assert actual(request, reply) == pytest.approx(40 * INPUT + output * OUTPUT)


#: Counts of input and of output of which one at least cannot be.
IMPOSSIBLE = [
    *((0, 0), (40, 0), (0, 10), (-40, -10), (40, -1), ("40", "10"), (40, "10"), (None, None), (40, None)),
    *((40.0, 10.0), (True, True), (2**60, 2**60), ([40], {"n": 10})),
]
DIALECTS = {"openai": openai, "anthropic": anthropic, "google": google}
USELESS = [
    *((dialect, count(*counts)) for dialect, count in DIALECTS.items() for counts in IMPOSSIBLE),
    # One part is impossible, though the sum is not.
    ("google", google(40, -10, 20)),
    ("google", google(40, 10, "5")),
    ("anthropic", anthropic(40, 10, cache_read_input_tokens=-30)),
    ("anthropic", anthropic(40, 10, cache_creation_input_tokens="30")),
    # A usage of another form.
    *((dialect, usage) for dialect in DIALECTS for usage in (None, {}, [], [1], "none", 0, 7, True)),
]


@pytest.mark.parametrize(("dialect", "usage"), USELESS)
def test_a_count_that_cannot_be_costs_the_worst_case(dialect: str, usage: Any) -> None:
    request, reply = Request(replace(MODEL, provider=dialect), "question"), read(dialect, usage)
    assert reply.text == "VERDICT-5eed: A" and actual(request, reply) == worst_case(request) > 0


@pytest.mark.parametrize(("dialect", "usage"), [("openai", openai(40, 0)), ("anthropic", anthropic(40, 0))])
def test_an_empty_text_may_have_cost_its_prompt_alone(dialect: str, usage: dict[str, Any]) -> None:
    request = Request(replace(MODEL, provider=dialect), "question")
    assert actual(request, read(dialect, usage, "")) == pytest.approx(40 * INPUT)


def test_cached_tokens_count_as_input_without_any_others() -> None:
    assert read("anthropic", anthropic(0, 10, cache_read_input_tokens=40)).usage.input == 40


def model_at(url: str, provider: str) -> Model:
    return addressed(url, provider, price=Price(1, 4), max_tokens=300)


@pytest.mark.parametrize(
    ("provider", "usage"),
    [
        ("openai", openai(40, 10, 5050, 5000)),
        ("openai", openai(40, 10, None, 5000)),
        ("openai", openai(40, 10, 5050)),
        ("google", google(40, 10, None, 5050)),
        *(("openai", openai(0, 0, 0)), ("anthropic", anthropic(0, 0)), ("google", google(0, 0, 0, 0))),
    ],
)
def test_a_budget_is_not_passed_by_odd_counts(tmp_path: Path, provider: str, usage: dict[str, Any]) -> None:
    """Reasoning that is counted apart, and counts of nothing, which cost the worst case."""
    budget = Budget(0.02, planned=True)
    with answering(body(provider, usage)) as url:
        requests = requests_to(model_at(url, provider), 60)
        missing(requests, tmp_path, "budget_usd", budget=budget, concurrency=1)
    account = budget.account.total
    if account.output:
        assert account.attempts == 1 and account.output == 5010 and account.usd == pytest.approx(0.02008)
    else:
        assert 0.02 - 2 * worst_case(requests[0]) < budget.spent <= 0.02
