"""What is on the disk after a power cut: the bytes of files that were synced, under names whose folder was synced."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from tests.engine.test_store import filled


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Each sync, with the inode of the file or folder, and each replacement, with that of the new file, in order."""
    found: list[tuple[str, int]] = []

    def watched(name: str, real: Callable[..., Any], inode: Callable[..., int]) -> None:
        def step(*args: Any) -> Any:
            found.append((name, inode(args[0])))
            return real(*args)

        monkeypatch.setattr(os, name, step)

    for sync in ("fsync", "fdatasync"):
        if hasattr(os, sync):
            watched(sync, getattr(os, sync), lambda descriptor: os.fstat(descriptor).st_ino)
    watched("replace", os.replace, lambda source: os.stat(source).st_ino)
    return found


def synced(steps: list[tuple[str, int]], path: Path) -> list[int]:
    """The places in `steps` at which a file or folder was synced."""
    inode = path.stat().st_ino
    return [at for at, (name, which) in enumerate(steps) if name != "replace" and which == inode]


def test_a_new_store_file_is_under_its_name_before_the_first_reply(path: Path, steps: list[tuple[str, int]]) -> None:
    writer = store.Writer(path)
    assert synced(steps, path.parent), "a power cut would take the name, and all replies with it"
    steps.clear()
    writer.close()
    store.Writer(path).close()
    assert not synced(steps, path.parent), "a name that was there needs no second sync"


def test_every_reply_is_on_the_disk_when_its_writer_is_closed(path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    assert synced(steps, path)


def test_a_repair_keeps_what_it_moves_before_it_replaces(path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    good = path.read_bytes()
    path.write_bytes(b"no line\n" + good)
    steps.clear()
    store.repair(path)
    side, folder = synced(steps, path.with_name(f"{path.name}.damaged")), synced(steps, path.parent)
    (replaced,) = [at for at, (name, _) in enumerate(steps) if name == "replace"]
    (content,) = synced(steps, path)
    assert side[-1] < folder[0] < replaced, "what is moved away is on the disk under its name first"
    assert content < replaced < folder[-1], "the new file is whole before it takes the name, and keeps it"


def test_an_export_is_whole_before_it_has_its_name(path: Path, tmp_path: Path, steps: list[tuple[str, int]]) -> None:
    filled(path, 3)
    target = tmp_path / "elsewhere" / "mine.jsonl"
    target.parent.mkdir()
    steps.clear()
    store.export(tmp_path, target)
    (replaced,) = [at for at, (name, _) in enumerate(steps) if name == "replace"]
    assert synced(steps, target)[0] < replaced < synced(steps, target.parent)[-1]


def test_replies_taken_in_from_another_store_are_on_the_disk(
    path: Path, tmp_path: Path, steps: list[tuple[str, int]]
) -> None:
    filled(path, 3)
    there = tmp_path / "there"
    there.mkdir()
    steps.clear()
    store.merge(tmp_path, there)
    assert synced(steps, store.file_of(there, path.stem)) and synced(steps, there)
