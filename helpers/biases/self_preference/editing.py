"""How the authorship of a reason is hidden: an editor model's replies, and the texts that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from helpers import prompts
from helpers.biases.self_preference.arms import LARGEST
from helpers.biases.self_preference.edits import apply_edits, check_edit, edit_schema, read_edit
from helpers.biases.self_preference.pairs import fit, lettered, material, open_, pairs
from helpers.biases.self_preference.paraphrases import check_paraphrase, paraphrase_schema, read_paraphrase
from helpers.types import Answer, Experiment, Judgment, Question, Request, Trial

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


def to_edit(
    experiment: Experiment, questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]
) -> list[tuple[Question, Answer]]:
    """The answers whose reasons are edited in some arm, each once."""
    roles = ("right", "wrong") if {"right", "both"} & set(experiment.own["targets"]) else ("wrong",)
    found = {}
    for question, given in fit(questions, answers):
        if open_(given) and len(given) > 1:
            # At most all of them; one is right where the wrong ones alone are edited.
            for answer in given[: len(given) + len(roles) - 2]:
                found[answer.question_id, answer.candidate] = (question, answer)
    for pair in pairs(questions, answers):
        for role in roles:
            answer = getattr(pair, role)
            found[answer.question_id, answer.candidate] = (pair.question, answer)
    return list(found.values())


def edit_trials(
    experiment: Experiment, questions: Sequence[Question], answers: Mapping[tuple[str, str], Answer]
) -> list[Trial]:
    """One request an answer and kind of edit, to the editor; words are asked for once, for all doses.

    It is asked for LARGEST words and `spare` ones (config.yaml), which take the place of those that break a rule. Where
    edits are published, nobody is asked.
    """
    if experiment.editor is None:
        return []
    kinds = ("synonyms", "paraphrase") if experiment.own["paraphrase"] else ("synonyms",)
    return [
        _trial(experiment, kind, question, answer)
        for question, answer in to_edit(experiment, questions, answers)
        for kind in kinds
    ]


def _trial(experiment: Experiment, kind: str, question: Question, answer: Answer) -> Trial:
    template = prompts.load(experiment.shared / "prompts" / KINDS[kind])
    editor, nonce = experiment.editor, prompts.nonce(experiment.seed, question.id)
    prompts.check_nonce(nonce, {f"question {question.id}": material(question)})
    # The largest dose of any run: one that is added later finds the words of the others as they were.
    words = {"dose": LARGEST, "asked": LARGEST + experiment.options["spare"]} if kind == "synonyms" else {}
    system, prompt = prompts.late(
        template,
        reason=answer.text or "",
        question=question.text,
        options=lettered(question),
        nonce=nonce,
        structured=editor.structured,
        **words,
    )
    make = edit_schema if kind == "synonyms" else paraphrase_schema
    request = Request(
        editor,
        prompt,
        system,
        make(prompts.pinned_id(editor, nonce)) if editor.structured else None,
        unwritten=answer.max_tokens if answer.text is None else 0,
    )
    where = {"article": question.article, "edit": kind}
    return Trial(
        experiment.name,
        question.id,
        question.category,
        editor,
        request,
        kind,
        form="text",
        shown=(answer.candidate,),
        nonce=nonce,
        where=where,
    )


def edits(
    experiment: Experiment,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, str], Answer],
    said: Mapping[str, Judgment],
) -> dict[tuple[str, str], Edited]:
    """What the editor's replies make of each answer, by question and candidate; without a reply there is no entry.

    A reply in another form, or a word that breaks a rule, is refused and counted: nothing is repaired. Where edits are
    published they stand in place of the editor's and obey the same rules.
    """
    if experiment.editor is None:
        dose = experiment.own["doses"][0]
        return {(q.id, a.candidate): _published(q, a, dose) for q, a in to_edit(experiment, questions, answers)}
    found: dict[tuple[str, str], Edited] = {}
    for (question, answer), trials in _by_answer(experiment, questions, answers).items():
        replies = {trial.condition: said.get(trial.request.key) for trial in trials}
        replies = {kind: reply for kind, reply in replies.items() if reply is not None}
        if answer.text is None or not replies:
            continue
        words, refused, changed, paraphrase = {}, (), (), None
        if "synonyms" in replies:
            words, refused, changed = _words(
                question, answer, replies["synonyms"], experiment.own["doses"], trials[0].nonce
            )
        if "paraphrase" in replies:
            paraphrase, why = _paraphrase(question, answer, replies["paraphrase"], trials[0].nonce)
            refused += (f"paraphrase: {why}",) if why else ()
        found[question.id, answer.candidate] = Edited(words, paraphrase, refused, changed, frozenset(replies))
    return found


def _published(question: Question, answer: Answer, dose: int) -> Edited:
    """What comes of an edit that was published with the answer."""
    if answer.edited is None:
        return Edited({dose: None}, refused=("published edit: none with this answer",))
    edit = check_edit(answer.text or "", answer.edited, question.text, question.options, dose)
    refused = tuple(f"published edit: {why}" for _, why in edit.refused)
    changed = tuple((old, new) for _, old, new in edit.changed) if edit.text is not None else ()
    return Edited({dose: edit.text}, refused=refused, changed=changed)


def _by_answer(experiment, questions, answers) -> dict[tuple[Question, Answer], list[Trial]]:  # type: ignore[no-untyped-def]
    trials: dict[tuple[str, str], list[Trial]] = {}
    for trial in edit_trials(experiment, questions, answers):
        trials.setdefault((trial.question_id, trial.shown[0]), []).append(trial)
    of = to_edit(experiment, questions, answers)
    return {(question, answer): trials[question.id, answer.candidate] for question, answer in of}


def _words(
    question: Question, answer: Answer, judgment: Judgment, doses: Sequence[int], nonce: str
) -> tuple[dict[int, str | None], tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The reason at each dose, what was refused, and the words changed at the largest dose that could be made."""
    if judgment.outcome != "ok":
        return dict.fromkeys(doses), (f"reply: {judgment.outcome}",), ()
    chosen = read_edit(judgment.completion.text, nonce)
    if isinstance(chosen, str):
        return dict.fromkeys(doses), (f"reply: {chosen}",), ()
    made = {dose: apply_edits(answer.text, question.text, question.options, chosen, dose) for dose in doses}
    largest = max((dose for dose in doses if made[dose].text is not None), default=None)
    changed = tuple((old, new) for _, old, new in made[largest].changed) if largest else ()
    refused = tuple(why for _, why in made[max(doses)].refused)
    return {dose: edit.text for dose, edit in made.items()}, refused, changed


def _paraphrase(question: Question, answer: Answer, judgment: Judgment, nonce: str) -> tuple[str | None, str]:
    """The paraphrase, or None and why it is refused."""
    if judgment.outcome != "ok":
        return None, judgment.outcome
    text, why = read_paraphrase(judgment.completion.text, nonce)
    if text is not None:
        why = check_paraphrase(answer.text, text, question.text, question.options) or ""
    return (None, why) if why else (text, "")
