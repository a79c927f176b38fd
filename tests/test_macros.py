"""Macro names of numbers.tex: letters only, and none twice, within an experiment and between experiments."""

from __future__ import annotations

import re
from itertools import permutations
from pathlib import Path

import pytest

from helpers import paths
from helpers.export import export
from helpers.macros import camel, macro_names, macros
from helpers.types import Estimate

EXPERIMENTS = sorted(path.name for path in paths.EXPERIMENTS.iterdir() if (path / "config.yaml").exists())


def defined(path: Path) -> list[str]:
    return re.findall(r"^\\newcommand\{\\([^}]*)\}", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_committed_numbers_of_all_experiments_have_different_names() -> None:
    files = [paths.FIGURES / name / "numbers.tex" for name in EXPERIMENTS]
    names = [name for path in files if path.exists() for name in defined(path)]
    assert len(names) > 100 and len(names) == len(set(names))
    assert all(re.fullmatch("[A-Z][A-Za-z]+", name) for name in names)


@pytest.mark.parametrize(("one", "other"), list(permutations(EXPERIMENTS, 2)))
def test_no_experiments_name_begins_another_s(one: str, other: str) -> None:
    # Else a number of the one could be called what a number of the other is called.
    assert not camel(other).startswith(camel(one))


def test_experiments_written_to_folders_of_one_name_keep_their_own_macros(tmp_path: Path) -> None:
    found = [Estimate("balance", {}, 0.1, data="asked")]
    names = []
    for experiment in ("mt_bench_blind", "hinting_groups"):
        folder = tmp_path / experiment / "paper"
        export(folder, [], [], found, {"data": "asked", "experiment": experiment})
        names += defined(folder / "numbers.tex")
    assert names == ["MtBenchBlindBalanceAsked", "HintingGroupsBalanceAsked"]


@pytest.mark.parametrize("name", ["\u6c34", "$", "1", "\u202e", "a_b", "a-b", "A B", ""])
def test_names_of_any_letters_give_macros_of_plain_ones(name: str) -> None:
    found = [Estimate("top1_rate", {"judge": name, "vendor": vendor}, 0.5, data="asked") for vendor in (name, "x", "y")]
    names = macro_names("blind", found)
    assert len(set(names)) == 3 and all(re.fullmatch("[A-Za-z]+", each) for each in names)


def test_counts_are_whole_numbers_and_scores_are_not() -> None:
    given = {"a": (14.0, "count"), "b": (0.0, "count"), "c": (1200, "count"), "d": (2.5, "count"), "e": (1.0, "score")}
    shown = [Estimate("x", {"k": key}, value, unit=unit) for key, (value, unit) in given.items()]
    assert re.findall(r"\}\{([0-9.]+)\} % ([0-9.]+),", macros("y", shown)) == [
        (each, each) for each in ("14", "0", "1200", "2.50", "1.00")
    ]
