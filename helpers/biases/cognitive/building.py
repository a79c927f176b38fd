"""Templates of bias tests -> questions: every scenario in every wording, with the numbers that the seed draws."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from helpers import prompts
from helpers.types import Question, RatioScale, Version, Wording

#: The options of a decision for or against a proposal, and what each counts.
SIDES = {"against": -1.0, "for": 1.0}


def questions(templates: Mapping[str, tuple[Any, Any]], seed: int) -> tuple[Question, ...]:
    """Every scenario of every template as a question with its wordings; the bias is its category.

    `templates`: (template, metric line) by name, as `config.load_templates` reads them. Numbers and words are drawn by
    seed, name, scenario and wording, so another scenario or wording changes none of them. A text that uses what the
    scenario does not hold, and a field that no text uses, is a ValueError naming the bias.
    """
    found = []
    for bias, (template, line) in templates.items():
        used = {
            name
            for wording in template.wordings
            for text in wording.values()
            for name in prompts.used(text, f"{bias}: a wording")
        }
        idle = set(template.scenarios[0]) - used - {"id", "options", "pro", "con"}
        if idle:
            raise ValueError(f"{bias}: no wording uses {', '.join(sorted(idle))} of the scenarios")
        for scenario in template.scenarios:
            id = f"{bias}_{scenario['id']}"
            wordings = tuple(
                _wording(bias, template, line, scenario, id, n, seed) for n in range(len(template.wordings))
            )
            found.append(Question(id, bias, wordings[0].versions["control"].text, wordings=wordings))
    return tuple(found)


def _wording(
    bias: str, template: Any, line: Any, scenario: Mapping[str, Any], id: str, number: int, seed: int
) -> Wording:
    facts = {name: _drawn(draw, f"{seed}:{name}:{id}:{number + 1}") for name, draw in template.draws.items()}
    texts = template.wordings[number]
    given = {key: value for key, value in scenario.items() if key not in ("id", "options", "pro", "con")} | facts

    def version(condition: str, options: Mapping[str, float], **more: str) -> Version:
        where = f"{bias}, scenario {scenario['id']}, wording {number + 1}, {condition}"
        text = prompts.filled(texts[condition], where, **given, **more).strip()
        return Version(text, tuple(options), tuple(options.values()))

    name = str(number + 1)
    if template.kind == "selection":
        arguments = _arguments(scenario)
        versions = {"decision": version("decision", SIDES), "control": version("control", arguments)}
        versions |= {f"treatment_{side}": version("treatment", arguments, decided=side) for side in SIDES}
        return Wording(name, "selection", versions, facts=facts)
    options = _options(template, scenario)
    versions = {condition: version(condition, options) for condition in ("control", "treatment")}
    return Wording(name, template.kind, versions, *_pulled(line, options, facts), facts, _scale(line, options, facts))


def _drawn(draw: Any, lot: str) -> Any:
    rng = random.Random(lot)
    return rng.choice(draw.choose) if draw.choose else rng.randint(draw.start, draw.stop)


def _options(template: Any, scenario: Mapping[str, Any]) -> dict[str, float]:
    """The options in natural order with what each counts; a scenario may have its own."""
    words = scenario.get("options", template.options)
    if isinstance(words, list):
        return {word: float(value) for value, word in enumerate(words)}
    return {f"{value:g}{words.unit}": value for value in words.values}


def _arguments(scenario: Mapping[str, Any]) -> dict[str, float]:
    """The arguments of both sides by turns, so that no natural order has one side in front."""
    pairs = zip(scenario["pro"], scenario["con"], strict=True)
    return {text: value for pro, con in pairs for text, value in ((pro, 1.0), (con, -1.0))}


def _end(line: Any, facts: Mapping[str, Any]) -> str:
    """Which end of the scale the bias pulls to, or the name of the number that it pulls to."""
    if isinstance(line.target, str):
        return line.target
    ((name, ends),) = line.target.items()
    return ends[str(facts[name])]


def _pulled(line: Any, options: Mapping[str, float], facts: Mapping[str, Any]) -> tuple[float, float | None]:
    """The value that the bias pulls to (of a number shown: its nearest option's, first on ties), and that number."""
    values, end = [*options.values()], _end(line, facts)
    if end in ("high", "low"):
        return (values[-1] if end == "high" else values[0]), None
    return min(values, key=lambda value: abs(value - facts[end])), float(facts[end])


def _scale(line: Any, options: Mapping[str, float], facts: Mapping[str, Any]) -> RatioScale:
    """The parameters of the published metric: from the target, unless the line says otherwise.

    Toward a number: k = 1 and x its option; toward the last option k = -1, x = 0; toward the first k = 1, x = 0.
    """
    if line.scale is not None:
        return RatioScale(**line.scale)
    target, anchor = _pulled(line, options, facts)
    if anchor is not None:
        x = [*options.values()].index(target)
        return RatioScale(1.0, x, x)
    return RatioScale(-1.0 if target == max(options.values()) else 1.0)
