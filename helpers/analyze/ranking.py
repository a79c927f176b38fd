"""The numbers of experiments 1 and 2 from anybody's rankings."""

from __future__ import annotations

import pandas as pd

from helpers import frames
from helpers.analyze import own_numbers
from helpers.analyze.held import Held
from helpers.biases import hinting
from helpers.biases.hinting.asking import CONTROL
from helpers.biases.top_choice import defended, rates, spread
from helpers.types import Estimate

#: Of more rankings the model is fitted once, without its variants; of more questions spreads are not resampled.
MOST_RANKINGS = 50_000
MOST_QUESTIONS = 10_000


def numbers(held: Held, data: str, seed: int, margin_pp: float, notes: list[str]) -> list[Estimate]:
    """Every estimate of experiments 1 and 2 that these rankings carry.

    Blind judgments (condition none, or the one condition there is) give those of experiment 1; where there are several
    conditions, each is a hint that is compared with none. Numbers by category need categories, those of vendors vendors
    of judges and candidates.
    """
    # A category that no row has would become a number that is none where vendors are counted.
    frame = held.frame.astype({"judge_vendor": object, "candidate_vendor": object})
    if not (frame["top"] == 1.0).any():
        return []
    if "cluster" in frame:
        notes.append("Rankings: the question, not the column cluster, is the unit of all intervals.")
    names = set(map(str, frame["condition"].unique()))
    blind = frame[frame["condition"] == CONTROL] if len(names) > 1 and CONTROL in names else frame
    found: list[Estimate] = []
    if CONTROL in names or len(names) == 1:
        found += top(held, blind.reset_index(drop=True), data, seed, notes)
    if names != {CONTROL} and vendors_known(frame):
        if large(frame):
            notes.append("Too many questions to resample: what hints do to spreads is not measured.")
        else:
            every = hinting.measure(frame, data, seed, margin_pp)
            found += [each for each in every if each.id != "unreadable_share"]
    if "category" not in held.columns:
        found = [each for each in found if not each.id.startswith("category_")]
    return found


def top(held: Held, frame: pd.DataFrame, data: str, seed: int, notes: list[str]) -> list[Estimate]:
    """The numbers of experiment 1."""
    if not (frame["top"] == 1.0).any():
        return []
    placed = frame.loc[frame["rank"].notna(), "slot"].notna().all()
    found = own_numbers.candidate_top1_rate(frame, data)
    if placed:
        found += defended.position_effect(frame, data)
    if not frame[["repeat", "question_id", "candidate", "judge"]].duplicated().any():
        found += defended.agreement(frame, data, seed)
    if not vendors_known(frame):
        return found
    found += [
        *rates.top1_rate(frame, data),
        *rates.vendor_share(frame, data),
        *rates.self_bias(frame, data),
        *(rates.categories(frame, data) if "category" in held.columns else []),
        *(rates.tier_preference(frame, data) if frame["candidate_tier"].nunique() > 1 else []),
        *(rates.score_means(frame, data) if frame["score"].notna().any() else []),
        *rates.bias_difference(frame, data),
        *defended.excess_self_preference(frame, data),
        *defended.third_party_log_odds(frame, data),
    ]
    if large(frame):
        notes.append(f"More than {MOST_QUESTIONS:,} questions: metrics of spread are not resampled.")
    else:
        found += spread.spread(frame, data, seed)
    return [*found, *_logits(frame, data, placed, notes)]


def _logits(frame: pd.DataFrame, data: str, placed: bool, notes: list[str]) -> list[Estimate]:
    """The primary estimator and, of not too many rankings, its variants."""
    if not placed:
        notes.append("The shown order is not known: the model of self-preference, which needs it, is left out.")
        return []
    found = defended.self_preference(frame, data)
    if int((frame["top"] == 1.0).sum()) > MOST_RANKINGS:
        notes.append(f"More than {MOST_RANKINGS:,} rankings: the model is fitted without its variants.")
        return found
    return [*found, *defended.sensitivity(frame, data)]


def vendors_known(frame: pd.DataFrame) -> bool:
    """Whether a judge's vendor and a candidate's are told."""
    return bool(frame["candidate_vendor"].notna().any() and (frame["judge_vendor"].astype(object) != "").any())


def large(frame: pd.DataFrame) -> bool:
    """Whether there are more questions than are resampled."""
    return frames.one_row_each(frame)["question_id"].nunique() > MOST_QUESTIONS
