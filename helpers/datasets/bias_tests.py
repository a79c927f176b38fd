"""The published tests of thirty biases as questions: a scenario of a bias each, with its instances as wordings."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers.datasets.bias_rows import MOST_OPTIONS, bias_name, files, id_text, literal, rows, words
from helpers.datasets.reading import Problem, show
from helpers.types import Question, RatioScale, Version, Wording, short_hash

NEEDED = ("bias", "scenario", "control", "treatment", "metric_params")
#: The names of metric parameters; the flips may be left out.
NUMBERS, FLIPS = ("k", "x_1", "x_2"), ("flip_control", "flip_treatment")
#: A point is counted in options; a number beyond this is none.
FARTHEST = 1000
#: Problems that a warning tells before it only counts them.
TOLD = 3
_HEADING = re.compile(r"^Answer Options:[ \t]*\n", re.MULTILINE)
_OPTION = re.compile(r"^Option (\d+):", re.MULTILINE)


@dataclass(frozen=True)
class BiasTests:
    """The questions that files of tests hold, and what in them could not be read as it stands."""

    questions: tuple[Question, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many problems of each kind there are: "broken", "duplicate"."""
        return dict(Counter(problem.kind for problem in self.problems))


def load_published_tests(source: str | Path, entry: Mapping[str, Any] | None = None) -> tuple[Question, ...]:
    """The tests as `read_published_tests` reads them; rows that it leaves out are told in one warning."""
    read = read_published_tests(source, entry)
    if read.problems:
        told = "; ".join(map(str, read.problems[:TOLD]))
        warnings.warn(f"{len(read.problems)} rows of tests are left out, for instance {told}", stacklevel=2)
    return read.questions


def read_published_tests(source: str | Path, entry: Mapping[str, Any] | None = None) -> BiasTests:
    """Which tests do these files hold: a CSV, JSON lines or Parquet file, a folder of them, or the hub's `questions`?

    Columns NEEDED and, where there is one, id (data set tum-nlp/cognitive-biases-in-llms: 30 biases, 200 scenarios, 5
    instances). A question is a bias and a scenario (id "<bias>_<hash of the scenario>", category = bias); instances are
    its wordings "1", "2", ... in the order of the files, of kind "scale"; an option counts its index. `facts` hold the
    id. The target is the option that the metric's parameters say: the point x where k is positive; of k negative the
    end of the scale away from x, which must be the other end; counted from the other end where both answers are
    flipped. It is None, and nothing but the published metric is defined, where only one of the two is flipped, where
    x1 and x2 differ, where x is no option, and where the two versions have different numbers of options.
    Broken rows and repeated ones are problems; files without any test, or without a column, a ValueError.
    """
    paths = files(source, entry, "questions")
    top = Path(source).expanduser() if source != "hub" else None
    scenarios: dict[str, tuple[str, str]] = {}
    held: dict[str, list[Wording]] = {}
    problems: list[Problem] = []
    seen: dict[tuple[str, ...], str] = {}
    for path in paths:
        name = str(path.relative_to(top)) if top and top.is_dir() else path.name
        for line, row in rows(path, name, NEEDED):
            if isinstance(row, Problem):
                problems.append(row)
                continue
            try:
                id, scenario, wording = _read(row)
                key = (id, wording.versions["control"].text, wording.versions["treatment"].text)
                marks = [key, *([("id", str(wording.facts["id"]))] if "id" in wording.facts else [])]
                first = next((seen[mark] for mark in marks if mark in seen), None)
                if first:
                    problems.append(Problem(name, line, "duplicate", f"the same test, or id, as {first}"))
                    continue
                seen |= dict.fromkeys(marks, f"{name}, line {line}")
            except ValueError as error:
                problems.append(Problem(name, line, "broken", str(error)))
                continue
            scenarios.setdefault(id, scenario)
            held.setdefault(id, []).append(wording)
    if not held:
        raise ValueError(f"{source}: no readable test; " + "; ".join(map(str, problems[:TOLD])))
    return BiasTests(tuple(_question(id, *scenarios[id], held[id]) for id in held), tuple(problems))


def _question(id: str, bias: str, scenario: str, wordings: list[Wording]) -> Question:
    named = (replace(wording, name=str(number)) for number, wording in enumerate(wordings, 1))
    return Question(id=id, category=bias, text=scenario, wordings=tuple(named))


def _read(row: Mapping[str, Any]) -> tuple[str, tuple[str, str], Wording]:
    """The question's id, its bias and scenario, and the wording in one row."""
    bias, scenario = bias_name(words(row, "bias")), words(row, "scenario")
    versions = {name: _version(words(row, name), name) for name in ("control", "treatment")}
    params = row["metric_params"]
    scale = _scale_of(params) if isinstance(params, str) else _scale(params)
    number = row.get("id")
    facts = {} if number in (None, "") else {"id": id_text(number)}
    sizes = {len(version.options) for version in versions.values()}
    target = target_of(scale, sizes.pop()) if len(sizes) == 1 else None
    return (
        f"{bias}_{short_hash(scenario)}",
        (bias, scenario),
        Wording("", "scale", versions, target, facts=facts, scale=scale),
    )


def target_of(scale: RatioScale, options: int) -> float | None:
    """The index of the option that the bias pulls to, as far as the metric's parameters tell it; else None.

    >>> target_of(RatioScale(1, 4, 4), 11), target_of(RatioScale(-1), 7), target_of(RatioScale(1), 7)
    (4.0, 6.0, 0.0)
    >>> target_of(RatioScale(1, flip_control=True, flip_treatment=True), 7)
    6.0
    >>> target_of(RatioScale(-1, flip_treatment=True), 7), target_of(RatioScale(1, -2, -3), 11) is None
    (None, True)
    """
    last, x = options - 1, scale.x1
    if scale.x1 != scale.x2 or scale.flip_control != scale.flip_treatment or not scale.k or x not in range(options):
        return None
    if scale.k < 0:
        if x not in (0, last):
            return None
        x = last - x
    return float(last - x if scale.flip_control else x)


def _version(text: str, name: str) -> Version:
    """One version: the text before its options, and the options in the order listed, which is the natural one."""
    parts = _HEADING.split(text)
    if len(parts) != 2:
        raise ValueError(f"field {name!r} has {len(parts) - 1} lists headed 'Answer Options:', expected one")
    before, after = parts[0].strip(), _OPTION.split(parts[1])
    if not before:
        raise ValueError(f"field {name!r} has no text before its options")
    numbers, options = after[1::2], tuple(option.strip() for option in after[2::2])
    if after[0].strip() or len(options) < 2 or numbers != [str(i) for i in range(1, len(options) + 1)]:
        found = ", ".join(numbers[:12]) or "none"
        raise ValueError(f"field {name!r}: options numbered {found}; expected 'Option 1:', 'Option 2:' and so on")
    if len(options) > MOST_OPTIONS:
        raise ValueError(f"field {name!r}: {len(options)} options; at most {MOST_OPTIONS} can be asked")
    if not all(options):
        raise ValueError(f"field {name!r}: option {options.index('') + 1} is empty")
    return Version(before, options, tuple(map(float, range(len(options)))))


@lru_cache(maxsize=4096)
def _scale_of(text: str) -> RatioScale:
    return _scale(literal(text, "field 'metric_params'"))


def _scale(params: object) -> RatioScale:
    """The metric's parameters: a flat set of known names, each with a finite number, of flips true or false."""
    valid = f"{', '.join(NUMBERS)} and maybe {', '.join(FLIPS)}"
    if not isinstance(params, Mapping):
        raise ValueError(f"field 'metric_params' holds {show(str(params))}, expected {valid} with their values")
    lost = [name for name in NUMBERS if name not in params]
    odd = [name for name in params if name not in NUMBERS + FLIPS]
    if lost or odd:
        found = ", ".join(map(repr, params)) or "nothing"
        raise ValueError(f"field 'metric_params' names {found[:80]}; expected {valid}")
    numbers = [_number(name, params[name]) for name in NUMBERS]
    # Tables give every row every name: none is said where there is no flip.
    flips = [_flip(name, params.get(name)) for name in FLIPS]
    return RatioScale(*numbers, *flips)


def _number(name: str, value: object) -> float:
    # NaN is not below anything.
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= FARTHEST:
        raise ValueError(f"field 'metric_params': {name} is {str(value)[:40]}, expected a number up to {FARTHEST}")
    return float(value)


def _flip(name: str, value: object) -> bool:
    if value not in (None, False, True):
        raise ValueError(f"field 'metric_params': {name} is {str(value)[:40]}, expected True or False")
    return bool(value)
