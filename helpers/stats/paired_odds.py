"""Odds ratios of matched pairs: how an arm moves verdicts, free of how hard each item is and whom a judge likes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from helpers.stats.intervals import MIN_CLUSTERS, NAN, Interval, no_interval, t_interval
from helpers.stats.sandwich import combine_pieces, pieces_of_rates

METHOD = "matched-pairs log odds ratio, question-clustered sandwich t"
#: Stands in for a count of 0; its own share of the variance is 1 / HALF, as for any count.
HALF = 0.5


def paired_log_odds(
    up: np.ndarray,
    down: np.ndarray,
    n: int,
    weights: Sequence[float] = (1.0,),
    level: float = 0.95,
    counted: Sequence[bool] = (),
) -> Interval:
    """How much an arm moves the log-odds of a verdict: sum_m weights_m * ln(U_m / D_m) over matched pairs.

    `up`, `down`: (C, m) sums per cluster of the pairs that changed to the verdict, and away from it; (C,) for one
    column; U, D are their totals. Pairs that did not change say nothing. If the arm adds the same amount to the logit
    of every pair, U / D is exp(amount) whatever the pairs' own logits are, and still is where verdicts are lost with a
    probability that depends on the verdict (the conditional estimator of 1:1 matched pairs, Mantel and Haenszel 1959;
    standard error linearised over clusters: CR2, degrees of freedom by Bell and McCaffrey, see `sandwich`).

    Clusters without a change are not counted: `clusters` are those of the column that changed in the fewest. `counted`
    marks columns that are counts of verdicts and no means: the variance is at least theirs were all changes
    independent, w^2 (1/U + 1/D), for few clusters can look too alike. A total of 0 is taken as 1/2 and adds 2 to the
    variance, which pulls the number towards 0 and widens its interval; where both totals of a column are 0 there is no
    number. No bounds below 10 changed clusters. `n` is passed through. A column of few changes is biased away from 0 by
    about (1/D - 1/U) / 2, a small part of its standard error.
    """
    b, c = (np.asarray(each, dtype=float) for each in (up, down))
    b, c = (each[:, None] if each.ndim == 1 else each for each in (b, c))
    w = np.asarray(weights, dtype=float)
    if b.shape != c.shape or b.shape[1] != len(w):
        raise ValueError(f"changes up {b.shape}, down {c.shape}, weights {w.shape}: need (C, m), (C, m), (m,)")
    if not (np.isfinite(b).all() and np.isfinite(c).all() and (b >= 0).all() and (c >= 0).all()):
        raise ValueError("changes must be finite and not negative")
    used = w != 0
    b, c, w = b[:, used], c[:, used], w[used]
    changed = ((b > 0) | (c > 0)).any(axis=1)
    b, c = b[changed], c[changed]
    clusters = int(((b > 0) | (c > 0)).sum(axis=0).min()) if len(b) else 0
    total_up, total_down = b.sum(axis=0), c.sum(axis=0)
    if not clusters or ((total_up == 0) & (total_down == 0)).any():
        return no_interval(NAN, n, clusters, "no verdict changed")
    empty = np.concatenate([total_up == 0, total_down == 0])
    total_up, total_down = (np.where(total == 0, HALF, total) for total in (total_up, total_down))
    value = float(w @ np.log(total_up / total_down))
    if clusters < MIN_CLUSTERS:
        return t_interval(value, NAN, NAN, n, clusters, METHOD, level)
    share, sizes = total_up / (total_up + total_down), b + c
    varies = share * (1 - share)
    residuals = (b / total_up - c / total_down) * varies * sizes.sum(axis=0)
    found = combine_pieces([pieces_of_rates(residuals, sizes, w / varies, varies)])
    variance = found.se**2
    certain = np.array(counted or [False] * b.shape[1])[used]
    inverse = np.where(empty, 0.0, 1 / np.concatenate([total_up, total_down])).reshape(2, -1).sum(axis=0)
    variance = max(variance, float((w**2 * inverse)[certain].sum()))
    variance += float((np.concatenate([w, w])[empty] ** 2).sum()) / HALF
    method = f"{METHOD}; a count of 0 taken as 1/2" if empty.any() else METHOD
    effective = min(found.effective, clusters)
    return t_interval(value, math.sqrt(variance), found.df, n, clusters, method, level, effective=effective)
