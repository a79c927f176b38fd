"""Words as categories: every number is that of the same words as texts, whatever else the categories hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from helpers import frames
from helpers.biases import cognitive, hinting, position, self_preference, top_choice
from helpers.biases.position.both_orders import CELLS, cells, codes
from helpers.datasets import audit_places
from helpers.frames import coded
from helpers.types import Answer, Completion, Estimate, Judgment, Model, Request, Trial, Verdict
from studies.calibration.designs import FITTED
from studies.calibration.worlds import games as game_worlds, listwise, pairs as pair_worlds
from studies.calibration.worlds.decisions import (
    Answerer,
    World,
    frame as decision_frame,
    gamble_sample,
    scale_sample,
    selection_sample,
)
from studies.calibration.worlds.games import GameJudge, GameWorld
from studies.calibration.worlds.pairs import BEFORE, REPEAT, PairWorld, drawn

QUESTIONS = 16


def ranked(rng: np.random.Generator) -> pd.DataFrame:
    # A vendor of judges only: its name is in no column of candidates.
    frame = listwise.frame(listwise.draw(FITTED, QUESTIONS, rng))
    one = frame[frame["judge"] == frame["judge"].iloc[0]]
    alien = one.assign(judge="other", judge_vendor="another", own_vendor=False, own_model=False)
    frame = pd.concat([frame, alien], ignore_index=True)
    # A question of which nothing is left: its name stays a category.
    lost = frame["question_id"] == frame["question_id"].iloc[0]
    return frame.assign(outcome=frame["outcome"].mask(lost, "unparsed"), top=frame["top"].mask(lost)).assign(
        **{name: frame[name].mask(lost) for name in ("rank", "score") if name in frame}
    )


def hinted(rng: np.random.Generator) -> pd.DataFrame:
    return listwise.hinted(FITTED, QUESTIONS, rng, {"self": 0.5}, named=0.5).assign(partner=0)


def paired(rng: np.random.Generator) -> pd.DataFrame:
    arms = (BEFORE, REPEAT, ("wrong", 2, 0))
    return pair_worlds.frame(drawn(PairWorld(damage={2: 0.6}), rng, arms, QUESTIONS, 3, (BEFORE,)))


def games(rng: np.random.Generator) -> pd.DataFrame:
    judges = (GameJudge("j10", primacy=0.4, lost_candidate=0.1), GameJudge("j9", noise=0.6))
    return game_worlds.frame(game_worlds.sample(GameWorld(judges), QUESTIONS, rng))


def decided(rng: np.random.Generator) -> pd.DataFrame:
    kinds = {"anchoring": (scale_sample, "anchor"), "loss_aversion": (gamble_sample, "anchor")}
    kinds |= {"confirmation": (selection_sample, "anchor")}
    who = (Answerer("m2", noise=0.1), Answerer("m1", noise=0.2))
    parts = [
        decision_frame(draw(World(who, target=target), rng, QUESTIONS, 2, 2)).assign(category=bias)
        for bias, (draw, target) in kinds.items()
    ]
    return pd.concat(parts, ignore_index=True)


Measure = Callable[[pd.DataFrame], list[Estimate]]
MEASURES: dict[str, tuple[Callable[[np.random.Generator], pd.DataFrame], Measure]] = {
    "top_choice": (ranked, lambda frame: top_choice.measure(frame, "asked", 1)),
    "hinting": (hinted, lambda frame: hinting.measure(frame, "asked", 1, 5.0)),
    "self_preference": (paired, lambda frame: self_preference.measure(frame, "asked", 1)),
    "position": (games, lambda frame: position.measure(frame, "asked", 1)),
    "cognitive": (decided, lambda frame: cognitive.measure(frame, "asked", 1)),
}


def both_forms(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The frame in any order of rows with texts, and with categories in sorted order with words that no row has."""
    frame = frame.sample(frac=1, random_state=7).reset_index(drop=True)
    words = [name for name in frame if not (frame[name].dtype.kind in "ifb" or name.startswith("flip"))]
    texts = frame.astype(dict.fromkeys(words, object)).infer_objects()
    codes = texts.copy()
    for name in words:
        codes[name] = pd.Categorical(texts[name], sorted({*texts[name].dropna(), "Zero", "zzz"}))
    return texts, codes


@pytest.mark.parametrize("name", MEASURES)
def test_numbers_of_categories_are_those_of_texts(name: str) -> None:
    draw, measure = MEASURES[name]
    texts, codes = both_forms(draw(np.random.default_rng(12)))
    found = measure(texts)
    assert len(found) > 10 and list(map(repr, measure(codes))) == list(map(repr, found))
    assert frames.losses(codes).to_csv() == frames.losses(texts).to_csv()
    assert frames.outcome_words(codes) == frames.outcome_words(texts) != ""


def test_tables_of_categories_are_those_of_texts() -> None:
    texts, codes = both_forms(hinted(np.random.default_rng(13)))
    assert top_choice.balance_of_orders(codes).to_csv() == top_choice.balance_of_orders(texts).to_csv()
    assert str(audit_places(codes)) == str(audit_places(texts))
    texts, codes = both_forms(paired(np.random.default_rng(14)))
    for of in (self_preference.outcomes, self_preference.lost_by_pick):
        assert of(codes).to_csv() == of(texts).to_csv()
    texts, codes = both_forms(games(np.random.default_rng(15)))
    of_codes, of_texts = (position.pairs(each) for each in (codes, texts))
    assert of_codes.astype(object).equals(of_texts.astype(object))
    for of in (position.patterns, position.class_counts):
        assert of(of_codes, "asked").to_csv() == of(of_texts, "asked").to_csv()


def test_words_are_categories_in_sorted_order_and_what_is_lacking_is_missing() -> None:
    found = coded([("b", 1, None), ("a10", 2, None), ("a9", None, None)], ["word", "number", "none"], ["number"])
    assert list(found["word"].cat.categories) == ["a10", "a9", "b"] and found["word"].tolist() == ["b", "a10", "a9"]
    assert found["none"].isna().all() and found["none"].dtype == "category"
    assert found["number"].dtype == float and found["number"].isna().tolist() == [False, False, True]
    empty = coded([], ["word", "number"], ["number"])
    assert list(empty.columns) == ["word", "number"] and empty.empty and not (empty["word"] == "a").any()


#: The labels in no order, and one that is none.
MIXED = pd.CategoricalDtype(["?", "B>A", "A>>B", "A=B", "B>>A", "A>B"])
GRADE = {"A>>B": 2, "A>B": 1, "A=B": 0, "B>A": -1, "B>>A": -2}


def told(one: str | None, two: str | None) -> tuple[str, str, bool]:
    """Class, place and agreement of two verdicts, said by grades: the second game's places are exchanged."""
    if one is None or two is None:
        return "invalid", "", False
    first, second = GRADE[one], GRADE[two]
    winners = [(grade > 0) - (grade < 0) for grade in (first, second)]
    kind = "no_bias" if first == -second else "weak_bias" if winners[0] == -winners[1] else "significant_bias"
    both = {(1, 1): "first", (-1, -1): "second"}.get(tuple(winners), "")
    return kind, both, winners[0] == -winners[1]


def test_classes_of_codes_are_those_of_the_verdicts() -> None:
    every = [*GRADE, None]
    one, two = (pd.Series([pair[at] for pair in product(every, every)], dtype="str") for at in (0, 1))
    expected = [told(*pair)[0] for pair in product(every, every)]
    for form in ("str", object, "category", MIXED):
        found = cells(codes(one.astype(form)), codes(two.astype(form)))
        assert found.dtype == np.int8 and CELLS["kind"].take(found).tolist() == expected
    assert codes(pd.Series(["A<B", "", "a>b"])).tolist() == [-1, -1, -1]


@pytest.mark.parametrize("form", ["str", "category"])
def test_pairs_of_shuffled_games_are_found_in_order(form: str) -> None:
    rng, rows, expected = np.random.default_rng(16), [], {}
    known = {"experiment": "e", "source": "s", "baseline": "b", "condition": "none", "outcome": "ok"}
    known |= dict.fromkeys(("judge_vendor", "judge_model", "candidate_vendor"), "v")
    for judge, candidate, number, repeat in product(("j9", "j10"), ("c", "C"), range(9, 12), (0, 1)):
        at = {"judge": judge, "candidate": candidate, "question_id": f"q{number}", "category": "x" * (number % 2)}
        said: list[str | None] = [None, None]
        for game, first in enumerate(("baseline", "candidate")):
            if rng.random() < 0.8:
                said[game] = rng.choice(list(GRADE))
                label = {"first": first, "repeat": repeat, "games": 2, "score": said[game], "verdict": said[game]}
                rows.append({**known, **at, **label})
        if said != [None, None]:
            expected[judge, candidate, f"q{number}", repeat] = (*said, *told(*said))
    frame = pd.DataFrame(rows, columns=list(frames.GAMES)).sample(frac=1, random_state=1)
    words = [name for name in frames.GAMES if name not in ("repeat", "games")]
    table = position.pairs(frame.astype(dict.fromkeys(words, form))).astype(object)
    table = table.where(table.notna(), None)
    key = ["judge", "candidate", "question_id", "repeat"]
    assert list(map(tuple, table[key].to_numpy())) == sorted(expected)
    found = table[["verdict_1", "verdict_2", "kind", "both", "agree"]].to_numpy()
    assert list(map(tuple, found)) == [expected[at] for at in sorted(expected)]
    assert table["score_1"].tolist() == table["verdict_1"].tolist()


# --- the pair frame ---------------------------------------------------------------------------------------------------

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
