"""The figures of cognitive biases: effects, single values, noise, anchors, gambles and published means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..stats.intervals import MIN_CLUSTERS, clustered_mean, clusters_of, estimate
from ..stats.standing import BY
from ..types import Estimate
from .curves import Finish, most_panels, plot_curves
from .intervals import Row, reference
from .points import MEAN, NOT_ESTIMABLE, by_data, by_value, check_columns, check_values, pick, scale, short, source_name
from .specs import NUMBERS, SPECS, Spec, bias_title, chosen, finish, looks_of, lost_of, plot, rows_of
from .style import COLOURS, GREY, INK, Drawn, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LEVEL = 0.05
CORRECTION = (
    "Holm over all biases and judges; a star also asks that answers move the same way along the scale, and where their "
    "scatter may differ also by the sign test over scenarios"
)
#: Corrected p by bias and judge (None: the mean over judges), where sources of data differ also by data.
Stars = Mapping[tuple[str | None, ...], float] | None
#: Above this number of biases or judges a table is read more easily than points.
MOST = 12
RANDOM = Look(GREY, "|")
#: Rows of no judge, with their looks.
AVERAGE, CHANCE = "mean over judges", "answers at random"
MARKS = {AVERAGE: MEAN, CHANCE: RANDOM}


def _starred(each: Estimate | None, stars: Stars) -> bool:
    """Is this number significant after correction? Its raw p never counts."""
    if each is None:
        return False
    key = (each.where["bias"], None if each.where["judge"] == AVERAGE else each.where["judge"])
    p = (stars or {}).get((*key, each.data), (stars or {}).get(key, math.nan))
    return p < LEVEL


def _check_stars(shown: Sequence[Estimate], stars: Stars) -> None:
    """Stars that belong to two numbers of different data, or to none, are a ValueError that names them."""
    there: list[tuple[str | None, ...]] = [(each.where["bias"], each.where.get("judge")) for each in shown]
    for key in stars or {}:
        if len(key) not in (2, 3) or (count := there.count(key[:2])) == 0:
            raise ValueError(f"a star for {key}, which is not shown; keys are (bias, judge or None) or these with data")
        if len(key) == 2 and count > 1:
            raise ValueError(f"a star for {key}, which several sources of data show; add the data to the key")


def _finished(
    spec: Spec, drawn: Drawn, name: str, shown: Sequence[Estimate], estimates: Iterable[Estimate],
    facts: Iterable[str] = (), **values: Any,
) -> Figure:  # fmt: skip
    """A figure whose caption also says which habits make a judge's numbers meaningless."""
    placed = [each if "bias" in each.where else _with_bias(each) for each in shown]
    keys = ["bias", "judge"] if all("judge" in each.where for each in shown) else ["bias"]
    lost = lost_of(spec._replace(lost_by=keys), estimates, placed)
    habits = dict.fromkeys(f" {e.where['judge']}: {e.method}." for e in shown if e.method.startswith(BY))
    return finish(spec, drawn, name, shown, lost, facts, after="".join(habits), **values)


def show_bias_effects(
    estimates: Sequence[Estimate],
    stars: Stars = None,
    correction: str = CORRECTION,
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
    look, spec, estimates = style_of(style), SPECS["bias_effects"], list(estimates)
    shown = pick(estimates, [id], *spec.where)
    _check_stars(shown, stars)
    chance = [each for each in estimates if each.id == "ratio_scale_random" and set(each.where) == {"bias"}]
    chance = chance if id == "ratio_scale_absolute" else []
    placed = [replace(each, where={"judge": AVERAGE, **each.where}) for each in shown]
    placed += [replace(each, where={**each.where, "judge": CHANCE}) for each in chance]
    many = max(len({e.where.get(key, "") for e in shown} - {""}) for key in ("bias", "judge")) > MOST
    rows = rows_of(spec._replace(letters=24) if many else spec, placed, look, MARKS)
    rows = [row._replace(star=_starred(row.estimate, stars)) for row in rows]
    plain_id = id.replace("_", " ")
    title, rest, axis = NUMBERS.get(id, (f"The {plain_id} of each judge and bias", "", "effect ({unit})"))
    axis = axis.format(unit=scale(shown[0].unit)[1])
    drawn = _table(rows, axis, title, look) if many else plot(spec, rows, look, heading=title, axis=axis)
    facts = [("stars" if any(row.star for row in rows) else "no stars") if stars else "", "chance" if chance else ""]
    kind, mark, bare = ("Table", "Outlined", "No interval") if many else ("Dot plot", "Stars", "Open markers")
    words = {"heading": title, "rest": rest, "mark": mark, "correction": correction, "kind": kind, "id": plain_id}
    return _finished(spec._replace(bare=bare), drawn, name, shown, estimates, facts, **words)


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
    look, spec, estimates = style_of(style), SPECS["bias_values"], list(estimates)
    check_columns(pairs, ("source", "judge", "category", "question_id", "a1", "a2", "target"), "pairs", rows=0)
    shown = chosen(spec, estimates)
    rows, lost, points = [], 0, 0
    for row in rows_of(spec, shown, look):
        values = [] if row.estimate is None else [float(x) for x in scenario_values(behind(pairs, row.estimate))]
        rows.append(row._replace(values=[value for value in values if value == value]))
        lost, points = lost + len(values) - len(rows[-1].values), points + len(values)
    drawn = plot(spec, rows, look)
    return _finished(spec, drawn, name, shown, estimates, ["lost"] if lost else [], gone=lost, points=points)


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
    look, spec, estimates = style_of(style), SPECS["noise_metrics"], list(estimates)
    there = {each.id for each in estimates if set(each.where) in ({"judge"}, {"judge", "bias"})}
    ids = [metric + part for metric in METRICS for part in PARTS if metric + part in there]
    shown = pick(estimates, ids or list(METRICS), *spec.where)
    metric_of, placed = dict[str, str](), []
    for metric, (bias, form) in METRICS.items():
        mine = [each for each in shown if each.id.removeprefix(metric) in PARTS]
        measured = {(e.data, e.where["judge"], e.where.get("bias")) for e in mine if e.id == metric}
        for each in (e for e in mine if (e.data, e.where["judge"], e.where.get("bias")) in measured):
            head = f"{bias_title(each.where.get('bias', bias))} ({form})"
            metric_of[head] = metric
            part = PARTS[each.id.removeprefix(metric)][0]
            placed.append(replace(each, where={"judge": each.where["judge"], "head": head, "part": part}))
    suffixes = {words: part for part, (words, _) in PARTS.items()}
    looks = {words: drawn for part, (words, drawn) in PARTS.items() if any(m + part in there for m in METRICS)}
    rows = [row for row in rows_of(spec, placed, look, looks)
            if row.estimate or metric_of[row.group] + suffixes[row.series] in there]  # fmt: skip
    drawn = plot(spec, rows, look, looks)
    without = dict.fromkeys(METRICS[id][0] for id in METRICS if id in ids and f"{id}_placebo" not in ids)
    biases, facts = ", ".join(bias_title(bias) for bias in without), ["without"] if without else []
    spec = spec._replace(ids={id: id.replace("_", " ") for id in ids})
    return _finished(spec, drawn, name, shown, estimates, facts, without=biases)


def _with_bias(each: Estimate) -> Estimate:
    metric = each.id.removesuffix("_placebo").removesuffix("_excess")
    return replace(each, where={**each.where, "bias": METRICS.get(metric, ("loss_aversion",))[0]})


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
    look, spec, estimates = style_of(style), SPECS["anchor_response"], list(slopes)
    columns = ("source", "judge", "category", "question_id", "a1", "a2", "a0", "anchor", "low", "high")
    check_columns(pairs, columns, "pairs", rows=0)
    shown = chosen(spec, estimates)
    looks = looks_of(spec, shown, look)
    found = [(row, row.estimate) for row in rows_of(spec, shown, look) if row.estimate]
    if len(found) > most_panels(3, 12, look):
        order = by_value(range(len(found)), {i: each.value for i, (_, each) in enumerate(found)})
        drawn, facts = plot(spec, [found[i][0] for i in order], look), ["many"]
        reference(drawn.figure.axes[0], 1)
    else:
        drawn, alone = _anchor_panels(pairs, [each for _, each in found], looks, spec.title, look)
        facts = ["few", "once" if alone == len(found) else "both" if alone else "again"]
    return _finished(spec, drawn, name, shown, estimates, facts)


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
        for x, each in binned(found):
            rows.append({"panel": panel, "line": judge, "kind": "dot", "x": x, "y": each.value, "low": each.low,
                         "high": each.high})  # fmt: skip
            far = max([far, abs(x), *(abs(y) for y in (each.value, each.low, each.high) if y == y)])
        if len(found) and not math.isnan(slope.value):
            x, y = found["x"].mean(), found["y"].mean()
            rows += [
                {"panel": panel, "line": judge, "kind": "line", "x": end, "y": y + slope.value * (end - x)}
                for end in (found["x"].min(), found["x"].max())
            ]
        if not len(found):
            rows.append({"panel": panel, "line": judge, "kind": "none", "x": 0.0, "y": 0.0})

    def finish_axes(axes: Axes, panel: str) -> None:
        reference(axes, 0, upright=False)
        axes.axline((0, 0), (1, 1), color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=(0, (4, 3)))
        axes.set(xlim=(-1.1 * far, 1.1 * far), ylim=(-1.1 * far, 1.1 * far))
        text = axes.text(0.97, 0.04, notes[panel], transform=axes.transAxes, ha="right", fontsize="small")
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})

    frame = pd.DataFrame(rows, columns=["panel", "line", "kind", "x", "y", "low", "high"])
    across = 3 if len(ranked) > 4 else 2
    axes = ("number shown minus control answer (% of the scale)", "treatment minus control (%)")
    return plot_curves(frame, looks, look, *axes, finish_axes, across, high=12, title=title), alone


CONDITIONS = {"control": "nothing can be lost", "treatment": "the stake can be lost"}


def show_acceptance(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "acceptance") -> Figure:
    """How much larger must a gain be before a gamble is accepted, and how much more so if something may be lost?

    Takes `acceptance_rate` (`where`: judge, ratio, condition "control" | "treatment"; a bias may stand beside;
    rates) and `acceptance_threshold` (judge, condition; log): a panel a judge, thresholds at its foot. Of more
    judges than a page holds the thresholds alone, a row a judge.
    """
    import pandas as pd

    look, spec, estimates = style_of(style), SPECS["acceptance"], list(estimates)
    rates = pick(estimates, ["acceptance_rate"], *spec.where)
    check_values([each.where["condition"] for each in rates], CONDITIONS, "acceptance_rate: condition")
    fitted = [
        e for e in estimates if e.id == "acceptance_threshold" and {*e.where} - {"bias"} == {"judge", "condition"}
    ]
    looks = looks_of(spec, rates, look)
    if len(looks) > (most := most_panels(2, 11, look)):
        if not fitted:
            raise ValueError(f"more than {most} judges are shown by acceptance_threshold[judge, condition]; none given")
        shown = fitted
        drawn = plot(spec, rows_of(spec, fitted, look, {"control": Look(GREY, "h")}), look)
    else:
        thresholds = {(each.data, each.where["judge"], each.where["condition"]): each for each in fitted}
        frame, ends = _gambles(rates, thresholds, looks)
        shown = [*rates, *fitted]
        finish_axes = _gamble_axes(sorted({float(each.where["ratio"]) for each in rates}), ends)
        lines = {**looks, **{f"{judge} control": Look(GREY, "h") for judge in looks}}
        axes = ("gain divided by stake (log axis)", "accepted (%)")
        legend = {CONDITIONS["control"]: Look(GREY, "h"), CONDITIONS["treatment"]: Look(INK, "o")}
        drawn = plot_curves(
            pd.DataFrame(frame), lines, look, *axes, finish_axes, high=11, legend=legend, title=spec.title
        )
    # Thresholds are what the picture is for, and come first in its text.
    shown = sorted(shown, key=lambda each: each.id == "acceptance_rate")
    facts = ["fitted"] if fitted and len(shown) > len(fitted) else []
    return _finished(spec, drawn, name, shown, estimates, facts)


def _gambles(
    rates: Sequence[Estimate], thresholds: Mapping[tuple[str, str, str], Estimate], looks: Mapping[str, Look]
) -> tuple[list[dict[str, object]], tuple[float, float]]:
    """The curves and, at their foot, the thresholds; and the ends of the axis."""
    ratios = sorted({float(each.where["ratio"]) for each in rates})
    ends, frame = (ratios[0] / 1.18, ratios[-1] * 1.18), []
    several = len({each.data for each in rates}) > 1
    for judge in looks:
        for data in by_data(each for each in rates if each.where["judge"] == judge):
            panel = short(judge, 26) + (f"\n{source_name(data)}" if data == "simulated" or several else "")
            for foot, condition in ((-12.0, "control"), (-24.0, "treatment")):
                line = judge if condition == "treatment" else f"{judge} control"
                here = {"panel": panel, "line": line}
                mine = [
                    e for e in rates if (e.data, e.where["judge"], e.where["condition"]) == (data, judge, condition)
                ]
                for each in sorted(mine, key=lambda e: float(e.where["ratio"])):
                    if not math.isnan(each.value):
                        x = float(each.where["ratio"]) * (1.018 if condition == "treatment" else 1 / 1.018)
                        point = {**here, "x": x, "y": 100 * each.value}
                        frame.append({**point, "kind": "line"})
                        frame.append({**point, "kind": "dot", "low": 100 * each.low, "high": 100 * each.high})
                fit = thresholds.get((data, judge, condition))
                if fit is not None and not math.isnan(fit.value) and ends[0] <= math.exp(min(fit.value, 50)) <= ends[1]:
                    low, high = (math.exp(min(max(bound, -50), 50)) for bound in (fit.low, fit.high))
                    left, right = max(low, ends[0]), min(high, ends[1])
                    frame.append(
                        {**here, "x": math.exp(fit.value), "y": foot, "kind": "dot", "left": left, "right": right}
                    )
    return frame, ends


def _gamble_axes(ratios: Sequence[float], ends: tuple[float, float]) -> Finish:
    """What finishes the panel of a judge: a log axis with the ratios that were asked, and a line at one half."""

    def finish_axes(axes: Axes, panel: str) -> None:
        from matplotlib.ticker import NullLocator

        axes.set_xscale("log")
        axes.set(xlim=ends, ylim=(-33, 106))
        axes.set_yticks([0, 50, 100])
        axes.xaxis.set_minor_locator(NullLocator())
        step = max(1, math.ceil(len(ratios) / 6))
        axes.set_xticks(ratios[::step], [f"{ratio:g}" for ratio in ratios[::step]])
        reference(axes, 50, upright=False)

    return finish_axes
