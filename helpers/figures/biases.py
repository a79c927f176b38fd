"""The figures of cognitive biases: effects, single values, noise, anchors, gambles and published means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..stats.intervals import MIN_CLUSTERS, clustered_mean, clusters_of, estimate
from ..stats.standing import BY
from ..types import Estimate
from ..words import plain
from .curves import most_panels, plot_curves
from .intervals import Row, plot_intervals, reference
from .points import (
    BIASES,
    MEAN,
    NOT_ESTIMABLE,
    alt,
    by_data,
    by_value,
    caption,
    check_names,
    in_order,
    judge_looks,
    losses,
    pick,
    scale,
    short,
    source_name,
)
from .style import COLOURS, GREY, INK, Drawn, Figure, Look, Style, style as style_of
from .tiles import Cell, plot_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

LEVEL = 0.05
PAIRS = ("pairs", "scenarios", "replies")
CORRECTION = (
    "Holm over all biases and judges; a star also asks that answers move the same way along the scale, and where their "
    "scatter may differ also by the sign test over scenarios"
)
#: Corrected p by bias and judge (None: the mean over judges), where sources of data differ also by data.
Stars = Mapping[tuple[str | None, ...], float] | None
WORDS = {
    "bias_effect": "How far each bias moves the answers towards where it pulls, of the larger distance of both answers "
    "(1: all the way, 0: no effect)",
    "scale_shift": "How much nearer to where each bias pulls the answers lie, in shares of the scale",
    "bias_placebo": "How far answers to the same control differ when it is asked again (a check: 0 is expected)",
    "ratio_scale": "The published metric of each bias, mean over its tests (-1 to 1, 0: no effect)",
    "ratio_scale_absolute": "The published metric of each bias without its sign, mean over its tests (0 to 1)",
}
AXIS = {"ratio_scale": "mean B (+ towards the bias)", "ratio_scale_absolute": "mean |B| (either direction, and noise)"}
#: Above this number of biases or judges a table is read more easily than points.
MOST = 12
RANDOM = Look(GREY, "|")


def bias_title(bias: str) -> str:
    """A bias in words: its id without underscores."""
    return plain(bias.replace("_", " "))


def _ordered(shown: Iterable[Estimate]) -> list[str]:
    return in_order((each.where["bias"] for each in shown), BIASES)


def _starred(each: Estimate | None, stars: Stars) -> bool:
    """Is this number significant after correction? Its raw p never counts."""
    if each is None:
        return False
    key = (each.where["bias"], each.where.get("judge"))
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


def _captioned(words: str, shown: Sequence[Estimate], estimates: Iterable[Estimate], bare: str = "Open markers") -> str:
    """A caption in which a point counts pairs of answers, with the habits that make a judge's numbers meaningless."""
    keys = ("bias", "judge") if all("judge" in each.where for each in shown) else ("bias",)
    lost = losses(estimates, "odd_share", shown, *keys, also=("judge", "condition", "source"))
    habits = dict.fromkeys(f" {e.where['judge']}: {e.method}." for e in shown if e.method.startswith(BY))
    text = caption(words, shown, lost, PAIRS, bare).replace("question-clustered", "scenario-clustered")
    return text + "".join(habits)


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
    look, estimates = style_of(style), list(estimates)
    shown = pick(estimates, [id], ["judge", "bias"], ["bias"])
    _check_stars(shown, stars)
    chance = [each for each in estimates if each.id == "ratio_scale_random" and set(each.where) == {"bias"}]
    chance = chance if id == "ratio_scale_absolute" else []
    looks = judge_looks({each.where["judge"] for each in shown if "judge" in each.where}, look)
    biases, unit = _ordered(shown), scale(shown[0].unit)[1]
    at: dict[Any, Estimate] = {(each.data, each.where["bias"], each.where.get("judge")): each for each in shown}
    at |= {(each.data, each.where["bias"], RANDOM): each for each in chance}
    towards = " towards where the bias pulls" if id in ("bias_effect", "scale_shift") else ""
    axis = AXIS.get(id, f"effect{towards} ({unit})")
    title = WORDS.get(id, f"The {id.replace('_', ' ')} of each judge and bias").split(",")[0].split(" (")[0]
    many = max(len(biases), len(looks)) > MOST
    columns: list[Any] = [
        *looks,
        *([None] if any("judge" not in each.where for each in shown) else []),
        *([RANDOM] if chance else []),
    ]
    names: dict[Any, str] = {None: "mean over judges", RANDOM: "answers at random"}
    if many:
        drawn = _table(at, biases, columns, names, stars, axis, title, look)
    else:
        rows = [
            Row(names.get(who) or short(who, 28), at.get((data, bias, who)), data, bias_title(bias),
                look=MEAN if who is None else who if who is RANDOM else looks[who],
                star=who is not RANDOM and _starred(at.get((data, bias, who)), stars))
            for data, group in by_data(shown).items() for bias in _ordered(group) for who in columns
        ]  # fmt: skip
        drawn = plot_intervals(rows, look, axis, title=title)
    words = f"{WORDS.get(id, title)}."
    if stars:
        starred = any(_starred(each, stars) for each in shown)
        mark = "Outlined" if many else "Stars"
        words += f" {f'{mark}: p' if starred else 'No star: no p'} < {LEVEL:.2f} after correction ({correction})."
    words += " Grey: expected of answers at random." if chance else ""
    text = alt(f"{'Table' if many else 'Dot plot'} of {id.replace('_', ' ')} by bias and judge", shown, most=72)
    caption_text = _captioned(words + drawn.words, shown, estimates, "No interval" if many else "Open markers")
    return drawn.finished(name, caption_text, text)


def _table(
    at: Mapping[tuple, Estimate], biases: Sequence[str], columns: Sequence, names: Mapping, stars: Stars,
    axis: str, title: str, look: Style,
) -> Drawn:  # fmt: skip
    """A row a bias, a column a judge; numbers times 100."""
    cells = []
    most = max([0.2, *(abs(each.value) for each in at.values() if not math.isnan(each.value))])
    for data in dict.fromkeys(data for data, _, _ in at):
        for bias in biases:
            for who in columns:
                each = at.get((data, bias, who))
                if each is not None:
                    number = f"{100 * each.value:.0f}".replace("-", "\N{MINUS SIGN}")
                    words = NOT_ESTIMABLE if math.isnan(each.value) else number.replace("\N{MINUS SIGN}0", "0")
                    label = names.get(who) or short(who, 24)
                    star = who is not RANDOM and _starred(each, stars)
                    cells.append(Cell(bias_title(bias), label, each.value, words, data, star))
    return plot_table(
        cells,
        look,
        f"{axis} \N{MULTIPLICATION SIGN} 100",
        "PuOr_r",
        (-1.25 * most, 1.25 * most),
        above=True,
        title=title,
    )


def behind(pairs: pd.DataFrame, each: Estimate) -> pd.DataFrame:
    """The pairs of answers that an estimate of a judge and a bias rests on."""
    mine = (pairs["judge"] == each.where["judge"]) & (pairs["category"] == each.where["bias"])
    return pairs[mine & ((pairs["source"] == "asked") == (each.data in ("asked", "simulated")))]


def _check_pairs(pairs: pd.DataFrame, columns: Sequence[str]) -> None:
    lacking = [column for column in columns if column not in pairs]
    if lacking:
        raise ValueError(f"pairs need the columns {', '.join(columns)}; not there: {', '.join(lacking)}")


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
    look, estimates = style_of(style), list(estimates)
    _check_pairs(pairs, ("source", "judge", "category", "question_id", "a1", "a2", "target"))
    shown = pick(estimates, ["bias_effect"], ["judge", "bias"])
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    at = {(each.data, each.where["bias"], each.where["judge"]): each for each in shown}
    rows, lost, points = [], 0, 0
    for data, group in by_data(shown).items():
        for bias in _ordered(group):
            for judge in looks:
                each = at.get((data, bias, judge))
                values = scenario_values(behind(pairs, each)) if each is not None else []
                lost, points = lost + sum(value != value for value in values), points + len(values)
                rows.append(Row(short(judge, 28), each, data, bias_title(bias), look=looks[judge],
                                values=[float(value) for value in values if value == value]))  # fmt: skip
    title = "How far each scenario's answers move towards where the bias pulls"
    drawn = plot_intervals(rows, look, "effect on a scenario (score)", limits=(-1.1, 1.1), title=title)
    words = (
        f"{title} (-1 to 1; dashed: not at all), a small point a scenario, averaged over its wordings and repeats; "
        f"below them the mean over all pairs.{drawn.words}"
    )
    words += f" Without a point: {lost} of {points} scenarios with no value that is defined." if lost else ""
    text = alt("Strips of the values of scenarios by bias and judge, with their mean", shown, most=72)
    return drawn.finished(name, _captioned(words, shown, estimates), text)


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
    look, estimates = style_of(style), list(estimates)
    there = {each.id for each in estimates if set(each.where) in ({"judge"}, {"judge", "bias"})}
    ids = [metric + part for metric in METRICS for part in PARTS if metric + part in there]
    shown = pick(estimates, ids or list(METRICS), ["judge"], ["judge", "bias"])
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    at = {(each.data, each.id, each.where.get("bias", ""), each.where["judge"]): each for each in shown}
    rows = []
    for data, group in by_data(shown).items():
        for metric, (bias, form) in METRICS.items():
            for bias_name in dict.fromkeys(each.where.get("bias", "") for each in group if each.id == metric):
                head = f"{bias_title(bias_name or bias)} ({form})"
                rows += [
                    Row(short(judge, 28), at.get((data, metric + part, bias_name, judge)), data, head, "", words, drawn)
                    for judge in looks if (data, metric, bias_name, judge) in at
                    for part, (words, drawn) in PARTS.items() if metric + part in there
                ]  # fmt: skip
    title = "Published metrics of bias, beside what noise alone gives"
    legend = {words: drawn for part, (words, drawn) in PARTS.items() if any(m + part in there for m in METRICS)}
    drawn = plot_intervals(rows, look, "metric (score)", legend=legend, title=title)
    words = (
        "In each row: a metric of bias as published, the same metric of two answers to one control, in which there "
        f"is no bias but noise, and the difference of both. Dashed: 0.{drawn.words}"
    )
    without = dict.fromkeys(METRICS[id][0] for id in METRICS if id in ids and f"{id}_placebo" not in ids)
    if without:
        words += f" Without a repeat to compare with: {', '.join(bias_title(bias) for bias in without)}."
    placed = [each if "bias" in each.where else _with_bias(each) for each in shown]
    text = alt(title, shown, {id: id.replace("_", " ") for id in ids}, 48)
    return drawn.finished(name, _captioned(words, placed, estimates), text)


def _with_bias(each: Estimate) -> Estimate:
    from dataclasses import replace

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

    look, estimates = style_of(style), list(slopes)
    _check_pairs(pairs, ("source", "judge", "category", "question_id", "a1", "a2", "a0", "anchor", "low", "high"))
    shown = pick(estimates, ["anchor_slope"], ["judge", "bias"])
    looks = judge_looks({each.where["judge"] for each in shown}, look)
    title = "How far answers move from the control towards a number that was shown"
    words = f"{title}; dashed: not at all (0) and all the way to it (1)."
    ranked = [
        each for group in by_data(shown).values() for bias in _ordered(group) for judge in looks
        for each in group if (each.where["bias"], each.where["judge"]) == (bias, judge)
    ]  # fmt: skip
    if len(ranked) > most_panels(3, 12, look):
        order = by_value(range(len(ranked)), {i: each.value for i, each in enumerate(ranked)})
        rows = [
            Row(short(e.where["judge"], 28), e, e.data, bias_title(e.where["bias"]), look=looks[e.where["judge"]])
            for e in (ranked[i] for i in order)
        ]
        drawn = plot_intervals(rows, look, "slope (0: no effect, 1: all the way)", title=title)
        reference(drawn.figure.axes[0], 1)
        words += f" Sorted by the slope.{drawn.words}"
    else:
        drawn, alone = _anchor_panels(pairs, ranked, looks, title, look)
        grouped = "the distance of the number from another reply to the same control"
        once = "its distance from the control answer, which was asked once: noise alone makes these points rise"
        grouping = once if alone == len(ranked) else grouped + (f" (where there is none: {once})" if alone else "")
        words += (
            f" Points: means of about equal numbers of pairs, grouped by {grouping}; their intervals are "
            "scenario-clustered t (open: none below 10 scenarios). Line: the slope of the panel, through the mean "
            "of all pairs; numbers: that slope."
        )
    text = alt("Response to a number that is shown: slope by judge and bias", shown, most=48)
    return drawn.finished(name, _captioned(words, shown, estimates), text)


def _anchor_panels(
    pairs: pd.DataFrame, ranked: Sequence[Estimate], looks: Mapping[str, Look], title: str, look: Style
):  # fmt: skip
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

    def finish(axes: Axes, panel: str) -> None:
        reference(axes, 0, upright=False)
        axes.axline((0, 0), (1, 1), color=GREY, linewidth=axes.spines["left"].get_linewidth(), linestyle=(0, (4, 3)))
        axes.set(xlim=(-1.1 * far, 1.1 * far), ylim=(-1.1 * far, 1.1 * far))
        text = axes.text(0.97, 0.04, notes[panel], transform=axes.transAxes, ha="right", fontsize="small")
        text.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.5})

    frame = pd.DataFrame(rows, columns=["panel", "line", "kind", "x", "y", "low", "high"])
    across = 3 if len(ranked) > 4 else 2
    axes = ("number shown minus control answer (% of the scale)", "treatment minus control (%)")
    return plot_curves(frame, looks, look, *axes, finish, across, high=12, title=title), alone


CONDITIONS = {"control": "nothing can be lost", "treatment": "the stake can be lost"}


def show_acceptance(estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "acceptance") -> Figure:
    """How much larger must a gain be before a gamble is accepted, and how much more so if something may be lost?

    Takes `acceptance_rate` (`where`: judge, ratio, condition "control" | "treatment"; a bias may stand beside;
    rates) and `acceptance_threshold` (judge, condition; log): a panel a judge, thresholds at its foot. Of more
    judges than a page holds the thresholds alone, a row a judge.
    """
    import pandas as pd

    look, estimates = style_of(style), list(estimates)
    rates = pick(
        estimates, ["acceptance_rate"], ["judge", "ratio", "condition"], ["judge", "ratio", "condition", "bias"]
    )
    check_names(rates, "condition", list(CONDITIONS))
    fitted = [
        e for e in estimates if e.id == "acceptance_threshold" and {*e.where} - {"bias"} == {"judge", "condition"}
    ]
    looks = judge_looks({each.where["judge"] for each in rates}, look)
    title = "How often a gamble with even chances is accepted"
    words = (
        f"{title}, by the ratio of its gain to its stake: where nothing can be lost (grey) and where the stake can be"
    )
    words += " lost (coloured), same final outcomes."
    thresholds = {(each.data, each.where["judge"], each.where["condition"]): each for each in fitted}
    shown = [*rates, *fitted]
    most = most_panels(2, 11, look)
    if len(looks) > most:
        shown = fitted
        if not fitted:
            raise ValueError(f"more than {most} judges are shown by acceptance_threshold[judge, condition]; none given")
        rows = [
            Row(short(judge, 28), thresholds.get((data, judge, condition)), data, series=condition,
                look=looks[judge] if condition == "treatment" else Look(GREY, "h"))
            for data in by_data(fitted) for condition in CONDITIONS for judge in looks
        ]  # fmt: skip
        drawn = plot_intervals(rows, look, "log of the ratio of gain to stake at which half accept", None, title=title)
        words += drawn.words
    else:
        frame, ends = _gambles(rates, thresholds, looks)
        finish = _gamble_axes(sorted({float(each.where["ratio"]) for each in rates}), ends)
        lines = {**looks, **{f"{judge} control": Look(GREY, "h") for judge in looks}}
        axes = ("gain divided by stake (log axis)", "accepted (%)")
        legend = {CONDITIONS["control"]: Look(GREY, "h"), CONDITIONS["treatment"]: Look(INK, "o")}
        drawn = plot_curves(pd.DataFrame(frame), lines, look, *axes, finish, high=11, legend=legend, title=title)
        if fitted:
            words += " At the foot: the fitted ratio at which half accept, with its interval (logistic regression); "
            words += "one that reaches the edge runs on, and a ratio outside those asked has no mark."
    series = {"acceptance_threshold": "threshold (log ratio)", "acceptance_rate": "accepted"}
    ordered = sorted(shown, key=lambda each: each.id == "acceptance_rate")
    placed = [each if "bias" in each.where else _with_bias(each) for each in shown]
    text = alt("Curves of acceptance by judge", ordered, series, 48)
    return drawn.finished(name, _captioned(words, placed, estimates), text)


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


def _gamble_axes(ratios: Sequence[float], ends: tuple[float, float]):
    """What finishes the panel of a judge: a log axis with the ratios that were asked, and a line at one half."""

    def finish(axes: Axes, panel: str) -> None:
        from matplotlib.ticker import NullLocator

        axes.set_xscale("log")
        axes.set(xlim=ends, ylim=(-33, 106))
        axes.set_yticks([0, 50, 100])
        axes.xaxis.set_minor_locator(NullLocator())
        step = max(1, math.ceil(len(ratios) / 6))
        axes.set_xticks(ratios[::step], [f"{ratio:g}" for ratio in ratios[::step]])
        reference(axes, 50, upright=False)

    return finish
