"""Words as categories: every number is that of the same words as texts, whatever else the categories hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from helpers import frames
from helpers.biases import cognitive, hinting, position, self_preference, top_choice
from helpers.calibrate.worlds import game_frames, listwise, listwise_frames, pair_frames
from helpers.calibrate.worlds.decision_frames import frame as decision_frame
from helpers.calibrate.worlds.decisions import Answerer, World, gamble_sample, scale_sample, selection_sample
from helpers.calibrate.worlds.games import GameJudge, GameWorld
from helpers.calibrate.worlds.pairs import BEFORE, REPEAT, PairWorld, drawn
from helpers.datasets import audit_places
from helpers.frames.coding import coded
from helpers.power.worlds import FITTED
from helpers.types import Estimate

QUESTIONS = 16


def ranked(rng: np.random.Generator) -> pd.DataFrame:
    # A vendor of judges only: its name is in no column of candidates.
    frame = listwise_frames.frame(listwise.draw(FITTED, QUESTIONS, rng))
    one = frame[frame["judge"] == frame["judge"].iloc[0]]
    alien = one.assign(judge="other", judge_vendor="another", own_vendor=False, own_model=False)
    return pd.concat([frame, alien], ignore_index=True)


def hinted(rng: np.random.Generator) -> pd.DataFrame:
    return listwise_frames.hinted(FITTED, QUESTIONS, rng, {"self": 0.5}, named=0.5).assign(partner=0)


def paired(rng: np.random.Generator) -> pd.DataFrame:
    arms = (BEFORE, REPEAT, ("wrong", 2, 0))
    return pair_frames.frame(drawn(PairWorld(damage={2: 0.6}), rng, arms, QUESTIONS, 3, (BEFORE,)))


def games(rng: np.random.Generator) -> pd.DataFrame:
    judges = (GameJudge("j10", primacy=0.4, lost_candidate=0.1), GameJudge("j9", noise=0.6))
    return game_frames.frame(game_frames.sample(GameWorld(judges), QUESTIONS, rng))


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
    """The frame with texts, and with categories in sorted order that hold words which no row has."""
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
    assert frames.outcomes_told(codes) == frames.outcomes_told(texts) != ""


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
    assert position.patterns(of_codes).to_csv() == position.patterns(of_texts).to_csv()


def test_words_are_categories_in_sorted_order_and_what_is_lacking_is_missing() -> None:
    found = coded(
        [("b", 1, None), ("a10", 2, None), ("a9", None, None)], ["word", "number", "none"], ["word", "none"], ["number"]
    )
    assert list(found["word"].cat.categories) == ["a10", "a9", "b"] and found["word"].tolist() == ["b", "a10", "a9"]
    assert found["none"].isna().all() and found["none"].dtype == "category"
    assert found["number"].dtype == float and found["number"].isna().tolist() == [False, False, True]
    empty = coded([], ["word", "number"], ["word"], ["number"])
    assert list(empty.columns) == ["word", "number"] and empty.empty and not (empty["word"] == "a").any()
