"""The parameters of U_jk = b_j * quality_k + own_vendor + own_model + position, and the utilities they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.stats.panel import Panel

#: Numbers in the largest array of a chunk; bounds the memory of a large fit (about 20,000 judgments of six answers).
CHUNK = 3_000_000
FAR = -1e30


@dataclass(frozen=True)
class Design:
    """Which parameters there are: `full = expand @ free`, with sums to zero built in; names are those of `full`.

    Free parameters come in blocks: quality, log scale, then those that enter the utility linearly.
    """

    panel: Panel
    names: tuple[str, ...]
    expand: np.ndarray
    quality: np.ndarray  # (cells, free quality)
    scale: np.ndarray  # (J, free log scale)
    slots: np.ndarray  # (S, free slots)
    by_category: bool
    own_model: bool
    depth: int
    dull: tuple[str, ...] = ()  # judges whose scale is held at 0

    def sharpness(self, free: np.ndarray) -> np.ndarray:
        """(J,) the scale of each judge."""
        return np.exp(self.scale @ free[self.blocks[1]]) * np.array(
            [judge not in self.dull for judge in self.panel.judges]
        )

    @property
    def blocks(self) -> tuple[slice, slice, slice]:
        """Where quality, log scale and the linear rest lie among the free parameters."""
        a, b = self.quality.shape[1], self.quality.shape[1] + self.scale.shape[1]
        return slice(0, a), slice(a, b), slice(b, self.expand.shape[1])


@dataclass(frozen=True)
class Chunk:
    """Some judgments, ready for the likelihood: cells index quality rows, `fixed` are the linear columns."""

    cell: np.ndarray  # (n, K)
    judge: np.ndarray  # (n,)
    cluster: np.ndarray  # (n,)
    shown: np.ndarray  # (n, K) bool
    fixed: np.ndarray  # (n, K, linear)
    rows: np.ndarray  # (n,) places in the panel


def design_of(
    panel: Panel, depth: int | None, by_category: bool, position: bool, one_scale: bool, dull: Sequence[str] = ()
) -> Design:
    """The parameters of this panel; own_model only where some vendor has answers of both kinds.

    Judges that are `dull` have scale 0 and no parameter of it; the other scales have the geometric mean 1.
    """
    width = panel.candidate.shape[1]
    groups = len(panel.categories) if by_category else 1
    slots = int(panel.slot.max()) + 1 if position else 0
    vendors = panel.vendors
    own_model = any(_mixed(panel.own_model[panel.own_vendor & panel.of_vendor(v)[:, None]]) for v in vendors)
    quality = np.kron(np.eye(groups), sum_to_zero(len(panel.candidates)))
    sharp = [place for place, judge in enumerate(panel.judges) if judge not in dull]
    scale = np.zeros((len(panel.judges), 0 if one_scale else max(len(sharp) - 1, 0)))
    scale[sharp] = sum_to_zero(len(sharp))[:, : scale.shape[1]]
    slot = sum_to_zero(slots)
    parts = [quality, scale[sharp], np.eye(len(vendors) + own_model), slot, np.eye(len(panel.covariate_names))]
    expand = np.zeros((sum(len(part) for part in parts), sum(part.shape[1] for part in parts)))
    row = column = 0
    for part in parts:
        expand[row : row + part.shape[0], column : column + part.shape[1]] = part
        row, column = row + part.shape[0], column + part.shape[1]
    cells = [f"{c}, {g}" for g in panel.categories for c in panel.candidates] if by_category else panel.candidates
    names = (
        *(f"quality[{cell}]" for cell in cells),
        *(f"log_scale[{panel.judges[place]}]" for place in sharp),
        *(f"own_vendor[{vendor}]" for vendor in vendors),
        *(("own_model",) if own_model else ()),
        *(f"slot[{s}]" for s in range(slots)),
        *panel.covariate_names,
    )
    stages = min(depth or width, width - 1)
    return Design(panel, names, expand, quality, scale, slot, by_category, own_model, stages, tuple(dull))


def _mixed(flags: np.ndarray) -> bool:
    return bool(flags.any() and not flags.all())


def sum_to_zero(size: int) -> np.ndarray:
    """(size, size - 1): the last effect is minus the sum of the others."""
    return np.vstack([np.eye(max(size - 1, 0)), -np.ones((min(size, 1), max(size - 1, 0)))])


def chunks_of(design: Design) -> Callable[[], Iterator[Chunk]]:
    """The judgments in chunks, made anew for each pass unless they fit into one."""
    size, width = design.panel.candidate.shape
    most = max(1, CHUNK // (width * (width + design.expand.shape[1])))
    if size <= most:
        only = _chunk(design, np.arange(size))
        return lambda: iter((only,))
    return lambda: (_chunk(design, np.arange(start, min(start + most, size))) for start in range(0, size, most))


def _chunk(design: Design, rows: np.ndarray) -> Chunk:
    panel = design.panel
    candidate, judge = panel.candidate[rows], panel.judge[rows]
    shown = candidate >= 0
    vendor = np.array(panel.judge_vendors)[judge][:, None, None] == np.array(panel.vendors, dtype=str)
    columns = [panel.own_vendor[rows][:, :, None] & vendor]
    if design.own_model:
        columns.append(panel.own_model[rows][:, :, None])
    if len(design.slots):
        columns.append(design.slots[panel.slot[rows]])
    columns.append(panel.covariates[rows])
    fixed = np.concatenate([column.astype(float) for column in columns], axis=2) * shown[:, :, None]
    cell = np.where(shown, candidate, 0)
    if design.by_category:
        cell = cell + panel.category[rows][:, None] * len(panel.candidates)
    return Chunk(cell, judge, panel.cluster[rows], shown, fixed, rows)


def utilities(design: Design, chunk: Chunk, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, K) utilities, very low where nothing was shown, and their (n, K, P) derivatives."""
    quality, scale, linear = design.blocks
    sharpness = design.sharpness(free)[chunk.judge]
    worth = sharpness[:, None] * (design.quality @ free[quality])[chunk.cell]
    slope = np.empty((*chunk.cell.shape, len(free)))
    slope[:, :, quality] = sharpness[:, None, None] * design.quality[chunk.cell]
    slope[:, :, scale] = worth[:, :, None] * design.scale[chunk.judge][:, None, :]
    slope[:, :, linear] = chunk.fixed
    return np.where(chunk.shown, worth + chunk.fixed @ free[linear], FAR), slope
