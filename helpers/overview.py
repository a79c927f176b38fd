"""The overview: what all experiments found, collected from their folders; nothing is computed anew."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from . import paths
from .claims import COLUMNS as CLAIM_COLUMNS, count_claims, exceptions as odd, kind_words
from .export import PROTOCOL, READABLE
from .figures import cards, points
from .json_text import document
from .run.notebooks import Collection, available, experiment_of
from .tables import Table
from .types import Estimate
from .words import CARD_VERDICTS, CardLine, listed, p_text

SUMMARY = "summary.json"


@dataclass(frozen=True)
class Row:
    """One finding of one experiment in one source of data; `unreadable` is NaN where nobody published it."""

    sentence: str
    estimate: Estimate
    unreadable: float


@dataclass(frozen=True)
class Found:
    """What one folder of results holds. `run` is the folder's name where it is not the experiment's, else "".

    `claims` is None where nothing was claimed; `models` holds calls, tokens and dollars of each model (`run.costs`).
    """

    name: str
    question: str
    run: str
    rows: tuple[Row, ...]
    lines: tuple[CardLine, ...]
    claims: pd.DataFrame | None
    models: tuple[Mapping[str, Any], ...]


def collect(collection: Collection) -> list[Found]:
    """What the folders of `collection.results` hold, experiments in the order of their notebooks.

    A folder without a summary.json stands for its folders that have one (a matrix of runs). An experiment's own folder
    that holds none is an experiment that has not been run; any other one is a ValueError that names it. Nothing of an
    experiment that failed is read: what it left before must not pass for new.
    """
    own = {paths.FIGURES / name for name in collection.experiments}
    found = []
    for folder in collection.results:
        inner = [folder] if _holds(folder) else sorted(each for each in folder.glob("*") if _holds(each))
        if not inner and folder not in own:
            raise ValueError(f"{folder}: neither it nor a folder in it holds a {SUMMARY}; run the notebooks first")
        found += [read(each) for each in inner]
    place = {experiment_of(notebook): i for i, notebook in enumerate(available().values())}
    found = [each for each in found if each.name not in collection.failed]
    return sorted(found, key=lambda each: (place.get(each.name, len(place)), each.name, each.run))


def _holds(folder: Path) -> bool:
    return (folder / SUMMARY).is_file()


def absent(collection: Collection, found: Sequence[Found]) -> dict[str, str]:
    """The experiments of which there is nothing here, with the reason: "failed in this run" or "not run"."""
    there = {each.name for each in found}
    return {
        name: "failed in this run" if name in collection.failed else "not run"
        for name in collection.experiments
        if name not in there
    }


def read(folder: Path) -> Found:
    """What one folder of results holds; ValueError where its summary.json is none that this program wrote."""
    path = folder / SUMMARY
    content = _json(path)
    try:
        if content["protocol"] not in READABLE:
            raise ValueError(f"protocol {content['protocol']!r}, this program reads {PROTOCOL!r}")
        rows = tuple(Row(_text(row["sentence"]), estimate(row), _number(row["unreadable"])) for row in content["rows"])
        lines = tuple(_line(line) for line in content["card"])
        name, question = _text(content["title"]), _text(content["question"])
        models = tuple(map(paid, content["models"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        what = f"key {error} is missing" if isinstance(error, KeyError) else error
        raise ValueError(f"{path}: {what}; run its notebook again") from None
    run = "" if folder.name == name else folder.name
    return Found(name, question, run, rows, lines, read_claims(folder / "claims.csv"), models)


def _json(path: Path) -> Any:
    try:
        return document(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: no JSON ({error}); run its notebook again") from None


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {type(value).__name__}")
    return value


def read_claims(path: Path) -> pd.DataFrame | None:
    """The claims that a run checked; None where it left none, ValueError where the file is no table of claims."""
    if not path.is_file():
        return None
    try:
        claims = pd.read_csv(path)
    except ValueError as error:
        raise ValueError(f"{path}: no table of claims ({error}); run its notebook again") from None
    if "status" not in claims:
        raise ValueError(f"{path}: no column 'status'; run its notebook again")
    return claims if "kind" in claims else claims.assign(kind="printed")  # of protocol 1.0


def paid(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a model cost, from the record of a run: calls, tokens, and dollars (NaN where no price was known)."""
    counts = {key: int(record[key]) for key in ("calls", "input", "output")}
    return {"model": _text(record["model"]), **counts, "usd": _number(record["usd"])}


def estimate(record: Mapping[str, Any]) -> Estimate:
    """A number from its record in numbers.json or summary.json; KeyError, TypeError or ValueError where it is none."""
    bounds = {key: _number(record[key]) for key in ("value", "low", "high")}
    where = {str(key): str(value) for key, value in dict(record["where"]).items()}
    words = {key: _text(record[key]) for key in ("unit", "method", "data")}
    if not words["data"]:
        raise ValueError("a number that does not say where it is from: data is empty")
    counts = {key: int(record[key]) for key in ("n", "clusters")}
    beside = {key: _number(record.get(key)) for key in ("p", "effective")}
    return Estimate(_text(record["id"]), where, **bounds, **counts, **words, **beside)


def _line(record: Mapping[str, Any]) -> CardLine:
    if record["verdict"] not in CARD_VERDICTS:
        raise ValueError(f"verdict {record['verdict']!r}; there are: {', '.join(CARD_VERDICTS)}")
    words = {key: _text(record[key]) for key in ("judge", "measure", "verdict", "words")}
    numbers = {key: _number(record[key]) for key in ("p", "smallest")}
    return CardLine(estimate=estimate(record["estimate"]), **words, **numbers)


#: Statuses of claims in the order of the table.
STATUSES = ("reproduced", "within interval", "differs", "not comparable", "not derivable")
COLUMNS = ("experiment", "data", "finding", "estimate", "n", "clusters", "unreadable", "usd")


def rows(found: Sequence[Found], absent: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row an experiment and source of data, published first; then the experiments without results, and why.

    Columns: experiment, data, finding, estimate (with its interval), n, clusters, unreadable (a share as text), usd
    (what the replies that the run reads cost; published data and simulated judges cost nothing).
    """
    table: list[tuple[object, ...]] = []
    for each in found:
        spent = math.fsum(model["usd"] for model in each.models)
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

    Of several runs of one experiment each judge has a row a run, "judge (run)"; published data, which these runs share,
    have one.
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


def first(found: Sequence[Found], each: Found) -> bool:
    """Whether this is the first of all runs of its experiment."""
    return next(other for other in found if other.name == each.name) is each


def words(found: Sequence[Found], judged: bool = False) -> pd.DataFrame:
    """Every line of the card with its words: judge, data, measure, verdict, estimate, p, smallest, n, clusters, words.

    `judged`: without the lines that only describe. `p` is what the correction left of it, `smallest` the smallest
    effect found in 80 % of such runs, both "" where there was no test. Sorted as the card; of several experiments each
    has its line.
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
    return {
        "judge": line.judge,
        "data": each.data,
        "measure": line.measure,
        "verdict": line.verdict,
        "estimate": str(each),
        "p": "" if math.isnan(line.p) else p_text(line.p).removeprefix("= "),
        "smallest": str(smallest),
        "n": each.n,
        "clusters": each.clusters,
        "words": line.words,
    }


def claims(found: Sequence[Found], own: Mapping[str, pd.DataFrame] | None = None) -> pd.DataFrame:
    """All published numbers of all experiments with status and reason: the columns of claims.csv after `experiment`.

    Claims are about published data, so that of several runs of one experiment the first speaks. `own`: claims that were
    checked beside the experiments, by what stands for the experiment.
    """
    some = [each for each in found if each.claims is not None and first(found, each)]
    parts = [each.claims.assign(experiment=each.name) for each in some]
    parts += [table.assign(experiment=name) for name, table in (own or {}).items()]
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

    Replies that two experiments share count in both.
    Columns: experiment, model, calls, input, output, usd (what these replies cost; NaN where no price is known).
    """
    table = [{"experiment": _titled(found, each), **model} for each in found for model in each.models]
    columns = ["experiment", "model", "calls", "input", "output", "usd"]
    frame = pd.DataFrame(table, columns=columns)
    if frame.empty:
        return frame
    total = {"experiment": "all", "model": "all", **{name: frame[name].sum(skipna=False) for name in columns[2:]}}
    return pd.concat([frame, pd.DataFrame([total])], ignore_index=True)


def tables(found: Sequence[Found]) -> list[Table]:
    """The experiments' findings and every line of the judge card, for paper and spreadsheet; none where nothing is."""
    made = [
        ("experiments", "What each experiment found.", rows(found).drop(columns="usd")),
        ("judge_card", "What stands of each judge in each measure.", words(found)),
    ]
    return [Table(name, frame, caption) for name, caption, frame in made if not frame.empty]


def estimates(found: Sequence[Found]) -> list[Estimate]:
    """The number of each row for numbers.json; `where` names the experiment (and its run) too.

    Published data, which several runs of one experiment share, have one. The numbers of the card stand in the table
    judge_card and, with all others, in the numbers.json of their experiment.
    """
    return [
        replace(row.estimate, where={"experiment": each.name} | run | row.estimate.where)
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
    told = [_source(every, data, judges) for data, judges in cards.ranked(every).items()]
    told = told or ["- No experiment has results here: `recuse run` makes them."]
    table = claims(found) if checked is None else checked
    if len(table):
        every, out, differ = count_claims(table)
        told.append(f"- **Published numbers**: of {every:,} that can fail {out:,} come out, {differ:,} differ.")
    if absent:
        told.append(f"- **Not here**: {'; '.join(f'{name} ({why})' for name, why in absent.items())}.")
    return "\n".join(told)


def _source(every: Sequence[CardLine], data: str, judges: Sequence[str]) -> str:
    """One sentence on one source of data: which of its judges are biased, and of which that is hinted at."""
    mine = [line for (who, _), line in cards.cells(every).items() if who[0] == data]
    said = []
    for verdict, words in (("bias", "bias **shown**"), ("hint", "**hinted at**")):
        named = {m: [x for x in mine if x.measure == m and x.verdict == verdict] for m in cards.measures(every)}
        parts = [f"*{measure}*: {_names(some, judges)}" for measure, some in named.items() if some]
        if parts:
            said.append(f"{words} in {'; '.join(parts)}")
    rest = len(judges) - len({line.judge for line in mine if line.verdict in ("bias", "hint", "not shown")})
    counted = f"{len(judges)} judge{'' if len(judges) == 1 else 's'}"
    counted += f", {rest} of them without a verdict" if rest else ""
    source = points.SOURCES.get(data, data)
    about = " This says nothing of real models." if data == "simulated" else ""
    none = "no bias is shown" if rest < len(judges) else "of no bias anything can be told"
    return f"- **{source[0].upper()}{source[1:]}** ({counted}): {'. '.join(said) or none}.{about}"


def _names(some: Sequence[CardLine], order: Sequence[str]) -> str:
    ordered = sorted(some, key=lambda line: order.index(line.judge))
    names = [f"{line.judge} {cards.number(line.estimate)}" for line in ordered]
    return listed([*names[:NAMED], f"{len(names) - NAMED} more"]) if len(names) > NAMED + 1 else listed(names)


def claims_words(table: pd.DataFrame) -> str:
    """How many published numbers come out, and apart from these how many cannot fail. Takes `claims`."""
    if table.empty:
        return "No published number was checked."
    every, out, differ = count_claims(table)
    told = f"Of {every} published numbers that can fail {out} come out, {differ} differ. Of {len(table)} checked:"
    return "\n".join([told, "", *kind_words(table)])


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
