"""What stays in memory of many judgments: what made their prompts, keys, sizes, replies and verdicts."""

from __future__ import annotations

import asyncio
import hashlib
import json
import tracemalloc
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from helpers import json_text, prompts, store
from helpers.__main__ import main
from helpers.config import experiment_names
from helpers.judge import Budget, judge_all, judgments, make_plan
from helpers.judge.budget import bounds
from helpers.types import Model, Request, Trial
from tests.engine.asking import MODELS
from tests.engine.traces import attempts
from tests.runs import settled
from tests.servers.answering import answering
from tests.servers.behaviours import Call, Reply

JUDGE = Model("sim", "simulated", "sim-1", "claude")
NONCE = "7f3a91ce"
#: Texts of which no two letters have the same length in bytes.
TEXTS = ("plain", "\u00e9t\u00e9", "\u5224\u5b9a", "\U0001f600 smile")


def made(text: str, often: Counter[str]) -> Callable[[], str]:
    """A prompt that is not held; counts how often it was made."""

    def make() -> str:
        often[text] += 1
        return text

    return make


def trial(number: int, prompt: Any, model: Model = JUDGE, **changed: Any) -> Trial:
    where = {"experiment": "mt_bench_blind", "question_id": f"q{number}", "category": "math", "form": "pairwise"}
    return Trial(judge=model, request=Request(model, prompt, "Be fair."), nonce=NONCE, **{**where, **changed})


def verdict(call: Call) -> Reply:
    """A verdict with a reason that only this prompt gets."""
    reason = hashlib.sha256(call.prompt.encode()).hexdigest()
    return Reply(f"{reason}\nVERDICT-{NONCE}: A>B")


# Requests.


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("schema", [None, prompts.schema("choice", "AB")])
def test_a_prompt_that_is_made_has_the_key_and_the_sizes_of_the_same_text(text: str, schema: Any) -> None:
    often = Counter[str]()
    late = Request(MODELS["anthropic"], made(text, often), "\u00fc", schema, 3)
    held = Request(MODELS["anthropic"], text, "\u00fc", schema, 3)
    assert late.key == held.key and late.prompt == held.prompt == text
    assert late.measured.size == len(text.encode()) + 2 + (len(json.dumps(schema)) if schema else 0)
    before = often[text]
    assert late.rendered().key == late.key and bounds(late) == bounds(held) and often[text] == before + 1
    assert held.rendered() is held


@given(st.text(), st.text(), st.integers(0, 9), st.none() | st.dictionaries(st.text(), st.text()))
def test_a_key_is_that_of_everything_seen_as_one_sorted_json(prompt: str, system: str, repeat: int, told: Any) -> None:
    model = replace(JUDGE, provider="openai", base_url="http://localhost/v1" if told else None, revision=told)
    schema = {"type": "object", "b": [1, None], "a": prompt}
    request = Request(model, prompt, system, schema, repeat)
    seen = {"provider": "openai", "model": "sim-1", "params": request.params, "system": system, "prompt": prompt}
    seen |= {"schema": json.dumps(schema), "repeat": repeat} | ({"revision": told} if told else {})
    text = json.dumps(seen, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    assert request.key == hashlib.sha256(text.encode()).hexdigest()


def test_every_letter_is_written_as_json_writes_it() -> None:
    """What is in a key must never be written otherwise: the replies to it would be asked for again."""
    letters = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert json_text.dumps(letters) == json.dumps(letters, ensure_ascii=False).encode()


def test_a_schema_that_somebody_changes_makes_other_keys() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"one": {"type": "string"}}}
    first = Request(JUDGE, "Who?", schema=schema).key
    schema["properties"]["one"] = {"type": "number"}
    second = Request(JUDGE, "Who?", schema=schema).key
    schema["type"] = schema.pop("type")  # another order, of which the reply may depend
    third = Request(JUDGE, "Who?", schema=schema).key
    assert len({first, second, third, Request(JUDGE, "Who?").key}) == 4
    assert third == Request(JUDGE, "Who?", schema=json.loads(json.dumps(schema))).key


#: Every character that JSON could write in more than one way.
ODD = "".join(map(chr, range(0xA0))) + "\u2028\u2029\ud7ff\ue000\ufeff\uffff\U0001f600"
VALUES = [1, 1.0, True, "1", None, np.float64(0.3), -0.0, 1e-5, 1e22, 2**70, ODD, OrderedDict(b=1, a=(2, 3))]


@pytest.mark.parametrize("field", ["params", "traits"])
def test_a_model_that_somebody_changes_makes_other_keys(field: str) -> None:
    model = replace(JUDGE, **{field: {"deep": {"one": 1, "none": 0}}})
    keys, deep = {Request(model, "Who?").key}, getattr(model, field)["deep"]
    for value in (2, True, 1.0, "1", None, [1]):
        deep["one"] = value
        keys.add(Request(model, "Who?").key)
        assert Request(model, "Who?").key == Request(replace(model, **{field: {"deep": dict(deep)}}), "Who?").key
    assert len(keys) == 7


def test_what_is_no_json_cannot_be_asked_also_where_nothing_stood() -> None:
    params: dict[str, Any] = {"n": None}
    schema: dict[str, Any] = {"n": None}
    model = replace(JUDGE, params=params)
    assert Request(model, "Who?", schema=schema).key
    for changed, odd in product((params, schema), ("nan", "inf")):
        changed["n"] = float(odd)
        with pytest.raises(ValueError, match="not JSON compliant"):
            _ = Request(model, "Who?", schema=schema).key
        changed["n"] = None


@pytest.mark.parametrize("value", VALUES)
def test_keys_tell_values_apart_that_python_takes_for_equal(value: Any) -> None:
    """And values of types that only JSON takes for plain ones are written as JSON writes them."""
    for params, schema in (({"n": value}, None), ({}, {"n": value, "m": [value]})):
        request = Request(replace(JUDGE, provider="openai", params=params), ODD, ODD[::-1], schema)
        seen = {"provider": "openai", "model": "sim-1", "params": {"max_tokens": 2048, **params}, "system": ODD[::-1]}
        seen |= {"prompt": ODD, "schema": json.dumps(schema), "repeat": 0}
        text = json.dumps(seen, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        assert request.key == hashlib.sha256(text.encode()).hexdigest()
    others = [Request(JUDGE, "Who?", schema={"n": other}).key for other in (0, 0.0, False, 1, 1.0, True, "1")]
    assert len(set(others)) == len(others)


def test_a_judgment_whose_prompt_is_not_the_same_each_time_is_refused(serve: Any, tmp_path: Path) -> None:
    """Its prompt is made for its key, and once more before anything is sent."""
    server, numbers = serve(), iter(range(99))
    asked = [
        trial(1, "Is 2 prime?", MODELS["openai"]),
        trial(2, lambda: f"Is {next(numbers)} prime?", MODELS["openai"]),
    ]
    with pytest.raises(ValueError, match=r"a prompt to gpt is not the same each time it is made \(now 'Is 1 prime\?'"):
        asyncio.run(judge_all(asked, folder=tmp_path, budget=Budget(1.0), show=False))
    assert not server.calls


def test_a_changed_request_has_another_key_and_its_prompt_is_still_not_held() -> None:
    late = Request(JUDGE, lambda: "x" * 5000, shared="x" * 4500)
    changed = replace(late, repeat=1)
    assert changed.key != late.key and changed.key == Request(JUDGE, "x" * 5000, repeat=1).key
    assert callable(changed.source) and changed.shared == late.shared


def test_the_beginning_that_is_shared_ends_where_the_shared_text_does() -> None:
    """Providers cache no beginning under a thousand tokens: below 4,000 letters it counts as none."""
    for length, cacheable in ((4000 - len("Passage:\n") - 1, 0), (4000 - len("Passage:\n"), 4000)):
        passage = "\u00e9" * length
        request = Request(JUDGE, lambda passage=passage: f"Passage:\n{passage}\nWhy?", shared=passage)
        assert request.cacheable == cacheable
        assert request.measured.start == (len("Passage:\n") + 2 * length if cacheable else 0)
    alike = Request(JUDGE, f"Passage:\n{passage}\nHow?", shared=passage)
    other = Request(JUDGE, f"passage:\n{passage}\nHow?", shared=passage)
    assert alike.measured.starts == request.measured.starts != other.measured.starts


@pytest.mark.parametrize("name", experiment_names())
def test_no_experiment_holds_a_prompt_or_a_body(name: str, tmp_path: Path) -> None:
    from helpers import run

    few = 5 if name == "quality_self_preference" else 2
    judges = ["sim_claude_fast", "sim_gpt_fast"]
    experiment = settled(name, store=str(tmp_path), question_limit=few, judges=judges)
    asked = asyncio.run(run.ask(experiment, show=False))
    judgments = [*asked.replies.values(), *asked.judgments]
    assert judgments
    for each in judgments:
        request = each.trial.request
        assert callable(request.source)
        eager = Request(request.model, request.prompt, request.system, request.schema, request.repeat)
        assert eager.key == request.key
        assert each.completion.text and not each.completion.raw
    again = asyncio.run(run.ask(experiment, show=False))
    assert [each.trial.request.key for each in again.judgments] == [each.trial.request.key for each in asked.judgments]
    assert again.frame.equals(asked.frame)


def test_many_long_prompts_take_little_memory(tmp_path: Path) -> None:
    """200 prompts of 20 KB: 4 MB, of which a run never holds half, with all else that it needs."""

    def trials() -> Iterator[Trial]:
        for number in range(200):
            yield replace(trial(number, lambda number=number: "word " * 4000 + str(number)), form="text")

    options = {"folder": tmp_path, "show": False, "concurrency": 4}
    asyncio.run(judge_all([replace(trial(0, "warm"), form="text")], **options))
    tracemalloc.start()
    try:
        judgments = asyncio.run(judge_all(trials(), **options))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(judgments) == 200 and all(each.outcome == "ok" for each in judgments)
    assert sum(len(each.trial.request.prompt) for each in judgments) > 4e6 > 2 * peak


# Replies.


@pytest.mark.parametrize("told", [False, True], ids=["plain", "log-probabilities"])
def test_what_a_run_returns_is_what_stands_in_the_store(tmp_path: Path, told: bool) -> None:
    """But for the bodies, which nobody reads again; one with log-probabilities is read for the verdict."""
    tokens = [{"token": " A", "logprob": -0.2, "top_logprobs": [{"token": " A", "logprob": -0.2}]}]
    said = {"message": {"role": "assistant", "content": f"Why.\nVERDICT-{NONCE}: A"}, "finish_reason": "stop"}
    said["logprobs"] = {"content": tokens} if told else None
    with answering(json.dumps({"id": "x", "model": "m", "choices": [said]})) as url:
        model = replace(MODELS["own"], base_url=url)
        asked = [trial(n, f"Which? {n}", model, form="choice", labels=("A", "B")) for n in range(5)]
        options = {"folder": tmp_path, "show": False}
        first = asyncio.run(judge_all(asked, budget=Budget(1e6), **options))
    path = store.file_of(tmp_path, model.name)
    written = store.read(path)
    assert len(written) == len(first) == 5 and first == asyncio.run(judge_all(asked, ask=False, **options))
    for each in first:
        whole = written[each.completion.key]
        assert whole.raw and each.completion == (whole if told else replace(whole, raw=""))
        assert each == judgments([each.trial], written)[0] or not told
        assert (each.verdict.choice, each.verdict.justification) == ("A", "Why.")
        assert each.verdict.probabilities == ({"A": 1.0, "B": 0.0} if told else {})
    path.unlink()
    assert first[0].completion.text == f"Why.\nVERDICT-{NONCE}: A", "it is held"


def test_a_verdict_never_comes_with_the_text_of_another_reply(serve: Any, tmp_path: Path) -> None:
    """The file is replaced under a run by one with other replies to the same requests."""
    model, options = MODELS["openai"], {"folder": tmp_path, "show": False}
    asked = [trial(number, f"Which? {number}", model) for number in range(3)]
    found = []
    for word, label in (("First.", "A>B"), ("Later.", "B>A")):
        serve(lambda call, said=f"{word}\nVERDICT-{NONCE}: {label}": Reply(said))
        found.append(asyncio.run(judge_all(asked, budget=Budget(1e6), **options)))
        store.file_of(tmp_path, model.name).unlink()
    for each, word, label in zip(found, ("First.", "Later."), ("A>B", "B>A"), strict=True):
        told = [(one.verdict.choice, one.verdict.justification, one.completion.text[:6]) for one in each]
        assert told == [(label, word, word)] * 3


def test_an_index_of_an_earlier_version_is_named(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = serve(verdict)
    model, options = MODELS["openai"], {"folder": tmp_path, "show": False}
    asked = [trial(number, f"Which? {number}", model) for number in range(3)]
    left = tmp_path / f"{model.name}.index.parquet"
    left.write_bytes(b"PAR1")
    first = asyncio.run(judge_all(asked, budget=Budget(1e6), **options))
    assert asyncio.run(judge_all(asked, budget=Budget(1e6), **options)) == first and len(server.calls) == 3
    line = f"{left}: an index of an earlier version; nothing reads it, and it may be deleted\n"
    assert capfd.readouterr().err.count(line) == 1
    checked = CliRunner().invoke(main, ["store", "verify", "--store", str(tmp_path)])
    assert checked.exit_code == 0 and checked.output.count(line) == 1 and left.read_bytes() == b"PAR1"


def test_what_cannot_be_read_is_raised_when_all_replies_are_stored(serve: Any, tmp_path: Path) -> None:
    serve(verdict)
    model = MODELS["openai"]
    asked = [trial(number, f"Which? {number}", model) for number in range(10)]
    asked[0] = replace(asked[0], form="no such form")
    budget = Budget(1e6)
    with pytest.raises(ValueError, match="no such form"):
        asyncio.run(judge_all(asked, folder=tmp_path, budget=budget, show=False))
    assert [line["status"] for line in attempts(tmp_path, model)] == ["ok"] * 10
    [row] = budget.rows
    assert row.attempts == 10 and budget.spent > 0 and budget.reserved == 0


def test_trials_that_share_a_reply_are_each_read_in_their_own_form(serve: Any, tmp_path: Path) -> None:
    serve(lambda call: Reply(f"Well.\nVERDICT-{NONCE}: 7"))
    model = MODELS["openai"]
    first = trial(1, "How good?", model)
    asked = [first, replace(first, form="number"), replace(first, form="choice", labels=("7", "8"))]
    judgments = asyncio.run(judge_all(iter(asked), folder=tmp_path, budget=Budget(1e6), show=False))
    assert [each.outcome for each in judgments] == ["unparsed", "ok", "ok"]
    assert judgments[1].verdict.number == 7.0 and judgments[2].verdict.choice == "7"
    assert len({each.completion.key for each in judgments}) == 1


# Plans.


def test_a_plan_goes_once_over_requests_that_nobody_holds(tmp_path: Path) -> None:
    often = Counter[str]()

    def requests() -> Iterator[Request]:
        for model in (MODELS["openai"], MODELS["anthropic"]):
            for text in ("one", "two", "one", "three"):
                yield Request(model, made(text, often), unwritten=5 if text == "three" else 0)
            yield Request(model, made("three", often), unwritten=5)

    plan = make_plan({"first": requests(), "second": requests()}, tmp_path)
    told = {(row.stage, row.model): (row.calls, row.stored, row.missing) for row in plan.rows}
    assert told == {
        ("first", "gpt"): (4, 0, 4),
        ("first", "claude"): (4, 0, 4),
        ("second", "gpt"): (4, 2, 2),
        ("second", "claude"): (4, 2, 2),
    }
    assert max(often.values()) == often["one"] == often["three"] == 8, "each request's prompt is made once"
