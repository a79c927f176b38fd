"""What was put into simulated judges of answers with reasons, as effects of an edit and as recognition."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log
from statistics import fmean
from typing import TYPE_CHECKING

from helpers.biases.planted import Planted, planted_table, win_chance
from helpers.biases.self_preference.concluding import confirmatory, primary_dose
from helpers.types import Estimate

if TYPE_CHECKING:
    from helpers.run import Asked

READ = (
    "In the simulator are utilities of a text that is wholly in the judge's own words; an edit takes away but a few of "
    "these, so its effect is a small part of the preference. Tastes differ by text and are left out of the planted "
    "value. All doses share one repeat arm: an accident in it is seen at every dose."
)


def planted(asked: Asked, estimates: Sequence[Estimate]) -> str:
    """What simulated judges feel for their own words and what was found, as Markdown: see `planted_table`.

    A row a judge at the first and the largest dose (`obfuscation_effect`), and one for `recognition_balanced`.
    """
    return planted_table(asked, lambda: _rows(asked, estimates), confirmatory(estimates), READ)


def _rows(asked: Asked, estimates: Sequence[Estimate]) -> Iterator[Planted]:
    effects = [each for each in estimates if each.id == "obfuscation_effect" and each.where["dose"].isdigit()]
    doses = dict.fromkeys((primary_dose(estimates), max((e.where["dose"] for e in effects), key=int, default="")))
    own = {each.where["judge"] for each in effects}
    judges = {judge.name: judge for judge in asked.experiment.judges if judge.name in own}
    chances = _chances(asked, {"none", *(f"wrong_{dose}" for dose in doses)})
    truths = {dose: _turned(asked, chances["none"], chances[f"wrong_{dose}"]) for dose in doses}
    known = _recognised(chances["wrote"])
    for name, judge in judges.items():
        felt, knows = (f"own words {judge.traits.get(trait, 0.0):g}" for trait in ("self_preference", "recognition"))
        for each in effects:
            dose = each.where["dose"]
            if each.where["judge"] == name and name in truths.get(dose, {}):
                yield Planted(f"edit of {dose} words (logits)", name, felt, truths[dose][name], each)
        for each in estimates:
            if each.id == "recognition_balanced" and each.where["judge"] == name and name in known:
                yield Planted("recognition", name, knows, known[name], each, null=0.5)


def _chances(asked: Asked, arms: set[str]) -> dict[str, dict[tuple, float]]:
    """By arm ("wrote": which answer is its own, unedited): the chance of the right answer (of "wrote" the own one).

    Keys: question, right and wrong author, judge, first ("right" or "wrong") and, of "wrote", which one is the own.
    """
    judges = {j.name: replace(j, traits={**j.traits, "taste": 0.0}) for j in asked.experiment.judges}
    seen: dict[tuple, tuple[str, list[str]]] = {}
    found: dict[str, dict[tuple, float]] = defaultdict(dict)
    for judgment in asked.judgments:
        trial, where = judgment.trial, judgment.trial.where
        wrote, order = where["task"] == "wrote", 1 if where["first"] == "right" else -1
        if trial.condition not in arms or trial.request.repeat or (wrote and trial.condition != "none"):
            continue
        pair = (trial.question_id, where["right"], where["wrong"])
        # All judges read the same texts, whatever they are asked.
        if (at := (*pair, trial.condition)) not in seen:
            shown = asked.simulator.shown(trial.request.prompt)
            seen[at] = shown.asked, shown.texts[::order]
        judge, (question, texts) = judges[trial.judge.name], seen[at]
        one, two = asked.simulator.of_passages(judge, question, texts[::order], wrote)
        first = win_chance(one - two, 0.0, judge.traits.get("noise", 1.0))
        arm, wanted = ("wrote", where["own"]) if wrote else (trial.condition, "right")
        key = (*pair, judge.name, where["first"], *([where["own"]] if wrote else []))
        found[arm][key] = first if where["first"] == wanted else 1 - first
    return found


def _turned(asked: Asked, before: Mapping[tuple, float], after: Mapping[tuple, float]) -> dict[str, float]:
    """By judge the log-odds by which an edit of its own wrong answer turns it, minus those of third-party judges."""
    vendors = {model.name: model.vendor for model in (*asked.experiment.candidates, *asked.experiment.judges)}
    moves: dict[tuple, dict[str, list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for (question, right, wrong, judge, first), p in after.items():
        if (q := before.get((question, right, wrong, judge, first))) is not None:
            moves[question, right, wrong][judge].append((p * (1 - q), q * (1 - p)))
    sums: dict[str, list[list[float]]] = defaultdict(list)
    for (_, right, wrong), by in moves.items():
        third = [each for judge, each in by.items() if vendors[judge] not in (vendors[right], vendors[wrong])]
        if wrong in by and third:
            sides = [[sum(each[side] for each in by[wrong]) for side in (0, 1)]]
            sides.append([fmean(sum(each[side] for each in one) for one in third) for side in (0, 1)])
            sums[wrong].append([*sides[0], *sides[1]])
    totals = {judge: [sum(column) for column in zip(*each, strict=True)] for judge, each in sums.items()}
    return {judge: log(one[0] / one[1]) - log(one[2] / one[3]) for judge, one in totals.items()}


def _recognised(chances: Mapping[tuple, float]) -> dict[str, float]:
    """By judge how often it names its own answer as its own: the mean over harmful and over beneficial pairs."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (*_, judge, _, own), p in chances.items():
        found[judge][own].append(p)
    return {judge: fmean(map(fmean, kinds.values())) for judge, kinds in found.items() if len(kinds) == 2}
