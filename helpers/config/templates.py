"""Templates of bias tests: one YAML file a bias, and one line of metric parameters in the experiment's config.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from helpers.config.faults import checked
from helpers.config.scenarios import BiasTemplate, ScaleOptions
from helpers.config.schema import NAME, ConfigError, Strict
from helpers.config.yaml_text import line_of, read_yaml


class ScaleLine(Strict):
    """Parameters of the published metric, on the numbers of options from 0; those not given follow from the target."""

    k: float = -1.0
    x1: float = 0.0
    x2: float = 0.0
    flip_control: bool = False
    flip_treatment: bool = False


class MetricLine(Strict):
    """The line of metric parameters of one bias.

    `target`: where the bias pulls: "high" or "low" (the last or first option), the name of a drawn number (the option
    nearest to it), "decided" (the side that the model decided for), or a drawn word with the end that each of its
    values means, as {impression: {good: high, bad: low}}. `scale` overrides parameters of the published metric, which
    else follow from the target.
    """

    target: str | dict[str, dict[str, Literal["high", "low"]]]
    scale: ScaleLine | None = None


def load_templates(place: Path, lines: Mapping[str, Any], where: str) -> dict[str, tuple[BiasTemplate, MetricLine]]:
    """The bias tests of a folder, or of one file, by name, in order of name, each with its line of metric parameters.

    The name of a bias is that of its file. A file without a line in `lines` (read from `where`), and a line that does
    not fit its file, are ConfigErrors. A line without a file is left alone: a folder of one's own may hold fewer.
    """
    files = {path.stem: path for path in ([place] if place.is_file() else sorted(place.glob("*.yaml")))}
    if not files:
        raise ConfigError(f"{place}: no template of a bias test (*.yaml) in this folder")
    if unknown := [name for name in files if name not in lines]:
        known = ", ".join(lines)
        raise ConfigError(f"{where}: options.biases has no line for {', '.join(unknown)}; it has: {known}")
    found = {}
    for name, path in files.items():
        if not NAME.fullmatch(name):
            raise ConfigError(f"{path}: the name of a bias is lower case letters, digits, _ . - (at most 64)")
        template = checked(BiasTemplate, read_yaml(path, shown=True), str(path), partial(line_of, path))
        line = checked(MetricLine, lines[name], f"{where}: options.biases.{name}")
        _fits(template, line, f"{where}: options.biases.{name}")
        found[name] = (template, line)
    return found


def _fits(template: BiasTemplate, line: MetricLine, where: str) -> None:
    """Refuse a target that the template does not have, or that needs options of another kind."""
    drawn = template.draws
    if isinstance(line.target, dict):
        name, ends = next(iter(line.target.items()), ("", {}))
        values = drawn[name].choose if name in drawn else None
        fits = len(line.target) == 1 and values is not None and {*map(str, values)} == set(ends)
        if not fits or template.kind == "selection":
            words = "; ".join(f"{each}: {', '.join(map(str, d.choose))}" for each, d in drawn.items() if d.choose)
            told = "target names one drawn word and the end, high or low, that each of its values means"
            raise ConfigError(f"{where}: {told}; of a {template.kind}, drawn: {words or 'none'}")
        return
    # A number is near an option only where the options are numbers too.
    numbers = [name for name, draw in drawn.items() if draw.start is not None]
    numbers = numbers if isinstance(template.options, ScaleOptions) else []
    valid = ["decided"] if template.kind == "selection" else ["high", "low", *numbers]
    if line.target not in valid:
        raise ConfigError(f"{where}: target = {line.target!r}; of a {template.kind} it can be: {', '.join(valid)}")
    if template.kind == "selection" and line.scale is not None:
        raise ConfigError(f"{where}: scale: the published metric is not defined for selections")
