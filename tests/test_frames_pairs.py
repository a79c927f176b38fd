"""The pair frame from judgments made by hand: places become the right and the wrong answer, in both orders."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from helpers import frames
from helpers.types import Answer, Completion, Judgment, Model, Request, Trial, Verdict

JUDGE = Model("judge", "simulated", "judge-1", "beta")
ANSWERS = {
    ("q", "good"): Answer("q", "good", "alpha", "", "Because.", label="C"),
    ("q", "bad"): Answer("q", "bad", "beta", "", "Since.", label="A"),
}


def judgment(
    first: str,
    choice: str | None,
    odds: dict[str, float] | None = None,
    outcome: str = "ok",
    repeat: int = 0,
    partner: int | None = None,
) -> Judgment:
    """One asking: which answer stands first, which place was picked, and with which probability of each place."""
    shown = ("good", "bad") if first == "right" else ("bad", "good")
    where = {"article": "r", "task": "correct", "edit": "synonyms", "target": "wrong", "dose": "2"}
    where |= {"right": "good", "wrong": "bad", "first": first, "own": "wrong"}
    request = Request(JUDGE, "Which one?", repeat=repeat)
    trial = Trial(
        *("e", "q", "c", JUDGE, request, "wrong_2", "choice", shown, ("1", "2")), where=where, partner=partner
    )
    verdict = Verdict(choice=choice, probabilities=odds or {}) if choice else None
    return Judgment(trial, outcome, verdict, Completion(request.key, "ok", model="judge-1-0613"))


def row(*given: object, **more: object) -> pd.Series:
    return frames.pairwise([judgment(*given, **more)], ANSWERS).iloc[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "choice", "picked"),
    [("right", "1", "right"), ("right", "2", "wrong"), ("wrong", "1", "wrong"), ("wrong", "2", "right")],
)
def test_what_was_picked_follows_the_order_that_was_shown(first: str, choice: str, picked: str) -> None:
    found = row(first, choice)
    assert (found["first"], found["picked"]) == (first, picked) and math.isnan(found["p_right"])


@pytest.mark.parametrize("choice", ["1", "2"])
def test_the_probability_is_that_of_the_right_answer_in_both_orders(choice: str) -> None:
    odds = {"1": 0.7, "2": 0.2}
    assert row("right", choice, odds)["p_right"] == 0.7
    assert row("wrong", choice, odds)["p_right"] == 0.2


def test_a_judge_that_likes_a_place_is_told_from_one_that_likes_an_answer() -> None:
    place = [judgment(first, "1", {"1": 0.9, "2": 0.1}) for first in ("right", "wrong")]
    answer = [judgment("right", "2", {"1": 0.1, "2": 0.9}), judgment("wrong", "1", {"1": 0.9, "2": 0.1})]
    assert frames.pairwise(place, ANSWERS)["picked"].tolist() == ["right", "wrong"]
    assert frames.pairwise(place, ANSWERS)["p_right"].tolist() == [0.9, 0.1]
    assert frames.pairwise(answer, ANSWERS)["picked"].tolist() == ["wrong", "wrong"]
    assert frames.pairwise(answer, ANSWERS)["p_right"].tolist() == [0.1, 0.1]


def test_a_judgment_without_a_verdict_stays_with_its_reason() -> None:
    found = row("wrong", None, outcome="refused")
    assert pd.isna(found["picked"]) and math.isnan(found["p_right"]) and found["outcome"] == "refused"


def test_each_column_says_of_whom_it_is() -> None:
    found = row("wrong", "1", repeat=1)
    assert tuple(found.index) == frames.PAIRWISE
    told = found.drop(["p_right"]).to_dict()
    assert told == {
        **{"experiment": "e", "question_id": "q", "article": "r", "category": "c"},
        **{"judge": "judge", "judge_vendor": "beta", "judge_model": "judge-1-0613"},
        **{"condition": "wrong_2", "edit": "synonyms", "target": "wrong", "dose": 2, "repeat": 1, "task": "correct"},
        **{"right": "good", "wrong": "bad", "right_vendor": "alpha", "wrong_vendor": "beta"},
        **{"right_label": "C", "wrong_label": "A", "first": "wrong", "own": "wrong"},
        **{"picked": "wrong", "outcome": "ok", "partner": 1},
    }
    assert row("wrong", "1", partner=3)["partner"] == 3


def test_no_judgments_are_an_empty_frame_with_all_columns() -> None:
    found = frames.pairwise([], {})
    assert tuple(found.columns) == frames.PAIRWISE and found.empty and found["p_right"].dtype == float
