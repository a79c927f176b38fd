"""The three real SDKs behind one method, so that a test can be written once for all of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

PROVIDERS = ("openai", "anthropic", "google")
MODELS = {"openai": "gpt-4.1", "anthropic": "claude-haiku-4-5", "google": "gemini-2.0-flash"}


@dataclass(frozen=True)
class Heard:
    """What an SDK made of a reply: text, its own word for the end, input, output, reasoning and cached tokens."""

    text: str | None
    finish: str | None
    tokens: tuple[int | None, ...]
    model: str | None
    refusal: str | None = None


class Clients:
    """The three async clients, configured by the environment alone, in one event loop."""

    def __init__(self, runner: asyncio.Runner) -> None:
        """Opens them inside the loop."""
        self.runner = runner
        runner.run(self._open())

    async def _open(self) -> None:
        import anthropic
        import openai
        from google import genai

        self.openai = openai.AsyncOpenAI(max_retries=0, http_client=openai.DefaultAioHttpClient())
        self.anthropic = anthropic.AsyncAnthropic(max_retries=0, http_client=anthropic.DefaultAioHttpClient())
        self.google = genai.Client(http_options={"retry_options": {"attempts": 1}})

    async def _close(self) -> None:
        await self.openai.close()
        await self.anthropic.close()
        await self.google.aio.aclose()

    def close(self) -> None:
        """Closes them inside the loop."""
        self.runner.run(self._close())

    def ask(self, provider: str, prompt: str, **settings: Any) -> Heard:
        """One reply; settings are model, system, schema, limit and timeout (seconds)."""
        given = {"model": MODELS[provider], "system": None, "schema": None, "limit": 2000, "timeout": 20.0} | settings
        return self.runner.run(getattr(self, f"_{provider}")(prompt, **given))

    async def _openai(self, prompt: str, model: str, system: Any, schema: Any, limit: int, timeout: float) -> Heard:
        form = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}
        reply = await self.openai.chat.completions.create(
            model=model,
            messages=[{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": prompt}],
            max_completion_tokens=limit,
            timeout=timeout,
            **({"response_format": form} if schema else {}),
        )
        choice, usage = reply.choices[0], reply.usage
        reasoning, cached = usage.completion_tokens_details.reasoning_tokens, usage.prompt_tokens_details.cached_tokens
        counts = (usage.prompt_tokens, usage.completion_tokens, reasoning, cached)
        return Heard(choice.message.content, choice.finish_reason, counts, reply.model, choice.message.refusal)

    async def _anthropic(self, prompt: str, model: str, system: Any, schema: Any, limit: int, timeout: float) -> Heard:
        form = {"output_config": {"format": {"type": "json_schema", "schema": schema}}} if schema else {}
        reply = await self.anthropic.messages.create(
            model=model,
            messages=[{"role": "user", "content": prompt}],
            max_tokens=limit,
            timeout=timeout,
            **({"system": system} if system else {}),
            **form,
        )
        usage = reply.usage
        thoughts = usage.output_tokens_details.thinking_tokens
        counts = (usage.input_tokens, usage.output_tokens, thoughts, usage.cache_read_input_tokens)
        return Heard("".join(block.text for block in reply.content) or None, reply.stop_reason, counts, reply.model)

    async def _google(self, prompt: str, model: str, system: Any, schema: Any, limit: int, timeout: float) -> Heard:
        config = {"max_output_tokens": limit, "http_options": {"timeout": int(1000 * timeout)}}
        config |= {"system_instruction": system} if system else {}
        config |= {"response_mime_type": "application/json", "response_json_schema": schema} if schema else {}
        reply = await self.google.aio.models.generate_content(model=model, contents=prompt, config=config)
        usage, finish = reply.usage_metadata, None
        if reply.candidates:
            finish = reply.candidates[0].finish_reason.name
        counts = (usage.prompt_token_count, usage.candidates_token_count, usage.thoughts_token_count)
        return Heard(reply.text, finish, (*counts, usage.cached_content_token_count), reply.model_version)
