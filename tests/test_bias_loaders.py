"""Published bias tests and decisions: what is read of them, what is refused, and that nothing in them is ever run."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers.biases.cognitive import published
from helpers.datasets import bias_tests
from helpers.frames import DECISIONS
from helpers.types import Question, RatioScale

#: Loaders say once what they leave out; what that is, the tests look up.
pytestmark = pytest.mark.filterwarnings("ignore:.* of tests are left out")
NAMES = ("bias", "scenario", "control", "treatment", "metric_params")
PLAIN = "{'k': -1, 'x_1': 0, 'x_2': 0}"
SCENARIO = "A keeper of bees who plans the winter"


def version(words: str, options: int = 7) -> str:
    listed = "\n".join(f"Option {i + 1}: step {i}" for i in range(options))
    return f"Situation:\nYou keep bees. {words}\n\nPrompt:\nHow much sugar is bought?\n\nAnswer Options:\n{listed}"


def row_of_test(n: int = 0, **changed: Any) -> dict[str, Any]:
    plain = ("Framing Effect", SCENARIO, version(f"Hive {n}."), version(f"Hive {n}, cold."), PLAIN)
    return dict(zip(NAMES, plain, strict=True)) | changed


def write_csv(path: Path, rows: list[dict[str, Any]], encoding: str = "utf-8", end: str = "\n") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator=end)
        out.writeheader()
        out.writerows(rows)
    return path


def only(path: Path) -> Question:
    (question,) = bias_tests.load_published_tests(path).questions
    return question


# --- tests: the records ----------------------------------------------------------------------------------------------


def test_a_question_is_a_scenario_of_a_bias_and_its_instances_are_wordings(tmp_path: Path) -> None:
    rows = [row_of_test(n, id=str(100 + n)) for n in range(5)] + [row_of_test(9, bias="In Group Bias", id="7")]
    first, second = bias_tests.load_published_tests(write_csv(tmp_path / "t.csv", rows)).questions
    assert (first.category, second.category) == ("framing", "in_group")
    assert first.id.startswith("framing_") and first.id.split("_")[-1] == second.id.split("_")[-1]
    assert first.text == SCENARIO and [each.name for each in first.wordings] == ["1", "2", "3", "4", "5"]
    assert [each.facts["id"] for each in first.wordings] == ["100", "101", "102", "103", "104"]
    one = first.wordings[0]
    assert one.kind == "scale" and one.scale == RatioScale(-1, 0, 0) and set(one.versions) == {"control", "treatment"}
    control = one.versions["control"]
    assert control.text == "Situation:\nYou keep bees. Hive 0.\n\nPrompt:\nHow much sugar is bought?"
    assert control.options == tuple(f"step {i}" for i in range(7)) and control.values == (0, 1, 2, 3, 4, 5, 6)


@pytest.mark.parametrize(
    ("params", "target"),
    [
        ("{'k': 1, 'x_1': 4, 'x_2': 4}", 4),
        ("{'k': 1, 'x_1': 0, 'x_2': 0, 'flip_treatment': False}", 0),
        ("{'k': -1, 'x_1': 0, 'x_2': 0}", 6),
        ("{'k': -1, 'x_1': 6, 'x_2': 6}", 0),
        ("{'k': -1, 'x_1': 0, 'x_2': 0, 'flip_control': True, 'flip_treatment': True}", 0),
        ("{'k': -1, 'x_1': 0, 'x_2': 0, 'flip_treatment': True}", None),
        ("{'k': 1, 'x_1': -2, 'x_2': -3}", None),
        ("{'k': 1, 'x_1': -3, 'x_2': -3}", None),
        ("{'k': 1, 'x_1': 2.5, 'x_2': 2.5}", None),
        ("{'k': -1, 'x_1': 3, 'x_2': 3}", None),
        ("{'k': 0, 'x_1': 0, 'x_2': 0}", None),
    ],
)
def test_the_target_is_where_the_metric_says_the_answer_is_pulled(tmp_path: Path, params: str, target: float) -> None:
    wording = only(write_csv(tmp_path / "t.csv", [row_of_test(metric_params=params)])).wordings[0]
    assert wording.target == target
    if target is None:
        return
    # The published score of moving to the target, from any other option, is above 0: k times the nearer point.
    s, last = wording.scale, 6
    for start in set(range(7)) - {target}:
        a1, a2 = (last - a if s.flip_treatment else a for a in (start, target))
        assert s.k * (abs(a1 - s.x1) - abs(a2 - s.x2)) > 0


def test_versions_with_different_scales_have_no_target(tmp_path: Path) -> None:
    wording = only(write_csv(tmp_path / "t.csv", [row_of_test(treatment=version("Cold.", 11))])).wordings[0]
    assert wording.target is None and [len(v.options) for v in wording.versions.values()] == [7, 11]


@pytest.mark.parametrize(
    "name", ["plain.csv", "bom.csv", "crlf.csv", "rows.jsonl", "rows.parquet", "folder", "structs.jsonl"]
)
def test_every_container_holds_the_same_tests(tmp_path: Path, name: str) -> None:
    rows = [row_of_test(n, id=n, scenario="Ein Imker für Bienen") for n in range(3)]
    expected = bias_tests.load_published_tests(write_csv(tmp_path / "expected.csv", rows))
    path = tmp_path / "given" / name
    path.parent.mkdir()
    if name == "plain.csv":
        write_csv(path, rows)
    elif name == "bom.csv":
        write_csv(path, rows, "utf-8-sig")
    elif name == "crlf.csv":
        write_csv(path, [{k: str(v).replace("\n", "\r\n") for k, v in row.items()} for row in rows], end="\r\n")
    elif name == "rows.parquet":
        pd.DataFrame(rows).to_parquet(path)
    elif name == "folder":
        path.mkdir()
        for n, row in enumerate(rows):
            write_csv(path / f"{n}.csv", [row])
        (path / ".hidden.csv").write_text("not a table")
    else:
        if name == "structs.jsonl":
            rows = [row | {"metric_params": {"k": -1, "x_1": 0, "x_2": 0, "flip_treatment": None}} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert bias_tests.load_published_tests(path) == expected


# --- tests: what is refused ------------------------------------------------------------------------------------------


HOSTILE = {
    "__import__('os').system('touch {mark}')": "not a plain",
    "open('{mark}', 'w')": "not a plain",
    "[].append(1)": "not a plain",
    "{'k': __import__('os').getpid(), 'x_1': 0, 'x_2': 0}": "not a plain",
    "{'k': {'k': 1}, 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': [1], 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': '1', 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': True, 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': None, 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': 1j, 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': nan, 'x_1': 0, 'x_2': 0}": "not a plain",
    "{'k': 1e999, 'x_1': 0, 'x_2': 0}": "k is",
    "{'k': -1, 'x_1': -1e999, 'x_2': 0}": "x_1 is",
    "{'k': 1e999 - 1e999, 'x_1': 0, 'x_2': 0}": "not a plain",
    "{'k': 1, 'x_1': 10000000000000000000000000000, 'x_2': 0}": "x_1 is",
    "{'k': 9**9**9, 'x_1': 0, 'x_2': 0}": "not a plain",
    "{'k': 1, 'k': -1, 'x_1': 0, 'x_2': 0}": "a name occurs twice",
    "{'k': 1, 'x_1': 0}": "expected k, x_1, x_2",
    "{'k': 1, 'x_1': 0, 'x_2': 0, 'weights': 1}": "expected k, x_1, x_2",
    "{'k': 1, 'x_1': 0, 'x_2': 0, 'flip_treatment': 2}": "flip_treatment is 2",
    "{'k': 1, 'x_1': 0, 'x_2': 0, 'flip_treatment': 'yes'}": "flip_treatment is yes",
    "{1, 2}": "expected k, x_1, x_2",
    "{**{'k': 1}}": "not a plain",
    "(1, 2)": "expected k, x_1, x_2",
    "{": "not a plain",
    "\x00": "not a plain",
    "(" * 300: "not a plain",
    "[" * 200 + "]" * 200: "not a plain|expected k",
    "-" * 399 + "1": "not a plain|expected k",
    "{'k': 1, 'x_1': 0, 'x_2': 0}" + " " * 400: "more than 400",
}


@pytest.mark.parametrize("params", HOSTILE)
def test_metric_parameters_are_read_and_never_run(tmp_path: Path, params: str) -> None:
    mark = tmp_path / "ran"
    rows = [{**row_of_test(0), "metric_params": params.replace("{mark}", str(mark))}, row_of_test(1)]
    # As JSON, which carries every letter; a CSV file cannot hold all of them.
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = bias_tests.load_published_tests(path)
    assert not mark.exists() and len(read.questions[0].wordings) == 1
    (problem,) = read.problems
    assert (problem.file, problem.line, problem.kind) == ("t.jsonl", 1, "broken")
    assert any(part in problem.text for part in HOSTILE[params].split("|")), problem.text
    assert "metric_params" in problem.text and len(problem.text) < 400


def test_a_broken_row_is_told_with_its_line_and_the_others_are_kept(tmp_path: Path) -> None:
    broken = [
        row_of_test(1, control="Situation:\nNo options at all."),
        row_of_test(2, treatment=version("x").replace("Option 3:", "Option 4:")),
        row_of_test(3, treatment=version("x").replace("step 5", "")),
        row_of_test(
            4, control=version("x").replace("Situation:\nYou keep bees. x\n\nPrompt:\nHow much sugar is bought?", "")
        ),
        row_of_test(5, scenario=" "),
        row_of_test(6, control=version("x", 1)),
    ]
    path = write_csv(tmp_path / "t.csv", [row_of_test(0), *broken, row_of_test(0), row_of_test(7)])
    read = bias_tests.load_published_tests(path)
    assert [each.name for each in read.questions[0].wordings] == ["1", "2"]
    assert read.counts == {"broken": 6, "duplicate": 1}
    # Each cell spans 12 lines of the file, so a row spans 23: counted here in the file itself.
    lines = path.read_text().splitlines()
    begins = [i for i, line in enumerate(lines, 1) if line.startswith("Framing Effect")]
    assert [problem.line for problem in read.problems] == begins[1:8]
    for problem, part in zip(
        read.problems, ("Answer Options", "1, 2, 4", "option 6 is empty", "no text before"), strict=False
    ):
        assert part in problem.text
    with pytest.warns(UserWarning, match=r"7 rows of tests are left out, for instance t.csv, line \d+: "):
        bias_tests.load_published_tests(path)


def test_bytes_that_are_no_text_and_short_rows_lose_one_row_each(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [row_of_test(0), row_of_test(1, scenario="Caf\xe9 QQ"), row_of_test(2)])
    data = path.read_bytes().replace("\xe9".encode(), b"\xe9") + b"Framing Effect,only two\n"
    path.write_bytes(data)
    read = bias_tests.load_published_tests(path)
    assert len(read.questions) == 1 and len(read.questions[0].wordings) == 2
    first, second = read.problems
    assert first.text == "field 'scenario' holds bytes that are not UTF-8"
    assert second.line == data.count(b"\n") and "2 cells where the header has 5" in second.text


def test_a_row_without_parameters_is_a_problem(tmp_path: Path) -> None:
    lone = {name: value for name, value in row_of_test(1).items() if name != "metric_params"}
    (tmp_path / "t.jsonl").write_text(f"{json.dumps(row_of_test(0))}\n{json.dumps(lone)}\n")
    assert "t.jsonl, line 2: field 'metric_params'" in str(bias_tests.load_published_tests(tmp_path).problems[0])


def test_the_same_id_twice_is_told(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "t.csv", [row_of_test(0, id="4"), row_of_test(1, id="4.0")])
    read = bias_tests.load_published_tests(path)
    assert read.counts == {"duplicate": 1} and "t.csv, line 2" in read.problems[0].text


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            "bias,scenario\nFraming Effect,x\n",
            "line 2: no column control, treatment, metric_params; found bias, scenario",
        ),
        ("bias,bias\na,b\n", "line 1: a column's name occurs twice"),
        ('bias,scenario,control,treatment,metric_params\na,"b', "line 2: not readable as CSV"),
        ("", "no readable test"),
        (
            "bias,scenario,control,treatment,metric_params\n,,,,\n",
            "no readable test; t.csv, line 2: field 'bias' is empty",
        ),
    ],
)
def test_a_file_that_holds_no_tests_is_refused_by_name(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(ValueError) as error:
        bias_tests.load_published_tests(path)
    assert str(path) in str(error.value) and told in str(error.value)


def test_places_without_files_say_what_is_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"end with \.csv, \.jsonl, \.parquet in this folder, found nothing"):
        bias_tests.load_published_tests(tmp_path)
    (tmp_path / "t.xlsx").write_text("x")
    with pytest.raises(ValueError, match=r"ends with \.xlsx"):
        bias_tests.load_published_tests(tmp_path / "t.xlsx")
    (tmp_path / "t.parquet").write_text("no table")
    with pytest.raises(ValueError, match="not readable as Parquet"):
        bias_tests.load_published_tests(tmp_path / "t.parquet")
    with pytest.raises(FileNotFoundError, match="no such file or folder"):
        bias_tests.load_published_tests(tmp_path / "nowhere")
    with pytest.raises(
        ValueError, match=r"the data set a/b on the hub has no questions .*: set the parameter `questions`"
    ):
        bias_tests.load_published_tests("hub", {"repo": "a/b"})
    told = r"has no judgments for this experiment, only questions: .*file or folder"
    with pytest.raises(ValueError, match=told):
        bias_tests.load_decisions("hub", {"repo": "a/b", "questions": "x.csv"})
    with pytest.raises(ValueError, match="the hub has no judgments"):
        bias_tests.load_decisions("hub", None)


@pytest.mark.parametrize("file", ["full_dataset.csv", "train/full.parquet"])
def test_the_hub_entry_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str) -> None:
    stored = tmp_path / Path(file).name
    if stored.suffix == ".csv":
        write_csv(stored, [row_of_test()])
    else:
        pd.DataFrame([row_of_test()]).to_parquet(stored)
    asked = []

    def fetch(repo: str, filename: str, revision: str = "main") -> Path:
        asked.append((repo, filename, revision))
        return stored

    monkeypatch.setattr("helpers.datasets.hub.fetch", fetch)
    entry = {"repo": "a/b", "revision": "abc", "questions": file}
    assert len(bias_tests.load_published_tests("hub", entry).questions) == 1
    assert asked == [("a/b", file, "abc")]


def test_biases_are_called_as_the_table_of_their_metrics_calls_them() -> None:
    for name, row in published.BIASES.items():
        for spelled in (row.title, row.title.replace("-", " "), row.title.title().replace(" ", "").replace("-", "")):
            assert bias_tests.bias_name(spelled) == name
    assert bias_tests.bias_name("Effect") == "effect" and bias_tests.bias_name("Bias Effect") == "bias"


# --- decisions -------------------------------------------------------------------------------------------------------

ORDER = "[6, 5, 4, 3, 2, 1, 0]"


def line(id: object = 0, **changed: Any) -> dict[str, Any]:
    plain = {
        "id": id, "model": "GPT-4o", "control_option_order": ORDER, "control_decision": "2",
        "treatment_option_order": ORDER, "treatment_decision": "5.0", "status": "OK", "individual_score": "0.6",
        "bias": "FramingEffect",
    }  # fmt: skip
    return plain | changed


@pytest.fixture
def tests(tmp_path: Path) -> tuple[Question, ...]:
    rows = [row_of_test(n, id=n) for n in range(4)]
    return bias_tests.load_published_tests(write_csv(tmp_path / "tests.csv", rows)).questions


def test_a_line_is_two_rows_and_its_id_tells_the_test(tmp_path: Path, tests: tuple[Question, ...]) -> None:
    read = bias_tests.load_decisions(write_csv(tmp_path / "d.csv", [line(0), line(3)]), tests=tests)
    frame = read.frame
    assert tuple(frame.columns) == DECISIONS and len(frame) == 4 and not read.problems
    assert frame["question_id"].unique().tolist() == [tests[0].id] and frame["wording"].tolist() == ["1", "1", "4", "4"]
    control, treatment = frame.iloc[0], frame.iloc[1]
    assert (control["condition"], control["choice"], control["value"], control["outcome"]) == ("control", 2, 2, "ok")
    assert (treatment["condition"], treatment["choice"], treatment["score"]) == ("treatment", 5, 0.6)
    assert math.isnan(control["score"]) and math.isnan(control["partner"]) and treatment["partner"] == 0
    assert (control["order"], control["values"]) == ("6 5 4 3 2 1 0", "0 1 2 3 4 5 6")
    assert (control["options"], control["low"], control["high"], control["target"]) == (7, 0, 6, 6)
    assert (control["k"], control["x1"], control["x2"], control["flip_treatment"]) == (-1, 0, 0, False)
    assert (control["judge"], control["judge_vendor"], control["category"]) == ("GPT-4o", "gpt", "framing")
    assert (control["experiment"], control["source"], control["kind"]) == ("published", "d", "scale")
    # By hand: k (|2| - |5|) / 5 = 3 / 5, the published score.
    assert control["k"] * (control["choice"] - treatment["choice"]) / treatment["choice"] == treatment["score"]


def test_failed_lines_and_lines_without_a_decision_are_kept_as_such(
    tmp_path: Path, tests: tuple[Question, ...]
) -> None:
    rows = [
        line(0, status="ERROR", control_decision="2", treatment_decision="", individual_score=""),
        line(1, control_decision="-1", individual_score="nan"),
        line(2, treatment_decision="None"),
    ]
    frame = bias_tests.load_decisions(write_csv(tmp_path / "d.csv", rows), tests=tests).frame
    assert frame["outcome"].tolist() == ["error", "error", "no_option", "ok", "ok", "no_option"]
    assert frame["choice"].isna().tolist() == [True, True, True, False, False, True]


def test_without_tests_each_line_is_a_question_of_its_own_and_that_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "decisions"
    (folder / "Llama").mkdir(parents=True)
    rows = [{k: v for k, v in line(n).items() if k != "model"} for n in range(2)]
    write_csv(folder / "Llama" / "Llama-3.1-8B.csv", rows)
    write_csv(folder / "other.csv", [line(0, control_option_order="", control_options="['a', 'b', 'c']")])
    read = bias_tests.load_decisions(folder)
    assert set(read.frame["judge"]) == {"Llama-3.1-8B", "GPT-4o"} and set(read.frame["source"]) == {"decisions"}
    assert set(read.frame["question_id"]) == {"framing_0", "framing_1"}
    assert read.frame[["k", "x1", "x2", "target"]].isna().all(axis=None)
    assert read.counts == {"unknown_test": 2} and "2 lines on tests" in read.problems[0].text
    assert "intervals are too narrow" in read.problems[0].text and "`questions`" in read.problems[0].text
    three = read.frame[read.frame["judge"].eq("GPT-4o") & read.frame["condition"].eq("control")].iloc[0]
    assert (three["options"], three["order"], three["values"]) == (3, "", "0 1 2")


BROKEN = {
    "status": ("DONE", "expected OK or ERROR"),
    "control_decision": ("7", "expected 0 to 6"),
    "treatment_decision": ("2.5", "expected 0 to 6"),
    "control_option_order": ("[0, 1, 1, 3, 4, 5, 6]", "each once"),
    "treatment_option_order": ("__import__('os')", "not a plain list"),
    "individual_score": ("1e999", "expected a number"),
    "bias": ("HaloEffect", "test 1 is of framing"),
    "id": ("", "field 'id' is empty"),
}


@pytest.mark.parametrize("field", BROKEN)
def test_a_broken_line_is_told_and_the_others_are_kept(tmp_path: Path, tests: tuple[Question, ...], field: str) -> None:
    value, told = BROKEN[field]
    path = write_csv(tmp_path / "d.csv", [line(0), line(1, **({} if field == "id" else {field: value})), line(2)])
    if field == "id":
        path = write_csv(path, [line(0), line(value), line(2)])
    read = bias_tests.load_decisions(path, tests=tests)
    assert len(read.frame) == 4 and read.counts == {"broken": 1}
    assert str(read.problems[0]).startswith("d.csv, line 3: ") and told in read.problems[0].text


def test_a_later_line_of_one_model_on_one_test_is_not_read(tmp_path: Path, tests: tuple[Question, ...]) -> None:
    rows = [line(0), line("0.0", control_decision="6"), line(0, model="Random")]
    read = bias_tests.load_decisions(write_csv(tmp_path / "d.csv", rows), tests=tests)
    assert read.counts == {"duplicate": 1} and read.frame["judge"].tolist() == ["GPT-4o"] * 2 + ["Random"] * 2
    assert read.frame["choice"].tolist() == [2, 5, 2, 5]


def test_a_file_without_decisions_is_refused_by_name(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "d.csv", [line(0, status="?")])
    with pytest.raises(ValueError, match=r"d.csv: no readable decision; d.csv, line 2: field 'status' is '\?'"):
        bias_tests.load_decisions(path)
    with pytest.raises(ValueError, match="no column id, control_decision, treatment_decision, status"):
        bias_tests.load_decisions(write_csv(tmp_path / "t.csv", [row_of_test()]))
