"""What is wrong with a file is told with file, line and field before anything is computed; names are no verdicts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from helpers import __main__ as command
from helpers.analyze import analyze, saying, summary
from helpers.analyze import reading as analyze_reading
from helpers.analyze.cells import verdict_of
from helpers.datasets import reading
from tests.verdict_files import pair_rows, written

GOOD = {"judge": "j", "question": "q1", "candidates": ["x", "y"], "verdict": "A"}


def file_of(tmp_path: Path, *changes: dict[str, Any]) -> Path:
    """A file of one good row, and one row for each change of it."""
    rows = [GOOD, *({**GOOD, "question": f"q{n}", **change} for n, change in enumerate(changes, 2))]
    return written(rows, tmp_path / "v.jsonl")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"verdict": "left"}, r"v\.jsonl, line 2: verdict 'left' on x \| y is none; valid: .*A>>B.*a number"),
        ({"verdict": 7}, r"line 2: verdict '7' on x \| y is none"),
        ({"verdict": ["x", "z"]}, r"line 2: verdict .* ranks 'z', which was not shown; shown: x, y"),
        ({"verdict": [1, 2, 3]}, r"line 2: .* has 3 scores for 2 candidates"),
        ({"verdict": {"x": 1, "z": 2}}, r"line 2: .* scores z; shown: x, y"),
        ({"verdict": ["x", 1]}, r"line 2: .* neither names alone nor numbers alone"),
        ({"candidates": ["B", "A"]}, r"line 2: verdict 'A' is a label \(A>B\) and the name of a candidate \(B>A\)"),
        ({"candidates": ["tie", "y"], "verdict": "tie"}, r"line 2: .* a label \(A=B\) and the name of a candidate"),
        ({"candidates": ["error", "y"], "verdict": "error"}, r"line 2: .* the name of a candidate .* a word for none"),
        ({"candidates": ["x", "x", "y"]}, r"line 2: a candidate stands twice"),
        ({"candidates": ["x", "y", "z"]}, r"line 2: verdict 'A' on x \| y \| z is none"),
        ({"candidates": ["x"]}, r"line 2: verdict 'A' on one candidate is no number"),
        ({"candidates": ["x", ""]}, r"line 2: a candidate's name is empty"),
        ({"candidates": None}, r"line 2: candidates is empty"),
        (
            {"candidates": [f"m{n}" for n in range(analyze_reading.MOST_CANDIDATES + 1)]},
            r"line 2: 65 candidates; at most 64",
        ),
        ({"judge": None}, r"line 2: judge is empty"),
        ({"question": " "}, r"line 2: question is empty"),
        ({"judge": "gpt\u202efast"}, r"line 2: judge 'gpt\\u202efast' holds signs that cannot be printed"),
        ({"candidates": ["x", "y\u0007"]}, r"line 2: a candidate's name 'y\\x07' holds signs"),
        ({"judge": "j" * 201}, r"line 2: judge .* has 201 letters; at most 200"),
        ({"verdict": "A" * 20_001}, r"line 2: column 'verdict' holds 20,001 letters; at most 20,000"),
        ({"repeat": 1.5}, r"line 2: repeat '1.5', expected a whole number from 0"),
        ({"order": "backwards"}, r"line 2: order 'backwards'; valid: shown, reversed, unknown"),
        ({"gold": "z"}, r"line 2: gold: verdict 'z' on x \| y is none"),
        ({"length": [1]}, r"line 2: length '\[1\]' has 1 values for 2 candidates"),
        ({"length": [1, -2]}, r"line 2: length '-2', expected numbers from 0 up"),
        ({"candidate_vendors": ["a", "b", "c"]}, r"line 2: candidate_vendors .* has 3 values for 2 candidates"),
        ({"question": "q1"}, r"line 2: the same pair .* was judged before, .*line 1; .* a column 'repeat'"),
    ],
)
def test_a_bad_cell_is_told_with_its_line(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    if "repeat" in change:
        path = written([GOOD | {"repeat": 0}, GOOD | change], tmp_path / "v.jsonl")
    else:
        path = file_of(tmp_path, change)
    with pytest.raises(ValueError, match=told):
        analyze(path)


def test_two_styles_in_one_file_are_refused_with_both_lines(tmp_path: Path) -> None:
    path = file_of(tmp_path, {}, {"candidates": ["x", "y", "z"], "verdict": "z > x > y"}, {"verdict": [1, 2]})
    told = r"line 1 holds a label .*'A'.*; .*line 3 holds a ranking .*; .*line 4 holds a score .*split it"
    with pytest.raises(ValueError, match=told):
        analyze(path)


def test_rankings_of_different_sizes_are_refused(tmp_path: Path) -> None:
    three, four = ["x", "y", "z"], ["x", "y", "z", "w"]
    rows = [GOOD | {"candidates": names, "verdict": names, "question": str(len(names))} for names in (three, four)]
    with pytest.raises(ValueError, match=r"line 1 ranks 3 candidates, .*line 2 4"):
        analyze(written(rows, tmp_path / "v.jsonl"))


def test_a_judge_or_candidate_of_two_vendors_is_refused(tmp_path: Path) -> None:
    path = written([GOOD | {"judge_vendor": "a"}, GOOD | {"question": "q2", "judge_vendor": "b"}], tmp_path / "v.jsonl")
    with pytest.raises(ValueError, match="line 2: judge 'j' is of the vendor 'b', and of 'a' before"):
        analyze(path)
    rows = [GOOD | {"candidate_vendors": ["a", "b"]}, GOOD | {"question": "q2", "candidate_vendors": ["a", "c"]}]
    with pytest.raises(ValueError, match="line 2: candidate 'y' is of the vendor 'c', and of 'b' before"):
        analyze(written(rows, tmp_path / "w.jsonl"))


@pytest.mark.parametrize("end", ["csv", "jsonl", "parquet"])
def test_columns_are_checked_by_name(tmp_path: Path, end: str) -> None:
    rows = [{**row, "jugde": row["judge"], "remark": "x"} for row in pair_rows(questions=12)]
    path = written(
        [{key: value for key, value in row.items() if key != "judge"} for row in rows], tmp_path / f"v.{end}"
    )
    with pytest.raises(ValueError) as error:
        analyze(path)
    told = str(error.value)
    assert "no column 'judge'" in told and "perhaps 'jugde'" in told and "unknown column 'remark'" in told
    assert told.count("jugde'") == 2 and "rename it" in told  # once named, once among what was found
    assert "candidate_vendors" in told and str(path) in told
    good = written([{**row, "remark": "x"} for row in pair_rows(questions=12)], tmp_path / f"w.{end}")
    with pytest.raises(ValueError, match=r"unknown column 'remark'.*--ignore-extra"):
        analyze(good)
    assert analyze(good, ignore_extra=True).judgments == 48


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("v.csv", "judge,question,candidates,verdict\nj,q,x|y,A\nj,q2,x|y\n", "Expected 4 columns, got 3"),
        ("v.csv", "judge,question,candidates,verdict\n", "no row of verdicts"),
        ("v.csv", "judge,judge,question,candidates,verdict\n", "column 'judge' stands there more than once"),
        ("v.csv", "", "the file is empty; its first line names the columns: judge,question,candidates,verdict"),
        ("v.csv", "judge,question,candidates,verdict\nj,q,x|y,A\n\nj,q2,x,y,A\n", "line 4: .*stands in quotes"),
        ("v.csv", "judge,question,candidates,verdict\nj,q,x|y,1\n", r"line 2: .*bare number does not tell who won"),
        ("v.csv", 'judge,question,candidates,verdict\nj,q,"x,y",A\n', r"Several candidates stand with \| between"),
        ("v.csv", "Judge,question,candidates,verdict\nj,q,x|y,A\n", "no column 'judge', perhaps 'Judge': rename it"),
        ("v.csv", "model,question,candidates,verdict\nj,q,x|y,A\n", "unknown column 'model'[.] Found"),
        ("v.jsonl", '{"judge": "j", "question": 1', "line 1: not readable as JSON"),
        ("v.jsonl", '[1, 2]\n', "line 1: found .*expected an object with named fields"),
        ("v.jsonl", '{"judge": "j", "judge": "k", "question": 1, "candidates": "a|b"}', "'judge' occurs twice"),
        ("v.jsonl", '{"judge": "j", "question": 1, "verdict": "A"}', "no column 'candidates'"),
        ("v.jsonl", '{"name": "j", "text": 1}', "fields name, text are of no known format: tidy .*alpaca-eval"),
        ("v.json", '{"prompts": []}', "no record|no known format"),
        ("v.parquet", "PAR1 but not really", "not readable as Parquet"),
        ("v.csv.gz", "no gzip", "not readable as gzip"),
        ("v.xlsx", "PK", r"files are read by the end of their name, \.csv"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_told(tmp_path: Path, name: str, content: str, told: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=told):
        analyze(path)


def test_what_spreadsheets_write_is_read_or_told(tmp_path: Path) -> None:
    rows = "judge,question,candidates,verdict\n" + "".join(f"é,q{n},x|y,A\né,q{n},y|x,C\n" for n in range(12))
    path = tmp_path / "v.csv"
    for text in (rows, rows.replace(",", ";"), rows.replace(",", "\t"), rows.replace("\n", "\r\n")):
        for encoding in ("utf-8", "utf-8-sig"):
            path.write_bytes(text.encode(encoding))
            found = analyze(path)
            assert found.judgments == 24 and set(found.held.frame["judge"]) == {"é"}
            assert "12 of 24 verdicts are C, a tie as FastChat writes it." in found.notes
    path.write_bytes(rows.encode("utf-16"))
    with pytest.raises(ValueError, match="UTF-16 text; save it as UTF-8"):
        analyze(path)
    path.write_bytes(rows.encode("latin-1"))
    with pytest.raises(ValueError, match="line 2: not UTF-8 text; save it as UTF-8"):
        analyze(path)


def test_one_record_of_many_without_a_field_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    rows = [GOOD, {key: value for key, value in GOOD.items() if key != "verdict"} | {"question": "q2"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(ValueError, match="line 2: field 'verdict' is missing; null where it is not known"):
        analyze(path)


def test_a_gzip_that_unpacks_to_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.csv.gz"
    path.write_bytes(gzip.compress(b"judge,question,candidates,verdict\n" + b"j,q,x|y,A\n" * 500))
    monkeypatch.setattr(reading, "MOST_BYTES", 2000)
    with pytest.raises(ValueError, match="more than 2,000 bytes when unpacked"):
        analyze(path)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"judge": "j", "judge": "k", "question": 1}', "line 2: .*'judge' occurs twice"),
        ('{"judge": "j", "question": NaN}', "line 2: .*NaN"),
        ("[" * 100_000, "line 2: nested too deeply"),
    ],
)
def test_packed_lines_are_read_as_strictly_as_others(tmp_path: Path, line: str, told: str) -> None:
    text = f"{json.dumps(GOOD)}\n{line}\n".encode()
    for name, data in (("v.jsonl", text), ("v.jsonl.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=told):
            analyze(tmp_path / name)


def test_two_scores_of_one_candidate_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    names = GOOD["candidates"] if isinstance(GOOD["candidates"], list) else GOOD["candidates"].split("|")
    scores = ", ".join(f'"{name}": {n}' for n, name in enumerate([*names, names[0]]))
    path.write_text(json.dumps(GOOD | {"verdict": "{" + scores + "}"}), encoding="utf-8")
    with pytest.raises(ValueError, match="occurs twice"):
        analyze(path)


def test_too_many_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analyze_reading, "MOST_ROWS", 10)
    for end in ("csv", "jsonl", "parquet"):
        with pytest.raises(ValueError, match=r"more than 10 rows|rows; at most 10"):
            analyze(written(pair_rows(questions=3), tmp_path / f"v.{end}"))


@pytest.mark.parametrize("candidates", [["a"], ["a", "b"], ["a", "b", "c"]])
def test_nothing_readable_is_a_result(tmp_path: Path, candidates: list[str]) -> None:
    rows = [GOOD | {"verdict": word, "question": word, "candidates": candidates} for word in ("error", "refused")]
    text = summary(analyze(written(rows, tmp_path / "v.jsonl")))
    assert "**Cannot tell**: none of the 2 replies had a readable verdict." in text and "nan" not in text


def test_a_wrong_path_or_format_lists_what_is_valid(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        analyze(tmp_path / "none.csv")
    path = written([GOOD], tmp_path / "v.jsonl")
    with pytest.raises(ValueError, match=r"format 'arena'; valid: tidy, .*arena-hard"):
        analyze(path, "arena")
    with pytest.raises(ValueError, match=r"not Arena-Hard's .* name one file, such as v.jsonl \(tidy\)"):
        analyze(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="found nothing; expected"):
        analyze(tmp_path / "empty")


def test_a_folder_nobody_may_write_into_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(ValueError, match=r"nothing can be written into .*--out names another folder"):
        saying.check(tmp_path / "new" / "out")
    saying.check(tmp_path.parent / "elsewhere")


def test_the_command_prints_one_line_and_leaves_with_2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = file_of(tmp_path, {"verdict": "left"})
    monkeypatch.setattr("sys.argv", ["recuse", "analyze", str(path), "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as left:
        command.entry()
    assert left.value.code == 2 and not (tmp_path / "out").exists()
    told = CliRunner().invoke(command.main, ["analyze", str(path)])
    assert "line 2" in str(told.exception)


@pytest.mark.parametrize(
    ("text", "shown", "value"),
    [
        ("A>>B", ("x", "y"), "A>>B"),
        ("[[B]]", ("x", "y"), "B>A"),
        ("[[A<B]]", ("x", "y"), "B>A"),
        ("model_b", ("x", "y"), "B>A"),
        ("C", ("x", "y"), "A=B"),
        ("y", ("x", "y"), "B>A"),
        ("y > x", ("x", "y"), "B>A"),
        ('["y", "x"]', ("x", "y"), "B>A"),
        ("A", ("A", "B"), "A>B"),
        # Candidates whose names look like verdicts are names.
        ("A>B>", ("A>B>", "y"), "A>B"),
        ("VERDICT: B", ("x", "VERDICT: B"), "B>A"),
        ("B > C > A", ("x", "y", "z"), (1, 2, 0)),
        ("B > C > A", ("C", "A", "B"), (2, 0, 1)),
        ("-3e1", ("x",), (-30.0,)),
        ("[1, 2.5]", ("x", "y"), (1.0, 2.5)),
        ('{"y": 1, "x": 2}', ("x", "y"), (2.0, 1.0)),
    ],
)
def test_each_way_of_saying_a_verdict(text: str, shown: tuple[str, ...], value: object) -> None:
    if text == "B > C > A" and shown == ("C", "A", "B"):
        with pytest.raises(ValueError, match="a ranking of labels and one of names, and they differ"):
            verdict_of(text, shown)
        return
    assert verdict_of(text, shown).value == value


def test_a_ranking_that_leaves_one_out_is_lost_not_repaired() -> None:
    for text in ("x > y", "x > y > y", '["x", "y"]'):
        assert verdict_of(text, ("x", "y", "z")) == ("", None, "invalid_ranking")
    assert verdict_of("null", ("x", "y")).outcome == "unparsed"
    assert verdict_of("Truncated", ("x", "y")).outcome == "truncated"
