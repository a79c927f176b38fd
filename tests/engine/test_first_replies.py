"""A model whose first replies cannot be read is asked no more, and whoever started the run is told what to change."""

from __future__ import annotations

import asyncio
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from helpers.judge import Budget, Incomplete, judge_all
from helpers.prompts import schema
from helpers.types import Judgment, Model, Request, Trial
from helpers.verdicts import unwrapped
from tests.engine.asking import MODELS, statuses
from tests.servers.behaviours import Call, Reply

NONCE = "7f3a91ce"
GPT, CLAUDE = MODELS["openai"], MODELS["anthropic"]
GOOD = f"Because.\nVERDICT-{NONCE}: A>B"


def trials(model: Model, count: int, structured: bool = False) -> list[Trial]:
    where = {"experiment": "mt_bench_blind", "category": "math", "form": "pairwise", "nonce": NONCE}
    asked = schema("pairwise", "AB") if structured else None
    requests = [Request(model, f"Which is better? {number}", schema=asked) for number in range(count)]
    return [Trial(question_id=f"q{at}", judge=model, request=each, **where) for at, each in enumerate(requests)]


def judged(asked: list[Trial], folder: Path, **options: Any) -> list[Judgment]:
    options = {"budget": Budget(1e6), "show": False, "concurrency": 4, **options}
    return asyncio.run(judge_all(asked, folder=folder, **options))


def saying(text: str, of: Any = lambda number: True) -> Any:
    """A server that says this to some calls, by the number of their question, and gives a verdict to all others."""

    def behave(call: Call) -> Reply:
        number = int(re.findall(r"\d+", call.prompt)[-1])
        return Reply(text if of(number) else GOOD)

    return behave


@pytest.mark.parametrize(
    ("text", "structured", "remedy"),
    [
        ("I like both.", False, "a reasoning parser on the server"),
        ("Sure: A is better.", True, r"`structured: false` in models.yaml \(an audit: --text\)"),
        ("<think>Let me see, A is", False, "a larger `max_tokens`"),
    ],
)
def test_a_model_that_cannot_be_read_is_stopped_with_a_quotation_and_a_remedy(
    serve: Any, tmp_path: Path, text: str, structured: bool, remedy: str
) -> None:
    server = serve(saying(text))
    with pytest.raises(Incomplete, match=r"gpt: \d+ x of its first 20 replies fewer than 10% could be read") as error:
        judged(trials(GPT, 100, structured), tmp_path)
    said = str(error.value)
    assert repr(text) in said and re.search(remedy, said) and "(20 unparsed)" in said and "keep_going" in said
    assert ("structured: false" in said) == structured
    assert 20 <= len(server.calls) <= 20 + 4, "what was in flight, and nothing after it"
    assert statuses(tmp_path, GPT) == ["ok"] * len(server.calls), "what came is stored"
    sent = len(server.calls)
    with pytest.raises(Incomplete, match="of its first 20 replies fewer than"):
        judged(trials(GPT, 100, structured), tmp_path)
    assert len(server.calls) == sent, "a second run pays for nothing more"
    found = judged(trials(GPT, 100, structured), tmp_path, keep_going=True)
    assert len(server.calls) == 100 and {each.outcome for each in found} == {"unparsed"}


def test_a_quoted_reply_is_cut_and_holds_no_key(serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-secret-of-this-test-0123456789")
    serve(saying("a-secret-of-this-test-0123456789 " + "x" * 1000))
    with pytest.raises(Incomplete) as error:
        judged(trials(GPT, 30), tmp_path)
    assert "a-secret-of-this-test" not in str(error.value)
    assert "x" * 150 in str(error.value) and "x" * 201 not in str(error.value)


@pytest.mark.parametrize(("readable", "stopped"), [(0, True), (1, True), (2, False), (20, False)])
def test_a_tenth_of_the_first_twenty_is_enough(serve: Any, tmp_path: Path, readable: int, stopped: bool) -> None:
    server = serve(saying("No.", lambda number: number >= readable))
    with pytest.raises(Incomplete) if stopped else nullcontext():
        judged(trials(GPT, 60), tmp_path, concurrency=1)
    assert len(server.calls) == (20 if stopped else 60)


def test_other_models_go_on_and_few_replies_stop_nobody(serve: Any, tmp_path: Path) -> None:
    def behave(call: Call) -> Reply:
        return Reply(GOOD if "claude" in call.model else "No.")

    server = serve(behave)
    with pytest.raises(Incomplete) as error:
        judged([*trials(GPT, 60), *trials(CLAUDE, 60)], tmp_path)
    assert "claude:" not in str(error.value) and statuses(tmp_path, CLAUDE) == ["ok"] * 60
    before = len(server.calls)
    judged(trials(GPT, 19), tmp_path / "few")
    assert len(server.calls) == before + 19


def test_what_a_model_refuses_to_say_is_its_answer(serve: Any, tmp_path: Path) -> None:
    server = serve(lambda call: Reply("", finish="filter"))
    assert {each.outcome for each in judged(trials(GPT, 40), tmp_path)} == {"filtered"}
    assert len(server.calls) == 40


def test_a_wrong_id_is_read_of_models_whose_server_enforces_the_schema(serve: Any, tmp_path: Path) -> None:
    server = serve(saying('{"id": "./7f3a91ce", "justification": "Because.", "verdict": "A>B"}'))
    with pytest.raises(Incomplete, match="of its first 20 replies"):
        judged(trials(GPT, 40, structured=True), tmp_path)
    found = judged(trials(replace(GPT, enforced=True), 40, structured=True), tmp_path)
    assert {each.outcome for each in found} == {"ok"} and len(server.calls) == 40
    assert {unwrapped(each) for each in found} == {("id not copied",)}
