"""Whether a drawing (SVG) only draws: whoever opens one from the report opens a page that could act and load."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

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
