"""Results as files: the contract of numbers.json, the same bytes twice, macros, and tables that no spreadsheet runs."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import re
import unicodedata
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, strategies as st

from helpers import export as exporting, figures, paths, tables
from helpers.escaping import latex
from helpers.export import export, numbers
from helpers.macros import camel, macro_names, macros
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


#: What reports and papers are written by: a record of the files that an earlier call may have left.
FACTS = {"made_by": "these tests"}


def renew(folder: Path, *names: str) -> dict[str, bytes]:
    """The files of a folder that was renewed with these ones."""
    exporting.renew({name: f"our {name}".encode() for name in names}, folder, "made.json", FACTS)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_renewed_folder_keeps_what_others_wrote_and_nothing_else(tmp_path: Path) -> None:
    there = renew(tmp_path, "a.txt", "in/b.txt", "c.txt")
    told = json.loads(there.pop("made.json"))
    assert told == {**FACTS, "files": {name: hashlib.sha256(text).hexdigest() for name, text in there.items()}}
    for name in ("c.txt", "notes.txt"):
        (tmp_path / name).write_text("mine")
    now = renew(tmp_path, "a.txt")
    assert now.keys() == {"a.txt", "c.txt", "notes.txt", "made.json"} and now["c.txt"] == now["notes.txt"] == b"mine"


def test_a_record_removes_nothing_outside_its_folder(tmp_path: Path) -> None:
    folder, kept = tmp_path / "folder", tmp_path / "outside" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    renew(folder, "a.txt")
    told = json.loads((folder / "made.json").read_text())
    told["files"] |= dict.fromkeys(("../outside/kept.txt", str(kept), "link/kept.txt"), exporting.sha256_of(kept))
    (folder / "made.json").write_text(json.dumps(told))
    (folder / "link").symlink_to(kept.parent)
    renew(folder, "b.txt")
    assert kept.read_text() == "mine" and not (folder / "a.txt").exists()


@pytest.mark.parametrize("after", [0, 1, 2])
def test_what_was_cut_off_is_made_whole_by_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    done, put = [], os.replace

    def killed(part: Path, place: Path) -> None:
        if len(done) == after:
            raise SystemExit("killed")
        done.append(place)
        put(part, place)

    monkeypatch.setattr(os, "replace", killed)
    # What is killed cleans nothing up.
    monkeypatch.setattr(Path, "unlink", lambda path, missing_ok=False: None)
    with pytest.raises(SystemExit):
        renew(tmp_path, "a.txt", "in/b.txt")
    monkeypatch.undo()
    assert any(path.name.endswith(".part") for path in tmp_path.rglob("*"))
    assert renew(tmp_path, "a.txt", "in/b.txt").keys() == {"a.txt", "in/b.txt", "made.json"}


def test_a_folder_without_room_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = renew(tmp_path, "a.txt", "in/b.txt")
    without_room(monkeypatch, lambda path: path.parent.name == "in")
    with pytest.raises(OSError, match="No space"):
        renew(tmp_path, "c.txt", "in/d.txt")
    monkeypatch.undo()
    assert renew(tmp_path, "a.txt", "in/b.txt") == before


def test_what_a_folder_holds_is_told_but_for_what_was_cut_off(tmp_path):
    assert exporting.list_contents(tmp_path / "new" / "deep", "--to") == []
    (tmp_path / "files" / "one").mkdir(parents=True)
    (tmp_path / "files" / "one" / ".a.png.part").write_bytes(b"")
    (tmp_path / ".card.json.part").write_bytes(b"")
    assert exporting.list_contents(tmp_path, "--to") == []
    (tmp_path / "files" / "one" / "a.png").write_bytes(b"")
    (tmp_path / "thesis.tex").write_text("mine")
    assert exporting.list_contents(tmp_path, "--to") == ["files", "thesis.tex"]
    with pytest.raises(ValueError, match=r"thesis\.tex: a file, expected a folder"):
        exporting.list_contents(tmp_path / "thesis.tex", "--to")


def test_a_text_that_is_none_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"files/a\.csv: no UTF-8 text \(invalid start byte at byte 1\)"):
        exporting.write({"files/a.csv": b"a\xff"}, tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_simulated_data_is_said_everywhere(tmp_path, results):
    export(tmp_path, **results)
    files = contents(tmp_path)
    for name in ("slots.tex", "captions.md"):
        assert b"SIMULATED models" in files[name], name
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
    assert "## Table slots\n\nEffect of slots. SIMULATED models. (slots.csv, .tex)\n" in text


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


# --- macros -----------------------------------------------------------------------------------------------------------

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


# --- tables -----------------------------------------------------------------------------------------------------------

TABLE_RATES = [
    Estimate("top1_rate", {"judge": judge, "vendor": vendor}, value, value - 0.1, value + 0.1, n=80, data="published")
    for judge, row in {"claude_fast": (0.275, 0.55), "gpt_fast": (0.2125, 0.5875)}.items()
    for vendor, value in zip(("claude", "gpt"), row, strict=True)
]


def unlatex(text: str) -> str:
    """What LaTeX would print: an own small reader of escapes; anything special that is not escaped is an error."""
    words = {"textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^"}
    words |= {"textless": "<", "textgreater": ">", "textbar": "|"}
    signs = {r"\leq": "\u2264", r"\geq": "\u2265", r"\neq": "\u2260", r"\approx": "\u2248", r"\times": "\u00d7"}
    signs |= {r"\pm": "\u00b1", r"\rightarrow": "\u2192", r"\leftarrow": "\u2190", r"\infty": "\u221e", "-": "\u2212"}
    signs |= {r"\alpha": "\u03b1", r"\beta": "\u03b2", r"\kappa": "\u03ba", r"\Delta": "\u0394"}
    printed, at = "", 0
    while at < len(text):
        rest = text[at:]
        if word := re.match(r"\\(text[a-z]+)\{\}", rest):
            printed += words[word[1]]
            at += len(word[0])
        elif sign := re.match(r"\\([&%$#_{}])", rest):
            printed += sign[1]
            at += 2
        elif formula := re.match(r"\\ensuremath\{(\\[a-zA-Z]+|-)\}", rest):
            printed += signs[formula[1]]
            at += len(formula[0])
        elif foreign := re.match(r"\\ifdefined\\Uchar (.+?)\\else\(((?:U\+[0-9A-F]{4,6} ?)+)\)\\fi\{\}", rest):
            assert [f"U+{ord(sign):04X}" for sign in foreign[1]] == foreign[2].split(), "both engines print the same"
            printed += foreign[1]
            at += len(foreign[0])
        elif rest.startswith("{}") and at == 0:
            at += 2
        else:
            assert text[at] not in "\\&%$#_{}~^", f"{text!r} has a bare {text[at]!r} at {at}"
            printed += text[at]
            at += 1
    return printed


def rows_of(latex: str) -> list[list[str]]:
    """The cells between the rules, header first."""
    body = re.search(r"\\toprule\n(.*)\\bottomrule", latex, re.S)
    assert body
    lines = body[1].replace("\\midrule\n", "").strip().split(" \\\\\n")
    return [re.split(r"(?<!\\) & ", line.removesuffix(" \\\\")) for line in lines]


def test_a_wide_table_has_a_row_a_judge_and_a_column_a_vendor():
    frame = tables.estimates_table(TABLE_RATES, ["judge"], ["vendor"])
    assert list(frame.columns) == ["judge", "data", "Claude", "GPT"]
    assert frame["GPT"].tolist() == ["55.0 % [45.0, 65.0]", "58.8 % [48.8, 68.8]"]
    assert frame["data"].tolist() == ["published", "published"]


def test_numbers_stand_beside_the_text_as_stored():
    frame = tables.estimates_table(TABLE_RATES, ["judge"], ["vendor"], numbers=True)
    assert frame["gpt_value"].tolist() == [0.55, 0.5875]
    assert frame["claude_low"].tolist() == pytest.approx([0.175, 0.1125])
    assert frame["gpt_n"].tolist() == [80, 80]


def test_data_sources_and_absent_cells_stay_apart():
    frame = tables.estimates_table(
        [*TABLE_RATES, replace(TABLE_RATES[0], data="simulated")], ["judge"], ["vendor"], numbers=True
    )
    assert frame["data"].tolist() == ["published", "published", "simulated"]
    last = frame.iloc[2]
    assert last["gpt"] == "" and pd.isna(last["gpt_value"]) and pd.isna(last["gpt_n"]) and last["claude_n"] == 80


def test_ids_may_be_rows_and_units_are_written():
    spread = Estimate("balance", {}, 0.14069, n=480, unit="sd_pp", data="published")
    frame = tables.estimates_table([spread, replace(spread, id="lost", value=NAN)], ["id"], [])
    assert frame[""].tolist() == ["14.07 pp", "not estimable"]


def test_no_estimates_give_an_empty_table_with_its_columns():
    frame = tables.estimates_table([], ["judge"], ["vendor"])
    assert list(frame.columns) == ["judge", "data"] and frame.empty
    assert "\\midrule" in tables.latex_text(frame, "none", "tab:none")
    assert tables.csv_text(frame) == "judge,data\n"


def test_double_cells_and_missing_keys_are_errors():
    with pytest.raises(
        ValueError, match=r"two estimates for \{'judge': 'claude_fast', 'data': 'published'\}.*'Claude'"
    ):
        tables.estimates_table([*TABLE_RATES, TABLE_RATES[0]], ["judge"], ["vendor"])
    with pytest.raises(ValueError, match=r"has no hint; it has: id, judge, vendor"):
        tables.estimates_table(TABLE_RATES, ["hint"], ["vendor"])


@pytest.mark.parametrize("text", ["=1+1", "+1", "-2", "@SUM(1)", "\tx", "\rx", "=HYPERLINK(0)"])
def test_csv_never_starts_a_cell_with_a_formula(text):
    frame = pd.DataFrame({text: [text, "safe"], "n": [-1, 2], "x": [-0.5, NAN]})
    header, first, second = list(csv.reader(io.StringIO(tables.csv_text(frame), newline="")))
    kept = "'" + text.replace("\r", "\n")
    assert header == [kept, "n", "x"]
    assert first == [kept, "-1", "-0.5"]
    assert second == ["safe", "2", ""]


def test_csv_numbers_have_six_digits_and_lines_end_in_newline():
    text = tables.csv_text(pd.DataFrame({"x": [1 / 3, 123456789.0, 1e-9]}))
    assert text == "x\n0.333333\n1.23457e+08\n1e-09\n"


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"]), max_size=40))
def test_latex_prints_what_was_written(text):
    spaces = "".join(" " if unicodedata.category(sign) == "Zs" else sign for sign in text)
    assert unlatex(latex(text)) == unicodedata.normalize("NFC", spaces)


def test_latex_tables_have_booktabs_rules_and_escape_everything():
    frame = pd.DataFrame({"a_b & c": ["100 %", "x_1 $ # {y} ~ ^ \\"], "[n]": [1, 20], "*x": [0.123456, NAN]})
    latex = tables.latex_text(frame, "50 % of a_b", "tab:blind")
    assert [latex.count(f"\\{rule}rule") for rule in ("top", "mid", "bottom")] == [1, 1, 1]
    assert "\\caption{50 \\% of a\\_b}\n\\label{tab:blind}" in latex
    assert "\\begin{tabular}{lrr}" in latex
    printed = [[unlatex(cell) for cell in row] for row in rows_of(latex)]
    assert printed == [["a_b & c", "[n]", "*x"], ["100 %", "1", "0.1235"], ["x_1 $ # {y} ~ ^ \\", "20", "--"]]


def test_a_cell_in_brackets_is_not_the_argument_of_a_rule():
    latex = tables.latex_text(pd.DataFrame({"x": ["[5, 6]", "*"]}), "c", "tab:x")
    assert not re.search(r"(\\\\|rule)\s*[\[*]", latex)


def test_line_breaks_in_cells_do_not_break_rows():
    latex = tables.latex_text(pd.DataFrame({"x": ["a\nb\x00c"]}), "c", "tab:x")
    assert rows_of(latex)[1] == ["a b c"]


def test_a_label_that_latex_cannot_take_is_refused():
    with pytest.raises(ValueError, match="only letters, digits"):
        tables.latex_text(pd.DataFrame({"x": [1]}), "c", "tab:{x}")


def test_a_finished_table_says_where_its_numbers_come_from():
    simulated = [replace(each, data="simulated") for each in TABLE_RATES]
    made = tables.table("top1", "First places.", simulated, ["judge"], ["vendor"])
    assert made.words == "First places. SIMULATED models."
    mixed = tables.table("top1", "First places.", [*TABLE_RATES, *simulated], ["judge"], ["vendor"])
    assert mixed.words == "First places. Rows marked simulated: SIMULATED models."
    assert "gpt_value" in made.csv and "gpt_value" not in made.frame and "data" in made.csv
    assert tables.table("top1", "First places.", TABLE_RATES, ["judge"], ["vendor"]).words == "First places."
    with pytest.raises(ValueError, match="table x has no column 'data'; it has: n"):
        tables.Table("x", pd.DataFrame({"n": [1]}), "c")
