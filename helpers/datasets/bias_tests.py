"""Tests of cognitive biases: published ones and decisions on them, row by row, and templates, one YAML file a bias.

Published files are CSV, JSON lines or Parquet; a row that cannot be read is a problem with its file and line (in
Parquet the number of the row), and the rest is kept. A template has one line of metric parameters in config.yaml.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import lru_cache, partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import Field, model_validator

from ..config.yaml_text import NAME, NAME_FORM, ConfigError, Strict, checked, read_yaml
from ..frames import DECISIONS, LACKING, about
from ..types import Question, RatioScale, Version, Wording, short_hash
from .answers import vendor_of
from .hub import NAMES, Entry, Source, find_files
from .reading import Loaded, Problem, Record, read_each, read_lines, refuse_if, show

ENDS = tuple(NAMES["files"]["tests"])
TEST_COLUMNS, DECISION_COLUMNS = tuple(NAMES["fields"]["tests"]), tuple(NAMES["fields"]["decisions"])
#: The names of metric parameters; the flips may be left out.
NUMBERS, FLIPS = NAMES["fields"]["numbers"], NAMES["fields"]["flips"]
#: A point is counted in options; a number beyond this is none.
FARTHEST = 1000
#: The longest cell that is taken for a list or a set of parameters; the published ones have about fifty letters.
LONGEST = 400
#: More options have no letter (see `biases.cognitive.design.LETTERS`).
MOST_OPTIONS = 22
#: Problems that a message names before it only counts them.
NAMED = 3
NOTHING = NAMES["values"]["nothing"]
NAN = math.nan
_HEADING = re.compile(r"^Answer Options:[ \t]*\n", re.MULTILINE)
_OPTION = re.compile(r"^Option (\d+):", re.MULTILINE)


def load_published_tests(source: Source, entry: Entry = None) -> Loaded:
    """The tests in a CSV, JSON lines or Parquet file, in a folder of them, or behind the hub's `questions`.

    Columns TEST_COLUMNS and, where there is one, id (tum-nlp/cognitive-biases-in-llms). A question is a bias and a
    scenario; instances are its wordings "1", "2", ... of kind "scale"; an option counts its index. For the target see
    `target_of`. Broken rows and repeated ones are problems, reported in one warning; files without any test, or without
    a column, are a ValueError.
    """
    found, problems = _read(source, entry, "questions", lambda row, path: _test(row))
    if problems:
        examples = "; ".join(map(str, problems[:NAMED]))
        warnings.warn(f"{len(problems)} rows of tests are left out, for instance {examples}", stacklevel=2)
    wordings = defaultdict[tuple[str, str], list[Wording]](list)
    for _, _, (scenario, wording) in found:
        wordings[scenario].append(wording)
    questions = []
    for (bias, text), each in wordings.items():
        named = tuple(replace(wording, name=str(number)) for number, wording in enumerate(each, 1))
        questions.append(Question(f"{bias}_{short_hash(text)}", bias, text, wordings=named))
    return Loaded(questions=tuple(questions), problems=tuple(problems))


def _test(row: Record) -> tuple[list[Any], str, Any]:
    """The marks by which a row is known again, words for that, and its scenario with the wording."""
    scenario = bias_name(_text(row, "bias")), _text(row, "scenario")
    versions = {name: _version(_text(row, name), name) for name in ("control", "treatment")}
    scale = _scale(row.get("metric_params"))
    sizes = {len(version.options) for version in versions.values()}
    target = target_of(scale, sizes.pop()) if len(sizes) == 1 else None
    id = "" if row.get("id") is None else id_text(row["id"])
    wording = Wording("", "scale", versions, target, facts={"id": id} if id else {}, scale=scale)
    marks = [(scenario, *(version.text for version in versions.values())), *([id] if id else [])]
    return marks, "the same test, or id,", (scenario, wording)


def target_of(scale: RatioScale, options: int) -> float | None:
    """The index of the option that the bias pulls to, as far as the metric's parameters tell it; else None.

    The point x where k is positive; of k negative the end of the scale away from x, which must be the other end;
    counted from the other end where both answers are flipped. None where only one is, where x1 and x2 differ, where x
    is no option.
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
    """The text before the options of a version, and the options in the order listed, which is the natural one."""
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


def _scale(params: Any) -> RatioScale:
    """The metric's parameters: a flat set of NUMBERS, each finite, and of FLIPS, each true, false or not there."""
    valid = f"{', '.join(NUMBERS)} and maybe {', '.join(FLIPS)}"
    params = literal(params, "field 'metric_params'") if isinstance(params, str) else params
    refuse_if(not isinstance(params, Mapping), "metric_params", str(params), f"{valid} with their values")
    if set(NUMBERS) - set(params) or set(params) - {*NUMBERS, *FLIPS}:
        found = ", ".join(map(repr, params)) or "nothing"
        raise ValueError(f"field 'metric_params' names {found[:80]}; expected {valid}")
    for name, value in params.items():
        number = isinstance(value, int | float) and not isinstance(value, bool)
        # NaN is not below anything.
        if not (value in (None, False, True) if name in FLIPS else number and abs(value) <= FARTHEST):
            expected = "True or False" if name in FLIPS else f"a number up to {FARTHEST}"
            raise ValueError(f"field 'metric_params': {name} is {str(value)[:40]}, expected {expected}")
    return RatioScale(*(float(params[n]) for n in NUMBERS), *(bool(params.get(n)) for n in FLIPS))  # type: ignore


def load_decisions(source: Source, entry: Entry = None, tests: Iterable[Question] = ()) -> Loaded:
    """What each model decided in a file, in a folder of them (a folder a model, say), or behind the hub entry.

    Columns DECISION_COLUMNS and, where there are, model (else the file's name), bias, <version>_option_order,
    <version>_options and individual_score. The frame (frames.DECISIONS) has two rows a line; decisions count the
    options from 0. The id tells which of `tests` it is; a line on no known test needs its bias and is a question of its
    own. Outcomes: "error" (both rows), "no_option" (-1 or nothing). Of several lines of one model on one test the first
    counts. Broken lines are problems; no readable line is a ValueError.
    """
    wordings = {str(w.facts["id"]): (each, w) for each in tests for w in each.wordings if "id" in w.facts}

    def read(row: Record, path: Path) -> tuple[list[Any], str, tuple[str, list[dict[str, Any]]]]:
        id, judge = id_text(_cell(row, "id")), _cell(row, "model") or path.stem
        if not id:
            raise ValueError("field 'id' is empty")
        return [(judge, id)], f"{judge} on test {id},", (id, _replies(row, id, judge, *wordings.get(id, (None, None))))

    found, problems = _read(source, entry, "judgments", read)
    for file, rows in groupby(found, itemgetter(0)):
        if lines := [line for _, line, (id, _) in rows if id not in wordings]:
            text = (
                f"{len(lines)} lines on tests that are not known: each is taken as a question of its own, so the "
                "wordings of a scenario are taken as independent and intervals are too narrow; the parameter "
                '`questions` ("hub", or the file of these tests) would tell their scenarios'
            )
            problems.append(Problem(file, lines[0], "unknown_test", text))
    path = Path(source)
    frame = pd.DataFrame([row for _, _, (_, rows) in found for row in rows], columns=list(DECISIONS))
    frame = frame.assign(experiment="published", source=path.stem if path.expanduser().is_file() else path.name)
    return Loaded(frame.astype(dict.fromkeys(LACKING, float)), tuple(problems))


def _replies(
    row: Record, id: str, judge: str, question: Question | None, wording: Wording | None
) -> list[dict[str, Any]]:
    """The rows of control and treatment of one line."""
    named, status = _cell(row, "bias"), _cell(row, "status")
    if status not in ("OK", "ERROR"):
        raise ValueError(f"field 'status' is {status[:40]!r}, expected OK or ERROR")
    if question is None and not named:
        raise ValueError(f"test {id} is not among the given ones, and the line names no bias")
    bias = question.category if question else bias_name(named)
    if named and bias_name(named) != bias:
        raise ValueError(f"test {id} is of {bias}, the line says {named[:40]}")
    wording = wording or Wording("1", "scale", {})
    shared = asdict(wording.scale or RatioScale(NAN, NAN, NAN)) | {
        "question_id": question.id if question else f"{bias}_{id}",
        "category": bias,
        "wording": wording.name,
        "kind": "scale",
        **about("judge", judge, vendor=vendor_of(judge), model=judge),
        "repeat": 0,
        "target": wording.target,
    }
    sizes = {name: len(version.options) for name, version in wording.versions.items()}
    control, treatment = (_decision(row, name, sizes.get(name), status) for name in ("control", "treatment"))
    return [shared | control, shared | treatment | {"partner": 0.0, "score": _score(row)}]


def _decision(row: Record, condition: str, size: int | None, status: str) -> dict[str, Any]:
    """What one version's cells say: the order shown, the option chosen, and the scale that it is on."""
    name = f"{condition}_option_order"
    text = _cell(row, name)
    order = [] if text.lower() in NOTHING else literal(text, f"field {name!r}")
    order = order if isinstance(order, list | tuple) else (order,)
    odd = order and sorted(map(str, order)) != sorted(map(str, range(size or len(order))))
    refuse_if(odd, name, text, "the option numbers from 0, each once")
    if not (size := size or len(order)):
        # Texts of options of any length lose no decision.
        with suppress(ValueError):
            options = literal(_cell(row, f"{condition}_options") or "()", "options")
            size = len(options) if isinstance(options, list | tuple) else 0
    choice = NAN if status == "ERROR" else _choice(_cell(row, f"{condition}_decision"), condition, size)
    return {
        "condition": condition,
        "order": " ".join(map(str, order)),
        "choice": choice,
        "value": choice,
        "options": size or NAN,
        "low": 0.0 if size else NAN,
        "high": size - 1 if size else NAN,
        "values": " ".join(map(str, range(size))),
        "outcome": "error" if status == "ERROR" else "no_option" if math.isnan(choice) else "ok",
    }


def _choice(text: str, condition: str, size: int) -> float:
    """The option chosen, NaN where none was; not a whole number of the scale is a ValueError."""
    plain = id_text(text)
    if plain.lower() in (*NOTHING, "-1"):
        return NAN
    if not (plain.isascii() and plain.isdigit() and len(plain) < 4) or (size and int(plain) >= size):
        valid = f"0 to {size - 1}" if size else "a whole number"
        raise ValueError(f"field '{condition}_decision' holds {text[:40]!r}, expected {valid}, or -1 for no option")
    return float(plain)


def _score(row: Record) -> float:
    """The individual score as published, NaN where there is none."""
    text, score = _cell(row, "individual_score").strip("[] "), math.inf
    with suppress(ValueError):
        score = NAN if text.lower() in NOTHING else float(text)
    # Weighted metrics may go beyond 1, but none is endless.
    if math.isinf(score):
        raise ValueError(f"field 'individual_score' holds {text[:40]!r}, expected a number")
    return score


def _read(
    source: Source, entry: Entry, what: str, read: Callable[..., tuple[list[Any], str, Any]]
) -> tuple[list[tuple[str, int, Any]], list[Problem]]:
    """What `read` makes of each row - marks, words and a value - as file, line and value.

    Records that it refuses, or that share a mark with an earlier one, are problems.
    """
    noun, columns = ("test", TEST_COLUMNS) if what == "questions" else ("decision", DECISION_COLUMNS)
    top = Path(source).expanduser()
    found: list[tuple[str, int, Any]] = []
    problems: list[Problem] = []
    seen: dict[Any, str] = {}
    for path in find_files(source, entry, what, ENDS, several=True):
        name = str(path.relative_to(top)) if source != "hub" and top.is_dir() else path.name
        number, first = next(((n, row) for n, row in read_lines(path) if isinstance(row, Record)), (0, None))
        if first and (lacking := [each for each in columns if each not in first]):
            lacks = f"no column {', '.join(lacking)}; found {', '.join(first)}, expected {', '.join(columns)}"
            raise ValueError(f"{path}, line {number}: {lacks}")
        for line, (marks, words, value) in read_each(path, name, partial(read, path=path), problems):
            if earlier := next((seen[mark] for mark in marks if mark in seen), None):
                problems.append(Problem(name, line, "duplicate", f"{words} as {earlier}"))
            else:
                seen |= dict.fromkeys(marks, f"{name}, line {line}")
                found.append((name, line, value))
    if not found:
        raise ValueError(f"{source}: no readable {noun}; " + "; ".join(map(str, problems[:NAMED])))
    return found, problems


def bias_name(published: str) -> str:
    """A bias by its short name in lower case, whatever the published spelling."""
    parts = re.findall("[a-z0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", published).lower())
    kept = parts[:-1] if len(parts) > 1 and parts[-1] in ("effect", "bias") else parts
    return "_".join(kept) or published.strip().lower()


def id_text(value: Any) -> str:
    """The id of a test as a text: whole numbers may have become decimal ones ("12.0") on their way."""
    return re.sub(r"(?<=\d)\.0$", "", str(value).strip())


def _cell(row: Record, name: str) -> str:
    value = row.get(name)
    return "" if value is None else str(value).strip()


def _text(row: Record, name: str) -> str:
    """The text of a cell that must hold one, with plain line ends."""
    return row.text(name).replace("\r\n", "\n").strip()


@lru_cache(maxsize=4096)
def literal(text: str, what: str) -> Any:
    """What a short text of Python's literals says, read and never run; anything else is a ValueError."""
    if len(text) > LONGEST:
        raise ValueError(f"{what} has {len(text)} letters, more than {LONGEST}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        for table in (node for node in ast.walk(tree) if isinstance(node, ast.Dict)):
            names = [repr(getattr(key, "value", None)) for key in table.keys]
            if len(set(names)) < len(names):
                raise ValueError("a name occurs twice")
        return ast.literal_eval(tree)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        why = str(error) if str(error) == "a name occurs twice" else "not a plain list of names and numbers"
        raise ValueError(f"{what} holds {show(text)}: {why}") from None


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
