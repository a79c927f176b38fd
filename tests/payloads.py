"""Texts that attack whatever shows them, and readers that find what of them is still alive."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

from tests.case_tables import load_cases

#: By what they attack. Each stands in names, ids, categories, captions and texts.
PAYLOADS: dict[str, str] = load_cases("payloads")["payloads"] | {"lone surrogate": "a\ud83db"}
LONG = "<b>$x$ &_% =1+1 " * 65_536
assert len(LONG) == 2**20

_ADDRESSES = ("href", "src", "srcset", "action", "formaction", "data", "poster", "background", "xlink:href")


class _Alive(HTMLParser):
    """What of a page acts, loads or leads away, and its words."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.words: list[str] = []
        self.still = 0
        self.open: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        if tag in ("script", "iframe", "object", "embed", "form", "style", "link", "meta", "base", "svg", "math"):
            self.found.append(tag)
        if tag == "style" and [*named] == ["scoped"]:
            self.found.pop()  # pandas' own, before each of its tables
        acting = [name for name in named if name.startswith("on") or name in ("style", "srcdoc")]
        self.found += [
            f"{tag} {name}" for name in acting if named[name] not in ("text-align: left;", "text-align: right;")
        ]
        for name in _ADDRESSES:
            value = named.get(name) or "#"
            if not value.startswith(("#", "data:image/png;base64,")):
                self.found.append(f"{tag} {name}={value[:40]}")
        self.open.append(tag in ("pre", "code") or "mathjax_ignore" in (named.get("class") or ""))
        if tag in ("img", "br", "hr", "input"):
            self.open.pop()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that closes itself, as nbconvert writes `<br/>`: it ends nothing around it."""
        depth = len(self.open)
        self.handle_starttag(tag, attrs)
        del self.open[depth:]

    def handle_endtag(self, tag: str) -> None:
        if self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append("" if any(self.open) else data)


def alive(page: str) -> list[str]:
    """Everything in a page that acts, loads, leads away, or is taken for a formula."""
    reader = _Alive()
    reader.feed(page)
    reader.close()
    formulas = re.findall(r"\$.*?\$|\\\(|\\\[|\\begin\{|\\href|\\unicode", "\x00".join(reader.words), re.S)
    return reader.found + [f"formula {each[:40]!r}" for each in formulas if "\x00" not in each] + unseen(page)


def unseen(text: str) -> list[str]:
    """The signs in a text that nobody sees, those that emoji are made of apart."""
    none = "[\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"
    wild = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
    return [f"U+{ord(sign):04X}" for sign in re.findall(f"{wild}|{none}", text)]


def alive_in_svg(data: bytes) -> list[str]:
    """What acts or loads in a picture; one that is not well-formed is an error."""
    found = []
    for element in ET.fromstring(data).iter():
        name = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
        found += [name] if name in ("script", "foreignObject", "a", "image", "animate", "set", "iframe") else []
        for key, value in element.attrib.items():
            key = key.rpartition("}")[2]
            outside = key == "href" and not value.startswith("#")
            found += [f"{name} {key}"] if key.startswith("on") or outside or re.search(r"url\((?!#)", value) else []
    return found + re.findall(r"<!(?:ENTITY|\[CDATA)", data.decode())


def alive_in_pdf(data: bytes) -> list[str]:
    """What acts in a PDF: its dictionaries stand outside the compressed streams."""
    plain = re.sub(rb"stream\r?\n.*?endstream", b"", data, flags=re.S)
    return re.findall(r"/(?:JS|JavaScript|URI|OpenAction|AA|Launch|EmbeddedFile|SubmitForm)\b", plain.decode("latin-1"))


def png_chunks(data: bytes) -> set[str]:
    """The kinds of chunks in a PNG."""
    at, found = 8, set()
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        found.add(data[at + 4 : at + 8].decode())
        at += 12 + size
    return found


#: Commands that our tables and numbers are made of.
COMMANDS = {
    *("begin", "end", "centering", "caption", "label", "toprule", "midrule", "bottomrule", "textbf", "newcommand"),
    *("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar", "ensuremath"),
    *("ifdefined", "Uchar", "else", "fi", "leq", "geq", "neq", "approx", "times", "pm", "rightarrow", "leftarrow"),
    *("infty", "alpha", "beta", "kappa", "Delta"),
    "RecuseSimulated",
    *("&", "%", "$", "#", "_", "{", "}", "\\", ","),
}


def faults_of_latex(text: str, own: frozenset[str] = frozenset()) -> list[str]:
    """What TeX would stumble over or obey: foreign commands, bare special signs, open braces, endless lines."""
    found, depth, row = [], 0, 0
    for line in text.split("\n"):
        found += ["a line too long for TeX"] if len(line.encode()) > 190_000 else []
        at = 0
        while at < len(line):
            if command := re.compile(r"\\([A-Za-z]+|.|$)").match(line, at):
                name = command[1]
                found += [f"\\{name}"] if name not in COMMANDS and name not in own else []
                argument = re.compile(r"\{([a-z]+)\*?\}").match(line, command.end())
                if name in ("begin", "end"):
                    inside = bool(argument) and argument[1] in ("tabular", "tabularx")
                    row += (1 if name == "begin" else -1) if inside else 0
                    known = inside or (argument and argument[1] in ("table", "figure", "document", "abstract"))
                    found += [] if known else [f"\\{name} of what?"]
                # A label is no text: an underscore is a letter of it.
                at = line.index("}", command.end()) + 1 if name == "label" else command.end()
                continue
            sign = line[at]
            if sign == "%":
                break
            depth += {"{": 1, "}": -1}.get(sign, 0)
            found += ["a brace too many"] if depth < 0 else []
            found += [f"bare {sign}"] if sign in "$#_^~" or (sign == "&" and not row) else []
            at += 1
    return found + (["a brace stays open"] if depth else []) + unseen(text)
