"""One number in the terminal: what it means, where it fails, and what it was in the last runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from textwrap import fill
from typing import Any

from helpers import paths
from helpers.explain.declared import UNITS, Section, sections
from helpers.types import Estimand, Estimate

WIDTH = 100
#: So many numbers of a run are shown, the others are counted.
MOST_SHOWN = 8
#: Real data stand before simulated ones.
_LAST = "simulated"


def explain(id: str) -> str:
    """What the number `id` means in every experiment that declares it, and its values in the last runs, as plain text.

    An id that nobody declares is a ValueError that names the nearest ones.
    """
    told = [_told(each, each.estimands[id]) for each in sections() if id in each.estimands]
    if not told:
        raise ValueError(f"no number is called '{id}'{_nearest(id)}; `recuse explain` lists all")
    return "\n\n".join(told)


def listed() -> str:
    """All ids by experiment, those that conclusions rest on first and marked with *."""
    lines = []
    for each in sections():
        ids = [f"{id}*" if id in each.headline else id for id in each.estimands]
        lines += [f"{each.name}: {each.title}", _filled(", ".join(ids), "  ", "  "), ""]
    return "\n".join([*lines, "* conclusions rest on these. `recuse explain ID` says what a number means."])


def rows(each: Estimand) -> list[tuple[str, str]]:
    """What a declaration says, part by part: name of the part, its words."""
    return [
        ("formula", each.formula),
        ("numerator", each.numerator),
        ("denominator", each.denominator),
        ("ties and invalid", each.ties_and_invalid),
        ("cluster", each.cluster),
        ("interval", each.interval),
        ("unit", UNITS.get(each.unit, each.unit)),
        ("source", each.source),
    ]


def _told(section: Section, each: Estimand) -> str:
    mark = "; conclusions rest on it" if each.id in section.headline else ""
    parts = [("meaning", each.words), *rows(each), ("where it fails", each.fails)]
    lines = [f"{each.id} ({section.name}{mark})", *(_part(name, words) for name, words in parts)]
    for experiment in section.experiments:
        lines += _last_run(experiment, each.id)
    return "\n".join(lines)


def _part(name: str, words: str) -> str:
    return _filled(f"{name + ':':<18}{words}", "  ", " " * 20)


def _filled(text: str, first: str, others: str) -> str:
    whole = {"break_long_words": False, "break_on_hyphens": False}
    return fill(text, WIDTH, initial_indent=first, subsequent_indent=others, **whole)


def _nearest(id: str) -> str:
    known = list(dict.fromkeys(name for each in sections() for name in each.estimands))
    word = id.strip().lower().replace("-", "_").replace(" ", "_")
    inside = [name for name in known if word and (word in name or name in word)]
    near = list(dict.fromkeys([*get_close_matches(word, known, 5), *inside]))[:8]
    return f"; the nearest are {', '.join(near)}" if near else ""


def _last_run(experiment: str, id: str) -> list[str]:
    """The values in figures/<experiment>/numbers.json, real data first; nothing where there is no such file or number.

    A file that is no such record is a ValueError that names it.
    """
    path = paths.FIGURES / experiment / "numbers.json"
    if not path.is_file():
        return []
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["numbers"]
        found = [_estimate(each) for each in kept if each["id"] == id]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no numbers of a run ({type(error).__name__}: {error})") from None
    found.sort(key=lambda each: each.data == _LAST)
    name = f"figures/{experiment}/numbers.json"
    return [f"  last run, {name}:", *_lines(found, name)] if found else []


def _lines(found: Sequence[Estimate], name: str) -> Iterator[str]:
    for each in found[:MOST_SHOWN]:
        place = ", ".join(f"{key} {value}" for key, value in each.where.items())
        data = each.data.upper() if each.data == _LAST else each.data
        size = f"n = {each.n}" + (f", {each.clusters} clusters" if each.clusters else "")
        why = f"; {each.method}" if each.low != each.low else ""
        yield _filled(f"{data}{': ' if place else ''}{place}: {each} ({size}{why})", "    ", "      ")
    if len(found) > MOST_SHOWN:
        yield f"    and {len(found) - MOST_SHOWN} more in {name}"


def _estimate(kept: dict[str, Any]) -> Estimate:
    bounds = {key: float("nan") if kept[key] is None else float(kept[key]) for key in ("value", "low", "high")}
    facts = {key: kept[key] for key in ("n", "clusters", "unit", "method", "data")}
    return Estimate(kept["id"], kept["where"], **bounds, **facts)
