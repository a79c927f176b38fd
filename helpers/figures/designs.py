"""The figures of designs: what so many questions find, how often each number is wrong, and what noise alone gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..types import Estimate
from ..words import display_name, plain
from .biases import RANDOM
from .intervals import Row
from .points import NothingToDraw, alt, pick, scale, short, source_name, span_of
from .specs import SPECS, chosen, draw, plot, rows_of
from .style import COLOURS, GREY, INK, Figure, Look, Style, settings, style as style_of

if TYPE_CHECKING:
    import pandas as pd

HERE, MORE = Look(INK, "o"), Look(COLOURS[2], "<")


def show_power(
    curves: pd.DataFrame, effects: dict[str, float] | None = None, style: str | Style = "paper", name: str = "power"
) -> Figure:
    """How small an effect do so many questions find in 80 % of runs?

    Takes `power.curves` (columns id, place, kind, unit, words, cluster, questions, effect, here, data): a heading a
    number, a row a place; a dot at the questions that were asked and another at the most. Numbers in the commonest unit
    are drawn. `effects` (by unit, as fractions) are the wanted ones, dashed. Curves without a line are NothingToDraw.
    """
    look, spec, drawable = style_of(style), SPECS["power"], curves[curves["effect"].notna()]
    if drawable.empty:
        raise NothingToDraw("no number has a standard error to plan with, so there is no curve")
    units = drawable["unit"].map(lambda unit: "pp" if scale(unit)[0] == 100 else unit)
    unit = units.value_counts().index[0]
    here = drawable[units == unit]
    rows, shown = [], []
    for (id, kind, place), line in here.groupby(["id", "kind", "place"], sort=False):
        head = plain(id).replace("_90", "").replace("_", " ") + (", equivalence" if kind == "equivalence" else "")
        asked = line.iloc[(line["questions"] - line["here"]).abs().argmin()]
        for point, look_of in ((asked, HERE), (line.iloc[line["questions"].argmax()], MORE)):
            where, shown_unit = {"place": str(place), "questions": str(point["questions"])}, str(point["unit"])
            number = Estimate(str(id), where, float(point["effect"]), unit="pp" if unit == "pp" else shown_unit,
                              data=str(point["data"]))  # fmt: skip
            label = ", ".join(display_name(part) for part in str(place).split(", "))
            rows.append(Row(label, number, number.data, head, look=look_of))
            shown.append(number)
    counted = " and ".join(f"{plain(each)}s" for each in dict.fromkeys(drawable["cluster"]))
    asked = span_of(sorted(set(drawable["here"])))
    wanted, most = (effects or {}).get(unit), int(here["questions"].max())
    legend = {f"at the {asked} {counted} asked": HERE, f"at {most:,}": MORE}
    levels = dict.fromkeys(f"{plain(id)}: {words}" for id, words in zip(drawable["id"], drawable["words"], strict=True))
    others = len(drawable[units != unit].drop_duplicates(["id", "kind", "place"]))
    values = {"asked": asked, "counted": counted, "unit": unit, "most": most, "levels": "; ".join(levels)}
    values |= {"others": others, "source": source_name(str(drawable["data"].iloc[0]))}
    spec = spec._replace(line=math.nan if wanted is None else wanted * scale(unit)[0])
    drawn = plot(spec, rows, look, legend, **values)
    for axes in drawn.figure.axes:
        axes.set_xlim(left=0)
    values |= {"equivalence": "equivalence" in {*drawable["kind"]}, "wanted": wanted}
    return spec.finished(drawn, name, alt(spec.title.format(**values), shown, most=spec.most), **values)


#: How each verdict is drawn, and what it is called; those that hold are small points.
VERDICTS = {
    "misses": (Look(COLOURS[6], "D"), "misses the rule"),
    "conservative": (Look(COLOURS[2], "s"), "conservative"),
    "too few": (Look(GREY, "v"), "too few runs"),
    "shown": (Look(GREY, "X"), "not judged"),
}


def show_calibration(
    rows: pd.DataFrame, questions: int = 80, style: str | Style = "paper", name: str = "calibration"
) -> Figure:
    """Do tests and intervals keep their promise of 5 % on simulated judges of known truth?

    Takes the rows of `calibrate.stored` (one a world and number). A row an experiment, its points the worlds and
    numbers at so many `questions`: on the left how often the test rejects where nothing is planted, on the right
    how often the interval leaves out the truth. Without rows of that size NothingToDraw.
    """
    look, spec, at = style_of(style), SPECS["calibration"], rows[(rows["questions"] == questions) & (rows["given"] > 0)]
    if at.empty:
        raise NothingToDraw(f"no calibration at {questions} questions")
    size = at["role"].eq("null") | (at["role"].eq("failure") & at["truth"].eq(0))
    kinds, points = at["verdict"].map(lambda verdict: verdict.split(":")[0]), []
    for panel, part, rate in (
        ("false alarms", at[size], at["rejected"]),
        ("intervals that miss the truth", at[at["coverage"].notna()], 1 - at["coverage"]),
    ):
        for experiment in dict.fromkeys(at["experiment"]):
            here = part.index[part["experiment"] == experiment]
            mine = {kind: rate[here[kinds[here] == kind]].dropna() for kind in ("holds", *VERDICTS)}
            shares = [*(100 * mine.pop("holds"))]
            points.append(Row(experiment, None, "simulated", panel=panel, values=shares, absent=""))
            points += [
                Row(experiment, Estimate(kind, {}, each), "simulated", panel=panel, look=VERDICTS[kind][0])
                for kind, rates in mine.items()
                for each in rates
            ]
    legend = {words: drawn for kind, (drawn, words) in VERDICTS.items() if (kinds == kind).any()}
    drawn = plot(spec, points, look, legend)
    with settings(look.rc):
        for axes in drawn.figure.axes:
            # Linear where rates should be, so that 5 % and 100 % both have room.
            axes.set_xscale("symlog", linthresh=10)
            axes.set_xlim(-0.8, 130)
            axes.set_xticks([0, 5, 10, 30, 100], ["0", "5", "10", "30", "100"])
            axes.minorticks_off()
            axes.axvspan(3, 7, color="#E6E6E6", zorder=0, linewidth=0)
    counts, runs = kinds.value_counts(), sorted(set(at["runs"]))
    many = " to ".join(dict.fromkeys(f"{each:,}" for each in (runs[0], runs[-1])))
    names = {"holds": "holds the rule"} | {kind: words for kind, (_, words) in VERDICTS.items()}
    counted = ", ".join(f"{names.get(kind, kind)}: {count}" for kind, count in counts.items())
    numbers = len(at.drop_duplicates(["experiment", "id"]))
    return spec.finished(drawn, name, questions=questions, many=many, numbers=numbers, counted=counted)


DIRECTION, SIZE = Look(COLOURS[2], "o"), Look(COLOURS[0], "D")


def show_published_biases(
    estimates: Sequence[Estimate],
    invalid: Sequence[str] = (),
    style: str | Style = "paper",
    name: str = "published_biases",
) -> Figure:
    """Which way does each bias go, and is its size above what answers at random give?

    Takes `ratio_scale`, `ratio_scale_absolute` and, as a tick, `ratio_scale_random` (`where`: bias; scores from -1 to
    1): one row a bias, sorted by the first. `invalid` ones have a star, since their metric was corrected later.
    """
    look, spec = style_of(style), SPECS["published_biases"]
    shown = [each for id in ("ratio_scale", "ratio_scale_absolute") for each in pick(estimates, [id], ["bias"])]
    expected = [each for each in estimates if each.id == "ratio_scale_random" and set(each.where) == {"bias"}]
    biases = {each.where["bias"] for each in shown}
    looks = {"ratio_scale": DIRECTION, "ratio_scale_absolute": SIZE, "ratio_scale_random": RANDOM}
    placed = [each for each in (*expected, *shown) if each.where["bias"] in biases]
    rows = []
    for row in rows_of(spec, placed, look, looks):
        star = " *" if row.estimate and row.estimate.where["bias"] in invalid else ""
        rows.append(row._replace(label=short(row.label, 27) + star))
    legend = {"mean B: direction": DIRECTION, "mean |B|: either direction, and noise": SIZE}
    legend |= {"mean |B| expected of answers at random": RANDOM} if expected else {}
    words: dict[str, Any] = {"random": ", beside answers at random" if expected else "", "invalid": biases & {*invalid}}
    return draw(spec, (), style, name, shown, rows=rows, legend=legend, also=expected, **words)


def show_published_models(
    estimates: Sequence[Estimate], style: str | Style = "paper", name: str = "published_models"
) -> Figure:
    """Which models have a larger mean |B| than the one that answers at random?

    Takes `ratio_scale_absolute` (`where`: judge): one row a model, sorted; that one is called "Random".
    """
    shown = chosen(SPECS["published_models"], estimates)
    shown.sort(key=lambda each: (each.value != each.value, -each.value, each.where["judge"]))
    marks = {each.where["judge"]: SIZE for each in shown} | {"Random": Look(INK, "s")}
    line = next((each.value for each in shown if each.where["judge"] == "Random"), math.nan)
    return draw(SPECS["published_models"]._replace(line=line), (), style, name, shown, marks=marks)
