"""The figure of biases: how far each moves each judge, as points with intervals while few, else as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.figures import bias_dots, bias_grid, biases, judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.biases import CORRECTION, Stars, Titles
from helpers.figures.style import Figure, Style, finished, settings
from helpers.types import Estimate

#: Above this number of biases or judges points are no longer compared, only counted.
MOST = 12
RANDOM = "ratio_scale_random"
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
    biases.check_stars(shown, stars)
    units = sorted({each.unit for each in shown})
    if len(units) > 1:
        raise ValueError(f"{id} comes in several units ({', '.join(units)}); one axis shows one")
    by_chance = [each for each in estimates if each.id == RANDOM and set(each.where) == {"bias"}]
    chance = {(each.data, each.where["bias"]): each for each in by_chance if id == "ratio_scale_absolute"}
    with settings(labels.at_file_resolution(look)):
        sources = panels.by_data(shown)
        rows = {data: biases.ordered(each.where["bias"] for each in group) for data, group in sources.items()}
        named = {
            data: {each.where["judge"] for each in group if "judge" in each.where} for data, group in sources.items()
        }
        drawn = judges.looks(set().union(*named.values()), judge_vendors, look)
        columns = {data: [judge for judge in drawn if judge in named[data]] for data in sources}
        words = WORDS.get(id, f"The {id.replace('_', ' ')} of each judge and bias") + "."
        if max(map(len, [*rows.values(), *columns.values()])) > MOST or not bias_dots.fits(shown, drawn):
            figure, more = bias_grid.draw(sources, rows, columns, chance, stars, titles, look)
            form = "Heatmap"
        else:
            figure, more = bias_dots.draw(sources, rows, columns, chance, stars, titles, drawn, look)
            form = "Dot plot"
        words += more + biases.star_words(shown, stars, correction)
        text = panels.alt(f"{form} of {id.replace('_', ' ')} by bias and judge", shown, most=72)
        said = biases.caption(words, shown, estimates)
        if form == "Heatmap":
            said = said.replace(" Intervals: 95 %", " Intervals (not drawn): 95 %").replace(
                " Open markers:", " No interval:"
            )
            said = said.replace(" No interval: no interval", " No interval")
        return finished(name, figure, said, text, look)
