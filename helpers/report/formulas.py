"""Formulas of notebooks as MathML, which browsers draw without a script and screen readers read."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET

#: A formula between dollars, or a piece of code, in which dollars are only signs.
_FORMULA = re.compile(r"(?P<code>(`+).+?\2)|(?<![\\$])\$(?P<tex>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)", re.DOTALL)
#: A mark that stands for a formula while Markdown is made a page; its signs are private ones that no text keeps.
_MARK = "\ue000{}\ue001"
#: Browsers break no line within a formula: one of more letters than this gets a box of its own that scrolls.
LONG = 40
_BOX = '<span class="formula" role="group" tabindex="0" aria-label="Formula">{}</span>'
#: What a formula may be made of.
PARTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot"),
    *("mover", "munder", "munderover", "mtable", "mtr", "mtd"),
}
_SAFE = {"display": re.compile("inline"), "width": re.compile(r"-?[0-9.]+em"), "stretchy": re.compile("true|false")}
_SPACE = "{http://www.w3.org/1998/Math/MathML}"


def with_marks(markdown: str) -> tuple[str, list[str]]:
    """A text with a mark in place of each formula, and the formulas in TeX."""
    found: list[str] = []

    def mark(match: re.Match[str]) -> str:
        if match["tex"] is None:
            return match[0]
        found.append(match["tex"])
        return _MARK.format(len(found) - 1)

    clean = markdown.replace("\ue000", "").replace("\ue001", "")
    return _FORMULA.sub(mark, clean), found


def set_formulas(page: str, formulas: list[str]) -> str:
    """The page with each mark replaced by its formula."""
    for number, tex in enumerate(formulas):
        made = mathml(tex)
        page = page.replace(_MARK.format(number), _BOX.format(made) if len(tex) > LONG else made)
    return page


def mathml(tex: str) -> str:
    r"""A formula as MathML; one that holds anything but letters, numbers and signs stands as its TeX, as code.

    >>> mathml("a_1")[:46], mathml(r"\notacommand")
    ('<math display="inline"><mrow><msub><mi>a</mi><', '<code>\\notacommand</code>')
    """
    from latex2mathml.converter import convert

    try:
        tree = ET.fromstring(convert(tex))
    except Exception:  # the library's own errors, and XML's
        return _code(tex)
    for element in tree.iter():
        element.tag = element.tag.removeprefix(_SPACE)
        told = element.text or ""
        if element.tag not in PARTS or "\\" in told:
            return _code(tex)
        element.attrib = {key: value for key, value in element.attrib.items() if _allowed(key, value)}
    return ET.tostring(tree, encoding="unicode")


def _allowed(key: str, value: str) -> bool:
    return key in _SAFE and _SAFE[key].fullmatch(value) is not None


def _code(tex: str) -> str:
    return f"<code>{html.escape(tex)}</code>"
