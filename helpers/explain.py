"""What each number means, from its declaration in numbers.yaml: in the terminal, and as one generated page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from textwrap import fill

from helpers import export, paths
from helpers.config import experiment_names, load_config
from helpers.config.numbers import UNITS, load_numbers, number_files
from helpers.overview import estimate
from helpers.run.notebooks import available, experiment_of
from helpers.types import Estimand

#: What comes after the experiments: an audit, and verdicts of one's own.
LAST = ("audit", "analyze")


@dataclass(frozen=True)
class Section:
    """The numbers of one bias module; the first `headline` of `estimands` are those that conclusions rest on.

    `experiments` are those that measure them (none of a module without any), `title` is their question.
    """

    module: str
    title: str
    experiments: tuple[str, ...]
    estimands: Mapping[str, Estimand]
    headline: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the section is called: its experiments, or the module where it has none."""
        return ", ".join(self.experiments) or self.module


@cache
def sections() -> tuple[Section, ...]:
    """All declared numbers by bias module: experiments in the order of their notebooks, then modules without one.

    Of each module those stand first that conclusions rest on. The numbers of an audit and of verdicts of one's own come
    last.
    """
    order = [experiment_of(notebook) for notebook in available().values()]
    names = sorted(experiment_names(), key=lambda name: (name not in order, order.index(name) if name in order else 0))
    measuring: dict[str, list[str]] = {}
    for name in names:
        measuring.setdefault(load_config(name).bias, []).append(name)
    declared = sorted(number_files())
    modules = [each for each in dict.fromkeys([*measuring, *declared]) if each in declared and each not in LAST]
    return tuple(_section(each, measuring.get(each, [])) for each in (*modules, *LAST))


def _section(module: str, experiments: list[str]) -> Section:
    numbers = load_numbers(module)
    title = load_config(experiments[0]).title if experiments else numbers.title or module
    return Section(module, title, tuple(experiments), numbers.estimands, numbers.headline)


_fill = partial(fill, width=100, break_long_words=False, break_on_hyphens=False)
#: So many numbers of a run are shown, the others are counted.
MOST_SHOWN = 8


def explain(id: str) -> str:
    """What the number `id` means in every experiment that declares it, and its values in the last runs, as plain text.

    An id that nobody declares is a ValueError that names the nearest ones.
    """
    told = [_told(each, each.estimands[id]) for each in sections() if id in each.estimands]
    if not told:
        raise ValueError(f"no number is called '{id}'{_nearest(id)}; `recuse explain` lists all")
    return "\n\n".join(told)


def listed() -> str:
    """All ids by experiment, those that conclusions rest on first and marked with *."""
    lines = []
    for each in sections():
        ids = [f"{id}*" if id in each.headline else id for id in each.estimands]
        lines += [f"{each.name}: {each.title}", _fill(", ".join(ids), initial_indent="  ", subsequent_indent="  "), ""]
    return "\n".join([*lines, "* conclusions rest on these. `recuse explain ID` says what a number means."])


def rows(each: Estimand) -> list[tuple[str, str]]:
    """What a declaration says, part by part: name of the part, its words."""
    parts = ("formula", "numerator", "denominator", "ties_and_invalid", "cluster", "interval", "unit", "source")
    return [
        (name.replace("_", " "), UNITS.get(each.unit, each.unit) if name == "unit" else getattr(each, name))
        for name in parts
    ]


def _told(section: Section, each: Estimand) -> str:
    mark = "; conclusions rest on it" if each.id in section.headline else ""
    parts = [("meaning", each.words), *rows(each), ("where it fails", each.fails)]
    lines = [f"{each.id} ({section.name}{mark})"]
    lines += [
        _fill(f"{name + ':':<18}{words}", initial_indent="  ", subsequent_indent=" " * 20) for name, words in parts
    ]
    for experiment in section.experiments:
        lines += _last_run(experiment, each.id)
    return "\n".join(lines)


def _nearest(id: str) -> str:
    known = list(dict.fromkeys(name for each in sections() for name in each.estimands))
    word = id.strip().lower().replace("-", "_").replace(" ", "_")
    inside = [name for name in known if word and (word in name or name in word)]
    near = list(dict.fromkeys([*get_close_matches(word, known, 5), *inside]))[:8]
    return f"; the nearest are {', '.join(near)}" if near else ""


def _last_run(experiment: str, id: str) -> list[str]:
    """The values in figures/<experiment>/numbers.json, real data first; nothing where there is no such file or number.

    A file that is no such record is a ValueError that names it.
    """
    name = f"figures/{experiment}/numbers.json"
    path = paths.FIGURES / experiment / "numbers.json"
    if not path.is_file():
        return []
    try:
        records = json.loads(path.read_text(encoding="utf-8"))["numbers"]
        found = [estimate(each) for each in records if each["id"] == id]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: no numbers of a run ({type(error).__name__}: {error})") from None
    lines = [f"  last run, {name}:"] if found else []
    for each in sorted(found, key=lambda each: each.data == "simulated")[:MOST_SHOWN]:
        place = ", ".join(f"{key} {value}" for key, value in each.where.items())
        data = each.data.upper() if each.data == "simulated" else each.data
        size = f"n = {each.n}" + (f", {each.clusters} clusters" if each.clusters else "")
        why = f"; {each.method}" if each.low != each.low else ""
        words = f"{data}{': ' if place else ''}{place}: {each} ({size}{why})"
        lines.append(_fill(words, initial_indent="    ", subsequent_indent="      "))
    more = len(found) - MOST_SHOWN
    return [*lines, f"    and {more} more in {name}"] if more > 0 else lines


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
    return "\n".join([HEAD, "", *contents, *(line for each in every for line in _markdown_section(each)), ""])


def write(path: Path = PAGE) -> Path:
    """Write the page and say where it is; its folder is made where it is missing, a link of its name is replaced."""
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
    links = {id: f"[{id}](#{anchor(section, id)})" for id in section.estimands}
    headline = [f"- **{links.pop(id)}**" for id in section.headline]
    title = f"[{plain(section.title)}](#{anchor(section)}) ({plain(section.name)})"
    return ["", title, "", *headline, f"- {', '.join(links.values()) or 'no others'}"]


def _markdown_section(section: Section) -> list[str]:
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
