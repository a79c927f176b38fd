"""Which verdicts are flipped, changed or for the judge's own: told from the judgments, whatever the experiment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from helpers.run.control import Control, partnered
from helpers.types import Answer, Judgment, Trial

#: What a verdict can be marked as, and what that means.
KINDS = {
    "flipped": "another verdict when the same answers stand in another order",
    "changed": "another verdict than on the same material without the manipulation",
    "own": "the judge's own answer is preferred",
    "family": "an answer of the judge's own vendor, of another model, is preferred",
}
TIE = "a tie"
#: What places a trial besides who and what: the order in which answers stand, and what follows from it, are not in it.
_ORDER = ("first", "version")
#: A question that asks for no preference.
_NO_PREFERENCE = "wrote"


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
    control: str | None = None,
    controls: Mapping[str, Control] | None = None,
) -> list[Marked]:
    """The verdicts that are marked, in the order of the judgments; readable ones only.

    `controls` say which asking of the control each verdict is compared with, as the estimates have it; without them
    it is the one of the same repeat. A verdict that asks who wrote an answer is no preference, and the same text in
    two places has no owner.
    """
    numbered = partnered(judgments, control, controls) if control is not None and controls else judgments
    known = [(each, as_compared.trial, picks(each)) for each, as_compared in zip(judgments, numbered, strict=True)]
    read = [(each, trial, picked) for each, trial, picked in known if picked is not None]
    read = [one for one in read if one[1].where.get("task") != _NO_PREFERENCE]
    orders: dict[tuple, dict[tuple[str, ...], str]] = {}
    plain: dict[tuple, str] = {}
    for _, trial, picked in read:
        orders.setdefault(_material(trial), {}).setdefault(trial.shown, picked)
        if trial.condition == control:
            plain.setdefault((*_place(trial), trial.request.repeat), picked)
    found = []
    for each, trial, picked in read:
        others = dict(_others(trial, picked, orders, plain, control))
        kinds = (*others, *_owned(each.trial, picked, answers))
        if kinds:
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
    where = tuple(sorted((key, value) for key, value in trial.where.items() if key not in _ORDER))
    who = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat)
    return (*who, where, tuple(sorted(trial.shown)), trial.wording.name if trial.wording else "")


def _place(trial: Trial) -> tuple:
    """What a trial shows and asks for, whatever its condition and repeat."""
    shown = tuple(sorted(trial.shown)) if trial.wording else trial.shown
    return (trial.question_id, trial.judge.name, shown, trial.where.get("task", ""))


def _others(
    trial: Trial,
    picked: str,
    orders: Mapping[tuple, Mapping[tuple[str, ...], str]],
    plain: Mapping[tuple, str],
    control: str | None,
) -> Iterator[tuple[str, str]]:
    """The verdicts on the same that are not the same: with another order, without the manipulation."""
    alike = len(set(trial.shown)) == len(trial.shown) and trial.condition != "identical" and trial.wording is None
    if alike:
        turned = [other for shown, other in orders[_material(trial)].items() if shown != trial.shown]
        yield from (("flipped", other) for other in turned[:1] if other != picked)
    if control is not None and trial.condition != control:
        repeat = trial.request.repeat if trial.partner is None else trial.partner
        before = plain.get((*_place(trial), repeat))
        if before is not None and before != picked:
            yield "changed", before


def _owned(trial: Trial, picked: str, answers: Mapping[tuple[str, str], Answer]) -> Iterable[str]:
    """Whether the verdict is for the judge's own answer, or for one of its vendor, while another one was shown."""
    if trial.wording is not None or picked == TIE or trial.condition == "identical":
        return ()
    vendors = {name: _vendor(trial, name, answers) for name in trial.shown}
    if picked == trial.judge.name:
        return ("own",)
    of_vendor = vendors.get(picked) == trial.judge.vendor and set(vendors.values()) != {trial.judge.vendor}
    return ("family",) if of_vendor else ()


def _vendor(trial: Trial, name: str, answers: Mapping[tuple[str, str], Answer]) -> str:
    answer = answers.get((trial.question_id, name))
    return answer.vendor if answer else ""
