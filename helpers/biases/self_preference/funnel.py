"""What becomes of everything on the way from questions to the items that are compared: nothing is lost unsaid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import pandas as pd

from helpers.biases.self_preference.asking import Arm, arms
from helpers.biases.self_preference.editing import Edited, edits
from helpers.biases.self_preference.items import before, items
from helpers.types import Answer, Experiment, Judgment, Question


def steps(
    answers: Mapping[tuple[str, str], Answer],
    gold: Mapping[str, str | None],
    edited: Mapping[tuple[str, str], Edited],
    arms: Sequence[Arm],
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """How many answers, pairs and items are left after each step, and why the others are not.

    `gold` is the right letter by question. Columns: step, count, lost, why ("3 no_reason, 1 truncated"; "" where
    nothing was lost). Of the pairs with exactly one right answer there is a step for each of the `arms` with an edit:
    what one of them loses, the next one may still have. The last steps count judge x pair, unedited and at first
    asking.
    """
    fit: dict[str, list[Answer]] = {}
    for (question_id, _), answer in answers.items():
        if answer.outcome == "ok":
            fit.setdefault(question_id, []).append(answer)
    unfit = Counter(answer.outcome for answer in answers.values() if answer.outcome != "ok")
    alike, pairs = Counter(), []
    for question_id, given in fit.items():
        for two in combinations(given, 2):
            right = [answer for answer in two if answer.label == gold.get(question_id)]
            if len(right) == 1:
                (wrong,) = (answer for answer in two if answer is not right[0])
                pairs.append({"wrong": edited.get(_key(wrong)), "right": edited.get(_key(right[0]))})
            else:
                alike["both right" if right else "both wrong"] += 1
    seen = before(items(frame))
    scored = seen[seen["score"].notna()]
    return pd.DataFrame(
        [
            _step("answers", len(answers), Counter()),
            _step("answers with a letter and a reason", len(answers) - unfit.total(), unfit),
            _step("pairs of these", len(pairs) + alike.total(), Counter()),
            _step("pairs with exactly one right", len(pairs), alike),
            *(_edits(arm, pairs) for arm in arms if arm.edit != "none"),
            _step("judge x pair, asked both ways", len(seen), Counter()),
            _step("with a verdict both ways", len(scored), _some("no verdict", len(seen) - len(scored))),
            _step(
                "the same answer both ways",
                int(scored["consistent"].sum()),
                _some("the same place twice", int((~scored["consistent"].astype(bool)).sum())),
            ),
        ]
    )


def _key(answer: Answer) -> tuple[str, str]:
    return answer.question_id, answer.candidate


def _edits(arm: Arm, pairs: Sequence[Mapping[str, Edited | None]]) -> dict[str, object]:
    """The step of one arm: how many of the pairs, given as the edits by role, have what it shows."""
    lost = Counter[str]()
    for pair in pairs:
        whys = [_why(edit, arm) for role, edit in pair.items() if arm.edits(role)]
        lost.update([why for why in whys if why][:1])
    whose = "whose two answers" if arm.target == "both" else f"whose {arm.target} answer"
    how = "paraphrased" if arm.edit == "paraphrase" else f"edited ({arm.dose} word{'' if arm.dose == 1 else 's'})"
    return _step(f"{whose} could be {how}", len(pairs) - lost.total(), lost)


def _step(step: str, count: int, lost: Counter[str]) -> dict[str, object]:
    why = ", ".join(f"{n} {reason}" for reason, n in lost.most_common())
    return {"step": step, "count": count, "lost": lost.total(), "why": why}


def _some(reason: str, count: int) -> Counter[str]:
    return Counter({reason: count} if count else {})


def _why(edit: Edited | None, arm: Arm) -> str:
    """Why an answer has no text to be shown in this arm; "" where it has one."""
    if edit is None:
        return "not edited"
    if arm.edit == "paraphrase":
        refused = (why.removeprefix("paraphrase: ") for why in edit.refused if why.startswith("paraphrase: "))
        return "" if edit.paraphrase is not None else next(refused, "no paraphrase")
    whole = (why for why in edit.refused if why.startswith(("reply", "published edit")))
    return "" if edit.words.get(arm.dose) is not None else next(whole, "too few words that may change")


def funnel_of(
    experiment: Experiment,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, str], Answer],
    said: Mapping[str, Judgment],
    frame: pd.DataFrame,
) -> pd.DataFrame:
    """`steps` of a run; of published judgments, which tell nothing of their answers, the last three steps alone."""
    if not questions:
        return steps({}, {}, {}, (), frame).iloc[-3:].reset_index(drop=True)
    gold, made = {question.id: question.gold for question in questions}, edits(experiment, questions, answers, said)
    return steps(answers, gold, made, arms(experiment), frame)


def outcomes(frame: pd.DataFrame) -> pd.DataFrame:
    """What each judge made of the pairs with an answer of its own, unedited and at first asking.

    Columns: judge, judge_vendor, kind ("harmful": its own answer is the wrong one, "beneficial": the right one),
    outcome ("right both ways", "split", "wrong both ways", "unreadable"), count.
    """
    seen = before(items(frame))
    seen = seen[seen["own"].isin(["right", "wrong"])]
    names = seen["score"].map({1.0: "right both ways", 0.5: "split", 0.0: "wrong both ways"}).fillna("unreadable")
    rows = seen.assign(kind=seen["own"].map({"wrong": "harmful", "right": "beneficial"}), outcome=names)
    counts = rows.groupby(["judge", "judge_vendor", "kind", "outcome"], sort=True, observed=True).size()
    return counts.rename("count").reset_index()
