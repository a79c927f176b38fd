"""What published numbers say of cognitive biases, from means alone and from the notebook's arrays."""

from __future__ import annotations

import pkgutil
import re
import statistics
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ...stats.intervals import clustered
from ...types import Estimate, RatioScale
from ..protocol import Numbers, bare, estimator
from . import metrics as forms
from .metrics import random_absolute, score


@dataclass(frozen=True)
class PublishedBias:
    """One bias of the published set: number of options and parameters of its metric.

    `k` is its sign, or the sign by the value of `fact`; `fact` names what was drawn and decides k or the points x1, x2
    (by POINTS); "" where nothing does. No control is flipped.
    """

    title: str
    options: int
    k: int | Mapping[str, int]
    fact: str = ""
    flip_treatment: bool = False


#: The points x1 and x2 by the number drawn. Python rounds halves to even: 25 / 10 is 2, 35 / 10 is 4.
POINTS: dict[str, Callable[[float], tuple[float, float]]] = {
    "anchor": lambda anchor: (round(anchor / 10), round(anchor / 10)),
    "percentage": lambda percentage: (round(percentage / 10) + 5, round(percentage / 10) + 5),
    # A further share of the work, added to the control's estimate; in the metric 3 steps stand for its mean.
    "estimation_update": lambda update: (-(update // 10), -3),
}

_ROWS = tomllib.loads((pkgutil.get_data(__package__, "biases.toml") or b"").decode())
#: The biases by their short names in lower case with underscores: "anchoring", "in_group", "planning_fallacy".
BIASES = {
    re.sub(r"[ -]", "_", re.sub(r" (Effect|Bias)$", "", title)).lower(): PublishedBias(title, **row)
    for title, row in _ROWS.items()
}


def parameters(bias: str, **facts: Any) -> RatioScale:
    """The parameters of the published metric of one of BIASES, given the fact that its row of the table names.

    >>> parameters("anchoring", anchor=25)
    RatioScale(k=1.0, x1=2.0, x2=2.0, flip_control=False, flip_treatment=False)
    >>> parameters("bandwagon", majority_opinion="A").k
    -1.0
    """
    row = BIASES[bias]
    x1, x2 = POINTS[row.fact](facts[row.fact]) if row.fact in POINTS else (0.0, 0.0)
    k = row.k[facts[row.fact]] if isinstance(row.k, Mapping) else row.k
    return RatioScale(float(k), float(x1), float(x2), flip_treatment=row.flip_treatment)


NOTEBOOK = {"source": "notebook"}
#: What the arrays are: made-up answers, so that an interval says how much rows of such a kind would vary, and no more.
ARRAYS_METHOD = "computed from the notebook's arrays, which are no sample"
OWN_METHOD = "computed from arrays that were given"
_CHOICES, _ARGUMENTS = ("control", "treatment", "options"), ("answer", "pro", "con", "n_args")
#: Each metric, by `overall`, and the arrays that it takes.
FORMS: Mapping[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "anchoring_agnostic": (partial(forms.AnchoringBiasMetric, True), (*_CHOICES, "anchor")),
    "anchoring_specific": (partial(forms.AnchoringBiasMetric, False), (*_CHOICES, "anchor")),
    "halo_effect": (forms.HaloEffectMetric, _CHOICES),
    "loss_aversion": (forms.LossAversionMetric, ("answer", "lambdas")),
    "confirmation_bias": (forms.ConfirmationBiasMetric, _ARGUMENTS),
}


@dataclass(frozen=True)
class Arrays:
    """Answers to tests of one kind: arrays by name, (n, 1) and options (n, k); `where` is the place of their numbers.

    `clusters` says which rows belong together; without it each row is its own.
    """

    where: Mapping[str, str]
    columns: Mapping[str, np.ndarray]
    clusters: Sequence[object] | None = None

    def metrics(self) -> Iterator[tuple[str, Callable[..., Any], list[np.ndarray]]]:
        """Each metric that the arrays are enough for: id, class by `overall`, arguments."""
        for id, (metric, names) in FORMS.items():
            if set(names) <= self.columns.keys():
                yield id, metric, [self.columns[name] for name in names]


def from_arrays(arrays: Sequence[Arrays], data: str = "folder", method: str = OWN_METHOD) -> list[Estimate]:
    """`of_arrays`, whose methods end with this `method`."""
    return [replace(each, method=f"{each.method}; {method}".lstrip("; ")) for each in of_arrays(arrays, data)]


@estimator("cognitive")
def of_arrays(arrays: Sequence[Arrays]) -> Numbers:
    """The batch value of each metric with its interval (marked rough below 10 clusters), and the value of each test.

    `where` is that of the arrays, for one test also test "1", "2", ...; of gambles the value of a test is its answer
    and not repeated. Arrays that a metric does not accept are a ValueError with argument and row, counted from 0.
    """
    for each in arrays:
        for id, metric, inputs in each.metrics():
            if id != "loss_aversion":
                for number, value in enumerate(metric(overall=False).compute(*inputs).ravel(), 1):
                    yield id, {**each.where, "test": str(number)}, bare(value, 0, "")
            yield id, each.where, metric().interval(*inputs, clusters=each.clusters)


def notebook_arrays(published: Mapping[str, Any]) -> list[Arrays]:
    """The arrays that the notebook prints, in its order."""
    block = published["notebook"]
    lambdas = block["gambles"]["lambdas"]
    gambles = {name: block["gambles"][name] for name in ("unbiased", "biased")}
    return [
        _arrays({}, block["choices"]),
        *(_arrays({"answers": name}, {"answer": answer, "lambdas": lambdas}) for name, answer in gambles.items()),
        _arrays({}, block["arguments"]),
    ]


def _arrays(where: Mapping[str, str], columns: Mapping[str, Any]) -> Arrays:
    read = {name: np.atleast_2d(np.asarray(values, dtype=float)) for name, values in columns.items()}
    return Arrays({**NOTEBOOK, **where}, {name: each if name == "options" else each.T for name, each in read.items()})


#: Columns of a file of arrays beside those of a metric: which rows belong together, which are a batch of their own.
CLUSTER, NAME = "cluster", "answers"


def read_arrays(rows: Mapping[str, Mapping[str, Any]]) -> list[Arrays]:
    """The arrays in the rows of a file, a batch for each value of their column `answers`; `rows` by place in the file.

    Columns: those of a metric (options as a list or as "10 | 20 | 30"), `cluster` and `answers`. What is missing, no
    number or refused by a metric is a ValueError with place and column.
    """
    batches: dict[str, dict[str, Mapping[str, Any]]] = {}
    for place, row in rows.items():
        batches.setdefault(str(row.get(NAME) or ""), {})[place] = row
    return [_read_batch(name, each) for name, each in batches.items()]


def _read_batch(name: str, rows: Mapping[str, Mapping[str, Any]]) -> Arrays:
    """The arrays of one batch, which the metrics have accepted."""
    table, places, columns = pd.DataFrame([*rows.values()], [*rows], dtype=object), [*rows], dict[str, np.ndarray]()
    for column in dict.fromkeys(column for _, names in FORMS.values() for column in names if column in table):
        cells = table[column].map(lambda cell: re.split(r"[|;]", cell) if isinstance(cell, str) else cell).explode()
        odd = cells.map(lambda cell: isinstance(cell, bool) or not isinstance(cell, str | float | int))
        numbers = pd.to_numeric(cells.mask(odd), errors="coerce")
        for place, cell in cells[numbers.isna()].items():
            what = f"{'nothing' if cell in (None, '') or cell != cell else repr(cell)}, expected a number"
            raise ValueError(f"{place}, {column}: holds {what}; leave out tests without a readable answer")
        widths = numbers.groupby(level=0, sort=False).size()
        width = widths.iloc[0] if column == "options" else 1
        for place, found in widths[widths != width].items():
            more = "; tests of other numbers need another name in `answers`" if column == "options" else ""
            raise ValueError(f"{place}, {column}: holds {found} numbers, expected {width}{more}")
        columns[column] = numbers.to_numpy(dtype=float).reshape(len(table), -1)
    clusters = table[CLUSTER].tolist() if CLUSTER in table else None
    arrays = Arrays({"source": "arrays"} | ({NAME: name} if name else {}), columns, clusters)
    if not [*arrays.metrics()]:
        needed = "; or ".join(dict.fromkeys(", ".join(names) for _, names in FORMS.values()))
        raise ValueError(f"{places[0]}: columns {', '.join(table)}; a metric needs {needed}")
    try:
        from_arrays([arrays])
    except ValueError as error:
        row = re.search(r", row (\d+)", str(error))
        at, problem = (int(row[1]), str(error).replace(row[0], "")) if row else (0, error)
        raise ValueError(f"{places[at]}: {problem}") from None
    return arrays


def array_table(published: Mapping[str, Any], arrays: Sequence[Arrays]) -> tuple[str, pd.DataFrame, str]:
    """The arrays of the published notebook and of a file test by test, as a table: name, frame and caption."""
    rows = []
    for each, data in [*((x, "published") for x in notebook_arrays(published)), *((x, "folder") for x in arrays)]:
        values = {id: metric(overall=False).compute(*inputs).ravel() for id, metric, inputs in each.metrics()}
        for at in range(len(next(iter(each.columns.values())))):
            inputs = (f"{name} {', '.join(f'{x:.10g}' for x in array[at])}" for name, array in each.columns.items())
            row = {NAME: each.where.get(NAME, ""), "test": at + 1, "inputs": "; ".join(inputs)}
            rows.append(row | {id: float(found[at]) for id, found in values.items()} | {"data": data})
    frame = pd.DataFrame(rows)
    frame["data"] = frame.pop("data")
    caption = "Arrays of answers, test by test, with the published metrics of each (loss aversion: the answer itself)."
    return "array_rows", frame, caption


def from_notebook(published: Mapping[str, Any]) -> Numbers:
    """Each output of the notebook as `from_arrays` gives it, and each check (`where`: source "check").

    Also `confirmation_as_printed` (the formula that the notebook prints) and `anchoring_specific_raw` (the anchor
    itself in place of the option closest to it).
    """
    arrays = notebook_arrays(published)
    choices, gambles = arrays[0].columns, arrays[1].columns
    arguments = [arrays[-1].columns[name] for name in _ARGUMENTS]
    for name, answer in (("all accepted", 1.0), ("all refused", 0.0)):
        every = {"answer": np.full_like(gambles["lambdas"], answer), "lambdas": gambles["lambdas"]}
        arrays.insert(-1, Arrays(NOTEBOOK | {"answers": name}, every))
    yield from from_arrays(arrays, "published", ARRAYS_METHOD)
    unweighted = forms.ConfirmationBiasMetric(False).interval(*arguments)
    yield "confirmation_unweighted", NOTEBOOK, replace(unweighted, method=f"{unweighted.method}; {ARRAYS_METHOD}")
    printed = forms.ConfirmationBiasMetric(as_printed=True).compute(*arguments)
    yield "confirmation_as_printed", NOTEBOOK, bare(printed, 0, ARRAYS_METHOD)
    raw = forms.approach(choices["control"], choices["treatment"], choices["anchor"])
    yield "anchoring_specific_raw", NOTEBOOK, bare(forms.batch(forms.published(raw)), 0, ARRAYS_METHOD)
    for a1, a2, options, k, x1, x2 in published["checks"]["pairs"]:
        place = {"source": "check", "control": str(a1), "treatment": str(a2), "k": str(k), "x": str(x1)}
        yield "ratio_scale", place, bare(score(a1, a2, options, k, x1, x2), 0, "one pair of answers")


#: Why none of these numbers has an interval.
METHOD = "published value, no interval: only means are published"
_bare = partial(bare, n=0, why=METHOD)
EXACT = "exact: all pairs of answers with the same chance"
#: Below this share of mean |B| a mean is called nearly directionless.
NEARLY = 0.25
#: Two decimals are printed: a mean can lie above the mean of its absolute values by what was rounded.
ROUNDED = 0.01
BIASES_WORD, ALL, WITHOUT = "30 biases", "20 models", "19 models without the random one"


@estimator("cognitive", "published")
def from_published(published: Mapping[str, Any]) -> Numbers:
    """All numbers in published/counts.yaml, and those that they determine, the notebook's last.

    `where` has bias (over all models), judge (over all biases), both and a run (another run or source), or over
    ("30 biases", "20 models", ...: recomputed means). No intervals but the rough ones of the notebook's arrays.
    """
    grid, block = published["heatmap"]["counts"], published["by_model"]
    models, random = block["counts"], block["random"]
    means, absolute = ({bias: row[name] for bias, row in grid.items()} for name in ("mean", "mean_absolute"))
    yield from (("ratio_scale", {"bias": bias}, _bare(value)) for bias, value in means.items())
    yield from (("ratio_scale_absolute", {"bias": bias}, _bare(value)) for bias, value in absolute.items())
    yield from (("ratio_scale_absolute", {"judge": model}, _bare(value)) for model, value in models.items())
    for run in (published["early_run"], published["secondary"]):
        place = {"judge": run["judge"], "run": run["run"]}
        yield from (("ratio_scale", {"bias": bias, **place}, _bare(value)) for bias, value in run["counts"].items())
    yield "ratio_scale", {"over": BIASES_WORD}, _bare(statistics.fmean(means.values()))
    others = [value for model, value in models.items() if model != random]
    for over, values in ((BIASES_WORD, absolute.values()), (ALL, models.values()), (WITHOUT, others)):
        yield "ratio_scale_absolute", {"over": over}, _bare(statistics.fmean(values))
    expected = {bias: random_of_bias(bias, published["drawn"]["facts"]) for bias in grid}
    yield from (("ratio_scale_random", {"bias": bias}, bare(value, 0, EXACT)) for bias, value in expected.items())
    yield "ratio_scale_random", {"over": BIASES_WORD}, bare(statistics.fmean(expected.values()), 0, EXACT)
    for bias in grid:
        yield "direction_share", {"bias": bias}, _bare(abs(means[bias]) / absolute[bias])
    yield "direction_share", {"over": BIASES_WORD}, _bare(sum(map(abs, means.values())) / sum(absolute.values()))
    yield "below_random", {}, bare(sum(absolute[bias] < expected[bias] for bias in grid), len(grid))
    yield "above_random", {}, bare(sum(value >= models[random] for value in others), len(others))
    impossible = sum(abs(means[bias]) > absolute[bias] + ROUNDED for bias in grid)
    yield "impossible_means", {}, bare(impossible, len(grid))
    yield from from_notebook(published)
    for source, counted in published["released"]["counts"].items():
        for judge, row in counted["judges"].items():
            where = {"source": source, "judge": judge, "released": row["released"]}
            yield "released_anchor_shift", where, clustered(np.array(row["moved"]), np.array(row["items"]))


def random_of_bias(bias: str, drawn: Mapping[str, Mapping[str, Any]]) -> float:
    """The mean |B| that answers at random give on this bias, over what is drawn for its tests (0/0 counts 0).

    `drawn`: by the fact that decides the metric's points, {uniform: [low, high]} or {choices: [...]}.
    """
    row = BIASES[bias]
    if row.fact not in POINTS:
        # The sign alone depends on the other facts, and |B| has none.
        return random_absolute(row.options, RatioScale(flip_treatment=row.flip_treatment))
    scales = ((parameters(bias, **{row.fact: fact}), chance) for fact, chance in _facts(drawn[row.fact]))
    return sum(chance * random_absolute(row.options, scale) for scale, chance in scales)


def _facts(drawn: Mapping[str, Any]) -> Iterator[tuple[float, float]]:
    """One value of each kind that the metric tells apart, with its chance; a uniform number is rounded to tens."""
    if "choices" in drawn:
        yield from ((value, 1 / len(drawn["choices"])) for value in drawn["choices"])
        return
    low, high = drawn["uniform"]
    for ten in range(round(low / 10) * 10, round(high / 10) * 10 + 1, 10):
        yield ten, (min(ten + 5, high) - max(ten - 5, low)) / (high - low)


def published_frame(frame: pd.DataFrame) -> pd.DataFrame:
    """The decisions frame with the metric parameters of biases for which nothing else decides them.

    Rows that have none (k is NaN) and are on a bias of the published table whose sign and points hang on no fact take
    them from there, and the target with them (`datasets.load_decisions` takes those of known tests). Rows on other
    biases stay without: neither the published metric nor a direction is defined for them then.
    """
    found = frame.copy()
    for bias in found.loc[found["k"].isna(), "category"].unique():
        row = BIASES.get(bias)
        if row is None or row.fact:
            continue
        scale = parameters(bias)
        here = found["k"].isna() & (found["category"] == bias) & (found["options"] == row.options)
        for name, value in asdict(scale).items():
            found.loc[here, name] = value
        found.loc[here, "target"] = _target(scale, row.options)
    found.attrs = dict(frame.attrs)
    return found


def _target(scale: RatioScale, options: int) -> float:
    """The index that the bias pulls to; NaN where control and treatment are counted from different ends."""
    if scale.flip_control != scale.flip_treatment:
        return float("nan")
    return scale.x1 if scale.k > 0 else float(options - 1)


#: How many names a sentence has before it only counts them.
NAMED = 6


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Whether published mean |B| tells bias from noise, how much of it has a direction, and what means leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    at = {(each.id, *each.where.values()): each for each in estimates if len(each.where) < 2}
    table, block = published["heatmap"], published["by_model"]
    grid, random = table["counts"], block["counts"][block["random"]]
    models = {model: value for model, value in block["counts"].items() if model != block["random"]}
    above = [model for model, value in models.items() if value >= random]
    spread = f"{random:.2f}; answers at random are expected to have {at['ratio_scale_random', BIASES_WORD].value:.3f}; "
    spread += f"the other {len(models)}: {min(models.values()):.2f} to {max(models.values()):.2f}"
    first = (
        f"**Of all {len(models) + 1} models the one that answers at random has the largest published mean |B|** "
        f"({spread}). A model without any bias gets a large one by noise alone, so that mean |B| measures noise as "
        f"well as bias; and that model is in the printed average of {table['overall']['mean_absolute']:.2f}, which is "
        f"{at['ratio_scale_absolute', WITHOUT].value:.3f} without it."
    )
    if above:
        first = (
            f"**{len(above)} of {len(models)} models have at least the mean |B| of the one that answers at random** "
        )
        first += f"({spread}): {_named(above)}."
    expected = {bias: at["ratio_scale_random", bias].value for bias in grid}
    beyond = {bias: row["mean_absolute"] - expected[bias] for bias, row in grid.items()}
    high = sorted((bias for bias in grid if beyond[bias] >= 0), key=lambda bias: -beyond[bias])
    high = [f"{BIASES[b].title} ({grid[b]['mean_absolute']:.2f} against {expected[b]:.2f})" for b in high]
    shares = sorted((at["direction_share", bias] for bias in grid), key=lambda each: each.value)
    ends = " to ".join(f"{each} ({BIASES[each.where['bias']].title})" for each in (shares[0], shares[-1]))
    nearly = [BIASES[each.where["bias"]].title for each in shares if each.value < NEARLY]
    against = sorted((bias for bias, row in grid.items() if row["mean"] < 0), key=lambda bias: grid[bias]["mean"])
    against = [f"{BIASES[bias].title} ({grid[bias]['mean']:+.2f})" for bias in against]
    invalid = [BIASES[bias].title for bias in table["invalid"]]
    tests = table["tests_per_bias"]
    parts = [
        first,
        f"**On {at['below_random',].value:.0f} of {len(grid)} biases mean |B| is below what answers at random give** "
        f"on the same options ({min(expected.values()):.2f} to {max(expected.values()):.2f})"
        + f"; not below are {_named(high)}" * bool(high)
        + ".",
        f"**{at['direction_share', BIASES_WORD]} of mean |B| has one direction** (|mean B| / mean |B| of the "
        f"{len(grid)} biases; {ends}); the rest goes both ways, from test to test, from model to model, or by noise."
        + f" Nearly directionless, below {100 * NEARLY:.0f} %: {_named(nearly)}." * bool(nearly)
        + f" Against the direction that people are said to have: {_named(against)}." * bool(against),
        "**What these means leave open.** Without the decisions no mean has an interval, and none has a test: "
        f"{tests} tests a bias are no {tests} independent ones, and nobody asked a control twice, so that how much of "
        "|B| is noise is not known."
        + f" The metric of {_named(invalid)} was corrected after these numbers were printed." * bool(invalid)
        + f" {_named(table['missing_models'])} was evaluated but is not in these averages."
        * bool(table["missing_models"]),
    ]
    return "\n".join(f"- {part}" for part in parts)


def _named(names: Sequence[str]) -> str:
    """The names in a row, the first NAMED of many."""
    return ", ".join(names[:NAMED]) + f" and {len(names) - NAMED} more" * (len(names) > NAMED)
