"""The notebook of confidence variation runs as it stands, and its four metrics are counted and bounded honestly."""

from __future__ import annotations

import ast
import math
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from helpers import paths, tables
from helpers.biases.cognitive import from_published, metrics, notebook_table
from helpers.biases.cognitive.metrics import (
    AnchoringBiasMetric,
    ConfirmationBiasMetric,
    HaloEffectMetric,
    LossAversionMetric,
)
from helpers.config import read_yaml

IMPORT = """
import numpy as np
from helpers.biases.cognitive.metrics import (
    AnchoringBiasMetric, ConfirmationBiasMetric, HaloEffectMetric, LossAversionMetric
)
"""
ANSWERS = """
control_answer = np.array([[10], [10], [16], [5], [200]])
treatment_answer = np.array([[10], [20], [4], [4], [100]])
answer_options = np.array(
    [
        [10, 20, 30, 40],
        [10, 20, 30, 40],
        [4, 8, 16, 20],
        [2, 3, 4, 5],
        [100, 200, 300, 400],
    ]
)
"""
ANCHOR = "anchor = np.array([[10], [10], [4], [3], [30]])"
GAMBLES = """
answer_unbiased = np.array([[0], [1], [1], [1], [1], [1]])
answer_biased = np.array([[0], [0], [0], [0], [1], [1]])
lambdas = np.array([[1.0000001], [1.05], [1.1], [10], [100], [2000]])
"""
ARGUMENTS = """
answer = np.array([[0], [1], [0], [1], [0], [1], [0]])
pro_answer = np.array([[2], [6], [1], [3], [4], [1], [1]])
con_answer = np.array([[2], [6], [4], [0], [5], [2], [2]])
n_args = np.array([[8], [12], [8], [6], [10], [10], [20]])
"""
MOVED = [0, 0.33333333, 1, 0.33333333, 0.5]
SHIFTS = "control_answer, treatment_answer, answer_options"
SELECTED = "answer, pro_answer, con_answer, n_args"
#: The notebook's cells that show a value, with the value shown; printed to eight places where a test has its own.
CELLS = [
    ("AnchoringBiasMetric(anchor_agnostic=True, overall=False)", f"{SHIFTS}, anchor", MOVED),
    ("AnchoringBiasMetric(anchor_agnostic=False, overall=False)", f"{SHIFTS}, anchor", [0, 0, 1, 0.5, 1]),
    ("AnchoringBiasMetric(anchor_agnostic=True, overall=True)", f"{SHIFTS}, anchor", 0.4333333329716666),
    ("AnchoringBiasMetric(anchor_agnostic=False, overall=True)", f"{SHIFTS}, anchor", 0.4999999993133334),
    ("HaloEffectMetric(overall=False)", SHIFTS, MOVED),
    ("HaloEffectMetric(overall=True)", SHIFTS, 0.4333333329716666),
    ("ConfirmationBiasMetric(overall=False)", SELECTED, [0, 0, 0.6, 1, 0.11111111, 0, 0.33333333]),
    ("ConfirmationBiasMetric(overall=True)", SELECTED, 0.251051051051051),
]


def run(source: str, space: dict[str, object] | None = None) -> tuple[object, dict[str, object]]:
    """The value of a cell's last line, as a notebook shows it, and the names it left."""
    space = {} if space is None else space
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), space)
    return (eval(compile(ast.Expression(last.value), "cell", "eval"), space) if last else None), space


@pytest.mark.parametrize(("metric", "given", "shown"), CELLS)
def test_a_cell_of_the_notebook_gives_what_it_shows(metric: str, given: str, shown: float | list[float]) -> None:
    data = ARGUMENTS if given == SELECTED else ANSWERS + ANCHOR
    value, _ = run(f"{IMPORT}{data}\nmetric = {metric}\nmetric.compute({given})")
    if isinstance(shown, list):
        assert value.shape == (len(shown), 1)
        assert value.ravel() == pytest.approx(shown, abs=1e-8)
        assert not np.signbit(value).any()
    else:
        assert type(value) is float and value == pytest.approx(shown, abs=1e-8)


def test_the_printing_cells_print_the_answers_as_they_are_and_the_batch_values(capsys) -> None:
    run(
        IMPORT
        + GAMBLES
        + """
la_individual = LossAversionMetric(overall=False)
print(f"Unbiased:\\n{la_individual.compute(answer_unbiased, lambdas)}")
print(f"Biased:\\n{la_individual.compute(answer_biased, lambdas)}")
la_batch = LossAversionMetric(overall=True)
print(
    f"(Almost) Unbiased: {la_batch.compute(answer_unbiased, lambdas)}"
)  # arguably needs to be even closer to zero
print(f"Biased: {la_batch.compute(answer_biased, lambdas)}")
"""
    )
    *answers, unbiased, biased = capsys.readouterr().out.splitlines()
    assert answers == [
        *("Unbiased:", "[[0]", " [1]", " [1]", " [1]", " [1]", " [1]]"),
        *("Biased:", "[[0]", " [0]", " [0]", " [0]", " [1]", " [1]]"),
    ]
    assert unbiased.startswith("(Almost) Unbiased: ") and biased.startswith("Biased: ")
    assert float(unbiased.split(": ")[1]) == pytest.approx(0.33647691844311445, abs=1e-8)
    assert float(biased.split(": ")[1]) == pytest.approx(0.9964669920030466, abs=1e-8)


def data(*cells: str) -> list[np.ndarray]:
    """The notebook's arrays, in the order of their cells."""
    space = run("import numpy as np\n" + "\n".join(cells))[1]
    return [value for value in space.values() if isinstance(value, np.ndarray)]


def test_the_exact_values_hold_no_epsilon() -> None:
    control, treatment, options, anchor = data(ANSWERS, ANCHOR)
    agnostic = AnchoringBiasMetric(overall=False).compute(control, treatment, options, anchor).ravel().tolist()
    assert agnostic == [0, 10 / 30, 1, 1 / 3, 0.5]
    specific = AnchoringBiasMetric(anchor_agnostic=False, overall=False).compute(control, treatment, options, anchor)
    assert specific.ravel().tolist() == [0, 0, 1, 0.5, 1]


def test_two_of_five_specific_values_are_undefined_and_the_mean_of_the_rest_is_another_number() -> None:
    arrays = data(ANSWERS, ANCHOR)
    specific = AnchoringBiasMetric(anchor_agnostic=False)
    # Tests 1 and 2 start at their anchor 10: 0/0 and -10/0.
    assert specific.compute(*arrays) * 5 / (5 - 2) == pytest.approx(5 / 6)


def test_the_anchor_itself_instead_of_the_option_closest_to_it_gives_another_number() -> None:
    control, treatment, options, anchor = data(ANSWERS, ANCHOR)
    raw = metrics.published(metrics.approach(control, treatment, anchor))
    # Test 5: |200 - 30| = 170, |100 - 30| = 70.
    assert raw.ravel() == pytest.approx([0, 0, 1, 0.5, 100 / 170])
    assert metrics.batch(raw) == pytest.approx(0.41765, abs=1e-5)
    assert metrics.nearest(options, anchor).ravel().tolist() == [10, 10, 4, 3, 100]


def test_the_option_closest_to_an_anchor_halfway_is_the_first() -> None:
    metric = AnchoringBiasMetric(anchor_agnostic=False, overall=False)
    # 15 lies between 10 and 20: a* = 10, and |30-10| = 20, |20-10| = 10.
    assert metric.compute([[30]], [[20]], [[10, 20, 30]], [[15]]).tolist() == [[0.5]]
    assert metric.compute([[30]], [[20]], [[30, 20, 10]], [[15]]).tolist() == [[1.0]]


def test_confirmation_as_printed_and_as_computed() -> None:
    arrays = data(ARGUMENTS)
    batch, each = ConfirmationBiasMetric(), ConfirmationBiasMetric(overall=False)
    printed = ConfirmationBiasMetric(overall=False, as_printed=True)
    assert printed.compute(*arrays).ravel().tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert replace(printed, overall=True).compute(*arrays) == pytest.approx(6 / 74, abs=1e-15)
    # (0.6 * 8 + 1 * 6 + 10 / 9 + 20 / 3) / 74
    assert batch.compute(*arrays) == pytest.approx((4.8 + 6 + 10 / 9 + 20 / 3) / 74, abs=1e-15)
    assert np.mean(each.compute(*arrays)) == pytest.approx(0.29206, abs=1e-5)


def test_nothing_selected_counts_zero() -> None:
    assert ConfirmationBiasMetric().compute([[1], [0]], [[0], [0]], [[0], [2]], [[4], [4]]) == 0.5


def test_the_weights_of_confirmation_are_the_arguments_listed() -> None:
    metric = ConfirmationBiasMetric()
    # One test of 9 arguments with value 1, one of 1 with value 0.
    assert metric.compute([[1], [1]], [[3], [0]], [[0], [1]], [[9], [1]]) == pytest.approx(0.9)


def test_all_accepted_and_all_refused() -> None:
    lambdas = [[1.5], [2.0], [30.0]]
    assert LossAversionMetric().compute([[1], [1], [1]], lambdas) == 0
    assert LossAversionMetric().compute([[0], [0], [0]], lambdas) == 1
    # Accepted at 2 alone: 1 - (1/2) / (1 + 1/2).
    assert LossAversionMetric().compute([[0], [1]], [[1], [2]]) == pytest.approx(2 / 3)


def test_the_answers_come_back_as_given_but_are_not_the_callers_own_array() -> None:
    given = np.array([[0], [1]], dtype=np.int8)
    found = LossAversionMetric(overall=False).compute(given, [[2], [3]])
    assert found.dtype == np.int8 and found.tolist() == [[0], [1]]
    found[0] = 1
    assert given[0, 0] == 0


def test_options_that_are_all_the_same_are_undefined_in_the_agnostic_form() -> None:
    same = ([[7], [1]], [[7], [2]], [[7, 7], [1, 2]])
    assert HaloEffectMetric().compute(*same) == 0.5 == AnchoringBiasMetric().compute(*same, [[0], [0]])


def test_small_unsigned_numbers_do_not_wrap() -> None:
    # 10 - 20 of uint8 is 246.
    a1, a2, options = (np.array(a, dtype=np.uint8) for a in ([[10]], [[20]], [[10, 20, 30]]))
    assert HaloEffectMetric().compute(a1, a2, options) == 0.5
    pro, con = np.array([[1]], dtype=np.uint8), np.array([[3]], dtype=np.uint8)
    assert ConfirmationBiasMetric(overall=False).compute([[0]], pro, con, [[4]]).tolist() == [[0.5]]


def test_metrics_are_frozen_and_have_defaults() -> None:
    assert AnchoringBiasMetric() == AnchoringBiasMetric(anchor_agnostic=True, overall=True)
    assert all(metric().overall for metric in (HaloEffectMetric, LossAversionMetric, ConfirmationBiasMetric))
    with pytest.raises(FrozenInstanceError):
        HaloEffectMetric().overall = False  # type: ignore[misc]


def test_without_rows_there_is_no_number() -> None:
    none, options = np.empty((0, 1)), np.empty((0, 4))
    assert math.isnan(HaloEffectMetric().compute(none, none, options))
    assert HaloEffectMetric(overall=False).compute(none, none, options).shape == (0, 1)
    assert math.isnan(LossAversionMetric().compute(none, none))
    assert math.isnan(ConfirmationBiasMetric().compute(none, none, none, none))
    assert AnchoringBiasMetric().interval(none, none, options, none).method == "no valid row"


ROWS = [[1, 2, 3], [4, 5, 6]]
HALO, ANCHORING = HaloEffectMetric().compute, AnchoringBiasMetric().compute
LOSS, CONFIRMATION = LossAversionMetric().compute, ConfirmationBiasMetric().compute
REFUSED = [
    (HALO, ([1, 4], [[1], [4]], ROWS), r"control has the shape \(2,\); it must be \(n, 1\)"),
    (HALO, ([[1, 2], [4, 5]], [[1], [4]], ROWS), r"control has the shape \(2, 2\)"),
    (HALO, ([[1], [4]], [[1]], ROWS), "same rows, found 2 of control, 1 of treatment"),
    (HALO, ([[1]], [[1]], ROWS), "2 of options, 1 of control"),
    (HALO, ([[1], [4]], [[1], [4]], [1, 2, 3]), r"options has the shape \(3,\)"),
    (HALO, ([[1], [4]], [[1], [4]], [[1], [4]]), "k at least 2"),
    (HALO, ([[1], [math.nan]], [[1], [4]], ROWS), "control, row 1: nan is not a finite number"),
    (HALO, ([[1], [4]], [[math.inf], [4]], ROWS), "treatment, row 0: inf is not a finite number"),
    (HALO, ([[1], [4]], [[1], [4]], [[1, 2, math.nan], [4, 5, 6]]), "options, row 0: nan"),
    (HALO, ([["a"], ["b"]], [[1], [4]], ROWS), "control must hold numbers"),
    (HALO, ([[1], [None]], [[1], [4]], ROWS), "control, row 1|control must hold numbers"),
    (HALO, ([[1], [4]], [[1], [3]], ROWS), "treatment, row 1: 3 is not among its options 4, 5, 6"),
    (ANCHORING, ([[1], [4]], [[1], [4]], ROWS, [[1]]), "2 of control, 1 of anchor"),
    (ANCHORING, ([[1], [4]], [[1], [4]], ROWS, [[1], [math.nan]]), "anchor, row 1: nan"),
    (LOSS, ([[0], [2]], [[1], [1]]), "answer, row 1: 2; an answer is 0 or 1"),
    (LOSS, ([[0], [0.5]], [[1], [1]]), "answer, row 1: 0.5"),
    (LOSS, ([[0], [1]], [[1], [0]]), "lambdas, row 1: 0; it must be above 0"),
    (LOSS, ([[0], [1]], [[-2], [1]]), "lambdas, row 0: -2"),
    (LOSS, ([[0], [1]], [[1], [1], [1]]), "2 of answer, 3 of lambdas"),
    (CONFIRMATION, ([[-1]], [[1]], [[1]], [[4]]), "answer, row 0: -1"),
    (CONFIRMATION, ([[1]], [[-1]], [[1]], [[4]]), "pro, row 0: -1; a count"),
    (CONFIRMATION, ([[1]], [[1]], [[1.5]], [[4]]), "con, row 0: 1.5; a count"),
    (CONFIRMATION, ([[1]], [[0]], [[0]], [[0]]), "n_args, row 0: 0; at least one"),
    (CONFIRMATION, ([[1], [1]], [[1], [3]], [[1], [2]], [[4], [4]]), r"pro \+ con, row 1: 5; more than the n_args"),
]


@pytest.mark.parametrize(("metric", "arrays", "words"), REFUSED)
def test_what_cannot_be_meant_is_refused_by_name_and_row(metric, arrays: tuple, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metric(*arrays)


def halos(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.integers(0, 7, (rows, 1)), rng.integers(0, 7, (rows, 1)), np.tile(np.arange(7), (rows, 1))


def test_below_ten_clusters_bounds_are_rough_and_below_five_there_are_none() -> None:
    few = HaloEffectMetric().interval(*halos(9))
    assert few.low < few.value < few.high and few.method.startswith("rough: n = 9; ") and few.clusters == 9
    assert few.value == pytest.approx(HaloEffectMetric().compute(*halos(9)))
    grouped = HaloEffectMetric().interval(*halos(90), clusters=np.arange(90) // 10)
    assert grouped.method.startswith("rough: n = 9; ") and (grouped.n, grouped.clusters) == (90, 9)
    none = HaloEffectMetric().interval(*halos(4))
    assert math.isnan(none.low) and math.isnan(none.high) and "below 5" in none.method
    assert "rough" not in HaloEffectMetric().interval(*halos(10)).method


def test_the_rough_interval_of_the_notebook_is_scipys_bca() -> None:
    """Five individual values of the notebook, 13/30 on average."""
    from scipy import stats

    values = np.array([0, 1 / 3, 1, 1 / 3, 1 / 2])
    published = from_published(read_yaml(paths.EXPERIMENTS / "cognitive_biases" / "published" / "counts.yaml"))
    (ours,) = (e for e in published if e.id == "anchoring_agnostic" and e.where == {"source": "notebook"})
    theirs = stats.bootstrap((values,), np.mean, n_resamples=50_000, rng=np.random.default_rng(1)).confidence_interval
    # Means of five such values are multiples of 1/30.
    assert ours.low == pytest.approx(theirs.low, abs=1.01 / 30) and ours.high == pytest.approx(
        theirs.high, abs=1.01 / 30
    )
    name, _, rows, keys, columns = notebook_table(published)
    frame = tables.table(name, "x", rows, keys, columns).frame
    shown = frame.set_index("metric")
    assert shown.loc["anchoring_agnostic", "variation"] == "rough: n = 5; BCa over questions"
    assert shown.loc["confirmation_bias", "variation"].startswith("rough: n = 7")
    assert not {"rough"} & set(" ".join(str(e.method) for e in published if e.where.get("test")).split())


def test_the_interval_resamples_clusters_not_rows() -> None:
    # Each row four times over: as clusters nothing is gained, as rows the error would be half.
    once = halos(60)
    repeated = tuple(np.repeat(a, 4, axis=0) for a in once)
    labels = [f"s{i}" for i in np.repeat(np.arange(60), 4)]
    plain = HaloEffectMetric().interval(*once)
    clustered = HaloEffectMetric().interval(*repeated, clusters=labels)
    assert (clustered.low, clustered.high, clustered.se) == pytest.approx((plain.low, plain.high, plain.se))
    assert (clustered.n, clustered.clusters) == (240, 60)
    assert HaloEffectMetric().interval(*repeated).se == pytest.approx(plain.se / 2, rel=0.1)
    column = np.array(labels)[:, None]
    assert HaloEffectMetric().interval(*repeated, clusters=column) == clustered


def test_the_interval_agrees_with_scipys_bca() -> None:
    from scipy import stats

    control, treatment, options, _ = (*halos(80), None)
    anchor = np.full((80, 1), 5)
    metric = AnchoringBiasMetric(anchor_agnostic=False, overall=False)
    values = metric.compute(control, treatment, options, anchor).ravel()
    theirs = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(1))
    ours = metric.interval(control, treatment, options, anchor)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert abs(ours.low - theirs.confidence_interval.low) < width / 20
    assert abs(ours.high - theirs.confidence_interval.high) < width / 20
    assert ours == metric.interval(control, treatment, options, anchor, seed=42)
    assert ours.low != metric.interval(control, treatment, options, anchor, seed=43).low


def gambles(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    lambdas = rng.choice([1.05, 1.5, 2, 4, 6], (rows, 1))
    return (rng.random((rows, 1)) < lambdas / 7).astype(int), lambdas


def arguments(rows: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    listed = rng.choice([6, 8, 10], (rows, 1))
    pro, con = (rng.binomial(listed // 2, 0.5) for _ in range(2))
    return rng.integers(0, 2, (rows, 1)), pro, con, listed


@pytest.mark.parametrize(("metric", "arrays"), [(LossAversionMetric, gambles), (ConfirmationBiasMetric, arguments)])
def test_the_batch_interval_holds_the_weights_and_the_individual_one_the_plain_mean(metric, arrays) -> None:
    given = arrays(120)
    batch, each = metric(overall=True), metric(overall=False)
    whole, plain = batch.interval(*given), each.interval(*given)
    assert whole.value == pytest.approx(batch.compute(*given), abs=1e-12)
    assert plain.value == pytest.approx(float(np.mean(each.compute(*given))), abs=1e-12)
    assert whole.value != pytest.approx(plain.value, abs=1e-3)
    assert whole.low < whole.value < whole.high and plain.low < plain.value < plain.high


def test_the_error_of_a_weighted_batch_is_that_of_a_ratio() -> None:
    answer, lambdas = gambles(400)
    found = LossAversionMetric().interval(answer, lambdas)
    w = 1 / lambdas.ravel()
    residual = w * (1 - answer.ravel() - found.value)
    linearised = math.sqrt(400 / 399 * (residual**2).sum()) / w.sum()
    assert found.se == pytest.approx(linearised, rel=0.08)


@pytest.mark.parametrize(
    ("labels", "words"),
    [(["a"] * 11, "one label for each of the 12 rows"), (["a"] * 11 + [None], "clusters, row 11: no label")],
)
def test_labels_that_do_not_fit_are_refused(labels: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        HaloEffectMetric().interval(*halos(12), clusters=labels)
