"""Two results side by side: what moved, how sure that is, and what else is not the same."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from helpers import run
from helpers.__main__ import main
from helpers.audit import measuring
from helpers.compare import by_card, compare, independent, leave_out
from helpers.export import PROTOCOL, as_json, numbers
from helpers.run.asking import bias_of
from helpers.stats.tests import holm
from helpers.types import Estimate
from helpers.words import differences
from tests import audits
from tests.runs import asked

PROBES = {name: probe.id for name, probe in measuring.PROBES.items()}


def by_question(table: pd.DataFrame) -> dict[str, dict[str, list[float]]]:
    kept = {PROBES[name]: rows.dropna() for name, rows in measuring.blocks(table).items()}
    return {id: rows.groupby("question")["value"].agg(list).to_dict() for id, rows in kept.items()}


def card(folder: Path, table: pd.DataFrame, name: str = "j", **changed: Any) -> Path:
    """A card as an audit writes it, as far as it is compared."""
    estimates, beside = measuring.measure(table, name, "asked", 1), measuring.described(table, name, "asked", 1)
    content = {
        "experiment": "audit",
        "data": "asked",
        "judge": {"name": name, "model_id": "m", "returned": ["m-1"], "params": {}, "structured": True},
        "battery": {"version": "1", "sha256": "a" * 64, "questions": 24, "calls": 600},
        "parser": 7,
        "probes": numbers(estimates),
        "described": numbers(beside),
        "comparisons": by_question(table),
    }
    for key, value in changed.items():
        part, _, inner = key.partition("__")
        content[part] = {**content[part], inner: value} if inner else value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "card.json").write_bytes(as_json({key: value for key, value in content.items() if value is not None}))
    return folder / "card.json"


def twice(world: int, **second: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two audits by one judge: the same questions, other noise; the second with `second`."""
    tables = []
    for at, more in enumerate(({}, second)):
        same, noise = np.random.default_rng(world), np.random.default_rng((world, at))
        drawn = iter([same.normal, same.normal])  # how good answers are
        rng: Any = SimpleNamespace(logistic=noise.logistic)
        rng.normal = lambda *a, drawn=drawn, noise=noise, **b: next(drawn, noise.normal)(*a, **b)
        tables.append(audits.drawn(rng, **more))
    return tables[0], tables[1]


#: A judge that has come to like the first place, whatever letter it bears.
FIRST = dict.fromkeys(("plain", "letters"), lambda rows: 3.0 * np.ones(len(rows)))


# --- cards ------------------------------------------------------------------------------------------------------------


def test_a_difference_is_b_less_a_on_the_same_questions(tmp_path: Path) -> None:
    one, two = twice(1, pulls=FIRST)
    found = compare(card(tmp_path / "a", one), card(tmp_path / "b", two)).set_index("id")
    values = [
        {id: [np.mean(each) for each in rows.values()] for id, rows in by_question(t).items()} for t in (one, two)
    ]
    for id in PROBES.values():
        assert found.loc[id, "difference"] == pytest.approx(np.mean(values[1][id]) - np.mean(values[0][id]), abs=1e-5)
    moved = found.loc["first_position_effect"]
    assert (
        moved["verdict"] == "moved"
        and moved["how"] == "paired by question"
        and moved["low"] > 0.2
        and moved["p"] < 0.05
    )
    assert "**is higher in B**" in moved["words"] and "of 11 tests" in moved["words"]
    rest = found.drop(index=[*PROBES.values()])
    assert not rest["confirmatory"].any() and "moved" not in set(rest["verdict"])
    assert {"repeat_disagreement", "excess_flip"} <= {*rest.index}


CHANGED: list[tuple[dict[str, Any], str]] = [
    ({}, "Confirmatory numbers that moved from A to B: 0 of 11 ("),
    ({"judge__returned": ["m-2"]}, "Other model answered: as j m-1 in A, m-2 in B"),
    ({"name": "k"}, "Other model answered: j is the judge in A, k in B."),
    ({"data": "simulated"}, "Confirmatory"),
]


@pytest.mark.parametrize(("changed", "first"), CHANGED)
def test_another_model_is_said_first(changed: dict[str, Any], first: str, tmp_path: Path) -> None:
    table, _ = twice(2)
    found = compare(card(tmp_path / "a", table), card(tmp_path / "b", table, **changed))
    assert differences(found).startswith(first)
    tested = found[found["confirmatory"]]
    assert set(tested["verdict"]) == {"no sign"} and (tested["difference"] == 0).all()


def test_simulated_verdicts_are_marked(tmp_path: Path) -> None:
    table, _ = twice(2)
    places = [card(tmp_path / name, table) for name in "ab"]
    for place in places:
        place.write_text(place.read_text().replace('"data": "asked"', '"data": "simulated"'))
    assert differences(compare(*places)).startswith("SIMULATED: confirmatory numbers")


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"battery__sha256": "b" * 64}, f"sha256 ({'a' * 64} in A, {'b' * 64} in B)"),
    ({"judge__params": {"temperature": 0}}, "params ({} in A, {'temperature': 0} in B)"),
    ({"judge__structured": False}, "structured (True in A, False in B)"),
    ({"parser": 8}, "parser (7 in A, 8 in B)"),
]


@pytest.mark.parametrize(("changed", "words"), SETTINGS)
def test_settings_that_are_not_the_same_are_named(changed: dict[str, Any], words: str, tmp_path: Path) -> None:
    one, two = twice(3)
    found = compare(card(tmp_path / "a", one), card(tmp_path / "b", two, **changed))
    assert f"Different settings: {words}." in found.attrs["notes"]
    paired = (found["how"] == "paired by question").sum()
    assert paired == (0 if "battery__sha256" in changed else 11), "other texts are other questions"


def test_a_card_without_comparisons_is_taken_as_independent(tmp_path: Path) -> None:
    one, two = twice(4)
    found = compare(card(tmp_path / "a", one, comparisons=None), card(tmp_path / "b", two))
    assert set(found["how"]) == {"from two intervals as if independent"}
    assert "0 of 18 differences are paired by question" in differences(found)
    assert "gives another verdict in" in differences(found), "its noise is that of one call, which the card has"


def test_numbers_of_one_result_alone_are_listed(tmp_path: Path) -> None:
    one, two = twice(5)
    place = card(tmp_path / "b", two)
    content = json.loads(place.read_text())
    place.write_text(json.dumps({**content, "described": content["described"][:1], "comparisons": {}}, indent=1))
    found = compare(card(tmp_path / "a", one), place)
    alone = found[found["verdict"] == "only in A"]["id"]
    assert len(alone) == 6 and f"only in A: {', '.join([*alone][:3])}" in differences(found)


def wrong(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "numbers.json").write_text(text)
    return folder


REFUSED = {
    "nothing": (lambda folder: folder / "none", "none: no numbers.json and no card.json; name a folder"),
    "no JSON": (lambda folder: wrong(folder / "x", "{"), "numbers.json: no numbers of a run and no card of an audit"),
    "no numbers": (lambda folder: wrong(folder / "x", "{}"), r"numbers.json: .*provenance"),
    "another experiment": (
        lambda folder: wrong(folder / "x", '{"provenance": {"experiment": "mt_bench_blind"}, "numbers": []}'),
        "is of audit, .* of mt_bench_blind: name two results of one experiment",
    ),
    "nothing in both": (
        lambda folder: wrong(folder / "x", '{"provenance": {"experiment": "audit"}, "numbers": []}'),
        "no number is in both",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_compared_is_refused_by_name(case: str, tmp_path: Path) -> None:
    other, words = REFUSED[case]
    with pytest.raises(ValueError, match=words):
        compare(card(tmp_path / "a", twice(6)[0]), other(tmp_path))


# --- runs -------------------------------------------------------------------------------------------------------------

RUN: dict[str, Any] = {"judges": ["sim_gpt_judge"], "candidates": ["sim_gpt_fast"], "question_limit": 40}


def results(folder: Path, **parameters: Any) -> tuple[Path, Path]:
    """The folder of a run's results and that of its replies, as a notebook leaves them."""
    made = asked("arena_hard_position_bias", **RUN, **parameters)
    found = bias_of(made.experiment).measure(made.frame, made.data, made.experiment.seed)
    content = {"protocol": PROTOCOL, "provenance": run.machine_provenance(made), "numbers": numbers(found)}
    folder.mkdir(parents=True)
    (folder / "numbers.json").write_bytes(as_json(content))
    return folder, made.experiment.store


def test_runs_whose_verdicts_are_stored_are_paired_and_show_their_noise(tmp_path: Path) -> None:
    (one, mine), (two, theirs) = (results(tmp_path / f"{seed}", seed=seed) for seed in (1, 2))
    found = compare(one, two, mine, theirs)
    number = found[found["id"] == "first_position_effect"].iloc[0]
    assert number["confirmatory"] and number["how"] == "paired by question" and number["noise"] > 0
    assert "Different settings: seed (1 in A, 2 in B)." in found.attrs["notes"]
    assert "two runs of A's judges stay within" in differences(found)
    apart = compare(one, two, mine, theirs, paired=False).set_index(["id", "where"])["difference"]
    assert found.set_index(["id", "where"])["difference"].equals(apart[found.set_index(["id", "where"]).index])
    # Without the replies, or with others than those that the numbers are of, nothing is paired.
    for stores in ([tmp_path / "nowhere"], [mine, mine]):
        assert set(compare(one, two, *stores)["how"].dropna()) == {"from two intervals as if independent"}


def test_folders_of_results_are_compared_cell_by_cell(tmp_path: Path) -> None:
    for name, seeds in (("a", (1, 2)), ("b", (2, 1))):
        for at, seed in enumerate(seeds):
            results(tmp_path / name / "cells" / f"c{at}" / "arena_hard_position_bias", seed=seed)
    results(tmp_path / "b" / "cells" / "c2" / "arena_hard_position_bias", seed=1)
    found = compare(tmp_path / "a", tmp_path / "b", paired=False)
    assert set(found["part"]) == {f"cells/c{at}/arena_hard_position_bias" for at in (0, 1)}
    assert "Not in both: cells/c2/arena_hard_position_bias." in found.attrs["notes"]
    tested = found[found["confirmatory"]]
    assert len(tested) == 2 and tested["difference"].sum() == pytest.approx(0)
    assert all("of 2 tests" in words for words in tested["words"]), "one correction for all cells"


def test_the_command_prints_what_moved_and_writes_every_row(tmp_path: Path) -> None:
    one, two = twice(1, pulls=FIRST)
    places = [card(tmp_path / "a", one), card(tmp_path / "b", two)]
    done = CliRunner().invoke(main, ["compare", *map(str, places), "--to", str(tmp_path / "moved.csv")])
    assert done.exit_code == 0 and done.stdout.strip() == differences(compare(*places))
    assert "1 of 11: first_position_effect (judge j) (Holm" in done.stdout
    assert list(pd.read_csv(tmp_path / "moved.csv")["id"]) == list(compare(*places)["id"])


# --- how often it is wrong --------------------------------------------------------------------------------------------


def test_two_independent_intervals_are_combined_as_newcombe_combines_shares() -> None:
    """Of Wilson's intervals MOVER is Newcombe's hybrid score interval of a difference: his example, 56/70 and 48/80."""
    from helpers.stats.intervals import estimate, wilson

    shares = [estimate("x", {}, wilson(k, n), "asked") for k, n in ((48, 80), (56, 70))]
    found = independent(*shares)
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.0524, 0.3339), abs=5e-5)


def worlds(effect: float, count: int, questions: int = 200) -> Mapping[str, float]:
    """How often a judge that changed by `effect` (0: not at all) on so many questions is found, paired and not.

    It gives another verdict in a fifth of cases when it is asked the same again. Of a noisier one less is found.
    """
    found: dict[str, list[bool]] = {"paired": [], "independent": []}
    for world in range(count):
        rng = np.random.default_rng((world, questions))
        leans = rng.choice([-0.75, 0.75], questions)
        frames = []
        for more in (0.0, effect):
            signs = np.where(rng.random((questions, 2)) < (1 + leans[:, None] + more) / 2, 1.0, -1.0)
            frames.append(pd.DataFrame({"question_id": np.repeat(np.arange(questions), 2), "sign": signs.ravel()}))
        ((se, df),) = leave_out(*((frame, lambda rows: {("x", ()): rows["sign"].mean()}) for frame in frames)).values()
        means = [measuring.clustered_mean(frame["sign"], frame["question_id"]) for frame in frames]
        x, y = (Estimate("x", {}, i.value, i.low, i.high, i.n, i.clusters, "pp") for i in means)
        from scipy.stats import t

        found["paired"].append(2 * t.sf(abs(y.value - x.value) / se, df) < 0.05)
        found["independent"].append(independent(x, y).p < 0.05)
    return {way: float(np.mean(hits)) for way, hits in found.items()}


@pytest.mark.slow
def test_a_judge_that_did_not_change_is_rarely_said_to_have_moved() -> None:
    rates = worlds(0.0, 200)
    assert rates["independent"] <= rates["paired"] + 0.01 and rates["paired"] <= 0.08
    hits = []
    for world in range(100):
        one, two = map(by_question, twice(world))
        p = holm([by_card(one[id], two[id], 8).p for id in one])
        hits.append(bool((p < 0.05).any()))
    assert np.mean(hits) <= 0.07


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "least"), [(0.15, 0.75), (0.2, 0.9)])
def test_a_planted_change_at_200_questions_is_found(effect: float, least: float) -> None:
    rates = worlds(effect, 60)
    assert rates["paired"] >= least and rates["paired"] >= rates["independent"]


def test_few_questions_carry_no_interval() -> None:
    frame = pd.DataFrame({"question_id": range(9), "sign": 1.0})
    assert leave_out((frame, lambda rows: {("x", ()): 1.0}), (frame, lambda rows: {("x", ()): 0.5})) == {}
    assert math.isnan(by_card({"q": [1.0]}, {"q": [0.0]}, 8).low)


@pytest.mark.parametrize(
    "changed",
    [
        {"comparisons": "none"},
        {"comparisons": {"length_effect": [1, 2]}},
        {"comparisons": {"length_effect": {"q1": ["high"]}}},
        {"comparisons": {"length_effect": {"q1": 3}}},
        {"battery": []},
        {"battery": {}},
        {"judge": {}},
        {"judge": None},
        {"probes": None},
        {"probes": [{"id": 1}]},
    ],
)
def test_a_card_that_is_none_ends_in_a_sentence_or_without_pairing(tmp_path: Path, changed: dict[str, Any]) -> None:
    place = card(tmp_path / "b", twice(5)[1])
    place.write_text(json.dumps({**json.loads(place.read_text()), **changed}))
    done = CliRunner().invoke(main, ["compare", str(place), str(card(tmp_path / "a", twice(5)[0]))])
    assert done.exit_code == 0 or (isinstance(done.exception, ValueError) and "card.json" in str(done.exception))
    assert changed == {"battery": {}} or done.exit_code
