"""The overview: what all experiments found, collected from their folders; nothing is computed anew."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BaseModel, BeforeValidator, Field

from . import paths
from .claims import COLUMNS as CLAIM_COLUMNS, count_claims, exceptions as odd, kind_words
from .config import ConfigError, checked
from .config.yaml_text import Settings
from .export import PROTOCOL, Protocol
from .figures import cards, points
from .json_text import document
from .run.notebooks import Collection, available, experiment_of
from .tables import Table
from .types import Estimate
from .words import CardLine, listed, p_text

SUMMARY = "summary.json"


def _with_nan(value: Any) -> Any:
    """Records of numbers with NaN where they hold null; each number says where it is from."""
    if isinstance(value, dict):
        if value.get("data") == "":
            raise ValueError("a number that does not say where it is from: data is empty")
        return {name: _with_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_nan(each) for each in value]
    return math.nan if value is None else value


#: What a file of results calls null is NaN.
NULLS = BeforeValidator(_with_nan)


class Provenance(BaseModel, extra="allow", frozen=True):
    """What numbers are of; `judges` are the model ids that each judge answered as."""

    experiment: str
    data: str | list[str] = ""
    judges: dict[str, list[str]] = {}
    parameters: dict[str, Any] = {}


class Numbers(BaseModel, frozen=True):
    """What a numbers.json holds."""

    protocol: Protocol = PROTOCOL
    provenance: Provenance
    numbers: Annotated[tuple[Estimate, ...], NULLS]


@dataclass(frozen=True)
class Paid:
    """Calls and tokens of one model, and what they cost in US dollars (NaN where no price was known)."""

    model: str
    calls: int
    input: int
    output: int
    usd: float


@dataclass(frozen=True)
class Row:
    """One finding of one experiment in one source of data; `unreadable` is NaN where nobody published it."""

    sentence: str
    estimate: Estimate
    unreadable: float


def _with_estimate(row: Any) -> Any:
    """A row of a file, in which the number stands beside its sentence."""
    return {"estimate": row, **row} if isinstance(row, dict) else row


class Found(BaseModel, frozen=True, arbitrary_types_allowed=True):
    """What the summary.json of one folder of results holds, and its claims (None where nothing was claimed).

    `run` is the folder's name where it is not the experiment's, else "".
    """

    protocol: Protocol
    name: str = Field(alias="title")
    question: str
    run: str = ""
    rows: Annotated[tuple[Annotated[Row, BeforeValidator(_with_estimate)], ...], NULLS]
    lines: Annotated[tuple[CardLine, ...], NULLS] = Field(alias="card")
    claims: pd.DataFrame | None = None
    models: Annotated[tuple[Paid, ...], NULLS]


def collect(collection: Collection) -> list[Found]:
    """What the folders of `collection.results` hold, experiments in the order of their notebooks.

    A folder without a summary.json stands for its folders that have one (a matrix of runs); one without any is a
    ValueError, unless it is an experiment's own. Nothing of an experiment that failed is read: it would pass for new.
    """
    folders = {paths.FIGURES / name for name in collection.experiments}
    found = []
    for folder in collection.results:
        here = (folder / SUMMARY).is_file()
        inner = [folder] if here else sorted(path.parent for path in folder.glob(f"*/{SUMMARY}"))
        if not inner and folder not in folders:
            raise ValueError(f"{folder}: neither it nor a folder in it holds a {SUMMARY}; run the notebooks first")
        found += [read(each) for each in inner]
    place = {experiment_of(notebook): i for i, notebook in enumerate(available().values())}
    found = [each for each in found if each.name not in collection.failed]
    return sorted(found, key=lambda each: (place.get(each.name, len(place)), each.name, each.run))


def absent(collection: Collection, found: Sequence[Found]) -> dict[str, str]:
    """The experiments of which there is nothing here, with the reason: "failed in this run" or "not run"."""
    there = {each.name for each in found}
    return {
        name: "failed in this run" if name in collection.failed else "not run"
        for name in collection.experiments
        if name not in there
    }


def read_results(kind: type[Settings], path: Path) -> Settings:
    """A file that `export` wrote, as a `kind`; ValueError with file and key where it is none."""
    again = "make these results again"
    try:
        content = document(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); {again}") from None
    try:
        return checked(kind, content, str(path))
    except ConfigError as error:
        raise ValueError(f"{error}; {again}") from None


def read(folder: Path) -> Found:
    """What one folder of results holds; ValueError where its summary.json is none that this program wrote."""
    found = read_results(Found, folder / SUMMARY)
    run = "" if folder.name == found.name else folder.name
    return found.model_copy(update={"run": run, "claims": read_claims(folder / "claims.csv")})


def read_claims(path: Path) -> pd.DataFrame | None:
    """The claims that a run checked; None where it left none, ValueError where the file is no table of claims."""
    if not path.is_file():
        return None
    try:
        claims = pd.read_csv(path)
    except ValueError as error:
        raise ValueError(f"{path}: no table of claims ({error}); make these results again") from None
    if "status" not in claims:
        raise ValueError(f"{path}: no column 'status'; make these results again")
    return claims if "kind" in claims else claims.assign(kind="printed")  # of protocol 1.0


#: Statuses of claims in the order of the table.
STATUSES = ("reproduced", "within interval", "differs", "not comparable", "not derivable")
COLUMNS = ("experiment", "data", "finding", "estimate", "n", "clusters", "unreadable", "usd")


def rows(found: Sequence[Found], absent: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row an experiment and source of data, published first; then the experiments without results, and why.

    Columns: COLUMNS; `estimate` has its interval, `unreadable` is a share as text, `usd` what the replies cost.
    """
    table: list[tuple[object, ...]] = []
    for each in found:
        spent = math.fsum(model.usd for model in each.models)
        asked = "not known" if math.isnan(spent) else f"{spent:.2f}"
        for row in each.rows:
            data, size = row.estimate.data, (row.estimate.n or "", row.estimate.clusters or "")
            if data == "published" and not first(found, each):
                continue
            number = f"{row.estimate}" + {"logit": " logits"}.get(row.estimate.unit, "")
            unreadable = "" if math.isnan(row.unreadable) else f"{row.unreadable:.1%}"
            usd = "0.00" if data == "simulated" else "" if data in ("published", "hub", "folder") else asked
            table.append((_titled(found, each), data, row.sentence, number, *size, unreadable, usd))
    table += [(name, "none", f"{why}.", *[""] * 5) for name, why in (absent or {}).items()]
    return pd.DataFrame(table, columns=list(COLUMNS))


def _titled(found: Sequence[Found], each: Found) -> str:
    """The experiment, and its run where there are several."""
    return f"{each.name} ({each.run})" if each.run and sum(x.name == each.name for x in found) > 1 else each.name


def lines(found: Sequence[Found]) -> list[CardLine]:
    """All lines of all cards, in the order of the experiments.

    Of several runs of one experiment each judge has a row a run, "judge (run)"; published data, which they share, one.
    """
    several = {name for name, n in Counter(each.name for each in found).items() if n > 1}
    return [
        line
        if line.estimate.data == "published" or each.name not in several
        else replace(line, judge=f"{line.judge} ({each.run or each.name})")
        for each in found
        for line in each.lines
        if line.estimate.data != "published" or first(found, each)
    ]


def released(every: Sequence[CardLine], since: str) -> list[CardLine]:
    """The lines on judges whose published counts tell that they were released in this month or later."""
    return [line for line in every if line.estimate.where.get("released", "") >= since]


def first(found: Sequence[Found], each: Found) -> bool:
    """Whether this is the first of all runs of its experiment."""
    return next(other for other in found if other.name == each.name) is each


def words(found: Sequence[Found], judged: bool = False) -> pd.DataFrame:
    """Every line of the card with its words: judge, data, measure, verdict, estimate, p, smallest, n, clusters, words.

    `judged`: without the lines that only describe. `p` is corrected, `smallest` the smallest effect found in 80 % of
    such runs, both "" where there was no test. Sorted as the card.
    """
    every = lines(found)
    ranked = [(data, judge) for data, judges in cards.ranked(every).items() for judge in judges]
    measures = cards.measures(every)
    shown = [line for line in every if line.verdict != "described" or not judged]
    ordered = sorted(shown, key=lambda line: (ranked.index(cards.judge(line)), measures.index(line.measure)))
    columns = ["judge", "data", "measure", "verdict", "estimate", "p", "smallest", "n", "clusters", "words"]
    return pd.DataFrame([_worded(line) for line in ordered], columns=columns)


def _worded(line: CardLine) -> dict[str, object]:
    each = line.estimate
    smallest = Estimate(each.id, {}, line.smallest, unit=each.unit) if not math.isnan(line.smallest) else ""
    p = "" if math.isnan(line.p) else p_text(line.p).removeprefix("= ")
    return vars(each) | vars(line) | {"estimate": str(each), "p": p, "smallest": str(smallest)}


def claims(found: Sequence[Found], ours: Mapping[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    """All published numbers of all experiments with status and reason: the columns of claims.csv after `experiment`.

    They are about published data: of several runs the first speaks. `ours`: claims checked beside the experiments.
    """
    having = [each for each in found if each.claims is not None and first(found, each)]
    parts = [each.claims.assign(experiment=each.name) for each in having]
    parts += [table.assign(experiment=name) for name, table in (ours or {}).items()]
    columns = ["experiment", *CLAIM_COLUMNS]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def statuses(table: pd.DataFrame) -> pd.DataFrame:
    """How many claims that can fail have which status, and how many cannot fail, by experiment; a last row for all.

    Takes `claims`; columns: experiment, STATUSES, claims (that can fail), cannot fail.
    """
    printed = table["kind"] == "printed"
    counts = pd.crosstab(table["experiment"], table["status"].where(printed, "cannot fail"))
    counts = counts.reindex(list(dict.fromkeys(table["experiment"])), columns=[*STATUSES, "cannot fail"], fill_value=0)
    counts.insert(len(STATUSES), "claims", counts[list(STATUSES)].sum(axis=1))
    return pd.concat([counts, counts.sum().to_frame("all").T]).rename_axis("experiment").reset_index()


def exceptions(table: pd.DataFrame) -> pd.DataFrame:
    """The claims that do not simply come out, with their experiment and the reason; many of one reason are one row."""
    parts = [odd(group).assign(experiment=name) for name, group in table.groupby("experiment", sort=False)]
    columns = ["experiment", "quantity", "published", "recomputed", "unit", "status", "reason"]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def costs(found: Sequence[Found]) -> pd.DataFrame:
    """Calls, tokens and dollars by experiment and model, and a last row for all.

    Replies that two experiments share count in both; `usd` is NaN where no price is known.
    """
    table = [{"experiment": _titled(found, each), **vars(model)} for each in found for model in each.models]
    columns = ["experiment", "model", "calls", "input", "output", "usd"]
    frame = pd.DataFrame(table, columns=columns)
    if frame.empty:
        return frame
    total = {"experiment": "all", "model": "all", **{name: frame[name].sum(skipna=False) for name in columns[2:]}}
    return pd.concat([frame, pd.DataFrame([total])], ignore_index=True)


def tables(found: Sequence[Found]) -> list[Table]:
    """The experiments' findings and every line of the judge card, for paper and spreadsheet; none where nothing is."""
    made = [
        Table("experiments", rows(found).drop(columns="usd"), "What each experiment found."),
        Table("judge_card", words(found), "What stands of each judge in each measure."),
    ]
    return [each for each in made if not each.frame.empty]


def estimates(found: Sequence[Found]) -> list[Estimate]:
    """The number of each row for numbers.json; `where` names the experiment (and its run) too.

    Published data, which several runs of one experiment share, have one.
    """
    return [
        replace(row.estimate, where={"experiment": each.name, **run, **row.estimate.where})
        for each in found
        for run in [{"run": each.run} if each.run else {}]
        for row in each.rows
        if row.estimate.data != "published" or first(found, each)
    ]


def provenance(collection: Collection, found: Sequence[Found]) -> dict[str, Any]:
    """For numbers.json: what was collected, from which sources of data, and what is missing; no folder's place."""
    return {
        "experiment": collection.name,
        "data": sorted({line.estimate.data for line in lines(found)}),
        "collected": [{"experiment": each.name, "run": each.run} for each in found],
        "absent": absent(collection, found),
    }


#: Judges of one verdict that a sentence names before it only counts them.
NAMED = 8


def bottom_line(
    found: Sequence[Found], absent: Mapping[str, str] | None = None, checked: pd.DataFrame | None = None
) -> str:
    """Which judge to distrust for what, a sentence a source of data, real judges first; claims; what is missing.

    `checked` are the claims to count (`claims`), by default those of the experiments.
    """
    every = lines(found)
    bullets = [_source(every, data, judges) for data, judges in cards.ranked(every).items()]
    bullets = bullets or ["- No experiment has results here: `recuse run` makes them."]
    table = claims(found) if checked is None else checked
    if len(table):
        claimed, out, differ = count_claims(table)
        bullets.append(f"- **Published numbers**: of {claimed:,} that can fail {out:,} come out, {differ:,} differ.")
    if absent:
        bullets.append(f"- **Not here**: {'; '.join(f'{name} ({why})' for name, why in absent.items())}.")
    return "\n".join(bullets)


def _source(every: Sequence[CardLine], data: str, judges: Sequence[str]) -> str:
    """One sentence on one source of data: which of its judges are biased, and of which that is hinted at."""
    mine = [line for (who, _), line in cards.cells(every).items() if who[0] == data]
    clauses = []
    for verdict, words in (("bias", "bias **shown**"), ("hint", "**hinted at**")):
        named = {m: [x for x in mine if x.measure == m and x.verdict == verdict] for m in cards.measures(every)}
        parts = [f"*{measure}*: {_names(judged, judges)}" for measure, judged in named.items() if judged]
        if parts:
            clauses.append(f"{words} in {'; '.join(parts)}")
    rest = len(judges) - len({line.judge for line in mine if line.verdict in ("bias", "hint", "not shown")})
    counted = f"{len(judges)} judge{'' if len(judges) == 1 else 's'}"
    counted += f", {rest} of them without a verdict" if rest else ""
    source = points.SOURCES.get(data, data)
    about = " This says nothing of real models." if data == "simulated" else ""
    none = "no bias is shown" if rest < len(judges) else "of no bias anything can be told"
    return f"- **{source[0].upper()}{source[1:]}** ({counted}): {'. '.join(clauses) or none}.{about}"


def _names(lines: Sequence[CardLine], order: Sequence[str]) -> str:
    ordered = sorted(lines, key=lambda line: order.index(line.judge))
    names = [f"{line.judge} {cards.number(line.estimate)}" for line in ordered]
    return listed([*names[:NAMED], f"{len(names) - NAMED} more"]) if len(names) > NAMED + 1 else listed(names)


def claims_words(table: pd.DataFrame) -> str:
    """How many published numbers come out, and apart from these how many cannot fail. Takes `claims`."""
    if table.empty:
        return "No published number was checked."
    every, out, differ = count_claims(table)
    summary = f"Of {every} published numbers that can fail {out} come out, {differ} differ. Of {len(table)} checked:"
    return "\n".join([summary, "", *kind_words(table)])


def costs_words(found: Sequence[Found]) -> str:
    """Tokens and dollars of everything that these results read."""
    table = costs(found)
    if table.empty:
        return "Nothing was asked."
    total = table.iloc[-1]
    usd = "at a price that is not known for all models" if math.isnan(total["usd"]) else f"for ${total['usd']:.2f}"
    return (
        f"{total['calls']:,} replies, {total['input']:,} tokens in and {total['output']:,} out, {usd}, whenever "
        "they were asked; replies that two experiments share count in both. Simulated judges cost nothing."
    )
