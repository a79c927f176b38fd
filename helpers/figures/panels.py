"""What the figures have in common: choosing estimates, drawing a point with its interval, axes, names."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.figures.style import GREY, INK, Figure, Look, Style
from helpers.types import Estimate
from helpers.words import display_name, plain

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


#: Data sources in the order of panels, with the words of titles and captions.
SOURCES = {
    "published": "published counts",
    "hub": "published judgments",
    "folder": "judgments from files",
    "asked": "asked judges",
    "simulated": "SIMULATED judges",
}
SCALES = {"rate": (100, "%"), "pp": (100, "pp"), "sd_pp": (100, "pp")}
PLAIN = Look(INK, "o")
#: In a cell or column, where there is no room for words.
NOT_ESTIMABLE = "\N{EN DASH}"
#: Keys of `where` whose values are vendors, and keys that alt texts call by another word.
VENDOR_KEYS = ("vendor", "judge_vendor")
WORDS = {"slot": "place", "judge_vendor": "judges of"}


def scale(unit: str) -> tuple[float, str]:
    """The factor from stored to printed numbers and the printed unit.

    >>> scale("rate"), scale("logit")
    ((100, '%'), (1, 'logit'))
    """
    return SCALES.get(unit, (1, unit))


def shade(colours: str, share: float) -> tuple[float, ...]:
    """The colour of a map at a share of it; shares that differ by rounding alone get the same colour."""
    import matplotlib

    return matplotlib.colormaps[colours](round(share, 9))


class NothingToDraw(ValueError):
    """There is no estimate of the kind that a figure draws."""


def pick(estimates: Iterable[Estimate], ids: Sequence[str], *keys: Sequence[str]) -> list[Estimate]:
    """The estimates with one of `ids` and exactly one of the sets of `where` keys.

    None found, or two for the same place and data, is a ValueError that says what there is.
    """
    estimates = list(estimates)
    wanted = [set(each) for each in keys]
    found = [each for each in estimates if each.id in ids and set(each.where) in wanted]
    if not found:
        there = sorted({f"{each.id}[{', '.join(each.where)}]" for each in estimates})
        needed = " or ".join(f"{id_}[{', '.join(each)}]" for id_ in ids for each in keys)
        raise NothingToDraw(f"no estimates of {needed}; given: {', '.join(there) or 'none'}")
    places = [(tuple(sorted(each.where.items())), each.data) for each in found]
    double = sorted(f"{dict(where)} ({data})" for (where, data), count in Counter(places).items() if count > 1)
    if double:
        raise ValueError(f"{found[0].id}: more than one estimate for {', '.join(double)}; filter them first")
    return found


def if_any(draw: Callable[..., Figure], *given: Any, **options: Any) -> list[Figure]:
    """The figure that `draw` makes of what it is given, in a list; an empty one where nothing of its kind was measured.

    Of some biases there is no anchor, of others no gamble: the figures of the rest are drawn all the same.
    """
    try:
        return [draw(*given, **options)]
    except NothingToDraw:
        return []


def by_data(estimates: Iterable[Estimate]) -> dict[str, list[Estimate]]:
    """The estimates of each data source, in the order of SOURCES, unknown sources last."""
    groups: dict[str, list[Estimate]] = {}
    for each in estimates:
        groups.setdefault(each.data, []).append(each)
    order = [*SOURCES, *sorted(set(groups) - set(SOURCES))]
    return {source: groups[source] for source in order if source in groups}


def title(axes: Axes, source: str, several: bool, beside: bool = False) -> None:
    """Write the data source above a panel: always when judges are simulated, else only where there are several.

    `beside` writes it upright to the right of the panel, which then names a whole row of panels.
    """
    if several or source == "simulated":
        words, weight = SOURCES.get(source, source), "bold" if source == "simulated" else "normal"
        look = {"fontsize": "small", "color": "#6E6E6E", "fontweight": weight}
        if beside:
            axes.text(1.03, 0.5, words, transform=axes.transAxes, rotation=270, ha="left", va="center", **look)
        else:
            axes.set_title(words, loc="right", **look)


def dot(
    axes: Axes, at: float, estimate: Estimate | None, look: Look, upright: bool = False, absent: str = "not asked"
) -> None:
    """Draw an estimate as a marker with its interval; open where there is no interval, words where no number.

    Where there is no estimate, `absent` says why; upright the place stays empty.
    """
    if estimate is None and upright:
        return
    if estimate is None or math.isnan(estimate.value):
        across = axes.get_xaxis_transform() if upright else axes.get_yaxis_transform()
        words = absent if estimate is None else NOT_ESTIMABLE if upright else "not estimable"
        place = (at, 0.5) if upright else (0.5, at)
        note = axes.text(*place, words, transform=across, color="#6E6E6E", ha="center", va="center", fontsize="small")
        note.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1})
        return
    factor = scale(estimate.unit)[0]
    has_interval = not (math.isnan(estimate.low) or math.isnan(estimate.high))
    if has_interval:
        ends, line = [estimate.low * factor, estimate.high * factor], [at, at]
        axes.plot(*((line, ends) if upright else (ends, line)), color=look.colour, zorder=2)
    point = (at, estimate.value * factor) if upright else (estimate.value * factor, at)
    face, edge = (look.colour, "white") if has_interval else ("white", look.colour)
    axes.plot(*point, look.marker, markerfacecolor=face, markeredgecolor=edge, markeredgewidth=0.7, zorder=3)


def rows(axes: Axes, labels: Sequence[str], percent: bool = False) -> None:
    """Prepare a panel whose rows are `labels`, first on top; `percent` fixes the x axis to 0 to 100."""
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    if percent:
        axes.set_xlim(-4, 104)
        axes.set_xticks([0, 50, 100])


def reference(axes: Axes, value: float, upright: bool = False) -> None:
    """A thin line at the value of no bias."""
    thin = axes.spines["left"].get_linewidth()
    (axes.axhline if upright else axes.axvline)(value, color=GREY, linewidth=thin, linestyle=(0, (4, 3)), zorder=1)


def _span(numbers: Iterable[int], word: str) -> str:
    numbers = sorted({each for each in numbers if each})
    if not numbers:
        return ""
    return f"{numbers[0]} {word}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]} {word}"


def _unreadable(estimates: Iterable[Estimate], source: str) -> str:
    shares = [each for each in estimates if each.id == "unreadable_share" and each.data == source]
    asked = sum(each.n for each in shares)
    if not asked:
        return "unreadable share not published" if source == "published" else "unreadable share not given"
    lost = round(sum(each.value * each.n for each in shares if each.n))
    return f"unreadable {100 * lost / asked:.1f} % ({lost} of {asked} judgments)"


def caption(words: str, shown: Sequence[Estimate], estimates: Iterable[Estimate] = ()) -> str:
    """`words`, then for each data source n, clusters and unreadable share, then what the lines are.

    The unreadable share is read from estimates `unreadable_share` (a rate with n judgments asked, one a judge).
    """
    estimates = list(estimates)
    parts = []
    for source, group in by_data(shown).items():
        n = _span((each.n for each in group), "judgments a point")
        # Margins do not know their questions; what stands there are votes.
        clusters = "" if source == "published" else _span((each.clusters for each in group), "questions")
        facts = ", ".join(filter(None, (n and f"n = {n}", clusters, _unreadable(estimates, source))))
        parts.append(f"{SOURCES.get(source, source or 'source not given')} ({facts})")
    parts = [f"Data: {'; '.join(parts)}."]
    bare = [each for each in shown if math.isnan(each.low) and not math.isnan(each.value)]
    known = [each for each in shown if not math.isnan(each.low)]
    if known:
        # Methods are parts joined by semicolons; a part that several share is said once.
        methods = "; ".join(dict.fromkeys(part for each in known for part in each.method.split("; ") if part))
        parts.append(f"Intervals: 95 %{f' ({methods})' if methods else ''}.")
    if bare:
        why = "; ".join(sorted({each.method for each in bare if each.method}))
        parts.append(f"Open markers: no interval{f' ({why})' if why else ''}.")
    lost = [each for each in shown if math.isnan(each.value)]
    if lost:
        why = "; ".join(sorted({each.method for each in lost if each.method}))
        parts.append(f"Not estimable ({NOT_ESTIMABLE} where room is short){f': {why}' if why else ''}.")
    return " ".join([words, *parts])


def _told(key: str, value: object) -> str:
    return f"{WORDS.get(key, key)} {display_name(value) if key in VENDOR_KEYS else plain(value)}"


def alt(words: str, shown: Iterable[Estimate], names: Mapping[str, str] | None = None, most: int = 18) -> str:
    """What the picture shows, in words: each number with its place, at most `most` of each data source."""
    parts = []
    for source, group in by_data(shown).items():
        lines = []
        for each in group[:most]:
            place = [(names or {}).get(each.id), *(_told(key, value) for key, value in each.where.items())]
            lines.append(f"{', '.join(filter(None, place))}: {each}")
        rest = f"; and {len(group) - most} more" if len(group) > most else ""
        parts.append(f"{SOURCES.get(source, source or 'source not given')}: {'; '.join(lines)}{rest}.")
    return " ".join([f"{words}.", *parts])
