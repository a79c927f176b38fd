"""Under which conditions pairs are judged: whose reason is edited and how, and what such a design can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from helpers.stats.intervals import MIN_CLUSTERS
from helpers.types import Experiment, Question

#: The condition that all others are compared with: unedited texts, asked as often as `repeats` says.
CONTROL = "none"
TARGETS = ("wrong", "right", "both")
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
    doses, targets = doses_of(experiment), experiment.own["targets"]
    if experiment.editor is None and (experiment.own["answers"] == "ask" or experiment.own["paraphrase"]):
        raise ValueError("editor='published': edits are published with `answers` alone, and without a paraphrase arm")
    if experiment.editor is None and doses != (PUBLISHED_DOSE,):
        raise ValueError(f"editor='published': published edits replace two words; set doses=[{PUBLISHED_DOSE}]")
    if experiment.own["answers"] == "ask" and len(experiment.candidates) < 2:
        raise ValueError("one candidate makes no pair: two or more answer each question")
    if experiment.own["scores"] is not None:
        raise ValueError("scores say what published judgments on programs hold; nothing of it is asked")
    if any(type(dose) is not int or not 1 <= dose <= LARGEST for dose in doses) or list(doses) != sorted(set(doses)):
        raise ValueError(f"doses = {list(doses)!r}: whole numbers from 1 to {LARGEST}, each once, the smallest first")
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


def caution(experiment: Experiment, questions: Sequence[Question]) -> str:
    """Why this design cannot show self-preference, to be read before paying; "" where it can."""
    if experiment.own["answers"] != "ask":
        return ""  # whose answers those are is not in the parameters
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
    editor = experiment.editor
    if editor and editor.vendor in {judge.vendor for judge in judges}:
        told.append(f"The editor is of a judge's vendor ({editor.vendor}), which reads its own words in every edit.")
    articles = len({question.article for question in questions})
    if articles < MIN_CLUSTERS:
        told.append(f"{articles} article{'' if articles == 1 else 's'}: no interval below {MIN_CLUSTERS}.")
    return " ".join(told)
