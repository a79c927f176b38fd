"""What an audit asks one judge: a frozen battery, each manipulation beside its matched control.

Who changes a letter of data/audit/ adds the new sha256 to versions.yaml (the error says which). A new probe is a
condition here with its control, its comparisons in measuring.py, and a trait in providers/simulated.py.
"""

from __future__ import annotations

import hashlib
import pkgutil
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, InstanceOf

from .. import paths, prompts
from ..config import ConfigError, Strict, checked, read_yaml
from ..types import Model, Question, Request, Trial, short_hash

FOLDER = paths.BUILTIN / "audit"
#: What is asked is made of these, and of nothing else; VERSIONS holds the sha256 of them by version.
TEXTS, PAIR, SCORE, VERSIONS = "battery.yaml", "pair.txt", "score.txt", "versions.yaml"
NAME = "audit"
SIDES = ("one", "two")
#: The marks of the two places, those of an exchange of letters, and the third verdict.
LETTERS, EXCHANGED, TIE = "AB", "BA", "tie"
WORDS: Mapping[str, Any] = tomllib.loads((pkgutil.get_data(__package__, "words.toml") or b"").decode())


@dataclass(frozen=True)
class Probe:
    """One kind of bias, as words.toml explains it; its number is declared in experiments/audit/numbers.yaml."""

    id: str
    title: str
    sides: str
    above: str
    below: str


#: By the name of the condition that it manipulates; all of them are one family, which Holm's correction is over.
PROBES: Mapping[str, Probe] = {name: Probe(**fields) for name, fields in WORDS["probes"].items()}
Texts = Annotated[list[str], Field(min_length=1)]


class Item(Strict):
    """One question with two answers of about equal worth, in sentences, and filler; an `expert` may recommend one."""

    id: str = Field(pattern=r"[a-z0-9_]+")
    category: str
    question: str
    one: Texts
    two: Texts
    filler: Texts
    expert: str

    def text(self, side: str, padded: bool = False) -> str:
        """The answer of a side ("one" or "two"), padded with the filler between and around its sentences."""
        pairs = zip_longest(self.filler if padded else [], getattr(self, side), fillvalue="")
        return " ".join(text for pair in pairs for text in pair if text)


Percent = Annotated[int, Field(ge=0, le=100)]
#: Numbers from which one is drawn, both ends included; names of models under which answers are shown.
Range = Annotated[dict[Literal["from", "to"], Percent], Field(min_length=2)]
Names = Annotated[dict[Literal["famous", "unknown"], Texts], Field(min_length=2)]


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
    items: list[Item] = Field(min_length=2)
    digest: str
    pair: InstanceOf[prompts.Template]
    score: InstanceOf[prompts.Template]

    @property
    def knowledge(self) -> Mapping[str, Question]:
        """What simulated judges know of the questions: the sentences of both answers as points, three of six each."""
        return {x.question: Question(x.id, x.category, x.question, (*x.one, *x.two)) for x in self.items}


def load(folder: Path = FOLDER) -> Battery:
    """The battery in a folder.

    A ConfigError where a file is not as it must be, or its texts are not those of its version: cards of different texts
    do not compare.
    """
    path, found = folder / TEXTS, digest(folder)
    more = {"digest": found, "pair": prompts.load(folder / PAIR), "score": prompts.load(folder / SCORE)}
    texts = read_yaml(path)
    battery = checked(Battery, {**texts, **more} if isinstance(texts, dict) else texts, str(path), path)
    kept = (read_yaml(folder / VERSIONS) or {}).get(battery.version, "none")
    if kept != found:
        raise ConfigError(
            f"{folder}: the texts are not those of version {battery.version} (sha256 {found}, {VERSIONS} has {kept}); "
            f"restore them, or give a battery of your own a version of its own: `version:` in {TEXTS} and its sha256 "
            f"in {VERSIONS}"
        )
    ids = [each.id for each in battery.items]
    if doubles := sorted({id for id in ids if ids.count(id) > 1}):
        raise ConfigError(f"{path}: items: more than one with the id {', '.join(doubles)}")
    return battery


def digest(folder: Path = FOLDER) -> str:
    """The sha256 over the names and bytes of the three files of which prompts are made."""
    contents = {name: (folder / name).read_bytes() for name in (TEXTS, PAIR, SCORE)}
    parts = (f"{name}:{len(content)}\n".encode() + content for name, content in contents.items())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def trials(battery: Battery, judge: Model) -> list[Trial]:
    """All trials of the battery for a judge, 25 an item, conditions interleaved in an order drawn by its seed.

    `where` holds `first`, the side in the first place, and `target`, the side that is manipulated, of an anchor "high"
    or "low". ValueError where a text holds the code of its prompt.
    """
    lots = draw(battery)
    found = [trial for item in battery.items for trial in _trials_of(battery, judge, item, lots)]

    def lot(trial: Trial) -> str:
        place = (trial.question_id, trial.condition, trial.request.repeat, *trial.where.values())
        return short_hash(battery.seed, "audit_order", *place, digits=16)

    return sorted(found, key=lot)


@dataclass(frozen=True)
class Lots:
    """What chance decides for all items, by id: the `halves` taken at their second answer, whose answer is in a gap."""

    halves: Mapping[str, frozenset[str]]
    others: Mapping[str, Item]
    famous: Mapping[str, str]

    def side(self, what: str, item: Item) -> str:
        """Which answer of an item is taken for a purpose."""
        return SIDES[item.id in self.halves[what]]


def draw(battery: Battery) -> Lots:
    """The draws of a battery, by its seed."""
    items = {item.id: item for item in battery.items}

    def shuffled(what: str) -> list[str]:
        return random.Random(f"{battery.seed}:audit_{what}").sample([*items], len(items))

    halves = {what: frozenset(shuffled(what)[: len(items) // 2]) for what in ("padded", "scored", "good", "good_first")}
    circle = [items[id] for id in shuffled("others")]
    others = {}
    for place, item in enumerate(circle):
        after = circle[place + 1 :] + circle[:place]
        # Of another category, so that its answer answers something else.
        others[item.id] = next((each for each in after if each.category != item.category), after[0])
    famous = battery.names["famous"]
    return Lots(halves, others, {id: famous[place % len(famous)] for place, id in enumerate(shuffled("names"))})


class Slot(NamedTuple):
    """What stands in one place: the text, which answer it is (`side`), and under whose name it is shown ("": none)."""

    text: str
    side: str
    author: str = ""


def _trials_of(battery: Battery, judge: Model, item: Item, lots: Lots) -> Iterator[Trial]:
    """The trials of one item."""
    nonce = prompts.nonce(battery.seed, item.id)
    answers = {f"answer {side} to {item.id}": item.text(side, padded=True) for side in SIDES}
    prompts.check_nonce(nonce, {f"question {item.id}": item.question} | answers)

    def ask(
        condition: str, shown: Sequence[str], target: str, labels: Sequence[str] = (), repeat: int = 0, **more: Any
    ) -> Trial:
        form, template = ("choice", battery.pair) if labels else ("number", battery.score)
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
    for slots in ((one, two), (two, one)):
        for repeat in (0, 1):
            yield pair("plain", slots, repeat=repeat)
        yield pair("letters", slots, marks=EXCHANGED)

    for slot in (one, two):
        yield pair("identical", (slot, slot), target=slot.side)
    side = lots.side("padded", item)
    padded, short = Slot(item.text(side, padded=True), "padded"), Slot(item.text(side), "short")
    for slots in ((padded, short), (short, padded)):
        yield pair("length", slots, target="padded")
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

    # One answer scored after a high and after a low number, in the same words, that belongs to something else.
    rng = random.Random(f"{battery.seed}:audit_anchor:{item.id}")
    words, side = rng.choice(battery.anchors), lots.side("scored", item)
    for end, bounds in (("high", battery.high), ("low", battery.low)):
        anchor = prompts.filled(words, "anchors", number=rng.randint(bounds["from"], bounds["to"]))
        yield ask("anchor", [side], end, answer=item.text(side), anchor=anchor)
