"""Parts of one piece of work on fresh processes, each result as it comes; none of them outlives who asked for it."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import connection
from multiprocessing.synchronize import Event
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

_K = TypeVar("_K")
_P = TypeVar("_P")
#: In a process of the pool: what is set when nobody waits for its results any more.
_told: list[Event] = []


def results(work: Callable[[_P], Any], parts: Mapping[_K, _P], processes: int) -> Generator[tuple[_K, Any], None, None]:
    """What `work` makes of each part, with the part's key, in the order in which they are done.

    `work` is a function of a module, and parts and results can be pickled. An error in a part ends the others and is
    raised. Whoever stops asking, by an interrupt or by closing the iterator, waits for the parts that are begun, which
    `stopped` may shorten, and for no other.
    """
    # Fresh processes: a copy of this one would hold locks of threads that it does not have.
    fresh = multiprocessing.get_context("spawn")
    enough = fresh.Event()
    done: SimpleQueue[tuple[_K, Any] | BaseException] = SimpleQueue()

    def serve() -> None:
        # No process is ended from here: one that is ended within a result leaves the pool waiting for the rest of it.
        pool = ProcessPoolExecutor(processes, mp_context=fresh, initializer=_begin, initargs=(enough,))
        try:
            keys = {pool.submit(work, part): key for key, part in parts.items()}
            for future in as_completed(keys):
                if enough.is_set():
                    break
                done.put((keys[future], future.result()))
        except BaseException as error:
            done.put(error)
        finally:
            enough.set()
            pool.shutdown(cancel_futures=True)

    # An interrupt is raised in the main thread at any place, between taking a lock and noting that it is taken too. The
    # pool's locks are therefore taken by a thread of its own: one that stays taken would be waited for, for ever.
    server = Thread(target=serve, name="pool")
    try:
        server.start()
        for _ in parts:
            found = done.get()
            if isinstance(found, BaseException):
                raise found
            yield found
    finally:
        enough.set()
        if server.is_alive():
            server.join()


def stopped() -> bool:
    """Whether, in a process of the pool, nobody waits for results any more. False everywhere else."""
    return any(enough.is_set() for enough in _told)


def _begin(enough: Event) -> None:
    """Let this process end when the one that started it does, however that one is ended, and know of `enough`.

    An interrupt is for the one that started it: from a terminal it comes to all of them.
    """
    _told.append(enough)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        connection.wait([parent.sentinel])
        os._exit(1)

    if parent is not None:
        Thread(target=watch, daemon=True).start()
