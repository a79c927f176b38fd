"""The rank-ordered logit: against independent likelihoods, and what it must refuse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, optimize, stats

from helpers.stats import intervals, models
from helpers.stats.models import RankLogit, fit_panel, rank_ordered_logit
from helpers.stats.rank_logit import Fit, _newton, chunks_of, design_of, panel_of, pieces_at
from studies.calibration.worlds.listwise import WORLDS, World, draw, frame, panel


def sample(world: str = "planted", questions: int = 80, seed: int = 1) -> pd.DataFrame:
    return frame(draw(WORLDS[world], questions, np.random.default_rng([21, seed])))


def written_out(fit: RankLogit, rows: pd.DataFrame, depth: int) -> float:
    """Minus the log likelihood at the fit's own named values, judgment by judgment and place by place."""
    at, total = dict(zip(fit.names, fit.values, strict=True)), 0.0
    for (_, judge), part in rows.dropna(subset="rank").groupby(["question_id", "judge"]):
        utilities = []
        for row in part.sort_values("rank").itertuples():
            u = math.exp(at[f"log_scale[{judge}]"]) * at[f"quality[{row.candidate}]"] + at[f"slot[{row.slot}]"]
            u += at[f"own_vendor[{row.judge_vendor}]"] * row.own_vendor + at["own_model"] * row.own_model
            utilities.append(u)
        for place in range(min(depth, len(utilities) - 1)):
            total -= utilities[place] - math.log(sum(map(math.exp, utilities[place:])))
    return total


@pytest.mark.parametrize("depth", [1, 3, 5])
def test_the_maximum_is_that_of_an_independent_likelihood(depth: int) -> None:
    rows = sample(questions=60)
    # Some judgments saw fewer answers: their choice sets are smaller.
    gone = (rows.question_id < "q00012") & (rows.candidate == "gpt_fast") & (rows.judge != "gpt_fast")
    rows = rows[~gone].copy()
    rows["rank"] = rows.groupby(["question_id", "judge"])["rank"].rank()
    fit = rank_ordered_logit(rows, depth=depth)
    assert fit.converged, fit.problem
    assert -fit.loglik == pytest.approx(written_out(fit, rows, depth), rel=1e-10)
    expand, packed = fit.design.expand, Packed(rows, fit)
    hessian, gradient = numerical(lambda x: packed.minus_loglik(expand @ x, depth), fit.free)
    # How far a Newton step on the other likelihood would still go.
    assert np.abs(expand @ np.linalg.solve(hessian, gradient)).max() < 1e-6
    if depth == 3:
        start = np.random.default_rng(1).normal(0, 0.3, len(fit.free))
        best = optimize.minimize(lambda x: packed.minus_loglik(expand @ x, depth), start, method="BFGS")
        assert -fit.loglik <= best.fun + 1e-8
        assert expand @ best.x == pytest.approx(fit.values, abs=1e-3)


class Packed:
    """The likelihood again, from the frame and for a vector in the order of `fit.names`, fast enough to optimise."""

    def __init__(self, rows: pd.DataFrame, fit: RankLogit) -> None:
        self.where = {name: place for place, name in enumerate(fit.names)}
        order = ["question_id", "judge", "repeat", "rank"]
        self.rows = rows.dropna(subset="rank").sort_values(order)
        of = self.where.__getitem__
        self.quality = np.array([of(f"quality[{c}]") for c in self.rows.candidate])
        self.scale = np.array([of(f"log_scale[{j}]") for j in self.rows.judge])
        self.slot = np.array([of(f"slot[{s}]") for s in self.rows.slot])
        self.own = np.array([of(f"own_vendor[{v}]") for v in self.rows.judge_vendor])
        self.bonus = [self.rows[name].to_numpy(dtype=float) for name in ("own_vendor", "own_model")]
        sizes = self.rows.groupby(order[:3], sort=False).size().to_numpy()
        starts = np.cumsum(sizes) - sizes
        #: The rows of the rankings of each length, (rankings, length).
        self.rankings = [starts[sizes == size][:, None] + np.arange(size) for size in np.unique(sizes)]

    def utility(self, x: np.ndarray) -> np.ndarray:
        u = np.exp(x[self.scale]) * x[self.quality] + x[self.slot]
        return u + x[self.own] * self.bonus[0] + x[self.where["own_model"]] * self.bonus[1]

    def information(self, free: np.ndarray, expand: np.ndarray) -> np.ndarray:
        """The covariance of the slopes of what is left at each place, under the chances of being chosen."""
        steps = np.eye(len(free)) * 1e-5
        slope = (
            np.array([self.utility(expand @ (free + s)) - self.utility(expand @ (free - s)) for s in steps]).T / 2e-5
        )
        u, total = self.utility(expand @ free), np.zeros((len(free), len(free)))
        for at in (at for group in self.rankings for at in group):
            for place in range(len(at) - 1):
                chance = np.exp(u[at[place:]]) / np.exp(u[at[place:]]).sum()
                total += np.cov(slope[at[place:]].T, aweights=chance, bias=True)
        return total

    def minus_loglik(self, x: np.ndarray, depth: int) -> float:
        u = self.utility(x)
        total = 0.0
        for at in self.rankings:
            parts = u[at]
            tails = np.log(np.cumsum(np.exp(parts[:, ::-1]), axis=1))[:, ::-1]
            last = min(depth, parts.shape[1] - 1)
            total -= float((parts[:, :last] - tails[:, :last]).sum())
        return total


def numerical(f, x: np.ndarray, h: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """(Hessian, gradient) by central differences, the gradient with a hundredth of the step."""
    size, steps = len(x), np.eye(len(x)) * h
    gradient = np.array([(f(x + s) - f(x - s)) / (2 * h / 100) for s in steps / 100])
    hessian = np.zeros((size, size))
    for i in range(size):
        for k in range(i + 1):
            a, b = steps[i], steps[k]
            hessian[i, k] = hessian[k, i] = (f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * h * h)
    return hessian, gradient


def test_derivatives_are_those_of_the_likelihood() -> None:
    rows = sample(questions=12)
    design = design_of(panel_of(rows), None, False, True, False)
    chunks = chunks_of(design)
    x = np.random.default_rng(2).normal(0, 0.4, design.expand.shape[1])
    here = pieces_at(design, chunks, x)
    hessian, gradient = numerical(lambda at: -pieces_at(design, chunks, at).loglik, x)
    assert -here.gradient == pytest.approx(gradient, abs=1e-5)
    assert here.observed == pytest.approx(hessian, abs=1e-3)
    # Scores belong to their questions: those of one question alone are the gradient of its likelihood.
    one = design_of(panel_of(rows[rows.question_id == "q00003"]), None, False, True, False)
    assert pieces_at(one, chunks_of(one), x).gradient == pytest.approx(here.scores[3], abs=1e-9)


def test_the_sandwich_is_cr2_with_satterthwaite_degrees_of_freedom() -> None:
    """Written out with matrices of the clusters' numerical derivatives, in the coordinates of the parameters."""
    rows = repeated({"q00004": 8})
    fit = rank_ordered_logit(rows)
    expand, wide = fit.design.expand, np.eye(len(fit.free)) * 1e-4
    parts = [Packed(part, fit) for _, part in rows.groupby("question_id")]
    whole = Packed(rows, fit)
    hessian, _ = numerical(lambda x: whole.minus_loglik(expand @ x, 5), fit.free)
    scores = np.array(
        [
            [p.minus_loglik(expand @ (fit.free - s), 5) - p.minus_loglik(expand @ (fit.free + s), 5) for s in wide]
            for p in parts
        ]
    )
    scores /= 2e-4
    blocks = [p.information(fit.free, expand) for p in parts]
    bread, inverse = np.linalg.inv(hessian), np.linalg.inv(sum(blocks))
    adjust = [np.real(linalg.fractional_matrix_power(np.eye(len(wide)) - each @ inverse, -0.5)) for each in blocks]
    moved = np.array([a @ s for a, s in zip(adjust, scores, strict=True)])
    expected = expand @ bread @ moved.T @ moved @ bread @ expand.T
    assert fit.covariance == pytest.approx(expected, rel=5e-3, abs=1e-4)

    found = models.coefficient(fit, "own_vendor[gpt]")
    place = fit.names.index("own_vendor[gpt]")
    assert found.se == pytest.approx(math.sqrt(fit.covariance[place, place]), abs=1e-12)
    along = [expand[place] @ bread @ a for a in adjust]
    working = [[along[c] @ ((c == d) * blocks[c] - blocks[c] @ inverse @ blocks[d]) @ along[d]
                for d in range(30)] for c in range(30)]  # fmt: skip
    df = np.trace(working) ** 2 / (np.array(working) ** 2).sum()
    assert found.df == pytest.approx(df, rel=1e-3) and df < 15
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, found.df) * found.se, abs=1e-9)
    share = [expand[place] @ bread @ each @ bread @ expand[place] for each in blocks]
    effective = sum(share) ** 2 / sum(np.square(share))
    assert found.effective == pytest.approx(effective, rel=1e-4) and 10 < effective < 15
    assert (found.n, found.clusters) == (180 + 42, 30)


def repeated(times: dict[str, int], questions: int = 30) -> pd.DataFrame:
    """A sample in which some questions are asked more than once, with the same verdicts."""
    rows = sample(questions=questions)
    again = [rows[rows.question_id == q].assign(repeat=n) for q, count in times.items() for n in range(1, count)]
    return pd.concat([rows, *again])


def test_few_effective_questions_are_said_and_too_few_have_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    rough = models.coefficient(rank_ordered_logit(repeated({"q00003": 30})), "slot[0]")
    assert "rough: " in rough.method and rough.low < rough.value < rough.high
    assert 2 < rough.df < 10 and rough.clusters == 30
    monkeypatch.setattr(intervals, "MIN_EFFECTIVE", 8.0)
    none = models.coefficient(rank_ordered_logit(repeated({"q00003": 30})), "slot[0]")
    assert math.isnan(none.low) and math.isnan(none.se) and "one holds nearly all rows" in none.method


def test_very_large_panels_take_the_share_of_judgments_for_the_leverage(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = models.coefficient(rank_ordered_logit(sample()), "own_vendor[gpt]")
    monkeypatch.setattr(models, "MOST_BLOCKS", 1)
    near = models.coefficient(rank_ordered_logit(sample()), "own_vendor[gpt]")
    assert near.se == pytest.approx(whole.se, rel=0.01) and near.df == pytest.approx(79, rel=0.01)


def test_the_slope_that_explains_a_preference_away_is_that_of_a_refit() -> None:
    fit = fit_panel(panel(draw(WORLDS["length_planted"], 400, np.random.default_rng(3))))
    slope = "length[gpt]"
    found = models.explaining_slope(fit, "gpt", slope)
    place = len(fit.free) - 3 + [n for n in fit.names if n.startswith("length")].index(slope)
    active = np.arange(len(fit.free)) != place
    free = np.where(active, fit.free, found.value)
    chunks = chunks_of(fit.design)
    refit = _newton(fit.design, chunks, Fit(free, pieces_at(fit.design, chunks, free), ""), active, tolerance=1e-12)
    weights = [(n == "own_vendor[gpt]") + 0.5 * (n == "own_model") for n in fit.names]
    left = np.array(weights) @ fit.design.expand @ refit.free
    assert abs(left) < 0.1 * models.self_preference(fit, "gpt").value, (left, found)
    assert math.isnan(models.explaining_slope(fit, "gpt", "lists[gpt]").value)


def test_the_parts_of_self_preference() -> None:
    fit = rank_ordered_logit(sample())
    at = dict(zip(fit.names, fit.values, strict=True))
    assert models.self_preference(fit, "gpt").value == pytest.approx(at["own_vendor[gpt]"] + 0.5 * at["own_model"])
    assert models.family_preference(fit, "gpt").value == pytest.approx(at["own_vendor[gpt]"])
    for total in ("quality", "log_scale", "slot"):
        assert sum(v for n, v in at.items() if n.startswith(total)) == pytest.approx(0, abs=1e-9)
    with pytest.raises(ValueError, match=r"own_vendor\[mistral\].*own_vendor\[claude\]"):
        models.coefficient(fit, "own_vendor[mistral]")
    assert "no judge of mistral" in models.self_preference(fit, "mistral").method


def test_own_model_is_left_out_where_it_cannot_be_told_from_own_vendor() -> None:
    rows = sample()
    rows["own_model"] = rows["own_vendor"]
    every = rank_ordered_logit(rows)
    assert "own_model" not in every.names
    assert models.self_preference(every, "gpt") == models.coefficient(every, "own_vendor[gpt]"), "nothing is added"
    family = models.family_preference(every, "gpt")
    assert math.isnan(family.value) and "an answer of its other models" in family.method
    rows["own_model"] = False
    none = rank_ordered_logit(rows)
    assert models.self_preference(none, "gpt") == models.family_preference(none, "gpt")


def test_the_marginal_effect_has_no_bounds_where_they_would_be_too_short() -> None:
    few, enough = (models.marginal_effect(rank_ordered_logit(sample(questions=n)), "gpt") for n in (39, 40))
    assert math.isnan(few.low) and math.isnan(few.se) and "below 40 questions" in few.method
    assert few.value == few.value and enough.low < enough.value < enough.high


def test_the_marginal_effect_is_the_change_of_first_places() -> None:
    rows = sample(questions=40)
    fit = rank_ordered_logit(rows)
    expand = fit.design.expand
    place = fit.names.index
    parts = [
        (
            place(f"log_scale[{judge}]"),
            [place(f"quality[{r.candidate}]") for r in part.itertuples()],
            [place(f"slot[{r.slot}]") for r in part.itertuples()],
            part.own_vendor.to_numpy(),
            part.own_model.to_numpy(),
        )
        for (_, judge), part in rows[rows.judge_vendor == "gemini"].groupby(["question_id", "judge"])
    ]

    def effect(full: np.ndarray) -> float:
        changes = []
        for scale, quality, slot, own_vendor, own_model in parts:
            base = math.exp(full[scale]) * full[quality] + full[slot]
            bonus = full[place("own_vendor[gemini]")] * own_vendor + full[place("own_model")] * own_model
            tops = [np.exp(u) / np.exp(u).sum() for u in (base + bonus, base)]
            changes.append((tops[0] - tops[1])[own_vendor].sum())
        return float(np.mean(changes))

    found = models.marginal_effect(fit, "gemini")
    assert found.value == pytest.approx(effect(fit.values), abs=1e-10)
    slope = np.array(
        [
            (effect(expand @ (fit.free + s)) - effect(expand @ (fit.free - s))) / 2e-5
            for s in np.eye(len(fit.free)) * 1e-5
        ]
    )
    back = np.linalg.pinv(expand)
    covariance = back @ fit.covariance @ back.T
    assert found.se == pytest.approx(math.sqrt(slope @ covariance @ slope), rel=1e-5)
    assert found.low < found.value < found.high
    assert all(type(number) is float for number in (found.value, found.low, found.high, found.se, found.p))


def test_frame_and_arrays_give_the_same_fit_whatever_the_row_order() -> None:
    drawn = draw(WORLDS["lost"], 80, np.random.default_rng(5))
    rows = frame(drawn)
    from_frame, from_arrays = rank_ordered_logit(rows), fit_panel(panel(drawn))
    by_name = dict(zip(from_arrays.names, from_arrays.values, strict=True))
    assert [by_name[name] for name in from_frame.names] == pytest.approx(list(from_frame.values), abs=1e-8)
    shuffled = rank_ordered_logit(rows.sample(frac=1, random_state=1))
    assert shuffled.values == pytest.approx(from_frame.values, abs=1e-8)
    lost = int((~drawn.valid).sum())
    assert lost > 0 and from_frame.unused == lost == from_arrays.unused and from_frame.n == 480 - lost


def test_a_large_panel_in_chunks_is_the_same_as_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fit_panel(panel(draw(WORLDS["planted"], 60, np.random.default_rng(6))))
    monkeypatch.setattr("helpers.stats.rank_logit.CHUNK", 14_000)
    parts = fit_panel(panel(draw(WORLDS["planted"], 60, np.random.default_rng(6))))
    assert parts.values == pytest.approx(whole.values, abs=1e-9)
    assert parts.covariance == pytest.approx(whole.covariance, abs=1e-9)
    assert models.marginal_effect(parts, "gpt").value == pytest.approx(models.marginal_effect(whole, "gpt").value)


def test_repeats_and_conditions_are_judgments_of_their_own() -> None:
    rows = sample(questions=20)
    twice = pd.concat([rows, rows.assign(repeat=1)])
    once, both = rank_ordered_logit(rows), rank_ordered_logit(twice)
    assert both.n == 2 * once.n and both.clusters == once.clusters
    # The same judgments again are no new information: the clustered covariance does not shrink.
    assert both.values == pytest.approx(once.values, abs=1e-6) and both.covariance == pytest.approx(
        once.covariance, rel=1e-5
    )


def test_quality_by_category_and_a_covariate() -> None:
    drawn = draw(replace(WORLDS["planted"], sigma_u=0.0), 2000, np.random.default_rng(7))
    rows = frame(drawn)
    rows["long"] = np.random.default_rng(8).normal(size=len(rows))
    by_category = rank_ordered_logit(rows, quality="category", covariates=["long"])
    assert by_category.converged and by_category.names[-1] == "long"
    assert sum(n.startswith("quality[") for n in by_category.names) == 48
    null = models.coefficient(by_category, "long")
    assert null.low < 0 < null.high and null.se < 0.02
    # Category effects are the only differences between questions here, so s is recovered (taste shrinks it a little).
    found = models.coefficient(by_category, "own_vendor[gpt]")
    assert found.value == pytest.approx(0.8, abs=0.15) and found.se < 0.06
    with pytest.raises(ValueError, match="candidate, category"):
        rank_ordered_logit(rows, quality="question")


def test_questions_without_a_category_have_one_of_their_own() -> None:
    rows = frame(draw(WORLDS["planted"], 160, np.random.default_rng(9)))
    bare = rows.assign(category=rows["category"].where(rows["category"] != "math"))
    found, named = (rank_ordered_logit(each, quality="category") for each in (bare, rows.replace("math", "unknown")))
    assert found.names == named.names and "quality[claude_fast, unknown]" in found.names
    assert found.values == pytest.approx(named.values, abs=1e-9)


def test_a_planted_length_effect_is_found() -> None:
    rng = np.random.default_rng(9)
    rows = frame(draw(World(sigma_taste=0.0), 300, rng))
    length = {key: rng.normal() for key in set(zip(rows.question_id, rows.candidate, strict=True))}
    rows["length"] = [length[key] for key in zip(rows.question_id, rows.candidate, strict=True)]
    rows["u"] = 0.5 * rows["length"] + rng.gumbel(size=len(rows))
    rows["rank"] = rows.groupby(["question_id", "judge"])["u"].rank(ascending=False)
    found = models.coefficient(rank_ordered_logit(rows, one_scale=True, covariates=["length"]), "length")
    assert abs(found.value - 0.5) < 4 * found.se and found.se < 0.05
    rows.loc[0, "length"] = np.nan
    with pytest.raises(ValueError, match="'length' is NaN for 1 ranked rows"):
        rank_ordered_logit(rows, covariates=["length"])


def assert_refused(fit: RankLogit, *words: str) -> None:
    """Not converged, the reason said, and no number anywhere."""
    assert not fit.converged and np.isnan(fit.values).all() and np.isnan(fit.covariance).all()
    for word in words:
        assert word in fit.problem
    vendors = [n[11:-1] for n in fit.names if n.startswith("own_vendor")] or ["claude"]
    for helper in (models.self_preference, models.family_preference, models.marginal_effect):
        found = helper(fit, vendors[0])
        assert math.isnan(found.value) and math.isnan(found.low) and found.method == fit.problem
    assert math.isnan(models.combination(fit, {"own_vendor[claude]": 1}).value)


def ranked(rows: pd.DataFrame) -> pd.DataFrame:
    """The ranks among the answers that are left."""
    return rows.assign(rank=rows.groupby(["question_id", "judge"])["rank"].rank())


def of(rows: pd.DataFrame, *vendors: str) -> pd.DataFrame:
    return ranked(rows[rows["judge_vendor"].isin(vendors) & rows["candidate_vendor"].isin(vendors)])


def moved(rows: pd.DataFrame, where: pd.Series, by: float) -> pd.DataFrame:
    """Answers that always come so many places later."""
    return ranked(rows.assign(rank=rows["rank"] + by * where))


#: What rows are made of, and what is said of them.
NOBODY_ELSE = "no judge of another vendor saw these answers"
REFUSED = {
    "two vendors": (
        lambda r: of(r, "claude", "gpt"),
        ("only the sum is identified", "own_vendor[claude]", "own_vendor[gpt]"),
    ),
    "one vendor": (lambda r: of(r, "gpt"), ("not identified", "own_vendor[gpt]", NOBODY_ELSE[:-8])),
    "judges of one vendor": (lambda r: r[r.judge_vendor == "gpt"], ("not identified", NOBODY_ELSE)),
    "a constant order": (
        lambda r: r.assign(slot=r["candidate"].astype("category").cat.codes),
        ("place and answer", "position=False", "slot[0]", "quality[gpt_fast]"),
    ),
    "three judges of three answers": (
        lambda r: ranked(r[(r.judge_tier == "fast") & (r.candidate_tier == "fast")]),
        ("not identified", "log_scale[", "how sharply"),
    ),
    "always last": (lambda r: moved(r, r["candidate"] == "gemini_fast", 9), ("runs off", "gemini_fast")),
    "always their own": (
        lambda r: moved(r, r["own_vendor"] & (r["judge_vendor"] == "gpt"), -10),
        ("own_vendor[gpt] runs off (always preferred)",),
    ),
    "no ranking": (lambda r: r.assign(rank=np.nan), ("no valid ranking",)),
    "no row": (lambda r: r.iloc[:0], ("no valid ranking",)),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_fitted_is_refused_with_the_reason(what: str) -> None:
    change, words = REFUSED[what]
    assert_refused(rank_ordered_logit(change(sample())), *words)


def test_what_a_refusal_names_helps() -> None:
    rows = sample()
    third = rank_ordered_logit(rows[rows.judge_vendor != "gemini"])
    assert third.converged, "an answer that has no judge tells two vendors apart"
    assert {n for n in third.names if n.startswith("own_vendor")} == {"own_vendor[claude]", "own_vendor[gpt]"}
    assert rank_ordered_logit(REFUSED["a constant order"][0](rows), position=False).converged
    assert rank_ordered_logit(REFUSED["three judges of three answers"][0](rows), one_scale=True).converged


def test_two_vendors_of_unequal_sharpness_are_still_refused() -> None:
    # The bilinear scale would "identify" s from sharpness within a vendor alone; that is no identification to rely on.
    world = World(
        vendors=("claude", "gpt"), alpha=(0.0, 0.5), tau=(0.4, 0.9), sharpness=(0.5, 2.0, 1.0, 1.5), category_size=0.0
    )
    fit = fit_panel(panel(draw(world, 400, np.random.default_rng(1))))
    assert_refused(fit, "only the sum is identified")


def test_judges_that_rank_against_the_others_are_held_at_scale_0_and_named() -> None:
    rows = sample()
    against = rows["judge"].isin(["claude_fast", "gpt_thinking"])
    rows["rank"] = rows["rank"].mask(against, 7 - rows["rank"])
    fit = rank_ordered_logit(rows)
    assert fit.converged and set(fit.dull) == {"claude_fast", "gpt_thinking"}
    at = dict(zip(fit.names, fit.values, strict=True))
    assert sum(v for n, v in at.items() if n.startswith("log_scale")) == pytest.approx(0, abs=1e-9)

    # The likelihood written out, with scales of these two that are as good as 0, has its maximum there.
    held = replace(
        fit, names=(*fit.names, *(f"log_scale[{j}]" for j in fit.dull)), values=np.append(fit.values, [-60] * 2)
    )
    assert -fit.loglik == pytest.approx(written_out(held, rows, 5), rel=1e-10)
    packed, ends = Packed(rows, held), np.full(2, -60.0)
    _, gradient = numerical(lambda x: packed.minus_loglik(np.append(fit.design.expand @ x, ends), 5), fit.free)
    assert np.abs(fit.bread @ gradient).max() < 1e-5

    for vendor in ("claude", "gpt", "gemini"):
        found = models.self_preference(fit, vendor)
        assert found.low < found.value < found.high
        assert "claude_fast's rankings do not follow the common quality; its sharpness is held at 0" in found.method
    none = models.coefficient(fit, "log_scale[claude_fast]")
    assert math.isnan(none.value) and "claude_fast's rankings do not follow" in none.method
    assert models.coefficient(fit, "log_scale[gemini_fast]").value == at["log_scale[gemini_fast]"]


def test_few_questions_give_values_without_intervals() -> None:
    found = models.self_preference(rank_ordered_logit(sample(questions=9, seed=3)), "gpt")
    assert math.isfinite(found.value) and math.isnan(found.low) and math.isnan(found.se) and "below 10" in found.method


def test_unused_rankings_are_counted_and_a_depth_has_a_place() -> None:
    rows = sample(questions=12)
    assert rank_ordered_logit(rows.assign(rank=np.nan)).unused == 72
    with pytest.raises(ValueError, match="depth 0"):
        rank_ordered_logit(rows, depth=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda r: r.drop(columns="slot"), "lacks slot"),
        (
            lambda r: r.assign(rank=r["rank"].mask(r.index == 0)),
            r"question_id q00000, judge claude_fast.*ranks \[.*nan",
        ),
        (lambda r: r.assign(rank=r["rank"].mask(r.index < 6, 1.0)), "need 1, 2, 3 ... once each"),
        (lambda r: r.assign(judge_vendor=r["judge_vendor"].mask(r.index == 0, "x")), "several values of judge_vendor"),
    ],
)
def test_a_broken_frame_is_refused_by_name(change, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        rank_ordered_logit(change(sample(questions=10)))
