"""What was put into simulated judges, beside what was found of it."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.biases.self_preference.concluding import family, of
from helpers.types import Estimate, Model


def planted(judges: Sequence[Model], estimates: Sequence[Estimate]) -> str:
    """What simulated judges feel for their own words and what was found, as Markdown: a table, and how to read it.

    Judges that are not simulated, or not estimated, are left out; where there are none the text says so.
    """
    if not any(each.data == "simulated" for each in estimates) or not any(judge.simulated for judge in judges):
        return "These judges are not simulated: nothing was planted, so nothing planted can be compared."
    rows = []
    effects = family(estimates)
    for judge in judges:
        if not judge.simulated or judge.name not in effects:
            continue
        known = of(estimates, "recognition_balanced", judge=judge.name)
        felt = [judge.traits.get(name, 0.0) for name in ("self_preference", "recognition")]
        rows.append(f"| {judge.name} | {felt[0]:g} | {effects[judge.name]} | {felt[1]:g} | {known or 'not asked'} |")
    if not rows:
        return "SIMULATED judges, but no edit was judged: what was planted in them cannot be compared with anything."
    head = [
        "| SIMULATED judge | planted preference | effect of the edit | planted recognition | recognition |",
        "|---|---|---|---|---|",
    ]
    said = (
        "Planted numbers are utilities of a text that is wholly in the judge's own words; an edit takes away but a few "
        "of these, so its effect is a small part of the preference, and often too small for so few passages. An effect "
        "that is found where 0 was planted is a false alarm. All doses share one repeat arm: an accident in it is seen "
        "at every dose."
    )
    return "\n".join([*head, *rows, "", said])
