"""What is asked: answers, edits of their reasons, and which answer of a pair is right - or was written by the judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from helpers import prompts
from helpers.biases.self_preference.editing import Edited, edit_trials, edits
from helpers.biases.self_preference.pairs import Pair, answer_trials, answers, letters, material, pairs, shared
from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Answer, Experiment, Judgment, Model, Question, Request, Trial, short_hash

#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("answers", "editing", "judging")
#: What a question must have to be judged.
NEEDS = "two answers of which exactly one is right"
#: The condition that all others are compared with: unedited texts, asked as often as `repeats` says.
CONTROL = "none"
TARGETS = ("wrong", "right", "both")
LABELS = ("1", "2")
#: How many words published edits replace.
PUBLISHED_DOSE = 2


@dataclass(frozen=True)
class Arm:
    """One condition: whose reason in the pair is edited (`target`), how (`edit`) and by how many words (`dose`)."""

    name: str
    edit: str = "none"
    target: str = "none"
    dose: int = 0

    def edits(self, role: str) -> bool:
        """Whether the answer in this role ("right", "wrong") is edited.

        >>> Arm("both_2", "synonyms", "both", 2).edits("right"), Arm("wrong_2", "synonyms", "wrong", 2).edits("right")
        (True, False)
        """
        return self.target in (role, "both")


def check(experiment: Experiment) -> None:
    """Refuse (ValueError) doses and targets that cannot be asked, and published edits where there are none."""
    doses, targets = doses_of(experiment), experiment.own["targets"]
    if experiment.editor is None and (experiment.own["answers"] == "ask" or experiment.own["paraphrase"]):
        raise ValueError("editor='published': edits are published with `answers` alone, and without a paraphrase arm")
    if experiment.editor is None and doses != (PUBLISHED_DOSE,):
        raise ValueError(f"editor='published': published edits replace two words; set doses=[{PUBLISHED_DOSE}]")
    if experiment.own["answers"] == "ask" and len(experiment.candidates) < 2:
        raise ValueError("one candidate makes no pair: two or more answer each question")
    if experiment.own["scores"] is not None:
        raise ValueError("scores say what published judgments on programs hold; nothing of it is asked")
    if any(type(dose) is not int or not 1 <= dose <= 20 for dose in doses) or list(doses) != sorted(set(doses)):
        raise ValueError(f"doses = {list(doses)!r}: whole numbers from 1 to 20, each once, the smallest first")
    if set(targets) - set(TARGETS) or "wrong" not in targets or len(set(targets)) < len(targets):
        raise ValueError(f"targets = {targets!r}: each once, of: {', '.join(TARGETS)}; wrong is always needed")


def doses_of(experiment: Experiment) -> tuple[int, ...]:
    """How many words are replaced in the edited arms; the first is the primary one."""
    return tuple(experiment.own["doses"])


def arms(experiment: Experiment) -> list[Arm]:
    """All conditions: the wrong answer's reason at every dose, the other targets at the first one."""
    doses, found = doses_of(experiment), [Arm(CONTROL)]
    for target in experiment.own["targets"]:
        for dose in doses if target == "wrong" else doses[:1]:
            found.append(Arm(f"{target}_{dose}", "synonyms", target, dose))
    if experiment.own["paraphrase"]:
        found.append(Arm("wrong_paraphrase", "paraphrase", "wrong"))
    return found


def trials(
    stage: str,
    experiment: Experiment,
    questions: Sequence[Question],
    said: Mapping[str, Judgment],
    given: Mapping[tuple[str, str], Answer] | None = None,
) -> list[Trial]:
    """What this experiment asks at a stage, as far as what has been `said` so far (by key) determines it.

    `given` answers (published ones) make the first stage empty.
    """
    if stage == "answers":
        return [] if given is not None else answer_trials(experiment, questions)
    written = given if given is not None else answers(experiment, questions, said)
    if stage == "editing":
        return edit_trials(experiment, questions, written)
    return judge_trials(experiment, questions, written, edits(experiment, questions, written, said))


def judge_trials(
    experiment: Experiment,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, str], Answer],
    edited: Mapping[tuple[str, str], Edited],
) -> list[Trial]:
    """Every pair, judge, arm and repeat in both orders, and which answer a judge wrote itself.

    Sorted by article, so that a provider's cache of the passage serves, and within an article in one random order drawn
    by the seed. An arm whose edit could not be made is not asked for that pair.
    """
    template = prompts.load(experiment.shared / "prompts" / "judge.txt")
    found = []
    for pair in pairs(questions, answers):
        prompts.check_nonce(
            prompts.nonce(experiment.seed, pair.question.id),
            {
                f"question {pair.question.id}": material(pair.question),
                **{f"{a.candidate} on question {pair.question.id}": a.text or "" for a in (pair.right, pair.wrong)},
            },
        )
        for arm in arms(experiment):
            shown = {role: _edited(getattr(pair, role), arm, role, edited) for role in ("right", "wrong")}
            if all(answer is not None for answer in shown.values()):
                found += _of_arm(experiment, template, replace(pair, **shown), arm)
    articles = {question.id: question.article for question in questions}
    return sorted(found, key=lambda t: (articles[t.question_id], _lot(experiment.seed, t)))


def _edited(answer: Answer, arm: Arm, role: str, edited: Mapping[tuple[str, str], Edited]) -> Answer | None:
    """The answer as this arm shows it; None where its edit could not be made."""
    if not arm.edits(role):
        return answer
    edit = edited.get((answer.question_id, answer.candidate))
    if edit is None:
        return replace(answer, text=None)
    text = edit.paraphrase if arm.edit == "paraphrase" else edit.words.get(arm.dose)
    return None if text is None else replace(answer, text=text)


def _of_arm(experiment: Experiment, template: prompts.Template, pair: Pair, arm: Arm) -> Iterator[Trial]:
    repeats = experiment.repeats if arm.name == CONTROL else 1
    for judge in experiment.judges:
        own = next((role for role in ("right", "wrong") if getattr(pair, role).candidate == judge.name), "")
        for first in ("right", "wrong"):
            for repeat in range(repeats):
                yield _trial(experiment, template, pair, arm, judge, own, first, repeat, "correct")
            if own and (arm.name == CONTROL or arm.target == own):
                yield _trial(experiment, template, pair, arm, judge, own, first, 0, "wrote")


def _trial(  # type: ignore[no-untyped-def]
    experiment: Experiment, template, pair: Pair, arm: Arm, judge: Model, own: str, first: str, repeat: int, task: str
) -> Trial:
    question, nonce = pair.question, prompts.nonce(experiment.seed, pair.question.id)
    order = (pair.right, pair.wrong) if first == "right" else (pair.wrong, pair.right)
    system, prompt = prompts.render(
        template,
        passage=question.passage,
        question=question.text,
        options=list(zip(letters(question), question.options, strict=True)),
        first=f"{order[0].label}. {order[0].text or ''}",
        second=f"{order[1].label}. {order[1].text or ''}",
        nonce=nonce,
        task=task,
        structured=judge.structured,
    )
    request = Request(
        judge,
        prompt,
        system,
        prompts.schema("choice", LABELS) if judge.structured else None,
        repeat,
        unwritten=sum(answer.max_tokens for answer in order if answer.text is None),
        shared=shared(prompt, question),
    )
    return Trial(
        experiment.name,
        question.id,
        question.category,
        judge,
        request,
        arm.name,
        form="choice",
        shown=tuple(answer.candidate for answer in order),
        labels=LABELS,
        nonce=nonce,
        where={
            "article": question.article,
            "task": task,
            "edit": arm.edit,
            "target": arm.target,
            "dose": str(arm.dose),
            "right": pair.right.candidate,
            "wrong": pair.wrong.candidate,
            "first": first,
            "own": own,
        },
    )


def _lot(seed: int, trial: Trial) -> str:
    drawn = (trial.question_id, trial.judge.name, trial.condition, trial.request.repeat, *trial.shown, *trial.where)
    return short_hash(seed, "interleaved", *drawn, trial.where["task"], digits=16)


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why this design cannot show self-preference, to be read before paying; "" where it can."""
    judges, candidates, told = experiment.judges, experiment.candidates, []
    if not {model.name for model in candidates} & {judge.name for judge in judges}:
        told.append("No judge is among the candidates: nobody judges an answer of its own.")
    vendors = {model.vendor for model in candidates}
    if len(vendors | {judge.vendor for judge in judges}) < 3:
        told.append(
            "Fewer than three vendors: no pair has a third-party judge, so damage cannot be told from recognition."
        )
    if experiment.repeats < 2:
        told.append("repeats = 1: nothing is asked again unedited, so no edit can be compared with anything.")
    articles = len({question.article for question in questions})
    if articles < MIN_CLUSTERS:
        told.append(f"{articles} article{'' if articles == 1 else 's'}: no interval below {MIN_CLUSTERS}.")
    return " ".join(told)
