"""The frame of every page: head with its policy, pages to go to, the body; the same bytes for the same input."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from helpers.escaping import visible
from helpers.tables import format_table

ASSETS = Path(__file__).parent / "assets"
#: The pages that are not of one notebook: file, name, and what stands there.
FIXED = {
    "index.html": ("Overview", "what is known of these judges, in a few lines"),
    "judges.html": ("Judges", "a card for each judge: what was found, what was not, what could not be told"),
    "verdicts.html": ("Verdicts", "flipped, changed and own-preferring verdicts, with replies, to filter"),
    "downloads.html": ("Downloads", "figures, tables and numbers as files"),
    "reference.html": ("Numbers", "what each number means, how it is counted and where it fails"),
    "functions.html": ("Functions", "what the package offers, from its docstrings"),
    "glossary.html": ("Glossary", "what the words mean"),
}
_PARTS = re.compile(r"(`[^`]*`)")


@dataclass(frozen=True)
class Link:
    """A page by its file and by what it is called."""

    file: str
    name: str


@dataclass(frozen=True)
class Page:
    """One page: its file, its title, its body, whether simulated numbers stand on it, and its headings with address."""

    file: str
    title: str
    body: Markup
    simulated: bool = False
    headings: Sequence[tuple[str, str]] = ()


def part(template: str, **given: Any) -> Markup:
    """One template of this room with what it is given, every text of which is shown as text."""
    return Markup(_environment().get_template(template).render(**given))


def coded(text: str) -> Markup:
    """A text of ours in which what stands in `backticks` is code.

    >>> coded("a < b, `x < y`")
    Markup('a &lt; b, <code>x &lt; y</code>')
    """
    pieces = _PARTS.split(visible(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece[1:-1]) if at % 2 else escape(piece) for at, piece in enumerate(pieces)
    )


def document(page: Page, groups: Mapping[str, Sequence[Link]]) -> bytes:
    """The whole page; `groups` are the links to all pages, in groups."""
    style, script = _asset("report.css"), _asset("report.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            "img-src 'self' data:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    whole = part("page.html", page=page, groups=groups, policy=Markup(policy), style=style, script=script)
    return f"{whole}\n".encode()


@cache
def _asset(name: str) -> Markup:
    """A file of ours that stands in each page as it is; one that could end its element is a ValueError."""
    text = (ASSETS / name).read_text(encoding="utf-8")
    if "</" in text or "<!--" in text:
        raise ValueError(f"{name} holds what would end the element that it stands in")
    return Markup(text)


def _hash(text: str) -> str:
    """How a policy names a script or style that stands in the page."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}"


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_seen,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["coded"] = coded
    made.globals["format_table"] = format_table
    made.globals["table"] = made.get_template("macros.html").module.table
    return made


def _seen(value: Any) -> Any:
    """Texts without signs that nobody would see; what is a page already is left as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible(value)
