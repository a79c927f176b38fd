"""How wide text is in print: the widths of Computer Modern, which is wider than the Times of the styles."""

from __future__ import annotations

import unicodedata

#: Widths in thousandths of the size, of signs that are not as wide as most letters are.
_WIDTHS = {
    **dict.fromkeys("iljI|", 278),
    **dict.fromkeys("fr,.;:!'()[]", 340),
    **dict.fromkeys(" -", 333),
    **dict.fromkeys("t_", 389),
    **dict.fromkeys("cesz", 444),
    **dict.fromkeys("0123456789", 500),
    **dict.fromkeys("FJLPST", 653),
    **dict.fromkeys("ABCDEGHKNOQRUVXYZ&@%+<>=~\N{MINUS SIGN}\N{MULTIPLICATION SIGN}", 778),
    **dict.fromkeys("mw", 833),
    **dict.fromkeys("MW", 1030),
}
_USUAL, _OTHER, _NUMBERED = 556, 1000, 4000
#: Small sizes are drawn relatively wider.
_SMALLER = {10.0: 1.0, 9.0: 1.03, 8.0: 1.065}


def width(text: str, size: float, bold: bool = False) -> float:
    """The width of a line of text in points, at most a few percent too narrow.

    >>> 40 < width("0.5 of all", 10) < 50
    True
    """
    return sum(map(_letter, text)) / 1000 * size * _SMALLER.get(size, 1.0) * (1.15 if bold else 1.0)


def _letter(sign: str) -> float:
    if sign in _WIDTHS:
        return _WIDTHS[sign]
    if unicodedata.normalize("NFD", sign)[0].isascii():
        return _USUAL
    # What pdfTeX has no letter for stands as its number: (U+4E00).
    return _NUMBERED if ord(sign) > 0x2100 else _OTHER
