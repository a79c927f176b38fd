"""`recuse store` as it is typed: what it says, what it counts and costs, and how it ends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from helpers import store
from helpers.__main__ import main
from helpers.commands.printing import cost_of
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine import test_store
from tests.engine.test_store import LABELS, reply_to

#: Stands in models.yaml; the price is the test's own.
PAID = Model("claude_haiku_5_5", "anthropic", "claude-haiku-5-5", "claude", price=Price(1.0, 10.0), max_tokens=500)


def recuse(*words: object) -> Result:
    return CliRunner().invoke(main, ["store", *map(str, words)])


def put(folder: Path, model: Model, *lines: tuple[str, Completion], **labels: Any) -> Path:
    folder.mkdir(exist_ok=True)
    asked = [(Request(model, prompt, "Be brief."), completion) for prompt, completion in lines]
    made = [(request, replace(completion, key=request.key)) for request, completion in asked]
    return test_store.put(store.file_of(folder, model.name), *made, labels={**LABELS, **labels})


def said(text: str, day: str = "2026-03-01", **other: Any) -> Completion:
    return reply_to(Request(PAID, ""), text, at=f"{day}T00:00:00+00:00", **{"usage": Usage(1000, 100), **other})


LOST = Completion("", "maybe_billed", error="no reply in time", maybe_billed=True, at="2026-03-05T00:00:00+00:00")
TOLD = Completion("", "rate_limited", error="429", at="2026-03-04T00:00:00+00:00")


def test_info_counts_what_is_stored_and_what_it_cost(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("a", said("again", "2026-02-01")), ("béta", LOST), ("c", TOLD))
    put(tmp_path, PAID, ("d", said("D", "2026-02-15", model="claude-haiku-5-5-b")), experiment="hinting_groups")
    found = store.contents(path, cost_of({PAID.name: PAID}))
    assert (found.lines, found.replies, found.further, found.damaged, found.torn) == (5, 2, 1, 0, 0)
    assert dict(found.failures) == {"maybe_billed": 1, "rate_limited": 1}
    assert (found.tokens["input"], found.tokens["output"], found.tokens["cached"]) == (3000, 300, 0)
    # Three replies of 1000 tokens at $1 and 100 at $10 a million.
    assert found.usd_measured == pytest.approx(0.006)
    # At most a byte is a token ("béta" 5, "Be brief." 9), 100 stand around them, and the reply is as long as it may be.
    assert found.usd_at_most == pytest.approx(0.006 + (114 * 1.0 + 500 * 10.0) / 1e6)
    assert (found.first[:10], found.last[:10]) == ("2026-02-01", "2026-03-05"), "by the clock, not by line"
    assert dict(found.experiments) == {"mt_bench_blind": 4, "hinting_groups": 1}
    assert dict(found.returned) == {"gpt-5-mini-2026": 2, "claude-haiku-5-5-b": 1}
    assert found.bytes == path.stat().st_size


def test_info_in_words_and_for_programs(tmp_path: Path) -> None:
    put(tmp_path, PAID, ("a", said("A")), ("c", TOLD))
    put(tmp_path, Model("sim", "simulated", "sim-1", "gpt"), ("a", said("A", usage=Usage(10, 5))))
    words = recuse("info", "--store", tmp_path)
    assert words.exit_code == 0, words.output
    assert f"{tmp_path}: 2 files, 3 lines, 2 replies, " in words.output
    assert "claude_haiku_5_5: 2 lines, 1 replies, 1 failed attempts (rate_limited 1)\n" in words.output
    assert "sim (SIMULATED): 1 lines, 1 replies\n  10 tokens in, 5 out; $0.0000 measured\n" in words.output
    assert "2026-03-01 to 2026-03-04; mt_bench_blind 2;" in words.output
    one = json.loads(recuse("info", "sim", "--json", "--store", tmp_path).output)
    assert [each["model"] for each in one["files"]] == ["sim"]
    assert one["files"][0]["tokens"] == {"input": 10, "output": 5, "reasoning": 0, "cached": 0, "written": 0}
    assert one["files"][0]["usd_measured"] == 0.0 and one["files"][0]["failures"] == {}


def test_info_says_where_no_price_is_known(tmp_path: Path) -> None:
    put(tmp_path, replace(PAID, name="gone", model_id="nobody-knows-this"), ("a", said("A")))
    put(tmp_path, Model("box", "openai", "own", "x", base_url="http://box/v1", revision={"a": "b"}), ("a", said("A")))
    gone, box = (store.contents(store.file_of(tmp_path, name), cost_of({})) for name in ("gone", "box"))
    assert gone.usd_measured is None and "no price is known for 'nobody-knows-this'" in gone.no_price
    assert box.usd_at_most is None and "no model 'box' in models.yaml serves 'own'; where it ran is not" in box.no_price
    assert "; no dollars: models.yaml, model 'gone'" in recuse("info", "gone", "--store", tmp_path).output


def test_the_price_is_that_of_the_model_that_was_asked_and_not_of_a_later_one_of_its_name(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")))
    later = replace(PAID, model_id="claude-haiku-6", price=Price(100.0, 100.0))
    # $100 a million would make it 11 cents.
    for named, same in ((later, False), (replace(later, model_id=PAID.model_id), True)):
        usd = store.contents(path, cost_of({PAID.name: named})).usd_measured
        assert (usd == pytest.approx(0.11)) == same


def test_info_counts_damage_and_goes_on(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(b"rubbish\n" + path.read_bytes()[:-40])
    told = recuse("info", "--store", tmp_path).output
    assert "3 lines, 1 replies, 1 DAMAGED (recuse store verify), a torn last line" in told


def test_what_a_stranger_wrote_into_a_label_does_not_reach_the_terminal(tmp_path: Path) -> None:
    put(tmp_path, PAID, ("a", said("A", model="\x1b[31m\ud83d")), experiment="\x1b[2J\u202e")
    told = recuse("info", "--store", tmp_path)
    assert told.exit_code == 0 and not {"\x1b", "\u202e", "\ud83d"} & set(told.output)
    assert recuse("info", "--json", "--store", tmp_path).exit_code == 0


def test_verify_ends_with_1_where_anything_is_damaged_and_0_after_the_repair(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    other = put(tmp_path, replace(PAID, name="other"), ("a", said("A")))
    whole = recuse("verify", "--store", tmp_path)
    assert whole.exit_code == 0 and f"{path.name}: 2 lines, whole" in whole.output and "--repair" not in whole.output
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    told = recuse("verify", "--store", tmp_path)
    assert f"{path.name}: 3 lines: 2 whole, 1 damaged\n" in told.output
    assert told.exit_code == 1 and f"{path}, line 3: the checksum does not fit" in told.output
    assert f"{other.name}: 1 line, whole" in told.output, "and the others are looked at too"
    assert "The same with --repair moves damaged lines" in told.output, "and what to do is said"
    assert recuse("verify", "other", "--store", tmp_path).exit_code == 0
    mended = recuse("verify", "--repair", "--store", tmp_path)
    assert mended.exit_code == 0 and f"1 line moved to {path.name}.damaged; what is missing now" in mended.output
    assert "The same with" not in mended.output
    assert recuse("verify", "--store", tmp_path).exit_code == 0


def test_a_torn_last_line_is_named_and_no_damage(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(path.read_bytes()[:-40])
    told = recuse("verify", "--store", tmp_path)
    assert told.exit_code == 0 and f"{path}, line 2: cut off while it was written; the next run that" in told.output
    assert f"{path.name}: 2 lines: 1 whole, 1 cut off at the end\n" in told.output
    told = recuse("verify", "--repair", "--store", tmp_path).output
    assert "the next run that" not in told, "it is moved now"
    assert f"{path.name}: 1 line moved to {path.name}.damaged; what is missing now is asked again" in told
    assert "0 whole" not in told and recuse("verify", "--store", tmp_path).output == f"{path.name}: 1 line, whole\n"


def test_a_line_that_only_lacks_its_end_is_whole_and_no_file_is_named_that_is_not_made(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(path.read_bytes()[:-1])
    assert f"{path.name}: 2 lines: 1 whole, 1 without its line end\n" in recuse("verify", "--store", tmp_path).output
    told = recuse("verify", "--repair", "--store", tmp_path)
    assert told.exit_code == 0 and told.output.endswith(f"{path.name}: the line end that was missing is added\n")
    assert "damaged" not in told.output and "the next run" not in told.output
    assert not (tmp_path / f"{path.name}.damaged").exists()


def test_whole_lines_within_a_damaged_one_are_counted(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")), ("b", said("B")), ("c", said("C")))
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:-1] + third)
    told = recuse("verify", "--repair", "--store", tmp_path).output
    assert f"1 line moved to {path.name}.damaged, 2 whole within put back; what is" in told


def test_a_file_without_a_line_is_empty(tmp_path: Path) -> None:
    (tmp_path / "gpt_fast.jsonl").touch()
    told = recuse("info", "--store", tmp_path).output
    assert told.startswith(f"{tmp_path}: 1 file, 0 lines") and "gpt_fast: empty: nothing was ever stored here\n" in told
    assert "nobody says" not in told and "measured" not in told
    verified = recuse("verify", "--store", tmp_path)
    assert verified.exit_code == 0 and verified.output == "gpt_fast.jsonl: empty: no line yet\n"


def test_a_line_of_a_later_format_stays_an_error_after_a_repair(tmp_path: Path) -> None:
    path = put(tmp_path, PAID, ("a", said("A")))
    path.write_bytes(path.read_bytes() + b'{"v":7,"key":"x"}\n')
    told = recuse("verify", "--repair", "--store", tmp_path)
    assert told.exit_code == 1 and "line 2: written in format 7; this version reads format 1: update Rec" in told.output
    assert f"{path.name}: 2 lines: 1 whole, 1 written by another version\n" in told.output
    assert told.output.endswith(f"{path.name}: 1 line of another version left in place\n"), "nothing was moved"


def test_out_and_in_as_typed(tmp_path: Path) -> None:
    put(tmp_path / "here", PAID, ("a", said("A")), ("c", TOLD))
    put(tmp_path / "here", replace(PAID, name="unlisted"), ("a", said("A")))
    file = tmp_path / "all.jsonl"
    out = recuse("export", "--to", file, "--store", tmp_path / "here")
    assert out.output == f"{file}: 3 lines (claude_haiku_5_5 2, unlisted 1)\n"
    put(tmp_path / "there", PAID, ("a", said("mine")))
    into = recuse("import", file, "--store", tmp_path / "there")
    assert into.exit_code == 0, into.output
    assert into.output.splitlines() == [
        "claude_haiku_5_5: 0 replies added, 1 more to what has a reply already (kept; the first counts), "
        "1 failed attempts",
        "unlisted: 1 replies added",
        "note: models.yaml has no model 'unlisted': an entry of that name will find these replies",
    ]
    again = recuse("merge", tmp_path / "here", "--store", tmp_path / "there")
    assert again.output.startswith("claude_haiku_5_5: 0 replies added, 2 were here already\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["export", "--to", "x.csv", "--store", "nowhere"], "nowhere: no such folder of replies"),
        (["export", "--to", "x.csv", "--model", "gpt", "--store", "here"], "no replies of gpt; there are those of: cl"),
        (["import", "x.csv", "--store", "here"], "tables are for reading; export to .jsonl to import it again"),
        (["import", "x.jsonl", "--model", "nobody", "--store", "here"], "no such model in models.yaml; there are: "),
        (["import", "here", "--store", "there"], "a folder; `recuse store merge` takes in another store"),
        (["import", "x.jsonl", "--store", "here"], "x.jsonl"),
        (["merge", "nowhere", "--store", "here"], "nowhere: no such folder, nothing was taken in"),
        (["merge", "here/claude_haiku_5_5.jsonl", "--store", "there"], "takes in the replies of a file"),
        (
            ["info", "--store", "here/claude_haiku_5_5.jsonl"],
            "a file; --store names the folder that it lies in, and cl",
        ),
        (["merge", "empty", "--store", "here"], "empty: holds no file of replies"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    path = put(tmp_path / "here", PAID, ("a", said("A")))
    before = path.read_bytes()
    result = recuse(*words)
    assert result.exit_code != 0 and told in f"{result.output}{result.exception}"
    assert path.read_bytes() == before and not (tmp_path / "x.csv").exists()
