"""What goes into a figure: estimates chosen by id and place, names that fit, the words of captions and alt texts."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ..types import Estimate
from ..words import display_name, listed, plain
from .style import GREY, INK, VENDORS, Figure, Look, Style

if TYPE_CHECKING:
    import pandas as pd

Key = TypeVar("Key", bound=Hashable)

#: Data sources in the order of figures, with the words of headings and captions: what was asked stands first, what is
#: simulated last.
SOURCES = {
    "asked": "asked judges",
    "folder": "judgments from files",
    "hub": "published judgments",
    "published": "published counts",
    "simulated": "SIMULATED models",
}
#: Groups in the order of figures; others follow in the order given.
HINTS = ("none", "self", "competitors", "full", "swapped", "false_self", "competitors_masked", "model")
BIASES = ("anchoring", "halo", "loss_aversion", "confirmation", "judge_anchoring", "bandwagon", "authority")
SCALES = {"rate": (100, "%"), "pp": (100, "pp"), "sd_pp": (100, "pp")}
SOFT = "#6E6E6E"
PLAIN, MEAN, OTHERS = Look(INK, "o"), Look(INK, "D"), Look(GREY, "h")
#: Where no number stands and there is no room for words.
NOT_ESTIMABLE = "\N{EN DASH}"
_WORDS = {"slot": "place", "judge_vendor": "judges of"}


class NothingToDraw(ValueError):
    """There is no estimate of the kind that a figure draws."""


def if_any(draw: Callable[..., Figure], *arguments: Any, **options: Any) -> list[Figure]:
    """The figure that `draw` makes, in a list; an empty one where nothing of its kind was measured."""
    try:
        return [draw(*arguments, **options)]
    except NothingToDraw:
        return []


def scale(unit: str) -> tuple[float, str]:
    """The factor from stored to printed numbers and the printed unit.

    >>> scale("rate"), scale("logit")
    ((100, '%'), (1, 'logit'))
    """
    return SCALES.get(unit, (1, unit))


def short(name: object, most: int) -> str:
    """The name in one line of at most `most` letters; versions stand at the end, so the middle is left out.

    >>> short("gemini-2.0-flash-lite-001", 20)
    'gemini-2.0\N{HORIZONTAL ELLIPSIS}-lite-001'
    """
    name = plain(name)
    return name if len(name) <= most else f"{name[: most // 2]}\N{HORIZONTAL ELLIPSIS}{name[-((most - 1) // 2) :]}"


def in_order(names: Iterable[Key], order: Sequence[Key]) -> list[Key]:
    """The names without repetition in an order, others after them as they came.

    >>> in_order(["mine", "full", "none", "full"], HINTS)
    ['none', 'full', 'mine']
    """
    found = list(dict.fromkeys(names))
    return [*(name for name in order if name in found), *(name for name in found if name not in order)]


def by_number(doses: Iterable[str]) -> list[str]:
    """Doses without repetition: numbers of words by size, then those that are words.

    >>> by_number(["8", "paraphrase", "2", "8"])
    ['2', '8', 'paraphrase']
    """
    return sorted(set(doses), key=lambda dose: (not dose.isdigit(), int(dose) if dose.isdigit() else 0, dose))


def by_value(keys: Iterable[Key], values: Mapping[Key, float]) -> list[Key]:
    """The keys from the largest value to the smallest, those without a number last, ties by name."""

    found = {key: values.get(key, math.nan) for key in keys}
    lost = {key: math.isnan(value) for key, value in found.items()}
    return sorted(found, key=lambda key: (lost[key], 0.0 if lost[key] else -found[key], str(key)))


def pick(estimates: Iterable[Estimate], ids: Sequence[str], *keys: Iterable[str]) -> list[Estimate]:
    """The estimates with one of `ids` and exactly one of the sets of `where` keys.

    None found is NothingToDraw, two for the same place and data, or several units, a ValueError; both say what
    there is.
    """
    estimates = list(estimates)
    wanted = [set(each) for each in keys]
    found = [each for each in estimates if each.id in ids and set(each.where) in wanted]
    if not found:
        there = sorted({f"{each.id}[{', '.join(each.where)}]" for each in estimates})
        needed = " or ".join(f"{id_}[{', '.join(each)}]" for id_ in ids for each in keys)
        raise NothingToDraw(f"no estimates of {needed}; given: {', '.join(there) or 'none'}")
    places = Counter((each.id, tuple(sorted(each.where.items())), each.data) for each in found)
    double = sorted(f"{dict(where)} ({data})" for (_, where, data), count in places.items() if count > 1)
    if double:
        raise ValueError(f"{found[0].id}: more than one estimate for {', '.join(double)}; filter them first")
    for id in ids:
        if len(units := {each.unit for each in found if each.id == id}) > 1:
            raise ValueError(f"{id} comes in several units ({', '.join(sorted(units))}); one axis shows one")
    return found


def at_places(estimates: Iterable[Estimate], *keys: str) -> dict[tuple[str, ...], Estimate]:
    """The estimates by data, id and the values of these keys, "" for a key that a place lacks."""
    return {(each.data, each.id, *(each.where.get(key, "") for key in keys)): each for each in estimates}


def check_values(found: Iterable[object], allowed: Iterable[str], what: str) -> None:
    """A value that is none of `allowed` is a ValueError that lists these."""
    allowed = list(allowed)
    odd = sorted({plain(each) for each in found} - {*allowed})
    if odd:
        raise ValueError(f"{what} {', '.join(odd)}; there are: {', '.join(allowed)}")


def check_columns(table: pd.DataFrame, columns: Sequence[str], what: str, rows: int = 1) -> None:
    """Lacking columns, too few rows, and counts that are no counts are a ValueError that names them."""
    lacking = [column for column in columns if column not in table]
    if lacking or len(table) < rows:
        there = ", ".join(map(str, table.columns)) or "nothing"
        lost = f"; not there: {', '.join(lacking)}" if lacking else ""
        raise ValueError(f"{what} need rows with {listed(columns)}; given: {len(table)} rows of {there}{lost}")
    for column in {"count", "lost"} & {*columns}:
        wrong = table[~((table[column] >= 0) & (table[column] % 1 == 0))]
        if len(wrong):
            raise ValueError(f"{what}: counts are whole numbers from 0; row {wrong.index[0]} has {dict(wrong.iloc[0])}")


def by_data(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates of each data source, in the order of SOURCES, unknown sources last."""
    groups: dict[str, list[Estimate]] = {}
    for each in estimates:
        groups.setdefault(each.data, []).append(each)
    return {source: groups[source] for source in in_order(sorted(groups), list(SOURCES))}


def source_name(data: str) -> str:
    """A data source as headings and captions call it."""
    return SOURCES.get(data, plain(data) or "source not given")


def judge_looks(judges: Iterable[str], look: Style, vendors: Mapping[str, str] | None = None) -> dict[str, Look]:
    """The look of each judge's vendor, vendors in their order: as given, else the one vendor that its name holds.

    >>> from helpers.figures.style import style
    >>> judge_looks(["sim_qwen_small", "Qwen2.5-7B"], style())["Qwen2.5-7B"].marker
    'v'
    """

    def vendor(judge: str) -> str | None:
        if vendors and judge in vendors:
            return vendors[judge]
        words = set(re.findall("[a-z]+", judge.lower()))
        named = [name for name in (*VENDORS, *look.vendors) if name in words]
        return named[0] if len(named) == 1 else None

    whose = {judge: vendor(judge) for judge in judges}
    looks = look.looks({name for name in whose.values() if name})
    names = sorted(whose, key=lambda judge: ([*looks, None].index(whose[judge]), judge))
    return {judge: looks.get(whose[judge] or "", PLAIN) for judge in names}


def losses(estimates: Iterable[Estimate], id: str, shown: Sequence[Estimate]) -> list[Estimate]:
    """The unreadable shares that belong to a figure: those of `id` that agree with one of its numbers in judge, hint,
    candidate, source and condition, where it has these, and in what else both have. Beside keys of that number their
    places may name judge, condition and source, but no category: a part.
    """

    def belongs(each: Estimate, to: Estimate) -> bool:
        common = {*to.where} & {"judge", "hint", "candidate", "source", "condition", *each.where}
        near = {*to.where, "judge", "condition", "source"} - {"category"}
        same = all(each.where.get(key) == to.where[key] for key in common)
        return same and each.data == to.data and {*each.where} <= near

    lost = [each for each in estimates if each.id == id and not math.isnan(each.value)]
    return [each for each in lost if any(belongs(each, to) for to in shown)]


def span_of(sizes: Iterable[int], word: str = "") -> str:
    """The smallest and the largest of some counts, in words; "" where all are 0."""
    counts = sorted({each for each in sizes if each})
    words = " to ".join(f"{count}" for count in dict.fromkeys([*counts[:1], *counts[-1:]]))
    return f"{words} {word.removesuffix('s') if counts == [1] else word}" if words and word else words


def _unreadable(lost: Iterable[Estimate], data: str, counted: str) -> str:
    shares = [each for each in lost if each.data == data and each.n]
    asked = sum(each.n for each in shares)
    if not asked:
        return "unreadable share not published" if data == "published" else "unreadable share not given"
    count = round(sum(each.value * each.n for each in shares))
    return f"unreadable {100 * count / asked:.1f} % ({count} of {asked} {counted})"


def caption(
    words: str, shown: Sequence[Estimate], lost: Sequence[Estimate], counted: tuple[str, str, str], bare: str
) -> str:
    """`words`, then for each data source n, clusters and unreadable share, then what the lines are.

    `lost` are shares with their n (see `losses`); `counted` names what a point counts, its clusters, and what could not
    be read; `bare` what has no interval.
    """
    parts = []
    point, clusters, replies = counted
    for data, group in by_data(shown).items():
        n = span_of((each.n for each in group), f"{point} a point")
        # Margins do not know their questions; what stands there are votes.
        units = "" if data == "published" else span_of((each.clusters for each in group), clusters)
        facts = ", ".join(filter(None, (n and f"n = {n}", units, _unreadable(lost, data, replies))))
        parts.append(f"{source_name(data)} ({facts})")
    sentences = [words, f"Data: {'; '.join(parts)}."]
    sure = [each for each in shown if not math.isnan(each.low)]
    for start, such in (
        ("Intervals: 95 %", sure),
        (f"{bare}: no interval", [each for each in shown if math.isnan(each.low) and not math.isnan(each.value)]),
        ("Not estimable", [each for each in shown if math.isnan(each.value)]),
    ):
        # Methods are parts joined by semicolons; a part that several share is said once.
        methods = "; ".join(dict.fromkeys(part for each in such for part in each.method.split("; ") if part))
        if such:
            sentences.append(f"{start}{f' ({methods})' if methods else ''}.")
    return " ".join(sentences)


def alt(words: str, shown: Iterable[Estimate], names: Mapping[str, str] | None = None, most: int = 48) -> str:
    """What the picture shows, in words: each number with its place, at most `most` of each data source."""
    parts = []
    for data, group in by_data(shown).items():
        lines = []
        for each in group[:most]:
            places = [
                f"{_WORDS.get(key, key)} {display_name(value) if 'vendor' in key else plain(value)}"
                for key, value in each.where.items()
            ]
            lines.append(f"{', '.join(filter(None, [(names or {}).get(each.id), *places]))}: {each}")
        rest = f"; and {len(group) - most} more" if len(group) > most else ""
        parts.append(f"{source_name(data)}: {'; '.join(lines)}{rest}.")
    return " ".join([f"{words}.", *parts])
