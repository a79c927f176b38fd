"""Files of a store as editors and systems leave them: read where nothing is lost, else refused with what to do."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from helpers.types import Request
from tests.engine.asking import ask
from tests.engine.test_store import MODEL, filled, more, reply_to

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights and pipes of another system")


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


def test_a_file_of_one_blank_line_holds_nothing(path: Path) -> None:
    for blank in (b"\n", b"\r\n"):
        path.write_bytes(blank)
        assert store.read(path) == {}
        more(path)
        assert len(store.read(path)) == 1 and store.verify(path).odd == ()


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


def test_files_of_a_store_are_the_owner_s_alone(path: Path, tmp_path: Path) -> None:
    lock = store.try_lock(path)
    more(path)
    lock.release()
    path.write_bytes(path.read_bytes() + b"rubbish\n")
    store.repair(path)
    for each in (path, Path(f"{path}.holder"), Path(f"{path}.damaged")):
        assert stat.S_IMODE(each.stat().st_mode) == 0o600, each
