"""Own-vendor preference of scores and pairs in one fit: a partial vendor is found, and no fair one beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from helpers.analyze import analyze, summary
from helpers.stats.models import _Fit, own_vendor_effects
from helpers.stats.tests import holm
from tests.rule import exact
from tests.verdict_files import pair_rows, score_rows, written

VENDORS = "abc"
#: Sharpness of the judges of the partial vendor and of two fair ones.
UNEQUAL = (0.6, 1.0, 1.4)


def values(rng: np.random.Generator, pairs: bool, sharp: tuple[float, ...], missing: float, own: float = 1.0) -> Any:
    """One judge and one candidate a vendor on 200 questions; vendor a adds `own` to its answers.

    In pairs judge 1 takes the place shown first in half of them; of scores noise has deviation 1, judges are unequally
    lenient, and make of a question as a whole what has nothing to do with how sharp they are.
    """
    quality = rng.permutation([-0.7, 0.0, 0.7]) + rng.normal(size=(200, 3))
    parts = []
    if not pairs:
        score = np.array(sharp)[:, None, None] * quality + rng.normal(size=(3, 1, 1)) + rng.normal(size=(3, 200, 3))
        score += np.array([0.5, 1.5, 1.0])[:, None, None] * rng.normal(size=(200, 1))
        score[0, :, 0] += own
        j, q, c = np.nonzero(rng.random(score.shape) >= missing)
        parts.append(pd.DataFrame({"judge": j, "question": q, "plus": c, "value": score[j, q, c], "weight": 1.0}))
        parts[0] = parts[0].assign(item=q * 3 + c, place=1.0, own=(c == j) * 1.0)
    for number, (one, two) in enumerate([(0, 1), (0, 2), (1, 2)] if pairs else []):
        gap = np.array(sharp)[:, None] * (quality[:, one] - quality[:, two])
        gap[0] += own * (one == 0)
        follows = (np.arange(3) == 1)[:, None] & (rng.random(gap.shape) < 0.5)
        side = np.array([1.0, -1.0])[:, None, None]
        wins = rng.random((2, *gap.shape)) < 1 / (1 + np.exp(-gap - 0.3 * side))
        won = np.where(follows, side, np.where(wins, 1.0, -1.0)) / 2
        seen = rng.random(won.shape) >= missing
        j, q = np.nonzero(seen.sum(axis=0))
        weight = seen.sum(axis=0)[j, q]
        part = pd.DataFrame({"judge": j, "question": q, "item": number * 200 + q, "plus": one, "minus": two})
        means = {name: (of * seen).sum(axis=0)[j, q] / weight for name, of in (("value", won), ("place", side))}
        parts.append(part.assign(**means, own=(j == one) * 1.0 - (j == two), weight=weight * 1.0))
    rows = pd.concat(parts)
    return rows.assign(vendor=rows["judge"].map(dict(enumerate(VENDORS))), cluster=rows["question"])


@pytest.mark.parametrize("pairs", [False, True])
def test_derivatives_are_those_of_the_fit(pairs: bool) -> None:
    """How own effects move with sharpness, and how sharpness moves with a question that weighs a little more."""
    rows = values(np.random.default_rng(4), pairs, UNEQUAL, 0.3)
    fit = _Fit(rows, list(VENDORS))
    b, influence, _ = fit.sharpness()
    steps = 1e-5 * np.eye(3)
    moves = np.array([(fit.effects(b + step)[0] - fit.effects(b - step)[0]) / 2e-5 for step in steps]).T
    assert fit.effects(b)[2] == pytest.approx(moves, rel=1e-4, abs=1e-6)
    # Leaving a question out moves b by minus its influence, nearly: by Gauss and Newton, to first order.
    left = [_Fit(rows[rows["question"] != q], list(VENDORS)).sharpness()[0] - b for q in range(60)]
    order = pd.factorize(rows["cluster"])[1].get_indexer(range(60))
    assert np.corrcoef(np.ravel(left), -influence[order].ravel())[0, 1] > 0.95


@pytest.mark.parametrize("pairs", [False, True])
def test_who_judges_at_random_convicts_nobody(pairs: bool) -> None:
    """A blind judge says nothing of how sharp the two others are: their errors grow, and nobody is called."""
    runs = 40
    hits = np.zeros(3, dtype=int)
    for run in range(runs):
        found = own_vendor_effects(values(np.random.default_rng([9, run]), pairs, (1.0, 1.0, 0.0), 0.0, 0.0))
        hits += holm([found[vendor].p for vendor in VENDORS]) < 0.05
    assert all(exact(int(each), runs)[0] <= 0.06 for each in hits), hits


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
        assert "**prefers its own" not in two and "**scores its own" not in two
        rows = [row for row in rows if row["judge"] == "judge_x"] + score_or_pair(rows)
        three = summary(analyze(written(_with_third(rows, 9), tmp_path / "three.jsonl")))
        shown = [each for each in three.split("\n- ") if "**prefers its own" in each or "**scores its own" in each]
        assert len(shown) == 1 and shown[0].startswith("x:")
        assert "so that it is no finding" in three


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


def test_real_pairs_of_2026_accuse_nobody(real_data: Path, tmp_path: Path) -> None:
    folder = real_data / "judges_2026"
    told = summary(analyze(folder / "ssafy_gpt5_sonnet45_gemini25" / "verdicts.csv"))
    lines = {each.split(":")[0]: each for each in told.split("\n- ") if "sharpness explain" in each}
    assert "**prefers its own" in lines["openai"]
    assert "no sign that it prefers its own" in lines["anthropic"]
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
