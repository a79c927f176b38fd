"""The last stage of a run, in which a control group may have to be asked again because a model has changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from helpers.judge import dollars, judge_all, make_plan, notice
from helpers.run.control import Control, controls, place_of, probes, serving
from helpers.types import Experiment, Judgment, Request, Trial


async def judged(
    experiment: Experiment, trials: Sequence[Trial], control: str | None, stage: str, options: dict[str, Any]
) -> tuple[list[Judgment], dict[str, Control]]:
    """The judgments of the last stage, with the controls that serve as the treated replies turn out to be.

    Where a stored control is to serve, a first treated reply tells whether its model still answers. What has to be
    asked again because a model changed was not in the plan: it is checked against what is left of the budget.
    """
    if control is None:
        return await judge_all(trials, stage=stage, **options), {}
    start, told = options["clock"].wall(), set()

    async def settled(now: float, since: float) -> dict[str, Control]:
        found = await controls(trials, control, experiment.store, now, experiment.max_age_days, since)
        for judge, at in sorted(found.items()):
            if at.stale and judge not in told:
                told.add(judge)
                numbers = ", ".join(map(str, at.repeats))
                notice(f"{judge}: a stored control group does not serve ({at.stale}); used now, by repeat: {numbers}")
        return found

    found = await settled(start, start)
    if options["ask"] and (first := probes(trials, control, found)):
        await judge_all(first, stage="first", **options)
        before, found = found, await settled(start, start)
        options["budget"].planned &= found == before or _keys(trials, control, found) <= _keys(trials, control, before)
    asked = serving(trials, control, found)
    judgments = await judge_all(asked, stage=stage, **options)
    # A model that changed in the middle of the run shows only now.
    found = await settled(options["clock"].wall(), start)
    again = serving(trials, control, found)
    if options["ask"] and {t.request.key for t in again} - {t.request.key for t in asked}:
        options["budget"].planned = False
    if {t.request.key for t in again} != {t.request.key for t in asked}:
        judgments = await judge_all(again, stage=stage, **options)
        found = await settled(options["clock"].wall(), start)
    return judgments, found


def _keys(trials: Sequence[Trial], control: str, found: Mapping[str, Control]) -> set[str]:
    return {trial.request.key for trial in serving(trials, control, found)}


def doubtful(known: Mapping[str, Sequence[Trial]], control: str | None, found: Mapping[str, Control]) -> list[Request]:
    """The stored control replies that serve only if their model still answers."""
    return [
        trial.request
        for trials in known.values()
        for trial in trials
        if trial.condition == control
        and trial.judge.name in found
        and (place_of(trial), trial.request.repeat) in found[trial.judge.name].unsettled
    ]


def notes(known: Mapping[str, Sequence[Trial]], control: str | None, found: Mapping[str, Control]) -> tuple[str, ...]:
    """What the plan cannot know: whether a stored control group came from the model that answers today."""
    stale = tuple(
        f"{judge}: a stored control group does not serve: {at.stale}." for judge, at in found.items() if at.stale
    )
    if not (requests := doubtful(known, control, found)):
        return stale
    extra = make_plan({"control": requests}, None)
    return (
        *stale,
        f"If their models have changed since the stored control group was asked, {extra.missing} more calls would cost "
        f"up to {dollars(extra.usd)} ({', '.join(sorted({request.model.name for request in requests}))}).",
    )
