"""The rank-ordered logit (Plackett-Luce): its data, parameters, likelihood, and what it cannot identify."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from .intervals import clusters_of

NEEDED = ("question_id", "category", "judge", "judge_vendor", "candidate", "slot", "rank", "own_vendor", "own_model")
#: The columns that tell judgments apart; those that the frame has.
JUDGMENT = ("experiment", "question_id", "judge", "condition", "repeat")


@dataclass(frozen=True)
class Panel:
    """The valid rankings: one row a judgment, candidates in ranked order (best first); N judgments, K candidates.

    Whole numbers index the name tuples. Where fewer than K candidates were ranked, `candidate` and `slot` end in -1.
    """

    candidate: np.ndarray  # (N, K)
    slot: np.ndarray  # (N, K), 0 = shown first
    own_vendor: np.ndarray  # (N, K) bool
    own_model: np.ndarray  # (N, K) bool
    judge: np.ndarray  # (N,)
    cluster: np.ndarray  # (N,)
    category: np.ndarray  # (N,)
    covariates: np.ndarray  # (N, K, m)
    candidates: tuple[str, ...]
    judges: tuple[str, ...]
    judge_vendors: tuple[str, ...]  # of each judge
    categories: tuple[str, ...]
    covariate_names: tuple[str, ...] = ()
    clusters: int = 0  # questions with a valid ranking
    unused: int = 0  # judgments without a valid ranking

    @cached_property
    def vendors(self) -> tuple[str, ...]:
        """The vendors of which some judge saw an own-vendor answer, sorted."""
        judges = np.unique(self.judge[self.own_vendor.any(axis=1)])
        return tuple(sorted({self.judge_vendors[judge] for judge in judges}))

    def of_vendor(self, vendor: str) -> np.ndarray:
        """(N,) True where the judge is of this vendor."""
        return np.array([name == vendor for name in self.judge_vendors], dtype=bool)[self.judge]


def panel_of(frame: pd.DataFrame, covariates: Sequence[str] = ()) -> Panel:
    """The valid rankings of a listwise frame.

    A judgment all of whose ranks are NaN has no valid ranking: it is left out and counted in `unused`. One ranked in
    part, with a rank twice or with a gap is an error, as are a missing column and a covariate that is NaN where ranked.
    """
    lacking = [name for name in (*NEEDED, *covariates) if name not in frame.columns]
    if lacking:
        raise ValueError(f"the listwise frame lacks {', '.join(lacking)}; it has {', '.join(map(str, frame.columns))}")
    keys = [name for name in JUDGMENT if name in frame.columns]
    number = frame.groupby(keys, sort=True, dropna=False).ngroup().to_numpy()
    rank = frame["rank"].to_numpy(dtype=float, na_value=np.nan)
    ranked = ~np.isnan(rank)
    total = int(number.max()) + 1 if len(number) else 0
    found = np.bincount(number[ranked], minlength=total)
    order = np.lexsort((rank, number))
    order = order[ranked[order]]
    rows, judgment = frame.iloc[order], number[order]
    starts = np.cumsum(found) - found
    place = np.arange(len(order)) - starts[judgment]
    wrong = rank[order] != place + 1
    wrong |= (np.bincount(number, minlength=total) != found)[judgment]
    if wrong.any():
        first = rows[wrong].iloc[0]
        where = ", ".join(f"{name} {first[name]}" for name in keys)
        ranks = [float(value) for value in rank[number == judgment[wrong][0]]]
        raise ValueError(f"{where}: ranks {ranks}; need 1, 2, 3 ... once each, or NaN for all")
    row = np.cumsum(found > 0)[judgment] - 1
    width = int(found.max()) if total else 0
    heads = rows[place == 0]
    candidate, candidates = pd.factorize(rows["candidate"], sort=True)
    judge, judges = pd.factorize(heads["judge"], sort=True)
    cluster, clusters = pd.factorize(clusters_of(heads), sort=True)
    category, categories = pd.factorize(heads["category"].astype(object).fillna("unknown").astype(str), sort=True)

    def spread(values: np.ndarray, empty: float | bool) -> np.ndarray:
        table = np.full((len(heads), width, *values.shape[1:]), empty, dtype=values.dtype)
        table[row, place] = values
        return table

    columns = rows[list(covariates)].to_numpy(dtype=float, na_value=np.nan)
    if np.isnan(columns).any():
        bad = covariates[int(np.isnan(columns).any(axis=0).argmax())]
        raise ValueError(f"covariate {bad!r} is NaN for {int(np.isnan(columns).any(axis=1).sum())} ranked rows")
    return Panel(
        candidate=spread(candidate, -1),
        slot=spread(rows["slot"].to_numpy(dtype=int), -1),
        own_vendor=spread(rows["own_vendor"].to_numpy(dtype=bool), False),
        own_model=spread(rows["own_model"].to_numpy(dtype=bool), False),
        judge=judge,
        cluster=cluster,
        category=category,
        covariates=spread(columns, 0.0),
        candidates=tuple(map(str, candidates)),
        judges=tuple(map(str, judges)),
        judge_vendors=_vendors(rows, judges),
        categories=tuple(map(str, categories)),
        covariate_names=tuple(covariates),
        clusters=len(clusters),
        unused=int((found == 0).sum()),
    )


def _vendors(rows: pd.DataFrame, judges: Sequence[str]) -> tuple[str, ...]:
    pairs = rows[["judge", "judge_vendor"]].drop_duplicates()
    if len(pairs) != len(judges):
        twice = pairs["judge"][pairs["judge"].duplicated()].iloc[0]
        found = ", ".join(sorted(map(str, pairs.loc[pairs["judge"] == twice, "judge_vendor"])))
        raise ValueError(f"judge {twice!r} has several values of judge_vendor: {found}; need one")
    return tuple(str(vendor) for vendor in pairs.set_index("judge")["judge_vendor"].loc[list(judges)])


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
    own_models = [panel.own_model[panel.own_vendor & panel.of_vendor(vendor)[:, None]] for vendor in vendors]
    own_model = any(len(np.unique(flags)) == 2 for flags in own_models)
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


#: A utility or a log scale beyond these means that the data never contradict it: it runs off.
MOST_UTILITY = 15.0
MOST_LOG_SCALE = 5.0
FLAT = 1e-9
#: A judge of a smaller share of the others' sharpness is held at 0 where there is no maximum with it.
DULL = 0.1


def flat_names(design: Design, information: np.ndarray, active: np.ndarray) -> tuple[str, ...]:
    """The parameters that can move together without changing any probability; empty where there are none.

    `information` is (P, P) over free parameters, of which only the `active` may move.
    """
    box = information[np.ix_(active, active)]
    size = np.sqrt(np.clip(np.diag(box), 0.0, None))
    # A parameter without any information is flat by itself; a scale of 1 keeps its eigenvalue 0.
    size = np.where(size > 1e-12 * max(1.0, size.max(initial=0.0)), size, 1.0)
    values, vectors = np.linalg.eigh(box / np.outer(size, size))
    names: set[str] = set()
    for vector in vectors.T[values < FLAT]:
        move = np.zeros(len(active))
        move[active] = vector / size
        full = np.abs(design.expand @ move)
        names.update(name for name, much in zip(design.names, full, strict=True) if much > 0.05 * full.max())
    return tuple(name for name in design.names if name in names)


def explain(design: Design, names: Sequence[str]) -> str:
    """Why these parameters are not estimated, as a sentence for the reader."""
    kinds = {name.split("[")[0] for name in names}
    reasons = []
    if "log_scale" in kinds:
        reasons.append("too few answers a judge, or answers too equal, to tell how sharply it discriminates")
    elif "own_vendor" in kinds or "own_model" in kinds:
        if len({*design.panel.judge_vendors}) == 1:
            reasons.append("no judge of another vendor saw these answers, so nobody says how good they are")
        elif "quality" in kinds:
            reasons.append(
                "only the sum is identified (what one vendor's judges add to their own answers and what the others add "
                "to theirs cannot be told apart without an answer that has no judge of its vendor, or a third vendor)"
            )
        else:
            reasons.append("a judge's own answers cannot be told from all that it saw")
    if "slot" in kinds and "quality" in kinds:
        reasons.append("place and answer cannot be told apart in these orders (fit with position=False)")
    return f"not identified: {'; '.join(reasons) or 'no probability depends on it'}: {', '.join(names)}"


def dull_judges(design: Design, free: np.ndarray) -> tuple[str, ...]:
    """The judges whose scale falls without end, or else the dullest where its scale is below DULL of the mean."""
    scales = {
        name: value for name, value in zip(design.names, design.expand @ free, strict=True) if "log_scale[" in name
    }
    gone = [name for name, value in scales.items() if value < -MOST_LOG_SCALE]
    lowest = min(scales, key=scales.__getitem__)
    found = gone or ([lowest] if scales[lowest] < np.log(DULL) else [])
    return tuple(name.removeprefix("log_scale[").removesuffix("]") for name in found)


def runaways(design: Design, free: np.ndarray) -> list[str]:
    """The effects that grow without end because the rankings never contradict them, as words."""
    found = []
    for name, value in zip(design.names, design.expand @ free, strict=True):
        if name.startswith("log_scale"):
            if abs(value) > MOST_LOG_SCALE:
                found.append(
                    f"{name} runs off (its rankings {'do not ' if value < 0 else ''}follow the common quality)"
                )
        elif abs(value) > MOST_UTILITY:
            always = "always" if value > 0 else "never"
            found.append(
                f"{name} runs off ({always} preferred)" if "[" in name or name == "own_model" else f"{name} runs off"
            )
    return found


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
    reduced = design_of(panel, design.depth, design.by_category, position, False, (*design.dull, *dull))
    return climb(reduced)


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
    flat = () if last.problem else flat_names(design, last.pieces.observed, every)
    return replace(last, problem=explain(design, flat)) if flat else last


def _newton(design: Design, chunks: Callable, fit: Fit, active: np.ndarray, tolerance: float) -> Fit:
    free, here = fit.free, fit.pieces
    for _ in range(MOST_STEPS):
        gradient = here.gradient[active]
        step = _step(here, gradient, active)
        gain = float(gradient @ step)
        if gain < tolerance:
            return Fit(free, here, "")
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
                return Fit(free, here, "did not converge: no step makes the rankings more likely")
        free, here = there, pieces
        gone = runaways(design, free)
        if gone:
            return Fit(free, here, f"no finite estimate: {', '.join(gone)}")
    return Fit(free, here, f"did not converge in {MOST_STEPS} steps")


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
