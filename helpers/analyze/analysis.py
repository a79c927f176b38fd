"""One file of verdicts, analysed: what it holds, every number, and of each other one what it needs."""

from __future__ import annotations

import pkgutil
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pandas as pd

from .. import frames
from ..biases.accuracy import accuracy
from ..biases.losses import loss_change, loss_words
from ..types import Estimand, Estimate
from ..words.numbers import load_numbers, number_files
from . import formats, numbers
from .tidy import STYLES, Verdicts

#: What to say of each need that is not met; a style and a column say themselves.
WORDS: dict[str, str] = tomllib.loads((pkgutil.get_data(__package__, "needs.toml") or b"").decode())


def facts_of(file: Verdicts) -> frozenset[str]:
    """What these verdicts have of what numbers need (numbers.yaml)."""
    frame, pairs = file.frame, file.style == "pairwise"
    ordered = bool(frame["ordered"].any()) if pairs else bool("slot" in frame and frame["slot"].notna().any())
    conditions = {*map(str, frame["condition"].unique())}
    both_roles: set[str] = set()
    if {"judge_vendor", "candidate_vendors"} <= file.columns:
        sides = ("candidate_vendor", "baseline_vendor") if pairs else ("candidate_vendor",)
        made = {str(name) for side in sides for name in frame[side].dropna().unique()}
        both_roles = made & {*map(str, frame["judge_vendor"].unique())} - {""}
    both = pairs and ordered and frame.loc[frame["ordered"].astype(bool), "first"].nunique() > 1
    scored = file.style == "score" or ("score" in frame and not pairs and frame["score"].notna().any())
    met = {
        "order": ordered,
        "both_orders": both,
        "repeat": frame["repeat"].astype(int).max() > 0,
        "baseline": file.baseline,
        "judges": frame["judge"].nunique() > 1,
        "own": both_roles,
        "hint": "none" in conditions and len(conditions) > 1,
        "scored": scored,
        "model": "own_model" in frame and frame["own_model"].astype(bool).any(),
        **{name: name in conditions for name in ("swapped", "identical", "quality_gap")},
    }
    return (file.columns - met.keys()) | {name for name, there in met.items() if there} | {file.style}


def lacking(estimand: Estimand, style: str, facts: frozenset[str]) -> list[str]:
    """What a number needs and the file does not have, in words; a wrong style of verdicts hides all else."""
    missing = [name for name in estimand.needs.split() if name not in facts]
    if other := next((name for name in missing if name in STYLES), ""):
        return [f"needs {STYLES[other]}, these are {STYLES[style]}"]
    return [WORDS.get(name, f"column {name} is missing") for name in missing]


COMPUTED, MISSING = "computed", "not computed"
#: How this room is called beside the modules of biases.
HERE = "analyze"


@cache
def declared() -> Mapping[str, Mapping[str, Estimand]]:
    """All estimands by module: those of this room, then those of each bias; an audit asks for its own verdicts."""
    modules = dict.fromkeys([HERE, *sorted(number_files().keys() - {"audit"})])
    return {module: load_numbers(module).estimands for module in modules}


def supported(file: Verdicts, estimates: Sequence[Estimate]) -> pd.DataFrame:
    """One row a declared number: module, id, words, unit, status, numbers (how many were computed) and why (not).

    A number of the hinting groups is one with a hint in its place; one that has no value in any place is not computed,
    and its method says why.
    """
    facts = facts_of(file)
    made: dict[tuple[bool, str], list[Estimate]] = {}
    for each in estimates:
        made.setdefault(("hint" in each.where, each.id), []).append(each)
    rows = []
    for module, estimands in declared().items():
        for id, estimand in estimands.items():
            found = _matching(made, module, id)
            valued = [each for each in found if each.value == each.value]
            why = ""
            if not valued:
                missing = "; ".join(lacking(estimand, file.style, facts))
                why = missing or (found[0].method if found else "these verdicts give none")
            rows.append((module, id, estimand.words, estimand.unit, COMPUTED if valued else MISSING, len(valued), why))
    return pd.DataFrame(rows, columns=["module", "id", "words", "unit", "status", "numbers", "why"])


def _matching(made: Mapping[tuple[bool, str], list[Estimate]], module: str, id: str) -> list[Estimate]:
    """The estimates of one declared number."""
    hinted, plain = made.get((True, id), []), made.get((False, id), [])
    if module == "hinting":
        return hinted or (plain if id in ("change_rate_repeat", "unreadable_share") else [])
    if module in ("self_preference", "cognitive"):
        return []
    return plain


SEED = 42
MARGIN_PP = 5.0


@dataclass(frozen=True)
class Analysis:
    """What a file of verdicts says: its verdicts (`file`), the estimates, `status` of every declared number (columns of
    `supported`), `losses` (a row a judge and condition, unreadable verdicts by outcome) and `notes` on how it was done.
    """

    file: Verdicts
    estimates: tuple[Estimate, ...]
    status: pd.DataFrame
    losses: pd.DataFrame
    notes: tuple[str, ...]
    seed: int
    margin_pp: float

    @property
    def judgments(self) -> int:
        """How many verdicts there are, read or not."""
        return int(self.losses["judgments"].sum())


def analyze(
    source: str | Path,
    format: str | None = None,
    *,
    ignore_extra: bool = False,
    names: Mapping[str, str] | None = None,
    positive: str = "",
    seed: int = SEED,
    margin_pp: float = MARGIN_PP,
) -> Analysis:
    """Every number that the verdicts of a file can carry, and of each other declared number what is missing.

    `source`: a tidy file (.csv, .tsv, .jsonl, .json, .parquet; columns: `columns.ALL`), or a file or folder of another
    tool (`formats.FORMATS`); `format` where its fields do not tell; `names`: what it calls our columns; `positive`: for
    which answer, "first" or "second", grades above 0 are. `seed`: resampling and sign flips; `margin_pp`: within which
    a hint counts as changing nothing. A file that is not what it should be is a ValueError with file, line and field,
    before anything is computed.
    """
    file = formats.load(source, format, ignore_extra, names, positive)
    estimates, notes = measured(file, "folder", seed, margin_pp)
    # Pairwise and score frames have a row a verdict, listwise ones a row a candidate.
    rows = frames.one_row_each(file.frame) if file.style == "ranking" else file.frame
    keys = {name: rows[name].astype(object) for name in ("judge", "condition", "outcome")}
    rows = rows.assign(**keys, games=2)
    losses = frames.losses(rows)
    if file.style != "ranking" and (lost := loss_words(loss_change(rows, "folder", seed))):
        notes = (*notes, lost)
    return Analysis(file, tuple(estimates), supported(file, estimates), losses, notes, seed, margin_pp)


#: Conditions that are no manipulation of their own but belong to the main one, as its controls.
CONTROLS = ("identical", "quality_gap")


def measured(file: Verdicts, data: str, seed: int, margin_pp: float) -> tuple[list[Estimate], tuple[str, ...]]:
    """All estimates, and what is to be said of how they were made."""
    notes: list[str] = []
    found = [*numbers.unreadable_share(file.frame, data), *file.extra]
    if file.style == "ranking":
        found += numbers.ranking_numbers(file, data, seed, margin_pp, notes)
    for condition, part in conditions(file.frame):
        here: list[Estimate] = []
        if file.style == "pairwise":
            here = [*numbers.pair_numbers(part, data, seed), *numbers.position_numbers(file, part, data, seed, notes)]
        elif file.style == "score":
            here = numbers.score_numbers(part, data, seed)
        here += _accuracy(file, part, data)
        found += [replace(each, where={**each.where, "condition": condition}) if condition else each for each in here]
    return found, tuple(dict.fromkeys([*file.notes, *notes]))


def conditions(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The verdicts under each condition: first the main one, called "", with its controls, then each other by name.

    The main one is "none", or that of the most verdicts where there is none.
    """
    every_name = frame["condition"].value_counts()
    names = [str(name) for name in every_name.index[every_name > 0] if name not in CONTROLS]
    main = "none" if "none" in names or not names else names[0]
    here = frame["condition"].astype(object)
    if not names or len(names) == 1:
        yield "", frame.assign(condition=here.where(here.isin(CONTROLS), "none"))
        return
    for name in [main, *sorted(set(names) - {main})]:
        kept = (here == name) | here.isin(CONTROLS if name == main else ())
        part = frame[kept]
        renamed = here[kept].where(here[kept].isin(CONTROLS), "none")
        yield "" if name == main else name, part.assign(condition=renamed).reset_index(drop=True)


def _accuracy(file: Verdicts, part: pd.DataFrame, data: str) -> list[Estimate]:
    """How often judges are right, where the file tells what is right; by category too."""
    if "gold" not in part or file.style == "score" or not part["gold"].notna().any():
        return []
    if file.style == "pairwise":
        rows = part[part["gold"].notna()]
        correct = (rows["won"] == rows["gold"]).astype(float).where(rows["won"].notna())
    else:
        first = part[part["top"] == 1.0]
        rows = first[first["gold"].notna() | (first["outcome"] != "ok")]
        correct = rows["gold"].astype(float)
    names = ["question_id", "judge", "category", "outcome", *({"cluster"} & {*rows})]
    return accuracy(rows[names].assign(correct=correct), data)
