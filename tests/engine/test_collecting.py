"""The search for garbage while calls are made: rare, and afterwards as it was."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers import store
from helpers.judge import complete_all
from helpers.judge.collecting import OBJECTS, rarely
from helpers.types import Model, Request

JUDGE = Model("sim", "simulated", "sim-1", "claude")


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    """Without what the tests leave out of the search for themselves (conftest.py)."""
    before = gc.get_threshold()
    gc.unfreeze()
    yield
    gc.set_threshold(*before)
    gc.freeze()


def test_it_is_rare_within_and_as_it_was_after_also_where_stages_overlap_or_fail() -> None:
    before = gc.get_threshold()
    first, second = rarely(), rarely()
    first.__enter__()
    assert gc.get_threshold() == (OBJECTS, *before[1:]) and gc.get_freeze_count()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold()[0] == OBJECTS, "the other one still runs"
    second.__exit__(None, None, None)
    assert gc.get_threshold() == before and not gc.get_freeze_count()
    with pytest.raises(KeyError), rarely():
        raise KeyError
    assert gc.get_threshold() == before


def test_a_stage_leaves_out_what_was_made_since_whatever_it_is_part_of_began() -> None:
    with rarely():
        count, new = gc.get_freeze_count(), [[] for _ in range(10_000)]
        with rarely():
            assert gc.get_freeze_count() >= count + len(new)
    assert not gc.get_freeze_count()


def test_what_somebody_else_left_out_stays_left_out() -> None:
    gc.freeze()
    count, new = gc.get_freeze_count(), [[] for _ in range(10_000)]
    with rarely():
        assert gc.get_freeze_count() >= count + len(new)
    assert gc.get_freeze_count() >= count, "to let go of ours would let go of theirs"


def test_garbage_is_not_left_out_for_good_where_somebody_left_out_objects() -> None:
    gc.freeze()

    class Ring:
        pass

    ring = Ring()
    ring.itself = ring
    left = weakref.ref(ring)
    del ring
    with rarely():
        assert left() is None


@pytest.mark.parametrize("most", [0, 5 * OBJECTS])
def test_who_searches_never_or_more_rarely_still_keeps_that(most: int) -> None:
    gc.set_threshold(most, 7, 9)
    with rarely():
        assert gc.get_threshold() == (most, 7, 9)
    assert gc.get_threshold() == (most, 7, 9)


def test_calls_are_made_so_and_leave_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, during, append = gc.get_threshold(), [], store.Writer.append

    def watched(*line: Any) -> None:
        during.append(gc.get_threshold()[0])
        append(*line)

    monkeypatch.setattr(store.Writer, "append", watched)
    asyncio.run(complete_all([Request(JUDGE, "What is two plus two?")], folder=tmp_path, show=False))
    assert during == [OBJECTS] and gc.get_threshold() == before
