"""What a run hands on to the overview: its own numbers, its judges' vendors as the frame knows them, its tokens."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

from helpers import run
from helpers.biases import top_choice
from helpers.export import contents, export
from helpers.judge import Account, Spending
from helpers.overview.collecting import read
from helpers.run.asking import tell
from helpers.types import Price
from tests.runs import full_estimates, full_run, published_counts


@pytest.fixture(scope="module")
def summary() -> dict:
    return run.summary(full_run(), top_choice.from_published(published_counts()), full_estimates())


def test_a_row_a_source_published_first_with_its_number_and_what_was_lost(summary) -> None:
    assert (summary["title"], summary["question"]) == ("mt_bench_blind", full_run().experiment.title)
    assert [row["data"] for row in summary["rows"]] == ["published", "simulated"]
    lost = sum(judgment.outcome != "ok" for judgment in full_run().judgments) / len(full_run().judgments)
    assert lost > 0 and summary["rows"][1]["unreadable"] == pytest.approx(lost)
    assert math.isnan(summary["rows"][0]["unreadable"])
    assert summary["rows"][1]["sentence"].startswith("SIMULATED: ")
    published, simulated = summary["rows"]
    assert published["id"] == "excess_self_preference" and simulated["id"] == "self_preference_effect"


def test_each_judge_has_the_line_of_its_vendor(summary) -> None:
    effects = {e.where["vendor"]: e.value for e in full_estimates() if e.id == "self_preference_effect"
               and set(e.where) == {"vendor"}}  # fmt: skip
    lines = [x for x in summary["card"] if x["measure"] == "self-preference" and x["estimate"]["data"] == "simulated"]
    wanted = {judge.name: effects[judge.vendor] for judge in full_run().experiment.judges}
    assert {x["judge"]: x["estimate"]["value"] for x in lines} == pytest.approx(wanted, rel=1e-4)


def test_what_is_written_is_read_back_and_the_same_bytes_twice(summary, tmp_path) -> None:
    for folder in ("one", "two"):
        export(tmp_path / folder, [], [], [], {"experiment": "x"}, run=run.costs(full_run()), summary=summary)
    one, two = ((tmp_path / folder / "summary.json").read_bytes() for folder in ("one", "two"))
    assert one == two and "summary.json" not in contents("x", [], [], [], {})
    found = read(tmp_path / "one")
    assert [line.judge for line in found.lines] == [line["judge"] for line in summary["card"]]
    assert [row.sentence for row in found.rows] == [row["sentence"] for row in summary["rows"]]
    assert list(found.models) == json.loads(json.dumps(run.costs(full_run())["models"])) and found.models


def test_tokens_are_those_of_all_replies_answers_and_verdicts_once_each() -> None:
    told = run.costs(full_run())
    assert told["spent_usd"] == 0.0 and {row["model"] for row in told["models"]} == {
        model.name for model in full_run().experiment.judges
    }
    replies = {}
    for each in (*full_run().said.values(), *full_run().judgments):
        if each.completion:
            replies[each.trial.request.key] = each
    assert sum(row["calls"] for row in told["models"]) == len(replies)
    assert sum(row["output"] for row in told["models"]) == sum(e.completion.usage.output for e in replies.values())
    twice = replace(full_run(), judgments=(*full_run().judgments, *map(replace, full_run().judgments)))
    assert run.costs(twice) == told, "trials that share a reply pay it once"


def dear(asked: run.Asked, **changes: object) -> run.Asked:
    """The same run as if its judges were other models."""

    def priced(judgment):
        model = replace(judgment.trial.request.model, **changes)
        return replace(judgment, trial=replace(judgment.trial, request=replace(judgment.trial.request, model=model)))

    return replace(asked, said={}, judgments=tuple(map(priced, asked.judgments)))


def test_dollars_are_price_times_tokens_and_unknown_where_no_price_is() -> None:
    priced = run.costs(dear(full_run(), price=Price(input=2.0, output=10.0)))
    for row in priced["models"]:
        assert row["usd"] == pytest.approx((2.0 * row["input"] + 10.0 * row["output"]) / 1e6)
    unknown = run.costs(dear(full_run(), provider="openai", model_id="nobody-knows-this-one"))
    assert all(math.isnan(row["usd"]) for row in unknown["models"])
    nothing = run.costs(replace(full_run(), said={}, judgments=()))
    assert (nothing["spent_usd"], nothing["models"], nothing["stored"]) == (0.0, [], [])


def test_what_was_asked_before_is_told_apart_from_what_this_run_asked() -> None:
    judgments = dear(full_run(), price=Price(input=2.0, output=10.0)).judgments
    keys = sorted({each.trial.request.key for each in judgments if each.completion})
    rows = (Spending("a", 4, 0.5, 0.0, 1, 0.125, 10, 20, 5, limit=0.75), Spending("b", 1, 0.25, input=1))
    account = Account(2.0, rows, frozenset(keys[: len(keys) // 3]))
    told = run.costs(replace(full_run(), said={}, judgments=judgments, account=account))
    every = {row["model"]: row for row in told["models"]}
    for row in told["stored"]:
        some = [
            each.completion.usage
            for each in {each.trial.request.key: each for each in judgments}.values()
            if each.trial.judge.name == row["model"] and each.trial.request.key in keys[len(keys) // 3 :]
        ]
        assert row["calls"] == len(some) < every[row["model"]]["calls"]
        assert row["usd"] == pytest.approx(sum(2.0 * used.input + 10.0 * used.output for used in some) / 1e6)
    assert {row["model"] for row in told["stored"]} == set(every)
    assert told["spent_usd"] == 0.75 and told["account"]["budget_usd"] == 2.0
    first, second = told["account"]["models"]
    assert first == {
        **{"model": "a", "attempts": 4, "spent_usd": 0.5, "reserved_usd": 0.0, "remaining_usd": 0.25},
        **{"budget_usd": 0.75, "maybe_billed": 1, "maybe_billed_usd": 0.125, "input": 10, "output": 20, "cached": 5},
    }
    assert second["remaining_usd"] is None and second["budget_usd"] is None
    total = told["account"]["total"]
    for name in ("attempts", "spent_usd", "maybe_billed", "maybe_billed_usd", "input", "output", "cached"):
        assert total[name] == first[name] + second[name], name
    assert (total["remaining_usd"], total["budget_usd"]) == (1.25, 2.0)


def test_the_table_of_costs_stands_under_the_cell_of_a_notebook_that_somebody_looks_at(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda each: shown.append(each.data))
    account = Account(2.0, (Spending("gpt_fast", 4, 0.5, maybe_billed=1, maybe_billed_usd=0.125),))
    unknown = dear(full_run(), provider="openai", model_id="nobody-knows-this-one").judgments
    tell("mine", account, ())
    assert shown == [] and capfd.readouterr().err == f"mine: the account of this run, in US dollars\n{account}\n"
    monkeypatch.setenv("JPY_SESSION_NAME", "a notebook")
    tell("mine", account, unknown)
    calls = len({each.trial.request.key for each in unknown if each.completion})
    assert shown == [
        f"```text\nmine: the account of this run, in US dollars\n{account}\nNot in it: {calls} replies that were asked "
        "before, at a price that is not known of all.\n```"
    ]
    tell("mine", Account(2.0, (Spending("sim_gpt_fast", 4, simulated=True),)), ())
    assert len(shown) == 1 and capfd.readouterr().err == ""


def test_simulated_models_have_an_account_of_calls_and_no_dollars() -> None:
    account = run.costs(full_run())["account"]
    assert account["total"]["spent_usd"] == account["budget_usd"] == 0.0
