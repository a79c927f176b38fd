"""The figure of biases: how far each moves each judge, as points with intervals while few, else as a heatmap."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from helpers.figures import comparisons, judges, panels
from helpers.figures import style as styles
from helpers.figures.style import GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.stats.standing import BY
from helpers.types import Estimate
from helpers.words import plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

#: The built-in biases in the order of figures; others follow in the order given.
BIASES = ("anchoring", "halo", "loss_aversion", "confirmation", "judge_anchoring", "bandwagon", "authority")
LEVEL = 0.05
#: Data of models that were asked for this run; the replies of all others come from published files.
ASKED = ("asked", "simulated")
CORRECTION = (
    "Holm over all biases and judges; a star also asks that answers move the same way along the scale, and where their "
    "scatter may differ also by the sign test over scenarios"
)
Titles = Mapping[str, str] | None
#: Corrected p by bias and judge (None: the mean over judges), where sources of data differ also by data.
Stars = Mapping[tuple[str | None, ...], float] | None


def ordered(biases: Iterable[str]) -> list[str]:
    """The biases without repetition, in the order of BIASES, unknown ones last.

    >>> ordered(["framing", "halo", "anchoring", "halo"])
    ['anchoring', 'halo', 'framing']
    """
    given = list(dict.fromkeys(biases))
    return [*(bias for bias in BIASES if bias in given), *(bias for bias in given if bias not in BIASES)]


def title(bias: str, titles: Titles = None) -> str:
    """A bias in words: as given, else its id without underscores.

    >>> title("loss_aversion"), title("halo", {"halo": "Halo effect"})
    ('loss aversion', 'Halo effect')
    """
    return plain((titles or {}).get(bias, bias.replace("_", " ")))


def starred(each: Estimate | None, stars: Stars) -> bool:
    """Is this number significant after correction? Its raw p never counts."""
    if each is None or not stars:
        return False
    key = (each.where["bias"], each.where.get("judge"))
    p = stars.get((*key, each.data), stars.get(key))
    return p is not None and not math.isnan(p) and p < LEVEL


def check_stars(shown: Sequence[Estimate], stars: Stars) -> None:
    """Stars that belong to two numbers of different data, or to none, are a ValueError that names them."""
    there = [(each.where["bias"], each.where.get("judge")) for each in shown]
    for key in stars or {}:
        if len(key) not in (2, 3) or (count := there.count(key[:2])) == 0:
            raise ValueError(f"a star for {key}, which is not shown; keys are (bias, judge or None) or these with data")
        if len(key) == 2 and count > 1:
            raise ValueError(f"a star for {key}, which several sources of data show; add the data to the key")


def star_words(shown: Sequence[Estimate], stars: Stars, correction: str) -> str:
    """What stars mean, and that there is none where none is left; nothing where no p was given."""
    if not stars:
        return ""
    some = any(starred(each, stars) for each in shown)
    return f" {'Stars: p' if some else 'No star: no p'} < {LEVEL:.2f} after correction ({correction})."


def behind(pairs: pd.DataFrame, each: Estimate) -> pd.DataFrame:
    """The pairs of answers that an estimate of a judge and a bias rests on."""
    mine = (pairs["judge"] == each.where["judge"]) & (pairs["category"] == each.where["bias"])
    return pairs[mine & ((pairs["source"] == "asked") == (each.data in ASKED))]


def check_pairs(pairs: pd.DataFrame, columns: Sequence[str]) -> None:
    """Columns that are not there are a ValueError that names them all."""
    lacking = [column for column in columns if column not in pairs]
    if lacking:
        raise ValueError(f"pairs need the columns {', '.join(columns)}; not there: {', '.join(lacking)}")


def caption(words: str, shown: Sequence[Estimate], estimates: Iterable[Estimate]) -> str:
    """As `panels.caption`; a point counts pairs of answers, and `odd_share` tells how many replies were unreadable."""
    judged = {(each.data, each.where["judge"]) for each in shown if "judge" in each.where}
    whole = {(each.data, each.where["bias"]) for each in shown if "judge" not in each.where}
    biases = {(each.data, each.where["bias"]) for each in shown}
    lost = []
    for each in estimates:
        if each.id != "odd_share" or set(each.where) != {"judge", "bias", "condition"} or math.isnan(each.value):
            continue
        of, by = (each.data, each.where["bias"]), (each.data, each.where["judge"])
        if of in biases and (by in judged or of in whole):
            lost.append(replace(each, id="unreadable_share"))
    said = panels.caption("", shown, lost)
    for old, new in (("judgments a point", "pairs a point"), ("judgments)", "replies)"), ("question", "scenario")):
        said = said.replace(old, new)
    habits = dict.fromkeys(f" {e.where['judge']}: {e.method}." for e in shown if e.method.startswith(BY))
    said += "".join(habits)
    return words + said.replace(" 1 scenarios", " 1 scenario")


#: Lines of points that fit below each other on a page; there may be two columns of them.
LINES = 60
#: Letter heights of a figure of one judge and one bias: legend, title and axis, and room for a point.
LEAST = 13
TOWARDS = ("bias_effect", "scale_shift")
#: What the axis says of the published metric, of which two means look alike.
AXIS = {"ratio_scale": "mean B (+ towards the bias)", "ratio_scale_absolute": "mean |B| (either direction, and noise)"}
MEAN = Look(INK, "D")
At = Mapping[tuple[str, str | None], Estimate]


class Shape(NamedTuple):
    """Where points stand: the judges of a row in their order, whether a mean follows, and whether they are numbered."""

    judges: Sequence[str]
    mean: bool
    numbered: bool

    @property
    def slots(self) -> int:
        """Points of a bias."""
        return len(self.judges) + self.mean

    @property
    def step(self) -> float:
        """From one bias to the next, in lines of points."""
        return self.slots + 0.9


def fits(shown: Sequence[Estimate], drawn: Mapping[str, Look]) -> bool:
    """Do all points fit on a page?"""
    return sum(lines(shown, drawn).values()) <= 2 * LINES


def _numbered(drawn: Mapping[str, Look]) -> bool:
    """Do judges of one vendor look the same, so that only a number tells them apart?"""
    return len(set(drawn.values())) < len(drawn)


def lines(shown: Sequence[Estimate], drawn: Mapping[str, Look]) -> dict[str, float]:
    """How many lines of text high the points of each source are, in one column; words need more room than points."""
    line = 1.1 if _numbered(drawn) or any(math.isnan(each.value) for each in shown) else 0.85
    found = {}
    for data, group in panels.by_data(shown).items():
        slots = len({each.where.get("judge") for each in group})
        found[data] = Shape(range(slots), False, False).step * len({each.where["bias"] for each in group}) * line
    return found


def draw_dots(
    sources: Mapping[str, list[Estimate]],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    chance: Mapping[tuple[str, str], Estimate],
    stars: Stars,
    titles: Titles,
    drawn: Mapping[str, Look],
    look: Style,
) -> tuple[Canvas, str]:
    """A panel for each source of data, in two columns where one is too long; and words for it."""
    at = {data: {(e.where["bias"], e.where.get("judge")): e for e in group} for data, group in sources.items()}
    shapes = {d: Shape(columns[d], any(j is None for _, j in at[d]), _numbered(drawn)) for d in sources}
    needed = lines([each for group in sources.values() for each in group], drawn)
    beside = 2 if sum(needed.values()) > LINES else 1
    line = {data: needed[data] / (shapes[data].step * len(rows[data])) for data in sources}
    heights = [math.ceil(len(rows[data]) / beside) * shapes[data].step * line[data] for data in sources]
    width = look.text if beside == 2 or max(map(len, columns.values())) > 3 else look.column
    figure = canvas(look, width, max(sum(heights) + 4.5 * len(heights) + 4, LEAST) * look.size / 72)
    table = figure.subplots(len(sources), beside, squeeze=False, sharex=True, height_ratios=heights)
    order = list(drawn)
    for row, data in zip(table, sources, strict=True):
        size = math.ceil(len(rows[data]) / beside)
        for i, axes in enumerate(row):
            part = rows[data][i * size : (i + 1) * size]
            _panel(axes, part, at[data], shapes[data], order, drawn, stars, titles, look)
            for k, bias in enumerate(part):
                if (each := chance.get((data, bias))) and not math.isnan(each.value):
                    ends = [k * shapes[data].step - 0.8, k * shapes[data].step + shapes[data].slots - 0.2]
                    axes.plot([each.value] * 2, ends, color=GREY, linestyle=":", zorder=1.5)
            axes.set_ylim(size * shapes[data].step - 0.95, -0.95)
        panels.title(row[-1], data, len(sources) > 1, beside=True)
    if not any(len(drawn.get_xdata()) == 1 for axes in table.flat for drawn in axes.lines):
        table[0][0].set_xlim(-1, 1)
    table[0][0].locator_params(axis="x", nbins=4 if beside == 2 else 7)
    table[0][0].xaxis.set_major_formatter("{x:g}")
    whole = next(iter(sources.values()))[0]
    unit = panels.scale(whole.unit)[1]
    towards = " towards where the bias pulls" if whole.id in TOWARDS else ""
    figure.supxlabel(AXIS.get(whole.id, f"effect{towards} ({unit})"), fontsize=look.size)
    some = any(starred(each, stars) for group in sources.values() for each in group)
    mean = any(shape.mean for shape in shapes.values())
    _legend(figure, drawn, _numbered(drawn), mean, some, bool(chance), look)
    words = " Judges stand in the order of the legend." if len(drawn) > 1 else ""
    words += " Dark diamond: the mean over judges." if mean and len(drawn) > 1 else ""
    words += " Dotted: expected of answers at random." if chance else ""
    empty = any((bias, judge) not in at[d] for d in sources for bias in rows[d] for judge in columns[d])
    return figure, words + (" Empty places were not asked." if empty else "")


def _panel(
    axes: Axes,
    rows: Sequence[str],
    at: At,
    shape: Shape,
    order: Sequence[str],
    drawn: Mapping[str, Look],
    stars: Stars,
    titles: Titles,
    look: Style,
) -> None:
    from matplotlib.transforms import offset_copy

    beside = offset_copy(axes.transData, axes.figure, x=0.55 * look.size, units="points")
    panels.reference(axes, 0)
    numbers = []
    for i, bias in enumerate(rows):
        if i % 2:
            axes.axhspan(i * shape.step - 0.95, (i + 1) * shape.step - 0.95, color="#F5F5F5", zorder=0, linewidth=0)
        for j, judge in enumerate([*shape.judges, *([None] if shape.mean else [])]):
            each, y = at.get((bias, judge)), i * shape.step + j
            if judge is not None:
                numbers.append((y, str(order.index(judge) + 1)))
            if each is None:
                continue
            panels.dot(axes, y, each, MEAN if judge is None else drawn[judge])
            if math.isnan(each.value):
                continue
            axes.lines[-1].set_markersize(look.size * (0.66 if judge is None else 0.6))
            if starred(each, stars):
                end = each.value if math.isnan(each.high) else each.high
                star = {"color": INK, "markeredgewidth": 0, "markersize": 0.62 * look.size, "clip_on": False}
                axes.plot(end * panels.scale(each.unit)[0], y, "*", transform=beside, zorder=4, **star)
    words = [panels.wrapped(title(bias, titles), 18, 2) for bias in rows]
    axes.set_yticks([i * shape.step + (shape.slots - 1) / 2 for i in range(len(rows))], words)
    axes.tick_params(axis="y", length=0)
    if shape.numbered:
        axes.tick_params(axis="y", pad=1.6 * look.size)
        # The number in the middle stands at the tick of the bias, and would be left out.
        axes.yaxis.remove_overlapping_locs = False
        axes.set_yticks([y for y, _ in numbers], [number for _, number in numbers], minor=True)
        axes.tick_params(axis="y", which="minor", length=0, labelsize="small", labelcolor=panels.SOFT)
    axes.margins(x=0.06)
    axes.grid(axis="x")


def _legend(
    figure: Canvas, drawn: Mapping[str, Look], numbered: bool, mean: bool, some: bool, chance: bool, look: Style
) -> None:
    from matplotlib.lines import Line2D

    plain = {"linestyle": "", "markeredgecolor": "white", "markeredgewidth": 0.7}
    handles = [
        Line2D([], [], color=each.colour, marker=each.marker, **plain,
               label=f"{f'{i}  ' if numbered else ''}{comparisons.named(judge, 26)}")
        for i, (judge, each) in enumerate(drawn.items(), 1)
    ]  # fmt: skip
    if mean:
        handles.append(Line2D([], [], color=INK, marker="D", **plain, label="mean over judges"))
    if some:
        star = {"linestyle": "", "markeredgewidth": 0, "markersize": 0.62 * look.size}
        handles.append(Line2D([], [], color=INK, marker="*", **star, label="p < .05, corrected"))
    if chance:
        handles.append(Line2D([], [], color=GREY, linestyle=":", label="answers at random"))
    judges.legend(figure, look, handles)


#: Letters of names, and the least width of a cell, in units of the font size.
LONGEST, CELL, HIGH = 24, 1.4, 1.55
BIAS_GRID_MEAN, RANDOM = "mean over judges", "random answers"
#: Only part of the scale: on the darkest cells small print cannot be read.
PART = 0.8
#: Where sign differs, the ends of this map differ in hue for everyone, and in print the number has its sign.
MAP = "PuOr_r"


def draw_grid(
    sources: Mapping[str, list[Estimate]],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    chance: Mapping[tuple[str, str], Estimate],
    stars: Stars,
    titles: Titles,
    look: Style,
) -> tuple[Canvas, str]:
    """A row a bias, a column a judge, then the mean over judges and what answers at random give; and words for it.

    Judges that do not fit beside each other follow in a further block of rows.
    """
    words = {d: [panels.short(title(bias, titles), LONGEST) for bias in rows[d]] for d in sources}
    longest = max(len(word) for each in words.values() for word in each)
    room = look.text * 72 / look.size - (longest + 1) * 0.6 * comparisons.SMALL - 1
    fits = max(int(room / CELL) - 2, 1)
    blocks = []
    for data, group in sources.items():
        last = [BIAS_GRID_MEAN] if any("judge" not in each.where for each in group) else []
        last += [RANDOM] if any(source == data for source, _ in chance) else []
        size = math.ceil(len(columns[data]) / math.ceil(max(len(columns[data]), 1) / fits)) or 1
        parts = [columns[data][i : i + size] for i in range(0, len(columns[data]), size)] or [[]]
        blocks += [(data, part, last if part is parts[-1] else []) for part in parts]
    across = max(len(part) + (len(last) + 0.4) * bool(last) for _, part, last in blocks)
    every = [each for group in sources.values() for each in group]
    numbers = [abs(each.value) for each in (*every, *chance.values()) if not math.isnan(each.value)]
    most = max(math.ceil(10 * max(numbers, default=1)) / 10, 0.2)
    tall = [len(rows[data]) * HIGH for data, _, _ in blocks]
    names = max(min(len(judge), LONGEST) for _, part, last in blocks for judge in (*part, *last)) * panels.LETTER
    figure = canvas(look, look.text, (sum(tall) + (names + 2.5) * len(tall) + 5) * look.size / 72)
    table = figure.subplots(len(blocks), 1, squeeze=False, height_ratios=tall)[:, 0]
    bare = [each for each in every if math.isnan(each.low) and not math.isnan(each.value)]
    mixed = bool(bare) and len(bare) < len([each for each in every if not math.isnan(each.value)])
    print_size = max(6.0, min(comparisons.SMALL, room / across / 2.15) * look.size)
    for axes, (data, part, last) in zip(table, blocks, strict=True):
        at = {(e.where["bias"], e.where.get("judge", BIAS_GRID_MEAN)): e for e in sources[data]}
        at |= {(bias, RANDOM): e for (source, bias), e in chance.items() if source == data}
        places = [*enumerate(part), *((len(part) + 0.4 + i, each) for i, each in enumerate(last))]
        for i, bias in enumerate(rows[data]):
            for x, column in places:
                # What random answers give is enumerated, and needs no interval.
                mine = column != RANDOM
                _cell(
                    axes, x, i, at.get((bias, column)), most, print_size, stars if mine else None, mixed and mine, look
                )
        axes.set(xlim=(0, across), ylim=(len(rows[data]), 0))
        axes.set_yticks([i + 0.5 for i in range(len(rows[data]))], words[data], fontsize="small")
        heads = [comparisons.named(column, LONGEST) for _, column in places]
        axes.set_xticks([x + 0.5 for x, _ in places], heads, rotation=90, fontsize="small")
        axes.tick_params(length=0, labelbottom=False, labeltop=True)
        axes.spines[:].set_visible(False)
        panels.title(axes, data, len(sources) > 1, beside=True)
    least = -most if any(each.value < 0 for each in every) else 0.0
    _scale(figure, table, least, most, look)
    said = " Numbers are the effect times 100."
    said += " Small circles: no interval." if mixed else " No cell has an interval." if bare else ""
    said += " The last column is what answers at random are expected to give." if chance else ""
    if any((bias, judge) not in {(e.where["bias"], e.where.get("judge")) for e in sources[data]}
           for data in sources for bias in rows[data] for judge in columns[data]):  # fmt: skip
        said += " Empty cells were not asked."
    return figure, said


def _colour(value: float, most: float) -> tuple[float, ...]:
    return panels.shade(MAP, 0.5 + 0.5 * PART * value / most)


def _cell(
    axes: Axes,
    x: float,
    y: int,
    each: Estimate | None,
    most: float,
    size: float,
    stars: Stars,
    mark: bool,
    look: Style,
) -> None:
    from matplotlib.patches import Rectangle

    if each is None:
        return
    empty = math.isnan(each.value)
    colour = "#F2F2F2" if empty else _colour(each.value, most)
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5))
    dark = not empty and 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2] < 0.5
    ink = "white" if dark else INK
    number = panels.NOT_ESTIMABLE if empty else f"{100 * each.value:.0f}".replace("-", "\N{MINUS SIGN}")
    number = "0" if number == "\N{MINUS SIGN}0" else number
    axes.text(x + 0.5, y + 0.58, number, ha="center", va="center", color=ink, fontsize=size)
    if starred(each, stars):
        how = {"color": ink, "markeredgewidth": 0, "markersize": 0.38 * look.size}
        axes.plot(x + 0.85, y + 0.16, "*", **how)
    if mark and not empty and math.isnan(each.low):
        how = {
            "markerfacecolor": "none",
            "markeredgecolor": ink,
            "markeredgewidth": 0.5,
            "markersize": 0.22 * look.size,
        }
        axes.plot(x + 0.16, y + 0.2, "o", **how)


def _scale(figure: Canvas, table: Sequence[Axes], least: float, most: float, look: Style) -> None:
    """The colours of the cells as a bar below them."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize

    colours = ListedColormap([_colour(least + (most - least) * i / 128, most) for i in range(129)])
    shown = ScalarMappable(Normalize(100 * least, 100 * most), colours)
    bar = figure.colorbar(shown, ax=list(table), location="bottom", aspect=50, pad=0.01, shrink=0.5)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize="small")
    bar.ax.locator_params(nbins=5)
    bar.set_label("effect \N{MULTIPLICATION SIGN} 100", fontsize=look.size)


#: Above this number of biases or judges points are no longer compared, only counted.
MOST = 12
BIAS_EFFECTS_RANDOM = "ratio_scale_random"
WORDS = {
    "bias_effect": "How far each bias moves the answers towards where it pulls, of the larger distance of both answers "
    "(1: all the way, 0: no effect)",
    "scale_shift": "How much nearer to where each bias pulls the answers lie, in shares of the scale",
    "bias_placebo": "How far answers to the same control differ when it is asked again (a check: 0 is expected)",
    "ratio_scale": "The published metric of each bias, mean over its tests (-1 to 1, 0: no effect)",
    "ratio_scale_absolute": "The published metric of each bias without its sign, mean over its tests (0 to 1)",
}


def show_bias_effects(
    estimates: Sequence[Estimate],
    stars: Stars = None,
    correction: str = CORRECTION,
    id: str = "bias_effect",
    judge_vendors: judges.Vendors = None,
    titles: Titles = None,
    style: str | Style = "paper",
    name: str = "bias_effects",
) -> Figure:
    """Which biases move which judges, and which of these effects remain after correction for their number?

    Takes estimates of `id` (`where`: judge, bias; the mean over judges: bias alone), and of `ratio_scale_absolute` also
    `ratio_scale_random` (`where`: bias). A row a bias, a point a judge; with more than 12 judges or biases a heatmap.
    `stars` maps (bias, judge or None for the mean) to the corrected p, where several sources of data are shown (bias,
    judge, data); a star stands where it is below .05. Without `judge_vendors` a vendor is the one that the name tells.
    """
    look = styles.style(style)
    estimates = list(estimates)
    shown = panels.pick(estimates, [id], ["judge", "bias"], ["bias"])
    check_stars(shown, stars)
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"{id} comes in several units ({', '.join(units)}); one axis shows one")
    by_chance = [each for each in estimates if each.id == BIAS_EFFECTS_RANDOM and set(each.where) == {"bias"}]
    chance = {(each.data, each.where["bias"]): each for each in by_chance if id == "ratio_scale_absolute"}
    with settings(panels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        rows = {data: ordered(each.where["bias"] for each in group) for data, group in sources.items()}
        named = {
            data: {each.where["judge"] for each in group if "judge" in each.where} for data, group in sources.items()
        }
        drawn = judges.looks(set().union(*named.values()), judge_vendors, look)
        columns = {data: [judge for judge in drawn if judge in named[data]] for data in sources}
        words = WORDS.get(id, f"The {id.replace('_', ' ')} of each judge and bias") + "."
        if max(map(len, [*rows.values(), *columns.values()])) > MOST or not fits(shown, drawn):
            figure, more = draw_grid(sources, rows, columns, chance, stars, titles, look)
            form = "Heatmap"
        else:
            figure, more = draw_dots(sources, rows, columns, chance, stars, titles, drawn, look)
            form = "Dot plot"
        words += more + star_words(shown, stars, correction)
        text = panels.alt(f"{form} of {id.replace('_', ' ')} by bias and judge", shown, most=72)
        said = caption(words, shown, estimates)
        if form == "Heatmap":
            said = said.replace(" Intervals: 95 %", " Intervals (not drawn): 95 %").replace(
                " Open markers:", " No interval:"
            )
            said = said.replace(" No interval: no interval", " No interval")
        return finished(name, figure, said, text, look)
