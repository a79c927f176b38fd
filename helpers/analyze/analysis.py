"""One file of verdicts, analysed: what it holds, every number, and of each other one what it needs."""

from __future__ import annotations

import pkgutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from helpers import frames
from helpers.analyze import formats, numbers
from helpers.analyze.tidy import STYLES, Held
from helpers.biases.accuracy import accuracy
from helpers.biases.losses import loss_change, loss_words
from helpers.config.numbers import load_numbers, number_files
from helpers.types import Estimand, Estimate


@dataclass(frozen=True)
class Facts:
    """What a file told: its style, its columns, and what its rows make possible."""

    style: str
    columns: frozenset[str]
    ordered: bool
    both_orders: bool
    asked_again: bool
    baseline: bool
    judges: int
    conditions: frozenset[str]
    several_own: bool
    own_model: bool
    scored: bool


def facts_of(held: Held) -> Facts:
    """The facts of held verdicts."""
    frame = held.frame
    pairs = held.style == "pairwise"
    ordered = bool(frame["ordered"].any()) if pairs else bool("slot" in frame and frame["slot"].notna().any())
    conditions = frozenset(map(str, frame["condition"].unique()))
    own: set[str] = set()
    if {"judge_vendor", "candidate_vendors"} <= held.columns:
        made = {*map(str, frame["candidate_vendor"].dropna().unique())}
        made |= {*map(str, frame["baseline_vendor"].dropna().unique())} if pairs else set()
        own = made & {*map(str, frame["judge_vendor"].unique())} - {""}
    return Facts(
        held.style,
        held.columns,
        ordered,
        pairs and ordered and frame.loc[frame["ordered"].astype(bool), "first"].nunique() > 1,
        bool(frame["repeat"].astype(int).max() > 0),
        held.baseline,
        frame["judge"].nunique(),
        conditions,
        bool(own),
        bool("own_model" in frame and frame["own_model"].astype(bool).any()),
        held.style == "score" or bool("score" in frame and not pairs and frame["score"].notna().any()),
    )


def _column(name: str) -> tuple[Callable[[Facts], bool], str]:
    return (lambda facts: name in facts.columns), f"column {name} is missing"


def _style(name: str) -> tuple[Callable[[Facts], bool], str]:
    return (lambda facts: facts.style == name), f"needs {STYLES[name]}"


#: What can be needed: the test that it is there, and the words where it is not.
TESTS: dict[str, tuple[Callable[[Facts], bool], str]] = {
    **{name: _style(name) for name in STYLES},
    **{name: _column(name) for name in ("gold", "judge_vendor", "candidate_vendors", "category", "length", "named")},
    "order": (lambda facts: facts.ordered, "column order: the shown order is not known"),
    "both_orders": (lambda facts: facts.both_orders, "needs the same pair in the other order"),
    "repeat": (lambda facts: facts.asked_again, "column repeat: each order asked twice on the same question"),
    "baseline": (lambda facts: facts.baseline, "needs one candidate that all others are compared with"),
    "judges": (lambda facts: facts.judges > 1, "needs two judges of the same"),
    "own": (lambda facts: facts.several_own, "needs a judge and a candidate of one vendor"),
    "hint": (
        lambda facts: "none" in facts.conditions and len(facts.conditions) > 1,
        "column condition: none, and a hint to compare it with",
    ),
    "swapped": (lambda facts: "swapped" in facts.conditions, "column condition: swapped (names dealt out at random)"),
    "identical": (lambda facts: "identical" in facts.conditions, "column condition: identical (one text twice)"),
    "quality_gap": (lambda facts: "quality_gap" in facts.conditions, "column condition: quality_gap (a known loser)"),
    "scored": (lambda facts: facts.scored, "needs scores beside the rankings"),
    "tier": (lambda facts: False, "needs tiers of the candidates: an experiment of our own, or LLM-Eval's files, tell"),
    "model": (lambda facts: facts.own_model, "needs a judge that is a candidate too, under the same name"),
    "two_scores": (lambda facts: False, "needs two scores a row, of the same pair in both orders"),
    "inconsistent": (lambda facts: False, "needs verdicts of both orders together, as MT-Bench publishes them"),
    "people": (lambda facts: False, "needs people's votes on the same pairs (helpers.biases.accuracy takes them)"),
    "published": (lambda facts: False, "made of published counts only"),
    "asked": (lambda facts: False, "needs a run of the experiment itself: verdicts alone do not hold what it shows"),
}
_TABLE = tomllib.loads((pkgutil.get_data(__package__, "needs.toml") or b"").decode())
#: What the numbers of each module need, unless they are named in NEEDS: what single numbers need, by module and id.
MODULES: dict[str, list[str]] = {module: words.split() for module, words in _TABLE["modules"].items()}
NEEDS = {(module, id): words.split() for module, table in _TABLE["numbers"].items() for id, words in table.items()}


def lacking(module: str, id: str, facts: Facts) -> list[str]:
    """What a number needs and the file does not have, in words; a wrong style of verdicts hides all else.

    Floors and corrected values (`<id>_noise_floor`, `<id>_corrected`) need what their number needs.
    """
    bare = id.removesuffix("_noise_floor").removesuffix("_corrected")
    wanted = NEEDS.get((module, id), NEEDS.get((module, bare), MODULES.get(module, ["asked"])))
    told = []
    for name in wanted:
        there, words = TESTS[name]
        if not there(facts):
            if name in STYLES:
                return [f"{words}, these are {STYLES[facts.style]}"]
            told.append(words)
    return told


COMPUTED, MISSING = "computed", "not computed"
#: How this room is called beside the modules of biases.
HERE = "analyze"


@cache
def declared() -> Mapping[str, Mapping[str, Estimand]]:
    """All estimands by module: those of this room, then those of each bias; an audit asks for its own verdicts."""
    modules = dict.fromkeys([HERE, *sorted(number_files().keys() - {"audit"})])
    return {module: load_numbers(module).estimands for module in modules}


def supported(held: Held, estimates: Sequence[Estimate]) -> pd.DataFrame:
    """One row a declared number: module, id, words, unit, status, numbers (how many were computed) and why (not).

    A number of the hinting groups is one with a hint in its place; one that has no value in any place is not computed,
    and its method says why.
    """
    facts = facts_of(held)
    made: dict[tuple[bool, str], list[Estimate]] = {}
    for each in estimates:
        made.setdefault(("hint" in each.where, each.id), []).append(each)
    rows = []
    for module, estimands in declared().items():
        for id, estimand in estimands.items():
            found = _of(made, module, id)
            valued = [each for each in found if each.value == each.value]
            why = ""
            if not valued:
                missing = lacking(module, id, facts)
                why = "; ".join(missing) or (found[0].method if found else "these verdicts give none")
            rows.append((module, id, estimand.words, estimand.unit, COMPUTED if valued else MISSING, len(valued), why))
    return pd.DataFrame(rows, columns=["module", "id", "words", "unit", "status", "numbers", "why"])


def _of(made: Mapping[tuple[bool, str], list[Estimate]], module: str, id: str) -> list[Estimate]:
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
    """What a file of verdicts says: its verdicts (`held`), the estimates, `status` of every declared number (columns of
    `supported`), `losses` (a row a judge and condition, unreadable verdicts by outcome) and `notes` on how it was done.
    """

    held: Held
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
    held = formats.load(source, format, ignore_extra, names, positive)
    estimates, notes = measured(held, "folder", seed, margin_pp)
    # Pairwise and score frames have a row a verdict, listwise ones a row a candidate.
    rows = frames.one_row_each(held.frame) if held.style == "ranking" else held.frame
    keys = {name: rows[name].astype(object) for name in ("judge", "condition", "outcome")}
    rows = rows.assign(**keys, games=2)
    losses = frames.losses(rows)
    if held.style != "ranking" and (lost := loss_words(loss_change(rows, "folder", seed))):
        notes = (*notes, lost)
    return Analysis(held, tuple(estimates), supported(held, estimates), losses, notes, seed, margin_pp)


#: Conditions that are no manipulation of their own but belong to the main one, as its controls.
CONTROLS = ("identical", "quality_gap")


def measured(held: Held, data: str, seed: int, margin_pp: float) -> tuple[list[Estimate], tuple[str, ...]]:
    """All estimates, and what is to be said of how they were made."""
    notes: list[str] = []
    found = [*numbers.unreadable_share(held.frame, data), *held.extra]
    if held.style == "ranking":
        found += numbers.ranking_numbers(held, data, seed, margin_pp, notes)
    for condition, part in conditions(held.frame):
        here: list[Estimate] = []
        if held.style == "pairwise":
            here = [*numbers.pair_numbers(part, data, seed), *numbers.position_numbers(held, part, data, seed, notes)]
        elif held.style == "score":
            here = numbers.score_numbers(part, data, seed)
        here += _accuracy(held, part, data)
        found += [replace(each, where={**each.where, "condition": condition}) if condition else each for each in here]
    return found, tuple(dict.fromkeys([*held.notes, *notes]))


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


def _accuracy(held: Held, part: pd.DataFrame, data: str) -> list[Estimate]:
    """How often judges are right, where the file tells what is right; by category too."""
    if "gold" not in part or held.style == "score" or not part["gold"].notna().any():
        return []
    gold = part["gold"].to_numpy(dtype=float)
    if held.style == "pairwise":
        correct = np.where(part["won"].isna() | np.isnan(gold), np.nan, part["won"] == gold)
        rows = part.assign(correct=correct)
    else:
        rows = part[part["top"] == 1.0].assign(correct=gold[(part["top"] == 1.0).to_numpy()])
    known = rows["gold"].notna() if held.style == "pairwise" else rows["correct"].notna() | (rows["outcome"] != "ok")
    return accuracy(
        rows.loc[known, ["question_id", "judge", "category", "outcome", "correct", *({"cluster"} & {*rows})]], data
    )
