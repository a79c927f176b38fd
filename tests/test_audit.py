"""The audit of places: one order is seen through, balance is tested as permutations are, all in a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from helpers import datasets
from studies.calibration.worlds.listwise import WORLDS, draw
from studies.calibration.worlds.listwise import frame as frame_of

CANNOT = "which model wins and which letter wins cannot be told apart."


def judged(orders, judges=("one",), condition="none") -> pd.DataFrame:
    """A listwise frame in which question i shows orders[i] to every judge."""
    rows = [
        {"question_id": f"q{i}", "judge": judge, "condition": condition, "repeat": 0, "label": "ABCDEFGH"[slot]}
        | {"candidate": candidate, "top": float(slot == 0)}
        for i, order in enumerate(orders)
        for judge in judges
        for slot, candidate in enumerate(order)
    ]
    return pd.DataFrame(rows)


def drawn(n: int, seed: int, names: str = "uvwxyz") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[names[i] for i in rng.permutation(len(names))] for _ in range(n)]


def test_one_order_throughout_is_told_in_one_sentence():
    audit = datasets.audit_places(judged(["zyxwvu"] * 20, ["one", "two"]))
    assert str(audit) == f"Each of the 6 models stood under one and the same letter in all 40 judgments: {CANNOT}"
    assert (audit.judgments, audit.orders, audit.draws) == (40, 1, 1)
    assert audit.deviation == pytest.approx(5 / 6) and np.isnan(audit.p)
    assert audit.table.loc["z"].to_dict() == {"A": 40, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0}


def test_a_balanced_design_is_called_balanced():
    frame = frame_of(draw(WORLDS["plain"], 12, np.random.default_rng(0)))
    audit = datasets.audit_places(frame)
    assert (audit.table == 12).to_numpy().all() and audit.deviation == 0 and audit.chi2 == 0
    assert audit.sentence == (
        f"{audit.orders} different orders were shown in 72 judgments; each of the 6 models stood under each letter "
        "12 times (equal shares: 12): at least as balanced as random orders would be (p = 1)."
    )


def test_the_chi_square_is_that_of_permutations():
    audit = datasets.audit_places(judged(drawn(90, 4)))
    observed = audit.table.to_numpy()
    # Pearson's statistic of the table, times (k - 1) / k, with (k - 1)^2 degrees of freedom.
    assert audit.chi2 == pytest.approx(((observed - 15) ** 2 / 15).sum() * 5 / 6)
    assert audit.dof == 25
    found = [datasets.audit_places(judged(drawn(40, seed, "uvwx"))).chi2 for seed in range(300)]
    # Mean 9 and variance 18 of a chi-square with 9 degrees of freedom, within three standard errors of 300 draws.
    assert np.mean(found) == pytest.approx(9, abs=3 * (18 / 300) ** 0.5)
    assert np.var(found) == pytest.approx(18, rel=0.35)


def test_imbalance_is_found_and_said():
    orders = drawn(100, 7)
    favoured = [["u", *(x for x in order if x != "u")] if i % 2 else order for i, order in enumerate(orders)]
    audit = datasets.audit_places(judged(favoured))
    assert audit.p < 0.005
    assert "less balanced than random orders would be (p < 0.0001), so some models had better places" in audit.sentence


def test_a_model_that_never_moved_is_named():
    audit = datasets.audit_places(judged([["a_first", *order] for order in drawn(60, 3, "vwxyz")]))
    assert audit.sentence.endswith("Of a_first, model and letter cannot be told apart.")


def test_an_order_shared_by_all_judges_or_hints_is_one_draw():
    orders = drawn(60, 1)
    alone, shared = datasets.audit_places(judged(orders)), datasets.audit_places(judged(orders, ["a", "b", "c"]))
    assert (shared.judgments, shared.draws) == (180, 60) and shared.p == pytest.approx(alone.p)
    assert "180 judgments, one for all judgments of a question;" in shared.sentence
    frames = [judged(orders[i::2], [judge]) for i, judge in enumerate("ab")]
    hints = pd.concat([frame.assign(condition=hint) for frame in frames for hint in ("none", "full")])
    assert datasets.audit_places(hints).draws == 60
    by_judge = pd.concat([judged([order] * 40, [f"j{i}"]) for i, order in enumerate(orders[:3])])
    audit = datasets.audit_places(by_judge)
    assert audit.draws == 3 and np.isnan(audit.p)
    assert "not tested (3 separate draws of an order are too few for a test)" in audit.sentence


def test_unknown_places_are_counted_and_nothing_is_made_up():
    frame = judged(drawn(50, 2))
    frame.loc[frame["question_id"] == "q0", "label"] = None
    frame.loc[6, "candidate"] = None  # one open place: that judgment's order is not known
    audit = datasets.audit_places(frame)
    assert (audit.judgments, audit.unknown) == (48, 2)
    assert audit.sentence.endswith("Of 2 further judgments the places are not known.")
    nothing = "No judgment tells which model stood under which letter: nothing can be audited."
    assert datasets.audit_places(frame.assign(label=None)).sentence == nothing
    assert datasets.audit_places(frame[:0]).sentence == nothing
    assert "one judgment" in datasets.audit_places(judged(["uvw"])).sentence


def test_different_models_a_question_have_no_common_test():
    audit = datasets.audit_places(judged([["u", "v", "w"], ["w", "x", "u"]] * 20))
    assert np.isnan(audit.p) and "no test fits all" in audit.sentence and "equal shares" not in audit.sentence


def test_real_judgments_show_one_letter_a_model(real_data):
    everything = datasets.audit_places(datasets.load_judgments(real_data / "llm_eval"))
    assert everything.sentence == (
        f"Each of the 6 models stood under one and the same letter in all 480 judgments: {CANNOT}"
    )
    assert everything.table.to_numpy().max() == 480
