"""Which numbers are declared: found in the bias modules themselves, so that a new one needs no line here."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from helpers import biases
from helpers.analyze import estimands as analyze
from helpers.audit import estimands as audit
from helpers.config import experiment_names, load_config
from helpers.run.notebooks import available, experiment_of
from helpers.types import Estimand

#: What each unit of an estimand means to a reader.
UNITS = {
    "rate": "a share from 0 to 1, shown in %",
    "pp": "a difference of shares, shown in percentage points (pp)",
    "sd_pp": "a spread of shares, shown in percentage points (pp)",
    "logit": "log-odds; 0 is no effect",
    "log": "natural logarithm",
    "alpha": "Krippendorff's alpha; 0 is chance, 1 is full agreement",
    "score": "a score on its own scale",
    "count": "a count",
}


@dataclass(frozen=True)
class Section:
    """The numbers of one bias module; the first `headline` of `estimands` are those that conclusions rest on.

    `experiments` are those that measure them (none of a module without any), `title` is their question.
    """

    module: str
    title: str
    experiments: tuple[str, ...]
    estimands: Mapping[str, Estimand]
    headline: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the section is called: its experiments, or the module where it has none."""
        return ", ".join(self.experiments) or self.module


@cache
def sections() -> tuple[Section, ...]:
    """All declared numbers by bias module: experiments in the order of their notebooks, then modules without one.

    A module's ESTIMANDS are put in the order of its HEADLINE, then in their own. One without ESTIMANDS has no section.
    The numbers of an audit and of verdicts of one's own come last.
    """
    order = [experiment_of(notebook) for notebook in available().values()]
    names = sorted(experiment_names(), key=lambda name: (name not in order, order.index(name) if name in order else 0))
    measuring: dict[str, list[str]] = {}
    for name in names:
        measuring.setdefault(load_config(name).bias, []).append(name)
    modules = [*measuring, *sorted(each.name for each in pkgutil.iter_modules(biases.__path__))]
    found = [_section(name, measuring.get(name, [])) for name in dict.fromkeys(modules)]
    # What no experiment measures is declared where it is measured.
    audited = Section("audit", "One judge and a battery (`recuse audit`).", (), audit.ESTIMANDS, audit.HEADLINE)
    own = Section("analyze", "Verdicts of your own (`recuse analyze`).", (), analyze.ESTIMANDS, ())
    return tuple(each for each in (*found, audited, own) if each is not None)


def _section(name: str, experiments: list[str]) -> Section | None:
    module = importlib.import_module(f"{biases.__name__}.{name}")
    declared: Mapping[str, Estimand] = getattr(module, "ESTIMANDS", {})
    if not declared:
        return None
    headline = tuple(getattr(module, "HEADLINE", ()))
    title = load_config(experiments[0]).title if experiments else (module.__doc__ or name).strip().splitlines()[0]
    ordered = {id: declared[id] for id in (*headline, *(id for id in declared if id not in headline))}
    return Section(name, title, tuple(experiments), ordered, headline)
