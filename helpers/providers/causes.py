"""An error and all that led to it."""

from __future__ import annotations


def causes(error: BaseException) -> list[BaseException]:
    """The error first, then what each was raised from or while handling; a circle ends where it closes."""
    links = [error]
    while (below := links[-1].__cause__ or links[-1].__context__) is not None and below not in links:
        links.append(below)
    return links
