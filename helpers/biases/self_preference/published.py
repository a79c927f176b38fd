"""The published replication from its counts: each rate under its own definition, and its limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from helpers.biases.protocol import published_rate, published_value
from helpers.biases.self_preference.measured import of
from helpers.stats.tests import discordance
from helpers.types import Estimate

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
    counted = published_value("published_records", where, row["records"], row["records"], "count", "counted")
    return [counted, *(published_rate(id, where, row[k], row[n]) for id, k, n in RATES)]


def _changes(total: pd.DataFrame) -> list[Estimate]:
    found = []
    for (run, records), rows in total.groupby(["run", "records_are"], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        for id, k, n in RATES:
            where = {"rate": id, "run": str(run), "records": str(records)}
            change = after[k] / after[n] - before[k] / before[n]
            why = NO_PAIRS if before["records"] == after["records"] else OTHERS
            found.append(published_value("published_change", where, change, int(before[n] + after[n]), "pp", why))
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
            published_value(
                "accuracy_falls", where, int((right["after"] < right["before"]).sum()), len(right), "count", "counted"
            )
        )
    return found


def _retention(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["retention"]
    return [
        published_rate(
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
            published_rate("generator_accuracy", where, row["correct"], row["evaluated"]),
            published_rate("generator_accuracy_all", where, row["correct"], block["questions"]),
            published_value("generator_skipped", where, row["skipped"], block["questions"], "count", "counted"),
        ]
    return found


def _code_pairs(published: Mapping[str, Any]) -> list[Estimate]:
    block = published["code_pairs"]
    counts = {**block["counts"], "any": sum(block["counts"].values()), "own_wrong_edited": block["own_wrong_edited"]}
    n = counts["any"]
    return [published_value("code_pairs", {"right": k}, v, n, "count", "counted") for k, v in counts.items()]


_RATE = "harmful_self_preference_rate"
#: The report of this run does not say that the pairs it kept are among the others, as the other run's does.
ASSUMED = ("greedy",)


def published_finding(published: Mapping[str, Any], estimates: Sequence[Estimate]) -> str:
    """Which way the published edit of two words went, by what was compared, and what the counts leave open.

    `published` is published/counts.yaml, `estimates` what `from_published` makes of it.
    """
    table = runs(published)
    lines = [
        "Two words of the judge's own answer were replaced by synonyms. How often it then picked its own *wrong* one:"
    ]
    lines += [
        "",
        *_lines(pooled(table)),
        "",
        _place(pooled(table)),
        "",
        _unsettled(table),
        "",
        _definitions(estimates),
        "",
    ]
    return "\n".join([*lines, _rest(table, estimates)])


def _percent(share: float, digits: int = 1) -> str:
    return f"{100 * share:.{digits}f} %"


def _phases(total: pd.DataFrame) -> list[tuple[str, str, pd.Series, pd.Series]]:
    """Each run and kind of records with its row before and after the edit."""
    keys = list(dict.fromkeys(zip(total["run"], total["records_are"], strict=True)))
    rows = total.set_index(["run", "records_are", "phase"])
    return [(*key, rows.loc[(*key, "before")], rows.loc[(*key, "after")]) for key in keys]


def _lines(total: pd.DataFrame) -> list[str]:
    found = []
    for run, records, before, after in _phases(total):
        first, last = (row["own_wrong_selected"] / row["own_wrong"] for row in (before, after))
        told = f"- *{run}*, {records}: {_percent(first, 2)} to {_percent(last, 2)} ({100 * (last - first):+.2f} pp)"
        if before["records"] != after["records"]:
            found.append(f"{told}, of {before['own_wrong']} and of {after['own_wrong']} pairs.")
            continue
        counts = int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])
        below = (possible := discordance(*counts))[possible["p"] < LEVEL]["changed"]
        said = f"only if at most {below.max()} of them changed sides" if len(below) else "for no number of changes"
        found.append(f"{told}, of the same {counts[2]} pairs: {counts[1] - counts[0]:+d}; p < {LEVEL} {said}.")
    return found


def _place(total: pd.DataFrame) -> str:
    """How much of a change comes with the place of the own answer, where both orders were asked after the edit.

    A pair that was left out the second time had the same place picked twice: where the own answer stood first and was
    picked, the other one was picked when it stood last, and the other way round.
    """
    rows = total.set_index(["run", "records_are", "phase"])
    lines = []
    for run in dict.fromkeys(total["run"]):
        if not {(run, BEFORE, "after"), (run, AGAIN, "after")} <= set(rows.index):
            continue
        before, first, again = (
            rows.loc[(run, BEFORE, "before")],
            rows.loc[(run, BEFORE, "after")],
            rows.loc[(run, AGAIN, "after")],
        )
        n, left = first["own_wrong"], first["own_wrong"] - again["own_wrong"]
        dropped = first["own_wrong_selected"] - again["own_wrong_selected"]
        last = again["own_wrong_selected"] + left - dropped
        if left < 0 or not 0 <= dropped <= left:
            continue
        lines.append(
            f"- *{run}*, of {n} pairs: {before['own_wrong_selected']} before (both orders), after the edit "
            f"{first['own_wrong_selected']} with the own answer first, {last} with it last; {left} pairs on which "
            f"these disagree had left the first report, and of the others it is {again['own_wrong_selected']} of "
            f"{again['own_wrong']}{', if these are among the former' if run in ASSUMED else ''}."
        )
    if not lines:
        return "No run asked both orders of the same pairs after the edit."
    head = (
        "**Place.** The pairs of *greedy* and *raw* were chosen since both orders agreed before the edit; compared "
        "with that is one order afterwards, the own answer first. Both orders were asked, so the other one follows:"
    )
    return "\n".join([head, "", *lines])


def _unsettled(table: pd.DataFrame) -> str:
    """What no number of these counts can settle, and the pairs whose counts changed by more than any pairing allows."""
    more = []
    for (run, records, judge, other), rows in table.groupby(["run", "records_are", "judge", "opponent"], sort=False):
        before, after = (rows[rows["phase"] == phase].iloc[0] for phase in ("before", "after"))
        if before["records"] != after["records"]:
            continue
        counts = int(before["own_wrong_selected"]), int(after["own_wrong_selected"]), int(before["own_wrong"])
        possible = discordance(*counts)
        if len(possible) and possible["p"].max() < LEVEL:
            more.append(f"{judge} against {other} in *{run}*, {records} ({counts[0]} to {counts[1]} of {counts[2]})")
    told = (
        "**What is missing.** No run asked the unedited pairs again, and none showed the edits to another judge. So "
        "these counts do not settle whether a change is the edit's, the place's, the repetition's or a damaged text's. "
        "How many pairs changed sides is not published; all p here take pairs as independent, which questions on one "
        "article are not, and are corrected for nothing."
    )
    if more:
        told += f" Changed by more than chance allows, whichever pairs changed: {'; '.join(more)}."
    return told


def _definitions(estimates: Sequence[Estimate]) -> str:
    """The first report's core number under both definitions."""
    parts = []
    for id, words in (("wrong_of_self_selected", "P(own wrong | own picked)"), (_RATE, "P(own picked | own wrong)")):
        twice, same = (
            [of(estimates, id, run="greedy", records=kind, phase=phase).value for phase in ("before", "after")]
            for kind in (AGAIN, BEFORE)
        )
        parts.append(
            f"{words} goes from {_percent(twice[0], 2)} to {_percent(twice[1], 2)} in the first report, from "
            f"{_percent(same[0], 2)} to {_percent(same[1], 2)} in the second"
        )
    return (
        "**Definitions.** The source changed its definition of the harmful rate between the reports, so they cannot be "
        "compared as printed. Of *greedy* (whose first report also holds an earlier state of the data), "
        f"{'; '.join(parts)}. The first definition mixes how often a judge is wrong with how often it picks itself; "
        "the second is the one used everywhere else here."
    )


def _rest(table: pd.DataFrame, estimates: Sequence[Estimate]) -> str:
    """Where the change of the nine pairs comes from, what the filter keeps, and what was skipped."""
    nine = table[table["run"] == "nine pairs"]
    nine = nine.pivot(index=["judge", "opponent"], columns="phase", values="own_wrong_selected")
    change = nine["after"] - nine["before"]
    net = int(change.sum())
    top = change.sort_values(ascending=net < 0).head(2)
    where = " and ".join(f"{judge} against {opponent} ({moved:+d})" for (judge, opponent), moved in top.items())
    kept = [e.value for e in estimates if e.id == "published_retention"]
    skipped = max((e for e in estimates if e.id == "generator_skipped"), key=lambda e: e.value)
    model = skipped.where["model"]
    rate, every = (of(estimates, id, model=model) for id in ("generator_accuracy", "generator_accuracy_all"))
    told = f"The nine pairs changed by {net:+d} in all" + (f", {int(top.sum()):+d} of it in {where}" if net else "")
    return (
        f"{told}. The filter for consistent orders kept between {_percent(min(kept), 0)} and {_percent(max(kept), 0)} "
        f"of a pair's records. Answers without a letter were skipped: {model} is right in {_percent(rate.value)} of "
        f"those it answered, in {_percent(every.value)} of all."
    )
