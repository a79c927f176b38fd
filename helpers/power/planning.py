"""What a design can show, how many questions an effect takes, and what that costs: tables, words and curve."""

from __future__ import annotations

import asyncio
import math
import re
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from helpers import run
from helpers.config import load_experiment
from helpers.figures import show_power
from helpers.power.precision import (
    POWER,
    Precision,
    curve,
    enough,
    most_judges,
    precisions,
    questions_for,
    read_pilot,
    simulated,
    smallest_detectable,
)
from helpers.run.sources import questions_of
from helpers.tables import render_text
from helpers.types import Question
from helpers.words import plain


@dataclass(frozen=True)
class Cost:
    """The calls, tokens and dollars (upper bounds) of `questions` questions, of which `known` are at hand.

    What more would cost is taken from these, question by question.
    """

    questions: float
    known: int
    calls: float
    tokens: float
    usd: float

    def of(self, questions: float) -> Cost:
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
        if not math.isfinite(self.questions):
            return "more than anybody has"
        beyond = f" ({self.known} questions are at hand)" if self.questions > self.known else ""
        return f"{self.calls:,.0f} calls, {self.tokens:,.0f} tokens, at most ${self.usd:,.2f}{beyond}"


def units(questions: Sequence[Question]) -> int:
    """The clusters that these questions are of each number: articles of passages, scenarios of a bias, else all."""
    if any(each.wordings for each in questions):
        biases = [each.category for each in questions]
        return min(biases.count(bias) for bias in set(biases))
    return len({each.article or each.id for each in questions})


async def cost(name: str, questions: int | None = None, **parameters: Any) -> Cost:
    """What experiment `name` would cost with these notebook parameters; `questions` None: with all that are at hand.

    Questions are counted as its numbers count them: articles in experiment 3, scenarios of each bias in experiment 5.
    Every call counts, also one whose reply is stored. A model without a price is the plan's error; no key is asked for,
    and nothing is sent.
    """
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
    return Cost(some * known / len(every), known, calls, tokens, planned.usd).of(wanted)


#: Effects of shares and their differences are told in pp, all others as they are.
PP = ("rate", "pp", "sd_pp")
WANTED = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(pp|logit|log|score)?")
#: Numbers of questions of the curve, as multiples of those at hand.
STEPS = (0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8)
NOTHING = "No number of this run has a standard error to plan with: 10 questions are the least that carry one."


def wanted(texts: Sequence[str]) -> dict[str, float]:
    """The effects that are asked for, by unit; "5" is 5 pp, "0.5logit" half a logit.

    >>> wanted(["5", "0.4 logit"])
    {'pp': 0.05, 'logit': 0.4}
    """
    found = {}
    for text in texts:
        parts = WANTED.fullmatch(text.strip())
        if parts is None or not float(parts[1]):
            raise ValueError(f"effect {text!r}: a number above 0, in pp or with a unit: 5, 0.4logit, 0.3log, 0.1score")
        unit = parts[2] or "pp"
        found[unit] = float(parts[1]) / (100 if unit == "pp" else 1)
    return found


def told(effect: float, unit: str) -> str:
    """An effect as it is read: "5.3 pp", "0.46 logit"; a dash where there is none.

    >>> told(0.0531, "rate"), told(0.4567, "logit")
    ('5.3 pp', '0.46 logit')
    """
    if not math.isfinite(effect):
        return "\N{EN DASH}"
    return f"{100 * effect:.1f} pp" if unit in PP else f"{effect:.2f} {unit}"


def condensed(each: Sequence[Precision]) -> list[tuple[str, Precision]]:
    """What a table has rows of: the planned tests, and of each other kind of place the one with the median error."""
    found = [(one.place, one) for one in each if one.confirmatory]
    kinds: dict[tuple, list[Precision]] = {}
    for one in each:
        if not one.confirmatory:
            kinds.setdefault((one.id, tuple(one.where), one.kind), []).append(one)
    for (_, keys, _), several in kinds.items():
        # The median of what so many questions find: places differ in how many tell anything.
        middle = statistics.median_low([smallest_detectable(one) for one in several])
        one = next(one for one in several if smallest_detectable(one) == middle or middle != middle)
        found.append((one.place if len(several) == 1 else f"median of {len(several)} ({', '.join(keys)})", one))
    return found


def table(
    each: Sequence[Precision],
    questions: int | None = None,
    effects: Mapping[str, float] | None = None,
    cost: Cost | None = None,
) -> pd.DataFrame:
    """What so many questions find in 80 % of runs, a row a planned test and a row a kind of other numbers.

    Columns: number, where, test, questions, smallest effect, and with `effects` (by unit, see `wanted`) effect and
    questions needed, with `cost` what these would cost. `questions` None: as many as were asked. Of equivalence the
    effect is the margin. Without numbers the table is empty.
    """
    rows = []
    for place, one in condensed(each):
        n = one.here if questions is None else questions
        row = {
            "number": one.id,
            "where": plain(place),
            "test": one.words + {"mcnemar": ", exact McNemar", "equivalence": ", equivalence"}.get(one.kind, ""),
            "questions": n,
            "smallest effect": told(smallest_detectable(one, n), one.unit),
        }
        if effects:
            unit = "pp" if one.unit in PP else one.unit
            effect = effects.get(unit, math.nan)
            needed = questions_for(one, effect) if effect == effect else math.nan
            row |= {"effect": told(effect, one.unit), "questions needed": _count(needed)}
            if cost is not None:
                row["cost of these"] = cost.of(needed).brief if needed == needed else "\N{EN DASH}"
        rows.append(row)
    return pd.DataFrame(rows)


def _count(questions: float) -> str:
    if math.isnan(questions):
        return "\N{EN DASH}"
    return f"{questions:,.0f}" if math.isfinite(questions) else "more than anybody has"


def curves(each: Sequence[Precision], ids: Sequence[str] = (), power: float = POWER) -> pd.DataFrame:
    """The smallest effect against the number of questions, from a quarter of those asked to eight times as many.

    Of the planned tests, or of `ids`; columns as `curve`. Empty where there is none.
    """
    chosen = [one for one in each if (one.id in ids if ids else one.confirmatory)]
    if not chosen:
        return curve([], [])
    here = max(one.here for one in chosen)
    return curve(chosen, sorted({max(10, round(here * step)) for step in STEPS}), power)


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
        known = [(smallest_detectable(one), one.place, one) for one in several]
        known = sorted((each for each in known if math.isfinite(each[0])), key=lambda each: each[0])
        if not known:
            lines.append(f"- `{id}`: too few questions tell anything.")
            continue
        (least, place, one), (most, far, worst) = known[0], known[-1]
        reach = told(least, one.unit)
        if worst is not one:
            reach += f" ({plain(place)}) to {told(most, one.unit)} ({plain(far)})"
        what = "equivalence within" if kind == "equivalence" else "a true effect of"
        needed = questions_for(worst, most / 2)
        lines.append(
            f"- `{id}`, {worst.words}: {what} {reach} is found in {POWER:.0%} of such runs ({worst.here} questions); "
            f"half of {told(most, one.unit)} takes {_count(needed)} questions."
        )
    simulated = "SIMULATED judges. " if any(one.data == "simulated" for one in each) else ""
    return "\n".join([f"{simulated}What this many questions can show:", "", *lines])


def summary(each: Sequence[Precision]) -> str:
    """How sure the standard errors themselves are, for simulated runs; "" for a pilot."""
    shares = [one.error / one.se for one in each if one.error]
    return f"Standard errors have a Monte-Carlo error of {max(shares):.0%} themselves." if shares else ""


FROM_PILOT = (
    "Standard errors: from the pilot, scaled with the number of questions; what other judges or repeats would change "
    "is not known from it."
)


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
    """The power of experiment `name` in words and a table; `out` also gets the figure of its curve.

    `parameters` are notebook parameters, of which `judges`, `repeats` and `questions` are the most used. Without a
    `pilot` the standard errors are from simulated runs with as many judges and repeats. Judges or repeats with a pilot
    shape the cost alone.
    """
    given = dict(parameters)
    if judges:
        given["judges"] = [each.strip() for each in judges.split(",")]
    if repeats is not None:
        given["repeats"] = repeats
    sizes, price = wanted(effects), asyncio.run(cost(name, questions and enough(questions), **given))
    asked = enough(round(price.questions))
    each, source = _sure(name, given, asked, pilot, draws)
    shown = table(each, asked, sizes, price)
    lines = [f"{name}, {asked} questions: {price}", source, "", render_text(shown), "", sentence(each)]
    if out:
        lines += ["", *_drawn(each, sizes, Path(out))]
    return "\n".join(lines)


def _sure(
    name: str, given: Mapping[str, Any], asked: int, pilot: str | None, draws: int
) -> tuple[list[Precision], str]:
    if pilot:
        return precisions(read_pilot(Path(pilot), name), name), FROM_PILOT
    experiment = load_experiment(name, **given)
    judges = min(len(experiment.judges), most_judges(name))
    shown = partial(tqdm, desc=f"{name}, simulated runs", unit="run", file=sys.stderr, leave=False)
    estimates = simulated(name, asked, judges, experiment.repeats, draws, progress=shown)
    each = precisions(estimates, name, asked=asked, draws=draws)
    told = f"{judges} judges, repeats = {experiment.repeats}"
    if judges < len(experiment.judges):
        told += f" (of {len(experiment.judges)} judges: the simulated world has no more)"
    return each, f"Standard errors: from {draws} simulated runs with {told}. {summary(each)}"


def _drawn(each: Sequence[Precision], effects: Mapping[str, float], folder: Path) -> list[str]:
    figure = show_power(curves(each), effects)
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{figure.name}.{kind}" for kind in ("png", "pdf", "svg")]
    for file in files:
        file.write_bytes(figure.render(file.suffix[1:]))
    return [f"Written: {', '.join(map(str, files))}", figure.caption]
