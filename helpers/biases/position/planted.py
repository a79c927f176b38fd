"""What was put into simulated judges of pairs, as effects of the place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from helpers.biases.planted import Planted, mean_by, planted_table, trait, win_chance
from helpers.biases.position.families import confirmatory
from helpers.types import Estimate, Model

if TYPE_CHECKING:
    from helpers.run import Asked

#: What a simulated judge has that is not told otherwise.
DEFAULTS = {"noise": 1.0, "tie": 0.4}
READ = (
    "In the simulator are utilities: what the first place is worth more than the second. On different answers the "
    "place competes with their quality, and a sharp judge shows less of the same habit than on two identical texts."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """Which place simulated judges were made to favour and what was found, as Markdown: see `planted_table`.

    A row a judge and candidate of identical texts (`identical_pair_effect`), then of different answers
    (`first_position_effect`).
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    lasting = _lasting(asked)
    judges = {judge.name: judge for judge in asked.experiment.judges}
    for each in estimates:
        if "category" in each.where or each.where.get("judge") not in judges:
            continue
        judge, candidate = judges[each.where["judge"]], each.where.get("candidate", "")
        worth, first, second = implied(judge)
        row = (f"{judge.name}, {candidate}".removesuffix(", "), f"first place {worth:+g}" if worth else "0")
        if each.id == "identical_pair_effect":
            yield Planted("identical texts", *row, first - second, each)
        elif each.id == "first_position_effect" and (judge.name, candidate) in lasting:
            yield Planted("different answers", *row, lasting[judge.name, candidate], each)


def _lasting(asked: Asked) -> dict[tuple, float]:
    """By judge and candidate, how much more often the first wins in both orders than the second does."""
    wins: dict[tuple, dict[str, tuple[float, float]]] = {}
    for judgment in asked.judgments:
        trial = judgment.trial
        if trial.condition == "none" and not trial.request.repeat:
            one, two = asked.simulator.before_noise(trial.request)[0]
            known = (trait(judgment, "tie", DEFAULTS["tie"]), trait(judgment, "noise", DEFAULTS["noise"]))
            pair = (trial.judge.name, trial.where["candidate"], trial.question_id)
            wins.setdefault(pair, {})[trial.where["first"]] = (
                win_chance(one - two, *known),
                win_chance(two - one, *known),
            )
    both = ((pair[:2], [*each.values()]) for pair, each in wins.items() if len(each) == 2)
    return dict(mean_by((pair, one[0] * two[0] - one[1] * two[1]) for pair, (one, two) in both))


def implied(judge: Model) -> tuple[float, float, float]:
    """What the first place is worth to a simulated judge, and how often first and second win of two identical texts.

    >>> judge = Model("sim", "simulated", "sim-1", "gpt", traits={"primacy": [1.5, 0.5], "tie": 1.0})
    >>> [round(each, 4) for each in implied(judge)]
    [1.0, 0.5, 0.1192]
    """
    traits = {**DEFAULTS, **judge.traits}
    one, two = [*traits.get("primacy", ()), 0.0, 0.0][:2]
    tie, noise = max(0.0, traits["tie"]), traits["noise"]
    return one - two, win_chance(one - two, tie, noise), win_chance(two - one, tie, noise)
