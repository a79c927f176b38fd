"""Which repeats of a control group serve a comparison: stored ones while they are fresh, else the next free ones.

A control that another experiment asked before costs nothing, but a judge that changed in between would pass its change
off as an effect. So a stored control reply serves a judge if it came from the same model id as the judge's first
treated reply and is at most `max_age_days` older. One that was asked after that first treated reply serves in any case:
asking again could not bring it nearer. Simulated judges do not age.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from helpers.judge import complete_all
from helpers.types import Completion, Judgment, Model, Request, Trial

DAY = 86400.0


@dataclass(frozen=True)
class Control:
    """The control of one judge: how far its repeats are shifted, how old it is, and whether that is settled.

    `gap_days` is the longest time between a control reply and a treated reply to the same question (NaN before there
    are both), `stale` says why an earlier control does not serve. `settled` is False while no treated reply has shown
    its model id: the stored control may still have to be asked again. `complete` is True where nothing is missing.
    """

    shift: int = 0
    gap_days: float = float("nan")
    stale: str = ""
    settled: bool = True
    complete: bool = False


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
    if judge.simulated:
        return Control(gap_days=0.0, complete=True)
    first = min(treated, key=lambda reply: reply.at) if treated else None
    since, step = _seconds(first) if first else now, 1 + max(request.repeat for request in blind)
    serving, stale, shift = [], "", 0
    # Windows of as many repeats as are asked, side by side: they share no reply.
    while replies := await _stored([_shifted(request, shift) for request in blind], folder):
        why = _unfit(replies.values(), first, since, max_age_days)
        if why:
            stale = why
        else:
            gap = max(abs(_seconds(reply) - since) for reply in replies.values())
            serving.append((len(replies) < len(blind), gap, shift))
        shift += step
    if not serving:
        return Control(shift, stale=stale)
    incomplete, _, nearest = min(serving)
    return Control(nearest, stale=stale, settled=first is not None, complete=not incomplete)


def _unfit(replies: Iterable[Completion], first: Completion | None, since: float, max_age_days: float) -> str:
    """Why these control replies do not serve; "" where they do."""
    before = [reply for reply in replies if first is None or _seconds(reply) < since]
    others = sorted({str(reply.model) for reply in before if first and reply.model != first.model})
    if others:
        return f"it came from {', '.join(others)}, the first hinted reply from {first.model}"
    age = max(((since - _seconds(reply)) / DAY for reply in before), default=0.0)
    if age > max_age_days:
        return f"it is {age:.0f} days older than the first hinted reply, more than {max_age_days:g}"
    return ""


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
        blind: dict[str, list[float]] = {}
        for each in mine:
            if each.trial.condition == control:
                blind.setdefault(each.trial.question_id, []).append(_seconds(each.completion))
        gaps = [
            abs(_seconds(each.completion) - asked)
            for each in mine
            if each.trial.condition != control
            for asked in blind.get(each.trial.question_id, ())
        ]
        if gaps and not mine[0].trial.judge.simulated:
            settled[name] = replace(at, gap_days=max(gaps) / DAY, settled=True)
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
