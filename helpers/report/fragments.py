"""Parts of a page from Markdown, HTML, formulas and drawings: only what is allowed comes through."""

from __future__ import annotations

import base64
import binascii
import html
import re
import struct
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from helpers.escaping import cut, visible

#: What a drawing of ours begins with: no entities, no style sheets, no other encoding.
_HEAD = re.compile(
    r'(<\?xml version="1\.0" encoding="utf-8"[^?<>]*\?>\s*)?(<!DOCTYPE svg PUBLIC "[^"]*"\s*"[^"]*">\s*)?<svg\b'
)
#: What it is made of, metadata included.
PARTS = {
    *("svg", "metadata", "RDF", "Work", "type", "format", "creator", "Agent", "title", "desc", "date", "style", "defs"),
    *("g", "path", "use", "clipPath", "rect", "circle", "line", "polyline", "polygon", "text", "tspan", "image"),
    *("linearGradient", "radialGradient", "stop", "pattern"),
}
_INSIDE = re.compile(r"#|data:image/png;base64,")


def only_draws(content: bytes) -> bool:
    """Whether nothing in a drawing acts, loads or leads away.

    >>> only_draws(b'<svg><path d="M 0 0"/></svg>'), only_draws(b'<svg onload="alert(1)"/>')
    (True, False)
    """
    try:
        text = content.decode()
        if not _HEAD.match(text) or "<?" in text[2:]:
            return False
        elements = list(ET.fromstring(text.encode()).iter())
    except (ValueError, ET.ParseError):
        return False
    return all(_still(each) for each in elements)


def _still(element: ET.Element) -> bool:
    if _bare(element.tag) not in PARTS:
        return False
    style = "".join(element.itertext()) if _bare(element.tag) == "style" else ""
    values = {_bare(name): value for name, value in element.attrib.items()}
    hrefs = [value for name, value in values.items() if name in ("href", "src")]
    return (
        not any(name.startswith("on") or name == "base" for name in values)
        and all(_INSIDE.match(href) for href in hrefs)
        and not any(re.search(r"url\s*\((?!#)|@import|\\", each, re.IGNORECASE) for each in (style, *values.values()))
    )


def _bare(name: str) -> str:
    return name.rpartition("}")[2]


#: A formula between dollars, or a piece of code, in which dollars are only signs.
_FORMULA = re.compile(r"(?P<code>(`+).+?\2)|(?<![\\$])\$(?P<tex>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)", re.DOTALL)
#: A mark that stands for a formula while Markdown is made a page; its signs are private ones that no text keeps.
_MARK = "\ue000{}\ue001"
#: Browsers break no line within a formula: one of more letters than this gets a box of its own that scrolls.
LONG = 40
_BOX = '<span class="formula" role="group" tabindex="0" aria-label="Formula">{}</span>'
#: What a formula may be made of.
FORMULAS_PARTS = {
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
        if element.tag not in FORMULAS_PARTS or "\\" in told:
            return _code(tex)
        element.attrib = {key: value for key, value in element.attrib.items() if _allowed(key, value)}
    return ET.tostring(tree, encoding="unicode")


def _allowed(key: str, value: str) -> bool:
    return key in _SAFE and _SAFE[key].fullmatch(value) is not None


def _code(tex: str) -> str:
    return f"<code>{html.escape(tex)}</code>"


#: Elements that come through; of all others the words do, and of these not even they.
ALLOWED = {
    *("p", "br", "hr", "strong", "em", "b", "i", "del", "sub", "sup", "code", "pre", "blockquote", "span", "a"),
    *("ul", "ol", "li", "h2", "h3", "h4", "table", "caption", "thead", "tbody", "tr", "th", "td", "div"),
}
GONE = ("script", "style", "iframe", "object", "embed", "svg", "math", "template", "noscript", "title", "textarea")
GONE += ("select", "button", "form", "input", "xmp", "plaintext", "audio", "video", "link", "meta", "base", "img")
#: A cell of a table with more letters is given room to be read in.
FRAGMENTS_LONG = 60
_SCROLL = {"class": "scroll", "role": "group", "tabindex": "0"}
_OUTSIDE = re.compile(r"https?://[^\s\"'<>]+")
_FRAGMENTS_INSIDE = re.compile(r"[A-Za-z0-9_./-]+(\?[a-z]+=[A-Za-z0-9_%.-]+)?(#[A-Za-z0-9_.-]+)?|#[A-Za-z0-9_.-]+")
#: Where a link of a notebook leads from the report; None: nowhere, its words stay.
Leads = Callable[[str], str | None]


@dataclass
class Place:
    """Where on a page parts are put: headings and tables get a number and an address that no other has.

    `leads` turns an address of the notebook into one of the report. `headings` are those of the page so far, with
    their addresses.
    """

    leads: Leads = lambda _: None
    heading: str = ""
    headings: list[tuple[str, str]] = field(default_factory=list)
    tables: int = 0
    figures: int = 0
    taken: set[str] = field(default_factory=set)

    def address(self, words: str) -> str:
        """An address within the page, of these words."""
        stem = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:60] or "part"
        name, number = stem, 2
        while name in self.taken:
            name, number = f"{stem}-{number}", number + 1
        self.taken.add(name)
        return name


def words_of(markdown: str, place: Place) -> Markup:
    """What we wrote in Markdown: headings, links and formulas count."""

    marked, formulas = with_marks(markdown)
    return Markup(set_formulas(_reshaped(_html(marked), place, own=True), formulas))


def said(markdown: str, place: Place) -> Markup:
    """What a cell said in Markdown: names and texts of models stand in it, so no link and no heading comes through."""
    return Markup(_reshaped(_html(markdown), place, own=False))


def shown(html: str, place: Place) -> Markup:
    """What a cell showed as HTML (tables), in the same way."""
    return Markup(_reshaped(html, place, own=False))


def _html(markdown: str) -> str:
    from nbconvert.filters import markdown2html

    return markdown2html(markdown)


def _reshaped(html: str, place: Place, own: bool) -> str:
    """HTML in the form of our pages, of which nothing that is not allowed is left."""
    from bs4 import BeautifulSoup, Comment, MarkupResemblesLocatorWarning

    with warnings.catch_warnings():  # a text that is only an address is a text all the same
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        soup = BeautifulSoup(html, "html.parser")
    for gone in soup.find_all(GONE):
        gone.decompose()
    for comment in soup.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for text in soup.find_all(string=True):
        text.replace_with(visible(str(text)))
    for element in soup.find_all(True):
        if not element.decomposed:  # with a heading goes the mark within it
            _settle(element, place, own)
    for table in soup.find_all("table"):
        _table(soup, table, place)
    return _gate(str(soup))


def _settle(element: Any, place: Place, own: bool) -> None:
    """One element with the attributes that it may have here."""
    name, before = element.name, dict(element.attrs)
    element.attrs.clear()
    if re.fullmatch("h[1-6]", name):
        _heading(element, place, own)
    elif name == "a":
        address = _address(str(before.get("href", "")), place) if own else None
        if address is None:
            element.unwrap()
        else:
            element.attrs = {"href": address}
            if _OUTSIDE.fullmatch(address):
                element["rel"] = "noopener noreferrer"
    elif name not in ALLOWED:
        element.unwrap()
    elif name in ("td", "th") and "right" in str(before.get("style")):
        element["class"] = "number"
    elif name == "td" and len(element.get_text()) > FRAGMENTS_LONG:
        element["class"] = "long"


def _heading(element: Any, place: Place, own: bool) -> None:
    for mark in element.find_all("a", class_="anchor-link"):
        mark.decompose()
    if not own:
        element.name = "strong"
        return
    element.name = f"h{max(2, min(4, int(element.name[1])))}"
    place.heading = element.get_text().strip()
    element["id"] = place.address(place.heading)
    if element.name == "h2":
        place.headings.append((place.heading, element["id"]))


def _address(href: str, place: Place) -> str | None:
    if _OUTSIDE.fullmatch(href):
        return href
    led = href if href.startswith("#") else place.leads(href)
    return led if led is not None and _FRAGMENTS_INSIDE.fullmatch(led) else None


def _table(soup: Any, table: Any, place: Place) -> None:
    """A table in a box of its own that scrolls, with a caption and heads that say what they are of."""
    place.tables += 1
    for row in table.find_all("tr"):
        for cell in row.find_all("th"):
            cell["scope"] = "col" if row.find_parent("thead") else "row"
            if not cell.get_text().strip():  # the corner of a table with names of rows
                cell.name = "td"
                del cell["scope"]
    caption = table.find("caption") or soup.new_tag("caption")
    words = caption.get_text().strip() or _words_below(table) or place.heading or "what the cell above shows"
    caption.clear()
    caption.append(f"Table {place.tables}. {words}")
    caption["id"] = place.address(f"table-{place.tables}")
    table.insert(0, caption)
    table.wrap(soup.new_tag("div", attrs={**_SCROLL, "aria-labelledby": caption["id"]}))


def _words_below(table: Any) -> str:
    """The paragraph that a finished table has below it, which is its caption; it is taken away there."""
    # Only tables of `helpers.tables` are followed by their words in the same output, and are no child of anything.
    below = table.find_next_sibling()
    if below is None or below.name != "p" or table.find_parent("div") or below.find_next_sibling():
        return ""
    words = below.get_text().strip()
    below.decompose()
    return words


def _gate(html: str) -> str:
    """The last gate, whatever was done before it: an allow-list by a library that is made for it."""
    import bleach

    return bleach.clean(
        html,
        tags=ALLOWED,
        attributes=_may_have,
        protocols={"http", "https"},
        strip=True,
        strip_comments=True,
    )


def _may_have(tag: str, name: str, value: str) -> bool:
    """Whether an element may have an attribute of this value."""
    if tag == "a":
        outside = bool(_OUTSIDE.fullmatch(value))
        return (name == "href" and (outside or bool(_FRAGMENTS_INSIDE.fullmatch(value)))) or (
            name == "rel" and value == "noopener noreferrer"
        )
    if tag == "div":
        return _SCROLL.get(name) == value or (name == "aria-labelledby" and bool(re.fullmatch(r"[a-z0-9-]+", value)))
    if name == "class" and tag in ("td", "th"):
        return value in ("number", "long")
    if tag == "th":
        return name == "scope" and value in ("col", "row")
    return name == "id" and tag in ("h2", "h3", "h4", "caption") and bool(re.fullmatch(r"[a-z0-9-]+", value))


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
            found += [_cells_code(cell)] if cell.source.strip() else []
            found += _outputs(cell.outputs, place, files)
    return found


def _cells_code(cell: Any) -> Part:
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
