"""One call's refusal ends one call: a filter, a firewall or a long prompt never ends a model that has answered."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, judge_all
from helpers.judge.budget import worst_case
from helpers.providers import Failure, meanings
from helpers.types import Judgment, Model, Price, Trial
from tests.engine.asking import EVERY, MODELS, SAID, ask, at, missing, requests_to
from tests.engine.test_fleet import A, B, C, answering, behind, run
from tests.engine.traces import attempts, statuses
from tests.engine.virtual import FakeClock
from tests.servers.behaviours import Behaviour, Fault, only, polite, step

#: Bodies by which services refuse one prompt for what it holds, each in the form in which one of them speaks; and such
#: that sound alike and concern the account, the place or the form of all calls, or are a firewall's page.
CONTENT, OF_EVERY_CALL = (
    {name: body if isinstance(body, str) else json.dumps(body) for name, body in SAID[which].items()}
    for which in ("content", "of_every_call")
)


def refused(body: str, status: str = "400") -> Fault:
    return Fault(status, body=body, content_type="text/html" if body.startswith("<") else "application/json")


def to_some(prompts: Sequence[int], fault: Fault) -> Behaviour:
    """Refuses these questions, and answers all others."""
    return lambda call: fault if any(f"question {n} " in call.prompt for n in prompts) else polite(call)


def judged(model: Model, count: int, folder: Path, ask_them: bool = True, **options: Any) -> list[Judgment]:
    """Judgments of so many questions, half of them under a condition."""
    trials = [
        Trial("e", f"q{n}", "c", model, request, ("none", "hinted")[n % 2], "text", nonce="5eed")
        for n, request in enumerate(requests_to(model, count))
    ]
    options = {"budget": Budget(1e6), "show": False, "clock": FakeClock().clock(), **options}
    return asyncio.run(judge_all(trials, folder=folder, ask=ask_them, **options))


@pytest.mark.parametrize("service", CONTENT)
@pytest.mark.parametrize("status", ["400", "403", "413", "422"])
def test_a_prompt_refused_for_its_content_is_filtered(serve: Any, tmp_path: Path, service: str, status: str) -> None:
    server = serve(to_some([0, 3], refused(CONTENT[service], status)))  # the very first call is one of them
    model = at(server.url, "own")
    found = judged(model, 6, tmp_path)
    assert Counter(each.outcome for each in found) == {"ok": 4, "filtered": 2}
    assert [each.trial.question_id for each in found if each.outcome == "filtered"] == ["q0", "q3"]
    assert len(server.calls) == 6
    filtered = next(each for each in attempts(tmp_path, model) if each["key"] == found[0].trial.request.key)
    assert json.loads(filtered["raw"]) == json.loads(CONTENT[service]), "its words are kept"
    assert [each.outcome for each in judged(model, 6, tmp_path)] == [each.outcome for each in found]
    assert len(server.calls) == 6, "and nothing is asked again"


@pytest.mark.parametrize("kind", EVERY)
def test_every_sdk_lets_the_run_go_on(serve: Any, tmp_path: Path, kind: str) -> None:
    server = serve(to_some([0, 7, 8], refused(CONTENT["azure"])))
    model = replace(at(server.url, kind), price=Price(1, 4))
    budget = Budget(1e6)
    found = judged(model, 20, tmp_path, concurrency=4, budget=budget)
    counts = Counter((each.trial.condition, each.outcome) for each in found)
    assert counts == {("none", "ok"): 8, ("none", "filtered"): 2, ("hinted", "ok"): 9, ("hinted", "filtered"): 1}
    assert len(server.calls) == 20 and statuses(tmp_path, model) == ["ok"] * 20
    account, worst = budget.account.total, worst_case(found[0].trial.request)
    assert (account.attempts, account.maybe_billed) == (20, 3), "some services bill what they refuse"
    assert account.maybe_billed_usd == pytest.approx(3 * worst, rel=0.01)


@pytest.mark.parametrize("body", OF_EVERY_CALL)
@pytest.mark.parametrize("status", ["400", "403"])
def test_what_concerns_every_call_is_no_filter(serve: Any, tmp_path: Path, body: str, status: str) -> None:
    server = serve(only(refused(OF_EVERY_CALL[body], status)))
    model = at(server.url, "own")
    missing(requests_to(model, 6), tmp_path, "6 of 6")
    assert statuses(tmp_path, model) == {"400": ["bad_request"] * 3, "403": ["forbidden"]}[status]


@pytest.mark.parametrize("message", SAID["not_refused"])
def test_an_error_of_key_account_or_form_is_never_stored_for_a_refusal(message: str) -> None:
    assert not meanings.refuses_content(json.dumps({"error": {"message": message}}))


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"error":' * 100_000, "x" * 100_000])
def test_an_error_of_any_depth_is_read_without_harm(nested: str) -> None:
    assert not meanings.refuses_content(nested)


@pytest.mark.parametrize("status", ["401", "404", "429", "500"])
def test_other_statuses_are_no_filter_whatever_their_words(serve: Any, tmp_path: Path, status: str) -> None:
    server = serve(to_some([2], refused(CONTENT["azure"], status)))
    missing(requests_to(at(server.url, "own"), 4), tmp_path)
    assert "ok" in statuses(tmp_path, at(server.url, "own"))
    assert not any(line["reply"]["finish"] == "filter" for line in attempts(tmp_path, at(server.url, "own")))


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(("status", "name"), [("403", "forbidden"), ("404", "not_found"), ("400", "bad_request")])
def test_a_refusal_without_reason_ends_one_call(serve: Any, tmp_path: Path, kind: str, status: str, name: str) -> None:
    server = serve(to_some([4], Fault(status)))
    model = at(server.url, kind)
    missing(requests_to(model, 10), tmp_path, rf"1 of 10 replies are still missing:\n  {model.name}: 1 x {name}")
    tries = {"bad_request": 1}.get(name, 3)
    assert Counter(statuses(tmp_path, model)) == {"ok": 9, name: tries}
    said = missing(requests_to(model, 10), tmp_path, rf"1 of 10 replies are still missing:\n  {model.name}: 1 x {name}")
    assert "params" not in said, "the model took the parameters of all the others"
    assert len(server.calls) == 9 + 2 * tries
    server.behaviour = polite
    assert len(ask(requests_to(model, 10), tmp_path)) == 10


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("page", ["403", "404"])
def test_a_call_that_is_refused_only_once_is_answered(serve: Any, tmp_path: Path, kind: str, page: str) -> None:
    fault = Fault(page, body="<html>Attention required</html>", content_type="text/html")
    server = serve(lambda call: fault if call.n in (3, 5) else polite(call))
    model = at(server.url, kind)
    assert len(ask(requests_to(model, 8), tmp_path, concurrency=1)) == 8
    assert len(server.calls) == 10


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("status", "advice"), [("403", "refused the key|asks for a key"), ("404", "model_id|base_url")]
)
def test_three_refusals_in_a_row_end_the_model(serve: Any, tmp_path: Path, kind: str, status: str, advice: str) -> None:
    server = serve(lambda call: polite(call) if call.n < 5 else Fault(status))
    model = at(server.url, kind)
    missing(requests_to(model, 50), tmp_path, advice, concurrency=1)
    assert len(server.calls) == 5 + 3 * 3, "three calls with all their tries"
    missing(requests_to(model, 50), tmp_path, advice, concurrency=1)
    assert len(server.calls) == 14 + 9, "the next run finds out as quickly"


@pytest.mark.parametrize(("concurrency", "burst"), [(1, 2), (4, 3), (16, 3), (16, 8)])
def test_a_burst_of_refusals_stops_nothing(serve: Any, tmp_path: Path, concurrency: int, burst: int) -> None:
    server = serve(lambda call: Fault("403") if 20 <= call.n < 20 + burst else polite(call))
    model = at(server.url, "own")
    assert len(ask(requests_to(model, 60), tmp_path, concurrency=concurrency)) == 60


@pytest.mark.parametrize(
    ("count", "bad"), [(30, dict.fromkeys(range(2, 30, 3), "403")), (8, {2: "400", 3: "400", 4: "403"})]
)
def test_refusals_between_replies_end_no_model(serve: Any, tmp_path: Path, count: int, bad: dict[int, str]) -> None:
    server = serve(lambda call: step(bad.get(int(call.prompt.split()[3])), call))
    model = at(server.url, "own")
    missing(requests_to(model, count), tmp_path, f"{len(bad)} of {count}", concurrency=1)
    assert statuses(tmp_path, model).count("ok") == count - len(bad)


@pytest.mark.parametrize("kind", EVERY)
def test_a_filtered_first_prompt_proves_nothing_of_the_parameters(serve: Any, tmp_path: Path, kind: str) -> None:
    server = serve(lambda call: refused(CONTENT["azure"]) if "question 0 " in call.prompt else Fault("400"))
    for calls in (4, 7):  # three different requests are refused before it is the parameters
        missing(requests_to(at(server.url, kind), 20), tmp_path, "`params:`", concurrency=1)
        assert len(server.calls) == calls


# Several servers behind one model.


@pytest.mark.parametrize("status", ["forbidden", "not_found", "bad_request"])
@pytest.mark.parametrize("urls", [(A,), (A, B), (A, B, C)])
def test_a_prompt_that_every_server_refuses_costs_no_server(status: str, urls: tuple[str, ...]) -> None:
    refusing = answering(5, lambda at, n, each: Failure(status, "no") if "question 7 " in each.prompt else None)
    found = run(refusing, requests_to(behind(*urls), 300), 4)
    assert Counter(found.said) == {"ok": 299, status: 1}
    assert min(found.calls.values()) > 60, "all servers go on"
    assert not any("is not asked any more" in told for told in found.told)


def test_a_prompt_that_one_server_of_three_filters_is_answered_once(serve: Any, tmp_path: Path) -> None:
    servers = [serve(to_some([5], refused(CONTENT["router"], "403"))) for _ in range(3)]
    urls = tuple(f"{server.url}/v1" for server in servers)
    model = replace(MODELS["own"], base_url=urls[0], servers=urls)
    replies = ask(requests_to(model, 30), tmp_path)
    assert len(replies) == 30 and sum(len(server.calls) for server in servers) == 30
    assert [reply.finish for reply in replies.values()].count("filter") == 1
