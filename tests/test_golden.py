"""What a rebuild must not change: a frozen copy of our own results, which serves rebuilds only.

It was made by the code itself (`python -m tests.golden.build`): it shows that nothing changed, never that anything is
right. Whether figures/ are those of the present code is what tests/test_notebooks.py asks.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from helpers import paths, store
from helpers.config import load_config
from tests.golden import build
from tests.golden.build import differences, load

#: Of numbers that are computed here: as far apart as rounding to 9 digits can bring them.
ROUNDING = 2e-8


def same(golden: build.Table, now: Mapping[str, Mapping[str, str]], within: float = 0.0) -> None:
    """Fail with a line for each difference."""
    found = differences(golden, now, within)
    more = f"\n... and {len(found) - 40} more" if len(found) > 40 else ""
    assert not found, f"{len(found)} differ from tests/golden (see its README):\n" + "\n".join(found[:40]) + more


# --- results ----------------------------------------------------------------------------------------------------------


def test_every_result_folder_is_frozen() -> None:
    assert build.result_names() == sorted(path.stem for path in (build.FOLDER / "results").glob("*.csv"))


@pytest.mark.parametrize("name", build.result_names())
def test_results_are_those_frozen(name: str) -> None:
    same(load(f"results/{name}"), build.results(name))


def test_each_simulated_judge_has_its_card() -> None:
    asked = {judge for name in build.ASKED for judge in load_config(name).judges}
    cards = {at for name in build.result_names() for at in load(f"results/{name}") if at.startswith("card: sim_")}
    assert {at.removeprefix("card: ").split(",")[0] for at in cards} == asked


# --- keys -------------------------------------------------------------------------------------------------------------


def test_requests_have_the_keys_under_which_replies_are_stored() -> None:
    """The schema for an own server takes no `id` but the nonce, as it did not when keys.csv was frozen.

    The places of those keys, and their new ones, are in pinned.csv: calls to an own server cost nothing.
    """
    golden, pinned = load("keys"), load("pinned")
    assert pinned.keys() <= golden.keys() and {at.split(" / ")[4] for at in pinned} == {"fleet_schema"}
    assert all(golden[at] != row for at, row in pinned.items())
    same({**golden, **pinned}, build.keys(only=golden))


def test_without_the_pinned_id_an_own_server_has_the_keys_that_it_had(tmp_path: Path) -> None:
    entry = 'model_id: "meta-llama/Llama-3.1-8B-Instruct"'
    text = build.MODELS.read_text(encoding="utf-8")
    assert entry in text
    free = tmp_path / "models.yaml"
    free.write_text(text.replace(entry, f"pin_id: false, {entry}"), encoding="utf-8")
    golden, pinned = load("keys"), load("pinned")
    same({at: golden[at] for at in pinned}, build.keys(models=free, only=pinned))


def test_the_frozen_keys_are_of_every_experiment_form_and_kind_of_model() -> None:
    names = sorted(path.parent.name for path in paths.EXPERIMENTS.glob("*/prompts"))
    assert sorted(build.ASKED) == names, "an experiment without frozen keys"
    golden = load("keys")
    experiments, _, forms, conditions, judges, _, repeats, _ = map(
        set, zip(*(at.split(" / ") for at in golden), strict=True)
    )
    assert len(golden) == build.DRAWN and len({row["key"] for row in golden.values()}) > 0.9 * build.DRAWN
    assert experiments == {*names, "audit"} and judges == set(build.KINDS)
    assert forms == {*build.LABELS} and len(conditions) > 20 and "repeat 1" in repeats


# --- replies ----------------------------------------------------------------------------------------------------------


def test_store_files_of_this_version_are_read_as_they_were(tmp_path: Path) -> None:
    folder, golden = shutil.copytree(build.FOLDER / "replies", tmp_path / "replies"), load("replies")
    same(golden, build.replies(folder))
    assert {line.kind for path in store.files(folder) for line in store.verify(path).odd} <= {"torn", "unended"}


def test_names_of_frozen_replies_say_what_becomes_of_them() -> None:
    for at, row in load("replies").items():
        name = at.split(" / ")[1]
        if not name.startswith("line"):
            assert name.startswith(row["outcome"].strip('"')), at


# --- analyze and audit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", build.FILES)
def test_analyze_computes_the_same_numbers(real_data: Path, file: str) -> None:
    golden = {at: row for at, row in load("analyze").items() if at.startswith(f"{file} / ")}
    same(golden, build.analyzed(real_data, file), ROUNDING)


@pytest.mark.parametrize("judge", build.AUDITED)
def test_a_simulated_judge_has_the_same_card(judge: str) -> None:
    golden = {at: row for at, row in load("audit").items() if at.startswith(f"{judge} / ")}
    same(golden, build.audited(judge), ROUNDING)


# --- what is changed is reported --------------------------------------------------------------------------------------


def test_a_changed_number_line_or_place_is_reported() -> None:
    golden = {"effect judge=a": {"value": "0.123456789", "n": "7"}, "effect judge=b": {"value": "1"}}
    assert differences(golden, golden) == []
    now = {"effect judge=a": {"value": "0.12345679", "n": "8", "p": "0.5"}, "effect judge=c": {"value": "1"}}
    lines = ["effect judge=a: n: golden 7, now 8", "effect judge=a: p: golden absent, now 0.5"]
    lines += ["effect judge=b: gone", "effect judge=c: new"]
    assert differences(golden, now, ROUNDING) == lines
    assert differences(golden, now) == ["effect judge=a: value: golden 0.123456789, now 0.12345679", *lines]
    near = {**golden, "effect judge=a": {"value": "0.1234568", "n": "7"}}
    assert differences(golden, near, ROUNDING) == ["effect judge=a: value: golden 0.123456789, now 0.1234568"]


def test_a_changed_digit_of_a_result_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "verbosity_style"
    shutil.copytree(paths.FIGURES / name, tmp_path / name)
    text = (tmp_path / name / "numbers.json").read_text(encoding="utf-8")
    start = text.index('"value": ', text.index('"id": "style_effect"')) + len('"value": ')
    end = text.index(",", start)
    (tmp_path / name / "numbers.json").write_text(f"{text[:start]}0.987654{text[end:]}", encoding="utf-8")
    monkeypatch.setattr(paths, "FIGURES", tmp_path)
    now = build.results(name)
    (found,) = differences(load(f"results/{name}"), now)
    assert found.startswith("number: style_effect [simulated] bias=")
    assert found.endswith(f": value: golden {text[start:end]}, now 0.987654")
