"""Export: the contract of numbers.json, the same bytes twice, all files or none, nothing outside the folder."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import export as exporting
from helpers import figures, tables
from helpers.export import export, numbers
from helpers.macros import macro_names, macros
from helpers.types import Estimate
from tests.kernels import contents, without_room

NAN = float("nan")
POSITIONS = [
    Estimate(
        "position_effect", {"slot": str(i + 1)}, 0.01 * i, -0.02, 0.08, n=480, clusters=80, unit="pp", data="simulated"
    )
    for i in range(3)
]
RATES = [
    Estimate("top1_rate", {"judge": judge, "vendor": "gpt"}, value, 0.4123456789, NAN, n=80, clusters=80, data=data)
    for judge, value, data in (("gpt_5", 0.5875, "published"), ("gpt_4", NAN, "asked"))
]
PROVENANCE = {"data": ["published", "simulated"], "judges": {"gpt_fast": "gpt-5-mini"}, "n": 480, "seed": 42}
CLAIMS = pd.DataFrame([{"id": "x", "quantity": "=evil", "published": 30.0, "recomputed": NAN, "unit": "%"}])


@pytest.fixture(scope="module")
def results() -> dict:
    figure = figures.show_positions(POSITIONS)
    table = tables.table("slots", "Effect of slots.", POSITIONS, ["slot"], ["id"])
    return {
        "figures": [figure],
        "tables": [table],
        "estimates": [*POSITIONS, *RATES],
        "provenance": PROVENANCE,
        "claims": CLAIMS,
    }


def test_all_files_are_written_twice_the_same(tmp_path, results):
    folder = tmp_path / "mt_bench_blind"
    export(folder, **results)
    first = contents(folder)
    assert sorted(first) == [
        "captions.md",
        "claims.csv",
        "exhibits.json",
        "numbers.json",
        "numbers.tex",
        "positions.pdf",
        "positions.png",
        "positions.svg",
        "run.json",
        "slots.csv",
        "slots.tex",
    ]
    again = {**results, "figures": [figures.show_positions(POSITIONS)], "estimates": results["estimates"][::-1]}
    export(folder, **again)
    second = contents(folder)
    del first["run.json"], second["run.json"]
    assert first == second
    assert [path.name for path in tmp_path.iterdir()] == ["mt_bench_blind"]


def test_numbers_json_keeps_its_contract(tmp_path, results):
    export(tmp_path, **results)
    text = (tmp_path / "numbers.json").read_text(encoding="utf-8")
    assert text.endswith("}\n")
    content = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert list(content) == ["protocol", "provenance", "numbers"]
    assert content["protocol"] == "1.1" and content["provenance"] == PROVENANCE
    assert content["numbers"][-1] == {
        "id": "top1_rate",
        "where": {"judge": "gpt_5", "vendor": "gpt"},
        "value": 0.5875,
        "low": 0.412346,
        "high": None,
        "n": 80,
        "clusters": 80,
        "unit": "rate",
        "method": "",
        "p": None,
        "effective": None,
        "data": "published",
    }
    assert content["numbers"][-2]["value"] is None
    names = [(each["id"], json.dumps(each["where"]), each["data"]) for each in content["numbers"]]
    assert names == sorted(names) and len(names) == 5


def test_where_in_another_order_is_the_same_number():
    turned = [replace(each, where=dict(reversed(each.where.items()))) for each in RATES]
    assert json.dumps(numbers(turned)) == json.dumps(numbers(RATES))
    with pytest.raises(ValueError, match="more than one estimate for top1_rate"):
        numbers([RATES[0], turned[0]])


def test_an_infinite_number_is_an_error_with_its_place():
    with pytest.raises(ValueError, match=r"top1_rate.*gpt_5.*high is infinite"):
        numbers([replace(RATES[0], high=float("inf"))])


def test_a_failing_export_leaves_the_former_files(tmp_path, results, monkeypatch):
    export(tmp_path, **results)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match="infinite"):
        export(tmp_path, **{**results, "estimates": [replace(RATES[0], value=float("inf"))]})
    assert contents(tmp_path) == before

    without_room(monkeypatch, lambda path: path.name == ".numbers.tex.part")
    with pytest.raises(OSError, match="No space left"):
        export(tmp_path, **{**results, "estimates": POSITIONS})
    assert contents(tmp_path) == before


def test_a_failing_first_export_leaves_no_folder(tmp_path, results):
    with pytest.raises(ValueError):
        export(tmp_path / "new", **{**results, "estimates": [*POSITIONS, *POSITIONS]})
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["../evil", "a/b", "Upper", "", "x" * 65, ".hidden", "a b"])
def test_names_cannot_leave_the_folder(tmp_path, results, name):
    bad = replace(results["figures"][0], name=name)
    with pytest.raises(ValueError, match="cannot be a file name"):
        export(tmp_path / "out", **{**results, "figures": [bad]})
    assert list(tmp_path.iterdir()) == []


def test_two_results_of_one_name_are_an_error(tmp_path, results):
    claims = replace(results["tables"][0], name="claims")
    with pytest.raises(ValueError, match=r"two results want to be written to claims\.csv"):
        export(tmp_path, **{**results, "tables": [claims]})


def test_links_in_the_folder_are_replaced_never_followed(tmp_path, results):
    outside, folder = tmp_path / "outside.txt", tmp_path / "out"
    outside.write_text("mine")
    folder.mkdir()
    for name in ("numbers.json", ".numbers.json.part", ".run.json.part"):
        os.symlink(outside, folder / name)
    export(folder, **results)
    assert outside.read_text() == "mine"
    assert not (folder / "numbers.json").is_symlink() and not (folder / ".numbers.json.part").exists()


def test_files_of_several_folders_are_written_all_or_none(tmp_path, monkeypatch):
    exporting.write({"a.txt": b"1", "inner/b.txt": b"1"}, tmp_path)
    without_room(monkeypatch, lambda path: path.name == ".b.txt.part")
    with pytest.raises(OSError, match="No space"):
        exporting.write({"a.txt": b"2", "inner/b.txt": b"2"}, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.rglob("*.*")} == {"a.txt": b"1", "b.txt": b"1"}


@pytest.mark.parametrize("name", ["inner/a.txt", "../outside/a.txt"])
def test_no_folder_within_leads_out(tmp_path, name):
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "inner").symlink_to(outside)
    with pytest.raises(ValueError, match="expected a folder"):
        exporting.write({"first.txt": b"x", name: b"x"}, folder)
    assert not list(outside.iterdir()) and [each.name for each in folder.iterdir()] == ["inner"]


def test_what_a_folder_holds_is_told_but_for_what_was_cut_off(tmp_path):
    assert exporting.held(tmp_path / "new" / "deep", "--to") == []
    (tmp_path / "files" / "one").mkdir(parents=True)
    (tmp_path / "files" / "one" / ".a.png.part").write_bytes(b"")
    (tmp_path / ".card.json.part").write_bytes(b"")
    assert exporting.held(tmp_path, "--to") == []
    (tmp_path / "files" / "one" / "a.png").write_bytes(b"")
    (tmp_path / "thesis.tex").write_text("mine")
    assert exporting.held(tmp_path, "--to") == ["files", "thesis.tex"]
    with pytest.raises(ValueError, match=r"thesis\.tex: a file, expected a folder"):
        exporting.held(tmp_path / "thesis.tex", "--to")


def test_a_text_that_is_none_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"files/a\.csv: no UTF-8 text \(invalid start byte at byte 1\)"):
        exporting.write({"files/a.csv": b"a\xff"}, tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_simulated_data_is_said_everywhere(tmp_path, results):
    export(tmp_path, **results)
    files = contents(tmp_path)
    for name in ("slots.tex", "captions.md"):
        assert b"SIMULATED judges" in files[name], name
    header, first = files["slots.csv"].decode().splitlines()[:2]
    assert dict(zip(header.split(","), first.split(","), strict=False))["data"] == "simulated"
    lines = files["numbers.tex"].decode().splitlines()
    simulated = [line for line in lines if line.startswith(r"\newcommand") and ", simulated:" in line]
    assert len(simulated) == 3 and all(r"Simulated}{\RecuseSimulated{" in line for line in simulated)
    assert r"\providecommand{\RecuseSimulated}" in lines[1] and "SIMULATED" in lines[1]
    others = [line for line in lines if line.startswith(r"\newcommand") and line not in simulated]
    assert len(others) == 2 and not [line for line in others if "RecuseSimulated" in line]


def test_claims_are_written_as_harmless_csv(tmp_path, results):
    export(tmp_path, **results)
    assert (tmp_path / "claims.csv").read_text() == "id,quantity,published,recomputed,unit\nx,'=evil,30,,%\n"
    export(tmp_path / "without", **{**results, "claims": None})
    assert not (tmp_path / "without" / "claims.csv").exists()


def test_captions_hold_alt_text_and_caption_of_every_figure(tmp_path, results):
    export(tmp_path / "mt_bench_blind-0a1b", **results)
    text = (tmp_path / "mt_bench_blind-0a1b" / "captions.md").read_text(encoding="utf-8")
    assert text.startswith("# mt_bench_blind: figures and tables\n")
    assert f"\n\n{results['figures'][0].caption}\n" in text
    assert re.search(r"!\[Dot plot of the effect of each place[^\]]*\]\(positions\.png\)", text)
    assert "## Table slots\n\nEffect of slots. SIMULATED judges. (slots.csv, .tex)\n" in text


def test_run_json_says_commit_time_versions_and_what_was_given(tmp_path, results):
    export(tmp_path, **results, run={"gap_days": 3, "cost": NAN})
    run = json.loads((tmp_path / "run.json").read_text())
    assert run["gap_days"] == 3 and run["cost"] is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", run["time"])
    assert run["versions"]["matplotlib"] and run["versions"]["python"].startswith("3.")
    assert run["commit"] is None or re.fullmatch(r"[0-9a-f]{40}(-dirty)?", run["commit"])


def test_a_summary_is_written_beside_with_the_protocol_and_only_if_given(tmp_path, results):
    export(tmp_path / "with", **results, summary={"title": "x", "rows": [{"value": 0.123456789, "low": NAN}]})
    content = json.loads((tmp_path / "with" / "summary.json").read_text())
    assert content == {"protocol": "1.1", "title": "x", "rows": [{"value": 0.123457, "low": None}]}
    export(tmp_path / "without", **results)
    assert not (tmp_path / "without" / "summary.json").exists()


def test_without_git_the_commit_is_null(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert exporting.this_run()["commit"] is None


def test_macros_have_letters_only_and_the_shown_value():
    text = macros("mt_bench_blind", [*POSITIONS, *RATES])
    lines = text.splitlines()[2:]
    inner = r"[^{}]*(\{[^{}]*\}[^{}]*)?"
    assert all(
        re.match(rf"\\newcommand\{{\\[A-Za-z]+\}}\{{({inner}|\\RecuseSimulated\{{{inner}\}})\}} % ", line)
        for line in lines
    )
    assert "\\newcommand{\\MtBenchBlindTopOneRateGptFiveGptPublished}{58.8\\,\\%} %" in text
    three = "\\newcommand{\\MtBenchBlindPositionEffectThreeSimulated}{\\RecuseSimulated{\\ensuremath{+}2.0\\,pp}} %"
    assert three in text
    assert "\\newcommand{\\MtBenchBlindTopOneRateGptFourGptAsked}{not estimable} %" in text


WORD = st.text(st.sampled_from("abAB01-_. é"), max_size=4)


@given(st.lists(st.tuples(WORD, WORD, WORD), unique=True, max_size=12))
def test_macro_names_are_letters_and_unique_for_any_place(places):
    estimates = [Estimate(id, {"judge": judge, "vendor": vendor}, 0.5) for id, judge, vendor in places]
    names = macro_names("blind", estimates)
    assert len(set(names)) == len(places)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names)


def test_a_macro_name_does_not_depend_on_other_numbers():
    alone = macro_names("blind", RATES[:1])
    assert macro_names("blind", [*POSITIONS, *RATES])[3] == alone[0]
