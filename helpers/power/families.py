"""Which numbers of an experiment have a test, at which level, and how sure an estimate of them is."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from scipy.special import stdtrit

from helpers.config import load_config
from helpers.config.numbers import load_numbers
from helpers.power.precision import Precision
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Estimate

LEVEL = 0.05
#: Keys of `where` that tell a sensitivity or a part, not the headline.
PARTS = {"variant", "category", "style", "weight"}


def module_of(name: str) -> ModuleType:
    """The bias module of an experiment; an unknown name is a ConfigError that lists the known ones."""
    return importlib.import_module(f"helpers.biases.{load_config(name).bias}")


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
    module = module_of(name)
    numbers = load_numbers(load_config(name).bias)
    headline, declared = numbers.headline, numbers.estimands
    if unknown := [id for id in ids if id not in headline]:
        raise ValueError(f"{', '.join(unknown)}: no headline number of {name}; there are: {', '.join(headline)}")
    own = [each for each in estimates if each.data != "published"]
    families = module.confirmatory(own) if hasattr(module, "confirmatory") else []
    rarer = getattr(module, "rarer_side", lambda each, estimates: math.nan)
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
            one = _precision(each, se, tests, rarer(each, own))
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
