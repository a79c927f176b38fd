"""What a stage says that ends with replies missing: how many, of which model, why, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: By model and reason: what each call that is missing for it was told beside, "" for nothing.
Reasons = Mapping[str, Mapping[str, Sequence[str]]]


def interruption(stage: str, stored: int, wanted: int, asked: bool, given_up: int, broken: Exception | None) -> str:
    """What an interrupted stage says; `broken` is what had stopped it already."""
    lost = f", {given_up} given up in flight and perhaps billed" if given_up else ""
    why = f" ({broken})" if broken else ""
    counts = f"{stored} of {wanted} replies are stored, {wanted - stored} are missing{lost}{why}"
    return f"{stage}: {'' if asked else 'nothing was asked; '}{counts}; run the same again to ask for these only"


def incomplete(stored: int, wanted: int, reasons: Reasons) -> str:
    """What a stage says when all is asked that could be; of several words on one reason the last ones stand for all."""
    lines = [
        f"  {name}: "
        + "; ".join(f"{len(said)} x {reason}" + (f" ({said[-1]})" if said[-1] else "") for reason, said in why.items())
        for name, why in sorted(reasons.items())
    ]
    return (
        f"{wanted - stored} of {wanted} replies are still missing:\n"
        + "\n".join(lines)
        + "\nEverything that came is stored: run the same again to ask for these only, or set judgments='stored' "
        "(an audit: --stored) to analyse what is there."
    )
