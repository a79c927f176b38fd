"""The cells of an executed notebook as parts of a page: words, tables, figures with captions, code that folds away."""

from __future__ import annotations

import base64
import binascii
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from helpers.escaping import cut, visible
from helpers.report.fragments import Place, said, shown, words_of
from helpers.run.quick import without_grammar

#: Letters of an alternative text before the rest stands below the figure only.
LONGEST_ALT = 250
#: Pixels that no figure of ours has.
WIDEST = 10_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class Picture:
    """One figure: the picture as base64, its size on the page, its words, and its files to be downloaded."""

    data: str
    width: int
    height: int
    alt: str
    caption: Markup
    address: str
    number: int
    files: tuple[tuple[str, str], ...] = ()

    @property
    def brief(self) -> str:
        """The text in place of the picture; the whole of a long one stands below the figure."""
        if len(self.alt) <= LONGEST_ALT:
            return self.alt
        return f"{cut(self.alt, LONGEST_ALT)} (All of it stands below the figure.)"

    @property
    def words(self) -> str:
        """The whole alternative text where `brief` is not all of it, else ""."""
        return self.alt if len(self.alt) > LONGEST_ALT else ""


@dataclass(frozen=True)
class Part:
    """One part of a page: `kind` is words, code, figure or text."""

    kind: str
    body: Markup | str | Picture
    label: str = ""


def parts(book: Any, place: Place, files: Mapping[bytes, Sequence[tuple[str, str]]]) -> list[Part]:
    """The cells of a notebook in order, without its title.

    `files` are what may be downloaded of a figure (word, address), by the bytes of its PNG.
    """
    found: list[Part] = []
    for number, cell in enumerate(book.cells):
        if cell.cell_type == "markdown":
            source = re.sub(r"\A\s*#\s[^\n]*\n*", "", cell.source) if number == 0 else cell.source
            found += [Part("words", words_of(source, place))] if source.strip() else []
        elif cell.cell_type == "code":
            found += [_code(cell)] if cell.source.strip() else []
            found += _outputs(cell.outputs, place, files)
    return found


def _code(cell: Any) -> Part:
    with without_grammar():
        from nbconvert.filters import Highlight2HTML

    made = Highlight2HTML()(visible(cell.source), language="ipython3")
    return Part("code", _painted(made), f"Code of cell {cell.execution_count}")


def _painted(highlighted: str) -> Markup:
    """Pygments' page of a source: nothing but <span class="..."> around escaped signs."""
    inner = highlighted[highlighted.index("<pre>") + 5 : highlighted.rindex("</pre>")]
    tags = re.sub(r'<span(?: class="[a-z0-9 ]+")?>|</span>', "", inner)
    if "<" in tags or ">" in tags:
        raise ValueError("the highlighted code of a cell holds markup of another kind; nbconvert writes it otherwise")
    return Markup(inner)


def _outputs(outputs: Sequence[Any], place: Place, files: Mapping[bytes, Sequence[tuple[str, str]]]) -> Iterator[Part]:
    """The outputs of a cell; a slanted line after a figure is its caption."""
    waiting = list(outputs)
    while waiting:
        each = waiting.pop(0)
        data = each.get("data", {})
        if each.output_type == "stream":
            yield Part("text", _plain(each.text))
        elif "image/png" in data:
            caption = ""
            if waiting and _is_caption(waiting[0]):
                caption = waiting.pop(0).data["text/markdown"]
            yield Part("figure", _picture(data["image/png"], _about(each), caption, place, files))
        elif "text/markdown" in data:
            yield Part("words", said(data["text/markdown"], place))
        elif "text/html" in data:
            yield Part("words", shown(data["text/html"], place))
        elif "text/plain" in data:
            yield Part("text", _plain(data["text/plain"]))


def _about(output: Any) -> Mapping[str, Any]:
    """What a picture's metadata tell of it; the format of notebooks says nothing of their kind."""
    told = output.get("metadata", {}).get("image/png")
    return told if isinstance(told, Mapping) else {}


def _is_caption(output: Any) -> bool:
    text = output.get("data", {}).get("text/markdown", "")
    return len(text) > 1 and text.startswith("*") and text.endswith("*") and text[1] != "*" and "\n" not in text


def _plain(text: str) -> str:
    return visible(_COLOURS.sub("", text))


def _picture(
    encoded: str,
    about: Mapping[str, Any],
    caption: str,
    place: Place,
    files: Mapping[bytes, Sequence[tuple[str, str]]],
) -> Picture:
    """A figure of the notebook; one that is no PNG is a ValueError."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except binascii.Error:
        data = b""
    if not data.startswith(_PNG) or len(data) < 24:
        raise ValueError("a figure of a notebook is no PNG; run the notebook again")
    across, down = struct.unpack(">II", data[16:24])
    told = about.get("width")
    width = told if isinstance(told, int) and 0 < told < WIDEST else across
    place.figures += 1
    own = files.get(data, ())
    return Picture(
        data=base64.b64encode(data).decode("ascii"),
        width=width,
        height=round(width * down / max(1, across)),
        alt=visible(str(about.get("alt") or "")).strip() or _without_marks(caption) or "A figure without words.",
        caption=said(caption, place) if caption else Markup(""),
        address=place.address(f"figure-{place.figures}"),
        number=place.figures,
        files=tuple(own),
    )


def _without_marks(caption: str) -> str:
    return " ".join(visible(caption).replace("*", "").split())
