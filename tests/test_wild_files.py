"""Files as they lie about: what can be read is read, and the rest is named in one sentence with the way out."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from helpers import __main__ as command
from helpers.analyze import analyze, formats
from helpers.datasets import load_games, load_pairwise
from tests.runs import value
from tests.verdict_files import pair_rows, ranking_rows, score_rows, written

TIDY = [{name: row[name] for name in ("judge", "question", "candidates", "verdict")} for row in pair_rows(questions=6)]


def table(rows: list[dict[str, Any]], end: str = "\n", separator: str = ",") -> str:
    """Rows as CSV."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]), delimiter=separator, lineterminator=end)
    writer.writeheader()
    writer.writerows({key: "|".join(v) if isinstance(v, list) else v for key, v in row.items()} for row in rows)
    return file.getvalue()


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- what a file is ---------------------------------------------------------------------------------------------------

PLAIN = table(TIDY)
READ = {
    "old_mac.csv": table(TIDY, "\r"),
    "windows.csv": table(TIDY, "\r\n"),
    "sep.csv": "sep=;\r\n" + table(TIDY, "\r\n", ";"),
    "quoted_sep.csv": '"sep=\t"\n' + table(TIDY, separator="\t"),
    "comments.csv": "# made by a run\n# of last week\n" + PLAIN,
    "commas.csv": "\n".join(f"{line},,," for line in PLAIN.splitlines()) + "\n",
    "lines.ndjson": lines(TIDY),
    "mac_lines.jsonl": lines(TIDY).replace("\n", "\r"),
    "packed.jsonl.gz": gzip.compress(lines(TIDY).encode()),
    "lines_named_so.json": lines(TIDY),
}


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read(tmp_path: Path, name: str) -> None:
    held = formats.load(put(tmp_path / name, READ[name]))
    assert len(held.frame) == len(TIDY) and held.format == "tidy"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return file.getvalue()


by_column = {name: {str(at): row[name] for at, row in enumerate(TIDY)} for name in TIDY[0]}
NAMED = {
    "gzip.csv": (gzip.compress(PLAIN.encode()), r"gzip; name it with \.gz"),
    "gzip.jsonl": (gzip.compress(PLAIN.encode()), r"gzip; name it with \.gz"),
    "book.csv": (zipped(), "a zip file or Excel workbook; .*CSV UTF-8"),
    "old_book.csv": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Excel workbook"),
    "pointer.csv": ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "git lfs pull"),
    "pointer.jsonl": ("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n", "git lfs pull"),
    "annex.json": ("/annex/objects/SHA256E-s12--0", "git annex get"),
    "page.json": ("\n <!DOCTYPE html>\n<html><body>Not found</body></html>", "a web page"),
    "wide.csv": (PLAIN.encode("utf-16"), "UTF-16 text; save it as UTF-8"),
    "latin.csv": (PLAIN.replace("judge_x", "rîchter").encode("latin-1"), "line 2: not UTF-8 text; save it as UTF-8"),
    "parquet.csv": (b"PAR1" + bytes(40), r"Parquet; name it \.parquet"),
    "report.json": (b"%PDF-1.7\n", "a PDF"),
    "base.csv": (b"SQLite format 3\x00" + bytes(80), "an SQLite database"),
    "empty.csv": ("", "the file is empty"),
    "empty.jsonl": ("", "no record in this file"),
    "empty.json": ("", "not readable as JSON"),
    "columns.json": (json.dumps(by_column), "column-wise JSON; .*orient='records'"),
    "lists.json": (json.dumps({name: [row[name] for row in TIDY] for name in TIDY[0]}), "column-wise JSON"),
    "split.json": (json.dumps({"columns": ["judge"], "index": [0], "data": [["j"]]}), "column-wise JSON"),
    "wrapped.json": (json.dumps({"meta": {}, "verdicts": TIDY}), "one object whose list 'verdicts' holds the records"),
    "deep.json": (json.dumps({"run": {"rows": TIDY}}), "whose list 'run.rows' holds the records"),
    "manifest.json": (json.dumps({"name": "run", "data": "verdicts.jsonl"}), "a list of files.*'verdicts.jsonl'"),
    "torn.csv.gz": (gzip.compress(PLAIN.encode())[:60], "not readable as gzip"),
    "torn.jsonl.gz": (gzip.compress(lines(TIDY).encode())[:60], "not readable as gzip"),
}


@pytest.mark.parametrize("name", NAMED)
def test_what_cannot_be_read_is_named_with_the_way_out(tmp_path: Path, name: str) -> None:
    content, words = NAMED[name]
    with pytest.raises(ValueError, match=words) as error:
        formats.load(put(tmp_path / name, content))
    assert str(error.value).startswith(str(tmp_path / name)) and "\n" not in str(error.value)


def test_a_column_without_a_name_that_holds_something_is_unknown(tmp_path: Path) -> None:
    path = put(tmp_path / "v.csv", "\n".join(f"{at},{line}" for at, line in enumerate(PLAIN.splitlines())))
    path = put(path, path.read_text().removeprefix("0"))
    with pytest.raises(ValueError, match=r"unknown column ''.*--ignore-extra"):
        formats.load(path)
    assert len(formats.load(path, ignore_extra=True).frame) == len(TIDY)


def test_words_for_no_verdict_and_labels_of_the_arena(tmp_path: Path) -> None:
    nothing = ["NaN", "#N/A", "<NA>", "NULL", "None", "", "n/a"]
    rows = [TIDY[0] | {"question": str(at), "verdict": word} for at, word in enumerate(nothing)]
    frame = formats.load(put(tmp_path / "v.csv", table(rows))).frame
    assert frame["verdict"].isna().all() and set(frame["outcome"]) == {"unparsed"}
    ties = ["tie (bothbad)", "both_bad", "tie"]
    rows = [TIDY[0] | {"question": str(at), "verdict": word} for at, word in enumerate(ties)]
    assert set(formats.load(put(tmp_path / "v.csv", table(rows))).frame["verdict"]) == {"A=B"}
    votes = [{"judge": "p", "model_a": "a", "model_b": "b", "question_id": at, "winner": word}
             for at, word in enumerate(ties)]  # fmt: skip
    assert set(formats.load(put(tmp_path / "w.jsonl", lines(votes))).frame["verdict"]) == {"A=B"}


def test_names_of_columns_can_be_given(tmp_path: Path) -> None:
    other = {"judge": "annotator", "question": "task", "candidates": "systems", "verdict": "winner"}
    rows = [{other[name]: cell for name, cell in row.items()} for row in TIDY]
    for path in (put(tmp_path / "v.csv", table(rows)), put(tmp_path / "v.jsonl", lines(rows)),
                 written(rows, tmp_path / "v.parquet")):  # fmt: skip
        assert len(formats.load(path, names=other).frame) == len(TIDY)
        with pytest.raises(ValueError, match=r"--map referee: no such column\. Valid: judge"):
            formats.load(path, names={"referee": "annotator"})
    options = [option for ours, theirs in other.items() for option in ("--map", f"{ours}={theirs}")]
    call = ["analyze", str(tmp_path / "v.csv"), "--out", str(tmp_path / "out"), *options]
    assert "24 judgments" in CliRunner().invoke(command.main, call, catch_exceptions=False).output


def test_grades_around_zero_are_verdicts_where_their_direction_is_given(tmp_path: Path) -> None:
    grades = [2, 1, 0, -1, -2, "n/a"]
    rows = [TIDY[0] | {"question": str(at), "verdict": grade} for at, grade in enumerate(grades)]
    path = put(tmp_path / "v.csv", table(rows))
    for positive, labels in (("first", ["A>>B", "A>B", "A=B", "B>A", "B>>A"]), ("second", ["B>>A", "B>A", "A=B"])):
        found = formats.load(path, positive=positive).frame["verdict"]
        assert found.tolist()[: len(labels)] == labels and found.isna().sum() == 1
    with pytest.raises(ValueError, match="a bare number does not tell who won"):
        formats.load(path)
    with pytest.raises(ValueError, match="positive 'left'; valid: first, second"):
        formats.load(path, positive="left")


def test_an_unknown_format_names_the_nearest_first(tmp_path: Path) -> None:
    path = put(tmp_path / "v.jsonl", lines([{"question_id": 1, "model": "m", "mark": 3}]))
    with pytest.raises(ValueError, match=r"are of no known format: fastchat-single .*tidy .*--map"):
        formats.load(path)


# --- questions, items, names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["Why?\n- one\n- two", "Tell me at length " * 30, "a\tb"])
def test_a_question_may_be_named_by_its_text(tmp_path: Path, text: str) -> None:
    rows = [row | {"question": f"{text}{row['question']}"} for row in TIDY]
    held = formats.load(put(tmp_path / "v.csv", table(rows)))
    names = held.frame["question_id"].unique()
    assert len(names) == 6 and all(len(name) <= 60 and name.isprintable() for name in names)
    assert "24 rows name their question by its text" in held.notes[0]
    with pytest.raises(ValueError, match=r"judge holds 450 letters|holds a sign"):
        formats.load(put(tmp_path / "v.csv", table([row | {"judge": "x" * 450} for row in TIDY])))


def test_items_of_a_question_are_judged_one_by_one_and_vary_together(tmp_path: Path) -> None:
    rows = [row | {"item": turn} for row in TIDY for turn in ("turn 1", "turn 2")]
    held = formats.load(put(tmp_path / "v.csv", table(rows)))
    assert len(held.frame) == 48 and held.frame["question_id"].nunique() == 12
    assert held.frame["cluster"].nunique() == 6
    found = analyze(tmp_path / "v.csv")
    each = next(each for each in found.estimates if each.id == "first_place_share")
    assert (each.n, each.clusters) == (24, 6)


def test_names_that_differ_in_capitals_alone_are_noted(tmp_path: Path) -> None:
    rows = [row | {"judge": row["judge"].upper() if at % 2 else row["judge"]} for at, row in enumerate(TIDY)]
    notes = formats.load(put(tmp_path / "v.csv", table(rows))).notes
    assert any("capitals alone" in note and "JUDGE_X and judge_x" in note for note in notes)
    assert not any("capitals" in note for note in formats.load(put(tmp_path / "w.csv", PLAIN)).notes)


# --- formats ----------------------------------------------------------------------------------------------------------


def bench(pair: int, one: Any, two: Any, label: str = "A>B", **more: Any) -> dict[str, Any]:
    judged = [{"judgment": {"judge_model": "gpt-9", "response": "..."}, "decision": each} for each in (one, two)]
    about = {"pair_id": f"p{pair}", "source": "code", "question": "?", "response_model": "m", "response_A": "x",
             "response_B": "y", "label": label, "judge_name": "prompted"}  # fmt: skip
    return about | {"judgments": judged} | more


def test_judgebench_has_both_orders_and_gold(tmp_path: Path) -> None:
    rows = [bench(1, "A>B", "B>A"), bench(2, "A>B", "A>B", "B>A"), bench(3, None, "A=B"), bench(4, "B>A", "B>A")]
    path = put(tmp_path / "out.jsonl", lines(rows))
    frame = load_pairwise(path, "judgebench")
    assert frame["verdict"].astype(object).where(frame["verdict"].notna(), None).tolist() == [
        "A>B", "B>A", "A>B", "A>B", None, "A=B", "B>A", "B>A",
    ]  # fmt: skip
    assert frame["first"].tolist() == ["baseline", "candidate"] * 4
    assert frame["gold"].tolist() == [0, 0, 1, 1, 0, 0, 0, 0] and set(frame["judge_vendor"]) == {"gpt"}
    assert set(load_games(path).frame["judge"]) == {"prompted"} and set(frame["category"]) == {"code"}
    found = analyze(path)
    # Right are both of pair 1, and one order each of pairs 2 and 4; the tie is wrong.
    assert value(found.estimates, "gold_accuracy", judge="prompted") == pytest.approx(4 / 7)
    assert value(found.estimates, "first_place_share", judge="prompted") == pytest.approx(3 / 6)
    with pytest.raises(ValueError, match=r"line 1.*'judgments' holds"):
        load_pairwise(put(path, lines([bench(1, "A>B", "B>A", judgments="A")])), "judgebench")
    for label in ("C", ["A>B"]):
        with pytest.raises(ValueError, match=r"line 1.*'label' holds"):
            load_pairwise(put(path, lines([bench(1, "A>B", "B>A", label=label)])), "judgebench")


@pytest.mark.parametrize("repeats", [False, True])
def test_two_scores_of_a_pair_in_both_orders_are_a_verdict_and_an_effect_of_place(
    tmp_path: Path, repeats: bool
) -> None:
    # The first place is worth a point, x a point more than y.
    rows = []
    for question in range(12):
        for at, shown in enumerate((("x", "y"), ("y", "x"))):
            points = [5 + question % 3 + (name == "x") + (place == 0) for place, name in enumerate(shown)]
            rows.append({"judge": "j", "question": question, "candidates": list(shown), "verdict": json.dumps(points)})
            rows[-1] |= {"repeat": at} if repeats else {}
    found = analyze(put(tmp_path / "v.csv", table(rows)))
    assert found.file.style == "pairwise" and found.judgments == 24
    assert value(found.estimates, "first_place_score_effect", judge="j") == pytest.approx(1.0)
    assert value(found.estimates, "candidate_score_mean", candidate="x") == pytest.approx(7.5)
    # Where x stands second the place and the candidate are worth the same.
    assert value(found.estimates, "candidate_win_rate", candidate="x") == pytest.approx(0.75)
    assert any(each.id == "first_position_effect" for each in found.estimates)
    one_order = analyze(put(tmp_path / "w.csv", table(rows[::2])))
    assert one_order.file.style == "score", "without the other order they stay scores"


def test_wide_files_of_pairs_are_votes(tmp_path: Path) -> None:
    rows = [{"id": at, "model_a": "m", "model_b": "n", "winner": w, "note": "x"}
            for at, w in enumerate(["model_a", "model_b", "tie"] * 4)]  # fmt: skip
    for path in (put(tmp_path / "v.csv", table(rows)), put(tmp_path / "w.csv", table(rows, separator=";")),
                 put(tmp_path / "v.jsonl", lines(rows))):  # fmt: skip
        found = analyze(path)
        assert value(found.estimates, "candidate_win_rate", candidate="m") == pytest.approx(0.5)
        assert not [each for each in found.estimates if each.id.startswith("first_")]
        assert found.file.frame["question_id"].nunique() == 12 and set(found.file.frame["judge"]) == {"unknown"}
    with pytest.raises(ValueError, match=r"line 3.*'winner' holds"):
        analyze(put(tmp_path / "v.csv", table([rows[0], rows[1] | {"winner": "n"}])))


def annotation(at: int, preference: float | None, raw: Any = None, one: str = "short", two: str = "much longer"):
    return {"instruction": f"Do {at}", "output_1": one, "output_2": two, "generator_1": "ref", "generator_2": "mine",
            "annotator": "a", "preference": preference, "raw_completion": raw}  # fmt: skip


def test_alpaca_has_lengths_and_an_order_where_its_letters_show_one(tmp_path: Path) -> None:
    rows = [
        annotation(1, 2.0, "m"),  # the candidate won as the first
        annotation(2, 2.0, "M"),  # and as the second
        annotation(3, 1.0, {"text": "M"}),  # the reference won as the second
        annotation(4, 1.1, "Output (a)"),
        annotation(5, 1.5, "m"),
        annotation(6, 2.0, "I prefer m"),
        annotation(7, None, "m"),
    ]
    frame = load_pairwise(put(tmp_path / "annotations.json", json.dumps(rows)), "alpaca-eval")
    alone = [{name: value for name, value in row.items() if name != "output_1"} for row in rows]
    assert "length_candidate" not in load_pairwise(put(tmp_path / "alone.json", json.dumps(alone)), "alpaca-eval")
    known = frame["condition"] == "none"
    assert known.tolist() == [True] * 4 + [False] * 3
    assert frame.loc[known, "first"].tolist() == ["candidate", "baseline", "candidate", "baseline"]
    assert frame.loc[known, "verdict"].tolist() == ["A>B", "B>A", "B>A", "A>B"]
    found = analyze(tmp_path / "annotations.json")
    assert value(found.estimates, "longer_win_rate", judge="a") == pytest.approx(3 / 5)
    assert value(found.estimates, "candidate_win_rate", candidate="mine") == pytest.approx((1 + 1 + 0.1 + 0.5 + 1) / 6)
    assert value(found.estimates, "first_place_share", judge="a") == pytest.approx(0.5)
    assert any("The shown order is known of 4 of 7 verdicts" in note for note in found.notes)


def log(samples: int, status: str = "success", expected: int | None = None, **head: Any) -> dict[str, Any]:
    held = [{"id": at, "epoch": 1, "scores": {"j": {"value": "C"}}} for at in range(samples)]
    about = {"task": "t", "model": "m", "dataset": {"samples": expected or samples}} | head
    results = {"scores": [{"name": "j", "metrics": {"stderr": {"value": float("nan")}}}]}
    return {"version": 2, "status": status, "eval": about, "plan": {}, "results": results, "samples": held}


def test_logs_of_inspect_with_nan_are_known_and_unfinished_ones_are_noted(tmp_path: Path) -> None:
    held = formats.load(put(tmp_path / "done.json", json.dumps(log(12))))
    assert held.format == "inspect" and len(held.frame) == 12 and not any("status" in note for note in held.notes)
    held = formats.load(put(tmp_path / "stopped.json", json.dumps(log(12, "cancelled", 500))))
    assert any("stopped.json: status cancelled, 12 of 500 samples." in note for note in held.notes)
    failed = log(12, "error")
    failed["samples"][3] |= {"error": {"message": "boom"}}
    held = formats.load(put(tmp_path / "failed.json", json.dumps(failed)))
    assert any("status error, 12 samples, 1 of them ended in an error" in note for note in held.notes)
    parts = log(3)
    parts["samples"][0]["scores"]["j"]["value"] = [1, 0, float("nan")]
    frame = formats.load(put(tmp_path / "parts.json", json.dumps(parts))).frame
    assert {"j", "j/1", "j/2", "j/3"} == set(frame["judge"]) and frame["score"].isna().sum() == 1


def test_a_folder_of_an_eval_set_counts_each_task_once(tmp_path: Path) -> None:
    first = log(4, "error", 12, task_id="T", run_id="one")
    again = log(12, task_id="T", run_id="two")
    other = log(6, task_id="U", run_id="two") | {}
    other["eval"] |= {"task": "u"}
    for name, content in (("a", first), ("b", again), ("c", other), ("logs", {"a.json": {}}), ("eval-set", {})):
        put(tmp_path / f"{name}.json", json.dumps(content))
    held = formats.load(tmp_path)
    assert len(held.frame) == 18 and set(held.frame["repeat"]) == {0}
    assert any("1 earlier attempts at the same tasks are not read" in note for note in held.notes)


def test_scores_off_the_scale_are_unreadable_and_counted(tmp_path: Path) -> None:
    rows = [{"question_id": at, "model": "m", "turn": 1, "judge": ["gpt-4", "v1"], "score": score}
            for at, score in enumerate([7, 8, 70, 0, -1, None, 10, 1])]  # fmt: skip
    held = formats.load(put(tmp_path / "single.jsonl", lines(rows)))
    assert held.frame["score"].notna().sum() == 4 and (held.frame["outcome"] == "unparsed").sum() == 4
    assert any("2 scores such as 70 lie outside 1 to 10" in note for note in held.notes)


def test_a_second_game_that_was_never_asked_is_not_lost(tmp_path: Path) -> None:
    games = [[{"score": "A>B"}], [{"score": "A>B"}, None], [{"score": "A>B"}, {"score": "B>A"}]]
    rows = [{"uid": str(at), "model": "m", "judge": "j", "games": each} for at, each in enumerate(games)]
    frame = formats.load(put(tmp_path / "arena.jsonl", lines(rows))).frame
    assert frame["outcome"].tolist() == ["ok", "ok", "missing", "ok", "ok"]


def test_lines_on_the_same_are_told_apart_by_their_time_stamps(tmp_path: Path) -> None:
    pair = {"question_id": 1, "model_1": "a", "model_2": "b", "judge": "j", "turn": 1, "g1_winner": "model_1"}
    rows = [pair | {"g2_winner": "model_2", "tstamp": 20.5}, pair | {"g2_winner": "tie", "tstamp": 10.5}]
    frame = load_pairwise(put(tmp_path / "pair.jsonl", lines(rows)), "fastchat-pair")
    assert frame["repeat"].tolist() == [1, 1, 0, 0]
    with pytest.raises(ValueError, match=r"more than once.*lines 1, 2"):
        load_pairwise(put(tmp_path / "pair.jsonl", lines([rows[0], rows[0]])), "fastchat-pair")
    single = {"question_id": 1, "model": "m", "turn": 1, "judge": "j", "score": 5}
    frame = formats.load(put(tmp_path / "s.jsonl", lines([single | {"tstamp": at} for at in (1, 2, 3)]))).frame
    assert len(frame) == 3 and frame["repeat"].nunique() == 3


# --- any bytes --------------------------------------------------------------------------------------------------------


def valid_files() -> dict[str, bytes]:
    """Ten files of ten formats."""
    arena = [{"uid": str(at), "model": "m", "judge": "j", "games": [{"score": "A>B"}, {"score": "B>A"}]}
             for at in range(8)]  # fmt: skip
    vote = [{"judge": "p", "model_a": "a", "model_b": "b", "question_id": at, "winner": "tie"} for at in range(8)]
    pair = [{"question_id": at, "model_1": "a", "model_2": "b", "judge": "j", "turn": 1, "g1_winner": "tie",
             "g2_winner": "model_1"} for at in range(8)]  # fmt: skip
    named = {f"ans_q_1_{name}": name for name in ("gpt_fast", "claude_fast")}
    judged = [{"prompt_id": "q_1", "judge_model": "gpt_fast", "ranking": ["A", "B"], "scores": {"A": 2, "B": 1},
               "mapping": dict(zip("AB", named, strict=True))}]  # fmt: skip
    return {
        "pairs.csv": table(TIDY).encode(),
        "pairs.jsonl": lines(TIDY).encode(),
        "scores.tsv": table(score_rows(questions=4), separator="\t").encode(),
        "rankings.json": json.dumps(ranking_rows(questions=3)).encode(),
        "arena.jsonl": lines(arena).encode(),
        "votes.jsonl": lines(vote).encode(),
        "fastchat.jsonl": lines(pair).encode(),
        "annotations.json": json.dumps([annotation(at, 1.5) for at in range(6)]).encode(),
        "log.json": json.dumps(log(6)).encode(),
        "judgments.json": json.dumps(judged).encode(),
    }


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Bytes cut, changed, doubled; columns renamed; other encodings and line ends."""
    at, to = sorted(rng.sample(range(len(data) + 1), 2))
    text = data.decode()
    words = {*text.replace('"', " ").replace(",", " ").split()}
    word = rng.choice(sorted(each for each in words if each.isidentifier()))
    return rng.choice(
        [
            lambda: data[:at],
            lambda: data[at:],
            lambda: data[:at] + data[to:],
            lambda: data[:to] + data[at:],
            lambda: data[:at] + bytes(rng.randrange(256) for _ in range(4)) + data[at:],
            lambda: (
                data[:at] + rng.choice([b'"', b"\r", b"\n", b"\x00", b",", b"{", b"]", b"NaN", b"\xff"]) + data[at:]
            ),
            lambda: text.replace(word, rng.choice(["", "x", word.upper(), f" {word}", "winner", "\u202e"])).encode(),
            lambda: text.replace("\n", rng.choice(["\r", "\r\n", "\n\n", ""])).encode(),
            lambda: text.encode(rng.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7"])),
            lambda: text.replace("e", "é").encode("latin-1"),
            lambda: text.replace("1", rng.choice(["1e999", "-", "[[]]", "null", "9" * 5000])).encode(),
        ]
    )()


@pytest.mark.parametrize("name", valid_files())
def test_no_bytes_end_in_a_traceback(tmp_path: Path, name: str) -> None:
    rng, data = random.Random(name), valid_files()[name]
    assert len(formats.load(put(tmp_path / name, data)).frame)
    for _ in range(30):
        path = put(tmp_path / name, mutated(data, rng))
        try:
            analyze(path)
        except ValueError as error:
            assert "\n" not in str(error) and str(path) in str(error), str(error)
