"""limits.yaml: what is wrong in it is said by place, with what is valid, before anything is asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from helpers import paths
from helpers.config import ConfigError, load_experiment, load_limits, load_models
from helpers.config import models as reading

README = (paths.ROOT / "README.md").read_text(encoding="utf-8")


def written(folder: Path, text: str) -> Path:
    path = folder / "limits.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_nothing_is_limited_unless_a_line_says_so(tmp_path: Path) -> None:
    assert (
        load_limits()
        == load_limits(path=tmp_path / "limits.yaml")
        == load_limits(path=written(tmp_path, "# no\n"))
        == {}
    )


def test_the_examples_of_readme_and_file_are_read(tmp_path: Path) -> None:
    models = load_models()
    (example,) = re.findall(r"```yaml\n(openai: \{requests_per_minute.*?)```", README, re.DOTALL)
    said = paths.LIMITS.read_text(encoding="utf-8")
    commented = "\n".join(re.findall(r"^# ((?:\w+|https?:\S+): \{.*\})$", said, re.MULTILINE))
    assert yaml.safe_load(example) == yaml.safe_load(commented) != {}
    found = load_limits(models, written(tmp_path, example))
    assert (found["openai"].requests_per_minute, found["openai"].tokens_per_minute) == (500, 200_000)
    own = found["http://127.0.0.1:8000/v1"]
    assert (own.requests_per_minute, own.tokens_per_minute) == (120, None)


WRONG = {
    "[openai]": "expected an entry a provider or address, found a list",
    "gpt_fast: {requests_per_minute: 5}": "is no provider and no base_url .*valid: openai, anthropic, google, http",
    "simulated: {requests_per_minute: 5}": "'simulated' is no provider",
    "1: {requests_per_minute: 5}": "1 is no provider",
    "http://127.0.0.1:8001/v1: {requests_per_minute: 5}": "valid: .*http://127.0.0.1:8000/v1",
    "openai: 5": "'openai': line 1: expected named settings .requests_per_minute, tokens_per_minute., found a number",
    "openai: {}": "'openai': line 1: needs requests_per_minute, tokens_per_minute, or both",
    "openai: {requests: 5}": "unknown key 'requests'; valid keys: requests_per_minute, tokens_per_minute",
    "openai: {requests_per_minute: 0}": "requests_per_minute = 0: .*greater than 0",
    "openai: {requests_per_minute: -1}": "requests_per_minute = -1: .*greater than 0",
    "openai: {requests_per_minute: many}": "requests_per_minute = 'many': ",
    'openai: {requests_per_minute: "5"}': "requests_per_minute = '5': ",
    "openai: {tokens_per_minute: true}": "tokens_per_minute = True: ",
    "openai: {requests_per_minute: 5}\nopenai: {requests_per_minute: 6}": "duplicate key 'openai'",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_is_told_with_what_is_valid(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=f"limits.yaml.*{WRONG[text]}"):
        load_limits(load_models(), path)


def test_a_wrong_line_is_told_before_an_experiment_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, "opena: {requests_per_minute: 5}")
    monkeypatch.setattr(reading.load_limits, "__defaults__", (None, path))
    with pytest.raises(ConfigError, match=r"limits\.yaml, line 1: 'opena' is no provider"):
        load_experiment("mt_bench_blind")
