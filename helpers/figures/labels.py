"""Words on the figures of the hinting experiment: the order of its groups, and names of any length and character."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.figures.style import Style
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Groups in the order of figures; others follow in the order given.
HINTS = ("none", "self", "competitors", "full", "swapped", "false_self", "competitors_masked", "model")
SOFT = "#6E6E6E"
#: The width of a letter and the height of a line, in units of the font size.
LETTER, LINE = 0.64, 1.45


def ordered(hints: Iterable[str]) -> list[str]:
    """The hints without repetition, in the order of HINTS, unknown ones last.

    >>> ordered(["mine", "full", "none", "full"])
    ['none', 'full', 'mine']
    """
    given = list(dict.fromkeys(hints))
    return [*(hint for hint in HINTS if hint in given), *(hint for hint in given if hint not in HINTS)]


def at_file_resolution(look: Style) -> dict[str, Any]:
    """The settings of a style with the layout made at the resolution of the file.

    Letters are up to a tenth wider there than at half of it.
    """
    return {**look.rc, "figure.dpi": look.rc["savefig.dpi"]}


def short(name: str, most: int) -> str:
    """The name in one line of at most `most` letters.

    >>> short("a\\nvery long name", 9)
    'a very l…'
    """
    name = plain(name)
    return name if len(name) <= most else f"{name[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def wrapped(name: str, letters: int, lines: int = 3) -> str:
    """The name in lines of at most `letters`, broken after underscores where it can be, cut after `lines`.

    >>> wrapped("competitors_masked", 12)
    'competitors_\\nmasked'
    """
    # A dash joins no words here, so that only underscores and spaces are places to break.
    text = short(name, letters * lines).replace("_", "_ ")
    parts = textwrap.wrap(text, letters + 1, break_on_hyphens=False)
    if len(parts) > lines:
        parts = textwrap.wrap(text.replace("_ ", "_"), letters, break_on_hyphens=False)
    if len(parts) > lines:
        parts = [*parts[: lines - 1], f"{parts[lines - 1][: letters - 1].rstrip()}\N{HORIZONTAL ELLIPSIS}"]
    return "\n".join(part.replace("_ ", "_") for part in parts)


def name_ticks(axes: Axes, names: Sequence[str], places: Sequence[float], room: float) -> int:
    """Names below the x axis of a panel `room` letters wide: every second one lower where they would touch.

    Returns how many lines they take.
    """
    slot = room / len(names)
    texts = [wrapped(name, max(int(slot), 4)) for name in names]
    if any("\n" in text for text in texts):
        texts = [wrapped(name, max(int(2 * slot) - 3, 4)) for name in names]
        depth = max(text.count("\n") + 1 for text in texts[::2])
        texts = [text if i % 2 == 0 else "\n" * depth + text for i, text in enumerate(texts)]
    axes.set_xticks(places, texts)
    axes.tick_params(axis="x", length=0)
    return max(text.count("\n") + 1 for text in texts)


def note(axes: Axes, at: float, words: str, x: float = 0.5, ha: str = "center") -> None:
    """Words in place of a number, in the row `at`."""
    text = axes.text(x, at, words, transform=axes.get_yaxis_transform(), ha=ha, va="center", color=SOFT)
    text.set(fontsize="small", bbox={"facecolor": "white", "edgecolor": "none", "pad": 1}, zorder=4)


def unreadable(estimates: Iterable[Estimate], hints: Iterable[str]) -> list[Estimate]:
    """The unreadable shares of these groups alone: other experiments and groups have theirs."""
    wanted = set(hints)
    return [each for each in estimates if each.id == "unreadable_share" and each.where.get("hint") in wanted]


def losses(estimates: Iterable[Estimate]) -> str:
    """Unreadable shares by data source and group, where any were lost; groups that lose unequally compare badly."""
    cells: dict[str, dict[str, list[Estimate]]] = {}
    for each in estimates:
        cells.setdefault(each.data, {}).setdefault(each.where["hint"], []).append(each)
    told = []
    for source, groups in cells.items():
        shares: Mapping[str, float] = {
            hint: sum(each.value * each.n for each in groups[hint] if each.n) / max(sum(e.n for e in groups[hint]), 1)
            for hint in ordered(groups)
        }
        if len(shares) > 1 and any(shares.values()):
            told.append(f"{source}: " + ", ".join(f"{hint} {100 * share:.1f} %" for hint, share in shares.items()))
    return f" Unreadable by group ({'; '.join(told)})." if told else ""
