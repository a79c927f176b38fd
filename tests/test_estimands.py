"""What every number means stands in the code: declared once, whole, and with what it fails at."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from types import ModuleType

import pytest

from helpers import biases, paths
from helpers.config import experiment_names, load_config
from helpers.types import Estimand

MODULES = {
    each.name: importlib.import_module(f"{biases.__name__}.{each.name}")
    for each in pkgutil.iter_modules(biases.__path__)
    if each.ispkg
}
NUMBERS = sorted(paths.FIGURES.glob("*/numbers.json"))
#: What looks like an id in a text and is the name of a term, a column or a class.
TERMS = {"own_vendor", "own_model", "quality_k", "mean_absolute", "w_judge", "w_other", "p_right", "s_v"}
every = pytest.mark.parametrize("module", MODULES.values(), ids=list(MODULES))


def test_the_six_biases_are_found() -> None:
    assert {"top_choice", "hinting", "self_preference", "position", "cognitive", "verbosity"} <= set(MODULES)


def test_a_number_whose_limits_nobody_wrote_down_cannot_be_declared() -> None:
    with pytest.raises(TypeError, match="fails"):
        Estimand("x", "w", "f", "n", "d", "t", "question", "i", "s")  # type: ignore[call-arg]


@every
def test_each_estimand_is_declared_whole(module: ModuleType) -> None:
    assert isinstance(module.ESTIMANDS, dict) and module.ESTIMANDS
    for id, each in module.ESTIMANDS.items():
        assert id == each.id and re.fullmatch(r"[a-z][a-z0-9_]*", id)
        facts = (each.words, each.formula, each.numerator, each.denominator, each.ties_and_invalid)
        assert all(fact.strip() for fact in (*facts, each.cluster, each.interval, each.source, each.unit)), id
        assert each.words.rstrip().endswith("."), id
        assert each.fails.endswith(".") and "  " not in each.fails, id


@pytest.mark.parametrize("module", [each for each in MODULES.values() if hasattr(each, "STAGES")])
def test_what_is_said_of_failing_is_of_a_number_that_exists(module: ModuleType) -> None:
    told = importlib.import_module(f"{module.__name__}.fails").FAILS
    assert set(told) <= set(module.ESTIMANDS)


@every
def test_headline_numbers_are_declared_and_each_fails_in_words_of_its_own(module: ModuleType) -> None:
    assert set(module.HEADLINE) <= set(module.ESTIMANDS) and len(set(module.HEADLINE)) == len(module.HEADLINE)
    told = [module.ESTIMANDS[id].fails for id in module.HEADLINE]
    others = [each.fails for id, each in module.ESTIMANDS.items() if id not in module.HEADLINE]
    assert len(set(told)) == len(told) and not set(told) & set(others)
    assert all(len(fails) > 150 for fails in told)


@every
def test_ids_in_the_words_are_ids(module: ModuleType) -> None:
    known = set(module.ESTIMANDS) | TERMS
    for id, each in module.ESTIMANDS.items():
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
    assert units and units <= {(id, each.unit) for one in modules for id, each in one.ESTIMANDS.items()}
