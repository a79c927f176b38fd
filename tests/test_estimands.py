"""What every number means stands in the numbers.yaml of its experiment: declared once, whole, with where it fails."""

from __future__ import annotations

import json
import pkgutil
import re
from pathlib import Path

import pytest

from helpers import biases, paths
from helpers.config import ConfigError, experiment_names, load_config
from helpers.types import Estimand
from helpers.words.numbers import Numbers, load_numbers, number_files

MODULES = {module: load_numbers(module) for module in number_files()}
NUMBERS = sorted(paths.FIGURES.glob("*/numbers.json"))
#: What looks like an id in a text and is the name of a term, a column or a class.
TERMS = {"own_vendor", "own_model", "quality_k", "mean_absolute", "w_judge", "w_other", "p_right", "s_v"}
every = pytest.mark.parametrize("numbers", MODULES.values(), ids=list(MODULES))


def test_every_bias_has_its_numbers() -> None:
    named = {each.name for each in pkgutil.iter_modules(biases.__path__)} - {"losses", "planted", "protocol"}
    assert set(MODULES) == named | {"analyze", "audit"}


def test_what_is_measured_of_near_copies_is_said_in_the_same_words() -> None:
    told = " ".join(each.fails for numbers in MODULES.values() for each in numbers.estimands.values())
    found = [part.partition(" instead of 5.")[0] for part in told.split("Near-copies of ")[1:]]
    assert len(found) > 8 and len(set(found)) == 1


def test_a_number_whose_limits_nobody_wrote_down_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="fails"):
        Estimand("x", "w", "f", "n", "d", "t", "question", "i", "s")  # type: ignore[call-arg]


@every
def test_each_estimand_is_declared_whole(numbers: Numbers) -> None:
    for id, each in numbers.estimands.items():
        assert id == each.id and each.words.endswith("."), id
        assert each.fails.endswith(".") and "  " not in each.fails, id


@every
def test_each_headline_number_fails_in_words_of_its_own(numbers: Numbers) -> None:
    told = [numbers.estimands[id].fails for id in numbers.headline]
    others = [each.fails for id, each in numbers.estimands.items() if id not in numbers.headline]
    assert len(set(told)) == len(told) and not set(told) & set(others)
    assert all(len(fails) > 150 for fails in told)


@every
def test_ids_in_the_words_are_ids(numbers: Numbers) -> None:
    known = set(numbers.estimands) | TERMS
    for id, each in numbers.estimands.items():
        text = " ".join((each.words, each.numerator, each.denominator, each.ties_and_invalid, each.fails))
        # `in backticks` are the names of hints and stored strings; links and repositories hold a slash.
        words = re.sub(r"`[^`]*`|\S*/\S+", "", text)
        named = set(re.findall(r"(?<![\w.])[a-z]+(?:_[a-z0-9]+)+(?![\w(\[{])", words))
        assert named <= known, f"{id} names {', '.join(sorted(named - known))}"


@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: path.parent.name)
def test_every_number_kept_is_of_a_declared_estimand_and_in_its_unit(path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    name = kept["provenance"]["experiment"]
    # An overview holds numbers of several experiments.
    modules = [MODULES[load_config(name).bias]] if name in experiment_names() else list(MODULES.values())
    units = {(each["id"], each["unit"]) for each in kept["numbers"]}
    assert units and units <= {(id, each.unit) for one in modules for id, each in one.estimands.items()}


# --- files with a fault -----------------------------------------------------------------------------------------------

FILE = """\
defaults:
  unit: pp
  ties_and_invalid: left out
  cluster: question
  interval: question-clustered t
numbers:
  one:
    words: One.
    formula: N
    numerator: n
    denominator: d
    source: own
    headline: true
    fails: It misleads.
"""
AGAIN = "\nrepeated: {experiment: first, words: Again., fails: Both., ids: [%s]}\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(paths, "EXPERIMENTS", tmp_path)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "numbers.yaml").write_text(FILE, encoding="utf-8")
    return tmp_path


def test_a_file_is_read_with_its_defaults_and_numbers_of_another(folder: Path) -> None:
    text = FILE.replace("  one:", "  two:").replace("    source", "    unit: rate\n    source") + AGAIN % "one"
    (folder / "second" / "numbers.yaml").write_text(text, encoding="utf-8")
    first, second = load_numbers("first").estimands["one"], load_numbers("second")
    assert (first.unit, first.cluster, first.source) == ("pp", "question", "own")
    assert list(second.estimands) == ["two", "one"] and second.headline == ("two",)
    assert second.estimands["two"].unit == "rate"
    again = second.estimands["one"]
    assert (again.words, again.fails, again.formula) == ("One. Again.", "It misleads. Both.", first.formula)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("    fails: It misleads.\n", "", "line 7: key 'numbers.one.fails' is missing"),
        ("    source: own\n", "", "line 7: numbers.one has no source, nor have the defaults"),
        ("  unit: pp", "  unit: percent", "line 2: defaults.unit = 'percent': Input should be 'rate', 'pp'"),
        ("  cluster:", "  clutser:", "line 4: unknown key 'defaults.clutser'; valid keys: unit, ties_and_invalid"),
        ("headline: true", "headline: often", "line 13: numbers.one.headline = 'often': "),
        ("  one:", "  One:", "line 7: numbers.One"),
        ("formula: N", 'formula: ""', "line 9: numbers.one.formula = ''"),
        ("It misleads.\n", "It misleads.\n" + AGAIN % "none", "line 16: none: no number of first; its numbers are one"),
    ],
)
def test_a_fault_is_named_with_file_and_line(folder: Path, old: str, new: str, told: str) -> None:
    (folder / "second" / "numbers.yaml").write_text(FILE.replace(old, new), encoding="utf-8")
    with pytest.raises(ConfigError, match=re.escape(f"experiments/second/numbers.yaml: {told}")):
        load_numbers("second")


def test_numbers_that_nobody_declares_or_two_files_declare_are_refused(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"numbers of 'third'; there are some of: first, second"):
        load_numbers("third")
    for name in ("first", "second"):
        config = (paths.ROOT / "experiments" / "mt_bench_blind" / "config.yaml").read_text(encoding="utf-8")
        (folder / name / "config.yaml").write_text(config, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"second/numbers\.yaml: numbers of top_choice stand in experiments/first/"):
        load_numbers("top_choice")
