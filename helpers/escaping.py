"""Text of users and models made harmless for where it is shown: pages, Markdown, LaTeX, spreadsheets, terminals."""

from __future__ import annotations

import re
import unicodedata
from html import escape

from .paths import load_table

#: Letters of one text that a page shows, and of one cell or caption that LaTeX (whose lines may not be longer) gets.
LONGEST_SHOWN, LONGEST_CELL, LONGEST_CAPTION = 6000, 1000, 10_000
#: Categories of characters that draw nothing but change what is drawn, or that no file holds: control characters, marks
#: of writing direction, tags, zero widths, surrogates, line separators. An unassigned one may be a letter tomorrow.
UNSEEN = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))
#: Invisible ones that texts of many languages, and emoji, are made of.
KEPT = frozenset("\n\t\u200c\u200d")
#: Classes in which a page looks for no formulas, and a sign that formulas begin with within them.
NO_FORMULAS = "tex2jax_ignore mathjax_ignore"
_NO_FORMULA = f'<span class="{NO_FORMULAS}">&#{{}};</span>'
#: The code blocks that `fenced` makes.
_FENCED = re.compile(r"^(?P<fence>`{3,})text\n(?:(?!(?P=fence)).)*?\n(?P=fence)$", re.DOTALL | re.MULTILINE)
_ENTITIES = {"&": "&amp;", "<": "&lt;", "](": "]&#40;", "]:": "]&#58;", "://": ":&#47;&#47;"}

_FORMULA = r"[^\w!-/:-@\[-`{-~]*[=+@\-\uff0b\uff0d\uff1d\uff20]"

#: How LaTeX prints signs, and which signs pdfTeX has no letter for: escaping.toml.
_LATEX = load_table("escaping.toml")
_FOREIGN, _SIGNS = re.compile(_LATEX["foreign"]), str.maketrans(_LATEX["signs"])


def visible(text: str, unseen: str = "\N{REPLACEMENT CHARACTER}", kept: frozenset[str] = KEPT) -> str:
    r"""A text in which every sign that nobody would see stands as a replacement sign; line ends are \n.

    >>> visible("a\u202eb\x1b[31m\r\nc")
    'a\ufffdb\ufffd[31m\nc'
    """

    def seen(found: re.Match[str]) -> str:
        sign = found[0]
        none = "\ufdd0" <= sign <= "\ufdef" or sign in "\ufffe\uffff"  # says Unicode, and XML refuses it
        return unseen if (none or unicodedata.category(sign) in UNSEEN) and sign not in kept else sign

    return re.sub(r"[^ -~\n\t]", seen, text.replace("\r\n", "\n"))


def html(text: object) -> str:
    """A text for a page, within elements and within quoted attributes."""
    return escape(visible(str(text)))


def markdown(text: str, greater: bool = False) -> str:
    """A Markdown text in which, outside the code blocks of `fenced`, `<` is only a sign and nothing links or loads.

    Emphasis, lists and tables stay. `greater` writes `>` as an entity too.

    >>> markdown("a <b>"), markdown("![x](http://127.0.0.1/x.png)"), markdown("[x]: javascript:y")
    ('a &lt;b>', '![x]&#40;http:&#47;&#47;127.0.0.1/x.png)', '[x]&#58; javascript:y')
    """

    def signs(words: str) -> str:
        text = visible(words)
        for mark, entity in (_ENTITIES | ({">": "&gt;"} if greater else {})).items():
            text = text.replace(mark, entity)
        text = re.sub(r"(?i)\b(www)\.", r"\1&#46;", text)
        text = re.sub("`{3,}|~{3,}", lambda run: f"&#{ord(run[0][0])};" * len(run[0]), text)
        text = re.sub(r"\\(?=[\\A-Za-z])", _NO_FORMULA.format(ord("\\")), text)
        # One dollar is an amount; two could hold a formula between them.
        return text.replace("$", _NO_FORMULA.format(ord("$"))) if text.count("$") > 1 else text

    parts, at = [], 0
    for block in _FENCED.finditer(text):
        parts += [signs(text[at : block.start()]), visible(block[0])]
        at = block.end()
    return "".join([*parts, signs(text[at:])])


def slanted(text: str) -> str:
    """Words in one slanted line of Markdown, whose own signs neither end the slanting nor hide the star that does."""
    words = re.sub(r"\s*\n\s*", " ", markdown(text)).replace("\\", _NO_FORMULA.format(ord("\\")))
    return "*" + words.replace("*", r"\*") + "*"


def fenced(text: str) -> str:
    """A text as a code block that it cannot close, shortened in the middle when very long."""
    if len(text) > LONGEST_SHOWN:
        half = LONGEST_SHOWN // 2
        text = f"{text[:half]}\n[... {len(text) - LONGEST_SHOWN} characters ...]\n{text[-half:]}"
    text = visible(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 3)
    return f"{fence}text\n{text}\n{fence}"


def latex(text: object) -> str:
    r"""Text as LaTeX prints it; line breaks and signs that nobody sees, those of writing direction too, become spaces.

    Letters that pdfTeX cannot set stand as they are for LuaTeX and XeTeX, and by their numbers for pdfTeX.

    >>> latex("50 % of a_b \\ {x}~^")
    '50 \\% of a\\_b \\textbackslash{} \\{x\\}\\textasciitilde{}\\textasciicircum{}'
    """
    words = visible(str(text), unseen=" ", kept=frozenset("\n\t"))
    words = re.sub("[\n\t]+|[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]", " ", words)  # spaces of all widths
    words = unicodedata.normalize("NFC", words)  # pdfTeX has an é, but no accent for the letter before

    def either(found: re.Match[str]) -> str:  # only an engine that sets all letters has \Uchar
        return rf"\ifdefined\Uchar {found[0]}\else({' '.join(f'U+{ord(sign):04X}' for sign in found[0])})\fi{{}}"

    escaped = _FOREIGN.sub(either, words.translate(_SIGNS))
    # After \\ or \midrule a bracket or star would be read as their argument.
    return "{}" + escaped if escaped.lstrip().startswith(("[", "*")) else escaped


def cut(text: object, most: int) -> str:
    """The beginning of a text, and an ellipsis where it is longer than `most` letters."""
    text = str(text)
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def cell(text: str) -> str:
    r"""Text for a cell of CSV: one that a spreadsheet would run as a formula gets an apostrophe, line ends are \n.

    >>> cell("=1+1"), cell(" \ufeff@SUM(1)"), cell("a;=1+1"), cell("a\rb")
    ("'=1+1", "' \ufffd@SUM(1)", "a;'=1+1", 'a\nb')
    """
    # The csv module quotes a cell with \n, but not one with a bare \r, after which a reader sees a new row.
    line = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    # Where spreadsheets write semicolons or tabs between cells, what follows one, or a line end, begins a cell.
    line = re.sub(rf"([;\t\n])(?={_FORMULA})", r"\1'", line)
    return f"'{line}" if re.match(rf"[\t\r\n]|{_FORMULA}", text) else line
