"""The figures of designs: what so many questions find, how often each number is wrong, and what noise alone gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..types import Estimate
from ..words import display_name, plain
from .biases import RANDOM, bias_title
from .intervals import Row, plot_intervals
from .points import NothingToDraw, alt, by_value, caption, pick, scale, short, source_name
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
    look, drawable = style_of(style), curves[curves["effect"].notna()]
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
    most, counted = (
        int(here["questions"].max()),
        " and ".join(f"{plain(each)}s" for each in dict.fromkeys(drawable["cluster"])),
    )
    sizes = sorted(set(drawable["here"]))
    asked = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    title = f"The smallest effect that {asked} {counted} find in 80 % of runs"
    wanted = (effects or {}).get(unit)
    line = None if wanted is None else wanted * scale(unit)[0]
    legend = {f"at the {asked} {counted} asked": HERE, f"at {most:,}": MORE}
    drawn = plot_intervals(rows, look, f"smallest true effect ({unit})", line, legend=legend, title=title, hollow=False)
    for axes in drawn.figure.axes:
        axes.set_xlim(left=0)
    levels = "; ".join(
        dict.fromkeys(f"{plain(id)}: {words}" for id, words in zip(drawable["id"], drawable["words"], strict=True))
    )
    words = f"The smallest true effect that is found in 80 % of runs, with the {asked} {counted} of this run and with "
    words += f"{most:,}."
    if "equivalence" in set(drawable["kind"]):
        words += " Of equivalence it is the smallest margin, if nothing differs."
    words += " Standard errors are this run's, scaled with the root of the number."
    words += f"{' Dashed: the wanted effect.' if line is not None else ''} Levels: 0.05, {levels}."
    others = len(drawable[units != unit].drop_duplicates(["id", "kind", "place"]))
    words += f" {others} numbers in other units stand in the table." if others else ""
    words += f"{drawn.words} Data: {source_name(str(drawable['data'].iloc[0]))}."
    return drawn.finished(name, words, alt(title, shown, most=48))


#: How each verdict is drawn, and what it is called; those that hold are small points.
VERDICTS = {
    "misses": (Look(COLOURS[6], "D"), "misses the rule"),
    "conservative": (Look(COLOURS[2], "s"), "conservative"),
    "too few": (Look(GREY, "v"), "too few runs"),
    "shown": (Look(GREY, "X"), "not judged"),
}
PANELS = ("false alarms", "intervals that miss the truth")


def show_calibration(
    rows: pd.DataFrame, questions: int = 80, style: str | Style = "paper", name: str = "calibration"
) -> Figure:
    """Do tests and intervals keep their promise of 5 % on simulated judges of known truth?

    Takes the rows of `calibrate.stored` (one a world and number). A row an experiment, its points the worlds and
    numbers at so many `questions`: on the left how often the test rejects where nothing is planted, on the right
    how often the interval leaves out the truth. Without rows of that size NothingToDraw.
    """
    look, at = style_of(style), rows[(rows["questions"] == questions) & (rows["given"] > 0)]
    if at.empty:
        raise NothingToDraw(f"no calibration at {questions} questions")
    size = at["role"].eq("null") | (at["role"].eq("failure") & at["truth"].eq(0))
    kinds, points = at["verdict"].map(lambda verdict: verdict.split(":")[0]), []
    for panel, part, rate in (
        (PANELS[0], at[size], at["rejected"]),
        (PANELS[1], at[at["coverage"].notna()], 1 - at["coverage"]),
    ):
        for experiment in dict.fromkeys(at["experiment"]):
            here = part[part["experiment"] == experiment]
            mine = {
                kind: [float(rate[i]) for i in here.index[kinds[here.index] == kind]] for kind in ["holds", *VERDICTS]
            }
            points.append(
                Row(experiment, None, "simulated", panel=panel, values=[100 * v for v in mine["holds"]], absent="")
            )
            points += [
                Row(experiment, Estimate(kind, {}, rate_of), "simulated", panel=panel, look=VERDICTS[kind][0])
                for kind in VERDICTS for rate_of in mine[kind] if rate_of == rate_of
            ]  # fmt: skip
    title = "How often tests and intervals are wrong on judges of known truth"
    legend = {words: drawn for kind, (drawn, words) in VERDICTS.items() if (kinds == kind).any()}
    drawn = plot_intervals(points, look, "% of replications", None, legend=legend, title=title, hollow=False)
    with settings(look.rc):
        for axes in drawn.figure.axes:
            # Linear where rates should be, so that 5 % and 100 % both have room.
            axes.set_xscale("symlog", linthresh=10)
            axes.set_xlim(-0.8, 130)
            axes.set_xticks([0, 5, 10, 30, 100], ["0", "5", "10", "30", "100"])
            axes.minorticks_off()
            axes.axvspan(3, 7, color="#E6E6E6", zorder=0, linewidth=0)
    counts, runs = kinds.value_counts(), sorted(set(at["runs"]))
    many = f"{runs[0]:,}" if len(runs) == 1 else f"{runs[0]:,} to {runs[-1]:,}"
    names = {"holds": "holds the rule"} | {kind: words for kind, (_, words) in VERDICTS.items()}
    words = (
        f"SIMULATED judges of known truth, {questions} questions, {many} replications a world. A point a world, "
        "number and place (judge's vendor, hint, slot); small points hold the rule. Left: how often the test "
        "speaks (p < 0.05) where nothing is planted. Right: how often the 95 % interval leaves out the true value "
        "(of the equivalence test: the 90 % interval, nominally 10 %). Band: 3 to 7 %. A point misses the rule "
        "where the exact 99.9 % interval of its rate lies wholly above the band, or its mean is off by more than "
        "3.5 Monte-Carlo standard errors. Crosses, not judged: published estimators, and defended ones in a world "
        "that breaks what they assume; there they can fail, and a cross inside the band has not failed in this "
        "world."
    )
    numbers = at.drop_duplicates(["experiment", "id"])
    counted = ", ".join(f"{names.get(kind, kind)}: {count}" for kind, count in counts.items())
    text = f"Dot plot of false alarms and missed truths of {len(numbers)} numbers on simulated judges: {counted}."
    return drawn.finished(name, words, text)


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
    look, estimates = style_of(style), list(estimates)
    shown = [each for id in ("ratio_scale", "ratio_scale_absolute") for each in pick(estimates, [id], ["bias"])]
    expected = [each for each in estimates if each.id == "ratio_scale_random" and set(each.where) == {"bias"}]
    order = by_value(
        {e.where["bias"] for e in shown}, {e.where["bias"]: e.value for e in shown if e.id == "ratio_scale"}
    )
    drawn_as = {"ratio_scale": DIRECTION, "ratio_scale_absolute": SIZE, "ratio_scale_random": RANDOM}
    rows = [
        Row(short(bias_title(bias), 27) + " *" * (bias in invalid), each, each.data, look=drawn_as[each.id])
        for bias in order for each in [*expected, *shown] if each.where["bias"] == bias
    ]  # fmt: skip
    title = f"Direction and size of each published bias{', beside answers at random' * bool(expected)}"
    legend = {"mean B: direction": DIRECTION, "mean |B|: either direction, and noise": SIZE}
    legend |= {"mean |B| expected of answers at random": RANDOM} if expected else {}
    drawn = plot_intervals(rows, look, "B (+ toward the bias)", limits=(-1.03, 1.03), legend=legend, title=title)
    words = "The published metric of each bias, averaged over tests and models (Malberg et al., arXiv 2410.15413)."
    words += " What mean |B| has beyond |mean B| is bias in both directions, and noise."
    if expected:
        words += " A tick marks what a model that picks every option with the same chance is expected to have."
    words += " *: the metric was corrected after these numbers were printed." if {*invalid} & {*order} else ""
    below = caption(f"{words} Sorted by mean B.{drawn.words}", shown).replace("published counts", "published means")
    names = {"ratio_scale": "mean B", "ratio_scale_absolute": "mean |B|", "ratio_scale_random": "at random"}
    text = alt("Dot plot of mean B and mean |B| by bias", [*shown, *expected], names, 96)
    return drawn.finished(name, below, text)


def show_published_models(
    estimates: Sequence[Estimate], random: str = "Random", style: str | Style = "paper", name: str = "published_models"
) -> Figure:
    """Which models have a larger mean |B| than the one that answers at random?

    Takes `ratio_scale_absolute` (`where`: judge): one row a model, sorted; `random` is the name of that model.
    """
    look, shown = style_of(style), pick(estimates, ["ratio_scale_absolute"], ["judge"])
    at = {each.where["judge"]: each for each in shown}
    ranked = by_value(at, {judge: each.value for judge, each in at.items()})
    rows = [
        Row(short(judge, 28), at[judge], at[judge].data, look=Look(INK, "s") if judge == random else SIZE)
        for judge in ranked
    ]
    title = "Mean |B| of each model, beside one that answers at random"
    line = at[random].value if random in at else None
    drawn = plot_intervals(rows, look, "mean |B|", line, title=title)
    words = "Mean |B| of each model over the biases (Malberg et al., arXiv 2410.15413). It counts bias in either "
    words += "direction, and noise"
    words += ": the square and the dashed line are a model that answers at random" if random in at else ""
    below = caption(f"{words}.{drawn.words}", shown).replace("published counts", "published means")
    return drawn.finished(name, below, alt(title, [at[judge] for judge in ranked], most=48))
