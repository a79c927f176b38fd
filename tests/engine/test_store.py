"""The store: nothing that was paid for is lost, changed or read wrongly, and people can read the file."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from helpers import paths, store
from helpers.store.records import key_of
from helpers.types import Completion, Model, Request, Usage
from tests.engine.asking import ask

MODEL = Model("gpt_fast", "openai", "gpt-5-mini", "gpt", params={"seed": 7}, token_parameter="max_completion_tokens")
LABELS = {"experiment": "mt_bench_blind", "question_id": "writing_081", "condition": "none", "shown": ["x", "y"]}


def reply_to(request: Request, text: str = "Fine.", **changed: Any) -> Completion:
    given = {"finish": "stop", "usage": Usage(7, 5, 3, 2), "model": "gpt-5-mini-2026", "request_id": "req_1"}
    given |= {"latency": 1.25, "raw": '{"text": "Fine."}', "attempt": 1, "at": "2026-01-01T00:00:00.000+00:00"}
    return Completion(request.key, "ok", text, **{**given, **changed})


def put(path: Path, *lines: tuple[Request, Completion], labels: dict[str, Any] = LABELS) -> Path:
    """Attempts appended to a file."""
    writer = store.Writer(path)
    for request, completion in lines:
        writer.append(request, completion, labels)
    writer.close()
    return path


def filled(path: Path, count: int = 3, text: str = "Reply") -> list[Request]:
    """A file with so many replies, and the requests that they answer."""
    requests = [Request(MODEL, f"Question {number}") for number in range(count)]
    put(path, *((request, reply_to(request, f"{text} {number}")) for number, request in enumerate(requests)))
    return requests


def more(path: Path) -> Request:
    """One more reply in a file."""
    request = Request(MODEL, "more")
    put(path, (request, reply_to(request)))
    return request


def elsewhere(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    """What a process of its own does by this code, to which the store is open."""
    begin = "import os, sys; from pathlib import Path; from helpers import store\n"
    command = [sys.executable, "-c", begin + code, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=paths.ROOT)


# --- what is written is what is read ----------------------------------------------------------------------------------

AWKWARD = {
    "nul": "\x00",
    "line ends": "a\nb\r\nc\u2028d\u2029e\x85f",
    "bidi": "\u202eright to left\u202c \u05e9\u05dc\u05d5\u05dd",
    "zero width": "\u200b",
    "not normalized": "e\u0301 is not \u00e9",
    "a megabyte": "🙂" * 300_000,
    "half a character": "cut in the middle of an emoji: \ud83d",
}


def out_and_in(folder: Path, told: list[tuple[str, str, str, str]]) -> None:
    """Write replies (prompt, system text, text, body), read, export, import, read: the same files, the same replies."""
    first, second, file = folder / "first", folder / "second", folder / "replies.jsonl"
    asked = [(Request(MODEL, prompt, system), text, raw) for prompt, system, text, raw in told]
    replies = [(request, reply_to(request, text, raw=raw, error=raw[:20])) for request, text, raw in asked]
    first.mkdir()
    path = put(store.file_of(first, MODEL.name), *replies, labels={"condition": told[0][2]})
    expected = {request.key: reply for request, reply in reversed(replies)}
    assert store.read(path) == expected and path.read_bytes().count(b"\n") == len(told)
    lines = list(store.lines(path))
    said = [(x["request"]["prompt"], x["request"]["system"], x["reply"]["text"], x["raw"]) for x in lines]
    assert said == told
    assert store.export(first, file) == {MODEL.name: len(told)}
    (joined,) = store.import_file(file, second)
    assert store.read(store.file_of(second, MODEL.name)) == expected
    if joined.same == 0:
        assert store.file_of(second, MODEL.name).read_bytes() == path.read_bytes()
    assert [joined.new + joined.further + joined.same, joined.new] == [len(told), len(expected)]


TEXT = st.text(max_size=200)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(TEXT, TEXT, TEXT, TEXT), min_size=1, max_size=5))
def test_any_text_comes_back_byte_for_byte(told: list[tuple[str, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        out_and_in(Path(folder), told)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD)
def test_awkward_texts_come_back_unchanged(tmp_path: Path, text: str) -> None:
    prompt = text.encode(errors="replace").decode()  # no prompt holds half a character
    out_and_in(tmp_path, [(prompt, "", text, text)])


def test_a_number_of_any_size_is_kept_too(path: Path) -> None:
    """A seed beyond 64 bits, say: the line holds the very request whose key it has."""
    request = Request(replace(MODEL, params={"seed": 2**70, "temperature": 1e-05}), "Hi")
    put(path, (request, reply_to(request, "Hello.")))
    (line,) = store.scan(path)
    record = line.record
    assert record["request"]["params"]["seed"] == 2**70 and key_of(record["request"]) == request.key


# --- a line that people can read --------------------------------------------------------------------------------------


def test_a_line_holds_what_the_design_says(path: Path) -> None:
    schema = {"type": "object"}
    request = Request(MODEL, "Wie heißt »das«?", "Be brief.", schema, repeat=2)
    put(path, (request, reply_to(request, "Über…")))
    line = path.read_text(encoding="utf-8")
    record = json.loads(line)
    assert list(record) == ["v", "key", "attempt", "status", "request", "labels", "reply", "raw", "at", "crc"]
    assert record["request"] == {
        "provider": "openai",
        "model": "gpt-5-mini",
        "params": {"max_completion_tokens": 2048, "seed": 7},
        "system": "Be brief.",
        "prompt": "Wie heißt »das«?",
        "schema": schema,
        "repeat": 2,
    }
    assert list(record["request"]) == ["provider", "model", "params", "system", "prompt", "schema", "repeat"]
    assert list(record["labels"]) == ["experiment", "question_id", "condition", "shown"]
    reply = ["text", "finish", "usage", "model", "request_id", "latency"]
    assert list(record["reply"]) == [*reply, "error", "maybe_billed"]
    assert record["reply"]["usage"] == {"input": 7, "output": 5, "reasoning": 3, "cached": 2, "written": None}
    assert (record["v"], record["status"], record["attempt"]) == (1, "ok", 1)
    assert record["key"] == request.key and len(record["key"]) == 64
    assert "heißt »das«?" in line and "Über…" in line, "grep finds what people read"
    body, crc = line.rstrip("\n").rsplit(',"crc":"', 1)
    assert crc == f'{zlib.crc32((body + "}").encode()):08x}"}}'


def test_the_line_of_a_model_with_an_address_names_what_answers_there(path: Path) -> None:
    own = replace(MODEL, base_url="http://box:8000/v1", revision={"weights": "a1", "template": "b"})
    line = store.encode(Request(own, "Hi"), reply_to(Request(own, "Hi")), {})
    assert json.loads(line)["request"]["revision"] == {"weights": "a1", "template": "b"}
    assert b"box" not in line, "where a server stands says nothing about what it answers"


BASE = replace(MODEL, base_url="http://a/v1", revision={"weights": "1"}, params={"seed": 7, "top_p": 0.5})
ASKED = Request(BASE, "Prompt", "System", {"type": "object"}, repeat=0)
OTHER_KEY = {
    "provider": replace(ASKED, model=replace(BASE, provider="anthropic")),
    "model id": replace(ASKED, model=replace(BASE, model_id="gpt-5")),
    "revision": replace(ASKED, model=replace(BASE, revision={"weights": "2"})),
    "a parameter": replace(ASKED, model=replace(BASE, params={"seed": 8, "top_p": 0.5})),
    "another parameter": replace(ASKED, model=replace(BASE, params={"seed": 7, "top_p": 0.6})),
    "a parameter less": replace(ASKED, model=replace(BASE, params={"seed": 7})),
    "token limit": replace(ASKED, model=replace(BASE, max_tokens=4096)),
    "name of the limit": replace(ASKED, model=replace(BASE, token_parameter="max_tokens")),
    "system": replace(ASKED, system="System."),
    "prompt": replace(ASKED, source="Prompt,"),
    "schema": replace(ASKED, schema={"type": "array"}),
    "no schema": replace(ASKED, schema=None),
    "repeat": replace(ASKED, repeat=1),
}
SAME_KEY = {
    "address": replace(ASKED, model=replace(BASE, base_url="http://b/v1")),
    "name": replace(ASKED, model=replace(BASE, name="other", vendor="x", tier="y")),
    "key variable": replace(ASKED, model=replace(BASE, api_key_env="OTHER_API_KEY", retires="2030-01-01")),
    "order of parameters": replace(ASKED, model=replace(BASE, params={"top_p": 0.5, "seed": 7})),
    "form": replace(ASKED, model=replace(BASE, structured=False)),
}


def test_the_key_depends_on_what_is_asked_and_on_nothing_else() -> None:
    assert len({ASKED.key, *(request.key for request in OTHER_KEY.values())}) == 1 + len(OTHER_KEY)
    assert {name: request.key for name, request in SAME_KEY.items()} == dict.fromkeys(SAME_KEY, ASKED.key)


# --- torn, damaged, merged --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [1, 3])
def test_a_line_torn_anywhere_is_ignored_by_readers_and_cut_by_the_writer(path: Path, lines: int) -> None:
    requests = filled(path, lines)
    whole = path.read_bytes()
    start = whole.rstrip(b"\n").rfind(b"\n") + 1
    before = {request.key for request in requests[:-1]}
    for cut in range(start, len(whole) - 1):
        path.write_bytes(whole[:cut])
        assert store.read(path).keys() == before
        assert path.read_bytes() == whole[:cut], "readers leave the file alone"
        store.Writer(path).close()
        assert path.read_bytes() == whole[:start]


@pytest.mark.parametrize(
    "unit",
    [
        *(b"x", b" ", b"}", b"\\n", b'\\"', b"{", b'{"v":1,"key":"', b'{"v":2,"key":"a"} ', b',"crc":"'),
        *(b',"crc":"00000000"}', b'{"v":1,"key":"a","crc":"00000000"}', b'"},{"'),
    ],
)
def test_a_torn_line_of_any_length_is_cut_and_nothing_else_is(path: Path, unit: bytes) -> None:
    """Where time grows with the square of its length, some of these take hours."""
    filled(path, 3)
    before = path.read_bytes()
    torn = before.splitlines()[0][:60] + unit * (8 * 2**20 // len(unit))
    path.write_bytes(before + torn)
    assert len(store.read(path)) == 3 and [line.kind for line in store.verify(path).odd] == ["torn"]
    store.Writer(path).close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("junk", [b',"crc":"00000000"}', b'{"v":1,"key":"a","crc":"00000000"}', b"x"])
def test_a_whole_line_is_found_behind_any_amount_of_damage(path: Path, junk: bytes) -> None:
    filled(path, 3)
    first, second, third = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + junk * (4 * 2**20 // len(junk)) + second + third[:-9])
    with pytest.raises(store.StoreError, match="line 2"):
        store.read(path)
    assert store.repair(path).rescued == 1
    assert path.read_bytes() == first + second


def test_a_whole_last_line_without_its_newline_is_kept(path: Path) -> None:
    requests = filled(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(store.read(path)) == 2, "a reader cannot know that nothing follows"
    store.Writer(path).close()
    assert path.read_bytes() == whole
    assert store.read(path).keys() == {request.key for request in requests}


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_any_other_damage_is_an_error_that_names_file_and_line(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, requests = store.file_of(Path(folder), "gpt_fast"), [Request(MODEL, text) for text in "abc"]
        whole = b"".join(store.encode(request, reply_to(request), LABELS) for request in requests)
        place = data.draw(st.integers(0, len(whole) - 2))
        byte = data.draw(st.integers(0, 255).filter(lambda value: value != whole[place]))
        path.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with pytest.raises(store.StoreError) as error:
            store.read(path)
        line = whole[:place].count(b"\n") + 1
        assert f"{path}, line {line}: " in str(error.value)


def test_the_lines_before_the_damage_are_readable(path: Path) -> None:
    filled(path, 5)
    path.write_bytes(path.read_bytes().replace(b"Reply 3", b"Reply X"))
    seen = []
    with pytest.raises(store.StoreError, match="line 4"):
        for record in store.lines(path):
            seen.append(record["reply"]["text"])
    assert seen == ["Reply 0", "Reply 1", "Reply 2"]


def test_the_first_finished_reply_counts_and_failed_attempts_are_none(path: Path) -> None:
    asked, never = Request(MODEL, "asked"), Request(MODEL, "never answered")
    for request, status, text in [
        (asked, "rate_limited", ""),
        (never, "provider_error", ""),
        (asked, "ok", "first"),
        (never, "maybe_billed", ""),
        (asked, "ok", "second"),
        (never, "empty", ""),
    ]:
        put(path, (request, replace(reply_to(request, text), status=status)))
    assert {key: reply.text for key, reply in store.read(path).items()} == {asked.key: "first"}
    assert [record["status"] for record in store.lines(path)].count("ok") == 2


def test_what_is_not_there_or_blank_holds_nothing(path: Path) -> None:
    assert store.read(path) == {} and not path.exists()
    for blank in (b"", b"\n", b"\r\n"):
        path.write_bytes(blank)
        assert store.read(path) == {}
        more(path)
        assert len(store.read(path)) == 1 and store.verify(path).odd == ()


# --- one write a line, brought to the disk in groups ------------------------------------------------------------------


def test_each_line_is_one_write_at_the_end_of_the_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where another process wrote to it a moment before: lines of two writers never mix."""
    writes, write = [], os.write

    def after_another(fd: int, data: bytes) -> int:
        writes.extend([b"another's\n", bytes(data)])
        with path.open("ab", buffering=0) as another:
            another.write(writes[-2])
        return write(fd, data)

    one, other = store.Writer(path), store.Writer(path)
    monkeypatch.setattr(os, "write", after_another)
    for number, writer in enumerate((one, other, one)):
        request = Request(MODEL, str(number))
        writer.append(request, reply_to(request), {})
    monkeypatch.undo()
    one.close(), other.close()
    assert [line.count(b"\n") for line in writes] == [1] * 6 and path.read_bytes() == b"".join(writes)


class Disk:
    """Takes down the syncs that were begun; each takes until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun, self.one, self.free = [], threading.Event(), threading.Event()
        self.free.set()
        monkeypatch.setattr(os, "fdatasync", self.sync)

    def sync(self, number: int) -> None:
        self.begun.append(number)
        self.one.set()
        assert self.free.wait(30)

    def syncs(self, writer: store.Writer) -> int:
        """How many there were, when the one that was begun is over."""
        if writer._syncing is not None:
            writer._syncing.result(30)
        return len(self.begun)


def test_lines_are_synced_in_groups(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, now = Disk(monkeypatch), [0.0]
    monkeypatch.setattr(store.appending.time, "monotonic", lambda: now[0])
    writer, request = store.Writer(path), Request(MODEL, "Hi")
    for lines, syncs in ((63, 0), (1, 1), (63, 1), (1, 2), (10, 2)):
        for _ in range(lines):
            writer.append(request, reply_to(request), {})
        assert disk.syncs(writer) == syncs
    writer.sync_when_due()
    assert disk.syncs(writer) == 2, "not due yet"
    now[0] = 0.2
    writer.sync_when_due()
    assert disk.syncs(writer) == 3
    now[0] = 9.0
    writer.sync_when_due()
    assert disk.syncs(writer) == 3, "nothing waits"
    writer.append(request, reply_to(request), {})
    writer.close()
    assert len(disk.begun) == 4, "what is left is synced on closing"


def test_nobody_waits_for_a_slow_disk_at_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, request = Disk(monkeypatch), Request(MODEL, "Hi")
    writer, most = store.Writer(path), store.appending.MOST_UNSYNCED
    disk.free.clear()
    for _ in range(64 + most - 1):
        writer.append(request, reply_to(request), {})
    assert disk.one.wait(30)
    assert len(disk.begun) == 1 and path.read_bytes().count(b"\n") == 64 + most - 1, "all of them are in the file"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(writer.append, request, reply_to(request), {})
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        disk.free.set()
        waiting.result(30)
    assert disk.syncs(writer) == 2, "that of the first lines, and one of all that came meanwhile"
    writer.close()
    assert len(disk.begun) == 2 and path.read_bytes().count(b"\n") == 64 + most


@pytest.mark.parametrize("then", ["append", "sync_when_due", "sync", "close"])
def test_a_sync_that_failed_is_told_next(path: Path, monkeypatch: pytest.MonkeyPatch, then: str) -> None:
    writer, request = store.Writer(path), Request(MODEL, "Hi")
    monkeypatch.setattr(os, "fdatasync", _full)
    for _ in range(64):
        writer.append(request, reply_to(request), {})
    assert isinstance(writer._syncing.exception(30), store.StoreError)
    with pytest.raises(store.StoreError, match=r"gpt_fast.jsonl: cannot sync \(No space left"):
        for _ in range(64 if then == "append" else 1):
            writer.append(request, reply_to(request), {}) if then == "append" else getattr(writer, then)()
    monkeypatch.undo()
    if then != "close":
        writer.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer._fd)


def test_where_no_thread_can_be_started_the_disk_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    disk, request, writer = Disk(monkeypatch), Request(MODEL, "Hi"), store.Writer(path)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    for _ in range(65):
        writer.append(request, reply_to(request), {})
    assert len(disk.begun) == 1
    monkeypatch.setattr(os, "fdatasync", _full)
    with pytest.raises(store.StoreError, match=r"gpt_fast.jsonl: cannot sync \(No space left"):
        writer.close()
    monkeypatch.undo()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writer._fd)


def test_a_line_that_does_not_fit_is_undone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 2)
    before, write, request = path.read_bytes(), os.write, Request(MODEL, "more")
    writer = store.Writer(path)
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:100]))
    with pytest.raises(store.StoreError, match=r"gpt_fast.jsonl: cannot append \(no space left\)"):
        writer.append(request, reply_to(request), {})
    assert path.read_bytes() == before
    monkeypatch.setattr(os, "write", _full)
    with pytest.raises(store.StoreError, match=r"cannot append \(No space left on device\)"):
        writer.append(request, reply_to(request), {})
    monkeypatch.undo()
    writer.append(request, reply_to(request), {})
    writer.close()
    assert len(store.read(path)) == 3


def _full(*_: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


# --- one writer a file ------------------------------------------------------------------------------------------------


def test_a_second_run_is_refused_and_told_who_holds_the_file(path: Path) -> None:
    lock = store.try_lock(path)
    assert lock is not None
    assert store.try_lock(path) is None, "neither here"
    assert store.holder(path.with_name("other.jsonl")) == "another process", "nobody has noted who holds it"
    code = "p = Path(sys.argv[1]); lock = store.try_lock(p); print(lock is None); print(store.holder(p))"
    refused, holder = elsewhere(code, path).stdout.splitlines()
    assert refused == "True", "nor in another process"
    assert f"process {os.getpid()} on " in holder and " since " in holder
    lock.release()
    assert elsewhere(code, path).stdout.startswith("False")


def test_the_lock_of_a_process_that_died_is_free(path: Path) -> None:
    assert elsewhere("lock = store.try_lock(Path(sys.argv[1])); os._exit(0 if lock else 1)", path).returncode == 0
    lock = store.try_lock(path)
    assert lock is not None and str(os.getpid()) in store.holder(path)
    lock.release()


def test_writing_frees_the_lock_whatever_happens(path: Path) -> None:
    freed = []
    with pytest.raises(KeyError), store.writing(path, lambda: freed.append(1)) as writer:
        request = Request(MODEL, "Hi")
        writer.append(request, reply_to(request), {})
        raise KeyError
    assert freed == [1] and len(store.read(path)) == 1
    with pytest.raises(store.StoreError, match="no regular file"), store.writing(path.parent, lambda: freed.append(2)):
        raise AssertionError("a folder is no store file")
    assert freed == [1, 2]


# --- files as editors and systems leave them: read where nothing is lost, else refused with what to do ----------------

unix = pytest.mark.skipif(sys.platform == "win32", reason="rights and pipes of another system")
#: What editors make of a file of whole lines.
SAVED = {
    "blank last line": lambda whole: whole + b"\n",
    "CRLF": lambda whole: whole.replace(b"\n", b"\r\n"),
    "CRLF and blank": lambda whole: whole.replace(b"\n", b"\r\n") + b"\r\n",
    "blank CRLF": lambda whole: whole + b"\r\n",
    "one CRLF": lambda whole: whole.replace(b"\n", b"\r\n", 1),
    "last CRLF": lambda whole: whole[:-1] + b"\r\n",
}


@pytest.mark.parametrize("saved", SAVED)
def test_what_an_editor_adds_is_read_over(path: Path, tmp_path: Path, saved: str) -> None:
    requests = filled(path, 3)
    path.write_bytes(SAVED[saved](path.read_bytes()))
    found = store.verify(path)
    assert (found.lines, found.odd) == (3, ())
    assert store.read(path).keys() == {each.key for each in requests}
    (tmp_path / "there").mkdir()
    assert store.import_file(path, tmp_path / "there", "gpt_fast")[0].new == 3
    assert store.export(tmp_path, tmp_path / "there" / "out.jsonl.jsonl") == {"gpt_fast": 3}
    (again,) = store.import_file(tmp_path / "there" / "out.jsonl.jsonl", tmp_path / "third")
    assert again.new == 3
    more(path)
    assert store.verify(path).odd == () and len(store.read(path)) == 4


@unix
@pytest.mark.parametrize("kind", ["folder", "pipe", "link to a pipe"])
def test_what_is_no_regular_file_is_refused_by_name_and_not_waited_for(path: Path, tmp_path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    else:
        pipe = path if kind == "pipe" else tmp_path / "pipe"
        os.mkfifo(pipe)
        if pipe != path:
            path.symlink_to(pipe)
    refused = pytest.raises(store.StoreError, match=r"gpt_fast.jsonl: no regular file but a folder, pipe or device")
    for use in (store.read, store.verify, store.Writer, lambda path: store.export(tmp_path, tmp_path.parent / "o.csv")):
        with refused:
            use(path)
    with refused:
        ask([Request(MODEL, "Hi")], tmp_path)


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.EMFILE, r"raise the limit of open files \(`ulimit -n`\) or lower `concurrency`"),
        (errno.EACCES, "you may not write or read it; change its owner or rights, or name another folder with `store`"),
        (errno.EROFS, "it is mounted read-only; name another folder with `store`"),
        (errno.ENOSPC, "make room there, or write elsewhere with `store`"),
    ],
)
def test_what_the_system_refuses_is_told_with_its_file_and_what_to_do(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, remedy: str
) -> None:
    filled(path, 1)

    def refuse(at: Any, *_: Any) -> int:
        raise OSError(number, os.strerror(number), str(at))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(store.StoreError, match=f"gpt_fast.jsonl.*{os.strerror(number)}; {remedy}"):
            store.Writer(path)
    writer = store.Writer(path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", refuse)
        told = rf"gpt_fast.jsonl: cannot append \({os.strerror(number)}\); {remedy}"
        with pytest.raises(store.StoreError, match=told):
            writer.append(Request(MODEL, "more"), reply_to(Request(MODEL, "more")), {})
    writer.close()


@unix
def test_files_of_a_store_are_the_owner_s_alone(path: Path, tmp_path: Path) -> None:
    lock = store.try_lock(path)
    more(path)
    lock.release()
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    store.repair(path)
    for each in (path, Path(f"{path}.holder"), Path(f"{path}.damaged")):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
