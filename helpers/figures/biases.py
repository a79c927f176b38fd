"""The figures of cognitive biases: effects, single values, noise, anchors, gambles and published means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress, product
from typing import TYPE_CHECKING, Any

from ..stats.intervals import MIN_CLUSTERS, clustered_mean, clusters_of, estimate
from ..stats.standing import LEVEL
from ..types import Estimate
from .curves import most_panels, plot_curves
from .intervals import Row, reference
from .points import MEAN, NOT_ESTIMABLE, by_data, by_value, check_columns, check_values, pick, scale, short, source_name
from .specs import NUMBERS, SPECS, bias_title, chosen, draw, looks_of, plot, rows_of
from .style import COLOURS, GREY, INK, Drawn, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Corrected p by bias and judge (None: the mean over judges), where sources of data differ also by data.
Stars = Mapping[tuple[str | None, ...], float] | None
#: Above this number of biases or judges a table is read more easily than points.
MOST = 12
RANDOM = Look(GREY, "|")
#: Rows of no judge, with their looks.
AVERAGE, CHANCE = "mean over judges", "answers at random"
MARKS = {AVERAGE: MEAN, CHANCE: RANDOM}


def _starred(shown: Sequence[Estimate], stars: Stars) -> list[bool]:
    """Which numbers are significant after correction; their raw p never counts.

    Stars that belong to two numbers of different data, or to none, are a ValueError that names them.
    """
    there: list[tuple[str | None, ...]] = [(each.where["bias"], each.where.get("judge"), each.data) for each in shown]
    found = [False] * len(there)
    for key, p in (stars or {}).items():
        mine = [i for i, place in enumerate(there) if place[: len(key)] == key]
        if len(key) not in (2, 3) or not mine:
            raise ValueError(f"a star for {key}, which is not shown; keys are (bias, judge or None) or these with data")
        if len(mine) > 1:
            raise ValueError(f"a star for {key}, which several sources of data show; add the data to the key")
        found[mine[0]] |= p < LEVEL
    return found


def show_bias_effects(
    estimates: Sequence[Estimate],
    stars: Stars = None,
    id: str = "bias_effect",
    style: str | Style = "paper",
    name: str = "bias_effects",
) -> Figure:
    """Which biases move which judges, and which of these effects remain after correction for their number?

    Takes estimates of `id` (`where`: judge, bias; the mean over judges: bias alone), and of `ratio_scale_absolute` also
    `ratio_scale_random` (`where`: bias). A heading a bias, a row a judge; with more than 12 judges or biases a table.
    `stars` maps (bias, judge or None for the mean) to the corrected p, where several sources of data are shown (bias,
    judge, data); a star stands where it is below .05.
    """
    look, spec = style_of(style), SPECS["bias_effects"]
    shown = pick(estimates, [id], *spec.where)
    chance = [each for each in estimates if each.id == "ratio_scale_random" and set(each.where) == {"bias"}]
    chance = chance if id == "ratio_scale_absolute" else []
    placed = [replace(each, where={"judge": AVERAGE, **each.where}) for each in shown]
    significant = [*compress(placed, _starred(shown, stars))]
    placed += [replace(each, where={**each.where, "judge": CHANCE}) for each in chance]
    many = max(len({e.where.get(key, "") for e in shown} - {""}) for key in ("bias", "judge")) > MOST
    rows = rows_of(spec._replace(letters=24) if many else spec, placed, look, MARKS)
    rows = [row._replace(star=row.estimate in significant) for row in rows]
    plain_id = id.replace("_", " ")
    title, rest, axis = NUMBERS.get(id, (f"The {plain_id} of each judge and bias", "", "effect ({unit})"))
    axis = axis.format(unit=scale(shown[0].unit)[1])
    drawn = _table(rows, axis, title, look) if many else None
    kind, mark, bare = ("Table", "Outlined", "No interval") if many else ("Dot plot", "Stars", "Open markers")
    words: dict[str, Any] = {"heading": title, "rest": rest, "mark": mark, "axis": axis, "kind": kind, "id": plain_id}
    words |= {"chance": chance, "stars" if any(row.star for row in rows) else "starless": stars, "tested": stars}
    return draw(spec._replace(bare=bare), estimates, style, name, shown, rows=rows, drawn=drawn, **words)


def _table(rows: Sequence[Row], axis: str, title: str, look: Style) -> Drawn:
    """A row a bias, a column a judge; numbers times 100."""
    found = [(row, row.estimate) for row in rows if row.estimate]
    cells = []
    for row, each in found:
        number = f"{100 * each.value:.0f}".replace("-", "\N{MINUS SIGN}")
        words = NOT_ESTIMABLE if math.isnan(each.value) else number.replace("\N{MINUS SIGN}0", "0")
        cells.append(Cell(row.group, row.label, each.value, words, row.data, row.star))
    most = 1.25 * max([0.2, *(abs(each.value) for _, each in found if not math.isnan(each.value))])
    axis = f"{axis} \N{MULTIPLICATION SIGN} 100"
    return plot_table(cells, look, axis, "PuOr_r", (-most, most), above=True, title=title)


def behind(pairs: pd.DataFrame, each: Estimate) -> pd.DataFrame:
    """The pairs of answers that an estimate of a judge and a bias rests on."""
    mine = (pairs["judge"] == each.where["judge"]) & (pairs["category"] == each.where["bias"])
    return pairs[mine & ((pairs["source"] == "asked") == (each.data in ("asked", "simulated")))]


def scenario_values(pairs: pd.DataFrame) -> pd.Series:
    """The signed index of each scenario, the mean over its pairs; 0/0 and unreadable pairs do not count."""
    before, after = ((pairs[answer] - pairs["target"]).abs() for answer in ("a1", "a2"))
    larger = before.combine(after, max)
    index = (before - after) / larger.where(larger > 0)
    return index.groupby(pairs["question_id"], sort=True).mean()


def show_bias_values(
    pairs: pd.DataFrame, estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "bias_values"
) -> Figure:
    """Does a bias move most scenarios a little, or a few of them far?

    Takes the pairs frame (source, judge, category, question_id, a1, a2, target) and the `bias_effect` of each
    (`where`: judge, bias). A heading a bias, a row a judge: a small point a scenario, the mean of (|a1 - t| - |a2 -
    t|) / max(|a1 - t|, |a2 - t|) over its pairs, t = target, and below them the estimate.
    """
    spec = SPECS["bias_values"]
    check_columns(pairs, ("source", "judge", "category", "question_id", "a1", "a2", "target"), "pairs", rows=0)
    shown = chosen(spec, estimates)
    rows, lost, points = [], 0, 0
    for row in rows_of(spec, shown, style_of(style)):
        values = [] if row.estimate is None else [float(x) for x in scenario_values(behind(pairs, row.estimate))]
        rows.append(row._replace(values=[value for value in values if value == value]))
        lost, points = lost + len(values) - len(rows[-1].values), points + len(values)
    return draw(spec, estimates, style, name, shown, rows=rows, gone=lost, points=points)


#: The published metrics, with the bias that each is of where that is not said, and its form in words.
METRICS = {
    "anchoring_agnostic": ("anchoring", "agnostic"),
    "anchoring_specific": ("anchoring", "specific"),
    "halo_effect": ("halo", "agnostic"),
    "loss_aversion": ("loss_aversion", "batch"),
    "confirmation_bias": ("confirmation", "weighted"),
    "confirmation_unweighted": ("confirmation", "unweighted"),
}
#: What stands in a row: the metric, the same of two answers to one control, and what is left beyond it.
PARTS = {
    "": ("as published", Look(INK, "o")),
    "_placebo": ("control repeated (noise)", Look(GREY, "h")),
    "_excess": ("difference", Look(COLOURS[6], "d")),
}


def show_noise_metrics(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "noise_metrics"
) -> Figure:
    """How much of a published metric would be there without any bias, from noise in the answers alone?

    Takes the metrics of METRICS, their `<id>_placebo` and `<id>_excess` (`where`: judge, and the bias where a metric is
    used for several; score): a heading a metric and bias, a row a judge with up to three points.
    """
    spec = SPECS["noise_metrics"]
    parts_of = {metric + part: (metric, words) for metric in METRICS for part, (words, _) in PARTS.items()}
    there = {each.id for each in estimates if set(each.where) in ({"judge"}, {"judge", "bias"})}
    ids = [id for id in parts_of if id in there]
    shown = pick(estimates, ids or list(METRICS), *spec.where)
    measured = {(each.id, each.data, *each.where.items()) for each in shown}
    metric_of, placed = dict[str, str](), []
    for each in sorted(shown, key=lambda each: list(METRICS).index(parts_of[each.id][0])):
        metric, part = parts_of[each.id]
        if (metric, each.data, *each.where.items()) in measured:
            head = f"{bias_title(each.where.get('bias', METRICS[metric][0]))} ({METRICS[metric][1]})"
            metric_of[head] = metric
            placed.append(replace(each, where={"judge": each.where["judge"], "head": head, "part": part}))
    looks = {words: mark for words, mark in PARTS.values() if any(parts_of[id][1] == words for id in ids)}
    rows = [row for row in rows_of(spec, placed, style_of(style), looks)
            if row.estimate or (metric_of[row.group], row.series) in [parts_of[id] for id in ids]]  # fmt: skip
    without = dict.fromkeys(METRICS[id][0] for id in METRICS if id in ids and f"{id}_placebo" not in ids)
    biases = ", ".join(bias_title(bias) for bias in without)
    spec = spec._replace(ids={id: id.replace("_", " ") for id in ids})
    near = [_with_bias(each) for each in shown]
    return draw(spec, estimates, style, name, shown, rows=rows, legend=looks, beside=near, without=biases)


def _with_bias(each: Estimate) -> Estimate:
    """The number at the place of the bias that it is of, where it does not name one."""
    metric = each.id.removesuffix("_placebo").removesuffix("_excess")
    return replace(each, where={"bias": METRICS.get(metric, ("loss_aversion",))[0], **each.where})


#: Points of a curve, at most; each stands for about as many pairs as the others.
BINS = 6


def moved(pairs: pd.DataFrame) -> pd.DataFrame:
    """How far the number was from the control answer (x) and how far the answer moved (y), in % of the scale.

    `by` is the distance by which pairs are grouped: from a0, another reply to the same control, or x where no pair has
    one. It shares no noise with y, so that the mean y of a group is 0 where the treatment does nothing.
    """
    import pandas as pd

    percent = 100 / (pairs["high"] - pairs["low"])
    again = (pairs["a0"].notna() & pairs["a1"].notna() & pairs["a2"].notna() & pairs["anchor"].notna()).any()
    columns = {
        "x": (pairs["anchor"] - pairs["a1"]) * percent,
        "y": (pairs["a2"] - pairs["a1"]) * percent,
        "by": (pairs["anchor"] - pairs["a0" if again else "a1"]) * percent,
        "cluster": clusters_of(pairs),
    }
    found = pd.DataFrame(columns).dropna()
    found.attrs["again"] = bool(again)
    return found


def binned(points: pd.DataFrame) -> list[tuple[float, Estimate]]:
    """The mean x and the mean y, with its scenario-clustered interval, of groups of about equally many pairs."""
    import numpy as np

    if points.empty:
        return []
    scenarios = points["cluster"].nunique()
    for groups in range(BINS if scenarios >= MIN_CLUSTERS else 3, 0, -1):
        edges = np.unique(np.quantile(points["by"], np.linspace(0, 1, groups + 1)))
        # Equal distances stay together, so that groups need not be equal in size.
        places = np.searchsorted(edges[1:-1], points["by"], side="right")
        # As many points as have an interval.
        if scenarios < MIN_CLUSTERS or points.groupby(places)["cluster"].nunique().min() >= MIN_CLUSTERS:
            break
    found = []
    for _, group in points.groupby(places):
        interval = clustered_mean(group["y"], group["cluster"])
        found.append((float(group["x"].mean()), estimate("moved", {}, interval, "", "score")))
    return found


def show_anchor_response(
    pairs: pd.DataFrame, slopes: Sequence[Estimate], style: str | Style = "paper", name: str = "anchor_response"
) -> Figure:
    """How much of the way to a number that was shown do answers go?

    Takes the pairs frame (source, judge, category, question_id, a1, a2, a0, anchor, low, high) and `anchor_slope`
    (`where`: judge, bias): a panel a judge and bias, x = anchor minus control answer, y = treatment minus control
    answer, in % of the scale, means of equal numbers of pairs (see `moved`) with scenario-clustered intervals, and
    the line of that slope through their mean. Of more panels than a page holds the slopes alone. `slopes` may
    hold other numbers, such as `odd_share` for the caption.
    """
    look, spec = style_of(style), SPECS["anchor_response"]
    columns = ("source", "judge", "category", "question_id", "a1", "a2", "a0", "anchor", "low", "high")
    check_columns(pairs, columns, "pairs", rows=0)
    shown = chosen(spec, slopes)
    looks = looks_of(spec, shown, look)
    found = [(row, row.estimate) for row in rows_of(spec, shown, look) if row.estimate]
    if len(found) > most_panels(3, 12, look):
        order = by_value(range(len(found)), {i: each.value for i, (_, each) in enumerate(found)})
        drawn, facts = plot(spec, [found[i][0] for i in order], look), {"many": True}
        reference(drawn.figure.axes[0], 1)
    else:
        drawn, alone = _anchor_panels(pairs, [each for _, each in found], looks, spec.title, look)
        facts = {"few": True, "again": alone < len(found), "once": alone > 0, "both": 0 < alone < len(found)}
    return draw(spec, slopes, style, name, shown, drawn=drawn, **dict[str, Any](facts))


def _anchor_panels(
    pairs: pd.DataFrame, ranked: Sequence[Estimate], looks: Mapping[str, Look], title: str, look: Style
) -> tuple[Drawn, int]:
    """The panels, and of how many judges the control was asked once."""
    import pandas as pd

    rows, notes, far, alone = [], {}, 10.0, 0
    several = len({each.where["bias"] for each in ranked}) > 1
    named = {each.data for each in ranked} == {"simulated"} or len({each.data for each in ranked}) > 1
    for slope in ranked:
        judge = slope.where["judge"]
        parts = [short(judge, 26), *([bias_title(slope.where["bias"])] if several else [])]
        panel = "\n".join([*parts, *([source_name(slope.data)] if named else [])])
        notes[panel] = str(slope).replace("-", "\N{MINUS SIGN}")
        found = moved(behind(pairs, slope))
        alone += bool(len(found) and not found.attrs["again"])
        here = {"panel": panel, "line": judge}
        for x, each in binned(found):
            rows.append({**here, "x": x, "dot": each.value, "low": each.low, "high": each.high})
            far = max([far, abs(x), *(abs(y) for y in (each.value, each.low, each.high) if y == y)])
        if len(found) and not math.isnan(slope.value):
            x, y = found["x"].mean(), found["y"].mean()
            ends = (found["x"].min(), found["x"].max())
            rows += [{**here, "x": end, "joined": y + slope.value * (end - x)} for end in ends]
        if not len(found):
            rows.append({**here, "x": 0.0})

    def finish_axes(axes: Axes, panel: str) -> None:
        reference(axes, 0, upright=False)
        axes.axline((0, 0), (1, 1), color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=(0, (4, 3)))
        axes.set(xlim=(-1.1 * far, 1.1 * far), ylim=(-1.1 * far, 1.1 * far))
        text = axes.text(0.97, 0.04, notes[panel], transform=axes.transAxes, ha="right", fontsize="small")
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})

    across = 3 if len(ranked) > 4 else 2
    axes = ("number shown minus control answer (% of the scale)", "treatment minus control (%)")
    return plot_curves(pd.DataFrame(rows), looks, look, *axes, finish_axes, across, high=12, title=title), alone


CONDITIONS = {"control": "nothing can be lost", "treatment": "the stake can be lost"}


def show_acceptance(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "acceptance") -> Figure:
    """How much larger must a gain be before a gamble is accepted, and how much more so if something may be lost?

    Takes `acceptance_rate` (`where`: judge, ratio, condition "control" | "treatment"; a bias may stand beside;
    rates) and `acceptance_threshold` (judge, condition; log): a panel a judge, thresholds at its foot. Of more
    judges than a page holds the thresholds alone, a row a judge.
    """
    look, spec = style_of(style), SPECS["acceptance"]
    rates = pick(estimates, ["acceptance_rate"], *spec.where)
    check_values([each.where["condition"] for each in rates], CONDITIONS, "acceptance_rate: condition")
    fitted = [
        e for e in estimates if e.id == "acceptance_threshold" and {*e.where} - {"bias"} == {"judge", "condition"}
    ]
    looks = looks_of(spec, rates, look)
    few = len(looks) <= (most := most_panels(2, 11, look))
    if not few and not fitted:
        raise ValueError(f"more than {most} judges are shown by acceptance_threshold[judge, condition]; none given")
    # Thresholds are what the picture is for, and come first in its text.
    shown = [*fitted, *rates] if few else fitted
    drawn = _gambles(rates, fitted, looks, spec.title, look) if few else None
    near, marks = [_with_bias(each) for each in shown], {"control": Look(GREY, "h")}
    return draw(spec, estimates, style, name, shown, drawn=drawn, marks=marks, beside=near, fitted=few and fitted)


def _gambles(
    rates: Sequence[Estimate], fitted: Sequence[Estimate], looks: Mapping[str, Look], title: str, look: Style
) -> Drawn:
    """The curve of each judge and condition, and at their foot the thresholds."""
    import pandas as pd
    from matplotlib.ticker import NullLocator

    ratios = sorted({float(each.where["ratio"]) for each in rates})
    ends, rows = (ratios[0] / 1.18, ratios[-1] * 1.18), list[dict[str, object]]()
    several = len({each.data for each in rates}) > 1
    thresholds = {(each.data, each.where["judge"], each.where["condition"]): each for each in fitted}
    curves: dict[tuple[str, str, str], list[Estimate]] = {}
    for each in sorted(rates, key=lambda each: float(each.where["ratio"])):
        curves.setdefault((each.data, each.where["judge"], each.where["condition"]), []).append(each)
    for judge, data, condition in product(looks, by_data(rates), CONDITIONS):
        if not any((data, judge) == key[:2] for key in curves):
            continue
        panel = short(judge, 26) + (f"\n{source_name(data)}" if data == "simulated" or several else "")
        treated = condition == "treatment"
        here = {"panel": panel, "line": judge if treated else f"{judge} control"}
        for each in curves.get((data, judge, condition), []):
            if not math.isnan(each.value):
                x = float(each.where["ratio"]) * (1.018 if treated else 1 / 1.018)
                y, low, high = (100 * end for end in (each.value, each.low, each.high))
                rows.append({**here, "x": x, "joined": y, "dot": y, "low": low, "high": high})
        fit = thresholds.get((data, judge, condition))
        if fit is not None and not math.isnan(fit.value) and ends[0] <= math.exp(min(fit.value, 50)) <= ends[1]:
            low, high = (math.exp(min(max(bound, -50), 50)) for bound in (fit.low, fit.high))
            foot = {"dot": -24.0 if treated else -12.0, "left": max(low, ends[0]), "right": min(high, ends[1])}
            rows.append({**here, "x": math.exp(fit.value), **foot})

    def finish_axes(axes: Axes, panel: str) -> None:
        axes.set_xscale("log")
        axes.set(xlim=ends, ylim=(-33, 106))
        axes.set_yticks([0, 50, 100])
        axes.xaxis.set_minor_locator(NullLocator())
        step = max(1, math.ceil(len(ratios) / 6))
        axes.set_xticks(ratios[::step], [f"{ratio:g}" for ratio in ratios[::step]])
        reference(axes, 50, upright=False)

    grey, ink = Look(GREY, "h"), Look(INK, "o")
    lines = {**looks, **{f"{judge} control": grey for judge in looks}}
    legend = dict(zip(CONDITIONS.values(), (grey, ink), strict=True))
    axes = ("gain divided by stake (log axis)", "accepted (%)")
    return plot_curves(pd.DataFrame(rows), lines, look, *axes, finish_axes, high=11, legend=legend, title=title)
