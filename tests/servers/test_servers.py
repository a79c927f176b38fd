"""The test server against the three real SDKs, over real HTTP: they find in its replies what it means to say."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import anthropic
import openai
import pytest
from google import genai

from tests.servers.behaviours import Call, Reply, polite, step
from tests.servers.providers import JudgeServer
from tests.servers.test_behaviours import SCHEMA

# google-genai derives from a class of aiohttp that is not meant for it; nothing that a test could mend.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")

MODELS = {"openai": "gpt-4.1", "anthropic": "claude-haiku-4-5", "google": "gemini-2.0-flash"}


class Heard(NamedTuple):
    """What an SDK made of a reply: text, its own word for the end, input, output, reasoning and cached tokens."""

    text: str | None
    finish: str | None
    tokens: tuple[int | None, ...]
    model: str | None
    refusal: str | None = None


async def _openai(sdk: Any, prompt: str, model: str, system: Any, schema: Any, limit: int) -> Heard:
    form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
    reply = await sdk.chat.completions.create(
        model=model,
        messages=[{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": prompt}],
        max_completion_tokens=limit,
        **({"response_format": form} if schema else {}),
    )
    choice, usage = reply.choices[0], reply.usage
    reasoning, cached = usage.completion_tokens_details.reasoning_tokens, usage.prompt_tokens_details.cached_tokens
    counts = (usage.prompt_tokens, usage.completion_tokens, reasoning, cached)
    return Heard(choice.message.content, choice.finish_reason, counts, reply.model, choice.message.refusal)


async def _anthropic(sdk: Any, prompt: str, model: str, system: Any, schema: Any, limit: int) -> Heard:
    more = {"system": system} if system else {}
    more |= {"output_config": {"format": {"type": "json_schema", "schema": schema}}} if schema else {}
    messages = [{"role": "user", "content": prompt}]
    reply = await sdk.messages.create(model=model, messages=messages, max_tokens=limit, **more)
    usage = reply.usage
    thoughts = usage.output_tokens_details.thinking_tokens
    counts = (usage.input_tokens, usage.output_tokens, thoughts, usage.cache_read_input_tokens)
    return Heard("".join(block.text for block in reply.content) or None, reply.stop_reason, counts, reply.model)


async def _google(sdk: Any, prompt: str, model: str, system: Any, schema: Any, limit: int) -> Heard:
    config = {"max_output_tokens": limit} | ({"system_instruction": system} if system else {})
    config |= {"response_mime_type": "application/json", "response_json_schema": schema} if schema else {}
    reply = await sdk.models.generate_content(model=model, contents=prompt, config=config)
    usage, finish = reply.usage_metadata, reply.candidates[0].finish_reason.name if reply.candidates else None
    counts = (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count)
    return Heard(reply.text, finish, (*counts, usage.cached_content_token_count), reply.model_version)


def by_prompt(call: Call) -> Reply:
    """The prompt's first word names the kind of answer."""
    asked = call.prompt.partition(" ")[0]
    special = {
        "counted": Reply("four", thoughts=5, cached=1),
        "unicode": Reply("שלום \u200f\ud800 \U0001f600 \x00"),
        "other-model": Reply("x", model="another-one"),
    }
    kind = asked if asked in ("empty", "refusal", "filter", "blocked") else None
    return special.get(asked) or (step(kind, call) if kind else polite(call))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    for name in ("GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_API_VERSION"):
        monkeypatch.delenv(name, raising=False)
    with JudgeServer(by_prompt) as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        yield server


@pytest.fixture(params=MODELS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def ask(server: JudgeServer, provider: str) -> Iterator[Callable[..., Heard]]:
    """Asks through an SDK that knows the server from the environment; settings are model, system, schema and limit."""

    async def client() -> Any:
        if provider == "google":
            return genai.Client(http_options={"retry_options": {"attempts": 1}}).aio
        made = {"openai": openai.AsyncOpenAI, "anthropic": anthropic.AsyncAnthropic}[provider]
        return made(max_retries=0, timeout=20.0)

    with asyncio.Runner() as runner:
        sdk = runner.run(client())
        how = {"openai": _openai, "anthropic": _anthropic, "google": _google}[provider]
        given = {"model": MODELS[provider], "system": None, "schema": None, "limit": 2000}
        yield lambda prompt, **settings: runner.run(how(sdk, prompt, **{**given, **settings}))
        runner.run(sdk.aclose() if provider == "google" else sdk.close())


def test_plain_text_and_an_object_by_schema(server: JudgeServer, ask: Any, provider: str) -> None:
    """A question is answered by an essay; usage, model id and ledger agree with a count by hand."""
    heard = ask("Why is the sky blue?!", system="Be brief.")
    assert 60 <= len(heard.text.split()) <= 120
    assert heard.finish == {"openai": "stop", "anthropic": "end_turn", "google": "STOP"}[provider]
    assert heard.model == f"{MODELS[provider]}-2026-01-01"
    # "Be brief." and "Why is the sky blue?!" are 30 characters, so 8 tokens of four.
    assert heard.tokens[:2] == (8, (len(heard.text) + 3) // 4)
    [entry] = server.calls
    assert (entry.provider, entry.model, entry.fault, entry.billed) == (provider, MODELS[provider], None, True)
    assert (entry.input_tokens, entry.output_tokens) == heard.tokens[:2]
    assert (entry.call.system, entry.call.prompt, entry.limit) == ("Be brief.", "Why is the sky blue?!", 2000)
    verdict = json.loads(ask("Judge these.", schema=SCHEMA).text)
    assert list(verdict) == ["id", "ranking", "scores", "justification"] and server.calls[-1].structured
    assert verdict["id"] == "5eed0001" and sorted(verdict["ranking"]) == ["A", "B", "C"]


def test_endings(ask: Any, provider: str) -> None:
    """Empty, refused, filtered and truncated replies end as each provider says it."""
    heard = [ask(kind) for kind in ("empty", "refusal", "filter", "blocked")] + [ask("a long story", limit=5)]
    assert len(heard[-1].text) == 20 and heard[-1].tokens[1] == 5
    assert [each.finish for each in heard] == {
        "openai": ["stop", "stop", "content_filter", "content_filter", "length"],
        "anthropic": ["end_turn", "refusal", "refusal", "refusal", "max_tokens"],
        "google": ["STOP", "STOP", "SAFETY", None, "MAX_TOKENS"],
    }[provider]
    assert [bool(each.text) for each in heard] == [False, provider != "openai", False, False, True]
    assert bool(heard[1].refusal) == (provider == "openai")


def test_usage_and_odd_replies(ask: Any, provider: str) -> None:
    """Thoughts and cached tokens are counted where each provider counts them; odd text and model ids arrive."""
    thinker = {"openai": "gpt-5-mini", "anthropic": "claude-sonnet-5-5", "google": "gemini-2.5-flash"}[provider]
    # "counted x" are 3 tokens, of which 1 was cached; "four" is 1, after 5 of thought.
    expected = {"openai": (3, 6, 5, 1), "anthropic": (2, 6, 5, 1), "google": (3, 1, 5, 1)}[provider]
    assert ask("counted x", model=thinker).tokens == expected
    assert ask("counted x").tokens[2] in (0, None)
    starved = ask("counted x", model=thinker, limit=4)
    assert not starved.text and starved.finish in ("length", "max_tokens", "MAX_TOKENS")
    assert ask("unicode").text == "שלום \u200f\ud800 \U0001f600 \x00"
    assert ask("other-model").model == "another-one"
