"""One content in several wordings: padded, as a list, in a confident tone, and plain; rules that change no sentence."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

#: The wordings that are tried, and those of which wordings of equal and of chosen length can be made.
BIASES = ("padded", "listed", "confident")
CONTROLLED = ("listed", "confident")
#: Beside these: the plain wording, and one that is framed as the confident one is, without its tone.
PLAIN, REWORDED = "plain", "reworded"
#: What is compared: one wording as it is against the plain one, the same framed neutrally, wordings at chosen lengths,
#: poorer content in any wording against the plain full one, two texts of which one is known to be better.
STYLE, CONTROL, LENGTH, CONTENT, KNOWN = "style", "control", "length", "content", "none"
#: Lengths at which a wording of BIASES is compared with a plain one.
EQUAL, LONGER, SHORTER = "equal", "longer", "shorter"
AS_IS = "as it is"
#: Fewer sentences could not be left out of or put into a list.
FEWEST_POINTS = 3


@dataclass(frozen=True)
class Version:
    """The parts of one wording: what comes before, the sentences of the answer, what comes after; as a list or not."""

    points: tuple[str, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    bullets: bool = False

    @property
    def text(self) -> str:
        """The wording as it is shown; a line end takes the place of a blank where there is a list.

        >>> Version(("One.", "Two."), before=("So:",), bullets=True).text
        'So:\\n- One.\\n- Two.'
        """
        if not self.bullets:
            return " ".join((*self.before, *self.points, *self.after))
        head, tail = " ".join(self.before), " ".join(self.after)
        return "\n".join(part for part in (head, *(f"- {point}" for point in self.points), tail) if part)

    def padded(self, padding: Sequence[str]) -> Version:
        """The same with sentences around it, the first half of them before."""
        half = len(padding) // 2
        return replace(self, before=(*padding[:half], *self.before), after=(*self.after, *padding[half:]))


@dataclass(frozen=True)
class Pair:
    """Two texts that are compared: `tried` is the one in a wording of BIASES (poorer, or known to be better)."""

    condition: str
    bias: str
    wording: str
    tried: str
    other: str


def pairs(
    points: Sequence[str], phrases: Mapping[str, Any], count: int, rng: random.Random, comparisons: Sequence[str]
) -> Iterator[Pair]:
    """The comparisons of one answer, whose sentences are `points`, at least FEWEST_POINTS of them.

    `phrases` as in config.yaml, of whose padding `count` sentences are drawn. Tried and other have the same points in
    the same order, but where the condition is CONTENT: there the tried one lacks the last and one drawn before it. In
    LENGTH both have as many letters where the wording is EQUAL; LONGER adds the padding to the tried one, SHORTER the
    same to the other.
    """
    padding = rng.sample(phrases["padding"], count)
    frame = rng.choice(phrases["frames"])
    full = Version(tuple(points))
    made = versions(full, padding, frame)
    for bias in BIASES:
        yield Pair(STYLE, bias, AS_IS, made[bias].text, full.text)
    yield Pair(CONTROL, REWORDED, AS_IS, made[REWORDED].text, full.text)
    if LENGTH in comparisons:
        for bias, (tried, other) in level(full, frame, phrases["leads"]).items():
            yield Pair(LENGTH, bias, EQUAL, tried.text, other.text)
            yield Pair(LENGTH, bias, LONGER, tried.padded(padding).text, other.text)
            yield Pair(LENGTH, bias, SHORTER, tried.text, other.padded(padding).text)
    if CONTENT in comparisons:
        gone = rng.randrange(1, len(points) - 1)
        poorer = Version(tuple(point for i, point in enumerate(points[:-1]) if i != gone))
        for bias, version in {PLAIN: poorer, **versions(poorer, padding, frame)}.items():
            if bias != REWORDED:
                yield Pair(CONTENT, bias, AS_IS, version.text, full.text)


def versions(plain: Version, padding: Sequence[str], frame: Mapping[str, Sequence[str]]) -> dict[str, Version]:
    """The plain version in each wording."""
    return {
        "padded": plain.padded(padding),
        "listed": replace(plain, bullets=True),
        "confident": _framed(plain, frame["confident"]),
        REWORDED: _framed(plain, frame["neutral"]),
    }


def level(
    plain: Version, frame: Mapping[str, Sequence[str]], leads: Mapping[str, Any]
) -> dict[str, tuple[Version, Version]]:
    """A list and running text, a confident and a neutral frame: two wordings with as many letters.

    Of leads for running text the one is taken that makes up best for the marks of the list.
    """
    listed = replace(plain, before=(leads["listed"],), bullets=True)
    prose = [replace(plain, before=(lead,)) for lead in leads["prose"]]
    nearest = min(prose, key=lambda each: abs(len(each.text) - len(listed.text)))
    return {
        "listed": (listed, nearest),
        "confident": (_framed(plain, frame["confident"]), _framed(plain, frame["neutral"])),
    }


def _framed(plain: Version, around: Sequence[str]) -> Version:
    opening, closing = around
    return replace(plain, before=(opening,), after=(closing,))


def doublings(tried: str, other: str) -> float:
    """How much longer one text is than another, in doublings: the binary logarithm of the ratio of their letters.

    >>> doublings("abcd", "ab"), doublings("ab", "abcd")
    (1.0, -1.0)
    """
    return math.log2(len(tried) / len(other))
