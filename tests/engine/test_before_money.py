"""What a user meets before money is spent: whether a plan fits the budget, and the keys and prices that a run needs."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, run
from helpers.config import load_experiment
from helpers.run import notebooks as run_notebooks
from tests.kernels import recuse

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
    monkeypatch.setattr(run_notebooks, "execute", lambda *_: pytest.fail("a notebook was started"))
    monkeypatch.setattr(run_notebooks, "_submit", lambda *_: pytest.fail("a notebook was started"))


def priced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, entry: str) -> None:
    """A models.yaml with one model more, `mine`."""
    file = tmp_path / "models.yaml"
    file.write_text(
        f"{(paths.EXPERIMENTS / 'models.yaml').read_text(encoding='utf-8')}\nmine: {entry}\n", encoding="utf-8"
    )
    monkeypatch.setattr(paths, "MODELS", file)


# --- the plan and the budget ------------------------------------------------------------------------------------------


def test_a_plan_says_whether_it_fits_the_budget_and_how_many_calls_would(
    typed: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
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
def test_options_of_a_call_are_parameters_that_every_model_gets(
    command: str, typed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(run_notebooks, "_submit", lambda *given: seen.append(given[-1]) or Future())
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


def test_a_price_that_nobody_knows_is_told_before_any_kernel(
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
