"""What each number means: declared once in the numbers.yaml of its experiment, read into the records that all show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from .. import paths
from ..config import experiment_names, load_config
from ..config.yaml_text import STRICT, ConfigError, Strict, checked, fault, line_words, read_yaml
from ..types import Estimand, Family

FILE = "numbers.yaml"
#: What each unit of a number means to a reader.
UNITS: dict[str, str] = STRICT["units"]
#: A name, as it stands in tables, files and the text of other numbers.
Id = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, Field(pattern=r"\S")]


class Usual(Strict):
    """What many numbers of an experiment have in common; one that differs says so itself."""

    unit: Literal[tuple(UNITS)] | None = None  # type: ignore[valid-type]
    ties_and_invalid: Text | None = None
    cluster: Text | None = None
    interval: Text | None = None
    source: Text | None = None
    needs: str | None = None


class Members(Strict):
    """Which numbers of an id are confirmatory, as in `Family`."""

    name: Id
    over: list[str]
    only: dict[str, list[str]] = Field(default_factory=dict)
    planned: bool = False


class Number(Usual):
    """One declared number; `headline`: conclusions rest on it, `fails`: where it misleads, the others as in `Estimand`.

    In YAML `null` is a word of its own, so that the key of this name stands in quotes.
    """

    words: Text
    formula: Text
    numerator: Text
    denominator: Text
    headline: bool = False
    above: Text | None = None
    below: Text | None = None
    describe: Text | None = None
    null: float | None = None
    family: Members | None = None
    fails: Text


class Repeated(Strict):
    """Numbers of another experiment that are measured here too; `words`, `fails` and `needs` are added to its own."""

    experiment: str
    needs: str = ""
    words: Text
    fails: Text
    ids: list[str]


class NumbersFile(Strict):
    """One experiments/<name>/numbers.yaml; `title` where no config.yaml has one, `texts` that hold of all runs."""

    title: str = ""
    repeated: Repeated | None = None
    labels: dict[str, Text] = Field(default_factory=dict)
    texts: dict[Id, Text] = Field(default_factory=dict)
    defaults: Usual = Usual()
    numbers: dict[Id, Number] = Field(min_length=1)


@dataclass(frozen=True)
class Numbers:
    """The declared numbers of one bias module by id, those that conclusions rest on (`headline`) first."""

    title: str
    estimands: Mapping[str, Estimand]
    headline: tuple[str, ...]
    texts: Mapping[str, str]


def number_files() -> dict[str, Path]:
    """Where the numbers of each bias module are declared: numbers.yaml of its experiment, or of its own folder."""
    names, found = experiment_names(), dict[str, Path]()
    for path in sorted(paths.EXPERIMENTS.glob(f"*/{FILE}")):
        name = path.parent.name
        module = load_config(name).bias if name in names else name
        if module in found:
            raise ConfigError(f"{_shown(path)}: numbers of {module} stand in {_shown(found[module])}; keep one file")
        found[module] = path
    return found


def load_numbers(module: str) -> Numbers:
    """What the numbers of a bias module mean; what is wrong is a ConfigError with file, line and field."""
    files = number_files()
    if module not in files:
        raise ConfigError(f"no {FILE} declares numbers of '{module}'; there are some of: {', '.join(sorted(files))}")
    content, declared = _read(files[module])
    headline = tuple(id for id, each in content.numbers.items() if each.headline)
    first = {id: declared[id] for id in headline}
    again = _repeat(files[module], content.repeated) if content.repeated else {}
    return Numbers(content.title, first | again | declared, headline, content.texts)


def declared_by(module: str) -> Mapping[str, Estimand]:
    """The declared numbers of a bias module by id, read once: for the sentences that are made of them."""
    return _numbers(module, paths.EXPERIMENTS).estimands


def text_of(module: str, name: str) -> str:
    """A sentence of the texts of a bias module."""
    return _numbers(module, paths.EXPERIMENTS).texts[name]


@lru_cache(maxsize=32)
def _numbers(module: str, folder: Path) -> Numbers:
    return load_numbers(module)


def _shown(path: Path) -> str:
    return f"experiments/{path.parent.name}/{path.name}"


def _read(path: Path) -> tuple[NumbersFile, dict[str, Estimand]]:
    """A file, and the numbers that it declares itself, with its defaults filled in."""
    content = checked(NumbersFile, read_yaml(path), _shown(path), path)
    usual, declared = content.defaults.model_dump(exclude_none=True), {}
    for id, each in content.numbers.items():
        facts = usual | {key: value for key, value in each if value is not None and key != "headline"}
        if missing := [name for name in Usual.model_fields if name not in (*facts, "needs")]:
            line = line_words(path, ("numbers", id))
            raise ConfigError(f"{_shown(path)}: {line}numbers.{id} has no {', '.join(missing)}, nor have the defaults")
        family = Family(**dict(facts.pop("family"))) if each.family else None
        declared[id] = Estimand(id=id, **facts, family=family, labels=content.labels)
    return content, declared


def _repeat(path: Path, repeated: Repeated) -> dict[str, Estimand]:
    _, others = _read(path.parent.parent / repeated.experiment / FILE)
    if unknown := [id for id in repeated.ids if id not in others]:
        words = fault("no_number", names=unknown, experiment=repeated.experiment, valid=[*others])
        raise ConfigError(f"{_shown(path)}: {line_words(path, ('repeated', 'ids'))}{words}")
    chosen = [others[id] for id in repeated.ids]
    more: dict[str, Any] = {name: getattr(repeated, name) for name in ("words", "fails", "needs")}
    return {
        each.id: replace(each, **{name: getattr(each, name) + f" {added}" for name, added in more.items()})
        for each in chosen
    }
