"""Parts of a page from Markdown, HTML, formulas and drawings: only what is allowed comes through."""

from __future__ import annotations

import base64
import html
import re
import struct
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from ..escaping import visible

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
    tag = element.tag.rpartition("}")[2]
    style = "".join(element.itertext()) if tag == "style" else ""
    values = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    return (
        tag in PARTS
        and not any(name.startswith("on") or name == "base" for name in values)
        and all(_INSIDE.match(values[name]) for name in ("href", "src") if name in values)
        and not any(re.search(r"url\s*\((?!#)|@import|\\", each, re.IGNORECASE) for each in (style, *values.values()))
    )


#: A formula between dollars, or a piece of code, in which dollars are only signs.
_FORMULA = re.compile(r"(?P<code>(`+).+?\2)|(?<![\\$])\$(?P<tex>[^\s$](?:[^$\n]*[^\s$\\])?)\$(?!\d)", re.DOTALL)
#: Browsers break no line within a formula: one of more letters than this gets a box of its own that scrolls.
LONG_FORMULA = 16
#: What a formula may be made of.
FORMULA_PARTS = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot"),
    *("mover", "munder", "munderover", "mtable", "mtr", "mtd"),
}


def mathml(tex: str) -> str:
    r"""A formula as MathML; one that holds anything but letters, numbers and signs stands as its TeX, as code.

    >>> mathml("a_1")[-46:], mathml(r"\frac{")
    ('>&#97;</mi><mn>&#49;</mn></msub></mrow></math>', '<code>&#92;&#102;&#114;&#97;&#99;&#123;</code>')
    """
    from latex2mathml.converter import convert

    try:
        made = convert(tex)
        parts = [(each.tag.rpartition("}")[2], each.text or "") for each in ET.fromstring(made).iter()]
    except Exception:  # the library's own errors, and XML's
        parts = [("error", "")]
    if any(tag not in FORMULA_PARTS or "\\" in text for tag, text in parts):
        return f"<code>{_numbered(tex)}</code>"
    return re.sub(">([^<]+)<", lambda text: f">{_numbered(html.unescape(text[1]))}<", made)


def _numbered(text: str) -> str:
    """Signs by their numbers, as which none is one of Markdown."""
    return "".join(f"&#{ord(sign)};" for sign in text)


#: Elements that come through; of all others the words do, and of GONE not even they.
ALLOWED = {
    *("p", "br", "hr", "strong", "em", "b", "i", "del", "sub", "sup", "code", "pre", "blockquote", "span"),
    *("ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6"),
    *("table", "caption", "thead", "tbody", "tr", "th", "td"),
}
GONE = {"script", "style", "iframe", "object", "embed", "svg", "template", "noscript", "title", "textarea"}
GONE |= {"select", "button", "form", "input", "xmp", "plaintext", "audio", "video", "link", "meta", "base", "img"}
#: What only our own words may have, with its attributes.
OURS = {"a": {"href"}, "math": {"display"}, "mo": {"stretchy"}, "mspace": {"width"}}
_RIGHT = {"style": {"text-align: right;", "text-align:right"}}
#: A cell of a table with more letters is given room to be read in.
LONG_CELL = 60
_OUTSIDE = re.compile(r"https?://[^\s\"'<>]+")
_WITHIN = re.compile(r"[A-Za-z0-9_./-]+(\?[a-z]+=[A-Za-z0-9_%.-]+)?(#[A-Za-z0-9_.-]+)?|#[A-Za-z0-9_.-]+")


@dataclass
class Place:
    """Where on a page parts are put: headings and tables get a number and an address that no other has.

    `leads` turns an address of the notebook into one of the report, None where it leads nowhere and only its words
    stay. `headings` are those of the page so far, with their addresses.
    """

    leads: Callable[[str], str | None] = lambda _: None
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
    marked = _FORMULA.sub(lambda found: found[0] if found["tex"] is None else mathml(found["tex"]), markdown)
    return _shaped(_html(marked), place, ours=True)


def cell_words(markdown: str, place: Place) -> Markup:
    """What a cell said in Markdown: names and texts of models stand in it, so no link and no heading comes through."""
    return shown(_html(markdown), place)


def shown(html: str, place: Place) -> Markup:
    """What a cell showed as HTML (tables), in the same way."""
    return _shaped(html, place, ours=False)


def _html(markdown: str) -> str:
    from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

    return MarkdownWithMath(IPythonRenderer(escape=False, exclude_anchor_links=True)).render(markdown)


def _shaped(html: str, place: Place, ours: bool) -> Markup:
    """HTML of which only what is allowed is left, in the form of our pages."""
    import nh3
    from bs4 import BeautifulSoup, MarkupResemblesLocatorWarning

    clean = nh3.clean(
        html,
        tags=ALLOWED | OURS.keys() | FORMULA_PARTS if ours else ALLOWED,
        clean_content_tags=GONE if ours else GONE | {"math"},
        attributes={"*": set(), **(OURS if ours else {})},  # without "*" nh3 lets some of its own through
        tag_attribute_values={"td": _RIGHT, "th": _RIGHT},
        url_schemes={"http", "https"},
        link_rel=None,
    )
    with warnings.catch_warnings():  # a text that is only an address is a text all the same
        warnings.simplefilter("ignore", MarkupResemblesLocatorWarning)
        soup = BeautifulSoup(visible(clean), "html.parser")
    for heading in soup.find_all(re.compile("^h[1-6]$")):
        _set_heading(heading, place, ours)
    for link in soup.find_all("a"):
        _set_link(link, place)
    for formula in soup.find_all("math"):
        if len(formula.get_text()) > LONG_FORMULA:
            formula.wrap(_box(soup, "span", {"class": "formula", "aria-label": "Formula"}))
    for table in soup.find_all("table"):
        _set_table(soup, table, place)
    return Markup(soup)


def _box(soup: Any, name: str, attributes: Mapping[str, str]) -> Any:
    """An element that scrolls, by keyboard too."""
    return soup.new_tag(name, attrs={**attributes, "role": "group", "tabindex": "0"})


def _set_heading(heading: Any, place: Place, ours: bool) -> None:
    if not ours:
        heading.name = "strong"
        return
    heading.name = f"h{max(2, min(4, int(heading.name[1])))}"
    place.heading = heading.get_text().strip()
    heading["id"] = place.address(place.heading)
    if heading.name == "h2":
        place.headings.append((place.heading, heading["id"]))


def _set_link(link: Any, place: Place) -> None:
    href = str(link.get("href", ""))
    if _OUTSIDE.fullmatch(href):
        link["rel"] = "noopener noreferrer"
        return
    address = href if href.startswith("#") else place.leads(href)
    if address is None or not _WITHIN.fullmatch(address):
        link.unwrap()
    else:
        link["href"] = address


def _set_table(soup: Any, table: Any, place: Place) -> None:
    """A table in a box of its own that scrolls, with a caption and heads that say what they are of."""
    place.tables += 1
    for cell in table.find_all(["th", "td"]):
        if cell.attrs.pop("style", ""):
            cell["class"] = "number"
        elif cell.name == "td" and len(cell.get_text()) > LONG_CELL:
            cell["class"] = "long"
        if cell.name == "th" and not cell.get_text().strip():  # the corner of a table with names of rows
            cell.name = "td"
        elif cell.name == "th":
            cell["scope"] = "col" if cell.find_parent("thead") else "row"
    caption = table.find("caption") or soup.new_tag("caption")
    words = caption.get_text().strip() or _take_words_below(table) or place.heading or "what the cell above shows"
    caption.clear()
    caption.append(f"Table {place.tables}. {words}")
    caption["id"] = place.address(f"table-{place.tables}")
    table.insert(0, caption)
    table.wrap(_box(soup, "div", {"class": "scroll", "aria-labelledby": caption["id"]}))


def _take_words_below(table: Any) -> str:
    """The paragraph that a finished table has below it, which is its caption; it is taken away there."""
    # Only tables of `helpers.tables` are followed by their words in the same output, and are no child of anything.
    below = table.find_next_sibling()
    if below is None or below.name != "p" or table.find_parent("div") or below.find_next_sibling():
        return ""
    words = below.get_text().strip()
    below.decompose()
    return words


#: Pixels that no figure of ours has.
WIDEST = 10_000
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PNG = b"\x89PNG\r\n\x1a\n"
#: What may be downloaded of a figure (kind of file, address), by the bytes of its PNG.
Files = Mapping[bytes, Sequence[tuple[str, str]]]


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
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Part:
    """One part of a page: `kind` is words, code, figure or text."""

    kind: str
    body: Markup | str | Picture
    label: str = ""


def parts(book: Any, place: Place, files: Files) -> Iterator[Part]:
    """The cells of a notebook in order, without its title."""
    for number, cell in enumerate(book.cells):
        source = re.sub(r"\A\s*#\s[^\n]*\n*", "", cell.source) if number == 0 else cell.source
        if cell.cell_type == "markdown" and source.strip():
            yield Part("words", words_of(source, place))
        elif cell.cell_type == "code":
            if cell.source.strip():
                yield Part("code", _painted(cell.source), f"Code of cell {cell.execution_count}")
            yield from _outputs(cell.outputs, place, files)


def _painted(source: str) -> Markup:
    """Python in the colours of its words."""
    import nh3
    from nbconvert.filters import Highlight2HTML

    made = Highlight2HTML()(visible(source), language="ipython3")
    return Markup(nh3.clean(made, tags={"span"}, attributes={"*": set(), "span": {"class"}}))


def _outputs(outputs: Sequence[Any], place: Place, files: Files) -> Iterator[Part]:
    """The outputs of a cell; a slanted line after a figure is its caption."""
    waiting = list(outputs)
    while waiting:
        each = waiting.pop(0)
        data = each.get("data", {})
        if "image/png" in data:
            caption = waiting.pop(0).data["text/markdown"] if waiting and _is_caption(waiting[0]) else ""
            about = each.get("metadata", {}).get("image/png")
            yield Part("figure", _picture(data["image/png"], about, caption, place, files))
        elif "text/markdown" in data:
            yield Part("words", cell_words(data["text/markdown"], place))
        elif "text/html" in data:
            yield Part("words", shown(data["text/html"], place))
        elif each.output_type == "stream" or "text/plain" in data:
            text = each.text if each.output_type == "stream" else data["text/plain"]
            yield Part("text", visible(_COLOURS.sub("", text)))


def _is_caption(output: Any) -> bool:
    text = output.get("data", {}).get("text/markdown", "")
    return len(text) > 1 and text.startswith("*") and text.endswith("*") and text[1] != "*" and "\n" not in text


def _picture(encoded: str, about: Any, caption: str, place: Place, files: Files) -> Picture:
    """A figure of the notebook, `about` being what its metadata say; one that is no PNG is a ValueError."""
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except ValueError:
        data = b""
    if not data.startswith(_PNG) or len(data) < 24:
        raise ValueError("a figure of a notebook is no PNG; run the notebook again")
    across, down = struct.unpack(">II", data[16:24])
    about = about if isinstance(about, Mapping) else {}  # the format of notebooks says nothing of its kind
    width = about.get("width")
    width = width if isinstance(width, int) and 0 < width < WIDEST else across
    words = " ".join(visible(caption).replace("*", "").split())
    place.figures += 1
    return Picture(
        data=base64.b64encode(data).decode("ascii"),
        width=width,
        height=round(width * down / max(1, across)),
        alt=visible(str(about.get("alt") or "")).strip() or words or "A figure without words.",
        caption=cell_words(caption, place),
        address=place.address(f"figure-{place.figures}"),
        number=place.figures,
        files=tuple(files.get(data, ())),
    )
