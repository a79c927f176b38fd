"""The test server against the three real SDKs, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.behaviours import Call, Fault, Reply, polite, step
from tests.servers.clients import MODELS, PROVIDERS, Clients
from tests.servers.prompts import JUDGE_PROMPT, SCHEMA
from tests.servers.providers import JudgeServer, environment

# google-genai derives from a class of aiohttp that is not meant for it; nothing that a test could mend.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")


def by_prompt(call: Call) -> Reply | Fault:
    """The prompt's first word names the kind of answer."""
    asked = call.prompt.partition(" ")[0]
    special = {
        "wait": Fault("429", retry_after=7),
        "wait-unsaid": Fault("429", retry_after=7, header=False),
        "slow": Fault("slow", seconds=30.0),
        "counted": Reply("four", thoughts=5, cached=1),
        "unicode": Reply("שלום \u200f\ud800 \U0001f600 \x00"),
        "other-model": Reply("x", model="another-one"),
    }
    try:
        return special.get(asked) or step(asked, call)
    except ValueError:
        return polite(call)


@pytest.fixture(scope="module")
def server() -> Iterator[JudgeServer]:
    """One server for all tests that only talk to it."""
    with JudgeServer(by_prompt) as server:
        yield server


@pytest.fixture(scope="module")
def clients(server: JudgeServer) -> Iterator[Clients]:
    """Clients that know the server from the environment."""
    with pytest.MonkeyPatch.context() as patch, asyncio.Runner() as runner:
        for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_API_VERSION"):
            patch.delenv(name, raising=False)
        for name, value in server.env().items():
            patch.setenv(name, value)
        clients = Clients(runner)
        yield clients
        clients.close()


@pytest.mark.parametrize("provider", PROVIDERS)
def test_plain_text(server: JudgeServer, clients: Clients, provider: str) -> None:
    """A question is answered by an essay; usage, model id and ledger agree with a count by hand."""
    before = server.count(provider)
    heard = clients.ask(provider, "Why is the sky blue?!", system="Be brief.")
    assert 60 <= len(heard.text.split()) <= 120
    assert heard.finish == {"openai": "stop", "anthropic": "end_turn", "google": "STOP"}[provider]
    assert heard.model == f"{MODELS[provider]}-2026-01-01"
    # "Be brief." and "Why is the sky blue?!" are 30 characters, so 8 tokens of four.
    assert heard.tokens[:2] == (8, (len(heard.text) + 3) // 4)
    assert server.count(provider) == before + 1
    entry = server.calls[-1]
    assert (entry.provider, entry.model, entry.fault, entry.billed) == (provider, MODELS[provider], None, True)
    assert (entry.input_tokens, entry.output_tokens) == heard.tokens[:2]
    assert (entry.call.system, entry.call.prompt, entry.limit) == ("Be brief.", "Why is the sky blue?!", 2000)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_structured_verdict(server: JudgeServer, clients: Clients, provider: str) -> None:
    """A ranking asked for by schema is one JSON object with the nonce, each label once and falling scores."""
    heard = clients.ask(provider, "Judge these.", schema=SCHEMA)
    verdict = json.loads(heard.text)
    assert list(verdict) == ["id", "ranking", "scores", "justification"]
    assert verdict["id"] == "5eed0001" and sorted(verdict["ranking"]) == ["A", "B", "C"]
    scores = [verdict["scores"][label] for label in verdict["ranking"]]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == 3
    assert server.calls[-1].structured


@pytest.mark.parametrize("provider", PROVIDERS)
def test_text_verdict(clients: Clients, provider: str) -> None:
    """Without a schema the verdict is the last line with our nonce, not the one that a candidate planted."""
    scores, ranking = clients.ask(provider, JUDGE_PROMPT).text.splitlines()[-2:]
    assert ranking.startswith("RANKING-5eed0001: ") and scores.startswith("SCORES-5eed0001: ")
    labels = ranking.split(": ")[1].split(" > ")
    assert sorted(labels) == ["A", "B", "C"]
    points = dict(pair.split("=") for pair in scores.split(": ")[1].split())
    assert [int(points[label]) for label in labels] == [9, 8, 7]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_endings(clients: Clients, provider: str) -> None:
    """Empty, refused, filtered and truncated replies end as each provider says it."""
    heard = {kind: clients.ask(provider, kind) for kind in ("empty", "refusal", "filter", "blocked")}
    heard["length"] = clients.ask(provider, "a long story", limit=5)
    assert len(heard["length"].text) == 20 and heard["length"].tokens[1] == 5
    said = [(kind, part.finish, bool(part.text)) for kind, part in heard.items()]
    assert (
        said
        == {
            "openai": [
                ("empty", "stop", False),
                ("refusal", "stop", False),
                ("filter", "content_filter", False),
                ("blocked", "content_filter", False),
                ("length", "length", True),
            ],
            "anthropic": [
                ("empty", "end_turn", False),
                ("refusal", "refusal", True),
                ("filter", "refusal", False),
                ("blocked", "refusal", False),
                ("length", "max_tokens", True),
            ],
            "google": [
                ("empty", "STOP", False),
                ("refusal", "STOP", True),
                ("filter", "SAFETY", False),
                ("blocked", None, False),
                ("length", "MAX_TOKENS", True),
            ],
        }[provider]
    )
    assert bool(heard["refusal"].refusal) == (provider == "openai")


OPENAI_CLASSES = {
    "400": "BadRequestError",
    "401": "AuthenticationError",
    "403": "PermissionDeniedError",
    "404": "NotFoundError",
    "409": "ConflictError",
    "422": "UnprocessableEntityError",
    "429": "RateLimitError",
    **dict.fromkeys(("402", "408", "413"), "APIStatusError"),
    **dict.fromkeys(("500", "502", "503", "504", "529"), "InternalServerError"),
}
ANTHROPIC_CLASSES = OPENAI_CLASSES | {
    "402": "PaymentRequiredError",
    "408": "RequestTimeoutError",
    "413": "ContentTooLargeError",
    "503": "ServiceUnavailableError",
    "504": "GatewayTimeoutError",
    "529": "OverloadedError",
}
GOOGLE_CLASSES = {kind: "ClientError" if int(kind) < 500 else "ServerError" for kind in OPENAI_CLASSES}
STATUS_CLASSES = {"openai": OPENAI_CLASSES, "anthropic": ANTHROPIC_CLASSES, "google": GOOGLE_CLASSES}


@pytest.mark.parametrize("kind", OPENAI_CLASSES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_statuses(server: JudgeServer, clients: Clients, provider: str, kind: str) -> None:
    """Each status raises the SDK's own class, after exactly one request that nobody pays for."""
    before = server.count(provider)
    with pytest.raises(Exception) as caught:
        clients.ask(provider, kind)
    assert type(caught.value).__name__ == STATUS_CLASSES[provider][kind]
    assert getattr(caught.value, "code" if provider == "google" else "status_code") == int(kind)
    assert server.count(provider) == before + 1
    assert (server.calls[-1].fault, server.calls[-1].billed, server.calls[-1].output_tokens) == (kind, False, 0)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_quota_key_and_retry_after(server: JudgeServer, clients: Clients, provider: str) -> None:
    """An empty account, a wrong key and a pause are told apart in each provider's own way."""

    def error(prompt: str) -> Any:
        with pytest.raises(Exception) as caught:
            clients.ask(provider, prompt)
        return caught.value

    assert error("wait").response.headers.get("Retry-After") == "7"
    unsaid, quota, key = error("wait-unsaid"), error("quota"), error("key")
    assert "Retry-After" not in unsaid.response.headers
    if provider == "openai":
        assert (quota.status_code, quota.code) == (429, "insufficient_quota") and unsaid.code == "rate_limit_exceeded"
        assert (key.status_code, key.code) == (401, "invalid_api_key")
    elif provider == "anthropic":
        assert quota.status_code == 400 and "credit balance" in quota.body["error"]["message"]
        assert (key.status_code, key.body["error"]["type"]) == (401, "authentication_error")
    else:
        pause, empty = unsaid.details["error"]["details"], quota.details["error"]["details"]
        assert pause[-1]["retryDelay"] == "7s" and "PerMinute" in pause[0]["violations"][0]["quotaId"]
        assert quota.code == 429 and "PerDay" in empty[0]["violations"][0]["quotaId"]
        assert key.code == 400 and key.details["error"]["details"][0]["reason"] == "API_KEY_INVALID"
    assert environment("")[{"google": "GEMINI"}.get(provider, provider.upper()) + "_API_KEY"] in str(key)


#: What each SDK raises on its aiohttp transport, and what lies at the bottom of it.
LINE_CLASSES = {
    "dropped": ("APITimeoutError", "APIConnectionError", "ServerDisconnectedError"),
    "reset_early": ("APITimeoutError", "APIConnectionError", "ClientOSError"),
    "reset": ("APIConnectionError", "APIConnectionError", "ClientPayloadError"),
    "truncated": ("APIConnectionError", "APIConnectionError", "ClientPayloadError"),
    "broken_json": ("JSONDecodeError", "JSONDecodeError", "JSONDecodeError"),
}


@pytest.mark.parametrize("kind", LINE_CLASSES)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_broken_lines(server: JudgeServer, clients: Clients, provider: str, kind: str) -> None:
    """An answer that is lost on its way was sent once, and may be billed."""
    before = server.count(provider)
    with pytest.raises(Exception) as caught:
        clients.ask(provider, kind)
    assert type(caught.value).__name__ == LINE_CLASSES[kind][PROVIDERS.index(provider)]
    chain, link = set(), caught.value
    while link:
        chain.add(type(link).__name__)
        link = link.__cause__ or link.__context__
    assert LINE_CLASSES[kind][2] in chain
    assert server.count(provider) == before + 1
    assert (server.calls[-1].fault, server.calls[-1].billed) == (kind, True) and server.calls[-1].output_tokens > 0


@pytest.mark.parametrize("provider", PROVIDERS)
def test_slow(server: JudgeServer, clients: Clients, provider: str) -> None:
    """A reply that is later than the client's timeout was sent once, and may be billed."""
    with pytest.raises(TimeoutError if provider == "google" else Exception) as caught:
        clients.ask(provider, "slow", timeout=2.0)
    assert provider == "google" or type(caught.value).__name__ == "APITimeoutError"
    assert (server.calls[-1].provider, server.calls[-1].fault, server.calls[-1].billed) == (provider, "slow", True)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_usage_and_odd_replies(clients: Clients, provider: str) -> None:
    """Thoughts and cached tokens are counted where each provider counts them; odd text and model ids arrive."""
    thinker = {"openai": "gpt-5-mini", "anthropic": "claude-sonnet-5-5", "google": "gemini-2.5-flash"}[provider]
    # "counted x" are 3 tokens, of which 1 was cached; "four" is 1, after 5 of thought.
    expected = {"openai": (3, 6, 5, 1), "anthropic": (2, 6, 5, 1), "google": (3, 1, 5, 1)}[provider]
    assert clients.ask(provider, "counted x", model=thinker).tokens == expected
    assert clients.ask(provider, "counted x").tokens[2] in (0, None)
    starved = clients.ask(provider, "counted x", model=thinker, limit=4)
    assert not starved.text and starved.finish in ("length", "max_tokens", "MAX_TOKENS")
    assert clients.ask(provider, "unicode").text == "שלום \u200f\ud800 \U0001f600 \x00"
    assert clients.ask(provider, "other-model").model == "another-one"
