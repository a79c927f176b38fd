"""Own-vendor preference of scores and pairs in one fit: a partial vendor is found, and no fair one beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.analyze import analyze, summary
from helpers.stats.own_vendor import Values, _Fit, own_vendor_effects, robust_variances
from helpers.stats.tests import holm
from tests.rule import exact
from tests.verdict_files import pair_rows, score_rows, written

VENDORS = "abc"
#: Sharpness of the judges of the partial vendor and of two fair ones.
UNEQUAL = (0.6, 1.0, 1.4)


def values(rng: np.random.Generator, pairs: bool, sharp: tuple[float, ...], missing: float, own: float = 1.0) -> Values:
    """One judge and one candidate a vendor on 200 questions; vendor a adds `own` to its answers.

    In pairs judge 1 takes the place shown first in half of them; scores have noise 1 and judges of unequal leniency.
    """
    judges = candidates = np.arange(3)
    quality = rng.permutation([-0.7, 0.0, 0.7]) + rng.normal(size=(200, 3))
    parts = []
    if not pairs:
        score = np.array(sharp)[:, None, None] * quality + rng.normal(size=(3, 1, 1)) + rng.normal(size=(3, 200, 3))
        score[0, :, 0] += own
        j, q, c = np.nonzero(rng.random(score.shape) >= missing)
        return Values(j, q * 3 + c, q, q, c, None, score[j, q, c], np.ones(len(j)), judges, candidates, tuple(VENDORS))
    for number, (one, two) in enumerate([(0, 1), (0, 2), (1, 2)]):
        gap = np.array(sharp)[:, None] * (quality[:, one] - quality[:, two])
        gap[0] += own * (one == 0)
        follows = (np.arange(3) == 1)[:, None] & (rng.random(gap.shape) < 0.5)
        side = np.array([1.0, -1.0])[:, None, None]
        wins = rng.random((2, *gap.shape)) < 1 / (1 + np.exp(-gap - 0.3 * side))
        won = np.where(follows, side, np.where(wins, 1.0, -1.0)) / 2
        seen = rng.random(won.shape) >= missing
        many = seen.sum(axis=0)
        j, q = np.nonzero(many)
        means = [((each * seen).sum(axis=0) / np.maximum(many, 1))[j, q] for each in (won, side)]
        parts.append([j, number * 200 + q, q, np.full(len(j), one), np.full(len(j), two), *means])
    j, item, q, one, two, won, place = (np.concatenate(each) for each in zip(*parts, strict=True))
    _, item = np.unique(item, return_inverse=True)
    return Values(j, item, q, q, one, two, won, place, judges, candidates, tuple(VENDORS))


@pytest.mark.parametrize("pairs", [False, True])
def test_the_gradient_is_that_of_the_likelihood(pairs: bool) -> None:
    rows = values(np.random.default_rng(4), pairs, UNEQUAL, 0.3)
    fit = _Fit(rows, rows.own[0], float(rows.value.std()))
    at = fit.start + 0.1 * np.random.default_rng(5).normal(size=len(fit.start))
    moved = 1e-5 * np.eye(len(at))
    steps = [(fit.loss(at + move)[0] - fit.loss(at - move)[0]) / 2e-5 for move in moved]
    assert fit.loss(at)[1] == pytest.approx(steps, rel=1e-4, abs=1e-3)


def test_robust_variances_are_those_of_the_full_matrices() -> None:
    """CR2 and Bell-McCaffrey from their definition in N x N matrices, clusters of very unequal size."""
    rng = np.random.default_rng(6)
    sizes = [40, 3, 5, 2, 8, 6, 4, 7, 3, 9, 5, 4]
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    x = np.column_stack([np.ones(len(cluster)), rng.normal(size=len(cluster)), rng.normal(size=len(sizes))[cluster]])
    y = x @ [1.0, 0.5, 0.0] + rng.normal(size=len(sizes))[cluster] + rng.normal(size=len(cluster))
    bread = np.linalg.inv(x.T @ x)
    residual = y - x @ (bread @ x.T @ y)
    hat = x @ bread @ x.T
    masks = [cluster == number for number in range(len(sizes))]
    weights = np.array([0.0, 0.0, 1.0])
    total, rows = 0.0, []
    for mask in masks:
        own, turn = np.linalg.eigh(np.eye(mask.sum()) - hat[np.ix_(mask, mask)])
        adjust = turn @ np.diag(own**-0.5) @ turn.T
        direction = adjust @ x[mask] @ bread @ weights
        total += float(direction @ residual[mask]) ** 2
        rows.append((np.eye(len(cluster)) - hat)[:, mask] @ direction)
    moments = np.array(rows) @ np.array(rows).T
    scores = np.array([x[mask].T @ residual[mask] for mask in masks])
    information = np.array([x[mask].T @ x[mask] for mask in masks])
    variance, df, effective, _ = robust_variances(scores, information, bread, weights[None])[0]
    assert variance == pytest.approx(total)
    assert df == pytest.approx(np.trace(moments) ** 2 / (moments**2).sum())
    share = np.array([weights @ bread @ each @ bread @ weights for each in information])
    assert effective == pytest.approx(share.sum() ** 2 / (share**2).sum()) and effective < len(sizes)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.33])
@pytest.mark.parametrize("sharp", [(1.0, 1.0, 1.0), UNEQUAL])
@pytest.mark.parametrize("pairs", [False, True])
def test_fair_vendors_are_left_in_peace_beside_a_partial_one(
    pairs: bool, sharp: tuple[float, ...], missing: float
) -> None:
    runs, hits = 60, np.zeros(3, dtype=int)
    for run in range(runs):
        found = own_vendor_effects(values(np.random.default_rng([8, run]), pairs, sharp, missing))
        hits += holm([found[vendor].p for vendor in VENDORS]) < 0.05
    for fair in hits[1:]:
        assert exact(int(fair), runs)[0] <= 0.06, hits
    assert exact(int(hits[0]), runs)[1] >= 0.95, hits


def _with_third(rows: list[dict[str, Any]], seed: int) -> list[dict[str, Any]]:
    """The rows and a neutral judge's, of vendor z."""
    rng = np.random.default_rng(seed)
    own = [row for row in rows if row["judge"] == "judge_y"]
    key = "verdict"
    neutral = []
    for row in own:
        value = rng.choice(["A", "B"]) if isinstance(row[key], str) else round(5 + rng.normal(), 2)
        neutral.append(row | {"judge": "judge_z", "judge_vendor": "z", key: value})
    return rows + neutral


def test_two_vendors_are_refused_and_a_neutral_judge_tells_them_apart(tmp_path: Path) -> None:
    for rows in (pair_rows(own=0.6), score_rows(own=1.5)):
        two = summary(analyze(written(rows, tmp_path / "two.jsonl")))
        assert "only the sum of their preferences is identified" in two
        assert "preference for the own vendor shown" not in two and "more than the others" not in two
        rows = [row for row in rows if row["judge"] == "judge_x"] + score_or_pair(rows)
        three = summary(analyze(written(_with_third(rows, 9), tmp_path / "three.jsonl")))
        shown = [line for line in three.split("\n") if "**preference for the own vendor shown**" in line]
        assert len(shown) == 1 and shown[0].startswith("- x judges")
        assert "none of them is a finding" in three


def score_or_pair(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What judge y says in a file of the same kind where nobody is partial."""
    fair = pair_rows(seed=21) if isinstance(rows[0]["verdict"], str) else score_rows(seed=21)
    return [row for row in fair if row["judge"] == "judge_y"]


def test_a_cluster_above_the_question_is_the_unit(tmp_path: Path) -> None:
    rows = [row | {"cluster": f"t{int(row['question'][1:]) // 4}"} for row in _with_third(pair_rows(), 9)]
    found = analyze(written(rows, tmp_path / "v.csv")).estimates
    units = {
        e.clusters for e in found if e.id in ("own_vendor_win_effect", "candidate_win_rate", "own_vendor_win_excess")
    }
    assert units == {20}
    few = [row for row in rows if row["cluster"] in ("t0", "t1", "t2")]
    effects = [e for e in analyze(written(few, tmp_path / "few.csv")).estimates if e.id == "own_vendor_win_effect"]
    assert effects and all(np.isnan(e.low) and "below 10" in e.method for e in effects)
    rows[1]["cluster"] = "elsewhere"
    with pytest.raises(ValueError, match="is of the cluster 'elsewhere', and of 't0' before"):
        analyze(written(rows, tmp_path / "w.csv"))


def test_real_pairs_of_2026_accuse_whom_the_neutral_judge_accuses(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "judges_2026"
    told = summary(analyze(folder / "ssafy_gpt5_sonnet45_gemini25" / "verdicts.csv"))
    lines = {line.split()[1]: line for line in told.split("\n") if "sharpness explain" in line}
    assert "**preference for the own vendor shown**" in lines["openai"]
    assert "**no preference shown**" in lines["anthropic"]
    two = analyze(folder / "selfbias_luna_mini_haiku" / "recuse_no_empty.csv")
    assert "only the sum of their preferences is identified" in summary(two)
    rows = pd.read_csv(folder / "selfbias_luna_mini_haiku" / "recuse_no_empty.csv", dtype=str)
    rows.assign(cluster=rows["question"].str.split(":").str[0]).to_csv(tmp_path / "tasks.csv", index=False)
    by_task = analyze(tmp_path / "tasks.csv").estimates
    haiku = [e for e in by_task if e.id == "first_position_effect" and e.where == {"judge": "claude-haiku-4-5"}]
    # The data's README, by 24 tasks: +36.8 pp, normal interval [+22.3, +51.3].
    assert [(e.clusters, round(e.value, 3)) for e in haiku] == [(24, 0.368)]
    assert haiku[0].se == pytest.approx((0.513 - 0.223) / 2 / 1.96, abs=6e-4)
    agreed = {(e.where["vendor"], e.where["judges"]): e for e in two.estimates if e.id == "own_vendor_win_agreed"}
    own = agreed["anthropic", "own"]  # the source's README counts 5 of 36
    assert (round(own.value * own.n), own.n) == (5, 36)
    assert pd.isna([e.value for e in two.estimates if e.id == "own_vendor_win_effect"]).all()
