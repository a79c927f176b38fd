"""Judge cards: everything that was found of each judge, worst first, published judges before simulated ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from helpers import overview
from helpers.figures import panels
from helpers.report.fragments import Place
from helpers.report.results import Result
from helpers.words import CARD_VERDICTS, listed

SHOWN = ("measure", "verdict", "estimate", "p", "smallest", "n", "clusters", "words")


@dataclass(frozen=True)
class Card:
    """One judge: its lines, the model ids that it answered as, and what is worst in a few words."""

    name: str
    address: str
    frame: pd.DataFrame
    returned: str
    worst: str
    link: str


@dataclass(frozen=True)
class Source:
    """The judges of one source of data."""

    title: str
    address: str
    simulated: bool
    judges: tuple[Card, ...]


def sources(results: Sequence[Result], marked: Sequence[str], place: Place) -> list[Source]:
    """The cards of all judges by source of data; `marked` are the judges that the table of verdicts has rows of."""
    lines = overview.words([each.found for each in results if each.found])
    returned = {name: ids for each in results for name, ids in each.judges.items() if ids}
    found = []
    for data, rows in lines.groupby("data", sort=False):
        title = panels.SOURCES.get(str(data), str(data))
        title = f"{title[:1].upper()}{title[1:]}"
        address = place.address(title)
        place.headings.append((title, address))
        cards = tuple(
            _card(str(judge), mine, returned, marked, place, str(data))
            for judge, mine in rows.groupby("judge", sort=False)
        )
        found.append(Source(title, address, data == "simulated", cards))
    return found


def _card(
    judge: str, rows: pd.DataFrame, returned: dict[str, Sequence[str]], marked: Sequence[str], place: Place, data: str
) -> Card:
    gravest = min(rows["verdict"], key=CARD_VERDICTS.index)
    worst = [str(measure) for measure in rows.loc[rows["verdict"] == gravest, "measure"].unique()]
    told = f"{gravest}: {listed(worst)}" if gravest != "described" else ""
    bare = judge.partition(" (")[0]
    asked = data not in ("published", "hub", "folder")
    link = f"verdicts.html?judge={bare}" if asked and bare in marked else ""
    answered = listed(returned.get(bare, ())) if asked else ""
    return Card(judge, place.address(f"judge-{data}-{judge}"), rows[list(SHOWN)], answered, told, link)
