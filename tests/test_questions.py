"""The built-in questions: their form, and whether the answers they hold are right."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, count, pairwise, permutations, product

import pytest

from helpers.paths import DATA
from tests.arena import assert_blind, assert_distinct, assert_not_given_away, assert_well_formed, holds

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
LINES = (DATA / "mt_bench_blind" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = {row["id"]: row for row in map(json.loads, LINES)}
each_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def last(question_id: str) -> str:
    """The last point, which holds the result."""
    return QUESTIONS[question_id]["points"][-1]


def test_eighty_questions_in_order():
    """Eight categories of ten, numbered and in the order of MT-Bench."""
    expected = [f"{category}_{number:02d}" for category in CATEGORIES for number in range(1, 11)]
    assert [json.loads(line)["id"] for line in LINES] == expected
    assert all(question["category"] == name[:-3] for name, question in QUESTIONS.items())


def test_texts_and_points_are_distinct():
    assert_distinct(QUESTIONS.values())


@each_question
def test_a_question_is_well_formed_and_blind(question: dict):
    assert_well_formed(question)
    assert_not_given_away(question, [question])
    assert_blind(question)


def centres() -> list[str]:
    """Distance of the two centres by Euler: d^2 = R (R - 2r), with R = abc/4F and r = F/s."""
    area, sides = 20 * 21 / 2, (20, 21, math.hypot(20, 21))
    outer, inner = math.prod(sides) / (4 * area), 2 * area / sum(sides)
    square = outer * (outer - 2 * inner)
    return [f"sqrt({4 * square:.0f})/2", f"{math.sqrt(square):.2f}"]


def balloon() -> int:
    """Arrangements of BALLOON without equal neighbours, counted one by one."""
    return sum(all(x != y for x, y in pairwise(word)) for word in set(permutations("BALLOON")))


def two_colours() -> Fraction:
    """Share of all draws of three marbles that show exactly two colours."""
    draws = [len(set(draw)) for draw in combinations("R" * 5 + "B" * 4 + "G" * 3, 3)]
    return Fraction(draws.count(2), len(draws))


def solid() -> float:
    """Volume of the solid of revolution over pi, by the midpoint rule."""
    steps = 20_000
    mids = (-1 + 4 * (i + 0.5) / steps for i in range(steps))
    return sum((2 * x + 3) ** 2 - x**4 for x in mids) * 4 / steps


def matrix_power() -> list[int]:
    """The four entries of the sixth power, row by row, by multiplying out."""
    a, b, c, d = 1, 0, 0, 1
    for _ in range(6):
        a, b, c, d = 4 * a + 2 * b, a + 3 * b, 4 * c + 2 * d, c + 3 * d
    return [a, b, c, d]


def recurrence() -> int:
    """Sum of the first eight terms, one after the other."""
    terms = [1]
    while len(terms) < 8:
        terms.append(3 * terms[-1] + 2)
    return sum(terms)


def least_metal() -> list[str]:
    """Radius, height and area of the cheapest tank, searched in steps of a millimetre."""
    area, radius = min((math.pi * r**2 + 128 * math.pi / r, r) for r in (i / 1000 for i in range(1000, 10_000)))
    return [f"radius {radius:.0f} m", f"height {64 / radius**2:.0f} m", f"{area / math.pi:.0f} pi", f"{area:.1f}"]


def rolls() -> Fraction:
    """Expected maximum of three waiting times, by inclusion and exclusion over the faces missing."""
    return sum(((-1) ** (k + 1) * math.comb(3, k) * Fraction(6, k) for k in (1, 2, 3)), Fraction(0))


@pytest.mark.parametrize(
    ("question_id", "numbers"),
    [
        ("math_01", centres),
        ("math_02", lambda: [next(n for n in count(1) if (n % 7, n % 11, n % 13) == (3, 5, 4)), 7 * 11 * 13]),
        ("math_03", lambda: [two_colours(), f"{float(two_colours()):.3f}"]),
        ("math_04", lambda: [balloon()]),
        ("math_05", lambda: [f"{round(solid() * 15)} pi / 15", f"{solid() * math.pi:.1f}"]),
        ("math_06", lambda: [round((3 + 5**0.5) ** 5 + (3 - 5**0.5) ** 5)]),
        ("math_07", matrix_power),
        ("math_08", lambda: [recurrence()]),
        ("math_09", least_metal),
        ("math_10", lambda: [rolls()]),
    ],
)
def test_math_results(question_id: str, numbers):
    """The last point names the result, computed here by another way than in the points."""
    for number in numbers():
        assert holds(last(question_id), number), (number, last(question_id))


def test_islanders():
    """Of all sixteen casts one is consistent."""

    def consistent(petra, quill, rosa, sten):
        said = (quill != rosa, not sten, petra + quill + rosa + sten == 2, petra and quill)
        return said == (petra, quill, rosa, sten)

    assert [c for c in product((False, True), repeat=4) if consistent(*c)] == [(False, True, True, False)]
    assert last("reasoning_01").startswith("Quill and Rosa tell the truth")


def test_talks():
    """Of all 120 orders one is allowed."""

    def allowed(order):
        birds, clocks, dunes, eels, frost = map(order.index, ("birds", "clocks", "dunes", "eels", "frost"))
        return frost == birds + 2 and abs(clocks - eels) > 1 and clocks < dunes < 4 and eels in (1, 2, 3)

    (order,) = filter(allowed, permutations(["birds", "clocks", "dunes", "eels", "frost"]))
    assert ", ".join(order) in last("reasoning_02")


def test_die():
    """The four tips, followed face by face."""
    top, bottom, front, back, right, left = 1, 6, 2, 5, 3, 4
    for tip in ("right", "away", "right", "towards"):
        if tip == "right":
            top, right, bottom, left = left, top, right, bottom
        elif tip == "away":
            top, back, bottom, front = front, top, back, bottom
        else:
            top, front, bottom, back = back, top, front, bottom
    assert f"{top} is on top and {front} faces you" in last("reasoning_07")


def test_hooks():
    """What each remark leaves, down to one hook."""
    hooks = re.findall(r"\b[KLMN]\d", QUESTIONS["reasoning_09"]["text"])
    letters, numbers = (Counter(hook[i] for hook in hooks) for i in (0, 1))
    ben_unsure = [hook for hook in hooks if numbers[hook[1]] > 1]
    left = Counter(hook[0] for hook in ben_unsure)
    ana_sure = [hook for hook in ben_unsure if letters[hook[0]] > 1 and left[hook[0]] == 1]
    left = Counter(hook[1] for hook in ana_sure)
    (hook,) = (hook for hook in ana_sure if left[hook[1]] == 1)
    assert len(hooks) == 8 and f"hook {hook}," in last("reasoning_09")


def test_cook():
    """The shortest of all 24 orders of work."""
    dishes = {"bread": (15, 40, True), "pie": (25, 30, True), "soup": (10, 50, False), "salad": (20, 0, False)}

    def minutes(order):
        hands = oven = end = 0
        for hand, alone, baked in (dishes[name] for name in order):
            hands += hand
            start = max(hands, oven) if baked else hands
            oven = start + alone if baked else oven
            end = max(end, start + alone)
        return end

    assert f"so {min(map(minutes, permutations(dishes)))} minutes is the shortest" in last("reasoning_10")
