"""When calls begin: side by side, but not all in the same moment, and none that nobody waits for."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from helpers.judge.asking import APART, in_order
from helpers.types import Request
from tests.engine import virtual
from tests.engine.asking import MODELS, requests_to

LATENCY = 0.1


def begun(requests: list[Request], concurrency: int) -> list[float]:
    """When each call begins, in virtual time, where each takes a tenth of a second."""
    times: list[float] = []

    async def one(request: Request) -> None:
        times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(LATENCY)

    virtual.run(lambda: in_order(requests, one, concurrency, (), lambda: False))
    return times


@pytest.mark.parametrize("concurrency", [1, 4, 64])
def test_calls_of_a_crowd_begin_and_go_on_one_after_another(concurrency: int) -> None:
    """The first alone; then each worker a little after the one before it, and in each round as in the first."""
    expected = [0.0, *(LATENCY + LATENCY * (n // concurrency) + APART * (n % concurrency) for n in range(199))]
    assert begun(requests_to(MODELS["openai"], 200), concurrency) == pytest.approx(expected)


def test_no_more_begin_than_there_are_calls() -> None:
    """A stage of few calls does not wait for workers who would find nothing to do."""

    async def scene() -> float:
        async def one(request: Request) -> None:
            await asyncio.sleep(LATENCY)

        await in_order(requests_to(MODELS["openai"], 3), one, 1000, (), lambda: False)
        return asyncio.get_running_loop().time()

    assert virtual.run(scene) == pytest.approx(2 * LATENCY + APART)


def test_simulated_models_begin_at_once() -> None:
    simulated = replace(MODELS["openai"], provider="simulated")
    assert begun(requests_to(simulated, 17), 16) == pytest.approx([0.0, *[LATENCY] * 16])
