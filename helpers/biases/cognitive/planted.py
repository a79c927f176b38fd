"""What was put into simulated models that take bias tests, as effects."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from helpers.biases.cognitive.families import Place, confirmatory, place
from helpers.biases.cognitive.seed_forms import pull
from helpers.biases.planted import Planted, planted_table
from helpers.types import Estimate, Trial

if TYPE_CHECKING:
    from helpers.run import Asked

#: So often a selection of arguments is drawn; all else is computed without drawing.
DRAWN = 200
READ = (
    "In the simulator: of scales, the share of the way from the honest answer to the target; of gambles, the logarithm "
    "by which a possible loss raises the ratio that is asked for; of arguments, logits. The effect is a share of the "
    "larger distance to the target, which noise in the answers makes smaller; a share of answers that takes the first "
    "option whatever it says makes it smaller too."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which biases simulated models were given and which were found, as Markdown: see `planted_table`.

    A row a bias (`bias_effect`, the mean over models), then a row a bias and model.
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    truths, traits = _truths(asked), {judge.name: judge.traits for judge in asked.experiment.judges}
    effects = [each for each in estimates if each.id == "bias_effect" and place(each.where) in truths]
    for each in sorted(effects, key=lambda each: "judge" in each.where):
        bias, judge = each.where["bias"], each.where.get("judge", "")
        strengths = [traits[name].get("biases", {}).get(bias, 0.0) for name in ([judge] if judge else traits)]
        whom, size = judge or "mean over models", f"{fmean(strengths):g}"
        yield Planted(bias.replace("_", " "), whom, size, truths[place(each.where)], each)


def _truths(asked: Asked) -> dict[Place, float]:
    """The effect that follows from what each model would answer to its controls and treatments, noise averaged out."""
    seen: dict[tuple, dict[str, Trial]] = defaultdict(dict)
    for judgment in asked.judgments:
        trial = judgment.trial
        if trial.condition in ("control", "treatment") and not trial.request.repeat:
            seen[trial.judge.name, trial.category, trial.question_id, trial.wording.name][trial.condition] = trial
    sums: dict[Place, list[tuple[float, float]]] = defaultdict(list)
    for seed, ((judge, bias, *_), pair) in enumerate(seen.items()):
        if len(pair) == 2:
            sums[bias, judge].append(_moved(asked, pair["control"], pair["treatment"], seed))
    means = {at: np.sum(each, axis=0) for at, each in sums.items()}
    found: dict[Place, float] = {at: float(total / share) for at, (total, share) in means.items() if share}
    for bias in {bias for bias, _ in found}:
        found[bias,] = fmean(value for (each, *judge), value in found.items() if each == bias and judge)
    return found


def _moved(asked: Asked, control: Trial, treatment: Trial, seed: int) -> tuple[float, float]:
    """The expected effect of a pair times how often it has a direction, and how often that is."""
    side = {"for": 1.0, "against": -1.0}.get(treatment.where.get("decided", ""), np.nan)
    target = side if treatment.wording.target is None else treatment.wording.target
    (a1, p1), (a2, p2) = (_answers(asked, trial, seed) for trial in (control, treatment))
    weights, values = np.outer(p1, p2), pull(a1[:, None], a2[None, :], np.array(target))
    defined = ~np.isnan(values)
    return float(weights[defined] @ values[defined]), float(weights[defined].sum())


def _answers(asked: Asked, trial: Trial, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What a model may answer to one version, in values, and how often it does."""
    values, often = map(np.array, asked.simulator.chances(trial.request))
    if trial.form == "choice":
        return values, often
    # The same draws for control and treatment: where nothing is planted exactly nothing comes out.
    order = values.argsort(kind="stable")
    taken = (np.random.default_rng(seed).random((DRAWN, len(often))) < often[order]).astype(float)
    pro, con = (taken @ (values[order] == side) for side in (1, -1))
    some = pro + con > 0
    return (pro - con)[some] / (pro + con)[some], np.full(some.sum(), 1 / DRAWN)
