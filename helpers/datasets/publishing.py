"""Answers and judgments in the published formats, which `load_answers`, `load_judgments` and `load_arena` read."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from ..types import Answer, Question
from .games import ORDERS
from .hub import replace_file

#: How a judge's text, or the messages that it was shown, are looked up: question, judge, candidate, who stood first.
GameKey = tuple[str, str, str, str]
#: As much of an answer as the published judgments repeat.
_SHOWN = 200


def published_names(models: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    """The names <vendor>_<tier> of models (name, vendor, tier), by name; a model named as its vendor keeps that name.

    A model without a tier, or one of several with the same vendor and tier, has its name in place of the tier.

    >>> published_names([("sim", "gpt", "fast"), ("m1", "meta", ""), ("gpt_a", "gpt", "mini"), ("b", "gpt", "mini")])
    {'sim': 'gpt_fast', 'm1': 'meta_m1', 'gpt_a': 'gpt_a', 'b': 'gpt_b'}
    """
    models = list(dict.fromkeys(models))
    tiers = Counter((vendor, tier) for _, vendor, tier in models)
    short = {name: tier if tier and tiers[vendor, tier] == 1 else name.removeprefix(f"{vendor}_")
             for name, vendor, tier in models}  # fmt: skip
    return {name: name if name == vendor else f"{vendor}_{short[name]}" for name, vendor, _ in models}


def published_answers(answers: Iterable[Answer], questions: Iterable[Question]) -> list[dict[str, Any]]:
    """A record for each answer, in their order; one that cannot be judged has an `error` with its outcome.

    `questions` give the prompts and categories, so that the file can stand for them, too.
    """
    answers, asked = list(answers), {question.id: question for question in questions}
    names = published_names((each.candidate, each.vendor, each.tier) for each in answers)
    records = []
    for each in answers:
        name, question = names[each.candidate], asked.get(each.question_id)
        vendor, _, tier = name.partition("_")
        record = {"answer_id": f"ans_{each.question_id}_{name}", "prompt_id": each.question_id}
        record |= {"category": question.category, "prompt_text": question.text} if question else {}
        record |= {"model_vendor": vendor, "model_tier": tier, "model_name": each.model}
        read = {"ok": {"answer_text": each.text}, "empty": {"answer_text": ""}}
        records.append(record | read.get(each.outcome, {"error": each.outcome}))
    return records


def published_judgments(
    frame: pd.DataFrame, reasons: Mapping[tuple[str, str, str], str] | None = None, answers: Iterable[Answer] = ()
) -> dict[str, list[dict[str, Any]]]:
    """The judgments of a listwise frame by condition, a record each, of the first asking of each.

    `reasons` are their justifications by question, judge and condition. A judgment that could not be read is an `error`
    with its outcome ("MAX_TOKENS" where it was cut), an invalid ranking one without letters. One that is missing keeps
    what was shown, and is left out where that is not known. A ranking whose letters or candidates are not known is a
    ValueError.
    """
    judges = frame[["judge", "judge_vendor", "judge_tier"]].drop_duplicates()
    shown = frame[["candidate", "candidate_vendor", "candidate_tier"]].dropna(subset="candidate").drop_duplicates()
    both = [each.astype(object).fillna("").itertuples(index=False, name=None) for each in (judges, shown)]
    names = published_names(itertools.chain(*both))
    texts = {(each.question_id, each.candidate): each.text or "" for each in answers}
    found: dict[str, list[dict[str, Any]]] = {}
    keys = ["condition", "question_id", "judge"]
    first = frame["repeat"] == frame.groupby(keys, observed=True)["repeat"].transform("min")
    for place, rows in frame[first].groupby(keys, observed=True, sort=False):
        condition, question, judge = map(str, place)
        rows = rows.sort_values("slot", kind="stable")
        record: dict[str, Any] = {"prompt_id": question, "judge_model": names[judge], "hint_mode": condition}
        mapped = rows["label"].notna().all() and rows["candidate"].notna().all()
        if mapped:
            shown = dict(zip(rows["label"].astype(str), rows["candidate"].astype(str), strict=True))
            written = {label: texts.get((question, name)) for label, name in shown.items()}
            record["mapping"] = {label: f"ans_{question}_{names[name]}" for label, name in shown.items()}
            record["anonymized_answers"] = [
                {"label": label} | ({"text": f"{text[:_SHOWN]}..."} if text else {}) for label, text in written.items()
            ]
        outcome = str(rows["outcome"].iloc[0])
        if outcome == "ok" and not mapped:
            raise ValueError(
                f"question {question}, judge {judge}: which candidate stood under each letter is not known, and the "
                "published format cannot hold a ranking without"
            )
        if mapped and outcome in ("ok", "invalid_ranking", "missing"):
            ranked = rows.sort_values("rank")["label"].astype(str).tolist()
            record["ranking"] = {"ok": ranked, "missing": None}.get(outcome, [])
            scores = zip(rows["label"].astype(str), rows["score"], strict=True)
            record["scores"] = {label: None if score != score else score for label, score in scores}
            record["justification"] = (reasons or {}).get((question, judge, condition), "")
        elif outcome == "missing":
            continue
        else:
            record["error"] = "MAX_TOKENS" if outcome == "truncated" else outcome
        found.setdefault(condition, []).append(record)
    return found


def write_arena(
    frame: pd.DataFrame,
    folder: str | Path,
    *,
    texts: Mapping[GameKey, str] | None = None,
    prompts: Mapping[GameKey, list[dict[str, str]]] | None = None,
) -> list[Path]:
    """Write verdicts for Arena-Hard's own tools: <folder>/<judge>/<candidate>.jsonl, sorted.

    `frame` is a games frame, of which the first asking without a condition is written: a line a question with two games,
    the baseline first in game 1, each with score, judgment.answer (`texts`) and prompt (`prompts`). A score that is no
    label is null, for the tools stop at it, and so is a missing game; a question without any game is left out. Two
    verdicts on one question in one order, and two names that would share a file, are ValueErrors before anything is
    written.
    """
    rows = frame[(frame["condition"] == "none") & (frame["repeat"] == 0)]
    twice = rows[rows.duplicated(["judge", "candidate", "question_id", "first"])]
    if len(twice):
        named = ", ".join(f"{row.question_id} ({row.judge} on {row.candidate})" for row in twice[:3].itertuples())
        raise ValueError(f"{len(twice)} verdicts on a question that has one in the same order already: {named}")
    lines: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for row in rows.itertuples(index=False):
        about = {"uid": row.question_id, "category": row.category, "judge": row.judge, "model": row.candidate}
        about |= {"baseline": row.baseline, "games": [None, None]}
        line = lines.setdefault((row.judge, row.candidate), {}).setdefault(row.question_id, about)
        if line["baseline"] != row.baseline or line["category"] != row.category:
            raise ValueError(f"question {row.question_id}: its two games name different baselines or categories")
        if row.outcome != "missing":
            at = (row.question_id, row.judge, row.candidate, row.first)
            score = None if pd.isna(row.verdict) else row.verdict
            game = {"score": score, "judgment": {"answer": (texts or {}).get(at, "")}}
            line["games"][ORDERS.index(row.first)] = game | {"prompt": (prompts or {}).get(at, [])}
    files = {pair: Path(folder) / _name(pair[0]) / f"{_name(pair[1])}.jsonl" for pair in lines}
    # Some file systems do not tell capitals from small letters.
    owners: dict[str, tuple[str, str]] = {}
    for pair, path in files.items():
        other = owners.setdefault(str(path).lower(), pair)
        if other != pair:
            raise ValueError(f"{' on '.join(other)} and {' on '.join(pair)} would share the file {path.name}")
    for pair, path in files.items():
        # ASCII with escapes: whatever a reply holds, half a surrogate pair included, can be written.
        replace_file(path, [json.dumps(line) for line in lines[pair].values() if any(line["games"])])
    return sorted(files.values())


def _name(model: str) -> str:
    """A model's name as a file's: "/" as "__", as the benchmark's own files have it, and nothing that leaves a folder.

    >>> _name("Nexusflow/Athene-V2-Chat"), _name("../x y")
    ('Nexusflow__Athene-V2-Chat', '_.__x_y')
    """
    name = re.sub(r"[^\w.+@=-]", "_", model.replace("/", "__"))
    return re.sub(r"^\.", "_", name) or "_"
