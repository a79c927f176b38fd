"""Prompts that cannot fit into a model's context: refused before any call, with the names of what is too long."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers import prompts
from helpers.biases.top_choice.asked import judge_trials
from helpers.config import ConfigError, load_experiment, load_models
from helpers.judge import Budget, TooLong, check_fit, labels_of
from helpers.judge.checking import context_of, tokens_at_least, too_long
from helpers.types import Answer, Question, Request
from tests.engine.asking import MODELS, ask, at, requests_to

MEGABYTE = "word, " * 174_763
HAIKU = MODELS["anthropic"]


def trials(texts: dict[str, str]) -> list[Any]:
    """Judgments of claude-haiku-4-5 on one question and six answers, some of them of these texts."""
    question = Question("writing_7", "writing", "Which of these is best?", place=0)
    names = [f"candidate_{number}" for number in range(6)]
    answers = {(question.id, name): Answer(question.id, name, "x", "fast", texts.get(name, "Short.")) for name in names}
    experiment = replace(load_experiment("mt_bench_blind"), judges=(HAIKU,))
    return judge_trials(experiment, [question], answers)


def test_an_answer_of_a_megabyte_is_refused_before_any_call_by_name(serve: Any, tmp_path: Path) -> None:
    server, asked = serve(), trials({"candidate_3": MEGABYTE, "candidate_1": "Longer than the others."})
    assert len(MEGABYTE) >= 2**20
    short = requests_to(MODELS["openai"], 3)
    with pytest.raises(TooLong) as error:
        ask([*short, *(trial.request for trial in asked)], tmp_path, labels=labels_of(asked))
    said = str(error.value)
    assert "1 prompts are longer" in said and "claude, question writing_7: at least " in said
    assert "where 200,000 fit" in said
    assert said.index("answer of candidate_3 (1,048,578 bytes)") < said.index("candidate_1 (23 bytes)")
    assert "`context:`" in said and server.calls == [] and not any(tmp_path.glob("*.jsonl"))


def test_what_fits_or_is_stored_is_never_refused(serve: Any, tmp_path: Path) -> None:
    serve()
    half = Request(HAIKU, MEGABYTE[: len(MEGABYTE) // 2], "Be brief.")
    assert len(ask([half], tmp_path)) == 1
    assert too_long([half]) == [] and too_long([replace(half, model=replace(HAIKU, context=90_000))])
    check_fit([replace(half, repeat=1)], {}, tmp_path)
    long = Request(HAIKU, MEGABYTE)
    with pytest.raises(TooLong, match=r"a prompt: .*the whole prompt \(1,048,578 bytes\)"):
        check_fit([long], {}, tmp_path)


def test_stored_replies_are_not_measured_again(serve: Any, tmp_path: Path) -> None:
    serve()
    request = requests_to(replace(at(serve().url, "own"), context=10), 1)[0]
    ask([replace(request, model=replace(request.model, context=None))], tmp_path)
    check_fit([request], {}, tmp_path)
    told = r"llama, a prompt: at least 2,0\d\d tokens \(2,048 of them for the reply\) where 10"
    with pytest.raises(TooLong, match=told):
        check_fit([replace(request, repeat=1)], {}, tmp_path)


def test_a_prompt_that_a_later_stage_makes_too_long_does_not_say_that_nothing_was_asked(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, budget = serve(), Budget(1e6)
    ask(requests_to(MODELS["openai"], 2), tmp_path, budget=budget)
    for later in ([Request(HAIKU, MEGABYTE)], [Request(HAIKU, "a key: secret-of-a-test")]):
        monkeypatch.setenv("SOME_TOKEN", "secret-of-a-test")
        with pytest.raises(ValueError, match="none of these calls was made, and what came before is stored") as error:
            ask(later, tmp_path, budget=budget)
        assert "nothing was asked" not in str(error.value)
        with pytest.raises(ValueError, match="nothing was asked"):
            ask(later, tmp_path)
    assert len(server.calls) == 2


def test_models_that_nobody_knows_hold_whatever_they_are_sent() -> None:
    assert context_of(at("http://127.0.0.1:1", "own")) is None
    assert context_of(replace(MODELS["openai"], provider="simulated")) is None
    assert (context_of(HAIKU), context_of(replace(HAIKU, context=7))) == (200_000, 7)
    assert too_long([Request(at("http://127.0.0.1:1", "own"), MEGABYTE)]) == []


def test_tokens_are_counted_low() -> None:
    """A fifth of the bytes, rounded up; a run of blanks, which may be one token, is one byte."""
    assert tokens_at_least("abcde" * 7) == 7 and tokens_at_least("abcde" * 7 + "f") == 8
    assert tokens_at_least("\u5224\u5b9a" * 100) == 120
    assert tokens_at_least(" \n\t" * 10_000 + "abcd") == 1


def test_the_context_stands_in_models_yaml_and_in_no_key(tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    entry = "provider: openai, model_id: m, vendor: x"
    path.write_text(f"a: {{{entry}, context: 8192}}\nb: {{{entry}}}", encoding="utf-8")
    models = load_models(path)
    assert models["a"].context == 8192 and models["b"].context is None
    assert Request(models["a"], "x").key == Request(models["b"], "x").key
    for wrong in ("0", "'8192'", "8192.5", "true"):
        path.write_text(f"a: {{{entry}, context: {wrong}}}", encoding="utf-8")
        with pytest.raises(ConfigError, match="context = "):
            load_models(path)


def test_many_long_prompts_are_counted_and_the_longest_named() -> None:
    found = [Request(HAIKU, MEGABYTE + "x" * 10 * number) for number in range(9)]
    with pytest.raises(TooLong) as error:
        check_fit(found, {each.key: {"question_id": f"q{at}"} for at, each in enumerate(found)})
    said = str(error.value)
    assert "9 prompts" in said and "and 4 more" in said and said.index("q8") < said.index("q7") and "q3" not in said


def test_every_template_shows_texts_in_a_way_that_is_found() -> None:
    from helpers.judge.checking import longest

    trial = trials({"candidate_0": "y" * 5000})[0]
    told = longest(trial.request.prompt, trial.shown)
    assert told[0] == "answer of candidate_0 (5,000 bytes)" and len(told) == 3
    assert prompts.nonce(42, "writing_7") in trial.request.prompt
