"""Notebooks that ask nothing and collect what others found: their config.yaml and parameters."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, Literal

from helpers import paths
from helpers.config.faults import checked
from helpers.config.schema import STYLES, ConfigError, Strict
from helpers.config.yaml_text import line_of, read_yaml
from helpers.types import Collection, short_hash

#: Parameters of a notebook that collects, with their defaults.
COLLECTING: dict[str, Any] = {
    **{"results": None, "failed": None, "verdicts": None},
    **{"figure_style": "paper", "out": None},
}


class CollectionConfig(Strict):
    """One experiments/<name>/config.yaml of a notebook that collects: it has a question, and asks no judge."""

    title: str
    collects: Literal[True]


class CollectionParameters(Strict):
    """Its parameters, checked; a list that is given is not empty."""

    results: list[str] | None
    failed: list[str] | None
    verdicts: str | None
    figure_style: Literal[STYLES]  # type: ignore[valid-type]
    out: str | None


def _named(collecting: bool) -> list[str]:
    found = []
    for path in sorted(paths.EXPERIMENTS.glob("*/config.yaml")):
        content = read_yaml(path)
        if (isinstance(content, dict) and "collects" in content) == collecting:
            found.append(path.parent.name)
    return found


def experiment_names() -> list[str]:
    """The experiments that ask judges: folders of experiments/ with a config.yaml, in order of name."""
    return _named(False)


def collection_names() -> list[str]:
    """The folders of experiments/ whose config.yaml says `collects: true`, in order of name."""
    return _named(True)


def load_collection(name: str, **parameters: Any) -> Collection:
    """Settle a notebook that collects from its config.yaml and its parameters.

    Everything wrong is a ConfigError: an unknown name, parameter or failed experiment, a folder that is not there.
    """
    if name not in collection_names():
        raise ConfigError(f"'{name}' collects nothing; these do: {', '.join(collection_names())}")
    path = paths.EXPERIMENTS / name / "config.yaml"
    config = checked(CollectionConfig, read_yaml(path), f"experiments/{name}/config.yaml", partial(line_of, path))
    unknown = sorted(set(parameters) - set(COLLECTING))
    if unknown:
        raise ConfigError(f"{name} has no parameter {', '.join(unknown)}; it has: {', '.join(COLLECTING)}")
    where, given = f"parameters of {name}", {**COLLECTING, **parameters}
    settled, known = checked(CollectionParameters, given, where), experiment_names()
    for key, values in (("results", settled.results), ("failed", settled.failed)):
        if values == []:
            raise ConfigError(f"{where}: {key} is an empty list; leave it at None")
    strangers = [each for each in settled.failed or () if each not in known]
    if strangers:
        raise ConfigError(f"{where}: failed = {', '.join(strangers)}: there are: {', '.join(known)}")
    folders = tuple(Path(each).expanduser().resolve() for each in settled.results or ())
    absent = [str(folder) for folder in folders if not folder.is_dir()]
    if absent:
        raise ConfigError(f"{where}: results = {', '.join(absent)}: no such folder")
    if settled.verdicts and not Path(settled.verdicts).expanduser().exists():
        raise ConfigError(f"{where}: verdicts = {settled.verdicts}: no such file or folder")
    changed = {key: given[key] for key in COLLECTING if given[key] != COLLECTING[key]}
    digest = short_hash(json.dumps(changed, sort_keys=True), digits=10)
    usual = paths.RUNS / f"{name}-{digest}" if changed else paths.FIGURES / name
    return Collection(
        name=name,
        title=config.title,
        experiments=tuple(known),
        results=folders or tuple(paths.FIGURES / each for each in known),
        failed=tuple(settled.failed or ()),
        figure_style=settled.figure_style,
        out=(Path(settled.out).expanduser() if settled.out else usual).resolve(),
        default=not changed,
    )
