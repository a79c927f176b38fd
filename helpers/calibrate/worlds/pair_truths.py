"""What the estimands of pairs are in a very large population of a world, computed from chances, not from verdicts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.calibrate.worlds.pairs import NAMES, REPEAT, Arm, Asked, Drawn, PairWorld, drawn

#: Batches of articles with one question each; how much they differ tells the error of the whole.
BATCHES, BATCH = 20, 10_000
_ALL = range(len(NAMES))
#: For each author of the wrong answer and each of the right one the judges that wrote neither.
THIRD = [np.array([[j for j in _ALL if j not in (r, w)][: len(NAMES) - 2] for r in _ALL]) for w in _ALL]
#: A number and its Monte-Carlo standard error.
Known = tuple[float, float]


def truths(world: PairWorld, edit: Arm) -> dict[tuple[str, str], Known]:
    """Each headline estimand of each judge, by id and judge, were no verdict lost; of the arm `edit` of wrong answers.

    An own computation: sums of chances over pairs, without frames and estimators.
    """
    world = replace(world, lost_wrong=0.0, lost_right=0.0)
    rng, parts = np.random.default_rng([32, 2]), []
    for _ in range(BATCHES):
        parts.append(_sums(drawn(world, rng, (REPEAT, edit), BATCH, 1, (REPEAT,), expected=True)))
    every = {key: np.array([part[key] for part in parts]) for key in parts[0]}
    found = {}
    for (id, judge), sums in every.items():
        apart = np.array([_value(id, each) for each in sums])
        found[id, judge] = (_value(id, sums.sum(axis=0)), float(apart.std(ddof=1) / np.sqrt(BATCHES)))
    return found


def _value(id: str, sums: np.ndarray) -> float:
    """A number from its sums: two rows of (up, down), or of (numerator, denominator)."""
    (a, b), (c, d) = sums
    if id in ("obfuscation_effect", "obfuscation_against_other_author"):
        return float(np.log(a / b) - np.log(c / d))
    if id == "recognition_balanced":
        return float((a / b + c / d) / 2)
    return float(a / b - c / d)


def _sums(made: Drawn) -> dict[tuple[str, str], np.ndarray]:
    again, wrote, edited = made.asked
    score = {"again": _score(again), "edited": _score(edited)}
    up, down = _moved(again, edited)
    change = score["edited"] - score["again"]
    rows = np.full((len(made.answer), len(NAMES), len(NAMES)), -1)
    rows[made.q, made.r, made.w] = np.arange(len(made.q))
    found = {}
    for number, name in enumerate(NAMES):
        own = np.flatnonzero(made.w == number)
        right = np.flatnonzero(made.r == number)
        others = THIRD[number][made.r[own]]
        count = float(len(own))

        def mean(values: np.ndarray, at: np.ndarray = own, who: np.ndarray = others) -> float:
            return float(values[at[:, None], who].mean(axis=1).sum())

        found["obfuscation_effect", name] = [
            [up[own, number].sum(), down[own, number].sum()],
            [mean(up), mean(down)],
        ]
        found["obfuscation_effect_pp", name] = [[change[own, number].sum(), count], [mean(change), count]]
        found["accuracy_harmful", name] = [[score["again"][own, number].sum(), count], [0.0, 1.0]]
        said = _score(wrote)
        named = [[(1 - said[own, number]).sum(), count], [said[right, number].sum(), len(right)]]
        found["recognition_balanced", name] = named
        same, weight = _same_label(made, rows, own, number)
        mine, theirs = own[same[:, 0]], same[:, 1]
        kept = np.unique(same[:, 0])
        sides = [[values[own[kept], number].sum() for values in (up, down)]]
        sides.append([float((values[theirs, number] * weight).sum()) for values in (up, down)])
        found["obfuscation_against_other_author", name] = sides
        votes = 1 - score["again"]
        gap = float(((votes[mine, number] - votes[theirs, number]) * weight).sum())
        found["evaluator_quality_gap", name] = [[gap, len(kept)], [0.0, 1.0]]
    return {key: np.array(value, dtype=float) for key, value in found.items()}


def _same_label(made: Drawn, rows: np.ndarray, own: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """(matches, 2): an own pair (its place in `own`) and a pair with another's answer of that label; their weights."""
    found = []
    for other in range(len(NAMES)):
        if other != number:
            q = made.q[own]
            at = np.flatnonzero(made.answer[q, other] == made.answer[q, number])
            found.append(np.column_stack([at, rows[q[at], made.r[own[at]], other]]))
    same = np.concatenate(found)
    return same, 1 / np.bincount(same[:, 0], minlength=len(own))[same[:, 0]]


def _score(asked: Asked) -> np.ndarray:
    return (asked.right_first + asked.wrong_first) / 2


def _moved(again: Asked, edited: Asked) -> tuple[np.ndarray, np.ndarray]:
    both = [(getattr(again, name), getattr(edited, name)) for name in ("right_first", "wrong_first")]
    return sum(new * (1 - old) for old, new in both), sum(old * (1 - new) for old, new in both)
