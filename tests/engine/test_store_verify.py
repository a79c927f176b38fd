"""`recuse store verify`: damage of any kind is named by its line, costs no other reply, and nothing is deleted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import paths, store
from helpers.store.records import key_of
from helpers.types import Model, Request
from tests.engine.asking import ask
from tests.engine.test_store import LABELS, MODEL, OTHER_KEY, SAME_KEY, filled, more, put, reply_to


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
    (bad,) = store.verify(path).bad
    assert bad.number == 2 and bad.kind == "damaged" and wrong in bad.wrong


def test_a_name_twice_and_endless_nesting_are_damage(path: Path) -> None:
    filled(path, 1)
    line = path.read_bytes()[:-1]
    twice = line[1:-1].join([b'{"raw":"other",', b"}"]), "key 'raw' occurs twice in one object"
    deep = line.replace(b'"raw":"', b'"deep":' + b"[" * 200_000), "nested too deeply"
    for spoilt, words in (twice, deep):
        with pytest.raises(ValueError, match=words):
            store.examine(sealed(spoilt.rsplit(b',"crc"', 1)[0] + b"}"))


def test_a_line_with_a_fitting_checksum_and_no_reply_in_it_is_a_told_error_for_a_run(path: Path) -> None:
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


@settings(max_examples=100, deadline=None)
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
        told = [*found.bad, *([found.tail] if found.tail else [])]
        intact = b"".join(line + b"\n" for line in whole.splitlines() if line in hurt)
        assert bool(told) == (hurt != intact and found.same == 0)
        assert all(line.wrong and hurt.splitlines(keepends=True) for line in told)
        done = store.repair(path)
        assert store.read(path).keys() == survivors
        again = store.verify(path)
        assert not again.bad and again.tail is None
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
    lines = [*found.bad, *([found.tail] if found.tail else [])]
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
    assert store.verify(path).bad[1].number == 2
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
def test_a_line_of_a_later_format_is_named_with_what_to_do_and_neither_moved_nor_cut(path: Path, checksum: str) -> None:
    filled(path, 2)
    first, second = path.read_bytes().splitlines()
    later = changed(second, _put(2, "v"))
    later = later if checksum == "like ours" else later[:-18] + b'"crc":"sha256:0123456789"}'
    path.write_bytes(first + b"\n" + later + b"\n")
    (bad,) = store.verify(path).bad
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
    (bad,) = store.verify(path).bad
    assert bad.kind == "damaged" and store.repair(path).moved == 1


# --- doubles, locks, links --------------------------------------------------------------------------------------------


def test_copies_and_further_replies_are_counted_and_no_damage(path: Path) -> None:
    requests = filled(path, 2)
    path.write_bytes(path.read_bytes() + path.read_bytes().splitlines(keepends=True)[0])
    put(path, (requests[1], reply_to(requests[1], "said again", request_id="req_2")))
    found = store.verify(path)
    assert (found.lines, found.same, found.further, found.bad, found.tail) == (4, 1, 1, (), None)


def test_a_file_that_another_process_holds_is_not_repaired(path: Path) -> None:
    filled(path, 2)
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    before = path.read_bytes()
    lock = store.try_lock(path)
    assert lock is not None
    command = [sys.executable, "-m", "helpers", "store", "verify", "--repair", "--store", str(path.parent)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=paths.ROOT)
    assert told.returncode == 2 and f"gpt_fast.jsonl: held by process {os.getpid()} on " in told.stderr
    assert path.read_bytes() == before and not path.with_name("gpt_fast.jsonl.damaged").exists()
    lock.release()
    told = subprocess.run(command, capture_output=True, text=True, cwd=paths.ROOT)
    assert told.returncode == 0, told.stderr
    assert f"{path}, line 3: the checksum does not fit" in told.stdout
    assert "1 line moved to gpt_fast.jsonl.da" in told.stdout


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


@pytest.mark.parametrize("name", ["../gpt", "/etc/passwd", "a/b", "", ".gpt", "GPT", "g" * 65, "a\n", "a\0"])
def test_a_name_that_could_lead_elsewhere_is_no_name_of_a_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(store.StoreError, match="is no name of a model: lower case letters, digits"):
        store.file_of(tmp_path, name)


def test_unknown_folders_and_models_are_told(tmp_path: Path, path: Path) -> None:
    with pytest.raises(store.StoreError, match="no such folder of replies"):
        store.files(tmp_path / "nowhere")
    filled(path, 1)
    with pytest.raises(store.StoreError, match="no replies of gpt_slow; there are those of: gpt_fast"):
        store.files(tmp_path, ["gpt_slow"])
    assert store.files(tmp_path) == store.files(tmp_path, ["gpt_fast", "gpt_fast"]) == [path]
