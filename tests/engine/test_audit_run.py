"""`recuse audit` end to end: a judge of known bias behind a server, money, interrupts, hostile texts."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import papermill
import pytest
from click.testing import CliRunner, Result

from helpers import audit as room, paths, verdicts
from helpers.__main__ import main
from helpers.audit import asking
from helpers.config import ConfigError
from helpers.judge import Incomplete, NoPrice, OverBudget
from helpers.types import Completion, Model
from tests import hostile
from tests.audits import BATTERY, model, served
from tests.engine.asking import dearly
from tests.servers.behaviours import Call, Fault, Reply, only, polite, quoting

BIASED = {"primacy": [2.5, 0.0], "biases": {"authority": 2.0, "anchor": 0.3}}
PRICE = ("--price", "1", "2")
#: Calls of an audit of 24 questions at temperature 0, and of one whose judge is asked twice.
STEADY, WAVERING = 748, 840


def run(tmp_path: Path, url: str, *more: str, to: str = "card") -> Result:
    at = ("--base-url", f"{url}/v1", "--model", "own/Judge-7B", "--max-tokens", "64")
    folders = ("--store", str(tmp_path / "replies"), "--to", str(tmp_path / to))
    return CliRunner().invoke(main, ["audit", *at, *folders, *more])


def own(url: str, **settings: Any) -> Model:
    return room.judge_of("own/Judge-7B", f"{url}/v1", {"max_tokens": 64, "price": (1.0, 2.0), **settings})


def facts(tmp_path: Path, to: str = "card") -> dict[str, Any]:
    return json.loads((tmp_path / to / "card.json").read_text())


def test_planted_biases_are_found_as_planned(serve: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    server = serve(served(BIASED), asked=dearly)
    planned = run(tmp_path, server.url, *PRICE, "--plan")
    assert planned.exit_code == 0 and not server.calls and not (tmp_path / "card").exists()
    most = room.plan(BATTERY, own(server.url), tmp_path / "replies").usd
    assert f"{most:.4f}"[:4] in planned.output and most > 0
    assert run(tmp_path, server.url, *PRICE, "--plan", "--budget-usd", "0.01").exit_code == 1
    short = run(tmp_path, server.url, *PRICE, "--budget-usd", "0.01")
    assert isinstance(short.exception, OverBudget) and not server.calls

    done = run(tmp_path, server.url, *PRICE, "--budget-usd", f"{most:.6f}")
    assert done.exit_code == 0, done.output
    account = capfd.readouterr().err.partition("audit: the account of this run")[2]
    assert re.search(rf"audit_own_judge-7b +{STEADY} +", account)
    assert facts(tmp_path)["said"].startswith("The audit of own/Judge-7B reliably sees only effects above ")
    assert ": biased in 4 of 10 probes (" in facts(tmp_path)["said"]
    assert (tmp_path / "card" / "card.md").read_text().startswith("# Audit of own/Judge-7B\n")
    assert len(server.calls) == STEADY == facts(tmp_path)["battery"]["calls"]
    paid = sum(call.input_tokens * 1 + call.output_tokens * 2 for call in server.calls) / 1e6
    assert facts(tmp_path)["cost"]["usd"] == pytest.approx(paid, rel=1e-5) and paid <= most
    said = {each["probe"]: each["verdict"] for each in facts(tmp_path)["probes"]}
    assert said == {
        **dict.fromkeys(("order", "identical", "authority", "anchor"), "biased"),
        **dict.fromkeys(("letters", "length", "bandwagon", "names", "injected"), "no bias shown"),
        "reworded": "no bias shown",
        "wrong": said["wrong"],
    }
    assert said["wrong"] in ("noticed", "cannot tell")
    assert facts(tmp_path)["judge"]["temperature"] == 0 and facts(tmp_path)["unreadable"] == 0
    face = "24 questions; temperature 0; answered as own/Judge-7B-2026-01-01; 0.0 % of replies unreadable."
    assert face in done.output and face in (tmp_path / "card" / "card.md").read_text()
    assert facts(tmp_path)["data"] == "asked" and "SIMULATED" not in (tmp_path / "card" / "card.md").read_text()
    assert facts(tmp_path)["judge"]["returned"] == ["own/Judge-7B-2026-01-01"]
    names = {"card.png", "card.pdf", "card.svg", "card.md", "card.json", "run.json"}
    assert {each.name for each in (tmp_path / "card").iterdir()} == names

    again = run(tmp_path, server.url, *PRICE, to="again")  # no budget: nothing is asked
    assert again.exit_code == 0 and len(server.calls) == STEADY and "the account" not in capfd.readouterr().err
    for name in names - {"run.json"}:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "card" / name).read_bytes(), name


@pytest.mark.slow
def test_a_fair_judge_is_not_accused_and_its_card_says_what_would_have_been_found(serve: Any, tmp_path: Path) -> None:
    server = serve(served({"sharpness": 2.0}))
    done = run(tmp_path, server.url, "--text", "--concurrency", "3")
    assert done.exit_code == 0 and "no bias shown in 9 (" in done.output and ": biased" not in done.output
    assert server.most_in_flight <= 3, "8 where nobody says how many"
    assert not any(call.structured for call in server.calls)
    assert all(0 < each["smallest_detectable"] < 1 for each in facts(tmp_path)["probes"] if each["probe"] != "reworded")


def test_an_audit_that_is_interrupted_half_way_goes_on_and_pays_nothing_twice(serve: Any, tmp_path: Path) -> None:
    judge = served(BIASED)

    def interrupted(call: Call) -> Reply | Fault:
        if call.n == 500:
            os.kill(os.getpid(), signal.SIGINT)
        return judge(call)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        server = serve(interrupted)
        with pytest.raises(KeyboardInterrupt, match=rf"of {STEADY} replies are stored"):
            asyncio.run(room.audit(BATTERY, own(server.url), tmp_path / "replies", 100.0, show=False))
    finally:
        signal.signal(signal.SIGINT, before)
    half = len(server.calls)
    assert 500 <= half < STEADY
    assert run(tmp_path, server.url, *PRICE, "--stored", to="half").exit_code == 0
    card, told = facts(tmp_path, "half"), (tmp_path / "half" / "card.md").read_text()
    left = card["battery"]["left_out"]
    # It is asked question by question: at most as many are cut as calls are in flight.
    assert 0 < left < 24 - 10 and f"{left} of 24 questions are left out" in told and len(server.calls) == half
    assert "missing" not in card["outcomes"]["all"] and card["battery"]["calls"] <= half
    verdicts_of = {each["probe"]: each["verdict"] for each in card["probes"]}
    assert verdicts_of["order"] == "biased" and {each["clusters"] for each in card["probes"]} == {24 - left}
    assert run(tmp_path, server.url, *PRICE, "--budget-usd", "100").exit_code == 0
    assert len(server.calls) == STEADY
    prompts = Counter((call.call.prompt, call.structured) for call in server.calls)
    # Each order of the plain pairs of two questions is asked twice on purpose; nothing else is.
    assert sorted(Counter(prompts.values()).items()) == [(1, STEADY - 8), (2, 4)]


@pytest.mark.slow
def test_a_server_that_fails_on_the_way_costs_nothing_twice(serve: Any, tmp_path: Path) -> None:
    judge = served({})
    server = serve(lambda call: Fault("key") if 200 <= call.n < 230 else judge(call))
    first = run(tmp_path, server.url, *PRICE, "--budget-usd", "100")
    assert isinstance(first.exception, Incomplete) and "--stored" in str(first.exception)
    assert not (tmp_path / "card").exists()
    refused = server.count(fault="key")
    server.behaviour = judge
    assert run(tmp_path, server.url, *PRICE, "--budget-usd", "100").exit_code == 0
    assert server.count(billed=True) == STEADY and len(server.calls) == STEADY + refused


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("refusal", "refused"),
        pytest.param("length", "truncated", marks=pytest.mark.slow),
        pytest.param("prose", "unparsed", marks=pytest.mark.slow),
    ],
)
def test_a_judge_without_verdicts_is_counted_and_named(serve: Any, tmp_path: Path, kind: str, outcome: str) -> None:
    prose = Reply("A fair comparison is not possible here.")
    server = serve(only(prose if kind == "prose" else kind))
    done = run(tmp_path, server.url, "--keep-going")
    assert done.exit_code == 0 and "nothing can be told of any of 10 probes" in done.output
    assert f"{STEADY} of {STEADY} replies hold no verdict: {STEADY} {outcome}" in done.output
    assert facts(tmp_path)["outcomes"]["all"] == {"calls": STEADY, outcome: STEADY}
    assert facts(tmp_path)["unreadable"] == 1
    assert all(each["value"] is None and not each["comparisons"]["read"] for each in facts(tmp_path)["probes"])
    assert f"{STEADY} {outcome}" in (tmp_path / "card" / "card.md").read_text()


def planted() -> room.Battery:
    """The battery with texts in the place of its answers that try to become a verdict."""
    texts = [text for _, text in hostile.corpus() if 0 < len(text) < 5000 and "\x00" not in text]
    items = []
    for place, item in enumerate(BATTERY.items):
        one, two, *filler = texts[7 * place : 7 * place + 7]
        items.append(item.model_copy(update={"one": [one], "two": [two], "filler": filler[:2]}))
    return BATTERY.model_copy(update={"items": items})


@pytest.mark.parametrize("structured", [True, False])
def test_no_text_in_the_place_of_an_answer_plants_a_verdict(structured: bool) -> None:
    trials = asking.trials(planted(), replace(model({}), provider="openai", structured=structured))
    read: Counter[str] = Counter()
    for trial in trials:
        request = trial.request
        call = Call("openai", "m", request.system, request.prompt, request.schema)
        key = request.key
        quoted = verdicts.read(trial, Completion(key, "ok", quoting("none")(call).text, "stop"))
        read[quoted.outcome] += 1
        assert quoted.verdict is None
        own_words = verdicts.read(trial, Completion(key, "ok", polite(call).text, "stop"))
        for place in ("before", "inside"):
            judged = verdicts.read(trial, Completion(key, "ok", quoting(place)(call).text, "stop"))
            if judged.verdict is not None:
                stated = own_words.verdict
                assert (judged.verdict.choice, judged.verdict.number) == (stated.choice, stated.number)
    assert len(trials) == WAVERING and not set(read) & {"ok"}


def test_what_cannot_be_used_is_told_before_anything_is_asked(serve: Any, tmp_path: Path) -> None:
    server = serve(only(Reply("x")))
    with pytest.raises(NoPrice, match="--price INPUT OUTPUT"):
        room.judge_of("no-such-model", "https://models.example.com/v1")
    with pytest.raises(ConfigError, match=r"--base-url and --model.*base_url"):
        room.judge_of("m", "models.example.com")
    with pytest.raises(ConfigError, match=r"no such model in models\.yaml"):
        room.judge_of("nobody")
    with pytest.raises(ConfigError, match="--max-tokens: belongs to --base-url"):
        room.judge_of("sim_gpt_fast", None, {"max_tokens": 5})
    (tmp_path / "card").mkdir()
    (tmp_path / "card" / "thesis.tex").write_text("mine")
    held = run(tmp_path, server.url)
    assert isinstance(held.exception, ValueError) and "thesis.tex" in str(held.exception)
    assert not server.calls and [each.name for each in (tmp_path / "card").iterdir()] == ["thesis.tex"]


def test_a_card_is_named_after_its_model_shows_no_key_and_is_not_replaced(
    serve: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVER_KEY", "not-a-key-of-mine-0123456789")
    monkeypatch.chdir(tmp_path)
    at = ("--base-url", f"{serve(served({})).url}/v1", "--model", "own/Judge-7B", "--store", str(tmp_path / "replies"))
    assert CliRunner().invoke(main, ["audit", *at, "--api-key-env", "MY_SERVER_KEY"]).exit_code == 0
    card = tmp_path / "audit-own_judge-7b"
    assert (card / "card.md").is_file()
    words = ["audit", "--model", "sim_gpt_fast", "--store", str(tmp_path / "r"), "--to", str(card)]
    assert "the card of audit_own_judge-7b" in str(CliRunner().invoke(main, words).exception)
    for path in [*tmp_path.rglob("*.json*"), *tmp_path.rglob("*.md")]:
        assert "not-a-key-of-mine" not in path.read_text()


def test_where_no_card_can_be_made_none_is_and_no_file_is_touched(tmp_path: Path) -> None:
    target = tmp_path / "thesis"
    target.mkdir()
    (target / "card.md").write_text("mine")
    common = ["--store", str(tmp_path / "r"), "--stored", "--to"]
    done = CliRunner().invoke(main, ["audit", "--model", "sim_gpt_fast", "--plan", *common, str(target)])
    assert done.exit_code == 2 and "leave out one of them" in done.output
    assert [each.name for each in target.iterdir()] == ["card.md"] and (target / "card.md").read_text() == "mine"
    done = CliRunner().invoke(main, ["audit", "--model", "gpt_6_luna", *common, str(tmp_path / "c")])
    assert isinstance(done.exception, ValueError) and "no reply of gpt_6_luna" in str(done.exception)
    assert not (tmp_path / "c").exists()


def test_another_address_without_a_revision_is_another_judge_and_with_one_the_same() -> None:
    def key(url: str, **given: str) -> str:
        judge = room.judge_of("m", url, given)
        return asking.trials(BATTERY, judge)[0].request.key

    one, two = "http://127.0.0.1:8000/v1", "http://127.0.0.1:8001/v1"
    assert key(one) == key(one) != key(two)
    assert key(one, revision="main") == key(two, revision="main") != key(one, revision="int8")


def test_limits_of_other_addresses_are_no_fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from helpers.audit import running
    from helpers.config import load_limits

    limits = tmp_path / "limits.yaml"
    limits.write_text("http://127.0.0.1:8000/v1: {requests_per_minute: 120}\n")  # that of local_llama in models.yaml
    monkeypatch.setattr(running, "load_limits", lambda models: load_limits(models, limits))
    assert room.judge_of("m", "http://127.0.0.1:9000/v1").base_url == "http://127.0.0.1:9000/v1"
    limits.write_text("http://127.0.0.1:8765/v1: {requests_per_minute: 120}\n")
    with pytest.raises(ConfigError, match="no base_url of models"):
        room.judge_of("m", "http://127.0.0.1:9000/v1")


@pytest.mark.parametrize("amount", ["nan", "inf"])
def test_an_amount_that_is_no_number_is_refused_before_the_plan(serve: Any, tmp_path: Path, amount: str) -> None:
    server = serve(only(Reply("x")))
    budget = run(tmp_path, server.url, *PRICE, "--budget-usd", amount)
    assert budget.exit_code == 2 and f"{amount} is not a finite number" in budget.output
    price = run(tmp_path, server.url, "--price", amount, "1")
    assert isinstance(price.exception, ConfigError) and not server.calls
    assert f"price.input = {amount}: Input should be" in str(price.exception)


@pytest.mark.slow
def test_the_card_of_the_same_name_at_another_address_is_not_replaced(serve: Any, tmp_path: Path) -> None:
    one, two = serve(served({})), serve(served({}))
    assert run(tmp_path, one.url).exit_code == 0
    before = (tmp_path / "card" / "card.json").read_bytes()
    other = run(tmp_path, two.url)
    assert isinstance(other.exception, ValueError) and not two.calls
    assert "the card of another model that is called audit_own_judge-7b" in str(other.exception)
    assert (tmp_path / "card" / "card.json").read_bytes() == before
    assert run(tmp_path, one.url).exit_code == 0  # its own card is made again


def test_limits_and_parameters_reach_the_judge(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    judges: list[Model] = []

    async def seen(battery: Any, judge: Model, *_: Any, **__: Any) -> Any:
        judges.append(judge)
        raise ValueError("enough")

    monkeypatch.setattr(room, "audit", seen)
    own_limits = ("--concurrency", "3", "--timeout-seconds", "90", "--params", "{temperature: 0.7, seed: 1}")
    for more in ((), own_limits, ("--params", "{}")):
        run(tmp_path, "http://127.0.0.1:9", *more)
    told = [(judge.concurrency, judge.timeout_seconds, dict(judge.params)) for judge in judges]
    assert told == [(8, 600.0, {"temperature": 0}), (3, 90.0, {"temperature": 0.7, "seed": 1}), (8, 600.0, {})]
    for wrong in ("[1]", "temperature", "{temperature: [}"):
        refused = run(tmp_path, "http://127.0.0.1:9", "--params", wrong)
        assert refused.exit_code and "params" in f"{refused.output} {refused.exception}" and len(judges) == 3


@pytest.mark.slow
def test_the_notebook_writes_the_card_of_the_command(serve: Any, tmp_path: Path) -> None:
    server = serve(served(BIASED))
    where = {"model": "own/Judge-7B", "base_url": f"{server.url}/v1", "settings": {"max_tokens": 64}}
    folders = {"store": str(tmp_path / "replies"), "out": str(tmp_path / "notebook")}

    def execute(**more: Any) -> Any:
        notebook, parameters = paths.NOTEBOOKS / "audit.ipynb", {**where, **folders, **more}
        return papermill.execute_notebook(
            notebook, tmp_path / "out.ipynb", parameters, progress_bar=False, cwd=tmp_path
        )

    for wrong, words in (({"modle": "x"}, "modle"), ({"judgments": "hub"}, "write ask or stored")):
        with pytest.raises(papermill.PapermillExecutionError, match=words):
            execute(**wrong)
    assert not server.calls
    book = execute()
    assert len(server.calls) == STEADY
    assert run(tmp_path, server.url, "--stored").exit_code == 0
    for name in ("card.json", "card.md", "card.png"):
        assert (tmp_path / "notebook" / name).read_bytes() == (tmp_path / "card" / name).read_bytes(), name
    parts = [part["data"] for cell in book.cells for part in cell.get("outputs", ()) if "data" in part]
    shown = "\n".join(part.get("text/markdown", "") for part in parts)
    assert facts(tmp_path)["said"] in shown and "## What came back" in shown and "authority" in shown
