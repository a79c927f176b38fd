"""What is asked: each wording of each scenario as control and as treatment, and what a model decides beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from helpers import prompts
from helpers.biases.cognitive.design import places_of, pulls_of, shown_order
from helpers.types import Answer, Experiment, Judgment, Model, Question, Request, Trial, Wording, short_hash

#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("deciding", "judging")
#: What the treatment is compared with: replies of the same model, not long before (see helpers/run/control.py).
CONTROL = "control"
#: What a question must have to be asked.
NEEDS = "a wording that can be asked"


@dataclass(frozen=True)
class Asking:
    """One wording of a scenario, put to one model; `scenario`: its number, see `design.places_of`."""

    experiment: Experiment
    templates: Mapping[str, prompts.Template]
    question: Question
    wording: Wording
    judge: Model
    scenario: int


def trials(
    stage: str,
    experiment: Experiment,
    questions: Sequence[Question],
    said: Mapping[str, Judgment],
    given: Mapping[tuple[str, str], Answer] | None = None,
) -> list[Trial]:
    """What this experiment asks at a stage, as far as what has been `said` so far (by key) determines it.

    First what each model decides where the treatment is to tell it so, then all controls and treatments in one random
    order drawn by the seed, so that neither is always the earlier one; the decisions stand among these too (they are
    stored by then, and cost nothing). A treatment whose decision could not be read is not asked. `given` is not used.
    """
    folder = experiment.shared / "prompts"
    templates = {name: prompts.load(folder / f"{name}.txt") for name in ("choose", "select")}
    known, numbers, found = pulls_of(questions), places_of(questions), []
    judges = [replace(judge, pulls=known) if judge.simulated else judge for judge in experiment.judges]
    for question in questions:
        prompts.check_nonce(prompts.nonce(experiment.seed, question.id), _texts(question))
        for wording in question.wordings:
            for judge in judges:
                found += _of(Asking(experiment, templates, question, wording, judge, numbers[question.id]), stage, said)
    return sorted(found, key=lambda trial: _lot(experiment.seed, trial))


def answers(
    experiment: Experiment, questions: Sequence[Question], said: Mapping[str, Judgment]
) -> dict[tuple[str, str], Answer]:
    """None: nobody's answers are judged here."""
    return {}


def unfit(answers: Mapping[tuple[str, str], Answer]) -> dict[str, list[str]]:
    """None: there is nothing that could be left out."""
    return {}


def _texts(question: Question) -> dict[str, str]:
    versions = [version for wording in question.wordings for version in wording.versions.values()]
    texts = [text for version in versions for text in (version.text, *version.options)]
    return {f"scenario {question.id}": "\n".join(texts)}


def _of(asking: Asking, stage: str, said: Mapping[str, Judgment]) -> Iterator[Trial]:
    """The trials of one wording and model at a stage."""
    decision = _trial(asking, "decision", "decision", 0) if asking.wording.kind == "selection" else None
    if decision:
        yield decision
    if stage != STAGES[-1]:
        return
    for repeat in range(asking.experiment.repeats):
        yield _trial(asking, CONTROL, CONTROL, repeat)
        if decision is None:
            yield _trial(asking, "treatment", "treatment", repeat)
        else:
            yield from _told(asking, said.get(decision.request.key), repeat)


def _told(asking: Asking, decided: Judgment | None, repeat: int) -> Iterator[Trial]:
    """The treatment that tells a model what it decided; before it is asked, the longer one stands for it in a plan."""
    if decided is not None and decided.verdict is not None:
        options = asking.wording.versions["decision"].options
        side = options[int(decided.trial.shown[decided.trial.labels.index(decided.verdict.choice)])]
        yield _trial(asking, f"treatment_{side}", "treatment", repeat, side)
    elif decided is None:
        both = [_trial(asking, f"treatment_{side}", "treatment", repeat, side) for side in ("for", "against")]
        longer = max(both, key=lambda trial: len(trial.request.prompt.encode()))
        # Of a reply that is missing in the end nobody knows which side it would have been told.
        yield replace(longer, request=replace(longer.request, unwritten=1), where=longer.where | {"decided": ""})


def _trial(asking: Asking, version: str, condition: str, repeat: int, decided: str = "") -> Trial:
    experiment, question, wording, judge = asking.experiment, asking.question, asking.wording, asking.judge
    shown, nonce = wording.versions[version], prompts.nonce(experiment.seed, question.id)
    several = wording.kind == "selection" and version != "decision"
    task = f"{wording.name} decision" if version == "decision" else wording.name
    lot = f"{experiment.seed}:option_order:{question.category}:{version if version == 'decision' else 'test'}"
    at = (asking.scenario, question.wordings.index(wording), repeat + (condition == "treatment"))
    order, labels = shown_order(experiment.own["option_order"], len(shown.options), *at, lot)
    labels = tuple(labels)
    lines = [f"{label}) {shown.options[i]}" for label, i in zip(labels, order, strict=True)]
    system, prompt = prompts.late(
        asking.templates["select" if several else "choose"],
        text=shown.text,
        options="\n".join(lines),
        nonce=nonce,
        structured=judge.structured,
    )
    form = "several" if several else "choice"
    schema = prompts.schema_for(judge, form, labels, nonce)
    return Trial(
        experiment.name,
        question.id,
        question.category,
        judge,
        Request(judge, prompt, system, schema, repeat),
        condition,
        form=form,
        shown=tuple(map(str, order)),
        labels=labels,
        nonce=nonce,
        where={"version": version, "task": task, "decided": decided, "place": wording.name},
        wording=wording,
    )


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.judge.name, trial.where["task"], trial.condition, trial.request.repeat)
    return short_hash(seed, "interleaved", *drawn, digits=16)
