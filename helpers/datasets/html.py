"""The text of a page: what a reader sees of it, paragraph by paragraph."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.parser import HTMLParser

_TAG = re.compile(r"</?(?:html|body|div|p|br|pre|span|h[1-6]|i|em|b|strong|a|blockquote|table)(?:\s[^<>]*)?/?>", re.I)
_BLOCKS = frozenset(
    [
        *("p", "div", "pre", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "table", "tr", "hr"),
        *("section", "article", "header", "body"),
    ]
)
_UNREAD = frozenset(("script", "style", "title"))


def stripped(text: str) -> str:
    """The text of an article, a blank line between paragraphs where it was HTML."""
    if not _TAG.search(text):
        return text
    reader = _Text()
    reader.feed(text)
    reader.close()
    blocks = re.split(r"\n[ \t]*\n\s*", "".join(reader.parts))
    plain = ("\n".join(line.strip() for line in block.strip().splitlines()) for block in blocks)
    stripped = "\n\n".join(block for block in plain if block)
    if not stripped:
        raise ValueError("field 'article' is empty once its tags are stripped")
    return stripped


class _Text(HTMLParser):
    """What is read on a page: its texts, with line ends where blocks begin and end."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.open = {"pre": 0, "unread": 0}

    def handle_starttag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        self._mark(tag, 1)

    def handle_startendtag(self, tag: str, attrs: Iterable[tuple[str, str | None]]) -> None:
        self._mark(tag, 0)

    def handle_endtag(self, tag: str) -> None:
        self._mark(tag, -1)

    def handle_data(self, data: str) -> None:
        if not self.open["unread"]:
            self.parts.append(data if self.open["pre"] else re.sub(r"\s+", " ", data))

    def _mark(self, tag: str, step: int) -> None:
        kind = "pre" if tag == "pre" else "unread" if tag in _UNREAD else None
        if kind:
            self.open[kind] = max(0, self.open[kind] + step)
        if tag == "br":
            self.parts.append("\n" if step >= 0 else "")
        elif tag in _BLOCKS:
            self.parts.append("\n\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")
