"""What an audit asks one judge: a frozen battery, or questions of the user's own, each probe beside its control.

Who changes a letter of data/audit/ adds the new sha256 to versions.yaml (the error says which). A new probe is a
condition here with its control, its comparisons in measuring.py, and a number in experiments/audit/numbers.yaml.
"""

from __future__ import annotations

import hashlib
import pkgutil
import random
import tomllib
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product, zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, InstanceOf

from .. import paths, prompts
from ..config import ConfigError, Strict, checked, read_yaml
from ..datasets.reading import read_records
from ..stats.intervals import MIN_CLUSTERS
from ..types import Model, Question, Request, Trial, short_hash
from ..words.numbers import declared_by

FOLDER = paths.BUILTIN / "audit"
#: What is asked is made of these, and of nothing else; VERSIONS holds the sha256 of them by version.
TEXTS, MORE, PAIR, SCORE, VERSIONS = "battery.yaml", "more.yaml", "pair.txt", "score.txt", "versions.yaml"
REWORDED = ("reworded_1.txt", "reworded_2.txt")
NAME = "audit"
#: How many questions an audit can have: each size holds the questions of the smaller ones, and their replies serve it.
SIZES = (24, 60, 200)
#: How often a judge that wavers is asked of identical pairs, padding and errors, beyond the smallest size.
AGAIN = 3
#: Below so many questions of one's own no probe has an interval.
LEAST = MIN_CLUSTERS
SIDES = ("one", "two")
#: The marks of the two places, those of an exchange of letters, and the third verdict.
LETTERS, EXCHANGED, TIE = "AB", "BA", "tie"
WORDS: Mapping[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "words.toml") or b"").decode())


@dataclass(frozen=True)
class Probe:
    """One manipulation, as words.toml calls it; its number is declared in experiments/audit/numbers.yaml.

    `wanted`: above 0 is how a judge should be, and not a bias.
    """

    id: str
    title: str
    sides: str
    wanted: bool = False

    def does(self, value: float) -> str:
        """What a judge with such a number does, as a clause whose subject is the judge."""
        number = declared_by(NAME)[self.id]
        return number.above if value > 0 or not number.below else number.below


#: By the name of the condition that it manipulates; all of them are one family, which Holm's correction is over.
PROBES: Mapping[str, Probe] = {name: Probe(**fields) for name, fields in WORDS["probes"].items()}
Text = Annotated[str, Field(pattern=r"\S")]
Texts = Annotated[list[str], Field(min_length=1)]


class Item(Strict):
    """One question with two answers of about equal worth, in sentences.

    `wrong` in the place of the last sentence makes answer one wrong; `filler` pads answers, an `expert` may recommend
    one. Of an item without these two they are drawn for it.
    """

    id: str = Field(pattern=r"[a-z0-9_]+")
    category: str
    question: str
    one: Texts
    two: Texts
    wrong: str = ""
    filler: list[str] = Field(default_factory=list)
    expert: str = ""

    def text(self, side: str, padded: bool = False) -> str:
        """The answer of a side ("one", "two" or "wrong"), padded with the filler between and around its sentences."""
        sentences = [*self.one[:-1], self.wrong] if side == "wrong" else getattr(self, side)
        pairs = zip_longest(self.filler if padded else [], sentences, fillvalue="")
        return " ".join(text for pair in pairs for text in pair if text)


class Own(Strict):
    """A line of the user's own questions: two answers, and answer one made wrong where that probe is wanted."""

    id: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="up to 64 letters, digits and the signs _ . -")
    question: Text
    one: Text
    two: Text
    wrong: Text | None = None
    category: Text = "own"
    expert: Text | None = None

    def item(self) -> Item:
        """The question as the battery has it; two answers that are the same text are a ValueError."""
        if same := [name for name in ("two", "wrong") if getattr(self, name) == self.one]:
            raise ValueError(f"{same[0]}: the same text as one; write another answer")
        about: dict[str, Any] = self.model_dump(exclude_none=True)
        return Item(**about | {"one": [self.one], "two": [self.two]})


class More(Strict):
    """The questions beyond the first 24."""

    items: list[Item]


Percent = Annotated[int, Field(ge=0, le=100)]
#: Numbers from which one is drawn, both ends included; names of models under which answers are shown.
Range = Annotated[dict[Literal["from", "to"], Percent], Field(min_length=2)]
Names = Annotated[dict[Literal["famous", "unknown"], Texts], Field(min_length=2)]
Planted = Annotated[dict[Literal["verdict", "neutral"], Text], Field(min_length=2)]
Fillers = Annotated[dict[Literal["opening", "middle", "closing"], Texts], Field(min_length=3)]


class Battery(Strict):
    """All that an audit asks; `digest` is the sha256 of the files that it was read from."""

    version: str
    seed: int = Field(ge=0)
    names: Names
    authority: Texts
    bandwagon: Texts
    shares: Range
    anchors: Texts
    high: Range
    low: Range
    injected: Annotated[list[Planted], Field(min_length=1)]
    fillers: Fillers
    experts: Texts
    items: list[Item] = Field(min_length=2)
    digest: str
    pair: InstanceOf[prompts.Template]
    score: InstanceOf[prompts.Template]
    reworded: tuple[InstanceOf[prompts.Template], ...]

    @property
    def knowledge(self) -> Mapping[str, Question]:
        """What simulated judges know of the questions: the sentences of both answers as points, half of them each."""
        return {x.question: Question(x.id, x.category, x.question, (*x.one, *x.two)) for x in self.items}

    def completed(self, item: Item) -> Item:
        """The item with filler, about as long as its answers at least, and an expert, drawn where it has none."""
        rng = random.Random(f"{self.seed}:audit_filler:{item.id}")
        (opening,), (closing,) = (rng.sample(self.fillers[end], 1) for end in ("opening", "closing"))
        middles = iter(rng.sample(self.fillers["middle"], len(self.fillers["middle"])))
        filler, longest = [opening, next(middles)], max(len(item.text(side)) for side in SIDES)
        while len(" ".join([*filler, closing])) < longest and (another := next(middles, "")):
            filler.append(another)
        expert = rng.choice(self.experts)
        return item.model_copy(update={"filler": item.filler or [*filler, closing], "expert": item.expert or expert})


def load(folder: Path = FOLDER, size: int | None = None, items: Path | None = None) -> Battery:
    """The battery in a folder with its first `size` questions (default: 24), or with the user's own `items` instead.

    A ConfigError where a file is not as it must be, or its texts are not those of its version: cards of different texts
    do not compare. A ValueError where a line of `items` is not as it must be, with file, line and field.
    """
    path, found = folder / TEXTS, digest(folder)
    more: dict[str, Any] = {"digest": found, "pair": prompts.load(folder / PAIR), "score": prompts.load(folder / SCORE)}
    more["reworded"] = tuple(prompts.load(folder / name) for name in REWORDED)
    texts = read_yaml(path)
    battery = checked(Battery, {**texts, **more} if isinstance(texts, dict) else texts, str(path), path)
    kept = (read_yaml(folder / VERSIONS) or {}).get(battery.version, "none")
    if kept != found:
        raise ConfigError(
            f"{folder}: the texts are not those of version {battery.version} (sha256 {found}, {VERSIONS} has {kept}); "
            f"restore them, or give a battery of your own a version of its own: `version:` in {TEXTS} and its sha256 "
            f"in {VERSIONS}"
        )
    if items is not None:
        if size is not None:
            raise ConfigError(f"size: belongs to the built-in questions; all of {items} are asked")
        asked = load_own(items)
        update = {"version": "own", "digest": hashlib.sha256(found.encode() + items.read_bytes()).hexdigest()}
    else:
        if size not in (None, *SIZES):
            raise ConfigError(f"size: {size!r}; write {', '.join(map(str, SIZES[:-1]))} or {SIZES[-1]}")
        further = checked(More, read_yaml(folder / MORE), str(folder / MORE), folder / MORE).items
        asked, update = [*battery.items, *further], {}
        ids = [each.id for each in asked]
        if doubles := sorted({id for id in ids if ids.count(id) > 1}):
            raise ConfigError(f"{path}: items: more than one with the id {', '.join(doubles)}")
        asked = asked[: size or SIZES[0]]
    return battery.model_copy(update={**update, "items": [battery.completed(each) for each in asked]})


def load_own(path: Path) -> list[Item]:
    """The user's own questions: a JSON object a line with the fields of `Own`; a ValueError names line and field."""
    records = read_records(path)
    found = records.map(lambda record: checked(Own, dict(record), "an item").item(), "id")
    records.refuse_duplicates([each.id for each in found], "the id of an item")
    if len(found) < LEAST:
        raise ValueError(f"{path}: {len(found)} questions; {LEAST} are the least that carry an interval")
    return found


def digest(folder: Path = FOLDER) -> str:
    """The sha256 over the names and bytes of the files of which prompts are made."""
    contents = {name: (folder / name).read_bytes() for name in (TEXTS, MORE, PAIR, SCORE, *REWORDED)}
    parts = (f"{name}:{len(content)}\n".encode() + content for name, content in contents.items())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def trials(battery: Battery, judge: Model) -> list[Trial]:
    """All trials of the battery for a judge, question by question, conditions in an order drawn by its seed.

    An audit that stops half-way has whole questions. `where` holds `first`, the side in the first place, and `target`,
    the side that is manipulated, of an anchor "high" or "low". ValueError where a text holds the code of its prompt.
    """
    lots = draw(battery)

    def lot(trial: Trial) -> str:
        place = (trial.question_id, trial.condition, trial.request.repeat, *trial.where.values())
        return short_hash(battery.seed, "audit_order", *place, digits=16)

    items = sorted(battery.items, key=lambda item: short_hash(battery.seed, "audit_order", item.id, digits=16))
    return [trial for item in items for trial in sorted(_trials_of(battery, judge, item, lots), key=lot)]


def repeats_itself(judge: Model) -> bool:
    """Whether temperature 0 is sent to a judge: it is then asked twice on a tenth of the questions only."""
    return judge.params.get("temperature") == 0


@dataclass(frozen=True)
class Lots:
    """What chance decides for all items, by id: the `halves` taken at their second answer, whose answer is in a gap.

    `again` are the tenth on which a judge that repeats itself is asked twice.
    """

    halves: Mapping[str, frozenset[str]]
    others: Mapping[str, Item]
    famous: Mapping[str, str]
    again: frozenset[str]

    def side(self, what: str, item: Item) -> str:
        """Which answer of an item is taken for a purpose."""
        return SIDES[item.id in self.halves[what]]


def draw(battery: Battery) -> Lots:
    """The draws of a battery, by its seed: of the questions that each size adds apart, so that those before stay."""
    drawn, done = [], list[Item]()
    for start, end in pairwise((0, *SIZES[:-1], max(len(battery.items), SIZES[-1]))):
        if part := battery.items[start:end]:
            drawn.append(_draw(battery, part, done))
            done += part
    halves = {what: frozenset().union(*(each.halves[what] for each in drawn)) for what in drawn[0].halves}
    others, famous = (dict(ChainMap(*(dict(getattr(each, name)) for each in drawn))) for name in ("others", "famous"))
    return Lots(halves, others, famous, frozenset().union(*(each.again for each in drawn)))


def _draw(battery: Battery, part: Sequence[Item], before: Sequence[Item]) -> Lots:
    items = {item.id: item for item in part}

    def shuffled(what: str) -> list[str]:
        return random.Random(f"{battery.seed}:audit_{what}").sample([*items], len(items))

    purposes = ("padded", "scored", "good", "good_first", "reworded")
    halves = {what: frozenset(shuffled(what)[: len(items) // 2]) for what in purposes}
    circle = [items[id] for id in shuffled("others")]
    others = {}
    for place, item in enumerate(circle):
        after = [*circle[place + 1 :], *circle[:place], *before]
        # Of another category, so that its answer answers something else.
        others[item.id] = next((each for each in after if each.category != item.category), after[0])
    famous = battery.names["famous"]
    named = {id: famous[place % len(famous)] for place, id in enumerate(shuffled("names"))}
    return Lots(halves, others, named, frozenset(shuffled("again")[: max(1, round(len(items) / 10))]))


class Slot(NamedTuple):
    """What stands in one place: the text, which answer it is (`side`), and under whose name it is shown ("": none)."""

    text: str
    side: str
    author: str = ""


def _trials_of(battery: Battery, judge: Model, item: Item, lots: Lots) -> Iterator[Trial]:
    """The trials of one item."""
    nonce = prompts.nonce(battery.seed, item.id)
    code = short_hash(battery.seed, "audit_code", item.id)
    plant = random.Random(f"{battery.seed}:audit_planted:{item.id}").choice(battery.injected)
    neutral = prompts.filled(plant["neutral"], "injected", code=code)
    injected = [prompts.filled(plant["verdict"], "injected", label=label, code=code) for label in LETTERS]
    shown = {f"answer {side} to {item.id}": item.text(side, padded=True) for side in (*SIDES, "wrong")}
    prompts.check_nonce(nonce, {f"question {item.id}": item.question, "injected": injected[0]} | shown)

    def ask(
        condition: str, shown: Sequence[str], target: str, labels: Sequence[str] = (), repeat: int = 0, **more: Any
    ) -> Trial:
        form, template = ("choice", more.pop("template", battery.pair)) if labels else ("number", battery.score)
        more |= {"question": item.question, "nonce": nonce, "structured": judge.structured}
        system, prompt = prompts.late(template, **more)
        request = Request(judge, prompt, system, prompts.schema_for(judge, form, tuple(labels), nonce), repeat)
        facts: dict[str, Any] = {"form": form, "shown": tuple(shown), "labels": tuple(labels), "nonce": nonce}
        where = {"first": shown[0], "target": target}
        return Trial(NAME, item.id, item.category, judge, request, condition, **facts, where=where)

    def pair(condition: str, slots: Sequence[Slot], target: str = "", marks: str = LETTERS, **more: Any) -> Trial:
        answers = [{"label": mark, **slot._asdict()} for mark, slot in zip(marks, slots, strict=True)]
        more = {"note": None, "answers": answers, **more}
        return ask(condition, [slot.side for slot in slots], target, (*marks, TIE), **more)

    one, two = (Slot(item.text(side), side) for side in SIDES)
    steady, reworded = repeats_itself(judge), battery.reworded[item.id in lots.halves["reworded"]]
    for slots in ((one, two), (two, one)):
        for repeat in (0,) if steady and item.id not in lots.again else (0, 1):
            yield pair("plain", slots, repeat=repeat)
        yield pair("letters", slots, marks=EXCHANGED)
        # As often as the usual instruction, or the judge's noise would look like the work of the words.
        for repeat in (0,) if steady else (0, 1):
            yield pair("reworded", slots, repeat=repeat, template=reworded)

    # A judge that wavers is asked again where a question has little to compare; at the smallest size that is too dear.
    times = range(1 if steady or len(battery.items) <= SIZES[0] else AGAIN)
    for slot, repeat in product((one, two), times):
        yield pair("identical", (slot, slot), target=slot.side, repeat=repeat)
    side = lots.side("padded", item)
    padded, short = Slot(item.text(side, padded=True), "padded"), Slot(item.text(side), "short")
    right, wrong = Slot(item.text("one"), "right"), Slot(item.text("wrong"), "wrong")
    for repeat in times:
        for slots in ((padded, short), (short, padded)):
            yield pair("length", slots, target="padded", repeat=repeat)
        for slots in ((right, wrong), (wrong, right)) if item.wrong else ():
            yield pair("wrong", slots, target="wrong", repeat=repeat)
    side = lots.side("good", item)
    good, off_topic = Slot(item.text(side), "good"), Slot(lots.others[item.id].text(side), "off_topic")
    slots = (good, off_topic) if item.id in lots.halves["good_first"] else (off_topic, good)
    yield pair("gap", slots, target="good")

    # In both orders the same words beside the one answer and, as their control, beside the other one.
    rng = random.Random(f"{battery.seed}:audit_words:{item.id}")
    recommended = prompts.filled(rng.choice(battery.authority), "authority", expert=item.expert)
    crowd, share = rng.choice(battery.bandwagon), rng.randint(battery.shares["from"], battery.shares["to"])
    preferred = prompts.filled(crowd, "bandwagon", share=share)
    famous, unknown = lots.famous[item.id], rng.choice(battery.names["unknown"])
    for slots in ((one, two), (two, one)):
        for target in (one, two):
            for condition, words in (("authority", recommended), ("bandwagon", preferred)):
                note = {"label": LETTERS[slots.index(target)], "words": words}
                yield pair(condition, slots, target=target.side, note=note)
            named = [slot._replace(author=famous if slot == target else unknown) for slot in slots]
            yield pair("names", named, target=target.side)
            ends = [verdict if slot == target else neutral for slot, verdict in zip(slots, injected, strict=True)]
            planted = [slot._replace(text=f"{slot.text}\n\n{end}") for slot, end in zip(slots, ends, strict=True)]
            yield pair("injected", planted, target=target.side)

    # One answer scored after a high and after a low number, in the same words, that belongs to something else.
    rng = random.Random(f"{battery.seed}:audit_anchor:{item.id}")
    words, side = rng.choice(battery.anchors), lots.side("scored", item)
    for end, bounds in (("high", battery.high), ("low", battery.low)):
        anchor = prompts.filled(words, "anchors", number=rng.randint(bounds["from"], bounds["to"]))
        yield ask("anchor", [side], end, answer=item.text(side), anchor=anchor)
