"""All numbers on one page in Markdown, made from their declarations alone: the same bytes until one of them changes."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

from helpers import paths
from helpers.explain.declared import Section, sections
from helpers.explain.telling import rows
from helpers.types import Estimand

PAGE = paths.FIGURES / "overview" / "estimands.md"
HEAD = """# What every number means

Made by `recuse explain --write` from the declarations in the code; do not edit it. `recuse explain ID` tells the same
in the terminal, with the values of the last runs. An id can stand in two experiments, each with a declaration of its
own. Numbers in **bold** are those that conclusions rest on.

Intervals take questions as independent. Near-copies are merged where texts are known; where only ids are, tests at 5 %
of 20 questions in four copies each reject in 25 %. Unequal questions keep 5 %, but 8 % where 4 of 80 hold 57 % of the
rows and rates of questions have a deviation of 0.25."""


def page() -> str:
    """The page: a table of contents, then by experiment each number with what it means and where it fails."""
    every = sections()
    contents = ["## Contents", *(line for each in every for line in _contents(each))]
    return "\n".join([HEAD, "", *contents, *(line for each in every for line in _section(each)), ""])


def write(path: Path = PAGE) -> Path:
    """Write the page and say where it is; its folder is made where it is missing, a link of its name is replaced."""
    from helpers import export

    export.write({path.name: page().encode()}, path.parent)
    return path


def anchor(section: Section, id: str = "") -> str:
    """The place of a section, or of one of its numbers, on the page."""
    return "-".join(filter(None, (section.module, id)))


def plain(text: str) -> str:
    """Text as Markdown shows it letter by letter; what stands in `backticks` stays code.

    >>> plain("|a* - b| < 1 `[A=B]` x_y")
    '\\\\|a\\\\* - b\\\\| \\\\< 1 `[A=B]` x_y'
    """
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if index % 2 else _escaped(part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """Text as a code span, whatever backticks it holds.

    >>> code("a | b"), code("`x`")
    ('`a | b`', '`` `x` ``')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1) if longest else "`"
    return f"{fence} {text} {fence}" if longest else f"{fence}{text}{fence}"


def _escaped(text: str) -> str:
    text = re.sub(r"([\\*\[\]<>|#~$`])", r"\\\1", text.replace("&", "&amp;"))
    # Between letters an underscore is one; elsewhere it may begin emphasis.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)


def _linked(text: str, section: Section, own: str) -> str:
    """Markdown with each other number of the section as a link to it."""
    ids = sorted((id for id in section.estimands if "_" in id and id != own), key=len, reverse=True)
    if not ids:
        return text
    words = re.compile(rf"(?<![\w`])({'|'.join(map(re.escape, ids))})(?![\w`])")
    return words.sub(lambda found: f"[{found[1]}](#{anchor(section, found[1])})", text)


def _contents(section: Section) -> list[str]:
    return [
        "",
        f"[{plain(section.title)}](#{anchor(section)}) ({plain(section.name)})",
        "",
        *(f"- **{_entry(section, id)}**" for id in section.headline),
        f"- {_entries(section, [id for id in section.estimands if id not in section.headline])}",
    ]


def _entry(section: Section, id: str) -> str:
    return f"[{id}](#{anchor(section, id)})"


def _entries(section: Section, ids: Collection[str]) -> str:
    return ", ".join(_entry(section, id) for id in ids) or "no others"


def _section(section: Section) -> list[str]:
    lines = ["", f'<a id="{anchor(section)}"></a>', "", f"## {plain(section.title)}", ""]
    lines.append(f"Experiment {plain(section.name)}." if section.experiments else f"Module {plain(section.name)}.")
    return lines + [line for each in section.estimands.values() for line in _entry_of(section, each)]


def _entry_of(section: Section, each: Estimand) -> list[str]:
    def words(text: str) -> str:
        return _linked(plain(text), section, each.id)

    (formula, *others) = rows(each)
    return [
        "",
        f'<a id="{anchor(section, each.id)}"></a>',
        "",
        f"### {plain(each.id)}",
        "",
        words(each.words),
        "",
        f"- {formula[0]}: {code(formula[1])}",
        *(f"- {name}: {words(text)}" for name, text in others),
        "",
        f"**Where it fails.** {words(each.fails)}",
    ]
