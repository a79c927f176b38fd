"""What each number means, from its declaration in numbers.yaml: in the terminal, and as one generated page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, partial
from pathlib import Path
from textwrap import fill

from . import export, paths
from .config import experiment_names, load_config
from .overview import Numbers, read_results
from .run.notebooks import available, experiment_of
from .types import Estimand
from .words.numbers import UNITS, load_numbers, number_files

#: What comes after the experiments: an audit, and verdicts of one's own.
LAST = ("audit", "analyze")


@dataclass(frozen=True)
class Section:
    """The numbers of one bias module, `headline` ones first; `experiments` measure them, `title` is their question."""

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
    """All declared numbers: experiments in the order of their notebooks, modules without one, then LAST."""
    order = [experiment_of(notebook) for notebook in available().values()]
    names = sorted(experiment_names(), key=lambda name: (name not in order, order.index(name) if name in order else 0))
    measuring: dict[str, list[str]] = {}
    for name in names:
        measuring.setdefault(load_config(name).bias, []).append(name)
    modules = [each for each in dict.fromkeys([*measuring, *sorted(number_files())]) if each not in LAST]
    found = []
    for module in (*modules, *LAST):
        numbers, experiments = load_numbers(module), tuple(measuring.get(module, ()))
        title = load_config(experiments[0]).title if experiments else numbers.title or module
        found.append(Section(module, title, experiments, numbers.estimands, numbers.headline))
    return tuple(found)


_fill = partial(fill, width=100, break_long_words=False, break_on_hyphens=False)
#: So many numbers of a run are shown, the others are counted.
MOST_SHOWN = 8


def explain(id: str) -> str:
    """What number `id` means and its values in the last runs; ValueError with the nearest ids where it is unknown."""
    texts = [_explained(each, each.estimands[id]) for each in sections() if id in each.estimands]
    if not texts:
        raise ValueError(f"no number is called '{id}'{_nearest(id)}; `recuse explain` lists all")
    return "\n\n".join(texts)


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
    words = vars(each) | {"unit": UNITS.get(each.unit, each.unit)}
    return [(name.replace("_", " "), words[name]) for name in parts]


def _explained(section: Section, each: Estimand) -> str:
    mark = "; conclusions rest on it" if each.id in section.headline else ""
    lines = [f"{each.id} ({section.name}{mark})"]
    for name, words in [("meaning", each.words), *rows(each), ("where it fails", each.fails)]:
        lines.append(_fill(f"{name + ':':<18}{words}", initial_indent="  ", subsequent_indent=" " * 20))
    for experiment in section.experiments:
        lines += _last_run(experiment, each.id)
    return "\n".join(lines)


def _nearest(id: str) -> str:
    ids = list(dict.fromkeys(name for each in sections() for name in each.estimands))
    word = id.strip().lower().replace("-", "_").replace(" ", "_")
    inside = [name for name in ids if word and (word in name or name in word)]
    near = list(dict.fromkeys([*get_close_matches(word, ids, 5), *inside]))[:8]
    return f"; the nearest are {', '.join(near)}" if near else ""


def _last_run(experiment: str, id: str) -> list[str]:
    """The values in figures/<experiment>/numbers.json, if it is there, real data first; ValueError if it is broken."""
    name = f"figures/{experiment}/numbers.json"
    path = paths.FIGURES / experiment / "numbers.json"
    if not path.is_file():
        return []
    found = [each for each in read_results(Numbers, path).numbers if each.id == id]
    lines = [f"  last run, {name}:"] if found else []
    for each in sorted(found, key=lambda each: each.data == "simulated")[:MOST_SHOWN]:
        place = ", ".join(f"{key} {value}" for key, value in each.where.items())
        data = each.data.upper() if each.data == "simulated" else each.data
        facts = f"n = {each.n}{f', {each.clusters} clusters' if each.clusters else ''}"
        facts += f"; {each.method}" if each.low != each.low else ""
        words = f"{data}{': ' if place else ''}{place}: {each} ({facts})"
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
    parts = [HEAD, "## Contents"]
    for each in sections():
        links = {id: f"[{id}](#{anchor(each, id)})" for id in each.estimands}
        headline = [f"- **{links.pop(id)}**" for id in each.headline]
        parts.append(f"[{plain(each.title)}](#{anchor(each)}) ({plain(each.name)})")
        parts.append("\n".join([*headline, f"- {', '.join(links.values()) or 'no others'}"]))
    for each in sections():
        name = f"{'Experiment' if each.experiments else 'Module'} {plain(each.name)}."
        parts += [f'<a id="{anchor(each)}"></a>', f"## {plain(each.title)}", name]
        parts += [part for one in each.estimands.values() for part in _entry_of(each, one)]
    return "\n\n".join(parts) + "\n"


def _entry_of(section: Section, each: Estimand) -> list[str]:
    def words(text: str) -> str:
        return _linked(plain(text), section, each.id)

    (name, formula), *others = rows(each)
    facts = [f"- {name}: {code(formula)}", *(f"- {name}: {words(text)}" for name, text in others)]
    head = [f'<a id="{anchor(section, each.id)}"></a>', f"### {plain(each.id)}", words(each.words)]
    return [*head, "\n".join(facts), f"**Where it fails.** {words(each.fails)}"]


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
    parts = re.split(r"(`[^`]*`)", text.replace("&", "&amp;"))
    # Between letters an underscore is one; elsewhere it may begin emphasis.
    signs = re.compile(r"[\\*\[\]<>|#~$`]|(?<![^\W_])_|_(?![^\W_])")
    return "".join(part if index % 2 else signs.sub(r"\\\g<0>", part) for index, part in enumerate(parts))


def code(text: str) -> str:
    """Text as a code span, whatever backticks it holds."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    space = " " if len(fence) > 1 else ""
    return f"{fence}{space}{text}{space}{fence}"


def _linked(text: str, section: Section, page: str) -> str:
    """Markdown with each other number of the section as a link to it."""
    ids = sorted((id for id in section.estimands if "_" in id and id != page), key=len, reverse=True)
    words = re.compile(rf"(?<![\w`])({'|'.join(map(re.escape, ids)) or '(?!)'})(?![\w`])")
    return words.sub(lambda found: f"[{found[1]}](#{anchor(section, found[1])})", text)
