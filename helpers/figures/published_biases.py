"""Figures of published means of a bias metric: direction beside size, and what answers at random would give."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from helpers.figures import judges, labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Look, Style, canvas, finished, settings
from helpers.types import Estimate

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

#: Direction and size, told apart by colour, by marker and by words.
MEAN, ABSOLUTE = "ratio_scale", "ratio_scale_absolute"
RANDOM = "ratio_scale_random"
LOOKS = {MEAN: Look(COLOURS[2], "o"), ABSOLUTE: Look(COLOURS[0], "D")}
WORDS = {MEAN: "mean B: direction", ABSOLUTE: "mean |B|: either direction, and noise"}
EXPECTED = "mean |B| expected of answers at random"
#: Where mean B lies at the other side of 0 than mean |B|, its distance from 0 is where the line begins.
MIRRORED = "|mean B|, where mean B is below 0"
AT_RANDOM = Look(INK, "s")
LONGEST = 32


def show_published_biases(
    estimates: Sequence[Estimate],
    titles: Mapping[str, str] | None = None,
    invalid: Sequence[str] = (),
    style: str | Style = "paper",
    name: str = "published_biases",
) -> Figure:
    """Which way does each bias go, and is its size above what answers at random give?

    Takes `ratio_scale`, `ratio_scale_absolute` and, as a tick, `ratio_scale_random` (`where`: bias; scores from -1 to
    1): one row a bias, sorted by the first. `titles` are the names of biases on the figure; `invalid` ones have a
    star, since their metric was corrected later.
    """
    look = styles.style(style)
    shown = [each for id in (MEAN, ABSOLUTE) for each in panels.pick(estimates, [id], ["bias"])]
    expected = {each.where["bias"]: each for each in estimates if each.id == RANDOM and set(each.where) == {"bias"}}
    at = {(each.id, each.where["bias"]): each for each in shown}
    biases = judges.by_value({each.where["bias"] for each in shown}, _values(shown, "bias"))
    called = {bias: labels.short((titles or {}).get(bias, bias.replace("_", " ")), LONGEST) for bias in biases}
    names = [f"{called[bias]} *" if bias in invalid else called[bias] for bias in biases]
    with settings(labels.at_file_resolution(look)):
        from matplotlib.lines import Line2D

        figure = canvas(look, look.text, (1.5 * len(biases) + 11) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, names)
        axes.grid(axis="y")
        panels.reference(axes, 0)
        for i, bias in enumerate(biases):
            _row(axes, i, [at.get((id, bias)) for id in (MEAN, ABSOLUTE)], expected.get(bias), look)
        axes.set_xlim(-1.03, 1.03)
        axes.set_xticks([-1, -0.5, 0, 0.5, 1])
        axes.set_xlabel("B (+ toward the bias)")
        panels.title(axes, shown[0].data, False)
        handles = [_handle(LOOKS[id], WORDS[id]) for id in (MEAN, ABSOLUTE)]
        if expected:
            handles.append(
                Line2D([], [], color=INK, marker="|", linestyle="none", markersize=look.size, label=EXPECTED)
            )
        below = any(at[MEAN, bias].value < 0 for bias in biases if (MEAN, bias) in at and (ABSOLUTE, bias) in at)
        if below:
            handles.insert(1, Line2D([], [], linestyle="none", label=MIRRORED, **_mirror(look)))
        judges.legend(figure, look, handles)
        words = (
            "The published metric of each bias, averaged over tests and models (Malberg et al., arXiv 2410.15413). A "
            "line spans what mean |B| has beyond |mean B|: bias in both directions, and noise"
        )
        if below:
            words += "; where mean B is below 0 it begins at a small ring, which mirrors the point at 0"
        if expected:
            words += "; a tick marks what a model that picks every option with the same chance is expected to have"
        if set(invalid) & set(biases):
            words += ". *: the metric was corrected after these numbers were printed"
        text = _alt(biases, called, at, expected)
        said = panels.caption(f"{words}. Sorted by mean B.", shown).replace("published counts", "published means")
        return finished(name, figure, said, text, look)


def show_published_models(
    estimates: Sequence[Estimate],
    random: str = "Random",
    style: str | Style = "paper",
    name: str = "published_models",
) -> Figure:
    """Which models have a larger mean |B| than the one that answers at random?

    Takes `ratio_scale_absolute` (`where`: judge): one row a model, sorted; `random` is the name of that model.
    """
    look = styles.style(style)
    shown = panels.pick(estimates, [ABSOLUTE], ["judge"])
    at = {each.where["judge"]: each for each in shown}
    names = judges.by_value(at, _values(shown, "judge", ABSOLUTE))
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.column, (1.5 * len(names) + 9) * look.size / 72)
        axes = figure.subplots()
        panels.rows(axes, [labels.short(model, LONGEST) for model in names])
        for i, model in enumerate(names):
            panels.dot(axes, i, at[model], AT_RANDOM if model == random else LOOKS[ABSOLUTE])
        known = [each.value for each in shown if not math.isnan(each.value)]
        axes.set_xlim(0, 1.12 * max(known, default=1.0))
        axes.set_xlabel("mean |B|")
        panels.title(axes, shown[0].data, False)
        words = "Mean |B| of each model over the biases (Malberg et al., arXiv 2410.15413). It counts bias in either "
        words += "direction, and noise"
        if random in at:
            value = at[random].value
            axes.axvline(value, color=GREY, linewidth=look.size / 12, linestyle=(0, (4, 3)), zorder=1)
            axes.get_yticklabels()[names.index(random)].set_fontweight("bold")
            handles = [_handle(LOOKS[ABSOLUTE], "a model"), _handle(AT_RANDOM, "answers at random")]
            judges.legend(figure, look, handles)
            words += ": the square and the dashed line are a model that answers at random"
        text = panels.alt("Dot plot of mean |B| by model", [at[model] for model in names], most=48)
        said = panels.caption(f"{words}.", shown).replace("published counts", "published means")
        return finished(name, figure, said, text, look)


def _values(shown: Sequence[Estimate], key: str, id: str = MEAN) -> dict[str, float]:
    return {each.where[key]: each.value for each in shown if each.id == id}


def _alt(
    biases: Sequence[str],
    called: Mapping[str, str],
    at: Mapping[tuple[str, str], Estimate],
    expected: Mapping[str, Estimate],
) -> str:
    """What each row shows, its numbers by name."""
    lines = []
    for bias in biases:
        row = [("mean B", at.get((MEAN, bias))), ("mean |B|", at.get((ABSOLUTE, bias)))]
        row.append(("at random", expected.get(bias)))
        lines.append(f"{called[bias]}: " + ", ".join(f"{words} {each}" for words, each in row if each is not None))
    return f"Dot plot of mean B and mean |B| by bias. Published means: {'; '.join(lines)}."


def _mirror(look: Style) -> dict[str, Any]:
    """The look of the small ring."""
    colour = LOOKS[MEAN].colour
    return {"marker": ".", "color": colour, "markerfacecolor": "white", "markeredgecolor": colour,
            "markeredgewidth": 0.7, "markersize": 0.65 * look.size}  # fmt: skip


def _row(axes: Axes, at: float, means: Sequence[Estimate | None], expected: Estimate | None, look: Style) -> None:
    """One bias: its two means, the part of the second that the first does not explain, and the tick."""
    ends = [abs(each.value) for each in means if each is not None]
    if len(ends) == 2:
        axes.plot(ends, [at, at], color=GREY, zorder=1.5)
        if means[0].value < 0:
            axes.plot(ends[0], at, linestyle="none", zorder=2.5, **_mirror(look))
    if expected is not None:
        axes.plot([expected.value] * 2, [at - 0.36, at + 0.36], color=INK, zorder=2)
    for each in means:
        if each is not None:
            panels.dot(axes, at, each, LOOKS[each.id])


def _handle(look: Look, words: str) -> Artist:
    from matplotlib.lines import Line2D

    face = {"markerfacecolor": "white", "markeredgewidth": 0.7}
    return Line2D([], [], color=look.colour, marker=look.marker, linestyle="none", label=words, **face)
