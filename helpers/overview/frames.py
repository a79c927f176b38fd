"""The tables of the overview: findings, the judge card with its words, claims, tokens and dollars."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from helpers.claims import COLUMNS as CLAIM_COLUMNS
from helpers.claims import exceptions as odd
from helpers.figures import cards
from helpers.overview.collecting import Found
from helpers.types import Estimate
from helpers.words import CardLine, p_text

#: Statuses of claims in the order of the table.
STATUSES = ("reproduced", "within interval", "differs", "not comparable", "not derivable")
UNKNOWN = "not known"
COLUMNS = ("experiment", "data", "finding", "estimate", "n", "clusters", "unreadable", "usd")


def rows(found: Sequence[Found], absent: Mapping[str, str] | None = None) -> pd.DataFrame:
    """One row an experiment and source of data, published first; then the experiments without results, and why.

    Columns: experiment, data, finding, estimate (with its interval), n, clusters, unreadable (a share as text), usd
    (what the replies that the run reads cost; published data and simulated judges cost nothing).
    """
    table = []
    for each in found:
        for row in each.rows:
            estimate = row.estimate
            if estimate.data == "published" and not first(found, each):
                continue
            free = estimate.data in ("published", "hub", "folder")
            table.append(
                {
                    "experiment": _titled(found, each),
                    "data": estimate.data,
                    "finding": row.sentence,
                    "estimate": f"{estimate}" + {"logit": " logits"}.get(estimate.unit, ""),
                    "n": estimate.n or "",
                    "clusters": estimate.clusters or "",
                    "unreadable": "" if math.isnan(row.unreadable) else f"{row.unreadable:.1%}",
                    "usd": "" if free else "0.00" if estimate.data == "simulated" else _usd(each),
                }
            )
    for name, why in (absent or {}).items():
        table.append(dict.fromkeys(COLUMNS, "") | {"experiment": name, "data": "none", "finding": f"{why}."})
    return pd.DataFrame(table, columns=list(COLUMNS))


def _titled(found: Sequence[Found], each: Found) -> str:
    """The experiment, and its run where there are several."""
    return f"{each.name} ({each.run})" if each.run and sum(x.name == each.name for x in found) > 1 else each.name


def _usd(each: Found) -> str:
    paid = math.fsum(model["usd"] for model in each.models)
    return UNKNOWN if math.isnan(paid) else f"{paid:.2f}"


def lines(found: Sequence[Found]) -> list[CardLine]:
    """All lines of all cards, in the order of the experiments.

    Of several runs of one experiment each judge has a row a run, "judge (run)"; published data, which these runs share,
    have one.
    """
    several = {name for name, n in Counter(each.name for each in found).items() if n > 1}
    return [
        line if line.estimate.data == "published" or each.name not in several else _of(line, each.run or each.name)
        for each in found
        for line in each.lines
        if line.estimate.data != "published" or first(found, each)
    ]


def _of(line: CardLine, run: str) -> CardLine:
    return replace(line, judge=f"{line.judge} ({run})")


def first(found: Sequence[Found], each: Found) -> bool:
    """Whether this is the first of all runs of its experiment."""
    return next(other for other in found if other.name == each.name) is each


def card(found: Sequence[Found]) -> pd.DataFrame:
    """Judges x measures as text ("mark value [low, high]"), all judges, strongest evidence first.

    Columns: judge, data, then the measures, those that only describe last. A cell that was not measured is "".
    """
    every = lines(found)
    cells = cards.cells(every)
    table = []
    for data, judges in cards.ranked(every).items():
        for judge in judges:
            known = {m: cells.get(((data, judge), m)) for m in cards.measures(every)}
            table.append({"judge": judge, "data": data, **{m: _cell(line) for m, line in known.items()}})
    return pd.DataFrame(table, columns=["judge", "data", *cards.measures(every)])


def _cell(line: CardLine | None) -> str:
    return "" if line is None else f"{cards.MARKS[line.verdict]} {line.estimate}".strip()


def words(found: Sequence[Found], judged: bool = False) -> pd.DataFrame:
    """Every line of the card with its words: judge, data, measure, verdict, estimate, p, smallest, n, clusters, words.

    `judged`: without the lines that only describe. `p` is what the correction left of it, `smallest` the smallest
    effect found in 80 % of such runs, both "" where there was no test. Sorted as the card; of several experiments each
    has its line.
    """
    every = lines(found)
    ranked = [(data, judge) for data, judges in cards.ranked(every).items() for judge in judges]
    place = {who: i for i, who in enumerate(ranked)}
    measures = cards.measures(every)
    shown = [line for line in every if line.verdict != "described" or not judged]
    ordered = sorted(shown, key=lambda line: (place[cards.judge(line)], measures.index(line.measure)))
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
    frame["usd"] = frame["usd"].astype(float)
    total = {column: int(frame[column].sum()) for column in ("calls", "input", "output")}
    total["usd"] = frame["usd"].sum(skipna=False)
    return pd.concat([frame, pd.DataFrame([{"experiment": "all", "model": "all", **total}])], ignore_index=True)
