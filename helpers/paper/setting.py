"""Figures and tables as LaTeX floats: figures in their own size, tables as their layout says, all text escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from helpers.escaping import LONGEST_CAPTION, LONGEST_CELL, cut, latex, visible
from helpers.macros import signs
from helpers.paper.folders import Picture, Results, Sheet
from helpers.paper.layout import ESTIMATE, Layout, head_lines, layouts, natural_width, row_height, written
from helpers.paper.pages import POINTS, SMALLEST, Page

#: A table of more pages than this is cut: its CSV file, beside the results, holds all.
MOST_PAGES = 3
#: What rules, head and space take of a page besides the rows, in points.
AROUND = 90
#: Space around a figure and its caption, in points.
SPACE = 30


def stem(results: Results, name: str) -> str:
    """The name of the files of one figure or table."""
    return f"{results.label}-{name}"


def figure_tex(results: Results, picture: Picture, page: Page) -> str:
    """A figure in its own size, so that its letters are as large as they were drawn; wide ones over both columns.

    Only one that is higher than the page is made smaller (`share`).
    """
    star = "*" if page.columns == 2 and picture.width > page.column + 0.01 else ""
    height = picture.height * share(picture, page)
    options = "" if height == picture.height else f"[height={height:.3f}in]"
    alt = " ".join(visible(picture.alt).split())
    return "\n".join(
        [
            f"% In other words: {alt}",
            rf"\begin{{figure{star}}}[tp]",
            r"\centering",
            rf"\includegraphics{options}{{\RecuseFolder figures/{stem(results, picture.name)}}}",
            rf"\caption{{{_caption(picture.caption)}}}",
            rf"\label{{fig:{stem(results, picture.name)}}}",
            rf"\end{{figure{star}}}",
            "",
        ]
    )


def share(picture: Picture, page: Page) -> float:
    """The share of its own size that a figure has on the page: 1, or less where it and its caption are too high."""
    wide = picture.width > page.column + 0.01
    room = page.height - (_caption_height(picture.caption, page, wide) + SPACE) / POINTS
    return min(1.0, room / picture.height)


def table_tex(results: Results, sheet: Sheet, page: Page) -> str:
    """A table with booktabs rules that fits its column, in as many parts as it needs."""
    label = f"tab:{stem(results, sheet.name)}"
    if not sheet.rows or not sheet.columns:
        return f"% {visible(sheet.name)}: a table without rows.\n"
    floats: list[str] = []
    for layout in layouts(sheet, page):
        parts, cut_at = _parts(sheet, layout, page)
        for rows in parts:
            words = sheet.caption if not floats else "Continued."
            if cut_at and not floats:
                words += f" The first {cut_at:,} of {len(sheet.rows):,} rows; {sheet.name}.csv holds all."
            floats.append(_float(sheet, layout, rows, words, label if not floats else f"{label}-{len(floats) + 1}"))
    return "\n".join(floats)


def _caption(words: str) -> str:
    return signs(latex(cut(words, LONGEST_CAPTION)))


def _parts(sheet: Sheet, layout: Layout, page: Page) -> tuple[list[list[int]], int]:
    """The rows of each page, and how many rows there are when some are left out, else 0."""
    room = page.height * POINTS - AROUND - _caption_height(sheet.caption, page, layout.wide)
    parts: list[list[int]] = [[]]
    used = 0.0
    for row in range(len(sheet.rows)):
        height = row_height(sheet, layout, row)
        if parts[-1] and used + height > room:
            parts.append([])
            used = 0.0
        parts[-1].append(row)
        used += height
    if len(parts) <= MOST_PAGES:
        return parts, 0
    return parts[:MOST_PAGES], sum(map(len, parts[:MOST_PAGES]))


def _caption_height(words: str, page: Page, wide: bool) -> float:
    room = (page.text if wide or page.columns == 1 else page.column) * POINTS
    return (1 + len(words) * 0.5 * page.caption / room) * page.caption * 1.2


def _float(sheet: Sheet, layout: Layout, rows: Sequence[int], words: str, label: str) -> str:
    star = "*" if layout.wide else ""
    size = r"\RecuseSmall" if layout.size == SMALLEST else r"\RecuseMedium"
    head = " & ".join(_head(sheet, layout, at) for at in layout.columns)
    # Rows of several lines are told apart by the space between them.
    end = r" \\[2pt]" if layout.stacked or layout.wrapped else r" \\"
    body = [" & ".join(_cell(sheet, layout, row, at) for at in layout.columns) + end for row in rows]
    kinds = "".join(_kind(sheet, layout, at) for at in layout.columns)
    return "\n".join(
        [
            rf"\begin{{table{star}}}[tp]",
            r"\centering",
            rf"\caption{{{_caption(words)}}}",
            rf"\label{{{re.sub('[^A-Za-z0-9:._-]', '-', label)}}}",
            rf"{size}\setlength{{\tabcolsep}}{{4pt}}%",
            rf"\RecuseFit{{\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
            r"\toprule",
            head + r" \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            rf"\end{{table{star}}}",
            "",
        ]
    )


def _kind(sheet: Sheet, layout: Layout, at: int) -> str:
    if at in layout.wrapped:
        return rf">{{\raggedright\arraybackslash}}p{{{layout.wrapped[at]:.0f}pt}}"
    numeric = all(isinstance(row[at], int | float) or row[at] is None for row in sheet.rows)
    return "r" if numeric else "l"


def _head(sheet: Sheet, layout: Layout, at: int) -> str:
    name = cut(sheet.columns[at], LONGEST_CELL)
    if at in layout.wrapped or not layout.stacked:
        return latex(name)
    alone = replace(sheet, columns=tuple("" for _ in sheet.columns))
    lines = head_lines(name, natural_width(alone, at, layout.size, True), layout.size)
    return _stacked([latex(line) for line in lines], "b")


def _cell(sheet: Sheet, layout: Layout, row: int, at: int) -> str:
    text = cut(written(sheet.rows[row][at]), LONGEST_CELL)
    bold = r"\textbf{{{}}}" if (row, at) in sheet.best else "{}"
    found = ESTIMATE.fullmatch(text) if layout.stacked and at not in layout.wrapped else None
    if not found:
        return bold.format(signs(latex(text)) if text != "--" else text)
    return _stacked([bold.format(signs(latex(found[each]))) for each in ("value", "interval")], "t")


def _stacked(lines: Sequence[str], side: str) -> str:
    if len(lines) == 1:
        return lines[0]
    inner = r" \\ ".join(lines)
    return rf"\begin{{tabular}}[{side}]{{@{{}}l@{{}}}}{inner}\end{{tabular}}"
