"""The likelihood of rankings (Plackett-Luce) with its derivatives, and the Newton climb to its maximum."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from helpers.stats.identify import dull_judges, explain, flat_names, runaways
from helpers.stats.rank_design import FAR, Chunk, Design, chunks_of, design_of, utilities

MOST_STEPS = 60


@dataclass(frozen=True)
class Pieces:
    """The log likelihood at a point, its score by cluster, its information, and that of the linearised model."""

    loglik: float
    scores: np.ndarray  # (C, P)
    observed: np.ndarray  # (P, P)
    linearised: np.ndarray  # (P, P), never negative

    @property
    def gradient(self) -> np.ndarray:
        """(P,) the score of all clusters."""
        return self.scores.sum(axis=0)


def pieces_at(design: Design, chunks: Callable[[], Iterator[Chunk]], free: np.ndarray) -> Pieces:
    """The Plackett-Luce likelihood of the first `depth` places of every ranking, with analytic derivatives."""
    size = len(free)
    loglik, linearised, bend = 0.0, np.zeros((size, size)), np.zeros((size, size))
    scores = np.zeros((design.panel.clusters, size))
    for chunk in chunks():
        utility, slope = utilities(design, chunk, free)
        places = np.arange(utility.shape[1])
        # Stage r chooses place r among places r, r + 1, ...; a stage with one candidate left says nothing.
        stages = min(design.depth, len(places) - 1)
        counted = places[:stages] < chunk.shown.sum(axis=1)[:, None] - 1
        among = np.logaddexp.accumulate(utility[:, ::-1], axis=1)[:, ::-1][:, :stages]
        loglik += float((utility[:, :stages] - among)[counted].sum())
        open_places = counted[:, :, None] & (places >= places[:stages, None])
        share = np.exp(np.where(open_places, utility[:, None, :] - among[:, :, None], FAR))
        weight = share.sum(axis=1)
        pull = -weight
        pull[:, :stages] += counted
        expected = (share @ slope).reshape(-1, size)
        flat = slope.reshape(-1, size)
        linearised += flat.T @ (flat * weight.reshape(-1, 1)) - expected.T @ expected
        bend += _bend(design, chunk, free, pull)
        np.add.at(scores, chunk.cluster, (pull[:, None, :] @ slope)[:, 0])
    return Pieces(loglik, scores, linearised - bend, linearised)


def blocks_at(design: Design, free: np.ndarray) -> np.ndarray:
    """(C, P, P) the information of each cluster in the linearised model; their sum is `Pieces.linearised`."""
    size = len(free)
    found = np.zeros((design.panel.clusters, size, size))
    for chunk in chunks_of(design)():
        utility, slope = utilities(design, chunk, free)
        places = chunk.shown.sum(axis=1)
        rows = []
        for stage in range(min(design.depth, utility.shape[1] - 1)):
            left = utility[:, stage:] - np.logaddexp.reduce(utility[:, stage:], axis=1)[:, None]
            share = np.exp(left) * (places > stage + 1)[:, None]
            centred = slope[:, stage:] - np.einsum("nk,nkp->np", share, slope[:, stage:])[:, None]
            rows.append(np.sqrt(share)[:, :, None] * centred)
        weighted = np.concatenate(rows, axis=1)
        order = np.argsort(chunk.cluster, kind="stable")
        clusters, starts = np.unique(chunk.cluster[order], return_index=True)
        for cluster, part in zip(clusters, np.split(order, starts[1:]), strict=True):
            flat = weighted[part].reshape(-1, size)
            found[cluster] += flat.T @ flat
    return found


def _bend(design: Design, chunk: Chunk, free: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """What the product of scale and quality adds to the second derivatives."""
    quality, scale, _ = design.blocks
    judges, cells = len(design.scale), len(design.quality)
    sharpness = design.sharpness(free)
    key = (chunk.judge[:, None] * cells + chunk.cell).ravel()
    moved = np.bincount(key, weights=pull.ravel(), minlength=judges * cells).reshape(judges, cells) * sharpness[:, None]
    added = np.zeros((len(free), len(free)))
    added[scale, quality] = design.scale.T @ moved @ design.quality
    added[quality, scale] = added[scale, quality].T
    worth = moved @ (design.quality @ free[quality])
    added[scale, scale] = design.scale.T @ (worth[:, None] * design.scale)
    return added


@dataclass(frozen=True)
class Fit:
    """Where the climb ended; `problem` is empty where it ended at a maximum."""

    free: np.ndarray
    pieces: Pieces
    problem: str
    steps: int = 0


def climb(design: Design) -> tuple[Design, Fit]:
    """The maximum of the likelihood, or why there is none that can be used, with the design that it is of.

    A judge whose scale falls without end is held at scale 0, the boundary of what a scale can be, and the climb begins
    anew: in the design that is returned the judge is `dull`.
    """
    fit = _climb(design)
    dull = dull_judges(design, fit.free) if fit.problem and design.scale.shape[1] else ()
    if not dull:
        return design, fit
    panel, position = design.panel, bool(len(design.slots))
    held = design_of(panel, design.depth, design.by_category, position, False, (*design.dull, *dull))
    last, there = climb(held)
    return last, replace(there, steps=there.steps + fit.steps)


def _climb(design: Design) -> Fit:
    """First with all scales 1 (a concave problem, whose rank shows what the design cannot tell apart), then whole."""
    chunks = chunks_of(design)
    _, scale, _ = design.blocks
    linear = np.ones(design.expand.shape[1], dtype=bool)
    linear[scale] = False
    free = np.zeros(len(linear))
    start = pieces_at(design, chunks, free)
    flat = flat_names(design, start.linearised, linear)
    if flat:
        return Fit(free, start, explain(design, flat))
    first = _newton(design, chunks, Fit(free, start, ""), linear, tolerance=1e-2)
    if first.problem or linear.all():
        return first if first.problem else _newton(design, chunks, first, linear, tolerance=1e-12)
    every = np.ones(len(linear), dtype=bool)
    flat = flat_names(design, first.pieces.linearised, every)
    if flat:
        return replace(first, problem=explain(design, flat))
    last = _newton(design, chunks, first, every, tolerance=1e-12)
    flat = "" if last.problem else flat_names(design, last.pieces.observed, every)
    return replace(last, problem=explain(design, flat)) if flat else last


def _newton(design: Design, chunks: Callable, fit: Fit, active: np.ndarray, tolerance: float) -> Fit:
    free, here = fit.free, fit.pieces
    for step_number in range(MOST_STEPS):
        gradient = here.gradient[active]
        step = _step(here, gradient, active)
        gain = float(gradient @ step)
        if gain < tolerance:
            return Fit(free, here, "", fit.steps + step_number)
        share = min(1.0, 2.0 / np.abs(step).max())
        while True:
            there = free.copy()
            there[active] += share * step
            pieces = pieces_at(design, chunks, there)
            # Close to the top the gain drowns in rounding; the full step is then right.
            if pieces.loglik >= here.loglik + 1e-4 * share * gain or gain < 1e-6:
                break
            share /= 2
            if share < 1e-6:
                return Fit(
                    free, here, "did not converge: no step makes the rankings more likely", fit.steps + step_number
                )
        free, here = there, pieces
        gone = runaways(design, free)
        if gone:
            return Fit(free, here, f"no finite estimate: {', '.join(gone)}", fit.steps + step_number + 1)
    return Fit(free, here, f"did not converge in {MOST_STEPS} steps", fit.steps + MOST_STEPS)


def _step(here: Pieces, gradient: np.ndarray, active: np.ndarray) -> np.ndarray:
    box = np.ix_(active, active)
    for information in (here.observed[box], here.linearised[box]):
        try:
            np.linalg.cholesky(information)
            return np.linalg.solve(information, gradient)
        except np.linalg.LinAlgError:
            continue
    information = here.linearised[box]
    return np.linalg.solve(information + np.eye(len(gradient)) * (1e-6 * np.trace(information) + 1e-9), gradient)
