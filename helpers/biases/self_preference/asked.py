"""What is asked: answers, edits of their reasons, and which answer of a pair is right or one's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import product
from string import ascii_uppercase
from typing import Any

from ... import frames, prompts
from ...types import Answer, Experiment, Judgment, Model, Question, Trial
from ..protocol import Answers, Replies, few_words, fit, interleave, make_trial
from .edited import (
    apply_edits,
    check_edit,
    check_paraphrase,
    edit_schema,
    paraphrase_schema,
    read_edit,
    read_paraphrase,
)

#: The condition that all others are compared with: unedited texts, asked as often as `repeats` says.
CONTROL = "none"
#: The largest number of words that are replaced.
LARGEST = 8
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
    doses, targets = tuple(experiment.extra["doses"]), experiment.extra["targets"]
    if experiment.extra["editor"] is None and (experiment.extra["answers"] == "ask" or experiment.extra["paraphrase"]):
        raise ValueError("editor='published': edits are published with `answers` alone, and without a paraphrase arm")
    if experiment.extra["editor"] is None and doses != (PUBLISHED_DOSE,):
        raise ValueError(f"editor='published': published edits replace two words; set doses=[{PUBLISHED_DOSE}]")
    if experiment.extra["answers"] == "ask" and len(experiment.candidates) < 2:
        raise ValueError("one candidate makes no pair: two or more answer each question")
    if experiment.extra["scores"] is not None:
        raise ValueError("scores say what published judgments on programs hold; nothing of it is asked")
    if any(type(dose) is not int or not 1 <= dose <= LARGEST for dose in doses) or list(doses) != sorted(set(doses)):
        raise ValueError(f"doses = {list(doses)!r}: whole numbers from 1 to {LARGEST}, each once, the smallest first")
    if "wrong" not in targets:
        raise ValueError(f"targets = {targets!r}: wrong is always needed")


def arms(experiment: Experiment) -> list[Arm]:
    """All conditions: the wrong answer's reason at every dose, the other targets at the first one, the primary dose."""
    doses, found = experiment.extra["doses"], [Arm(CONTROL)]
    for target in experiment.extra["targets"]:
        for dose in doses if target == "wrong" else doses[:1]:
            found.append(Arm(f"{target}_{dose}", "synonyms", target, dose))
    if experiment.extra["paraphrase"]:
        found.append(Arm("wrong_paraphrase", "paraphrase", "wrong"))
    return found


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why this design cannot show self-preference, to be read before paying; "" where it can."""
    if experiment.extra["answers"] != "ask":
        return ""  # whose answers those are is not in the parameters
    judges, candidates, parts = experiment.judges, experiment.candidates, []
    if not {model.name for model in candidates} & {judge.name for judge in judges}:
        parts.append("No judge is among the candidates: nobody judges an answer of its own.")
    vendors = {model.vendor for model in candidates}
    if len(vendors | {judge.vendor for judge in judges}) < 3:
        parts.append(
            "Fewer than three vendors: no pair has a third-party judge, so damage cannot be told from recognition."
        )
    if experiment.repeats < 2:
        parts.append("repeats = 1: nothing is asked again unedited, so no edit can be compared with anything.")
    editor = experiment.extra["editor"]
    if editor and editor.vendor in {judge.vendor for judge in judges}:
        parts.append(f"The editor is of a judge's vendor ({editor.vendor}), which reads its own words in every edit.")
    articles = len({question.article for question in questions})
    return " ".join(parts + few_words(articles, "article"))


@dataclass(frozen=True)
class Pair:
    """Two answers to one question of which exactly one is right; before answers are written, which is open."""

    question: Question
    right: Answer
    wrong: Answer


@lru_cache(maxsize=1024)
def lettered(options: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Each option with its letter; the same object for all prompts on a question, which hold it.

    >>> lettered(("one", "two"))
    (('A', 'one'), ('B', 'two'))
    """
    return tuple(zip(ascii_uppercase[: len(options)], options, strict=True))


def answer_trials(experiment: Experiment, questions: Sequence[Question]) -> list[Trial]:
    """One request a question and candidate: the letter of an option and a reason for it; article by article."""
    template, found = prompts.load(experiment.shared / "prompts" / "answer.txt"), []
    # So that a provider's cache of the passage serves.
    for question in sorted(questions, key=lambda question: question.article):
        options, nonce = lettered(question.options), prompts.nonce(experiment.seed, question.id)
        labels = tuple(letter for letter, _ in options)
        prompts.check_nonce(nonce, {f"question {question.id}": material(question)})
        texts = {"passage": question.passage, "question": question.text, "options": options}
        placed: dict = {"form": "choice", "labels": labels, "passage": question.passage}
        placed["where"] = {"article": question.article}
        for candidate in experiment.candidates:
            placed["schema"] = prompts.schema_for(candidate, "choice", labels, nonce, reasons=True)
            found.append(make_trial(experiment, question, candidate, "answer", template, texts, **placed))
    return found


def material(question: Question) -> str:
    """All texts of a question, one below the other."""
    return "\n".join([question.passage, question.text, *question.options])


def answers(experiment: Experiment, questions: Sequence[Question], replies: Replies) -> Answers:
    """The answers by question and candidate; those not written yet have no text and count their token limit.

    `outcome` is "ok" where there are a letter and a reason, "no_reason" where there is a letter alone, "holds_nonce"
    where the text could close its own delimiters, "missing" where nothing was said and nobody is asked, else why the
    reply has no letter.
    """
    trials = answer_trials(experiment, questions)
    written = frames.written(trials, replies, experiment.judgments == "ask")
    for trial in trials:
        if judgment := replies.get(trial.request.key):
            verdict, at = judgment.verdict, (trial.question_id, trial.judge.name)
            text = verdict.justification if verdict else ""
            outcome = judgment.outcome if not verdict or text.strip() else "no_reason"
            label = verdict.choice if verdict else None
            written[at] = replace(written[at], text=text, outcome=outcome, label=label)
    return {at: prompts.without_nonce(experiment.seed, answer) for at, answer in written.items()}


def open_(candidates: Sequence[Answer]) -> bool:
    """Whether an answer to a question is still to be written, so that its pairs are not known."""
    return any(answer.text is None for answer in candidates)


def pairs(questions: Sequence[Question], answers: Answers) -> Iterator[Pair]:
    """All pairs of fit answers of which exactly one is right; of questions whose answers are all written."""
    by = fit(answers)
    for question in questions:
        if not open_(written := by.get(question.id, [])):
            right = [answer for answer in written if answer.label == question.gold]
            wrong = [answer for answer in written if answer.label != question.gold]
            yield from (Pair(question, one, other) for one in right for other in wrong)


def most_pairs(question: Question, answers: Sequence[Answer], judge: str, each: int, own: int) -> Iterator[Pair]:
    """The pairs of a question whose answers are not all written that give this judge the most to do: for the plan.

    `each` is how often a pair is judged, `own` how often more if the judge wrote its wrong answer.
    """
    mine = [answer for answer in answers if answer.candidate == judge]
    others = [answer for answer in answers if answer.candidate != judge]
    n, extra = len(answers), own if mine else 0
    right = max(range(1, n), key=lambda count: count * (n - count) * each + count * extra, default=0)
    wrong = [*mine, *others[right:]]
    yield from (Pair(question, one, other) for one in others[:right] for other in wrong)


KINDS = {"synonyms": "edit.txt", "paraphrase": "paraphrase.txt"}


@dataclass(frozen=True)
class Edited:
    """What came of one answer's edits: `words` maps each dose to the text (None: it could not be made).

    `refused` holds a sentence for each word, or whole reply, that broke a rule; `changed` the words replaced at the
    largest dose that could be made. `kinds` are the kinds of edit whose reply is there: of the others nothing is known.
    """

    words: Mapping[int, str | None] = field(default_factory=dict)
    paraphrase: str | None = None
    refused: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    kinds: frozenset[str] = frozenset(KINDS)


def to_edit(experiment: Experiment, questions: Sequence[Question], answers: Answers) -> list[tuple[Question, Answer]]:
    """The answers whose reasons are edited in some arm, each once."""
    roles = ("right", "wrong") if {"right", "both"} & set(experiment.extra["targets"]) else ("wrong",)
    found, by = {}, fit(answers)
    for question in questions:
        if open_(written := by.get(question.id, [])) and len(written) > 1:
            # At most all of them; one is right where the wrong ones alone are edited.
            for answer in written[: len(written) + len(roles) - 2]:
                found[answer.question_id, answer.candidate] = (question, answer)
    for pair in pairs(questions, answers):
        for role in roles:
            answer = getattr(pair, role)
            found[answer.question_id, answer.candidate] = (pair.question, answer)
    return list(found.values())


def edit_trials(experiment: Experiment, questions: Sequence[Question], answers: Answers) -> list[Trial]:
    """One request an answer and kind of edit, to the editor; words are asked for once, for all doses.

    It is asked for LARGEST words and `spare` ones (config.yaml), which take the place of those that break a rule. Where
    edits are published, nobody is asked.
    """
    if experiment.extra["editor"] is None:
        return []
    editor, found = experiment.extra["editor"], []
    kinds = ("synonyms", "paraphrase") if experiment.extra["paraphrase"] else ("synonyms",)
    # The largest dose of any run: one that is added later finds the words of the others as they were.
    words = {"dose": LARGEST, "asked": LARGEST + experiment.extra["spare"]}
    for question, answer in to_edit(experiment, questions, answers):
        nonce = prompts.nonce(experiment.seed, question.id)
        prompts.check_nonce(nonce, {f"question {question.id}": material(question)})
        texts = {"reason": answer.text or "", "question": question.text, "options": lettered(question.options)}
        placed: dict = {"form": "text", "labels": (), "shown": (answer.candidate,), "written": [answer]}
        for kind in kinds:
            template = prompts.load(experiment.shared / "prompts" / KINDS[kind])
            schema = (edit_schema if kind == "synonyms" else paraphrase_schema)(prompts.pinned_id(editor, nonce))
            more: dict = {"schema": schema, "where": {"article": question.article, "edit": kind}}
            shown = texts | words if kind == "synonyms" else texts
            found.append(make_trial(experiment, question, editor, kind, template, shown, **placed, **more))
    return found


def edits(
    experiment: Experiment, questions: Sequence[Question], answers: Answers, judgments: Replies
) -> dict[tuple[str, str], Edited]:
    """What the editor's replies make of each answer, by question and candidate; without a reply there is no entry.

    A reply in another form, or a word that breaks a rule, is refused and counted: nothing is repaired. Where edits are
    published they stand in place of the editor's and obey the same rules.
    """
    if experiment.extra["editor"] is None:
        dose = experiment.extra["doses"][0]
        return {(q.id, a.candidate): _published(q, a, dose) for q, a in to_edit(experiment, questions, answers)}
    replies: dict[tuple[str, str], dict[str, Judgment]] = {}
    for trial in edit_trials(experiment, questions, answers):
        if (reply := judgments.get(trial.request.key)) is not None:
            replies.setdefault((trial.question_id, trial.shown[0]), {})[trial.condition] = reply
    found: dict[tuple[str, str], Edited] = {}
    for question, answer in to_edit(experiment, questions, answers):
        kinds = replies.get((question.id, answer.candidate), {})
        if answer.text is None or not kinds:
            continue
        words, refused, changed, paraphrase = dict[int, str | None](), tuple[str, ...](), tuple[Any, ...](), None
        if "synonyms" in kinds:
            words, refused, changed = _words(question, answer, kinds["synonyms"], experiment.extra["doses"])
        if "paraphrase" in kinds:
            paraphrase, why = _paraphrase(question, answer, kinds["paraphrase"])
            refused += (f"paraphrase: {why}",) if why else ()
        found[question.id, answer.candidate] = Edited(words, paraphrase, refused, changed, frozenset(kinds))
    return found


def _published(question: Question, answer: Answer, dose: int) -> Edited:
    """What comes of an edit that was published with the answer."""
    if answer.edited is None:
        return Edited({dose: None}, refused=("published edit: none with this answer",))
    edit = check_edit(answer.text or "", answer.edited, question.text, question.options, dose)
    refused = tuple(f"published edit: {why}" for _, why in edit.refused)
    changed = tuple((old, new) for _, old, new in edit.changed) if edit.text is not None else ()
    return Edited({dose: edit.text}, refused=refused, changed=changed)


def _words(
    question: Question, answer: Answer, judgment: Judgment, doses: Sequence[int]
) -> tuple[dict[int, str | None], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The reason at each dose, what was refused, and the words changed at the largest dose that could be made."""
    if judgment.outcome != "ok":
        return dict.fromkeys(doses), (f"reply: {judgment.outcome}",), ()
    chosen = read_edit(judgment.completion.text, judgment.trial.nonce)
    if isinstance(chosen, str):
        return dict.fromkeys(doses), (f"reply: {chosen}",), ()
    made = {dose: apply_edits(answer.text, question.text, question.options, chosen, dose) for dose in doses}
    largest = max((dose for dose in doses if made[dose].text is not None), default=None)
    changed = tuple((old, new) for _, old, new in made[largest].changed) if largest else ()
    refused = tuple(why for _, why in made[max(doses)].refused)
    return {dose: edit.text for dose, edit in made.items()}, refused, changed


def _paraphrase(question: Question, answer: Answer, judgment: Judgment) -> tuple[str | None, str]:
    """The paraphrase, or None and why it is refused."""
    if judgment.outcome != "ok":
        return None, judgment.outcome
    text, why = read_paraphrase(judgment.completion.text, judgment.trial.nonce)
    if text is not None:
        why = check_paraphrase(answer.text, text, question.text, question.options) or ""
    return (None, why) if why else (text, "")


#: What is asked, in this order; the last stage holds the judgments.
STAGES = ("answers", "editing", "judging")
#: What a question must have to be judged.
NEEDS = "two answers of which exactly one is right"
LABELS = ("1", "2")


def trials(
    stage: str, experiment: Experiment, questions: Sequence[Question], replies: Replies, prior: Answers | None = None
) -> list[Trial]:
    """The trials of a stage; published answers (`prior`) make the first stage empty."""
    if stage == "answers":
        return [] if prior is not None else answer_trials(experiment, questions)
    written = prior if prior is not None else answers(experiment, questions, replies)
    if stage == "editing":
        return edit_trials(experiment, questions, written)
    return judge_trials(experiment, questions, written, edits(experiment, questions, written, replies))


def judge_trials(
    experiment: Experiment, questions: Sequence[Question], answers: Answers, edited: Mapping[tuple[str, str], Edited]
) -> list[Trial]:
    """Every pair, judge, arm and repeat in both orders, and which answer a judge wrote itself.

    Sorted by article, so that a provider's cache of the passage serves, and within an article in one random order drawn
    by the seed. An arm whose edit could not be made is not asked for that pair.
    """
    template = prompts.load(experiment.shared / "prompts" / "judge.txt")
    for question in questions:
        nonce = prompts.nonce(experiment.seed, question.id)
        prompts.check_nonce(nonce, {f"question {question.id}": material(question)})
    pairs_by_question = [(pair, experiment.judges) for pair in pairs(questions, answers)]
    each = experiment.repeats + len(arms(experiment)) - 1
    own = sum(arm.target in ("none", "wrong") for arm in arms(experiment))
    by = fit(answers)
    for question in questions:
        if open_(written := by.get(question.id, [])):
            for judge in experiment.judges:
                pairs_by_question += [(pair, (judge,)) for pair in most_pairs(question, written, judge.name, each, own)]
    found: list[Trial] = []
    for pair, judges in pairs_by_question:
        for arm in arms(experiment):
            shown: dict = {role: _edited(getattr(pair, role), arm, role, edited) for role in ("right", "wrong")}
            if all(answer is not None for answer in shown.values()):
                found += _of_arm(experiment, template, replace(pair, **shown), arm, judges)
    found = interleave(found, experiment.seed, "shown", "task")
    return sorted(found, key=lambda trial: trial.where["article"])


def _edited(answer: Answer, arm: Arm, role: str, edited: Mapping[tuple[str, str], Edited]) -> Answer | None:
    """The answer as this arm shows it; None where its edit could not be made."""
    if not arm.edits(role):
        return answer
    edit = edited.get((answer.question_id, answer.candidate))
    if edit is None or arm.edit not in edit.kinds:
        # What is still to be edited may become longer than what was written.
        least = 2 * len((answer.text or "").encode()) + 1
        return replace(answer, text=None, max_tokens=max(answer.max_tokens, least))
    text = edit.paraphrase if arm.edit == "paraphrase" else edit.words.get(arm.dose)
    return None if text is None else replace(answer, text=text)


def _of_arm(
    experiment: Experiment, template: prompts.Template, pair: Pair, arm: Arm, judges: Sequence[Model]
) -> Iterator[Trial]:
    question, orders = pair.question, {"right": (pair.right, pair.wrong), "wrong": (pair.wrong, pair.right)}
    texts = {"passage": question.passage, "question": question.text, "options": lettered(question.options)}
    at = {"edit": arm.edit, "target": arm.target, "dose": str(arm.dose)}
    at |= {"right": pair.right.candidate, "wrong": pair.wrong.candidate}
    placed: dict = {"passage": question.passage, "form": "choice", "labels": LABELS}
    for judge in judges:
        own = next((role for role in ("right", "wrong") if getattr(pair, role).candidate == judge.name), "")
        tasks = [("correct", repeat) for repeat in range(experiment.repeats if arm.name == CONTROL else 1)]
        tasks += [("wrote", 0)] if own and (arm.name == CONTROL or arm.target == own) else []
        for (first, order), (task, repeat) in product(orders.items(), tasks):
            one, two = (_labelled(answer.label, answer.text or "") for answer in order)
            placed |= {"shown": tuple(answer.candidate for answer in order), "written": order, "repeat": repeat}
            placed["where"] = {"article": question.article, "task": task, **at, "first": first, "own": own}
            shown = {**texts, "task": task, "first": one, "second": two}
            yield make_trial(experiment, question, judge, arm.name, template, shown, **placed)


@lru_cache(maxsize=64)
def _labelled(label: str | None, text: str) -> str:
    """An answer as prompts show it; one text for all trials of a pair, which hold it."""
    return f"{label}. {text}"
