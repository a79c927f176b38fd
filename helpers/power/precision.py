"""How sure one number is with so many questions: the smallest effect, from spreads, a pilot, or simulated runs.

Judges here are simulated, and so is how much questions, tastes and noise vary. A pilot with one's own judges knows
better.
"""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from helpers.biases.protocol import load_bias
from helpers.config import load_config
from helpers.config.numbers import load_numbers
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.stats.power import (
    detectable_effect,
    detectable_mcnemar,
    power_of,
    provable_margin,
    questions_for_effect,
    questions_for_equivalence,
    questions_for_mcnemar,
)
from helpers.types import Estimate

POWER = 0.8
#: "t": from the standard error (what sign flips and dealing anew find is nearly that); "mcnemar": the exact test, one
#: pair a question; "equivalence": two one-sided tests, of which the margin is asked for.
KINDS = ("t", "mcnemar", "equivalence")
CURVE = ("id", "place", "kind", "unit", "words", "cluster", "questions", "effect", "here", "data")


@dataclass(frozen=True)
class Precision:
    """One number's standard error `se` from `clusters` questions, and the two-sided `level` of its test.

    `asked` is how many questions were asked for these: of some numbers not every question tells anything (no wrong
    answer of the judge's own, say). `error` is the Monte-Carlo error of `se` (0 of a pilot). `share` is that of pairs
    won by the place that won fewer (McNemar). `words` say what the level is of. `unit` as in `Estimate`; all effects
    are in it, rates as fractions. `cluster`: what a question of this number is (an article, a scenario).
    """

    id: str
    where: Mapping[str, str]
    unit: str
    se: float
    clusters: int
    level: float = 0.05
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
        """Where it is, in words."""
        # A bare number says nothing without its key.
        return ", ".join(f"{k} {v}" if v.isdigit() else v for k, v in self.where.items()) or "all"

    @property
    def here(self) -> int:
        """How many questions were asked."""
        return max(self.asked, self.clusters)

    def of(self, questions: float) -> int:
        """How many of so many questions would tell something."""
        return math.floor(questions * self.clusters / self.here + 1e-9)


def smallest_detectable(each: Precision, questions: int | None = None, power: float = POWER) -> float:
    """The smallest true effect that so many questions find with this power; of equivalence the smallest margin.

    `questions` None: as many as the standard error is from. Fewer than 10 are a ValueError: they carry no interval.
    NaN where no effect is found so often, or too few of these questions tell anything.
    """
    n = each.of(enough(each.here if questions is None else questions))
    if n < MIN_CLUSTERS:
        return math.nan
    if each.kind == "mcnemar":
        return detectable_mcnemar(n, each.share * n, power, each.level)
    se = _scaled(each, n)
    if each.kind == "equivalence":
        return provable_margin(se, n - 1, power, each.level)
    return detectable_effect(se, n - 1, power, each.level)


def questions_for(each: Precision, effect: float, power: float = POWER) -> float:
    """How many questions find a true `effect` (of equivalence: prove such a margin) with this power; at least 10.

    Infinite for an effect of 0.
    """
    if each.kind == "mcnemar":
        needed = questions_for_mcnemar(each.share, effect, power, each.level)
    elif each.kind == "equivalence":
        needed = questions_for_equivalence(each.se, each.clusters, abs(effect), power, each.level)
    else:
        needed = questions_for_effect(each.se, each.clusters, effect, power, each.level)
    return math.ceil(needed * each.here / each.clusters - 1e-9) if math.isfinite(needed) else needed


def chance(each: Precision, effect: float, questions: int | None = None) -> float:
    """How often so many questions find a true `effect`, by t."""
    n = each.of(enough(each.here if questions is None else questions))
    return power_of(effect, _scaled(each, n), n - 1, each.level) if n >= MIN_CLUSTERS else math.nan


def _scaled(each: Precision, clusters: int) -> float:
    """The standard error with so many clusters: what differs by question averages out, nothing else is to change."""
    return each.se * math.sqrt(each.clusters / clusters)


def curve(each: Iterable[Precision], questions: Sequence[int], power: float = POWER) -> pd.DataFrame:
    """The smallest detectable effect against the number of questions: one row a number and number of questions.

    Columns: CURVE; `here` is the number of questions that its standard error is from.
    """
    rows = [(*_told(one), n, smallest_detectable(one, n, power), one.here, one.data) for one in each for n in questions]
    return pd.DataFrame(rows, columns=list(CURVE))


def _told(one: Precision) -> tuple[str, ...]:
    return one.id, one.place, one.kind, one.unit, one.words, one.cluster


def enough(questions: int) -> int:
    """The number of questions, or a ValueError where it is too small for any interval or test."""
    if questions < MIN_CLUSTERS:
        raise ValueError(f"{questions} questions: {MIN_CLUSTERS} are the least that carry an interval or a test")
    return int(questions)


LEVEL = 0.05
#: Keys of `where` that tell a sensitivity or a part, not the headline.
PARTS = {"variant", "category", "style", "weight"}


def of_run(estimates: Sequence[Estimate], name: str) -> list[Precision]:
    """As `precisions`, of a run that may be too small for any interval: then there are none."""
    try:
        return precisions(estimates, name)
    except NoStandardError:
        return []


class NoStandardError(ValueError):
    """No number of a run has a standard error that could be planned with."""


def precisions(
    estimates: Sequence[Estimate], name: str, ids: Sequence[str] = (), asked: int = 0, draws: int = 0
) -> list[Precision]:
    """How sure each headline number of experiment `name` is, the confirmatory ones first.

    `ids` keeps some of the headline numbers; one that is none of them is a ValueError. Published numbers, sensitivities
    and numbers of single categories are left out, and so are those without a standard error: if none is left, the
    ValueError says why. `asked`: how many questions were (0: as many as any of the estimates is from); `draws`: how
    many simulated runs the estimates are of (see `simulated`), 0: a single one.
    """
    bias = load_config(name).bias
    numbers, module = load_numbers(bias), load_bias(bias)
    headline, declared = numbers.headline, numbers.estimands
    if unknown := [id for id in ids if id not in headline]:
        raise ValueError(f"{', '.join(unknown)}: no headline number of {name}; there are: {', '.join(headline)}")
    own = [each for each in estimates if each.data != "published"]
    families = module.confirmatory(own)
    asked = asked or max((each.clusters for each in own), default=0)
    found, why = [], []
    for each in own:
        if each.id not in (ids or headline) or PARTS & set(each.where) or each.where.get("filter", "all") != "all":
            continue
        if each.clusters < MIN_CLUSTERS:
            why.append(f"{each.id}: {each.clusters} questions, {MIN_CLUSTERS} are the least")
        elif not math.isfinite(se := standard_error(each)):
            why.append(f"{each.id}: {each.method}")
        else:
            tests = next((tests for family, tests in families if each in family), None)
            error = se / math.sqrt(2 * (draws - 1)) if draws > 1 else 0.0
            one = _precision(each, se, tests, module.rarer_side(each, own))
            cluster = declared[each.id].cluster
            found.append(replace(one, asked=asked, error=error, data=each.data, cluster=cluster))
    if not found:
        # One reason a number: of many judges most have the same.
        reasons = {told.split(": ")[0]: told for told in reversed(why)}
        told = "; ".join(reversed(reasons.values())) or "none of its headline numbers is there"
        raise NoStandardError(f"{name}: no standard error to plan with ({told})")
    return sorted(found, key=lambda one: not one.confirmatory)


def _precision(each: Estimate, se: float, tests: int | None, rarer: float) -> Precision:
    """`tests`: of its family, None where it belongs to none; `rarer`: as `biases.position.rarer_side` says it."""
    level, words = LEVEL / max(1, tests or 1), "exploratory, uncorrected"
    if tests is not None:
        words = f"Holm's first step of {tests}" if tests > 1 else "one planned test"
    if "one-sided p" in each.method:
        level, words = 2 * level, f"{words}, one-sided"
    kind = "equivalence" if each.id.endswith("_90") else "mcnemar" if math.isfinite(rarer) else "t"
    known = (each.id, dict(each.where), each.unit, se, each.clusters, level)
    return Precision(*known, kind, words, tests is not None, share=rarer)


def standard_error(each: Estimate) -> float:
    """The standard error of an estimate: its own, else back from its t interval; NaN where that is not to be had.

    A stored interval is cut at 0 and 1 and keeps six digits. One that does not lie evenly around its number is no t
    interval (Wilson, BCa): of a share of independent questions the binomial error is taken, of others none.
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


def read_pilot(path: Path, name: str) -> list[Estimate]:
    """The estimates of a numbers.json of experiment `name`; they have intervals, but no standard errors.

    A file that is no numbers.json, and one of another experiment, are a ValueError that names the file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        of, numbers = content["provenance"]["experiment"], content["numbers"]
        found = [_estimate(each) for each in numbers]
    except (ValueError, KeyError, TypeError) as error:
        told = f"{type(error).__name__}: {error}"
        raise ValueError(f"{path} is no numbers.json as a run exports it ({told})") from None
    if of != name:
        raise ValueError(f"{path} holds the numbers of {of}, not of {name}")
    return found


def _estimate(each: dict) -> Estimate:
    value, low, high = (math.nan if each[key] is None else float(each[key]) for key in ("value", "low", "high"))
    rest = {key: each[key] for key in ("n", "clusters", "unit", "method", "data")}
    return Estimate(each["id"], each["where"], value, low, high, **rest)


#: The simulated runs of each bias: a part of the repository that no wheel has.
DESIGNS = "studies.calibration.designs"
SHARE_GIVEN = 0.8
#: What can be measured in one run: the numbers that a measure gives, and the measure.
Measures = Mapping[tuple[str, ...], Callable[[], list[Estimate]]]
#: Of questions, judges, repeats and chance: one run.
Draw = Callable[[int, int, int, np.random.Generator], Measures]


def simulated(
    name: str,
    questions: int,
    judges: int | None = None,
    repeats: int | None = None,
    draws: int = 200,
    seed: int = 20,
    ids: Sequence[str] = (),
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> list[Estimate]:
    """Each number of experiment `name` over `draws` simulated runs: `value` is its mean, `se` its standard deviation.

    `judges` None: as many as the world has by default; more than it can have, and fewer than 10 questions, are a
    ValueError. `repeats` None: as in config.yaml. The Monte-Carlo error of `se` is se / sqrt(2 (draws - 1)). A number
    that fewer than 80 % of the runs give with an interval has none.
    `ids`: measure only what gives these numbers. `progress` wraps the turns, as tqdm does.
    """
    config = load_config(name)
    draw, usual, most = _world(name)
    count, times = judges or usual, repeats or config.repeats
    if not 1 <= count <= most:
        raise ValueError(f"{count} judges: the simulated world of {name} has 1 to {most}; a pilot may have any number")
    found: dict[tuple[str, tuple], list[Estimate]] = {}
    for turn in progress(range(draws)):
        for given, measure in draw(enough(questions), count, times, np.random.default_rng([seed, turn])).items():
            for each in measure() if not ids or set(given) & set(ids) else ():
                found.setdefault((each.id, tuple(each.where.items())), []).append(each)
    return [_spread(each, draws) for each in found.values()]


def most_judges(name: str) -> int:
    """How many judges the simulated world of an experiment can have."""
    return _world(name)[2]


def _world(name: str) -> tuple[Draw, int, int]:
    try:
        worlds = importlib.import_module(DESIGNS).WORLDS
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "studies":
            raise
        raise ValueError(
            "no simulated worlds here: studies/calibration is part of the repository alone; work in a clone that is "
            "installed with `pip install -e .`, or use a pilot"
        ) from None
    bias = load_config(name).bias
    if bias not in worlds:
        raise ValueError(f"no simulated world for {name}; use a pilot (there are worlds for {', '.join(worlds)})")
    return worlds[bias]


def _spread(each: Sequence[Estimate], draws: int) -> Estimate:
    """One number over many runs."""
    given = [one for one in each if math.isfinite(one.low)]
    if len(given) < max(3, SHARE_GIVEN * draws):
        why = f"given in {len(given)} of {draws} simulated runs"
        return replace(each[0], value=math.nan, low=math.nan, high=math.nan, se=math.nan, p=math.nan, method=why)
    values = np.array([one.value for one in given])
    mean, sd = float(values.mean()), float(values.std(ddof=1))
    n, clusters = (round(float(np.mean([getattr(one, key) for one in given]))) for key in ("n", "clusters"))
    reach = sd * float(stdtrit(clusters - 1, 0.975))
    told = f"{given[0].method}; over {draws} simulated runs"
    found = replace(given[0], value=mean, low=mean - reach, high=mean + reach, se=sd, method=told)
    return replace(found, n=n, clusters=clusters)
