"""Which numbers are declared: every numbers.yaml of experiments/, so that a new one needs no line here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from helpers.audit import estimands as audit
from helpers.config import experiment_names, load_config
from helpers.config.numbers import UNITS, load_numbers, number_files
from helpers.run.notebooks import available, experiment_of
from helpers.types import Estimand

__all__ = ["UNITS", "Section", "sections"]

#: Whose numbers verdicts of one's own have.
OWN = "analyze"


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

    Of each module those stand first that conclusions rest on. The numbers of an audit and of verdicts of one's own come
    last.
    """
    order = [experiment_of(notebook) for notebook in available().values()]
    names = sorted(experiment_names(), key=lambda name: (name not in order, order.index(name) if name in order else 0))
    measuring: dict[str, list[str]] = {}
    for name in names:
        measuring.setdefault(load_config(name).bias, []).append(name)
    declared = sorted(number_files())
    modules = [each for each in dict.fromkeys([*measuring, *declared]) if each in declared and each != OWN]
    found = [_section(each, measuring.get(each, [])) for each in modules]
    audited = Section("audit", "One judge and a battery (`recuse audit`).", (), audit.ESTIMANDS, audit.HEADLINE)
    return (*found, audited, _section(OWN, []))


def _section(module: str, experiments: list[str]) -> Section:
    numbers = load_numbers(module)
    title = load_config(experiments[0]).title if experiments else numbers.title or module
    return Section(module, title, tuple(experiments), numbers.estimands, numbers.headline)
