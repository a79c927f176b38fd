"""Figures of the right width: what was drawn in another style is drawn again, by its own notebook on stored replies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from helpers.config import collection_names, experiment_names
from helpers.paper.folders import Picture, Results, load
from helpers.paper.pages import Page
from helpers.run import executed
from helpers.run.notebooks import available, collects, experiment_of, run_all
from helpers.types import Estimate

REPORT = "report.ipynb"
#: Numbers are written with six digits; another machine may differ in the last of them.
SAME = 1e-4


def drawn_for(results: Results, page: Page) -> bool:
    """Whether all figures of these results are drawn in that style, and their files are there."""
    return results.pictures is not None and all(fits(each, page) for each in results.pictures)


def fits(picture: Picture, page: Page) -> bool:
    """Whether a figure is drawn in that style, is no wider than the page, and its file is there."""
    return picture.style == page.name and picture.width <= page.text + 0.01 and picture.pdf.is_file()


def redrawable(results: Results) -> bool:
    """Whether a notebook of this repository makes such results."""
    return results.experiment in {*experiment_names(), *collection_names()}


def redrawn(results: Results, page: Page, workshop: Path) -> Results:
    """The same results with figures in that style, made in `workshop` by running their notebook again.

    Nobody but simulated judges is asked: replies of others come from the store. What comes out must be the numbers that
    were there, else ValueError; so it is where the notebook does not run through.
    """
    notebook = next(each for each in available().values() if experiment_of(each) == results.experiment)
    out = workshop / results.label
    given = {**parameters(results), "figure_style": page.name, "out": str(out)}
    if not collects(notebook):
        given["budget_usd"] = 0.0
        if results.provenance.get("data") == "asked":
            given["judgments"] = "stored"
    remedy = f"run {notebook.stem} yourself with -p figure_style {page.name}, and name its folder with --results"
    try:
        (done,) = run_all([notebook], given, 1)
    except ValueError as error:
        raise ValueError(f"{results.folder}: its figures cannot be drawn again ({error}); {remedy}") from None
    if done.error:
        raise ValueError(f"{results.folder}: its figures cannot be drawn again: {done.error}; {remedy}")
    fresh = load(out, results.label)
    if told := differences(results.estimates, fresh.estimates):
        raise ValueError(
            f"{results.folder}: running {notebook.stem} again gives other numbers ({told}): code, versions or replies "
            f"have changed since; {remedy}"
        )
    return replace(fresh, folder=results.folder, provenance=results.provenance, run=results.run or fresh.run)


def parameters(results: Results) -> dict[str, Any]:
    """The parameters of a run: as its own report holds them, else as its numbers tell them.

    These name files without their folders, because a result says nothing of the machine that made it.
    """
    report = results.folder / REPORT
    if report.is_file():
        return executed.parameters(executed.load(report), (executed.INJECTED,))
    return dict(results.provenance["parameters"])


def differences(before: Sequence[Estimate], after: Sequence[Estimate]) -> str:
    """Where two runs differ in what they found, in a few words; "" where they do not."""
    known, fresh = _by_place(before), _by_place(after)
    if known.keys() != fresh.keys():
        return f"{len(known.keys() ^ fresh.keys())} are in one of them only"
    other = [at for at, one in known.items() if not _same(one, fresh[at])]
    if not other:
        return ""
    first = known[other[0]]
    place = ", ".join(f"{key} {value}" for key, value in first.where.items())
    return f"{len(other)} of {len(known)}, the first: {first.id} ({place}) was {first}, is {fresh[other[0]]}"


def _by_place(estimates: Sequence[Estimate]) -> dict[tuple[object, ...], Estimate]:
    return {(each.id, each.data, *sorted(each.where.items())): each for each in estimates}


def _same(one: Estimate, other: Estimate) -> bool:
    pairs = ((one.value, other.value), (one.low, other.low), (one.high, other.high))
    return one.n == other.n and all(
        math.isnan(a) == math.isnan(b) and (math.isnan(a) or math.isclose(a, b, rel_tol=SAME, abs_tol=SAME / 100))
        for a, b in pairs
    )
