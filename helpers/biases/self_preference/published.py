"""The published replication from its counts: each rate under the definition it used, and what counts leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from helpers.stats.estimates import estimate
from helpers.stats.intervals import wilson
from helpers.types import Estimate

INDEPENDENT = "counts, independence assumed"
NO_PAIRS = "no interval: which pair before is which after is not published"
OTHERS = "no interval: other pairs before than after"
LEVEL = 0.05
#: The rates of a run: id, numerator, denominator. The source gave one name to the last two, and changed it midway.
RATES = (
    ("judge_accuracy", "right", "records"),
    ("model_accuracy", "own_right", "records"),
    ("self_selected_rate", "own_selected", "records"),
    ("harmful_self_preference_rate", "own_wrong_selected", "own_wrong"),
    ("wrong_of_self_selected", "own_wrong_selected", "own_selected"),
)
_COUNTED = ["records", "own_right", "own_selected", "own_wrong_selected"]
#: What a run's pairs are, in the words of the blocks.
BEFORE, AGAIN = "filtered before", "filtered before and after"


def runs(published: Mapping[str, Any]) -> pd.DataFrame:
    """All published counts: one row a run, phase, judge and opponent.

    Columns: run, records_are, phase ("before" or "after" the edit), judge, opponent; records, own_right, own_selected,
    own_wrong_selected, and what follows: own_wrong, right (picks of the right answer). Counts that contradict each
    other are a ValueError that names the row.
    """
    rows = [
        {"run": block["run"], "records_are": block["records"], "phase": phase, **row}
        for block in published.values()
        if isinstance(block["counts"], Mapping) and "before" in block["counts"]
        for phase, counted in block["counts"].items()
        for row in counted
    ]
    return _followed(pd.DataFrame(rows))


def _followed(table: pd.DataFrame) -> pd.DataFrame:
    own_wrong = table["records"] - table["own_right"]
    right = table["own_selected"] - table["own_wrong_selected"] + own_wrong - table["own_wrong_selected"]
    selected_right = table["own_selected"] - table["own_wrong_selected"]
    bad = ~selected_right.between(0, table["own_right"]) | ~table["own_wrong_selected"].between(0, own_wrong)
    if bad.any():
        raise ValueError(f"published counts contradict each other: {table[bad].iloc[0].to_dict()}")
    return table.assign(own_wrong=own_wrong, right=right)


def pooled(table: pd.DataFrame) -> pd.DataFrame:
    """`runs` summed over judges and opponents: one row a run, kind of records and phase, in the order of the file."""
    sums = table.groupby(["run", "records_are", "phase"], sort=False)[_COUNTED].sum().reset_index()
    return _followed(sums)


def from_published(published: Mapping[str, Any]) -> list[Estimate]:
    """All numbers that the counts in published/counts.yaml determine.

    Of each run (`where`: run, records, phase, and judge and opponent but for the total) the rates of RATES;
    `published_change` (`where`: rate, run, records) is after minus before, a bare number in pp; `accuracy_falls`
    (`where`: run, records) counts judges and opponents. `published_retention`
    (`where`: run, judge, opponent) is the share of pairs that the filter kept. `generator_accuracy` over evaluated and
    `generator_accuracy_all` over all questions, `generator_skipped` (`where`: model). `code_pairs` (`where`: right) are
    counts.
    """
    table = runs(published)
    found = [each for row in table.to_dict("records") for each in _rates(row, ("judge", "opponent"))]
    total = pooled(table)
    found += [each for row in total.to_dict("records") for each in _rates(row)]
    found += [*_changes(total), *_falls(table), *_retention(published)]
    return [*found, *_generators(published), *_code_pairs(published)]


def _rates(row: Mapping[str, Any], extra: Sequence[str] = ()) -> list[Estimate]:
    where = {"run": row["run"], "records": row["records_are"], "phase": row["phase"], **{k: row[k] for k in extra}}
    counted = _bare("published_records", where, row["records"], row["records"], "count", "counted")
    return [counted, *(_rate(id, where, row[k], row[n]) for id, k, n in RATES)]


def _rate(id: str, where: Mapping[str, str], k: int, n: int) -> Estimate:
    interval = wilson(k, n)
    method = f"Wilson; {INDEPENDENT}" if interval.low == interval.low else interval.method
    return estimate(id, where, replace(interval, method=method, clusters=0), "published")


def _bare(id: str, where: Mapping[str, str], value: float, n: int, unit: str, why: str) -> Estimate:
    return Estimate(id, dict(where), value, n=n, unit=unit, method=why, data="published")


def _changes(total: pd.DataFrame) -> list[Estimate]:
    found = []
    for (run, records), rows in total.groupby(["run", "records_are"], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        for id, k, n in RATES:
            where = {"rate": id, "run": str(run), "records": str(records)}
            change = after[k] / after[n] - before[k] / before[n]
            why = NO_PAIRS if before["records"] == after["records"] else OTHERS
            found.append(_bare("published_change", where, change, int(before[n] + after[n]), "pp", why))
    return found


def _falls(table: pd.DataFrame) -> list[Estimate]:
    """In how many pairs of judge and opponent the accuracy fell, where the same pairs of answers were judged twice."""
    found = []
    for (run, records), rows in table.groupby(["run", "records_are"], sort=False):
        phases = rows.groupby("phase")["records"].sum()
        if phases["before"] != phases["after"]:
            continue
        right = rows.pivot(index=["judge", "opponent"], columns="phase", values="right")
        where = {"run": str(run), "records": str(records)}
        found.append(
            _bare(
                "accuracy_falls", where, int((right["after"] < right["before"]).sum()), len(right), "count", "counted"
            )
        )
    return found


def _retention(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["retention"]
    return [
        _rate(
            "published_retention",
            {"run": block["run"], "judge": row["judge"], "opponent": row["opponent"]},
            row["kept"],
            row["pairs"],
        )
        for row in block["counts"]
    ]


def _generators(published: Mapping[str, Any]) -> list[Estimate]:
    block, found = published["generators"], []
    for model, row in block["counts"].items():
        where = {"model": model}
        found += [
            _rate("generator_accuracy", where, row["correct"], row["evaluated"]),
            _rate("generator_accuracy_all", where, row["correct"], block["questions"]),
            _bare("generator_skipped", where, row["skipped"], block["questions"], "count", "counted"),
        ]
    return found


def _code_pairs(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["code_pairs"]
    counts = {**block["counts"], "any": sum(block["counts"].values()), "own_wrong_edited": block["own_wrong_edited"]}
    return [_bare("code_pairs", {"right": k}, v, counts["any"], "count", "counted") for k, v in counts.items()]
