"""What each number means, as a page: the declarations of every numbers.yaml, each with an address of its own."""

from __future__ import annotations

import re
from dataclasses import dataclass

from markupsafe import Markup

from helpers.escaping import visible
from helpers.explain import Section, sections
from helpers.explain.telling import rows
from helpers.report.layout import coded


@dataclass(frozen=True)
class Entry:
    """One number: what its declaration says, part by part."""

    id: str
    address: str
    headline: bool
    words: Markup
    rows: tuple[tuple[str, Markup], ...]
    fails: Markup


@dataclass(frozen=True)
class Group:
    """The numbers of one bias module."""

    title: str
    address: str
    whose: str
    entries: tuple[Entry, ...]


def groups() -> list[Group]:
    """All declared numbers by module, those that conclusions rest on first."""
    return [
        Group(
            section.title,
            section.module,
            f"Experiment {section.name}." if section.experiments else f"Module {section.name}.",
            tuple(_entry(section, id) for id in section.estimands),
        )
        for section in sections()
    ]


def section_of(experiment: str) -> str:
    """The address of the numbers of an experiment, "" where none are declared."""
    return next((each.module for each in sections() if experiment in each.experiments), "")


def _entry(section: Section, id: str) -> Entry:
    each = section.estimands[id]
    (formula, *others) = rows(each)
    told = [(formula[0], Markup("<code>{}</code>").format(visible(formula[1])))]
    told += [(name, _linked(words, section, id)) for name, words in others]
    return Entry(
        id=id,
        address=f"{section.module}-{id}",
        headline=id in section.headline,
        words=_linked(each.words, section, id),
        rows=tuple(told),
        fails=_linked(each.fails, section, id),
    )


def _linked(text: str, section: Section, own: str) -> Markup:
    """The same with each other number of the section as a link to it."""
    ids = sorted((id for id in section.estimands if "_" in id and id != own), key=len, reverse=True)
    told = coded(text)
    if not ids:
        return told
    # Ids are letters, digits and underscores, of which none is a sign of HTML.
    words = re.compile(rf"(?<![\w&;])({'|'.join(map(re.escape, ids))})(?![\w;])")
    return Markup(words.sub(lambda found: f'<a href="#{section.module}-{found[1]}">{found[1]}</a>', str(told)))
