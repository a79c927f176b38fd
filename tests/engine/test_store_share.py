"""`recuse store export`, `import` and `merge`: replies leave a store and come into one byte for byte, all or none."""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from pyarrow import parquet

from helpers import store
from helpers.types import Completion, Model, Request
from tests.engine import test_store
from tests.engine.test_store import LABELS, MODEL, elsewhere, filled, reply_to
from tests.engine.test_store_command import changed

OTHER = Model("claude", "anthropic", "claude-haiku-4-5", "claude")


def put(folder: Path, *lines: tuple[Request, Completion], labels: dict[str, Any] = LABELS) -> Path:
    """Attempts appended to the file of the first request's model."""
    folder.mkdir(exist_ok=True)
    return test_store.put(store.file_of(folder, lines[0][0].model.name), *lines, labels=labels)


def ok(model: Model, prompt: str, text: str, **said: Any) -> tuple[Request, Completion]:
    request = Request(model, prompt)
    return request, reply_to(request, text, **said)


def failed(model: Model, prompt: str, at: str) -> tuple[Request, Completion]:
    request = Request(model, prompt)
    return request, Completion(request.key, "rate_limited", at=at, error="429")


def texts(folder: Path, model: Model = MODEL) -> list[str]:
    return [line["reply"]["text"] for line in store.lines(store.file_of(folder, model.name))]


def everything(folder: Path) -> dict[str, bytes]:
    """All files of a store but notes on who holds it."""
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.suffix not in (".lock", ".holder")}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    return tmp_path / "here"


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


# --- out --------------------------------------------------------------------------------------------------------------


def test_an_exported_line_is_the_stored_one_and_the_name_of_its_file(here: Path, tmp_path: Path) -> None:
    path = put(here, ok(MODEL, "a", "A"), failed(MODEL, "b", "2026-01-01"))
    put(here, ok(OTHER, "c", "C"))
    target = tmp_path / "out.jsonl"
    assert store.export(here, target) == {"claude": 1, "gpt_fast": 2}
    first, *rest = target.read_bytes().splitlines(keepends=True)
    assert json.loads(first)["file"] == "claude" and target.stat().st_mode & 0o111 == 0
    for line, stored in zip(rest, path.read_bytes().splitlines(), strict=True):
        body, seal = line.rstrip(b"\n").rsplit(b',"seal":"', 1)
        assert body == stored[:-1] + b',"file":"gpt_fast"'
        assert seal == f'{zlib.crc32(body + b"}"):08x}"}}'.encode()


def test_what_is_exported_can_be_chosen(here: Path, tmp_path: Path) -> None:
    put(here, ok(MODEL, "a", "A"))
    put(here, ok(MODEL, "b", "B"), labels={"experiment": "hinting_groups"})
    put(here, ok(OTHER, "c", "C"))
    target = tmp_path / "out.jsonl"
    assert store.export(here, target, ["gpt_fast"]) == {"gpt_fast": 2}
    assert store.export(here, target, experiments=["mt_bench_blind"], force=True) == {"claude": 1, "gpt_fast": 1}
    chosen = store.export(here, target, ["gpt_fast"], ["hinting_groups"], force=True)
    assert chosen == {"gpt_fast": 1} and target.read_bytes().count(b"\n") == 1
    with pytest.raises(store.StoreError, match=r"no line of mt_bench; there are those of: hinting_groups, mt_bench_bl"):
        store.export(here, target, experiments=["mt_bench"], force=True)
    assert target.read_bytes().count(b"\n") == 1, "the former file stays"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("out.json", "ends in '.json'; valid: .jsonl, .parquet, .csv"),
        ("there.jsonl", "is there already; --force replaces it"),
        ("nowhere/out.csv", "nowhere: no such folder"),
        ("here/out.jsonl", "would lie in the store itself"),
    ],
)
def test_where_nothing_can_be_exported_to(here: Path, tmp_path: Path, name: str, told: str) -> None:
    put(here, ok(MODEL, "a", "A"))
    (tmp_path / "there.jsonl").write_text("mine")
    with pytest.raises(store.StoreError, match=told):
        store.export(here, tmp_path / name)
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["here", "there.jsonl"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "csv"])
def test_a_damaged_store_is_not_exported(here: Path, tmp_path: Path, suffix: str) -> None:
    path = put(here, *(ok(MODEL, each, each) for each in "abc"))
    path.write_bytes(path.read_bytes().replace(b'"text":"b"', b'"text":"x"'))
    told = r"gpt_fast.jsonl, line 2: the checksum does not fit.*nothing was written"
    with pytest.raises(store.StoreError, match=told):
        store.export(here, tmp_path / f"out.{suffix}")
    assert [p.name for p in tmp_path.iterdir()] == ["here"], "no half of a file either"


def test_an_export_over_a_link_replaces_the_link(here: Path, tmp_path: Path) -> None:
    put(here, ok(MODEL, "a", "A"))
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "out.csv").symlink_to(tmp_path / "mine")
    store.export(here, tmp_path / "out.csv", force=True)
    assert (tmp_path / "mine").read_text() == "mine" and not (tmp_path / "out.csv").is_symlink()


# --- tables -----------------------------------------------------------------------------------------------------------

COLUMNS = """
model key attempt status at experiment question_id condition shown provider model_id params revision system prompt
schema repeat text finish tokens_input tokens_output tokens_reasoning tokens_cached tokens_written returned_model
request_id latency error maybe_billed raw
""".strip().replace("\n", " ")


def test_a_parquet_table_has_a_row_a_line_with_texts_as_they_are(here: Path, tmp_path: Path) -> None:
    text = "=1+1\r\n\x00🙂\u202e"
    request = Request(replace(MODEL, base_url="x", revision={"weights": "1"}), text, "sys", {"b": 1, "a": [2]}, 3)
    put(here, (request, reply_to(request, text)), (request, reply_to(request, "half \ud83d")))
    store.export(here, tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert " ".join(table.column_names) == COLUMNS
    row, other = table.to_pylist()
    expected = {
        **{"model": "gpt_fast", "key": request.key, "attempt": 1, "status": "ok", "provider": "openai"},
        **{"model_id": "gpt-5-mini", "params": '{"max_completion_tokens": 2048, "seed": 7}', "repeat": 3},
        **{"revision": '{"weights": "1"}', "system": "sys", "prompt": text, "schema": '{"b": 1, "a": [2]}'},
        **{"text": text, "finish": "stop", "tokens_input": 7, "tokens_output": 5, "tokens_reasoning": 3},
        **{"tokens_cached": 2, "tokens_written": None, "returned_model": "gpt-5-mini-2026", "request_id": "req_1"},
        **{"latency": 1.25, "error": None, "maybe_billed": False, "raw": '{"text": "Fine."}'},
        **{"at": "2026-01-01T00:00:00.000+00:00", "experiment": "mt_bench_blind", "question_id": "writing_081"},
        **{"condition": "none", "shown": '["x", "y"]'},
    }
    assert row == expected
    assert other["text"].startswith("half \ufffd"), "half a character is shown as one that is missing"


def test_a_large_table_is_written_in_parts(here: Path, tmp_path: Path) -> None:
    filled(store.file_of(here, "gpt_fast"), 1203)
    assert store.export(here, tmp_path / "out.parquet") == {"gpt_fast": 1203}
    assert parquet.ParquetFile(tmp_path / "out.parquet").num_row_groups == 3, "never all of it in memory"
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table["text"].to_pylist() == [f"Reply {number}" for number in range(1203)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *[(text, f"'{text}") for text in ("=1+1", "+1", "-1", "@x", "\tx")],
        ("\rx", "'\nx"),
        ('=HYPERLINK("http://x")\n=2', "'=HYPERLINK(\"http://x\")\n'=2"),
        ("plain, 1-1", "plain, 1-1"),
    ],
)
def test_a_csv_table_runs_nothing_in_a_spreadsheet(here: Path, tmp_path: Path, text: str, told: str) -> None:
    request = Request(MODEL, text, text)
    labels = {"experiment": text, "question_id": text, "condition": text, "shown": text}
    put(here, (request, reply_to(request, text, raw=text, request_id=text, model=text, latency=0.5)), labels=labels)
    store.export(here, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        header, row = csv.reader(file)
    assert " ".join(header) == COLUMNS
    cells = dict(zip(header, row, strict=True))
    for name in ("system", "prompt", "text", "raw", "request_id", "returned_model", *LABELS):
        assert cells[name] == told, name
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row)
    assert (cells["latency"], cells["attempt"], cells["maybe_billed"], cells["tokens_written"]) == ("0.5", "1", "0", "")


# --- in: what counts, what is kept ------------------------------------------------------------------------------------


def test_no_paid_reply_is_lost_and_the_first_counts(here: Path, there: Path) -> None:
    put(here, ok(MODEL, "a", "mine", request_id="1"), ok(MODEL, "b", "same", request_id="2"))
    put(
        there,
        ok(MODEL, "a", "theirs", request_id="3"),
        ok(MODEL, "b", "same", request_id="2"),
        ok(MODEL, "b", "same", request_id="4"),
        ok(MODEL, "c", "new", request_id="5"),
        failed(MODEL, "c", "2026-01-01T00:00:01"),
        failed(MODEL, "c", "2026-01-01T00:00:02"),
    )
    before = store.file_of(here, "gpt_fast").read_bytes()
    (joined,) = store.merge(there, here)
    assert (joined.new, joined.further, joined.failures, joined.same, joined.torn) == (1, 2, 2, 1, 0)
    after = store.file_of(here, "gpt_fast").read_bytes()
    assert after.startswith(before), "what was here is as it was"
    assert texts(here) == ["mine", "same", "theirs", "same", "new", "", ""]
    replies = store.read(store.file_of(here, "gpt_fast"))
    assert [(each.text, each.request_id) for each in replies.values()] == [("mine", "1"), ("same", "2"), ("new", "5")]
    (again,) = store.merge(there, here)
    assert (again.new, again.further, again.failures, again.same) == (0, 0, 0, 6)
    assert store.file_of(here, "gpt_fast").read_bytes() == after, "a second time changes nothing"


def test_a_simulated_reply_that_both_made_is_one(here: Path, there: Path) -> None:
    simulated = Model("sim", "simulated", "sim-1", "gpt")
    put(here, ok(simulated, "a", "A", request_id=None, at="2026-01-01", latency=0.1))
    put(there, ok(simulated, "a", "A", request_id=None, at="2026-02-02", latency=0.2))
    (joined,) = store.merge(there, here)
    assert (joined.new, joined.further, joined.same) == (0, 0, 1)


def test_an_unfinished_line_of_either_store_costs_no_other(here: Path, there: Path) -> None:
    mine = put(here, ok(MODEL, "a", "A"), ok(MODEL, "b", "B"))
    theirs = put(there, ok(MODEL, "c", "C"), ok(MODEL, "d", "D"))
    mine.write_bytes(mine.read_bytes()[:-60])
    theirs.write_bytes(theirs.read_bytes()[:-60])
    (joined,) = store.merge(there, here)
    assert (joined.new, joined.torn) == (1, 1) and texts(here) == ["A", "C"]
    theirs.write_bytes(put(there.parent / "whole", ok(MODEL, "e", "E")).read_bytes()[:-1])
    assert store.merge(there, here)[0].new == 1 and texts(here) == ["A", "C", "E"], "only its line end was missing"


def test_a_file_of_another_store_needs_the_name_of_its_model(here: Path, there: Path) -> None:
    path = put(there, ok(MODEL, "a", "A"))
    told = r"line 1: does not say whose file it belongs to.*name the model with --mo"
    with pytest.raises(store.StoreError, match=told):
        store.import_file(path, here)
    (joined,) = store.import_file(path, here, "gpt_fast")
    assert joined.new == 1 and texts(here) == ["A"]


def test_a_torn_file_that_is_imported_is_refused_since_nobody_is_writing_it(here: Path, there: Path) -> None:
    path = put(there, ok(MODEL, "a", "A"), ok(MODEL, "b", "B"))
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(store.StoreError, match=r"1 lines are not whole.*\n  line 2: cut off while it was written$"):
        store.import_file(path, here, "gpt_fast")
    assert everything(here) == {}


@pytest.mark.parametrize("what", ["import", "merge"])
def test_a_store_does_not_take_in_itself(here: Path, what: str) -> None:
    path = put(here, ok(MODEL, "a", "A"))
    with pytest.raises(store.StoreError, match="the store itself"):
        store.merge(here, here) if what == "merge" else store.import_file(path, here, "gpt_fast")


# --- in: all or none --------------------------------------------------------------------------------------------------


def named(line: bytes, name: str) -> bytes:
    """A stored line as an export writes it, by somebody who knows how."""
    body = line[:-1] + f',"file":"{name}"'.encode()
    return body + f',"seal":"{zlib.crc32(body + b"}"):08x}"}}'.encode()


def unnamed(line: bytes) -> bytes:
    """The stored line within an exported one."""
    return line.rsplit(b',"file":"', 1)[0] + b"}"


def exported(there: Path, *lines: tuple[Request, Completion]) -> Path:
    """An export with two models."""
    put(there, *(lines or (ok(MODEL, "a", "A"), ok(MODEL, "b", "B"))))
    put(there, ok(OTHER, "c", "C"), ok(OTHER, "d", "D"))
    store.export(there, there.parent / "out.jsonl", force=True)
    return there.parent / "out.jsonl"


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_a_file_with_any_damage_is_refused_by_line_and_nothing_is_written(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        here, there = Path(folder) / "here", Path(folder) / "there"
        put(here, ok(MODEL, "z", "Z"))
        there.mkdir()
        file = exported(there)
        whole, before = file.read_bytes(), everything(here)
        at = data.draw(st.integers(0, len(whole) - 1))
        byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
        hurt = whole[:at] + bytes([byte]) + whole[at + 1 :]
        file.write_bytes(hurt)
        line = whole[:at].count(b"\n") + 1
        with pytest.raises(store.StoreError) as error:
            store.import_file(file, here)
        assert f"\n  line {line}: " in str(error.value)
        assert everything(here) == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda record: record["request"].update(prompt="Other?"), "line 2: the key is not that of the request"),
        (lambda record: record["reply"].update(text=7), "line 2: reply.text is int, expected str"),
        (lambda record: record.update(v=2), "line 2: written in format 2; this version reads format 1: update Recuse"),
    ],
)
def test_a_forged_line_is_refused(here: Path, there: Path, change: Any, told: str) -> None:
    put(here, ok(MODEL, "z", "Z"))
    file, before = exported(there), everything(here)
    first, second, *rest = file.read_bytes().splitlines()
    forged = named(changed(unnamed(second), change), "claude")
    file.write_bytes(b"\n".join([first, forged, *rest, b""]))
    with pytest.raises(store.StoreError) as error:
        store.import_file(file, here)
    assert "1 lines are not whole, nothing was taken in:" in str(error.value) and told in str(error.value)
    assert everything(here) == before


@pytest.mark.parametrize("name", ["../gpt_fast", "/tmp/x", "a/b", ".x", ""])
def test_a_line_cannot_name_a_file_outside_of_the_store(here: Path, there: Path, name: str) -> None:
    file = exported(there)
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"".join(named(unnamed(line), name) + b"\n" for line in lines))
    with pytest.raises(store.StoreError, match="is no name of a model"):
        store.import_file(file, here)
    assert everything(here) == {} and sorted(p.name for p in here.parent.iterdir()) == ["here", "out.jsonl", "there"]


def test_a_cut_export_is_refused_and_many_bad_lines_are_counted(here: Path, there: Path) -> None:
    file = exported(there)
    whole = file.read_bytes()
    file.write_bytes(whole[:-30])
    with pytest.raises(store.StoreError, match=r"1 lines are not whole.*\n  line 4: cut off while it was written"):
        store.import_file(file, here)
    file.write_bytes(whole + b"x\n" * 9)
    with pytest.raises(store.StoreError, match=r"9 lines are not whole(.|\n)*line 9: (.|\n)*and 4 more"):
        store.import_file(file, here)
    assert everything(here) == {}


def test_a_file_that_is_held_or_damaged_here_is_not_written_and_neither_is_any_other(here: Path, there: Path) -> None:
    file = exported(there)
    lock = store.try_lock(store.file_of(here, "gpt_fast"))
    assert lock is not None
    told = elsewhere("store.import_file(Path(sys.argv[1]), Path(sys.argv[2]))", file, here).stderr
    assert f"gpt_fast.jsonl: held by process {os.getpid()} on " in told and "nothing was taken in" in told
    assert everything(here) == {}
    lock.release()
    path = put(here, ok(MODEL, "z", "Z"))
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    before = everything(here)
    with pytest.raises(store.StoreError, match=r"gpt_fast.jsonl, line 2: the checksum.*nothing was taken in"):
        store.import_file(file, here)
    assert everything(here) == before
    assert store.try_lock(store.file_of(here, "claude")) is not None, "and its locks are free"


def test_all_files_are_held_until_all_is_written(here: Path, there: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, append, free = exported(there), store.Writer.append_line, []

    def watched(writer: store.Writer, *line: Any) -> None:
        free.extend(name for name in ("claude", "gpt_fast") if store.try_lock(store.file_of(here, name)) is not None)
        append(writer, *line)

    monkeypatch.setattr(store.Writer, "append_line", watched)
    assert len(store.import_file(file, here)) == 2 and free == []
    assert store.try_lock(store.file_of(here, "claude")) is not None, "and are free afterwards"


@pytest.mark.parametrize("fault", ["no room", "cut short", "no sync", "interrupted"])
def test_a_disk_that_fails_changes_no_store(
    here: Path, there: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    put(here, ok(OTHER, "z", "Z"))
    file, before = exported(there), everything(here)
    write, left = os.write, [3]

    def failing(fd: int, data: bytes) -> int:
        if not data.startswith(b'{"v"'):
            return write(fd, data)
        left[0] -= 1
        if left[0] >= 0:
            return write(fd, data)
        if fault == "interrupted":
            raise KeyboardInterrupt
        if fault == "no room":
            raise OSError(28, "No space left on device")
        return write(fd, data[:50]) if fault == "cut short" else write(fd, data)

    monkeypatch.setattr(os, "write", failing)
    if fault == "no sync":

        def no_sync(_: int) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fdatasync", no_sync)
    with pytest.raises(KeyboardInterrupt if fault == "interrupted" else store.StoreError):
        store.import_file(file, here)
    monkeypatch.undo()
    assert everything(here) == before, "the new file is gone, the other one is as it was"
    assert [(each.model, each.new) for each in store.import_file(file, here)] == [("claude", 2), ("gpt_fast", 2)]


@pytest.mark.parametrize("writes", [0, 1, 3])
def test_an_import_that_is_killed_leaves_a_readable_store_to_complete(here: Path, there: Path, writes: int) -> None:
    put(here, ok(OTHER, "z", "Z"))
    file = exported(there)
    code = f"""
write, left = os.write, [{writes}]
def killed(fd, data):
    if data.startswith(b'{{"v"'):
        if not left[0]:
            write(fd, data[:70])
            os.kill(os.getpid(), 9)
        left[0] -= 1
    return write(fd, data)
os.write = killed
store.import_file(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    assert elsewhere(code, file, here).returncode == -9
    whole = ["Z", *["C", "D"][:writes]], ["A", "B"][: max(0, writes - 2)]
    assert (texts(here, OTHER), texts(here)) == whole
    store.import_file(file, here)
    assert (texts(here, OTHER), texts(here)) == (["Z", "C", "D"], ["A", "B"])
    assert sorted(everything(here)) == ["claude.jsonl", "gpt_fast.jsonl"], "nothing is left beside them"


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of a file")
@pytest.mark.parametrize(("stored", "taken"), [(28, 20), (0, 40)], ids=["while appending", "while checking"])
def test_an_import_onto_a_full_disk_takes_in_nothing(here: Path, there: Path, stored: int, taken: int) -> None:
    put(here, ok(OTHER, "z", "Z"))
    for number in range(stored):
        put(here, ok(MODEL, f"mine {number}", "x" * 300))
    file = exported(there, *(ok(MODEL, str(number), "x" * 300) for number in range(taken)))
    before = everything(here)
    code = "import resource, sys; from helpers.__main__ import entry\n"
    code += "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))\n"
    code += "sys.argv = ['recuse', 'store', 'import', sys.argv[1], '--store', sys.argv[2]]; entry()"
    told = elsewhere(code, file, here)
    assert told.returncode == 2 and "Traceback" not in told.stderr, told.stderr
    assert told.stderr.startswith(f"recuse: {here}") and "; nothing was taken in" in told.stderr
    assert everything(here) == before
