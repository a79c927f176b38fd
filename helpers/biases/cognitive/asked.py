"""What is asked: each wording of each scenario as control and as treatment, and what a model may answer.

Repeat r of a control is shown in order r of its wording, repeat r of the treatment in order r + 1, which is that of the
control's next repeat. So control and treatment differ in order exactly as the control and its repeat do: what a habit
of places or letters adds is the same in an effect and in its placebo, and 0 on average in both. The orders are those
of all judges. Those of the wordings of one scenario follow each other in the same way.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import product
from typing import Any

from ... import prompts
from ...stats.intervals import MIN_CLUSTERS
from ...types import Experiment, Pull, Question, RatioScale, Trial, Version, Wording, short_hash
from ..protocol import Answers, Replies, make_trial

#: Of the options: A and B may be the names of answers that are compared, and I and O look like digits.
LETTERS = "KLMNPQRSTUVWXYZCDEFGHJ"


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) candidates: nobody's answers are judged."""
    if experiment.candidates:
        named = ", ".join(model.name for model in experiment.candidates)
        raise ValueError(f"candidates = {named}: no answers are judged here; `judges` are the models that are asked")


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """What this design cannot show, to be read before paying; "" where there is nothing to say."""
    parts = []
    if experiment.repeats < 2:
        parts.append("repeats = 1: no control is asked twice, so what noise alone gives is not known (no placebo).")
    if experiment.extra["option_order"] == "fixed":
        parts.append("option_order = fixed: a place and the option that stands there cannot be distinguished.")
    by: dict[str, int] = {}
    for question in questions:
        by[question.category] = by.get(question.category, 0) + 1
    few = [f"{bias} {n}" for bias, n in sorted(by.items()) if n < MIN_CLUSTERS]
    if few:
        parts.append(f"Scenarios: {', '.join(few)}; {MIN_CLUSTERS} are the least that carry an interval.")
    if any(wording.kind == "scale" and wording.target is None for each in questions for wording in each.wordings):
        parts.append("Tests whose versions have different scales have no defended effect, only the published metric.")
    return " ".join(parts)


def shown_order(order: str, number: int, scenario: int, wording: int, turn: int, lot: str) -> tuple[list[int], str]:
    """The natural numbers of `number` options in the order shown, and their letters.

    `scenario`, `wording` count from 0 those of one bias, `turn` is the repeat, and one more of a treatment. Shuffled:
    neighbouring turns differ. Over each `number` scenarios every option stands at every place, and has every letter,
    once in each wording and turn. The letters begin with another one from wording to wording, the same in control and
    treatment, so that a habit of letters is not one of places. Reversed: forwards and backwards by turns.

    >>> shown_order("fixed", 3, 0, 0, 0, "x")
    ([0, 1, 2], 'KLM')
    >>> sorted(shown_order("shuffled", 2, at, 0, 0, "x")[0] for at in (0, 1))
    [[0, 1], [1, 0]]
    """
    natural, letters = list(range(number)), LETTERS[:number]
    if order == "shuffled":
        base, shifts, starts = _drawn_orders(number, f"{lot}:{scenario // number}")
        first, start = (scenario + shifts[(wording + turn) % number]) % number, starts[wording % number]
        return base[first:] + base[:first], letters[start:] + letters[:start]
    backwards = order == "reversed" and (scenario + wording + turn + random.Random(lot).getrandbits(1)) % 2
    return natural[::-1] if backwards else natural, letters


@lru_cache(maxsize=4096)
def _drawn_orders(number: int, lot: str) -> list[list[int]]:
    """What a block of scenarios shares: an order of options, how far it is turned, where letters begin."""
    rng = random.Random(lot)
    return [rng.sample(range(number), number) for _ in range(3)]


def places_of(questions: Sequence[Question]) -> dict[str, int]:
    """The number of each scenario among those of its bias that have as many options, which its orders follow from.

    A larger `question_limit` adds scenarios at the end, so that the others are asked as before.
    """
    counted: Counter[tuple[str, int]] = Counter()
    found = {}
    for question in questions:
        kind = (question.category, len(question.wordings[0].versions["control"].options))
        found[question.id] = counted[kind]
        counted[kind] += 1
    return found


def pulls_of(questions: Iterable[Question]) -> dict[str, Pull]:
    """What simulated models know of the tests, by their text: which bias each is made for, and where that pulls."""
    pulls = {}
    for question in questions:
        for wording in question.wordings:
            for condition, version in wording.versions.items():
                side = {"treatment_for": 1, "treatment_against": -1}.get(condition, 0)
                treated = condition.startswith("treatment")
                ratio = float(wording.facts["ratio"]) if wording.kind == "acceptance" else 0.0
                pulls[version.text] = Pull(
                    question.category,
                    question.id,
                    "decision" if condition == "decision" else wording.kind,
                    treated,
                    dict(zip(version.options, version.values, strict=True)),
                    wording.target if treated else None,
                    side,
                    ratio,
                )
    return pulls


#: Fields of a scenario that are no part of a text.
NOT_SHOWN = {"id", "options", "pro", "con"}
#: What would read as one more option in a text (see `design.LETTERS`).
OPTION_LINE = re.compile(rf"^[ \t]*[{LETTERS}]\)", re.MULTILINE)
#: The options of a decision for or against a proposal, and what each counts.
SIDES = {"against": -1.0, "for": 1.0}


def questions(templates: Mapping[str, tuple[Any, Any]], seed: int) -> tuple[Question, ...]:
    """Every scenario of every template as a question with its wordings; the bias is its category.

    `templates`: (template, metric line) by name, as `load_templates` reads them. Numbers and words are drawn by
    seed, name, scenario and wording, so another scenario or wording changes none of them. A ValueError that names the
    bias: a text that uses what the scenario does not hold, a field or draw that no text uses, a control that reads as
    its treatment, a line that looks like an option, and an id that two scenarios share.
    """
    found: dict[str, Question] = {}
    for bias, (template, line) in templates.items():
        _check_used(bias, template, line)
        for scenario in template.scenarios:
            id = f"{bias}_{scenario['id']}"
            if id in found:
                raise ValueError(f"{bias}: the id {id} is also that of a scenario of {found[id].category}")
            wordings = tuple(
                _wording(bias, template, line, scenario, id, n, seed) for n in range(len(template.wordings))
            )
            found[id] = Question(id, bias, wordings[0].versions["control"].text, wordings=wordings)
    return tuple(found.values())


def _check_used(bias: str, template: Any, line: Any) -> None:
    """Refuse fields and draws that no wording uses, and treatments without what the bias is to pull to."""
    used = [
        {name: prompts.used(text, f"{bias}: wording {number}, {name}") for name, text in wording.items()}
        for number, wording in enumerate(template.wordings, 1)
    ]
    offered = {*template.scenarios[0], *template.draws} - NOT_SHOWN
    if idle := offered.difference(*(names for each in used for names in each.values())):
        raise ValueError(f"{bias}: no wording uses {', '.join(sorted(idle))}")
    # What tells where the bias pulls, unless that is always the same end.
    needed = line.target if isinstance(line.target, str) else next(iter(line.target))
    for number, each in enumerate(used, 1):
        if needed in {*template.draws, "decided"} and needed not in each["treatment"]:
            raise ValueError(f"{bias}: wording {number}, treatment: does not use {needed}, to which the bias pulls")


def _wording(
    bias: str, template: Any, line: Any, scenario: Mapping[str, Any], id: str, number: int, seed: int
) -> Wording:
    facts = {name: _drawn(draw, f"{seed}:{name}:{id}", number) for name, draw in template.draws.items()}
    texts, name = template.wordings[number], str(number + 1)
    values = {key: value for key, value in scenario.items() if key not in NOT_SHOWN} | facts

    def version(condition: str, options: Mapping[str, float], **more: str) -> Version:
        where = f"{bias}, scenario {scenario['id']}, wording {name}, {condition}"
        text = prompts.filled(texts[condition], where, **values, **more).strip()
        if line := OPTION_LINE.search(text):
            raise ValueError(f"{where}: {line[0]!r} begins a line as the letters of options do")
        return Version(text, tuple(options), tuple(options.values()))

    if template.kind == "selection":
        both = zip(scenario["pro"], scenario["con"], strict=True)  # by turns: no natural order has one side in front
        arguments = {text: value for pair in both for text, value in zip(pair, (1.0, -1.0), strict=True)}
        versions = {"decision": version("decision", SIDES), "control": version("control", arguments)}
        versions |= {f"treatment_{side}": version("treatment", arguments, decided=side) for side in SIDES}
    else:
        options = _options(template, scenario)
        versions = {condition: version(condition, options) for condition in ("control", "treatment")}
    if len({each.text for each in versions.values()}) < len(versions):
        alike = f"two of {', '.join(versions)} read the same"
        raise ValueError(f"{bias}, scenario {scenario['id']}, wording {name}: {alike}")
    if template.kind == "selection":
        return Wording(name, "selection", versions, facts=facts)
    return Wording(name, template.kind, versions, *_pulled(line, options, facts), facts, _scale(line, options, facts))


def _drawn(draw: Any, lot: str, number: int) -> Any:
    """What is drawn for one wording of a scenario; of several values its wordings get different ones if they can."""
    if not draw.choose:
        return random.Random(f"{lot}:{number + 1}").randint(draw.start, draw.stop)
    return random.Random(lot).sample(draw.choose, len(draw.choose))[number % len(draw.choose)]


def _options(template: Any, scenario: Mapping[str, Any]) -> dict[str, float]:
    """The options in natural order with what each counts; a scenario may have its own."""
    words = scenario.get("options", template.options)
    if isinstance(words, list):
        return {word: float(value) for value, word in enumerate(words)}
    return dict(zip(words.texts, words.values, strict=True))


def _end(line: Any, facts: Mapping[str, Any]) -> str:
    """Which end of the scale the bias pulls to, or the name of the number that it pulls to."""
    if isinstance(line.target, str):
        return line.target
    ((name, ends),) = line.target.items()
    return ends[str(facts[name])]


def _pulled(line: Any, options: Mapping[str, float], facts: Mapping[str, Any]) -> tuple[float, float | None]:
    """The value that the bias pulls to (of a number shown: its nearest option's, first on ties), and that number."""
    values, end = [*options.values()], _end(line, facts)
    if end in ("high", "low"):
        return (values[-1] if end == "high" else values[0]), None
    return min(values, key=lambda value: abs(value - facts[end])), float(facts[end])


def _scale(line: Any, options: Mapping[str, float], facts: Mapping[str, Any]) -> RatioScale:
    """The parameters of the published metric: from the target, but for those that the line gives.

    Toward a number: k = 1 and x its option; toward the last option k = -1, x = 0; toward the first k = 1, x = 0.
    """
    target, anchor = _pulled(line, options, facts)
    if anchor is not None:
        x = float([*options.values()].index(target))
        derived = RatioScale(1.0, x, x)
    else:
        derived = RatioScale(-1.0 if target == max(options.values()) else 1.0)
    return replace(derived, **line.scale.model_dump(exclude_unset=True)) if line.scale else derived


#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("deciding", "judging")
#: What the treatment is compared with: replies of the same model, not long before (see helpers/run/control.py).
CONTROL = "control"
#: What a question must have to be asked.
NEEDS = "a wording that can be asked"


def trials(
    stage: str, experiment: Experiment, questions: Sequence[Question], replies: Replies, prior: Answers | None = None
) -> list[Trial]:
    """First what each model decides where the treatment is to tell it so, then all controls and treatments.

    These are in one random order drawn by the seed, so that neither is always the earlier one; decisions stand among
    them (they are stored by then). A treatment whose decision could not be read is not asked. `prior` is not used.
    """
    templates = {name: prompts.load(experiment.shared / "prompts" / f"{name}.txt") for name in ("choose", "select")}
    pulls, numbers, found = pulls_of(questions), places_of(questions), list[Trial]()
    judges = [replace(judge, pulls=pulls) if judge.simulated else judge for judge in experiment.judges]
    for question in questions:
        versions = [version for wording in question.wordings for version in wording.versions.values()]
        texts = "\n".join(text for version in versions for text in (version.text, *version.options))
        prompts.check_nonce(prompts.nonce(experiment.seed, question.id), {f"scenario {question.id}": texts})
        for wording, judge in product(question.wordings, judges):
            ask = partial(_trial, templates, (experiment, question, wording, judge, numbers[question.id]))
            decision = [ask("decision", "decision", 0)] if wording.kind == "selection" else []
            found += decision
            for repeat in range(experiment.repeats if stage == STAGES[-1] else 0):
                found.append(ask(CONTROL, CONTROL, repeat))
                asked = partial(ask, condition="treatment", repeat=repeat)
                found += _told(asked, decision[0], replies) if decision else [asked("treatment")]

    def lot(trial: Trial) -> str:
        drawn = (trial.question_id, trial.judge.name, trial.where["task"], trial.condition, trial.request.repeat)
        return short_hash(experiment.seed, "interleaved", *drawn, digits=16)

    return sorted(found, key=lot)


def _told(ask: Callable[..., Trial], decision: Trial, replies: Replies) -> list[Trial]:
    """The treatment that tells a model what it decided; before it is asked, the longer one stands for it in a plan."""
    if (decided := replies.get(decision.request.key)) is None:
        both = (ask(f"treatment_{side}", decided=side) for side in ("for", "against"))
        longer = max(both, key=lambda trial: len(trial.request.prompt.encode()))
        # Of a reply that is missing in the end nobody knows which side it would have been told.
        return [replace(longer, request=replace(longer.request, unwritten=1), where={**longer.where, "decided": ""})]
    if decided.verdict is None:
        return []
    label = decision.labels.index(decided.verdict.choice)
    side = [*SIDES][int(decision.shown[label])]
    return [ask(f"treatment_{side}", decided=side)]


def _trial(
    templates: Mapping[str, prompts.Template], at: tuple, version: str, condition: str, repeat: int, decided: str = ""
) -> Trial:
    """One version of a wording: `at` is the experiment, question, wording, model, and the scenario's number."""
    experiment, question, wording, judge, scenario = at
    shown, decision = wording.versions[version], version == "decision"
    several = wording.kind == "selection" and not decision
    lot = f"{experiment.seed}:option_order:{question.category}:{version if decision else 'test'}"
    place = (scenario, question.wordings.index(wording), repeat + (condition == "treatment"))
    order, letters = shown_order(experiment.extra["option_order"], len(shown.options), *place, lot)
    lines = [f"{label}) {shown.options[i]}" for label, i in zip(letters, order, strict=True)]
    texts = {"text": shown.text, "options": "\n".join(lines)}
    task = f"{wording.name} decision" if decision else wording.name
    where = {"version": version, "task": task, "decided": decided, "place": wording.name}
    form, template = ("several", "select") if several else ("choice", "choose")
    placed: Any = {"form": form, "labels": tuple(letters), "shown": tuple(map(str, order)), "repeat": repeat}
    asked = (experiment, question, judge, condition, templates[template], texts)
    return make_trial(*asked, where=where, wording=wording, **placed)
