"""Templates of bias tests: one YAML file a bias, and one line of metric parameters in the experiment's config.yaml."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from ..config.yaml_text import NAME, NAME_FORM, ConfigError, Strict, checked, read_yaml
from .bias_tests import MOST_OPTIONS


class ScaleOptions(Strict):
    """Options that are numbers: from the least to the greatest, each followed by the unit."""

    start: int = Field(alias="from")
    stop: int = Field(alias="to")
    step: int = Field(ge=1)
    unit: str = ""

    @model_validator(mode="after")
    def _few(self) -> ScaleOptions:
        # Counted before they are listed: a slip of the pen must not fill the memory.
        count = len(range(self.start, self.stop + 1, self.step))
        if not 2 <= count <= MOST_OPTIONS:
            raise ValueError(f"options: {count}; a scale has 2 to {MOST_OPTIONS}")
        return self

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers, lowest first."""
        return tuple(map(float, range(self.start, self.stop + 1, self.step)))

    @property
    def texts(self) -> list[str]:
        """The options as they are shown."""
        return [f"{value:g}{self.unit}" for value in self.values]


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
    """One template file: a bias, its wordings with their versions, and its scenarios; see data/README.md."""

    title: str
    words: str
    source: str
    kind: Literal["scale", "acceptance", "selection"]
    options: list[str] | ScaleOptions | None = None
    draws: dict[str, Draw] = Field({})
    wordings: list[dict[str, str]] = Field(min_length=1)
    scenarios: list[dict[str, str | int | float | list[str]]] = Field(min_length=1)

    @model_validator(mode="after")
    def _parts_fit(self) -> BiasTemplate:
        # Both treatments of a selection are one text, which tells the side that was decided for.
        wanted = {"control", "treatment", *(["decision"] if self.kind == "selection" else [])}
        for number, wording in enumerate(self.wordings, 1):
            if set(wording) != wanted:
                found = ", ".join(sorted(wording)) or "nothing"
                raise ValueError(f"wordings, number {number}: needs {', '.join(sorted(wanted))}; found {found}")
        if (self.options is None) != (self.kind == "selection"):
            raise ValueError("options: a scale and a gamble have them; of a selection they are the arguments")
        if self.options is not None:
            texts = self.options.texts if isinstance(self.options, ScaleOptions) else self.options
            _check_options(texts, self.kind, "options")
        if self.kind == "acceptance":
            ratio = self.draws.get("ratio")
            values = [] if ratio is None else ratio.choose or [ratio.start]
            if not values or not all(isinstance(value, int | float) and value > 0 for value in values):
                raise ValueError("draws: a gamble needs `ratio`, what is won over what is lost: numbers above 0")
        for number, scenario in enumerate(self.scenarios, 1):
            self._check_scenario(number, scenario)
        return self

    def _check_scenario(self, number: int, scenario: Mapping[str, Any]) -> None:
        id = scenario.get("id")
        if not isinstance(id, str) or not NAME.fullmatch(id):
            raise ValueError(f"scenarios, number {number}: id = {id!r}: {NAME_FORM}")
        if [each.get("id") for each in self.scenarios].count(id) > 1:
            raise ValueError(f"scenarios: id {id!r} stands twice")
        if odd := (set(scenario) ^ set(self.scenarios[0])) - {"options"}:
            raise ValueError(f"scenarios, {id}: has other fields than the first one: {', '.join(sorted(odd))}")
        if drawn := set(scenario) & {*self.draws, "decided"}:
            raise ValueError(f"scenarios, {id}: {', '.join(sorted(drawn))} is drawn, and no field of a scenario")
        if "options" in scenario:
            if not isinstance(self.options, list):
                raise ValueError(f"scenarios, {id}: options of its own where those of the file are no list of texts")
            _check_options(scenario["options"], self.kind, f"scenarios, {id}: options")
        if self.kind == "selection":
            pro, con = scenario.get("pro"), scenario.get("con")
            if not isinstance(pro, list) or not isinstance(con, list) or not 0 < len(pro) == len(con):
                raise ValueError(f"scenarios, {id}: needs as many arguments `pro` as `con`, at least one")
            _check_options([*pro, *con], self.kind, f"scenarios, {id}: arguments")


def _check_options(options: Any, kind: str, where: str) -> None:
    """Refuse what cannot be shown as lettered lines: too few or many, one twice, a text of several lines or none."""
    if not isinstance(options, list):
        raise ValueError(f"{where}: {options!r} is no list of texts")
    if not 2 <= len(options) <= (2 if kind == "acceptance" else MOST_OPTIONS):
        counts = f"a gamble has 2 (decline, accept), others 2 to {MOST_OPTIONS}"
        raise ValueError(f"{where}: {len(options)}; {counts}")
    for text in options:
        if text != text.strip() or len(text.splitlines()) != 1:
            raise ValueError(f"{where}: {text!r}: each is one line that neither begins nor ends with a blank")
        if options.count(text) > 1:
            raise ValueError(f"{where}: {text!r} stands twice")


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
        names = ", ".join(lines)
        raise ConfigError(f"{where}: options.metrics has no line for {', '.join(unknown)}; it has: {names}")
    found = {}
    for name, path in files.items():
        if not NAME.fullmatch(name):
            raise ConfigError(f"{path}: the name of a bias is {NAME_FORM}")
        template = checked(BiasTemplate, read_yaml(path, shown=True), str(path), path)
        line = checked(MetricLine, lines[name], f"{where}: options.metrics.{name}")
        if misfit := _misfit(template, line):
            raise ConfigError(f"{where}: options.metrics.{name}: {misfit}")
        found[name] = (template, line)
    return found


def _misfit(template: BiasTemplate, line: MetricLine) -> str:
    """Why a target is not one of the template's, or needs options of another kind; "" where it fits."""
    kind, drawn = template.kind, template.draws
    if isinstance(line.target, dict):
        words = {name: [*map(str, draw.choose)] for name, draw in drawn.items() if draw.choose}
        ends = {name: {*each} for name, each in line.target.items()}
        if kind != "selection" and len(ends) == 1 and all(ends[name] == {*words.get(name, ())} for name in ends):
            return ""
        shown = "; ".join(f"{name}: {', '.join(values)}" for name, values in words.items()) or "none"
        return (
            f"target names one drawn word and the end, high or low, that each of its values means; of a {kind}, "
            f"drawn: {shown}"
        )
    # A number is near an option only where the options are numbers too.
    numeric = isinstance(template.options, ScaleOptions)
    numbers = [name for name, draw in drawn.items() if numeric and draw.start is not None]
    valid = ["decided"] if kind == "selection" else ["high", "low", *numbers]
    if line.target not in valid:
        return f"target = {line.target!r}; of a {kind} it can be: {', '.join(valid)}"
    if kind == "selection" and line.scale is not None:
        return "scale: the published metric is not defined for selections"
    return ""
