"""The results of the built-in math questions for the position-bias experiment, each found by another way."""

from __future__ import annotations

import cmath
import math
from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, reduce
from itertools import combinations, count, pairwise, permutations, product

import numpy as np
import pytest

from tests.arena import QUESTIONS, holds, last


def squares() -> list[object]:
    """Every difference of two squares that is small enough: x - y is at least 1, so x + y is at most the limit."""
    found = {x * x - y * y for x in range(1, 1002) for y in range(1, x)}
    found = {n for n in found if n <= 2000}
    assert found == {n for n in range(3, 2001) if n % 2 or (n % 4 == 0 and n > 4)}
    return [len(found)]


def tosses() -> list[object]:
    """Win and length by following all sequences of 400 tosses at once, run by run."""
    states, heads, length = {"": Fraction(1)}, Fraction(0), Fraction(0)
    for n in range(1, 401):
        following: Counter[str] = Counter()
        for run, chance in states.items():
            for side in "HT":
                grown = run + side if run.endswith(side) else side
                if grown in ("HHH", "TT"):
                    heads += chance / 2 * (grown == "HHH")
                    length += n * chance / 2
                else:
                    following[grown] += chance / 2
        states = following
    return [heads.limit_denominator(1000), length.limit_denominator(1000)]


def seatings() -> list[object]:
    """All orders of eight people, one by one."""
    return [sum(abs(p[0] - p[1]) == 1 < abs(p[2] - p[3]) and 0 < p[4] < 7 for p in permutations(range(8)))]


def arctangents() -> list[object]:
    """The integral by Gauss and Legendre."""
    nodes, weights = np.polynomial.legendre.leggauss(60)
    x = 5 / 3 + nodes * 4 / 3
    value = float((weights * np.arctan(x) / x).sum()) * 4 / 3
    assert math.isclose(value, math.pi / 2 * math.log(3), rel_tol=1e-12)
    return ["(pi/2) ln 3", f"{value:.4f}"]


def chord() -> list[object]:
    """DE with coordinates: B in the origin, C on the axis, E half-way on the arc BC that does not hold A."""
    ax = (13**2 + 14**2 - 15**2) / 28
    ay = math.sqrt(13**2 - ax**2)
    cy = (ax**2 + ay**2 - 14 * ax) / (2 * ay)  # centre (7, cy), as far from A as from B
    ey = cy - math.hypot(7, cy)
    d = 14 * 13 / (13 + 15)
    assert math.isclose((d - ax) * (ey - ay), (7 - ax) * (0 - ay)), "A, D and E lie on one line"
    length = math.hypot(7 - d, ey)
    assert math.isclose(length, math.sqrt(65) / 2)
    return ["sqrt(65)/2", f"{length:.2f}"]


def pairs() -> list[object]:
    """All pairs; the smaller number is at most 18, since 3/x is at least 1/6."""
    found = [(x, y) for x in range(1, 19) for y in range(x, 2000) if 6 * (x + y + 1) == x * y]
    assert len(found) == 4
    return found


def stick() -> list[object]:
    """The share of all ways to write 2000 as four parts in order that have no part above 800."""
    part = np.ones(801)
    sums = reduce(np.convolve, [part] * 4)
    share = sums[2000] / math.comb(2003, 3)
    assert abs(share - 0.184) < 0.002
    return ["23/125", "0.184"]


def quartic() -> list[object]:
    """Lagrange's form of the polynomial."""

    def at(x: int) -> Fraction:
        terms = (3**k * math.prod(Fraction(x - j, k - j) for j in range(5) if j != k) for k in range(5))
        return sum(terms, Fraction(0))

    return [f"p(6) = {at(6)}", f"p(-1) = {at(-1)}"]


def pavings() -> list[object]:
    """All pavings as sets of slabs, each filling the first free square, without their mirror images."""

    def fill(free: frozenset, slabs: frozenset):
        if not free:
            yield slabs
            return
        x, y = min(free)
        for shape in ({(x, y), (x, y + 1)}, {(x, y), (x + 1, y)}, {(x + dx, y + dy) for dx in (0, 1) for dy in (0, 1)}):
            if shape <= free:
                yield from fill(free - shape, slabs | {frozenset(shape)})

    found = list(fill(frozenset(product(range(10), range(2))), frozenset()))
    mirrored = [frozenset(frozenset((9 - x, y) for x, y in slab) for slab in one) for one in found]
    assert len(found) == len(set(found)) == 683
    return [len({frozenset({one, other}) for one, other in zip(found, mirrored, strict=True)})]


def machine() -> list[object]:
    """W's share, machine by machine with the first as V and the second as W."""
    chances = []
    for faulty in range(5):
        defect = [Fraction(1, 3) if n == faulty else Fraction(1, 12) for n in range(5)]
        chances.append((1 - defect[0]) ** 2 * defect[1] / 5)
    share = chances[1] / sum(chances)
    return [share, f"{float(share):.3f}"]


def roots() -> list[object]:
    """The sum in complex numbers."""
    value = sum(1 / (2 - cmath.exp(2j * cmath.pi * k / 7)) for k in range(1, 7))
    assert abs(value.imag) < 1e-12
    return [Fraction(value.real).limit_denominator(1000)]


def walks() -> list[object]:
    """All choices of the six steps to the right out of twelve."""
    wanted = 0
    for right in combinations(range(12), 6):
        lead = [sum(1 if step in right else -1 for step in range(n)) for n in range(1, 12)]
        wanted += min(lead) >= 0 and lead.count(0) == 2
    return [wanted]


def divisors() -> list[object]:
    """The first odd number whose divisors, counted one by one, are 30."""
    counts = np.zeros(20_001, dtype=int)
    for d in range(1, 20_001):
        counts[d::d] += 1
    number = next(n for n in count(1, 2) if counts[n] == 30)
    return [number, sum(number % (d * d) == 0 for d in range(1, math.isqrt(number) + 1))]


def caps() -> list[object]:
    """The part of the sphere beyond one face of the tetrahedron on four corners of a cube, in thin discs."""
    r, d = 1.0, 1 / math.sqrt(3)  # corners (1,1,1), (1,-1,-1), ...: edges at distance 1, faces such as x+y+z = -1
    z = d + (np.arange(100_000) + 0.5) * (r - d) / 100_000
    share = 4 * math.pi * float((r**2 - z**2).sum()) * (r - d) / 100_000 / (4 / 3 * math.pi * r**3)
    assert math.isclose(share, 2 - 8 * math.sqrt(3) / 9, rel_tol=1e-6)
    return ["2 - 8 sqrt(3)/9", f"{share:.3f}"]


def heap() -> list[object]:
    """Every heap up to 102, by trying all moves."""

    @cache
    def won(stones: int) -> bool:
        return not stones or any(not won(stones - take) for take in (1, 3, 4) if take <= stones)

    moves = [take for take in (1, 3, 4) if not won(102 - take)]
    assert won(102) and [n for n in range(20) if not won(n)] == [1, 3, 8, 10, 15, 17]
    return [f"taking {' or '.join(map(str, moves))} stones"]


def records() -> list[object]:
    """Orders by number of records, card by card: the new card is the highest so far in one of n ways."""
    orders = [1]
    for n in range(1, 11):
        orders = [
            (n - 1) * (orders[k] if k < len(orders) else 0) + (orders[k - 1] if k else 0)
            for k in range(len(orders) + 1)
        ]
    share = Fraction(orders[2], sum(orders))
    return [share, f"{float(share):.3f}"]


def stamps() -> list[object]:
    """Amounts up to 500 cents that no combination pays."""
    paid = {6 * i + 10 * j + 15 * k for i in range(90) for j in range(60) for k in range(40)}
    missing = [n for n in range(1, 500) if n not in paid]
    return [max(missing), len(missing)]


def maximum() -> list[object]:
    """The largest value on a fine grid that holds the best point."""
    y, z = np.meshgrid(np.arange(1, 600) / 100, np.arange(1, 151) / 100)
    x = 12 - 2 * y - 3 * z
    value = float(np.where(x > 0, x * y**2 * z**3, 0).max())
    assert value == 3375 / 64
    return ["3375/64", f"{value:.2f}"]


def rings() -> list[object]:
    """Every colouring, counted by the least of its nine turns."""
    valid = (beads for beads in product(range(3), repeat=9) if all(x != y for x, y in pairwise((*beads, beads[0]))))
    return [len({min(beads[turn:] + beads[:turn] for turn in range(9)) for beads in valid})]


def power() -> list[object]:
    """The term close to 0, from both sides, with many digits."""
    with localcontext() as context:
        context.prec = 60
        e = Decimal(1).exp()
        for x in (Decimal("1e-12"), Decimal("-1e-12")):
            value = ((1 + x) ** (1 / x) - e + e * x / 2) / x**2
            assert abs(value - 11 * e / 24) < Decimal("1e-10")
    return ["11e/24", f"{value:.4f}"]


def couples() -> list[object]:
    """All seatings with the first person in a fixed chair; 0 and 1 are a couple, 2 and 3, and so on."""
    apart = sum(all(x // 2 != y // 2 for x, y in pairwise((0, *p, 0))) for p in permutations(range(1, 8)))
    share = Fraction(apart, math.factorial(7))
    return [f"{apart}/5040", share, f"{float(share):.3f}"]


def zeros() -> list[object]:
    """The zeros read off the factorials themselves."""
    ends, factorial = {}, 1
    for n in range(1, 300):
        factorial *= n
        digits = str(factorial)
        ends[n] = len(digits) - len(digits.rstrip("0"))
    missing = sorted(set(range(1, 51)) - set(ends.values()))
    fifty = [n for n, end in ends.items() if end == 50]
    return [f"{', '.join(map(str, missing[:-1]))} and {missing[-1]}", f"from {fifty[0]} to {fifty[-1]}"]


def determinant() -> list[object]:
    """Elimination with fractions, after moving the row with the zero to the end, which swaps nine times."""
    rows = [[Fraction(3 if i == j else 1) for j in range(10)] for i in range(10)]
    rows[0][0] = Fraction(0)
    rows, value = [*rows[1:], rows[0]], Fraction(-1)
    for i in range(10):
        value *= rows[i][i]
        for j in range(i + 1, 10):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [below - factor * above for below, above in zip(rows[j], rows[i], strict=True)]
    return [value]


def brine() -> list[object]:
    """The salt minute by minute, by Runge and Kutta."""

    def rate(t: float, salt: float) -> float:
        return 10 - 3 * salt / (100 + 2 * t)

    salt, step = 0.0, 0.01
    for n in range(5000):
        t = n * step
        a = rate(t, salt)
        b = rate(t + step / 2, salt + a * step / 2)
        c = rate(t + step / 2, salt + b * step / 2)
        d = rate(t + step, salt + c * step)
        salt += (a + 2 * b + 2 * c + d) * step / 6
    assert math.isclose(salt / 200, 2 - math.sqrt(2) / 4, rel_tol=1e-9)
    return ["50 minutes", "2 - sqrt(2)/4", f"{salt / 200:.3f}"]


def functions() -> list[object]:
    """All 46656 functions."""
    return [sum(all(f[f[f[x]]] == f[x] for x in range(6)) for f in product(range(6), repeat=6))]


def lattice() -> list[object]:
    """All points of the cube around."""
    axis = range(-10, 11)
    points = ((x, y, z) for x, y, z in product(axis, repeat=3) if abs(x) + abs(y) + abs(z) <= 10)
    return [sum(sum(point) % 2 == 0 for point in points)]


def gambler() -> list[object]:
    """Chance and length by following all fortunes for 2000 rounds."""
    fortunes = np.zeros(8)
    fortunes[3], length = 1.0, 0.0
    for _ in range(2000):
        playing = fortunes[1:7].copy()
        length += playing.sum()
        fortunes[1:7] = 0
        fortunes[2:8] += playing * 2 / 3
        fortunes[0:6] += playing / 3
    chance, rounds = (Fraction(float(value)).limit_denominator(1000) for value in (fortunes[7], length))
    return [chance, rounds, f"{length:.2f}"]


def circles() -> list[object]:
    """Both circles, checked by their distances to the three centres."""
    small, large = 3 * (math.sqrt(11) - 3) / 2, 3 * (math.sqrt(11) + 3) / 2
    # Centres of the circles with radii 2 and 3 at (0, 0) and (5, 0), of that with 6 at distances 8 and 9 from them.
    px = (8**2 - 9**2 + 5**2) / 10
    py = math.sqrt(8**2 - px**2)
    for radius, sign in ((small, 1), (large, -1)):
        first, second, third = (abs(radius + sign * r) for r in (2, 3, 6))
        x = (first**2 - second**2 + 25) / 10
        y = math.sqrt(first**2 - x**2)
        assert any(math.isclose(math.hypot(px - x, py - s * y), third, rel_tol=1e-9) for s in (1, -1))
    return ["3 (sqrt(11) - 3)/2", f"{small:.3f}", "3 (sqrt(11) + 3)/2", f"{large:.3f}"]


def digits() -> list[object]:
    """Digit strings by their sum, digit after digit."""
    sums = Counter({0: 1})
    for _ in range(6):
        sums = sum((Counter({s + d: n for s, n in sums.items()}) for d in range(9)), Counter())
    return [sums[27]]


SOLVED = [
    squares,
    tosses,
    seatings,
    arctangents,
    chord,
    pairs,
    lambda: [f"{pow(13, 13**13, 1000):03d}"],
    stick,
    quartic,
    pavings,
    machine,
    roots,
    walks,
    divisors,
    caps,
    heap,
    records,
    stamps,
    maximum,
    rings,
    power,
    couples,
    zeros,
    determinant,
    brine,
    functions,
    lattice,
    gambler,
    circles,
    digits,
]


@pytest.mark.parametrize("number", range(1, 31))
def test_the_last_point_names_the_result(number: int):
    assert len(SOLVED) == sum(question["category"] == "math" for question in QUESTIONS.values())
    for value in SOLVED[number - 1]():
        assert holds(last(f"math_{number:02d}"), value), (value, last(f"math_{number:02d}"))
