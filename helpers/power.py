"""What a design can show, how many questions an effect takes, and what that costs: tables, words and curve.

Standard errors are those of a pilot or of simulated runs, whose variation is made up: a pilot knows better.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import re
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.special import stdtrit
from tqdm import tqdm

from . import calibrate, export, run
from .biases.protocol import load_bias
from .config import load_config, load_experiment
from .figures import Figure, if_any, show_power
from .run.sources import questions_of
from .stats import power
from .stats.intervals import MIN_CLUSTERS
from .stats.power import detectable_effect, detectable_mcnemar, provable_margin, questions_for_mcnemar
from .tables import render_text
from .types import Estimate, Question
from .words import LEVEL, plain
from .words.numbers import load_numbers

POWER = 0.8
#: The smallest effect that is found, or margin that is proven, of each kind that is no test of a difference.
LEAST = {"equivalence": provable_margin}
#: Keys of `where` that tell a sensitivity or a part, not the headline.
PARTS = {"variant", "category", "style", "weight"}
#: Effects of shares and their differences are printed in pp, all others as they are.
PP = ("rate", "pp", "sd_pp")
WANTED = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(pp|logit|log|score)?")
#: Numbers of questions of the curve, as multiples of those at hand.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)
CURVE = ("id", "place", "kind", "unit", "words", "cluster", "questions", "effect", "here", "data")
DASH = "\N{EN DASH}"
#: The simulated runs of each bias: a part of the repository that no wheel has.
DESIGNS = "studies.calibration.designs"
NOTHING = "No number of this run has a standard error to plan with: 10 questions are the least that carry one."


@dataclass(frozen=True)
class Precision:
    """One number's standard error `se` from `clusters` of the questions `asked`, and the two-sided `level` of its test.

    `kind` is "t", "mcnemar" (exact, one pair a question; `share` is that of pairs won by the place that won fewer) or
    "equivalence" (two one-sided tests of a margin). `error` is the Monte-Carlo error of `se`, `words` say what the
    level is of, and a question is a `cluster` (an article, a scenario).
    """

    id: str
    where: Mapping[str, str]
    unit: str
    se: float
    clusters: int
    level: float = LEVEL
    kind: str = "t"
    words: str = "one test"
    confirmatory: bool = False
    asked: int = 0
    error: float = 0.0
    share: float = math.nan
    data: str = ""
    cluster: str = "question"

    @property
    def place(self) -> str:
        """Where it is, in words; a bare number says nothing without its key."""
        return ", ".join(f"{k} {v}" if v.isdigit() else v for k, v in self.where.items()) or "all"

    @property
    def here(self) -> int:
        """How many questions were asked."""
        return max(self.asked, self.clusters)


class NoStandardError(ValueError):
    """No number of a run has a standard error that could be planned with."""


def smallest_detectable(each: Precision, questions: int | None = None) -> float:
    """The smallest true effect (equivalence: margin) that so many questions, or those asked, find in 80 % of runs.

    Fewer than 10 are a ValueError: they carry no interval. NaN where too few of them tell anything.
    """
    n = math.floor(enough(each.here if questions is None else questions) * each.clusters / each.here + 1e-9)
    if n < MIN_CLUSTERS:
        return math.nan
    if each.kind == "mcnemar":
        return detectable_mcnemar(n, each.share * n, POWER, each.level)
    # What differs by question averages out; nothing else is to change.
    se = each.se * math.sqrt(each.clusters / n)
    return LEAST.get(each.kind, detectable_effect)(se, n - 1, POWER, each.level)


def questions_for(each: Precision, effect: float) -> float:
    """How many questions, at least 10, find a true effect (prove a margin) in 80 % of runs; infinite for 0."""
    if each.kind == "mcnemar":
        needed = questions_for_mcnemar(each.share, effect, POWER, each.level)
    else:
        least = LEAST.get(each.kind, detectable_effect)
        needed = power.questions_for(each.se, each.clusters, effect, least, POWER, each.level)
    return math.ceil(needed * each.here / each.clusters - 1e-9) if math.isfinite(needed) else needed


def enough(questions: int) -> int:
    """The number of questions, or a ValueError where it is too small for any interval or test."""
    if questions < MIN_CLUSTERS:
        raise ValueError(f"{questions} questions: {MIN_CLUSTERS} are the least that carry an interval or a test")
    return int(questions)


def show(estimates: Sequence[Estimate], name: str, style: str) -> list[Figure]:
    """Show in a notebook what its run could have shown; its curve, if there is one, for `export`."""
    each: list[Precision] = []
    with suppress(NoStandardError):
        each = precisions(estimates, name)
    figures = if_any(show_power, curves(each), style=style)
    run.show(*figures, table(each))
    run.say(sentence(each), calibrate.words(name))
    return figures


def precisions(estimates: Sequence[Estimate], name: str, asked: int = 0, draws: int = 0) -> list[Precision]:
    """How sure each headline number of experiment `name` is, confirmatory ones first; NoStandardError where none is.

    `asked`: how many questions were (0: as many as any estimate is from); `draws`: how many runs were simulated.
    """
    bias = load_config(name).bias
    module, numbers = load_bias(bias), load_numbers(bias)
    own = [each for each in estimates if each.data != "published"]
    families = module.confirmatory(own)
    asked = asked or max((each.clusters for each in own), default=0)
    found, why = list[Precision](), dict[str, str]()
    for each in own:
        if each.id not in numbers.headline or PARTS & set(each.where) or each.where.get("filter", "all") != "all":
            continue
        if each.clusters < MIN_CLUSTERS:
            why.setdefault(each.id, f"{each.clusters} questions, {MIN_CLUSTERS} are the least")
        elif not math.isfinite(se := standard_error(each)):
            why.setdefault(each.id, each.method)
        else:
            tests = next((tests for family, tests in families if each in family), None)
            level, words = LEVEL / max(1, tests or 1), "exploratory, uncorrected"
            if tests is not None:
                words = f"Holm's first step of {tests}" if tests > 1 else "one planned test"
            if "one-sided p" in each.method:
                level, words = 2 * level, f"{words}, one-sided"
            share = module.rarer_side(each, own)
            kind = "equivalence" if each.id.endswith("_90") else "mcnemar" if math.isfinite(share) else "t"
            error = se / math.sqrt(2 * (draws - 1)) if draws > 1 else 0.0
            test = (level, kind, words, tests is not None, asked, error, share)
            size = (each.id, dict(each.where), each.unit, se, each.clusters)
            found.append(Precision(*size, *test, each.data, numbers.estimands[each.id].cluster))  # type: ignore[arg-type]
    if not found:
        reasons = "; ".join(f"{id}: {reason}" for id, reason in why.items()) or "none of its headline numbers is there"
        raise NoStandardError(f"{name}: no standard error to plan with ({reasons})")
    return sorted(found, key=lambda one: not one.confirmatory)


def standard_error(each: Estimate) -> float:
    """The standard error of an estimate: its own, else back from its t interval; NaN where that is not to be had.

    An interval that is not even around its number nor cut at 0 or 1 is no t interval; of Wilson's the binomial error is
    taken.
    """
    if math.isfinite(each.se):
        return each.se if each.se > 0 else math.nan
    if not (math.isfinite(each.low) and math.isfinite(each.high)) or each.clusters < MIN_CLUSTERS:
        return math.nan
    if "Wilson" in each.method:
        return math.sqrt(each.value * (1 - each.value) / each.clusters) or math.nan
    reach = [each.value - each.low, each.high - each.value]
    ends = {"rate": (0.0, 1.0), "score": (-1.0, 1.0)}.get(each.unit, (-math.inf, math.inf))
    cut = each.low <= ends[0] or each.high >= ends[1]
    if not cut and abs(reach[0] - reach[1]) > 1e-3 * max(reach):
        return math.nan
    tail = 0.95 if each.id.endswith("_90") else 0.975
    return max(reach) / float(stdtrit(each.clusters - 1, tail)) or math.nan


def read_pilot(path: Path, name: str) -> Sequence[Estimate]:
    """The estimates of a numbers.json of experiment `name`; any other file is a ValueError that names it."""
    from .overview import Numbers, read_results

    pilot = read_results(Numbers, path)
    if pilot.provenance.experiment != name:
        raise ValueError(f"{path} holds the numbers of {pilot.provenance.experiment}, not of {name}")
    return pilot.numbers


@dataclass(frozen=True)
class Cost:
    """What so many `questions` cost at most in calls, tokens and dollars; `known` of them exist."""

    questions: float
    known: int
    calls: float
    tokens: float
    usd: float

    def scale(self, questions: float) -> Cost:
        """The same for another number of questions, in proportion."""
        share = questions / self.questions
        # Simulated models cost nothing, however often they are asked.
        usd = self.usd * share if self.usd else 0.0
        return Cost(questions, self.known, self.calls * share, self.tokens * share, usd)

    @property
    def brief(self) -> str:
        """Calls and dollars alone."""
        return f"{self.calls:,.0f} calls, ${self.usd:,.2f}" if math.isfinite(self.questions) else "no sum would do"

    def __str__(self) -> str:
        """In one line: calls, tokens and dollars at most."""
        beyond = f" ({self.known} questions are at hand)" if self.questions > self.known else ""
        return f"{self.calls:,.0f} calls, {self.tokens:,.0f} tokens, at most ${self.usd:,.2f}{beyond}"


def units(questions: Sequence[Question]) -> int:
    """The clusters that these questions are of each number: articles of passages, scenarios of a bias, else all."""
    if any(each.wordings for each in questions):
        biases = [each.category for each in questions]
        return min(biases.count(bias) for bias in set(biases))
    return len({each.article or each.id for each in questions})


async def cost(name: str, questions: int | None = None, **parameters: Any) -> Cost:
    """What so many questions (None: all at hand; counted as in `units`) would cost, whatever is stored."""
    every = questions_of(load_experiment(name, **parameters))
    known = units(every)
    wanted = known if questions is None else questions
    # The first places are balanced over categories, and enough for a price.
    some = min(len(every), math.ceil(len(every) * wanted / known))
    # The limit counts the whole dataset, also what a filter leaves out.
    limit = max(each.place for each in every[:some]) + 1
    with tempfile.TemporaryDirectory() as empty:
        planned = await run.plan(load_experiment(name, **parameters | {"store": empty, "question_limit": limit}))
    tokens = sum(row.input_tokens + row.output_tokens for row in planned.rows)
    calls = sum(row.calls for row in planned.rows)
    return Cost(some * known / len(every), known, calls, tokens, planned.usd).scale(wanted)


def wanted(texts: Sequence[str]) -> dict[str, float]:
    """The effects that are asked for, by unit; "5" is 5 pp, as a fraction 0.05, "0.5logit" half a logit."""
    found = {}
    for text in texts:
        parts = WANTED.fullmatch(text.strip())
        if parts is None or not float(parts[1]):
            raise ValueError(f"effect {text!r}: a number above 0, in pp or with a unit: 5, 0.4logit, 0.3log, 0.1score")
        unit = parts[2] or "pp"
        found[unit] = float(parts[1]) / (100 if unit == "pp" else 1)
    return found


def effect_text(effect: float, unit: str) -> str:
    """An effect as it is read: "5.3 pp", "0.46 logit"; a dash where there is none.

    >>> effect_text(0.0531, "rate"), effect_text(0.4567, "logit")
    ('5.3 pp', '0.46 logit')
    """
    text = f"{100 * effect:.1f} pp" if unit in PP else f"{effect:.2f} {unit}"
    return text if math.isfinite(effect) else DASH


def _count(questions: float) -> str:
    words = {math.inf: "more than anybody has"}.get(questions, f"{questions:,.0f}")
    return DASH if math.isnan(questions) else words


def condensed(each: Sequence[Precision]) -> list[tuple[str, Precision]]:
    """What a table has rows of: the planned tests, and of each other kind of place the one with the median error."""
    kinds: dict[tuple, list[Precision]] = {}
    for one in each:
        if not one.confirmatory:
            kinds.setdefault((one.id, tuple(one.where), one.kind), []).append(one)
    found = [(one.place, one) for one in each if one.confirmatory]
    for (_, keys, _), several in kinds.items():
        # The median of what so many questions find: places differ in how many tell anything.
        effects = [smallest_detectable(one) for one in several]
        middle = statistics.median_low(effects)
        one = several[effects.index(middle) if middle == middle else 0]
        found.append((one.place if len(several) == 1 else f"median of {len(several)} ({', '.join(keys)})", one))
    return found


def table(
    each: Sequence[Precision],
    questions: int | None = None,
    effects: Mapping[str, float] | None = None,
    cost: Cost | None = None,
) -> pd.DataFrame:
    """What so many questions (None: those asked) find in 80 % of runs, and what `effects` (by unit) need and cost."""
    rows = []
    for place, one in condensed(each):
        n = one.here if questions is None else questions
        test = one.words + {"mcnemar": ", exact McNemar", "equivalence": ", equivalence"}.get(one.kind, "")
        row = {"number": one.id, "where": plain(place), "test": test, "questions": n}
        row["smallest effect"] = effect_text(smallest_detectable(one, n), one.unit)
        if effects:
            effect = effects.get("pp" if one.unit in PP else one.unit, math.nan)
            needed = questions_for(one, effect) if effect == effect else math.nan
            row |= {"effect": effect_text(effect, one.unit), "questions needed": _count(needed)}
            if cost is not None:
                row["cost of these"] = cost.scale(needed).brief if needed == needed else DASH
        rows.append(row)
    return pd.DataFrame(rows)


def curves(each: Sequence[Precision]) -> pd.DataFrame:
    """The smallest effect of the planned tests by number of questions; columns: CURVE, `here` are those asked."""
    chosen = [one for one in each if one.confirmatory]
    most = max((one.here for one in chosen), default=0)
    rows = [
        {name: getattr(one, name, None) for name in CURVE} | {"questions": n, "effect": smallest_detectable(one, n)}
        for one in chosen
        for n in sorted({max(10, round(most * step)) for step in STEPS})
    ]
    return pd.DataFrame(rows, columns=list(CURVE))


def sentence(each: Sequence[Precision]) -> str:
    """What a run could have shown, in words: the smallest effects of its planned tests, and what half of them takes."""
    planned: dict[tuple[str, str], list[Precision]] = {}
    for one in each:
        if one.confirmatory:
            planned.setdefault((one.id, one.kind), []).append(one)
    if not planned:
        return NOTHING
    lines = []
    for (id, kind), several in planned.items():
        telling = [one for one in several if math.isfinite(smallest_detectable(one))]
        if not telling:
            lines.append(f"- `{id}`: too few questions tell anything.")
            continue
        one, worst = min(telling, key=smallest_detectable), max(reversed(telling), key=smallest_detectable)
        least, most = smallest_detectable(one), smallest_detectable(worst)
        reach = effect_text(least, one.unit)
        if worst is not one:
            reach += f" ({plain(one.place)}) to {effect_text(most, one.unit)} ({plain(worst.place)})"
        what = "equivalence within" if kind == "equivalence" else "a true effect of"
        needed = questions_for(worst, most / 2)
        lines.append(
            f"- `{id}`, {worst.words}: {what} {reach} is found in {POWER:.0%} of such runs ({worst.here} questions); "
            f"half of {effect_text(most, one.unit)} takes {_count(needed)} questions."
        )
    simulated = "SIMULATED models. " if any(one.data == "simulated" for one in each) else ""
    return "\n".join([f"{simulated}What this many questions can show:", "", *lines])


def planned(
    name: str,
    parameters: Mapping[str, Any],
    questions: int | None = None,
    judges: str | None = None,
    repeats: int | None = None,
    effects: Sequence[str] = (),
    pilot: str | None = None,
    draws: int = 100,
    out: str | None = None,
) -> str:
    """The power of experiment `name` with these notebook parameters, in words and a table; `out` gets the curve.

    Standard errors are those of the `pilot`, else of simulated runs with as many judges and repeats.
    """
    named = {"judges": [each.strip() for each in judges.split(",")] if judges else None, "repeats": repeats}
    parameters = {**parameters, **{key: value for key, value in named.items() if value is not None}}
    sizes, price = wanted(effects), asyncio.run(cost(name, questions and enough(questions), **parameters))
    asked = enough(round(price.questions))
    if pilot:
        each = precisions(read_pilot(Path(pilot), name), name)
        source = "Standard errors: from the pilot, scaled with the questions; other judges or repeats may differ."
    else:
        each, source = _simulated(name, parameters, asked, draws)
    shown = table(each, asked, sizes, price)
    lines = [f"{name}, {asked} questions: {price}", source, "", render_text(shown), "", sentence(each)]
    if out:
        figure, folder = show_power(curves(each), sizes), Path(out)
        files = {f"{figure.name}.{kind}": figure.render(kind) for kind in ("png", "pdf", "svg")}
        export.write(files, folder)
        lines += ["", f"Written: {', '.join(str(folder / file) for file in files)}", figure.caption]
    return "\n".join(lines)


def _simulated(name: str, parameters: Mapping[str, Any], asked: int, draws: int) -> tuple[list[Precision], str]:
    """How sure each number is in simulated runs with as many judges and repeats, and where that is from in words."""
    try:
        designs = importlib.import_module(DESIGNS)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "studies":
            raise
        raise ValueError(
            "no simulated worlds here: studies/calibration is part of the repository alone; work in a clone that is "
            "installed with `pip install -e .`, or use a pilot"
        ) from None
    experiment = load_experiment(name, **parameters)
    judges = min(len(experiment.judges), designs.world_of(name)[2])
    progress = partial(tqdm, desc=f"{name}, simulated runs", unit="run", file=sys.stderr, leave=False)
    estimates = designs.simulated(name, asked, judges, experiment.repeats, draws, progress=progress)
    each, most = precisions(estimates, name, asked, draws), len(experiment.judges)
    made = f"{judges} judges, repeats = {experiment.repeats}"
    made += f" (of {most} judges: the simulated world has no more)" if judges < most else ""
    errors = [one.error / one.se for one in each if one.error]
    doubt = f"Standard errors have a Monte-Carlo error of {max(errors):.0%} themselves." if errors else ""
    return each, f"Standard errors: from {draws} simulated runs with {made}. {doubt}"
