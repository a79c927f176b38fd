"""In which order calls are made: side by side at all addresses, and at each so that what is wrong shows early."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Container, Iterable, Sequence

from helpers.types import Request

#: A call that is refused before it is sent waits for nothing: after so many at most, others get their turn.
WITHOUT_PAUSE = 50
#: Those who ask side by side begin so many seconds after one another. Calls that begin together come back together and
#: go on in step for many rounds: each reply then waits until all others of its crowd have been handled.
APART = 0.001
#: What makes one call; it has to say itself what became of it.
One = Callable[[Request], Awaitable[None]]


async def in_order(
    requests: Iterable[Request], one: One, concurrency: int, answered: Container[str], over: Callable[[], bool]
) -> None:
    """Make all of these calls, so many at a time to each address, and to each server of a model, until it is `over`.

    `answered` holds the names of the models that have answered in this run.
    """
    found: dict[tuple[tuple[str, str | None], ...], list[Request]] = {}
    for request in requests:
        found.setdefault(request.model.addresses, []).append(request)
    # A group waits for each of its tasks also when it is cancelled: all are recorded before files close.
    async with asyncio.TaskGroup() as addresses:
        for servers, group in found.items():
            addresses.create_task(_address(group, one, concurrency * len(servers), answered, over))


async def _address(
    requests: Sequence[Request], one: One, concurrency: int, answered: Container[str], over: Callable[[], bool]
) -> None:
    """All calls to one address: the first alone, then the first of each other model, then the rest side by side.

    So a wrong key costs one call, whatever the number of models, and a wrong model id one of its own. Those side by
    side begin APART; simulated ones, which nobody waits for, at once.
    """
    first: dict[str, Request] = {}
    for request in requests:
        if request.model.name not in answered:  # as those of deferred calls may have
            first.setdefault(request.model.name, request)
    for request in [*first.values()][:1]:
        await one(request)
    async with asyncio.TaskGroup() as group:
        for request in [*first.values()][1:]:
            group.create_task(one(request))
    others = [request for request in requests if first.get(request.model.name) is not request]
    rest = iter(others)
    begun = 0  # by all workers since others had their turn

    def turn() -> None:
        nonlocal begun
        begun = 0

    async def worker(place: int) -> None:
        nonlocal begun
        if not requests[0].model.simulated:
            await asyncio.sleep(place * APART)
        for request in rest:
            begun += 1
            if begun == WITHOUT_PAUSE:
                asyncio.get_running_loop().call_soon(turn)
            if request.model.simulated or begun >= WITHOUT_PAUSE:
                await asyncio.sleep(0)  # simulated models never wait: without this no interrupt would be heard
            if over():
                return
            await one(request)

    async with asyncio.TaskGroup() as group:
        for place in range(min(concurrency, len(others))):
            group.create_task(worker(place))
