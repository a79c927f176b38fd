"""Everything a model says comes through here: what is stored is returned, only what is missing is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from helpers import store
from helpers.judge import checking
from helpers.judge.asking import UNWRITTEN, Asking
from helpers.judge.budget import Account, Budget, OverBudget, Spending
from helpers.judge.checking import MissingKey, check_keys
from helpers.judge.collecting import rarely
from helpers.judge.fitting import TooLong, refuse, too_long
from helpers.judge.limiting import OverLimit, limits_at, over_limit, refuse_slow
from helpers.judge.plan import Plan, make_plan, unique
from helpers.judge.prices import NoPrice, actual, dollars
from helpers.judge.progress import Progress, notice
from helpers.judge.reading import Labels, first_askers, judgments
from helpers.judge.stopping import Interrupted
from helpers.judge.telling import incomplete
from helpers.providers import Clock
from helpers.providers.transport import without_body
from helpers.types import Completion, Judgment, Request, Trial

__all__ = [
    "UNWRITTEN",
    "Account",
    "Budget",
    "Incomplete",
    "Interrupted",
    "MissingKey",
    "NoPrice",
    "OverBudget",
    "OverLimit",
    "Plan",
    "Spending",
    "TooLong",
    "actual",
    "check_fit",
    "check_keys",
    "complete_all",
    "dollars",
    "judge_all",
    "labels_of",
    "make_plan",
    "notice",
]

#: A waiting run says so after this many seconds.
PATIENCE_BEFORE_WORDS = 2.0
#: What an error says that comes before the first call of a run.
NOTHING = "nothing was asked"


class Incomplete(RuntimeError):
    """Some replies are still missing after everything that could be asked was asked; what came is stored."""


async def complete_all(
    requests: Iterable[Request],
    *,
    folder: Path,
    budget: Budget | None = None,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    ask: bool = True,
    stage: str = "calls",
    concurrency: int = 16,
    clock: Clock | None = None,
    show: bool = True,
    held: dict[str, Request] | None = None,
    keep: Callable[[Completion], Completion] = lambda reply: reply,
) -> dict[str, Completion]:
    """The reply to each request by key: stored ones as they are, missing ones asked, within the budget.

    `labels` maps keys to what people who grep the store want to see. `held` are requests by key whose prompts are made
    already (`Request.whole`); each is let go when it is sent. `keep` makes of a stored reply what is returned of it.
    With `ask=False` nothing is asked and missing keys are absent. Raises before the first call: MissingKey, TooLong,
    OverLimit, NoPrice, OverBudget; after the last: Incomplete, which counts what is still missing and why. An
    interrupt lets what is in flight arrive and raises Interrupted (a request to end: KeyboardInterrupt); a second one
    gives it up.
    """
    wanted = unique(requests)
    replies = _stored(wanted, folder, keep)
    if not ask or len(replies) == len(wanted):
        return replies
    budget, clock = budget or Budget(), clock or Clock()
    so = "none of these calls was made, and what came before is stored" if budget.rows else NOTHING
    held = checking.check(wanted, replies, labels or {}, so, held if held is not None else {})
    check_fit((request for key, request in wanted.items() if key not in replies), labels or {}, so=so)
    limits = limits_at(request.model for request in wanted.values())
    with ExitStack() as stack:
        stack.enter_context(rarely())
        writers = await _lock(_models(wanted, replies), folder, stack, clock)
        replies = _stored(wanted, folder, keep)  # whoever held the lock may have asked the same
        missing = [request for key, request in wanted.items() if key not in replies]
        if not budget.planned:
            make_plan({stage: missing}, None).check(budget)
        progress = Progress(_named(stage, missing, labels or {}), len(wanted), len(replies), budget, show)
        stack.callback(_closed, progress)
        stack.callback(budget.abandon, list(wanted))  # whatever ends this: what was sent may have been billed
        asking = Asking(wanted, replies, writers, labels or {}, budget, progress, stage, held, keep)
        await asking.run(concurrency, clock, limits)
    if len(replies) < len(wanted):
        said = incomplete(len(replies), len(wanted), asking.reasons)
        raise Incomplete(said + _costs([r for key, r in wanted.items() if key not in replies], budget))
    return replies


def _named(stage: str, missing: Sequence[Request], labels: Mapping[str, Mapping[str, Any]]) -> str:
    """A stage with the experiment that asks: bars of several notebooks stand in one terminal."""
    experiment = labels.get(missing[0].key, {}).get("experiment") if missing else None
    return f"{experiment}: {stage}" if experiment else stage


async def judge_all(trials: Iterable[Trial], *, folder: Path, **options: Any) -> list[Judgment]:
    """A judgment for each trial, in order: `complete_all`, and then each reply is read for its verdict.

    A trial without a stored reply (only with `ask=False`) has the outcome "missing". A reply comes without its
    body (`raw`) unless log-probabilities stand in it: nothing else is read from there, and many take much memory.
    """
    with rarely():
        asked, held, room = list[Trial](), dict[str, Request](), checking.HELD
        for trial in trials:
            asked.append(trial)
            if room > 0 and trial.request.unmade:  # its prompt has to be made for its key
                whole = trial.request.whole()
                if (room := room - len(whole.prompt)) > 0:
                    held.setdefault(whole.key, whole)
        options = {"folder": folder, "labels": labels_of(asked), "held": held, "keep": without_body, **options}
        replied = await complete_all((trial.request for trial in asked), **options)
        options.clear(), held.clear()  # of what was stored nothing was sent
        return judgments(asked, replied)


def check_fit(
    requests: Iterable[Request],
    labels: Mapping[str, Mapping[str, Any]],
    folder: Path | None = None,
    so: str = NOTHING,
) -> None:
    """Raise TooLong where a prompt cannot fit into its model's context, OverLimit where no minute of limits.yaml can.

    With a folder, requests whose replies are stored there are left out. `so` says what was asked by now.
    """
    from helpers.config import load_contexts  # not before it is needed: pydantic is slow to import

    requests = list(requests)
    long, slow = too_long(requests, load_contexts()), over_limit(requests)
    found = unique([*(each[0] for each in long), *slow])
    stored = _stored(found, folder, without_body) if folder and found else {}
    refuse([each for each in long if each[0].key not in stored], labels, so)
    refuse_slow([each for each in slow if each.key not in stored], labels)


def labels_of(trials: Iterable[Trial]) -> Mapping[str, Mapping[str, Any]]:
    """What the store's lines say for people who grep them, by key; of equal requests the first asker's."""
    return Labels(first_askers(trials))


def _closed(progress: Progress) -> None:
    with suppress(OSError):  # the terminal was closed
        progress.close()


def _models(wanted: Mapping[str, Request], replies: Mapping[str, Completion]) -> list[str]:
    return sorted({request.model.name for key, request in wanted.items() if key not in replies})


def _stored(
    wanted: Mapping[str, Request], folder: Path, keep: Callable[[Completion], Completion]
) -> dict[str, Completion]:
    found: dict[str, Completion] = {}
    for name in sorted({request.model.name for request in wanted.values()}):
        path, keys = store.file_of(folder, name), [key for key, request in wanted.items() if request.model.name == name]
        _name_index(path)
        stored = {reply.key: keep(reply) for reply in store.replies(path) if reply.key in wanted}
        found |= {key: stored[key] for key in keys if key in stored}
    return found


@lru_cache
def _name_index(path: Path) -> None:
    """Name once the index that an earlier version kept beside a store file."""
    if told := store.left_index(path):
        notice(told)


def _costs(missing: Sequence[Request], budget: Budget) -> str:
    """What a run that ended too early has cost, and the rest could; "" where nothing costs anything."""
    more = make_plan({"": missing}, None).usd
    if not (more or budget.spent):
        return ""
    return f"\nWhat is missing could cost up to {dollars(more)} more. The account of this run:\n{budget.account}"


async def _lock(names: Sequence[str], folder: Path, stack: ExitStack, clock: Clock) -> dict[str, store.Writer]:
    """Writers for the models' files, locked in sorted order so that two runs cannot wait for each other."""
    writers = {}
    for name in names:
        path, since, said = store.file_of(folder, name), clock.now(), False
        while (lock := store.try_lock(path)) is None:
            if clock.now() - since >= PATIENCE_BEFORE_WORDS and not said:
                notice(f"waiting for {path.name}, held by {store.holder(path)}")
                said = True
            await clock.sleep(0.1)
        writers[name] = stack.enter_context(store.writing(path, lock.release))
    return writers
