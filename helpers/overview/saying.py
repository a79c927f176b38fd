"""The sentences of the overview, computed from what was collected."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from helpers.claims import count_claims, kind_words
from helpers.figures import cards, panels
from helpers.overview.collecting import Found
from helpers.overview.frames import claims, costs, lines
from helpers.words import CardLine, listed

#: Judges of one verdict that a sentence names before it only counts them.
NAMED = 8


def bottom_line(
    found: Sequence[Found], absent: Mapping[str, str] | None = None, checked: pd.DataFrame | None = None
) -> str:
    """Which judge to distrust for what, a sentence a source of data, real judges first; claims; what is missing.

    `checked` are the claims to count (`claims`), by default those of the experiments.
    """
    every = lines(found)
    told = [_source(every, data, judges) for data, judges in cards.ranked(every).items()]
    told = told or ["- No experiment has results here: `recuse run` makes them."]
    table = claims(found) if checked is None else checked
    if len(table):
        every, out, differ = count_claims(table)
        told.append(f"- **Published numbers**: of {every:,} that can fail {out:,} come out, {differ:,} differ.")
    if absent:
        told.append(f"- **Not here**: {'; '.join(f'{name} ({why})' for name, why in absent.items())}.")
    return "\n".join(told)


def _source(every: Sequence[CardLine], data: str, judges: Sequence[str]) -> str:
    """One sentence on one source of data: which of its judges are biased, and of which that is hinted at."""
    mine = [line for (who, _), line in cards.cells(every).items() if who[0] == data]
    said = []
    for verdict, words in (("bias", "bias **shown**"), ("hint", "**hinted at**")):
        named = {m: [x for x in mine if x.measure == m and x.verdict == verdict] for m in cards.measures(every)}
        parts = [f"*{measure}*: {_names(some, judges)}" for measure, some in named.items() if some]
        if parts:
            said.append(f"{words} in {'; '.join(parts)}")
    rest = len(judges) - len({line.judge for line in mine if line.verdict in ("bias", "hint", "not shown")})
    counted = f"{len(judges)} judge{'' if len(judges) == 1 else 's'}"
    counted += f", {rest} of them without a verdict" if rest else ""
    source = panels.SOURCES.get(data, data)
    about = " This says nothing of real models." if data == "simulated" else ""
    none = "no bias is shown" if rest < len(judges) else "of no bias anything can be told"
    return f"- **{source[0].upper()}{source[1:]}** ({counted}): {'. '.join(said) or none}.{about}"


def _names(some: Sequence[CardLine], order: Sequence[str]) -> str:
    ordered = sorted(some, key=lambda line: order.index(line.judge))
    names = [f"{line.judge} {cards.number(line.estimate)}" for line in ordered]
    return listed([*names[:NAMED], f"{len(names) - NAMED} more"]) if len(names) > NAMED + 1 else listed(names)


def claims_words(table: pd.DataFrame) -> str:
    """How many published numbers come out, and apart from these how many cannot fail. Takes `claims`."""
    if table.empty:
        return "No published number was checked."
    every, out, differ = count_claims(table)
    told = f"Of {every} published numbers that can fail {out} come out, {differ} differ. Of {len(table)} checked:"
    return "\n".join([told, "", *kind_words(table)])


def costs_words(found: Sequence[Found]) -> str:
    """Tokens and dollars of everything that these results read."""
    table = costs(found)
    if table.empty:
        return "Nothing was asked."
    total = table.iloc[-1]
    usd = "at a price that is not known for all models" if math.isnan(total["usd"]) else f"for ${total['usd']:.2f}"
    return (
        f"{total['calls']:,} replies, {total['input']:,} tokens in and {total['output']:,} out, {usd}, whenever "
        "they were asked; replies that two experiments share count in both. Simulated judges cost nothing."
    )
