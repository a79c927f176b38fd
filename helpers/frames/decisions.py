"""Decisions on bias tests as a table: one row a reply."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict

import pandas as pd

from helpers.frames.coding import coded
from helpers.types import Answer, Judgment, RatioScale, Trial

#: The decisions frame: what was answered to a bias test in one of its versions.
DECISIONS = (
    "experiment",
    "source",
    "question_id",
    "category",
    "wording",
    "kind",
    "judge",
    "judge_vendor",
    "judge_model",
    "condition",
    "repeat",
    "partner",
    "order",
    "choice",
    "value",
    "pro",
    "con",
    "options",
    "low",
    "high",
    "target",
    "ratio",
    "anchor",
    "k",
    "x1",
    "x2",
    "flip_control",
    "flip_treatment",
    "values",
    "score",
    "places",
    "letters",
    "outcome",
)
#: Columns of numbers; NaN where a test has none, or the reply holds none.
NUMBERS = (
    *("choice", "value", "pro", "con", "options", "low", "high", "target", "ratio", "anchor"),
    *("k", "x1", "x2", "score", "partner"),
)
WORDS = tuple(name for name in DECISIONS if name not in (*NUMBERS, "repeat", "flip_control", "flip_treatment"))
NAN = math.nan


def decisions(judgments: Iterable[Judgment], answers: Mapping[tuple[str, str], Answer] | None = None) -> pd.DataFrame:
    """One row a reply to one version of a bias test (columns: DECISIONS).

    `condition` is "control", "treatment" or, of tests in which arguments are selected, "decision". `choice` counts the
    options in their natural order from 0, whatever the shown `order`; `value` is what the option counts, of selected
    arguments (pro - con) / (pro + con), NaN where none was selected. `target` is the value that the bias pulls to, of
    selections the side decided for, `anchor` the number shown to which it pulls. `partner` is the repeat of the control
    that a treatment is compared with; `values` are those of all options. `places` are those picked, from 0 as shown,
    `letters` theirs, with a blank between several; "" where none was. A reply that could not be read has NaN and its
    `outcome`. `answers` are not used: nobody's answers are judged here. Words are categories. No judgments give an
    empty frame with all columns.
    """
    return coded([_row(each) for each in judgments], DECISIONS, WORDS, NUMBERS)


def _row(judgment: Judgment) -> dict[str, object]:
    trial = judgment.trial
    wording = trial.wording
    values = wording.versions[trial.where["version"]].values
    side = {"for": 1.0, "against": -1.0}.get(trial.where.get("decided", ""), NAN)
    scale = wording.scale or RatioScale(NAN, NAN, NAN)
    return {
        "experiment": trial.experiment,
        "source": "asked",
        "question_id": trial.question_id,
        "category": trial.category,
        "wording": wording.name,
        "kind": wording.kind,
        "judge": trial.judge.name,
        "judge_vendor": trial.judge.vendor,
        "judge_model": judgment.completion.model if judgment.completion else None,
        "condition": trial.condition,
        "repeat": trial.request.repeat,
        "partner": _partner(trial),
        "order": " ".join(trial.shown),
        **_read(judgment, values),
        "options": len(values),
        "low": min(values, default=NAN),
        "high": max(values, default=NAN),
        "target": side if wording.target is None else wording.target,
        "ratio": wording.facts.get("ratio", NAN) if wording.kind == "acceptance" else NAN,
        "anchor": NAN if wording.anchor is None else wording.anchor,
        **asdict(scale),
        "values": " ".join(f"{value:g}" for value in values),
        "score": NAN,
        "outcome": judgment.outcome,
    }


def _partner(trial: Trial) -> float:
    if trial.condition != "treatment":
        return NAN
    return trial.request.repeat if trial.partner is None else trial.partner


def _read(judgment: Judgment, values: tuple[float, ...]) -> dict[str, float | str]:
    """What a readable reply counts: the option chosen, or how many arguments of each side."""
    trial, verdict = judgment.trial, judgment.verdict
    found: dict[str, float | str] = {"choice": NAN, "value": NAN, "pro": NAN, "con": NAN}
    if verdict is None:
        return found
    natural = dict(zip(trial.labels, map(int, trial.shown), strict=True))
    places = sorted(map(trial.labels.index, [verdict.choice] if trial.form == "choice" else verdict.choices))
    found["places"] = " ".join(map(str, places))
    found["letters"] = " ".join(sorted(trial.labels[place] for place in places))
    if trial.form == "choice":
        choice = natural[verdict.choice]
        return found | {"choice": choice, "value": values[choice]}
    picked = [values[natural[label]] for label in verdict.choices]
    pro, con = sum(value > 0 for value in picked), sum(value < 0 for value in picked)
    return found | {"pro": pro, "con": con, "value": (pro - con) / (pro + con) if picked else NAN}
