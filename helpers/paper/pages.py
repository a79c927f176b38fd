"""The pages of the styles: how wide their columns are, and how large their text and captions."""

from __future__ import annotations

from dataclasses import dataclass

#: Points to an inch, as TeX counts them.
POINTS = 72.27
#: Text smaller than this is not set in a table, whatever it holds.
SMALLEST = 8.0


@dataclass(frozen=True)
class Page:
    """The text block of one style: lengths in inches, sizes of letters in points.

    `column` is the width of a column, `text` that of the whole block (the same where there is one column), `base` the
    size of the text, `caption` that of captions.
    """

    name: str
    paper: str
    columns: int
    column: float
    text: float
    height: float
    base: float
    caption: float

    @property
    def gap(self) -> float:
        """The space between two columns."""
        return self.text - 2 * self.column if self.columns == 2 else 0.0


#: Of the style files of 2024: text block, columns, \normalsize and the size of captions.
PAGES = {
    each.name: each
    for each in (
        Page("neurips", "letterpaper", 1, 5.5, 5.5, 9.0, 10, 10),
        Page("icml", "letterpaper", 2, 3.25, 6.75, 9.0, 10, 9),
        Page("acl", "a4paper", 2, 3.03, 6.3, 9.72, 11, 10),
    )
}


def page(name: str) -> Page:
    """The page of that style; an unknown one is a ValueError that lists the known ones."""
    if name not in PAGES:
        raise ValueError(f"no paper style '{name}'; there are: {', '.join(PAGES)}")
    return PAGES[name]
