"""Templates of bias tests: one YAML file a bias, and one line of metric parameters in the experiment's config.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from helpers.config.schema import NAME, ConfigError, Strict, checked, read_yaml
from helpers.types import VERSIONS

#: More options have no letter of their own (see `biases.cognitive.asking.LETTERS`).
MOST_OPTIONS = 22


class ScaleOptions(Strict):
    """Options that are numbers: from the least to the greatest, each followed by the unit."""

    start: int = Field(alias="from")
    stop: int = Field(alias="to")
    step: int = Field(ge=1)
    unit: str = ""

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers, lowest first."""
        return tuple(map(float, range(self.start, self.stop + 1, self.step)))


class Draw(Strict):
    """What is drawn by the seed for each scenario and wording: a whole number, or one of several values."""

    start: int | None = Field(None, alias="from")
    stop: int | None = Field(None, alias="to")
    choose: list[str | int | float] | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> Draw:
        if (self.choose is None) == (self.start is None) or (self.start is None) != (self.stop is None):
            raise ValueError("needs `from` and `to`, or `choose`")
        if self.choose == [] or (self.start is not None and self.start > self.stop):
            raise ValueError("leaves nothing to draw from")
        return self


class BiasTemplate(Strict):
    """One template file: a bias, its wordings with their versions, and its scenarios; see CONTRIBUTING."""

    title: str
    words: str
    source: str
    kind: Literal["scale", "acceptance", "selection"]
    options: list[str] | ScaleOptions | None = None
    draws: dict[str, Draw] = Field(default_factory=dict)
    wordings: list[dict[str, str]] = Field(min_length=1)
    scenarios: list[dict[str, str | int | float | list[str]]] = Field(min_length=1)

    @model_validator(mode="after")
    def _whole(self) -> BiasTemplate:
        wanted = set(VERSIONS[self.kind]) - {"treatment_for", "treatment_against"}
        wanted |= {"treatment"} if self.kind == "selection" else set()
        for number, wording in enumerate(self.wordings, 1):
            if set(wording) != wanted:
                found = ", ".join(sorted(wording)) or "nothing"
                raise ValueError(f"wordings, number {number}: needs {', '.join(sorted(wanted))}; found {found}")
        if (self.options is None) != (self.kind == "selection"):
            raise ValueError("options: a scale and a gamble have them; of a selection they are the arguments")
        if isinstance(self.options, ScaleOptions | list):
            number = len(self.options if isinstance(self.options, list) else self.options.values)
            if not 2 <= number <= MOST_OPTIONS or (self.kind == "acceptance" and number != 2):
                raise ValueError(f"options: {number}; a gamble has 2 (decline, accept), a scale 2 to {MOST_OPTIONS}")
            if isinstance(self.options, list) and len(set(self.options)) < number:
                raise ValueError("options: one stands twice")
        if self.kind == "acceptance" and "ratio" not in self.draws:
            raise ValueError("draws: a gamble needs `ratio`, what is won over what is lost")
        self._check_scenarios()
        return self

    def _check_scenarios(self) -> None:
        ids = [each.get("id") for each in self.scenarios]
        for number, (id, scenario) in enumerate(zip(ids, self.scenarios, strict=True), 1):
            if not isinstance(id, str) or not NAME.fullmatch(id):
                raise ValueError(
                    f"scenarios, number {number}: id = {id!r}: lower case letters, digits, _ . - (at most 64)"
                )
            if ids.count(id) > 1:
                raise ValueError(f"scenarios: id {id!r} stands twice")
            if set(scenario) != set(self.scenarios[0]):
                odd = ", ".join(sorted(set(scenario) ^ set(self.scenarios[0])))
                raise ValueError(f"scenarios, {id}: has other fields than the first one: {odd}")
            if drawn := set(scenario) & {*self.draws, "decided"}:
                raise ValueError(f"scenarios, {id}: {', '.join(sorted(drawn))} is drawn, and no field of a scenario")
            if self.kind == "selection":
                sides = [scenario.get(side) for side in ("pro", "con")]
                if not all(isinstance(side, list) and side for side in sides) or len(sides[0]) != len(sides[1]):
                    raise ValueError(f"scenarios, {id}: needs as many arguments `pro` as `con`, at least one")
                if len({*sides[0], *sides[1]}) < 2 * len(sides[0]) or 2 * len(sides[0]) > MOST_OPTIONS:
                    raise ValueError(f"scenarios, {id}: each argument once, at most {MOST_OPTIONS // 2} a side")


class MetricLine(Strict):
    """The line of metric parameters of one bias.

    `target`: where the bias pulls: "high" or "low" (the last or first option), the name of a drawn number (the option
    nearest to it), "decided" (the side that the model decided for), or a drawn word with the end that each of its
    values means, as {impression: {good: high, bad: low}}. `scale` overrides the parameters of the published metric,
    which else follow from the target.
    """

    target: str | dict[str, dict[str, Literal["high", "low"]]]
    scale: dict[Literal["k", "x1", "x2", "flip_control", "flip_treatment"], float | bool] | None = None


def load_templates(folder: Path, lines: Mapping[str, Any], where: str) -> dict[str, tuple[BiasTemplate, MetricLine]]:
    """The bias tests of a folder by name, in order of name, each with its line of metric parameters.

    The name of a bias is that of its file. A file without a line in `lines` (read from `where`), and a line that does
    not fit its file, are ConfigErrors. A line without a file is left alone: a folder of one's own may hold fewer.
    """
    files = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if not files:
        raise ConfigError(f"{folder}: no template of a bias test (*.yaml) in this folder")
    if unknown := [name for name in files if name not in lines]:
        known = ", ".join(lines)
        raise ConfigError(f"{where}: options.biases has no line for {', '.join(unknown)}; it has: {known}")
    found = {}
    for name, path in files.items():
        if not NAME.fullmatch(name):
            raise ConfigError(f"{path}: the name of a bias is lower case letters, digits, _ . - (at most 64)")
        template = checked(BiasTemplate, read_yaml(path), str(path))
        line = checked(MetricLine, lines[name], f"{where}: options.biases.{name}")
        _fits(template, line, f"{where}: options.biases.{name}")
        found[name] = (template, line)
    return found


def _fits(template: BiasTemplate, line: MetricLine, where: str) -> None:
    """Refuse a target that the template does not have."""
    drawn = template.draws
    if isinstance(line.target, dict):
        for name, ends in line.target.items():
            values = drawn[name].choose if name in drawn else None
            if len(line.target) > 1 or values is None or {*map(str, values)} != set(ends):
                words = "; ".join(f"{each}: {', '.join(map(str, d.choose))}" for each, d in drawn.items() if d.choose)
                raise ConfigError(
                    f"{where}: target names one drawn word and each of its values; drawn: {words or 'none'}"
                )
        return
    numbers = [name for name, draw in drawn.items() if draw.start is not None]
    valid = ["decided"] if template.kind == "selection" else ["high", "low", *numbers]
    if line.target not in valid:
        raise ConfigError(f"{where}: target = {line.target!r}; of a {template.kind} it can be: {', '.join(valid)}")
