"""Which repeat of a control group serves a comparison: a stored one while it is fresh, else the next free one.

A control that another experiment asked before costs nothing, but a judge that changed in between would pass its change
off as an effect. So a stored control serves a judge only if it was returned by the same model id as the judge's first
treated reply and lies at most `max_age_days` away from it. Simulated judges do not age.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from helpers.judge import complete_all
from helpers.types import Completion, Judgment, Model, Request, Trial

DAY = 86400.0


@dataclass(frozen=True)
class Control:
    """The control of one judge: how far its repeats are shifted, how old it is, and whether that is settled.

    `gap_days` is the time between its farthest reply and the judge's first treated reply (NaN before there is one),
    `stale` says why an earlier one does not serve. `settled` is False while no treated reply has shown its model id:
    the stored control may still have to be asked again.
    """

    shift: int = 0
    gap_days: float = float("nan")
    stale: str = ""
    settled: bool = True


async def controls(
    trials: Sequence[Trial], control: str, folder: Path, now: float, max_age_days: float
) -> dict[str, Control]:
    """The control of each judge, by the store as it is; `now` (seconds) stands for a treated reply yet to come."""
    judges = {trial.judge.name: trial.judge for trial in trials}
    stored = await _stored([trial.request for trial in trials], folder)
    found = {}
    for name, judge in judges.items():
        mine = [trial for trial in trials if trial.judge.name == name]
        treated = [stored[t.request.key] for t in mine if t.condition != control and t.request.key in stored]
        blind = [trial.request for trial in mine if trial.condition == control]
        if blind and len(blind) < len(mine):
            found[name] = await _control(judge, blind, treated, folder, now, max_age_days)
    return found


async def _control(
    judge: Model,
    blind: Sequence[Request],
    treated: Sequence[Completion],
    folder: Path,
    now: float,
    max_age_days: float,
) -> Control:
    first = min(treated, key=lambda reply: reply.at) if treated else None
    since = _seconds(first) if first else now
    serving, stale, shift = [], "", 0
    while replies := await _stored([_shifted(request, shift) for request in blind], folder):
        gap = max(abs(_seconds(reply) - since) for reply in replies.values()) / DAY
        models = {reply.model for reply in replies.values()}
        if judge.simulated:
            return Control(gap_days=0.0)
        if first and models != {first.model}:
            stale = f"it came from {', '.join(sorted(map(str, models)))}, the first hinted reply from {first.model}"
        elif gap > max_age_days:
            stale = f"it lies {gap:.0f} days from the first hinted reply, more than {max_age_days:g}"
        else:
            serving.append((gap, shift))
        shift += 1
    if serving:
        gap, nearest = min(serving)
        return Control(nearest, gap if first else float("nan"), stale, settled=first is not None)
    return Control(shift, stale=stale)


async def _stored(requests: Sequence[Request], folder: Path) -> Mapping[str, Completion]:
    return await complete_all([r for r in requests if not r.unwritten], folder=folder, ask=False)


def _seconds(reply: Completion) -> float:
    return datetime.fromisoformat(reply.at).timestamp()


def _shifted(request: Request, shift: int) -> Request:
    return replace(request, repeat=request.repeat + shift) if shift else request


def with_gaps(found: Mapping[str, Control], judgments: Sequence[Judgment], control: str) -> dict[str, Control]:
    """The controls with their gaps as they are after the last reply: the same in this run and in every rerun."""
    settled = {}
    for name, at in found.items():
        mine = [each for each in judgments if each.trial.judge.name == name and each.completion]
        treated = [_seconds(each.completion) for each in mine if each.trial.condition != control]
        blind = [_seconds(each.completion) for each in mine if each.trial.condition == control]
        if treated and blind and not mine[0].trial.judge.simulated:
            gap = max(abs(second - min(treated)) for second in blind) / DAY
            settled[name] = replace(at, gap_days=gap, settled=True)
    return {**found, **settled}


def serving(trials: Sequence[Trial], control: str, found: Mapping[str, Control]) -> list[Trial]:
    """The trials with each judge's control under the repeat numbers that serve it."""
    return [
        replace(trial, request=_shifted(trial.request, found[trial.judge.name].shift))
        if trial.condition == control and trial.judge.name in found
        else trial
        for trial in trials
    ]


def probes(trials: Sequence[Trial], control: str, found: Mapping[str, Control]) -> list[Trial]:
    """The first treated trial of each judge whose stored control is not settled yet."""
    first: dict[str, Trial] = {}
    for trial in trials:
        name = trial.judge.name
        if name in found and not found[name].settled and trial.condition != control:
            first.setdefault(name, trial)
    return list(first.values())
