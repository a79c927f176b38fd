"""What is wrong with a file is told before anything is computed; real public verdicts go through the whole of it."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from helpers import __main__ as command
from helpers.analyze import Analysis, analyze, reading as analyze_reading, saying, summary
from helpers.analyze.reading import verdict_of
from helpers.datasets import reading
from helpers.types import Estimate
from tests.case_tables import load_cases
from tests.verdict_files import pair_rows, written

CASES = load_cases("analyze_errors")

GOOD = {"judge": "j", "question": "q1", "candidates": ["x", "y"], "verdict": "A"}


def file_of(tmp_path: Path, *changes: dict[str, Any]) -> Path:
    """A file of one good row, and one row for each change of it."""
    rows = [GOOD, *({**GOOD, "question": f"q{n}", **change} for n, change in enumerate(changes, 2))]
    return written(rows, tmp_path / "v.jsonl")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        *CASES["a_bad_cell_is_told_with_its_line"],
        (
            {"candidates": [f"m{n}" for n in range(analyze_reading.MOST_CANDIDATES + 1)]},
            "line 2: 65 candidates; at most 64",
        ),
        ({"judge": "j" * 201}, "line 2: judge holds 201 letters; a name has at most 200"),
        ({"verdict": "A" * 20001}, "line 2: column 'verdict' holds 20,001 letters; at most 20,000"),
    ],
)
def test_a_bad_cell_is_told_with_its_line(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    if "repeat" in change:
        path = written([GOOD | {"repeat": 0}, GOOD | change], tmp_path / "v.jsonl")
    else:
        path = file_of(tmp_path, change)
    with pytest.raises(ValueError, match=told):
        analyze(path)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        pytest.param(
            [{}, {}, {"candidates": ["x", "y", "z"], "verdict": "z > x > y"}, {"verdict": [1, 2]}],
            r"line 1 holds a label .*'A'.*; .*line 3 holds a ranking .*; .*line 4 holds a score .*split it",
            id="styles",
        ),
        pytest.param(
            [{"candidates": [*names], "verdict": [*names]} for names in ("xyz", "xyzw")],
            r"line 1 ranks 3 candidates, .*line 2 4",
            id="sizes",
        ),
        pytest.param(
            [{"judge_vendor": "a"}, {"judge_vendor": "b"}],
            "line 2: judge 'j' is of the vendor 'b', and of 'a' before",
            id="vendor of a judge",
        ),
        pytest.param(
            [{"candidate_vendors": ["a", "b"]}, {"candidate_vendors": ["a", "c"]}],
            "line 2: candidate 'y' is of the vendor 'c', and of 'b' before",
            id="vendor of a candidate",
        ),
    ],
)
def test_lines_that_contradict_each_other_are_refused(tmp_path: Path, changes: list[dict[str, Any]], told: str) -> None:
    rows = [{**GOOD, "question": f"q{n}", **change} for n, change in enumerate(changes)]
    with pytest.raises(ValueError, match=told):
        analyze(written(rows, tmp_path / "v.jsonl"))


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


@pytest.mark.parametrize(("name", "content", "told"), CASES["a_file_that_is_none_is_told"])  # fmt: skip
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
            assert found.judgments == 24 and set(found.file.frame["judge"]) == {"é"}
            assert "12 of 24 verdicts are C, a tie as FastChat writes it." in found.notes
    path.write_bytes(rows.encode("utf-16"))
    with pytest.raises(ValueError, match="UTF-16 text; save it as UTF-8"):
        analyze(path)
    path.write_bytes(rows.encode("latin-1"))
    with pytest.raises(ValueError, match="line 2: not UTF-8 text; save it as UTF-8"):
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
        ('{"judge": "j", "judge": "k", "question": 1}', "line 2, .*'judge' occurs twice"),
        ('{"judge": "j", "question": NaN}', "line 2, .*NaN"),
        ("[" * 100_000, "line 2, .*nested too deeply"),
    ],
)
def test_packed_lines_are_read_as_strictly_as_others(tmp_path: Path, line: str, told: str) -> None:
    text = f"{json.dumps(GOOD)}\n{line}\n".encode()
    for name, data in (("v.jsonl", text), ("v.jsonl.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=told):
            analyze(tmp_path / name)


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
    with pytest.raises(ValueError, match=r"nothing can be written into .*--to names another folder"):
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
        with pytest.raises(ValueError, match="is a ranking of labels and a ranking of names"):
            verdict_of(text, shown)
        return
    assert verdict_of(text, shown).value == value


def test_a_ranking_that_leaves_one_out_is_lost_not_repaired() -> None:
    for text in ("x > y", "x > y > y", '["x", "y"]'):
        assert verdict_of(text, ("x", "y", "z")) == ("", None, "invalid_ranking")
    assert verdict_of("null", ("x", "y")).outcome == "unparsed"
    assert verdict_of("Truncated", ("x", "y")).outcome == "truncated"


# --- real verdicts ----------------------------------------------------------------------------------------------------


def only(found: Analysis, id: str, **where: str) -> Estimate:
    here = [each for each in found.estimates if each.id == id and dict(each.where) == where]
    assert len(here) == 1, f"{id} {where}: {[dict(e.where) for e in found.estimates if e.id == id][:9]}"
    return here[0]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written_by(found: Analysis) -> dict[str, int]:
    """How often each verdict was given, by all judges."""
    return found.file.counts.groupby("verdict")["n"].sum().to_dict()


def test_fastchat_pairs(real_data: Path) -> None:
    found = analyze(real_data / "mt_bench" / "gpt4_pair_phi3.jsonl")
    at = {"judge": "gpt-4", "candidate": found.file.frame["candidate"].iloc[0]}
    pairs = Counter({"model_1 / model_2": 16, "model_2 / model_1": 2, "same": 20 + 18 + 8, "a tie once": 5 + 3 + 1})
    read = sum(pairs.values())
    assert only(found, "primacy_share", **at).value == pytest.approx(16 / read)
    assert only(found, "recency_share", **at).value == pytest.approx(2 / read)
    assert only(found, "position_consistency", **at).value == pytest.approx(46 / read)
    assert only(found, "invalid_share", **at).value == pytest.approx(2 / 75)
    assert only(found, "unreadable_share", judge="gpt-4").value == pytest.approx(3 / 150)


@pytest.mark.parametrize(
    ("judge", "consistent", "answers", "pairs"),
    [
        ("gpt-4-0613", 3914, 4800, (1957, 121, 150)),
        pytest.param("gpt-3.5-turbo-1106", 3327, 4781, (1657, 264, 354), marks=pytest.mark.slow),
        pytest.param("gemini-pro", 2751, 4787, (1369, 87, 714), marks=pytest.mark.slow),
    ],
)
def test_position_bias_analyzer(
    real_data: Path, judge: str, consistent: int, answers: int, pairs: tuple[int, int, int]
) -> None:
    found = analyze(real_data / "mt_bench" / "position_bias_analyzer" / f"{judge}.jsonl")
    each = only(found, "position_consistency", judge=judge)
    unread = round(only(found, "unreadable_share", judge=judge).value * 4800)
    agree, first, second = pairs
    assert round(each.value * each.n) == agree
    assert round(only(found, "primacy_share", judge=judge).value * each.n) == first
    assert round(only(found, "recency_share", judge=judge).value * each.n) == second
    assert 4800 - unread == answers
    # Their own rule: both directions of a pair count, and an answer whose partner was not read is consistent.
    alone = answers - 2 * each.n
    assert 2 * agree + alone == consistent


def test_human_votes_and_both_order_verdicts(real_data: Path) -> None:
    votes = analyze(real_data / "mt_bench" / "human_judgments.jsonl")
    assert written_by(votes) == {"model_a": 1293, "model_b": 1282, "tie": 780}
    assert votes.file.frame["judge"].nunique() == 65 and votes.judgments == 3355
    pairs = analyze(real_data / "mt_bench" / "gpt4_pair_judgments.jsonl")
    assert written_by(pairs) == {"model_b": 1610, "tie (inconsistent)": 380, "tie": 220, "model_a": 190}
    assert only(pairs, "both_order_inconsistent", turn="all").value == pytest.approx(380 / 2400)
    for turn, count in (("1", 188), ("2", 192)):
        each = only(pairs, "both_order_inconsistent", turn=turn)
        assert each.value == pytest.approx(count / 1200) and each.clusters == 80


def test_single_scores(real_data: Path) -> None:
    found = analyze(real_data / "mt_bench" / "gpt4_single_phi3_dpo.jsonl")
    (mean,) = [each for each in found.estimates if each.id == "candidate_score_mean"]
    assert mean.value == pytest.approx(8.2) and (mean.n, mean.clusters) == (160, 80)
    bench = analyze(real_data / "mt_bench" / "arena_bench_v1_single_scores.jsonl")
    expected = json.loads((real_data / "mt_bench" / "expected_values.json").read_text(encoding="utf-8"))
    means = expected["arena_bench_v1"]["mean_by_model"]
    found_means = {e.where["candidate"]: e for e in bench.estimates if e.id == "candidate_score_mean"}
    assert len(found_means) == 15 and sum(each.n for each in found_means.values()) == 4500 - 38
    for model, value in means.items():
        assert found_means[model].value == pytest.approx(value, abs=5e-5)
    assert bench.losses["unparsed"].sum() == 38


def test_llmbar_cells_are_those_of_its_statistics(real_data: Path) -> None:
    folder = real_data / "pairwise"
    found = analyze(folder / "llmbar" / "verdicts.jsonl")
    cells = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))["llmbar"]["stats"]
    checked = 0
    for name, cell in cells.items():
        subset, evaluator, prompt = name.split("|")
        each = only(found, "gold_accuracy_by_category", judge=f"{evaluator}/{prompt}", category=subset)
        assert round(each.value * each.n) == cell["correct_False"] + cell["correct_True"], name
        checked += 1
    assert checked == 150
    nulls = Counter(
        f"{row['evaluator']}/{row['prompt']}"
        for row in lines(folder / "llmbar" / "verdicts.jsonl")
        if row["winner"] is None and row["winner_swapped"] is None
    )
    for judge in ("GPT-4/Swap", "ChatGPT/CoT", "Falcon/Vanilla"):
        evaluator, prompt = judge.split("/")
        equal = sum(cell["equal"] for name, cell in cells.items() if name.endswith(f"|{evaluator}|{prompt}"))
        each = only(found, "position_consistency", judge=judge, candidate="better")
        assert round(each.value * each.n) == equal - nulls[judge]  # two unreadable verdicts count as equal there


def test_pandalm(real_data: Path) -> None:
    path = real_data / "pairwise" / "pandalm" / "testset_verdicts.jsonl"
    found = analyze(path)
    ties = 0
    for row in lines(path):
        (vote, count), *_ = Counter(row["annotators"]).most_common(1)
        ties += row["gpt-3.5-turbo"] == "Tie" and vote == 0 and count > 1
    own = only(found, "gold_accuracy", judge="pandalm-7b")
    assert (round(own.value * own.n), own.n) == (667, 999)
    assert own.clusters == 165, "items of one instruction are one question"
    other = only(found, "gold_accuracy", judge="gpt-3.5-turbo")
    # 692 where "Tie" is not taken for 0; 25 replies are garbage.
    assert (round(other.value * other.n), other.n) == (692 + ties, 999 - 25)
    assert written_by(found)["A=B"] == 38 + 107


def test_llm_eval_first_places(real_data: Path) -> None:
    found = analyze(real_data / "llm_eval" / "exp3_full_hint_top1.jsonl")
    expected = {
        "claude_fast": (25, 13, 42),
        "claude_thinking": (30, 14, 36),
        "gemini_fast": (13, 20, 22),
        "gemini_thinking": (11, 18, 16),
        "gpt_fast": (16, 17, 47),
        "gpt_thinking": (18, 7, 55),
    }
    counts = found.file.counts
    for judge, numbers in expected.items():
        mine = counts[counts["judge"] == judge]
        vendors = [
            mine.loc[mine["verdict"].str.startswith(vendor), "n"].sum() for vendor in ("claude", "gemini", "gpt")
        ]
        assert tuple(vendors) == numbers
    for vendor, own, of in (("claude", 55, 160), ("gpt", 102, 160), ("gemini", 38, 100)):
        each = only(found, "self_bias_as_counted", vendor=vendor, hint="full")
        assert (each.value, each.n) == (pytest.approx(own / of), of)


def test_arena_hard_classes_and_trees(real_data: Path) -> None:
    expected = json.loads((real_data / "arena_hard" / "expected_position_bias.json").read_text(encoding="utf-8"))
    assert expected  # the README's table in full
    found = analyze(real_data / "arena_hard" / "v2.0" / "gemini-2.5-flash" / "gemini-2.0-flash-lite-001.jsonl")
    at = {"judge": "gemini-2.5-flash", "candidate": "gemini-2.0-flash-lite-001"}
    for id, count in (("no_bias", 28), ("weak_bias", 14), ("significant_bias", 11)):
        each = only(found, f"{id}_published", **at)
        assert each.value == pytest.approx(count / 53) and each.n == 53
    tree = analyze(real_data / "arena_hard" / "v0.1-greek")
    assert {each.where["judge"] for each in tree.estimates if "judge" in each.where} == {
        "claude-3.5-sonnet-v2",
        "gpt-4o",
    }
    assert "favour" in summary(tree)


def test_arena_battles_hold_no_places(real_data: Path) -> None:
    found = analyze(real_data / "arena_hard" / "arena_hard_battles.jsonl")
    assert found.file.format == "arena-battles"
    assert not [each for each in found.estimates if each.id.startswith("first_")]
