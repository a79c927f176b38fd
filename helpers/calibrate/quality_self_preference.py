"""Experiment 3 on simulated judges: damage, recognition and weakness planted in judges that are unequal otherwise.

What varies is the article: 20, 80 and 400 are numbers of articles, each with three questions. All pairs of four models
are judged by all four, in both orders, unedited twice and once with two words of the wrong answer's reason replaced;
authors are asked which answer they wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pandas as pd

from helpers.biases.self_preference import baseline, obfuscation, rates, recognition
from helpers.biases.self_preference.items import before, complete, items
from helpers.calibrate.cases import Case, Target
from helpers.calibrate.quality_self_preference_spoken import spoken
from helpers.calibrate.worlds.pair_frames import frame
from helpers.calibrate.worlds.pair_truths import truths
from helpers.calibrate.worlds.pairs import BEFORE, NAMES, REPEAT, Drawn, PairWorld, drawn
from helpers.types import Estimate

NAME = "quality_self_preference"
EACH = 3
EDIT = ("wrong", 2, 0)
DOSE = {"dose": "2"}
#: Judges that differ in all ways but in what an edit does to them: eye for quality, knowledge, base rate, habit, taste.
UNEQUAL = dict(
    sharpness=(2.0, 0.6, 1.0, 0.5),
    knowledge=(0.8, 0.1, 0.3, 0.5),
    lean=(-1.5, -0.2, 0.5, 1.5),
    habit=(0.8, -0.3, 0.0, 1.2),
    taste=0.8,
)
#: Judges that do not know which answer they wrote and name the one that they take for right, whoever wrote it.
BLIND = dict(recognises=(0.0, 0.0, 0.0, 0.0), claims=0.0, claims_right=0.5)
#: The headline numbers that each judge has, by what else than the judge they are of.
PLACES: dict[str, dict[str, str]] = {
    "obfuscation_effect": DOSE,
    "obfuscation_effect_pp": DOSE,
    "obfuscation_against_other_author": DOSE,
    "evaluator_quality_gap": {"stratum": baseline.PRIMARY},
    "recognition_balanced": {},
    "accuracy_harmful": {"filter": "all"},
}
#: What the published analyses compare, each with the value that it takes for "nothing is there".
PUBLISHED: dict[str, tuple[dict[str, str], float]] = {
    "regression_to_the_mean": ({}, 0.0),
    "naive_filtered_change": (DOSE, 0.0),
    "filtered_one_order_change": ({}, 0.0),
    "naive_harmful_rate": ({}, 0.5),
}


#: What these read of an item; the rest of a wide table only costs time.
_READ = [
    *("question_id", "article", "judge", "judge_vendor", "right", "wrong", "right_vendor", "wrong_vendor"),
    *("wrong_label", "own", "condition", "edit", "target", "dose", "repeat", "task", "score", "score_control"),
    *("right_first", "wrong_first", "right_first_control", "wrong_first_control", "consistent"),
]


@dataclass(frozen=True)
class _World:
    """A world, and which of its numbers are `null` there: nothing is planted, which is an exact value.

    `failing` ones are known to find something all the same, which is shown, and do cover the value that they have in a
    very large population; so are all other headline numbers to do. `lossy` ones miss what they would be if no verdict
    were lost; `published` comparisons are shown beside. Of the judges in `planted`, in whom self-preference is planted,
    nothing is null. `edits`: nothing but the effects of edits is measured.
    """

    world: PairWorld
    words: str
    null: tuple[str, ...]
    failing: tuple[str, ...] = ()
    lossy: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    planted: tuple[str, ...] = ()
    edits: bool = False


_PAIRED = ("obfuscation_effect", "obfuscation_against_other_author", "evaluator_quality_gap")
EDITS = {2: 0.6}
WORLDS = {
    "nothing": _World(
        PairWorld(lean=(-2.0, -2.0, -2.0, -2.0), habit=(0.4, 0.4, 0.4, 0.4), taste=0.8, **BLIND),
        "Nothing is there: edits change nothing and nobody prefers itself. Wrong answers persuade all judges alike.",
        (*_PAIRED, "obfuscation_effect_pp", "recognition_balanced"),
        published=("regression_to_the_mean", "naive_filtered_change", "filtered_one_order_change"),
    ),
    "unequal": _World(
        PairWorld(damage=EDITS, **UNEQUAL),
        "Edits damage texts; judges differ in sharpness, knowledge, base rate and habit of place. Each takes its own "
        "answer for right and claims it for that.",
        _PAIRED,
        failing=("recognition_balanced",),
        published=("naive_harmful_rate",),
    ),
    "losses": _World(
        PairWorld(damage=EDITS, lost_wrong=0.10, lost_right=0.02, **UNEQUAL, **BLIND),
        "As unequal, and verdicts for the wrong answer are lost five times as often as those for the right one.",
        (*_PAIRED, "recognition_balanced"),
        lossy=("accuracy_harmful", "obfuscation_effect_pp"),
    ),
    "siblings": _World(
        PairWorld(damage=EDITS, siblings=0.9, kin=0.8, **UNEQUAL, **BLIND),
        "As unequal; two models are near-duplicates in beliefs, texts and style, and two judges share most of a taste.",
        (*_PAIRED[:2], "recognition_balanced"),
        # A right answer that is a near-duplicate of the other wrong one is not the same opponent to both.
        failing=("evaluator_quality_gap",),
    ),
    "recognised": _World(
        PairWorld(damage=EDITS, self_preference=(0.0, 0.0, 1.5, 1.5), **UNEQUAL),
        "As unequal, and mistral and qwen prefer their own words, half of which an edit takes; all know theirs.",
        _PAIRED,
        planted=("mistral", "qwen"),
    ),
    "scaled": _World(
        PairWorld(damage=EDITS, scaled=True, sharpness=(2.0, 0.6, 1.5, 0.5), **BLIND),
        "Edits damage texts, and judges feel it in proportion to their sharpness: what the primary contrast rules out.",
        ("obfuscation_against_other_author",),
        failing=("obfuscation_effect", "obfuscation_effect_pp"),
        edits=True,
    ),
}


def _draw(world: PairWorld, articles: int, rng: np.random.Generator) -> Drawn:
    return drawn(world, rng, (BEFORE, REPEAT, EDIT), articles, EACH, (BEFORE, EDIT))


def _measure(at: _World, verdicts: pd.DataFrame, seed: int) -> list[Estimate]:
    """The headline numbers of every judge, and the published comparisons that this world is about."""
    table, data = items(verdicts)[_READ], "simulated"
    found = [
        *obfuscation.obfuscation_effect(table, data, seed, parts=False),
        *obfuscation.against_other_author(table, data),
    ]
    if at.edits:
        return found
    found += [
        *baseline.evaluator_quality_gap(table, data, seed, (baseline.PRIMARY,)),
        *recognition.recognition_balanced(table, data),
        *rates.accuracy_harmful(table, data),
    ]
    if "naive_filtered_change" in at.published:
        found += [*obfuscation.naive_filtered(table, data), *filtered_one_order(table, data)]
    if "naive_harmful_rate" in at.published:
        found += rates.naive_harmful_rate(table, data)
    return found


def filtered_one_order(table: pd.DataFrame, data: str) -> list[Estimate]:
    """What filtering finds if judges are simply asked again, the right answer first: nothing was changed, in pp.

    Harmful items whose two orders agreed at first asking, as published; later verdicts in one order. `where`: judge.
    """
    first = complete(before(table))
    first = first[first["consistent"] & (first["own"] == "wrong")]
    again = table[(table["condition"] == "none") & (table["repeat"] == 1)][[*_PAIR, "right_first"]]
    both = first[[*_PAIR, "article", "score"]].merge(again[again["right_first"].notna()], on=_PAIR)
    both = both.assign(moved=both["right_first"] - both["score"])
    return [
        rates.made("filtered_one_order_change", {"judge": str(judge)}, rates.share(rows, "moved"), data, "pp")
        for judge, rows in both.groupby("judge", observed=True, sort=True)
    ]


_PAIR = ["question_id", "right", "wrong", "judge"]


@cache
def _targets(name: str) -> tuple[Target, ...]:
    at, found = WORLDS[name], []
    known = truths(at.world, EDIT)
    for judge in NAMES:
        for id, place in PLACES.items():
            if at.edits and not id.startswith("obfuscation"):
                continue
            nothing = 0.5 if id in ("recognition_balanced", "accuracy_harmful") else 0.0
            where = {"judge": judge, **place}
            # Recognition is planted in every judge or in none; all else in some.
            null = id in at.null and judge not in at.planted
            value, error = (nothing, 0.0) if null else known[id, judge]
            role = "failure" if id in at.lossy else "null" if null else "planted"
            found.append(Target(id, where, value, role, nothing, error))
            if id in at.failing:
                found.append(Target(id, where, nothing, "failure", nothing))
        for id in at.published:
            place, nothing = PUBLISHED[id]
            found.append(Target(id, {"judge": judge, **place}, nothing, "failure", nothing))
    return tuple(found)


def _case(name: str) -> Case:
    at = WORLDS[name]
    draw: Callable[[int, np.random.Generator], Drawn] = partial(_draw, at.world)
    measure = partial(_measure, at)
    return Case(NAME, name, at.words, draw, frame, spoken, measure, partial(_targets, name))


CASES = tuple(_case(name) for name in WORLDS)
