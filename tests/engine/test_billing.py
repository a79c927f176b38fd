"""The cost of a reply whose counts contradict each other or its text: the worst reading, never above a budget."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, Incomplete, actual
from helpers.judge.budget import worst_case
from helpers.providers import transport
from helpers.types import Completion, Model, Price, Request
from tests.engine.asking import MODELS, addressed, answering, ask, body_of, requests_to

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
    ],
)
def test_a_budget_is_not_passed_by_reasoning_that_is_counted_apart(
    tmp_path: Path, provider: str, usage: dict[str, Any]
) -> None:
    budget = Budget(0.02, planned=True)
    with answering(body(provider, usage)) as url, pytest.raises(Incomplete, match="budget_usd"):
        ask(requests_to(model_at(url, provider), 60), tmp_path, budget=budget, concurrency=1)
    account = budget.account.total
    assert account.attempts == 1 and account.output == 5010 and account.usd == pytest.approx(0.02008)


@pytest.mark.parametrize("provider", DIALECTS)
def test_a_budget_is_not_passed_by_counts_of_nothing(tmp_path: Path, provider: str) -> None:
    usage = {"openai": openai(0, 0, 0), "anthropic": anthropic(0, 0), "google": google(0, 0, 0, 0)}[provider]
    budget = Budget(0.02, planned=True)
    with answering(body(provider, usage)) as url, pytest.raises(Incomplete, match="budget_usd"):
        ask(requests_to(model_at(url, provider), 60), tmp_path, budget=budget, concurrency=1)
    worst = worst_case(requests_to(model_at("http://127.0.0.1:9", provider), 1)[0])
    assert 0.02 - 2 * worst < budget.spent <= 0.02
