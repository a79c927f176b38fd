"""The sources that results name, as BibTeX: facts of experiments/sources.bib, one entry a source."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from helpers import paths
from helpers.config import experiment_names, load_config
from helpers.explain.declared import sections
from helpers.paper.folders import Results
from helpers.types import Estimand

BIBLIOGRAPHY = paths.EXPERIMENTS / "sources.bib"
#: The entry that every paper cites.
SELF = "recuse"
_ENTRY = re.compile(r"^@\w+\{(?P<key>[\w-]+),\n(?P<body>.*?)^\}$", re.DOTALL | re.MULTILINE)
_NAMED = re.compile(r",\n  named = \{(?P<named>.*)\}\n", re.DOTALL)


@dataclass(frozen=True)
class Source:
    """One entry: its key, the words by which results name it, and its BibTeX without them."""

    key: str
    named: tuple[str, ...]
    bibtex: str


def known() -> dict[str, Source]:
    """All entries by key; one without `named` as its last field, or a key twice, is a ValueError."""
    text, found = BIBLIOGRAPHY.read_text(encoding="utf-8"), {}
    for entry in _ENTRY.finditer(text):
        named = _NAMED.search(entry["body"])
        if not named or entry["key"] in found:
            raise ValueError(
                f"{BIBLIOGRAPHY.name}: {entry['key']}: expected once, with `named = {{...}}` as its last field"
            )
        words = tuple(word.strip() for word in named["named"].split(";") if word.strip())
        found[entry["key"]] = Source(entry["key"], words, _NAMED.sub("\n", entry[0]))
    if len(found) != text.count("\n@"):
        raise ValueError(f"{BIBLIOGRAPHY.name}: an entry that does not end in a line `}}` of its own")
    return found


def cited(texts: Iterable[str]) -> list[str]:
    """The keys of the sources that these texts name, in order."""
    whole = "\n".join(texts)
    return [source.key for source in known().values() if any(word in whole for word in source.named)]


def of_results(results: Results) -> list[str]:
    """The keys of what the numbers of these results rest on: declared sources, methods used, and planned tests."""
    ids = {each.id for each in results.estimates}
    used = [each for each in declared(results.experiment).values() if each.id in ids]
    texts = [each.source for each in used] + [each.method for each in results.estimates]
    # What intervals of published counts rest on is told by the methods of those that are there.
    texts += [re.sub(r"\(published counts:[^)]*\)", "", each.interval) for each in used]
    if results.experiment in experiment_names():
        config = load_config(results.experiment)
        texts += [config.methods.orders, config.methods.tests]
    return cited(texts)


def declared(experiment: str) -> Mapping[str, Estimand]:
    """What the numbers of an experiment mean; those of one's own verdicts can be any."""
    mine = [each for each in sections() if experiment in each.experiments or each.module == experiment]
    if experiment == "analyze":
        mine = list(reversed(sections()))
    return {id: estimand for each in mine for id, estimand in each.estimands.items()}


def headline(experiment: str) -> set[str]:
    """The ids of the numbers that conclusions of an experiment rest on."""
    return {id for each in sections() if experiment in each.experiments for id in each.headline}


def bibliography(keys: Iterable[str]) -> str:
    """references.bib: Recuse itself and the sources with these keys."""
    every, wanted = known(), {SELF, *keys}
    return "\n\n".join(source.bibtex for key, source in every.items() if key in wanted) + "\n"
