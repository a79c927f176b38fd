"""Templates of bias tests -> questions: every scenario in every wording, with the numbers that the seed draws."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from helpers import prompts
from helpers.biases.cognitive.design import LETTERS
from helpers.types import Question, RatioScale, Version, Wording

#: Fields of a scenario that are no part of a text.
NOT_SHOWN = {"id", "options", "pro", "con"}
#: What would read as one more option in a text (see `design.LETTERS`).
OPTION_LINE = re.compile(rf"^[ \t]*[{LETTERS}]\)", re.MULTILINE)
#: The options of a decision for or against a proposal, and what each counts.
SIDES = {"against": -1.0, "for": 1.0}


def questions(templates: Mapping[str, tuple[Any, Any]], seed: int) -> tuple[Question, ...]:
    """Every scenario of every template as a question with its wordings; the bias is its category.

    `templates`: (template, metric line) by name, as `load_templates` reads them. Numbers and words are drawn by
    seed, name, scenario and wording, so another scenario or wording changes none of them. A ValueError that names the
    bias: a text that uses what the scenario does not hold, a field or draw that no text uses, a control that reads as
    its treatment, a line that looks like an option, and an id that two scenarios share.
    """
    found: dict[str, Question] = {}
    for bias, (template, line) in templates.items():
        _check_used(bias, template, line)
        for scenario in template.scenarios:
            id = f"{bias}_{scenario['id']}"
            if id in found:
                raise ValueError(f"{bias}: the id {id} is also that of a scenario of {found[id].category}")
            wordings = tuple(
                _wording(bias, template, line, scenario, id, n, seed) for n in range(len(template.wordings))
            )
            found[id] = Question(id, bias, wordings[0].versions["control"].text, wordings=wordings)
    return tuple(found.values())


def _check_used(bias: str, template: Any, line: Any) -> None:
    """Refuse fields and draws that no wording uses, and treatments without what the bias is to pull to."""
    used = [
        {name: prompts.used(text, f"{bias}: wording {number}, {name}") for name, text in wording.items()}
        for number, wording in enumerate(template.wordings, 1)
    ]
    given = {*template.scenarios[0], *template.draws} - NOT_SHOWN
    if idle := given.difference(*(names for each in used for names in each.values())):
        raise ValueError(f"{bias}: no wording uses {', '.join(sorted(idle))}")
    needed = "decided" if template.kind == "selection" else _drawn_target(line, template)
    for number, each in enumerate(used, 1):
        if needed is not None and needed not in each["treatment"]:
            raise ValueError(f"{bias}: wording {number}, treatment: does not use {needed}, to which the bias pulls")


def _drawn_target(line: Any, template: Any) -> str | None:
    """The draw that tells where the bias pulls; None where that is always the same end."""
    name = line.target if isinstance(line.target, str) else next(iter(line.target))
    return name if name in template.draws else None


def _wording(
    bias: str, template: Any, line: Any, scenario: Mapping[str, Any], id: str, number: int, seed: int
) -> Wording:
    facts = {name: _drawn(draw, f"{seed}:{name}:{id}", number) for name, draw in template.draws.items()}
    texts, name = template.wordings[number], str(number + 1)
    given = {key: value for key, value in scenario.items() if key not in NOT_SHOWN} | facts

    def version(condition: str, options: Mapping[str, float], **more: str) -> Version:
        where = f"{bias}, scenario {scenario['id']}, wording {name}, {condition}"
        text = prompts.filled(texts[condition], where, **given, **more).strip()
        if line := OPTION_LINE.search(text):
            raise ValueError(f"{where}: {line[0]!r} begins a line as the letters of options do")
        return Version(text, tuple(options), tuple(options.values()))

    if template.kind == "selection":
        arguments = _arguments(scenario)
        versions = {"decision": version("decision", SIDES), "control": version("control", arguments)}
        versions |= {f"treatment_{side}": version("treatment", arguments, decided=side) for side in SIDES}
    else:
        options = _options(template, scenario)
        versions = {condition: version(condition, options) for condition in ("control", "treatment")}
    if len({each.text for each in versions.values()}) < len(versions):
        alike = f"two of {', '.join(versions)} read the same"
        raise ValueError(f"{bias}, scenario {scenario['id']}, wording {name}: {alike}")
    if template.kind == "selection":
        return Wording(name, "selection", versions, facts=facts)
    return Wording(name, template.kind, versions, *_pulled(line, options, facts), facts, _scale(line, options, facts))


def _drawn(draw: Any, lot: str, number: int) -> Any:
    """What is drawn for one wording of a scenario; of several values its wordings get different ones if they can."""
    if not draw.choose:
        return random.Random(f"{lot}:{number + 1}").randint(draw.start, draw.stop)
    return random.Random(lot).sample(draw.choose, len(draw.choose))[number % len(draw.choose)]


def _options(template: Any, scenario: Mapping[str, Any]) -> dict[str, float]:
    """The options in natural order with what each counts; a scenario may have its own."""
    words = scenario.get("options", template.options)
    if isinstance(words, list):
        return {word: float(value) for value, word in enumerate(words)}
    return dict(zip(words.texts, words.values, strict=True))


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
    """The parameters of the published metric: from the target, but for those that the line gives.

    Toward a number: k = 1 and x its option; toward the last option k = -1, x = 0; toward the first k = 1, x = 0.
    """
    target, anchor = _pulled(line, options, facts)
    if anchor is not None:
        x = float([*options.values()].index(target))
        derived = RatioScale(1.0, x, x)
    else:
        derived = RatioScale(-1.0 if target == max(options.values()) else 1.0)
    return replace(derived, **line.scale.model_dump(exclude_unset=True)) if line.scale else derived
