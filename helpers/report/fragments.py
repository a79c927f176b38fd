"""Parts of a page from Markdown and HTML that notebooks hold: only what is allowed here comes through, in our form."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from helpers.escaping import visible
from helpers.run.quick import without_grammar

#: Elements that come through; of all others the words do, and of these not even they.
ALLOWED = {
    *("p", "br", "hr", "strong", "em", "b", "i", "del", "sub", "sup", "code", "pre", "blockquote", "span", "a"),
    *("ul", "ol", "li", "h2", "h3", "h4", "table", "caption", "thead", "tbody", "tr", "th", "td", "div"),
}
GONE = ("script", "style", "iframe", "object", "embed", "svg", "math", "template", "noscript", "title", "textarea")
GONE += ("select", "button", "form", "input", "xmp", "plaintext", "audio", "video", "link", "meta", "base", "img")
#: A cell of a table with more letters is given room to be read in.
LONG = 60
_SCROLL = {"class": "scroll", "role": "group", "tabindex": "0"}
_OUTSIDE = re.compile(r"https?://[^\s\"'<>]+")
_INSIDE = re.compile(r"[A-Za-z0-9_./-]+(\?[a-z]+=[A-Za-z0-9_%.-]+)?(#[A-Za-z0-9_.-]+)?|#[A-Za-z0-9_.-]+")
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
    from helpers.report.formulas import set_formulas, with_marks

    marked, formulas = with_marks(markdown)
    return Markup(set_formulas(_reshaped(_html(marked), place, own=True), formulas))


def said(markdown: str, place: Place) -> Markup:
    """What a cell said in Markdown: names and texts of models stand in it, so no link and no heading comes through."""
    return Markup(_reshaped(_html(markdown), place, own=False))


def shown(html: str, place: Place) -> Markup:
    """What a cell showed as HTML (tables), in the same way."""
    return Markup(_reshaped(html, place, own=False))


def _html(markdown: str) -> str:
    with without_grammar():
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
    elif name == "td" and len(element.get_text()) > LONG:
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
    return led if led is not None and _INSIDE.fullmatch(led) else None


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
        return (name == "href" and (outside or bool(_INSIDE.fullmatch(value)))) or (
            name == "rel" and value == "noopener noreferrer"
        )
    if tag == "div":
        return _SCROLL.get(name) == value or (name == "aria-labelledby" and bool(re.fullmatch(r"[a-z0-9-]+", value)))
    if name == "class" and tag in ("td", "th"):
        return value in ("number", "long")
    if tag == "th":
        return name == "scope" and value in ("col", "row")
    return name == "id" and tag in ("h2", "h3", "h4", "caption") and bool(re.fullmatch(r"[a-z0-9-]+", value))
