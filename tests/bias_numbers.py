"""Invented numbers of bias tests, in every shape in which figures get them."""

from __future__ import annotations

import math
import random

import pandas as pd

from helpers.figures.points import BIASES
from helpers.types import Estimate

NAN = float("nan")
FEW = ("claude_fast", "claude_thinking", "gpt_fast", "gemini_thinking_with_a_long_name", "llama_large")
ONE = ("gpt_fast",)
VENDORS = ("claude", "gpt", "gemini", "llama", "qwen", "deepseek", "mistral", "acme")
MANY = tuple(f"{VENDORS[i % 8]}-{i + 2}.5-instruct-{7 * i}B" for i in range(13))
MODELS = tuple(f"{VENDORS[i % 8]}-{i + 2}.5-instruct-{7 * i}B" for i in range(20))
KINDS = ("Self-Serving", "Loss", "Escalation Of", "Planning", "Status-Quo", "Not Invented")
PUBLISHED = tuple(f"{a} {b} Bias" for a in KINDS
                  for b in ("Framing", "Disposition", "Hindsight", "Optimism", "Survivorship"))  # fmt: skip
RATIOS = (1.05, 1.2, 1.5, 2, 2.5, 3, 4, 6)


def number(id: str, where: dict, value: float, half: float, data: str, unit: str = "score") -> Estimate:
    ends = (value, value - half, value + half)
    return Estimate(id, where, *ends, n=144, clusters=24, unit=unit, method="scenario-clustered t", data=data)


def effects(data: str, judges=FEW, biases=BIASES, id: str = "bias_effect") -> list[Estimate]:
    rng, found = random.Random(3), []
    for i, bias in enumerate(biases):
        values = [max(-0.9, min(0.95, 0.28 - 0.09 * (i % 7) + rng.gauss(0, 0.15))) for _ in judges]
        if id == "ratio_scale_absolute":
            values = [abs(each) + 0.1 for each in values]
        found += [
            number(id, {"judge": judge, "bias": bias}, x, rng.uniform(0.08, 0.16), data)
            for judge, x in zip(judges, values, strict=True)
        ]
        if len(judges) > 1:
            found.append(number(id, {"bias": bias}, sum(values) / len(values), 0.06, data))
    return found


def corrected(estimates) -> dict:
    return {
        (e.where["bias"], e.where.get("judge"), e.data): 0.01 if e.low > 0 or e.high < 0 else 0.6 for e in estimates
    }


def odd(data: str, judges=FEW, biases=BIASES) -> list[Estimate]:
    return [
        Estimate("odd_share", {"judge": j, "bias": b, "condition": c}, 0.02, n=150, clusters=24, data=data)
        for j in judges for b in biases for c in ("control", "treatment")
    ]  # fmt: skip


def pairs(data: str, judges=FEW, biases=BIASES, scenarios: int = 24) -> pd.DataFrame:
    """Scales of 11 options; answers are pulled by a strength that differs by judge and bias, with noise."""
    rng, rows, again = random.Random(8), [], random.Random(9)
    source = "asked" if data in ("asked", "simulated") else "tum"
    for j, judge in enumerate(judges):
        for b, bias in enumerate(biases):
            strength = 0.5 - 0.08 * b - 0.04 * j
            for s in range(scenarios):
                for wording in "123":
                    truth, anchor = rng.gauss(50, 12), rng.uniform(10, 90)
                    target = 0.0 if bias == "loss_aversion" else 10 * round(anchor / 10)
                    a1 = 10 * round(min(max(truth + rng.gauss(0, 8), 0), 100) / 10)
                    a2 = 10 * round(min(max(truth + strength * (target - truth) + rng.gauss(0, 8), 0), 100) / 10)
                    a0 = 10 * round(min(max(truth + again.gauss(0, 8), 0), 100) / 10)
                    if bias == "loss_aversion":
                        a1, a2 = float(rng.random() < 0.6), float(rng.random() < 0.4)
                    lost = rng.random() < 0.02
                    rows.append({
                        "source": source, "judge": judge, "judge_vendor": "", "category": bias,
                        "question_id": f"{bias}_{s}", "wording": wording, "repeat": 0,
                        "a1": NAN if lost else a1, "a2": NAN if lost else a2, "a0": a0, "low": 0.0, "high": 100.0,
                        "target": target, "anchor": anchor if "anchoring" in bias else NAN,
                    })  # fmt: skip
    return pd.DataFrame(rows)


def slopes(data: str, judges=FEW, biases=("anchoring", "judge_anchoring")) -> list[Estimate]:
    return [
        number("anchor_slope", {"bias": bias, "judge": judge}, 0.5 - 0.08 * b - 0.04 * j, 0.08, data)
        for b, bias in enumerate(biases)
        for j, judge in enumerate(judges)
    ]


def acceptance(data: str, judges=FEW) -> list[Estimate]:
    found = []
    for j, judge in enumerate(judges):
        for condition, middle in (("control", 0.2), ("treatment", 0.7 + 0.08 * j)):
            where = {"judge": judge, "bias": "loss_aversion", "condition": condition}
            for ratio in RATIOS:
                p = 1 / (1 + math.exp(-4 * (math.log(ratio) - middle)))
                half = 0.04 + 0.5 * p * (1 - p)
                ends = max(p - half, 0), min(p + half, 1)
                found.append(Estimate("acceptance_rate", {**where, "ratio": f"{ratio:g}"}, p, *ends, n=18, clusters=14,
                                      method="scenario-clustered t", data=data))  # fmt: skip
            found.append(number("acceptance_threshold", where, middle, 0.15 + 0.05 * j, data, "log"))
        where = {"judge": judge, "bias": "loss_aversion"}
        found.append(number("threshold_ratio", where, 0.5 + 0.08 * j, 0.2, data, "log"))
    return found


METRICS = (
    *(("anchoring_agnostic", bias, 0.35) for bias in ("anchoring", "judge_anchoring")),
    *(("anchoring_specific", bias, 0.25) for bias in ("anchoring", "judge_anchoring")),
    *(("halo_effect", bias, 0.3) for bias in ("halo", "bandwagon", "authority")),
    ("loss_aversion", "loss_aversion", 0.3), ("confirmation_bias", "confirmation", 0.2),
    ("confirmation_unweighted", "confirmation", 0.22),
)  # fmt: skip


def metrics(data: str, judges=FEW) -> list[Estimate]:
    found, rng = [], random.Random(5)
    for id, bias, level in METRICS:
        for judge in judges:
            where = {"judge": judge, "bias": bias}
            whole, noise = level + rng.gauss(0, 0.06), 0.17 + rng.gauss(0, 0.015)
            found.append(number(id, where, whole, 0.07, data))
            if id != "loss_aversion":
                found.append(number(f"{id}_placebo", where, noise, 0.04, data))
                found.append(number(f"{id}_excess", where, whole - noise, 0.08, data))
    return found


def measured(frame: pd.DataFrame, data: str) -> list[Estimate]:
    """The effect of each judge and bias on these pairs, each pair counting once."""
    found = []
    for (judge, bias), group in frame.groupby(["judge", "category"], sort=False):
        by_scenario: dict[str, list[float]] = {}
        for row in group.itertuples():
            before, after = abs(row.a1 - row.target), abs(row.a2 - row.target)
            if max(before, after) > 0:
                by_scenario.setdefault(row.question_id, []).append((before - after) / max(before, after))
        means = [sum(each) / len(each) for each in by_scenario.values()]
        every = [x for each in by_scenario.values() for x in each]
        half = 2.07 * pd.Series(means).std() / math.sqrt(len(means))
        found.append(number("bias_effect", {"judge": judge, "bias": bias}, sum(every) / len(every), half, data))
    return found
