"""Keys of the environment reach no store, no error and no screen, whatever a service or an SDK says."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Incomplete
from helpers.providers import keys, meanings
from helpers.types import Model
from tests.engine.asking import MODELS, PROVIDERS, ask, requests_to
from tests.engine.traces import attempts, everything, stored
from tests.leaks import PLANTED, leaks, spelled
from tests.servers.answering import answering
from tests.servers.behaviours import Fault, Reply, only

VARIABLES = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "google": "GEMINI_API_KEY"}


@pytest.fixture
def plant(serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A server, and keys in the environment that look like real ones."""

    def start(*behaviour: Any) -> Any:
        server = serve(*behaviour)
        for name, value in PLANTED.items():
            monkeypatch.setenv(name, value)
        return server

    return start


def echo(provider: str) -> str:
    """Everything that a hostile service can make of the key that it was sent."""
    value = PLANTED[VARIABLES[provider]]
    ways = [form.decode() for form in spelled(value).values()]
    return f"Incorrect key {' '.join(ways)}, Bearer {value}, {value[:8]}{'*' * 20}{value[-4:]}, ****{value[-4:]}"


def clean(text: bytes | str, provider: str) -> bool:
    """Whether a text holds neither a key nor what services show of one."""
    tail = PLANTED[VARIABLES[provider]][-4:]
    return not leaks(text) and tail not in (text if isinstance(text, str) else text.decode())


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("kind", ["401", "400", "500", "429"])
def test_an_error_with_the_key_leaves_no_trace(
    plant: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str], provider: str, kind: str
) -> None:
    plant(lambda call: Fault(kind, message=echo(call.provider), retry_after=0.1) if call.attempt < 3 else Fault("401"))
    with pytest.raises(Incomplete) as error:
        ask(requests_to(MODELS[provider], 3), tmp_path, show=True)
    said = "".join(capfd.readouterr()) + str(error.value) + repr(error.value)
    assert clean(said, provider) and clean(everything(tmp_path), provider)
    first = attempts(tmp_path, MODELS[provider])[0]
    assert f"[{VARIABLES[provider]}]" in first["raw"] and "Incorrect key" in first["raw"], "the rest is kept"
    assert f"[{VARIABLES[provider]}]" in first["reply"]["error"]


def test_a_failure_holds_no_key_and_no_half_of_one(plant: Any) -> None:
    plant()
    value = PLANTED["OPENAI_API_KEY"]
    failure = meanings.Failure("auth", "x" * 280 + value, raw=f'{{"message": "{value}"}}')
    assert failure.error == "x" * 280 + "[OPENAI_API_KEY]" and failure.raw == '{"message": "[OPENAI_API_KEY]"}'
    assert not leaks(str(failure) + repr(failure.args))


def test_the_environment_is_read_once_a_run(plant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant()
    looked, secrets = [], keys.secrets
    monkeypatch.setattr(keys, "secrets", lambda: looked.append(1) or secrets())
    ask(requests_to(MODELS["openai"], 2), tmp_path / "few")
    few = len(looked)
    ask(requests_to(MODELS["openai"], 12), tmp_path / "many")
    assert 0 < len(looked) - few == few


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_reply_that_echoes_the_key_is_stored_without_it(plant: Any, tmp_path: Path, provider: str) -> None:
    plant(only(Reply(echo(provider))))
    (returned,) = ask(requests_to(MODELS[provider], 1), tmp_path).values()
    (reply,) = stored(tmp_path, MODELS[provider]).values()
    assert clean(everything(tmp_path), provider) and clean(reply.text + reply.raw, provider)
    assert returned == replace(reply, raw="")
    assert reply.text.startswith(f"Incorrect key [{VARIABLES[provider]}] ")
    assert json.loads(reply.raw), "the body is a body still"


def test_a_key_in_escapes_pieces_and_headers_is_not_stored(plant: Any, tmp_path: Path) -> None:
    plant()
    value = PLANTED["OPENAI_API_KEY"]
    escaped = value[:9] + spelled(value)["JSON, ASCII escapes"].decode()[9 * 6 :]
    parts = [{"type": "text", "text": value[:20]}, {"type": "text", "text": value[20:]}]
    bodies = {
        "escaped": '{"choices": [{"message": {"content": "it is KEY"}, "finish_reason": "stop"}]}'.replace(
            "KEY", escaped
        ),
        "parts": json.dumps({"choices": [{"message": {"content": parts}, "finish_reason": "stop"}], "model": value}),
    }
    for name, body in bodies.items():
        with answering(body) as url:
            model = Model(name, "openai", "m", "x", base_url=url, revision={}, api_key_env="OPENAI_API_KEY")
            ask(requests_to(model, 1), tmp_path)
        (reply,) = stored(tmp_path, model).values()
        assert reply.text.endswith("[OPENAI_API_KEY]") and not leaks(reply.raw.replace('"}, {"', "")), name
        assert not leaks(json.dumps(json.loads(reply.raw), ensure_ascii=False)), name
    assert not leaks(everything(tmp_path))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_exception_that_tells_the_key_is_said_without_it(
    plant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], provider: str
) -> None:
    plant()
    value = PLANTED[VARIABLES[provider]]

    async def fail(*_: Any) -> None:
        try:
            raise KeyError(value)
        except KeyError as error:
            raise TypeError(f"cannot send {{'x-api-key': {value!r}}}") from error

    monkeypatch.setattr(f"helpers.providers.{provider}.send", fail)
    with pytest.raises(RuntimeError, match=r"TypeError: cannot send \{'x-api-key': '\[\w+_API_KEY\]'\}") as error:
        ask(requests_to(MODELS[provider], 1), tmp_path, show=True)
    shown = "".join(traceback.format_exception(error.value))
    assert not leaks(shown) and not leaks("".join(capfd.readouterr())) and not leaks(everything(tmp_path))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("sign", ["\n", "\u00e9"])
def test_a_key_of_no_header_is_not_shown(
    plant: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, sign: str
) -> None:
    plant()
    value = PLANTED[VARIABLES[provider]]
    monkeypatch.setenv(VARIABLES[provider], f"{value[:20]}{sign}{value[20:]}")
    shown = ""
    try:
        ask(requests_to(MODELS[provider], 1), tmp_path)
    except Exception as error:  # the SDKs refuse different signs, each in its own words
        shown = "".join(traceback.format_exception(error)) + repr(error)
    shown += everything(tmp_path).decode()
    assert value[:20] not in shown and value[20:] not in shown


@pytest.mark.parametrize("before, after", [(0, 0), (3, 0), (0, 9), (3, 6), (4, 5), (9, 0)])
@pytest.mark.parametrize("place", ["prompt", "system", "params", "model_id", "revision"])
def test_a_key_in_what_would_be_sent_is_refused(
    plant: Any, tmp_path: Path, place: str, before: int, after: int
) -> None:
    server = plant()
    value, (request,) = PLANTED["ANTHROPIC_API_KEY"], requests_to(MODELS["openai"], 1)
    changed = {
        "prompt": replace(request, source=f"My key is {value}. What is wrong?"),
        "system": replace(request, system=value),
        "model_id": replace(request, model=replace(request.model, model_id=value)),
        "params": replace(request, model=replace(request.model, params={"extra_headers": {"Authorization": value}})),
        "revision": replace(
            request, model=replace(request.model, base_url="http://127.0.0.1:9/v1", revision={"weights": value})
        ),
    }[place]
    others = requests_to(MODELS["openai"], before + after, "What else is asked")
    labels = {changed.key: {"question_id": "writing_7"}}
    told = "writing_7, as gpt would see it, holds the value of ANTHROPIC_API_KEY"
    with pytest.raises(ValueError, match=told) as error:
        ask([*others[:before], changed, *others[before:]], tmp_path, labels=labels)
    assert server.calls == [] and not list(tmp_path.glob("*.jsonl")) and not leaks(str(error.value))
    with pytest.raises(ValueError, match="a question, as gpt would see it") as error:
        ask([request], tmp_path, labels={request.key: {"question_id": value}})
    assert not leaks(str(error.value))
    (asked,) = ask([replace(request, source="It ends in sk-0123456789abcdef01234567: whose is it?")], tmp_path).values()
    assert asked.text, "what only looks like a key is research material"


def test_of_prompts_that_share_a_text_with_a_key_the_first_is_named(plant: Any, tmp_path: Path) -> None:
    server = plant()
    harmless = requests_to(MODELS["openai"], 3)
    holding = [
        replace(request, system=PLANTED["ANTHROPIC_API_KEY"])
        for kind in ("anthropic", "openai")
        for request in requests_to(MODELS[kind], 2)
    ]
    labels = {request.key: {"question_id": f"writing_{number}"} for number, request in enumerate(holding)}
    with pytest.raises(ValueError, match="writing_0, as claude would see it, holds the value of ANTHROPIC_API_KEY"):
        ask([*harmless, *holding], tmp_path, labels=labels)
    assert server.calls == []


def test_what_a_notice_says_holds_no_key(plant: Any, capfd: pytest.CaptureFixture[str]) -> None:
    from helpers.judge import notice

    plant()
    notice(f"asked with {PLANTED['OPENAI_API_KEY']}")
    assert capfd.readouterr().err == "asked with [OPENAI_API_KEY]\n"
    assert keys.found(PLANTED["GEMINI_API_KEY"]) == ["GEMINI_API_KEY"]
