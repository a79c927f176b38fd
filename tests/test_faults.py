"""Faults in files of settings: told with the line, in words of our own, and without what could be a key."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from helpers.claims import Claim
from helpers.config import (
    CollectionConfig,
    CollectionParameters,
    ConfigError,
    ExperimentConfig,
    Parameters,
    load_limits,
    load_models,
)
from helpers.config.models import LimitEntry, ModelEntry
from helpers.config.yaml_text import checked, line_of, parse_yaml
from helpers.datasets.bias_templates import BiasTemplate, MetricLine

ENTRY = "# A comment.\nfirst: {provider: openai, model_id: m, vendor: v}\nmine:\n  provider: openai\n  vendor: v\n"
KEY = "hunter2-hunter2-hunter2"


def told_of(folder: Path, text: str, file: str = "models.yaml") -> str:
    """The error of a file with this text."""
    path = folder / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        load_models(path) if file == "models.yaml" else load_limits(None, path)
    return str(error.value)


WRONG = {
    "price: 3": "line 7: price: expected named settings (input, output), found a number",
    "price: {input: dear, output: 1}": "line 7: price.input = 'dear': Input should be a valid number",
    "price:\n    output: 1\n    input: -1": "line 9: price.input = -1: Input should be greater than or equal to 0",
    "price: {input: 1}": "line 7: key 'price.output' is missing",
    "price: {inpt: 1, input: 1, output: 2}": "line 7: unknown key 'price.inpt'; valid keys: input, output",
    "max_tokens: 0": "line 7: max_tokens = 0: Input should be greater than or equal to 1",
    "params: [a]": "line 7: params = (not shown): Input should be a valid dictionary",
    "tier: x\n  context: 0.5": "line 8: context = 0.5: Input should be a valid integer",
    "timeout_seconds: 0": "line 7: timeout_seconds = 0: Input should be greater than 0",
    "timeout_seconds: 1 min": "line 7: timeout_seconds = '1 min': Input should be a valid number",
    "concurrency: 0": "line 7: concurrency = 0: Input should be greater than or equal to 1",
    "concurrency: 2.5": "line 7: concurrency = 2.5: Input should be a valid integer",
    "traits: {primacy: 1}": "line 7: traits = {'primacy': 1}: these are the knobs of simulated models",
    "params: {a: 1, n: 2}": "line 7: params = (not shown): may not hold n: ",
    "base_url: http://127.0.0.1:8000/v1": "line 7: base_url = (not shown): needs `revision:`",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_entry_is_told_with_its_line(tmp_path: Path, text: str) -> None:
    told = told_of(tmp_path, f"{ENTRY}  model_id: m\n  {text}\n")
    assert told.startswith(f"models.yaml, model 'mine': {WRONG[text]}"), told
    assert told.count("line ") == 1


def test_several_faults_have_a_line_each_and_what_is_missing_that_of_its_entry(tmp_path: Path) -> None:
    told = told_of(tmp_path, f"{ENTRY}  max_tokens: many\n  structured: 1\n")
    assert told == (
        "models.yaml, model 'mine': line 3: key 'model_id' is missing; line 6: max_tokens = 'many': Input should "
        "be a valid integer; line 7: structured = 1: Input should be a valid boolean"
    )


@pytest.mark.parametrize(
    "line",
    [
        *(
            f"api_key: {KEY}",
            f"API_KEY: {KEY}",
            f"token: {KEY}",
            f"openai_api_key: {KEY}",
            f"API_TOKEN: {KEY}",
            f"groqApiKey: {KEY}",
            f"HF_TOKEN: [{KEY}]",
            f"password: {KEY}",
            f"authorization: Bearer {KEY}",
            "OPENROUTER_API_KEY:",
            f"params: {{api_key: {KEY}}}",
            f"price: {{key: {KEY}}}",
        ),
        f"params: {{extra_headers: {{Authorization: Bearer {KEY}}}}}",
        f"params: {{routes: [{{name: a, api_key: {KEY}}}]}}",
        f"params: {{OPENAI_API_KEY: {KEY}}}",
        f"params: {{extra_headers: {{x-goog-api-key: {KEY}}}}}",
        f"params: {{extra_body: {{Access_Token: {KEY}}}}}",
    ],
)
def test_a_key_in_the_file_is_answered_by_where_it_belongs_and_never_shown(tmp_path: Path, line: str) -> None:
    told = told_of(tmp_path, f"{ENTRY}  model_id: m\n  {line}\n")
    assert "line 7: " in told and "`api_key_env: MY_SERVER_KEY`" in told and ".env.example" in told
    assert KEY not in told


def test_what_only_sounds_like_a_key_is_none(tmp_path: Path) -> None:
    """A number is a limit that was misspelt, and providers have parameters of such names."""
    assert "valid keys: provider, model_id" in told_of(tmp_path, f"{ENTRY}  model_id: m\n  max_token: 100\n")
    assert "valid keys: provider, model_id" in told_of(tmp_path, f"{ENTRY}  model_id: m\n  key_env: MY_KEY\n")
    params = "{prompt_cache_key: a, stop_token: x, extra_body: {eos_token: y, key: z}}"
    (tmp_path / "models.yaml").write_text(f"{ENTRY}  model_id: m\n  params: {params}\n", encoding="utf-8")
    assert load_models(tmp_path / "models.yaml")["mine"].params["stop_token"] == "x"


@pytest.mark.parametrize("text", [f"mine: {KEY}", f"{ENTRY}  model_id: m\n  api_key_env: {KEY}"])
def test_a_key_in_a_wrong_place_is_not_shown(tmp_path: Path, text: str) -> None:
    told = told_of(tmp_path, text)
    assert KEY not in told and ("found a text" in told or "name of the environment variable" in told)


HOST = "https://g.example.com"


@pytest.mark.parametrize(
    ("provider", "address", "right"),
    [
        ("openai", "http://127.0.0.1:8000/v1/chat/completions", "http://127.0.0.1:8000/v1"),
        ("openai", "https://openrouter.ai/api/v1/chat/completions/", "https://openrouter.ai/api/v1"),
        ("openai", "http://gpu-box:8000/v1/completions", "http://gpu-box:8000/v1"),
        ("openai", "http://gpu-box:8000/v1/responses", "http://gpu-box:8000/v1"),
        ("openai", "http://gpu-box:8000/v1/models", "http://gpu-box:8000/v1"),
        ("openai", "http://gpu-box:8000/v1/embeddings/", "http://gpu-box:8000/v1"),
        ("openai", f"{HOST}/api/paas/v4/images/generations", f"{HOST}/api/paas/v4"),
        ("anthropic", f"{HOST}/v1/messages", HOST),
        ("anthropic", f"{HOST}/claude/v1/messages", f"{HOST}/claude"),
        ("anthropic", f"{HOST}/v1/messages/batches", HOST),
        ("anthropic", f"{HOST}/v1/messages/count_tokens", HOST),
        ("anthropic", f"{HOST}/v1/models", HOST),
        ("google", f"{HOST}/v1beta/models/gemini-2.5-flash:generateContent", HOST),
        ("google", f"{HOST}/proxy/v1beta/models", f"{HOST}/proxy"),
    ],
)
def test_the_address_of_a_call_is_refused_with_that_of_the_api(
    tmp_path: Path, provider: str, address: str, right: str
) -> None:
    entry = f"mine:\n  provider: {provider}\n  vendor: v\n  model_id: m\n  revision: {{weights: main}}\n  base_url: "
    told = told_of(tmp_path, f"{entry}{address}\n")
    assert told.endswith(f"; write {right}") and "line 6: base_url = " in told
    (tmp_path / "models.yaml").write_text(f"{entry}{right}\n", encoding="utf-8")
    assert load_models(tmp_path / "models.yaml")["mine"].base_url == right


@pytest.mark.parametrize(
    "address",
    [
        *("https://x.services.ai.azure.com/models", "https://x.openai.azure.com/openai/v1", f"{HOST}/api/paas/v4"),
        *(
            f"{HOST}/hf-inference/models/org/m/v1",
            f"{HOST}/embeddings",
            f"{HOST}/v1/my-models",
            f"{HOST}/v1beta/openai",
        ),
    ],
)
def test_an_address_that_may_be_a_base_is_taken(tmp_path: Path, address: str) -> None:
    (tmp_path / "models.yaml").write_text(
        f"{ENTRY}  model_id: m\n  revision: {{weights: main}}\n  base_url: {address}\n", encoding="utf-8"
    )
    assert load_models(tmp_path / "models.yaml")["mine"].base_url == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# x\nopenai:\n  requests_per_minute:\n", "line 2: needs requests_per_minute, tokens_per_minute, or both"),
        ("# x\nopenai:\n", "line 2: expected named settings (requests_per_minute, tokens_per_minute), found nothing"),
        ("openai:\n  requests_per_minute: .5e3\n", "line 2"),
        ("openai:\n  tokens_per_minute: 0\n", "line 2: tokens_per_minute = 0: Input should be greater than 0"),
        ("openai: {requests_per_minute: 1}\n'': {requests_per_minute: 1}\n", "line 2: '' is no provider"),
    ],
)
def test_a_wrong_limit_is_told_with_its_line_and_no_empty_name(tmp_path: Path, text: str, words: str) -> None:
    told = told_of(tmp_path, text, "limits.yaml")
    assert words in told and ":  =" not in told


def test_of_several_forms_that_a_value_may_have_the_one_that_was_meant_is_told() -> None:
    with pytest.raises(ConfigError) as error:
        checked(MetricLine, {"target": {"impression": {"good": "hi"}}}, "here")
    assert str(error.value) == "here: target.impression.good = 'hi': Input should be 'high' or 'low'"
    with pytest.raises(ConfigError) as error:
        checked(MetricLine, {"target": 3}, "here")
    assert "target = 3: Input should be a valid string; or Input should be a valid dictionary" in str(error.value)


KINDS: list[type[BaseModel]] = [
    *(ModelEntry, LimitEntry, ExperimentConfig, Parameters),
    *(CollectionConfig, CollectionParameters, BiasTemplate, MetricLine, Claim),
]
#: Values of every shape, few of which any setting can have.
ODD: list[Any] = [
    *(None, True, 0, -1, 2.5, float("nan"), float("inf"), "", "x", [], ["x"], [1], [[]], {}),
    *({"x": 1}, {"input": "x"}, {"x": {"y": "z"}}, {"from": 1}, {"choose": 3}, [{"x": 1}], [{"control": 5}]),
]


@pytest.mark.parametrize("kind", KINDS)
def test_any_odd_value_is_an_error_that_names_its_field(kind: type[BaseModel]) -> None:
    refused = 0
    for name in [*(field.alias or name for name, field in kind.model_fields.items()), "strange"]:
        for value in ODD:
            try:
                checked(kind, {name: value}, "here")
            except ConfigError as error:
                message, refused = str(error), refused + 1
                assert message.startswith("here: ") and "\n" not in message
                assert "Value error" not in message and "pydantic" not in message and "[type=" not in message
                assert name != "strange" or "unknown key 'strange'; valid keys: " in message
    assert refused > len(ODD)


def test_a_line_is_that_of_the_setting_or_of_what_is_around_it(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("# x\n\na:\n  b:\n    - 1\n    - c: 2\n1: {d: 3}\n", encoding="utf-8")
    lines = {("a",): 3, ("a", "b"): 4, ("a", "b", 0): 5, ("a", "b", 1): 6, ("a", "b", 1, "c"): 6}
    lines |= {("a", "none"): 3, ("none",): None, (1, "d"): 7, (): None, ("a", "b", 9): 4}
    assert {keys: line_of(file, keys) for keys in lines} == lines
    assert line_of(tmp_path / "gone.yaml", ("a",)) is None
    assert parse_yaml("{a: 1}", "here") == {"a": 1}
