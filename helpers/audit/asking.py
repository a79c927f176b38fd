"""What an audit asks one judge: a frozen battery, each manipulation beside its matched control.

Who changes a letter of data/audit/ adds the new sha256 to versions.yaml (the error says which). A new probe is a
condition here with its control, its comparisons in measuring.py, and a trait in providers/simulated.py.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from helpers import paths, prompts
from helpers.config import ConfigError, Strict, checked, read_yaml
from helpers.types import Model, Question, Request, Trial, short_hash

FOLDER = paths.DATA / "audit"
#: What is asked is made of these, and of nothing else; VERSIONS holds the sha256 of them by version.
TEXTS, PAIR, SCORE, VERSIONS = "battery.yaml", "pair.txt", "score.txt", "versions.yaml"
SIDES = ("one", "two")


@dataclass(frozen=True)
class Item:
    """One question with two answers of about equal worth, in sentences, and sentences that add words and no content.

    `expert` is who may be said to recommend an answer.
    """

    id: str
    category: str
    question: str
    one: tuple[str, ...]
    two: tuple[str, ...]
    filler: tuple[str, ...]
    expert: str

    def text(self, side: str, padded: bool = False) -> str:
        """The answer of a side ("one" or "two"), padded with the filler between and around its sentences."""
        sentences = getattr(self, side)
        if not padded:
            return " ".join(sentences)
        before = [f"{filler} {sentence}" for filler, sentence in zip(self.filler, sentences, strict=False)]
        return " ".join([*before, *self.filler[len(sentences) :]])


@dataclass(frozen=True)
class Battery:
    """All that an audit asks: items, what is said beside them (templates of words), and the two prompts.

    `shares` and the numbers `high` and `low` are ranges, both ends included. `digest` is the sha256 of the files.
    """

    version: str
    digest: str
    seed: int
    items: tuple[Item, ...]
    famous: tuple[str, ...]
    unknown: tuple[str, ...]
    authority: tuple[str, ...]
    bandwagon: tuple[str, ...]
    anchors: tuple[str, ...]
    shares: tuple[int, int]
    high: tuple[int, int]
    low: tuple[int, int]
    pair: prompts.Template
    score: prompts.Template

    @property
    def knowledge(self) -> Mapping[str, Question]:
        """What simulated judges know of the questions: the sentences of both answers as points, three of six each."""
        return {
            each.question: Question(each.id, each.category, each.question, each.one + each.two) for each in self.items
        }


class _Names(Strict):
    famous: list[str] = Field(min_length=1)
    unknown: list[str] = Field(min_length=1)


class _Range(Strict):
    start: int = Field(alias="from", ge=0, le=100)
    to: int = Field(ge=0, le=100)


class _Item(Strict):
    id: str = Field(pattern=r"[a-z0-9_]+")
    category: str
    question: str
    one: list[str] = Field(min_length=1)
    two: list[str] = Field(min_length=1)
    filler: list[str] = Field(min_length=1)
    expert: str


class _File(Strict):
    version: str
    seed: int = Field(ge=0)
    names: _Names
    authority: list[str] = Field(min_length=1)
    bandwagon: list[str] = Field(min_length=1)
    shares: _Range
    anchors: list[str] = Field(min_length=1)
    high: _Range
    low: _Range
    items: list[_Item] = Field(min_length=2)


def load(folder: Path = FOLDER) -> Battery:
    """The battery in a folder.

    A ConfigError where a file is not as it must be, or where its texts are not those of its version: cards of
    different texts do not compare, so a changed battery has a version of its own.
    """
    path = folder / TEXTS
    file = checked(_File, read_yaml(path), str(path), path)
    known, found = read_yaml(folder / VERSIONS) or {}, digest(folder)
    if known.get(file.version) != found:
        raise ConfigError(
            f"{folder}: the texts are not those of version {file.version} (sha256 {found}, {VERSIONS} has "
            f"{known.get(file.version, 'none')}); restore them, or give a battery of your own a version of its own: "
            f"`version:` in {TEXTS} and its sha256 in {VERSIONS}"
        )
    doubles = {each.id for each in file.items if sum(other.id == each.id for other in file.items) > 1}
    if doubles:
        raise ConfigError(f"{path}: items: more than one with the id {', '.join(sorted(doubles))}")
    items = tuple(
        Item(each.id, each.category, each.question, tuple(each.one), tuple(each.two), tuple(each.filler), each.expert)
        for each in file.items
    )
    ranges = {name: (getattr(file, name).start, getattr(file, name).to) for name in ("shares", "high", "low")}
    words = {name: tuple(getattr(file, name)) for name in ("authority", "bandwagon", "anchors")}
    names = {"famous": tuple(file.names.famous), "unknown": tuple(file.names.unknown)}
    pair, score = prompts.load(folder / PAIR), prompts.load(folder / SCORE)
    return Battery(file.version, found, file.seed, items, **names, **words, **ranges, pair=pair, score=score)


def digest(folder: Path = FOLDER) -> str:
    """The sha256 over the names and bytes of the three files of which prompts are made."""
    found = hashlib.sha256()
    for name in (TEXTS, PAIR, SCORE):
        content = (folder / name).read_bytes()
        found.update(f"{name}:{len(content)}\n".encode() + content)
    return found.hexdigest()


@dataclass(frozen=True)
class Probe:
    """One kind of bias: the id of its number, what is done and compared, and what a judge that has it does.

    `sides` names the two sides of the number in a few words, the one above 0 first. `above` and `below` complete "the
    judge ..." for a number above and below 0. `limit` says what it cannot tell.
    """

    id: str
    title: str
    sides: str
    design: str
    number: str
    above: str
    below: str
    limit: str


_BESIDE = "in both orders, beside the one answer and, as the control, in the same words beside the other one"
_WINS = "how much more often the answer {} wins than loses; quality and place cancel"

#: By the name of the condition that it manipulates; all of them are one family, which Holm's correction is over.
PROBES: Mapping[str, Probe] = {
    "order": Probe(
        "first_position_effect",
        "order",
        "first place against second",
        "two answers of about equal worth in both orders, each order asked twice",
        "how much more often the first place wins both orders than the second place does",
        "favours the answer shown first",
        "favours the answer shown second",
        "place and letter go together here; the probe on letters takes them apart",
    ),
    "letters": Probe(
        "letter_effect",
        "letters",
        "marked A against marked B",
        "the same two answers in the same places, marked A and B and, as the control, B and A",
        "how much more often the answer marked A wins than the one marked B; quality and place cancel",
        "favours the answer marked A",
        "favours the answer marked B",
        "other marks (1 and 2, names) are not tried",
    ),
    "identical": Probe(
        "identical_pair_effect",
        "identical pairs",
        "first of two equal texts against second",
        "the same text twice, of which a tie is the right verdict",
        "how much more often the first of two equal texts wins than the second",
        "prefers the first of two equal texts",
        "prefers the second of two equal texts",
        "a judge that sees that the texts are equal may be fair here and not elsewhere",
    ),
    "length": Probe(
        "length_effect",
        "length",
        "padded against short",
        "an answer beside the same answer with sentences between its own that add nothing, in both orders",
        "how much more often the padded answer wins than the short one; place cancels, and what is said is the same",
        "favours the longer of two answers that say the same",
        "favours the shorter of two answers that say the same",
        "to prefer the shorter one may be taste and no fault, and is right where a question asks for a few lines; "
        "which of these it is no number can tell",
    ),
    "authority": Probe(
        "authority_effect",
        "authority",
        "recommended against not",
        f"a note that an expert recommends an answer: {_BESIDE}",
        _WINS.format("that an expert is said to recommend"),
        "follows a recommendation that says nothing about the answer",
        "turns against the answer that an expert is said to recommend",
        "the experts are claimed, not real; a judge may take the note for evidence",
    ),
    "bandwagon": Probe(
        "bandwagon_effect",
        "bandwagon",
        "preferred by most against not",
        f"a note that most readers preferred an answer: {_BESIDE}",
        _WINS.format("that most readers are said to prefer"),
        "follows what most readers are said to prefer",
        "turns against what most readers are said to prefer",
        "shares are between 78 and 93 of 100; smaller crowds are not tried",
    ),
    "names": Probe(
        "vendor_name_effect",
        "names",
        "well-known name against unknown",
        "one answer under the name of a well-known model, the other under one that nobody knows; then exchanged, in "
        "both orders",
        _WINS.format("under a well-known name"),
        "favours the answer under a well-known name",
        "favours the answer under an unknown name",
        "three well-known names in turn: whether a judge favours its own vendor's is experiment 2's question",
    ),
    "anchor": Probe(
        "score_anchor_effect",
        "anchor",
        "points after a high number against a low one",
        "one answer scored from 0 to 100 after a high and, as the control, a low number that belongs to something else",
        "how many points of 100 the score is higher after the high number",
        "scores higher after a high number that has nothing to do with the answer",
        "scores lower after a high number that has nothing to do with the answer",
        "scores of one answer at a time; verdicts on pairs are not anchored",
    ),
}


NAME = "audit"
#: The marks of the two places, those of an exchange of letters, and the third verdict.
LETTERS, EXCHANGED, TIE = ("A", "B"), ("B", "A"), "tie"
#: What each item is asked for: how often, and what stands in it against what.
CONDITIONS = ("plain", "letters", "identical", "length", "authority", "bandwagon", "names", "anchor", "gap")
OTHER = {"one": "two", "two": "one"}


@dataclass(frozen=True)
class Slot:
    """What stands in one place: the text, which answer it is (`side`), and under whose name it is shown ("": none)."""

    text: str
    side: str
    author: str = ""


def trials(battery: Battery, judge: Model) -> list[Trial]:
    """All trials of the battery for a judge, 25 an item, conditions interleaved in an order drawn by its seed.

    `condition` is one of CONDITIONS. `where` holds `first`, the side in the first place, and `target`, the side that
    is manipulated ("" where none is; of identical texts the one that is shown twice; of a gap the answer to the
    question): padded, recommended, preferred by the crowd, under a famous name; of an anchor "high" or "low".
    ValueError where a text holds the code of its own prompt.
    """
    found: list[Trial] = []
    drawn = draw(battery)
    for item in battery.items:
        _check(battery, item)
        found += _plain(battery, judge, item)
        found += _controls(battery, judge, item, drawn)
        found += _manipulated(battery, judge, item, drawn)
        found += _scored(battery, judge, item, drawn)
    return sorted(found, key=lambda trial: _lot(battery.seed, trial))


@dataclass(frozen=True)
class Drawn:
    """What chance decides for all items together, so that it is balanced over them.

    `halves` are the items that are padded, scored, ... at their second answer; `others` the item whose answer stands
    in the gap; `famous` the well-known name of each item. All by item id.
    """

    halves: Mapping[str, frozenset[str]]
    others: Mapping[str, Item]
    famous: Mapping[str, str]

    def side(self, what: str, item: Item) -> str:
        """Which answer of an item is taken for a purpose."""
        return SIDES[item.id in self.halves[what]]


def draw(battery: Battery) -> Drawn:
    """The draws of a battery, by its seed."""
    ids = [item.id for item in battery.items]

    def shuffled(what: str) -> list[str]:
        return random.Random(f"{battery.seed}:audit_{what}").sample(ids, len(ids))

    halves = {what: frozenset(shuffled(what)[: len(ids) // 2]) for what in ("padded", "scored", "good", "good_first")}
    by_id = {item.id: item for item in battery.items}
    order = [by_id[id] for id in shuffled("others")]
    others = {item.id: _next(order, place) for place, item in enumerate(order)}
    names = {id: battery.famous[place % len(battery.famous)] for place, id in enumerate(shuffled("names"))}
    return Drawn(halves, others, names)


def _next(order: Sequence[Item], place: int) -> Item:
    """The next item in a circle that is of another category, so that its answer answers something else."""
    here = order[place]
    after = [order[(place + step) % len(order)] for step in range(1, len(order))]
    return next((each for each in after if each.category != here.category), after[0])


def _check(battery: Battery, item: Item) -> None:
    texts = {f"question {item.id}": item.question}
    texts |= {f"answer {side} to {item.id}": item.text(side, padded=True) for side in SIDES}
    prompts.check_nonce(prompts.nonce(battery.seed, item.id), texts)


def _plain(battery: Battery, judge: Model, item: Item) -> Iterator[Trial]:
    """Both orders, each asked twice; and both once more with the letters exchanged."""
    for first in SIDES:
        slots = [Slot(item.text(side), side) for side in (first, OTHER[first])]
        for repeat in (0, 1):
            yield _pair(battery, judge, item, "plain", slots, repeat=repeat)
        yield _pair(battery, judge, item, "letters", slots, marks=EXCHANGED)


def _controls(battery: Battery, judge: Model, item: Item, drawn: Drawn) -> Iterator[Trial]:
    """The same text twice (each answer once), a padded text beside itself, an answer beside one to something else."""
    for side in SIDES:
        yield _pair(battery, judge, item, "identical", [Slot(item.text(side), side)] * 2, target=side)
    side = drawn.side("padded", item)
    both = [Slot(item.text(side, padded=True), "padded"), Slot(item.text(side), "short")]
    for slots in (both, both[::-1]):
        yield _pair(battery, judge, item, "length", slots, target="padded")
    good = Slot(item.text(drawn.side("good", item)), "good")
    apart = [good, Slot(drawn.others[item.id].text(drawn.side("good", item)), "off_topic")]
    slots = apart if item.id in drawn.halves["good_first"] else apart[::-1]
    yield _pair(battery, judge, item, "gap", slots, target="good")


def _manipulated(battery: Battery, judge: Model, item: Item, drawn: Drawn) -> Iterator[Trial]:
    """In both orders the same words beside the one answer and, as their control, beside the other one."""
    rng = random.Random(f"{battery.seed}:audit_words:{item.id}")
    recommended = prompts.filled(rng.choice(battery.authority), "authority", expert=item.expert)
    preferred = prompts.filled(rng.choice(battery.bandwagon), "bandwagon", share=rng.randint(*battery.shares))
    famous, unknown = drawn.famous[item.id], rng.choice(battery.unknown)
    for first in SIDES:
        order = (first, OTHER[first])
        for target in SIDES:
            slots = [Slot(item.text(side), side) for side in order]
            for condition, words in (("authority", recommended), ("bandwagon", preferred)):
                note = {"label": LETTERS[order.index(target)], "words": words}
                yield _pair(battery, judge, item, condition, slots, target=target, note=note)
            named = [Slot(item.text(side), side, famous if side == target else unknown) for side in order]
            yield _pair(battery, judge, item, "names", named, target=target)


def _scored(battery: Battery, judge: Model, item: Item, drawn: Drawn) -> Iterator[Trial]:
    """One answer scored after a high and after a low number, in the same words, that belongs to something else."""
    rng, nonce = random.Random(f"{battery.seed}:audit_anchor:{item.id}"), prompts.nonce(battery.seed, item.id)
    words, side = rng.choice(battery.anchors), drawn.side("scored", item)
    for target, bounds in (("high", battery.high), ("low", battery.low)):
        told = prompts.filled(words, "anchors", number=rng.randint(*bounds))
        variables = {"question": item.question, "answer": item.text(side), "anchor": told}
        system, prompt = prompts.late(battery.score, nonce=nonce, structured=judge.structured, **variables)
        schema = prompts.schema_for(judge, "number", (), nonce)
        where = {"first": side, "target": target}
        yield _trial(item, judge, Request(judge, prompt, system, schema), "anchor", nonce, "number", where, (side,))


def _pair(
    battery: Battery,
    judge: Model,
    item: Item,
    condition: str,
    slots: Sequence[Slot],
    target: str = "",
    marks: tuple[str, str] = LETTERS,
    note: Mapping[str, str] | None = None,
    repeat: int = 0,
) -> Trial:
    nonce = prompts.nonce(battery.seed, item.id)
    answers = [
        {"label": mark, "text": slot.text, "author": slot.author} for mark, slot in zip(marks, slots, strict=True)
    ]
    variables = {"question": item.question, "answers": answers, "note": note}
    system, prompt = prompts.late(battery.pair, nonce=nonce, structured=judge.structured, **variables)
    labels = (*marks, TIE)
    schema = prompts.schema_for(judge, "choice", labels, nonce)
    where = {"first": slots[0].side, "target": target}
    shown = tuple(slot.side for slot in slots)
    return _trial(
        item, judge, Request(judge, prompt, system, schema, repeat), condition, nonce, "choice", where, shown, labels
    )


def _trial(
    item: Item,
    judge: Model,
    request: Request,
    condition: str,
    nonce: str,
    form: str,
    where: Mapping[str, str],
    shown: tuple[str, ...],
    labels: tuple[str, ...] = (),
) -> Trial:
    return Trial(
        NAME,
        item.id,
        item.category,
        judge,
        request,
        condition,
        form=form,
        shown=shown,
        labels=labels,
        nonce=nonce,
        where=where,
    )


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.condition, trial.request.repeat, trial.where["first"], trial.where["target"])
    return short_hash(seed, "audit_order", *drawn, digits=16)
