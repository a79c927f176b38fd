"""Notebooks as HTML: nbconvert renders their cells, and nh3 has the last word on every piece of markup."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import nh3
from latex2mathml.converter import convert
from markupsafe import Markup, escape
from nbconvert.exporters import TemplateExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode

from ..escaping import visible

ASSETS = Path(__file__).parent / "assets"
#: Elements of any text; of all others the words come through, and of GONE not even they.
TEXT = {
    *("p", "br", "hr", "strong", "em", "b", "i", "del", "sub", "sup", "code", "pre", "blockquote", "span"),
    *("ul", "ol", "li", "table", "caption", "thead", "tbody", "tr", "th", "td"),
}
GONE = {"script", "style", "iframe", "object", "embed", "svg", "template", "noscript", "title", "textarea"}
GONE |= {"select", "button", "form", "input", "xmp", "plaintext", "audio", "video", "link", "meta", "base", "img"}
FORMULA = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msub", "msup", "msubsup", "mfrac", "msqrt", "mroot"),
    *("mover", "munder", "munderover", "mtable", "mtr", "mtd"),
}
#: What only our own words and tables have, with its attributes.
OURS = {
    **{name: {"id"} for name in ("h2", "h3", "h4")},
    **{name: {"class", "role", "tabindex", "aria-label"} for name in ("div", "span", "td", "th")},
    **{"a": {"href", "id", "download"}, "details": set[str](), "summary": set[str]()},
    **{"math": {"display"}, "mo": {"stretchy"}, "mspace": {"width"}},
}
_RIGHT = {"style": {"text-align: right;", "text-align:right"}}
_TABLE = re.compile(r"<table>(.*?)</table>(?:\s*<p>([^<]*)</p>\s*$)?", re.DOTALL)
#: Browsers break no line within a formula: one of more letters than this scrolls.
LONG_FORMULA = 16


def closed(markup: str) -> str:
    """HTML that a cell showed: texts of models may stand in it, so no link, heading, picture or formula is left."""
    sides, none = {"td": _RIGHT, "th": _RIGHT}, {"*": set[str]()}  # without "*" nh3 lets some of its own through
    left = nh3.clean(markup, TEXT, GONE | {"math"}, none, link_rel=None, tag_attribute_values=sides)
    return re.sub(r'(<t[dh]) style="text-align: ?right;?">', r'\1 class="number">', left)


def clean(markup: str) -> Markup:
    """The last step of every piece of a page: only what pages are made of is left."""
    tags, having, heads = TEXT | FORMULA | OURS.keys(), {"*": set[str](), **OURS}, {"th": {"scope": "col"}}
    schemes = {"http", "https"}
    text = visible(str(markup))
    left = nh3.clean(text, tags, GONE, having, url_schemes=schemes, set_tag_attribute_values=heads)
    # nh3 writes the attributes of an element in any order; the same results give the same bytes.
    one = r' [\w-]+="[^"]*"'
    return Markup(re.sub(f"(<\\w+)((?:{one})+)", lambda at: at[1] + "".join(sorted(re.findall(one, at[2]))), left))


def in_markdown(text: str) -> str:
    """Markdown that a cell showed, closed in the same way."""
    return closed(MarkdownWithMath(IPythonRenderer(escape=False, exclude_anchor_links=True)).render(text))


def mathml(tex: str) -> str:
    """A formula as MathML; one that holds anything but letters, numbers and signs stands as its TeX, as code."""
    try:
        made = convert(tex)
    except Exception:  # the library has errors of many kinds
        made = "\\"
    if "\\" in html.unescape(made):
        return f"<code>{escape(tex)}</code>"
    long = len(re.sub("<.*?>", "", html.unescape(made))) > LONG_FORMULA
    return f'<span class="scroll" role="group" tabindex="0" aria-label="Formula">{made}</span>' if long else made


class Words(IPythonRenderer):
    """Our Markdown as HTML of one page, whose headings and tables have addresses that begin with its name.

    `leads` turns an address of the Markdown into one of the report, None where it leads nowhere and only its words
    stay. `headings` are those of the second level so far, with their addresses.
    """

    def __init__(self, page: str, leads: Callable[[str], str | None] = lambda _: None) -> None:
        """Begin a page."""
        super().__init__(escape=False)
        self.page, self.leads, self.tables = page, leads, 0
        self.last, self.addresses, self.headings = "", set[str](), list[tuple[str, str]]()

    def render(self, markdown: str) -> str:
        """This Markdown as HTML."""
        return MarkdownWithMath(self).render(markdown)

    def heading(self, text: str, level: int, **_: Any) -> str:
        """A heading, of the second level at least: the first one is the page's title."""
        level, self.last = max(2, min(4, level)), html.unescape(re.sub("<.*?>", "", text))
        stem = f"{self.page}-{re.sub(r'[^a-z0-9]+', '-', self.last.lower()).strip('-')[:60]}"
        name = stem if stem not in self.addresses else f"{stem}-{len(self.addresses)}"
        self.addresses.add(name)
        self.headings += [(text, name)] if level == 2 else []
        return f'<h{level} id="{name}">{text}</h{level}>\n'

    def table(self, text: str) -> str:
        """A table of Markdown."""
        return self.boxed(f"<table>{text}</table>")

    def boxed(self, markup: str, caption: str = "") -> str:
        """HTML with each table in a box that scrolls, by keyboard too, and with a caption.

        The caption is the paragraph that follows it at the end, else `caption`, else the last heading.
        """

        def box(found: re.Match[str]) -> str:
            self.tables += 1
            words = f"Table {self.tables}. {found[2] or escape(caption or self.last or 'What the cell shows.')}"
            box = f'<div class="scroll" role="group" tabindex="0" aria-label="Table {self.tables}">'
            rows = re.sub("<td>(?=[^<]{60})", '<td class="long">', found[1])
            return f"{box}<table><caption>{words}</caption>{rows}</table></div>"

        return _TABLE.sub(box, markup)

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """A link to the web or within the report; of any other only the words."""
        web = re.fullmatch(r"https?://[^\s\"'<>]+", url)
        address = url if web else f"#{self.page}-{url[1:]}" if url.startswith("#") else self.leads(url)
        return text if address is None else f'<a href="{escape(address)}">{text}</a>'

    def inline_math(self, body: str) -> str:
        """A formula; dollars beside spaces, or before a number and a space, are amounts."""
        amount = body != body.strip() or re.match(r"\d[\d.,]*\s", body)
        return escape(f"${body}$") if amount else mathml(body)

    def inline_html(self, html: str) -> str:
        """Markup within Markdown is text, an anchor apart."""
        anchor = re.fullmatch(r'<a id="([\w-]+)">|</a>', html)
        return escape(html) if anchor is None else f'<a id="{self.page}-{anchor[1]}">' if anchor[1] else html

    def block_html(self, html: str) -> str:
        """The same for markup of its own."""
        return f"<p>{''.join(map(self.inline_html, re.split('(<.*?>)', html.strip())))}</p>"

    block_math = inline_math


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], sides: Sequence[str] = ()) -> str:
    """An HTML table; whatever is no `Markup` in it is shown as text. `sides` says which columns are aligned right."""
    kinds = [Markup(' class="number"') if side == "right" else "" for side in sides or [""] * len(heads)]

    def row(tag: str, cells: Sequence[str]) -> Markup:
        parts = zip(kinds, cells, strict=True)
        return Markup("<tr>{}</tr>").format(Markup().join(Markup("<{0}{1}>{2}</{0}>").format(tag, *x) for x in parts))

    body = Markup().join(row("td", each) for each in rows)
    return Markup("<table><thead>{}</thead><tbody>{}</tbody></table>").format(row("th", heads), body)


def cell(markup: str) -> NotebookNode:
    """A cell of words, in HTML."""
    return NotebookNode(cell_type="markdown", metadata={}, source=markup)


def drawn(source: str, outputs: Sequence[NotebookNode], number: int | None = None) -> NotebookNode:
    """A cell of code with what it showed."""
    return NotebookNode(cell_type="code", metadata={}, source=source, execution_count=number, outputs=outputs)


def cells_of(book: Any, words: Words) -> Iterator[NotebookNode]:
    """The cells of a notebook as pages show them, without its title; a figure that is no PNG is a ValueError."""
    for number, each in enumerate(book.cells):
        source = re.sub(r"\A\s*#\s[^\n]*\n*", "", each.source) if number == 0 else each.source
        if each.cell_type == "markdown" and source.strip():
            yield cell(words.render(source))
        elif each.cell_type == "code":
            yield drawn(source, [*_outputs(each.outputs, words)], each.execution_count)


def _outputs(outputs: Sequence[Any], words: Words) -> Iterator[NotebookNode]:
    """The outputs of a cell; a slanted line after a figure is its caption."""
    waiting = list(outputs)
    while waiting:
        each = waiting.pop(0)
        data, about = each.get("data", {}), dict[str, Any]()
        if "image/png" in data:
            after = waiting[0].get("data", {}).get("text/markdown", "") if waiting else ""
            caption = waiting.pop(0) and after if re.fullmatch(r"\*[^*\n].*\*", after) else ""
            about = _picture(data["image/png"], each.get("metadata", {}).get("image/png"), caption)
            shown = {"image/png": data["image/png"]}
        elif "text/markdown" in data:
            shown = {"text/html": words.boxed(in_markdown(data["text/markdown"]))}
        elif "text/html" in data:
            shown = {"text/html": words.boxed(closed(data["text/html"]))}
        else:
            shown = {"text/plain": each.get("text", data.get("text/plain", ""))}
        yield NotebookNode(output_type="display_data", data=shown, metadata=about)


def _picture(encoded: str, about: Any, caption: str) -> dict[str, Any]:
    """Width and height of a figure on the page, its alternative text and its caption."""
    try:
        data = base64.b64decode(encoded)
        across, down = struct.unpack(">II", data[16:24])
    except (ValueError, struct.error):
        data = b""
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError("a figure of a notebook is no PNG; run the notebook again")
    about = about if isinstance(about, Mapping) else {}  # the format of notebooks says nothing of its kind
    width = about.get("width")
    width = width if isinstance(width, int) and 0 < width < 10_000 else across
    alt = str(about.get("alt") or "").strip() or " ".join(caption.replace("*", "").split()) or "A figure without words."
    return {"width": width, "height": round(width * down / across), "alt": alt, "caption": in_markdown(caption)}


@dataclass(frozen=True)
class Page:
    """One page: its name, title and cells, its headings with addresses, and whether simulated numbers stand on it."""

    name: str
    title: str
    cells: Sequence[NotebookNode]
    headings: Sequence[tuple[str, str]] = ()
    simulated: bool = False


def rendered(pages: Sequence[Page], menu: Sequence[tuple[str, str]]) -> bytes:
    """One HTML file of these pages, with the `menu` (address of a page, its words)."""
    cells = [NotebookNode({**each, "page": page if at == 0 else None}) for page in pages
             for at, each in enumerate(page.cells)]  # fmt: skip
    content = dict.fromkeys(("include_code", "include_input", "include_output", "include_markdown"), True)
    resources = {"global_content_filter": content, "should_sanitize_html": True, "menu": menu, "pages": pages}
    return f"{_exporter().template.render(nb={'cells': cells}, resources=resources).strip()}\n".encode()


@cache
def _exporter() -> TemplateExporter:
    made = TemplateExporter(
        template_name="lab",
        template_file="page.html",
        extra_template_paths=[str(ASSETS)],
        filters={
            "clean_html": clean,
            # Cells are HTML already, which was made where headings and tables are counted.
            **dict.fromkeys(("markdown2html", "strip_files_prefix", "highlight_code"), lambda markup: markup),
            "ansi2html": lambda text: re.sub(r"\x1b\[[0-9;]*m", "", text),
            "sha256": lambda text: base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii"),
        },
    )
    made.environment.autoescape = True
    # Texts without signs that nobody would see; what is HTML already is left as it is.
    made.environment.finalize = lambda value: visible(value) if type(value) is str else value
    return made
