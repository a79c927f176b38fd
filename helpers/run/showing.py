"""What notebooks put before the reader, and what they hand on to the overview and to other tools."""

from __future__ import annotations

import json
import math
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from .. import claims, datasets, export, frames, verdicts
from ..biases.losses import loss_change, loss_words
from ..datasets.hub import JUDGMENT_FILES
from ..escaping import fenced, markdown, slanted, visible
from ..stats.intervals import MIN_CLUSTERS
from ..tables import View
from ..types import Estimate, Experiment, short_hash
from ..words import Headline, sentence
from . import asking
from .asking import Asked, bias_of

WORDS = {
    "simulated": "**SIMULATED** models: these numbers show that the instrument works and say nothing about real ones",
    "asked": "asked in this run or taken from the store of replies",
    "hub": "published judgments, from the hub",
    "folder": "published judgments, from a file or folder",
}
#: Problems of published files that are told one by one.
LISTED = 5
#: What published records on pairs are counted as where exactly one right answer is not known of them.
NO_PAIR = ("both_right", "both_wrong", "unlabelled", "no_reason", "no_gold", "unknown", "other_role", "unflagged")
#: Parameters that may name a file or folder; where it lies on this machine is no part of a result.
SOURCES = ("questions", "answers", "judgments", "arrays")


def say(*texts: str) -> None:
    """Sentences, as Markdown; outside code blocks nothing in them can become markup of a page."""
    from IPython.display import Markdown, display

    display(Markdown(markdown("\n\n".join(texts))))


def show(*things: Any) -> None:
    """Tables and figures one below the other; a figure is followed by its caption."""
    from IPython.display import Image, Markdown, display

    for thing in things:
        if hasattr(thing, "render"):
            display(Image(thing.render("png"), width=thing.pixels, alt=visible(thing.alt)))
            display(Markdown(slanted(thing.caption)))
        elif isinstance(thing, pd.DataFrame):
            display(View(thing))
        else:
            display(thing)


def show_claims(experiment: Experiment, published: Sequence[Estimate]) -> pd.DataFrame:
    """Put published numbers beside recomputed ones: how many come out, and which do not; all of them, for `export`."""
    printed = claims.load_claims(experiment.folder / "claims.yaml")
    checked = claims.check(printed, published)
    say(claims.summary(printed, checked))
    show(claims.exceptions(checked))
    return checked


def provenance(asked: Asked) -> str:
    """One line before every finding: where the verdicts are from, how many, how many unreadable."""
    frame = asked.frame
    judgments = frames.one_row_each(frame)
    judges, questions = judgments["judge"].nunique(), judgments["question_id"].nunique()
    lost, absent = ((judgments["outcome"] != "ok").sum(), (judgments["outcome"] == "missing").sum())
    text = (
        f"Data: {WORDS[asked.data]}. {_count(judges, 'judge')}, {_count(questions, 'question')}, "
        f"{_count(len(judgments), 'judgment')}, of which {lost} ({lost / max(1, len(judgments)):.1%}) have no readable "
        f"verdict{f'; {absent} of these are missing' if absent else ''}."
    )
    conditions = sorted(set(judgments["condition"]) - {"none"})
    if conditions and not {"none", "control"} & set(judgments["condition"]):
        text += f" There is no control: all of them are of the condition {', '.join(conditions)}."
    for judge, several in _returned(judgments).items():
        if len(several) > 1:
            text += f" Careful: {judge} answered as {' and '.join(several)}; differences can be those of the models."
    if months := [f"{judge.name} {judge.released}" for judge in asked.experiment.judges if judge.released]:
        text += f" Released: {', '.join(months)}."
    if asked.unjudged and ("task" in frame or "games" in frame):
        unfit = _count(sum(map(len, asked.unjudged.values())), "answer")
        why = "missing, cut, empty or refused" + (", or without a letter or a reason" if "task" in frame else "")
        text += f" {unfit} in no pair: {why}."
    elif asked.unjudged:
        unjudged = _count(len(asked.unjudged), "question")
        text += f" {unjudged} not judged: a candidate's answer is missing, cut, empty, refused or an error."
    if problems := frame.attrs.get("problems"):
        counted = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in sorted(frame.attrs["counts"].items()))
        more = f" and {len(problems) - LISTED} more" if len(problems) > LISTED else ""
        text += f" Not read as they stand: {counted} ({'; '.join(problems[:LISTED])}{more})."
    text += "".join(f" {note}" for note in frame.attrs.get("notes", ()))
    if mute := frames.unreadable_words(frames.losses(frame)):
        text += f" {mute} `explore.show(asked)` shows what replies hold instead."
    if 0 < questions < 10:
        text += f" {_count(questions, 'question')} can carry no interval: {MIN_CLUSTERS} is the least."
    return text


def _returned(judgments: pd.DataFrame) -> dict[str, list[str]]:
    """The model ids that each judge answered as, both in order; a judge none of whose replies tells one has none."""
    models = judgments.groupby("judge", observed=True)["judge_model"]
    return {judge: sorted(each.dropna().astype(str).unique()) for judge, each in sorted(models)}


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}"


def losses(asked: Asked) -> pd.DataFrame:
    """Judgments by judge, condition and outcome, with tokens, and verdicts read after a wrapper was taken off."""
    table = frames.losses(asked.frame)
    pairs = list(zip(table["judge"], table["condition"], strict=True))
    counts = dict[tuple[str, str], Counter[str]]()
    for each in asked.judgments:
        if each.completion:
            usage = each.completion.usage
            here = counts.setdefault((each.trial.judge.name, each.trial.condition), Counter())
            here.update({"tokens input": usage.input or 0, "tokens output": usage.output or 0})
            kinds = () if each.trial.judge.simulated else verdicts.unwrapped(each)  # which reads it once more
            here.update(f"unwrapped: {kind}" for kind in kinds)
    for name in sorted(set().union(*counts.values())):
        none = 0 if name.startswith("unwrapped") else None
        table[name] = [counts[place][name] if place in counts else none for place in pairs]
    if "contradicts" in asked.frame:
        denied = frames.one_row_each(asked.frame).groupby(["judge", "condition"])["contradicts"].sum()
        table["scores contradict ranking"] = [int(denied.get(place, 0)) for place in pairs]
    table["unreadable"] = table["unreadable"].map("{:.1%}".format)
    return table.rename(columns=lambda name: name.replace("_", " ")).set_index("judge")


def losses_words(asked: Asked) -> str:
    """Under which conditions more verdicts are lost than in the control, or fewer; "" where none is shown to."""
    return loss_words(loss_change(asked.frame, asked.data, asked.experiment.seed))


def example(asked: Asked) -> str:
    """One prompt, of a treated condition where there is one, and its raw reply, fenced: it cannot become markup."""
    replied = [each for each in asked.judgments if each.completion]
    # Of two answers in both orders, the conditions beside the plain one are checks of the judge, and no treatment.
    untreated = {"control", "decision", *({each.trial.condition for each in replied} - {"none"})}
    untreated = untreated if "games" in asked.frame else {"none", "control", "decision"}
    judgment = next((each for each in replied if each.trial.condition not in untreated), next(iter(replied), None))
    if judgment is None:
        counts = asked.frame.attrs.get("counts", {})
        records = ", ".join(f"{counts[kind]} {kind.replace('_', ' ')}" for kind in NO_PAIR if counts.get(kind))
        unknown = "Records of the whole source in which not exactly one answer is known to be right"
        more = f" {unknown}: {records}." if records else ""
        return f"These judgments were not asked here, so there is no prompt to show.{more}"
    trial = judgment.trial
    condition = f"condition *{trial.condition}*, " if trial.condition != "none" else ""
    return (
        f"Question `{trial.question_id}`, judge `{trial.judge.name}`, {condition}outcome **{judgment.outcome}**.\n\n"
        f"{fenced(trial.request.prompt)}\n\nIts reply:\n\n{fenced(judgment.completion.text)}"
    )


def machine_provenance(asked: Asked) -> dict[str, Any]:
    """The same for numbers.json: data source, judges with returned ids, n, seed, hash of the inputs."""
    judgments = frames.one_row_each(asked.frame)
    shown = asked.frame.drop(columns="cluster", errors="ignore").astype(str)
    return {
        "experiment": asked.experiment.name,
        "data": asked.data,
        "judges": _returned(judgments),
        "n": len(judgments),
        "questions": int(judgments["question_id"].nunique()),
        "seed": asked.experiment.seed,
        "parameters": {
            key: Path(value).name if key in SOURCES and os.sep in str(value) else value
            for key, value in asked.experiment.parameters.items()
            if key not in ("out", "store")
        },
        "inputs": short_hash(*(x.trial.request.key for x in asked.judgments), shown.to_csv(index=False), digits=16),
    }


def control_gap(asked: Asked) -> str:
    """How many whole days lie between judgments and their controls at most, for captions; "" if simulated."""
    gaps = [at.gap_days for at in asked.controls.values() if at.gap_days == at.gap_days]
    if not gaps or asked.data == "simulated":
        return ""
    # The seconds in which a run asks are no day.
    days = math.ceil(max(gaps) - 0.01)
    sentence = f"Between a judgment and its control by the same judge lie at most {_count(days, 'day')}."
    most = asked.experiment.max_age_days
    return f"{sentence} Careful: that is more than the {most} that count as fresh." if max(gaps) > most else sentence


def control_records(asked: Asked) -> dict[str, dict[str, Any]]:
    """For run.json: which repeats of the control group serve each judge, and the most days between two partners."""
    return {
        judge: {"repeats": list(at.repeats), "gap_days": None if at.gap_days != at.gap_days else round(at.gap_days, 3)}
        for judge, at in sorted(asked.controls.items())
    }


def summary(asked: Asked, published: Sequence[Estimate], estimates: Sequence[Estimate]) -> dict[str, Any]:
    """The content of summary.json: one row for published and one for this run's data, and the card's lines."""
    bias, experiment = bias_of(asked.experiment), asked.experiment
    judgments = frames.one_row_each(asked.frame)
    lost = float((judgments["outcome"] != "ok").mean())
    rows = [(found, found.unreadable) for found in [bias.headline(published)] if found]
    headline, mute = bias.headline(estimates), frames.unreadable_words(frames.losses(asked.frame))
    if lost == 1 and mute:
        share = Estimate("unreadable_share", {}, lost, n=len(judgments), method="counted", data=asked.data)
        headline = Headline(sentence(mute.replace("**Cannot", "cannot").replace("**", "")[:-1], asked.data), share)
    rows += [(headline, lost)] if headline else []
    vendors: dict[str, str] = {}
    if "judge_vendor" in asked.frame:
        vendors = dict(asked.frame[["judge", "judge_vendor"]].dropna().drop_duplicates("judge").to_numpy())
    lines = [*bias.card(published), *bias.card(estimates, vendors)]
    return {
        "title": experiment.name,
        "question": experiment.title,
        "rows": [
            {"sentence": found.sentence, **export.numbers([found.estimate])[0], "unreadable": share}
            for found, share in rows
        ],
        "card": [{**asdict(line), "estimate": export.numbers([line.estimate])[0]} for line in lines],
        "models": costs(asked)["models"],
    }


def costs(asked: Asked) -> dict[str, Any]:
    """For run.json: what asking cost, and how many questions and answers could not be judged and are left out."""
    left_out = {"questions": len(asked.unjudged), "answers": sum(map(len, asked.unjudged.values()))}
    return {**asking.costs(asked.account, (*asked.replies.values(), *asked.judgments)), "left_out": left_out}


def write_published(asked: Asked) -> list[Path]:
    """Write answers and the first asking of listwise judgments in the published format, if it was wished."""
    experiment = asked.experiment
    if not experiment.extra["published_files"]:
        return []
    reasons = {
        (each.trial.question_id, each.trial.judge.name, each.trial.condition): each.verdict.justification
        for each in reversed(asked.judgments)  # the first asking is the last to be kept
        if each.verdict
    }
    answers = list(asked.answers.values())
    groups = datasets.published_judgments(asked.frame, reasons, answers)
    names = {hint: name for name, hint in reversed(JUDGMENT_FILES.items())}  # the first of each
    if "hints" not in experiment.extra and {*groups} == {"none"}:
        names["none"] = "judgments.json"
    files = {"answers.json": datasets.published_answers(answers, asked.questions)} if answers else {}
    files |= {names[hint]: records for hint, records in groups.items()}
    name, mark = ("published_simulated", {"simulated": True}) if asked.data == "simulated" else ("published", {})
    folder = experiment.out / name
    texts = {name: json.dumps([each | mark for each in records], indent=1) for name, records in files.items()}
    export.write({name: f"{text}\n".encode() for name, text in texts.items()}, folder)
    return [folder / name for name in files]


def write_arena(asked: Asked) -> list[Path]:
    """Write the first asking in Arena-Hard's own layout below `out`, with prompts and raw replies, if it was wished."""
    experiment = asked.experiment
    if not experiment.extra["arena_files"]:
        return []
    texts, shown = {}, {}
    for each in asked.judgments:
        trial, request = each.trial, each.trial.request
        if trial.condition == "none" and request.repeat == 0:
            key = (trial.question_id, trial.judge.name, trial.where["candidate"], trial.where["first"])
            texts[key] = each.completion.text if each.completion else ""
            message = {"system": request.system, "user": request.prompt}
            shown[key] = [{"role": role, "content": text} for role, text in message.items()]
    return datasets.write_arena(asked.frame, experiment.out / "model_judgment", texts=texts, prompts=shown)
