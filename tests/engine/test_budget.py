"""Money and keys: everything that can be known before the first call is said before it, and no limit is ever passed."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from helpers import store
from helpers.config.models import LimitEntry
from helpers.judge import Budget, Incomplete, MissingKey, NoPrice, OverBudget, complete_all, make_plan
from helpers.judge.budget import BudgetReached, bounds, cost, dollars, own_server
from helpers.providers import Failure
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine import virtual
from tests.engine.asking import MODELS, PROVIDERS, ask, at, dearly, missing, requests_to
from tests.engine.traces import attempts, statuses, without_keys
from tests.engine.virtual import Scripted, provider
from tests.servers.answering import answering
from tests.servers.behaviours import Reply, only

#: A dollar for a million tokens read, ten for a million written: one call of requests_to(PRICED, ...) reads at most the
#: 25 bytes of its prompt, the 9 of its system text and 200 tokens around them, and writes at most 100 tokens.
PRICED = replace(MODELS["openai"], price=Price(1.0, 10.0), max_tokens=100)
ONE_CALL = (25 + 9 + 200) * 1e-6 + 100 * 10e-6


# --- before the first call --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "share", "fit"), [(10, 0.999, 9), (1000, 0.5, 500)])
def test_a_plan_above_the_budget_is_refused(serve: Any, tmp_path: Path, count: int, share: float, fit: int) -> None:
    server, requests = serve(), requests_to(PRICED, count)
    worst = sum(len(r.prompt.encode()) + len("Be brief.") + 200 for r in requests) * 1e-6 + count * 100 * 10e-6
    budget = Budget(share * worst)
    with pytest.raises(OverBudget) as error:
        ask(requests, tmp_path, budget=budget)
    assert server.calls == [] and budget == Budget(share * worst) and "gpt" in str(error.value)
    assert str(error.value).startswith(
        f"{count} calls are missing and could cost up to {dollars(worst)}, which is more than budget_usd="
        f"{share * worst:.4f}: about {fit} of them would fit; raise budget_usd to {dollars(worst)}, or ask less "
        "(question_limit, judges)."
    )
    lock = store.try_lock(store.file_of(tmp_path, "gpt"))
    assert lock is not None, "the file is free again"
    lock.release()
    if count == 10:
        assert len(ask(requests, tmp_path, budget=Budget(float(dollars(worst).lstrip("$"))))) == 10, "what is said"


def test_without_money_nothing_fits_but_what_is_free(serve: Any, tmp_path: Path) -> None:
    server = serve()
    with pytest.raises(OverBudget, match=r"budget_usd=0\.0000: none of them would fit"):
        ask(requests_to(PRICED, 3), tmp_path, budget=Budget())
    with pytest.raises(OverBudget, match=r"^8 calls are missing .*: about 5 of them would fit"):
        ask([*requests_to(PRICED, 3), *requests_to(at(server.url, "own"), 5)], tmp_path, budget=Budget())
    with pytest.raises(OverBudget, match=r"budget_usd=0\.0000"):  # and without a budget there is none
        asyncio.run(complete_all(requests_to(PRICED, 1), folder=tmp_path, show=False))
    assert server.calls == []


def test_a_budget_of_the_plan_passes_and_counts_as_the_provider_does(serve: Any, tmp_path: Path) -> None:
    server = serve(latency=0.01)
    requests = requests_to(PRICED, 10)
    plan = make_plan({"calls": requests}, tmp_path)
    assert plan.usd == pytest.approx(10 * ONE_CALL, abs=1e-15) and plan.missing == 10
    budget = Budget(plan.usd)
    assert len(ask(requests, tmp_path, budget=budget)) == 10
    counted = sum(entry.input_tokens * 1e-6 + entry.output_tokens * 10e-6 for entry in server.calls)
    assert budget.spent == pytest.approx(counted, abs=1e-12) and 0 < budget.spent < plan.usd
    assert budget.reserved == pytest.approx(0.0, abs=1e-12)
    assert make_plan({"calls": requests}, tmp_path).usd == 0.0


def test_only_what_is_missing_is_planned(serve: Any, tmp_path: Path) -> None:
    serve()
    ask(requests_to(PRICED, 4), tmp_path)
    plan = make_plan({"answers": requests_to(PRICED, 10), "again": requests_to(PRICED, 2)}, tmp_path)
    assert [(row.stage, row.calls, row.stored, row.missing) for row in plan.rows] == [
        ("answers", 10, 4, 6),
        ("again", 2, 2, 0),
    ]
    assert plan.usd == pytest.approx(6 * ONE_CALL, abs=1e-15)
    assert (plan.rows[0].input_tokens, plan.rows[0].output_tokens) == (6 * 234, 600)
    assert "answers   gpt" in str(plan) and "0.0074" in str(plan)
    assert len(ask(requests_to(PRICED, 10), tmp_path, budget=Budget(6 * ONE_CALL))) == 10


def test_answers_that_are_not_written_yet_are_planned_in_full_and_never_sent(serve: Any, tmp_path: Path) -> None:
    server = serve()
    unwritten = Request(PRICED, "Which is better?", unwritten=4000)
    plan = make_plan({"judging": [unwritten]}, tmp_path)
    assert plan.usd == pytest.approx((16 + 4000 + 200) * 1e-6 + 100 * 10e-6, abs=1e-15)
    with pytest.raises(ValueError, match="not written yet can be planned but not sent"):
        ask([*requests_to(PRICED, 3), unwritten], tmp_path)
    assert server.calls == []
    # Two of them are equal only as long as they are not written.
    twice = [unwritten, replace(unwritten)]
    assert make_plan({"both orders": twice}, tmp_path).missing == 2
    assert make_plan({"the same": [replace(each, unwritten=0) for each in twice]}, tmp_path).missing == 1


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_bound_is_never_below_what_is_counted(serve: Any, tmp_path: Path, kind: str) -> None:
    server = serve(only(Reply("wörter " * 200, thoughts=30)), asked=dearly)
    model = replace(MODELS[kind], max_tokens=60, price=Price(1.0, 10.0))
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for request in (Request(model, "日本語の質問" * 20, "Be brief."), Request(model, "A question " * 9, schema=schema)):
        ask([request], tmp_path)
        entry = server.calls[-1]
        assert entry.input_tokens == bounds(request)[0] == dearly(entry.call)
        assert entry.output_tokens <= bounds(request)[1] == 60


# --- while they run ---------------------------------------------------------------------------------------------------


def test_what_costs_nothing_is_asked_also_after_too_large_a_bill() -> None:
    budget, [paid, further] = Budget(ONE_CALL), requests_to(PRICED, 2)
    [free] = requests_to(MODELS["own"], 1)
    free = replace(free, model=replace(free.model, base_url="http://127.0.0.1:8000/v1"))
    budget.reserve(paid)
    budget.settle(paid, Completion(paid.key, "ok", usage=Usage(10_000, 100)))
    assert budget.spent > budget.limit and budget.reached(further.model, 0.01) is not None
    budget.reserve(free)
    assert budget.reserved == 0.0 and {row.model: row.attempts for row in budget.rows} == {"gpt": 1, "llama": 1}


@given(st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 1000), st.booleans()), max_size=40), st.floats(0, 5))
def test_a_budget_never_gives_what_it_has_not(attempts: list[tuple[int, int, bool]], limit: float) -> None:
    budget, waiting, spent = Budget(limit), [], 0.0
    model = Model("gpt", "openai", "m", "gpt", price=Price(0.0, 1000.0))  # a thousandth of a dollar a token
    for n, (most, said, lost) in enumerate(attempts):
        request = Request(replace(model, max_tokens=most), f"question {n}")
        if lost:
            completion = Completion(request.key, "maybe_billed", maybe_billed=True)
        else:
            completion = Completion(request.key, "ok", usage=Usage(3, min(said, most)))
        try:
            budget.reserve(request)
            waiting.append((request, completion, (most if lost else min(said, most)) / 1000))
        except BudgetReached as stop:
            assert stop.waiting == (spent + most / 1000 <= limit + 1e-9), "what is reserved may come back"
            if waiting:
                asked, reply, cost_then = waiting.pop(0)
                budget.settle(asked, reply)
                spent += cost_then
        assert budget.spent == pytest.approx(spent, abs=1e-9)
        assert budget.reserved == pytest.approx(sum(r.model.max_tokens for r, _, _ in waiting) / 1000, abs=1e-9)
        assert budget.spent + budget.reserved <= limit + 1e-6


def test_a_budget_is_exact_after_many_calls() -> None:
    budget, model = Budget(1.0), Model("gpt", "openai", "m", "gpt", price=Price(0.0, 1000.0))
    for n in range(20_000):
        request = Request(replace(model, max_tokens=300 + n % 401), f"question {n % 64}")
        budget.reserve(request)
        budget.settle(request, Completion(request.key, "refused"))
    for n, most in enumerate((300, 300, 300, 99, 1)):
        budget.reserve(Request(replace(model, max_tokens=most), f"another {n}"))
    with pytest.raises(BudgetReached):
        budget.reserve(Request(replace(model, max_tokens=1), "one more"))
    assert budget.spent == 0.0 and budget.reserved == pytest.approx(1.0, abs=1e-9)


# --- prices -----------------------------------------------------------------------------------------------------------


def test_a_model_without_a_price_is_named_with_the_line_to_add(serve: Any, tmp_path: Path) -> None:
    server = serve()
    unknown = replace(MODELS["openai"], name="gpt_next", model_id="no-such-model-9")
    for refuse in (lambda r: ask(r, tmp_path), lambda r: make_plan({"calls": r}, tmp_path)):
        with pytest.raises(NoPrice) as error:
            refuse([*requests_to(MODELS["google"], 2), *requests_to(unknown, 2)])
        assert "model 'gpt_next'" in str(error.value) and "'no-such-model-9'" in str(error.value)
        assert "`price: {input: <US dollars for a million tokens>, output: <...>}`" in str(error.value)
    assert server.calls == []


def test_a_price_in_the_file_wins_over_the_table() -> None:
    model = MODELS["openai"]
    assert cost(model, 1_000_000, 1_000_000) == pytest.approx(0.25 + 2.00), "the published price of gpt-5-mini"
    assert cost(replace(model, price=Price(3.0, 4.0)), 2_000_000, 500_000) == 8.0
    assert cost(replace(model, price=Price(0.0, 0.0)), 10**9, 10**9) == 0.0


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://[::1]:8000/v1", True),
        ("http://192.168.0.7/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://gpu.internal/v1", True),
        ("https://8.8.8.8/v1", False),
        ("https://api.example.com/v1", False),
        (None, False),
    ],
)
def test_calls_to_a_server_of_ones_own_cost_nothing(address: str | None, own: bool) -> None:
    model = replace(MODELS["own"], base_url=address, model_id="no-such-model-9")
    assert own_server(address) is own
    if own:
        assert cost(model, 10**9, 10**9) == 0.0
    else:
        with pytest.raises(NoPrice):
            cost(model, 1, 1)


# --- keys -------------------------------------------------------------------------------------------------------------


def test_a_missing_key_is_named_with_its_models(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    monkeypatch.setenv("GEMINI_API_KEY", " \n")
    other = replace(MODELS["anthropic"], name="claude_new")
    named = Model("router", "openai", "m", "x", base_url=f"{server.url}/v1", revision={}, api_key_env="ROUTER_API_KEY")
    models = (MODELS["openai"], MODELS["anthropic"], other, MODELS["google"], named)
    with pytest.raises(MissingKey) as error:
        ask([request for model in models for request in requests_to(model, 2, model.name)], tmp_path)
    assert str(error.value) == (
        "not set in the environment: ANTHROPIC_API_KEY (needed by claude, claude_new); "
        "GOOGLE_API_KEY or GEMINI_API_KEY (needed by gemini); ROUTER_API_KEY (needed by router). See .env.example."
    )
    assert server.calls == [] and without_keys(str(error.value), server.env())
    assert list(tmp_path.iterdir()) == []


def test_what_is_stored_needs_no_key_and_no_price(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve()
    ask(requests_to(MODELS["openai"], 3), tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert len(ask(requests_to(MODELS["openai"], 3), tmp_path, budget=Budget(0.0))) == 3
    part = asyncio.run(complete_all(requests_to(MODELS["openai"], 5), folder=tmp_path, ask=False))
    assert len(part) == 3 and len(server.calls) == 3


@pytest.mark.parametrize("kind", MODELS)
def test_a_key_goes_to_its_own_provider_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
        monkeypatch.setenv(name, f"secret-of-{name}")
    monkeypatch.setenv("ROUTER_API_KEY", "key-of-the-router")
    seen: list[str] = []
    with answering("{}", seen) as url:
        there = replace(MODELS[kind], base_url=url, revision={})
        for model in (there, replace(there, name="named", api_key_env="ROUTER_API_KEY")):
            missing(requests_to(model, 1, model.name), tmp_path)
    assert len(seen) == 12 and "secret-of-" not in "".join(seen)
    assert [("key-of-the-router" in headers) for headers in seen] == [False] * 6 + [True] * 6


@pytest.mark.parametrize("kind", PROVIDERS)
def test_a_line_end_after_a_key_is_no_harm(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    for name, value in serve().env().items():
        if name.endswith("_API_KEY"):
            monkeypatch.setenv(name, f"{value}\r\n")
    assert len(ask(requests_to(MODELS[kind], 1), tmp_path)) == 1


# --- models that end --------------------------------------------------------------------------------------------------


def test_a_model_that_its_provider_ends_is_named(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    serve()
    said_here = replace(MODELS["openai"], name="old", retires="2026-11-30")
    known_to_the_sdk = replace(MODELS["anthropic"], name="older", model_id="claude-opus-4-0", price=Price(1, 1))
    for model in (said_here, known_to_the_sdk, MODELS["google"]):
        ask(requests_to(model, 1, model.name), tmp_path)
    said = capfd.readouterr().err
    assert "warning: old (gpt-5-mini) is retired or retiring: 2026-11-30" in said
    assert "warning: older (claude-opus-4-0) is retired or retiring: " in said
    assert "gemini" not in said


def test_an_address_in_the_environment_is_told(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = serve()
    ask(requests_to(MODELS["openai"], 1), tmp_path)
    told = f"note: OPENAI_BASE_URL is set: {server.env()['OPENAI_BASE_URL']} is asked"
    assert told in capfd.readouterr().err
    ask(requests_to(at(server.url, "own"), 1), tmp_path)
    assert "OPENAI_BASE_URL" not in capfd.readouterr().err, "an address in models.yaml is the user's word"


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
    left = r"\$1800\.0000 spent, \$0\.0000 reserved, \$200\.0000 left; the call could cost up to \$600\.0000"
    assert re.search(rf"^  gpt: 4 x .* above budget_usd=2000\.0000 \({left}\)$", said, re.M)
    assert "What is missing could cost up to $3600.0000 more" in said, "that can be paid next"


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
def test_what_is_missing_is_all_from_the_first_call_without_money(
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


def test_calls_that_wait_hear_that_no_money_will_come(tmp_path: Path) -> None:
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


@pytest.mark.parametrize(
    ("size", "said", "came"),
    [
        # The first attempt fits beside the other call, the second does not, and afterwards there is money for all.
        (300, Failure("maybe_billed", "no"), ["maybe_billed"] * 6),
        (300, Failure("bad_envelope", "no"), ["bad_envelope"] * 6),
        (300, "", ["empty", "ok"]),  # costs next to nothing; the second one counts as said
        # The first attempt waits: it is asked for the first time.
        (3000, Failure("maybe_billed", "no"), ["maybe_billed"] * 3),
    ],
)
def test_a_call_that_waited_for_money_has_no_more_tries(tmp_path: Path, size: int, said: Any, came: list[str]) -> None:
    calls = [*sized(GEMINI, 9500), *sized(GPT, size)]
    service = deferring(lambda request, attempt, now: (1.0, said))
    run(calls, tmp_path, Budget(9805.0, planned=True), service)
    assert statuses(tmp_path, GPT) == came
    assert [each["attempt"] for each in attempts(tmp_path, GPT)] == list(range(1, len(came) + 1))
    begun = service.times(GPT)
    assert begun[0] < 10.0 <= begun[1] if size == 300 else begun[0] == 10.0, "it had to wait"


def test_of_deferred_calls_the_first_goes_alone(tmp_path: Path) -> None:
    """Three would fit at once, and the key is wrong for all of them."""
    service = deferring(lambda request, attempt, now: (1.0, Failure("auth", "no such key")))
    said = run([*sized(GEMINI, 9500), *sized(GPT, *[3000] * 9)], tmp_path, Budget(9700.0, planned=True), service)
    assert service.asked(GPT) == [0] and said.startswith("9 of 10 ")


def test_calls_that_wait_hear_that_nobody_is_asked(tmp_path: Path) -> None:
    calls = [*sized(GEMINI, 9500), *sized(GPT, *[5000] * 6)]

    def behave(request: Request, attempt: int, now: float) -> tuple[float, float | Failure]:
        return 1.0, Failure("quota", "the account is empty") if request.prompt.startswith("1 ") else 10

    service = deferring(behave)
    said = run(calls, tmp_path, Budget(9700.0, planned=True), service)
    assert service.asked(GPT) == [0, 1] and said.startswith("5 of 7 ") and "budget_usd" not in said


def test_calls_that_waited_for_money_keep_to_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helpers.config.load_limits", lambda: {"openai": LimitEntry(requests_per_minute=6)})
    calls = [*sized(GEMINI, 9500), *sized(GPT, 2000, 7000, 2000, 2000, 2000)]
    service = deferring(lambda request, attempt, now: (30.0 if request.prompt.startswith("1 ") else 100.0, 10))
    assert run(calls, tmp_path, Budget(9500.0, planned=True), service) == ""
    # The first ends at 110. Ten seconds lie between calls, and the fourth waits until 140 for what the second leaves.
    assert service.times(GPT) == [10.0, 110.0, 120.0, 140.0, 150.0]


@pytest.mark.parametrize("seed", [3, 4])  # in one of them the refused call comes first, in the other the waiting one
def test_a_pause_leaves_nobody_without_money(tmp_path: Path, seed: int) -> None:
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
