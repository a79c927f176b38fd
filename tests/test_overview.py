"""The overview reads what it is given and names no experiment; what a run hands on to it is of that run."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import overview, paths, run
from helpers.biases import top_choice
from helpers.config import ConfigError, experiment_names, load_experiment
from helpers.export import contents, export, numbers
from helpers.figures import cards
from helpers.judge import Account, Spending
from helpers.overview import read
from helpers.run.asking import tell
from helpers.run.notebooks import collected, load_collection
from helpers.types import Estimate, Price
from helpers.words import CardLine
from tests.cells import run_cells, tables
from tests.runs import full_estimates, full_run, published_counts

NAN = float("nan")
NOTEBOOK = paths.NOTEBOOKS / "00_overview.ipynb"


def line(judge: str, measure: str, verdict: str, value: float = 0.1, data: str = "asked") -> CardLine:
    estimate = Estimate(
        "effect",
        {"judge": judge},
        value,
        value - 0.05,
        value + 0.05,
        n=80,
        clusters=40,
        unit="pp",
        method="t",
        data=data,
    )
    return CardLine(judge, measure, estimate, verdict, f"is {verdict}", 0.01, 0.07)


def record(each: Estimate) -> dict[str, Any]:
    (found,) = numbers([each])
    return found


def results(folder: Path, name: str, lines: list[CardLine], cost: float = 0.5, **changes: Any) -> Path:
    """A folder as an experiment's notebook leaves it, with one row for each source of data of `lines`."""
    card = [{**asdict(each), "estimate": record(each.estimate)} for each in lines]
    first: dict[str, Estimate] = {}
    for each in lines:
        first.setdefault(each.estimate.data, each.estimate)
    rows = [{"sentence": f"{name} says it.", **record(e), "unreadable": 0.25} for e in first.values()]
    claims = pd.DataFrame(
        [
            {"id": "x", "quantity": "a", "published": 1.0, "recomputed": 1.0, "unit": "%", "tolerance": 0.1}
            | {"status": "reproduced", "reason": "", "source": "s", "kind": "printed"},
            {"id": "y", "quantity": "b", "published": 1.0, "recomputed": 2.0, "unit": "%", "tolerance": 0.1}
            | {"status": "differs", "reason": "a slip", "source": "s", "kind": "printed"},
        ]
    )
    models = [{"model": "m", "calls": 2, "input": 30, "output": 4, "usd": cost}]
    summary = {"title": name, "question": f"{name}?", "rows": rows, "card": card, "models": models} | changes
    export(folder, [], [], [], {"experiment": name}, claims, summary=summary)
    return folder


@pytest.fixture
def two(tmp_path: Path) -> list[str]:
    published = line("old", "place", "bias", -0.3, "published")
    mine = [published, line("a", "place", "bias"), line("a", "unreadable", "described", 0.02)]
    other = [line("a", "unreadable", "described", 0.3), line("b", "kin", "hint", 0.2)]
    return [
        str(results(tmp_path / "one", "mt_bench_blind", mine)),
        str(results(tmp_path / "two", "cognitive_biases", other, cost=NAN)),
    ]


def collected_of(folders: list[str], **more: Any) -> list[overview.Found]:
    return overview.collect(load_collection("overview", results=folders, **more))


# --- what is collected ------------------------------------------------------------------------------------------------


def test_the_code_of_the_overview_names_no_experiment() -> None:
    files = [paths.ROOT / "helpers/overview.py", NOTEBOOK, paths.ROOT / "helpers/figures/cards.py"]
    for file in files:
        assert not [name for name in experiment_names() if name in file.read_text(encoding="utf-8")], file


def test_experiments_come_in_the_order_of_their_notebooks_published_data_first(two: list[str]) -> None:
    found = collected_of(two[::-1])
    assert [each.name for each in found] == ["mt_bench_blind", "cognitive_biases"]
    table = overview.rows(found)
    assert table["data"].tolist() == ["published", "asked", "asked"]
    assert table["unreadable"].tolist() == ["25.0%"] * 3
    assert table["usd"].tolist() == ["", "0.50", "not known"]


def test_simulated_judges_cost_nothing(tmp_path: Path) -> None:
    free = results(tmp_path / "free", "mt_bench_blind", [line("a", "place", "bias", data="simulated")], models=[])
    assert overview.rows(collected_of([str(free)]))["usd"].tolist() == ["0.00"]


def test_what_has_no_results_is_listed_and_what_failed_is_not_read(two: list[str]) -> None:
    collection = load_collection("overview", results=two, failed=["mt_bench_blind"])
    found = overview.collect(collection)
    assert [each.name for each in found] == ["cognitive_biases"]
    absent = overview.absent(collection, found)
    assert absent["mt_bench_blind"] == "failed in this run" and absent["hinting_groups"] == "not run"
    assert set(absent) == set(experiment_names()) - {"cognitive_biases"}
    table = overview.rows(found, absent)
    assert table.loc[table["experiment"] == "mt_bench_blind", "finding"].tolist() == ["failed in this run."]
    assert "mt_bench_blind (failed in this run)" in overview.bottom_line(found, absent)
    assert "old" not in overview.bottom_line(found, absent)


def test_a_folder_of_runs_is_all_its_runs_and_each_judge_has_a_row_a_run(tmp_path: Path) -> None:
    shared = line("old", "place", "bias", -0.3, "published")
    for name, value in (("seed1", 0.1), ("seed2", 0.2)):
        results(tmp_path / "matrix" / name, "mt_bench_blind", [shared, line("a", "place", "bias", value)])
    (tmp_path / "matrix" / "notes").mkdir()
    found = collected_of([str(tmp_path / "matrix")])
    assert [each.run for each in found] == ["seed1", "seed2"]
    assert overview.words(found)["judge"].tolist() == ["a (seed2)", "a (seed1)", "old"]
    assert overview.rows(found)["experiment"].tolist()[1:] == ["mt_bench_blind (seed1)", "mt_bench_blind (seed2)"]
    assert (overview.rows(found)["data"] == "published").sum() == 1
    assert len(overview.claims(found)) == 2, "claims are about published data, which the runs share"
    assert [each.judge for each in overview.lines(found)] == ["old", "a (seed1)", "a (seed2)"]
    assert [each.where.get("run") for each in overview.estimates(found)] == ["seed1", "seed1", "seed2"], (
        "one of published data"
    )
    assert {each.where["experiment"] for each in overview.estimates(found)} == {"mt_bench_blind"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rows": [{"sentence": "x"}]}, "'unreadable' is missing|key 'id' is missing|is missing"),
        ({"card": [{"judge": "a", "measure": "m", "verdict": "guilty", "estimate": {}, "words": ""}]}, "guilty"),
    ],
)
def test_a_damaged_summary_is_an_error_that_names_the_file(tmp_path: Path, changes: dict, said: str) -> None:
    folder = results(tmp_path / "bad", "mt_bench_blind", [line("a", "place", "bias")], **changes)
    with pytest.raises(ValueError, match=f"summary.json: .*({said}).*make these results again"):
        collected_of([str(folder)])


def test_another_protocol_no_json_and_an_empty_folder_are_errors_that_say_so(tmp_path: Path) -> None:
    folder = results(tmp_path / "bad", "mt_bench_blind", [line("a", "place", "bias")])
    path = folder / "summary.json"
    path.write_text(path.read_text().replace('"1.1"', '"9.0"'))
    with pytest.raises(ValueError, match=r"summary\.json: protocol = '9\.0': Input should be '1\.0' or '1\.1'"):
        collected_of([str(folder)])
    path.write_text("{")
    with pytest.raises(ValueError, match="no JSON"):
        collected_of([str(folder)])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"empty: neither it nor a folder in it holds a summary\.json"):
        collected_of([str(tmp_path / "empty")])


# --- what is said -----------------------------------------------------------------------------------------------------


def test_every_line_has_its_words_and_of_several_experiments_a_cell_the_gravest(two: list[str]) -> None:
    shown = cards.cells(overview.lines(collected_of(two)))
    assert cards.measures(overview.lines(collected_of(two))) == ["place", "kin", "unreadable"]
    assert shown[("asked", "a"), "unreadable"].estimate.value == 0.3 and (("asked", "b"), "place") not in shown
    words = overview.words(collected_of(two))
    assert len(words) == 5 and len(overview.words(collected_of(two), judged=True)) == 3


def test_the_bottom_line_says_who_is_distrusted_for_what_and_what_is_simulated(tmp_path: Path, two: list[str]) -> None:
    lines = [line("sim_a", "place", "bias", 0.2, "simulated"), line("sim_b", "place", "untold", 0.2, "simulated")]
    third = str(results(tmp_path / "three", "hinting_groups", lines))
    told = overview.bottom_line(collected_of([*two, third])).splitlines()
    assert "*place*: a +10.0 pp" in told[0] and "**hinted at** in *kin*: b +20.0 pp" in told[0]
    assert told[1].startswith("- **Published counts** (1 judge): bias **shown** in *place*: old \N{MINUS SIGN}30.0 pp.")
    assert told[2].startswith("- **SIMULATED models** (2 judges, 1 of them without a verdict)")
    assert told[2].endswith("This says nothing of real models.")
    assert told[3] == "- **Published numbers**: of 6 that can fail 3 come out, 3 differ."
    assert "recuse run" in overview.bottom_line([])
    few = str(results(tmp_path / "few", "hinting_groups", [line("c", "place", "untold")]))
    assert "(1 judge, 1 of them without a verdict): of no bias anything can be told." in overview.bottom_line(
        collected_of([few])
    )


def test_a_number_in_logits_says_so_and_what_was_not_tested_has_no_p(tmp_path: Path) -> None:
    bare = line("a", "unreadable", "described")
    bare = replace(bare, p=NAN, smallest=NAN, estimate=replace(bare.estimate, unit="logit"))
    found = collected_of([str(results(tmp_path / "logit", "mt_bench_blind", [bare]))])
    assert overview.rows(found)["estimate"].tolist() == ["+0.10 [+0.05, +0.15] logits"]
    assert overview.words(found)[["p", "smallest"]].values.tolist() == [["", ""]]


def test_many_judges_of_one_verdict_are_counted_and_the_first_named(tmp_path: Path) -> None:
    lines = [line(f"j{i}", "place", "bias", 0.3 - i / 100) for i in range(12)]
    told = overview.bottom_line(collected_of([str(results(tmp_path / "many", "mt_bench_blind", lines))]))
    assert "j0 +30.0 pp" in told and "j7 +23.0 pp and 4 more." in told and "j8" not in told


def test_a_number_within_its_published_interval_comes_out(tmp_path: Path, two: list[str]) -> None:
    path = Path(two[0]) / "claims.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("differs", "within interval"), encoding="utf-8")
    assert "of 4 that can fail 3 come out, 1 differ" in overview.bottom_line(collected_of(two))


def test_claims_are_counted_by_status_and_told_with_their_reason(two: list[str]) -> None:
    found = collected_of(two)
    counted = overview.statuses(overview.claims(found)).set_index("experiment")
    assert counted.loc["all", ["reproduced", "differs", "claims"]].tolist() == [2, 2, 4]
    odd = overview.exceptions(overview.claims(found))
    assert odd["experiment"].tolist() == ["mt_bench_blind", "cognitive_biases"] and set(odd["reason"]) == {"a slip"}
    assert overview.claims_words(overview.claims(found)).startswith("Of 4 published numbers that can fail 2 come out")
    apart = overview.claims(found).assign(kind=["printed", "recovered", "printed", "derived"])
    table = overview.statuses(apart).set_index("experiment")
    assert table.loc["all", ["claims", "cannot fail"]].tolist() == [2, 2] and "Of 2 " in overview.claims_words(apart)
    assert overview.claims([]).empty and overview.exceptions(overview.claims([])).empty
    assert overview.claims_words(overview.claims([])) == "No published number was checked."


def test_tokens_are_summed_and_a_price_that_is_not_known_is_said(tmp_path: Path, two: list[str]) -> None:
    third = str(results(tmp_path / "three", "hinting_groups", [line("a", "place", "bias")], cost=0.25))
    found = collected_of([two[0], third])
    total = overview.costs(found).iloc[-1]
    assert (total["calls"], total["input"], total["output"], total["usd"]) == (4, 60, 8, 0.75)
    assert "4 replies, 60 tokens in and 8 out, for $0.75" in overview.costs_words(found)
    found = collected_of(two)
    assert math.isnan(overview.costs(found).iloc[-1]["usd"])
    assert "4 replies" in overview.costs_words(found) and "price that is not known" in overview.costs_words(found)
    assert overview.rows(found)["usd"].tolist()[-1] == "not known"
    asked_nothing = str(results(tmp_path / "four", "hinting_groups", [line("a", "place", "bias")], models=[]))
    assert overview.costs_words(collected_of([asked_nothing])) == "Nothing was asked."


# --- its config, and the run it belongs to ----------------------------------------------------------------------------


def test_a_collection_is_no_experiment_and_the_other_way_round() -> None:
    assert experiment_names(collecting=True) == ["overview"] and "overview" not in experiment_names()
    with pytest.raises(ConfigError, match=r"no experiment 'overview'; there are: arena_hard"):
        load_experiment("overview")
    with pytest.raises(ConfigError, match="'mt_bench_blind' collects nothing; these do: overview"):
        load_collection("mt_bench_blind")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"question_limit": 5}, "no parameter question_limit; it has: results, failed, figure_style, out"),
        ({"results": "figures"}, "results = 'figures'"),
        ({"results": []}, r"results = \[\]: List should have at least 1 item"),
        ({"results": ["nowhere"]}, "nowhere: no such folder"),
        ({"failed": ["nobody"]}, "failed.0 = 'nobody': there are: arena_hard"),
        ({"figure_style": "loud"}, "figure_style = 'loud'"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        load_collection("overview", **given)


def test_only_the_default_goes_where_tracked_results_are(tmp_path: Path) -> None:
    usual, styled = load_collection("overview"), load_collection("overview", figure_style="talk")
    assert usual.default and usual.out == paths.FIGURES / "overview"
    assert usual.results == tuple(paths.FIGURES / name for name in experiment_names())
    assert not styled.default and styled.out.parent == paths.RUNS and styled.results == usual.results
    assert load_collection("overview", out=str(tmp_path)).out == tmp_path.resolve()


def test_after_a_run_with_parameters_its_own_folders_are_collected_and_no_others() -> None:
    names = ["mt_bench_blind", "cognitive_biases"]
    assert collected({}, names, []) == {}
    given = collected({"question_limit": 5, "figure_style": "talk"}, names, [])
    wanted = [load_experiment(name, question_limit=5, figure_style="talk").out for name in names]
    assert given == {"results": list(map(str, wanted)), "figure_style": "talk"}
    failed = collected({}, names, ["mt_bench_blind"])
    assert failed == {"results": [str(paths.FIGURES / "cognitive_biases")], "failed": ["mt_bench_blind"]}


# --- the notebook -----------------------------------------------------------------------------------------------------


def test_the_notebook_goes_through_on_a_run_of_one_s_own(tmp_path: Path, two: list[str]) -> None:
    names, shown = run_cells(NOTEBOOK, draw=True, results=two, out=str(tmp_path / "out"), failed=["hinting_groups"])
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert {"judge_card.png", "judge_card.csv", "experiments.csv", "claims.csv", "numbers.json"} <= files
    content = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert content["provenance"]["absent"]["hinting_groups"] == "failed in this run"
    assert str(tmp_path) not in json.dumps(content) and len(content["numbers"]) == 3
    assert len(tables(shown)) == 5 and names["absent"]["hinting_groups"] == "failed in this run"


def test_the_notebook_goes_through_where_there_is_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "FIGURES", tmp_path / "figures")
    names, _ = run_cells(NOTEBOOK, out=str(tmp_path / "out"))
    assert set(names["absent"].values()) == {"not run"} and names["card"] == []
    assert (tmp_path / "out" / "numbers.json").is_file()


# --- what a run hands on ----------------------------------------------------------------------------------------------


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
    assert [vars(each) for each in found.models] == run.costs(full_run())["models"] != []


def test_tokens_are_those_of_all_replies_answers_and_verdicts_once_each() -> None:
    told = run.costs(full_run())
    assert told["spent_usd"] == 0.0 and {row["model"] for row in told["models"]} == {
        model.name for model in full_run().experiment.judges
    }
    replies = {}
    for each in (*full_run().replies.values(), *full_run().judgments):
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

    return replace(asked, replies={}, judgments=tuple(map(priced, asked.judgments)))


def test_dollars_are_price_times_tokens_and_unknown_where_no_price_is() -> None:
    priced = run.costs(dear(full_run(), price=Price(input=2.0, output=10.0)))
    for row in priced["models"]:
        assert row["usd"] == pytest.approx((2.0 * row["input"] + 10.0 * row["output"]) / 1e6)
    unknown = run.costs(dear(full_run(), provider="openai", model_id="nobody-knows-this-one"))
    assert all(math.isnan(row["usd"]) for row in unknown["models"])
    nothing = run.costs(replace(full_run(), replies={}, judgments=()))
    assert (nothing["spent_usd"], nothing["models"], nothing["stored"]) == (0.0, [], [])


def test_what_was_asked_before_is_told_apart_from_what_this_run_asked() -> None:
    judgments = dear(full_run(), price=Price(input=2.0, output=10.0)).judgments
    keys = sorted({each.trial.request.key for each in judgments if each.completion})
    rows = (Spending("a", 4, 0.5, 0.0, 1, 0.125, 10, 20, 5, limit=0.75), Spending("b", 1, 0.25, input=1))
    account = Account(2.0, rows, frozenset(keys[: len(keys) // 3]))
    told = run.costs(replace(full_run(), replies={}, judgments=judgments, account=account))
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
