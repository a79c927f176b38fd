"""`recuse store` as it is typed, `recuse store verify` too: what they say, count and cost, and the damage they name."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings, strategies as st

from helpers import store
from helpers.__main__ import main
from helpers.commands.printing import cost_of
from helpers.store.records import key_of
from helpers.types import Completion, Model, Price, Request, Usage
from tests.engine import test_store
from tests.engine.asking import ask
from tests.engine.test_store import LABELS, MODEL, OTHER_KEY, SAME_KEY, filled, more, put, reply_to

#: Stands in models.yaml; the price is the test's own.
PAID = Model("claude_haiku_5_5", "anthropic", "claude-haiku-5-5", "claude", price=Price(1.0, 10.0), max_tokens=500)


def recuse(*words: object) -> Result:
    return CliRunner().invoke(main, ["store", *map(str, words)])


def put_asked(folder: Path, model: Model, *lines: tuple[str, Completion], **labels: Any) -> Path:
    folder.mkdir(exist_ok=True)
    asked = [(Request(model, prompt, "Be brief."), completion) for prompt, completion in lines]
    made = [(request, replace(completion, key=request.key)) for request, completion in asked]
    return test_store.put(store.file_of(folder, model.name), *made, labels={**LABELS, **labels})


def said(text: str, day: str = "2026-03-01", **other: Any) -> Completion:
    return reply_to(Request(PAID, ""), text, at=f"{day}T00:00:00+00:00", **{"usage": Usage(1000, 100), **other})


LOST = Completion("", "maybe_billed", error="no reply in time", maybe_billed=True, at="2026-03-05T00:00:00+00:00")
TOLD = Completion("", "rate_limited", error="429", at="2026-03-04T00:00:00+00:00")


def test_info_counts_what_is_stored_and_what_it_cost(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("a", said("again", "2026-02-01")), ("béta", LOST), ("c", TOLD))
    put_asked(tmp_path, PAID, ("d", said("D", "2026-02-15", model="claude-haiku-5-5-b")), experiment="hinting_groups")
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
    put_asked(tmp_path, PAID, ("a", said("A")), ("c", TOLD))
    put_asked(tmp_path, Model("sim", "simulated", "sim-1", "gpt"), ("a", said("A", usage=Usage(10, 5))))
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
    put_asked(tmp_path, replace(PAID, name="gone", model_id="nobody-knows-this"), ("a", said("A")))
    put_asked(
        tmp_path, Model("box", "openai", "own", "x", base_url="http://box/v1", revision={"a": "b"}), ("a", said("A"))
    )
    gone, box = (store.contents(store.file_of(tmp_path, name), cost_of({})) for name in ("gone", "box"))
    assert gone.usd_measured is None and "no price is known for 'nobody-knows-this'" in gone.no_price
    assert box.usd_at_most is None and "no model 'box' in models.yaml serves 'own'; where it ran is not" in box.no_price
    assert "; no dollars: models.yaml, model 'gone'" in recuse("info", "gone", "--store", tmp_path).output


def test_the_price_is_that_of_the_model_that_was_asked(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")))
    later = replace(PAID, model_id="claude-haiku-6", price=Price(100.0, 100.0))
    # $100 a million would make it 11 cents.
    for named, same in ((later, False), (replace(later, model_id=PAID.model_id), True)):
        usd = store.contents(path, cost_of({PAID.name: named})).usd_measured
        assert (usd == pytest.approx(0.11)) == same


def test_info_counts_damage_and_goes_on(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(b"rubbish\n" + path.read_bytes()[:-40])
    told = recuse("info", "--store", tmp_path).output
    assert "3 lines, 1 replies, 1 DAMAGED (recuse store verify), a torn last line" in told


def test_what_a_stranger_wrote_into_a_label_does_not_reach_the_terminal(tmp_path: Path) -> None:
    put_asked(tmp_path, PAID, ("a", said("A", model="\x1b[31m\ud83d")), experiment="\x1b[2J\u202e")
    told = recuse("info", "--store", tmp_path)
    assert told.exit_code == 0 and not {"\x1b", "\u202e", "\ud83d"} & set(told.output)
    assert recuse("info", "--json", "--store", tmp_path).exit_code == 0


def test_verify_ends_with_1_where_anything_is_damaged_and_0_after_the_repair(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    other = put_asked(tmp_path, replace(PAID, name="other"), ("a", said("A")))
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
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(path.read_bytes()[:-40])
    told = recuse("verify", "--store", tmp_path)
    assert told.exit_code == 0 and f"{path}, line 2: cut off while it was written; the next run that" in told.output
    assert f"{path.name}: 2 lines: 1 whole, 1 cut off at the end\n" in told.output
    told = recuse("verify", "--repair", "--store", tmp_path).output
    assert "the next run that" not in told, "it is moved now"
    assert f"{path.name}: 1 line moved to {path.name}.damaged; what is missing now is asked again" in told
    assert "0 whole" not in told and recuse("verify", "--store", tmp_path).output == f"{path.name}: 1 line, whole\n"


def test_a_line_that_only_lacks_its_end_is_whole(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("b", said("B")))
    path.write_bytes(path.read_bytes()[:-1])
    assert f"{path.name}: 2 lines: 1 whole, 1 without its line end\n" in recuse("verify", "--store", tmp_path).output
    told = recuse("verify", "--repair", "--store", tmp_path)
    assert told.exit_code == 0 and told.output.endswith(f"{path.name}: the line end that was missing is added\n")
    assert "damaged" not in told.output and "the next run" not in told.output
    assert not (tmp_path / f"{path.name}.damaged").exists()


def test_whole_lines_within_a_damaged_one_are_counted(tmp_path: Path) -> None:
    path = put_asked(tmp_path, PAID, ("a", said("A")), ("b", said("B")), ("c", said("C")))
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
    path = put_asked(tmp_path, PAID, ("a", said("A")))
    path.write_bytes(path.read_bytes() + b'{"v":7,"key":"x"}\n')
    told = recuse("verify", "--repair", "--store", tmp_path)
    assert told.exit_code == 1 and "line 2: written in format 7; this version reads format 1: update Rec" in told.output
    assert f"{path.name}: 2 lines: 1 whole, 1 written by another version\n" in told.output
    assert told.output.endswith(f"{path.name}: 1 line of another version left in place\n"), "nothing was moved"


def test_out_and_in_as_typed(tmp_path: Path) -> None:
    put_asked(tmp_path / "here", PAID, ("a", said("A")), ("c", TOLD))
    put_asked(tmp_path / "here", replace(PAID, name="unlisted"), ("a", said("A")))
    file = tmp_path / "all.jsonl"
    out = recuse("export", "--to", file, "--store", tmp_path / "here")
    assert out.output == f"{file}: 3 lines (claude_haiku_5_5 2, unlisted 1)\n"
    put_asked(tmp_path / "there", PAID, ("a", said("mine")))
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
        (["merge", "nowhere", "--store", "here"], "nowhere: no such folder"),
        (["merge", "here/claude_haiku_5_5.jsonl", "--store", "there"], "takes in the replies of a file"),
        (
            ["info", "--store", "here/claude_haiku_5_5.jsonl"],
            "a file; --store names the folder that it lies in, and cl",
        ),
        (["merge", "empty", "--store", "here"], "empty: holds no file of replies"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], told: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    path = put_asked(tmp_path / "here", PAID, ("a", said("A")))
    before = path.read_bytes()
    result = recuse(*words)
    assert result.exit_code != 0 and told in f"{result.output}{result.exception}"
    assert path.read_bytes() == before and not (tmp_path / "x.csv").exists()


def sealed(body: bytes) -> bytes:
    """A line with the checksum that belongs to it, made here: crc32 of the line as it would be without it."""
    return body[:-1] + f',"crc":"{zlib.crc32(body):08x}"}}'.encode()


def changed(line: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """A line edited by somebody who knows the checksum."""
    record = json.loads(line)
    del record["crc"]
    change(record)
    return sealed(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode())


# --- what a line must be ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_", [*OTHER_KEY.values(), *SAME_KEY.values()])
def test_the_key_computed_from_a_line_is_that_of_the_request(request_: Request) -> None:
    line = store.encode(request_, reply_to(request_), LABELS)[:-1]
    assert key_of(json.loads(line)["request"]) == request_.key
    assert store.examine(line)["key"] == request_.key


JSON = st.recursive(st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5), st.lists, max_leaves=4)


@settings(max_examples=40, deadline=None)
@given(st.text(), st.text(), st.dictionaries(st.text(), JSON, max_size=4), st.none() | st.dictionaries(st.text(), JSON))
def test_the_key_of_any_line_is_that_of_its_request(prompt: str, system: str, params: Any, schema: Any) -> None:
    for model in (Model("m", "openai", "x", "y", params=params), Model("m", "simulated", "x", "y", traits=params)):
        request = Request(model, prompt, system, schema, repeat=3)
        assert key_of(json.loads(store.encode(request, reply_to(request), {}))["request"]) == request.key


def _drop(*place: str) -> Callable[[dict[str, Any]], Any]:
    return lambda record: (record[place[0]] if len(place) == 2 else record).pop(place[-1])


def _put(value: Any, *place: str) -> Callable[[dict[str, Any]], Any]:
    return lambda record: (record[place[0]] if len(place) == 2 else record).__setitem__(place[-1], value)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (_drop("raw"), "no field raw"),
        (_drop("reply", "usage"), "no field reply.usage"),
        (_put(7, "request", "prompt"), "request.prompt is int, expected str"),
        (_put("1", "reply", "latency"), "reply.latency is str, expected float or int or null"),
        (_put(True, "attempt"), "attempt is bool, expected int"),
        (_put(-1, "attempt"), "attempt is no count from 0 to 2^53"),
        (_put({"input": 10**400}, "reply", "usage"), "reply.usage.input is no count"),
        (_put({"guessed": 1}, "reply", "usage"), "reply.usage holds 'guessed'; known: cached, input, "),
        (_put("Other prompt", "request", "prompt"), "the key is not that of the request"),
        (_put("0" * 64, "key"), "the key is not that of the request"),
        (_put(float("nan"), "reply", "latency"), "NaN is no number of JSON"),
    ],
)
def test_a_line_with_a_fitting_checksum_is_looked_into(path: Path, change: Any, wrong: str) -> None:
    filled(path, 3)
    first, second, third = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, changed(second, change), third, b""]))
    (bad,) = store.verify(path).odd
    assert bad.number == 2 and bad.kind == "damaged" and wrong in bad.wrong


def test_a_name_twice_and_endless_nesting_are_damage(path: Path) -> None:
    filled(path, 1)
    line = path.read_bytes()[:-1]
    twice = line[1:-1].join([b'{"raw":"other",', b"}"]), "key 'raw' occurs twice in one object"
    deep = line.replace(b'"raw":"', b'"deep":' + b"[" * 200_000), "nested too deeply"
    for spoilt, words in (twice, deep):
        with pytest.raises(ValueError, match=words):
            store.examine(sealed(spoilt.rsplit(b',"crc"', 1)[0] + b"}"))


def test_a_line_with_a_fitting_checksum_and_no_reply_is_an_error(path: Path) -> None:
    filled(path, 3)
    first, second, third = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, changed(second, _drop("reply", "usage")), third, b""]))
    with pytest.raises(store.StoreError, match=r"gpt_fast.jsonl, line 2: not a line of this program \('usage'\)"):
        store.read(path)


# --- any damage -------------------------------------------------------------------------------------------------------


@st.composite
def damages(draw: st.DrawFn, whole: bytes) -> bytes:
    """The file with one kind of damage at any place."""
    at = draw(st.integers(0, len(whole) - 1))
    kind = draw(st.sampled_from(["flip", "cut", "double", "nul", "lost line end"]))
    if kind == "flip":
        return whole[:at] + bytes([draw(st.integers(0, 255).filter(lambda b: b != whole[at]))]) + whole[at + 1 :]
    if kind == "cut":
        return whole[:at]
    if kind == "nul":
        return whole[:at] + b"\0" * draw(st.integers(1, 5000)) + whole[at:]
    lines = whole.splitlines(keepends=True)
    which = draw(st.integers(0, len(lines) - 1))
    if kind == "double":
        return b"".join([*lines[: which + 1], *lines[which:]])
    return b"".join([*lines[:which], lines[which][:-1], *lines[which + 1 :]])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_damage_of_any_kind_is_named_and_costs_no_other_reply(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = store.file_of(Path(folder), "gpt_fast")
        said = data.draw(st.sampled_from(["Reply", "\u202e🙂\0", "x" * 300]))
        requests = filled(path, data.draw(st.integers(1, 4)), said)
        whole = path.read_bytes()
        hurt = data.draw(damages(whole))
        # What has to survive, found without any of our readers: every line whose bytes are all still there.
        survivors = {r.key for r, line in zip(requests, whole.splitlines(), strict=True) if line in hurt}
        path.write_bytes(hurt)
        found = store.verify(path)
        assert path.read_bytes() == hurt, "a look changes nothing"
        told = found.odd
        intact = b"".join(line + b"\n" for line in whole.splitlines() if line in hurt)
        assert bool(told) == (hurt != intact and found.same == 0)
        assert all(line.wrong and hurt.splitlines(keepends=True) for line in told)
        done = store.repair(path)
        assert store.read(path).keys() == survivors
        again = store.verify(path)
        assert again.odd == ()
        # Nothing is deleted: what is in neither file was in no line.
        side = done.side.read_bytes() if done.side.exists() else b""
        kept = path.read_bytes()
        assert all(part in side or part in kept for part in hurt.split(b"\n"))
        survivors.add(more(path).key)
        assert store.read(path).keys() == survivors


UNFIT = "the checksum does not fit: the line was damaged or edited"
WITHIN = f"{UNFIT} (1 whole within it, which --repair puts back)"
#: What became of a file of three lines, the numbers of the lines in which it is found, and in which words.
HURT = {
    "torn inside": (lambda a, b, c: a + b[:50] + b"\n" + c, [2], UNFIT),
    "lost line end": (lambda a, b, c: a + b[:-1] + c, [2], f"{UNFIT} (2 whole within"),
    "torn": (lambda a, b, c: a + b + c[:90], [3], "cut off while it was written"),
    "unended": (lambda a, b, c: a + b + c[:-1], [3], "whole, but without its line end"),
    "more at the end": (lambda a, b, c: a + b + c[:-1] + b"X", [3], WITHIN),
    "byte order mark": (lambda a, b, c: b"\xef\xbb\xbf" + a + b + c, [1], WITHIN),
    "zeros": (lambda a, b, c: a + b"\0" * 4096 + b"\n" + c, [2], UNFIT),
    "edited": (lambda a, b, c: a.replace(b"Reply 0", b"Reply 9") + b + c, [1], UNFIT),
    "not ours": (lambda a, b, c: a + b + c + b"[1]\n", [4], UNFIT),
    "blank line": (lambda a, b, c: a + b"\n" + b + c, [2], UNFIT),
    "blank CRLF": (lambda a, b, c: a + b"\r\n" + b + c, [2], UNFIT),
    "two blank lines": (lambda a, b, c: a + b"\n\n" + b + c, [2, 3], UNFIT),
}


@pytest.mark.parametrize("what", HURT)
def test_kinds_of_damage_by_name(path: Path, what: str) -> None:
    filled(path)
    hurt, numbers, wrong = HURT[what]
    path.write_bytes(hurt(*path.read_bytes().splitlines(keepends=True)))
    found = store.verify(path)
    lines = found.odd
    assert [line.number for line in lines] == numbers and all(wrong in line.wrong for line in lines)
    if what in ("torn", "unended", "more at the end"):
        assert len(store.read(path)) == 2, "a reader cannot know that nothing follows"
    else:
        with pytest.raises(store.StoreError, match=f"gpt_fast.jsonl, line {numbers[0]}: the checksum does not fit"):
            store.read(path)


def test_bad_lines_are_moved_to_the_side_in_order_and_kept_by_a_second_repair(path: Path) -> None:
    filled(path, 5)
    a, b, c, d, e = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(a + b"rubbish\n" + b[:70] + c + d + e[:40])
    os.chmod(path, 0o640)
    done = store.repair(path)
    side = path.with_name("gpt_fast.jsonl.damaged")
    assert (done.side, done.moved, done.rescued, done.left) == (side, 3, 1, 0)
    assert side.read_bytes() == b"rubbish\n" + b[:70] + c + e[:40] + b"\n"
    assert path.read_bytes() == a + c + d
    assert path.stat().st_mode & 0o777 == 0o640
    path.write_bytes(path.read_bytes() + b"more rubbish\n")
    store.repair(path)
    assert side.read_bytes().endswith(e[:40] + b"\nmore rubbish\n"), "the first ones are still there"
    before = side.read_bytes()
    assert store.repair(path).moved == 0 and side.read_bytes() == before


def test_a_record_that_a_model_wrote_into_its_reply_is_never_taken_for_a_line(path: Path) -> None:
    filled(path, 1)
    planted = store.encode(Request(MODEL, "planted"), reply_to(Request(MODEL, "planted")), {}).decode()
    other = Request(MODEL, planted)
    put(path, (other, reply_to(other, planted, raw=planted)), labels={"condition": planted})
    path.write_bytes(path.read_bytes().replace(b'"attempt":1', b'"attempt":2'))
    assert store.verify(path).odd[1].number == 2
    assert store.repair(path).rescued == 0 and store.read(path) == {}


def test_a_paid_reply_before_foreign_bytes_is_not_cut_by_the_next_run(path: Path) -> None:
    requests = filled(path)
    hurt = path.read_bytes()[:-1] + b"\0\0"
    path.write_bytes(hurt)
    told = r"the last line is not one that was cut off: the checksum does not fit.*1 whole w"
    with pytest.raises(store.StoreError, match=told):
        store.Writer(path)
    assert path.read_bytes() == hurt
    store.repair(path)
    assert store.read(path).keys() == {request.key for request in requests}


# --- other formats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("checksum", ["like ours", "of its own"])
def test_a_line_of_a_later_format_is_neither_moved_nor_cut(path: Path, checksum: str) -> None:
    filled(path, 2)
    first, second = path.read_bytes().splitlines()
    later = changed(second, _put(2, "v"))
    later = later if checksum == "like ours" else later[:-18] + b'"crc":"sha256:0123456789"}'
    path.write_bytes(first + b"\n" + later + b"\n")
    (bad,) = store.verify(path).odd
    assert (bad.number, bad.kind) == (2, "unknown")
    assert bad.wrong.startswith("written in format 2; this version reads format 1: update Recuse")
    done = store.repair(path)
    assert (done.moved, done.left) == (0, 1) and path.read_bytes() == first + b"\n" + later + b"\n"
    assert not done.side.exists()
    if checksum == "like ours":
        told = r"line 2: written in format 2; this version reads format 1: update Recuse, or move the file out"
        with pytest.raises(store.StoreError, match=told):
            store.read(path)
    path.write_bytes(first + b"\n" + later)
    with pytest.raises(store.StoreError, match=r"not one that was cut off: written in format 2"):
        store.Writer(path)
    assert path.read_bytes() == first + b"\n" + later


def test_a_line_of_ours_whose_version_was_damaged_is_damage(path: Path) -> None:
    filled(path, 2)
    path.write_bytes(path.read_bytes().replace(b'{"v":1,', b'{"v":3,', 1))
    (bad,) = store.verify(path).odd
    assert bad.kind == "damaged" and store.repair(path).moved == 1


# --- doubles, locks, links --------------------------------------------------------------------------------------------


def test_copies_and_further_replies_are_counted_and_no_damage(path: Path) -> None:
    requests = filled(path, 2)
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    put(path, (requests[1], reply_to(requests[1], "said again", request_id="req_2")))
    found = store.verify(path)
    assert (found.lines, found.same, found.further, found.odd) == (4, 1, 1, ())


def test_a_file_that_is_held_is_not_repaired(path: Path) -> None:
    filled(path, 2)
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    before = path.read_bytes()
    lock = store.try_lock(path)
    assert lock is not None
    held = recuse("verify", "--repair", "--store", path.parent)
    assert f"gpt_fast.jsonl: held by process {os.getpid()} on " in str(held.exception)
    assert path.read_bytes() == before and not path.with_name("gpt_fast.jsonl.damaged").exists()
    lock.release()
    done = recuse("verify", "--repair", "--store", path.parent)
    assert done.exit_code == 0 and f"{path}, line 3: the checksum does not fit" in done.output
    assert "1 line moved to gpt_fast.jsonl.da" in done.output


@pytest.mark.parametrize("name", ["gpt_fast.jsonl", "gpt_fast.jsonl.lock", "gpt_fast.jsonl.holder"])
def test_a_link_leads_no_write_out_of_the_store(tmp_path: Path, serve: Any, name: str) -> None:
    server, outside, folder = serve(), tmp_path / "outside", tmp_path / "replies"
    outside.touch()
    folder.mkdir()
    (folder / name).symlink_to(outside)
    with pytest.raises(store.StoreError, match=f"{name}: a symbolic link, and nothing is written through one"):
        ask([Request(MODEL, "Hi")], folder)
    assert outside.read_bytes() == b"" and not server.calls, "refused before anything is asked"


@pytest.mark.parametrize("name", ["gpt_fast.jsonl", "gpt_fast.jsonl.damaged", ".gpt_fast.jsonl.part"])
def test_a_link_leads_no_repair_out_of_the_store(tmp_path: Path, name: str) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "replies"
    folder.mkdir()
    path = store.file_of(folder, "gpt_fast")
    filled(path, 2)
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    outside.write_bytes(path.read_bytes())
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(outside)
    before = outside.read_bytes()
    if name.startswith("."):
        assert store.repair(path).moved == 1, "a link of that name is put away"
    else:
        with pytest.raises(store.StoreError, match="a symbolic link, and nothing is written through one"):
            store.repair(path)
    assert outside.read_bytes() == before


def test_the_folder_of_replies_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "large_disk").mkdir()
    (tmp_path / "replies").symlink_to(tmp_path / "large_disk")
    requests = filled(store.file_of(tmp_path / "replies", "gpt_fast"))
    assert len(store.read(store.file_of(tmp_path / "large_disk", "gpt_fast"))) == len(requests)
    assert store.files(tmp_path / "replies", ["gpt_fast"] * 2) == [store.file_of(tmp_path / "replies", "gpt_fast")]


@pytest.mark.parametrize("name", ["../gpt", "/etc/passwd", "a/b", "", ".gpt", "GPT", "g" * 65, "a\n", "a\0"])
def test_a_name_that_could_lead_elsewhere_is_no_name_of_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(store.StoreError, match="is no name of a model: lower case letters, digits"):
        store.file_of(tmp_path, name)
