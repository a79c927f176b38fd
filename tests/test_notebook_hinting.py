"""The notebook of experiment 2: small runs, published files, real judgments, a blind group that is shared."""

from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from helpers import paths, run, store
from helpers.biases import hinting
from helpers.run import notebooks
from helpers.types import Estimate, Trial
from tests.cells import of_this_run, prose, run_cells, tables, texts
from tests.kernels import counted_sends, recuse
from tests.runs import GROUP_FILES, as_published_groups, asked, settled

NAME = "02_hinting_groups"
NOTEBOOK = paths.NOTEBOOKS / f"{NAME}.ipynb"
SMALL = {"hints": ["self"], "judges": ["sim_gemini_fast"], "question_limit": 5}


def effects(estimates: list[Estimate]) -> dict[tuple[str, str], Estimate]:
    """The effect of each hint, by hint and vendor."""
    return {(e.where["hint"], e.where["vendor"]): e for e in estimates if e.id == "hint_effect"}


# --- five questions, one judge, one hint ------------------------------------------------------------------------------


def test_five_questions_give_a_small_result_that_says_what_it_cannot_show(tmp_path: Path) -> None:
    names, shown = run_cells(NOTEBOOK, **SMALL, store=str(tmp_path / "s"), out=str(tmp_path / "o"))
    told = prose(shown)
    assert told.startswith("Data: **SIMULATED** models") and "1 judge, 5 questions, 10 judgments" in told
    assert "5 questions can carry no interval: 10 is the least." in told
    assert "cannot tell whether it raises own-vendor first places of all vendors on average under the hint self" in told
    assert "[" not in told.partition("## ")[0].partition("Own-vendor first places")[0].replace("[...", "")
    assert "nan" not in re.sub("```.*?```", "", told, flags=re.DOTALL).lower().replace("finance", "")
    found = effects(names["estimates"])
    assert found.keys() == {("self", "gemini"), ("self", "average")}
    assert all(math.isnan(number) for each in found.values() for number in (each.low, each.high, each.p))
    judged = names["asked"].frame
    first = judged[judged["top"] == 1].set_index(["condition", "question_id"])["own_vendor"].astype(float)
    assert found["self", "gemini"].value == pytest.approx((first["self"] - first["none"]).mean())
    assert hinting.conclusions(names["estimates"]) == {"self": "inconclusive"}
    controls = json.loads((tmp_path / "o" / "run.json").read_text())["controls"]
    assert [control["repeats"] for control in controls.values()] == [[0]]


UNKNOWN = (
    r"parameters of hinting_groups: hints\.0 = 'no_such': Input should be 'self', 'competitors', 'full', 'swapped'"
)


def test_an_unknown_hint_is_refused_with_the_valid_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notebooks, "execute", lambda *_: pytest.fail("a notebook was started"))
    where = ("-p", "store", str(tmp_path / "replies"), "-p", "out", str(tmp_path / "out"))
    for word in ("run", "plan"):
        code, _, told = recuse(monkeypatch, capsys, word, NAME, "-p", "hints", "[no_such]", *where)
        assert code == 2 and re.search(f"^recuse: {UNKNOWN}", told)
    assert not list(tmp_path.iterdir()), "nobody was asked"


# --- other sources of judgments ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def groups() -> run.Asked:
    """Four groups on 24 questions: the hints of the source, and the blind group."""
    return asked("hinting_groups", hints=["self", "competitors", "full"], question_limit=24)


@pytest.fixture(scope="module")
def group_files(groups: run.Asked, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same four groups as files in the published format."""
    return as_published_groups(groups, tmp_path_factory.mktemp("groups"))


def test_group_files_go_through_the_whole_notebook_and_give_the_same_effects(
    groups: run.Asked, group_files: Path, tmp_path: Path
) -> None:
    names, shown = run_cells(NOTEBOOK, judgments=str(group_files), store=str(tmp_path / "s"), out=str(tmp_path / "o"))
    told = prose(shown)
    assert told.startswith("Data: published judgments, from a file or folder. 6 judges, 24 questions, 576 judgments")
    assert "SIMULATED" not in of_this_run(told).replace("SIMULATED models), 80 %", "") and "were not asked here" in told
    expected = effects(hinting.measure(groups.frame, groups.data, 42, 5.0))
    found = effects(names["estimates"])
    hints, vendors = ("self", "competitors", "full"), ("claude", "gemini", "gpt", "average")
    assert found.keys() == expected.keys() == {(hint, vendor) for hint in hints for vendor in vendors}
    for where, each in found.items():
        same = expected[where]
        assert [each.value, each.low, each.high, each.p] == [same.value, same.low, same.high, same.p], where
        assert (each.n, each.clusters, each.data, same.data) == (same.n, same.clusters, "folder", "simulated")
    numbers = json.loads((tmp_path / "o" / "numbers.json").read_text())
    assert numbers["provenance"]["parameters"] == {"judgments": group_files.name}, "no path of a machine"
    assert not (tmp_path / "s").exists() and names["asked"].account.total.usd == 0.0
    assert (tmp_path / "o" / "hint_effects.png").is_file()


def test_hints_choose_among_the_groups_of_a_folder(group_files: Path) -> None:
    def conditions(**parameters: Any) -> set[str]:
        experiment = settled("hinting_groups", judgments=str(group_files), **parameters)
        return set(asyncio.run(run.ask(experiment)).frame["condition"])

    assert conditions() == set(GROUP_FILES)
    assert conditions(hints=["full"]) == {"full", "none"}
    with pytest.raises(ValueError, match="no judgments under the hint swapped; it has: competitors, full, self"):
        conditions(hints=["self", "swapped"])


def test_hinted_groups_without_a_blind_one_are_described_and_not_compared(group_files: Path, tmp_path: Path) -> None:
    shutil.copy(group_files / GROUP_FILES["self"], tmp_path)
    names, shown = run_cells(NOTEBOOK, export=False, judgments=str(tmp_path), question_limit=5)
    told = prose(shown)
    assert "There is no control: all of them are of the condition self" in told
    assert "on average under the hint self: no judgment under self has a blind partner" in told
    assert "With 0 questions" not in told
    assert all(math.isnan(each.value) for each in effects(names["estimates"]).values())


def test_blind_judgments_alone_are_sent_to_experiment_1(group_files: Path) -> None:
    blind = settled("hinting_groups", judgments=str(group_files / GROUP_FILES["none"]))
    with pytest.raises(ValueError, match=r"all of these judgments are blind.*01_mt_bench_blind"):
        asyncio.run(run.ask(blind))


def test_a_real_run_under_one_hint_goes_through_the_notebook(real_data: Path) -> None:
    names, shown = run_cells(NOTEBOOK, export=False, judgments=str(real_data / "llm_eval"))
    told = prose(shown)
    assert "There is no control: all of them are of the condition full" in told
    assert "on average under the hint full: no judgment under full has a blind partner" in told
    assert "With 0 questions" not in told and "SIMULATED" not in of_this_run(told)
    assert "stood under one and the same letter in all 480 judgments" in told
    (losses,) = (table for table in tables(shown) if "judgments" in table)
    assert losses["judgments"].tolist() == [80] * 6
    # All sixty replies were cut by their token limit; of seven more the log kept the winner and no ranking.
    assert (losses["ok"] + losses["missing"] + losses["truncated"]).tolist() == [80] * 6 and losses[
        "missing"
    ].sum() == 7
    assert {judge: n for judge, n in losses["truncated"].items() if n} == {"gemini_thinking": 35, "gemini_fast": 25}
    assert set(names["asked"].frame["condition"]) == {"full"}
    assert not any("SIMULATED" in text for figure in ("effects", "slopes", "metrics") for text in texts(names[figure]))


# --- what the blind group costs ---------------------------------------------------------------------------------------


def test_two_repeats_tell_how_often_judges_change_their_mind_without_a_hint() -> None:
    twice = asked("hinting_groups", hints=["self", "full"], repeats=2, question_limit=16)
    estimates = hinting.measure(twice.frame, twice.data, 42, 5.0)
    by = {(each.id, each.where.get("hint", each.where.get("condition"))): each for each in estimates}
    plain = by["change_rate_repeat", "none"]
    for hint in ("self", "full"):
        rate, excess = by["change_rate", hint], by["excess_change", hint]
        assert 0 < rate.value < 1 and rate.low < rate.value < rate.high
        # A sum of squares: its estimate may fall below 0 by chance, its interval stays above.
        assert 0 <= excess.low <= max(0.0, excess.value) < excess.high
        wavering = (plain.value + by["change_rate_repeat", hint].value) / 2
        assert excess.value == pytest.approx(rate.value - wavering)
    told = hinting.changes_words(estimates)
    assert f"changes its first place between two askings under no hint in {plain}" in told
    assert "so none of these rates is an effect" not in told


def blind_lines(folder: Path) -> list[str]:
    """The keys of the blind judgments of a store, as often as they stand there."""
    records = [record for path in sorted(folder.glob("*.jsonl")) for record in store.lines(path)]
    return [each["key"] for each in records if each["labels"]["condition"] == "none" and each["labels"]["shown"]]


@pytest.mark.parametrize("first", ["mt_bench_blind", "hinting_groups"])
def test_both_experiments_share_the_blind_group(first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = counted_sends(monkeypatch)
    given = {"question_limit": 4, "store": str(tmp_path)}
    asked(first, **given)
    blind = blind_lines(tmp_path)
    assert len(blind) == len(set(blind)) == 4 * 6
    before = len(sent)
    if first == "hinting_groups":
        asked("mt_bench_blind", **given)
        assert len(sent) == before, "the blind judgments are among those that the hints are compared with"
    else:
        judgments = asked("hinting_groups", **given).judgments
        hinted = [each.trial for each in judgments if each.trial.condition != "none"]
        assert len(hinted) == 4 * 4 * 6
        assert len(sent) - before == len(hinted) - dealt_as_they_are(hinted)
    assert blind_lines(tmp_path) == blind and len(sent) == len(set(sent))


def dealt_as_they_are(trials: list[Trial]) -> int:
    """How many swapped names fell on the answers that bear them anyway: the prompt is that of full, and asked once."""
    swapped = [trial for trial in trials if trial.condition == "swapped"]
    return sum(list(trial.named) == [name.split("_")[1] for name in trial.shown] for trial in swapped)
