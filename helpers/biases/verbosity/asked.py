"""What is asked: which of two wordings of one answer is better, in both orders."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from ... import prompts
from ...types import Experiment, Question, Trial
from ..protocol import few_words, make_trial

#: The wordings that are tried, and those of which wordings of equal and of chosen length can be made.
BIASES = ("padded", "listed", "confident")
CONTROLLED = ("listed", "confident")
#: Beside these: the plain wording, and one that is framed as the confident one is, without its tone.
PLAIN, REWORDED = "plain", "reworded"
#: What is compared: one wording as it is against the plain one, the same framed neutrally, wordings at chosen lengths,
#: poorer content in any wording against the plain full one, two texts of which one is known to be better.
STYLE, REWORDING, LENGTH, CONTENT, KNOWN = "style", "control", "length", "content", "none"
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
    yield Pair(REWORDING, REWORDED, AS_IS, made[REWORDED].text, full.text)
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


#: What a question must have to be judged.
NEEDS = (
    f"{FEWEST_POINTS} answer points or more and a category that does not ask for a form, or two texts of which one is "
    "known to be better"
)
WHERE = "experiments/verbosity_style/config.yaml: options.phrases"


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) comparisons without wordings, more padding than there is, and frames of unequal length."""
    chosen = experiment.extra["comparisons"]
    if STYLE not in chosen:
        raise ValueError(f"comparisons = {chosen!r}: {STYLE} is always needed")
    phrases, count = experiment.extra["phrases"], experiment.extra["padding_sentences"]
    if not 2 <= count <= len(phrases["padding"]):
        raise ValueError(f"padding_sentences = {count}: from 2 to {len(phrases['padding'])}, the number in {WHERE}")
    for number, frame in enumerate(phrases["frames"], 1):
        where = f"{WHERE}.frames, entry {number}"
        if set(frame) != {"confident", "neutral"} or any(len(sentences) != 2 for sentences in frame.values()):
            raise ValueError(f"{where}: expected an opening and a closing sentence under confident and under neutral")
        letters = {name: sum(map(len, sentences)) for name, sentences in frame.items()}
        if letters["confident"] != letters["neutral"]:
            parts = " and ".join(f"{name} {letters[name]}" for name in frame)
            raise ValueError(f"{where}: {parts} letters; both need as many, or the tone could not be told from length")


def is_usable(question: Question) -> bool:
    """Whether a question comes with two texts of which one is known to be better."""
    return len(question.options) == 2 and question.gold in ("A", "B")


def worded(experiment: Experiment, question: Question) -> bool:
    """Whether a question has an answer whose wording can be changed without changing how well it answers."""
    return len(question.points) >= FEWEST_POINTS and question.category not in experiment.extra["forms"]


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    asked = [question for question in questions if is_usable(question) or worded(experiment, question)]
    parts = []
    if len(asked) < len(questions):
        forms = ", ".join(experiment.extra["forms"])
        parts.append(
            f"{len(questions) - len(asked)} of {len(questions)} questions are left out: they ask for a form ({forms}), "
            f"or have fewer than {FEWEST_POINTS} answer points."
        )
    if asked and not any(map(is_usable, asked)):
        if LENGTH not in experiment.extra["comparisons"]:
            parts.append("No comparisons at chosen lengths: a wording cannot be told from its length.")
        if experiment.repeats < 2:
            parts.append("repeats = 1: nothing is asked twice, so nothing is known of noise.")
    return " ".join(parts + few_words(len(asked)))


#: Who stands first.
TRIED, OTHER = "tried", "other"
INTERLEAVED = ("bias", "wording", "first")


def trials(experiment: Experiment, question: Question) -> Iterator[Trial]:
    """Every comparison of a question, for each judge, in both orders.

    The wordings themselves and their control as often as `repeats` says, all others once. The texts are drawn by the
    seed and the question alone: all judges see the same.
    """
    template = prompts.load(experiment.folder / "prompts" / "judge.txt")
    for pair in compared(experiment, question):
        texts = {f"question {question.id}": "\n".join((question.text, pair.tried, pair.other))}
        prompts.check_nonce(prompts.nonce(experiment.seed, question.id), texts)
        tried, other = (pair.tried, pair.bias), (pair.other, OTHER)
        letters = {"letters_tried": str(len(pair.tried)), "letters_other": str(len(pair.other))}
        orders = {TRIED: (tried, other), OTHER: (other, tried)}
        repeats = range(experiment.repeats if pair.condition in (STYLE, REWORDING) else 1)
        for judge, (first, order), repeat in product(experiment.judges, orders.items(), repeats):
            (one, two), names = zip(*order, strict=True)
            shown = {"question": question.text, "first": one, "second": two}
            where = {"bias": pair.bias, "wording": pair.wording, "first": first, **letters}
            placed: dict = {"repeat": repeat, "shown": names, "where": where}
            yield make_trial(experiment, question, judge, pair.condition, template, shown, **placed)


def compared(experiment: Experiment, question: Question) -> Iterator[Pair]:
    """The comparisons of one question; none where neither its wording can be changed nor a better text is known."""
    if is_usable(question):
        better, worse = question.options if question.gold == "A" else reversed(question.options)
        yield Pair(KNOWN, question.category, AS_IS, better, worse)
    elif worded(experiment, question):
        rng = random.Random(f"{experiment.seed}:wording:{question.id}")
        settings = experiment.extra
        yield from pairs(
            question.points, settings["phrases"], settings["padding_sentences"], rng, settings["comparisons"]
        )
