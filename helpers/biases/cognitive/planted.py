"""What was put into simulated models, beside what was found of it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from helpers.biases.cognitive.families import by_judge, corrected, stands
from helpers.types import Estimate, Model

NONE = "These models are not simulated: nothing was planted, so nothing planted can be compared."
READ = (
    "A cell: the planted strength, then the effect that was found (found: it stands after correction). Planted is, of "
    "scales, the share of the way from the honest answer to the target; of gambles, the logarithm by which a possible "
    "loss raises the ratio that is asked for; of arguments, logits. It is not the effect itself, a share of the "
    "larger distance to the target that noise in the answers makes smaller. With 0 planted the true effect is 0, "
    "whatever the noise: an effect that is found there is a false alarm, of which the correction over all cells allows "
    "one now and then."
)


def planted(judges: Sequence[Model], estimates: Sequence[Estimate]) -> str:
    """Which biases simulated models were given and which were found, as Markdown: a table, and how to read it.

    A row a bias, a column a model. Models that are not simulated, or not estimated, are left out; where there are none
    the text says so.
    """
    grid, p, stand = by_judge(estimates), corrected(estimates), stands(estimates)
    shown = [judge for judge in judges if judge.simulated and any(judge.name in at for at in grid)]
    if not shown or not any(each.data == "simulated" for each in estimates):
        return NONE
    rows = []
    for bias in dict.fromkeys(at[0] for at in grid):
        cells = []
        for judge in shown:
            strength = judge.traits.get("biases", {}).get(bias, 0.0)
            at = (bias, judge.name)
            cells.append(_cell(strength, grid.get(at), p.get(at, math.nan), at in stand))
        rows.append(f"| {bias.replace('_', ' ')} | {' | '.join(cells)} |")
    noise = [f"{judge.traits.get('answer_noise', 0.1):g}" for judge in shown]
    head = [f"| SIMULATED | {' | '.join(judge.name for judge in shown)} |", f"|---|{'---|' * len(shown)}"]
    return "\n".join([*head, *rows, f"| *noise, of the scale* | {' | '.join(noise)} |", "", READ])


def _cell(strength: float, found: Estimate | None, p: float, stands: bool) -> str:
    """What was planted and found of one bias in one model."""
    if found is None or math.isnan(found.value):
        return f"{strength:g}; not estimated"
    if math.isnan(p):
        return f"{strength:g}; {found.value:+.2f} (no test)"
    if strength:
        told = "**found**" if stands and found.value * strength > 0 else "not found"
    else:
        told = "**false alarm**" if stands else "none found"
    return f"{strength:g}; {found.value:+.2f} ({told})"
