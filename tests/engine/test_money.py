"""Where money runs out: which calls of which models are asked, and who waits for whom; nobody waits for the time."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.config.models import LimitEntry
from helpers.judge import Budget, Incomplete, complete_all
from helpers.providers import Failure
from helpers.types import Model, Price, Request
from tests.engine import virtual
from tests.engine.asking import MODELS, statuses
from tests.engine.virtual import Scripted, provider

#: A dollar for a byte that is read, nothing for what is written: a call costs at most its text and what is counted
#: around it (OpenAI 200, Anthropic 100, Google 50), and so by the sizes below.
DOLLAR = Price(1e6, 0.0)
GPT, CLAUDE, GEMINI = (replace(MODELS[kind], price=DOLLAR) for kind in ("openai", "anthropic", "google"))
KIN = replace(GPT, name="kin", model_id="gpt-5")
FREE = replace(MODELS["own"], base_url="http://127.0.0.1:8000/v1")
AROUND = {"openai": 200, "anthropic": 100, "google": 50}


def sized(model: Model, *sizes: int) -> list[Request]:
    """Calls that cost at most so many dollars each."""
    return [Request(model, f"{n} ".ljust(size - AROUND[model.provider], "x")) for n, size in enumerate(sizes)]


def run(
    requests: list[Request], folder: Path, budget: Budget, service: Scripted, concurrency: int = 16, seed: int = 0
) -> str:
    """What a run says of what is missing at its end; "" where nothing is."""

    async def scene() -> str:
        options = {"folder": folder, "budget": budget, "clock": virtual.clock(seed), "show": False}
        async with asyncio.timeout(1e5):  # against hanging: of the time in which nobody waits
            try:
                await complete_all(requests, concurrency=concurrency, **options)
            except Incomplete as error:
                return str(error)
            return ""

    with provider(service), pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
            patch.setenv(name, "not-a-key")
        return virtual.run(scene)


# --- whose calls end --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 16])
def test_a_call_too_dear_for_what_is_left_ends_its_model_and_no_other(tmp_path: Path, concurrency: int) -> None:
    calls = [*sized(GPT, 9000, 300, 300), *sized(KIN, 400, 400), *sized(CLAUDE, 500, 500, 500), *sized(FREE, 300, 9000)]
    budget, service = Budget(4000.0, planned=True), Scripted(lambda request, attempt, now: (1.0, 10))
    said = run(calls, tmp_path, budget, service, concurrency)
    assert [service.asked(model) for model in (GPT, KIN, CLAUDE, FREE)] == [[], [0, 1], [0, 1, 2], [0, 1]]
    assert said.startswith("3 of 10 replies are still missing:\n  gpt: 3 x the next call could bring the cost above ")
    assert re.search(r"budget_usd=4000\.0000 \(.*; the call could cost up to \$9000\.0000\)\n", said)
    assert not re.search("^  (kin|claude|llama): ", said, re.MULTILINE)
    assert {row.model: row.usd for row in budget.account.rows} == {"claude": 30.0, "kin": 20.0, "llama": 0.0}


def test_each_model_goes_on_until_a_call_of_its_own_finds_no_money(tmp_path: Path) -> None:
    calls = [*sized(GPT, *[600] * 6), *sized(CLAUDE, *[300] * 6), *sized(FREE, *[300] * 6)]
    service = Scripted(lambda request, attempt, now: (1.0, len(request.prompt) + AROUND[request.model.provider]))
    said = run(calls, tmp_path, Budget(2000.0, planned=True), service, concurrency=1)
    # Both take turns from second to second: 900 are spent after one, 1800 after two. Then 200 are left, for neither.
    assert [service.asked(model) for model in (GPT, CLAUDE, FREE)] == [[0, 1], [0, 1], [0, 1, 2, 3, 4, 5]]
    assert said.startswith("8 of 18 replies are still missing:\n  claude: 4 x the next call ")
    assert re.search(r"^  gpt: 4 x .* budget_usd=2000\.0000 \(\$1800\.0000 spent, .* up to \$600\.0000\)$", said, re.M)


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.lists(st.integers(250, 1000), max_size=12), min_size=3, max_size=3),
    limit=st.integers(200, 12_000),
    own=st.none() | st.integers(200, 6000),
    cheap=st.sampled_from([0.05, 0.5, 1.0]),
    concurrency=st.sampled_from([1, 2, 5, 16]),
    seed=st.integers(0, 9),
)
# A dear call that waits for money, and cheap ones behind it for which there would be enough.
@example([[900, 900, 260, 260], [900], []], 2000, None, 0.5, 16, 0)
def test_what_is_missing_of_a_model_is_the_rest_of_its_calls_from_the_first_for_which_there_is_no_money(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[list[int]],
    limit: int,
    own: int | None,
    cheap: float,
    concurrency: int,
    seed: int,
) -> None:
    models = (GPT, KIN, CLAUDE)
    calls = {model.name: sized(model, *some) for model, some in zip(models, sizes, strict=True)}
    every = [request for some in calls.values() for request in some]
    worst = {r.key: len(r.prompt) + AROUND[r.model.provider] for r in every}

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float]:
        return 0.5 + (sum(request.prompt.encode()) + seed) % 7, int(worst.get(request.key, 0) * cheap)

    budget = Budget(limit, {} if own is None else {"gpt": own}, planned=True)
    service = Scripted(behave)
    run([*sized(FREE, *[250] * 4), *every], tmp_path_factory.mktemp("store"), budget, service, concurrency)
    assert service.asked(FREE) == [0, 1, 2, 3]
    assert budget.spent <= limit and budget.spent_on("gpt") <= (limit if own is None else own)
    for model in models:
        asked, some = service.asked(model), calls[model.name]
        assert asked == list(range(len(asked))), "in their order, and none left out"
        if len(asked) < len(some):
            dear = worst[some[len(asked)].key]
            over = budget.spent + dear > limit
            assert over or (model == GPT and own is not None and budget.spent_on("gpt") + dear > own)


# --- who waits for whom -----------------------------------------------------------------------------------------------


def deferring(behave: virtual.Behave) -> Scripted:
    """A first call, to Google, sets nearly all aside for ten seconds and costs 100: all others are deferred."""
    first = (10.0, 100)
    return Scripted(lambda request, n, now: first if request.model == GEMINI else behave(request, n, now))


def test_a_call_that_will_never_have_money_does_not_wait_for_those_in_flight(tmp_path: Path) -> None:
    # At its own budget there is nothing to wait for; at that of all there would be, for 500 seconds.
    calls = [*sized(GEMINI, 9500), *sized(GPT, 2000, 3000), *sized(KIN, 1000, 1000), *sized(CLAUDE, 4000)]
    full = {"gpt": (1.0, 2000), "kin": (1.0, 1000), "claude": (500.0, 4000)}
    service = deferring(lambda request, attempt, now: full[request.model.name])
    said = run(calls, tmp_path, Budget(10_000.0, {"gpt": 4000.0}, planned=True), service, concurrency=1)
    assert service.times(CLAUDE) == service.times(GPT) == [10.0]
    assert service.times(KIN) == [11.0, 12.0]
    assert said.startswith("1 of 6 ") and "  gpt: 1 x the next call could bring the cost above budget_usd[gpt]=" in said


def test_calls_hear_while_they_wait_that_there_will_be_no_money_for_their_model(tmp_path: Path) -> None:
    gpt, kin = sized(GPT, 300, 2000, 2000, 800), sized(KIN, 300, 250, 250, 250)
    full = {"gpt": (1.0, 2000), "kin": (50.0, 250), "claude": (500.0, 6240)}

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float]:
        first = request.prompt.startswith("0 ") and request.model != CLAUDE
        return (1.0, 300) if first else full[request.model.name]

    service, calls = deferring(behave), [*sized(GEMINI, 9500), *gpt, *kin, *sized(CLAUDE, 6240)]
    said = run(calls, tmp_path, Budget(9700.0, {"gpt": 3200.0}, planned=True), service, concurrency=3)
    # The third and the fourth wait for the second, and it leaves nothing for the third of their own budget at 13. The
    # fourth could wait for Claude's 6240, but its model has ended: at once there are places for three of KIN's.
    assert service.times(GPT) == [10.0, 12.0] and service.times(KIN) == [11.0, 13.0, 13.0, 13.0]
    assert said.startswith("2 of 10 ") and "gpt: 2 x the next call could bring the cost above budget_usd[gpt]=" in said


def test_calls_hear_while_they_wait_for_money_that_nobody_is_asked_any_more(tmp_path: Path) -> None:
    calls = [*sized(GEMINI, 9500), *sized(GPT, *[5000] * 6)]

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float | Failure]:
        return 1.0, Failure("quota", "the account is empty") if request.prompt.startswith("1 ") else 10

    service = deferring(behave)
    said = run(calls, tmp_path, Budget(9700.0, planned=True), service)
    assert service.asked(GPT) == [0, 1] and said.startswith("5 of 7 ") and "budget_usd" not in said


def test_calls_that_waited_for_money_are_asked_as_fast_as_a_limit_allows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helpers.config.load_limits", lambda: {"openai": LimitEntry(requests_per_minute=6)})
    calls = [*sized(GEMINI, 9500), *sized(GPT, 2000, 7000, 2000, 2000, 2000)]
    service = deferring(lambda request, attempt, now: (30.0 if request.prompt.startswith("1 ") else 100.0, 10))
    assert run(calls, tmp_path, Budget(9500.0, planned=True), service) == ""
    # The first ends at 110. Ten seconds lie between calls, and the fourth waits until 140 for what the second leaves.
    assert service.times(GPT) == [10.0, 110.0, 120.0, 140.0, 150.0]


@pytest.mark.parametrize("seed", [3, 4])  # in one of them the refused call comes first, in the other the waiting one
def test_nobody_is_out_of_money_because_an_earlier_call_has_to_wait_for_a_pause(tmp_path: Path, seed: int) -> None:
    """Nothing is in flight in the pause; after it the one that was refused may come before the first of the line."""
    calls = [*sized(GEMINI, 9500), *sized(GPT, 300, 300, 9000), *sized(CLAUDE, 600)]

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float | Failure]:
        if request.model == CLAUDE:
            return 30.0, 10
        refused = request.prompt.startswith("1 ") and attempt == 1
        return 10.0, Failure("rate_limited", "slow down", 100.0) if refused else 10

    service = deferring(behave)
    assert run(calls, tmp_path, Budget(9700.0, planned=True), service, seed=seed) == ""
    assert statuses(tmp_path, GPT).count("rate_limited") == 1


def test_waiting_for_money_is_no_waiting_for_a_rate_limit(tmp_path: Path) -> None:
    """Half an hour of rate limits is the end of a call; here most of it is spent on waiting for money."""
    calls = [*sized(GEMINI, 9500), *sized(GPT, 9000, 9000), *sized(CLAUDE, *[500] * 10)]

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float | Failure]:
        if request.model == GPT:
            limited = request.prompt.startswith("0 ") and attempt <= 3
            return 1.0, Failure("rate_limited", "slow down", 60.0) if limited else 1
        # From the second on one is always in flight, as the next begins in the middle of it.
        return 250.0 if request.prompt.startswith("2 ") else 500.0, 1

    service = deferring(behave)
    assert run(calls, tmp_path, Budget(9550.0, planned=True), service, concurrency=2) == ""
    assert statuses(tmp_path, GPT) == ["rate_limited"] * 3 + ["ok", "ok"]
    assert service.times(GPT)[2] - service.times(GPT)[0] > 1800.0
