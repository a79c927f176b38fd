"""Which control reply a treated one is compared with, when a control is asked again, and which verdicts are marked.

A judge that changed since its control was asked would pass its change off as an effect. So a stored control reply
serves a treated one (the same judge on the same material) if it came from the same model id and is at most
`max_age_days` older; of several the nearest, in whole days, then the one with the lowest repeat number. One that was
asked after the treated reply serves too where none before it does. Simulated judges do not age.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

from ..judge import complete_all, dollars, judge_all, make_plan, notice
from ..types import Answer, Completion, Experiment, Judgment, Request, Trial, short_hash

DAY = 86400.0
#: What is judged, by whom and how: control and treated trials that agree in this can be compared.
Place = tuple[object, ...]


@dataclass(frozen=True)
class Control:
    """The control of one judge: which repeat of it serves each (place, condition, repeat) of the treated trials.

    `gap_days` is the longest time between two partners (NaN before there are any), `stale` says why stored replies do
    not serve; `unsettled` ones serve only if the model that answers next is still theirs.
    """

    serves: Mapping[tuple[Place, str, int], int] = field(default_factory=dict)
    gap_days: float = float("nan")
    stale: str = ""
    unsettled: frozenset[tuple[Place, int]] = frozenset()

    @property
    def repeats(self) -> tuple[int, ...]:
        """The repeat numbers of the control that serve."""
        return tuple(sorted(set(self.serves.values())))


def place_of(trial: Trial) -> Place:
    """What a trial shows and asks for, whatever its condition and repeat; `where` may name a place for all orders."""
    return (trial.question_id, trial.where.get("place", trial.shown), trial.where.get("task", ""))


async def controls(
    trials: Sequence[Trial], control: str, folder: Path, now: float, max_age_days: float, since: float = math.inf
) -> dict[str, Control]:
    """What serves what, by judge with control and treated trials, at `now` in seconds since 1970.

    A treated reply that came at or after `since` tells which model answers today.
    """
    found = {}
    for name in dict.fromkeys(trial.judge.name for trial in trials if trial.condition == control):
        mine = [trial for trial in trials if trial.judge.name == name]
        if {trial.condition for trial in mine} != {control}:
            found[name] = await _control(mine, control, folder, now, max_age_days * DAY, since)
    return found


async def _control(
    mine: Sequence[Trial], control: str, folder: Path, now: float, max_age: float, since: float
) -> Control:
    plain: dict[Place, list[Trial]] = {}
    for trial in sorted(mine, key=lambda each: each.request.repeat):
        if trial.condition == control:
            plain.setdefault(place_of(trial), []).append(trial)
    treated = {
        (place_of(t), t.condition, t.request.repeat): t.request
        for t in mine
        if t.condition != control and place_of(t) in plain
    }
    cells = sorted(
        {(place, condition, r) for place, condition, _ in treated for r in range(len(plain[place]))}, key=repr
    )
    if mine[0].judge.simulated:
        return Control({cell: cell[2] for cell in cells}, gap_days=0.0)
    replies = await complete_all(treated.values(), folder=folder, ask=False)
    # The repeats of a control may show its options in different orders: each prompt has stored replies of its own.
    asked = {(place, t.request.prompt): t.request for place, group in plain.items() for t in reversed(group)}
    stored = await _stored(asked, folder)
    today = max((r for r in replies.values() if _seconds(r) >= since), key=_seconds, default=None)
    serves: dict[tuple[Place, str, int], int] = {}
    taken: dict[tuple[Place, str], set[int]] = {}
    prompts: dict[tuple[Place, int], str] = {}  # no number of a place stands for two prompts
    gap, stale, unsettled = math.nan, "", set()
    for cell in cells:
        place, condition, r = cell
        prompt = plain[place][r].request.prompt
        replied = {n: each for n, each in stored[place, prompt].items() if prompts.get((place, n), prompt) == prompt}
        request = treated.get(cell) or treated.get((place, condition, 0))
        reply = replies.get(request.key) if request else None
        used = taken.setdefault((place, condition), set())
        free = {number: each for number, each in replied.items() if number not in used}
        chosen, why = _choice(free, reply, today.model if today else None, now, max_age)
        if chosen is None:
            other = {n for at, n in prompts if at == place and prompts[at, n] != prompt}
            other = other.union(*(stored[place, trial.request.prompt] for trial in plain[place]))
            chosen = next(n for n in count() if n not in used | other)
            stale = why or stale
        elif reply is None and today is None:
            unsettled.add((place, chosen))
        elif reply is not None:
            apart = abs(_seconds(free[chosen]) - _seconds(reply)) / DAY
            gap = apart if math.isnan(gap) else max(gap, apart)
        serves[cell], prompts[place, chosen] = chosen, prompt
        used.add(chosen)
    return Control(serves, gap, stale, frozenset(unsettled))


def _choice(
    stored: Mapping[int, Completion], reply: Completion | None, today: str | None, now: float, max_age: float
) -> tuple[int | None, str]:
    """The stored control reply that serves a treated one, else None and why none does ("" where there is none)."""
    at, model = (_seconds(reply), reply.model) if reply else (now, today)
    before, after, why = [], [], ""
    for number, each in stored.items():
        same, age = model is None or each.model == model, at - _seconds(each)
        if age < 0:
            after.append((not same, _seconds(each), number))
        elif not same:
            why = f"it came from {each.model}, the reply compared with it from {model}"
        elif age > max_age:
            why = f"it is {age / DAY:.1f} days older than what is compared with it, more than {max_age / DAY:g}"
        else:
            before.append((int(age // DAY), number))
    if before:
        return min(before)[1], ""
    return (min(after)[2], "") if after else (None, why)


async def _stored(
    plain: Mapping[tuple[Place, str], Request], folder: Path
) -> dict[tuple[Place, str], dict[int, Completion]]:
    """The stored replies by place, prompt and repeat number; two numbers that hold nothing end the search."""
    found: dict[tuple[Place, str], dict[int, Completion]] = {place: {} for place in plain}
    number = missing = 0
    while missing < 2:
        asked = {place: replace(request, repeat=number) for place, request in plain.items()}
        keys = {request.key: place for place, request in asked.items()}
        replies = await complete_all(asked.values(), folder=folder, ask=False)
        for key, reply in replies.items():
            found[keys[key]][number] = reply
        missing, number = 0 if replies else missing + 1, number + 1
    return found


def probes(trials: Sequence[Trial], control: str, found: Mapping[str, Control]) -> list[Trial]:
    """One treated trial of each judge whose stored control can only be trusted once a reply has told the model."""
    waiting = {(judge, place) for judge, at in found.items() for place, _ in at.unsettled}
    first: dict[str, Trial] = {}
    for trial in trials:
        if trial.condition != control and (trial.judge.name, place_of(trial)) in waiting:
            first.setdefault(trial.judge.name, trial)
    return [*first.values()]


def serving(trials: Sequence[Trial], control: str, found: Mapping[str, Control]) -> list[Trial]:
    """The trials with each judge's control asked under the repeat numbers that serve, and no others.

    Each control trial keeps its place; further numbers stand beside the first that they serve, before or after by lot.
    """
    numbers = _numbers(found)
    plain: dict[tuple[str, Place], list[Trial]] = {}
    for trial in sorted(trials, key=lambda each: each.request.repeat):
        if trial.condition == control:
            plain.setdefault((trial.judge.name, place_of(trial)), []).append(trial)
    left = {key: sorted(serving) for key, serving in numbers.items()}
    kept: dict[tuple[tuple[str, Place], int], Trial] = {}
    for key in numbers:
        for trial in plain[key]:
            prompt = trial.request.prompt
            of_prompt = [n for n in left[key] if plain[key][numbers[key][n][1]].request.prompt == prompt]
            if of_prompt:
                kept[key, trial.request.repeat] = _again(trial, of_prompt[0])
                left[key].remove(of_prompt[0])
    result: list[Trial] = []
    for trial in trials:
        key = trial.judge.name, place_of(trial)
        if trial.condition == control and key in numbers:
            result += [kept[key, trial.request.repeat]] if (key, trial.request.repeat) in kept else []
            continue
        beside = [n for n in left.get(key, ()) if numbers[key][n][0] == trial.condition]
        left[key] = [n for n in left.get(key, ()) if n not in beside]
        around: tuple[list[Trial], list[Trial]] = ([], [])
        for n in beside:
            lot = int(short_hash("beside", trial.request.key, n), 16) % 2
            around[lot].append(_again(plain[key][numbers[key][n][1]], n))
        result += [*around[0], trial, *around[1]]
    return result


def _numbers(found: Mapping[str, Control]) -> dict[tuple[str, Place], dict[int, tuple[str, int]]]:
    """The repeat numbers that serve each judge and place, each with the first condition and repeat that it serves."""
    numbers: dict[tuple[str, Place], dict[int, tuple[str, int]]] = {}
    for judge, at in found.items():
        for (place, condition, r), number in at.serves.items():
            numbers.setdefault((judge, place), {}).setdefault(number, (condition, r))
    return numbers


def _again(trial: Trial, number: int) -> Trial:
    if trial.request.repeat == number:  # whose key is computed
        return trial
    return replace(trial, request=replace(trial.request, repeat=number))


def partnered(judgments: Iterable[Judgment], control: str, found: Mapping[str, Control]) -> list[Judgment]:
    """The judgments as frames are to hold them: control repeats numbered from 0, treated trials naming their partner's.

    Of a control that is asked more often the last repeats are partners: the first may have been used to select items.
    """
    judgments = list(judgments)
    ranks = {key: {n: rank for rank, n in enumerate(sorted(several))} for key, several in _numbers(found).items()}
    askings: dict[tuple[str, Place, str], int] = {}
    for trial in (each.trial for each in judgments):
        key = (trial.judge.name, place_of(trial), trial.condition)
        askings[key] = max(askings.get(key, 0), trial.request.repeat + 1)
    result = []
    for each in judgments:
        trial, place = each.trial, place_of(each.trial)
        rank, at = ranks.get((trial.judge.name, place), {}), found.get(trial.judge.name)
        repeat = trial.request.repeat
        if trial.condition == control and repeat in rank:
            trial = _again(trial, rank[repeat])
        elif at and (place, trial.condition, repeat) in at.serves:
            partner = rank[at.serves[place, trial.condition, repeat]]
            cells = ((place, trial.condition, r) for r in range(len(rank)))
            serving = sorted(rank[at.serves[cell]] for cell in cells if cell in at.serves)
            later = len(serving) - askings[trial.judge.name, place, trial.condition]
            trial = replace(trial, partner=serving[repeat + later] if later > 0 else partner)
        result.append(replace(each, trial=trial))
    return result


def _seconds(reply: Completion) -> float:
    return datetime.fromisoformat(reply.at).timestamp()


async def judged(
    experiment: Experiment, trials: Sequence[Trial], control: str | None, stage: str, options: dict[str, Any]
) -> tuple[list[Judgment], dict[str, Control]]:
    """The judgments of the last stage, with the controls that serve as the treated replies turn out to be.

    What has to be asked again because a model changed was not in the plan: it must fit what is left of the budget.
    """
    if control is None:
        return await judge_all(trials, stage=stage, **options), {}
    start, noticed = options["clock"].wall(), set()

    async def settled(now: float) -> tuple[list[Trial], dict[str, Control]]:
        found = await controls(trials, control, experiment.store, now, experiment.max_age_days, start)
        for judge, at in sorted(found.items()):
            if at.stale and judge not in noticed:
                noticed.add(judge)
                numbers = ", ".join(map(str, at.repeats))
                notice(f"{judge}: a stored control group does not serve ({at.stale}); used now, by repeat: {numbers}")
        return serving(trials, control, found), found

    def keys(asked: Sequence[Trial]) -> set[str]:
        return {trial.request.key for trial in asked}

    asked, found = await settled(start)
    planned, before = keys(asked), set[str]()
    if options["ask"] and (first := probes(trials, control, found)):
        await judge_all(first, stage="first", **options)
        asked, found = await settled(start)
    for _ in range(2):  # a model that changed in the middle of the run shows only after it
        if keys(asked) == before:
            break
        planned, before = planned | before, keys(asked)
        options["budget"].planned &= not options["ask"] or before <= planned
        judgments = await judge_all(asked, stage=stage, **options)
        asked, found = await settled(options["clock"].wall())
    return judgments, found


def doubtful(staged: Mapping[str, Sequence[Trial]], control: str | None, found: Mapping[str, Control]) -> list[Request]:
    """The stored control replies that serve only if their model still answers."""
    unsettled = {(judge, *each) for judge, at in found.items() for each in at.unsettled}
    trials = [trial for stage in staged.values() for trial in stage if trial.condition == control]
    return [t.request for t in trials if (t.judge.name, place_of(t), t.request.repeat) in unsettled]


def notes(staged: Mapping[str, Sequence[Trial]], control: str | None, found: Mapping[str, Control]) -> tuple[str, ...]:
    """What the plan cannot know: whether a stored control group came from the model that answers today."""
    lines = [f"{judge}: a stored control group does not serve: {at.stale}." for judge, at in found.items() if at.stale]
    if requests := doubtful(staged, control, found):
        extra, names = make_plan({"control": requests}, None), sorted({request.model.name for request in requests})
        what = f"{extra.missing} more calls would cost up to {dollars(extra.usd)} ({', '.join(names)})."
        lines.append(f"If their models have changed since the stored control group was asked, {what}")
    return tuple(lines)


# --- marks of single verdicts ----------------------------------------------------------------------------------------

#: What a verdict can be marked as, and what that means.
KINDS = {
    "flipped": "another verdict when the same answers stand in another order",
    "changed": "another verdict than on the same material without the manipulation",
    "own": "the judge's own answer is preferred",
    "family": "an answer of the judge's own vendor, of another model, is preferred",
}
TIE = "a tie"


@dataclass(frozen=True)
class Marked:
    """A verdict with its marks; `picked` is what it is for, `others` what its partners were for, by kind of mark."""

    judgment: Judgment
    kinds: tuple[str, ...]
    picked: str
    others: Mapping[str, str]


def marked(
    judgments: Sequence[Judgment],
    answers: Mapping[tuple[str, str], Answer],
    control: str | None,
    controls: Mapping[str, Control],
) -> list[Marked]:
    """The readable verdicts that are marked, in the order of the judgments.

    Each is compared with the asking of the control that `controls` say, else with that of the same repeat. Who wrote an
    answer is no preference.
    """
    numbered = partnered(judgments, control, controls) if controls else judgments
    read = [
        (each, compared.trial, picked)
        for each, compared in zip(judgments, numbered, strict=True)
        if (picked := picks(each)) is not None and each.trial.where.get("task") != "wrote"
    ]
    orders: dict[tuple, dict[tuple[str, ...], str]] = {}
    plain: dict[tuple, str] = {}
    for _, trial, picked in read:
        orders.setdefault(_material(trial), {}).setdefault(trial.shown, picked)
        if trial.condition == control:
            plain.setdefault((*_beside(trial), trial.request.repeat), picked)
    found = []
    for each, trial, picked in read:
        others = {}
        twice = len(set(trial.shown)) < len(trial.shown) or trial.condition == "identical"
        turned = [other for shown, other in orders[_material(trial)].items() if shown != trial.shown]
        if turned and turned[0] != picked and not twice and trial.wording is None:
            others["flipped"] = turned[0]
        repeat = trial.request.repeat if trial.partner is None else trial.partner
        before = plain.get((*_beside(trial), repeat), picked) if trial.condition != control else picked
        if before != picked:
            others["changed"] = before
        if kinds := (*others, *_owned(each.trial, picked, answers)):
            found.append(Marked(each, kinds, picked, others))
    return found


def picks(judgment: Judgment) -> str | None:
    """What a verdict is for: a candidate, an option, or TIE; None where it is for nothing that was shown, or unread."""
    trial, verdict = judgment.trial, judgment.verdict
    if verdict is None or not trial.shown:
        return None
    at = dict(zip(trial.labels, trial.shown, strict=True))
    if verdict.ranking:
        return at.get(verdict.ranking[0])
    if trial.form == "pairwise" and verdict.choice:
        first, second = trial.shown
        return TIE if "=" in verdict.choice else first if verdict.choice.startswith("A") else second
    return at.get(verdict.choice or "")


def _material(trial: Trial) -> tuple:
    """What is judged by whom under which condition, whatever stands first."""
    where = tuple(sorted((key, value) for key, value in trial.where.items() if key not in ("first", "version")))
    who = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat)
    return (*who, where, tuple(sorted(trial.shown)), trial.wording.name if trial.wording else "")


def _beside(trial: Trial) -> tuple:
    """What a trial shows and asks for, whatever its condition and repeat; of wordings in any order."""
    shown = tuple(sorted(trial.shown)) if trial.wording else trial.shown
    return (trial.question_id, trial.judge.name, shown, trial.where.get("task", ""))


def _owned(trial: Trial, picked: str, answers: Mapping[tuple[str, str], Answer]) -> Iterator[str]:
    """Whether the verdict is for the judge's own answer, or for one of its vendor, while another one was shown."""
    if trial.wording is not None or picked == TIE or trial.condition == "identical":
        return
    shown = {name: answers.get((trial.question_id, name)) for name in trial.shown}
    of_vendor = {name: bool(answer) and answer.vendor == trial.judge.vendor for name, answer in shown.items()}
    if picked == trial.judge.name:
        yield "own"
    elif of_vendor.get(picked) and not all(of_vendor.values()):
        yield "family"
