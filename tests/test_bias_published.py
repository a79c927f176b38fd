"""The published means of thirty biases: what they determine by hand, what the claims say, and what may be concluded."""

from __future__ import annotations

import copy
import itertools
from fractions import Fraction
from typing import Any

import pytest

from helpers import paths
from helpers.biases.cognitive import published
from helpers.claims import load_claims
from helpers.types import Estimate
from helpers.words.numbers import load_numbers
from tests.runs import published_estimates, value

FOLDER = paths.EXPERIMENTS / "cognitive_biases"
#: The table of the source, typed in a second time: mean B and mean |B| in hundredths.
HEATMAP = {
    "information": (54, 57), "survivorship": (41, 47), "framing": (41, 45), "in_group": (41, 45),
    "anchoring": (38, 55), "loss_aversion": (35, 66), "bandwagon": (34, 49), "halo": (34, 47), "hindsight": (32, 46),
    "hyperbolic_discounting": (24, 35), "conservatism": (21, 53), "self_serving": (20, 28), "confirmation": (15, 27),
    "illusion_of_control": (14, 20), "negativity": (12, 45), "mental_accounting": (12, 29),
    "fundamental_attribution_error": (10, 24), "availability_heuristic": (10, 21), "stereotyping": (8, 25),
    "not_invented_here": (8, 16), "escalation_of_commitment": (7, 19), "social_desirability": (7, 19),
    "risk_compensation": (7, 33), "optimism": (6, 19), "reactance": (-1, 20), "planning_fallacy": (-2, 22),
    "endowment": (-5, 24), "anthropomorphism": (-7, 13), "status_quo": (-41, 56), "disposition": (-69, 83),
}  # fmt: skip
#: Mean |B| of the 20 models in hundredths, the one that answers at random last.
MODELS = [37, 32, 35, 37, 41, 35, 37, 32, 32, 33, 36, 32, 39, 32, 36, 37, 40, 32, 34, 54]
ELEVEN = {
    "availability_heuristic", "confirmation", "endowment", "escalation_of_commitment", "illusion_of_control",
    "optimism", "reactance", "risk_compensation",
}  # fmt: skip


@pytest.fixture(scope="module")
def estimates() -> list[Estimate]:
    return [*published_estimates(FOLDER.name)]


def absolute(options: int, x1: int = 0, x2: int = 0) -> Fraction:
    """The mean of |B| over all pairs of answers, each as likely as any other, in exact fractions; 0/0 is 0."""
    total = Fraction(0)
    for a1, a2 in itertools.product(range(options), repeat=2):
        before, after = abs(a1 - x1), abs(a2 - x2)
        total += Fraction(abs(before - after), max(before, after)) if max(before, after) else 0
    return total / options**2


# --- numbers ---------------------------------------------------------------------------------------------------------


def test_the_numbers_are_the_printed_ones_and_no_interval_is_made_up(
    counts: dict[str, Any], estimates: list[Estimate]
) -> None:
    grid = counts["heatmap"]["counts"]
    assert {bias: (row["mean"], row["mean_absolute"]) for bias, row in grid.items()} == {
        bias: (mean / 100, size / 100) for bias, (mean, size) in HEATMAP.items()
    }
    assert [round(100 * value) for value in counts["by_model"]["counts"].values()] == MODELS
    assert set(grid) == set(published.BIASES) and len(MODELS) == counts["heatmap"]["models"] == 20
    assert value(estimates, "ratio_scale", bias="framing") == 0.41
    assert value(estimates, "ratio_scale_absolute", judge="Random") == 0.54
    assert value(estimates, "ratio_scale", bias="disposition", judge="Llama 3.1 70B", run="early run") == -0.83
    assert all(each.method for each in estimates)
    # Nothing but the notebook's own arrays can be drawn again, and these are too few for more than a rough interval.
    sure = [each for each in estimates if each.low == each.low and each.id != "released_anchor_shift"]
    assert len(sure) == 7 and all(each.where["source"] == "notebook" and each.n < 10 for each in sure)
    assert all(each.method.startswith(f"rough: n = {each.n}") for each in sure)


def test_answers_at_random_by_hand_in_fractions(estimates: list[Estimate]) -> None:
    # Drawn: anchors between 10 and 90, of which 1/16 each round to 1 and to 9; percentages between -50 and 50, of
    # which 1/20 each round to the ends; of updates 10, 20, 30, 40 each a quarter.
    anchors = {x: Fraction(1, 16) if x in (1, 9) else Fraction(1, 8) for x in range(1, 10)}
    percents = {x: Fraction(1, 20) if x in (0, 10) else Fraction(1, 10) for x in range(11)}
    assert sum(anchors.values()) == sum(percents.values()) == 1
    by_hand = {bias: absolute(11 if bias in ELEVEN else 7) for bias in HEATMAP}
    by_hand["anchoring"] = sum(chance * absolute(11, x, x) for x, chance in anchors.items())
    by_hand["hindsight"] = sum(chance * absolute(11, x, x) for x, chance in percents.items())
    by_hand["planning_fallacy"] = sum(absolute(11, -update, -3) for update in (1, 2, 3, 4)) / 4
    for bias, mean in by_hand.items():
        assert value(estimates, "ratio_scale_random", bias=bias) == pytest.approx(float(mean), abs=1e-12), bias
    mean = sum(by_hand.values()) / 30
    assert value(estimates, "ratio_scale_random", over="30 biases") == pytest.approx(float(mean), abs=1e-12)
    # The source's own model that answers at random, printed with two decimals.
    assert f"{float(mean):.2f}" == "0.54"
    below = [bias for bias, (_, size) in HEATMAP.items() if Fraction(size, 100) < by_hand[bias]]
    assert value(estimates, "below_random") == len(below) == 25
    # Of two options: (0, 1) and (1, 0) are 1, the others 0.
    assert absolute(2) == Fraction(1, 2)


def test_means_of_the_means_by_hand(estimates: list[Estimate]) -> None:
    assert value(estimates, "ratio_scale", over="30 biases") == pytest.approx(4.06 / 30)
    assert value(estimates, "ratio_scale_absolute", over="30 biases") == pytest.approx(10.88 / 30)
    assert value(estimates, "ratio_scale_absolute", over="20 models") == pytest.approx(7.23 / 20)
    assert value(estimates, "ratio_scale_absolute", over="19 models without the random one") == pytest.approx(6.69 / 19)
    assert value(estimates, "direction_share", bias="reactance") == pytest.approx(1 / 20)
    assert value(estimates, "direction_share", bias="status_quo") == pytest.approx(41 / 56)
    # 4.06 counts the negative ones off, 1.25 together: without their signs it is 6.56 of 10.88.
    assert value(estimates, "direction_share", over="30 biases") == pytest.approx(6.56 / 10.88)


def test_an_impossible_mean_is_found(counts: dict[str, Any]) -> None:
    odd = copy.deepcopy(counts)
    odd["heatmap"]["counts"]["halo"]["mean"] = -0.49
    odd["by_model"]["counts"]["GPT-4o"] = 0.54
    found = published.from_published(odd)
    assert value(found, "impossible_means") == 1 and value(found, "above_random") == 1


def test_what_is_drawn_shapes_the_expectation() -> None:
    drawn = {"anchor": {"choices": [50]}, "estimation_update": {"choices": [30]}}
    assert published.random_of_bias("anchoring", drawn) == pytest.approx(float(absolute(11, 5, 5)))
    assert published.random_of_bias("planning_fallacy", drawn) == pytest.approx(float(absolute(11, -3, -3)))
    half = {"anchor": {"uniform": [0, 10]}}
    expected = (absolute(11, 0, 0) + absolute(11, 1, 1)) / 2
    assert published.random_of_bias("anchoring", half) == pytest.approx(float(expected))


# --- claims ----------------------------------------------------------------------------------------------------------


def test_every_published_number_has_its_claim(counts: dict[str, Any]) -> None:
    claims = {claim.id: claim.published for claim in load_claims(FOLDER / "claims.yaml")}
    for bias, (mean, size) in HEATMAP.items():
        assert claims[f"heatmap_mean_{bias}"] == mean / 100 and claims[f"heatmap_mean_absolute_{bias}"] == size / 100
    for name in ("early_run", "secondary"):
        for bias, mean in counts[name]["counts"].items():
            assert claims[f"{name.split('_')[0]}_{bias}"] == mean
    models = [size for id, size in claims.items() if id.startswith("model_")]
    assert [round(100 * value) for value in models] == MODELS[:-1] and claims["random_model"] == 0.54


def test_estimands_of_published_numbers_are_declared_once(estimates: list[Estimate]) -> None:
    declared = load_numbers("cognitive").estimands
    assert {id for id, each in declared.items() if each.interval == "none"} <= {each.id for each in estimates}
    assert f"Below {published.NEARLY:.0%} a bias is called" in declared["direction_share"].words


# --- words -----------------------------------------------------------------------------------------------------------


def test_the_finding_says_what_the_numbers_say(counts: dict[str, Any], estimates: list[Estimate]) -> None:
    said = published.published_finding(counts, estimates)
    assert "Of all 20 models the one that answers at random has the largest published mean |B|" in said
    assert "(0.54; answers at random are expected to have 0.541; the other 19: 0.32 to 0.41)" in said
    assert "printed average of 0.36, which is 0.352 without it" in said
    assert "On 25 of 30 biases mean |B| is below" in said and "not below are Disposition Effect (0.83 against" in said
    assert "60.3 % of mean |B| has one direction" in said and "5.0 % (Reactance) to 94.7 % (Information Bias)" in said
    assert "below 25 %: Reactance, Planning Fallacy, Endowment Effect, Risk Compensation." in said
    assert "Disposition Effect (-0.69), Status-Quo Bias (-0.41), Anthropomorphism (-0.07)" in said
    assert "The metric of Conservatism was corrected" in said and "Claude 3 Haiku was evaluated but is not" in said
    assert "significant" not in said and len(said.splitlines()) == 4


def test_the_finding_changes_with_the_numbers(counts: dict[str, Any]) -> None:
    other = copy.deepcopy(counts)
    other["by_model"]["counts"] |= {"GPT-4o": 0.60, "Phi-3.5": 0.54}
    other["heatmap"] |= {"invalid": [], "missing_models": []}
    for row in other["heatmap"]["counts"].values():
        row |= {"mean": 0.3, "mean_absolute": 0.31}
    said = published.published_finding(other, published.from_published(other))
    assert "2 of 19 models have at least the mean |B| of the one that answers at random" in said
    assert "GPT-4o, Phi-3.5" in said and "largest published" not in said
    assert "On 30 of 30 biases" in said and "not below are" not in said
    assert "96.8 % of mean |B| has one direction" in said and "Nearly directionless" not in said
    assert "Against the direction" not in said and "Conservatism" not in said and "Haiku" not in said
