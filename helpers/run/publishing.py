"""What a run leaves for other tools: its answers and verdicts in the layouts of published files."""

from __future__ import annotations

import json
from pathlib import Path

from helpers import datasets, export
from helpers.run.asking import Asked

#: Where the files of experiments 1 and 2 lie in `out`; of simulated judges the folder's name says so.
FOLDER = "published"
#: The published numbers of the groups; hints that were not published follow.
GROUPS = ("self", "competitors", "full", "none", "swapped", "false_self", "competitors_masked", "model")


def write_published(asked: Asked) -> list[Path]:
    """Write the answers and judgments of experiments 1 and 2 in the published format below `out`, if it was wished.

    answers.json (where candidates were asked), and judgments.json (experiment 1, judged blind) or a file
    group<n>_<hint>.json a hint, of the first asking of each. Records of simulated judges say so.
    """
    experiment, simulated = asked.experiment, asked.data == "simulated"
    if not experiment.own["published_files"]:
        return []
    reasons = {
        (each.trial.question_id, each.trial.judge.name, each.trial.condition): each.verdict.justification
        for each in reversed(asked.judgments)  # the first asking is the last to be kept
        if each.verdict
    }
    answers = list(asked.answers.values())
    groups = datasets.published_judgments(asked.frame, reasons, answers)
    blind = "hints" not in experiment.own and {*groups} == {"none"}
    files = {"answers.json": datasets.published_answers(answers, asked.questions)} if answers else {}
    files |= {
        "judgments.json" if blind else f"group{GROUPS.index(hint) + 1}_{hint}.json": records
        for hint, records in groups.items()
    }
    folder = experiment.out / (f"{FOLDER}_simulated" if simulated else FOLDER)
    mark = {"simulated": True} if simulated else {}
    texts = {name: json.dumps([each | mark for each in records], indent=1) for name, records in files.items()}
    export.write({name: f"{text}\n".encode() for name, text in texts.items()}, folder)
    return [folder / name for name in files]


def write_arena(asked: Asked) -> list[Path]:
    """Write a run's verdicts in Arena-Hard's own layout below `out`, with prompts and raw replies, if it was wished.

    One file a judge and candidate, of the first asking; its original tools read them.
    """
    experiment = asked.experiment
    if not experiment.own["arena_files"]:
        return []
    texts, shown = {}, {}
    for each in asked.judgments:
        trial = each.trial
        if trial.condition == "none" and trial.request.repeat == 0:
            key = (trial.question_id, trial.judge.name, trial.where["candidate"], trial.where["first"])
            texts[key] = each.completion.text if each.completion else ""
            shown[key] = [
                {"role": "system", "content": trial.request.system},
                {"role": "user", "content": trial.request.prompt},
            ]
    return datasets.write_arena(asked.frame, experiment.out / "model_judgment", texts=texts, prompts=shown)
