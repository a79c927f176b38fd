"""The checkers of a newcomer's tasks take right answers and refuse wrong ones."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pandas as pd

from helpers.analyze import analyze
from studies.newcomer.__main__ import check, give


def test_votes_are_checked_by_place_interval_and_figure(tmp_path: Path) -> None:
    give(1, tmp_path)
    votes = pd.read_csv(tmp_path / "votes.csv").rename(columns={"grader": "judge", "prompt_id": "question"})
    votes = votes.assign(candidates=votes["answer_1"] + "|" + votes["answer_2"], verdict=votes["preferred"])
    found = analyze(votes[["judge", "question", "candidates", "verdict"]]).estimates
    (each,) = (one for one in found if one.id == "first_position_effect")
    (tmp_path / "place.png").touch()
    right = {"place": "second", "pp": -100 * each.value, "low": 100 * each.low, "high": 100 * each.high}
    for change, words in (
        ({}, ""),
        ({"place": "first"}, "the effect is"),
        ({"pp": 12}, "the effect is"),
        ({"low": right["pp"], "high": right["pp"]}, "the interval should be"),
        ({"figure": "none.png"}, "no figure"),
    ):
        (tmp_path / "answer.json").write_text(json.dumps(right | {"figure": "place.png"} | change))
        said = check(1, tmp_path)
        assert words in said and bool(said) is bool(words), change


def test_a_notebook_must_be_executed_and_show_both_effects(tmp_path: Path) -> None:
    give(2, tmp_path)
    games = pd.read_parquet(tmp_path / "games.parquet")
    found = [str(each) for each in analyze(games).estimates if each.id == "first_position_effect"]
    for shown, right in ((found, True), (found[:1], False), ([], False)):
        outputs = [nbformat.v4.new_output("stream", text="\n".join(shown))] if shown else []
        cell = nbformat.v4.new_code_cell("show()", outputs=outputs)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), tmp_path / "answer.ipynb")
        assert (check(2, tmp_path) == "") is right, shown


def test_a_card_and_a_paper_are_read_as_they_are_written(tmp_path: Path) -> None:
    probes = [
        {"probe": "order", "id": "first", "verdict": "biased"},
        {"probe": "names", "id": "n", "verdict": "untold"},
    ]
    (tmp_path / "card").mkdir()
    (tmp_path / "card" / "card.json").write_text(json.dumps({"judge": {"model": "house-judge"}, "probes": probes}))
    for biased, right in ((["order"], True), ([], False), (["order", "names"], False)):
        (tmp_path / "answer.json").write_text(json.dumps({"biased": biased}))
        assert (check(3, tmp_path) == "") is right, biased
    (tmp_path / "recuse" / "figures").mkdir(parents=True)
    (tmp_path / "recuse" / "figures" / "x.tex").touch()
    numbers = "".join(rf"\RecuseNumber{{Number{letter}}}{{1}}" for letter in "ABC")
    (tmp_path / "recuse" / "numbers.tex").write_text(numbers)
    figure = r"\input{\RecuseFolder figures/x}"
    for text, right in (
        (figure + r"\NumberAFull{} \NumberBFull{} \NumberCInterval", True),
        (figure + r"\NumberA \NumberB \NumberC", False),
        (figure + r"\NumberAFull{} \NumberBFull{} \UnknownFull", False),
        (r"\input{\RecuseFolder figures/y}\NumberAFull{} \NumberBFull{} \NumberCFull{}", False),
    ):
        (tmp_path / "paper.tex").write_text(text)
        assert (check(4, tmp_path) == "") is right, text
