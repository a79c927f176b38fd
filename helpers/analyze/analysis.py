"""One file of verdicts, analysed: every number that it carries, and of each other one what it needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from .. import frames
from ..biases import hinting
from ..biases.accuracy import accuracy, people_rate
from ..biases.hinting.asked import CONTROL
from ..biases.losses import loss_change, loss_words
from ..biases.position import both_orders, measured
from ..biases.position.both_orders import COMPARISON, INVALID
from ..biases.protocol import SIGNS
from ..biases.top_choice import defended, rates
from ..datasets.games import INCONSISTENT
from ..datasets.questions import UNKNOWN
from ..escaping import html
from ..export import numbers as records
from ..figures import Figure
from ..stats.agreement import krippendorff_alpha, raw_agreement
from ..stats.intervals import NAN, Interval, cluster_sums, clustered, clusters_of, estimate, no_interval, wilson
from ..stats.models import own_vendor_effects
from ..types import Estimand, Estimate
from ..words.numbers import declared_by, load_numbers, number_files
from . import formats
from .formats import FIRSTS, Verdicts
from .reading import ACCEPTED

#: The module whose numbers.yaml declares what is measured here, and where all verdicts are from.
HERE, DATA = "analyze", "folder"
#: Conditions that belong to the main one, as its controls: the same text twice, and a grossly bad answer.
CONTROLS = ("identical", "quality_gap")
#: More than these are not measured, or otherwise.
MOST = ACCEPTED["most"]
#: What all candidates of a judge together are called where figures need a name.
EVERYBODY = "all candidates"
#: The facts of a number in a table of numbers, in order.
FIELDS = ("value", "low", "high", "p", "n", "clusters", "effective", "unit", "method", "data")
#: What is the same where two judges are compared on a pair.
SAME = ["source", "condition", "question_id", "baseline", "candidate", "first"]


def made(id: str, where: dict[str, str], interval: Interval) -> Estimate:
    """A number of this room, in the unit that it is declared with."""
    about = declared_by(HERE).get(id)
    return estimate(id, where, interval, DATA, about.unit if about else "rate")


def mean(values: np.ndarray, questions: np.ndarray) -> Interval:
    """The mean of values; `questions` are codes. Wilson where each question has one 0 or 1."""
    codes, at = np.unique(questions, return_inverse=True)
    if len(codes) == len(values) and np.isin(values, (0.0, 1.0)).all():
        return wilson(int(values.sum()), len(values))
    return clustered(np.bincount(at, weights=values), np.bincount(at).astype(float), null=None)


def by(id: str, frame: pd.DataFrame, values: np.ndarray | pd.Series, *keys: str) -> Iterator[Estimate]:
    """The mean of `values` in each cell of `keys`, in order; cells without any value give nothing."""
    finite = np.flatnonzero(pd.notna(values))
    questions, values = pd.factorize(clusters_of(frame))[0][finite], np.asarray(values, dtype=float)[finite]
    cells = frame[[*keys]].iloc[finite].groupby([*keys], observed=True, sort=True).indices
    for names, rows in cells.items():
        names = names if isinstance(names, tuple) else (names,)
        yield made(id, dict(zip(keys, map(str, names), strict=True)), mean(values[rows], questions[rows]))


def by_candidate(id: str, frame: pd.DataFrame, value: str) -> list[Estimate]:
    """The mean of each candidate over all judges, then judge by judge where there are several and not too many."""
    found = list(by(id, frame, frame[value], "candidate"))
    cells = len(frame[["judge", "candidate"]].drop_duplicates())
    if frame["judge"].nunique() > 1 and cells <= MOST["cells"]:
        found += by(id, frame, frame[value], "judge", "candidate")
    return found


def unreadable_share(frame: pd.DataFrame) -> list[Estimate]:
    """The share of verdicts without one that can be read, a judge each, and by condition where there are several."""
    lost = (frame["outcome"].astype(object) != "ok").astype(float)
    groups = [("judge",), ("judge", "condition")][: 1 + (frame["condition"].nunique() > 1)]
    return [each for keys in groups for each in by("unreadable_share", frame, lost, *keys)]


def _agreement(rows: pd.DataFrame, values: pd.Series, same: list[str], level: str, seed: int) -> list[Interval]:
    """How far judges agree in their first values on the `same`, beyond chance and with it; nothing for one judge."""
    kept = (rows["repeat"] == 0) & values.notna()
    rows, values = rows[kept], values[kept]
    units, judges = rows.groupby(same, observed=True).ngroup().to_numpy(), pd.factorize(rows["judge"])[0]
    shape = (units.max(initial=-1) + 1, judges.max(initial=-1) + 1)
    if math.prod(map(int, shape)) > MOST["table"]:
        return []
    table, questions = np.full(shape, math.nan), np.zeros(shape[0], dtype=int)
    table[units, judges], questions[units] = values, pd.factorize(clusters_of(rows))[0]
    several = (~np.isnan(table)).sum(axis=1) > 1
    table, questions = table[several], questions[several]
    return [krippendorff_alpha(table, level, seed, questions), raw_agreement(table, questions)] if len(table) else []


# --- own vendors ------------------------------------------------------------------------------------------------------


def own_vendor_effects_of(id: str, rows: pd.DataFrame, sides: dict[str, str]) -> Iterator[Estimate]:
    """How much more a vendor's judges give its answers than what else moves `value`, averaged over a judge and item.

    `value` with `place` (which side of the prompt the first of `sides` stood on); columns by what the fit calls them.
    Judges that saw every pair in one order only are left out where others saw both.
    """
    rows = rows[rows["value"].notna() & (rows["judge_vendor"].astype(object) != "")]
    if rows.empty:
        return
    own = [(rows[f"{side}_vendor"].astype(object) == rows["judge_vendor"].astype(object)) * 1.0 for side in sides]
    rows = rows.assign(own=own[0] - sum(own[1:]), cluster=clusters_of(rows), weight=1.0)
    names = [name for name in ("source", "question_id", *sides) if name in rows]
    rows["item"] = rows.groupby(names, observed=True, sort=False).ngroup()
    same = {"judge_vendor": "vendor", "question_id": "question", "cluster": "cluster", "own": "own", **sides}
    means = {"value": ("value", "mean"), "place": ("place", "mean"), "weight": ("weight", "sum")}
    cells = rows.groupby(["judge", "item"], observed=True, sort=False)
    cells = cells.agg(**means, **{new: (old, "first") for old, new in same.items()}).reset_index()
    cells = cells.astype(dict.fromkeys(("judge", "vendor", "question", "cluster", *sides.values()), object))
    # Of a judge that saw pairs in one order only, place and preference are confounded.
    apart = (cells["place"].abs() < 1).groupby(cells["judge"]).transform("any")
    if "minus" in cells and apart.any():
        cells = cells[apart].reset_index(drop=True)
    if len(cells) > MOST["values"]:
        many = no_interval(NAN, len(cells), 0, f"{len(cells):,} values: too many to fit")
        found = dict.fromkeys(sorted({*cells.loc[cells["own"] != 0, "vendor"]}), many)
    else:
        found = own_vendor_effects(cells)
    yield from (made(id, {"vendor": str(name)}, interval) for name, interval in found.items())


def own_vendor_excess(id: str, answers: pd.DataFrame, value: str, same: list[str]) -> Iterator[Estimate]:
    """How much more a vendor's judges give its answers than others do, of the `same` that both judged (vendor).

    Less what they give more to all other answers, where these are among `answers`. Nothing where a group is empty.
    """
    rows = answers[answers[value].notna() & (answers["judge_vendor"] != "") & answers["vendor"].notna()]
    pairs = "rival" in rows
    for vendor in sorted({*rows["judge_vendor"]} & {*rows["vendor"]}):
        part = rows[(rows["vendor"] == vendor) & (rows["rival"] != vendor)] if pairs else rows
        part = part.assign(mine=part["judge_vendor"] == vendor, own=part["vendor"] == vendor)
        both = part[part.groupby(same, observed=True)["mine"].transform("nunique") == 2]
        sums = cluster_sums(both, value, "question_id", ["mine", "own"])
        if len(sums.columns) == (2 if pairs else 4):
            weights = [1.0 if mine == own else -1.0 for mine, own in sums.columns]
            yield made(id, {"vendor": vendor}, clustered(sums.numerators, sums.denominators, weights))


def own_vendor_win_agreed(rows: pd.DataFrame) -> list[Estimate]:
    """How often an answer of the vendor wins both orders, of pairs that one answer wins in both (vendor, judges).

    `judges` is own or others; a judge that follows the place hardly counts here.
    """
    kept = rows[rows["ordered"].to_numpy(dtype=bool) & rows["sign"].notna() & (rows["sign"] != 0)]
    pair = kept.groupby(["judge", *SAME[:-1], "repeat"], observed=True)["won"]
    agreed = (pair.transform("size") == 2) & (pair.transform("min") == pair.transform("max"))
    # One row a pair: that of the first order.
    answers = of_answers(kept[agreed & (pair.cumcount() == 0)])
    answers = answers[(answers["vendor"] != answers["rival"]) & (answers["judge_vendor"] != "")]
    answers = answers[answers["vendor"].isin({*rows["judge_vendor"].astype(object)} - {""})]
    judges = np.where(answers["judge_vendor"] == answers["vendor"], "own", "others")
    answers = answers.assign(judges=pd.Categorical(judges, ["own", "others"]))
    return list(by("own_vendor_win_agreed", answers, answers["share"], "vendor", "judges"))


# --- pairs and scores -------------------------------------------------------------------------------------------------


def of_answers(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a verdict and answer: who wrote it (`answer`, `vendor`) against whose, its `share` and its `points`."""
    kept = rows[[*{*SAME, "question_id", "judge", "repeat"}]].assign(cluster=clusters_of(rows))
    kept["judge_vendor"] = rows["judge_vendor"].astype(object)
    parts = [
        kept.assign(
            answer=rows[side].astype(object),
            vendor=rows[f"{side}_vendor"].astype(object),
            rival=rows[f"{other}_vendor"].astype(object),
            share=rows["won"] if side == "candidate" else 1 - rows["won"],
            points=rows.get(f"score_{side}", NAN),
            gold=rows["gold"] if side == "candidate" else 1 - rows["gold"],
        )
        for side, other in (("candidate", "baseline"), ("baseline", "candidate"))
    ]
    return pd.concat(parts, ignore_index=True).astype({"answer": "category"})


def pair_numbers(file: Verdicts, frame: pd.DataFrame, seed: int, notes: list[str]) -> list[Estimate]:
    """Every number of a games frame with `ordered`, `won` and vendors of both sides."""
    rows = frame[~frame["condition"].isin(CONTROLS)].reset_index(drop=True)
    rows["sign"] = rows["verdict"].map(SIGNS).astype(float)
    ordered = rows["ordered"].to_numpy(dtype=bool)
    answers = of_answers(rows)
    won = answers.drop(columns="candidate").rename(columns={"answer": "candidate"})
    winner = np.sign(2 * rows["won"] - 1)
    first = ((rows["sign"] + 1) / 2).where(ordered & (rows["sign"] != 0))
    found = [*by("first_place_share", rows, first, "judge"), *by_candidate("candidate_win_rate", won, "share")]
    disagreed = rows["score"].astype(object) == INCONSISTENT
    turns = rows["source"].astype(str).str.rpartition(", turn ")[2].astype("category")
    for turn in (turns, "all") if disagreed.any() else ():
        found += by("both_order_inconsistent", rows.assign(turn=turn), disagreed.astype(float), "turn")
    if "length_candidate" in rows:
        longer = np.sign((rows["length_candidate"] - rows["length_baseline"]).astype(float)) * winner
        found += by("longer_win_rate", rows, ((longer + 1) / 2).where(longer != 0), "judge")
    if "gap" in rows:
        found += by_candidate("candidate_score_mean", won, "points")
        pair = rows.groupby([*SAME[:-1], "judge", "repeat"], observed=True)
        # Quality cancels where the same pair was scored in both orders.
        complete = (pair["gap"].transform("count") == 2) & (pair["first"].transform("nunique") == 2)
        found += by("first_place_score_effect", rows, rows["gap"].where(complete), "judge")
    side = np.where(rows["first"].astype(object) == "candidate", 1.0, -1.0) * ordered
    valued = rows.assign(value=rows["won"] - 0.5, place=side)
    found += own_vendor_effects_of("own_vendor_win_effect", valued, {"candidate": "plus", "baseline": "minus"})
    found += [*own_vendor_win_agreed(rows), *own_vendor_excess("own_vendor_win_excess", answers, "share", SAME)]
    agreement = _agreement(rows, winner, SAME, "nominal", seed)
    ids = ("agreement_winners", "raw_agreement_winners")
    found += [made(id, {}, each) for id, each in zip(ids, agreement, strict=False)]
    return [*found, *position_numbers(file, frame, seed, notes)]


def score_numbers(frame: pd.DataFrame, seed: int) -> list[Estimate]:
    """Every number of scores: means, own vendor, error against gold, agreement."""
    found = by_candidate("candidate_score_mean", frame, "score")
    found += by("score_error", frame, frame["score"] - frame["gold"], "judge")
    valued = frame.assign(value=frame["score"], place=1.0)
    found += own_vendor_effects_of("own_vendor_score_effect", valued, {"candidate": "plus"})
    vendors = {"vendor": frame["candidate_vendor"].astype(object), "judge_vendor": frame["judge_vendor"].astype(object)}
    same = ["question_id", "candidate"]
    found += own_vendor_excess("own_vendor_score_excess", frame.assign(**vendors), "score", same)
    few = frame["score"].nunique() <= MOST["scores"]
    agreement = _agreement(frame, frame["score"], same, "ordinal", seed) if few else []
    return [*found, *(made("agreement_scores", {}, each) for each in agreement[:1]), *asked_again(frame)]


def asked_again(frame: pd.DataFrame) -> Iterator[Estimate]:
    """How far a score moves when it is asked again, how often the best is shared, and another one is best next time."""
    keys = ["judge", "question_id", "cluster", "repeat"]
    rows = frame.loc[frame["score"].notna(), [*keys, "candidate", "score"]].astype({"candidate": object})
    before = rows.assign(repeat=rows["repeat"] + 1)
    twice = rows.merge(before, on=[*keys, "candidate"])
    yield from by("score_moved", twice, (twice["score_x"] - twice["score_y"]).abs(), "judge")
    best = rows["score"] == rows.groupby(keys, observed=True)["score"].transform("max")
    calls = rows.assign(best=best, name=rows["candidate"].where(best)).groupby(keys, observed=True)
    calls = calls.agg(best=("best", "sum"), size=("best", "size"), name=("name", "first")).reset_index()
    calls = calls[calls["size"] > 1]
    yield from by("score_best_shared", calls, (calls["best"] > 1).astype(float), "judge")
    alone = calls[calls["best"] == 1]
    twice = alone.merge(alone.assign(repeat=alone["repeat"] + 1), on=keys)
    yield from by("score_other_best", twice, (twice["name_x"] != twice["name_y"]).astype(float), "judge")


def position_numbers(file: Verdicts, frame: pd.DataFrame, seed: int, notes: list[str]) -> list[Estimate]:
    """Every estimate of experiment 4 that these verdicts carry; none where no pair was judged readably in both orders.

    `where` holds judge and candidate where all candidates were compared with one baseline (and there are not too many),
    and the judge alone for all its pairs together. Verdicts without a known order or without a partner in the other
    order are left out, and counted in `notes`.
    """
    ordered = frame[frame["ordered"].to_numpy(dtype=bool)]
    both = ordered[(ordered["games"] == 2) | ordered["condition"].isin(CONTROLS)] if file.format == "tidy" else ordered
    if len(both) < len(ordered):
        note = f"{len(ordered) - len(both):,} of {len(frame):,} verdicts have no partner in the other order"
        notes.append(f"{note}: numbers of both orders are made without them.")
    table = both_orders.pairs(both)
    if not (table["kind"] != INVALID).any():
        return measured.control_arms(table, DATA, seed)
    count = len(table.drop_duplicates(COMPARISON))
    single = file.baseline and count <= MOST["comparisons"]
    if not file.baseline:
        notes.append("No candidate stands in every pair: places are reported by judge, over all its pairs.")
    elif not single:
        note = f"{count:,} comparisons of judge and candidate, more than {MOST['comparisons']}"
        notes.append(f"{note}: places are reported by judge.")
    found = _places(table, seed) if single else []
    if single:  # what is of one comparison alone
        found += [*measured.excess_flip(table, DATA, seed), *measured.flip_by_gap(table, DATA)]
        found += [*measured.win_rate(table, DATA), *measured.sensitivity(table, DATA)]
    if not single or table.drop_duplicates(["judge", "candidate"])["judge"].duplicated().any():
        for each in _places(table.assign(candidate=EVERYBODY, source=""), seed):
            found.append(replace(each, where={key: at for key, at in each.where.items() if key != "candidate"}))
    return found


def _places(table: pd.DataFrame, seed: int) -> list[Estimate]:
    """What is measured of each judge and candidate, and of each judge over all its pairs."""
    return [
        *both_orders.class_rates(table, DATA),
        *both_orders.first_position_effect(table, DATA, seed),
        *both_orders.signed_rates(table, DATA),
        *measured.control_arms(table, DATA, seed),
    ]


# --- rankings ---------------------------------------------------------------------------------------------------------


def ranking_numbers(
    file: Verdicts, facts: frozenset[str], seed: int, margin_pp: float, notes: list[str]
) -> list[Estimate]:
    """Every estimate of experiments 1 and 2 that these rankings carry.

    Blind judgments (condition none, or the one condition there is) give those of experiment 1; where there are several
    conditions, each is a hint that is compared with none. Numbers by category need categories, those of vendors vendors
    of judges and candidates.
    """
    # A category that no row has would become a number that is none where vendors are counted.
    frame = file.frame.astype({"judge_vendor": object, "candidate_vendor": object})
    names = {*map(str, frame["condition"].unique())}
    blind = frame[frame["condition"] == CONTROL] if len(names) > 1 and CONTROL in names else frame
    vendors = {"judge_vendor", "candidate_vendors"} <= facts
    found: list[Estimate] = []
    if not (frame["top"] == 1.0).any():
        return found
    if (CONTROL in names or len(names) == 1) and (blind["top"] == 1.0).any():
        found += _blind(blind.reset_index(drop=True), vendors, seed, notes)
    hinted = names != {CONTROL} and vendors
    if hinted and frame["question_id"].nunique() > MOST["questions"]:
        notes.append("Too many questions to resample: what hints do to spreads is not measured.")
    elif hinted:
        found += [e for e in hinting.measure(frame, DATA, seed, margin_pp) if e.id != "unreadable_share"]
    return found if "category" in facts else [each for each in found if not each.id.startswith("category_")]


def _blind(frame: pd.DataFrame, vendors: bool, seed: int, notes: list[str]) -> list[Estimate]:
    """The numbers of experiment 1."""
    placed = frame.loc[frame["rank"].notna(), "slot"].notna().all()
    found = by_candidate("candidate_top1_rate", frame, "top")
    if placed:
        found += defended.position_effect(frame, DATA)
    if not frame[["repeat", "question_id", "candidate", "judge"]].duplicated().any():
        found += defended.agreement(frame, DATA, seed)
    if not vendors:
        return found
    found += [
        *rates.top1_rate(frame, DATA),
        *rates.vendor_share(frame, DATA),
        *rates.self_bias(frame, DATA),
        *rates.categories(frame, DATA),
        *(rates.tier_preference(frame, DATA) if frame["candidate_tier"].nunique() > 1 else []),
        *(rates.score_means(frame, DATA) if frame["score"].notna().any() else []),
        *rates.bias_difference(frame, DATA),
        *defended.excess_self_preference(frame, DATA),
        *defended.third_party_log_odds(frame, DATA),
    ]
    if frame["question_id"].nunique() > MOST["questions"]:
        notes.append(f"More than {MOST['questions']:,} questions: metrics of spread are not resampled.")
    else:
        found += rates.spread(frame, DATA, seed)
    if not placed:
        notes.append("The shown order is not known: the model of self-preference, which needs it, is left out.")
        return found
    found += defended.self_preference(frame, DATA)
    if int((frame["top"] == 1.0).sum()) > MOST["rankings"]:
        notes.append(f"More than {MOST['rankings']:,} rankings: the model is fitted without its variants.")
        return found
    return [*found, *defended.sensitivity(frame, DATA)]


#: What to say of each need that is not met; a style and a column say themselves.
WORDS, KINDS = ACCEPTED["needs"], ACCEPTED["kinds"]


def facts_of(file: Verdicts) -> frozenset[str]:
    """What these verdicts have of what numbers need (numbers.yaml)."""
    frame, pairs = file.frame, file.style == "pairwise"
    there = {name for name, column in frame.items() if _says(column)}
    conditions = {*map(str, frame["condition"].unique())}
    answers = [frame[side].dropna().unique() for side in ("candidate_vendor", "baseline_vendor") if side in frame]
    own = ({*frame["judge_vendor"].dropna().unique()} & set().union(*answers)) - {""}
    met = {
        "both_orders": pairs and frame.loc[frame["ordered"].astype(bool), "first"].nunique() > 1,
        "repeat": frame["repeat"].astype(int).max() > 0,
        "baseline": file.baseline,
        "judges": frame["judge"].nunique() > 1,
        "own": own,
        "hint": "none" in conditions and len(conditions) > 1,
        "scored": not pairs and "score" in there,
        **{name: name in conditions for name in ("swapped", "identical", "quality_gap")},
        **{name: there & {*columns} for name, columns in ACCEPTED["holds"].items()},
    }
    return frozenset(name for name, has in met.items() if has) | {file.style}


def _says(column: pd.Series) -> bool:
    """Whether a column holds a yes, or a name or number that is known."""
    return bool((column if column.dtype == bool else column.notna() & ~column.isin(["", UNKNOWN])).any())


def lacking(estimand: Estimand, style: str, facts: frozenset[str]) -> list[str]:
    """What a number needs and the file does not have, in words; a wrong style of verdicts hides all else."""
    missing = [name for name in estimand.needs.split() if name not in facts]
    if other := next((name for name in missing if name in KINDS), ""):
        return [f"needs {KINDS[other]}, these are {KINDS[style]}"]
    return [WORDS.get(name, f"column {name} is missing") for name in missing]


COMPUTED, MISSING = "computed", "not computed"


@cache
def declared() -> Mapping[str, Mapping[str, Estimand]]:
    """All estimands by module: those of this room, then those of each bias; an audit asks for its own verdicts."""
    modules = dict.fromkeys([HERE, *sorted(number_files().keys() - {"audit"})])
    return {module: load_numbers(module).estimands for module in modules}


#: Numbers of the hinting groups that have no hint in their place.
UNHINTED = ("change_rate_repeat", "unreadable_share")


def supported(file: Verdicts, facts: frozenset[str], estimates: Sequence[Estimate]) -> pd.DataFrame:
    """One row a declared number: module, id, words, unit, status, numbers (how many were computed) and why (not).

    A number of the hinting groups is one with a hint in its place; one that has no value in any place is not computed,
    and its method says why.
    """
    made: dict[tuple[bool, str], list[Estimate]] = {}
    for each in estimates:
        made.setdefault(("hint" in each.where, each.id), []).append(each)
    rows = []
    for module, estimands in declared().items():
        for id, about in estimands.items():
            hinted = module == "hinting" and ((True, id) in made or id not in UNHINTED)
            found = [] if about.needs == "asked" else made.get((hinted, id), [])
            valued = [each for each in found if each.value == each.value]
            why = ""
            if not valued:
                missing = "; ".join(lacking(about, file.style, facts))
                why = missing or (found[0].method if found else "these verdicts give none")
            rows.append((module, id, about.words, about.unit, COMPUTED if valued else MISSING, len(valued), why))
    return pd.DataFrame(rows, columns=["module", "id", "words", "unit", "status", "numbers", "why"])


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

    @property
    def numbers(self) -> pd.DataFrame:
        """The estimates, a row each: id, the keys of their places, value, low, high, p, n, clusters, unit, method."""
        frame = pd.json_normalize(records(self.estimates)).rename(columns=lambda name: name.removeprefix("where."))
        places = sorted({key for each in self.estimates for key in each.where})
        return frame[["id", *places, *(name for name in FIELDS if name in frame)]]

    @property
    def sentences(self) -> list[str]:
        """What can be said of each bias, then what more is said of vendors and rankings."""
        from . import saying

        return [line for line in (*saying.answers(self), *saying.findings(self)) if line.lstrip().startswith("- ")]

    def plot(self, name: str, style: str = "paper") -> Figure:
        """The figure of this name, or a ValueError that lists those that the numbers can fill."""
        from . import saying

        found = {each.name: each for each in saying.drawn(self, style)}
        if name not in found:
            raise ValueError(f"no figure {name!r} of these verdicts; there are: {', '.join(found) or 'none'}")
        return found[name]

    def _repr_html_(self) -> str:
        from . import saying

        lines = (saying.head(self), *saying.answers(self))
        items = "".join(f"<li>{html(line.removeprefix('- ').replace('**', ''))}</li>" for line in lines)
        return f"<ul>{items}</ul>{self.numbers.to_html(index=False, na_rep='', max_rows=MOST['rows'])}"


def analyze(
    source: str | Path | pd.DataFrame,
    format: str | None = None,
    *,
    ignore_extra: bool = False,
    names: Mapping[str, str] | None = None,
    positive: str = "",
    seed: int = 42,
    margin_pp: float = 5.0,
    random_gold: bool = False,
) -> Analysis:
    """Every number that the verdicts of a file can carry, and of each other declared number what is missing.

    `source`: tidy verdicts (a DataFrame, .csv, .tsv, .jsonl, .json, .parquet; columns: `reading.ALL`), or a file or
    folder of another tool (`formats.FORMATS`); `format` where its fields do not tell; `names`: what it calls our
    columns; `positive`: for which answer, "first" or "second", grades above 0 are. `seed`: resampling and sign flips;
    `margin_pp`: within which a hint changes nothing; `random_gold`: rows with a `gold` were drawn at random. What is
    not as it should be is a ValueError with file, line and field, before anything is computed.
    """
    file = formats.load(source, format, ignore_extra, names, positive)
    facts, notes = facts_of(file) | ({"drawn"} if random_gold else set()), list(file.notes)
    found = [*unreadable_share(file.frame), *file.extra]
    if file.style == "ranking":
        found += ranking_numbers(file, facts, seed, margin_pp, notes)
    for condition, part in conditions(file.frame):
        here: list[Estimate] = []
        if file.style == "pairwise":
            here = pair_numbers(file, part, seed, notes)
        elif file.style == "score":
            here = score_numbers(part, seed)
        here += by_gold(file, part, seed, random_gold)
        found += [replace(each, where={**each.where, "condition": condition}) if condition else each for each in here]
    # Pairwise and score frames have a row a verdict, listwise ones a row a candidate.
    rows = file.frame if file.style == "ranking" else file.frame.assign(games=2)
    if file.style != "ranking":
        notes += filter(None, [loss_words(loss_change(rows, DATA, seed))])
    status, losses = supported(file, facts, found), frames.losses(rows)
    return Analysis(file, tuple(found), status, losses, tuple(dict.fromkeys(notes)), seed, margin_pp)


def condition_names(frame: pd.DataFrame) -> list[str]:
    """The conditions that are no controls: first the main one, "none" or that of the most verdicts, then by name."""
    counts = frame["condition"].astype(object).value_counts()
    names = [str(name) for name in counts.index if name not in CONTROLS] or ["none"]
    return [*dict.fromkeys(["none" if "none" in names else names[0], *sorted(names)])]


def conditions(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """The verdicts under each condition: first the main one, called "", with its controls, then each other by name."""
    main, *others = condition_names(frame)
    for name in (main, *others):
        part = frame[frame["condition"].isin([name, *(CONTROLS if name == main else ())])].reset_index(drop=True)
        renamed = part["condition"].astype(object)
        renamed = renamed.where(renamed.isin(CONTROLS), "none").astype("category")
        yield "" if name == main else name, part.assign(condition=renamed)


def by_gold(file: Verdicts, part: pd.DataFrame, seed: int, random_gold: bool) -> list[Estimate]:
    """How often judges are right, by category too; of pairs agreement beyond chance, how far win rates are from those
    by gold labels, and what these would be of all verdicts (judge, candidate).
    """
    if "gold" not in part or file.style == "score" or not part["gold"].notna().any():
        return []
    pairs = file.style == "pairwise"
    rows = part[part["gold"].notna() & (pairs or part["top"] == 1.0)]
    correct = (rows["won"] == rows["gold"]).astype(float).where(rows["won"].notna()) if pairs else rows["gold"]
    names = ["question_id", "judge", "category", "outcome", *({"cluster"} & {*rows})]
    found = accuracy(rows[names].assign(correct=correct), DATA)
    if not pairs or len(part[["judge", *FIRSTS]].drop_duplicates()) > MOST["cells"]:
        return found
    for judge, each in rows.groupby("judge", observed=True):
        side = np.where(each["first"].astype(object) == "candidate", 1.0, -1.0)[:, None]
        signs = np.sign(side * (2 * each[["won", "gold"]].to_numpy() - 1))
        alpha = krippendorff_alpha(signs, "nominal", seed, clusters_of(each))
        found.append(estimate("gold_alpha", {"judge": str(judge)}, alpha, DATA, "alpha"))
    items = of_answers(part[part["won"].notna() & ~part["condition"].isin(CONTROLS)]).drop(columns="candidate")
    renamed = {"answer": "candidate", "share": "predicted", "gold": "label"}
    mine = items["vendor"].eq(items["judge_vendor"]) & items["rival"].ne(items["vendor"]) & items["judge_vendor"].ne("")
    items = items.assign(item=items.index, own=mine).rename(columns=renamed)
    drawn = random_gold or bool(items["label"].notna().all())
    return found + [e for e in people_rate(items, DATA, random_sample=drawn) if drawn or e.id != "people_rate"]
