"""The figure of the calibration: how often each number is wrong about judges whose truth is known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from helpers.figures import labels, panels
from helpers.figures import style as styles
from helpers.figures.style import COLOURS, GREY, INK, Figure, Style, canvas, finished, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Rates that the rule allows, in percent.
ALLOWED = (3, 7)
MISSED = COLOURS[6]
#: How each verdict is drawn: marker, face and edge.
LOOKS = {
    "holds": ("o", INK, INK),
    "conservative": ("o", "white", INK),
    "misses": ("D", MISSED, MISSED),
    "too few": (".", GREY, GREY),
    "shown": ("x", GREY, GREY),
}
WORDS = {
    "holds": "holds the rule",
    "conservative": "conservative",
    "misses": "misses the rule",
    "too few": "too few runs",
    "shown": "not judged",
}
PANELS = ("false alarms", "intervals that miss the truth")


def show_calibration(
    rows: pd.DataFrame, questions: int = 80, style: str | Style = "paper", name: str = "calibration"
) -> Figure:
    """Do tests and intervals keep their promise of 5 % on simulated judges of known truth?

    Takes the rows of `calibrate.stored` (one a world and number). A line an id, its points the worlds and places
    at so many `questions`: on the left how often the test rejects where nothing is planted, on the right how often the
    interval leaves out the truth. Without rows of that size a ValueError.
    """
    look = styles.style(style)
    at = rows[(rows["questions"] == questions) & (rows["given"] > 0)]
    if at.empty:
        raise panels.NothingToDraw(f"no calibration at {questions} questions")
    lines = list(dict.fromkeys(zip(at["experiment"], at["id"], strict=True)))
    spots: list[tuple[str, str]] = []
    for experiment in dict.fromkeys(at["experiment"]):
        spots += [(experiment, ""), *(line for line in lines if line[0] == experiment)]
    with settings(labels.at_file_resolution(look)):
        figure = canvas(look, look.text, (len(spots) * 1.5 + 6) * look.size / 72)
        left, right = figure.subplots(1, 2, sharey=True)
        size = at["role"].eq("null") | (at["role"].eq("failure") & at["truth"].eq(0))
        for axes, title, part, rate in (
            (left, PANELS[0], at[size], at["rejected"]),
            (right, PANELS[1], at[at["coverage"].notna()], 1 - at["coverage"]),
        ):
            _axis(axes, title)
            for y, spot in enumerate(spots):
                here = part[(part["experiment"] == spot[0]) & (part["id"] == spot[1])]
                for row in here.itertuples():
                    _point(axes, y, 100 * float(rate[row.Index]), row.verdict, look)
        panels.rows(left, [id.replace("_", " ") if id else experiment for experiment, id in spots])
        right.tick_params(axis="y", length=0)
        for tick, (_, id) in zip(left.get_yticklabels(), spots, strict=True):
            tick.set_fontweight("normal" if id else "bold")
        _legend(figure, look, {_kind(verdict) for verdict in at["verdict"]})
        _simulated(left)
        counts = at["verdict"].map(_kind).value_counts()
        return finished(name, figure, _caption(at, questions), _alt(counts, len(lines)), look)


def _kind(verdict: str) -> str:
    return verdict.split(":")[0]


def _axis(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left")
    # Linear where rates should be, so that 5 % and 100 % both have room.
    axes.set_xscale("symlog", linthresh=10)
    axes.set_xlim(-0.8, 130)
    axes.set_xticks([0, 5, 10, 30, 100], ["0", "5", "10", "30", "100"])
    axes.minorticks_off()
    axes.axvspan(*ALLOWED, color="#E6E6E6", zorder=0, linewidth=0)
    axes.set_xlabel("% of replications")
    axes.grid(axis="x")


def _simulated(axes: Axes) -> None:
    """The word over the names of the rows, level with the titles: the legend has the line above them."""
    import matplotlib

    how = {"fontsize": "small", "fontweight": "bold", "color": labels.SOFT, "ha": "right", "va": "baseline"}
    at = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate("SIMULATED judges", (0, 1), xytext=(-4, matplotlib.rcParams["axes.titlepad"]), **at, **how)


def _point(axes: Axes, y: float, rate: float, verdict: str, look: Style) -> None:
    if not math.isnan(rate):
        marker, face, edge = LOOKS[_kind(verdict)]
        small = {"markersize": 0.42 * look.size, "markeredgewidth": 0.08 * look.size}
        axes.plot(rate, y, marker, markerfacecolor=face, markeredgecolor=edge, zorder=3, **small)


def _legend(figure: object, look: Style, used: set[str]) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for kind, (marker, face, edge) in LOOKS.items():
        if kind in used:
            drawn = {"markerfacecolor": face, "markeredgecolor": edge, "markersize": 0.5 * look.size}
            handles.append(Line2D([], [], linestyle="", marker=marker, label=WORDS[kind], **drawn))
    close = {"columnspacing": 0.9, "handletextpad": 0.1, "handlelength": 1.4}
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, **close)  # type: ignore[attr-defined]


def _caption(at: pd.DataFrame, questions: int) -> str:
    runs = sorted(set(at["runs"]))
    told = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    return (
        f"SIMULATED judges of known truth, {questions} questions, {told} replications a world. A point a world and "
        "place (judge's vendor, hint, slot). Left: how often the test speaks (p < 0.05) where nothing is planted. "
        "Right: how often the 95 % interval leaves out the true value (of the equivalence test: the 90 % interval, "
        "nominally 10 %). Band: 3 to 7 %. A point misses the rule where the exact 99.9 % interval of its rate lies "
        "wholly above the band, or its mean is off by more than 3.5 Monte-Carlo standard errors. Crosses, not judged: "
        "published estimators, and defended ones in a world that breaks what they assume; there they can fail, and a "
        "cross inside the band has not failed in this world."
    )


def _alt(counts: pd.Series, lines: int) -> str:
    told = ", ".join(f"{WORDS.get(kind, kind)}: {count}" for kind, count in counts.items())
    return f"Dot plot of false alarms and missed truths of {lines} numbers on simulated judges: {told}."
