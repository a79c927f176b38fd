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

from helpers.judge import Budget, Incomplete, judge_all
from helpers.judge.budget import worst_case
from helpers.providers import Failure, meanings
from helpers.types import Judgment, Model, Price, Trial
from tests.engine.asking import EVERY, MODELS, FakeClock, ask, at, attempts, requests_to, statuses
from tests.engine.test_fleet_faults import A, B, C, answering, behind, run
from tests.servers.behaviours import Behaviour, Fault, only, polite


def error(message: str, **fields: Any) -> str:
    return json.dumps({"error": {"message": message, **fields}})


#: Bodies by which services refuse one prompt for what it holds, each in the form in which one of them speaks.
CONTENT = {
    "azure": error("The prompt triggered the content management policy.", code="content_filter", param="prompt"),
    "openai": error("Invalid prompt: it was flagged as potentially against our usage policy.", code="invalid_prompt"),
    "image": error("Rejected by the safety system.", code="content_policy_violation"),
    "anthropic": json.dumps(
        {"type": "error", "error": {"type": "invalid_request_error", "message": "Output blocked by content filtering"}}
    ),
    "router": error("The input was flagged by moderation", code=403, metadata={"reasons": ["violence"]}),
    "quoting": error("Flagged", code=403, metadata={"flagged_input": "my account in this country has an API key"}),
    "grok": error("Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"),
    "xai": json.dumps(
        {
            "code": "The caller does not have permission to execute the specified operation",
            "error": "Content violates usage guidelines. Team: t-1, API key ID: k-2, Model: grok-4-0709, Failed check: "
            "SAFETY_CHECK_TYPE_BIO",
        }
    ),
    "gemini": error("The prompt was blocked.", status="INVALID_ARGUMENT", details=[{"reason": "PROHIBITED_CONTENT"}]),
    "qwen": error("Input data may contain inappropriate content.", code="data_inspection_failed"),
    "deepseek": error("Content Exists Risk", type="invalid_request_error"),
    "moonshot": error("The request was rejected because it was considered high risk", type="content_filter"),
    "glm": error("\u7cfb\u7edf\u68c0\u6d4b\u5230\u654f\u611f\u5185\u5bb9", code="1301"),
    "proxy": json.dumps({"error": {"message": "ContentPolicyViolationError", "code": "400"}}),
    "guard": json.dumps({"detail": "Prompt blocked by guardrail"}),
    "flat": json.dumps({"code": "content_filter", "message": "Refused."}),
}
#: Bodies that sound alike and concern the account, the place or the form of all calls; or a firewall's page.
OF_EVERY_CALL = {
    "service": error(
        "Requests to this API method google.ai.GenerateContent are blocked.",
        status="PERMISSION_DENIED",
        details=[{"reason": "API_KEY_SERVICE_BLOCKED"}],
    ),
    "account": error("Your account was flagged for a violation of our usage policies."),
    "organization": error("Blocked by your organization's content policy settings."),
    "country": error("Country, region, or territory not supported", code="unsupported_country_region_territory"),
    "location": error("User location is not supported for the API use.", status="FAILED_PRECONDITION"),
    "type": error("Unsupported content type: content blocked"),
    "terminated": error("Your access was terminated due to violation of our usage policies", code="access_terminated"),
    "key": error("This key has been flagged for abuse."),
    "guardrail": error("The guardrail identifier or version provided in the request does not exist."),
    "parameter": error("Unrecognized request argument supplied: moderation"),
    "echo": json.dumps({"detail": [{"msg": "Too small", "input": {"type": "moderation", "reason": "flagged"}}]}),
    "address": error("Input from this IP is blocked"),
    "page": "<html><title>Attention required</title>Sorry, you have been blocked: content policy, moderation</html>",
    "text": "content_filter",
    "request": error("Your request was blocked."),
    "list": "[]",
    "nothing": "",
}


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
def test_a_prompt_refused_for_its_content_is_filtered_and_the_rest_is_asked(
    serve: Any, tmp_path: Path, service: str, status: str
) -> None:
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
    assert Counter(each.outcome for each in found) == {"ok": 17, "filtered": 3}
    assert len(server.calls) == 20 and statuses(tmp_path, model) == ["ok"] * 20
    account, worst = budget.account.total, worst_case(found[0].trial.request)
    assert (account.attempts, account.maybe_billed) == (20, 3), "some services bill what they refuse"
    assert account.maybe_billed_usd == pytest.approx(3 * worst, rel=0.01)


def test_what_was_filtered_is_counted_by_judge_and_condition(serve: Any, tmp_path: Path) -> None:
    server = serve(to_some([1, 3, 4], refused(CONTENT["router"], "403")))
    found = judged(at(server.url, "own"), 8, tmp_path)
    counts = Counter((each.trial.condition, each.outcome) for each in found)
    assert counts == {("hinted", "filtered"): 2, ("hinted", "ok"): 2, ("none", "filtered"): 1, ("none", "ok"): 3}


@pytest.mark.parametrize("body", OF_EVERY_CALL)
@pytest.mark.parametrize("status", ["400", "403"])
def test_what_concerns_every_call_is_no_filter(serve: Any, tmp_path: Path, body: str, status: str) -> None:
    server = serve(only(refused(OF_EVERY_CALL[body], status)))
    model = at(server.url, "own")
    with pytest.raises(Incomplete, match="6 of 6"):
        ask(requests_to(model, 6), tmp_path)
    assert statuses(tmp_path, model) == {"400": ["bad_request"] * 3, "403": ["forbidden"]}[status]


@pytest.mark.parametrize(
    "message",
    [
        "Your API token was flagged",
        "User 123 has been flagged for abuse",
        "This user has been suspended for repeated content policy violations",
        "Access denied: content policy",
        "Guardrail 'strict' not found",
        "Guardrail budget limit exceeded",
        "No allowed providers available for the selected model under your guardrail",
        "Unknown parameter: 'moderation'.",
        "Inappropriate value for parameter temperature",
        "The model was flagged as deprecated",
        "Moderation service is unavailable",
        "moderation endpoint timed out",
        "You must accept the usage policy before using this model",
        "Request flagged as automated traffic",
        "Request blocked: prompt caching is not enabled",
        "The content filter 'strict' is not deployed",
        "Rate limit: your requests are considered high risk",
        "Request blocked by cross-origin content policy",
        "1 validation error [type=missing, input_value={'content': 'Should moderation be flagged?'}]",
        "This payment was flagged as high risk",
    ],
)
def test_an_error_of_key_account_or_form_is_never_stored_for_a_refusal(message: str) -> None:
    assert not meanings.refuses_content(error(message))


@pytest.mark.parametrize("status", ["401", "404", "429", "500"])
def test_other_statuses_are_no_filter_whatever_their_words(serve: Any, tmp_path: Path, status: str) -> None:
    server = serve(to_some([2], refused(CONTENT["azure"], status)))
    with pytest.raises(Incomplete):
        ask(requests_to(at(server.url, "own"), 4), tmp_path)
    assert "ok" in statuses(tmp_path, at(server.url, "own"))
    assert not any(line["reply"]["finish"] == "filter" for line in attempts(tmp_path, at(server.url, "own")))


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(("status", "name"), [("403", "forbidden"), ("404", "not_found"), ("400", "bad_request")])
def test_a_refusal_without_a_reason_ends_one_call_of_a_model_that_has_answered(
    serve: Any, tmp_path: Path, kind: str, status: str, name: str
) -> None:
    server = serve(to_some([4], Fault(status)))
    model = at(server.url, kind)
    with pytest.raises(Incomplete, match=rf"1 of 10 replies are still missing:\n  {model.name}: 1 x {name}"):
        ask(requests_to(model, 10), tmp_path)
    tries = {"bad_request": 1}.get(name, 3)
    assert Counter(statuses(tmp_path, model)) == {"ok": 9, name: tries}
    with pytest.raises(Incomplete, match=rf"1 of 10 replies are still missing:\n  {model.name}: 1 x {name}") as error:
        ask(requests_to(model, 10), tmp_path)
    assert "params" not in str(error.value), "the model took the parameters of all the others"
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
def test_three_calls_in_a_row_that_are_refused_end_the_model(
    serve: Any, tmp_path: Path, kind: str, status: str, advice: str
) -> None:
    server = serve(lambda call: polite(call) if call.n < 5 else Fault(status))
    model = at(server.url, kind)
    with pytest.raises(Incomplete, match=advice):
        ask(requests_to(model, 50), tmp_path, concurrency=1)
    assert len(server.calls) == 5 + 3 * 3, "three calls with all their tries"
    with pytest.raises(Incomplete, match=advice):
        ask(requests_to(model, 50), tmp_path, concurrency=1)
    assert len(server.calls) == 14 + 9, "the next run finds out as quickly"


@pytest.mark.parametrize(("concurrency", "burst"), [(1, 2), (4, 3), (16, 3), (16, 8)])
def test_a_burst_of_refusals_that_passes_stops_nothing(
    serve: Any, tmp_path: Path, concurrency: int, burst: int
) -> None:
    server = serve(lambda call: Fault("403") if 20 <= call.n < 20 + burst else polite(call))
    model = at(server.url, "own")
    assert len(ask(requests_to(model, 60), tmp_path, concurrency=concurrency)) == 60


def test_refusals_with_replies_between_them_never_end_a_model(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: Fault("403") if int(call.prompt.split()[3]) % 3 == 2 else polite(call))
    model = at(server.url, "own")
    with pytest.raises(Incomplete, match="10 of 30"):
        ask(requests_to(model, 30), tmp_path, concurrency=1)
    assert statuses(tmp_path, model).count("ok") == 20


@pytest.mark.parametrize("kind", EVERY)
def test_a_filtered_first_prompt_proves_nothing_of_the_parameters(serve: Any, tmp_path: Path, kind: str) -> None:
    server = serve(lambda call: refused(CONTENT["azure"]) if "question 0 " in call.prompt else Fault("400"))
    with pytest.raises(Incomplete, match="`params:`"):
        ask(requests_to(at(server.url, kind), 20), tmp_path, concurrency=1)
    assert len(server.calls) == 4, "three different requests are refused before it is the parameters"


def test_prompts_that_are_too_long_are_no_refusals_of_all_calls(serve: Any, tmp_path: Path) -> None:
    bad = {2: Fault("400"), 3: Fault("400"), 4: Fault("403")}
    server = serve(lambda call: bad.get(int(call.prompt.split()[3]), polite(call)))
    model = at(server.url, "own")
    with pytest.raises(Incomplete, match="3 of 8"):
        ask(requests_to(model, 8), tmp_path, concurrency=1)
    assert statuses(tmp_path, model).count("ok") == 5


def test_stored_refusals_alone_prove_no_parameters_to_the_next_run(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: refused(CONTENT["azure"]) if "question 0 " in call.prompt else Fault("400"))
    model = at(server.url, "own")
    for calls in (4, 7):
        with pytest.raises(Incomplete, match="`params:`"):
            ask(requests_to(model, 20), tmp_path, concurrency=1)
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


@pytest.mark.parametrize("nested", ["[" * 100_000, '{"error":' * 100_000, "x" * 100_000])
def test_an_error_of_any_depth_is_read_without_harm(nested: str) -> None:
    assert not meanings.refuses_content(nested)
