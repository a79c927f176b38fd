"""How simulated vendors write: openings, closings and layout that give a text's vendor away to whoever looks."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Manner:
    """One vendor's way with words; `bullet` starts each sentence's line, "" writes a paragraph."""

    openings: tuple[str, ...]
    closings: tuple[str, ...]
    bullet: str = ""

    def write(self, sentences: Sequence[str], rng: random.Random) -> str:
        """The sentences as a text in this manner."""
        if self.bullet:
            body = "\n".join(self.bullet.format(number=n) + s for n, s in enumerate(sentences, 1))
        else:
            body = " ".join(sentences)
        opening = rng.choice(self.openings) if self.openings else ""
        closing = rng.choice(self.closings) if self.closings else ""
        return "\n\n".join(part for part in (opening, body, closing) if part)


MANNERS = {
    "": Manner((), ()),
    "claude": Manner(
        (
            "I'd be glad to think this through with you, one consideration at a time.",
            "There's a nuance here that deserves some care before anything else.",
            "Let me offer a considered view, and be candid about where it is uncertain.",
        ),
        (
            "I hope that's a helpful way of seeing it; I'm glad to go deeper on any part.",
            "I'd hold all of this a little lightly, since context could change the weighting.",
            "If it would help, I'm happy to walk through any piece of this more slowly.",
        ),
    ),
    "gpt": Manner(
        (
            "Sure! Here's a clear, structured answer you can use right away:",
            "Great question. Here's the short version, followed by the essentials:",
            "Absolutely. Here's a practical breakdown, ready to use:",
        ),
        (
            "**Bottom line:** the items above cover what you need to act on this today.",
            "Want me to turn this into a checklist, a table or a longer draft?",
            "**Takeaway:** keep the list above handy and you're set.",
        ),
        bullet="- ",
    ),
    "gemini": Manner(
        (
            "## Overview\nLet's unpack this topic systematically, layer by layer.",
            "## Summary\nThis response explores the topic through several interconnected facets.",
            "## Introduction\nLet's embark on a structured tour of the key facets involved.",
        ),
        (
            "### In conclusion\nTaken together, these facets paint a comprehensive picture of the topic.",
            "### Final thoughts\nThese interconnected facets illustrate the richness of the subject.",
            "### Key insight\nUnderstanding how the facets interlock is what unlocks the whole topic.",
        ),
        bullet="{number}. ",
    ),
}

#: Sentences that say nothing about any question: padding, and all there is where a model knows no points.
NEUTRAL = (
    "There are several sides to this, and each of them deserves a moment of attention.",
    "Much depends on the situation in which the question is asked.",
    "It helps to begin with what is already known and to build on that.",
    "Different readers will reasonably put the weight in different places.",
    "A first attempt is rarely the best one, so it pays to look twice.",
    "The details matter more than they seem to at first sight.",
    "It is worth keeping the purpose of the whole exercise in view.",
    "Simple explanations are a good place to start, though not always to stop.",
    "What looks like one question is often two questions side by side.",
    "An example from everyday life would make the same point more vividly.",
    "Some of this is a matter of convention rather than of necessity.",
    "The order of the steps can make as much difference as the steps themselves.",
    "A careful reader may want to check each part separately.",
    "None of this is as settled as a brief answer may make it sound.",
    "In practice people tend to combine more than one approach.",
    "The short answer and the long answer agree in substance.",
    "There is usually more than one good way to get there.",
    "What counts as enough depends on who is asking and why.",
    "It is easier to judge the result than to describe the way to it.",
    "Over time, the less obvious considerations tend to gain in importance.",
    "A little patience goes a long way with matters of this kind.",
    "The same idea returns in many other places under other names.",
    "Where the evidence is thin, modest wording is the better choice.",
    "All of this can be refined once the first version stands.",
)

BULLETS = re.compile(r"^(?:[-*\u2022]|\d+\.) ", re.MULTILINE)
CONFIDENT = re.compile(r"\b(?:absolutely|undoubtedly|no doubt|beyond question)\b", re.IGNORECASE)


def own_by_name(said: str, labels: Sequence[str], vendor: str, deduces: bool = False) -> list[bool]:
    """Which labels the words after the answers say, or let conclude, to be from this vendor.

    A list of authors (`B: GPT`) names each label; a sentence on the judge's own vendor names its labels. One who
    `deduces` takes undisclosed answers for its own where it is not named itself and they are as many as each other
    vendor's: with two vendors undisclosed nobody can tell.

    >>> own_by_name("A: GPT\\nB: not disclosed", "AB", "claude")
    [False, False]
    >>> own_by_name("A: GPT\\nB: not disclosed", "AB", "claude", deduces=True)
    [False, True]
    """
    listed = dict(re.findall(r"^(\w+): (.+)$", said, re.MULTILINE))
    if set(labels) <= set(listed):
        own = [vendor in listed[label].casefold() for label in labels]
        hidden = ["not disclosed" in listed[label] for label in labels]
        sizes = set(Counter(listed[label] for label in labels if "not disclosed" not in listed[label]).values())
        return hidden if deduces and not any(own) and sizes == {sum(hidden)} else own
    told = re.search(r"answers? (.+?) came from your own vendor", said)
    mine = set(re.findall(r"\b[A-Z]\b", told[1])) if told else set()
    return [label in mine for label in labels]


def vendor_of(text: str) -> str | None:
    """Whose manner a text is written in: opening and closing of one vendor; None for anything else.

    Both are asked for, so that a real text that happens to share a phrase is not taken for a vendor's.

    >>> vendor_of(MANNERS["gpt"].write(["Two and two are four."], random.Random("x")))
    'gpt'
    >>> vendor_of("Great question. Here's the short version, followed by the essentials: four.") is None
    True
    """
    for vendor, manner in MANNERS.items():
        opened = any(text.startswith(phrase) for phrase in manner.openings)
        if opened and any(text.endswith(phrase) for phrase in manner.closings):
            return vendor
    return None


def is_list(text: str) -> bool:
    r"""Whether a text is written as a list: at least two of its lines begin with a bullet.

    >>> is_list("Two reasons:\n- One.\n- Another."), is_list("- One line alone."), is_list("A fact - or not.")
    (True, False, False)
    """
    return len(BULLETS.findall(text)) > 1


def is_confident(text: str) -> bool:
    """Whether a text says that it is right.

    >>> is_confident("There is absolutely no doubt."), is_confident("This may be so.")
    (True, False)
    """
    return CONFIDENT.search(text) is not None


#: Wordings that a simulated judge recognizes, and may like.
WORDINGS = {"listed": is_list, "confident": is_confident}
