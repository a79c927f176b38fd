"""One YAML file a bias: its options, what is drawn, its wordings and its scenarios, checked before they are shown."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from helpers.config.schema import NAME, Strict
from helpers.types import MOST_OPTIONS, VERSIONS


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
        if self.options is not None:
            texts = self.options.texts if isinstance(self.options, ScaleOptions) else self.options
            _check_options(texts, self.kind, "options")
        if self.kind == "acceptance":
            self._check_ratio()
        self._check_scenarios()
        return self

    def _check_ratio(self) -> None:
        drawn = self.draws.get("ratio", Draw(choose=[""]))
        values = [drawn.start] if drawn.choose is None else drawn.choose
        if not all(isinstance(value, int | float) and value > 0 for value in values):
            raise ValueError("draws: a gamble needs `ratio`, what is won over what is lost: numbers above 0")

    def _check_scenarios(self) -> None:
        ids = [each.get("id") for each in self.scenarios]
        for number, (id, scenario) in enumerate(zip(ids, self.scenarios, strict=True), 1):
            if not isinstance(id, str) or not NAME.fullmatch(id):
                raise ValueError(
                    f"scenarios, number {number}: id = {id!r}: lower case letters, digits, _ . - (at most 64)"
                )
            if ids.count(id) > 1:
                raise ValueError(f"scenarios: id {id!r} stands twice")
            if odd := (set(scenario) ^ set(self.scenarios[0])) - {"options"}:
                raise ValueError(f"scenarios, {id}: has other fields than the first one: {', '.join(sorted(odd))}")
            if drawn := set(scenario) & {*self.draws, "decided"}:
                raise ValueError(f"scenarios, {id}: {', '.join(sorted(drawn))} is drawn, and no field of a scenario")
            if "options" in scenario and not isinstance(self.options, list):
                raise ValueError(f"scenarios, {id}: options of its own where those of the file are no list of texts")
            if "options" in scenario:
                _check_options(scenario["options"], self.kind, f"scenarios, {id}: options")
            if self.kind == "selection":
                sides = [scenario.get(side) for side in ("pro", "con")]
                if not all(isinstance(side, list) and side for side in sides) or len(sides[0]) != len(sides[1]):
                    raise ValueError(f"scenarios, {id}: needs as many arguments `pro` as `con`, at least one")
                _check_options([*sides[0], *sides[1]], self.kind, f"scenarios, {id}: arguments")


def _check_options(options: Any, kind: str, where: str) -> None:
    """Refuse what cannot be shown as lettered lines: too few or many, one twice, a text of several lines or none."""
    if not isinstance(options, list):
        raise ValueError(f"{where}: {options!r} is no list of texts")
    if not 2 <= len(options) <= MOST_OPTIONS or (kind == "acceptance" and len(options) != 2):
        told = f"a gamble has 2 (decline, accept), others 2 to {MOST_OPTIONS}"
        raise ValueError(f"{where}: {len(options)}; {told}")
    for text in options:
        if text != text.strip() or len(text.splitlines()) != 1:
            raise ValueError(f"{where}: {text!r}: each is one line that neither begins nor ends with a blank")
        if options.count(text) > 1:
            raise ValueError(f"{where}: {text!r} stands twice")
