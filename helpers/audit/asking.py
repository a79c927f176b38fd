"""What an audit asks one judge: each question with every manipulation and its matched control, in one random order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from helpers import prompts
from helpers.audit.battery import SIDES, Battery, Item
from helpers.types import Model, Request, Trial, short_hash

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
