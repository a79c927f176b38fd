"""Answers and listwise judgments as records in the published format, which `load_answers` and `load_judgments` read."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from ..types import Answer, Question

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
